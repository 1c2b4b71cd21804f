"""A heatmap is the same whoever adds it up, in whatever pieces, and whenever it was stopped."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.engine import runs
from eyelid.engine.engines import using
from eyelid.engine.remote import RemotePlace
from eyelid.engine.runs import running, unfinished
from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.study import Screen, Study
from eyelid.io import read, study_folder, write
from eyelid.io.pieces import in_pieces
from eyelid.io.study_parts import part_facts
from eyelid.privacy.ledger import Ledger
from eyelid.releases.accounting import points_digest
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.audit import audit
from eyelid.releases.kinds.maps import heatmap as heatmaps
from eyelid.releases.kinds.maps import measurement
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.kinds.maps.measurement import Sight, seen
from eyelid.releases.kinds.maps.quote import heatmap_draft, heatmap_preview
from eyelid.releases.kinds.maps.view import view_of

WIDTH, HEIGHT, PEOPLE = 160, 100, 9
LEFT = Area("left", np.array([[0.0, 0.0], [80.0, 0.0], [80.0, 100.0], [0.0, 100.0]]))
RIGHT = Area("right", np.array([[80.0, 0.0], [160.0, 0.0], [160.0, 60.0]]))
SETTINGS = {
    "groups": {"by": "group", "between": ["b", "a"], "stimulus": "page"},
    "cap": {
        "mechanism": "map-gaussian",
        "cap": "private",
        "samples": 8,
        "stimulus": ["other", "page"],
        "weight": "duration",
        "areas": [LEFT, RIGHT],
    },
    "tables": {
        "areas": [LEFT, RIGHT],
        "only_areas": True,
        "stimulus": "page",
        "every_s": 0.5,
        "for_s": 1.5,
    },
    "literature": {"mechanism": "map-rs1", "stimulus": "page"},
}
pytestmark = pytest.mark.usefixtures("plain_pictures", "copies_count")


def people() -> Study:
    """Some have no rows, some no look; a recording has two stimuli, some people saw one only."""
    rng = np.random.default_rng(3)
    names = [f"P{number}" for number in rng.permutation(PEOPLE)]
    rows = [
        (name, recording, "page" if time < 1500 or name == "P4" else "other", time, 180.0)
        for name in names[:-1]
        for recording in ("one", "two")[: 1 + (name > "P5")]
        for time in np.arange(int(rng.integers(8, 14))) * 200.0
    ]
    columns = ["person", "recording", "stimulus", "time_ms", "duration_ms"]
    data = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        x=pl.Series(np.where(rng.random(len(rows)) < 0.3, 20.0, rng.uniform(0, 200, len(rows)))),
        y=pl.Series(np.where(rng.random(len(rows)) < 0.3, 20.0, rng.uniform(0, 100, len(rows)))),
    )
    lost = pl.when(pl.col("person") == names[2]).then(None).otherwise(pl.col("x"))
    return Study(
        "fixations",
        data.with_columns(x=lost),
        pl.DataFrame({"person": sorted(names), "group": ["a", "b", "c"] * 3}),
        units="px",
        xy_origin="top-left",
        screen=Screen(WIDTH, HEIGHT),
    )


def in_parts(folder):
    """The same study with a folder of two parts in the place of its file."""
    home = folder / study_folder.DATA
    data = pl.read_parquet(home)
    home.unlink()
    home.mkdir()
    # A person is in both of them.
    halves = (data[: len(data) // 2], data[len(data) // 2 :])
    for number, rows in enumerate(halves):
        rows.write_parquet(home / f"part-{number:06d}.parquet")
    about = json.loads((folder / "study.json").read_text())
    about["parts"] = [part_facts(path, folder) for path in sorted(home.iterdir())]
    (folder / "study.json").write_text(json.dumps(about))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A folder with the study and its ledger."""
    home = tmp_path_factory.mktemp("original")
    write(people(), home / "study")
    return home


@pytest.fixture
def copy(original, tmp_path):
    """Makes a copy of the study with the same ledger, so that certificates can be the same."""

    def copied(name="copy"):
        shutil.copytree(original, tmp_path / name)
        return tmp_path / name

    return copied


@pytest.fixture
def small_pieces(monkeypatch):
    """A person or two each."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 150)


def released(home, source=None, **asked):
    """Every file of a heatmap, and its certificate."""
    study = home / "study" if source is None else source
    heatmap(study, home / "out", **{"epsilon": 2.0, "seed": 7} | asked)
    return {path.name: path.read_bytes() for path in (home / "out").iterdir()}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_bytes_and_certificate_do_not_depend_on_pieces_or_places(settings, copy, monkeypatch):
    whole = released(copy("whole"), **settings)
    assert json.loads(whole["certificate.json"])["input_sha256"]
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 150)
    home = copy("pieces")
    assert len(in_pieces(home / "study").pieces) > 3
    assert released(home, **settings) == whole
    home = copy("memory")
    assert released(home, read(home / "study"), **settings) == whole
    home = copy("parts")
    in_parts(home / "study")
    assert released(home, **settings) == whole


@pytest.mark.usefixtures("two_cores")
def test_bytes_and_certificate_do_not_depend_on_who_works(copy, dask, monkeypatch):
    whole = released(copy("whole"), **SETTINGS["cap"])
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 150)
    assert released(copy("local"), **SETTINGS["cap"], engine="local") == whole
    assert released(copy("dask"), **SETTINGS["cap"], engine=dask) == whole


def test_what_the_owner_is_told_does_not_depend_on_pieces(copy, monkeypatch):
    home = copy()
    for settings in ({"stimulus": ["page", "other"]}, {"stimulus": "page", "by": "group"}):
        asked = {"level": "good", "between": ["a", "c"] if "by" in settings else None} | settings
        whole = heatmap_preview(home / "study", **asked)
        with monkeypatch.context() as patch:
            patch.setattr("eyelid.io.pieces.PIECE_VALUES", 150)
            cut = heatmap_preview(home / "study", **asked)
        assert cut.to_dict() == whole.to_dict()
        assert cut.for_owner == whole.for_owner
        assert any("outside the picture" in line for line in cut.for_owner)
        assert any("no look on the picture" in line for line in cut.for_owner)


@pytest.mark.usefixtures("small_pieces", "quick_map_audits")
def test_an_audit_knows_a_heatmap_made_in_pieces(copy):
    home = copy()
    released(home, stimulus="page", seed=None)
    done = audit(home / "study", home / "out")
    assert done.refuted == []
    assert done.target.total is not None


@pytest.mark.usefixtures("quick_map_audits")
def test_an_audit_knows_the_digests_of_earlier_versions(copy, monkeypatch):
    home = copy()
    study = read(home / "study")
    points = seen(study, view_of(study, ["page"]), "count")
    earlier = earlier_digests.points_digest(points)
    assert earlier != points_digest(points)
    monkeypatch.setattr(
        "eyelid.releases.kinds.maps.measurement.digest_of_points", lambda *about: earlier
    )
    released(home, stimulus="page", seed=None)
    assert audit(home / "study", home / "out").subject.total is not None


def stopping(monkeypatch, where, name, after=0):
    """Have a run stopped at some step, as by a kill: nobody tidies up what is kept."""
    sound, calls = getattr(where, name), []

    def stop(*arguments, **more):
        calls.append(arguments)
        if len(calls) > after:
            raise KeyboardInterrupt
        return sound(*arguments, **more)

    monkeypatch.setattr(where, name, stop)
    return calls


def debits(home):
    return Ledger(home / "study.ledger").debits(read(home / "study").origin.id)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("name", ["groups", "cap"])
def test_a_run_that_goes_on_has_the_same_noise_and_one_debit(name, copy, monkeypatch):
    home, settings = copy(), SETTINGS[name] | {"seed": None}
    with monkeypatch.context() as patch:
        stopping(patch, heatmaps, "write_maps")
        with pytest.raises(KeyboardInterrupt):
            released(home, **settings)
    with np.load(unfinished(home / "out") / "drawn" / "measured") as kept:
        drawn = np.concatenate([kept[each] for each in kept.files if each.startswith("map")])
    assert not (home / "out").exists()
    monkeypatch.setattr(measurement, "_added_up", None)
    released(home, **settings)
    with np.load(home / "out" / "map.npz") as found:
        np.testing.assert_array_equal(found["cells"], drawn)
    assert len(debits(home)) == 1
    assert not unfinished(home / "out").exists()
    assert audit(home / "study", home / "out").subject.inconsistencies == ()


@pytest.mark.parametrize("name", ["groups", "cap", "tables", "literature"])
def test_a_stop_before_the_output_is_in_its_place_changes_no_byte(name, copy, monkeypatch):
    home, asked = copy(), SETTINGS[name] | {"seed": None}
    with monkeypatch.context() as patch:
        stopping(patch, runs, "settle")
        with pytest.raises(KeyboardInterrupt):
            released(home, **asked)
    made = unfinished(home / "out") / "output"
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    assert not (unfinished(home / "out") / "scratch").exists()
    assert released(home, **asked) == before
    assert len(debits(home)) == 1


@pytest.mark.parametrize("last", ["map.npz", "certificate.json"])
def test_what_was_uploaded_before_a_stop_stays_true(last, copy, monkeypatch):
    home, send = copy(), RemotePlace.send
    monkeypatch.chdir(home)
    out = f"file://{home}/far/out"

    def stop(place, file):
        send(place, file)
        if place.name == last:
            raise KeyboardInterrupt

    asked = {"stimulus": "page", "epsilon": 2.0}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RemotePlace, "send", stop)
        heatmap("study", out, **asked)
    seen = {path.name: path.read_bytes() for path in (home / "far" / "out").iterdir()}
    assert last in seen
    del seen[".unfinished"]
    heatmap("study", out, **asked)
    after = {path.name: path.read_bytes() for path in (home / "far" / "out").iterdir()}
    assert after.items() >= seen.items()
    assert len(debits(home)) == 1


@pytest.mark.usefixtures("small_pieces")
def test_pieces_that_were_added_up_are_not_again(copy, monkeypatch):
    whole = released(copy("whole"), **SETTINGS["cap"])
    home = copy()
    with monkeypatch.context() as patch:
        stopping(patch, measurement, "_of_people", after=2)
        with pytest.raises(KeyboardInterrupt):
            released(home, **SETTINGS["cap"])
    pieces = len(in_pieces(home / "study").pieces)
    calls = stopping(monkeypatch, measurement, "_of_people", after=pieces)
    assert released(home, **SETTINGS["cap"]) == whole
    assert len(calls) == pieces - 2
    assert len(debits(home)) == 1


@pytest.mark.usefixtures("small_pieces")
def test_sums_that_one_cap_limits_are_not_taken_for_those_of_another(copy):
    home = copy()
    made = heatmap_draft(home / "study", epsilon=2.0, **SETTINGS["cap"])
    with running(home / "out", "key") as run:
        for cap in (1, 3):
            mechanism = replace(made.plan.design.mechanism, cap=cap)
            design = made.plan.design
            about = (made.cut, design, Sight.of(made.cut.head, design), mechanism)
            kept, _ = measurement.totals(*about, run, lambda by, what: None)
            fresh, _ = measurement.totals(*about, None, lambda by, what: None)
            np.testing.assert_array_equal(kept, fresh)
            assert sum(each.sum() for each in kept)


def test_an_unfinished_run_is_not_taken_for_another(copy, monkeypatch):
    home = copy()
    with monkeypatch.context() as patch:
        stopping(patch, heatmaps, "write_maps")
        with pytest.raises(KeyboardInterrupt):
            released(home, stimulus="page")
    for other in ({"epsilon": 1.0}, {"seed": 8}, {"stimulus": "other"}, {"blur": 3.0}):
        with pytest.raises(InputError, match="an unfinished run of other data or settings"):
            released(home, **{"stimulus": "page"} | other)
    moved = read(home / "study").derive(data=people().data.with_columns(pl.col("y") / 2))
    with pytest.raises(InputError, match="an unfinished run of other data or settings"):
        released(home, moved, stimulus="page")
    assert len(debits(home)) == 1
    # A person who touched the files changed nothing.
    (home / "study" / study_folder.DATA).touch()
    released(home, stimulus="page")
    assert len(debits(home)) == 1


@pytest.mark.parametrize("name", SETTINGS)
def test_recordings_that_change_after_the_first_look_are_not_released(name, copy, monkeypatch):
    home, sound = copy(), heatmaps.measured

    def meddled(*about):
        file = home / "study" / study_folder.DATA
        pl.read_parquet(file).with_columns(pl.col("y") / 2).write_parquet(file)
        return sound(*about)

    monkeypatch.setattr(heatmaps, "measured", meddled)
    with pytest.raises(InputError, match="changed after they were looked at"):
        released(home, **SETTINGS[name])
    assert not (home / "out").exists()


@pytest.mark.usefixtures("small_pieces")
def test_the_most_looks_of_anybody_are_those_of_all_pieces():
    study = people()
    # Those of the last piece are on no picture.
    last = pl.col("person") == in_pieces(study).pieces[-1].people[-1]
    kept = study.data.filter(~last | (pl.col("time_ms") == 0))
    made = heatmap_draft(study.derive(data=kept), stimulus="page", epsilon=1.0)
    on_page = kept.filter(pl.col("x").is_between(0, WIDTH) & (pl.col("stimulus") == "page"))
    counts = on_page.group_by("person").len()
    most = made.previewed(lambda by, what: None).survey.most
    assert most == counts["len"].max() > counts.filter(last)["len"].sum()


@pytest.mark.parametrize("engine", ["inline", "dask"])
def test_a_part_that_cannot_be_read_is_named_before_anything_is_spent(engine, copy, request):
    home = copy()
    in_parts(home / "study")
    part = home / "study" / study_folder.DATA / "part-000001.parquet"
    part.write_bytes(part.read_bytes()[:-100])
    chosen = using(request.getfixturevalue("dask")) if engine == "dask" else nullcontext()
    with chosen, pytest.raises(InputError, match=r"1 of 2 parts .*part-000001.parquet"):
        released(home, stimulus="page")
    assert not (home / "out").exists()
    part.unlink()
    with pytest.raises(InputError, match=r"part-000001.parquet"):
        released(home, stimulus="page")
    origin = json.loads((home / "study" / "study.json").read_text())["origin"]
    assert Ledger(home / "study.ledger").debits(origin) == []
