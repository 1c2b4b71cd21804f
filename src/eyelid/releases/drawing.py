"""How pictures are drawn: as self-contained SVG with a description for those who cannot see them.

All are about as wide as a hand: on a telephone their letters are still read, on a desk two stand
side by side.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

# Okabe & Ito: told apart by colour-blind eyes and in grey.
INK, BLUE, ORANGE, GREEN, GREY = "#22313f", "#0072b2", "#d55e00", "#009e73", "#6b7780"
_STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "svg.hashsalt": "eyelid",
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
_WIDTH = 5.2
SMALL = 7.5
_NOTHING = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def figure(draw: Callable[..., None], height: float, columns: int = 1) -> Figure:
    """Draw on fresh axes.

    Args:
        draw: gets one axes a column.
        height: in inches.
        columns: side by side.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        drawn = Figure(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(drawn)
        draw(*drawn.subplots(1, columns, squeeze=False)[0])
    return drawn


def svg(draw: Callable[..., None], alt: str, height: float, columns: int = 1) -> Markup:
    """Draw as `figure` does and return the picture as an SVG element.

    Args:
        draw: gets one axes a column.
        alt: what the picture shows, in words.
        height: in inches.
        columns: side by side.
    """
    from markupsafe import Markup, escape
    from matplotlib import rc_context

    with rc_context(_STYLE), warnings.catch_warnings():
        # The browser has letters that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        buffer = io.StringIO()
        figure(draw, height, columns).savefig(buffer, format="svg", metadata=_NOTHING)
    text = buffer.getvalue()
    # Inside a page neither the prologue nor the fixed size is wanted, nor the same ids twice.
    start = text.index("<svg")
    head, body = text[start:].split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    body = re.sub(r'<g id="[\w.]+_\d+"', "<g", body)
    return Markup(f'{head} role="img" aria-label="{escape(alt)}">{body}')
