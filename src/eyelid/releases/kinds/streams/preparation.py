"""The gaze that a filter takes: which samples, what is known of them piece by piece and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.errors import InputError, unknown
from eyelid.gaze.events.blinks import MIN_CONFIDENCE
from eyelid.gaze.study import RECORDING_KEY, Study, check
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.io.release_folder import person_digests
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.reporting.gaze_sentences import RECORDED, REGULAR, TIMES

KEYS = ["person", "recording", "task", "stimulus", "time_ms"]


@dataclass(frozen=True)
class GazeFacts:
    """What a plan needs to know of gaze; the gaze itself stays with its reader.

    Attributes:
        people: their names, in order.
        recordings: how many there are.
        samples: how many these have.
        facts: the public facts.
        shortest: samples of the shortest recording.
        seen: whether any sample is not lost.
        digests: of what is taken of each person.
        shown: of what is released as it is, one for each way in which people differ.
    """

    people: tuple[str, ...]
    recordings: int
    samples: int
    facts: PublicFacts
    shortest: int
    seen: bool
    digests: tuple[bytes, ...]
    shown: frozenset[bytes]

    @cached_property
    def digest_of(self) -> dict[str, bytes]:
        """The digest of what is taken of each person, by name."""
        return dict(zip(self.people, self.digests, strict=True))

    @property
    def alike(self) -> bool:
        """Whether everybody has the same recordings, time stamps and lost samples."""
        return len(self.shown) == 1


def gaze_facts_of(taken: Study) -> GazeFacts:
    """The facts of what a filter takes of some people.

    Args:
        taken: see `taken_of`.
    """
    data = taken.data
    return GazeFacts(
        people=tuple(data["person"].unique(maintain_order=True)),
        recordings=data.select(RECORDING_KEY).n_unique(),
        samples=len(data),
        facts=facts_of(taken),
        shortest=shortest_of(taken),
        seen=data[gaze_columns(taken)[0]].null_count() < len(data),
        digests=tuple(person_digests(data)),
        shown=_shown(taken),
    )


def together(parts: Sequence[GazeFacts]) -> GazeFacts:
    """The facts of everybody.

    Args:
        parts: of the pieces, in order; nobody is in two of them.
    """
    shapes = [part.facts for part in parts]
    return GazeFacts(
        people=tuple(name for part in parts for name in part.people),
        recordings=sum(part.recordings for part in parts),
        samples=sum(part.samples for part in parts),
        facts=PublicFacts(
            people=sum(facts.people for facts in shapes),
            recordings=max(facts.recordings for facts in shapes),
            length=max(facts.length for facts in shapes),
            features=shapes[0].features,
            window=1,
        ),
        shortest=min(part.shortest for part in parts),
        seen=any(part.seen for part in parts),
        digests=tuple(digest for part in parts for digest in part.digests),
        shown=frozenset[bytes]().union(*(part.shown for part in parts)),
    )


def facts_of(taken: Study) -> PublicFacts:
    """The public facts: people, the most recordings of any person, the longest recording."""
    lengths = taken.data.group_by(RECORDING_KEY).len()
    return PublicFacts(
        people=lengths["person"].n_unique(),
        recordings=int(lengths["person"].unique_counts().max()),  # type: ignore[arg-type]
        length=int(lengths["len"].max()),  # type: ignore[arg-type]
        features=len(gaze_columns(taken)),
        window=1,
    )


def shortest_of(taken: Study) -> int:
    """Samples of the shortest recording."""
    return int(taken.data.group_by(RECORDING_KEY).len()["len"].min())  # type: ignore[arg-type]


def recordings_touched(window: int, recordings: int, shortest: int) -> int:
    """In how many recordings of a person so many samples in a row can lie, at most.

    Two of them may be touched at an end, by one sample each; those between are touched whole.

    Args:
        window: samples in a row.
        recordings: of a person, one after the other.
        shortest: samples of the shortest.

    >>> recordings_touched(30, 3, 600), recordings_touched(30, 40, 10), recordings_touched(1, 3, 9)
    (2, 4, 1)
    """
    return 1 if window == 1 else min(recordings, 2 + (window - 2) // shortest)


def same_for_all(taken: Study) -> bool:
    """Whether everybody has the same recordings, time stamps and lost samples."""
    return len(_shown(taken)) == 1


def _shown(taken: Study) -> frozenset[bytes]:
    """One digest for each way in which recordings, time stamps and lost samples are."""
    lost = pl.col(gaze_columns(taken)[0]).is_null().cast(pl.Float64)
    return frozenset(person_digests(taken.data.select(*KEYS, lost.alias("lost"))))


@dataclass(frozen=True)
class _Look:
    """What is in a piece.

    Attributes:
        eyes: that there is gaze of.
        lacking: the first person and recording, by name, without the eye that was named.
        gaze: of what is taken; None where it is not clear what that would be.
    """

    eyes: tuple[str, ...]
    lacking: tuple[str, str] | None
    gaze: GazeFacts | None


def looked_at(cut: StudyInPieces, eye: str | None, times: str, advance: Advance) -> GazeFacts:
    """The facts of everything that a filter takes, each piece read by the next free worker.

    Args:
        cut: a study of samples.
        eye: which of several eyes.
        times: whether time stamps are those recorded, or regular.
        advance: of the bar of the whole run, by recordings.
    """
    with shared(cut.head) as head:
        looks = list(each_piece(partial(_look, head, eye, times), cut, advance, "looking"))
    eyes = stated_eyes(sorted({each for look in looks for each in look.eyes}))
    lacking = min((look.lacking for look in looks if look.lacking is not None), default=None)
    check_eyes(eyes, eye, lacking)
    return together([look.gaze for look in looks if look.gaze is not None])


def _look(head: Shared[Study], eye: str | None, times: str, piece: Piece) -> _Look:
    study = piece.read(head.get())
    eyes, lacking = eyes_of(study.data), without_eye(with_lost_eye(study, eye).data, eye)
    clear = lacking is None and (len(eyes) < 2 if eye is None else eye in eyes or not any(eyes))
    return _Look(
        tuple(eyes), lacking, gaze_facts_of(taken_of(study, eye, times)) if clear else None
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
    return gaze_of(study, data, eye, times)


def check_kind(study: Study) -> None:
    """Refuse what has no samples."""
    if study.kind != "samples":
        raise InputError(
            f"a filter takes gaze sample by sample, and this is a study of {study.kind}: give the "
            "recordings"
        )


def gaze_of(study: Study, data: pl.DataFrame, eye: str | None, times: str) -> Study:
    """The gaze of a study whose eyes were checked."""
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
    """Rows of a study with time from each recording's start, as recorded or regular."""
    if times not in TIMES:
        raise unknown("kind of times", times, TIMES)
    since = pl.col("time_ms") - pl.col("time_ms").first().over(RECORDING_KEY)
    if times == REGULAR:
        if study.rate_hz is None:
            raise InputError(
                "regular times need the rate, which the study does not say: `map='rate_hz=60'`"
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

    What stands for one has a row without gaze, of no eye. A person without others counts all the
    same.

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
                f" choose one, `eye={eyes[0]}`"
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
