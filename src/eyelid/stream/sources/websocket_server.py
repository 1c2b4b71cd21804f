"""A tracker that connects to us: ``ws-serve:127.0.0.1:8764``."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from eyelid.stream.access import Access
from eyelid.stream.frames import Malformed, decoded
from eyelid.stream.sources.source import Scenery, Source, Taker
from eyelid.stream.websocket import POLICY_VIOLATION, TRY_AGAIN_LATER, listen

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection

_MOST_MALFORMED = 5


class WebSocketServerSource(Source):
    """A server for one tracker at a time: two would be two people in one stream.

    Whoever connects must have the token for trackers, which is not the one for apps: whoever may
    listen may not send gaze.

    Args:
        name: as a person wrote it.
        scenery: what is known of the gaze.
        host: to listen at.
        port: the same; 0 for any.
        access: who may connect.

    Attributes:
        port: that it listens at, once it does.
    """

    def __init__(self, name: str, scenery: Scenery, host: str, port: int, access: Access) -> None:
        super().__init__(name, scenery)
        self.host, self.port = host, port
        self._access = access
        self.token = access.token

    async def run(self, taker: Taker, directions: bool) -> None:
        """Listen until stopped."""

        async def handle(connection: ServerConnection) -> None:
            # Two may have asked at the same moment.
            if self.state == "connected":
                await connection.close(TRY_AGAIN_LATER, "another tracker is connected")
                return
            taker.begin()
            self.state = "connected"
            try:
                await take_messages(connection, self, taker, directions)
            finally:
                self.state = "waiting"

        server = await listen(
            self.host,
            self.port,
            self._access,
            handle,
            most=1,
            count_refused=lambda why: self.refused.update([why]),
        )
        self.port = server.sockets[0].getsockname()[1]
        self.listens_at = f"ws://{self.host}:{self.port}"
        async with server:
            await asyncio.Event().wait()


async def take_messages(
    connection: ServerConnection | ClientConnection,
    source: Source,
    taker: Taker,
    directions: bool,
) -> None:
    """Hand over what a tracker sends, until the connection ends or too much of it is no gaze."""
    from websockets.exceptions import ConnectionClosed

    malformed = 0
    try:
        async for message in connection:
            arrived_s = time.perf_counter()
            try:
                raw = decoded(message, directions=directions, arrived_s=arrived_s)
            except Malformed as error:
                source.refused["malformed"] += 1
                source.trouble = source.trouble or f"a message of the tracker was no gaze: {error}"
                malformed += 1
                if malformed >= _MOST_MALFORMED:
                    await connection.close(POLICY_VIOLATION, f"no gaze: {error}")
                    return
                continue
            taker.take(raw)
    except ConnectionClosed as closed:
        if closed.sent is not None and closed.sent.code == 1009:
            source.refused["oversized"] += 1
