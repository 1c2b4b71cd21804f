"""Small studies to test on, and the command line as a person runs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Before numpy is imported: workers that share the cores must not each take all of them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from eyelid.cli import main
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import read, write
from eyelid.privacy.noise.randomness import SystemRandomness

# The same examples on every machine, however busy it is.
settings.register_profile("eyelid", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("eyelid")


@pytest.fixture(scope="session", autouse=True)
def _in_this_process():
    """Starting processes takes longer than what tests do; they have tests of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyelid.engine.processes.cores", lambda: 1)
        yield


@pytest.fixture(scope="session")
def same_noise():
    """Noise that is the same in every run and taken for the operating system's.

    A sound release is refuted at times, by chance: not in tests.
    """

    @contextmanager
    def drawn(seed: int) -> Iterator[None]:
        rng = np.random.default_rng(seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                SystemRandomness,
                "words",
                lambda self, count: rng.integers(0, 2**64, count, dtype=np.uint64),
            )
            yield

    return drawn


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


@pytest.fixture
def eyelid(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Run a command as a person would, and see what they see."""

    def run(*words: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["eyelid", *[str(word) for word in words]])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        seen = capsys.readouterr()
        return Finished(int(stopped.value.code or 0), seen.out, seen.err)

    return run


@pytest.fixture
def no_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without its look at the samplers, which takes seconds and has tests of its own."""
    for check in ("check_samplers", "faulty_samplers"):
        monkeypatch.setattr(f"eyelid.audits.verify.{check}", lambda *words: [])


@pytest.fixture
def no_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without planted faults, where something else is asked of it."""
    monkeypatch.setattr("eyelid.audits.verify._faults", lambda kinds: [])


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real recordings; tests that need them are skipped without it."""
    folder = os.environ.get("EYELID_DATA")
    if not folder:
        pytest.skip("needs real recordings: set EYELID_DATA to their folder")
    return Path(folder)


@pytest.fixture(scope="session")
def real_readers(real_data: Path) -> Study:
    """Twenty people who read three documents each: MPIIDPEye."""
    folder = real_data / "MPIIDPEye"
    if not folder.exists():
        pytest.skip("MPIIDPEye is not in EYELID_DATA")
    return read(folder)


@pytest.fixture(scope="session")
def real_windows(real_readers: Study) -> FeatureTable:
    """Their window features, which take seconds."""
    return window_features(real_readers)


FEATURES = (
    Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0),
    Feature("pupil", "mm", "mean pupil diameter", 1.5, 9.0),
)


@pytest.fixture
def make_table() -> Callable[..., FeatureTable]:
    """A table of plausible values; the shape is (people, recordings, rows, features)."""

    def make(people: int = 4, recordings: int = 3, rows: int = 10, seed: int = 5) -> FeatureTable:
        rng = np.random.default_rng(seed)
        values = rng.uniform([2.0, 2.0], [4.0, 5.0], size=(people, recordings, rows, 2))
        return table_from_arrays(values, FEATURES)

    return make


@pytest.fixture
def features_folder(tmp_path: Path, make_table: Callable[..., FeatureTable]) -> Path:
    """A small features study on disk: 4 people, 3 recordings, 10 rows, 2 features."""
    write(make_table().study(), tmp_path / "features")
    return tmp_path / "features"


@pytest.fixture(scope="session")
def simulated():
    """Six simulated people reading three documents."""
    return simulate(people=6, minutes=3.0, rate_hz=60.0, seed=11)


@pytest.fixture(scope="session")
def simulated_table(simulated):
    return window_features(simulated)
