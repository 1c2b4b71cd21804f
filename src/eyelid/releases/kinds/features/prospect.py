"""What made-up people will be like, and would be with more real ones, from public facts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.public_groups import GroupedShape
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.synthetic.public_pairs import WINDOWS
from eyelid.mechanisms.synthetic.synthetic import ALL, COMMON, Synthetic
from eyelid.mechanisms.synthetic.worth import too_few

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
class MeanError:
    """How far the mean of one feature over everybody will be off.

    Attributes:
        feature: by name.
        error: at most about, in its unit.
        unit: of the feature.
    """

    feature: str
    error: float
    unit: str

    def __str__(self) -> str:
        """With its unit, two digits."""
        unit = "" if self.unit in ("", "1") else f" {self.unit}"
        return f"{self.feature} {self.error:.2g}{unit}"


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
        mean_errors: of each feature that is carried, where their bounds are known.
        tasks_apart_sd: how far the difference of two tasks' means will be off, about, in standard
            deviations of the feature.
        tells_nobody: whether a feature that nobody has stays empty.
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
    mean_errors: tuple[MeanError, ...] = ()
    tasks_apart_sd: float | None = None
    tells_nobody: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As certificate.json and ``eyelid cost --json`` have it."""
        return asdict(self) | {
            "carried": list(self.carried),
            "dropped": list(self.dropped),
            "mean_errors": [asdict(each) for each in self.mean_errors],
        }

    @property
    def noise_told(self) -> str:
        """The noise in words, round by round."""
        return told_in_people(self.noise_in_people)


def told_in_people(noise: Mapping[str, float]) -> str:
    """The noise on counts of people in words, round by round."""
    each = ", ".join(f"{name} {sd:.3g}" for name, sd in noise.items())
    return f"discrete Gaussian on counts of people, of standard deviation: {each}"


def as_synthetic(mechanism: Mechanism) -> Synthetic | None:
    """The mechanism, where synthetic participants are what it declares to release."""
    synthetic = mechanism.release is ReleaseKind.SYNTHETIC
    return cast(Synthetic, mechanism) if synthetic else None


def made_up(mechanism: Synthetic, shape: Shape, table: FeatureTable | None = None) -> MadeUp:
    """What made-up people will be like.

    Args:
        mechanism: with its parameters.
        shape: the public facts.
        table: whose features have names; only these are looked at.
    """
    now, needed = prospect(mechanism, shape), _needed(mechanism, shape)
    names = _in_order(mechanism, shape, table)
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
            _why_dropped(mechanism, shape, dropped, needed)
            if now.features
            else too_few(mechanism, shape)
        ),
        mean_errors=_mean_errors(mechanism, table) if now.features else (),
        tasks_apart_sd=mechanism.tasks_apart(shape)
        if now.features and shape.recordings > 1
        else None,
        tells_nobody=now.features > 0 and mechanism.tells_nobody(shape),
    )


def _mean_errors(mechanism: Synthetic, table: FeatureTable | None) -> tuple[MeanError, ...]:
    if table is None:
        return ()
    units = {feature.name: feature.unit for feature in table.features}
    found = mechanism.mean_errors(table)
    return tuple(MeanError(name, error, units[name]) for name, error in found.items())


def _in_order(mechanism: Synthetic, shape: Shape, table: FeatureTable | None) -> tuple[str, ...]:
    """The names of features in the public order; without a study, of eyelid's windows."""
    names = [name for name, _ in WINDOWS] if table is None else table.names
    if shape.features != len(names):
        return ()
    order, _ = mechanism.tree(names)
    return tuple(names[place] for place in order)


def _why_dropped(
    mechanism: Synthetic, shape: Shape, names: Sequence[str], needed: int | None
) -> str:
    """Why features are left out, and which."""
    carried = mechanism.carried(shape)
    many = shape.features - carried
    if not many:
        return ""
    which = f": {', '.join(names)}" if names else ""
    if mechanism.carry == COMMON and carried < mechanism.features_within(shape):
        return (
            f"the last {many} of a public order of features, in which those that are reported most "
            f"come first, are left out, because each makes the noise on all others larger (choose "
            f"yours with 'eyelid features IN OUT --only A,B'; --set carry={ALL} carries as many as "
            f"an error of {mechanism.error:g} allows){which}"
        )
    if isinstance(mechanism.carry, int):
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
    [0, 3, 8]
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
