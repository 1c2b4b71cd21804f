"""Means over people, under noise: no record to re-identify, so that other questions are asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
import polars as pl

from eyelid.attacks.error import error_of
from eyelid.attacks.groups import under_names
from eyelid.attacks.means import audit_means, over_groups, true_means
from eyelid.attacks.outcome import (
    Outcome,
    Trial,
    attacked_records,
    by_intersection,
    by_other_people,
    fresh_noise,
    named_by_rows,
)
from eyelid.attacks.protocols import Material
from eyelid.attacks.target import TableTarget
from eyelid.engine.files import content_of
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io.csv_cells import csv_text
from eyelid.io.release_folder import RELEASED_FILES, STANDARD_ERRORS
from eyelid.io.remote import here
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.attack import AuditPlan, TableAttack, noted
from eyelid.releases.audits.canaries import Canaries, MeanCanaries
from eyelid.releases.audits.consistency import Claim
from eyelid.releases.audits.matching import Pair, compared
from eyelid.releases.kinds.features.application import standard_errors
from eyelid.releases.kinds.features.plan import clipped_to
from eyelid.reporting.audits.results import MeansAudit
from eyelid.verification.rerun import quieter_than_again
from eyelid.version import build

# In spans: no noise that holds is this small.
_NO_NOISE = 1e-9


class MeansAttack(TableAttack):
    """Means over everybody, over public groups, or over groups that chance has put together."""

    files: ClassVar[tuple[str, ...]] = (*RELEASED_FILES, STANDARD_ERRORS)
    canaries: ClassVar[Canaries | None] = MeanCanaries()

    def match(
        self, mechanism: FeatureMechanism | None, original: FeatureTable, released: FeatureTable
    ) -> Pair:
        """Both with the same features, where those of the release are groups."""
        if mechanism is None or not mechanism.release.of_means:
            raise InputError(
                "the release has means over people, by a mechanism that cannot be run here: "
                "without it there is nothing to compare them with"
            )
        averaging = cast(MeanMechanism, mechanism)
        original, released = compared(original, released)
        # What groups are called does not depend on who is in them.
        groups = averaging.partition(original, randomness(0)).people["person"]
        slots = averaging.slots(original).names
        keys = [(group, *slot) for group in groups for slot in slots.rows()]
        if released.recordings.select("person", *slots.columns).rows() != keys:
            raise InputError(
                "the release has other groups or tasks than the original would have: are these "
                "the right two?"
            )
        return original, released

    def faults(self, claim: Claim) -> Iterator[str]:
        """Whether groups or noise are other than the mechanism's."""
        mechanism = cast(MeanMechanism, claim.mechanism)
        yield from _wrong_means(mechanism, claim.original, claim.released)
        wanting = quieter_than_again(mechanism, claim.original, claim.released)
        if wanting is not None:
            yield wanting

    def completed(self, target: TableTarget) -> TableTarget:
        """The pair with whether the standard errors beside it are those that follow."""
        return super().completed(noted(target, inconsistencies=list(_wrong_errors(target))))

    def audit(self, target: TableTarget, plan: AuditPlan) -> MeansAudit:
        """Membership, what remains when all others are subtracted, and remaining utility."""
        if plan.attackers or plan.targets:
            raise InputError(
                "the release has means over people, with no record to re-identify and nothing of a "
                "person to recognise: leave out attackers and targets"
            )
        mechanism, taken, released = (
            cast(MeanMechanism, target.mechanism),
            target.taken,
            target.released,
        )
        assert taken is not None, "a mechanism took nothing"
        assert released is not None, "there is no release"
        found = audit_means(mechanism, taken, target.original, released, target.promised, plan.seed)
        return MeansAudit(
            **plan.about(target), means=found, error=found.error, canaries=self.tried(target)
        )

    def measure(self, trial: Trial) -> Outcome:
        """Noisy means: what they teach about others, and of several groups, who is behind them."""
        mechanism, table, seed = trial.mechanism, trial.table, trial.seed
        noise = fresh_noise(seed, b"nobody in particular")
        taught = by_other_people(trial, noise)
        groups = mechanism.partition(trial.taken, noise)
        released = mechanism.present(mechanism.noisy_means(trial.taken, groups, noise))
        own = table.only(*[name for name in table.names if name in released.names])
        truth = true_means(mechanism, groups, own, released)
        found = Outcome(chance=1 / len(table.people))
        if mechanism.drawn or len(groups.people) > 1:
            material = Material(own, under_names(own, released, groups.member))
            unasked = replace(trial.questions, target=None)
            found = attacked_records(material, unasked, seed, groups.member)
            found = found.with_named(named_by_rows(material) | by_intersection(material))
        off = error_of(truth, replace(released, features=truth.features))
        return replace(
            found,
            used=taught.used,
            not_used=taught.not_used,
            error_of_span=off.rmse_of_span,
            errors=off.in_units,
        )


def _wrong_errors(target: TableTarget) -> Iterator[str]:
    """Whether standard_errors.csv says anything but what follows from public facts."""
    certificate, mechanism, taken = target.certificate, target.mechanism, target.taken
    released = target.released
    assert certificate is not None, "means are matched by their mechanism"
    assert mechanism is not None, "means are matched by their mechanism"
    assert taken is not None, "a mechanism took nothing"
    assert released is not None, "there is no release"
    # Another version may write it otherwise.
    if target.path is None or certificate.version != build():
        return
    path = here(target.path) / STANDARD_ERRORS
    if not path.is_file():
        return
    features = clipped_to(taken, certificate.bounds).features
    errors = standard_errors(
        mechanism, mechanism.facts(taken), features, released.people, released.step_ms
    )
    text = "" if errors is None else csv_text(errors)
    try:
        same = content_of(path, len(text.encode())) == text.encode()
    except (OSError, ValueError):
        same = False
    if errors is None or not same:
        yield (
            f"{STANDARD_ERRORS} has something else than the standard errors that follow from the "
            "mechanism and public facts"
        )


def _wrong_means(
    mechanism: MeanMechanism, original: FeatureTable, released: FeatureTable
) -> Iterator[str]:
    """Whether groups are missing or invented, or means are as they were before the noise."""
    groups = mechanism.partition(original, randomness(0))
    exact = mechanism.exact(original, groups)
    key = ["person", "recording", "time_ms"]
    if not exact.data.select(key).equals(released.data.select(key)):
        yield "the release has not the groups, recordings and rows that the mechanism gives it"
        return
    inside = _inside_bounds(replace(released, features=exact.features))
    if mechanism.drawn:
        shown = released.people
        if "people" not in shown.columns or sorted(shown["people"]) != sorted(groups.sizes):
            yield "the groups of the release have not the sizes that the mechanism gives them"
            return
        # Nobody knows who was in which, but over all of them the mean is the same.
        exact, released, inside = (over_groups(each) for each in (exact, released, inside))
    lowers = np.array([f.lower for f in exact.features])
    spans = np.array([f.span for f in exact.features])
    before, after = (
        (table.data.select(exact.names).cast(pl.Float64).to_numpy() - lowers) / spans
        for table in (exact, released)
    )
    if not np.isfinite(after).all():
        yield "the release has values that no release has (missing or infinite ones)"
        return
    # At its bounds a clipped mean may well be what it was, and groups clipped to either side may
    # have the midpoint as their mean, which is that of a feature nobody has.
    same = (np.abs(after - before) < _NO_NOISE) & (
        inside.data.select(exact.names).to_numpy() > 1 - _NO_NOISE
    )
    if int(same.sum()) > 1 + len(same) // 100:
        yield f"{int(same.sum())} released values are the means themselves, next to no noise added"


def _inside_bounds(table: FeatureTable) -> FeatureTable:
    """1 in the place of values between the bounds, 0 in that of others."""
    inside = [
        pl.col(f.name).is_between(f.lower, f.upper, closed="none").cast(pl.Float64)
        for f in table.features
    ]
    return replace(table, data=table.data.with_columns(inside))
