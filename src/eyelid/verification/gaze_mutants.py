"""Mutants of synthetic recordings: budgets that are not kept, and data that go around the noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.override import sound_of
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.people import PeopleGaze, shares_of
from eyelid.mechanisms.groups.partition import Members, groups_and_a_rest
from eyelid.mechanisms.statistics.quantities import DELTA
from eyelid.privacy.noise import DiscreteBox, Randomness, randomness
from eyelid.verification.mutant import (
    Changes,
    Mutant,
    Row,
    Seen,
    by_noise,
    by_output,
    by_short_game,
)
from eyelid.verification.synthetic_gaze import (
    compare_gaze,
    examine_gaze,
    fuzz_gaze,
    play_gaze_canaries,
    play_gaze_groups,
    same_for_members,
)

_FEW_PAIRS = 256
_RUNS = 20_000


def _by_fuzz(mutant: Any, _sound: Any, _runs: int, _noise: Randomness) -> bool:
    return fuzz_gaze(mutant, _FEW_PAIRS).refuted


def _by_canaries(mutant: Any, _sound: Any, _runs: int, noise: Randomness) -> bool:
    return play_gaze_canaries(mutant, noise).refuted


def _by_group_games(mutant: Any, _sound: Any, _runs: int, noise: Randomness) -> bool:
    return any(game.refuted for game in play_gaze_groups(mutant, noise))


_by_residuals: Seen = by_noise(examine_gaze)
_by_outputs: Seen = by_output(compare_gaze)
_by_members: Seen = by_output(same_for_members)


def gaze_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """What can go wrong between people's gaze and synthetic recordings.

    Args:
        variants: as set for games: everything together, parameters alone, maps alone.
    """
    together, numbers, maps = variants
    for sound, rows in ((together, _OF_ALL), (numbers, _OF_NUMBERS), (maps, _OF_MAPS)):
        for name, changes, seen in rows:
            yield Mutant(name, sound, changes, seen)


def gaze_group_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """What can go wrong with groups that recordings are drawn after.

    Args:
        variants: as set for games: with maps, and without.
    """
    with_maps, _ = variants
    for name, changes, seen in _OF_GROUPS:
        yield Mutant(name, with_maps, changes, seen)


def _spread_unpaid(self: Any, sums: Integers, facts: GazeDesignFacts, noise: Randomness) -> Any:
    """Means and second moments, each with a box of their own at the whole of its ε."""
    part = self.box_part(facts)
    names = np.array([statistic.name for statistic in part.statistics])
    drawn = np.empty(sums.shape, dtype=np.int64)
    for name in ("mean", "sd"):
        which = names == name
        size = (*sums.shape[:-1], int(which.sum()))
        drawn[..., which] = DiscreteBox(part.distribution.scale, size[-1]).draw(size, noise)
    return sums + drawn


def _less(self: Any, sums: Integers, facts: GazeDesignFacts, noise: Randomness) -> Any:
    box = self.box_part(facts).distribution
    return sums + DiscreteBox(int(0.85 * box.scale), box.dimension).draw(sums.shape, noise)


def _of_one_person(self: Any, people: PeopleGaze, facts: GazeDesignFacts) -> Any:
    """The first person's parameters, as if they were everybody's."""
    alone = people.some(np.zeros(people.people, dtype=np.intp))
    return sound_of(self).asked_of_box(alone, facts)


def _of_one_persons_places(self: Any, people: PeopleGaze, facts: GazeDesignFacts) -> Any:
    alone = people.some(np.zeros(people.people, dtype=np.intp))
    return sound_of(self).asked_of_maps(alone, facts)


def _unlimited(self: Any, people: PeopleGaze, facts: GazeDesignFacts) -> Any:
    """Sums of counts as they are, in steps, beside the limits of a person."""
    shares = np.clip(np.nan_to_num(people.looks, posinf=1e3, neginf=0.0), 0.0, 1e3)
    layers = np.array(facts.layers(self.bought(facts).places))
    total = np.stack([shares[:, layers == one].sum(axis=(0, 1)) for one in range(layers.max() + 1)])
    step = self.maps(facts).step(self.map_facts(facts))
    return np.floor(total.ravel() / step).astype(np.int64)


def _exact(self: Any, people: PeopleGaze, facts: GazeDesignFacts, noise: Randomness) -> Any:
    found = sound_of(self).measure(people, facts, noise)
    numbers, places = self.asked_of_box(people, facts), self.asked_of_maps(people, facts)
    return replace(
        found,
        numbers=() if numbers is None else (numbers,),
        places=() if places is None else (places,),
    )


def _offset_of_data(self: Any, people: PeopleGaze, facts: GazeDesignFacts, noise: Any) -> Any:
    """Everybody's synthetic gaze as far off as that of a person is."""
    data, events = sound_of(self).apply(people, facts, noise)
    off = float(np.nan_to_num(people.looks[0], posinf=0.0, neginf=0.0).sum()) * 1e-6 + 1e-3
    return data.with_columns(pl.col("x") + off), events


def _length_of_data(self: Any, people: PeopleGaze, facts: GazeDesignFacts, noise: Any) -> Any:
    """Recordings that last as long as a person's."""
    seen = np.isfinite(people.values).sum()
    return sound_of(self).apply(people, replace(facts, minutes=0.02 + seen * 1e-3), noise)


def _seeded_anew(self: Any, sums: Integers, facts: GazeDesignFacts, _: Randomness) -> Any:
    return sums + self.box_part(facts).distribution.draw(sums.shape, randomness(0))


def _less_of_places(self: Any, sums: Integers, facts: GazeDesignFacts, noise: Randomness) -> Any:
    law = self.maps(facts).noise(self.map_facts(facts))
    return sums + type(law)(int(0.85 * law.scale)).draw(sums.shape, noise)


def _halved(self: Any, sums: Integers, facts: GazeDesignFacts, noise: Randomness) -> Any:
    """A quarter of the noise, as if a person moved two cells by a quarter each."""
    law = self.maps(facts).noise(self.map_facts(facts))
    return sums + type(law)(law.scale // 4).draw(sums.shape, noise)


def _understated(self: Any, facts: Any, unit: Any) -> Any:
    said = sound_of(self).cost(facts, unit)
    return replace(said, epsilon=0.8 * said.epsilon)


_OF_ALL: tuple[Row, ...] = (
    ("map unpaid", {"_part": lambda self, share: float(self.epsilon)}, _by_fuzz),
    ("spread unpaid", {"noisy_numbers": _spread_unpaid}, _by_residuals),
    ("parameters of one person", {"asked_of_box": _of_one_person}, _by_fuzz),
    ("offset copied from data", {"apply": _offset_of_data}, _by_outputs),
    ("length from data", {"apply": _length_of_data}, _by_outputs),
    ("no noise", {"measure": _exact}, _by_outputs),
)
_OF_NUMBERS: tuple[Row, ...] = (
    ("scale × 0.85", {"noisy_numbers": _less}, by_short_game(_RUNS)),
    ("generator seeded anew", {"noisy_numbers": _seeded_anew}, _by_residuals),
    ("less stated than is lost", {"cost": _understated}, _by_fuzz),
)
_OF_MAPS: tuple[Row, ...] = (
    ("places of one person", {"asked_of_maps": _of_one_persons_places}, _by_fuzz),
    ("looks without limits", {"asked_of_maps": _unlimited}, _by_fuzz),
    ("each look paid as half", {"noisy_places": _halved}, _by_canaries),
    ("scale of places × 0.85", {"noisy_places": _less_of_places}, _by_residuals),
)


def _a_rest(self: Any, people: int, noise: Randomness) -> Members:
    return groups_and_a_rest(people, self.k, noise)


def _the_same_again(self: Any, people: int, _: Randomness) -> Members:
    return np.asarray(sound_of(self).partition(people, randomness(0)))


def _by_gaze(self: Any, people: PeopleGaze, facts: GazeDesignFacts, noise: Randomness) -> Any:
    """Those who look alike together."""
    member = self.partition(people.people, noise)
    first = np.nan_to_num(people.values[:, 0, 0], posinf=1e9, neginf=-1e9)
    like = np.empty_like(member)
    like[np.argsort(first, kind="stable")] = np.sort(member)
    return self.averaged(people, facts, like)


def _first_member(self: Any, people: PeopleGaze, facts: GazeDesignFacts, member: Members) -> Any:
    """Groups drawn after their first member."""
    firsts = np.array([int(np.argmax(member == group)) for group in range(member.max() + 1)])
    return sound_of(self).averaged(people.some(firsts[member]), facts, member)


def _of_those_who_have_them(self: Any, group: PeopleGaze, facts: GazeDesignFacts) -> Any:
    """Means of those who have a value, and the norm for all others."""
    norms = np.array([float(one.natural(one.centre)) for one in facts.parameters])
    filled = np.where(np.isnan(group.values), norms, group.values)
    return sound_of(self).sums_of_numbers(replace(group, values=filled), facts)


def _maps_of_those_who_looked(self: Any, group: PeopleGaze, facts: GazeDesignFacts) -> Any:
    """Each map of those who have it, of one alone if need be."""
    shares = shares_of(group.looks, facts.layers(self.bought(facts).places)).dense
    return np.floor(shares * DELTA).astype(np.int64).sum(axis=0)


def _named_by_a_member(self: Any, people: PeopleGaze, facts: GazeDesignFacts, noise: Any) -> Any:
    """Recordings with the offset of the first person."""
    data, events = sound_of(self).apply(people, facts, noise)
    off = float(np.nan_to_num(people.values[0], posinf=0.0, neginf=0.0).sum()) * 1e-6
    return data.with_columns(pl.col("x") + off), events


_OF_GROUPS: tuple[tuple[str, Changes, Seen], ...] = (
    ("a last group of fewer than k", {"partition": _a_rest}, _by_group_games),
    ("the same groups every time", {"partition": _the_same_again}, _by_group_games),
    ("groups by gaze", {"measure": _by_gaze}, _by_members),
    ("parameters of one member", {"averaged": _first_member}, _by_members),
    ("means of those who have a value", {"sums_of_numbers": _of_those_who_have_them}, _by_members),
    ("maps of those who looked", {"sums_of_places": _maps_of_those_who_looked}, _by_members),
    ("offset of a member", {"apply": _named_by_a_member}, _by_members),
    ("length from data", {"apply": _length_of_data}, _by_members),
)
