"""Recordings of people who do not exist, made of profiles, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.generator.field import Field
from eyelid.gaze.generator.parameters import (
    NAMES,
    NOISE_HZ,
    OFFSET_DEG,
    PARAMETERS,
    PIVOT_DEG,
    Floats,
)
from eyelid.gaze.generator.path import CANDIDATES, Density, Steps, amplitudes, steps, tailed, walked
from eyelid.gaze.generator.profile import Places, Profile
from eyelid.gaze.generator.signal import (
    PEAK_TO_MEAN,
    Timeline,
    coloured_noise,
    hippus,
    lost_between,
    places_at,
    times_ms,
)
from eyelid.gaze.study import EVENT_COLUMNS, INDEX_COLUMNS, Screen

# The same for everybody.
_SHORTEST_FIXATION_MS, _LONGEST_FIXATION_MS = 40.0, 5000.0
_SHORTEST_SACCADE_MS, _LONGEST_SACCADE_MS = 6.0, 300.0
# Durations of fixations have a long tail even on logs.
_DURATION_TAIL = 0.7
# Between some saccades gaze rests for less than a fixation: they correct those before.
_BRIEF_MS, _MOST_BRIEF = (67.0, 99.0), 0.5
_SPEED_LOG_SD = 0.12
_FASTEST_DEG_S = 800.0
_BLINK_MS, _BLINK_LOG_SD = 170.0, 0.25
_MOST_HIDDEN = 0.7
_SHORTEST_BLINK_MS, _LONGEST_BLINK_MS = 90.0, 400.0
# Losses are shorter than blinks, or longer, or in the middle of saccades, where a moving eye is
# blurred: the more, the larger they are.
_GLITCH_MS, _AWAY_MS = (10.0, 60.0), (520.0, 1500.0)
_GLITCH_SHARE, _AWAY_SHARE, _BLURRED_SHARE = 0.4, 0.45, 0.15
_BLURRED_MS = 30.0
# The screen's own pull where there are places, so that no step is impossible.
_FAINT = 1e-6
_AT_ONCE = 32


@dataclass(frozen=True)
class Planned:
    """A recording that everybody has.

    Attributes:
        name: of it.
        task: what is done in it; its profile has this name.
        stimulus: what is looked at; empty where there is none by name.
        length_ms: of it.
    """

    name: str
    task: str
    stimulus: str
    length_ms: float


class Made(NamedTuple):
    """One recording: its samples, and the events that it is made of."""

    data: pl.DataFrame
    events: pl.DataFrame


def generated(
    profiles: Mapping[str, Profile],
    people: int,
    recordings: Sequence[Planned],
    rate_hz: float,
    screen: Screen | None,
    rng: np.random.Generator,
    *,
    units: str = "deg",
    xy_origin: str | None = None,
    pupil: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Samples and events of everybody; the arguments are those of `generated_recordings`.

    >>> plan = [Planned("one", "look", "", 2000.0)]
    >>> rng = np.random.default_rng(1)
    >>> data, events = generated({"look": Profile()}, 2, plan, 100.0, None, rng)
    >>> data["person"].unique(maintain_order=True).to_list(), len(data)
    (['P1', 'P2'], 400)
    """
    made = generated_recordings(
        profiles,
        people,
        recordings,
        rate_hz,
        screen,
        rng,
        units=units,
        xy_origin=xy_origin,
        pupil=pupil,
    )
    data, events = zip(*made, strict=True)
    return pl.concat(data), pl.concat(events)


def generated_recordings(
    profiles: Mapping[str, Profile],
    people: int,
    recordings: Sequence[Planned],
    rate_hz: float,
    screen: Screen | None,
    rng: np.random.Generator,
    *,
    units: str = "deg",
    xy_origin: str | None = None,
    pupil: str | None = None,
) -> Iterator[Made]:
    """Recordings one at a time, person by person; memory does not grow with people.

    The calibration's error is drawn anew for every person. A person deviates from the means in the
    same way in every recording, and a little anew in each. Every person and every recording has
    randomness of its own: the first people of more are the people of fewer.

    Args:
        profiles: by task.
        people: how many.
        recordings: that everybody has, in order.
        rate_hz: of the tracker.
        screen: where things are shown, as far as it is known.
        rng: source of randomness.
        units: of gaze; without a geometry degrees are nominal ones
            (`eyelid.gaze.geometry.PER_DEGREE`).
        xy_origin: of gaze: ``top-left``, ``bottom-left`` or ``centre``.
        pupil: the unit of the pupil: ``mm``, or another one, in which it is 1 on average; None
            for no pupil.
    """
    field = Field(units, screen, xy_origin)
    _check(profiles, people, recordings, rate_hz, field)
    entropy = entropy_of(rng)
    digits = len(str(people))
    tables = {task: profile.table() for task, profile in profiles.items()}
    densities = _densities(profiles, recordings, field)
    per = max(1, _AT_ONCE // len(recordings))
    for first in range(0, people, per):
        drafts = [
            _draft(entropy, place, number, planned, tables[planned.task], profiles[planned.task])
            for place in range(first, min(first + per, people))
            for number, planned in enumerate(recordings)
        ]
        around = [densities.get(d.number) or _around_middle(d.values, field) for d in drafts]
        starts = np.array(
            [_start(d.values, of, d.rng) for d, of in zip(drafts, around, strict=True)]
        )
        paths = walked(
            [draft.steps for draft in drafts],
            around,
            np.array(starts),
            [profiles[recordings[draft.number].task].movement for draft in drafts],
        )
        for draft, path in zip(drafts, paths, strict=True):
            planned = recordings[draft.number]
            keys = {
                "person": f"P{draft.place + 1:0{digits}d}",
                "recording": planned.name,
                "task": planned.task,
                "stimulus": planned.stimulus,
            }
            yield _recorded(draft, path, planned, keys, rate_hz, field, pupil)


def entropy_of(rng: np.random.Generator) -> tuple[int, ...]:
    """All the randomness of a set of recordings, in numbers."""
    return tuple(int(part) for part in rng.integers(0, 2**63, 2))


def deviations(
    entropy: Sequence[int], place: int, number: int
) -> tuple[Floats, Floats, Floats, np.random.Generator]:
    """How a person, and one of their recordings, deviates: standard normal numbers.

    Args:
        entropy: of the recordings.
        place: of the person, from 0.
        number: of the recording, from 0.

    Returns:
        what lasts, the calibration's error in degrees, what is of this recording alone, and the
        source of all other randomness in it.
    """
    own = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(place,)))
    lasting = np.clip(own.standard_normal(len(NAMES)), -2.5, 2.5)
    offset_deg = OFFSET_DEG / np.sqrt(np.pi / 2) * own.standard_normal(2)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(place, number)))
    return lasting, offset_deg, np.clip(rng.standard_normal(len(NAMES)), -2.5, 2.5), rng


class _Draft(NamedTuple):
    """A recording before it is known where people look."""

    place: int
    number: int
    values: dict[str, float]
    offset_deg: Floats
    fixation_ms: Floats
    haste: Floats
    blink_ms: Floats
    is_blink: NDArray[np.bool_]
    steps: Steps
    rng: np.random.Generator


def _check(
    profiles: Mapping[str, Profile],
    people: int,
    recordings: Sequence[Planned],
    rate_hz: float,
    field: Field,
) -> None:
    if people < 1:
        raise InputError(f"people must be at least 1, got {people}")
    if not recordings:
        raise InputError("no recording is planned: give at least one")
    if not 0 < rate_hz < np.inf:
        raise InputError(f"`rate_hz` must be positive, got {rate_hz}: gaze needs a sampling rate")
    for planned in recordings:
        if planned.task not in profiles:
            raise InputError(
                f"recording '{planned.name}' is of task '{planned.task}', which has no profile: "
                f"there are {', '.join(profiles)}"
            )
        if not 0 < planned.length_ms < np.inf:
            raise InputError(
                f"recording '{planned.name}' must last a positive time, got {planned.length_ms} ms"
            )
    if not field.has_screen and any(profile.places for profile in profiles.values()):
        raise InputError(
            f"places need to know where on a screen gaze is, and units are {field.units} without "
            "a screen of known size: leave places out"
        )


def _draft(
    entropy: Sequence[int],
    place: int,
    number: int,
    planned: Planned,
    table: tuple[Floats, Floats, Floats],
    profile: Profile,
) -> _Draft:
    """All of a recording that does not depend on where things are."""
    lasting, offset_deg, today, rng = deviations(entropy, place, number)
    means, between, within = table
    on_scale = means + between * lasting + within * today
    values = {
        one.name: float(one.natural(value)) for one, value in zip(PARAMETERS, on_scale, strict=True)
    }
    per_fixation_ms = values["fixation_ms"] * np.exp(values["fixation_log_sd"] ** 2 / 2)
    brief_share = _brief_share(values, per_fixation_ms)
    per_rest_ms = per_fixation_ms * (1.0 - brief_share) + sum(_BRIEF_MS) / 2 * brief_share
    count = int(1.3 * planned.length_ms / per_rest_ms) + 30
    spread = values["fixation_log_sd"] * tailed(count, _DURATION_TAIL, rng)
    logs = np.log(values["fixation_ms"]) + spread
    durations = np.clip(np.exp(logs), _SHORTEST_FIXATION_MS, _LONGEST_FIXATION_MS)
    brief = rng.random(count) < brief_share
    durations = np.where(brief, rng.uniform(*_BRIEF_MS, count), durations)
    drawn = profile.places_of(planned.stimulus) is not None
    sizes = amplitudes(count, CANDIDATES if drawn else 1, values, rng)
    haste = np.exp(_SPEED_LOG_SD * rng.standard_normal(count))
    move_ms = saccade_ms(sizes[:, 0], values, haste)
    blink_ms = _BLINK_MS * np.exp(_BLINK_LOG_SD * rng.standard_normal(count))
    # Eyes close rather in large movements than in small ones (Evinger et al. 1994).
    drawn_to = np.sqrt(sizes[:, 0])
    often = (durations + move_ms).mean() / 60_000.0 * drawn_to / drawn_to.mean()
    closes = rng.random(count) < np.minimum(values["blinks_per_min"] * often, _MOST_HIDDEN)
    blink_ms = np.clip(blink_ms, _SHORTEST_BLINK_MS, _LONGEST_BLINK_MS)
    ends_ms = np.cumsum(durations + np.where(closes, blink_ms, move_ms))
    used = min(int(np.searchsorted(ends_ms, planned.length_ms)) + 1, count)
    candidates = steps(sizes[:used], values, profile.movement, rng)
    return _Draft(
        place,
        number,
        values,
        offset_deg,
        durations[:used],
        haste[:used],
        blink_ms[:used],
        closes[:used],
        candidates,
        rng,
    )


def _brief_share(values: dict[str, float], per_fixation_ms: float) -> float:
    """What part of rests is too brief for a fixation, so that there are enough saccades for one.

    Blinks hide some saccades.
    """
    hidden = min(values["blinks_per_min"] * per_fixation_ms / 60_000.0, 0.5)
    share = 1.0 - (1.0 - hidden) / values["saccades_per_fixation"]
    return float(np.clip(share, 0.0, _MOST_BRIEF))


def saccade_ms(amplitude_deg: Floats, values: dict[str, float], haste: Floats) -> Floats:
    """Durations of saccades whose peak speeds lie on the person's line through logs.

    Args:
        amplitude_deg: of each.
        values: of the parameters, in their units.
        haste: how much faster each is than the line says.
    """
    speeds = values["peak_speed_deg_s"] * (amplitude_deg / PIVOT_DEG) ** values["speed_slope"]
    # Peak speeds saturate, where a line on logs goes on.
    speeds = np.minimum(speeds * haste, _FASTEST_DEG_S)
    duration_ms = PEAK_TO_MEAN * amplitude_deg / speeds * 1000.0
    return np.asarray(np.clip(duration_ms, _SHORTEST_SACCADE_MS, _LONGEST_SACCADE_MS))


def _densities(
    profiles: Mapping[str, Profile], recordings: Sequence[Planned], field: Field
) -> dict[int, Density]:
    """How places draw the eye in each planned recording that has any; one object for the same."""
    made: dict[int, Density] = {}
    found = {}
    for number, planned in enumerate(recordings):
        places = profiles[planned.task].places_of(planned.stimulus)
        if places is not None:
            if id(places) not in made:
                made[id(places)] = _of_places(places, field)
            found[number] = made[id(places)]
    return found


def _of_places(places: Places, field: Field) -> Density:
    wide, high = field.half_deg

    def density(x: Floats, y: Floats) -> Floats:
        across, down = field.shares(np.clip(x, -80.0, 80.0), np.clip(y, -80.0, 80.0))
        far = np.exp(-np.minimum((x / wide) ** 2 + (y / high) ** 2, 500.0))
        return np.asarray(places.density(across, down) + _FAINT * far + 1e-250)

    return density


def _around_middle(values: dict[str, float], field: Field) -> Density:
    wide, high = values["spread_x_deg"], values["spread_y_deg"]
    edge_x, edge_y = field.half_deg

    def density(x: Floats, y: Floats) -> Floats:
        pull = np.exp(-np.minimum(((x / wide) ** 2 + (y / high) ** 2) / 2, 500.0))
        beyond = (np.abs(x) > edge_x) | (np.abs(y) > edge_y)
        return np.asarray(np.where(beyond, _FAINT * pull, pull) + 1e-250)

    return density


def _start(values: dict[str, float], density: Density, rng: np.random.Generator) -> Floats:
    """Where a recording begins: a likely place among some around the middle."""
    some = rng.standard_normal((64, 2)) * [values["spread_x_deg"], values["spread_y_deg"]]
    bars = np.cumsum(density(some[:, 0], some[:, 1]))
    return np.asarray(some[min(int(np.searchsorted(bars, rng.random() * bars[-1])), 63)])


def _recorded(
    draft: _Draft,
    path: tuple[Floats, Floats],
    planned: Planned,
    keys: dict[str, str],
    rate_hz: float,
    field: Field,
    pupil: str | None,
) -> Made:
    """The samples of a recording, and its events."""
    values, rng = draft.values, draft.rng
    still = np.zeros(len(draft.fixation_ms))
    amplitude_deg = np.maximum(np.hypot(*(np.roll(axis, -1) - axis for axis in path)), 0.01)
    move_ms = saccade_ms(amplitude_deg, values, draft.haste)
    move_ms = np.where(draft.is_blink, draft.blink_ms, move_ms)
    ends_ms = np.cumsum(draft.fixation_ms + move_ms)
    fixation_ms = draft.fixation_ms.copy()
    # Where the eye is quicker than was thought, the last fixation lasts.
    fixation_ms[-1] += max(planned.length_ms - ends_ms[-1], 0.0)
    onset_ms = np.r_[0.0, ends_ms[:-1]]
    events = Timeline(onset_ms, fixation_ms, *path, still, still, move_ms, draft.is_blink)
    time_ms = times_ms(planned.length_ms, rate_hz)
    x, y, missing = places_at(events, time_ms)
    levels = np.array([values[f"noise_{hz:g}hz"] for hz in NOISE_HZ])
    noise = coloured_noise(len(time_ms), rate_hz, levels, 2, rng)
    x += noise[0] + draft.offset_deg[0]
    y += noise[1] + draft.offset_deg[1]
    missing |= _lost(time_ms, events, amplitude_deg, values["lost_share"], rng)
    x, y = field.written(x, y)
    columns = {"time_ms": time_ms, "x": x, "y": y}
    if pupil is not None:
        columns["pupil"] = _pupil(time_ms, values, pupil, rng)
    data = pl.DataFrame(columns).with_columns(
        pl.when(pl.lit(pl.Series(missing))).then(None).otherwise(pl.col(name)).alias(name)
        for name in columns
        if name != "time_ms"
    )
    text = [pl.lit(keys[name]).alias(name) for name in INDEX_COLUMNS[:-1]]
    return Made(data.select(*text, *columns), event_frame(events, keys, planned.length_ms))


def _lost(
    time_ms: Floats,
    events: Timeline,
    amplitude_deg: Floats,
    share: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Losses that are no blinks: some short, some long, and some because the eye moves."""
    length_ms = float(time_ms[-1])
    onsets, offsets = [], []
    for (least, most), part in ((_GLITCH_MS, _GLITCH_SHARE), (_AWAY_MS, _AWAY_SHARE)):
        count = rng.poisson(share * part * length_ms / ((least + most) / 2))
        onset_ms = rng.uniform(0.0, length_ms, count)
        onsets.append(onset_ms)
        offsets.append(onset_ms + rng.uniform(least, most, count))
    blurred_ms = np.minimum(events.move_ms, _BLURRED_MS)
    blurred = np.where(events.is_blink, 0.0, amplitude_deg)
    wanted = share * _BLURRED_SHARE * length_ms / max(float((blurred * blurred_ms).sum()), 1e-9)
    hit = rng.random(len(blurred)) < wanted * blurred
    middle_ms = (events.onset_ms + events.fixation_ms + events.move_ms / 2)[hit]
    onsets.append(middle_ms - blurred_ms[hit] / 2)
    offsets.append(middle_ms + blurred_ms[hit] / 2)
    return lost_between(time_ms, np.concatenate(onsets), np.concatenate(offsets))


def _pupil(
    time_ms: Floats, values: dict[str, float], unit: str, rng: np.random.Generator
) -> Floats:
    coarse_ms, up_and_down = hippus(time_ms, rng)
    mean = values["pupil_mm"] if unit == "mm" else 1.0
    size = mean * np.maximum(1.0 + values["pupil_variation"] * up_and_down, 0.2)
    return np.interp(time_ms, coarse_ms, size)


def event_frame(moves: Timeline, keys: Mapping[str, str], length_ms: float) -> pl.DataFrame:
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
