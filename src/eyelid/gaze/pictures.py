"""Pictures of recordings: axes in, axes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eyelid.gaze.study import Recording, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_BLUE, _ORANGE = "#2b6cb0", "#c05621"
_MOST_POINTS = 20_000


def draw_overview(recording: Recording, study: Study, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Where somebody looked, and when, on two axes.

    Args:
        recording: of the study.
        study: says the units, and which way is up.
        axes: two.
    """
    place, time = axes
    names = ("x", "y") if "x" in recording.columns else ("gaze_x", "gaze_y")
    every = max(len(recording.time_ms) // _MOST_POINTS, 1)
    seconds = (recording.time_ms[::every] - recording.time_ms[0]) / 1000.0
    tracks = [recording.columns.get(name, np.full(1, np.nan))[::every] for name in names]
    unit = study.units or ""
    if len(tracks[0]) == len(seconds) == len(tracks[1]):
        place.plot(*tracks, color=_BLUE, linewidth=0.5, alpha=0.7)
        for values, colour, name in zip(tracks, (_BLUE, _ORANGE), names, strict=True):
            time.plot(seconds, values, color=colour, linewidth=0.6, label=name)
        time.legend(loc="upper right", fontsize=7, frameon=False)
    if study.xy_origin == "top-left":
        place.invert_yaxis()
    place.set_aspect("equal", adjustable="datalim")
    place.set_xlabel(f"{names[0]} [{unit}]" if unit else names[0], fontsize=7)
    time.set_xlabel("time [s]", fontsize=7)
    what = [recording.person, recording.recording, recording.eye]
    time.set_title(" · ".join(part for part in what if part), fontsize=8, loc="left")
    for axis in (place, time):
        axis.tick_params(labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    return axes
