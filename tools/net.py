"""A net under changes that must change nothing: every command's output, before and after.

    python -m tools.net record BEFORE --source OLD/src
    python -m tools.net record AGAIN --source OLD/src --inputs BEFORE/inputs.tar
    python -m tools.net record AFTER --inputs BEFORE/inputs.tar
    python -m tools.net compare BEFORE AFTER --again AGAIN

A recording runs seeded releases, heatmaps, streams, audits, comparisons, verifications and
reproductions by the command line alone, so that it works on any version, each on a fresh copy of
the same inputs. What two recordings of one version do not share (salts, random ids, times) is no
difference; it is counted, so that nothing hides there.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
SEED = ("--seed", "7")
AREAS = {
    "areas": [
        {"name": "left", "rectangle": [100, 100, 800, 900]},
        {"name": "right", "rectangle": [1000, 100, 800, 900]},
    ]
}
# What mechanisms need to be told besides their name, by what they take or by themselves.
SAMPLES, MAPS, AREAS = "samples", "gaze maps", "areas of interest"
_FILTER = ("--set", "window=30", "--set", "radius=3")
_EPSILON = ("--epsilon", "2")
OF_ITS_OWN: dict[str, tuple[str, ...]] = {
    "jitter": ("--set", "sd=0.5"),
    "pink": ("--set", "sd=0.5"),
    "spatial": ("--set", "cell=2"),
    "temporal": ("--set", "every=4"),
    "kalman": (),
    "ksame": ("--set", "k=3"),
    "ksame-paper": ("--set", "k=3"),
    "ksame-dp": (*_EPSILON, "--set", "k=3"),
    "marginals-paper": (),
    "seeded": (*_EPSILON, "--set", "test=deterministic", "--set", "k=2"),
    "synthetic": ("--epsilon", "400", "--set", "error=0.34"),
    "map-noisefree": (),
    "map-rs1": (),
    "map-rs2": (),
}
# Not by itself: it counts inside the live gatekeeper, which has a case of its own.
LIVE_ONLY = ("dwell",)
PAPERS = ("bozkir2021", "liu2019", "davidjohn2022")
VERIFIED = ("laplace", "groupmean", "ksame", "ksame-dp", "seeded", "synthetic", "map-grid",
            "aoi-tables", "kaleido", "fixations", "fpa-paper")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Commands that run one after the other in a folder with the inputs.

    Attributes:
        name: as a file name.
        commands: arguments of ``eyelid``.
        keeps: folders and files of what they write that are recorded.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    keeps: tuple[str, ...] = ()


class Eyelid:
    """A version of the package, run by its command line."""

    def __init__(self, source: Path) -> None:
        self._environment = {
            **os.environ, "PYTHONPATH": str(source.resolve()), "COLUMNS": "100", "NO_COLOR": "1",
            "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip

    def __call__(self, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a command there."""
        command = [sys.executable, "-P", "-m", "eyelid", *arguments]
        return subprocess.run(
            command, cwd=folder, env=self._environment, capture_output=True, text=True, check=False
        )


def make_inputs(eyelid: Eyelid, archive: Path) -> None:
    """Pack small studies of every kind; packed, because a ledger refuses to be copied."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "work"
        _make_studies(eyelid, folder)
        with tarfile.open(archive, "w") as packed:
            packed.add(folder, "work")


def _make_studies(eyelid: Eyelid, folder: Path) -> None:
    folder.mkdir()
    (folder / "areas.json").write_text(json.dumps(AREAS), encoding="utf-8")
    made = [
        ("simulate", "gaze", "--people", "8", "--minutes", "1", "--seed", "3"),
        ("features", "gaze", "windows"),
        ("features", "gaze", "fixations", "--kind", "fixations"),
    ]
    for arguments in made:
        done = eyelid(*arguments, folder=folder)
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")


def cases(eyelid: Eyelid, inputs: Path) -> Iterator[Case]:
    """Everything that is recorded."""
    listed = eyelid("mechanisms", "--json", folder=inputs.parent)
    for each in json.loads(listed.stdout)["mechanisms"]:
        name, takes = each["name"], each["takes"]
        yield Case(f"mechanism-{name}", (("mechanisms", name),))
        if name in LIVE_ONLY:
            continue
        said = OF_ITS_OWN.get(name, _EPSILON)
        if takes == AREAS:
            command = ("heatmap", "gaze", "out", "--stimulus", "comic", "--areas", "areas.json",
                       "--only", "areas", *said)  # fmt: skip
        elif takes == MAPS:
            areas = ("--areas", "areas.json") if said else ()
            command = ("heatmap", "gaze", "out", "--stimulus", "comic", "--mechanism", name,
                       *areas, *said)  # fmt: skip
        else:
            source = "gaze" if takes == SAMPLES else "windows"
            if takes == SAMPLES and name != "prewindow":
                said = (*said, *(_FILTER if said == _EPSILON else ()))
            command = ("release", source, "out", "--mechanism", name, *said)
        audit = ("audit", command[1], "out", "--json")
        yield Case(f"release-{name}", ((*command, *SEED), audit), ("out", "out-audit/audit.json"))
        facts = ["--people", "30"]
        if takes not in (MAPS, AREAS):
            facts += ["--recordings", "3"]
        if command[1] == "windows":
            facts += ["--length", "200", "--features", "6"]
        yield Case(f"cost-{name}", (("cost", "--mechanism", name, *facts, "--json", *said),))
    yield from _others()


def _others() -> Iterator[Case]:
    yield Case("release-by-unit", (("release", "windows", "out", "--mechanism", "gaussian",
                                    "--unit", "record", *_EPSILON, *SEED),), ("out",))  # fmt: skip
    yield Case("release-of-gaze", (("release", "gaze", "out", "--mechanism", "dct", *_EPSILON,
                                    *SEED, "--quiet"),))  # fmt: skip
    yield Case("release-of-fixations", (("release", "fixations", "out", "--mechanism", "groupmean",
                                         *_EPSILON, *SEED),), ("out",))  # fmt: skip
    yield Case("heatmap-in-time", (("heatmap", "gaze", "out", "--stimulus", "comic", "--every",
                                    "5", "--for", "20", *_EPSILON, *SEED),), ("out",))  # fmt: skip
    yield Case("stream", (("stream", "--source", "simulate:rate=60,seed=1", "--filter", "kaleido",
                           "--epsilon", "2", "--window", "30", "--radius", "3", "--speed", "full",
                           "--seconds", "4", "--record", "out.csv", "--json", *SEED),),
               ("out.csv",))  # fmt: skip
    yield Case("inspect", tuple(("inspect", each, "--json") for each in ("gaze", "windows")))
    yield Case("lint", (("lint", "gaze", "--json"), ("lint", "windows")))
    yield Case("convert", (("convert", "gaze", "out", "--to", "bids"),), ("out",))
    yield Case("audit-raw", (("audit", "windows", "--json"), ("audit", "gaze", "--json")))
    yield Case("budget", (("release", "windows", "out", "--mechanism", "laplace", *_EPSILON,
                           *SEED), ("budget", "windows", "--limit-epsilon", "3", "--json"),
                          ("release", "windows", "out2", "--mechanism", "laplace", *_EPSILON),
                          ("budget", "windows", "--json")))  # fmt: skip
    yield Case("compare", (("compare", "windows", "--mechanisms", "laplace,dct,groupmean,ksame,"
                            "synthetic,seeded", "--epsilons", "1,8", "--repeats", "2", "--sweep",
                            "k=2,4", "--report", "page.html", "--json"),))  # fmt: skip
    yield Case("recommend", (("recommend", "windows", "--goal", "rank1<=2x", "--mechanisms",
                              "dct,ksame", "--json"),))  # fmt: skip
    for name in VERIFIED:
        yield Case(f"verify-{name}", (("verify", name, "--runs", "2000", "--json"),))
    for paper in PAPERS:
        command = ("reproduce", paper, "--fast", "--json", "--out", "out")
        yield Case(f"reproduce-{paper}", (command,), ("out",))


def record(case: Case, eyelid: Eyelid, inputs: Path, out: Path) -> float:
    """Run a case and keep what it said and wrote; the seconds that it took."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "work"
        with tarfile.open(inputs) as packed:
            packed.extractall(home, filter="data")
        kept = out / "cases" / case.name
        kept.mkdir(parents=True)
        for number, arguments in enumerate(case.commands, 1):
            done = eyelid(*arguments, folder=folder)
            said = {"txt": f"exit {done.returncode}\n{done.stdout}", "stderr.txt": done.stderr}
            for suffix, text in said.items():
                file = kept / f"{number}-{arguments[0]}.{suffix}"
                file.write_text(text.replace(str(folder), "WORK"), encoding="utf-8")
        for name in case.keeps:
            there = folder / name
            if there.is_dir():
                shutil.copytree(there, kept / "files" / name)
            elif there.exists():
                (kept / "files" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(there, kept / "files" / name)
    return time.perf_counter() - started


def facts_of(file: Path) -> dict[str, Any]:
    """A file as named facts: leaves of JSON, lines of text, columns of tables, or bytes."""
    if file.suffix == ".parquet":
        import polars as pl

        frame = pl.read_parquet(file)
        return {f"column {c.name}": [str(c.dtype), *c.to_list()] for c in frame.iter_columns()}
    content = file.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": content}
    lines = text.splitlines()
    first = int(bool(lines) and lines[0].startswith("exit "))
    try:
        leaves = dict(_leaves(json.loads("\n".join(lines[first:]))))
        return {"exit": lines[0]} | leaves if first else leaves
    except ValueError:
        return {f"line {number}": line for number, line in enumerate(lines, 1)}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{path}[{number}]")
    else:
        yield path, value


def differences(before: Path, after: Path, again: Path | None) -> tuple[dict[str, list[str]], int]:
    """What differs by file, and how many facts were passed over because one version varies."""
    found: dict[str, list[str]] = {}
    varying = 0
    ours, theirs = _files(before), _files(after)
    for name in sorted(ours | theirs):
        if name not in ours or name not in theirs:
            found[name] = ["only after" if name in theirs else "only before"]
            continue
        one, other = facts_of(before / "cases" / name), facts_of(after / "cases" / name)
        changed = {key for key in one | other if one.get(key, "") != other.get(key, "")}
        if again is not None and changed and (again / "cases" / name).exists():
            third = facts_of(again / "cases" / name)
            passed = {key for key in changed if one.get(key, "") != third.get(key, "")}
            varying += len(passed)
            changed -= passed
        if changed:
            found[name] = [
                f"{key}: {_short(one.get(key))} -> {_short(other.get(key))}"
                for key in sorted(changed)
            ]
    return found, varying


def _files(recording: Path) -> set[str]:
    root = recording / "cases"
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}


def _short(value: Any, most: int = 160) -> str:
    text = f"{len(value)} bytes" if isinstance(value, bytes) else str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def main() -> int:
    """Record or compare; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.net", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--source", type=Path, default=HERE / "src")
    recording.add_argument("--inputs", type=Path)
    recording.add_argument("--only", default="*", help="cases whose name fits")
    recording.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--again", type=Path, help="a second recording of the version before")
    comparing.add_argument("--most", type=int, default=5, help="lines a file")
    given = parser.parse_args()
    if given.command == "record":
        eyelid = Eyelid(given.source)
        inputs = given.inputs or given.out / "inputs.tar"
        if given.inputs is None:
            make_inputs(eyelid, inputs)
        todo = [case for case in cases(eyelid, inputs) if fnmatch.fnmatch(case.name, given.only)]
        with ThreadPoolExecutor(given.processes) as pool:
            took = pool.map(lambda case: record(case, eyelid, inputs, given.out), todo)
            for case, seconds in zip(todo, took, strict=True):
                print(f"{seconds:6.1f} s  {case.name}", flush=True)
        return 0
    found, varying = differences(given.before, given.after, given.again)
    for name, lines in found.items():
        print(name, *[f"    {line}" for line in lines[: given.most]], sep="\n")
        if len(lines) > given.most:
            print(f"    … {len(lines) - given.most} more")
    print(f"{len(found)} files differ; {varying} facts vary from run to run in one version")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
