"""Trackers and apps on the Lab Streaming Layer, not announced beyond this machine unless asked.

The layer has no authentication. What can be done is done before the library does anything:

- ``ResolveScope = machine``: streams are looked for on this machine only;
- ``ListenAddress = 127.0.0.1``: questions to everybody on the network, by multicast or broadcast,
  are not heard (the scope alone would not prevent that);
- ``KnownPeers = {127.0.0.1}``: every stream of this machine is asked for by its own port, since of
  several programs that listen at one address only one hears a question;
- IPv6 is off.

What cannot be done: every outlet has ports of its own, TCP and UDP, which the library opens on all
interfaces and by which it answers those who ask: with what the stream is called, which computer it
comes from and what is written about it, and with the stream itself. Only a firewall prevents that.
So little is written about a stream, and there is nothing in it but what the gatekeeper has
released. The tracker's own stream is the tracker's: those who can reach it read raw gaze beside us.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError, first_line, unknown
from eyelid.stream.endpoints import Consumer, Scenery, Sink, Source, Stage, Taker
from eyelid.stream.samples import RawGaze, ReleasedGaze

SCOPES = ("machine", "link", "site", "organization", "global")
STREAM_TYPE = "Gaze"
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
# What waits in the library, before us or before a slow consumer; older samples give way inside.
_BUFFER_S = 2
# Clocks that are farther apart than this are set to each other again.
_DRIFT_S = 1.0
_FAREWELL_S = 0.1
# Told to all who ask, without a token: what a listener needs, and no more.
_TOLD = ("units", "holds")

_settings: list[str] = []
_lock = threading.Lock()


def configuration(scope: str) -> str:
    """What the library is told, as the text of its configuration file.

    >>> "ListenAddress = 127.0.0.1" in configuration("machine")
    True
    """
    if scope not in SCOPES:
        raise unknown("scope of the Lab Streaming Layer", scope, SCOPES)
    lines = ["[multicast]", f"ResolveScope = {scope}"]
    if scope == "machine":
        lines += ["ListenAddress = 127.0.0.1", "TTLOverride = 0"]
        lines += ["[ports]", "IPv6 = disable", "[lab]", "KnownPeers = {127.0.0.1}"]
        # Answers from this machine come at once: known peers need not wait for others to be silent.
        lines += ["[tuning]", "MulticastMinRTT = 0.02", "UnicastMinRTT = 0.05"]
    # Only what ends the program is worth a line among ours.
    return "\n".join([*lines, "[log]", "level = -3", ""])


def needs_layer() -> Any:
    """The library; fail where it is not installed, before a stream has begun."""
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError) as error:
        raise InputError(
            f"the Lab Streaming Layer cannot be used ({first_line(error)}): pip install "
            "'eyelid[stream]'"
        ) from None
    return pylsl


def layer(scope: str) -> Any:
    """The library, with its scope set; the scope of the first call holds for the whole process.

    Code that has used the library before in the same process has set its scope already.
    """
    text = configuration(scope)
    pylsl = needs_layer()
    with _lock:
        if not _settings:
            try:
                pylsl.set_config_content(text)
            except (AttributeError, NotImplementedError):
                raise InputError(
                    "this Lab Streaming Layer cannot be kept on this machine: it needs pylsl 1.18 "
                    "and liblsl 1.17.7 or newer"
                ) from None
            _settings.append(text)
        elif _settings != [text]:
            raise InputError(
                "the scope of the Lab Streaming Layer is set already in this process: start "
                "another one"
            )
    return pylsl


def warn_of_layer(scope: str, tell: Callable[[str], None], raw: bool = False) -> None:
    """Say who can read a stream of ours, or the tracker's.

    Args:
        scope: of the layer.
        tell: is told.
        raw: whether it is the tracker's.
    """
    whose = "any program on this machine" if scope == "machine" else f"anyone within its {scope}"
    warning = (
        f"{whose} can read the tracker's RAW stream beside eyelid, and so can anyone else who "
        "reaches the tracker's ports: close them with a firewall"
        if raw
        else f"{whose} can find and read what is released. It is not announced by multicast beyond "
        "that, but answers those who ask its ports: use a firewall"
    )
    tell(f"the Lab Streaming Layer knows no tokens: {warning}")


class LslSource(Source):
    """A stream by its name, found again whenever it is lost.

    Args:
        name: as the user wrote it.
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
            streams = self._lsl.resolve_byprop("name", self._stream, 1, timeout=_LOOK_S)
            if streams:
                self._take_from(streams[0], names, taker, stop)
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
            known = ", ".join(label for label in labels if label) or "without names"
            name = names[places.index(None)]
            raise InputError(
                f"stream '{self._stream}' has {count} channels ({known}): say which is {name} with "
                f"lsl:{self._stream},{name}=CHANNEL"
            )
        return [place for place in places if place is not None]

    def _place(self, name: str, labels: list[str], count: int) -> int | None:
        asked = self._channels.get(name)
        if asked is not None and asked.isdigit():
            return int(asked) if int(asked) < count else None
        wanted = (asked.lower(),) if asked is not None else _LABELS[name]
        return next((i for i, label in enumerate(labels) if label in wanted), None)


class LslSink(Sink):
    """A stream of the layer. How much its consumers miss, only they can know.

    Args:
        name: as the user wrote it.
        stream: its name.
        scope: of the layer.
    """

    def __init__(self, name: str, stream: str, scope: str) -> None:
        super().__init__(name)
        self._lsl = layer(scope)
        self._stream = stream
        self._outlet: Any = None
        self._stage: Stage | None = None
        self._offset_s: float | None = None
        self._sent = 0

    async def open(self, stage: Stage) -> None:
        """Make the stream known."""
        lsl = self._lsl
        self._stage = stage
        rate_hz = stage.rate_hz or lsl.IRREGULAR_RATE
        # The same name for the same stream, so that apps find it again after a restart.
        info = lsl.StreamInfo(
            self._stream,
            STREAM_TYPE,
            len(stage.columns),
            rate_hz,
            lsl.cf_float32,
            f"eyelid-{self._stream}",
        )
        info.set_channel_labels(stage.columns)
        about = info.desc().append_child("eyelid")
        for key in _TOLD:
            about.append_child_value(key, json.dumps(stage.hello[key]).strip('"'))
        self._outlet = lsl.StreamOutlet(info, chunk_size=0, max_buffered=_BUFFER_S)

    def offer(self, gaze: ReleasedGaze) -> None:
        """Hand it to the library, which sends it from a thread of its own."""
        assert self._stage is not None
        if len(gaze) == 1:
            self._outlet.push_sample([part[0] for part in gaze.parts], *self._stamps_s(gaze))
        else:
            values = np.array(gaze.parts, dtype=np.float32).T
            self._outlet.push_chunk(values, self._stamps_s(gaze))
        self._sent += len(gaze)
        self._stage.latency.add(time.perf_counter() - gaze.arrived_s, len(gaze))

    def _stamps_s(self, gaze: ReleasedGaze) -> list[float]:
        """Times by the layer's clock: the tracker's own where it has that clock."""
        if self._stage is not None and self._stage.lsl_clock:
            self._offset_s = 0.0
        else:
            now_s = self._lsl.local_clock() - gaze.time_ms[-1] / 1000
            if self._offset_s is None or abs(now_s - self._offset_s) > _DRIFT_S:
                self._offset_s = now_s
        return [time_ms / 1000 + self._offset_s for time_ms in gaze.time_ms]

    def consumers(self) -> list[Consumer]:
        """The layer as a whole, while it has listeners."""
        if self._outlet is None or not self._outlet.have_consumers():
            return []
        return [Consumer(self.name, self._sent, None, 0)]

    async def close(self) -> None:
        """Take the stream back, once the library has had time to send the rest."""
        if self.consumers():
            await asyncio.sleep(_FAREWELL_S)
        self._outlet = None
