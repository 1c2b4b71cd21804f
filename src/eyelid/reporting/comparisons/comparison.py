"""What a comparison found, row by row: what each release promises a person, and what came of it.

A figure is the mean over people and runs, and its limits hold for other people and for other noise.
Limits over people alone miss that one draw of the noise may serve everybody: the mean of a group,
synthetic participants, what a model has learned from. All are then better or worse together, which
only further runs can tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from eyelid.attacks.outcome import Questions
from eyelid.display import Framed
from eyelid.reporting.comparisons.frame import CallableFrame
from eyelid.reporting.comparisons.row import Row, price_of, rate_to_dict, total_in_words, total_of
from eyelid.spelling import Table, json_text, plural

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

# How a figure stands to what is allowed.
WITHIN_CHANCE = "within chance"
ABOVE = "ABOVE what is allowed: please report"
UNCOVERED = (
    "Measured on these people without noise: no certificate covers these figures, nor a choice "
    "that is made by them. Publish them only if you mean to."
)
COUNTED = (
    "Nothing was released, so nothing was counted in a ledger. 'eyelid recommend' chooses without "
    "looking at these people, or pays for looking."
)

# How often limits may miss the truth where the best of many is looked at.
_STRICT = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Framed):
    """Mechanisms side by side.

    Attributes:
        raw: the data as they are.
        rows: every setting asked for, in order.
        questions: what was asked of each.
        people: how many.
        repeats: noisy runs of each setting.
        seed: of all of them.
        simulated: whether the participants are simulated.
        written: the page, if one was.
        options: what to type for the same.
        remarks: what else there is to say about what was asked.
    """

    raw: Row
    rows: tuple[Row, ...]
    questions: Questions
    people: int
    repeats: int
    seed: int
    simulated: bool = False
    written: Path | None = None
    options: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def command(self, source: str = "IN") -> str:
        """What to type to see the same again."""
        return " \\\n  ".join([f"eyelid compare {source}", *self.options])

    @property
    def chance(self) -> float:
        """Chance of re-identifying a person by guessing."""
        return self.raw.runs[0].chance

    @property
    def used_chance(self) -> float:
        """The rate of telling the target without data."""
        return self.raw.runs[0].used_chance

    @property
    def ran(self) -> list[Row]:
        """What was run."""
        return [row for row in self.rows if row.runs]

    def useful(self, row: Row) -> bool:
        """Whether a row is better than guessing, by its lower 99% limit.

        Many are tried and the best is looked at: of 40 that are useless, at 95% one would seem
        better, at 99% one in five such comparisons has one.
        """
        used = row.used(self.used_chance, _STRICT)
        same = row.says_the_same(self.used_chance)
        return used is not None and not same and used.low > self.used_chance

    def against_promise(self, row: Row) -> str:
        """A word where more are re-identified than the guarantee allows; else empty.

        The strongest of several attackers against the best of many rows is above a bound now and
        then. It is called so only by limits that allow for all of them.
        """
        bound = None if row.promise is None else row.promise.bound(self.people)
        if bound is None or row.named is None or row.named.rate <= bound:
            return ""
        tries = len(row.runs[0].named) * len(self.ran)
        surely = row.named_within(0.05 / tries)
        return ABOVE if surely is not None and surely.low > bound else WITHIN_CHANCE

    @property
    def skipped(self) -> list[Row]:
        """What could not be, with reasons."""
        return [row for row in self.rows if row.skipped]

    @property
    def unequal(self) -> str:
        """How different the promises are, in a sentence; empty where all promise a person alike."""
        totals: dict[tuple[str, str], list[str]] = {}
        for row in self.ran:
            totals.setdefault(price_of(row.promised), []).append(row.name)
        if len(totals) < 2:
            return ""
        return (
            f"There are {len(totals)} different promises to a person: compare those with the same."
        )

    @property
    def notes(self) -> list[str]:
        """What its readers must know."""
        above = [row.name for row in self.ran if self.against_promise(row) == ABOVE]
        broken = (
            "More participants are re-identified than is allowed, please report it: "
            f"{'; '.join(above)}."
        )
        lines = [broken if above else "", self.unequal, self._one_draw, *self.remarks]
        return [*filter(None, lines), *([] if self.simulated else [UNCOVERED]), COUNTED]

    @property
    def _one_draw(self) -> str:
        questions = self.questions
        if (
            questions.target is None
            or questions.concluded
            or not any(row.one_draw for row in self.ran)
        ):
            return ""
        return (
            "One draw serves everybody in means, groups and synthetic participants: what another "
            "draw would give is not to be seen in a single run. --repeats 3 or more gives limits."
        )

    @property
    def frame(self) -> pl.DataFrame:
        """The table, one row a setting, the raw data first."""
        return CallableFrame(self.records(), infer_schema_length=None)

    def in_short(self) -> Table:
        """The settings, and what came of each."""
        rows = [(row.name, self._briefly(row)) for row in (self.raw, *self.rows)]
        simulated = "simulated " * self.simulated
        whose = plural(self.people, f"{simulated}person", f"{simulated}people")
        return Table(f"Comparison on {whose}", ("setting", "found"), rows)

    def _briefly(self, row: Row) -> str:
        """What came of a setting, in a few words."""
        if row.skipped:
            return f"not run: {row.skipped}"
        named, used = row.named, row.used(self.used_chance)
        parts = [
            "nobody's record" if named is None else f"{named.rate:.0%} re-identified",
            "" if used is None else f"{self.questions.used_as} {used.rate:.0%}",
            "" if row.promise is None else total_of(row.promise),
        ]
        return ", ".join(filter(None, parts))

    def plot(self, ax: Axes | None = None, *, caption: bool = False) -> Axes:
        """The privacy–utility plane: who is re-identified against what the data are good for.

        Args:
            ax: where to draw the plane alone, with the settings' names; by default a figure of its
                own, with what each setting promises beside it, in the sizes of a paper.
            caption: whether to write what boxes mean, and on whom it was measured.
        """
        from eyelid.reporting.comparisons.scene import scene_of
        from eyelid.reporting.plane import draw_plane

        return draw_plane(replace(scene_of(self), captioned=caption), ax)

    def records(self) -> list[dict[str, Any]]:
        """The table as plain values."""
        return [self._record(row) for row in (self.raw, *self.rows)]

    def _record(self, row: Row) -> dict[str, Any]:
        promise, named = row.promise, row.named
        used = rate_to_dict(row.used(self.used_chance))
        if used is not None and row.one_draw:
            used |= {"low": None, "high": None}
        return {
            "setting": row.name,
            "mechanism": None if row.setting is None else row.setting.mechanism,
            "parameters": {} if row.setting is None else dict(row.setting.parameters),
            "guarantee": None if promise is None else promise.guarantee.to_dict(),
            "person_level": None if promise is None else promise.person_level.to_dict(),
            "person_total": total_in_words(row),
            "rank1_bound": None if promise is None else promise.bound(self.people),
            "named": rate_to_dict(named),
            "above_bound": self.against_promise(row) or None,
            "attacker": row.attacker,
            "names_nobody": row.nobodys,
            "used": used,
            "one_draw": row.one_draw,
            "same_answer": row.says_the_same(self.used_chance),
            "not_used": row.not_used or None,
            "attributes": {
                name: None
                if rate is None
                else dict(zip(("rate", "low", "high"), rate, strict=True))
                | {"public": row.shows(name)}
                for name in self.questions.attributes
                for rate in [row.inferred(name)]
            },
            "error_of_span": row.error_of_span,
            "errors": {
                name: {"value": value, "unit": unit} for name, (value, unit) in row.errors.items()
            },
            "runs": len(row.runs),
            "skipped": row.skipped or None,
        }

    def to_dict(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            "schema": "eyelid/comparison/1",
            "people": self.people,
            "simulated": self.simulated,
            "target": self.questions.target,
            "attackers": list(self.questions.attackers),
            "model": self.questions.model,
            "repeats": self.repeats,
            "seed": self.seed,
            "chance": {"named": self.chance, "used": self.used_chance},
            "rows": self.records(),
            "notes": self.notes,
        }

    def to_json(self) -> str:
        """The text of it."""
        return json_text(self.to_dict())

    def picture(self) -> Markup:
        """The privacy–utility plane, as SVG."""
        from eyelid.reporting.comparisons.scene import scene_of
        from eyelid.reporting.plane import plane

        return plane(scene_of(self))

    def save_picture(self, path: Path | str) -> None:
        """Write the plane to a file, SVG, PDF or PNG by its ending."""
        from eyelid.reporting.comparisons.scene import scene_of
        from eyelid.reporting.plane import save_plane

        save_plane(scene_of(self), Path(path))
