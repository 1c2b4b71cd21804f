"""FPA, made to hold: noise on the first Fourier coefficients of signals.

A piece is a whole signal (one feature of one recording), in `cfpa` and `dcfpa` a chunk of it; it is
the block whose loss is one share of the budget.

How many coefficients are kept, k, is public, or chosen privately for each piece (EFPA). The choice
is the exponential mechanism's, with a public share of ε, among 1, 2, 4, 8, … and all different
ones; the cost of a candidate is what it cuts off, ‖piece − its first k coefficients‖₂, and the
noise that it takes, √E‖noise‖², both in spans of the released signal. What is cut off is counted in
whole steps from 0 to M (M stands for √n/2, the most that a piece can lose) and never more for a
larger k. Then P(k) ∝ exp(−cost/t) loses at most M/t for one piece: let its m, from 0 to M, become
m'. The chance of k grows by exp((m_k − m'_k)/t), and by at most exp((m'_j − m_j)/t) for some j as
the others shrink; if j > k, m'_j ≤ m'_k and m_j ≥ 0 leave m_k ≤ M; if j < k, m'_j ≤ M and m_j ≥ m_k
leave M − m'_k ≤ M. All this is in integers, whatever the floating point before it did; noise for
the chosen k is then paid for with the rest of ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.differential import LAPLACE, Distribution, exact, noise_of
from eyelid.mechanisms.exponential_mechanism import Integers, choose, log_chances
from eyelid.mechanisms.mechanism import (
    Mechanism,
    NeighbourPair,
    PublicFacts,
    Values,
    parameter,
    register,
)
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.fourier import (
    coordinates_of_first,
    distinct,
    first_coefficients,
    frequencies_of_first,
    from_first_coefficients,
    l1_of_first,
)
from eyelid.mechanisms.records.record_mechanism import RecordMechanism, check_coefficients, cut_off
from eyelid.privacy.noise import DiscreteLaplace, Randomness
from eyelid.privacy.unit import Unit

_SCALE_BITS = 36
# Coordinates of more steps than this would feel the rounding of floating point.
_MOST_BITS = 44
# Two neighbours' coordinates are each off by half a step from rounding, and by less from floats.
_ROUNDING_STEPS = 2
_LARGEST_SHARE = 0.99
# A candidate so many times the scale dearer than the best is as good as never chosen.
_NEVER = 256


@register
@dataclass(frozen=True)
class FPA(RecordMechanism):
    """Discrete Laplace noise on the first k Fourier coefficients of every whole signal."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Discrete Laplace noise on the first k Fourier coefficients of every whole signal.",
        takes="""a FeatureTable; missing values become the public midpoint, every value is clipped
        to its public bounds, every recording has one public length n. A signal is one feature of
        one recording; of its coefficients the first k are kept, the others are released as zero. k
        is public (⌈n/60⌉ + 1 for windows of 60 rows, or a number), or chosen privately for each
        signal.""",
        protects="""a recording or a person, replace-one, with pure ε-DP over all its features. A
        person's total is ε × recordings when ε is a recording's.""",
        why="""in units of the range a signal moves at most Δ₂ = √n. The rows of the real Fourier
        transform are orthogonal, so real and imaginary parts of the first k ≤ n/2 + 1 coefficients
        move at most √(nk)·Δ₂ in L1 (Cauchy–Schwarz); coefficients beyond the middle are mirror
        images, measured once. A unit of S signals moves its integers at most
        S·√(nk)·Δ₂/g + 2·coordinates, the latter for rounding; the step g is chosen so that this is
        at most ε·t for discrete Laplace noise of scale t. Both real and imaginary parts carry
        noise, and `irfft` rebuilds the signal from them. A private k is chosen with a share of ε by
        the exponential mechanism, and what it loses is at most that share
        (`eyelid.mechanisms.records.fpa` proves it); the noise has the rest of ε.""",
        paper="""FPA of Rastogi & Nath 2010 as used by Bozkir et al. 2021, with public bounds and
        length instead of the data's, the L1 norm of what is really released, and exact integer
        noise. The private k is EFPA's (Ács, Castelluccia & Chen 2012); tails are nested and lie in
        [0, √n/2], so that a quarter of EFPA's ε buys the same choice.""",
    )
    name: ClassVar[str] = "fpa"
    units: ClassVar[tuple[str, ...]] = ("person", "recording")
    family: ClassVar[str] = "fourier"
    distribution: ClassVar[Distribution] = LAPLACE
    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations; Rastogi & Nath (2010), Differentially private aggregation of "
        "distributed time-series; for a private k: Ács, Castelluccia & Chen (2012), Differentially "
        "private histogram publishing through lossy compression"
    )
    private_game: ClassVar[dict[str, Any]] = {"epsilon": 3.0, "k": "private", "choice_share": 0.5}
    """Parameters for games about the private choice of k: its share large enough to be seen."""

    k: int | str = parameter(
        "coefficients kept of each piece: a number, public (⌈n/window⌉ + 1), or private (chosen "
        "from the data, for a share of ε)",
        default="public",
    )
    window: int | None = parameter(
        "rows that one window covers, for the public k; as the study says when not given",
        default=None,
    )
    choice_share: float = parameter("what part of ε a private k is chosen with", default=0.1)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_coefficients(self.k, self.window, ("public", "private"))
        if not 0 < self.choice_share <= _LARGEST_SHARE:
            raise InputError(
                f"choice_share must be above 0 and at most {_LARGEST_SHARE:g}, "
                f"got {self.choice_share:g}"
            )

    @classmethod
    def set_for_games(cls) -> Iterator[Mechanism]:
        """At each unit, and with a private k for the person."""
        yield from super().set_for_games()
        yield cls(**cls.private_game)

    def piece(self, facts: PublicFacts) -> int:
        """Values of one piece: the whole signal."""
        return facts.length

    def reach(self, facts: PublicFacts) -> float:
        """The largest L2 norm, in spans, of a change of one piece, as it is transformed.

        √n: every value may move by one span.
        """
        return math.sqrt(facts.length)

    def prepare(self, pieces: Values) -> Values:
        """What is transformed of pieces, over axis −2."""
        return pieces

    def restore(self, pieces: Values) -> Values:
        """The inverse of `prepare`."""
        return pieces

    def pieces(self, facts: PublicFacts) -> int:
        """How many a signal has; the last is filled up with the midpoint."""
        return math.ceil(facts.length / self.piece(facts))

    @property
    def fewest_rows(self) -> int:
        """A signal has at least as many values as coefficients are kept."""
        return self.k if isinstance(self.k, int) else 1

    @property
    def chooses(self) -> bool:
        """Whether k is chosen privately, for each piece."""
        return self.k == "private"

    def shares(self) -> tuple[Fraction, Fraction]:
        """What of ε is for the choice of k, and what for the noise; together no more than ε."""
        whole = exact(self.epsilon)
        noise = exact(self.epsilon * (1 - self.choice_share)) if self.chooses else whole
        return whole - noise, noise

    def candidates(self, facts: PublicFacts) -> list[Self]:
        """The mechanisms with a public k, and the noise's share of ε, that are chosen from."""
        everything = distinct(self.piece(facts), self.piece(facts))
        powers = [2**i for i in range((everything - 1).bit_length())]
        epsilon = float(self.shares()[1])
        return [replace(self, k=k, epsilon=epsilon) for k in (*powers, everything)]

    def kept(self, facts: PublicFacts) -> int:
        """How many different coefficients of a piece are kept; if that is chosen, at most."""
        length = self.piece(facts)
        if self.chooses:
            return distinct(length, length)
        if isinstance(self.k, str):
            return distinct(math.ceil(length / (self.window or facts.window)) + 1, length)
        if self.k > length:
            raise InputError(
                f"k = {self.k} is more than the {length} values of a signal or chunk: "
                f"choose k ≤ {length}"
            )
        return distinct(self.k, length)

    def blocks(self, facts: PublicFacts, unit: Unit) -> int:
        """Pieces of the unit, over all features."""
        signal = self.pieces(facts)
        counts = {
            "person": signal * facts.features * facts.recordings,
            "recording": signal * facts.features,
        }
        if unit.name == "chunk" and unit.length == self.piece(facts):
            return 1
        if unit.name not in counts:
            raise Refused(f"unit '{unit}' is not offered here: choose one of {', '.join(counts)}")
        return counts[unit.name]

    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """The coordinates of all pieces of the unit."""
        return self.blocks(facts, unit) * coordinates_of_first(self.kept(facts), self.piece(facts))

    def block_l1(self, facts: PublicFacts) -> float:
        """How far one piece can move its real and imaginary parts, in spans, in L1."""
        return l1_of_first(self.kept(facts), self.piece(facts)) * self.reach(facts)

    def noise(self, facts: PublicFacts) -> DiscreteLaplace:
        """One public scale; the grid is what is calibrated."""
        share = float(self.shares()[1] / self.blocks(facts, self.unit))
        bits = min(_SCALE_BITS, _MOST_BITS - math.ceil(math.log2(share)))
        if bits < 20:
            raise InputError(
                f"epsilon {self.epsilon:g} leaves noise finer than the grid: choose a smaller one"
            )
        return DiscreteLaplace(2**bits)

    def step(self, facts: PublicFacts) -> float:
        """Such that one unit moves at most the noise's ε times its scale."""
        most = math.floor(noise_of(self, facts).scale * self.shares()[1])
        free = most - _ROUNDING_STEPS * self.coordinates(facts, self.unit)
        if free < most / 2:
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for: "
                "choose a larger one"
            )
        spans = Fraction(self.block_l1(facts)) * self.blocks(facts, self.unit)
        # Rounded up, with room for the floating point behind the norm.
        return float(spans / free) * (1 + 1e-9)

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """L1 of all pieces of the unit, and what rounding adds."""
        spans = self.block_l1(facts) * self.blocks(facts, unit)
        return spans / self.step(facts) + _ROUNDING_STEPS * self.coordinates(facts, unit)

    def analyse(self, values: Values, facts: PublicFacts) -> Values:
        """Coefficients of the pieces, one piece after the other."""
        cut = self._cut(values, facts, fill=0.5)
        found = first_coefficients(self.prepare(cut), self.kept(facts))
        return np.asarray(found.reshape(*values.shape[:-2], -1, values.shape[-1]))

    def _cut(self, values: Values, facts: PublicFacts, fill: float) -> Values:
        """Signals in pieces (…, pieces, rows, features), the last one filled up."""
        length, pieces = self.piece(facts), self.pieces(facts)
        *front, rows, features = values.shape
        whole = values
        if rows < length * pieces:
            whole = np.full((*front, length * pieces, features), fill)
            whole[..., :rows, :] = values
        return whole.reshape(*front, pieces, length, features)

    def rebuild(self, coordinates: Values, facts: PublicFacts) -> Values:
        """The signals whose coefficients these are, without what filled up the last piece."""
        length, pieces = self.piece(facts), self.pieces(facts)
        *front, _, features = coordinates.shape
        cut = coordinates.reshape(*front, pieces, -1, features)
        whole = self.restore(from_first_coefficients(cut, length))
        return np.asarray(whole.reshape(*front, -1, features)[..., : facts.length, :])

    def randomise(self, values: Values, facts: PublicFacts, noise: Randomness) -> Values:
        """Where k is chosen, of each piece the chosen coefficients are measured, others zero."""
        if not self.chooses:
            return super().randomise(values, facts, noise)
        chosen = self.choose(self.costs(values, facts), facts, noise)
        head, step = self._measured_of(chosen, facts)
        integers = np.rint(self.analyse(self.clip(values), facts) / step).astype(np.int64)
        noisy = self.perturb(integers, facts, noise)
        return self.rebuild(np.where(head, noisy, 0) * step, facts)

    def choose(self, costs: Integers, facts: PublicFacts, noise: Randomness) -> NDArray[np.intp]:
        """Which candidate each piece gets."""
        return choose(costs, noise_of(self, facts).scale, noise)

    def costs(self, values: Values, facts: PublicFacts) -> Integers:
        """What candidates cost pieces, in steps: (…, recordings, pieces, features, candidates)."""
        clipped = self.clip(values)
        coordinates = self.analyse(clipped, facts)
        lost = []
        for head in self._heads(facts):
            rest = clipped - self.rebuild(coordinates * head[:, None], facts)
            lost.append(np.linalg.norm(self._cut(rest, facts, fill=0.0), axis=-2))
        share = np.clip(np.stack(lost, axis=-1) * 2 / math.sqrt(self.piece(facts)), 0.0, 1.0)
        most = math.floor(noise_of(self, facts).scale * self._epsilon_of_choice(facts))
        steps = np.rint(share * most).astype(np.int64)
        # A larger k cuts off no more; the proof needs it of the integers.
        nested = np.minimum.accumulate(steps, axis=-1)
        return np.asarray(nested + self.costs_of_noise(facts))

    def _epsilon_of_choice(self, facts: PublicFacts) -> Fraction:
        """For one piece."""
        return self.shares()[0] / self.blocks(facts, self.unit)

    def costs_of_noise(self, facts: PublicFacts) -> Integers:
        """The public part of the costs: √E‖noise‖² of a piece over √n/2, in steps."""
        noises = np.array([each.errors_of_noise(facts)[0] for each in self.candidates(facts)])
        scale = noise_of(self, facts).scale
        costs = (noises - noises.min()) * 2 * float(self._epsilon_of_choice(facts))
        return np.asarray(np.rint(np.minimum(costs, _NEVER) * scale), dtype=np.int64)

    def _heads(self, facts: PublicFacts) -> NDArray[np.bool_]:
        """Which coordinates each candidate keeps: candidates × coordinates."""
        frequencies = frequencies_of_first(self.kept(facts), self.piece(facts))
        heads = [frequencies < each.kept(facts) for each in self.candidates(facts)]
        return np.tile(heads, self.pieces(facts))

    def _measured_of(
        self, chosen: NDArray[np.intp], facts: PublicFacts
    ) -> tuple[NDArray[np.bool_], Values]:
        """Which coordinates are measured, and in which steps, as pieces have chosen."""
        count = coordinates_of_first(self.kept(facts), self.piece(facts))
        each = np.repeat(chosen, count, axis=-2)
        steps = np.array([candidate.step(facts) for candidate in self.candidates(facts)])
        place = np.arange(each.shape[-2])[:, None]
        return self._heads(facts)[each, place], steps[each]

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """Where k is chosen, the log-likelihood ratio of the choice and of the noise together."""
        if not self.chooses:
            return super().score(outputs, pair)
        facts, distribution = pair.facts, noise_of(self, pair.facts)
        found = self.analyse(outputs.reshape(len(outputs), *pair.one.shape), facts)
        chosen = self._choice_seen_in(found, facts)
        head, step = self._measured_of(chosen, facts)

        def log_likelihood(values: Values) -> Values:
            chances = log_chances(self.costs(values, facts), distribution.scale)
            which = np.broadcast_to(chances, (*chosen.shape, chances.shape[-1]))
            choice = np.take_along_axis(which, chosen[..., None], axis=-1)
            integers = np.rint(self.analyse(self.clip(values), facts) / step)
            noise = np.where(head, distribution.log_mass(np.rint(found / step) - integers), 0.0)
            total: Values = sum(
                part.reshape(len(outputs), -1).sum(axis=1) for part in (choice, noise)
            )
            return total

        return log_likelihood(pair.other) - log_likelihood(pair.one)

    def _choice_seen_in(self, coordinates: Values, facts: PublicFacts) -> NDArray[np.intp]:
        """The candidate behind released coordinates: those that it leaves out are zero."""
        candidates = self.candidates(facts)
        nothing = min(each.step(facts) for each in candidates) / 2
        frequencies = frequencies_of_first(self.kept(facts), self.piece(facts))
        *front, _, features = coordinates.shape
        each = coordinates.reshape(*front, self.pieces(facts), -1, features)
        highest = np.where(np.abs(each) < nothing, 0, frequencies[:, None]).max(axis=-2)
        return np.asarray(np.searchsorted([c.kept(facts) for c in candidates], highest + 1))

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """The error of the noise alone: what is cut off with the higher coefficients comes on top.

        A private k is taken as it is chosen for a signal of which nothing is cut off.
        """
        return self._expected_errors(facts)[0]

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """The noise's error of a recording's mean over its rows."""
        return self._expected_errors(facts)[1]

    def _expected_errors(self, facts: PublicFacts) -> tuple[float, float]:
        """The errors of one value, and of the mean over a recording's rows."""
        if not self.chooses:
            return self.errors_of_noise(facts)
        errors = np.array([each.errors_of_noise(facts) for each in self.candidates(facts)])
        chances = np.exp(log_chances(self.costs_of_noise(facts), noise_of(self, facts).scale))
        value, mean = np.sqrt(chances @ errors**2)
        return float(value), float(mean)

    def errors_of_noise(self, facts: PublicFacts) -> tuple[float, float]:
        """For a public k, of one value, and of the mean over a recording's rows.

        In closed form, since a long signal has very many coefficients.

        A coefficient's noise is in the signal as a wave of mean square 1/n² for the mean and for
        the highest frequency of an even n, and 2/n² for a part of any other; only the first moves
        the mean.
        """
        frequencies = frequencies_of_first(self.kept(facts), facts.length)
        alone = (frequencies == 0) | (2 * frequencies == facts.length)
        waves = float(np.where(alone, 1.0, 2.0).sum())
        mean = math.sqrt(noise_of(self, facts).variance) * self.step(facts) / facts.length
        return mean * math.sqrt(waves), mean

    def cut_off(self, facts: PublicFacts) -> str:
        """What the coefficients that are not kept would have shown."""
        if self.chooses:
            return ""
        length, kept = self.piece(facts), self.kept(facts)
        return cut_off(kept, distinct(length, length), length / max(kept - 1, 0.5))

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        distribution = noise_of(self, facts)
        candidates = self.candidates(facts) if self.chooses else [self]
        counts = ", ".join(str(each.kept(facts)) for each in candidates)
        steps = ", ".join(f"{each.step(facts):.9g}" for each in candidates)
        text = (
            f"{distribution.label}, scale {distribution.scale} steps of {steps} of the range, on "
            f"real and imaginary parts of the first {counts} Fourier coefficients of "
            f"{self.piece(facts)} values each"
        )
        if not self.chooses:
            return text
        choice, noise = (float(share) for share in self.shares())
        return (
            f"{text}; how many is chosen for each by the exponential mechanism, exact in integers, "
            f"with ε = {choice:g} in total for one {self.unit}; the noise has ε = {noise:g}"
        )

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Besides the bounds, signals that move all coefficients at once as far as they go."""
        pairs = list(super().neighbour_pairs(unit))
        yield from pairs
        pair = pairs[1]
        for name, change in (
            ("where the coefficients move most", self._largest_change(pair.facts)),
            ("where imaginary parts move alone", self._imaginary_change(pair.facts)),
        ):
            half = np.tile(change / 2, self.pieces(pair.facts))[: pair.facts.length, None]
            yield self.apart(pair, name, half)
        if self.chooses:
            facts = PublicFacts(1, 1, max(2, self.fewest_rows), 1)
            smooth = self.restore(np.ones((1, facts.length, 1)))
            jagged = np.resize([1.0, 0.0], smooth.shape)
            name = "where one coefficient is enough, and where none is"
            yield NeighbourPair(name, facts, unit, smooth / smooth.max(), jagged)

    def _largest_change(self, facts: PublicFacts) -> Values:
        """Signs of a change of a piece, by one span each, that moves the coefficients far in L1.

        Found by turns: the signs of the coefficients for a change, the best change for these signs.
        """
        length = self.piece(facts)
        pieces = np.eye(length)[:, :, None]
        matrix = first_coefficients(self.prepare(pieces), self.kept(facts))[..., 0]
        change = np.where(np.random.default_rng(0).random((256, length)) < 0.5, -1.0, 1.0)
        for _ in range(32):
            signs = np.where(change @ matrix < 0, -1.0, 1.0)
            change = np.where(signs @ matrix.T < 0, -1.0, 1.0)
        best: Values = change[np.abs(change @ matrix).sum(axis=1).argmax()]
        return best

    def _imaginary_change(self, facts: PublicFacts) -> Values:
        """A change of a piece whose transform has an imaginary part only, as large as may be."""
        length = self.piece(facts)
        wave = np.sin(2 * np.pi * np.arange(length) / length)
        change: Values = self.restore(wave[:, None])[:, 0]
        return np.asarray(change / max(np.abs(change).max(), 1e-9))

    def game_facts(self) -> Iterator[PublicFacts]:
        """One value, whose mean is all there is; signals with an imaginary part; two pieces."""
        yield PublicFacts(1, 2, 1, 1)
        yield PublicFacts(1, 2, 4, 1)
        yield PublicFacts(1, 1, 3, 2)
