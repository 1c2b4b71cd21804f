"""Small studies to test on, and the command line as a person runs it."""

from __future__ import annotations

import ast
import gc
import io
import os
import pickle
import re
import shutil
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

# Before numpy is imported: workers that share the cores must not each take all of them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl
import pytest
import typer
from hypothesis import HealthCheck, settings

from eyelid.attacks.averaging import averaging
from eyelid.attacks.classifiers import RandomForest
from eyelid.attacks.groups import audit_groups
from eyelid.attacks.maps import map_membership
from eyelid.attacks.utility import utility
from eyelid.cli import main
from eyelid.engine import dask_cluster
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import parquet, read, write
from eyelid.privacy.noise import SystemRandomness

# The same examples on every machine, however busy it is.
settings.register_profile(
    "eyelid",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("eyelid")


# What takes seconds to make, and cannot be handed from one worker to another.
_MADE_FOR_ALL = re.compile(r"^def \w+\([^)]*\b(dask|trees)\b", re.MULTILINE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Modules go to one worker as a whole; all that share a cluster or syntax trees, together."""
    from xdist.scheduler import LoadScopeScheduling

    @cache
    def shares(module: str) -> str:
        found = _MADE_FOR_ALL.search((config.rootpath / module).read_text("utf-8"))
        return module if found is None else found[1]

    class ByModule(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return shares(nodeid.split("::")[0])

    return ByModule(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: they need not be looked through for waste every time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _in_this_process():
    """Processes and threads of one's own take longer than what tests do; they have their tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyelid.engine.cores.cores", lambda: 1)
        # The environment above says it already; to look for libraries takes milliseconds a time.
        patch.setattr("threadpoolctl.threadpool_limits", lambda count: nullcontext())
        patch.setattr("eyelid.io.parquet._reason", _tried_here)
        # An attacker's forest of sixty trees takes longer than all other attackers.
        patch.setattr("eyelid.attacks.attackers.forest.RandomForest", _small_forest)
        yield


def _small_forest(trees: int, seed: int, **settings: object) -> RandomForest:
    return RandomForest(min(trees, 15), seed, **settings)


_tried_elsewhere = parquet._reason


def _tried_here(path: Path, size: int, changed_ns: int) -> str:
    """Why a Parquet file cannot be read, found out where it could end the process."""
    try:
        pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return "it is no whole Parquet file, or too large for the memory; it may be damaged"
    return ""


@pytest.fixture
def tried_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of their own for Parquet files of others, where these could end this one."""
    monkeypatch.setattr("eyelid.io.parquet._reason", _tried_elsewhere)


# What a cluster asks of itself many times a second, though nobody looks: a core's tenth.
_CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "10s",
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.tick.interval": "1s",
}


@pytest.fixture(scope="session")
def dask():
    """A real Dask cluster of two workers, for all tests: ``with using(dask): …``."""
    import dask

    with dask.config.set(_CALM), dask_cluster.dask_engine(workers=2) as engine:
        yield engine


@pytest.fixture(scope="session")
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every module, by its dotted name without the package's."""
    from tools import house

    return house.modules()


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads side by side, or two processes beside this one, where items are given to any."""
    monkeypatch.setattr("eyelid.engine.cores.cores", lambda: 2)


@pytest.fixture(scope="session", autouse=True)
def _made_once():
    """Commands, which a process of its own makes of the same functions every time.

    And nobody cuts the power: files need not have reached the disk before a test goes on.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.main.get_command", cache(typer.main.get_command))
        patch.setattr("os.fsync", lambda file: None)
        patch.setattr("sqlite3.connect", partial(sqlite3.connect, factory=_Unsynced))
        yield


class _Unsynced(sqlite3.Connection):
    """A database that leaves it to the operating system when to write to the disk."""

    def __init__(self, *words: object, **options: object) -> None:
        super().__init__(*words, **options)
        super().execute("PRAGMA synchronous = OFF")

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        asked = statement.startswith("PRAGMA synchronous")
        return super().execute("PRAGMA synchronous = OFF" if asked else statement, *values)


class _Noise:
    """What stands for the operating system: the same in every run, of its own for every test.

    A sound release is refuted at times, by chance: not in tests.
    """

    def __init__(self) -> None:
        self.rng = cache(partial(np.random.default_rng, 0))

    def urandom(self, count: int) -> bytes:
        return self.rng().bytes(count)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        # Most tests and fixtures draw nothing.
        before, self.rng = self.rng, cache(lambda: np.random.default_rng(zlib.crc32(name.encode())))
        try:
            yield
        finally:
            self.rng = before


_noise = _Noise()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    with _noise.of(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest):
    with _noise.of(f"{fixturedef.baseid} {fixturedef.argname} {request.param_index}"):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def _noise_of_tests():
    with pytest.MonkeyPatch.context() as patch:
        # The package has a function of the module's name.
        home = sys.modules[SystemRandomness.__module__]
        patch.setattr(home, "os", SimpleNamespace(urandom=_noise.urandom))
        yield


@pytest.fixture(scope="session")
def same_noise():
    """Noise of a seed of one's choice, taken for the operating system's, as long as a block lasts.

    Without it every test has noise of its own name: for those that want another, or the same twice.
    """
    return lambda seed: _noise.of(f"seed {seed}")


PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def plain_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are put together but not rendered, where a test asks for something else.

    Rendering takes longer than most audits; pictures have tests of their own. What a page must not
    show is asked of pages that were rendered. Pictures of maps are not even put together.
    """
    _unrendered(monkeypatch)


def _unrendered(patch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    draws = "heatmap", "overlay", "reliable", "layers", "difference"
    places = [f"reporting.maps.pictures.draw_{one}" for one in draws]
    for place in (*places, "releases.kinds.maps.presentation.draw_tables"):
        patch.setattr(f"eyelid.{place}", lambda *words, **more: Figure())

    def blank(figure, file, **options):
        if isinstance(file, io.TextIOBase):
            file.write('<svg width="1" height="1"></svg>')
        elif isinstance(file, io.BytesIO):
            file.write(PNG)
        else:
            Path(file).write_bytes(PNG)

    patch.setattr("matplotlib.figure.Figure.savefig", blank)


def _quick(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("eyelid.releases.audits.records.utility", partial(utility, models=["knn"]))
    patch.setattr("eyelid.releases.audits.attack.TableAttack.tried", lambda attack, target: None)
    patch.setattr("eyelid.releases.audits.records.averaging", partial(averaging, counts=(1, 4)))
    patch.setattr("eyelid.releases.audits.groups.audit_groups", partial(audit_groups, partitions=3))
    patch.setattr("eyelid.attacks.means._MOST_TRIALS", 200)
    patch.setattr("eyelid.releases.audits.statistics._RELEASES", 10)
    _with_few_kernels(patch)


def _with_few_kernels(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("eyelid.attacks.samples.kernels._DILATIONS", 2)
    patch.setattr("eyelid.attacks.samples.kernels._THRESHOLDS", 1)
    patch.setattr("eyelid.attacks.samples.offset._ROUNDS", 2)


@pytest.fixture
def few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attackers on samples that see less, for all questions but how much they see."""
    _with_few_kernels(monkeypatch)


@pytest.fixture
def quick_audits(plain_pictures: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits with one model of what data are good for and no canaries, for all other questions.

    Models, canaries, pictures and what is tried many times have tests of their own; each takes
    longer than the attacks.
    """
    _quick(monkeypatch)


@pytest.fixture
def no_pictures(plain_pictures: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are not even put together, where data are not odd enough to be hard to draw."""
    _undrawn(monkeypatch)


def _undrawn(patch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    patch.setattr("eyelid.reporting.drawing.figure", lambda *words, **more: Figure())


@pytest.fixture(scope="session")
def quick_block():
    """Audits as quick as by `quick_audits` and `no_pictures`, for those that a module shares."""

    @contextmanager
    def block(drawn: bool = False) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            _quick(patch)
            if not drawn:
                _undrawn(patch)
                _unrendered(patch)
            yield

    return block


@pytest.fixture
def quick_map_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer trials of who is in a map; with all of them they have tests of their own."""
    quick = partial(map_membership, trials=200)
    monkeypatch.setattr("eyelid.attacks.maps.map_membership", quick)


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
def copies_count() -> Iterator[None]:
    """Copies of a ledger count for themselves, so that the same release can be made of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyelid.privacy.ledger_file.check_no_copy", lambda *words: None)
        yield


@pytest.fixture
def no_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without its look at the samplers, which takes seconds and has tests of its own."""
    for check in ("check_samplers", "faulty_samplers"):
        monkeypatch.setattr(f"eyelid.verification.verify.{check}", lambda *words: [])


@pytest.fixture
def no_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without planted faults, where something else is asked of it."""
    monkeypatch.setattr("eyelid.verification.verify._mutants", lambda kinds: [])


@pytest.fixture
def no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without the folders of neighbouring studies, where something else is asked of it."""
    from eyelid.releases.consistency import verification

    nothing = verification.FolderVerification((), ())
    monkeypatch.setattr(verification, "verify_folders", lambda names: nothing)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real recordings; tests that need them are skipped without it."""
    folder = os.environ.get("EYELID_DATA")
    if not folder:
        pytest.skip("needs real recordings: set EYELID_DATA to their folder")
    return Path(folder)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str):
    """What takes seconds to make, by its name: the first worker makes it for all of them."""
    home = tmp_path_factory.getbasetemp()
    home = home if worker_id == "master" else home.parent

    def made(name: str, make: Callable[[], object]) -> object:
        file = home / f"{name}.pickle"
        if file.exists():
            return pickle.loads(file.read_bytes())
        found = make()
        # Whole or not there: two workers may make it at the same time.
        part = file.with_name(f"{name}-{worker_id}")
        part.write_bytes(pickle.dumps(found))
        part.replace(file)
        return found

    return made


@pytest.fixture(scope="session")
def real_readers(real_data: Path, made_once) -> Study:
    """Twenty people who read three documents each: MPIIDPEye."""
    folder = real_data / "MPIIDPEye"
    if not folder.exists():
        pytest.skip("MPIIDPEye is not in EYELID_DATA")
    return made_once("real-readers", partial(read, folder))


@pytest.fixture(scope="session")
def real_windows(real_readers: Study, made_once) -> FeatureTable:
    """Their window features, which take seconds."""
    return made_once("real-windows", partial(window_features, real_readers))


FEATURES = (
    Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0),
    Feature("pupil", "mm", "mean pupil diameter", 1.5, 9.0),
)


def _table(people: int = 4, recordings: int = 3, rows: int = 10, seed: int = 5) -> FeatureTable:
    rng = np.random.default_rng(seed)
    values = rng.uniform([2.0, 2.0], [4.0, 5.0], size=(people, recordings, rows, 2))
    return table_from_arrays(values, FEATURES)


@pytest.fixture
def make_table() -> Callable[..., FeatureTable]:
    """A table of plausible values; the shape is (people, recordings, rows, features)."""
    return _table


@pytest.fixture(scope="session")
def _features_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made-once") / "features"
    write(_table().study(), folder)
    # Where no ledger is left, that of a copy was moved.
    folder.with_suffix(".ledger").rename(folder.with_suffix(".moved"))
    return folder


@pytest.fixture
def features_folder(tmp_path: Path, _features_folder: Path) -> Path:
    """A small features study on disk: 4 people, 3 recordings, 10 rows, 2 features."""
    folder = tmp_path / "features"
    shutil.copytree(_features_folder, folder)
    shutil.copy2(_features_folder.with_suffix(".moved"), folder.with_suffix(".ledger"))
    return folder


@pytest.fixture(scope="session")
def simulated(made_once) -> Study:
    """Six simulated people reading three documents."""
    return made_once("simulated", partial(simulate, people=6, minutes=3.0, rate_hz=60.0, seed=11))


@pytest.fixture(scope="session")
def simulated_table(simulated: Study, made_once) -> FeatureTable:
    """Their window features."""
    return made_once("simulated-table", partial(window_features, simulated))
