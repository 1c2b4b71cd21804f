"""Planted faults of `synthetic`: in what people count, what is asked, what is paid and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.twins import twin
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.noisy import Integers, noise_of
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.estimates import distribution, halves, quarters
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.rounds import LENGTH_BINS, Lookup, Round, Shares
from eyelid.mechanisms.synthetic.sequences import BEND, Sequences
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import Randomness, SystemRandomness, randomness
from eyelid.verification.canaries import play_canaries
from eyelid.verification.fault import Fault, fuzz_fault, game_fault, less_noise
from eyelid.verification.synthesis import compare_made_up, examine_rounds, fuzz_rounds

_FEW_PAIRS, _FEW_RUNS, _FEW_CANARIES = 1_024, 4_000, 500
# Far from anything that noise does to a likelihood.
_IMPOSSIBLE = -1e6

Changes = dict[str, Any]


def synthetic_faults(variants: list[Synthetic]) -> Iterator[Fault]:
    """Those of the whole, by what catches them, and those of single rounds."""
    plain, choosing = variants[0], variants[-1]
    row_level = each_row_a_person()
    yield _game_fault("ε of a row sold as a person's", plain, row_level)
    yield _game_fault("half the noise", plain, _in_rounds({"perturb": less_noise(0.5)}))
    yield _game_fault("bins between the extremes of the data", plain, {"bins_of": _by_the_data})
    yield _game_fault("no cap on rows", plain, _in_rounds({"counted": _every_row}))
    yield _game_fault("quarters of exact counts", plain, _measuring(_EXACT_QUARTERS))
    yield _game_fault("tree chosen on exact products", choosing, _measuring(_EXACT_TREE))
    yield _game_fault("a length counts once a row", choosing, _in_shares({"counted": _by_rows}))
    yield _fuzz_fault("choice of the tree not paid for", choosing, {"measurement": _unpaid})
    yield _fuzz_fault("shares of μ² above 1", plain, {"measurement": _all_of_it})
    yield _canary_fault("ε of a row, seen by canaries", replace(plain, epsilon=2.0), row_level)
    for name, changes in _STALE.items():
        yield _residual_fault(name, choosing, changes)
    for name, changes in _SEEN.items():
        yield _output_fault(name, choosing, changes)
    for part in plain.parts():
        assert isinstance(part, Round)
        yield _game_fault("a third of the noise", part, {"perturb": less_noise(1 / 3)})
        yield fuzz_fault("a row counted as a person", part, {"each": _as_a_person}, _FEW_PAIRS)
        yield fuzz_fault("bins by the data", part, {"sequences": _binned_by_the_data}, _FEW_PAIRS)


def each_row_a_person() -> Changes:
    """Weights that are not divided by a person's rows: the ε of a row, sold as a person's."""
    return _in_rounds({"each": _as_a_person})


def _in_rounds(changes: Changes, kinds: tuple[type[Round], ...] = (Round,)) -> Changes:
    """All rounds of some kinds with methods replaced."""

    def measurement(self: Synthetic, shape: Shape) -> Measurement:
        made = Synthetic.measurement(self, shape)
        changed = {
            name: twin(law, changes) for name, law in vars(made).items() if isinstance(law, kinds)
        }
        return replace(made, **changed)

    return {"measurement": measurement}


def _in_shares(changes: Changes) -> Changes:
    return _in_rounds(changes, (Shares,))


def _measuring(changes: Changes) -> Changes:
    """A measurement with methods replaced."""

    def measurement(self: Synthetic, shape: Shape) -> Measurement:
        made: Measurement = twin(Synthetic.measurement(self, shape), changes)
        return made

    return {"measurement": measurement}


def _as_a_person(self: Round, shape: Shape, terms: int) -> int:
    return self.whole(shape)


def _by_the_data(self: Synthetic, table: FeatureTable) -> Bins:
    names = [table.names[place] for place in self.chosen(table)]
    values = table.data.select(names).to_numpy()
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    return Bins(low, high, self.bins_for(self.shape(table).people), BEND)


def _binned_by_the_data(self: Round, values: Values, shape: Shape) -> Sequences:
    finite = np.where(np.isfinite(values), values, 0.5)
    low, high = finite.min(), finite.max()
    found: Sequences = _sound(self).sequences((values - low) / max(high - low, 1e-9), shape)
    return found


def _every_row(
    self: Round, sequences: Sequences, shape: Shape, lookup: Lookup | None = None
) -> Integers:
    times = np.maximum(1, sequences.lengths.max(axis=1) // shape.length)
    found: Integers = _sound(self).counted(sequences, shape, lookup) * times[:, None]
    return found


def _sound(broken: Round) -> Any:
    """The round that this is a twin of."""
    return super(type(broken), broken)


def _by_rows(
    self: Shares, sequences: Sequences, shape: Shape, lookup: Lookup | None = None
) -> Integers:
    found = Shares.counted(self, sequences, shape, lookup)
    lengths = found.shape[-1] - shape.recordings * LENGTH_BINS
    times = np.repeat(np.maximum(1, sequences.lengths), LENGTH_BINS, axis=1)
    return np.concatenate([found[..., :lengths], found[..., lengths:] * times], axis=-1)


def _bare_lengths(self: Shares, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    draws[..., draws.shape[-1] - shape.recordings * LENGTH_BINS :] = 0
    return integers + draws


def _exact_tree(
    self: Measurement, answers: Answers, sequences: Sequences
) -> tuple[Lookup, np.ndarray]:
    assert self.choice is not None
    by_half = self.halves(answers.levels, answers.shares)
    return by_half, self.trees(self.choice.total(sequences, self.facts, by_half))


def _measured_along_it(
    self: Measurement,
    sequences: Sequences,
    tree: Any,
    noise: Randomness,
    runs: tuple[int, ...] = (),
) -> Answers:
    found = Measurement.measured(self, sequences, tree, noise, runs)
    by_half, parents = _exact_tree(self, found, sequences)
    along = self.along(sequences, parents, by_half)
    signs = self.signs.perturb(along, self.facts, noise)
    return replace(found, parents=parents, signs=signs)


def _told_by_it(self: Measurement, answers: Answers, sequences: Sequences) -> Values:
    _, parents = _exact_tree(self, answers, sequences)
    agree = (answers.parents == parents).all(axis=-1)
    found = Measurement.log_mass(self, answers, sequences)
    return np.where(agree, found, found + _IMPOSSIBLE)


_EXACT_TREE: Changes = {"measured": _measured_along_it, "log_mass": _told_by_it}


def _exact_distribution(self: Measurement, sequences: Sequences) -> Values:
    exact = self.levels.in_people(self.levels.total(sequences, self.facts), self.facts)
    return distribution(exact.reshape(self.facts.features, -1), 0.0)


def _knowing(lookups: Callable[[Measurement, Sequences], Changes]) -> Changes:
    """Measured, and judged, with lookups made of the very people."""

    def measured(self: Measurement, sequences: Sequences, *rest: Any) -> Answers:
        return Measurement.measured(twin(self, lookups(self, sequences)), sequences, *rest)

    def log_mass(self: Measurement, answers: Answers, sequences: Sequences) -> Values:
        return Measurement.log_mass(twin(self, lookups(self, sequences)), answers, sequences)

    return {"measured": measured, "log_mass": log_mass}


def _exact_quarters(self: Measurement, sequences: Sequences) -> Changes:
    found = quarters(_exact_distribution(self, sequences))

    def looked_up(_: Measurement, levels: Integers) -> Lookup:
        return np.broadcast_to(found, (*levels.shape[:-1], *found.shape))

    return {"quarters": looked_up}


def _exact_halves(self: Measurement, sequences: Sequences) -> Changes:
    found = halves(_exact_distribution(self, sequences))

    def looked_up(_: Measurement, __: Integers, shares: Integers) -> Lookup:
        return np.broadcast_to(found, (*shares.shape[:-1], self.facts.recordings, *found.shape))

    return {"halves": looked_up}


_EXACT_QUARTERS, _EXACT_HALVES = _knowing(_exact_quarters), _knowing(_exact_halves)


def _unpaid(self: Synthetic, shape: Shape) -> Measurement:
    made = Synthetic.measurement(self, shape)
    without = Synthetic.measurement(replace(self, pairs="public"), shape)
    return replace(without, choice=made.choice)


def _all_of_it(self: Synthetic, shape: Shape) -> Measurement:
    made = Synthetic.measurement(self, shape)
    return replace(made, shares=replace(made.shares, share=made.shares.share + 0.1))


def _as_the_longest(self: Synthetic, table: FeatureTable, noise: Randomness) -> FeatureTable:
    longest = int(table.recordings["rows"].to_numpy().max())
    return Synthetic.apply(replace(self, rows=longest), table, noise)


def _with_a_real_row(self: Synthetic, table: FeatureTable, noise: Randomness) -> FeatureTable:
    made = Synthetic.apply(self, table, noise)
    real = [pl.lit(table.data[name][0]).alias(name) for name in made.names]
    return replace(made, data=pl.concat([made.data[:1].with_columns(real), made.data[1:]]))


def _one_seed_for_all(self: Synthetic, shape: Shape) -> Measurement:
    seed = int(SystemRandomness().words(1)[0])

    def perturb(law: Round, integers: Integers, shape: Shape, _: Randomness) -> Integers:
        return integers + noise_of(law, shape).draw(integers.shape, randomness(seed))

    made: Measurement = _in_rounds({"perturb": perturb})["measurement"](self, shape)
    return made


def _same_for_cells(self: Round, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
    return integers + noise_of(self, shape).draw((*integers.shape[:-1], 1), noise)


def _coarse(self: Round, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    return integers + np.left_shift(np.right_shift(draws, 10), 10)


# Faults that a likelihood of independent noise cannot see.
_STALE: dict[str, Changes] = {
    "noise reused between rounds": {"measurement": _one_seed_for_all},
    "noise reused over numbers": _in_rounds({"perturb": _same_for_cells}),
    "low bits without noise": _in_rounds({"perturb": _coarse}),
    "lengths without noise": _in_shares({"perturb": _bare_lengths}),
    "scale × 0.85": _in_rounds({"perturb": less_noise(0.85)}),
}
# What is asked or shown because of somebody's data.
_SEEN: dict[str, Changes] = {
    "quarters of exact counts, seen by what is asked": _measuring(_EXACT_QUARTERS),
    "halves of exact counts": _measuring(_EXACT_HALVES),
    "tree chosen on exact products, seen by what is asked": _measuring(_EXACT_TREE),
    "as many rows as the longest has": {"apply": _as_the_longest},
    "somebody's row among those made up": {"apply": _with_a_real_row},
}


def _game_fault(name: str, mechanism: DifferentialMechanism, changes: Changes) -> Fault:
    """One that few runs see: they cost more here than elsewhere."""
    sought = game_fault(name, mechanism, changes)
    return replace(sought, caught=lambda runs, noise: sought.caught(min(runs, _FEW_RUNS), noise))


def _fuzz_fault(name: str, mechanism: Synthetic, changes: Changes) -> Fault:
    def caught(_runs: int, _noise: Randomness) -> bool:
        return fuzz_rounds(twin(mechanism, changes), _FEW_PAIRS, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


def _residual_fault(name: str, mechanism: Synthetic, changes: Changes) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        return examine_rounds(twin(mechanism, changes), noise, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


def _output_fault(name: str, mechanism: Synthetic, changes: Changes) -> Fault:
    def caught(_runs: int, _noise: Randomness) -> bool:
        return compare_made_up(twin(mechanism, changes)).refuted

    return Fault(name, mechanism.name, caught)


def _canary_fault(name: str, mechanism: Synthetic, changes: Changes) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        broken = twin(mechanism, changes)
        return play_canaries(broken, noise, _FEW_CANARIES, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)
