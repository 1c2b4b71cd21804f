"""Who may connect: a token, and the origins of web pages."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from eyelid.errors import InputError

if TYPE_CHECKING:
    from websockets.http11 import Request

TOKEN_PREFIX = "token."
_LEAST_CHARACTERS = 16
# What may stand in a header and in a subprotocol.
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]+")


@dataclass(frozen=True)
class Refusal:
    """Why somebody may not connect.

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
        """Why somebody may not connect, before anything else is said to them."""
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
    return hmac.compare_digest(*(each.encode(errors="surrogateescape") for each in (one, other)))


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
            found, where = file.read_text(encoding="utf-8").strip(), str(file)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read a token from {file}: {error}") from None
        if os.name == "posix" and file.stat().st_mode & 0o077:
            tell(f"{file} holds a token, and others can read or change it: chmod 600 {file}")
    elif variable in os.environ:
        found, where = os.environ[variable].strip(), variable
    else:
        return None
    if len(found) < _LEAST_CHARACTERS or not _TOKEN.fullmatch(found):
        raise InputError(
            f"the token in {where} is not at least {_LEAST_CHARACTERS} letters, digits, '-', '_', "
            "'.' or '~': write such a text there, made by chance"
        )
    return found


def token_or_new(file: Path | None, variable: str, tell: Callable[[str], None]) -> str:
    """The token that somebody gave, or a new one, which they are told once."""
    found = find_token(file, variable, tell)
    if found is None:
        found = secrets.token_urlsafe(24)
        tell(f"{variable}={found} (made for this run; set it, or a file, to keep one)")
    return found


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
