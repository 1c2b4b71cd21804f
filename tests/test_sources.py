"""What the sources may not do, asked of their syntax trees, which are made once for all questions.

Nothing that eyelid reads from a disk is unpickled or run. What is printed, written as csv or opened
by polars goes through one door each. No check is left out under ``python -O``.
"""

import ast
from pathlib import Path

import pytest

import eyelid

PACKAGE = Path(eyelid.__file__).parent


@pytest.fixture(scope="module")
def sources(trees):
    """All nodes of each module, by its file."""
    files = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]
    return {file: list(ast.walk(tree)) for file, tree in zip(files, trees.values(), strict=True)}


RUN_WHAT_THEY_READ = {
    *("pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal", "dbm", "yaml"),
    *("runpy", "code", "jsonpickle"),
}
# Through pipes and sockets between processes of one run, never through a file.
BETWEEN_PROCESSES = {"engine/dask_cluster.py"}
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = {("np", "load"), ("numpy", "load"), ("joblib", "load"), ("pl", "deserialize")}


def found_in(nodes):
    for node in nodes:
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


def test_no_source_reads_what_could_be_code(sources):
    assert len(sources) > 300
    wrong = {name: list(found_in(nodes)) for name, nodes in sources.items()}
    assert {name for name, found in wrong.items() if found} == BETWEEN_PROCESSES
    assert wrong["engine/dask_cluster.py"] == ["pickle"]


def test_dask_unpickles_what_it_was_sent_and_no_file(sources):
    nodes = sources["engine/dask_cluster.py"]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert not names & {"load", "Unpickler", "read_bytes"}


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from joblib import x\njoblib.load('x')", "np.load(p)", "eval('1')"],
)
def test_the_test_sees_what_it_looks_for(source):
    assert list(found_in(ast.walk(ast.parse(source))))


def calls(sources, *names):
    """Calls of functions and methods whose names end so: the module, what is called, the call."""
    for module, nodes in sources.items():
        for node in nodes:
            if isinstance(node, ast.Call):
                last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if (last or getattr(node.func, "id", "")) in names:
                    yield module, ast.unparse(node.func), node


# Who writes csv: what makes it harmless, who uses that, and what is no file of text.
CSV = {
    "io/csv_cells.py",
    "io/csv_folder.py",
    "io/bids/tables.py",
    *("io/derivations.py", "releases/kinds/streams/release.py"),  # keys of runs, which are hashed
    "io/release_folder.py",  # as earlier versions hashed them
    "stream/recorder.py",  # numbers alone
}


def test_each_sink_has_one_door(sources):
    printing, tables, letters = set(), set(), set()
    ends = "print", "echo", "write", "dumps", "write_csv", "writer", "DictWriter"
    for module, called, node in calls(sources, *ends):
        if called in ("print", "typer.echo", "sys.stdout.write", "sys.stderr.write"):
            printing.add(module)
        if called.endswith("json.dumps") and any(
            word.arg == "ensure_ascii" for word in node.keywords
        ):
            letters.add(module)
        if called.endswith(".write_csv") or called in ("csv.writer", "csv.DictWriter"):
            tables.add(module)
    assert printing == {"cli/output.py", "cli/application.py"}
    assert tables <= CSV
    # The last one looks through what was written, and writes nothing.
    assert letters <= {"spelling.py", "cli/output.py", "releases/consistency/folder.py"}


READERS = {"scan_parquet", "read_parquet", "read_parquet_schema", "read_parquet_metadata"}
READERS |= {"scan_csv", "scan_ndjson", "scan_ipc", "read_ipc", "read_ndjson", "read_excel"}


def test_polars_opens_files_in_one_place_alone(sources):
    """Of what it reads elsewhere it gets the bytes."""
    opened = set()
    for module, called, node in calls(sources, *READERS, "read_csv"):
        source = ast.unparse(node.args[0]) if node.args else ""
        bytes_given = source.startswith("io.BytesIO") or source.endswith(
            (".encode()", ".read_bytes()")
        )
        if called.rpartition(".")[2] in READERS and "." in called and not bytes_given:
            opened.add(module)
        if called == "pl.read_csv" and not bytes_given:
            assert source in {"source", "content"}, f"{module}: {source}"
    assert opened == {"io/parquet.py"}


def _narrows(test):
    """Whether an assert only says of what type something is."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    return isinstance(test, ast.Compare) and isinstance(test.comparators[0], ast.Constant)


def test_no_check_lives_in_an_assert_and_nothing_reads_a_docstring(sources):
    found = []
    for module, nodes in sources.items():
        for node in nodes:
            checks = isinstance(node, ast.Assert) and not _narrows(node.test)
            reads = isinstance(node, ast.Attribute) and node.attr in ("__doc__", "getdoc")
            if checks or (reads and not module.endswith("proof_note.py")):
                found.append(f"{module}:{node.lineno}")
    assert found == []


def test_every_docstring_can_be_read_alone(sources):
    borrowed = ("The same", "That of", "Those of", "Of ")
    found = [
        f"{module}:{node.lineno}"
        for module, nodes in sources.items()
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str) and node.value.value.startswith(borrowed)
    ]
    assert found == []
