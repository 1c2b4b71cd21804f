"""``eyelid norms``: where people's averages lie, as far as it is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import Json, print_json, print_table, say, show

if TYPE_CHECKING:
    from eyelid.gaze.norms import Norm

EXAMPLES = """\b
Examples:
  eyelid norms
  eyelid norms reading_rate
  eyelid norms blink_rate --picture blinks.svg
  eyelid norms --task silent-reading --json
  eyelid norms --norms mine.csv"""
_FEW = 8


def run(
    measure: Annotated[
        str | None,
        typer.Argument(metavar="MEASURE", help="One measure, with sources and figures as printed."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="T", help="One kind of task alone: silent-reading, …")
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option(
            "--norms", metavar="FILE", help="Your own norms, csv or TOML (docs/norms.md)."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Norms as bars: .svg, .png or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show published means and spreads of measures.

    They are public knowledge: bounds taken from them cost no privacy and less noise than those of
    definitions. A wrong one biases or blurs a result; it never weakens a guarantee.
    """
    found = _chosen(measure, task, own)
    if picture is not None:
        from eyelid.reporting.norm_pictures import check_norm_picture

        check_norm_picture(picture)
    if as_json:
        print_json(
            {
                "norms": [_facts(norm) for norm in found],
                "none": _without_norm(),
                "picture": None if picture is None else str(picture),
            }
        )
    elif measure is not None:
        show(line for norm in found for line in _in_full(norm))
    else:
        _list(found)
    if picture is not None:
        from eyelid.reporting.norm_pictures import save_norms

        save_norms(found, picture)
        if not as_json:
            say(f"Open {picture}")


def _chosen(measure: str | None, task: str | None, own: Path | None) -> list[Norm]:
    """Norms of a measure and task, one's own first."""
    from eyelid.errors import InputError
    from eyelid.gaze.norms import measure_of, norms
    from eyelid.io.norms import read_norms

    mine = [] if own is None else list(read_norms(own))
    name = None if measure is None else measure_of(measure) or measure
    mine = [n for n in mine if name in (None, n.measure) and task in (None, n.task)]
    # A measure of one's own has no published ones, and is none that eyelid knows.
    own_alone = bool(mine) and name is not None and measure_of(name) is None
    found = mine if own_alone else [*mine, *norms(measure, task)]
    if not found:
        what = measure or f"anything for {task}"
        elsewhere = ", ".join(norm.task for norm in norms(measure)) if measure and task else ""
        also = f" (there are norms for {elsewhere})" if elsewhere else ""
        raise InputError(
            f"no norm of {what} is published that eyelid knows{also}: give your own with its "
            "source (--norms FILE, docs/norms.md), or use the bounds of definitions"
        )
    return found


def _without_norm() -> list[str]:
    """Built-in measures of which nothing is published that eyelid knows."""
    from eyelid.gaze.norms import definitions, norms

    return [name for name in definitions() if not norms(name)]


def _list(norms: Sequence[Norm]) -> None:
    from eyelid.gaze.norms import GRADES

    print_table(
        "Where people's averages lie",
        ["measure", "task", "unit", "mean", "sd between", "within", "grade", "source"],
        [
            (
                norm.measure,
                norm.task,
                norm.unit,
                f"{norm.mean:g}",
                _spread(norm, norm.between),
                "–" if norm.within is None else _spread(norm, norm.within),
                norm.grade,
                norm.source.short or norm.source.text,
            )
            for norm in norms
        ],
    )
    say()
    show(
        f"{grade}: {words}."
        for grade, words in GRADES.items()
        if any(norm.grade == grade for norm in norms)
    )
    none = _without_norm()
    names = f"{', '.join(none[:_FEW])} and {len(none) - _FEW} more"
    say(f"None is known of {names} (all of them: --json): the bounds of their definitions serve.")
    say("One in full, with what its source prints: eyelid norms MEASURE.")


def _spread(norm: Norm, value: float) -> str:
    return f"{value:g}" if norm.scale == "linear" else f"{value:g} (ln)"


def _in_full(norm: Norm) -> Iterator[str]:
    """Everything that is known of a norm."""
    from eyelid.gaze.norms import GRADES, TASKS

    yield f"{norm.measure}, {norm.task} ({TASKS[norm.task]})"
    mean = "geometric mean" if norm.scale == "log" else "mean"
    of = "" if norm.statistic == "mean" else f" of people's {norm.statistic}s"
    yield (
        f"  {mean}{of} {norm.mean:g} {norm.unit}, standard deviation between people "
        f"{_spread(norm, norm.between)}"
        + ("" if norm.within is None else f", within people {_spread(norm, norm.within)}")
    )
    for k in (1, 2, 3):
        lower, upper = norm.range(k)
        yield f"  ± {k} SD: {lower:.4g} to {upper:.4g} {norm.unit}"
    yield f"  {norm.grade}: {GRADES[norm.grade]}"
    source = norm.source
    facts = {
        "source": source.text,
        "at": source.reference,
        "place": source.place,
        "printed": source.printed,
        "people": source.population,
        "instrument": source.instrument,
        "computed": source.arithmetic,
        "note": norm.note,
    }
    for what, words in facts.items():
        if words:
            yield f"  {what}: {words}"
    yield ""


def _facts(norm: Norm) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(norm)
