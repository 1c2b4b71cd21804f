"""The best release for the user's goals: searched on simulated participants, or on own data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from eyelid.attacks.outcome import Outcome, Questions, Trial
from eyelid.comparisons.candidates import Candidate, candidates
from eyelid.comparisons.compare import FEWEST_PEOPLE, Source
from eyelid.comparisons.facts import Facts
from eyelid.comparisons.goals import Goals, goals_of
from eyelid.comparisons.private_choice import Ballot, PrivateChoice, voted
from eyelid.comparisons.recommendation import (
    ALONE,
    BESIDE,
    CHOSEN,
    SIMULATED,
    Instead,
    Recommendation,
)
from eyelid.comparisons.settings import mechanism_of
from eyelid.comparisons.verdicts import Judged, judged, ranked
from eyelid.engine.cores import alone
from eyelid.engine.engines import Shared, as_done, shared, spread
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.intake import read_scrubbed
from eyelid.mechanisms.certificate import NO_LEDGER
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.gaussian import check_epsilon
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import randomness
from eyelid.releases.accounting import counting_entry, open_ledger
from eyelid.releases.audits.kinds import measured
from eyelid.releases.budget import spent_on
from eyelid.releases.kinds.features.plan import feature_table
from eyelid.reporting.comparisons.setting import Setting

STUDIES = 3
# So many are shown, and measured on all studies.
_SHOWN = 3
# On own data blocks choose among so many: the more there are, the less sure a choice is.
_ON_BALLOT = 6
# What seemed best on one study may not be on all; then the next are tried.
_ROUNDS = 4
UNDOES = (
    "groups of these people are out already: one chance in k is promised of their only release, "
    "and this choice counts as another"
)
STAYS_COUNTED = "nothing was chosen, but the choice stays counted in the ledger"


def recommend(
    source: Source,
    goals: str | Sequence[str],
    *,
    own: bool = False,
    tuning_epsilon: float | None = None,
    dry_run: bool = False,
    mechanisms: Sequence[str] | None = None,
    studies: int = STUDIES,
    ledger: Path | str | None = None,
    map: Map = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda _: None,
) -> Recommendation:
    """Which release meets some goals, measured, with the command to run.

    By default mechanisms and their parameters are tried on simulated participants who have the
    public facts of the study. That costs nothing. With ``own`` the study's own people decide
    between the best of these, by blocks that vote under noise. That costs everybody
    ``tuning_epsilon``, which is counted in their ledger before anything is run.

    Args:
        source: a study folder, recordings, a study or a feature table.
        goals: such as ``rank1<=2x``, ``task>=0.7``, ``gender<=0.6``, ``error<=0.1``,
            ``unit=person``, ``epsilon<=4``, ``delta<=1e-6``, ``k>=4``, ``kind=pure-dp``.
        own: choose on the study's own people.
        tuning_epsilon: what that costs a person; of a goal for ε, so much less is left for the
            release.
        dry_run: say what it would cost and how sure it would be, and do nothing.
        mechanisms: try these only.
        studies: how many simulated studies the best are measured on.
        ledger: where the choice is counted; by default the file beside the original study.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        seed: of the simulated participants and all runs on them.
        tell: hears what a choice will cost, before it does.

    >>> import eyelid
    >>> study = eyelid.simulate(people=6, minutes=1.2, seed=1)
    >>> found = recommend(study, ["k>=3", "error<=0.5"], mechanisms=["ksame"], studies=1)
    >>> found.met, found.commands
    (True, ['eyelid release IN OUT --mechanism ksame --set k=3'])
    """
    refuse_frame(source, "recommend")
    if own != (tuning_epsilon is not None):
        raise InputError(
            "a choice on your own data costs an ε, and only that does: give `own` and "
            "`tuning_epsilon=…` together"
        )
    if dry_run and not own:
        raise InputError(
            "`dry_run` goes with `own`: on simulated participants nothing is spent anyway"
        )
    if studies < 1 or seed < 0:
        raise InputError(f"studies must be at least 1 and seed 0, got {studies} and {seed}")
    path = Path(source) if isinstance(source, Path | str) else None
    read_in = read_scrubbed(path, map) if path is not None else source
    assert isinstance(read_in, Study | FeatureTable), "a path was read"
    table = feature_table(read_in)
    if table.released:
        raise InputError("this is a release already: name the study that it was made of")
    facts = Facts.of(table)
    if facts.people < FEWEST_PEOPLE:
        raise InputError(
            f"a recommendation needs at least {FEWEST_PEOPLE} people to hide among, and there are "
            f"{facts.people}"
        )
    asked = goals_of([goals] if isinstance(goals, str) else list(goals), facts)
    if facts.simulable and not own:
        raise InputError(
            f"{facts.simulable}. Choose on your own data, which costs an ε (`own` "
            "`tuning_epsilon=…`), or look at 'eyelid compare', which is for your eyes only"
        )
    task = asked.find("task")
    if task is not None and facts.tasks_are_too_many and not own:
        raise InputError(
            f"{task.text}: this study has {len(facts.tasks)} tasks and the simulator "
            "fewer, which are easier to tell apart: leave this goal out, or choose on your own "
            "data, which costs an ε (`own` `tuning_epsilon=…`)"
        )
    if tuning_epsilon is not None:
        check_epsilon(tuning_epsilon)
        # The choice is paid for out of what a person may be told in total.
        asked = asked.after(tuning_epsilon)
    found, skipped = candidates(table, asked, mechanisms)
    notes: tuple[str, ...] = ()
    whose = read_in if isinstance(read_in, Study) else table
    released = _releases_of(whose, path)
    if own or released:
        with_epsilon = [one for one in found if one.promise.person_level.kind.differential]
        said = ALONE if own else BESIDE.format(count=released)
        notes = (said,) if len(with_epsilon) < len(found) else ()
        found = with_epsilon
    if not found:
        raise InputError(_no_candidate(asked, own, released))
    start = Recommendation(
        goals=asked,
        facts=facts,
        skipped=tuple(skipped.items()),
        source="IN" if path is None else str(path),
        notes=notes,
    )
    search = _Search(facts, asked, studies, seed)
    if tuning_epsilon is None:
        relaxed = candidates(table, asked.without_promises(), mechanisms)[0]
        if released:
            relaxed = [one for one in relaxed if one.promise.person_level.kind.differential]
        return _on_made_up_people(start, search, found, relaxed)
    if len(found) < 2:
        raise InputError(
            f"{found[0].setting} is all that these goals allow: there is nothing to choose, so pay "
            "for nothing and leave out `own`"
        )
    choice = PrivateChoice(tuning_epsilon, min(len(found), _ON_BALLOT), facts.people)
    if facts.simulable:
        choice = replace(choice, candidates=len(found))
    choice.check(simulable=not facts.simulable)
    start = replace(start, choice=choice)
    if dry_run:
        return start
    origin, _ = counting_entry(whose, path, ledger)
    return _on_own_people(start, search, found, replace(table, origin=origin), tell)


def _releases_of(study: Study | FeatureTable, path: Path | None) -> int:
    """How many releases of these people are counted; none where no ledger can be asked."""
    try:
        return len(spent_on(study, path).debits)
    except InputError:
        return 0


def _no_candidate(goals: Goals, own: bool, released: int) -> str:
    """Why nothing is left to try."""
    promised = " and ".join(goal.text for goal in goals.asked if not goal.measured)
    if own:
        return (
            f"nothing with an ε meets {promised or 'these goals'}, and a choice on your own data "
            "would undo a promise without one: leave out `own`"
        )
    if released:
        return (
            f"nothing with an ε meets {promised or 'these goals'}, and "
            f"{BESIDE.format(count=released)}: give goals for ε, or 'eyelid mechanisms' lists what "
            "each promises"
        )
    return (
        f"no mechanism that holds promises {promised} of these data: 'eyelid mechanisms' lists "
        "units, kinds and what each takes"
    )


@dataclass(frozen=True)
class _Search:
    """What every run on simulated participants has in common."""

    facts: Facts
    goals: Goals
    studies: int
    seed: int

    @property
    def questions(self) -> Questions:
        """What is asked of every run."""
        several = len(set(self.facts.tasks_made_up)) > 1 and not self.facts.tasks_are_too_many
        return Questions(target="task" if several else None, attributes=self.goals.attributes)

    def made_up(self) -> list[FeatureTable]:
        """The studies."""
        seeds = [int.from_bytes(_digest(self.seed, "study", n)) for n in range(self.studies)]
        make = partial(self.facts.simulated, attributes=self.goals.attributes)
        return list(spread(make, seeds, "drawing synthetic participants"))


def _digest(*words: object) -> bytes:
    """Seeds of their own for whatever is drawn, in whichever order."""
    return hashlib.sha256(" ".join(map(str, words)).encode()).digest()[:4]


def _on_made_up_people(
    start: Recommendation,
    search: _Search,
    found: Sequence[Candidate],
    relaxed: Sequence[Candidate],
) -> Recommendation:
    """Try everything on one study, and the best on all of them."""
    settings = {one.setting for one in found}
    others = [one for one in relaxed if one.setting not in settings]
    with shared(_Work(tuple(search.made_up()), (*found, *others), search)) as handle:
        trial = _Trial(handle, [*found, *others], search)
        trial.run(range(len(found)), [0])
        if not any(one.meets for one in trial.judged()):
            # What would have to give: promises too.
            trial.run(range(len(found), len(found) + len(others)), [0])
        for _ in range(_ROUNDS):
            waiting = [one for one in _to_show(trial.judged(), settings) if not trial.whole(one)]
            if not waiting or search.studies == 1:
                break
            places = dict.fromkeys(trial.place(one.candidate) for one in waiting)
            trial.run(places, range(1, search.studies))
    every = trial.judged()
    asked = [one for one in every if one.candidate.setting in settings]
    whole = [one for one in _leaders(asked) if trial.whole(one)]
    best = tuple(one for one in whole if one.meets)
    notes = [*start.notes, SIMULATED]
    if not best:
        notes += _more_people(asked)
    return replace(
        start,
        best=best,
        closest=() if best else tuple(whole),
        instead=() if best else tuple(one for one in _instead(every) if trial.whole(one.judged)),
        tried=tuple(every),
        skipped=(*start.skipped, *trial.failed.items()),
        studies=search.studies,
        notes=tuple(notes),
    )


def _to_show(every: Sequence[Judged], asked: Collection[Setting]) -> list[Judged]:
    """What would be shown, as far as is known: of what promises enough, and what would give."""
    leaders = _leaders([one for one in every if one.candidate.setting in asked])
    if leaders and leaders[0].meets:
        return leaders
    return [*leaders, *(one.judged for one in _instead(every))]


def _leaders(every: Sequence[Judged]) -> list[Judged]:
    """The best of each mechanism and unit, or where nothing meets the goals the nearest."""
    meeting = sorted((one for one in every if one.meets), key=lambda one: one.promise_first)
    ranked = meeting or sorted(every, key=lambda one: one.nearness)
    first: dict[Any, Judged] = {}
    for one in ranked:
        first.setdefault(
            (one.candidate.setting.mechanism, one.candidate.promise.guarantee.unit), one
        )
    return list(first.values())[:_SHOWN]


def _instead(every: Sequence[Judged]) -> list[Instead]:
    """For each smallest set of one or two goals that could be given up, what would then work."""
    by_missed: dict[frozenset[str], list[Judged]] = {}
    for one in every:
        by_missed.setdefault(frozenset(verdict.goal for verdict in one.missed), []).append(one)
    smallest = [
        missed
        for missed in by_missed
        if 0 < len(missed) <= 2 and not any(other < missed for other in by_missed)
    ]
    order = [verdict.goal for verdict in every[0].verdicts] if every else []
    found = [
        Instead(
            tuple(sorted(missed, key=order.index)),
            min(by_missed[missed], key=lambda one: one.promise_first),
        )
        for missed in smallest
    ]
    return sorted(found, key=lambda one: (len(one.without), one.judged.nearness))[:_SHOWN]


def _more_people(every: Sequence[Judged]) -> list[str]:
    """From how many people on simulated ones would have all features, with the best of them."""
    for one in ranked(every):
        mechanism, facts = mechanism_of(one.candidate.setting), one.candidate.facts
        if mechanism.release is ReleaseKind.SYNTHETIC:
            needed = mechanism.people_for_all_features(facts)
            if needed is None:
                return []
            given = mechanism.parameters()
            return [
                f"More people help what is computed over people: from {needed:,} on, synthetic "
                f"at ε = {given['epsilon']:g} draws people with all {facts.features} features "
                f"(an error of {given['error']:g} in a task's shares); you have {facts.people}."
            ]
    return []


@dataclass(frozen=True, eq=False)
class _Work:
    """All that a worker needs for any run on simulated participants."""

    tables: tuple[FeatureTable, ...]
    candidates: tuple[Candidate, ...]
    search: _Search


class _Trial:
    """Runs on simulated participants, and what came of them so far."""

    def __init__(
        self, handle: Shared[_Work], candidates: Sequence[Candidate], search: _Search
    ) -> None:
        self._handle = handle
        self._candidates = candidates
        self._search = search
        self._runs: dict[int, dict[int, Outcome]] = {}
        self.failed: dict[str, str] = {}

    def run(self, places: Iterable[int], studies: Iterable[int]) -> None:
        """Some candidates on some studies, on all cores."""
        jobs = [(place, study) for study, place in product(studies, places)]
        for number, entry in as_done(partial(_run, self._handle), jobs, "releasing and attacking"):
            place, study = jobs[number]
            if isinstance(entry, str):
                self.failed[str(self._candidates[place].setting)] = entry
                self._runs.pop(place, None)
            elif str(self._candidates[place].setting) not in self.failed:
                self._runs.setdefault(place, {})[study] = entry

    def place(self, candidate: Candidate) -> int:
        """Where a candidate stands."""
        return self._candidates.index(candidate)

    def whole(self, one: Judged) -> bool:
        """Whether a candidate was run on all studies."""
        return len(self._runs.get(self.place(one.candidate), ())) == self._search.studies

    def judged(self) -> list[Judged]:
        """What is known of everything that was run."""
        return [
            judged(self._candidates[place], [runs[n] for n in sorted(runs)], self._search.goals)
            for place, runs in sorted(self._runs.items())
        ]


def _run(handle: Shared[_Work], job: tuple[int, int]) -> Outcome | str:
    """One run, in a worker; or why it failed."""
    work, (place, study) = handle.get(), job
    setting, table = work.candidates[place].setting, work.tables[study]
    seed = int.from_bytes(_digest(work.search.seed, setting, study))
    try:
        # On one core wherever it is: more of them round otherwise.
        with alone():
            trial = Trial(mechanism_of(setting), table, table, work.search.questions, seed)
            found = measured(trial)
    except EyelidError as error:
        return str(error)
    # Recordings of all tasks are cut to one length.
    return replace(found, used_chance=1 / len(set(work.search.facts.tasks_made_up)))


def _on_own_people(
    start: Recommendation,
    search: _Search,
    found: Sequence[Candidate],
    table: FeatureTable,
    tell: Callable[[str], None],
) -> Recommendation:
    """Pay, let blocks of people vote, and show the choice alone."""
    choice = start.choice
    assert choice is not None, "what it costs was settled"
    book = open_ledger(table.origin)
    people = table.recordings["person"].unique(maintain_order=True).to_list()
    counted = ", counted in the ledger before anything is run"
    tell(
        f"this choice costs every person {choice.guarantee.numbers()}"
        + (f"; not covered: {NO_LEDGER}" if book is None else counted)
    )
    if book is not None:
        ledger, origin = book
        earlier = {d.guarantee.kind for d in ledger.debits(origin) if d.guarantee.holds}
        if Kind.K_ANONYMITY in earlier:
            tell(UNDOES)
        what = f"a choice among {choice.candidates} releases by {choice.blocks} blocks of people"
        ledger.debit(origin, people, "recommend", choice.guarantee, what)
    try:
        ballot, figures = list(found), {}
        if not start.facts.simulable:
            tried = ranked(_on_made_up_people(start, search, found, ()).tried)
            ballot = [one.candidate for one in tried][: choice.candidates]
            figures = {one.candidate: one for one in tried}
        choice = replace(choice, candidates=len(ballot))
        target = "task" if len(start.facts.tasks) > 1 else None
        questions = replace(search.questions, target=target)
        vote = Ballot(table, tuple(ballot), search.goals, questions, search.seed)
        chosen = ballot[voted(choice, vote, randomness())]
    except Exception as error:
        if book is not None:
            error.add_note(STAYS_COUNTED)
        raise
    return replace(
        start,
        best=(figures.get(chosen) or Judged(chosen, None, ()),),
        studies=search.studies if figures else 0,
        choice=choice,
        counted=book is not None,
        notes=(*start.notes, CHOSEN),
    )
