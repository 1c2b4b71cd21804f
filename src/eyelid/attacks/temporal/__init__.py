"""Steps that depend on each other: how much they do, and what that tells about one of them."""

from eyelid.attacks.temporal.belief import (
    GaussianBelief,
    Steps,
    autoregressive_covariance,
    dependent_epsilon,
    dependent_mu,
    gaussian_belief,
    independent_steps,
)
from eyelid.attacks.temporal.correlation import mean_over_features, temporal_correlations
from eyelid.attacks.temporal.leakage import (
    LeakageFunction,
    Transitions,
    autoregressive_transitions,
    backward_matrix,
    estimated_transitions,
    leakage,
    leakage_supremum,
    stationary,
)
from eyelid.attacks.temporal.summary import (
    TemporalSummary,
    overlap_transitions,
    release_summary,
    temporal_summary,
)

__all__ = [
    "GaussianBelief",
    "LeakageFunction",
    "Steps",
    "TemporalSummary",
    "Transitions",
    "autoregressive_covariance",
    "autoregressive_transitions",
    "backward_matrix",
    "dependent_epsilon",
    "dependent_mu",
    "estimated_transitions",
    "gaussian_belief",
    "independent_steps",
    "leakage",
    "leakage_supremum",
    "mean_over_features",
    "overlap_transitions",
    "release_summary",
    "stationary",
    "temporal_correlations",
    "temporal_summary",
]
