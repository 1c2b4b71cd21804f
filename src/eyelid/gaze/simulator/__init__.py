"""The simulator: made-up people reading, with the privacy problem that real people have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.simulator.pages import TASKS
from eyelid.gaze.simulator.people import Person
from eyelid.gaze.simulator.signal import Samples, Timeline, record, timeline
from eyelid.gaze.study import EVENT_COLUMNS, Screen, Study

SCREEN = Screen(width_px=1920, height_px=1080, width_m=0.53, height_m=0.30, distance_m=0.65)
SLOWEST_HZ, FASTEST_HZ = 30.0, 1000.0


def simulate(
    people: int = 20,
    tasks: Sequence[str] = ("comic", "newspaper", "textbook"),
    rate_hz: float = 60.0,
    minutes: float = 5.0,
    seed: int | None = None,
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

    >>> study = simulate(people=2, tasks=("comic",), minutes=0.5, seed=1)
    >>> study.people["person"].to_list()
    ['P01', 'P02']
    """
    tasks = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    _check(people, tasks, rate_hz, minutes, seed)
    persons, data, events = [], [], []
    for number, own_seed in enumerate(np.random.SeedSequence(seed).spawn(people), start=1):
        name = f"P{number:02d}"
        person_seed, *recording_seeds = own_seed.spawn(1 + len(tasks))
        person = Person.draw(np.random.default_rng(person_seed))
        persons.append((name, person.gender, person.age, person.glasses))
        for task, recording, recording_seed in zip(
            tasks, _recording_names(tasks), recording_seeds, strict=True
        ):
            rng = np.random.default_rng(recording_seed)
            traits = person.today(rng)
            length_ms = 60_000.0 * minutes * float(np.clip(traits.pace, 0.8, 1.2))
            moves = timeline(TASKS[task], traits, length_ms, rng)
            samples = record(moves, TASKS[task], traits, length_ms, rate_hz, rng)
            keys = {"person": name, "recording": recording, "task": task, "stimulus": recording}
            data.append(_sample_frame(samples, keys))
            events.append(_event_frame(moves, keys, length_ms))
    return Study(
        kind="samples",
        data=pl.concat(data),
        people=pl.DataFrame(persons, schema=["person", "gender", "age", "glasses"], orient="row"),
        units="deg",
        rate_hz=float(rate_hz),
        screen=SCREEN,
        xy_origin="top-left",
        pupil_unit="mm",
        events=pl.concat(events),
        simulated=True,
    )


def _check(
    people: int, tasks: tuple[str, ...], rate_hz: float, minutes: float, seed: int | None
) -> None:
    if people < 1:
        raise InputError(f"people must be at least 1, got {people}")
    if not tasks:
        raise InputError(f"tasks must name at least one of {', '.join(TASKS)}, got none")
    for task in tasks:
        if task not in TASKS:
            raise unknown("task", task, TASKS)
    if not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
        raise InputError(
            f"rate_hz must be between {SLOWEST_HZ:g} and {FASTEST_HZ:g}, got {rate_hz:g}"
        )
    if not 0 < minutes < np.inf:
        raise InputError(f"minutes must be positive, got {minutes:g}")
    if seed is not None and seed < 0:
        raise InputError(f"seed must not be negative, got {seed}: choose 0 or more")


def _recording_names(tasks: tuple[str, ...]) -> list[str]:
    """The task, with a number from its second time on."""
    times = [tasks[: i + 1].count(task) for i, task in enumerate(tasks)]
    return [task if n == 1 else f"{task}-{n}" for task, n in zip(tasks, times, strict=True)]


def _sample_frame(samples: Samples, keys: dict[str, str]) -> pl.DataFrame:
    lost = ["x", "y", "pupil"]
    return pl.DataFrame(samples._asdict()).select(
        *[pl.lit(value).alias(name) for name, value in keys.items()],
        "time_ms",
        *[pl.col(name).fill_nan(None) for name in lost],
        "confidence",
    )


def _event_frame(moves: Timeline, keys: dict[str, str], length_ms: float) -> pl.DataFrame:
    """Every fixation and what follows it, up to the end of the recording."""
    move_onset_ms = moves.onset_ms + moves.fixation_ms
    onset_ms = np.column_stack([moves.onset_ms, move_onset_ms]).ravel()
    offset_ms = np.column_stack([move_onset_ms, move_onset_ms + moves.move_ms]).ravel()
    move = np.where(moves.is_blink, "blink", "saccade")
    names = np.column_stack([np.full(len(move), "fixation"), move]).ravel()
    offset_ms = np.minimum(offset_ms, length_ms)
    frame = pl.DataFrame(
        {
            "name": pl.Series(names, dtype=pl.String),
            "onset_ms": onset_ms,
            "offset_ms": offset_ms,
            "duration_ms": offset_ms - onset_ms,
        }
    ).filter(pl.col("duration_ms") > 0)
    return frame.with_columns(
        person=pl.lit(keys["person"]), recording=pl.lit(keys["recording"])
    ).select(EVENT_COLUMNS)
