import numpy as np
import polars as pl
import pytest

from eyelid.attacks.streams.features import places
from eyelid.gaze.study import Study
from eyelid.mechanisms.streams.scene import Scene


def study(x, y, **columns):
    rows = {"person": "P", "recording": "r", "task": "", "stimulus": ""}
    data = pl.DataFrame(rows | {"time_ms": np.arange(len(x)) * 100.0, "x": x, "y": y} | columns)
    return Study("samples", data, pl.DataFrame({"person": ["P"]}), units="px")


def test_places_are_means_and_spreads_of_windows():
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 100, (2, 500))
    x[7] = y[7] = np.nan
    table = places(study(x, y), Scene.of("px", "0,0,100,100"))
    assert table.data["time_ms"].to_list() == [0.0, 30_000.0]
    row, seen = table.data.row(0, named=True), np.isfinite(x[:300])
    assert row["x_mean"] == pytest.approx(x[:300][seen].mean())
    assert row["y_spread"] == pytest.approx(y[:300][seen].std(ddof=1))
    assert row["correlation"] == pytest.approx(np.corrcoef(x[:300][seen], y[:300][seen])[0, 1])


def test_bounds_are_those_of_the_scene_and_never_of_the_gaze():
    scene = Scene.of("px", "0,0,100,50")
    one, other = (places(study(np.full(10, v), np.full(10, v)), scene) for v in (1.0, 49.0))
    assert one.features == other.features
    assert [(f.lower, f.upper) for f in one.features[:2]] == [(0.0, 100.0), (0.0, 50.0)]


def test_directions_are_places_in_degrees():
    ahead = np.zeros(10)
    gaze = study(ahead, ahead, gaze_x=ahead + 0.5, gaze_y=ahead, gaze_z=ahead + np.sqrt(0.75))
    row = places(gaze, Scene.of("direction")).data.row(0, named=True)
    assert row["x_mean"] == pytest.approx(np.degrees(0.5))
    assert row["y_mean"] == 0.0
