"""Maps of where people look: how well one set of recordings foretells where others look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.gaze.events import gaze_of
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.generator.measurement import found_in
from eyelid.gaze.study import Study

ROWS, COLUMNS = 18, 32
_SMOOTH_CELLS = 1.2
SPLITS = 10

Fixations = dict[str, Floats]
"""Person by person, fixations × (x, y), in degrees."""


def place_scores(
    original: Study, other: Study, *, splits: int = SPLITS, seed: int = 0
) -> pl.DataFrame:
    """How well maps of other recordings foretell where the original people look, by stimulus.

    The maps are smooth counts of fixations over where the original people look. Each is
    scored by fixations of people who are no part of it: ``cc`` is its correlation with their map,
    ``nss`` how many standard deviations above its mean it is where they fixate, ``auc`` how often
    it is higher there than at a random place. Beside each stands what the map of one half of the
    original people scores on the other half.

    Args:
        original: of samples.
        other: of samples, with tasks and stimuli of the same names.
        splits: ways to halve the people.
        seed: of the halves.

    Returns:
        task, stimulus, people, cc, nss, auc, and halves_cc, halves_nss, halves_auc.
    """
    ours, theirs = _fixations(original), _fixations(other)
    rng = np.random.default_rng(seed)
    rows = []
    for (task, stimulus), real in ours.items():
        made = theirs.get((task, stimulus))
        if not made or len(real) < 2:
            continue
        people = list(real)
        every = np.concatenate(list(real.values()))
        low, high = np.quantile(every, [0.005, 0.995], axis=0)
        span = np.maximum(high - low, 1e-9)

        def counts(some: Sequence[Floats], low: Floats = low, span: Floats = span) -> Floats:
            return _map(np.concatenate([(of - low) / span for of in some]))

        scores = []
        for _ in range(splits):
            order = rng.permutation(len(people))
            half = len(people) // 2
            first, second = (
                [real[people[n]] for n in some] for some in (order[:half], order[half:])
            )
            held = np.concatenate([(of - low) / span for of in second])
            held_map = counts(second)
            known = counts(first), counts(list(made.values()))
            scores.append([score for one in known for score in _scores(one, held_map, held)])
        halves, others = np.split(np.mean(scores, axis=0), 2)
        rows.append((task, stimulus, len(people), *others.tolist(), *halves.tolist()))
    names = ("cc", "nss", "auc", "halves_cc", "halves_nss", "halves_auc")
    schema = {"task": pl.String, "stimulus": pl.String, "people": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(names, pl.Float64), orient="row")


def _fixations(study: Study) -> dict[tuple[str, str], Fixations]:
    found: dict[tuple[str, str], Fixations] = {}
    for recording, units in gaze_of(study):
        events = found_in(recording, units)
        if events is None or not len(events.fixation_x):
            continue
        places = np.column_stack([events.fixation_x, events.fixation_y])
        places = places[np.isfinite(places).all(axis=1)]
        people = found.setdefault((recording.task, recording.stimulus), {})
        people[recording.person] = (
            np.concatenate([people[recording.person], places])
            if recording.person in people
            else places
        )
    return found


def _map(places: Floats) -> Floats:
    """Smooth counts over the unit square."""
    from scipy.ndimage import gaussian_filter

    counts, *_ = np.histogram2d(
        places[:, 1], places[:, 0], bins=(ROWS, COLUMNS), range=((0, 1), (0, 1))
    )
    return np.asarray(gaussian_filter(counts, _SMOOTH_CELLS, mode="constant"))


def _scores(known: Floats, held_map: Floats, held: Floats) -> tuple[float, float, float]:
    """CC, NSS and AUC of a map by the fixations of others; 0, 0 and 0.5 where it is flat."""
    if np.ptp(known) == 0 or np.ptp(held_map) == 0:
        return 0.0, 0.0, 0.5
    inside = ((held >= 0) & (held < 1)).all(axis=1)
    column, row = (held[inside] * (COLUMNS, ROWS)).astype(np.intp).T
    correlation = float(np.corrcoef(known.ravel(), held_map.ravel())[0, 1])
    at = known[row, column]
    level = np.sort(known.ravel())
    below = np.searchsorted(level, at, side="left") + np.searchsorted(level, at, side="right")
    return (
        correlation,
        float(((at - known.mean()) / known.std()).mean()) if len(at) else 0.0,
        float((below / (2.0 * level.size)).mean()) if len(at) else 0.5,
    )
