"""A tracker on the Lab Streaming Layer: ``lsl:NAME``."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.stream.lsl import layer
from eyelid.stream.samples import RawGaze
from eyelid.stream.sources.source import Scenery, Source, Taker

OPTIONS = ("x", "y", "z", "rate")
_LABELS = {
    "x": ("x", "gaze_x", "gazex"),
    "y": ("y", "gaze_y", "gazey"),
    "z": ("z", "gaze_z", "gazez"),
}
# How often a thread that waits looks whether it should stop.
_LOOK_S = 0.2
_MISSED_S = 5.0
_MOST_AT_ONCE = 1024
# Old raw gaze is not worth waiting for.
_BUFFER_S = 2


class LslSource(Source):
    """A stream by its name, found again whenever it is lost.

    Args:
        name: as a person wrote it.
        scenery: what is known of the gaze.
        stream: its name.
        channels: of x, y and z, by label or number, where they are not plain.
        scope: of the layer.
    """

    lsl_clock: ClassVar[bool] = True

    def __init__(
        self, name: str, scenery: Scenery, stream: str, channels: dict[str, str], scope: str
    ) -> None:
        super().__init__(name, scenery)
        self._stream, self._channels, self._scope = stream, channels, scope
        self._lsl = layer(scope)

    async def run(self, taker: Taker, directions: bool) -> None:
        """Find and take, again and again until stopped."""
        stop = threading.Event()
        # A thread, since the library waits in calls of its own.
        work = asyncio.ensure_future(asyncio.to_thread(self._work, taker, directions, stop))
        try:
            await asyncio.shield(work)
        finally:
            stop.set()
            await asyncio.wait([work])

    def _work(self, taker: Taker, directions: bool, stop: threading.Event) -> None:
        names = ("x", "y", "z") if directions else ("x", "y")
        missed_since_s = time.perf_counter()
        while not stop.is_set():
            found = self._lsl.resolve_byprop("name", self._stream, 1, timeout=_LOOK_S)
            if found:
                self._take_from(found[0], names, taker, stop)
                self.state = "reconnecting"
                missed_since_s = time.perf_counter()
            elif not self.trouble and time.perf_counter() - missed_since_s > _MISSED_S:
                self.trouble = f"there is no stream '{self._stream}' ({self._others()})"

    def _others(self) -> str:
        """Which streams there are instead."""
        names = sorted({info.name() for info in self._lsl.resolve_streams(wait_time=_LOOK_S)})
        return f"there is {', '.join(names)}" if names else "nor any other"

    def _take_from(self, info: Any, names: tuple[str, ...], taker: Taker, stop: Any) -> None:
        from pylsl.util import LostError, TimeoutError

        lsl = self._lsl
        # On this machine there is one clock.
        clock = lsl.proc_none if self._scope == "machine" else lsl.proc_clocksync
        inlet = lsl.StreamInlet(info, max_buflen=_BUFFER_S, recover=False, processing_flags=clock)
        try:
            inlet.open_stream(timeout=5.0)
            places = self._places(inlet.info(timeout=5.0), names)
            taker.begin()
            self.state, self.trouble = "connected", ""
            while not stop.is_set():
                first, stamp_s = inlet.pull_sample(timeout=_LOOK_S)
                arrived_s = time.perf_counter()
                if first is None:
                    continue
                parts = [[float(first[place])] for place in places]
                time_ms = [1000 * stamp_s]
                if inlet.samples_available():
                    gaze, stamps_s = inlet.pull_chunk(
                        timeout=0.0, max_samples=_MOST_AT_ONCE, as_numpy=True
                    )
                    time_ms += (1000 * stamps_s).tolist()
                    for part, place in zip(parts, places, strict=True):
                        part += gaze[:, place].tolist()
                taker.take(RawGaze(time_ms, parts, arrived_s))
        except (LostError, TimeoutError):
            pass
        finally:
            inlet.close_stream()

    def _places(self, info: Any, names: tuple[str, ...]) -> list[int]:
        """Which channels are x, y and z."""
        labels = [str(label or "").lower() for label in info.get_channel_labels() or ()]
        count = info.channel_count()
        if info.channel_format() == self._lsl.cf_string:
            raise InputError(f"stream '{self._stream}' is text: gaze must be numbers")
        places = [self._place(name, labels, count) for name in names]
        if None in places and count == len(names) and not self._channels:
            return list(range(count))
        if None in places:
            told = ", ".join(label for label in labels if label) or "without names"
            name = names[places.index(None)]
            raise InputError(
                f"stream '{self._stream}' has {count} channels ({told}): say which is {name} with "
                f"lsl:{self._stream},{name}=CHANNEL"
            )
        return [place for place in places if place is not None]

    def _place(self, name: str, labels: list[str], count: int) -> int | None:
        asked = self._channels.get(name)
        if asked is not None and asked.isdigit():
            return int(asked) if int(asked) < count else None
        wanted = (asked.lower(),) if asked is not None else _LABELS[name]
        return next((i for i, label in enumerate(labels) if label in wanted), None)
