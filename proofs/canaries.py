"""The whole release pipeline in one run: every mechanism and unit, planted faults, false alarms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eyelid.attacks.one_run import ALPHA, CanaryResult
from eyelid.attacks.override import override
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts, Values, catalogue
from eyelid.mechanisms.records.additive import AdditiveMechanism
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import Randomness
from eyelid.releases.audits.canaries import PEOPLE
from eyelid.releases.audits.kinds import canaries_of, canary_audit
from proofs.result import Effort, Result, progress

MANY = 20_000
AUDITS = 100


def prove(effort: Effort) -> Result:
    """Nothing sound refuted, however many canaries; every fault caught; few false alarms."""
    kinds = [kind for kind in catalogue().values() if kind.claims_to_hold]
    sound, refuted, missed, alarms = {}, [], [], {}
    for kind in kinds:
        mechanisms = [mechanism for mechanism in kind.set_for_games() if canaries_of(mechanism)]
        for mechanism in mechanisms:
            unit = str(mechanism.unit)
            progress(f"  {kind.name} for a {unit} …")
            # Canaries for simulated participants have many features as they are, and are weighed
            # together.
            together = isinstance(mechanism, Synthetic)
            for features in (1,) if together else (1, 2):
                people = PEOPLE if together else MANY
                found = canary_audit(mechanism, people=people, features=features)
                name = f"{kind.name}/{unit}/{features}"
                sound[name] = max(sound.get(name, 0.0), _of_claim(found))
                if found.refuted:
                    refuted.append(name)
        if not mechanisms:
            continue
        mechanism = mechanisms[0]
        if isinstance(mechanism, AdditiveMechanism):
            missed += [f"{kind.name}: {fault}" for fault in FAULTS if not _caught(mechanism, fault)]
        progress(f"  {AUDITS} audits of {kind.name} …")
        alarms[kind.name] = sum(canary_audit(mechanism, people=1000).refuted for _ in range(AUDITS))
    figures = {
        "canaries": MANY,
        "certified_of_claim": sound,
        "refuted": refuted,
        "faults": len(FAULTS),
        "missed": missed,
        "audits": AUDITS,
        "false_alarms": alarms,
        "false_alarms_expected_at_most": AUDITS * ALPHA,
    }
    # At 1e-3 each, three or more false alarms in 100 have a chance of 0.0002.
    passed = not refuted and not missed and all(count < 3 for count in alarms.values())
    return Result(figures, "nothing sound refuted, every planted fault caught", passed)


def _of_claim(found: CanaryResult) -> float:
    """The nearest that any of its claims came to being refuted."""
    runs = [run for run in (found.person, found.within) if run is not None]
    return max(run.lower_bound / run.claimed for run in runs)


def _caught(mechanism: Mechanism, fault: str) -> bool:
    changes, length = FAULTS[fault]
    return canary_audit(
        override(replace(mechanism, length=length), changes),  # type: ignore[call-arg]
        people=MANY,
    ).refuted


def _less_noise(
    self: AdditiveMechanism, integers: Any, facts: PublicFacts, noise: Randomness
) -> Any:
    draws = noise_of(self, facts).draw(integers.shape, noise)
    # Of what the claim needs: some add more.
    share = 0.7 / getattr(self, "times", 1)
    return integers + np.rint(share * draws).astype(np.int64)


def _no_clip(self: AdditiveMechanism, values: Values) -> Values:
    return np.where(np.isnan(values), 0.5, values)


def _bare_padding(
    self: AdditiveMechanism, values: Values, facts: PublicFacts, noise: Randomness
) -> Values:
    return np.where(np.isnan(values), 0.5, AdditiveMechanism.randomise(self, values, facts, noise))


def _gaps(self: AdditiveMechanism, values: Values, facts: PublicFacts, noise: Randomness) -> Values:
    private = AdditiveMechanism.randomise(self, values, facts, noise)
    return np.where(np.isnan(values), np.nan, private)


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "noise × 0.7": ({"perturb": _less_noise}, "shortest"),
    "missing clip": ({"clip": _no_clip}, "shortest"),
    "padding without noise": ({"randomise": _bare_padding}, "longest"),
    "gaps published": ({"randomise": _gaps}, "shortest"),
}
