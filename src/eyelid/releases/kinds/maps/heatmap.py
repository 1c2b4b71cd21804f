"""A heatmap that exposes nobody: plan, pay, measure, draw, write, in that order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.engine.atomic import check_new, new_folder
from eyelid.engine.engines import Engine, using
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.gaze.maps.gaze_points import Weight
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study
from eyelid.io.column_map import Map
from eyelid.io.csv_cells import csv_text
from eyelid.io.people_choice import Whom
from eyelid.io.release_folder import arrays_digest
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.differential import default_delta
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.releases.accounting import counting_entry
from eyelid.releases.kinds.maps.measurement import measured, passes, seen
from eyelid.releases.kinds.maps.presentation import (
    Presented,
    map_card,
    presented_of,
    write_maps,
)
from eyelid.releases.kinds.maps.quote import HeatmapDraft, HeatmapPreview, heatmap_draft
from eyelid.releases.kinds.maps.settings import fits
from eyelid.releases.kinds.maps.view import Size
from eyelid.releases.pipeline import Begin, Job, Prepared, Request, RunKey, carried_out
from eyelid.reporting.dataset_fields import DatasetFields
from eyelid.reporting.maps.result import ReleasedMaps
from eyelid.reporting.release import Release


def heatmap(
    source: Study | Path | str | None = None,
    out: Path | str | None = None,
    *,
    stimulus: str | Path | Sequence[str | Path] | None = None,
    epsilon: float | None = None,
    level: str | None = None,
    mechanism: str | Mechanism | None = None,
    image: str | Path | Sequence[str | Path] | None = None,
    size: Size | None = None,
    at: tuple[float, float] | None = None,
    scale: float | None = None,
    blur: float | str | None = None,
    weight: Weight = "count",
    every_s: float | None = None,
    for_s: float | None = None,
    by: str | None = None,
    between: Sequence[str] | None = None,
    areas: Path | str | Sequence[Area] | None = None,
    only_areas: bool = False,
    figures: Path | str | None = None,
    ledger: Path | str | None = None,
    seed: int | None = None,
    map: Map = None,
    people: Whom = None,
    engine: str | Engine | None = None,
    tell: Callable[[str], None] | None = None,
    card: Mapping[str, str] | Path | str | None = None,
    **parameters: Any,
) -> Release:
    """Make a private heatmap and its certificate.

    To spread a map out, and nothing else, see `eyelid.point_spread`. People's rows are read piece
    by piece, and limited and turned into whole numbers where they are read: only sums travel.

    Args:
        source: a study of samples or fixations, or recordings.
        out: a new folder to write; without it nothing is written, but the ledger is still debited.
        stimulus: its name in the data, or a picture file called like it; several share the budget.
        epsilon: the total for one person, over everything released.
        level: ``good`` (ε = 1) or ``okay`` (ε = 3) instead.
        mechanism: its name, or a mechanism with its parameters set; by default chosen from public
            facts.
        image: the picture, where ``stimulus`` does not name its file; of several stimuli one each,
            in their order.
        size: width and height of the picture in px, where there is no file; else the screen's.
        at: where the picture's top left lay, in px of the screen.
        scale: px of the screen that one px of the picture took.
        blur: standard deviation of the point spread in px, or as ``1deg``.
        weight: what a gaze point counts: ``count`` 1, ``duration`` its seconds.
        every_s: length of stretches of time, for a map of each.
        for_s: until when, a multiple of it.
        by: an attribute of people: one map for each of its two values, and their difference.
        between: two values of that attribute, where there are more.
        areas: areas of interest, or their JSON file: tables too, with half of the budget.
        only_areas: tables and no map, with the whole budget.
        figures: a new folder for the paper's Figures 2 and 3 of these data, which are not private.
        ledger: where to count; by default the file beside the original study.
        seed: makes the noise repeatable and the guarantee void.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        people: whom it is about, as for `eyelid.release`; everybody by default.
        engine: who works: ``local`` (processes here, the default), ``dask`` or ``dask:ADDRESS``.
        tell: given each note that is known before anything is paid, as soon as it is.
        card: fields of the data card, as for `eyelid.release`.
        parameters: of the mechanism, such as ``delta``, ``grid``, ``cap``, ``samples``; and
            ``tables``, ``visits``, ``ranks`` of areas.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=4, minutes=0.1, seed=1)
    >>> done = heatmap(study, stimulus="comic", level="good")
    >>> done.certificate.person_level.numbers(), done.maps[0].values.shape
    ('ε = 1, δ = 1e-06', (1080, 1920))
    """
    source = _gaze(source)
    out, figures = (None if path is None else Path(path) for path in (out, figures))
    for path in (out, figures):
        if path is not None:
            check_new(path)
    with using(engine):
        made = heatmap_draft(
            source,
            stimulus=stimulus,
            image=image,
            size=size,
            at=at,
            scale=scale,
            blur=blur,
            seed=seed,
            map=map,
            people=people,
            mechanism=mechanism,
            epsilon=epsilon,
            level=level,
            weight=weight,
            every_s=every_s,
            for_s=for_s,
            by=by,
            between=between,
            areas=areas,
            only_areas=only_areas,
            **parameters,
        )
        request = Request(source, seed, ledger)
        done = carried_out(
            MapJob(request, made, with_figures=figures is not None),
            out,
            tell,
            DatasetFields.of(card),
        )
    if figures is not None:
        _write_figures(figures, made)
    return done


class MapJob(Job[Release]):
    """A release of maps, or of tables over areas, or of both.

    Attributes:
        preview: what a look at everybody's gaze told.
        found: what is released, once it is measured.
    """

    preview: HeatmapPreview
    found: Presented

    def __init__(
        self, request: Request, draft: HeatmapDraft, *, with_figures: bool = False
    ) -> None:
        """What is asked for.

        Args:
            request: by whom and of what.
            draft: what public facts settle.
            with_figures: whether figures must be drawn of it, too.
        """
        self.request, self.draft, self.with_figures = request, draft, with_figures

    @property
    def steps(self) -> int:
        """Everything is looked at, and added up once or twice."""
        return (1 + passes(self.draft.plan.design)) * self.draft.cut.recordings.height

    def prepare(self, begin: Begin, advance: Advance) -> Prepared:
        """Look at everybody's gaze, and enter them into the ledger."""
        made, request = self.draft, self.request
        self.preview = made.previewed(advance)
        if self.with_figures:
            _check_figures(self.preview)
        origin, remarks = counting_entry(made.cut.entering, request.path, request.ledger)
        plan, design, digest = made.plan, made.plan.design, self.preview.survey.digest
        pictures = design.view.pictures
        key = RunKey.of(
            design.mechanisms,
            data=digest.hex(),
            seed=request.seed,
            ledger=None if origin is None else [origin.id, origin.ledger],
            chosen=plan.chosen,
            settings=[
                design.described,
                [None if each is None else arrays_digest({"picture": each}) for each in pictures],
                design.view.degree_px,
            ],
        )
        notes = (*self.preview.notes, *remarks)
        return Prepared(plan, lambda: digest, origin, notes, begin(key))

    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """Measure, and make maps and tables of what was measured."""
        made, survey = self.draft, self.preview.survey
        cells = measured(made.cut, made.plan.design, survey.digests, made.noise, run, advance)
        advance(0, "drawing")
        self.found = found = presented_of(made.plan.design, cells.maps, cells.tables)
        text = "" if found.tables is None else csv_text(found.tables)
        return replace(
            certificate, output_sha256=arrays_digest(found.arrays, text), map=found.facts
        )

    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """Maps, tables and their pictures; the data card."""
        design, found = self.draft.plan.design, self.found
        write_maps(run.output, design, found, certificate)
        simulated = self.preview.study.simulated
        return {"DATACARD.md": map_card(design, certificate, found.says, simulated=simulated)}

    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> Release:
        """With what can be trusted of it."""
        found = self.found
        return Release(
            certificate,
            worth=" ".join(found.says),
            rows=self.draft.plan.design.in_words,
            path=out,
            notes=notes,
            held=ReleasedMaps(found.maps, found.tables, found.trusted, found.says, found.arrays),
            for_owner=self.preview.for_owner,
        )


def _gaze(source: object) -> Study | Path | str:
    """Refuse what is no study: a map, which an earlier `eyelid.heatmap` spread out, or a frame."""
    refuse_frame(source, "heatmap", gaze=True)
    if isinstance(source, GazeMap | np.ndarray) or source is None:
        given = "nothing" if source is None else f"a {type(source).__name__}"
        raise InputError(
            f"heatmap makes a private heatmap of a study, and got {given}: to spread a map out "
            "write eyelid.point_spread(map, sigma_px)"
        )
    if not isinstance(source, Study | Path | str):
        raise InputError(
            f"heatmap takes gaze, and got a {type(source).__name__}: give a study of samples or "
            "fixations, or a path"
        )
    return source


def _check_figures(preview: HeatmapPreview) -> None:
    """Refuse figures that could not be drawn: of a map with nothing on it, or too large a one."""
    if not preview.survey.layers[0]:
        raise InputError("nobody looked at the first map, so it has no figures: leave them out")
    if not fits(Grid.of_pixels(*preview.plan.design.view.size)):
        raise InputError("the figures are of pixels, and there are too many: leave them out")


def _write_figures(folder: Path, made: HeatmapDraft) -> None:
    """The paper's figures of these data: they compare with the raw map, and are not private.

    All of the gaze points must fit into memory.
    """
    from eyelid.reporting.maps.figures import experiment, figure2, figure3
    from eyelid.reporting.maps.pictures import save

    design = made.plan.design
    view, people = design.view, len(design.people)
    points = seen(made.cut.whole(), view, design.weight, design.stretches_ms, design.people)
    # As released; where that has none, as it would be.
    asked = None if design.mechanism is None else design.mechanism.parameters().get("delta")
    delta = asked or default_delta(people)
    rows = experiment(
        points.of_layer(design.layers[0]).counts,
        view.width_px,
        view.height_px,
        people,
        view.sigma_px,
        delta=delta,
        noise=made.noise,
    )
    with new_folder(folder, mode=0o700) as partial:
        save(figure2(people, view.width_px, view.height_px, delta), partial / "figure2.png")
        save(figure3(rows, people, delta=delta), partial / "figure3.png")
