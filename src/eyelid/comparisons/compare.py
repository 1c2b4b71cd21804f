"""Mechanisms side by side on the same people: run, attacked, used, again and again."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from eyelid.attacks.conclusions import JUDGED, conclusions, judged
from eyelid.attacks.outcome import ATTACKERS, MODELS, Outcome, Questions, Trial, measured_raw
from eyelid.comparisons.journal import journal
from eyelid.comparisons.settings import DEFAULT, EPSILONS, mechanism_of, other_meaning, settings_of
from eyelid.engine.atomic import outside, write_file
from eyelid.engine.cores import alone
from eyelid.engine.engines import Shared, advancing, shared, using
from eyelid.engine.progress import one_bar
from eyelid.errors import EyelidError, InputError, unknown
from eyelid.gaze.features.omission import Blanks, blank_recordings, without
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.intake import read_scrubbed
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
)
from eyelid.mechanisms.certificate import Promise
from eyelid.mechanisms.features import FeatureMechanism, windows_of
from eyelid.privacy.noise import randomness
from eyelid.releases.accounting import input_digest
from eyelid.releases.audits.audit import check_page
from eyelid.releases.audits.kinds import measured
from eyelid.releases.audits.original import gaze_in, summarised
from eyelid.releases.kinds.features.plan import NOTHING_LONG_ENOUGH, make_plan
from eyelid.reporting.comparisons.comparison import Comparison
from eyelid.reporting.comparisons.row import Row
from eyelid.reporting.comparisons.setting import Setting, written
from eyelid.reporting.plane import check_picture
from eyelid.spelling import plural
from eyelid.version import __version__

FEWEST_PEOPLE = 3
REPEATS = 3
# What --fast leaves of it.
FAST_EPSILONS, FAST_ATTACKERS = (1.0, 16.0), ("means", "whitened")

Source = Study | FeatureTable | Path | str


def compare(
    source: Source,
    mechanisms: str | Sequence[str] = DEFAULT,
    epsilons: Sequence[float] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    repeats: int | None = None,
    *,
    unit: str | None = None,
    target: str | None = None,
    utility: str = MODELS[0],
    attributes: Sequence[str] = (),
    report: Path | str | None = None,
    picture: Path | str | None = None,
    resume: Path | str | None = None,
    fast: bool = False,
    map: Map = None,
    people: Whom = None,
    min_seconds: float | None = None,
    seed: int = 0,
    engine: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """The privacy–utility trade-off of several mechanisms, measured on the same people.

    Nothing is released, and nothing is counted in a ledger. The figures are those of these people:
    no certificate covers them, nor a choice that is made by them.

    Args:
        source: a study folder, recordings, a study or a feature table.
        mechanisms: names, ``name:unit`` for one at another unit, or ``all``.
        epsilons: for those that have an ε: the total for one unit.
        sweep: values of other parameters, for those that have them: ``{"k": [2, 4, 8]}`` for sizes
            of groups, ``{"dct.k": [8, 16]}`` for a parameter of one mechanism.
        repeats: noisy runs of each; 3 by default.
        unit: whose value is hidden; a person where it is offered, by default.
        target: what the data should still be good for: ``task`` (the default), a label or an
            attribute.
        utility: what it is measured by: how well a ``forest``, ``svm`` or ``logistic`` regression
            recognises the target, or what a study concludes of tasks: ``contrasts`` (clear ones
            with the same sign), ``sizes`` (within the raw limits), ``relations`` (how far
            correlations of features agree).
        attributes: of people, that should not be told: ``gender``.
        report: a HTML file to write.
        picture: a SVG or PNG file to write, by its ending.
        resume: a folder where runs are noted while it goes on, so that the same call goes on where
            a stopped one was; where it is a study or a release, or in one, beside that.
        fast: fewer ε, attackers and runs.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        people: whom it is about, as for `eyelid.release`; everybody by default.
        min_seconds: what a recording has to last, as for `eyelid.release`.
        seed: of all random choices; the same call gives the same table.
        engine: who works: ``local``, ``dask`` or ``dask:ADDRESS``; the table is the same.
        tell: hears how many runs were done already.

    >>> import eyelid
    >>> study = eyelid.simulate(people=4, minutes=1.5, seed=1)
    >>> found = compare(study, ["laplace", "ksame"], [1.0], {"k": [2]}, repeats=1)
    >>> [(row.name, row.runs[0].chance) for row in found.rows]
    [('laplace, ε = 1', 0.25), ('ksame, k = 2', 0.25)]
    """
    refuse_frame(source, "compare")
    page = None if report is None else Path(report)
    if page is not None:
        check_page(page)
    if picture is not None:
        check_picture(Path(picture))
    names = [mechanisms] if isinstance(mechanisms, str) else list(mechanisms)
    swept = dict(sweep or {})
    options = _typed(
        ("--mechanisms", [] if names == list(DEFAULT) else names),
        ("--epsilons", epsilons or ()),
        *(
            ("--sweep", [f"{name}={written(values[0])}", *values[1:]])
            for name, values in swept.items()
            if values
        ),
        ("--repeats", [repeats]),
        ("--unit", [unit]),
        ("--target", [target]),
        ("--utility", [utility if utility != MODELS[0] else None]),
        *(("--attribute", [name]) for name in attributes),
        ("--seed", [seed or None]),
    )
    repeats = (1 if fast else REPEATS) if repeats is None else repeats
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}: choose 0 or more")
    if utility not in (*MODELS, *JUDGED):
        raise unknown("utility", utility, (*MODELS, *JUDGED))
    grid = settings_of(names, epsilons or (FAST_EPSILONS if fast else EPSILONS), swept, unit)
    with using(engine):
        found = _windows(source, map, people, min_seconds)
        table, original = _with_values(*found, tell)
        count = table.data["person"].n_unique()
        if table.released:
            raise InputError(
                "this is a release already: compare what could be released of the original"
            )
        if count < FEWEST_PEOPLE:
            raise InputError(
                f"a comparison needs at least {FEWEST_PEOPLE} people to tell apart, and there are "
                f"{count}"
            )
        questions = Questions(
            target=_target(table, target),
            attributes=_checked(table, attributes),
            attackers=FAST_ATTACKERS if fast else ATTACKERS,
            model=utility,
        )
        _check_conclusions(table, questions)
        planned = [_planned(setting, original, table) for setting in grid]
        _check_some([one.row for one in planned])
        work = _Work(table, tuple(planned), questions, seed)
        # What is noted is measured on raw data: never in a folder that may be shared.
        notes = None if resume is None else outside(Path(resume))
        raw, rows = _run(work, repeats, notes, tell)
    _check_some(rows)
    done = Comparison(
        raw,
        tuple(rows),
        questions,
        count,
        repeats,
        seed,
        table.simulated,
        page,
        (*options, *(["--fast"] if fast else [])),
        remarks_on(grid, swept, questions.target, whole=questions.concluded),
    )
    if page is not None:
        from eyelid.reporting.comparisons.page import comparison_page

        write_file(page, comparison_page(done))
    if picture is not None:
        done.save_picture(picture)
    return done


def _windows(
    source: Source, map: Map, people: Whom, min_seconds: float | None
) -> tuple[FeatureTable, Callable[[], Study | FeatureTable]]:
    """Everybody's windows, and what they are of, for mechanisms that take something else."""
    if isinstance(source, Path | str):
        cut = gaze_in(source, people, min_seconds) if map is None else None
        if cut is not None:
            return summarised(cut, windows_of), cache(cut.whole)
        source = read_scrubbed(Path(source), map)
    if isinstance(source, Study):
        source = replace(chosen_of(source, people), min_seconds=min_seconds)
    elif people is not None:
        source = FeatureTable.of(chosen_of(source.study(), people))
    return windows_of(source), lambda: source


def _with_values(
    table: FeatureTable,
    original: Callable[[], Study | FeatureTable],
    tell: Callable[[str], None],
) -> tuple[FeatureTable, Callable[[], Study | FeatureTable]]:
    """Both without recordings of which no feature has a value: attackers learn nothing from them.

    Args:
        table: everybody's windows.
        original: what they are of.
        tell: hears how many there are.
    """
    blank = blank_recordings(table)
    if blank.is_empty():
        return table, original
    if blank.height == table.recordings.height:
        raise InputError(NOTHING_LONG_ENOUGH)
    tell(f"{Blanks.of(table).in_words()}; they are not compared")

    def rest() -> Study | FeatureTable:
        source = original()
        kept = source.data.join(blank, on=RECORDING_KEY, how="anti", maintain_order="left")
        return replace(source, data=kept)

    return without(table, blank), rest


def _typed(*options: tuple[str, Sequence[Any]]) -> tuple[str, ...]:
    """Options with their values as they are typed; what was left to its default is left out."""
    return tuple(
        f"{option} {shlex.quote(','.join(map(written, values)))}"
        for option, values in options
        if values and None not in values
    )


def remarks_on(
    grid: Sequence[Setting],
    sweep: Mapping[str, Sequence[Any]],
    target: str | None,
    *,
    whole: bool = False,
) -> tuple[str, ...]:
    """What readers should know about how it was measured."""
    remarks = []
    if target is None:
        remarks.append(
            "There are no two tasks to tell apart, so that use is measured as error alone. "
            "`target` names a label or an attribute to recognise."
        )
    if whole:
        remarks.append(
            "What is concluded is one figure of all these people: its limits are over runs alone, "
            "and a single run has none."
        )
    if "k" in sweep and (others := other_meaning([setting.mechanism for setting in grid])):
        remarks.append(f"{others[0].upper()}{others[1:]}.")
    return tuple(remarks)


def _check_some(rows: Sequence[Row]) -> None:
    """Fail where nothing can be released in any of the ways asked for."""
    if all(row.skipped for row in rows):
        first = rows[0]
        raise InputError(f"none of these can be released: {first.name}: {first.skipped}")


def _target(table: FeatureTable, asked: str | None) -> str | None:
    """What is to be recognised; by default the task, if there are several."""
    known = table.data.join(table.people, on="person", how="left", maintain_order="left")
    possible = [c for c in known.columns if c == "task" or c.startswith("label_")]
    possible += [c for c in table.people.columns if c != "person"]
    if asked is None:
        several = "task" in known.columns and known["task"].drop_nulls().n_unique() > 1
        return "task" if several else None
    if asked not in possible:
        raise unknown("target", asked, possible)
    if known[asked].drop_nulls().n_unique() < 2:
        raise InputError(f"there is nothing to recognise in {asked}: all have the same value")
    return asked


def _check_conclusions(table: FeatureTable, questions: Questions) -> None:
    """Refuse to ask what a study concludes where raw data conclude nothing."""
    if not questions.concluded:
        return
    if questions.target != "task":
        raise InputError(
            f"utility={questions.model} compares tasks, and needs two or more of them: leave "
            f"target out, or choose {', '.join(MODELS)}"
        )
    if judged(conclusions(table, table), questions.model) is None:
        raise InputError(
            f"utility={questions.model}: raw data of these people show none of it clearly: choose "
            f"{', '.join(MODELS)}"
        )


def _checked(table: FeatureTable, attributes: Sequence[str]) -> tuple[str, ...]:
    possible = [name for name in table.people.columns if name != "person"]
    for name in attributes:
        if name not in possible:
            raise unknown("attribute", name, possible)
    return tuple(dict.fromkeys(attributes))


@dataclass(frozen=True, eq=False)
class _Planned:
    """A setting, what it would promise, and what it would take.

    Attributes:
        row: without runs.
        taken: what the mechanism takes, where that is not the windows.
    """

    row: Row
    taken: FeatureTable | None = None


@dataclass(frozen=True, eq=False)
class _Work:
    """All that a worker needs to run any setting."""

    table: FeatureTable
    planned: tuple[_Planned, ...]
    questions: Questions
    seed: int


@dataclass(frozen=True)
class _Job:
    """One run of one setting; of the raw data, where there is no setting."""

    place: int | None
    repeat: int
    key: str

    def seed(self, seed: int) -> int:
        """Its own, whatever else is run and in whichever order."""
        digest = hashlib.sha256(f"{seed} {self.key}".encode()).digest()
        return int.from_bytes(digest[:4], "big")


def _planned(
    setting: Setting, original: Callable[[], Study | FeatureTable], table: FeatureTable
) -> _Planned:
    """What a setting would promise; or why it cannot be released so."""
    try:
        mechanism = mechanism_of(setting)
        windows = _takes_windows(mechanism, table)
        plan = make_plan(table if windows else original(), mechanism, randomness(None))
    except EyelidError as error:
        return _Planned(Row(setting, skipped=str(error)))
    how = mechanism.person_total(plan.design.facts)
    promise = Promise(plan.guarantee, plan.person_level, how, plan.alike)
    return _Planned(Row(setting, promise), None if windows else plan.design.table)


def _takes_windows(mechanism: FeatureMechanism, table: FeatureTable) -> bool:
    """Whether a mechanism takes windows as they are, and does not make its own of recordings."""
    try:
        return mechanism.summarise(table) is table
    except InputError:
        return False


def _run(
    work: _Work, repeats: int, folder: Path | None, tell: Callable[[str], None]
) -> tuple[Row, list[Row]]:
    """Everything that is not noted yet, by all workers; this process alone writes it down."""
    possible = [place for place, one in enumerate(work.planned) if not one.row.skipped]
    jobs = [_Job(None, 0, "raw")] + [
        _Job(place, repeat, f"{work.planned[place].row.setting!r} #{repeat}")
        for repeat in range(repeats)
        for place in possible
    ]
    with journal(folder, _digest(work, jobs)) as notes, shared(work) as handle:
        found = dict(notes.done)
        waiting = [job for job in jobs if job.key not in found]
        if found:
            tell(f"{len(found)} of {plural(len(jobs), 'run')} were done already")
        with one_bar(len(waiting), "runs") as advance:
            work_on, each = partial(_job, handle), [1] * len(waiting)
            what = "releasing and attacking"
            for place, entry in advancing(work_on, waiting, each, advance, what):
                notes.add(waiting[place].key, entry)
                found[waiting[place].key] = entry
    # As a file gives them back, so that a resumed run finds the same.
    outcomes = {key: json.loads(json.dumps(entry)) for key, entry in found.items()}
    raw = Row(None, runs=(Outcome.from_dict(outcomes["raw"]),))
    return raw, [
        _filled(one.row, [outcomes[job.key] for job in jobs if job.place == place])
        for place, one in enumerate(work.planned)
    ]


def _filled(row: Row, entries: Sequence[dict[str, Any]]) -> Row:
    """A row with what came of its runs; one that failed leaves nothing to compare."""
    failed = next((one["failed"] for one in entries if "failed" in one), "")
    if failed:
        return replace(row, skipped=failed)
    return replace(row, runs=tuple(Outcome.from_dict(one) for one in entries))


def _job(handle: Shared[_Work], job: _Job) -> dict[str, Any]:
    """One run's outcome as a line of a file; why there is none, where it failed.

    On one core wherever it is: more of them add up in another order, and round so.
    """
    work = handle.get()
    with alone():
        if job.place is None:
            return measured_raw(work.table, work.questions, work.seed).to_dict()
        planned = work.planned[job.place]
        taken = work.table if planned.taken is None else planned.taken
        seed = job.seed(work.seed)
        try:
            mechanism = mechanism_of(planned.row.asked)
            found = measured(Trial(mechanism, taken, work.table, work.questions, seed))
        except EyelidError as error:
            return {"failed": str(error)}
        return found.to_dict()


def _digest(work: _Work, jobs: Sequence[_Job]) -> str:
    """What tells this work from any other: data, bounds, questions, settings, runs, version."""
    content = [__version__, str(work.questions), work.seed, [job.key for job in jobs]]
    found = hashlib.sha256(json.dumps(content).encode())
    own = [one.taken for one in work.planned if one.taken is not None]
    for table in (work.table, *own):
        about = table.features, table.step_ms, table.window_ms, table.data.columns
        found.update(repr(about).encode())
        found.update(input_digest(table))
        # Tasks and labels decide what is recognised; numbers among them are written exactly.
        text = table.data.drop("time_ms", *table.names)
        found.update(text.write_json().encode())
        found.update(table.people.write_json().encode())
    return found.hexdigest()
