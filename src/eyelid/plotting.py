"""The one place that imports matplotlib, so that no file in the current folder is obeyed.

matplotlib reads a ``matplotlibrc`` of the current folder when it is imported, before any other. In
a folder that came from others it could have LaTeX run, make the import wait for a pipe, or move the
cursor of a terminal by a complaint. Import what draws from here, inside the function that draws.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

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
