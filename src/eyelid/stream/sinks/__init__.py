"""Where released gaze goes: one module a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from eyelid.errors import InputError
from eyelid.stream.access import Access, checked_origins, find_token, token_or_new
from eyelid.stream.address import address
from eyelid.stream.frames import format_named
from eyelid.stream.lsl import needs_layer, warn_of_layer
from eyelid.stream.sinks.lsl_outlet import LslSink
from eyelid.stream.sinks.sink import Consumer, Sink, Stage
from eyelid.stream.sinks.websocket_client import WebSocketClientSink
from eyelid.stream.sinks.websocket_server import WebSocketServerSink
from eyelid.stream.websocket import (
    checked_url,
    host_and_port,
    needs_websockets,
    warn_of_network,
    warn_of_wire,
)

__all__ = ["Consumer", "Sink", "Stage", "sink_of"]

TOKEN_VARIABLE = "EYELID_SINK_TOKEN"
KINDS: dict[str, Sequence[str]] = {"lsl": (), "ws": ("format",), "ws-serve": ()}


def sink_of(
    text: str,
    *,
    token_file: Path | None = None,
    origins: Sequence[str] = (),
    lsl_scope: str = "machine",
    tell: Callable[[str], None] = lambda text: None,
) -> Sink:
    """The sink that somebody wrote.

    Args:
        text: ``lsl:NAME``, ``ws://HOST:PORT`` or ``ws-serve:HOST:PORT``, with options behind it.
        token_file: holds the token for apps.
        origins: of web pages that may connect.
        lsl_scope: how far the Lab Streaming Layer reaches.
        tell: is told what a person should know.
    """
    where = address(text, KINDS, "sink")
    if where.kind == "lsl":
        if not where.place:
            raise InputError("lsl: needs a name for the stream: write it as lsl:NAME")
        needs_layer()
        warn_of_layer(lsl_scope, tell)
        return LslSink(text, where.place, lsl_scope)
    needs_websockets()
    if where.kind == "ws":
        token = find_token(token_file, TOKEN_VARIABLE, tell)
        url = checked_url(where.place)
        warn_of_wire(url, "what is released", tell)
        return WebSocketClientSink(text, url, token, format_named(where.options))
    host, port = host_and_port(where.place)
    warn_of_network(host, tell)
    access = Access(token_or_new(token_file, TOKEN_VARIABLE, tell), checked_origins(origins))
    return WebSocketServerSink(text, host, port, access)
