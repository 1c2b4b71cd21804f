"""Which bounds a release clips to: the definitions', a file's, or (not private) the data's."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.privacy.bounds import Bounds, BoundsSource


def bounds_for(table: FeatureTable, choice: str | Path | Bounds) -> Bounds:
    """The bounds of every feature of the table.

    Args:
        table: whose features.
        choice: ``public`` (from the definitions), ``data`` (read off the data: no guarantee
            holds), bounds, or a JSON ({"feature": [lower, upper]}) or csv file (feature, lower,
            upper) whose numbers were fixed without looking at the data; features the file leaves
            out keep their own.
    """
    own = {f.name: (f.lower, f.upper) for f in table.features}
    if choice == "public":
        return Bounds(own)
    if choice == "data":
        return _from_data(table)
    if isinstance(choice, Bounds):
        given, source = choice.values, choice.source
    else:
        given, source = _from_file(Path(choice)), BoundsSource.FILE
    for name in given:
        if name not in own:
            raise unknown("feature in the bounds", name, own)
    return Bounds(own | given, source)


def clipped_to(table: FeatureTable, bounds: Bounds) -> FeatureTable:
    """The table with these bounds as its features' own; mechanisms clip to them."""
    features = [
        replace(f, lower=bounds.values[f.name][0], upper=bounds.values[f.name][1])
        for f in table.features
    ]
    return replace(table, features=tuple(features))


def _from_data(table: FeatureTable) -> Bounds:
    values = {}
    for name in table.names:
        column = table.data[name].cast(pl.Float64).fill_nan(None).drop_nulls()
        lower, upper = (0.0, 1.0) if column.is_empty() else (column.min(), column.max())
        low, high = float(lower), float(upper)  # type: ignore[arg-type]
        values[name] = (low, high if high > low else low + 1.0)
    return Bounds(values, BoundsSource.DATA)


def _from_file(path: Path) -> dict[str, tuple[float, float]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read the bounds '{path}' ({error}): give public, data, or a json or csv file"
        ) from None
    try:
        if path.suffix.lower() == ".json":
            pairs = dict(json.loads(text))
        else:
            rows = csv.DictReader(text.splitlines())
            pairs = {row["feature"]: (row["lower"], row["upper"]) for row in rows}
        return {name: (float(low), float(high)) for name, (low, high) in pairs.items()}
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"cannot understand the bounds in {path} ({error}): write "
            '{"feature": [lower, upper]} as json, or csv columns feature,lower,upper'
        ) from None
