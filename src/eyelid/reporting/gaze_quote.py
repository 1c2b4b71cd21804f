"""What a price of gaze itself buys: how far off it would be, as figures, a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.distance import Distance, expected_distance
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.gaze_sentences import (
    guessed,
    over_recordings,
    stream_facts,
    window_in_words,
    worth_of,
)
from eyelid.reporting.quote import Offer, Quote
from eyelid.reporting.sentences import SAYS_NOTHING
from eyelid.spelling import Table


@dataclass(frozen=True)
class GazeOffer(Offer):
    """Gaze that could be released sample by sample, through a filter.

    Attributes:
        mechanism: the filter.
        facts: the public facts.
        touched: recordings of a person in which the samples of a window can lie, at most.
        rate_hz: samples a second, where it is known.
    """

    mechanism: StreamMechanism
    facts: PublicFacts
    touched: int
    rate_hz: float | None = None

    @property
    def says(self) -> str:
        """What the release would be worth, in words."""
        return worth_of(self.expected)

    @property
    def expected(self) -> Distance:
        """How far off released gaze will be."""
        return expected_distance(self.mechanism, self.rate_hz)

    @property
    def in_brief(self) -> str:
        """What a single released sample tells, in words."""
        return self.says

    @property
    def informative(self) -> bool:
        """Whether a single released sample tells where a participant looked."""
        return self.expected.informative

    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""
        facts = self.facts
        return {"people": facts.people, "recordings": facts.recordings, "length": facts.length}

    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints of gaze, besides what all releases have."""
        expected = self.expected
        return {
            "over_recordings": {
                "recordings": self.touched,
                "epsilon": over_recordings(quote.guarantee, self.touched).to_dict()["epsilon"],
            },
            "expected_error": asdict(expected),
            "informative": expected.informative,
            "says": worth_of(expected),
            "rank1_bound": quote.rank1_bound,
            "ledger": quote.before.quoted(quote.person_level),
            "notes": list(quote.notes),
        }

    def rows(self, quote: Quote[Any]) -> Iterator[tuple[str, str]]:
        """The table of ``eyelid cost``, row by row."""
        chosen, expected, promised = self.mechanism, self.expected, quote.guarantee
        yield "mechanism", chosen.name
        yield "assumed", stream_facts(self.facts)
        yield "scene", f"{chosen.scene} ({chosen.place.spoken_units})"
        window = window_in_words(chosen, self.rate_hz)
        if window:
            yield f"for {window}", promised.numbers()
            right = f"{guessed(promised)} at most (guessing: 50%)"
            yield "  two such ways of looking, distinguished", right
        if self.touched > 1:
            together = over_recordings(promised, self.touched)
            yield f"  the same samples over {self.touched} recordings", together.numbers()
        yield "for one person, in total", quote.person_level.numbers()
        yield "noise", chosen.sampler(self.facts)
        yield "median error, on simulated gaze", f"{expected.released:.4g} {expected.units}"
        yield "  the middle of the scene", f"{expected.constant:.4g} {expected.units}"
        alone = quote.rank1_bound["raw_to_release"]
        # So large a bound rules out nobody.
        useful = alone is not None and alone <= SAYS_NOTHING
        bound = (
            f"at most {rounded_up(100 * (alone or 0.0), 3)}%" if useful else "no useful bound known"
        )
        yield "re-identified", bound
        if quote.before.others:
            yield "with all other releases", quote.in_all

    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What ``eyelid cost`` prints below its table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study.
        """
        yield from quote.promise()
        yield self.says
