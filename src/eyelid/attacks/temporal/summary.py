"""Correlation of an original and leakage of a release, as a report shows them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from eyelid.attacks.temporal.belief import (
    GaussianBelief,
    Steps,
    gaussian_belief,
    independent_steps,
)
from eyelid.attacks.temporal.correlation import temporal_correlations
from eyelid.attacks.temporal.leakage import (
    Transitions,
    autoregressive_transitions,
    leakage,
    leakage_supremum,
)
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism, windows_of
from eyelid.mechanisms.mechanism import PublicFacts

# The longest chunk of the paper.
LONGEST_DELTA_T = 128
# Correlation of neighbouring rows: where nothing public says how much, and for comparison.
_GUESS, _OTHERS = 0.9, (0.3, 0.6, 0.9)

NEVER_LOWERS = (
    "These figures depend on what an attacker is assumed to know. They lower no noise, and a "
    "guarantee for a person holds or fails without them."
)
OF_THE_DATA = (
    "Correlations are computed from the original and carry no guarantee: publish them only if you "
    "mean to."
)
NO_MATRIX_FROM_DATA = (
    "Transition matrices here are public: chosen without looking at the data. One estimated from "
    "private recordings is itself a statistic of them, which no certificate covers."
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
        step: what a step is, in words.
        others: the same under other public chains: ``correlation``, ``worst`` and ``supremum``;
            None without a release.
        belief: what linear measurements with Gaussian noise tell; None for other releases.
    """

    correlations: pl.DataFrame
    tasks: pl.DataFrame
    transitions: Transitions | None = None
    leakage: pl.DataFrame | None = None
    supremum: float | None = None
    step: str = "step"
    others: pl.DataFrame | None = None
    belief: GaussianBelief | None = None

    @property
    def worst(self) -> float | None:
        """The largest total leakage of any step."""
        if self.leakage is None:
            return None
        return float(self.leakage["total"].to_numpy().max())

    @property
    def notes(self) -> list[str]:
        """What must stand beside the figures."""
        notes = [NEVER_LOWERS, OF_THE_DATA]
        if self.transitions is not None:
            notes.append(NO_MATRIX_FROM_DATA if self.transitions.public else NOT_PUBLIC)
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As a JSON file has it: two digits of means over features, no coefficients, no steps."""
        coarse = self.tasks.with_columns(pl.col(pl.Float64).round_sig_figs(2))
        found: dict[str, Any] = {"correlation": coarse.to_dicts(), "leakage": None}
        if self.transitions is not None and self.leakage is not None:
            found["leakage"] = {
                "source": self.transitions.source,
                "public": self.transitions.public,
                "step": self.step,
                "steps": len(self.leakage),
                "epsilon": float(self.leakage["epsilon"].to_numpy().max()),
                "worst": self.worst,
                "sum_of_epsilons": float(self.leakage["epsilon"].to_numpy().sum()),
                "supremum": self.supremum,
                "others": [] if self.others is None else self.others.to_dicts(),
            }
        found["gaussian_prior"] = None
        if self.belief is not None:
            epsilons = {
                "epsilon_alone": self.belief.epsilon_alone,
                "epsilon_dependent": self.belief.epsilon_dependent,
            }
            found["gaussian_prior"] = asdict(self.belief) | epsilons
        return found | {"notes": self.notes}


def temporal_summary(
    source: Study | FeatureTable,
    epsilons: ArrayLike | None = None,
    transitions: Transitions | None = None,
    *,
    steps: int | None = None,
    longest_delta_t: int | None = LONGEST_DELTA_T,
) -> TemporalSummary:
    """Correlation of the original's features, and leakage of a release of them.

    Args:
        source: the original, recordings or features of them.
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
    table = windows_of(source)
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


def release_summary(
    source: Study | FeatureTable, mechanism: FeatureMechanism, facts: PublicFacts
) -> TemporalSummary:
    """Correlation of the original's features, and what a mechanism's release lets out over time.

    The chain is what overlapping windows imply, or a guess where they do not overlap; others stand
    beside it. Where the mechanism adds no independent noise to rows or chunks there is no leakage
    to state, see `independent_steps`.

    Args:
        source: the original, recordings or features of them.
        mechanism: that made the release.
        facts: its public facts.
    """
    table = windows_of(source)
    share = _overlap(table)
    belief = gaussian_belief(mechanism, facts, _GUESS if share is None else share)
    steps = independent_steps(mechanism, facts)
    if steps is None:
        return replace(temporal_summary(table), belief=belief)
    chain = autoregressive_transitions(_GUESS) if share is None else overlap_transitions(table)
    found = temporal_summary(table, steps.epsilon, chain, steps=steps.count)
    others = pl.DataFrame([_under(correlation, steps) for correlation in _OTHERS])
    return replace(found, step=steps.what, others=others, belief=belief)


def _under(correlation: float, steps: Steps) -> dict[str, float | None]:
    """Leakage if rows were an AR(1) process with this correlation."""
    matrix = autoregressive_transitions(correlation).matrix
    total = leakage(matrix, steps.epsilon, steps=steps.count)["total"].to_numpy()
    limit = leakage_supremum(matrix, steps.epsilon)
    return {"correlation": correlation, "worst": float(total.max()), "supremum": limit}


def overlap_transitions(source: Study | FeatureTable) -> Transitions:
    """The public chain of windows that overlap: neighbours share 1 − step/window of what they see.

    That share is the correlation of neighbouring means of independent moments, and follows from
    the definition of the windows alone.
    """
    table = windows_of(source)
    share = _overlap(table)
    if share is None:
        raise InputError(
            "these rows are no overlapping windows: give the transitions, such as "
            "autoregressive_transitions(0.9)"
        )
    chain = autoregressive_transitions(share)
    window, step = (table.window_ms or 0.0) / 1000, (table.step_ms or 0.0) / 1000
    whence = f"windows of {window:g} s every {step:g} s: {chain.source}"
    return Transitions(chain.matrix, whence, public=True)


def _overlap(table: FeatureTable) -> float | None:
    """What neighbouring windows share; None where they share nothing."""
    step, window = table.step_ms, table.window_ms
    return 1 - step / window if step and window and 0 < step < window else None


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
