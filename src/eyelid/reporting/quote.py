"""A price and what it buys, before anything runs: what every kind of release has of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import polars as pl

from eyelid.display import Framed
from eyelid.mechanisms.certificate import NARROWEST_FORM, bounding
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.synthetic.utility import MadeUp
from eyelid.privacy.guarantee import Guarantee, large_deltas
from eyelid.privacy.rank1 import advantage_bound, rank1_bounds
from eyelid.privacy.unit import Trust
from eyelid.reporting.budget import UNCOUNTED, Budget
from eyelid.reporting.sentences import promise_lines
from eyelid.spelling import Table, plural


class Offer(ABC):
    """What is particular to one kind of release: figures from public facts, and their words.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
        made_up: what synthetic participants will be like, where that is what is released.
    """

    mechanism: Mechanism
    facts: PublicFacts
    made_up: MadeUp | None = None

    @property
    @abstractmethod
    def says(self) -> str:
        """What the release would be worth, in words."""

    @property
    def in_brief(self) -> str:
        """What it would be worth, in a sentence."""
        if self.informative is None or self.made_up is not None:
            return self.says
        if self.informative:
            return "What is released carries information."
        enough = self.people_needed
        people = plural(self.facts.people, "person", "people")
        few = f"Too much noise to rely on what is released of {people}"
        return f"{few}; means over {enough:,} could be relied on." if enough else f"{few}."

    @property
    def instead(self) -> Sequence[str]:
        """What would keep more of these people, with the commands; mostly nothing."""
        return ()

    @property
    def useless(self) -> bool:
        """Whether nothing would be released, so that there is no noise to speak of."""
        return False

    @property
    def expected(self) -> Any:
        """How far off what is released will be; None where that depends on the people."""
        return None

    @property
    def informative(self) -> bool | None:
        """Whether a release can be relied on, as far as public facts tell."""
        return None

    @property
    def people_needed(self) -> int | None:
        """From how many people on it would carry information, if that is known."""
        return None

    @abstractmethod
    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""

    @abstractmethod
    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints of this kind of release, besides what all have."""

    @abstractmethod
    def rows(self, quote: Quote[Any]) -> Iterable[tuple[str, str]]:
        """What ``eyelid cost`` prints as a table."""

    @abstractmethod
    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What it prints below that table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study, so that nobody knows its features.
        """


Offered = TypeVar("Offered", bound=Offer)


@dataclass(frozen=True, repr=False)
class Quote(Framed, Generic[Offered]):
    """A price and what it buys, from public facts only.

    Attributes:
        offer: what is particular to the kind of release.
        guarantee: for the unit asked for.
        person_level: for a person.
        how: how that total comes about.
        form: what a person's data may be exchanged for under the guarantee.
        alike: whether what is not protected is the same for all people.
        before: what the ledger has counted of these people.
        notes: what to know of these people before a release, for the owner's eyes.
    """

    offer: Offered
    guarantee: Guarantee
    person_level: Guarantee
    how: str
    form: str = NARROWEST_FORM
    alike: bool = True
    before: Budget = UNCOUNTED
    notes: tuple[str, ...] = ()

    @property
    def mechanism(self) -> Mechanism:
        """With its parameters."""
        return self.offer.mechanism

    @property
    def facts(self) -> PublicFacts:
        """The public facts."""
        return self.offer.facts

    @property
    def made_up(self) -> MadeUp | None:
        """What synthetic participants will be like, where that is what is released."""
        return self.offer.made_up

    @property
    def expected(self) -> Any:
        """How far off what is released will be; None where that depends on the people."""
        return self.offer.expected

    @property
    def informative(self) -> bool | None:
        """Whether a release can be relied on, as far as public facts tell."""
        return self.offer.informative

    @property
    def people_needed(self) -> int | None:
        """From how many people on it would carry information, if that is known."""
        return self.offer.people_needed

    @property
    def total(self) -> Guarantee | None:
        """What it would come to with all other releases; None where these may not all be known."""
        return self.before.after(self.person_level)

    @property
    def in_all(self) -> str:
        """What it would come to with all other releases, in a few words."""
        total, others = self.total, self.before.others
        if total is None:
            return f"not known ({others})"
        return total.numbers() if total.holds else f"no bound ({others})"

    @property
    def refused(self) -> str:
        """Why the ledger's limit would refuse the release; empty where it would not."""
        return self.before.refusal(self.person_level)

    @property
    def warnings(self) -> list[str]:
        """What every δ that is stated leaves unprotected, where it is at least 1/N."""
        return large_deltas(self.facts.people, self.person_level, self.total)

    @property
    def rank1_bound(self) -> dict[str, float | None]:
        """How often people can be named, at most, with everything that is counted."""
        known = bounding(self.person_level, self.total, 1 + len(self.before.debits))
        # What else was released may tell people apart where it is not known.
        alike = self.alike and not self.before.gaps
        return rank1_bounds(known if alike else known.broken("told apart"), self.facts.people)

    @property
    def advantage_bound(self) -> float | None:
        """Largest advantage in membership inference from an aggregate; None for records."""
        central = self.person_level.trust is Trust.CENTRAL
        return advantage_bound(self.person_level) if central else None

    @property
    def frame(self) -> pl.DataFrame:
        """The price and what it buys, one row a fact."""
        rows = [(str(what), str(value)) for what, value in self.offer.rows(self)]
        return pl.DataFrame(rows, schema=["what", "value"], orient="row")

    def in_short(self) -> Table:
        """What is promised, and what it buys."""
        return Table(
            f"Cost of {self.mechanism.name}", ("what", "value"), list(self.offer.rows(self))
        )

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid cost --json`` prints it."""
        mechanism = self.mechanism
        return {
            "mechanism": {"name": mechanism.name, "parameters": mechanism.parameters()},
            "shape": self.offer.public(),
            "guarantee": self.guarantee.to_dict(),
            "form": self.form,
            "person_level": self.person_level.summary() | {"how": self.how},
            "noise": None
            if self.offer.useless
            else {"sampler": mechanism.sampler(self.facts), "numerics": mechanism.numerics},
        } | self.offer.to_dict(self)

    @property
    def verdict(self) -> Iterator[str]:
        """What is promised, what that leaves to see, and what must not be missed: first of all."""
        if self.offer.useless:
            yield self.offer.says
            return
        if not self.guarantee.holds:
            yield from promise_lines(self.guarantee, self.before.others, self.how, self.form)
            return
        told = [f"One person, in total: {self.person_level.numbers()}."]
        if self.guarantee.unit.name not in ("person", "event"):
            told.insert(0, f"One {self.guarantee.unit}: {self.guarantee.numbers()}.")
        yield f"{' '.join(told)} {self.offer.in_brief}".rstrip()
        yield from self.offer.instead
        yield from filter(None, (self.refused,))
        yield from (f"Not protected is {warning}." for warning in self.warnings)

    def lines(self, *, assumed: bool = False, verbose: bool = True) -> Iterator[str | Table]:
        """The price, and what it buys, for people: the verdict, a table, then everything else.

        Args:
            assumed: whether there is no study, so that nobody knows its features.
            verbose: whether to say everything, and not only tables.
        """
        yield from self.verdict
        yield Table("", ("what", "value"), list(self.offer.rows(self)))
        for part in self.offer.lines(self, assumed=assumed):
            if verbose or isinstance(part, Table):
                yield part

    def promise(self) -> list[str]:
        """What a person would be promised, and why a ledger would refuse that, in words."""
        said = promise_lines(self.person_level, self.before.others, self.how, self.form)
        return [*said, self.refused] if self.refused else said
