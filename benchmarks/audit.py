"""Audits: CPU seconds of four classifiers over 20 leave-one-person-out folds, and a whole audit.

The peer is what a script does: a scikit-learn pipeline, fitted anew for every fold and classifier.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.case import Case, remark
from eyelid.attacks.classifiers import (
    MODELS,
    NEIGHBOURS,
    TREES,
    classes_of,
    judged,
    lots,
    people_apart,
)
from eyelid.attacks.records import aligned, records_of
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness
from eyelid.releases.release import release

EVERY = 10
PEER = "scikit-learn pipelines, fold by fold"
TARGET = 3.0
REPETITIONS = 2
COMMAND_TARGET_S = 20.0


def plain_loops(known, shown, codes, folds, model, seed):  # type: ignore[no-untyped-def]
    """What one classifier says in all folds, as a script does it."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    answers = np.full(len(shown), -1)
    for fold in folds:
        classifier = {
            "knn": KNeighborsClassifier(NEIGHBOURS),
            "svm": SVC(),
            "tree": DecisionTreeClassifier(random_state=seed),
            "forest": RandomForestClassifier(TREES, random_state=seed),
        }[model]
        fitted = make_pipeline(StandardScaler(), classifier)
        fitted.fit(known[fold.known], codes[fold.known])
        if model == "knn":
            # Scikit-learn gives ties to the first class, the paper to a lot.
            votes = np.rint(fitted.predict_proba(shown[fold.shown]) * NEIGHBOURS)
            answers[fold.shown] = (votes + lots(*votes.shape, seed)).argmax(axis=1)
        else:
            answers[fold.shown] = fitted.predict(shown[fold.shown])
    return answers


def cases() -> Iterator[Case]:
    """Raw recordings and a release of them: real ones if they are there, else simulated."""
    data = os.environ.get("EYELID_DATA")
    if data and (Path(data) / "MPIIDPEye").is_dir():
        name, table = "MPIIDPEye", window_features(read(Path(data) / "MPIIDPEye"))
    else:
        remark("audit: simulated people: set EYELID_DATA for the real recordings of MPIIDPEye")
        name, table = "simulated people", window_features(simulate(people=20, minutes=5, seed=1))
    noisy = mechanism_named("gaussian", epsilon=64.0, unit="record").apply(table, randomness(3))
    yield _case(f"{name}, released with noise of rows", *aligned(table, noisy), TARGET)
    yield _case(f"{name}, raw", table, table, None)
    yield _command()


def _command() -> Case:
    """`eyelid audit` of the demo's study and of a release of it, as a person runs it."""
    made = simulate(people=20, tasks=["comic", "newspaper", "textbook"], minutes=5, seed=1)
    with tempfile.TemporaryDirectory(prefix="eyelid-bench-") as home:
        features, private = Path(home) / "features", Path(home) / "private"
        write(window_features(made).study(), features)
        release(features, private, mechanism="gaussian", epsilon=1.0)
        measured = []
        for _ in range(REPETITIONS):
            before, start = _children_seconds(), time.perf_counter()
            command = [sys.executable, "-m", "eyelid", "audit", str(features), str(private)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            measured.append((time.perf_counter() - start, _children_seconds() - before))
    elapsed, seconds = min(measured)
    return Case(
        "eyelid audit of the demo's features and a release of them",
        "s wall",
        elapsed,
        "its own CPU seconds: what one core would take",
        seconds,
        f"below {COMMAND_TARGET_S:g} s",
        elapsed < COMMAND_TARGET_S,
    )


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _case(name: str, raw: FeatureTable, released: FeatureTable, target: float | None) -> Case:
    people = tuple(raw.people["person"])
    every = pl.int_range(pl.len()).over("person", "recording") % EVERY == 0
    shown, known = (records_of(table, people, every) for table in (raw, released))
    codes = classes_of(raw.data.filter(every)["task"]).codes
    folds = people_apart(shown.person)

    def ours() -> dict[tuple[str, str], np.ndarray]:
        return judged(known.values, shown.values, {"task": codes}, folds)

    ours()
    measured = []
    for _ in range(REPETITIONS):
        cpu, wall = time.process_time(), time.perf_counter()
        found = ours()
        measured.append((time.process_time() - cpu, time.perf_counter() - wall))
    seconds, elapsed = min(measured)
    theirs, peer_seconds = {}, {}
    for model in MODELS:
        start = time.process_time()
        theirs[model] = plain_loops(known.values, shown.values, codes, folds, model, 0)
        peer_seconds[model] = time.process_time() - start
    peer = sum(peer_seconds.values())
    equal = float(np.mean([found["task", model] == theirs[model] for model in MODELS]))
    return Case(
        f"document by 4 classifiers, {len(folds)} people left out in turn, {name}",
        "s CPU",
        seconds,
        PEER,
        peer,
        f"{target:g} times less, the same predictions" if target else None,
        peer / seconds >= target and equal == 1.0 if target else None,
        {
            "equal_predictions": equal,
            "cores_used": seconds / elapsed,
            "windows": len(known.values),
            **{f"peer_{model}": seconds for model, seconds in peer_seconds.items()},
            # Trees have nothing to share: were all the rest free, this would be the ratio.
            "most_possible_ratio": peer / (peer_seconds["tree"] + peer_seconds["forest"]),
        },
    )
