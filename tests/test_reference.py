"""The site is built from docstrings and guides without a warning, and leads everywhere."""

import dataclasses
import inspect
import re
import typing
from urllib.parse import unquote

import pytest
from docs.build import build

import eyelid
from eyelid.mechanisms import catalogue

PUBLIC = [name for name in eyelid.__all__ if name != "__version__"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All pages; a warning of theirs is an error, as everywhere in these tests."""
    first = build(tmp_path_factory.mktemp("docs") / "site")
    assert first.exists()
    return first.parent


def places(site):
    """The names that have a place in the reference, with the module of their page."""
    pages = site / "reference"
    return {
        (str(page.relative_to(pages).with_suffix("")).replace("/", "."), name)
        for page in pages.rglob("*.html")
        for name in re.findall(r'<section id="(\w+)"', page.read_text("utf-8"))
    }


def test_every_public_name_is_on_the_first_page(site):
    assert set(PUBLIC) <= {name for page, name in places(site) if page == "eyelid"}


def test_every_mechanism_has_a_page(site):
    homes = {(kind.__module__, kind.__name__) for kind in catalogue().values()}
    assert homes <= places(site)


def types_in(hint):
    """The classes of eyelid that a type is made of."""
    if isinstance(hint, type) and hint.__module__.startswith("eyelid"):
        yield hint
    for part in typing.get_args(hint):
        yield from types_in(part)


def test_what_public_functions_take_and_give_has_a_place(site):
    known = {name for _, name in places(site)}
    functions = [thing for name in PUBLIC if inspect.isfunction(thing := getattr(eyelid, name))]
    hints = [hint for each in functions for hint in typing.get_type_hints(each).values()]
    assert {kind.__name__ for hint in hints for kind in types_in(hint)} - known == set()


def parameters_of(thing):
    """What a function takes, or a class to make one; nothing where that is not for users."""
    made = inspect.isclass(thing) and "__init__" not in vars(thing)
    return [] if made else list(inspect.signature(thing).parameters)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_of_a_public_name_is_described(name):
    thing = getattr(eyelid, name)
    holds = dataclasses.is_dataclass(thing)
    heading = "Attributes" if holds else "Args"
    takes = [f.name for f in dataclasses.fields(thing)] if holds else parameters_of(thing)
    told = inspect.getdoc(thing).partition(f"{heading}:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^    (\w+):", told, re.MULTILINE) == takes


def test_links_lead_somewhere(site):
    texts = {
        page: re.sub(r"<script.*?</script>", "", page.read_text("utf-8"), flags=re.DOTALL)
        for page in site.rglob("*.html")
    }
    names = {page: set(re.findall(r'id="([^"]+)"', text)) for page, text in texts.items()}
    for page, text in texts.items():
        for link in set(re.findall(r'(?:href|src)="([^":]*)"', text)):
            target, _, place = unquote(link).partition("#")
            there = (page.parent / target).resolve() if target else page
            assert there.exists(), f"{page.relative_to(site)}: {link}"
            assert not place or place in names[there], f"{page.relative_to(site)}: {link}"
