"""Which bounds a release clips to: the definitions', a file's, or (not private) the data's."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from eyelid.engine.remote import check_here
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.privacy.bounds import Bounds, BoundsSource


@dataclass(frozen=True)
class Range:
    """Of a feature, over some people.

    Attributes:
        least: its smallest value that is a number; infinite where there is none.
        most: its largest.
        seen: whether anything was measured, be it a number or not.
        values: how many there are.
        missing: how many rows have none.
        total: the sum of values, clipped to the feature's own bounds.
    """

    least: float = math.inf
    most: float = -math.inf
    seen: bool = False
    values: int = field(default=0, repr=False)
    missing: int = field(default=0, repr=False)
    total: float = field(default=0.0, repr=False)


Ranges = Mapping[str, Range]


def ranges_of(table: FeatureTable) -> Ranges:
    """The range of every feature of a table."""
    found = {}
    for feature in table.features:
        column = table.data[feature.name]
        values = column.cast(pl.Float64).fill_nan(None).drop_nulls().to_numpy()
        ends = (float(values.min()), float(values.max())) if len(values) else (math.inf, -math.inf)
        found[feature.name] = Range(
            *ends,
            seen=column.null_count() < len(column),
            values=len(values),
            missing=len(column) - len(values),
            total=float(values.clip(feature.lower, feature.upper).sum()),
        )
    return found


def ranges_together(parts: Sequence[Ranges]) -> Ranges:
    """The range of every feature over all parts.

    >>> one, other = {"rate": Range(0.0, 1.0, True)}, {"rate": Range()}
    >>> ranges_together([one, other])["rate"]
    Range(least=0.0, most=1.0, seen=True)
    """
    return {
        name: Range(
            min(part[name].least for part in parts),
            max(part[name].most for part in parts),
            any(part[name].seen for part in parts),
            sum(part[name].values for part in parts),
            sum(part[name].missing for part in parts),
            sum(part[name].total for part in parts),
        )
        for name in parts[0]
    }


def bounds_for(table: FeatureTable, choice: str | Path | Bounds, ranges: Ranges) -> Bounds:
    """The bounds of every feature of the table.

    Args:
        table: whose features; its rows are left alone.
        choice: ``public`` (from the definitions), ``data`` (read off the data: no guarantee
            holds), bounds, or a JSON ({"feature": [lower, upper]}) or csv file (feature, lower,
            upper) whose numbers were fixed without looking at the data; features the file leaves
            out keep their own.
        ranges: of the features, which nothing but ``data`` looks at.
    """
    own = {f.name: (f.lower, f.upper) for f in table.features}
    if choice == "public":
        return Bounds(own)
    if choice == "data":
        return _from_data(ranges)
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


def _from_data(ranges: Ranges) -> Bounds:
    values = {}
    for name, found in ranges.items():
        low, high = (0.0, 1.0) if found.least > found.most else (found.least, found.most)
        values[name] = (low, high if high > low else low + 1.0)
    return Bounds(values, BoundsSource.DATA)


def _from_file(path: Path) -> dict[str, tuple[float, float]]:
    check_here(path, "a file of bounds")
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
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"cannot understand the bounds in {path} ({error}): write "
            '{"feature": [lower, upper]} as json, or csv columns feature,lower,upper'
        ) from None
