"""What is in a study, how good it is, who stands out, and what a release would take."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from eyelid.gaze.study import RECORDING_KEY, Study

# Below this many people alike, an attribute points at somebody.
_SMALL_GROUP = 5


def inspect(study: Study) -> dict[str, Any]:
    """Facts about a study, as ``eyelid inspect --json`` prints them.

    The result is for the owner's eyes: it describes private data.
    """
    data = study.data
    recordings = data.group_by(RECORDING_KEY, maintain_order=True).agg(
        pl.len().alias("rows"),
        ((pl.col("time_ms").max() - pl.col("time_ms").min()) / 1000).alias("duration_s"),
    )
    found: dict[str, Any] = {
        "kind": study.kind,
        "people": data["person"].n_unique(),
        "recordings": len(recordings),
        "tasks": _distinct(data, "task"),
        "stimuli": _distinct(data, "stimulus"),
        "rows": len(data),
        "units": study.units,
        "rate_hz": _rates(study),
        "duration_s": _spread(recordings["duration_s"].to_numpy()),
        "simulated": study.simulated,
        "attributes": [c for c in study.people.columns if c != "person"],
        "labels": study.labels,
        "events": None
        if study.events is None
        else dict(study.events["name"].value_counts().rows()),
        "quality": _quality(study),
        "quasi_identifiers": _quasi_identifiers(study, recordings),
    }
    found["release"] = _next_step(study, found)
    return found


def _distinct(data: pl.DataFrame, column: str) -> int:
    if column not in data.columns:
        return 0
    names = data[column].drop_nulls().unique()
    return int((names != "").sum())


def _spread(values: np.ndarray) -> dict[str, float]:
    return {
        "shortest": float(values.min()),
        "median": float(np.median(values)),
        "longest": float(values.max()),
    }


def _rates(study: Study) -> dict[str, float | None]:
    """The nominal rate, the measured one, and how unevenly samples follow each other."""
    steps = study.data.select(pl.col("time_ms").diff().over(RECORDING_KEY).alias("step_ms"))[
        "step_ms"
    ].drop_nulls()
    if steps.is_empty():
        return {"nominal": study.rate_hz, "measured": None, "jitter_ms": None}
    array = steps.to_numpy()
    middle = float(np.median(array))
    return {
        "nominal": study.rate_hz,
        "measured": 1000 / middle if middle else None,
        # Rounding of time stamps is no jitter.
        "jitter_ms": round(float(np.median(np.abs(array - middle))), 6),
    }


def _quality(study: Study) -> dict[str, float]:
    """Shares of missing values."""
    if study.kind == "features":
        names = [f.name for f in study.features if f.name in study.data.columns]
    else:
        names = [c for c in ("x", "y", "pupil") if c in study.data.columns]
    if not names:
        return {}
    missing = study.data.select(
        (pl.col(n).is_null() | pl.col(n).cast(pl.Float64).is_nan()).mean() for n in names
    )
    return {
        f"missing_{name}": float(share) for name, share in zip(names, missing.row(0), strict=True)
    }


def _quasi_identifiers(study: Study, recordings: pl.DataFrame) -> list[dict[str, Any]]:
    """Columns and combinations that single people out, the most telling first."""
    attributes = [c for c in study.people.columns if c != "person"]
    candidates = [[a] for a in attributes] + ([attributes] if len(attributes) > 1 else [])
    found: list[dict[str, Any]] = []
    for columns in candidates:
        sizes = study.people.group_by(columns).len()["len"]
        found.append(
            {
                "columns": columns,
                "people_alone": int((sizes == 1).sum()),
                "smallest_group": int(sizes.min()),  # type: ignore[arg-type]
            }
        )
    lengths = recordings.group_by("person").agg(pl.col("rows").sort())
    sizes = lengths.group_by("rows").len()["len"]
    found.append(
        {
            "columns": ["recording lengths"],
            "people_alone": int((sizes == 1).sum()),
            "smallest_group": int(sizes.min()),  # type: ignore[arg-type]
        }
    )
    return sorted(
        (f for f in found if f["smallest_group"] < _SMALL_GROUP),
        key=lambda f: f["people_alone"],
        reverse=True,
    )


def _next_step(study: Study, found: dict[str, Any]) -> str:
    if found["people"] < 2:
        return "One person has nobody to hide among: a release needs at least 2 people."
    if study.kind == "samples":
        return (
            "Make features ('eyelid features IN OUT --kind windows'), see the price ('eyelid cost "
            "OUT --mechanism gaussian --epsilon 1'), then 'eyelid release'."
        )
    unbounded = [f.name for f in study.features if not np.isfinite([f.lower, f.upper]).all()]
    if unbounded:
        return f"Give public bounds for {', '.join(unbounded)} with 'release … --bounds FILE'."
    return (
        "See the price ('eyelid cost IN --mechanism gaussian --epsilon 1'), then 'eyelid release "
        "IN OUT --mechanism gaussian --epsilon 1'."
    )
