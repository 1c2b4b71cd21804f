"""Sources and sinks from one text each, such as ``file:gaze.csv,person=P01``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelid.errors import InputError, unknown
from eyelid.io.column_map import Map
from eyelid.stream import lsl
from eyelid.stream.access import Access, checked_origins, find_token, token_or_new
from eyelid.stream.connections import (
    checked_url,
    host_and_port,
    needs_websockets,
    warn_of_network,
    warn_of_wire,
)
from eyelid.stream.endpoints import Scenery, Sink, Source, Speed
from eyelid.stream.frames import Format, format_named
from eyelid.stream.replay import recorded, simulated
from eyelid.stream.websocket import (
    WebSocketClientSink,
    WebSocketClientSource,
    WebSocketServerSink,
    WebSocketServerSource,
)

SOURCES: dict[str, Sequence[str]] = {
    "simulate": ("rate", "minutes", "task", "seed"),
    "file": ("person", "recording", "eye"),
    "lsl": lsl.OPTIONS,
    "ws": ("format", "rate"),
    "ws-serve": ("rate",),
}
SINKS: dict[str, Sequence[str]] = {"lsl": (), "ws": ("format",), "ws-serve": ()}
_SOURCE_TOKEN, _SINK_TOKEN = "EYELID_SOURCE_TOKEN", "EYELID_SINK_TOKEN"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Address:
    """A kind, a place and options.

    Attributes:
        text: as the user wrote it.
        kind: what it is: the word before the colon.
        place: where it is, if that means anything.
        options: the rest.
    """

    text: str
    kind: str
    place: str
    options: dict[str, str]

    def number(self, name: str, default: float | None = None) -> float | None:
        """An option that is a number."""
        if name not in self.options:
            return default
        try:
            return float(self.options[name])
        except ValueError:
            raise InputError(
                f"{name} of '{self.text}' must be a number, got '{self.options[name]}'"
            ) from None


def address(text: str, kinds: Mapping[str, Sequence[str]], what: str) -> Address:
    """Take a text apart.

    Args:
        text: ``KIND``, ``KIND:PLACE`` or either with ``,name=value`` behind it; ``ws://…`` is of
            the kind ``ws``.
        kinds: that there are, with their options.
        what: it is to be, for complaints.

    >>> address("file:a,b.csv,person=P01", {"file": ["person"]}, "source")
    Address(text='file:a,b.csv,person=P01', kind='file', place='a,b.csv', options={'person': 'P01'})
    >>> address("simulate:rate=120", {"simulate": ["rate"]}, "source").options
    {'rate': '120'}
    """
    url = re.match(r"wss?://", text)
    kind, _, place = ("ws", "", text) if url else text.partition(":")
    if kind not in kinds:
        raise unknown(what, kind, kinds)
    options: dict[str, str] = {}
    # From the end, so that a path may have commas.
    named = re.compile(rf"(?:^|,)({'|'.join(kinds[kind]) or '(?!)'})=([^,]*)$")
    while option := named.search(place):
        if option[1] in options:
            raise InputError(f"{what} '{text}' has {option[1]} twice: give it once")
        options[option[1]] = option[2].strip()
        place = place[: option.start()]
    return Address(text, kind, place, dict(reversed(options.items())))


def source_of(
    text: str,
    *,
    speed: Speed = "real",
    token_file: Path | None = None,
    lsl_scope: str = "machine",
    tell: Tell = lambda text: None,
    map: Map = None,
) -> Source:
    """The source that the user wrote.

    Args:
        text: ``simulate``, ``file:PATH``, ``lsl:NAME``, ``ws://HOST:PORT`` or
            ``ws-serve:HOST:PORT``, with options behind it.
        speed: ``real`` or ``full``, of what is replayed.
        token_file: holds the token for trackers.
        lsl_scope: how far the Lab Streaming Layer reaches.
        tell: is told what a person should know.
        map: what the columns of a file mean.
    """
    where = address(text, SOURCES, "source")
    if speed not in ("real", "full"):
        raise unknown("speed", speed, ("real", "full"))
    if map is not None and where.kind != "file":
        raise InputError(f"--map says what columns of a file mean, and source '{text}' is none")
    if where.kind == "simulate":
        return _simulated(where, speed)
    if where.kind == "file":
        return recorded(text, where.place, where.options, speed, tell, map)
    if speed == "full":
        raise InputError(f"source '{text}' is live: only what is replayed has a full speed")
    scenery = Scenery(_rate_of(where))
    if where.kind == "lsl":
        if not where.place:
            raise InputError("lsl: needs the name of a stream: write it as lsl:NAME")
        channels = {name: where.options[name] for name in "xyz" if name in where.options}
        lsl.needs_layer()
        lsl.warn_of_layer(lsl_scope, tell, raw=True)
        return lsl.LslSource(text, scenery, where.place, channels, lsl_scope)
    needs_websockets()
    if where.kind == "ws":
        server = _their_server(where, "raw gaze", token_file, _SOURCE_TOKEN, tell)
        return WebSocketClientSource(text, scenery, *server)
    host, port = _our_server(where, tell)
    access = Access(token_or_new(token_file, _SOURCE_TOKEN, tell))
    return WebSocketServerSource(text, scenery, host, port, access)


def sink_of(
    text: str,
    *,
    token_file: Path | None = None,
    origins: Sequence[str] = (),
    lsl_scope: str = "machine",
    tell: Tell = lambda text: None,
) -> Sink:
    """The sink that the user wrote.

    Args:
        text: ``lsl:NAME``, ``ws://HOST:PORT`` or ``ws-serve:HOST:PORT``, with options behind it.
        token_file: holds the token for apps.
        origins: of web pages that may connect.
        lsl_scope: how far the Lab Streaming Layer reaches.
        tell: is told what a person should know.
    """
    where = address(text, SINKS, "sink")
    if where.kind == "lsl":
        if not where.place:
            raise InputError("lsl: needs a name for the stream: write it as lsl:NAME")
        lsl.needs_layer()
        lsl.warn_of_layer(lsl_scope, tell)
        return lsl.LslSink(text, where.place, lsl_scope)
    needs_websockets()
    if where.kind == "ws":
        server = _their_server(where, "what is released", token_file, _SINK_TOKEN, tell)
        return WebSocketClientSink(text, *server)
    host, port = _our_server(where, tell)
    access = Access(token_or_new(token_file, _SINK_TOKEN, tell), checked_origins(origins))
    return WebSocketServerSink(text, host, port, access)


def _simulated(where: Address, speed: Speed) -> Source:
    if where.place:
        raise InputError(f"source '{where.text}' has no '{where.place}': write simulate:rate=120")
    seed = where.number("seed")
    return simulated(
        where.text,
        where.number("rate", 120.0) or 0.0,
        where.number("minutes", 5.0) or 0.0,
        where.options.get("task", "comic"),
        None if seed is None else int(seed),
        speed,
    )


def _their_server(
    where: Address, what: str, token_file: Path | None, variable: str, tell: Tell
) -> tuple[str, str | None, Format]:
    """Where to connect to, with which token, and how to speak there."""
    token = find_token(token_file, variable, tell)
    url = checked_url(where.place)
    warn_of_wire(url, what, tell)
    return url, token, format_named(where.options)


def _our_server(where: Address, tell: Tell) -> tuple[str, int]:
    """Where to listen."""
    host, port = host_and_port(where.place)
    warn_of_network(host, tell)
    return host, port


def _rate_of(where: Address) -> float | None:
    rate_hz = where.number("rate")
    if rate_hz is not None and not 0 < rate_hz < 1e6:
        raise InputError(f"rate of '{where.text}' must be positive, got {rate_hz:g}")
    return rate_hz
