"""What a release tells about one moment, by the mechanism that made it and public facts alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eyelid.attacks.temporal.gaussian_prior import autoregressive_covariance, dependent_mu
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.noisy import noise_of
from eyelid.mechanisms.records.additive import AdditiveMechanism
from eyelid.mechanisms.records.cfpa import ChunkedMechanism
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.privacy.gaussian import gaussian_epsilon
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import DiscreteGaussian
from eyelid.privacy.unit import RECORD, RECORDING, Trust

# In squared spans: that of a value of which nothing but its bounds is believed.
BELIEVED_VARIANCE = 1 / 12
# In spans: far for the grid, near for whatever is clipped.
_AWAY = 0.25
# Beliefs about more rows than this take seconds.
_MOST_ROWS = 1200


@dataclass(frozen=True)
class Steps:
    """The parts of a recording whose noise is independent, each with a pure ε of its own.

    Attributes:
        what: one of them, in words.
        count: how many a recording has.
        epsilon: of one, over all features.
    """

    what: str
    count: int
    epsilon: float


@dataclass(frozen=True)
class GaussianBelief:
    """What somebody with a Gaussian belief about a signal learns of one value; see `dependent_mu`.

    Attributes:
        rows: of the signal.
        correlation: of neighbouring rows, as believed.
        delta: at which ε are meant.
        mu_alone: of the value that is told best, to somebody who knows all others.
        mu_dependent: of the value that is told best, to somebody who has the belief.
    """

    rows: int
    correlation: float
    delta: float
    mu_alone: float
    mu_dependent: float

    @property
    def epsilon_alone(self) -> float:
        """ε of one value at δ: what the mechanism itself says of it."""
        return gaussian_epsilon(self.mu_alone, self.delta)

    @property
    def epsilon_dependent(self) -> float:
        """ε′ of one value at δ."""
        return gaussian_epsilon(self.mu_dependent, self.delta)


def independent_steps(mechanism: FeatureMechanism, shape: Shape) -> Steps | None:
    """Rows, or chunks, of a release; None where noise is spread over a whole recording.

    Leakage over time (Cao et al. 2017) is about steps that are made private one by one, with a
    pure ε each. Gaussian noise has none, and whole signals have one step only.
    """
    if mechanism.kind is not Kind.PURE or not _about_rows(mechanism):
        return None
    if isinstance(mechanism, AdditiveMechanism):
        epsilon = mechanism.cost(shape, RECORD).epsilon
        what, count = "row", shape.length
    elif isinstance(mechanism, ChunkedMechanism):
        what, count = f"chunk of {mechanism.chunk} rows", mechanism.pieces(shape)
        whole = mechanism.cost(shape, RECORDING).epsilon
        epsilon = None if whole is None else whole / count
    else:
        return None
    return None if epsilon is None else Steps(what, count, epsilon)


def gaussian_belief(
    mechanism: FeatureMechanism, shape: Shape, correlation: float
) -> GaussianBelief | None:
    """What linear measurements with Gaussian noise tell about a value that is a span up or down.

    The measurements are y = Ax + z with the mechanism's own public A, as if nothing was clipped;
    x is one feature of one recording, believed to be an AR(1) process. None for other mechanisms,
    and for recordings too long to compute it.
    """
    if not isinstance(mechanism, MeasuringMechanism) or not _about_rows(mechanism):
        return None
    law = noise_of(mechanism, shape)
    if not isinstance(law, DiscreteGaussian) or shape.length > _MOST_ROWS:
        return None
    query = _linear_map(mechanism, shape)
    step = np.broadcast_to(mechanism.step(shape), (len(query), shape.features)).min(axis=1)
    variances = law.variance * np.square(step)
    prior = autoregressive_covariance(correlation, shape.length, BELIEVED_VARIANCE)
    return GaussianBelief(
        rows=shape.length,
        correlation=correlation,
        delta=mechanism.delta_for(shape.people),
        mu_alone=float(np.sqrt((query**2 / variances[:, None]).sum(axis=0).max())),
        mu_dependent=float(dependent_mu(query, prior, variances).max()),
    )


def _about_rows(mechanism: FeatureMechanism) -> bool:
    """Whether what is measured are rows of somebody's own features."""
    return mechanism.takes == "features" and mechanism.trust is Trust.LOCAL


def _linear_map(mechanism: MeasuringMechanism, shape: Shape) -> np.ndarray:
    """A: coordinates × rows of one signal, as it is around the midpoint."""
    middle = np.full((1, shape.length, 1), 0.5)
    away = middle + _AWAY * np.eye(shape.length)[:, None, :, None]
    steps = mechanism.query(away, shape) - mechanism.query(middle, shape)
    found: np.ndarray = (steps * mechanism.step(shape) / _AWAY)[:, 0, :, 0].T
    return found
