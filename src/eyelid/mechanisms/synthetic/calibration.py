"""Which rounds are measured, and how much noise each has: by public facts alone."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.measurement import Measurement
from eyelid.mechanisms.synthetic.person_measurement import PersonMeasurement
from eyelid.mechanisms.synthetic.person_rounds import Alike, Nested
from eyelid.mechanisms.synthetic.rounds import AllPairs, Shares, Signs

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.synthetic import Synthetic

# Parts into which a feature is put for each task.
_PARTS = 8
# Of μ²: levels, shares and signs; a private choice of pairs takes its part of each.
_ROUNDS = (0.3, 0.4, 0.3)
_CHOICE = 0.2
# Of μ², of people whose rows are no signal: nested levels, shares, all pairs, likeness.
_OF_PEOPLE = (0.25, 0.5, 0.15, 0.1)


@functools.lru_cache(maxsize=64)
def measurement_of(mechanism: Synthetic, facts: PublicFacts) -> Measurement:
    """The rounds for all features of a shape, each with its share of μ²."""
    about: dict[str, Any] = {
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta_for(facts.people),
        "bins": mechanism.bins_for(facts),
    }
    of_rounds = _of_people if mechanism.of_people(facts) else _of_signals
    draft = of_rounds(mechanism, facts, about)
    # What noise on a grid costs is that of all numbers together.
    cells = sum(one.cells(facts) for one in draft.rounds)

    def among(one: Any) -> Any:
        return one and replace(one, elsewhere=cells - one.cells(facts))

    names = ("levels", "shares", "choice", "signs")
    return replace(draft, **{name: among(getattr(draft, name)) for name in names})


def _of_signals(mechanism: Synthetic, facts: PublicFacts, about: dict[str, Any]) -> Measurement:
    # Of one feature there are no pairs.
    chosen = _CHOICE if mechanism.pairs == "private" and facts.features > 1 else 0.0
    first, second, last = (share * (1 - chosen) for share in _ROUNDS)
    with_lengths = mechanism.rows is None
    return Measurement(
        facts,
        Nested(**about, share=first),
        Shares(**about, share=second, with_lengths=with_lengths, pieces=_PARTS),
        AllPairs(**about, share=chosen) if chosen else None,
        Signs(**about, share=last, parents=tuple(range(-1, facts.features - 1))),
    )


def _of_people(mechanism: Synthetic, facts: PublicFacts, about: dict[str, Any]) -> Measurement:
    there = facts.features > 1
    first, second, third, last = _OF_PEOPLE
    # Where there are no pairs, the others have their part.
    more = 1.0 if there else 1 / (1 - third)
    with_lengths = mechanism.rows is None
    return PersonMeasurement(
        facts,
        Nested(**about, share=first * more),
        Shares(**about, share=second * more, with_lengths=with_lengths, pieces=_PARTS),
        AllPairs(**about, share=third) if there else None,
        Alike(**about, share=last * more),
    )
