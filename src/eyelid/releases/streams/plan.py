"""Everything about a release of gaze that is settled before noise is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.events.blinks import MIN_CONFIDENCE
from eyelid.gaze.study import RECORDING_KEY, Study, check
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
from eyelid.releases.streams.facts import KEYS, GazeFacts, recordings_touched
from eyelid.releases.streams.scene import bounds_of

RECORDED, REGULAR = "recorded", "regular"
# What is said of time stamps that were recorded, and of those that are the numbers of samples.
TIMES = {
    RECORDED: "when each sample was taken: time stamps are released as recorded, from each "
    "recording's start",
    REGULAR: "the order of samples: time stamps are their numbers times the public step",
}
UNPROTECTED = (
    "which samples were lost: the last output is repeated then, so that what is released depends "
    "on them",
    "how many samples each recording has, and at what rate",
    "the number of people, that each of them took part, and the recordings of each, with what "
    "recordings, tasks and stimuli are called",
    "the names of the people as the study has them, and their order",
)


@dataclass(frozen=True, eq=False)
class StreamPlan:
    """A release of gaze that could be run.

    Attributes:
        mechanism: the filter.
        facts: of everything that it takes.
        shape: the public facts: R the most recordings of a person, n the longest one.
        bounds: the public scene.
        guarantee: for the samples of a window.
        person_level: for a person.
        alike: whether nothing that is released as it is tells people apart.
        keep: attributes of people that are released as they are.
        times: whether time stamps are those recorded, or regular.
    """

    mechanism: StreamMechanism
    facts: GazeFacts
    shape: Shape
    bounds: Bounds
    guarantee: Guarantee
    person_level: Guarantee
    alike: bool
    keep: tuple[str, ...] = ()
    times: str = RECORDED

    @property
    def touched(self) -> int:
        """Recordings of a person in which the samples of a window can lie, at most."""
        if not isinstance(self.mechanism, Filter):
            return 1
        return recordings_touched(self.mechanism.window, self.shape.recordings, self.facts.shortest)


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
    if touched == 1 or not isinstance(mechanism, Filter):
        return shown
    return *shown, (
        f"{mechanism.window} samples in a row that lie in several recordings (here in up to "
        f"{touched}): every recording starts the filter anew, and together they may cost {touched} "
        "times the ε of one"
    )


def taken_of(study: Study, eye: str | None = None, times: str = RECORDED) -> Study:
    """What filters take of a study: gaze, in order of time, null where it was lost.

    Time starts with each recording. A sample below the least confidence is lost. Everything else
    that was measured is left out.

    Args:
        study: of samples.
        eye: which of several eyes.
        times: ``recorded``, or ``regular`` for numbers of samples times the public step.
    """
    check_kind(study)
    data = with_lost_eye(check(study), eye).data
    check_eyes(eyes_of(data), eye, without_eye(data, eye))
    return _taken(study, data, eye, times)


def check_kind(study: Study) -> None:
    """Refuse what has no samples."""
    if study.kind != "samples":
        raise InputError(
            f"a filter takes gaze sample by sample, and this is a study of {study.kind}: give the "
            "recordings"
        )


def _taken(study: Study, data: pl.DataFrame, eye: str | None, times: str) -> Study:
    """The same of a study whose eyes were checked."""
    data = timed(study, data if eye is None else data.filter(pl.col("eye") == eye), times)
    columns = gaze_columns(study)
    seen = pl.all_horizontal(pl.col(name).cast(pl.Float64).is_finite() for name in columns)
    if "confidence" in data.columns:
        seen &= (pl.col("confidence") >= MIN_CONFIDENCE).fill_null(True)
    absent = [pl.lit("").alias(name) for name in ("task", "stimulus") if name not in data.columns]
    data = data.with_columns(absent)
    keys = [*KEYS, "eye"] if "eye" in data.columns else KEYS
    gaze = [pl.when(seen).then(pl.col(name).cast(pl.Float64)).alias(name) for name in columns]
    people = study.people.filter(pl.col("person").is_in(data["person"].unique().to_list()))
    return replace(
        study, data=data.select(*keys, *gaze), people=people, events=None, pupil_unit=None, notes=()
    )


def timed(study: Study, data: pl.DataFrame, times: str) -> pl.DataFrame:
    """The same rows of a study with time from each recording's start, as recorded or regular."""
    if times not in TIMES:
        raise unknown("kind of times", times, TIMES)
    since = pl.col("time_ms") - pl.col("time_ms").first().over(RECORDING_KEY)
    if times == REGULAR:
        if study.rate_hz is None:
            raise InputError(
                "regular times need the rate, which the study does not say: --map rate_hz=60"
            )
        since = pl.int_range(pl.len()).over(RECORDING_KEY) * (1000.0 / study.rate_hz)
    return data.with_columns(since.alias("time_ms"))


def eyes_of(data: pl.DataFrame) -> list[str]:
    """The eyes that there are rows of; none where no row says so.

    What stands for a recording that was lost has a row of no eye, and is no further one.
    """
    if "eye" not in data.columns:
        return []
    return stated_eyes(data["eye"].cast(pl.String).fill_null("").unique().sort().to_list())


def stated_eyes(eyes: Sequence[str]) -> list[str]:
    """Those that have a name, if any has.

    >>> stated_eyes(["", "left"]), stated_eyes([""])
    (['left'], [''])
    """
    return [eye for eye in eyes if eye] or list(eyes)


def with_lost_eye(study: Study, eye: str | None) -> Study:
    """A study in which recordings that were lost are of the eye that was named.

    What stands for one has a row without gaze, of no eye. Whoever has no other counts all the same.

    Args:
        study: of samples.
        eye: which; None where nobody asks for one.
    """
    if eye is None or "eye" not in study.data.columns:
        return study
    lost = pl.all_horizontal(
        pl.col("eye").fill_null("") == "",
        pl.len().over(RECORDING_KEY) == 1,
        *[
            ~pl.col(name).cast(pl.Float64).is_finite().fill_null(False)
            for name in gaze_columns(study)
        ],
    )
    named = pl.when(lost).then(pl.lit(eye)).otherwise("eye").alias("eye")
    return replace(study, data=study.data.with_columns(named))


def check_eyes(eyes: Sequence[str], eye: str | None, lacking: tuple[str, str] | None) -> None:
    """Refuse several eyes unless one was named: they move together, and each would cost ε.

    Args:
        eyes: that there are.
        eye: the one that was named.
        lacking: person and recording without it.
    """
    if eye is None:
        if len(eyes) > 1:
            raise InputError(
                f"there is gaze of several eyes ({', '.join(map(str, eyes))}), which move together:"
                f" choose one, --set eye={eyes[0]}"
            )
        return
    if eye not in eyes:
        raise unknown("eye", eye, [str(each) for each in eyes])
    if lacking is not None:
        person, recording = lacking
        raise InputError(
            f"person {person}, recording {recording} has no {eye} eye: choose another, or leave "
            "the recording out"
        )


def without_eye(data: pl.DataFrame, eye: str | None) -> tuple[str, str] | None:
    """The first person and recording, by name, that lack an eye.

    Args:
        data: of a study.
        eye: which; None where nobody asks for one.
    """
    if eye is None or "eye" not in data.columns:
        return None
    having = data.filter(pl.col("eye") == eye)
    lacking = data.select(RECORDING_KEY).unique().join(having, on=RECORDING_KEY, how="anti")
    return min(lacking.rows(), default=None)


def make_stream_plan(
    head: Study,
    facts: GazeFacts,
    mechanism: StreamMechanism,
    noise: Randomness,
    keep: Sequence[str] = (),
    *,
    told: bool = False,
    times: str = RECORDED,
) -> StreamPlan:
    """Check everything that can be checked before anything is spent or written.

    Args:
        head: the study; its rows are left alone.
        facts: of all that is taken of it.
        mechanism: the filter.
        noise: where it will come from.
        keep: attributes of people to release as they are.
        told: whether somebody said what the scene is, and not the study.
        times: whether time stamps are those recorded, or regular.
    """
    if head.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    if not facts.seen:
        raise InputError("all samples are lost: there is nothing to release")
    attributes = [name for name in head.people.columns if name != "person"]
    for name in keep:
        if name not in attributes:
            raise unknown("column to keep", name, attributes)
    shape = facts.shape
    reasons = () if noise.private else (SEEDED,)
    return StreamPlan(
        mechanism=mechanism,
        facts=facts,
        shape=shape,
        bounds=bounds_of(mechanism, told),
        guarantee=mechanism.cost(shape, mechanism.unit).broken(*reasons),
        person_level=mechanism.cost(shape, PERSON).broken(*reasons),
        alike=not keep and facts.alike,
        keep=tuple(keep),
        times=times,
    )


def released_head(plan: StreamPlan, head: Study) -> Study:
    """Everything about what is released but its rows.

    Args:
        plan: of the release.
        head: of the study that it is made of.
    """
    columns = _taken(head, head.data.clear(), None, plan.times)
    people = head.people.filter(pl.col("person").is_in(plan.facts.people))
    shown = people.select("person", *plan.keep)
    # The certificate says how people were chosen.
    return replace(columns, people=shown, origin=None, released=True, chosen=())


def filtered(law: StreamMechanism, taken: Study, noise: Randomness) -> Study:
    """Every recording as a stream of its own through a filter; nothing is lost any more."""
    columns, place, parts = gaze_columns(taken), law.place, []
    for recording in taken.recordings():
        x, y = place.to_plane(*(recording[name] for name in columns))
        parts.append(place.from_plane(*law.start(noise).push_many(x, y)))
    together = [np.concatenate(part) for part in zip(*parts, strict=True)]
    values = [pl.Series(name, part) for name, part in zip(columns, together, strict=True)]
    return replace(taken, data=taken.data.with_columns(values))
