"""Visits to areas: against a plain walk through each person's looks."""

import sys
from collections import Counter
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.visits import area_of, dwell_of, visits_of

SIDE = 10


def row_of_areas(count):
    """Squares side by side; what is right of them is elsewhere."""
    corners = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], dtype=float)
    return tuple(Area("abcdefgh"[i], np.add(corners, [i * SIDE, 0])) for i in range(count))


def looks_at(rows, areas, people, layers=1):
    """Looks from rows (person, layer, area or -1, weight), in order of time."""
    person, layer, area, weight = np.array(rows, dtype=float).reshape(-1, 4).T
    x_px = (np.where(area < 0, areas, area) + 0.5) * SIDE
    return GazePoints(
        people=tuple(str(n) for n in range(people)),
        layers=tuple(str(n) for n in range(layers)),
        width_px=(areas + 1) * SIDE,
        height_px=SIDE,
        person=person.astype(np.int64),
        layer=layer.astype(np.int64),
        x_px=x_px,
        y_px=np.full(x_px.size, SIDE / 2),
        weight=weight,
    )


def walk(rows, areas, people, layers, most, ranks):
    """Dwell, visits, transitions and order of everybody, look by look."""
    dwell = np.zeros((people, layers, areas + 1))
    visits = np.zeros((people, layers, areas))
    transitions = np.zeros((people, layers, areas, areas))
    order = np.zeros((people, layers, areas, ranks))
    for person in range(people):
        for layer in range(layers):
            own = [row for row in rows if row[0] == person and row[1] == layer]
            for *_, area, weight in own:
                dwell[person, layer, area] += weight
            runs = [area for area, _ in groupby(row[2] for row in own)]
            visited = [area for area in runs if area >= 0][:most]
            for area, times in Counter(visited).items():
                visits[person, layer, area] = times
            for (a, b), times in Counter(pairwise(visited)).items():
                transitions[person, layer, a, b] = times
            for rank, area in enumerate(list(dict.fromkeys(visited))[:ranks]):
                order[person, layer, area, rank] = 1
        if dwell[person].sum() > 0:
            dwell[person] /= dwell[person].sum()
    return dwell, visits, transitions, order


def found(points, areas, most, ranks):
    area = area_of(points, row_of_areas(areas))
    visits = visits_of(points, area, areas).first(most)
    return (
        dwell_of(points, area, areas),
        visits.counts(),
        visits.transitions(),
        visits.order(ranks),
    )


@given(data=st.data())
def test_tables_are_those_of_a_plain_walk(data):
    areas, people, layers = (data.draw(st.integers(1, 3)) for _ in range(3))
    row = st.tuples(
        st.integers(0, people - 1),
        st.integers(0, layers - 1),
        st.integers(-1, areas - 1),
        st.integers(0, 4),
    )
    # Whoever is first stands first; layers of a person may come in any order.
    rows = sorted(data.draw(st.lists(row, max_size=40)), key=lambda one: one[0])
    most, ranks = data.draw(st.integers(1, 8)), data.draw(st.integers(1, areas))
    tables = found(looks_at(rows, areas, people, layers), areas, most, ranks)
    for table, expected in zip(tables, walk(rows, areas, people, layers, most, ranks), strict=True):
        assert np.allclose(table.dense, expected.reshape(people, -1))


def test_looking_away_and_back_is_two_visits_and_a_transition_to_itself():
    rows = [(0, 0, area, 1) for area in (0, 0, -1, 0, 1, 1)]
    _, visits, transitions, order = found(looks_at(rows, 2, 1), 2, 9, 2)
    assert visits.dense.tolist() == [[2, 1]]
    assert transitions.dense.tolist() == [[1, 1, 0, 0]]
    assert order.dense.tolist() == [[1, 0, 0, 1]]


def test_nothing_goes_on_from_one_layer_to_the_next():
    rows = [(0, layer, 0, 1) for layer in (0, 1)]
    _, visits, transitions, order = found(looks_at(rows, 1, 1, layers=2), 1, 9, 1)
    assert visits.dense.tolist() == [[1, 1]]
    assert transitions.dense.sum() == 0
    assert order.dense.tolist() == [[1, 1]]
    # The limit is each layer's own.
    _, visits, _, _ = found(looks_at(rows, 1, 1, layers=2), 1, 1, 1)
    assert visits.dense.tolist() == [[1, 1]]


def test_people_who_never_looked_have_tables_of_zeros():
    for rows in ([], [(1, 0, 0, 1)]):
        for table in found(looks_at(rows, 2, 3), 2, 5, 2):
            assert table.people == 3
            assert table.dense[[0, 2]].sum() == 0


def test_looks_weigh_in_dwell_only():
    rows = [(0, 0, 0, 300), (0, 0, 1, 100), (0, 0, -1, 600)]
    dwell, visits, _, _ = found(looks_at(rows, 2, 1), 2, 5, 2)
    assert dwell.dense.tolist() == [[0.3, 0.1, 0.6]]
    assert visits.dense.tolist() == [[1, 1]]


def test_areas_beside_the_picture_are_refused():
    points = looks_at([(0, 0, 0, 1)], 1, 1)
    with pytest.raises(InputError, match=r"'d' .* lies outside the picture of 20 × 10 px"):
        area_of(points, row_of_areas(4)[3:])


def lines_run(work):
    """How many lines of Python run in some work."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def test_a_hundred_times_the_gaze_points_are_no_more_lines_to_run():
    """A loop over gaze points would take a minute for a million of them."""
    rng = np.random.default_rng(0)

    def lines(size):
        rows = np.column_stack(
            [
                np.sort(rng.integers(0, 100, size)),
                np.zeros(size),
                rng.integers(-1, 4, size),
                np.ones(size),
            ]
        )
        points = looks_at(rows, 4, 100)
        return lines_run(lambda: found(points, 4, 50, 3))

    assert lines(200_000) <= 1.1 * lines(2_000)
