"""Pictures of group means: tasks stay apart, people collapse, and so the task can be told still.

Means of groups are what was released. Of people nothing is drawn beside them unless the page is for
their owner: even a mean over all of them would, less those of groups, be one over a few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, in_words, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes


# Distinct in grey too; more tasks than these are not drawn.
LOOKS: tuple[tuple[str, Any, str], ...] = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (GREEN, "-.", "^"),
    ("#cc79a7", ":", "D"),
    (INK, (0, (5, 1, 1, 1, 1, 1)), "v"),
)
# More points of a line are not seen, more people or groups hide each other.
_MOST_POINTS, _MOST_PEOPLE, MOST_GROUPS = 30, 60, 8
# Features that go together show the same twice.
_GO_TOGETHER = 0.8
# Variance, in squared ranges, that rounding leaves of what is the same.
_ROUNDING = 1e-18


@dataclass(frozen=True, eq=False)
class GroupView:
    """What is drawn of groups and of their people.

    Attributes:
        features: the two that tell tasks apart best, or fewer.
        words: what they are, with their units.
        tasks: that are drawn.
        people: person, task, minutes and the features, of stretches of windows; None where no line
            of theirs may be drawn.
        groups: the same of groups.
        count: how many groups there are.
        narrower: spread of groups around the mean of their task, over that of people; None where
            there is one group.
    """

    features: tuple[str, ...]
    words: tuple[str, ...]
    tasks: tuple[str, ...]
    people: pl.DataFrame | None
    groups: pl.DataFrame
    count: int
    narrower: float | None

    @property
    def own(self) -> bool:
        """Whether people's own lines are drawn."""
        return self.people is not None


def group_view(original: FeatureTable, means: FeatureTable, own: bool) -> GroupView | None:
    """What there is to see; None where there are no two tasks to tell apart.

    Args:
        original: everybody's recordings.
        means: those of groups, one released record each.
        own: whether people's own lines may be drawn.
    """
    if "task" not in original.data.columns:
        return None
    tasks = tuple(means.data["task"].fill_null("").unique().sort())[: len(LOOKS)]
    if len(tasks) < 2:
        return None
    seen = original if own else means
    features = telling_features(seen)
    if not features:
        return None
    longest = int(seen.recordings["rows"].to_numpy().max())
    size = math.ceil(longest / _MOST_POINTS)
    # A count or a share has no unit to name.
    units = {f.name: "" if f.unit == "1" else f"\n{f.unit}" for f in original.features}
    words = {f.name: in_words(f) + units[f.name] for f in original.features}
    spread, narrow = (_spread(table, features) for table in (original, means))
    return GroupView(
        features=features,
        words=tuple(words[name] for name in features),
        tasks=tasks,
        people=_stretches(original, features, tasks, size) if own else None,
        groups=_stretches(means, features, tasks, size),
        count=means.data["person"].n_unique(),
        narrower=narrow / spread if spread and narrow is not None else None,
    )


def telling_features(table: FeatureTable) -> tuple[str, ...]:
    """The two features in which the two tasks that are most alike are farthest apart.

    Apart are the means of tasks, in units of how recordings of one task differ. Features that go
    together are no pair. One name where there is no second feature that varies.
    """
    tasks, means = _recording_means(table, table.names)
    centres = np.array([means[tasks == task].mean(axis=0) for task in range(tasks.max() + 1)])
    around = means - centres[tasks]
    within = (around**2).mean(axis=0)
    first, second = np.triu_indices(len(centres), 1)
    apart = np.where(within > _ROUNDING, (centres[first] - centres[second]) ** 2, 0.0)
    apart /= np.maximum(within, _ROUNDING)
    varies = np.asarray(apart.any(axis=0))
    if varies.sum() < 2:
        return tuple(name for name, one in zip(table.names, varies, strict=True) if one)
    size = np.sqrt(np.maximum(within * len(around), _ROUNDING))
    together = np.abs(around.T @ around) / np.outer(size, size)
    pairs = (apart[:, :, None] + apart[:, None, :]).min(axis=0)
    pairs[~varies] = pairs[:, ~varies] = -1.0
    np.fill_diagonal(pairs, -1.0)
    # A pair that goes together is taken where there is no other.
    pairs = np.where((together < _GO_TOGETHER) | (pairs < 0), pairs, pairs * 1e-9)
    one, other = np.unravel_index(int(pairs.argmax()), pairs.shape)
    return (table.names[one], table.names[other])


def _recording_means(
    table: FeatureTable, names: Sequence[str]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The task of every recording, and its means as shares of the range."""
    spans = {feature.name: feature.span for feature in table.features}
    values = [(pl.col(n).cast(pl.Float64).fill_nan(None) / spans[n]).mean().alias(n) for n in names]
    each = table.data.group_by("person", "recording", maintain_order=True).agg(
        pl.col("task").first().fill_null(""), *values
    )
    tasks = np.unique(each["task"].to_numpy().astype(str), return_inverse=True)[1]
    found = each.select(pl.col(list(names)).fill_null(pl.col(list(names)).mean())).to_numpy()
    return tasks, np.nan_to_num(found.astype(np.float64))


def _spread(table: FeatureTable, features: Sequence[str]) -> float | None:
    """Spread of recordings around the mean of their task; None where each is alone."""
    tasks, means = _recording_means(table, features)
    centres = np.array([means[tasks == task].mean(axis=0) for task in range(tasks.max() + 1)])
    free = len(means) - len(centres)
    if free < 1:
        return None
    return float(np.sqrt(((means - centres[tasks]) ** 2).mean(axis=1).sum() / free))


def _stretches(
    table: FeatureTable, features: Sequence[str], tasks: Sequence[str], size: int
) -> pl.DataFrame:
    """Means of neighbouring windows: as many points as a line needs."""
    step_min = (table.step_ms or 1000.0) / 60_000
    row = pl.int_range(pl.len()).over("person", "recording")
    rows = table.data.with_columns(
        pl.col("task").fill_null(""), (row // size * (size * step_min)).alias("minutes")
    ).filter(pl.col("task").is_in(list(tasks)))
    values = [pl.col(name).cast(pl.Float64).fill_nan(None).mean() for name in features]
    keys = ["person", "recording", "task", "minutes"]
    return rows.group_by(keys, maintain_order=True).agg(values).drop_nulls()


def lines_picture(view: GroupView) -> Markup:
    """The telling features over the time of the recordings, one panel a task: groups on people."""
    columns = len(view.tasks)

    def draw(*axes: Axes) -> None:
        for row, (name, words) in enumerate(zip(view.features, view.words, strict=True)):
            panels = axes[row * columns : (row + 1) * columns]
            panels[0].set_ylabel(words, fontsize=SMALL)
            for panel, task, (colour, _, _) in zip(panels, view.tasks, LOOKS, strict=False):
                panel.sharey(panels[0])
                _draw_people(panel, view, task, name)
                mine = view.groups.filter(pl.col("task") == task)
                shown = mine["person"].unique(maintain_order=True)[:MOST_GROUPS].to_list()
                for _, line in mine.filter(pl.col("person").is_in(shown)).group_by(
                    "person", "recording", maintain_order=True
                ):
                    panel.plot(line["minutes"], line[name], color=colour, lw=1.1)
                panel.tick_params(labelsize=SMALL, labelleft=panel is panels[0])
                if row == 0:
                    panel.set_title(task, fontsize=9, color=colour)
                if row == len(view.features) - 1:
                    panel.set_xlabel("minutes", fontsize=SMALL)

    rows = len(view.features)
    size = {"columns": columns, "rows": rows, "width": 1.4 + 2.1 * columns}
    return svg(draw, _alt(view, "over time"), 0.5 + 1.6 * rows, **size)


def _draw_people(axis: Axes, view: GroupView, task: str, name: str) -> None:
    """Their own lines, for their owner."""
    if view.people is None:
        return
    mine = view.people.filter(pl.col("task") == task)
    shown = mine["person"].unique(maintain_order=True)[:_MOST_PEOPLE]
    for _, line in mine.filter(pl.col("person").is_in(shown.to_list())).group_by(
        "person", "recording", maintain_order=True
    ):
        axis.plot(line["minutes"], line[name], color=GREY, lw=0.5, alpha=0.35)


def plane_picture(view: GroupView) -> Markup:
    """Recording means in the plane of the two features: groups large, people small."""
    across, up = view.features

    def draw(axis: Axes) -> None:
        for task, (colour, _, marker) in zip(view.tasks, LOOKS, strict=False):
            if view.people is not None:
                people = _means_of(view.people, view, task)
                axis.plot(people[across], people[up], ".", color=colour, markersize=4, alpha=0.55)
            groups = _means_of(view.groups, view, task)
            axis.plot(
                groups[across],
                groups[up],
                marker,
                color=colour,
                markersize=9,
                markeredgecolor="white",
            )
        axis.set_xlabel(view.words[0].replace("\n", " "))
        axis.set_ylabel(view.words[1])
        _name_tasks(axis, view)

    return svg(draw, _alt(view, "as recording means"), 3.2)


def _means_of(rows: pl.DataFrame, view: GroupView, task: str) -> pl.DataFrame:
    """The mean of each recording of a task."""
    each = rows.filter(pl.col("task") == task).group_by("person", "recording", maintain_order=True)
    return each.agg(pl.col(view.features).mean())


def _name_tasks(axis: Axes, view: GroupView) -> None:
    """Which colour and sign is which task, above the picture."""
    from eyelid.plotting import Line2D

    signs = [
        Line2D([], [], color=colour, ls=dash, marker=marker, markersize=5, lw=1.6, label=task)
        for task, (colour, dash, marker) in zip(view.tasks, LOOKS, strict=False)
    ]
    figure = axis.get_figure()
    assert figure is not None, "axes have a figure"
    figure.legend(
        handles=signs,
        loc="outside upper left",
        ncols=len(signs),
        frameon=False,
        fontsize=SMALL,
        handlelength=3.0,
        labelcolor=GREY,
    )


def _alt(view: GroupView, how: str) -> str:
    shown = f"{' and '.join(view.features)} of {', '.join(view.tasks)}, {how}"
    if view.narrower is None:
        return f"{shown}: one group, whose tasks stay as far apart as they were"
    return (
        f"{shown}: groups lie {view.narrower:.2g} times as far around the mean of their task as "
        "people do, and tasks stay as far apart as they were"
    )
