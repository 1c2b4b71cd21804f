"""Noise as a watermark: people who are all alike, "identified" by a paper's protocol and no other.

Everybody has the same zero signal. Each recording of each feature gets one draw of Laplace noise,
which is what the Fourier mechanism leaves with a single coefficient. Trained on first halves and
tested on second halves of that release, attackers who know recordings name everybody: the noise is
recognised. (Those who average over a person's recordings first do so less often.)
Under the leak-free protocols nobody is re-identified more often than by chance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.identification import identify
from eyelid.attacks.protocols import Material
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from proofs.result import Effort, Result

PEOPLE, TASKS, ROWS, FEATURES = 20, 3, 120, 16
ATTACKERS = ("knn", "svm", "forest", "lda", "means")


def prove(effort: Effort) -> Result:
    """Several seeds: the paper's protocol at 1, the honest ones at chance on average."""
    rates: dict[str, list[float]] = {}
    for seed in range(effort.seeds):
        for name, rate in _rates(seed).items():
            rates.setdefault(name, []).append(rate)
    means = {name: float(np.mean(found)) for name, found in rates.items()}
    leak_free = {name: mean for name, mean in means.items() if not name.startswith("paper")}
    # Ten studies of 20 people with three decisions each: four standard errors.
    margin = 4 * (0.05 * 0.95 / (PEOPLE * TASKS * effort.seeds)) ** 0.5
    passed = (
        all(means[f"paper-halves {name}"] == 1.0 for name in ("knn", "svm", "forest"))
        and max(leak_free.values()) < 1 / PEOPLE + margin
    )
    target = (
        "identical zero signals with one draw of noise a recording: 1.00 by paper-halves (kNN-11, "
        f"SVM, forest), at most {1 / PEOPLE + margin:.3f} on average by every honest protocol"
    )
    return Result(means, target, passed)


def _rates(seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    features = [Feature(f"feature_{j}", "", "", -1.0, 1.0) for j in range(FEATURES)]
    zeros = table_from_arrays(np.zeros((PEOPLE, TASKS, ROWS, FEATURES)), features)
    material = Material(zeros, with_low_noise(zeros, rng), lambda t: with_low_noise(t, rng))
    findings = identify(material, find_attackers(ATTACKERS), seed=seed)
    return {f"{f.protocol} {f.attacker}": f.rate.rate for f in findings}


def with_low_noise(table: FeatureTable, rng: np.random.Generator) -> FeatureTable:
    """One Laplace draw for every recording and feature, the same in all of its rows."""
    rows = table.recordings["rows"].to_numpy()
    drawn = rng.laplace(scale=100.0, size=(len(rows), len(table.names)))
    noise = np.repeat(drawn, rows, axis=0)
    noisy = [
        (pl.col(name) + pl.Series(noise[:, j])).alias(name) for j, name in enumerate(table.names)
    ]
    return replace(table, data=table.data.with_columns(noisy), released=True)
