"""Looks of a study: everybody counts, no look counts twice, and what is left out is counted."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_points import (
    GazePoints,
    gaze_points_from_arrays,
    gaze_points_in_blocks,
    gaze_points_of,
    stretches,
)
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.placement import Placement
from eyelid.gaze.study import Study
from eyelid.io import read

SIZE = {"width_px": 100, "height_px": 80}


def study(rows, people=("ann", "bo", "cy"), kind="samples", **about):
    """Rows are dicts; what they do not say is one recording of one picture."""
    usual = {"recording": "r", "stimulus": "page", "time_ms": 0.0, "x": 5.0, "y": 5.0}
    data = pl.DataFrame([usual | row for row in rows], infer_schema_length=None)
    about = {"units": "px", "xy_origin": "top-left", "rate_hz": 100.0} | about
    return Study(kind, data, pl.DataFrame({"person": list(people)}), **about)


def rows_of(looks):
    names = [looks.people[person] for person in looks.person]
    return list(zip(names, looks.layer.tolist(), looks.x_px.tolist(), strict=True))


def test_everybody_is_an_observer_also_those_who_never_looked():
    looks = gaze_points_of(study([{"person": "bo"}, {"person": "cy", "x": None}]), **SIZE)
    assert looks.people == ("ann", "bo", "cy")
    assert rows_of(looks) == [("bo", 0, 5.0)]
    assert (looks.lost, looks.outside) == (1, 0)
    assert looks.counts(Grid(100, 80, 2, 2)).dense.tolist() == [[0] * 4, [1, 0, 0, 0], [0] * 4]


def test_gaze_outside_the_picture_and_lost_gaze_are_left_out_and_counted():
    x = [5.0, 99.999, 100.0, -0.001, None, float("nan"), float("inf"), 50.0]
    y = [5.0, 79.999, 5.0, 5.0, 5.0, 5.0, 5.0, None]
    rows = [
        {"person": "ann", "time_ms": 10.0 * n, "x": a, "y": b}
        for n, (a, b) in enumerate(zip(x, y, strict=True))
    ]
    looks = gaze_points_of(study(rows), **SIZE)
    assert looks.x_px.tolist() == [5.0, 99.999]
    assert (looks.outside, looks.lost) == (2, 4)


def test_gaze_without_confidence_or_pupil_is_lost():
    rows = [
        {"person": "ann", "time_ms": 0.0, "confidence": 0.9, "pupil": 3.0},
        {"person": "ann", "time_ms": 10.0, "confidence": 0.5, "pupil": 3.0},
        {"person": "ann", "time_ms": 20.0, "confidence": None, "pupil": None},
        {"person": "ann", "time_ms": 30.0, "confidence": 0.9, "pupil": 0.0},
        # Bo's pupil was never measured.
        {"person": "bo", "time_ms": 0.0, "confidence": 0.9, "pupil": 0.0},
    ]
    looks = gaze_points_of(study(rows), **SIZE)
    assert [name for name, _, _ in rows_of(looks)] == ["ann", "ann", "bo"]
    assert looks.lost == 2


def test_each_named_stimulus_is_a_layer_in_the_order_of_the_names():
    rows = [
        {"person": "ann", "time_ms": 0.0, "stimulus": "a", "x": 1.0},
        {"person": "ann", "time_ms": 10.0, "stimulus": "b", "x": 2.0},
        {"person": "ann", "time_ms": 20.0, "stimulus": "c", "x": 3.0},
        {"person": "bo", "time_ms": 0.0, "stimulus": "a", "x": 4.0},
    ]
    looks = gaze_points_of(study(rows), stimuli=["b", "a"], **SIZE)
    assert looks.layers == ("b", "a")
    assert rows_of(looks) == [("ann", 1, 1.0), ("ann", 0, 2.0), ("bo", 1, 4.0)]
    counts = looks.counts(Grid(100, 80, 1, 1))
    assert counts.dense.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert rows_of(looks.of_layer("b")) == [("ann", 0, 2.0)]
    assert rows_of(looks.of_people(1, 3)) == [("bo", 1, 4.0)]
    assert looks.of_people(1, 3).people == ("bo", "cy")


def test_the_only_stimulus_is_taken_without_what_came_between():
    rows = [
        {"person": "ann", "time_ms": 0.0, "stimulus": None, "x": 1.0},
        {"person": "ann", "time_ms": 10.0, "stimulus": "page", "x": 2.0},
        {"person": "ann", "time_ms": 20.0, "stimulus": "", "x": 3.0},
    ]
    looks = gaze_points_of(study(rows), **SIZE)
    assert looks.layers == ("page",)
    assert looks.x_px.tolist() == [2.0]


def test_a_study_without_stimuli_is_about_one_picture():
    plain = study([{"person": "ann"}])
    plain = plain.derive(data=plain.data.drop("stimulus"))
    assert gaze_points_of(plain, **SIZE).layers == ("",)


def test_stretches_of_time_begin_with_the_stimulus_in_each_recording():
    rows = [
        {"person": "ann", "time_ms": 500.0, "stimulus": "other"},
        {"person": "ann", "time_ms": 1000.0, "x": 1.0},
        {"person": "ann", "time_ms": 1039.0, "x": 2.0},
        {"person": "ann", "time_ms": 1040.0, "x": 3.0},
        {"person": "ann", "time_ms": 1080.0, "x": 4.0},
        {"person": "bo", "recording": "r1", "time_ms": 7.0, "x": 5.0},
        {"person": "bo", "recording": "r2", "time_ms": 90.0, "x": 6.0},
        {"person": "bo", "recording": "r2", "time_ms": 140.0, "x": 7.0},
    ]
    looks = gaze_points_of(study(rows), stimuli=["page"], stretches_ms=stretches(40.0, 2), **SIZE)
    assert looks.layers == ("0–0.04 s", "0.04–0.08 s")
    assert rows_of(looks) == [
        ("ann", 0, 1.0),
        ("ann", 0, 2.0),
        ("ann", 1, 3.0),
        ("bo", 0, 5.0),
        ("bo", 0, 6.0),
        ("bo", 1, 7.0),
    ]
    assert (looks.outside, looks.lost) == (0, 0)


def test_a_fixation_belongs_to_the_stretch_that_it_begins_in():
    rows = [
        {"person": "ann", "time_ms": 0.0, "duration_ms": 90.0, "x": 1.0},
        {"person": "ann", "time_ms": 90.0, "duration_ms": 500.0, "x": 2.0},
    ]
    looks = gaze_points_of(study(rows, kind="fixations"), stretches_ms=[0, 100, 200, 300], **SIZE)
    assert rows_of(looks) == [("ann", 0, 1.0), ("ann", 0, 2.0)]


def test_two_eyes_are_one_look_a_time():
    eyes = [
        # Both see: their mean. Then the right one only, the left one only, and neither.
        ("left", 0.0, 10.0),
        ("left", 10.0, None),
        ("left", 20.0, 30.0),
        ("left", 30.0, None),
        ("right", 0.0, 20.0),
        ("right", 10.0, 40.0),
        ("right", 20.0, None),
        ("right", 30.0, None),
        ("right", 40.0, 50.0),
    ]
    rows = [{"person": "ann", "eye": e, "time_ms": t, "x": x} for e, t, x in eyes]
    rows.append({"person": "bo", "eye": "left", "x": 7.0})
    looks = gaze_points_of(study(rows), **SIZE)
    assert rows_of(looks) == [
        ("ann", 0, 15.0),
        ("ann", 0, 40.0),
        ("ann", 0, 30.0),
        ("ann", 0, 50.0),
        ("bo", 0, 7.0),
    ]
    assert looks.lost == 1


def test_the_combined_eye_goes_before_the_two():
    rows = [
        {"person": "ann", "eye": "left", "time_ms": 0.0, "x": 10.0},
        {"person": "ann", "eye": "left", "time_ms": 10.0, "x": 12.0},
        {"person": "ann", "eye": "cyclopean", "time_ms": 0.0, "x": 50.0},
        {"person": "ann", "eye": "cyclopean", "time_ms": 10.0, "x": None},
    ]
    assert gaze_points_of(study(rows), **SIZE).x_px.tolist() == [50.0, 12.0]


def test_times_of_one_eye_alone_come_in_order_within_their_recording():
    rows = [
        {"person": "ann", "recording": name, "eye": eye, "time_ms": time, "x": x}
        for name, eye, time, x in [
            ("late", "left", 100.0, 1.0),
            ("late", "right", 90.0, 2.0),
            ("late", "right", 100.0, 3.0),
            ("early", "left", 0.0, 4.0),
        ]
    ]
    assert gaze_points_of(study(rows), **SIZE).x_px.tolist() == [2.0, 2.0, 4.0]


def test_fixations_of_two_eyes_are_those_of_the_eye_that_fixated_longer():
    rows = [
        {"person": "ann", "eye": "left", "time_ms": 0.0, "duration_ms": 200.0, "x": 1.0},
        {"person": "ann", "eye": "right", "time_ms": 2.0, "duration_ms": 150.0, "x": 2.0},
        {"person": "ann", "eye": "right", "time_ms": 200.0, "duration_ms": 100.0, "x": 3.0},
        {"person": "bo", "eye": "right", "time_ms": 0.0, "duration_ms": 10.0, "x": 4.0},
        {"person": "bo", "eye": "left", "time_ms": 0.0, "duration_ms": 20.0, "x": None},
    ]
    looks = gaze_points_of(study(rows, kind="fixations"), weight="duration", **SIZE)
    assert rows_of(looks) == [("ann", 0, 2.0), ("ann", 0, 3.0), ("bo", 0, 4.0)]
    assert looks.weight.tolist() == [150.0, 100.0, 10.0]


def test_samples_weigh_the_time_to_the_next_one_but_no_more_than_two_usual_ones():
    rows = [{"person": "ann", "time_ms": t} for t in (0.0, 10.0, 25.0, 500.0)]
    rows += [{"person": "ann", "recording": "s", "time_ms": t} for t in (0.0, 4.0)]
    rows += [{"person": "ann", "recording": "t", "time_ms": 7.0}]
    looks = gaze_points_of(study(rows), weight="duration", **SIZE)
    # The usual step of the first recording is 15 ms, of the second 4; a single sample has none.
    assert looks.weight.tolist() == [10.0, 15.0, 30.0, 15.0, 4.0, 4.0, 0.0]


@pytest.mark.parametrize("rate_hz", [None, 60.0, 61.0])
def test_nobody_s_weights_depend_on_anybody_else(rate_hz):
    """The rate that a study states is a median over everybody: it must not enter."""
    own = [{"person": "ann", "time_ms": t} for t in (0.0, 16.7, 33.3, 200.0)]
    alone = gaze_points_of(study(own), weight="duration", **SIZE)
    for step_ms in (1.0, 16.4, 400.0):
        others = [{"person": "bo", "time_ms": step_ms * n} for n in range(50)]
        both = gaze_points_of(study(own + others, rate_hz=rate_hz), weight="duration", **SIZE)
        assert both.weight[both.person == 0].tolist() == alone.weight.tolist()


def test_a_lost_sample_ends_the_one_before_it():
    rows = [
        {"person": "ann", "time_ms": t, "x": x} for t, x in ((0.0, 1.0), (8.0, None), (16.0, 2.0))
    ]
    looks = gaze_points_of(study(rows), weight="duration", **SIZE)
    assert looks.weight.tolist() == [8.0, 8.0]


def test_fixations_without_a_duration_weigh_nothing():
    rows = [
        {"person": "ann", "time_ms": float(n), "duration_ms": d}
        for n, d in enumerate([200.0, None, float("nan"), float("inf"), -5.0])
    ]
    looks = gaze_points_of(study(rows, kind="fixations"), weight="duration", **SIZE)
    assert looks.weight.tolist() == [200.0, 0.0, 0.0, 0.0, 0.0]


def test_a_picture_placed_on_the_screen_is_where_it_was_put():
    rows = [
        {"person": "ann", "time_ms": float(n), "x": x} for n, x in enumerate([99.0, 100.0, 299.0])
    ]
    placement = Placement(100.0, 0.0, 2.0)
    looks = gaze_points_of(study(rows), placement=placement, width_px=100, height_px=80)
    assert looks.x_px.tolist() == [0.0, 99.5]
    assert looks.outside == 1


def random_study(people=23, looks=900, seed=9):
    rng = np.random.default_rng(seed)
    keys = {
        "person": [f"p{n}" for n in rng.integers(0, people, looks)],
        "recording": [f"r{n}" for n in rng.integers(0, 2, looks)],
        "stimulus": [f"s{n}" for n in rng.integers(0, 3, looks)],
        "time_ms": rng.permutation(looks).astype(float),
        "x": np.where(rng.random(looks) < 0.1, np.nan, rng.normal(50, 30, looks)),
        "y": rng.normal(40, 25, looks),
    }
    names = [f"p{n}" for n in range(people + 2)]
    about = {"units": "px", "xy_origin": "top-left", "rate_hz": 1000.0}
    return Study("samples", pl.DataFrame(keys), pl.DataFrame({"person": names}), **about)


def test_rows_in_any_order_give_what_a_plain_loop_finds():
    original = random_study()
    looks = gaze_points_of(original, stimuli=["s2", "s0"], **SIZE)
    expected = np.zeros((25, 2, 8, 10))
    lost = outside = 0
    for row in original.data.iter_rows(named=True):
        if row["stimulus"] == "s1":
            continue
        x, y = row["x"], row["y"]
        if x != x:
            lost += 1
        elif 0 <= x < 100 and 0 <= y < 80:
            expected[
                int(row["person"][1:]),
                ["s2", "s0"].index(row["stimulus"]),
                int(y // 10),
                int(x // 10),
            ] += 1
        else:
            outside += 1
    found = looks.counts(Grid(100, 80, 10, 8))
    np.testing.assert_array_equal(found.dense, expected.reshape(25, -1))
    assert (looks.lost, looks.outside) == (lost, outside)


@pytest.mark.parametrize("block", [1, 4, 25, 100])
def test_blocks_of_people_are_the_same_looks(block):
    original = random_study()
    asked = {"stimuli": ["s0", "s1"], "weight": "duration", **SIZE}
    whole = gaze_points_of(original, **asked)
    blocks = list(gaze_points_in_blocks(original, block=block, **asked))
    assert sum((part.people for part in blocks), ()) == whole.people
    assert sum(part.outside for part in blocks) == whole.outside
    for name in ("x_px", "y_px", "layer", "weight"):
        together = np.concatenate([getattr(part, name) for part in blocks])
        np.testing.assert_array_equal(together, getattr(whole, name))
    first = 0
    for part in blocks:
        same = whole.of_people(first, first + block)
        np.testing.assert_array_equal(part.person, same.person)
        np.testing.assert_array_equal(part.x_px, same.x_px)
        first += block


def test_some_people_are_taken_in_the_order_asked_for():
    original = random_study()
    whole = gaze_points_of(original, stimuli=["s0"], **SIZE)
    some = gaze_points_of(original, stimuli=["s0"], people=["p9", "p24", "p2", "p3"], **SIZE)
    assert some.people == ("p9", "p24", "p2", "p3")
    grid = Grid(100, 80, 10, 8)
    np.testing.assert_array_equal(some.counts(grid).dense, whole.counts(grid).dense[[9, 24, 2, 3]])


@pytest.mark.parametrize(
    ("changes", "asked", "words"),
    [
        ({"kind": "features"}, {}, "study of features"),
        ({"units": None}, {}, "`map='units=px'`"),
        ({"xy_origin": None}, {}, "`map='xy_origin=top-left'`"),
        ({"kind": "fixations"}, {"weight": "duration"}, "no column duration_ms"),
        ({}, {"weight": "heavy"}, "unknown weight 'heavy'"),
        ({}, {"stimuli": ["pag"]}, "unknown stimulus 'pag': did you mean 'page'"),
        ({}, {"stimuli": []}, "name every stimulus once, got none"),
        ({}, {"stimuli": ["page", "page"]}, "name every stimulus once"),
        ({}, {"people": ["ann", "ann"]}, "ann is listed twice"),
        ({}, {"people": ["eve"]}, "unknown person 'eve'"),
        ({}, {"people": []}, "nobody"),
        ({"people": ("ann", "ann")}, {}, "ann is listed twice"),
        ({}, {"stretches_ms": [5.0]}, "a beginning and an end"),
        ({}, {"stretches_ms": [5.0, 5.0]}, "must follow each other"),
        ({}, {"stretches_ms": [0.0, float("nan")]}, "a beginning and an end"),
        ({}, {"width_px": 0}, "at least 1 px"),
    ],
)
def test_bad_input_is_refused_in_words(changes, asked, words):
    with pytest.raises(InputError, match=words):
        gaze_points_of(study([{"person": "ann"}], **changes), **(SIZE | asked))


def test_several_stimuli_and_none_named_is_no_picture():
    several = study([{"person": "ann", "time_ms": float(n), "stimulus": f"s{n}"} for n in range(7)])
    with pytest.raises(InputError, match=r"7 stimuli \(s0, s1, s2, s3, s4, …\): name the one"):
        gaze_points_of(several, **SIZE)
    with pytest.raises(InputError, match="of one stimulus, got 2"):
        gaze_points_of(several, stimuli=["s0", "s1"], stretches_ms=[0, 1], **SIZE)


def test_data_without_places_have_no_looks():
    plain = study([{"person": "ann"}])
    with pytest.raises(InputError, match="no column y of numbers"):
        gaze_points_of(plain.derive(data=plain.data.drop("y")), **SIZE)


def test_a_grid_of_another_picture_is_refused():
    looks = gaze_points_of(study([{"person": "ann"}]), **SIZE)
    with pytest.raises(InputError, match="100 × 80 px, the grid is of 80 × 100"):
        looks.counts(Grid(80, 100, 2, 2))


def test_looks_beside_their_picture_are_refused_and_not_counted_elsewhere():
    one = np.zeros(1, dtype=np.int64)
    beside = GazePoints(("a",), ("",), 10, 10, one, one, np.array([10.0]), np.zeros(1), np.ones(1))
    with pytest.raises(InputError, match="not on their picture"):
        beside.counts(Grid(10, 10, 2, 2))


def test_touch_points_of_several_people_come_back_as_they_went_in():
    rng = np.random.default_rng(10)
    everybody = ["ann", "bo", "cy", "dee"]
    who = rng.integers(0, 3, 200)
    x, y = rng.integers(0, 40, 200), rng.integers(0, 30, 200)
    looks = gaze_points_from_arrays(
        [everybody[n] for n in who], x + 0.5, y + 0.25, size=(40, 30), everybody=everybody
    )
    expected = np.zeros((4, 30, 40))
    np.add.at(expected, (who, y, x), 1)
    found = looks.counts(Grid.of_pixels(40, 30)).dense
    np.testing.assert_array_equal(found.reshape(4, 30, 40), expected)


def test_the_readings_of_a_force_plate_come_back_as_they_went_in():
    plate = Grid(600, 400, 24, 16)
    newtons = np.random.default_rng(11).gamma(0.3, 40.0, (5, plate.cells)).round(2)
    newtons[2] = 0.0
    x, y = np.tile(12.5 + 25.0 * np.arange(24), 16), np.repeat(12.5 + 25.0 * np.arange(16), 24)
    looks = gaze_points_from_arrays(
        np.repeat([f"p{n}" for n in range(5)], plate.cells).tolist(),
        np.tile(x, 5),
        np.tile(y, 5),
        newtons.ravel(),
        size=(600, 400),
    )
    np.testing.assert_array_equal(looks.counts(plate).dense, newtons)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ((["a"], [1.0, 2.0], [1.0, 2.0]), "every point needs a person"),
        ((["a"], [1.0], [1.0], [-1.0]), "at least 0"),
        ((["a"], [1.0], [1.0], [np.nan]), "at least 0"),
    ],
)
def test_points_that_do_not_fit_are_refused(points, words):
    with pytest.raises(InputError, match=words):
        gaze_points_from_arrays(*points, size=(5, 5))


def test_a_point_of_a_stranger_is_refused():
    with pytest.raises(InputError, match="person b has points"):
        gaze_points_from_arrays(["b"], [1.0], [1.0], size=(5, 5), everybody=["a"])


@pytest.mark.parametrize(("step_ms", "count"), [(0.0, 3), (-1.0, 3), (np.inf, 3), (10.0, 0)])
def test_impossible_stretches_are_refused(step_ms, count):
    with pytest.raises(InputError):
        stretches(step_ms, count)


def test_osie_has_all_its_people_and_fixations(real_data):
    osie = read(real_data / "OSIE")
    image = osie.data["stimulus"][0]
    looks = gaze_points_of(osie, stimuli=[image], weight="duration", width_px=800, height_px=600)
    rows = osie.data.filter(pl.col("stimulus") == image)
    inside = rows.filter(
        pl.col("x").is_between(0, 800, "left"), pl.col("y").is_between(0, 600, "left")
    )
    assert len(looks.people) == 15
    assert len(looks.x_px) == len(inside)
    assert looks.outside + looks.lost == len(rows) - len(inside)
    assert looks.weight.sum() == pytest.approx(inside["duration_ms"].sum())


def test_pupils_in_an_eye_camera_are_no_gaze_on_a_picture(real_readers):
    stimulus = real_readers.data["stimulus"][0] or ""
    with pytest.raises(InputError, match="eye camera"):
        gaze_points_of(real_readers, stimuli=[stimulus], **SIZE)


def test_a_study_without_stimuli_and_with_many_rows_is_one_picture():
    many = study([{"person": "ann", "time_ms": float(n)} for n in range(40_000)])
    bare = replace(many, data=many.data.drop("stimulus"))
    assert gaze_points_of(bare, **SIZE).x_px.size == 40_000
