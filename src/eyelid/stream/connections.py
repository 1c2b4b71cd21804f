"""WebSocket connections as all sources and sinks have them: small messages, nothing logged."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from eyelid.errors import InputError
from eyelid.stream.access import Access, Refusal, Strangers
from eyelid.stream.frames import FORMATS, SUBPROTOCOLS, Format

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import Server, ServerConnection

    Connection = ServerConnection | ClientConnection

MOST_BYTES = 2**16
"""The longest message that may come in; longer ones end the connection."""
MOST_CONNECTIONS = 32
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013

# The library writes whole messages into its log when asked for details: gaze must not be there.
_SILENT = logging.getLogger("eyelid.stream.websocket.silent")
_SILENT.setLevel(logging.CRITICAL + 1)
_SILENT.propagate = False
_GOODBYE_S = 1
_COMMON: dict[str, Any] = {
    "compression": None,
    "max_size": MOST_BYTES,
    "ping_interval": 10,
    "close_timeout": _GOODBYE_S,
    "logger": _SILENT,
}
# A client that has said nothing by then is not waited for; trackers and apps elsewhere may be
# slower.
_ASKED_WITHIN_S, _ANSWERED_WITHIN_S = 3, 5
# Connections beyond those that are let in, which have yet to show a token: in all, and of one
# address. All programs of this machine share an address, and so they share all places.
_MOST_STRANGERS, _MOST_STRANGERS_OF_ADDRESS = 32, 8
# Before trying again to connect.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
# What a stranger may send before it has shown a token; a browser's request is some 1 kB.
_MOST_ASKED_BYTES = 2**14
# A consumer may stall for so long before it is taken for gone.
_STALL_S = 60
# Little is kept on the way to a slow consumer: what it has not got in time is old.
_WRITE_LIMIT = 2**14
_SYSTEM_LIMIT = 2**15


def needs_websockets() -> None:
    """Fail where the library is not installed."""
    try:
        import websockets.asyncio.server  # noqa: F401
    except ImportError:
        raise InputError(
            "WebSockets need the package websockets: pip install 'eyelid[stream]'"
        ) from None


def host_and_port(place: str) -> tuple[str, int]:
    """Where to listen.

    >>> host_and_port("127.0.0.1:8765"), host_and_port("[::1]:80"), host_and_port(":8765")
    (('127.0.0.1', 8765), ('::1', 80), ('127.0.0.1', 8765))
    """
    host, colon, port = place.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise InputError(f"'{place}' is no place to listen: write it as 127.0.0.1:8765")
    return host.strip("[]") or "127.0.0.1", int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def warn_of_wire(url: str, what: str, tell: Callable[[str], None]) -> None:
    """Say who can read what goes to another machine or comes from it.

    Args:
        url: of the other's server.
        what: goes there or comes from there.
        tell: is told.
    """
    parts = urlsplit(url)
    if parts.scheme == "ws" and not is_loopback(parts.hostname or ""):
        tell(
            f"{parts.hostname} is another machine, and ws:// is not encrypted: {what} and the "
            "token can be read on their way. Use wss://, or a tunnel"
        )


def warn_of_network(host: str, tell: Callable[[str], None]) -> None:
    """Say what it means to listen beyond this machine."""
    if not is_loopback(host):
        tell(
            f"{host} can be reached from the network, and nothing is encrypted: tokens and gaze "
            "can be read on their way. Use a trusted network, or a proxy with TLS before it"
        )


async def listen(
    host: str,
    port: int,
    access: Access,
    handle: Callable[[ServerConnection], Awaitable[None]],
    most: int,
    refused: Counter[str],
) -> Server:
    """A server that lets in those who may, and not too many of them.

    Args:
        host: to listen at.
        port: the same; 0 for any.
        access: who may.
        handle: what to do with a connection, until it ends.
        most: connections at once.
        refused: counts who was refused, and why.
    """
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.http11 import Request, Response

    loop = asyncio.get_running_loop()
    strangers: Strangers[Guarded] = Strangers(_MOST_STRANGERS, _most_of)

    class Guarded(_Leaving, ServerConnection):
        """A connection that is a stranger's until its token is known."""

        refused, heard = False, 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            strangers.add(self, (transport.get_extra_info("peername") or ("",))[0])
            # Those that came with it are heard before any has to go: what an app has sent may wait
            # to be read. Reading is the next turn of the loop, and answering the one after.
            loop.call_soon(loop.call_soon, loop.call_soon, _send_away)

        def data_received(self, data: bytes) -> None:
            if self in strangers:
                self.heard += len(data)
                if self.heard > _MOST_ASKED_BYTES:
                    refused["too much before a token"] += 1
                    self.transport.abort()
                    return
            super().data_received(data)

        def connection_lost(self, exc: Exception | None) -> None:
            strangers.discard(self)
            super().connection_lost(exc)

    def _send_away() -> None:
        for one in strangers.surplus(lambda one: one.request is None or one.refused):
            if not one.refused:
                refused["too many at the door"] += 1
            one.transport.abort()

    def refuse(connection: ServerConnection, request: Request) -> Response | None:
        assert isinstance(connection, Guarded)
        refusal = access.refuse(request)
        if refusal is None and len(connection.server.connections) >= most:
            refusal = Refusal("too many", 503, f"There are {most} connections already\n")
        if refusal is None:
            strangers.discard(connection)
            return None
        connection.refused = True
        refused[refusal.why] += 1
        return connection.respond(refusal.status, refusal.answer)

    try:
        return await serve(
            handle,
            host,
            port,
            process_request=refuse,
            select_subprotocol=lambda _, offered: _chosen(offered),
            server_header=None,
            create_connection=Guarded,
            open_timeout=_ASKED_WITHIN_S,
            ping_timeout=_STALL_S,
            write_limit=_WRITE_LIMIT,
            **_COMMON,
        )
    except OSError as error:
        raise InputError(
            f"cannot listen at {host}:{port}: {error.strerror or error}; choose another port"
        ) from None


def _most_of(host: str) -> int:
    """Strangers that an address may have."""
    return _MOST_STRANGERS if is_loopback(host) else _MOST_STRANGERS_OF_ADDRESS


class _Leaving:
    """A connection that does not wait for ever for the other side to read.

    The library's own pings wait for their turn to be sent, and so does its goodbye: neither comes
    where nothing is read.
    """

    transport: asyncio.Transport
    _stalls: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self._stalls = asyncio.get_running_loop().call_later(_STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._read_again()
        super().resume_writing()  # type: ignore[misc]

    def connection_lost(self, exc: Exception | None) -> None:
        self._read_again()
        super().connection_lost(exc)  # type: ignore[misc]

    async def close(self, code: int = 1000, reason: str = "") -> None:
        try:
            async with asyncio.timeout(2 * _GOODBYE_S):
                await super().close(code, reason)  # type: ignore[misc]
        except TimeoutError:
            self.transport.abort()

    def _read_again(self) -> None:
        if self._stalls is not None:
            self._stalls.cancel()
            self._stalls = None


def _chosen(offered: Any) -> Any:
    """The first format that is offered; the one with the token is never repeated."""
    return next((name for name in offered if name in SUBPROTOCOLS.values()), None)


def format_of(connection: Connection) -> Format:
    """What was agreed on; JSON where nothing was."""
    return next((f for f in FORMATS if SUBPROTOCOLS[f] == connection.subprotocol), "json")


def keep_little(connection: Connection) -> None:
    """Have the system keep little for a consumer that does not read: it would be old."""
    link = connection.transport.get_extra_info("socket")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_LIMIT)


def growing() -> Iterator[float]:
    """Pauses in seconds before trying again, each twice the last.

    >>> from itertools import islice
    >>> list(islice(growing(), 7))
    [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    """
    pause_s = _FIRST_PAUSE_S
    while True:
        yield min(pause_s, _LONGEST_PAUSE_S)
        pause_s *= 2


async def stay_connected(
    url: str,
    token: str | None,
    format: Format,
    handle: Callable[[ClientConnection], Awaitable[None]],
    ended: Callable[[Exception | None], None],
) -> None:
    """Connect to a server elsewhere, again and again until stopped.

    Args:
        url: of the server.
        token: that it wants, if it wants one.
        format: of gaze.
        handle: what to do with a connection, until it ends.
        ended: is told that a connection has ended or was not made, and why if it failed.
    """
    from websockets.asyncio.client import ClientConnection, connect
    from websockets.exceptions import WebSocketException

    class Guarded(_Leaving, ClientConnection):
        """Left where it does not read."""

    class Direct(connect):
        """Goes nowhere else: a server that redirects would get the token, or gaze."""

        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc

    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    pauses = growing()
    while True:
        failure: Exception | None = None
        try:
            async with Direct(
                url,
                subprotocols=[SUBPROTOCOLS[format]],  # type: ignore[list-item]
                additional_headers=headers,
                user_agent_header=None,
                proxy=None,
                create_connection=Guarded,
                open_timeout=_ANSWERED_WITHIN_S,
                ping_timeout=_STALL_S,
                write_limit=_WRITE_LIMIT,
                **_COMMON,
            ) as connection:
                pauses = growing()
                await handle(connection)
        except (OSError, TimeoutError, WebSocketException) as error:
            failure = error
        ended(failure)
        await asyncio.sleep(next(pauses))


def checked_url(url: str) -> str:
    """A WebSocket address without secrets in it."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise InputError(f"'{url}' is no WebSocket address: write it as ws://127.0.0.1:8765")
    if parts.username or parts.password or "token" in parts.query:
        raise InputError(
            f"{parts.scheme}://{parts.hostname} has a secret in its address, where logs keep it: "
            "give the token in a file or an environment variable"
        )
    return url
