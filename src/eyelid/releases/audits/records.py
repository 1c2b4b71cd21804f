"""Individual records, and data before any release: people are re-identified in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
import polars as pl

from eyelid.attacks.attackers import Attacker, default_attackers
from eyelid.attacks.attackers.fusion import NAME as FUSED
from eyelid.attacks.attackers.fusion import event_finding
from eyelid.attacks.attackers.likelihood import NAME as LIKELIHOOD
from eyelid.attacks.attackers.likelihood import likelihood_finding
from eyelid.attacks.attributes import infer_attributes
from eyelid.attacks.averaging import averaging
from eyelid.attacks.error import error_of
from eyelid.attacks.groups import audit_records
from eyelid.attacks.identification import Finding, identify, null_control, with_bounds
from eyelid.attacks.measurements import legible
from eyelid.attacks.outcome import (
    Outcome,
    Trial,
    attacked_records,
    by_intersection,
    by_other_people,
    fresh_noise,
    named_by_likelihood,
    named_by_rows,
)
from eyelid.attacks.protocols import POSITIVE, Material, Protocol
from eyelid.attacks.residuals import noise_objection
from eyelid.attacks.risk import features_at_risk, people_at_risk
from eyelid.attacks.streams import stream_measures
from eyelid.attacks.synthetic import shown_histograms
from eyelid.attacks.target import RecordsTarget, TableTarget
from eyelid.attacks.temporal.summary import TemporalSummary, release_summary, temporal_summary
from eyelid.attacks.utility import Use, utility
from eyelid.engine.progress import Advance, one_bar, part
from eyelid.errors import InputError
from eyelid.gaze.features.per_event import events_and_omissions
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.rank1 import advantage_bound
from eyelid.privacy.unit import Trust
from eyelid.releases.audits.attack import AuditPlan, TableAttack, noted
from eyelid.releases.audits.canaries import Canaries, RecordCanaries
from eyelid.releases.audits.consistency import Claim
from eyelid.releases.audits.matching import Pair, check_people, matched, with_values
from eyelid.releases.audits.original import summarised
from eyelid.releases.audits.samples import SamplesFound
from eyelid.releases.kinds.features.plan import people_alike
from eyelid.reporting.audits.results import OriginalAudit, RecordsAudit
from eyelid.verification.rerun import quieter_than_again

# With more people, inferring attributes takes hours: it grows with their third power.
_MOST_INFERRED = 150
# What takes how long, about, for the bar.
_REST = "looking at the rest"
PARTS = {
    "recognising": 5,
    "attacking": 10,
    "inferring": 3,
    "attacking people who are all alike": 2,
    _REST: 4,
}


class RecordsAttack(TableAttack):
    """Records under people's own names."""

    targets: ClassVar[type[TableTarget]] = RecordsTarget
    canaries: ClassVar[Canaries | None] = RecordCanaries()

    def match(
        self, mechanism: FeatureMechanism | None, original: FeatureTable, released: FeatureTable
    ) -> Pair:
        """Both with the same people and the same features."""
        return matched(original, released)

    def faults(self, claim: Claim) -> Iterator[str]:
        """Whether the noise is missing, or not what the mechanism declares."""
        mechanism, original, released = claim.mechanism, claim.original, claim.released
        if mechanism.mixes_people:
            return
        wanting = None
        if mechanism.measures:
            wanting = noise_objection(cast(RecordMechanism, mechanism), original, released)
        if wanting is None and not legible(mechanism, claim.facts).size:
            wanting = quieter_than_again(mechanism, original, released)
        if wanting is not None:
            yield wanting

    def values(self, target: TableTarget) -> TableTarget:
        """The pair without recordings of which the original has no value."""
        assert isinstance(target, RecordsTarget), "records are a person's"
        assert target.released is not None, "there is no release"
        alike = people_alike(target.released)
        original, released, unseen = with_values(target.original, target.released)
        check_people(original)
        return noted(replace(target, original=original, released=released, alike=alike), *unseen)

    def audit(self, target: RecordsTarget, plan: AuditPlan) -> RecordsAudit:
        """Name people by their records, infer what they are like, and use what was released."""
        with one_bar(sum(PARTS.values())) as advance:
            material = target.material(plan.seed)
            attackers = plan.attackers or default_attackers(target.people)
            protocols = possible(material, plan.protocols)
            # First what can fail by what the user asked for.
            used = recognised(material, plan, advance)
            with progress(advance, "attacking"):
                asked = [POSITIVE, *protocols]
                findings = self.named(target, material, attackers, asked, plan.seed)
            sampled = SamplesFound.of(target, material, attackers, asked, plan)
            findings += sampled.findings
            positive, findings = controls_apart(findings)
            found = inferred(target, material, attackers, plan, advance)
            temporal, not_correlated = _over_time(target)
            found |= {
                "utility": tuple(used),
                "without_gaze": sampled.without_gaze,
                "not_sampled": sampled.left_out,
                "temporal": temporal,
                "not_correlated": not_correlated,
            }
            if material.released is None:
                return _of_original(target, positive, plan, found)
            findings += _by_likelihood(target, material, plan)
            found |= {
                "positive": tuple(positive),
                "identification": tuple(with_bounds(findings, target.bounds())),
                "error": error_of(material.original, material.released),
                "canaries": self.tried(target),
            }
            if target.samples is not None and target.released_samples is not None:
                found["streams"] = stream_measures(target.samples, target.released_samples)
            return self.result(target, material, attackers, found)

    def named(
        self,
        target: RecordsTarget,
        material: Material,
        attackers: Sequence[Attacker],
        protocols: Sequence[Protocol],
        seed: int,
    ) -> list[Finding]:
        """Re-identification from the release and, as a control, from raw data."""
        return identify(material, attackers, protocols, seed)

    def result(
        self,
        target: RecordsTarget,
        material: Material,
        attackers: Sequence[Attacker],
        found: dict[str, Any],
    ) -> RecordsAudit:
        """What else is asked of such records, with everything that was found."""
        mechanism, original, released = target.mechanism, material.original, material.released
        assert released is not None, "there is no release"
        # The same people may be together in one task and apart in the next.
        regrouped = mechanism is not None and mechanism.regroups
        bins = None if mechanism is None else mechanism.bare_bins
        return RecordsAudit(
            **found,
            groups=audit_records(original, released) if regrouped else None,
            histograms=None if bins is None else shown_histograms(original, released, bins),
            repeated=tuple(averaging(material, target.promised, seed=found["seed"]))
            if material.again
            else (),
        )

    def measure(self, trial: Trial) -> Outcome:
        """People re-identified in individual records, and what is learned from those of others."""
        mechanism, table, questions, seed = (
            trial.mechanism,
            trial.table,
            trial.questions,
            trial.seed,
        )
        noise = fresh_noise(seed, b"one run of many")
        released = mechanism.apply(trial.taken, noise)
        released = replace(released, people=released.people.select("person"), released=True)
        names = [name for name in table.names if name in released.names]
        own = table.only(*names)
        material = Material(own, replace(released.only(*names), features=own.features))
        if mechanism.mixes_people:
            found = attacked_records(material, replace(questions, target=None), seed)
            taught = by_other_people(trial, noise)
            found = replace(found, used=taught.used, not_used=taught.not_used)
        else:
            found = attacked_records(material, questions, seed)
        best = named_by_likelihood(mechanism, trial.taken, released)
        found = found.with_named(best or named_by_rows(material))
        return found.with_named(by_intersection(material)) if mechanism.regroups else found


def _of_original(
    target: RecordsTarget, findings: list[Finding], plan: AuditPlan, found: dict[str, Any]
) -> OriginalAudit:
    """Data before any release: who and what is at risk."""
    people = target.material(plan.seed).people
    if FUSED in plan.special:
        findings += _by_events(target, plan.seed)
    return OriginalAudit(
        **found,
        identification=tuple(findings),
        positive=tuple(findings),
        people=people_at_risk(findings, people),
        features=features_at_risk(target.original),
    )


def _by_likelihood(target: RecordsTarget, material: Material, plan: AuditPlan) -> list[Finding]:
    """The best attacker there is, where what was measured can be read off the release."""
    mechanism, original, released = target.mechanism, material.original, material.released
    if mechanism is None or released is None or LIKELIHOOD not in plan.special:
        return []
    if not len(legible(mechanism, mechanism.facts(original))):
        return []
    measuring = cast(RecordMechanism, mechanism)
    return [likelihood_finding(measuring, original, released, material.people)]


def progress(advance: Advance, what: str, bars: int = 1) -> AbstractContextManager[None]:
    """A part of the bar of an audit, by its name."""
    return part(advance, PARTS[what], what, bars)


def recognised(
    material: Material, plan: AuditPlan, advance: Advance, together: Any = None
) -> list[Use]:
    """What the data are still good for."""
    # Tested are raw windows; and the release's too, with halves of both.
    ways = 2 if material.released is None else 5
    with progress(advance, "recognising", ways):
        return utility(material, plan.targets or None, seed=plan.seed, together=together)


def inferred(
    target: TableTarget,
    material: Material,
    attackers: Sequence[Attacker],
    plan: AuditPlan,
    advance: Advance,
) -> dict[str, Any]:
    """What of people's attributes can be told, and who is re-identified among people all alike.

    Args:
        target: what is attacked.
        material: what attackers get of it.
        attackers: of the null control; nobody where nobody is to be named.
        plan: what the user asked for.
        advance: of the bar.
    """
    promised, seed = target.promised, plan.seed
    local = promised is not None and promised.trust is Trust.LOCAL
    allowed = advantage_bound(promised) if local else None
    bound = None if allowed is None else (1 + allowed) / 2
    with progress(advance, "inferring", 1 if material.released is None else 2):
        found, left_out = infer_attributes(_some_of(material, seed), bound=bound, seed=seed)
    not_inferred = [f"{one.attribute} was not inferred: {one.reason}" for one in left_out]
    if found and target.people > _MOST_INFERRED:
        some = f"{_MOST_INFERRED} of {target.people} people"
        not_inferred.append(f"attributes were inferred of {some}: of more it would take hours")
    with progress(advance, "attacking people who are all alike"):
        null = null_control(material, attackers, seed) if attackers else []
    advance(0, _REST)
    return plan.about(target) | {
        "null": tuple(null),
        "attributes": tuple(found),
        "not_inferred": tuple(not_inferred),
    }


def possible(material: Material, protocols: Sequence[Protocol]) -> list[Protocol]:
    """The protocols that can be tried; refused where none of them is honest."""
    if material.released is None:
        return list(protocols)
    can_be = [protocol for protocol in protocols if material.possible(protocol)]
    if not any(protocol.honest for protocol in can_be):
        raise InputError(
            "none of the protocols asked for is leak-free here: add raw->release (those that "
            "use the mechanism need a certificate)"
        )
    return can_be


def controls_apart(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """What attackers do on raw data, and what they do on the release."""
    positive = [finding for finding in findings if finding.protocol == POSITIVE.name]
    return positive, [finding for finding in findings if finding.protocol != POSITIVE.name]


def _some_of(material: Material, seed: int) -> Material:
    """Material of so many people, drawn at random, as attributes can be inferred for."""
    if len(material.people) <= _MOST_INFERRED:
        return material
    rng = np.random.default_rng([seed, *b"some people"])
    drawn = rng.choice(len(material.people), _MOST_INFERRED, replace=False)
    kept = pl.col("person").is_in([material.people[index] for index in drawn])
    original, released = material.original, material.released
    return Material(
        replace(original, data=original.data.filter(kept)),
        None if released is None else replace(released, data=released.data.filter(kept)),
    )


def _over_time(target: TableTarget) -> tuple[TemporalSummary | None, tuple[str, ...]]:
    """How rows go together, and what of it a release with a guarantee lets out; or why not."""
    original, mechanism = target.original, target.mechanism
    try:
        if mechanism is None or not target.claims_to_hold:
            return temporal_summary(original), ()
        return release_summary(original, mechanism, mechanism.facts(original)), ()
    except InputError as error:
        return None, (f"correlation over time was not looked at: {error}",)


def _by_events(target: TableTarget, seed: int) -> list[Finding]:
    """What single fixations and saccades give away, where gaze is at hand."""
    if target.recorded is None:
        return []
    try:
        fixations, saccades = (
            summarised(target.recorded, partial(_events, kind))
            for kind in ("fixations", "saccades")
        )
        return [event_finding(fixations, saccades, seed=seed)]
    except InputError:
        # Too few events of a person: the windows have been attacked all the same.
        return []


def _events(kind: str, study: Study) -> FeatureTable:
    return events_and_omissions(study, kind)[0]
