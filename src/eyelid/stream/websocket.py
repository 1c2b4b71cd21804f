"""Trackers and apps on WebSockets: ``ws://HOST:PORT``, or ``ws-serve:`` if they connect to us."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from eyelid.stream.access import Access
from eyelid.stream.connections import (
    MOST_CONNECTIONS,
    POLICY_VIOLATION,
    TRY_AGAIN_LATER,
    format_of,
    keep_little,
    listen,
    stay_connected,
)
from eyelid.stream.endpoints import Consumer, Endpoint, Scenery, Sink, Source, Stage, Taker
from eyelid.stream.frames import Format, Malformed, decoded, encoded, hello
from eyelid.stream.samples import Backlog, Latency, ReleasedGaze

if TYPE_CHECKING:
    from websockets.asyncio.server import Server, ServerConnection

    from eyelid.stream.connections import Connection

CAPACITY = 2048
"""Samples that may wait for a consumer: two seconds at 1000 per second."""
# Of what is not gaze; the oldest give way.
_MOST_TEXTS = 256
# How long the end of a stream waits for a consumer to take the rest, and how often it looks.
_FAREWELL_S, _LOOK_S = 2.0, 0.002
_MOST_MALFORMED = 5


class _Listener(Endpoint):
    """An end that others connect to.

    Attributes:
        host: to listen at.
        port: that it listens at, once it does; 0 for any before.
    """

    def _set_place(self, host: str, port: int, access: Access) -> None:
        self.host, self.port, self._access = host, port, access
        self.token = access.token

    async def _listen(
        self, handle: Callable[[ServerConnection], Awaitable[None]], most: int
    ) -> Server:
        server = await listen(self.host, self.port, self._access, handle, most, self.refused)
        self.port = server.sockets[0].getsockname()[1]
        self.listens_at = f"ws://{self.host}:{self.port}"
        return server


# Trackers.


class _WebSocketSource(Source):
    """A tracker that sends messages."""

    async def _take(self, connection: Connection, taker: Taker, directions: bool) -> None:
        """Hand over what a tracker sends, until it ends or too much of it is no gaze."""
        from websockets.exceptions import ConnectionClosed

        taker.begin()
        self.state = "connected"
        malformed = 0
        try:
            async for message in connection:
                arrived_s = time.perf_counter()
                try:
                    raw = decoded(message, directions=directions, arrived_s=arrived_s)
                except Malformed as error:
                    self.refused["malformed"] += 1
                    self.trouble = self.trouble or f"a message of the tracker was no gaze: {error}"
                    malformed += 1
                    if malformed >= _MOST_MALFORMED:
                        await connection.close(POLICY_VIOLATION, f"no gaze: {error}")
                        return
                    continue
                taker.take(raw)
        except ConnectionClosed as closed:
            if closed.sent is not None and closed.sent.code == 1009:
                self.refused["oversized"] += 1


class WebSocketClientSource(_WebSocketSource):
    """A connection to a tracker's server, made again whenever it ends.

    Args:
        name: as the user wrote it.
        scenery: what is known of the gaze.
        url: of the server.
        token: that it wants, if it wants one.
        format: of gaze.
    """

    def __init__(
        self, name: str, scenery: Scenery, url: str, token: str | None, format: Format
    ) -> None:
        super().__init__(name, scenery)
        self._url, self.token, self._format = url, token, format

    async def run(self, taker: Taker, directions: bool) -> None:
        """Connect and take, again and again until stopped."""

        async def handle(connection: Connection) -> None:
            self.trouble = ""
            await self._take(connection, taker, directions)

        def ended(error: Exception | None) -> None:
            self.state = "reconnecting"
            if error is not None:
                self.trouble = f"the tracker does not answer ({type(error).__name__})"

        await stay_connected(self._url, self.token, self._format, handle, ended)


class WebSocketServerSource(_Listener, _WebSocketSource):
    """A server for one tracker at a time: two would be two people in one stream.

    A client that connects must have the token for trackers, which is not the one for apps: those
    who may listen may not send gaze.

    Args:
        name: as the user wrote it.
        scenery: what is known of the gaze.
        host: to listen at.
        port: the same; 0 for any.
        access: who may connect.
    """

    def __init__(self, name: str, scenery: Scenery, host: str, port: int, access: Access) -> None:
        super().__init__(name, scenery)
        self._set_place(host, port, access)

    async def run(self, taker: Taker, directions: bool) -> None:
        """Listen until stopped."""

        async def handle(connection: ServerConnection) -> None:
            # Two may have asked at the same moment.
            if self.state == "connected":
                await connection.close(TRY_AGAIN_LATER, "another tracker is connected")
                return
            try:
                await self._take(connection, taker, directions)
            finally:
                self.state = "waiting"

        async with await self._listen(handle, most=1):
            await asyncio.Event().wait()


# Apps.


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

    async def send_to(self, connection: Connection, format: Format) -> None:
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

    async def _send(self, connection: Connection, format: Format) -> None:
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


class _WebSocketSink(Sink):
    """Apps that are sent messages, each at its own pace."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._outboxes: dict[object, Outbox] = {}

    def offer(self, gaze: ReleasedGaze) -> None:
        """To everybody who is connected or waited for."""
        for outbox in list(self._outboxes.values()):
            outbox.offer(gaze)

    def tell(self, text: str) -> None:
        """Something beside gaze, to the same."""
        for outbox in list(self._outboxes.values()):
            outbox.tell(text)

    def consumers(self) -> list[Consumer]:
        """Everybody who is connected or waited for."""
        return [outbox.state() for outbox in list(self._outboxes.values())]

    @property
    def crowded(self) -> bool:
        """Whether any client has much to take."""
        return any(outbox.crowded for outbox in list(self._outboxes.values()))

    async def _emptied(self) -> None:
        """Wait until everybody has the rest, for a while."""
        await asyncio.gather(*(outbox.emptied() for outbox in self._outboxes.values()))


async def _greet(connection: Connection, stage: Stage) -> None:
    """What an app is told first: what is promised, and what was spent."""
    keep_little(connection)
    await connection.send(hello(stage.hello))
    await connection.send(stage.meter())


class WebSocketClientSink(_WebSocketSink):
    """A connection to an app's server, made again whenever it ends.

    Args:
        name: as the user wrote it.
        url: of the server.
        token: that it wants, if it wants one.
        format: of gaze.
    """

    def __init__(self, name: str, url: str, token: str | None, format: Format) -> None:
        super().__init__(name)
        self._url, self.token, self._format = url, token, format
        self._work: asyncio.Task[None] | None = None

    async def open(self, stage: Stage) -> None:
        """Begin to connect; the app may come later."""
        outbox = self._outboxes[self] = Outbox(self.name, stage.latency)

        async def handle(connection: Connection) -> None:
            self.trouble = ""
            await _greet(connection, stage)
            await outbox.send_to(connection, self._format)

        def ended(error: Exception | None) -> None:
            if error is not None:
                self.trouble = f"not connected ({type(error).__name__})"

        connecting = stay_connected(self._url, self.token, self._format, handle, ended)
        self._work = asyncio.create_task(connecting)

    @property
    def crowded(self) -> bool:
        """Whether the app has much to take; nobody waits for one that is not there."""
        return not self.trouble and super().crowded

    async def close(self) -> None:
        """Hang up."""
        if self._work is not None:
            if not self.trouble:
                await self._emptied()
            self._work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._work


class WebSocketServerSink(_Listener, _WebSocketSink):
    """A server for many apps, each at its own pace. Apps listen: one that speaks is shown out.

    Args:
        name: as the user wrote it.
        host: to listen at.
        port: the same; 0 for any.
        access: who may connect.
    """

    def __init__(self, name: str, host: str, port: int, access: Access) -> None:
        super().__init__(name)
        self._set_place(host, port, access)
        self._server: Server | None = None
        self._left, self._left_sent, self._left_lost = 0, 0, 0

    async def open(self, stage: Stage) -> None:
        """Listen."""

        async def handle(connection: ServerConnection) -> None:
            await self._serve(connection, stage)

        self._server = await self._listen(handle, most=MOST_CONNECTIONS)

    async def _serve(self, connection: ServerConnection, stage: Stage) -> None:
        from websockets.exceptions import ConnectionClosed

        # Apps of one machine differ by their ports.
        address = connection.remote_address
        outbox = Outbox(f"{address[0]}:{address[1]}", stage.latency)
        listening = asyncio.ensure_future(self._refuse_messages(connection))
        with contextlib.suppress(ConnectionClosed):
            try:
                await _greet(connection, stage)
                self._outboxes[connection] = outbox
                await outbox.send_to(connection, format_of(connection))
            finally:
                listening.cancel()
                if self._outboxes.pop(connection, None) is not None:
                    self._count_as_left(outbox.state())

    def _count_as_left(self, gone: Consumer) -> None:
        """Remember what those who left got and lost, all together."""
        self._left += 1
        self._left_sent += gone.sent
        self._left_lost += gone.lost or 0

    async def _refuse_messages(self, connection: ServerConnection) -> None:
        """Show out an app that speaks."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            async for _ in connection:
                self.refused["app that sends"] += 1
                await connection.close(POLICY_VIOLATION, "apps listen, they do not send")

    def consumers(self) -> list[Consumer]:
        """Everybody who is connected, and those who were, all together."""
        left = Consumer(f"{self._left} that left", self._left_sent, self._left_lost, 0)
        return [left, *super().consumers()] if self._left else super().consumers()

    async def close(self) -> None:
        """Say goodbye."""
        if self._server is not None:
            await self._emptied()
            self._server.close()
            await self._server.wait_closed()
