"""Synthetic recordings, drawn block by block: of a few people at a time, so that memory is flat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.gaze.generator.profile import Places, Profile
from eyelid.gaze.generator.recordings import Planned, generated_recordings
from eyelid.gaze.generator.signal import samples_of
from eyelid.mechanisms.gaze.facts import GazeDesignFacts, GazeForm, Slot
from eyelid.mechanisms.gaze.portrait import Portrait, movements_of

_RECORDINGS_AT_ONCE = 32


@dataclass(frozen=True)
class Block:
    """Some synthetic participants of one portrait.

    Attributes:
        portrait: its number.
        first: the number of the first of them, over all portraits.
        people: how many.
    """

    portrait: int
    first: int
    people: int


def blocks_of(sizes: Sequence[int], recordings: int) -> list[Block]:
    """Everybody, a few at a time, by public numbers.

    Args:
        sizes: people of each portrait.
        recordings: of each.

    >>> [block.people for block in blocks_of([40], recordings=2)]
    [16, 16, 8]
    """
    most = max(1, _RECORDINGS_AT_ONCE // recordings)
    found, first = [], 0
    for number, size in enumerate(sizes):
        for start in range(0, size, most):
            found.append(Block(number, first + start, min(most, size - start)))
        first += size
    return found


def drawn_block(
    block: Block,
    portrait: Portrait,
    facts: GazeDesignFacts,
    movement: str,
    form: GazeForm,
    entropy: int,
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Samples and events of some synthetic participants, one recording after the other.

    Args:
        block: which of them.
        portrait: what they are drawn after.
        facts: the public facts.
        movement: how gaze moves, as it was asked for.
        form: in which gaze is written.
        entropy: that all of them are made of; of no use to find anything out.
    """
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(block.first,)))
    planned = [
        Planned(name, task, stimulus, facts.length_ms)
        for name, (task, stimulus) in zip(recording_names(facts.slots), facts.slots, strict=True)
    ]
    made = generated_recordings(
        profiles_of(portrait, facts, movement),
        block.people,
        planned,
        facts.rate_hz,
        form.screen,
        rng,
        units=form.units,
        xy_origin=form.xy_origin,
        pupil=form.pupil,
    )
    for number, (data, events) in enumerate(made):
        person = synthetic_name(block.first + number // len(planned), facts.people)
        name = pl.lit(person).alias("person")
        yield data.with_columns(name), events.with_columns(name)


def profiles_of(portrait: Portrait, facts: GazeDesignFacts, movement: str) -> dict[str, Profile]:
    """What the generator draws after, by task.

    Args:
        portrait: what was measured, or the norm's.
        facts: the public facts.
        movement: how gaze moves, as it was asked for.
    """
    found = {}
    for task, means, moves in zip(
        facts.tasks, portrait.means, movements_of(movement, facts.tasks), strict=True
    ):
        places = {
            stimulus: Places(own)
            for (of, stimulus), own in zip(facts.slots, portrait.places, strict=True)
            if of == task and own is not None
        }
        found[task] = Profile(means, portrait.between, portrait.within, places, moves)
    return found


def recording_names(slots: Sequence[Slot]) -> list[str]:
    """What recordings are called: by task and, where it has several, stimulus.

    >>> recording_names([("look", "a"), ("look", "b"), ("read", "a"), ("", "")])
    ['look a', 'look b', 'read', '1']
    """
    tasks = [task for task, _ in slots]
    names: list[str] = []
    for task, stimulus in slots:
        parts = (task, stimulus if tasks.count(task) > 1 or not task else "")
        name = " ".join(part for part in parts if part) or "1"
        while name in names:
            name += "'"
        names.append(name)
    return names


def synthetic_name(number: int, people: int) -> str:
    """What a synthetic participant is called, from 0.

    >>> synthetic_name(0, 20)
    'synthetic01'
    """
    return f"synthetic{number + 1:0{len(str(people))}d}"


def names_of(portraits: Sequence[Portrait]) -> pl.DataFrame:
    """Who the synthetic participants are: their names, and their groups where there are some."""
    people = sum(each.people for each in portraits)
    names = [synthetic_name(number, people) for number in range(people)]
    found = pl.DataFrame({"person": names})
    if not any(each.group for each in portraits):
        return found
    groups = [each.group for each in portraits for _ in range(each.people)]
    return found.with_columns(pl.Series("group", groups))


def scaled_facts(facts: GazeDesignFacts, minutes: float) -> GazeDesignFacts:
    """Public facts with recordings of another length, for games."""
    length = samples_of(minutes * 60_000.0, facts.rate_hz)
    return replace(facts, minutes=minutes, length=length)
