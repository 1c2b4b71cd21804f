"""What an audit found: a base, and one variant for each kind of release.

The figures are computed from the raw data without noise. They are no part of what a certificate
covers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from eyelid.attacks.attackers import ATTACKERS
from eyelid.attacks.attributes import Inference
from eyelid.attacks.averaging import Averaged
from eyelid.attacks.error import ErrorMeasures
from eyelid.attacks.groups import GroupFindings
from eyelid.attacks.identification import (
    EXACT_INTERSECTION,
    INTERSECTION,
    Finding,
    NamingAttack,
    beyond_chance,
    bound_kind,
    with_bounds,
)
from eyelid.attacks.means import MeanFindings
from eyelid.attacks.membership import Membership
from eyelid.attacks.one_run import CanaryResult
from eyelid.attacks.protocols import splits_of
from eyelid.attacks.statistics import rate_of_decisions
from eyelid.attacks.streams import StreamMeasures
from eyelid.attacks.synthetic import ShownHistograms, SyntheticFindings
from eyelid.attacks.target import AuditTarget, TableTarget
from eyelid.attacks.temporal.summary import TemporalSummary
from eyelid.attacks.utility import Use
from eyelid.display import Framed, facts
from eyelid.errors import InputError
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.audits import verdict
from eyelid.reporting.audits.audit_json import audit_json, frame_of
from eyelid.reporting.audits.conclusions import Concluding
from eyelid.reporting.sentences import percent
from eyelid.spelling import Table, json_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyelid.reporting.attack_rates import Rates

# The bound on re-identifying a person by one released record.
_ONE_RECORD = "raw_to_release"


class Unasked:
    """What is asked of some kinds of releases of features alone: nothing, unless a kind has it.

    Attributes:
        identification: who was re-identified, under every leak-free protocol and the papers' own.
        positive: the same on raw data: what the attackers can do at all.
        null: the same on people who are all alike: what they do when there is nothing to find.
        utility: what the data are still good for.
        attributes: what of people's attributes can be told.
        not_inferred: attributes that could not be tried, and why.
        not_named: why people could not be re-identified from recordings of something else.
        error: how far the released values are off; None without a release.
        groups: what else was found about released groups; None where none were released.
        histograms: what histograms without noise show; None where none were drawn from.
        synthetic: what synthetic rows or people were found to be like; None where there are none.
        means: what attacks on means over people came to; None where individual records were
            released, which are then attacked as above.
        repeated: what averaging several releases of the same people would give.
        canaries: the whole release pipeline, tried on simulated participants; None without a
            mechanism.
        streams: whether released gaze still looks like an eye; None without gaze on both sides.
        without_gaze: who is re-identified by what stands beside gaze; of gaze samples only.
        not_sampled: which attackers on samples of gaze were left out, and why.
        temporal: how rows go together, and what that lets out; None where there is too little.
        not_correlated: why there is none.
        people: who is at risk, for the owner's eyes; None for a release.
        features: which features tell people apart.
    """

    identification: tuple[Finding, ...] = ()
    positive: tuple[Finding, ...] = ()
    null: tuple[Finding, ...] = ()
    utility: tuple[Use, ...] = ()
    attributes: tuple[Inference, ...] = ()
    not_inferred: tuple[str, ...] = ()
    not_named: tuple[str, ...] = ()
    error: ErrorMeasures | None = None
    groups: GroupFindings | None = None
    histograms: ShownHistograms | None = None
    synthetic: SyntheticFindings | None = None
    means: MeanFindings | None = None
    repeated: tuple[Averaged, ...] = ()
    canaries: CanaryResult | None = None
    streams: StreamMeasures | None = None
    without_gaze: tuple[Finding, ...] = ()
    not_sampled: tuple[str, ...] = ()
    temporal: TemporalSummary | None = None
    not_correlated: tuple[str, ...] = ()
    people: pl.DataFrame | None = None
    features: pl.DataFrame | None = None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Audit(Unasked, Framed):
    """Everything that was tried on a pair of original and release, and what came of it.

    Attributes:
        target: what was audited.
        seed: of the attackers.
        written: the files that hold it.
        unwritten: why its figures are in none; empty where they are, or need not be.
    """

    target: AuditTarget
    seed: int = 0
    written: tuple[Path, ...] = ()
    unwritten: str = ""

    @property
    def subject(self) -> AuditTarget:
        """What was audited, under the name that it has in version 0.1."""
        return self.target

    @property
    @abstractmethod
    def not_tried(self) -> list[str]:
        """What could not be checked or tried, and why."""

    @property
    @abstractmethod
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The outcome in one plain sentence, or two where a warning belongs to it."""

    @property
    def headline(self) -> str:
        """What stands first on a page: the verdict, less details that stand below it."""
        return self.verdict

    @property
    def details(self) -> str:
        """What of the verdict is no headline; mostly nothing."""
        return ""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As in audit.json; of single people it says nothing unless nothing was released."""

    @abstractmethod
    def lines(self) -> Iterator[str | Table]:
        """The figures as tables and sentences, for a terminal."""

    @property
    def rates(self) -> Rates | None:
        """What attackers reached, beside guessing and what is allowed; None without attacks."""
        return None

    @property
    def frame(self) -> pl.DataFrame:
        """Every rate that was measured, one a row: what of, who by, limits, chance and bound."""
        return frame_of(self.to_dict())

    def in_short(self) -> Table:
        """The verdict first."""
        certificate = self.target.certificate
        made = "" if certificate is None else f" of a release by {certificate.mechanism}"
        return facts(
            {
                "verdict": self.verdict,
                "not tried": len(self.not_tried) or None,
                "files": ", ".join(path.name for path in self.written),
            },
            f"Audit{made}" if made else "Audit of data before a release",
        )

    def plot(self, ax: Axes | None = None, *, caption: bool = False) -> Axes:
        """How often attackers were right, with limits, beside guessing and what is allowed.

        Args:
            ax: where to draw; fresh axes by default, in the sizes of a paper.
            caption: whether to write the verdict below.
        """
        from eyelid.plotting import paper_axes, write_caption

        rates = self.rates
        if rates is None:
            raise InputError(f"there is no rate to draw: {'; '.join(self.not_tried)}")
        with paper_axes(ax, height=rates.height) as axes:
            rates.draw(axes)
            if caption:
                write_caption(axes, self.verdict)
        return axes

    def to_json(self) -> str:
        """The text of audit.json."""
        return json_text(self.to_dict())


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TableAudit(Concluding, Audit):
    """The audit of features, or of gaze by its features; what its kind has is in its variant.

    Attributes:
        partial: whether attackers or protocols were chosen, so that not all was tried.
        targets: what the data were asked to be good for.
    """

    target: TableTarget
    partial: bool = False
    targets: tuple[str, ...] = ()

    def lines(self) -> Iterator[str | Table]:
        """The figures, the strongest attacker for every protocol."""
        from eyelid.reporting.audits.tables import audit_lines

        return audit_lines(self)

    @property
    def across(self) -> str:
        """What lies between what attackers know and what they see: tasks, recordings or halves."""
        return splits_of(self.target.original)[0].across

    @property
    def rates(self) -> Rates | None:
        """Re-identification rates, beside guessing and what the certificate allows."""
        from eyelid.reporting.attack_rates import attack_rates

        if not self.attacks:
            return None
        target = self.target
        return attack_rates(
            self.identification,
            self.attacks,
            self.positive,
            self.null,
            target.people,
            of_release=target.released is not None,
        )

    @property
    def honest(self) -> list[Finding]:
        """What was found under protocols that show what they say."""
        return [finding for finding in self.identification if finding.honest]

    @property
    def attacks(self) -> list[NamingAttack]:
        """Every leak-free attack that re-identifies, intersections of groups included."""
        alone, in_all = self.target.bounds(), self.target.bounds_in_all()
        named = [
            NamingAttack(
                finding.protocol,
                finding.attacker,
                finding.rate,
                finding.bound,
                in_all.get(bound_kind(finding.protocol) or ""),
                finding.refutes,
            )
            for finding in self.honest
        ]
        if self.groups is None:
            return named
        bounds = alone.get(_ONE_RECORD), in_all.get(_ONE_RECORD)
        exact = self.groups.exact_intersection
        return [
            *named,
            NamingAttack(INTERSECTION, "nearest records", self.groups.intersection, *bounds),
            NamingAttack(EXACT_INTERSECTION, "linear algebra", exact, *bounds),
        ]

    @property
    def worst(self) -> NamingAttack | None:
        """The one to fear; None where nobody was to be named."""
        return max(self.attacks, key=lambda attack: attack.rate.rate, default=None)

    @property
    def not_tried(self) -> list[str]:
        """What could not be checked or tried, and why."""
        samples = (*self.not_named, *self.not_sampled)
        return [*self.target.notes, *samples, *self.not_inferred, *self.not_correlated]

    @property
    def alarms(self) -> list[str]:
        """Attackers who name people that are all alike: what they recognise is something else."""
        return beyond_chance(self.null)

    @property
    def recognises(self) -> bool:
        """Whether the attackers recognise people in raw data, where there is much to recognise."""
        return bool(beyond_chance(self.positive))

    @property
    def compared(self) -> list[Finding]:
        """The findings that have a bound to be compared with."""
        return [finding for finding in self.honest if finding.bound is not None]

    @property
    def could_refute(self) -> bool:
        """Whether the attacks could have refuted the certificate, all of them being right."""
        everybody = np.ones(self.target.people)
        perfect = [
            replace(
                finding,
                rate=rate_of_decisions(everybody, finding.rate.chance),
                right=tuple((people, people) for _, people in finding.right),
                shares=everybody,
            )
            for finding in self.identification
        ]
        return any(finding.refutes for finding in with_bounds(perfect, self.target.bounds()))

    @property
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""
        found = [*self.target.inconsistencies, *self._refuting()]
        if self.canaries is not None and self.canaries.refuted:
            found += [
                f"simulated participants sent through the release lose at least {run.measure} "
                f"{run.lower_bound:.3g}, where {run.claimed:.3g} is claimed for them"
                for run in (self.canaries.person, self.canaries.within)
                if run is not None and run.refuted
            ]
        return found

    def _refuting(self) -> Iterator[str]:
        """What attacks on this kind of release have refuted, in words."""
        yield from ()

    def to_dict(self) -> dict[str, Any]:
        """As in audit.json; of single people it says nothing unless nothing was released."""
        return audit_json(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RecordsAudit(TableAudit):
    """The audit of individual records, which can be re-identified."""

    identification: tuple[Finding, ...] = ()
    positive: tuple[Finding, ...] = ()
    null: tuple[Finding, ...] = ()
    utility: tuple[Use, ...] = ()
    attributes: tuple[Inference, ...] = ()
    not_inferred: tuple[str, ...] = ()
    not_named: tuple[str, ...] = ()
    temporal: TemporalSummary | None = None
    not_correlated: tuple[str, ...] = ()
    error: ErrorMeasures | None = None
    groups: GroupFindings | None = None
    histograms: ShownHistograms | None = None
    repeated: tuple[Averaged, ...] = ()
    canaries: CanaryResult | None = None
    streams: StreamMeasures | None = None
    without_gaze: tuple[Finding, ...] = ()
    not_sampled: tuple[str, ...] = ()

    def _refuting(self) -> Iterator[str]:
        for finding in sorted(self.identification, key=lambda finding: -finding.rate.rate):
            if finding.refutes and not self._recognises_something_else(finding):
                yield (
                    f"{finding.attacker} ({finding.protocol}) names {percent(finding.rate.rate)} "
                    f"of people, and the certificate allows "
                    f"{rounded_up(100 * (finding.bound or 0), 3)}%; if it were true, that or more "
                    f"would have a chance of {max(finding.p_value or 0.0, 1e-12):.0e}"
                )

    def _recognises_something_else(self, finding: Finding) -> bool:
        """Whether an attacker failed the null control, so that its rate says nothing here.

        One of ours who re-identifies people that are all alike from two releases has recognised
        noise, and that only there; what a user's own attacker goes by is not known.
        """
        ours = finding.attacker in {attacker.name for attacker in ATTACKERS}
        fooled = finding.protocol == "release→release" or not ours
        return finding.attacker in self.alarms and fooled

    @property
    def verdict(self) -> str:
        """The outcome in a sentence, and whatever keeps it from meaning what it seems to."""
        return verdict.of_records(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OriginalAudit(RecordsAudit):
    """The audit of data before any release, for their owner's eyes."""

    people: pl.DataFrame = field()
    features: pl.DataFrame = field()

    @property
    def verdict(self) -> str:
        """Whether the data are those of people who can be recognised."""
        return verdict.of_original(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GazeAudit(RecordsAudit):
    """The audit of gaze that was released sample by sample, attacked by samples and features."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GroupsAudit(RecordsAudit):
    """The audit of means over groups without noise, attacked under the names of their members."""

    @property
    def verdict(self) -> str:
        """What k-anonymity hides, what was tried against it, and what it does not hide."""
        return verdict.of_groups(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MeansAudit(TableAudit):
    """The audit of means over people, which have no record to re-identify."""

    means: MeanFindings = field()
    error: ErrorMeasures = field()
    canaries: CanaryResult | None = None

    @property
    def rates(self) -> Rates | None:
        """How well it is told who is in the means."""
        from eyelid.reporting.attack_rates import membership_rates

        return None if self.means.membership is None else membership_rates(self.means)

    def _refuting(self) -> Iterator[str]:
        yield from _excess(self.means.membership, "means by this mechanism who is in them")

    @property
    def verdict(self) -> str:
        """How well it is told who is in the means, and what they are worth."""
        return verdict.of_means(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SyntheticAudit(TableAudit):
    """The audit of synthetic rows or participants."""

    synthetic: SyntheticFindings = field()
    utility: tuple[Use, ...] = ()

    @property
    def rates(self) -> Rates | None:
        """How well it is told which of two people was in it."""
        from eyelid.reporting.attack_rates import rates_of_game

        found = self.synthetic
        if found.membership is None:
            return None
        return rates_of_game(found.membership, found.positive, found.attacker)

    def _refuting(self) -> Iterator[str]:
        made_up = self.synthetic
        if self.target.claims_to_hold and made_up.copied:
            yield (
                f"{made_up.copies} of {made_up.rows} synthetic rows are rows of people as they "
                "were recorded"
            )
        asked = "synthetic data by this mechanism whose data went into them"
        yield from _excess(made_up.membership, asked)

    @property
    def verdict(self) -> str:
        """Whether it shows whose data it is made of, and what it is worth."""
        return verdict.of_synthetic(self)

    @property
    def headline(self) -> str:
        """Whether it shows whose data it is made of."""
        brief = replace(self.synthetic, likeness=None)
        return verdict.of_synthetic(replace(self, synthetic=brief))

    @property
    def details(self) -> str:
        """What is kept of people, and what not."""
        found = self.synthetic
        if self.refuted or found.likeness is None or self.verdict == self.headline:
            return ""
        return f"{verdict.kept_of_people(self, found, found.likeness)}."


def _excess(membership: Membership | None, asked: str) -> Iterator[str]:
    """That membership is inferred better than the certificate allows, if so."""
    if membership is not None and membership.refutes:
        yield (
            f"an attacker who asks of {asked} is right with an advantage of "
            f"{percent(membership.advantage.rate)}, and the certificate allows "
            f"{rounded_up(100 * (membership.bound or 0), 3)}%"
        )
