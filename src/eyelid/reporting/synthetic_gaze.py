"""Synthetic recordings in words: what is measured, what is the norm's, what a price buys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eyelid.gaze.study import Study
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.gaze_mechanism import GazeMechanism
from eyelid.mechanisms.groups.partition import groups_in_words
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.rank1 import advantage_bound
from eyelid.reporting.consent import for_participants
from eyelid.reporting.quote import Offer, Quote
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import in_unit, number, percent
from eyelid.spelling import Table, plural

Facts = Mapping[str, Any]
LENGTHS = {
    "planned": "as long as they were planned to be",
    "asked": "as was asked for",
    "usual": "a default: nobody said how long recordings were planned to be, and how long they "
    "were is not looked at",
}
"""Where the length of synthetic recordings is from."""
_SPREADS = {
    "measured": "measured",
    "norm, wider": "the norm's × 1.25",
    "norm": "the norm's",
}


def worth_of_generator(certificate: Certificate) -> str:
    """What is left to see in synthetic recordings, in a few sentences, from public facts.

    Args:
        certificate: of the release.
    """
    assert certificate.generated is not None, "the certificate is of something else"
    return said_of(certificate.generated, private=certificate.guarantee.kind.differential)


def said_of(generated: Facts, *, private: bool) -> str:
    """What is measured, how far off it will be, and what is the norm's.

    Args:
        generated: public facts of synthetic recordings, as a certificate has them.
        private: whether there is noise.
    """
    measured = [row["name"] for row in generated["parameters"] if row["means"] != "norm"]
    every = len(generated["parameters"])
    drawn = generated["generator"]
    if not private:
        said = [
            f"{len(measured)} of {every} parameters of each task are means of groups without "
            "noise; spreads between people are the norm's.",
            _places_in_words(drawn, noisy=False),
        ]
    elif not measured:
        said = [
            "Everything but the map's average is the norm's: no parameter of eye movements is "
            "measured of these people.",
            _places_in_words(drawn, noisy=True),
        ]
    else:
        error = generated["parameters"][0]["error_in_sd"] or next(
            row["error_in_sd"] for row in generated["parameters"] if row["error_in_sd"] is not None
        )
        spreads = (
            "spreads between people are measured too"
            if drawn["spreads"] == "paid"
            else "spreads between people are 1.25 times the norm's"
        )
        of = {
            "task": "of each task",
            "some": "of each task or, of eyes and trackers, over all tasks",
            "all": "over all tasks",
        }[drawn["means"]]
        said = [
            f"{len(measured)} of {every} parameters are measured {of}, each with an error of about "
            f"{number(error, 2)} standard deviations between people; {spreads}.",
            _places_in_words(drawn, noisy=True),
        ]
    return " ".join([*said, "A recording is nobody's: what is kept is what these numbers say."])


def _places_in_words(drawn: Facts, *, noisy: bool) -> str:
    if drawn["places"] == "norm":
        return "Places are the norm's, around the middle of the screen."
    columns, rows = drawn["grid"]
    maps = plural(drawn["maps"], "map")
    of = {"stimulus": "stimuli", "task": "tasks", "screen": "the whole screen"}[drawn["places"]]
    wrong = f"; about {percent(drawn['place_error'])} of gaze is at a wrong place" if noisy else ""
    return f"Places are from {maps} of {of}, {columns} × {rows} cells each{wrong}."


def instead(mechanism: Mechanism, generated: Facts, source: str, people: int) -> list[str]:
    """What would keep more of so few people, with the commands; nothing where enough is kept.

    Args:
        mechanism: that is asked for.
        generated: public facts of synthetic recordings.
        source: what the study is called.
        people: how many.
    """
    drawn = generated["generator"]
    if not mechanism.kind.differential or drawn["means"] != "norm":
        return []
    epsilon = mechanism.parameters()["epsilon"]
    stimulus = next((stimulus for _, stimulus in generated["recordings"] if stimulus), "STIMULUS")
    k = 5 if people >= 10 else 2
    return [
        f"of {people} people at ε = {epsilon:g} everything but the map's average is the norm's. "
        "More is kept by",
        f"  eyelid release {source} OUT --mechanism ksame-gaze --set k={k}    (k-anonymity, no ε)",
        f"  eyelid summary {source} OUT --epsilon {epsilon:g}    (averages with intervals)",
        f"  eyelid heatmap {source} OUT --stimulus '{stimulus}' --epsilon {epsilon:g}    (a map)",
    ]


def gaze_card(certificate: Certificate, released: Study, mechanism: GazeMechanism) -> str:
    """The text of DATACARD.md, from public facts alone.

    Args:
        certificate: of the release.
        released: everything about it but its rows.
        mechanism: with its parameters.
    """
    generated = certificate.generated
    assert generated is not None, "the certificate is of something else"
    return rendered(
        "syntheticgazecard.md.j2",
        certificate=certificate,
        generated=generated,
        study=released,
        mechanism=mechanism,
        lengths=LENGTHS[generated["minutes_from"]],
        groups=""
        if mechanism.kind.differential
        else groups_in_words(certificate.people, certificate.parameters["k"]),
        differential=mechanism.kind.differential,
        tasks=len({task for task, _ in generated["recordings"]}),
        parameters=list(map(_row, generated["parameters"])),
        worth=worth_of_generator(certificate),
        advantage=advantage_bound(certificate.person_level),
        for_participants=for_participants(certificate),
        proof_note=mechanism.note.summary.replace("``", "`"),
        takes=mechanism.note.takes.replace("``", "`"),
    )


def _row(parameter: Facts) -> dict[str, str]:
    """A parameter in a table for people."""
    unit = parameter["unit"]
    error = parameter["error"]
    return {
        "name": parameter["name"],
        "definition": parameter["definition"],
        "means": f"measured {parameter['means']}" if parameter["means"] != "norm" else "the norm's",
        "error": "–" if error is None else f"± {in_unit(error, unit)}",
        "spread": _SPREADS[parameter["spread"]],
        "norm": in_unit(parameter["norm"], unit),
        "why": parameter["why_norm"],
    }


@dataclass(frozen=True)
class SyntheticGazeOffer(Offer):
    """Synthetic recordings that could be released.

    Attributes:
        mechanism: with its parameters.
        facts: what is public.
        generated: public facts, as a certificate would have them.
        source: what the study is called.
    """

    mechanism: GazeMechanism
    facts: GazeDesignFacts
    generated: Facts
    source: str = "IN"

    @property
    def says(self) -> str:
        """What is left to see, in words."""
        return said_of(self.generated, private=self.mechanism.kind.differential)

    @property
    def in_brief(self) -> str:
        """What is measured, in words."""
        return self.says

    @property
    def informative(self) -> bool:
        """Whether parameters of eye movements are measured."""
        return bool(self.generated["generator"]["means"] != "norm")

    @property
    def instead(self) -> Sequence[str]:
        """What would keep more of so few people."""
        return instead(self.mechanism, self.generated, self.source, self.facts.people)

    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""
        facts = self.facts
        return {
            "people": facts.people,
            "recordings": facts.recordings,
            "length": facts.length,
            "rate_hz": facts.rate_hz,
            "minutes": facts.minutes,
        }

    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints besides what all releases have."""
        return {
            "generated": dict(self.generated),
            "informative": self.informative,
            "says": self.says,
            "instead": [line.strip() for line in self.instead],
            "rank1_bound": quote.rank1_bound,
            "advantage_bound": quote.advantage_bound,
            "ledger": quote.before.quoted(quote.person_level),
            "notes": list(quote.notes),
        }

    def rows(self, quote: Quote[Any]) -> Iterator[tuple[str, str]]:
        """The table of ``eyelid cost``, row by row."""
        facts, drawn = self.facts, self.generated["generator"]
        yield "mechanism", self.mechanism.name
        yield (
            "assumed",
            f"{plural(facts.people, 'person', 'people')}, "
            f"{plural(len(facts.tasks), 'task')}, {plural(facts.recordings, 'recording')} of each "
            f"synthetic participant",
        )
        yield (
            "each recording",
            f"{number(facts.minutes)} min at {number(facts.rate_hz)} Hz "
            f"({LENGTHS[facts.minutes_from].partition(':')[0]})",
        )
        yield "for one person, in total", quote.person_level.numbers()
        if self.mechanism.kind.differential:
            yield "share of ε for places", percent(drawn["share_of_places"])
            if quote.advantage_bound is not None:
                bound = f"at most {rounded_up(100 * quote.advantage_bound, 3)}%"
                yield "membership inference, better than chance by", bound
        yield "noise", self.mechanism.sampler(facts)
        if quote.before.others:
            yield "with all other releases", quote.in_all

    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What ``eyelid cost`` prints below its table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study.
        """
        columns = ["parameter", "mean", "error", "spread between people", "norm"]
        rows = [
            (row["name"], row["means"], row["error"], row["spread"], row["norm"])
            for row in map(_row, self.generated["parameters"])
        ]
        yield Table("Parameters of eye movements", columns, rows)
        yield from quote.promise()
