"""What the printed ε stands for, and what a person would have lost had the scale been public."""

from __future__ import annotations

from collections.abc import Sequence

from eyelid.papers.bozkir2021.methods import Method
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.papers.signals import longest_shape
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.unit import PERSON


def what_epsilon_means(
    source: Source, methods: Sequence[str], epsilons: Sequence[float]
) -> Exhibit:
    """For each method and ε, the person total that the formula has; none of them holds.

    Args:
        source: for the number of recordings, their length, the features.
        methods: of the paper's.
        epsilons: of the paper's.
    """
    shape = longest_shape(source.table)
    cells, held, words = [], 0, []
    for method in methods:
        for epsilon in epsilons:
            mechanism = Method.called(method).mechanism(epsilon, runs=1)
            total, _ = mechanism.with_public_scale(shape, PERSON)
            held += mechanism.cost(shape, PERSON).holds
            cells.append(Cell(method, f"ε = {epsilon:g}", epsilon, honest=Value(total)))
        words.append(f"{rounded_up(total)} by {method}")
    return Exhibit(
        name=f"What ε means, {source.name}",
        title="The printed ε, and the total for a person had scale and k been public",
        says=(
            f"{held or 'None'} of {len(cells)} guarantees hold, since scale and k come from the "
            f"data; at ε = {epsilons[-1]:g} a person would lose ε = {'; '.join(words)}."
        ),
        protocol=f"ε is the sum over {shape.features} features of one recording; of its chunks the "
        "largest is taken, and a person's recordings are not added up",
        honest_protocol="everything that is released of one person adds up: features, chunks and "
        "recordings",
        cells=tuple(cells),
    )
