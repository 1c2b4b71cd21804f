"""What the printed ε is about, and what it costs where it is about a person.

Neither stands beside a utility: an error in ranges of a feature is no power of ten of 1/|NMSE|,
which divides by the noisy mean, grows where that comes near zero, and falls where it is far off.
"""

from __future__ import annotations

from collections.abc import Sequence

from eyelid.mechanisms.features import feature_mechanism
from eyelid.papers.bozkir2021.methods import Method
from eyelid.papers.bozkir2021.protocols import TOTALS
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.papers.signals import longest_facts
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.unit import PERSON

_THOUSAND = 1000.0
_COUNTERPARTS = {"LPA": "laplace", "FPA": "fpa", "CFPA": "cfpa", "DCFPA": "dcfpa"}


def what_epsilon_means(
    source: Source, methods: Sequence[str], epsilons: Sequence[float]
) -> Exhibit:
    """For each method and ε, the person total that the formula has; none of them is valid.

    Args:
        source: for the number of recordings, their length, the features.
        methods: of the paper's.
        epsilons: of the paper's.
    """
    facts = longest_facts(source.table)
    cells, valid, words = [], 0, []
    for method in methods:
        for epsilon in epsilons:
            mechanism = Method.called(method).mechanism(epsilon, runs=1)
            total, _ = mechanism.with_public_scale(facts, PERSON)
            valid += mechanism.cost(facts, PERSON).holds
            cells.append(Cell(method, f"ε = {epsilon:g}", epsilon, leak_free=Value(total)))
        # A whole number has its thousands parted.
        total_in_words = f"{total:,.0f}" if total >= _THOUSAND else rounded_up(total)
        words.append(f"{total_in_words} by {method}")
    return Exhibit(
        name=f"What ε means, {source.name}",
        title="The printed ε, and the total for a person had scale and k been public",
        says=(
            f"{valid or 'None'} of {len(cells)} guarantees is valid, since scale and k come from "
            f"the data; at ε = {epsilons[-1]:g} a person would lose ε = {'; '.join(words)}."
        ),
        protocol=TOTALS,
        quantity="ε",
        leak_free_words="for a person",
        measured=False,
        verdict=Verdict(claim=Outcome.NO),
        cells=tuple(cells),
    )


def error_for_a_person(
    source: Source, methods: Sequence[str], epsilons: Sequence[float]
) -> Exhibit:
    """The expected error of a value where the printed ε is a person's total and bounds are public.

    Args:
        source: for the number of recordings, their length, the features.
        methods: of the paper's; LPA comes first.
        epsilons: of the paper's.
    """
    name, title = f"Error for a person, {source.name}", "Error of a value, in ranges of its feature"
    if not source.public_bounds:
        return Exhibit(name, title, not_run=f"features of {source.name} have no public bounds")
    facts = longest_facts(source.table)
    cells = []
    for method in map(Method.called, ("LPA", *methods)):
        size = {} if method.chunk is None else {"chunk": min(method.chunk, facts.length)}
        for epsilon in epsilons:
            ours = feature_mechanism(
                _COUNTERPARTS[method.family], epsilon=epsilon, unit="person", **size
            )
            error = Value(ours.expected_rmse_of_span(facts))
            cells.append(Cell(method.name, f"ε = {epsilon:g}", leak_free=error))
    least = min(cells, key=lambda cell: cell.leak_free.mean if cell.leak_free else 0.0)
    assert least.leak_free is not None, "every cell has an error"
    return Exhibit(
        name=name,
        title=title,
        says=f"A value is off by {least.leak_free.mean:,.1f} ranges of its feature or more "
        f"({least.row}, {least.column}); above 1 nothing of a person's own signals is left.",
        setting="Expected root mean square error of eyelid's laplace, fpa, cfpa and dcfpa: the "
        "printed ε is the total for a person, the scale comes from public bounds.",
        quantity="error in ranges of the feature",
        leak_free_words="ours, expected",
        measured=False,
        verdict=Verdict(),
        cells=tuple(cells),
        digits=1,
    )
