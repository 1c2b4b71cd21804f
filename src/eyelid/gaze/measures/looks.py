"""How a person looked at areas of interest, in numbers that UX reports have.

A visit is a run of looks in one area, without a look elsewhere in between. Of samples one counts
from 100 ms on, so that gaze which only crosses an area has not looked at it; a fixation always
counts. A person with no gaze point on a page has no number for it. How long a page counts is a
public fact: what begins later counts for nothing. Where nobody said it, all of the time counts, but
for the time to the first look, which needs a limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import Area, check_on_picture, overlapping, within
from eyelid.gaze.maps.gaze_points import GazePoints, gaze_points_of
from eyelid.gaze.study import Study

Floats = NDArray[np.float64]

LEAST_VISIT_MS = 100.0
"""Samples in an area for less time than that are no visit."""
WATCHED_MS = 10_000.0
"""The time to the first look of who has none, where nobody said how long a page counts."""
MOST_REVISITS = 10.0
WITHIN_S = 2.0
HIT, FIRST, DWELL, REVISITS, WITHIN = "hit", "first_look", "dwell", "revisits", "looked_within"
KINDS = (HIT, FIRST, DWELL, REVISITS, WITHIN)


@dataclass(frozen=True)
class AreaMeasure:
    """One number a person, of an area on a page.

    Attributes:
        kind: which number, of `KINDS`.
        area: its name.
        watched_ms: how long the page counts since it was shown; None for all the time it was.
        within_s: of ``looked_within``, how soon.
    """

    kind: str
    area: str
    watched_ms: float | None = None
    within_s: float = WITHIN_S

    @property
    def name(self) -> str:
        """What results call it.

        >>> AreaMeasure("hit", "logo").name, AreaMeasure("looked_within", "logo").name
        ('hit:logo', 'looked_within_2s:logo')
        """
        return f"{kind_name(self)}:{self.area}"

    @property
    def unit(self) -> str:
        """Only times have one."""
        return "ms" if self.kind == FIRST else "1"

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it can be."""
        return 0.0, {FIRST: self.latest_ms, REVISITS: MOST_REVISITS}.get(self.kind, 1.0)

    @property
    def latest_ms(self) -> float:
        """With which time to the first look those count who have none."""
        return WATCHED_MS if self.watched_ms is None else self.watched_ms

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it is 0 or 1 of everybody: a mean over people is then a share of them."""
        return self.kind in (HIT, WITHIN)

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1 by definition."""
        return self.kind in (HIT, WITHIN, DWELL)

    @property
    def definition(self) -> str:
        """What it is, in a few words, with how long the page counts.

        >>> AreaMeasure("hit", "logo").definition
        "whether the person looked at 'logo' at all, however long the page was shown"
        >>> AreaMeasure("hit", "logo", 15_000).definition
        "whether the person looked at 'logo' within the first 15 s"
        """
        latest = f"{self.latest_ms:g} ms without one until then"
        return {
            HIT: f"whether the person looked at '{self.area}'{'' if self.watched_ms else ' at all'}"
            f"{self._while_shown}",
            FIRST: f"time to the first look at '{self.area}'; {latest}",
            DWELL: f"share of the person's looking time on the page that '{self.area}' has"
            f"{self._while_shown}",
            REVISITS: f"how often the person came back to '{self.area}', up to {MOST_REVISITS:g}"
            f"{self._while_shown}",
            WITHIN: f"whether the person looked at '{self.area}' within {self.within_s:g} s",
        }[self.kind]

    @property
    def _while_shown(self) -> str:
        if self.watched_ms is None:
            return ", however long the page was shown"
        return f" within the first {self.watched_ms / 1000:g} s"


def kind_name(measure: AreaMeasure) -> str:
    """A kind of number as a person types it.

    >>> kind_name(AreaMeasure("looked_within", "logo", within_s=0.5))
    'looked_within_0.5s'
    """
    seconds = f"_{measure.within_s:g}s" if measure.kind == WITHIN else ""
    return f"{measure.kind}{seconds}"


def area_kind(name: str) -> tuple[str, float]:
    """A kind of number from what a person types, with its seconds.

    >>> area_kind("looked_within_3s"), area_kind("hit")
    (('looked_within', 3.0), ('hit', 2.0))
    """
    stem, _, seconds = name.strip().rpartition("_")
    if stem == WITHIN and seconds.endswith("s"):
        try:
            found = float(seconds[:-1])
        except ValueError:
            found = 0.0
        if not 0 < found <= WATCHED_MS / 1000.0 * 60:
            raise InputError(f"looked_within takes seconds, such as looked_within_2s, got '{name}'")
        return WITHIN, found
    if name.strip() not in KINDS:
        raise unknown("measure of areas", name.strip(), [*KINDS, f"{WITHIN}_2s"])
    return name.strip(), WITHIN_S


@dataclass(frozen=True, eq=False)
class Pages:
    """Areas of interest on pages: what was shown, all of it public.

    Attributes:
        areas: of each page, by the name of its stimulus.
        width_px: of what everybody looked at.
        height_px: of the same.
        stimuli: all that any person of the study was shown.
    """

    areas: Mapping[str, tuple[Area, ...]]
    width_px: int
    height_px: int
    stimuli: tuple[str, ...]

    def __post_init__(self) -> None:
        for page, areas in self.areas.items():
            if page not in self.stimuli:
                raise unknown("stimulus of areas", page, self.stimuli)
            check_on_picture(areas, self.width_px, self.height_px)
            both = overlapping(areas)
            if both is not None:
                raise InputError(
                    f"areas '{both[0]}' and '{both[1]}' overlap, so that a look would be at both: "
                    "draw them apart, or measure them one after the other"
                )

    def values(
        self, study: Study, people: Sequence[str], wanted: Sequence[tuple[AreaMeasure, str]]
    ) -> Floats:
        """One row a person, one column for each measure and page; NaN without a look at the page.

        Args:
            study: whole people, of samples or fixations.
            people: whose rows, in order.
            wanted: measures, each with the page that it is of.
        """
        points = gaze_points_of(
            study,
            width_px=self.width_px,
            height_px=self.height_px,
            stimuli=list(self.areas),
            weight="duration",
            people=people,
            known=self.stimuli,
        )
        least_ms = LEAST_VISIT_MS if study.kind == "samples" else 0.0
        shown = {
            (page, until_ms): _Page(points.of_layer(page), self.areas[page], least_ms, until_ms)
            for page, until_ms in dict.fromkeys((page, one.watched_ms) for one, page in wanted)
        }
        found = [shown[page, one.watched_ms].numbers(one) for one, page in wanted]
        return np.stack(found, axis=1)


class _Page:
    """What everybody's looks at one page come to, people × areas."""

    def __init__(
        self,
        points: GazePoints,
        areas: Sequence[Area],
        least_ms: float,
        watched_ms: float | None = None,
    ) -> None:
        """Find all visits.

        Args:
            points: at the page, by how long each lasted, in order of time.
            areas: on it.
            least_ms: what a visit has to last.
            watched_ms: how long the page counts since it was shown; None for all the time.
        """
        assert points.since_ms is not None, "they were read from a study"
        until_ms = np.inf if watched_ms is None else watched_ms
        self.names = [area.name for area in areas]
        shape = (len(points.people), len(areas))
        area = within([each.corners for each in areas], points.x_px, points.y_px)
        # Of a look that goes on after that, what came before counts for dwelling.
        while_shown = np.clip(until_ms - points.since_ms, 0.0, points.weight)
        total_ms = np.bincount(points.person, while_shown, minlength=shape[0])
        seen = np.bincount(points.person, minlength=shape[0]) > 0
        inside = area >= 0
        cell = points.person[inside] * shape[1] + area[inside]
        own_ms = np.bincount(cell, while_shown[inside], minlength=np.prod(shape)).reshape(shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.dwell = own_ms / total_ms[:, None]
        # A second showing begins anew, where time goes back.
        begins = np.ones(area.size, dtype=bool)
        begins[1:] = (np.diff(points.person) != 0) | (np.diff(area) != 0)
        begins[1:] |= np.diff(points.since_ms) < 0
        starts = np.flatnonzero(begins)
        lasted = np.add.reduceat(points.weight, starts) if starts.size else np.zeros(0)
        counts = (area[starts] >= 0) & (lasted >= least_ms) & (points.since_ms[starts] <= until_ms)
        visits = starts[counts]
        cell = points.person[visits] * shape[1] + area[visits]
        self.visits = np.bincount(cell, minlength=np.prod(shape)).reshape(shape).astype(np.float64)
        first = np.full(np.prod(shape), np.inf)
        np.minimum.at(first, cell, points.since_ms[visits])
        self.first_ms = first.reshape(shape)
        self.unseen = ~seen

    def numbers(self, measure: AreaMeasure) -> Floats:
        """One number a person; NaN for who has no look at the page."""
        area = self.names.index(measure.area)
        found = {
            HIT: np.isfinite(self.first_ms).astype(np.float64),
            FIRST: np.minimum(self.first_ms, measure.latest_ms),
            DWELL: self.dwell,
            REVISITS: np.clip(self.visits - 1.0, 0.0, MOST_REVISITS),
            WITHIN: (self.first_ms <= measure.within_s * 1000.0).astype(np.float64),
        }[measure.kind][:, area]
        return np.where(self.unseen, np.nan, found)
