"""--map on a study folder says what study.json lacks, and is never ignored."""

import json
import re

import pytest

from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen
from eyelid.io import read, write
from eyelid.io.column_map import layout_from_dict, layout_from_pairs, understood


def test_pairs_name_columns_and_settings():
    said = layout_from_pairs(["person=Who,x=X,y=Y,time=T", "time_unit=s,units=px,rate_hz=60"])
    assert dict(said.columns) == {"person": "Who", "x": "X", "y": "Y", "time": "T"}
    assert (said.time_unit, said.units, said.rate_hz) == ("s", "px", 60.0)


def test_a_screen_has_sizes_and_a_distance():
    said = layout_from_pairs(["screen=1920x1080,screen_m=0.5x0.3,distance_m=0.6"])
    assert said.screen == Screen(1920, 1080, 0.5, 0.3, 0.6)


def test_a_file_says_the_same(tmp_path):
    path = tmp_path / "map.toml"
    path.write_text(
        'units = "px"\nheader = false\npeople = "who.csv"\n'
        "[columns]\nx = 1\ny = 2\n[screen]\nwidth_px = 800\nheight_px = 600\n"
    )
    said = layout_from_pairs([str(path), "rate_hz=50"])
    assert dict(said.columns) == {"x": "1", "y": "2"}
    assert said.header is False
    assert said.people == tmp_path / "who.csv"
    assert said.screen == Screen(800, 600)
    assert said.rate_hz == 50.0


def test_python_may_give_a_dictionary_or_text():
    assert understood({"x": "X"}).columns == understood("x=X").columns


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("colour=red", "unknown column or setting 'colour'"),
        ("units=metres", "unknown units 'metres'"),
        ("time_unit=h", "unknown time_unit 'h'"),
        ("rate_hz=fast", "rate_hz must be a number, got 'fast'"),
        ("rate_hz=0", "rate_hz must be positive, got 0"),
        ("rate_hz=-5", "rate_hz must be positive and finite, got -5"),
        ("screen=1920", "screen must be WIDTHxHEIGHT"),
        ("distance_m=0", "distance_m must be positive"),
        ("distance_m=65", "distance_m is in metres, got 65"),
        ("x=a,x=b", "--map says x twice"),
        ("header=perhaps", "header must be yes or no, got 'perhaps'"),
        ("x=", "--map takes KEY=VALUE"),
        ("=x", "--map takes KEY=VALUE"),
        ("no/such/file.toml", "no file no/such/file.toml"),
    ],
)
def test_what_cannot_be_understood_is_named(said, complaint):
    with pytest.raises(InputError, match=complaint):
        layout_from_pairs([said])


@pytest.mark.parametrize(
    "content", ["units = ", "[screen]\nwidth = 1", "screen = 5", "\x00", "[columns]\nx = [1]"]
)
def test_a_bad_file_is_named(tmp_path, content):
    path = tmp_path / "map.toml"
    path.write_text(content)
    if content.startswith("[columns]"):
        assert layout_from_pairs([str(path)]).columns["x"] == "[1]"
        return
    with pytest.raises(InputError, match=r"map\.toml"):
        layout_from_pairs([str(path)])


def test_an_unfit_value_from_python_is_named():
    with pytest.raises(InputError, match="skip_lines must be a number"):
        layout_from_dict({"skip_lines": "some"})


@pytest.fixture
def downloaded(tmp_path):
    """A folder of recordings with a map in it, beside a file that is nobody else's business."""
    folder = tmp_path / "downloaded"
    (folder / "lists").mkdir(parents=True)
    (folder / "P1.csv").write_text("person,time_ms,x,y\nP1,0,1,2\nP1,1,1,2\n")
    secret = "person,file,token\nP1,P1.csv,hunter2\n"
    (tmp_path / "secret.csv").write_text(secret)
    (folder / "lists" / "people.csv").write_text(secret.replace("hunter2", "public"))
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "linked").symlink_to(tmp_path)
    return folder


PLAIN = 'units = "px"\nglob = "P1.csv"\n'
OUTSIDE = ["../secret.csv", "{home}/secret.csv", "link.csv", "linked/secret.csv", "lists/../../x"]


@pytest.mark.parametrize("what", ["people", "names"])
@pytest.mark.parametrize("where", OUTSIDE)
def test_a_map_in_a_folder_points_at_no_file_outside_of_it(downloaded, what, where, eyelid):
    file = where.format(home=downloaded.parent)
    (downloaded / "map.toml").write_text(f'{PLAIN}{what} = "{file}"\n')
    with pytest.raises(InputError, match="which is not in that folder"):
        read(downloaded)
    for command in (["inspect"], ["lint"], ["convert", "OUT"]):
        words = [str(downloaded.parent / word) if word == "OUT" else word for word in command]
        done = eyelid(words[0], downloaded, *words[1:])
        assert "hunter2" not in done.out + done.err


def test_a_map_in_a_folder_points_at_files_in_it(downloaded):
    (downloaded / "map.toml").write_text(f'{PLAIN}people = "lists/people.csv"\n')
    assert read(downloaded).people["token"].to_list() == ["public"]


def test_a_user_may_point_at_any_file(downloaded):
    secret = downloaded.parent / "secret.csv"
    (downloaded / "map.toml").write_text(f'{PLAIN}people = "{secret}"\n')
    for said in (f"people={secret}", downloaded / "map.toml", {"people": secret}):
        assert read(downloaded, said).people["token"].to_list() == ["hunter2"]


def test_a_map_with_more_lines_to_skip_than_there_are_ends_at_once(downloaded):
    (downloaded / "map.toml").write_text(f"{PLAIN}skip_lines = 1e300\n")
    with pytest.raises(InputError, match=r"P1\.csv"):
        read(downloaded)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_names_with_commas_stand_in_quotes(quote):
    said = layout_from_pairs([f"x={quote}Gaze X, px{quote},y=Ann's,units=px"])
    assert said.columns == {"x": "Gaze X, px", "y": "Ann's"}
    assert said.units == "px"


SAID = "units=deg,xy_origin=centre,pupil_unit=mm,rate_hz=60,screen=1920x1080,distance_m=0.6"


@pytest.fixture(params=[False, True], ids=["whole", "in pieces"])
def silent(request, tmp_path, monkeypatch):
    """A study folder that says nothing of units, screen, origin and rate."""
    study = simulate(people=3, tasks=("comic",), minutes=0.6, rate_hz=60.0, seed=2)
    facts = dict.fromkeys(("units", "screen", "xy_origin", "pupil_unit", "rate_hz"))
    write(study.derive(**facts, events=None), tmp_path / "sd")
    if request.param:
        monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1)
    return tmp_path / "sd"


def facts_of(study):
    return study.units, study.xy_origin, study.pupil_unit, study.rate_hz, study.screen


WHOLE = ("deg", "centre", "mm", 60.0, Screen(1920, 1080, distance_m=0.6))


def test_map_on_a_study_folder_is_not_silently_ignored_by_features(eyelid, silent, tmp_path):
    assert eyelid("features", silent, tmp_path / "none").code == 2
    done = eyelid("features", silent, tmp_path / "fd", "--map", SAID)
    assert done.code == 0, done.err
    assert read(tmp_path / "fd").kind == "features"


@pytest.mark.parametrize("command", ["convert", "events"])
def test_map_on_a_study_folder_is_kept_by_what_is_written(eyelid, silent, tmp_path, command):
    done = eyelid(command, silent, tmp_path / "sdd", "--map", SAID)
    assert done.code == 0, done.err
    assert facts_of(read(tmp_path / "sdd")) == WHOLE
    assert facts_of(read(silent)) == (None,) * 5


def test_map_on_a_study_folder_reaches_inspect_and_release(eyelid, silent, tmp_path):
    told = json.loads(eyelid("inspect", silent, "--map", "units=deg", "--json").out)
    assert told["units"] == "deg"
    said = ["--mechanism", "laplace", "--epsilon", "1"]
    assert eyelid("release", silent, tmp_path / "none", *said).code == 2
    assert eyelid("release", silent, tmp_path / "out", *said, "--map", SAID).code == 0


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("units=px", "says units=deg, and --map says px"),
        ("screen=800x600", "says screen=1920, and --map says 800"),
        ("distance_m=0.7", "says distance_m=0.6, and --map says 0.7"),
        ("x=gx,y=gy", "is a study folder, whose columns and people are known: .* and not x, y"),
        ("file={person}", "and not file"),
        ("kind=fixations", "says kind=samples, and --map says fixations"),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "convert", "features"])
def test_a_map_that_contradicts_a_study_folder_is_refused_in_one_line(
    eyelid, tmp_path, said, what, command
):
    units, origin, pupil, rate, screen = WHOLE
    facts = {"units": units, "xy_origin": origin, "pupil_unit": pupil, "screen": screen}
    study = simulate(people=2, tasks=("comic",), minutes=0.2, rate_hz=rate, seed=2)
    write(study.derive(**facts), tmp_path / "sd")
    out = [] if command == "inspect" else [tmp_path / "out"]
    done = eyelid(command, tmp_path / "sd", *out, "--map", said)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert re.search(what, done.err)
    assert not (tmp_path / "out").exists()
    # What it says itself may be said again.
    assert eyelid("inspect", tmp_path / "sd", "--map", "units=deg,kind=samples").code == 0


def test_a_map_of_features_is_refused_in_one_line(eyelid, silent, tmp_path):
    assert eyelid("features", silent, tmp_path / "fd", "--map", SAID).code == 0
    done = eyelid("inspect", tmp_path / "fd", "--map", "units=px")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is a study of features, to which --map has nothing to add" in done.err
