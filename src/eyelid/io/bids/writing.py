"""Write a study as a BIDS dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import EYES, RECORDING_KEY, Study, check
from eyelid.io.bids.entities import labels
from eyelid.io.bids.sidecars import (
    ADDED,
    CHOSEN,
    NAMES,
    ORIGIN,
    OWN,
    PUPIL_UNITS_IN_BIDS,
    RELEASED,
    SIMULATED,
    UNITS_IN_BIDS,
    Json,
    json_content,
    presentation_of,
    unsaid,
)
from eyelid.io.bids.tables import COLUMNS, format_of, packed, plain, table_content
from eyelid.version import build

BIDS_VERSION = "1.11.1"

Files = Iterator[tuple[str, bytes]]
"""Names from the dataset's folder on, and contents."""

_AXIS = "of a unit vector with x to the right, y up and z straight ahead"
_DESCRIPTIONS = {
    "participant_id": "a person's pseudonym",
    "timestamp": "time of the sample",
    "pupil_size": "diameter of the pupil",
    "confidence": "how sure the tracker is of the sample, from 0 to 1",
    "head_roll_deg": "how far the head is tilted clockwise, seen from behind",
    **{f"gaze_{axis}": f"{axis} {_AXIS}: gaze, seen from the head" for axis in "xyz"},
    **{f"head_{axis}": f"{axis} {_AXIS}: where the head points" for axis in "xyz"},
    "onset": "when the event begins",
    "offset_ms": "when the event ends",
    "duration": "how long the event lasts",
    "duration_ms": "how long the event lasts, to the last digit",
    "trial_type": "what kind of event it is",
}
_UNITS = {"timestamp": "ms", "onset": "ms", "offset_ms": "ms", "duration": "s", "duration_ms": "ms"}


@dataclass(frozen=True)
class RecordingName:
    """What a recording is called in a dataset.

    Attributes:
        stem: what the names of its files begin with, from the dataset's folder on.
        task: the name of its task, or its label where it has none.
        order: its place in the study.
    """

    stem: str
    task: str
    order: int


@dataclass(frozen=True)
class Names:
    """What people and recordings are called in a dataset.

    Attributes:
        people: from names to labels.
        recordings: by person and recording.
    """

    people: Mapping[str, str]
    recordings: Mapping[tuple[str, str], RecordingName]


def check_bids(study: Study) -> None:
    """Fail unless BIDS has a place for such a study; its rows do not matter."""
    if study.kind != "samples":
        raise InputError(
            f"BIDS has a place for gaze samples and none for {study.kind}: write them with --to "
            "study or --to csv"
        )


def plain_study(study: Study) -> Study:
    """The study, or some people of it, in the types that BIDS has."""
    events = None if study.events is None else plain(study.events)
    data, people = _named(plain(study.data)), plain(study.people)
    return check(study.derive(data=data, people=people, events=events))


def names_in_bids(study: Study) -> Names:
    """What people and recordings are called in a dataset.

    Args:
        study: plain; all of it, or an excerpt (`eyelid.io.study_leaks`).
    """
    people = labels(study.people["person"], nameless="person")
    tasks = labels(study.data["task"].unique(maintain_order=True), nameless="gaze")
    found = {}
    for name in _numbered(study.data):
        person, task = f"sub-{people[name['person']]}", tasks[name["task"]]
        run = f"_run-{name['run']}" if name["runs"] > 1 else ""
        found[name["person"], name["recording"]] = RecordingName(
            f"{person}/beh/{person}_task-{task}{run}", name["task"] or task, name["order"]
        )
    return Names(people, found)


def recording_files(study: Study, names: Names) -> Iterator[dict[str, bytes]]:
    """The files of each recording, by their names from the dataset's folder on.

    Args:
        study: plain; all of it, or some people.
        names: of the whole study.
    """
    events = pl.DataFrame() if study.events is None else study.events
    happened = {}
    if len(events):
        happened = events.partition_by(RECORDING_KEY, maintain_order=True, as_dict=True)
    for rows in study.data.partition_by(RECORDING_KEY, maintain_order=True):
        key = rows["person"][0], rows["recording"][0]
        name = names.recordings[key]
        own = {"order": name.order, "recording": key[1], "rate_hz": study.rate_hz}
        about = {"TaskName": name.task, OWN: own | _unchanging(rows)}
        yield dict(_of_recording(study, rows, happened.get(key, events.clear()), name.stem, about))


def _named(data: pl.DataFrame) -> pl.DataFrame:
    """Rows whose tasks, stimuli and eyes all have a name, if an empty one."""
    absent = [name for name in ("task", "stimulus") if name not in data.columns]
    data = data.with_columns(pl.lit("").alias(name) for name in absent)
    return data.with_columns(
        pl.col(name).fill_null("") for name in ("task", "stimulus", "eye") if name in data.columns
    )


def _numbered(data: pl.DataFrame) -> list[Json]:
    """The names of every recording, and its number among those of the same person and task."""
    names = data.group_by(RECORDING_KEY, maintain_order=True).agg(pl.col("task").first())
    same = ["person", "task"]
    run = pl.int_range(pl.len()).over(same) + 1
    numbered = names.with_columns(run.alias("run"), pl.len().over(same).alias("runs"))
    return numbered.with_row_index("order").to_dicts()


def _unchanging(rows: pl.DataFrame) -> Json:
    """The task and the stimulus, where they are the same throughout the recording."""
    return {n: rows[n][0] for n in ("task", "stimulus") if rows[n].n_unique() == 1}


def dataset_files(study: Study, names: Names) -> Files:
    """The files that are about everything.

    Args:
        study: plain; its rows do not matter.
        names: of people.
    """
    facts = {
        "SourceDatasets": [{"Version": "not public"}] if study.released else None,
        ORIGIN: study.origin.id if study.origin is not None else None,
        SIMULATED: study.simulated,
        RELEASED: study.released,
        CHOSEN: list(study.chosen),
    }
    about = {
        "Name": "Eye tracking",
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "derivative" if study.released else "raw",
        "GeneratedBy": [{"Name": "eyelid", "Version": build()}],
        **{key: fact for key, fact in facts.items() if fact},
    }
    yield "dataset_description.json", json_content(about)
    whose = "simulated participants" if study.simulated else "people"
    kind = (
        "A private release of recordings: what it protects stands in its certificate."
        if study.released
        else "The gaze is as it was recorded, and can identify a participant."
    )
    readme = (
        f"# Eye tracking\n\nGaze of {whose}, written by eyelid. {kind}\n\nKeys of the sidecars "
        "that begin with `Eyelid` hold what BIDS has no words for.\n"
    )
    yield "README.md", readme.encode()
    yield from _of_people(study.people, names.people)


def _of_people(people: pl.DataFrame, labelled: Mapping[str, str]) -> Files:
    ids = {name: f"sub-{label}" for name, label in labelled.items()}
    table = people.with_columns(pl.col("person").replace_strict(ids, return_dtype=pl.String))
    table = _in_bids(table, {"person": "participant_id"}, ["person"])
    about = _described({"Description": "people, and what is known about them"}, table)
    about["participant_id"][NAMES] = {
        ids[name]: name for name, label in labelled.items() if label != name
    }
    yield "participants.tsv", table_content(table, header=True)
    yield "participants.json", json_content(about)


def _in_bids(table: pl.DataFrame, names: Mapping[str, str], leading: Sequence[str]) -> pl.DataFrame:
    """The table under BIDS' names, in the order that BIDS wants."""
    _check_free(table, names.values())
    return table.select(*leading, pl.exclude(*leading)).rename(dict(names), strict=False)


def _check_free(table: pl.DataFrame, reserved: Iterable[str]) -> None:
    taken = [name for name in reserved if name in table.columns]
    if taken:
        raise InputError(f"BIDS needs the name '{taken[0]}' for something else: rename the column")


def _described(about: Json, table: pl.DataFrame) -> Json:
    """A sidecar with descriptions of the columns of its table."""
    _check_free(table, [*about, "Columns"])
    columns = {
        name: {
            "Description": _DESCRIPTIONS.get(name, name.replace("_", " ")),
            **({"Units": _UNITS[name]} if name in _UNITS else {}),
            "Format": format_of(dtype),
        }
        for name, dtype in table.schema.items()
    }
    return about | columns


def _of_recording(
    study: Study, rows: pl.DataFrame, events: pl.DataFrame, stem: str, about: Json
) -> Files:
    """The files of one recording.

    Args:
        study: that it belongs to.
        rows: its samples.
        events: its events.
        stem: what the names of its files begin with.
        about: what the sidecars of its samples say besides.
    """
    eyes = rows.partition_by("eye", maintain_order=True) if "eye" in rows.columns else [rows]
    table, shown = _shown(study, eyes[0], about["TaskName"])
    yield f"{stem}_events.tsv", table_content(table, header=True)
    yield f"{stem}_events.json", json_content(shown)
    happened = _events_of_eyes(events, eyes)
    for number, (samples, own_events) in enumerate(zip(eyes, happened, strict=True), start=1):
        eye_stem = f"{stem}_recording-eye{number}"
        yield from _of_samples(study, samples, eye_stem, about, shown)
        if len(own_events):
            yield from _of_events(own_events, eye_stem, about["TaskName"])


def _events_of_eyes(events: pl.DataFrame, eyes: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The events of each eye; those of none, or of one without samples, are with the first."""
    if "eye" not in events.columns or "eye" not in eyes[0].columns:
        return [events, *[events.clear()] * (len(eyes) - 1)]
    place = {samples["eye"][0]: number for number, samples in enumerate(eyes)}
    owner = events["eye"].replace_strict(place, default=0, return_dtype=pl.Int64)
    return [events.filter(owner == number) for number in range(len(eyes))]


def _shown(study: Study, rows: pl.DataFrame, task: str) -> tuple[pl.DataFrame, Json]:
    """Which stimulus was shown when, and on what screen: a table and its sidecar."""
    onset, end = pl.col("time_ms").first(), pl.col("time_ms").last()
    turns = rows.group_by(pl.col("stimulus").rle_id().alias("turn"), maintain_order=True).agg(
        (onset / 1000.0).alias("onset"),
        ((end - onset) / 1000.0).alias("duration"),
        pl.col("stimulus").first().replace({"": None}).alias("trial_type"),
    )
    table = turns.drop("turn")
    about = _described({"Description": "which stimulus was shown when", "TaskName": task}, table)
    about["onset"]["Units"] = "s"
    about["trial_type"]["Description"] = "the stimulus"
    about["StimulusPresentation"] = presentation_of(study.screen, study.xy_origin)
    return table, about


def _of_samples(study: Study, rows: pl.DataFrame, stem: str, about: Json, shown: Json) -> Files:
    """The samples of one eye."""
    eye = rows["eye"][0] if "eye" in rows.columns else None
    said = [name for name in ("task", "stimulus") if name in about[OWN]]
    rows = rows.drop(*RECORDING_KEY, "eye", *said, strict=False)
    angles = _angles(rows)
    table = rows.with_columns(angle.alias(name) for name, angle in angles.items())
    table = _in_bids(table, COLUMNS, ["time_ms", "x", "y"])
    system, words, units = _coordinates(study, rows)
    step_ms = table["timestamp"].diff().median()
    measured_hz = 1000.0 / step_ms if isinstance(step_ms, float) and step_ms > 0 else 0.0
    sidecar = _described(
        {
            "Description": "gaze samples of one eye",
            "PhysioType": "eyetrack",
            "RecordedEye": eye if eye in EYES else "cyclopean",
            "SampleCoordinateSystem": system,
            "SampleCoordinateSystemDescription": words,
            "SamplingFrequency": study.rate_hz or measured_hz,
            "StartTime": table["timestamp"][0] / 1000.0,
            **about,
        },
        table,
    )
    sidecar["Columns"] = table.columns
    for name in ("x", "y"):
        sidecar[COLUMNS[name]] |= {"Description": f"{name} of {words}", "Units": units}
        if name in angles:
            sidecar[COLUMNS[name]][ADDED] = True
    if study.pupil_unit is not None and "pupil" in rows.columns:
        sidecar[COLUMNS["pupil"]]["Units"] = PUPIL_UNITS_IN_BIDS[study.pupil_unit]
    sidecar[OWN] = about[OWN] | unsaid(study, sidecar, shown)
    if eye not in EYES:
        sidecar[OWN]["eye"] = eye
    yield f"{stem}_physio.tsv.gz", packed(table_content(table, header=False))
    yield f"{stem}_physio.json", json_content(sidecar)


def _angles(rows: pl.DataFrame) -> dict[str, pl.Expr]:
    """The x and y that BIDS needs, where the samples have none: degrees of the directions."""
    x, y, z = (pl.col(f"gaze_{axis}") for axis in "xyz")
    angles = {"x": pl.arctan2(x, z).degrees(), "y": pl.arctan2(y, (x**2 + z**2).sqrt()).degrees()}
    if "gaze_x" not in rows.columns:
        angles = dict.fromkeys(angles, pl.lit(None, pl.Float64))
    return {name: angle for name, angle in angles.items() if name not in rows.columns}


def _coordinates(study: Study, rows: pl.DataFrame) -> tuple[str, str, str]:
    """The coordinate system in BIDS' words and in plain ones, and the units of x and y."""
    units = UNITS_IN_BIDS.get(study.units or "", "arbitrary")
    if "x" not in rows.columns and "gaze_x" in rows.columns:
        return "eye-in-head", "gaze, as azimuth to the right and elevation upwards", "deg"
    if study.units == "normalised":
        return "custom", "the pupil in the image of an eye camera", units
    if study.units is None or study.xy_origin is None:
        return "custom", "gaze, from where is not known", units
    down = "down" if study.xy_origin == "top-left" else "up"
    corner = study.xy_origin.replace("-", " ")
    return "gaze-on-screen", f"gaze on the screen, right and {down} from its {corner}", units


def _of_events(events: pl.DataFrame, stem: str, task: str) -> Files:
    """The events of one eye."""
    _check_free(events, ["duration"])
    table = events.drop(RECORDING_KEY).with_columns(
        (pl.col("duration_ms") / 1000.0).alias("duration")
    )
    names = {"onset_ms": "onset", "name": "trial_type"}
    table = _in_bids(table, names, ["onset_ms", "duration", "name"])
    about = {"Description": "events of the eye", "OnsetSource": "timestamp", "TaskName": task}
    sidecar = _described(about, table) | {"Columns": table.columns}
    yield f"{stem}_physioevents.tsv.gz", packed(table_content(table, header=False))
    yield f"{stem}_physioevents.json", json_content(sidecar)
