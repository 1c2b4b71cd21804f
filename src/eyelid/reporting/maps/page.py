"""The sheet a picture of gaze is drawn on: with a legend that says whom the picture protects."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.privacy.guarantee import Guarantee, figure_up, large_delta, rounded_up
from eyelid.reporting.drawing import GREY, INK, SMALL
from eyelid.reporting.sentences import FORMAL_ONLY, formal_only
from eyelid.spelling import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_GUARANTEE = "NO PRIVACY GUARANTEE"
CAUTION = "Caution:"
VEIL = "#a9b0b5"
# In inches.
MARGIN, LINE, WIDEST, HIGHEST = 0.15, 0.165, 7.0, 7.5
DPI = 160.0
_NARROWEST, _COLOUR_BAR, _SCALE_BAR = 4.8, 0.95, 0.24
_ALARM, _QUIET = "#b00000", "#eef1f3"
_CAUTION = "#9a3412"
# Letters of the longest remark. Its room is the same whatever it says: how large a picture is
# follows from public facts.
MOST_REMARKED = 130
_REMARK = 8.5
# Of the heat that is drawn: with more of it below two standard errors, a map is mostly noise.
_MOSTLY = 0.5
_STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.color": VEIL,
    "hatch.linewidth": 0.6,
}


def styled() -> Any:
    """A context in which pictures look alike."""
    from eyelid import plotting

    return plotting.styled(_STYLE)


class Page:
    """A figure laid out in inches: title, body, room beside and below it, notes, legend.

    A legend that begins with `NO_GUARANTEE` is drawn so that nobody can miss it.

    Args:
        width: of the body.
        height: of the body.
        legend: whom the picture protects.
        title: above everything.
        notes: below the body, in small letters.
        beside: room at the right of the body, for a colour bar.
        below: room below the body, for a scale bar.
        label: the short title that a file of it carries.
        dpi: how fine it is drawn, letters and all.
        remark: what to make of it, above the body; one that begins with `CAUTION` is marked.
    """

    def __init__(
        self,
        width: float,
        height: float,
        legend: str,
        title: str = "",
        notes: Sequence[str] = (),
        beside: float = _COLOUR_BAR,
        below: float = _SCALE_BAR,
        label: str = "private heatmap",
        dpi: float = DPI,
        remark: str = "",
    ) -> None:
        from eyelid.plotting import Figure

        if not legend.strip():
            raise InputError("a picture of a gaze map needs a legend that says whom it protects")
        self._width, self._height = width, height
        whole = max(width + beside, _NARROWEST) + 2 * MARGIN
        missing = legend.startswith(NO_GUARANTEE)
        heading = _wrapped([title], whole - 2 * MARGIN, 10.5)
        small = _wrapped(notes, whole - 2 * MARGIN, SMALL)
        words = _wrapped([legend], whole - 2 * MARGIN, 10.0 if missing else 8.5)
        banner = len(words) * (0.2 if missing else LINE) + MARGIN
        titled = MARGIN + 0.2 * len(heading) + (0.06 if title else 0.0)
        above = titled + LINE * _lines_of_remarks(whole - 2 * MARGIN) * bool(remark)
        self._above = above
        self._size = whole, above + height + below + 0.15 * len(small) + MARGIN + banner
        # A file must not be called private that is not.
        label = "heatmap without privacy" if missing else label
        self.figure = Figure(figsize=self._size, label=label, facecolor="white", dpi=dpi)
        self._write(heading, MARGIN, 10.5, weight="bold")
        warned = remark.startswith(CAUTION)
        style = {"color": _CAUTION, "weight": "bold"} if warned else {"color": GREY}
        self._write(_wrapped([remark], whole - 2 * MARGIN, _REMARK, 0.66), titled, _REMARK, **style)
        self._write(small, above + height + below + 0.05, SMALL, color=GREY)
        ground = self.axes(-MARGIN, self._size[1] - above - banner, whole, banner)
        ground.set_facecolor(_ALARM if missing else _QUIET)
        ground.set(xticks=[], yticks=[])
        ground.spines[:].set_visible(False)
        style = {"color": "white", "weight": "bold"} if missing else {"color": INK}
        self._write(words, self._size[1] - banner + MARGIN / 2, 10.0 if missing else 8.5, **style)

    def axes(
        self, left: float, top: float, width: float, height: float, frame: bool = False
    ) -> Axes:
        """Axes at a place in the body, counted from its top left."""
        whole, high = self._size
        bottom = high - self._above - top - height
        axes: Axes = self.figure.add_axes(
            ((left + MARGIN) / whole, bottom / high, width / whole, height / high)
        )
        if frame:
            axes.set(xticks=[], yticks=[])
        return axes

    def colour_bar(self, drawn: Any, words: str, shown: Callable[[float], float] = float) -> None:
        """What the colours mean, at the right of the body.

        Args:
            drawn: what has the colours.
            words: each line of it goes along the bar.
            shown: what to write for a value.
        """
        height = max(self._height, 1.0)
        axes = self.axes(self._width + 0.15, 0.0, 0.17, height)
        bar = self.figure.colorbar(drawn, cax=axes)
        bar.outline.set_edgecolor(GREY)
        bar.ax.tick_params(labelsize=SMALL, length=2)
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{shown(value):g}")
        letters = max(12, int(height * 72 / (8.5 * 0.58)))
        lines = [line for text in words.split("\n") for line in textwrap.wrap(text, letters)]
        bar.set_label("\n".join(lines), fontsize=8.5)

    def scale_bar(self, width_px: int, degree_px: float | None, width: float | None = None) -> None:
        """How long so many px or degrees are, below the body.

        Args:
            width_px: of a map.
            degree_px: how many px one degree takes; None where it is not known.
            width: of that map on the page; by default it fills the body.
        """
        unit, name = (1.0, " px") if degree_px is None else (degree_px, "°")
        length = _round_length(width_px / unit / 6)
        axes = self.axes(0.0, self._height + 0.07, width or self._width, 0.2)
        axes.set(xlim=(0, width_px), ylim=(0, 1))
        axes.axis("off")
        axes.plot(
            [0, length * unit], [0.5, 0.5], color=INK, lw=2.2, solid_capstyle="butt", clip_on=False
        )
        axes.annotate(
            f"{length:g}{name}",
            (length * unit, 0.5),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )

    def _write(self, lines: Sequence[str], top: float, size: float, **style: Any) -> None:
        """Lines of text, so many inches below the upper edge."""
        self.figure.text(
            MARGIN / self._size[0],
            1 - top / self._size[1],
            "\n".join(lines),
            fontsize=size,
            va="top",
            linespacing=1.2,
            **style,
        )


def _lines_of_remarks(width_inches: float) -> int:
    """How many lines the longest remark takes."""
    return -(-MOST_REMARKED // (_letters(width_inches, _REMARK, 0.66) - 8))


def _letters(width_inches: float, size: float, wide: float) -> int:
    return max(10, int(width_inches * 72 / (size * wide)))


def _wrapped(
    texts: Sequence[str], width_inches: float, size: float, wide: float | None = None
) -> list[str]:
    """Lines that fit: letters are 0.6 times as wide as they are high, the large bold ones 0.7."""
    letters = _letters(width_inches, size, wide or (0.7 if size >= 10 else 0.6))
    return [line for text in texts for line in textwrap.wrap(text, letters, break_on_hyphens=False)]


def _round_length(about: float) -> float:
    """1, 2 or 5 times a power of ten, near to it.

    >>> _round_length(280.0), _round_length(0.7)
    (200.0, 0.5)
    """
    ten = 10.0 ** math.floor(math.log10(about))
    return max(step * ten for step in (1.0, 2.0, 5.0) if step * ten <= about * (1 + 1e-9))


def guarantee_legend(guarantee: Guarantee, people: int) -> str:
    """Whom a map protects, and how much, for the line below its picture.

    >>> from eyelid.privacy.guarantee import Kind
    >>> from eyelid.privacy.unit import PERSON, Neighbours, Trust
    >>> pure = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, epsilon=1.0)
    >>> guarantee_legend(pure.broken("its noise was seeded"), 5)
    'NO PRIVACY GUARANTEE for the 5 people in this map: its noise was seeded.'
    """
    whom = plural(people, "person", "people")
    if not guarantee.holds or not guarantee.kind.differential:
        why = "; ".join(guarantee.reasons) or "the mechanism gives none"
        return f"{NO_GUARANTEE} for the {whom} in this map: {why}."
    epsilon = math.inf if guarantee.epsilon is None else guarantee.epsilon
    factor = figure_up(math.exp(epsilon)) if epsilon < 20 else f"e^{figure_up(epsilon)}"
    addition = f", plus {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    text = (
        f"Protects each of {whom}: wherever else and however long one of them had "
        "looked at these pictures, if at all, any map would still be as likely, up to a factor of "
        f"{factor}{addition} ({guarantee.numbers()}; unit "
        f"{guarantee.unit}, {guarantee.neighbours}). That these {whom} took part is "
        "public."
    )
    warning = large_delta(guarantee.delta, people)
    text += f" Not protected is {warning}." if warning else ""
    return f"{text} {FORMAL_ONLY}" if formal_only(guarantee) else text


def noise_remark(maps: Sequence[GazeMap]) -> str:
    """What a picture that shows everything, noise too, says of itself; empty without noise.

    From the released maps and the public noise alone. Where nothing stands out clearly, or most of
    what is drawn lies within two standard errors of the noise, it is a caution.

    >>> import numpy as np
    >>> flat = np.ones((2, 2))
    >>> noise_remark([GazeMap(flat / 4, "", 9, error=flat, measured=2.5 * flat, sure_errors=3.0)])
    'Caution: may be noise. No place has clearly more gaze than the average of the page.'
    """
    noisy = [item for item in maps if item.error is not None and item.error.any()]
    if not noisy:
        return ""
    lost = [not item.certain.any() for item in noisy]
    shares = [float(item.values.sum(where=~item.reliable)) for item in noisy]
    if len(noisy) > 1:
        count = sum(none or share > _MOSTLY for none, share in zip(lost, shares, strict=True))
        if count:
            return (
                f"{CAUTION} {count} of {len(noisy)} maps may be noise. Nothing on them is clearly "
                "above the average of their page, or most is noise."
            )
        return "Each map has places with clearly more gaze than its average: see reliable.png."
    if lost[0]:
        return (
            f"{CAUTION} may be noise. No place has clearly more gaze than the average of the page."
        )
    if shares[0] > _MOSTLY:
        return (
            f"{CAUTION} mostly noise. {shares[0]:.0%} of the heat drawn here lies within two "
            "standard errors of the noise."
        )
    return "Which places have clearly more gaze than the average of the page: see reliable.png."
