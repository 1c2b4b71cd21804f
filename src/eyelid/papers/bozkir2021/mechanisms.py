"""LPA, FPA, CFPA and DCFPA as printed in Bozkir et al. 2021."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.fourier import l1_of_first
from eyelid.papers.bozkir2021.fourier_noise import (
    Pieces,
    TaskNoise,
    Treatment,
    candidates,
    least_nmse,
)
from eyelid.papers.floating_noise import laplaces
from eyelid.papers.paper_mechanism import PaperMechanism
from eyelid.papers.signals import TaskSignals, sensitivities
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit

_DATA_SCALE = (
    "the noise is scaled by the largest distance between two people of this very dataset: the "
    "person farthest from the others sets everybody's noise, and one who is like all others makes "
    "it vanish; the true loss is infinite"
)


@dataclass(frozen=True)
class BozkirMechanism(PaperMechanism):
    """LPA and the FPA family: one share of ε a feature, people compared within a task."""

    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations"
    )

    @abstractmethod
    def noisy(self, signals: TaskSignals, runs: int, noise: Randomness) -> Values:
        """Noisy signals of one task, (runs, recordings, features, rows)."""

    def randomised(
        self, tasks: Sequence[TaskSignals], runs: int, noise: Randomness
    ) -> Iterator[tuple[TaskSignals, Values]]:
        """One task after the other; recordings keep their lengths."""
        for signals in track(tasks, "adding noise"):
            yield signals, self.noisy(signals, runs, noise)

    def blocks(self, facts: PublicFacts) -> int:
        """Pieces of a signal that each lose a feature's share."""
        return 1

    def with_public_scale(self, facts: PublicFacts, unit: Unit) -> tuple[float, str]:
        """ε adds up over recordings, and over chunks, whatever they have in common."""
        chunks, recordings = self.blocks(facts), facts.recordings if unit == PERSON else 1
        how = f"{self.epsilon:g} × {recordings} recordings"
        return (
            self.epsilon * recordings * chunks,
            f"{how} × {chunks} chunks" if chunks > 1 else how,
        )

    def why_not(self, facts: PublicFacts) -> Iterator[str]:
        """What all of them have in common."""
        yield _DATA_SCALE
        yield (
            "a feature that is the same for everybody in a task, or in a chunk of it, has "
            "sensitivity 0 and is released as it is"
        )
        if facts.recordings > 1:
            yield (
                f"the printed ε = {self.epsilon:g} counts one of {facts.recordings} recordings; "
                "those of one person add up"
            )
        chunks = self.blocks(facts)
        if chunks > 1:
            yield (
                f"chunks of one signal belong to one person, so that the loss of {chunks} chunks "
                f"adds up (to ε = {rounded_up(self.epsilon * chunks)} for a recording, had the "
                "scale been public); parallel composition needs different people"
            )


@register
@dataclass(frozen=True)
class LPAPaper(BozkirMechanism):
    """Laplace noise on every value, scaled by the data: LPA as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Laplace noise on every value, scaled by the data: LPA as printed.",
        takes="""a FeatureTable, unclipped; missing values repeat the last known one. Recordings
        keep their lengths. Each task is treated by itself and needs two recordings.""",
        protects="""nothing; it is here to be compared with `laplace`. The printed ε is the sum over
        the features of one recording, ε/F each.""",
        why="""the scale is Δ₁/(ε/F), Δ₁ the largest L1 distance between two people's signals of a
        feature in a task (equation 7, shorter signals going on as zero). It is read off the data,
        so replacing a person changes everybody's noise: two people who are alike get none, and the
        loss is infinite. With a public Δ₁ a recording would lose ε and a person ε × recordings.""",
        paper="Bozkir et al. 2021, LPA. Floating-point noise, as theirs.",
    )
    name: ClassVar[str] = "lpa-paper"

    def noisy(self, signals: TaskSignals, runs: int, noise: Randomness) -> Values:
        """Noise of one scale a feature."""
        values = signals.values
        delta = sensitivities(values, values.shape[2], power=1)
        scale = delta / self.epsilon_per_feature(values.shape[1])
        noisy: Values = values + scale * laplaces((runs, *values.shape), noise)
        return noisy

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        share = self.epsilon_per_feature(facts.features)
        return (
            f"Laplace in floating point, scale Δ₁/{share:.4g} on every value, Δ₁ the largest L1 "
            "distance of two people in the data"
        )

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """At most: for people who are a span apart all the time."""
        return math.sqrt(2) * facts.length / self.epsilon_per_feature(facts.features)

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """Noise is independent from row to row."""
        return self.expected_rmse_of_span(facts) / math.sqrt(facts.length)


_WORDS = ("best", "every")


@dataclass(frozen=True)
class FourierPaperMechanism(BozkirMechanism):
    """Laplace noise on the first k Fourier coefficients of pieces, scaled by the data."""

    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 1.0, "k": 1},)
    differenced: ClassVar[bool] = False

    k: int | str = parameter(
        "coefficients that get noise: a number, or best (least |NMSE| of powers of two) or every "
        "(of all numbers) for each chunk, feature and task",
        default="best",
    )
    runs: int = parameter("noisy runs by which the best k is chosen", default=100)
    mean: str = parameter(
        "the mean's coefficient: noisy, as printed, or kept without noise, as the published "
        "figures must have it",
        default="noisy",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.k, int):
            if self.k < 1:
                raise InputError(f"k must be at least 1, got {self.k}")
        elif self.k not in _WORDS:
            raise InputError(f"k must be a number, {' or '.join(_WORDS)}, got '{self.k}'")
        if self.runs < 1:
            raise InputError(f"runs must be at least 1, got {self.runs}")
        if self.mean not in ("noisy", "kept"):
            raise InputError(f"mean must be noisy or kept, got '{self.mean}'")

    def piece(self, length: int) -> int:
        """Rows of a piece, when the longest recording has so many."""
        return length

    @property
    def treatment(self) -> Treatment:
        """What is transformed, and what of it gets noise."""
        return Treatment(self.differenced, self.mean == "noisy")

    def candidates(self, length: int) -> tuple[int, ...]:
        """Each k that is looked at for pieces of so many rows."""
        if isinstance(self.k, int):
            if self.k > length:
                raise InputError(f"k = {self.k} is more than the {length} values of a piece")
            return (self.k,)
        if self.k == "every":
            return tuple(range(1, max(self.treatment.most(length), 1) + 1))
        return candidates(length, self.treatment)

    def facts(self, table: FeatureTable) -> PublicFacts:
        """The facts, if pieces can be cut."""
        facts = super().facts(table)
        self.candidates(self.piece(facts.length))
        return facts

    def blocks(self, facts: PublicFacts) -> int:
        """Chunks of the longest recording."""
        return math.ceil(facts.length / self.piece(facts.length))

    def noisy(self, signals: TaskSignals, runs: int, noise: Randomness) -> Values:
        """Choose each k on noisy runs of their own, then add noise."""
        _, features, rows = signals.values.shape
        length, share = self.piece(rows), self.epsilon_per_feature(features)
        task = TaskNoise.of(signals, length, self.treatment, self.candidates(length))
        chosen = least_nmse(task, share, self.runs, noise)
        return task.randomised(chosen, share, runs, noise)

    def why_not(self, facts: PublicFacts) -> Iterator[str]:
        """Besides, how k is chosen and what the scale leaves out."""
        yield from super().why_not(facts)
        length = self.piece(facts.length)
        if self.blocks(facts) == 1:
            yield (
                "n in the scale is the length of the longest recording of this very dataset: "
                "the person recorded longest sets everybody's noise"
            )
        if not isinstance(self.k, int):
            yield (
                f"each k is the one with the least error over {self.runs} noisy runs on the data: "
                "the number of coefficients tells what the signals are like"
            )
        elif self.k > length // 2 + 1:
            yield (
                f"k = {self.k} is beyond the middle of {length} coefficients, where mirror images "
                "count twice and the printed scale √(nk)·Δ₂ is too small"
            )
        if self.mean == "kept":
            yield "the mean of what is transformed is released without noise, from every piece"

    def with_public_scale(self, facts: PublicFacts, unit: Unit) -> tuple[float, str]:
        """As for all of them, if k were public as well, and nothing were kept without noise."""
        loss, how = super().with_public_scale(facts, unit)
        length = self.piece(facts.length)
        if self.mean == "kept":
            return math.inf, "means are released without noise"
        if not isinstance(self.k, int):
            return loss, f"{how}, had each k been public too"
        mirrored = l1_of_first(self.k, length) / math.sqrt(length * self.k)
        if mirrored > 1:
            how += f" × {mirrored:.4g} for mirror images"
        return loss * mirrored, how

    def unprotected(self, table: FeatureTable) -> list[str]:
        """Besides, means that get no noise."""
        shown = super().unprotected(table)
        if self.mean == "kept":
            shown.append("the mean of what is transformed of every signal or chunk, as it is")
        return shown

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        share = self.epsilon_per_feature(facts.features)
        which = f"first {self.k}" if isinstance(self.k, int) else f"first k ({self.k})"
        if self.mean == "kept":
            which += " (but for the mean)"
        return (
            f"Laplace in floating point, scale √(n·k)·Δ₂/{share:.4g} on real and imaginary parts "
            f"of the {which} Fourier coefficients of {self.piece(facts.length)} values at most, n "
            "that of the longest in the data and Δ₂ the largest L2 distance of two people in it"
        )

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """At most, of the longest recording: for the largest k, and people a span apart always."""
        return self._expected(facts)[0]

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """The error of a recording's mean: chunks have noise of their own."""
        return self._expected(facts)[1]

    def _expected(self, facts: PublicFacts) -> tuple[float, float]:
        """Noise alone, by the response of a piece to draws of variance 2."""
        length = self.piece(facts.length)
        reach = math.sqrt(1 + 4 * (length - 1)) if self.differenced else math.sqrt(length)
        return _noise_errors(
            self.treatment,
            length,
            self.candidates(length)[-1],
            reach / self.epsilon_per_feature(facts.features),
            self.blocks(facts),
        )


@functools.lru_cache(maxsize=64)
def _noise_errors(
    treatment: Treatment, length: int, k: int, reach: float, chunks: int
) -> tuple[float, float]:
    """Standard deviations of a value and of a signal's mean."""
    nothing = np.zeros((1, 1, length))
    pieces = Pieces.of(nothing, treatment, (k,), np.array([reach]))
    # One unit on each coordinate in turn: squares add up over independent draws.
    response = pieces.respond(np.eye(length)[:, None, None, :])
    squares, sums = pieces.outcome(response, 1.0)
    value = math.sqrt(2 * float(squares.sum()) / length)
    mean = math.sqrt(2 * float((sums**2).sum())) / length
    return value, mean / math.sqrt(chunks)


@register
@dataclass(frozen=True)
class FPAPaper(FourierPaperMechanism):
    """Laplace noise on the first k Fourier coefficients of whole signals, as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Laplace noise on the first k Fourier coefficients of whole signals, as printed.",
        takes="""a FeatureTable, unclipped; missing values repeat the last known one. Recordings
        keep their lengths; each has its own transform. Each task is treated by itself and needs two
        recordings.""",
        protects="""nothing; it is here to be compared with `fpa`. The printed ε is the sum over the
        features of one recording, ε/F each.""",
        why="""the scale is √n·√k·Δ₂/(ε/F), one for everybody: n the length of the longest signal
        ("the maximum length of the observation vectors"), Δ₂ the largest L2 distance between two
        people's signals of a feature in a task (equation 7, shorter signals going on as zero). All
        of it is read off the data, and so is k: the loss is infinite. The formula itself is right
        for a public Δ₂, a public k ≤ n/2 + 1 and independent noise on real and imaginary parts,
        which is what is drawn here. The paper adds one Laplace variable to each complex coefficient
        without saying to which part; on real parts alone it would release the imaginary ones.""",
        paper="""Bozkir et al. 2021, FPA. Padding with zeros and `irfft` instead of the inverse of a
        spectrum without its mirror image, which would halve every wave. That each recording is
        transformed over its own length, and n is the longest of its task, is our reading. k = 1, 2,
        4, … and n/2 + 1 are tried ("a large set of possible k values"); ``k=every`` tries all.
        Published figures fall as 1/ε², which noise on the first coefficient, the mean, rules out:
        ``mean=kept`` is that reading.""",
    )
    name: ClassVar[str] = "fpa-paper"


@dataclass(frozen=True)
class ChunkedPaperMechanism(FourierPaperMechanism):
    """The paper's Fourier mechanism, in chunks."""

    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 1.0, "k": 1, "chunk": 4},)

    chunk: int = parameter("rows of a chunk; a recording's last one is what is left", default=32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chunk < 1:
            raise InputError(f"chunk must be at least 1, got {self.chunk}")

    def piece(self, length: int) -> int:
        """One chunk."""
        if length < self.chunk:
            raise InputError(
                f"the longest recording has {length} rows, fewer than a chunk of {self.chunk}: "
                f"set chunk to {length} or less"
            )
        return self.chunk


@register
@dataclass(frozen=True)
class CFPAPaper(ChunkedPaperMechanism):
    """Laplace noise on the first k Fourier coefficients of chunks, as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Laplace noise on the first k Fourier coefficients of chunks, as printed.",
        takes="""what `fpa-paper` takes, cut into chunks of 32, 64, 128 or any number of rows; what
        is left over at the end of a recording is a shorter chunk, under the noise of the longest at
        that place.""",
        protects="""nothing; it is here to be compared with `cfpa`. The printed ε is the sum over
        the features of one recording, ε/F for every single chunk.""",
        why="""as for `fpa-paper`, each chunk with its own Δ₂ and k from the data: the loss is
        infinite. With a public Δ₂ one chunk would lose ε/F and a recording ε × chunks: the paper
        takes the largest instead of the sum, by parallel composition, which is about different
        people.""",
        paper="Bozkir et al. 2021, CFPA; see `fpa-paper` for what is read how.",
    )
    name: ClassVar[str] = "cfpa-paper"


@register
@dataclass(frozen=True)
class DCFPAPaper(ChunkedPaperMechanism):
    """Laplace noise on the first k Fourier coefficients of differences in chunks, as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Laplace noise on the first k Fourier coefficients of differences in chunks, as
        printed.""",
        takes="""what `cfpa-paper` takes. A chunk becomes its first value and the differences from
        row to row; after the noise, a cumulative sum leads back.""",
        protects="""nothing; it is here to be compared with `dcfpa`. The printed ε is the sum over
        the features of one recording, ε/F for every single chunk.""",
        why="""as for `cfpa-paper`, Δ₂ being that of first values and differences in the data. Real
        differences are small, and nothing but the data says so: that is where its small noise comes
        from. The first values are as far apart as the signals are.""",
        paper="""Bozkir et al. 2021, DCFPA (algorithm 1); see `fpa-paper` for what is read how. The
        kept first element is transformed together with the differences, as equation 16 has it.""",
    )
    name: ClassVar[str] = "dcfpa-paper"
    differenced: ClassVar[bool] = True
