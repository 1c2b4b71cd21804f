"""Columns of a table as it was read: numbers, values of an eye that was lost, and events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from eyelid.gaze.study import EVENT_COLUMNS, RECORDING_KEY
from eyelid.io.part import Part


def number(column: str) -> pl.Expr:
    """A column of text as numbers, with a decimal point or comma; null where it holds none.

    >>> pl.DataFrame({"a": ["1.5", "1,5", "-"]}).select(number("a")).to_series().to_list()
    [1.5, 1.5, None]
    """
    text = pl.col(column).cast(pl.String).str.strip_chars()
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).fill_nan(None)


def without(raw: pl.DataFrame, columns: Iterable[str], lost: pl.Expr) -> pl.DataFrame:
    """The table with null where ``lost`` holds, in those of the columns that it has.

    >>> raw = pl.DataFrame({"x": [3.0, 4.0], "valid": [1, 0]})
    >>> without(raw, ["x", "y"], pl.col("valid") == 0)["x"].to_list()
    [3.0, None]
    """
    seen = ~lost.fill_null(False)
    return raw.with_columns(
        pl.when(seen).then(pl.col(name)).alias(name) for name in columns if name in raw.columns
    )


def events_of_runs(
    data: pl.DataFrame,
    marks: Sequence[str],
    name: pl.Expr,
    duration_ms: pl.Expr | None = None,
) -> pl.DataFrame:
    """One event for each run of samples with the same marks.

    Args:
        data: samples in order of time; of several eyes the first is taken.
        marks: columns that tell events apart; where the first is null, there is none.
        name: of the events, from the columns of their first sample.
        duration_ms: as the table states it; otherwise from the first to the last sample.

    >>> data = pl.DataFrame({"time_ms": [0, 4, 8, 12], "fixation": ["1", "1", None, "2"]})
    >>> found = events_of_runs(data, ["fixation"], pl.lit("fixation"))
    >>> found["onset_ms"].to_list(), found["duration_ms"].to_list()
    ([0.0, 12.0], [4.0, 0.0])
    """
    keys = [key for key in RECORDING_KEY if key in data.columns]
    if "eye" in data.columns:
        data = data.filter(pl.col("eye") == pl.col("eye").first())
    time = pl.col("time_ms").cast(pl.Float64)
    stated = duration_ms if duration_ms is not None else pl.lit(None, pl.Float64)
    runs = (
        data.with_columns(pl.struct(*keys, *marks).rle_id().alias("run"))
        .filter(pl.col(marks[0]).is_not_null())
        .group_by("run", maintain_order=True)
        .agg(
            *[pl.col(key).first() for key in keys],
            name.first().alias("name"),
            time.first().alias("onset_ms"),
            pl.coalesce(stated.first(), time.last() - time.first()).alias("duration_ms"),
        )
    )
    ends = (pl.col("onset_ms") + pl.col("duration_ms")).alias("offset_ms")
    return runs.with_columns(ends).select(name for name in EVENT_COLUMNS if name in (*keys, *_OWN))


_OWN = EVENT_COLUMNS[len(RECORDING_KEY) :]


def with_numbered_events(part: Part, marks: Iterable[str]) -> Part:
    """The content of a file with events for the labels that number them, in order of time.

    Args:
        part: with samples in order of time.
        marks: labels that are taken out of it: ``label__`` and the name of an event each.
    """
    roles = list(marks)
    if not roles:
        return part
    names = {role: pl.lit(role.removeprefix("label__")) for role in roles}
    kinds = [events_of_runs(part.data, [role], name) for role, name in names.items()]
    keys = [key for key in RECORDING_KEY if key in part.data.columns]
    events = pl.concat(kinds).sort(*keys, "onset_ms", maintain_order=True)
    return replace(part, data=part.data.drop(roles), events=events)


def events_of_kinds(data: pl.DataFrame, kinds: Sequence[str]) -> pl.DataFrame | None:
    """Events from the kind that each sample is marked with; None where none is marked.

    Args:
        data: samples in order of time with ``label__event``, and where the table has them the
            number ``label__index`` of the event and ``label__lasted_ms``, how long it lasted.
        kinds: that are events, in lower case.
    """
    if "label__event" not in data.columns:
        return None
    kind = pl.col("label__event").str.to_lowercase()
    marked = data.with_columns(pl.when(kind.is_in(kinds)).then(kind).alias("label__event"))
    marks = [name for name in ("label__event", "label__index") if name in data.columns]
    lasted_ms = number("label__lasted_ms") if "label__lasted_ms" in data.columns else None
    return events_of_runs(marked, marks, pl.col("label__event"), lasted_ms)
