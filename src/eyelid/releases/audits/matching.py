"""Original and release brought to the same people, recordings and features, or refused."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.features.omission import Blanks, blank_recordings, without
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.remote import here
from eyelid.releases.audits.folder import LEFT_INSIDE
from eyelid.releases.kinds.features.plan import NOTHING_LONG_ENOUGH

Pair = tuple[FeatureTable, FeatureTable]

FEWEST_PEOPLE = 3


def check_people(table: FeatureTable | Study | pl.DataFrame) -> None:
    """Refuse fewer people than attackers need."""
    rows = table if isinstance(table, pl.DataFrame) else table.data
    people = rows["person"].n_unique()
    if people < FEWEST_PEOPLE:
        raise InputError(
            f"an audit needs at least {FEWEST_PEOPLE} people to tell apart, and there are {people}"
        )


def in_common(
    original: FeatureTable, released: FeatureTable
) -> tuple[FeatureTable, FeatureTable, list[str]]:
    """Both with the features that both have: without a certificate nobody said which there are."""
    shared = [f for f in original.features if f.name in released.names]
    count = max(len(original.features), len(released.features))
    if not shared or len(shared) == count:
        return original, released, []
    note = f"only {len(shared)} of {count} features are in both, and only these were looked at"
    original, released = (replace(table, features=tuple(shared)) for table in (original, released))
    return original, released, [note]


def compared(original: FeatureTable, released: FeatureTable) -> Pair:
    """Both with the same features, where those of the release are nobody of the original."""
    _check_features(original, released)
    check_people(original)
    return original, replace(released, features=original.features, window_ms=original.window_ms)


def matched(original: FeatureTable, released: FeatureTable) -> Pair:
    """Both with the same people and the same features, or an error that says what differs."""
    theirs = released.data["person"].unique(maintain_order=True).to_list()
    ours = set(original.data["person"])
    strangers = [name for name in theirs if name not in ours]
    if strangers:
        raise InputError(
            f"{len(strangers)} of {len(theirs)} people of the release are not in the original "
            f"('{strangers[0]}', say): is this a release of other people?"
        )
    _check_features(original, released)
    original = replace(original, data=original.data.filter(pl.col("person").is_in(theirs)))
    original, released = compared(original, released)
    for key in ("recording", "task"):
        lacking = _keys(released, key) - _keys(original, key)
        if lacking:
            person, name = sorted(lacking)[0]
            raise InputError(
                f"the release has {key} '{name}' of person '{person}', which the original has not: "
                "are these the right two?"
            )
    return original, released


def _check_features(original: FeatureTable, released: FeatureTable) -> None:
    """Both must have the same, as numbers."""
    missing = [name for name in original.names if name not in released.data.columns]
    extra = [name for name in released.names if name not in original.names]
    if missing or extra:
        where, name = ("release", missing[0]) if missing else ("original", extra[0])
        raise InputError(
            f"the {where} has no feature {name} ({len(missing) + len(extra)} differ): give the "
            "features that were released as the original ('eyelid features IN OUT')"
        )
    text = [name for name in original.names if not released.data.schema[name].is_numeric()]
    if text:
        raise InputError(f"feature {text[0]} of the release is not a number: mend or leave it out")


def _keys(table: FeatureTable, key: str) -> set[tuple[str, str]]:
    if key not in table.recordings.columns:
        return set()
    return set(table.recordings.select("person", key).iter_rows())


def with_values(
    original: FeatureTable, released: FeatureTable | None = None
) -> tuple[FeatureTable, FeatureTable | None, tuple[str, ...]]:
    """Both without recordings of which the original has no value: nothing is known to attack.

    Args:
        original: the raw features.
        released: under the same names, where there is a release.
    """
    blank = blank_recordings(original)
    if blank.is_empty():
        return original, released, ()
    if blank.height == original.recordings.height:
        raise InputError(NOTHING_LONG_ENOUGH)
    note = f"{Blanks.of(original).in_words()}; they were not attacked"
    theirs = None if released is None else without(released, blank)
    return without(original, blank), theirs, (note,)


def without_values(original: FeatureTable, released: FeatureTable | None = None) -> list[str]:
    """Which features have no value at all, and are in no figure or picture, in words.

    Args:
        original: everybody's recordings.
        released: what was made of them; None before a release.
    """
    found = []
    sides = (
        ("in the original nobody has a value of", original),
        ("the release has no value of", released),
    )
    for words, table in sides:
        empty = [] if table is None else [name for name in table.names if _empty(table, name)]
        if empty:
            found.append(
                f"{words} {', '.join(empty)}: what there is to compare leaves "
                f"{'it' if len(empty) == 1 else 'them'} out"
            )
    return found


def _empty(table: FeatureTable, name: str) -> bool:
    column = table.data[name].cast(pl.Float64)
    return column.fill_nan(None).null_count() == len(column)


def beyond(folder: Path, known: Collection[str]) -> list[str]:
    """What lies in a released folder that no release puts there."""
    extra = sorted(item.name for item in here(folder).iterdir() if item.name not in known)
    left = [LEFT_INSIDE[name] for name in extra if name in LEFT_INSIDE]
    more = len(extra) - len(left)
    if not more:
        return left
    others = f"the released folder holds {more} more than a release has, which nothing covers"
    return [*left, others]
