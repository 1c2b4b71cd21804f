"""Simulated people are recognised across documents about as often as real ones are."""

from __future__ import annotations

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.identification import identify
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.attacks.utility import utility
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from proofs.result import Effort, Result, progress

PEOPLE = 20
ATTACKERS = ("forest", "lda", "means")
# Real people (MPIIDPEye): 0.75 by the forest, 0.82 by linear discriminants.
PERSON = (0.6, 0.95)
LEAST_DOCUMENT = 0.85


def prove(effort: Effort) -> Result:
    """Twenty people and three documents, over several seeds."""
    person: dict[str, list[float]] = {name: [] for name in ATTACKERS}
    document = []
    for seed in range(effort.seeds):
        material = Material(window_features(simulate(people=PEOPLE, seed=seed)))
        for finding in identify(material, find_attackers(ATTACKERS), [POSITIVE]):
            person[finding.attacker].append(finding.rate.rate)
        document.append(utility(material, ["task"], models=["forest"])[0].raw.rate)
        rates = {name: found[-1] for name, found in person.items()}
        progress(f"simulator: seed {seed}: person {rates}, document {document[-1]:.2f}")
    figures = {
        "seeds": effort.seeds,
        **{f"person_by_{name}": _told(rates, 1 / PEOPLE) for name, rates in person.items()},
        "document": _told(document, 1 / 3),
    }
    means = [sum(person[name]) / effort.seeds for name in ("forest", "lda")]
    passed = (
        all(PERSON[0] <= mean <= PERSON[1] for mean in means)
        and sum(document) / len(document) >= LEAST_DOCUMENT
    )
    target = (
        f"person by forest and by lda {PERSON[0]:g} to {PERSON[1]:g}, document at least "
        f"{LEAST_DOCUMENT:g}, on average"
    )
    return Result(figures, target, passed)


def _told(rates: list[float], chance: float) -> dict[str, float]:
    return {
        "mean": sum(rates) / len(rates),
        "least": min(rates),
        "most": max(rates),
        "chance": chance,
    }
