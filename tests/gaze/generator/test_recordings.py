"""Recordings of people who do not exist: the same for the same seed, and found again."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.generator import (
    PARAMETERS,
    Places,
    Planned,
    Profile,
    generated,
    generated_recordings,
    measured,
)
from eyelid.gaze.simulator import SCREEN
from eyelid.gaze.study import EVENT_COLUMNS, INDEX_COLUMNS, Screen, Study, check

PLAN = (Planned("first", "look", "", 20_000.0), Planned("second", "look", "", 20_000.0))
LOOK = {"look": Profile()}


def study_of(people: int, seed: int, rate_hz: float = 250.0, **how: object) -> Study:
    how = {"profiles": LOOK, "plan": PLAN, "screen": SCREEN, "pupil": "mm", **how}
    profiles, plan, screen = how.pop("profiles"), how.pop("plan"), how.pop("screen")
    how = {"units": "deg", "xy_origin": "centre", **how}
    rng = np.random.default_rng(seed)
    data, events = generated(profiles, people, plan, rate_hz, screen, rng, **how)
    return Study(
        "samples",
        data,
        data.select("person").unique(maintain_order=True),
        units=how["units"],
        rate_hz=rate_hz,
        screen=screen,
        xy_origin=how["xy_origin"],
        pupil_unit=how["pupil"],
        events=events,
        simulated=True,
    )


def test_are_samples_in_order_with_their_events():
    study = study_of(2, seed=1)
    assert check(study).data.equals(study.data)
    assert study.data.columns == [*INDEX_COLUMNS, "x", "y", "pupil"]
    assert study.events.columns == EVENT_COLUMNS
    assert len(study.data) == 2 * 2 * 5000
    for _, events in study.events.group_by("person", "recording"):
        onset_ms, offset_ms = events["onset_ms"].to_numpy(), events["offset_ms"].to_numpy()
        np.testing.assert_allclose(offset_ms[:-1], onset_ms[1:])
        assert (onset_ms[0], offset_ms[-1]) == (0.0, 20_000.0)


def test_a_seed_gives_the_same_recordings_and_another_seed_others():
    first, again, other = (study_of(2, seed=seed).data for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("places", [{}, {"": Places(np.arange(12.0).reshape(3, 4))}])
def test_people_made_together_are_those_made_one_by_one(places):
    """Paths are walked by many recordings at once: none may depend on the others."""
    profiles = {"look": Profile(places=places)}
    many = study_of(40, seed=3, profiles=profiles, rate_hz=30.0).data
    few = study_of(9, seed=3, profiles=profiles, rate_hz=30.0).data
    early = many.filter(pl.col("person").is_in([f"P{n:02d}" for n in range(1, 10)]))
    assert early.drop("person").equals(few.drop("person"))


def test_a_recording_does_not_depend_on_those_after_it():
    alone = study_of(2, seed=3, plan=PLAN[:1]).data
    both = study_of(2, seed=3).data.filter(recording="first")
    assert alone.equals(both)


def test_recordings_come_one_at_a_time():
    made = generated_recordings(LOOK, 10**6, PLAN, 30.0, None, np.random.default_rng(0))
    first = next(made)
    assert first.data["recording"].unique().to_list() == ["first"]
    assert len(first.data) == 600


def test_our_detectors_find_the_events_that_were_made():
    # Fixations below 100 ms and saccades below 0.4 degrees are none to them.
    study = study_of(6, seed=4, rate_hz=500.0, plan=PLAN[:1])
    found = detect_events(study)
    rest_ms = pl.col("duration_ms")
    made = study.events.filter((pl.col("name") != "fixation") | (rest_ms >= 100.0))
    for name, least in (("fixation", 0.8), ("saccade", 0.75)):
        counts = [len(events.filter(name=name)) for events in (found, made)]
        assert least <= counts[0] / counts[1] <= 1.05
    onsets = [
        events.filter(name="saccade").select("person", "recording", "onset_ms").sort("onset_ms")
        for events in (found, made)
    ]
    near = onsets[0].join_asof(
        onsets[1].with_columns(there=pl.col("onset_ms")),
        on="onset_ms",
        by=["person", "recording"],
        strategy="nearest",
    )
    assert (near["there"] - near["onset_ms"]).abs().median() < 6.0


def test_a_parameter_that_is_raised_is_measured_higher():
    """Every one of them does what it is called, whatever else it does."""
    plan = (Planned("one", "look", "", 40_000.0),)
    quiet = {one.name: 0.1 * one.within for one in PARAMETERS}
    still = {one.name: 0.1 * one.between for one in PARAMETERS}

    def averages(means: dict[str, float]) -> dict[str, float]:
        profiles = {"look": Profile(means, still, quiet)}
        table = measured(study_of(20, seed=5, rate_hz=500.0, plan=plan, profiles=profiles))
        return {
            one.name: float(one.scaled(table[one.name].drop_nulls().to_numpy()).mean())
            for one in PARAMETERS
        }

    plain = averages({})
    for one in PARAMETERS:
        raised = averages({one.name: one.centre + one.between})
        gain = (raised[one.name] - plain[one.name]) / one.between
        # Losses are few in so short a time.
        most = 2.2 if one.name == "lost_share" else 1.6
        assert 0.3 < gain < most, (one.name, gain)


def test_slow_trackers_and_no_pupil_say_what_cannot_be_measured():
    table = measured(study_of(2, seed=6, rate_hz=30.0, pupil=None))
    unknown = {one.name for one in PARAMETERS if table[one.name].is_null().all()}
    assert unknown == {one.name for one in PARAMETERS if "pupil" in one.needs or one.least_hz > 30}
    assert {"peak_speed_deg_s", "noise_32hz", "pupil_mm"} <= unknown


@pytest.mark.parametrize(
    ("units", "screen", "xy_origin", "middle"),
    [
        ("px", SCREEN, "top-left", (960, 540)),
        ("px", Screen(800, 600), "bottom-left", (400, 300)),
        ("fraction", None, "top-left", (0.5, 0.5)),
        ("normalised", None, None, (0.5, 0.5)),
        ("deg", None, None, (0, 0)),
        ("deg", SCREEN, "top-left", (22.2, 13.0)),
    ],
)
def test_gaze_is_around_the_middle_in_any_units(units, screen, xy_origin, middle):
    study = study_of(8, seed=7, units=units, screen=screen, xy_origin=xy_origin, rate_hz=60.0)
    for axis, centre in zip("xy", middle, strict=True):
        gaze = study.data[axis].drop_nulls()
        assert abs(gaze.mean() - centre) < 0.5 * gaze.std()
    table = measured(study)
    assert 2.7 < table["saccade_amplitude_deg"].median() < 6.0 or units != "normalised"
    assert 1.5 < table["saccade_amplitude_deg"].median() < 6.0


def test_people_look_where_places_draw_them():
    shares = np.full((6, 8), 0.05)
    shares[1:4, 4:6] = 1.0
    profiles = {"look": Profile(places={"": Places(np.ones((2, 2))), "photo": Places(shares)})}
    plan = (Planned("a", "look", "photo", 40_000.0), Planned("b", "look", "other", 40_000.0))
    study = study_of(
        20, seed=8, units="px", xy_origin="top-left", profiles=profiles, plan=plan, rate_hz=60.0
    )
    counts = {}
    for (recording,), rows in study.data.drop_nulls().group_by("recording"):
        counts[recording], *_ = np.histogram2d(
            rows["y"], rows["x"], bins=(6, 8), range=((0, 1080), (0, 1920))
        )
    drawn = counts["a"] / counts["a"].sum()
    assert drawn[1:4, 4:6].sum() > 0.6
    assert np.corrcoef(drawn.ravel(), shares.ravel())[0, 1] > 0.8
    even = counts["b"] / counts["b"].sum()
    assert even[1:4, 4:6].sum() < 0.3


def test_people_keep_their_ways_and_the_tracker_has_errors_of_its_own():
    wide = {one.name: 2.0 * one.between for one in PARAMETERS}
    table = measured(study_of(12, seed=9, profiles={"look": Profile(between=wide)}))
    first, second = (
        table.filter(recording=name)["fixation_ms"].log().to_numpy() for name in ("first", "second")
    )
    assert np.corrcoef(first, second)[0, 1] > 0.7


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"people": 0}, "people must be at least 1, got 0"),
        ({"plan": ()}, "no recording is planned"),
        ({"rate_hz": float("nan")}, "gaze needs a sampling rate"),
        ({"plan": (Planned("a", "read", "", 1000.0),)}, "'read', which has no profile"),
        ({"plan": (Planned("a", "look", "", 0.0),)}, "must last a positive time"),
        (
            {
                "units": "normalised",
                "profiles": {"look": Profile(places={"": Places(np.ones((2, 2)))})},
            },
            "places need to know where on a screen gaze is, and units are normalised",
        ),
    ],
)
def test_says_what_is_wrong(change, text):
    arguments = {"people": 2, "seed": 1, "rate_hz": 30.0} | change
    with pytest.raises(InputError, match=text):
        study_of(**arguments)


def test_a_profile_knows_its_parameters_and_movements():
    with pytest.raises(InputError, match="unknown movement 'runing'"):
        Profile(movement="runing")
    with pytest.raises(InputError, match="unknown parameter 'fixation'"):
        Profile({"fixation": 1.0})


def test_who_hardly_ever_looks_left_still_comes_back():
    everybody = {"rightward_share": 0.97, "leftward_share": 0.0, "sweep": 0.0}
    still = {one.name: 0.0 for one in PARAMETERS}
    profile = Profile(everybody, still, still, movement="reading")
    rng = np.random.default_rng(5)
    plan = [Planned("page", "read", "", 300_000.0)]
    data, _ = generated({"read": profile}, 3, plan, 30.0, None, rng)
    assert data["x"].abs().max() < 100.0


def test_rests_are_too_brief_for_fixations_as_often_as_is_asked_for():
    still = {one.name: 0.0 for one in PARAMETERS}
    plan = [Planned("page", "look", "", 120_000.0)]
    shares = []
    for ratio in (1.0, 1.3):
        profile = Profile({"saccades_per_fixation": np.log(ratio)}, still, still)
        rng = np.random.default_rng(5)
        _, events = generated({"look": profile}, 4, plan, 250.0, None, rng)
        rest_ms = events.filter(pl.col("name") == "fixation")["duration_ms"]
        shares.append(float((rest_ms < 100.0).mean()))
    assert shares[1] - shares[0] > 0.1
