"""What made-up people will be like, and would be with more real ones, from public facts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.public_groups import GroupedShape
from eyelid.mechanisms.synthesis.public_pairs import WINDOWS, public_tree
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
        carried: their names, in the public order, as far as they are known.
        dropped: the names of the others.
        share_error: how far the share of a task in a quarter of a feature will be off, if there
            are features.
        share_noise: the part of it that is noise on the share itself.
        correlation_noise: the noise on a correlation, of two features or over time.
        noise_in_people: of each round, on its counts.
        informative: whether the error of a share is within what is wanted.
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
    carried: tuple[str, ...]
    dropped: tuple[str, ...]
    share_error: float | None
    share_noise: float | None
    correlation_noise: float | None
    noise_in_people: dict[str, float]
    informative: bool
    wanted_error: float
    people_needed: int | None
    people_needed_for_one: int | None
    rows_that_count: int
    bins: int
    why_dropped: str

    def to_dict(self) -> dict[str, Any]:
        """As certificate.json and ``eyelid cost --json`` have it."""
        return asdict(self) | {"carried": list(self.carried), "dropped": list(self.dropped)}

    @property
    def noise_told(self) -> str:
        """The noise in words, round by round."""
        return told_in_people(self.noise_in_people)


def told_in_people(noise: Mapping[str, float]) -> str:
    """The noise on counts of people in words, round by round."""
    each = ", ".join(f"{name} {sd:.3g}" for name, sd in noise.items())
    return f"discrete Gaussian on counts of people, of standard deviation: {each}"


def made_up(mechanism: Synthetic, shape: Shape, table: FeatureTable | None = None) -> MadeUp:
    """What made-up people will be like.

    Args:
        mechanism: with its parameters.
        shape: the public facts.
        table: whose features have names; only these are looked at.
    """
    now, needed = prospect(mechanism, shape), _needed(mechanism, shape)
    names = _in_order(shape, table)
    carried, dropped = names[: now.features], names[now.features :]
    facts = replace(shape, features=max(1, now.features))
    return MadeUp(
        people=(mechanism.made_up or shape.people) if now.features else 0,
        features=now.features,
        features_there=shape.features,
        carried=carried,
        dropped=dropped,
        share_error=now.share_error,
        share_noise=mechanism.noise_of_shares(facts) if now.features else None,
        correlation_noise=mechanism.noise_of_correlations(shape) if now.features else None,
        noise_in_people=mechanism.noise_in_people(shape) if now.features else {},
        informative=now.features > 0 and mechanism.informative(shape),
        wanted_error=mechanism.error,
        people_needed=needed,
        people_needed_for_one=_needed(mechanism, replace(shape, features=1)),
        rows_that_count=mechanism.records,
        bins=mechanism.bins_for(shape.people),
        why_dropped=(
            _why_dropped(mechanism, shape.features - now.features, dropped, needed)
            if now.features
            else mechanism.too_few(shape)
        ),
    )


def _in_order(shape: Shape, table: FeatureTable | None) -> tuple[str, ...]:
    """The names of features in the public order; without a study, of eyelid's windows."""
    if table is not None:
        order, _ = public_tree(table.names)
        return tuple(table.names[place] for place in order)
    return tuple(name for name, _ in WINDOWS) if shape.features == len(WINDOWS) else ()


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
    if not mechanism.useful(shape):
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
