"""Everything about a heatmap that is settled before noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import Area, check_on_picture
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.looks import Looks, Weight, layers_of, looks_of, stretches
from eyelid.gaze.maps.noise_peaks import contrast_peak, noise_peak
from eyelid.gaze.maps.spread import spread_error
from eyelid.gaze.study import Study
from eyelid.io.areas import read_areas
from eyelid.mechanisms.maps.aoi_tables import AoiTables, AreaShape
from eyelid.mechanisms.maps.map_gaussian import MapGaussian
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.mechanisms.maps.map_mechanism import MapMechanism, MapShape
from eyelid.mechanisms.maps.noisy_map import NoisyMap
from eyelid.mechanisms.maps.noisy_sum import MOST_ENTRIES, LaplaceSum
from eyelid.mechanisms.mechanism import mechanism as built
from eyelid.mechanisms.records.approximate import default_delta
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
from eyelid.releases.certificate import ReleasedAs
from eyelid.releases.maps.view import View
from eyelid.releases.plan import promised
from eyelid.spelling import plural

LEVELS = {"good": 1.0, "okay": 3.0}
"""ε by name (Liu et al. 2019)."""

# An average place known to within this share: then counts in pixels are worth their noise.
_KNOWN_WITHIN = 0.25
# Of all maps together; each has three numbers a px.
_MOST_PX = 1 << 25
# What every px of a line gets of every cell along it: more does not fit into memory.
_MOST_SHARES = 1 << 26
# Beyond these, arithmetic ends before anybody could mean it.
_MOST_LOOKS, _LEAST_CLIP, _MOST_NOISE = 10**9, 1e-9, 1e100
_FEWEST_IN_GROUP = 2
_GROUPS = 2
_MOST_NAMED = 3
_MS = 1000.0


@dataclass(frozen=True, eq=False)
class Observers:
    """The people of one map: everybody, or one public group.

    Attributes:
        name: of the group; empty for everybody.
        shape: the public facts of their map.
    """

    name: str
    shape: MapShape


@dataclass(frozen=True, eq=False)
class AreaPlan:
    """Tables over areas of interest.

    Attributes:
        mechanism: with its parameters.
        areas: of interest.
        shape: the public facts.
    """

    mechanism: AoiTables
    areas: tuple[Area, ...]
    shape: AreaShape


@dataclass(frozen=True, eq=False)
class MapPlan:
    """Maps, or tables over areas, or both, that could be released: nobody's gaze is in it.

    Attributes:
        view: what was looked at.
        people: everybody whose data the release touches.
        layers: names of the pictures or stretches of time.
        mechanism: for the maps; None without maps.
        observers: of each map: everybody, or two groups; none without maps.
        tables: over areas of interest; None without them.
        guarantee: for a person, over everything released.
        weight: what a look counts.
        stretches_ms: where stretches of time begin, and where the last one ends.
        by: the attribute that groups are made by.
    """

    view: View
    people: tuple[str, ...]
    layers: tuple[str, ...]
    mechanism: MapMechanism | None
    observers: tuple[Observers, ...]
    tables: AreaPlan | None
    guarantee: Guarantee
    weight: Weight
    stretches_ms: tuple[float, ...] | None
    by: str | None

    @property
    def what(self) -> str:
        """What is released, and of which pictures, in a few words."""
        said = ["heatmap"] if self.mechanism is not None else []
        if self.tables is not None:
            said.append("tables of areas")
        names = self.view.stimuli or ()
        pictures = ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} pictures"
        over = " over time" if self.stretches_ms else f" by {self.by}" if self.by else ""
        return " and ".join(said) + (f" of {pictures}" if pictures else "") + over

    @property
    def told(self) -> str:
        """How much there is of it, in a few words."""
        said = [plural(len(self.people), "person", "people")]
        if self.mechanism is not None:
            grid = self.observers[0].shape.grid
            count = plural(len(self.observers) * len(self.layers), "map")
            said.append(f"{count} of {self.view.width_px} × {self.view.height_px} px")
            said.append(f"measured in {grid.columns} × {grid.rows} cells by {self.mechanism.name}")
        if self.tables is not None:
            said.append(f"{plural(len(self.tables.mechanism.names), 'table')} of areas")
        return ", ".join(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for granted."""
        size = (self.view.width_px, self.view.height_px)
        beyond = [
            f"area '{area.name}' reaches beyond the picture: only its part on the picture counts"
            for area in (self.tables.areas if self.tables is not None else ())
            if (area.corners < 0).any() or (area.corners > size).any()
        ]
        return *self.view.notes, *beyond

    @property
    def how(self) -> str:
        """How the total of a person comes about, in words."""
        said = []
        if self.mechanism is not None:
            said.append(self.mechanism.person_total(self.observers[0].shape))
            if self.by:
                said[0] += ", in the map of one group only"
        if self.tables is not None:
            said.append(f"tables of areas {self.tables.mechanism.person_total(self.tables.shape)}")
        return "; ε adds up over both: ".join(said)

    def sampler(self) -> str:
        """The noise in words."""
        said = []
        for each in self.observers:
            assert self.mechanism is not None
            words = self.mechanism.sampler(each.shape)
            said.append(f"{each.name}: {words}" if each.name else words)
        if self.tables is not None:
            said.append(f"areas: {self.tables.mechanism.sampler(self.tables.shape)}")
        return "; ".join(said)

    def check_room(self) -> None:
        """Refuse what could not be added up or drawn, whatever the data are."""
        for each in self.observers:
            assert self.mechanism is not None
            check_drawable(self.mechanism, each.shape, self.view.sigma_px)
            if isinstance(self.mechanism, NoisyMap):
                self.mechanism.check_room(each.shape)
        if self.tables is not None:
            self.tables.mechanism.check_room(self.tables.shape)

    def check_looks(self, most: int) -> None:
        """Refuse somebody who may have looked at more cells than can be added up exactly.

        Args:
            most: looks of whoever has most.
        """
        for each in self.observers:
            cells = each.shape.recordings * each.shape.length
            if isinstance(self.mechanism, NoisyMap) and min(cells, most) > MOST_ENTRIES:
                raise InputError(
                    f"somebody has {most:,} looks, which may be in more than {MOST_ENTRIES:,} "
                    "cells: take a coarser grid (--grid WxH)"
                )

    @property
    def numerics(self) -> str:
        """Whether the arithmetic keeps the promise."""
        return "exact" if self.mechanism is None else self.mechanism.numerics

    @property
    def unprotected(self) -> list[str]:
        """What of the output is outside the guarantee, in words."""
        said: list[str] = []
        if self.mechanism is not None:
            whole = replace(self.observers[0].shape, people=len(self.people))
            said += self.mechanism.unprotected(whole)
        if self.tables is not None:
            said += self.tables.mechanism.unprotected(self.tables.shape)
        said.append(
            "the size and geometry of the screen as the recordings state them, where the picture's "
            "size or the point spread follow from it"
        )
        if self.by:
            sizes = ", ".join(f"{each.name}: {each.shape.people}" for each in self.observers)
            said.append(f"who is in which group by {self.by} ({sizes})")
        return list(dict.fromkeys(said))

    @property
    def released_as(self) -> ReleasedAs:
        """What kind of thing it is, with the public groups that it is about."""
        kind = ReleaseKind.TABLES if self.mechanism is None else self.mechanism.release
        if not self.by:
            return ReleasedAs(kind)
        return ReleasedAs(kind, self.by, {each.name: each.shape.people for each in self.observers})

    @property
    def facts(self) -> dict[str, Any]:
        """What is public about the maps, as a certificate tells it: enough to make them again."""
        place = self.view.placement
        grid = self.observers[0].shape.grid if self.observers else None
        return {
            "width_px": self.view.width_px,
            "height_px": self.view.height_px,
            "placement": {"x_px": place.x_px, "y_px": place.y_px, "scale": place.scale},
            "stimuli": None if self.view.stimuli is None else list(self.view.stimuli),
            "layers": list(self.layers),
            "stretches_ms": None if self.stretches_ms is None else list(self.stretches_ms),
            "weight": self.weight,
            "sigma_px": self.view.sigma_px,
            "grid": None if grid is None else [grid.columns, grid.rows],
            "groups": None
            if not self.by
            else {
                "by": self.by,
                "people": {each.name: each.shape.people for each in self.observers},
            },
            "areas": None
            if self.tables is None
            else {
                "mechanism": self.tables.mechanism.name,
                "parameters": self.tables.mechanism.parameters(),
                "areas": [
                    {"name": area.name, "polygon": area.corners.tolist()}
                    for area in self.tables.areas
                ],
            },
        }


def make_map_plan(
    study: Study,
    view: View,
    noise: Randomness,
    *,
    mechanism: str | MapMechanism | None = None,
    epsilon: float | None = None,
    level: str | None = None,
    weight: Weight = "count",
    every_s: float | None = None,
    for_s: float | None = None,
    by: str | None = None,
    between: Sequence[str] | None = None,
    areas: Path | str | Sequence[Area] | None = None,
    only_areas: bool = False,
    **parameters: Any,
) -> MapPlan:
    """Check everything that can be checked by public facts, before any gaze is read.

    Args:
        study: who there is, and what is known about them; its rows are left alone.
        view: what was looked at.
        noise: where it will come from.
        mechanism: its name, or set; by default chosen.
        epsilon: the total.
        level: instead of it.
        weight: what a look counts.
        every_s: length of stretches of time.
        for_s: until when.
        by: an attribute to make groups by.
        between: two of its values.
        areas: of interest, or their file.
        only_areas: and no map.
        parameters: of the mechanism and of tables.
    """
    _refuse_unusable(study)
    if weight not in get_args(Weight):
        raise InputError(
            f"weight is count (every look is 1) or duration (a look is its seconds), got '{weight}'"
        )
    given = {key: value for key, value in parameters.items() if value is not None}
    stretches_ms = stretches_of(every_s, for_s)
    _refuse_mixtures(view, stretches_ms, by, between, areas, only_areas)
    groups = groups_of(study, by, between) if by else {}
    everybody = tuple(
        [name for members in groups.values() for name in members] or study.people["person"]
    )
    names = layers_of(view.stimuli, stretches_ms)
    people, layers = len(everybody), len(names)
    if people < _FEWEST_IN_GROUP:
        raise InputError(
            f"the study has only one person ({everybody[0]}), who has nobody to hide among: a "
            "map needs at least 2 people"
        )
    if layers * max(1, len(groups)) * view.width_px * view.height_px > _MOST_PX:
        raise InputError(
            f"{layers} maps of {view.width_px} × {view.height_px} px are more than fit: take "
            "fewer, longer stretches of time, or a smaller picture"
        )
    of_tables = {item.name for item in fields(AoiTables)} - {item.name for item in fields(MapGrid)}
    for_tables = {key: given.pop(key) for key in of_tables & set(given)}
    if for_tables and areas is None:
        raise InputError(f"{sorted(for_tables)[0]} is of tables of areas: give --areas FILE")
    total = _epsilon(epsilon, level, mechanism)
    both = areas is not None and not only_areas
    own = None if total is None else total / 2 if both else total
    reasons = [] if noise.private else [SEEDED]

    tables = None
    costs = []
    if areas is not None:
        tables = _tables(areas, own, for_tables, people, layers)
        check_on_picture(tables.areas, *view.size)
        costs.append(promised(tables.mechanism, tables.shape, PERSON, *reasons))
    chosen: MapMechanism | None = None
    observers: tuple[Observers, ...] = ()
    if only_areas:
        if given or mechanism is not None:
            what = "mechanism" if mechanism is not None else sorted(given)[0]
            raise InputError(f"{what} is of maps: leave it out, or --only areas")
    else:
        chosen = _mechanism(mechanism, own, given, people, layers, view)
        _refuse_caps(chosen, weight, by)
        chosen, observers = _with_groups(chosen, people, layers, view, groups)
        costs.append(apart([promised(chosen, each.shape, PERSON, *reasons) for each in observers]))
    plan = MapPlan(
        view=view,
        people=everybody,
        layers=names,
        mechanism=chosen,
        observers=observers,
        tables=tables,
        guarantee=together(costs),
        weight=weight,
        stretches_ms=stretches_ms,
        by=by,
    )
    # Whatever could fail about the noise fails now, before anything is paid.
    plan.check_room()
    plan.sampler()
    return plan


def _refuse_mixtures(
    view: View,
    stretches_ms: tuple[float, ...] | None,
    by: str | None,
    between: Sequence[str] | None,
    areas: Path | str | Sequence[Area] | None,
    only_areas: bool,
) -> None:
    """Say what cannot be had at once."""
    if between and not by:
        raise InputError("--between names two values of an attribute: say which with --by")
    if (by or stretches_ms) and view.stimuli is not None and len(view.stimuli) > 1:
        what = "groups are compared on" if by else "stretches of time are of"
        raise InputError(f"{what} one stimulus, got {len(view.stimuli)}: name one")
    if by and stretches_ms:
        raise InputError("groups are compared on one map: leave out --every and --for, or --by")
    if by and areas is not None:
        raise InputError("tables of areas are over everybody: leave out --areas or --by")
    if only_areas and areas is None:
        raise InputError("there are no areas to make tables of: give them with --areas FILE")


def _refuse_caps(mechanism: MapMechanism, weight: Weight, by: str | None) -> None:
    """Say where a cap cannot be chosen by the data."""
    cap = mechanism.parameters().get("cap")
    if by and cap in ("private", "paper"):
        raise InputError(
            f"--cap {cap} chooses a cap for each group, and groups would differ by their caps: "
            "give both the same, such as --cap 1"
        )
    if weight == "duration" and cap == "paper":
        raise InputError(
            "--cap paper (Algorithm 1) is about whole numbers of looks, not about seconds: give a "
            "number, or leave out --weight duration"
        )


def seen(
    study: Study,
    view: View,
    weight: Weight,
    stretches_ms: Sequence[float] | None = None,
    people: Sequence[str] | None = None,
    known: Sequence[str] | None = None,
) -> Looks:
    """Where people looked on the picture. Durations weigh in seconds, and so do caps of them."""
    looks = looks_of(
        study,
        width_px=view.width_px,
        height_px=view.height_px,
        stimuli=view.stimuli,
        placement=view.placement,
        weight=weight,
        stretches_ms=stretches_ms,
        people=people,
        known=known,
    )
    return replace(looks, weight=looks.weight / _MS) if weight == "duration" else looks


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
            "--between A,B"
        )
    groups = {value: each.filter(pl.col(by) == value)["person"].to_list() for value in wanted}
    alone = [value for value, members in groups.items() if len(members) < _FEWEST_IN_GROUP]
    if alone:
        raise InputError(
            f"the group '{alone[0]}' by {by} is one person, and a map of one is their own: group "
            "by something coarser"
        )
    return groups


def group_of(by: str) -> pl.Expr:
    """Which group somebody is in, by an attribute."""
    return pl.col(by).cast(pl.String).str.strip_chars().replace("", None)


def map_mechanism(name: str, **parameters: Any) -> MapMechanism:
    """A mechanism for maps with its parameters, refused if it is for something else."""
    made = built(name, **parameters)
    if isinstance(made, AoiTables):
        raise InputError(f"{name} makes tables of areas: write --areas FILE --only areas")
    if not isinstance(made, MapMechanism):
        raise InputError(
            f"{made.name} takes {made.takes}, not gaze maps: use 'eyelid {made.command}'"
        )
    return made


def check_drawable(mechanism: MapMechanism, shape: MapShape, sigma_px: float) -> None:
    """Refuse limits, noise and grids of which no map could be computed, whatever the data are."""
    given = mechanism.parameters()
    for name in ("cap", "samples"):
        value = given.get(name)
        if isinstance(value, int) and value > _MOST_LOOKS:
            raise InputError(f"{name} must be at most {_MOST_LOOKS:,} looks, got {value:,}")
    clip = given.get("clip")
    if isinstance(clip, float) and clip < _LEAST_CLIP:
        raise InputError(f"clip must be at least {_LEAST_CLIP:g}, got {clip:g}")
    grid = shape.grid
    if not mechanism.cell_sd(shape) < _MOST_NOISE:
        raise InputError(
            f"the noise of {mechanism.name} at epsilon {mechanism.epsilon:g} is beyond measure: "
            "choose a larger ε"
        )
    if not fits(grid):
        raise InputError(
            f"{grid.columns} × {grid.rows} cells on a picture of {grid.width_px} × "
            f"{grid.height_px} px are more than fit: take fewer cells (--grid WxH), or a smaller "
            "picture"
        )
    # The first to need much memory; it is kept for the pictures.
    laplace = isinstance(mechanism, LaplaceSum)
    noise_peak(grid, sigma_px, laplace=laplace)
    contrast_peak(grid, sigma_px, laplace=laplace)


def fits(grid: Grid) -> bool:
    """Whether there is room to spread cells out over their picture."""
    return max(grid.width_px * grid.columns, grid.height_px * grid.rows) <= _MOST_SHARES


def default_mechanism(
    people: int, layers: int, size: tuple[int, int], sigma_px: float, **parameters: Any
) -> MapMechanism:
    """The mechanism when nobody names one, from public facts alone.

    Whoever sets ``cap`` or ``samples`` means counts, `map-gaussian`; whoever sets ``grid`` or
    ``clip`` means `map-grid`. Otherwise it is `map-grid`, unless so many people looked that counts
    in every pixel would tell even an average place to within 25 %: a standard error, at the middle
    of the spread-out map, of no more than a quarter of M looks spread evenly over all maps.
    """
    if {"cap", "samples"} & set(parameters):
        return map_mechanism(MapGaussian.name, **parameters)
    coarse = map_mechanism(MapGrid.name, **parameters)
    if {"grid", "clip"} & set(parameters):
        return coarse
    fine = map_mechanism(MapGaussian.name, **parameters)
    assert isinstance(fine, MapGaussian)
    width_px, height_px = size
    shape = fine.shape_of(people, layers, width_px, height_px, sigma_px)
    if not fits(shape.grid):
        return coarse
    even = fine.samples / (layers * width_px * height_px)
    error = spread_error(shape.grid, sigma_px, fine.cell_sd(shape))
    return fine if error[height_px // 2, width_px // 2] <= _KNOWN_WITHIN * even else coarse


def level_epsilon(epsilon: float | None, level: str | None) -> float | None:
    """ε from a number or a name; None if neither is given."""
    if level is None:
        return epsilon
    if epsilon is not None:
        raise InputError(
            f"--level {level} is an ε of its own ({LEVELS.get(level, 0):g}): leave out one of both"
        )
    if level not in LEVELS:
        raise unknown("level", level, LEVELS)
    return LEVELS[level]


def _epsilon(
    epsilon: float | None, level: str | None, mechanism: str | MapMechanism | None
) -> float | None:
    """The total; None where the mechanism brings its own."""
    total = level_epsilon(epsilon, level)
    if isinstance(mechanism, MapMechanism):
        if total is not None:
            raise InputError(f"{mechanism.name} has its ε set already: leave it out")
        return None
    if total is None and mechanism is None:
        raise InputError(
            "say how private it must be: --level good (ε = 1), --level okay (ε = 3), or --epsilon E"
        )
    return total


def _refuse_unusable(study: Study) -> None:
    if study.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    if study.kind == "features":
        raise InputError(
            "a heatmap needs samples or fixations, and this is a study of features: start from the "
            "recordings"
        )


def stretches_of(every_s: float | None, for_s: float | None) -> tuple[float, ...] | None:
    """Edges of stretches of time in ms; None if nobody asks for any."""
    if every_s is None and for_s is None:
        return None
    if every_s is None or for_s is None:
        raise InputError("stretches of time need both --every SECONDS and --for SECONDS")
    if not (0 < every_s <= for_s and math.isfinite(for_s)):
        raise InputError(
            f"--every must be above 0 s and at most --for, got {every_s:g} and {for_s:g}"
        )
    count = round(for_s / every_s)
    if not math.isclose(count * every_s, for_s, rel_tol=1e-9):
        fewer = math.floor(for_s / every_s)
        raise InputError(
            f"--for {for_s:g} is no multiple of --every {every_s:g}, and the rest would be left "
            f"out: write --for {fewer * every_s:.10g} or --for {(fewer + 1) * every_s:.10g}"
        )
    return stretches(every_s * _MS, count)


def _tables(
    areas: Path | str | Sequence[Area],
    epsilon: float | None,
    parameters: dict[str, Any],
    people: int,
    layers: int,
) -> AreaPlan:
    listed = read_areas(areas) if isinstance(areas, str | Path) else tuple(areas)
    if epsilon is None:
        raise InputError("tables of areas need an ε of their own: give --level or --epsilon")
    made = built(AoiTables.name, epsilon=epsilon, **parameters)
    assert isinstance(made, AoiTables)
    if made.visits > _MOST_LOOKS:
        raise InputError(f"visits must be at most {_MOST_LOOKS:,}, got {made.visits:,}")
    return AreaPlan(made, listed, made.shape_of(people, layers, len(listed)))


def _mechanism(
    asked: str | MapMechanism | None,
    epsilon: float | None,
    parameters: dict[str, Any],
    people: int,
    layers: int,
    view: View,
) -> MapMechanism:
    if isinstance(asked, MapMechanism):
        if parameters:
            raise InputError(
                f"{asked.name} has its parameters set already: leave out {', '.join(parameters)}"
            )
        return asked
    if epsilon is not None:
        parameters = {"epsilon": epsilon, **parameters}
    if asked is None:
        return default_mechanism(people, layers, view.size, view.sigma_px, **parameters)
    return map_mechanism(asked, **parameters)


def _with_groups(
    chosen: MapMechanism, people: int, layers: int, view: View, groups: dict[str, list[str]]
) -> tuple[MapMechanism, tuple[Observers, ...]]:
    """Whose maps are made, on one grid and within one clip: those that fit the smallest group."""
    fewest = min((len(members) for members in groups.values()), default=people)
    smallest = chosen.shape_of(fewest, layers, view.width_px, view.height_px, view.sigma_px)
    if not groups:
        return chosen, (Observers("", smallest),)
    settings: dict[str, Any] = {"grid": f"{smallest.grid.columns}x{smallest.grid.rows}"}
    if "delta" in chosen.parameters() and chosen.parameters()["delta"] is None:
        settings["delta"] = default_delta(people)
    chosen = replace(chosen, **settings)
    if isinstance(chosen, MapGrid):
        chosen = replace(chosen, clip=chosen.radius(smallest))
    return chosen, tuple(
        Observers(name, MapShape.of(len(members), layers, smallest.grid))
        for name, members in groups.items()
    )


def apart(costs: Sequence[Guarantee]) -> Guarantee:
    """ε and δ of maps of different people: the worst of them."""
    if len(costs) == 1:
        return costs[0]
    if all(each.holds for each in costs):
        return parallel(costs)
    return max(costs, key=lambda each: (each.epsilon or 0.0, each.delta or 0.0))


def together(costs: Sequence[Guarantee]) -> Guarantee:
    """ε and δ of a map and tables of the same people: both add up."""
    first, *others = costs
    if not others:
        return first
    reasons = tuple(dict.fromkeys(reason for each in costs for reason in each.reasons))
    delta = math.fsum(each.delta or 0.0 for each in costs)
    differential = all(each.kind.differential for each in costs)
    kind = (Kind.APPROXIMATE if delta else Kind.PURE) if differential else Kind.NONE
    return replace(
        first,
        kind=kind,
        epsilon=math.fsum(math.inf if g.epsilon is None else g.epsilon for g in costs),
        delta=delta,
        mu=None,
        slack=0.0,
        holds=all(each.holds for each in costs),
        reasons=reasons,
    )
