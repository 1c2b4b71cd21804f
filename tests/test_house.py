"""The house stays as it was built: what is declared is not found out, nothing grows too large."""

import ast

from tools import house, rooms

# Finding out what a mechanism is, outside of its room: none may come, and these should go.
MOST_TYPE_CHECKS = 3


def test_nobody_finds_out_what_a_mechanism_is(trees):
    places = house.type_checks(trees)
    assert len(places) <= MOST_TYPE_CHECKS, f"a mechanism declares that: {places}"


def test_every_way_of_finding_out_is_counted(trees):
    asked = """
from eyelid.mechanisms.groups.ksame import KSame
def one(law): return isinstance(law, KSame)
def two(law): return type(law) is KSame
def three(law): return law.name == "ksame"
def four(law): return hasattr(law, "diverse")
def five(law):
    match law:
        case KSame(): return True
@one.register
def six(law: KSame): ...
"""
    more = trees | {"releases.asking": ast.parse(asked)}
    found = [place for place in house.type_checks(more) if place.startswith("releases.asking")]
    assert len(found) == 6


def test_modules_and_functions_are_short(trees):
    long = [
        str(file)
        for file in house.PACKAGE.rglob("*.py")
        if len(file.read_text(encoding="utf-8").splitlines()) > house.LONGEST_MODULE
    ]
    assert not long
    assert not house.complex_functions()
    assert not house.wide_functions(trees)


def test_mechanisms_have_few_bases():
    assert [each for each in house.bases() if each[1] > house.MOST_BASES] == []


def test_no_room_imports_one_that_imports_it(trees):
    assert not house.cycles(house.imports(trees))


def test_the_picture_of_the_rooms_is_that_of_the_imports(monkeypatch):
    monkeypatch.setattr("sys.argv", ["rooms", "--check"])
    assert rooms.main() == 0, "draw it again: python -m tools.rooms"
