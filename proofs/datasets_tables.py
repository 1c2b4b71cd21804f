"""Synthetic tables that keep spread and relations: 580 real readers, and a hundred of them.

MECO, eight measures of a passage, bounds that a definition gives. Three seeds of noise each, all
figures against the same people: means in standard deviations between people, standard deviations
of rows as a ratio, how the correlations of every two measures agree, and the share of the variance
that lies between people. What the data card claims of means stands beside what was measured. By
language it is refused, with advice that names `summary`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.synthetic.capacity import mean_error_sd
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import randomness
from proofs.result import Effort, Result, progress, real_recordings
from proofs.statistics_real import MEASURES

Floats = NDArray[np.float64]

SEEDS = (1, 2, 3)
MEANS_SD, SPREAD, TOGETHER, BETWEEN = 0.08, 0.25, 0.8, 0.15
FEW, FEW_MEANS_SD, FEW_MEASURES = 100, 0.25, 3
# A claim is right if what was measured is between so many parts of it and as many times it.
FACTOR = 2.0


def prove(effort: Effort) -> Result:
    """At ε = 4 and 2, of a hundred people, and by language."""
    folder = real_recordings("meco")
    if isinstance(folder, Result):
        return folder
    everybody = passages(folder)
    figures: dict[str, Any] = {}
    fine = []
    for epsilon, times in ((4.0, 1.0), (2.0, 2.0)):
        found = of_seeds(everybody, Synthetic(epsilon=epsilon))
        figures[f"{found['people']} people, ε={epsilon:g}"] = found
        progress(f"datasets_tables: ε={epsilon:g}: {found}")
        fine += [
            found["measures"] == len(MEASURES),
            found["means_sd"] <= MEANS_SD * times,
            found["worst_spread"] <= SPREAD * times,
            found["least_together"] >= 1 - (1 - TOGETHER) * times,
            found["between"] <= BETWEEN * times,
            1 / FACTOR <= found["means_sd"] / found["claimed_means_sd"] <= FACTOR,
        ]
    figures["along a public tree, ε=4"] = of_seeds(everybody, Synthetic(4.0, pairs="public"))
    few = of_seeds(some(everybody, FEW), Synthetic(epsilon=4.0))
    figures[f"{FEW} people, ε=4"] = few
    fine += [few["measures"] >= FEW_MEASURES, few["means_sd"] <= FEW_MEANS_SD]
    refused = by_language(everybody)
    figures["by language"] = refused
    fine.append("summary" in refused)
    target = (
        f"{len(MEASURES)} measures, by {len(SEEDS)} seeds: means off by {MEANS_SD:g} standard "
        f"deviations between people (root mean square), each standard deviation within "
        f"{SPREAD:.0%}, correlation matrices that agree at {TOGETHER:g}, the share of variance "
        f"between people within {BETWEEN:g} (root mean square) at ε = 4, twice that at 2; of {FEW} "
        f"people at least {FEW_MEASURES} measures, means within {FEW_MEANS_SD:g}; means as far off "
        f"as the card claims, within a factor of {FACTOR:g}; by language refused, naming summary"
    )
    return Result(figures, target, all(fine))


def passages(folder: Path) -> FeatureTable:
    """One row a reader and passage; attributes: the language."""
    rows = pl.read_csv((folder / "passage_data.csv").read_bytes(), null_values=["NA"])
    numbers = [of.cast(pl.Float64).alias(name) for name, (of, *_) in MEASURES.items()]
    data = rows.select(
        pl.col("uniform_id").alias("person"),
        pl.col("trialid").cast(pl.String).alias("recording"),
        pl.lit("").alias("task"),
        pl.lit("").alias("stimulus"),
        pl.lit(0.0).alias("time_ms"),
        *numbers,
    ).with_columns(pl.when(pl.col(name).is_finite()).then(name) for name in MEASURES)
    people = rows.select(pl.col("uniform_id").alias("person"), "lang").unique(
        "person", maintain_order=True
    )
    features = tuple(
        Feature(name, unit, "", least, most) for name, (_, unit, least, most) in MEASURES.items()
    )
    return FeatureTable.of(Study("features", data, people, features=features))


def some(table: FeatureTable, people: int) -> FeatureTable:
    """So many of them, drawn once."""
    names = np.random.default_rng(1).permutation(table.people["person"].to_numpy())[:people]
    chosen = pl.col("person").is_in(names.tolist())
    return FeatureTable.of(
        Study(
            "features",
            table.data.filter(chosen),
            table.people.filter(chosen),
            features=table.features,
        )
    )


def of_seeds(table: FeatureTable, mechanism: Synthetic) -> dict[str, Any]:
    """How far releases are off, over seeds, and how far their card says."""
    facts = mechanism.facts(table)
    each = []
    for seed in SEEDS:
        release = mechanism.apply(table, randomness(seed))
        real, made = (_looked_at(one, release.names) for one in (table, release))
        each.append(
            {
                "means": (made["means"] - real["means"]) / real["between_sd"],
                "spreads": made["sd"] / real["sd"],
                "together": float(np.corrcoef(made["pairs"], real["pairs"])[0, 1]),
                "between": made["between"] - real["between"],
            }
        )
    means = np.array([one["means"] for one in each])
    spreads = np.array([one["spreads"] for one in each])
    between = np.array([one["between"] for one in each])
    return {
        "people": facts.people,
        "measures": means.shape[1],
        "means_sd": _rms(means),
        "worst_mean_sd": float(np.abs(means).max()),
        "claimed_means_sd": mean_error_sd(mechanism, facts),
        "worst_spread": float(np.abs(spreads - 1).max()),
        "spreads": spreads.round(2).tolist(),
        "least_together": min(one["together"] for one in each),
        "between": _rms(between),
        "worst_between": float(np.abs(between).max()),
    }


def _looked_at(table: FeatureTable, names: list[str]) -> dict[str, Floats]:
    """Means of people's means, deviations between them and of rows, correlations, share between."""
    data = table.data.select("person", *names)
    people = data.group_by("person").mean().select(names)
    rows = data.select(names)
    apart = data.select(pl.col(name) - pl.col(name).mean().over("person") for name in names)
    free = rows.height - people.height
    within = apart.select(pl.all().pow(2).sum()).to_numpy()[0] / free
    pairs = [
        rows.select(pl.corr(one, other)).item()
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    deviations = rows.select(pl.all().std()).to_numpy()[0]
    return {
        "means": people.select(pl.all().mean()).to_numpy()[0],
        "between_sd": people.select(pl.all().std()).to_numpy()[0],
        "sd": deviations,
        "pairs": np.array(pairs),
        "between": 1 - within / deviations**2,
    }


def by_language(table: FeatureTable) -> str:
    """What is said when each language should have synthetic readers of its own."""
    try:
        Synthetic(epsilon=4.0, by="lang").check(table)
    except InputError as refused:
        return str(refused)
    return "it was not refused"


def _rms(numbers: Floats) -> float:
    return float(np.sqrt(np.mean(numbers**2)))


if __name__ == "__main__":
    print(prove(Effort()).to_json("datasets_tables", 0.0))
