"""Synthetic tables that keep spread and relations: 580 real readers, and a hundred of them.

MECO, eight measures of a passage, bounds that a definition gives. Three seeds of noise each, all
figures against the same people: means in standard deviations between people, standard deviations
of rows as a ratio, how the correlations of every two measures agree, and the share of the variance
that lies between people. Of 50, 100 and 200 of them as many measures come as keep means and
correlations. By language it is refused, with advice that names `summary`.

What the data card claims of each feature's mean, in its unit and in standard deviations of rows,
stands beside what was measured: of these readers, and of people who were simulated at 30 Hz, whose
rows are windows of a signal and single fixations.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.features import event_features, window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.synthetic.capacity import mean_error_sd, mean_off
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import randomness
from proofs.result import Effort, Result, progress, real_recordings
from proofs.statistics_real import MEASURES

Floats = NDArray[np.float64]

SEEDS = (1, 2, 3)
MEANS_SD, SPREAD, TOGETHER, BETWEEN = 0.08, 0.25, 0.8, 0.15
# Fewest measures of so many people, and how far their means may be off.
FEW, FEW_MEANS_SD, FEW_PAIRS = {100: 3, 200: 5}, 0.25, 0.25
# Of what is claimed, the least and the most that is measured over all features and seeds.
CLAIMED = (0.3, 1.3)
# Windows of a signal: how far means may be off, in standard deviations of rows.
SIMULATED, WINDOWS_SD = (100, 200, 400), 0.2
_AT_ONCE = 50


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
        ]
    figures["along a public tree, ε=4"] = of_seeds(everybody, Synthetic(4.0, pairs="public"))
    figures["50 people, ε=4"] = "refused" if refuses(some(everybody, 50)) else "not refused"
    fine.append(figures["50 people, ε=4"] == "refused")
    for people, measures in FEW.items():
        # Others for each seed.
        found = of_seeds(everybody, Synthetic(epsilon=4.0), people)
        figures[f"{people} people, ε=4"] = found
        progress(f"datasets_tables: {people} people: {found}")
        fine += [
            found["measures"] >= measures,
            found["means_sd"] <= FEW_MEANS_SD,
            found["pairs_off"] <= FEW_PAIRS,
        ]
    claimed = {f"{many} readers": claims(everybody, many) for many in (*FEW, 580)}
    for many in SIMULATED:
        windows, fixations = simulated(many)
        claimed[f"{many} simulated people, windows"] = found = claims(windows)
        fine.append(found["means_sd"] <= WINDOWS_SD)
        claimed[f"{many} simulated people, fixations"] = claims(fixations)
    for name, found in claimed.items():
        progress(f"datasets_tables: claims, {name}: {found}")
        fine.append(CLAIMED[0] <= found["measured_of_foreseen"] <= CLAIMED[1])
    figures["claims of the data card"] = claimed
    refused = by_language(everybody)
    figures["by language"] = refused
    fine.append("summary" in refused)
    target = (
        f"{len(MEASURES)} measures, by {len(SEEDS)} seeds: means off by {MEANS_SD:g} standard "
        f"deviations between people (root mean square), each standard deviation within "
        f"{SPREAD:.0%}, correlation matrices that agree at {TOGETHER:g}, the share of variance "
        f"between people within {BETWEEN:g} (root mean square) at ε = 4, twice that at 2; of "
        f"{' and '.join(map(str, FEW))} people at least {' and '.join(map(str, FEW.values()))} "
        f"measures, means within {FEW_MEANS_SD:g} (root mean square), correlations within "
        f"{FEW_PAIRS:g} (root mean square); 50 refused; "
        f"of {', '.join(map(str, SIMULATED))} simulated people means "
        f"of windows within {WINDOWS_SD:g} standard deviations of rows; means {CLAIMED[0]:g} to "
        f"{CLAIMED[1]:g} times as far off as the card claims; by language refused, naming summary"
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


def some(table: FeatureTable, people: int, seed: int = 1) -> FeatureTable:
    """So many of them, drawn once for each seed."""
    names = np.random.default_rng(seed).permutation(table.people["person"].to_numpy())[:people]
    chosen = pl.col("person").is_in(names.tolist())
    return replace(table, data=table.data.filter(chosen), people=table.people.filter(chosen))


def simulated(people: int) -> tuple[FeatureTable, FeatureTable]:
    """Windows and fixations of so many people at 30 Hz, some people at a time."""
    windows, fixations = [], []
    for first in range(0, people, _AT_ONCE):
        study = simulate(people=_AT_ONCE, seed=2_000_000 + first, rate_hz=30.0, minutes=4.0)
        named = pl.concat_str(pl.lit(f"{first}-"), pl.col("person")).alias("person")
        for parts, part in (
            (windows, window_features(study)),
            (fixations, event_features(study, "fixations")),
        ):
            parts.append(replace(part, data=part.data.with_columns(named)))
    return _together(windows), _together(fixations)


def _together(parts: list[FeatureTable]) -> FeatureTable:
    data = pl.concat([part.data for part in parts])
    people = data.select(pl.col("person").unique(maintain_order=True))
    return replace(parts[0], data=data, people=people)


def refuses(table: FeatureTable) -> bool:
    """Whether so few people are refused."""
    try:
        Synthetic(epsilon=4.0).apply(table, randomness(1))
    except InputError:
        return True
    return False


def claims(table: FeatureTable, people: int | None = None) -> dict[str, Any]:
    """How far means over everybody are off by feature, and how far the data card says.

    Args:
        table: of everybody.
        people: how many of them are taken for each seed; all if not given.
    """
    mechanism = Synthetic(epsilon=4.0)
    units = {feature.name: feature.unit for feature in table.features}
    off, said_in_units = [], []
    for seed in SEEDS:
        real = table if people is None else some(table, people, seed)
        release = mechanism.apply(real, randomness(seed))
        ours, theirs = (_means_and_spreads(one, release.names) for one in (real, release))
        off.append((theirs[0] - ours[0], (theirs[0] - ours[0]) / ours[1]))
        facts = mechanism.facts(real)
        said = mean_error_sd(mechanism, facts)
        said_in_units.append(
            [
                mean_off(feature, mechanism.bins_for(facts), said, *rows)
                for feature, *rows in zip(release.features, *theirs, strict=True)
            ]
        )
    units_off, sd_off = (
        np.sqrt(np.mean(np.square(part), axis=0)) for part in zip(*off, strict=True)
    )
    each = {
        name: {
            "unit": units[name],
            "foreseen": float(np.mean([each[place] for each in said_in_units])),
            "measured": float(units_off[place]),
            "foreseen_sd": said,
            "measured_sd": float(sd_off[place]),
        }
        for place, name in enumerate(release.names)
    }
    return {
        "foreseen_sd": said,
        "means_sd": _rms(sd_off),
        "measured_of_foreseen": _rms(sd_off) / said,
        "features": each,
    }


def _means_and_spreads(table: FeatureTable, names: list[str]) -> tuple[Floats, Floats]:
    """Means of people's means of tasks, and standard deviations of rows, clipped to the bounds."""
    bounds = {feature.name: (feature.lower, feature.upper) for feature in table.features}
    data = table.data.select(
        "person",
        "task",
        *(pl.col(name).cast(pl.Float64).fill_nan(None).clip(*bounds[name]) for name in names),
    )
    by_task = data.group_by("person", "task").agg(pl.col(names).mean())
    means = by_task.group_by("person").agg(pl.col(names).mean()).select(pl.col(names).mean())
    return means.to_numpy()[0], data.select(pl.col(names).std()).to_numpy()[0]


def of_seeds(
    table: FeatureTable, mechanism: Synthetic, people: int | None = None
) -> dict[str, Any]:
    """How far releases of everybody, or of so many for each seed, are off."""
    each = []
    for seed in SEEDS:
        ours = table if people is None else some(table, people, seed)
        release = mechanism.apply(ours, randomness(seed))
        real, made = (_looked_at(one, release.names) for one in (ours, release))
        each.append(
            {
                "means": (made["means"] - real["means"]) / real["between_sd"],
                "spreads": made["sd"] / real["sd"],
                "together": float(np.corrcoef(made["pairs"], real["pairs"])[0, 1]),
                "pairs": made["pairs"] - real["pairs"],
                "between": made["between"] - real["between"],
            }
        )
    means = np.array([one["means"] for one in each])
    spreads = np.array([one["spreads"] for one in each])
    between = np.array([one["between"] for one in each])
    return {
        "people": people or len(table.people),
        "measures": means.shape[1],
        "means_sd": _rms(means),
        "worst_mean_sd": float(np.abs(means).max()),
        "worst_spread": float(np.abs(spreads - 1).max()),
        "spreads": spreads.round(2).tolist(),
        "least_together": min(one["together"] for one in each),
        "pairs_off": _rms(np.array([one["pairs"] for one in each])),
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
