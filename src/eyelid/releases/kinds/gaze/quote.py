"""What synthetic recordings would promise and show, before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom, counted_or_chosen
from eyelid.mechanisms.gaze.facts import USUAL_MINUTES, GazeDesignFacts
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import spent_on
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.gaze.notes import public_notes
from eyelid.releases.kinds.gaze.plan import GazeDesign, build_gaze_mechanism, make_gaze_plan
from eyelid.reporting.budget import UNCOUNTED
from eyelid.reporting.quote import Quote
from eyelid.reporting.synthetic_gaze import SyntheticGazeOffer

_USUAL_HZ = 60.0


def gaze_cost(
    mechanism: str | Mechanism,
    source: Any = None,
    *,
    people: int | Whom = None,
    recordings: int | None = None,
    features: int | None = None,
    length: int | str | None = None,
    map: Map = None,
    **parameters: Any,
) -> Quote[SyntheticGazeOffer]:
    """The guarantee, and what is measured of people, before anything runs.

    Args:
        mechanism: ``synthetic-gaze`` or ``ksame-gaze``, by name or set.
        source: a study of samples or recordings whose public facts to take; or give them:
        people: how many people.
        recordings: how many tasks there are.
        features: none: parameters are the generator's.
        length: none: minutes say how long recordings are.
        map: what you say about the columns of recordings.
        parameters: of the mechanism.
    """
    if features is not None or length is not None:
        raise InputError(
            "synthetic recordings have the generator's parameters, and are as long as `minutes` "
            "says: leave features and length out"
        )
    parameters.pop("unit", None)
    made = build_gaze_mechanism(mechanism, **parameters)
    count, whom = counted_or_chosen(people, study=source is not None)
    if source is None:
        if count is None:
            raise InputError(
                "cost needs a study, or `people` and `recordings` (tasks); missing: people"
            )
        slots = tuple((f"task{number}", "") for number in range(1, (recordings or 1) + 1))
        facts = GazeDesignFacts.of(
            count,
            slots,
            rate_hz=made.rate or _USUAL_HZ,
            minutes=made.minutes or USUAL_MINUTES,
            minutes_from="usual" if made.minutes is None else "asked",
        )
        design = GazeDesign(made, facts, {})
        guarantee = made.cost(facts, PERSON)
        how = made.person_total(facts)
        offer = SyntheticGazeOffer(made, facts, design.described)
        return Quote(offer, guarantee, guarantee, how, made.form)
    given = {"people": count, "recordings": recordings}
    for name, value in given.items():
        if value is not None:
            raise InputError(f"the study says its {name}: leave it out")
    path = Path(source) if isinstance(source, str | Path) else None
    if path is None and not isinstance(source, Study):
        raise InputError("synthetic recordings are made after gaze: give a study of samples")
    cut = opened(source, map, whom)
    plan = make_gaze_plan(cut, made, randomness(None))
    name = "IN" if path is None else path.name
    before, notes = UNCOUNTED, [*cut.head.notes, *public_notes(plan.design)]
    try:
        before = spent_on(cut.entering, path)
    except InputError as error:
        notes.append(f"what was released of these people before is not known: {error}")
    return Quote(
        SyntheticGazeOffer(made, plan.design.facts, plan.design.described, name),
        plan.guarantee,
        plan.person_level,
        plan.how,
        made.form,
        alike=plan.alike,
        before=before,
        notes=tuple(notes),
    )
