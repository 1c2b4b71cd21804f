"""What singles participants out besides their gaze: attributes, rates, counts and lengths.

None of it names a participant, and all of it is known to others: together it is as good as a name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.files import MOST_BYTES, content_of
from eyelid.errors import InputError
from eyelid.gaze.study import RECORDING_KEY, Study, track_key
from eyelid.io.files import (
    Head,
    head_of,
    text_table,
)
from eyelid.io.leaks import WARNING, Finding, leak_of_field, plain_field, short
from eyelid.io.raw_tables import (
    MOST_COLUMNS,
    cells,
    is_parquet,
    separator_of,
)

SMALL_GROUP = 5
"""Fewer participants who are alike than these are pointed at by what they share."""
# Of fewer participants, everybody is alone with anything.
_FEWEST = 3
# A column with as many values as participants, or nearly, is a name and no attribute.
_ALMOST_ALL = 0.9
_ATTRIBUTES, _SHOWN = 200, 6
_MOST_CELLS, _MOST_ROWS, _FEW = 1 << 22, 100_000, 100
_LONGEST_TEXT = 300
_REMEDY = "keeps it: drop it or make it coarser"
# What the column of participants is called in tables of others, in lower case letters alone.
_PERSON = {
    *("person", "participant", "participantid", "participantnumber", "participantcode", "pid"),
    *("subject", "subjectid", "subjectnumber", "subj", "subjid", "sub", "subid", "pp", "ppid"),
    *("ppt", "user", "userid", "worker", "workerid", "prolificpid", "prolificid", "uniformid"),
    *("uid", "respondent", "respondentid", "observer", "observerid", "reader", "readerid"),
    *("recordingsessionlabel", "vp", "vpn", "sessionid", "responseid"),
}
_PEOPLE_FILES = re.compile(
    r"(?:participant|people|person|subject|demograph|questionnaire|worker|respondent)",
    re.IGNORECASE,
)
# Numbers with a fraction are measured, unless they are called so.
_ATTRIBUTE = re.compile(
    r"age|birth|height|weight|size|width|acuity|dioptr|iq|income|distance|rate|dpi|diagonal",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QuasiIdentifier:
    """Columns or facts, and how many participants are alone with theirs.

    Attributes:
        columns: of participants, or a fact of their recordings in words.
        people: how many have any.
        people_alone: how many have what nobody else has.
    """

    columns: tuple[str, ...]
    people: int
    people_alone: int

    @property
    def named(self) -> str:
        """The columns, the first ones by name."""
        named = [short(name, 40) for name in self.columns[:_SHOWN]]
        more = len(self.columns) - _SHOWN
        if more > 0:
            named.append(f"{more} more")
        return ", ".join(named)

    def __str__(self) -> str:
        """Say how many are alone, and with what; never the values."""
        one = "is" if self.people_alone == 1 else "are"
        return f"{self.people_alone:,} of {self.people:,} people {one} alone with: {self.named}"


def quasi_identifiers(study: Study) -> list[QuasiIdentifier]:
    """What singles out the participants of a study, each by itself and all attributes together.

    Args:
        study: all of it.
    """
    return [*_of_attributes(_attributes(study)), *_of_recordings(study)]


def warnings_of_study(study: Study, where: str) -> Iterator[Finding]:
    """What singles participants out in a study, as warnings.

    Args:
        study: all of it.
        where: how to name it.
    """
    if study.simulated:
        return
    for found in quasi_identifiers(study):
        yield from _warning(found, f"{where}, people")


def warnings_of_files(
    files: Iterable[Path], root: Path, *, lists: bool = False
) -> Iterator[Finding]:
    """What singles participants out in tables and JSON files that are no study.

    A file that has rows of several participants is judged by itself. Files of one participant each
    are judged together with those of the same folder that have the same columns.

    Args:
        files: any.
        root: what they are part of.
        lists: whether to look at lists of participants alone, because the rest was read.
    """
    alone: dict[tuple[Path, tuple[str, ...]], list[dict[str, Any]]] = {}
    for file in files:
        if lists and not _PEOPLE_FILES.search(file.stem):
            continue
        try:
            people = _people_of_file(file)
        except (InputError, pl.exceptions.PolarsError, OSError, ValueError, RecursionError):
            # That it cannot be read is said where it is looked at for leaks.
            continue
        if people is None or people.is_empty():
            continue
        if len(people) >= _FEWEST:
            name = file.name if file == root else file.relative_to(root).as_posix()
            for found in _of_attributes(people):
                yield from _warning(found, f"{name}, people")
            continue
        names = tuple(sorted(people.columns))
        alike = alone.setdefault((file.parent, names), [])
        if len(alike) < _MOST_ROWS:
            alike += people.with_columns(person=pl.lit(file.name) + pl.col("person")).to_dicts()
    for (folder, _), rows in alone.items():
        if len(rows) >= _FEWEST:
            name = folder.name if folder == root else folder.relative_to(root).as_posix()
            for found in _of_attributes(_frame(rows)):
                yield from _warning(found, f"{name}, {len(rows)} files")


def _warning(found: QuasiIdentifier, where: str) -> Iterator[Finding]:
    if found.people_alone and found.people >= _FEWEST:
        yield Finding(where, "a quasi-identifier", str(found), _REMEDY, WARNING)


def _attributes(study: Study) -> pl.DataFrame:
    """Attributes of participants, and labels that are the same in all that one of them did."""
    people = study.people
    labels = [name for name in study.labels if name not in people.columns]
    if not labels:
        return people
    of_person = study.data.group_by("person").agg(
        *(pl.col(name).drop_nulls().n_unique().alias(name) for name in labels),
        *(pl.col(name).drop_nulls().first().alias(f"{name}\0") for name in labels),
    )
    same = [name for name in labels if (of_person[name] <= 1).all()]
    if not same:
        return people
    values = of_person.select("person", *(pl.col(f"{name}\0").alias(name) for name in same))
    return people.join(values, on="person", how="left")


def _of_attributes(people: pl.DataFrame) -> list[QuasiIdentifier]:
    """Single attributes that a person is alone with, and all of them together."""
    names = [name for name in people.columns if name != "person"][:_ATTRIBUTES]
    counts = {name: people[name].n_unique() for name in names}
    telling = [
        name
        for name, count in counts.items()
        if count > 1 and (count < _ALMOST_ALL * len(people) or len(people) < _FEWEST)
    ]
    own = [name for name, count in counts.items() if name not in telling and count > 1]
    found = [_groups(people, [name]) for name in (*telling, *own)]
    if len(telling) > 1:
        found.insert(0, _groups(people, telling))
    return found


def _of_recordings(study: Study) -> Iterator[QuasiIdentifier]:
    """How much there is of each participant, and how fast it was sampled."""
    each = study.data.group_by(RECORDING_KEY).agg(
        pl.len().alias("rows"), (pl.col("time_ms").max() - pl.col("time_ms").min()).alias("ms")
    )
    people = each.group_by("person").agg(
        pl.len().alias("number of recordings"),
        pl.col("rows").sort().alias("recording lengths"),
        (pl.col("ms").sum() / 1000).round().alias("total duration"),
    )
    if study.kind == "samples":
        step = pl.col("time_ms").diff().over(track_key(study.data))
        steps = study.data.select("person", step.alias("step")).filter(pl.col("step") > 0)
        rate = (1000 / pl.col("step").median()).round_sig_figs(3).alias("sampling rate")
        people = people.join(steps.group_by("person").agg(rate), on="person", how="left")
    for name in people.columns:
        if name != "person":
            yield _groups(people, [name])


def _groups(people: pl.DataFrame, columns: Sequence[str]) -> QuasiIdentifier:
    known = people.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    sizes = known.group_by(columns).len()["len"].to_list()
    return QuasiIdentifier(
        columns=tuple(columns),
        people=len(known),
        people_alone=sum(size == 1 for size in sizes),
    )


def _people_of_file(file: Path) -> pl.DataFrame | None:
    """The participants of a file with their attributes, one row each; None where it has none."""
    head = head_of(file)
    if head.binary or is_parquet(head):
        return None
    if head.raw.lstrip()[:1] in (b"{", b"["):
        return _people_in_json(head)
    lines = [line for line in head.lines if line.strip()]
    if len(lines) < 2:
        return None
    separator = separator_of(lines[:50])
    names = cells(lines[0], separator)
    if separator == " " or not 2 <= len(names) <= MOST_COLUMNS or len(set(names)) < len(names):
        return None
    person = person_column(names)
    if person is None and not _PEOPLE_FILES.search(file.stem):
        return None
    text = content_of(file, MOST_BYTES) if not head.gzipped else head.content()[: MOST_BYTES + 1]
    decoded = text.decode(head.encoding, errors="replace")
    if len(names) * decoded.count("\n") > max(_MOST_CELLS, len(decoded)):
        return None
    table = text_table(
        decoded[decoded.index(lines[0]) :].encode(),
        separator=separator,
        infer_schema=False,
        truncate_ragged_lines=True,
        null_values=["", "NA", "n/a", "N/A", "nan", "NaN", "null", "NULL", "#N/A", "#NULL!"],
    )
    if len(table.columns) != len(names):
        return None
    table.columns = names
    return _with_attributes(table, person)


def person_column(names: Iterable[str]) -> str | None:
    """The column that says whose a row is, by what it is called.

    >>> person_column(["trial", "Subject_ID", "rt"])
    'Subject_ID'
    """
    return next((name for name in names if plain_field(name) in _PERSON), None)


def _with_attributes(table: pl.DataFrame, person: str | None) -> pl.DataFrame | None:
    """One row a participant, with the columns that say the same in all rows of each.

    Args:
        table: of text.
        person: the column that says whose a row is; None where each is another's.
    """
    if person is None:
        person = "person"
        table = table.with_row_index(person).cast({person: pl.String})
    table = table.filter(pl.col(person).is_not_null())
    names = [name for name in table.columns if name != person and leak_of_field(name) is None]
    named = (name for name in names if name != "person" and _is_attribute(table[name]))
    names = list(islice(named, _ATTRIBUTES))
    if not names or table.is_empty():
        return None
    each = table.group_by(person, maintain_order=True)
    constant = each.agg(pl.col(names).drop_nulls().n_unique())
    names = [name for name in names if (constant[name] <= 1).all()]
    if not names:
        return None
    people = each.agg(pl.col(names).drop_nulls().first())
    return people.rename({person: "person"}).select(pl.col("person").cast(pl.String), *names)


def _is_attribute(values: pl.Series) -> bool:
    """Whether a column may be something that others know: text, whole numbers, or named so."""
    if _ATTRIBUTE.search(values.name):
        return True
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() > values.null_count():
        lengths = values.cast(pl.String).str.len_chars()
        return bool((lengths.drop_nulls() <= _LONGEST_TEXT).all())
    return bool((numbers.drop_nulls() % 1 == 0).all())


def _people_in_json(head: Head) -> pl.DataFrame | None:
    """Participants in a JSON file: a list of them, an object by their ids, or the only one."""
    content = json.loads(content_of(head.path, MOST_BYTES) if not head.gzipped else head.content())
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        person = person_column(name for one in content[:_FEW] for name in one)
        if person is None and not _PEOPLE_FILES.search(head.path.stem):
            return None
        frame = _frame([_flat(one) for one in content[:_MOST_ROWS]])
        return _with_attributes(frame, person)
    if not isinstance(content, dict) or not content:
        return None
    if all(isinstance(one, dict) for one in content.values()) and len(content) >= _FEWEST:
        rows = [_flat(one) | {"person": key} for key, one in content.items()]
    else:
        rows = [_flat(content) | {"person": ""}]
    return _with_attributes(_frame(rows), "person")


def _flat(one: dict[str, Any]) -> dict[str, Any]:
    """The single values of an object, and of the objects in it."""
    flat: dict[str, Any] = {}
    for key, value in one.items():
        inside = value.items() if isinstance(value, dict) else [("", value)]
        for more, single in inside:
            name = f"{key}.{more}"[:_LONGEST_TEXT] if more else key[:_LONGEST_TEXT]
            if isinstance(single, str | int | float) and len(flat) < _ATTRIBUTES:
                flat[name] = str(single)
    return flat


def _frame(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Rows as text, with the columns of any of them, as far as there are not too many."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    most = max(1, _MOST_CELLS // max(1, len(rows)))
    kept = [name for name in names if name == "person"] + [n for n in names if n != "person"][:most]
    columns = {name: [row.get(name) for row in rows] for name in kept}
    return pl.DataFrame(columns, schema=dict.fromkeys(kept, pl.String))
