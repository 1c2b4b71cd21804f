"""Where raw gaze comes from: one module a kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eyelid.errors import InputError, unknown
from eyelid.io.column_map import Map
from eyelid.stream.access import Access, find_token, token_or_new
from eyelid.stream.address import Address, address
from eyelid.stream.frames import format_named
from eyelid.stream.lsl import needs_layer, warn_of_layer
from eyelid.stream.sources import lsl_inlet, recorded, simulated
from eyelid.stream.sources.lsl_inlet import LslSource
from eyelid.stream.sources.source import Scenery, Source, Speed, Taker
from eyelid.stream.sources.websocket_client import WebSocketClientSource
from eyelid.stream.sources.websocket_server import WebSocketServerSource
from eyelid.stream.websocket import (
    checked_url,
    host_and_port,
    needs_websockets,
    warn_of_network,
    warn_of_wire,
)

__all__ = ["Scenery", "Source", "Taker", "source_of"]

TOKEN_VARIABLE = "EYELID_SOURCE_TOKEN"
KINDS = {
    "simulate": simulated.OPTIONS,
    "file": recorded.OPTIONS,
    "lsl": lsl_inlet.OPTIONS,
    "ws": ("format", "rate"),
    "ws-serve": ("rate",),
}


def source_of(
    text: str,
    *,
    speed: Speed = "real",
    token_file: Path | None = None,
    lsl_scope: str = "machine",
    tell: Callable[[str], None] = lambda text: None,
    map: Map = None,
) -> Source:
    """The source that somebody wrote.

    Args:
        text: ``simulate``, ``file:PATH``, ``lsl:NAME``, ``ws://HOST:PORT`` or
            ``ws-serve:HOST:PORT``, with options behind it.
        speed: ``real`` or ``full``, of what is replayed.
        token_file: holds the token for trackers.
        lsl_scope: how far the Lab Streaming Layer reaches.
        tell: is told what a person should know.
        map: what the columns of a file mean.
    """
    where = address(text, KINDS, "source")
    if speed not in ("real", "full"):
        raise unknown("speed", speed, ("real", "full"))
    if map is not None and where.kind != "file":
        raise InputError(f"--map says what columns of a file mean, and source '{text}' is none")
    if where.kind == "simulate":
        if where.place:
            raise InputError(f"source '{text}' has no '{where.place}': write simulate:rate=120")
        return simulated.simulated(where, speed)
    if where.kind == "file":
        return recorded.recorded(where, speed, tell, map)
    if speed == "full":
        raise InputError(f"source '{text}' is live: only what is replayed has a full speed")
    scenery = Scenery(_rate_of(where))
    if where.kind == "lsl":
        if not where.place:
            raise InputError("lsl: needs the name of a stream: write it as lsl:NAME")
        channels = {name: where.options[name] for name in "xyz" if name in where.options}
        needs_layer()
        warn_of_layer(lsl_scope, tell, raw=True)
        return LslSource(text, scenery, where.place, channels, lsl_scope)
    needs_websockets()
    if where.kind == "ws":
        token = find_token(token_file, TOKEN_VARIABLE, tell)
        url = checked_url(where.place)
        warn_of_wire(url, "raw gaze", tell)
        return WebSocketClientSource(text, scenery, url, token, format_named(where.options))
    host, port = host_and_port(where.place)
    warn_of_network(host, tell)
    access = Access(token_or_new(token_file, TOKEN_VARIABLE, tell))
    return WebSocketServerSource(text, scenery, host, port, access)


def _rate_of(where: Address) -> float | None:
    rate_hz = where.number("rate")
    if rate_hz is not None and not 0 < rate_hz < 1e6:
        raise InputError(f"rate of '{where.text}' must be positive, got {rate_hz:g}")
    return rate_hz
