"""Releases that show too much on purpose: the comparison of folders must catch each of them."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.override import override, sound_of
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.mechanisms.groups.partition import Members
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts, find
from eyelid.privacy.noise import Randomness
from eyelid.releases.consistency.cases import Case, Said, cases_of
from eyelid.releases.consistency.comparison import (
    Difference,
    base_of,
    differences,
    neighbours_of,
)
from eyelid.releases.consistency.studies import LESS, MORE, OTHER, RARE, Replacement

# Rows of a part that is cut by the raw recordings.
_RAW_ROWS = 60
# With these, neighbours of some mechanisms may differ in more.
_SETTINGS: dict[str, dict[str, Any]] = {
    "laplace": {"length": 7},
    "groupmean": {"length": 7},
    "ksame": {"balance": RARE},
}


@dataclass(frozen=True)
class Mutant:
    """A release that shows too much.

    Attributes:
        name: what it shows.
        mechanism: the name of the mechanism whose release it is.
        changes: what is replaced in the mechanism.
        spoil: what is done to the folder afterwards, given the rows of the raw study.
        way: what a participant's data are replaced by, so that it shows.
    """

    name: str
    mechanism: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    spoil: Callable[[pl.DataFrame, Path], None] | None = None
    way: Replacement = LESS

    def caught(self) -> bool:
        """Whether the folders of neighbours tell what those of the sound release do not."""
        found = _differences(self.spoilt(_sound(self.mechanism)), self.way)
        return bool(found - _of_sound(self.mechanism, self.way))

    def spoilt(self, case: Case) -> Case:
        """The release of the mutant.

        Args:
            case: the sound release.
        """

        def run(mechanism: Mechanism, source: Path, out: Path, options: dict[str, Any]) -> Said:
            said = case.run(mechanism, source, out, options)
            if self.spoil:
                self.spoil(study_folder.read_study(source).data, out)
            return said

        return replace(case, mechanism=override(case.mechanism, self.changes), run=run)


def _sound(name: str) -> Case:
    """The release by a command without settings, but for those that a mutant needs."""
    case = next(cases_of(find(name)))
    return replace(case, mechanism=replace(case.mechanism, **_SETTINGS.get(name, {})))


@cache
def _of_sound(name: str, way: Replacement) -> set[Difference]:
    return _differences(_sound(name), way)


def _differences(case: Case, way: Replacement) -> set[Difference]:
    base = base_of(case)
    neighbours = list(neighbours_of(case, base, [way]))
    # The first is the one whose data are replaced in that way; exchanges are of all groups.
    return set(differences(case, base, neighbours if case.exchanges else neighbours[:1]))


# Folders that are changed afterwards.


def _cut_by_raw_rows(raw: pl.DataFrame, out: Path) -> None:
    often = raw.group_by("person", maintain_order=True).len()
    part = (often["len"].cum_sum() // _RAW_ROWS).to_list()
    released = study_folder.read_study(out).data
    _remove_rows(out)
    (out / "data.parquet").mkdir()
    for number in sorted(set(part)):
        mine = often["person"].filter(pl.Series([each == number for each in part]))
        rows = released.filter(pl.col("person").is_in(mine.to_list()))
        rows.write_parquet(out / "data.parquet" / f"part-{number:06d}.parquet")


def _ordered_by_raw_rows(raw: pl.DataFrame, out: Path) -> None:
    order = raw.group_by("person", maintain_order=True).len().sort("len", maintain_order=True)
    rows = study_folder.read_study(out).data.partition_by("person", as_dict=True)
    _remove_rows(out)
    pl.concat(rows[(name,)] for name in order["person"]).write_parquet(out / "data.parquet")


def _remove_rows(out: Path) -> None:
    place = out / "data.parquet"
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _a_file_for_gaps(raw: pl.DataFrame, out: Path) -> None:
    steps = raw["time_ms"].diff().filter(raw["recording"] == raw["recording"].shift())
    if (steps > 2 * steps.median()).any():  # type: ignore[operator]
        (out / "gaps.txt").write_text("", encoding="utf-8")


def _counts_who_looked(raw: pl.DataFrame, out: Path) -> None:
    seen = raw.filter(pl.col("x").is_between(0, 64))["person"].n_unique()
    with (out / "DATACARD.md").open("a", encoding="utf-8") as card:
        card.write(f"\n{seen} participants looked at the picture.\n")


def _scene_of_the_data(raw: pl.DataFrame, out: Path) -> None:
    file = out / "study.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    about["screen"]["width_px"] = math.ceil(raw["x"].fill_nan(None).max())  # type: ignore[arg-type]
    file.write_text(json.dumps(about, indent=2), encoding="utf-8")


# Mechanisms that are changed.


def _one_line_more(words: str, column: str, of: Callable[[pl.Series], Any]) -> dict[str, Any]:
    """A certificate that tells a number about recordings, in a line of its own."""

    def unprotected(self: Any, table: FeatureTable) -> list[str]:
        count = int(of(table.recordings[column]))
        return [*sound_of(self).unprotected(table), words.format(count)]

    return {"unprotected": unprotected}


def _refuse_the_shortest(self: Any, table: FeatureTable) -> None:
    if int(table.recordings["rows"].to_numpy().min()) < 3:
        raise InputError("a recording is too short")


def _publish_ends(
    self: Any, people: FeatureTable, facts: PublicFacts, noise: Randomness
) -> FeatureTable:
    made: FeatureTable = sound_of(self).apply_to_some(people, facts, noise)
    ends = people.recordings.select("person", "recording", pl.col("rows").alias("end"))
    row = pl.int_range(pl.len()).over("person", "recording")
    rows = made.data.join(ends, on=["person", "recording"], maintain_order="left")
    there = [pl.when(row < pl.col("end")).then(name).alias(name) for name in made.names]
    return replace(made, data=rows.with_columns(there).drop("end"))


def _rare_in_the_smallest_group(self: Any, table: FeatureTable, noise: Randomness) -> Members:
    rare = table.people.get_column(RARE).to_numpy() == "left"
    groups = rare.size // self.k
    dealt: Members = np.argsort(noise.words(rare.size)) % groups
    # The rare one changes places with a member of the last group, which is the smallest.
    place, last = int(np.argmax(rare)), int(np.argmax(dealt == groups - 1))
    dealt[[place, last]] = dealt[[last, place]]
    return dealt


def _named_by_a_member(self: Any, table: FeatureTable, member: Members) -> FeatureTable:
    made: FeatureTable = sound_of(self).averaged(table, member)
    rows = table.recordings.group_by("person", maintain_order=True).agg(pl.col("rows").sum())
    firsts = [int(np.argmax(member == group)) for group in range(len(made.people))]
    names = [f"group of {rows['rows'][first]} rows" for first in firsts]
    return replace(made, people=made.people.with_columns(pl.Series("person", names)))


_SHORTEST = _one_line_more("the shortest recording ({} rows)", "rows", pl.Series.min)
_LONGEST = _one_line_more("the longest recording ({} rows)", "rows", pl.Series.max)
_MOST = _one_line_more("most recordings ({})", "person", lambda who: who.unique_counts().max())

MUTANTS = (
    Mutant("output parts cut by raw rows", "laplace", spoil=_cut_by_raw_rows),
    Mutant("participants in the order of their raw rows", "laplace", spoil=_ordered_by_raw_rows),
    Mutant("a file where a participant has gaps", "laplace", spoil=_a_file_for_gaps, way=OTHER),
    Mutant("the shortest recording named", "laplace", _SHORTEST),
    Mutant("a refusal where a participant broke off", "laplace", {"check": _refuse_the_shortest}),
    Mutant(
        "values missing where a recording had ended", "laplace", {"apply_to_some": _publish_ends}
    ),
    Mutant("the most recordings of a participant named", "groupmean", _MOST, way=MORE),
    Mutant(
        "groups sized by rare participants", "ksame", {"partition": _rare_in_the_smallest_group}
    ),
    Mutant("groups named by the rows of a member", "ksame", {"averaged": _named_by_a_member}),
    Mutant("the card counts who looked", "aoi-tables", spoil=_counts_who_looked),
    Mutant("the screen read off the gaze", "uniform", spoil=_scene_of_the_data, way=MORE),
    Mutant("the longest recording named", "synthetic", _LONGEST, way=MORE),
    Mutant("the card counts who looked", "synthetic-gaze", spoil=_counts_who_looked),
)
