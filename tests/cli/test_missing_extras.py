"""A package that is not installed: one line says how to get it, at every door that needs it."""

import os
import subprocess
import sys

import pytest
import typer

from eyelid.cli.application import app

COMMANDS = typer.main.get_command(app).commands
ELSEWHERE = "memory://lab/study"
# What else a command cannot do without.
MORE = {
    "release": ["--mechanism", "laplace", "--epsilon", "1"],
    "heatmap": ["--stimulus", "page", "--epsilon", "1"],
    "cost": ["--mechanism", "laplace", "--epsilon", "1"],
    "stream": ["--epsilon", "1", "--window", "60", "--radius", "3", "--seconds", "1"],
}
GAZE = ["--units", "px", "--scene", "0,0,1920,1080"]
SIMULATED = ["--source", "simulate"]


def places(name):
    """The paths of studies and outputs that a command takes, as it names them."""
    known = ("source", "original", "released", "out")
    return [item for item in COMMANDS[name].params if item.name in known]


def words(name, features_folder, tmp_path, elsewhere=None):
    """A command as it would be typed, with one of its paths elsewhere."""
    said = [name]
    for item in places(name):
        here = tmp_path / "new" if item.name == "out" else features_folder
        value = ELSEWHERE if item.name == elsewhere else here
        if item.param_type_name == "argument":
            said.append(value)
        elif item.name == "source":
            said += [item.opts[0], f"file:{value}"]
        elif item.name == elsewhere:
            said += [item.opts[0], value]
    return [*said, *(["bozkir2021"] if name == "reproduce" else []), *MORE.get(name, [])]


@pytest.fixture
def lacks(eyelid, tmp_path, features_folder, monkeypatch):
    """Run a command without a package; its one line names the extra, and nothing is written."""

    def check(package, extra, *said):
        monkeypatch.setitem(sys.modules, package, None)
        # Another test may have loaded it, and parts of it are found on their own.
        for loaded in [name for name in sys.modules if name.startswith(f"{package}.")]:
            monkeypatch.delitem(sys.modules, loaded)
        before = sorted(path.name for path in tmp_path.iterdir())
        done = eyelid(*said)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("eyelid: ")
        assert done.err.count("\n") == 1
        assert done.err.endswith(f"pip install 'eyelid[{extra}]'\n")
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    return check


@pytest.mark.parametrize(
    "name", [n for n, c in COMMANDS.items() if any(p.name == "engine" for p in c.params)]
)
@pytest.mark.parametrize(
    ("package", "engine"),
    [
        ("distributed", "dask"),
        ("cryptography", "dask"),
        ("distributed", "dask:tls://127.0.0.1:8786"),
        ("distributed", "dask-unencrypted:tcp://127.0.0.1:8786"),
    ],
)
def test_an_engine_without_its_package_is_one_line(
    lacks, features_folder, tmp_path, name, package, engine
):
    said = words(name, features_folder, tmp_path)
    lacks(package, "dask", *said, "--engine", engine)


@pytest.mark.parametrize(
    ("name", "place"), [(name, item.name) for name in COMMANDS for item in places(name)]
)
def test_a_place_elsewhere_without_fsspec_is_one_line(
    lacks, features_folder, tmp_path, name, place
):
    lacks("fsspec", "remote", *words(name, features_folder, tmp_path, elsewhere=place))


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("websockets", ["--source", "ws://127.0.0.1:1,rate=120", *GAZE]),
        ("websockets", ["--source", "ws-serve:127.0.0.1:0,rate=120", *GAZE]),
        ("websockets", [*SIMULATED, "--sink", "ws://127.0.0.1:1"]),
        ("websockets", [*SIMULATED, "--sink", "ws-serve:127.0.0.1:0"]),
        ("pylsl", ["--source", "lsl:tracker,rate=120", *GAZE]),
        ("pylsl", [*SIMULATED, "--sink", "lsl:private"]),
    ],
)
def test_a_transport_without_its_package_is_one_line(lacks, package, said):
    lacks(package, "stream", "stream", *said, *MORE["stream"])


BLOCKED = """
import sys

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {extras}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Gone())
from eyelid.cli import main
main()
"""
EXTRAS = {"cryptography", "distributed", "dask", "websockets", "pylsl", "numba", "fsspec", "psutil"}


@pytest.mark.parametrize(
    "said",
    [
        ["--help"],
        ["stream", *SIMULATED, "--speed", "full", *MORE["stream"][:-1], "0.2", "--seed", "1"],
    ],
    ids=["help", "stream"],
)
def test_what_needs_no_extra_works_without_any(tmp_path, said):
    code = BLOCKED.format(extras=EXTRAS)
    command = [sys.executable, "-c", code, *said]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
