"""Twins of mechanisms and their parts, with some methods replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def twin(mechanism: Any, changes: Mapping[str, Any]) -> Any:
    """The same mechanism with some methods replaced; it does not join the catalogue."""
    kind = type(mechanism)
    # Not what it has worked out and remembers: a twin may come to something else.
    told = {item.name: getattr(mechanism, item.name) for item in fields(mechanism)}
    return type(f"Faulty{kind.__name__}", (kind,), {**changes, "twin_of": kind})(**told)


def sound_of(changed: Any) -> Any:
    """A twin with the methods of what it is a twin of, to be called from what replaces them."""
    twins = [kind for kind in type(changed).__mro__ if "twin_of" in vars(kind)]
    return super(twins[-1], changed)
