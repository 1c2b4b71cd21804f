"""Everything about synthetic recordings that is settled before anything is measured: all public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.generator.field import Field
from eyelid.gaze.generator.parameters import LOG, PARAMETERS, measurable
from eyelid.gaze.study import EVENT_COLUMNS, INDEX_COLUMNS, Study
from eyelid.io.pieces import StudyInPieces
from eyelid.mechanisms.certificate import ReleasedAs
from eyelid.mechanisms.gaze.facts import USUAL_MINUTES, GazeDesignFacts, GazeForm, Slot
from eyelid.mechanisms.gaze.gaze_mechanism import GazeMechanism
from eyelid.mechanisms.gaze.planning import NORM, PAID, columns_of, described, reach
from eyelid.mechanisms.gaze.portrait import range_of
from eyelid.mechanisms.mechanism import Mechanism, check_set_alone, mechanism_named
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import Plan

_MOST_SLOTS = 200
# Groups that anyone can make again are no secret.
_SEEDED_GROUPS = "groups were drawn from a seed, which shows who is in which"


@dataclass(frozen=True, eq=False)
class GazeDesign:
    """Synthetic recordings that could be released.

    Attributes:
        mechanism: with its parameters.
        facts: what is public.
        cannot: parameters that such recordings have not, and why.
        simulated: whether these people are simulated.
    """

    mechanism: GazeMechanism
    facts: GazeDesignFacts
    cannot: Mapping[str, str]
    simulated: bool = False

    @property
    def described(self) -> dict[str, Any]:
        """What a certificate tells of synthetic recordings."""
        facts, plan = self.facts, self.mechanism.bought(self.facts)
        return {
            "recordings": [list(slot) for slot in facts.slots],
            "rate_hz": facts.rate_hz,
            "minutes": facts.minutes,
            "minutes_from": facts.minutes_from,
            "samples_each": facts.length,
            "generator": described(plan, facts),
            "parameters": list(parameter_rows(self)),
        }


def parameter_rows(design: GazeDesign) -> Iterator[dict[str, Any]]:
    """Tell of every parameter whether it is measured or the norm's, and how far off it will be.

    Errors of norms are not known: 1 standard deviation between people is what is assumed.

    Args:
        design: of the release.
    """
    plan = design.mechanism.bought(design.facts)
    private = design.mechanism.kind.differential
    columns = columns_of(plan.means, NORM, design.facts)
    apart = {design.facts.measurable[which] for task, which in columns if task is not None}
    for one in PARAMETERS:
        reason = design.cannot.get(one.name, "")
        measured = plan.means != NORM and not reason
        spread = plan.spreads == PAID and not reason
        in_sd = plan.error_of(one.name)
        error = in_sd * one.between
        centre = float(one.natural(one.centre))
        yield {
            "name": one.name,
            "unit": one.unit,
            "definition": one.definition,
            "means": ("of each task" if one.name in apart else "over all tasks")
            if measured
            else "norm",
            "error": (centre * error if one.scale == LOG else error)
            if measured and private
            else None,
            "error_in_sd": in_sd if measured and private else None,
            "spread": "measured" if spread else "norm, wider" if private else "norm",
            "norm": centre,
            "why_norm": reason or ("" if measured else "the budget does not carry it"),
            "source": one.source,
        }


def build_gaze_mechanism(asked: str | Mechanism, **parameters: Any) -> GazeMechanism:
    """A mechanism of synthetic recordings from what was asked for.

    Args:
        asked: its name, or one with its parameters set.
        parameters: None for what is left to its default.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if not isinstance(asked, str):
        check_set_alone(asked, given)
        return cast(GazeMechanism, asked)
    return cast(GazeMechanism, mechanism_named(asked, **given))


def facts_of(
    cut: StudyInPieces, mechanism: GazeMechanism
) -> tuple[GazeDesignFacts, dict[str, str]]:
    """What of a study is public, and which parameters such recordings have not, and why.

    Args:
        cut: the study; of its rows nothing is looked at but which tasks and stimuli there are.
        mechanism: with its parameters.
    """
    head = cut.head
    check_gaze(head)
    columns = head.data.columns
    rate_hz = mechanism.rate or head.rate_hz
    if rate_hz is None:
        raise InputError(
            "the recordings have no one rate: say that of the synthetic ones, `rate=60` (--set "
            "rate=60)"
        )
    on_surface = {"x", "y"} <= set(columns)
    units = (head.units or "deg") if on_surface else "deg"
    screen, origin = (head.screen, head.xy_origin) if on_surface else (None, "centre")
    field = Field(units, screen, origin)
    pupil = "pupil" in columns
    can, cannot = measurable(head.rate_hz, pupil=pupil, pupil_unit=head.pupil_unit)
    minutes, source = mechanism.minutes, "asked"
    if minutes is None and head.planned_ms is not None:
        minutes, source = head.planned_ms / 60_000.0, "planned"
    elif minutes is None:
        minutes, source = USUAL_MINUTES, "usual"
    form = GazeForm(units, origin, (head.pupil_unit or "arbitrary") if pupil else None, screen)
    facts = GazeDesignFacts.of(
        head.people.height,
        slots_of(cut.recordings),
        tuple(one.name for one in can),
        rate_hz=rate_hz,
        minutes=minutes,
        minutes_from=source,
        on_surface=on_surface and field.has_screen,
        form=form,
    )
    return facts, cannot


def slots_of(recordings: pl.DataFrame) -> tuple[Slot, ...]:
    """Tasks and stimuli that any person has, by name: which there are is public.

    Args:
        recordings: of a study in pieces.
    """
    pairs = recordings.select(
        pl.col(name).fill_null("") if name in recordings.columns else pl.lit("").alias(name)
        for name in ("task", "stimulus")
    )
    slots = tuple(sorted(pairs.unique().rows()))
    if len(slots) > _MOST_SLOTS:
        raise InputError(
            f"the study has {len(slots)} different tasks and stimuli, and every synthetic "
            f"participant would have a recording of each: at most {_MOST_SLOTS} can be released; "
            "name stimuli that people share, or leave the column of stimuli out (--map)"
        )
    return slots


def check_gaze(head: Study) -> None:
    """Refuse what is no gaze, sample by sample, of people."""
    if head.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    if head.kind != "samples":
        raise InputError(
            f"synthetic recordings are made after gaze sample by sample, and this is a study of "
            f"{head.kind}: give the recordings"
        )


def make_gaze_plan(
    cut: StudyInPieces, mechanism: GazeMechanism, noise: Randomness
) -> Plan[GazeDesign]:
    """Check everything that can be checked without any rows.

    Args:
        cut: the study.
        mechanism: with its parameters.
        noise: where it will come from.
    """
    facts, cannot = facts_of(cut, mechanism)
    design = GazeDesign(mechanism, facts, cannot, cut.head.simulated)
    seeded = SEEDED if mechanism.kind.differential else _SEEDED_GROUPS
    reasons = () if noise.private else (seeded,)
    guarantee = mechanism.cost(facts, PERSON).broken(*reasons)
    return Plan(
        design=design,
        what="synthetic recordings",
        mechanism=mechanism,
        people=cut.head.people["person"].to_list(),
        guarantee=guarantee,
        person_level=guarantee,
        how=mechanism.person_total(facts),
        bounds=bounds_of(design),
        noise=(mechanism.sampler(facts), mechanism.numerics, noise.name),
        unprotected=mechanism.unprotected(facts),
        alike=True,
        released_as=ReleasedAs(mechanism.release),
        generated=design.described,
        chosen=cut.head.chosen,
    )


def bounds_of(design: GazeDesign) -> Bounds:
    """What people's parameters are clipped to."""
    plan = design.mechanism.bought(design.facts)
    if plan.means == NORM:
        return Bounds({})
    ranges = {one.name: range_of(one, plan.k * reach(one.name)) for one in design.facts.parameters}
    return Bounds({name: (each.lower, each.upper) for name, each in ranges.items()})


def released_head(head: Study, facts: GazeDesignFacts, people: pl.DataFrame) -> Study:
    """Everything about what is released but its rows.

    Args:
        head: of the study that it is made of.
        facts: what of it is public.
        people: who the synthetic participants are.
    """
    form = facts.form
    measured = ["x", "y", *(["pupil"] if form.pupil else [])]
    empty = _empty(INDEX_COLUMNS[:-1], ["time_ms", *measured])
    return replace(
        Study("samples", empty, people),
        units=form.units,
        rate_hz=facts.rate_hz,
        screen=form.screen,
        xy_origin=form.xy_origin,
        pupil_unit=form.pupil,
        planned_ms=facts.length_ms,
        events=_empty(EVENT_COLUMNS[:3], EVENT_COLUMNS[3:]),
        simulated=head.simulated,
        released=True,
    )


def _empty(texts: Sequence[str], numbers: Sequence[str]) -> pl.DataFrame:
    """A frame with columns of texts and of numbers, and no row."""
    kinds: dict[str, Any] = {**dict.fromkeys(texts, pl.String)}
    return pl.DataFrame(schema=kinds | dict.fromkeys(numbers, pl.Float64))
