"""Pictures of tables over areas: every table, and the areas on what was looked at."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from matplotlib.text import Text

from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_points import gaze_points_from_arrays
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.privacy.noise import randomness
from eyelid.reporting.maps.area_pictures import UNITS, draw_tables
from eyelid.reporting.maps.pictures import save

LEGEND = "Protects each of 20 people."
WIDE, HIGH = 120, 80
AREAS = (
    Area("menu", np.array([[0, 0], [120, 0], [120, 20], [0, 20]], dtype=float)),
    Area("text", np.array([[10, 30], [70, 30], [40, 70]], dtype=float)),
    Area("advert", np.array([[80, 30], [130, 30], [130, 70], [80, 70]], dtype=float)),
)
PAGE = np.full((HIGH, WIDE, 3), 255, np.uint8)


def tables(
    names: str = "dwell,visits,transitions,order",
    layers: tuple[str, ...] = ("page",),
    areas: tuple[Area, ...] = AREAS,
) -> pl.DataFrame:
    """As a release has them."""
    mechanism = AoiTables(epsilon=4.0, tables=names)
    shape = mechanism.facts_of(20, len(layers), len(areas))
    rng = np.random.default_rng(2)
    who = [f"p{n}" for n in np.repeat(np.arange(20), 10)]
    x, y = rng.uniform(0, WIDE, 200), rng.uniform(0, HIGH, 200)
    points = gaze_points_from_arrays(who, x, y, size=(WIDE, HIGH))
    (measured,) = mechanism.measure(
        mechanism.tables_of(points, areas), mechanism.facts_of(20, 1, len(areas)), randomness(3)
    )
    everywhere = np.tile(measured, (len(layers), 1))
    return mechanism.presented(everywhere, shape, layers, [area.name for area in areas])


def words(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


def test_every_table_is_drawn():
    released = tables()
    assert released["table"].n_unique() == 4
    figure = draw_tables(released, LEGEND, title="shop")
    said = words(figure)
    assert all(unit in said for unit in UNITS.values())
    assert {"shop", "menu, as no. 1", "elsewhere"} <= {t.get_text() for t in figure.findobj(Text)}
    bars = sum(len(axes.patches) for axes in figure.axes)
    assert bars == released.filter(pl.col("table") != "transitions").height


def test_only_the_tables_asked_for_are_drawn():
    said = words(draw_tables(tables("visits"), LEGEND))
    assert UNITS["visits"] in said
    assert UNITS["dwell"] not in said


def test_bars_within_two_standard_errors_are_grey():
    released = tables("dwell")
    figure = draw_tables(released, LEGEND)
    bars = next(axes for axes in figure.axes if axes.patches).patches
    for bar, value, error in zip(
        bars, released["measured"], released["standard_error"], strict=True
    ):
        assert bar.get_width() == pytest.approx(max(value, 0.0))
        assert (np.ptp(bar.get_facecolor()[:3]) > 0.3) == (value > 2 * error)
    assert "2 standard errors" in words(figure)


def intervals(axes) -> list[tuple[float, float]]:
    """From where to where the line of each bar goes."""
    (lines,) = axes.collections
    return [(float(path[0, 0]), float(path[1, 0])) for path in lines.get_segments()]


def test_a_share_that_noise_made_negative_is_drawn_as_zero_with_its_interval():
    """Bars went to the left of zero, as if there were less than no gaze."""
    mechanism = AoiTables(epsilon=1.0, tables="dwell")
    facts = mechanism.facts_of(40, 1, 3)
    error = float(mechanism.cell_sd(facts)[0, 0])
    measured = error * np.array([[-1.0, -3.0, 0.5, 5.0]])
    released = mechanism.presented(measured, facts, ["page"], ["menu", "text", "advert"])
    figure = draw_tables(released, LEGEND)
    axes = next(axes for axes in figure.axes if axes.patches)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(
        [0.0, 0.0, 0.5 * error, 5 * error]
    )
    wanted = [(0.0, error), (0.0, 0.0), (0.0, 2.5 * error), (3 * error, 7 * error)]
    np.testing.assert_allclose(intervals(axes), wanted, atol=1e-12)
    assert axes.get_xlim()[0] == 0.0
    # The file has what was measured, and the same interval.
    assert released["measured"].to_list() == pytest.approx(measured[0].tolist())
    np.testing.assert_allclose(released.select("lower", "upper").to_numpy(), wanted, atol=1e-12)
    assert "What noise made negative is drawn as 0; areas.csv has it" in words(figure)


def test_transitions_that_noise_made_negative_are_written_as_zero():
    released = tables("transitions").with_columns(
        measured=pl.Series(np.arange(9.0) - 8), standard_error=pl.lit(2.0)
    )
    axes = next(a for a in draw_tables(released, LEGEND).axes if a.images)
    assert {text.get_text() for text in axes.texts} == {"0.00"}
    assert np.ma.getmaskarray(axes.images[0].get_array()).all()


def test_transitions_are_a_matrix_from_rows_to_columns():
    released = tables("transitions").with_columns(
        measured=pl.Series(np.arange(9.0)), standard_error=pl.lit(2.0)
    )
    figure = draw_tables(released, LEGEND)
    axes = next(axes for axes in figure.axes if axes.images)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["menu", "text", "advert"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["menu", "text", "advert"]
    shown = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in axes.texts}
    # From text to advert.
    assert shown[1, 2] == "5.00"
    assert (
        np.ma.getmaskarray(axes.images[0].get_array()).ravel().tolist() == [True] * 5 + [False] * 4
    )


def test_areas_are_outlined_on_the_page_with_their_names():
    figure = draw_tables(tables("dwell"), LEGEND, areas=AREAS, pictures=[PAGE])
    page = next(axes for axes in figure.axes if axes.images)
    outlines = [line.get_xydata() for line in page.lines]
    for area in AREAS:
        closed = np.vstack([area.corners, area.corners[:1]])
        assert any(np.array_equal(line, closed) for line in outlines)
    assert {text.get_text() for text in page.texts} == {"menu", "text", "advert"}
    # An area that reaches beyond the page does not stretch it.
    assert page.get_xlim() == (-0.5, WIDE - 0.5)
    assert page.get_ylim() == (HIGH - 0.5, -0.5)


def rectangle(name: str, x: float, y: float, width: float, height: float) -> Area:
    corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
    return Area(name, np.array(corners, dtype=float))


@pytest.mark.parametrize("size", [(120, 80), (80, 300), (900, 60)])
@pytest.mark.parametrize("count", [1, 6, 40])
def test_names_of_areas_cover_neither_what_was_looked_at_nor_each_other(size, count):
    """They stood on the upper left of each area, where its text begins."""
    wide, high = size
    rng = np.random.default_rng(count)
    areas = tuple(
        rectangle(f"a rather long name {n}", *rng.uniform(0, 0.6, 2) * size, wide / 3, high / 3)
        for n in range(count)
    )
    page = np.full((high, wide, 3), 255, np.uint8)
    released = tables("dwell", areas=named(count))
    figure = draw_tables(released, LEGEND, areas=areas, pictures=[page])
    figure.draw_without_rendering()
    axes = next(axes for axes in figure.axes if axes.images)
    names = [text.get_window_extent() for text in axes.texts]
    assert len(names) == count
    picture = axes.get_window_extent()
    assert not any(name.overlaps(picture) for name in names)
    assert all(name.x0 >= 0 and name.x1 <= figure.bbox.x1 for name in names)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(names, 2))
    others = [other.get_tightbbox() for other in figure.axes if other is not axes and other.axison]
    assert not any(name.overlaps(other) for name in names for other in others)


def test_a_line_goes_from_each_name_to_the_outline_of_its_area():
    figure = draw_tables(tables("dwell"), LEGEND, areas=AREAS, pictures=[PAGE])
    axes = next(axes for axes in figure.axes if axes.images)
    ends = {
        text.get_text(): min(
            (line.get_xydata() for line in axes.lines if len(line.get_xydata()) == 3),
            key=lambda line: abs(line[0, 1] - text.get_position()[1]),
        )[-1]
        for text in axes.texts
    }
    # The middle of the side that is nearer to the border of the page.
    np.testing.assert_allclose(ends["menu"], (0, 10), atol=1)
    np.testing.assert_allclose(ends["text"], (10, 30), atol=1)
    np.testing.assert_allclose(ends["advert"], (WIDE - 1, 50), atol=1)


def test_without_a_page_there_are_tables_only():
    figure = draw_tables(tables("dwell"), LEGEND, areas=AREAS, pictures=[None])
    assert not any(axes.images for axes in figure.axes)


def test_every_layer_has_its_tables_and_one_page_serves_all():
    stretches = ("0–30 s", "30–60 s")
    figure = draw_tables(tables("dwell", stretches), LEGEND, areas=AREAS, pictures=[PAGE])
    said = words(figure)
    assert all(f"{name}, {UNITS['dwell']}" in said for name in stretches)
    assert sum(bool(axes.images) for axes in figure.axes) == 1
    pages = draw_tables(tables("dwell", ("a", "b")), LEGEND, areas=AREAS, pictures=[PAGE, PAGE])
    assert sum(bool(axes.images) for axes in pages.axes) == 2


def test_parts_do_not_overlap(tmp_path):
    figure = draw_tables(tables(), LEGEND, areas=AREAS, pictures=[PAGE])
    figure.draw_without_rendering()
    parts = sorted(
        (axes.get_tightbbox() for axes in figure.axes if axes.axison or axes.texts),
        key=lambda box: -box.y1,
    )
    assert all(lower.y1 <= upper.y0 + 1 for upper, lower in itertools.pairwise(parts))
    save(figure, tmp_path / "areas.png")
    assert (tmp_path / "areas.png").stat().st_size > 10_000


def named(count: int) -> tuple[Area, ...]:
    corners = np.array([[0, 0], [9, 0], [0, 9]], dtype=float)
    return tuple(Area(f"area {number}", corners) for number in range(count))


def test_what_does_not_fit_is_said_to_be_in_the_file():
    figure = draw_tables(tables(layers=tuple("abcdefg"), areas=named(45)), LEGEND)
    assert "areas.csv has all" in words(figure)
    # Agg draws at most 2^16 px.
    assert figure.bbox.height < 1 << 16


@pytest.mark.parametrize(
    ("names", "count", "whole"),
    [
        ("transitions", 16, True),
        ("transitions", 17, False),
        ("visits", 40, True),
        ("visits", 41, False),
    ],
)
def test_nothing_is_said_to_be_left_out_that_is_drawn(names, count, whole):
    figure = draw_tables(tables(names, areas=named(count)), LEGEND)
    assert ("areas.csv has all" not in words(figure)) == whole
