"""A study as a folder of csv files, with a column map that tells what they hold."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, get_args

import polars as pl

from eyelid.engine.runs import Run
from eyelid.errors import EyelidError, InputError, cannot_read
from eyelid.gaze.study import INDEX_COLUMNS, Feature, Kind, Origin, Study
from eyelid.io.bids.tables import typed
from eyelid.io.csv_cells import for_spreadsheets, from_spreadsheets
from eyelid.io.files import (
    check_cells,
    head_of,
    text_table,
)
from eyelid.io.layout import MAP_NAME as _MAP
from eyelid.io.layout import ROLES, Layout, read_toml
from eyelid.io.study_json import checked_choice
from eyelid.spelling import in_toml

_FILES = {"data": "data.csv", "people": "people.csv", "events": "events.csv"}
_TYPES: dict[str, type[pl.DataType]] = {
    str(dtype): dtype
    for dtype in (
        *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
        *(pl.Float32, pl.Float64, pl.Boolean, pl.String),
    )
}
_KEYS = dict.fromkeys((*INDEX_COLUMNS[:-1], "eye"), pl.String) | {"time_ms": pl.Float64}
_COPIED_AT_ONCE = 1 << 20
_ROLES = {"time_ms": "time", "duration_ms": "duration"}


def plain_tables(study: Study) -> dict[str, pl.DataFrame]:
    """The tables of a study, or of some people of one, as csv can hold them: data, events, people.

    Args:
        study: fails where csv cannot hold it, whether it has rows or not.
    """
    contents = {"data": study.data, "people": study.people, "events": study.events}
    return {name: _plain(table) for name, table in contents.items() if table is not None}


def write_csv_part(
    run: Run, number: int, of: int, excerpt: Study, read_piece: Callable[[], Study], _: None
) -> None:
    """Put some people's rows and events into the scratch of a run, unless they are there.

    Args:
        run: whose.
        number: of the part; the first has the headers.
        of: how many parts there are.
        excerpt: everything about the study, with any of its rows and events.
        read_piece: reads these people.
    """
    names = ["data"] if excerpt.events is None else ["data", "events"]
    if all(_part(run, name, number).exists() for name in names):
        return
    tables = plain_tables(read_piece())
    for name in names:
        write = partial(for_spreadsheets(tables[name]).write_csv, include_header=number == 0)
        run.put(_part(run, name, number), write)


def join_csv_parts(run: Run, study: Study, written: Sequence[None], about: None, out: Path) -> None:
    """Make the folder of csv files of all parts, without having them in memory.

    Args:
        run: whose scratch and output.
        study: everything about it, with any of its rows and events.
        written: one for each part.
        about: nothing.
        out: where the folder will be.
    """
    tables = plain_tables(study)
    for name in tables:
        if name != "people":
            parts = [_part(run, name, number) for number in range(len(written))]
            run.put(run.output / _FILES[name], partial(_one_after_the_other, parts))
    run.put(run.output / _FILES["people"], for_spreadsheets(tables["people"]).write_csv)
    text = _map_text(study, tables)
    run.put(run.output / _MAP, partial(Path.write_text, data=text, encoding="utf-8"))


def _part(run: Run, name: str, number: int) -> Path:
    return run.scratch / f"{name}-{number:06d}.csv"


def _one_after_the_other(parts: Sequence[Path], draft: Path) -> None:
    with draft.open("wb") as whole:
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, whole, _COPIED_AT_ONCE)


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """The table with every column that is no number or truth value as text."""
    quoted = [name for name in table.columns if '"' in name]
    if quoted:
        raise InputError(f"a header of csv cannot hold the name '{quoted[0]}': rename the column")
    text = [name for name, dtype in table.schema.items() if str(dtype) not in _TYPES]
    try:
        return table.with_columns(pl.col(text).cast(pl.String))
    except pl.exceptions.PolarsError as error:
        raise InputError(f"csv cannot hold the table: {str(error).splitlines()[0]}") from None


def _map_text(study: Study, tables: Mapping[str, pl.DataFrame]) -> str:
    return "\n".join(_toml(_map_of(study, tables))).lstrip() + "\n"


def _map_of(study: Study, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """The column map of a study, and what it cannot say."""
    columns = {_ROLES.get(name, name): name for name in study.data.columns}
    known = {k: v for k, v in columns.items() if k in ROLES or re.fullmatch(r"label_\w+", k)}
    return {
        "kind": study.kind if study.kind != "features" else None,
        "units": study.units,
        "xy_origin": study.xy_origin,
        "pupil_unit": study.pupil_unit,
        "time_unit": "ms",
        "rate_hz": study.rate_hz,
        "separator": ",",
        "people": _FILES["people"],
        "glob": _FILES["data"],
        "columns": known,
        "screen": None if study.screen is None else asdict(study.screen),
        "study": {
            "kind": study.kind,
            "step_ms": study.step_ms,
            "window_ms": study.window_ms,
            "planned_ms": study.planned_ms,
            "planned_rows": study.planned_rows,
            "simulated": study.simulated,
            "released": study.released,
            "people_chosen": list(study.chosen) or None,
            "origin": study.origin.id if study.origin is not None else None,
            "features": [asdict(feature) for feature in study.features],
            "types": {
                name: {column: str(dtype) for column, dtype in table.schema.items()}
                for name, table in tables.items()
            },
        },
    }


def _toml(table: Mapping[str, Any], *path: str) -> Iterator[str]:
    """The lines of a TOML table; what is None is left out."""
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    plain = {k: v for k, v in table.items() if v is not None and k not in inner}
    if path and (plain or not inner):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in inner.items():
        yield from _toml(value, *path, key)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: object) -> str:
    if isinstance(value, str):
        return in_toml(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return repr(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, list):
        return "[" + "".join(f"\n  {_value(each)}," for each in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"no TOML for {value!r}")


def recognises_folder(path: Path) -> bool:
    """Whether a study was written here as csv; a map alone may be of other origin."""
    return (path / _FILES["data"]).is_file() and _about(path) is not None


def _about(path: Path) -> Any:
    """What the map says about the study, if it can be read and does."""
    try:
        return read_toml(path / _MAP).get("study")
    except (OSError, ValueError, RecursionError):
        return None


def read_folder(path: Path, said: Layout) -> Study:
    """The study that was written as csv.

    Args:
        path: of the folder.
        said: what the user's column map says besides; it wins over the folder's.
    """
    # The column map knows the formats, and they know this module.
    from eyelid.io.column_map import layout_of_folder

    layout, about = layout_of_folder(path, said), _about(path)
    try:
        if about["kind"] not in get_args(Kind):
            raise ValueError(f"no kind {about['kind']!r}")
        types = {
            table: {name: _TYPES[dtype] for name, dtype in columns.items()}
            for table, columns in about["types"].items()
        }
        tables = {
            name: _read_table(path / file, types[name])
            for name, file in _FILES.items()
            if name != "events" or name in types
        }
        if "person" not in tables["people"].columns:
            raise InputError(f"{path / _FILES['people']} has no column person: add it")
        return Study(
            kind=about["kind"],
            data=tables["data"],
            people=tables["people"],
            units=layout.units,
            rate_hz=layout.rate_hz,
            screen=layout.screen,
            xy_origin=layout.xy_origin,
            pupil_unit=layout.pupil_unit,
            features=tuple(_feature(feature) for feature in about["features"]),
            step_ms=_number(about.get("step_ms")),
            window_ms=_number(about.get("window_ms")),
            planned_ms=_number(about.get("planned_ms")),
            planned_rows=_whole(about.get("planned_rows")),
            events=tables.get("events"),
            origin=Origin(str(about["origin"])) if about.get("origin") else None,
            simulated=about["simulated"] is True,
            released=about["released"] is True,
            chosen=checked_choice(about.get("people_chosen") or []),
        )
    except EyelidError:
        raise
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path / _MAP}: [study] is not as expected: {error!r}") from None


def _feature(said: Mapping[str, Any]) -> Feature:
    return Feature(
        name=str(said["name"]),
        unit=str(said["unit"]),
        definition=str(said["definition"]),
        lower=float(said["lower"]),
        upper=float(said["upper"]),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _read_table(path: Path, types: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """A table of a study, in the types that it had."""
    content = head_of(path).content()
    with cannot_read(path, pl.exceptions.PolarsError, ValueError):
        check_cells(content)
        # As text: numbers in quotes that are not closed bring the reader down.
        table = from_spreadsheets(text_table(content, infer_schema=False))
    last = content.rpartition(b"\n")[2]
    if last and last.count(b",") + 1 < table.width:
        raise InputError(f"{path} ends in the middle of a line: it may be truncated")
    return table.with_columns(
        typed(path, table[name], dtype)
        for name, dtype in {**types, **_KEYS}.items()
        if name in table.columns and dtype != pl.String
    )
