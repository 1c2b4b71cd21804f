"""What a release can be expected to show, against a constant that can be guessed without data.

From public facts alone. Errors are root mean squares, in units of a feature's span; `error_in_unit`
gives them in the unit of a feature, which is how they are said to people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.features.catalogue import most_used
from eyelid.gaze.study import Feature
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.means.groupmean import GroupMean
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.records.dct import DCT
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.unit import PERSON, Trust

# If nothing but its bounds is known, a value is spread evenly between them; a constant in their
# middle is then off by this much.
CONSTANT_RMSE_OF_SPAN = 1 / math.sqrt(12)

# The same constant is off by |v − ½| for a value v: less than an error e for a share 2e of all
# values. Where that is one in five or more, no release is relied on to beat the constant. Real
# features fill but a part of their bounds, often near the middle, so an average would be too kind.
_MOST_CONSTANT_NEARER = 0.2
MOST_ERROR = _MOST_CONSTANT_NEARER / 2
"""In spans: what can be relied on has a smaller error."""

_MOST_PEOPLE = 10**9


def constant_nearer(error: float) -> float:
    """The share of all values to which a constant is nearer than a release with that error.

    >>> constant_nearer(0.05), constant_nearer(7.0)
    (0.1, 1.0)
    """
    return min(1.0, 2 * error)


def beats_constant(error: float) -> bool:
    """Whether an error is small enough to rely on a release rather than on a constant.

    >>> beats_constant(0.09), beats_constant(0.11)
    (True, False)
    """
    return error < MOST_ERROR


def worse_than_constant(error: float) -> bool:
    """Whether values with that error, clipped to their bounds, are farther off than a constant.

    >>> worse_than_constant(0.3), worse_than_constant(0.4)
    (False, True)
    """
    return clipped(error) > CONSTANT_RMSE_OF_SPAN


def clipped(error: float) -> float:
    """The error that is left when noisy values are clipped to their bounds.

    Values are spread evenly, noise is Gaussian. Noise beyond t moves a value by another dt where
    the bound is farther than that, which it is for a share 1 − t of all values: the mean square is
    2·∫ 2t(1 − t)·P(noise > t) dt from 0 to 1. Endless noise leaves one of the bounds: √⅓.

    >>> round(clipped(0.1), 3), round(clipped(0.37), 3), round(clipped(1e9), 3)
    (0.095, 0.288, 0.577)
    """
    if error == 0:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(32)
    # Beyond nine standard deviations there is nothing.
    end = min(1.0, 9 * error)
    t = (nodes + 1) / 2 * end
    beyond = [math.erfc(x / error / math.sqrt(2)) for x in t]
    return math.sqrt(end * float(np.dot(weights, t * (1 - t) * beyond)))


def error_in_unit(feature: Feature, of_span: float) -> float:
    """An error in the unit of its feature, from one in spans.

    >>> round(error_in_unit(Feature("fixation_rate", "1/s", "", 0.0, 10.0), 0.088), 3)
    0.88
    """
    return of_span * feature.span


def few_of(features: Sequence[Feature]) -> list[Feature]:
    """The features to name where there is room for a few, of those that have bounds."""
    bounded = {feature.name: feature for feature in features if math.isfinite(feature.span)}
    return [bounded[name] for name in most_used(bounded)]


@dataclass(frozen=True)
class FeatureError:
    """How far off one feature of a release will be, in its own unit.

    Attributes:
        feature: its name.
        unit: of the errors.
        value: of one released value, before clipping.
        recording_mean: of a recording's mean over its rows.
        group_mean: of one value of the mean over all people; where only that is released, the same
            as `value`.
        constant: of the data-free guess, the middle of the bounds, on average.
    """

    feature: str
    unit: str
    value: float
    recording_mean: float
    group_mean: float
    constant: float


@dataclass(frozen=True)
class Expectation:
    """Errors of what can be seen in a release, in spans.

    Attributes:
        value: of one released value.
        recording_mean: of a recording's mean over its rows.
        group_mean: of one value of the mean over all people, at most; where only that is
            released, the same as `value`.
        central: whether only an aggregate over people is released.
        clipped: whether what is released is clipped to the bounds, which the errors leave out.
        most: whether the errors are no more than upper limits.
    """

    value: float
    recording_mean: float
    group_mean: float
    central: bool
    clipped: bool = False
    most: bool = False

    @property
    def informative(self) -> bool:
        """Whether a recording's mean can be relied on rather than a constant."""
        return beats_constant(self.recording_mean)

    @property
    def informative_about(self) -> dict[str, bool]:
        """Whether errors beat the range midpoint, of everything that can be seen."""
        return {
            "values": beats_constant(self.value),
            "recording_means": beats_constant(self.recording_mean),
            "group_means": beats_constant(self.group_mean),
        }

    def of_features(self, features: Sequence[Feature]) -> tuple[FeatureError, ...]:
        """The errors of each feature that has bounds, in its unit."""
        spans = (self.value, self.recording_mean, self.group_mean, CONSTANT_RMSE_OF_SPAN)
        return tuple(
            FeatureError(each.name, each.unit, *(error_in_unit(each, error) for error in spans))
            for each in features
            if math.isfinite(each.span)
        )

    def to_dict(self, features: Sequence[Feature] = ()) -> dict[str, Any]:
        """As ``eyelid cost --json`` prints it; in units of the features that are known."""
        return {
            "features": [asdict(each) for each in self.of_features(features)],
            "rmse_of_span": self.value,
            "clipped_rmse_of_span": clipped(self.value),
            "recording_mean_rmse_of_span": self.recording_mean,
            "group_mean_rmse_of_span": self.group_mean,
            "constant_rmse_of_span": CONSTANT_RMSE_OF_SPAN,
        }


def expectation(chosen: FeatureMechanism, facts: PublicFacts) -> Expectation:
    """What a release can be expected to show."""
    value = chosen.expected_rmse_of_span(facts)
    central = chosen.cost(facts, PERSON).trust is Trust.CENTRAL
    # Noise is drawn for each person anew, but what was shrunk to the middle stays there.
    averages = not (central or chosen.shrinks)
    over_people = chosen.error_in_mean(value, math.sqrt(facts.people), facts)
    return Expectation(
        value=value,
        recording_mean=chosen.expected_mean_rmse_of_span(facts),
        group_mean=over_people if averages else value,
        central=central,
        clipped=chosen.clipped,
        most=not chosen.claims_to_hold,
    )


def predicted(mechanism: Mechanism) -> FeatureMechanism | None:
    """The mechanism, where it declares that its error follows from public facts alone."""
    return cast(FeatureMechanism, mechanism) if mechanism.predictable else None


def for_means(chosen: FeatureMechanism, facts: PublicFacts) -> FeatureMechanism:
    """What to put inside `groupmean` for a mean at the same ε for the same unit.

    That of a mean, and mechanisms that were made for means, as they are; for others what
    `groupmean` chooses by public facts, as far as it knows their unit.
    """
    if chosen.release.of_means:
        return chosen.core_at(facts)
    if chosen.made_for_means or chosen.unit.name not in DCT.units:
        return chosen
    epsilon = cast(DifferentialMechanism, chosen).epsilon
    return GroupMean(epsilon=epsilon, delta=chosen.delta, unit=chosen.unit).core_at(facts)


def people_needed(
    chosen: FeatureMechanism, facts: PublicFacts, *, for_values: bool = False
) -> int | None:
    """From how many people of a group on their mean would carry information, at the same ε.

    That is about a recording's mean over its rows, as `Expectation.informative` is: by default the
    length of recordings is a generous one, and nobody needs each of their rows by itself. With
    ``for_values`` it is about single rows. The mean is that of `groupmean` with `for_means` inside.
    None where not even a billion people would do, or ε is out of reach.
    """

    def error(people: int) -> float:
        asked = replace(facts, people=people)
        own = for_means(chosen, asked)
        if own.shrinks:
            own = replace(own, averaged=people)  # type: ignore[call-arg]
        expected = own.expected_rmse_of_span if for_values else own.expected_mean_rmse_of_span
        # One person is one of so many terms of the sum, under the noise for one.
        off = expected(asked)
        return off if own.shrinks else own.error_in_mean(off, people, asked)

    try:
        return fewest(error)
    except InputError:
        # An ε that is out of reach for that mean is no fault of this release.
        return None


def fewest(error: Callable[[int], float]) -> int | None:
    """The fewest people for which an error that falls beats the constant.

    >>> fewest(lambda people: 2.0 / people), fewest(lambda people: 2.0 / people**2)
    (21, 5)
    """
    too_few, people = 1, 2
    while not beats_constant(now := error(people)):
        # Exact for an error that falls as 1/people, too far for one that falls faster.
        too_few, people = people, max(people + 1, math.ceil(people * now / MOST_ERROR))
        if people > _MOST_PEOPLE:
            return None
    middle = people - 1
    while people - too_few > 1:
        if beats_constant(error(middle)):
            people = middle
        else:
            too_few = middle
        middle = (too_few + people) // 2
    return people


def as_synthetic(mechanism: Mechanism) -> Synthetic | None:
    """The mechanism, where synthetic participants are what it declares to release."""
    synthetic = mechanism.release is ReleaseKind.SYNTHETIC
    return cast(Synthetic, mechanism) if synthetic else None
