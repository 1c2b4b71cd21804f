"""What a release can be expected to show, against a constant that anybody could write down.

From public facts alone. Errors are root mean squares, in units of a feature's span; `error_in_unit`
gives them in the unit of a feature, which is how they are said to people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.features.catalogue import most_used
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.public_groups import GroupedFacts
from eyelid.mechanisms.means.groupmean import GroupMean
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.records.dct import DCT
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.synthetic.public_pairs import WINDOWS
from eyelid.mechanisms.synthetic.synthetic import ALL, COMMON, Synthetic
from eyelid.mechanisms.synthetic.worth import too_few
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
        constant: of a constant in the middle of the bounds, on average.
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
        """The same of everything that can be seen."""
        return {
            "values": beats_constant(self.value),
            "recording_means": beats_constant(self.recording_mean),
            "group_means": beats_constant(self.group_mean),
        }

    def of_features(self, features: Sequence[Feature]) -> tuple[FeatureError, ...]:
        """The same of each feature that has bounds, in its unit."""
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


def made_up(mechanism: Synthetic, facts: PublicFacts, table: FeatureTable | None = None) -> MadeUp:
    """What made-up people will be like.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
        table: whose features have names; only these are looked at.
    """
    now, needed = prospect(mechanism, facts), _needed(mechanism, facts)
    names = _in_order(mechanism, facts, table)
    carried, dropped = names[: now.features], names[now.features :]
    smaller = replace(facts, features=max(1, now.features))
    return MadeUp(
        people=(mechanism.made_up or facts.people) if now.features else 0,
        features=now.features,
        features_there=facts.features,
        carried=carried,
        dropped=dropped,
        share_error=now.share_error,
        share_noise=mechanism.noise_of_shares(smaller) if now.features else None,
        correlation_noise=mechanism.noise_of_correlations(facts) if now.features else None,
        noise_in_people=mechanism.noise_in_people(facts) if now.features else {},
        informative=now.features > 0 and mechanism.informative(facts),
        wanted_error=mechanism.error,
        people_needed=needed,
        people_needed_for_one=_needed(mechanism, replace(facts, features=1)),
        rows_that_count=mechanism.records,
        bins=mechanism.bins_for(facts.people),
        why_dropped=(
            _why_dropped(mechanism, facts, dropped, needed)
            if now.features
            else too_few(mechanism, facts)
        ),
        mean_errors=_mean_errors(mechanism, table) if now.features else (),
        tasks_apart_sd=mechanism.tasks_apart(facts)
        if now.features and facts.recordings > 1
        else None,
        tells_nobody=now.features > 0 and mechanism.tells_nobody(facts),
    )


def _mean_errors(mechanism: Synthetic, table: FeatureTable | None) -> tuple[MeanError, ...]:
    if table is None:
        return ()
    units = {feature.name: feature.unit for feature in table.features}
    found = mechanism.mean_errors(table)
    return tuple(MeanError(name, error, units[name]) for name, error in found.items())


def _in_order(
    mechanism: Synthetic, facts: PublicFacts, table: FeatureTable | None
) -> tuple[str, ...]:
    """The names of features in the public order; without a study, of eyelid's windows."""
    names = [name for name, _ in WINDOWS] if table is None else table.names
    if facts.features != len(names):
        return ()
    order, _ = mechanism.tree(names)
    return tuple(names[place] for place in order)


def _why_dropped(
    mechanism: Synthetic, facts: PublicFacts, names: Sequence[str], needed: int | None
) -> str:
    """Why features are left out, and which."""
    carried = mechanism.carried(facts)
    many = facts.features - carried
    if not many:
        return ""
    which = f": {', '.join(names)}" if names else ""
    if mechanism.carry == COMMON and carried < mechanism.features_within(facts):
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


def prospect(mechanism: Synthetic, facts: PublicFacts) -> Prospect:
    """What the people of a shape allow."""
    if not mechanism.useful(facts):
        return Prospect(facts.people, 0, None)
    error = mechanism.expected_share_error(facts)
    return Prospect(facts.people, mechanism.carried(facts), error)


def prospects(
    mechanism: Synthetic, facts: PublicFacts, crowds: Sequence[int] = CROWDS
) -> tuple[Prospect, ...]:
    """What more or fewer people would allow; groups keep their part of the whole.

    >>> law = Synthetic(epsilon=4.0, delta=1e-6)
    >>> [each.features for each in prospects(law, PublicFacts(20, 3, 32, 52), (20, 100, 1000))]
    [0, 3, 8]
    """
    return tuple(prospect(mechanism, _with_people(facts, people)) for people in crowds)


def _with_people(facts: PublicFacts, people: int) -> PublicFacts:
    if isinstance(facts, GroupedFacts):
        smallest = max(1, facts.smallest * people // facts.people)
        return replace(facts, people=people, smallest=smallest)
    return replace(facts, people=people)


def _needed(mechanism: Synthetic, facts: PublicFacts) -> int | None:
    try:
        return mechanism.people_needed(facts)
    except InputError:
        return None
