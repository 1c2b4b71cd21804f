"""Everything that an audit measured as one table: one row a rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

_NUMBERS = ("rate", "low", "high", "chance", "bound", "raw_rate")
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("what", "of", "by"), pl.String),
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "refutes": pl.Boolean,
}
# Keys of audit.json, by the column that they go into.
_CALLED = {
    "of": ("task", "attribute", "of", "layer", "table", "protocol"),
    "by": ("attacker", "model"),
}
_RATES = {
    "rate": ("rate", "accuracy", "balanced_accuracy", "advantage", "correlation"),
    "raw_rate": ("raw_accuracy",),
}


def frame_of(told: Mapping[str, Any]) -> pl.DataFrame:
    """The rates of an audit as a table.

    Args:
        told: as audit.json has it.
    """
    return pl.DataFrame(list(_rows(told)), schema=_SCHEMA)


def _rows(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for what in ("identification", "attributes", "utility"):
        rows = (_row(what, entry) for entry in told.get(what) or ())
        yield from (row for row in rows if row["rate"] is not None)
    member = told.get("membership") or {}
    if "advantage" in member:
        yield _row("membership", member | {"of": "everybody"})
    for entry in told.get("maps") or ():
        if entry.get("membership"):
            yield _row("membership", entry["membership"] | {"of": entry["of"]})
    for name, entry in (told.get("controls") or {}).items():
        if entry:
            yield _row("control", entry | {"of": name})


def _row(what: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    row = {"what": what} | {name: entry.get(name) for name in (*_NUMBERS, "refutes")}
    for column, keys in (_CALLED | _RATES).items():
        row[column] = next((entry[key] for key in keys if entry.get(key) is not None), None)
    return row
