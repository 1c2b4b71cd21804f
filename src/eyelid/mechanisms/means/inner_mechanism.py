"""Which mechanism measures inside of a mean: as it was asked for, or by public facts."""

from __future__ import annotations

import functools
import math

import numpy as np

from eyelid.errors import EyelidError, InputError
from eyelid.mechanisms.mechanism import PublicFacts, find, mechanism_named
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.unit import PERSON, Trust, Unit

AUTO = "auto"
# What is chosen from, by public facts, if nothing is said; of nearly equal ones the first. Left out
# are those whose error depends on more than noise: a spectrum that people's signals are believed to
# have (envelope), a jump where a signal's end meets its beginning (fpa), cuts into chunks, and
# features of their own (prewindow).
_WITH_DELTA, _PURE = ("dct", "gaussian"), ("laplace", "dct:law=spherical")
_CHOICE = ("dct", "laplace", "gaussian", "dct:law=spherical")
# Errors that differ by less are the same.
_NEARLY = 1.01
# Sums of integers, with their noise, stay far from the end of 64 bits.
_MOST_STEPS = 2.0**61


def parsed(text: str) -> tuple[type[RecordMechanism], dict[str, str]]:
    """The mechanism inside, and its settings as text."""
    name, *pairs = text.split(":")
    kind = find(name)
    if not issubclass(kind, RecordMechanism) or kind.trust is not Trust.LOCAL:
        raise InputError(f"{kind.name} cannot be inside a mean: choose dct, gaussian or laplace")
    if not kind.claims_to_hold:
        raise InputError(f"{kind.name} does not hold, and no mean of it would: choose another")
    settings = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator:
            raise InputError(f"inner is NAME:KEY=VALUE:…, got '{pair}' in '{text}'")
        if key in ("epsilon", "delta", "unit", "length", "averaged"):
            raise InputError(f"{key} is set for the mean itself, not inside '{text}'")
        settings[key] = value
    return kind, settings


@functools.lru_cache(maxsize=64)
def candidates(
    epsilon: float, delta: float | None, unit: Unit, length: int | str
) -> dict[str, RecordMechanism]:
    """What may be chosen: of the kind that δ asks for, as far as it offers the unit.

    A δ that is given says which kind of promise is wanted, (ε, δ) with its μ or pure ε; without one
    either is given, and pure ε promises more.
    """
    allowed = (*_WITH_DELTA, *_PURE) if delta is None else _WITH_DELTA if delta else _PURE
    found, refusals = {}, []
    for text in _CHOICE:
        if text in allowed:
            try:
                found[text] = inside(text, epsilon, delta or None, unit, length)
            except EyelidError as error:
                refusals.append(error)
    if not found:
        raise refusals[0]
    return found


@functools.lru_cache(maxsize=256)
def least_noise(
    epsilon: float, delta: float | None, unit: Unit, length: int | str, facts: PublicFacts
) -> str:
    """Which mechanism inside has the least expected error, by nothing but public facts."""
    errors, refusals = {}, []
    for text, core in candidates(epsilon, delta, unit, length).items():
        try:
            error = core.expected_rmse_of_span(facts)
            if fits(core, facts):
                errors[text] = error
        except EyelidError as wrong:
            refusals.append(wrong)
    if not errors and refusals:
        raise refusals[0]
    # Where all add up to too much, the first says so when it is asked for its noise.
    least = min(errors.values(), default=math.inf)
    near = [text for text, error in errors.items() if error <= _NEARLY * least]
    return near[0] if near else next(iter(candidates(epsilon, delta, unit, length)))


def fits(core: RecordMechanism, facts: PublicFacts) -> bool:
    """Whether the integers of so many people can be added up, whatever the data are."""
    nothing = np.zeros((facts.recordings, facts.length, facts.features))
    # A person's integers are no farther from those of nothing than the sensitivity.
    most = float(np.abs(core.query(nothing, facts)).max()) + core.sensitivity(facts, PERSON)
    return most * facts.people + 64 * math.sqrt(core.noise(facts).variance) <= _MOST_STEPS


@functools.lru_cache(maxsize=64)
def inside(
    text: str, epsilon: float, delta: float | None, unit: Unit, length: int | str
) -> RecordMechanism:
    """The mechanism that was named, with what is set for the mean itself."""
    kind, settings = parsed(text)
    asked = {} if delta is None else {"delta": delta}
    if settings.get("k") == "private":
        raise InputError(
            "a private k is chosen for one person's own signals: inside a mean set k to public or "
            "to a number"
        )
    made = mechanism_named(
        kind.name, epsilon=epsilon, unit=unit, length=length, **asked, **settings
    )
    assert isinstance(made, RecordMechanism)
    return made
