"""Damaged files: any bytes give a study or one clear line, never a traceback and never a hang."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.errors import InputError
from eyelid.io.layout import NOTHING_SAID
from eyelid.io.reading import read
from proofs.beginnings import beginnings
from proofs.result import Effort, Result, progress

BATCH = 5_000
SLOWEST_S = 10.0
WORDS = [b"\t", b",", b";", b"\n", b"\r\n", b'"', b"nan", b"-1", b"1e308", b"-inf", b"\x00"]
WORDS += [b"\xff\xfe", b"\xef\xbb\xbf", b"99999999999999999999", b".", b"MSG\t1 x", b"0x1F", b"1,5"]


def prove(effort: Effort) -> Result:
    """Damage every beginning in every way, many times."""
    kinds = dict(beginnings())
    batches = -(-effort.cases // BATCH)
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    # Threads of the table reader do not survive a fork.
    fresh = multiprocessing.get_context("spawn")
    os.environ["POLARS_MAX_THREADS"] = "1"
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), fresh) as workers:
        for number, (counts, wrong) in enumerate(workers.map(_batch, range(batches)), 1):
            outcomes.update(counts)
            faults += wrong
            if number % 20 == 0:
                progress(f"readers: {number * BATCH:,} cases, {len(faults)} faults")
    figures: dict[str, Any] = {"formats": len(kinds), "cases": batches * BATCH}
    figures |= dict(sorted(outcomes.items())) | {"faults": sorted(set(faults))[:10]}
    target = f"a study or an error of one line within {SLOWEST_S:g} s, for every file"
    read_some = all(outcomes[f"read {kind}"] > 0 for kind in kinds)
    return Result(figures, target, not faults and read_some)


def _batch(number: int) -> tuple[Counter[str], list[str]]:
    """Some damaged files; what became of them, and what should not have."""
    rng = np.random.default_rng(number)
    kinds = list(beginnings())
    # A Parquet file is tried in a process of its own first, which takes its time.
    weights = np.array([0.02 if kind == "parquet" else 1.0 for kind, _ in kinds])
    outcomes: Counter[str] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "P1"
        for _ in range(BATCH):
            kind, whole = kinds[rng.choice(len(kinds), p=weights / weights.sum())]
            content = damaged(whole, rng)
            path.write_bytes(content)
            try:
                with _limited(SLOWEST_S):
                    read(path, NOTHING_SAID)
                outcomes[f"read {kind}"] += 1
            except InputError as error:
                outcomes["refused"] += 1
                if "\n" in str(error).strip():
                    faults.append(f"{kind}: more than one line: {str(error)[:80]!r}")
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                where = traceback.extract_tb(error.__traceback__)[-1]
                faults.append(
                    f"{kind}: {type(error).__name__} in {Path(where.filename).name}:{where.lineno} "
                    f"for {content[:400]!r}"
                )
    return outcomes, faults


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """The content after one to four accidents."""
    result = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        size = max(len(result), 1)
        at, to = sorted(rng.integers(0, size, 2).tolist())
        accident = rng.integers(8)
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
        else:
            result = result.replace(
                WORDS[rng.integers(len(WORDS))], WORDS[rng.integers(len(WORDS))]
            )
    return bytes(result)


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
