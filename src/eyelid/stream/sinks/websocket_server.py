"""Apps that connect to us: ``ws-serve:127.0.0.1:8765``."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from eyelid.stream.access import Access
from eyelid.stream.frames import hello
from eyelid.stream.samples import ReleasedGaze
from eyelid.stream.sinks.outbox import Outbox
from eyelid.stream.sinks.sink import Consumer, Sink, Stage
from eyelid.stream.websocket import (
    MOST_CONNECTIONS,
    POLICY_VIOLATION,
    format_of,
    keep_little,
    listen,
)

if TYPE_CHECKING:
    from websockets.asyncio.server import Server, ServerConnection


class WebSocketServerSink(Sink):
    """A server for many apps, each at its own pace. Apps listen: one that speaks is shown out.

    Args:
        name: as a person wrote it.
        host: to listen at.
        port: the same; 0 for any.
        access: who may connect.

    Attributes:
        port: that it listens at, once it does.
    """

    def __init__(self, name: str, host: str, port: int, access: Access) -> None:
        super().__init__(name)
        self.host, self.port = host, port
        self._access = access
        self.token = access.token
        self._outboxes: dict[object, Outbox] = {}
        self._server: Server | None = None
        self._left: list[Consumer] = []

    async def open(self, stage: Stage) -> None:
        """Listen."""

        async def handle(connection: ServerConnection) -> None:
            await self._serve(connection, stage)

        self._server = await listen(
            self.host,
            self.port,
            self._access,
            handle,
            most=MOST_CONNECTIONS,
            count_refused=lambda why: self.refused.update([why]),
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self.listens_at = f"ws://{self.host}:{self.port}"

    async def _serve(self, connection: ServerConnection, stage: Stage) -> None:
        from websockets.exceptions import ConnectionClosed

        keep_little(connection)
        # Apps of one machine differ by their ports.
        address = connection.remote_address
        outbox = Outbox(f"{address[0]}:{address[1]}", stage.latency)
        listening = asyncio.ensure_future(self._refuse_messages(connection))
        with contextlib.suppress(ConnectionClosed):
            try:
                await connection.send(hello(stage.hello))
                await connection.send(stage.meter())
                self._outboxes[connection] = outbox
                await outbox.send_to(connection, format_of(connection))
            finally:
                listening.cancel()
                if self._outboxes.pop(connection, None) is not None:
                    self._count_as_left(outbox.state())

    def _count_as_left(self, gone: Consumer) -> None:
        """Remember what those who left got and lost, all together."""
        past = self._left or [Consumer("0 that left", 0, 0, 0)]
        number = int(past[0].name.split()[0]) + 1
        sent, lost = past[0].sent + gone.sent, (past[0].lost or 0) + (gone.lost or 0)
        self._left = [Consumer(f"{number} that left", sent, lost, 0)]

    async def _refuse_messages(self, connection: ServerConnection) -> None:
        """Show out an app that speaks."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            async for _ in connection:
                self.refused["app that sends"] += 1
                await connection.close(POLICY_VIOLATION, "apps listen, they do not send")

    def offer(self, gaze: ReleasedGaze) -> None:
        """To everybody who is connected."""
        for outbox in list(self._outboxes.values()):
            outbox.offer(gaze)

    def tell(self, text: str) -> None:
        """The same."""
        for outbox in list(self._outboxes.values()):
            outbox.tell(text)

    def consumers(self) -> list[Consumer]:
        """Everybody who is connected, and those who were."""
        return self._left + [outbox.state() for outbox in list(self._outboxes.values())]

    @property
    def crowded(self) -> bool:
        """Whether anybody has much to take."""
        return any(outbox.crowded for outbox in list(self._outboxes.values()))

    async def close(self) -> None:
        """Say goodbye."""
        if self._server is not None:
            await asyncio.gather(*(outbox.emptied() for outbox in self._outboxes.values()))
            self._server.close()
            await self._server.wait_closed()
