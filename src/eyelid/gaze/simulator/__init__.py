"""The simulator: simulated participants reading, with the privacy problem that real people have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.generator.recordings import event_frame
from eyelid.gaze.simulator.pages import TASKS
from eyelid.gaze.simulator.people import OFFSET_DEG, Person
from eyelid.gaze.simulator.signal import Samples, record, timeline
from eyelid.gaze.study import INDEX_COLUMNS, Screen, Study

SCREEN = Screen(width_px=1920, height_px=1080, width_m=0.53, height_m=0.30, distance_m=0.65)
SLOWEST_HZ, FASTEST_HZ = 30.0, 1000.0
# Farther off, a tracker would be calibrated again.
FARTHEST_OFFSET_DEG = 5.0
# Of the minutes asked for: what the quickest and the slowest take.
QUICKEST, SLOWEST = 0.8, 1.2
_MEASURED = ("x", "y", "pupil", "confidence")


def simulate(
    people: int = 20,
    tasks: Sequence[str] = ("comic", "newspaper", "textbook"),
    rate_hz: float = 60.0,
    minutes: float = 5.0,
    seed: int | None = None,
    *,
    offset_deg: float = OFFSET_DEG,
) -> Study:
    """A study of people who do not exist, with the truth about their eye movements.

    Everybody does every task once, for the given minutes give or take a fifth. People keep their
    oculomotor traits from one recording to the next, moved a little by the state of the day, so
    that they can be recognised more often than chance and less often than always. Gaze is in
    degrees from the top left corner of the screen; x, y and pupil (mm) are null where the tracker
    lost the eye, in blinks and in losses too short to be one. `events` are the true fixations,
    saccades and blinks.

    What it leaves out: microsaccades, smooth pursuit, post-saccadic oscillations, and lids that
    distort the pupil before they cover it.

    Args:
        people: how many.
        tasks: what everybody does: ``comic``, ``newspaper``, ``textbook`` or ``image``.
        rate_hz: of the tracker, 30 to 1000.
        minutes: about how long each recording lasts.
        seed: makes the study reproducible; the first people of a larger study with the same seed
            are the people of the smaller one.
        offset_deg: mean distance, over people, of where gaze is recorded from where they look: the
            error that calibration leaves, in a direction of each person's own, the same in all of
            their recordings. People are re-identified by it alone; 0 for trackers without any.

    >>> study = simulate(people=2, tasks=("comic",), minutes=0.5, seed=1)
    >>> study.people["person"].to_list()
    ['P01', 'P02']
    """
    tasks = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    crowd = Crowd.of(people, tasks, rate_hz, minutes, seed, offset_deg)
    data, events = crowd.recordings(range(people))
    return replace(crowd.head(crowd.persons(range(people))), data=data, events=events)


@dataclass(frozen=True)
class Crowd:
    """Participants simulated when they are needed, each from a stream of their own.

    Attributes:
        people: how many.
        tasks: what everybody does.
        rate_hz: of the tracker.
        minutes: about how long each recording lasts.
        entropy: that all of them are made of.
        offset_deg: mean distance of recorded gaze from the true one.
    """

    people: int
    tasks: tuple[str, ...]
    rate_hz: float
    minutes: float
    entropy: int
    offset_deg: float = OFFSET_DEG

    @classmethod
    def of(
        cls,
        people: int,
        tasks: Sequence[str],
        rate_hz: float,
        minutes: float,
        seed: int | None,
        offset_deg: float = OFFSET_DEG,
    ) -> Crowd:
        """The people of a seed, or new ones; the arguments are those of `simulate`."""
        if not isinstance(people, int | np.integer):
            raise InputError(f"people must be a whole number, got {people!r}")
        if people < 1:
            raise InputError(f"people must be at least 1, got {people}")
        if not tasks:
            raise InputError(f"tasks must name at least one of {', '.join(TASKS)}, got none")
        for task in tasks:
            if task not in TASKS:
                raise unknown("task", task, TASKS)
        if not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
            raise InputError(
                f"`rate_hz` must be between {SLOWEST_HZ:g} and {FASTEST_HZ:g}, got {rate_hz:g}"
            )
        if not 0 < minutes < np.inf:
            raise InputError(f"minutes must be positive, got {minutes:g}")
        if not 0 <= offset_deg <= FARTHEST_OFFSET_DEG:
            raise InputError(
                f"`offset_deg` must be between 0 and {FARTHEST_OFFSET_DEG:g}, got {offset_deg:g}"
            )
        if seed is not None and seed < 0:
            raise InputError(f"seed must not be negative, got {seed}: choose 0 or more")
        entropy = int(np.random.SeedSequence(seed).entropy)  # type: ignore[arg-type]
        return cls(people, tuple(tasks), float(rate_hz), minutes, entropy, float(offset_deg))

    @property
    def usual_rows(self) -> int:
        """About how many samples there are of a person."""
        return max(1, round(len(self.tasks) * self.minutes * 60.0 * self.rate_hz))

    def persons(self, places: Sequence[int]) -> pl.DataFrame:
        """Who some of them are, by their places from 0."""
        rows = []
        for place in places:
            person, _ = self._person(place)
            rows.append((_name(place), person.gender, person.age, person.glasses))
        return pl.DataFrame(rows, schema=["person", "gender", "age", "glasses"], orient="row")

    def recordings(self, places: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Samples and events of some of them, by their places from 0."""
        data, events = [], []
        for place in places:
            person, seeds = self._person(place)
            for task, recording, seed in zip(
                self.tasks, _recording_names(self.tasks), seeds, strict=True
            ):
                rng = np.random.default_rng(seed)
                traits = person.today(rng)
                length_ms = 60_000.0 * self.minutes * float(np.clip(traits.pace, QUICKEST, SLOWEST))
                moves = timeline(TASKS[task], traits, length_ms, rng)
                samples = record(moves, TASKS[task], traits, length_ms, self.rate_hz, rng)
                samples = samples.moved(*(self.offset_deg * person.offset))
                keys = {"person": _name(place), "recording": recording, "task": task}
                data.append(_sample_frame(samples, keys | {"stimulus": recording}))
                events.append(event_frame(moves, keys, length_ms))
        return pl.concat(data), pl.concat(events)

    def head(self, persons: pl.DataFrame) -> Study:
        """The study of these people, before there are rows in it."""
        keys, measured = INDEX_COLUMNS[:-1], ("time_ms", *_MEASURED)
        return Study(
            kind="samples",
            data=pl.DataFrame(
                schema=dict.fromkeys(keys, pl.String) | dict.fromkeys(measured, pl.Float64)
            ),
            people=persons,
            units="deg",
            rate_hz=self.rate_hz,
            screen=SCREEN,
            xy_origin="top-left",
            pupil_unit="mm",
            # Nobody is quicker than that.
            planned_ms=60_000.0 * self.minutes * QUICKEST,
            simulated=True,
        )

    def _person(self, place: int) -> tuple[Person, list[np.random.SeedSequence]]:
        """A person, and a seed for each of their recordings."""
        own = np.random.SeedSequence(self.entropy, spawn_key=(place,))
        person_seed, *recording_seeds = own.spawn(1 + len(self.tasks))
        return Person.draw(np.random.default_rng(person_seed)), recording_seeds


def _name(place: int) -> str:
    return f"P{place + 1:02d}"


def _recording_names(tasks: tuple[str, ...]) -> list[str]:
    """The task, with a number from its second time on."""
    times = [tasks[: i + 1].count(task) for i, task in enumerate(tasks)]
    return [task if n == 1 else f"{task}-{n}" for task, n in zip(tasks, times, strict=True)]


def _sample_frame(samples: Samples, keys: dict[str, str]) -> pl.DataFrame:
    return pl.DataFrame(samples._asdict()).select(
        *[pl.lit(value).alias(name) for name, value in keys.items()],
        "time_ms",
        *[pl.col(name).fill_nan(None) for name in _MEASURED],
    )
