"""Hostile and damaged files: any bytes give a study or one clear line, in little time and memory.

Every file has limits of its own: seconds of the processor, not of the clock, and bytes of memory. A
process that reads files may be ended by either, and by a fault inside a library; whoever started it
says which file that was, and goes on with the next.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.engine.children import safe_children
from eyelid.errors import InputError
from eyelid.io.file_leaks import leaks_of_file
from eyelid.io.files import arrays_in
from eyelid.io.layout import NOTHING_SAID
from eyelid.io.reading import read
from proofs.beginnings import Beginning, beginnings, hostile_beginnings
from proofs.result import Effort, Result, progress

BATCH = 2_000
SLOWEST_CPU_S = 20.0
MOST_BYTES = 1 << 30
# Of files that are made to be large; a reader takes a hundred times as long for them.
HOSTILE_SHARE = 0.01
# A Parquet file is tried in a process of its own first, which takes its time.
PARQUET_SHARE = 0.001
LINTED_SHARE = 0.25
# Only for what waits and computes nothing: a busy machine is no fault.
_WAITED_S = 900.0
WORDS = [b"\t", b",", b";", b"\n", b"\r\n", b'"', b"nan", b"-1", b"1e308", b"-inf", b"\x00"]
WORDS += [b"\xff\xfe", b"\xef\xbb\xbf", b"99999999999999999999", b".", b"MSG\t1 x", b"0x1F", b"1,5"]
WORDS += [b"../", b"/etc/passwd", b"\x1b[2J", b"=", b"[" * 50, b"(" * 50, b"*", b"{person}", b"\\"]


@dataclass
class Tally:
    """What became of files.

    Attributes:
        outcomes: how many of each kind.
        faults: what should not have become of them.
        slowest: processor seconds of the slowest, and what it was.
        peak_bytes: the most memory that a process took for files.
    """

    outcomes: Counter[str]
    faults: list[str]
    slowest: tuple[float, str] = (0.0, "")
    peak_bytes: int = 0

    def add(self, other: Tally) -> None:
        """Count others' too."""
        self.outcomes.update(other.outcomes)
        self.faults += other.faults
        self.slowest = max(self.slowest, other.slowest)
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)


@dataclass(frozen=True)
class Kinds:
    """What files begin with.

    Attributes:
        plain: one of each kind, but for Parquet.
        parquet: the one that is Parquet.
        hostile: made to take long or to become large.
    """

    plain: list[Beginning]
    parquet: list[Beginning]
    hostile: list[Beginning]


def kinds_of_files() -> Kinds:
    """All of them; hostile ones take a while to make."""
    each = list(beginnings())
    return Kinds(
        [one for one in each if one.kind != "parquet"],
        [one for one in each if one.kind == "parquet"],
        list(hostile_beginnings()),
    )


def prove(effort: Effort) -> Result:
    """Damage every beginning in every way, many times."""
    batches = -(-effort.cases // BATCH)
    started = time.perf_counter()
    found = Tally(Counter(), [])
    for number, tally in enumerate(_in_processes(batches), 1):
        found.add(tally)
        for fault in tally.faults:
            progress(f"readers: {fault}")
        if number % 20 == 0:
            rate = number * BATCH / (time.perf_counter() - started)
            told = f"{number * BATCH:,} files, {rate:.0f} a second, {len(found.faults)} faults"
            progress(f"readers: {told}")
    kinds = {each.kind for each in beginnings()}
    seconds, what = found.slowest
    figures: dict[str, Any] = {"formats": len(kinds), "cases": batches * BATCH}
    figures |= dict(sorted(found.outcomes.items()))
    figures |= {"slowest_cpu_s": round(seconds, 2), "slowest": what}
    figures |= {"peak_mib": found.peak_bytes >> 20}
    figures |= {"files_a_second": round(batches * BATCH / (time.perf_counter() - started))}
    figures |= {"faults": sorted(set(found.faults))[:10]}
    target = (
        f"a study or an error of one line, within {SLOWEST_CPU_S:g} processor seconds and "
        f"{MOST_BYTES >> 20:,} MiB, for every file"
    )
    read_some = all(found.outcomes[f"read {kind}"] > 0 for kind in kinds)
    return Result(figures, target, not found.faults and read_some)


def _in_processes(batches: int) -> Iterator[Tally]:
    """What became of every batch, whoever had to be started for it."""
    # Threads of the table reader do not survive a fork.
    fresh = multiprocessing.get_context("spawn")
    os.environ["POLARS_MAX_THREADS"] = "1"
    waiting = list(reversed(range(batches)))
    workers: list[_Worker] = []
    kinds = kinds_of_files()
    with tempfile.TemporaryDirectory() as home, safe_children():
        try:
            while waiting or workers:
                while waiting and len(workers) < (os.cpu_count() or 1):
                    workers.append(_Worker(fresh, Path(home), kinds, waiting.pop()))
                wait([each.told for each in workers], timeout=5.0)
                for worker in list(workers):
                    tally = worker.look()
                    if tally is None:
                        continue
                    yield tally
                    if worker.process.is_alive() and waiting:
                        worker.give(waiting.pop())
                    else:
                        worker.end()
                        workers.remove(worker)
        finally:
            for worker in workers:
                worker.end()


class _Worker:
    """A process that reads files, and what it was last seen to do."""

    def __init__(self, fresh: Any, home: Path, kinds: Kinds, batch: int) -> None:
        self._fresh, self._home, self._kinds = fresh, home, kinds
        self._place = fresh.RawValue("q", 0)
        self.batch = batch
        self._lost = Tally(Counter(), [])
        self._alone = -1
        self._start(0)

    def _start(self, first: int) -> None:
        self._folder = Path(tempfile.mkdtemp(dir=self._home))
        self._place.value = first
        self.told, there = self._fresh.Pipe()
        self.process = self._fresh.Process(
            target=_reads, args=(str(self._folder), self._kinds, self._place, there), daemon=True
        )
        self.process.start()
        there.close()
        self.give(self.batch, first)

    def give(self, batch: int, first: int = 0) -> None:
        """Have it read the files of a batch."""
        if batch != self.batch:
            self._alone = -1
        self.batch, self._place.value = batch, first
        self._seen = (first, time.monotonic())
        self.told.send((batch, first))

    def look(self) -> Tally | None:
        """What became of its batch; None while it is at work."""
        try:
            if self.told.poll():
                found: Tally = self.told.recv()
                found.add(self._lost)
                self._lost = Tally(Counter(), [])
                return found
        except (EOFError, OSError):
            return self._after_its_end("ended")
        if self._place.value != self._seen[0]:
            self._seen = (self._place.value, time.monotonic())
        elif time.monotonic() - self._seen[1] > _WAITED_S:
            self.process.kill()
            return self._after_its_end(f"waited for {_WAITED_S:g} s")
        return None

    def _after_its_end(self, how: str) -> Tally | None:
        """Go on with the file that ended it, in a fresh process; when it ends that too, note it.

        A process keeps memory of the files before, which is not to be held against this one.
        """
        self.process.join()
        code, place = self.process.exitcode, self._place.value
        if place != self._alone:
            self._alone = place
            self._lost.outcomes["read again in a fresh process"] += 1
            self._start(place)
            return None
        signals = {-each: each.name for each in signal.Signals}
        how = f"{how} by {signals[code]}" if code in signals else f"{how} with {code}"
        beginning, content, _ = _case(self._kinds, self.batch, place)
        self._lost.faults.append(f"{beginning.kind}: the process {how} for {content[:400]!r}")
        if place + 1 < BATCH:
            self._start(place + 1)
            return None
        found, self._lost = self._lost, Tally(Counter(), [])
        return found

    def end(self) -> None:
        """Have it end, whatever it does."""
        self.told.close()
        self.process.kill()
        self.process.join()


def _reads(home: str, kinds: Kinds, place: Any, tell: Connection) -> None:
    """Read batches of files, in a process of one's own."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What libraries write when they end a process is nobody's to read.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.chdir(home)
    _everything_loaded(Path(home), kinds)
    with contextlib.suppress(FileNotFoundError):
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, resource.RLIM_INFINITY))
    fresh = True
    with contextlib.suppress(EOFError):
        while True:
            batch, first = tell.recv()
            tell.send(_batch(Path(home), kinds, batch, first, place, fresh))
            fresh = False


def _everything_loaded(home: Path, kinds: Kinds) -> None:
    """Read a file of each kind, so that libraries are there before memory is limited."""
    for beginning in (*kinds.plain, *kinds.parquet):
        with contextlib.suppress(InputError):
            _read(beginning, beginning.content, home, linted=True)


def _batch(home: Path, kinds: Kinds, number: int, first: int, place: Any, fresh: bool) -> Tally:
    """Some files; what became of them, and what should not have.

    A process that is not ``fresh`` keeps memory of the files before. Where that may be why there is
    none left for this one, it ends, and the file is read once more by another.
    """
    tally = Tally(Counter(), [])
    # What libraries and beginnings take is no file's.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    base = _peak_bytes()
    for index in range(first, BATCH):
        place.value = index
        beginning, content, linted = _case(kinds, number, index)
        before = _cpu_s()
        try:
            with _limited(before):
                _read(beginning, content, home, linted)
            tally.outcomes[f"read {beginning.kind}"] += 1
        except InputError as error:
            tally.outcomes["refused"] += 1
            if "\n" in str(error).strip():
                tally.faults.append(f"{beginning.kind}: more than one line: {str(error)[:80]!r}")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            out_of_memory = isinstance(error, MemoryError) or _panicked(error)
            if out_of_memory and not (fresh and index == first):
                os._exit(1)
            where = traceback.extract_tb(error.__traceback__)[-1]
            tally.faults.append(
                f"{beginning.kind}: {type(error).__name__} in {Path(where.filename).name}:"
                f"{where.lineno} for {content[:400]!r}"
            )
        tally.slowest = max(tally.slowest, (_cpu_s() - before, beginning.kind))
    tally.peak_bytes = max(0, _peak_bytes() - base)
    return tally


def _panicked(error: BaseException) -> bool:
    """Whether the table reader gave up, which is how it says that there is no memory."""
    return type(error).__name__ == "PanicException"


def _peak_bytes() -> int:
    """The most memory that this process had since it began; 0 where nobody says."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


def _case(kinds: Kinds, batch: int, index: int) -> tuple[Beginning, bytes, bool]:
    """What is read, by its numbers: the same always."""
    rng = np.random.default_rng([batch, index])
    drawn = rng.random()
    if drawn < HOSTILE_SHARE:
        some = kinds.hostile
    else:
        some = kinds.parquet if drawn < HOSTILE_SHARE + PARQUET_SHARE else kinds.plain
    beginning = some[rng.integers(len(some))]
    # Most of what is made to be hostile is damaged by a single accident.
    content = beginning.content
    if drawn >= HOSTILE_SHARE or rng.random() < 0.5:
        content = damaged(content, rng)
    return beginning, content, bool(rng.random() < LINTED_SHARE)


def _read(beginning: Beginning, content: bytes, home: Path, linted: bool) -> None:
    """The file, as users would read it."""
    if not beginning.beside:
        path = home / "P1"
        path.write_bytes(content)
        arrays_in(path) if beginning.kind == "npz" else _looked_at(path, path, linted)
        return
    folder = home / "folder"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    for name, whole in beginning.beside.items():
        (folder / name).write_bytes(whole)
    (folder / beginning.name).write_bytes(content)
    _looked_at(folder / beginning.name, folder, linted)


def _looked_at(file: Path, source: Path, linted: bool) -> None:
    if linted:
        leaks_of_file(file, source)
    read(source, NOTHING_SAID)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """The content after one to four accidents."""
    result = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        size = max(len(result), 1)
        at, to = sorted(rng.integers(0, size, 2).tolist())
        accident = rng.integers(9)
        if accident == 0:
            del result[at:]
        elif accident == 1:
            del result[at : min(to, at + 40)]
        elif accident == 2 and result:
            result[at % len(result)] = rng.integers(256)
        elif accident == 3:
            result[at:at] = WORDS[rng.integers(len(WORDS))]
        elif accident == 4:
            result[at:at] = result[at : at + 200]
        elif accident == 5:
            result[at:at] = rng.bytes(rng.integers(1, 20))
        elif accident == 6:
            lines = result.split(b"\n")
            rng.shuffle(lines)
            result = bytearray(b"\n".join(lines))
        elif accident == 7:
            result[at:at] = WORDS[rng.integers(len(WORDS))] * int(rng.integers(1, 2000))
        else:
            result = result.replace(
                WORDS[rng.integers(len(WORDS))], WORDS[rng.integers(len(WORDS))]
            )
    return bytes(result[:MOST_BYTES])


def _cpu_s() -> float:
    """Processor seconds of this process and of those that it has started and seen end."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


@contextlib.contextmanager
def _limited(before_s: float) -> Iterator[None]:
    """Stop what takes longer: by an error, and where no error comes through, altogether."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SLOWEST_CPU_S)
    last = int(before_s + 2 * SLOWEST_CPU_S) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (last, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
