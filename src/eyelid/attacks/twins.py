"""Twins of mechanisms and their parts, with some methods replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from eyelid.mechanisms.features import ON_WHOLE_TABLES
from eyelid.mechanisms.release_kind import Execution


def twin(mechanism: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of a mechanism with some methods replaced; it does not join the catalogue.

    One that takes whole tables in another way takes everybody's, since nothing else is sure.
    """
    kind = type(mechanism)
    if not ON_WHOLE_TABLES.isdisjoint(changes):
        changes = {"execution": Execution.ON_EVERYBODY, **changes}
    # Not what it has worked out and remembers: a twin may come to something else.
    told = {item.name: getattr(mechanism, item.name) for item in fields(mechanism)}
    return type(f"Faulty{kind.__name__}", (kind,), {**changes, "twin_of": kind})(**told)


def sound_of(changed: Any) -> Any:
    """A twin with the methods of what it is a twin of, to be called from what replaces them."""
    twins = [kind for kind in type(changed).__mro__ if "twin_of" in vars(kind)]
    return super(twins[-1], changed)
