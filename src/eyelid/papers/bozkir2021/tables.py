"""Which tables the paper has: what each recognises, of whom, and with or without a vote."""

from __future__ import annotations

from typing import NamedTuple

from eyelid.papers.bozkir2021.recognition import PERSON
from eyelid.papers.bozkir2021.sources import PRIVACY

TASK, GENDER = "task", "gender"


class Table(NamedTuple):
    """One of the paper's.

    Attributes:
        number: in the paper.
        target: what is recognised.
        voted: whether the windows of a recording vote.
        title: in words.
    """

    number: int
    target: str
    voted: bool
    title: str

    @property
    def name(self) -> str:
        """As the paper calls it."""
        return f"Table {self.number}"


TABLES_OF_READERS = (
    Table(1, TASK, True, "Document type, with majority vote"),
    Table(2, GENDER, True, "Gender, with majority vote"),
    Table(3, PERSON, True, "Person identification, with majority vote"),
    Table(6, TASK, False, "Document type, per window"),
    Table(7, GENDER, False, "Gender, per window"),
    Table(8, PERSON, False, "Person identification, per window"),
)
TABLES_OF_DAILY_LIFE = (
    Table(4, PRIVACY, False, "Privacy sensitivity of the scene, per window"),
    Table(5, PERSON, True, "Person identification, with majority vote"),
    Table(9, PERSON, False, "Person identification, per window"),
)
