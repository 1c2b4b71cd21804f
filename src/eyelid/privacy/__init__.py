"""Units, bounds, guarantees, composition, the ledger, exact noise. Knows nothing of eyes."""

from eyelid.privacy.bounds import Bounds, BoundsSource
from eyelid.privacy.composition import parallel, sequential
from eyelid.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu, gaussian_sigma
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.ledger import Ledger
from eyelid.privacy.noise import (
    gaussian_noise,
    laplace_noise,
    planar_laplace_noise,
    randomness,
    spherical_laplace_noise,
)
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON, RECORD, RECORDING, Neighbours, Trust, Unit

__all__ = [
    "PERSON",
    "RECORD",
    "RECORDING",
    "Bounds",
    "BoundsSource",
    "Guarantee",
    "Kind",
    "Ledger",
    "Neighbours",
    "Trust",
    "Unit",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_noise",
    "gaussian_sigma",
    "laplace_noise",
    "parallel",
    "planar_laplace_noise",
    "randomness",
    "rank1_bounds",
    "sequential",
    "spherical_laplace_noise",
]
