"""An app that we connect to: ``ws://127.0.0.1:8765``."""

from __future__ import annotations

import asyncio
import contextlib

from eyelid.stream.frames import Format, hello
from eyelid.stream.pauses import growing
from eyelid.stream.samples import ReleasedGaze
from eyelid.stream.sinks.outbox import Outbox
from eyelid.stream.sinks.sink import Consumer, Sink, Stage
from eyelid.stream.websocket import dialled, keep_little


class WebSocketClientSink(Sink):
    """A connection to an app's server, made again whenever it ends.

    Args:
        name: as a person wrote it.
        url: of the server.
        token: that it wants, if it wants one.
        format: of gaze.
    """

    def __init__(self, name: str, url: str, token: str | None, format: Format) -> None:
        super().__init__(name)
        self._url, self.token, self._format = url, token, format
        self._outbox: Outbox | None = None
        self._work: asyncio.Task[None] | None = None

    async def open(self, stage: Stage) -> None:
        """Begin to connect; the app may come later."""
        self._outbox = Outbox(self.name, stage.latency)
        self._work = asyncio.create_task(self._stay_connected(self._outbox, stage))

    async def _stay_connected(self, outbox: Outbox, stage: Stage) -> None:
        from websockets.exceptions import WebSocketException

        pauses = growing()
        while True:
            try:
                async with dialled(self._url, self.token, self._format) as connection:
                    keep_little(connection)
                    self.trouble, pauses = "", growing()
                    await connection.send(hello(stage.hello))
                    await connection.send(stage.meter())
                    await outbox.send_to(connection, self._format)
            except (OSError, TimeoutError, WebSocketException) as error:
                self.trouble = f"not connected ({type(error).__name__})"
            await asyncio.sleep(next(pauses))

    def offer(self, gaze: ReleasedGaze) -> None:
        """To the app, or to wait for it."""
        if self._outbox is not None:
            self._outbox.offer(gaze)

    def tell(self, text: str) -> None:
        """The same."""
        if self._outbox is not None:
            self._outbox.tell(text)

    def consumers(self) -> list[Consumer]:
        """The app."""
        return [] if self._outbox is None else [self._outbox.state()]

    @property
    def crowded(self) -> bool:
        """Nobody waits for an app that is not there."""
        return self._outbox is not None and not self.trouble and self._outbox.crowded

    async def close(self) -> None:
        """Hang up."""
        if self._work is not None and self._outbox is not None:
            if not self.trouble:
                await self._outbox.emptied()
            self._work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._work
