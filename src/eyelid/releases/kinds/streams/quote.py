"""What a release of gaze would promise and how far off it would be, before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io.column_map import Map
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
    counted_or_chosen,
)
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import told_of_choice
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.streams.distance import Distance, expected_distance
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import Budget, Counted, quoted, spent_on
from eyelid.releases.kinds.streams.plan import build_filter, touched_by
from eyelid.releases.kinds.streams.preparation import facts_of, same_for_all, shortest_of, taken_of
from eyelid.reporting.gaze_sentences import (
    RECORDED,
    guessed,
    over_recordings,
    stream_facts,
    window_told,
    worth_of,
)
from eyelid.reporting.sentences import SAYS_NOTHING

_COORDINATES = 2


@dataclass(frozen=True)
class StreamQuote(Counted):
    """A price and what it buys, from public facts only.

    Attributes:
        mechanism: the filter.
        facts: the public facts.
        shortest: samples of the shortest recording; of the longest where nobody says.
        rate_hz: samples a second, where it is known.
        alike: whether people cannot be told apart by what is not protected; nobody knows that
            without a study.
        before: what the ledger has counted of these people; None without a study.
        notes: what to know of these people before a release, for the owner's eyes.
    """

    mechanism: StreamMechanism
    facts: PublicFacts
    shortest: int
    rate_hz: float | None = None
    alike: bool = False
    before: Budget | None = None
    notes: tuple[str, ...] = ()

    @property
    def guarantee(self) -> Guarantee:
        """For the samples of a window."""
        return self.mechanism.cost(self.facts, self.mechanism.unit)

    @property
    def person_level(self) -> Guarantee:
        """For a person."""
        return self.mechanism.cost(self.facts, PERSON)

    @property
    def touched(self) -> int:
        """Recordings of a person in which the samples of a window can lie, at most."""
        return touched_by(self.mechanism, self.facts, self.shortest)

    @property
    def expected(self) -> Distance:
        """How far off released gaze will be."""
        return expected_distance(self.mechanism, self.rate_hz)

    def rows(self) -> list[tuple[str, str]]:
        """What `eyelid cost` prints as a table."""
        mechanism, expected = self.mechanism, self.expected
        window, promised = window_told(mechanism, self.rate_hz), self.guarantee
        right = f"{guessed(promised)} at most (guessing: 50 %)"
        alone = self.rank1_bound["raw_to_release"]
        # So large a bound rules out nobody.
        useful = alone is not None and alone <= SAYS_NOTHING
        named = f"{rounded_up(100 * (alone or 0.0), 3)}%" if useful else "no useful bound known"
        told = [
            ("mechanism", mechanism.name),
            ("assumed", stream_facts(self.facts)),
            ("scene", f"{mechanism.scene} ({mechanism.place.spoken_units})"),
            *([(f"for {window}", promised.numbers())] if window else []),
            *([("  two such ways of looking, told apart", right)] if window else []),
            *(
                [
                    (
                        f"  the same samples over {self.touched} recordings",
                        over_recordings(promised, self.touched).numbers(),
                    )
                ]
                if self.touched > 1
                else []
            ),
            ("for one person, in total", self.person_level.numbers()),
            ("noise", mechanism.sampler(self.facts)),
            ("off at the median, on made-up gaze", f"{expected.released:.4g} {expected.units}"),
            ("  the middle of the scene", f"{expected.constant:.4g} {expected.units}"),
            ("named, at most", named),
        ]
        if self.others:
            told.append(("with all other releases", self.in_all))
        return told

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid cost --json`` prints it."""
        mechanism, expected = self.mechanism, self.expected
        return {
            "mechanism": {"name": mechanism.name, "parameters": mechanism.parameters()},
            "shape": {
                "people": self.facts.people,
                "recordings": self.facts.recordings,
                "length": self.facts.length,
            },
            "guarantee": self.guarantee.to_dict(),
            "form": self.mechanism.form,
            "over_recordings": {
                "recordings": self.touched,
                "epsilon": over_recordings(self.guarantee, self.touched).to_dict()["epsilon"],
            },
            "person_level": self.person_level.summary()
            | {"how": mechanism.person_total(self.facts)},
            "noise": {"sampler": mechanism.sampler(self.facts), "numerics": mechanism.numerics},
            "expected_error": asdict(expected),
            "informative": expected.informative,
            "says": worth_of(expected),
            "rank1_bound": self.rank1_bound,
            "ledger": quoted(self.before, self.person_level),
            "notes": list(self.notes),
        }


def stream_cost(
    mechanism: str | Mechanism,
    source: Any = None,
    *,
    people: int | Whom = None,
    recordings: int | None = None,
    features: int | None = None,
    length: int | str | None = None,
    map: Map = None,
    eye: str | None = None,
    times: str | None = None,
    **parameters: Any,
) -> StreamQuote:
    """The guarantee and the expected error of a filter, before anything runs.

    Args:
        mechanism: the filter, by name or set.
        source: a study of samples or recordings whose public facts to take; or give them:
        people: how many people.
        recordings: how many recordings each.
        features: none: gaze is no feature.
        length: samples of the longest recording.
        map: what you say about the columns of recordings.
        eye: which of several eyes.
        times: ``recorded`` (the default) or ``regular`` time stamps: they cost the same.
        parameters: of the filter.
    """
    if features is not None:
        raise InputError("a filter takes gaze and no features: leave them out")
    count, whom = counted_or_chosen(people, study=source is not None)
    counts = {"people": count, "recordings": recordings, "length": length}
    if source is None:
        absent = [name for name, value in counts.items() if value is None]
        if absent:
            raise InputError(
                "cost needs a study, or --people, --recordings and --length (samples of a "
                f"recording); missing: {', '.join(absent)}"
            )
        numbers = {name: int(value) for name, value in counts.items() if value is not None}
        facts = PublicFacts(**numbers, features=_COORDINATES, window=1)
        return StreamQuote(build_filter(mechanism, **parameters), facts, facts.length)
    given = [name for name, value in counts.items() if value is not None]
    if given:
        raise InputError(f"the study says its {given[0]}: leave it out")
    path = Path(source) if isinstance(source, str | Path) else None
    study = source if path is None else read(path, map)
    if not isinstance(study, Study):
        raise InputError("a filter takes gaze sample by sample: give a study of samples")
    study = chosen_of(study, whom)
    taken = taken_of(study, eye, times or RECORDED)
    chosen = build_filter(mechanism, taken, **parameters)
    before, notes = None, []
    try:
        before = spent_on(study, path)
    except InputError as error:
        notes.append(f"what was released of these people before is not known: {error}")
    notes += told_of_choice(study.chosen, study.data["person"].n_unique())
    return StreamQuote(
        chosen,
        facts_of(taken),
        shortest_of(taken),
        taken.rate_hz,
        same_for_all(taken),
        before,
        tuple(notes),
    )
