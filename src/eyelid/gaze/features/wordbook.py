"""The wordbook: saccades as letters, and how often their words occur in each window.

A saccade becomes one of 24 letters: 16 directions of large saccades and 8 of small ones, sectors
that are centred on right, up, left and down. A word is n saccades in a row, n = 1 to 4. The bins of
the wordbook are all 24ⁿ words, the words that do not occur included: mean and variance are over
all of them. The minimum is over the words that do occur, since over all it would be zero in every
window of fewer than 24ⁿ saccades.

Papers: Bulling et al. 2011, Eye movement analysis for activity recognition using
electrooculography; Hoppe et al. 2018, Eye movements during everyday behavior predict personality
traits, whose published code settles bins, sectors and minimum; Steil et al. 2019.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.events.spans import Floats, Indices
from eyelid.gaze.features.statistics import Ranges

LARGE_DIRECTIONS, SMALL_DIRECTIONS = 16, 8
LETTERS = LARGE_DIRECTIONS + SMALL_DIRECTIONS
LENGTHS = (1, 2, 3, 4)


def letters(right: Floats, up: Floats, small: NDArray[np.bool_]) -> Indices:
    """The letter of each saccade: 0 to 15 for large ones from the right on, then 16 to 23.

    >>> letters(np.array([1.0, 0.0]), np.array([0.1, 1.0]), np.array([False, True])).tolist()
    [0, 18]
    """
    directions = np.where(small, SMALL_DIRECTIONS, LARGE_DIRECTIONS)
    turns = np.arctan2(up, right) / (2 * np.pi)
    sector = np.rint(turns * directions).astype(np.intp) % directions
    return np.asarray(np.where(small, LARGE_DIRECTIONS, 0) + sector)


def word_statistics(letter: Indices, windows: Ranges, length: int) -> dict[str, Floats]:
    """Statistics of how often each word of some length occurs in each window.

    A word belongs to a window when all its saccades do. Zero throughout where there is no word.

    Args:
        letter: of each saccade, in order of onset.
        windows: the saccades of each window; later windows begin and end later.
        length: saccades of a word.

    Returns:
        ``nonzero``, ``max``, ``min``, ``range``, ``mean`` and ``var`` of the occurrences.
    """
    bins = float(LETTERS**length)
    words = _words_by_occurrences(letter, windows, length)
    times = np.arange(len(words), dtype=np.float64)[:, None]
    present = words > 0
    any_word = present.any(axis=0)
    most = np.where(any_word, len(words) - 1 - present[::-1].argmax(axis=0), 0).astype(np.float64)
    least = np.where(any_word, present.argmax(axis=0), 0).astype(np.float64)
    mean = (times * words).sum(axis=0) / bins
    return {
        "nonzero": words.sum(axis=0).astype(np.float64),
        "max": most,
        "min": least,
        "range": most - least,
        "mean": mean,
        "var": (times**2 * words).sum(axis=0) / bins - mean**2,
    }


def _words_by_occurrences(letter: Indices, windows: Ranges, length: int) -> Indices:
    """How many words occur k times in each window, as an array [k, window]; row 0 is empty.

    Every word enters the windows once and leaves them once. In between, its number of occurrences
    is a staircase over the windows; each step adds a run of windows to one row, and a running sum
    over the beginnings and ends of these runs fills the row.
    """
    first = np.arange(max(len(letter) - length + 1, 0))
    word = np.zeros(len(first), dtype=np.int64)
    for place in range(length):
        word = word * LETTERS + letter[first + place]
    enters = np.searchsorted(windows.high, first + length)
    leaves = np.searchsorted(windows.low, first, side="right")
    held = enters < leaves
    word = np.tile(word[held], 2)
    window = np.r_[enters[held], leaves[held]]
    change = np.repeat([1, -1], held.sum())

    order = np.lexsort((window, word))
    window = window[order]
    # No carry from word to word: all occurrences of a word leave before the next word begins.
    occurrences = np.cumsum(change[order])
    end = np.r_[window[1:], 0]
    step = (occurrences > 0) & (window < end)
    most = int(occurrences[step].max(initial=0))
    runs = np.zeros((most + 1, len(windows.low) + 1), dtype=np.int32)
    np.add.at(runs, (occurrences[step], window[step]), 1)
    np.add.at(runs, (occurrences[step], end[step]), -1)
    return np.asarray(np.cumsum(runs[:, :-1], axis=1, out=runs[:, :-1]))
