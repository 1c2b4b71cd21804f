"""What only the owner can say of a dataset: the fields at the top of its data card."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from eyelid.errors import InputError, unknown

_FIRST = "\n## "
_SECTION = re.compile(r"\n## About this dataset\n\n(?:- \*\*.*\n)+")


@dataclass(frozen=True)
class DatasetFields:
    r"""Name, contact, licence and date of a dataset, as its owner states them.

    What is not stated stays on the card as a field to fill. Nothing is read off the clock or the
    data, so that the cards of neighbouring datasets are the same.

    Attributes:
        name: of the dataset.
        contact: whom to write to.
        licence: what others may do with it.
        date: of publication.

    >>> print(DatasetFields(name="Reading, 2026").atop("# Data card\n\n## What was done\n"))
    # Data card
    <BLANKLINE>
    ## About this dataset
    <BLANKLINE>
    - **Name**: Reading, 2026
    - **Contact**: [to fill in: whom to write to]
    - **Licence**: [to fill in: what others may do with the data]
    - **Date**: [to fill in: when it was published]
    <BLANKLINE>
    ## What was done
    <BLANKLINE>
    """

    name: str = "[to fill in: what the dataset is called]"
    contact: str = "[to fill in: whom to write to]"
    licence: str = "[to fill in: what others may do with the data]"
    date: str = "[to fill in: when it was published]"

    @classmethod
    def of(cls, stated: Mapping[str, Any] | Path | str | None) -> DatasetFields:
        """Fields as stated in Python, or in a TOML file with lines like ``name = "Reading"``."""
        if stated is None:
            return cls()
        if not isinstance(stated, Mapping):
            stated = _read(Path(stated))
        known = [field.name for field in fields(cls)]
        for name, value in stated.items():
            if name not in known:
                raise unknown("field of a data card", name, known)
            # A line break would end the field, and begin whatever follows.
            if not str(value).strip() or len(str(value).splitlines()) > 1:
                raise InputError(f"card: {name} must be one line of text, got {str(value)!r}")
        return cls(**{name: str(value).strip() for name, value in stated.items()})

    def atop(self, card: str) -> str:
        """A data card with these fields above its sections, below a warning at its top."""
        stated = (
            f"- **{field.name.capitalize()}**: {getattr(self, field.name)}\n"
            for field in fields(self)
        )
        section = f"\n## About this dataset\n\n{''.join(stated)}"
        return card.replace(_FIRST, f"{section}{_FIRST}", 1)


BLANK = DatasetFields()
"""Every field to fill in."""


def without_fields(card: str) -> str:
    """A data card less what its owner stated."""
    return _SECTION.sub("", card, count=1)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"card: cannot read {file} ({error}); write a TOML file with the lines you know of "
            'name = "…", contact = "…", licence = "…", date = "…"'
        ) from error
