"""The tree keeps its promises: who may import whom, and what is public."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import eyelid

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "eyelid"
EVERYBODYS = {"display", "errors", "plotting", "spelling", "version"}
PLOTTING = SOURCE / "plotting.py"
HEAVY = {"sklearn", "matplotlib", "dask", "dp_accounting", "jinja2", "rich"}


def rules():
    """The may-import column of docs/architecture.md."""
    allowed = {}
    for line in (ROOT / "docs" / "architecture.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and (found := re.fullmatch(r"`eyelid\.(\w+)`", cells[0])):
            allowed[found[1]] = set(re.findall(r"`(?:eyelid\.)?(\w+)`", cells[2]))
    return allowed


@pytest.fixture(scope="module")
def parsed(trees):
    """The syntax tree of each module, by its file."""
    return dict(zip(sorted(SOURCE.rglob("*.py")), trees.values(), strict=True))


@pytest.fixture(scope="module")
def imported(parsed):
    """What each module imports, wherever, by its file."""
    return {path: list(imports(ast.walk(tree))) for path, tree in parsed.items()}


def imports(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_architecture_page_names_every_room():
    rooms = {p.name for p in SOURCE.iterdir() if (p / "__init__.py").exists()}
    assert rooms == set(rules())


@pytest.mark.parametrize("room", sorted(rules()))
def test_a_room_imports_only_what_it_may(imported, room):
    allowed = rules()[room] | EVERYBODYS | {room}
    for path, names in imported.items():
        for name in names:
            if SOURCE / room in path.parents and name.startswith("eyelid."):
                assert name.split(".")[1] in allowed, f"{path.name} imports {name}"


def test_nothing_of_the_core_imports_the_papers(imported):
    """They are found by the entry points; the command that does them again is their own."""
    for path, names in imported.items():
        if SOURCE / "papers" in path.parents or path == SOURCE / "cli" / "reproduce.py":
            continue
        found = [name for name in names if f"{name}.".startswith("eyelid.papers.")]
        assert not found, f"{path} imports {found}"


def test_what_is_public_and_a_mechanism_by_its_name_load_no_paper():
    """A look at the whole catalogue would."""
    code = (
        "import sys, eyelid; [getattr(eyelid, name) for name in eyelid.__all__]; "
        "eyelid.mechanism('gaussian', epsilon=1.0); "
        "sys.exit(sum(name.startswith('eyelid.papers') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_heavy_libraries_are_imported_where_they_are_used(parsed):
    for path, tree in parsed.items():
        for name in imports(tree.body):
            assert name.split(".")[0] not in HEAVY or path == PLOTTING, f"{path} imports {name}"
            assert not name.startswith("eyelid.plotting"), f"{path} imports {name} at the top"


def at_work(tree):
    """All nodes but those that are for type checkers alone."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            yield node
            waiting += ast.iter_child_nodes(node)


def test_a_matplotlibrc_of_the_current_folder_has_one_import_to_get_past(parsed):
    for path, tree in parsed.items():
        for node in at_work(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if isinstance(node, ast.Constant) and path != PLOTTING:
                # By importlib, or a logger of it, it would be the same.
                names = [str(node.value)] * (not str(node.value).count(" "))
            found = [name for name in names if name.split(".")[0] in ("matplotlib", "pylab")]
            assert not found or path == PLOTTING, f"{path} imports {found}: see eyelid.plotting"


def test_there_are_no_rooms_without_a_name():
    vague = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [p for p in SOURCE.rglob("*") if p.stem in vague]


@pytest.mark.parametrize("name", eyelid.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(eyelid, name) is not None
    if name != "__version__":
        assert getattr(eyelid, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = eyelid.magic


def test_the_contract_s_python_names_are_there():
    from eyelid.privacy import Ledger, gaussian_noise, gaussian_sigma, laplace_noise

    names = "read write simulate detect_events window_features event_features mechanism cost"
    names += " release verify"
    types = "Study FeatureTable Guarantee Certificate Release"
    assert all(hasattr(eyelid, name) for name in f"{names} {types}".split())
    assert all(callable(f) for f in (Ledger, gaussian_noise, gaussian_sigma, laplace_noise))


def test_the_architecture_page_is_short_and_names_modules_that_are_there():
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert len(page.split()) < 1500
    files = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*")}
    for name in re.findall(r"`((?:\w+/)*\w+\.py)`", page):
        assert any(f"/{file}".endswith(f"/{name}") for file in files), name
