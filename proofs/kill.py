"""SIGKILL at random moments of a real release."""

from __future__ import annotations

import contextlib
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from proofs.aftermath import FEATURES, Scene, make_study
from proofs.command import command
from proofs.result import Effort, Result, progress

PEOPLE, WINDOWS = 120, 600


def prove(effort: Effort) -> Result:
    """Kills spread over the whole run; then one more run that is left alone."""
    with tempfile.TemporaryDirectory(prefix="eyelid-kill-") as home:
        scene = Scene(Path(home), rows=PEOPLE * 3 * WINDOWS)
        make_study(scene.study, PEOPLE, WINDOWS)
        whole_s = min(_attempt(scene, None)[1] for _ in range(2))
        values = scene.rows * FEATURES
        progress(f"kill: {values:,} values, {whole_s:.2f} s when left alone")
        # One moment in each of equal parts of the run, so that no part is left out by chance.
        moments = [whole_s * (i + random.random()) / effort.kills for i in range(effort.kills)]
        random.shuffle(moments)
        killed = sum(_attempt(scene, moment)[0] for moment in moments)
        at_random = len(scene.partial)
        killed += _attempt(scene, _while_writing)[0]
        before = _partial(scene)
        _attempt(scene, None)
        left = _partial(scene)
        figures = {
            "seconds_left_alone": whole_s,
            "attempts": scene.attempts,
            "killed": killed,
            "completed": len(scene.completed),
            "debits": scene.debits,
            "kills_that_left_a_partial_folder": at_random,
            "partial_before_last": before,
            "partial_after_last": left,
            "wrong": scene.wrong,
        }
        passed = not scene.wrong and killed > 0 and before == 1 and left == 0 and whole_s > 1
        target = "all or nothing at OUT, everything counted, debris removed by the next run"
        return Result(figures, target, passed)


def _attempt(
    scene: Scene, moment: float | Callable[[Scene, subprocess.Popen[bytes]], None] | None
) -> tuple[bool, float]:
    """Release; whether it was killed, and its seconds.

    Args:
        scene: where.
        moment: seconds until the kill, or what waits for it; None leaves the release alone.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command(scene.arguments()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if callable(moment):
        moment(scene, process)
    else:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=moment)
    process.kill()
    process.wait()
    seconds = time.perf_counter() - start
    what = "left alone" if moment is None else f"killed after {seconds:.2f} s"
    finished = scene.inspect(what)
    if process.returncode == 0 and not finished:
        scene.wrong.append(f"{what}: claimed success without a result")
    if process.returncode > 0 or (moment is None and process.returncode != 0):
        scene.wrong.append(f"{what}: ended with {process.returncode}")
    return process.returncode < 0, seconds


def _while_writing(scene: Scene, process: subprocess.Popen[bytes]) -> None:
    """Return as soon as data are being written."""
    while process.poll() is None and not list(scene.home.glob(".*.partial/data.parquet")):
        time.sleep(0.001)


def _partial(scene: Scene) -> int:
    return len(list(scene.home.glob(".*.partial")))
