"""k-same-select sequence as printed in David-John et al. 2022, and what undoes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.anonymity import AnonymisingMechanism
from eyelid.mechanisms.groups.partition import everything_of_the_last, groups_and_a_rest
from eyelid.mechanisms.groups.slots import Slots, slots_of
from eyelid.mechanisms.mechanism import PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.mechanisms.release_kind import Execution
from eyelid.papers.signals import TaskSignals, signals_of, table_of
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust, Unit

BY_TASK, ONCE = GROUPINGS = ("task", "once")


@dataclass(frozen=True)
class TaskFacts(PublicFacts):
    """Public facts of people who did several tasks.

    Attributes:
        tasks: the most different ones that any person has done.
    """

    tasks: int = 1


@register
@dataclass(frozen=True)
class KSamePaper(AnonymisingMechanism):
    """Means over groups of k people, in either reading of the paper: k-same-select as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "Means over groups of k people, in either reading of the paper: k-same-select as "
            "printed."
        ),
        takes="""a FeatureTable, unclipped; missing values repeat the last known one, and recordings
        repeat their last row until the longest one of the task ends. Every task needs k people.""",
        protects="""less than it prints; it is here to be compared with `ksame`. Printed is that
        a person is re-identified with a probability of 1/k at most.""",
        why="""people are put into groups of k in random order, the i-th rows of a group are
        averaged, and everybody gets a copy of their group's means under their own name. The paper
        has two readings: the pseudocode draws groups anew for each task, and the poster averages
        within utility classes (``grouping=task``); the text has "the same groupings of individuals"
        for each stimulus (``grouping=once``). Drawn anew, one task alone has k equal copies, but a
        name links tasks: an attacker who finds a person's group in each of them is left with the
        few names that are in all of them, mostly one (`found_by_intersection`). Drawn once, an
        intersection finds nothing new. In both, a mean moves by 1/k of what the longest member
        moves once all others have ended, which gives their increments away, and the last group has
        fewer than k people when k does not divide their number.""",
        paper="""David-John, Butler & Jain 2022 (k-same-select sequence), after Gross et al. 2005
        and Newton et al. 2005. Several recordings of a task share its groups; people who lack one
        are left out of its means.""",
    )
    name: ClassVar[str] = "ksame-paper"
    trust: ClassVar[Trust] = Trust.LOCAL
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    claims_to_hold: ClassVar[bool] = False
    mixes_people: ClassVar[bool] = True
    # In one of its readings; an audit tries the intersection in both.
    regroups: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets (k-same-select sequence); Gross, Airoldi, Malin & Sweeney (2005); Newton, "
        "Sweeney & Malin (2005)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"k": 4},)

    grouping: str = parameter(
        "'task': groups drawn anew for every task; 'once': one partition for all", default=BY_TASK
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grouping not in GROUPINGS:
            raise unknown("grouping", self.grouping, GROUPINGS)

    @property
    def _anew(self) -> bool:
        """Whether a person's group is another one in another task."""
        return self.grouping == BY_TASK

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """The printed k, which does not hold."""
        return super().cost(facts, unit).broken(*self.why_not(facts))

    def why_not(self, facts: PublicFacts) -> Iterator[str]:
        """Why the printed guarantee does not hold, in words.

        Without a study nobody knows how many tasks there are: then each recording counts as one.
        """
        tasks, assumed = facts.recordings, ", taking each recording for one,"
        if isinstance(facts, TaskFacts):
            tasks, assumed = facts.tasks, ""
        if self._anew and tasks > 1:
            found = found_by_intersection(facts.people, self.k, tasks)
            yield (
                f"groups are drawn anew for every task, and names link them: with {tasks} "
                f"tasks{assumed} of {facts.people} people, an attacker who can tell a person's "
                f"group in every task re-identifies them with probability {found:.2g}, not "
                f"1/{self.k}"
            )
        yield (
            "recordings repeat their last row until the longest one of the task ends: where only "
            f"one of a group goes on, {self.k} times the step of the mean is that person's own "
            "step, exactly"
        )
        rest = facts.people % self.k
        if rest:
            whose = "is one person's own record" if rest == 1 else f"has {rest} people"
            yield (
                f"{facts.people} people are no multiple of {self.k}: the last group"
                f"{' of every task' * self._anew} {whose}"
            )

    def person_total(self, facts: PublicFacts) -> str:
        """That there is no bound."""
        linked = (
            "one task looked at alone, and names link the tasks"
            if self._anew
            else "full groups of recordings of one length"
        )
        return (
            f"no bound: 1/{self.k} is printed for {linked}; it is not differential privacy, has no "
            "ε, and adds up with nothing"
        )

    def facts(self, table: FeatureTable) -> PublicFacts:
        """People, the most recordings and tasks of one, rows of the longest, features."""
        owner = slots_of(table).owner
        return TaskFacts(
            people=int(owner[-1]) + 1,
            recordings=int(np.bincount(owner).max()),
            length=int(table.recordings["rows"].to_numpy().max()),
            features=len(table.features),
            window=window_rows(table),
            tasks=int(np.bincount(_takers(table)["person"]).max()),
        )

    def check(self, table: FeatureTable) -> None:
        """Refuse tasks that fewer than k people have."""
        super().check(table)
        for task, people in _takers(table).group_by("task").len().sort("task").rows():
            if people < self.k:
                raise InputError(
                    f"k={self.k} needs at least {self.k} people in every task, '{task}' has "
                    f"{people}: choose k ≤ {people}, or leave the task out"
                )

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """Everybody's recordings, each with the means of their group.

        Time stamps are rewritten to the step, labels are dropped.
        """
        self.check(table)
        slots = slots_of(table)
        everybody = int(slots.owner.max()) + 1
        once = None if self._anew else groups_and_a_rest(everybody, self.k, noise)
        tasks = track(list(signals_of(table)), "averaging groups")
        return table_of([self._averaged(task, slots, once, noise) for task in tasks], table)

    def _averaged(
        self, task: TaskSignals, slots: Slots, once: NDArray[np.intp] | None, noise: Randomness
    ) -> TaskSignals:
        """One task: its people in their groups, or in groups of its own, for all its recordings."""
        owner = slots.owner[task.places]
        if once is None:
            _, person = np.unique(owner, return_inverse=True)
            group = groups_and_a_rest(int(person.max()) + 1, self.k, noise)[person]
        else:
            group = once[owner]
        _, recording = np.unique(slots.slot[task.places], return_inverse=True)
        cell = group * (recording.max() + 1) + recording
        padded = task.padded()
        sums = np.zeros((int(cell.max()) + 1, *padded.values.shape[1:]))
        np.add.at(sums, cell, padded.values)
        sums /= np.maximum(np.bincount(cell), 1)[:, None, None]
        return replace(padded, values=sums[cell])

    def sampler(self, facts: PublicFacts) -> str:
        """What is random, in words."""
        rest = facts.people % self.k
        last = f" and one of {rest}" if rest else ""
        return (
            f"no noise: {facts.people} people in random order, {facts.people // self.k} groups of "
            f"{self.k}{last}, {'anew for every task' if self._anew else 'once for all tasks'}"
        )

    def worth(self, facts: PublicFacts) -> str:
        """That means keep what people have in common."""
        return (
            f"Without noise: everybody has the means of a group of {self.k}, which keep what its "
            "members have in common (tasks). How far a mean is from a person depends on "
            "how much people differ."
        )

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What is released besides; the reasons say why the rest is not safe."""
        return [
            "the number of people, their names and order, their recordings, tasks and stimuli",
            "the rows of the longest recording of each task",
            f"who was in one group{' in a task' * self._anew}: their records are the same",
            everything_of_the_last(self.k),
        ]


def _takers(table: FeatureTable) -> pl.DataFrame:
    """One row for each ``task`` and ``person``, by number, who has done it."""
    slots = slots_of(table)
    tasks = slots.names["task"].gather(slots.slot)
    return pl.DataFrame({"task": tasks, "person": slots.owner}).unique()


def found_by_intersection(people: int, k: int, tasks: int) -> float:
    """How often an attacker who knows a person's group in every task re-identifies them.

    Of the others, some share all groups with a person: with x of them the right one of 1 + x names
    is chosen. Their number is followed from task to task; a group has k people, the last one
    may have fewer.

    >>> round(found_by_intersection(20, 4, 3), 3), found_by_intersection(20, 4, 1)
    (0.963, 0.25)
    """
    from scipy.special import gammaln

    def log_choose(n: NDArray[np.int64] | int, of_them: NDArray[np.int64]) -> Values:
        return np.asarray(gammaln(n + 1) - gammaln(of_them + 1) - gammaln(n - of_them + 1))

    rest, counts = people % k, np.arange(k)
    left, before = counts[:, None], counts
    chance, stays = np.zeros(k), np.zeros((k, k))
    for size, share in ((k, 1 - rest / people), (rest, rest / people)):
        if size:
            chance[size - 1] += share
            # Of those who were with them so far, so many are in the next group too.
            ways = log_choose(size - 1, left) + log_choose(people - size, before - left)
            stays += share * np.exp(ways - log_choose(people - 1, before))
    for _ in range(tasks - 1):
        chance = stays @ chance
    return float(chance @ (1 / (1 + counts)))
