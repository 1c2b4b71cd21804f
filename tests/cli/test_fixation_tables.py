"""A report of fixations, from a csv to releases and audits, on the command line alone."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from eyelid.io import read

HEAD = "RECORDING_SESSION_LABEL,TRIAL_INDEX,CURRENT_FIX_X,CURRENT_FIX_Y,CURRENT_FIX_DURATION"


def report(times=True, people=4, trials=3, seed=0):
    """A fixation report of trials of a few seconds, one of a single fixation."""
    rng = np.random.default_rng(seed)
    lines = [HEAD + ",CURRENT_FIX_START" * times]
    for person in range(people):
        for trial in range(1, trials + 1):
            start = 0.0
            count = 1 if (person, trial) == (2, 2) else int(rng.integers(8, 15))
            for _ in range(count):
                x, y = rng.uniform([100, 100], [900, 700])
                lasting = round(rng.gamma(8, 20 + 4 * person) + 50)
                lines.append(
                    f"s{person},{trial},{x:.1f},{y:.1f},{lasting}" + f",{start:.0f}" * times
                )
                start += lasting + rng.integers(20, 60)
    return "\n".join(lines) + "\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "report.csv"
    path.write_text(report())
    return path


@pytest.mark.parametrize("kind", ["fixations", "saccades"])
def test_a_fixation_report_has_features_of_events(eyelid, source, tmp_path, kind):
    done = eyelid("features", source, tmp_path / "out", "--kind", kind)
    assert done.code == 0, done.err
    assert "what needs samples is not there" in done.err
    made = read(tmp_path / "out")
    # The row of a recording that is left out is no event.
    values = pl.any_horizontal(pl.col(f.name).is_not_null() for f in made.features)
    assert f"5 features of {made.data.filter(values).height} {kind}" in done.out
    assert ("left out" in done.err) == (kind == "saccades")


def test_a_fixation_report_has_windows_of_a_length_that_trials_have(eyelid, source, tmp_path):
    only_long = tmp_path / "long.csv"
    lines = source.read_text().splitlines()
    only_long.write_text("\n".join(x for x in lines if not x.startswith("s2,2")) + "\n")
    done = eyelid("features", only_long, tmp_path / "out", "--window", "1", "--step", "0.5")
    assert done.code == 0, done.err
    made = read(tmp_path / "out")
    assert made.window_ms == 1000.0
    assert len(made.features) == 41
    assert made.data["fixation_rate"].max() > 1


def test_trials_shorter_than_a_window_give_rows_by_default(eyelid, source, tmp_path):
    done = eyelid("features", source, tmp_path / "out")
    assert done.code == 0, done.err
    assert read(tmp_path / "out").data["recording"].n_unique() == 3
    assert " fixations." in done.out


def test_features_that_nobody_has_without_times_are_named(eyelid, tmp_path):
    (tmp_path / "report.csv").write_text(report(times=False))
    done = eyelid("features", tmp_path / "report.csv", tmp_path / "out", "--kind", "saccades")
    assert done.code == 0, done.err
    assert "nobody has saccade_duration, saccade_average_speed" in done.err
    only = "saccade_amplitude,saccade_angle,saccade_previous_angle"
    assert f"--only {only}" in done.err
    words = ["features", tmp_path / "report.csv", tmp_path / "few", "--kind", "saccades"]
    assert eyelid(*words, "--only", only).code == 0


def test_a_detector_is_refused_where_fixations_are_given(eyelid, source, tmp_path):
    done = eyelid("features", source, tmp_path / "out", "--method", "ivt")
    assert done.code == 2
    assert "in which nothing is detected" in done.err


def test_inspect_says_a_command_that_works(eyelid, source, tmp_path):
    done = eyelid("inspect", source, "--json")
    assert "'eyelid features IN OUT --kind fixations'" in json.loads(done.out)["release"]
    assert eyelid("features", source, tmp_path / "out", "--kind", "fixations").code == 0


@pytest.mark.usefixtures("quick_audits")
@pytest.mark.parametrize(
    "options",
    [
        ["--mechanism", "laplace", "--epsilon", "1"],
        ["--mechanism", "ksame", "--set", "k=2"],
        ["--mechanism", "groupmean", "--epsilon", "1"],
        ["--mechanism", "synthetic", "--epsilon", "4", "--set", "carry=1"],
    ],
    ids=lambda options: options[1],
)
def test_a_fixation_report_goes_from_csv_to_a_release_and_its_audit(
    eyelid, source, tmp_path, options
):
    assert eyelid("convert", source, tmp_path / "study").code == 0
    done = eyelid("release", tmp_path / "study", tmp_path / "out", *options)
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "certificate.json").exists()
    done = eyelid("audit", tmp_path / "study", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["verdict"]


@pytest.mark.usefixtures("quick_audits")
def test_a_fixation_report_is_audited_as_it_is_with_its_scanpaths(eyelid, source):
    done = eyelid("audit", source, "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["identification"]
    assert {row["attacker"] for row in rows} >= {"fused rbf-network"}


def test_a_price_and_a_comparison_are_known_of_a_fixation_report(eyelid, source, tmp_path):
    assert eyelid("convert", source, tmp_path / "study").code == 0
    done = eyelid("cost", tmp_path / "study", "--mechanism", "laplace", "--epsilon", "1", "--json")
    assert done.code == 0, done.err
    done = eyelid("compare", tmp_path / "study", "--mechanisms", "ksame", "--json")
    assert done.code == 0, done.err


@pytest.mark.usefixtures("quick_audits")
def test_a_trial_of_fewer_values_than_people_does_not_stop_an_audit_of_groups(eyelid, tmp_path):
    (tmp_path / "report.csv").write_text(report(people=6))
    assert eyelid("convert", tmp_path / "report.csv", tmp_path / "study").code == 0
    words = ["release", tmp_path / "study", tmp_path / "out", "--mechanism", "ksame"]
    assert eyelid(*words, "--set", "k=2").code == 0
    done = eyelid("audit", tmp_path / "study", tmp_path / "out", "--json")
    assert done.code == 0, done.err
