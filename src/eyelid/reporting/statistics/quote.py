"""What a price of results buys: how exact each will be, as figures, a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.quote import Offer, Quote
from eyelid.reporting.sentences import in_unit, number, percent
from eyelid.reporting.statistics.tables import spoken
from eyelid.spelling import Table, plural


@dataclass(frozen=True)
class Exactness:
    """How exact one result will be, of people who are as norms say.

    Attributes:
        noise_sd: of the noise, in the result's unit; None where that depends on the people.
        width: of the 95% interval, from end to end, in the same.
        effect: the smallest that a test at 5% finds with power .8, in the same; None where there
            is no test, or none so large.
        relative: the width in standard deviations between people, of shares and relations as it is;
            None of what is not told in these.
        assumed: whether nobody knows how people are spread, and the width of the range stands for
            it.
        shares: of sampling, noise and clipping in the squared width.
    """

    noise_sd: float | None
    width: float
    effect: float | None
    relative: float | None
    assumed: bool = False
    shares: tuple[float, ...] = ()


@dataclass(frozen=True)
class ResultForeseen:
    """One result before there is one.

    Attributes:
        measure: what will be measured.
        task: where.
        group: of whom.
        statistic: what of it.
        unit: of it.
        people: how many.
        exact: how exact it will be; None where that depends on the people.
    """

    measure: str
    task: str
    group: str
    statistic: str
    unit: str
    people: int
    exact: Exactness | None

    def cells(self) -> list[str]:
        """A row of the table for people."""
        found = self.exact
        what = [self.measure, self.task or "all", self.group, spoken(self.statistic)]
        if found is None:
            return [*what, str(self.people), "not known beforehand", "–", "–", "–"]
        assumed = " *" if found.assumed else ""
        noise, effect = (
            "–" if value is None else in_unit(value, self.unit)
            for value in (found.noise_sd, found.effect)
        )
        half = in_unit(found.width / 2, self.unit)
        of_noise = percent(found.shares[1]) if found.shares else "–"
        return [*what, str(self.people), noise, f"± {half}{assumed}", of_noise, effect]


@dataclass(frozen=True)
class RangeForeseen:
    """The range that people's numbers are limited to, and what becomes of those outside of it.

    Attributes:
        measure: what will be measured.
        task: where.
        unit: of it.
        lower: end of the range.
        upper: the other end.
        source: the norm, or that there is none.
        off: how far a mean is off, should the norm be one standard deviation off; None where there
            is no norm, or nobody is clipped.
        worst: how far it is off at worst, for each hundredth of people outside of the range; of
            logarithms a factor; None where there is no limit.
        logarithms: whether they are averaged.
    """

    measure: str
    task: str
    unit: str
    lower: float
    upper: float
    source: str
    off: float | None
    worst: float | None
    logarithms: bool = False

    def cells(self) -> list[str]:
        """A row of the table for people."""
        worst = "no limit" if self.worst is None else in_unit(self.worst, self.unit)
        if self.worst is not None and self.logarithms:
            worst = f"a factor of {number(self.worst)}"
        nobody = self.off is None
        unit = "" if self.unit in ("", "1") else f" {self.unit}".replace(" 1/", "/")
        return [
            self.measure,
            self.task or "all",
            f"{number(self.lower)} to {number(self.upper)}{unit}",
            self.source,
            self._off_in_words(),
            "nobody is outside" if nobody else worst,
        ]

    def _off_in_words(self) -> str:
        """How far a mean is off; less than a thousandth of the range is next to nothing."""
        if self.off is None:
            return "–"
        least = (self.upper - self.lower) / 1000
        return (
            in_unit(self.off, self.unit) if self.off > least else f"< {in_unit(least, self.unit)}"
        )


@dataclass(frozen=True)
class Prospect:
    """How wide intervals would be with other numbers of people.

    Attributes:
        people: how many.
        width: of the widest interval, in standard deviations between people; None where nothing
            could be released of so few.
    """

    people: int
    width: float | None


@dataclass(frozen=True)
class Wanted:
    """What an interval of a wanted width takes.

    Attributes:
        width: in standard deviations between people; of a share as a share of people.
        people: from how many on, at this ε; None where no number is enough.
        epsilon: from which on, with these people; None where none is enough.
    """

    width: float
    people: int | None
    epsilon: float | None


@dataclass(frozen=True)
class StatisticsOffer(Offer):
    """Results that could be released.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
        results: how exact each will be.
        prospects: what more or fewer people would allow.
        wanted: what a width takes, if one is wanted.
        ranges: of everybody's numbers.
        other: what the other mechanism would do, where it would do better, in words.
    """

    mechanism: Mechanism
    facts: PublicFacts
    results: tuple[ResultForeseen, ...]
    prospects: tuple[Prospect, ...] = ()
    wanted: Wanted | None = None
    ranges: tuple[RangeForeseen, ...] = ()
    other: str = ""

    @property
    def says(self) -> str:
        """How exact results will be, and what that takes, in words."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        widest = self.widest
        if widest is not None:
            yield (
                f"The widest 95% interval will be about {number(widest, 2)} standard deviations "
                "between people wide (of a share: as a share of people), if people are as norms "
                "say: sampling, noise and clipping together."
            )
        if any(each.exact is not None and each.exact.assumed for each in self.results):
            yield (
                "* No norm says how people spread: the noise is that of the bounds by definition. "
                "Widths are in sixths of these, and intervals leave room for people of any "
                "distribution with one peak."
            )
        if any(each.off is not None for each in self.ranges):
            yield (
                "Who lies outside of a range counts at its end. A norm that is wrong biases or "
                "blurs means, and never weakens the promise."
            )
        if self.other:
            yield self.other
        if self.wanted is not None:
            yield _wanted_in_words(self.wanted, self.facts.people)

    @property
    def widest(self) -> float | None:
        """Width of the widest interval, in standard deviations between people."""
        known = [each.exact.relative for each in self.results if each.exact is not None]
        return max((width for width in known if width is not None), default=None)

    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""
        return {"people": self.facts.people, "numbers": self.facts.features}

    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints of results, besides what all releases have."""
        return {
            "results": [_as_json(each) for each in self.results],
            "ranges": [asdict(each) for each in self.ranges],
            "prospects": [asdict(each) for each in self.prospects],
            "wanted": None if self.wanted is None else asdict(self.wanted),
            "advantage_bound": quote.advantage_bound,
            "says": self.says,
            "notes": list(quote.notes),
        }

    def rows(self, quote: Quote[Any]) -> Iterator[tuple[str, str]]:
        """The table of ``eyelid cost``, row by row."""
        people = plural(self.facts.people, "person", "people")
        yield "mechanism", self.mechanism.name
        yield "assumed", f"{people}, {plural(self.facts.features, 'number')} each"
        yield "for one person, in total", quote.guarantee.numbers()
        yield "noise", self.mechanism.sampler(self.facts)
        bound = quote.advantage_bound
        words = "no bound known" if bound is None else f"at most {rounded_up(bound, 3)}"
        yield "advantage in membership inference", words

    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What ``eyelid cost`` prints below its table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study.
        """
        yield ""
        columns = ["measure", "task", "group", "statistic", "N", "noise SD", "95%"]
        yield Table(
            "How exact results will be",
            [*columns, "of it noise", "finds"],
            [each.cells() for each in self.results],
        )
        yield ""
        if self.ranges:
            yield Table(
                "Ranges of people's numbers, and how far means are off by clipping",
                [
                    "measure",
                    "task",
                    "range",
                    "from",
                    "norm 1 SD off",
                    "each 1% outside",
                ],
                [each.cells() for each in self.ranges],
            )
            yield ""
        if self.prospects:
            yield Table(
                "Width of the widest interval, in standard deviations between people",
                [f"{each.people:,} people" for each in self.prospects],
                [[_width(each.width) for each in self.prospects]],
            )
            yield ""
        yield (
            "'of it noise' is the share of noise in the squared width; the rest is sampling and "
            "clipping. 'finds' is the smallest effect that a test at 5% finds in four of five "
            "studies: of a share beyond one half."
        )
        yield from quote.promise()
        yield self.says


def _as_json(result: ResultForeseen) -> dict[str, Any]:
    found = result.exact
    about = {
        name: getattr(result, name)
        for name in ("measure", "task", "group", "statistic", "unit", "people")
    }
    if found is None:
        return about | dict.fromkeys(
            ("noise_sd", "width", "effect", "width_in_sd", "assumed", "shares")
        )
    return about | {
        "noise_sd": found.noise_sd,
        "width": found.width,
        "effect": found.effect,
        "width_in_sd": found.relative,
        "assumed": found.assumed,
        "shares": dict(zip(("sampling", "noise", "clipping"), found.shares, strict=False)),
    }


def _width(width: float | None) -> str:
    return "drown in noise" if width is None else number(width, 2)


def _wanted_in_words(wanted: Wanted, people: int) -> str:
    """What a wanted width takes, in words."""
    many = (
        "no number of people is enough at this ε"
        if wanted.people is None
        else f"{wanted.people:,} people at this ε"
    )
    much = (
        f"with {people:,} people no ε is enough, as sampling alone is wider"
        if wanted.epsilon is None
        else f"ε = {wanted.epsilon:g} with {people:,} people"
    )
    return f"Intervals of a width of {wanted.width:g} take {many}, or {much}."
