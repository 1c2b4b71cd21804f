"""Figure 2 (a) and (b): how much noise, over observers, pixels, ε and the cap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from eyelid.gaze.maps.grid import Floats
from eyelid.papers.liu2019.theorems import (
    EPSILON,
    HEIGHT_PX,
    PEOPLE,
    SAMPLES,
    WIDTH_PX,
    dense_sigma,
    paper_delta,
)
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.releases.drawing import BLUE, GREEN, ORANGE, svg
from eyelid.releases.maps.figures import (
    EXAMPLE_NOISE,
    EXAMPLE_SIDE,
    LEVELS,
    observers_for,
    paper_noise,
    sparse_noise,
)

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_SIDES, _OBSERVERS = (100, 300, 1000), (300, 1000, 10_000)
_PRINTED_OBSERVERS = {"good": 900.0, "okay": 300.0}


def _theorem(side: float, people: float, epsilon: float, cap: int = 1) -> float:
    """Theorem 3.4 at the paper's δ."""
    delta = paper_delta(round(people))
    return float(paper_noise(np.array(side**2), np.array(people), epsilon, delta, cap))


def _dense(side: float, people: float, epsilon: float, cap: int = 1) -> float:
    """What is enough, when a person may change every pixel."""
    return dense_sigma(side**2, people, epsilon, paper_delta(round(people)), cap)


def _sparse(side: float, people: float, epsilon: float, cap: int = 1) -> float:
    """What is enough, when a person counts for so many looks at most."""
    given = (np.array(side**2), np.array(people), epsilon, paper_delta(round(people)))
    return float(sparse_noise(*given, cap, SAMPLES))


def surfaces() -> Exhibit:
    """Figure 2 (a): σ over √r and n at two levels; and over ε and m, which follow."""
    cells = [
        Cell(
            f"{level} privacy (ε = {epsilon:g}), {people:,} observers",
            f"{side} × {side} px",
            as_printed=Value(_theorem(side, people, epsilon)),
            honest=Value(_dense(side, people, epsilon)),
        )
        for level, epsilon in LEVELS.items()
        for people in _OBSERVERS
        for side in _SIDES
    ]
    more = [theirs / ours for theirs, ours in (cell.ours for cell in cells)]
    return Exhibit(
        name="Figure 2 (a)",
        title="noise in a pixel, over the size of the picture and the number of observers",
        says=(
            f"The surfaces have the right form, and lie {min(more):.2f} to {max(more):.2f} times "
            "as high as they need to; a public limit on the looks of a person takes the size of "
            "the picture out of it altogether."
        ),
        protocol="Theorem 3.4 with δ = N^−1.5 and m = 1. The paper prints no numbers beside it.",
        honest_protocol="The smallest σ that gives the same promise (Balle & Wang 2018).",
        cells=tuple(cells),
        pictures={"figure-2-noise": _picture()},
        digits=3,
    )


def slice_of_300() -> Exhibit:
    """Figure 2 (b): how many observers bring the noise down to 1.5 on 300 × 300 px."""
    column = f"observers for σ = {EXAMPLE_NOISE:g}"
    cells = [
        Cell(
            f"{level} privacy (ε = {epsilon:g})",
            column,
            _PRINTED_OBSERVERS[level],
            Value(_observers(_theorem, epsilon)),
            Value(_observers(_dense, epsilon)),
        )
        for level, epsilon in LEVELS.items()
    ]
    theirs, ours = cells[0].ours
    return Exhibit(
        name="Figure 2 (b)",
        title=f"a picture of {EXAMPLE_SIDE} × {EXAMPLE_SIDE} px",
        says=(
            f"'Of the order of 900 observers' is right for the theorem ({theirs:.0f} "
            f"at level good); {ours:.0f} are enough. Noise of {EXAMPLE_NOISE:g} where "
            "an observer counts 1 and most pixels have 0 leaves nothing to see before spreading "
            "out."
        ),
        protocol="Theorem 3.4 with δ = N^−1.5 and m = 1, solved for N.",
        honest_protocol="The smallest N for the same promise (Balle & Wang 2018).",
        cells=tuple(cells),
        digits=0,
    )


def _observers(law: Callable[[float, float, float], float], epsilon: float) -> float:
    people = np.geomspace(2, 20_000, 60)
    noise = np.array([law(EXAMPLE_SIDE, each, epsilon) for each in people])
    return observers_for(EXAMPLE_NOISE, people, noise)


def _picture() -> Markup:
    """The paper's noise and what is enough, over everything that it depends on."""
    side = float(np.sqrt(WIDTH_PX * HEIGHT_PX))
    axes_of = {
        "ε": np.geomspace(0.1, 10, 25),
        "observers": np.geomspace(100, 100_000, 25),
        "√px of the picture": np.geomspace(5, 2000, 25),
        "m, most looks in a pixel": np.arange(1.0, 11.0),
    }
    laws = (
        ("Theorem 3.4", _theorem, ORANGE, "--"),
        ("enough, every pixel", _dense, BLUE, "-"),
        (f"enough, {SAMPLES} looks", _sparse, GREEN, ":"),
    )

    def noise(law: Callable[..., float], what: str, values: Floats) -> list[float]:
        given: dict[str, Callable[[float], tuple[float, ...]]] = {
            "ε": lambda value: (side, PEOPLE, value),
            "observers": lambda value: (side, value, EPSILON),
            "√px of the picture": lambda value: (value, PEOPLE, EPSILON),
            "m, most looks in a pixel": lambda value: (side, PEOPLE, EPSILON, int(value)),
        }
        return [law(*given[what](float(value))) for value in values]

    def draw(*axes: Axes) -> None:
        for place, (axis, (what, values)) in enumerate(zip(axes, axes_of.items(), strict=True)):
            for words, law, colour, style in laws:
                axis.plot(values, noise(law, what, values), style, color=colour, label=words)
            axis.set(xscale="linear" if what.startswith("m") else "log", yscale="log", xlabel=what)
            axis.set_ylabel("σ in a pixel")
            for scale in (axis.xaxis, axis.yaxis):
                scale.set_major_formatter("{x:g}")
            if not place:
                axis.legend(frameon=False, fontsize=8)

    alt = (
        "Noise in a pixel falls with ε and observers and grows with the picture and the cap; by "
        "Theorem 3.4 it is a little above what is enough, and far above what a limit of looks needs"
    )
    return svg(draw, alt, 5.0, columns=2, rows=2, width=7.4)
