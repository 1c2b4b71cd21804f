"""Read the eye tracking of a BIDS datasetof any origin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.study import EYES, RECORDING_KEY, Origin, Study
from eyelid.io.bids.entities import Name, name_of
from eyelid.io.bids.sidecars import (
    ADDED,
    CHOSEN,
    FACTS,
    MS_PER_UNIT,
    NAMES,
    ORIGIN,
    OWN,
    RELEASED,
    SIMULATED,
    Json,
    Said,
    Sidecars,
    doubts,
    facts_of,
    number,
    part,
    positive,
    read_json,
    word,
)
from eyelid.io.bids.tables import (
    COLUMNS,
    FORMATS,
    TypeOf,
    Types,
    converted,
    read_cells,
    stated_type,
)
from eyelid.io.files import head_of
from eyelid.io.layout import HEAD, MEASURES, MS_PER, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import check_width
from eyelid.io.recordings import (
    joined,
    named,
    named_without_rows,
)
from eyelid.io.study_json import checked_choice

DESCRIPTION = "dataset_description.json"
_SAMPLES = re.compile(r"[^.].*_(physio|eyetrack)\.tsv(\.gz)?")
_MEASURED = (*MEASURES, *HEAD)
_KEYS = (*RECORDING_KEY, "time_ms", "eye")
_EVENT_NUMBERS = ("onset", "duration", "offset_ms", "duration_ms")
_EVENT_TYPES: Types = {**dict.fromkeys(_EVENT_NUMBERS, pl.Float64), "trial_type": pl.String}
_LONGEST_NAME = 10_000
# Drafts of the standard had both eyes in one file, and other names.
_TIMES = ("timestamp", "eye_timestamp", "time")
_NUMBERED = ("eye1_", "eye2_", "eye3_")
_SAME_STEP = 0.1


def recognises_folder(path: Path) -> bool:
    """Whether this is a BIDS dataset."""
    about = path / DESCRIPTION
    return about.is_file() and b'"BIDSVersion"' in head_of(about).raw


def is_ours(path: Path) -> bool:
    """Whether this is a BIDS dataset that eyelid wrote of people it counts."""
    return recognises_folder(path) and ORIGIN.encode() in head_of(path / DESCRIPTION).raw


def read_folder(path: Path, said: Layout) -> Study:
    """The eye tracking of a BIDS dataset.

    Args:
        path: of the dataset.
        said: what the user's column map says.
    """
    about = read_json(path / DESCRIPTION)
    files = sorted(_sample_files(path), key=lambda file: file.order)
    if not files:
        raise InputError(
            f"{path} is a BIDS dataset without eye tracking: it has no …_physio.tsv.gz whose "
            "sidecar says PhysioType eyetrack"
        )
    people, names = _people(path)
    recordings: dict[tuple[object, ...], list[_File]] = {}
    for file in files:
        recordings.setdefault((file.path.parent, *file.name.without("recording")), []).append(file)
    parts = [
        _named_recording(eyes, names, said)
        for eyes in track(recordings.values(), "reading", len(recordings))
    ]
    if people is not None:
        # Whoever is missing in the list comes after it.
        everybody = pl.concat([people, parts[0].data.select("person")], how="diagonal_relaxed")
        parts[0] = replace(parts[0], people=everybody)
    study = joined(parts, said).derive(
        origin=Origin(str(about[ORIGIN])) if about.get(ORIGIN) else None,
        simulated=about.get(SIMULATED) is True,
        released=about.get(RELEASED) is True,
        chosen=checked_choice(about.get(CHOSEN) or []),
    )
    if said.rate_hz is None and all("rate_hz" in file.own for file in files):
        # What eyelid wrote keeps the rate that it had, whatever the time stamps say.
        rates = {number(file.own["rate_hz"]) for file in files}
        study = study.derive(rate_hz=rates.pop() if len(rates) == 1 else None)
    return study


@dataclass(frozen=True)
class _File:
    """A file of samples.

    Attributes:
        path: where it is.
        person: the label of its person.
        sidecar: what is said about it.
        shown: what is said about the screen and what was on it.
        sidecars: of the dataset.
    """

    path: Path
    person: str
    sidecar: Said
    shown: Said
    sidecars: Sidecars

    @property
    def name(self) -> Name:
        """What its name says."""
        return name_of(self.path)

    @property
    def own(self) -> Json:
        """What eyelid says about it besides; empty where another program wrote it."""
        return part(self.sidecar, OWN)

    @property
    def order(self) -> float:
        """The place of its recording in the study."""
        place = number(self.own.get("order"))
        return float("inf") if place is None else place

    @property
    def names(self) -> dict[str, str]:
        """Its recording, task and stimulus."""
        rest = self.name.without("sub", "recording")
        task = self.sidecar.get("TaskName")
        usual = {
            "recording": "_".join(v if key == "task" else f"{key}-{v}" for key, v in rest) or "1",
            "task": task if isinstance(task, str) and task else self.name["task"],
            "stimulus": "",
        }
        usual |= {k: v for k in usual if isinstance(v := self.own.get(k), str)}
        long = [key for key, name in usual.items() if len(name) > _LONGEST_NAME]
        if long:
            # It is written into every row.
            raise InputError(
                f"the sidecar of {self.path} names its {long[0]} in {len(usual[long[0]]):,} "
                f"characters, more than {_LONGEST_NAME:,}: is it a name?"
            )
        return usual


def _sample_files(root: Path) -> Iterator[_File]:
    """The files of gaze samples in a dataset; other recordings are passed over."""
    sidecars = Sidecars(root)
    for path in sorted(file for top in root.glob("sub-*") for file in top.rglob("*_*.tsv*")):
        if not _SAMPLES.fullmatch(path.name):
            continue
        name = name_of(path)
        sidecar = sidecars.of(path, name.suffix)
        if not sidecar and name["recording"].startswith("eye"):
            raise InputError(
                f"{path} has no sidecar: its columns must be named in a …_{name.suffix}.json "
                "beside or above it"
            )
        kind, columns = word(sidecar.get("PhysioType")), sidecar.get("Columns")
        if isinstance(columns, list):
            check_width(path, len(columns))
        gaze = kind == "eyetrack" or name.suffix == "eyetrack"
        if not kind and isinstance(columns, list):
            # Older than PhysioType.
            gaze |= any(f"{eye}x_coordinate" in columns for eye in ("", *_NUMBERED))
        if gaze:
            person = path.relative_to(root).parts[0].removeprefix("sub-")
            yield _File(path, person, sidecar, sidecars.of(path, "events"), sidecars)


def _people(root: Path) -> tuple[pl.DataFrame | None, dict[str, str]]:
    """The people with their attributes, and the names of those whose label is none."""
    path, sidecar = root / "participants.tsv", root / "participants.json"
    about = read_json(sidecar) if sidecar.is_file() else {}
    names = {
        label.removeprefix("sub-"): name
        for label, name in part(part(about, "participant_id"), NAMES).items()
        if isinstance(name, str)
    }
    if not path.is_file():
        return None, names
    table = read_cells(path, None)
    if "participant_id" not in table.columns:
        raise InputError(f"{path} has no column participant_id: BIDS lists people in it")
    people = table.select(
        pl.col("participant_id").str.strip_prefix("sub-").replace(names).alias("person"),
        *[
            _attribute(table[name], part(about, name))
            for name in table.columns
            if name not in ("participant_id", "person")
        ],
    )
    return people.drop_nulls("person"), names


def _attribute(text: pl.Series, about: Json) -> pl.Series:
    """An attribute in the type that it is said to have, or can have."""
    stated = FORMATS.get(word(about.get("Format")))
    for dtype in (pl.Int64, pl.Float64) if stated is None else (stated,):
        values = converted(text, dtype)
        if values.null_count() == text.null_count():
            return values
    return text


def _named_recording(eyes: Sequence[_File], names: Mapping[str, str], said: Layout) -> Part:
    """One recording; without values where its files have no samples."""
    try:
        return named(eyes[0].path, _recording(eyes, names, said), said, alone=False)
    except NoRows as error:
        return named_without_rows(eyes[0].path, error, said)


def _recording(eyes: Sequence[_File], names: Mapping[str, str], said: Layout) -> Part:
    """The samples of all eyes of one recording; an eye without any is left out."""
    files, parts, empty = [], [], []
    for file in eyes:
        try:
            parts.append(_part(file, names, said))
            files.append(file)
        except NoRows as error:
            empty.append(error)
    if not parts:
        raise empty[0]
    first, seen = parts[0], set[str]()
    for file, here in zip(files, parts, strict=True):
        for fact in FACTS:
            if getattr(here, fact) != getattr(first, fact):
                raise InputError(
                    f"{files[0].path} and {file.path.name} are one recording and differ in {fact} "
                    f"({getattr(first, fact)} and {getattr(here, fact)}): mend their sidecars"
                )
        tracks = set(here.data["eye"]) if "eye" in here.data.columns else {""}
        if seen & tracks:
            raise InputError(
                f"{file.path} is of the same eye as another file of its recording: say in its "
                "sidecar which RecordedEye it is"
            )
        seen |= tracks
    events = [here.events for here in parts if here.events is not None]
    return replace(
        first,
        data=pl.concat([here.data for here in parts], how="diagonal_relaxed"),
        events=pl.concat(events, how="diagonal_relaxed") if events else None,
        notes=tuple(dict.fromkeys([*map(str, empty), *(n for here in parts for n in here.notes)])),
    )


def _part(file: _File, names: Mapping[str, str], said: Layout) -> Part:
    """The samples in one file."""
    rate_hz = positive(file.sidecar.get("SamplingFrequency"))
    facts = facts_of(file.sidecar, file.shown, file.path)
    layout = Layout(rate_hz=rate_hz, **facts).under(said)
    table = read_cells(file.path, _columns(file.sidecar, file.path), _types(file, layout))
    keys = {"person": names.get(file.person, file.person), **file.names}
    if table.is_empty():
        raise NoRows(f"{file.path} has no samples", pl.DataFrame([keys]))
    absent = [name for name in layout.columns.values() if name not in table.columns]
    if absent:
        raise InputError(
            f"{file.path} has no column '{absent[0]}': it has {', '.join(table.columns)}"
        )
    notes = doubts(file.sidecar, file.shown)
    clock = layout.columns.get("time") or next((t for t in _TIMES if t in table.columns), None)
    time_ms, ms_per_tick = _time(file, table, clock, layout, notes)
    eyes = _eyes(file, table.columns)
    frames, used = [], {clock}
    for eye, prefix in eyes:
        roles = _roles(file, [c for c in table.columns if c != clock], prefix, layout)
        used |= set(roles.values())
        fixed = {name: value for name, value in keys.items() if name not in roles}
        fixed |= {} if eye is None else {"eye": eye}
        measured = (_measured(role, column, roles, layout.lost) for role, column in roles.items())
        literal = (pl.lit(value).alias(name) for name, value in fixed.items())
        frames.append(table.select(time_ms, *measured).with_columns(literal))
    if not file.own:
        unused = [name for name in table.columns if name not in used]
        notes += [f"columns left out: {', '.join(unused)}"] if unused else []
        notes += [] if layout.units else ["units of x and y are not known: say `map='units=px'`"]
    return Part(
        format="BIDS",
        data=pl.concat(frames, how="diagonal_relaxed"),
        units=layout.units,
        xy_origin=layout.xy_origin,
        pupil_unit=layout.pupil_unit,
        rate_hz=layout.rate_hz,
        screen=layout.screen,
        events=_events(file, keys, ms_per_tick, time_ms, eyes[0][0]),
        notes=tuple(notes),
    )


def _columns(sidecar: Said, path: Path) -> list[str] | None:
    """The names of the columns, where a sidecar has them."""
    columns = sidecar.get("Columns")
    if columns is None:
        return None
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise InputError(f"the sidecar of {path} must list the names of its Columns")
    return columns


def _types(file: _File, layout: Layout) -> TypeOf:
    """The types of columns: what is measured is numbers, the rest is what it is said to be."""
    numbers = {*COLUMNS.values(), *_MEASURED}
    if not file.own:
        numbers |= {*_TIMES, *(eye + name for eye in _NUMBERED for name in numbers)}
    numbers |= {column for role, column in layout.columns.items() if not _is_label(role)}

    def type_of(name: str) -> type[pl.DataType]:
        stated = stated_type(file.sidecar, name)
        # Integers are believed where eyelid says so.
        believed = file.own and stated == pl.Int64
        return pl.Float64 if name in numbers and not believed else stated

    return type_of


def _is_label(role: str) -> bool:
    return role.startswith("label_")


def _time(
    file: _File, table: pl.DataFrame, clock: str | None, layout: Layout, notes: list[str]
) -> tuple[pl.Series, float]:
    """The time of the samples in ms, and what a tick of their clock is in ms."""
    if clock is None:
        if layout.rate_hz is None:
            raise InputError(
                f"{file.path} has neither time stamps nor a SamplingFrequency in its sidecar: say "
                "the rate with `map='rate_hz=…'`"
            )
        start_ms = 1000.0 * (number(file.sidecar.get("StartTime")) or 0.0)
        count = pl.int_range(len(table), eager=True)
        return (start_ms + count * (1000.0 / layout.rate_hz)).alias("time_ms"), MS_PER["s"]
    ticks = table[clock].cast(pl.Float64)
    unknown = ticks.is_null().arg_true()
    if len(unknown):
        raise InputError(f"{file.path}: row {unknown[0] + 1} has no {clock}")
    stated = _unit(file.sidecar, clock)
    if layout.time_unit is not None:
        ms_per_tick = MS_PER[layout.time_unit]
    else:
        ms_per_tick = MS_PER_UNIT.get(stated) or _tick_by_rate(ticks, layout.rate_hz, notes)
    return (ticks * ms_per_tick).alias("time_ms"), ms_per_tick


def _tick_by_rate(ticks: pl.Series, rate_hz: float | None, notes: list[str]) -> float:
    """What a tick is in ms if samples come as often as the rate says; a second where none fits."""
    step = ticks.diff().median()
    if rate_hz is not None and isinstance(step, float):
        for unit, ms_per_tick in MS_PER.items():
            if abs(step * ms_per_tick * rate_hz / 1000.0 - 1.0) < _SAME_STEP:
                notes.append(f"time stamps without a unit are in {unit}, by their rate")
                return ms_per_tick
    notes.append("time stamps without a unit were taken for s: else say `map='time_unit=…'`")
    return MS_PER["s"]


def _eyes(file: _File, columns: Sequence[str]) -> list[tuple[str | None, str]]:
    """The eyes in a file, None where nobody says which, and what their columns begin with."""
    if "eye" in file.own:
        eye = file.own["eye"]
        return [(eye if isinstance(eye, str) else None, "")]
    recorded = file.sidecar.get("RecordedEye")
    listed = recorded[: len(_NUMBERED) + 1] if isinstance(recorded, list) else [recorded]
    eyes = [word(eye) for eye in listed]
    if eyes == ["both"]:
        eyes = ["left", "right"]
    known = [eye if eye in EYES else None for eye in eyes]
    prefixes = [prefix for prefix in _NUMBERED if f"{prefix}x_coordinate" in columns]
    if len(prefixes) > 1 and (len(known) < len(prefixes) or None in known):
        raise InputError(
            f"{file.path} has {len(prefixes)} eyes and its sidecar does not say which: add "
            'RecordedEye, such as ["left", "right"]'
        )
    if file.own or not prefixes:
        return [(known[0] if len(known) == 1 else None, "")]
    return list(zip(known, prefixes, strict=False))


def _roles(file: _File, columns: Sequence[str], prefix: str, layout: Layout) -> dict[str, str]:
    """The columns of a study that a file has, in its order, and what they are called there."""
    called = {f"{prefix}{role}": role for role in _MEASURED}
    called |= {f"{prefix}{column}": role for role, column in COLUMNS.items()}
    roles = {
        called.get(column, column): column
        for column in columns
        if part(file.sidecar, column).get(ADDED) is not True
    }
    if file.own:
        roles = {role: column for role, column in roles.items() if role not in _KEYS}
    else:
        roles = {role: c for role, c in roles.items() if role in _MEASURED or _is_label(role)}
    roles |= {r: c for r, c in layout.columns.items() if r in _MEASURED or _is_label(r)}
    if not file.own and not {"x", "y"} <= set(roles):
        raise InputError(
            f"{file.path} has no columns x_coordinate and y_coordinate: it has {', '.join(columns)}"
        )
    return roles


def _measured(role: str, column: str, roles: Mapping[str, str], lost: Sequence[float]) -> pl.Expr:
    """A column, without what was recorded while the eye was lost."""
    values = pl.col(column)
    if lost and role in ("x", "y") and {"x", "y"} <= set(roles):
        seen = ~pl.any_horizontal(pl.col(roles[axis]).is_in(lost) for axis in "xy")
        values = pl.when(seen).then(values)
    return values.alias(role)


def _events(
    file: _File, keys: Mapping[str, str], ms_per_tick: float, time_ms: pl.Series, eye: str | None
) -> pl.DataFrame | None:
    """The events of an eye, where they stand in a file beside its samples."""
    stem = file.path.name.split(".", 1)[0].removesuffix(file.name.suffix)
    found = (file.path.with_name(f"{stem}physioevents{ending}") for ending in (".tsv.gz", ".tsv"))
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        return None
    sidecar = file.sidecars.of(path, "physioevents")

    def type_of(name: str) -> type[pl.DataType]:
        known = _EVENT_TYPES.get(name)
        return stated_type(sidecar, name) if known is None else known

    table = read_cells(path, _columns(sidecar, path), type_of)
    if "onset" not in table.columns:
        raise InputError(f"{path} has no column onset: it has {', '.join(table.columns)}")
    if "trial_type" not in table.columns:
        # Messages alone.
        return None
    onset_ms = pl.col("onset") * MS_PER_UNIT.get(_unit(sidecar, "onset"), ms_per_tick)
    duration_ms = _duration_ms(table, sidecar, ms_per_tick, time_ms)
    known = {
        **{name: pl.lit(keys[name]) for name in RECORDING_KEY},
        "name": pl.col("trial_type"),
        "onset_ms": onset_ms,
        "offset_ms": onset_ms + duration_ms,
        "duration_ms": duration_ms,
    }
    if "offset_ms" in table.columns:
        known["offset_ms"] = pl.col("offset_ms")
    if file.own:
        used = (*known, *_EVENT_NUMBERS, "trial_type")
        known |= {name: pl.col(name) for name in table.columns if name not in used}
    elif eye is not None:
        known["eye"] = pl.lit(eye)
    events = table.select(column.alias(name) for name, column in known.items())
    return events.drop_nulls(["name", "onset_ms"])


def _unit(sidecar: Said, column: str) -> str:
    return word(part(sidecar, column).get("Units"))


def _duration_ms(
    table: pl.DataFrame, sidecar: Said, ms_per_tick: float, time_ms: pl.Series
) -> pl.Expr:
    if "duration_ms" in table.columns:
        return pl.col("duration_ms")
    if "duration" not in table.columns:
        return pl.lit(None, pl.Float64)
    ms_per_unit = MS_PER_UNIT.get(_unit(sidecar, "duration"))
    if ms_per_unit is None:
        # BIDS has seconds, and trackers write their own ticks: no event outlasts its recording.
        longest, whole_ms = table["duration"].max(), float(np.ptp(time_ms.to_numpy()))
        too_long = isinstance(longest, float) and longest * MS_PER["s"] > whole_ms
        ms_per_unit = ms_per_tick if too_long else MS_PER["s"]
    return pl.col("duration") * ms_per_unit
