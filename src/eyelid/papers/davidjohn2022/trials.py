"""Mechanisms on their axes, and one release tried out: who is re-identified, which document told?

One reading of the paper's protocol, for `eyelid reproduce` and the proofs. What is printed and what
is inferred stands in `eyelid.papers.davidjohn2022.protocols`.

**Re-identified, by the paper's protocol.** Its network learns from the released first three
quarters of every recording and is shown the raw last quarters; it is fed single windows, scores are
averaged over a recording, one decision each.

**Re-identified, leak-free.** Two documents are known as they were released, the third is shown raw;
every document in turn, one decision each. Four attackers, of whom the paper's network is one.

**Told, by the paper's protocol.** Its support-vector machine learns the document from all windows
of released first halves and is shown every raw window of the second ones. **Leak-free**: without
those within a window's length of the first half, so that no moment is in both.

**Limits.** One draw of noise or of groups serves everybody: a release can be good or bad for all of
its people at once, and people tell nothing of the next draw. So limits over people are widened by
what runs differ (variances add), and one run of a mechanism has none.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.anonymity import intersection
from eyelid.attacks.attackers import Attacker, find_attackers
from eyelid.attacks.groups import under_names
from eyelid.attacks.identification import decided, identify
from eyelid.attacks.protocols import Material, find_protocol
from eyelid.attacks.records import Records, records_of
from eyelid.attacks.scores import named
from eyelid.attacks.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.engine.engines import Shared
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism, feature_mechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.papers.davidjohn2022.halves import (
    by_person,
    first_halves,
    hits,
    second_halves,
    windows_of,
)
from eyelid.papers.davidjohn2022.ksame import BY_TASK, ONCE, KSamePaper
from eyelid.papers.reproduction import Value
from eyelid.privacy.noise import randomness

# The paper's text names k = 8 alone.
KS = (2, 4, 6, 8, 10)
# The paper names 100, 20 and 2; at ε = 2 stronger attackers than its network still re-identify: a
# smaller one is needed to compare mechanisms where nobody is.
EPSILONS = (100.0, 20.0, 2.0, 0.5)
FEW_KS, FEW_EPSILONS = (2, 8), (20.0, 2.0)
# Of the model of `seeded`, for those who are in it.
_EPSILON_OF_MODEL = 4.0
# Rows that `seeded` makes up of each task.
_SEEDED_ROWS = 200


@dataclass(frozen=True)
class Kind:
    """A mechanism on an axis.

    Attributes:
        name: of the mechanism in the catalogue; of a second reading of it another one.
        title: as the paper calls it, or in words.
        axis: what is printed below the figure: ``k`` or ``ε``.
        named: whether somebody's own record, or that of a known group, is released: then people
            can be re-identified.
    """

    name: str
    title: str
    axis: str
    named: bool = True


ANEW = "ksame-paper"
"""Groups drawn anew within utility classes, as the pseudocode and the poster have it."""
SAME_GROUPS = "ksame-paper-once"
"""One partition for all stimuli, as the text has it."""

PUBLISHED = (
    Kind(ANEW, "k-same-select sequence", "k"),
    Kind("marginals-paper", "Marginals", "k"),
    Kind("exponential-paper", "Exponential-DP", "ε"),
)
READINGS = {ANEW: (Kind(SAME_GROUPS, "k-same-select, one partition", "k"),)}
"""Other readings of a published mechanism, which stand beside it."""
# For each of them, what of ours stands beside it.
SOUND = {
    ANEW: (Kind("ksame", "ksame", "k"),),
    "marginals-paper": (Kind("seeded", "seeded, deterministic", "k", named=False),),
    "exponential-paper": (
        Kind("exponential", "exponential", "ε"),
        Kind("ksame-dp", "ksame-dp with ε of a person", "ε", named=False),
    ),
}


def all_kinds() -> list[Kind]:
    """The published mechanisms, their other readings, and ours."""
    return [
        kind for own in PUBLISHED for kind in (own, *READINGS.get(own.name, ()), *SOUND[own.name])
    ]


@dataclass(frozen=True)
class Setting:
    """A mechanism at one place of its axis.

    Attributes:
        mechanism: the name of its kind.
        value: k, or the ε that the paper prints: of one feature of one recording. Of `ksame-dp` it
            is a person's.
    """

    mechanism: str
    value: float

    def built(self, table: FeatureTable) -> FeatureMechanism:
        """The mechanism, made for a table."""
        name = KSamePaper.name if self.mechanism == SAME_GROUPS else self.mechanism
        return feature_mechanism(name, **self._parameters(table))

    def release(self, table: FeatureTable, seed: int) -> FeatureTable:
        """What anybody gets."""
        if self == RAW:
            return table
        return self.built(table).apply(table, randomness(seed))

    def under_names(self, table: FeatureTable, seed: int) -> FeatureTable:
        """What an attacker has who was told who is in which group: everybody's name on a record.

        The published mechanisms keep names; of `ksame` nobody gets this.
        """
        if self.mechanism != KSame.name:
            return self.release(table, seed)
        mechanism = self.built(table)
        assert isinstance(mechanism, KSame)
        member = mechanism.partition(table, randomness(seed))
        return under_names(table, mechanism.averaged(table, member), member)

    def _parameters(self, table: FeatureTable) -> dict[str, Any]:
        match self.mechanism:
            case "ksame-paper" | "ksame-paper-once":
                once = self.mechanism == SAME_GROUPS
                return {"k": int(self.value), "grouping": ONCE if once else BY_TASK}
            case "exponential-paper":
                # Printed is ε of one feature, ours is the sum.
                return {"epsilon": self.value * len(table.features)}
            case "exponential":
                # What the printed ε would be about: all of one feature of one recording.
                longest = table.recordings["rows"].to_numpy().max()
                return {"epsilon": self.value, "unit": f"chunk:{longest}"}
            case "ksame-dp":
                # Two groups: more would have more noise each.
                return {"epsilon": self.value, "k": table.recordings["person"].n_unique() // 2}
            case "seeded":
                return {
                    "k": int(self.value),
                    "epsilon": _EPSILON_OF_MODEL,
                    "test": "deterministic",
                    "rows": _SEEDED_ROWS,
                }
            case _:
                return {"k": int(self.value)}


RAW = Setting("raw", 0.0)


def place(axis: str, value: float) -> str:
    """A place on an axis, as tables have it.

    >>> place("k", 8), place("ε", 0.5)
    ('k = 8', 'ε = 0.5')
    """
    return f"{axis} = {value:g}"


NETWORK, MACHINE, SAMPLED_MACHINE = "rbf-network-single", "svm", "svm-sampled"
ATTACKERS = (NETWORK, "rbf-network", "lda", "whitened")
FOREST = "oblique-forest"
_EVERY = 5
_UNNAMED = {kind.name for kinds in (PUBLISHED, *SOUND.values()) for kind in kinds if not kind.named}
# Below this ε the paper prints no number, and noise is all there is to learn: the exact solver
# takes ten minutes to be at chance.
_EXACT_EPSILON = 20.0
_KNOWN = 0.75

Shares = NDArray[np.float64]

_row = pl.int_range(pl.len()).over("person", "recording")
_rows = pl.len().over("person", "recording")


@dataclass(frozen=True, eq=False)
class Tables:
    """A study, parted as the protocols need it.

    Attributes:
        whole: everything.
        early: the first three quarters of every recording.
        late: the last quarters.
        first: first halves; None where no document can be told.
        shown: all windows of second halves; None where no document can be told.
        apart: which of them come a window's length after the first half.
        why_not: why no document can be told; empty if it can.
        fast: whether the SVM is the approximate one alone, and the paper's network is tried by the
            paper's protocol alone.
        full: whether the exact SVM learns from the paper's noise however strong it is.
    """

    whole: FeatureTable
    early: FeatureTable
    late: FeatureTable
    first: FeatureTable | None = None
    shown: Records | None = None
    apart: NDArray[np.bool_] | None = None
    why_not: str = ""
    fast: bool = False
    full: bool = False

    @classmethod
    def of(cls, table: FeatureTable, fast: bool = False, full: bool = False) -> Tables:
        """Part a table of window features."""
        if table.recordings["person"].n_unique() < 2:
            raise InputError("there is one person only: nobody is to be told from anybody")
        known = _row < _KNOWN * _rows
        parts = cls(
            table,
            replace(table, data=table.data.filter(known)),
            replace(table, data=table.data.filter(~known)),
            fast=fast,
            full=full,
        )
        tasks = table.recordings["task"].n_unique() if "task" in table.recordings.columns else 1
        if tasks < 2:
            return replace(parts, why_not="there is one document only: none is to be told")
        gap = window_rows(table)
        try:
            second = second_halves(table)
            # Whoever has no window that far away is left out of nothing: it is refused.
            second_halves(table, gap)
            apart = second.data.select((_row >= gap).alias("apart"))["apart"].to_numpy()
            return replace(parts, first=first_halves(table), shown=windows_of(second), apart=apart)
        except InputError as error:
            return replace(parts, why_not=str(error))

    @property
    def attackers(self) -> tuple[str, ...]:
        """Who re-identifies people leak-free."""
        return ATTACKERS[1:] if self.fast else ATTACKERS

    def models(self, setting: Setting) -> tuple[str, ...]:
        """Who tells documents of a release."""
        noise = setting.mechanism == "exponential" or (
            setting.mechanism == "exponential-paper"
            and setting.value < _EXACT_EPSILON
            and not self.full
        )
        if self.fast or noise:
            return SAMPLED_MACHINE, FOREST
        return MACHINE, SAMPLED_MACHINE, FOREST


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one release; everything by person.

    Attributes:
        named_by_protocol: chance of being re-identified by the paper's protocol; None where nobody
            has a record.
        named: the same leak-free, by attacker.
        told_by_protocol: windows whose document is told by the paper's protocol, by model; empty
            where there is nothing to tell.
        told: the same leak-free, by model.
        seconds: that it took to make, for the whole study.
    """

    named_by_protocol: Shares | None
    named: dict[str, Shares]
    told_by_protocol: dict[str, Shares]
    told: dict[str, Shares]
    seconds: float


def tried(tables: Shared[Tables], job: tuple[Setting, int]) -> Outcome | str:
    """Release and attack; or why this mechanism cannot be run on these people."""
    setting, seed = job
    parts = tables.get()
    try:
        began = time.perf_counter()
        released = setting.under_names(parts.whole, seed)
        seconds = time.perf_counter() - began
        return Outcome(
            *_named(parts, released, setting, seed), *_documents_told(parts, setting, seed), seconds
        )
    except InputError as error:
        return str(error)


def released_digest(table: FeatureTable, job: tuple[Setting, int]) -> str:
    """What tells whether two settings release the same, whatever is measured of it."""
    setting, seed = job
    try:
        released = setting.under_names(table, seed).data
    except InputError as error:
        return f"{setting}: {error}"
    values = released.select(table.names).to_numpy()
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def _named(
    parts: Tables, released: FeatureTable, setting: Setting, seed: int
) -> tuple[Shares | None, dict[str, Shares]]:
    if setting.mechanism in _UNNAMED:
        return None, {}
    (network,) = find_attackers([NETWORK])
    printed = within_recordings(setting.under_names(parts.early, seed), parts.late, network, seed)
    return printed, across_documents(parts.whole, released, find_attackers(parts.attackers), seed)


def _documents_told(
    parts: Tables, setting: Setting, seed: int
) -> tuple[dict[str, Shares], dict[str, Shares]]:
    if parts.first is None or parts.shown is None or parts.apart is None:
        return {}, {}
    right = hits(setting.release(parts.first, seed), parts.shown, parts.models(setting), seed)
    person, apart = parts.shown.person, parts.apart
    far = np.bincount(person[apart])
    return (
        {model: by_person(parts.shown, found) for model, found in right.items()},
        {
            model: np.asarray(np.bincount(person[apart], found[apart]) / far)
            for model, found in right.items()
        },
    )


def within_recordings(
    released: FeatureTable, shown: FeatureTable, attacker: Attacker, seed: int
) -> Shares:
    """For each person the share of recordings by which they are re-identified.

    Args:
        released: the first three quarters of every recording, as released.
        shown: the raw last quarters.
        attacker: who learns; the paper's network by its protocol.
        seed: of the attacker.
    """
    people = shown.data["person"].unique(maintain_order=True).to_list()
    (scores,) = decided(attacker, records_of(released, people), [records_of(shown, people)], seed)
    right = np.bincount(scores.owner, named(scores.averaged, scores.owner), len(people))
    return np.asarray(right / np.maximum(np.bincount(scores.owner, minlength=len(people)), 1))


def across_documents(
    table: FeatureTable, released: FeatureTable, attackers: Sequence[Attacker], seed: int
) -> dict[str, Shares]:
    """By attacker: of each person, the share of raw documents by which they are re-identified.

    Learned from the release of the other documents.
    """
    material = Material(table, released)
    found = identify(material, attackers, [find_protocol("release→raw")], seed)
    return {finding.attacker: finding.shares for finding in found}


def found_by_nearest(table: FeatureTable, setting: Setting, seeds: Sequence[int]) -> list[Shares]:
    """The intersection attack by whoever has people's raw recordings, one run a partition.

    Every run says the same of everybody: what share is found.
    """
    few, people = thinned(table), table.recordings["person"].n_unique()
    return [
        np.full(people, intersection(few, setting.under_names(few, seed)).rate) for seed in seeds
    ]


def thinned(table: FeatureTable, every: int = _EVERY) -> FeatureTable:
    """One row in so many of every recording.

    Means over people are taken row by row, so that thinning before and after them is the same; of
    noise that is drawn for each row it leaves less to average, and so protects.
    """
    return replace(table, data=table.data.filter(_row % every == 0))


def gathered(runs: Iterable[dict[str, Shares]]) -> dict[str, list[Shares]]:
    """Shares by name, one a run.

    >>> gathered([{"a": np.ones(2)}, {"a": np.zeros(2)}])["a"][1].tolist()
    [0.0, 0.0]
    """
    found: dict[str, list[Shares]] = {}
    for run in runs:
        for name, shares in run.items():
            found.setdefault(name, []).append(shares)
    return found


def of_decisions(runs: Sequence[Shares], drawn: bool = True) -> Value:
    """People re-identified: the mean over runs, limits by Clopper and Pearson, widened for runs.

    Args:
        runs: by person.
        drawn: whether something was drawn for everybody; False for what is raw.
    """
    return _value(runs, rate_of_decisions(_mean(runs), 0.0), drawn)


def of_windows(runs: Sequence[Shares], drawn: bool = True) -> Value:
    """Windows told: the mean over runs, its limits by drawing people anew, widened for runs.

    Args:
        runs: by person.
        drawn: whether something was drawn for everybody; False for what is raw.
    """
    return _value(runs, rate_of_shares(_mean(runs), 0.0), drawn)


def off_by_runs(runs: Sequence[Shares]) -> float:
    """How far the mean may be off since so few runs were drawn: half of Student's 95% limits.

    Infinite for one run. For two it is Student's with one degree of freedom:

    >>> round(off_by_runs([np.array([0.4]), np.array([0.6])]), 2)
    1.27
    """
    from scipy.special import stdtrit

    if len(runs) < 2:
        return math.inf
    spread = stdev(float(np.nanmean(shares)) for shares in runs)
    return float(stdtrit(len(runs) - 1, 0.975)) * spread / math.sqrt(len(runs))


def _mean(runs: Sequence[Shares]) -> Shares:
    mean = np.mean(runs, axis=0)
    # Whoever is shown nothing decides nothing.
    return np.asarray(mean[~np.isnan(mean)])


def _value(runs: Sequence[Shares], over_people: Rate, drawn: bool) -> Value:
    spread = Value.of_runs([float(np.nanmean(shares)) for shares in runs]).spread
    rate, off = over_people.rate, off_by_runs(runs) if drawn else 0.0
    if math.isinf(off):
        return Value(rate, spread, runs=len(runs))
    low, high = (math.hypot(limit - rate, off) for limit in (over_people.low, over_people.high))
    drawn_runs = len(runs) if drawn else None
    return Value(rate, spread, max(0.0, rate - low), min(1.0, rate + high), drawn_runs)
