"""One number a person: against a plain loop over their rows."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.features import event_features
from eyelid.gaze.measures.looks import AreaMeasure, Pages, area_kind
from eyelid.gaze.measures.measure import Measures
from eyelid.gaze.measures.panel import Panel, contrast_of
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature, Screen, Study
from eyelid.io.areas import read_pages
from eyelid.io.pieces import in_pieces

FEATURES = (Feature("a", "ms", "", 0.0, 10.0), Feature("b", "1", "", -1.0, 1.0))
PEOPLE = [f"p{n}" for n in range(6)]


def feature_study(rows=60, seed=1):
    """Rows of six people in three tasks, with gaps; nobody has all, and p5 has none."""
    rng = np.random.default_rng(seed)
    person = np.sort(rng.integers(0, 5, rows))
    data = pl.DataFrame(
        {
            "person": [PEOPLE[n] for n in person],
            "recording": [f"r{n}" for n in range(rows)],
            "task": rng.choice(["x", "y", "z-z"], rows),
            "time_ms": np.zeros(rows),
            "a": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(5, 6, rows)),
            "b": rng.normal(0, 1, rows),
        }
    )
    return Study("features", data, pl.DataFrame({"person": PEOPLE}), features=FEATURES)


def by_hand(study, name, person, task, of):
    """A number of one person, row by row."""
    feature = next(f for f in FEATURES if f.name == name)
    values = [
        row[name]
        for row in study.data.iter_rows(named=True)
        if row["person"] == person
        and (task is None or row["task"] == task)
        and not np.isnan(row[name])
    ]
    if not values:
        return np.nan
    if of == "share":
        return float(np.mean([value > 2 for value in values]))
    clipped = [min(max(value, feature.lower), feature.upper) for value in values]
    return float({"mean": np.mean, "median": np.median}[of](clipped))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_values_are_those_of_a_plain_loop(seed):
    study = feature_study(seed=seed)
    measures = Measures(study).all_named(["a", "a:median", "a:share>2", "b"])
    panel = Panel(tuple(measures), (None, "x"), (("y", "z-z"),))
    found = panel.values(study, PEOPLE)
    wanted = [
        [
            *(by_hand(study, name, person, task, of) for task in (None, "x")),
            by_hand(study, name, person, "y", of) - by_hand(study, name, person, "z-z", of),
        ]
        for person in PEOPLE
        for name, of in (("a", "mean"), ("a", "median"), ("a", "share"), ("b", "mean"))
    ]
    np.testing.assert_allclose(found, np.reshape(wanted, (len(PEOPLE), -1)), rtol=1e-12)
    assert [column.task for column in panel.columns[:3]] == ["", "x", "y - z-z"]
    assert np.isnan(found[5]).all(), "who has no rows has a row, and no number"


def test_people_in_pieces_have_the_same_numbers_as_all_at_once(monkeypatch):
    study = simulate(people=4, minutes=0.3, seed=2)
    measures = Measures(study)
    panel = Panel((measures.named("fixation_duration"), measures.named("saccade_amplitude")))
    people = study.people["person"].to_list()
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1000)
    cut = in_pieces(study)
    assert len(cut.pieces) == 4
    parts = [panel.values(piece.read(cut.head), piece.people) for piece in cut.pieces]
    np.testing.assert_array_equal(np.concatenate(parts), panel.values(study, people))


def test_event_measures_are_over_all_events_of_a_person():
    study = simulate(people=2, minutes=0.3, seed=2)
    table = event_features(study, "fixations").data
    backwards = study.people["person"].to_list()[::-1]
    found = Panel((Measures(study).named("fixation_duration"),)).values(study, backwards)
    for row, person in enumerate(backwards):
        mean = table.filter(pl.col("person") == person)["fixation_duration"].mean()
        assert found[row, 0] == pytest.approx(mean)


def test_the_usual_measures_are_those_that_studies_report():
    names = [measure.name for measure in Measures(simulate(people=2, minutes=1.0)).usual(3)]
    assert names == ["fixation_duration", "saccade_amplitude", "fixation_rate"]
    assert [m.name for m in Measures(feature_study()).usual(3)] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("c", "unknown measure 'c'"),
        ("a:mode", "unknown statistic of a 'mode'"),
        ("a:mean>3", "only a share has a limit, got 'a:mean>3'"),
        ("a:share>much", "the limit of a share must be a number"),
    ],
)
def test_a_measure_that_does_not_exist_is_named(name, message):
    with pytest.raises(InputError, match=message):
        Measures(feature_study()).named(name)


def test_a_measure_counts_once():
    with pytest.raises(InputError, match="the measure a is named twice"):
        Measures(feature_study()).all_named(["a", "b", "a"])


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("x-x", "a contrast of 'x' with itself is nothing"),
        ("x-w", "unknown task of a contrast 'w'"),
        ("x", "a contrast is between two tasks"),
    ],
)
def test_a_contrast_that_is_none_is_refused(told, message):
    with pytest.raises(InputError, match=message):
        contrast_of(told, ["x", "y", "z-z"])


def test_names_of_tasks_may_have_hyphens():
    assert contrast_of("z-z-x", ["x", "y", "z-z"]) == ("z-z", "x")
    with pytest.raises(InputError, match="can be read in 2 ways"):
        contrast_of("a-b-c", ["a", "b-c", "a-b", "c"])


LOGO, MENU = (
    Area(name, np.array([[x, 0], [x + 100, 0], [x + 100, 100], [x, 100]], dtype=float))
    for name, x in (("logo", 0), ("menu", 100))
)
SCREEN = Screen(width_px=400, height_px=300)


def looking(rows, kind="fixations"):
    """Fixations or samples from rows (person, page, onset, duration, x)."""
    person, page, time_ms, duration_ms, x = zip(*rows, strict=True)
    data = pl.DataFrame(
        {
            "person": person,
            "recording": [f"{who}-{where}" for who, where in zip(person, page, strict=True)],
            "task": "",
            "stimulus": page,
            "time_ms": time_ms,
            "x": x,
            "y": [50.0] * len(rows),
        },
        schema_overrides={"time_ms": pl.Float64, "x": pl.Float64},
    )
    if kind == "fixations":
        data = data.with_columns(pl.Series("duration_ms", duration_ms, dtype=pl.Float64))
    people = pl.DataFrame({"person": ["a", "b", "c"]})
    return Study(kind, data, people, units="px", xy_origin="top-left", screen=SCREEN)


def test_areas_are_reported_as_by_hand():
    study = looking(
        [
            ("a", "home", 0, 200, 350.0),
            ("a", "home", 300, 100, 50.0),
            ("a", "home", 500, 300, 150.0),
            ("a", "home", 900, 400, 50.0),
            ("b", "home", 1000, 500, 350.0),
            ("b", "shop", 0, 100, 50.0),
        ]
    )
    pages = Pages({"home": (LOGO, MENU)}, 400, 300, ("home", "shop"))
    kinds = ("hit", "first_look", "dwell", "revisits", "looked_within_0.4s")
    wanted = [
        (AreaMeasure(kind, area, 5000.0, within_s), "home")
        for area in ("logo", "menu")
        for kind, within_s in map(area_kind, kinds)
    ]
    found = pages.values(study, ["a", "b", "c"], wanted)
    np.testing.assert_allclose(
        found,
        [
            [1, 300, 0.5, 1, 1, 1, 500, 0.3, 0, 0],
            [0, 5000, 0, 0, 0, 0, 5000, 0, 0, 0],
            [np.nan] * 10,
        ],
    )
    assert wanted[4][0].name == "looked_within_0.4s:logo"
    assert wanted[1][0].bounds == (0.0, 5000.0)


def test_samples_that_cross_an_area_are_no_visit():
    rows = [("a", "home", n * 20.0, 0, 50.0 if n < 3 or n >= 10 else 350.0) for n in range(20)]
    pages = Pages({"home": (LOGO, MENU)}, 400, 300, ("home",))
    wanted = [(AreaMeasure(kind, "logo"), "home") for kind in ("first_look", "revisits", "dwell")]
    found = pages.values(looking(rows, "samples"), ["a"], wanted)
    np.testing.assert_allclose(found, [[200.0, 0.0, 13 / 20]])


def test_pages_may_be_compared():
    study = looking([("a", "home", 0, 100, 50.0), ("a", "shop", 0, 100, 350.0)])
    pages = Pages({"home": (LOGO,), "shop": (LOGO,)}, 400, 300, ("home", "shop"))
    areas = tuple((AreaMeasure("hit", "logo"), page) for page in ("home", "shop"))
    panel = Panel(contrasts=(("home", "shop"),), areas=areas, pages=pages)
    assert [(column.task, column.bounds) for column in panel.columns] == [
        ("home - shop", (-1.0, 1.0))
    ]
    np.testing.assert_array_equal(panel.values(study, ["a", "b"]), [[1.0], [np.nan]])


def test_what_nobody_can_have_by_plan_is_no_usual_measure():
    short = replace(simulate(people=2, minutes=0.1), planned_ms=25_000.0)
    assert "fixation_rate" not in [measure.name for measure in Measures(short).usual(60)]
    assert "fixation_rate" in [measure.name for measure in Measures(short, 20.0).usual(3)]
    unknown = replace(short, planned_ms=None)
    assert "fixation_rate" in [measure.name for measure in Measures(unknown).usual(3)]


def test_windows_are_as_long_as_is_said():
    study = simulate(people=2, tasks=("comic",), minutes=0.3, seed=2)
    people = study.people["person"].to_list()
    found = [
        Panel((Measures(study, seconds).named("fixation_rate"),)).values(study, people)
        for seconds in (30.0, 5.0)
    ]
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()
    assert "windows of 5 s" in Measures(study, 5.0).named("fixation_rate").definition


def test_a_page_counts_for_as_long_as_is_said():
    study = looking(
        [
            ("a", "home", 0, 200, 350.0),
            ("a", "home", 9000, 2000, 50.0),
            ("a", "home", 12_000, 1000, 150.0),
            ("a", "home", 13_000, 1000, 50.0),
        ]
    )
    pages = Pages({"home": (LOGO, MENU)}, 400, 300, ("home",))

    def at(watched_ms):
        kinds = ("hit", "first_look", "dwell", "revisits")
        wanted = [(AreaMeasure(kind, "menu", watched_ms), "home") for kind in kinds]
        wanted += [(AreaMeasure(kind, "logo", watched_ms), "home") for kind in kinds]
        return pages.values(study, ["a"], wanted)[0]

    np.testing.assert_allclose(at(None), [1, 10_000, 1 / 4.2, 0, 1, 9000, 3 / 4.2, 1])
    np.testing.assert_allclose(at(15_000), [1, 12_000, 1 / 4.2, 0, 1, 9000, 3 / 4.2, 1])
    np.testing.assert_allclose(at(10_000), [0, 10_000, 0, 0, 1, 9000, 1 / 1.2, 0])


def test_areas_that_overlap_are_refused():
    beside = Area("beside", np.add(LOGO.corners, [50, 0]))
    with pytest.raises(InputError, match="areas 'logo' and 'beside' overlap"):
        Pages({"home": (LOGO, MENU, beside)}, 400, 300, ("home",))


def test_areas_on_a_page_that_nobody_was_shown_are_refused():
    with pytest.raises(InputError, match="unknown stimulus of areas 'hme'"):
        Pages({"hme": (LOGO,)}, 400, 300, ("home",))


def test_a_kind_of_number_that_does_not_exist_is_named():
    with pytest.raises(InputError, match="unknown measure of areas 'hits'"):
        area_kind("hits")
    with pytest.raises(InputError, match="looked_within takes seconds"):
        area_kind("looked_within_xs")


def test_a_file_may_say_which_page_an_area_is_on(tmp_path):
    file = tmp_path / "areas.json"
    areas = [
        {"name": "logo", "rectangle": [0, 0, 10, 10]},
        {"name": "menu", "rectangle": [20, 0, 10, 10], "stimulus": "home"},
    ]
    file.write_text(json.dumps({"areas": areas}), "utf-8")
    found = read_pages(file, ["home", "shop"])
    assert {page: [area.name for area in own] for page, own in found.items()} == {
        "home": ["logo", "menu"],
        "shop": ["logo"],
    }
    with pytest.raises(InputError, match=r"unknown stimulus in areas\.json 'home'"):
        read_pages(file, ["shop"])
