"""What a heatmap or tables of areas would promise and show, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from eyelid.engine.progress import Advance, one_bar
from eyelid.errors import InputError
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.placement import Placement, default_sigma_px, point_spread_px
from eyelid.gaze.study import Screen, Study
from eyelid.io.column_map import Map
from eyelid.io.people_choice import (
    Whom,
    counted_or_chosen,
)
from eyelid.io.pieces import StudyInPieces
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import shown_by_choice, told_of_choice
from eyelid.mechanisms.maps.aoi_tables import AoiTables, AreaFacts
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.mechanisms.mechanism import find, mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.rank1 import advantage_bound
from eyelid.privacy.unit import PERSON
from eyelid.releases.kinds.features.plan import promised
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.maps.measurement import Survey, surveyed
from eyelid.releases.kinds.maps.outlook import Outlook, outlook
from eyelid.releases.kinds.maps.plan import MapPlan, make_map_plan
from eyelid.releases.kinds.maps.settings import (
    check_drawable,
    level_epsilon,
    map_mechanism,
    stretches_of,
)
from eyelid.releases.kinds.maps.view import Size, parsed_blur, view_of
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.maps.reliability import Reliability, reliability, tables_sentence, worst
from eyelid.reporting.sentences import promise_lines
from eyelid.spelling import plural


@dataclass(frozen=True)
class MapQuote:
    """A price and what it buys, from public facts only.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
        sigma_px: of the point spread.
    """

    mechanism: MapMechanism | AoiTables
    facts: MapFacts | AreaFacts
    sigma_px: float

    @property
    def guarantee(self) -> Guarantee:
        """For a person."""
        return promised(self.mechanism, self.facts, PERSON)

    @property
    def grid(self) -> Grid | None:
        """Of maps."""
        return self.facts.grid if isinstance(self.facts, MapFacts) else None

    @property
    def reliability(self) -> Reliability | None:
        """What could be trusted of a map, as far as that can be said."""
        if not isinstance(self.facts, MapFacts):
            return None
        return reliability(cast(MapMechanism, self.mechanism), self.facts, self.sigma_px)

    @property
    def clip(self) -> float | None:
        """Length within which a person's shares of gaze are kept, where there is one."""
        if not isinstance(self.facts, MapFacts):
            return None
        return cast(MapMechanism, self.mechanism).clip_at(self.facts)

    @property
    def says(self) -> str:
        """What it would be worth, in words."""
        if isinstance(self.facts, AreaFacts):
            return tables_sentence(cast(AoiTables, self.mechanism), self.facts)
        if self.reliability is None:
            return "What lies within two standard errors of the noise may be noise alone."
        return self.reliability.sentence

    @property
    def promise(self) -> list[str]:
        """What a person would be promised, in words."""
        if not self.guarantee.holds:
            return promise_lines(self.guarantee)
        return [guarantee_legend(self.guarantee, self.facts.people)]

    def rows(self) -> list[tuple[str, str]]:
        """As ``eyelid cost`` prints it."""
        layers = plural(self.facts.recordings, "map")
        told = [("mechanism", self.mechanism.name)]
        told.append(("assumed", f"{plural(self.facts.people, 'person', 'people')}, {layers}"))
        if self.grid is not None:
            cell = " × ".join(f"{length:.0f}" for length in self.grid.cell_px)
            told += [
                ("picture", f"{self.grid.width_px} × {self.grid.height_px} px"),
                ("grid", f"{self.grid.columns} × {self.grid.rows} cells of {cell} px"),
                ("point spread", f"{self.sigma_px:.3g} px"),
            ]
        if self.clip is not None:
            told.append(("a person's shares of gaze", f"clipped to a length of {self.clip:.3g}"))
        told.append(("for one person, in total", self.guarantee.numbers()))
        told.append(("noise", self.mechanism.sampler(self.facts)))
        bound = advantage_bound(self.guarantee)
        words = "no bound known" if bound is None else f"advantage at most {bound:.3g}"
        return [*told, ("told whether somebody is in it", words)]

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid cost --json`` prints it."""
        grid, trusted = self.grid, self.reliability
        return {
            "mechanism": {
                "name": self.mechanism.name,
                "parameters": self.mechanism.parameters(),
            },
            "shape": {"people": self.facts.people, "layers": self.facts.recordings},
            "guarantee": self.guarantee.to_dict(),
            "form": self.mechanism.form,
            "person_level": self.guarantee.summary()
            | {"how": self.mechanism.person_total(self.facts)},
            "noise": {
                "sampler": self.mechanism.sampler(self.facts),
                "numerics": self.mechanism.numerics,
            },
            "map": None
            if grid is None
            else {
                "width_px": grid.width_px,
                "height_px": grid.height_px,
                "sigma_px": self.sigma_px,
                "grid": [grid.columns, grid.rows],
                "clip": self.clip,
                "cell_sd": self.mechanism.cell_sd(self.facts),  # type: ignore[arg-type]
                "reliability": None if trusted is None else trusted.to_dict(),
            },
            "advantage_bound": advantage_bound(self.guarantee),
            "says": self.says,
        }


def map_cost(
    mechanism: str,
    source: Path | str | None = None,
    *,
    people: int | Whom = None,
    level: str | None = None,
    layers: int | None = None,
    every_s: float | None = None,
    for_s: float | None = None,
    size: Size | None = None,
    areas: int | None = None,
    blur: float | str | None = None,
    map: Map = None,
    **parameters: Any,
) -> MapQuote:
    """The guarantee of a heatmap and what it would show, before anything runs.

    Args:
        mechanism: its name.
        source: a study whose people and screen to take; or give them:
        people: how many people.
        level: ``good`` (ε = 1) or ``okay`` (ε = 3), instead of ``epsilon``.
        layers: how many pictures share the budget.
        every_s: length of stretches of time that share it instead.
        for_s: until when, a multiple of it.
        size: width and height of the picture in px.
        areas: how many areas of interest, for tables of them.
        blur: standard deviation of the point spread in px, or as ``1deg``.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        parameters: of the mechanism, such as ``epsilon`` and ``delta``.

    >>> quote = map_cost("map-grid", people=40, size=(1680, 1050), epsilon=1.0)
    >>> quote.grid.columns, quote.grid.rows, quote.guarantee.numbers()
    (9, 6, 'ε = 1, δ = 1e-06')
    """
    screen = Screen()
    count, whom = counted_or_chosen(people, study=source is not None)
    if source is not None:
        if count is not None:
            raise InputError("the study says how many people it has: leave it out")
        study = read(source, map, people=whom)
        count, screen = len(study.people), study.screen or screen
    if count is None:
        raise InputError("cost of a heatmap needs a study, or --people; missing: people")
    given = {key: value for key, value in parameters.items() if value is not None}
    epsilon = level_epsilon(given.pop("epsilon", None), level)
    if epsilon is not None:
        given["epsilon"] = epsilon
    layers = _layers(layers, every_s, for_s)
    if find(mechanism).release is ReleaseKind.TABLES:
        made = cast(AoiTables, mechanism_named(mechanism, **given))
        if areas is None or areas < 1:
            got = "" if areas is None else f", at least 1, got {areas}"
            raise InputError(f"the cost of tables depends on how many areas: give --areas N{got}")
        if size is not None or blur is not None:
            raise InputError("tables of areas have neither a size nor a blur: leave them out")
        return MapQuote(made, made.facts_of(count, layers, areas), 0.0)
    chosen = map_mechanism(mechanism, **given)
    if areas is not None:
        raise InputError(
            f"{chosen.name} makes no tables of areas: ask for aoi-tables as well, a map and tables "
            "have half of ε each"
        )
    if size is None and screen.width_px and screen.height_px:
        size = screen.width_px, screen.height_px
    if size is None:
        raise InputError("the cost of a map depends on the picture: give --size WxH in px")
    degree_px = point_spread_px(1.0, screen, Placement())
    sigma_px = parsed_blur(blur, degree_px, default_sigma_px(size[0], screen), size)
    shape = chosen.facts_of(count, layers, *size, sigma_px)
    check_drawable(chosen, shape, sigma_px)
    return MapQuote(chosen, shape, sigma_px)


def _layers(pictures: int | None, every_s: float | None, for_s: float | None) -> int:
    """How many maps share the budget."""
    edges = stretches_of(every_s, for_s)
    if pictures is not None and pictures < 1:
        raise InputError(f"there must be at least 1 picture (--recordings), got {pictures}")
    if edges is None:
        return pictures or 1
    if pictures not in (None, 1):
        raise InputError(f"stretches of time are of one picture, got {pictures}: leave out one")
    return len(edges) - 1


@dataclass(frozen=True, eq=False)
class HeatmapPreview:
    """A heatmap before it is paid for.

    Attributes:
        study: whose gaze it would be of, without it.
        plan: everything that is settled.
        survey: what a look at everybody's gaze told.
    """

    study: Study
    plan: MapPlan
    survey: Survey

    @property
    def protects(self) -> str:
        """Whom it would protect, as its pictures would say."""
        return guarantee_legend(self.plan.guarantee, len(self.plan.people))

    @property
    def reliability(self) -> Reliability | None:
        """What could be trusted, from public facts alone; None where nothing can be said."""
        plan = self.plan
        if plan.mechanism is None:
            return None
        found = [
            reliability(plan.mechanism, each.facts, plan.view.sigma_px) for each in plan.observers
        ]
        return worst(found)

    @property
    def outlook(self) -> Outlook | None:
        """Whether a blob in the middle is as good, from public facts; None where not known."""
        plan = self.plan
        if plan.mechanism is None:
            return None
        fewest = min(plan.observers, key=lambda each: each.facts.people)
        return outlook(
            plan.mechanism,
            fewest.facts,
            plan.view.sigma_px,
            groups=len(plan.observers),
            epsilon=plan.guarantee.epsilon,
        )

    @property
    def says(self) -> tuple[str, ...]:
        """What could be trusted and expected in sentences, of maps and of tables."""
        said = [each.sentence for each in (self.reliability, self.outlook) if each is not None]
        tables = self.plan.tables
        if tables is not None:
            beside_map = self.plan.mechanism is not None
            said.append(tables_sentence(tables.mechanism, tables.facts, beside_map=beside_map))
        return tuple(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for granted."""
        chosen = told_of_choice(self.study.chosen, len(self.plan.people))
        return *self.study.notes, *self.plan.notes, *chosen

    @property
    def for_owner(self) -> tuple[str, ...]:
        """About the raw data, so for their owner alone, and in no file."""
        survey = self.survey
        if not survey.looks:
            return (
                "no look lies on the picture: check --at, --scale and the units; the map is noise",
            )
        told = []
        if survey.outside:
            share = survey.outside / (survey.looks + survey.outside)
            about = f"{share:.0%}" if share >= 0.01 else "less than 1%"
            was = "was" if survey.outside == 1 else "were"
            told.append(f"{plural(survey.outside, 'look')} ({about}) {was} outside the picture")
        if survey.without:
            told.append(f"{plural(survey.without, 'person', 'people')} had no look on the picture")
        seen = survey.layers
        last = int(seen.nonzero()[0].max())
        if self.plan.stretches_ms is not None:
            if last + 1 < len(seen):
                begin = f"{self.plan.stretches_ms[last + 1] / 1000:.10g} s"
                rest = plural(len(seen) - last - 1, "map")
                told.append(f"nobody looked from {begin} on: the last {rest} would be noise alone")
        elif not seen.all():
            names = ", ".join(np.array(self.plan.layers)[~seen])
            told.append(f"nobody looked at {names}: a map of it is noise alone")
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid heatmap --dry-run --json`` prints it."""
        trusted, expected = self.reliability, self.outlook
        return {
            "dry_run": True,
            "people": len(self.plan.people),
            "mechanism": None if self.plan.mechanism is None else self.plan.mechanism.name,
            "guarantee": self.plan.guarantee.to_dict(),
            "noise": {"sampler": self.plan.sampler(), "numerics": self.plan.numerics},
            "unprotected": [*self.plan.unprotected, *shown_by_choice(self.study.chosen)],
            "map": self.plan.described
            | {
                "reliability": None if trusted is None else trusted.to_dict(),
                "outlook": None if expected is None else expected.to_dict(),
            },
            "says": " ".join(self.says),
        }


@dataclass(frozen=True, eq=False)
class Planned:
    """A heatmap of which no gaze was read yet.

    Attributes:
        cut: whose gaze it would be of.
        plan: everything that is settled by public facts.
        noise: where noise would come from.
    """

    cut: StudyInPieces
    plan: MapPlan
    noise: Randomness

    def previewed(self, advance: Advance) -> HeatmapPreview:
        """With a look at everybody's gaze, which may turn out to be too much."""
        survey = surveyed(self.cut, self.plan, advance)
        self.plan.check_looks(survey.most)
        return HeatmapPreview(self.cut.head, self.plan, survey)


def heatmap_preview(source: Study | Path | str, **asked: Any) -> HeatmapPreview:
    """Check everything that a heatmap needs; the arguments are those of `private_heatmap`.

    Args:
        source: a study of samples or fixations, or recordings.
        asked: all the others.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=4, minutes=0.1, seed=1)
    >>> found = heatmap_preview(study, stimulus="comic", level="good")
    >>> found.plan.told, found.plan.guarantee.numbers()
    ('4 people, 1 map of 1920 × 1080 px, measured in 5 × 3 cells by map-grid', 'ε = 1, δ = 1e-06')
    """
    made = planned(source, **asked)
    with one_bar(made.cut.recordings.height, "recordings") as advance:
        return made.previewed(advance)


def planned(
    source: Study | Path | str,
    *,
    stimulus: str | Path | Sequence[str | Path] | None = None,
    image: str | Path | Sequence[str | Path] | None = None,
    size: Size | None = None,
    at: tuple[float, float] | None = None,
    scale: float | None = None,
    blur: float | str | None = None,
    seed: int | None = None,
    map: Map = None,
    people: Whom = None,
    **asked: Any,
) -> Planned:
    """Check everything that can be checked without anybody's gaze.

    Args:
        source: a study of samples or fixations, or recordings.
        stimulus: names or picture files.
        image: picture files.
        size: of the picture in px.
        at: where its top left lay.
        scale: px of the screen that one of its px took.
        blur: the point spread.
        seed: of the noise.
        map: what you say about the columns of recordings.
        people: whom it is about, as for `eyelid.release`.
        asked: what else `make_map_plan` takes.
    """
    if seed is not None and seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    noise = randomness(seed)
    cut = opened(source, map, people)
    view = view_of(
        cut, _several(stimulus), images=_several(image), size=size, at=at, scale=scale, blur=blur
    )
    return Planned(cut, make_map_plan(cut.head, view, noise, **asked), noise)


def _several(given: str | Path | Sequence[str | Path] | None) -> list[str | Path]:
    """One or several of something as a list."""
    if given is None:
        return []
    return [given] if isinstance(given, str | Path) else list(given)
