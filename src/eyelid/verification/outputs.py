"""Is what leaves a mechanism made of its private table alone?

Games and residuals look at the measurement. What people get is the output of ``apply``, or of
``apply_to_some`` where people are taken part by part. Both are
compared with what ``present`` makes of the private table, drawn with the same repeatable
randomness: equal to the last bit, and not what it would be without noise. The table is one that
the mechanism really takes: a small simulated study, summarised as it asks.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.override import override
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import windows_of
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.noise import randomness
from eyelid.verification.mutant import NO_NOISE

_PEOPLE, _MINUTES, _SEED = 3, 0.8, 0
_KEPT_MS = 36_000.0
# As shares of the range: far below the noise of the games, far above the rounding of any grid.
_NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True)
class OutputResult:
    """What was shown, beside what should have been.

    Attributes:
        mechanism: its name.
        unit: that it was set for.
        values: how many were shown.
        same: whether the output is what is presented of the private table.
        inside: values that would lie inside their bounds without noise.
        bare: how many of these were shown as they are without noise.
    """

    mechanism: str
    unit: str
    values: int
    same: bool
    inside: int
    bare: int

    @property
    def refuted(self) -> bool:
        """Whether the output is something else, or without noise, or there was nothing to see."""
        return not self.same or self.bare > 0 or self.inside == 0


def compare(mechanism: RecordMechanism, declared: RecordMechanism | None = None) -> OutputResult:
    """Look at everything that leaves a mechanism, in each setting in which it takes something else.

    Args:
        mechanism: to look at.
        declared: how private tables should be presented; the mechanism itself by default.
    """
    settings = mechanism.set_for_outputs(), (declared or mechanism).set_for_outputs()
    tried = [
        _compare(own, override(should, NO_NOISE)) for own, should in zip(*settings, strict=True)
    ]
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=sum(each.values for each in tried),
        same=all(each.same for each in tried),
        inside=min(each.inside for each in tried),
        bare=sum(each.bare for each in tried),
    )


def _compare(mechanism: RecordMechanism, quiet: RecordMechanism) -> OutputResult:
    """In one setting, ``quiet`` being what is declared, without noise."""
    table = _taken_by(mechanism)
    tables = [mechanism.apply(table, randomness(_SEED))]
    if mechanism.execution is Execution.PER_PERSON:
        # What a release of many people is made of.
        facts = mechanism.facts(table)
        tables.append(mechanism.apply_to_some(table, facts, randomness(_SEED)))
    wanted = quiet.present(mechanism.perturbed(table, randomness(_SEED)))
    bare = _values(quiet.present(quiet.perturbed(table, randomness(_SEED))))
    inside = (bare > _NEXT_TO_NOTHING) & (bare < 1 - _NEXT_TO_NOTHING)
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=sum(_values(shown).size for shown in tables),
        same=all(
            shown.features == wanted.features
            and shown.data.equals(wanted.data)
            and shown.people.equals(wanted.people)
            for shown in tables
        ),
        inside=int(inside.sum()),
        bare=sum(_shown_bare(_values(shown), bare, inside) for shown in tables),
    )


def _shown_bare(
    values: NDArray[np.float64], bare: NDArray[np.float64], inside: NDArray[np.bool_]
) -> int:
    """How many values are shown as they are without noise."""
    if values.shape != bare.shape:
        return 0
    return int((inside & (np.abs(values - bare) <= _NEXT_TO_NOTHING)).sum())


def _taken_by(mechanism: RecordMechanism) -> FeatureTable:
    """What the mechanism takes of the study."""
    return mechanism.summarise(_study() if mechanism.core.measures_bins else _windows())


@functools.cache
def _study() -> Study:
    """A few people; one of them lacks a recording.

    All are of one length, so that data which were never cut have the same shape.
    """
    study = simulate(people=_PEOPLE, minutes=_MINUTES, seed=_SEED)
    last = study.data.select(RECORDING_KEY).tail(1)
    kept = study.data.join(last, on=RECORDING_KEY, how="anti", maintain_order="left")
    return replace(study, data=kept.filter(pl.col("time_ms") < _KEPT_MS))


@functools.cache
def _windows() -> FeatureTable:
    """Its features, made once."""
    return windows_of(_study())


def _values(table: FeatureTable) -> NDArray[np.float64]:
    """As shares of the range above the lower bounds: rows × features."""
    lowers = np.array([feature.lower for feature in table.features])
    spans = np.array([feature.span for feature in table.features])
    found: NDArray[np.float64] = (table.data.select(table.names).to_numpy() - lowers) / spans
    return found
