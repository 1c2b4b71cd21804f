"""Python processes that eyelid starts import nothing from the current folder."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import polars as pl
import pytest

from eyelid.engine import children
from eyelid.engine.children import python, safe_children

PACKAGE = Path(__file__).parents[2] / "src"

# What the installed command is: a file in a folder of its own, which Python puts on its path.
COMMAND = """
from eyelid.cli import main
if __name__ == "__main__":
    main()
"""
# Each engine starts all that it ever starts: workers, nannies, trackers of resources.
WORK = """
import sys
from eyelid.engine.engines import spread, using
if __name__ == "__main__":
    with using(sys.argv[1], workers=2):
        print(*spread(abs, [-1, -2, -3], "measuring"))
"""
TRAP = """
import os
with open(os.environ["EYELID_TRAP"], "a") as file:
    print(__name__, file=file)
raise SystemExit(99)
"""


@pytest.fixture
def trapped(tmp_path):
    """A folder with code of another person under every name that anything could import."""
    folder = tmp_path / "downloaded"
    folder.mkdir()
    names = {*sys.stdlib_module_names, *packages_distributions(), "eyelid", "joblib", "polars"}
    for name in names:
        (folder / f"{name}.py").write_text(TRAP)
    return folder


def sprung(folder, words, code=0):
    """The modules of the folder that ran while a script did its work in it."""
    ran = folder.parent / "ran"
    ran.touch()
    environment = os.environ | {"EYELID_TRAP": str(ran), "PYTHONPATH": str(PACKAGE)}
    environment.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ran.read_text()
    assert done.returncode == code, done.stderr
    return done.stdout


def script(tmp_path, text):
    home = tmp_path / "bin"
    home.mkdir()
    (home / "eyelid-command").write_text(text)
    return [sys.executable, home / "eyelid-command"]


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_module_in_the_current_folder_runs_in_no_worker(engine, trapped, tmp_path):
    assert sprung(trapped, [*script(tmp_path, WORK), engine]) == "1 2 3\n"


def test_a_polars_in_the_current_folder_does_not_run_when_a_table_is_tried(trapped, tmp_path):
    rows = pl.DataFrame({"person": ["P1", "P1"], "time_ms": [0.0, 1.0], "x": [1.0, 2.0]})
    rows.with_columns(y=pl.col("x")).write_parquet(trapped / "rows.parquet")
    words = [*script(tmp_path, COMMAND), "lint", "rows.parquet", "--map", "units=px"]
    sprung(trapped, words, 1)


def test_a_polars_in_the_current_folder_does_not_run_in_python_m_eyelid(trapped):
    # What Python itself imports on its way to eyelid, nobody can keep from it.
    for trap in trapped.iterdir():
        if trap.stem in {*sys.stdlib_module_names, "eyelid"}:
            trap.unlink()
    assert sprung(trapped, [sys.executable, "-m", "eyelid", "--version"]).startswith("eyelid ")
    sprung(trapped, [sys.executable, "-m", "eyelid", "lint", "nowhere"], 2)


def test_eyelid_runs_from_the_folder_that_it_is_in():
    words = [sys.executable, "-m", "eyelid", "--version"]
    done = subprocess.run(words, cwd=PACKAGE, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("eyelid ")


def test_a_folder_on_the_path_of_the_user_stays_there(tmp_path):
    (tmp_path / "mine.py").write_text("print('mine')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        python("-c", "import mine"), env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "mine\n"


def test_the_environment_is_as_before_when_the_last_block_ends(monkeypatch):
    # A cluster that other tests share may be inside of one.
    monkeypatch.setattr(children, "_blocks", 0)
    for before in (None, "", "1"):
        if before is None:
            monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        else:
            monkeypatch.setenv("PYTHONSAFEPATH", before)
        with safe_children():
            with safe_children():
                pass
            assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ.get("PYTHONSAFEPATH") == before
