"""A study in which nobody has one of the features, from inspect to a release and its audit."""

import functools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.audits import noisy_answers
from eyelid.audits.utility import learned_elsewhere
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.releases.audit import audit
from eyelid.releases.inspection import inspect
from eyelid.releases.release import release
from eyelid.releases.report import report

RATE = Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0)
DURATION = Feature("fixation_duration_mean", "ms", "mean duration of fixations", 0.0, 2000.0)
BLINKS = Feature("blink_duration_mean", "ms", "mean duration of blinks", 0.0, 1000.0)
FEATURES = (RATE, DURATION, BLINKS)


def without_blinks(people: int = 12, rows: int = 8, seed: int = 1) -> FeatureTable:
    """Two tasks that differ, some values missing, and no duration of a blink at all."""
    rng = np.random.default_rng(seed)
    task = np.array([[2.0, 300.0, 0.0], [4.0, 200.0, 0.0]])[None, :, None]
    own, row = rng.normal(0, 1, (people, 1, 1, 3)), rng.normal(0, 1, (people, 2, rows, 3))
    values = task + np.array([0.4, 30.0, 1.0]) * (own + row)
    values[rng.random(values.shape) < 0.02] = np.nan
    values[..., 2] = np.nan
    table = table_from_arrays(values, FEATURES)
    names = pl.col("task").replace_strict(["0", "1"], ["read", "watch"])
    return replace(table, data=table.data.with_columns(task=names))


@pytest.fixture(scope="module", autouse=True)
def quickly():
    """What takes long has tests of its own."""
    tree = functools.partial(learned_elsewhere, models=["tree"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noisy_answers, "_DECISIONS", 12)
        patch.setattr(noisy_answers, "_OF_CONTROL", 12)
        patch.setattr("eyelid.releases.audit.learned_elsewhere", tree)
        patch.setattr("eyelid.releases.audit.utility", lambda *words, **more: [])
        yield


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("laplace", {"epsilon": 4.0}),
        ("dct", {"epsilon": 4.0}),
        ("groupmean", {"epsilon": 4.0}),
        ("ksame-dp", {"epsilon": 4.0, "k": 4}),
        ("ksame", {"k": 4}),
        ("seeded", {"epsilon": 50.0, "rows": 2}),
        ("synthetic", {"epsilon": 8.0, "delta": 1e-5, "rows": 8}),
    ],
)
def test_an_audit_of_a_release_with_a_feature_nobody_has_comes_to_an_end(name, asked):
    table = without_blinks(60 if name in ("seeded", "synthetic") else 12)
    named = {"attackers": ["means"]} if name in ("laplace", "dct", "ksame") else {}
    found = audit(table, release(table, mechanism=name, **asked), **named)
    assert found.refuted == []
    said = found.to_dict()["notes"]
    nobody = "in the original nobody has a value of blink_duration_mean"
    assert any(line.startswith(nobody) for line in said)
    json.loads(found.to_json())
    assert "NaN" not in found.to_json()
    assert "<svg" in report(found, own=True)


def test_an_audit_before_any_release_names_the_feature_nobody_has():
    found = audit(without_blinks(), attackers=["means"])
    assert "nobody has a value of blink_duration_mean" in " ".join(found.to_dict()["notes"])
    assert "<svg" in report(found)


def test_inspect_tells_that_nobody_has_a_feature():
    found = inspect(without_blinks().study())
    assert found["quality"]["missing_blink_duration_mean"] == 1.0
    assert found["release"]
