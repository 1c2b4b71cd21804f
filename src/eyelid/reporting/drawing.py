"""How pictures are drawn: as self-contained SVG with a description for those who cannot see them.

All are about as wide as a hand: on a telephone their letters are still read, on a desk two stand
side by side.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from eyelid.gaze.study import Feature
from eyelid.spelling import on_page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

# Okabe & Ito: distinct to colour-blind eyes and in grey.
INK, BLUE, ORANGE, GREEN, GREY = "#22313f", "#0072b2", "#d55e00", "#009e73", "#6b7780"
_WIDTH = 5.2
SMALL = 7.5
_NOTHING = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_UNSIGNED = {"Software": None}
_UNDATED = dict.fromkeys(("CreationDate", "Creator", "Producer"))
# Dots an inch.
_SHARP = 220


def in_words(feature: Feature, letters: int = 26) -> str:
    r"""What a feature is, in lines short enough to stand beside an axis; its name if nobody says.

    >>> in_words(Feature("n", "1", "fixations that lie on text per second", 0.0, 1.0))
    'fixations that lie on text\nper second'
    """
    return textwrap.fill(feature.definition or feature.name, letters, max_lines=3, placeholder=" …")


def figure(
    draw: Callable[..., None],
    height: float,
    columns: int = 1,
    rows: int = 1,
    width: float = _WIDTH,
    ratios: Sequence[float] | None = None,
    height_ratios: Sequence[float] | None = None,
) -> Figure:
    """Draw on fresh axes.

    Args:
        draw: gets all axes, row by row.
        height: in inches.
        columns: side by side.
        rows: one below the other.
        width: in inches.
        ratios: how wide the columns are beside each other; all alike by default.
        height_ratios: how high the rows are; all alike by default.
    """
    from eyelid.plotting import PAPER, Figure, FigureCanvasSVG, styled

    with styled(PAPER):
        drawn = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(drawn)
        axes = drawn.subplots(
            rows, columns, squeeze=False, width_ratios=ratios, height_ratios=height_ratios
        )
        draw(*axes.flat)
    return drawn


def svg(draw: Callable[..., None], alt: str, height: float, **size: Any) -> Markup:
    """Draw as `figure` does and return the picture as an SVG element.

    Args:
        draw: gets all axes, row by row.
        alt: what the picture shows, in words.
        height: in inches.
        size: columns, rows, width and ratios, as for `figure`.
    """
    from markupsafe import Markup, escape

    from eyelid.plotting import PAPER, styled

    with styled(PAPER):
        buffer = io.StringIO()
        figure(draw, height, **size).savefig(buffer, format="svg", metadata=_NOTHING)
    text = buffer.getvalue()
    # Inside a page neither the prologue nor the fixed size is wanted, nor the same ids twice.
    start = text.index("<svg")
    head, body = text[start:].split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    body = re.sub(r'<g id="[\w.]+_\d+"', "<g", body)
    return Markup(on_page(f'{head} role="img" aria-label="{escape(alt)}">{body}'))


def png(draw: Callable[..., None], height: float, **size: Any) -> bytes:
    """Draw as `figure` does and return the picture as a PNG file, sharp enough for a slide.

    Args:
        draw: gets all axes, row by row.
        height: in inches.
        size: columns, rows, width and ratios, as for `figure`.
    """
    from eyelid.plotting import PAPER, styled

    with styled(PAPER):
        buffer = io.BytesIO()
        figure(draw, height, **size).savefig(buffer, format="png", dpi=_SHARP, metadata=_UNSIGNED)
    return buffer.getvalue()


def pdf(draw: Callable[..., None], height: float, **size: Any) -> bytes:
    """Draw as `figure` does and return the picture as a PDF file, the same for everybody.

    Args:
        draw: gets all axes, row by row.
        height: in inches.
        size: columns, rows, width and ratios, as for `figure`.
    """
    from eyelid.plotting import PAPER, styled

    with styled(PAPER):
        buffer = io.BytesIO()
        figure(draw, height, **size).savefig(buffer, format="pdf", metadata=_UNDATED)
    return buffer.getvalue()
