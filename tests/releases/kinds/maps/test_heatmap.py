"""A heatmap is paid for first, made of noisy cells alone, and certified for what it is."""

import functools
import json
import math

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError, Refused
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.spread import spread, spread_error
from eyelid.gaze.study import Screen, Study
from eyelid.io import read, write
from eyelid.io.release_folder import arrays_digest
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.privacy.ledger import Ledger
from eyelid.releases.accounting import points_digest, read_certificate
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.kinds.maps.measurement import seen
from eyelid.releases.kinds.maps.settings import LEVELS, default_mechanism
from eyelid.releases.kinds.maps.view import view_of
from eyelid.reporting.maps import figures as map_figures

WIDTH, HEIGHT = 160, 100
FILES = {
    "map.npz",
    "heatmap.png",
    "overlay.png",
    "reliable.png",
    "certificate.json",
    "DATACARD.md",
}


def fixations(people=6, stimuli=("page",), points=8, seed=1, attributes=None):
    """Everybody looks at every stimulus, somewhere of their own."""
    rng = np.random.default_rng(seed)
    names = [f"P{number:02}" for number in range(people)]
    keys = [(p, s) for p in names for s in stimuli for _ in range(points)]
    time = np.tile(np.arange(points) * 250.0, people * len(stimuli))
    data = pl.DataFrame(keys, schema=["person", "recording"], orient="row").with_columns(
        stimulus="recording",
        time_ms=pl.Series(time),
        duration_ms=pl.lit(200.0),
        x=pl.Series(rng.uniform(0, WIDTH, len(keys))),
        y=pl.Series(rng.uniform(0, HEIGHT, len(keys))),
    )
    return Study(
        "fixations",
        data,
        pl.DataFrame({"person": names} | (attributes or {})),
        units="px",
        xy_origin="top-left",
        screen=Screen(WIDTH, HEIGHT),
    )


def halves(people=6):
    return {"group": ["a", "b"] * (people // 2)}


@pytest.fixture
def fixed_cells(monkeypatch):
    """Every mechanism measures the same, whatever the data are."""

    def noisy_mean(self, total, shape, noise):
        cells = np.random.default_rng(7).normal(0.02, 0.02, math.prod(shape.size))
        return cells.reshape(shape.size)

    monkeypatch.setattr(MapGrid, "noisy_mean", noisy_mean)


def test_a_folder_has_the_map_the_pictures_the_certificate_and_the_card(tmp_path):
    done = heatmap(fixations(), tmp_path / "out", level="okay")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    with np.load(tmp_path / "out" / "map.npz") as arrays:
        found = dict(arrays)
    assert found["map"].shape == (1, HEIGHT, WIDTH)
    assert found["layers"].tolist() == ["page"]
    assert found["size"].tolist() == [WIDTH, HEIGHT]
    total = found["map"].sum(dtype=np.float64)
    assert total == 0 or total == pytest.approx(1, abs=1e-4)
    assert arrays_digest(found) == done.certificate.output_sha256
    assert read_certificate(tmp_path / "out").to_dict() == done.certificate.to_dict()


def test_everything_in_map_npz_follows_from_the_noisy_cells_and_the_public_noise():
    done = heatmap(fixations(people=40), epsilon=5.0, blur=4.0)
    columns, rows = done.heatmaps.arrays["grid"]
    grid = Grid(WIDTH, HEIGHT, int(columns), int(rows))
    (cell_sd,) = done.certificate.map["cell_sd"]
    mechanism = mechanism_named("map-grid", epsilon=5.0)
    facts = mechanism.facts_of(40, 1, WIDTH, HEIGHT, 4.0)
    assert (facts.grid, mechanism.cell_sd(facts)) == (grid, cell_sd)
    measured, error = (
        spread(done.heatmaps.arrays["cells"][0], grid, 4.0),
        spread_error(grid, 4.0, cell_sd),
    )
    shown = np.maximum(measured - error, 0)
    np.testing.assert_allclose(done.heatmaps.arrays["measured"][0], measured, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(done.heatmaps.arrays["standard_error"][0], error, rtol=1e-5)
    np.testing.assert_allclose(
        done.heatmaps.arrays["map"][0], shown / shown.sum(), rtol=1e-4, atol=1e-9
    )


def test_files_of_different_people_with_the_same_noisy_cells_are_the_same(tmp_path, fixed_cells):
    """Also where nobody looked at the picture, which only its owner is told."""
    studies = {number: fixations(seed=number, points=5 * number) for number in (1, 2)}
    far = studies[1].data.with_columns(pl.col("x") + 1000)
    for number, study in (studies | {3: studies[1].derive(data=far)}).items():
        done = heatmap(study, tmp_path / str(number), level="good")
    assert "no look lies on the picture" in done.for_owner[0]
    for name in FILES:
        assert len({(tmp_path / each / name).read_bytes() for each in "123"}) == 1, name


def test_people_without_a_look_count_and_stay_unknown(fixed_cells):
    study = fixations()
    lost = pl.when(pl.col("person") == "P00").then(None).otherwise(pl.col("x")).alias("x")
    done = heatmap(study.derive(data=study.data.with_columns(lost)), level="good")
    assert done.certificate.people == 6
    assert done.for_owner == ("1 person had no look on the picture",)
    assert "no look" not in done.certificate.to_json()


def test_noise_on_the_cells_is_as_declared():
    # 40 releases of 15 cells: the variance of 600 draws of a normal law is within a quarter of the
    # declared one but for one run in 10^5; seeds are fixed.
    study = fixations(people=8)
    mechanism = mechanism_named("map-grid", epsilon=2.0, grid="5x3", clip=0.5)
    facts = mechanism.facts_of(8, 1, WIDTH, HEIGHT)
    points = seen(study, view_of(study), "count")
    counts = points.counts(facts.grid)
    exact = np.bincount(counts.cell, weights=mechanism.limited(counts, facts), minlength=15) / 8
    noise = [
        heatmap(study, mechanism=mechanism, seed=seed).heatmaps.arrays["cells"].ravel() - exact
        for seed in range(40)
    ]
    assert np.var(noise) == pytest.approx(mechanism.cell_sd(facts) ** 2, rel=0.25)


def test_the_debit_comes_before_the_noise_and_stays_when_something_fails(tmp_path, monkeypatch):
    write(fixations(), tmp_path / "study")

    def fail(*_):
        raise InputError("no noise today")

    monkeypatch.setattr(MapGrid, "noisy_mean", fail)
    with pytest.raises(InputError, match="no noise today"):
        heatmap(tmp_path / "study", tmp_path / "out", level="good")
    book = Ledger(tmp_path / "study.ledger")
    (debit,) = book.debits(read(tmp_path / "study").origin.id)
    assert (debit.mechanism, debit.guarantee.epsilon) == ("map-grid", 1.0)
    assert not (tmp_path / "out").exists()


def test_above_the_limit_nothing_is_counted_computed_or_written(tmp_path, monkeypatch):
    write(fixations(), tmp_path / "study")
    origin = read(tmp_path / "study").origin.id
    book = Ledger(tmp_path / "study.ledger")
    book.set_allowance(origin, 2.0, 1e-5)
    monkeypatch.setattr(MapGrid, "noisy_mean", None)
    with pytest.raises(Refused):
        heatmap(tmp_path / "study", tmp_path / "out", level="okay")
    assert not book.debits(origin)
    assert not (tmp_path / "out").exists()


def test_the_ledger_can_check_what_a_map_was_made_of(tmp_path):
    write(fixations(), tmp_path / "study")
    done = heatmap(tmp_path / "study", level="good")
    study = read(tmp_path / "study")
    book = Ledger(tmp_path / "study.ledger")
    (debit,) = book.debits(study.origin.id)
    points = seen(study, view_of(study), "count")
    assert book.fingerprint(points_digest(points), debit.id) == done.certificate.input_sha256
    elsewhere = seen(
        study.derive(data=study.data.with_columns(pl.col("x") / 2)), view_of(study), "count"
    )
    assert book.fingerprint(points_digest(elsewhere), debit.id) != done.certificate.input_sha256


def test_heatmaps_and_releases_of_the_same_people_add_up(tmp_path):
    write(fixations(), tmp_path / "study")
    heatmap(tmp_path / "study", mechanism="map-laplace", epsilon=1.0)
    done = heatmap(tmp_path / "study", mechanism="map-laplace", epsilon=0.5)
    assert done.certificate.total.epsilon == 1.5


@pytest.mark.parametrize("level", LEVELS)
def test_levels_are_an_epsilon_with_the_safer_delta(level):
    done = heatmap(fixations(), level=level)
    assert done.certificate.person_level.epsilon == LEVELS[level]
    assert done.certificate.person_level.delta == 1e-6
    assert done.certificate.guarantee.holds


def test_a_seed_makes_the_map_repeatable_and_the_guarantee_void(tmp_path):
    one, other = (heatmap(fixations(), level="good", seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.heatmaps.arrays["cells"], other.heatmaps.arrays["cells"])
    assert not one.certificate.guarantee.holds
    assert one.protects.startswith("NO PRIVACY GUARANTEE")


def test_two_maps_without_a_seed_differ():
    one, other = (heatmap(fixations(), level="good") for _ in range(2))
    assert not np.isin(one.heatmaps.arrays["cells"], other.heatmaps.arrays["cells"]).any()


@pytest.mark.parametrize(
    "name", ["map-noisefree", "map-rs1", "map-rs2", "map-gaussian-paper", "map-laplace-paper"]
)
def test_the_paper_s_own_mechanisms_run_and_carry_no_guarantee(name):
    done = heatmap(fixations(), mechanism=name, epsilon=1.0)
    assert not done.certificate.guarantee.holds
    assert done.protects.startswith("NO PRIVACY GUARANTEE")


@pytest.mark.usefixtures("plain_pictures")
def test_the_card_of_a_map_without_a_guarantee_says_so_first(tmp_path):
    heatmap(fixations(), tmp_path / "out", mechanism="map-noisefree", epsilon=1.0)
    card = (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    assert card.splitlines()[2].startswith("**This release carries no privacy guarantee.**")
    assert "No noise was added" in card


@pytest.mark.usefixtures("plain_pictures")
def test_two_groups_have_the_whole_epsilon_each_and_a_difference(tmp_path):
    study = fixations(people=10, attributes=halves(10))
    done = heatmap(study, tmp_path / "out", by="group", level="good")
    assert done.certificate.person_level.epsilon == 1.0
    assert done.certificate.people == 10
    assert [each.name for each in done.maps] == ["a", "b"]
    assert [each.people for each in done.maps] == [5, 5]
    # The noise is that of five people, on both.
    mechanism = mechanism_named("map-grid", epsilon=1.0)
    facts = mechanism.facts_of(5, 1, WIDTH, HEIGHT, done.certificate.map["sigma_px"])
    assert done.certificate.map["cell_sd"] == [mechanism.cell_sd(facts)] * 2
    assert (tmp_path / "out" / "difference.png").exists()
    assert any("who is in which group by group" in line for line in done.certificate.unprotected)


def test_groups_see_their_own_people_only():
    study = fixations(people=20, attributes=halves(20))
    left = pl.when(pl.col("person").str.slice(1).cast(pl.Int64) % 2 == 0).then(10.0)
    data = study.data.with_columns(x=left.otherwise(150.0), y=pl.lit(50.0))
    done = heatmap(
        study.derive(data=data),
        by="group",
        mechanism="map-grid",
        epsilon=50.0,
        grid="4x1",
        clip=1.0,
    )
    # The noise has a standard deviation of 0.02.
    expected = [[[1, 0, 0, 0]], [[0, 0, 0, 1]]]
    np.testing.assert_allclose(done.heatmaps.arrays["cells"], expected, atol=0.2)


def test_of_many_values_two_can_be_named_and_only_their_people_are_counted(tmp_path):
    study = fixations(people=6, attributes={"group": ["a", "a", "b", "b", "c", "c"]})
    write(study, tmp_path / "study")
    with pytest.raises(InputError, match="gives 3"):
        heatmap(tmp_path / "study", by="group", level="good")
    done = heatmap(tmp_path / "study", by="group", between=["c", "a"], level="good")
    assert [each.name for each in done.maps] == ["c", "a"]
    (debit,) = Ledger(tmp_path / "study.ledger").debits(read(tmp_path / "study").origin.id)
    assert debit.people == 4


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (["a", "a", "a", "a", "a", "b"], "the group 'b' by group is one person"),
        (["a", "a", "a", "b", "b", None], "'P05' has no group"),
        (["a"] * 6, "gives 1"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(values, match):
    with pytest.raises(InputError, match=match):
        heatmap(fixations(attributes={"group": values}), by="group", level="good")


def test_several_stimuli_share_one_budget_and_one_person_s_mass():
    study = fixations(people=12, stimuli=("one", "two", "three"))
    done = heatmap(
        study, stimulus=["three", "one"], mechanism="map-grid", epsilon=600.0, clip=1.0, grid="2x2"
    )
    assert done.heatmaps.arrays["layers"].tolist() == ["three", "one"]
    assert done.heatmaps.arrays["cells"].shape == (2, 2, 2)
    assert done.certificate.person_level.epsilon == 600.0
    # Of eight cells, each with noise of standard deviation 0.004.
    assert done.heatmaps.arrays["cells"].sum() == pytest.approx(1.0, abs=0.1)


@pytest.mark.usefixtures("plain_pictures")
def test_stretches_of_time_are_maps_of_one_stimulus(tmp_path):
    done = heatmap(fixations(), tmp_path / "out", every_s=0.5, for_s=2.0, level="okay")
    assert done.certificate.map["stretches_ms"] == [0, 500, 1000, 1500, 2000]
    assert [each.name for each in done.maps] == ["0–0.5 s", "0.5–1 s", "1–1.5 s", "1.5–2 s"]
    assert done.certificate.person_level.epsilon == 3.0


def test_a_stimulus_that_nobody_looked_at_is_told_to_the_owner_alone():
    study = fixations(stimuli=("one", "two"))
    lost = pl.when(pl.col("stimulus") == "two").then(None).otherwise(pl.col("x")).alias("x")
    done = heatmap(
        study.derive(data=study.data.with_columns(lost)), stimulus=["one", "two"], level="good"
    )
    assert done.for_owner == ("nobody looked at two: a map of it is noise alone",)


@pytest.mark.parametrize(
    ("beyond", "words"), [(1, "1 gaze point (2%) was"), (3, "3 gaze points (6%) were")]
)
def test_looks_outside_the_picture_are_counted_in_words(beyond, words):
    study = fixations()
    outside = pl.when(pl.int_range(pl.len()) < beyond).then(1000.0).otherwise(pl.col("x"))
    done = heatmap(study.derive(data=study.data.with_columns(x=outside)), level="good")
    assert done.for_owner == (f"{words} outside the picture",)


def test_recordings_of_one_person_add_up_and_count_once():
    study = fixations(people=4)
    again = study.data.with_columns(recording=pl.lit("again"))
    twice = study.derive(data=pl.concat([study.data, again]))
    done = [
        heatmap(each, mechanism="map-grid", epsilon=1.0, seed=1, grid="4x2")
        for each in (study, twice)
    ]
    assert done[1].certificate.people == 4
    # Shares of gaze are the same, and so is the noise of one seed.
    np.testing.assert_array_equal(
        done[0].heatmaps.arrays["cells"], done[1].heatmaps.arrays["cells"]
    )


def test_durations_weigh_in_seconds():
    study = fixations(people=4, points=5)
    done = heatmap(
        study,
        weight="duration",
        mechanism="map-gaussian",
        epsilon=1000.0,
        grid="1x1",
        cap=2,
        samples=2,
    )
    # The noise has a standard deviation of 0.012.
    assert done.heatmaps.arrays["cells"].item() == pytest.approx(5 * 0.2, abs=0.2)


def test_a_private_cap_is_paid_for_and_told():
    done = heatmap(fixations(), mechanism="map-gaussian", cap="private", epsilon=1.0)
    assert done.certificate.person_level.epsilon == 1.0
    (settled,) = done.certificate.map["settled"]
    assert settled["cap"] in (1, 2, 4, 8, 16)


def test_the_default_mechanism_follows_from_public_numbers():
    def chosen(people, **more):
        return default_mechanism(
            people, 1, (1680, 1050), 40.0, epsilon=1.0, delta=1e-6, **more
        ).name

    assert chosen(40) == chosen(20_000) == "map-grid"
    assert chosen(100_000) == "map-gaussian"
    assert chosen(40, cap=1) == chosen(40, samples=10) == "map-gaussian"
    assert chosen(100_000, grid="30x20") == "map-grid"
    # 25% of 30 looks on 1.764 million px against √60/(μ·N), spread out by 40 px.
    mechanism = mechanism_named("map-gaussian", epsilon=1.0, delta=1e-6)
    sd = mechanism.cell_sd(mechanism.facts_of(10**5, 1, 1680, 1050)) / (2 * math.sqrt(math.pi) * 40)
    enough = 10**5 * sd / (0.25 * 30 / (1680 * 1050))
    assert chosen(int(1.02 * enough)) == "map-gaussian"
    assert chosen(int(0.98 * enough)) == "map-grid"


AREAS = {
    "areas": [
        {"name": "left", "rectangle": [0, 0, 80, 100]},
        {"name": "corner", "polygon": [[80, 0], [160, 0], [160, 60]]},
    ]
}


@pytest.fixture
def areas(tmp_path):
    path = tmp_path / "areas.json"
    path.write_text(json.dumps(AREAS))
    return path


@pytest.mark.usefixtures("plain_pictures")
def test_areas_take_half_of_the_budget_and_the_total_is_stated(tmp_path, areas):
    write(fixations(), tmp_path / "study")
    done = heatmap(tmp_path / "study", tmp_path / "out", areas=areas, epsilon=2.0)
    certificate = done.certificate
    assert certificate.parameters["epsilon"] == 1.0
    assert certificate.map["areas"]["parameters"]["epsilon"] == 1.0
    assert (certificate.person_level.epsilon, certificate.person_level.delta) == (2.0, 1e-6)
    assert certificate.person_level.mu is None
    assert len(certificate.ledger) == 1
    released = pl.read_csv(tmp_path / "out" / "areas.csv")
    assert set(released["table"]) == {"dwell", "visits", "transitions", "order"}
    assert (tmp_path / "out" / "areas.png").exists()
    assert arrays_digest(done.heatmaps.arrays, (tmp_path / "out" / "areas.csv").read_text()) == (
        certificate.output_sha256
    )


@pytest.mark.usefixtures("plain_pictures")
def test_areas_alone_have_the_whole_budget_and_no_map(tmp_path, areas):
    done = heatmap(
        fixations(), tmp_path / "out", areas=areas, only_areas=True, epsilon=2.0, tables="dwell"
    )
    assert done.certificate.mechanism == "aoi-tables"
    assert done.certificate.parameters["epsilon"] == 2.0
    assert (done.certificate.person_level.epsilon, done.certificate.person_level.delta) == (2.0, 0)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"areas.csv", "areas.png", "certificate.json", "DATACARD.md"}
    assert done.areas["area"].to_list() == ["left", "corner", "elsewhere"]


@pytest.mark.usefixtures("plain_pictures")
def test_an_earlier_release_without_a_guarantee_is_not_forgotten(tmp_path):
    write(fixations(), tmp_path / "study")
    heatmap(tmp_path / "study", level="good", seed=1)
    done = heatmap(tmp_path / "study", tmp_path / "out", level="good")
    assert done.certificate.guarantee.holds
    assert not done.certificate.total.holds
    assert "unbounded" in (tmp_path / "out" / "DATACARD.md").read_text("utf-8")


def test_a_mechanism_may_come_with_its_parameters_set():
    mechanism = mechanism_named("map-laplace", epsilon=0.5, samples=4)
    done = heatmap(fixations(), mechanism=mechanism)
    assert done.certificate.person_level.epsilon == 0.5
    with pytest.raises(InputError, match="already"):
        heatmap(fixations(), mechanism=mechanism, epsilon=1.0)


def test_figures_are_written_beside_and_are_not_private(tmp_path, monkeypatch):
    short = functools.partial(map_figures.experiment, epsilons=(1.0, 3.0), draws=2)
    monkeypatch.setattr(map_figures, "experiment", short)
    heatmap(
        fixations(), tmp_path / "out", level="good", figures=tmp_path / "out-figures-not-private"
    )
    figures = {path.name for path in (tmp_path / "out-figures-not-private").iterdir()}
    assert figures == {"figure2.png", "figure3.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_on_real_fixations_a_map_is_released(real_data, tmp_path):
    done = heatmap(read(real_data / "OSIE"), tmp_path / "out", stimulus="1001", level="good")
    assert done.certificate.people == 15
    assert done.maps[0].values.shape == (600, 800)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"mechanism": "map-gaussian-paper", "cap": "paper", "weight": "duration"}, "seconds"),
        ({"mechanism": "map-noisefree", "cap": "paper", "weight": "duration"}, "seconds"),
        ({"mechanism": "map-laplace-paper", "cap": "paper", "epsilon": 1e-200}, "beyond measure"),
        ({"blur": 1e9}, "`blur=1000000000.0` is 1e.09 px here"),
        ({"blur": 189}, "at most 188 px"),
        ({"mechanism": "map-gaussian", "size": (60_000, 1), "at": (0, 0)}, "more than fit"),
        ({"samples": 10**400}, "samples must be at most"),
        ({"cap": 10**400}, "cap must be at most"),
        ({"clip": 1e-320}, "clip must be at least"),
    ],
    ids=lambda value: "-".join(map(str, value.values()))[:40] if isinstance(value, dict) else None,
)
def test_what_could_not_be_computed_is_refused_before_anything_is_spent(tmp_path, asked, match):
    write(fixations(), tmp_path / "study")
    with pytest.raises(InputError, match=match):
        heatmap(tmp_path / "study", tmp_path / "out", **{"epsilon": 1.0} | asked)
    assert not Ledger(tmp_path / "study.ledger").debits(read(tmp_path / "study").origin.id)


def test_figures_that_could_not_be_drawn_are_refused_before_anything_is_spent(tmp_path):
    study = fixations()
    write(study.derive(data=study.data.with_columns(pl.col("x") + 1000)), tmp_path / "study")
    with pytest.raises(InputError, match="nobody looked at the first map"):
        heatmap(tmp_path / "study", figures=tmp_path / "figures", level="good")
    assert not Ledger(tmp_path / "study.ledger").debits(read(tmp_path / "study").origin.id)


def test_a_picture_too_tall_for_counts_in_pixels_has_cells():
    assert default_mechanism(10**6, 1, (2, 60_000), 40.0, epsilon=1.0).name == "map-grid"


def test_somebody_with_more_looks_than_can_be_added_up_is_refused_first(monkeypatch):
    monkeypatch.setattr("eyelid.releases.kinds.maps.plan.MOST_ENTRIES", 7)
    with pytest.raises(InputError, match="a participant has 8 gaze points"):
        heatmap(fixations(points=8), level="good", grid="5x3")
    heatmap(fixations(points=7), level="good", grid="5x3")
    heatmap(fixations(points=8), level="good", grid="7x1")


@pytest.mark.parametrize(("name", "cap"), [("map-gaussian", "private"), ("map-rs1", "paper")])
def test_groups_share_one_cap_which_no_data_choose(name, cap):
    study = fixations(attributes=halves())
    with pytest.raises(InputError, match="groups would differ by their caps"):
        heatmap(study, by="group", mechanism=name, cap=cap, epsilon=1.0)


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
def test_of_groups_without_a_guarantee_the_worst_is_stated(order):
    # Of three people two are drawn, of four two.
    study = fixations(people=7, attributes={"group": ["a"] * 3 + ["b"] * 4})
    done = heatmap(study, by="group", between=order, mechanism="map-rs1", epsilon=1.0)
    assert done.certificate.person_level.delta == pytest.approx(2 / 3)
