"""Apps on the Lab Streaming Layer: ``lsl:NAME``."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import numpy as np

from eyelid.stream.lsl import STREAM_TYPE, layer
from eyelid.stream.samples import ReleasedGaze
from eyelid.stream.sinks.sink import Consumer, Sink, Stage

# What the library keeps for a slow consumer; older samples give way inside of it.
_BUFFER_S = 2
# Clocks that are farther apart than this are set to each other again.
_DRIFT_S = 1.0
_FAREWELL_S = 0.1
# Whoever asks is told, without a token: what a listener needs, and no more.
_TOLD = ("units", "holds")


class LslSink(Sink):
    """A stream of the layer. How much its consumers miss, only they can know.

    Args:
        name: as a person wrote it.
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
        """The layer as a whole, while anybody listens."""
        if self._outlet is None or not self._outlet.have_consumers():
            return []
        return [Consumer(self.name, self._sent, None, 0)]

    async def close(self) -> None:
        """Take the stream back, once the library has had time to send the rest."""
        if self.consumers():
            await asyncio.sleep(_FAREWELL_S)
        self._outlet = None
