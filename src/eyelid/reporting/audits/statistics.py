"""What an audit of results found, in figures and in plain words: on a terminal and on a page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from eyelid.attacks.membership import Membership
from eyelid.attacks.results import Coverage
from eyelid.attacks.subtraction import Subtraction
from eyelid.attacks.target import ResultsTarget
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.audits.audit_json import UNCOVERED, json_of_everybody, membership_of_last
from eyelid.reporting.audits.maps import beyond_bound, signed, signed_limits
from eyelid.reporting.audits.page import Standing
from eyelid.reporting.audits.results import Audit
from eyelid.reporting.audits.verdict import ALLOWS_MUCH
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import SAYS_NOTHING, coarse, percent
from eyelid.reporting.statistics.tables import spoken
from eyelid.spelling import Table, plural
from eyelid.version import build

if TYPE_CHECKING:
    from eyelid.reporting.attack_rates import Rates


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ResultsAudit(Audit):
    """Everything that was tried on results, and what came of it.

    Attributes:
        membership: how well a person is told from their opposite, all others being known.
        subtraction: what subtracting all others gives; None without means.
        errors: every result beside what is true of the same people, without noise and unclipped.
        coverage: how often intervals hold what is true, over resampled people.
    """

    target: ResultsTarget
    membership: Membership
    subtraction: Subtraction | None
    errors: pl.DataFrame
    coverage: Coverage

    @property
    def rates(self) -> Rates:
        """How well a participant is told from their opposite."""
        from eyelid.reporting.attack_rates import rates_of_game

        return rates_of_game(self.membership, None, "knows all others")

    @property
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""
        found = list(self.target.inconsistencies)
        if not self.target.certificate.person_level.holds:
            return found
        member = self.membership
        if member.refutes:
            found.append(beyond_bound(member))
        if self.subtraction is not None and self.subtraction.exact:
            found.append("subtracting all others gives the last one back exactly")
        return found

    @property
    def not_tried(self) -> list[str]:
        """What could not be checked."""
        return list(self.target.notes)

    @property
    def verdict(self) -> str:
        """The outcome in a sentence or two."""
        if self.refuted:
            return f"The certificate is refuted: {self.refuted[0]}. Do not share this release."
        return f"{self._promise}. {self._right}"

    @property
    def _promise(self) -> str:
        promised, member = self.target.certificate.person_level, self.membership
        sentence = (
            "an attacker who knows all others tells a participant from their opposite better than "
            f"chance by {signed(member.advantage.rate)} (95% limits "
            f"{signed_limits(member.advantage)})"
        )
        if not promised.holds:
            why = f" ({promised.reasons[0]})" if promised.reasons else ""
            return f"This release carries no guarantee{why}: {sentence}"
        allowed = "the guarantee rules out almost nothing at this size"
        if member.bound is not None and member.bound <= SAYS_NOTHING:
            allowed = f"the certificate allows at most {rounded_up(100 * member.bound, 3)}%"
        return f"Certificate not contradicted: {sentence}, and {allowed}"

    @property
    def _right(self) -> str:
        if not self.coverage.intervals:
            return "No result has an interval."
        return (
            f"Intervals of {self.coverage.releases} releases of resampled participants held what "
            f"is true of these in {percent(self.coverage.share)} of cases (wanted: 95%)."
        )

    def lines(self) -> Iterator[str | Table]:
        """What was tried, and how far off results are, for a terminal."""
        member, left = self.membership, self.subtraction
        rows = [("membership inference", f"{signed(member.advantage.rate)} better than chance")]
        if left is not None:
            rows.append(
                (
                    "subtracting all others",
                    f"error {coarse(left.rmse_of_span)} of the range (guessing blindly: "
                    f"{coarse(left.blind_rmse_of_span)})",
                )
            )
        yield Table("Is any participant exposed?", ["attack", "found"], rows)
        columns = ["measure", "task", "group", "statistic", "released", "of these people"]
        yield Table("How far off results are", columns, self.rows())

    def rows(self) -> list[list[str]]:
        """Every result beside what is true of these people."""
        return [
            [
                row["measure"],
                row["task"] or "all",
                row["group"],
                spoken(row["statistic"]),
                coarse(row["estimate"]),
                coarse(row["without_noise"]),
            ]
            for row in self.errors.iter_rows(named=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """As in audit.json; of single people it says nothing."""
        left = self.subtraction
        attacks = {
            "membership": membership_of_last(self.membership),
            "subtraction": None
            if left is None
            else asdict(left) | {"exact": left.exact, "learned": left.learned},
            "coverage": asdict(self.coverage)
            if math.isfinite(self.coverage.share)
            else asdict(self.coverage) | {"share": None},
        }
        results = [
            {
                "task": "result",
                "measure": row["measure"],
                "of": row["task"],
                "group": row["group"],
                "statistic": row["statistic"],
                "released": row["estimate"],
                "without_noise": float(coarse(row["without_noise"])),
            }
            for row in self.errors.iter_rows(named=True)
        ]
        controls = {"positive": None, "null": None}
        return json_of_everybody(self, "results", attacks, results, controls)


def results_report(audit: ResultsAudit) -> str:
    """The audit of results as a page."""
    certificate = audit.target.certificate
    bad = Standing("refuted", "Refuted: the certificate of this release is not true")
    much = (audit.membership.bound or 0.0) > ALLOWS_MUCH
    good = Standing("sound", "Certificate not contradicted by any attack")
    if much:
        good = Standing("weak", "Certificate not contradicted, but the guarantee allows much")
    none = Standing("exposed", "No valid guarantee")
    standing = bad if audit.refuted else good if certificate.person_level.holds else none
    return rendered(
        "results-report.html.j2",
        audit=audit,
        certificate=certificate,
        standing=standing,
        about=f"audit of results by {certificate.mechanism}: "
        f"{plural(certificate.people, 'person', 'people')}",
        lines=list(audit.lines()),
        notes=audit.not_tried,
        uncovered=UNCOVERED,
        version=build(),
    )
