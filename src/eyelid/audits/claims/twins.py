"""Twins of mechanisms, with some methods replaced."""

from __future__ import annotations

from typing import Any

from eyelid.mechanisms.mechanism import Mechanism


def twin(mechanism: Mechanism, changes: dict[str, Any]) -> Any:
    """The same mechanism with some methods replaced; it does not join the catalogue."""
    kind = type(mechanism)
    return type(f"Faulty{kind.__name__}", (kind,), changes)(**vars(mechanism))
