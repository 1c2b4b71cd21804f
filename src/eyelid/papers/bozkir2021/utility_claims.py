"""What the paper says of Figures 7 to 12, claim by claim, and how far levels are from published.

A claim is about an order of utilities. It is counted in how many comparisons (tasks, ε, chunks) it
is true: of the published numbers, and of ours in every reading, each noisy run by itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.papers.bozkir2021.protocols import UTILITY
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.bozkir2021.utility import READINGS, Curves, Point, Reading
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict

# Utilities within this factor perform similarly: our reading of a word.
_SIMILAR = 2.0
# A claim that is true of so many comparisons comes out; of fewer than the others, it does not.
_MOST, _FEW = 0.9, 0.5
Truths = NDArray[np.bool_]
_FAMILIES = ("LPA", "FPA", "CFPA", "DCFPA")


class Claim(NamedTuple):
    """A sentence of the paper about utilities.

    Attributes:
        quote: in its words.
        counted: what is compared, in ours.
        comparisons: true or false in every run, for every comparison there is.
    """

    quote: str
    counted: str
    comparisons: Callable[[Curves], list[Truths]]


def _pairs(better: Sequence[str], worse: Sequence[str]) -> Callable[[Curves], list[Truths]]:
    """Whether one family is above the other, in every task, ε and length of chunks."""

    def compare(curves: Curves) -> list[Truths]:
        return [
            curves[one] > curves[other]
            for one in curves
            for other in curves
            if one.family in better and other.family in worse and one[1:] == other[1:]
        ]

    return compare


def _lengths(curves: Curves, family: str) -> Iterator[list[Point]]:
    """The points of one task and ε, from short chunks to long ones."""
    own = [point for point in curves if point.family == family]
    for place in dict.fromkeys(point[1:] for point in own):
        yield sorted((point for point in own if point[1:] == place), key=_chunk)


def _chunk(point: Point) -> int:
    return int(point.method.partition("-")[2])


def _similar(curves: Curves) -> list[Truths]:
    found = []
    for points in _lengths(curves, "CFPA"):
        utilities = np.array([curves[point] for point in points])
        if len(points) > 1:
            found.append(utilities.max(axis=0) <= _SIMILAR * utilities.min(axis=0))
    return found


def _shorter_is_better(curves: Curves) -> list[Truths]:
    return [
        curves[short] > curves[long]
        for points in _lengths(curves, "DCFPA")
        for short, long in itertools.pairwise(points)
    ]


def _best_at_least_epsilon(curves: Curves) -> list[Truths]:
    least = min(point.epsilon for point in curves)
    chunk = min((_chunk(point) for point in curves if point.family == "DCFPA"), default=0)
    found = []
    for task in dict.fromkeys(point.task for point in curves):
        here = {p.method: u for p, u in curves.items() if (p.task, p.epsilon) == (task, least)}
        mine = here.get(f"DCFPA-{chunk}")
        others = [u for method, u in here.items() if not method.startswith("DCFPA")]
        if mine is not None and others:
            found.append(mine > np.max(others, axis=0))
    return found


CLAIMS = (
    Claim(
        "utilities of CFPA are always higher than the utilities of the FPA",
        "CFPA above FPA",
        _pairs(("CFPA",), ("FPA",)),
    ),
    Claim(
        "The DCFPA particularly with small chunks outperforms other methods in the most private "
        "settings",
        "DCFPA with the shortest chunks above LPA, FPA and CFPA at the smallest ε",
        _best_at_least_epsilon,
    ),
    Claim(
        "different chunk sizes perform similarly for the CFPA method",
        f"CFPA with any chunks within a factor of {_SIMILAR:g}",
        _similar,
    ),
    Claim(
        "For the DCFPA, there is a significant trend for better utilities when the chunk sizes are "
        "decreased",
        "DCFPA with shorter chunks above DCFPA with longer ones",
        _shorter_is_better,
    ),
    Claim(
        "our methods also outperform [the LPA] in terms of utilities",
        "CFPA and DCFPA above LPA",
        _pairs(("CFPA", "DCFPA"), ("LPA",)),
    ),
)


def claims_about_utility(
    source: Source, readings: Mapping[Reading, Curves], published: Curves
) -> Exhibit:
    """Each claim, with the share of comparisons in which it is true.

    Args:
        source: the dataset.
        readings: as `utility_curves` gives them.
        published: as `published_utility` gives them.
    """
    cells, verdicts, as_printed = [], [], []
    for claim in CLAIMS:
        theirs = claim.comparisons(published) if published else []
        shares = {}
        for reading in READINGS:
            compared = claim.comparisons(readings[reading])
            if compared:
                shares[reading] = Value.of_runs([float(one) for one in np.mean(compared, axis=0)])
                printed = float(np.mean(theirs)) if theirs else None
                how = "" if printed is None else "counted in the authors' file of NMSE"
                cells.append(
                    Cell(claim.counted, reading.words, printed, shares[reading], inferred=how)
                )
        if shares:
            verdicts.append(f"“{claim.quote}”: {_verdict(shares)}")
            as_printed.append(_outcome(shares[Reading()]))
    return Exhibit(
        name=f"Claims about utility, {source.name}",
        title="In how many comparisons each is true",
        says=f"{'. '.join(verdicts)}. {order(readings, published)}",
        protocol=UTILITY,
        setting="Comparisons are over tasks, ε and lengths of chunks, in each noisy run by itself.",
        quantity="share of comparisons",
        cells=tuple(cells),
        verdict=Verdict(claim=_altogether(as_printed)),
    )


_WORDS = {
    Outcome.YES: "confirmed",
    Outcome.PARTLY: "confirmed in part",
    Outcome.NO: "not confirmed",
}


def _outcome(value: Value) -> Outcome:
    if value.mean >= _MOST:
        return Outcome.YES
    return Outcome.NO if value.mean < _FEW else Outcome.PARTLY


def _altogether(outcomes: Sequence[Outcome]) -> Outcome:
    if not outcomes:
        return Outcome.OPEN
    return outcomes[0] if len(set(outcomes)) == 1 else Outcome.PARTLY


def _verdict(shares: Mapping[Reading, Value]) -> str:
    """In the paper's reading, and whether others say something else."""
    outcomes = {reading: _outcome(value) for reading, value in shares.items()}
    own = outcomes.pop(Reading())
    others = [one for one in _WORDS if one in outcomes.values() and one is not own]
    if not others:
        return f"{_WORDS[own]} in {'any' if own is Outcome.NO else 'every'} reading"
    return f"{_WORDS[own]} as printed, {' or '.join(_WORDS[one] for one in others)} in others"


def order(readings: Mapping[Reading, Curves], published: Curves) -> str:
    """Families from the most useful to the least, at the smallest ε, tasks and chunks averaged.

    Args:
        readings: as `utility_curves` gives them.
        published: as `published_utility` gives them.
    """
    least = min(point.epsilon for point in readings[Reading()])
    said = [("as printed", readings[Reading()])]
    said.append(("with a mean without noise", readings[Reading(noisy_mean=False)]))
    if published:
        said.append(("in the published numbers", published))
    words = [f"{' > '.join(_ordered(curves, least))} {where}" for where, curves in said]
    return f"The order at ε = {least:g}: {'; '.join(words)}."


def _ordered(curves: Curves, epsilon: float) -> list[str]:
    means: dict[str, float] = {}
    for family in _FAMILIES:
        logs = [
            math.log10(utility.mean())
            for point, utility in curves.items()
            if (point.family, point.epsilon) == (family, epsilon)
        ]
        if logs:
            means[family] = float(np.mean(logs))
    return sorted(means, key=lambda family: -means[family])


def levels(source: Source, readings: Mapping[Reading, Curves], published: Curves) -> Exhibit:
    """How far utilities are from the published ones, in powers of ten, in every reading.

    Args:
        source: the dataset.
        readings: as `utility_curves` gives them.
        published: as `published_utility` gives them.
    """
    name, title = f"Levels, {source.name}", "Distance from the published utility, in powers of ten"
    if not published or source.simulated:
        why = "people are simulated" if source.simulated else "bozkir2021/nmse.csv is not at hand"
        return Exhibit(name, title, not_run=f"nothing to compare with: {why}")
    cells, largest = [], {}
    for reading in READINGS:
        apart = {
            point: math.log10(utility.mean() / published[point].mean())
            for point, utility in readings[reading].items()
            if point in published
        }
        largest[reading] = max(abs(one) for one in apart.values())
        for family in dict.fromkeys(point.family for point in apart):
            own = [one for point, one in apart.items() if point.family == family]
            for what, end in (("least", min), ("most", max)):
                cells.append(Cell(reading.words, f"{family}, {what}", by_protocol=Value(end(own))))
    nearest = min(largest, key=lambda reading: largest[reading])
    return Exhibit(
        name=name,
        title=title,
        says=(
            f"No reading gives the published levels. As printed, ours are up to "
            f"10^{largest[Reading()]:.1f} away; in the nearest reading ({nearest.words}) up to "
            f"10^{largest[nearest]:.1f}. We do not know why. A mean of utilities weighs lucky "
            "draws, 1 over a mean error unlucky ones. That CFPA is not above FPA follows from the "
            "formula: with k = 1 a value gets noise of scale Δ₂/(√n·ε), and Δ₂/√n is a distance "
            "per value, which shorter chunks raise rather than lower."
        ),
        protocol=UTILITY,
        setting="log₁₀ of ours over the published, least and most over tasks, ε and chunks.",
        quantity="powers of ten",
        verdict=Verdict(),
        cells=tuple(cells),
        digits=1,
    )
