"""The proof note: what a mechanism takes and protects, why that is true, and whose idea it was."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import dataclass, field, fields

# As wide as the text of a docstring may be.
_WIDTH = 96
_OPERATOR = re.compile(r" ([=≤≥<>+−∝∈]) ")


@dataclass(frozen=True)
class ProofNote:
    """What a mechanism says for itself, as data: cards and help are made from it.

    Docstrings are gone under ``python -OO``, so that nothing a release needs may live in them. The
    class that declares a note has it appended to its own docstring, for readers of the reference.

    Attributes:
        summary: what is released, in a line; the first line of the class's docstring.
        takes: the input, and how it is clipped.
        protects: unit, neighbours and guarantee.
        why: sensitivity and calibration, in a few lines of formula.
        paper: the citation, and where we differ.
        remarks: further paragraphs, where something else has to be said.

    >>> note = ProofNote("Nothing.", takes="a table", protects="all", why="it is empty", paper="–")
    >>> print(note)
    Nothing.
    <BLANKLINE>
    Takes: a table
    <BLANKLINE>
    Protects: all
    <BLANKLINE>
    Why: it is empty
    <BLANKLINE>
    Paper: –
    """

    summary: str
    takes: str = field(repr=False, kw_only=True)
    protects: str = field(repr=False, kw_only=True)
    why: str = field(repr=False, kw_only=True)
    paper: str = field(repr=False, kw_only=True)
    remarks: tuple[str, ...] = field(default=(), repr=False, kw_only=True)

    def __post_init__(self) -> None:
        # Lines are broken where the source has room, which says nothing.
        for item in fields(self):
            said = getattr(self, item.name)
            alike = _joined(said) if isinstance(said, str) else tuple(_joined(p) for p in said)
            if not alike and item.name != "remarks":
                raise ValueError(f"a proof note needs its {item.name}")
            object.__setattr__(self, item.name, alike)

    def __set_name__(self, owner: type, name: str) -> None:
        """Add the note to the docstring of the class that declares it, after its first line."""
        if owner.__doc__ is None:
            return
        summary, _, rest = inspect.cleandoc(owner.__doc__).partition("\n\n")
        owner.__doc__ = "\n\n".join(filter(None, [summary, self._parts(), rest]))

    def _parts(self) -> str:
        """Everything but the summary, a paragraph each."""
        parts = [
            f"Takes: {self.takes}",
            f"Protects: {self.protects}",
            f"Why: {self.why}",
            *self.remarks,
            f"Paper: {self.paper}",
        ]
        return "\n\n".join(map(_wrapped, parts))

    def __str__(self) -> str:
        """The whole note, as help shows it."""
        return f"{self.summary}\n\n{self._parts()}"


def _joined(text: str) -> str:
    """A paragraph on one line."""
    return " ".join(text.split())


def _wrapped(paragraph: str) -> str:
    """A paragraph in lines, which do not end inside a formula."""
    kept = _OPERATOR.sub("\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", paragraph)
    lines = textwrap.fill(kept, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ")
