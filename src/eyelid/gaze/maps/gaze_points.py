"""Where people looked on a picture: points in px of the picture, one a sample or a fixation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.events.blinks import MIN_CONFIDENCE
from eyelid.gaze.maps.counts import People, PersonCounts
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.placement import Placement, on_screen
from eyelid.gaze.study import Study, ordered

Weight = Literal["count", "duration"]

_WHOLE_PICTURE = Placement()
_SHOWING = ["observer", "recording", "stimulus"]


@dataclass(frozen=True, eq=False)
class GazePoints:
    """Gaze points of some people at one or more layers: pictures, or stretches of time of one.

    Rows of a person stand together, those of one layer in order of time. Lost gaze and gaze outside
    the picture have no rows.

    Attributes:
        people: everybody, those without a single look included.
        layers: names of the pictures or stretches of time.
        width_px: of the picture.
        height_px: of the picture.
        person: of each look whose it is, from 0.
        layer: and at which layer, from 0.
        x_px: from the picture's left border.
        y_px: from its upper border.
        weight: 1, or how long it lasted in ms, or what was measured there.
        outside: gaze points left out because they were not on the picture. Like everything here it
            is for those who own the data, and no part of a release.
        lost: those left out because the signal was lost.
        since_ms: of each look, how long after its stimulus appeared in its recording; None where
            that is not known.
    """

    people: tuple[str, ...]
    layers: tuple[str, ...]
    width_px: int
    height_px: int
    person: People
    layer: NDArray[np.int64]
    x_px: Floats
    y_px: Floats
    weight: Floats
    outside: int = 0
    lost: int = 0
    since_ms: Floats | None = None

    def counts(self, grid: Grid) -> PersonCounts:
        """Everybody's looks in cells; those of the second layer come after all of the first."""
        cell = self.layer * grid.cells + self._cell_of(grid)
        cells = len(self.layers) * grid.cells
        return PersonCounts.added_up(len(self.people), cells, self.person, cell, self.weight)

    def of_people(self, first: int, last: int) -> GazePoints:
        """Gaze points of some people, up to and without the last; not how many were left out."""
        here = slice(*np.searchsorted(self.person, [first, last]).tolist())
        some = self.at(here)
        return replace(some, people=self.people[first:last], person=some.person - first)

    def of_layer(self, name: str) -> GazePoints:
        """Looks at one layer; not how many were left out."""
        if name not in self.layers:
            raise unknown("picture or stretch of time", name, self.layers)
        some = self.at(self.layer == self.layers.index(name))
        return replace(some, layers=(name,), layer=np.zeros_like(some.layer))

    def at(self, here: slice | NDArray[np.bool_]) -> GazePoints:
        """Some of the gaze points; not how many were left out."""
        return replace(
            self,
            person=self.person[here],
            layer=self.layer[here],
            x_px=self.x_px[here],
            y_px=self.y_px[here],
            weight=self.weight[here],
            outside=0,
            lost=0,
            since_ms=None if self.since_ms is None else self.since_ms[here],
        )

    def _cell_of(self, grid: Grid) -> NDArray[np.int64]:
        if (grid.width_px, grid.height_px) != (self.width_px, self.height_px):
            raise InputError(
                f"the gaze points are at a picture of {self.width_px} × {self.height_px} px, the "
                f"grid is of {grid.width_px} × {grid.height_px}: they must be the same"
            )
        cell = grid.cell_of(self.x_px, self.y_px)
        if cell.min(initial=0) < 0:
            raise InputError("some gaze points are not on their picture: leave them out")
        return cell


def gaze_points_of(
    study: Study,
    *,
    width_px: int,
    height_px: int,
    stimuli: Sequence[str] | None = None,
    placement: Placement = _WHOLE_PICTURE,
    weight: Weight = "count",
    stretches_ms: Sequence[float] | None = None,
    people: Sequence[str] | None = None,
    known: Collection[str] | None = None,
) -> GazePoints:
    """Where everybody of a study looked on a picture.

    Everybody is an observer, people without a look too. Of two eyes, samples have one look a time:
    where both eyes see their mean, else the one that sees, and always the combined one where there
    is one; fixations are those of the combined eye, or of the one that fixated longer. Gaze is lost
    where it is missing, its confidence is below 0.6, or there is no pupil.

    Args:
        study: of samples or fixations.
        width_px: of the picture.
        height_px: of the picture.
        stimuli: whose gaze points to take, one layer each; by default the only one there is.
        placement: of the picture on the screen; by default at its top left, px for px.
        weight: ``count``, so that every gaze point is 1; or ``duration`` in ms: of a fixation its
            own, of a sample the time to the next one, at most twice the usual one of that
            recording.
        stretches_ms: where stretches of time begin and where the last one ends, since the stimulus
            appeared in a recording; then each stretch is a layer, and there is one stimulus. A
            fixation belongs to the stretch that it begins in. See `stretches`.
        people: whose gaze points to take; by default everybody's.
        known: stimuli that a person looked at, where this is a part of a study; by default those of
            its rows.

    >>> rows = {"person": ["a", "b"], "recording": "r", "time_ms": 0.0, "x": [5.0, 99.0], "y": 1.0}
    >>> study = Study("samples", pl.DataFrame(rows), pl.DataFrame({"person": ["a", "b", "c"]}),
    ...               units="px", xy_origin="top-left")
    >>> points = gaze_points_of(study, width_px=20, height_px=10)
    >>> len(points.people), points.x_px.tolist(), points.outside
    (3, [5.0], 1)
    """
    everybody = _people(study, people)
    (points,) = gaze_points_in_blocks(
        study,
        width_px=width_px,
        height_px=height_px,
        stimuli=stimuli,
        placement=placement,
        weight=weight,
        stretches_ms=stretches_ms,
        people=everybody,
        known=known,
        block=len(everybody),
    )
    return points


def gaze_points_in_blocks(
    study: Study,
    *,
    width_px: int,
    height_px: int,
    stimuli: Sequence[str] | None = None,
    placement: Placement = _WHOLE_PICTURE,
    weight: Weight = "count",
    stretches_ms: Sequence[float] | None = None,
    people: Sequence[str] | None = None,
    known: Collection[str] | None = None,
    block: int = 1000,
) -> Iterator[GazePoints]:
    """What `gaze_points_of` gives, so many people at a time: what many of them need is bounded."""
    everybody = _people(study, people)
    _check(study, weight)
    Grid(width_px, height_px, 1, 1)
    data = ordered(study.data)
    named = pl.col("stimulus").fill_null("") if "stimulus" in data.columns else pl.lit("")
    named = named.alias("stimulus")
    if known is None:
        known = data.select(named.unique())["stimulus"]
    names = _stimuli(set(known), stimuli)
    edges_ms = None if stretches_ms is None else _edges(stretches_ms, names)
    layers = layers_of(names, edges_ms)
    rows = _rows_of_people(data)
    for first in range(0, len(everybody), block):
        observers = everybody[first : first + block]
        # As a column: a literal is no predicate of many rows.
        part = _part(data, rows, observers).with_columns(named)
        shown = part.filter(pl.col("stimulus").is_in(names))
        looked = _looked(shown, study, weight)
        x_px, y_px = on_screen(
            looked["x"].to_numpy(),
            looked["y"].to_numpy(),
            study.screen,
            study.units,
            study.xy_origin,
        )
        layer = looked["stimulus"].replace_strict(
            list(names), range(len(names)), return_dtype=pl.Int64
        )
        yield _on_picture(
            GazePoints(
                observers,
                layers,
                width_px,
                height_px,
                looked["observer"].to_numpy(),
                layer.to_numpy(),
                *placement.on_picture(x_px, y_px),
                looked["weight"].to_numpy(),
                since_ms=looked["since_ms"].to_numpy(),
            ),
            edges_ms,
        )


def gaze_points_from_arrays(
    people: Sequence[str],
    x: ArrayLike,
    y: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    size: tuple[int, int],
    everybody: Sequence[str] | None = None,
) -> GazePoints:
    """Gaze points of one layer from plain points: touches, presses, cells of a force plate.

    Args:
        people: of each point whose it is.
        x: from the left border, in px or whatever the size is in.
        y: from the upper border.
        weight: of each point, at least 0; 1 if nothing is said.
        size: width and height of what was looked at or touched.
        everybody: whom to count as observers, those without a point too; by default those who have
            one, in order of appearance.

    >>> points = gaze_points_from_arrays(["a", "b", "a"], [1, 2, 3], [1, 1, 9], size=(4, 4))
    >>> points.people, points.person.tolist(), points.outside
    (('a', 'b'), [0, 1], 1)
    """
    x_px, y_px = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    heavy = np.ones(x_px.shape) if weight is None else np.asarray(weight, dtype=np.float64)
    if x_px.ndim != 1 or not x_px.shape == y_px.shape == heavy.shape == (len(people),):
        raise InputError(
            f"every point needs a person, x, y and weight, got {len(people)}, {x_px.shape}, "
            f"{y_px.shape} and {heavy.shape}"
        )
    if not (np.isfinite(heavy).all() and (heavy >= 0).all()):
        raise InputError("weights of points must be numbers of at least 0")
    names = pl.Series("person", list(people), dtype=pl.String)
    everyone = _once(names.unique(maintain_order=True) if everybody is None else everybody)
    stranger = names.filter(~names.is_in(everyone))
    if len(stranger):
        raise InputError(f"person {stranger[0]} has points but is not among everybody: add them")
    Grid(*size, 1, 1)
    code = names.replace_strict(list(everyone), range(len(everyone)), return_dtype=pl.Int64)
    order = np.argsort(code.to_numpy(), kind="stable")
    return _on_picture(
        GazePoints(
            everyone,
            ("",),
            *size,
            code.to_numpy()[order],
            np.zeros(len(order), dtype=np.int64),
            x_px[order],
            y_px[order],
            heavy[order],
        )
    )


def layers_of(
    stimuli: Sequence[str] | None, stretches_ms: Sequence[float] | Floats | None = None
) -> tuple[str, ...]:
    """Names of the layers of gaze points: of pictures, or of stretches of time in seconds.

    >>> layers_of(None), layers_of(["page"], [0.0, 500.0, 2000.0])
    (('',), ('0–0.5 s', '0.5–2 s'))
    """
    if stretches_ms is None:
        return ("",) if stimuli is None else tuple(stimuli)
    ends = [f"{edge_ms / 1000:.10g}" for edge_ms in stretches_ms]
    return tuple(f"{first}–{last} s" for first, last in itertools.pairwise(ends))


def stretches(step_ms: float, count: int) -> tuple[float, ...]:
    """Where so many stretches of the same length begin and the last one ends.

    >>> stretches(40.0, 3)
    (0.0, 40.0, 80.0, 120.0)
    """
    if not (math.isfinite(step_ms) and step_ms > 0):
        raise InputError(f"stretches of time must be longer than 0 ms, got {step_ms}")
    if count < 1:
        raise InputError(f"there must be at least 1 stretch of time, got {count}")
    return tuple(number * step_ms for number in range(count + 1))


def _once(people: Sequence[str] | pl.Series) -> tuple[str, ...]:
    """People's names, each of which must be there once."""
    names = tuple(people)
    if not names:
        raise InputError("there is nobody to look: name at least one person")
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise InputError(f"person {twice} is listed twice: list everybody once")
    return names


def _people(study: Study, people: Sequence[str] | None) -> tuple[str, ...]:
    known = study.people["person"]
    if people is None:
        return _once(known)
    strangers = set(people) - set(known)
    if strangers:
        raise unknown("person", sorted(strangers)[0], known)
    return _once(people)


def _check(study: Study, weight: str) -> None:
    if study.kind not in ("samples", "fixations"):
        raise InputError(
            f"gaze points are samples or fixations, and this is a study of {study.kind}: "
            "start from the recordings"
        )
    if weight not in get_args(Weight):
        raise unknown("weight", weight, get_args(Weight))
    needed = ["x", "y"]
    if weight == "duration" and study.kind == "fixations":
        needed.append("duration_ms")
    for name in needed:
        if name not in study.data.columns or not study.data.schema[name].is_numeric():
            raise InputError(f"the data have no column {name} of numbers: gaze points need it")


def _stimuli(known: set[str], stimuli: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the stimuli to take, of which there must be gaze points."""
    if stimuli is not None:
        names = tuple(stimuli)
        strangers = [name for name in names if name not in known]
        if strangers:
            raise unknown("stimulus", strangers[0], known - {""})
        if not names or len(set(names)) < len(names):
            raise InputError(f"name every stimulus once, got {', '.join(names) or 'none'}")
        return names
    named = sorted(known - {""})
    if len(named) > 1:
        shown = ", ".join(named[:5]) + (", …" if len(named) > 5 else "")
        raise InputError(
            f"people looked at {len(named)} stimuli ({shown}): name the one of this picture"
        )
    return (named[0] if named else "",)


def _edges(stretches_ms: Sequence[float], stimuli: tuple[str, ...]) -> Floats:
    edges_ms = np.asarray(stretches_ms, dtype=np.float64)
    if len(stimuli) > 1:
        raise InputError(
            f"stretches of time are of one stimulus, got {len(stimuli)}: take one after the other"
        )
    if edges_ms.ndim != 1 or len(edges_ms) < 2 or not np.isfinite(edges_ms).all():
        raise InputError(f"stretches of time need a beginning and an end, got {stretches_ms}")
    if not (np.diff(edges_ms) > 0).all():
        raise InputError(f"stretches of time must follow each other, got edges {stretches_ms}")
    return edges_ms


def _rows_of_people(data: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Where each person's rows begin and end; they stand together."""
    names = data["person"]
    starts = names.ne_missing(names.shift()).arg_true().to_numpy()
    ends = np.append(starts[1:], len(names))[: len(starts)]
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    return dict(zip(names.gather(starts), bounds, strict=True))


def _part(
    data: pl.DataFrame, rows: dict[str, tuple[int, int]], people: tuple[str, ...]
) -> pl.DataFrame:
    """The rows of some people in their order, numbered as observers from 0."""
    bounds = np.array([rows.get(name, (0, 0)) for name in people], dtype=np.int64)
    lengths = bounds[:, 1] - bounds[:, 0]
    # Neighbours in the table are taken together.
    apart = np.flatnonzero(np.append(True, bounds[1:, 0] != bounds[:-1, 1]))
    ends = np.append(apart[1:], len(bounds)) - 1
    parts = [
        data.slice(first, last - first)
        for first, last in zip(bounds[apart, 0].tolist(), bounds[ends, 1].tolist(), strict=True)
    ]
    observer = np.repeat(np.arange(len(people)), lengths)
    return pl.concat(parts).with_columns(pl.Series("observer", observer, dtype=pl.Int64))


def _looked(data: pl.DataFrame, study: Study, weight: Weight) -> pl.DataFrame:
    """One row a look, lost ones too: observer, stimulus, since_ms, x, y (NaN: lost), weight."""
    seen = _seen(data)
    data = data.with_columns(
        pl.when(seen).then(pl.col(axis).cast(pl.Float64)).fill_null(math.nan) for axis in "xy"
    )
    if "eye" in data.columns:
        data = _one_look_a_time(data) if study.kind == "samples" else _one_eye(data)
    since_ms = pl.col("time_ms") - pl.col("time_ms").min()
    return data.select(
        "observer",
        "stimulus",
        "x",
        "y",
        since_ms.over(_SHOWING).alias("since_ms"),
        _weight(study, weight).alias("weight"),
    )


def _seen(data: pl.DataFrame) -> pl.Expr:
    """Whether there is usable gaze, as event detection has it (see `eyelid.gaze.events.blinks`)."""
    seen = pl.all_horizontal(pl.col(axis).cast(pl.Float64).is_finite() for axis in "xy")
    known = {name for name, kind in data.schema.items() if kind.is_numeric()}
    if "confidence" in known:
        seen &= ~(pl.col("confidence") < MIN_CONFIDENCE).fill_null(False)
    if "pupil" in known:
        track = ["observer", "recording", *(["eye"] if "eye" in data.columns else [])]
        pupil = pl.col("pupil").fill_nan(None)
        seen &= ~((pupil <= 0) & (pupil.max().over(track) > 0)).fill_null(False)
    return seen.fill_null(False)


def _one_look_a_time(data: pl.DataFrame) -> pl.DataFrame:
    """Samples of several eyes as one: the combined one, else the mean of those that see."""
    keys = [*_SHOWING, "time_ms"]
    combined = (pl.col("eye") == "cyclopean").fill_null(True)
    axes = [pl.col(axis).fill_nan(None) for axis in "xy"]
    points = data.group_by(keys, maintain_order=True).agg(
        pl.coalesce(axis.filter(combined).mean(), axis.mean()).fill_null(math.nan) for axis in axes
    )
    # Times of one eye alone have come after all times of the other.
    recording = pl.col("row").min().over("observer", "recording")
    return points.with_row_index("row").sort(recording, "time_ms")


def _one_eye(data: pl.DataFrame) -> pl.DataFrame:
    """Fixations of one eye of each recording: the combined one, else that which fixated longer."""
    seen = pl.col("x").is_finite()
    length = (
        pl.col("duration_ms").filter(seen).sum() if "duration_ms" in data.columns else seen.sum()
    )
    eyes = data.group_by("observer", "recording", "eye", maintain_order=True).agg(
        length.alias("length"), (pl.col("eye").first() == "cyclopean").alias("combined")
    )
    chosen = eyes.sort("combined", "length", descending=True, maintain_order=True).unique(
        ["observer", "recording"], keep="first"
    )
    return data.join(
        chosen.select("observer", "recording", "eye"),
        on=["observer", "recording", "eye"],
        how="semi",
        nulls_equal=True,
        maintain_order="left",
    )


def _weight(study: Study, weight: Weight) -> pl.Expr:
    if weight == "count":
        return pl.lit(1.0)
    if study.kind == "fixations":
        duration_ms = pl.col("duration_ms").cast(pl.Float64).fill_nan(None)
        return pl.when(duration_ms.is_finite()).then(duration_ms.clip(0.0)).fill_null(0.0)
    # The usual step of this showing alone: nobody else's data may move a person's weights.
    step_ms = pl.col("time_ms").diff().shift(-1).over(_SHOWING)
    usual_ms = step_ms.median().over(_SHOWING).fill_null(0.0)
    return pl.min_horizontal(step_ms.fill_null(usual_ms), 2 * usual_ms).clip(0.0)


def _on_picture(points: GazePoints, edges_ms: Floats | None = None) -> GazePoints:
    """Without lost looks and those outside the picture or all stretches of time."""
    wanted = np.ones(len(points.layer), dtype=np.bool_)
    if edges_ms is not None:
        assert points.since_ms is not None, "stretches of time are of gaze points with times"
        points = replace(points, layer=np.searchsorted(edges_ms, points.since_ms, side="right") - 1)
        wanted = (points.layer >= 0) & (points.layer < len(edges_ms) - 1)
    lost = np.isnan(points.x_px) | np.isnan(points.y_px)
    whole = Grid(points.width_px, points.height_px, 1, 1)
    kept = wanted & (whole.cell_of(points.x_px, points.y_px) == 0)
    return replace(
        points.at(kept),
        outside=int(np.count_nonzero(wanted & ~lost & ~kept)),
        lost=int(np.count_nonzero(wanted & lost)),
    )
