"""Draws what 20, 50, 100 and 500 people can share, and prints it as a table.

    python -W error -m docs.sharing

Nothing is drawn at random: widths are those that `eyelid cost` foresees.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from eyelid.errors import InputError
from eyelid.releases.kinds.statistics.quote import PEOPLE, statistics_cost

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = Path(__file__).parent / "sharing.png"
EPSILONS = (1.0, 2.0, 4.0)
# What is drawn: its title, how many numbers a person, and the statistics of them.
MEANS = tuple((f"{many} mean{'s' * (many > 1)}", many, "mean") for many in (1, 3, 8))
RANKS = (("share of people", 1, "higher"), ("Kendall's τ", 2, "tau:1:2"))
# 95% of normal people, from end to end.
_ALONE = 2 * 1.96
# Beyond it nothing is said of people.
_HIGHEST = 3.0
# Okabe & Ito, as in all pictures.
_COLOURS, _GREY = ("#d55e00", "#0072b2", "#009e73"), "#8a949c"


def width(people: int, numbers: int, statistics: str, epsilon: float) -> float | None:
    """Of the widest interval; None where it drowns in noise.

    Args:
        people: how many.
        numbers: of each.
        statistics: of them.
        epsilon: that all share.

    >>> round(width(100, 3, "mean", 2.0), 2)
    0.56
    """
    try:
        quote = statistics_cost(
            people=people, features=numbers, epsilon=epsilon, statistics=statistics
        )
    except InputError:
        return None
    return quote.offer.widest


def draw() -> Figure:
    """A panel for means in standard deviations, and one for shares and relations."""
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for axes, kinds in zip(both, (MEANS, RANKS), strict=True):
        for (title, numbers, statistics), style in zip(kinds, ("-", "--", ":"), strict=False):
            for epsilon, colour in zip(EPSILONS, _COLOURS, strict=True):
                widths = [width(people, numbers, statistics, epsilon) for people in PEOPLE]
                known = [math.nan if one is None else one for one in widths]
                axes.plot(PEOPLE, known, style, marker="o", ms=4, color=colour)
            axes.plot([], [], style, color="black", label=title)
        for epsilon, colour in zip(EPSILONS, _COLOURS, strict=True):
            axes.plot([], [], color=colour, lw=4, label=f"ε = {epsilon:g}")
        axes.set(xscale="log", xticks=PEOPLE, xticklabels=PEOPLE, xlabel="people", ylim=(0, None))
        axes.minorticks_off()
    alone = [_ALONE / math.sqrt(people) for people in PEOPLE]
    both[0].plot(PEOPLE, alone, color=_GREY, lw=1, label="without privacy")
    both[0].set(ylabel="95% interval, in SD between people", ylim=(0, _HIGHEST), title="means")
    both[1].set(ylabel="95% interval", ylim=(0, 1.2), title="shares and relations")
    figure.suptitle("What can 20, 50, 100, 500 people share?", fontsize=11)
    for axes in both:
        axes.legend(fontsize=8, frameon=False)
    return figure


def table() -> str:
    """The same in numbers, at ε = 1 and 2."""
    titles = ["", *(f"{people} people" for people in PEOPLE)]
    lines = [titles, ["---"] * len(titles)]
    for title, numbers, statistics in (*MEANS, *RANKS):
        cells = []
        for people in PEOPLE:
            both = [width(people, numbers, statistics, epsilon) for epsilon in EPSILONS[:2]]
            cells.append(" / ".join(_told(one) for one in both))
        lines.append([title, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _told(width: float | None) -> str:
    return "–" if width is None else "> 3" if width > _HIGHEST else f"{width:.2g}"


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    draw().savefig(PICTURE, dpi=130, metadata={"Software": None})
    print(table())
