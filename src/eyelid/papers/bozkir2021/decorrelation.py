"""How far chunks, differences and Fourier coefficients are decorrelated, by the length of a chunk.

"As temporal correlations in the smaller chunk sizes higher and since a higher chunk size reduces
the temporal correlations better, it is ideal to use a higher chunk size if the utilities are
comparable": the paper shows it at no length of chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.papers.bozkir2021.correlation import independent
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.papers.signals import TaskSignals, signals_of

LENGTHS = (16, 32, 64, 128)
_VALUES, _STEPS = "values of a chunk", "differences of a chunk"
_SPECTRUM, _STEP_SPECTRUM = "Fourier coordinates of values", "Fourier coordinates of differences"
_NEXT, _UNRELATED = "means of neighbouring chunks", "unrelated numbers"


class _Size(NamedTuple):
    """Mean |r| over features and tasks, and of how many chunks."""

    correlation: dict[str, float]
    chunks: int


def decorrelation(source: Source, lengths: Sequence[int] = LENGTHS) -> Exhibit:
    """Mean absolute correlation in and between chunks.

    Args:
        source: the dataset.
        lengths: rows of a chunk; those longer than half of the shortest recording are left out.
    """
    tasks = list(signals_of(source.table))
    shortest = min(int(task.lengths.min()) for task in tasks)
    sizes = {length: _size(tasks, length) for length in lengths if 2 * length <= shortest}
    cells = [
        Cell(what, f"chunks of {length}", leak_free=Value(number))
        for length, size in sizes.items()
        for what, number in (size.correlation | {_UNRELATED: independent(size.chunks)}).items()
    ]
    order = [_VALUES, _STEPS, _SPECTRUM, _STEP_SPECTRUM, _NEXT, _UNRELATED]
    cells.sort(key=lambda cell: order.index(cell.row))
    return Exhibit(
        name=f"Decorrelation over chunks, {source.name}",
        title="Mean absolute correlation within and between chunks, by their length",
        says=_says({length: size.correlation for length, size in sizes.items()}),
        setting="Pearson over all whole chunks of all people, between any two rows or coordinates "
        "of a chunk, and between the means of a chunk and the next; means of absolute "
        "coefficients over features and tasks.",
        quantity="absolute correlation",
        leak_free_words="ours",
        verdict=Verdict(claim=_claim({length: s.correlation for length, s in sizes.items()})),
        cells=tuple(cells),
    )


def _size(tasks: Sequence[TaskSignals], length: int) -> _Size:
    found: dict[str, list[float]] = {}
    chunks = 0
    for task in tasks:
        whole, following = whole_chunks(task, length)
        chunks = max(chunks, len(whole))
        steps = np.diff(whole, axis=2, prepend=0.0)
        for what, values in (
            (_VALUES, whole),
            (_STEPS, steps),
            (_SPECTRUM, _coordinates(whole)),
            (_STEP_SPECTRUM, _coordinates(steps)),
        ):
            found.setdefault(what, []).append(_between(values))
        means = whole.mean(axis=2)
        pairs = np.stack([means[following], means[following + 1]], axis=2)
        found.setdefault(_NEXT, []).append(_between(pairs))
    return _Size({what: float(np.mean(each)) for what, each in found.items()}, chunks)


def whole_chunks(task: TaskSignals, length: int) -> tuple[Values, Values]:
    """Chunks of everybody, (chunks, features, length), and which are followed by another."""
    counts = task.lengths // length
    parts = [
        own[:, : count * length].reshape(len(own), count, length).swapaxes(0, 1)
        for own, count in zip(task.values, counts, strict=True)
    ]
    last = np.cumsum(counts) - 1
    return np.concatenate(parts), np.setdiff1d(np.arange(counts.sum()), last)


def _coordinates(values: Values) -> Values:
    """Real and imaginary parts of the Fourier coefficients."""
    spectrum = np.fft.rfft(values, axis=2)
    return np.concatenate([spectrum.real, spectrum.imag[..., 1 : (values.shape[2] + 1) // 2]], 2)


def _between(values: Values) -> float:
    """Mean |r| between any two columns, over features; constant columns have no say."""
    found = []
    for feature in values.swapaxes(0, 1):
        moving = feature[:, np.ptp(feature, axis=0) > 1e-12]
        if moving.shape[1] > 1:
            size = np.abs(np.corrcoef(moving, rowvar=False))
            count = len(size)
            found.append((size.sum() - np.trace(size)) / (count * (count - 1)))
    return float(np.mean(found))


def _claim(sizes: dict[int, dict[str, float]]) -> Outcome:
    """Whether longer chunks are less correlated, within and with the next."""
    if len(sizes) < 2:
        return Outcome.OPEN
    short, long = sizes[min(sizes)], sizes[max(sizes)]
    falls = [long[what] < short[what] for what in (_VALUES, _NEXT)]
    return Outcome.YES if all(falls) else Outcome.PARTLY if any(falls) else Outcome.NO


def _says(sizes: dict[int, dict[str, float]]) -> str:
    if len(sizes) < 2:
        return ""
    short, long = min(sizes), max(sizes)

    def ends(what: str) -> str:
        return f"{sizes[short][what]:.2f} at {short} rows and {sizes[long][what]:.2f} at {long}"

    falls = sizes[long][_NEXT] < sizes[short][_NEXT]
    best = min((_VALUES, _STEPS, _SPECTRUM, _STEP_SPECTRUM), key=lambda what: sizes[short][what])
    return (
        f"Longer chunks are {'less' if falls else 'no less'} correlated with the next: "
        f"|r| {ends(_NEXT)}. Within a chunk values have {ends(_VALUES)}, differences "
        f"{ends(_STEPS)}, Fourier coordinates {ends(_SPECTRUM)}: the least have {best}."
    )
