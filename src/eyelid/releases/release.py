"""`release`: a private dataset and its certificate, of features or of gaze itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import using
from eyelid.errors import InputError
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.mechanisms.mechanism import Mechanism, find
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.statistics.summary import Summary
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.unit import PERSON
from eyelid.releases.kinds.features.plan import build_mechanism
from eyelid.releases.kinds.features.release import FeatureJob
from eyelid.releases.pipeline import Request, Source, carried_out
from eyelid.reporting.dataset_fields import DatasetFields
from eyelid.reporting.release import Release
from eyelid.spelling import plural


def release(
    source: Source,
    out: Path | str | None = None,
    *,
    mechanism: str | Mechanism = "laplace",
    epsilon: float | None = None,
    delta: float | None = None,
    unit: str | None = None,
    bounds: str | Path | Bounds = "public",
    ledger: Path | str | None = None,
    seed: int | None = None,
    keep: Sequence[str] = (),
    map: Map = None,
    tell: Callable[[str], None] | None = None,
    engine: str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
    card: Mapping[str, str] | Path | str | None = None,
    **parameters: Any,
) -> Release:
    """Make a private dataset and its certificate: features, gaze through a filter, or heatmaps.

    Args:
        source: a study folder or recordings, a ``features`` study, or a feature table. Recordings
            as a tracker wrote them are scrubbed, and people get pseudonyms, as by `convert`.
        out: a new folder to write; without it nothing is written, but the ledger is still debited.
        mechanism: its name, or a mechanism with its parameters set.
        epsilon: the total for one unit.
        delta: for mechanisms that have one.
        unit: whose value is hidden; the person by default.
        bounds: ``public``, ``data`` (no guarantee holds), a file, or bounds.
        ledger: where to count; by default the file beside the original study.
        seed: makes noise and groups repeatable and the guarantee void.
        keep: person attributes to release as they are, unprotected.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        tell: given each note that is known before anything is paid, as soon as it is.
        engine: who works, ``local``, ``dask`` or ``dask:ADDRESS``; the same comes of it.
        people: whom it is about: names, ``every-task``, ``saw:STIMULUS``, or ``@FILE`` with one
            name a line; everybody by default. Who is chosen by data is not protected.
        min_seconds: shorter recordings count as ones without values; by default those without a
            whole window.
        card: name, contact, licence and date of the dataset, for the top of its data card; or a
            TOML file with them. What you leave out stays there as a field to fill.
        parameters: of the mechanism; of a filter also ``eye``, where several were recorded,
            and ``times`` (``recorded`` or ``regular``); of maps also whatever `eyelid.heatmap`
            takes, such as ``stimulus`` and ``areas``.

    >>> import numpy as np
    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> features = [Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0)]
    >>> table = table_from_arrays(np.full((4, 3, 10, 1), 3.0), features)
    >>> done = release(table, mechanism="laplace", epsilon=1.0, unit="recording")
    >>> done.certificate.person_level.epsilon
    3.0
    """
    refuse_frame(source)
    kind = find(mechanism) if isinstance(mechanism, str) else mechanism
    if kind.release in (ReleaseKind.MAPS, ReleaseKind.TABLES):
        # Deferred, as gaze below: most releases are of features.
        from eyelid.releases.kinds.maps.heatmap import heatmap

        _check_no_features("a heatmap", unit, bounds, keep, min_seconds)
        if isinstance(source, FeatureTable):
            raise InputError("a heatmap is made of gaze, and this is a table of features")
        if kind.release is ReleaseKind.TABLES:
            # Tables are asked for by their areas; the mechanism is the only one.
            if not isinstance(mechanism, str):
                parameters = mechanism.parameters() | parameters
                epsilon = parameters.pop("epsilon") if epsilon is None else epsilon
            parameters["only_areas"] = True
        return heatmap(
            source,
            out,
            mechanism=None if kind.release is ReleaseKind.TABLES else mechanism,
            epsilon=epsilon,
            delta=delta,
            ledger=ledger,
            seed=seed,
            map=map,
            people=people,
            engine=engine,
            tell=tell,
            card=card,
            **parameters,
        )
    if kind.release is ReleaseKind.STATISTICS:
        from eyelid.releases.kinds.statistics.plan import check_said
        from eyelid.releases.kinds.statistics.release import summary

        _check_no_features("results", unit, bounds, keep, min_seconds)
        check_said(kind.name, parameters)
        found = summary(
            source,
            out,
            mechanism=cast(Summary | str, mechanism),
            epsilon=epsilon,
            delta=delta,
            ledger=ledger,
            seed=seed,
            map=map,
            people=people,
            engine=engine,
            tell=tell,
            card=card,
            **parameters,
        )
        rows = plural(found.frame.height, "result")
        return Release(found.certificate, "", rows, found.path, found.notes, found)
    out = Path(out) if out is not None else None
    asked = Request(source, seed, ledger, tuple(keep), map, people)
    if out is not None:
        _check_apart(out, asked.path)
        check_new(out)
    asked.check_seed()
    about = DatasetFields.of(card)
    parameters |= {"epsilon": epsilon, "delta": delta, "unit": unit}
    with using(engine):
        if kind.release is ReleaseKind.SYNTHETIC_GAZE:
            from eyelid.releases.kinds.gaze.release import GazeJob

            if unit not in (None, PERSON.name):
                raise InputError(
                    f"{kind.name} protects the person, and not '{unit}': leave the unit out"
                )
            if bounds != "public":
                raise InputError(
                    f"the bounds of {kind.name} are those of its generator's parameters: leave them"
                    " out"
                )
            if min_seconds is not None:
                raise InputError(
                    f"{kind.name} takes recordings of any length: leave min_seconds out"
                )
            parameters.pop("unit")
            return carried_out(GazeJob(asked, mechanism, **parameters), out, tell, about)
        if kind.release is not ReleaseKind.SAMPLES:
            chosen = build_mechanism(mechanism, **parameters)
            return carried_out(FeatureJob(asked, chosen, bounds, min_seconds), out, tell, about)
        from eyelid.releases.kinds.streams.release import StreamJob

        if bounds != "public":
            raise InputError(
                "a filter has no bounds but its scene: leave them out, or say --set "
                "scene=x0,y0,x1,y1"
            )
        if min_seconds is not None:
            raise InputError("a filter takes recordings of any length: leave out min_seconds")
        return carried_out(StreamJob(asked, mechanism, **parameters), out, tell, about)


def _check_no_features(
    what: str,
    unit: str | None,
    bounds: str | Path | Bounds,
    keep: Sequence[str],
    min_seconds: float | None,
) -> None:
    """Refuse what is for features alone."""
    if unit not in (None, PERSON.name):
        raise InputError(f"of {what} the unit is the person, and not '{unit}': leave it out")
    given = {"bounds": bounds != "public", "keep": bool(keep), "min_seconds": min_seconds}
    for name, value in given.items():
        if value:
            raise InputError(f"{name} is for features, not for {what}: leave it out")


def _check_apart(out: Path, source: Path | None) -> None:
    """Refuse a release inside the private data: sharing one folder must not share both."""
    private = None if source is None else source.resolve()
    for folder in out.resolve().parents:
        if folder == private or study_folder.recognises(folder):
            raise InputError(
                f"{out} is inside {folder.name}, which is not to be shared: choose an output "
                "outside of it"
            )
