"""Sparse counts of people say the same as the table with all its zeros."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.maps.counts import PersonCounts

LOOKS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(1, 9)), max_size=40)


def slow(points, weighted=True):
    values = np.zeros((5, 7))
    for person, cell, weight in points:
        values[person, cell] += weight if weighted else 1
    return values


def arrays(points):
    columns = np.array(points, dtype=np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2].astype(np.float64)


@given(LOOKS)
def test_looks_of_a_person_in_one_cell_are_added_up(points):
    person, cell, weight = arrays(points)
    found = PersonCounts.added_up(5, 7, person, cell, weight)
    np.testing.assert_array_equal(found.dense, slow(points))
    np.testing.assert_array_equal(
        PersonCounts.added_up(5, 7, person, cell).dense, slow(points, weighted=False)
    )
    places = found.person * 7 + found.cell
    assert np.all(np.diff(places) > 0), "in order, and every place once"


@given(LOOKS)
def test_blocks_of_people_put_together_are_everybody(points):
    counts = PersonCounts.of_dense(slow(points))
    for size in (1, 2, 5, 9):
        blocks = list(counts.blocks(size))
        np.testing.assert_array_equal(np.vstack([b.dense for b in blocks]), counts.dense)
    np.testing.assert_array_equal(counts.per_person(counts.count), counts.dense.sum(axis=1))
