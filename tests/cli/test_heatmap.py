"""What a person at a terminal types, sees, and is told when it cannot be."""

import json

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.study import Screen, Study
from eyelid.io import read, write
from eyelid.privacy.ledger import Ledger

WIDTH, HEIGHT = 320, 200


@pytest.fixture
def picture(tmp_path):
    from PIL import Image

    path = tmp_path / "page.png"
    Image.new("RGB", (WIDTH, HEIGHT), "white").save(path)
    return path


@pytest.fixture
def make_study(tmp_path):
    """A study folder of fixations on pages."""

    def make(people=5, stimuli=("page.png", "other"), name="study", screen=(WIDTH, HEIGHT), **more):
        rng = np.random.default_rng(2)
        names = [f"P{number:02}" for number in range(people)]
        keys = [(p, s) for p in names for s in stimuli for _ in range(6)]
        data = pl.DataFrame(keys, schema=["person", "recording"], orient="row").with_columns(
            stimulus="recording",
            time_ms=pl.Series(np.tile(np.arange(6) * 200.0, people * len(stimuli))),
            x=pl.Series(rng.uniform(0, WIDTH, len(keys))),
            y=pl.Series(rng.uniform(0, HEIGHT, len(keys))),
        )
        attributes = pl.DataFrame({"person": names, "side": (["left", "right"] * people)[:people]})
        study = Study(
            "fixations",
            data,
            attributes,
            units="px",
            xy_origin="top-left",
            screen=Screen(*screen) if screen else None,
        ).derive(**more)
        write(study, tmp_path / name)
        return tmp_path / name

    return make


@pytest.fixture
def study(make_study):
    return make_study()


def refused(done, *words, code=2):
    """One line on stderr that has these words, and nothing else."""
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err, done.err


def spent(folder):
    """What was counted of a study."""
    return Ledger(folder.with_name(f"{folder.name}.ledger")).debits(read(folder).origin.id)


def test_a_picture_file_and_a_level_are_enough(eyelid, study, picture, tmp_path):
    done = eyelid("heatmap", study, tmp_path / "out", "--stimulus", picture, "--level", "good")
    assert done.code == 0, done.err
    assert "5 people, 1 map of 320 × 200 px" in done.out
    assert "Protects each of 5 people" in done.out
    assert "hotspot" in done.out.lower()
    for name in ("map.npz", "heatmap.png", "overlay.png", "reliable.png", "certificate.json"):
        assert (tmp_path / "out" / name).is_file()


@pytest.mark.usefixtures("plain_pictures")
def test_json_is_the_certificate_with_the_facts_of_the_map(eyelid, study, tmp_path):
    done = eyelid(
        "heatmap", study, tmp_path / "out", "--stimulus", "other", "--epsilon", 2, "--json"
    )
    told = json.loads(done.out)
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text("utf-8"))
    assert told == certificate | {"says": told["says"]}
    assert told["says"].startswith(told["map"]["reliability"]["says"])
    assert "may be noise" in told["says"]
    assert told["guarantee"]["epsilon"] == 2
    assert told["map"]["stimuli"] == ["other"]


def test_a_tab_separated_export_is_enough(eyelid, tmp_path, picture):
    lines = ["person\ttime_ms\tx\ty\tduration_ms"]
    for person in ("Ada Lovelace", "Grace Hopper", "Mary Somerville"):
        lines += [f"{person}\t{200 * n}\t{10 * n}\t{5 * n}\t150" for n in range(9)]
    export = tmp_path / "export.tsv"
    export.write_text("\n".join(lines) + "\n")
    said = "person=person,time=time_ms,x=x,y=y,units=px,xy_origin=top-left"
    done = eyelid(
        *("heatmap", export, tmp_path / "out", "--stimulus", picture, "--level", "okay"),
        *("--map", said),
    )
    assert done.code == 0, done.err
    assert "the data name no stimulus: all of their gaze is taken for page.png" in done.err
    assert "the screen's size is not known" in done.err
    for path in (tmp_path / "out").iterdir():
        assert b"Lovelace" not in path.read_bytes()


def test_above_a_limit_the_exit_code_is_3_and_nothing_is_written(eyelid, study, tmp_path):
    assert eyelid("budget", study, "--limit-epsilon", 2).code == 0
    done = eyelid("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "okay")
    refused(done, "limit", code=3)
    assert not (tmp_path / "out").exists()


def test_a_picture_beside_the_screen_is_refused_before_anything_is_spent(eyelid, study, tmp_path):
    words = ("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good")
    for place in ("5000,5000", "320,0", "0,-200"):
        refused(eyelid(*words, "--at", place), "outside the screen of 320 × 200", place)
    assert spent(study) == []


def test_a_dry_run_says_what_would_be_and_spends_and_writes_nothing(eyelid, study, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    words = ("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good")
    done = eyelid(*words, "--at", "100,50", "--dry-run")
    assert done.code == 0, done.err
    assert "nothing was spent or written" in done.out
    assert "5 people, 1 map of 320 × 200 px, measured in " in done.out
    assert "Protects each of 5 people" in done.out
    assert "If clipping leaves half of people's gaze, no hotspot is reliable" in done.out
    assert "for you alone" in done.err
    assert "outside the picture" in done.err
    told = json.loads(eyelid(*words, "--dry-run", "--json").out)
    assert told["guarantee"]["epsilon"] == 1
    assert told["map"]["stimuli"] == ["other"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    refused(eyelid(*words[:2], study, *words[3:], "--dry-run"), "exists")


def test_a_dry_run_says_when_a_blob_in_the_middle_is_as_good_and_what_would_help(
    eyelid, make_study, tmp_path
):
    """A map was paid for that a Gaussian in the middle of the picture would have beaten."""
    study = make_study(people=20)
    words = ("heatmap", study, tmp_path / "out", "--level", "good", "--dry-run")
    both = ("--stimulus", "other", "--stimulus", "page.png", "--size", "320x200")
    done = eyelid(*words, *both)
    assert done.code == 0, done.err
    assert "A blob in the middle of the picture is likely as good as each of these maps" in done.out
    assert "on simulated pictures" in done.out
    told = json.loads(eyelid(*words, *both, "--json").out)["map"]["outlook"]
    assert told["blob_is_as_good"]
    assert told["correlation"] < told["correlation_of_one_map"]
    assert f"about {told['people_needed']:,} people at this ε" in told["says"]
    assert f"ε = {told['epsilon_needed']:g} for the map with these 20 people" in told["says"]
    assert "one map instead of 2" in told["says"]
    # What is advised for these people is enough.
    more = ("heatmap", study, tmp_path / "out", "--stimulus", "other", "--dry-run", "--json")
    less = json.loads(eyelid(*more, "--epsilon", 0.2).out)["map"]["outlook"]
    enough = json.loads(eyelid(*more, "--epsilon", less["epsilon_needed"]).out)["map"]["outlook"]
    assert (less["blob_is_as_good"], enough["blob_is_as_good"]) == (True, False)
    assert enough["says"].startswith("The map is likely to show more than a blob in the middle")


@pytest.mark.usefixtures("plain_pictures")
def test_a_dry_run_promises_what_the_run_then_gives(eyelid, study, tmp_path):
    words = ("heatmap", study, tmp_path / "out", "--stimulus", "other", "--epsilon", 2, "--json")
    dry, real = json.loads(eyelid(*words, "--dry-run").out), json.loads(eyelid(*words).out)
    assert dry["guarantee"] == real["guarantee"]
    assert dry["unprotected"] == real["unprotected"]
    before = ("reliability", "outlook")
    own = {key: value for key, value in dry["map"].items() if key not in before}
    assert own == {key: real["map"][key] for key in own}


@pytest.mark.usefixtures("plain_pictures")
def test_stretches_after_everybody_has_left_are_told_to_the_owner(eyelid, study, tmp_path):
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--every", 0.4, "--for", 2),
    )
    assert done.code == 0, done.err
    # Everybody's last look begins at 1 s.
    assert "nobody looked from 1.2 s on: the last 2 maps would be noise alone" in done.err
    with np.load(tmp_path / "out" / "map.npz") as found:
        assert found["layers"].tolist()[:2] == ["0–0.4 s", "0.4–0.8 s"]
    assert "nobody looked" not in (tmp_path / "out" / "DATACARD.md").read_text("utf-8")


@pytest.mark.usefixtures("plain_pictures")
def test_pictures_of_several_stimuli_may_have_names_of_their_own(eyelid, study, picture, tmp_path):
    from PIL import Image

    Image.new("RGB", (WIDTH, HEIGHT), "black").save(tmp_path / "dark.png")
    words = (
        *("heatmap", study, tmp_path / "out", "--level", "good"),
        *("--stimulus", "other", "--stimulus", "page.png", "--image", tmp_path / "dark.png"),
    )
    refused(eyelid(*words), "1 image and 2 stimuli")
    done = eyelid(*words, "--image", picture)
    assert done.code == 0, done.err
    assert "2 maps of 320 × 200 px" in done.out


@pytest.mark.usefixtures("plain_pictures")
def test_what_tables_are_worth_is_said(eyelid, study, tmp_path):
    half = {"name": "half", "rectangle": [-20, 0, 100, 100]}
    (tmp_path / "areas.json").write_text(json.dumps({"areas": [half]}))
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--areas", tmp_path / "areas.json"),
    )
    assert done.code == 0, done.err
    assert "Little can be read from dwell" in done.out
    assert "take --only areas, --set tables=dwell" in done.out
    assert "the first 6 visits" in done.out
    assert "the first 6 visits" in (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    assert "area 'half' reaches beyond the picture" in done.err


def test_an_area_beside_the_picture_is_refused_before_anything_is_spent(eyelid, study, tmp_path):
    away = {"name": "away", "rectangle": [400, 0, 100, 100]}
    (tmp_path / "areas.json").write_text(json.dumps({"areas": [away]}))
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--areas", tmp_path / "areas.json"),
    )
    refused(done, "'away'", "outside the picture")
    assert spent(study) == []


@pytest.mark.usefixtures("plain_pictures")
def test_whether_two_groups_differ_is_said(eyelid, study, tmp_path):
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--by", "side"),
    )
    assert done.code == 0, done.err
    assert "left and right" in done.out


@pytest.mark.usefixtures("plain_pictures")
def test_gaze_outside_the_picture_is_told_to_the_owner_and_to_nobody_else(
    eyelid, make_study, tmp_path
):
    study = make_study(screen=None)
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--at", "5000,5000", "--size", "320x200"),
    )
    assert done.code == 0
    assert "no look lies on the picture: check --at, --scale and the units" in done.err
    assert "no look" not in done.out
    assert "no look" not in (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    assert "no look" not in (tmp_path / "out" / "certificate.json").read_text("utf-8")


@pytest.mark.usefixtures("plain_pictures")
def test_somebody_without_a_valid_sample_still_counts(eyelid, make_study, tmp_path):
    folder = make_study()
    data = pl.read_parquet(folder / "data.parquet")
    lost = pl.when(pl.col("person") == "P00").then(None).otherwise(pl.col("x"))
    data.with_columns(x=lost).write_parquet(folder / "data.parquet")
    done = eyelid("heatmap", folder, tmp_path / "out", "--stimulus", "other", "--level", "good")
    assert done.code == 0, done.err
    assert "5 people" in done.out
    assert "1 person had no look on the picture" in done.err


def test_one_observer_is_refused(eyelid, make_study, tmp_path):
    done = eyelid(
        "heatmap", make_study(people=1), tmp_path / "out", "--stimulus", "other", "--level", "good"
    )
    refused(done, "only one person", "at least 2 people")


def test_a_picture_that_cannot_be_opened_is_refused(eyelid, study, tmp_path):
    broken = tmp_path / "other.png"
    broken.write_bytes(b"no picture")
    done = eyelid("heatmap", study, tmp_path / "out", "--stimulus", broken, "--level", "good")
    refused(done, "other.png", "no picture")
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--image", tmp_path / "missing.png"),
    )
    refused(done, "missing.png")


@pytest.mark.usefixtures("plain_pictures")
def test_a_picture_and_a_screen_of_different_sizes_need_a_placement(
    eyelid, make_study, picture, tmp_path
):
    folder = make_study(screen=(640, 480))
    # People looked at a picture in the middle of the screen.
    data = pl.read_parquet(folder / "data.parquet")
    data.with_columns(pl.col("x") + 160, pl.col("y") + 140).write_parquet(folder / "data.parquet")
    words = ("heatmap", folder, tmp_path / "out", "--stimulus", picture, "--level", "good")
    done = eyelid(*words)
    refused(done, "320 × 200", "640 × 480", "--at 160,140 --scale 1", "--at 0,40 --scale 2")
    refused(eyelid(*words, "--scale", 1.5), "--at 80,90 --scale 1.5")
    done = eyelid(*words, "--at", "160,140")
    assert done.code == 0, done.err
    told = json.loads((tmp_path / "out" / "certificate.json").read_text("utf-8"))
    assert told["map"]["placement"] == {"x_px": 160.0, "y_px": 140.0, "scale": 1.0}


def test_two_pictures_of_different_sizes_do_not_share_a_map(eyelid, study, picture, tmp_path):
    from PIL import Image

    Image.new("RGB", (100, 100)).save(tmp_path / "other.png")
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--level", "good"),
        *("--stimulus", picture, "--stimulus", tmp_path / "other.png"),
    )
    refused(done, "one size", "320 × 200", "100 × 100")


def test_a_person_who_is_listed_twice_is_refused(eyelid, make_study, tmp_path):
    folder = make_study()
    with (folder / "people.csv").open("a") as people:
        people.write("P00,left\n")
    done = eyelid("heatmap", folder, tmp_path / "out", "--stimulus", "other", "--level", "good")
    refused(done, "P00")


def test_a_person_spelt_in_two_ways_is_refused(eyelid, make_study, tmp_path):
    folder = make_study()
    data = pl.read_parquet(folder / "data.parquet")
    data.with_columns(pl.col("person").replace({"P01": "p 00"})).write_parquet(
        folder / "data.parquet"
    )
    people = (folder / "people.csv").read_text().replace("P01", "p 00")
    (folder / "people.csv").write_text(people)
    done = eyelid("heatmap", folder, tmp_path / "out", "--stimulus", "other", "--level", "good")
    refused(done, "differ only in how their names are written")


def test_a_polygon_that_crosses_itself_is_refused(eyelid, study, tmp_path):
    bow = {"name": "bow", "polygon": [[0, 0], [50, 50], [50, 0], [0, 50]]}
    (tmp_path / "areas.json").write_text(json.dumps({"areas": [bow]}))
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--areas", tmp_path / "areas.json"),
    )
    refused(done, "bow", "cross")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), ("--level good", "--epsilon")),
        (("--level", "good", "--epsilon", "1"), ("leave out one",)),
        (("--level", "great"), ("great", "okay")),
        (("--level", "good", "--size", "big"), ("1680x1050", "'big'")),
        (("--level", "good", "--at", "5"), ("X,Y", "'5'")),
        (("--level", "good", "--blur", "1deg"), ("geometry", "1deg")),
        (("--level", "good", "--blur", "wide"), ("--blur", "'wide'")),
        (("--level", "good", "--mechanism", "laplace"), ("eyelid release",)),
        (("--level", "good", "--mechanism", "aoi-tables"), ("--only areas",)),
        (("--level", "good", "--mechanism", "map-gaussian", "--cap", "paper"), ("private",)),
        (("--level", "good", "--grid", "9by6"), ("COLUMNSxROWS",)),
        (("--level", "good", "--every", "2"), ("--for",)),
        (("--level", "good", "--every", "3", "--for", "2"), ("--every",)),
        (("--level", "good", "--every", "3", "--for", "10"), ("--for 9 or --for 12",)),
        (("--level", "good", "--by", "height"), ("height", "side")),
        (("--level", "good", "--between", "a,b"), ("--by",)),
        (("--level", "good", "--only", "areas"), ("--areas FILE",)),
        (("--level", "good", "--only", "maps"), ("maps",)),
        (("--level", "good", "--weight", "seconds"), ("'seconds'", "duration (its seconds)")),
        (("--level", "good", "--set", "tables=dwell"), ("--areas FILE",)),
        (("--level", "good", "--set", "grid=3x3"), ("--grid 3x3",)),
        (("--level", "good", "--set", "every=2"), ("--every 2",)),
        (("--level", "good", "--seed", "-1"), ("seed",)),
        (("--level", "good", "--scale", "0"), ("scale",)),
        (("--level", "good", "--every", "0.0001", "--for", "60"), ("maps", "fewer")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_does_not_fit_is_refused_in_one_line(eyelid, study, tmp_path, words, parts):
    done = eyelid("heatmap", study, tmp_path / "out", "--stimulus", "other", *words)
    refused(done, *parts)
    assert not (tmp_path / "out").exists()


def test_the_unit_is_always_the_person(eyelid, study, tmp_path):
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--set", "unit=sample"),
    )
    assert done.code != 0
    assert "choose one of person" in done.err
    assert "--unit" not in done.err


def test_a_stimulus_that_is_not_there_is_refused_with_some_that_are(eyelid, study, tmp_path):
    done = eyelid("heatmap", study, tmp_path / "out", "--stimulus", "poster", "--level", "good")
    refused(done, "'poster'", "other, page.png")
    done = eyelid("heatmap", study, tmp_path / "out", "--stimulus", "poster.png", "--level", "good")
    refused(done, "no file poster.png")
    done = eyelid("heatmap", study, tmp_path / "out", "--level", "good")
    refused(done, "2 stimuli", "--stimulus")


@pytest.mark.usefixtures("plain_pictures")
def test_the_only_stimulus_is_taken_for_a_picture_of_another_name_and_said(
    eyelid, make_study, picture, tmp_path
):
    folder = make_study(stimuli=("slide",))
    done = eyelid("heatmap", folder, tmp_path / "out", "--stimulus", picture, "--level", "good")
    assert done.code == 0, done.err
    assert "the data's only stimulus is 'slide': taken for page.png" in done.err


def test_features_and_releases_are_refused(eyelid, features_folder, make_study, tmp_path):
    done = eyelid("heatmap", features_folder, tmp_path / "out", "--level", "good", "--size", "9x9")
    refused(done, "study of features", "recordings")
    shared = make_study(name="shared", stimuli=("one",), released=True)
    refused(eyelid("heatmap", shared, tmp_path / "out", "--level", "good"), "released")


@pytest.mark.usefixtures("plain_pictures")
def test_a_seed_is_said_to_void_the_guarantee(eyelid, study, tmp_path):
    done = eyelid(
        *("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good"),
        *("--seed", 1),
    )
    assert done.code == 0
    assert "carries no guarantee" in done.err
    assert "There is no valid privacy guarantee" in done.out


def test_the_output_must_be_new(eyelid, study, tmp_path):
    refused(eyelid("heatmap", study, study, "--stimulus", "other", "--level", "good"), "exists")


def test_release_names_the_command_for_maps(eyelid, study, tmp_path):
    done = eyelid("release", study, tmp_path / "out", "--mechanism", "map-grid", "--epsilon", 1)
    refused(done, "eyelid heatmap")


def test_cost_tells_the_guarantee_the_grid_and_the_sentence(eyelid):
    words = ("cost", "--mechanism", "map-grid", "--people", 40, "--epsilon", 1)
    done = eyelid(*words, "--size", "1680x1050", "--json")
    told = json.loads(done.out)
    assert told["guarantee"]["epsilon"] == 1
    assert told["map"]["grid"] == [9, 6]
    assert told["map"]["clip"] == 0.2
    assert told["map"]["reliability"]["hotspots_wider_than_px"] == 327
    assert told["map"]["reliability"]["times_as_dense"] == 8
    plain = eyelid(*words, "--size", "1680x1050", "--verbose").out
    assert "9 × 6 cells" in plain
    assert "ε = 1, δ = 1e-06" in plain
    assert "If clipping leaves half of people's gaze, hotspots wider than 327 px are" in plain
    # Of a map there are neither features nor recordings.
    assert "Protects each of 40 people: wherever else" in plain
    assert "features" not in plain
    more = json.loads(eyelid(*words, "--size", "1680x1050", "--recordings", 20, "--json").out)
    assert more["shape"] == {"people": 40, "layers": 20}
    assert more["map"]["reliability"]["hotspots_wider_than_px"] is None


def test_cost_takes_people_and_screen_of_a_study(eyelid, study):
    told = json.loads(
        eyelid("cost", study, "--mechanism", "map-laplace", "--epsilon", 1, "--json").out
    )
    assert told["shape"]["people"] == 5
    assert (told["map"]["width_px"], told["map"]["height_px"]) == (WIDTH, HEIGHT)


def test_cost_of_tables_needs_the_number_of_areas(eyelid):
    words = ("cost", "--mechanism", "aoi-tables", "--people", 40, "--epsilon", 1)
    refused(eyelid(*words), "give --areas")
    assert json.loads(eyelid(*words, "--areas", 5, "--json").out)["guarantee"]["epsilon"] == 1


def test_cost_takes_what_heatmap_takes(eyelid, make_study):
    words = ("cost", "--mechanism", "map-grid", "--people", 40, "--size", "1680x1050", "--json")
    good = json.loads(eyelid(*words, "--level", "good").out)
    assert good == json.loads(eyelid(*words, "--epsilon", 1).out)
    timed = json.loads(eyelid(*words, "--level", "good", "--every", 2, "--for", 20).out)
    assert timed == json.loads(eyelid(*words, "--level", "good", "--recordings", 10).out)
    study = make_study(screen=(320, 200, 0.32, 0.2, 0.6))
    words = ("cost", study, "--mechanism", "map-grid", "--level", "good", "--json")
    degree_px = np.tan(np.radians(1)) * 0.6 / 0.32 * 320
    told = json.loads(eyelid(*words, "--blur", "2deg").out)
    assert told["map"]["sigma_px"] == pytest.approx(2 * degree_px)


@pytest.mark.usefixtures("plain_pictures")
def test_cost_and_the_release_need_the_same_people(eyelid, study, tmp_path):
    words = ("--mechanism", "map-grid", "--level", "good", "--json")
    before = json.loads(eyelid("cost", study, *words).out)
    after = json.loads(
        eyelid("heatmap", study, tmp_path / "out", "--stimulus", "other", *words).out
    )
    needed = before["map"]["reliability"]["people_needed"]
    assert needed == after["map"]["reliability"]["people_needed"] > 5


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--mechanism", "map-grid", "--size", "9x9"), "--people"),
        (
            ("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--areas", "3"),
            "no tables",
        ),
        (("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--level", "okay"), "leave"),
        (("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--every", "2"), "--for"),
        (
            ("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--blur", "1deg"),
            "geometry",
        ),
        (("--mechanism", "aoi-tables", "--people", "9", "--areas", "3", "--blur", "9"), "neither"),
        (("--mechanism", "laplace", "--people", "9", "--level", "good"), "--level is for heatmaps"),
        (("--mechanism", "map-grid", "--people", "9"), "--size WxH"),
        (("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--blur", "nan"), "--blur"),
        (("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--blur", "13"), "12 px"),
        (
            ("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--recordings", "-2"),
            "at least 1 picture (--recordings), got -2",
        ),
        (
            ("--mechanism", "map-grid", "--people", "9", "--size", "9x9", "--recordings", "0"),
            "got 0",
        ),
        (("--mechanism", "aoi-tables", "--people", "9", "--areas", "0"), "at least 1, got 0"),
        (("--mechanism", "aoi-tables", "--people", "9", "--areas", "-1"), "at least 1, got -1"),
        (("--mechanism", "map-grid", "--people", "9", "--features", "3"), "features"),
        (("--mechanism", "map-grid", "--people", "1", "--size", "9x9"), "at least 2"),
        (("--mechanism", "laplace", "--people", "9", "--size", "9x9"), "heatmaps"),
    ],
)
def test_cost_refuses_what_says_too_little_or_too_much(eyelid, words, part):
    refused(eyelid("cost", *words, "--epsilon", 1), part)


@pytest.mark.usefixtures("plain_pictures", "two_cores")
def test_two_workers_make_the_same_map_and_quiet_says_nothing(
    eyelid, make_study, tmp_path, monkeypatch
):
    words = ("--stimulus", "other", "--level", "good", "--seed", 3)
    made = {}
    for name, asked in (("one", ()), ("two", ("--engine", "local", "--workers", 2, "--quiet"))):
        study = make_study(name=f"study-{name}")
        done = eyelid("heatmap", study, tmp_path / name, *words, *asked)
        assert done.code == 0, done.err
        with np.load(tmp_path / name / "map.npz") as found:
            made[name] = found["cells"]
        # From now on a person or two are a piece.
        monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 150)
    assert (done.out, done.err) == ("", "")
    np.testing.assert_array_equal(made["one"], made["two"])


def test_an_engine_that_there_is_not_is_refused(eyelid, study, tmp_path):
    words = ("heatmap", study, tmp_path / "out", "--stimulus", "other", "--level", "good")
    refused(eyelid(*words, "--engine", "spark"), "unknown engine 'spark'")
    refused(eyelid(*words, "--workers", 0), "at least 1 worker")
    refused(eyelid(*words, "--set", "engine=dask"), "write --engine dask")
    assert spent(study) == []
