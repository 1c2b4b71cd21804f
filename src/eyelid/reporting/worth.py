"""What is left to see in a release, in sentences, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence

from eyelid.gaze.study import Feature
from eyelid.mechanisms.expectation import (
    MOST_ERROR,
    Expectation,
    beats_constant,
    clipped,
    constant_nearer,
    expectation,
    for_means,
    people_needed,
    predicted,
    worse_than_constant,
)
from eyelid.mechanisms.features import (
    FeatureMechanism,
)
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.unit import PERSON
from eyelid.reporting.sentences import errors_in_words, formal_only, number, percent


def worth(mechanism: FeatureMechanism, facts: PublicFacts, features: Sequence[Feature] = ()) -> str:
    """What is left to see in the release, from public facts alone.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
        features: with the bounds that values are clipped to, so that errors are in their units.
    """
    noisy = predicted(mechanism)
    if noisy is None:
        return mechanism.worth(facts)
    expected = expectation(noisy, facts)
    known = features if errors_have_units(mechanism) else ()
    if expected.most:
        off = errors_in_words(known, expected.value)
        return (
            f"The noise depends on the data: one value is off by {off} at most, perhaps by much "
            "less. There is no valid guarantee, so it hides nothing for certain."
        )
    figures = [_errors(expected, facts, known), noisy.cut_off(facts)]
    if not expected.informative:
        person_level = mechanism.cost(facts, PERSON)
        said = [
            _instead_of_noise(noisy, facts),
            _verdict(expected, person_level),
            *figures,
            _what_would(noisy, facts, expected, person_level, known),
        ]
    elif not beats_constant(expected.value):
        single = _beaten("single values", expected.value)
        said = [f"Means over rows carry information. {single}", *figures]
    else:
        said = figures
    return " ".join(sentence for sentence in said if sentence)


def errors_have_units(mechanism: FeatureMechanism) -> bool:
    """Whether the expected error is that of each feature, and not an average over all."""
    return not mechanism.core.measures_bins


def _errors(expected: Expectation, facts: PublicFacts, features: Sequence[Feature]) -> str:
    """How far off what is released will be, in the units of features; shares of ranges aside."""
    parts: list[str] = []
    what = "of one value of the mean" if expected.central else "of one value"
    mean = "of a group's mean over its rows" if expected.central else "of a recording's mean"
    for name, error in ((what, expected.value), (mean, expected.recording_mean)):
        if parts and facts.length == 1:
            break
        aside = [f"{number(error)} of a feature's range"] if features else []
        if expected.clipped:
            after = f", about {number(clipped(error))} after" if not parts else ""
            aside.append(f"before clipping to the bounds{after}")
        remarks = f" ({'; '.join(aside)})" if aside else ""
        parts.append(f"{name}: {errors_in_words(features, error)}{remarks}")
    return f"Expected error {'; '.join(parts)}."


def _instead_of_noise(mechanism: FeatureMechanism, facts: PublicFacts) -> str:
    """What to take instead of noisy means of groups that are too small, said before anything."""
    if mechanism.release is not ReleaseKind.RANDOM_MEANS:
        return ""
    needed = people_needed(mechanism, facts)
    enough = needed is not None and needed <= facts.people
    return (
        f"Means of {mechanism.smallest(facts)} people drown in the noise of this ε. One mean over "
        f"all {facts.people} people (groupmean) has the least noise"
        f"{'' if enough else ', though still too much'}; without an ε, ksame gives means without "
        "noise and k-anonymity."
    )


def _verdict(expected: Expectation, person_level: Guarantee) -> str:
    """Why a release carries no information to rely on."""
    nothing = worse_than_constant(expected.recording_mean)
    beaten = _beaten("even means over rows", expected.recording_mean)
    amount = "almost no" if nothing else "little"
    if expected.central:
        return f"{beaten} This release carries {amount} information."
    # Errors are of one feature; only the guarantee speaks of all of them together.
    if _next_to_nothing(person_level):
        return f"{beaten} This release carries {amount} information about a person's own features."
    feature = "almost nothing" if nothing else "little"
    return f"{beaten} One feature says {feature}; all together may still re-identify people."


def _beaten(what: str, error: float) -> str:
    """How an error compares with the data-free guess."""
    if worse_than_constant(error):
        return (
            f"{what[0].upper()}{what[1:]} are farther from the truth than the data-free guess (the "
            "middle of the bounds)."
        )
    return (
        f"For {percent(constant_nearer(error))} of all values that the bounds allow, the data-free "
        f"guess (their middle) is nearer the truth than {what}."
    )


def _what_would(
    mechanism: FeatureMechanism,
    facts: PublicFacts,
    expected: Expectation,
    person_level: Guarantee,
    features: Sequence[Feature],
) -> str:
    """What would carry information instead."""
    people, own = people_needed(mechanism, facts), mechanism.core
    smaller = own.units[own.units.index(mechanism.unit.name) + 1 :]
    weaker = [unit for unit in smaller if unit in mechanism.units]
    many = f"the mean over {people:,} people or more" if people else ""
    if many and mechanism.release.of_means:
        many += " in each group" if mechanism.smallest(facts) < facts.people else ""
    elif many:
        many += f" (groupmean with {for_means(mechanism, facts).name} inside)"
    ways = [
        many,
        f"an openly weaker unit ({', '.join(weaker)})" if weaker else "",
        "fewer features (--only of features) or recordings",
        # Where the promise means nothing any more, less of it is no advice.
        "" if formal_only(person_level) else "a larger ε",
    ]
    more = f"More would be seen with {_either([way for way in ways if way])}."
    if people:
        more += f" Over so many people, {_relied_on(features)}."
    if expected.central or not beats_constant(expected.group_mean):
        return more
    return (
        f"The mean of what is released over all {facts.people} people is off by "
        f"{errors_in_words(features, expected.group_mean)}. {more}"
    )


def _relied_on(features: Sequence[Feature]) -> str:
    """What a mean over the people that are needed is like."""
    aside = f" ({MOST_ERROR:g} of a feature's range)" if features else ""
    return f"a recording's mean is off by less than {errors_in_words(features, MOST_ERROR)}{aside}"


def _either(ways: list[str]) -> str:
    """One or the other.

    >>> _either(["a"]), _either(["a", "b", "c"])
    ('a', 'a, b, or c')
    """
    return ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"


def _next_to_nothing(person_level: Guarantee) -> bool:
    """Whether the guarantee itself rules out that much is learned about a person."""
    loss = person_level.epsilon if person_level.mu is None else person_level.mu
    return loss is not None and loss <= 1.0
