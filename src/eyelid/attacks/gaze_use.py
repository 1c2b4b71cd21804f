"""What synthetic recordings are good for: beside people's own, and beside a guess without any data.

Every figure stands between two others: what halves of the people, or other people, reach, and what
the generator draws after its norms alone, which costs no privacy. A release that is no better than
that guess was not worth its ε for that figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.samples.generated import fitting_windows_s
from eyelid.attacks.utility import Use, learned_elsewhere
from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.quality import (
    QUANTITIES,
    GazeQuality,
    gaze_quality,
    quantities_of,
    spectrum_differences,
)
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable

EVENTS, SPECTRA, MAPS, TASK = "events", "spectra", "maps", "task"
_SCORES = {"cc": "CC", "nss": "NSS", "auc": "AUC"}
_PICTURED = ("fixation_ms", "saccade_amplitude_deg")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """One figure of people, release and guess.

    Attributes:
        kind: events, spectra, maps or task.
        of: the task, and the stimulus of a map.
        what: in words.
        people: what halves of the people, or other people, reach.
        released: of the release; None where it has nothing to compare.
        guessed: of what the norm's generator draws.
        more: whether more is better.
    """

    kind: str
    of: str
    what: str
    people: float | None
    released: float | None
    guessed: float | None
    more: bool = False


@dataclass(frozen=True, eq=False)
class GazeUse:
    """What recordings are good for.

    Attributes:
        figures: one after the other.
        values: for a picture, of people, release and guess: by what, everybody's values.
        said: what could not be compared, and why.
    """

    figures: tuple[Figure, ...]
    values: dict[str, dict[str, Floats]] = field(default_factory=dict)
    said: tuple[str, ...] = ()

    def worst(self, kind: str) -> tuple[float | None, float | None, float | None]:
        """People, release and guess: the largest of events and spectra, the mean of others.

        Args:
            kind: of figures; of maps, their correlation alone.
        """
        mine = [one for one in self.figures if one.kind == kind]
        if kind == MAPS:
            mine = [one for one in mine if one.what == _SCORES["cc"]]
        found: list[float | None] = []
        for name in ("people", "released", "guessed"):
            values = [value for one in mine if (value := getattr(one, name)) is not None]
            pick = np.mean if kind in (MAPS, TASK) else np.max
            found.append(float(pick(values)) if values else None)
        return found[0], found[1], found[2]


def gaze_use(raw: Study, released: Study, guess: Study, *, maps: bool, seed: int = 0) -> GazeUse:
    """Compare a release and a guess with people, by the same detectors and on the same scales.

    It looks at people's own recordings and protects none of them: for their owner.

    Args:
        raw: recordings of people.
        released: synthetic ones.
        guess: recordings of the norm's generator.
        maps: whether the release has maps of where people look.
        seed: of halves and of the classifier.
    """
    ours, theirs = (gaze_quality(raw, each, seed=seed) for each in (released, guess))
    figures = [*_events(ours, theirs), *_spectra(raw, ours, theirs, seed)]
    if maps:
        figures += _maps(ours, theirs)
    said: tuple[str, ...] = ()
    if raw.data["task"].n_unique() > 1:
        try:
            figures += _tasks(raw, released, guess, seed)
        except InputError as error:
            said = (f"no task was learned from recordings: {error}",)
    sources = {"people": raw, "release": released, "guess": guess}
    each = {name: quantities_of(study) for name, study in sources.items()}
    values = {
        QUANTITIES[what]: {
            name: np.concatenate(
                [np.zeros(0), *(v for task in of.values() for v in task[what].values())]
            )
            for name, of in each.items()
        }
        for what in _PICTURED
    }
    return GazeUse(tuple(figures), values, said)


def _events(ours: GazeQuality, theirs: GazeQuality) -> Iterator[Figure]:
    for mine, other in zip(
        ours.events.iter_rows(named=True), theirs.events.iter_rows(named=True), strict=True
    ):
        if mine["halves"]:
            what = QUANTITIES[mine["quantity"]]
            yield Figure(EVENTS, mine["task"], what, 1.0, mine["ratio"], other["ratio"])


def _spectra(raw: Study, ours: GazeQuality, theirs: GazeQuality, seed: int) -> Iterator[Figure]:
    names = raw.people["person"].to_list()
    order = np.random.default_rng(seed).permutation(len(names))
    halves = [
        replace(raw, data=raw.data.filter(pl.col("person").is_in([names[n] for n in some])))
        for some in (order[: len(names) // 2], order[len(names) // 2 :])
    ]
    apart = _loudest(spectrum_differences(*halves)) if len(names) > 1 else {}
    mine, other = _loudest(ours.rest), _loudest(theirs.rest)
    for task in mine:
        what = "largest difference of spectra in fixations, in dB"
        yield Figure(SPECTRA, task, what, apart.get(task), mine[task], other.get(task))


def _loudest(rest: pl.DataFrame) -> dict[str, float | None]:
    largest = rest.group_by("task", maintain_order=True).agg(pl.col("difference_db").abs().max())
    return dict(largest.iter_rows())


def _maps(ours: GazeQuality, theirs: GazeQuality) -> Iterator[Figure]:
    guesses = {(row["task"], row["stimulus"]): row for row in theirs.places.iter_rows(named=True)}
    for row in ours.places.iter_rows(named=True):
        guess: dict[str, Any] = guesses.get((row["task"], row["stimulus"]), {})
        of = " ".join(part for part in (row["task"], row["stimulus"]) if part)
        for name, called in _SCORES.items():
            halves = row[f"halves_{name}"]
            yield Figure(MAPS, of, called, halves, row[name], guess.get(name), more=True)


def _tasks(raw: Study, released: Study, guess: Study, seed: int) -> Iterator[Figure]:
    """The task by a plain random forest on window features, tested on real windows of everybody."""
    window_s = fitting_windows_s(raw, released)
    original, *made = (window_features(each, window_s) for each in (raw, released, guess))
    mine, other = (_forest(original, each, seed) for each in made)
    if mine is None:
        raise InputError("no window has a task")
    people = mine.raw.rate
    rate, guessed = (
        None if use is None or use.rate is None else use.rate.rate for use in (mine, other)
    )
    what = f"task recognised in real windows (chance {mine.raw.chance:.2f})"
    yield Figure(TASK, "all", what, people, rate, guessed, more=True)


def _forest(original: FeatureTable, made: FeatureTable, seed: int) -> Use | None:
    both = [name for name in original.names if name in made.names]
    uses = learned_elsewhere(original.only(*both), made.only(*both), ["task"], ["forest"], seed)
    return uses[0] if uses else None
