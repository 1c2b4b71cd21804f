"""The five mechanisms of Liu et al. 2019, exactly as printed: to compare with, not to rely on."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism, cleaned, with_others
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.papers.floating_noise import NUMERICS, gaussians, laplaces
from eyelid.privacy.gaussian import check_delta, gaussian_delta
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import uniforms
from eyelid.privacy.unit import PERSON, Neighbours, Unit

_PAPER = (
    "Liu, Xia, Duchowski, Bailey, Holmqvist & Jain (2019), Differential privacy for eye-tracking "
    "data"
)


@dataclass(frozen=True)
class PaperMap(MapMechanism):
    """G = (1/N)·ΣGᵢ, capped at m in each pixel, in floating point."""

    kind: ClassVar[Kind] = Kind.NONE
    claims_to_hold: ClassVar[bool] = False
    paper: ClassVar[str] = _PAPER

    cap: int | str = parameter(
        "m, the most of a person in one cell: a number, none, or paper (Algorithm 1)", default=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.cap, str):
            if self.cap not in ("none", "paper"):
                raise InputError(f"cap must be a number, none or paper, got '{self.cap}'")
        elif self.cap < 1:
            raise InputError(f"cap must be at least 1, got {self.cap}")

    @abstractmethod
    def why_not(self, facts: MapFacts) -> Iterator[str]:
        """Why no guarantee holds, in words."""

    @abstractmethod
    def claimed(self, facts: MapFacts) -> tuple[float, float]:
        """The ε and δ that are printed, or that nothing smaller can hold."""

    @abstractmethod
    def randomised(
        self, everybody: PersonCounts, facts: MapFacts, runs: int, noise: Randomness
    ) -> Values:
        """Capped counts as noisy means over people (runs, all cells)."""

    @property
    def most(self) -> float:
        """The cap m; 1 before Algorithm 1 has chosen one."""
        return math.inf if self.cap == "none" else 1.0 if self.cap == "paper" else float(self.cap)

    def noise_per_cap(self, facts: MapFacts) -> float:
        """σ* of Algorithm 1: the standard deviation of the noise for m = 1."""
        return 0.0

    def settled(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Self:
        """With the cap of the least expected squared error, by reading the data."""
        if self.cap != "paper":
            return self
        from eyelid.papers.liu2019.caps import best_cap

        return replace(self, cap=best_cap(counts, self.noise_per_cap(facts)))

    def may_become(self, chosen: MapMechanism) -> bool:
        """With any cap, where Algorithm 1 chooses it."""
        if self.cap != "paper":
            return chosen == self
        cap = chosen.parameters()["cap"]
        return isinstance(cap, int) and chosen == replace(self, cap=cap)

    def in_spans(
        self, counts: PersonCounts, facts: MapFacts, cells: Values
    ) -> tuple[Values, Values]:
        """Counts over the cap; without a cap a span is one look."""
        most = self.most if math.isfinite(self.most) else 1.0
        return self.capped(counts).count / most, np.ravel(cells) * (counts.people / most)

    def capped(self, counts: PersonCounts) -> PersonCounts:
        """Everybody's counts, cut at m."""
        return replace(counts, count=np.minimum(cleaned(counts.count), self.most))

    def measure(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Values:
        """The noisy mean over people."""
        mechanism = self.settled(counts, facts, noise)
        noisy: Values = mechanism.randomised(mechanism.capped(counts), facts, 1, noise)[0]
        return noisy.reshape(facts.size)

    def without_noise(self, counts: PersonCounts, facts: MapFacts) -> Values:
        """The mean of capped counts."""
        return _mean(self.capped(counts)).reshape(facts.size)

    def cells_of_about(self, people: int, layers: int) -> float:
        """Pixels."""
        return math.inf

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """No guarantee; the numbers are what is printed."""
        assert isinstance(facts, MapFacts)
        epsilon, delta = self.claimed(facts)
        reasons = [*self.why_not(facts)]
        if self.cap == "paper":
            reasons.append("the cap was chosen by looking at the data (Algorithm 1)")
        return Guarantee(
            kind=self.kind,
            unit=PERSON,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=epsilon,
            delta=delta,
        ).broken(*reasons)

    def person_total(self, facts: PublicFacts) -> str:
        """That there is none."""
        return "no bound: the mechanism does not hold"

    @property
    def numerics(self) -> str:
        """Floating point."""
        return NUMERICS

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Means over somebody with these counts and others who stay the same."""
        assert isinstance(facts, MapFacts)
        mechanism = self if self.cap != "paper" else replace(self, cap=1)
        return mechanism.randomised(
            mechanism.capped(with_others(cleaned(values))), facts, runs, noise
        )

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """How much nearer an output is to the exact mean of the other dataset."""
        sides = [_mean(self.capped(with_others(cleaned(side)))) for side in (pair.one, pair.other)]
        one, other = (np.abs(outputs - side).sum(axis=1) for side in sides)
        nearer: Values = one - other
        return nearer


def _mean(counts: PersonCounts) -> Values:
    """The mean over people, of all cells."""
    summed = np.bincount(counts.cell, weights=counts.count, minlength=counts.cells)
    return np.asarray(summed / counts.people)


@dataclass(frozen=True)
class WithoutNoise(PaperMap):
    """What adds nothing, and so needs no ε."""

    epsilon: float = parameter("not used: nothing is added", default=1.0)
    cap: int | str = parameter(
        "m, the most of a person in one cell: a number, or none", default="none"
    )

    def cell_sd(self, facts: MapFacts) -> float:
        """There is no noise."""
        return 0.0

    def sampler(self, facts: PublicFacts) -> str:
        """That there is none."""
        return "none: no noise is added"


@register
@dataclass(frozen=True)
class MapNoiseFree(WithoutNoise):
    """The plain aggregated gaze map, as it is usually published."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The plain aggregated gaze map, as it is usually published.",
        takes="everybody's counts in pixels or cells, cut at m.",
        protects="""nobody. An attacker who knows the maps of all others subtracts them and has the
        last one exactly.""",
        why="""N·G − Σ_{j≠i} Gⱼ = Gᵢ. One output has probability 1 with one person's data and 0 with
        any other's: δ cannot be below 1.""",
        paper="Liu et al. 2019, section 3.3, who say so themselves.",
    )
    name: ClassVar[str] = "map-noisefree"

    def claimed(self, facts: MapFacts) -> tuple[float, float]:
        """No ε, and δ = 1."""
        return math.inf, 1.0

    def why_not(self, facts: MapFacts) -> Iterator[str]:
        """Subtraction."""
        yield "no noise is added: subtracting everybody else's map gives a person's own (δ = 1)"

    def randomised(
        self, everybody: PersonCounts, facts: MapFacts, runs: int, noise: Randomness
    ) -> Values:
        """The mean, the same in every run."""
        return np.broadcast_to(_mean(everybody), (runs, everybody.cells))


@dataclass(frozen=True)
class RandomSelection(WithoutNoise):
    """The map of some people drawn at random."""

    draws_people: ClassVar[bool] = True

    share: float = parameter("c, the share of people drawn", default=0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise InputError(f"share must be above 0 and at most 1, got {self.share:g}")

    def drawn(self, people: int) -> int:
        """How many people are drawn."""
        return max(1, round(self.share * people))

    @abstractmethod
    def draw(self, people: int, runs: int, noise: Randomness) -> Values:
        """How often each person is drawn: runs × people."""

    @abstractmethod
    def delta_at_least(self, people: int) -> float:
        """What δ cannot be below."""

    def claimed(self, facts: MapFacts) -> tuple[float, float]:
        """No ε, and the δ that the drawing leaves."""
        return math.inf, self.delta_at_least(facts.people)

    def why_not(self, facts: MapFacts) -> Iterator[str]:
        """Whoever is drawn is seen."""
        # A bound from below: not rounded up.
        delta = f"{math.floor(1e4 * self.delta_at_least(facts.people)) / 1e4:g}"
        yield (
            f"those who are drawn are in the map without noise: no ε holds with a δ below {delta}, "
            f"and from 1/N = {1 / facts.people:.3g} on that is poor"
        )

    def sampler(self, facts: PublicFacts) -> str:
        """Whom it draws."""
        return f"{self.drawn(facts.people)} of {facts.people} people drawn at random, no noise"

    def randomised(
        self, everybody: PersonCounts, facts: MapFacts, runs: int, noise: Randomness
    ) -> Values:
        """Means over those drawn."""
        outputs = np.empty((runs, everybody.cells))
        often = self.draw(everybody.people, runs, noise)
        for run, weights in enumerate(often):
            counts = everybody.count * weights[everybody.person]
            outputs[run] = np.bincount(everybody.cell, weights=counts, minlength=everybody.cells)
        return outputs / self.drawn(everybody.people)


@register
@dataclass(frozen=True)
class MapRandomSelection1(RandomSelection):
    """The map of cN people drawn without replacement."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The map of cN people drawn without replacement.",
        takes="everybody's counts in pixels or cells, cut at m.",
        protects="nobody who is drawn, which happens with probability c.",
        why="""if nobody else looked at a pixel, it is not empty with probability c when this person
        did, and never when not: no ε holds with δ < c.""",
        paper="Liu et al. 2019, Theorem 3.2, who say so themselves.",
    )
    name: ClassVar[str] = "map-rs1"

    def delta_at_least(self, people: int) -> float:
        """Everybody's chance of being drawn."""
        return self.drawn(people) / people

    def draw(self, people: int, runs: int, noise: Randomness) -> Values:
        """The first cN of everybody in random order."""
        order = np.argsort(noise.words(runs * people).reshape(runs, people), axis=1)
        often = np.zeros((runs, people))
        np.put_along_axis(often, order[:, : self.drawn(people)], 1.0, axis=1)
        return often


@register
@dataclass(frozen=True)
class MapRandomSelection2(RandomSelection):
    """The map of cN people drawn with replacement."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The map of cN people drawn with replacement.",
        takes="everybody's counts in pixels or cells, cut at m.",
        protects="""nobody who is drawn at least once, which happens with probability
        1 − (1 − 1/N)^cN.""",
        why="as for `map-rs1`; for many people 1 − e^−c.",
        paper="Liu et al. 2019, Theorem 3.3, who say so themselves.",
    )
    name: ClassVar[str] = "map-rs2"

    def delta_at_least(self, people: int) -> float:
        """Everybody's chance of being drawn at least once."""
        return -math.expm1(self.drawn(people) * math.log1p(-1 / people))

    def draw(self, people: int, runs: int, noise: Randomness) -> Values:
        """CN draws out of everybody."""
        drawn = self.drawn(people)
        who = (uniforms(noise, runs * drawn) * people).astype(np.int64).reshape(runs, drawn)
        place = who + np.arange(runs)[:, None] * people
        often = np.bincount(place.ravel(), minlength=runs * people).astype(np.float64)
        return often.reshape(runs, people)


@dataclass(frozen=True)
class PaperNoise(PaperMap):
    """Noise in floating point, calibrated to m in every pixel."""

    @abstractmethod
    def draws(self, shape: tuple[int, ...], noise: Randomness) -> Values:
        """Noise of standard deviation 1."""

    def cell_sd(self, facts: MapFacts) -> float:
        """σ of the paper, m times that for m = 1."""
        return self.most * self.noise_per_cap(facts)

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        assert isinstance(facts, MapFacts)
        return f"floating-point noise of standard deviation {self.cell_sd(facts):.4g} in each cell"

    def randomised(
        self, everybody: PersonCounts, facts: MapFacts, runs: int, noise: Randomness
    ) -> Values:
        """The mean with noise on it."""
        draws = self.draws((runs, everybody.cells), noise)
        draws *= self.cell_sd(facts)
        draws += _mean(everybody)
        return draws


@register
@dataclass(frozen=True)
class MapGaussianPaper(PaperNoise):
    """Gaussian noise on the aggregated gaze map, as Theorem 3.4 of Liu et al. prints it."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "Gaussian noise on the aggregated gaze map, as Theorem 3.4 of Liu et al. prints it."
        ),
        takes="everybody's counts in pixels or cells, cut at m.",
        protects="""less than it says where the cells r are few for ε and δ.
        σ = (m/(Nε))·√(r·(ε/2 + ln(r/δ))).""",
        why="""the proof fails in three places: a sum over pixels of tail probabilities bounds the
        largest deviation and not the norm, ε/4 stands where ε/2 is needed, and the exponent lacks a
        factor 2. With Δ₂ = m√r/N the true δ is that of μ = Δ₂/σ by Balle & Wang. At δ = 1e-6 it is
        above what is printed up to about 35 cells at ε = 1, 460 at ε = 3 and 35 000 at ε = 10; with
        a large δ it may be below for a single cell.""",
        paper="""Liu et al. 2019, Theorem 3.4. `map-gaussian` and `map-grid` do what it wants to do,
        with a fraction of the noise.""",
    )
    name: ClassVar[str] = "map-gaussian-paper"
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 1.0, "delta": 1e-3},)

    delta: float | None = parameter("δ; the paper's N^−1.5 is one choice", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap == "none":
            raise InputError("map-gaussian-paper needs a cap: a number, or paper")
        if self.delta is not None and check_delta(self.delta) == 0:
            raise InputError("delta must be above 0 for Gaussian noise")

    def noise_per_cap(self, facts: MapFacts) -> float:
        """σ of Theorem 3.4 for m = 1."""
        cells = facts.recordings * facts.length
        inside = self.epsilon / 2 + math.log(cells / self.delta_for(facts.people))
        return math.sqrt(cells * inside) / (facts.people * self.epsilon)

    def true_delta(self, facts: MapFacts) -> float:
        """The δ that this noise gives at ε, were it drawn exactly."""
        reach = math.sqrt(facts.recordings * facts.length) / facts.people
        return gaussian_delta(self.epsilon, reach / self.noise_per_cap(facts))

    def claimed(self, facts: MapFacts) -> tuple[float, float]:
        """As printed."""
        return self.epsilon, self.delta_for(facts.people)

    def why_not(self, facts: MapFacts) -> Iterator[str]:
        """The proof, its consequence for so many cells, and floating point."""
        true, said = self.true_delta(facts), self.delta_for(facts.people)
        so = (
            f"is {rounded_up(true)}, more than the {said:.3g} that is printed"
            if true > said
            else f"would be {rounded_up(true)} for exact noise and a public cap"
        )
        cells = facts.recordings * facts.length
        yield f"the proof of Theorem 3.4 fails; with {cells} cells the true δ {so}"
        yield f"noise in {NUMERICS}"

    def draws(self, shape: tuple[int, ...], noise: Randomness) -> Values:
        """Gaussian."""
        return gaussians(shape, noise)


@register
@dataclass(frozen=True)
class MapLaplacePaper(PaperNoise):
    """Laplace noise on the aggregated gaze map, as Theorem 3.5 of Liu et al. prints it."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Laplace noise on the aggregated gaze map, as Theorem 3.5 of Liu et al. prints it.",
        takes="everybody's counts in pixels or cells, cut at m.",
        protects="""a person, were the noise exact and the cap public: σ = √2·m·r/(εN) is the
        standard deviation of Laplace noise of scale Δ₁/ε with Δ₁ = m·r/N.""",
        why="""the theorem is right. The noise is drawn in floating point, whose low-order digits
        betray values, and is so large that nothing is left.""",
        paper="""Liu et al. 2019, Theorem 3.5. `map-laplace` does the same with exact noise, and far
        less of it.""",
    )
    name: ClassVar[str] = "map-laplace-paper"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap == "none":
            raise InputError("map-laplace-paper needs a cap: a number, or paper")

    def noise_per_cap(self, facts: MapFacts) -> float:
        """σ of Theorem 3.5 for m = 1."""
        return math.sqrt(2) * facts.recordings * facts.length / (self.epsilon * facts.people)

    def claimed(self, facts: MapFacts) -> tuple[float, float]:
        """As printed."""
        return self.epsilon, 0.0

    def why_not(self, facts: MapFacts) -> Iterator[str]:
        """Floating point."""
        yield f"noise in {NUMERICS}"

    def draws(self, shape: tuple[int, ...], noise: Randomness) -> Values:
        """Laplace of scale 1/√2."""
        return laplaces(shape, noise) / math.sqrt(2)
