"""Who is it, what is read, which gender: the paper's classifiers by its protocol and leak-free.

The paper learns from a release and tests on the same release: first halves against second halves
for people, other people's recordings against those of one person for the rest. Noise that runs
through a whole recording, or has another scale in each document, is then recognised too.

Without a leak, people are learned from raw recordings and looked for in the release of another
task; everything else is learned from the release of other people, by the very same models, and
tested on raw windows of the person left out. That is what a release is good for.

Classifiers of single windows do not see what is left when noise is averaged away. So people are
looked for by means over whole recordings, too, by attackers of `eyelid.attacks.attackers`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import Attacker
from eyelid.attacks.attackers.means import Means, Whitened
from eyelid.attacks.classifiers import Codes, Fold, classes_of, judged, people_apart
from eyelid.attacks.records import ROWS_PER_PERSON, Records
from eyelid.attacks.scores import Scores, named
from eyelid.attacks.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.engine.engines import Shared, shared, spread
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.papers.bozkir2021.fourier_noise import TaskNoise
from eyelid.papers.bozkir2021.methods import Chosen, Method, best_k, noisy, without_signals
from eyelid.papers.bozkir2021.printed import FEATURES, METHODS
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Value
from eyelid.papers.signals import TaskSignals, signals_of

PERSON = "person"
BY_MEANS: Mapping[str, tuple[Attacker, int]] = {
    "means": (Means(), ROWS_PER_PERSON),
    "whitened": (Whitened(), ROWS_PER_PERSON),
    "means, trusted": (Means(), 1),
    "whitened, trusted": (Whitened(), 1),
}
"""Who looks at means over recordings, and at how many rows of each: one row shows no noise, and its
mean is trusted."""
Shares = NDArray[np.float64]


class Question(NamedTuple):
    """What is asked of one release.

    Attributes:
        target: ``person``, ``task``, an attribute or a label.
        model: of `eyelid.attacks.classifiers.MODELS`, or of `BY_MEANS`.
        voted: whether the windows of a recording vote.
        leak_free: under which protocol.
    """

    target: str
    model: str
    voted: bool
    leak_free: bool


Answers = dict[Question, Shares]
"""For each person, the share of windows or recordings that are told right."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Recordings that are released and attacked, as numbers.

    Attributes:
        signals: the recordings of each task.
        record: for each row, which recording it is of.
        row: its place in the recording.
        owner: for each recording, whose it is.
        task: for each recording, which task it is of.
        targets: by name, the class of every row, −1 where it is not known.
        every: of so many windows one is looked at.
        every_of_person: the same where people are to be named.
    """

    signals: tuple[TaskSignals, ...]
    record: Codes
    row: Codes
    owner: Codes
    task: Codes
    targets: Mapping[str, Codes]
    every: int
    every_of_person: int

    @classmethod
    def of(
        cls, table: FeatureTable, targets: Sequence[str], every: int, every_of_person: int
    ) -> Subject:
        """The recordings of a table; targets with a single value, or none, are left out."""
        signals = tuple(signals_of(table))
        recordings = table.recordings
        rows = recordings["rows"].to_numpy()
        task = np.zeros(len(rows), dtype=np.intp)
        for number, one in enumerate(signals):
            task[one.places] = number
        known = table.data.join(table.people, on="person", how="left", maintain_order="left")
        found = {
            name: classes
            for name in targets
            if name in known.columns and len((classes := classes_of(known[name])).values) > 1
        }
        return cls(
            signals=signals,
            record=np.repeat(np.arange(len(rows)), rows),
            row=np.concatenate([np.arange(count) for count in rows]),
            owner=np.unique(recordings["person"].to_numpy(), return_inverse=True)[1],
            task=task,
            targets={name: classes.codes for name, classes in found.items()},
            every=every,
            every_of_person=every_of_person,
        )

    def flat(self, values: Sequence[Values]) -> Values:
        """(rows, features) of all recordings, from (recordings, features, rows) of each task."""
        starts = np.searchsorted(self.record, np.arange(len(self.owner)))
        found = np.empty((len(self.record), values[0].shape[1]))
        for signals, each in zip(self.signals, values, strict=True):
            for place, rows, own in zip(signals.places, signals.lengths, each, strict=True):
                found[starts[place] : starts[place] + rows] = own[:, :rows].T
        return found

    @functools.cached_property
    def raw(self) -> Values:
        """All recordings as they are."""
        return self.flat([signals.values for signals in self.signals])


def of_others(subject: Subject, released: Values, seed: int) -> Answers:
    """Targets learned from the release of everybody else: both protocols, by the same models."""
    if not subject.targets:
        return {}
    kept = subject.row % subject.every == 0
    record = subject.record[kept]
    targets = {name: codes[kept] for name, codes in subject.targets.items()}
    known = released[kept]
    apart = people_apart(subject.owner[record])
    folds = [Fold(fold.known, np.tile(fold.shown, 2)) for fold in apart]
    said = judged(known, np.concatenate([known, subject.raw[kept]]), targets, folds, seed=seed)
    found: Answers = {}
    for (target, model), answers in said.items():
        for leak_free, answer in zip((False, True), np.split(answers, 2), strict=True):
            found |= _shares(subject, record, targets[target], answer, (target, model, leak_free))
    return found


def of_halves(subject: Subject, released: Values, seed: int) -> Answers:
    """People learned from first halves of a release and looked for in its second halves."""
    kept = subject.row % subject.every_of_person == 0
    record = subject.record[kept]
    rows = np.bincount(subject.record)
    first = subject.row[kept] < (rows // 2)[record]
    truth = subject.owner[record]
    folds = [Fold(first, ~first)]
    said = judged(released[kept], released[kept], {PERSON: truth}, folds, seed=seed)
    found: Answers = {}
    for (_, model), answer in said.items():
        found |= _shares(subject, record, truth, answer, (PERSON, model, False))
    return found


def across_tasks(subject: Subject, releases: Sequence[Values], seed: int) -> list[Answers]:
    """People learned from raw recordings and looked for in releases of another task.

    Args:
        subject: who.
        releases: several, since what is learned serves them all.
        seed: of the models.
    """
    found: list[Answers] = [{} for _ in releases]
    if len(subject.signals) < 2:
        return found
    kept = subject.row % subject.every_of_person == 0
    record = subject.record[kept]
    truth, task = subject.owner[record], subject.task[record]
    folds = [
        Fold(task != number, np.tile(task == number, len(releases)))
        for number in range(len(subject.signals))
    ]
    shown = np.concatenate([released[kept] for released in releases])
    said = judged(subject.raw[kept], shown, {PERSON: truth}, folds, seed=seed)
    for (_, model), answers in said.items():
        for mine, answer in zip(found, np.split(answers, len(releases)), strict=True):
            mine |= _shares(subject, record, truth, answer, (PERSON, model, True))
    return found


def by_means(subject: Subject, releases: Sequence[Values], seed: int) -> list[Answers]:
    """People known by raw recordings, looked for by means over all rows of another task's release.

    Args:
        subject: who.
        releases: several, since what is learned serves them all.
        seed: of the attackers.
    """
    found: list[Answers] = [{} for _ in releases]
    if len(subject.signals) < 2:
        return found
    spread = subject.raw.std(axis=0)
    spread[spread == 0] = 1.0
    everything = _records(subject, subject.raw / spread, np.full(len(subject.owner), True))
    means = everything.per_record(everything.values)
    usual = {
        str(number): means[subject.task == number].mean(axis=0)
        for number in range(len(subject.signals))
    }
    rights = [{name: np.zeros(len(subject.owner)) for name in BY_MEANS} for _ in releases]
    for number in range(len(subject.signals)):
        own = subject.task == number
        known = replace(_records(subject, everything.values, ~own), usual=usual).condensed(
            ROWS_PER_PERSON
        )
        for name, (attacker, rows) in BY_MEANS.items():
            recognise = attacker.learn(known, seed)
            for right, released in zip(rights, releases, strict=True):
                shown = _records(subject, released / spread, own).condensed(rows)
                scores = recognise(shown)
                assert isinstance(scores, Scores), f"{name} scores records by more than one number"
                right[name][own] = named(scores.averaged, scores.owner)
    for mine, right in zip(found, rights, strict=True):
        for name, each in right.items():
            mine[Question(PERSON, name, True, True)] = _means(each, subject.owner)
    return found


def _records(subject: Subject, values: Values, wanted: NDArray[np.bool_]) -> Records:
    """Some recordings, as attackers have them."""
    rows = wanted[subject.record]
    present, record = np.unique(subject.record[rows], return_inverse=True)
    return Records(
        values[rows],
        record.astype(np.intp),
        subject.owner[present],
        tuple(str(task) for task in subject.task[present]),
        tuple(str(person) for person in range(int(subject.owner.max()) + 1)),
    )


def _shares(
    subject: Subject, record: Codes, truth: Codes, answer: Codes, asked: tuple[str, str, bool]
) -> Answers:
    """How often each person's windows are told right, and their recordings by vote."""
    target, model, leak_free = asked
    tested = (answer >= 0) & (truth >= 0)
    record, truth, answer = record[tested], truth[tested], answer[tested]
    right = _means(truth == answer, subject.owner[record])
    found = {Question(target, model, False, leak_free): right}
    present, place = np.unique(record, return_inverse=True)
    one_truth = np.zeros(len(present), dtype=np.intp)
    one_truth[place] = truth
    # What changes within a recording cannot be voted on.
    if (one_truth[place] == truth).all():
        votes = np.zeros((len(present), max(truth.max(), answer.max()) + 1))
        np.add.at(votes, (place, answer), 1.0)
        by_vote = _means(named(votes, one_truth), subject.owner[present])
        found[Question(target, model, True, leak_free)] = by_vote
    return found


def _means(values: NDArray[np.bool_] | Shares, group: Codes) -> Shares:
    """The mean of each group; NaN for who is in none."""
    counts = np.bincount(group)
    sums = np.bincount(group, weights=values)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


NOTHING, NO_NOISE = "nothing but noise", "no noise"


@dataclass(frozen=True)
class Effort:
    """How much is done.

    Attributes:
        methods: of `METHODS`.
        epsilons: of the paper's, ascending.
        repeats: noisy runs, of methods as printed.
        repeats_kept: noisy runs of methods with a mean without noise.
        runs_for_k: noisy runs by which each k is chosen.
        thinner: how many times fewer windows than in the paper are looked at.
        seed: of everything that is drawn.
        kept: methods that are run with a mean without noise, too; all by default.
    """

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    repeats: int
    repeats_kept: int
    runs_for_k: int
    thinner: int
    seed: int
    kept: tuple[str, ...] = METHODS

    @property
    def rows(self) -> list[Method]:
        """Every method as printed, and some with a mean without noise."""
        printed = [Method.called(name) for name in self.methods]
        return [
            replace(one, noisy_mean=noisy)
            for one in printed
            for noisy in (True, False)
            if noisy or one.name in self.kept
        ]


Found = dict[tuple[str, float | None], list[Answers]]
"""By row and ε (None for nothing but noise; no noise has both), the answers of every run."""


def recognise(source: Source, effort: Effort, targets: Sequence[str]) -> tuple[Subject, Found]:
    """Release again and again, and ask everything of every release.

    Args:
        source: the dataset.
        effort: how much of it.
        targets: what is asked, besides who it is.
    """
    subject = Subject.of(
        source.table,
        targets,
        source.every * effort.thinner,
        source.every_of_person * effort.thinner,
    )
    found: Found = {}
    with shared(subject) as handle:
        tasks = range(len(subject.signals))
        choices = [(method, task) for method in effort.rows for task in tasks]
        choose = functools.partial(_choose, handle, effort)
        chosen = dict(zip(choices, spread(choose, choices, "choosing k"), strict=True))
        jobs = [
            _Job(method, run, tuple(chosen[method, task] for task in tasks))
            for run in range(max(effort.repeats, effort.repeats_kept))
            for method in effort.rows
            if run < (effort.repeats if method.noisy_mean else effort.repeats_kept)
        ]
        attack = functools.partial(_attack, handle, effort)
        for job, answers in zip(jobs, spread(attack, jobs, "recognising"), strict=True):
            for epsilon, each in answers.items():
                found.setdefault((job.method.row, epsilon), []).append(each)
    found[NO_NOISE, None] = [_of_raw(subject, effort.seed)]
    return subject, found


class _Job(NamedTuple):
    method: Method
    run: int
    chosen: tuple[Chosen, ...]
    """What was chosen for every task."""


def _number(method: Method) -> int:
    """A number of its own, for seeds."""
    return METHODS.index(method.name) + (0 if method.noisy_mean else len(METHODS))


def _choose(subject: Shared[Subject], effort: Effort, choice: tuple[Method, int]) -> Chosen:
    method, task = choice
    shares = [epsilon / FEATURES for epsilon in effort.epsilons]
    seed = [effort.seed, _number(method), task]
    return best_k(method, subject.get().signals[task], shares, effort.runs_for_k, seed)


def _attack(subject: Shared[Subject], effort: Effort, job: _Job) -> dict[float | None, Answers]:
    """One run of a method: every ε, and nothing but its noise at the smallest."""
    who = subject.get()
    tasks = [job.method.noise_of(signals) for signals in who.signals]

    def released(tasks: Sequence[TaskNoise], place: int) -> Values:
        share = effort.epsilons[place] / FEATURES
        start = [effort.seed, _number(job.method), job.run, place]
        return who.flat(
            [
                noisy(task, chosen[place], share, [*start, number])
                for number, (task, chosen) in enumerate(zip(tasks, job.chosen, strict=True))
            ]
        )

    releases = [released(tasks, place) for place in range(len(effort.epsilons))]
    seed = effort.seed + job.run
    across, means = across_tasks(who, releases, seed), by_means(who, releases, seed)
    found: dict[float | None, Answers] = {
        epsilon: of_others(who, release, seed) | of_halves(who, release, seed) | far | mean
        for epsilon, release, far, mean in zip(
            effort.epsilons, releases, across, means, strict=True
        )
    }
    silent = released([without_signals(task) for task in tasks], 0)
    others = of_others(who, silent, seed) | of_halves(who, silent, seed)
    found[None] = {asked: shares for asked, shares in others.items() if not asked.leak_free}
    return found


def _of_raw(subject: Subject, seed: int) -> Answers:
    """What is recognised in recordings as they are."""
    raw = subject.raw
    (across,), (means,) = across_tasks(subject, [raw], seed), by_means(subject, [raw], seed)
    return of_others(subject, raw, seed) | of_halves(subject, raw, seed) | across | means


def chance_of(subject: Subject, target: str) -> float:
    """What guessing gives: one of the people, or always the commonest class.

    Of recordings, where the class is the same all through each; else of windows.
    """
    if target == PERSON:
        return 1 / (int(subject.owner.max()) + 1)
    codes = subject.targets[target]
    pairs = np.unique(np.column_stack([subject.record, codes])[codes >= 0], axis=0)
    once = len(np.unique(pairs[:, 0])) == len(pairs)
    counted = np.bincount(pairs[:, 1] if once else codes[codes >= 0])
    return float(counted.max() / counted.sum())


def value_of(runs: Sequence[Answers], asked: Question) -> Value | None:
    """The mean over runs, with limits over people where the protocol is leak-free."""
    found = [answers[asked] for answers in runs if asked in answers]
    if not found:
        return None
    mean = Value.of_runs([float(np.nanmean(shares)) for shares in found])
    if not asked.leak_free:
        return mean
    rate = _over_people(np.mean(found, axis=0), asked)
    return replace(mean, low=rate.low, high=rate.high)


def _over_people(shares: Shares, asked: Question) -> Rate:
    known = shares[~np.isnan(shares)]
    decisions = asked.voted and asked.target == PERSON
    return rate_of_decisions(known, 0.0) if decisions else rate_of_shares(known, 0.0)
