"""k-same-select for linked recordings: means over groups of at least k people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.anonymity import AnonymisingMechanism
from eyelid.mechanisms.groups.averages import copied, resampled, rows_that_end, summing
from eyelid.mechanisms.groups.partition import (
    Members,
    attribute_of_everybody,
    attributes_to_balance,
    everything_of_the_last,
    fewest_values,
    group_names,
    group_sizes,
    groups_in_words,
    most_apart,
    random_groups,
    spread_in_words,
)
from eyelid.mechanisms.groups.slots import lacking, slots_of
from eyelid.mechanisms.groups.spread import (
    PUBLIC,
    drawn_around,
    spread_in_the_open,
    spread_of_features,
)
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.mechanisms.release_kind import Execution, Gaps
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust
from eyelid.spelling import plural


@register
@dataclass(frozen=True)
class KSame(AnonymisingMechanism):
    """Means over random groups of at least k people, the same groups for all their recordings."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Means over random groups of at least k people, the same groups for all their
        recordings.""",
        takes="""a FeatureTable; every value is clipped to its public bounds. Recordings are put
        side by side by task, and by their order within a task. Of a group, those are released that
        all its members have, each cut to the shortest of its members' or to a public length, or
        resampled to a public number of rows that nobody's is below, row i from the middle of the
        i-th equal part of each. A
        recording without any value shortens none. A cell is the mean of all members of the group,
        or empty where one of them has no value: nothing is filled in. One row a group and window,
        with the number of people as its weight, or a copy for each of them. With spread=public
        each member's copy is a synthetic participant, drawn around the mean.""",
        protects="""who of a group a record belongs to. An attacker who has raw recordings of a
        person says which of the k or more equal records of a group is theirs with probability 1/k
        at most. It is about telling members apart, not about what the mean of a group shows of
        each, and it is not differential privacy: which group a person is in can be found by those
        who have recordings of them; those who have the recordings of all members but one compute
        the last one's values exactly; a group shows what its members have in common; and two
        releases with
        other groups intersect.""",
        why="""a group has one record, of which each member has a copy, and all copies are equal:
        nothing in one depends on whom it is handed to, not even its last digit, as sums are exact
        on a public grid and do not know in which order members stand. Let copies be handed to
        members in a random order, drawn without a look at gaze. The release is the same for every
        order, so given it, and any recordings, all orders are as likely as before: a guess
        which copy is a person's is right with probability 1/|group| ≤ 1/k. This takes that (A)
        groups are drawn without a look at gaze, (B) there is one partition for everything that is
        linked, (C) every group has k people, leftovers being drawn from everybody and dealt out to
        the others, (D) lengths are public or the group's shortest, and no row of a member is taken
        twice, (E) nothing else is released that tells members apart, and members are equally likely
        beforehand. Which cells are empty is the same for all copies too: that a member of the group
        lacks a value shows, and not who. A cell is a mean of the whole group or empty, never of
        those who have a value, be they k or more: from a cell of m members and one of m − 1, in
        rows where values hardly change, one of them would compute the value of the one who is
        missing. That records are means plays no part in
        the 1/k: equal copies of a list of all members' recordings would have the same
        1/k. What a mean shows of its members is bounded by nothing here. The spread is drawn of the
        means, of fresh randomness and of public facts, and of nothing else: anyone who has the
        means can do the same, and a draw is no member's more than another's.""",
        paper="""David-John, Butler & Jain 2022 (k-same-select sequence), after Gross et al. 2005
        and Newton et al. 2005. Printed are new groups for each task, which an intersection attack
        undoes; padding by the last row, which shows the longest member's increments; and a last
        group of fewer than k. `ksame-paper` is that one. Diversity of a sensitive attribute is that
        of Machanavajjhala et al. 2007, distinct.""",
    )
    name: ClassVar[str] = "ksame"
    family: ClassVar[str] = "groups"
    trust: ClassVar[Trust] = Trust.CENTRAL
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    gaps: ClassVar[Gaps] = Gaps.EMPTY_GROUPS
    one_length: ClassVar[bool] = False
    drawn: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets (k-same-select sequence), with one partition and no padding; Gross, Airoldi, "
        "Malin & Sweeney (2005); Sweeney (2002)"
    )
    # The attributes are those of the crowd that games are played with.
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"k": 4},
        {"k": 4, "copies": True, "length": "shortest", "balance": "public"},
        {"k": 4, "length": 8, "diverse": "sensitive", "l": 3, "balance": "public"},
        {"k": 4, "spread": PUBLIC},
        {"k": 4, "resample": 5},
    )

    length: int | str = parameter(
        "rows of a recording: group (the shortest of its members), shortest (of all people), or "
        "at most a number chosen beforehand; recordings without any value shorten none",
        default="group",
    )
    resample: int | None = parameter(
        "rows that every recording is resampled to, spread evenly over all of it, instead of being "
        "cut: chosen beforehand, and no more than the shortest has",
        default=None,
    )
    copies: bool = parameter("one copy for each member instead of one row a group", default=False)
    diverse: str | None = parameter(
        "a sensitive attribute of which every group must have several values; groups get nearly "
        "as many people of each",
        default=None,
    )
    l: int | None = parameter("how many values of it at least: 2 or more", default=None)  # noqa: E741
    balance: str | None = parameter(
        "public attributes: people who share all of them, and the diverse one, are spread over the "
        "groups, two of which differ by at most 2 of them: gender, or a,b; where hardly any "
        "participant shares them this does nothing",
        default=None,
    )
    spread: str | None = parameter(
        "public: for each member a synthetic participant, drawn around the mean of the group, so "
        "that ordinary models learn from the release; how much people differ is known from "
        "published norms and simulated participants, never from these people",
        default=None,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spread is not None:
            if self.spread != PUBLIC:
                raise InputError(
                    f"spread must be {PUBLIC}, or left out, got '{self.spread}': it is never taken "
                    "from the people who are released"
                )
            object.__setattr__(self, "copies", True)
        if isinstance(self.length, int):
            if self.length < 1:
                raise InputError(f"length must be at least 1, got {self.length}")
        elif self.length not in ("group", "shortest"):
            raise InputError(f"length must be a number, group or shortest, got '{self.length}'")
        if self.resample is not None:
            if self.resample < 1:
                raise InputError(f"resample must be at least 1, got {self.resample}")
            if self.length != "group":
                raise InputError(
                    "length cuts recordings, and resample takes rows from all of each: choose one"
                )
        if self.l is not None and self.diverse is None:
            raise InputError(
                f"l = {self.l} values of what? Name the attribute with diverse=NAME, or leave l out"
            )
        if self.diverse is not None and self.l is None:
            object.__setattr__(self, "l", 2)
        if self.values_of_diverse < 2:
            raise InputError(f"l must be at least 2, got {self.l}: one value is no diversity")
        if self.values_of_diverse > self.k:
            raise InputError(f"l = {self.l} values need as many people: choose k ≥ {self.l}")

    @property
    def values_of_diverse(self) -> int:
        """How many values of the sensitive attribute every group has at least."""
        return 2 if self.l is None else self.l

    def taken(self, table: FeatureTable) -> FeatureTable:
        """The rows that go into means: all, or a public number, spread evenly over a recording."""
        return table if self.resample is None else resampled(table, self.resample)

    def facts(self, table: FeatureTable) -> PublicFacts:
        """People, different recordings over everybody, rows of the shortest, features."""
        table = self.taken(table)
        most = self.length if isinstance(self.length, int) else table.shortest
        return PublicFacts(
            people=table.recordings["person"].n_unique(),
            recordings=len(slots_of(table).names),
            length=min(most, table.shortest),
            features=len(table.features),
            window=window_rows(table),
        )

    def check(self, table: FeatureTable) -> None:
        """Refuse groups that could not be made, or would have nothing in common."""
        super().check(table)
        # Values are clipped for every caller: bounds that are none are refused.
        Bounds({f.name: (f.lower, f.upper) for f in table.features})
        if self.spread is not None:
            spread_of_features(table)
        self._check_rows(table)
        if len(lacking(table)) == len(slots_of(table).names):
            people = with_every_task(table).recordings["person"].n_unique()
            complete = f" (`people='every-task'` leaves {people})" if people >= self.k else ""
            raise InputError(
                "there is no recording that everybody has (by task and order), so a group might "
                f"have nothing in common: leave out the people who lack most{complete}"
            )
        self._strata(table)

    def _check_rows(self, table: FeatureTable) -> None:
        """Refuse recordings that have fewer rows than all are resampled to.

        Where some rows of a member are taken twice, a step of the mean is the others' alone.
        """
        rows = table.recordings["rows"].to_numpy()[~table.blank]
        if self.resample is not None and rows.size and rows.min() < self.resample:
            few = int((rows < self.resample).sum())
            raise InputError(
                f"resample={self.resample}: {plural(few, 'recording')} of {rows.size} "
                f"{'has' if few == 1 else 'have'} fewer rows, the shortest {rows.min()}, and a row "
                f"that is taken twice would show steps of the others alone: choose "
                f"resample={rows.min()} or less, or leave short recordings out "
                "(`min_seconds` where windows are made, "
                "or else the people who have them, with `people`)"
            )

    def _strata(self, table: FeatureTable) -> list[list[str]]:
        """The attributes that people are dealt out by, the sensitive one first."""
        people = int(slots_of(table).owner[-1]) + 1
        if self.diverse is None:
            group_sizes(people, self.k)
            return attributes_to_balance(table, self.balance)
        values = attribute_of_everybody(table, self.diverse)
        self._check_diverse(values)
        return [values, *attributes_to_balance(table, self.balance, within=values)]

    def _check_diverse(self, values: list[str]) -> None:
        """Refuse groups that cannot all have as many values, and say which k or l would do."""
        wanted, there = self.values_of_diverse, len(set(values))
        if there < wanted:
            instead = f"choose l = {there}, or leave it out" if there > 1 else "leave diverse out"
            raise InputError(
                f"{self.diverse} has {there} value{'s' * (there > 1)} over everybody, so that no "
                f"group can have {wanted}: {instead}"
            )

        def sure(k: int) -> int:
            return fewest_values(values, len(group_sizes(len(values), k)))

        if sure(self.k) < wanted:
            # One group of everybody has them all.
            enough = next(k for k in range(self.k, len(values) + 1) if sure(k) >= wanted)
            enough = min(group_sizes(len(values), enough))
            fewer = f" or l = {sure(self.k)}" if sure(self.k) > 1 else ""
            raise InputError(
                f"{groups_in_words(len(values), self.k)} cannot all be sure of {wanted} values of "
                f"{self.diverse}: choose k = {enough}{fewer}"
            )

    def partition(self, table: FeatureTable, noise: Randomness) -> Members:
        """Who is in which group: no gaze goes into it. Never to be shown."""
        people = int(slots_of(table).owner[-1]) + 1
        return random_groups(people, self.k, noise, self._strata(table))

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """One released person a group, or one for each member.

        Time stamps are rewritten to the step, labels are dropped.
        """
        self.check(table)
        means = self.averaged(table, self.partition(table, noise))
        return means if self.spread is None else self.drawn_around(means, noise)

    def drawn_around(self, means: FeatureTable, noise: Randomness) -> FeatureTable:
        """Synthetic participants around the means of groups, of which nothing else is known."""
        return drawn_around(means, noise)

    @property
    def averaging(self) -> KSame:
        """What makes the means, one record a group, whatever is made of them."""
        return replace(self, copies=False, spread=None)

    def averaged(self, table: FeatureTable, member: Members) -> FeatureTable:
        """The means of given groups, or copies of them; no spread is drawn yet."""
        table = self.taken(table)
        sums = summing(table, member, self.length)
        names = group_names(sums.sizes.size)
        columns = [
            sums.mean(table.data[feature.name], feature)
            for feature in track(table.features, "averaging groups")
        ]
        keys = (
            slots_of(table)
            .names[sums.slot]
            .with_columns(
                pl.Series("person", names)[sums.group],
                pl.Series("time_ms", sums.row * (table.step_ms or 1.0)),
            )
        )
        order = ["person", "recording", "task", "stimulus", "time_ms"]
        data = keys.select(order).with_columns(columns)
        weights = pl.Series("people", sums.sizes)
        people = pl.DataFrame({"person": names}).with_columns(weights)
        if self.copies and self.spread is None:
            data, people = copied(data, people)
        return replace(table, data=data, people=people)

    def expected_empty(self, table: FeatureTable) -> dict[str, float]:
        """By feature, the share of cells that are empty because a member has no value.

        Expected over random groups: of n people, m of whom have a value in some row, s are drawn
        who all have one with probability C(m, s) / C(n, s). A group has rows as far as all members
        go who have values at all. Attributes that groups are balanced by play no part.
        """
        table = self.taken(table)
        slots, ends = slots_of(table), rows_that_end(table)
        rows = table.recordings["rows"].to_numpy().astype(np.int64)
        people = int(slots.owner[-1]) + 1
        most = int(rows[~table.blank].max()) if not table.blank.all() else 1
        if isinstance(self.length, int):
            most = min(most, self.length)
        elif self.length == "shortest":
            most = table.shortest
        row = np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)
        cell = np.repeat(slots.slot, rows) * most + row
        cells = len(slots.names) * most
        # How many people go beyond each row of each slot: all but those who ended before.
        ended = np.zeros((len(slots.names), most + 1), dtype=np.int64)
        np.add.at(ended, (slots.slot, np.minimum(ends, most)), 1)
        going_on = ended[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:].ravel()
        seen = np.bincount(cell[row < most], minlength=cells) > 0
        groups = np.sum([many for _, many in self._groups_with(people)], axis=0)
        there = groups[going_on[seen]].sum()
        full = {}
        for name in table.names:
            known = table.data[name].cast(pl.Float64).fill_nan(None).is_not_null().to_numpy()
            have = np.bincount(cell[known & (row < most)], minlength=cells)
            full[name] = groups[have].sum()
        return {name: float(1 - each / there) if there else 0.0 for name, each in full.items()}

    def expected_left_out(self, table: FeatureTable) -> float:
        """The share of people's rows that are in no mean, because a member lacks such a row.

        Expected over random groups, as of `expected_empty`.
        """
        table = self.taken(table)
        slots, blank = slots_of(table), table.blank
        rows = np.where(blank, 0, table.recordings["rows"].to_numpy().astype(np.int64))
        most = max(1, int(rows.max()))
        if isinstance(self.length, int):
            most = min(most, self.length)
        elif self.length == "shortest":
            most = table.shortest
        lengths = np.zeros((len(slots.names), most + 1), dtype=np.int64)
        np.add.at(lengths, (slots.slot, np.minimum(rows, most)), 1)
        # How many people have a row, by slot and row.
        have = lengths[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:].ravel()
        groups = self._groups_with(int(slots.owner[-1]) + 1)
        taken = sum(size * many[have].sum() for size, many in groups)
        return float(1 - taken / rows.sum()) if rows.any() else 0.0

    def _groups_with(self, people: int) -> list[tuple[int, NDArray[np.float64]]]:
        """Sizes of groups and, by how many of everybody have something, how many have it all."""
        found = []
        for size, many in Counter(group_sizes(people, self.k)).items():
            all_of_it = np.full(people + 1, float(many))
            for place in range(size):
                all_of_it *= np.maximum(np.arange(people + 1) - place, 0) / (people - place)
            found.append((size, all_of_it))
        return found

    def sampler(self, facts: PublicFacts) -> str:
        """What is random, in words."""
        drawn = (
            "; and, around the means, the spread of synthetic participants, which protects nobody"
            if self.spread
            else ""
        )
        return (
            f"no noise: one random partition of {facts.people} people into "
            f"{groups_in_words(facts.people, self.k)}, used for all recordings{drawn}"
        )

    def worth(self, facts: PublicFacts) -> str:
        """That means keep what people have in common, how many there will be, and a better k."""
        sizes = group_sizes(facts.people, self.k)
        said = [
            f"Without noise: {groups_in_words(facts.people, self.k)} people, whose means keep what "
            "members have in common (tasks) and lose what sets them apart. How far a mean "
            "is from a person depends on how much people differ."
        ]
        if self.spread:
            said = [
                f"Around the means of {groups_in_words(facts.people, self.k)} people a synthetic "
                "participant is drawn for each member, with a spread from published norms and "
                "simulated participants: ordinary models learn tasks from them. That spread, and "
                "what goes together in it, is public knowledge and no result about these people."
            ]
        else:
            said.append(
                "Models that are trained on means expect less spread than people have: "
                f"spread={PUBLIC} draws it anew."
            )
        if min(sizes) > self.k:
            said.append(f"k = {min(sizes)} would give the same groups and a better promise.")
        if len(sizes) == 1:
            half = facts.people // 2
            more = f": k = {half} or less gives several" if half > 1 else ""
            said.append(f"With one group there is nothing to compare{more}.")
        return " ".join(said)

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the means show besides."""
        facts = self.facts(table)
        sizes = group_sizes(facts.people, self.k)
        each = ", ".join(str(size) for size in sorted(set(sizes)))
        how = {
            "group": "the rows of each group's recordings, which are those of its shortest member "
            "who has values, or of the shortest recording of all where none has",
            "shortest": f"the rows of the shortest recording of all that has values "
            f"({facts.length})",
        }.get(
            str(self.length),
            "the rows of groups with a recording shorter than the length that was asked for",
        )
        if self.resample is not None:
            how = (
                "nothing of how long recordings are, but that none has fewer rows than it was "
                f"resampled to: all have {plural(self.resample, 'row')}, spread evenly over each, "
                "so that times count rows and are no milliseconds"
            )
        shown = [
            f"the number of people ({facts.people}), that each of them took part, and the sizes of "
            f"the groups ({each})",
            "which group a participant is in, to those who have recordings of them: hidden is only "
            "which of its members it is",
            everything_of_the_last(min(sizes)),
            "what the members of a group have in common: a mean is published without noise, and "
            "whatever is true of all of them is true of each",
            how,
            "the tasks, and what a group lacks: recordings that one of its members lacks, and "
            "values that one of them lacks, where the cell is empty: all cells of a recording, if "
            "one of them has no value of it (too short, too slow, nothing seen)",
        ]
        if self.spread:
            shown += spread_in_the_open(table)
        if self.diverse:
            apart = most_apart(facts.people, self.k)
            shown.append(
                f"the {self.diverse} of a member to those who know it of the others of the group: "
                f"every group has at least {self.values_of_diverse} values, and the numbers of "
                f"people of each differ by at most {apart} from group to group"
            )
        if self.balance:
            dealt = f"{self.diverse},{self.balance}" if self.diverse else self.balance
            shown.append(spread_in_words(dealt, facts.people, self.k))
        return shown


def with_every_task(table: FeatureTable) -> FeatureTable:
    """The people who have every task that any person has.

    Args:
        table: of everybody.
    """
    if "task" not in table.recordings.columns:
        return table
    done = table.recordings.group_by("person").agg(pl.col("task").n_unique())
    every = done.filter(pl.col("task") == table.recordings["task"].n_unique())
    return replace(table, data=table.data.join(every, on="person", how="semi"))
