"""Everything about a release of gaze that is settled before noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, cast

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.study import Study
from eyelid.mechanisms.certificate import ReleasedAs
from eyelid.mechanisms.mechanism import (
    Mechanism,
    PublicFacts,
    check_set_alone,
    find,
    mechanism_named,
)
from eyelid.mechanisms.streams.scene import Scene
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import (
    USUAL_WINDOW_MS,
    coordinates_of,
    scene_of,
    usual_radius,
    usual_window,
)
from eyelid.privacy.bounds import Bounds, BoundsSource
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import Plan
from eyelid.releases.kinds.streams.preparation import GazeFacts, gaze_of, recordings_touched
from eyelid.reporting.gaze_sentences import RECORDED, TIMES


def build_filter(
    asked: str | Mechanism, study: Study | None = None, **parameters: Any
) -> StreamMechanism:
    """A filter from what was asked for; units and scene are the study's where nobody says.

    Args:
        asked: its name, or a filter with its parameters set.
        study: whose gaze it is for; without one the scene must be told.
        parameters: None for what is left to its default.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if not isinstance(asked, str):
        check_set_alone(asked, given)
        made = cast(StreamMechanism, asked)
    else:
        name = asked
        if study is not None:
            given.setdefault("coordinates", coordinates_of(study))
            if not given.get("scene"):
                given["scene"] = scene_of(study)
        scene = Scene.of(str(given.get("coordinates", "px")), given.get("scene"))
        _check_asked(find(name), given, scene, study)
        made = mechanism_named(name, **given)  # type: ignore[assignment]
    if study is not None and made.coordinates != coordinates_of(study):
        raise InputError(
            f"{made.name} is set for gaze in {made.coordinates}, and the study has gaze in "
            f"{coordinates_of(study)}"
        )
    return made


def _check_asked(
    kind: type[Mechanism], given: dict[str, Any], scene: Scene, study: Study | None
) -> None:
    """Refuse a filter without its window or its radius, and say what they might be."""
    required = [item.name for item in fields(kind) if item.default is MISSING]
    if "window" in required and "window" not in given:
        rate_hz = study.rate_hz if study else None
        samples = usual_window(rate_hz or 60.0)
        at_rate = (
            f"{samples} samples at {rate_hz:g} Hz, `window={samples}`"
            if rate_hz is not None
            else f"{samples} samples at 60 Hz (`window={samples}`) and {usual_window(10.0)} at "
            f"10 Hz (`window={usual_window(10.0)}`); count by the fastest recording"
        )
        raise InputError(
            f"{kind.name} needs window, the samples in a row that are hidden together: "
            f"{USUAL_WINDOW_MS} ms are {at_rate}"
        )
    if "radius" in required and "radius" not in given:
        raise InputError(
            f"{kind.name} needs radius, how far each of them may have been elsewhere, in "
            f"{scene.spoken_units}: `radius={usual_radius(scene):g}`, say"
        )


def bounds_of(mechanism: StreamMechanism, scene_given: bool) -> Bounds:
    """Where released gaze lies: the scene; unit vectors in their own numbers.

    Args:
        mechanism: the filter.
        scene_given: whether the user said so, and not the study.
    """
    place = mechanism.place
    x0, y0, x1, y1 = place.plane
    source = BoundsSource.FILE if scene_given else BoundsSource.PUBLIC
    if not place.directions:
        return Bounds({"x": (x0, x1), "y": (y0, y1)}, source)
    ends = [math.radians(end) for end in (x0, y0, x1, y1)]
    return Bounds({"gaze_x": (ends[0], ends[2]), "gaze_y": (ends[1], ends[3])}, source)


UNPROTECTED = (
    "which samples were lost: the last output is repeated then, so that what is released depends "
    "on them",
    "how many samples each recording has, and at what rate",
    "the number of people, that each of them took part, and the recordings of each, with what "
    "recordings, tasks and stimuli are called",
    "the names of the people as the study has them, and their order",
)


@dataclass(frozen=True, eq=False)
class GazeDesign:
    """Gaze that could be released through a filter.

    Attributes:
        mechanism: the filter.
        gaze: facts of everything that it takes.
        times: whether time stamps are those recorded, or regular.
    """

    mechanism: StreamMechanism
    gaze: GazeFacts
    times: str = RECORDED

    @property
    def facts(self) -> PublicFacts:
        """The public facts: R the most recordings of a person, n the longest one."""
        return self.gaze.facts

    @property
    def touched(self) -> int:
        """Recordings of a person in which the samples of a window can lie, at most."""
        return touched_by(self.mechanism, self.facts, self.gaze.shortest)


def touched_by(mechanism: StreamMechanism, facts: PublicFacts, shortest: int) -> int:
    """Recordings of a person in which the samples of a window can lie, at most.

    Args:
        mechanism: the filter; one without a window hides nothing, wherever it lies.
        facts: the public facts.
        shortest: samples of the shortest recording.
    """
    return recordings_touched(mechanism.unit.length or 1, facts.recordings, shortest)


def unprotected(
    times: str, mechanism: StreamMechanism | None = None, touched: int = 1
) -> tuple[str, ...]:
    """What released gaze shows as it is, and what of it the samples of a window do not cover.

    Args:
        times: whether time stamps are those recorded, or regular.
        mechanism: the filter.
        touched: recordings in which the samples of a window can lie, at most.
    """
    shown = TIMES[times], *UNPROTECTED
    if touched == 1 or mechanism is None:
        return shown
    return *shown, (
        f"{mechanism.unit.length} samples in a row that lie in several recordings (here in up to "
        f"{touched}): every recording starts the filter anew, and together they may cost {touched} "
        "times the ε of one"
    )


def make_stream_plan(
    head: Study,
    gaze: GazeFacts,
    mechanism: StreamMechanism,
    noise: Randomness,
    keep: Sequence[str] = (),
    *,
    scene_given: bool = False,
    times: str = RECORDED,
) -> Plan[GazeDesign]:
    """Check everything that can be checked before anything is spent or written.

    Args:
        head: the study; its rows are left alone.
        gaze: facts of all that is taken of it.
        mechanism: the filter.
        noise: where it will come from.
        keep: attributes of people to release as they are.
        scene_given: whether the user said what the scene is, and not the study.
        times: whether time stamps are those recorded, or regular.
    """
    if head.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    if not gaze.seen:
        raise InputError("all samples are lost: there is nothing to release")
    attributes = [name for name in head.people.columns if name != "person"]
    for name in keep:
        if name not in attributes:
            raise unknown("column to keep", name, attributes)
    facts = gaze.facts
    reasons = () if noise.private else (SEEDED,)
    design = GazeDesign(mechanism, gaze, times)
    return Plan(
        design=design,
        what="gaze samples",
        mechanism=mechanism,
        people=gaze.people,
        guarantee=mechanism.cost(facts, mechanism.unit).broken(*reasons),
        person_level=mechanism.cost(facts, PERSON).broken(*reasons),
        how=mechanism.person_total(facts),
        bounds=bounds_of(mechanism, scene_given),
        noise=(mechanism.sampler(facts), mechanism.numerics, noise.name),
        unprotected=unprotected(times, mechanism, design.touched),
        alike=not keep and gaze.alike,
        released_as=ReleasedAs(mechanism.release),
        chosen=head.chosen,
        keep=tuple(keep),
    )


def released_head(plan: Plan[GazeDesign], head: Study) -> Study:
    """Everything about what is released but its rows.

    Args:
        plan: of the release.
        head: of the study that it is made of.
    """
    columns = gaze_of(head, head.data.clear(), None, plan.design.times)
    people = head.people.filter(pl.col("person").is_in(plan.people))
    shown = people.select("person", *plan.keep)
    # The certificate says how people were chosen.
    return replace(columns, people=shown, origin=None, released=True, chosen=())
