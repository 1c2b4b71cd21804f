"""Exponential-DP of David-John et al. 2022: as printed, what that loses, and made to hold."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from eyelid.engine.progress import track
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.papers.floating_noise import exponentials, with_random_signs
from eyelid.papers.paper_mechanism import PaperMechanism, together
from eyelid.papers.signals import TaskSignals
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit


@register
@dataclass(frozen=True)
class ExponentialPaper(PaperMechanism):
    """The logarithm of exponential noise on every value: Exponential-DP as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The logarithm of exponential noise on every value: Exponential-DP as printed.",
        takes="""a FeatureTable, unclipped; missing values repeat the last known one, and recordings
        repeat their last row until the longest one of the task ends. Each task is treated by itself
        and needs two recordings.""",
        protects="""nothing; it is here to be compared with `exponential`. The printed ε is one
        feature's in one recording; here ε is their sum, ε/F each.""",
        why="""λ = (ε/F)/(2·t_max·d), y exponential with scale 1/λ, noise ± ln(y)/(λ·t_max), d the
        range of the feature and t_max the longest recording. With β = (ε/F)/(2d) and E exponential
        with scale 1 that is ±(ln E + ln(1/λ))/β: two bumps, far apart, on an interval as wide as
        one value may move. t_max falls out of the width, and the unit of measurement does not fall
        out of ln(1/λ). One value alone loses up to 7.364 where ε = 1 was printed for all of them
        (range 1, t_max 1200), which `worst_loss` computes; d is read off the data, which makes the
        loss infinite.""",
        paper="""David-John, Butler & Jain 2022, Exponential-DP after Steil et al. 2019, with the
        range over all tasks. ``subsample=10`` is Steil's thinning. Floating-point noise, as
        theirs.""",
    )
    name: ClassVar[str] = "exponential-paper"
    lengths: ClassVar[str] = (
        "recordings repeat their last row, under noise of its own, until the longest one of their "
        "task ends"
    )
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets (Exponential-DP); Steil, Hagestedt, Huang & Bulling (2019), Privacy-aware eye "
        "tracking using differential privacy"
    )

    def randomised(
        self, tasks: Sequence[TaskSignals], runs: int, noise: Randomness
    ) -> Iterator[tuple[TaskSignals, Values]]:
        """Recordings padded by their last row, with noise of the printed law."""
        own = [np.where(task.inside, task.values, np.nan) for task in tasks]
        highest = np.max([np.nanmax(values, axis=(0, 2)) for values in own], axis=0)
        lowest = np.min([np.nanmin(values, axis=(0, 2)) for values in own], axis=0)
        for task in track(tasks, "adding noise"):
            padded = task.padded()
            _, features, t_max = padded.values.shape
            share = self.epsilon_per_feature(features)
            draws = np.log(exponentials((runs, *padded.values.shape), noise))
            draws = with_random_signs(_printed(draws, share, t_max, highest - lowest), noise)
            yield padded, padded.values + draws

    def why_not(self, facts: PublicFacts) -> Iterator[str]:
        """The law, the range, and what adds up."""
        share = self.epsilon_per_feature(facts.features)
        worst = worst_loss(share, facts.length)
        yield (
            f"one value alone can lose {worst:.4g} where ε = {share:.4g} is printed for all "
            f"{facts.length} values of a feature (computed from the printed distribution, for a "
            "range of 1 in the feature's own unit; in another unit it is another loss)"
        )
        yield (
            "the noise is scaled by the range that a feature has in this very dataset: the most "
            "extreme person sets everybody's noise, and the true loss is infinite"
        )
        yield "a feature that is the same for everybody has range 0 and is released as it is"
        yield "noise is drawn for each value, so that losses add up over rows, and over recordings"

    def with_public_scale(self, facts: PublicFacts, unit: Unit) -> tuple[float, str]:
        """The worst loss of one value, for each value."""
        worst = worst_loss(self.epsilon_per_feature(facts.features), facts.length)
        recordings = facts.recordings if unit == PERSON else 1
        values = recordings * facts.features * facts.length
        return worst * values, f"up to {worst:.4g} for each of {values} values, at a range of 1"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        share = self.epsilon_per_feature(facts.features)
        return (
            f"± ln(y)/(λ·t_max) in floating point, y exponential with scale 1/λ, λ = {share:.4g}/"
            f"(2·t_max·d), t_max = {facts.length}, d the range of a feature in the data"
        )

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """At most: for a range of one span, and a span of 1."""
        share = self.epsilon_per_feature(facts.features)
        middle = math.log(2 * facts.length / share) - float(np.euler_gamma)
        return math.sqrt(middle**2 + math.pi**2 / 6) * 2 / share

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """Noise is independent from row to row, and as often up as down."""
        return self.expected_rmse_of_span(facts) / math.sqrt(facts.length)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """One end of the range against the other; others keep the range as it is."""
        facts = PublicFacts(1, 1, 16, 1)
        low = np.zeros((1, 16, 1))
        yield NeighbourPair("from one end to the other", facts, unit, low, low + 1.0)

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """The person's noisy values, recorded together with somebody at each end."""
        tasks = [
            together(np.stack([recording, np.zeros_like(recording), np.ones_like(recording)]))
            for recording in values.transpose(0, 2, 1)
        ]
        played = [noisy[:, 0].reshape(runs, -1) for _, noisy in self.randomised(tasks, runs, noise)]
        return np.concatenate(played, axis=1)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the printed law."""
        share = self.epsilon_per_feature(pair.facts.features)

        def log_density(values: Values) -> Values:
            noise = outputs - values.transpose(0, 2, 1).ravel()
            return _log_density(noise * share / 2, share, pair.facts.length)

        ratio: Values = (log_density(pair.other) - log_density(pair.one)).sum(axis=1)
        return ratio


@functools.lru_cache(maxsize=64)
def worst_loss(epsilon: float, t_max: int, span: float = 1.0) -> float:
    """What one value can lose at most under the printed law, its range being public.

    The density is even, with bumps at ±ln(1/λ)/β and exponential tails; the largest logarithm of a
    ratio of two values is found on a fine grid, for values as far apart as the range.

    Args:
        epsilon: of one feature.
        t_max: rows of the longest recording.
        span: the feature's range, in its own unit.

    >>> [f"{worst_loss(epsilon, 1200):.4g}" for epsilon in (0.1, 1.0, 10.0)]
    ['1.071', '7.364', '15.35']
    """
    width = abs(math.log(2 * t_max * span / epsilon)) + epsilon + 40.0
    at = np.linspace(-width, width, 1_000_001)
    here, there = (_log_density(x, epsilon / span, t_max) for x in (at, at - epsilon / 2))
    return float((here - there).max())


def _log_density(scaled: Values, epsilon_over_span: float, t_max: int) -> Values:
    """Log-density of noise times β, up to a constant: ± (ln E + ln(1/λ)), E of Exp(1)."""
    middle = math.log(2 * t_max / epsilon_over_span)

    def of_log(values: Values) -> Values:
        return values - np.exp(np.minimum(values, 700.0))

    return np.asarray(np.logaddexp(of_log(scaled - middle), of_log(-scaled - middle)))


def _printed(log_draws: Values, epsilon: float, t_max: int, ranges: Values) -> Values:
    """ln(y)/(λ·t_max) for y = E/λ; no range, no noise."""
    with np.errstate(divide="ignore"):
        middle = np.where(ranges > 0, np.log(2 * t_max * ranges / epsilon), 0.0)
    noise: Values = (log_draws + middle[:, None]) * (2 * ranges / epsilon)[:, None]
    return noise


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

    def game_facts(self) -> Iterator[PublicFacts]:
        """Enough recordings that a recording's ε, sold as a person's, is found out all the same."""
        for facts in super().game_facts():
            yield replace(facts, recordings=3)
