"""What attackers on samples of gaze find in an audit, and what was left out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.identification import Finding
from eyelid.attacks.protocols import Material, Protocol
from eyelid.attacks.samples.evidence import (
    MOST_PEOPLE,
    SAMPLE_ATTACKERS,
    parts_of,
    sample_findings,
)
from eyelid.attacks.streams.features import without_gaze
from eyelid.attacks.target import RecordsTarget
from eyelid.errors import InputError
from eyelid.releases.audits.attack import AuditPlan

_FEATURES_ONLY = (
    "samples of gaze were not attacked, since only features are at hand: raw gaze re-identifies "
    "more people than its features do"
)


@dataclass(frozen=True)
class SamplesFound:
    """What attackers on samples found.

    Attributes:
        findings: of who was re-identified by samples.
        without_gaze: who is re-identified by what is recorded beside gaze.
        left_out: what was not attacked, and why.
    """

    findings: tuple[Finding, ...] = ()
    without_gaze: tuple[Finding, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        target: RecordsTarget,
        material: Material,
        attackers: Sequence[Attacker],
        protocols: Sequence[Protocol],
        plan: AuditPlan,
    ) -> SamplesFound:
        """Attack whatever samples a pair has.

        Args:
            target: what is audited.
            material: its features of windows.
            attackers: who learns from what is beside gaze.
            protocols: how to attack.
            plan: what the user asked for.
        """
        gaze = target.gaze(plan.seed)
        if gaze is None:
            # What is no gaze before a release can be none after it.
            features_only = target.released is None and not plan.partial
            return cls(left_out=(_FEATURES_ONLY,) if features_only else ())
        some = gaze.some(plan.seed)
        beside = tuple(without_gaze(some.still_shown, attackers, plan.seed))
        wanted = [name for name in SAMPLE_ATTACKERS if name in plan.special]
        if not wanted:
            return cls(without_gaze=beside)
        parts, left_out = parts_of(some, material)
        if target.people > MOST_PEOPLE:
            left_out.append(
                f"samples were attacked of {MOST_PEOPLE} of {target.people} people: of more it "
                "takes too long"
            )
        try:
            found = sample_findings(parts, protocols, plan.seed)
        except InputError as error:
            return cls((), beside, (*left_out, f"samples were not attacked: {error}"))
        kept = tuple(finding for finding in found if finding.attacker in wanted)
        return cls(kept, beside, tuple(left_out))
