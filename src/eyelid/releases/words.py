"""Guarantees in the words of the person who has to explain them."""

from __future__ import annotations

import math

from eyelid.audits.statistics import Rate
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.unit import PERSON

# A constant at the middle of the bounds is never wrong by more than half the span.
_CONSTANT_RMSE_OF_SPAN = 0.5

_LARGEST_MEANT = 10.0
# A bound on naming people above this rules out almost nothing.
SAYS_NOTHING = 0.995
FORMAL_ONLY = "At this size the promise is formal only: it rules out almost nothing."


def number(value: float) -> str:
    """A number with as many digits as help.

    >>> number(0.123456), number(16970.56), number(3.0), number(1e-6)
    ('0.123', '17000', '3', '1e-06')
    """
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    rounded = float(f"{value:.3g}")
    return f"{rounded:.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def promise(guarantee: Guarantee) -> str:
    """What a guarantee means, in one or two sentences."""
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


def formal_only(guarantee: Guarantee) -> bool:
    """Whether ε is so large that the promise means next to nothing."""
    return guarantee.epsilon is None or guarantee.epsilon > _LARGEST_MEANT


def percent(share: float) -> str:
    """A measured share; small ones keep a digit, so that 0.1 % does not become nothing.

    >>> percent(0.15), percent(0.0013), percent(0.0), percent(0.996)
    ('15 %', '0.1 %', '0 %', '99.6 %')
    """
    near_an_end = 0.0005 <= share < 0.01 or 0.99 < share < 0.9995
    return f"{100 * share:.{1 if near_an_end else 0}f} %"


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


def worth(mechanism: Mechanism, shape: Shape) -> str:
    """What is left to see in the release, from public facts alone."""
    error = mechanism.expected_rmse_of_span(shape)
    mean_error = mechanism.expected_mean_rmse_of_span(shape)
    text = f"Expected error of one value: {number(error)} times its feature's span"
    if not informative(mechanism, shape):
        weaker = mechanism.units[mechanism.units.index(mechanism.unit.name) + 1 :]
        way_out = f", an openly weaker unit ({', '.join(weaker)})" if weaker else ""
        # Errors are of one feature; only the guarantee speaks of all of them together.
        verdict = (
            "This release carries almost no information about a person's own features."
            if _next_to_nothing(mechanism.cost(shape, PERSON))
            else "One feature says almost nothing; all of them together may still name people."
        )
        return (
            f"{text}; even a recording's mean is off by {number(mean_error)} spans, more than a "
            f"constant at the middle of the bounds would be. {verdict} More would be seen in an "
            f"aggregate over many people{way_out}, or at a larger ε."
        )
    if error >= _CONSTANT_RMSE_OF_SPAN:
        return (
            f"{text}, more than a constant would have; a recording's mean over {shape.length} rows "
            f"is off by {number(mean_error)} spans: means carry information, single values do not."
        )
    return (
        f"{text}; a recording's mean over {shape.length} rows is off by {number(mean_error)} spans."
    )


def informative(mechanism: Mechanism, shape: Shape) -> bool:
    """Whether a recording's mean is expected to be nearer the truth than a public constant."""
    return mechanism.expected_mean_rmse_of_span(shape) < _CONSTANT_RMSE_OF_SPAN


def _next_to_nothing(person_level: Guarantee) -> bool:
    """Whether the guarantee itself rules out that much is learned about a person."""
    loss = person_level.epsilon if person_level.mu is None else person_level.mu
    return loss is not None and loss <= 1.0
