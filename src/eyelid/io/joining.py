"""From the contents of files to one study."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from dataclasses import field as of_each
from pathlib import Path

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import RECORDING_KEY, Study, check, track_key, track_starts
from eyelid.io.file_names import (
    names_of_file,
    read_listing,
)
from eyelid.io.layout import KEYS, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.row_changes import (
    check_stimuli,
    with_home,
)
from eyelid.io.tables import without_values

_LEADING = ("person", "recording", "task", "stimulus", "time_ms", "duration_ms", "eye")
# Calibration is off by a few per cent of a screen at most, and people look away seldom.
_MUCH_OFF_SCREEN = 0.05
# Eyes do not come back to the same place to the last digit.
_MANY_ALIKE, _FEWEST_ALIKE = 0.002, 10
_SAME_RATE = 0.02
_MOST_NAMED = 5
# A share of values beyond their bounds that another unit explains.
_MOSTLY = 0.5
_SAME_AS_STATED = 0.1


@dataclass(frozen=True)
class Places:
    """How many places of gaze there are, and how many of them are odd.

    Attributes:
        known: all of them.
        on_a_screen: those in a file that states its screen.
        off_screen: those of them that are beyond it.
        zero: those that are exactly (0, 0).
        minus_one: those that are exactly (-1, -1).
    """

    known: int = 0
    on_a_screen: int = 0
    off_screen: int = 0
    zero: int = 0
    minus_one: int = 0

    def __add__(self, other: Places) -> Places:
        return Places(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class NamedPart:
    """The content of a file, with its keys filled in.

    Attributes:
        path: of the file.
        part: its content; `eyelid.io.study_leaks` may leave most rows out of it.
        rates_hz: what all of its rows show, as `rates_of` has it; None where they are all there.
        places: what they are like.
        outside: of each feature, how many values are beyond its bounds, and how many there are.
        blank: whether the file has no rows, so that its recordings have one without values each,
            and nothing else is known of them.
    """

    path: Path
    part: Part
    rates_hz: tuple[float | None, ...] | None = None
    places: Places = Places()
    outside: Mapping[str, tuple[int, int]] = of_each(default_factory=dict)
    blank: bool = False


def named_without_rows(path: Path, error: NoRows, layout: Layout) -> NamedPart:
    """The recordings of a file that has no rows, each with one without values.

    Whoever lost all recordings is a person of the study like everybody else.

    Args:
        path: of the file.
        error: that it has none, with what it says of whose it is.
        layout: with somebody's pattern or list.
    """
    keys = error.whose if error.whose.height > 1 else pl.DataFrame()
    own = error.whose.row(0, named=True) if error.whose.height == 1 else {}
    if "person" not in {*keys.columns, *names_of_file(path, layout, own)}:
        raise InputError(
            f"{error}, and does not say whose it is, so that its person would be missing: say it "
            "with a file-name pattern (--map 'file={person}_{recording}') or a list "
            "(--map names=FILE.csv)"
        )
    rows = without_values(keys) if keys.height else pl.DataFrame({"time_ms": [0.0]})
    part = Part(format="", data=rows, names=own)
    return replace(named(path, part, layout, alone=False), blank=True)


def named(path: Path, part: Part, layout: Layout, *, alone: bool) -> NamedPart:
    """Give the rows of a file their person, recording, task and stimulus.

    Columns of the file come first, then what somebody says about its name, then what its format
    says about it. A file that is read alone is one person's.
    """
    own = {name: value for name, value in part.names.items() if value}
    known = names_of_file(path, layout, own)
    said = layout.file is not None or layout.names is not None
    here = {
        name: value
        for name, value in known.items()
        # Somebody's own pattern outranks a column that he did not name.
        if name not in part.data.columns or (said and name not in layout.columns)
    }
    _check_pattern(path, part, here)
    stem = path.name[: len(path.name) - len("".join(path.suffixes))] or path.name
    if "person" not in here and "person" not in part.data.columns:
        if not alone:
            raise InputError(
                f"{path.name} does not say whose it is, and a wrong guess would be a wrong promise:"
                " say it with a file-name pattern (--map 'file={person}_{recording}'), a column "
                "(--map person=COLUMN) or a list (--map names=FILE.csv); if every file is another "
                "person's, --map 'file={person}'"
            )
        here["person"] = stem
    if part.kind == "features" and "recording" not in part.data.columns:
        part = replace(part, data=_with_recordings(part.data, here.pop("recording", None), stem))
    if "recording" not in here and "recording" not in part.data.columns:
        here["recording"] = stem if said or "task" not in here else here["task"]
        if said and not alone:
            # The pattern's other fields tell the files of a person apart, or the name does.
            rest = [known[name] for name in ("task", "stimulus") if name in known]
            here["recording"] = "-".join(rest) or stem
    frames = [part.data] if part.events is None else [part.data, part.events]
    full = [
        frame.with_columns(pl.lit(value).alias(name) for name, value in here.items())
        for frame in frames
    ]
    people = part.people
    if people is None:
        people = full[0].select("person").unique(maintain_order=True)
    elif "person" not in people.columns:
        people = people.with_columns(pl.lit(here["person"]).alias("person"))
    return NamedPart(
        path,
        replace(part, data=full[0], events=full[1] if len(full) > 1 else None, people=people),
        places=_places(part),
        outside=_outside(part),
    )


def _with_recordings(data: pl.DataFrame, said: str | None, stem: str) -> pl.DataFrame:
    """A table of features whose recordings are told by what else tells rows apart.

    Args:
        data: of a file that does not name its recordings.
        said: what the name of the file says of them.
        stem: of its name.
    """
    told = [pl.lit(said)] if said else []
    told += [pl.col(name) for name in ("task", "stimulus") if name in data.columns]
    return data.with_columns(
        (pl.concat_str(told, separator="-") if told else pl.lit(stem)).alias("recording")
    )


def _outside(part: Part) -> dict[str, tuple[int, int]]:
    """How many values of each feature are beyond its bounds, and how many there are."""
    counted = {}
    for feature in part.features:
        values = part.data[feature.name].drop_nulls()
        inside = values.is_between(feature.lower, feature.upper).sum()
        counted[feature.name] = (len(values) - int(inside), len(values))
    return counted


def _beyond_bounds(parts: Sequence[NamedPart]) -> list[str]:
    """A remark where values will be cut off at their bounds."""
    notes = []
    for feature in parts[0].part.features:
        counts = [each.outside.get(feature.name, (0, 0)) for each in parts]
        beyond, known = (sum(pair) for pair in zip(*counts, strict=True))
        if beyond:
            unit = f" {feature.unit}" if feature.unit not in ("", "1") else ""
            doubt = ": is its unit that of the table?" if beyond > _MOSTLY * known else ""
            notes.append(
                f"{beyond:,} of {known:,} values of {feature.name} lie outside of its bounds, "
                f"{feature.lower:g} to {feature.upper:g}{unit}, and will be cut off there in "
                f"releases (counted in the raw data: keep the number to yourself){doubt}"
            )
    return notes


def _places(part: Part) -> Places:
    """What the places in a file are like."""
    if not {"x", "y"} <= set(part.data.columns):
        return Places()
    x, y = pl.col("x").cast(pl.Float64), pl.col("y").cast(pl.Float64)
    known = x.is_finite() & y.is_finite()
    size = _size_of_screen(part)
    beyond = pl.lit(False)
    if size is not None:
        beyond = ~(x.is_between(0, size[0]) & y.is_between(0, size[1]))
    at = [(x == value) & (y == value) for value in (0, -1)]
    counts = part.data.select(
        known=known.sum(), beyond=(known & beyond).sum(), zero=at[0].sum(), minus=at[1].sum()
    )
    everything, off, zero, minus_one = (int(count) for count in counts.row(0))
    return Places(everything, 0 if size is None else everything, off, zero, minus_one)


def _size_of_screen(part: Part) -> tuple[float, float] | None:
    """How far x and y go on the screen that a file states; None where it states none."""
    if part.units == "fraction":
        return 1.0, 1.0
    screen = part.screen
    if part.units != "px" or screen is None or part.xy_origin == "centre":
        return None
    if screen.width_px is None or screen.height_px is None:
        return None
    return float(screen.width_px), float(screen.height_px)


def _check_pattern(path: Path, part: Part, here: dict[str, str]) -> None:
    """Keep a name for the whole file from swallowing what the file itself tells apart."""
    for name in ("person", "recording"):
        if name not in here or name not in part.data.columns:
            continue
        inside = part.data[name].unique(maintain_order=True)
        if len(inside) > 1:
            many = "people" if name == "person" else "recordings"
            raise InputError(
                f"{path} holds several {many} ({', '.join(map(str, inside.head(3)))}, …): leave "
                f"{{{name}}} out of the file-name pattern"
            )


def joined(parts: Sequence[NamedPart], layout: Layout) -> Study:
    """One study of the contents of some files.

    Args:
        parts: the files, in order.
        layout: with somebody's list of people, where there is one.
    """
    if not parts:
        raise InputError("there is nothing to read")
    for each in parts:
        check_everybody(each)
    _check_apart(parts)
    # What has no rows says nothing about units, rates and screens.
    whole, told = [each for each in parts if not each.blank], with_tasks(parts, layout)
    if not whole:
        raise InputError(f"{parts[0].path} has no rows, nor has any other of {len(parts)} files")
    parts, first = whole, whole[0].part
    notes = list(dict.fromkeys(note for each in parts for note in each.part.notes))
    for field in ("kind", "units", "xy_origin", "pupil_unit"):
        for each in parts[1:]:
            here, there = getattr(first, field), getattr(each.part, field)
            if here != there:
                raise InputError(
                    f"{parts[0].path.name} and {each.path.name} differ in {field} ({here} and "
                    f"{there}): read them apart, or say it for all with --map {field}=…"
                )
    screens = {each.part.screen for each in parts}
    if len(screens) > 1 and first.units in ("px", "fraction"):
        notes.append(
            "the screens of the files differ, so the study has none; to keep positions "
            "comparable, convert them to degrees (--units deg)"
        )
    rates = [rate for each in parts for rate in _known_rates(each)]
    rate_hz = _one_rate(rates)
    stated = {each.part.rate_hz for each in parts if each.part.rate_hz}
    if first.kind == "samples" and stated - set(rates):
        notes.append(
            f"{_told(sorted(stated - set(rates)))} Hz is stated, and time stamps show "
            f"{_told([r for r in rates if r])} Hz: they are believed"
        )
    if rate_hz is None and any(rates):
        notes.append(f"rates differ: {_told([r for r in rates if r])} Hz")
    geometry = first.screen and first.screen.distance_m and first.screen.width_m
    if geometry and first.units in ("px", "fraction") and first.xy_origin is None:
        notes.append(
            "xy_origin is not stated, so places on the screen do not become degrees: say it with "
            "--map xy_origin=top-left"
        )
    notes += _without_rows(told)
    notes += _odd_places(parts, first)
    notes += _beyond_bounds(parts)
    if layout.planned_rows is not None and first.kind != "features":
        raise InputError("planned_rows is about tables of features: leave it out of --map")
    if layout.feature_columns and layout.planned_rows is None:
        notes.append(
            "how many rows a recording has by design is not said, so releases take 20 of each: if "
            "that was fixed before anybody took part, say it with --map planned_rows=N"
        )
    data = pl.concat([each.part.data for each in told], how="diagonal_relaxed")
    events = [each.part.events for each in parts if each.part.events is not None]
    study = Study(
        kind=first.kind,
        data=filled(data),
        people=_people(told, layout),
        units=first.units,
        rate_hz=rate_hz if first.kind == "samples" else None,
        screen=first.screen if len(screens) == 1 else None,
        xy_origin=first.xy_origin,
        pupil_unit=first.pupil_unit,
        planned_rows=layout.planned_rows,
        features=tuple(dict.fromkeys(f for each in parts for f in each.part.features)),
        events=pl.concat(events, how="diagonal_relaxed") if events else None,
        notes=tuple(notes),
        read_as=tuple(dict.fromkeys(each.part.format for each in parts)),
    )
    return check(check_stimuli(study) if layout.each_stimulus else study)


def with_tasks(parts: Sequence[NamedPart], layout: Layout) -> list[NamedPart]:
    """Files of which those without rows have a task that others have, if any has one.

    A task without a name would show in releases that somebody has no rows. They are taken for the
    first task by name: no value tells otherwise.

    Args:
        parts: all files of a study.
        layout: whether each stimulus is a task of its own, which a file without rows may not tell.
    """
    tasks: set[str] = set()
    for each in parts:
        if not each.blank and "task" in each.part.data.columns:
            tasks |= {str(task) for task in each.part.data["task"].unique() if task}
    if not tasks:
        return list(parts)
    first = pl.lit(min(tasks))

    def placed(each: NamedPart) -> NamedPart:
        rows = each.part.data
        own = pl.col("task") if "task" in rows.columns else pl.lit("")
        unknown = own.fill_null("") == ""
        if each.blank and layout.each_stimulus:
            return replace(each, part=with_home(each.part, tasks))
        if not each.blank or not rows.select(unknown.any()).item():
            return each
        task = pl.when(unknown).then(first).otherwise(own)
        return replace(each, part=replace(each.part, data=rows.with_columns(task.alias("task"))))

    return [placed(each) for each in parts]


def _without_rows(parts: Sequence[NamedPart]) -> list[str]:
    """A remark on files that have no rows, for the owner's eyes: it is private."""
    blank = [each.path.name for each in parts if each.blank]
    if not blank:
        return []
    have, count = "have", "count as recordings"
    if len(blank) == 1:
        have, count = "has", "counts as a recording"
    more = ", …" if len(blank) > _MOST_NAMED else ""
    unknown = sum(each.blank and not _tells_stimulus(each) for each in parts)
    shows = (
        f"; {unknown:,} of them {'do' if unknown > 1 else 'does'} not say which stimulus was shown,"
        " and releases of single recordings show that: say it for all files with a list (--map "
        "names=FILE.csv)"
        if unknown and any(map(_tells_stimulus, parts))
        else ""
    )
    return [
        f"from the raw data, never in a release: {len(blank):,} of {len(parts):,} files {have} no "
        f"rows ({', '.join(blank[:_MOST_NAMED])}{more}), and {count} without values{shows}"
    ]


def _tells_stimulus(each: NamedPart) -> bool:
    stimulus = each.part.data.get_column("stimulus", default=None)
    return stimulus is not None and bool((stimulus.cast(pl.String).fill_null("") != "").any())


def _odd_places(parts: Sequence[NamedPart], first: Part) -> list[str]:
    """Remarks where the screen may be another one, or a place may mean that the eye was lost."""
    places = sum((each.places for each in parts), Places())
    notes = []
    for count, value in ((places.zero, 0), (places.minus_one, -1)):
        if count >= max(_MANY_ALIKE * places.known, _FEWEST_ALIKE):
            notes.append(
                f"{count:,} places are exactly ({value}, {value}): if that means that the eye was "
                f"lost, say it with --map lost={value} (several values: lost=0;-1)"
            )
    if notes or places.off_screen < max(_MUCH_OFF_SCREEN * places.on_a_screen, 1):
        return notes
    screen = first.screen
    size = f" of {screen.width_px} × {screen.height_px} px" if screen and screen.width_px else ""
    return [
        f"{places.off_screen / places.on_a_screen:.0%} of gaze lies off the screen{size}: if that "
        "is not the screen, say it with --map screen=WIDTHxHEIGHT (and units=, xy_origin=)"
    ]


def _ordered_columns(data: pl.DataFrame) -> pl.DataFrame:
    labels = [name for name in data.columns if name.startswith("label_")]
    leading = [name for name in _LEADING if name in data.columns]
    rest = [name for name in data.columns if name not in leading and name not in labels]
    return data.select(*leading, *rest, *labels)


def filled(data: pl.DataFrame) -> pl.DataFrame:
    """Text keys without gaps; an eye that is not known is an empty name."""
    text = [name for name in (*KEYS, "eye") if name in data.columns]
    absent = [name for name in ("task", "stimulus") if name not in data.columns]
    done = data.with_columns(
        *[pl.col(name).cast(pl.String).fill_null("") for name in text],
        *[pl.lit("").alias(name) for name in absent],
    )
    return _ordered_columns(done)


def check_everybody(each: NamedPart) -> None:
    """Fail when rows are nobody's: some of them may be of people who are there by name."""
    nobody = (each.part.data["person"].str.strip_chars() == "").fill_null(True)
    if nobody.any():
        raise InputError(
            f"{each.path}: {nobody.sum():,} rows do not say whose they are: give every row its "
            "person, or leave these rows out"
        )


def _check_apart(parts: Sequence[NamedPart]) -> None:
    """Fail when two files claim to be the same recording."""
    owners: dict[tuple[str, str], Path] = {}
    for each in parts:
        for key in each.part.data.select(RECORDING_KEY).unique(maintain_order=True).iter_rows():
            if key in owners:
                raise InputError(
                    f"{owners[key]} and {each.path} are both recording '{key[1]}' of person "
                    f"'{key[0]}': tell them apart with a pattern such as "
                    "--map 'file={person}_{recording}'"
                )
            owners[key] = each.path


def _known_rates(each: NamedPart) -> Sequence[float | None]:
    return rates_of(each.part) if each.rates_hz is None else each.rates_hz


def rates_told(study: Study) -> str:
    """That recordings come at different rates, where they do; empty where they do not.

    Args:
        study: any, with its rows.
    """
    rates = [rate for rate in rates_of(study) if rate]
    return f"rates differ: {_told(rates)} Hz" if rates and _one_rate(rates) is None else ""


def rates_of(part: Part | Study) -> list[float | None]:
    """The rate of each run of samples as time stamps show it, or as stated where they agree."""
    if part.kind != "samples":
        return []
    steps = part.data.select(*track_key(part.data), pl.col("time_ms").diff().alias("step"))
    steps = steps.filter(~track_starts(part.data) & (pl.col("step") > 0))
    found: list[float | None] = []
    for track in steps.partition_by(track_key(part.data), maintain_order=True):
        step_ms = usual_step_ms(track["step"].to_numpy())
        if step_ms is not None:
            measured = 1000.0 / step_ms
            agree = part.rate_hz and abs(measured / part.rate_hz - 1) < _SAME_AS_STATED
            found.append(part.rate_hz if agree else float(f"{measured:.4g}"))
    return found or [part.rate_hz]


def _one_rate(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate]
    if not known or max(known) > min(known) * (1 + _SAME_RATE):
        return None
    return float(np.median(known))


def _told(values: Sequence[float]) -> str:
    return " to ".join(f"{value:g}" for value in sorted({min(values), max(values)}))


def _people(parts: Sequence[NamedPart], layout: Layout) -> pl.DataFrame:
    """One row a person, with the attributes that a file or somebody's list gives."""
    frames = [each.part.people for each in parts if each.part.people is not None]
    everybody = pl.concat(frames, how="diagonal_relaxed").with_columns(
        pl.col("person").cast(pl.String)
    )
    if layout.attributes:
        everybody = _one_value_each(everybody, layout.attributes)
    everybody = everybody.unique("person", keep="first", maintain_order=True)
    if layout.people is None:
        return everybody
    listed = read_listing(layout.people, "person").drop_nulls("person")
    listed = listed.unique("person", maintain_order=True)
    labels = listed["person"].str.strip_prefix("sub-")
    if not set(listed["person"]) & set(everybody["person"]) and labels.is_unique().all():
        # In BIDS sub-01 is a name with a mark before it.
        listed = listed.with_columns(labels)
    if not set(listed["person"]) & set(everybody["person"]):
        raise InputError(
            f"nobody in {layout.people} ({', '.join(listed['person'].head(3).to_list())}, …) is "
            f"among the people of the recordings ({', '.join(everybody['person'].head(3))}, …)"
        )
    return everybody.join(_typed(listed), on="person", how="left", maintain_order="left")


def _one_value_each(people: pl.DataFrame, attributes: Sequence[str]) -> pl.DataFrame:
    """One row a person, with the one value of each attribute that rows of tables have."""
    absent = [name for name in attributes if name not in people.columns]
    if absent:
        raise InputError(
            f"attributes are columns of tables, and there is none called '{absent[0]}': leave it "
            "out of --map, or give a list of people (--map people=FILE.csv)"
        )
    each = people.group_by("person", maintain_order=True)
    for name in attributes:
        values = each.agg(pl.col(name).drop_nulls().unique(maintain_order=True))
        several = values.filter(pl.col(name).list.len() > 1)
        if len(several):
            person, found = several.row(0)
            raise InputError(
                f"person '{person}' has several values of attribute '{name}' "
                f"({', '.join(found[:3])}{', …' if len(found) > 3 else ''}): an attribute is the "
                f"same in all rows of a person; what differs is a task, a stimulus or a label "
                f"(--map label_{re.sub(r'[^a-z0-9]+', '_', name.lower())}={name})"
            )
    one = each.agg(pl.exclude("person").drop_nulls().first())
    return _typed(one)


def _typed(listed: pl.DataFrame) -> pl.DataFrame:
    """Attributes that are numbers as numbers."""

    def typed(name: str) -> pl.Series:
        column = listed[name]
        if column.dtype != pl.String:
            return column
        for kind in (pl.Int64, pl.Float64):
            numbers = column.cast(kind, strict=False)
            if numbers.null_count() == column.null_count():
                return numbers
        return column

    return listed.with_columns(typed(name) for name in listed.columns if name != "person")
