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
    from eyelid.comparisons.recommendation import Recommendation as Recommendation
    from eyelid.errors import EyelidError as EyelidError
    from eyelid.errors import InputError as InputError
    from eyelid.errors import Refused as Refused
    from eyelid.gaze.areas import Area as Area
    from eyelid.gaze.events import detect_events as detect_events
    from eyelid.gaze.features import event_features as event_features
    from eyelid.gaze.features import window_features as window_features
    from eyelid.gaze.maps.gaze_map import GazeMap as GazeMap
    from eyelid.gaze.maps.gaze_map import gaze_map as gaze_map
    from eyelid.gaze.maps.spread import point_spread as point_spread
    from eyelid.gaze.simulator import simulate as simulate
    from eyelid.gaze.study import Feature as Feature
    from eyelid.gaze.study import Screen as Screen
    from eyelid.gaze.study import Study as Study
    from eyelid.gaze.table import FeatureTable as FeatureTable
    from eyelid.io.convert import convert as convert
    from eyelid.io.lint import lint as lint
    from eyelid.io.reading import read as read
    from eyelid.io.study_folder import write as write
    from eyelid.mechanisms import mechanism as mechanism
    from eyelid.mechanisms.certificate import Certificate as Certificate
    from eyelid.mechanisms.mechanism import mechanisms as mechanisms
    from eyelid.privacy.guarantee import Guarantee as Guarantee
    from eyelid.privacy.ledger import Ledger as Ledger
    from eyelid.releases.audits.audit import audit as audit
    from eyelid.releases.budget import budget as budget
    from eyelid.releases.cost import cost as cost
    from eyelid.releases.inspection import inspect as inspect
    from eyelid.releases.kinds.maps.heatmap import heatmap as heatmap
    from eyelid.releases.kinds.statistics.release import summary as summary
    from eyelid.releases.release import release as release
    from eyelid.reporting.audits.results import Audit as Audit
    from eyelid.reporting.budget import Budget as Budget
    from eyelid.reporting.comparisons.comparison import Comparison as Comparison
    from eyelid.reporting.quote import Quote as Quote
    from eyelid.reporting.release import Release as Release
    from eyelid.stream.gatekeeper import Gatekeeper as Gatekeeper
    from eyelid.verification.verify import verify as verify

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "Area": "eyelid.gaze.areas",
    "Audit": "eyelid.reporting.audits.results",
    "Budget": "eyelid.reporting.budget",
    "Certificate": "eyelid.mechanisms.certificate",
    "Comparison": "eyelid.reporting.comparisons.comparison",
    "EyelidError": "eyelid.errors",
    "Feature": "eyelid.gaze.study",
    "FeatureTable": "eyelid.gaze.table",
    "Gatekeeper": "eyelid.stream.gatekeeper",
    "GazeMap": "eyelid.gaze.maps.gaze_map",
    "Guarantee": "eyelid.privacy.guarantee",
    "InputError": "eyelid.errors",
    "Ledger": "eyelid.privacy.ledger",
    "Quote": "eyelid.reporting.quote",
    "Recommendation": "eyelid.comparisons.recommendation",
    "Refused": "eyelid.errors",
    "Release": "eyelid.reporting.release",
    "Screen": "eyelid.gaze.study",
    "Study": "eyelid.gaze.study",
    "audit": "eyelid.releases.audits.audit",
    "budget": "eyelid.releases.budget",
    "compare": "eyelid.comparisons.compare",
    "convert": "eyelid.io.convert",
    "cost": "eyelid.releases.cost",
    "detect_events": "eyelid.gaze.events",
    "event_features": "eyelid.gaze.features",
    "gaze_map": "eyelid.gaze.maps.gaze_map",
    "heatmap": "eyelid.releases.kinds.maps.heatmap",
    "inspect": "eyelid.releases.inspection",
    "lint": "eyelid.io.lint",
    "mechanism": "eyelid.mechanisms",
    "point_spread": "eyelid.gaze.maps.spread",
    "read": "eyelid.io",
    "recommend": "eyelid.comparisons.recommend",
    "release": "eyelid.releases.release",
    "simulate": "eyelid.gaze.simulator",
    "summary": "eyelid.releases.kinds.statistics.release",
    "verify": "eyelid.verification.verify",
    "window_features": "eyelid.gaze.features",
    "write": "eyelid.io",
}
# Names of version 0.1: where what is written instead lives, and its name.
_FORMER = {
    "audit_heatmap": ("eyelid.releases.audits.audit", "audit"),
    "private_heatmap": ("eyelid.releases.kinds.maps.heatmap", "heatmap"),
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "mechanisms":
        # The package, which is called as a function, too: ``eyelid.mechanisms()``.
        return importlib.import_module("eyelid.mechanisms")
    if name in _FORMER:
        import warnings

        home, now = _FORMER[name]
        warnings.warn(
            f"eyelid.{name} is called eyelid.{now} now, and goes with the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module(home), now)
    if name not in _HOMES:
        raise AttributeError(f"module 'eyelid' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "mechanisms"])
