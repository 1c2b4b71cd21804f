"""How names and counts are written, and when two names are one."""

from __future__ import annotations

import re
import unicodedata

_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


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


def readable(number: float | str) -> str:
    """A number, or its text, for people: large ones in full with commas.

    >>> readable("3.119e+04"), readable(2079.0), readable("0.25"), readable("1e-06")
    ('31,190', '2079', '0.25', '1e-06')
    """
    value = float(number)
    if 1e4 <= abs(value) < 1e15:
        return f"{value:,.15g}"
    return number if isinstance(number, str) else f"{value:.15g}"
