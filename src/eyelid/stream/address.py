"""Sources and sinks as one text each, such as ``file:gaze.csv,person=P01``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eyelid.errors import InputError, unknown


@dataclass(frozen=True)
class Address:
    """A kind, a place and options.

    Attributes:
        text: as somebody wrote it.
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
    while found := named.search(place):
        if found[1] in options:
            raise InputError(f"{what} '{text}' has {found[1]} twice: give it once")
        options[found[1]] = found[2].strip()
        place = place[: found.start()]
    return Address(text, kind, place, dict(reversed(options.items())))
