"""Who may connect: a token, the origins of web pages, and how many wait at the door without one.

A new connection is never turned away for the others that are there. The oldest that has not said
what it wants goes instead: first of the same address, then of the address that has the most. So a
program that connects and is silent only drives out others like itself.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from eyelid.errors import InputError

if TYPE_CHECKING:
    from websockets.http11 import Request

C = TypeVar("C")
TOKEN_PREFIX = "token."
_LEAST_CHARACTERS = 16
# Who has an IPv6 address usually has all that begin with the same bits.
_OWN_BITS = 64
# What may stand in a header and in a subprotocol.
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]+")


@dataclass(frozen=True)
class Refusal:
    """Why a client may not connect.

    Attributes:
        why: in a word or two, for counting.
        status: of HTTP.
        answer: what they are told.
    """

    why: str
    status: int
    answer: str


_NO_TOKEN = Refusal("no token", 401, "A token is needed: Authorization: Bearer TOKEN\n")
_WRONG_TOKEN = Refusal("wrong token", 401, "This is not the token\n")
_ORIGIN = Refusal("origin", 403, "This origin is not allowed: --origin ORIGIN\n")


@dataclass(frozen=True)
class Access:
    """Who may connect to a server of ours.

    The token comes in the header ``Authorization: Bearer TOKEN``, or, since web pages cannot set
    headers, as a subprotocol ``token.TOKEN`` beside the one of the format. It never comes in the
    URL, which logs and histories keep. There is no TLS: beyond this machine, tokens and gaze can be
    read on their way unless something else encrypts them.

    Attributes:
        token: what everybody must have.
        origins: of web pages that may connect; programs that are no browser have none.
    """

    token: str = field(repr=False)
    origins: tuple[str, ...] = ()

    def refuse(self, request: Request) -> Refusal | None:
        """Why a client may not connect, before anything else is said to them."""
        tokens = _tokens_of(request)
        if not any(alike(shown, self.token) for shown in tokens):
            return _WRONG_TOKEN if tokens else _NO_TOKEN
        origin = request.headers.get("Origin")
        return _ORIGIN if origin is not None and origin not in self.origins else None


def alike(one: str, other: str) -> bool:
    r"""In constant time, so that a token cannot be guessed letter by letter.

    >>> alike("t\udcff", "token"), alike("token", "token")
    (False, True)
    """
    # A header may have bytes that are no text.
    return hmac.compare_digest(*(text.encode(errors="surrogateescape") for text in (one, other)))


def _tokens_of(request: Request) -> list[str]:
    shown = []
    for value in request.headers.get_all("Authorization"):
        kind, _, token = value.partition(" ")
        if kind.lower() == "bearer":
            shown.append(token.strip())
    for value in request.headers.get_all("Sec-WebSocket-Protocol"):
        offered = [name.strip() for name in value.split(",")]
        shown += [
            name.removeprefix(TOKEN_PREFIX) for name in offered if name.startswith(TOKEN_PREFIX)
        ]
    return shown


def find_token(
    file: Path | None, variable: str, tell: Callable[[str], None] = lambda text: None
) -> str | None:
    """The token in a file, or else in an environment variable; None where neither is.

    Args:
        file: that holds the token and nothing else.
        variable: of the environment.
        tell: is told where others of this machine can read the file.
    """
    if file is not None:
        try:
            token, where = file.read_text(encoding="utf-8").strip(), str(file)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read a token from {file}: {error}") from None
        if os.name == "posix" and file.stat().st_mode & 0o077:
            tell(f"{file} holds a token, and others can read or change it: chmod 600 {file}")
    elif variable in os.environ:
        token, where = os.environ[variable].strip(), variable
    else:
        return None
    if len(token) < _LEAST_CHARACTERS or not _TOKEN.fullmatch(token):
        raise InputError(
            f"the token in {where} is not at least {_LEAST_CHARACTERS} letters, digits, '-', '_', "
            "'.' or '~': write such a text there, made by chance"
        )
    return token


def token_or_new(file: Path | None, variable: str, tell: Callable[[str], None]) -> str:
    """The token that the user gave, or a new one, which they are told once."""
    token = find_token(file, variable, tell)
    if token is None:
        token = secrets.token_urlsafe(24)
        tell(f"{variable}={token} (made for this run; set it, or a file, to keep one)")
    return token


def checked_origins(origins: Sequence[str]) -> tuple[str, ...]:
    """Origins as browsers send them.

    >>> checked_origins(["http://localhost:8000/"])
    ('http://localhost:8000',)
    """
    for origin in origins:
        if not re.fullmatch(r"https?://[^/*\s]+/?", origin):
            raise InputError(
                f"origin '{origin}' is not the beginning of a web address: write it as "
                "http://localhost:8000"
            )
    return tuple(origin.rstrip("/") for origin in origins)


def neighbourhood(host: str) -> str:
    """Addresses that one machine can take, under one name.

    >>> neighbourhood("192.0.2.7"), neighbourhood("::ffff:192.0.2.7")
    ('192.0.2.7', '192.0.2.7')
    >>> neighbourhood("2001:db8::1") == neighbourhood("2001:db8::2:1")
    True
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _OWN_BITS), strict=False))


@dataclass
class Strangers(Generic[C]):
    """Connections without a token, the oldest first.

    Attributes:
        most: at once.
        most_of: an address may have at once.
    """

    most: int
    most_of: Callable[[str], int]
    _there: dict[C, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._there)

    def __contains__(self, one: object) -> bool:
        return one in self._there

    def add(self, one: C, host: str) -> None:
        """Count a new connection.

        Args:
            one: the connection.
            host: its address.
        """
        self._there[one] = neighbourhood(host)

    def discard(self, one: C) -> bool:
        """Count a connection no longer; whether it was counted."""
        return self._there.pop(one, None) is not None

    def surplus(self, may_go: Callable[[C], bool]) -> list[C]:
        """Connections that are too many, which are no longer counted.

        Args:
            may_go: whether a connection has nothing to lose: what it asks for is not being
                answered at this moment.

        >>> strangers = Strangers(2, lambda host: 2)
        >>> for name in ("a", "b", "c"):
        ...     strangers.add(name, "127.0.0.1")
        >>> strangers.surplus(lambda name: True), len(strangers)
        (['a'], 2)
        """
        counts = Counter(self._there.values())
        gone = []
        for one, host in list(self._there.items()):
            if counts[host] > self.most_of(host) and may_go(one):
                counts[host] -= 1
                gone.append(one)
                del self._there[one]
        while len(self._there) > self.most:
            idle = [(one, host) for one, host in self._there.items() if may_go(one)]
            if not idle:
                break
            # The first of those that are alike: the oldest.
            one, host = max(idle, key=lambda pair: counts[pair[1]])
            counts[host] -= 1
            gone.append(one)
            del self._there[one]
        return gone
