"""What a price of results buys: how exact each will be, as figures, a table and sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.quote import Offer, Quote
from eyelid.reporting.sentences import in_unit, number
from eyelid.reporting.statistics.tables import spoken
from eyelid.spelling import Table, plural

# Of a two-sided test at 5 % that finds four of five effects.
QUANTILE = 1.959963984540054
_POWER = 0.8416212335729143


@dataclass(frozen=True)
class Exactness:
    """How exact one result will be.

    Attributes:
        noise_sd: of the noise; of an averaged logarithm, of that.
        sampling_sd: of what other people would have given.
        sd: between people, that widths are told in; 1 of shares and relations, which have none.
        assumed: whether nobody knows ``sd``, and it is read off the width of the range.
    """

    noise_sd: float
    sampling_sd: float
    sd: float
    assumed: bool = False

    @property
    def total_sd(self) -> float:
        """Of both."""
        return math.hypot(self.noise_sd, self.sampling_sd)

    @property
    def width(self) -> float:
        """Of a 95 % interval, from end to end."""
        return 2 * QUANTILE * self.total_sd

    @property
    def effect(self) -> float:
        """The smallest difference from a known value that a test finds with power .8."""
        return (QUANTILE + _POWER) * self.total_sd

    @property
    def relative(self) -> float:
        """Width in standard deviations between people; of shares and relations as it is."""
        return self.width / self.sd


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
        scale: what a spread is multiplied by to be in the unit; of logarithms the norm's mean.
    """

    measure: str
    task: str
    group: str
    statistic: str
    unit: str
    people: int
    exact: Exactness | None
    scale: float = 1.0

    def cells(self) -> list[str]:
        """A row of the table for people."""
        found = self.exact
        what = [self.measure, self.task or "all", self.group, spoken(self.statistic)]
        if found is None:
            return [*what, str(self.people), "not known beforehand", "–", "–"]
        assumed = " *" if found.assumed else ""
        shown = [in_unit(self.scale * each, self.unit) for each in (found.noise_sd, found.width)]
        effect = in_unit(self.scale * found.effect, self.unit)
        half = in_unit(self.scale * found.width / 2, self.unit)
        return [*what, str(self.people), shown[0], f"± {half}{assumed}", f"{effect}{assumed}"]


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
        width: in standard deviations between people; of a share as it is.
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
    """

    mechanism: Mechanism
    facts: PublicFacts
    results: tuple[ResultForeseen, ...]
    prospects: tuple[Prospect, ...] = ()
    wanted: Wanted | None = None

    @property
    def says(self) -> str:
        """How exact results will be, and what that takes, in words."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        widest = self.widest
        if widest is not None:
            yield (
                f"The widest 95 % interval will be about {number(widest, 2)} standard deviations "
                "between people wide (of a share as it is): sampling and noise together, before "
                "anything is known of these people."
            )
        if any(each.exact is not None and each.exact.assumed for each in self.results):
            yield (
                "* No norm says how people spread: the noise is that of the bounds by definition, "
                "and people are taken to spread over a sixth of them."
            )
        if self.wanted is not None:
            yield _wanted_told(self.wanted, self.facts.people)

    @property
    def widest(self) -> float | None:
        """Width of the widest interval, in standard deviations between people."""
        known = [each.exact.relative for each in self.results if each.exact is not None]
        return max(known, default=None)

    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""
        return {"people": self.facts.people, "numbers": self.facts.features}

    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints of results, besides what all releases have."""
        return {
            "results": [_as_json(each) for each in self.results],
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
        words = "no bound known" if bound is None else f"advantage at most {rounded_up(bound, 3)}"
        yield "told whether somebody is in it", words

    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What ``eyelid cost`` prints below its table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study.
        """
        yield ""
        columns = ["measure", "task", "group", "statistic", "N", "noise SD", "95 %", "finds"]
        yield Table("How exact results will be", columns, [each.cells() for each in self.results])
        yield ""
        if self.prospects:
            yield Table(
                "Width of the widest interval, in standard deviations between people",
                [f"{each.people:,} people" for each in self.prospects],
                [[_width(each.width) for each in self.prospects]],
            )
            yield ""
        yield "'finds' is the smallest effect that a test at 5 % finds in four of five studies."
        yield from quote.promise()
        yield self.says


def _as_json(result: ResultForeseen) -> dict[str, Any]:
    found = result.exact
    about = {
        name: getattr(result, name)
        for name in ("measure", "task", "group", "statistic", "unit", "people")
    }
    if found is None:
        return about | dict.fromkeys(("noise_sd", "width", "effect", "width_in_sd", "assumed"))
    return about | {
        "noise_sd": result.scale * found.noise_sd,
        "width": result.scale * found.width,
        "effect": result.scale * found.effect,
        "width_in_sd": found.relative,
        "assumed": found.assumed,
    }


def _width(width: float | None) -> str:
    return "drown in noise" if width is None else number(width, 2)


def _wanted_told(wanted: Wanted, people: int) -> str:
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
