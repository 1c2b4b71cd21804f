"""Areas of interest from a file."""

import json

import pytest

from eyelid.errors import InputError
from eyelid.io.areas import read_areas

LOGO = {"name": "logo", "polygon": [[0, 0], [4, 0], [0, 4]]}
MENU = {"name": "menu", "rectangle": [10, 20, 30, 5]}


def written(folder, content):
    path = folder / "areas.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_polygons_and_rectangles_are_read_in_order(tmp_path):
    logo, menu = read_areas(written(tmp_path, {"areas": [LOGO, MENU]}))
    assert (logo.name, menu.name) == ("logo", "menu")
    assert logo.corners.tolist() == [[0, 0], [4, 0], [0, 4]]
    assert menu.corners.tolist() == [[10, 20], [40, 20], [40, 25], [10, 25]]


def test_a_byte_order_mark_and_any_letters_are_welcome(tmp_path):
    text = "\ufeff" + json.dumps({"areas": [LOGO | {"name": "Menü 目录"}]}, ensure_ascii=False)
    assert read_areas(str(written(tmp_path, text)))[0].name == "Menü 目录"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("logo,0,0", "is not JSON .*it must look like"),
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ([LOGO], "no list of areas: it must look like"),
        ({"areas": {"logo": LOGO}}, "no list of areas"),
        ({"area": [LOGO]}, "no list of areas"),
        ({"areas": [LOGO], "unit": "px"}, "unknown key 'unit'"),
        ({"areas": []}, "no areas of interest: give at least one"),
        ({"areas": ["logo"]}, "area 1 must be an object with a name and a polygon, got 'logo'"),
        ({"areas": [LOGO, {"polygon": []}]}, "area 2 needs a name that is text, got None"),
        ({"areas": [{"name": 7, "polygon": []}]}, "area 1 needs a name that is text, got 7"),
        ({"areas": [{"name": "logo"}]}, "area 'logo' needs a polygon or a rectangle"),
        ({"areas": [LOGO | {"rectangle": [0, 0, 1, 1]}]}, "'logo' .* and not both"),
        ({"areas": [LOGO | {"poligon": []}]}, "unknown key of area 1 'poligon': did you mean"),
        ({"areas": [LOGO | {"polygon": "0,0"}]}, "'logo' must be a list of corners"),
        ({"areas": [LOGO | {"polygon": [[0, 0], [1, "1"], [2, 0]]}]}, "list of corners"),
        ({"areas": [LOGO | {"polygon": [[0, 0], [1, True], [2, 0]]}]}, "list of corners"),
        ({"areas": [LOGO | {"polygon": [[0, 0], [1, 1]]}]}, "'logo' must be three or more corners"),
        ('{"areas": [{"name": "a", "polygon": [[0, 0], [1, NaN], [2, 0]]}]}', "no numbers"),
        ('{"areas": [{"name": "a", "rectangle": [0, 0, NaN, 1]}]}', "width and height above 0"),
        ({"areas": [MENU | {"rectangle": [0, 0, 10]}]}, r"'menu' must be \[x, y, width, height\]"),
        ({"areas": [MENU | {"rectangle": [0, 0, -5, 3]}]}, "above 0, got"),
        ({"areas": [MENU, LOGO, MENU]}, "2 areas of interest are called 'menu'"),
        (
            {"areas": [{"name": "x", "polygon": [[0, 0], [9, 9], [9, 0], [0, 9]]}]},
            "area of interest 'x' crosses or touches itself",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line_that_names_the_file(tmp_path, content, said):
    path = written(tmp_path, content)
    with pytest.raises(InputError, match=said) as told:
        read_areas(path)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none\.json: No such file"):
        read_areas(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot read"):
        read_areas(tmp_path)
    path = tmp_path / "picture.json"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InputError, match="is not JSON"):
        read_areas(path)


def test_a_number_too_large_for_a_place_is_refused(tmp_path):
    polygon = [[0, 0], [10**400, 0], [0, 1]]
    with pytest.raises(InputError, match="'logo'"):
        read_areas(written(tmp_path, {"areas": [LOGO | {"polygon": polygon}]}))


def test_areas_of_another_page_are_left_out_of_a_map(tmp_path):
    mine = [LOGO | {"stimulus": "home"}, MENU | {"stimulus": "shop"}]
    path = written(tmp_path, {"areas": mine})
    assert [area.name for area in read_areas(path, ["home"])] == [LOGO["name"]]
    assert len(read_areas(path)) == 2
    with pytest.raises(InputError, match=r"unknown stimulus of areas in .* 'cart'"):
        read_areas(path, ["cart"])
