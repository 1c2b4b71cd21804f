"""Pictures of gaze maps: what they show, what they say, and what they refuse."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import colormaps
from matplotlib.text import Text
from PIL import Image

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import GazeMap, presented
from eyelid.gaze.maps.grid import Grid
from eyelid.io.pictures import read_picture
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import PERSON, Neighbours, Trust
from eyelid.reporting.maps import pictures as map_pictures
from eyelid.reporting.maps.page import NO_GUARANTEE, guarantee_legend
from eyelid.reporting.maps.pictures import (
    draw_difference,
    draw_heatmap,
    draw_layers,
    draw_overlay,
    draw_reliable,
    save,
)
from eyelid.reporting.maps.reliability import difference_sentence

HIGH, WIDE = 60, 90
LEGEND = "Protects each of 20 people."
HELD = Guarantee(
    Kind.APPROXIMATE, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, epsilon=1.0, delta=1e-6
)


def plain(values: np.ndarray, name: str = "", people: int = 20, **more) -> GazeMap:
    return GazeMap(values, name, people, 8.0, **more)


def hotspot(x: float, y: float, *, error: float | None = None, name: str = "", **more) -> GazeMap:
    """One hotspot of sd 8 px; the map is normalised, what was measured is not."""
    across, down = np.meshgrid(np.arange(WIDE) + 0.5, np.arange(HIGH) + 0.5)
    heat = np.exp(-((across - x) ** 2 + (down - y) ** 2) / 128)
    if error is None:
        return plain(heat / heat.sum(), name, **more)
    heat /= heat.sum()
    shown = np.maximum(heat - error, 0.0)
    total = shown.sum() or 1.0
    return plain(shown / total, name, error=np.full(heat.shape, error), measured=heat, **more)


def pixels(figure) -> np.ndarray:
    """The figure as it is seen."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi="figure")
    return np.asarray(Image.open(buffer).convert("RGB"), dtype=np.float64) / 255


def luminance(colours: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB (IEC 61966-2-1)."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def words(figure) -> str:
    """All that is written in a figure."""
    return " ".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


def in_map(figure, x: float, y: float) -> np.ndarray:
    """The colour at a place of the map, in px of the map."""
    seen = pixels(figure)
    axes = next(axis for axis in figure.axes if axis.images)
    column, row = axes.transData.transform((x, y))
    return seen[len(seen) - 1 - round(row), round(column)]


def test_lightness_of_the_heat_grows_with_heat_so_that_it_reads_in_grey():
    heat = colormaps[map_pictures.HEAT](np.linspace(0, 1, 256))[:, :3]
    assert (np.diff(luminance(heat)) > 0).all()


@pytest.mark.parametrize("ground", [1.0, 0.75, 0.45])
def test_over_a_picture_darkness_grows_with_heat_on_every_ground(ground: float):
    colours = map_pictures._translucent()(np.linspace(0, 1, 256))
    seen = colours[:, :3] * colours[:, 3:] + ground * (1 - colours[:, 3:])
    light = luminance(seen)
    assert light[-1] < light[0] / 2
    # On dark grounds faint heat shines before it darkens. Eight bits make steps of their own.
    assert (np.diff(light[::8])[0 if ground == 1 else 16 :] < 0).all()


def test_both_ends_of_a_difference_are_told_apart_by_colour_blind_eyes():
    ends = map_pictures._diverging()(np.array([0.0, 0.5, 1.0]))[:, :3]
    # Machado, Oliveira & Fernandes (2009), deuteranopia and protanopia, on linear values.
    for matrix in (
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    ):
        seen = np.clip((ends**2.2) @ np.array(matrix).T, 0, 1) ** (1 / 2.2)
        assert np.linalg.norm(seen[0] - seen[2]) > 0.4
        assert min(np.linalg.norm(seen[1] - seen[end]) for end in (0, 2)) > 0.4
    middle, low, high = luminance(ends[[1, 0, 2]])
    assert middle > 3 * max(low, high)
    assert max(low, high) / min(low, high) < 1.7


def test_a_heatmap_is_lightest_where_most_people_look():
    figure = draw_heatmap(hotspot(30, 40), LEGEND)
    hot, cold = in_map(figure, 30, 40), in_map(figure, 80, 8)
    assert luminance(hot) > 10 * luminance(cold)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 300.0])
def test_the_colour_bar_counts_in_percent_of_the_hottest_place(scale: float):
    some = plain(scale * np.linspace(0, 1, HIGH * WIDE).reshape(HIGH, WIDE))
    figure = draw_heatmap(some, LEGEND)
    image = next(axis for axis in figure.axes if axis.images).images[0]
    np.testing.assert_allclose(image.get_array(), 100 * some.values / scale)
    assert (image.norm.vmin, image.norm.vmax) == (0, 100)
    assert "density of gaze, % of the hottest place" in words(figure)


@pytest.mark.parametrize(
    ("wide", "degree_px", "length", "label"),
    [(90, None, 10, "10 px"), (1680, None, 200, "200 px"), (1680, 38.0, 190, "5°")],
)
def test_the_scale_bar_is_as_long_as_it_says(wide, degree_px, length, label):
    figure = draw_heatmap(plain(np.ones((HIGH, wide))), LEGEND, degree_px=degree_px)
    assert label in words(figure)
    bar = next(axis for axis in figure.axes if axis.lines)
    heat = next(axis for axis in figure.axes if axis.images)
    ends = bar.transData.transform([(x, 0) for x in bar.lines[0].get_xdata()])[:, 0]
    there = heat.transData.transform([(0, 0), (length, 0)])[:, 0]
    assert np.ptp(ends) == pytest.approx(np.ptp(there))


def test_a_picture_says_whom_it_protects_and_what_is_public():
    said = guarantee_legend(HELD, 20)
    assert said.startswith("Protects each of 20 people")
    assert "factor of 2.72, plus 1e-06 (ε = 1, δ = 1e-06; unit person, replace-one)" in said
    assert "public" in said
    assert said in words(draw_heatmap(hotspot(30, 40, name="page"), said))


def test_a_large_epsilon_is_called_formal_only():
    loose = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, epsilon=30.0)
    assert "formal only" in guarantee_legend(loose, 20)


def test_no_guarantee_is_said_first_and_in_a_colour_that_cannot_be_missed():
    said = guarantee_legend(HELD.broken("no noise is added"), 20)
    assert said.startswith(f"{NO_GUARANTEE} for the 20 people")
    alarmed, calm = (pixels(draw_heatmap(hotspot(30, 40), text)) for text in (said, LEGEND))

    def red(seen: np.ndarray) -> float:
        return float(np.mean((seen[..., 0] > 0.6) & (seen[..., 1:].max(axis=-1) < 0.1)))

    assert red(alarmed) > 0.04
    assert red(calm) == 0


@pytest.mark.parametrize("legend", ["", "  "])
def test_a_picture_without_a_legend_is_not_drawn(legend: str):
    with pytest.raises(InputError, match="legend that says whom it protects"):
        draw_heatmap(hotspot(30, 40), legend)


@pytest.mark.parametrize("size", [(60, 90), (400, 60), (20, 900)])
@pytest.mark.parametrize("start", ["Protects", NO_GUARANTEE])
def test_long_words_wrap_inside_the_picture_and_overlap_nothing(size, start):
    legend = f"{start} " + "wherever a person looked it matters little " * 12 + "x" * 200
    some = plain(np.ones(size), name="a very long name of a picture " * 8)
    figure = draw_heatmap(some, legend)
    figure.draw_without_rendering()
    whole = figure.bbox
    boxes = [text.get_window_extent() for text in figure.texts]
    for box in boxes:
        assert box.x0 >= 0
        assert box.x1 <= whole.x1
        assert box.y0 >= 0
        assert box.y1 <= whole.y1
    heat = next(axis for axis in figure.axes if axis.images).get_window_extent()
    title, *below = sorted((box for box in boxes if box.height > 1), key=lambda box: -box.y0)
    assert title.y0 >= heat.y1
    assert all(box.y1 <= heat.y0 for box in below)
    assert all(lower.y1 <= upper.y0 for upper, lower in itertools.pairwise(below))


def test_where_nobody_looked_the_overlay_shows_the_picture_in_grey():
    picture = np.zeros((HIGH, WIDE, 3), np.uint8)
    picture[:, :45] = (255, 255, 255)
    figure = draw_overlay(hotspot(20, 30), picture, LEGEND)
    white, black = in_map(figure, 40, 4), in_map(figure, 80, 50)
    assert np.ptp(white) < 0.02
    assert np.ptp(black) < 0.02
    assert white.mean() > 0.95
    # Black letters on white are read: WCAG asks for a contrast of 7.
    assert (luminance(white) + 0.05) / (luminance(black) + 0.05) > 7
    hot = in_map(figure, 20, 30)
    assert hot[0] > hot[1] + 0.2


def test_an_overlay_without_a_picture_is_on_a_plain_light_ground():
    figure = draw_overlay(hotspot(20, 30), None, LEGEND)
    assert in_map(figure, 80, 8).min() > 0.9


def test_a_picture_of_another_size_is_refused():
    picture = np.zeros((HIGH, WIDE + 1, 3), np.uint8)
    with pytest.raises(InputError, match="the picture is 91 × 60 px and the map 90 × 60"):
        draw_overlay(hotspot(20, 30), picture, LEGEND)


@pytest.mark.parametrize(
    ("size", "wide_px"), [((1080, 1920), 1920), ((30, 3000), 2400), ((40, 60), 1120)]
)
def test_a_page_is_drawn_in_its_own_resolution(size, wide_px):
    page = np.full((*size, 3), 255, np.uint8)
    some = plain(np.zeros(size))
    for figure in (
        draw_overlay(some, page, LEGEND),
        draw_reliable(some, page, LEGEND),
        draw_difference(some, some, page, LEGEND),
    ):
        place = next(axis for axis in figure.axes if axis.images).get_window_extent()
        assert place.width == pytest.approx(wide_px)
    place = next(axis for axis in draw_overlay(some, None, LEGEND).axes if axis.images)
    assert place.get_window_extent().width == pytest.approx(1120)


def test_a_tall_page_is_not_drawn_beyond_reason():
    page = np.full((20_000, 1000, 3), 255, np.uint8)
    figure = draw_overlay(plain(np.zeros((20_000, 1000))), page, LEGEND)
    place = next(axis for axis in figure.axes if axis.images).get_window_extent()
    assert place.height == pytest.approx(4800)


def test_what_lies_below_two_standard_errors_is_veiled():
    some = hotspot(30, 30, error=hotspot(30, 30).values.max() / 3)
    figure = draw_reliable(some, None, LEGEND)
    shown = next(axis for axis in figure.axes if axis.images).images[0].get_array()
    assert (~np.ma.getmaskarray(shown) == (some.measured > 2 * some.error)).all()
    veiled, plain = in_map(figure, 80, 50), in_map(draw_overlay(some, None, LEGEND), 80, 50)
    assert veiled.mean() < plain.mean() - 0.05
    assert "less than 2 standard errors of the noise from zero" in words(figure)
    assert "no hotspot" not in words(figure)


def lines_around(figure) -> dict[str, np.ndarray]:
    """Corners of the lines in a map, by their style."""
    axes = next(axis for axis in figure.axes if axis.images)
    found = {}
    for drawn in axes.collections:
        ((_, dashes),) = drawn.get_linestyle()
        corners = np.vstack([path.vertices for path in drawn.get_paths()])
        if len(drawn.get_edgecolor()) and len(corners):
            found["dashed" if dashes else "solid"] = corners
    return found


@pytest.mark.parametrize("sure_errors", [3.0, 4.0, 6.0])
def test_a_solid_line_is_around_what_is_certain_and_a_dashed_one_around_what_may_be_noise(
    sure_errors: float,
):
    peak = hotspot(30, 30).values.max()
    some = hotspot(30, 30, error=peak / 5, sure_errors=sure_errors)
    found = lines_around(draw_reliable(some, None, LEGEND, sentence="Hotspots are reliable."))

    def radius(errors: float) -> float:
        # The hotspot is exp(-r²/128) of its peak, which is five errors high.
        return math.sqrt(-128 * math.log(errors / 5))

    away = np.hypot(*(found["dashed"] - (29.5, 29.5)).T)
    assert away == pytest.approx(radius(2), abs=0.3)
    if sure_errors > 5:
        assert "solid" not in found
    else:
        away = np.hypot(*(found["solid"] - (29.5, 29.5)).T)
        assert away == pytest.approx(radius(sure_errors), abs=0.3)


def test_a_reliable_picture_says_what_its_lines_mean_and_how_wide_hotspots_must_be():
    some = hotspot(30, 30, error=hotspot(30, 30).values.max() / 5, sure_errors=3.5)
    sentence = "Hotspots wider than 40 px are reliable."
    for figure in (
        draw_reliable(some, None, LEGEND, sentence=sentence),
        draw_layers([some, some], LEGEND, reliable_only=True, sentence=sentence),
    ):
        said = words(figure)
        assert sentence in said
        assert "Solid line: clearly more gaze than the average of the page, tested over the" in said
        assert "noise draws one in at most 1 of 20 maps" in said
        assert "Dashed: above that average by 2 standard errors, may be noise" in said


def test_pictures_of_noise_alone_seldom_show_a_solid_line():
    """Of 30 maps 0.75 have one; more than 6 with a chance of 1e-5; the seed is fixed."""
    grid, rng = Grid(WIDE, HIGH, 9, 6), np.random.default_rng(8)
    solid = dashed = 0
    for _ in range(30):
        some = presented(rng.normal(0, 0.1, (6, 9)), grid, 4.0, 0.1, "", 9)
        found = lines_around(draw_reliable(some, None, LEGEND))
        solid += "solid" in found
        dashed += "dashed" in found
    assert solid <= 6
    assert dashed > 15


def released(hot: float, *, mean: float = 0.2, grid: tuple[int, int] = (9, 6)) -> GazeMap:
    """A map as it is released: noise of 0.1 in every cell, and one hotter than the others."""
    columns, rows = grid
    cells = mean + np.random.default_rng(5).normal(0, 0.1, (rows, columns))
    cells[2, 4] += hot
    return presented(cells, Grid(WIDE, HIGH, columns, rows), 2.0, 0.1, "page", 9)


def drawn_everywhere(some: GazeMap) -> list:
    """Pictures that show noise as well."""
    return [
        draw_heatmap(some, LEGEND),
        draw_overlay(some, None, LEGEND),
        draw_layers([some, some], LEGEND),
        draw_layers([some, some], LEGEND, [None, None]),
    ]


def test_a_picture_of_nothing_but_noise_says_so_in_the_image_itself():
    """It was said in reliable.png alone, and heatmap.png is what people share."""
    for figure in drawn_everywhere(released(0.0)):
        assert "Caution:" in words(figure)
        assert "may be noise" in words(figure)
    for figure in drawn_everywhere(released(3.0)):
        assert "Caution" not in words(figure)
        assert "see reliable.png" in words(figure)


def test_a_picture_of_which_most_is_noise_says_how_much():
    # One place stands out from a page that is hardly looked at, and noise draws the rest.
    some = released(0.7, mean=0.0, grid=(30, 20))
    share = some.values.sum(where=~some.reliable)
    assert some.certain.any()
    assert share > 0.5
    assert f"mostly noise. {share:.0%} of the heat drawn here" in words(draw_heatmap(some, LEGEND))


def test_a_map_without_noise_carries_no_caution():
    assert "Caution" not in words(draw_heatmap(hotspot(30, 40), LEGEND))
    exact = presented(np.eye(6), Grid(WIDE, HIGH, 6, 6), 4.0, 0.0, "", 9)
    assert "Caution" not in words(draw_overlay(exact, None, LEGEND))


def test_the_size_of_a_picture_does_not_tell_whether_it_is_noise():
    for noise, clear in zip(*(drawn_everywhere(released(hot)) for hot in (0.0, 3.0)), strict=True):
        assert tuple(noise.get_size_inches()) == tuple(clear.get_size_inches())


@pytest.mark.parametrize("size", [(60, 90), (400, 60), (20, 900)])
def test_a_caution_covers_neither_the_map_nor_other_words(size):
    high, wide = size
    grid = Grid(wide, high, 9, 6)
    cells = np.random.default_rng(5).normal(0.2, 0.1, (6, 9))
    some = presented(cells, grid, 4.0, 0.1, "a page", 9)
    for maps in ([some], [some] * 7):
        figure = draw_layers(maps, LEGEND) if len(maps) > 1 else draw_heatmap(some, LEGEND)
        figure.draw_without_rendering()
        boxes = {text.get_text(): text.get_window_extent() for text in figure.texts}
        (said,) = (box for text, box in boxes.items() if text.startswith("Caution"))
        assert said.x1 <= figure.bbox.x1
        assert all(not said.overlaps(axes.get_tightbbox()) for axes in figure.axes)
        others = (box for text, box in boxes.items() if text and not text.startswith("Caution"))
        assert all(not said.overlaps(box) for box in others)


def test_where_nothing_is_reliable_the_picture_says_so_in_words():
    figure = draw_reliable(hotspot(30, 30, error=1.0), None, LEGEND)
    assert "Nothing here rises above the noise: no hotspot can be trusted." in words(figure)


def test_an_empty_map_says_so_and_a_raw_one_says_that_nobody_looked():
    assert "the map is empty" in words(draw_heatmap(hotspot(30, 30, error=1.0), LEGEND))
    assert "Nobody looked here" in words(draw_overlay(plain(np.zeros((5, 5))), None, LEGEND))


def test_a_map_without_noise_has_no_veil():
    figure = draw_reliable(hotspot(30, 30), None, LEGEND)
    assert "No noise was added" in words(figure)
    assert len(next(axis for axis in figure.axes if axis.images).images) == 1
    assert not lines_around(figure)


@pytest.mark.parametrize("size", [(1, 1), (1, 40), (2, 2)])
def test_tiny_maps_are_drawn(size):
    tiny = plain(np.ones(size), error=np.ones(size), measured=np.full(size, 3.0))
    tiny.measured.flat[0] = 0.0
    for figure in (
        draw_heatmap(tiny, LEGEND),
        draw_reliable(tiny, None, LEGEND),
        draw_difference(tiny, tiny, None, LEGEND),
    ):
        assert pixels(figure).size


def two_groups(errors: float, **more) -> tuple[GazeMap, GazeMap]:
    error = hotspot(30, 30).values.max() / errors
    return (
        hotspot(25, 30, error=error, name="experts", **more),
        hotspot(65, 30, error=error, name="novices", **more),
    )


@pytest.mark.parametrize("over_a_page", [False, True])
def test_a_difference_is_blue_where_the_first_looks_more_and_orange_where_the_second_does(
    over_a_page: bool,
):
    page = np.full((HIGH, WIDE, 3), 255, np.uint8) if over_a_page else None
    groups = two_groups(10, sure_errors=4.0)
    figure = draw_difference(*groups, page, LEGEND, title="shop")
    # Beside the names that stand in the middle.
    first, second = in_map(figure, 25, 36), in_map(figure, 65, 36)
    assert first[2] > first[0] + 0.15
    assert second[0] > second[2] + 0.15
    assert np.ptp(in_map(figure, 85, 55)) < 0.08
    said = words(figure)
    assert "more looked at by experts" in said
    assert "% of the hottest place of both maps" in said
    assert difference_sentence(*groups) in said
    assert "shop: experts and novices" in said
    assert "40 people" in said
    assert set(lines_around(figure)) == {"solid", "dashed"}


def test_a_difference_counts_in_percent_of_the_hottest_place_of_both():
    one, other = two_groups(10)
    other.measured[:] /= 2
    figure = draw_difference(one, other, None, LEGEND)
    image = next(axis for axis in figure.axes if axis.images).images[0]
    assert image.get_array()[30, 25] == pytest.approx(100, abs=1)
    assert image.get_array()[30, 65] == pytest.approx(-50, abs=1)
    assert image.norm.vmin == -image.norm.vmax
    figure.draw_without_rendering()
    bar = figure.axes[-1]
    assert not any("-" in label.get_text() for label in bar.get_yticklabels())


def test_a_difference_lies_over_the_page():
    page = np.zeros((HIGH, WIDE, 3), np.uint8)
    page[:, :45] = 255
    figure = draw_difference(*two_groups(1), page, LEGEND)
    assert in_map(figure, 40, 4).mean() > in_map(figure, 50, 4).mean() + 0.2


def test_places_of_a_difference_have_names_so_that_it_reads_in_grey():
    figure = draw_difference(*two_groups(10), None, LEGEND)
    axes = next(axis for axis in figure.axes if axis.images)
    named = {text.get_text(): text.get_position() for text in axes.texts}
    assert named["experts"] == pytest.approx((25, 30), abs=1)
    assert named["novices"] == pytest.approx((65, 30), abs=1)


def test_errors_of_a_difference_are_added_in_squares():
    one, other = (
        plain(np.ones((4, 4)), error=np.full((4, 4), error), measured=np.full((4, 4), measured))
        for error, measured in ((3.0, 30.0), (4.0, 20.0))
    )
    one.measured[0, 0] = 30.1
    figure = draw_difference(one, other, None, LEGEND)
    shown = next(axis for axis in figure.axes if axis.images).images[0].get_array()
    assert np.flatnonzero(~np.ma.getmaskarray(shown)).tolist() == [0]


def test_maps_that_differ_by_noise_alone_are_said_to_differ_nowhere():
    same = hotspot(30, 30, error=0.1)
    said = words(draw_difference(same, same, None, LEGEND))
    assert "differ nowhere by more than the noise" in said


def test_maps_of_two_sizes_have_no_difference():
    with pytest.raises(InputError, match="5 × 5 and 6 × 5 px"):
        draw_difference(plain(np.ones((5, 5))), plain(np.ones((5, 6))), None, LEGEND)


def test_layers_share_one_scale_and_say_how_many_are_not_shown():
    maps = [hotspot(20 + number, 30, name=f"page {number}") for number in range(27)]
    maps[3].values[:] = 0
    figure = draw_layers(maps, LEGEND)
    images = [axis.images[0] for axis in figure.axes if axis.get_title(loc="left")]
    assert len(images) == 24
    assert len({image.norm.vmax for image in images}) == 1
    assert "The first 24 of 27 maps; 3 are not shown." in words(figure)
    assert "page 0" in words(figure)
    assert "nothing above the noise" in words(figure)


def test_layers_are_veiled_where_they_are_not_above_the_noise():
    picture = np.full((HIGH, WIDE, 3), 255, np.uint8)
    peak = hotspot(30, 30).values.max()
    maps = [
        hotspot(30, 30, error=error, name=name)
        for error, name in ((peak / 4, "some"), (peak, "none"))
    ]
    figure = draw_layers(maps, LEGEND, [None, picture], reliable_only=True)
    some, none = (axes for axes in figure.axes if axes.get_title(loc="left"))
    assert (~np.ma.getmaskarray(some.images[0].get_array()) == maps[0].reliable).all()
    # The second has its own ground, and nothing but a veil on it.
    assert len(none.images) == 3
    assert np.ma.getmaskarray(none.images[1].get_array()).all()
    assert words(figure).count("nothing above the noise") == 1
    assert "Hatched: less than 2 standard errors of the noise from zero, not to be" in words(figure)


@pytest.mark.parametrize("number", [1, 2, 7])
def test_layers_have_the_name_of_what_was_looked_at_and_a_scale_bar(number: int):
    maps = [plain(np.ones((105, 168)), name=f"{n}–{n + 1} s") for n in range(number)]
    figure = draw_layers(maps, LEGEND, title="shop", degree_px=10.0)
    assert {"shop", "2°", "0–1 s"} <= {text.get_text() for text in figure.findobj(Text)}
    bar = next(axis for axis in figure.axes if axis.lines)
    panel = next(axis for axis in figure.axes if axis.images)
    ends = bar.transData.transform([(x, 0) for x in bar.lines[0].get_xdata()])[:, 0]
    there = panel.transData.transform([(0, 0), (20, 0)])[:, 0]
    assert np.ptp(ends) == pytest.approx(np.ptp(there))
    assert "% of the hottest place of all maps" in words(figure)


@pytest.mark.parametrize("size", [(105, 168), (10, 168), (300, 100)])
def test_words_beside_the_colours_of_layers_are_within_the_picture(size):
    figure = draw_layers([plain(np.ones(size), name="a")] * 3, LEGEND)
    figure.draw_without_rendering()
    label = figure.axes[-1].yaxis.label.get_window_extent()
    assert label.x1 <= figure.bbox.x1


def test_a_long_name_of_a_single_word_is_cut_and_not_lost():
    maps = [plain(np.ones((105, 168)), name=f"{n}" + "verylong" * 20) for n in range(2)]
    assert "0verylongverylong" in words(draw_layers(maps, LEGEND))


def test_layers_of_groups_say_how_many_people_there_are():
    groups = [hotspot(30, 30, name=str(people), people=people) for people in (12, 30)]
    assert "12 to 30 people each" in words(draw_layers(groups, LEGEND))
    assert " 12 people" in words(draw_layers(groups[:1], LEGEND))


def test_no_layers_are_refused():
    with pytest.raises(InputError, match="no map to draw"):
        draw_layers([], LEGEND)


def test_a_saved_picture_tells_nothing_but_its_title(tmp_path: Path):
    for name in ("one.png", "two.png"):
        save(draw_heatmap(hotspot(30, 40, name="menu $1 $2 目"), LEGEND), tmp_path / name)
    content = (tmp_path / "one.png").read_bytes()
    assert content == (tmp_path / "two.png").read_bytes()
    with Image.open(tmp_path / "one.png") as image:
        assert set(image.info) == {"Title", "dpi"}
        assert image.info["Title"] == "private heatmap"
    assert _chunks(content) <= {b"IHDR", b"pHYs", b"tEXt", b"IDAT", b"IEND"}


def test_the_title_of_a_map_that_does_not_hold_says_so(tmp_path: Path):
    save(draw_heatmap(hotspot(30, 40), f"{NO_GUARANTEE}: seeded"), tmp_path / "one.png")
    with Image.open(tmp_path / "one.png") as image:
        assert image.info["Title"] == "heatmap without privacy"


def test_a_picture_that_cannot_be_written_is_one_clear_line(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot write .*one\.png: No such file"):
        save(draw_heatmap(hotspot(30, 40), LEGEND), tmp_path / "nowhere" / "one.png")


def _chunks(content: bytes) -> set[bytes]:
    """The kinds of chunk in a PNG file, read by hand."""
    found, place = set(), 8
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        found.add(kind)
        place += 12 + length
    return found


COLOURS = np.random.default_rng(3).integers(0, 256, (6, 9, 3), dtype=np.uint8)


@pytest.mark.parametrize("ending", ["png", "bmp", "tiff", "webp"])
def test_pictures_are_read_as_they_were_written(tmp_path: Path, ending: str):
    Image.fromarray(COLOURS).save(tmp_path / f"a.{ending}", lossless=True)
    assert (read_picture(tmp_path / f"a.{ending}") == COLOURS).all()


def test_grey_palette_and_deep_pictures_become_three_colours(tmp_path: Path):
    grey = COLOURS[..., 0]
    Image.fromarray(grey).save(tmp_path / "grey.png")
    Image.fromarray(grey).convert("P").save(tmp_path / "palette.gif")
    Image.fromarray(grey.astype(np.uint16) * 257).save(tmp_path / "deep.png")
    Image.fromarray(grey > 127).save(tmp_path / "bits.png")
    wanted = np.repeat(grey[..., None], 3, axis=2)
    for name in ("grey.png", "palette.gif", "deep.png"):
        assert (read_picture(tmp_path / name) == wanted).all(), name
    assert (read_picture(tmp_path / "bits.png") == np.where(wanted > 127, 255, 0)).all()


def test_what_is_transparent_lies_over_white(tmp_path: Path):
    with_alpha = np.zeros((1, 3, 4), np.uint8)
    with_alpha[0, :, 3] = (0, 51, 255)
    Image.fromarray(with_alpha).save(tmp_path / "a.png")
    assert read_picture(tmp_path / "a.png")[0, :, 0].tolist() == [255, 204, 0]


def test_a_photograph_is_turned_the_right_way_up(tmp_path: Path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(COLOURS).save(tmp_path / "a.png", exif=exif)
    assert (read_picture(tmp_path / "a.png") == np.rot90(COLOURS, -1)).all()


def test_pictures_that_cannot_be_read_are_one_clear_line(tmp_path: Path):
    Image.fromarray(np.tile(COLOURS, (40, 40, 1))).save(tmp_path / "whole.jpg")
    Image.fromarray(np.tile(COLOURS, (40, 40, 1))).save(tmp_path / "whole.png")
    for ending in ("jpg", "png"):
        content = (tmp_path / f"whole.{ending}").read_bytes()
        (tmp_path / f"half.{ending}").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    # A program, which a reader of pictures would have to run.
    (tmp_path / "page.eps").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EOF\n")
    (tmp_path / "huge.png").write_bytes(_claims_to_be(200_000, 200_000))
    (tmp_path / "wide.png").write_bytes(_claims_to_be(600_000, 200))
    Image.fromarray(np.ones((2, 2), np.float32)).save(tmp_path / "float.tiff")
    for name, line in {
        "none.png": "cannot open the picture .*none.png: No such file",
        ".": "cannot open the picture .*: Is a directory",
        "text.png": "no picture that can be read: give a PNG",
        "empty.png": "no picture that can be read: give a PNG",
        "page.eps": "no picture that can be read: give a PNG",
        "half.jpg": "cut off or damaged",
        "half.png": "cut off or damaged",
        "huge.png": "far too large: at most 100 million",
        "wide.png": "600,000 × 200 px: at most 100 million",
        "float.tiff": "floating-point pixels: save it with 8 bits",
    }.items():
        with pytest.raises(InputError, match=line) as refused:
            read_picture(tmp_path / name)
        assert "\n" not in str(refused.value)


def _claims_to_be(wide: int, high: int) -> bytes:
    """A PNG of a few bytes that says it is that large."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0"))


def _encoded(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(COLOURS).save(buffer, format=kind)
    return buffer.getvalue()


WHOLE = [_encoded(kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")]


@given(st.sampled_from(WHOLE), st.data())
def test_no_damage_to_a_file_is_more_than_an_input_error(tmp_path_factory, whole, data):
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole[: data.draw(st.integers(place + 1, len(whole)))])
    damaged[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(damaged)
    with contextlib.suppress(InputError):
        assert read_picture(path).dtype == np.uint8
