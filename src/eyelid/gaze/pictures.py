"""Pictures of recordings, events and features: axes in, axes out.

Every function draws on the axes it is given, or on fresh ones, and returns them. A picture of
private data is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.features.statistics import Ranges
from eyelid.gaze.study import Recording, Screen, Study
from eyelid.gaze.table import FeatureTable
from eyelid.spelling import on_terminal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito: told apart by colour-blind eyes and in grey.
_BLUE, _ORANGE, _GREEN, _GREY = "#0072b2", "#d55e00", "#009e73", "#8a949c"
_EVENT_COLOURS = {"fixation": _BLUE, "saccade": _ORANGE, "blink": _GREY, "pursuit": _GREEN}
_MOST_POINTS = 20_000
_LONGEST_TITLE = 100
_SQUARE_INCH = 4.0
_PEAK = "saccade_speed_max"


def draw_scanpath(
    recording: Recording,
    events: pl.DataFrame | None = None,
    *,
    screen: Screen | None = None,
    xy_origin: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Where a person looked: the path of gaze, and fixations as circles as large as they are long.

    Args:
        recording: with x and y, or gaze directions.
        events: of this recording, as `detect_events` gives them.
        screen: drawn as a frame, when x and y are its pixels.
        xy_origin: ``top-left`` turns y downwards.
        ax: where to draw; fresh axes by default.

    >>> import numpy as np
    >>> one = Recording("p", "r", "", "", np.arange(3.0), {"x": np.arange(3.0), "y": np.ones(3)})
    >>> draw_scanpath(one).get_xlabel()
    'x'
    """
    ax = _axes(ax)
    names = _place(recording)
    x, y = (recording[name] for name in names)
    every = _thinned(len(x))
    ax.plot(x[::every], y[::every], color=_GREY, linewidth=0.5, alpha=0.7)
    if events is not None:
        fixations = events.filter(pl.col("name") == "fixation")
        first = np.searchsorted(recording.time_ms, fixations["onset_ms"].to_numpy())
        last = np.searchsorted(recording.time_ms, fixations["offset_ms"].to_numpy(), side="right")
        during = Ranges(first, last)
        centre_x, centre_y = (during.moments(values)[0] for values in (x, y))
        sizes = fixations["duration_ms"].to_numpy() / 5.0
        ax.scatter(centre_x, centre_y, s=sizes, color=_BLUE, alpha=0.35, linewidths=0)
        ax.plot(centre_x, centre_y, color=_BLUE, linewidth=0.6, alpha=0.6)
    if screen is not None and screen.width_px and screen.height_px:
        frame = [0, screen.width_px, screen.width_px, 0, 0]
        ax.plot(frame, [0, 0, screen.height_px, screen.height_px, 0], color=_GREY, linewidth=0.8)
    if xy_origin == "top-left" and not ax.yaxis_inverted():
        ax.invert_yaxis()
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax


def draw_study(study: Study, person: str | None = None, ax: Axes | None = None) -> Axes:
    """The path of a person's gaze in one recording; see `Study.plot`.

    Args:
        study: of samples or fixations.
        person: whose; the first person's by default.
        ax: where to draw; fresh axes by default.
    """
    from eyelid.plotting import paper_axes

    people = study.data["person"].unique(maintain_order=True).to_list()
    if person is not None and person not in people:
        raise unknown("person", person, people)
    own = study.derive(data=study.data.filter(person=person or people[0]))
    recording = next(own.recordings())
    screen = study.screen if study.units == "px" else None
    with paper_axes(ax, height=_SQUARE_INCH) as axes:
        events = _events_of(recording, study)
        draw_scanpath(recording, events, screen=screen, xy_origin=study.xy_origin, ax=axes)
        title = " · ".join(filter(None, (recording.person, recording.task or recording.recording)))
        axes.set_title(on_terminal(title, _LONGEST_TITLE), loc="left", parse_math=False)
    return axes


def draw_events(
    recording: Recording,
    events: pl.DataFrame | None = None,
    *,
    start_s: float = 0.0,
    length_s: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Gaze over time, with events as bands of colour.

    Args:
        recording: with x and y, or gaze directions.
        events: of this recording, as `detect_events` gives them.
        start_s: from when, since the recording began.
        length_s: for how long; to the end by default.
        ax: where to draw; fresh axes by default.

    >>> import numpy as np
    >>> one = Recording("p", "r", "", "", np.arange(3.0), {"x": np.arange(3.0), "y": np.ones(3)})
    >>> len(draw_events(one).lines)
    2
    """
    if start_s < 0 or (length_s is not None and length_s <= 0):
        raise InputError(f"a picture needs a time in the recording, got {start_s:g} s")
    ax = _axes(ax)
    began_ms = recording.time_ms[0]
    seconds = (recording.time_ms - began_ms) / 1000.0
    end_s = seconds[-1] if length_s is None else start_s + length_s
    shown = np.flatnonzero((seconds >= start_s) & (seconds <= end_s))
    shown = shown[:: _thinned(len(shown))]
    for name, colour in zip(_place(recording), (_BLUE, _ORANGE), strict=True):
        ax.plot(seconds[shown], recording[name][shown], color=colour, linewidth=0.7, label=name)
    if events is not None:
        _draw_bands(ax, events, began_ms, start_s, float(end_s))
    ax.set_xlim(start_s, float(end_s) if end_s > start_s else start_s + 1.0)
    ax.set_xlabel("time [s]")
    ax.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize="x-small", frameon=False, ncols=5
    )
    return ax


def _draw_bands(
    ax: Axes, events: pl.DataFrame, began_ms: float, start_s: float, end_s: float
) -> None:
    """A narrow band along the bottom, in the colour of each kind of event."""
    for name, colour in _EVENT_COLOURS.items():
        of_kind = events.filter(pl.col("name") == name)
        onset = (of_kind["onset_ms"].to_numpy() - began_ms) / 1000.0
        length = of_kind["duration_ms"].to_numpy() / 1000.0
        shown = (onset + length >= start_s) & (onset <= end_s)
        if shown.any():
            ax.broken_barh(
                list(zip(onset[shown], length[shown], strict=True)),
                (0.0, 0.05),
                transform=ax.get_xaxis_transform(),
                facecolors=colour,
                label=name,
            )


def draw_main_sequence(table: FeatureTable, *, ax: Axes | None = None) -> Axes:
    """How fast saccades are for how far they go, which in healthy eyes follows one law.

    Args:
        table: features of saccades, from ``event_features(study, "saccades")``.
        ax: where to draw; fresh axes by default.

    >>> from eyelid.gaze.features import event_features
    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=1, tasks=("image",), rate_hz=250.0, minutes=0.5, seed=1)
    >>> draw_main_sequence(event_features(study, "saccades")).get_xscale()
    'log'
    """
    wanted = ("saccade_amplitude", _PEAK)
    known = {feature.name: feature for feature in table.features}
    absent = [name for name in wanted if name not in known]
    if absent:
        raise InputError(
            f"the table has no feature {absent[0]}: a main sequence is of saccades, "
            "from event_features(study, 'saccades')"
        )
    ax = _axes(ax)
    seen = table.data.select(wanted).drop_nulls()
    amplitude, peak = (seen[name].to_numpy() for name in wanted)
    every = _thinned(len(amplitude))
    ax.scatter(amplitude[::every], peak[::every], s=6, color=_BLUE, alpha=0.35, linewidths=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(f"amplitude [{known[wanted[0]].unit}]")
    ax.set_ylabel(f"peak speed [{known[wanted[1]].unit}]")
    return ax


def draw_features(
    table: FeatureTable,
    names: Sequence[str] | None = None,
    *,
    person: str | None = None,
    recording: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Features of one recording over time, each as a share of its public bounds.

    Args:
        table: of features.
        names: which; the first four by default.
        person: whose; the first person's by default.
        recording: which; the person's first by default.
        ax: where to draw; fresh axes by default.

    >>> from eyelid.gaze.simulator import simulate
    >>> from eyelid.gaze.features import window_features
    >>> table = window_features(simulate(people=2, tasks=("comic",), minutes=1.0, seed=1))
    >>> len(draw_features(table, ["fixation_rate"]).lines)
    1
    """
    known = {feature.name: feature for feature in table.features}
    chosen = list(names or list(known)[:4])
    for name in chosen:
        if name not in known:
            raise unknown("feature", name, known)
    rows = table.data
    person = _one_of("person", person, rows["person"])
    rows = rows.filter(pl.col("person") == person)
    recording = _one_of("recording", recording, rows["recording"])
    rows = rows.filter(pl.col("recording") == recording)
    ax = _axes(ax)
    seconds = rows["time_ms"].to_numpy() / 1000.0
    for name in chosen:
        feature = known[name]
        share = (rows[name].cast(pl.Float64) - feature.lower) / feature.span
        ax.plot(seconds, share.fill_null(float("nan")).to_numpy(), linewidth=1.0, label=name)
    ax.set_xlabel("time [s]")
    ax.set_ylabel("share of the bounds")
    title = on_terminal(f"{person} · {recording}", _LONGEST_TITLE)
    ax.set_title(title, loc="left", parse_math=False)
    ax.legend(fontsize="x-small", frameon=False)
    return ax


def _one_of(what: str, name: str | None, known: pl.Series) -> str:
    """The name, if it is there; the first one when none is wanted."""
    if name is not None and name not in set(known):
        raise unknown(what, name, known.unique().to_list())
    return name if name is not None else str(known[0])


def draw_overview(recording: Recording, study: Study, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Where a person looked, and when, small, on two axes.

    Args:
        recording: of the study.
        study: says the units, and which way is up.
        axes: two.
    """
    events = _events_of(recording, study)
    place, time = axes
    draw_scanpath(recording, events, xy_origin=study.xy_origin, ax=place)
    draw_events(recording, events, ax=time)
    if study.units:
        place.set_xlabel(f"{place.get_xlabel()} [{study.units}]")
    what = [recording.person, recording.recording, recording.eye]
    title = on_terminal(" · ".join(part for part in what if part), _LONGEST_TITLE)
    # A dollar sign in a name is a dollar sign.
    time.set_title(title, fontsize=8, loc="left", parse_math=False)
    for axis in axes:
        axis.tick_params(labelsize=7)
        axis.xaxis.label.set_fontsize(7)
        axis.yaxis.label.set_fontsize(7)
        axis.spines[["top", "right"]].set_visible(False)
    return axes


def _events_of(recording: Recording, study: Study) -> pl.DataFrame | None:
    """The study's events of one recording, and of its eye where they are told apart."""
    events = study.events
    if events is None or not {"person", "recording"} <= set(events.columns):
        return None
    mine = (pl.col("person") == recording.person) & (pl.col("recording") == recording.recording)
    if "eye" in events.columns and recording.eye:
        mine &= pl.col("eye").is_null() | pl.col("eye").is_in(["", recording.eye])
    return events.filter(mine)


def _place(recording: Recording) -> tuple[str, str]:
    for names in (("x", "y"), ("gaze_x", "gaze_y")):
        if set(names) <= set(recording.columns):
            return names
    raise InputError(
        f"recording {recording.recording} of person {recording.person} has no gaze to draw"
    )


def _thinned(count: int) -> int:
    """Every how many points are drawn, so that a picture of hours stays a picture."""
    return max(count // _MOST_POINTS, 1)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from eyelid.plotting import Figure

    return Figure(layout="constrained").subplots()
