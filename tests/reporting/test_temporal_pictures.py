"""Pictures of time show what was computed, and say so in words."""

from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.temporal import (
    autoregressive_transitions,
    estimated_transitions,
    temporal_correlations,
    temporal_summary,
)
from eyelid.errors import InputError
from eyelid.reporting.temporal_pictures import (
    correlation_figure,
    correlation_picture,
    leakage_picture,
)


def words(picture):
    root = ElementTree.fromstring(str(picture))
    return root.get("aria-label"), " ".join("".join(t.itertext()) for t in root.iter()), root


def test_correlation_is_drawn_for_raw_signals_and_differences(make_table):
    alt, text, _ = words(correlation_picture(temporal_correlations(make_table()), step_ms=500))
    assert "raw signals, mean over features" in text
    assert "differences, mean over features" in text
    assert "Δt in s" in text
    for task in "012":
        assert f"{task}: " in alt


def test_one_feature_can_be_drawn_as_in_the_paper(make_table):
    correlations = temporal_correlations(make_table())
    _, text, _ = words(correlation_picture(correlations, "pupil"))
    assert "raw signals, pupil" in text
    assert "Δt in rows" in text
    with pytest.raises(InputError, match="did you mean 'pupil'"):
        correlation_picture(correlations, "pupl")


def test_many_tasks_are_drawn_as_their_mean(make_table):
    correlations = temporal_correlations(make_table(recordings=7))
    assert "mean of 7 tasks" in words(correlation_picture(correlations))[0]


def test_a_feature_without_coefficients_leaves_an_empty_picture(make_table):
    nothing = temporal_correlations(make_table()).with_columns(
        raw=pl.lit(None, pl.Float64), difference=pl.lit(None, pl.Float64)
    )
    assert "Correlation over time" in words(correlation_picture(nothing))[0]


def test_leakage_is_never_said_to_be_smaller_than_it_is(make_table):
    summary = temporal_summary(make_table(), 0.1, autoregressive_transitions(0.6), steps=90)
    alt, text, _ = words(leakage_picture(summary))
    assert "at most 0.725, of a sum of all ε of 9; never more than 0.725" in alt
    assert "limit, however long" in text
    assert "mathdefault" not in text


def test_a_limit_above_the_sum_is_not_shown(make_table):
    summary = temporal_summary(make_table(), 0.1, autoregressive_transitions(0.99), steps=9)
    alt, text, _ = words(leakage_picture(summary))
    assert "never more" not in alt
    assert "limit" not in text


def test_a_matrix_from_the_data_is_marked_in_the_picture(make_table):
    table = make_table()
    summary = temporal_summary(table, 0.1, estimated_transitions(table, "pupil"), steps=9)
    alt, text, _ = words(leakage_picture(summary))
    assert "NOT PUBLIC" in alt
    assert "NOT PUBLIC" in text


def test_without_a_release_there_is_no_picture_of_leakage(make_table):
    assert leakage_picture(temporal_summary(make_table())) is None


def test_one_call_draws_the_figures_of_the_paper_from_recordings(simulated, tmp_path):
    drawn = correlation_figure(simulated, "large_saccade_ratio", longest_delta_t=60)
    raw, differences = drawn.axes
    assert raw.get_title() == "raw signals, large_saccade_ratio"
    # Three tasks and the line at zero.
    assert len(raw.lines) == len(differences.lines) == 4
    assert raw.lines[1].get_xdata()[-1] == 30.0
    drawn.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_figures_3_and_4_of_real_people_have_the_shape_of_the_paper(real_windows):
    """Raw signals stay correlated for a long time, differences are about zero from the start."""
    drawn = correlation_figure(real_windows, "large_saccade_ratio")
    raw, differences = (
        [np.asarray(line.get_ydata(), float)[:50] for line in axis.lines[1:]] for axis in drawn.axes
    )
    assert len(raw) == 3
    for signal, step in zip(raw, differences, strict=True):
        assert signal[0] > 0.9
        assert np.nanmean(np.abs(step)) < 0.5 * np.nanmean(np.abs(signal))
