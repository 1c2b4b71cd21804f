from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.streams.features import LOSSES, TIME_STAMPS, losses, timing, without_gaze
from eyelid.gaze.study import Study


def people(step_of, lost_of, people=6, recordings=2, seconds=60):
    """Samples of people who each have a step and a share of losses of their own."""
    rng = np.random.default_rng(8)
    rows = []
    for p in range(people):
        for r in range(recordings):
            step = step_of(p)
            time_ms = np.cumsum(rng.normal(step, 0.1, int(seconds * 1000 / step)))
            x = np.where(rng.uniform(size=len(time_ms)) < lost_of(p), np.nan, 1.0)
            told = {"person": f"P{p}", "recording": f"r{r}", "task": f"r{r}", "stimulus": ""}
            rows.append(pl.DataFrame(told | {"time_ms": time_ms - time_ms[0], "x": x, "y": x}))
    data = pl.concat(rows).with_columns(pl.col("x", "y").fill_nan(None))
    return Study("samples", data, data.select("person").unique(maintain_order=True), units="px")


def named(study):
    found = without_gaze(study, find_attackers(["means"]))
    return {finding.protocol: finding.rate.rate for finding in found}


def test_figures_of_a_window_are_those_of_its_samples():
    study = people(lambda p: 20.0, lambda p: 0.2, people=1, recordings=1, seconds=25)
    time_ms, lost = study.data["time_ms"].to_numpy(), study.data["x"].is_null().to_numpy()
    steps = np.diff(time_ms, prepend=np.nan)
    own = time_ms // 10_000 == 1
    row = timing(study).data.row(1, named=True)
    assert row["time_ms"] == 10_000.0
    assert row["step_mean"] == pytest.approx(steps[own].mean(), abs=1e-6)
    assert row["step_spread"] == pytest.approx(steps[own].std(ddof=1), abs=1e-6)
    assert row["step_longest"] == pytest.approx(steps[own].max(), abs=1e-6)
    row = losses(study).data.row(1, named=True)
    assert row["lost"] == pytest.approx(lost[own].mean(), abs=1e-6)
    began = lost & ~np.roll(lost, 1)
    assert row["losses_begun"] == pytest.approx(began[own].mean(), abs=1e-6)


def test_people_with_a_step_of_their_own_are_named_by_time_stamps_alone():
    assert named(people(lambda p: 20.0 + p, lambda p: 0.1))[TIME_STAMPS] == 1.0


def test_regular_time_stamps_name_nobody():
    study = people(lambda p: 20.0, lambda p: 0.1)
    number = pl.int_range(pl.len()).over("person", "recording")
    study = replace(study, data=study.data.with_columns(time_ms=number * (1000 / 60)))
    assert timing(study).data["step_mean"].unique().to_list() == [16.666667]
    assert named(study)[TIME_STAMPS] == pytest.approx(1 / 6)


def test_people_who_blink_in_their_own_way_are_named_by_losses_alone():
    assert named(people(lambda p: 20.0, lambda p: 0.02 + 0.1 * p))[LOSSES] == 1.0


def test_recordings_that_cannot_be_parted_name_nobody():
    assert named(people(lambda p: 20.0, lambda p: 0.1, recordings=1, seconds=5)) == {}
