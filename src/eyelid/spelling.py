"""How names and counts are written, and when two names are one."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


class Table(NamedTuple):
    """A table that a person reads: its title, which may be empty, its columns, and its rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


# The same people are asked about many times in a run, and spelling takes its time.
@lru_cache(maxsize=1 << 16)
def spelt_alike(name: str) -> str:
    """A name without what people write in one way or another: case, spaces, leading zeros.

    >>> spelt_alike("P 01") == spelt_alike("p1"), spelt_alike("Zoë") == spelt_alike("ZOË")
    (True, True)
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    # Folding may take letters apart again.
    plain = unicodedata.normalize("NFKC", "".join(plain.split()))
    return _LEADING_ZEROS.sub("", plain) if "0" in plain else plain


def plural(count: int, word: str, words: str | None = None) -> str:
    """A count with its word.

    >>> plural(1, "row"), plural(2, "row"), plural(3, "person", "people")
    ('1 row', '2 rows', '3 people')
    """
    return f"{count} {word if count == 1 else words or word + 's'}"


def in_quotes(command: str) -> str:
    """A command inside of a sentence, in quotes that it does not have itself.

    >>> print(in_quotes("eyelid inspect IN"), in_quotes("eyelid inspect 'my study'"))
    'eyelid inspect IN' `eyelid inspect 'my study'`
    """
    return f"`{command}`" if "'" in command else f"'{command}'"


def readable(number: float | str) -> str:
    """A number, or its text, for people: large ones in full with commas.

    >>> readable("3.119e+04"), readable(2079.0), readable("0.25"), readable("1e-06")
    ('31,190', '2079', '0.25', '1e-06')
    """
    value = float(number)
    if 1e4 <= abs(value) < 1e15:
        return f"{value:,.15g}"
    return number if isinstance(number, str) else f"{value:.15g}"


# What moves the cursor, ends a line, turns text around or is not seen at all; and halves of
# letters, which stand for bytes of a file name that are no text. The two that join letters stay.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_HIDDEN_FROM_JSON = re.compile(_HIDDEN.pattern.replace("\x00-\x1f", ""))
# Letters of Markdown that begin something inside of a line; a backslash before one is one, too.
_MARKDOWN = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[*\[]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)")
_MARKDOWN_BLOCK = re.compile(r"(\s*\d*)(#|>|[-+.)](?=\s|$)|[-=~]{2})")


def on_terminal(text: str, longest: int = 5000) -> str:
    r"""Others' text as a terminal may have it: on one line, all of it visible, none of it obeyed.

    Args:
        text: with names of others in it.
        longest: characters that are shown of it.

    >>> print(on_terminal("ann\x1b[2J\nsafe to share"))
    ann\x1b[2J\nsafe to share
    """
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return _HIDDEN.sub(_visible, shown)


def on_page(text: str) -> str:
    r"""Others' text as a page may have it, which is escaped besides: lines may end in it.

    >>> print(on_page("ann\u202e\nbob"))
    ann\u202e
    bob
    """
    return _HIDDEN.sub(lambda found: found[0] if found[0] in "\n\t" else _visible(found), text)


def in_json(text: str) -> str:
    r"""JSON in which nothing is hidden, of the same meaning.

    >>> print(in_json('"ann\u202e"'))
    "ann\u202e"
    """
    return _HIDDEN_FROM_JSON.sub(_for_json, text)


def json_text(value: Any, **options: Any) -> str:
    r"""The text of a JSON file, for people to read too: indented, in letters, with nothing hidden.

    Args:
        value: what it holds; numbers are finite, unless ``allow_nan=True``.
        options: of `json.dumps`.

    >>> print(json_text({"name": "Zoë\u202e"}), end="")
    {
      "name": "Zoë\u202e"
    }
    """
    said = {"indent": 2, "allow_nan": False} | options
    return in_json(json.dumps(value, ensure_ascii=False, **said)) + "\n"


def json_line(value: Any) -> str:
    r"""JSON on one line, as messages have it: in letters, with nothing hidden, numbers finite.

    >>> print(json_line({"name": "Zoë\u202e"}))
    {"name": "Zoë\u202e"}
    """
    return in_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def in_toml(text: str) -> str:
    r"""A string of TOML, with its quotes, in which nothing is hidden.

    >>> print(in_toml("ann\u202e \U000e0001"))
    "ann\u202e \U000e0001"
    """
    # It escapes as JSON does, but for what lies beyond four digits.
    return _HIDDEN_FROM_JSON.sub(_for_toml, json.dumps(text, ensure_ascii=False))


def in_markdown(text: str) -> str:
    r"""Others' text inside a line of Markdown: it begins no section, list, link, picture or tag.

    >>> print(in_markdown("# safe\n\n## [x](y) <b> fixation_rate"))
    \# safe\n\n## \[x](y) \<b> fixation_rate
    """
    # What stands between backticks cannot be escaped.
    plain = _MARKDOWN.sub(r"\\\g<0>", _HIDDEN.sub(_visible, text).replace("`", "'"))
    block = _MARKDOWN_BLOCK.match(plain)
    return plain if block is None else f"{block[1]}\\{plain[block.end(1) :]}"


def _visible(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _for_toml(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


def _for_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"
