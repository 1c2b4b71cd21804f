"""Areas of interest: what a polygon may be, and what it holds."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.areas import Area, check_areas, check_on_picture, overlapping, polygons_of, within

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10]]
BOW_TIE = [[0, 0], [10, 10], [10, 0], [0, 10]]


def star(rng, corners):
    """A polygon that cannot cross itself: corners in order of their angle about a middle."""
    angle = np.sort((np.arange(corners) + rng.uniform(0, 0.9, corners)) * 2 * np.pi / corners)
    radius = rng.uniform(1, 5, corners)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def meets_itself(corners):
    """Whether sides meet where they should not: pair by pair, in exact rational arithmetic."""
    from fractions import Fraction

    points = [tuple(Fraction(float(v)) for v in corner) for corner in corners]
    sides = list(zip(points, points[1:] + points[:1], strict=True))

    def turn(p, q, r):
        value = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
        return (value > 0) - (value < 0)

    def on(p, q, r):
        return turn(p, q, r) == 0 and all(
            min(p[i], q[i]) <= r[i] <= max(p[i], q[i]) for i in (0, 1)
        )

    for i, (a, b) in enumerate(sides):
        for j in range(i + 1, len(sides)):
            c, d = sides[j]
            if j - i in (1, len(sides) - 1):
                ends = (d, a) if j - i == 1 else (c, b)
                if on(a, b, ends[0]) or on(c, d, ends[1]):
                    return True
            elif (turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0) or any(
                (on(a, b, c), on(a, b, d), on(c, d, a), on(c, d, b))
            ):
                return True
    return False


def test_polygons_hold_what_matplotlib_says_they_hold():
    from matplotlib.path import Path

    rng = np.random.default_rng(4)
    for _ in range(20):
        corners, (x, y) = rng.uniform(0, 1, (6, 2)), rng.uniform(0, 1, (2, 500))
        angle = np.arctan2(*(corners - corners.mean(axis=0)).T)
        shape = corners[np.argsort(angle)]
        inside = Path(np.vstack([shape, shape[:1]])).contains_points(np.column_stack([x, y]))
        assert ((within([shape], x, y) == 0) == inside).all()


def test_the_first_of_two_areas_counts():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    found = within([square, square + 1.0], np.array([1.5, 2.5, 9.0]), np.array([1.5, 2.5, 9.0]))
    assert found.tolist() == [0, 1, -1]


def test_areas_side_by_side_share_no_place_and_leave_none_between_them():
    left, right = np.array(SQUARE, dtype=float), np.add(SQUARE, [10.0, 0.0])
    x, y = np.array([0.0, 10.0, 19.999, 20.0]), np.array([0.0, 0.0, 9.999, 5.0])
    assert within([left, right], x, y).tolist() == [0, 1, 1, -1]


def test_lost_places_are_in_no_area():
    square = np.array(SQUARE, dtype=float)
    assert within([square], np.array([np.nan, 5.0]), np.array([5.0, np.nan])).tolist() == [-1, -1]


@pytest.mark.parametrize(
    "corners",
    [
        BOW_TIE,
        # A corner on a side that is not its own.
        [[0, 0], [10, 0], [10, 10], [5, 0], [0, 10]],
        # The same corner twice, as in an hourglass.
        [[0, 0], [10, 0], [5, 5], [10, 10], [0, 10], [5, 5]],
        # There and back again.
        [[0, 0], [10, 0], [10, 10], [10, -5], [0, -5]],
        # A pentagram.
        [[0, 3], [10, 3], [2, 9], [5, 0], [8, 9]],
    ],
)
def test_a_polygon_that_crosses_itself_is_refused_by_name(corners):
    with pytest.raises(InputError, match="'logo' crosses or touches itself: the side from"):
        Area("logo", corners)


def test_a_crossing_is_told_by_its_sides():
    said = re.escape("the side from (0, 0) meets the one from (10, 0). List the corners in order")
    with pytest.raises(InputError, match=said):
        Area("logo", BOW_TIE)


@pytest.mark.parametrize(
    "corners",
    [
        [[0, 0], [10, 10], [20, 20]],
        [[0, 0], [1e6, 0.3e6], [2e6, 0.6e6], [1e6, 0.3e6]],
        [[3, 3], [3, 3], [3, 3]],
        [[0, 0], [5, 0], [0, 0], [5, 0]],
    ],
)
def test_a_polygon_without_an_inside_is_refused(corners):
    with pytest.raises(InputError, match="'logo' has no inside: all its corners lie on one line"):
        Area("logo", corners)


@pytest.mark.parametrize(
    ("corners", "said"),
    [
        ([[0, 0], [1, 1]], "three or more corners"),
        ([[0, 0, 0], [1, 1, 1], [2, 0, 0]], "three or more corners"),
        ([[0, 0], [1, np.nan], [2, 0]], "no numbers"),
        ([[0, 0], [1, np.inf], [2, 0]], "no numbers"),
        ([[0, 0], [1, 1e300], [2, 0]], "within ±1e"),
        ([[0, 0], [1], [2, 0]], "three or more corners"),
        ([[0, 0], [1, "one"], [2, 0]], "three or more corners"),
        ([[0, 0], [1, 10**400], [2, 0]], "three or more corners"),
    ],
)
def test_corners_are_places(corners, said):
    with pytest.raises(InputError, match=f"'logo'.*{said}"):
        Area("logo", corners)


def test_a_polygon_of_far_too_many_corners_is_refused():
    with pytest.raises(InputError, match="'logo' has 2001 corners: draw it with at most 2000"):
        Area("logo", star(np.random.default_rng(0), 2001))


def test_a_closed_polygon_is_the_same_as_an_open_one():
    assert Area("logo", [*SQUARE, SQUARE[0]]).corners.tolist() == SQUARE


@pytest.mark.parametrize("name", ["", "  "])
def test_an_area_has_a_name(name):
    with pytest.raises(InputError, match="has no name"):
        Area(name, SQUARE)


def test_no_area_is_called_elsewhere():
    with pytest.raises(InputError, match="may not be called 'Elsewhere'"):
        Area("Elsewhere", SQUARE)


def test_names_differ_and_there_is_one():
    with pytest.raises(InputError, match="2 areas of interest are called 'logo'"):
        check_areas([Area("menu", SQUARE), Area("logo", SQUARE), Area("logo", SQUARE)])
    with pytest.raises(InputError, match="no areas of interest"):
        check_areas([])
    with pytest.raises(InputError, match="no areas of interest"):
        polygons_of([])


def test_areas_may_overlap_and_reach_over_the_border_but_not_lie_beside_the_picture():
    check_areas([Area("a", SQUARE), Area("b", SQUARE)])
    check_on_picture([Area("a", np.array(SQUARE) - 5)], 8, 8)
    with pytest.raises(InputError, match=r"'a' \(x 10 to 20.*outside the picture of 8 × 100 px"):
        check_on_picture([Area("a", np.add(SQUARE, [10, 0]))], 8, 100)


def test_areas_without_names_are_numbered():
    with pytest.raises(InputError, match="area of interest 1 crosses"):
        polygons_of([SQUARE, BOW_TIE])


@given(seed=st.integers(0, 2**32), corners=st.integers(3, 40))
def test_stars_never_cross_themselves(seed, corners):
    shape = star(np.random.default_rng(seed), corners)
    assert len(Area("star", shape).corners) == corners


@given(corners=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=8))
def test_crossings_are_those_of_exact_arithmetic(corners):
    shape = np.array(corners, dtype=float)
    shape = shape[(shape != np.roll(shape, -1, axis=0)).any(axis=1)]
    flat = len(shape) < 3 or np.linalg.matrix_rank(shape - shape[0]) < 2
    if flat or meets_itself(shape):
        with pytest.raises(InputError, match="no inside" if flat else "crosses or touches"):
            Area("shape", corners)
    else:
        assert np.array_equal(Area("shape", corners).corners, shape)


BLOCK = np.array([[0.0, 0], [4, 0], [4, 4], [0, 4]])


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        (np.add(BLOCK, [4, 0]), False),
        (np.add(BLOCK, [4, 4]), False),
        (np.add(BLOCK, [9, 0]), False),
        (np.add(BLOCK, [1, 0]), True),
        (BLOCK, True),
        (BLOCK / 2 + 1, True),
        ([[-1, 1], [5, 1], [5, 2], [-1, 2]], True),
        ([[4, 0], [8, 0], [8, 4], [6, 2]], False),
        ([[0, 0], [4, 4], [0, 4]], True),
    ],
    ids=[
        *("beside", "corner", "apart", "shifted", "same", "inside", "across"),
        *("touching", "half"),
    ],
)
def test_areas_overlap_where_they_share_more_than_a_border(other, shared):
    areas = [Area("one", BLOCK), Area("other", other)]
    assert (overlapping(areas) is not None) is shared
    assert (overlapping(areas[::-1]) is not None) is shared
