"""`eyelid audit` of a heatmap as a person runs it."""

import json

import numpy as np
import pytest

from eyelid.gaze.simulator import simulate
from eyelid.io import write
from eyelid.releases.maps.heatmap import private_heatmap


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Eight simulated people's recordings, and a heatmap of them."""
    home = tmp_path_factory.mktemp("audit")
    write(simulate(people=8, tasks=("comic",), minutes=0.2, seed=3), home / "study")
    private_heatmap(home / "study", home / "out", level="good")
    return home


def test_a_heatmap_is_told_with_tables_and_a_verdict(eyelid, home):
    done = eyelid("audit", home / "study", home / "out")
    assert done.code == 0, done.err
    for words in ("Is anybody exposed", "subtract all others", "What is left", "Not refuted"):
        assert words in done.out
    assert "no certificate covers them" in " ".join(done.out.split())


def test_json_is_one_object_and_the_same_as_the_file(eyelid, home):
    done = eyelid("audit", home / "study", home / "out", "--json")
    assert json.loads(done.out) == json.loads((home / "out" / "audit.json").read_text())


def test_a_page_elsewhere_is_written_too(eyelid, home, tmp_path):
    done = eyelid("audit", home / "study", home / "out", "--report", tmp_path / "page.html")
    assert done.code == 0, done.err
    assert "eyelid audit" in (tmp_path / "page.html").read_text()


def test_a_changed_map_has_exit_code_two_and_a_false_certificate_one(eyelid, home, tmp_path):
    private_heatmap(home / "study", tmp_path / "out", epsilon=5.0)
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
