"""What a slow tracker cannot tell."""

from __future__ import annotations

import polars as pl

from eyelid.gaze.study import Study, track_key

LEAST_RATE_HZ = 20.0


def slow_sampling(study: Study) -> str | None:
    """Which features mean little at the rate of the slowest recording; None above 20 Hz.

    >>> import polars as pl
    >>> data = pl.DataFrame({"person": "a", "recording": "r", "time_ms": [0.0, 100.0, 200.0]})
    >>> print(slow_sampling(Study("samples", data, data.select("person").unique())))
    recordings come at down to 10 Hz, below 20: saccade durations, speeds and accelerations mean \
little there, and short fixations and small saccades are missed
    """
    interval_ms = pl.col("time_ms").diff().median()
    slowest_ms = study.data.group_by(track_key(study.data)).agg(interval_ms)["time_ms"].max()
    if not isinstance(slowest_ms, float) or slowest_ms <= 1000.0 / LEAST_RATE_HZ:
        return None
    return (
        f"recordings come at down to {1000.0 / slowest_ms:.3g} Hz, below {LEAST_RATE_HZ:g}: "
        "saccade durations, speeds and accelerations mean little there, and short fixations and "
        "small saccades are missed"
    )
