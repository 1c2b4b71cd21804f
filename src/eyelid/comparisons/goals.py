"""What the user wants of a release, as they write it: ``rank1<=2x``, ``task>=0.7``."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from eyelid.comparisons.facts import Facts
from eyelid.errors import InputError, unknown
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.unit import Unit

EXAMPLE = '--goal "rank1<=2x" --goal "task>=0.7" --goal "unit=person" --goal "epsilon<=4"'

# Which way is better, by name; what is none of these is an attribute of people.
_BETTER = {
    "rank1": "<=",
    "task": ">=",
    "error": "<=",
    "epsilon": "<=",
    "delta": "<=",
    "k": ">=",
    "unit": "=",
    "kind": "=",
}
# What a certificate says before anything is run; the others are measured.
PROMISES = ("epsilon", "delta", "k", "unit", "kind")
_UNITS = ("person", "recording", "record", "chunk")
_KINDS = (Kind.PURE, Kind.APPROXIMATE, Kind.K_ANONYMITY, Kind.DENIABILITY)
_LETTERS = {"ε": "epsilon", "eps": "epsilon", "δ": "delta", "rank-1": "rank1"}
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_FORM = re.compile(r"^\s*(.+?)\s*(<=|>=|=<|=>|==|≤|≥|<|>|=)\s*(.+?)\s*$")
_NUMBER = re.compile(r"^(\S+?)\s*(x|×|%)?$", re.IGNORECASE)
_SPELLINGS = {"=<": "<=", "=>": ">=", "==": "=", "≤": "<=", "≥": ">="}


@dataclass(frozen=True)
class Goal:
    """One thing that is wanted.

    Attributes:
        text: as it was written.
        name: ``rank1``, ``task``, ``error``, ``epsilon``, ``delta``, ``k``, ``unit``, ``kind``, or
            an attribute of people.
        sign: which way.
        limit: a number, rank1 as a share of people; 0 where the goal is a word.
        word: the unit or kind asked for.
        chance: what guessing gives, where it is a share.
    """

    text: str
    name: str
    sign: str
    limit: float = 0.0
    word: str = ""
    chance: float = 0.0

    @property
    def measured(self) -> bool:
        """Whether it takes a run to know."""
        return self.name not in PROMISES

    @property
    def is_attribute(self) -> bool:
        """Whether it is about an attribute of people."""
        return self.name not in _BETTER

    def met(self, value: float) -> bool:
        """Whether a figure is good enough; the last digits of floating point do not count."""
        return _SIGNS[self.sign](value, self.limit) or (
            "=" in self.sign and math.isclose(value, self.limit, rel_tol=1e-9)
        )


@dataclass(frozen=True)
class Verdict:
    """What became of one goal.

    Attributes:
        goal: as it was written.
        met: whether by the mean, or by the promise.
        clearly: whether by the 95% limit too: of simulated participants, no promise about others.
        guaranteed: whether the guarantee implies it.
        off: how far off, from 0 to 1.
        value: the mean figure; None where there is none.
        low: its lower limit.
        high: its upper limit.
        says: what the figure does not tell.
    """

    goal: str
    met: bool
    clearly: bool = False
    guaranteed: bool = False
    off: float = 0.0
    value: float | None = None
    low: float | None = None
    high: float | None = None
    says: str = ""


@dataclass(frozen=True)
class Goals:
    """All that is wanted of one release.

    Attributes:
        asked: every goal, in the order given.
    """

    asked: tuple[Goal, ...]

    def find(self, name: str) -> Goal | None:
        """The goal of that name, if there is one."""
        return next((goal for goal in self.asked if goal.name == name), None)

    @property
    def unit(self) -> str | None:
        """The unit asked for."""
        goal = self.find("unit")
        return None if goal is None else goal.word

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that should not be told."""
        return tuple(goal.name for goal in self.asked if goal.is_attribute)

    def after(self, spent: float) -> Goals:
        """What is left for a release when so much ε was spent on choosing it.

        A unit smaller than a person is part of one, so that it counts for every unit.
        """
        goal = self.find("epsilon")
        if goal is None:
            return self
        if spent >= goal.limit:
            raise InputError(
                f"`tuning_epsilon={spent:g}` leaves nothing of {goal.text}: choose one below "
                f"{goal.limit:g}, so that something is left for the release"
            )
        text = f"{goal.text} less {spent:g} for the choice"
        return self._with(replace(goal, text=text, limit=goal.limit - spent))

    def _with(self, changed: Goal) -> Goals:
        """These, with one of them changed."""
        return Goals(tuple(changed if one.name == changed.name else one for one in self.asked))

    def without_promises(self) -> Goals:
        """What is measured alone."""
        return Goals(tuple(goal for goal in self.asked if goal.measured))

    def among(self, people: int, everybody: int) -> Goals:
        """These goals about a part of the people: as many times as often as guessing names."""
        goal = self.find("rank1")
        if goal is None:
            return self
        limit = min(1.0, goal.limit * everybody / people)
        return self._with(replace(goal, limit=limit, chance=1 / people))


def goals_of(texts: Sequence[str], facts: Facts) -> Goals:
    """What was asked for, refused where it makes no sense for a study with these facts.

    >>> facts = Facts(20, 3, 600, ("comic", "news"), ("fixation_rate",), ("gender",))
    >>> [(goal.name, goal.limit) for goal in goals_of(["rank1 <= 2x", "task≥70%"], facts).asked]
    [('rank1', 0.1), ('task', 0.7)]
    """
    if not texts:
        raise InputError(f"no goal is given: say what you want, such as {EXAMPLE}")
    found = [_parsed(text, facts) for text in texts]
    for one, other in itertools.combinations(found, 2):
        if one.name == other.name:
            raise InputError(_both(one, other))
    for goal in found:
        _check(goal, facts)
    return Goals(tuple(found))


def _parsed(text: str, facts: Facts) -> Goal:
    parts = _FORM.match(text)
    if parts is None:
        raise InputError(f"'{text}' is no goal: write one as {EXAMPLE}")
    name, sign, value = parts[1], _SPELLINGS.get(parts[2], parts[2]), parts[3]
    if name not in facts.attributes:
        name = _LETTERS.get(name.lower(), name.lower())
    if name not in (*_BETTER, *facts.attributes):
        raise unknown("goal", name, [*_BETTER, *facts.attributes])
    short = f"{name}{sign}{value}"
    if _BETTER.get(name) == "=":
        if sign != "=":
            raise InputError(f"{short}: {name} is a word, write {name}={value}")
        return Goal(short, name, sign, word=value)
    written = _NUMBER.match(value)
    digits, sign_after = written.groups("") if written else (value, "")
    try:
        number = float(digits) / (100 if sign_after == "%" else 1)
    except ValueError:
        raise InputError(f"{short}: '{value}' is no number") from None
    times = sign_after not in ("", "%")
    if times and name != "rank1":
        raise InputError(f"{short}: only rank1 is given in times chance (x)")
    if sign_after == "%" and name in PROMISES:
        raise InputError(f"{short}: {name} is no share, write it without %")
    chance = {"rank1": facts.chance, "task": 1 / max(1, len(facts.tasks)), "error": 0.0}
    limit = number / facts.people if times else number
    return Goal(short, name, sign, limit, chance=chance.get(name, 0.5))


def _both(one: Goal, other: Goal) -> str:
    """What is wrong with two goals about the same thing."""
    below, above = (
        {goal.text: goal.limit for goal in (one, other) if goal.sign[0] in signs}
        for signs in ("<=", ">=")
    )
    apart = one.word != other.word or any(
        low < high
        for first, low in below.items()
        for second, high in above.items()
        if first != second
    )
    if apart:
        return f"{one.text} and {other.text} contradict each other: nothing is both"
    return f"{one.text} and {other.text} are both about {one.name}: give one of them"


def _check(goal: Goal, facts: Facts) -> None:
    """Refuse what cannot be, or is the wrong way round."""
    text, name, limit = goal.text, goal.name, goal.limit
    if name == "unit":
        word = goal.word.partition(":")[0]
        if word not in _UNITS:
            raise unknown("unit", goal.word, _UNITS)
        if ":" in goal.word:
            Unit.parse(goal.word)
        return
    if name == "kind":
        if goal.word not in _KINDS:
            raise unknown("kind", goal.word, _KINDS)
        return
    better = _BETTER.get(name, "<=")
    right = f"{name}{better}{text[len(name) + len(goal.sign) :]}"
    if goal.sign == "=":
        if goal.measured:
            raise InputError(f"{text}: what is measured is never exactly so, write {right}")
    elif goal.sign[0] != better[0]:
        which = "more" if better == ">=" else "less"
        raise InputError(f"{text} is the wrong way round: {which} of {name} is better, {right}")
    if name in ("epsilon", "delta", "error") and not 0 < limit < float("inf"):
        raise InputError(f"{text}: {name} must be positive and finite")
    if name == "delta" and limit >= 1:
        raise InputError(f"{text}: delta must be below 1")
    if name == "k":
        if not math.isfinite(limit) or limit != int(limit) or limit < 2:
            raise InputError(f"{text}: k must be a whole number of at least 2")
        if limit > facts.people:
            raise InputError(
                f"{text} needs at least {limit:g} people, and there are {facts.people}: choose "
                f"k ≤ {facts.people}"
            )
    if goal.measured and name != "error" and not 0 <= limit <= 1:
        most = f" ({facts.people:g}x)" if name == "rank1" else ""
        raise InputError(f"{text} asks for a share of {limit:g}: it lies between 0 and 1{most}")
    # Written as a multiple, one times chance may be off in the last digit.
    if name == "rank1" and limit < facts.chance * (1 - 1e-9):
        raise InputError(
            f"{text} is below guessing, which is right for 1 of {facts.people} "
            f"({facts.chance:.3g}): nothing can promise that, ask for 1x or more"
        )
    if goal.is_attribute and limit < 0.5:
        raise InputError(
            f"{text} is below guessing: a coin has a balanced accuracy of 0.5, ask for that or more"
        )
    if name == "task" and len(facts.tasks) < 2:
        raise InputError(
            f"{text}: there is no task to recognise, this study has "
            f"{'one' if facts.tasks else 'none'}"
        )
