"""Releases that show too much on purpose: the comparison of folders must catch each of them."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.twins import twin
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.partition import Members
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.means.groupmean import GroupMean
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.streams.uniform import Uniform
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import Randomness
from eyelid.releases.neighbours.cases import Case, Said, cases_of
from eyelid.releases.neighbours.comparison import (
    Difference,
    base_of,
    differences,
    neighbours_of,
)
from eyelid.releases.neighbours.studies import LESS, MORE, OTHER, RARE, Replacement

# Rows of a part that is cut by the raw recordings.
_RAW_ROWS = 60


@dataclass(frozen=True)
class Mutant:
    """A release that shows too much.

    Attributes:
        name: what it shows.
        sound: makes the release that it is a mutant of.
        spoil: makes the mutant.
        way: what a participant's data are replaced by, so that it shows.
    """

    name: str
    sound: Callable[[], Case]
    spoil: Callable[[Case], Case]
    way: Replacement = LESS

    @property
    def mechanism(self) -> str:
        """Whose release it is."""
        return self.sound().mechanism.name

    def caught(self) -> bool:
        """Whether the folders of neighbours tell what those of the sound release do not."""
        found = _differences(self.spoil(self.sound()), self.way)
        return bool(found - _of_sound(self.sound, self.way))


@cache
def _of_sound(case: Callable[[], Case], way: Replacement) -> set[Difference]:
    return _differences(case(), way)


def _differences(case: Case, way: Replacement) -> set[Difference]:
    base = base_of(case)
    neighbours = list(neighbours_of(case, base, [way]))
    # The first is the one whose data are replaced in that way; exchanges are of all groups.
    return set(differences(case, base, neighbours if case.exchanges else neighbours[:1]))


def mutants_of(kind: type[Mechanism]) -> list[Mutant]:
    """Those of one mechanism."""
    return [each for each in MUTANTS if each.mechanism == kind.name]


def _plain(kind: type[Mechanism], **parameters: Any) -> Case:
    """The release by a command without settings, but for these."""
    case = next(cases_of(kind))
    return replace(case, mechanism=replace(case.mechanism, **parameters))


def _own_records() -> Case:
    return _plain(Laplace, length=7)


def _means() -> Case:
    return _plain(GroupMean, length=7)


def _groups() -> Case:
    return _plain(KSame, balance=RARE)


def _tables() -> Case:
    return _plain(AoiTables)


def _gaze() -> Case:
    return _plain(Uniform)


def _synthetic() -> Case:
    return _plain(Synthetic)


def _with_one_line_more(case: Case, more: Callable[[FeatureTable], str]) -> Case:
    """A release whose certificate has one line more."""
    law = case.mechanism
    assert isinstance(law, FeatureMechanism)

    def unprotected(self: FeatureMechanism, table: FeatureTable) -> list[str]:
        return [*type(law).unprotected(self, table), more(table)]

    return replace(case, mechanism=twin(law, {"unprotected": unprotected}))


def _spoilt(case: Case, spoil: Callable[[pl.DataFrame, Path], None]) -> Case:
    """A release whose folder is changed afterwards, by the rows of the raw study."""

    def run(law: Mechanism, source: Path, out: Path, options: dict[str, Any]) -> Said:
        said = case.run(law, source, out, options)
        spoil(study_folder.read_study(source).data, out)
        return said

    return replace(case, run=run)


def _cut_by_raw_rows(case: Case) -> Case:
    def spoil(raw: pl.DataFrame, out: Path) -> None:
        often = raw.group_by("person", maintain_order=True).len()
        part = (often["len"].cum_sum() // _RAW_ROWS).to_list()
        released = study_folder.read_study(out).data
        _remove_rows(out)
        (out / "data.parquet").mkdir()
        for number in sorted(set(part)):
            mine = often["person"].filter(pl.Series([each == number for each in part]))
            rows = released.filter(pl.col("person").is_in(mine.to_list()))
            rows.write_parquet(out / "data.parquet" / f"part-{number:06d}.parquet")

    return _spoilt(case, spoil)


def _ordered_by_raw_rows(case: Case) -> Case:
    def spoil(raw: pl.DataFrame, out: Path) -> None:
        order = raw.group_by("person", maintain_order=True).len().sort("len", maintain_order=True)
        rows = study_folder.read_study(out).data.partition_by("person", as_dict=True)
        _remove_rows(out)
        pl.concat(rows[(name,)] for name in order["person"]).write_parquet(out / "data.parquet")

    return _spoilt(case, spoil)


def _remove_rows(out: Path) -> None:
    place = out / "data.parquet"
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _a_file_for_gaps(case: Case) -> Case:
    def spoil(raw: pl.DataFrame, out: Path) -> None:
        steps = raw["time_ms"].diff().filter(raw["recording"] == raw["recording"].shift())
        if (steps > 2 * steps.median()).any():  # type: ignore[operator]
            (out / "gaps.txt").write_text("", encoding="utf-8")

    return _spoilt(case, spoil)


def _names_the_shortest(case: Case) -> Case:
    return _with_one_line_more(
        case, lambda table: f"the shortest recording ({_fewest(table.recordings['rows'])} rows)"
    )


def _names_the_longest(case: Case) -> Case:
    return _with_one_line_more(
        case, lambda table: f"the longest recording ({_most(table.recordings['rows'])} rows)"
    )


def _counts_recordings(case: Case) -> Case:
    return _with_one_line_more(
        case,
        lambda table: f"most recordings ({_most(table.recordings['person'].unique_counts())})",
    )


def _most(counts: pl.Series) -> int:
    return int(counts.to_numpy().max())


def _fewest(counts: pl.Series) -> int:
    return int(counts.to_numpy().min())


def _refuses_the_shortest(case: Case) -> Case:
    def check(self: Laplace, table: FeatureTable) -> None:
        if _fewest(table.recordings["rows"]) < 3:
            raise InputError("a recording is too short")

    return replace(case, mechanism=twin(case.mechanism, {"check": check}))


def _publishes_gaps(case: Case) -> Case:
    def some(self: Laplace, people: FeatureTable, shape: Shape, noise: Randomness) -> FeatureTable:
        made = Laplace.apply_to_some(self, people, shape, noise)
        ends = people.recordings.select("person", "recording", pl.col("rows").alias("end"))
        row = pl.int_range(pl.len()).over("person", "recording")
        rows = made.data.join(ends, on=["person", "recording"], maintain_order="left")
        there = [pl.when(row < pl.col("end")).then(name).alias(name) for name in made.names]
        return replace(made, data=rows.with_columns(there).drop("end"))

    return replace(case, mechanism=twin(case.mechanism, {"apply_to_some": some}))


def _rare_in_the_smallest_group(case: Case) -> Case:
    def partition(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
        rare = table.people.get_column(RARE).to_numpy() == "left"
        groups = rare.size // self.k
        dealt: Members = np.argsort(noise.words(rare.size)) % groups
        # The rare one changes places with a member of the last group, which is the smallest.
        place, last = int(np.argmax(rare)), int(np.argmax(dealt == groups - 1))
        dealt[[place, last]] = dealt[[last, place]]
        return dealt

    return replace(case, mechanism=twin(case.mechanism, {"partition": partition}))


def _names_groups_by_a_member(case: Case) -> Case:
    def averaged(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
        made = KSame.averaged(self, table, member)
        rows = table.recordings.group_by("person", maintain_order=True).agg(pl.col("rows").sum())
        firsts = [int(np.argmax(member == group)) for group in range(len(made.people))]
        names = [f"group of {rows['rows'][first]} rows" for first in firsts]
        return replace(made, people=made.people.with_columns(pl.Series("person", names)))

    return replace(case, mechanism=twin(case.mechanism, {"averaged": averaged}))


def _counts_who_looked(case: Case) -> Case:
    def spoil(raw: pl.DataFrame, out: Path) -> None:
        seen = raw.filter(pl.col("x").is_between(0, 64))["person"].n_unique()
        with (out / "DATACARD.md").open("a", encoding="utf-8") as card:
            card.write(f"\n{seen} participants looked at the picture.\n")

    return _spoilt(case, spoil)


def _scene_of_the_data(case: Case) -> Case:
    def spoil(raw: pl.DataFrame, out: Path) -> None:
        file = out / "study.json"
        about = json.loads(file.read_text(encoding="utf-8"))
        about["screen"]["width_px"] = math.ceil(raw["x"].fill_nan(None).max())  # type: ignore[arg-type]
        file.write_text(json.dumps(about, indent=2), encoding="utf-8")

    return _spoilt(case, spoil)


MUTANTS = (
    Mutant("output parts cut by raw rows", _own_records, _cut_by_raw_rows),
    Mutant("participants in the order of their raw rows", _own_records, _ordered_by_raw_rows),
    Mutant("a file where a participant has gaps", _own_records, _a_file_for_gaps, OTHER),
    Mutant("the shortest recording named", _own_records, _names_the_shortest),
    Mutant("a refusal where a participant broke off", _own_records, _refuses_the_shortest),
    Mutant("values missing where a recording had ended", _own_records, _publishes_gaps),
    Mutant("the most recordings of a participant named", _means, _counts_recordings, MORE),
    Mutant("groups sized by rare participants", _groups, _rare_in_the_smallest_group),
    Mutant("groups named by the rows of a member", _groups, _names_groups_by_a_member),
    Mutant("the card counts who looked", _tables, _counts_who_looked),
    Mutant("the screen read off the gaze", _gaze, _scene_of_the_data, MORE),
    Mutant("the longest recording named", _synthetic, _names_the_longest, MORE),
)
