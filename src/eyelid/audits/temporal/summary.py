"""Correlation of an original and leakage of a release, as a report shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from eyelid.audits.temporal.correlation import temporal_correlations
from eyelid.audits.temporal.leakage import leakage, leakage_supremum
from eyelid.audits.temporal.transitions import Transitions, autoregressive_transitions
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable

# The longest chunk of the paper.
LONGEST_DELTA_T = 128

NEVER_LOWERS = (
    "These figures depend on what an attacker is assumed to know. They lower no noise, and a "
    "guarantee for a person holds or fails without them."
)
OF_THE_DATA = (
    "Correlations are computed from the original and carry no guarantee: keep them with it."
)
NOT_PUBLIC = (
    "The transition matrix comes from the private data. It is not public: this leakage is itself a "
    "statistic of them without any guarantee. Neither publish it nor choose noise by it."
)


@dataclass(frozen=True, eq=False)
class TemporalSummary:
    """What a report says about steps that depend on each other.

    Attributes:
        correlations: as `temporal_correlations` gives them.
        tasks: one row a task: ``task``, the mean sizes of the coefficients of all features over
            all Δt, ``raw`` and ``difference``, and ``by_chance``, what independent values of as
            many people would give.
        transitions: what the attacker is assumed to know; None without a release.
        leakage: of every step of the release, as `leakage` gives it; None without a release.
        supremum: what total leakage never exceeds however long a release with the largest ε goes
            on; None without a limit or without a release.
    """

    correlations: pl.DataFrame
    tasks: pl.DataFrame
    transitions: Transitions | None = None
    leakage: pl.DataFrame | None = None
    supremum: float | None = None

    @property
    def worst(self) -> float | None:
        """The largest total leakage of any step."""
        if self.leakage is None:
            return None
        return float(self.leakage["total"].to_numpy().max())

    @property
    def notes(self) -> list[str]:
        """What must stand beside the figures."""
        private = self.transitions is not None and not self.transitions.public
        return [NEVER_LOWERS, OF_THE_DATA, *([NOT_PUBLIC] if private else [])]

    def to_dict(self) -> dict[str, Any]:
        """As a JSON file would have it; single coefficients and steps are left out."""
        found: dict[str, Any] = {"correlation": self.tasks.to_dicts(), "leakage": None}
        if self.transitions is not None and self.leakage is not None:
            found["leakage"] = {
                "source": self.transitions.source,
                "public": self.transitions.public,
                "steps": len(self.leakage),
                "epsilon": float(self.leakage["epsilon"].to_numpy().max()),
                "worst": self.worst,
                "sum_of_epsilons": float(self.leakage["epsilon"].to_numpy().sum()),
                "supremum": self.supremum,
            }
        return found | {"notes": self.notes}


def temporal_summary(
    table: FeatureTable,
    epsilons: ArrayLike | None = None,
    transitions: Transitions | None = None,
    *,
    steps: int | None = None,
    longest_delta_t: int | None = LONGEST_DELTA_T,
) -> TemporalSummary:
    """Correlation of the original's features, and leakage of a release of them.

    Args:
        table: the original.
        epsilons: pure ε of every step of the release, row by row or chunk by chunk; or one number,
            with ``steps``. None where there is no release with such an ε.
        transitions: how a row depends on the row before; what windows that overlap imply by
            default, see `overlap_transitions`. For chunks it is from row to row as well.
        steps: how many steps, for one ε.
        longest_delta_t: how many rows ahead correlations go.

    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> values = np.random.default_rng(1).normal(size=(9, 1, 20, 1))
    >>> table = table_from_arrays(values, [Feature("rate", "1/s", "", -5.0, 5.0)])
    >>> known = autoregressive_transitions(0.6)
    >>> round(temporal_summary(table, 0.1, known, steps=100).worst, 4)
    0.7246
    """
    correlations = temporal_correlations(table, longest_delta_t=longest_delta_t)
    tasks = _tasks(correlations)
    if epsilons is None:
        return TemporalSummary(correlations, tasks)
    if transitions is None:
        transitions = overlap_transitions(table)
    leaked = leakage(transitions.matrix, epsilons, steps=steps)
    largest = float(leaked["epsilon"].to_numpy().max())
    supremum = leakage_supremum(transitions.matrix, largest)
    return TemporalSummary(correlations, tasks, transitions, leaked, supremum)


def overlap_transitions(table: FeatureTable, states: int = 8) -> Transitions:
    """The public chain of windows that overlap: neighbours share 1 − step/window of what they see.

    That share is the correlation of neighbouring means of independent moments, and follows from
    the definition of the windows alone.
    """
    step, window = table.step_ms, table.window_ms
    if step is None or window is None or not 0 < step < window:
        raise InputError(
            "these rows are no overlapping windows: give the transitions, such as "
            "autoregressive_transitions(0.9)"
        )
    share = 1 - step / window
    chain = autoregressive_transitions(share, states)
    source = f"windows of {window / 1000:g} s every {step / 1000:g} s: {chain.source}"
    return Transitions(chain.matrix, source, public=True)


def _tasks(correlations: pl.DataFrame) -> pl.DataFrame:
    both = correlations.drop_nulls(["raw", "difference"])
    by_chance = _size_by_chance(both["recordings"].to_numpy())
    return (
        both.with_columns(pl.Series("by_chance", by_chance))
        .group_by("task", maintain_order=True)
        .agg(pl.col("raw", "difference").abs().mean(), pl.col("by_chance").mean())
    )


def _size_by_chance(points: np.ndarray) -> np.ndarray:
    """E|r| of so many pairs of independent normal values: Γ((n − 1)/2)/(√π·Γ(n/2))."""
    from scipy.special import gammaln

    half = points / 2
    found: np.ndarray = np.exp(gammaln(half - 0.5) - gammaln(half)) / np.sqrt(np.pi)
    return found
