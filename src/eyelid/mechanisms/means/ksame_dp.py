"""k-same-select with noise: means over random groups of people that keep an ε."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.partition import (
    attributes_to_balance,
    check_k,
    group_names,
    group_sizes,
    random_groups,
    spread_in_words,
)
from eyelid.mechanisms.groups.public_groups import GroupedFacts, Groups
from eyelid.mechanisms.means.mean_mechanism import PLACE, TEAM_SIZE, MeanMechanism
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit


@register
@dataclass(frozen=True, kw_only=True)
class KSameDP(MeanMechanism):
    """Noisy means over random groups of at least k people, the same groups for all recordings."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Noisy means over random groups of at least k people, the same groups for all
        recordings.""",
        takes="""a FeatureTable, or whatever the mechanism inside takes. People are dealt out at
        random to ⌊N/k⌋ groups, whose sizes differ by one at most. Recordings are put side by side
        by task, and by their order within a task, of which the first recordings count; what a
        person lacks counts with the public midpoint. With `dct` inside, everything of a person,
        over all tasks, is one vector, scaled down to the L2 norm B = radius·√(n·F·R). Vectors are
        summed up over a group in integers, discrete Gaussian noise is drawn once for the sum, and
        it is divided by the group's size, which follows from N and k. Released is one synthetic
        person a group, with the number of people as weight.""",
        protects="""a person, replace-one, over all recordings together, with (ε, δ)-DP and its μ,
        or what the mechanism inside gives; trust is central. It is valid against an attacker who
        knows the groups, and has the recordings of all others of a person's group. k is no part of
        it and adds nothing to ε: it only divides the noise. N, the sizes, the length and the tasks
        are
        public.""",
        why="""groups are drawn from randomness and public attributes alone, so replacing a person's
        data moves nobody to another group. Given the groups, that person is one term of one sum,
        which moves by Δ₂ = 2B at most, and all the other sums stay as they are. So the noise of one
        sum pays for all of them, over all recordings. This is true for every partition, and with it
        for a random one. Sizes are public, and dividing, rebuilding and clipping come after the
        noise.""",
        remarks=(
            """Noise on a mean falls as 1/k and grows with the root of what is released of a person.
            At ε = 4, with three recordings of 600 windows and 52 features, a value is off by 67/k
            spans and a recording's mean by 15/k: groups of dozens show nothing, and it takes
            hundreds of people in each to see more than a constant would tell. What a study has to
            say about everybody is said with N/k times less noise by one group of all, which is
            `groupmean`.""",
        ),
        paper="""the groups are those of David-John, Butler & Jain 2022 (k-same-select sequence),
        one partition for all tasks; noise for one person on a sum over people is that of Dwork,
        McSherry, Nissim & Smith 2006, in integers after Canonne, Kamath & Steinke 2020.""",
    )
    name: ClassVar[str] = "ksame-dp"
    family: ClassVar[str] = "random-means"
    units: ClassVar[tuple[str, ...]] = ("person",)
    drawn: ClassVar[bool] = True
    release: ClassVar[ReleaseKind] = ReleaseKind.RANDOM_MEANS
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets (k-same-select sequence), with one partition, a clip and noise; Balle & Wang "
        "(2018); Canonne, Kamath & Steinke (2020)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "k": 3, "inner": "dct:k=2:radius=0.3"},
        {"epsilon": 4.0, "delta": 1e-5, "k": 3, "inner": "dct"},
    )

    k: int = parameter("people of a group, at least")
    balance: str | None = parameter(
        "public attributes: people who share all of them are spread over the groups, two of which "
        "differ by at most 2 of them: gender, or a,b; where hardly any participant shares them "
        "this does nothing",
        default=None,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)

    @property
    def group_size(self) -> int:
        """K."""
        return self.k

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """The guarantee of the mechanism inside, where there are people enough for a group."""
        self.smallest(facts)
        return super().cost(facts, unit)

    def facts(self, table: FeatureTable) -> PublicFacts:
        """The public facts, with the smallest group, which follows from N and k."""
        facts = super().facts(table)
        return GroupedFacts(**vars(facts), smallest=self.smallest(facts))

    def smallest(self, facts: PublicFacts) -> int:
        """People in the smallest group, from N and k."""
        return min(group_sizes(facts.people, self.k))

    def check(self, table: FeatureTable) -> None:
        """Refuse attributes that not everybody has, too."""
        super().check(table)
        attributes_to_balance(table, self.balance)

    def partition(self, table: FeatureTable, noise: Randomness) -> Groups:
        """Random groups: no gaze goes into them."""
        strata = attributes_to_balance(table, self.balance)
        people = table.recordings["person"].n_unique()
        member = random_groups(people, self.k, noise, strata)
        sizes = np.bincount(member)
        named = pl.DataFrame({"person": group_names(sizes.size), "people": sizes.astype(np.int64)})
        return Groups(named, member)

    def person_total(self, facts: PublicFacts) -> str:
        """As for any mean, for any member of the group."""
        return (
            f"{super().person_total(facts)}, also against those who have the recordings of all "
            f"others; that groups have {self.k} people or more adds nothing to it"
        )

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words, and what else is random."""
        sizes = group_sizes(facts.people, self.k)
        return (
            f"{super().sampler(facts)}, after one random partition of {facts.people} people into "
            f"{len(sizes)} group{'s' * (len(sizes) > 1)}"
        )

    def groups_shown(self, table: FeatureTable) -> list[str]:
        """How many people they have; who these are is not shown."""
        people = self.facts(table).people
        sizes = ", ".join(str(size) for size in group_sizes(people, self.k))
        shown = [f"how many people each group has ({sizes}), which follows from their number and k"]
        if self.balance:
            shown.append(spread_in_words(self.balance, people, self.k))
        return shown

    def in_teams(self) -> KSameDP:
        """Groups get one of each place: who plays with whom is left to chance."""
        return replace(self, k=TEAM_SIZE, balance=PLACE)
