"""The pump: a source, the gatekeeper, and sinks. The only way of gaze from one to the other."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eyelid.errors import InputError
from eyelid.stream.access import alike
from eyelid.stream.endpoints import Consumer, Sink, Source, Stage
from eyelid.stream.frames import counters_text, events_text, meter_text
from eyelid.stream.gatekeeper import Gatekeeper, Meter
from eyelid.stream.intake import Fit, Intake
from eyelid.stream.intake import most_hz as usual_most_hz
from eyelid.stream.samples import Latency, RawGaze, ReleasedGaze
from eyelid.stream.words import hello_of, honest

# How long a consumer may stall before a replay waits for it no longer.
_PATIENCE_S = 1.0
_LOOK_S = 0.002
_REPORT_S = 0.5
# How long a source may be silent, and how far its rate off, before that is said.
_SILENT_S = 5.0
_RATE_TOLERANCE = 0.05


@dataclass(frozen=True)
class Status:
    """How a stream fares.

    Attributes:
        seconds: since it began.
        samples: that were released.
        state: what the source is doing.
        listening: where trackers and apps can connect.
        dropped: samples that came and were not let in, and why.
        refused: messages and connections that were not taken, and why.
        latency_ms: from arrival to a sink: median and 99th percentile, None before there are any.
        consumers: who is there, and what they lost.
        troubles: of the source and sinks, for people.
        meter: what was spent; infinite where nothing is promised.
        promised: ε of any window so far, None where nothing is promised.
    """

    seconds: float
    samples: int
    state: str
    listening: tuple[str, ...]
    dropped: dict[str, int]
    refused: dict[str, int]
    latency_ms: tuple[float | None, float | None]
    consumers: tuple[Consumer, ...]
    troubles: tuple[str, ...]
    meter: Meter
    promised: float | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        latency_ms = dict(zip(("median", "p99"), self.latency_ms, strict=True))
        return asdict(self) | {"latency_ms": latency_ms, "meter": self.meter.to_dict()}


class Pump:
    """Takes raw gaze, has it filtered, and offers what is released to all sinks.

    A sink that is slow loses old released samples; it never holds up the source. Raw gaze is in
    no message, no file and no error text. Whatever fails in the gatekeeper ends the stream.

    Args:
        source: of raw gaze.
        gate: the gatekeeper; closed at the end.
        sinks: of released gaze.
        most_hz: samples per second that are let in; by default one and a half times the nominal
            rate.
    """

    def __init__(
        self,
        source: Source,
        gate: Gatekeeper,
        sinks: Sequence[Sink],
        most_hz: float | None = None,
    ) -> None:
        for sink in sinks:
            if sink.name == source.name.partition(",")[0]:
                raise InputError(
                    f"{sink.name} is source and sink at once: give what is released another name"
                )
            if source.token and sink.token and alike(source.token, sink.token):
                raise InputError(
                    f"{sink.name} and the source have the same token: those who may listen could "
                    "send gaze, too; give them different ones"
                )
        self.source, self.gate, self.sinks = source, gate, tuple(sinks)
        self.intake = Intake(most_hz or usual_most_hz(source.scenery.rate_hz), source.by_arrival)
        self.fit = Fit(gate.filter.place)
        self.latency = Latency()
        self._released = 0
        self._rate_told = ""
        self._began_s: float | None = None
        self._final: Status | None = None
        self._failed: BaseException | None = None
        self._ended: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(
        self, seconds: float | None = None, watch: Callable[[Status], None] | None = None
    ) -> Status:
        """Stream until the source ends, the time is over, or Ctrl-C is pressed.

        Args:
            seconds: how long.
            watch: is told how it goes, twice a second.

        Returns:
            How it went, just before the gatekeeper was closed.
        """
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._alone(seconds, watch))
        return self._final or self.status()

    async def _alone(self, seconds: float | None, watch: Callable[[Status], None] | None) -> None:
        # What strangers do to our sockets is no business of a terminal; what matters is raised.
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        await self.stream(seconds, watch)

    async def stream(
        self, seconds: float | None = None, watch: Callable[[Status], None] | None = None
    ) -> None:
        """Run inside an event loop."""
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        # Being asked to end is no failure; where there are no such signals nobody asks.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            self._loop.add_signal_handler(signal.SIGTERM, self._stop)
        opened: list[Sink] = []
        work: list[asyncio.Future[Any]] = []
        try:
            for sink in self.sinks:
                await sink.open(self._stage())
                opened.append(sink)
            directions = self.gate.filter.place.directions
            source = asyncio.ensure_future(self.source.run(self, directions))
            self._began_s = time.perf_counter()
            work = [source, asyncio.ensure_future(self._ended.wait())]
            work.append(asyncio.ensure_future(self._report(watch)))
            done, _ = await asyncio.wait(work, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
            if self._failed is not None:
                raise self._failed
        finally:
            # The source first: after it nothing comes any more.
            for one in work:
                one.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            self.source.end()
            await asyncio.gather(*(sink.close() for sink in opened), return_exceptions=True)
            self._final = self.status()
            self.gate.close()

    def _stage(self) -> Stage:
        return Stage(
            hello=hello_of(self.gate, self.source.scenery.rate_hz),
            directions=self.gate.filter.place.directions,
            rate_hz=self.source.scenery.rate_hz,
            lsl_clock=self.source.lsl_clock,
            certificate=self.gate.certificate,
            meter=lambda: meter_text(self._meter()),
            latency=self.latency,
        )

    def _stop(self) -> None:
        if self._ended is not None:
            self._ended.set()

    async def _report(self, watch: Callable[[Status], None] | None) -> None:
        """Tell apps what was spent and counted, and viewers how it goes."""
        while True:
            self._tell(meter_text(self._meter()))
            if self.gate.filter.counting:
                self._tell(counters_text(self.gate.counters()))
            if watch is not None:
                watch(self.status())
            await asyncio.sleep(_REPORT_S)

    def _meter(self) -> Meter:
        return honest(self.gate.meter(), self.gate)

    def _tell(self, text: str) -> None:
        for sink in self.sinks:
            sink.tell(text)

    # What a source calls.

    def begin(self) -> None:
        """The tracker has connected, perhaps with another clock."""
        self.intake.begin()

    def take(self, raw: RawGaze) -> None:
        """Filter samples and offer what is released; a failure ends the stream."""
        if self._failed is not None:
            return
        try:
            admitted = self.intake.admit(raw)
            if admitted is None:
                return
            self.fit.add(admitted)
            released = self._through_the_gate(admitted)
            self._released += len(released)
            for sink in self.sinks:
                sink.offer(released)
            if self.gate.filter.eventful and (events := self.gate.take_events()):
                self._tell(events_text(events))
        except BaseException as error:
            self._failed = error
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop)

    def _through_the_gate(self, raw: RawGaze) -> ReleasedGaze:
        """What the gatekeeper gives for it."""
        if len(raw) == 1:
            # The usual case of a live stream, which arrays would slow down.
            one = self.gate.push(raw.time_ms[0], *(part[0] for part in raw.parts))
            parts = [[value] for value in one]
        else:
            parts = [part.tolist() for part in self.gate.push_many(raw.time_ms, *raw.parts)]
        return ReleasedGaze(raw.time_ms, parts, self.gate.mode, raw.arrived_s)

    async def until_room(self) -> None:
        """Wait until no sink has much to take, or those that have take nothing."""
        await asyncio.sleep(0)
        progress, since_s = self._progress(), time.perf_counter()
        while any(sink.crowded for sink in self.sinks):
            await asyncio.sleep(_LOOK_S)
            if self._progress() != progress:
                progress, since_s = self._progress(), time.perf_counter()
            elif time.perf_counter() - since_s > _PATIENCE_S:
                return

    def _progress(self) -> int:
        return sum(sink.progress for sink in self.sinks)

    # How it goes.

    def status(self) -> Status:
        """Everything at once."""
        places = [self.source.listens_at, *(sink.listens_at for sink in self.sinks)]
        refused = Counter(self.source.refused)
        for sink in self.sinks:
            refused.update(sink.refused)
        return Status(
            seconds=0.0 if self._began_s is None else time.perf_counter() - self._began_s,
            samples=self._released,
            state=self.source.state,
            listening=tuple(place for place in places if place),
            dropped={why: count for why, count in self.intake.dropped.items() if count},
            refused=dict(refused),
            latency_ms=(self.latency.quantile_ms(0.5), self.latency.quantile_ms(0.99)),
            consumers=tuple(c for sink in self.sinks for c in sink.consumers()),
            troubles=tuple(trouble for trouble in self._troubles() if trouble),
            meter=self._meter(),
            promised=self.gate.guarantee.epsilon if self.gate.promised else None,
        )

    def _troubles(self) -> list[str]:
        return [
            self.source.trouble or self._silence(),
            self.fit.trouble,
            self._other_rate(),
            *(sink.trouble for sink in self.sinks),
        ]

    def _silence(self) -> str:
        """That nothing comes, once that is worth a remark."""
        if self.intake.came or self._began_s is None:
            return ""
        if time.perf_counter() - self._began_s < _SILENT_S:
            return ""
        return f"no gaze has come from {self.source.name} yet ({self.source.state})"

    def _other_rate(self) -> str:
        """That the tracker is faster or slower than it is said to be, in the words first found."""
        nominal_hz, found_hz = self.source.scenery.rate_hz, self.intake.measured_hz
        if nominal_hz and found_hz and not self._rate_told:
            taken_hz = min(found_hz, self.intake.most_per_s)
            if abs(found_hz / nominal_hz - 1) > _RATE_TOLERANCE:
                self._rate_told = (
                    f"gaze comes at {found_hz:.0f} Hz and not at {nominal_hz:g}: a window in "
                    f"samples is {nominal_hz / taken_hz:.2g} times as long as was said, and a "
                    f"minute costs the person {taken_hz / nominal_hz:.2g} times as much; say "
                    f"--rate {found_hz:.0f}"
                )
        return self._rate_told
