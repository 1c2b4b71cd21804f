"""What a stream promises and what it does not, in plain words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from eyelid.mechanisms.streams.filter import Filter
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.rank1 import guess_between_two
from eyelid.spelling import plural, readable
from eyelid.stream.budget import Budget
from eyelid.stream.gatekeeper import UNPROTECTED, Gatekeeper, Meter
from eyelid.stream.intake import BURST_S
from eyelid.version import build

# Where a guess is right more often than this, a promise is one in name.
_NEXT_TO_NOTHING = 0.99
_NEVER = "never reached: whenever half of what is left of it is spent, ε is quartered"
_FORGOTTEN = (
    "The total is forgotten when this command ends, and the limit begins anew: keep both with "
    "--budget FILE."
)

_ONE_RUN = (
    "That is of one run: a restart knows nothing of the samples before it, and {window} samples in "
    "a row over two runs may cost twice as much, unless both have one --budget FILE."
)


def verdict(gate: Gatekeeper) -> str:
    """What a window is, in a word or two: a promise may hold and say next to nothing."""
    if gate.promised is None:
        return "Not protected"
    hardly = guess_between_two(gate.guarantee) > _NEXT_TO_NOTHING
    return "Hardly protected" if hardly else "Protected"


def window_promise(gate: Gatekeeper, rate_hz: float | None) -> str:
    """What holds of a window, or that nothing does."""
    filter, guarantee = gate.filter.guaranteed, gate.guarantee
    if filter is None or not guarantee.holds:
        raw = "" if filter else ", and what it releases is raw gaze or may give it away"
        return f"{gate.filter.spoken} carries no guarantee{raw}: {'; '.join(guarantee.reasons)}"
    span = ""
    if rate_hz is not None:
        span = f" ({1000 * filter.window / rate_hz:.4g} ms at {rate_hz:g} Hz)"
    text = (
        f"any {plural(filter.window, 'sample')} in a row{span}, each within {filter.radius:g} "
        f"{filter.place.spoken_units} of where it was, with {guarantee.numbers()}"
    )
    if (guarantee.epsilon or 0.0) > filter.epsilon:
        text += f", because of earlier settings; from now on with ε = {rounded_up(filter.epsilon)}"
    return f"{text}. {_meaning(guarantee)}"


def _meaning(guarantee: Guarantee) -> str:
    """What ε means to an attacker who guesses."""
    guess = guess_between_two(guarantee)
    share = rounded_up(100 * guess, 3 if guess < _NEXT_TO_NOTHING else 5)
    text = (
        f"An attacker who guesses between two such places is right at most {share}% of the time, "
        "not 50"
    )
    return f"{text}: next to nothing is hidden" if guess > _NEXT_TO_NOTHING else text


def promise_lines(gate: Gatekeeper, rate_hz: float | None, most_hz: float) -> list[str]:
    """What is protected and what is not, before anything is streamed.

    Args:
        gate: with its filter.
        rate_hz: nominal rate of the tracker, if known.
        most_hz: the most samples per second that are let in.
    """
    filter, budget = gate.promised, gate.budget
    lines = [f"{verdict(gate)}: {window_promise(gate, rate_hz)}."]
    if filter is not None:
        lines.append(_adding_up(filter, rate_hz, most_hz))
    lines.append(f"Not protected: {'; '.join(UNPROTECTED[:2])}.")
    if filter is not None and budget is not None:
        if not budget.kept and filter.window > 1:
            lines.append(_ONE_RUN.format(window=filter.window))
        if budget.person_epsilon:
            spent = readable(rounded_up(budget.person_epsilon))
            lines.append(f"Spent on this person so far: ε = {spent}.")
        if budget.limit is not None:
            when = _NEVER if budget.coarsens else _reached(budget, rate_hz)
            lines.append(f"Limit: ε = {readable(budget.limit)} for the person, {when}.")
            if not budget.kept:
                lines.append(_FORGOTTEN)
    return [*lines, f"Paused: {gate.resumed}."] if gate.resumed else lines


def _adding_up(filter: Filter, rate_hz: float | None, most_hz: float) -> str:
    """What longer stretches cost."""

    def minute(samples: float) -> str:
        return readable(rounded_up(filter.window_cost * math.ceil(samples / filter.window)))

    most = minute(most_hz * (60 + BURST_S))
    usual = "" if rate_hz is None else f"{minute(60 * rate_hz)} a minute at {rate_hz:g} Hz and "
    return (
        "Not protected: what a person does for longer, or elsewhere. It adds up: every window "
        f"costs the person ε = {readable(rounded_up(filter.window_cost))}, which is {usual}at most "
        f"{most} a minute at the {most_hz:g} Hz that are let in."
    )


def _reached(budget: Budget, rate_hz: float | None) -> str:
    """When a limit is reached."""
    filter = budget.filter
    rest = (budget.limit or 0.0) - budget.person_epsilon
    left = max(0, math.floor(rest / filter.window_cost))
    when = "" if rate_hz is None else f", {left * filter.window / rate_hz:.3g} s at {rate_hz:g} Hz"
    return f"reached after {plural(left, 'window')}{when}"


def honest(meter: Meter, gate: Gatekeeper) -> Meter:
    """What was spent, without numbers that promise something where nothing is promised."""
    if gate.promised is not None:
        return meter
    return replace(
        meter,
        epsilon=math.inf,
        window_epsilon=math.inf,
        worst_window_epsilon=math.inf,
        person_epsilon=math.inf,
        limit=None,
    )


def hello_of(gate: Gatekeeper, rate_hz: float | None) -> dict[str, Any]:
    """What apps are told first."""
    scene, own = gate.filter.place, gate.promised
    axes = ["x", "y", "z"] if scene.directions else ["x", "y"]
    return {
        "eyelid": build(),
        "filter": gate.filter.spoken,
        "epsilon": own and own.epsilon,
        "window": own and own.window,
        "radius": own and own.radius,
        "window_cost": own and own.window_cost,
        "units": scene.units,
        "scene": [scene.x0, scene.y0, scene.x1, scene.y1],
        "rate_hz": rate_hz,
        "holds": own is not None,
        "verdict": verdict(gate),
        "guarantee": window_promise(gate, rate_hz),
        "columns": ["time_ms", *axes],
    }
