"""Synthetic participants: a whole study measured, fitted and drawn, in time and memory, by people.

Values are anywhere inside the bounds, which is as much work as any: nothing in it depends on them.
All features are carried. The peer has neither privacy nor time: for each task a mixture of
Gaussians over its rows, of one component, fitted and drawn from, on an eighth of the people
(``copulas``, whose model is nearer to ours, would bring older versions of what others need).

``python -m benchmarks.synthetic PEOPLE`` makes so many up in a fresh process, ``-m
benchmarks.synthetic PEOPLE peer`` lets the peer; both print their figures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmarks.case import Case, remark
from benchmarks.crowd import crowd
from benchmarks.fresh_process import measured
from eyelid.gaze.features import window_feature_set
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import randomness

PEOPLE, TASKS, WINDOWS = (125, 250, 500, 1000), 3, 1200
MOST_SECONDS, MOST_WORKING_MB, MOST_GROWTH = 60.0, 600.0, 1.05


def cases() -> Iterator[Case]:
    """Time, memory, and how both grow with people."""
    features = len(window_feature_set("deg"))
    remark(f"synthetic: {PEOPLE[-1]:,} people × {TASKS} × {WINDOWS} windows × {features} features")
    # The better of two: what else the machine does is not ours.
    ours = [
        min((_fresh(str(people)) for _ in range(2)), key=lambda one: one["cpu_seconds"])
        for people in PEOPLE
    ]
    peer = _fresh(str(PEOPLE[0]), "peer")
    most, seconds = ours[-1], [one["cpu_seconds"] for one in ours]
    peer_name = "scikit-learn GaussianMixture for each task, not private"
    times = PEOPLE[-1] / PEOPLE[0]
    name = f"{PEOPLE[-1]:,} synthetic participants from {PEOPLE[-1]:,}, {features} features"
    yield Case(
        f"{name}, measured, fitted and drawn",
        "s CPU",
        most["cpu_seconds"],
        f"{peer_name}, of {PEOPLE[0]} people and extrapolated",
        peer["cpu_seconds"] * times,
        f"under {MOST_SECONDS:g} s",
        most["cpu_seconds"] < MOST_SECONDS,
        {"made_values": int(most["made_values"])},
    )
    grown = float(np.polyfit(np.log(PEOPLE), np.log(seconds), 1)[0])
    yield Case(
        "synthetic participants, growth of time with people",
        "exponent",
        grown,
        "linear",
        1.0,
        f"at most {MOST_GROWTH:g}",
        grown <= MOST_GROWTH,
        {f"seconds_{people}": found for people, found in zip(PEOPLE, seconds, strict=True)},
    )
    yield Case(
        f"{name}, peak of memory beside input and output",
        "MB",
        most["working_mb"],
        f"{peer_name}, of {PEOPLE[0]} people",
        peer["working_mb"],
        f"under {MOST_WORKING_MB:g} MB",
        most["working_mb"] < MOST_WORKING_MB,
        {f"of_{people}_mb": one["working_mb"] for people, one in zip(PEOPLE, ours, strict=True)}
        | {"output_mb": most["output_mb"]},
    )


def _fresh(*arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.synthetic", *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def table_of(people: int) -> FeatureTable:
    """Everybody's windows, with eyelid's own features."""
    names = [one.name for one in window_feature_set("deg")]
    return crowd(people, TASKS, WINDOWS, names)


def figures(people: int) -> dict[str, float]:
    """Ours: processor seconds, and memory beside the table and the release."""
    table = table_of(people)
    mechanism = Synthetic(epsilon=4.0, delta=1e-6, carry=len(table.features), rows=WINDOWS)
    # What is imported late, and tables of the noise, are not of these people.
    mechanism.apply(table_of(8), randomness(0))
    released: list[FeatureTable] = []
    found = measured(lambda: released.append(mechanism.apply(table, randomness(1))))
    data = released[0].data
    # Polars counts the letters of a text column, not the 16 bytes of each of its views.
    views = 16 * len(data) * sum(kind == pl.String for kind in data.dtypes)
    output = data.estimated_size() + views
    return {
        "cpu_seconds": found["cpu_seconds"],
        "working_mb": (found["growth_bytes"] - output) / 1e6,
        "output_mb": output / 1e6,
        "made_values": len(data) * len(released[0].features),
    }


def peer_figures(people: int) -> dict[str, float]:
    """The peer's; its output is what is drawn."""
    from sklearn.mixture import GaussianMixture

    data = table_of(people)
    names = data.names
    noise = np.random.default_rng(1)
    drawn = []

    def made() -> None:
        for _, rows in data.data.group_by("task", maintain_order=True):
            values = rows.select(names).to_numpy()
            # Columns that are copies of others have no covariance.
            values += noise.normal(0.0, 0.01, values.shape)
            model = GaussianMixture(random_state=0)
            drawn.append(model.fit(values).sample(len(values))[0])

    found = measured(made)
    output = sum(one.nbytes for one in drawn)
    return {
        "cpu_seconds": found["cpu_seconds"],
        "working_mb": (found["growth_bytes"] - output) / 1e6,
    }


if __name__ == "__main__":
    made_up = peer_figures if sys.argv[2:] else figures
    print(json.dumps(made_up(int(sys.argv[1]))))
