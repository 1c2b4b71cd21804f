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
from proofs.command import run
from proofs.result import Effort, Result, progress

PEOPLE, WINDOWS = 4, 20
_MOST_STEPS = 500


def prove(effort: Effort) -> Result:
    """From a clean folder, then from one where an earlier release was killed while writing."""
    with tempfile.TemporaryDirectory(prefix="eyelid-steps-") as home:
        scene = Scene(Path(home), rows=PEOPLE * 3 * WINDOWS)
        make_study(scene.study, PEOPLE, WINDOWS)
        clean = _kill_before_each(scene)
        # The data are written and the folder is still marked as somebody's.
        writing = 1 + next(i for i, name in enumerate(clean) if "DATACARD" in name)
        progress("steps: again, with the remains of a killed release in the way")
        littered = _kill_before_each(scene, debris_step=writing)
        figures = {
            "steps_from_clean": len(clean),
            "steps_over_debris": len(littered),
            "completed": len(scene.completed),
            "debits": scene.debits,
            "wrong": scene.wrong,
        }
        target = "all or nothing at OUT, everything counted, debris removed by the very next run"
        enough = len(clean) > 10 and len(littered) > len(clean)
        return Result(figures, target, not scene.wrong and enough)


def _kill_before_each(scene: Scene, debris_step: int | None = None) -> list[str]:
    """Kill a release before its first step, the next before its second, until one gets through.

    After each kill a run that is left alone must succeed and clean up.
    """
    steps: list[str] = []
    for step in range(1, _MOST_STEPS):
        if debris_step is not None:
            _killed_before(scene, debris_step)
            scene.inspect("killed to leave debris")
        code, name = _killed_before(scene, step)
        what = f"{'over debris, ' if debris_step else ''}killed before step {step}, {name}"
        if code == 0:
            scene.inspect("left alone")
            return steps
        if code > 0:
            scene.wrong.append(f"{what}: ended with {code}")
        steps.append(name)
        # The output is there already when the kill came after the rename.
        if not scene.inspect(what):
            done = run(*scene.arguments())
            if done.returncode != 0:
                scene.wrong.append(f"{what}: the next run failed: {done.stderr.strip()}")
            scene.inspect(f"the run after: {what}")
    raise RuntimeError(f"a release took more than {_MOST_STEPS} steps")


def _killed_before(scene: Scene, step: int) -> tuple[int, str]:
    """The exit code of a release killed before this step, and what the step would have been."""
    arguments = [str(step), str(scene.home), *map(str, scene.arguments())]
    done = subprocess.run(
        [sys.executable, "-m", "proofs.kill_before", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr.strip().rpartition("\n")[2]
