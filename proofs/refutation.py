"""Audits of releases: no sound one is called refuted, and planted faults are.

Many seeded studies of people who differ strongly are released and audited by the attackers who get
the most out of noise, the likelihood ratio among them. Sound releases at several ε, each mechanism,
must all stand. Then releases whose certificates claim what they do not give must fall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.attackers.likelihood import likelihood_finding
from eyelid.attacks.identification import Finding, identify, with_bounds
from eyelid.attacks.protocols import Material
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.records.additive import AdditiveMechanism
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON
from proofs.result import Effort, Result, progress

PEOPLE, TASKS, ROWS, FEATURES = 60, 2, 30, 2
SOUND = [
    {"name": name, "epsilon": epsilon, "unit": unit}
    for name in ("laplace", "gaussian")
    for epsilon, unit in ((0.1, "person"), (2.0, "person"), (8.0, "person"), (1.0, "record"))
]
# 200 seeded repetitions in all, and as many again.
EACH = 50


@dataclass(frozen=True)
class Fault:
    """A release that does not give what it claims.

    Attributes:
        name: what is wrong.
        given: the mechanism that was really run.
        claims: what its certificate says of a person.
        tamper: what is done to the release besides.
    """

    name: str
    given: dict[str, Any]
    claims: dict[str, Any]
    tamper: Callable[[FeatureTable, FeatureTable], FeatureTable] = lambda _, released: released


def _one_feature_raw(original: FeatureTable, released: FeatureTable) -> FeatureTable:
    name = original.names[0]
    return replace(released, data=released.data.with_columns(original.data[name]))


FAULTS = (
    Fault(
        "a row's ε sold as a person's",
        {"name": "laplace", "epsilon": 2.0, "unit": "record"},
        {"name": "laplace", "epsilon": 2.0, "unit": "person"},
    ),
    Fault(
        "a small part of the noise",
        {"name": "gaussian", "epsilon": 40.0, "unit": "person"},
        {"name": "gaussian", "epsilon": 1.0, "unit": "person"},
    ),
    Fault(
        "one feature without noise",
        {"name": "laplace", "epsilon": 1.0, "unit": "person"},
        {"name": "laplace", "epsilon": 1.0, "unit": "person"},
        _one_feature_raw,
    ),
    Fault(
        "no noise to speak of",
        {"name": "laplace", "epsilon": 1e6, "unit": "person"},
        {"name": "laplace", "epsilon": 1.0, "unit": "person"},
    ),
)


def prove(effort: Effort) -> Result:
    """Sound releases stand, planted faults fall."""
    wrong: dict[str, int] = {}
    for case in SOUND:
        label = f"{case['name']} {case['unit']} {case['epsilon']:g}"
        wrong[label] = sum(_refuted(seed, case, case) for seed in range(EACH))
        progress(f"refutation: {label}: {wrong[label]} refuted")
    caught = {
        f.name: sum(_refuted(seed, f.given, f.claims, f.tamper) for seed in range(10))
        for f in FAULTS
    }
    audits = EACH * len(SOUND)
    figures = {"sound_audits": audits, "refuted": wrong, "planted_caught_of_10": caught}
    passed = not any(wrong.values()) and all(count == 10 for count in caught.values())
    target = f"none of {audits} sound releases refuted, every planted fault in 10 of 10"
    return Result(figures, target, passed)


def people_apart(seed: int) -> FeatureTable:
    """People at the bounds, each a pattern of their own: as far apart as they can be."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2, (PEOPLE, 1, ROWS, FEATURES)).astype(float)
    values = np.clip(own + rng.normal(0, 0.02, (PEOPLE, TASKS, ROWS, FEATURES)), 0.0, 1.0)
    return table_from_arrays(values, [Feature(f"f{j}", "", "", 0.0, 1.0) for j in range(FEATURES)])


def audited(
    original: FeatureTable,
    released: FeatureTable,
    mechanism: AdditiveMechanism,
    promised: Guarantee,
) -> list[Finding]:
    """The findings of an audit, beside what was promised."""
    noise = randomness(4711)
    material = Material(original, released, lambda table: mechanism.apply(table, noise))
    findings = identify(material, find_attackers(["knn", "lda", "means", "whitened"]))
    findings.append(likelihood_finding(mechanism, original, released, material.people))
    return with_bounds(findings, rank1_bounds(promised, len(material.people)))


def _refuted(
    seed: int,
    given: dict[str, Any],
    claims: dict[str, Any],
    tamper: Callable[[FeatureTable, FeatureTable], FeatureTable] = lambda _, released: released,
) -> bool:
    original = people_apart(seed)
    mechanism, claimed = (mechanism_named(**case) for case in (given, claims))
    assert isinstance(mechanism, AdditiveMechanism)
    released = tamper(original, mechanism.apply(original, randomness(seed)))
    promised = claimed.cost(claimed.facts(original), PERSON)
    return any(finding.refutes for finding in audited(original, released, mechanism, promised))
