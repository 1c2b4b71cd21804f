"""SIGKILL before every step that a release takes on the file system, one after the other.

Between two such steps nothing on disk changes but the inside of files being written, so this
visits every state that a kill can leave, however short-lived.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from proofs.aftermath import Scene, make_study
from proofs.result import Effort, Result, progress

PEOPLE, WINDOWS = 4, 20
_MOST_STEPS = 500


def prove(effort: Effort) -> Result:
    """From a clean folder, then from one where an earlier release was killed while writing."""
    with tempfile.TemporaryDirectory(prefix="eyelid-steps-") as home:
        scene = Scene(Path(home), rows=PEOPLE * 3 * WINDOWS)
        make_study(scene.study, PEOPLE, WINDOWS)
        clean = _kill_before_each(scene)
        # Some of the data are written.
        writing = len(clean) // 2
        progress("steps: again, going on from a release that was killed half way")
        resumed = _kill_before_each(scene, before=writing)
        figures = {
            "steps_from_clean": len(clean),
            "steps_when_going_on": len(resumed),
            "parts_drawn_before_a_kill_and_released_after_it": scene.reused,
            "completed": len(scene.completed),
            "debits": scene.debits,
            "wrong": scene.wrong,
        }
        target = (
            "all or nothing at OUT, one debit a release wherever it was killed, no part drawn "
            "twice, nothing left by the very next run"
        )
        right = scene.debits == len(scene.completed) and scene.reused > 0
        enough = len(clean) > 20 and len(resumed) > 10
        return Result(figures, target, not scene.wrong and right and enough)


def _kill_before_each(scene: Scene, before: int | None = None) -> list[str]:
    """Kill a release before its first step, the next before its second, until one gets through.

    After each kill the same command, left alone, must get through and clean up.
    """
    steps: list[str] = []
    for step in range(1, _MOST_STEPS):
        if before is not None:
            _killed_before(scene, before)
            scene.inspect("killed half way")
        code, name = _killed_before(scene, step)
        what = f"{'going on, ' if before else ''}killed before step {step}, {name}"
        if code == 0:
            scene.inspect("left alone")
            return steps
        if code > 0:
            scene.wrong.append(f"{what}: ended with {code}")
        steps.append(name)
        # The output is there already when the kill came after the rename.
        if not scene.inspect(what):
            code, told = _killed_before(scene, 0)
            if code != 0:
                scene.wrong.append(f"{what}: the next run failed: {told}")
            scene.inspect(f"the run after: {what}")
    raise RuntimeError(f"a release took more than {_MOST_STEPS} steps")


def _killed_before(scene: Scene, step: int) -> tuple[int, str]:
    """The exit code of a release killed before this step, and what the step would have been.

    Before step 0 nobody is killed.
    """
    arguments = [str(step), str(scene.home), *map(str, scene.arguments())]
    done = subprocess.run(
        [sys.executable, "-m", "proofs.kill_before", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr.strip().rpartition("\n")[2]
