"""What to know of files that were read: rates, odd places, values beyond bounds, no rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import Study, track_key, track_starts
from eyelid.io.part import Part, Places

# Calibration is off by a few per cent of a screen at most, and people look away seldom.
_MUCH_OFF_SCREEN = 0.05
# Eyes do not come back to the same place to the last digit.
_MANY_ALIKE, _FEWEST_ALIKE = 0.002, 10
_SAME_RATE = 0.02
_MOST_NAMED = 5
# A share of values beyond their bounds that another unit explains.
_MOSTLY = 0.5
_SAME_AS_STATED = 0.1


def outside_of(part: Part) -> dict[str, tuple[int, int]]:
    """How many values of each feature are beyond its bounds, and how many there are."""
    counted = {}
    for feature in part.features:
        values = part.data[feature.name].drop_nulls()
        inside = values.is_between(feature.lower, feature.upper).sum()
        counted[feature.name] = (len(values) - int(inside), len(values))
    return counted


def beyond_bounds(parts: Sequence[Part]) -> list[str]:
    """A remark where values will be cut off at their bounds."""
    notes = []
    for feature in parts[0].features:
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


def places_of(part: Part) -> Places:
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


def without_rows(parts: Sequence[Part]) -> list[str]:
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
        " and releases of single recordings show that: say it for all files with a list "
        "(`map='names=FILE.csv'`)"
        if unknown and any(map(_tells_stimulus, parts))
        else ""
    )
    return [
        f"from the raw data, never in a release: {len(blank):,} of {len(parts):,} files {have} no "
        f"rows ({', '.join(blank[:_MOST_NAMED])}{more}), and {count} without values{shows}"
    ]


def _tells_stimulus(each: Part) -> bool:
    stimulus = each.data.get_column("stimulus", default=None)
    return stimulus is not None and bool((stimulus.cast(pl.String).fill_null("") != "").any())


def odd_places(parts: Sequence[Part], first: Part) -> list[str]:
    """Remarks where the screen may be another one, or a place may mean that the eye was lost."""
    places = sum((each.places for each in parts), Places())
    notes = []
    for count, value in ((places.zero, 0), (places.minus_one, -1)):
        if count >= max(_MANY_ALIKE * places.known, _FEWEST_ALIKE):
            notes.append(
                f"{count:,} places are exactly ({value}, {value}): if that means that the eye was "
                f"lost, say it with `map='lost={value}'` (several values: lost=0;-1)"
            )
    if notes or places.off_screen < max(_MUCH_OFF_SCREEN * places.on_a_screen, 1):
        return notes
    screen = first.screen
    size = f" of {screen.width_px} × {screen.height_px} px" if screen and screen.width_px else ""
    return [
        f"{places.off_screen / places.on_a_screen:.0%} of gaze lies off the screen{size}: if that "
        "is not the screen, say it with `map='screen=WIDTHxHEIGHT'` (and units=, xy_origin=)"
    ]


def known_rates(each: Part) -> Sequence[float | None]:
    """The rates of a file, as all of its rows show them."""
    return rates_of(each) if each.rates_hz is None else each.rates_hz


def rates_in_words(study: Study) -> str:
    """That recordings come at different rates, where they do; empty where they do not.

    Args:
        study: any, with its rows.
    """
    rates = [rate for rate in rates_of(study) if rate]
    return f"rates differ: {range_in_words(rates)} Hz" if rates and one_rate(rates) is None else ""


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


def one_rate(rates: Sequence[float | None]) -> float | None:
    """The rate of a study; None where rates differ, or none is known."""
    known = [rate for rate in rates if rate]
    if not known or max(known) > min(known) * (1 + _SAME_RATE):
        return None
    return float(np.median(known))


def range_in_words(values: Sequence[float]) -> str:
    """The least and the most of some numbers."""
    return " to ".join(f"{value:g}" for value in sorted({min(values), max(values)}))
