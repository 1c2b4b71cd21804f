"""What a release would promise and how far off it would be, before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eyelid.audits.membership import advantage_bound
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.mechanisms.features import FeatureMechanism, PredictableMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.prewindow import Prewindow
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON, Trust
from eyelid.releases.expectation import Expectation, expectation, inside, people_needed
from eyelid.releases.plan import build_mechanism, feature_table, promised, released_alike
from eyelid.releases.words import worth


@dataclass(frozen=True)
class Quote:
    """A price and what it buys, from public facts only.

    Attributes:
        mechanism: with its parameters.
        shape: the public facts.
        alike: whether people cannot be told apart by what is not protected.
    """

    mechanism: FeatureMechanism
    shape: Shape
    alike: bool = True

    @property
    def guarantee(self) -> Guarantee:
        """For the unit asked for."""
        return promised(self.mechanism, self.shape, self.mechanism.unit)

    @property
    def person_level(self) -> Guarantee:
        """For a person."""
        return promised(self.mechanism, self.shape, PERSON)

    @property
    def expected(self) -> Expectation | None:
        """How far off what is released will be; None where that depends on the people."""
        if not isinstance(self.mechanism, PredictableMechanism):
            return None
        return expectation(self.mechanism, self.shape)

    @property
    def rank1_bound(self) -> dict[str, float | None]:
        """How often people can be named, at most."""
        known = self.person_level if self.alike else self.person_level.broken("told apart")
        return rank1_bounds(known, self.shape.people)

    @property
    def advantage_bound(self) -> float | None:
        """How well it can be told who is in means over people, at most; None for own records."""
        central = self.person_level.trust is Trust.CENTRAL
        return advantage_bound(self.person_level) if central else None

    @property
    def people_needed(self) -> int | None:
        """From how many people on a mean over them would carry information, if that is known."""
        if not isinstance(self.mechanism, PredictableMechanism):
            return None
        return people_needed(self.mechanism, self.shape)

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid cost --json`` prints it."""
        expected = self.expected
        return {
            "mechanism": {
                "name": self.mechanism.name,
                "parameters": self.mechanism.parameters(),
            },
            "shape": asdict(self.shape),
            "guarantee": self.guarantee.to_dict(),
            "person_level": self.person_level.summary()
            | {"how": self.mechanism.person_total(self.shape)},
            "noise": {
                "sampler": self.mechanism.sampler(self.shape),
                "numerics": self.mechanism.numerics,
            },
            "expected_error": expected.to_dict() if expected else None,
            "informative": expected.informative if expected else None,
            "informative_about": expected.informative_about if expected else None,
            "people_needed": self.people_needed,
            "says": worth(self.mechanism, self.shape),
            "rank1_bound": self.rank1_bound,
            "advantage_bound": self.advantage_bound,
        }


def cost(
    mechanism: str | FeatureMechanism,
    source: Study | FeatureTable | Path | str | None = None,
    *,
    people: int | None = None,
    recordings: int | None = None,
    features: int | None = None,
    length: int | str | None = None,
    map: Map = None,
    **parameters: Any,
) -> Quote:
    """The guarantee and the expected error of a release, before anything runs.

    Args:
        mechanism: its name, or a mechanism with its parameters set.
        source: a study whose public facts to take; or give them:
        people: how many people.
        recordings: how many recordings each.
        features: how many features.
        length: rows of a recording.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        parameters: of the mechanism, such as ``epsilon``, ``delta`` and ``unit``.

    >>> quote = cost("laplace", people=20, recordings=3, features=16, length=600, epsilon=1.0)
    >>> quote.person_level.epsilon, quote.to_dict()["informative"]
    (1.0, False)
    """
    if source is not None:
        given = {"people": people, "recordings": recordings, "features": features}
        doubled = [name for name, value in given.items() if value is not None]
        if doubled:
            raise InputError(f"the study says how many {doubled[0]} it has: leave it out")
        chosen = build_mechanism(mechanism, length=length, **parameters)
        table = feature_table(source, map, chosen)
        shape = chosen.shape(table)
        return Quote(chosen, shape, released_alike(chosen, chosen.cost(shape, PERSON), table))
    facts = {"people": people, "recordings": recordings, "features": features, "length": length}
    absent = [name for name, value in facts.items() if value is None]
    if absent:
        raise InputError(
            f"cost needs a study, or --people, --recordings, --features and --length; "
            f"missing: {', '.join(absent)}"
        )
    numbers = {name: int(value) for name, value in facts.items() if value is not None}
    chosen = build_mechanism(mechanism, **parameters)
    own = inside(chosen)
    if not isinstance(own, Prewindow):
        return Quote(chosen, Shape(**numbers))
    # Bins and streams are measured, as many as so many windows and its own features take.
    measured = own.shape_of(numbers["people"], numbers["recordings"], numbers["length"])
    return Quote(chosen, measured)
