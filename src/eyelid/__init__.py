"""eyelid makes eye-tracking data safe to share.

>>> import eyelid
>>> quote = eyelid.cost("laplace", people=20, recordings=3, features=16, length=600, epsilon=1.0)
>>> quote.person_level.numbers()
'ε = 1'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from eyelid.version import __version__

if TYPE_CHECKING:
    from eyelid.comparisons.compare import compare as compare
    from eyelid.comparisons.recommend import recommend as recommend
    from eyelid.gaze.events import detect_events as detect_events
    from eyelid.gaze.features import event_features as event_features
    from eyelid.gaze.features import window_features as window_features
    from eyelid.gaze.maps.gaze_map import GazeMap as GazeMap
    from eyelid.gaze.maps.gaze_map import gaze_map as gaze_map
    from eyelid.gaze.maps.spread import heatmap as heatmap
    from eyelid.gaze.simulator import simulate as simulate
    from eyelid.gaze.study import Feature as Feature
    from eyelid.gaze.study import Study as Study
    from eyelid.gaze.table import FeatureTable as FeatureTable
    from eyelid.io.reading import read as read
    from eyelid.io.study_folder import write as write
    from eyelid.mechanisms import mechanism as mechanism
    from eyelid.mechanisms.certificate import Certificate as Certificate
    from eyelid.privacy.guarantee import Guarantee as Guarantee
    from eyelid.releases.audits.audit import audit as audit
    from eyelid.releases.audits.audit import audit_heatmap as audit_heatmap
    from eyelid.releases.kinds.features.quote import cost as cost
    from eyelid.releases.kinds.maps.heatmap import private_heatmap as private_heatmap
    from eyelid.releases.kinds.statistics.release import summary as summary
    from eyelid.releases.pipeline import Release as Release
    from eyelid.releases.release import release as release
    from eyelid.verification.verify import verify as verify

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "Certificate": "eyelid.mechanisms.certificate",
    "Feature": "eyelid.gaze.study",
    "FeatureTable": "eyelid.gaze.table",
    "GazeMap": "eyelid.gaze.maps.gaze_map",
    "Guarantee": "eyelid.privacy.guarantee",
    "Release": "eyelid.releases.pipeline",
    "Study": "eyelid.gaze.study",
    "audit": "eyelid.releases.audits.audit",
    "audit_heatmap": "eyelid.releases.audits.audit",
    "compare": "eyelid.comparisons.compare",
    "convert": "eyelid.io.convert",
    "cost": "eyelid.releases.kinds.features.quote",
    "detect_events": "eyelid.gaze.events",
    "event_features": "eyelid.gaze.features",
    "gaze_map": "eyelid.gaze.maps.gaze_map",
    "heatmap": "eyelid.gaze.maps.spread",
    "lint": "eyelid.io.lint",
    "mechanism": "eyelid.mechanisms",
    "private_heatmap": "eyelid.releases.kinds.maps.heatmap",
    "read": "eyelid.io",
    "recommend": "eyelid.comparisons.recommend",
    "release": "eyelid.releases.release",
    "simulate": "eyelid.gaze.simulator",
    "summary": "eyelid.releases.kinds.statistics.release",
    "verify": "eyelid.verification.verify",
    "window_features": "eyelid.gaze.features",
    "write": "eyelid.io",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'eyelid' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
