"""``python -m tools.house``: how large the package is, and how much its parts know of each other.

One JSON object, so that two versions can be put side by side. Statements are counted from the
syntax tree, docstrings left out. What counts as a type check stands in ``tools.type_checks``.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from tools.type_checks import type_checks

PACKAGE = Path(__file__).parents[1] / "src" / "eyelid"
LONGEST_MODULE, MOST_COMPLEX, MOST_PARAMETERS, MOST_BASES = 500, 20, 8, 8
# Modules that everybody may import.
EVERYBODYS = ("display", "errors", "spelling", "plotting", "version")


@cache
def modules(package: Path = PACKAGE) -> dict[str, ast.Module]:
    """The syntax tree of every module, by its dotted name without the package's."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(file.read_text(encoding="utf-8"))
    return found


def statements(tree: ast.AST) -> int:
    """How many statements a tree has; docstrings, which only describe, are none."""
    return sum(
        isinstance(node, ast.stmt)
        and not (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        for node in ast.walk(tree)
    )


def wide_functions(trees: dict[str, ast.Module]) -> list[str]:
    """Private functions with more parameters than a reader keeps in mind."""
    return sorted(
        f"{module}:{node.name}"
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_")
        if not node.name.startswith("__")
        if len(node.args.args) + len(node.args.kwonlyargs) > MOST_PARAMETERS
    )


def complex_functions() -> list[str]:
    """Functions of more branches than ``MOST_COMPLEX``, as ruff counts them."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", str(PACKAGE), "--select", "C901", "--isolated",
         "--config", f"lint.mccabe.max-complexity={MOST_COMPLEX}", "--output-format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sorted(each["message"].split("`")[1] for each in json.loads(done.stdout))


def imports(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Which packages each package imports, wherever in a module it does."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, tree in trees.items():
        room = module.split(".")[0]
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
                if node.module == "eyelid":
                    names = [f"eyelid.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "eyelid" and len(parts) > 1 and parts[1] != room:
                    found[room].add(parts[1])
    return {
        room: {each for each in there if each not in EVERYBODYS} for room, there in found.items()
    }


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Pairs of packages that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for each in graph.get(waiting.pop(), ()):
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return seen

    reach = {room: reached(room) for room in graph}
    return sorted(
        [one, other]
        for one in reach
        for other in reach[one]
        if one and one < other and one in reach.get(other, ())
    )


_WALK = """
import collections, json, sys, threading
import numpy as np
import eyelid, eyelid.releases.release
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
import tempfile, pathlib
features = [Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0)]
table = table_from_arrays(np.full((4, 3, 10, 1), 3.0), features)
modules, borders = set(), 0
def watch(frame, event, arg):
    global borders
    if event != "call":
        return
    here = frame.f_globals.get("__name__", "")
    if not here.startswith("eyelid.") or frame.f_code.co_name == "<module>":
        return
    modules.add(here)
    back = frame.f_back
    there = back.f_globals.get("__name__", "") if back else ""
    if there.startswith("eyelid.") and there.split(".")[1] != here.split(".")[1]:
        borders += 1
with tempfile.TemporaryDirectory() as home:
    sys.setprofile(watch)
    eyelid.release(table, pathlib.Path(home) / "out", mechanism="gaussian", epsilon=1.0)
    sys.setprofile(None)
print(json.dumps([sorted(modules), borders]))
"""
_LOADED = """
import json, sys, time
started = time.perf_counter()
import eyelid.releases.release
took = time.perf_counter() - started
print(json.dumps([took, sorted(n for n in sys.modules if n.startswith("eyelid."))]))
"""


def bases() -> list[tuple[str, int]]:
    """How many classes of eyelid's each mechanism inherits from, the most first."""
    from eyelid.mechanisms import catalogue

    counted = {
        name: sum(base.__module__.startswith("eyelid.") for base in kind.__mro__) - 1
        for name, kind in catalogue().items()
    }
    return sorted(counted.items(), key=lambda item: -item[1])


def _python(code: str) -> list:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _length(name: str, lines: dict[str, int]) -> int:
    """How many lines a module of this dotted name has."""
    path = name.removeprefix("eyelid.").replace(".", "/")
    return lines.get(f"{path}.py") or lines[f"{path}/__init__.py"]


def figures() -> dict[str, object]:
    """Everything about the package as it is now."""
    trees = modules()
    lines = {
        str(file.relative_to(PACKAGE)): len(file.read_text(encoding="utf-8").splitlines())
        for file in PACKAGE.rglob("*.py")
    }
    passed, borders = _python(_WALK)
    imported = [_python(_LOADED) for _ in range(3)]
    loaded = imported[0][1]
    return {
        "modules": len(trees),
        "lines": sum(lines.values()),
        "statements": sum(map(statements, trees.values())),
        "statements_by_package": {
            room: sum(statements(t) for name, t in trees.items() if name.split(".")[0] == room)
            for room in sorted({name.split(".")[0] for name in trees if "." in name})
        },
        "long_modules": sorted(name for name, n in lines.items() if n > LONGEST_MODULE),
        "type_checks": len(type_checks(trees)),
        "complex_functions": complex_functions(),
        "most_bases": dict(bases()[:5]),
        "wide_private_functions": wide_functions(trees),
        "release_passes_modules": len(passed),
        "release_passes_lines": sum(_length(name, lines) for name in passed),
        "release_passes_borders": borders,
        "import_releases_s": round(min(each[0] for each in imported), 3),
        "import_releases_loads": len(loaded),
        "import_releases_loads_attacks": sum(
            name.startswith(("eyelid.attacks", "eyelid.verification")) for name in loaded
        ),
        "cycles": cycles(imports(trees)),
    }


if __name__ == "__main__":
    print(json.dumps(figures(), indent=2, ensure_ascii=False))
