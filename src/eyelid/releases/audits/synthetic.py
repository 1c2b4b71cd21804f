"""Synthetic rows and people, who are nobody: whose data they are made of is asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, cast

import polars as pl

from eyelid.attacks.outcome import Outcome, Trial, by_other_people, fresh_noise
from eyelid.attacks.similarity import task_of
from eyelid.attacks.synthetic import audit_synthetic
from eyelid.attacks.target import TableTarget
from eyelid.attacks.utility import learned_elsewhere
from eyelid.errors import InputError
from eyelid.gaze.features.omission import without_blanks
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.mechanisms.synthetic.utility import made_up
from eyelid.releases.audits.attack import AuditPlan, TableAttack
from eyelid.releases.audits.canaries import Canaries, SyntheticCanaries
from eyelid.releases.audits.certificate_file import alike
from eyelid.releases.audits.consistency import Claim
from eyelid.releases.audits.matching import Pair, compared, in_common
from eyelid.reporting.audits.results import SyntheticAudit
from eyelid.version import build


class RowsAttack(TableAttack):
    """Synthetic rows, drawn one by one."""

    def match(
        self, mechanism: FeatureMechanism | None, original: FeatureTable, released: FeatureTable
    ) -> Pair:
        """Both with the features that both have: which there should be is asked elsewhere."""
        return compared(*in_common(original, released)[:2])

    def audit(self, target: TableTarget, plan: AuditPlan) -> SyntheticAudit:
        """How far it is like people, and whether it shows whose data it is made of."""
        if plan.attackers:
            raise InputError("the release has no record under a person's name: leave out attackers")
        original, released = target.original, target.released
        assert released is not None, "there is no release"
        seen = without_blanks(original)
        used = learned_elsewhere(seen, released, plan.targets or None, seed=plan.seed)
        return SyntheticAudit(
            **plan.about(target),
            utility=tuple(used),
            synthetic=audit_synthetic(
                original, released, target.mechanism, target.promised, plan.seed
            ),
        )

    def measure(self, trial: Trial) -> Outcome:
        """No record to re-identify: what is learned from a release of other people is tested."""
        taught = by_other_people(trial, fresh_noise(trial.seed, b"one run of many"))
        return replace(taught, chance=1 / len(trial.table.people))


class SyntheticAttack(RowsAttack):
    """Synthetic participants, with recordings of their own."""

    canaries: ClassVar[Canaries | None] = SyntheticCanaries()

    def faults(self, claim: Claim) -> Iterator[str]:
        """Whether people or features are other than those that the mechanism makes up."""
        # Another version may have another order of features.
        ordered = claim.certificate.version == build()
        made = cast(Synthetic, claim.mechanism)
        yield from _wrong_people(made, claim.original, claim.released, ordered=ordered)
        if ordered:
            facts = made_up(made, claim.facts, claim.original).to_dict()
            if not alike(claim.certificate.made_up, json.loads(json.dumps(facts))):
                yield "the certificate says otherwise what synthetic participants are like"


def _wrong_people(
    mechanism: Synthetic, original: FeatureTable, released: FeatureTable, *, ordered: bool
) -> Iterator[str]:
    """Whether synthetic participants differ from what the mechanism draws, as far as is public."""
    left_out = mechanism.dropped(original)
    features = [name for name in original.names if name not in left_out]
    if released.names != features if ordered else len(released.names) != len(features):
        yield (
            f"the release has {len(released.names)} features, and not the {len(features)} that the "
            "mechanism draws"
        )
    groups = mechanism.groups(original)
    attributes = groups.people.drop("person", "people").rows()
    people = [
        (name, *own)
        for names, own in zip(mechanism.people_of(groups), attributes, strict=True)
        for name in names
    ]
    if [(str(name), *own) for name, *own in released.people.rows()] != people:
        yield (
            f"the release has not the {len(people)} synthetic participants that the mechanism "
            "gives it"
        )
        return
    tasks = sorted(set(task_of(original.recordings)))
    found = released.recordings
    named = list(zip(found["person"], task_of(found), strict=True))
    if named != [(person, task) for person, *_ in people for task in tasks]:
        yield "synthetic participants have not one recording of each task of the original"
    if mechanism.rows is not None and (found["rows"] != mechanism.rows).any():
        yield f"recordings have not the {mechanism.rows} rows that the mechanism gives them"
    # A feature that hardly anyone has by noisy counts is empty, all of it.
    inside = pl.all_horizontal(
        pl.lit(True),
        *(
            pl.col(f.name).is_between(f.lower, f.upper).fill_null(False)
            | pl.col(f.name).is_null().all()
            for f in original.features
            if f.name in released.data.columns
        ),
    )
    if not released.data.select(inside.all()).item():
        yield "the release has values that no release has (missing ones, or outside their bounds)"
