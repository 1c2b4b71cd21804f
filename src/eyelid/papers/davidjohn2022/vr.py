"""The paper's other six datasets: recordings in virtual reality, from their published layouts.

None of them is at hand here. How sure their layouts are:

* **ET-DK2**, **VR-EyeTracking**, **EHTask**: as `eyelid.io.formats.vr` says, from readmes and
  public readers. The rate of VR-EyeTracking stands in no file and is taken as 30 Hz, that of the
  videos.
* **360_em**: its readme says that recordings are in the folder ``gaze``; public code that reads
  them names ``gaze/014/014_01_park_….arff``, so the folder and the first number are the person.
  Attributes are those that `eyelid.io.formats.arff` knows. The paper has 14 of its 15 videos and
  does not say which; here all count.
* **VR-Saliency**, **OpenNEEDS** (printed as OpenEDS): not read. Of the first only Python pickles
  are documented, of the second nothing: ``docs/formats.md`` says how to convert them.

Any of them can also be given as a study folder that `eyelid convert` made.

As in the paper: events by I-S5T, features of single fixations and of single saccades, one network
for each, scores averaged over everything that is shown of a person and added by 0.4 and 0.6, one
decision a person. Three quarters of the stimuli are released and known, those of the last quarter
are shown raw; one quarter by the paper's protocol, each of the four in turn leak-free. That the
paper's 75% are stimuli is inferred: it prints the share alone, and fewer than four stimuli cannot
be parted so; recordings then are, in time. The other attackers are ours: they
look at means of neighbouring events, and their scores are z-scored before they are added.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from eyelid.attacks.attackers import Attacker, find_attackers
from eyelid.attacks.identification import decided
from eyelid.attacks.records import records_of
from eyelid.attacks.scores import Scores, fused, named, weighted
from eyelid.engine.engines import Shared
from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.features import event_features
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.io.column_map import layout_from_pairs
from eyelid.papers.datasets import where_looked
from eyelid.papers.davidjohn2022.trials import (
    ATTACKERS,
    NETWORK,
    Outcome,
    Setting,
    Shares,
)

DETECTOR = "is5t"
QUARTERS = 4
_EVENTS = ("fixations", "saccades")


@dataclass(frozen=True)
class VrDataset:
    """One of the paper's datasets, and how it is read.

    Attributes:
        name: its folder, as published.
        said: what `read` is told about its files.
        layout: what is looked for inside, in words.
        why_not: why it cannot be read; empty if it can.
    """

    name: str
    said: tuple[str, ...] = ()
    layout: str = ""
    why_not: str = ""

    def missing(self) -> str:
        """What is said when it is not there."""
        inside = f", with {self.layout}" if self.layout else ""
        return where_looked(self.name) + inside + (f"; {self.why_not}" if self.why_not else "")


_CONVERT = "convert them to a study folder of that name as docs/formats.md says"
DATASETS = (
    VrDataset("ET-DK2", ("et-dk2",), "S####.csv in it"),
    VrDataset(
        "VR-Saliency",
        why_not="its published files are Python pickles, which run code when they are opened, and "
        f"are not read: {_CONVERT}",
    ),
    VrDataset(
        "360_em",
        ("file={person}/{person}_{stimulus}", "glob=*gaze/*.arff"),
        "gaze/014/014_01_park_….arff in it",
    ),
    VrDataset("VR-EyeTracking", ("vr-eyetracking", "rate_hz=30"), "p001/001.txt and so on in it"),
    VrDataset(
        "OpenNEEDS",
        why_not="it is what the paper prints as OpenEDS, citing OpenNEEDS; no description of its "
        f"files was found: {_CONVERT}",
    ),
    VrDataset("EHTask", ("ehtask",), "User_01_Video_01_Task_1.txt and so on in it"),
)


@dataclass(frozen=True, eq=False)
class Events:
    """Fixations and saccades of the same recordings.

    Attributes:
        fixations: one row each.
        saccades: the same.
        quarter: of each stimulus, in which quarter it is; empty where there are fewer than four,
            and recordings are parted in time.
        why_not: why no document can be told.
    """

    fixations: FeatureTable
    saccades: FeatureTable
    quarter: dict[str, int]
    why_not: str = "the paper tells documents in MPIIDPEye alone"

    @property
    def whole(self) -> FeatureTable:
        """What k and people are counted in."""
        return self.fixations

    @classmethod
    def of(cls, study: Study, seed: int) -> Events:
        """The events of everybody who has some in every quarter of the stimuli.

        Args:
            study: gaze as directions, or in degrees.
            seed: of the quarters.
        """
        study = _with_events(study)
        stimuli = sorted(study.data["stimulus"].unique())
        if len(stimuli) < QUARTERS:
            # As many documents as MPIIDPEye has, or the two scenes of OpenNEEDS.
            return cls(*_tables(study), {})
        order = np.random.default_rng(seed).permutation(len(stimuli))
        quarter = {stimuli[n]: place % QUARTERS for place, n in enumerate(order.tolist())}
        mine = pl.col("stimulus").replace_strict(quarter, return_dtype=pl.Int64)
        everywhere = study.data.group_by("person").agg(mine.n_unique() == QUARTERS)
        people = everywhere.filter(pl.col("stimulus"))["person"]
        if len(people) < 2:
            raise InputError(
                f"{len(people)} people have events in every quarter of the stimuli: nobody is to "
                "be told from anybody"
            )
        study = study.derive(data=study.data.filter(pl.col("person").is_in(people.implode())))
        return cls(*_tables(study), quarter)

    def parted(self, quarter: int) -> list[tuple[FeatureTable, FeatureTable]]:
        """Fixations and saccades: what is released of them, and what is shown."""
        place = pl.int_range(pl.len()) * QUARTERS // pl.len()
        shown = place.over("person", "recording") == quarter
        if self.quarter:
            stimulus = pl.col("stimulus")
            shown = stimulus.replace_strict(self.quarter, return_dtype=pl.Int64) == quarter
        return [
            (
                replace(table, data=table.data.filter(~shown)),
                replace(table, data=table.data.filter(shown)),
            )
            for table in (self.fixations, self.saccades)
        ]


def read_events(dataset: VrDataset, folder: Path, seed: int) -> Events:
    """The events of a dataset; a study folder is read as it is, anything else by its layout."""
    if (folder / "study.json").is_file():
        return Events.of(read(folder), seed)
    if dataset.why_not:
        raise InputError(dataset.why_not)
    return Events.of(read(folder, layout_from_pairs(dataset.said)), seed)


def tried_on_events(events: Shared[Events], job: tuple[Setting, int]) -> Outcome | str:
    """Release three quarters and attack; or why this mechanism cannot be run on these people."""
    setting, seed = job
    parts = events.get()
    attackers = find_attackers(ATTACKERS)
    found: dict[str, list[Shares]] = {}
    try:
        began = time.perf_counter()
        for table in (parts.fixations, parts.saccades):
            setting.release(table, seed)
        seconds = time.perf_counter() - began
        for quarter in range(QUARTERS):
            sides = [
                # The same seed makes the same groups of both.
                (setting.release(known, seed), shown)
                for known, shown in parts.parted(quarter)
            ]
            for attacker in attackers:
                found.setdefault(attacker.name, []).append(_named(attacker, sides, seed))
    except InputError as error:
        return str(error)
    leak_free = {name: np.asarray(np.mean(shares, axis=0)) for name, shares in found.items()}
    return Outcome(found[NETWORK][0], leak_free, {}, {}, seconds)


def _named(attacker: Attacker, sides: list[tuple[FeatureTable, FeatureTable]], seed: int) -> Shares:
    """For each person, the chance of re-identification by everything that is shown of them."""
    people = sides[0][0].data["person"].unique(maintain_order=True).to_list()
    fixations, saccades = (
        _per_person(
            decided(attacker, records_of(known, people), [records_of(shown, people)], seed)[0],
            len(people),
        )
        for known, shown in sides
    )
    add = weighted if attacker.name == NETWORK else fused
    scores = add(fixations, saccades)
    return named(scores.averaged, scores.owner)


def _per_person(scores: Scores, people: int) -> Scores:
    """The mean over all records of a person."""
    sums = np.zeros((people, scores.averaged.shape[1]))
    np.add.at(sums, scores.owner, scores.averaged)
    counts = np.bincount(scores.owner, minlength=people)
    return Scores(sums / np.maximum(counts, 1)[:, None], None, np.arange(people))


def _tables(study: Study) -> tuple[FeatureTable, FeatureTable]:
    """Features of single fixations, and of single saccades."""
    fixations, saccades = (_with_values(event_features(study, kind, DETECTOR)) for kind in _EVENTS)
    return fixations, saccades


def _with_values(table: FeatureTable) -> FeatureTable:
    """Without features that nobody has: a slow tracker gives no acceleration of saccades."""
    there = table.data.select(pl.col(table.names).is_not_null().any()).row(0)
    return table.only(
        *(name for name, any_value in zip(table.names, there, strict=True) if any_value)
    )


def _with_events(study: Study) -> Study:
    """The recordings that have fixations and saccades."""
    events = detect_events(study, DETECTOR)
    kinds = [kind.removesuffix("s") for kind in _EVENTS]
    found = (
        events.filter(pl.col("name").is_in(kinds))
        .group_by("person", "recording")
        .agg(pl.col("name").n_unique())
        .filter(pl.col("name") == len(kinds))
    )
    if found.is_empty():
        raise InputError("no recording has both fixations and saccades: is its gaze in degrees?")
    if "stimulus" not in study.data.columns:
        raise InputError("no recording says what was looked at: stimuli are to be parted")
    return study.derive(data=study.data.join(found, on=["person", "recording"], how="semi"))
