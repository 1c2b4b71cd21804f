"""What the mechanisms of synthetic recordings share: parameters, and what is drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.gaze.calibration import given_to_generator
from eyelid.mechanisms.gaze.facts import SAME_DESIGN, GazeDesignFacts
from eyelid.mechanisms.gaze.people import PeopleGaze
from eyelid.mechanisms.gaze.planning import Bought
from eyelid.mechanisms.gaze.portrait import Portrait
from eyelid.mechanisms.gaze.recordings import Block, blocks_of, drawn_block
from eyelid.mechanisms.mechanism import Form, Mechanism, parameter
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust


@dataclass(frozen=True, eq=False)
class Answers:
    """Everything that is taken of people, in whole numbers: what is drawn is made of these.

    Attributes:
        numbers: of each group, the sums over people; one group of everybody where there are none.
        places: of each group, the sums of everybody's shares in the cells of all maps.
        sizes: people in each group.
    """

    numbers: tuple[Integers, ...]
    places: tuple[Integers, ...]
    sizes: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As ``measured.json`` has it."""
        return {
            "numbers": [each.tolist() for each in self.numbers],
            "places": [each.tolist() for each in self.places],
            "people": list(self.sizes),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Answers:
        """What `to_dict` has told."""

        def whole(each: Sequence[int]) -> Integers:
            return np.array(each, dtype=np.int64)

        return cls(
            tuple(map(whole, content["numbers"])),
            tuple(map(whole, content["places"])),
            tuple(int(each) for each in content["people"]),
        )


@dataclass(frozen=True)
class GazeMechanism(Mechanism):
    """Recordings of synthetic participants, drawn after few numbers over people.

    ``measure`` is all that ever sees people; everything after it is made of its answers.
    """

    takes: ClassVar[str] = "gaze samples"
    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    release: ClassVar[ReleaseKind] = ReleaseKind.SYNTHETIC_GAZE
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    drawn: ClassVar[bool] = False
    """Whether groups are drawn at random."""

    minutes: float | None = parameter(
        "of each synthetic recording: by default as long as planned, or 1 where nobody planned it; "
        "never read off the recordings",
        default=None,
    )
    rate: float | None = parameter(
        "samples a second of a synthetic recording, in Hz; by default the study's", default=None
    )
    movement: str = parameter(
        "how gaze moves: reading, scene, search, or TASK:MOVEMENT with commas between; auto goes "
        "by the names of tasks",
        default="auto",
    )

    @property
    def may_differ(self) -> Form:
        """Everything of a person: of each there are a few numbers, or none."""
        return SAME_DESIGN

    @abstractmethod
    def bought(self, facts: GazeDesignFacts) -> Bought:
        """What is measured, by public facts."""

    @abstractmethod
    def measure(self, people: PeopleGaze, facts: GazeDesignFacts, noise: Randomness) -> Answers:
        """Everything that is taken of people."""

    @abstractmethod
    def portraits(self, answers: Answers, facts: GazeDesignFacts) -> tuple[Portrait, ...]:
        """What is drawn after, made of answers and public facts alone."""

    def unprotected(self, facts: GazeDesignFacts) -> list[str]:
        """What of the output is outside the guarantee, in words."""
        return [
            f"the number of people ({facts.people}) and that each of them took part",
            "the names of tasks and stimuli, also of one that only one person has recordings of",
            "what was recorded and how often, the rate, the screen, and how long recordings were "
            "planned to be",
        ]

    def inputs(self, answers: Answers, facts: GazeDesignFacts) -> tuple[Portrait, ...]:
        """What the generator is given, so that recordings measure as the portraits say.

        Args:
            answers: everything that was taken of people.
            facts: the public facts.
        """
        return given_to_generator(self.portraits(answers, facts), facts, self.movement)

    def draw(
        self, block: Block, portraits: Sequence[Portrait], facts: GazeDesignFacts, entropy: int
    ) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Samples and events of some synthetic participants, one recording after the other.

        Args:
            block: which of them.
            portraits: what they are drawn after.
            facts: the public facts.
            entropy: that all of them are made of; of no use to find anything out.
        """
        portrait, form = portraits[block.portrait], facts.form
        return drawn_block(block, portrait, facts, self.movement, form, entropy)

    def apply(
        self, people: PeopleGaze, facts: GazeDesignFacts, noise: Randomness
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """All synthetic recordings, and their events."""
        return self.presented(self.measure(people, facts, noise), facts, entropy_of(noise))

    def presented(
        self, answers: Answers, facts: GazeDesignFacts, entropy: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """All synthetic recordings that follow from answers, and their events."""
        portraits = self.inputs(answers, facts)
        made = [
            each
            for block in blocks_of(answers.sizes, len(facts.slots))
            for each in self.draw(block, portraits, facts, entropy)
        ]
        return pl.concat([data for data, _ in made]), pl.concat([events for _, events in made])

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("minutes", "rate"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"{name} must be above 0, got {value:g}")


def entropy_of(noise: Randomness) -> int:
    """What synthetic recordings are drawn from, which has nothing of people in it."""
    one, other = noise.words(2).tolist()
    return int(one) << 64 | int(other)
