"""What the generator is given, so that recordings measure as a portrait says.

What is measured in recordings is not quite what they were drawn after: small saccades are missed,
places bend directions. A few recordings are drawn and measured, and what went in is moved by the
difference, some times over. Nothing but the portrait and public facts goes into that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.gaze.generator.measurement import measured
from eyelid.gaze.generator.parameters import PARAMETERS, Floats
from eyelid.gaze.study import Study
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.portrait import Portrait
from eyelid.mechanisms.gaze.recordings import Block, drawn_block

FEWEST_MINUTES = 0.1
"""Recordings that are shorter show too little, and are drawn after the portrait as it is."""
_ROUNDS, _PEOPLE, _MINUTES = 4, 4, 1.0
# Of the difference that is left, what is taken over; and how far a mean may go, in deviations.
_SHARE, _FARTHEST = 0.7, 3.0
# Everybody gets the same recordings of the same portrait.
_ENTROPY = 20_261


def given_to_generator(
    portraits: Sequence[Portrait], facts: GazeDesignFacts, movement: str
) -> tuple[Portrait, ...]:
    """Portraits with means that make recordings measure as these portraits say.

    One shift serves all of them: that of the portrait in their middle.

    Args:
        portraits: as they should be measured.
        facts: what is public.
        movement: how gaze moves, as it was asked for.
    """
    if facts.minutes < FEWEST_MINUTES or not facts.measurable:
        return tuple(portraits)
    wanted = _middle(portraits)
    means = [dict(each) for each in wanted.means]
    for _ in range(_ROUNDS):
        found = _measured(replace(wanted, means=tuple(means)), facts, movement)
        for task, own in enumerate(found):
            for number, one in enumerate(facts.parameters):
                if not np.isfinite(own[number]):
                    continue
                target, reach = wanted.means[task][one.name], _FARTHEST * one.between
                moved = means[task][one.name] + _SHARE * (target - own[number])
                lower, upper = one.bounds
                moved = float(np.clip(moved, target - reach, target + reach))
                means[task][one.name] = float(np.clip(moved, lower, upper))
    shifts = [
        {name: given[name] - said[name] for name in given}
        for given, said in zip(means, wanted.means, strict=True)
    ]
    return tuple(_shifted(each, shifts) for each in portraits)


def _middle(portraits: Sequence[Portrait]) -> Portrait:
    """The mean of all portraits, of a few people who do not differ."""
    weights = [float(each.people) for each in portraits]
    tasks = range(len(portraits[0].means))
    means = tuple(
        {
            one.name: float(
                np.average([p.means[task][one.name] for p in portraits], weights=weights)
            )
            for one in PARAMETERS
        }
        for task in tasks
    )
    places = []
    for slot in range(len(portraits[0].places)):
        known = [
            (each.places[slot], weight)
            for each, weight in zip(portraits, weights, strict=True)
            if each.places[slot] is not None
        ]
        maps = [one for one, _ in known]
        share = [weight for _, weight in known]
        places.append(np.average(np.array(maps), axis=0, weights=share) if known else None)
    alike = dict.fromkeys(portraits[0].between, 0.0)
    return Portrait(_PEOPLE, means, alike, tuple(places), within=alike)


def _measured(portrait: Portrait, facts: GazeDesignFacts, movement: str) -> Floats:
    """Tasks × parameters, on their scales, of recordings that are drawn after a portrait."""
    # One recording of each task shows what the others would.
    firsts = {task: number for number, (task, _) in reversed(list(enumerate(facts.slots)))}
    chosen = [firsts[task] for task in facts.tasks]
    slots = tuple(facts.slots[number] for number in chosen)
    length = round(_MINUTES * 60 * facts.rate_hz)
    few = replace(
        facts, people=_PEOPLE, recordings=len(slots), slots=slots, minutes=_MINUTES, length=length
    )
    of_these = replace(portrait, places=tuple(portrait.places[number] for number in chosen))
    block = Block(0, 0, _PEOPLE)
    made = drawn_block(block, of_these, few, movement, facts.form, _ENTROPY)
    data = pl.concat([rows for rows, _ in made])
    form = facts.form
    study = Study(
        "samples",
        data,
        data.select(pl.col("person").unique(maintain_order=True)),
        units=form.units,
        rate_hz=facts.rate_hz,
        screen=form.screen,
        xy_origin=form.xy_origin,
        pupil_unit=form.pupil,
    )
    rows = measured(study)
    found = np.full((len(facts.tasks), len(facts.measurable)), np.nan)
    for task, name in enumerate(facts.tasks):
        mine = rows.filter(pl.col("task") == name)
        for number, one in enumerate(facts.parameters):
            values = mine[one.name].to_numpy().astype(np.float64)
            known = values[np.isfinite(values)]
            if known.size:
                found[task, number] = float(one.scaled(known).mean())
    return found


def _shifted(portrait: Portrait, shifts: Sequence[dict[str, float]]) -> Portrait:
    """A portrait with other means, within their bounds."""
    means = []
    for own, shift in zip(portrait.means, shifts, strict=True):
        moved = {}
        for one in PARAMETERS:
            lower, upper = one.bounds
            moved[one.name] = float(np.clip(own[one.name] + shift[one.name], lower, upper))
        means.append(moved)
    return replace(portrait, means=tuple(means))
