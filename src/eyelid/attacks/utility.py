"""What data are still good for: how well a task, an attribute or a label is recognised from them.

Learned from what was released, tested on raw windows of other people: what the release is good for
in another person's hands. Those who have noisy windows average neighbouring ones before learning,
so that is done here: learned from a few single windows, noise of single rows would make a release
look useless that is not. The paper's own protocol learns from single windows, and tests on the
release too.

What a release of some people teaches about others: the mechanism is run without those tested.
Where nobody's own record is released, those who are tested cannot be left out afterwards: what they
gave has gone into every row. So people are parted in a few groups, and the mechanism is run again
without each group in turn. What is learned from comes from somewhat fewer people than there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.classifiers import (
    EVERY_MODEL,
    Classes,
    Codes,
    Fold,
    Values,
    classes_of,
    judged,
    people_apart,
)
from eyelid.attacks.protocols import Material, halves
from eyelid.attacks.records import Records, aligned, records_of, values_of
from eyelid.attacks.scores import named
from eyelid.attacks.statistics import Rate, rate_of_shares
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable

# About so many stretches of neighbouring windows are learned from, and one window of each tested.
ROWS = 900
# Synthetic data may be learned from in larger numbers, and so may be what it is compared with.
_ROWS_ELSEWHERE = 3000


FOLDS = 5
# About so many windows of everybody are tested, and so many rows learned from.
_SHOWN, _KNOWN = 900, 3000
Run = Callable[[FeatureTable], FeatureTable]


@dataclass(frozen=True)
class Use:
    """How well one thing is recognised.

    Chance is what always naming the commonest class gives: where classes are unequal, one over
    their number is beaten without any data.

    Attributes:
        target: ``task``, an attribute or a label; of a quantity also where it was split.
        model: of `eyelid.attacks.classifiers.EVERY_MODEL`.
        protocol: ``leave-one-person-out`` (learned from the others' released stretches, tested on
            raw windows; ``leave-people-out`` where several people are left out at once,
            ``leave-group-out`` where all of a released group are), ``halves`` (learned from
            released first halves, tested on raw second ones), ``synthetic→raw`` (learned from rows
            of nobody) or ``paper-lopo`` (Bozkir et al. 2021: learned from single windows of the
            release and tested on it).
        rate: share of windows that are right, the mean over people; None without a release. It may
            be below chance: without the person shown, their class is the rarer one.
        raw: the same learned from raw windows and tested on them.
        votes: share of recordings that are right by majority vote of their windows; None without
            a release, or where the target changes within recordings.
        raw_votes: the same with raw data.
        shares: of each person, in order, the share of windows that are right; with raw data where
            there is no release.
    """

    target: str
    model: str
    protocol: str
    rate: Rate | None
    raw: Rate
    votes: float | None = None
    raw_votes: float | None = None
    shares: tuple[float, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The middle windows of stretches, of the original and of the release.

    Attributes:
        raw: the middle windows of the original.
        released: their counterparts in the release; None without one.
        means: what stretches of the release are like on average; None without one.
        targets: by name, the class of every middle window.
        halves: which stretches lie in first halves, and which middle windows in second ones; None
            where recordings are too short to part.
    """

    raw: Records
    released: Values | None
    means: Values | None
    targets: dict[str, Classes]
    halves: Fold | None


def utility(
    material: Material,
    targets: Sequence[str] | None = None,
    models: Sequence[str] = EVERY_MODEL,
    seed: int = 0,
    every: int | None = None,
    together: Codes | None = None,
    *,
    plainly: bool = False,
) -> list[Use]:
    """How well targets are recognised by every model under every protocol that is possible.

    Args:
        material: the original, and the release if there is one.
        targets: ``task``, columns of people or columns ``label_…``; by default the task and all
            labels: an attribute is a use only if asked for.
        models: who recognises.
        seed: of their random choices.
        every: how many windows a stretch has (Bozkir et al. take every 10th window); by default as
            many as leave about `ROWS` stretches.
        together: of everybody, in order, who is left out with them: where a mean over people was
            released, all people in it have taught it something.
        plainly: only what was learned from other people, tested on raw windows.
    """
    sample = _sample(material, targets, every)
    raw, owner = sample.raw.values, sample.raw.person
    apart = people_apart(owner if together is None else together[owner])
    each = len(apart) == len(np.unique(sample.raw.owner))
    alone = "leave-one-person-out" if each else "leave-people-out"
    name = alone if together is None else "leave-group-out"
    ways: dict[str, tuple[Values | None, Values | None]] = {name: (sample.means, raw)}
    if not plainly:
        ways["paper-lopo"] = sample.released, sample.released
    # Of one group alone nothing is left to learn from.
    uses = _uses(sample, sample.targets, apart, ways, models, seed) if len(apart) > 1 else []
    if sample.halves is not None and not plainly:
        within = {n: c for n, c in sample.targets.items() if _varies(c, sample.raw.person)}
        ways = {"halves": (sample.means, raw)}
        uses += _uses(sample, within, [sample.halves], ways, models, seed)
    return uses


def learned_elsewhere(
    original: FeatureTable,
    rows: FeatureTable,
    targets: Sequence[str] | None = None,
    models: Sequence[str] = EVERY_MODEL,
    seed: int = 0,
) -> list[Use]:
    """How well targets are recognised in raw windows by what was learned from rows of nobody.

    Beside it, learned from as many raw windows of other people. Those who are tested may have had a
    part in the rows.

    Args:
        original: everybody's recordings.
        rows: with the same features, made up.
        targets: as for `utility`; by default also attributes that synthetic participants have.
            Those that the rows do not have are left out.
        models: who recognises.
        seed: of their random choices.
    """
    known = rows.data.join(rows.people, on="person", how="left", maintain_order="left")
    if targets is None:
        columns = _columns(original, None)
        own = original.people.columns
        shared = [c for c in rows.people.columns if c in own and c != "person"]
        targets = [*(c.name for c in columns), *(c for c in shared if _several(original.people[c]))]
    targets = [name for name in targets if name in known.columns]
    if not targets:
        return []
    every = math.ceil(len(original.data) / max(ROWS, min(len(known), _ROWS_ELSEWHERE)))
    sample = _sample(Material(original), targets, every)
    known = known.gather_every(math.ceil(len(known) / max(len(sample.raw.values), ROWS)))
    values = values_of(rows, known)
    apart = people_apart(sample.raw.person)
    uses = []
    for use in _uses(
        sample, sample.targets, apart, {"leave-one-person-out": (None, None)}, models, seed
    ):
        classes = sample.targets[use.target]
        place = {value: code for code, value in enumerate(classes.values)}
        codes = np.array([place.get(str(v), -1) for v in known[use.target]], dtype=np.intp)
        if not (codes >= 0).any():
            continue
        everything = Fold(np.ones(len(values), bool), np.ones(len(sample.raw.values), bool))
        answers = judged(
            values, sample.raw.values, {use.target: codes}, [everything], [use.model], seed
        )
        rate, votes, shares = _right(sample.raw, classes.codes, answers[use.target, use.model])
        use = replace(use, protocol="synthetic→raw", rate=rate, votes=votes, shares=shares)
        uses.append(use)
    return uses


def _several(column: pl.Series) -> bool:
    return len(classes_of(column).values) > 1


def _uses(
    sample: _Sample,
    targets: Mapping[str, Classes],
    folds: Sequence[Fold],
    ways: Mapping[str, tuple[Values | None, Values | None]],
    models: Sequence[str],
    seed: int,
) -> list[Use]:
    """What is recognised in these folds, by what was learned from and what was shown."""
    codes = {n: c.codes for n, c in targets.items() if _can_be_tested(c.codes, folds)}
    plain = {
        key: _right(sample.raw, codes[key[0]], answer)
        for key, answer in judged(
            sample.raw.values, sample.raw.values, codes, folds, models, seed
        ).items()
    }
    if sample.released is None:
        protocol = next(iter(ways))
        return [
            Use(*key, protocol, None, raw, None, votes, shares)
            for key, (raw, votes, shares) in plain.items()
        ]
    uses = []
    for protocol, (known, shown) in ways.items():
        assert known is not None
        assert shown is not None
        for key, answer in judged(known, shown, codes, folds, models, seed).items():
            rate, votes, shares = _right(sample.raw, codes[key[0]], answer)
            raw_rate, raw_votes, _ = plain[key]
            uses.append(Use(*key, protocol, rate, raw_rate, votes, raw_votes, shares))
    return uses


def _right(
    records: Records, truth: Codes, answer: Codes
) -> tuple[Rate, float | None, tuple[float, ...]]:
    """How many windows are right, and how many recordings by vote; over people, and of each."""
    tested = (answer >= 0) & (truth >= 0)
    person, record = records.person[tested], records.record[tested]
    truth, answer = truth[tested], answer[tested]
    classes = np.arange(max(truth.max(), answer.max()) + 1)
    shares = _means(truth == answer, person)
    chance = max(float(_means(truth == one, person).mean()) for one in classes)
    rate = rate_of_shares(shares, chance)
    present, place = np.unique(record, return_inverse=True)
    votes = np.zeros((len(present), len(classes)))
    np.add.at(votes, (place, answer), 1.0)
    right = np.full(len(present), -1, dtype=np.intp)
    right[place] = truth
    if (right[place] != truth).any():
        return rate, None, tuple(shares.tolist())
    voted = float(_means(named(votes, right), records.owner[present]).mean())
    return rate, voted, tuple(shares.tolist())


def _means(values: NDArray[np.bool_] | NDArray[np.float64], group: Codes) -> NDArray[np.float64]:
    """The mean of each group that has any."""
    counts = np.bincount(group)
    return np.asarray(np.bincount(group, weights=values)[counts > 0] / counts[counts > 0])


def _sample(material: Material, targets: Sequence[str] | None, every: int | None) -> _Sample:
    """Stretches of so many windows, the same of the original and of the release."""
    original, released = material.original, material.released
    if released is not None:
        original, released = aligned(original, released)
    found = [classes_of(column) for column in _columns(original, targets)]
    everything = records_of(original, material.people)
    every = every or math.ceil(len(original.data) / ROWS)
    heads = np.searchsorted(everything.record, everything.record)
    starts = np.flatnonzero((np.arange(len(heads)) - heads) % every == 0)
    lengths = np.diff(starts, append=len(heads))
    middle = starts + lengths // 2
    noisy = None if released is None else records_of(released, material.people).values
    try:
        split = halves(original)
    except InputError:
        parted = None
    else:
        known, shown = original.data.select(known=split.known, shown=split.shown)
        within = np.logical_and.reduceat(known.to_numpy(), starts)
        parted = Fold(within, shown.to_numpy()[middle])
    return _Sample(
        raw=replace(everything, values=everything.values[middle], record=everything.record[middle]),
        released=None if noisy is None else noisy[middle],
        means=None if noisy is None else np.add.reduceat(noisy, starts) / lengths[:, None],
        targets={c.name: replace(c, codes=c.codes[middle]) for c in found},
        halves=parted,
    )


def _columns(table: FeatureTable, targets: Sequence[str] | None) -> list[pl.Series]:
    """The wanted columns, one value a row of the table; by default those with several values."""
    own = [c for c in table.data.columns if c == "task" or c.startswith("label_")]
    if targets is None:
        columns = [table.data[name] for name in own]
        return [column for column in columns if _several(column)]
    known = table.data.join(table.people, on="person", how="left", maintain_order="left")
    possible = own + [c for c in table.people.columns if c != "person"]
    for name in targets:
        if name not in possible:
            raise unknown("target", name, possible)
        if not _several(known[name]):
            raise InputError(
                f"there is nothing to recognise in {name}: everybody has the same value; "
                "choose a target with two values or more"
            )
    return [known[name] for name in targets]


def _can_be_tested(codes: Codes, folds: Sequence[Fold]) -> bool:
    """Whether the target is known of rows to learn from in every fold, and of rows to test."""
    known = codes >= 0
    learned = all((fold.known & known).any() for fold in folds)
    return learned and any((fold.shown & known).any() for fold in folds)


def _varies(classes: Classes, person: Codes) -> bool:
    """Whether a target changes within people; where not, halves would recognise the person."""
    known = classes.codes >= 0
    pairs = np.unique(np.column_stack([person, classes.codes])[known], axis=0)
    return len(pairs) > len(np.unique(person[known]))


def learned_without(
    run: Run,
    taken: FeatureTable,
    original: FeatureTable,
    *,
    model: str = "forest",
    folds: int = FOLDS,
    seed: int = 0,
) -> NDArray[np.float64] | None:
    """Shares of each person's raw windows whose task is told by a release of the others.

    Args:
        run: the mechanism: from what it takes of some people to what it releases.
        taken: what it takes of everybody.
        original: the windows to be recognised.
        model: who recognises, of `eyelid.attacks.classifiers.EVERY_MODEL`.
        folds: groups of people who are left out together.
        seed: of the model, and of who is left out with whom.

    Returns:
        In the order of people; None where what is released has no tasks.
    """
    people = original.data["person"].unique(maintain_order=True).to_list()
    rng = np.random.default_rng([seed, *b"who is left out with whom"])
    group = rng.permutation(len(people)) % min(folds, len(people))
    right = np.zeros(len(people))
    for number in np.unique(group):
        places = np.flatnonzero(group == number)
        out = [people[place] for place in places]
        without = ~pl.col("person").is_in(out)
        released = run(
            replace(taken, data=taken.data.filter(without), people=taken.people.filter(without))
        )
        if "task" not in released.data.columns:
            return None
        right[places] = _shares_recognised(released, original, out, model, seed)
    return right


def _shares_recognised(
    released: FeatureTable, original: FeatureTable, people: list[str], model: str, seed: int
) -> NDArray[np.float64]:
    """Shares of each person's raw windows whose task is told."""
    names = [name for name in original.names if name in released.names]
    original = original.only(*names)
    every = math.ceil(len(original.data) / _SHOWN)
    row = pl.int_range(pl.len()).over("person", "recording")
    shown = records_of(original, people, row % every == 0)
    thin = math.ceil(len(released.data) / _KNOWN)
    # Both as shares of the range of the original.
    rows = replace(released, data=released.data.gather_every(thin), features=original.features)
    known = records_of(rows, rows.data["person"].unique(maintain_order=True).to_list())
    tasks = sorted({*shown.tasks, *known.tasks})
    codes = np.array([tasks.index(task) for task in known.tasks], dtype=np.intp)[known.record]
    truth = np.array([tasks.index(task) for task in shown.tasks], dtype=np.intp)[shown.record]
    everything = Fold(np.ones(len(known.values), bool), np.ones(len(shown.values), bool))
    answers = judged(known.values, shown.values, {"task": codes}, [everything], [model], seed)
    hits = np.bincount(shown.person, weights=answers["task", model] == truth)
    return np.asarray(hits / np.bincount(shown.person))
