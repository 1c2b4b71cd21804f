"""The measures of a released stream beside its original, per recording and over people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from eyelid.attacks.statistics import Estimate, mean_of_people, rate_of_shares
from eyelid.attacks.streams.movement import (
    Pair,
    Stream,
    impossible,
    log_ratio_of_medians,
    main_sequence,
    main_sequence_distance,
    pairs,
    saccades_of,
    speed_distance_per_s,
    speeds_per_s,
)
from eyelid.engine.progress import track
from eyelid.gaze.areas import Places, polygons_of, within
from eyelid.gaze.events import DEFAULT_METHOD, events_of
from eyelid.gaze.events.spans import Floats, Mask, Spans, covered
from eyelid.gaze.study import Study

_FULL_TURN_DEG = 360.0

AreasOf = Callable[[Floats, Floats], Places]


# Two fixations are one when they share more than this of the time that either takes.
_SHARED = 0.5
COLUMNS, ROWS = 4, 3
# Of gaze whose screen is not known, without the outermost samples.
_MIDDLE = (0.01, 0.99)


class Measure(NamedTuple):
    """What one figure means.

    Attributes:
        says: in words.
        unit: of the figure; ``{units}`` stands for those of gaze.
        share: whether it lies between 0 and 1 and is a share of something.
    """

    says: str
    unit: str = "1"
    share: bool = False


MEASURES = {
    "fixation_kappa": Measure("agreement on what is a fixation, beyond chance (Cohen's κ)"),
    "fixation_f1": Measure("agreement on the samples of fixations", share=True),
    "fixation_event_f1": Measure("fixations found again, and no others", share=True),
    "aoi_agreement": Measure("samples in the same area of interest", share=True),
    "aoi_kappa": Measure("the same beyond chance (Cohen's κ)"),
    "gaze_rmse": Measure("root mean square distance of gaze", "{units}"),
    "lost": Measure("samples with gaze that the release has none for", share=True),
    "main_sequence_distance": Measure("difference of the log peak speeds of saccades"),
    "main_sequence_exponent_original": Measure("exponent of speed over amplitude, original"),
    "main_sequence_exponent_released": Measure("exponent of speed over amplitude, release"),
    "impossible_saccades_original": Measure("saccades that no eye makes, original", share=True),
    "impossible_saccades_released": Measure("saccades that no eye makes, release", share=True),
    "speed_distance": Measure("distance of the distributions of speed (Wasserstein)", "{units}/s"),
    "speed_log_ratio": Measure("log of the median speed, release over original"),
}


@dataclass(frozen=True, eq=False)
class StreamMeasures:
    """How much a released stream still looks like the eye it came from.

    Attributes:
        measures: by their names in `MEASURES`, the mean over people, each person being the mean of
            their recordings, with 95% limits; None where nobody has the figure.
        recordings: one row a recording with its figures; null where one is not defined.
        units: of gaze: degrees wherever they are known.
        aois: which areas of interest were looked at, in words.
    """

    measures: dict[str, Estimate | None]
    recordings: pl.DataFrame
    units: str
    aois: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "units": self.units,
            "aois": self.aois,
            "recordings": len(self.recordings),
            "measures": {
                name: None
                if found is None
                else asdict(found)
                | {"unit": MEASURES[name].unit.format(units=self.units)}
                | {"says": MEASURES[name].says}
                for name, found in self.measures.items()
            },
        }


def stream_measures(
    original: Study,
    released: Study,
    aois: Sequence[ArrayLike] | None = None,
    method: str = DEFAULT_METHOD,
) -> StreamMeasures:
    """Compare a stream of gaze with what was made of it.

    Beside each original sample stands the last released one at or before its time; events and
    speeds are those of each stream at its own rate. Agreement is counted over the samples that the
    original saw, and a sample that the release lost agrees with nothing.

    Args:
        original: a study of samples.
        released: the same people and recordings, jittered, slowed down or otherwise changed.
        aois: areas of interest, each as corners (x, y) in the units of the study; by default a
            grid of 4 × 3 over the screen, or where its size is not known over the gaze of each
            original recording.
        method: the event detector, see `eyelid.detect_events`.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=2, tasks=("comic",), minutes=0.5, seed=1)
    >>> same = stream_measures(study, study).measures
    >>> same["fixation_kappa"].value, same["gaze_rmse"].value
    (1.0, 0.0)
    """
    polygons = None if aois is None else polygons_of(aois)
    grid = screen_grid(original)
    if polygons is not None:
        words = f"polygons: {len(polygons)}"
    else:
        words = f"{COLUMNS} × {ROWS} grid of {'the screen' if grid else 'each recording’s gaze'}"

    def areas_for(stream: Stream) -> AreasOf:
        if polygons is not None:
            return lambda x, y: within(polygons, x, y)
        edges = grid or gaze_grid(stream.x[stream.seen], stream.y[stream.seen])
        return lambda x, y: cells(edges, x, y)

    rows, units = [], ""
    for pair in track(pairs(original, released), "comparing streams"):
        units = pair.original.units
        rows.append(_row(pair, areas_for, method))
    figures = pl.DataFrame(
        rows,
        schema={"person": pl.String, "recording": pl.String} | dict.fromkeys(MEASURES, pl.Float64),
    )
    per_person = figures.group_by("person", maintain_order=True).agg(pl.col(list(MEASURES)).mean())
    return StreamMeasures(
        measures={name: _over_people(per_person[name], m.share) for name, m in MEASURES.items()},
        recordings=figures,
        units=units,
        aois=words,
    )


def _row(pair: Pair, areas_for: Callable[[Stream], AreasOf], method: str) -> dict[str, Any]:
    """The figures of one recording."""
    ours, theirs, seen = pair.original, pair.released, pair.original.seen
    found = {"person": ours.recording.person, "recording": ours.recording.recording}
    if not seen.any():
        return found
    our_events, their_events = (events_of(s.recording, method, s.units) for s in (ours, theirs))
    fixation = fixating(our_events, len(seen))[seen]
    other = (fixating(their_events, len(theirs.seen))[pair.match] & pair.kept)[seen]

    areas = areas_for(ours)
    area, other_area = (
        areas(ours.x, ours.y)[seen],
        # What is lost is in no area, not even outside of all.
        np.where(pair.kept, areas(theirs.x, theirs.y)[pair.match], -2)[seen],
    )
    saccades, their_saccades = (
        saccades_of(s, events["saccade"])
        for s, events in ((ours, our_events), (theirs, their_events))
    )
    mechanisms = main_sequence(saccades), main_sequence(their_saccades)
    speeds, their_speeds = speeds_per_s(ours), speeds_per_s(theirs)
    return found | {
        "fixation_kappa": kappa(fixation, other),
        "fixation_f1": f1(fixation, other),
        "fixation_event_f1": event_f1(
            _times_ms(ours, our_events["fixation"]), _times_ms(theirs, their_events["fixation"])
        ),
        "aoi_agreement": float(np.mean(area == other_area)),
        "aoi_kappa": kappa(area, other_area),
        "gaze_rmse": _rmse(pair),
        "lost": float(np.mean(~pair.kept[seen])),
        "main_sequence_distance": main_sequence_distance(saccades, their_saccades),
        "main_sequence_exponent_original": mechanisms[0].exponent if mechanisms[0] else None,
        "main_sequence_exponent_released": mechanisms[1].exponent if mechanisms[1] else None,
        "impossible_saccades_original": impossible(saccades, ours.units),
        "impossible_saccades_released": impossible(their_saccades, theirs.units),
        "speed_distance": speed_distance_per_s(speeds, their_speeds),
        "speed_log_ratio": log_ratio_of_medians(speeds, their_speeds),
    }


def _times_ms(stream: Stream, spans: Spans) -> tuple[Floats, Floats]:
    return stream.recording.time_ms[spans.onset], stream.recording.time_ms[spans.offset]


def _rmse(pair: Pair) -> float | None:
    """Root mean square distance of the gaze that both have; None where they share none."""
    both = np.flatnonzero(pair.original.seen & pair.kept)
    if not len(both):
        return None
    right, up = (
        pair.released.recording[axis][pair.match[both]] - pair.original.recording[axis][both]
        for axis in "xy"
    )
    if pair.original.units == "deg":
        # Azimuths go on beyond half a turn, each stream's in its own way.
        right = (right + _FULL_TURN_DEG / 2) % _FULL_TURN_DEG - _FULL_TURN_DEG / 2
    return float(np.sqrt(np.mean(right**2 + up**2)))


def _over_people(values: pl.Series, share: bool) -> Estimate | None:
    known = values.drop_nulls().to_numpy()
    if not share or not len(known):
        return mean_of_people(known)
    rate = rate_of_shares(known, chance=0.0)
    return Estimate(rate.rate, rate.low, rate.high, rate.people)


def kappa(one: NDArray[np.generic], other: NDArray[np.generic]) -> float | None:
    """Cohen's κ of two who name each sample; None where chance alone makes them agree.

    >>> kappa(np.array([1, 1, 2, 2]), np.array([1, 1, 2, 1]))
    0.5
    """
    if not len(one):
        return None
    names, both = np.unique(np.concatenate([one, other]), return_inverse=True)
    first, second = (np.bincount(half, minlength=len(names)) for half in np.split(both, 2))
    chance = float(first @ second) / len(one) ** 2
    agreed = float(np.mean(one == other))
    return (agreed - chance) / (1 - chance) if chance < 1 else None


def f1(one: Mask, other: Mask) -> float | None:
    """Harmonic mean of precision and recall of two who say yes or no; None if nobody says yes.

    >>> f1(np.array([True, True, False]), np.array([True, False, False]))
    0.6666666666666666
    """
    said = int(one.sum() + other.sum())
    return 2 * int((one & other).sum()) / said if said else None


def fixating(found: dict[str, Spans], samples: int) -> Mask:
    """Which samples are of fixations; one that a saccade shares is the saccade's."""
    fixation, saccade = (
        covered(Spans(found[kind].onset, found[kind].offset + 1), samples)
        for kind in ("fixation", "saccade")
    )
    return fixation & ~saccade


def event_f1(ours_ms: tuple[Floats, Floats], theirs_ms: tuple[Floats, Floats]) -> float | None:
    """F1 of events by their onsets and offsets; two are the same by most of their joint time.

    >>> ours = np.array([0.0, 300.0]), np.array([200.0, 500.0])
    >>> event_f1(ours, (np.array([20.0]), np.array([220.0])))
    0.6666666666666666
    """
    (onset, offset), (begin, end) = ours_ms, theirs_ms
    if not len(onset) or not len(begin):
        return 0.0 if len(onset) or len(begin) else None
    # An event that shares more than half of an event's time has its middle.
    near = np.maximum(np.searchsorted(begin, (onset + offset) / 2, side="right") - 1, 0)
    shared = np.minimum(offset, end[near]) - np.maximum(onset, begin[near])
    joint = np.maximum(offset, end[near]) - np.minimum(onset, begin[near])
    return 2 * int((shared > _SHARED * joint).sum()) / (len(onset) + len(begin))


def cells(edges: tuple[Floats, Floats], x: Floats, y: Floats) -> Places:
    """The cell of a grid that each sample is in; the outer cells go on for ever."""
    column, row = (np.searchsorted(e, v, side="right") for e, v in zip(edges, (x, y), strict=True))
    return np.asarray(row * COLUMNS + column)


def screen_grid(study: Study) -> tuple[Floats, Floats] | None:
    """The inner borders of a grid over the screen; None where the screen's size is not known."""
    screen = study.screen
    if study.units == "fraction":
        width, height = 1.0, 1.0
    elif study.units == "px" and screen and screen.width_px and screen.height_px:
        width, height = float(screen.width_px), float(screen.height_px)
    else:
        return None
    start = 0.5 if study.xy_origin == "centre" else 0.0
    return tuple(  # type: ignore[return-value]
        (np.arange(1, parts) / parts - start) * size
        for parts, size in ((COLUMNS, width), (ROWS, height))
    )


def gaze_grid(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The inner borders of a grid over where one recording's gaze went."""

    def borders(values: Floats, parts: int) -> Floats:
        low, high = np.quantile(values, _MIDDLE)
        return np.asarray(low + (high - low) * np.arange(1, parts) / parts)

    return borders(x, COLUMNS), borders(y, ROWS)
