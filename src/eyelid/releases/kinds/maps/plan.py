"""Everything about a heatmap that is settled before noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast, get_args

from eyelid.errors import InputError
from eyelid.gaze.areas import Area, check_on_picture
from eyelid.gaze.maps.gaze_points import Weight, layers_of
from eyelid.gaze.study import Study
from eyelid.io.areas import read_areas
from eyelid.mechanisms.certificate import ReleasedAs
from eyelid.mechanisms.differential import default_delta
from eyelid.mechanisms.maps.aoi_tables import AoiTables, AreaFacts
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.mechanisms.maps.noisy_sum import MOST_ENTRIES
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts, mechanism_named
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON, Unit
from eyelid.releases.accounting import Plan
from eyelid.releases.kinds.features.plan import promised
from eyelid.releases.kinds.maps.settings import (
    FEWEST_IN_GROUP,
    MOST_POINTS,
    check_drawable,
    groups_of,
    mechanism_for,
    stretches_of,
    total_epsilon,
)
from eyelid.releases.kinds.maps.view import View, check_usable
from eyelid.spelling import plural

Cost = Callable[[Mechanism, PublicFacts, Unit], Guarantee]

# Of all maps together; each has three numbers a px.
_MOST_PX = 1 << 25
_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Observers:
    """The people of one map: everybody, or one public group.

    Attributes:
        name: of the group; empty for everybody.
        facts: the public facts of their map.
    """

    name: str
    facts: MapFacts


@dataclass(frozen=True, eq=False)
class AreaDesign:
    """Tables over areas of interest.

    Attributes:
        mechanism: with its parameters.
        areas: of interest.
        facts: the public facts.
    """

    mechanism: AoiTables
    areas: tuple[Area, ...]
    facts: AreaFacts


@dataclass(frozen=True, eq=False)
class MapDesign:
    """Maps, or tables over areas, or both, that could be released: nobody's gaze is in it.

    Attributes:
        view: what was looked at.
        people: everybody whose data the release touches.
        layers: names of the pictures or stretches of time.
        mechanism: for the maps; None without maps.
        observers: of each map: everybody, or two groups; none without maps.
        tables: over areas of interest; None without them.
        weight: what a gaze point counts.
        stretches_ms: where stretches of time begin, and where the last one ends.
        by: the attribute that groups are made by.
    """

    view: View
    people: tuple[str, ...]
    layers: tuple[str, ...]
    mechanism: MapMechanism | None
    observers: tuple[Observers, ...]
    tables: AreaDesign | None
    weight: Weight
    stretches_ms: tuple[float, ...] | None
    by: str | None

    @property
    def mechanisms(self) -> list[Mechanism]:
        """All that are used, the maps' first."""
        tables = None if self.tables is None else self.tables.mechanism
        return [each for each in (self.mechanism, tables) if each is not None]

    def guarantee(self, cost: Cost) -> Guarantee:
        """For a person, over everything released.

        Args:
            cost: what a mechanism costs, by its public facts and the unit.
        """
        costs = []
        if self.tables is not None:
            costs.append(cost(self.tables.mechanism, self.tables.facts, PERSON))
        if self.mechanism is not None:
            costs.append(_apart([cost(self.mechanism, e.facts, PERSON) for e in self.observers]))
        return _together(costs)

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
    def in_words(self) -> str:
        """How much there is of it, in a few words."""
        said = [plural(len(self.people), "person", "people")]
        if self.mechanism is not None:
            grid = self.observers[0].facts.grid
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
            said.append(self.mechanism.person_total(self.observers[0].facts))
            if self.by:
                said[0] += ", in the map of one group only"
        if self.tables is not None:
            said.append(f"tables of areas {self.tables.mechanism.person_total(self.tables.facts)}")
        return "; ε adds up over both: ".join(said)

    def sampler(self) -> str:
        """The noise in words."""
        said = []
        for each in self.observers:
            assert self.mechanism is not None
            words = self.mechanism.sampler(each.facts)
            said.append(f"{each.name}: {words}" if each.name else words)
        if self.tables is not None:
            said.append(f"areas: {self.tables.mechanism.sampler(self.tables.facts)}")
        return "; ".join(said)

    def check_room(self) -> None:
        """Refuse what could not be added up or drawn, whatever the data are."""
        for each in self.observers:
            assert self.mechanism is not None
            check_drawable(self.mechanism, each.facts, self.view.sigma_px)
            self.mechanism.check_room(each.facts)
        if self.tables is not None:
            self.tables.mechanism.check_room(self.tables.facts)

    def check_points(self, most: int) -> None:
        """Refuse a person who may have looked at more cells than can be added up exactly.

        Args:
            most: gaze points of the person with most.
        """
        mechanism = self.mechanism
        if mechanism is None or mechanism.execution is not Execution.BY_SUMS:
            return
        for each in self.observers:
            if min(each.facts.recordings * each.facts.length, most) > MOST_ENTRIES:
                raise InputError(
                    f"a participant has {most:,} gaze points, which may be in more than "
                    f"{MOST_ENTRIES:,} cells: take a coarser grid (`grid=…`)"
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
            whole = replace(self.observers[0].facts, people=len(self.people))
            said += self.mechanism.unprotected(whole)
        if self.tables is not None:
            said += self.tables.mechanism.unprotected(self.tables.facts)
        said.append(
            "the size and geometry of the screen as the recordings state them, where the picture's "
            "size or the point spread follow from it"
        )
        if self.by:
            sizes = ", ".join(f"{each.name}: {each.facts.people}" for each in self.observers)
            said.append(f"who is in which group by {self.by} ({sizes})")
        return list(dict.fromkeys(said))

    @property
    def released_as(self) -> ReleasedAs:
        """What kind of thing it is, with the public groups that it is about."""
        kind = ReleaseKind.TABLES if self.mechanism is None else self.mechanism.release
        if not self.by:
            return ReleasedAs(kind)
        return ReleasedAs(kind, self.by, {each.name: each.facts.people for each in self.observers})

    @property
    def described(self) -> dict[str, Any]:
        """What is public about the maps, as a certificate tells it: enough to make them again."""
        place = self.view.placement
        grid = self.observers[0].facts.grid if self.observers else None
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
                "people": {each.name: each.facts.people for each in self.observers},
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
) -> Plan[MapDesign]:
    """Check everything that can be checked by public facts, before any gaze is read.

    Args:
        study: who there is, and what is known about them; its rows are left alone.
        view: what was looked at.
        noise: where it will come from.
        mechanism: its name, or set; by default chosen.
        epsilon: the total.
        level: instead of it.
        weight: what a gaze point counts.
        every_s: length of stretches of time.
        for_s: until when.
        by: an attribute to make groups by.
        between: two of its values.
        areas: of interest, or their file.
        only_areas: and no map.
        parameters: of the mechanism and of tables.
    """
    check_usable(study)
    if weight not in get_args(Weight):
        raise InputError(
            f"weight is count (every gaze point is 1) or duration (its seconds), got '{weight}'"
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
    if people < FEWEST_IN_GROUP:
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
        raise InputError(f"{sorted(for_tables)[0]} is of tables of areas: give `areas=…`")
    total = total_epsilon(epsilon, level, mechanism)
    both = areas is not None and not only_areas
    own = None if total is None else total / 2 if both else total
    reasons = [] if noise.private else [SEEDED]

    tables = None
    if areas is not None:
        tables = _tables(areas, view.stimuli or (), own, for_tables, people, layers)
        check_on_picture(tables.areas, *view.size)
    chosen: MapMechanism | None = None
    observers: tuple[Observers, ...] = ()
    if only_areas:
        if given or mechanism is not None:
            what = "mechanism" if mechanism is not None else sorted(given)[0]
            raise InputError(f"{what} is of maps: leave it out, or `only_areas=True`")
    else:
        chosen = mechanism_for(mechanism, own, given, people, layers, view)
        _refuse_caps(chosen, weight, by)
        chosen, observers = _with_groups(chosen, people, layers, view, groups)
    design = MapDesign(
        view=view,
        people=everybody,
        layers=names,
        mechanism=chosen,
        observers=observers,
        tables=tables,
        weight=weight,
        stretches_ms=stretches_ms,
        by=by,
    )
    # Whatever could fail about the noise fails now, before anything is paid.
    guarantee = design.guarantee(lambda used, facts, unit: promised(used, facts, unit, *reasons))
    design.check_room()
    width, height = view.size
    return Plan(
        design=design,
        what=design.what,
        mechanism=design.mechanisms[0],
        people=everybody,
        guarantee=guarantee,
        person_level=guarantee,
        how=design.how,
        bounds=Bounds({"x_px": (0.0, float(width)), "y_px": (0.0, float(height))}),
        noise=(design.sampler(), design.numerics, noise.name),
        unprotected=design.unprotected,
        # Who is in which group tells people apart.
        alike=not by,
        released_as=design.released_as,
        map=design.described,
        chosen=study.chosen,
    )


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
        raise InputError("`between` names two values of an attribute: say which with `by`")
    if (by or stretches_ms) and view.stimuli is not None and len(view.stimuli) > 1:
        what = "groups are compared on" if by else "stretches of time are of"
        raise InputError(f"{what} one stimulus, got {len(view.stimuli)}: name one")
    if by and stretches_ms:
        raise InputError("groups are compared on one map: leave out `every_s` and `for_s`, or `by`")
    if by and areas is not None:
        raise InputError("tables of areas are over everybody: leave out `areas` or `by`")
    if only_areas and areas is None:
        raise InputError("there are no areas to make tables of: give them with `areas=…`")


def _refuse_caps(mechanism: MapMechanism, weight: Weight, by: str | None) -> None:
    """Say where a cap cannot be chosen by the data."""
    cap = mechanism.parameters().get("cap")
    if by and cap in ("private", "paper"):
        raise InputError(
            f"`cap={cap}` chooses a cap for each group, and groups would differ by their caps: "
            "give both the same, such as `cap=1`"
        )
    if weight == "duration" and cap == "paper":
        raise InputError(
            "`cap='paper'` (Algorithm 1) is about whole numbers of gaze points, not about seconds: "
            "give a "
            "number, or leave out `weight='duration'`"
        )


def _tables(
    areas: Path | str | Sequence[Area],
    stimuli: Sequence[str],
    epsilon: float | None,
    parameters: dict[str, Any],
    people: int,
    layers: int,
) -> AreaDesign:
    listed = read_areas(areas, stimuli) if isinstance(areas, str | Path) else tuple(areas)
    if epsilon is None:
        raise InputError("tables of areas need an ε of their own: give `level` or `epsilon`")
    made = cast(AoiTables, mechanism_named(AoiTables.name, epsilon=epsilon, **parameters))
    if made.visits > MOST_POINTS:
        raise InputError(f"visits must be at most {MOST_POINTS:,}, got {made.visits:,}")
    return AreaDesign(made, listed, made.facts_of(people, layers, len(listed)))


def _with_groups(
    chosen: MapMechanism, people: int, layers: int, view: View, groups: dict[str, list[str]]
) -> tuple[MapMechanism, tuple[Observers, ...]]:
    """Whose maps are made, on one grid and within one clip: those that fit the smallest group."""
    fewest = min((len(members) for members in groups.values()), default=people)
    smallest = chosen.facts_of(fewest, layers, view.width_px, view.height_px, view.sigma_px)
    if not groups:
        return chosen, (Observers("", smallest),)
    settings: dict[str, Any] = {"grid": f"{smallest.grid.columns}x{smallest.grid.rows}"}
    if "delta" in chosen.parameters() and chosen.parameters()["delta"] is None:
        settings["delta"] = default_delta(people)
    chosen = replace(chosen, **settings).fixed_at(smallest)
    return chosen, tuple(
        Observers(name, MapFacts.of(len(members), layers, smallest.grid))
        for name, members in groups.items()
    )


def _apart(costs: Sequence[Guarantee]) -> Guarantee:
    """ε and δ of maps of different people: the worst of them."""
    if len(costs) == 1:
        return costs[0]
    if all(each.holds for each in costs):
        return parallel(costs)
    return max(costs, key=lambda each: (each.epsilon or 0.0, each.delta or 0.0))


def _together(costs: Sequence[Guarantee]) -> Guarantee:
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
