"""Comparisons made by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from eyelid.attacks.outcome import Outcome, Questions
from eyelid.mechanisms.certificate import Promise
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import PERSON, RECORD, Neighbours, Trust
from eyelid.reporting.comparisons.comparison import Comparison
from eyelid.reporting.comparisons.row import Row
from eyelid.reporting.comparisons.setting import Setting

PEOPLE = 20


@pytest.fixture(scope="session")
def by_hand() -> SimpleNamespace:
    """Comparisons with figures of one's choice, and their parts."""
    parts = (comparison, row, promise, among, outcome)
    return SimpleNamespace(PEOPLE=PEOPLE, **{part.__name__: part for part in parts})


def comparison(
    *rows: Row, target: str | None = "task", repeats: int = 1, simulated: bool = False
) -> Comparison:
    raw = Row(None, runs=(outcome(0.8, 0.9, error=0.0),))
    questions = Questions(target)
    return Comparison(raw, rows, questions, PEOPLE, repeats, 0, simulated, None, ("--fast",))


def outcome(named: float | None, used: float | None, error: float | None = 0.3) -> Outcome:
    """Shares of people re-identified and, of everybody's windows, about so many told."""
    whole = 0 if named is None else round(named * PEOPLE)
    spread = [0.02 * (place % 3 - 1) for place in range(PEOPLE)]
    return Outcome(
        named={}
        if named is None
        else {
            "means, raw→release": (1.0,) * whole + (0.0,) * (PEOPLE - whole),
            "lda, raw→release": (0.0,) * PEOPLE,
        },
        chance=1 / PEOPLE,
        used=None if used is None else tuple(used + off for off in spread),
        used_chance=1 / 3,
        error_of_span=error,
    )


def promise(epsilon: float, person: float | None = None, trust: Trust = Trust.LOCAL) -> Promise:
    """Pure differential privacy: of a person, or of a record with a total for the person."""

    def pure(value: float, unit: object) -> Guarantee:
        return Guarantee(Kind.PURE, unit, Neighbours.REPLACE_ONE, trust, epsilon=value, delta=0.0)

    total = pure(epsilon if person is None else person, PERSON)
    return Promise(total if person is None else pure(epsilon, RECORD), total, "", True)


def among(k: int) -> Promise:
    """One among k people."""
    found = Guarantee(Kind.K_ANONYMITY, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, k=k)
    return Promise(found, found, "", True)


def row(
    mechanism: str, promised: Promise, named: float | None, used: float | None, **numbers: object
) -> Row:
    """A setting that was run once, or ``runs`` times with the same figures."""
    error, runs = numbers.pop("error", 0.3), numbers.pop("runs", 1)
    setting = Setting(mechanism, tuple(numbers.items()))
    return Row(setting, promised, (outcome(named, used, error),) * runs)
