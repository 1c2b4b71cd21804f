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
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
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
_KEYS = ["person", "recording", "task", "stimulus", "time_ms"]


@dataclass(frozen=True, eq=False)
class StreamPlan:
    """A release of gaze that could be run.

    Attributes:
        mechanism: the filter.
        study: what it takes, see `taken_of`.
        shape: the public facts: R the most recordings of a person, n the longest one.
        bounds: the public scene.
        guarantee: for the samples of a window.
        person_level: for a person.
        alike: whether nothing that is released as it is tells people apart.
        keep: attributes of people that are released as they are.
        times: whether time stamps are those recorded, or regular.
    """

    mechanism: StreamMechanism
    study: Study
    shape: Shape
    bounds: Bounds
    guarantee: Guarantee
    person_level: Guarantee
    alike: bool
    keep: tuple[str, ...] = ()
    times: str = RECORDED

    @property
    def people(self) -> list[str]:
        """Everybody whose gaze it is."""
        return self.study.data["person"].unique(maintain_order=True).to_list()


def unprotected(times: str) -> tuple[str, ...]:
    """What released gaze shows as it is, with time stamps of one kind or the other."""
    return TIMES[times], *UNPROTECTED


def taken_of(study: Study, eye: str | None = None, times: str = RECORDED) -> Study:
    """What filters take of a study: gaze, in order of time, null where it was lost.

    Time starts with each recording. A sample below the least confidence is lost. Everything else
    that was measured is left out.

    Args:
        study: of samples.
        eye: which of several eyes.
        times: ``recorded``, or ``regular`` for numbers of samples times the public step.
    """
    if study.kind != "samples":
        raise InputError(
            f"a filter takes gaze sample by sample, and this is a study of {study.kind}: give the "
            "recordings"
        )
    data = timed(study, _of_eye(check(study).data, eye), times)
    columns = gaze_columns(study)
    seen = pl.all_horizontal(pl.col(name).cast(pl.Float64).is_finite() for name in columns)
    if "confidence" in data.columns:
        seen &= (pl.col("confidence") >= MIN_CONFIDENCE).fill_null(True)
    absent = [pl.lit("").alias(name) for name in ("task", "stimulus") if name not in data.columns]
    data = data.with_columns(absent)
    keys = [*_KEYS, "eye"] if "eye" in data.columns else _KEYS
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


def _of_eye(data: pl.DataFrame, eye: str | None) -> pl.DataFrame:
    """The rows of one eye; which one must be said, since eyes move together and each costs ε."""
    eyes = data["eye"].unique().sort().to_list() if "eye" in data.columns else []
    if eye is None:
        if len(eyes) > 1:
            raise InputError(
                f"there is gaze of several eyes ({', '.join(map(str, eyes))}), which move together:"
                f" choose one, --set eye={eyes[0]}"
            )
        return data
    if eye not in eyes:
        raise unknown("eye", eye, [str(each) for each in eyes])
    found = data.filter(pl.col("eye") == eye)
    lacking = data.select(RECORDING_KEY).unique().join(found, on=RECORDING_KEY, how="anti")
    if len(lacking):
        person, recording = lacking.sort(RECORDING_KEY).row(0)
        raise InputError(
            f"person {person}, recording {recording} has no {eye} eye: choose another, or leave "
            "the recording out"
        )
    return found


def shape_of(taken: Study) -> Shape:
    """The public facts: people, the most recordings of anybody, the longest recording."""
    lengths = taken.data.group_by(RECORDING_KEY).len()
    return Shape(
        people=lengths["person"].n_unique(),
        recordings=int(lengths["person"].unique_counts().max()),  # type: ignore[arg-type]
        length=int(lengths["len"].max()),  # type: ignore[arg-type]
        features=len(gaze_columns(taken)),
        window=1,
    )


def same_for_all(taken: Study) -> bool:
    """Whether everybody has the same recordings, time stamps and lost samples."""
    lost = pl.col(gaze_columns(taken)[0]).is_null()
    shown = taken.data.select(*_KEYS, lost.alias("lost"))
    first, *others = shown.partition_by("person", maintain_order=True, include_key=False)
    return all(first.equals(other) for other in others)


def make_stream_plan(
    taken: Study,
    mechanism: StreamMechanism,
    noise: Randomness,
    keep: Sequence[str] = (),
    *,
    told: bool = False,
    times: str = RECORDED,
) -> StreamPlan:
    """Check everything that can be checked before anything is spent or written.

    Args:
        taken: see `taken_of`.
        mechanism: the filter.
        noise: where it will come from.
        keep: attributes of people to release as they are.
        told: whether somebody said what the scene is, and not the study.
        times: whether time stamps are those recorded, or regular.
    """
    if taken.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    if taken.data[gaze_columns(taken)[0]].null_count() == len(taken.data):
        raise InputError("all samples are lost: there is nothing to release")
    attributes = [name for name in taken.people.columns if name != "person"]
    for name in keep:
        if name not in attributes:
            raise unknown("column to keep", name, attributes)
    shape = shape_of(taken)
    reasons = () if noise.private else (SEEDED,)
    return StreamPlan(
        mechanism=mechanism,
        study=taken,
        shape=shape,
        bounds=bounds_of(mechanism, told),
        guarantee=mechanism.cost(shape, mechanism.unit).broken(*reasons),
        person_level=mechanism.cost(shape, PERSON).broken(*reasons),
        alike=not keep and same_for_all(taken),
        keep=tuple(keep),
        times=times,
    )


def filtered(law: StreamMechanism, taken: Study, noise: Randomness) -> Study:
    """Every recording as a stream of its own through a filter; nothing is lost any more."""
    columns, place, parts = gaze_columns(taken), law.place, []
    for recording in taken.recordings():
        x, y = place.to_plane(*(recording[name] for name in columns))
        parts.append(place.from_plane(*law.start(noise).push_many(x, y)))
    together = [np.concatenate(part) for part in zip(*parts, strict=True)]
    values = [pl.Series(name, part) for name, part in zip(columns, together, strict=True)]
    return replace(taken, data=taken.data.with_columns(values))
