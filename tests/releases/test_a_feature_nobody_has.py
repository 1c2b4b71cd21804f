"""A study in which nobody has one of the features, from inspect to a release and its audit."""

import functools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks import synthetic as noisy_answers
from eyelid.attacks.utility import learned_elsewhere
from eyelid.comparisons.compare import compare
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import write
from eyelid.releases.audits.audit import audit
from eyelid.releases.consistency.comparison import coupled
from eyelid.releases.consistency.folder import apart, shown_by
from eyelid.releases.inspection import inspect
from eyelid.releases.release import release
from eyelid.reporting.audits.page import report

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
        patch.setattr("eyelid.releases.audits.synthetic.learned_elsewhere", tree)
        patch.setattr("eyelid.releases.audits.records.utility", lambda *words, **more: [])
        patch.setattr(
            "eyelid.releases.audits.attack.TableAttack.tried", lambda attack, target: None
        )
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
    table = without_blinks({"seeded": 60, "synthetic": 200}.get(name, 12))
    named = {"attackers": ["means"]} if name in ("laplace", "dct", "ksame") else {}
    found = audit(table, release(table, mechanism=name, **asked), **named)
    assert found.refuted == []
    said = found.to_dict()["notes"]
    nobody = "in the original nobody has a value of blink_duration_mean"
    assert any(line.startswith(nobody) for line in said)
    empty = any(line.startswith("the release has no value of blink_dur") for line in said)
    assert empty == (name in ("ksame", "synthetic"))
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


def test_one_participant_with_a_feature_that_nobody_else_has_does_not_show_in_the_folder(tmp_path):
    """The same noise and no data: whatever differs would be read off raw data."""
    nobody = without_blinks(40)
    first = nobody.data["person"] == nobody.data["person"][0]
    own = pl.when(first).then(200.0).otherwise(pl.col("blink_duration_mean"))
    one = replace(nobody, data=nobody.data.with_columns(own.alias("blink_duration_mean")))
    shown = []
    for place, table in (("nobody", nobody), ("one", one)):
        write(table.study(), tmp_path / place / "study")
        (tmp_path / place / "beside").mkdir()
        out = tmp_path / place / "beside" / "release"
        with coupled():
            release(tmp_path / place / "study", out, mechanism="synthetic", epsilon=8.0, rows=8)
        shown.append(shown_by(out))
    assert apart(*shown, "synthetic", coupled=True) == []


def test_a_synthetic_release_names_the_empty_feature_in_its_card(tmp_path):
    table = without_blinks(200)
    done = release(table, tmp_path / "out", mechanism="synthetic", epsilon=8.0, delta=1e-5)
    assert done.table.data["blink_duration_mean"].null_count() == len(done.table.data)
    card = (tmp_path / "out" / "DATACARD.md").read_text()
    assert "By noisy counts hardly anyone has blink_duration_mean: its column is empty." in card
    assert "from the raw data" not in card
    assert any("nobody has a value of blink_duration_mean" in note for note in done.notes)
    assert "- **Averages**: over all participants, the mean of a feature" in card


def test_mechanisms_are_compared_on_a_study_with_a_feature_nobody_has():
    found = compare(without_blinks(), ["ksame", "groupmean"], epsilons=[4.0], sweep={"k": [4]})
    assert [row.setting.mechanism for row in found.rows] == ["ksame", "groupmean"]
    assert not any(row.skipped for row in found.rows)
