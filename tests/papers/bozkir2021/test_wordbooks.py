"""The paper's wordbooks: minima of zero are left out, and ranges are the maxima."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.features import window_features
from eyelid.gaze.features.statistics import Ranges
from eyelid.gaze.features.wordbook import word_statistics
from eyelid.gaze.simulator import simulate
from eyelid.papers.bozkir2021.experiment import paper_features, without_minima
from eyelid.papers.bozkir2021.wordbooks import wordbook_ranges
from eyelid.papers.reproduction import Outcome


@pytest.fixture(scope="module")
def windows():
    return window_features(simulate(people=2, minutes=2.0, rate_hz=30.0, seed=2))


def test_over_all_words_the_range_is_the_maximum_and_over_those_that_occur_it_is_not():
    """Counted one word after the other: 24² bins, of which most are empty."""
    letters = np.array([1, 2, 1, 2, 1, 2, 5])
    counts = Counter(pairwise(letters.tolist()))
    over_all = [counts[word] for word in product(range(24), repeat=2)]
    everything = Ranges(np.array([0]), np.array([len(letters)]))
    ours = word_statistics(letters, everything, 2)
    assert (max(over_all), min(over_all)) == (3, 0)
    assert ours["max"][0] == max(over_all) - min(over_all)
    assert ours["min"][0] == min(counts.values()) == 1
    assert ours["range"][0] == max(over_all) - 1


def test_the_papers_ranges_are_its_maxima_and_48_features_remain(windows):
    paper = paper_features(windows)
    assert len(paper.features) == 48
    assert not any(name.endswith("_min") for name in paper.names)
    for length in (1, 2, 3, 4):
        largest, least = (windows.data[f"wb{length}_{name}"] for name in ("max", "min"))
        assert paper.data[f"wb{length}_range"].equals(largest.rename(f"wb{length}_range"))
        # Ours stays what it was.
        ours = windows.data[f"wb{length}_range"].to_numpy()
        assert ours == pytest.approx((largest - least).to_numpy())
    assert "0" in next(f.definition for f in paper.features if f.name == "wb1_range")


def test_files_of_the_authors_keep_their_own_ranges(windows):
    kept = without_minima(windows)
    assert len(kept.features) == 48
    assert kept.data["wb1_range"].equals(windows.data["wb1_range"])


def test_what_our_own_minimum_tells_more_is_counted(windows):
    found = wordbook_ranges("made up", windows)
    zero, one = found.rows
    assert found.columns == ["words of 1", "words of 2", "words of 3", "words of 4"]
    full = windows.data.select((pl.col("wb1_nonzero") < 24).mean()).item()
    assert found.at(zero, "words of 1").by_protocol.mean == pytest.approx(full)
    assert found.at(zero, "words of 1").printed == 1.0
    assert found.at(zero, "words of 1").inferred
    above = windows.data.select((pl.col("wb1_min") <= 1).mean()).item()
    assert found.at(one, "words of 1").leak_free.mean == pytest.approx(above)
    assert found.verdict.reproduced is (Outcome.YES if full >= 0.95 else Outcome.NO)


def test_a_table_without_wordbooks_has_no_such_exhibit(make_source):
    assert wordbook_ranges("made up", make_source().table) is None
