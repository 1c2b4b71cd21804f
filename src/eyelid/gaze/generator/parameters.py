"""What tells one person's gaze from another's: few numbers, with where people's lie.

Whatever else gaze is made of is the same for everybody and stands in the modules beside this one.
Angles are degrees. Where gaze is in pixels, fractions or eye camera units without a geometry, they
are the degrees that `eyelid.gaze.geometry.PER_DEGREE` makes of them: nominal ones, wrong by a
constant factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import unknown

Floats = NDArray[np.float64]

LOG, LINEAR = "log", "linear"
MOVEMENTS = ("reading", "scene", "search")
PIVOT_DEG = 4.0
"""The saccade whose peak speed is a parameter: where the literature has most of them."""
NOISE_HZ = (2.0, 8.0, 32.0, 128.0)
"""Where the spectrum of what gaze does in fixations is a parameter; lines between, on logs."""
OFFSET_DEG = 0.8
"""How far a tracker is off after calibration, on average over people: 0.5 to 1 degree in practice.
How much of it comes back at a person's next calibration differs; here all of it does."""


@dataclass(frozen=True)
class Parameter:
    """A number that a recording has, and where people's lie.

    Attributes:
        name: of it.
        unit: of it.
        definition: what it is.
        scale: on which it is averaged, ``log`` or ``linear``.
        lower: the least that counts; what is less is taken for that.
        upper: the most.
        centre: mean over people by the norm, on the scale; so are the following two.
        between: standard deviation between people.
        within: standard deviation between recordings of a person.
        source: where the norm is from: ``published: …``, or ``ours: …``, a round assumption.
        needs: what a recording must have for it to be measured: ``pupil``, ``mm``, or a least rate
            such as ``120 Hz``.
    """

    name: str
    unit: str
    definition: str
    scale: str
    lower: float
    upper: float
    centre: float
    between: float
    within: float
    source: str
    needs: frozenset[str] = frozenset()

    @property
    def least_hz(self) -> float:
        """The slowest tracker that it can be measured with."""
        rates = [float(need.split()[0]) for need in self.needs if need.endswith(" Hz")]
        return max(rates, default=0.0)

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most, on the scale."""
        if self.scale == LINEAR:
            return self.lower, self.upper
        return math.log(self.lower), math.log(self.upper)

    def scaled(self, values: Floats | float) -> Floats:
        """Values on the scale, within bounds.

        Args:
            values: in the unit.
        """
        within = np.clip(np.asarray(values, dtype=np.float64), self.lower, self.upper)
        return np.log(within) if self.scale == LOG else within

    def natural(self, values: Floats | float) -> Floats:
        """Values in the unit, within bounds.

        Args:
            values: on the scale.
        """
        values = np.asarray(values, dtype=np.float64)
        lower, upper = self.bounds
        within = np.clip(values, lower, upper)
        return np.exp(within) if self.scale == LOG else within


def _log(
    name: str,
    unit: str,
    definition: str,
    norm: tuple[float, float, float],
    source: str,
    *needs: str,
) -> Parameter:
    """A parameter on the log scale; the norm is a geometric mean and two spreads of the log."""
    mean, between, within = norm
    reach = 3.0 * math.hypot(between, within)
    return Parameter(
        name,
        unit,
        definition,
        LOG,
        mean * math.exp(-reach),
        mean * math.exp(reach),
        math.log(mean),
        between,
        within,
        source,
        frozenset(needs),
    )


def _linear(
    name: str,
    unit: str,
    definition: str,
    bounds: tuple[float, float],
    norm: tuple[float, float, float],
    source: str,
    *needs: str,
) -> Parameter:
    return Parameter(name, unit, definition, LINEAR, *bounds, *norm, source, frozenset(needs))


_DOWIASCH = "published: Dowiasch et al. 2015, 10.3389/fnhum.2015.00046, Table 1"
_OURS = "ours: a round assumption"

PARAMETERS: tuple[Parameter, ...] = (
    _log(
        "fixation_ms",
        "ms",
        "geometric mean of fixation durations",
        (250.0, 0.20, 0.10),
        "published: centre of 225 to 330 ms, Rayner & Castelhano 2007, 10.4249/scholarpedia.3649, "
        "less what a log-normal's mean is above its median; ours: spreads",
    ),
    _log(
        "saccade_amplitude_deg",
        "deg",
        "geometric mean of saccade amplitudes",
        (3.0, 0.40, 0.20),
        f"{_DOWIASCH}: means 3.25 to 4.14 deg, between 1.07 to 1.31, here of logs; ours: wider, "
        "for other tasks, and within",
    ),
    _linear(
        "rightward_share",
        "1",
        "share of saccades that go right more than up or down",
        (0.0, 1.0),
        (0.42, 0.10, 0.06),
        f"{_OURS}, more horizontal than vertical saccades",
    ),
    _linear(
        "leftward_share",
        "1",
        "share of saccades that go left more than up or down",
        (0.0, 1.0),
        (0.32, 0.10, 0.06),
        f"{_OURS}, more horizontal than vertical saccades",
    ),
    _log(
        "fixation_log_sd",
        "1",
        "standard deviation of the log of fixation durations",
        (0.42, 0.18, 0.12),
        f"{_OURS}",
    ),
    _log(
        "saccade_log_sd",
        "1",
        "standard deviation of the log of saccade amplitudes",
        (0.75, 0.20, 0.12),
        f"{_OURS}",
    ),
    _linear(
        "sweep",
        "1",
        "how much larger leftward saccades are than rightward ones: difference of mean logs",
        (-1.5, 1.5),
        (0.2, 0.30, 0.20),
        f"{_OURS}: 0 on scenes, above 0 where lines of text are read",
    ),
    _log(
        "saccades_per_fixation",
        "1",
        "saccades found for each fixation found",
        (1.0, 0.12, 0.08),
        f"{_OURS}: a saccade lies between two fixations; blinks hide some, brief rests add some",
    ),
    _log(
        "peak_speed_deg_s",
        "deg/s",
        f"peak speed of a saccade of {PIVOT_DEG:g} deg, on the line through logs",
        (252.0, 0.20, 0.10),
        f"{_DOWIASCH}: 252 ± 29 deg/s at 3 to 5 deg; ours: wider, since filters of trackers "
        "differ, and within",
        "120 Hz",
    ),
    _linear(
        "speed_slope",
        "1",
        "how the log of the peak speed rises with the log of the amplitude",
        (0.0, 1.2),
        (0.40, 0.12, 0.08),
        f"{_DOWIASCH}: 0.335 ± 0.04; ours: higher and wider, since small saccades count here",
        "120 Hz",
    ),
    _log(
        "blinks_per_min",
        "1/min",
        "blinks a minute; none counts as the least",
        (10.0, 0.70, 0.35),
        "published: Nagarajan et al. 2024, 10.1016/j.jtos.2024.11.002, and Doughty 2002, "
        "10.1097/00006324-200207000-00013: 10 to 12; ours: spreads of logs",
    ),
    _log(
        "noise_2hz",
        "deg/sqrt(Hz)",
        "amplitude spectral density of gaze in fixations around 2 Hz, mean of both axes",
        (0.05, 0.80, 0.30),
        f"{_OURS}: drift, and what detectors take for rest, which differs most",
    ),
    _log(
        "noise_8hz",
        "deg/sqrt(Hz)",
        "amplitude spectral density of gaze in fixations around 8 Hz, mean of both axes",
        (0.02, 0.60, 0.30),
        f"{_OURS}: drift and tracker",
    ),
    _log(
        "spread_x_deg",
        "deg",
        "standard deviation of horizontal gaze",
        (6.0, 0.35, 0.20),
        f"{_OURS}: a third of half a screen",
    ),
    _log(
        "spread_y_deg",
        "deg",
        "standard deviation of vertical gaze",
        (4.5, 0.35, 0.20),
        f"{_OURS}: less than horizontally",
    ),
    _log(
        "pupil_mm",
        "mm",
        "mean diameter of the pupil",
        (4.0, 0.22, 0.06),
        "published: Schröder et al. 2018, 10.5301/ejo.5001027: 4.03 ± 0.9 mm, within below 0.2",
        "pupil",
        "mm",
    ),
    _log(
        "pupil_variation",
        "1",
        "standard deviation of the diameter in a recording over its mean",
        (0.06, 0.35, 0.25),
        f"{_OURS}",
        "pupil",
    ),
    _log(
        "lost_share",
        "1",
        "share of samples without gaze besides blinks; none counts as the least",
        (0.01, 1.0, 0.60),
        f"{_OURS}",
    ),
    _linear(
        "saccade_skew",
        "1",
        "skewness of the log of saccade amplitudes",
        (-1.5, 1.5),
        (0.2, 0.35, 0.20),
        f"{_OURS}: above 0 where steps and far larger movements alternate, as in reading",
    ),
    _log(
        "noise_32hz",
        "deg/sqrt(Hz)",
        "amplitude spectral density of gaze in fixations around 32 Hz, mean of both axes",
        (0.004, 0.60, 0.30),
        f"{_OURS}: tracker",
        "120 Hz",
    ),
    _log(
        "noise_128hz",
        "deg/sqrt(Hz)",
        "amplitude spectral density of gaze in fixations around 128 Hz, mean of both axes",
        (0.0012, 0.60, 0.30),
        f"{_OURS}: tracker",
        "400 Hz",
    ),
)
"""In public order: what is most worth paying for first."""

NAMES = tuple(parameter.name for parameter in PARAMETERS)


def parameter(name: str) -> Parameter:
    """The parameter of a name.

    >>> parameter("fixation_ms").unit
    'ms'
    """
    if name not in NAMES:
        raise unknown("parameter", name, NAMES)
    return PARAMETERS[NAMES.index(name)]


def measurable(
    rate_hz: float | None, *, pupil: bool, pupil_unit: str | None
) -> tuple[Sequence[Parameter], dict[str, str]]:
    """Which parameters recordings can have, and of the others why not.

    Args:
        rate_hz: of the recordings; None where they differ.
        pupil: whether there is a column of pupil sizes.
        pupil_unit: of it.

    >>> can, cannot = measurable(30.0, pupil=False, pupil_unit=None)
    >>> len(can), cannot["pupil_mm"], cannot["peak_speed_deg_s"]
    (15, 'no pupil was recorded', 'needs 120 Hz, the tracker has 30')
    """
    reasons = {}
    for one in PARAMETERS:
        if "pupil" in one.needs and not pupil:
            reasons[one.name] = "no pupil was recorded"
        elif "mm" in one.needs and pupil_unit != "mm":
            reasons[one.name] = f"the pupil is not in mm but {pupil_unit or 'in unknown units'}"
        elif one.least_hz and rate_hz is None:
            reasons[one.name] = f"needs {one.least_hz:g} Hz, and recordings have no one rate"
        elif rate_hz is not None and rate_hz < one.least_hz:
            reasons[one.name] = f"needs {one.least_hz:g} Hz, the tracker has {rate_hz:g}"
    return tuple(one for one in PARAMETERS if one.name not in reasons), reasons
