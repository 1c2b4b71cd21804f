"""Where the package finds out what a mechanism is, instead of being told.

A *type check* is any place outside of ``eyelid.mechanisms`` and ``eyelid.papers`` that goes by a
mechanism's class, by an attribute that it may or may not have, or by its name. It is looked for in
the syntax tree, in every way of asking that Python has, since a count that knows ``isinstance``
alone is lowered by asking otherwise.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Packages that may know the classes of mechanisms.
AT_HOME = ("mechanisms", "papers")
# A shorter piece of a name says nothing: every name has an "a".
_TELLING = 3


@dataclass(frozen=True)
class Known:
    """What a place can ask a mechanism for: its class, its attributes, its name."""

    classes: frozenset[str]
    attributes: frozenset[str]
    names: frozenset[str]
    # Tables and collections of a module that are keyed by names of mechanisms.
    tables: frozenset[str] = frozenset()


def type_checks(trees: dict[str, ast.Module], at_home: Iterable[str] = AT_HOME) -> list[str]:
    """Where what a mechanism is gets found out, as ``module:line``."""
    known = catalogue(trees)
    return sorted(
        f"{module}:{line}"
        for module, tree in trees.items()
        if module.split(".")[0] not in at_home
        for line in lines_asking(tree, known)
    )


def lines_asking(tree: ast.Module, known: Known) -> list[int]:
    """The lines of one module that find out what a mechanism is."""
    here = _with_own_words(tree, known)
    return sorted({getattr(n, "lineno", 0) for n in ast.walk(tree) if _asks(n, here)})


def catalogue(trees: dict[str, ast.Module]) -> Known:
    """All mechanisms, their names as users type them, and what their classes define."""
    classes = mechanism_classes(trees)
    names, attributes = set(), set()
    for module, tree in trees.items():
        if module.split(".")[0] not in AT_HOME:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or node.name not in classes:
                continue
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    attributes.add(item.name)
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    attributes.add(item.target.id)
                for target, value in _assigned(item):
                    attributes.add(target)
                    if target == "name" and isinstance(value, ast.Constant):
                        names.add(str(value.value))
    return Known(classes, frozenset(attributes), frozenset(names))


def mechanism_classes(trees: dict[str, ast.Module]) -> frozenset[str]:
    """Names of all classes that derive from ``Mechanism``, however far."""
    bases: dict[str, set[str]] = defaultdict(set)
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] |= {n for base in node.bases for n in _names(base)}
    found = {"Mechanism"}
    while True:
        more = {name for name, above in bases.items() if above & found} - found
        if not more:
            return frozenset(found)
        found |= more


def _asks(node: ast.AST, known: Known) -> bool:
    """Whether a place finds out what a mechanism is."""
    if isinstance(node, ast.Call):
        return _calls(node, known)
    if isinstance(node, ast.Compare):
        return _compares(node, known)
    if isinstance(node, ast.MatchClass):
        return _of_class(node.cls, known)
    if isinstance(node, ast.Match):
        return _is_name(node.subject) and any(
            _texts(case.pattern) & known.names for case in node.cases
        )
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _dispatches(node, known)
    if isinstance(node, ast.Dict):
        return any(key is not None and _of_class(key, known) for key in node.keys)
    if isinstance(node, ast.Subscript):
        return _is_name(node.slice) and _is_table(node.value, known)
    if isinstance(node, ast.Try):
        # With other errors beside it, it is about input that somebody else wrote.
        alone = [h.type.id for h in node.handlers if isinstance(h.type, ast.Name)]
        return "AttributeError" in alone and any(
            isinstance(part, ast.Attribute) and part.attr in known.attributes
            for line in node.body
            for part in ast.walk(line)
        )
    return False


def _calls(node: ast.Call, known: Known) -> bool:
    """``isinstance``, ``hasattr``, ``getattr``, ``name.startswith`` and ``TABLE.get(name)``."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("isinstance", "issubclass"):
        return any(_of_class(each, known) for each in node.args[1:2])
    if isinstance(node.func, ast.Attribute):
        said = {text for each in node.args for text in _texts(each)}
        if node.func.attr in ("startswith", "endswith"):
            return _is_name(node.func.value) and any(
                getattr(each, node.func.attr)(text) for text in said for each in known.names
            )
        if node.func.attr == "get":
            return any(_is_name(each) for each in node.args[:1]) and _is_table(
                node.func.value, known
            )
        name = node.func.attr
    if name in ("hasattr", "getattr", "getattr_static", "attrgetter"):
        return any(_texts(each) & known.attributes for each in node.args)
    return False


def _compares(node: ast.Compare, known: Known) -> bool:
    """By ``type()``, ``__class__``, ``vars()``, or by a name that is written there."""
    sides = [node.left, *node.comparators]
    said = {text for side in sides for text in _texts(side)}
    asked = {n for side in sides for n in _names(side)}
    if "__name__" in asked or "__qualname__" in asked:
        return bool(said & known.classes)
    if any(_is_class(side) for side in sides):
        return any(_of_class(side, known) for side in sides)
    if any(_called(side) in ("vars", "dir") for side in sides) or "__dict__" in asked:
        return bool(said & known.attributes)
    if not any(_is_name(side) for side in sides):
        return False
    if any(_is_table(side, known) for side in sides):
        return True
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) and _is_name(sides[-1]):
        return any(len(text) >= _TELLING and text in each for text in said for each in known.names)
    return bool(said & known.names)


def _dispatches(node: ast.FunctionDef | ast.AsyncFunctionDef, known: Known) -> bool:
    """Whether a function is one way of a ``singledispatch``, by its hint or by its decorator."""
    ways = [
        each
        for each in node.decorator_list
        for part in ast.walk(each)
        if isinstance(part, ast.Attribute) and part.attr == "register"
    ]
    hints = [a.annotation for a in node.args.args if a.annotation is not None]
    given = [a for way in ways if isinstance(way, ast.Call) for a in way.args]
    return bool(ways) and any(_of_class(each, known) for each in (*hints, *given))


def _is_name(node: ast.AST) -> bool:
    """Whether this is what somebody is called: ``name``, ``mechanism.name``, ``[…]["name"]``."""
    if isinstance(node, ast.Attribute):
        return node.attr == "name"
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "name"
    return isinstance(node, ast.Name) and node.id == "name"


def _is_class(node: ast.AST) -> bool:
    """Whether this is somebody's class: ``type(one)`` or ``one.__class__``."""
    return _called(node) == "type" or (isinstance(node, ast.Attribute) and node.attr == "__class__")


def _is_table(node: ast.AST, known: Known) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and bool(known.tables & set(_names(node)))


def _of_class(node: ast.AST, known: Known) -> bool:
    return bool(known.classes & set(_names(node)))


def _called(node: ast.AST) -> str:
    """The function of a plain call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""


def _texts(node: ast.AST) -> set[str]:
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _with_own_words(tree: ast.Module, known: Known) -> Known:
    """What a module's own names stand for: tuples of classes, tables by names of mechanisms."""
    classes, tables = set(known.classes), set()
    for item in tree.body:
        for target, value in _assigned(item):
            if _of_class(value, known) and not isinstance(value, ast.Dict):
                classes.add(target)
            keys = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", ())
            said = {key.value for key in keys if isinstance(key, ast.Constant)}
            # A word that is also a measure's or a kind's is not yet a table of mechanisms.
            if len(said & known.names) > 1:
                tables.add(target)
    return Known(frozenset(classes), known.attributes, known.names, frozenset(tables))


def _assigned(item: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """Names that a statement gives a value, and the value."""
    if not isinstance(item, ast.Assign | ast.AnnAssign) or item.value is None:
        return
    for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
        if isinstance(target, ast.Name):
            yield target.id, item.value
