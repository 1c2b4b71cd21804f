"""What norms are of: eyelid's own features, and measures that tables of reading have."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from eyelid.gaze.features.catalogue import EVENT_KINDS, event_feature_set, window_feature_set
from eyelid.gaze.study import Feature


@cache
def definitions() -> Mapping[str, Feature]:
    """What norms can be of, by name: the features of windows and events, and measures of reading.

    >>> definitions()["skipping_rate"].upper
    1.0
    """
    features = list(window_feature_set())
    for kind in EVENT_KINDS:
        features += event_feature_set(kind)
    of_tables = [
        Feature(
            name, entry["unit"], entry["definition"], float(entry["lower"]), float(entry["upper"])
        )
        for name, entry in _file().items()
        if "unit" in entry
    ]
    return {feature.name: feature for feature in [*of_tables, *features]}


def measure_of(name: str) -> str | None:
    """The measure that a column is, by its name or one that known tables have for it.

    >>> measure_of("firstrun.dur"), measure_of("FFD"), measure_of("mood")
    ('gaze_duration', 'first_fixation_duration', None)
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower())
    return _names().get(plain, name if name in definitions() else None)


@cache
def _names() -> Mapping[str, str]:
    """Measures by all their names."""
    return {
        known: measure
        for measure, entry in _file().items()
        for known in (measure, *entry.get("names", ()))
    }


@cache
def _file() -> Mapping[str, Any]:
    text = resources.files("eyelid.gaze.norms").joinpath("definitions.toml").read_text("utf-8")
    return tomllib.loads(text)
