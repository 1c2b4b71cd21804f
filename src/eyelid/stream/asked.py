"""What somebody asks of a gatekeeper, checked before anything begins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import mechanism
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.stream import StreamMechanism, filter_named, first_missing
from eyelid.stream.tiers import Tiers


def given(asked: dict[str, Any]) -> dict[str, Any]:
    """What was set at all."""
    return {name: value for name, value in asked.items() if value is not None}


def as_text(scene: Any) -> str:
    """A scene as a certificate writes it."""
    try:
        return ",".join(f"{float(corner):.12g}" for corner in scene)
    except (TypeError, ValueError):
        raise InputError(f"scene must be (x0, y0, x1, y1), got {scene!r}") from None


def stream_mechanism(filter: str | StreamMechanism, **parameters: Any) -> StreamMechanism:
    """A filter from its name and what was asked for."""
    if isinstance(filter, StreamMechanism):
        if parameters:
            raise InputError(
                f"{filter.name} has its parameters set already: leave out {', '.join(parameters)}"
            )
        return filter
    kind = filter_named(filter)
    parameters = kind.as_formal(parameters)
    missing = first_missing(kind, parameters)
    if missing is not None:
        name, means = missing
        raise InputError(f"{kind.name} needs {name}, {means}: give it as {name}=…")
    made = mechanism(filter, **parameters)
    assert isinstance(made, StreamMechanism)
    return made


def check_counters(law: Tiers, budget: Path | str | None, on_limit: str) -> None:
    """Counters need what everybody did before, which no file may keep."""
    if law.counters is not None and (budget is not None or on_limit == "coarsen"):
        raise InputError(
            "counters cannot go on after a restart or with another ε: leave out counters, or both "
            "budget and on_limit=coarsen"
        )


def checked_limit(limit: float | None, law: StreamMechanism) -> float | None:
    """The limit, if there is one that can be kept."""
    if limit is None:
        return None
    if not isinstance(law, Filter):
        raise InputError(f"{law.name} promises nothing, so that no limit can be kept: leave it out")
    if not (math.isfinite(limit) and limit > 0):
        raise InputError(f"limit must be positive and finite, got {limit:g}")
    return float(limit)
