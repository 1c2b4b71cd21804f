"""Under ``python -OO`` there are no docstrings and no asserts, and a release has all its parts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import eyelid
from eyelid.mechanisms import find

PACKAGE = Path(eyelid.__file__).parent

# One process for everything: most of the time goes into imports.
CHILD = """
import contextlib, io, json, sys
from pathlib import Path

assert False, "asserts are not run here"
import eyelid.mechanisms.streams.filter_run as filters
from eyelid.cli.application import _run
from eyelid.errors import EyelidError

filters.compiled = lambda kernel: None  # To compile filters takes longer than to run them here.
done = {}
for name, words in json.loads(Path(sys.argv[1]).read_text("utf-8")):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            code = _run(words)
        except EyelidError as error:
            code, said = error.exit_code, io.StringIO(str(error))
    done[name] = [code, said.getvalue()]
Path(sys.argv[2]).write_text(json.dumps(done), "utf-8")
"""

STUDY = ["--people", "8", "--tasks", "comic,image", "--minutes", "1", "--rate", "60", "--seed", "1"]
RELEASES = {
    "gaussian": ["features", "--epsilon", "4"],
    "ksame": ["features", "--set", "k=4"],
    "ksame-dp": ["features", "--set", "k=4", "--epsilon", "4"],
    "groupmean": ["features", "--epsilon", "4"],
    "seeded": ["features", "--epsilon", "50", "--set", "test=deterministic", "--set", "k=2"],
    "synthetic": ["features", "--epsilon", "50", "--set", "carry=1"],
    "prewindow": ["study", "--epsilon", "4"],
    "lpa-paper": ["features", "--epsilon", "4"],
    "kaleido": ["study", "--epsilon", "4", "--set", "window=30", "--set", "radius=2"],
    "temporal": ["study", "--set", "every=6"],
}
AREAS = [{"name": "corner", "rectangle": [0, 0, 40, 40]}]
MAPS = ["--stimulus", "comic", "--epsilon", "4", "--size", "96x54", "--scale", "20"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a release of each kind, and what each command came to."""
    home = tmp_path_factory.mktemp("optimised")
    (home / "areas.json").write_text(json.dumps({"areas": AREAS}), "utf-8")
    study, features = str(home / "study"), str(home / "features")
    areas = ["--areas", str(home / "areas.json"), "--only", "areas"]
    places = {"study": study, "features": features}
    commands = [
        ("simulate", ["simulate", study, *STUDY]),
        ("features", ["features", study, features]),
        ("mechanisms", ["mechanisms"]),
        *((f"mechanisms {name}", ["mechanisms", name]) for name in ("ksame", "pink", "map-grid")),
        *(
            (name, ["release", places[source], str(home / name), "--mechanism", name, *words])
            for name, (source, *words) in RELEASES.items()
        ),
        ("map-grid", ["heatmap", study, str(home / "map-grid"), *MAPS]),
        ("aoi-tables", ["heatmap", study, str(home / "aoi-tables"), *MAPS, *areas]),
    ]
    (home / "commands.json").write_text(json.dumps(commands), "utf-8")
    child = [sys.executable, "-OO", "-c", CHILD, home / "commands.json", home / "done.json"]
    run = subprocess.run(
        child,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return home


@pytest.fixture(scope="module")
def done(home):
    return json.loads((home / "done.json").read_text("utf-8"))


@pytest.mark.parametrize("name", [*RELEASES, "map-grid", "aoi-tables"])
def test_a_release_without_docstrings_has_its_note_in_the_card(home, done, name):
    code, said = done[name]
    assert code == 0, said
    assert find(name).note.summary in (home / name / "DATACARD.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["ksame", "pink", "map-grid"])
def test_help_without_docstrings_shows_the_whole_note(done, name):
    code, said = done[f"mechanisms {name}"]
    assert code == 0
    # A terminal shows names without their backticks.
    assert str(find(name).note).replace("`", "") in said.replace("`", "")


def test_the_list_without_docstrings_has_summaries(done):
    # In a column of its own, which begins where its heading does.
    title, heading, _, *lines = done["mechanisms"][1].splitlines()
    assert title.startswith("Mechanisms")
    summaries = " ".join(line[heading.index("what it does") :].strip() for line in lines)
    for name in ("ksame", "map-grid"):
        assert find(name).note.summary in summaries
