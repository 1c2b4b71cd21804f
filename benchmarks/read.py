"""Reading recordings: CPU seconds and peak memory, against pymovements, MNE and bare polars.

``python -m benchmarks.read READER PATH`` reads once in a fresh process and prints its figures.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.case import Case, remark

RATE_HZ = 1000
MINUTES = {"LEFT": 30, "LEFT RIGHT": 10}
TARGETS = {"pymovements": 5.0, "mne": 2.0}
MEMORY_TARGET_MB = 600
FILES = (250, 500, 1000)
ROWS_PER_FILE = 2000
GROWTH_TARGET = 1.2
REPETITIONS = {"eyelid": 3, "polars": 3, "pymovements": 2, "mne": 2}
MAP = {"time": "t", "x": "gx", "y": "gy", "pupil": "d", "time_unit": "ms", "units": "px"}
NAMES = {"file": "{person}_{recording}"}

Figures = dict[str, float]


def cases() -> Iterator[Case]:
    """Long EyeLink recordings of one and of both eyes, then folders of many small files."""
    with tempfile.TemporaryDirectory(prefix="eyelid-bench-") as home:
        for eyes, minutes in MINUTES.items():
            yield from _long_recording(Path(home), eyes, minutes)
        yield from _folders(Path(home), ".csv", ("polars", "pymovements"))
        yield from _folders(Path(home), ".asc", ("pymovements",))


def _long_recording(home: Path, eyes: str, minutes: int) -> Iterator[Case]:
    samples = RATE_HZ * 60 * minutes
    path = home / f"{eyes.replace(' ', '-').lower()}.asc"
    write_asc(path, samples, eyes)
    size = path.stat().st_size / 1e6
    name = f"read EyeLink asc, {RATE_HZ} Hz x {minutes} min, {eyes.lower()}"
    remark(f"read: {samples:,} samples of {eyes.lower()}, {size:.0f} MB as asc")
    ours = _measured("eyelid", path)
    for peer, target in TARGETS.items():
        theirs = _measured(peer, path)
        yield Case(
            f"{name}: time",
            "s CPU",
            ours["cpu_seconds"],
            peer,
            theirs["cpu_seconds"],
            f"at least {target:g} times faster",
            theirs["cpu_seconds"] >= target * ours["cpu_seconds"],
            {"seconds": ours["seconds"], "peer_seconds": theirs["seconds"], "file_mb": size},
        )
        yield Case(
            f"{name}: peak memory",
            "MB above what imports take",
            ours["growth_bytes"] / 1e6,
            peer,
            theirs["growth_bytes"] / 1e6,
            f"the whole process below {MEMORY_TARGET_MB} MB" if eyes == "LEFT" else None,
            ours["peak_bytes"] < MEMORY_TARGET_MB * 1e6 if eyes == "LEFT" else None,
            {"peak_mb": ours["peak_bytes"] / 1e6, "peer_peak_mb": theirs["peak_bytes"] / 1e6},
        )
    path.unlink()


def _folders(home: Path, ending: str, peers: tuple[str, ...]) -> Iterator[Case]:
    folders = [home / f"{files}{ending}" for files in FILES]
    for folder, files in zip(folders, FILES, strict=True):
        write_folder(folder, ending, files)
    remark(f"read: folders of {ending} files; eyelid and polars join them, other peers do not")
    ours = [_measured("eyelid", folder) for folder in folders]
    rows = [files * ROWS_PER_FILE for files in FILES]
    bytes_per_row = [run["growth_bytes"] / n for run, n in zip(ours, rows, strict=True)]
    name = f"read a folder of {FILES[-1]} {ending} files, {rows[-1] / 1e6:g} million rows"
    for peer in peers:
        theirs = _measured(peer, folders[-1])
        yield Case(
            f"{name}: time",
            "s CPU",
            ours[-1]["cpu_seconds"],
            peer,
            theirs["cpu_seconds"],
            more={
                "seconds": ours[-1]["seconds"],
                "files_per_second": FILES[-1] / ours[-1]["seconds"],
                "peer_seconds": theirs["seconds"],
            },
        )
        yield Case(
            f"{name}: peak memory",
            "bytes a row above what imports take",
            bytes_per_row[-1],
            peer,
            theirs["growth_bytes"] / rows[-1],
            f"at most {GROWTH_TARGET:g} times that of {FILES[0]} files",
            bytes_per_row[-1] <= GROWTH_TARGET * bytes_per_row[0],
            {
                **{f"at_{n}_files": b for n, b in zip(FILES, bytes_per_row, strict=True)},
                **{
                    f"peak_mb_at_{n}_files": run["peak_bytes"] / 1e6
                    for n, run in zip(FILES, ours, strict=True)
                },
            },
        )


def write_folder(folder: Path, ending: str, files: int) -> None:
    """Many recordings, two of each person."""
    folder.mkdir()
    for number in range(files):
        path = folder / f"p{number // 2:03}_r{number % 2}{ending}"
        if ending == ".asc":
            write_asc(path, ROWS_PER_FILE, "LEFT", seed=number)
        else:
            x, y, pupil = gaze(ROWS_PER_FILE, seed=number)
            pl.DataFrame({"t": np.arange(len(x)), "gx": x, "gy": y, "d": pupil}).write_csv(path)


def gaze(samples: int, seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Fixations of 250 ms with noise and a jump after each; pupils about 800."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform((200.0, 200.0, 700.0), (1700.0, 900.0, 900.0), (samples // 250 + 1, 3))
    steps = np.repeat(centres, 250, axis=0)[:samples]
    return np.round(steps + rng.normal(0.0, 1.0, steps.shape), 1).T


def write_asc(path: Path, samples: int, eyes: str, seed: int = 0) -> None:
    """A recording as EDF2ASC writes it; every twentieth fixation is a blink, a message a second."""
    sides = eyes.split()
    tabs = "\t".join(sides)
    columns = [gaze(samples, seed + side).T.tolist() for side in range(len(sides))]
    flags = "..." if len(sides) == 1 else "....."
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(
            "** CONVERTED FROM made.edf using edfapi 4.2.1 Linux\n"
            "** DATE: Thu Jan  1 00:00:00 1970\n"
            "** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED\n"
            "** VERSION: EYELINK II 1\n"
            "** SOURCE: EYELINK CL\n"
            "** EYELINK II CL v5.00 Jan  1 1970\n**\n\n"
            f"MSG\t999 RECCFG CR {RATE_HZ} 2 1 {''.join(side[0] for side in sides)}\n"
            "MSG\t999 ELCLCFG MTABLER\n"
            "MSG\t999 GAZE_COORDS 0.00 0.00 1919.00 1079.00\n"
            f"START\t1000 \t{tabs}\tSAMPLES\tEVENTS\nPRESCALER\t1\nVPRESCALER\t1\nPUPIL\tAREA\n"
            f"EVENTS\tGAZE\t{tabs}\tRATE\t{RATE_HZ}.00\tTRACKING\tCR\tFILTER\t2\n"
            f"SAMPLES\tGAZE\t{tabs}\tRATE\t{RATE_HZ}.00\tTRACKING\tCR\tFILTER\t2\n"
        )
        for begin in range(0, samples, 250):
            end = min(begin + 250, samples)
            blink = begin // 250 % 20 == 19
            onset, offset = 1000 + begin, 999 + end
            if begin % 1000 == 0:
                file.write(f"MSG\t{onset} TRIALID {begin // 1000}\n")
            word = "BLINK" if blink else "FIX"
            file.writelines(f"S{word} {side[0]}   {onset}\n" for side in sides)
            for row in range(begin, end):
                seen = (
                    "   .\t   .\t    0.0"
                    if blink
                    else f"{each[row][0]:7.1f}\t{each[row][1]:7.1f}\t{each[row][2]:7.1f}"
                    for each in columns
                )
                file.write("\t".join((str(1000 + row), *seen, flags)) + "\n")
            means = "" if blink else "\t  960.0\t  540.0\t    800"
            file.writelines(
                f"E{word} {side[0]}   {onset}\t{offset}\t{offset - onset + 1}{means}\n"
                for side in sides
            )
        file.write(f"END\t{1000 + samples} \tSAMPLES\tEVENTS\tRES\t  30.00\t  31.00\n")


def _by_eyelid(path: Path) -> object:
    from eyelid.io import read

    said: dict[str, Any] = NAMES if path.is_dir() else {}
    return read(path, said | (MAP if path.suffix == ".csv" else {}))


def _by_pymovements(path: Path) -> object:
    from pymovements.gaze import from_asc, from_csv

    def one(file: Path) -> object:
        if file.suffix == ".asc":
            return from_asc(file, events=True)
        return from_csv(file, time_column="t", time_unit="ms", pixel_columns=["gx", "gy"])

    return [one(file) for file in _files(path)]


def _by_mne(path: Path) -> object:
    from mne.io import read_raw_eyelink

    return [read_raw_eyelink(file, verbose="ERROR") for file in _files(path)]


def _by_polars(path: Path) -> object:
    tables = [
        pl.read_csv(file).with_columns(
            pl.lit(file.stem[:4]).alias("person"), pl.lit(file.stem[5:]).alias("recording")
        )
        for file in _files(path)
    ]
    return pl.concat(tables)


READERS: dict[str, Callable[[Path], object]] = {
    "eyelid": _by_eyelid,
    "pymovements": _by_pymovements,
    "mne": _by_mne,
    "polars": _by_polars,
}


def _files(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else [path]


def _measured(reader: str, path: Path) -> Figures:
    """The least time of several fresh processes, and the most memory: a peak has no best."""
    command = [sys.executable, "-m", "benchmarks.read", reader, str(path)]
    runs: list[Figures] = [
        json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        for _ in range(REPETITIONS[reader])
    ]
    return {
        key: (max if key.endswith("_bytes") else min)(run[key] for run in runs) for key in runs[0]
    }


def main(reader: str, path: str) -> Figures:
    """Read once; a small file before that, so that what is imported late is not counted."""
    from benchmarks.fresh_process import measured

    warnings.simplefilter("ignore")
    ending = Path(path).suffix
    with tempfile.TemporaryDirectory() as home:
        write_folder(Path(home) / f"two{ending}", ending, 2)
        READERS[reader](Path(home) / f"two{ending}")
    return measured(lambda: READERS[reader](Path(path)))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
