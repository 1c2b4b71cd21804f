"""Few numbers over people under the noise of a box: pure ε, and a third of independent noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from eyelid.mechanisms.mechanism import PublicFacts, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.statistics.parts import BoxPart, Part
from eyelid.mechanisms.statistics.statistic import Asked
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import Neighbours, Unit


@register
@dataclass(frozen=True)
class SummaryBox(Summary):
    """Results of a study, a few statistics over people, under the noise of a box."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Results of a study, a few statistics over people, under the noise of a box.",
        takes="""one number a person and entry (a measure in a task, or a difference of two tasks),
        as its place in a public range. Means, spreads, counts and shares clip it to the range and
        take the middle where it is missing; rank statistics take it as it is, a missing one being
        equal to everybody's. Nobody is left out, and ties are never broken by the order of
        people.""",
        protects="""a person, replace-one, pure ε; trust is central. N, the entries, their ranges,
        and the groups with who is in them are public.""",
        why="""in a part of d numbers each is a whole number that one person moves by at most
        Δ = 2^30: a sum over people of {0 … Δ}, or ⌊S·Δ/s⌋ of a sum S over pairs with kernels in
        [−1, 1], where a person is in n pairs and s = 2n: N of a signed rank, N − 1 of Kendall's τ,
        max(n₁, n₂) of U. All d together move inside the cube {−Δ … Δ}^d, so that integer noise
        with P(z) ∝ exp(−‖z‖∞/t), t = ⌈Δ/ε⌉, is ε-DP. A histogram moves by 2Δ in L1, under discrete
        Laplace noise of scale 2Δ/ε. Medians, quantiles and Theil–Sen slopes are drawn from public
        candidates with P ∝ exp(−ε·cost/2s), where a person moves costs by at most s. Parts share ε
        and add up; those of disjoint public groups do not.""",
        paper="""Hardt & Talwar 2010 and Awan & Slavković 2021 (K-norm mechanisms), exact on
        integers; McSherry & Talwar 2007, Smith 2011 (quantiles); Alabi et al. 2022 (Theil–Sen). The
        rank sums in the box are ours.""",
    )
    name: ClassVar[str] = "summary-box"
    kind: ClassVar[Kind] = Kind.PURE
    delta: ClassVar[None] = None
    paper: ClassVar[str] = (
        "Hardt & Talwar (2010), On the geometry of differential privacy; Awan & Slavković (2021), "
        "Structure and sensitivity in differential privacy"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 1.0, "statistics": "mean,sd,clipped"},
        {"epsilon": 2.0, "statistics": "mean,higher,signed-rank:1,tau:1:2"},
        {
            "epsilon": 2.0,
            "statistics": "mean@0.5;superiority:2@0.3;histogram:1:3@0.2",
            "by": "group",
        },
        {"epsilon": 4.0, "statistics": "median:1;slope:1:2;mean@0.5", "candidates": 20},
    )

    def in_one_draw(
        self, asked: Asked, facts: StatisticsFacts, group: int | None, epsilon: Fraction
    ) -> Part:
        """A box."""
        statistics = asked.statistics(facts.features, len(facts.groups))
        return BoxPart(statistics, facts.groups, group, epsilon)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """ε for all parts, from public facts."""
        self.parts_for(facts)
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=self.epsilon,
            delta=0.0,
        )
