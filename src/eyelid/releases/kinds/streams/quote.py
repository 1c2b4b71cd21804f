"""What a release of gaze would promise and how far off it would be, before anything runs."""

from __future__ import annotations

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
from eyelid.mechanisms.certificate import choice_notes
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import spent_on
from eyelid.releases.kinds.streams.plan import build_filter, touched_by
from eyelid.releases.kinds.streams.preparation import facts_of, same_for_all, shortest_of, taken_of
from eyelid.reporting.budget import UNCOUNTED, Budget
from eyelid.reporting.gaze_quote import GazeOffer
from eyelid.reporting.gaze_sentences import RECORDED
from eyelid.reporting.quote import Quote

_COORDINATES = 2


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
) -> Quote[GazeOffer]:
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
                "cost needs a study, or `people`, `recordings` and `length` (samples of a "
                f"recording); missing: {', '.join(absent)}"
            )
        numbers = {name: int(value) for name, value in counts.items() if value is not None}
        facts = PublicFacts(**numbers, features=_COORDINATES, window=1)
        chosen = build_filter(mechanism, **parameters)
        # Nobody has said that any recording is shorter than the longest.
        offer = GazeOffer(chosen, facts, touched_by(chosen, facts, facts.length))
        # Nobody knows without a study whether people are told apart by what is not protected.
        return _quote(offer, alike=False)
    given = [name for name, value in counts.items() if value is not None]
    if given:
        raise InputError(f"the study says its {given[0]}: leave it out")
    path = Path(source) if isinstance(source, str | Path) else None
    study = source if path is None else read(path, map)
    if not isinstance(study, Study):
        raise InputError("a filter takes gaze sample by sample: give a study of samples")
    study = chosen_of(study, whom)
    taken = taken_of(study, eye, times or RECORDED)
    chosen, facts = build_filter(mechanism, taken, **parameters), facts_of(taken)
    before, notes = UNCOUNTED, []
    try:
        before = spent_on(study, path)
    except InputError as error:
        notes.append(f"what was released of these people before is not known: {error}")
    notes += choice_notes(study.chosen, study.data["person"].n_unique())
    touched = touched_by(chosen, facts, shortest_of(taken))
    offer = GazeOffer(chosen, facts, touched, taken.rate_hz)
    return _quote(offer, alike=same_for_all(taken), before=before, notes=tuple(notes))


def _quote(
    offer: GazeOffer, *, alike: bool, before: Budget = UNCOUNTED, notes: tuple[str, ...] = ()
) -> Quote[GazeOffer]:
    """The price of a filter: for the samples of a window, and for a person."""
    chosen, facts = offer.mechanism, offer.facts
    return Quote(
        offer,
        guarantee=chosen.cost(facts, chosen.unit),
        person_level=chosen.cost(facts, PERSON),
        how=chosen.person_total(facts),
        form=chosen.form,
        alike=alike,
        before=before,
        notes=notes,
    )
