"""Which features come first, and which go together: from simulated people, never from any person.

Listed so that each says something new about what people do, and hangs on the one before it that it
goes together with most. `chosen_on` made the lists of 40 simulated people of seed 9, and a proof
makes them again. Before them come, unless all are asked for, the measures that are reported most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values

Listed = tuple[tuple[str, str], ...]

WINDOWS: Listed = (
    ("positive_saccade_ratio", ""),
    ("saccade_amplitude_var", "positive_saccade_ratio"),
    ("wb1_nonzero", "positive_saccade_ratio"),
    ("wb4_nonzero", "positive_saccade_ratio"),
    ("saccade_amplitude_max", "saccade_amplitude_var"),
    ("wb4_var", "positive_saccade_ratio"),
    ("small_saccade_ratio", "wb4_var"),
    ("negative_saccade_rate", "wb4_nonzero"),
    ("fixation_y_var_var", "small_saccade_ratio"),
    ("wb2_nonzero", "wb1_nonzero"),
    ("wb1_var", "wb4_var"),
    ("wb3_range", "wb4_var"),
    ("wb4_max", "wb3_range"),
    ("wb3_nonzero", "wb4_nonzero"),
    ("pupil_mean_mean", "small_saccade_ratio"),
    ("large_saccade_rate", "small_saccade_ratio"),
    ("positive_saccade_rate", "wb1_var"),
    ("wb2_max", "wb3_range"),
    ("saccade_amplitude_mean", "small_saccade_ratio"),
    ("wb2_var", "wb2_max"),
    ("small_saccade_rate", "wb1_var"),
    ("wb1_min", "wb1_nonzero"),
    ("wb3_var", "wb2_var"),
    ("fixation_y_var_mean", "fixation_y_var_var"),
    ("blink_duration_mean", "fixation_y_var_mean"),
    ("fixation_x_var_var", "small_saccade_ratio"),
    ("wb1_range", "wb1_var"),
    ("saccade_fixation_ratio", "positive_saccade_rate"),
    ("fixation_duration_mean", "positive_saccade_rate"),
    ("blink_rate", "blink_duration_mean"),
    ("fixation_x_var_mean", "fixation_x_var_var"),
    ("fixation_duration_var", "fixation_duration_mean"),
    ("pupil_var_mean", "fixation_duration_mean"),
    ("wb2_min", "wb1_min"),
    ("fixation_duration_max", "fixation_duration_var"),
    ("negative_saccade_ratio", "positive_saccade_ratio"),
    ("wb1_max", "wb1_range"),
    ("blink_duration_var", "blink_rate"),
    ("wb3_max", "wb3_range"),
    ("wb4_range", "wb4_max"),
    ("saccade_rate", "fixation_duration_mean"),
    ("wb2_range", "wb2_max"),
    ("large_saccade_ratio", "small_saccade_ratio"),
    ("pupil_mean_var", "pupil_var_mean"),
    ("wb3_min", "wb2_min"),
    ("fixation_rate", "saccade_rate"),
    ("pupil_var_var", "pupil_var_mean"),
    ("wb1_mean", "saccade_rate"),
    ("wb2_mean", "saccade_rate"),
    ("wb3_mean", "saccade_rate"),
    ("wb4_mean", "saccade_rate"),
    ("wb4_min", "positive_saccade_ratio"),
)

FIXATIONS: Listed = (
    ("fixation_y", ""),
    ("fixation_previous_distance", "fixation_y"),
    ("fixation_duration", "fixation_previous_distance"),
    ("fixation_x", "fixation_y"),
    ("fixation_y_std", "fixation_duration"),
    ("fixation_previous_angle", "fixation_previous_distance"),
    ("fixation_x_kurtosis", "fixation_duration"),
    ("fixation_path_length", "fixation_duration"),
    ("fixation_y_kurtosis", "fixation_duration"),
    ("fixation_dispersion", "fixation_path_length"),
    ("fixation_average_speed", "fixation_y_std"),
    ("fixation_x_std", "fixation_dispersion"),
    ("fixation_x_skewness", "fixation_previous_angle"),
    ("fixation_y_skewness", "fixation_previous_angle"),
)

SACCADES: Listed = (
    ("saccade_y_speed_mean", ""),
    ("saccade_y_acceleration_skewness", "saccade_y_speed_mean"),
    ("saccade_y_acceleration_median", "saccade_y_speed_mean"),
    ("saccade_previous_distance", "saccade_y_acceleration_median"),
    ("saccade_dispersion", "saccade_y_acceleration_median"),
    ("saccade_x_acceleration_skewness", "saccade_y_acceleration_skewness"),
    ("saccade_y_acceleration_kurtosis", "saccade_y_acceleration_skewness"),
    ("saccade_ratio", "saccade_dispersion"),
    ("saccade_y_std", "saccade_y_speed_mean"),
    ("saccade_x_acceleration_kurtosis", "saccade_y_acceleration_kurtosis"),
    ("saccade_angle", "saccade_dispersion"),
    ("saccade_y_speed_std", "saccade_y_acceleration_median"),
    ("saccade_speed_mean", "saccade_ratio"),
    ("saccade_y_speed_max", "saccade_y_std"),
    ("saccade_acceleration_mean", "saccade_y_speed_std"),
    ("saccade_y_speed_kurtosis", "saccade_y_acceleration_skewness"),
    ("saccade_acceleration_kurtosis", "saccade_x_acceleration_kurtosis"),
    ("saccade_speed_max", "saccade_speed_mean"),
    ("saccade_y_speed_median", "saccade_y_speed_mean"),
    ("saccade_duration", "saccade_y_speed_std"),
    ("saccade_y_acceleration_std", "saccade_y_speed_std"),
    ("saccade_x_std", "saccade_dispersion"),
    ("saccade_speed_std", "saccade_acceleration_mean"),
    ("saccade_speed_skewness", "saccade_y_speed_kurtosis"),
    ("saccade_speed_median", "saccade_speed_mean"),
    ("saccade_y_acceleration_max", "saccade_y_acceleration_median"),
    ("saccade_x_speed_mean", "saccade_speed_mean"),
    ("saccade_acceleration_skewness", "saccade_x_acceleration_skewness"),
    ("saccade_x_speed_max", "saccade_x_std"),
    ("saccade_amplitude", "saccade_dispersion"),
    ("saccade_speed_kurtosis", "saccade_y_speed_kurtosis"),
    ("saccade_x_acceleration_mean", "saccade_acceleration_mean"),
    ("saccade_previous_angle", "saccade_angle"),
    ("saccade_y_acceleration_mean", "saccade_y_acceleration_median"),
    ("saccade_x_speed_std", "saccade_speed_std"),
    ("saccade_x_speed_kurtosis", "saccade_speed_kurtosis"),
    ("saccade_x_speed_median", "saccade_x_speed_mean"),
    ("saccade_acceleration_max", "saccade_acceleration_mean"),
    ("saccade_path_length", "saccade_amplitude"),
    ("saccade_average_speed", "saccade_speed_mean"),
    ("saccade_acceleration_median", "saccade_acceleration_mean"),
    ("saccade_x_acceleration_max", "saccade_x_acceleration_mean"),
    ("saccade_x_acceleration_std", "saccade_y_acceleration_std"),
    ("saccade_y_speed_skewness", "saccade_speed_skewness"),
    ("saccade_x_acceleration_median", "saccade_x_acceleration_mean"),
    ("saccade_x_speed_skewness", "saccade_speed_skewness"),
    ("saccade_acceleration_std", "saccade_x_acceleration_std"),
)


COMMON: Listed = (
    ("fixation_rate", ""),
    ("fixation_duration_mean", "fixation_rate"),
    ("saccade_amplitude_mean", "fixation_rate"),
    ("saccade_rate", "fixation_rate"),
    ("blink_rate", "fixation_rate"),
    ("pupil_mean_mean", "fixation_duration_mean"),
    ("fixation_duration", ""),
    ("fixation_previous_distance", "fixation_duration"),
    ("fixation_dispersion", "fixation_duration"),
    ("saccade_amplitude", ""),
    ("saccade_duration", "saccade_amplitude"),
    ("saccade_speed_max", "saccade_amplitude"),
    ("saccade_speed_mean", "saccade_amplitude"),
)
"""What studies of gaze report most, of windows, fixations and saccades."""


def public_tree(names: Sequence[str], common: bool = False) -> tuple[list[int], tuple[int, ...]]:
    """The order in which features are made up, as places in ``names``, and the tree over them.

    Features that no list has come last, as they stand, each hanging on the one before it. What
    hangs on a feature that is not there hangs on what that one hangs on.

    Args:
        names: of the features of a table.
        common: whether the measures that are reported most come first.

    >>> public_tree(["mine", "wb1_nonzero", "positive_saccade_ratio"])
    ([2, 1, 0], (-1, 0, 1))
    >>> public_tree(["wb1_nonzero", "saccade_rate", "fixation_rate"], common=True)
    ([2, 1, 0], (-1, 0, 0))
    """
    listed = dict((*WINDOWS, *FIXATIONS, *SACCADES))
    first = dict(COMMON if common else ())
    parent_of = first | {name: above for name, above in listed.items() if name not in first}
    order = [names.index(name) for name in parent_of if name in names]
    order += [place for place, name in enumerate(names) if name not in parent_of]
    parents = [-1]
    for place, number in enumerate(order[1:], start=1):
        above = parent_of.get(names[number])
        if above is None:
            parents.append(place - 1)
            continue
        while above and above not in names:
            above = parent_of[above]
        parents.append(order.index(names.index(above)) if above else 0)
    return order, tuple(parents)


def chosen_on(table: FeatureTable) -> list[tuple[str, str]]:
    """The features in the order in which they say something new, each with the one it hangs on.

    What a feature says is how much of its variance lies between tasks; what is new about it, how
    little it goes together with those before it, within tasks. The first hangs on none.

    Args:
        table: features of people whom nobody needs to hide.
    """
    task = table.data["task"].to_numpy()
    ranks = table.data.select(pl.col(table.names).rank()).fill_null(0.5).to_numpy()
    ranks = (ranks - ranks.mean(axis=0)) / np.maximum(ranks.std(axis=0), 1e-12)
    within, between = ranks.copy(), np.zeros(len(table.names))
    for name in np.unique(task):
        mine = task == name
        between += mine.mean() * ranks[mine].mean(axis=0) ** 2
        within[mine] -= ranks[mine].mean(axis=0)
    together = _correlations(within)
    chosen = [int(np.argmax(between))]
    listed = [(table.names[chosen[0]], "")]
    while len(chosen) < len(table.names):
        closest = together[:, chosen].max(axis=1)
        worth = (between + 1e-6) * (1.001 - closest)
        worth[chosen] = -1.0
        new = int(np.argmax(worth))
        parent = chosen[int(np.argmax(together[new, chosen]))]
        listed.append((table.names[new], table.names[parent]))
        chosen.append(new)
    return listed


def _correlations(values: Values) -> Values:
    """Their sizes; a constant goes together with nothing."""
    sizes = np.maximum(np.linalg.norm(values, axis=0), 1e-9)
    found: Values = np.abs(values.T @ values) / np.outer(sizes, sizes)
    return found
