"""Pictures of synthetic participants beside the people they were made of.

What is drawn of people themselves (how their features go together, last and change, how long they
were recorded, and lines of some) is for their owner alone; what is synthetic, which all may have,
it would be theirs without noise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eyelid.attacks.similarity import Likeness, task_of
from eyelid.attacks.synthetic import SyntheticFindings
from eyelid.gaze.table import FeatureTable
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, in_words, svg
from eyelid.reporting.group_pictures import telling_features
from eyelid.spelling import plural

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

# More tasks, or more lines of one, hide each other.
_MOST_TASKS, _MOST_LINES = 3, 3
# More points of a line are not seen.
_MOST_POINTS = 400


def shares_picture(found: SyntheticFindings) -> Markup | None:
    """How far shares of tasks are off, from the best feature to the worst, beside what was said.

    Features without values, of people or synthetic, are left out; None where no other is there.
    """
    off = np.sort(found.marginals["share_error"].fill_nan(None).drop_nulls().to_numpy())
    if not off.size:
        return None
    expected = found.expected_share_error

    def draw(axis: Axes) -> None:
        place = 100 * (np.arange(len(off)) + 0.5) / len(off)
        axis.plot(place, off, color=BLUE, marker="o", markersize=3 if len(off) < 60 else 2, lw=1.0)
        if expected is not None:
            axis.axhline(expected, color=ORANGE, lw=1.2, ls="--", label="expected")
            axis.legend(frameon=False, fontsize=SMALL, loc="best")
        axis.set_xlim(0, 100)
        axis.set_ylim(0, 1.1 * max(off.max(), expected or 0.0))
        axis.set_xlabel("features and tasks, the best first (%)")
        axis.set_ylabel("error of a share")

    said = "" if expected is None else f"; expected {expected:.2g}"
    alt = (
        f"Error of the share of a task in a quarter of a feature: root mean square "
        f"{found.share_error:.2g}, median {found.median_share_error:.2g}{said}"
    )
    return svg(draw, alt, 2.4)


def pairs_picture(like: Likeness) -> Markup | None:
    """Rank correlations of all pairs: of people, synthetic, and the difference; None for one."""
    if len(like.names) < 2:
        return None
    real, made = like.pairs
    panels = {"people": real, "synthetic": made, "difference": made - real}

    def draw(*axes: Axes) -> None:
        for axis, (title, values) in zip(axes, panels.items(), strict=True):
            shown = axis.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
            axis.set_title(title, fontsize=9)
            axis.set_xticks([])
            axis.set_yticks([])
            if len(like.names) <= 12 and axis is axes[0]:
                axis.set_yticks(range(len(like.names)), like.names, fontsize=SMALL)
        bar = axes[0].figure.colorbar(shown, ax=list(axes), shrink=0.8, aspect=18)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=SMALL)

    alt = (
        f"Rank correlations of {len(like.names)} features within tasks, of people and synthetic: "
        f"they differ by {like.pair_difference:.2g} on average, and people's own are "
        f"{like.pair_size:.2g} in size"
    )
    return svg(draw, alt, 2.3, columns=3, width=7.2)


def memory_picture(like: Likeness, step_ms: float | None) -> Markup:
    """How long values stay as they are: the mean over features, and the middle half of them."""
    time = np.array(like.lags) * (step_ms / 1000 if step_ms else 1.0)
    looks = (("people", INK, "-", "o"), ("synthetic", BLUE, "--", "s"))

    def draw(axis: Axes) -> None:
        for (label, colour, dash, mark), values in zip(looks, like.memory, strict=True):
            there = np.isfinite(values).any(axis=1)
            if not there.any():
                continue
            kept = values[there]
            low, middle, high = (
                np.nanquantile(kept, 0.25, axis=1),
                np.nanmean(kept, axis=1),
                np.nanquantile(kept, 0.75, axis=1),
            )
            axis.fill_between(time[there], low, high, color=colour, alpha=0.12, lw=0)
            axis.plot(
                time[there], middle, color=colour, ls=dash, marker=mark, markersize=4, label=label
            )
        axis.axhline(0, color=GREY, lw=0.8)
        axis.set_xscale("log")
        axis.set_xticks(time, [f"{one:g}" for one in time])
        axis.set_xticks([], minor=True)
        axis.set_ylim(top=1.02)
        axis.set_xlabel("seconds later" if step_ms else "rows later")
        axis.set_ylabel("correlation with itself")
        axis.legend(frameon=False, fontsize=SMALL, loc="upper right")

    alt = "Correlation of features with themselves, of people and synthetic: " + "; ".join(
        f"{plural(lag, 'row')} later {real:.2f} and {made:.2f}"
        for lag, real, made, _ in like.memories
    )
    return svg(draw, alt, 2.6)


def trends_picture(like: Likeness) -> Markup:
    """How much each feature rises over a recording of a task: people across, synthetic upwards."""
    real, made = like.trends
    features = len(like.names)
    most = 1.1 * max(0.1, float(np.nanmax(np.abs(like.trends), initial=0.0)))

    def draw(axis: Axes) -> None:
        axis.plot([-most, most], [-most, most], color=GREY, lw=0.8)
        axis.axhline(0, color=GREY, lw=0.5, ls=":")
        axis.axvline(0, color=GREY, lw=0.5, ls=":")
        looks = zip(like.tasks, (BLUE, ORANGE, GREEN, INK), "os^D", strict=False)
        for number, (task, colour, mark) in enumerate(looks):
            mine = slice(number * features, (number + 1) * features)
            axis.plot(
                real[mine], made[mine], mark, color=colour, markersize=3.5, alpha=0.7, label=task
            )
        axis.set_xlim(-most, most)
        axis.set_ylim(-most, most)
        axis.set_xlabel("people: last quarter less first (sd)")
        axis.set_ylabel("synthetic")
        if any(like.tasks):
            axis.legend(frameon=False, fontsize=SMALL, loc="center left", bbox_to_anchor=(1, 0.5))

    alt = (
        f"Trends over recordings, of people and synthetic: they differ by "
        f"{like.trend_difference:.2g} standard deviations on average, and people's own are "
        f"{like.trend_size:.2g} in size"
    )
    return svg(draw, alt, 2.6)


def lengths_picture(original: FeatureTable, released: FeatureTable, like: Likeness) -> Markup:
    """How long recordings are: the share that is shorter, task by task."""
    sides = (("people", original, "-"), ("synthetic", released, "--"))
    minute = (original.step_ms or 0.0) / 60_000

    def draw(axis: Axes) -> None:
        for label, table, dash in sides:
            task = task_of(table.recordings)
            for name, colour in zip(like.tasks, (BLUE, ORANGE, GREEN, INK), strict=False):
                rows = np.sort(table.recordings.filter(task == name)["rows"].to_numpy())
                share = 100 * np.arange(1, len(rows) + 1) / len(rows)
                words = f"{name} {label}".strip()
                scaled = rows * minute if minute else rows
                axis.step(scaled, share, where="post", color=colour, ls=dash, lw=1.2, label=words)
        axis.set_ylim(0, 102)
        axis.set_xlim(left=0)
        axis.set_xlabel("length in minutes" if minute else "length in rows")
        axis.set_ylabel("at most so long (%)")
        axis.legend(frameon=False, fontsize=SMALL, loc="center left", bbox_to_anchor=(1, 0.5))

    alt = "Median rows of recordings, of people and synthetic: " + "; ".join(
        f"{task or 'all'} {real:.0f} and {made:.0f}"
        for task, real, made in zip(like.tasks, *like.lengths, strict=True)
    )
    return svg(draw, alt, 2.4)


def signals_picture(original: FeatureTable, released: FeatureTable, own: bool) -> Markup | None:
    """A few recordings of the feature that tells tasks apart best, one panel a task.

    Args:
        original: everybody's recordings.
        released: synthetic participants.
        own: whether people's own lines may be drawn.
    """
    tasks = sorted(set(task_of(released.recordings)))[:_MOST_TASKS]
    telling = telling_features(_with_tasks(released)) if len(tasks) > 1 else ()
    name = telling[0] if telling else released.names[0]
    feature = next(f for f in original.features if f.name == name)
    sides = [("synthetic", released, BLUE)]
    if own:
        sides.insert(0, ("people", original, INK))
    step = (original.step_ms or 60_000.0) / 60_000

    def draw(*axes: Axes) -> None:
        for row, (label, table, colour) in enumerate(sides):
            panels = axes[row * len(tasks) : (row + 1) * len(tasks)]
            unit = "" if feature.unit in ("", "1") else f"\n{feature.unit}"
            panels[0].set_ylabel(f"{label}\n{in_words(feature, 18)}{unit}", fontsize=SMALL)
            for panel, task in zip(panels, tasks, strict=True):
                panel.sharey(axes[0])
                panel.sharex(axes[0])
                for values, alpha in zip(_lines(table, task, name), (1.0, 0.6, 0.35), strict=False):
                    every = -(-len(values) // _MOST_POINTS)
                    minutes = np.arange(len(values))[::every] * step
                    panel.plot(minutes, values[::every], color=colour, lw=0.8, alpha=alpha)
                panel.tick_params(labelsize=SMALL, labelleft=panel is panels[0])
                if row == 0 and task:
                    panel.set_title(task, fontsize=9)
                if row == len(sides) - 1:
                    panel.set_xlabel("minutes" if original.step_ms else "rows", fontsize=SMALL)

    whose = "people and synthetic participants" if own else "synthetic participants"
    alt = f"{name} over time, in recordings of {whose}, by task"
    width = 1.4 + 2.1 * len(tasks)
    return svg(draw, alt, 0.5 + 1.5 * len(sides), columns=len(tasks), rows=len(sides), width=width)


def _with_tasks(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.with_columns(task_of(table.data).alias("task")))


def _lines(table: FeatureTable, task: str, name: str) -> list[np.ndarray]:
    """A feature of the first recordings of a task."""
    keys = table.recordings.filter(task_of(table.recordings) == task).head(_MOST_LINES)
    rows = table.data.join(
        keys.select("person", "recording"), on=["person", "recording"], how="semi"
    )
    each = rows.group_by("person", "recording", maintain_order=True).agg(
        pl.col(name).cast(pl.Float64)
    )
    return [np.asarray(values) for values in each[name]]
