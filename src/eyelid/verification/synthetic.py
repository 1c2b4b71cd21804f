"""Do the rounds of `synthetic` fit into its claim, is their noise fresh, and is nothing else used?

The games play against all rounds at once, with few people and worst cases thought of beforehand.
Here the rounds are searched for neighbours, after whatever answers; their noise is looked at
together; and whatever is asked and shown must stay as it is when people change and noisy answers do
not. Then the mutants: in what people count, what is asked, what is paid and what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.override import override, sound_of
from eyelid.attacks.residuals import ResidualResult, judged
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.differential import Integers, noise_of
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.capacity import EVERY_PAIR
from eyelid.mechanisms.synthetic.estimates import halves, quarters
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.rounds import Lookup, Round, signs_of
from eyelid.mechanisms.synthetic.sequences import BEND, LENGTH_BINS, Sequences
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.gaussian import gaussian_epsilon
from eyelid.privacy.noise import Randomness, SystemRandomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.canaries import play_canaries
from eyelid.verification.mutant import (
    COARSE,
    Changes,
    Mutant,
    by_noise,
    by_output,
    by_short_fuzz,
    by_short_game,
    less_noise,
    mutants,
    reused_noise,
)
from eyelid.verification.outputs import OutputResult
from eyelid.verification.sensitivity import FLOATING, FuzzResult, hostile

_FEW_PAIRS, _FEW_CANARIES = 1_024, 500
# Runs cost more here than elsewhere, and few are enough.
_by_game = by_short_game(4_000)
# Far from anything that noise does to a likelihood.
_IMPOSSIBLE = -1e6

_BATCH = 256
_PEOPLE, _TASKS, _ROWS, _FEATURES = 40, 2, 9, 5
_RUNS = 1_000
_SEED = 0
# Bins of lengths that are not too long to be made up in no time.
_SHORT = 12


def fuzz_rounds(mechanism: Synthetic, pairs: int, declared: Synthetic | None = None) -> FuzzResult:
    """Replace people by others, in all rounds at once, after whatever noisy answers.

    Args:
        mechanism: to search.
        pairs: how many people are replaced.
        declared: whose claim is on trial; the mechanism's own by default.
    """
    rng = np.random.default_rng(_SEED)
    reached, whole, mixed, tried = 0.0, 0.0, 0, 0
    while tried < pairs:
        tasks, rows, features = (int(many) for many in rng.integers(1, 4, size=3))
        small = replace(mechanism, carry=features, records=rows)
        facts = PublicFacts(_PEOPLE, tasks, rows, features, window=1)
        claim = replace(declared or mechanism, carry=features, records=rows).cost(facts, PERSON)
        measurement = small.measurement(facts)
        batch = min(_BATCH, pairs - tried)
        one, other = (hostile(rng, (batch, tasks, rows, features)) for _ in range(2))
        ends = rng.random(batch) < 0.5
        one[ends], other[ends] = -rng.random(), 1 + rng.random()
        squares, most = np.zeros(batch), 0.0
        for each in measurement.rounds:
            lookup = each.any_lookup(facts, rng)
            seen = [
                each.counted(each.sequences(people, facts), facts, lookup)
                for people in (one, other)
            ]
            alone = each.counted(each.sequences(one[:1], facts), facts, lookup)
            mixed += not np.array_equal(seen[0][:1], alone)
            scale = noise_of(each, facts).scale
            squares += (each.distance(seen[0] - seen[1]) / scale) ** 2
            most += (each.sensitivity(facts, PERSON) / scale) ** 2
        mu, epsilon = claim.mu or 0.0, claim.epsilon or 0.0
        reached = max(reached, math.sqrt(squares.max()) / mu)
        lost = gaussian_epsilon(math.sqrt(most), claim.delta or 0.0, claim.slack)
        whole = max(whole, math.sqrt(most) / mu, lost / epsilon)
        tried += batch
    room = 1 + FLOATING
    return FuzzResult(mechanism.name, str(PERSON), reached / room, tried, whole / room, mixed)


def examine_rounds(
    mechanism: Synthetic, noise: Randomness, declared: Synthetic | None = None
) -> ResidualResult:
    """Measure known people many times and look at the noise of all rounds together.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: what should be measured of them; the mechanism itself by default.
    """
    table = _people(_SEED)
    small = replace(mechanism, carry=_FEATURES)
    sound = replace(declared or mechanism, carry=_FEATURES)
    facts, (_, sequences) = sound.facts(table), sound.sequences(table)
    tree = range(-1, _FEATURES - 1)
    answers = small.measurement(facts).measured(small.sequences(table)[1], tree, noise, (_RUNS,))
    measurement = sound.measurement(facts)
    left = [each for _, each in measurement.residuals(answers, sequences)]
    residuals = np.concatenate(left, axis=1).astype(np.float64)
    return judged(mechanism, residuals, noise_of(measurement.levels, measurement.facts))


def compare_made_up(mechanism: Synthetic) -> OutputResult:
    """Make people up from the same noisy answers about two different studies.

    What is asked, and all that is shown, must be the same, and nobody's row among it.
    """
    small = replace(mechanism, carry=_FEATURES, by="team")
    asked: list[list[Any]] = []
    shown = []
    for seed in range(2):
        asked.append([])
        shown.append(_with_fixed_answers(small, asked[-1]).apply(_people(seed), randomness(_SEED)))
    originals = pl.concat([_people(seed).data.select(_people(seed).names) for seed in range(2)])
    made = shown[0].data.select(originals.columns)
    bare = made.join(originals.unique(), on=originals.columns, how="semi")
    questions = zip(*asked, strict=False)
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=made.width * made.height,
        same=len(asked[0]) == len(asked[1])
        and all(np.array_equal(one, other) for one, other in questions)
        and shown[0].data.equals(shown[1].data)
        and shown[0].people.equals(shown[1].people)
        and shown[0].features == shown[1].features,
        inside=made.width * made.height,
        bare=bare.width * bare.height,
    )


def _with_fixed_answers(mechanism: Synthetic, asked: list[Any]) -> Synthetic:
    """A measurement with answers that depend on no person, and all questions written down."""

    def measurement(self: Synthetic, facts: PublicFacts) -> Any:
        made = type(mechanism).measurement(self, facts)
        fixed = {
            name: part
            and override(part, {"perturb": _nothing_but_noise, "total": _written(part, asked)})
            for name, part in vars(made).items()
            if name != "facts"
        }
        return replace(made, **fixed)

    quiet: Synthetic = override(mechanism, {"measurement": measurement})
    return quiet


def _nothing_but_noise(
    self: Round, integers: Integers, facts: PublicFacts, noise: Randomness
) -> Any:
    # So large that quarters, halves and trees follow from it.
    draws = _PEOPLE * noise_of(self, facts).draw(integers.shape, randomness(_SEED))
    if self.with_lengths:
        lengths = draws.shape[-1] - facts.recordings * LENGTH_BINS
        by_length = draws[..., lengths:].reshape(*draws.shape[:-1], -1, LENGTH_BINS)
        by_length[..., _SHORT:] = 0
        draws[..., lengths:] = by_length.reshape(*draws.shape[:-1], -1)
    return draws


def _written(part: Round, asked: list[Any]) -> Callable[..., Integers]:
    def total(self: Round, sequences: Any, facts: PublicFacts, lookup: Lookup | None = None) -> Any:
        asked.append(None if lookup is None else np.array(lookup))
        asked.append(self.parents)
        return type(part).total(self, sequences, facts, lookup)

    return total


def _people(seed: int) -> FeatureTable:
    """A study of two teams: who has which rows and values is not public, and depends on the seed.

    In each, other features go together; in one values are large and rows are few.
    """
    rng = np.random.default_rng(seed)
    values = rng.random((_PEOPLE, _TASKS, _ROWS, _FEATURES)) ** (1 + 2 * seed)
    values[..., 1 + seed] = values[..., 0]
    values[rng.random(values.shape) < 0.05] = np.nan
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(_FEATURES)]
    table = table_from_arrays(values, features, step_ms=1.0)
    rows = np.where(rng.random((_PEOPLE, _TASKS)) < 0.2, 0, rng.integers(1, 4 + 5 * seed, _TASKS))
    rows[:, 0] = np.maximum(rows[:, 0], 1)
    there = np.arange(_ROWS) < rows[..., None]
    team = pl.Series("team", np.resize(["a", "b"], _PEOPLE))
    return replace(
        table,
        data=table.data.filter(there.ravel()),
        people=table.people.with_columns(team),
    )


# Mutants.

_ROUNDS = ("levels", "shares", "choice", "signs")
_A_PERSON: Changes = {"each": lambda self, facts, terms: self.whole(facts)}


def synthetic_mutants(variants: Sequence[Synthetic]) -> Iterator[Mutant]:
    """Mutants of the whole, by what catches them, and of single rounds."""
    plain, choosing = variants[0], variants[-1]
    yield from mutants(plain, _by_game, _PLAYED)
    yield from mutants(choosing, _by_game, _PLAYED_CHOOSING)
    yield Mutant("choice of the tree not paid for", choosing, {"measurement": _unpaid}, _by_fuzz)
    of_people = next(one for one in variants if one.pairs == EVERY_PAIR)
    yield from mutants(of_people, _by_game, _PLAYED_OF_PEOPLE)
    for name, change in _UNPAID_OF_PEOPLE.items():
        yield Mutant(name, of_people, change, _by_fuzz)
    yield from mutants(of_people, by_output(lambda mutant, _: compare_made_up(mutant)), _SHOWN_ALL)
    yield Mutant("shares of μ² above 1", plain, {"measurement": _all_of_it}, _by_fuzz)
    name = "ε of a row, seen by canaries"
    yield Mutant(name, replace(plain, epsilon=2.0), each_row_a_person(), _by_canaries)
    yield from mutants(choosing, by_noise(examine_rounds), _STALE)
    yield from mutants(choosing, by_output(lambda mutant, _: compare_made_up(mutant)), _SHOWN)
    for part in plain.parts():
        yield Mutant("a third of the noise", part, less_noise(1 / 3), _by_game)
        yield Mutant("a row counted as a person", part, _A_PERSON, by_short_fuzz)
        yield Mutant("bins by the data", part, {"sequences": _binned_by_the_data}, by_short_fuzz)


def _by_fuzz(mutant: Any, sound: Synthetic, _runs: int, _noise: Randomness) -> bool:
    return fuzz_rounds(mutant, _FEW_PAIRS, declared=sound).refuted


def _by_canaries(mutant: Any, sound: Synthetic, _: int, noise: Randomness) -> bool:
    return play_canaries(mutant, noise, _FEW_CANARIES, declared=sound).refuted


def each_row_a_person() -> Changes:
    """Weights that are not divided by a person's rows: the ε of a row, sold as a person's."""
    return _in_rounds(_A_PERSON)


def _measuring(change: Callable[[Measurement], Measurement]) -> Changes:
    """A measurement to which something is done."""

    def measurement(self: Synthetic, facts: PublicFacts) -> Any:
        return change(sound_of(self).measurement(facts))

    return {"measurement": measurement}


def _in_rounds(changes: Changes, only: Sequence[str] = _ROUNDS) -> Changes:
    """Rounds with methods replaced, of those that there are."""

    def changed(made: Measurement) -> Measurement:
        there = {name: getattr(made, name) for name in only if getattr(made, name)}
        return replace(made, **{name: override(part, changes) for name, part in there.items()})

    return _measuring(changed)


def _in_measurement(changes: Changes) -> Changes:
    return _measuring(lambda made: override(made, changes))


def _by_the_data(self: Synthetic, table: FeatureTable) -> Any:
    names = [table.names[place] for place in self.chosen(table)]
    values = table.data.select(names).to_numpy()
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    return Bins(low, high, self.bins_for(self.facts(table)), BEND)


def _binned_by_the_data(self: Round, values: Values, facts: PublicFacts) -> Any:
    finite = np.where(np.isfinite(values), values, 0.5)
    low, high = finite.min(), finite.max()
    return sound_of(self).sequences((values - low) / max(high - low, 1e-9), facts)


def _every_row(
    self: Round, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
) -> Any:
    times = np.maximum(1, sequences.lengths.max(axis=1) // facts.length)
    return sound_of(self).counted(sequences, facts, lookup) * times[:, None]


def _by_rows(
    self: Any, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
) -> Any:
    found: Integers = sound_of(self).counted(sequences, facts, lookup)
    lengths = found.shape[-1] - facts.recordings * LENGTH_BINS
    times = np.repeat(np.maximum(1, sequences.lengths), LENGTH_BINS, axis=1)
    return np.concatenate([found[..., :lengths], found[..., lengths:] * times], axis=-1)


def _bare_lengths(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    draws = noise_of(self, facts).draw(integers.shape, noise)
    draws[..., draws.shape[-1] - facts.recordings * LENGTH_BINS :] = 0
    return integers + draws


def _exact_tree(self: Measurement, answers: Answers, sequences: Sequences) -> Any:
    assert self.choice is not None
    by_half = self.halves(answers.levels, answers.shares)
    return by_half, self.trees(self.choice.total(sequences, self.facts, by_half))


def _measured_along_it(
    self: Measurement,
    sequences: Sequences,
    tree: Any,
    noise: Randomness,
    runs: tuple[int, ...] = (),
) -> Any:
    found = sound_of(self).measured(sequences, tree, noise, runs)
    by_half, parents = _exact_tree(self, found, sequences)
    along = self.along(sequences, parents, by_half)
    signs = self.signs.perturb(along, self.facts, noise)
    return replace(found, parents=parents, signs=signs)


def _log_mass_of_its_tree(self: Measurement, answers: Answers, sequences: Sequences) -> Any:
    _, parents = _exact_tree(self, answers, sequences)
    agree = (answers.parents == parents).all(axis=-1)
    found = sound_of(self).log_mass(answers, sequences)
    return np.where(agree, found, found + _IMPOSSIBLE)


_EXACT_TREE: Changes = {"measured": _measured_along_it, "log_mass": _log_mass_of_its_tree}


def _exact_distribution(self: Measurement, sequences: Sequences) -> Any:
    return self.overall(self.levels.total(sequences, self.facts))


def _knowing(lookups: Callable[[Measurement, Sequences], Changes]) -> Changes:
    """Measured, and judged, with lookups made of the very people."""

    def measured(self: Measurement, sequences: Sequences, *rest: Any) -> Any:
        return Measurement.measured(override(self, lookups(self, sequences)), sequences, *rest)

    def log_mass(self: Measurement, answers: Answers, sequences: Sequences) -> Any:
        return Measurement.log_mass(override(self, lookups(self, sequences)), answers, sequences)

    return {"measured": measured, "log_mass": log_mass}


def _exact_quarters(self: Measurement, sequences: Sequences) -> Any:
    found = quarters(_exact_distribution(self, sequences), self.shares.pieces)

    def looked_up(_: Measurement, levels: Integers) -> Lookup:
        return np.broadcast_to(found, (*levels.shape[:-1], *found.shape))

    return {"quarters": looked_up}


def _exact_halves(self: Measurement, sequences: Sequences) -> Any:
    found = halves(_exact_distribution(self, sequences))

    def looked_up(_: Measurement, __: Integers, shares: Integers) -> Lookup:
        return np.broadcast_to(found, (*shares.shape[:-1], self.facts.recordings, *found.shape))

    return {"halves": looked_up}


_EXACT_QUARTERS, _EXACT_HALVES = _knowing(_exact_quarters), _knowing(_exact_halves)


def _unpaid(self: Synthetic, facts: PublicFacts) -> Any:
    made = sound_of(self).measurement(facts)
    without = sound_of(replace(self, pairs="public")).measurement(facts)
    return replace(without, choice=made.choice)


def _unpaid_round(name: str) -> Changes:
    """All rounds but one share what there is, as if that one cost nothing."""

    def measurement(self: Synthetic, facts: PublicFacts) -> Any:
        made = sound_of(self).measurement(facts)
        free = getattr(made, name)
        if free is None:
            return made
        paid = {other: getattr(made, other) for other in _ROUNDS if other != name}
        room = 1 / (1 - free.share)
        return replace(
            made,
            **{
                each: part and replace(part, share=part.share * room) for each, part in paid.items()
            },
        )

    return {"measurement": measurement}


def _as_a_sum(
    self: Round, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
) -> Any:
    # What people are, from −U to U, as if it were a square from 0 to U.
    signs = signs_of(sequences, sequences.codes[..., :1, :], lookup)
    sums = signs.sum(axis=(-4, -3, -2), dtype=np.int64)
    return sums * self.each(facts, facts.recordings * facts.length)


def _all_of_it(self: Synthetic, facts: PublicFacts) -> Any:
    made = sound_of(self).measurement(facts)
    return replace(made, shares=replace(made.shares, share=made.shares.share + 0.1))


def _as_the_longest(self: Synthetic, table: FeatureTable, noise: Randomness) -> Any:
    longest = int(table.recordings["rows"].to_numpy().max())
    return sound_of(replace(self, rows=longest)).apply(table, noise)


def _with_a_real_row(self: Synthetic, table: FeatureTable, noise: Randomness) -> Any:
    made: FeatureTable = sound_of(self).apply(table, noise)
    real = [pl.lit(table.data[name][0]).alias(name) for name in made.names]
    return replace(made, data=pl.concat([made.data[:1].with_columns(real), made.data[1:]]))


def _one_seed_for_all(self: Synthetic, facts: PublicFacts) -> Any:
    seed = int(SystemRandomness().words(1)[0])

    def perturb(self: Round, integers: Integers, facts: PublicFacts, _: Randomness) -> Integers:
        return integers + noise_of(self, facts).draw(integers.shape, randomness(seed))

    made: Measurement = _in_rounds({"perturb": perturb})["measurement"](self, facts)
    return made


_PLAYED: dict[str, Changes] = {
    "ε of a row sold as a person's": _in_rounds(_A_PERSON),
    "half the noise": _in_rounds(less_noise(0.5)),
    "bins between the extremes of the data": {"bins_of": _by_the_data},
    "no cap on rows": _in_rounds({"counted": _every_row}),
}
_PLAYED_OF_PEOPLE: dict[str, Changes] = {
    "a third of the noise on people whose rows are no signal": _in_rounds(less_noise(1 / 3)),
}
_UNPAID_OF_PEOPLE: dict[str, Changes] = {
    "nested tables paid for as one": _in_rounds(
        {"counted": lambda self, *words: 2 * sound_of(self).counted(*words)}, ["levels"]
    ),
    "likeness of rows not paid for": _unpaid_round("signs"),
    "pairs not paid for": _unpaid_round("choice"),
    "likeness of rows measured as a sum": _in_rounds({"counted": _as_a_sum}, ["signs"]),
}
_PLAYED_CHOOSING: dict[str, Changes] = {
    "tree chosen on exact products": _in_measurement(_EXACT_TREE),
    "a length counts once a row": _in_rounds({"counted": _by_rows}, ["shares"]),
}
# What a likelihood of independent noise cannot see.
_STALE: dict[str, Changes] = {
    "noise reused between rounds": {"measurement": _one_seed_for_all},
    "noise reused over numbers": _in_rounds(reused_noise(-1)),
    "low bits without noise": _in_rounds(COARSE),
    "lengths without noise": _in_rounds({"perturb": _bare_lengths}, ["shares"]),
    "scale × 0.85": _in_rounds(less_noise(0.85)),
}
_SHOWN_ALL: dict[str, Changes] = {
    "eighths of exact counts of people whose rows are no signal": _in_measurement(_EXACT_QUARTERS),
    "a real row among all others": {"apply": _with_a_real_row},
    "bins between the extremes of the data, seen by what is shown": {"bins_of": _by_the_data},
}
# What is asked or shown because of a person's data.
_SHOWN: dict[str, Changes] = {
    "quarters of exact counts, seen by what is asked": _in_measurement(_EXACT_QUARTERS),
    "halves of exact counts": _in_measurement(_EXACT_HALVES),
    "tree chosen on exact products, seen by what is asked": _in_measurement(_EXACT_TREE),
    "as many rows as the longest has": {"apply": _as_the_longest},
    "a person's row among the synthetic": {"apply": _with_a_real_row},
}
