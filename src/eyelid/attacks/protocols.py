"""Protocols: what the attacker learned from, and what they are shown.

The leak-free ones never train and test on two parts of one release: noise that runs through a whole
recording is a watermark, and would be recognised instead of the person. The papers' own protocols
do, and are kept for comparison; no bound speaks of them and they refute nothing.

What the attacker knows of a person, and what they are shown: never parts of one moment.
Split by task where there are several, else by recording, else in halves with the length of a window
between them. Never by random windows: neighbours overlap, and would be known already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from eyelid.attacks.records import Records, joined, records_of
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable

Source = Literal["raw", "release", "other release", "own releases"]

# How often an attacker who knows the mechanism passes what they know through it.
_COPIES = 3
_FEWEST_TO_HALVE = 2


# More parts than this cost time and tell little.
MOST_PARTS = 5
# Without a task all did the same.
_task_of = pl.col("task").fill_null("")
# A split is of use when it can be made of so many people.
ENOUGH = 0.5


@dataclass(frozen=True)
class Protocol:
    """One way to attack.

    Attributes:
        name: as reports and the command line have it.
        known: what the attacker learned from.
        shown: what they must recognise.
        says: in words.
        bound: which of a guarantee's bounds on re-identifying people speaks of it.
        honest: whether it is leak-free: nothing is learned from the very release that is shown.
    """

    name: str
    known: Source
    shown: Source
    says: str
    bound: Literal["raw_to_release", "release_to_raw"] | None = None
    honest: bool = True


POSITIVE = Protocol("raw→raw", "raw", "raw", "knows raw recordings, is shown other raw recordings")
PROTOCOLS = (
    Protocol(
        "raw→release",
        "raw",
        "release",
        "knows raw recordings, is shown one released recording of something else",
        "raw_to_release",
    ),
    Protocol(
        "release→raw",
        "release",
        "raw",
        "has the whole release, is shown a raw recording of something else",
        "release_to_raw",
    ),
    Protocol(
        "release→release",
        "other release",
        "release",
        "has another release of the same people, is shown one released recording of this one",
        "raw_to_release",
    ),
    Protocol(
        "white-box",
        "own releases",
        "release",
        "knows raw recordings and the mechanism, and learns from what it makes of them",
        "raw_to_release",
    ),
    Protocol(
        "paper-halves",
        "release",
        "release",
        "within-release split (Bozkir et al. 2021): learns from first halves of the release, is "
        "shown its second halves",
        honest=False,
    ),
)


# What only the likelihood-ratio attacker can do.
SAME_RECORDINGS = Protocol(
    "white-box, same recordings",
    "raw",
    "release",
    "has the very recordings that were released, and the distribution of the noise",
    "raw_to_release",
)


def find_protocol(name: str) -> Protocol:
    """The protocol of that name; ``->`` will do for the arrow."""
    wanted = name.replace("->", "→")
    for protocol in PROTOCOLS:
        if protocol.name == wanted:
            return protocol
    raise unknown("protocol", name, [p.name for p in PROTOCOLS])


@dataclass(frozen=True, eq=False)
class Material:
    """What there is to attack.

    Attributes:
        original: the raw features.
        released: what was made of them; None when nothing was released.
        again: the same mechanism once more, with fresh noise; None when it is not known.
    """

    original: FeatureTable
    released: FeatureTable | None = None
    again: Callable[[FeatureTable], FeatureTable] | None = None
    _made: dict[str, list[FeatureTable]] = field(default_factory=dict, repr=False)

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who could be meant, in the order of the study."""
        table = self.original if self.released is None else self.released
        return tuple(table.data["person"].unique(maintain_order=True))

    def tables(self, source: Source) -> list[FeatureTable] | None:
        """What an attacker has from a source; None where there is no such thing."""
        if source == "raw":
            return [self.original]
        if source == "release":
            return None if self.released is None else [self.released]
        if self.released is None or self.again is None:
            return None
        if source not in self._made:
            copies = 1 if source == "other release" else _COPIES
            self._made[source] = [self.again(self.original) for _ in range(copies)]
        return self._made[source]

    def possible(self, protocol: Protocol) -> bool:
        """Whether there is everything that the protocol needs."""
        if not protocol.honest and (self.released or self.original).shortest < _FEWEST_TO_HALVE:
            return False
        return all(self.tables(source) is not None for source in (protocol.known, protocol.shown))

    def shows(self, protocol: Protocol, split: Split) -> bool:
        """Whether a split leaves something to know and something to show."""
        return all(
            any(not table.data.filter(rows).is_empty() for table in self.tables(source) or ())
            for source, rows in ((protocol.known, split.known), (protocol.shown, split.shown))
        )

    @cached_property
    def honest_splits(self) -> list[Split]:
        """How the study is parted so that nothing shown is known."""
        # A release may be cut: halves are counted in rows of the shorter.
        cut = self.released is not None and self.released.shortest < self.original.shortest
        return splits_of(self.released if cut and self.released is not None else self.original)

    @cached_property
    def paper_splits(self) -> list[Split]:
        """First and second halves, without a gap, as in the paper."""
        return [halves(self.original if self.released is None else self.released, gap=0)]

    def splits(self, protocol: Protocol) -> list[Split]:
        """How the study is parted for a protocol."""
        return self.honest_splits if protocol.honest else self.paper_splits

    def known(self, source: Source, split: Split) -> Records:
        """What the attacker learned from."""
        return self._records(source, split.known)

    def shown(self, source: Source, split: Split) -> Records:
        """What the attacker is to recognise."""
        return self._records(source, split.shown)

    def _records(self, source: Source, where: pl.Expr) -> Records:
        tables = self.tables(source)
        assert tables is not None, f"there is no {source}"
        return joined([records_of(table, self.people, where) for table in tables])


def everybody_alike(material: Material, seed: int = 0) -> Material:
    """The null control: people who differ by nothing but noise.

    With a mechanism, all get the same signals and its own fresh noise; without one, all values are
    drawn anew from one distribution. An attacker who re-identifies people here has recognised
    noise, names or order.
    """
    table = material.original
    rng = np.random.default_rng([seed, *b"people all alike"])
    values = []
    for feature in table.features:
        middle = np.full(len(table.data), (feature.lower + feature.upper) / 2)
        if material.again is None:
            middle += feature.span * rng.normal(0.0, 0.1, len(middle))
        values.append(pl.Series(feature.name, middle))
    same = replace(table, data=table.data.with_columns(values))
    if material.again is None:
        return Material(same)
    return Material(same, material.again(same), material.again)


@dataclass(frozen=True, eq=False)
class Split:
    """One way to part a study.

    Attributes:
        name: what is shown, in words.
        known: rows that the attacker knows.
        shown: rows that the attacker is to recognise.
        across: what lies between the two: ``tasks``, ``recordings`` or ``halves``.
    """

    name: str
    known: pl.Expr
    shown: pl.Expr
    across: str


def splits_of(table: FeatureTable) -> list[Split]:
    """Every task, or else every part of the recordings, shown in turn; or else second halves."""
    tasks = _tasks(table)
    task = _task_of if "task" in table.recordings.columns else pl.lit("")
    each = table.recordings.group_by("person").agg(pl.len(), task.n_unique().alias("tasks"))
    # A person with one task or one recording only cannot be recognised in another.
    if len(tasks) > 1 and (each["tasks"].to_numpy() > 1).mean() >= ENOUGH:
        return [
            Split(f"task {task}", _task_of != task, _task_of == task, "tasks") for task in tasks
        ]
    of_person = each["len"].to_numpy()
    if (of_person > 1).mean() >= ENOUGH:
        parts = min(int(of_person.max()), MOST_PARTS)
        # Of people with more recordings than parts, a part has several.
        part = (pl.col("recording").rank("dense").over("person") - 1) % parts + 1
        return [
            Split(f"recordings, part {n} of {parts}", part != n, part == n, "recordings")
            for n in range(1, parts + 1)
        ]
    return [halves(table)]


def _tasks(table: FeatureTable) -> list[str]:
    """The tasks to split by; none where a recording has several, whose windows overlap."""
    if "task" not in table.data.columns:
        return []
    tasks = table.data.select("person", "recording", "task").unique()
    if len(tasks) > len(table.recordings):
        return []
    return sorted(tasks["task"].fill_null("").unique())


def halves(table: FeatureTable, gap: int | None = None) -> Split:
    """First halves known, second halves shown, as long as those of the shortest recording.

    They are counted in rows from the start, the same for everybody: a release that cuts or pads
    recordings then shows no moment that its original has made known.

    Args:
        table: for its window, its step and its shortest recording.
        gap: rows left out between the halves; by default as many as one window is long.
    """
    gap = _window_rows(table) if gap is None else gap
    shortest = table.shortest
    half = shortest // 2
    if half + gap >= shortest or half < 1:
        raise InputError(
            f"recordings of {shortest} rows are too short to know one half and show the other "
            f"with {gap} rows between: give people several recordings, or longer ones"
        )
    row = pl.int_range(pl.len()).over("person", "recording")
    return Split("second halves", row < half, row >= half + gap, "halves")


def _window_rows(table: FeatureTable) -> int:
    """How many rows one window is long."""
    if not table.window_ms:
        return 0
    steps_ms = pl.col("time_ms").diff().over("person", "recording")
    step_ms = table.step_ms or table.data.select(steps_ms.min()).item()
    return math.ceil(table.window_ms / step_ms) if step_ms else 0
