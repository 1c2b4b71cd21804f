"""Steps that depend on each other: how much they do, and what that tells about one of them."""

from eyelid.attacks.temporal.correlation import mean_over_features, temporal_correlations
from eyelid.attacks.temporal.gaussian_prior import (
    autoregressive_covariance,
    dependent_epsilon,
    dependent_mu,
)
from eyelid.attacks.temporal.leakage import LeakageFunction, leakage, leakage_supremum
from eyelid.attacks.temporal.of_mechanism import (
    GaussianBelief,
    Steps,
    gaussian_belief,
    independent_steps,
)
from eyelid.attacks.temporal.summary import (
    TemporalSummary,
    overlap_transitions,
    release_summary,
    temporal_summary,
)
from eyelid.attacks.temporal.transitions import (
    Transitions,
    autoregressive_transitions,
    backward_matrix,
    estimated_transitions,
    stationary,
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
