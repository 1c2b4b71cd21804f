"""What a researcher may write in a notebook, with types: mypy checks it strictly, and it runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
from matplotlib.axes import Axes

import eyelid


def trials(study: eyelid.Study) -> pd.DataFrame:
    """A frame as a person's own analysis leaves it."""
    return eyelid.window_features(study).only("fixation_rate", "blink_rate").to_pandas()


def features(frame: pd.DataFrame) -> eyelid.FeatureTable:
    """The frame, with what is publicly known of it."""
    return eyelid.FeatureTable.from_frame(
        frame,
        person="person",
        recording="recording",
        task="task",
        time="time_ms",
        bounds={
            "fixation_rate": (0.0, 10.0),
            "blink_rate": eyelid.Feature("blink_rate", "1/s", "blinks per second", 0.0, 2.0),
        },
    )


def released(table: eyelid.FeatureTable, out: Path) -> eyelid.Release:
    """Means of groups; refused where the ledger or the mechanism says so."""
    quote = eyelid.cost("ksame", table, k=3)
    assert quote.guarantee.k == 3
    try:
        eyelid.release(table, mechanism="ksame", k=300)
    except (eyelid.InputError, eyelid.Refused) as error:
        refusal: eyelid.EyelidError = error
        print(refusal)
    return eyelid.release(table, out, mechanism="ksame", k=3)


def looked_at(done: eyelid.Release) -> pl.DataFrame:
    """What was released."""
    certificate: eyelid.Certificate = done.certificate
    guarantee: eyelid.Guarantee = certificate.person_level
    assert guarantee.holds
    names: list[str] = done.table.names
    rows: pl.DataFrame = done.table.frame
    as_pandas: pd.DataFrame = done.to_pandas()
    assert len(as_pandas) == rows.height
    return rows.select(names)


def heatmap(study: eyelid.Study, ax: Axes) -> eyelid.GazeMap:
    """A private heatmap, drawn."""
    quote = eyelid.cost("map-grid", people=8, size=(800, 600), epsilon=1.0)
    assert quote.guarantee.epsilon == 1.0
    done = eyelid.heatmap(study, stimulus="comic", level="good", size=(1920, 1080))
    same = eyelid.release(study, mechanism="map-grid", stimulus="comic", epsilon=1.0)
    first: eyelid.GazeMap = done.maps[0]
    spread: eyelid.GazeMap = eyelid.point_spread(eyelid.gaze_map(study, stimulus="comic"), 40.0)
    assert spread.values.shape == first.values.shape == same.maps[0].values.shape
    first.plot(ax=ax)
    found: eyelid.Audit = eyelid.audit(study, done)
    assert found.verdict
    return first


def audited(table: eyelid.FeatureTable, done: eyelid.Release) -> Axes:
    """How identifiable people are, before and after."""
    before = eyelid.audit(table, attackers=["means"])
    strongest = before.worst
    assert strongest is not None
    after: eyelid.Audit = eyelid.audit(table, done, attackers=["means"])
    rates: pl.DataFrame = after.frame
    assert {"identification", "utility"} <= set(rates["what"])
    return after.plot()


def about(table: eyelid.FeatureTable, folder: Path) -> list[str]:
    """The rest: budget, leaks, facts, the catalogue."""
    written: eyelid.Study = eyelid.write(table, folder)
    budget: eyelid.Budget = eyelid.budget(folder, limit_epsilon=2.0)
    assert budget.limit is not None
    assert eyelid.inspect(written)["people"] == 6
    assert not [leak for leak in eyelid.lint(folder) if leak.severity == "leak"]
    names: list[str] = eyelid.mechanisms()["name"].to_list()
    return names
