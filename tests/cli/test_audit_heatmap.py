"""`eyelid audit` of a heatmap as a person runs it."""

import json
import shutil

import numpy as np
import pytest

from eyelid.gaze.areas import Area
from eyelid.gaze.simulator import simulate
from eyelid.io import write
from eyelid.releases.budget import budget
from eyelid.releases.kinds.maps.heatmap import heatmap

pytestmark = pytest.mark.usefixtures("plain_pictures", "quick_map_audits")

# A quarter of the screen's px: pictures take long to draw.
SMALL = {"size": (480, 270), "scale": 4.0}
AREA = Area("left", np.array([[0.0, 0.0], [200.0, 0.0], [200.0, 225.0], [0.0, 225.0]]))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Eight simulated people's recordings, and a heatmap of them."""
    home = tmp_path_factory.mktemp("audit")
    write(simulate(people=8, tasks=("comic",), minutes=0.2, seed=3), home / "study")
    heatmap(home / "study", home / "out", level="good", **SMALL)
    return home


def test_a_heatmap_is_told_with_tables_and_a_verdict(eyelid, home):
    done = eyelid("audit", home / "study", home / "out")
    assert done.code == 0, done.err
    for words in (
        "Is any participant exposed",
        "membership inference",
        "better than chance by",
        "recovers the last person with an error of",
        "of what is declared",
        "What is left",
        "not contradicted",
    ):
        assert words in " ".join(done.out.split())
    assert "advantage" not in done.out
    assert "no certificate covers them" in " ".join(done.out.split())


def test_json_is_one_object_and_the_same_as_the_file(eyelid, home):
    done = eyelid("audit", home / "study", home / "out", "--json")
    assert json.loads(done.out) == json.loads((home / "out-audit" / "audit.json").read_text())


def test_a_page_elsewhere_is_written_too(eyelid, home, tmp_path):
    done = eyelid("audit", home / "study", home / "out", "--report", tmp_path / "page.html")
    assert done.code == 0, done.err
    assert "eyelid audit" in (tmp_path / "page.html").read_text()


def test_a_changed_map_has_exit_code_two_and_a_false_certificate_one(eyelid, home, tmp_path):
    heatmap(home / "study", tmp_path / "out", epsilon=5.0)
    file = tmp_path / "out" / "certificate.json"
    told = json.loads(file.read_text())
    told["person_level"]["epsilon"] = told["guarantee"]["epsilon"] = 0.1
    file.write_text(json.dumps(told))
    done = eyelid("audit", home / "study", tmp_path / "out")
    assert done.code == 1
    assert "The certificate is refuted" in done.out
    with np.load(tmp_path / "out" / "map.npz") as found:
        changed = dict(found)
    changed["cells"] = changed["cells"] + 1.0
    np.savez_compressed(tmp_path / "out" / "map.npz", **changed)
    done = eyelid("audit", home / "study", tmp_path / "out")
    assert done.code == 2
    assert "hash differs" in done.err


def test_attackers_of_tables_are_refused(eyelid, home):
    done = eyelid("audit", home / "study", home / "out", "--attackers", "means")
    assert done.code == 2
    assert "leave out --attackers" in done.err


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "OUT"],
        ["audit", "OUT", "STUDY"],
        ["inspect", "OUT"],
        ["inspect", "OUT/map.npz"],
        ["heatmap", "OUT", "NEW", "--level", "good"],
        ["budget", "OUT"],
        ["convert", "OUT", "NEW"],
    ],
    ids=" ".join,
)
def test_a_released_heatmap_is_called_that_wherever_gaze_is_wanted(command, eyelid, home, tmp_path):
    places = {"OUT": str(home / "out"), "STUDY": str(home / "study"), "NEW": str(tmp_path / "new")}
    words = ["/".join(places.get(part, part) for part in word.split("/")) for word in command]
    done = eyelid(*words)
    assert done.code == 2
    assert "is a heatmap by its certificate" in done.err
    assert "eyelid audit ORIGINAL" in done.err


def test_a_folder_of_recordings_with_a_heatmap_in_it_is_told_so(eyelid, home, tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "ann.csv").write_text("time_ms,x,y\n0,1,2\n")
    shutil.copytree(home / "out", folder / "out")
    done = eyelid("inspect", folder, "--map", "file={person},units=px")
    assert done.code == 2
    assert "a released heatmap: move it elsewhere" in done.err


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({}, "heatmap of comic, out"),
        ({"by": "gender"}, "heatmap of comic by gender, out"),
        ({"every_s": 2.0, "for_s": 6.0}, "heatmap of comic over time, out"),
        ({"areas": [AREA]}, "heatmap and tables of areas of comic, out"),
        ({"areas": [AREA], "only_areas": True}, "tables of areas of comic, out"),
    ],
    ids=lambda how: " ".join(how) if isinstance(how, dict) else "",
)
def test_the_ledger_remembers_kind_and_stimulus(how, told, tmp_path):
    write(simulate(people=8, tasks=("comic",), minutes=0.2, seed=3), tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", level="good", **SMALL, **how)
    (debit,) = budget(tmp_path / "study").debits
    assert debit.what == told
