"""Gaze of pymovements as a study, by its frames alone: pymovements itself is not imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.frames import Columns, check_there, study_of_frame
from eyelid.gaze.study import RECORDING_KEY, Screen, Study

_ORIGINS = {"upper left": "top-left", "lower left": "bottom-left", "center": "centre"}
# Components of a nested column, by how many there are: places of these eyes, x before y.
_EYES: Mapping[int, tuple[str, ...]] = {
    2: ("",),
    4: ("left", "right"),
    6: ("left", "right", "cyclopean"),
}
_KEYS = ("person", "recording", "task", "stimulus")


def study_of_gaze(
    gaze: object, columns: Columns, *, pupil_unit: str | None, people: object
) -> Study:
    """A study of one ``Gaze`` or several; see `Study.from_pymovements`.

    Args:
        gaze: of pymovements.
        columns: what says whose it is: columns of its samples, or entries of its metadata.
        pupil_unit: of the diameter.
        people: everybody's attributes.
    """
    # A Dataset has its recordings in a list.
    several = getattr(gaze, "gaze", gaze)
    parts = list(several) if isinstance(several, Sequence) else [several]
    if not parts:
        raise InputError("there is no gaze in it: load it first (dataset.load_gaze_files())")
    read = [_part(part, columns) for part in parts]
    facts = read[0][1]
    for _, others in read:
        if others != facts:
            names = [name for name in facts if others[name] != facts[name]]
            raise InputError(
                f"recordings differ in {', '.join(names)}: make a study of each, or of those alike"
            )
    rows = pl.concat([part for part, _ in read], how="diagonal_relaxed")
    named = {key: key for key in _KEYS if key in rows.columns}
    keys = replace(columns, **dict.fromkeys(_KEYS) | named)  # type: ignore[arg-type]
    measured = {"x": None, "y": None, "eye": None, "pupil": None}
    return study_of_frame(
        rows, keys, measured, people=people, kind="samples", pupil_unit=pupil_unit, **facts
    )


def _part(gaze: Any, columns: Columns) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rows of one recording, and what is known of it."""
    # Earlier versions call it frame.
    found = (getattr(gaze, name, None) for name in ("samples", "frame"))
    samples = next((each for each in found if each is not None), None)
    if not isinstance(samples, pl.DataFrame):
        raise InputError(
            f"this is a {type(gaze).__name__}: give a Gaze of pymovements, several, or a Dataset"
        )
    place = next((name for name in ("pixel", "position") if name in samples.columns), None)
    if place is None:
        raise InputError(
            "this gaze has neither pixel nor position: name its columns when it is made "
            "(pixel_columns=…, position_columns=…)"
        )
    facts, downwards = _facts(getattr(gaze, "experiment", None), in_px=place == "pixel")
    keys = dict(_key_columns(gaze, samples, columns))
    if "person" not in keys:
        known = [*samples.columns, *(getattr(gaze, "metadata", None) or {})]
        raise InputError(
            "nobody says whose gaze this is: name a column of its samples, or an entry of its "
            f"metadata, person='…' (there are {', '.join(known)})"
        )
    count = int(samples.select(pl.col(place).list.len().max()).item() or 0)
    if count not in _EYES:
        raise InputError(f"column '{place}' has {count} components, and eyes have 2, 4 or 6")
    pupil = "pupil" if "pupil" in samples.columns else None
    eyes = [
        samples.select(
            *[expression.alias(key) for key, expression in keys.items()],
            pl.col("time"),
            pl.col(place).list.get(2 * number).alias("x"),
            (pl.col(place).list.get(2 * number + 1) * downwards).alias("y"),
            *([pl.lit(eye).alias("eye")] if eye else []),
            *([pl.col(pupil)] if pupil and samples[pupil].dtype.is_numeric() else []),
        )
        for number, eye in enumerate(_EYES[count])
    ]
    rows = pl.concat(eyes)
    by = [key for key in RECORDING_KEY if key in rows.columns]
    return rows.sort(*by, maintain_order=True) if len(eyes) > 1 and by else rows, facts


def _key_columns(
    gaze: Any, samples: pl.DataFrame, columns: Columns
) -> Iterator[tuple[str, pl.Expr]]:
    """What says whose each sample is: a column of the samples, or one word for all of them."""
    metadata = getattr(gaze, "metadata", None) or {}
    for key in _KEYS:
        name = getattr(columns, key)
        if name is None and key not in samples.columns and key not in metadata:
            continue
        name = name or key
        if name not in samples.columns and name in metadata:
            yield key, pl.lit(str(metadata[name]))
            continue
        check_there(samples, {key: name})
        yield key, pl.col(name)


def _facts(experiment: Any, *, in_px: bool) -> tuple[dict[str, Any], float]:
    """What an experiment tells of its samples, and by what y is to be multiplied."""
    screen = getattr(experiment, "screen", None)
    origin = getattr(screen, "origin", None)
    if origin is not None and origin not in _ORIGINS:
        raise InputError(
            f"the screen's origin is '{origin}', and eyelid knows {', '.join(_ORIGINS)}"
        )
    rate_hz = getattr(experiment, "sampling_rate", None)
    facts: dict[str, Any] = {
        "units": "px" if in_px else "deg",
        "rate_hz": None if rate_hz is None else float(rate_hz),
        "screen": None if screen is None else _screen(screen),
        "xy_origin": _ORIGINS.get(origin or "") if in_px else "centre",
    }
    # Degrees are from the middle of the screen, y as on the screen; ours go up.
    return facts, -1.0 if not in_px and origin == "upper left" else 1.0


def _screen(screen: Any) -> Screen:
    def known(name: str) -> float | None:
        try:
            value = getattr(screen, name)
        except (AttributeError, TypeError, ValueError):
            return None
        return None if value is None else float(value)

    wide, high, far = (known(f"{side}_cm") for side in ("width", "height", "distance"))
    across, down = (known(f"{side}_px") for side in ("width", "height"))
    return Screen(
        width_px=None if across is None else int(across),
        height_px=None if down is None else int(down),
        width_m=None if wide is None else wide / 100,
        height_m=None if high is None else high / 100,
        distance_m=None if far is None else far / 100,
    )
