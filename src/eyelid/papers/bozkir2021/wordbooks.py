"""The smallest counts of the wordbooks: over all words, as in the paper, and over those that occur.

`paper_features` takes the paper's word for it that the first are zero. What eyelid's own definition
adds to it stands beside.
"""

from __future__ import annotations

import polars as pl

from eyelid.gaze.features.wordbook import LENGTHS, LETTERS
from eyelid.gaze.table import FeatureTable
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict

_OVER_ALL = "0 over all words, as in the paper"
_OCCURRING = "at most 1 over words that occur, as in eyelid"


def wordbook_ranges(name: str, windows: FeatureTable) -> Exhibit | None:
    """Shares of windows by what their smallest count is; None where a table has no wordbooks.

    Args:
        name: of the dataset.
        windows: all 52 features, with the least count of words that occur.
    """
    if any(f"wb{length}_min" not in windows.names for length in LENGTHS):
        return None
    cells, more, least_share = [], 0.0, 1.0
    for length in LENGTHS:
        column = f"words of {length}"
        least, different = pl.col(f"wb{length}_min"), pl.col(f"wb{length}_nonzero")
        shares = windows.data.select(
            zero=(different < LETTERS**length).mean(), one=(least <= 1).mean()
        ).row(0)
        more, least_share = max(more, 1 - shares[1]), min(least_share, shares[0])
        cells += [
            Cell(_OVER_ALL, column, 1.0, Value(shares[0]), inferred="“all […] are zeros”"),
            Cell(_OCCURRING, column, leak_free=Value(shares[1])),
        ]
    cells.sort(key=lambda cell: cell.row != _OVER_ALL)
    return Exhibit(
        name=f"Wordbooks, {name}",
        title="Share of windows whose smallest count is what the paper takes it for",
        says=f"The paper leaves out minima, “all minimum values […] are zeros”, and its ranges are "
        "then the maxima; so they are in every exhibit here. eyelid's own minimum, of the words "
        f"that occur, is above 1 in at most {more:.1%} of windows: its ranges are one less than "
        "the maxima and tell little more.",
        setting="Windows of all people and tasks.",
        quantity="share of windows",
        leak_free_words="ours",
        verdict=Verdict(Outcome.YES if least_share >= 0.95 else Outcome.NO),
        cells=tuple(cells),
        digits=3,
    )
