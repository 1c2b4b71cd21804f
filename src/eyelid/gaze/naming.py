"""Names of people, tasks and stimuli: each once, and written in one way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from eyelid.errors import InputError
from eyelid.spelling import spelt_alike


def check_people(names: pl.Series, people: pl.DataFrame) -> None:
    """Fail unless the list has every person with rows, once.

    Args:
        names: of everybody who has rows, each once.
        people: one row a person.
    """
    everybody = names.to_list()
    _check_spelt(everybody, "people", "person", spelt_alike)
    twice = people["person"].filter(people["person"].is_duplicated())
    if len(twice):
        raise InputError(f"person {twice[0]} has more than one row in people.csv: keep one")
    known = set(people["person"].to_list())
    unknown = [name for name in everybody if name not in known]
    if unknown:
        raise InputError(f"person {unknown[0]} has data but no row in people.csv: add one")


def check_shown(rows: pl.DataFrame) -> None:
    """Fail where tasks, or stimuli, differ only in how they are written: means would be apart.

    Args:
        rows: of a study, or one for each task and stimulus.
    """
    for name, many in (("task", "tasks"), ("stimulus", "stimuli")):
        if name in rows.columns:
            names = rows[name].unique(maintain_order=True).drop_nulls().cast(pl.String)
            named = [each for each in names if each.strip()]
            _check_spelt(named, many, name, _without_case)


def _without_case(name: str) -> str:
    """What a task or stimulus is called, without case and needless spaces.

    Numbers stay as they are: of pictures, 1 and 01 may be two.
    """
    return " ".join(name.split()).casefold()


def _check_spelt(names: Sequence[str], many: str, one: str, plainly: Callable[[str], str]) -> None:
    """Refuse two names of what may be one thing."""
    plain: dict[str, str] = {}
    for name in names:
        same = plain.setdefault(plainly(name), name)
        if same != name:
            raise InputError(
                f"{many} '{same}' and '{name}' differ only in how their names are written: "
                f"are they one {one}? Write them alike, or give them other names"
            )
