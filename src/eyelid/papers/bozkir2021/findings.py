"""What the paper done again comes to, in a few short sentences that follow from the exhibits."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from eyelid.papers.reproduction import Cell, Exhibit, Outcome

_WITH_VOTE = ("Table 1", "Table 2", "Table 3", "Table 5")


def findings(exhibits: Sequence[Exhibit], simulated: bool) -> tuple[str, ...]:
    """One sentence each on people, means, documents, what comes out, ε, utility and ε′.

    Args:
        exhibits: of one dataset.
        simulated: whether participants are simulated, so that nothing can come out as printed.
    """
    done = [exhibit for exhibit in exhibits if exhibit.cells]
    said = [
        _people(done),
        _means(done),
        _documents(done),
        "" if simulated else _comes_out(done),
        _epsilon(done),
        _utility(done),
        _dependence(done),
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
        f"People re-identified in FPA at ε = {epsilon:g}, printed "
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
        f"By means over recordings up to {noisy} are re-identified across tasks at ε = "
        f"{' and '.join(f'{epsilon:g}' for epsilon in epsilons)} if the mean gets noise, "
        f"{kept} if it gets none; chance {exhibit.chance:.2f}."
    )


def _documents(done: Sequence[Exhibit]) -> str:
    """The row in which documents are told best."""
    table = _called(done, "Table 1")
    if table is None or table.chance is None:
        return ""
    epsilon = _smallest(table)
    best_by_row = {
        row: found
        for row in table.rows
        if (found := best(table.cells, row, epsilon, "by_protocol"))
    }
    row = max(best_by_row, key=lambda one: best_by_row[one][1].mean)
    classifier, value = best_by_row[row]
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
    both = True
    for table in done:
        if table.name not in _WITH_VOTE:
            continue
        for family, readings in gaps(table.cells).items():
            both &= len(readings) > 1
            reading, gap = nearer(readings)
            if gap.mean <= ALIKE:
                near.append((table.name, f"{family} {'without' if reading == KEPT else 'with'}"))
            else:
                far.append((table.name, family))
    if not near + far:
        return ""
    return (
        f"Within {ALIKE:g} of the printed shares on average, with or without noise on the mean: "
        f"{_grouped(near)}. Not reproduced{' either way' * both}: {_grouped(far)}."
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
        f"No printed ε is valid, since scale and k come from the data; were they public, "
        f"{epsilon:g} would be {min(totals):,.0f} to {max(totals):,.0f} for a person."
    )


def _utility(done: Sequence[Exhibit]) -> str:
    """How far levels are, and which order comes out."""
    claims, levels = _called(done, "Claims about utility"), _called(done, "Levels")
    if claims is None:
        return ""
    order = claims.says.partition("The order ")[2]
    if levels is None:
        return f"The order of utilities {order}"
    apart: dict[str, float] = {}
    for cell in levels.cells:
        far = abs(cell.by_protocol.mean) if cell.by_protocol else 0.0
        apart[cell.row] = max(apart.get(cell.row, 0.0), far)
    return (
        f"Utilities are up to 10^{apart[levels.rows[0]]:.1f} away from the published ones as "
        f"printed, 10^{min(apart.values()):.1f} in the nearest reading. The order {order}"
    )


def _dependence(done: Sequence[Exhibit]) -> str:
    """Whether the paper's conjecture is true."""
    exhibit = _called(done, "ε′ under correlation")
    if exhibit is None or exhibit.verdict is None or exhibit.verdict.claim is None:
        return ""
    conjecture = {
        Outcome.YES: "is confirmed",
        Outcome.PARTLY: "is confirmed in part",
        Outcome.NO: "is not confirmed",
        Outcome.OPEN: "is not tested",
    }[exhibit.verdict.claim]
    return (
        f"The conjecture that correlation raises ε′ less for differences {conjecture}, for one "
        "value and a Gaussian belief; it makes no printed ε valid."
    )
