"""Draws the picture of the streaming page, and prints its tables.

    python -W error -m docs.pictures

Gaze is simulated; noise comes from the operating system, so that figures differ a little each time.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import eyelid
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.rank1 import guess_between_two
from eyelid.stream import Gatekeeper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = Path(__file__).parent / "streaming.png"
RATE_HZ = 120
SCENE_DEG = (0.0, 0.0, 45.0, 27.0)
FILTERS = ("kaleido", "sample", "bd", "ba", "uniform")
# What to begin with: for what, filter, ε, window in seconds, radius in degrees.
STARTS = (
    ("foveated UI: sharp where a participant looks", "sample", 3, 0.25, 2),
    ("pointing: targets of 1–2°", "kaleido", 50, 0.5, 1),
    ("analytics: which part of a page is read", "sample", 1, 0.5, 2),
)
_START_TITLES = "for|filter|ε|window|radius|off by|right ninth|a guess is right|minute"
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
    """Where a participant looked: raw, by kaleido, by noise on each sample of the same ε."""
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
            off, _, gate = _shown(everybody, name, epsilon, seconds, radius)
            medians.append(f"{np.nanmedian(off):.1f}°")
        # Everybody's stream is a minute long.
        minute = gate.person_epsilon
        paid = [_grouped(minute), _grouped(60 * minute)]
        lines.append([f"{epsilon}", f"{seconds:g} s", f"{radius}°", *medians, *paid])
    return _drawn(lines)


def starts() -> str:
    """What to begin with, how good gaze is then, and what an onlooker can still guess."""
    lines = [_START_TITLES.split("|"), ["---"] * 9]
    everybody = gaze(60, people=4)
    for what, name, epsilon, seconds, radius in STARTS:
        off, right, gate = _shown(everybody, name, epsilon, seconds, radius)
        told = [what, f"`{name}`", f"{epsilon}", f"{seconds:g} s", f"{radius}°"]
        told += [f"{np.nanmedian(off):.1f}°", f"{100 * np.nanmean(right):.0f}%"]
        told += [f"≤ {rounded_up(100 * guess_between_two(gate.guarantee), 3)}%"]
        lines.append([*told, _grouped(gate.person_epsilon)])
    return _drawn(lines)


def _shown(
    everybody: list[Gaze], name: str, epsilon: float, seconds: float, radius: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], Gatekeeper]:
    """Of every sample how far off it is, and whether in the right ninth; and a gatekeeper."""
    off, right = [], []
    for time_ms, *raw in everybody:
        gate = gatekeeper(name, epsilon, round(seconds * RATE_HZ), radius)
        out = gate.push_many(time_ms, *raw)
        off.append(np.hypot(*np.subtract(out, raw)))
        same = np.equal(*(_ninth(*place) for place in (out, raw))).astype(np.float64)
        right.append(np.where(np.isnan(raw[0]), np.nan, same))
    return np.concatenate(off), np.concatenate(right), gate


def _ninth(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Which part of a screen of three by three; what is beyond its edge belongs to it."""
    column, row = (
        np.floor(np.clip(3 * place / size, 0, 2.5))
        for place, size in ((x, SCENE_DEG[2]), (y, SCENE_DEG[3]))
    )
    return 3 * row + column


def _drawn(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _grouped(number: float) -> str:
    # A space at which no line breaks.
    return f"{number:,.0f}".replace(",", "\u202f")


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    draw(gaze(12)[0]).savefig(PICTURE, dpi=130, metadata={"Software": None})
    print(starts(), table(), sep="\n\n")
