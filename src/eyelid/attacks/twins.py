"""Twins of mechanisms and their parts, with some methods replaced."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def twin(mechanism: Any, changes: dict[str, Any]) -> Any:
    """The same mechanism with some methods replaced; it does not join the catalogue."""
    kind = type(mechanism)
    # Not what it has worked out and remembers: a twin may come to something else.
    told = {item.name: getattr(mechanism, item.name) for item in fields(mechanism)}
    return type(f"Faulty{kind.__name__}", (kind,), changes)(**told)
