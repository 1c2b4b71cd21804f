"""Guarantees in the words of the person who has to explain them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eyelid.audits.statistics import Rate
from eyelid.mechanisms.anonymising import AnonymisingMechanism
from eyelid.mechanisms.features import (
    FeatureMechanism,
    PredictableMechanism,
    UnpredictableMechanism,
)
from eyelid.mechanisms.ksame import KSame
from eyelid.mechanisms.means import MeanMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.partition import group_sizes
from eyelid.mechanisms.prewindow import Prewindow
from eyelid.mechanisms.seeded import Seeded
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.unit import PERSON, Trust
from eyelid.releases.expectation import (
    Expectation,
    beats_constant,
    clipped,
    constant_nearer,
    expectation,
    for_means,
    inside,
    people_needed,
    worse_than_constant,
)

_LARGEST_MEANT = 10.0
# A bound on naming people above this rules out almost nothing.
SAYS_NOTHING = 0.995
FORMAL_ONLY = "At this size the promise is formal only: it rules out almost nothing."


def number(value: float, digits: int = 3) -> str:
    """A number with as many digits as help.

    >>> number(0.123456), number(16970.56), number(3.0), number(1e-6), number(401.2, 2)
    ('0.123', '17000', '3', '1e-06', '400')
    """
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def coarse(value: float) -> str:
    """A figure of the raw data: more than two digits would be a fingerprint of them.

    >>> coarse(0.3126), coarse(401.2)
    ('0.31', '400')
    """
    return number(value, 2)


def promise(guarantee: Guarantee) -> str:
    """What a guarantee means, in one or two sentences."""
    if guarantee.holds and guarantee.kind is Kind.K_ANONYMITY:
        return _anonymity(guarantee)
    if guarantee.holds and guarantee.kind is Kind.DENIABILITY:
        return _deniability(guarantee)
    if not guarantee.holds or not guarantee.kind.differential:
        why = "; ".join(guarantee.reasons) or "the mechanism gives none"
        return f"No privacy guarantee holds: {why}."
    epsilon = guarantee.epsilon if guarantee.epsilon is not None else math.inf
    factor = rounded_up(math.exp(epsilon), 3) if epsilon < 20 else f"e^{rounded_up(epsilon)}"
    addition = f" plus {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    text = (
        f"Replacing {guarantee.unit.meaning} by anything else of the same form (recordings, "
        "length) within the public bounds changes the probability of any output by a factor of "
        f"at most {factor}{addition} ({guarantee.numbers()})."
    )
    return f"{text} {FORMAL_ONLY}" if formal_only(guarantee) else text


def _anonymity(guarantee: Guarantee) -> str:
    """What k-anonymity means, and what it does not."""
    k = guarantee.k
    return (
        f"Every released record is the same for all of at least {k} people: whoever has other "
        f"recordings of somebody names the right one of them with probability 1/{k} at most, as "
        "long as nothing else of these people is released and they were equally likely before. "
        "Which group somebody is in is not hidden, and all members of a group but one can compute "
        "the last one's values. This is k-anonymity, not differential privacy: it has no ε, and "
        "other releases of the same people can undo it."
    )


def _deniability(guarantee: Guarantee) -> str:
    """What plausible deniability means, and what it does not."""
    gamma = rounded_up(guarantee.gamma or 1.0)
    whose = "people" if guarantee.unit == PERSON else "records"
    return (
        f"A row that was made up from somebody's is released only if at least {guarantee.k} "
        f"{whose} could each have been its source, with probabilities within a factor of {gamma} "
        "of each other: a row alone shows nobody to be its source. This is plausible deniability, "
        "not differential privacy: it has no ε, it speaks of one row at a time, and what many rows "
        "or other releases tell together has no bound."
    )


def promise_lines(guarantee: Guarantee) -> list[str]:
    """The same for a terminal: reasons are many and long, and each has its own line."""
    if guarantee.holds or not guarantee.reasons:
        return [promise(guarantee)]
    return ["No privacy guarantee holds:", *(f"- {reason}" for reason in guarantee.reasons)]


def in_all(total: Guarantee, said: Sequence[str] = ()) -> str:
    """What everything released of some people comes to; reasons that were said are not repeated."""
    if total.holds:
        return total.numbers()
    news = [reason for reason in total.reasons if reason not in said]
    return f"no bound, because {news[0]}" if news else "no bound"


def facts(mechanism: FeatureMechanism, shape: Shape) -> str:
    """The public facts that everything else follows from, about what is released."""
    if isinstance(mechanism, Seeded):
        return (
            f"{shape.people} people, {plural(shape.features, 'feature')}; "
            f"{plural(mechanism.rows, 'made-up row')} of each of {plural(shape.recordings, 'task')}"
        )
    own, most = inside(mechanism), "up to " if not mechanism.claims_to_hold else ""
    if isinstance(mechanism, KSame) and mechanism.length == "group":
        most = "at least "
    shown = own.released(shape) if isinstance(own, Prewindow) else shape
    text = (
        f"{plural(shown.people, 'person', 'people')}, up to {plural(shown.recordings, 'recording')}"
        f" each of {most}{plural(shown.length, 'row')}, {plural(shown.features, 'feature')}"
    )
    if shown is not shape:
        text += f" (measured: {plural(shape.length, 'bin')}, {plural(shape.features, 'stream')})"
    if isinstance(mechanism, MeanMechanism) and mechanism.smallest(shape) < shape.people:
        text += f"; {mechanism.smallest(shape)} people in the smallest group"
    if isinstance(mechanism, AnonymisingMechanism):
        text += f"; {groups_told(shape.people, mechanism.k)}"
    return text


def groups_told(people: int, k: int) -> str:
    """How many groups of at least k there are, and of how many people.

    >>> groups_told(20, 4), groups_told(23, 4), groups_told(5, 4)
    ('5 groups of 4', '5 groups of 4 or 5', '1 group of 5')
    """
    sizes = group_sizes(people, k)
    of = " or ".join(str(size) for size in sorted(set(sizes)))
    return f"{plural(len(sizes), 'group')} of {of}"


def released_as(mechanism: FeatureMechanism, guarantee: Guarantee) -> str:
    """What kind of thing a release is, for the owner's memory."""
    if guarantee.trust is not Trust.CENTRAL:
        return "features"
    if isinstance(mechanism, AnonymisingMechanism):
        return f"means of groups of at least {mechanism.k}"
    return "means over people" if isinstance(mechanism, MeanMechanism) else "made-up rows"


def formal_only(guarantee: Guarantee) -> bool:
    """Whether ε is so large that the promise means next to nothing."""
    return guarantee.epsilon is None or guarantee.epsilon > _LARGEST_MEANT


def percent(share: float) -> str:
    """A measured share; small ones keep a digit, so that 0.1 % does not become nothing.

    >>> percent(0.15), percent(0.0013), percent(0.0), percent(0.996)
    ('15 %', '0.1 %', '0 %', '99.6 %')
    """
    near_an_end = 0.0005 <= share < 0.01 or 0.99 < share < 0.9995
    digits = 1 if near_an_end else 0
    # Adding nothing makes a zero of what would be written as less than one.
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %"


def limits(rate: Rate) -> str:
    """Its 95 % limits over people.

    >>> limits(Rate(0.05, 0.00127, 0.2487, 0.05, 20))
    '0.1–25 %'
    """
    return f"{percent(rate.low).removesuffix(' %')}–{percent(rate.high)}"


def plural(count: int, word: str, words: str | None = None) -> str:
    """A count with its word.

    >>> plural(1, "row"), plural(2, "row"), plural(3, "person", "people")
    ('1 row', '2 rows', '3 people')
    """
    return f"{count} {word if count == 1 else words or word + 's'}"


def worth(mechanism: FeatureMechanism, shape: Shape) -> str:
    """What is left to see in the release, from public facts alone."""
    if isinstance(mechanism, UnpredictableMechanism):
        return mechanism.worth(shape)
    assert isinstance(mechanism, PredictableMechanism), "one or the other"
    expected = expectation(mechanism, shape)
    if expected.most:
        return (
            f"The noise depends on the data: one value is off by {number(expected.value)} times "
            "its feature's span at most, perhaps by much less. No guarantee holds, so it hides "
            "nothing for certain."
        )
    whose = "group's" if expected.central else "recording's"
    value, mean = number(expected.value), number(expected.recording_mean)
    if expected.clipped:
        value += f" before clipping (about {number(clipped(expected.value))} after)"
        mean += " before clipping"
    said = [
        f"Expected error in spans of a feature: of one value {value}, of a {whose} mean over its "
        f"rows {mean}.",
        mechanism.cut_off(shape),
    ]
    if not expected.informative:
        person_level = mechanism.cost(shape, PERSON)
        said.append(_verdict(expected, person_level))
        said.append(_what_would(mechanism, shape, expected, person_level))
    elif not beats_constant(expected.value):
        said.append(
            f"Means over rows carry information. {_beaten('single values', expected.value)}"
        )
    return " ".join(sentence for sentence in said if sentence)


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
    return f"{beaten} One feature says {feature}; all of them together may still name people."


def _beaten(what: str, error: float) -> str:
    """How an error compares with a constant in the middle of the bounds."""
    if worse_than_constant(error):
        return (
            f"{what[0].upper()}{what[1:]} are farther from the truth than a constant in the middle "
            "of the bounds, which anybody could write down."
        )
    return (
        f"For {percent(constant_nearer(error))} of all values that the bounds allow, a constant in "
        f"their middle, which anybody could write down, is nearer the truth than {what}."
    )


def _what_would(
    mechanism: PredictableMechanism, shape: Shape, expected: Expectation, person_level: Guarantee
) -> str:
    """What would carry information instead."""
    people, own = people_needed(mechanism, shape), inside(mechanism)
    smaller = own.units[own.units.index(mechanism.unit.name) + 1 :]
    weaker = [unit for unit in smaller if unit in mechanism.units]
    many = f"the mean over {people:,} people or more" if people else ""
    if many and isinstance(mechanism, MeanMechanism):
        many += " in each group" if mechanism.smallest(shape) < shape.people else ""
    elif many:
        many += f" (groupmean with {for_means(mechanism).name} inside)"
    ways = [
        many,
        f"an openly weaker unit ({', '.join(weaker)})" if weaker else "",
        "fewer features ('eyelid features --only') or recordings",
        # Where the promise means nothing any more, less of it is no advice.
        "" if formal_only(person_level) else "a larger ε",
    ]
    more = f"More would be seen with {_either([way for way in ways if way])}."
    if expected.central or not beats_constant(expected.group_mean):
        return more
    return (
        f"The mean of what is released over all {shape.people} people is off by "
        f"{number(expected.group_mean)} spans. {more}"
    )


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
