from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.generator.signal import PEAK_TO_MEAN
from eyelid.gaze.simulator import simulate
from eyelid.gaze.simulator.people import Person
from eyelid.gaze.simulator.signal import saccade_ms
from eyelid.gaze.study import EVENT_COLUMNS, INDEX_COLUMNS, Study, check

ALL_TASKS = ("comic", "newspaper", "textbook", "image")


@pytest.fixture(scope="module")
def study() -> Study:
    return simulate(people=4, tasks=ALL_TASKS, minutes=1.0, seed=7)


def test_is_a_study_of_samples_that_says_it_is_simulated(study):
    assert check(study).data.equals(study.data)
    assert (study.kind, study.units, study.rate_hz) == ("samples", "deg", 60.0)
    assert study.simulated
    assert study.origin is None
    assert study.data.columns == [*INDEX_COLUMNS, "x", "y", "pupil", "confidence"]
    assert study.events.columns == EVENT_COLUMNS
    assert study.people.columns == ["person", "gender", "age", "glasses"]


@pytest.mark.parametrize("rate_hz", [30.0, 60.0, 1000.0])
def test_time_is_the_nominal_grid_from_zero(rate_hz):
    study = simulate(people=1, tasks=("comic",), rate_hz=rate_hz, minutes=0.2, seed=1)
    time_ms = study.data["time_ms"].to_numpy()
    np.testing.assert_allclose(time_ms, np.arange(len(time_ms)) * 1000 / rate_hz)


def test_a_seed_gives_the_same_study_and_another_seed_another():
    first, again, other = (
        simulate(people=2, tasks=("comic",), minutes=0.2, seed=seed) for seed in (1, 1, 2)
    )
    assert first.data.equals(again.data)
    assert first.events.equals(again.events)
    assert first.people.equals(again.people)
    assert not first.data.equals(other.data)


def test_without_a_seed_every_study_is_new():
    first, second = (simulate(people=1, tasks=("comic",), minutes=0.2) for _ in range(2))
    assert not first.data.equals(second.data)


def test_more_people_and_more_tasks_leave_the_earlier_ones_alone():
    few = simulate(people=2, tasks=("comic",), minutes=0.2, seed=3)
    many = simulate(people=4, tasks=("comic", "image"), minutes=0.2, seed=3)
    for name in ("data", "events"):
        early = getattr(many, name).filter(
            pl.col("person").is_in(["P01", "P02"]), pl.col("recording") == "comic"
        )
        assert early.equals(getattr(few, name))
    assert many.people.head(2).equals(few.people)


def test_an_offset_moves_a_person_alike_in_all_recordings_and_nothing_else():
    exact, off = (
        simulate(people=3, tasks=ALL_TASKS, minutes=0.2, seed=3, offset_deg=deg) for deg in (0, 2)
    )
    moved = off.data.select(
        "person", across=off.data["x"] - exact.data["x"], down=off.data["y"] - exact.data["y"]
    ).drop_nulls()
    each = moved.group_by("person", maintain_order=True)
    spread = each.agg(pl.col("across", "down").std()).select(pl.max_horizontal("across", "down"))
    assert spread.to_series().max() < 1e-9
    means = each.agg(pl.col("across", "down").mean())
    assert means["across"].n_unique() == 3
    assert off.events.equals(exact.events)
    assert off.people.equals(exact.people)
    rest = ("time_ms", "pupil", "confidence")
    assert off.data.select(rest).equals(exact.data.select(rest))


def test_offsets_are_as_large_as_asked_for_on_average():
    offsets = np.array([Person.draw(np.random.default_rng(n)).offset for n in range(2000)])
    assert np.hypot(*offsets.T).mean() == pytest.approx(1.0, abs=0.04)
    assert np.abs(offsets.mean(axis=0)).max() < 0.06


@pytest.mark.parametrize("offset_deg", [-0.1, 6.0, float("nan")])
def test_refuses_offsets_that_no_tracker_has(offset_deg):
    with pytest.raises(InputError, match="offset_deg"):
        simulate(people=1, minutes=0.2, offset_deg=offset_deg)


def test_lengths_vary_by_a_fifth_at_most(study):
    length_s = study.data.group_by("person", "recording").len()["len"] / study.rate_hz
    assert length_s.min() >= 0.8 * 60 - 1
    assert length_s.max() <= 1.2 * 60
    assert length_s.std() > 1


def test_events_tile_the_recording(study):
    for (person, recording), events in study.events.group_by("person", "recording"):
        time_ms = study.data.filter(person=person, recording=recording)["time_ms"]
        onset_ms, offset_ms = events["onset_ms"].to_numpy(), events["offset_ms"].to_numpy()
        assert onset_ms[0] == 0
        np.testing.assert_allclose(offset_ms[:-1], onset_ms[1:])
        assert offset_ms[-1] >= time_ms[-1]
        np.testing.assert_allclose(events["duration_ms"].to_numpy(), offset_ms - onset_ms)


def test_gaze_is_lost_in_blinks_and_in_short_runs_besides(study):
    blinks = study.events.filter(name="blink").sort("onset_ms")
    samples = study.data.sort("time_ms").join_asof(
        blinks, left_on="time_ms", right_on="onset_ms", by=["person", "recording"]
    )
    in_blink = (pl.col("time_ms") < pl.col("offset_ms")).fill_null(False)
    lost = pl.col("x").is_null()
    counts = samples.select(
        seen_in_blink=(in_blink & ~lost).sum(),
        lost_in_blink=(in_blink & lost).sum(),
        lost_besides=(~in_blink & lost).sum(),
    ).row(0, named=True)
    assert counts["seen_in_blink"] == 0
    assert counts["lost_in_blink"] > 0
    assert 0 < counts["lost_besides"] < 0.02 * len(samples)


def test_lost_gaze_has_no_pupil_and_little_confidence(study):
    lost = study.data.filter(pl.col("x").is_null())
    seen = study.data.filter(pl.col("x").is_not_null())
    assert lost["y"].null_count() == lost["pupil"].null_count() == len(lost)
    assert seen["y"].null_count() == seen["pupil"].null_count() == 0
    assert 0 <= lost["confidence"].min() <= lost["confidence"].max() < 0.5
    assert 0.6 < seen["confidence"].min() <= seen["confidence"].max() <= 1


def test_gaze_stays_on_the_screen_and_pupils_in_the_eye(study):
    on_screen = study.data.select(
        pl.col("x").is_between(0, 44.4).mean(), pl.col("y").is_between(0, 26.0).mean()
    )
    assert min(on_screen.row(0)) > 0.999
    assert study.data["pupil"].is_between(1.5, 9.0).all()


def test_eyes_move_as_the_literature_says():
    study = simulate(people=20, minutes=1.0, seed=1)
    events = study.events.filter(pl.col("offset_ms") > pl.col("onset_ms"))
    median = dict(events.group_by("name").agg(pl.col("duration_ms").median()).iter_rows())
    assert 190 < median["fixation"] < 280
    assert 20 < median["saccade"] < 45
    assert 100 < median["blink"] < 300
    minutes = study.data.group_by("person", "recording").len()["len"].sum() / 60 / 60
    assert 4 < (events["name"] == "blink").sum() / minutes < 20


def test_saccades_follow_the_main_sequence():
    rng = np.random.default_rng(0)
    amplitude_deg = np.array([1.0, 2.0, 5.0, 10.0, 20.0])
    for _ in range(50):
        traits = Person.draw(rng).today(rng)
        duration_ms = saccade_ms(amplitude_deg, traits)
        peak_deg_s = PEAK_TO_MEAN * amplitude_deg / duration_ms * 1000
        assert np.all(np.diff(duration_ms) > 0)
        assert np.all(np.diff(peak_deg_s) > 0)
        assert 200 < peak_deg_s[3] < 800
        # Bahill, Clark & Stark (1975): about 2.2 ms a degree and 21 ms.
        np.testing.assert_allclose(duration_ms[:4], 2.2 * amplitude_deg[:4] + 21, rtol=0.75)


def test_recorded_saccades_peak_as_fast_as_the_main_sequence_says():
    study = simulate(people=3, tasks=("image",), rate_hz=1000.0, minutes=0.5, seed=2)
    for recording in study.recordings():
        saccades = study.events.filter(person=recording.person, name="saccade")
        onset, offset = (
            np.searchsorted(recording.time_ms, saccades[name].to_numpy())
            for name in ("onset_ms", "offset_ms")
        )
        # Speed over 10 ms, so that noise does not make the peak.
        speed = np.hypot(*(recording[a][10:] - recording[a][:-10] for a in "xy")) * 100
        whole = offset + 10 < len(recording.time_ms)
        onset, offset = onset[whole], offset[whole]
        middle = (onset + offset) // 2 - 5
        amplitude = np.hypot(*(recording[a][offset] - recording[a][onset] for a in "xy"))
        large = amplitude > 4
        peak = speed[middle]
        assert 250 < np.nanmedian(peak[large]) < 600
        known = np.isfinite(peak) & np.isfinite(amplitude)
        assert np.corrcoef(peak[known], amplitude[known])[0, 1] > 0.8


def test_attributes_relate_to_traits_but_mildly():
    rng = np.random.default_rng(1)
    people = [Person.draw(rng) for _ in range(400)]
    traits = [person.today(rng) for person in people]
    age = [person.age for person in people]
    older = np.corrcoef(age, [t.pupil_mm for t in traits])[0, 1]
    glasses = np.corrcoef([p.glasses for p in people], [t.noise_deg for t in traits])[0, 1]
    women = np.corrcoef(
        [p.gender == "female" for p in people], [np.log(t.blinks_per_min) for t in traits]
    )[0, 1]
    assert -0.6 < older < -0.1
    assert 0.05 < glasses < 0.5
    assert 0.05 < women < 0.5


def test_people_can_be_recognised_and_documents_told(rank1_across_documents, document_accuracy):
    table = window_features(simulate(seed=1))
    # Twenty people: chance is 0.05, and real people in MPIIDPEye are known at 0.65 to 0.9. The
    # proof called simulator asks for more, on average over several seeds.
    assert 0.45 <= rank1_across_documents(table) <= 0.9
    assert 0.82 <= document_accuracy(table) <= 0.97


def test_recordings_of_a_repeated_task_have_names_of_their_own():
    study = simulate(people=1, tasks=("comic", "image", "comic"), minutes=0.2, seed=1)
    assert study.data["recording"].unique(maintain_order=True).to_list() == [
        "comic",
        "image",
        "comic-2",
    ]
    check(study)


def test_one_task_may_be_given_by_its_name():
    assert simulate(1, "image", minutes=0.1, seed=1).data["task"].unique().to_list() == ["image"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"people": 0}, "people must be at least 1, got 0"),
        ({"tasks": ("comics",)}, "unknown task 'comics': did you mean 'comic'"),
        ({"tasks": ()}, "tasks must name at least one"),
        ({"rate_hz": 10}, "`rate_hz` must be between 30 and 1000, got 10"),
        ({"rate_hz": float("nan")}, "`rate_hz` must be between 30 and 1000, got nan"),
        ({"minutes": -1}, "minutes must be positive, got -1"),
        ({"minutes": float("inf")}, "minutes must be positive, got inf"),
        ({"seed": -1}, "seed must not be negative, got -1"),
    ],
)
def test_says_what_is_wrong(arguments, text):
    with pytest.raises(InputError, match=text):
        simulate(**arguments)
