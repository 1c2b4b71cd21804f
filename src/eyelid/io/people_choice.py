"""Whom of a study a command is about: those in a list, or those whom their data choose.

A choice is made once, when a study is read, and the study remembers it. A list is public. Who has
every task, or saw a stimulus, is read off the data: it is not protected, and certificates say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from eyelid.engine.files import content_of
from eyelid.errors import InputError, cannot_read, unknown
from eyelid.gaze.study import CHOSEN_BY_LIST, EVERY_TASK, SAW, Study
from eyelid.io.pieces import StudyInPieces, in_pieces, of_people

_MOST_SHOWN = 5


@dataclass(frozen=True)
class PeopleChoice:
    """Which people of a study are meant.

    Attributes:
        names: of a list; none where the data choose.
        every_task: those who have every task that any person has.
        stimulus: those who saw this one.
    """

    names: tuple[str, ...] = ()
    every_task: bool = False
    stimulus: str | None = None

    @property
    def remembered(self) -> str:
        """What a study remembers of it: how people were chosen, and nobody's name."""
        if self.names:
            return CHOSEN_BY_LIST
        return EVERY_TASK if self.every_task else f"{SAW}{self.stimulus}"

    @property
    def key(self) -> str:
        """What tells this choice from any other."""
        return repr(self)

    def of(self, cut: StudyInPieces) -> list[str]:
        """The people chosen, in the order of the study.

        Args:
            cut: the study.
        """
        everybody = cut.people
        if self.names:
            known = set(everybody)
            absent = [name for name in self.names if name not in known]
            if absent:
                raise _not_there(absent, everybody)
            return [name for name in everybody if name in set(self.names)]
        found = self._who_has_all(cut) if self.every_task else self._who_saw(cut)
        if not found:
            raise InputError(
                f"nobody of {len(everybody)} people is left by the choice '{self.remembered}': "
                "choose others"
            )
        return [name for name in everybody if name in found]

    def _who_has_all(self, cut: StudyInPieces) -> set[str]:
        recordings = cut.recordings
        named = (
            recordings.filter(pl.col("task").fill_null("") != "")
            if "task" in recordings.columns
            else recordings.clear()
        )
        if named.is_empty():
            raise InputError("the study names no task, so nobody can be chosen by having them all")
        tasks = named["task"].n_unique()
        each = named.group_by("person").agg(pl.col("task").n_unique())
        return set(each.filter(pl.col("task") == tasks)["person"])

    def _who_saw(self, cut: StudyInPieces) -> set[str]:
        if self.stimulus not in cut.stimuli:
            raise unknown("stimulus", str(self.stimulus), cut.stimuli)
        return set(cut.shown.filter(pl.col("stimulus") == self.stimulus)["person"])


Whom = PeopleChoice | str | Path | Sequence[str] | None
"""What may be said of whom is meant: see `people_choice`."""


def people_choice(said: Whom) -> PeopleChoice | None:
    """A choice from what the user says; None for everybody.

    Args:
        said: names in a list, or with commas between; ``@FILE`` (or a path) with one name a line;
            ``every-task`` for those who have every task; ``saw:STIMULUS``.

    >>> people_choice("p01, p02").names
    ('p01', 'p02')
    >>> people_choice("saw:page 3").remembered
    'saw:page 3'
    """
    if said is None or isinstance(said, PeopleChoice):
        return said
    if isinstance(said, Path):
        return _listed(_lines(said))
    if not isinstance(said, str):
        return _listed(said)
    if said == EVERY_TASK:
        return PeopleChoice(every_task=True)
    if said.startswith(SAW):
        stimulus = said.removeprefix(SAW).strip()
        if not stimulus:
            raise InputError(f"'{SAW}' needs the name of a stimulus after it")
        return PeopleChoice(stimulus=stimulus)
    if said.startswith("@"):
        return _listed(_lines(Path(said[1:])))
    return _listed(said.split(","))


def counted_or_chosen(
    said: int | Whom, *, study: bool = True
) -> tuple[int | None, PeopleChoice | None]:
    """A number of people, or whom of a study is meant.

    Args:
        said: one or the other.
        study: whether there is one to choose of.
    """
    if isinstance(said, int):
        return said, None
    choice = people_choice(said)
    if choice is not None and not study:
        raise InputError(f"people must be a number without a study, got '{said}'")
    return None, choice


def _listed(names: Sequence[str]) -> PeopleChoice:
    found = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not found:
        raise InputError("the list of people is empty: name some, or leave it out")
    return PeopleChoice(names=found)


def _lines(path: Path) -> list[str]:
    with cannot_read(f"the list of people {path}", OSError, ValueError):
        return content_of(path).decode("utf-8-sig").splitlines()


def _not_there(absent: Sequence[str], everybody: Sequence[str]) -> InputError:
    if len(absent) == 1 and len(everybody) <= 2 * _MOST_SHOWN:
        return unknown("person", absent[0], everybody)
    shown = ", ".join(f"'{name}'" for name in absent[:_MOST_SHOWN])
    more = f" and {len(absent) - _MOST_SHOWN} more" if len(absent) > _MOST_SHOWN else ""
    there = ", ".join(f"'{name}'" for name in everybody[:_MOST_SHOWN])
    return InputError(
        f"unknown person {shown}{more}: the study has no recording of such a name (it has "
        f"{len(everybody)} people, {there}{' …' if len(everybody) > _MOST_SHOWN else ''})"
    )


def chosen_in(cut: StudyInPieces, said: Whom) -> StudyInPieces:
    """A study in pieces of those chosen alone, which remembers how they were.

    Args:
        cut: the study.
        said: as for `people_choice`.
    """
    choice = people_choice(said)
    if choice is None:
        return cut
    found = of_people(cut, choice.of(cut))
    remembered = tuple(dict.fromkeys((*cut.head.chosen, choice.remembered)))
    return replace(found, head=replace(found.head, chosen=remembered))


def chosen_of(study: Study, said: Whom) -> Study:
    """A study in memory of those chosen alone, which remembers how they were.

    Args:
        study: any.
        said: as for `people_choice`.
    """
    choice = people_choice(said)
    if choice is None:
        return study
    return only(study, choice.of(in_pieces(study)), choice.remembered)


def only(study: Study, people: Sequence[str], remembered: str) -> Study:
    """A study in memory of some people alone, which remembers how they were chosen.

    Args:
        study: any.
        people: who is left.
        remembered: how they were chosen.
    """
    mine = pl.col("person").is_in(people)
    return replace(
        study,
        data=study.data.filter(mine),
        people=study.people.filter(mine),
        events=None if study.events is None else study.events.filter(mine),
        chosen=tuple(dict.fromkeys((*study.chosen, remembered))),
    )
