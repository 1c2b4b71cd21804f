"""Are synthetic recordings what they claim: fuzz, noise, the whole output, groups, and mutants.

Neighbours are whole small studies, in which a person with hostile numbers is replaced, and what
both answers lose together is held against what is stated. The whole way to the recordings is looked
at as well: they must be what follows from the answers, from public facts and from randomness that
is the same, to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.override import sound_of
from eyelid.attacks.residuals import ResidualResult, judged
from eyelid.attacks.statistics import clopper_pearson
from eyelid.mechanisms.differential import SCALE, Integers
from eyelid.mechanisms.gaze.facts import GazeDesignFacts, GazeForm
from eyelid.mechanisms.gaze.gaze_mechanism import entropy_of
from eyelid.mechanisms.gaze.people import PeopleGaze
from eyelid.mechanisms.gaze.planning import NORM
from eyelid.mechanisms.groups.partition import Members, group_sizes, groups_and_a_rest
from eyelid.privacy.noise import DiscreteBox, Randomness, randomness
from eyelid.verification.game import ALPHA, GameResult
from eyelid.verification.mutant import (
    Changes,
    Mutant,
    Row,
    Seen,
    by_noise,
    by_output,
    by_short_game,
)
from eyelid.verification.outputs import OutputResult
from eyelid.verification.sensitivity import FLOATING, FuzzResult, hostile

_MOST_PEOPLE = 6
_MEASURED = 4_000
_FEW_PAIRS = 256
_RUNS = 20_000
_SEED = 0
_PARAMETERS = ("fixation_ms", "rightward_share")
_SLOTS = (("look", "one"), ("look", "two"), ("read", "one"))
RELEASES = 200
GUESSES = 5


def facts_for(people: int) -> GazeDesignFacts:
    """Public facts of a small study with short recordings.

    Args:
        people: how many.
    """
    return GazeDesignFacts.of(
        people,
        _SLOTS,
        _PARAMETERS,
        rate_hz=30.0,
        minutes=0.05,
        form=GazeForm("fraction", "top-left"),
    )


def people_for(mechanism: Any, people: int, rng: np.random.Generator) -> PeopleGaze:
    """People whose numbers are of every kind: inside, at the ends, far outside, missing.

    Args:
        mechanism: whose maps have so many cells.
        people: how many.
        rng: that they are drawn from.
    """
    facts = facts_for(people)
    shape = (people, len(facts.tasks), len(facts.measurable))
    places = hostile(rng, shape)
    values = np.empty(shape)
    for number, one in enumerate(facts.parameters):
        values[..., number] = one.lower + places[..., number] * (one.upper - one.lower)
    looks = hostile(rng, (people, len(facts.slots), _cells(mechanism, facts)))
    return PeopleGaze(values, looks)


def _cells(mechanism: Any, facts: GazeDesignFacts) -> int:
    plan = mechanism.bought(facts)
    return int(plan.grid.cells) if plan.places != NORM else 1


def fuzz_gaze(mechanism: Any, pairs: int) -> FuzzResult:
    """Replace a person in many small studies, and add up what both answers lose by it.

    Args:
        mechanism: to look at.
        pairs: how many studies.
    """
    rng = np.random.default_rng(_SEED)
    worst, mixed = 0.0, 0
    for pair in mechanism.neighbour_pairs(mechanism.unit):
        one, other = (mechanism.with_others(side, pair.facts) for side in (pair.one, pair.other))
        worst = max(worst, _lost(mechanism, one, other, pair.facts))
    for _ in range(pairs):
        people = int(rng.integers(2, _MOST_PEOPLE + 1))
        facts = facts_for(people)
        one, who = people_for(mechanism, people, rng), int(rng.integers(people))
        new = people_for(mechanism, people, rng)
        other = PeopleGaze(one.values.copy(), one.looks.copy())
        other.values[who], other.looks[who] = new.values[who], new.looks[who]
        worst = max(worst, _lost(mechanism, one, other, facts))
        mixed += _by_order(mechanism, one, facts, rng)
    room = 1 + FLOATING
    return FuzzResult(mechanism.name, str(mechanism.unit), worst / room, pairs, 0.0, mixed)


def _lost(mechanism: Any, one: PeopleGaze, other: PeopleGaze, facts: GazeDesignFacts) -> float:
    """What both answers lose, as a share of what is stated."""
    lost, part = 0.0, mechanism.box_part(facts)
    if part is not None:
        numbers = [mechanism.asked_of_box(each, facts) for each in (one, other)]
        lost += float(part.lost(*numbers))
    if mechanism.maps(facts) is not None:
        places = [mechanism.asked_of_maps(each, facts) for each in (one, other)]
        lost += float(np.abs(places[0] - places[1]).sum() / SCALE)
    return lost / float(mechanism.cost(facts, mechanism.unit).epsilon)


def _by_order(
    mechanism: Any, people: PeopleGaze, facts: GazeDesignFacts, rng: np.random.Generator
) -> int:
    """Whether something else is measured when people stand in another order."""
    again = people.some(rng.permutation(people.people))
    for asked in (mechanism.asked_of_box, mechanism.asked_of_maps):
        one, other = asked(people, facts), asked(again, facts)
        if one is not None and not np.array_equal(one, other):
            return 1
    return 0


def examine_gaze(mechanism: Any, noise: Randomness, declared: Any = None) -> ResidualResult:
    """Measure a known study many times and look at the noise of both answers.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose noise it should have; the mechanism itself by default.
    """
    declared = declared or mechanism
    facts = facts_for(_MOST_PEOPLE)
    people = people_for(declared, _MOST_PEOPLE, np.random.default_rng(_SEED))
    answers = [mechanism.measure(people, facts, noise) for _ in range(_MEASURED)]
    found = []
    if (part := declared.box_part(facts)) is not None:
        left = np.array([each.numbers[0] for each in answers], dtype=np.float64)
        left -= declared.asked_of_box(people, facts)
        found.append(judged(mechanism, left, part.distribution))
    if (maps := declared.maps(facts)) is not None:
        left = np.array([each.places[0] for each in answers], dtype=np.float64)
        left -= declared.asked_of_maps(people, facts)
        found.append(judged(mechanism, left, maps.noise(declared.map_facts(facts))))
    return replace(
        found[0],
        draws=sum(each.draws for each in found),
        missing=sum(each.missing for each in found),
        repeated=max(each.repeated for each in found),
        spread=max(each.spread for each in found),
        low_bits_p=min(each.low_bits_p for each in found),
    )


def compare_gaze(mechanism: Any, declared: Any = None) -> OutputResult:
    """Whether recordings are what follows from answers under noise, and from nothing else.

    Args:
        mechanism: to look at.
        declared: how answers get their noise and recordings are drawn; itself by default.
    """
    declared = declared or mechanism
    facts = facts_for(_MOST_PEOPLE)
    people = people_for(declared, _MOST_PEOPLE, np.random.default_rng(_SEED))
    data, events = mechanism.apply(people, facts, randomness(_SEED))
    noise = randomness(_SEED)
    numbers, places = declared.asked_of_box(people, facts), declared.asked_of_maps(people, facts)
    answers = declared.measure(people, facts, noise)
    wanted, of_events = declared.presented(answers, facts, entropy_of(noise))
    shown = mechanism.measure(people, facts, randomness(_SEED))
    bare = sum(
        int((one == asked).sum())
        for one, asked in (
            *zip(shown.numbers, [numbers], strict=False),
            *zip(shown.places, [places], strict=False),
        )
    )
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=data.height,
        same=bool(data.equals(wanted) and events.equals(of_events)),
        inside=data.height,
        bare=bare,
    )


# Groups.


def play_gaze_groups(
    mechanism: Any, noise: Randomness, releases: int = RELEASES
) -> list[GameResult]:
    """Draw groups again and again: are they large enough, and who of them is guessed?

    The attacker has everybody's numbers and those that a group's recordings are drawn after, finds
    the smallest group that these are the sums of, and names one of its members.

    Args:
        mechanism: with its parameters.
        noise: its randomness.
        releases: how many.
    """
    people_count = 2 * mechanism.k + 1
    facts = facts_for(people_count)
    people = people_for(mechanism, people_count, np.random.default_rng(_SEED))
    right: Counter[str] = Counter()
    before = None
    for _ in range(releases):
        member = mechanism.partition(people_count, noise)
        answers = mechanism.averaged(people, facts, member)
        sizes = np.bincount(member)
        right["small"] += bool(sizes.min() < mechanism.k or list(answers.sizes) != sizes.tolist())
        right["seat"] += bool(sizes[member[0]] == sizes.max() and sizes.min() < sizes.max())
        smallest = np.flatnonzero(member == int(sizes.argmin()))
        drawn = (noise.words(2 * GUESSES) % np.uint64(smallest.size)).reshape(2, -1)
        right["guess"] += int((drawn[0] == drawn[1]).sum())
        together = member[:, None] == member
        right["again"] += before is not None and bool(np.array_equal(together, before))
        before = together
    sound = group_sizes(people_count, mechanism.k)
    games = (
        ("identification", 1 / mechanism.k, GUESSES, "guess", "one of the smallest group"),
        ("size", 0.0, 1, "small", "fewer than k people in a group"),
        ("seats", max(sound) / people_count, 1, "seat", "the first person in the larger group"),
        ("together", 0.05, 1, "again", "everybody as the time before"),
    )
    return [
        GameResult(
            mechanism=mechanism.name,
            unit=str(mechanism.unit),
            calibrated_for=str(mechanism.unit),
            measure=measure,
            claimed=claimed,
            lower_bound=float(clopper_pearson(right[what], each * releases, ALPHA / len(games))[0]),
            runs=each * releases,
            neighbours=how,
            holds=mechanism.claims_to_hold,
        )
        for measure, claimed, each, what, how in games
    ]


def same_for_members(mechanism: Any, declared: Any = None) -> OutputResult:
    """Whether recordings stay the same, to the last bit, when members of a group change places.

    People stand in another order, and so do their places in groups, so that every group has the
    same members. Nothing of this may show. Nor may any person's gaze move others to another group.

    Args:
        mechanism: to look at.
        declared: how recordings follow from sums; the mechanism itself by default.
    """
    declared = declared or mechanism
    count = 2 * mechanism.k + 1
    facts, rng = facts_for(count), np.random.default_rng(_SEED)
    people = people_for(declared, count, rng)
    noise = randomness(_SEED)
    data, events = mechanism.apply(people, facts, noise)
    noise = randomness(_SEED)
    member = declared.partition(count, noise)
    entropy = entropy_of(noise)
    # Everybody's place is taken by another member of the same group.
    order = np.empty(count, dtype=np.intp)
    for group in range(member.max() + 1):
        mine = np.flatnonzero(member == group)
        order[mine] = np.roll(mine, 1)
    again = people.some(order)
    wanted = declared.presented(declared.averaged(again, facts, member), facts, entropy)
    others = mechanism.apply(again, facts, randomness(_SEED))
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=data.height,
        same=bool(
            data.equals(wanted[0])
            and events.equals(wanted[1])
            and data.equals(others[0])
            and events.equals(others[1])
        ),
        inside=data.height,
        bare=0,
    )


# Mutants.


def _by_fuzz(mutant: Any, _sound: Any, _runs: int, _noise: Randomness) -> bool:
    return fuzz_gaze(mutant, _FEW_PAIRS).refuted


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
    ("offset of a member", {"apply": _named_by_a_member}, _by_members),
    ("length from data", {"apply": _length_of_data}, _by_members),
)
