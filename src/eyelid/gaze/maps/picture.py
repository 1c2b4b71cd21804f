"""A gaze map as a picture on given axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyelid.gaze.maps.gaze_map import RELIABLE_ERRORS, GazeMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyelid.gaze.maps.grid import Floats

_WIDTH_INCH, _LEAST_INCH, _MOST_INCH = 5.2, 1.6, 7.0
LINES = "Solid lines: clearly above the average of the page; dashed ones may be noise."
"""What the lines on a private map say."""

# A line around an area needs no more columns than that.
_LINE_COLUMNS = 420


def draw_map(gaze_map: GazeMap, ax: Axes | None, *, trusted: bool, caption: bool) -> Axes:
    """Draw a map; see `GazeMap.plot`.

    Args:
        gaze_map: private or not.
        ax: where to; None for fresh axes.
        trusted: whether to draw lines around what stands out of the noise.
        caption: whether to write below what is shown.
    """
    from eyelid.plotting import paper_axes, write_caption

    height, width = gaze_map.values.shape
    tall = min(_MOST_INCH, max(_LEAST_INCH, 0.85 * _WIDTH_INCH * height / width))
    most = float(gaze_map.values.max())
    shares = gaze_map.values * (100.0 / most if most > 0 else 0.0)
    with paper_axes(ax, height=tall, width=_WIDTH_INCH) as axes:
        drawn = axes.imshow(
            shares, cmap="viridis", vmin=0.0, vmax=100.0, extent=(0, width, height, 0)
        )
        axes.set(xlabel="px", ylabel="px")
        if gaze_map.name:
            axes.set_title(gaze_map.name, loc="left")
        axes.figure.colorbar(drawn, ax=axes, label="% of the hottest place", shrink=0.9)
        if trusted and gaze_map.error is not None:
            _outline(axes, gaze_map.standing_out_by(RELIABLE_ERRORS), "dashed", 0.9)
            if gaze_map.certain_errors is not None:
                _outline(axes, gaze_map.standing_out_by(gaze_map.certain_errors), "solid", 1.4)
        if caption:
            write_caption(axes, _caption(gaze_map, trusted=trusted))
    return axes


def _outline(axes: Axes, out: Floats, style: str, wide: float) -> None:
    """A line around where something is positive."""
    if not (out > 0).any() or (out > 0).all():
        return
    every = max(1, out.shape[1] // _LINE_COLUMNS)
    height, width = out.shape
    thin = out[::every, ::every]
    axes.contour(
        thin,
        levels=[0.0],
        colors="white",
        linestyles=style,
        linewidths=wide,
        extent=(0, width, 0, height),
        origin="lower",
    )


def _caption(gaze_map: GazeMap, *, trusted: bool) -> str:
    """What is shown, in a line or two."""
    if gaze_map.error is None:
        return f"{gaze_map.people} people; no noise: NOT private"
    said = f"{gaze_map.people} people, with noise for privacy."
    return f"{said} {LINES}" if trusted else said
