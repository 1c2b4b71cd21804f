"""The house stays as it was built: what is declared is not found out, nothing grows too large."""

import ast
from pathlib import Path

import pytest
from tools import house, rooms
from tools.type_checks import catalogue, lines_asking, type_checks

# Finding out what a mechanism is, outside of its room: none may come, and these should go. They are
# tables by names: settings under which folders of neighbours are compared, and curves of a figure.
MOST_TYPE_CHECKS = 5


def test_nobody_finds_out_what_a_mechanism_is(trees):
    places = type_checks(trees)
    assert len(places) <= MOST_TYPE_CHECKS, f"a mechanism declares that: {places}"


ASKING = [
    "isinstance(mechanism, KSame)",
    "issubclass(type(mechanism), (KSame, Seeded))",
    "isinstance(mechanism, KSame | Seeded)",
    "isinstance(mechanism, _KINDS)",
    "isinstance(mechanism, ksame.KSame)",
    "type(mechanism) is KSame",
    "type(mechanism) in (KSame, Seeded)",
    "mechanism.__class__ is KSame",
    "type(mechanism).__name__ == 'KSame'",
    "mechanism.__class__.__qualname__ in ('KSame', 'Seeded')",
    "{KSame: 1, Seeded: 2}[type(mechanism)]",
    "hasattr(mechanism, 'diverse')",
    "getattr(mechanism, 'diverse', None)",
    "inspect.getattr_static(mechanism, 'diverse')",
    "operator.attrgetter('diverse')(mechanism)",
    "'diverse' in vars(mechanism)",
    "'diverse' in dir(mechanism)",
    "'diverse' in mechanism.__dict__",
    "mechanism.name == 'ksame'",
    "mechanism.name in ('ksame', 'seeded')",
    "certificate.mechanism['name'] == 'ksame'",
    "'ksame' in mechanism.name",
    "'paper' in mechanism.name",
    "mechanism.name.startswith('map-')",
    "mechanism.name.endswith('-paper')",
    "_TABLE[mechanism.name]",
    "_TABLE.get(mechanism.name, 0)",
    "mechanism.name in _TABLE",
]
BRANCHING = [
    "match mechanism:\n    case KSame(): pass",
    "match mechanism:\n    case groups.KSame(k=2): pass",
    "match mechanism.name:\n    case 'ksame' | 'seeded': pass",
    "@words.register\ndef _(mechanism: KSame): pass",
    "@words.register(KSame)\ndef _(mechanism): pass",
    "@words.register\nasync def _(mechanism: KSame): pass",
    "try: mechanism.diverse\nexcept AttributeError: pass",
]
NOT_ASKING = [
    "isinstance(path, Path)",
    "type(source) is str",
    "hasattr(os, 'getuid')",
    "feature.name == 'fixation_rate'",
    "file.name.endswith('.json')",
    "'x' in mechanism.name",
    "{'ksame': 1}",
    "ATTACKS[mechanism.release]",
    "mechanism.release is ReleaseKind.GROUPS",
    "match mechanism.release:\n    case ReleaseKind.GROUPS: pass",
    "@words.register\ndef _(path: Path): pass",
    "try: mechanism.diverse\nexcept (TypeError, AttributeError): pass",
]
_AROUND = """
_KINDS = (KSame, Seeded)
_TABLE = {"ksame": 1, "seeded": 2}
"""


@pytest.fixture(scope="module")
def known(trees):
    return catalogue(trees)


@pytest.mark.parametrize("code", ASKING + BRANCHING)
def test_every_way_of_finding_out_is_counted(code, known):
    assert lines_asking(ast.parse(_AROUND + code), known)


@pytest.mark.parametrize("code", NOT_ASKING)
def test_what_finds_out_nothing_is_not_counted(code, known):
    assert not lines_asking(ast.parse(_AROUND + code), known)


def test_modules_and_functions_are_short(trees):
    long = [
        str(file)
        for file in house.PACKAGE.rglob("*.py")
        if len(file.read_text(encoding="utf-8").splitlines()) > house.LONGEST_MODULE
    ]
    assert not long
    assert not house.complex_functions()
    assert not house.wide_functions(trees)


def test_tests_stand_in_the_rooms_of_what_they_test():
    here = Path(__file__).parent
    beside = {"benchmarks", "examples", "typed"}
    rooms_of_tests = {
        file.parent.relative_to(here) for file in here.rglob("test_*.py") if file.parent != here
    }
    assert not [
        str(room)
        for room in rooms_of_tests
        if room.parts[0] not in beside and not (house.PACKAGE / room).is_dir()
    ]


def test_mechanisms_have_few_bases():
    assert [each for each in house.bases() if each[1] > house.MOST_BASES] == []


def test_no_room_imports_one_that_imports_it(trees):
    assert not house.cycles(house.imports(trees))


def test_the_picture_of_the_rooms_is_that_of_the_imports(monkeypatch):
    monkeypatch.setattr("sys.argv", ["rooms", "--check"])
    assert rooms.main() == 0, "draw it again: python -m tools.rooms"
