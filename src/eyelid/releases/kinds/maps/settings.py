"""What a person asks of a map: ε by name, stretches of time, groups of people, the mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.maps.gaze_points import stretches
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.noise_peaks import contrast_peak, noise_peak
from eyelid.gaze.maps.spread import spread_error
from eyelid.gaze.study import Study
from eyelid.mechanisms.maps.map_gaussian import MapGaussian
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.mechanisms.mechanism import check_set_alone, mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Kind
from eyelid.releases.kinds.maps.view import View

LEVELS = {"good": 1.0, "okay": 3.0}
"""ε by name (Liu et al. 2019)."""
# An average place known to within this share: then counts in pixels are worth their noise.
_KNOWN_WITHIN = 0.25
# What every px of a line gets of every cell along it: more does not fit into memory.
_MOST_SHARES = 1 << 26
# Beyond these, arithmetic ends, and no use is left.
MOST_POINTS, _LEAST_CLIP, _MOST_NOISE = 10**9, 1e-9, 1e100
FEWEST_IN_GROUP = 2
_GROUPS = 2
MS = 1000.0


def groups_of(study: Study, by: str, between: Sequence[str] | None = None) -> dict[str, list[str]]:
    """The people of the two values of an attribute that everybody must have."""
    attributes = [name for name in study.people.columns if name != "person"]
    if by not in attributes:
        raise unknown("attribute of people to group by", by, attributes)
    each = study.people.select("person", group_of(by))
    lacking = each.filter(pl.col(by).is_null())["person"].to_list()
    if lacking:
        raise InputError(
            f"person '{lacking[0]}' has no {by} ({len(lacking)} lack it): fill it in, or group by "
            "something that everybody has"
        )
    values = sorted(each[by].unique())
    for value in between or ():
        if value not in values:
            raise unknown(f"value of {by}", value, values)
    wanted = list(between or values)
    if len(set(wanted)) != _GROUPS:
        raise InputError(
            f"a difference is between two groups, and {by} gives {len(set(wanted))} "
            f"({', '.join(wanted[:5])}{', …' if len(wanted) > 5 else ''}): name two with "
            "`between=…`"
        )
    groups = {value: each.filter(pl.col(by) == value)["person"].to_list() for value in wanted}
    alone = [value for value, members in groups.items() if len(members) < FEWEST_IN_GROUP]
    if alone:
        raise InputError(
            f"the group '{alone[0]}' by {by} is one person, and a map of one is their own: group "
            "by something coarser"
        )
    return groups


def group_of(by: str) -> pl.Expr:
    """Which group a person is in, by an attribute."""
    return pl.col(by).cast(pl.String).str.strip_chars().replace("", None)


def map_mechanism(name: str, **parameters: Any) -> MapMechanism:
    """A mechanism for maps with its parameters, refused if it is for something else."""
    made = mechanism_named(name, **parameters)
    if made.release is ReleaseKind.TABLES:
        raise InputError(f"{name} makes tables of areas: write `areas=…` `only_areas=True`")
    if made.release is not ReleaseKind.MAPS:
        raise InputError(
            f"{made.name} takes {made.takes}, not gaze maps: use 'eyelid {made.command}'"
        )
    return cast(MapMechanism, made)


def check_drawable(mechanism: MapMechanism, facts: MapFacts, sigma_px: float) -> None:
    """Refuse limits, noise and grids of which no map could be computed, whatever the data are."""
    given = mechanism.parameters()
    for name in ("cap", "samples"):
        value = given.get(name)
        if isinstance(value, int) and value > MOST_POINTS:
            raise InputError(f"{name} must be at most {MOST_POINTS:,} gaze points, got {value:,}")
    clip = given.get("clip")
    if isinstance(clip, float) and clip < _LEAST_CLIP:
        raise InputError(f"clip must be at least {_LEAST_CLIP:g}, got {clip:g}")
    grid = facts.grid
    if not mechanism.cell_sd(facts) < _MOST_NOISE:
        raise InputError(
            f"the noise of {mechanism.name} at epsilon {mechanism.epsilon:g} is beyond measure: "
            "choose a larger ε"
        )
    if not fits(grid):
        raise InputError(
            f"{grid.columns} × {grid.rows} cells on a picture of {grid.width_px} × "
            f"{grid.height_px} px are more than fit: take fewer cells (`grid=…`), or a smaller "
            "picture"
        )
    # The first to need much memory; it is kept for the pictures.
    laplace = mechanism.kind is Kind.PURE
    noise_peak(grid, sigma_px, laplace=laplace)
    contrast_peak(grid, sigma_px, laplace=laplace)


def fits(grid: Grid) -> bool:
    """Whether there is room to spread cells out over their picture."""
    return max(grid.width_px * grid.columns, grid.height_px * grid.rows) <= _MOST_SHARES


def default_mechanism(
    people: int, layers: int, size: tuple[int, int], sigma_px: float, **parameters: Any
) -> MapMechanism:
    """The mechanism when nobody names one, from public facts alone.

    To set ``cap`` or ``samples`` means counts, `map-gaussian`; to set ``grid`` or
    ``clip`` means `map-grid`. Otherwise it is `map-grid`, unless so many people looked that counts
    in every pixel would tell even an average place to within 25%: a standard error, at the middle
    of the spread-out map, of no more than a quarter of M looks spread evenly over all maps.
    """
    if {"cap", "samples"} & set(parameters):
        return map_mechanism(MapGaussian.name, **parameters)
    coarse = map_mechanism(MapGrid.name, **parameters)
    if {"grid", "clip"} & set(parameters):
        return coarse
    fine = map_mechanism(MapGaussian.name, **parameters)
    width_px, height_px = size
    facts = fine.facts_of(people, layers, width_px, height_px, sigma_px)
    if not fits(facts.grid):
        return coarse
    even = fine.most_of_person / (layers * width_px * height_px)
    error = spread_error(facts.grid, sigma_px, fine.cell_sd(facts))
    return fine if error[height_px // 2, width_px // 2] <= _KNOWN_WITHIN * even else coarse


def level_epsilon(epsilon: float | None, level: str | None) -> float | None:
    """ε from a number or a name; None if neither is given."""
    if level is None:
        return epsilon
    if epsilon is not None:
        raise InputError(
            f"`level={level}` is an ε of its own ({LEVELS.get(level, 0):g}): leave out one of both"
        )
    if level not in LEVELS:
        raise unknown("level", level, LEVELS)
    return LEVELS[level]


def total_epsilon(
    epsilon: float | None, level: str | None, mechanism: str | MapMechanism | None
) -> float | None:
    """The total; None where the mechanism brings its own."""
    total = level_epsilon(epsilon, level)
    if mechanism is not None and not isinstance(mechanism, str):
        if total is not None:
            raise InputError(f"{mechanism.name} has its ε set already: leave it out")
        return None
    if total is None and mechanism is None:
        raise InputError(
            "say how private it must be: `level='good'` (ε = 1), `level='okay'` (ε = 3), or "
            "`epsilon=…`"
        )
    return total


def stretches_of(every_s: float | None, for_s: float | None) -> tuple[float, ...] | None:
    """Edges of stretches of time in ms; None if nobody asks for any."""
    if every_s is None and for_s is None:
        return None
    if every_s is None or for_s is None:
        raise InputError("stretches of time need both `every_s=…` and `for_s=…`")
    if not (0 < every_s <= for_s and math.isfinite(for_s)):
        raise InputError(
            f"`every_s` must be above 0 s and at most `for_s`, got {every_s:g} and {for_s:g}"
        )
    count = round(for_s / every_s)
    if not math.isclose(count * every_s, for_s, rel_tol=1e-9):
        fewer = math.floor(for_s / every_s)
        raise InputError(
            f"`for_s={for_s:g}` is no multiple of `every_s={every_s:g}`, and the rest would be "
            "left "
            f"out: write `for_s={fewer * every_s:.10g}` or `for_s={(fewer + 1) * every_s:.10g}`"
        )
    return stretches(every_s * MS, count)


def mechanism_for(
    asked: str | MapMechanism | None,
    epsilon: float | None,
    parameters: dict[str, Any],
    people: int,
    layers: int,
    view: View,
) -> MapMechanism:
    """The mechanism of the maps: the one asked for, with its parameters; else chosen."""
    if asked is not None and not isinstance(asked, str):
        check_set_alone(asked, parameters)
        return asked
    if epsilon is not None:
        parameters = {"epsilon": epsilon, **parameters}
    if asked is None:
        return default_mechanism(people, layers, view.size, view.sigma_px, **parameters)
    return map_mechanism(asked, **parameters)
