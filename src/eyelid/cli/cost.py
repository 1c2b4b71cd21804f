"""``eyelid cost``: the price before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import (
    ColumnMap,
    Json,
    MinSeconds,
    Settings,
    column_map,
    note,
    print_json,
    print_table,
    say,
    settings,
)

if TYPE_CHECKING:
    from eyelid.gaze.study import Feature
    from eyelid.releases.kinds.features.expectation import Expectation, MadeUp, Prospect
    from eyelid.releases.kinds.features.quote import Quote
    from eyelid.releases.kinds.streams.quote import StreamQuote

EXAMPLES = """\b
Examples:
  eyelid cost features --mechanism laplace --epsilon 1
  eyelid cost --mechanism gaussian --epsilon 1 --people 40 --recordings 3 --features 16
              --length 600
  eyelid cost features --mechanism ksame --set k=4
  eyelid cost --mechanism ksame-dp --set k=500 --epsilon 4 --people 2000 --recordings 3
              --features 16 --length 600
  eyelid cost study --mechanism kaleido --epsilon 1 --set window=60 --set radius=50
  eyelid cost --mechanism synthetic --epsilon 4 --people 500 --recordings 3 --features 52
  eyelid cost --mechanism map-grid --level good --people 40 --size 1680x1050"""


def run(
    source: Annotated[
        Path | None, typer.Argument(metavar="[IN]", help="A study folder or recordings.")
    ] = None,
    mechanism: Annotated[str, typer.Option(help="Its name.", show_default=False)] = ...,  # type: ignore[assignment]
    epsilon: Annotated[float | None, typer.Option(help="Total for one unit.")] = None,
    delta: Annotated[float | None, typer.Option(help="δ [min(N^-1.5, 1e-6)].")] = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="good|okay", help="Instead of --epsilon, for heatmaps: 1, or 3."),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Whose value is hidden [person].")] = None,
    people: Annotated[
        str | None,
        typer.Option(
            metavar="N|A,B|@FILE|every-task|saw:S",
            help="How many people; of a study, whom it is about (as for release).",
        ),
    ] = None,
    recordings: Annotated[int | None, typer.Option(help="Recordings of a person.")] = None,
    features: Annotated[int | None, typer.Option(help="How many features.")] = None,
    length: Annotated[str | None, typer.Option(help="Rows of a recording.")] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Of the picture, for heatmaps.")
    ] = None,
    blur: Annotated[
        str | None,
        typer.Option(metavar="SIGMA", help="Point spread: 40 (px) or 1deg [1deg, or width / 42]."),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="A map of each stretch of time, for heatmaps."),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Until when: a multiple of --every."),
    ] = None,
    areas: Annotated[int | None, typer.Option(help="How many, for tables of areas.")] = None,
    min_seconds: MinSeconds = None,
    setting: Settings = None,
    columns: ColumnMap = None,
    as_json: Json = False,
) -> None:
    """Show the certificate and the expected error of a release before anything runs.

    For heatmaps --recordings are the pictures that share the budget, and 'eyelid heatmap --dry-run'
    tells the same of your data with all its options.
    """
    from eyelid.errors import InputError
    from eyelid.gaze.features.catalogue import FEW
    from eyelid.mechanisms import find
    from eyelid.privacy.guarantee import Kind
    from eyelid.privacy.unit import Trust
    from eyelid.releases.kinds.features.quote import cost
    from eyelid.releases.kinds.streams.quote import StreamQuote
    from eyelid.releases.words import facts, promise_lines

    parameters = settings(setting)
    # A number is how many, as it has always been; names of digits alone go into a file.
    whole = people is not None and people.strip().lstrip("-").isdigit()
    number_of_people = int(people) if whole and people is not None else people
    # As for release, where it is a parameter like others.
    length = length or parameters.pop("length", None)
    chosen = {"epsilon": epsilon, "delta": delta, "unit": unit}
    if find(mechanism).command == "heatmap":
        if features is not None or length is not None:
            raise InputError("a heatmap has neither features nor a length: leave them out")
        from eyelid.releases.kinds.maps.quote import map_cost
        from eyelid.releases.kinds.maps.view import parsed_size

        told = map_cost(
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
        if as_json:
            print_json(told.to_dict())
            return
        print_table("", ["what", "value"], told.rows())
        for line in told.promise:
            say(line)
        say(told.says)
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
    found = quote.to_dict()
    for remark in quote.notes:
        note(f"eyelid: {remark}")
    if as_json:
        print_json(found)
        return
    if isinstance(quote, StreamQuote):
        _tell_stream(quote)
        return
    errors = quote.expected
    kind = quote.person_level.kind
    rows = [
        ("mechanism", _named(found["mechanism"])),
        ("assumed", facts(quote.mechanism, quote.shape)),
        (f"for one {quote.guarantee.unit}", quote.guarantee.numbers()),
        ("for one person, in total", quote.person_level.numbers()),
        *([("noise", _noise(quote))] if found["noise"] else ()),
        *(_errors(errors, quote.features) if errors else ()),
        *(_of_made_up(quote.made_up) if quote.made_up else ()),
    ]
    alone, together = quote.rank1_bound.values()
    if quote.useless:
        print_table("", ["what", "value"], rows)
        say()
        _plan(quote.prospects)
        say()
        say(found["says"])
        return
    if kind.differential and quote.person_level.trust is Trust.CENTRAL:
        rows.append(("told whether somebody is in it", f"advantage {_most(quote.advantage_bound)}"))
    elif kind is Kind.K_ANONYMITY:
        named = f"no bound: {quote.others}" if quote.others else _most(alone)
        rows.append(("named among the members of a group", named))
    else:
        rows.append(("named by whoever compares everybody", _most(together)))
        rows.append(("named if judged one at a time", _most(alone)))
    if quote.others and kind.differential:
        rows.append(("with all other releases", quote.in_all))
    print_table("", ["what", "value"], rows)
    if quote.prospects:
        say()
        _plan(quote.prospects)
        say()
    if quote.made_up and quote.made_up.mean_errors:
        _means_off(quote.made_up)
    if quote.made_up and quote.made_up.why_dropped:
        _carried(quote.made_up, assumed=source is None)
    how, form = found["person_level"]["how"], quote.form
    for line in promise_lines(quote.person_level, quote.others, how, form):
        say(line)
    if quote.refused:
        say(quote.refused)
    for warning in quote.warnings:
        say(f"Not protected is {warning}.")
    say(found["says"])
    if errors and len(quote.features) > FEW:
        say(
            f"The expected errors of all {len(quote.features)} features are in --json "
            "(expected_error.features), and after a release in DATACARD.md."
        )


def _tell_stream(quote: StreamQuote) -> None:
    """The same of gaze through a filter."""
    from eyelid.releases.words import promise_lines

    print_table("", ["what", "value"], quote.rows())
    how, form = quote.mechanism.person_total(quote.shape), quote.mechanism.form
    for line in promise_lines(quote.person_level, quote.others, how, form):
        say(line)
    if quote.refused:
        say(quote.refused)
    say(quote.to_dict()["says"])


def _named(mechanism: dict[str, Any]) -> str:
    """A mechanism's name, with what is inside a mean."""
    inner = mechanism["parameters"].get("inner")
    return f"{mechanism['name']}, with {inner} inside" if inner else str(mechanism["name"])


def _errors(errors: Expectation, features: Sequence[Feature]) -> Iterator[tuple[str, str]]:
    """How far off what is released will be, row by row of the table."""
    from eyelid.gaze.features.catalogue import window_feature_set
    from eyelid.releases.kinds.features.expectation import CONSTANT_RMSE_OF_SPAN, clipped
    from eyelid.releases.words import errors_told, number

    most = "at most " if errors.most else ""
    before = ", before clipping" if errors.clipped else ""
    told = partial(errors_told, features)
    value = "error of one value of the mean" if errors.central else "error of one value"
    yield value, f"{most}{told(errors.value)}{before}"
    if errors.clipped:
        yield "  clipped to the bounds", f"about {told(clipped(errors.value))}"
    yield "error of a recording's mean", f"{most}{told(errors.recording_mean)}{before}"
    if not errors.central:
        yield "error of the mean over people", f"{most}{told(errors.group_mean)}"
    yield "error of a constant, on average", told(CONSTANT_RMSE_OF_SPAN)
    if not features:
        # Nobody knows units without a study; these show what shares of ranges come to.
        own = window_feature_set()
        yield "  of one value, if they are eyelid's", errors_told(own, errors.value)
        yield "  of a recording's mean", errors_told(own, errors.recording_mean)
    else:
        shares = [errors.value, errors.recording_mean, CONSTANT_RMSE_OF_SPAN]
        yield (
            "the same as shares of a feature's range",
            f"one value {number(shares[0])}, a recording's mean {number(shares[1])}, a constant "
            f"{number(shares[2])}",
        )


def _noise(quote: Quote) -> str:
    """The noise in words; of made-up people in people, whom a reader can compare it with."""
    return quote.made_up.noise_told if quote.made_up else quote.mechanism.sampler(quote.shape)


def _carried(people: MadeUp, *, assumed: bool) -> None:
    """Which features made-up people have, which not and why."""
    if people.carried:
        whose = ", if they are eyelid's features of windows" if assumed else ""
        say(f"Features that are made up{whose}: {', '.join(people.carried)}.")
    say(f"{people.why_dropped[0].upper()}{people.why_dropped[1:]}.")
    say("Others are made up if you choose them, with the option --only of features.")


def _means_off(people: MadeUp) -> None:
    """How far means of synthetic participants will be off, feature by feature."""
    errors = ", ".join(map(str, people.mean_errors))
    say(f"A feature's mean over everybody will be off by at most about: {errors}.")
    if people.tasks_apart_sd is not None:
        say(
            "The difference of two tasks' means will be off by about "
            f"{people.tasks_apart_sd:.2g} standard deviations of the feature, where everybody has "
            "both."
        )


def _of_made_up(people: MadeUp) -> Iterator[tuple[str, str]]:
    """What made-up people will be like, row by row of the table."""
    yield "made-up people", f"{people.people:,}" if people.features else "none of use"
    yield "features of them", f"{people.features} of {people.features_there}"
    if people.share_error is not None:
        wanted = f"{people.share_error:.2g} (wanted at most {people.wanted_error:g})"
        yield "error of a task's share in a quarter", wanted
        yield "noise on a correlation", f"{people.correlation_noise:.2g}"
    many = "no number is enough" if people.people_needed is None else f"{people.people_needed:,}"
    yield "people needed for all features", many
    if not people.features and people.people_needed_for_one is not None:
        yield "people needed for one feature", f"{people.people_needed_for_one:,}"


def _plan(prospects: Sequence[Prospect]) -> None:
    """What more or fewer people would allow."""
    print_table(
        "With so many people",
        ["people", "features", "error of a share"],
        [(f"{p.people:,}", p.features or "none of use", _share(p.share_error)) for p in prospects],
    )


def _share(error: float | None) -> str:
    return "–" if error is None else f"{error:.2g}"


def _most(bound: float | None) -> str:
    from eyelid.privacy.guarantee import rounded_up

    return "no bound known" if bound is None else f"at most {rounded_up(100 * bound, 3)}%"
