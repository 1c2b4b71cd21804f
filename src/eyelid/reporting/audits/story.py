"""Everything that the demo found out, as its page tells it."""

from __future__ import annotations

from dataclasses import dataclass

from eyelid.attacks.statistics import Rate
from eyelid.gaze.study import Study
from eyelid.mechanisms.certificate import Certificate
from eyelid.reporting.audits.results import TableAudit
from eyelid.reporting.budget import Budget
from eyelid.verification.verify import Verification


@dataclass(frozen=True)
class Attempt:
    """One way of handing the data over, and what came of it.

    Attributes:
        name: for people.
        unit: whose value the mechanism was asked to hide; empty for the raw data.
        person_level: a person's total, in words.
        bound: on re-identification, or None.
        identified: people re-identified by the strongest attacker who knows raw recordings.
        document: windows whose document is recognised by a model learned from these data.
        certificate: of what was released; None for the raw data.
    """

    name: str
    unit: str
    person_level: str
    bound: float | None
    identified: Rate
    document: Rate
    certificate: Certificate | None


@dataclass(frozen=True, eq=False)
class Story:
    """Everything the demo found out.

    Attributes:
        study: the simulated participants.
        attempts: the raw data and every release, side by side.
        audit: of the release with the strongest promise.
        verification: of the mechanisms.
        spent: what the ledger counted.
        fast: whether fewer people and runs had to do.
    """

    study: Study
    attempts: tuple[Attempt, ...]
    audit: TableAudit
    verification: Verification
    spent: Budget
    fast: bool
