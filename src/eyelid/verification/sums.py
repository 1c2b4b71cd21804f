"""Is the noise of a sum over people everywhere, fresh and whole, and is nothing else shown?

The same questions that `residuals` and `outputs` ask of tables of features: known counts are
measured twice, what is left without them must be draws of the declared distribution, and what is
shown must be the noisy sums over the public number of people, to the last bit. Then the mutants of
sums, of maps and of tables of areas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eyelid.attacks.override import sound_of
from eyelid.attacks.residuals import ResidualResult, judged
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.differential import Integers, noise_of
from eyelid.mechanisms.maps.map_mechanism import MapFacts, cleaned
from eyelid.mechanisms.maps.noisy_sum import BLOCK
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import Unit
from eyelid.verification.mutant import (
    COARSE,
    KEEN,
    ON_TOP,
    SEEDED_ANEW,
    Mutant,
    Row,
    by_fuzz,
    by_game,
    by_noise,
    by_output,
    by_short_fuzz,
    less_noise,
    planted,
)
from eyelid.verification.outputs import OutputResult

# More people than are summed up at once.
_PEOPLE, _LOOKS = 5_000, 4
_LAYERS, _CELLS = 4, 10_000
_SEED = 0
# What no count can be, and must be taken for one all the same.
_HOSTILE = (np.nan, np.inf, -np.inf, -5.0, 1e300)
# Of the noise's scale: about as rare as this number says.
_NEXT_TO_NOTHING = 1e-6


def examine_sum(mechanism: Any, noise: Randomness, declared: Any = None) -> ResidualResult:
    """Measure known counts twice and look at the noise.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose noise and grid it should have; the mechanism itself by default.
    """
    mechanism, declared = _with_one_choice(mechanism), _with_one_choice(declared or mechanism)
    counts, facts = known_to(declared)
    declared = declared.settled(counts, facts, noise)
    truth = declared.total(counts, facts)
    left = []
    for _ in range(2):
        means = mechanism.measure(counts, facts, noise).reshape(-1)
        steps = declared.undivided(means, facts) - truth
        left.append(np.rint(steps).reshape(facts.recordings, -1))
    # Layers are the positions whose spread is looked at.
    return judged(mechanism, np.concatenate(left, axis=1).T, declared.noise(facts))


def compare_sum(mechanism: Any, declared: Any = None) -> OutputResult:
    """Look whether what is shown is the noisy sum divided, and nowhere the sum itself.

    Args:
        mechanism: to look at.
        declared: how sums should be shown; the mechanism itself by default.
    """
    mechanism, declared = _with_one_choice(mechanism), _with_one_choice(declared or mechanism)
    counts, facts = known_to(declared)
    shown = mechanism.measure(counts, facts, randomness(_SEED))
    same_noise = randomness(_SEED)
    settled = mechanism.settled(counts, facts, same_noise)
    declared = declared.settled(counts, facts, randomness(_SEED))
    total = declared.total(counts, facts)
    wanted = declared.divided(settled.perturb(total, facts, same_noise), facts)
    bare = declared.divided(total, facts)
    apart = declared.undivided((shown - bare).reshape(-1), facts)
    still = np.abs(apart) <= _NEXT_TO_NOTHING * declared.noise(facts).scale
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=shown.size,
        same=bool(np.array_equal(shown, wanted)),
        inside=shown.size,
        # So many are this near by chance.
        bare=max(0, int(still.sum()) - 6),
    )


def _with_one_choice(mechanism: Any) -> Any:
    """Where a cap is chosen, there is one to choose: so that its noise is known."""
    return replace(mechanism, samples=1) if mechanism.chooses else mechanism


def known_to(mechanism: Any) -> tuple[PersonCounts, PublicFacts]:
    """People with different numbers of gaze points, some without any, in a shape that it takes."""
    side = math.isqrt(_CELLS)
    facts: PublicFacts = MapFacts.of(_PEOPLE, _LAYERS, Grid(side, side, side, side))
    if mechanism.release is ReleaseKind.TABLES:
        # So many draws of each layer that their spread is next to Gaussian.
        areas = side if "transitions" in mechanism.names else _CELLS
        facts = mechanism.facts_of(_PEOPLE, _LAYERS, areas)
    rng = np.random.default_rng(_SEED)
    person = np.repeat(np.arange(_PEOPLE), rng.integers(0, _LOOKS, size=_PEOPLE))
    cells = facts.recordings * facts.length
    place = rng.integers(0, cells, size=person.size)
    counts = PersonCounts.added_up(_PEOPLE, cells, person, place)
    counts.count[: len(_HOSTILE)] = _HOSTILE
    return counts, facts


# Mutants that every sum can have.


_by_residuals, _by_outputs = by_noise(examine_sum), by_output(compare_sum)


def sum_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Noise that is too small, stale or missing, rounding, and a number of people from the data."""
    return planted(variants[0], _OF_SUMS)


def _rounded_up(self: Any, counts: PersonCounts, facts: PublicFacts) -> Any:
    clean = replace(counts, count=cleaned(counts.count))
    return np.asarray(np.ceil(self.limited(clean, facts) / self.step(facts)), dtype=np.int64) + 1


def _understated(self: Any, facts: PublicFacts, unit: Unit) -> Any:
    said: Guarantee = sound_of(self).cost(facts, unit)
    return replace(said, epsilon=0.8 * (said.epsilon or 0.0))


def _uncleaned(self: Any, counts: PersonCounts, facts: PublicFacts) -> Any:
    with np.errstate(invalid="ignore"):
        steps = self.limited(counts, facts) / self.step(facts)
        return np.asarray(np.floor(steps)).astype(np.int64)


def _some_limited(self: Any, counts: PersonCounts, facts: PublicFacts) -> Any:
    limited: Values = sound_of(self).limited(counts, facts)
    # The last block has fewer people than the others.
    return limited if counts.people == BLOCK else 10 * limited


def _by_those_present(
    self: Any, counts: PersonCounts, facts: PublicFacts, noise: Randomness
) -> Any:
    measured: Values = sound_of(self).measure(counts, facts, noise)
    return measured * facts.people / max(1, np.unique(counts.person).size)


def _exact(self: Any, counts: PersonCounts, facts: PublicFacts, _: Randomness) -> Any:
    return self.divided(self.total(counts, facts), facts)


def _same_for_layers(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    draws = noise_of(self, facts).draw((*integers.shape[:-1], facts.length), noise)
    return integers + np.tile(draws, facts.recordings)


def _same_for_cells(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    draws = noise_of(self, facts).draw((*integers.shape[:-1], facts.recordings), noise)
    return integers + np.repeat(draws, facts.length, axis=-1)


def _only_where_looked(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    return integers + np.where(integers, noise_of(self, facts).draw(integers.shape, noise), 0)


_OF_SUMS: tuple[Row, ...] = (
    ("scale × 0.85", less_noise(0.85), by_game),
    ("noise of the mean on the sum", less_noise(1 / 3), by_game),
    ("rounded up, not cut", {"integers": _rounded_up}, by_fuzz),
    ("less stated than is lost", {"cost": _understated}, by_short_fuzz),
    ("counts taken as they come", {"integers": _uncleaned}, _by_outputs),
    ("limits for the first people only", {"limited": _some_limited}, _by_outputs),
    # What a game about one person and few cells cannot see.
    ("noise reused over pictures", {"perturb": _same_for_layers}, _by_residuals),
    ("noise reused over cells", {"perturb": _same_for_cells}, _by_residuals),
    ("generator seeded anew", SEEDED_ANEW, _by_residuals),
    ("low bits without noise", COARSE, _by_residuals),
    ("noise only where a person looked", {"perturb": _only_where_looked}, _by_residuals),
    ("divided by those who looked", {"measure": _by_those_present}, _by_residuals),
    ("no noise", {"measure": _exact}, _by_outputs),
)


# Mutants of maps.


def map_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """What can go wrong with a map: its limits, its noise, its number of people, its choices."""
    first, other, *_ = variants
    yield from planted(first, (*_OF_SUMS, ("missing limit", {"limited": _as_counted}, by_game)))
    # In L1 it makes a difference only where every cell is full.
    yield Mutant("negative counts kept", other, {"query": _with_negatives}, by_short_fuzz)
    yield from planted(first, _OF_MAPS)
    for sound in variants:
        yield from planted(sound, _OF_CHOICES if sound.chooses else ())


def _as_counted(self: Any, counts: PersonCounts, facts: PublicFacts) -> Any:
    return np.minimum(counts.count, 1e6)


def _with_negatives(self: Any, values: Values, facts: PublicFacts) -> Any:
    sign = np.where(np.nan_to_num(values) < 0, -1, 1)
    whole: Integers = sound_of(self).query(np.abs(values), facts)
    return whole * sign


def _each_picture(self: Any, counts: PersonCounts, facts: PublicFacts) -> Any:
    apart = _apart_by_layer(counts, facts)
    order = np.argsort(apart.person, kind="stable")
    entries = {name: getattr(apart, name)[order] for name in ("person", "cell", "count")}
    limited = np.empty(counts.count.size)
    limited[order] = sound_of(self).limited(replace(apart, **entries), facts)
    return limited


def _by_fullest(self: Any, counts: PersonCounts, facts: PublicFacts) -> Any:
    limited: Values = sound_of(self).limited(counts, facts)
    fullest = counts.per_person(limited)
    share = float(fullest[fullest > 0].min(initial=1.0)) / max(1e-9, float(fullest.max()))
    return limited * share


def _apart_by_layer(counts: PersonCounts, facts: PublicFacts) -> PersonCounts:
    """What a person has in another layer, taken for another person's."""
    layers = facts.recordings
    person = counts.person * layers + counts.cell // facts.length
    return replace(counts, people=counts.people * layers, person=person)


def _with_all(self: Any, counts: PersonCounts, facts: PublicFacts, noise: Randomness) -> Any:
    chosen = sound_of(self).settled(counts, facts, noise)
    return replace(chosen, epsilon=5 * self.epsilon)


def _exact_choice(self: Any, counts: PersonCounts, facts: PublicFacts, noise: Randomness) -> Any:
    return _exact(self.settled(counts, facts, noise), counts, facts, noise)


_OF_MAPS: tuple[Row, ...] = (
    (
        "one person's part, not two",
        {"reach": lambda self, facts: sound_of(self).reach(facts) / math.sqrt(2)},
        by_game,
    ),
    ("each picture limited alone", {"limited": _each_picture}, by_game),
    ("scaled by the fullest of all", {"limited": _by_fullest}, by_short_fuzz),
)
_OF_CHOICES: tuple[Row, ...] = (
    ("choice of the cap on top of ε", ON_TOP, by_short_fuzz),
    ("chosen with all of ε again", {"settled": _with_all}, _by_residuals),
    ("no noise after the choice", {"measure": _exact_choice}, _by_outputs),
    ("choice of the cap at 4 × its share", KEEN, by_short_fuzz),
)


# Mutants of tables of areas.


def table_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """What can go wrong with tables: their limits, their noise, their shares of ε.

    Args:
        variants: as set for games: visits alone first, all tables last.
    """
    visits, *_, everything = variants
    yield from planted(visits, _OF_SUMS)
    for of_visits, name, changes, seen in _OF_TABLES:
        yield Mutant(name, visits if of_visits else everything, changes, seen)


def _of_entries(self: Any, counts: PersonCounts, facts: Any, limit: str) -> Any:
    """A limit of each entry's table."""
    limits = self.limits(facts)
    each = np.repeat([float(getattr(one, limit)) for one in limits], [one.cells for one in limits])
    return np.asarray(each[counts.cell % facts.length])


def _visits_as_counted(self: Any, counts: PersonCounts, facts: Any) -> Any:
    return _as_counted(self, counts, facts) / _of_entries(self, counts, facts, "reach")


def _cells_only(self: Any, counts: PersonCounts, facts: Any) -> Any:
    capped = np.minimum(counts.count, _of_entries(self, counts, facts, "most"))
    return np.asarray(capped / _of_entries(self, counts, facts, "reach"))


def _each_layer(self: Any, counts: PersonCounts, facts: Any) -> Any:
    return sound_of(self).limited(_apart_by_layer(counts, facts), facts)


def _by_fullest_table(self: Any, counts: PersonCounts, facts: Any) -> Any:
    most = float(self.visits)
    capped = np.minimum(counts.count, most)
    fullest = counts.per_person(capped).max(initial=most)
    return np.asarray(capped * (most / fullest) / _of_entries(self, counts, facts, "reach"))


def _add_remove(self: Any, layers: int, areas: int) -> Any:
    return [replace(each, reach=each.total) for each in sound_of(self).limits_of(layers, areas)]


def _dwell_only(self: Any, integers: Integers, facts: Any, noise: Randomness) -> Any:
    draws = noise_of(self, facts).draw(integers.shape, noise)
    draws[..., np.arange(integers.shape[-1]) % facts.length > facts.areas] = 0
    return integers + draws


# Whether it is about visits alone, and a row as of all mutants.
_OF_TABLES: tuple[tuple[bool, *Row], ...] = (
    (True, "visits without a limit", {"limited": _visits_as_counted}, by_game),
    (False, "each table given the whole of ε", {"reach": lambda self, facts: 1.0}, by_game),
    (True, "counted as a person more or less", {"limits_of": _add_remove}, by_game),
    (False, "noise on dwell only", {"perturb": _dwell_only}, by_game),
    (False, "a limit for cells, none for tables", {"limited": _cells_only}, by_short_fuzz),
    (False, "each layer limited alone", {"limited": _each_layer}, by_short_fuzz),
    (True, "scaled by the fullest of all", {"limited": _by_fullest_table}, by_short_fuzz),
    (True, "negative counts kept", {"query": _with_negatives}, by_fuzz),
)
