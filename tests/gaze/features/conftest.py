"""A slow, plain reference of every feature: loops over windows and events, from the definitions.

It shares nothing with eyelid's features but the events, which are tested elsewhere, and the public
caps. Values are compared after both are cut off at the bounds.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.events import detect_events, lost_in
from eyelid.gaze.features.catalogue import MAX_FIXATION_MS, PUPILS, SCALES
from eyelid.gaze.study import Feature, Study


@pytest.fixture
def study_of() -> Callable[..., Study]:
    """A study of one recording."""

    def make(time_ms, x, y, units="deg", pupil_unit=None, **columns) -> Study:
        keys = {name: ["a"] * len(time_ms) for name in ("person", "recording", "task", "stimulus")}
        return Study(
            kind="samples",
            data=pl.DataFrame(keys | {"time_ms": time_ms, "x": x, "y": y} | columns),
            people=pl.DataFrame({"person": ["a"]}),
            units=units,
            pupil_unit=pupil_unit,
        )

    return make


@pytest.fixture
def random_study(study_of) -> Callable[..., Study]:
    """Rests and jumps of any size, with noise, losses, jittered times and a pause."""

    def make(seed, units, rate_hz, hold, size, noise, lost, jitter, pause_s, seconds=8.0) -> Study:
        rng = np.random.default_rng(seed)
        count = int(seconds * rate_hz)
        rests = count // hold + 1
        place = rng.normal(0, size, (3, rests)).repeat(hold, axis=1)[:, :count]
        place += rng.normal(0, noise, place.shape)
        place[:, rng.random(rests).repeat(hold)[:count] < lost] = np.nan
        interval_ms = 1000 / rate_hz * (1 + jitter * rng.uniform(-0.5, 0.5, count))
        interval_ms[count // 2] += pause_s * 1000.0
        time_ms = 1e6 + np.cumsum(interval_ms)
        return study_of(time_ms, place[0], place[1], units, pupil=np.abs(place[2]))

    return make


def mean(values):
    return math.fsum(values) / len(values) if values else math.nan


def moment(values, power):
    centre = mean(values)
    return mean([(v - centre) ** power for v in values])


def clip(value, bounds):
    return value if math.isnan(value) else min(max(value, bounds[0]), bounds[1])


def samples_of(study):
    """Time and columns of the only recording as lists, and where it was lost."""
    recording = next(study.recordings())
    columns = {name: values.tolist() for name, values in recording.columns.items()}
    return recording.time_ms.tolist(), columns, lost_in(recording).tolist()


def events_of(study, kind, **settings):
    """First and last sample of each event of a kind."""
    time_ms = next(study.recordings()).time_ms.tolist()
    found = detect_events(study, **settings).filter(pl.col("name") == kind)
    return [
        (time_ms.index(onset), time_ms.index(offset))
        for onset, offset in found.select("onset_ms", "offset_ms").iter_rows()
    ]


def letter_of(right, up, small):
    """Sectors counted from the one around the right, anticlockwise, in degrees."""
    width = 45.0 if small else 22.5
    degrees = math.degrees(math.atan2(up, right)) % 360.0
    return f"{'small' if small else 'large'} {int((degrees + width / 2) // width * width) % 360}"


def plain_words(sentence, length):
    """The bins are all 24ⁿ words."""
    words = Counter(tuple(sentence[i : i + length]) for i in range(len(sentence) - length + 1))
    counts, bins = list(words.values()), 24**length
    average = sum(counts) / bins
    squares = math.fsum((c - average) ** 2 for c in counts) + (bins - len(counts)) * average**2
    most, least = max(counts, default=0), min(counts, default=0)
    return {
        f"wb{length}_nonzero": len(counts),
        f"wb{length}_max": most,
        f"wb{length}_min": least,
        f"wb{length}_range": most - least,
        f"wb{length}_mean": average,
        f"wb{length}_var": squares / bins,
    }


def plain_window(study, start_ms, window_ms, **settings):
    """One window of the only recording of a study."""
    scale = SCALES[study.units]
    pupils = PUPILS[study.pupil_unit or scale.pupil_unit]
    time_ms, columns, lost = samples_of(study)
    x, y = columns["x"], columns["y"]

    def inside(kind):
        for first, last in events_of(study, kind, **settings):
            if start_ms <= time_ms[first] - time_ms[0] < start_ms + window_ms:
                yield first, last

    amplitudes, rights, sentence = [], [], []
    for i, j in inside("saccade"):
        amplitude = min(math.hypot(x[j] - x[i], y[j] - y[i]), scale.max_amplitude)
        amplitudes.append(amplitude)
        rights.append(x[j] - x[i])
        sentence.append(letter_of(x[j] - x[i], y[j] - y[i], amplitude < scale.small))
    fixation_ms, variances, diameters, diameter_variances = [], {"x": [], "y": []}, [], []
    for i, j in inside("fixation"):
        fixation_ms.append(min(time_ms[j] - time_ms[i], MAX_FIXATION_MS))
        seen = [k for k in range(i, j + 1) if not lost[k]]
        for axis, all_of_them in variances.items():
            variance = moment([columns[axis][k] for k in seen], 2)
            all_of_them.append(min(variance, scale.max_extent**2 / 4))
        pupil = [columns["pupil"][k] for k in seen if not math.isnan(columns["pupil"][k])]
        if pupil:
            diameters.append(clip(mean(pupil), pupils.diameter))
            diameter_variances.append(min(moment(pupil, 2), pupils.max_extent**2 / 4))
    blink_ms = [time_ms[j] - time_ms[i] for i, j in inside("blink")]

    groups = {
        "small": [a < scale.small for a in amplitudes],
        "large": [a >= scale.small for a in amplitudes],
        "positive": [right > 0 for right in rights],
        "negative": [right < 0 for right in rights],
    }
    seconds = window_ms / 1000
    values = {
        "fixation_rate": len(fixation_ms) / seconds,
        "saccade_rate": len(amplitudes) / seconds,
        **{f"{name}_saccade_rate": sum(which) / seconds for name, which in groups.items()},
        "saccade_fixation_ratio": (len(amplitudes) / len(fixation_ms) if fixation_ms else math.nan),
        **{f"{name}_saccade_ratio": mean(which) for name, which in groups.items()},
        "saccade_amplitude_mean": mean(amplitudes),
        "saccade_amplitude_var": moment(amplitudes, 2),
        "saccade_amplitude_max": max(amplitudes, default=math.nan),
        "fixation_duration_mean": mean(fixation_ms),
        "fixation_duration_var": moment(fixation_ms, 2),
        "fixation_duration_max": max(fixation_ms, default=math.nan),
        "fixation_x_var_mean": mean(variances["x"]),
        "fixation_y_var_mean": mean(variances["y"]),
        "fixation_x_var_var": moment(variances["x"], 2),
        "fixation_y_var_var": moment(variances["y"], 2),
        "pupil_mean_mean": mean(diameters),
        "pupil_mean_var": moment(diameters, 2),
        "pupil_var_mean": mean(diameter_variances),
        "pupil_var_var": moment(diameter_variances, 2),
        "blink_duration_mean": mean(blink_ms),
        "blink_duration_var": moment(blink_ms, 2),
        "blink_rate": len(blink_ms) / seconds,
    }
    for length in (1, 2, 3, 4):
        values |= plain_words(sentence, length)
    return values


def shape(name, values, most):
    std = math.sqrt(moment(values, 2)) if values else math.nan
    if len(values) < 3 or std <= 1e-9 * most:
        return {f"{name}_skewness": math.nan, f"{name}_kurtosis": math.nan}
    return {
        f"{name}_skewness": moment(values, 3) / std**3,
        f"{name}_kurtosis": moment(values, 4) / std**4,
    }


def angle_deg(right, up):
    return math.degrees(math.atan2(up, right)) if right or up else math.nan


def path(places):
    return math.fsum(math.dist(a, b) for a, b in itertools.pairwise(places))


def extent(values):
    return max(values) - min(values)


def plain_fixations(study, **settings):
    """Every fixation of the only recording of a study."""
    scale = SCALES[study.units]
    time_ms, columns, lost = samples_of(study)
    rows, before = [], None
    for i, j in events_of(study, "fixation", **settings):
        seen = [k for k in range(i, j + 1) if not lost[k]]
        x, y = ([columns[axis][k] for k in seen] for axis in "xy")
        here, duration_ms = (mean(x), mean(y)), time_ms[j] - time_ms[i]
        turned = (here[0] + 180) % 360 - 180 if study.units == "deg" else here[0]
        length = path(list(zip(x, y, strict=True)))
        right, up = (here[0] - before[0], here[1] - before[1]) if before else (math.nan,) * 2
        rows.append(
            {
                "time_ms": time_ms[i],
                "fixation_duration": duration_ms,
                "fixation_x": turned,
                "fixation_y": here[1],
                "fixation_x_std": math.sqrt(moment(x, 2)),
                **shape("fixation_x", x, scale.max_extent),
                "fixation_y_std": math.sqrt(moment(y, 2)),
                **shape("fixation_y", y, scale.max_extent),
                "fixation_dispersion": extent(x) + extent(y),
                "fixation_path_length": length,
                "fixation_average_speed": length / duration_ms * 1000,
                "fixation_previous_distance": math.hypot(right, up),
                "fixation_previous_angle": angle_deg(right, up),
            }
        )
        before = here
    return rows


def plain_saccades(study, **settings):
    """Every saccade of the only recording of a study."""
    scale = SCALES[study.units]
    time_ms, columns, lost = samples_of(study)
    rows, before = [], None
    for i, j in events_of(study, "saccade", **settings):
        seen = [k for k in range(i, j + 1) if not lost[k]]
        x, y = ([columns[axis][k] for k in seen] for axis in "xy")
        here, duration_ms = (mean(x), mean(y)), time_ms[j] - time_ms[i]
        right, up = (columns[axis][j] - columns[axis][i] for axis in "xy")
        direction = angle_deg(right, up)
        row = {
            "time_ms": time_ms[i],
            "saccade_duration": duration_ms,
            "saccade_amplitude": math.hypot(right, up),
            "saccade_angle": direction,
            "saccade_dispersion": extent(x) + extent(y),
            "saccade_path_length": path(list(zip(x, y, strict=True))),
            "saccade_x_std": math.sqrt(moment(x, 2)),
            "saccade_y_std": math.sqrt(moment(y, 2)),
            "saccade_average_speed": math.hypot(right, up) / duration_ms * 1000,
        }
        rates, peak = {}, math.nan
        points = [(time_ms[k] / 1000, columns["x"][k], columns["y"][k]) for k in seen]
        for what, most in (
            ("speed", scale.max_speed_per_s),
            ("acceleration", scale.max_acceleration_per_s2),
        ):
            points = [
                ((s + t) / 2, (v - u) / (t - s), (q - p) / (t - s))
                for (s, u, p), (t, v, q) in itertools.pairwise(points)
            ]
            sizes = {
                "": [math.hypot(u, p) for _, u, p in points],
                "x_": [abs(u) for _, u, _ in points],
                "y_": [abs(p) for _, _, p in points],
            }
            if what == "speed":
                peak = max(sizes[""])
            for axis, values in sizes.items():
                name = f"saccade_{axis}{what}"
                middle = sorted(values)
                half = len(middle) // 2
                rates |= {
                    f"{name}_mean": mean(values),
                    f"{name}_median": (
                        (middle[(len(middle) - 1) // 2] + middle[half]) / 2 if middle else math.nan
                    ),
                    f"{name}_max": max(values, default=math.nan),
                    f"{name}_std": math.sqrt(moment(values, 2)) if values else math.nan,
                    **shape(name, values, most),
                }
        row["saccade_ratio"] = peak / duration_ms * 1000
        if before:
            (there, direction_then) = before
            row["saccade_previous_distance"] = math.dist(here, there)
            row["saccade_previous_angle"] = (direction - direction_then + 180) % 360 - 180
        else:
            row |= dict.fromkeys(("saccade_previous_distance", "saccade_previous_angle"), math.nan)
        rows.append(row | rates)
        before = here, direction
    return rows


@pytest.fixture
def plain():
    """The reference: windows, fixations and saccades."""
    return {"window": plain_window, "fixations": plain_fixations, "saccades": plain_saccades}


@pytest.fixture
def same_as_plain():
    """One row against the reference, cut off at the bounds, to a millionth of the range."""

    def compare(row: dict, reference: dict, features: tuple[Feature, ...]) -> None:
        assert set(reference) - {"time_ms"} == {f.name for f in features}
        for f in features:
            found = math.nan if row[f.name] is None else row[f.name]
            expected = clip(float(reference[f.name]), (f.lower, f.upper))
            # Opposite directions meet at half a turn.
            around = 360.0 if f.unit == "deg" and f.lower == -180.0 else 0.0
            if around and abs(abs(found - expected) - around) < 1e-6:
                continue
            assert found == pytest.approx(
                expected, rel=1e-6, abs=1e-8 * (f.upper - f.lower), nan_ok=True
            ), f.name

    return compare
