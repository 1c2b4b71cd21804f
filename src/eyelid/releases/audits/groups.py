"""Means over groups of at least k people, without noise: attacked under all members' names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, cast

from eyelid.attacks.attackers import default_attackers
from eyelid.attacks.error import error_of
from eyelid.attacks.groups import PROTOCOLS, Grouped, audit_groups, found_groups, one_a_group
from eyelid.attacks.identification import identify, with_bounds
from eyelid.attacks.outcome import (
    Outcome,
    Questions,
    attacked_records,
    by_intersection,
    fresh_noise,
    named_by_rows,
)
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.engine.progress import one_bar
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.releases.audits.attack import AuditPlan, TableAttack, noted
from eyelid.releases.audits.records import (
    PARTS,
    controls_apart,
    inferred,
    possible,
    progress,
    recognised,
)
from eyelid.releases.audits.results import GroupsAudit
from eyelid.releases.audits.target import GroupsTarget, TableTarget


class GroupsAttack(TableAttack):
    """One record a group, or copies of it, under no person's name."""

    targets: ClassVar[type[TableTarget]] = GroupsTarget

    def besides(self, target: TableTarget) -> tuple[list[str], list[str]]:
        """What lies in the folder: that nothing else is released is what 1/k rests on."""
        _, more = super().besides(target)
        return (more, []) if target.claims_to_hold else ([], more)

    def completed(self, target: TableTarget) -> TableTarget:
        """The pair with who is in which group, as far as that can be found out."""
        assert target.released is not None, "there is no release"
        groups, amiss = found_groups(
            cast(KSame | None, target.mechanism), target.original, target.released
        )
        if target.certificate is None and (groups is None or amiss):
            raise InputError(
                "the release has groups of people, without a certificate, and they are not plain "
                "means over people of the original: are these the right two? (means with noise "
                "need their certificate)"
            )
        fresh = [_fresh_run(target.original)] if groups is not None and groups.fresh else []
        return super().completed(noted(replace(target, groups=groups), *fresh, disagreements=amiss))

    def audit(self, target: GroupsTarget, plan: AuditPlan) -> GroupsAudit:
        """Who of a group is it, and what do its members learn?"""
        if target.groups is None:
            # Refuted already: what is there to attack is not known.
            return GroupsAudit(**plan.about(target))
        with one_bar(sum(PARTS.values())) as advance:
            material, seed = target.material(plan.seed), plan.seed
            attackers = plan.attackers or default_attackers(target.people)
            not_named = _cannot_be_parted(material)
            asked = [one for one in plan.protocols if one.name in PROTOCOLS]
            protocols = [] if not_named else possible(material, asked)
            together = target.groups.groups_of(material.people)
            used = recognised(material, plan, advance, together)
            findings = []
            if not not_named:
                with progress(advance, "attacking"):
                    asked = [POSITIVE, *protocols]
                    findings = identify(material, attackers, asked, seed, over_all=PROTOCOLS)
            positive, findings = controls_apart(findings)
            common = inferred(target, material, () if not_named else attackers, plan, advance)
            assert material.released is not None, "groups are released"
            return GroupsAudit(
                **common,
                positive=tuple(positive),
                identification=tuple(with_bounds(findings, target.bounds())),
                # Members of a group share their records: no part of it is another person's.
                utility=tuple(use for use in used if not use.protocol.startswith("paper")),
                not_named=not_named,
                error=error_of(material.original, material.released),
                groups=audit_groups(
                    target.groups, attackers, [p.name for p in protocols], seed=seed
                ),
            )

    def measure(
        self,
        mechanism: Any,
        taken: FeatureTable,
        table: FeatureTable,
        questions: Questions,
        seed: int,
    ) -> Outcome:
        """Means of random groups, attacked under the names of all members."""
        member = mechanism.partition(table, fresh_noise(seed, b"who is with whom"))
        grouped = Grouped(mechanism, table, one_a_group(mechanism, table, member), member)
        material = Material(table, grouped.named())
        together = grouped.groups_of(material.people)
        found = attacked_records(material, questions, seed, together)
        return found.with_named(named_by_rows(material) | by_intersection(material))


def _cannot_be_parted(material: Material) -> tuple[str, ...]:
    """Why nothing can be known beforehand and something else be shown; nothing where it can."""
    try:
        # Looked at once, and kept.
        _ = material.honest_splits
    except InputError as error:
        return (f"nobody was to be named from other recordings of theirs: {error}",)
    return ()


def _fresh_run(original: FeatureTable) -> str:
    """What was and was not checked where nobody can find out who is in which group."""
    people = original.recordings["person"].n_unique()
    return (
        "the release has too few values, or people are too much alike, to find out who of "
        f"{people} is in which group, so that it was not checked whether its records are means "
        "over the people of one partition, nor attacked with these groups. Checked was what is "
        "true whoever is in which: the sizes of groups, their recordings and rows, and that the "
        "mean over all groups, wherever nobody lacks a value, is the mean over everybody. Attacks "
        "and errors are of another run of the same mechanism with groups of its own"
    )
