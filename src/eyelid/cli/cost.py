"""``eyelid cost``: the price before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import (
    MORE,
    Blur,
    ColumnMap,
    Delta,
    Epsilon,
    Json,
    MechanismName,
    MinSeconds,
    Settings,
    Until,
    Verbose,
    column_map,
    print_json,
    remark,
    say,
    settings,
    show,
)

if TYPE_CHECKING:
    from eyelid.reporting.quote import Quote

EXAMPLES = """\b
Examples:
  eyelid cost features --mechanism laplace --epsilon 1
  eyelid cost --mechanism gaussian --epsilon 1 --people 40 --recordings 3 --features 16 \\
              --length 600
  eyelid cost features --mechanism ksame --set k=4
  eyelid cost --mechanism ksame-dp --set k=500 --epsilon 4 --people 2000 --recordings 3 \\
              --features 16 --length 600
  eyelid cost study --mechanism kaleido --epsilon 1 --set window=60 --set radius=50
  eyelid cost study --mechanism synthetic-gaze --epsilon 4
  eyelid cost --mechanism synthetic --epsilon 4 --people 500 --recordings 3 --features 52
  eyelid cost --mechanism summary-box --epsilon 1 --people 40 --features 3
  eyelid cost --mechanism map-grid --level good --people 40 --size 1680x1050"""


def run(
    source: Annotated[
        Path | None, typer.Argument(metavar="[IN]", help="A study folder or recordings.")
    ] = None,
    mechanism: MechanismName = ...,  # type: ignore[assignment]
    epsilon: Epsilon = None,
    delta: Delta = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="good|okay", help="Instead of --epsilon, for heatmaps: 1, or 3."),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="UNIT", help="Whose value is hidden [person].")
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            metavar="N|A,B|@FILE|every-task|saw:S",
            help="How many people; of a study, whom it is about (as for release).",
        ),
    ] = None,
    recordings: Annotated[
        int | None, typer.Option(metavar="R", help="Recordings of a person.")
    ] = None,
    features: Annotated[
        int | None, typer.Option(metavar="F", help="How many features, or numbers of each person.")
    ] = None,
    length: Annotated[str | None, typer.Option(metavar="ROWS", help="Rows of a recording.")] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Of the picture, for heatmaps.")
    ] = None,
    blur: Blur = None,
    every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="A map of each stretch of time, for heatmaps."),
    ] = None,
    until: Until = None,
    areas: Annotated[
        int | None, typer.Option(metavar="A", help="How many, for tables of areas.")
    ] = None,
    min_seconds: MinSeconds = None,
    setting: Settings = None,
    columns: ColumnMap = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """See guarantee and error before a release.

    Nothing is spent or written. For heatmaps --recordings are the pictures that share the budget,
    and 'eyelid heatmap --dry-run' tells the same of your data with all its options.
    """
    from eyelid.errors import InputError
    from eyelid.mechanisms import find
    from eyelid.releases.cost import cost

    parameters = settings(setting)
    # A number is how many, as it has always been; names of digits alone go into a file.
    whole = people is not None and people.strip().lstrip("-").isdigit()
    number_of_people = int(people) if whole and people is not None else people
    # As for release, where it is a parameter like others.
    length = length or parameters.pop("length", None)
    chosen: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "unit": unit}
    if find(mechanism).command == "summary":
        given: dict[str, Any] = {**chosen, **parameters}
        given = {k: v for k, v in given.items() if k != "unit" and v is not None}
        whom = number_of_people if source is None else people
        given |= {"people": whom, "features": features, "map": column_map(columns)}
        found = cost(mechanism, source, **given)
        _show(found, assumed=source is None, verbose=verbose, as_json=as_json)
        return
    if find(mechanism).command == "heatmap":
        if features is not None or length is not None:
            raise InputError("a heatmap has neither features nor a length: leave them out")
        from eyelid.releases.kinds.maps.quote import map_cost
        from eyelid.releases.kinds.maps.view import parsed_size

        price = map_cost(
            mechanism,
            source,
            people=number_of_people,
            level=level,
            layers=recordings,
            every_s=every,
            for_s=until,
            size=None if size is None else parsed_size(size),
            areas=areas,
            blur=blur,
            map=column_map(columns),
            **{k: v for k, v in chosen.items() if v is not None} | parameters,
        )
        _show(price, assumed=source is None, verbose=verbose, as_json=as_json)
        return
    for_maps = {
        "level": level,
        "size": size,
        "blur": blur,
        "areas": areas,
        "every": every,
        "for": until,
    }
    for name, value in for_maps.items():
        if value is not None:
            raise InputError(f"--{name} is for heatmaps, not for {mechanism}: leave it out")
    if source is None and length is not None and not length.isdigit():
        raise InputError(f"length must be a number without a study, got '{length}'")
    quote = cost(
        mechanism,
        source,
        people=number_of_people,
        recordings=recordings,
        features=features,
        length=length,
        map=column_map(columns),
        min_seconds=min_seconds,
        **{k: v for k, v in chosen.items() if v is not None} | parameters,
    )
    _show(quote, assumed=source is None, verbose=verbose, as_json=as_json)


def _show(quote: Quote[Any], *, assumed: bool, verbose: bool, as_json: bool) -> None:
    """The price, with what to know of these people."""
    remark(*quote.notes)
    if as_json:
        print_json(quote.to_dict())
    else:
        show(quote.lines(assumed=assumed, verbose=verbose))
        if not verbose:
            say(MORE)
