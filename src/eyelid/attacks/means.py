"""Means over people, attacked: was this person in it, who is left when all others are taken off?

A mean has no person's record to re-identify. What can be asked is whether a person
is in it. The mechanism is run again and again on half of the people, or on as many as the smallest
group has, one of whom is in it by the toss of a coin; the person left over tells the attacker what
people are like. The attacker sees the measurement itself, before values are rebuilt and clipped,
which only helps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.attacks.error import ErrorMeasures, error_of
from eyelid.attacks.membership import Membership, NoiseDistribution, Publish, membership_game
from eyelid.attacks.subtraction import Subtraction, subtraction
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.groups.slots import Slots, everybody
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import DiscreteLaplace, randomness
from eyelid.privacy.noise.continuous import SphericalLaplace

FEWEST_PEOPLE = 6
# Numbers that an attack may look at, over all trials.
_MOST_TRIALS, _FEWEST_TRIALS, _MOST_NUMBERS = 1000, 200, 1e8
# More of them, evenly spread, add little.
_MOST_COORDINATES = 2048


@dataclass(frozen=True, eq=False)
class MeanFindings:
    """What attacks on means over people came to.

    Attributes:
        size: people in each mean that was made for the attack.
        membership: how well people were told from others who could have been in it.
        positive: the same without noise: what the attack can do at all.
        null: the same where the mean does not depend on who is in it.
        subtraction: what an attacker who knows all others of a group learns of the last one; of the
            group where that is most. None where every group is one person.
        error: of the released means against those of the people who have a value.
        constant_rmse_of_span: that error of the data-free guess, the middle of the bounds.
        groups: one row a group: its name and how many ``people`` it has.
        redrawn: whether subtraction and errors are those of another release of the same people by
            the same mechanism, since nobody knows who is in which of the released groups.
    """

    size: int
    membership: Membership | None
    positive: Membership | None
    null: Membership | None
    subtraction: Subtraction | None
    error: ErrorMeasures
    constant_rmse_of_span: float
    groups: pl.DataFrame
    redrawn: bool = False

    @property
    def sizes(self) -> list[tuple[str, int]]:
        """Groups and how many people they have."""
        return self.groups.select("person", "people").rows()

    @property
    def beats_constant(self) -> bool:
        """Whether the release is nearer the truth than what can be guessed without data."""
        return self.error.rmse_of_span < self.constant_rmse_of_span


def audit_means(
    mechanism: MeanMechanism,
    taken: FeatureTable,
    original: FeatureTable,
    released: FeatureTable,
    person_level: Guarantee | None = None,
    seed: int = 0,
) -> MeanFindings:
    """Attack means that were released, and see how far off they are.

    Args:
        mechanism: as it was run.
        taken: what it was run on.
        original: the features that were released, of the same people.
        released: the means.
        person_level: what is claimed; None for nothing.
        seed: of the attackers and the mechanism's noise.
    """
    noise = randomness(np.random.default_rng([seed, *b"who is in which group"]))
    groups = mechanism.partition(original, noise)
    if mechanism.drawn:
        again = mechanism.present(mechanism.noisy_means(taken, groups, noise))
        released = replace(released, data=again.data, people=again.people)
    truth = true_means(mechanism, groups, original, released)
    size, found = _membership(mechanism, taken, person_level, seed)
    middle = [pl.lit((f.lower + f.upper) / 2).alias(f.name) for f in truth.features]
    constant = replace(truth, data=truth.data.with_columns(middle))
    return MeanFindings(
        size=size,
        membership=found.get("membership"),
        positive=found.get("positive"),
        null=found.get("null"),
        subtraction=_subtraction(mechanism, groups, original, released),
        error=error_of(truth, released),
        constant_rmse_of_span=error_of(truth, constant).rmse_of_span,
        groups=groups.people,
        redrawn=mechanism.drawn,
    )


def over_groups(means: FeatureTable) -> FeatureTable:
    """The mean over the people of all groups as one: it is the same for any groups."""
    weighted = means.data.join(means.people.select("person", "people"), on="person", how="left")
    many = pl.col("people")
    mean = (pl.col(means.names).cast(pl.Float64) * many).sum() / many.sum()
    everybody = pl.lit("everybody").alias("person")
    data = weighted.group_by(everybody, "recording", "time_ms", maintain_order=True).agg(mean)
    return replace(means, data=data, people=means.people.select(everybody, many.sum()))


def true_means(
    mechanism: MeanMechanism, groups: Groups, original: FeatureTable, released: FeatureTable
) -> FeatureTable:
    """The means over people with a value, without any noise, in the form of the release."""
    slots = mechanism.slots(original)
    group = groups.people["person"].gather(groups.member[slots.owner])
    placed = original.recordings.select(
        "person", "recording", group.alias("group"), _numbers(slots).alias("slot")
    )
    row = pl.int_range(pl.len()).over("person", "recording")
    values = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in original.names]
    rows = original.data.select("person", "recording", row.alias("row"), *values).join(
        placed, on=["person", "recording"]
    )
    means = rows.group_by("group", "slot", "row").agg(pl.col(original.names).mean())
    number = pl.int_range(pl.len()).over("person", "recording").alias("row")
    keys = released.data.select("person", "recording", "task", "time_ms", number)
    data = keys.join(
        means,
        left_on=["person", "recording", "row"],
        right_on=["group", "slot", "row"],
        how="left",
        maintain_order="left",
    ).drop("row")
    return replace(released, data=data, features=original.features)


def _numbers(slots: Slots) -> pl.Series:
    """The slot of each recording by its number; null for one that has none."""
    return slots.names["recording"].gather(pl.Series(slots.slot).replace(-1, None))


def _subtraction(
    mechanism: MeanMechanism, groups: Groups, original: FeatureTable, released: FeatureTable
) -> Subtraction | None:
    rows = int(released.recordings["rows"][0])
    slots = mechanism.slots(original)
    facts = replace(mechanism.core.facts(original), recordings=len(slots.names), length=rows)
    lowers = np.array([f.lower for f in original.features])
    spans = np.array([f.span for f in original.features])
    values = np.concatenate(
        [mechanism.core.clip((v - lowers) / spans) for v in everybody(original, facts, slots)]
    )
    shown = (released.data.select(original.names).to_numpy() - lowers) / spans
    means = shown.reshape(len(groups.people), *values.shape[1:])
    found = [
        subtraction(means[group], values[groups.member == group])
        for group in np.flatnonzero(groups.sizes > 1)
    ]
    return min(found, key=lambda one: one.rmse_of_span - one.blind_rmse_of_span, default=None)


def _membership(
    mechanism: MeanMechanism, taken: FeatureTable, person_level: Guarantee | None, seed: int
) -> tuple[int, dict[str, Membership]]:
    """The game, and its controls, on the measurements of everybody; nothing with too few people."""
    facts = mechanism.facts(taken)
    if facts.people < FEWEST_PEOPLE:
        return 0, {}
    lowers = np.array([f.lower for f in taken.features])
    spans = np.array([f.span for f in taken.features])
    each = np.concatenate(
        [
            mechanism.integers((values - lowers) / spans, facts)
            for values in everybody(taken, facts, mechanism.slots(taken))
        ]
    )
    size = min(facts.people // 2, mechanism.smallest(facts))
    noise = randomness(np.random.default_rng([seed, *b"was somebody in it"]))
    form = each.shape[1:]
    everything = each.reshape(len(each), -1).astype(np.float64)
    looked_at = min(everything.shape[1], _MOST_COORDINATES)
    kept = np.linspace(0, everything.shape[1] - 1, looked_at).astype(np.intp)
    people = everything[:, kept]
    trials = int(np.clip(_MOST_NUMBERS / people.size, _FEWEST_TRIALS, _MOST_TRIALS))

    def noisy(total: Values) -> Values:
        # Noise may be one draw for all coordinates.
        integers = np.zeros(everything.shape[1], dtype=np.int64)
        integers[kept] = np.rint(total)
        drawn = mechanism.perturb(integers.reshape(1, *form), facts, noise)
        return np.asarray(drawn.reshape(-1)[kept] / size)

    ways: dict[str, tuple[Publish, NoiseDistribution, Guarantee | None]] = {
        "membership": (
            lambda there: noisy(there.sum(axis=0)),
            _distribution(mechanism, facts, size),
            person_level,
        ),
        "positive": (lambda there: there.mean(axis=0), NoiseDistribution(), None),
        "null": (
            lambda there: noisy(people.mean(axis=0) * size),
            _distribution(mechanism, facts, size),
            None,
        ),
    }
    return size, {
        name: membership_game(publish, people, size, seen, claim, trials=trials, seed=seed)
        for name, (publish, seen, claim) in ways.items()
    }


def _distribution(mechanism: MeanMechanism, facts: PublicFacts, size: int) -> NoiseDistribution:
    """The noise on the mean of so many people, in steps."""
    noise = noise_of(mechanism, facts)
    if isinstance(noise, DiscreteLaplace) and not isinstance(noise, SphericalLaplace):
        return NoiseDistribution(b=noise.scale / size)
    return NoiseDistribution(sigma=float(np.sqrt(noise.variance)) / size)
