"""What `convert` takes out of a study: clocks, names, paths, and what singles people out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import polars as pl

from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.leaks import (
    EPOCH_MS,
    Finding,
    is_code,
    is_plain_take,
    leak_of_field,
    leaks_in_text,
    short,
)

T = TypeVar("T", Study, FeatureTable)

# Of fewer people, everybody has something of their own.
_FEWEST = 3


def findings(study: Study, where: str) -> Iterator[Finding]:
    """What the tables of a study give away besides gaze.

    Args:
        study: any.
        where: how to name it in the findings.
    """
    for person in study.people["person"]:
        if not is_code(person):
            yield Finding(
                f"{where}, person", "what may be a name", short(person), "gives a pseudonym"
            )
    kept, _ = _takes(study)
    if not kept:
        example = study.data["recording"][0]
        yield Finding(
            f"{where}, recording",
            "names of recordings that say more than a number",
            short(example),
            "numbers the recordings of each person",
        )
    for name in ("task", "stimulus"):
        for old in _telling_names(study, name):
            what = next(iter(leaks_in_text(old)), ("a path", old))[0]
            yield Finding(f"{where}, {name}", what, short(old), "keeps the last part, or a number")
    for name in _telling_labels(study):
        yield Finding(
            f"{where}, column {name}", "something of every person's own", name, "drops the column"
        )
    for name, what in _telling_attributes(study).items():
        yield Finding(f"{where}, people's {name}", what, name, "drops the attribute")
    first = study.data["time_ms"].min()
    if isinstance(first, int | float) and first >= EPOCH_MS:
        yield Finding(
            f"{where}, time_ms", "a date or time of day", f"{first:.0f}", "starts recordings at 0"
        )


def scrubbed(study: Study) -> Study:
    """The study without leaks, but for the names of people, which need a ledger: `renamed`.

    Every recording starts at time 0. Names of recordings that say more than a number become
    numbers; paths in the names of tasks and stimuli go; labels and attributes that every person
    has for themselves are dropped.
    """
    people = study.people.drop(list(_telling_attributes(study)))
    data, events = study.data.drop(_telling_labels(study)), study.events
    start = data.group_by(RECORDING_KEY, maintain_order=True).agg(
        pl.col("time_ms").min().alias("start_ms")
    )
    if study.kind != "features":
        data = _from_zero(data, start, ["time_ms"])
        if events is not None:
            events = _from_zero(events, start, ["onset_ms", "offset_ms"])
    plain, numbers = _takes(study)
    if not plain:
        data = _numbered(data, numbers)
        events = None if events is None else _numbered(events, numbers)
    for name in ("task", "stimulus"):
        told = _telling_names(study, name)
        if told:
            data = data.with_columns(pl.col(name).replace(told))
    return replace(study, data=data, events=events, people=people)


def names_to_replace(people: pl.DataFrame) -> list[str]:
    """The people whose names are no mere codes."""
    return [person for person in people["person"] if not is_code(person)]


def renamed(recorded: T, pseudonyms: Mapping[str, str]) -> T:
    """The same under pseudonyms, and in their order: the old order would tell who is who."""
    if not pseudonyms:
        return recorded

    def under(frame: pl.DataFrame) -> pl.DataFrame:
        named = frame.with_columns(pl.col("person").replace(dict(pseudonyms)))
        return named.sort("person", maintain_order=True)

    done = replace(recorded, data=under(recorded.data), people=under(recorded.people))
    if isinstance(done, Study) and done.events is not None:
        done = replace(done, events=under(done.events))
    return done


def _from_zero(frame: pl.DataFrame, start: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    joined = frame.join(start, on=RECORDING_KEY, how="left", maintain_order="left")
    begun = pl.col("start_ms").fill_null(0.0)
    return joined.with_columns(pl.col(c) - begun for c in columns).drop("start_ms")


def _takes(study: Study) -> tuple[bool, pl.DataFrame]:
    """Whether recordings have plain names, and a number for each recording of a person."""
    keys = [c for c in (*RECORDING_KEY, "task", "stimulus") if c in study.data.columns]
    takes = study.data.select(keys).unique(RECORDING_KEY, maintain_order=True)
    known = {
        value
        for name in ("task", "stimulus")
        if name in takes.columns
        for value in takes[name].unique().to_list()
        if value and next(iter(leaks_in_text(value)), None) is None
    }
    plain = all(is_plain_take(name, known) for name in takes["recording"].unique())
    number = (pl.int_range(pl.len()).over("person") + 1).cast(pl.String)
    return plain, takes.select(*RECORDING_KEY, ("r" + number).alias("take"))


def _numbered(frame: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    joined = frame.join(numbers, on=RECORDING_KEY, how="left", maintain_order="left")
    return joined.with_columns(pl.col("take").alias("recording")).drop("take")


def _telling_names(study: Study, column: str) -> dict[str, str]:
    """Names of tasks or stimuli that are paths or hold other leaks, with what they become."""
    if column not in study.data.columns:
        return {}
    names = [name for name in study.data[column].unique(maintain_order=True) if name]
    told: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        if "\\" not in name and "/" not in name and not any(leaks_in_text(name)):
            continue
        last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
        clean = re.sub(r"\.\w{1,5}$", "", last)
        taken = set(names) | set(told.values())
        if not clean or any(leaks_in_text(clean)) or clean in taken:
            clean = f"{column}{number}"
        told[name] = clean
    return told


def _telling_labels(study: Study) -> list[str]:
    """Labels in free text that leaks, or with a value of its own for every person."""
    found = []
    for name in study.labels:
        column = study.data[name]
        if column.dtype == pl.String:
            values = column.drop_nulls().unique()
            if any(any(leaks_in_text(value)) for value in values):
                found.append(name)
                continue
        if not study.simulated and _own_to_everybody(study.data.select("person", name)):
            found.append(name)
    return found


def _telling_attributes(study: Study) -> dict[str, str]:
    """Attributes of people that name them, and what they are."""
    found = {}
    for name in study.people.columns:
        if name == "person":
            continue
        column = study.people[name]
        what = leak_of_field(name, personal=True)
        if what is None and column.dtype == pl.String:
            leaks = (leak for value in column.drop_nulls() for leak in leaks_in_text(value))
            what = next((kind for kind, _ in leaks), None)
        if what is None and not study.simulated:
            alone = _own_to_everybody(study.people.select("person", name))
            what = "something of every person's own" if alone else None
        if what is not None:
            found[name] = what
    return found


def _own_to_everybody(pairs: pl.DataFrame) -> bool:
    """Whether each person has one value, and no two the same."""
    person, value = pairs.columns
    distinct = pairs.drop_nulls().unique()
    people = distinct[person].n_unique()
    return people >= _FEWEST and len(distinct) == people == distinct[value].n_unique()
