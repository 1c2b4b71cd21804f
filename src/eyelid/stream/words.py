"""What a stream promises and what it does not, in plain words."""

from __future__ import annotations

import math
from typing import Any

from eyelid.mechanisms.streams.filter import Filter
from eyelid.privacy.guarantee import rounded_up
from eyelid.spelling import plural
from eyelid.stream.gatekeeper import UNPROTECTED, Gatekeeper
from eyelid.version import __version__


def window_promise(gate: Gatekeeper, rate_hz: float | None) -> str:
    """What holds of a window, or that nothing does."""
    law = gate.law
    if not isinstance(law, Filter) or not gate.guarantee.holds:
        return f"{law.name} carries no guarantee: {'; '.join(gate.guarantee.reasons)}"
    span = "" if rate_hz is None else f" ({1000 * law.window / rate_hz:.4g} ms at {rate_hz:g} Hz)"
    return (
        f"any {plural(law.window, 'sample')} in a row{span}, each within {law.radius:g} "
        f"{law.place.spoken_units} of where it was, with {gate.guarantee.numbers()}"
    )


def promise_lines(gate: Gatekeeper, rate_hz: float | None) -> list[str]:
    """What is protected and what is not, before anything is streamed."""
    law = gate.law
    if not isinstance(law, Filter):
        return [f"Not protected: {window_promise(gate, rate_hz)}."]
    window = law.window_cost
    if gate.guarantee.holds:
        lines = [f"Protected: {window_promise(gate, rate_hz)}."]
    else:
        lines = [f"Not protected: {window_promise(gate, rate_hz)}."]
    total = (
        f"Not protected: what somebody does for longer, or elsewhere. It adds up: every window "
        f"costs the person ε = {rounded_up(window)}"
    )
    if rate_hz is not None:
        minute = window * math.ceil(60 * rate_hz / law.window)
        total += f", which is {rounded_up(minute)} a minute"
    lines.append(total + ".")
    lines.append(f"Not protected: {'; '.join(UNPROTECTED[:2])}.")
    meter = gate.meter()
    if meter.person_epsilon:
        lines.append(f"Spent on this person so far: ε = {rounded_up(meter.person_epsilon)}.")
    if meter.limit is not None:
        left = max(0, math.floor((meter.limit - meter.person_epsilon) / window))
        when = "" if rate_hz is None else f", {left * law.window / rate_hz:.3g} s"
        lines.append(
            f"Limit: ε = {meter.limit:g} for the person, reached after {plural(left, 'window')}"
            f"{when} at this ε."
        )
    return lines


def hello_of(gate: Gatekeeper, rate_hz: float | None) -> dict[str, Any]:
    """What apps are told first."""
    law = gate.law
    axes = ["x", "y", "z"] if law.place.directions else ["x", "y"]
    return {
        "eyelid": __version__,
        "filter": law.name,
        "epsilon": law.epsilon if isinstance(law, Filter) else None,
        "window": law.window if isinstance(law, Filter) else None,
        "radius": law.radius if isinstance(law, Filter) else None,
        "units": law.place.units,
        "scene": [law.place.x0, law.place.y0, law.place.x1, law.place.y1],
        "rate_hz": rate_hz,
        "holds": gate.guarantee.holds,
        "guarantee": window_promise(gate, rate_hz),
        "columns": ["time_ms", *axes],
    }
