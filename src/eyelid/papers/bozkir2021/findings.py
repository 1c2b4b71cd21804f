"""What the paper done again comes to, in a few short sentences that follow from the exhibits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.recognition import NO_NOISE, NOTHING
from eyelid.papers.bozkir2021.sentences import (
    ALIKE,
    best,
    best_printed,
    gaps,
    limits,
    most,
    nearer,
)
from eyelid.papers.bozkir2021.utility import power, slope
from eyelid.papers.reproduction import Cell, Exhibit

_WITH_VOTE = ("Table 1", "Table 2", "Table 3", "Table 5")


def findings(exhibits: Sequence[Exhibit], simulated: bool) -> tuple[str, ...]:
    """One sentence each on people, means, documents, what comes out, ε and the figures.

    Args:
        exhibits: of one dataset.
        simulated: whether its people are made up, so that nothing can come out as printed.
    """
    done = [exhibit for exhibit in exhibits if exhibit.cells]
    said = [
        _people(done),
        _means(done),
        _documents(done),
        "" if simulated else _comes_out(done),
        _epsilon(done),
        _slopes(done),
    ]
    return tuple(one for one in said if one)


def _called(done: Sequence[Exhibit], *starts: str) -> Exhibit | None:
    return next((one for one in done if one.name.startswith(starts)), None)


def _smallest(table: Exhibit) -> float:
    return min(_epsilon_of(cell) for cell in table.cells)


def _epsilon_of(cell: Cell) -> float:
    return float(cell.column.removeprefix("ε = ").partition(",")[0])


def _of_zeros(done: Sequence[Exhibit], table: Exhibit, row: str, classifier: str) -> float:
    controls = _called(done, "Controls")
    assert controls is not None, "tables come with controls"
    value = controls.at(f"{row}, {NOTHING}", f"{table.name}, {classifier}").by_protocol
    return math.nan if value is None else value.mean


def _people(done: Sequence[Exhibit]) -> str:
    """FPA's identification, in both readings."""
    table = _called(done, "Table 3", "Table 5")
    if table is None or table.chance is None or "FPA" not in table.rows:
        return ""
    epsilon, parts, noise = _smallest(table), [], True
    for row, words in (("FPA", "with noise on the mean"), (f"FPA, {KEPT}", "without")):
        found, leak_free = (
            best(table.cells, row, epsilon, kind) for kind in ("by_protocol", "leak_free")
        )
        assert found is not None, "every row is done as printed"
        zero = _of_zeros(done, table, row, found[0])
        noise &= zero > found[1].mean - ALIKE and found[1].mean > table.chance + ALIKE
        across = "" if leak_free is None else f", across tasks {leak_free[1].mean:.2f}"
        parts.append(f"{found[1].mean:.2f} {words} (zero signals {zero:.2f}{across})")
    said = (
        f"People named in FPA at ε = {epsilon:g}, printed "
        f"{best_printed(table.cells, 'FPA', epsilon):.2f}: {', '.join(parts)}; chance "
        f"{table.chance:.2f}."
    )
    return f"{said} Halves of a release share its noise." if noise else said


def _means(done: Sequence[Exhibit]) -> str:
    """What an attacker sees who averages noise away."""
    exhibit = _called(done, "By means")
    if exhibit is None:
        return ""
    epsilons = sorted({_epsilon_of(cell) for cell in exhibit.cells})
    released = [cell for cell in exhibit.cells if cell.row != NO_NOISE]
    noisy, kept = (
        " and ".join(limits(most(released, epsilon, reading).value) for epsilon in epsilons)
        for reading in (True, False)
    )
    return (
        f"By means over recordings up to {noisy} are named across tasks at ε = "
        f"{' and '.join(f'{epsilon:g}' for epsilon in epsilons)} if the mean gets noise, "
        f"{kept} if it gets none, as the published slopes need; chance {exhibit.chance:.2f}."
    )


def _documents(done: Sequence[Exhibit]) -> str:
    """The row in which documents are told best."""
    table = _called(done, "Table 1")
    if table is None or table.chance is None:
        return ""
    epsilon = _smallest(table)
    told = {
        row: found
        for row in table.rows
        if (found := best(table.cells, row, epsilon, "by_protocol"))
    }
    row = max(told, key=lambda one: told[one][1].mean)
    classifier, value = told[row]
    zero = _of_zeros(done, table, row, classifier)
    leak_free = best(table.cells, row, epsilon, "leak_free")
    said = (
        f"Documents at ε = {epsilon:g}: {value.mean:.2f} at best ({row}; printed at best "
        f"{best_printed(table.cells, row, epsilon):.2f}), {zero:.2f} if all signals are zero"
    )
    if leak_free:
        said += f", {leak_free[1].mean:.2f} tested on raw windows"
    said += f"; chance {table.chance:.2f}."
    noise = zero > value.mean - ALIKE and value.mean > table.chance + ALIKE
    return f"{said} With these features it is the noise." if noise else said


def _comes_out(done: Sequence[Exhibit]) -> str:
    """The tables with vote."""
    near: list[tuple[str, str]] = []
    far: list[tuple[str, str]] = []
    for table in done:
        if table.name not in _WITH_VOTE:
            continue
        for family, readings in gaps(table.cells).items():
            reading, gap = nearer(readings)
            if gap.mean <= ALIKE:
                near.append((table.name, f"{family} {'without' if reading == KEPT else 'with'}"))
            else:
                far.append((table.name, family))
    if not near + far:
        return ""
    return (
        f"Within {ALIKE:g} of the printed shares on average, with or without noise on the mean: "
        f"{_grouped(near)}. Not reproduced either way: {_grouped(far)}."
    )


def _grouped(pairs: Sequence[tuple[str, str]]) -> str:
    """By table.

    >>> _grouped([("Table 1", "FPA"), ("Table 1", "CFPA"), ("Table 3", "FPA")])
    'Table 1 (FPA, CFPA), Table 3 (FPA)'
    """
    names = dict.fromkeys(table for table, _ in pairs)
    return (
        ", ".join(
            f"{name} ({', '.join(family for table, family in pairs if table == name)})"
            for name in names
        )
        or "none"
    )


def _epsilon(done: Sequence[Exhibit]) -> str:
    """What a person would lose."""
    exhibit = _called(done, "What ε means")
    if exhibit is None:
        return ""
    epsilon = max(cell.printed or 0.0 for cell in exhibit.cells)
    totals = [
        cell.leak_free.mean for cell in exhibit.cells if cell.leak_free and cell.printed == epsilon
    ]
    return (
        f"No printed ε holds, since scale and k come from the data; were they public, {epsilon:g} "
        f"would be {min(totals):,.0f} to {max(totals):,.0f} for a person."
    )


def _slopes(done: Sequence[Exhibit]) -> str:
    """Of CFPA, where readings differ."""
    figure = _called(done, "Figure 8", "Figure 11")
    if figure is None:
        return ""

    lines: dict[tuple[bool, str], dict[str, dict[float, float]]] = {}
    for cell in figure.cells:
        ours = None if cell.by_protocol is None else cell.by_protocol.mean
        for kind, tens in (("ours", ours), ("published", cell.printed)):
            if tens is not None:
                curves = lines.setdefault((cell.row.endswith(KEPT), kind), {})
                curves.setdefault(cell.row, {})[_epsilon_of(cell)] = 10.0**-tens

    def of(kept: bool, kind: str) -> float | None:
        found = [one for curve in lines.get((kept, kind), {}).values() if (one := slope(curve))]
        return median(found) if found else None

    noisy, kept, published = of(False, "ours"), of(True, "ours"), of(False, "published")
    if noisy is None or kept is None:
        return ""
    said = (
        f"|NMSE| of CFPA falls as {power(noisy)} with noise on the mean, as {power(kept)} without"
    )
    return said + (
        "." if published is None else f"; as {power(published)} in the published numbers."
    )
