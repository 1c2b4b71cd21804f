"""What of incoming gaze goes to the gatekeeper: bad input is dropped and counted.

Where a person looks decides nothing here, and is only held against the scene, for the operator of
the gatekeeper. Gaze that is not a number is lost gaze and goes on; gaze outside of the scene goes
on too, and is clamped by the filter.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.streams.scene import Scene
from eyelid.stream.samples import RawGaze

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

FASTEST_HZ = 2000.0
"""The most samples per second where nobody says how fast the tracker is."""
_MORE_THAN_NOMINAL = 1.5
BURST_S = 0.5
"""So much may come at once, after a hiccup of the network or the machine."""
# Time that stays behind for so long is a clock that was set anew.
_NEW_CLOCK_AFTER_S = 1.0
# A rate is measured over so long, without pauses of the tracker.
_MEASURED_OVER_MS, _PAUSE_MS = 5000.0, 250.0

# Fewer samples, or a smaller share outside, say nothing: people look past a screen's edge.
_ENOUGH, _MUCH = 500, 0.2
# Gaze as fractions of a screen is at most about one; scenes in other units are larger than this.
_FRACTION, _LARGE_SCENE = 1.5, 20.0


def most_hz(rate_hz: float | None) -> float:
    """The most samples per second that are let in from a tracker of this nominal rate.

    >>> most_hz(120.0), most_hz(None)
    (180.0, 2000.0)
    """
    return FASTEST_HZ if rate_hz is None else _MORE_THAN_NOMINAL * rate_hz


class Intake:
    """Lets samples in, in order of time and not too many of them.

    A flood of samples would spend a person's budget: beyond half a second's worth at once, no more
    than ``most_hz`` samples per second get in. A tracker that starts again may start its clock
    again: its time goes on after what was, by the pause in between.

    Args:
        most_hz: samples per second.
        by_arrival: whether that is by our clock; by the samples' own where a recording is
            replayed as fast as it goes.

    Attributes:
        most_per_s: how many are let in.
        dropped: how many samples were not let in, and why.
        came: how many came at a time that is one.
    """

    def __init__(self, most_hz: float, by_arrival: bool = True) -> None:
        self.most_per_s = most_hz
        self._by_arrival = by_arrival
        self._room = 0.0
        self._last_ms = -math.inf
        self._offset_ms = 0.0
        self._arrived_s = -math.inf
        self._behind_since_s: float | None = None
        self._new_clock = True
        self._measured, self._during_ms = 0, 0.0
        self.came = 0
        self.dropped = {"time not a number": 0, "time backwards": 0, "too many per second": 0}

    @property
    def measured_hz(self) -> float | None:
        """How many come in a second, by the tracker's clock; None while too few have come."""
        if self._during_ms < _MEASURED_OVER_MS:
            return None
        return 1000.0 * self._measured / self._during_ms

    def begin(self) -> None:
        """The tracker has connected, perhaps with another clock."""
        self._new_clock = True

    def admit(self, raw: RawGaze) -> RawGaze | None:
        """The samples that get in, at times that do not go backwards; None where none do."""
        if self._new_clock:
            self._set_clock(raw)
        time_ms = raw.time_ms
        if self._offset_ms:
            time_ms = (np.array(time_ms) + self._offset_ms).tolist()
        # A sum tells of anything that is not finite, at the speed of one sample.
        if not (
            math.isfinite(sum(time_ms))
            and time_ms[0] >= self._last_ms
            and (len(time_ms) == 1 or sorted(time_ms) == time_ms)
        ):
            kept = self._in_order(np.array(time_ms))
            if not kept.any():
                self._stay_behind(raw)
                return None
            raw, time_ms = _only(raw, kept), np.array(time_ms)[kept].tolist()
        self._behind_since_s = None
        return self._within_rate(RawGaze(time_ms, raw.parts, raw.arrived_s))

    def _in_order(self, time_ms: Floats) -> Mask:
        """Which samples have a time that is none before another's."""
        finite = np.isfinite(time_ms)
        latest = np.maximum.accumulate(
            np.concatenate([[self._last_ms], np.where(finite, time_ms, -math.inf)])
        )
        kept: Mask = finite & (time_ms >= latest[:-1])
        self.dropped["time not a number"] += int((~finite).sum())
        self.dropped["time backwards"] += int((finite & ~kept).sum())
        return kept

    def _set_clock(self, raw: RawGaze) -> None:
        """Have time go on where it was, if the tracker's clock was set back."""
        first_ms = next((t for t in raw.time_ms if math.isfinite(t)), None)
        if first_ms is None:
            return
        self._new_clock = False
        self._offset_ms = 0.0
        if first_ms < self._last_ms:
            pause_ms = 1000.0 * (raw.arrived_s - self._arrived_s) if self._by_arrival else 0.0
            self._offset_ms = self._last_ms + max(0.0, pause_ms) - first_ms

    def _stay_behind(self, raw: RawGaze) -> None:
        """Take a clock that stays behind for a new one."""
        if self._behind_since_s is None:
            self._behind_since_s = raw.arrived_s
        elif raw.arrived_s - self._behind_since_s > _NEW_CLOCK_AFTER_S:
            self._behind_since_s = None
            self._new_clock = True

    def _within_rate(self, raw: RawGaze) -> RawGaze | None:
        """No more than the rate allows: the first ones."""
        count = len(raw)
        self.came += count
        during_ms = raw.time_ms[-1] - self._last_ms
        if during_ms < _PAUSE_MS * count:
            self._measured += count
            self._during_ms += during_ms
        if self._by_arrival:
            first_s = last_s = raw.arrived_s
            until_s = self._arrived_s
        else:
            first_s, last_s, until_s = (
                t / 1000 for t in (raw.time_ms[0], raw.time_ms[-1], self._last_ms)
            )
        burst = self.most_per_s * BURST_S
        self._room = min(burst, self._room + self.most_per_s * (first_s - until_s))
        self._room += self.most_per_s * (last_s - first_s)
        self._last_ms, self._arrived_s = raw.time_ms[-1], raw.arrived_s
        allowed = min(count, math.floor(self._room))
        self._room -= allowed
        if allowed == count:
            return raw
        self.dropped["too many per second"] += count - allowed
        return _only(raw, np.arange(count) < allowed) if allowed else None


def _only(raw: RawGaze, kept: Mask) -> RawGaze:
    """Some of the samples."""
    time_ms, *parts = (np.array(c)[kept].tolist() for c in (raw.time_ms, *raw.parts))
    return RawGaze(time_ms, parts, raw.arrived_s)


class Fit:
    """Counts gaze that lies outside of the scene, and tells of much of it, in round numbers.

    Args:
        scene: the public one.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._seen = self._outside = self._small = 0

    def add(self, raw: RawGaze) -> None:
        """Some more of it; directions are not looked at, since all of them are somewhere."""
        if self._scene.directions or self._seen >= _ENOUGH:
            return
        x, y = np.array(raw.parts)
        seen = ~(np.isnan(x) | np.isnan(y))
        x, y = x[seen], y[seen]
        scene = self._scene
        inside = (scene.x0 <= x) & (x <= scene.x1) & (scene.y0 <= y) & (y <= scene.y1)
        self._seen += len(x)
        self._outside += int((~inside).sum())
        self._small += int(((abs(x) <= _FRACTION) & (abs(y) <= _FRACTION)).sum())

    @property
    def trouble(self) -> str:
        """What should be looked into, if anything."""
        scene = self._scene
        if self._seen < _ENOUGH:
            return ""
        if self._outside > _MUCH * self._seen:
            tenths = max(1, round(10 * self._outside / self._seen))
            return (
                f"about {10 * tenths}% of the first samples lie outside of the "
                f"scene {scene} {scene.units}, and were taken for its edge: check --units and "
                "--scene"
            )
        if self._small == self._seen and scene.diameter > _LARGE_SCENE:
            return (
                f"gaze looks like fractions of a screen, and the scene {scene} is in "
                f"{scene.units}: check --units and --scene"
            )
        return ""
