"""What a stream promises and what it does not, in plain words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from eyelid.mechanisms.streams.filter import Filter
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.rank1 import guess_between_two
from eyelid.spelling import plural, readable
from eyelid.stream.gatekeeper import UNPROTECTED, Gatekeeper, Meter
from eyelid.stream.intake import BURST_S
from eyelid.version import __version__

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


def holds(gate: Gatekeeper) -> bool:
    """Whether anything is promised of a window."""
    return isinstance(gate.law, Filter) and gate.guarantee.holds


def verdict(gate: Gatekeeper) -> str:
    """What a window is, in a word or two: a promise may hold and say next to nothing."""
    if not holds(gate):
        return "Not protected"
    hardly = guess_between_two(gate.guarantee) > _NEXT_TO_NOTHING
    return "Hardly protected" if hardly else "Protected"


def window_promise(gate: Gatekeeper, rate_hz: float | None) -> str:
    """What holds of a window, or that nothing does."""
    law = gate.law
    if not isinstance(law, Filter):
        return (
            f"{law.spoken} carries no guarantee, and what it releases is raw gaze or may give it "
            f"away: {'; '.join(gate.guarantee.reasons)}"
        )
    if not gate.guarantee.holds:
        return f"{law.spoken} carries no guarantee: {'; '.join(gate.guarantee.reasons)}"
    span = "" if rate_hz is None else f" ({1000 * law.window / rate_hz:.4g} ms at {rate_hz:g} Hz)"
    told = (
        f"any {plural(law.window, 'sample')} in a row{span}, each within {law.radius:g} "
        f"{law.place.spoken_units} of where it was, with {gate.guarantee.numbers()}"
    )
    if (gate.guarantee.epsilon or 0.0) > law.epsilon:
        told += f", because of earlier settings; from now on with ε = {rounded_up(law.epsilon)}"
    return f"{told}. {_meaning(gate.guarantee)}"


def _meaning(guarantee: Guarantee) -> str:
    """What ε means to somebody who guesses."""
    guess = guess_between_two(guarantee)
    share = rounded_up(100 * guess, 3 if guess < _NEXT_TO_NOTHING else 5)
    told = f"Whoever guesses between two such places is right at most {share} % of the time, not 50"
    if guess > _NEXT_TO_NOTHING:
        told += ": next to nothing is hidden"
    return told


def promise_lines(
    gate: Gatekeeper,
    rate_hz: float | None,
    most_hz: float,
    *,
    kept: bool = False,
    coarsens: bool = False,
) -> list[str]:
    """What is protected and what is not, before anything is streamed.

    Args:
        gate: with its filter.
        rate_hz: nominal rate of the tracker, if known.
        most_hz: the most samples per second that are let in.
        kept: whether the person's total is kept over restarts.
        coarsens: whether ε becomes smaller before the limit is reached.
    """
    lines = [f"{verdict(gate)}: {window_promise(gate, rate_hz)}."]
    law = gate.law
    if isinstance(law, Filter) and gate.guarantee.holds:
        lines += [_adding_up(law, rate_hz, most_hz)]
    lines.append(f"Not protected: {'; '.join(UNPROTECTED[:2])}.")
    meter = gate.meter()
    if isinstance(law, Filter) and gate.guarantee.holds:
        if not kept and law.window > 1:
            lines.append(_ONE_RUN.format(window=law.window))
        if meter.person_epsilon:
            spent = readable(rounded_up(meter.person_epsilon))
            lines.append(f"Spent on this person so far: ε = {spent}.")
        if meter.limit is not None:
            told = _NEVER if coarsens else _reached(meter, law, rate_hz)
            lines.append(f"Limit: ε = {readable(meter.limit)} for the person, {told}.")
            if not kept:
                lines.append(_FORGOTTEN)
    return [*lines, f"Paused: {gate.resumed}."] if gate.resumed else lines


def _adding_up(law: Filter, rate_hz: float | None, most_hz: float) -> str:
    """What longer stretches cost."""

    def minute(samples: float) -> str:
        return readable(rounded_up(law.window_cost * math.ceil(samples / law.window)))

    most = minute(most_hz * (60 + BURST_S))
    usual = "" if rate_hz is None else f"{minute(60 * rate_hz)} a minute at {rate_hz:g} Hz and "
    return (
        "Not protected: what somebody does for longer, or elsewhere. It adds up: every window "
        f"costs the person ε = {readable(rounded_up(law.window_cost))}, which is {usual}at most "
        f"{most} a minute at the {most_hz:g} Hz that are let in."
    )


def _reached(meter: Meter, law: Filter, rate_hz: float | None) -> str:
    """When a limit is."""
    left = max(0, math.floor(((meter.limit or 0.0) - meter.person_epsilon) / law.window_cost))
    when = "" if rate_hz is None else f", {left * law.window / rate_hz:.3g} s at {rate_hz:g} Hz"
    return f"reached after {plural(left, 'window')}{when}"


def honest(meter: Meter, gate: Gatekeeper) -> Meter:
    """The same, without numbers that promise something where nothing is promised."""
    if holds(gate):
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
    law = gate.law
    axes = ["x", "y", "z"] if law.place.directions else ["x", "y"]
    # Of what promises nothing there is nothing to tell.
    own = law if isinstance(law, Filter) and gate.guarantee.holds else None
    return {
        "eyelid": __version__,
        "filter": law.spoken,
        "epsilon": own and own.epsilon,
        "window": own and own.window,
        "radius": own and own.radius,
        "window_cost": own and own.window_cost,
        "units": law.place.units,
        "scene": [law.place.x0, law.place.y0, law.place.x1, law.place.y1],
        "rate_hz": rate_hz,
        "holds": holds(gate),
        "verdict": verdict(gate),
        "guarantee": window_promise(gate, rate_hz),
        "columns": ["time_ms", *axes],
    }
