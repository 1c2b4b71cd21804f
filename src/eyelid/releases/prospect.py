"""What made-up people will be like, and would be with more real ones, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.public_groups import GroupedShape
from eyelid.mechanisms.synthetic import Synthetic

# For whoever plans a study.
CROWDS = (50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Prospect:
    """What so many real people allow.

    Attributes:
        people: how many there are.
        features: how many made-up people would have; 0 where nothing of use exists.
        share_error: how far the share of a task in a quarter of a feature would be off.
    """

    people: int
    features: int
    share_error: float | None


@dataclass(frozen=True)
class MadeUp:
    """Made-up people as they will be.

    Attributes:
        people: how many.
        features: how many they have; 0 where the real people are too few.
        features_there: how many there are of real people.
        dropped: the names of the others, as far as they are known.
        share_error: how far the share of a task in a quarter of a feature will be off, if there
            are features.
        share_noise: the part of it that is noise on the share itself.
        informative: whether that noise is within what is wanted.
        wanted_error: the most that it may be.
        people_needed: real people for all features within that; None if no number is enough.
        people_needed_for_one: the same for a single feature.
        rows_that_count: of each real person and task.
        bins: of each feature.
        why_dropped: why features are left out, and which; empty if none is.
    """

    people: int
    features: int
    features_there: int
    dropped: tuple[str, ...]
    share_error: float | None
    share_noise: float | None
    informative: bool
    wanted_error: float
    people_needed: int | None
    people_needed_for_one: int | None
    rows_that_count: int
    bins: int
    why_dropped: str

    def to_dict(self) -> dict[str, Any]:
        """As certificate.json and ``eyelid cost --json`` have it."""
        return asdict(self) | {"dropped": list(self.dropped)}


def useful(mechanism: Synthetic, shape: Shape) -> bool:
    """Whether a feature can be made up within the error that is wanted, or was asked for anyway."""
    return mechanism.carry is not None or mechanism.features_within(shape) > 0


def made_up(mechanism: Synthetic, shape: Shape, table: FeatureTable | None = None) -> MadeUp:
    """What made-up people will be like.

    Args:
        mechanism: with its parameters.
        shape: the public facts.
        table: whose features have names; only these are looked at.
    """
    now, needed = prospect(mechanism, shape), _needed(mechanism, shape)
    names: Sequence[str] = ()
    if table is not None:
        names = mechanism.dropped(table) if now.features else table.names
    carried = replace(shape, features=max(1, now.features))
    return MadeUp(
        people=(mechanism.made_up or shape.people) if now.features else 0,
        features=now.features,
        features_there=shape.features,
        dropped=tuple(names),
        share_error=now.share_error,
        share_noise=mechanism.noise_of_shares(carried) if now.features else None,
        informative=0 < now.features <= mechanism.features_within(shape),
        wanted_error=mechanism.error,
        people_needed=needed,
        people_needed_for_one=_needed(mechanism, replace(shape, features=1)),
        rows_that_count=mechanism.records,
        bins=mechanism.bins_for(shape.people),
        why_dropped=(
            _why_dropped(mechanism, shape.features - now.features, names, needed)
            if now.features
            else mechanism.too_few(shape)
        ),
    )


def _why_dropped(mechanism: Synthetic, many: int, names: Sequence[str], needed: int | None) -> str:
    """Why so many features are left out, and which."""
    if not many:
        return ""
    which = f": {', '.join(names)}" if names else ""
    if mechanism.carry is not None:
        return f"carry={mechanism.carry} leaves out the last {many} of a public order{which}"
    enough = "no number of people is enough" if needed is None else f"it takes {needed:,} people"
    return (
        f"the last {many} of a public order of features are left out, because each makes the "
        f"noise on all others larger ({enough} for all of them with an error of "
        f"{mechanism.error:g}){which}"
    )


def prospect(mechanism: Synthetic, shape: Shape) -> Prospect:
    """What the people of a shape allow."""
    if not useful(mechanism, shape):
        return Prospect(shape.people, 0, None)
    error = mechanism.expected_share_error(shape)
    return Prospect(shape.people, mechanism.carried(shape), error)


def prospects(
    mechanism: Synthetic, shape: Shape, crowds: Sequence[int] = CROWDS
) -> tuple[Prospect, ...]:
    """What more or fewer people would allow; groups keep their part of the whole.

    >>> law = Synthetic(epsilon=4.0, delta=1e-6)
    >>> [each.features for each in prospects(law, Shape(20, 3, 32, 52), (20, 100, 1000))]
    [0, 3, 52]
    """
    return tuple(prospect(mechanism, _with_people(shape, people)) for people in crowds)


def _with_people(shape: Shape, people: int) -> Shape:
    if isinstance(shape, GroupedShape):
        smallest = max(1, shape.smallest * people // shape.people)
        return replace(shape, people=people, smallest=smallest)
    return replace(shape, people=people)


def _needed(mechanism: Synthetic, shape: Shape) -> int | None:
    try:
        return mechanism.people_needed(shape)
    except InputError:
        return None
