"""Are synthetic recordings what they claim: fuzz, noise, the whole output, groups, and mutants.

Neighbours are whole small studies, in which a person with hostile numbers is replaced, and what
both answers lose together is held against what is stated. The whole way to the recordings is looked
at as well: they must be what follows from the answers, from public facts and from randomness that
is the same, to the last bit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from eyelid.attacks.one_run import one_run
from eyelid.attacks.residuals import ResidualResult, judged, together
from eyelid.mechanisms.differential import SCALE
from eyelid.mechanisms.gaze.facts import GazeDesignFacts, GazeForm
from eyelid.mechanisms.gaze.gaze_mechanism import entropy_of
from eyelid.mechanisms.gaze.people import PeopleGaze
from eyelid.mechanisms.gaze.planning import AUTO, NORM, SCREEN, STIMULUS
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.canaries import ALPHA as BOUND_ALPHA
from eyelid.verification.canaries import CanaryRun
from eyelid.verification.game import ALPHA, GameResult, of_guesses
from eyelid.verification.outputs import OutputResult
from eyelid.verification.sensitivity import FLOATING, FuzzResult, hostile

_MOST_PEOPLE = 6
_MEASURED = 4_000
_SEED = 0
_PARAMETERS = ("fixation_ms", "rightward_share")
_SLOTS = (("look", "one"), ("look", "two"), ("read", "one"))
RELEASES = 200
CANARIES = 1_000
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
    return together(found)


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


def play_gaze_canaries(mechanism: Any, noise: Randomness, people: int = CANARIES) -> CanaryRun:
    """Measure many people once who look at one of two cells of their own, by the toss of a coin.

    The attacker knows both cells of everybody and guesses all coins from the noisy map, which is
    all of it that recordings are drawn after.

    Args:
        mechanism: to look at; for canaries all of its ε is for one map with a cell for each coin.
        noise: its randomness.
        people: how many canaries.
    """
    changes = {"means": NORM, "spreads": AUTO, "places": SCREEN, "share": None, "cells": 2 * people}
    made = replace(mechanism, **changes)
    facts = facts_for(people)
    cells = made.bought(facts).grid.cells
    rng = np.random.default_rng(noise.words(1).tolist())
    place = rng.permutation(cells)[: 2 * people].reshape(2, people)
    coins = rng.random(people) < 0.5
    looks = np.zeros((people, len(facts.slots), cells))
    looks[np.arange(people), :, np.where(coins, place[1], place[0])] = 1.0
    values = np.full((people, len(facts.tasks), len(facts.measurable)), np.nan)
    (noisy,) = made.measure(PeopleGaze(values, looks), facts, noise).places
    scores = (noisy[place[1]] - noisy[place[0]]).astype(np.float64)
    claim = mechanism.cost(facts, PERSON)
    run = one_run(scores, coins, claim, bound_alpha=BOUND_ALPHA)
    return CanaryRun(mechanism.name, str(PERSON), run, f"one map of {cells} cells")


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
        of_guesses(
            mechanism,
            measure,
            claimed,
            right=right[what],
            runs=each * releases,
            alpha=ALPHA / len(games),
            neighbours=how,
        )
        for measure, claimed, each, what, how in games
    ]


def same_for_members(mechanism: Any, declared: Any = None) -> OutputResult:
    """Whether recordings stay the same, to the last bit, when members of a group change places.

    People stand in another order, and so do their places in groups, so that every group has the
    same members. Nothing of this may show. Nor may any person's gaze move others to another group.
    What one person alone has may not show either (`shows_one_alone`).

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
            not shows_one_alone(mechanism)
            and data.equals(wanted[0])
            and events.equals(wanted[1])
            and data.equals(others[0])
            and events.equals(others[1])
        ),
        inside=data.height,
        bare=0,
    )


def shows_one_alone(mechanism: Any) -> bool:
    """Whether what one member of a group alone has goes into what the group is drawn after.

    One person alone has a task, and has looked at a stimulus of another: whatever these are like,
    the numbers of the group must stay the same.

    Args:
        mechanism: to look at.
    """
    count = 2 * mechanism.k + 1
    facts, rng = facts_for(count), np.random.default_rng(_SEED)
    places = mechanism.bought(facts).places
    values = np.empty((count, len(facts.tasks), len(facts.measurable)))
    for number, one in enumerate(facts.parameters):
        values[..., number] = rng.uniform(one.lower, one.upper, values.shape[:2])
    looks = rng.random((count, len(facts.slots), _cells(mechanism, facts)))
    rare = facts.tasks[-1]
    # A map of a whole task, or of the screen, is what all have who have any of it.
    seen_by_one = [
        number
        for number, (task, stimulus) in enumerate(facts.slots)
        if (places == STIMULUS and stimulus == "two") or (places != SCREEN and task == rare)
    ]
    values[1:, -1], looks[1:, seen_by_one] = np.nan, 0.0
    other = PeopleGaze(values.copy(), looks.copy())
    other.values[0, -1] = [one.upper for one in facts.parameters]
    other.looks[0, seen_by_one] = np.eye(looks.shape[2])[0]
    member = mechanism.partition(count, randomness(_SEED))
    one, changed = (
        mechanism.averaged(each, facts, member).to_dict()
        for each in (PeopleGaze(values, looks), other)
    )
    return bool(one != changed)
