"""Draws the picture of the streaming page, and prints its table.

    python -W error -m docs.pictures

Gaze is made up; noise comes from the operating system, so that figures differ a little each time.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import eyelid
from eyelid.stream import Gatekeeper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = Path(__file__).parent / "streaming.png"
RATE_HZ = 120
SCENE_DEG = (0.0, 0.0, 45.0, 27.0)
FILTERS = ("kaleido", "sample", "bd", "ba", "uniform")
# Okabe & Ito, as in all pictures.
_GREY, _BLUE, _ORANGE = "#8a949c", "#0072b2", "#d55e00"

Gaze = tuple[NDArray[np.float64], ...]


def gaze(seconds: float, people: int = 1) -> list[Gaze]:
    """Time, x and y of people who read a comic, lost samples and all."""
    study = eyelid.simulate(people, ("comic",), rate_hz=RATE_HZ, minutes=1.5 * seconds / 60, seed=4)
    return [
        tuple(one.select("time_ms", "x", "y").head(round(seconds * RATE_HZ)).to_numpy().T)
        for one in study.data.partition_by("person", maintain_order=True)
    ]


def gatekeeper(name: str, epsilon: float, window: int, radius: float) -> Gatekeeper:
    """One for the simulator's screen."""
    return Gatekeeper(
        name, epsilon=epsilon, window=window, radius=radius, units="deg", scene=SCENE_DEG
    )


def draw(
    raw: Gaze, epsilon: float = 10.0, window: int = RATE_HZ // 2, radius: float = 2.0
) -> Figure:
    """Where somebody looked: raw, by kaleido, by noise on every sample with the same promise."""
    import matplotlib.pyplot as plt

    time_ms, x, y = raw
    shown = {"raw: stays with the gatekeeper": ((x, y), _GREY)}
    for name, colour in (("kaleido", _BLUE), ("uniform", _ORANGE)):
        out = gatekeeper(name, epsilon, window, radius).push_many(time_ms, x, y)
        shown[f"{name}: what the app sees"] = (out, colour)
    figure, axes = plt.subplots(
        2, 3, figsize=(10, 4.6), layout="constrained", height_ratios=(1.7, 1)
    )
    for (plane, over_time), (title, ((across, up), colour)) in zip(
        axes.T, shown.items(), strict=True
    ):
        plane.plot(across, up, color=colour, linewidth=0.5, alpha=0.3)
        plane.plot(across, up, ".", color=colour, markersize=2.5)
        plane.set(xlim=SCENE_DEG[::2], ylim=SCENE_DEG[:0:-2], aspect="equal", title=title)
        plane.set(xticks=(0, 15, 30, 45), yticks=(0, 9, 18, 27))
        over_time.plot(time_ms / 1000, across, ".", color=colour, markersize=1.5)
        over_time.set(ylim=SCENE_DEG[::2], xlabel="time [s]", yticks=(0, 15, 30, 45))
    axes[0, 0].set_ylabel("y [°]")
    axes[1, 0].set_ylabel("x [°]")
    seconds = window / RATE_HZ
    figure.suptitle(
        f"ε = {epsilon:g} for any {seconds:g} s in a row, each sample within {radius:g}°",
        fontsize=11,
    )
    return figure


def table() -> str:
    """How far off gaze is in half of the samples, and what a person pays, at usual settings."""
    titles = ["ε", "window", "radius", *(f"`{name}`" for name in FILTERS), "minute", "hour"]
    lines = [titles, ["---"] * len(titles)]
    everybody = gaze(60, people=4)
    for epsilon, seconds, radius in (
        (1, 0.5, 1), (1, 0.5, 3), (3, 0.5, 3), (10, 0.5, 3), (10, 0.5, 1), (10, 2, 3), (50, 0.5, 1)
    ):  # fmt: skip
        medians = []
        for name in FILTERS:
            off = []
            for time_ms, x, y in everybody:
                gate = gatekeeper(name, epsilon, round(seconds * RATE_HZ), radius)
                off.append(np.hypot(*np.subtract(gate.push_many(time_ms, x, y), (x, y))))
            medians.append(f"{np.nanmedian(np.concatenate(off)):.1f}°")
        # Everybody's stream is a minute long.
        minute = gate.person_epsilon
        paid = [_grouped(minute), _grouped(60 * minute)]
        lines.append([f"{epsilon}", f"{seconds:g} s", f"{radius}°", *medians, *paid])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _grouped(number: float) -> str:
    # A space at which no line breaks.
    return f"{number:,.0f}".replace(",", "\u202f")


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    draw(gaze(12)[0]).savefig(PICTURE, dpi=130, metadata={"Software": None})
    print(table())
