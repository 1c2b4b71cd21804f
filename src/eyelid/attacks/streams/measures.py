"""The measures of a released stream beside its original, per recording and over people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from eyelid.attacks.statistics import Estimate, mean_of_people, rate_of_shares
from eyelid.attacks.streams.agreement import event_f1, f1, fixating, kappa
from eyelid.attacks.streams.areas import COLUMNS, ROWS, cells, gaze_grid, screen_grid
from eyelid.attacks.streams.movement import (
    impossible,
    log_ratio_of_medians,
    main_sequence,
    main_sequence_distance,
    saccades_of,
    speed_distance_per_s,
    speeds_per_s,
)
from eyelid.attacks.streams.pairing import Pair, Stream, pairs
from eyelid.engine.progress import track
from eyelid.gaze.areas import Places, polygons_of, within
from eyelid.gaze.events import DEFAULT_METHOD, events_of
from eyelid.gaze.events.spans import Floats, Spans
from eyelid.gaze.study import Study

_FULL_TURN_DEG = 360.0

AreasOf = Callable[[Floats, Floats], Places]


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
            their recordings, with 95 % limits; None where nobody has the figure.
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
    laws = main_sequence(saccades), main_sequence(their_saccades)
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
        "main_sequence_exponent_original": laws[0].exponent if laws[0] else None,
        "main_sequence_exponent_released": laws[1].exponent if laws[1] else None,
        "impossible_saccades_original": impossible(saccades, ours.units),
        "impossible_saccades_released": impossible(their_saccades, theirs.units),
        "speed_distance": speed_distance_per_s(speeds, their_speeds),
        "speed_log_ratio": log_ratio_of_medians(speeds, their_speeds),
    }


def _times_ms(stream: Stream, spans: Spans) -> tuple[Floats, Floats]:
    return stream.recording.time_ms[spans.onset], stream.recording.time_ms[spans.offset]


def _rmse(pair: Pair) -> float | None:
    """Of the gaze that both have."""
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
