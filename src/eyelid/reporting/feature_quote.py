"""What a price of features buys: how far off they would be, as figures, a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from eyelid.gaze.features.catalogue import FEW, window_feature_set
from eyelid.gaze.study import Feature
from eyelid.mechanisms.expectation import (
    CONSTANT_RMSE_OF_SPAN,
    Expectation,
    as_synthetic,
    clipped,
    expectation,
    people_needed,
    predicted,
)
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.utility import MadeUp, Prospect, prospects
from eyelid.privacy.guarantee import Kind, rounded_up
from eyelid.privacy.unit import Trust
from eyelid.reporting.quote import Offer, Quote
from eyelid.reporting.sentences import errors_in_words, facts_in_words, number
from eyelid.reporting.worth import worth
from eyelid.spelling import Table


@dataclass(frozen=True)
class FeatureOffer(Offer):
    """Features that could be released, or means over people, or synthetic participants.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
        made_up: what synthetic participants will be like, where that is what is released.
        features: of the study, with their bounds; empty without one.
    """

    mechanism: FeatureMechanism
    facts: PublicFacts
    made_up: MadeUp | None = None
    features: tuple[Feature, ...] = ()

    @property
    def says(self) -> str:
        """What the release would be worth, in words."""
        return worth(self.mechanism, self.facts, self.features)

    @property
    def useless(self) -> bool:
        """Whether nothing would be released, because these people are too few for anything."""
        return self.made_up is not None and not self.made_up.features

    @property
    def prospects(self) -> tuple[Prospect, ...]:
        """What more or fewer people would allow, of synthetic participants."""
        synthetic = as_synthetic(self.mechanism)
        return () if synthetic is None else prospects(synthetic, self.facts)

    @property
    def expected(self) -> Expectation | None:
        """How far off what is released will be; None where that depends on the people."""
        noisy = predicted(self.mechanism)
        return None if noisy is None else expectation(noisy, self.facts)

    @property
    def informative(self) -> bool | None:
        """Whether a release can be relied on, as far as public facts tell."""
        if self.made_up is not None:
            return self.made_up.informative
        return self.expected.informative if self.expected else None

    @property
    def people_needed(self) -> int | None:
        """From how many people on a mean over them would carry information, if that is known.

        That is about a recording's mean over its rows, as ``informative`` is.

        Of synthetic participants: for all features within the error that is wanted.
        """
        if self.made_up is not None:
            return self.made_up.people_needed
        noisy = predicted(self.mechanism)
        return None if noisy is None else people_needed(noisy, self.facts)

    @property
    def people_needed_for_values(self) -> int | None:
        """From how many people on single rows of a mean over them would carry information.

        They take more people than means over rows.
        """
        noisy = predicted(self.mechanism)
        return None if noisy is None else people_needed(noisy, self.facts, for_values=True)

    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""
        return asdict(self.facts)

    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints of features, besides what all releases have."""
        expected, people = self.expected, self.made_up
        errors = expected.to_dict(self.features) if expected else None
        content = {
            "expected_error": errors
            if people is None
            else {"share_of_rows": people.share_error, "correlation": people.correlation_noise},
            "informative": self.informative,
            "informative_about": expected.informative_about if expected else None,
            "people_needed": self.people_needed,
            "people_needed_for_values": self.people_needed_for_values,
            "says": self.says,
            "rank1_bound": quote.rank1_bound,
            "advantage_bound": quote.advantage_bound,
            "ledger": quote.before.quoted(quote.person_level),
            "warnings": quote.warnings,
            "notes": list(quote.notes),
        }
        if people is None:
            return content
        return content | {
            "made_up": people.to_dict(),
            "prospects": [asdict(prospect) for prospect in self.prospects],
        }

    def rows(self, quote: Quote[Any]) -> Iterator[tuple[str, str]]:
        """The table of ``eyelid cost``, row by row."""
        yield "mechanism", self._named
        yield "assumed", facts_in_words(self.mechanism, self.facts)
        yield f"for one {quote.guarantee.unit}", quote.guarantee.numbers()
        yield "for one person, in total", quote.person_level.numbers()
        if not self.useless:
            yield "noise", self._noise
        if self.expected:
            yield from _errors(self.expected, self.features)
        if self.made_up:
            yield from _of_made_up(self.made_up)
        if not self.useless:
            yield from _bounds(quote)

    @property
    def _named(self) -> str:
        """The mechanism's name, with what is inside a mean."""
        name, inner = self.mechanism.name, self.mechanism.parameters().get("inner")
        return f"{name}, with {inner} inside" if inner else name

    @property
    def _noise(self) -> str:
        """The noise in words; of synthetic participants in people, for a reader to compare."""
        return self.made_up.noise_in_words if self.made_up else self.mechanism.sampler(self.facts)

    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What ``eyelid cost`` prints below its table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study, so that nobody knows its features.
        """
        if self.prospects:
            yield from _plan(self.prospects)
        if self.useless:
            return
        yield from _made_up_lines(self.made_up, assumed=assumed)
        yield from quote.promise()
        yield from (f"Not protected is {warning}." for warning in quote.warnings)
        yield self.says
        if self.expected and len(self.features) > FEW:
            yield (
                f"The expected errors of all {len(self.features)} features are in --json "
                "(expected_error.features), and after a release in DATACARD.md."
            )


def _bounds(quote: Quote[Any]) -> Iterator[tuple[str, str]]:
    """What attackers can do at most, row by row of the table."""
    kind, others = quote.person_level.kind, quote.before.others
    alone, together = quote.rank1_bound.values()
    if kind.differential and quote.person_level.trust is Trust.CENTRAL:
        yield "advantage in membership inference", _most(quote.advantage_bound)
    elif kind is Kind.K_ANONYMITY:
        named = f"no bound: {others}" if others else _most(alone)
        yield "re-identified within a group", named
    else:
        yield "re-identified by comparing all records", _most(together)
        yield "re-identified one record at a time", _most(alone)
    if others and kind.differential:
        yield "with all other releases", quote.in_all


def _errors(errors: Expectation, features: Sequence[Feature]) -> Iterator[tuple[str, str]]:
    """How far off what is released will be, row by row of the table."""
    most = "at most " if errors.most else ""
    before = ", before clipping" if errors.clipped else ""
    in_words = partial(errors_in_words, features)
    value = "error of one value of the mean" if errors.central else "error of one value"
    yield value, f"{most}{in_words(errors.value)}{before}"
    if errors.clipped:
        yield "  clipped to the bounds", f"about {in_words(clipped(errors.value))}"
    yield "error of a recording's mean", f"{most}{in_words(errors.recording_mean)}{before}"
    if not errors.central:
        yield "error of the mean over people", f"{most}{in_words(errors.group_mean)}"
    yield "error of the data-free guess", in_words(CONSTANT_RMSE_OF_SPAN)
    if not features:
        # Nobody knows units without a study; these show what shares of ranges come to.
        own = window_feature_set()
        yield "  of one value, if they are eyelid's", errors_in_words(own, errors.value)
        yield "  of a recording's mean", errors_in_words(own, errors.recording_mean)
    else:
        shares = [errors.value, errors.recording_mean, CONSTANT_RMSE_OF_SPAN]
        yield (
            "the same as shares of a feature's range",
            f"one value {number(shares[0])}, a recording's mean {number(shares[1])}, the "
            f"data-free guess {number(shares[2])}",
        )


def _made_up_lines(people: MadeUp | None, *, assumed: bool) -> Iterator[str]:
    """How far means of synthetic participants will be off, and which features they have."""
    if people is None:
        return
    if people.mean_errors:
        errors = ", ".join(map(str, people.mean_errors))
        yield f"A feature's mean over everybody will be off by at most about: {errors}."
        if people.mean_error_sd is not None:
            yield (
                f"About {people.mean_error_sd:.2g} standard deviations of its rows are expected, "
                "which is less in the feature's unit where they lie near to each other."
            )
        if people.tasks_apart_sd is not None:
            yield (
                "The difference of two tasks' means will be off by about "
                f"{people.tasks_apart_sd:.2g} standard deviations of the feature, where everybody "
                "has both. Differences that are no larger than that come out smaller than they "
                "are, or not at all."
            )
    if people.why_dropped:
        if people.carried:
            whose = ", if they are eyelid's features of windows" if assumed else ""
            yield f"Features of synthetic participants{whose}: {', '.join(people.carried)}."
        yield f"{people.why_dropped[0].upper()}{people.why_dropped[1:]}."
        yield "Choose others with the option --only of features."


def _of_made_up(people: MadeUp) -> Iterator[tuple[str, str]]:
    """What synthetic participants will be like, row by row of the table."""
    yield "synthetic participants", f"{people.people:,}" if people.features else "none of use"
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
