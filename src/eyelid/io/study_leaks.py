"""What a study gives away besides gaze, and the study without it.

Clocks, names, paths, and what singles people out. All of it is decided by an excerpt: a few rows of
many, which say as much about it as all of them. Names of people, recordings, tasks and stimuli are
all there, and of every label what could give people away.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import EVENT_COLUMNS, INDEX_COLUMNS, RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.layout import HEAD, MEASURES
from eyelid.io.leaks import (
    Finding,
    are_plain_takes,
    is_clock,
    is_code,
    is_pseudonym,
    leak_of_field,
    leaks_in_text,
    short,
    telling_takes,
)
from eyelid.io.row_changes import Recorded

T = TypeVar("T", Study, FeatureTable)

# Of fewer people, everybody has something of their own.
_FEWEST = 3
# A value that only one person has, for this share of them, is as good as a name.
_ALMOST_ALL = 0.9
_SHORTEST_NAME = 3
_NUMBERED = re.compile(r"(?P<kind>\D*)0*(?P<number>\d{1,6})")
_COLUMNS = {*INDEX_COLUMNS, "eye", "duration_ms", *MEASURES, *HEAD}
_EVENT_COLUMNS = {*EVENT_COLUMNS, "eye"}


def findings(study: Study, where: str) -> Iterator[Finding]:
    """What the tables of a study give away besides gaze.

    Args:
        study: any.
        where: how to name it in the findings.
    """
    plan = planned(study)
    for person in study.people["person"]:
        if not is_code(person):
            yield Finding(
                f"{where}, person", "what may be a name", short(person), "gives a pseudonym"
            )
    takes = _takes(study) if plan.numbered else study.data.clear()
    if plan.numbered and not _are_called_like_people(takes):
        names, known = takes["recording"].unique(maintain_order=True), _known_names(takes, study)
        telling = next(telling_takes(names, known), None)
        what = "names of recordings that say more than a number"
        if telling is None:
            what = "numbers of recordings that not everybody has: they may tell who came when"
        yield Finding(
            f"{where}, recording",
            what,
            short(names[0] if telling is None else telling),
            "numbers the recordings of each person",
        )
    for name, told_names in plan.names.items():
        for old in told_names:
            what = next(iter(leaks_in_text(old)), ("a path or a name", old))[0]
            yield Finding(f"{where}, {name}", what, short(old), "keeps the last part, or a number")
    needless, drops = "a column that no study needs", "drops the column"
    free_text, shortened = "free text", "drops its definition and unit"
    leaks = [
        *[(f"column {name}", what, name, drops) for name, what in plan.labels.items()],
        *[(f"feature {name}", free_text, name, shortened) for name in plan.features],
        *[(f"column {name}", needless, name, drops) for name in plan.needless],
        *[(f"people's {n}", what, n, "drops the attribute") for n, what in plan.attributes.items()],
    ]
    if is_clock(study.data["time_ms"].drop_nulls().head(1)):
        first = f"{study.data['time_ms'][0]:.0f}"
        leaks.append(("time_ms", "a date or time of day", first, "starts recordings at 0"))
    leaks += [(f"events' {name}", needless, name, drops) for name in plan.event_columns]
    for name in plan.event_names:
        what = next(iter(leaks_in_text(name)), ("a name", name))[0]
        leaks.append(("names of events", what, short(name), "calls the event other"))
    yield from (Finding(f"{where}, {place}", *rest) for place, *rest in leaks)


@dataclass(frozen=True)
class ScrubPlan:
    """What is to be taken out of a study, decided for all of it: see `planned`.

    Attributes:
        labels: to be dropped, with what they are.
        needless: columns that no study needs, to be dropped.
        attributes: of people, to be dropped, with what they are.
        features: whose unit and definition go.
        numbered: whether recordings become numbers.
        names: of tasks and stimuli, with what they become.
        event_columns: to be dropped.
        event_names: of events that are called other.
    """

    labels: Mapping[str, str]
    needless: tuple[str, ...]
    attributes: Mapping[str, str]
    features: tuple[str, ...]
    numbered: bool
    names: Mapping[str, Mapping[str, str]]
    event_columns: tuple[str, ...] = ()
    event_names: tuple[str, ...] = ()


def planned(study: Study) -> ScrubPlan:
    """What is to be taken out of a study.

    Args:
        study: all of it, or everything about it with an excerpt of its rows and events
            (`eyelid.io.study_leaks`).
    """
    plan = ScrubPlan(
        labels=_telling_columns(study, study.data, study.labels, personal=False),
        needless=tuple(_needless(study)),
        attributes=_telling_columns(study, study.people, study.people.columns, personal=True),
        features=tuple(_telling_features(study)),
        numbered=not _are_plain(_takes(study), study),
        names={name: _telling_names(study, name) for name in ("task", "stimulus")},
    )
    if study.events is None:
        return plan
    return replace(
        plan,
        event_columns=tuple(n for n in study.events.columns if n not in _EVENT_COLUMNS),
        event_names=tuple(_telling_event_names(study, study.events)),
    )


def scrubbed(study: Study, plan: ScrubPlan | None = None) -> Study:
    """The study without leaks, but for the names of people, which need a ledger: `renamed`.

    Every recording starts at time 0. Names of recordings that say more than a number become
    numbers; paths and people's names in the names of tasks and stimuli go; columns that no study
    needs, and labels and attributes that every person has for themselves, are dropped.

    Args:
        study: any, or some people of one.
        plan: what was decided for the whole study; without it, it is decided by this one.
    """
    plan = planned(study) if plan is None else plan
    people = study.people.drop(*plan.attributes)
    data = study.data.drop(*plan.labels, *plan.needless)
    start = data.group_by(RECORDING_KEY, maintain_order=True).agg(
        pl.col("time_ms").min().alias("start_ms")
    )
    data = _from_zero(data, start, ["time_ms"])
    events = study.events
    if events is not None:
        events = events.drop(plan.event_columns)
        events = events.with_columns(
            pl.col("name").replace(dict.fromkeys(plan.event_names, "other"))
        )
        events = _from_zero(events, start, ["onset_ms", "offset_ms"])
    if plan.numbered:
        numbers = _numbers(_takes(study))
        data = _numbered(data, numbers)
        events = None if events is None else _numbered(events, numbers)
    for name, replacements in plan.names.items():
        if replacements:
            data = data.with_columns(pl.col(name).replace(dict(replacements)))
    features = tuple(
        replace(f, unit="", definition="") if f.name in plan.features else f for f in study.features
    )
    return replace(study, data=data, events=events, people=people, features=features)


def names_to_replace(people: pl.DataFrame, *, ours: bool = True) -> list[str]:
    """The people whose names are no mere codes.

    Args:
        people: of a study.
        ours: whether pseudonyms among them are eyelid's own, and stay.
    """
    names = people["person"].to_list()
    return [name for name in names if not is_code(name) or (not ours and is_pseudonym(name))]


def renamed(recorded: T, pseudonyms: Mapping[str, str]) -> T:
    """A study or table under pseudonyms, in their order: the old order would tell who is who."""
    if not pseudonyms:
        return recorded

    def under(frame: pl.DataFrame) -> pl.DataFrame:
        named = frame.with_columns(pl.col("person").replace(dict(pseudonyms)))
        if named["person"].n_unique() != frame["person"].n_unique():
            raise InputError("two people would get the same name: give them names that are none's")
        return named.sort("person", maintain_order=True)

    done = replace(recorded, data=under(recorded.data), people=under(recorded.people))
    if isinstance(done, Study) and done.events is not None:
        done = replace(done, events=under(done.events))
    return done


def _needless(study: Study) -> list[str]:
    needed = _COLUMNS | {f.name for f in study.features}
    return [n for n in study.data.columns if n not in needed and not n.startswith("label_")]


def _telling_features(study: Study) -> list[str]:
    """Features whose unit or definition is free text that leaks."""
    return [f.name for f in study.features if any(leaks_in_text(f"{f.unit} {f.definition}"))]


def _from_zero(frame: pl.DataFrame, start: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Times since the recording began; rows of recordings that are not there are left out."""
    joined = frame.join(start, on=RECORDING_KEY, how="inner", maintain_order="left")
    begun = pl.col("start_ms")
    # What is left of a large number after the point would tell how large it was.
    since = [pl.when(begun == 0).then(c).otherwise((pl.col(c) - begun).round(3)) for c in columns]
    return joined.with_columns(s.alias(c) for s, c in zip(since, columns, strict=True)).drop(
        "start_ms"
    )


def _takes(study: Study) -> pl.DataFrame:
    """One row a recording, with what it begins with."""
    keys = [c for c in (*RECORDING_KEY, "task", "stimulus") if c in study.data.columns]
    return study.data.select(keys).unique(RECORDING_KEY, keep="first", maintain_order=True)


def _are_called_like_people(takes: pl.DataFrame) -> bool:
    """Whether recordings are called by the codes of their participants, which say it anyway."""
    names = takes["person"].unique().to_list()
    return bool((takes["recording"] == takes["person"]).all()) and all(map(is_code, names))


def _are_plain(takes: pl.DataFrame, study: Study) -> bool:
    """Whether recordings have names that say no more than a number."""
    # A number that only one person's recording has may count who came when.
    of_person = takes.group_by("person").agg(pl.col("recording").sort())["recording"]
    counted = of_person.n_unique() == 1 or all(map(_are_counted, of_person.to_list()))
    names = takes["recording"].unique().to_list()
    return are_plain_takes(names, _known_names(takes, study), numbers=counted)


def _known_names(takes: pl.DataFrame, study: Study) -> set[str]:
    """The names of tasks and stimuli that stay."""
    return {
        value
        for name in ("task", "stimulus")
        if name in takes.columns
        for value in set(takes[name].to_list()) - set(_telling_names(study, name))
        if value
    }


def _are_counted(names: Sequence[str]) -> bool:
    """Whether the recordings of a person are called by the numbers from one: none is left out.

    >>> _are_counted(["r2", "r1", "r3"]), _are_counted(["r1", "r3"])
    (True, False)
    """
    matches = [_NUMBERED.fullmatch(name) for name in names]
    numbers = {int(match["number"]) for match in matches if match is not None}
    kinds = {match["kind"] for match in matches if match is not None}
    return numbers == set(range(1, len(names) + 1)) and len(kinds) == 1


def _numbers(takes: pl.DataFrame) -> pl.DataFrame:
    """A number for each recording of a person."""
    number = (pl.int_range(pl.len()).over("person") + 1).cast(pl.String)
    return takes.select(*RECORDING_KEY, ("r" + number).alias("take"))


def _numbered(frame: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    joined = frame.join(numbers, on=RECORDING_KEY, how="left", maintain_order="left")
    return joined.with_columns(pl.col("take").alias("recording")).drop("take")


def _telling_names(study: Study, column: str) -> dict[str, str]:
    """Names of tasks or stimuli that hold paths, people or other leaks, with what they become."""
    if column not in study.data.columns:
        return {}
    names = [name for name in study.data[column].unique() if name]
    lasts = {name: _last(name) for name in names if "\\" in name or "/" in name}
    leaking = _leaks_or_names(study, [*names, *lasts.values()])
    replacements: dict[str, str] = {}
    taken = set(names)
    # In an order that neither people nor the alphabet know.
    for number, name in enumerate(sorted(names, key=_shuffled), 1):
        last = lasts.get(name)
        if last is None and name not in leaking:
            continue
        clean = "" if last is None or last in leaking else re.sub(r"\.\w{1,5}$", "", last)
        if not clean or clean in taken:
            clean = f"{column}{number}"
        replacements[name] = clean
        taken.add(clean)
    return replacements


def _last(path: str) -> str:
    """The last part of a path.

    >>> _last("C:/pictures/comic.png")
    'comic.png'
    """
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1]


def _leaks_or_names(study: Study, texts: Sequence[str]) -> set[str]:
    """The texts that leak, or hold the name of a person who gets a pseudonym."""
    people = [_letters(person) for person in names_to_replace(study.people)]
    people = [person for person in people if len(person) >= _SHORTEST_NAME]
    plain = pl.Series([_letters(text) for text in texts], dtype=pl.String)
    # All names are looked for at once: texts and people may both be many.
    named = plain.str.contains_any(people) if people else [False] * len(texts)
    return {
        text for text, holds in zip(texts, named, strict=True) if holds or any(leaks_in_text(text))
    }


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _shuffled(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _telling_event_names(study: Study, events: pl.DataFrame) -> list[str]:
    names = events["name"].cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
    leaking = _leaks_or_names(study, names)
    return [name for name in names if name in leaking]


def _telling_columns(
    study: Study, table: pl.DataFrame, names: Sequence[str], *, personal: bool
) -> dict[str, str]:
    """Labels or attributes of people that give them away, and what they are.

    Clocks, free text that leaks, or something of every person's own.

    Args:
        study: all of it.
        table: that has the columns, and ``person``.
        names: of the columns.
        personal: whether they are attributes of people.
    """
    found = {}
    for name in names:
        if name == "person":
            continue
        column = table[name]
        what = leak_of_field(name if personal else name.removeprefix("label_"), personal=personal)
        if what is None and column.dtype == pl.String:
            values = column.drop_nulls().unique(maintain_order=True)
            leaks = (leak for value in values for leak in leaks_in_text(value))
            what = next((kind for kind, _ in leaks), None)
        elif what is None and not personal and is_clock(column.drop_nulls().head(1), seconds=True):
            what = "a date or time of day"
        if what is None and not study.simulated:
            alone = _own_to_everybody(table.select("person", name))
            what = "something of every person's own" if alone else None
        if what is not None:
            found[name] = what
    return found


def _own_to_everybody(pairs: pl.DataFrame) -> bool:
    """Whether each person has one value, and hardly any two the same."""
    person, value = pairs.columns
    distinct = pairs.drop_nulls().unique()
    people = distinct[person].n_unique()
    if people < _FEWEST or len(distinct) != people:
        return False
    return distinct[value].n_unique() >= _ALMOST_ALL * people


_KEYS = INDEX_COLUMNS[:-1]
# Of the values of a label that a person has, two show that it is not one.
_ENOUGH = 2


def excerpt_of(data: pl.DataFrame) -> pl.DataFrame:
    """The rows of a study that matter besides the gaze, in order.

    Args:
        data: of a study, or of some of its people or files; excerpts of parts, one after the other,
            are as good as an excerpt of the whole.

    >>> rows = {"person": ["a", "a", "b"], "recording": ["1", "1", "1"], "time_ms": [0, 1, 0]}
    >>> excerpt_of(pl.DataFrame(rows))["time_ms"].to_list()
    [0, 0]
    """
    keys = [name for name in _KEYS if name in data.columns]
    rows = [_first_of_each(data, keys)["row"]]
    for name in data.columns:
        if name.startswith("label_"):
            values = _first_of_each(data, ["person", name]).drop_nulls(name)
            rows.append(values.filter(pl.int_range(pl.len()).over("person") < _ENOUGH)["row"])
            rows.append(_first_leak(values, name))
    return data[pl.concat(rows).unique().sort()]


def excerpt_of_recorded(recorded: Recorded) -> Recorded:
    """Everything about a study or a file, with an excerpt of its rows and events."""
    events = None if recorded.events is None else excerpt_of_events(recorded.events)
    return replace(recorded, data=excerpt_of(recorded.data), events=events)


def excerpt_of_events(events: pl.DataFrame) -> pl.DataFrame:
    """The first event of each name."""
    return events.unique("name", keep="first", maintain_order=True)


def _first_of_each(data: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The number of the first ``row`` with each combination of values."""
    changed = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in columns)
    runs = data.select(columns).with_row_index("row").filter((pl.col("row") == 0) | changed)
    return runs.unique(columns, keep="first", maintain_order=True)


def _first_leak(values: pl.DataFrame, name: str) -> pl.Series:
    """The row with the first text that gives something away."""
    if values[name].dtype == pl.String:
        for text in values[name].unique(maintain_order=True):
            if any(leaks_in_text(text)):
                return values.filter(pl.col(name) == text)["row"].head(1)
    return values["row"].clear()
