"""Pictures are drawn in eyelid's own way, whatever lies in the current folder."""

import os
import subprocess
import sys

import matplotlib
import pytest

from eyelid.gaze.simulator import simulate
from eyelid.io.study_folder import write
from eyelid.plotting import styled

# A complaint about its name would move the cursor; the rest would run LaTeX or ask for a huge page.
HOSTILE = "bogus\x1b[2J.key: 1\ntext.usetex: True\nfont.size: 1e9\nsavefig.bbox: tight\n"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    home = tmp_path_factory.mktemp("plotting")
    write(simulate(people=1, minutes=0.1, seed=1), home / "study")
    return home / "study"


def drawn_in(folder, study, out):
    words = ["inspect", str(study), "--pictures", str(out)]
    code = f"import sys; from eyelid.cli import main; sys.argv[1:] = {words!r}; main()"
    command = [sys.executable, "-P", "-c", code]
    # Long enough for any machine: it only ends what hangs.
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_a_matplotlibrc_of_the_current_folder_is_neither_obeyed_nor_complained_about(
    study, tmp_path, eyelid
):
    assert eyelid("inspect", study, "--pictures", tmp_path / "before").code == 0
    here = tmp_path / "here"
    here.mkdir()
    (here / "matplotlibrc").write_text(HOSTILE)
    done = drawn_in(here, study, tmp_path / "pictures")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    for before in (tmp_path / "before").iterdir():
        assert (tmp_path / "pictures" / before.name).read_bytes() == before.read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_matplotlibrc_that_is_a_pipe_is_not_waited_for(study, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    os.mkfifo(here / "matplotlibrc")
    done = drawn_in(here, study, tmp_path / "pictures")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_matplotlibrc_said_before_eyelid_came_does_not_reach_its_pictures():
    with matplotlib.rc_context({"font.size": 30, "text.usetex": True}):
        with styled({"axes.edgecolor": "red"}):
            assert matplotlib.rcParams["font.size"] == 10
            assert not matplotlib.rcParams["text.usetex"]
            assert matplotlib.rcParams["axes.edgecolor"] == "red"
        assert matplotlib.rcParams["font.size"] == 30
