"""What a release would promise and how far off it would be, as a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from eyelid.gaze.features.catalogue import FEW, window_feature_set
from eyelid.gaze.study import Feature
from eyelid.mechanisms.expectation import (
    CONSTANT_RMSE_OF_SPAN,
    Expectation,
    MadeUp,
    Prospect,
    clipped,
)
from eyelid.privacy.guarantee import Kind, rounded_up
from eyelid.privacy.unit import Trust
from eyelid.releases.kinds.features.quote import Quote
from eyelid.releases.kinds.streams.quote import StreamQuote
from eyelid.reporting.sentences import errors_told, facts_in_words, number, promise_lines
from eyelid.spelling import Table

_COLUMNS = ("what", "value")


def quote_lines(quote: Quote | StreamQuote, *, assumed: bool) -> Iterator[str | Table]:
    """The price of a release, and what it buys.

    Args:
        quote: of a release of features, or of gaze through a filter.
        assumed: whether there is no study, so that nobody knows its features.
    """
    found = quote.to_dict()
    rows = quote.rows() if isinstance(quote, StreamQuote) else list(_rows(quote, found))
    yield Table("", _COLUMNS, rows)
    if isinstance(quote, Quote):
        if quote.prospects:
            yield from _plan(quote.prospects)
        if quote.useless:
            yield found["says"]
            return
        yield from _made_up_lines(quote.made_up, assumed=assumed)
    how = found["person_level"]["how"]
    yield from promise_lines(quote.person_level, quote.others, how, found["form"])
    if quote.refused:
        yield quote.refused
    if isinstance(quote, Quote):
        yield from (f"Not protected is {warning}." for warning in quote.warnings)
    yield found["says"]
    if isinstance(quote, Quote) and quote.expected and len(quote.features) > FEW:
        yield (
            f"The expected errors of all {len(quote.features)} features are in --json "
            "(expected_error.features), and after a release in DATACARD.md."
        )


def _rows(quote: Quote, found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The table of a quote for features, row by row."""
    yield "mechanism", _named(found["mechanism"])
    yield "assumed", facts_in_words(quote.mechanism, quote.facts)
    yield f"for one {quote.guarantee.unit}", quote.guarantee.numbers()
    yield "for one person, in total", quote.person_level.numbers()
    if found["noise"]:
        yield "noise", _noise(quote)
    if quote.expected:
        yield from _errors(quote.expected, quote.features)
    if quote.made_up:
        yield from _of_made_up(quote.made_up)
    if quote.useless:
        return
    kind = quote.person_level.kind
    alone, together = quote.rank1_bound.values()
    if kind.differential and quote.person_level.trust is Trust.CENTRAL:
        yield "told whether somebody is in it", f"advantage {_most(quote.advantage_bound)}"
    elif kind is Kind.K_ANONYMITY:
        named = f"no bound: {quote.others}" if quote.others else _most(alone)
        yield "named among the members of a group", named
    else:
        yield "named by whoever compares everybody", _most(together)
        yield "named if judged one at a time", _most(alone)
    if quote.others and kind.differential:
        yield "with all other releases", quote.in_all


def _named(mechanism: dict[str, Any]) -> str:
    """A mechanism's name, with what is inside a mean."""
    inner = mechanism["parameters"].get("inner")
    return f"{mechanism['name']}, with {inner} inside" if inner else str(mechanism["name"])


def _errors(errors: Expectation, features: Sequence[Feature]) -> Iterator[tuple[str, str]]:
    """How far off what is released will be, row by row of the table."""
    most = "at most " if errors.most else ""
    before = ", before clipping" if errors.clipped else ""
    told = partial(errors_told, features)
    value = "error of one value of the mean" if errors.central else "error of one value"
    yield value, f"{most}{told(errors.value)}{before}"
    if errors.clipped:
        yield "  clipped to the bounds", f"about {told(clipped(errors.value))}"
    yield "error of a recording's mean", f"{most}{told(errors.recording_mean)}{before}"
    if not errors.central:
        yield "error of the mean over people", f"{most}{told(errors.group_mean)}"
    yield "error of a constant, on average", told(CONSTANT_RMSE_OF_SPAN)
    if not features:
        # Nobody knows units without a study; these show what shares of ranges come to.
        own = window_feature_set()
        yield "  of one value, if they are eyelid's", errors_told(own, errors.value)
        yield "  of a recording's mean", errors_told(own, errors.recording_mean)
    else:
        shares = [errors.value, errors.recording_mean, CONSTANT_RMSE_OF_SPAN]
        yield (
            "the same as shares of a feature's range",
            f"one value {number(shares[0])}, a recording's mean {number(shares[1])}, a constant "
            f"{number(shares[2])}",
        )


def _noise(quote: Quote) -> str:
    """The noise in words; of made-up people in people, whom a reader can compare it with."""
    return quote.made_up.noise_told if quote.made_up else quote.mechanism.sampler(quote.facts)


def _made_up_lines(people: MadeUp | None, *, assumed: bool) -> Iterator[str]:
    """How far means of synthetic participants will be off, and which features they have."""
    if people is None:
        return
    if people.mean_errors:
        errors = ", ".join(map(str, people.mean_errors))
        yield f"A feature's mean over everybody will be off by at most about: {errors}."
        if people.tasks_apart_sd is not None:
            yield (
                "The difference of two tasks' means will be off by about "
                f"{people.tasks_apart_sd:.2g} standard deviations of the feature, where everybody "
                "has both."
            )
    if people.why_dropped:
        if people.carried:
            whose = ", if they are eyelid's features of windows" if assumed else ""
            yield f"Features that are made up{whose}: {', '.join(people.carried)}."
        yield f"{people.why_dropped[0].upper()}{people.why_dropped[1:]}."
        yield "Others are made up if you choose them, with the option --only of features."


def _of_made_up(people: MadeUp) -> Iterator[tuple[str, str]]:
    """What made-up people will be like, row by row of the table."""
    yield "made-up people", f"{people.people:,}" if people.features else "none of use"
    yield "features of them", f"{people.features} of {people.features_there}"
    if people.share_error is not None:
        wanted = f"{people.share_error:.2g} (wanted at most {people.wanted_error:g})"
        yield "error of a task's share in a quarter", wanted
        yield "noise on a correlation", f"{people.correlation_noise:.2g}"
    many = "no number is enough" if people.people_needed is None else f"{people.people_needed:,}"
    yield "people needed for all features", many
    if not people.features and people.people_needed_for_one is not None:
        yield "people needed for one feature", f"{people.people_needed_for_one:,}"


def _plan(prospects: Sequence[Prospect]) -> Iterator[str | Table]:
    """What more or fewer people would allow, between empty lines."""
    yield ""
    yield Table(
        "With so many people",
        ["people", "features", "error of a share"],
        [(f"{p.people:,}", p.features or "none of use", _share(p.share_error)) for p in prospects],
    )
    yield ""


def _share(error: float | None) -> str:
    return "–" if error is None else f"{error:.2g}"


def _most(bound: float | None) -> str:
    return "no bound known" if bound is None else f"at most {rounded_up(100 * bound, 3)}%"
