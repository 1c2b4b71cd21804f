"""What a release tells about one moment, by the mechanism that made it and public facts alone.

`dependent_mu` is what a linear release tells about one value, to an attacker who knows how values
go together: a release y = Ax + z with Gaussian noise z ~ N(0, Z), and an attacker who believes x ~
N(m, Σ) and knows nothing else. Learning y, they tell x_i = a from x_i = b as well as two normal
distributions whose means are μ′ standard deviations apart: for them the release is μ′-GDP about
x_i, with

    μ′_i = |a − b|·√(vᵀK⁻¹v),  v = AΣ_{:,i}/Σ_ii,  K = A(Σ − Σ_{:,i}Σ_{i,:}/Σ_ii)Aᵀ + Z.

Differential privacy assumes an attacker who knows all other values, and compares x_i = a with x_i =
b at equal others: that gives μ. Correlation can make μ′ larger than this μ, for a unit that is
smaller than all that is correlated; ignorance of the others makes it smaller. It is a figure about
one belief. It is reported beside μ and never lowers any noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.gaussian import check_delta, gaussian_epsilon
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import DiscreteGaussian
from eyelid.privacy.unit import RECORD, RECORDING, Trust

# In squared spans: that of a value of which nothing but its bounds is believed.
BELIEVED_VARIANCE = 1 / 12
# As shares of the range: far for the grid, near for whatever is clipped.
_AWAY = 0.25
# Beliefs about more rows than this take seconds.
_MOST_ROWS = 1200


Floats = NDArray[np.float64]
# How far below zero rounding may push a variance, as a share of the largest.
_ROUNDING = 1e-9


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
    """What a Gaussian belief about a signal reveals of one value; see `dependent_mu`.

    Attributes:
        rows: of the signal.
        correlation: of neighbouring rows, as believed.
        delta: at which ε are meant.
        mu_alone: of the value that is told best, to an attacker who knows all others.
        mu_dependent: of the value that is told best, to an attacker who has the belief.
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


def independent_steps(mechanism: FeatureMechanism, facts: PublicFacts) -> Steps | None:
    """Rows, or chunks, of a release; None where noise is spread over a whole recording.

    Leakage over time (Cao et al. 2017) is about steps that are made private one by one, with a
    pure ε each. Gaussian noise has none, and whole signals have one step only.
    """
    rows = mechanism.independent_rows
    if rows is None or not _about_rows(mechanism, Kind.PURE):
        return None
    if "chunk" not in mechanism.parameters():
        epsilon = mechanism.cost(facts, RECORD).epsilon
        return None if epsilon is None else Steps("row", facts.length, epsilon)
    whole, count = mechanism.cost(facts, RECORDING).epsilon, -(-facts.length // rows)
    return None if whole is None else Steps(f"chunk of {rows} rows", count, whole / count)


def gaussian_belief(
    mechanism: FeatureMechanism, facts: PublicFacts, correlation: float
) -> GaussianBelief | None:
    """What linear measurements with Gaussian noise tell about a value that is a span up or down.

    The measurements are y = Ax + z with the mechanism's own public A, as if nothing was clipped;
    x is one feature of one recording, believed to be an AR(1) process. None for other mechanisms,
    and for recordings too long to compute it.
    """
    if not _about_rows(mechanism, Kind.APPROXIMATE):
        return None
    measuring = cast(RecordMechanism, mechanism)
    distribution = noise_of(measuring, facts)
    if not isinstance(distribution, DiscreteGaussian) or facts.length > _MOST_ROWS:
        return None
    query = _linear_map(measuring, facts)
    step = np.broadcast_to(measuring.step(facts), (len(query), facts.features)).min(axis=1)
    variances = distribution.variance * np.square(step)
    prior = autoregressive_covariance(correlation, facts.length, BELIEVED_VARIANCE)
    return GaussianBelief(
        rows=facts.length,
        correlation=correlation,
        delta=measuring.delta_for(facts.people),
        mu_alone=float(np.sqrt((query**2 / variances[:, None]).sum(axis=0).max())),
        mu_dependent=float(dependent_mu(query, prior, variances).max()),
    )


def _about_rows(mechanism: FeatureMechanism, kind: Kind) -> bool:
    """Whether what is measured are rows of a person's own features, under a promise of a kind."""
    own = mechanism.measures and mechanism.trust is Trust.LOCAL
    return own and mechanism.kind is kind and mechanism.takes == "features"


def _linear_map(mechanism: RecordMechanism, facts: PublicFacts) -> np.ndarray:
    """A: coordinates × rows of one signal, as it is around the midpoint."""
    middle = np.full((1, facts.length, 1), 0.5)
    away = middle + _AWAY * np.eye(facts.length)[:, None, :, None]
    steps = mechanism.query(away, facts) - mechanism.query(middle, facts)
    found: np.ndarray = (steps * mechanism.step(facts) / _AWAY)[:, 0, :, 0].T
    return found


def dependent_mu(
    query: ArrayLike, prior: ArrayLike, noise: ArrayLike, distance: ArrayLike = 1.0
) -> Floats:
    """μ′ of every value: how well its two possible states are told apart under a Gaussian prior.

    vᵀK⁻¹v is how much y adds to what is known of x_i: 1/Var(x_i | y) − 1/Var(x_i). It is computed
    for all i at once, from one factorisation and without differences of nearly equal numbers.

    Args:
        query: A, one row an output and one column a value.
        prior: Σ, the public covariance of the values.
        noise: Z, or the variances of the outputs where their noise is independent.
        distance: |a − b|, for all values or for each: at most the public span.

    >>> dependent_mu(np.eye(2), [[1.0, 0.0], [0.0, 1.0]], 0.25).tolist()
    [2.0, 2.0]
    >>> dependent_mu(np.eye(2), [[1.0, 1.0], [1.0, 1.0]], 0.25).round(9).tolist()
    [2.828427125, 2.828427125]
    """
    a = _matrix(query, "query")
    covariance = _covariance(prior, a.shape[1], "prior")
    z = _noise(noise, a.shape[0])
    far = np.asarray(distance, dtype=np.float64)
    if not (np.isfinite(far).all() and (far >= 0).all() and far.shape in ((), (a.shape[1],))):
        raise InputError(
            f"distance must be a number of at least 0, or one for each of {a.shape[1]} values"
        )
    variance = np.diag(covariance)
    fixed = np.flatnonzero(variance <= 0)
    if len(fixed):
        raise InputError(
            f"value {fixed[0] + 1} has no variance in the prior: there is nothing to tell about it"
        )
    crossed = a @ covariance
    gain = np.linalg.solve(crossed @ a.T + z, crossed)
    explained = np.einsum("oi,oi->i", crossed, gain) / variance
    # Joseph's form of the variance that is left: a sum of squares, right however small it is.
    rest = np.eye(len(covariance)) - gain.T @ a
    left = ((rest @ covariance) * rest).sum(axis=1) + ((z @ gain) * gain).sum(axis=0)
    return np.asarray(far * np.sqrt(np.maximum(explained, 0.0) / left), dtype=np.float64)


def dependent_epsilon(
    query: ArrayLike,
    prior: ArrayLike,
    noise: ArrayLike,
    delta: float,
    distance: ArrayLike = 1.0,
) -> Floats:
    """ε′ of every value at δ: what its μ′ means as (ε, δ); see `dependent_mu`.

    >>> dependent_epsilon(np.eye(1), [[1.0]], 1.0, 1e-5).round(3).tolist()
    [4.377]
    """
    check_delta(delta)
    each = dependent_mu(query, prior, noise, distance)
    distinct, which = np.unique(each, return_inverse=True)
    return np.array([gaussian_epsilon(mu, delta) for mu in distinct.tolist()])[which]


def autoregressive_covariance(correlation: float, rows: int, variance: float = 1.0) -> Floats:
    """Σ of an AR(1) process: the variance times correlation^|i − j|.

    >>> autoregressive_covariance(0.5, 3).tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    """
    if not abs(correlation) <= 1:
        raise InputError(f"correlation must lie between -1 and 1, got {correlation:g}")
    if rows < 1:
        raise InputError(f"rows must be at least 1, got {rows}")
    if not (np.isfinite(variance) and variance > 0):
        raise InputError(f"variance must be positive and finite, got {variance:g}")
    row = np.arange(rows)
    return np.asarray(variance * correlation ** np.abs(row[:, None] - row), dtype=np.float64)


def _matrix(given: ArrayLike, what: str) -> Floats:
    found = np.asarray(given, dtype=np.float64)
    if found.ndim != 2 or not found.size or not np.isfinite(found).all():
        raise InputError(f"the {what} must be a matrix of finite numbers, got {found.shape}")
    return found


def _covariance(given: ArrayLike, size: int, what: str) -> Floats:
    """The matrix, if it can be the covariance of so many values."""
    found = _matrix(given, what)
    if found.shape != (size, size):
        raise InputError(f"the {what} must have the shape {(size, size)}, got {found.shape}")
    largest = float(np.abs(found).max())
    if not np.allclose(found, found.T, rtol=0, atol=_ROUNDING * largest):
        raise InputError(f"the {what} is not symmetric: give a covariance")
    smallest = float(np.linalg.eigvalsh(found)[0])
    if smallest < -_ROUNDING * largest * size:
        raise InputError(f"the {what} has the negative eigenvalue {smallest:g}: give a covariance")
    return found


def _noise(given: ArrayLike, size: int) -> Floats:
    """Z, with noise in every direction: an output without it tells x without limit."""
    found = np.asarray(given, dtype=np.float64)
    if found.ndim < 2:
        if found.shape not in ((), (size,)):
            raise InputError(f"{len(found)} noise variances for {size} outputs: give one an output")
        found = np.diag(np.broadcast_to(found, size).copy())
    found = _covariance(found, size, "noise")
    if np.linalg.eigvalsh(found)[0] <= 0:
        raise InputError("some output has no noise: a release without noise tells everything")
    return found
