"""Are statistics over people what they claim: fuzz, noise, output, and their mutants.

Neighbours here are whole studies, because rank statistics know no person without the others. Small
studies with many ties, gaps and hostile numbers have a person replaced, and what all parts together
lose is held against what is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eyelid.attacks.override import sound_of
from eyelid.attacks.residuals import ResidualResult, judged, together
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.statistics.choices import ChoicePart
from eyelid.mechanisms.statistics.parts import BoxPart, Labels, NoisyPart, Part
from eyelid.mechanisms.statistics.quantities import DELTA
from eyelid.mechanisms.statistics.summary import StatisticsFacts, with_others
from eyelid.privacy.noise import DiscreteBox, Randomness, randomness
from eyelid.privacy.unit import Unit
from eyelid.verification.mutant import Mutant, Row, Seen, by_game, by_noise, by_output, planted
from eyelid.verification.outputs import OutputResult
from eyelid.verification.sensitivity import FLOATING, FuzzResult, hostile

_MOST_PEOPLE = 7
_BATCH = 64
_PAIRS = 4_096
_MEASURED = 1_500
_SEED = 0
_TIED = np.array([0.0, 0.25, 0.5, 0.5, 0.75, 1.0, np.nan, -3.0])


def fuzz_statistics(mechanism: Any, pairs: int, seed: int = 0) -> FuzzResult:
    """Replace a person in many small studies, and add up what all parts lose by it."""
    rng = np.random.default_rng(seed)
    worst, mixed, tried = 0.0, 0, 0
    for pair in mechanism.neighbour_pairs(mechanism.unit):
        one, labels = with_others(pair.one, pair.facts)
        other, _ = with_others(pair.other, pair.facts)
        worst = max(worst, _lost(mechanism, one[None], other[None], labels, pair.facts))
    entries = pair.facts.features
    while tried < pairs:
        batch = min(_BATCH, pairs - tried)
        groups = len(pair.facts.groups)
        sizes = tuple(rng.integers(2, _MOST_PEOPLE + 1, size=groups).tolist())
        facts = StatisticsFacts.of(sum(sizes), entries, sizes if groups > 1 else ())
        labels = rng.permutation(np.repeat(np.arange(groups), sizes))
        one = _study(rng, (batch, facts.people, entries))
        other = one.copy()
        who = rng.integers(facts.people)
        other[:, who] = _study(rng, (batch, entries))
        worst = max(worst, _lost(mechanism, one, other, labels, facts))
        mixed += _by_order(mechanism, one, labels, facts, rng)
        tried += batch
    room = 1 + FLOATING
    return FuzzResult(mechanism.name, str(mechanism.unit), worst / room, tried, 0.0, mixed)


def _study(rng: np.random.Generator, shape: tuple[int, ...]) -> Values:
    """Numbers with ties in half of the studies, of every kind in the others, few a person."""
    tied = rng.choice(_TIED, size=shape)
    which = rng.random(shape[0]) < 0.5
    return np.where(which.reshape(-1, *[1] * (len(shape) - 1)), tied, hostile(rng, shape))


def _lost(
    mechanism: Any, one: Values, other: Values, labels: Labels, facts: StatisticsFacts
) -> float:
    """The most that any pair of a batch loses over all parts, as a share of what is stated."""
    said = mechanism.cost(facts, mechanism.unit)
    lost = np.zeros(len(one))
    for part in mechanism.parts_for(facts):
        answers = [mechanism.query(part, side, labels) for side in (one, other)]
        lost += part.lost(*answers)
    return float(lost.max() / (said.mu or said.epsilon))


def _by_order(
    mechanism: Any,
    places: Values,
    labels: Labels,
    facts: StatisticsFacts,
    rng: np.random.Generator,
) -> int:
    """In how many studies something else is measured when people stand in another order."""
    order = rng.permutation(facts.people)
    differ = np.zeros(len(places), dtype=bool)
    for part in mechanism.parts_for(facts):
        here = mechanism.query(part, places, labels)
        there = mechanism.query(part, places[:, order], labels[order])
        differ |= (here != there).any(axis=-1)
    return int(differ.sum())


def _known(mechanism: Any) -> tuple[Values, Labels, StatisticsFacts]:
    """People whose numbers are known, some missing, in the form that games have."""
    facts = next(mechanism.neighbour_pairs(mechanism.unit)).facts
    rng = np.random.default_rng(_SEED)
    labels = np.repeat(np.arange(len(facts.groups)), facts.groups)
    return _study(rng, (1, facts.people, facts.features))[0], labels, facts


def examine_statistics(mechanism: Any, noise: Randomness, declared: Any = None) -> ResidualResult:
    """Measure a known study many times and look at the noise of each part.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose noise it should have; the mechanism itself by default.
    """
    declared = declared or mechanism
    places, labels, facts = _known(mechanism)
    parts = declared.parts_for(facts)
    shown = [mechanism.measure(places, labels, facts, noise) for _ in range(_MEASURED)]
    found = []
    for which, part in enumerate(parts):
        if not isinstance(part, NoisyPart):
            continue
        measured = np.array([each[which] for each in shown], dtype=np.float64)
        left = measured - declared.query(part, places, labels)
        found.append(judged(mechanism, left, part.distribution))
    return together(found)


def compare_statistics(mechanism: Any, declared: Any = None) -> OutputResult:
    """Look whether what is measured is each part's answer under noise, and never the answer.

    Args:
        mechanism: to look at.
        declared: how answers get their noise; the mechanism itself by default.
    """
    declared = declared or mechanism
    places, labels, facts = _known(mechanism)
    shown = mechanism.measure(places, labels, facts, randomness(_SEED))
    same_noise = randomness(_SEED)
    parts = declared.parts_for(facts)
    answers = [declared.query(part, places, labels) for part in parts]
    wanted = [
        mechanism.perturb(part, answer, same_noise)
        for part, answer in zip(parts, answers, strict=True)
    ]
    bare = sum(
        int((one == answer).sum())
        for part, one, answer in zip(parts, shown, answers, strict=True)
        if isinstance(part, NoisyPart)
    )
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=sum(each.size for each in shown),
        same=all(map(np.array_equal, shown, wanted)),
        inside=sum(each.size for each in shown),
        bare=bare,
    )


# Mutants.


def _by_fuzz(mutant: Any, _sound: Any, _runs: int, _noise: Randomness) -> bool:
    return fuzz_statistics(mutant, _PAIRS).refuted


_by_residuals: Seen = by_noise(examine_statistics)
_by_outputs: Seen = by_output(compare_statistics)

Sum = Callable[[Any, Part, Values, Labels], Integers]


def box_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """What can go wrong with a box, with ranks in it, and with what is chosen beside it.

    Args:
        variants: as set for games: sums alone, ranks among them, groups, choices.
    """
    sums, ranked, grouped, choices = variants
    yield from planted(sums, _OF_SUMS)
    yield from planted(ranked, _OF_RANKS)
    yield from planted(grouped, (("noise shared by groups", {"measure": _shared}, _by_outputs),))
    yield from planted(choices, _OF_CHOICES)


def joint_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """What can go wrong with a vector that is limited as a whole."""
    yield from planted(variants[0], _OF_SUMS[2:])
    yield from planted(variants[0], _OF_VECTORS)
    # Where μ is so large that games have power.
    yield from planted(variants[1], (("σ × 0.85", _perturbed(_less_of_vectors), by_game),))


def _perturbed(change: Callable[[Any, Integers, Randomness], Integers]) -> dict[str, Any]:
    def perturb(self: Any, part: Part, query: Integers, noise: Randomness) -> Any:
        return change(part, query, noise)

    return {"perturb": perturb}


def _asked(change: Sum) -> dict[str, Any]:
    return {"query": change}


def _less(part: Any, query: Integers, noise: Randomness) -> Any:
    box = part.distribution
    return query + DiscreteBox(int(0.85 * box.scale), box.dimension).draw(query.shape, noise)


def _less_of_vectors(part: Any, query: Integers, noise: Randomness) -> Any:
    declared = part.distribution
    return query + type(declared)(int(0.85 * declared.scale)).draw(query.shape, noise)


def _moments_unpaid(part: Any, query: Integers, noise: Randomness) -> Any:
    """Means and second moments, each with a box of their own at the whole of ε."""
    names = [statistic.name for statistic in part.statistics]
    drawn = np.empty(query.shape, dtype=np.int64)
    for name in set(names):
        which = np.array([each == name for each in names])
        size = (*query.shape[:-1], int(which.sum()))
        drawn[..., which] = DiscreteBox(part.distribution.scale, size[-1]).draw(size, noise)
    return query + drawn


def _coarse(part: Any, query: Integers, noise: Randomness) -> Any:
    drawn = part.distribution.draw(query.shape, noise)
    return query + np.left_shift(np.right_shift(drawn, 10), 10)


def _seeded_anew(part: Any, query: Integers, noise: Randomness) -> Any:
    return query + part.distribution.draw(query.shape, randomness(0))


def _as_of_one_mean(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """A difference within [−c, c], which moves by 2c, counted in ranges of c."""
    return 2 * part.query(places, labels)


def _range_of_data(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Numbers between the smallest and the largest of the study."""
    known = np.where(np.isfinite(places), places, np.nan)
    filled = np.where(np.isnan(known), 0.5, known)
    lowest, highest = (f(filled, axis=-2, keepdims=True) for f in (np.min, np.max))
    scaled = (known - lowest) / np.maximum(highest - lowest, 1e-9)
    return part.query(scaled, labels)


def _unclipped(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Means of numbers as they are, up to ten ranges."""
    answers = part.query(places, labels).copy()
    chosen = np.clip(np.nan_to_num(part.chosen(places, labels), nan=0.5), -10, 10)
    for which, statistic in enumerate(part.statistics):
        if statistic.name == "mean":
            answers[..., which] = np.rint(chosen[..., statistic.columns[0]] * DELTA).sum(axis=-1)
    return answers


def _people_dropped(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Means over those who have a number, times the public number of people."""
    answers = part.query(places, labels).copy()
    chosen = part.chosen(places, labels)
    for which, statistic in enumerate(part.statistics):
        if statistic.name == "mean":
            number = chosen[..., statistic.columns[0]]
            there = (~np.isnan(number)).sum(axis=-1)
            total = np.where(np.isnan(number), 0.0, np.clip(number, 0, 1)).sum(axis=-1)
            answers[..., which] = np.rint(total * part.people / np.maximum(there, 1) * DELTA)
    return answers


def _understated(self: Any, facts: PublicFacts, unit: Unit) -> Any:
    said = sound_of(self).cost(facts, unit)
    less = 0.8 * said.mu if said.mu else None
    return replace(said, epsilon=0.8 * said.epsilon, mu=less)


def _exact(self: Any, places: Values, labels: Labels, facts: PublicFacts, _: Randomness) -> Any:
    return tuple(self.query(part, places, labels) for part in self.parts_for(facts))


def _ties_by_row(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Equal numbers ranked by who comes first."""
    order = np.arange(places.shape[-2])[:, None] * 2.0**-30
    return part.query(places + order, labels)


def _ranks_unpaid(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Rank sums counted as if a person moved them by half as much."""
    answers = part.query(places, labels).copy()
    ranked = [s.name in ("tau", "signed-rank", "superiority") for s in part.statistics]
    answers[..., np.array(ranked)] *= 2
    return answers


def _each_with_all(self: Any, facts: PublicFacts) -> Any:
    return tuple(
        replace(part, epsilon=self.of_epsilon(1)) for part in sound_of(self).parts_for(facts)
    )


def _keen(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Costs counted three times."""
    answers = part.query(places, labels)
    return np.asarray(3 * answers if isinstance(part, ChoicePart) else answers)


def _best(part: Any, query: Integers, noise: Randomness) -> Any:
    """The best candidate, or one of them."""
    if isinstance(part, ChoicePart):
        return np.asarray(query.argmin(axis=-1)[..., None])
    return part.draw(query, noise)


def _shared(self: Any, places: Values, labels: Labels, facts: PublicFacts, noise: Any) -> Any:
    """One draw of noise for all groups."""
    parts = self.parts_for(facts)
    drawn: dict[int, Integers] = {}
    shown = []
    for part in parts:
        answer = self.query(part, places, labels)
        if isinstance(part, BoxPart) and part.group is not None:
            fresh = self.perturb(part, np.zeros_like(answer), noise)
            shown.append(answer + drawn.setdefault(part.shown, fresh))
        else:
            shown.append(self.perturb(part, answer, noise))
    return tuple(shown)


def _unlimited(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Means of numbers as they are, up to ten ranges, under Gaussian noise."""
    answers = part.query(places, labels).copy()
    chosen = np.clip(np.nan_to_num(part.chosen(places, labels), nan=0.5), -10, 10)
    for which, statistic in enumerate(part.statistics):
        if statistic.name == "mean":
            halves = 2 * chosen[..., statistic.columns[0]] - 1
            answers[..., which] = np.trunc(halves / part.step).sum(axis=-1)
    return answers


def _one_length(self: Any, part: Any, places: Values, labels: Labels) -> Any:
    """Vectors counted as if people were one length apart, not two."""
    return 2 * part.query(places, labels)


_OF_SUMS: tuple[Row, ...] = (
    ("scale × 0.85", _perturbed(_less), by_game),
    ("unpaid second moment", _perturbed(_moments_unpaid), _by_residuals),
    ("contrast paid as one mean", _asked(_as_of_one_mean), _by_fuzz),
    ("range read off the data", _asked(_range_of_data), _by_fuzz),
    ("less stated than is lost", {"cost": _understated}, _by_fuzz),
    ("generator seeded anew", _perturbed(_seeded_anew), _by_residuals),
    ("low bits without noise", _perturbed(_coarse), _by_residuals),
    ("no noise", {"measure": _exact}, _by_outputs),
)
_OF_RANKS: tuple[Row, ...] = (
    ("missing clip", _asked(_unclipped), _by_fuzz),
    ("people dropped", _asked(_people_dropped), _by_fuzz),
    ("ties broken by row order", _asked(_ties_by_row), _by_fuzz),
    ("unpaid rank statistic", _asked(_ranks_unpaid), _by_fuzz),
)
_OF_CHOICES: tuple[Row, ...] = (
    ("each part given the whole of ε", {"parts_for": _each_with_all}, _by_fuzz),
    ("costs of candidates counted too often", _asked(_keen), _by_fuzz),
    ("the best candidate", _perturbed(_best), by_game),
)
_OF_VECTORS: tuple[Row, ...] = (
    ("missing clip", _asked(_unlimited), _by_fuzz),
    ("one length, not two", _asked(_one_length), _by_fuzz),
)
