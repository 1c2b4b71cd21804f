"""The one table of features: its order, its bounds, and the page that shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eyelid.errors import InputError
from eyelid.gaze.events.robust import MIN_AMPLITUDE
from eyelid.gaze.features import event_feature_set, window_feature_set
from eyelid.gaze.features.catalogue import PUPILS, SCALES

PAGE = Path(__file__).parents[3] / "docs" / "features.md"
SETS = {
    "windows": window_feature_set("deg"),
    "fixations": event_feature_set("fixations", "deg"),
    "saccades": event_feature_set("saccades", "deg"),
}


def table_of(features, first=0) -> str:
    """The features as the page shows them."""
    lines = ["| # | feature | unit | definition | bounds |", "|---|---|---|---|---|"]
    for number, f in enumerate(features, first):
        bounds = f"{f.lower:.6g} to {f.upper:.6g}".replace("-", "−")
        lines.append(f"| {number} | `{f.name}` | {f.unit} | {f.definition} | {bounds} |")
    return "\n".join(lines)


@pytest.mark.parametrize("kind", SETS)
def test_the_page_shows_the_table_as_it_is(kind):
    wanted = table_of(SETS[kind])
    assert wanted in PAGE.read_text("utf-8"), f"docs/features.md should have\n{wanted}"


def test_the_page_shows_the_caps_as_they_are():
    rows = {
        "a saccade is small below": [s.small for s in SCALES.values()],
        "smallest saccade": list(MIN_AMPLITUDE.values()),
        "largest saccade, distance to the previous event": [
            s.max_amplitude for s in SCALES.values()
        ],
        "extent of a fixation along one axis": [s.max_extent for s in SCALES.values()],
        "average speed within a fixation, noise included, a second": [
            s.max_drift_per_s for s in SCALES.values()
        ],
        "speed of an eye, a second": [s.max_speed_per_s for s in SCALES.values()],
        "acceleration of an eye, a second²": [s.max_acceleration_per_s2 for s in SCALES.values()],
    }
    shown = {}
    for line in PAGE.read_text("utf-8").splitlines():
        name, *cells = line.strip("| ").split(" | ")
        shown[name] = [cell.replace(" ", "") for cell in cells]
    for name, values in rows.items():
        assert [float(cell) for cell in shown[name]] == pytest.approx(values), name


def test_window_features_have_the_published_order():
    names = [feature.name for feature in window_feature_set("deg", 30.0)]
    assert len(names) == 52
    assert (names[0], names[14], names[21]) == (
        "fixation_rate",
        "fixation_duration_mean",
        "pupil_mean_mean",
    )
    assert (names[27], names[28], names[51]) == ("blink_rate", "wb1_nonzero", "wb4_var")


def test_wordbook_features_are_in_the_order_of_the_dataset(real_data):
    readme = real_data / "MPIIDPEye" / "Readme.txt"
    if not readme.exists():
        pytest.skip("MPIIDPEye is not in EYELID_DATA")
    published = re.findall(r"#(\d+)\. (.+) WB(\d)", readme.read_text("utf-8"))
    ours = {
        "non zero entries": "nonzero",
        "max": "max",
        "min": "min",
        "diff max-min": "range",
        "mean": "mean",
        "var": "var",
    }
    assert len(published) == 24
    names = [feature.name for feature in window_feature_set()]
    for number, what, length in published:
        assert names[int(number)] == f"wb{length}_{ours[what]}"


@pytest.mark.parametrize("units", SCALES)
@pytest.mark.parametrize("pupil", PUPILS)
def test_every_feature_is_described_and_has_room_to_vary(units, pupil):
    for features in (
        window_feature_set(units, 1.0, pupil),
        event_feature_set("fixations", units),
        event_feature_set("saccades", units),
    ):
        assert len({f.name for f in features}) == len(features)
        for feature in features:
            assert feature.lower < feature.upper
            assert feature.definition
            assert feature.unit


def test_unknown_units_are_refused():
    with pytest.raises(InputError, match="unknown units 'degrees'"):
        event_feature_set("fixations", "degrees")
    with pytest.raises(InputError, match="unknown pupil unit 'cm'"):
        window_feature_set("deg", 30.0, "cm")
