"""What a heatmap or tables of areas would promise and show, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from eyelid.engine.progress import Advance, one_bar
from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import Area, check_areas
from eyelid.gaze.maps.placement import Placement, default_sigma_px, point_spread_px
from eyelid.gaze.study import Screen, Study
from eyelid.io.column_map import Map
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
    counted_or_chosen,
)
from eyelid.io.pieces import StudyInPieces
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import choice_notes, shown_by_choice
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.mechanism import Mechanism, check_set_alone, find, mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import Plan
from eyelid.releases.kinds.features.plan import promised
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.maps.centre_bias import Outlook, outlook
from eyelid.releases.kinds.maps.measurement import Survey, surveyed
from eyelid.releases.kinds.maps.plan import MapDesign, make_map_plan
from eyelid.releases.kinds.maps.settings import (
    check_drawable,
    level_epsilon,
    map_mechanism,
    stretches_of,
)
from eyelid.releases.kinds.maps.view import Size, check_usable, parsed_blur, view_of
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.maps.quote import AreaOffer, MapOffer
from eyelid.reporting.maps.reliability import Reliability, reliability, tables_sentence, worst
from eyelid.reporting.quote import Quote
from eyelid.spelling import plural

AnOffer = TypeVar("AnOffer", MapOffer, AreaOffer)


def map_cost(
    mechanism: str | Mechanism,
    source: Study | Path | str | None = None,
    *,
    people: int | Whom = None,
    level: str | None = None,
    layers: int | None = None,
    every_s: float | None = None,
    for_s: float | None = None,
    size: Size | None = None,
    areas: int | Sequence[Area] | None = None,
    stimulus: str | Path | Sequence[str | Path] | None = None,
    blur: float | str | None = None,
    map: Map = None,
    **parameters: Any,
) -> Quote[MapOffer] | Quote[AreaOffer]:
    """The guarantee of a heatmap and what it would show, before anything runs.

    Args:
        mechanism: its name, or a mechanism with its parameters set.
        source: a study whose people and screen to take; or give them:
        people: how many people.
        level: ``good`` (ε = 1) or ``okay`` (ε = 3), instead of ``epsilon``.
        layers: how many pictures share the budget.
        every_s: length of stretches of time that share it instead.
        for_s: until when, a multiple of it.
        size: width and height of the picture in px.
        areas: how many areas of interest, for tables of them, or the areas.
        stimulus: which pictures share the budget, of a study, instead of how many.
        blur: standard deviation of the point spread in px, or as ``1deg``.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        parameters: of the mechanism, such as ``epsilon`` and ``delta``.

    >>> quote = map_cost("map-grid", people=40, size=(1680, 1050), epsilon=1.0)
    >>> quote.offer.grid.columns, quote.offer.grid.rows, quote.guarantee.numbers()
    (9, 6, 'ε = 1, δ = 1e-06')
    """
    screen = Screen()
    count, whom = counted_or_chosen(people, study=source is not None)
    if source is not None:
        if count is not None:
            raise InputError("the study says how many people it has: leave out `people`")
        study = source if isinstance(source, Study) else read(source, map)
        study = chosen_of(study, whom)
        if stimulus is not None:
            layers = _pictures(study, stimulus, layers)
        count, screen = len(study.people), study.screen or screen
    elif stimulus is not None:
        raise InputError("pictures are named of a study: without one give `recordings=…`, how many")
    if count is None:
        raise InputError("cost of a heatmap needs a study, or `people`; missing: people")
    given = {key: value for key, value in parameters.items() if value is not None}
    epsilon = level_epsilon(given.pop("epsilon", None), level)
    if epsilon is not None:
        given["epsilon"] = epsilon
    layers = _layers(layers, every_s, for_s)
    if not isinstance(mechanism, str):
        check_set_alone(mechanism, given)
        given = mechanism.parameters()
    name = mechanism if isinstance(mechanism, str) else mechanism.name
    if areas is not None and not isinstance(areas, int):
        areas = len(check_areas(areas))
    if find(name).release is ReleaseKind.TABLES:
        made = cast(AoiTables, mechanism_named(name, **given))
        if areas is None or areas < 1:
            got = "" if areas is None else f", at least 1, got {areas}"
            raise InputError(f"the cost of tables depends on how many areas: give `areas=…`{got}")
        if size is not None or blur is not None:
            raise InputError("tables of areas have neither a size nor a blur: leave them out")
        return _quote(AreaOffer(made, made.facts_of(count, layers, areas)))
    chosen = map_mechanism(name, **given)
    if areas is not None:
        raise InputError(
            f"{chosen.name} makes no tables of areas: ask for aoi-tables as well, a map and tables "
            "have half of ε each"
        )
    if size is None and screen.width_px and screen.height_px:
        size = screen.width_px, screen.height_px
    if size is None:
        raise InputError("the cost of a map depends on the picture: give `size=…` in px")
    degree_px = point_spread_px(1.0, screen, Placement())
    sigma_px = parsed_blur(blur, degree_px, default_sigma_px(size[0], screen), size)
    facts = chosen.facts_of(count, layers, *size, sigma_px)
    check_drawable(chosen, facts, sigma_px)
    return _quote(MapOffer(chosen, facts, sigma_px))


def _pictures(study: Study, stimulus: str | Path | Sequence[str | Path], layers: int | None) -> int:
    """How many pictures of a study are named."""
    if layers is not None:
        raise InputError("name the pictures, or say how many there are: not both")
    names = [stimulus] if isinstance(stimulus, str | Path) else list(stimulus)
    known = study.data["stimulus"].unique().to_list()
    for name in map(str, names):
        if name not in known:
            raise unknown("stimulus", name, filter(None, known))
    if not names:
        raise InputError("no picture is named: give at least one")
    return len(names)


def _quote(offer: AnOffer) -> Quote[AnOffer]:
    """The price of maps or tables, which hide a person."""
    chosen, facts = offer.mechanism, offer.facts
    guarantee = promised(chosen, facts, PERSON)
    return Quote(offer, guarantee, guarantee, chosen.person_total(facts), chosen.form)


def _layers(pictures: int | None, every_s: float | None, for_s: float | None) -> int:
    """How many maps share the budget."""
    edges = stretches_of(every_s, for_s)
    if pictures is not None and pictures < 1:
        raise InputError(f"there must be at least 1 picture (`recordings`), got {pictures}")
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
    plan: Plan[MapDesign]
    survey: Survey

    @property
    def protects(self) -> str:
        """Whom it would protect, as its pictures would say."""
        return guarantee_legend(self.plan.guarantee, len(self.plan.people))

    @property
    def reliability(self) -> Reliability | None:
        """What could be trusted, from public facts alone; None where nothing can be said."""
        design = self.plan.design
        if design.mechanism is None:
            return None
        sigma_px = design.view.sigma_px
        return worst([reliability(design.mechanism, e.facts, sigma_px) for e in design.observers])

    @property
    def outlook(self) -> Outlook | None:
        """Whether a blob in the middle is as good, from public facts; None where not known."""
        design = self.plan.design
        if design.mechanism is None:
            return None
        fewest = min(design.observers, key=lambda each: each.facts.people)
        return outlook(
            design.mechanism,
            fewest.facts,
            design.view.sigma_px,
            groups=len(design.observers),
            epsilon=self.plan.guarantee.epsilon,
        )

    @property
    def says(self) -> tuple[str, ...]:
        """What could be trusted and expected in sentences, of maps and of tables."""
        said = [each.sentence for each in (self.reliability, self.outlook) if each is not None]
        tables = self.plan.design.tables
        if tables is not None:
            beside_map = self.plan.design.mechanism is not None
            said.append(tables_sentence(tables.mechanism, tables.facts, beside_map=beside_map))
        return tuple(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for granted."""
        chosen = choice_notes(self.study.chosen, len(self.plan.people))
        return *self.study.notes, *self.plan.design.notes, *chosen

    @property
    def for_owner(self) -> tuple[str, ...]:
        """About the raw data, so for their owner alone, and in no file."""
        survey = self.survey
        if not survey.points:
            return (
                "no look lies on the picture: check `at`, `scale` and the units; the map is noise",
            )
        notes = []
        if survey.outside:
            share = survey.outside / (survey.points + survey.outside)
            about = f"{share:.0%}" if share >= 0.01 else "less than 1%"
            was = "was" if survey.outside == 1 else "were"
            notes.append(
                f"{plural(survey.outside, 'gaze point')} ({about}) {was} outside the picture"
            )
        if survey.without:
            notes.append(f"{plural(survey.without, 'person', 'people')} had no look on the picture")
        seen, stretches_ms = survey.layers, self.plan.design.stretches_ms
        last = int(seen.nonzero()[0].max())
        if stretches_ms is not None:
            if last + 1 < len(seen):
                begin = f"{stretches_ms[last + 1] / 1000:.10g} s"
                rest = plural(len(seen) - last - 1, "map")
                notes.append(f"nobody looked from {begin} on: the last {rest} would be noise alone")
        elif not seen.all():
            names = ", ".join(np.array(self.plan.design.layers)[~seen])
            notes.append(f"nobody looked at {names}: a map of it is noise alone")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid heatmap --dry-run --json`` prints it."""
        plan, trusted, expected = self.plan, self.reliability, self.outlook
        sampler, numerics, _ = plan.noise
        return {
            "dry_run": True,
            "people": len(plan.people),
            "mechanism": None if plan.design.mechanism is None else plan.design.mechanism.name,
            "guarantee": plan.guarantee.to_dict(),
            "noise": {"sampler": sampler, "numerics": numerics},
            "unprotected": [*plan.unprotected, *shown_by_choice(self.study.chosen)],
            "map": plan.design.described
            | {
                "reliability": None if trusted is None else trusted.to_dict(),
                "outlook": None if expected is None else expected.to_dict(),
            },
            "says": " ".join(self.says),
        }


@dataclass(frozen=True, eq=False)
class HeatmapDraft:
    """A heatmap of which no gaze was read yet.

    Attributes:
        cut: whose gaze it would be of.
        plan: everything that is settled by public facts.
        noise: where noise would come from.
    """

    cut: StudyInPieces
    plan: Plan[MapDesign]
    noise: Randomness

    def previewed(self, advance: Advance) -> HeatmapPreview:
        """With a look at everybody's gaze, which may turn out to be too much."""
        survey = surveyed(self.cut, self.plan.design, advance)
        self.plan.design.check_points(survey.most)
        return HeatmapPreview(self.cut.head, self.plan, survey)


def heatmap_preview(source: Study | Path | str, **asked: Any) -> HeatmapPreview:
    """Check everything that a heatmap needs; the arguments are those of `heatmap`.

    Args:
        source: a study of samples or fixations, or recordings.
        asked: all the others.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=4, minutes=0.1, seed=1)
    >>> found = heatmap_preview(study, stimulus="comic", level="good")
    >>> found.plan.design.in_words, found.plan.guarantee.numbers()
    ('4 people, 1 map of 1920 × 1080 px, measured in 5 × 3 cells by map-grid', 'ε = 1, δ = 1e-06')
    """
    made = heatmap_draft(source, **asked)
    with one_bar(made.cut.recordings.height, "recordings") as advance:
        return made.previewed(advance)


def heatmap_draft(
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
) -> HeatmapDraft:
    """Check everything that can be checked without any gaze.

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
        raise InputError(f"seed must not be negative, got {seed}: choose 0 or more")
    noise = randomness(seed)
    cut = opened(source, map, people)
    check_usable(cut.head)
    view = view_of(
        cut, _several(stimulus), images=_several(image), size=size, at=at, scale=scale, blur=blur
    )
    return HeatmapDraft(cut, make_map_plan(cut.head, view, noise, **asked), noise)


def _several(given: str | Path | Sequence[str | Path] | None) -> list[str | Path]:
    """One or several of something as a list."""
    if given is None:
        return []
    return [given] if isinstance(given, str | Path) else list(given)
