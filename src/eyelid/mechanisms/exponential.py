"""Exponential-DP, made to hold: Laplace noise with the scale that its paper meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from eyelid.mechanisms.laplace import Laplace
from eyelid.mechanisms.mechanism import Shape, register
from eyelid.mechanisms.proof_note import ProofNote


@register
@dataclass(frozen=True)
class Exponential(Laplace):
    """Discrete Laplace noise of scale 2·K·d/ε on every value, d a feature's public span."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "Discrete Laplace noise of scale 2·K·d/ε on every value, d a feature's public span."
        ),
        takes="""what `laplace` takes. K is the number of values of the unit: t_max, the public
        length of recordings, for one feature of one recording.""",
        protects="""a chunk (values of one feature of one recording; ``chunk:t_max`` is a whole
        signal), a recording or a person, replace-one, with pure ε-DP; totals follow the number of
        values.""",
        why="""as for `laplace`, with twice its scale: ε is claimed, and ε/2 is what is lost. The
        factor two is the paper's, from the exponential mechanism's general bound, and nothing needs
        it here.""",
        paper="""Exponential-DP of David-John, Butler & Jain 2022 (their noise, as printed, is
        `exponential-paper`); this is the distribution that its utility function and scale
        describe.""",
    )
    name: ClassVar[str] = "exponential"
    aliases: ClassVar[tuple[str, ...]] = ()
    units: ClassVar[tuple[str, ...]] = ("person", "recording", "chunk")
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 2.0},)
    game_units: ClassVar[tuple[str, ...]] = ("person", "recording", "chunk:1")
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets (Exponential-DP)"
    )
    times: ClassVar[int] = 2

    def game_shapes(self) -> Iterator[Shape]:
        """Enough recordings that a recording's ε, sold as a person's, is found out all the same."""
        for shape in super().game_shapes():
            yield replace(shape, recordings=3)
