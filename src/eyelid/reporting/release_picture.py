"""A release as a picture on given axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyelid.errors import unknown
from eyelid.gaze.maps.picture import LINES
from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.reporting.drawing import BLUE
from eyelid.reporting.maps.result import ReleasedMaps
from eyelid.reporting.release import Release
from eyelid.reporting.statistics.figure import draw_panel, panels_of
from eyelid.reporting.statistics.results import Results
from eyelid.spelling import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT_INCH = 2.6
# Records are drawn as lines, and beyond so many of them one cannot be told from another.
_MOST_RECORDS = 40


def draw_release(done: Release, ax: Axes | None, *, of: str | None, caption: bool) -> Axes:
    """Draw what was released; see `Release.plot`.

    Args:
        done: of any kind.
        ax: where to; None for fresh axes.
        of: which feature, person or map.
        caption: whether to write what a person is promised.
    """
    data = done.data
    if isinstance(data, ReleasedMaps):
        axes = data.plot(ax, of=of)
    elif isinstance(data, Results):
        axes = _results(data, ax, of)
    elif isinstance(data, Study):
        axes = data.plot(ax, person=of)
    else:
        axes = _features(data, ax, of)
    if caption:
        from eyelid.plotting import write_caption

        person = done.certificate.person_level
        promised = person.numbers() if person.holds else "no valid guarantee"
        lines = f" {LINES}" if isinstance(data, ReleasedMaps) else ""
        made = f"Released by {done.certificate.mechanism}. One person: {promised}."
        write_caption(axes, f"{made}{lines}")
    return axes


def _features(table: FeatureTable, ax: Axes | None, of: str | None) -> Axes:
    """One feature of every record over time; side by side where records have one row."""
    from eyelid.plotting import paper_axes

    features = {feature.name: feature for feature in table.features}
    name = of or table.names[0]
    if name not in features:
        raise unknown("feature", name, features)
    feature = features[name]
    task = table.data["task"][0]
    rows = table.data.filter(task=task)
    with paper_axes(ax, height=_HEIGHT_INCH) as axes:
        records = rows.partition_by(RECORDING_KEY, maintain_order=True)
        single = all(len(record) == 1 for record in records)
        if single:
            axes.plot(range(1, len(rows) + 1), rows[name], "o", color=BLUE, markersize=4)
            axes.set_xlabel("released record")
        else:
            for record in records[:_MOST_RECORDS]:
                seconds = record["time_ms"] / 1000
                axes.plot(seconds, record[name], color=BLUE, linewidth=0.8, alpha=0.6)
            axes.set_xlabel("time [s]")
        unit = f" [{feature.unit}]" if feature.unit else ""
        axes.set_ylabel(f"{name}{unit}", parse_math=False)
        shown = plural(len(records) if single else min(_MOST_RECORDS, len(records)), "record")
        axes.set_title(f"{task}: {shown}" if task else shown, loc="left", parse_math=False)
    return axes


def _results(found: Results, ax: Axes | None, of: str | None) -> Axes:
    """The results of one measure."""
    from eyelid.plotting import paper_axes

    panels = {str(panel["measure"][0]): panel for panel in panels_of(found.frame)}
    name = of or next(iter(panels))
    if name not in panels:
        raise unknown("measure", name, panels)
    with paper_axes(ax, height=_HEIGHT_INCH) as axes:
        draw_panel(axes, panels[name])
    return axes
