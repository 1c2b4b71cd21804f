"""Filters against their claims, with many runs, and every planted misprint and fault in them."""

from __future__ import annotations

import json

import numpy as np

from eyelid.mechanisms import catalogue
from eyelid.mechanisms.streams.filter import Filter
from eyelid.privacy.noise import SystemRandomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.families import FAMILIES, mutants_of
from eyelid.verification.game import play
from proofs.result import Effort, Result, progress

# What the worst neighbours known can lose, as a share of ε, and how much of that games should find.
LOST = {"kaleido": 0.75, "bd": 0.75, "uniform": 1.0, "sample": 1.0, "ba": 1.0, "fixations": 0.55}
FOUND = 0.7


def prove(effort: Effort) -> Result:
    """Every filter stands, nearly all that it can lose is found, every fault is caught."""
    noise = SystemRandomness()
    figures: dict[str, object] = {"runs_per_side": effort.runs}
    refuted, weak, missed = [], [], []
    for name, kind in catalogue().items():
        examine = FAMILIES[kind.family].streams if kind.family else None
        variants = list(kind.set_for_games()) if examine else []
        for mechanism in variants:
            seen = examine(mechanism, noise)
            games = [play(mechanism, unit, effort.runs, noise) for unit in (mechanism.unit, PERSON)]
            if seen.refuted or any(game.refuted for game in games):
                refuted.append(f"{name}, {mechanism.unit}")
            told = {
                "claimed": [game.claimed for game in games],
                "certified": [game.lower_bound for game in games],
                "window": seen.window,
                "reached": seen.reached,
            }
            figures[f"{name}, {mechanism.unit}"] = told
            progress(f"stream_games: {name}, {mechanism.unit}: {json.dumps(told)}")
            if (
                mechanism is variants[0]
                and games[0].lower_bound < FOUND * LOST[name] * mechanism.epsilon
            ):
                weak.append(name)
        if variants:
            if kind.family == "filters" and not _compiled_runs_are_the_same(variants[0]):
                refuted.append(f"{name}, compiled")
            for fault in mutants_of(kind):
                caught = fault.caught(effort.runs, noise)
                progress(
                    f"stream_games: {fault.name} in {name}: {'caught' if caught else 'MISSED'}"
                )
                missed += [] if caught else [f"{fault.name} in {name}"]
    figures |= {"refuted": refuted, "weak": weak, "missed": missed}
    target = f"none refuted, {FOUND:.0%} of what can be lost certified, every planted fault caught"
    return Result(figures, target, not (refuted or weak or missed))


def _compiled_runs_are_the_same(mechanism: Filter) -> bool:
    """Whether games play against the very filter: its kernel, run after run, not compiled."""
    (pair,) = mechanism.neighbour_pairs(mechanism.unit)
    many = 200_000
    few = 1_000
    first = mechanism.play(pair.one, pair.facts, many, randomness(7))[:few]
    return np.array_equal(first, mechanism.play(pair.one, pair.facts, few, randomness(7)))
