"""What was found for the user's goals: commands to run, or what comes closest."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from eyelid.comparisons.facts import Facts
from eyelid.comparisons.goals import Goals
from eyelid.comparisons.private_choice import PrivateChoice
from eyelid.comparisons.verdicts import Judged
from eyelid.display import Framed
from eyelid.privacy.guarantee import Guarantee
from eyelid.reporting.comparisons.row import total_of
from eyelid.spelling import Table, json_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("setting", "person_total"), pl.String),
    "meets": pl.Boolean,
    **dict.fromkeys(("off", "re_identified", "used"), pl.Float64),
    "command": pl.String,
}
SIMULATED = (
    "Measured on simulated participants who have the public facts of yours. Nothing else of your "
    "people was looked at, so it costs nothing. Certificates list these facts as unprotected; "
    "synthetic alone would hide the length and who has how many recordings, of which the choice "
    "itself may tell a little. Your people may differ: audit what you release."
)
CHOSEN = (
    "Chosen by the votes of blocks of your people under noise, so that a different choice was "
    "possible. Figures, where there are any, are of simulated participants: those of yours are not "
    "shown. What could be chosen follows from public facts. Certificates list these as "
    "unprotected; synthetic alone would hide the length and who has how many recordings, of which "
    "the choice itself may tell a little."
)
ALONE = (
    "ksame was left out: its one chance in k is promised of the only release of these people, and "
    "this choice is counted as one"
)
BESIDE = (
    "ksame was left out: its one chance in k is promised of the only release of these people, and "
    "the ledger has counted {count} of them already"
)


@dataclass(frozen=True)
class Instead:
    """What would work if some goals were given up.

    Attributes:
        without: the goals.
        judged: the release that meets all others, with the strongest promise.
    """

    without: tuple[str, ...]
    judged: Judged


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(Framed):
    """Which release meets the goals.

    Attributes:
        goals: what was asked for.
        facts: the public facts of the study.
        best: what meets all goals, the strongest promise to a person first; of a choice on own
            data, the one that was chosen.
        closest: what misses least, where nothing meets them.
        instead: which goals would have to be given up, and for what.
        tried: everything that was run on simulated participants.
        skipped: what cannot be run with these facts, with reasons.
        studies: how many simulated studies the best and the closest were measured on.
        choice: how a choice on own data is made, and what it costs; None on simulated participants.
        counted: whether a ledger has counted it.
        source: as commands name it.
        notes: what to know besides.
    """

    goals: Goals
    facts: Facts
    best: tuple[Judged, ...] = ()
    closest: tuple[Judged, ...] = ()
    instead: tuple[Instead, ...] = ()
    tried: tuple[Judged, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    studies: int = 0
    choice: PrivateChoice | None = None
    counted: bool = False
    source: str = "IN"
    notes: tuple[str, ...] = ()

    @property
    def frame(self) -> pl.DataFrame:
        """What was tried, one row a release: what it promises, and how it stands to the goals."""
        source = shlex.quote(self.source)
        rows = []
        for one in (*self.best, *(each for each in self.tried if each not in self.best)):
            facts, figures = one.to_dict(source), one.figures
            row = {name: facts[name] for name in ("setting", "person_total", "meets", "off")}
            row["re_identified"] = figures and figures.named and figures.named.rate
            row["used"] = figures and figures.used and figures.used.rate
            rows.append(row | {"command": facts["command"]})
        return pl.DataFrame(rows, schema=_SCHEMA)

    def in_short(self) -> Table:
        """What meets the goals, or comes closest."""
        shown = self.best or self.closest
        found = "chosen" if self.own else "meets them" if self.best else "comes closest"
        rows = [("goals", ", ".join(goal.text for goal in self.goals.asked))]
        rows += [
            (found, f"{one.candidate.setting}: {total_of(one.candidate.promise)}")
            for one in shown[:4]
        ]
        rows += [("to run", command) for command in self.commands[:1]]
        return Table("Recommendation", ("what", "value"), rows)

    def plot(self, ax: Axes | None = None, *, caption: bool = False) -> Axes:
        """Everything that was tried on the privacy–utility plane, on simulated participants.

        Args:
            ax: where to draw the plane alone; by default a figure of its own, with what each
                setting promises beside it, in the sizes of a paper.
            caption: whether to write what boxes mean, and on whom it was measured.
        """
        from eyelid.comparisons.recommendation_scene import scene_of
        from eyelid.reporting.plane import draw_plane

        return draw_plane(replace(scene_of(self), captioned=caption), ax)

    @property
    def own(self) -> bool:
        """Whether these people's data decided."""
        return self.choice is not None

    @property
    def met(self) -> bool | None:
        """Whether simulated participants met all goals; None where nothing was measured."""
        if self.own:
            return None
        return bool(self.best)

    @property
    def commands(self) -> list[str]:
        """What to type, the best first."""
        return [one.candidate.setting.command(shlex.quote(self.source)) for one in self.best]

    def with_choice(self, one: Judged) -> Guarantee:
        """What a person is promised about the choice and the release together.

        What looks at the same people twice adds up.
        """
        person = one.candidate.promise.person_level
        if self.choice is None or person.epsilon is None:
            return person
        return replace(person, epsilon=person.epsilon + self.choice.epsilon, mu=None)

    def to_dict(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        source = shlex.quote(self.source)
        choice = self.choice
        return {
            "schema": "eyelid/recommendation/1",
            "goals": [
                {
                    "goal": goal.text,
                    "name": goal.name,
                    "sign": goal.sign,
                    "limit": goal.word or goal.limit,
                }
                for goal in self.goals.asked
            ],
            "met": self.met,
            "data": "own" if self.own else "simulated",
            "facts": self.facts.to_dict(),
            "cost": None
            if choice is None
            else {
                "guarantee": choice.guarantee.to_dict(),
                "blocks": choice.blocks,
                "candidates": choice.candidates,
                "sure": choice.sure,
                "counted": self.counted,
                "with_release": [self.with_choice(one).summary() for one in self.best],
            },
            "commands": self.commands,
            "best": [one.to_dict(source) for one in self.best],
            "closest": [one.to_dict(source) for one in self.closest],
            "instead": [
                {"without": list(one.without)} | one.judged.to_dict(source) for one in self.instead
            ],
            "candidates": [one.to_dict(source) for one in self.tried],
            "skipped": [{"setting": name, "why": why} for name, why in self.skipped],
            "studies": self.studies,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The text of it."""
        return json_text(self.to_dict())
