"""The picture: everything that was run is on it once, with its promise, and nothing else."""

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from eyelid.errors import InputError
from eyelid.privacy.unit import Trust
from eyelid.reporting import plane as drawn
from eyelid.reporting import scene
from eyelid.reporting.comparisons.row import Row
from eyelid.reporting.comparisons.scene import scene_of
from eyelid.reporting.comparisons.setting import Setting
from eyelid.reporting.plane import caption, plane, save_plane


def texts(picture):
    return [found.strip() for found in re.findall(r"<text[^>]*>([^<]*)<", str(picture))]


@pytest.fixture(scope="module")
def several(by_hand):
    """One of each kind, one that was skipped, and one without a figure."""
    row, promise = by_hand.row, by_hand.promise
    means = promise(1.0, trust=Trust.CENTRAL)
    skipped = Row(Setting("seeded"), skipped="too few people")
    return by_hand.comparison(
        row("gaussian", promise(16.0, person=7779.0), 0.35, 0.57, unit="record", epsilon=16.0),
        row("gaussian", promise(1.0, person=107.5), 0.05, 0.35, unit="record", epsilon=1.0),
        row("dct", promise(1.0), 0.05, 0.34, epsilon=1.0),
        row("ksame", by_hand.among(4), 0.2, 0.77, k=4, runs=2),
        row("groupmean", means, None, 0.38, epsilon=1.0),
        row("laplace", promise(2.0), 0.1, None, epsilon=2.0),
        skipped,
    )


@pytest.fixture(scope="module")
def picture(several):
    return plane(scene_of(several))


@pytest.fixture(scope="module")
def strong(by_hand):
    """One that hides a person well, and nothing else."""
    return by_hand.comparison(by_hand.row("dct", by_hand.promise(1.0), 0.05, 0.34, epsilon=1.0))


def test_every_setting_is_there_with_its_unit_and_a_persons_total(picture):
    told = texts(picture)
    for words in (
        "gaussian, hides a record",
        "ε = 16 → person ε over 1,000",
        "ε = 1 → person ε = 108",
        "dct, hides a person",
        "ksame, k-anonymity",
        "k = 4 → person one among 4",
    ):
        assert words in told
    assert not any("seeded" in words for words in told)


def test_each_number_stands_beside_a_point_and_beside_its_words(picture):
    told = texts(picture)
    assert [told.count(str(number)) for number in range(1, 6)] == [2] * 5
    assert told.count("6") == 0


def test_only_nobodys_records_have_a_lane_and_only_weak_promises_are_hollow(
    several, picture, strong
):
    hollow = "hollow: a person's ε is above 10, formal only"
    other = texts(plane(scene_of(strong)))
    assert ("individual" in texts(picture), "individual" in other) == (True, False)
    assert (hollow in texts(picture), hollow in other) == (True, False)
    assert ("lane" in caption(scene_of(several)), "lane" in caption(scene_of(strong))) == (
        True,
        False,
    )


def test_lines_go_from_the_smallest_number_to_the_largest(picture):
    told = texts(picture)
    assert told.index("ε = 1 → person ε = 108") < told.index("ε = 16 → person ε over 1,000")


def test_what_has_no_figure_is_said_not_to_be_drawn(several):
    assert "Not drawn, for want of a figure on one axis: laplace, ε = 2." in caption(
        scene_of(several)
    )


def test_points_are_where_they_were_measured_and_boxes_at_their_limits(several, monkeypatch):
    boxes, marks = [], []
    monkeypatch.setattr(drawn, "_box", lambda axis, x, y, *look: boxes.append((x, y)))
    monkeypatch.setattr(drawn, "_mark", lambda axis, x, y, point, c: marks.append((x, y)))
    plane(scene_of(several))
    for row in several.ran[:4]:
        x, y = row.region(several.used_chance)
        assert (x, (y.rate, y.low, y.high)) in boxes
        assert (x.rate, y.rate) in marks
    assert len(boxes) == 5  # the raw data have one, what is in the lane has none


def test_it_has_words_for_those_who_cannot_see_it(picture):
    element = ElementTree.fromstring(str(picture))
    alt = element.attrib["aria-label"]
    assert "gaussian, record, ε = 16: 35% re-identified, 57%" in alt
    assert "groupmean, ε = 1: no individual records, 38%" in alt


def test_without_a_target_errors_stand_on_a_logarithmic_axis(by_hand):
    rows = [
        by_hand.row("dct", by_hand.promise(e), 0.05, None, epsilon=e, error=30 / e)
        for e in (1.0, 16.0)
    ]
    picture = plane(scene_of(by_hand.comparison(*rows, target=None)))
    assert any("error of a value" in words for words in texts(picture))
    assert "dct, ε = 1: 5% re-identified, 30 of the range" in picture
    assert "raw data: 80% re-identified, 0 of the range" in picture


def test_numbers_do_not_cover_each_other_though_many_points_are_the_same():
    taken, spots = [(96.0, 96.0, 104.0, 104.0)], []
    for _ in range(25):
        dx, dy = drawn._away(100.0, 100.0, 15.0, taken, (0.0, 0.0, 300.0, 300.0))
        spot = drawn._around(100 + dx, 100 + dy, 15.0)
        assert not any(
            a[0] < spot[2] and spot[0] < a[2] and a[1] < spot[3] and spot[1] < a[3] for a in taken
        )
        taken.append(spot)
        spots.append((dx, dy))
    assert len(set(spots)) == 25


def test_many_that_are_not_told_from_guessing_share_one_label_and_have_no_box(by_hand, monkeypatch):
    boxes = []
    monkeypatch.setattr(drawn, "_box", lambda axis, x, y, *look: boxes.append(x))
    rows = [by_hand.row("dct", by_hand.promise(e), 0.05, 0.33, epsilon=e) for e in range(1, 6)]
    rows.append(by_hand.row("laplace", by_hand.promise(1.0), 0.4, 0.7, epsilon=1.0))
    done = by_hand.comparison(*rows)
    told = texts(plane(scene_of(done)))
    assert "1–5" in told
    assert "near guessing" in told
    assert (told.count("3"), told.count("6")) == (1, 2)
    assert len(boxes) == 2  # the raw data, and the one that is not there
    assert "No boxes where many" in caption(scene_of(done))


def test_one_draw_has_open_ends_and_no_limits(by_hand):
    once, often = (
        by_hand.comparison(by_hand.row("ksame", by_hand.among(4), 0.2, 0.77, k=4, runs=runs))
        for runs in (1, 3)
    )
    assert "limits unknown" in caption(scene_of(once))
    assert "limits unknown" not in caption(scene_of(often))


def test_what_promises_nothing_is_faded_and_further_lines_have_other_shades(by_hand):
    broken = by_hand.promise(math.inf)
    looks = [
        by_hand.row("dct", by_hand.promise(1.0), 0.3, 0.7, epsilon=1.0),
        by_hand.row("dct", by_hand.promise(1.0), 0.3, 0.7, epsilon=1.0, k=8),
        by_hand.row("lpa-paper", broken, 0.3, 0.7, epsilon=1.0),
    ]
    done = by_hand.comparison(*looks)
    colours = [series.colour for series in scene_of(done).series]
    assert len(set(colours)) == 3
    assert colours[2] == scene._shade(scene._COLOURS[1], 0.5)
    assert "promises nothing" in caption(scene_of(done))


def test_files_are_what_their_ending_says(strong, tmp_path):
    save_plane(scene_of(strong), tmp_path / "plane.PNG")
    assert (tmp_path / "plane.PNG").read_bytes().startswith(b"\x89PNG")
    strong.save_picture(tmp_path / "plane.svg")
    assert ElementTree.parse(tmp_path / "plane.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", ["plane.gif", "plane", "absent/plane.svg"])
def test_other_files_are_refused(several, tmp_path, name):
    with pytest.raises(InputError, match=r"ends in \.svg, \.pdf or \.png|there is no folder"):
        several.save_picture(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
