"""How names and counts are written, and when two names are one."""

from __future__ import annotations

import re
import unicodedata


def spelt_alike(name: str) -> str:
    """A name without what people write in one way or another: case, spaces, leading zeros.

    >>> spelt_alike("P 01") == spelt_alike("p1"), spelt_alike("Zoë") == spelt_alike("ZOË")
    (True, True)
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    # Folding may take letters apart again.
    plain = unicodedata.normalize("NFKC", "".join(plain.split()))
    return re.sub(r"(?<!\d)0+(?=\d)", "", plain)


def plural(count: int, word: str, words: str | None = None) -> str:
    """A count with its word.

    >>> plural(1, "row"), plural(2, "row"), plural(3, "person", "people")
    ('1 row', '2 rows', '3 people')
    """
    return f"{count} {word if count == 1 else words or word + 's'}"
