"""Many numbers over people under Gaussian noise: less of it than a box where there are many."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.mechanisms.differential import SCALE, check_gaussian_delta
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.statistics.parts import JointPart, Part
from eyelid.mechanisms.statistics.quantities import SUMS
from eyelid.mechanisms.statistics.statistic import Asked
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.privacy.gaussian import discreteness_slack, gaussian_mu
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import Neighbours, Unit


@register
@dataclass(frozen=True)
class SummaryGaussian(Summary):
    """Many means over people under one Gaussian noise."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Many means over people under one Gaussian noise.",
        takes="""one number a person and entry, as its place in a public range: clipped to it, the
        middle where it is missing. Nobody is left out, and no number is changed for others of the
        same person: to shorten long vectors would take less noise, but move means in a way that no
        interval can put right.""",
        protects="""a person, replace-one, (ε, δ) and μ-GDP; trust is central. N, the entries, their
        ranges, and the groups with who is in them are public.""",
        why="""counted from the middle in half ranges, d numbers lie in [−1, 1] each, and two people
        are at most Δ₂ = 2√d apart in L2; in a number and its square by √5.15, and not by √8.
        Integers are cut towards zero, which makes no vector longer, and summed exactly; the
        discrete Gaussian has σ = Δ₂/μ of 2³⁶ steps, with μ from (ε, δ) by Balle & Wang. Groups are
        public and disjoint: a replaced person stays in theirs, and moves its sum alone.""",
        paper="""Balle & Wang 2018; the box in L2 is ours.""",
    )
    name: ClassVar[str] = "summary-gaussian"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    family: ClassVar[str] = "joint-statistics"
    paper: ClassVar[str] = (
        "Balle & Wang (2018), Improving the Gaussian mechanism for differential privacy; Canonne, "
        "Kamath & Steinke (2020)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 2.0, "delta": 1e-5, "statistics": "mean"},
        {"epsilon": 4.0, "delta": 1e-5, "statistics": "mean,sd", "by": "group"},
    )

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gaussian_delta(self.delta, instead="summary-box")

    def _check(self, asked: tuple[Asked, ...]) -> None:
        super()._check(asked)
        names = {term.name for part in asked for term in part.terms}
        if len(asked) > 1 or not names <= set(SUMS):
            raise InputError(
                f"summary-gaussian has one part, of {', '.join(SUMS)}: ask summary-box for "
                f"'{self.statistics}'"
            )

    def mu_of(self, numbers: int, people: int) -> float:
        """μ for (ε, δ), with room for what the grid can do."""
        slack = discreteness_slack(numbers, SCALE)
        return gaussian_mu(self.epsilon, self.delta_for(people), slack)

    def in_one_draw(
        self, asked: Asked, facts: StatisticsFacts, group: int | None, epsilon: Fraction
    ) -> Part:
        """Numbers that share one Gaussian noise."""
        statistics = asked.statistics(facts.features, len(facts.groups))
        mu = self.mu_of(len(statistics), facts.people)
        return JointPart(statistics, facts.groups, group, epsilon, mu)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) for the one part, from public facts."""
        numbers = self.parts_for(facts)[0].shown
        return Guarantee(
            kind=Kind.APPROXIMATE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=self.epsilon,
            delta=self.delta_for(facts.people),
            mu=self.mu_of(numbers, facts.people),
            slack=discreteness_slack(numbers, SCALE),
        )
