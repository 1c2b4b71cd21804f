"""A heatmap that exposes nobody: plan, pay, measure, draw, write, in that order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.atomic import check_new, new_folder
from eyelid.engine.engines import Engine, using
from eyelid.engine.progress import Advance, one_bar
from eyelid.engine.runs import running
from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.looks import Weight
from eyelid.gaze.study import Origin, Study
from eyelid.io.choosing import Whom
from eyelid.io.column_map import Map
from eyelid.io.csv_cells import csv_text
from eyelid.mechanisms.distribution import default_delta
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.privacy.bounds import Bounds
from eyelid.releases.accounting import Purchase, bought, claimed, counting_entry, ended, open_ledger
from eyelid.releases.certificate import Certificate
from eyelid.releases.fingerprint import arrays_digest
from eyelid.releases.kinds.maps.measurement import Cells, measured, passes
from eyelid.releases.kinds.maps.plan import MapPlan
from eyelid.releases.kinds.maps.presentation import (
    Arrays,
    arrays_of,
    maps_of,
    released_facts,
    sentences,
    trusted_of,
    write_maps,
)
from eyelid.releases.kinds.maps.preview import HeatmapPreview, Planned, planned
from eyelid.releases.kinds.maps.reliability import Reliability
from eyelid.releases.kinds.maps.settings import fits
from eyelid.releases.kinds.maps.survey import seen
from eyelid.releases.kinds.maps.view import Size
from eyelid.releases.maps.card import map_card
from eyelid.releases.maps.pictures import guarantee_legend
from eyelid.version import __version__


@dataclass(frozen=True, eq=False)
class PrivateHeatmap:
    """Private maps with their certificate.

    Attributes:
        maps: one a picture or stretch of time; of two groups the first group's, then the second's.
        areas: tables over areas of interest; None without them.
        certificate: what holds.
        reliability: what hotspots can be trusted; None without maps.
        told: how much there is of it, in a few words.
        says: what can be trusted of maps and tables, in sentences.
        arrays: what map.npz has.
        path: where it was written, if it was.
        notes: what was taken for granted.
        for_owner: about the raw data: for whoever owns them, and for nobody else.
    """

    maps: tuple[GazeMap, ...]
    areas: pl.DataFrame | None
    certificate: Certificate
    reliability: Reliability | None
    arrays: Arrays
    told: str
    says: tuple[str, ...]
    path: Path | None = None
    notes: tuple[str, ...] = ()
    for_owner: tuple[str, ...] = ()

    @property
    def protects(self) -> str:
        """Whom it protects, as its pictures say."""
        return guarantee_legend(self.certificate.person_level, self.certificate.people)


def private_heatmap(
    source: Study | Path | str,
    out: Path | str | None = None,
    *,
    stimulus: str | Path | Sequence[str | Path] | None = None,
    epsilon: float | None = None,
    level: str | None = None,
    mechanism: str | MapMechanism | None = None,
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
    **parameters: Any,
) -> PrivateHeatmap:
    """Make a private heatmap and its certificate.

    People's rows are read piece by piece, and limited and turned into whole numbers where they are
    read: only sums travel.

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
        weight: what a look counts: ``count`` 1, ``duration`` its seconds.
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
        parameters: of the mechanism, such as ``delta``, ``grid``, ``cap``, ``samples``; and
            ``tables``, ``visits``, ``ranks`` of areas.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=4, minutes=0.1, seed=1)
    >>> done = private_heatmap(study, stimulus="comic", level="good")
    >>> done.certificate.person_level.numbers(), done.maps[0].values.shape
    ('ε = 1, δ = 1e-06', (1080, 1920))
    """
    out, figures = (None if path is None else Path(path) for path in (out, figures))
    for path in (out, figures):
        if path is not None:
            check_new(path)
    with using(engine):
        made = planned(
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
        total = (1 + passes(made.plan)) * made.cut.recordings.height
        with one_bar(total, "recordings") as advance:
            preview = made.previewed(advance)
            if figures is not None:
                _check_figures(preview)
            home = Path(source) if isinstance(source, str | Path) else None
            origin, remarks = counting_entry(made.cut.entering, home, ledger)
            done = _released(made, preview, origin, out, seed, advance)
            done = replace(done, notes=(*done.notes, *remarks))
    if figures is not None:
        _write_figures(figures, made)
    return done


def _released(
    made: Planned,
    preview: HeatmapPreview,
    origin: Origin | None,
    out: Path | None,
    seed: int | None,
    advance: Advance,
) -> PrivateHeatmap:
    """Pay, measure, draw and write what was planned."""
    plan, survey = made.plan, preview.survey
    purchase = replace(_purchase(plan, made.noise.name, survey.digest), chosen=made.cut.head.chosen)
    key = _key(plan, survey.digest, origin, seed, made.cut.head.chosen)
    book = open_ledger(origin)
    with (
        nullcontext() if out is None else running(out, key) as run,
        bought(purchase, book, out, run) as certificate,
    ):
        cells = measured(made.cut, plan, survey.digests, made.noise, run, advance)
        advance(0, "drawing")
        tables = _presented(plan, cells)
        maps = tuple(maps_of(plan, cells.maps))
        trusted = trusted_of(plan, cells.maps)
        arrays = arrays_of(maps, [each.cells for each in cells.maps], plan)
        text = "" if tables is None else csv_text(tables)
        certificate = replace(
            certificate,
            output_sha256=arrays_digest(arrays, text),
            map=plan.facts | released_facts(plan, cells.maps, trusted),
        )
        says = sentences(plan, maps, trusted, tables)
        if run is not None:
            card = map_card(plan, certificate, says, simulated=preview.study.simulated)
            sentence = "" if trusted is None else trusted.sentence
            write_maps(run.output, plan, maps, arrays, tables, certificate, card, sentence=sentence)
        claimed(book, run, certificate)
    ended(book, run)
    return PrivateHeatmap(
        maps=maps,
        areas=tables,
        certificate=certificate,
        reliability=trusted,
        arrays=arrays,
        told=plan.told,
        says=says,
        path=out,
        notes=preview.notes,
        for_owner=preview.for_owner,
    )


def _key(
    plan: MapPlan,
    digest: bytes,
    origin: Origin | None,
    seed: int | None,
    chosen: Sequence[str],
) -> str:
    """Of everything that the output depends on, the looks too."""
    laws = [law for law in (plan.mechanism, plan.tables and plan.tables.mechanism) if law]
    told = [
        __version__,
        digest.hex(),
        plan.facts,
        [(law.name, law.parameters()) for law in laws],
        [None if each is None else arrays_digest({"picture": each}) for each in plan.view.pictures],
        plan.view.degree_px,
        seed,
        None if origin is None else [origin.id, str(origin.ledger)],
        list(chosen),
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _purchase(plan: MapPlan, randomness_name: str, digest: bytes) -> Purchase:
    made = plan.tables.mechanism if plan.mechanism is None and plan.tables else plan.mechanism
    assert made is not None, "there are maps or tables"
    view = plan.view
    return Purchase(
        what=plan.what,
        mechanism=made.name,
        parameters=made.parameters(),
        people=plan.people,
        guarantee=plan.guarantee,
        person_level=plan.guarantee,
        how=plan.how,
        bounds=Bounds({"x_px": (0.0, float(view.width_px)), "y_px": (0.0, float(view.height_px))}),
        noise={
            "sampler": plan.sampler(),
            "numerics": plan.numerics,
            "randomness": randomness_name,
        },
        unprotected=plan.unprotected,
        # Who is in which group tells people apart.
        alike=not plan.by,
        input_digest=lambda: digest,
        form=made.form,
        released_as=plan.released_as,
        map=plan.facts,
    )


def _presented(plan: MapPlan, cells: Cells) -> pl.DataFrame | None:
    """The noisy tables over areas of interest, for people."""
    if plan.tables is None or cells.tables is None:
        return None
    law, shape, areas = plan.tables.mechanism, plan.tables.shape, plan.tables.areas
    return law.presented(cells.tables, shape, plan.layers, [area.name for area in areas])


def _check_figures(preview: HeatmapPreview) -> None:
    """Refuse figures that could not be drawn: of a map with nothing on it, or too large a one."""
    if not preview.survey.layers[0]:
        raise InputError("nobody looked at the first map, so it has no figures: leave them out")
    if not fits(Grid.of_pixels(*preview.plan.view.size)):
        raise InputError("the figures are of pixels, and there are too many: leave them out")


def _write_figures(folder: Path, made: Planned) -> None:
    """The paper's figures of these data: they compare with the raw map, and are not private.

    All of the looks must fit into memory.
    """
    from eyelid.releases.maps.figures import experiment, figure2, figure3
    from eyelid.releases.maps.pictures import save

    plan, view, people = made.plan, made.plan.view, len(made.plan.people)
    looks = seen(made.cut.whole(), view, plan.weight, plan.stretches_ms, plan.people)
    # As released; where that has none, as it would be.
    asked = None if plan.mechanism is None else plan.mechanism.parameters().get("delta")
    delta = asked or default_delta(people)
    rows = experiment(
        looks.of_layer(plan.layers[0]).counts,
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
