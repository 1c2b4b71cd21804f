"""Every feature by name, with its unit, its definition, and bounds from public facts alone.

A ratio lies in [0, 1]. A rate is at most what the shortest fixation allows. Lengths, durations,
speeds and diameters lie between the least that is detected and a public cap, and a variance is at
most a quarter of the squared width of what varies. No bound looks at data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from eyelid.errors import unknown
from eyelid.gaze.events.blinks import MAX_BLINK_MS, MIN_BLINK_MS
from eyelid.gaze.events.robust import MIN_AMPLITUDE, MIN_FIXATION_MS
from eyelid.gaze.features.wordbook import LENGTHS, LETTERS
from eyelid.gaze.study import Feature, Screen

Range = tuple[float, float]

EVENT_KINDS = ("fixations", "saccades")

# A report of fixations has no blinks, and nothing of what happens within a fixation.
_FROM_SAMPLES = ("blink_", "fixation_x_var", "fixation_y_var", "pupil_var")
_REPORTED = (
    *("fixation_duration", "fixation_x", "fixation_y"),
    *("fixation_previous_distance", "fixation_previous_angle"),
    *("saccade_duration", "saccade_amplitude", "saccade_angle"),
    *("saccade_average_speed", "saccade_previous_angle"),
)

# Public caps, from what eyes can do and never from anyone's data.
MAX_FIXATION_MS = 3000.0
MAX_SACCADE_MS = 200.0
MAX_BLINKS_PER_S = 2.0
MAX_SACCADES_PER_S = 1000.0 / MIN_FIXATION_MS
MAX_SACCADES_PER_FIXATION = 3.0
MAX_SKEWNESS = 5.0
MAX_KURTOSIS = 30.0
# The fastest saccades cross the field of view in 40 ms and reach their speed within 10 ms.
_CROSSINGS_PER_S = 25.0
_SPEED_UPS_PER_S = 100.0


# Of many features these are named first, where there is room for a few: what most studies report.
_MOST_USED = (
    *("fixation_rate", "fixation_duration_mean", "saccade_amplitude_mean", "pupil_mean_mean"),
    *("blink_rate", "fixation_duration", "saccade_amplitude", "saccade_duration"),
)
FEW = 3
"""Features that are named where there is room for a few."""


def most_used(names: Iterable[str], many: int = FEW) -> list[str]:
    """The features to name where there is room for a few: those that most studies report first.

    >>> most_used(["pupil", "blink_rate", "wb1_max", "fixation_rate"])
    ['fixation_rate', 'blink_rate', 'pupil']
    """
    ranked = {name: place for place, name in enumerate(_MOST_USED)}
    return sorted(names, key=lambda name: ranked.get(name, len(ranked)))[:many]


class Scale(NamedTuple):
    """Public sizes in the units of a study.

    Attributes:
        small: a saccade below this amplitude is small.
        max_amplitude: the field of view, which no saccade leaves.
        max_extent: of one fixation, along one axis.
        max_drift_per_s: average speed within a fixation, a tracker's noise included.
        pupil_unit: of the diameter, where the study does not say.
        width: of everything that can be looked at; of a full turn in degrees.
        height: the same.
    """

    small: float
    max_amplitude: float
    max_extent: float
    max_drift_per_s: float
    pupil_unit: str
    width: float
    height: float

    @property
    def max_speed_per_s(self) -> float:
        """The fastest that an eye turns: 1000 degrees a second."""
        return self.max_amplitude * _CROSSINGS_PER_S

    @property
    def max_acceleration_per_s2(self) -> float:
        """How soon an eye gets fast: by 100 000 degrees a second, every second."""
        return self.max_speed_per_s * _SPEED_UPS_PER_S


class PupilScale(NamedTuple):
    """Public sizes of pupils.

    Attributes:
        diameter: smallest and largest.
        max_extent: the most that it changes within one fixation.
    """

    diameter: Range
    max_extent: float


# Normalised are pupil positions in an eye camera image; a fraction is of a screen 1920 px wide.
SCALES = {
    "deg": Scale(3.0, 40.0, 1.0, 30.0, "mm", 360.0, 180.0),
    "px": Scale(105.0, 1400.0, 35.0, 1050.0, "mm", 1920.0, 1080.0),
    "fraction": Scale(0.055, 0.73, 0.018, 0.55, "mm", 1.0, 1.0),
    "normalised": Scale(0.02, 0.5, 0.05, 0.2, "px", 1.0, 1.0),
}

# Arbitrary are EyeLink's: an area or a diameter in units of its own, in the thousands.
PUPILS = {
    "mm": PupilScale((1.5, 9.0), 1.0),
    "px": PupilScale((0.0, 400.0), 40.0),
    "arbitrary": PupilScale((0.0, 16000.0), 2000.0),
}


def scale_of(units: str) -> Scale:
    """The public sizes in some units of x and y."""
    if units not in SCALES:
        raise unknown("units", units, SCALES)
    return SCALES[units]


def pupil_scale_of(units: str, pupil_unit: str | None) -> tuple[str, PupilScale]:
    """The unit of diameters, by default the one that goes with the units of x and y, and sizes."""
    pupil = pupil_unit or scale_of(units).pupil_unit
    if pupil not in PUPILS:
        raise unknown("pupil unit", pupil, PUPILS)
    return pupil, PUPILS[pupil]


def window_feature_set(
    units: str = "deg", window_s: float = 30.0, pupil_unit: str | None = None
) -> tuple[Feature, ...]:
    """The 52 features of a window, in the published order, with bounds from public facts alone.

    Paper: Steil et al. 2019, Privacy-aware eye tracking using differential privacy; the order is
    that of #0 to #51 of its dataset, MPIIDPEye.

    >>> feature = window_feature_set("deg")[7]
    >>> feature.name, feature.lower, feature.upper
    ('small_saccade_ratio', 0.0, 1.0)
    """
    return _windows(units, window_s, pupil_unit, *_least(units))


def reported_window_feature_set(
    units: str = "deg", window_s: float = 30.0, pupil_unit: str | None = None
) -> tuple[Feature, ...]:
    """The features of a window that a report of fixations has: 43 of the 52.

    What happens within a fixation and during blinks takes samples. Amplitudes and durations are
    bounded from zero on: a report may list what eyelid's detectors would not take for an event.

    >>> names = [feature.name for feature in reported_window_feature_set()]
    >>> len(names), "blink_rate" in names, "wb4_var" in names
    (43, False, True)
    """
    features = _windows(units, window_s, pupil_unit, 0.0, 0.0)
    return tuple(f for f in features if not f.name.startswith(_FROM_SAMPLES))


def _windows(
    units: str,
    window_s: float,
    pupil_unit: str | None,
    least_amplitude: float,
    least_fixation_ms: float,
) -> tuple[Feature, ...]:
    scale = scale_of(units)
    pupil, pupils = pupil_scale_of(units, pupil_unit)
    diameter = pupils.diameter
    share = (0.0, 1.0)
    rate = (0.0, MAX_SACCADES_PER_S)
    amplitude = (least_amplitude, scale.max_amplitude)
    fixation_ms = (least_fixation_ms, min(MAX_FIXATION_MS, window_s * 1000.0))
    blink_ms = (MIN_BLINK_MS, MAX_BLINK_MS)
    spread = _variance((0.0, scale.max_extent))
    pupil_spread = _variance((0.0, pupils.max_extent))
    small, large = f"below {scale.small:g} {units}", f"of {scale.small:g} {units} or more"
    squared, pupil_squared = f"{units}²", f"{pupil}²"
    fourth, pupil_fourth = f"{units}⁴", f"{pupil}⁴"
    per_fixation = (0.0, MAX_SACCADES_PER_FIXATION)
    rows = [
        ("fixation_rate", "1/s", "fixations a second", rate),
        ("saccade_rate", "1/s", "saccades a second", rate),
        ("small_saccade_rate", "1/s", f"saccades a second {small}", rate),
        ("large_saccade_rate", "1/s", f"saccades a second {large}", rate),
        ("positive_saccade_rate", "1/s", "saccades a second to the right", rate),
        ("negative_saccade_rate", "1/s", "saccades a second to the left", rate),
        ("saccade_fixation_ratio", "1", "saccades per fixation", per_fixation),
        ("small_saccade_ratio", "1", f"share of saccades {small}", share),
        ("large_saccade_ratio", "1", f"share of saccades {large}", share),
        ("positive_saccade_ratio", "1", "share of saccades to the right", share),
        ("negative_saccade_ratio", "1", "share of saccades to the left", share),
        ("saccade_amplitude_mean", units, "mean saccade amplitude", amplitude),
        ("saccade_amplitude_var", squared, "variance of the amplitudes", _variance(amplitude)),
        ("saccade_amplitude_max", units, "largest saccade amplitude", amplitude),
        ("fixation_duration_mean", "ms", "mean fixation duration", fixation_ms),
        ("fixation_duration_var", "ms²", "variance of the durations", _variance(fixation_ms)),
        ("fixation_duration_max", "ms", "longest fixation", fixation_ms),
        ("fixation_x_var_mean", squared, "mean over fixations of var(x)", spread),
        ("fixation_y_var_mean", squared, "mean over fixations of var(y)", spread),
        ("fixation_x_var_var", fourth, "variance over fixations of var(x)", _variance(spread)),
        ("fixation_y_var_var", fourth, "variance over fixations of var(y)", _variance(spread)),
        ("pupil_mean_mean", pupil, "mean over fixations of mean diameter", diameter),
        (
            "pupil_mean_var",
            pupil_squared,
            "variance over fixations of mean diameter",
            _variance(diameter),
        ),
        ("pupil_var_mean", pupil_squared, "mean over fixations of var(diameter)", pupil_spread),
        (
            "pupil_var_var",
            pupil_fourth,
            "variance over fixations of var(diameter)",
            _variance(pupil_spread),
        ),
        ("blink_duration_mean", "ms", "mean blink duration", blink_ms),
        ("blink_duration_var", "ms²", "variance of the durations", _variance(blink_ms)),
        ("blink_rate", "1/s", "blinks a second", (0.0, MAX_BLINKS_PER_S)),
    ]
    for length in LENGTHS:
        rows += _words(length, window_s)
    return tuple(Feature(name, unit, what, *bounds) for name, unit, what, bounds in rows)


def event_feature_set(
    kind: str,
    units: str = "deg",
    screen: Screen | None = None,
    xy_origin: str | None = None,
) -> tuple[Feature, ...]:
    """The features of a fixation or of a saccade, with bounds from public facts alone.

    Paper: George & Routray 2016, A score level fusion method for eye movement biometrics: its 12
    features of a fixation and where it is, its 46 of a saccade and its average speed.

    Args:
        kind: ``fixations`` or ``saccades``.
        units: of x and y.
        screen: bounds where a fixation can be, as far as its size is known.
        xy_origin: where x and y are zero: ``centre``, or else a corner.

    >>> [len(event_feature_set(kind)) for kind in ("fixations", "saccades")]
    [14, 47]
    """
    return _events(kind, units, screen, xy_origin, *_least(units))


def reported_event_feature_set(
    kind: str,
    units: str = "deg",
    screen: Screen | None = None,
    xy_origin: str | None = None,
) -> tuple[Feature, ...]:
    """The features of a fixation or of a saccade that a report of fixations has.

    Bounded from zero on, as those of `reported_window_feature_set`.

    Args:
        kind: ``fixations`` or ``saccades``.
        units: of x and y.
        screen: bounds where a fixation can be, as far as its size is known.
        xy_origin: where x and y are zero: ``centre``, or else a corner.

    >>> [feature.name for feature in reported_event_feature_set("saccades")][:3]
    ['saccade_duration', 'saccade_amplitude', 'saccade_angle']
    """
    features = _events(kind, units, screen, xy_origin, 0.0, 0.0)
    return tuple(f for f in features if f.name in _REPORTED)


def _least(units: str) -> tuple[float, float]:
    """The smallest amplitude and the shortest fixation that eyelid's own detector finds."""
    scale_of(units)
    return MIN_AMPLITUDE[units], MIN_FIXATION_MS


def _events(
    kind: str,
    units: str,
    screen: Screen | None,
    xy_origin: str | None,
    least_amplitude: float,
    least_fixation_ms: float,
) -> tuple[Feature, ...]:
    if kind not in EVENT_KINDS:
        raise unknown("kind of event features", kind, EVENT_KINDS)
    scale = _on_screen(scale_of(units), units, screen or Screen())
    # Degrees are from straight ahead, unless a corner is said.
    centred = xy_origin == "centre" or (units == "deg" and xy_origin is None)
    rows = (
        _fixations(units, scale, centred, least_fixation_ms)
        if kind == "fixations"
        else _saccades(units, scale, least_amplitude)
    )
    return tuple(Feature(name, unit, what, *bounds) for name, unit, what, bounds in rows)


def _on_screen(scale: Scale, units: str, screen: Screen) -> Scale:
    """The scale with the size of what can be looked at on a screen, where that is known."""
    if units == "px" and screen.width_px and screen.height_px:
        return scale._replace(width=float(screen.width_px), height=float(screen.height_px))
    if units == "deg" and screen.width_m and screen.height_m and screen.distance_m:
        width, height = (
            2 * math.degrees(math.atan2(size_m / 2, screen.distance_m))
            for size_m in (screen.width_m, screen.height_m)
        )
        return scale._replace(width=width, height=height)
    return scale


_Row = tuple[str, str, str, Range]
_ANY_DIRECTION = (-180.0, 180.0)


def _words(length: int, window_s: float) -> list[_Row]:
    """Six statistics of the occurrences of words of one length, in as many as a window can have."""
    most = window_s * MAX_SACCADES_PER_S - length + 1
    bins = LETTERS**length
    times = (0.0, most)
    word = f"words of {length} saccade{'s' if length > 1 else ''}"
    # Largest when one word is all there is.
    variance = (0.0, most**2 * (bins - 1) / bins**2)
    return [
        (f"wb{length}_nonzero", "1", f"different {word}", (0.0, min(float(bins), most))),
        (f"wb{length}_max", "1", f"occurrences of the commonest of all {word}", times),
        (f"wb{length}_min", "1", f"occurrences of the rarest of the {word} that occur", times),
        (f"wb{length}_range", "1", f"wb{length}_max − wb{length}_min", times),
        (f"wb{length}_mean", "1", f"mean occurrences over all {bins} {word}", (0.0, most / bins)),
        (f"wb{length}_var", "1", f"variance over all {bins} {word}", variance),
    ]


def _fixations(units: str, scale: Scale, centred: bool, least_ms: float) -> list[_Row]:
    speed = (0.0, scale.max_drift_per_s)
    path = (0.0, scale.max_drift_per_s * MAX_FIXATION_MS / 1000.0)
    deviation, extents = (0.0, scale.max_extent / 2), (0.0, 2 * scale.max_extent)
    first = -0.5 if centred else 0.0
    sizes = {"x": scale.width, "y": scale.height}
    return [
        ("fixation_duration", "ms", "from onset to offset", (least_ms, MAX_FIXATION_MS)),
        *[
            (f"fixation_{axis}", units, f"mean {axis}", (first * size, (first + 1.0) * size))
            for axis, size in sizes.items()
        ],
        *[
            row
            for axis in sizes
            for row in (
                (f"fixation_{axis}_std", units, f"standard deviation of {axis}", deviation),
                *_shape(f"fixation_{axis}", axis),
            )
        ],
        ("fixation_dispersion", units, "extent of x plus extent of y", extents),
        ("fixation_path_length", units, "sum of the distances between samples", path),
        ("fixation_average_speed", f"{units}/s", "path length over duration", speed),
        _previous("fixation", units, scale),
        (
            "fixation_previous_angle",
            "deg",
            "direction from the mean place of the previous fixation, from +x towards +y",
            _ANY_DIRECTION,
        ),
    ]


def _saccades(units: str, scale: Scale, least_amplitude: float) -> list[_Row]:
    amplitude = (least_amplitude, scale.max_amplitude)
    speed, acceleration = (0.0, scale.max_speed_per_s), (0.0, scale.max_acceleration_per_s2)
    per_s, per_s2 = f"{units}/s", f"{units}/s²"
    deviation, extents = (0.0, scale.max_amplitude / 2), (0.0, 2 * scale.max_amplitude)
    rows = [
        ("saccade_duration", "ms", "from onset to offset", (0.0, MAX_SACCADE_MS)),
        ("saccade_amplitude", units, "distance from onset to offset", amplitude),
        (
            "saccade_angle",
            "deg",
            "direction from onset to offset, from +x towards +y",
            _ANY_DIRECTION,
        ),
        ("saccade_dispersion", units, "extent of x plus extent of y", extents),
        ("saccade_path_length", units, "sum of the distances between samples", extents),
        ("saccade_x_std", units, "standard deviation of x", deviation),
        ("saccade_y_std", units, "standard deviation of y", deviation),
        ("saccade_average_speed", per_s, "amplitude over duration", speed),
        ("saccade_ratio", per_s2, "peak speed over duration", acceleration),
        _previous("saccade", units, scale),
        (
            "saccade_previous_angle",
            "deg",
            "turn from the direction of the previous saccade, +x towards +y",
            _ANY_DIRECTION,
        ),
    ]
    for what, unit, bounds in (("speed", per_s, speed), ("acceleration", per_s2, acceleration)):
        for axis in ("", "x_", "y_"):
            name = f"saccade_{axis}{what}"
            words = f"{what} along {axis[0]}, without sign" if axis else what
            half = (0.0, bounds[1] / 2)
            rows += [
                *[(f"{name}_{s}", unit, f"{s} {words}", bounds) for s in ("mean", "median", "max")],
                (f"{name}_std", unit, f"standard deviation of {words}", half),
                *_shape(name, words),
            ]
    return rows


def _shape(name: str, what: str) -> list[_Row]:
    """Third and fourth standardised moment."""
    return [
        (f"{name}_skewness", "1", f"skewness of {what}", (-MAX_SKEWNESS, MAX_SKEWNESS)),
        (f"{name}_kurtosis", "1", f"kurtosis of {what}, 3 for a Gaussian", (1.0, MAX_KURTOSIS)),
    ]


def _previous(event: str, units: str, scale: Scale) -> _Row:
    what = f"distance between the mean places of this and the previous {event}"
    return f"{event}_previous_distance", units, what, (0.0, scale.max_amplitude)


def _variance(values: Range) -> Range:
    """Bounds of the variance of values in a range (Popoviciu)."""
    return 0.0, (values[1] - values[0]) ** 2 / 4
