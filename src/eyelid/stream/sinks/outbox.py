"""The way of released gaze to one WebSocket connection after the other."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from eyelid.stream.backlog import Backlog
from eyelid.stream.frames import Format, encoded
from eyelid.stream.latency import Latency
from eyelid.stream.samples import ReleasedGaze
from eyelid.stream.sinks.sink import Consumer

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection

CAPACITY = 2048
"""Samples that may wait for a consumer: two seconds at 1000 per second."""


# Of what is not gaze; the oldest give way.
_MOST_TEXTS = 256
# How long the end of a stream waits for a consumer to take the rest, and how often it looks.
_FAREWELL_S, _LOOK_S = 2.0, 0.002


class Outbox:
    """What waits for one consumer, sent as fast as the consumer takes it.

    Made in the thread of the event loop; offered to from any.
    """

    def __init__(self, name: str, latency: Latency, capacity: int = CAPACITY) -> None:
        self._name, self._latency = name, latency
        self._backlog = Backlog(capacity)
        self._sent = 0
        self._sending = False
        self._texts: deque[str] = deque(maxlen=_MOST_TEXTS)
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def offer(self, gaze: ReleasedGaze) -> None:
        """Have it sent; never waits."""
        self._backlog.offer(gaze)
        self._rouse()

    def tell(self, text: str) -> None:
        """Have a text sent before the gaze that comes next."""
        self._texts.append(text)
        self._rouse()

    def _rouse(self) -> None:
        if threading.get_ident() == self._thread:
            self._wake.set()
        else:
            self._loop.call_soon_threadsafe(self._wake.set)

    async def send_to(
        self, connection: ServerConnection | ClientConnection, format: Format
    ) -> None:
        """Send what there is and what comes, until the connection ends."""
        # A connection may end while there is nothing to send.
        work = [
            asyncio.ensure_future(self._send(connection, format)),
            asyncio.ensure_future(connection.wait_closed()),
        ]
        try:
            await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in work:
                one.cancel()
            await asyncio.gather(*work, return_exceptions=True)

    async def _send(self, connection: ServerConnection | ClientConnection, format: Format) -> None:
        while True:
            self._wake.clear()
            while self._texts:
                await connection.send(self._texts.popleft())
            gaze, lost = self._backlog.take()
            if gaze is None:
                await self._wake.wait()
                continue
            self._sending = True
            try:
                for message in encoded(gaze, lost, format):
                    await connection.send(message)
            except BaseException:
                self._backlog.miss(len(gaze) + lost)
                raise
            finally:
                self._sending = False
            self._sent += len(gaze)
            self._latency.add(time.perf_counter() - gaze.arrived_s, len(gaze))

    @property
    def crowded(self) -> bool:
        """Whether much waits."""
        return self._backlog.crowded

    async def emptied(self) -> None:
        """Wait until everything is sent, or for so long that it never will be."""
        until_s = time.perf_counter() + _FAREWELL_S
        while (self._sending or self._backlog) and time.perf_counter() < until_s:
            await asyncio.sleep(_LOOK_S)

    def state(self) -> Consumer:
        """How it fares."""
        return Consumer(self._name, self._sent, self._backlog.lost, len(self._backlog))
