"""The pictures of a report, as self-contained SVG."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eyelid.audits.claims.game import GameResult
from eyelid.gaze.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyelid.releases.demo import Attempt

# Okabe & Ito: told apart by colour-blind eyes and in grey.
_INK, _BLUE, _ORANGE, _GREEN, _GREY = "#22313f", "#0072b2", "#d55e00", "#009e73", "#8a949c"
_STYLE: Any = {
    "font.size": 10,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "svg.hashsalt": "eyelid",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _GREY,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def _svg(draw: Any, width: float, height: float, columns: int = 1) -> str:
    """Draw on fresh axes and return the picture as an SVG element."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(1, columns, squeeze=False)[0]
        draw(*axes)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    # Inside a page neither the prologue nor the fixed size is wanted.
    text = text[text.index("<svg") :]
    return re.sub(
        r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r' height="[^"]*pt"', "", text, count=1)
    )


def gaze_picture(study: Study, seconds: float = 20.0) -> str:
    """The gaze of the first two people on the first task: what is at stake."""
    first = [r for r in study.recordings() if r.task == study.data["task"][0]][:2]
    screen = study.screen

    def limits(side: int) -> tuple[float, float]:
        """The screen, in degrees from its top left corner."""
        size_m = (screen.width_m, screen.height_m)[side] if screen else None
        if screen is None or size_m is None or screen.distance_m is None:
            values = np.concatenate([r["xy"[side]] for r in first])
            return float(np.nanmin(values)), float(np.nanmax(values))
        return 0.0, 2 * math.degrees(math.atan(size_m / 2 / screen.distance_m))

    def draw(*axes: Axes) -> None:
        for axis, recording in zip(axes, first, strict=True):
            shown = recording.time_ms < 1000 * seconds
            x, y = recording["x"][shown], recording["y"][shown]
            axis.plot(x, y, color=_BLUE, linewidth=0.7, alpha=0.85)
            axis.set_title(f"{recording.person}, {recording.task}, {seconds:.0f} s", fontsize=10)
            axis.set_xlabel("degrees")
            axis.set_aspect("equal", adjustable="box")
            axis.set(xlim=limits(0), ylim=limits(1)[::-1])
        axes[0].set_ylabel("degrees")

    return _svg(draw, 8.0, 3.2, columns=len(first))


def plane_picture(attempts: Sequence[Attempt], people: int, tasks: int) -> str:
    """Privacy against use: how many people are named, and how well the task is still recognised."""

    def draw(axis: Axes) -> None:
        axis.axhline(1 / people, color=_GREY, linewidth=0.8, linestyle=":")
        axis.axvline(1 / tasks, color=_GREY, linewidth=0.8, linestyle=":")
        axis.text(
            0.995, 1 / people + 0.012, "guessing a person", fontsize=8, color=_GREY, ha="right"
        )
        axis.text(1 / tasks + 0.006, 1.03, "guessing a document", fontsize=8, color=_GREY)
        for number, attempt in enumerate(attempts):
            colour = _ORANGE if number == 0 else _GREEN if attempt.unit == "person" else _BLUE
            axis.errorbar(
                attempt.document,
                attempt.identified,
                yerr=[
                    [attempt.identified - attempt.identified_low],
                    [attempt.identified_high - attempt.identified],
                ],
                fmt="o",
                color=colour,
                ecolor=colour,
                elinewidth=0.8,
                markersize=13,
                alpha=0.95,
            )
            axis.text(
                attempt.document,
                attempt.identified,
                str(number),
                color="white",
                fontsize=8,
                ha="center",
                va="center",
                zorder=5,
            )
        axis.set_xlim(min(0.25, *(a.document - 0.05 for a in attempts)), 1.0)
        axis.set_ylim(-0.03, 1.08)
        axis.set_xlabel("windows whose document is recognised (more is more useful)")
        axis.set_ylabel("people named (less is more private)")

    return _svg(draw, 7.6, 4.6)


def games_picture(games: Sequence[GameResult]) -> str:
    """What was claimed and what an attacker could certify: the bar must stay left of the line."""

    def draw(axis: Axes) -> None:
        places = np.arange(len(games))[::-1]
        share = [g.lower_bound / g.claimed for g in games]
        colours = [_ORANGE if g.refuted else _GREEN for g in games]
        axis.barh(places, share, color=colours, height=0.62)
        axis.axvline(1.0, color=_INK, linewidth=1.2)
        labels = [
            f"{g.mechanism}, set for {g.calibrated_for}, attacked per {g.unit}" for g in games
        ]
        axis.set_yticks(places, labels)
        axis.set_xlim(0, 1.15)
        axis.set_xlabel("certified loss / claimed loss")

    return _svg(draw, 7.6, 0.36 * len(games) + 0.9)
