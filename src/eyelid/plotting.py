"""The one place that imports matplotlib, so that no file in the current folder is obeyed.

matplotlib reads a ``matplotlibrc`` of the current folder when it is imported, before any other. In
a folder that came from others it could have LaTeX run, make the import wait for a pipe, or move the
cursor of a terminal by a complaint. Import what draws from here, inside the function that draws.
"""

from __future__ import annotations

import contextlib
import logging
import os
import textwrap
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = "matplotlibrc"


@contextlib.contextmanager
def _without_that_of_the_folder() -> Iterator[None]:
    """Have the current folder's matplotlibrc look absent; every other path is as it is.

    matplotlib offers no way to skip it, and to change the folder would change it for all threads.
    """
    exists = os.path.exists

    def answer(path: Any) -> bool:
        return path != _NAME and exists(path)

    os.path.exists = answer
    try:
        yield
    finally:
        os.path.exists = exists


# Complaints go to those who listen to this logger, and never raw to standard error.
logging.getLogger("matplotlib").addHandler(logging.NullHandler())
with _without_that_of_the_folder():
    import matplotlib as _matplotlib
    from matplotlib import colormaps as colormaps
    from matplotlib.backends.backend_svg import FigureCanvasSVG as FigureCanvasSVG
    from matplotlib.colors import LinearSegmentedColormap as LinearSegmentedColormap
    from matplotlib.colors import ListedColormap as ListedColormap
    from matplotlib.colors import LogNorm as LogNorm
    from matplotlib.colors import to_rgba as to_rgba
    from matplotlib.figure import Figure as Figure
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.patches import Rectangle as Rectangle
    from matplotlib.ticker import LogLocator as LogLocator
    from matplotlib.ticker import MaxNLocator as MaxNLocator


_INK, _GREY = "#22313f", "#6b7780"
# Of letters in captions.
_SMALL, _LETTERS_AN_INCH, _LINE_INCH = 7.5, 17.5, 0.13
PAPER: dict[str, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "eyelid",
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
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
"""What differs from matplotlib's own style: letters of 9 points, as papers have them."""


@contextlib.contextmanager
def paper_axes(ax: Axes | None, *, height: float, width: float = 5.2) -> Iterator[Axes]:
    """Axes to draw on: the given ones, in their style, or fresh ones for a paper.

    Fresh ones are of pyplot, so that a notebook shows them.

    Args:
        ax: given ones; fresh ones by default.
        height: of fresh ones, in inches.
        width: of fresh ones.
    """
    if ax is not None:
        yield ax
        return
    with paper_figure(width, height) as figure:
        yield figure.subplots()


def lane_beside(axes: Axes) -> Axes:
    """Narrow axes to the left of others, which make room for them.

    Args:
        axes: that make room.
    """
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    beside: Axes = make_axes_locatable(axes).append_axes("left", size="18%", pad=0.08)
    return beside


def write_caption(axes: Axes, text: str) -> None:
    """Write what a picture shows below it, and make room for that.

    Args:
        axes: of the picture.
        text: to write, in as many lines as it takes.
    """
    figure = axes.figure
    while not isinstance(figure, Figure):
        figure = figure.figure
    lines = textwrap.wrap(text, int(_LETTERS_AN_INCH * figure.get_figwidth()))
    figure.set_figheight(figure.get_figheight() + _LINE_INCH * (len(lines) + 1))
    place = {"x": 0.01, "ha": "left", "fontsize": _SMALL, "color": _GREY}
    figure.supxlabel("\n".join(lines), parse_math=False, **place)


@contextlib.contextmanager
def paper_figure(width: float, height: float) -> Iterator[Figure]:
    """A fresh figure in the style of a paper, of pyplot, so that a notebook shows it.

    Args:
        width: in inches.
        height: in inches.
    """
    from matplotlib import pyplot

    with styled(PAPER | {"figure.facecolor": "white", "savefig.facecolor": "white"}):
        yield pyplot.figure(figsize=(width, height), layout="constrained")


@contextlib.contextmanager
def styled(style: Any) -> Iterator[None]:
    """A context in which pictures look the same for everybody, whatever a matplotlibrc says.

    Args:
        style: a dictionary of what differs from matplotlib's own defaults.

    >>> with styled({"font.size": 9}):
    ...     _matplotlib.rcParams["font.size"], _matplotlib.rcParams["text.usetex"]
    (9.0, False)
    """
    with _matplotlib.rc_context(), warnings.catch_warnings():
        # Names may have letters that matplotlib's own font lacks, or leave no room for axes.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        warnings.filterwarnings("ignore", ".*constrained_layout not applied")
        warnings.filterwarnings("ignore", "Tight layout not applied")
        _matplotlib.rcdefaults()
        _matplotlib.rcParams.update(style)
        yield
