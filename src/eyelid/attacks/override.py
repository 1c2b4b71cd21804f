"""Copies of mechanisms and their parts, with some methods replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from eyelid.mechanisms.features import ON_WHOLE_TABLES
from eyelid.mechanisms.release_kind import Execution


def override(mechanism: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of a mechanism with some methods replaced; it does not join the catalogue.

    One that takes whole tables in another way takes everybody's, since nothing else is sure.
    """
    kind = type(mechanism)
    if not ON_WHOLE_TABLES.isdisjoint(changes):
        changes = {"execution": Execution.ON_EVERYBODY, **changes}
    # Not what it has worked out and remembers: a copy may come to something else.
    parameters = {item.name: getattr(mechanism, item.name) for item in fields(mechanism)}
    return type(f"Faulty{kind.__name__}", (kind,), {**changes, "overridden": kind})(**parameters)


def sound_of(changed: Any) -> Any:
    """A copy with the methods that were replaced in it, to be called from what replaces them."""
    copies = [kind for kind in type(changed).__mro__ if "overridden" in vars(kind)]
    return super(copies[-1], changed)
