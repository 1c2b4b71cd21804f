"""What is done about each kind of release: one table for audits, comparisons and canaries."""

from __future__ import annotations

import time
from dataclasses import replace

from eyelid.attacks.one_run import CanaryResult
from eyelid.attacks.outcome import Outcome, Trial, concluded, fresh_noise
from eyelid.attacks.synthetic import names_nobody
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.unit import Trust
from eyelid.releases.audits.attack import Attack, TableAttack
from eyelid.releases.audits.canaries import PEOPLE, Canaries
from eyelid.releases.audits.gaze import GazeAttack
from eyelid.releases.audits.groups import GroupsAttack
from eyelid.releases.audits.maps import MapsAttack
from eyelid.releases.audits.means import MeansAttack
from eyelid.releases.audits.records import RecordsAttack
from eyelid.releases.audits.statistics import StatisticsAttack
from eyelid.releases.audits.synthetic import RowsAttack, SyntheticAttack
from eyelid.releases.audits.synthetic_gaze import SyntheticGazeAttack

OF_FEATURES: dict[ReleaseKind, TableAttack] = {
    ReleaseKind.RECORDS: RecordsAttack(),
    ReleaseKind.GROUPS: GroupsAttack(),
    ReleaseKind.MEANS: MeansAttack(),
    ReleaseKind.RANDOM_MEANS: MeansAttack(),
    ReleaseKind.ROWS: RowsAttack(),
    ReleaseKind.SYNTHETIC: SyntheticAttack(),
}
ATTACKS: dict[ReleaseKind, Attack] = {
    **OF_FEATURES,
    ReleaseKind.SAMPLES: GazeAttack(),
    ReleaseKind.MAPS: MapsAttack(),
    ReleaseKind.TABLES: MapsAttack(),
    ReleaseKind.STATISTICS: StatisticsAttack(),
    ReleaseKind.SYNTHETIC_GAZE: SyntheticGazeAttack(),
}


def attacked_as(
    mechanism: FeatureMechanism | None, trust: Trust, released: FeatureTable
) -> ReleaseKind:
    """As what kind a release of features is attacked.

    Args:
        mechanism: that made it; None where it is not known here.
        trust: as its certificate has it.
        released: what was released.
    """
    if mechanism is not None and mechanism.mixes_people:
        # Whatever the rows are made of, they stand under people's names.
        return ReleaseKind.RECORDS
    kind = ReleaseKind.RECORDS if mechanism is None else mechanism.release
    if mechanism is None and names_nobody(released):
        kind = ReleaseKind.SYNTHETIC
    if kind is ReleaseKind.RECORDS and trust is Trust.CENTRAL:
        kind = ReleaseKind.MEANS
    return kind


def measured(trial: Trial) -> Outcome:
    """Run a mechanism once, attack what comes out, and use it."""
    started = time.perf_counter()
    mechanism = trial.mechanism
    kind = ReleaseKind.RECORDS if mechanism.mixes_people else mechanism.release
    found = OF_FEATURES[kind].measure(trial)
    if trial.questions.concluded:
        noise = fresh_noise(trial.seed, b"what is concluded")
        released = mechanism.apply(trial.taken, noise)
        found = concluded(found, trial.questions, trial.table, released)
    return replace(found, seconds=time.perf_counter() - started)


def canaries_of(mechanism: FeatureMechanism) -> Canaries | None:
    """Simulated participants that a mechanism can be tried on; None where it takes none."""
    canaries = OF_FEATURES[mechanism.release].canaries
    return canaries if canaries is not None and canaries.suit(mechanism) else None


def canary_audit(
    mechanism: FeatureMechanism, people: int = PEOPLE, features: int = 1, seed: int | None = None
) -> CanaryResult:
    """Release simulated participants once, like any study, and guess their coins.

    The mechanism keeps its parameters, but for a fixed length: canaries have as few rows as it
    takes, or the audit would see nothing. Where means over people are released, each canary is in a
    group with others who stay the same.

    Args:
        mechanism: with the parameters of a certificate.
        people: how many canaries.
        features: columns; each more costs power. Of synthetic participants there are always many.
        seed: of the coins; the noise is the pipeline's own.

    >>> from eyelid.mechanisms import mechanism_named
    >>> found = canary_audit(mechanism_named("laplace", epsilon=1.0))
    >>> found.person.claimed, found.person.canaries, found.refuted
    (1.0, 4000, False)
    """
    canaries = canaries_of(mechanism)
    if canaries is None:
        raise InputError(
            f"canaries are people with features, which {mechanism.name} does not take: "
            "audit its games with 'eyelid verify'"
        )
    return canaries.run(mechanism, people, features, seed)
