"""Simulated people are recognised across documents about as often as real ones are."""

from __future__ import annotations

from eyelid.audits.identification import identify, recognise_task
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from proofs.result import Effort, Result, progress

PEOPLE = 20
PERSON = (0.5, 0.8)
LEAST_DOCUMENT = 0.85


def prove(effort: Effort) -> Result:
    """Twenty people and three documents, over several seeds."""
    forest, means, document = [], [], []
    for seed in range(effort.seeds):
        table = window_features(simulate(people=PEOPLE, seed=seed))
        rates = identify(table, table)
        forest.append(rates["forest"].rate)
        means.append(rates["means"].rate)
        document.append(recognise_task(table, table).rate)
        progress(f"simulator: seed {seed}: person {forest[-1]:.2f}, document {document[-1]:.2f}")
    figures = {
        "seeds": effort.seeds,
        "person_by_forest": _told(forest, 1 / PEOPLE),
        "person_by_means": _told(means, 1 / PEOPLE),
        "document": _told(document, 1 / 3),
    }
    person = sum(forest) / len(forest)
    passed = PERSON[0] <= person <= PERSON[1] and sum(document) / len(document) >= LEAST_DOCUMENT
    target = (
        f"person by forest {PERSON[0]:g} to {PERSON[1]:g}, document at least "
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
