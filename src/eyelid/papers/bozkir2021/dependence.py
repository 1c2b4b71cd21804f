"""The paper's open question: what ε′ is, for CFPA and for DCFPA, where values are correlated.

"In future work, we will analyze the actual privacy metric ϵ′ which takes the data correlations into
account"; "we conjecture that the ratio ϵ′/ϵ decreases in the difference-based method".

Somebody believes that a signal is Gaussian and its values go together as ρ^|i − j|, knows nothing
else, and sees Laplace noise of scale λ_q on the coordinates A_q x of every chunk q. Where x_i = a
becomes x_i = b, all of x is believed to move by (a − b)·v, v = Σ_{:,i}/Σ_ii, so that densities of
the release move by A_q·v·(a − b) and differ by a factor of exp(ε′) at most,

    ε′_i = |a − b| · Σ_q ‖A_q v‖₁ / λ_q.

Far out, where Laplace tails outweigh Gaussian ones, they do: it is the least such ε′, not a bound.
Without correlation it is the ε of one value. However strong correlation is, with a Δ₂ that covers
every such move ε′ is at most the sum of ε over chunks, of which parallel composition counts one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.papers.bozkir2021.methods import Method
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.papers.signals import TaskSignals, sensitivities, signals_of

_BELIEFS = (0.0, 0.6, 0.9)


def coordinates(length: int, k: int, differenced: bool) -> Values:
    """A: real and imaginary parts of the first k Fourier coefficients of a chunk, or of its steps.

    >>> coordinates(4, 1, differenced=True).tolist()
    [[0.0, 0.0, 0.0, 1.0]]
    """
    steps = np.eye(length)
    if differenced:
        steps = np.diff(steps, axis=0, prepend=0.0)
    spectrum = np.fft.fft(steps, axis=0)[:k]
    parts = np.stack([spectrum.real, spectrum.imag], axis=1).reshape(-1, length)
    # The mean, and the highest frequency, have no imaginary part.
    return np.asarray(parts[np.abs(parts).max(axis=1) > 1e-9])


def dependent_loss(query: Values, correlation: float, scale: Values, distance: Values) -> Values:
    """ε′ of the value that is told best, for each feature and chunk.

    Args:
        query: A, the same for every chunk.
        correlation: ρ of neighbouring values, as believed.
        scale: (features, chunks), λ of every coordinate.
        distance: (features, chunks), |a − b| of a value there.
    """
    length, chunks = query.shape[1], scale.shape[1]
    row = np.arange(length)
    # By how far a value's chunk is from another: (2·chunks − 1, length).
    offsets = np.arange(1 - chunks, chunks)
    lags = np.abs(offsets[:, None, None] * length + row - row[:, None])
    moved = np.abs(np.power(correlation, lags) @ query.T).sum(axis=2)
    found = np.empty(scale.shape)
    for own in range(chunks):
        seen = moved[np.arange(chunks) - own + chunks - 1]
        found[:, own] = distance[:, own] * ((1 / scale) @ seen).max(axis=1)
    return found


def _shares(signals: TaskSignals, method: Method, k: int, beliefs: Sequence[float]) -> Values:
    """ε′ as a share of ε, (beliefs, features, chunks), over the rows that everybody has."""
    rows = int(signals.lengths.min())
    chunk = min(method.chunk or rows, rows)
    values = signals.values[..., : rows - rows % chunk]
    differenced = method.family == "DCFPA"
    steps = TaskSignals(signals.task, values, np.full(len(values), values.shape[2]), signals.places)
    prepared = steps.differences(chunk).values if differenced else values
    scale = np.sqrt(chunk * k) * sensitivities(prepared, chunk, power=2)
    # The farthest that two people are apart in one value.
    extent = values.max(axis=0) - values.min(axis=0)
    distance = np.maximum.reduceat(extent, np.arange(0, values.shape[2], chunk), axis=1)
    used = (distance > 0).all(axis=1) & (scale > 0).all(axis=1)
    query = coordinates(chunk, k, differenced)
    return np.stack([dependent_loss(query, each, scale[used], distance[used]) for each in beliefs])


def neighbours_correlation(signals: Sequence[TaskSignals]) -> float:
    """The correlation of neighbouring values, the median over tasks and features."""
    found = []
    for task in signals:
        rows = int(task.lengths.min())
        for feature in task.values[..., :rows].swapaxes(0, 1):
            if np.ptp(feature) > 0:
                one, other = feature[:, :-1].ravel(), feature[:, 1:].ravel()
                found.append(np.corrcoef(one, other)[0, 1])
    return float(np.median(found))


def dependence(source: Source, methods: Sequence[str]) -> Exhibit:
    """ε′/ε of one value, by method and belief.

    Args:
        source: the dataset, for Δ₂ and for the farthest that two people are apart.
        methods: of the paper's.
    """
    tasks = list(signals_of(source.table))
    beliefs = (*_BELIEFS, round(neighbours_correlation(tasks), 3))
    cells, medians = [], {}
    for name in methods:
        method = Method.called(name)
        found = [_shares(task, method, 1, beliefs).reshape(len(beliefs), -1) for task in tasks]
        medians[name] = np.median(np.concatenate(found, axis=1), axis=1)
        cells += [
            Cell(name, f"ρ = {belief:g}", leak_free=Value(float(share)))
            for belief, share in zip(beliefs, medians[name], strict=True)
        ]
    return Exhibit(
        name=f"ε′ under correlation, {source.name}",
        title="ε′ of one value as a share of the ε of a chunk, over the correlation of neighbours",
        says=_says(medians, beliefs),
        setting="The paper's noise with k = 1, the usual choice here. ε′ is exact for an "
        "attacker who believes in a Gaussian signal with correlation ρ^|i − j|; medians over "
        "features, tasks and chunks. The last ρ is that of neighbouring windows in the data.",
        quantity="ε′/ε",
        leak_free_words="ours, exact",
        verdict=Verdict(claim=_claim(medians)),
        cells=tuple(cells),
    )


def _pairs(medians: dict[str, Values]) -> list[tuple[str, str]]:
    """Chunks of values and of differences, of the same length."""
    return [(name, f"D{name}") for name in medians if f"D{name}" in medians]


def _growth(medians: dict[str, Values]) -> dict[str, float]:
    """By how much the largest correlation raises ε′ above that of independent values."""
    return {name: float(shares[-1] / shares[0]) for name, shares in medians.items()}


def _claim(medians: dict[str, Values]) -> Outcome:
    growth = _growth(medians)
    less = [growth[other] < growth[one] for one, other in _pairs(medians)]
    if not less:
        return Outcome.OPEN
    return Outcome.YES if all(less) else Outcome.PARTLY if any(less) else Outcome.NO


def _says(medians: dict[str, Values], beliefs: Sequence[float]) -> str:
    """Whether the conjecture is true of these numbers."""
    pairs, growth = _pairs(medians), _growth(medians)
    if not pairs:
        return ""
    plain, differenced = pairs[0]
    less = sum(growth[other] < growth[one] for one, other in pairs)
    larger = max(medians, key=lambda name: medians[name][-1])
    said = (
        f"The conjecture that ε′/ε is lower for differences comes out for {less} of {len(pairs)} "
        f"lengths of chunks: from independent values to ρ = {beliefs[-1]:g} it grows "
        f"{growth[plain]:.0f}-fold with {plain} and {growth[differenced]:.1f}-fold with "
        f"{differenced}"
    )
    worse = sum(medians[other][0] > medians[one][0] for one, other in pairs)
    if worse:
        said += f"; of independent values it is higher for differences in {worse} of {len(pairs)}"
    if medians[larger][-1] > 1:
        said += (
            f". With {larger} ε′ is {medians[larger][-1]:.1f} times the ε of a chunk: one value is "
            "seen in several chunks, and parallel composition does not count that"
        )
    return (
        f"{said}. With a public Δ₂, a bound for every belief is the sum of ε over chunks, for both."
    )
