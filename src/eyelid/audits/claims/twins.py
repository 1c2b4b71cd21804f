"""Twins of mechanisms and their parts, with some methods replaced."""

from __future__ import annotations

from typing import Any


def twin(mechanism: Any, changes: dict[str, Any]) -> Any:
    """The same mechanism with some methods replaced; it does not join the catalogue."""
    kind = type(mechanism)
    members = {"__doc__": kind.__doc__, **changes}
    return type(f"Faulty{kind.__name__}", (kind,), members)(**vars(mechanism))
