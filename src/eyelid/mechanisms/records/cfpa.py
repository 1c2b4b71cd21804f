"""CFPA, made to hold: Fourier perturbation of chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.fpa import FPA
from eyelid.mechanisms.records.record_mechanism import RecordMechanism, beyond_rows
from eyelid.privacy.unit import Unit

_DEFAULT_CHUNK = 32


@register
@dataclass(frozen=True)
class CFPA(FPA):
    """Discrete Laplace noise on the first k Fourier coefficients of every chunk of every signal."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Discrete Laplace noise on the first k Fourier coefficients of every chunk of
        every signal.""",
        takes="""a FeatureTable; missing values become the public midpoint, every value is clipped
        to its public bounds, every recording has one public length n and is cut into Q = ⌈n/c⌉
        chunks of c rows, the last filled up with the midpoint.""",
        protects="""a chunk (rows j·c to (j+1)·c − 1 of one feature of one recording, as they are
        cut; c values in a row elsewhere lie in two), a recording or a person, replace-one, with
        pure ε-DP. What holds for a chunk costs a person Q·F·R times as much: the certificate states
        that total. Windows overlap, so that a moment of gaze is in more than one chunk of every
        feature; this is listed as unprotected.""",
        why="""as for `fpa`, with chunks of c values instead of whole signals: one chunk moves at
        most Δ₂ = √c spans, its coefficients √(ck)·Δ₂ in L1. A private k is chosen for each
        chunk.""",
        paper="""CFPA of Bozkir et al. 2021, with public bounds instead of each chunk's own
        extremes, and the person's total beside the chunk's.""",
    )
    name: ClassVar[str] = "cfpa"
    units: ClassVar[tuple[str, ...]] = ("person", "recording", "chunk")
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 1.0, "chunk": 1},
        {"epsilon": 1.0, "chunk": 4},
    )
    private_game: ClassVar[dict[str, Any]] = FPA.private_game | {"chunk": 2}

    chunk: int = parameter("values of a chunk", default=_DEFAULT_CHUNK)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chunk < 1:
            raise InputError(f"chunk must be at least 1, got {self.chunk}")
        if self.unit.name == "chunk" and self.unit.length != self.chunk:
            raise InputError(
                f"unit '{self.unit}' and chunk = {self.chunk} differ: "
                f"set chunk={self.unit.length} as well"
            )

    @classmethod
    def unit_named(cls, name: str, parameters: dict[str, Any]) -> Unit:
        """A chunk has the length that was set for chunks."""
        if name == "chunk":
            return Unit("chunk", parameters.get("chunk", _DEFAULT_CHUNK))
        return Unit.parse(name)

    @property
    def fewest_rows(self) -> int:
        """A recording has at least one chunk."""
        return self.chunk

    @property
    def independent_rows(self) -> int:
        """Rows of a chunk, which has noise of its own."""
        return self.chunk

    def piece(self, facts: PublicFacts) -> int:
        """One chunk."""
        if facts.length < self.chunk:
            raise InputError(
                f"recordings of {facts.length} rows are shorter than a chunk of {self.chunk}: "
                f"set chunk to {facts.length} or less"
            )
        return self.chunk

    def errors_of_noise(self, facts: PublicFacts) -> tuple[float, float]:
        """By how far each coordinate spreads: the last chunk may be cut short."""
        value = RecordMechanism.expected_rmse_of_span(self, facts)
        return value, RecordMechanism.expected_mean_rmse_of_span(self, facts)

    def unprotected(self, table: FeatureTable) -> list[str]:
        """Besides what every release shows, that a moment is in more than one chunk."""
        shown = super().unprotected(table)
        if self.unit.name == "chunk":
            shown.append(
                f"{self.chunk} values in a row that lie in two chunks: together they may cost "
                "twice the ε of one"
            )
            shown += beyond_rows(self, table, self.chunk)
        return shown

    def game_facts(self) -> Iterator[PublicFacts]:
        """One chunk, two chunks, and a second one that is not full."""
        yield PublicFacts(1, 2, self.chunk, 1)
        yield PublicFacts(1, 1, 2 * self.chunk, 1)
        yield PublicFacts(1, 1, max(1, 2 * self.chunk - 1), 2)

    def reach(self, facts: PublicFacts) -> float:
        """√c: every value may move by one span."""
        return math.sqrt(self.chunk)
