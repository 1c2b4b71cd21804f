from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.identification import identify
from eyelid.attacks.protocols import POSITIVE, Material, find_protocol
from eyelid.attacks.samples.convolutions import Convolutions
from eyelid.attacks.samples.evidence import (
    FUSED,
    Gaze,
    learned_weights,
    parts_of,
    sample_findings,
    some_people,
)
from eyelid.attacks.samples.signals import Grid, SignalMaterial, signal_table
from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate

PEOPLE = 8


@pytest.fixture(scope="module")
def study():
    return simulate(people=PEOPLE, tasks=("comic", "textbook"), minutes=1.5, seed=11)


def shuffled(study, seed=0):
    """Every recording under somebody's name, drawn anew in every task."""
    rng = np.random.default_rng(seed)
    people = study.people["person"].to_list()
    rows = [
        (person, task, other)
        for task in study.data["task"].unique().sort()
        for person, other in zip(people, rng.permutation(people), strict=True)
    ]
    names = pl.DataFrame(rows, schema=["person", "task", "other"], orient="row")
    data = study.data.join(names, on=["person", "task"], how="left", maintain_order="left")
    data = data.with_columns(pl.col("other").alias("person")).drop("other")
    return replace(study, data=data.sort("person", "recording", "time_ms"), events=None)


def rates(study, protocols=(POSITIVE,), released=None, again=None):
    parts, missing = parts_of(Gaze(study, released, again), None)
    assert not missing
    found = sample_findings(parts, protocols)
    return {(one.protocol, one.attacker): one.rate for one in found}


def test_planted_tremor_is_recognised_by_convolutions(study):
    # Everybody trembles at a frequency of their own, which no fixation or saccade shows.
    number = pl.col("person").str.slice(1).cast(pl.Int64)
    tremor = 0.3 * (pl.col("time_ms") / 1000 * 2 * np.pi * (4 + 2 * number)).sin()
    still = [pl.lit(20.0).alias("x"), pl.lit(10.0).alias("y"), pl.lit(4.0).alias("pupil")]
    noise = np.random.default_rng(0).normal(0, 0.1, (2, len(study.data)))
    data = study.data.with_columns(still).with_columns(
        x=pl.col("x") + tremor + pl.Series(noise[0]), y=pl.col("y") + pl.Series(noise[1])
    )
    planted = replace(study, data=data, events=None)
    grid = Grid.of(planted)
    material = SignalMaterial(signal_table(planted, grid))
    (found,) = identify(material, [Convolutions()], [POSITIVE])
    assert found.rate.rate == 1.0
    nobody = SignalMaterial(signal_table(shuffled(planted), grid))
    (chance,) = identify(nobody, [Convolutions()], [POSITIVE])
    assert chance.rate.rate <= 0.5


def test_offsets_are_recognised():
    far = simulate(people=PEOPLE, minutes=1.5, seed=21, offset_deg=2.0)
    found = rates(far)
    assert found[POSITIVE.name, "calibration offset"].rate >= 0.8
    assert found[POSITIVE.name, FUSED].rate >= 0.8


def test_shuffled_names_leave_every_attacker_at_chance(study):
    # Mean over shuffles of a rate that is 1/8 by chance, of sixteen decisions each.
    each = [rates(shuffled(study, seed)) for seed in range(3)]
    for key in each[0]:
        assert np.mean([one[key].rate for one in each]) < 0.4


def test_nothing_shown_moves_what_was_learned(study):
    grid = Grid.of(study)
    table = signal_table(study, grid)
    material = SignalMaterial(table)
    split = material.splits(POSITIVE)[0]
    known, shown = material.known("raw", split), material.shown("raw", split)
    recognise = Convolutions().learn(known, 0)
    together = recognise(shown).averaged
    apart = np.concatenate([recognise(one).averaged for one in shown.one_by_one()])
    np.testing.assert_allclose(together, apart, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("protocol", ["raw→release", "release→raw", "release→release", "white-box"])
def test_every_protocol_is_tried_on_a_release(study, protocol):
    rng = np.random.default_rng(3)

    def noisy():
        noise = rng.normal(0, 0.05, (2, len(study.data)))
        data = study.data.with_columns(
            x=pl.col("x") + pl.Series(noise[0]), y=pl.col("y") + pl.Series(noise[1])
        )
        return replace(study, data=data, events=None, released=True)

    found = rates(study, [find_protocol(protocol)], noisy(), noisy)
    assert {name for _, name in found} == {"convolutions", "calibration offset", FUSED}
    assert all(0 <= rate.rate <= 1 for rate in found.values())


def test_one_recording_each_is_attacked_in_halves_by_whoever_can():
    study = simulate(people=4, tasks=("comic",), minutes=1.5, seed=2)
    parts, missing = parts_of(Gaze(study), None)
    assert "calibration offset" in missing[0]
    (found,) = sample_findings(parts, [POSITIVE])
    assert found.attacker == "convolutions"


def test_what_names_nobody_gets_little_weight():
    rng = np.random.default_rng(0)
    owner = np.arange(60) % 10
    good = 3 * np.eye(10)[owner] + rng.normal(size=(60, 10))
    weights = learned_weights(np.stack([good, rng.normal(size=(60, 10))], axis=1), owner)
    assert weights[0] > 4 * weights[1]


def test_no_more_people_than_can_be_attacked():
    people = [f"p{number}" for number in range(500)]
    some = some_people(people, 0)
    assert len(some) == 60
    assert some == sorted(some, key=people.index)
    assert some_people(people[:60], 0) == people[:60]


def test_short_recordings_are_refused_in_one_line():
    short = simulate(people=2, tasks=("comic",), minutes=0.1, seed=1)
    _, missing = parts_of(Gaze(short), None)
    assert "8.5 s" in missing[0]


def test_features_may_be_of_fewer_recordings(study):
    table = window_features(study)
    fewer = replace(table, data=table.data.filter(pl.col("person") != "P01"))
    parts, _ = parts_of(Gaze(study), Material(fewer))
    found = sample_findings(parts, [POSITIVE])
    assert {one.attacker for one in found} == {"convolutions", "calibration offset", FUSED}


def test_a_study_without_a_usual_rate_is_refused():
    study = simulate(people=2, tasks=("comic",), minutes=0.3, seed=1)
    slow = replace(study, data=study.data.gather_every(10))
    with pytest.raises(InputError, match="too few"):
        Grid.of(slow)
