"""Nothing that eyelid reads from a disk is unpickled or run: asked of its sources."""

import ast
from pathlib import Path

import pytest

import eyelid

PACKAGE = Path(eyelid.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
RUN_WHAT_THEY_READ = {
    *("pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal", "dbm", "yaml"),
    *("runpy", "code", "jsonpickle"),
}
# Through pipes and sockets between processes of one run, never through a file.
BETWEEN_PROCESSES = {"engine/dask_cluster.py"}
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = {("np", "load"), ("numpy", "load"), ("joblib", "load"), ("pl", "deserialize")}


def found_in(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from {name.name.split(".")[0] for name in node.names} & RUN_WHAT_THEY_READ
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from {node.module.split(".")[0]} & RUN_WHAT_THEY_READ
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from {node.func.id} & CALLS
        elif isinstance(node, ast.Attribute) and node.attr in ("read_pickle", "deserialize"):
            yield node.attr
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from {(node.value.id, node.attr)} & METHODS
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            yield node.arg


def test_no_source_reads_what_could_be_code():
    assert len(SOURCES) > 300
    wrong = {
        str(path.relative_to(PACKAGE)): list(found_in(path.read_text(encoding="utf-8")))
        for path in SOURCES
    }
    assert {path for path, found in wrong.items() if found} == BETWEEN_PROCESSES
    assert wrong["engine/dask_cluster.py"] == ["pickle"]


def test_dask_unpickles_what_it_was_sent_and_no_file():
    tree = ast.parse((PACKAGE / "engine" / "dask_cluster.py").read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not names & {"load", "Unpickler", "read_bytes"}


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from joblib import x\njoblib.load('x')", "np.load(p)", "eval('1')"],
)
def test_the_test_sees_what_it_looks_for(source):
    assert list(found_in(source))
