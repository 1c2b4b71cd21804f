"""Pictures of time: how far features remember themselves, and what that lets out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import polars as pl

from eyelid.attacks.temporal.correlation import mean_over_features, temporal_correlations
from eyelid.errors import unknown
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import windows_of
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, figure, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from eyelid.attacks.temporal.summary import TemporalSummary

_HEIGHT = 2.6
# Distinct in grey too; more tasks than these are drawn as their mean.
_LOOKS = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, "-.", "^"), (INK, ":", "D"))


def correlation_figure(
    source: Study | FeatureTable, feature: str | None = None, longest_delta_t: int = 200
) -> Figure:
    """Correlation over Δt of raw and of difference signals, as a matplotlib figure.

    Bozkir et al. 2021: figures 3 and 4 are ``large_saccade_ratio`` of MPIIDPEye, figures 5 and 6
    ``blink_rate`` of MPIIPrivacEye, over 200 rows. It shows private data.

    Args:
        source: recordings, or features of them.
        feature: one of them, as in the paper; the mean over all by default.
        longest_delta_t: how many rows ahead.

    >>> import eyelid
    >>> drawn = correlation_figure(eyelid.simulate(people=4, minutes=1.5, seed=1), "blink_rate")
    >>> [axis.get_title() for axis in drawn.axes]
    ['raw signals, blink_rate', 'differences, blink_rate']
    """
    table = windows_of(source)
    correlations = temporal_correlations(table, longest_delta_t=longest_delta_t)
    lines, what = _chosen(correlations, feature)
    return figure(_correlation_lines(lines, what, table.step_ms), _HEIGHT, columns=2)


def correlation_picture(
    correlations: pl.DataFrame, feature: str | None = None, step_ms: float | None = None
) -> Markup:
    """What `correlation_figure` draws, for a page.

    Args:
        correlations: as `temporal_correlations` gives them.
        feature: one of them, as in the paper; the mean over all by default.
        step_ms: between two rows, for an axis in seconds.
    """
    lines, what = _chosen(correlations, feature)
    alt = f"Correlation over time, {what}, raw signals and differences: " + "; ".join(
        f"{task or 'all'}: {_mean(line, 'raw'):.2f} and {_mean(line, 'difference'):.2f} on average"
        for task, line in lines.items()
    )
    return svg(_correlation_lines(lines, what, step_ms), alt, _HEIGHT, columns=2)


def _chosen(correlations: pl.DataFrame, feature: str | None) -> tuple[dict[str, pl.DataFrame], str]:
    """One line a task, and what they are about."""
    if feature is not None:
        if feature not in correlations["feature"]:
            raise unknown("feature", feature, correlations["feature"].unique())
        correlations = correlations.filter(pl.col("feature") == feature)
    return _by_task(mean_over_features(correlations)), feature or "mean over features"


def _correlation_lines(
    lines: dict[str, pl.DataFrame], what: str, step_ms: float | None
) -> Callable[..., None]:
    """Raw signals on one side, differences on the other.

    Differences jump from row to row: joined by lines, one task would hide the others.
    """
    from eyelid.plotting import Line2D

    def draw(raw: Axes, difference: Axes) -> None:
        keys = []
        for axis, title in ((raw, "raw signals"), (difference, "differences")):
            axis.axhline(0, color=GREY, lw=0.8)
            axis.set_ylim(-1.02, 1.02)
            axis.set_title(f"{title}, {what}", fontsize=SMALL)
            axis.set_xlabel("Δt in s" if step_ms else "Δt in rows")
        for (task, line), (colour, dash, mark) in zip(lines.items(), _LOOKS, strict=False):
            time = line["delta_t"] * (step_ms / 1000 if step_ms else 1)
            looks: dict[str, Any] = {"color": colour, "mew": 0}
            raw.plot(time, line["raw"], ls=dash, lw=1.4, **looks)
            difference.plot(
                time, line["difference"], ls="", marker=mark, ms=2.4, alpha=0.6, **looks
            )
            keys.append(Line2D([], [], ls=dash, lw=1.4, marker=mark, ms=4, label=task, **looks))
        raw.set_ylabel("correlation over people")
        if any(lines):
            raw.legend(handles=keys, frameon=False, fontsize=SMALL, loc="lower left")
        difference.set_yticklabels([])

    return draw


def _mean(line: pl.DataFrame, column: str) -> float:
    return float(line[column].drop_nulls().to_numpy().mean())


def _by_task(means: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """One line a task; all in one where they are too many to tell apart."""
    means = means.drop_nulls(["raw", "difference"])
    tasks = means["task"].unique(maintain_order=True).to_list()
    if len(tasks) <= len(_LOOKS):
        return {task: means.filter(pl.col("task") == task) for task in tasks}
    columns = pl.col("raw", "difference").mean()
    return {f"mean of {len(tasks)} tasks": means.group_by("delta_t").agg(columns).sort("delta_t")}


def leakage_picture(summary: TemporalSummary) -> Markup | None:
    """What is let out about every step of a release, beside its own ε; None without a release."""
    from eyelid.plotting import LogLocator

    leaked, transitions = summary.leakage, summary.transitions
    if leaked is None or transitions is None:
        return None
    spent = float(leaked["epsilon"].to_numpy().sum())
    worst = float(leaked["total"].to_numpy().max())
    # A limit above the sum says nothing.
    limit = summary.supremum if (summary.supremum or spent) < spent else None
    mark = "" if transitions.public else "NOT PUBLIC: "
    looks = {
        "total": ("total leakage", ORANGE, "-", 1.8),
        "backward": ("with those before", BLUE, "--", 1.2),
        "forward": ("with those after", GREEN, "-.", 1.2),
        "epsilon": ("its own ε", INK, ":", 1.2),
    }

    def draw(axis: Axes) -> None:
        axis.axhline(spent, color=GREY, lw=0.9, label="sum of all ε")
        if limit is not None:
            axis.axhline(limit, color=GREY, lw=0.9, ls=":", label="limit, however long")
        for column, (label, colour, dash, width) in looks.items():
            axis.plot(leaked["step"], leaked[column], color=colour, ls=dash, lw=width, label=label)
        axis.set_yscale("log")
        if spent < 100 * float(leaked["epsilon"].to_numpy().min()):
            axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.yaxis.set_minor_formatter(lambda *_: "")
        axis.set_xlabel(f"{summary.step} of a recording")
        axis.set_ylabel("privacy loss ε")
        axis.set_title(f"{mark}{transitions.source}", fontsize=SMALL)
        axis.legend(frameon=False, fontsize=SMALL, loc="center left", bbox_to_anchor=(1, 0.5))

    alt = (
        f"{mark}leakage about a step under {transitions.source}: at most {rounded_up(worst, 3)}, "
        f"of a sum of all ε of {rounded_up(spent, 3)}"
        + (f"; never more than {rounded_up(limit, 3)}, however long" if limit is not None else "")
    )
    return svg(draw, alt, 2.8)
