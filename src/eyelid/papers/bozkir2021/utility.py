"""Figures 7 to 12: utility 1/|NMSE| over ε, beside the published numbers.

"We first calculate the mean utility of each feature and then calculate the average utility over all
features": that is what stands in the tables, over noisy runs and recordings. As printed, noise goes
to the first k Fourier coefficients, the mean's among them; the published slopes need a mean without
noise (`eyelid.papers.bozkir2021.experiment`). Both are shown.

The published numbers are those of the authors' file of NMSE, inverted: the paper prints curves
only, between the axis limits that these numbers have.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from eyelid.engine.engines import Shared, shared, spread
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io.files import text_table
from eyelid.mechanisms.mechanism import Values
from eyelid.papers.bozkir2021.experiment import utility_experiment
from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.pictures import file_name, labelled
from eyelid.papers.bozkir2021.printed import FEATURES, METHODS
from eyelid.papers.bozkir2021.protocols import UTILITY
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

FIGURES = (("LPA and FPA", ("LPA", "FPA")), ("CFPA", ("CFPA",)), ("DCFPA", ("DCFPA",)))
INFERRED = "1 over the authors' file of NMSE"
# Powers of ten.
_NEAR = 0.5
_LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"))


class Point(NamedTuple):
    """A place on a curve.

    Attributes:
        method: ``LPA``, ``FPA``, ``CFPA-32``, ….
        task: of the recordings.
        epsilon: as on the paper's axis.
    """

    method: str
    task: str
    epsilon: float

    @property
    def family(self) -> str:
        """The method, whatever its chunks.

        >>> Point("CFPA-32", "comic", 0.48).family
        'CFPA'
        """
        return self.method.partition("-")[0]


class Reading(NamedTuple):
    """How methods and averages are understood.

    Attributes:
        noisy_mean: whether the coefficient of the mean gets noise, as printed.
        inverted: whether |NMSE| is averaged and then inverted, in place of a mean of utilities.
    """

    noisy_mean: bool = True
    inverted: bool = False

    @property
    def words(self) -> str:
        """In a table.

        >>> Reading().words
        'mean of utilities, mean with noise'
        """
        average = "1 over the mean |NMSE|" if self.inverted else "mean of utilities"
        return f"{average}, {'mean with noise' if self.noisy_mean else KEPT}"


READINGS = tuple(Reading(noisy, inverted) for inverted in (False, True) for noisy in (True, False))
Curves = Mapping[Point, Values]
"""Utility in each noisy run; a single number where it is a published one."""


def utility_curves(
    source: Source, epsilons: Sequence[float], chunks: Sequence[int], runs: int, seed: int
) -> dict[Reading, Curves]:
    """The experiment of Figures 7 to 12 in every reading.

    Args:
        source: the dataset.
        epsilons: as on the paper's axis.
        chunks: rows of a chunk.
        runs: noisy runs to choose each k, and as many again to judge it.
        seed: of the noise.
    """
    tasks = source.table.recordings["task"].unique(maintain_order=True).to_list()
    shares = {epsilon / FEATURES: epsilon for epsilon in epsilons}
    jobs = [(task, noisy_mean) for noisy_mean in (True, False) for task in tasks]
    with shared(source.table) as table:
        work = functools.partial(
            _of_task, table, epsilons=tuple(shares), chunks=tuple(chunks), runs=runs, seed=seed
        )
        frames = list(spread(work, jobs, "utility"))
    found: dict[Reading, dict[Point, Values]] = {reading: {} for reading in READINGS}
    keys = ["mechanism", "chunk", "task", "epsilon_per_feature"]
    for (_, noisy_mean), frame in zip(jobs, frames, strict=True):
        for key, part in frame.group_by(keys, maintain_order=True):
            mechanism, chunk, task, share = key
            method = mechanism if chunk is None else f"{mechanism}-{chunk}"
            point = Point(str(method), str(task), shares[share])
            utility, nmse = (part[name].to_numpy() for name in ("run_utility", "run_nmse"))
            # Means over features; a feature that is zero throughout has no say.
            found[Reading(noisy_mean)][point] = np.nanmean(utility, axis=0)
            found[Reading(noisy_mean, inverted=True)][point] = 1 / np.nanmean(nmse, axis=0)
    return {reading: curves for reading, curves in found.items()}


def _of_task(
    table: Shared[FeatureTable],
    job: tuple[str, bool],
    *,
    epsilons: Sequence[float],
    chunks: Sequence[int],
    runs: int,
    seed: int,
) -> pl.DataFrame:
    """The experiment on one task, in one reading."""
    task, noisy_mean = job
    everything = table.get()
    own = replace(everything, data=everything.data.filter(pl.col("task") == task))
    return utility_experiment(
        own,
        epsilons_per_feature=epsilons,
        chunks=chunks,
        runs=runs,
        noisy_mean=noisy_mean,
        rng=np.random.default_rng([seed, *task.encode()]),
    )


def published_utility(
    folder: Path | None, dataset: str, tasks: Sequence[str], epsilons: Sequence[float]
) -> Curves:
    """Utility by the NMSE that was published with the paper; empty without it.

    Args:
        folder: that has ``nmse.csv``.
        dataset: by name.
        tasks: what recordings R1, R2 and R3 are called here.
        epsilons: as on the paper's axis; others are left out.
    """
    if folder is None:
        return {}
    file = folder / "nmse.csv"
    if not file.is_file():
        raise InputError(f"{folder} has no nmse.csv: put the published NMSE there, or move it away")
    columns = [f"NMSE_R{number}" for number in range(1, len(tasks) + 1)]
    axis = {round(epsilon / FEATURES, 6): epsilon for epsilon in epsilons}
    found = {}
    for row in _numbers(file, columns).filter(dataset=dataset).iter_rows(named=True):
        epsilon = axis.get(round(row["epsilon"], 6))
        whole = not row["chunk"] or row["mechanism"] in ("LPA", "FPA")
        method = row["mechanism"] if whole else f"{row['mechanism']}-{row['chunk']}"
        for task, column in zip(tasks, columns, strict=True):
            if epsilon is not None:
                found[Point(method, task, epsilon)] = np.array([1 / abs(row[column])])
    return found


def _numbers(file: Path, columns: Sequence[str]) -> pl.DataFrame:
    """The authors' table of NMSE with every number of it; one that is damaged is an error."""
    content, numbers = file.read_bytes(), ("epsilon", *columns)
    try:
        table = text_table(content, infer_schema=False).select(
            "dataset", "mechanism", "chunk", pl.col(numbers).cast(pl.Float64)
        )
        usable = pl.col(numbers).is_finite().fill_null(False) & (pl.col(numbers) != 0)
        whole = content.endswith(b"\n") and table.select(pl.all_horizontal(usable).all()).item()
    except pl.exceptions.PolarsError:
        whole = False
    if not whole:
        raise InputError(
            f"{file} is no whole table of the published NMSE: get a whole copy, or move its folder "
            "away"
        )
    return table


def figures(
    source: Source,
    readings: Mapping[Reading, Curves],
    published: Curves,
    names: Sequence[str],
) -> list[Exhibit]:
    """Three figures of one dataset, utilities as powers of ten.

    Args:
        source: the dataset.
        readings: as `utility_curves` gives them.
        published: as `published_utility` gives them.
        names: of the figures.
    """
    exhibits = []
    for name, (what, families) in zip(names, FIGURES, strict=True):
        mine = [_of(readings[Reading(noisy)], families) for noisy in (True, False)]
        theirs = _of(published, families)
        exhibits.append(
            Exhibit(
                name=name,
                title=f"Utility 1/|NMSE| of {what} as a power of ten, {source.name}",
                says=_says(mine, theirs, families),
                protocol=UTILITY,
                quantity="log₁₀ of utility",
                cells=tuple(_cells(mine, theirs)),
                verdict=Verdict(_reproduced(mine[0], theirs)),
                pictures={file_name(name): labelled(_picture(mine, theirs, what), source)},
                digits=1,
            )
        )
    return exhibits


def published_alone(dataset: str, name: str, what: str, published: Curves, why: str) -> Exhibit:
    """A figure by its published numbers, of a dataset that is not at hand.

    Args:
        dataset: by name.
        name: of the figure.
        what: it shows.
        published: of its families.
        why: it was not run.
    """
    methods = {method: place for place, method in enumerate(METHODS)}
    order = sorted(published, key=lambda p: (methods.get(p.method, -1), p.task, p.epsilon))
    cells = [
        Cell(
            f"{point.method}, {point.task}",
            f"ε = {point.epsilon:g}",
            _tens(published[point]),
            inferred=INFERRED,
        )
        for point in order
    ]
    return Exhibit(
        name=name,
        title=f"Utility 1/|NMSE| of {what} as a power of ten, {dataset}",
        protocol=UTILITY,
        quantity="log₁₀ of utility",
        cells=tuple(cells),
        not_run=why,
        digits=1,
    )


def _reproduced(mine: Curves, theirs: Curves) -> Outcome:
    """Whether utilities as printed are within half a power of ten of the published ones."""
    near = [abs(_tens(mine[p]) - _tens(theirs[p])) <= _NEAR for p in mine if p in theirs]
    if not near:
        return Outcome.OPEN
    return Outcome.YES if all(near) else Outcome.PARTLY if any(near) else Outcome.NO


def _of(curves: Curves, families: Sequence[str]) -> dict[Point, Values]:
    return {point: utility for point, utility in curves.items() if point.family in families}


def _tens(utility: Values) -> float:
    return math.log10(utility.mean())


def _cells(mine: Sequence[Curves], theirs: Curves) -> list[Cell]:
    cells = []
    for curves, reading in zip(mine, ("", f", {KEPT}"), strict=True):
        for point, utility in curves.items():
            if reading and point.method == "LPA":
                # It has no coefficients of which one could be kept.
                continue
            known = theirs.get(point)
            tens = np.log10(utility)
            cells.append(
                Cell(
                    row=f"{point.method}, {point.task}{reading}",
                    column=f"ε = {point.epsilon:g}",
                    printed=None if known is None else _tens(known),
                    by_protocol=replace(Value.of_runs(tens.tolist()), mean=_tens(utility)),
                    inferred="" if known is None else INFERRED,
                )
            )
    return cells


def slope(curve: Mapping[float, float]) -> float | None:
    """The slope of a logarithm over log ε; None for a single ε.

    >>> slope({0.1: 0.01, 1.0: 1.0})
    2.0
    """
    if len(curve) < 2:
        return None
    logs = np.log(np.array(sorted(curve.items())))
    return float(round(np.polyfit(logs[:, 0], logs[:, 1], 1)[0], 6))


def family_slopes(curves: Curves) -> dict[str, float]:
    """By family, the median slope over chunk lengths and tasks."""
    lines: dict[tuple[str, str], dict[float, float]] = {}
    for point, utility in curves.items():
        lines.setdefault((point.method, point.task), {})[point.epsilon] = float(utility.mean())
    found: dict[str, list[float]] = {}
    for (method, _), line in lines.items():
        one = slope(line)
        if one is not None:
            found.setdefault(method.partition("-")[0], []).append(one)
    return {family: median(slopes) for family, slopes in found.items()}


def power(exponent: float) -> str:
    """As it is written.

    >>> power(-2.0)
    'ε^−2.0'
    """
    return f"ε^{exponent:.1f}".replace("-", "−")


def _says(mine: Sequence[Curves], theirs: Curves, families: Sequence[str]) -> str:
    """The slopes of both readings and of the published numbers."""
    noisy, kept, published = (family_slopes(curves) for curves in (*mine, theirs))
    words = []
    for family in families:
        if family not in noisy:
            continue
        said = f"Utility of {family} grows as {power(noisy[family])} with noise on the mean"
        if family != "LPA":
            said += f", as {power(kept[family])} without"
        if family in published:
            said += f", and as {power(published[family])} in the published numbers"
        words.append(said)
    found = ". ".join(words) + "." if words else ""
    if not theirs:
        found += " The published numbers (bozkir2021/nmse.csv) are not at hand."
    return found.strip()


def _picture(mine: Sequence[Curves], theirs: Curves, what: str) -> Markup:
    """One panel a task; the legend names every line."""
    from eyelid.plotting import Line2D, LogLocator

    tasks = list(dict.fromkeys(point.task for point in mine[0]))
    methods = list(dict.fromkeys(point.method for point in mine[0]))
    known = {point: utility for point, utility in theirs.items() if point.method in methods}
    drawn = [float(utility.mean()) for curves in (*mine, known) for utility in curves.values()]
    lowest, highest = min(drawn), max(drawn)
    styles: dict[str, dict[str, Any]] = {"ours, as printed": {"ls": "-"}}
    if any(point.method != "LPA" for point in mine[1]):
        styles[f"ours, {KEPT}"] = {"ls": "--", "mfc": "none"}
    if known:
        styles["published"] = {"ls": ":", "color": GREY}

    def draw(*axes: Axes) -> None:
        for axis, task in zip(axes, tasks, strict=True):
            for method, (colour, mark) in zip(methods, _LOOKS, strict=False):
                of_method: dict[str, Any] = {
                    "color": colour,
                    "marker": mark,
                    "ms": 4,
                    "lw": 1.2,
                }
                for (label, style), curves in zip(styles.items(), (*mine, known), strict=False):
                    if not (method == "LPA" and label.endswith(KEPT)):
                        _curve(axis, curves, method, task, of_method | style)
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_title(task, fontsize=SMALL)
            axis.set_xlabel("printed ε")
            axis.set_ylim(lowest / 3, highest * 3)
            axis.xaxis.set_major_locator(LogLocator())
            axis.yaxis.set_major_locator(LogLocator(numticks=6))
            axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")
            axis.minorticks_off()
            axis.tick_params(labelsize=SMALL, labelleft=axis is axes[0])
        axes[0].set_ylabel("utility 1/|NMSE|")
        keys = [
            Line2D([], [], ls="", marker=mark, color=colour, ms=4, label=method)
            for method, (colour, mark) in zip(methods, _LOOKS, strict=False)
        ]
        keys += [Line2D([], [], label=label, **{"color": INK} | s) for label, s in styles.items()]
        axes[-1].legend(
            handles=keys, frameon=False, fontsize=SMALL, loc="upper left", bbox_to_anchor=(1, 1)
        )

    alt = f"Utility of {what} over ε, one panel a task: " + "; ".join(
        f"{method} from {_end(mine[0], method, min):.1g} to {_end(mine[0], method, max):.1g}"
        for method in methods
    )
    return svg(draw, f"{alt}. Lines: {', '.join(styles)}.", 2.8, columns=len(tasks))


def _curve(
    axis: Axes, curves: Curves, method: str, task: str, of_method: Mapping[str, Any]
) -> None:
    line = sorted(
        (point.epsilon, float(utility.mean()))
        for point, utility in curves.items()
        if (point.method, point.task) == (method, task)
    )
    if line:
        axis.plot(*zip(*line, strict=True), **of_method)


def _end(curves: Curves, method: str, end: Any) -> float:
    """Mean utility over tasks at the smallest or at the largest ε."""
    own = {point: utility for point, utility in curves.items() if point.method == method}
    last = end(point.epsilon for point in own)
    return float(np.mean([u.mean() for point, u in own.items() if point.epsilon == last]))
