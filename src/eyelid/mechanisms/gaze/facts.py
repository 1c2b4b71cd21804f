"""What of a study of gaze is public: all that the cost and form of synthetic recordings depend on.

Names of tasks and stimuli, the columns, units and screen, the rate and the planned length are the
study's design. The number of recordings of a person, their lengths and losses are not public.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import NAMES, Parameter, parameter
from eyelid.gaze.generator.signal import samples_of
from eyelid.gaze.study import Screen
from eyelid.mechanisms.mechanism import Form, PublicFacts

Slot = tuple[str, str]
"""A task and a stimulus."""

FEWEST_PEOPLE = 2
USUAL_MINUTES = 1.0
"""How long a recording is where nobody planned it."""
LONGEST_MINUTES = 24 * 60.0
SLOWEST_HZ, FASTEST_HZ = 10.0, 2000.0

SAME_DESIGN = Form(
    "of any length, with any recordings that leave the study the same tasks, stimuli, columns, "
    "units, rate and screen,",
    recordings=True,
    lengths=True,
)
"""What a person's data may be exchanged for: which tasks and stimuli a study has, what was recorded
and how often, settles what is asked."""


@dataclass(frozen=True)
class GazeForm:
    """In which form gaze is written: that of the study.

    Attributes:
        units: of x and y.
        xy_origin: of x and y.
        pupil: the unit of the pupil; None where none was recorded.
        screen: where things were shown.
    """

    units: str = "deg"
    xy_origin: str | None = None
    pupil: str | None = None
    screen: Screen | None = None


@dataclass(frozen=True)
class GazeDesignFacts(PublicFacts):
    """The public facts of synthetic recordings.

    ``recordings`` are those of each synthetic participant, ``length`` the samples of each, and
    ``features`` the parameters that can be measured.

    Attributes:
        slots: task and stimulus of each recording of a synthetic participant.
        measurable: names of the parameters that such recordings have.
        on_surface: whether it is known where on the screen people looked.
        rate_hz: samples a second.
        minutes: how long a recording is.
        minutes_from: who said so: ``planned``, ``asked`` or ``usual``.
        form: in which gaze is written.
    """

    slots: tuple[Slot, ...] = (("", ""),)
    measurable: tuple[str, ...] = NAMES
    on_surface: bool = True
    rate_hz: float = 60.0
    minutes: float = USUAL_MINUTES
    minutes_from: str = "usual"
    form: GazeForm = field(default=GazeForm(), repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.people < FEWEST_PEOPLE:
            raise InputError(
                "synthetic recordings after one person are that person's own: there must be at "
                f"least {FEWEST_PEOPLE} people"
            )

    @classmethod
    def of(
        cls,
        people: int,
        slots: tuple[Slot, ...] = (("", ""),),
        measurable: tuple[str, ...] = NAMES,
        *,
        rate_hz: float = 60.0,
        minutes: float = USUAL_MINUTES,
        **more: object,
    ) -> GazeDesignFacts:
        """The facts of so many people, each with a recording of every slot."""
        if not 0 < minutes <= LONGEST_MINUTES:
            raise InputError(
                f"minutes of a recording must be above 0 and at most {LONGEST_MINUTES:g}, got "
                f"{minutes:g}"
            )
        if not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
            raise InputError(
                f"rate must be between {SLOWEST_HZ:g} and {FASTEST_HZ:g} Hz, got {rate_hz:g}"
            )
        length = samples_of(minutes * 60_000.0, rate_hz)
        return cls(
            people,
            len(slots),
            length,
            max(1, len(measurable)),
            window=1,
            slots=slots,
            measurable=measurable,
            rate_hz=rate_hz,
            minutes=minutes,
            **more,  # type: ignore[arg-type]
        )

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks, each once."""
        return tuple(dict.fromkeys(task for task, _ in self.slots))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that can be measured, in public order."""
        return tuple(parameter(name) for name in self.measurable)

    @property
    def length_ms(self) -> float:
        """How long a recording is."""
        return self.minutes * 60_000.0

    def layers(self, of: str) -> tuple[int, ...]:
        """The map that each slot belongs to.

        Args:
            of: what there is a map for each of: ``stimulus``, ``task`` or ``screen``.
        """
        if of == "stimulus":
            return tuple(range(len(self.slots)))
        if of == "task":
            return tuple(self.tasks.index(task) for task, _ in self.slots)
        return (0,) * len(self.slots)
