"""Pictures of synthetic recordings beside people's: for the owner of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eyelid.attacks.gaze_use import GazeUse
from eyelid.reporting.drawing import BLUE, GREY, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_BINS = 24
_COLOURS = {"people": GREY, "release": BLUE, "guess": ORANGE}


def distributions_picture(use: GazeUse) -> Markup | None:
    """Distributions of events of people, release and guess, one panel a quantity.

    None where no detector found any in people's recordings.

    Args:
        use: what recordings are good for.
    """
    shown = {what: of for what, of in use.values.items() if len(of["people"]) > 1}
    if not shown:
        return None

    def draw(*axes: Axes) -> None:
        for axis, (what, of) in zip(axes, shown.items(), strict=True):
            edges = np.linspace(0.0, float(np.quantile(of["people"], 0.98)), _BINS + 1)
            for name, values in of.items():
                counts, _ = np.histogram(values, edges)
                share = counts / max(1, len(values))
                axis.stairs(share, edges, color=_COLOURS[name], label=name, lw=1.2)
            axis.set_xlabel(what + (" (ms)" if "duration" in what else " (°)"))
            axis.set_ylabel("share of events")
        axes[0].legend(frameon=False, fontsize=SMALL)

    medians = "; ".join(
        f"{what}: " + ", ".join(f"{name} {np.median(v):.2g}" for name, v in of.items() if len(v))
        for what, of in shown.items()
    )
    return svg(draw, f"Distributions of events, with medians. {medians}", 2.3, columns=len(shown))
