"""From samples or fixations to bounded features: of windows, and of single events."""

from eyelid.gaze.features.catalogue import event_feature_set, window_feature_set
from eyelid.gaze.features.per_event import event_features
from eyelid.gaze.features.windows import window_features

__all__ = [
    "event_feature_set",
    "event_features",
    "window_feature_set",
    "window_features",
]
