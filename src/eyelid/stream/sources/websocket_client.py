"""A tracker that we connect to: ``ws://127.0.0.1:8764``."""

from __future__ import annotations

import asyncio

from eyelid.stream.frames import Format
from eyelid.stream.pauses import growing
from eyelid.stream.sources.source import Scenery, Source, Taker
from eyelid.stream.sources.websocket_server import take_messages
from eyelid.stream.websocket import dialled


class WebSocketClientSource(Source):
    """A connection to a tracker's server, made again whenever it ends.

    Args:
        name: as a person wrote it.
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
        from websockets.exceptions import WebSocketException

        pauses = growing()
        while True:
            try:
                async with dialled(self._url, self.token, self._format) as connection:
                    taker.begin()
                    self.state, self.trouble, pauses = "connected", "", growing()
                    await take_messages(connection, self, taker, directions)
            except (OSError, TimeoutError, WebSocketException) as error:
                self.trouble = f"the tracker does not answer ({type(error).__name__})"
            self.state = "reconnecting"
            await asyncio.sleep(next(pauses))
