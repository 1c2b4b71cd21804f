"""SIGKILL at random moments of a real release."""

from __future__ import annotations

import contextlib
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from eyelid.engine.runs import unfinished
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
        at_random = scene.unfinished
        killed += _attempt(scene, _while_writing)[0]
        _attempt(scene, None)
        figures = {
            "seconds_left_alone": whole_s,
            "attempts": scene.attempts,
            "killed": killed,
            "kills_that_left_something_to_go_on_with": at_random,
            "parts_drawn_before_a_kill_and_released_after_it": scene.reused,
            "completed": len(scene.completed),
            "debits": scene.debits,
            "left_at_the_end": len(list(scene.home.glob(".*"))),
            "wrong": scene.wrong,
        }
        right = scene.debits == len(scene.completed) and figures["left_at_the_end"] == 0
        passed = not scene.wrong and killed > 0 and scene.reused > 0 and right and whole_s > 1
        target = (
            "all or nothing at OUT, one debit a release however often it was killed, no part drawn "
            "twice, nothing left by the run that gets through"
        )
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
    """Return as soon as the first part is there."""
    parts = unfinished(scene.out) / "output" / "data.parquet"
    while process.poll() is None and not list(parts.glob("*")):
        time.sleep(0.001)
