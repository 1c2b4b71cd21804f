"""Figures 7 to 12: utility 1/|NMSE| over ε, as printed and as the published numbers must be read.

As printed, noise goes to the first k Fourier coefficients, the mean's among them; the published
slopes need a mean without noise (`eyelid.papers.bozkir2021.experiment`). Both are shown.

The honest counterpart is not another utility: |NMSE| divides by the noisy mean, grows where that
comes near zero, and falls where it is far off. It is how far a value is off, as a share of what is
possible for it, when the printed ε is the total for a person and bounds are public.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from eyelid.engine.engines import Shared, shared, spread
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import feature_mechanism
from eyelid.papers.bozkir2021.experiment import utility_experiment
from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.pictures import file_name, labelled
from eyelid.papers.bozkir2021.printed import FEATURES
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.papers.signals import longest_facts
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_FIGURES = (("LPA and FPA", ("LPA", "FPA")), ("CFPA", ("CFPA",)), ("DCFPA", ("DCFPA",)))
_COUNTERPARTS = {"LPA": "laplace", "FPA": "fpa", "CFPA": "cfpa", "DCFPA": "dcfpa"}
_PROTOCOL = (
    "ε summed over the features of one recording, scale of the noise and k from the data; log₁₀ of "
    "1 over the mean |NMSE| over runs, recordings and features"
)
_HONEST = (
    "expected error (RMSE) in spans of a feature, no power of ten: ε the total for a person, the "
    "scale from public bounds, lower is better, and above 1 nothing is left"
)
_LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"))


def utilities(
    source: Source,
    published: pl.DataFrame | None,
    names: Sequence[str],
    epsilons: Sequence[float],
    chunks: Sequence[int],
    runs: int,
    seed: int,
) -> list[Exhibit]:
    """Three figures of one dataset.

    Args:
        source: the dataset.
        published: as `published_nmse` gives it; None where it is not at hand.
        names: of the figures.
        epsilons: as on the paper's axis.
        chunks: rows of a chunk.
        runs: noisy runs to choose each k, and as many again to judge it.
        seed: of the noise.
    """
    tasks = source.table.recordings["task"].unique(maintain_order=True).to_list()
    shares = tuple(epsilon / FEATURES for epsilon in epsilons)
    jobs = [(task, noisy_mean) for noisy_mean in (True, False) for task in tasks]
    with shared(source.table) as table:
        work = functools.partial(
            _of_task, table, epsilons=shares, chunks=tuple(chunks), runs=runs, seed=seed
        )
        found = pl.concat(spread(work, jobs, "utility"))
    means = found.group_by(
        "noisy_mean", "mechanism", "chunk", "task", "epsilon_per_feature", maintain_order=True
    ).agg(pl.col("nmse").mean())
    beside = {} if published is None else _by_curve(published)
    honest = _errors(source, means, epsilons) if source.public_bounds else {}
    exhibits = []
    for name, (what, families) in zip(names, _FIGURES, strict=True):
        part = means.filter(pl.col("mechanism").is_in(families))
        cells = _cells(part, beside, honest, epsilons)
        exhibits.append(
            Exhibit(
                name=name,
                title=f"Utility 1/|NMSE| of {what} as a power of ten, {source.name}",
                says=_says(part, beside, honest),
                protocol=f"{_PROTOCOL}; {runs} runs to choose each k and as many to judge it "
                "(100 in the paper)",
                honest_protocol=_HONEST if honest else "",
                cells=tuple(cells),
                pictures={file_name(name): labelled(_picture(part, beside, what), source)},
                digits=1,
            )
        )
    return exhibits


def published_nmse(folder: Path | None, dataset: str, tasks: Sequence[str]) -> pl.DataFrame | None:
    """The numbers that were published with the paper, one row a curve and ε; None without them.

    Args:
        folder: that has ``nmse.csv``.
        dataset: by name.
        tasks: what recordings R1, R2 and R3 are called here.
    """
    if folder is None:
        return None
    file = folder / "nmse.csv"
    if not file.is_file():
        raise InputError(f"{folder} has no nmse.csv: put the published NMSE there, or move it away")
    columns = [f"NMSE_R{number}" for number in range(1, len(tasks) + 1)]
    long = (
        pl.read_csv(file.read_bytes())
        .filter(pl.col("dataset") == dataset)
        .unpivot(
            columns,
            index=["mechanism", "chunk", "epsilon"],
            variable_name="task",
            value_name="nmse",
        )
    )
    return long.with_columns(
        pl.col("task").replace_strict(dict(zip(columns, tasks, strict=True))),
        pl.col("nmse").abs(),
    ).rename({"epsilon": "epsilon_per_feature"})


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
    found = utility_experiment(
        own,
        epsilons_per_feature=epsilons,
        chunks=chunks,
        runs=runs,
        noisy_mean=noisy_mean,
        rng=np.random.default_rng([seed, *task.encode()]),
    )
    return found.with_columns(pl.lit(noisy_mean).alias("noisy_mean"))


Curves = Mapping[tuple[str, str, float], float]
"""|NMSE| by method, task and ε of a feature."""


def _method(mechanism: str, chunk: int | None) -> str:
    return mechanism if not chunk or mechanism in ("LPA", "FPA") else f"{mechanism}-{chunk}"


def _by_curve(frame: pl.DataFrame) -> Curves:
    columns = frame.select("mechanism", "chunk", "task", "epsilon_per_feature", "nmse").iter_rows()
    return {
        (_method(mechanism, chunk), task, round(epsilon, 6)): nmse
        for mechanism, chunk, task, epsilon, nmse in columns
    }


def _errors(
    source: Source, means: pl.DataFrame, epsilons: Sequence[float]
) -> dict[tuple[str, float], float]:
    """The expected error at person level, by method and printed ε."""
    facts = longest_facts(source.table)
    found = {}
    for mechanism, chunk in means.select("mechanism", "chunk").unique().iter_rows():
        size = {} if chunk is None else {"chunk": min(chunk, facts.length)}
        for epsilon in epsilons:
            ours = feature_mechanism(
                _COUNTERPARTS[mechanism], epsilon=epsilon, unit="person", **size
            )
            found[_method(mechanism, chunk), epsilon] = ours.expected_rmse_of_span(facts)
    return found


def _cells(
    part: pl.DataFrame,
    beside: Curves,
    honest: Mapping[tuple[str, float], float],
    epsilons: Sequence[float],
) -> list[Cell]:
    cells = []
    axis = {round(epsilon / FEATURES, 6): epsilon for epsilon in epsilons}
    for noisy_mean, mechanism, chunk, task, share, nmse in part.iter_rows():
        method, epsilon = _method(mechanism, chunk), axis[round(share, 6)]
        if mechanism == "LPA" and not noisy_mean:
            # It has no coefficients of which one could be kept.
            continue
        published = beside.get((method, task, round(share, 6)))
        error = honest.get((method, epsilon)) if noisy_mean else None
        cells.append(
            Cell(
                row=f"{method}, {task}" + ("" if noisy_mean else f", {KEPT}"),
                column=f"ε = {epsilon:g}",
                printed=-math.log10(published) if published else None,
                as_printed=Value(-math.log10(nmse)) if nmse else None,
                honest=None if error is None else Value(error),
            )
        )
    return cells


def slope(curve: Mapping[float, float]) -> float | None:
    """Of log |NMSE| over log ε; None of a single ε.

    >>> slope({0.1: 100.0, 1.0: 1.0})
    -2.0
    """
    if len(curve) < 2:
        return None
    logs = np.log(np.array(sorted(curve.items())))
    return float(round(np.polyfit(logs[:, 0], logs[:, 1], 1)[0], 6))


def power(exponent: float) -> str:
    """As it is written.

    >>> power(-2.0)
    'ε^−2.0'
    """
    return f"ε^{exponent:.1f}".replace("-", "−")


def _slopes(curves: Curves) -> dict[str, float]:
    """By family, the median over chunk lengths and tasks."""
    lines: dict[tuple[str, str], dict[float, float]] = {}
    for (method, task, share), nmse in curves.items():
        lines.setdefault((method, task), {})[share] = nmse
    found: dict[str, list[float]] = {}
    for (method, _), line in lines.items():
        one = slope(line)
        if one is not None:
            found.setdefault(method.partition("-")[0], []).append(one)
    return {family: median(slopes) for family, slopes in found.items()}


def _says(part: pl.DataFrame, beside: Curves, honest: Mapping[tuple[str, float], float]) -> str:
    """The slopes of both readings and of the published numbers, and what honest error there is."""
    families = part["mechanism"].unique(maintain_order=True).to_list()
    readings = [_slopes(_by_curve(part.filter(noisy_mean=noisy))) for noisy in (True, False)]
    shares = {round(share, 6) for share in part["epsilon_per_feature"]}
    published = _slopes({key: nmse for key, nmse in beside.items() if key[2] in shares})
    words = []
    for family in families:
        printed, kept = (reading.get(family, math.nan) for reading in readings)
        said = f"|NMSE| of {family} falls as {power(printed)} as printed"
        if family != "LPA":
            said += f", as {power(kept)} with a {KEPT}"
        if family in published:
            said += f", and as {power(published[family])} in the published numbers"
        words.append(said)
    found = "; ".join(words) + "."
    if not beside:
        found += " The published numbers (bozkir2021/nmse.csv) are not at hand."
    ours = [error for (method, _), error in honest.items() if method.partition("-")[0] in families]
    if ours:
        found += (
            f" At person level with public bounds a value is off by {min(ours):,.0f} spans or more "
            "at every ε shown."
        )
    return found


def _picture(part: pl.DataFrame, beside: Curves, what: str) -> Markup:
    """One panel a task: ours as printed (filled), with the mean kept (hollow), published (grey)."""
    from eyelid.plotting import LogLocator

    tasks = part["task"].unique(maintain_order=True).to_list()
    mine = [_by_curve(part.filter(noisy_mean=noisy)) for noisy in (True, False)]
    methods = list(dict.fromkeys(method for method, _, _ in mine[0]))
    shares = {round(share, 6) for share in part["epsilon_per_feature"]}
    known = {key: nmse for key, nmse in beside.items() if key[0] in methods and key[2] in shares}
    drawn = [1 / nmse for curves in (*mine, known) for nmse in curves.values() if nmse]
    lowest, highest = min(drawn), max(drawn)

    def draw(*axes: Axes) -> None:
        for axis, task in zip(axes, tasks, strict=True):
            for method, (colour, mark) in zip(methods, _LOOKS, strict=False):
                looks: dict[str, Any] = {"color": colour, "marker": mark, "ms": 4, "lw": 1.2}
                _curve(axis, mine[0], method, task, label=method, **looks)
                if method != "LPA":
                    hollow = looks | {"mfc": "none", "ls": "--"}
                    _curve(axis, mine[1], method, task, **hollow)
                grey = looks | {"color": GREY, "ls": ":"}
                _curve(axis, known, method, task, **grey)
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
        axes[-1].legend(
            frameon=False, fontsize=SMALL, loc="upper left", bbox_to_anchor=(1, 1), labelcolor=INK
        )

    alt = f"Utility of {what} over ε, one panel a task: " + "; ".join(
        f"{method} from {1 / fmean(_ends(mine[0], method)[0]):.1g} to "
        f"{1 / fmean(_ends(mine[0], method)[1]):.1g}"
        for method in methods
    )
    return svg(
        draw, alt + ". Dashed: mean without noise; dotted: published.", 2.8, columns=len(tasks)
    )


def _line(curves: Curves, method: str, task: str) -> list[tuple[float, float]]:
    return sorted(
        (share, nmse) for (m, t, share), nmse in curves.items() if (m, t) == (method, task)
    )


def _curve(axis: Axes, curves: Curves, method: str, task: str, **looks: Any) -> None:
    line = [(share * FEATURES, 1 / nmse) for share, nmse in _line(curves, method, task) if nmse]
    if line:
        axis.plot(*zip(*line, strict=True), **looks)


def _ends(curves: Curves, method: str) -> tuple[list[float], list[float]]:
    """|NMSE| of all tasks at the smallest and at the largest ε."""
    shares = sorted({share for m, _, share in curves if m == method})
    ends = (
        [nmse for (m, _, share), nmse in curves.items() if (m, share) == (method, end)]
        for end in (shares[0], shares[-1])
    )
    first, last = ends
    return first, last
