"""``eyelid stream``: the live gatekeeper between a tracker and apps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import (
    ColumnMap,
    Json,
    Settings,
    column_map,
    note,
    print_json,
    say,
    settings,
)
from eyelid.errors import InputError, Refused, unknown

if TYPE_CHECKING:
    from eyelid.mechanisms.streams.stream import StreamMechanism

if TYPE_CHECKING:
    from eyelid.stream import Gatekeeper

EXAMPLES = """\b
Sources:
  simulate                     a made-up person; simulate:rate=250,task=image,seed=1
  file:PATH                    a recording, played again; file:study,person=P01,recording=comic
  lsl:NAME                     the Lab Streaming Layer; lsl:NAME,x=gaze_x,y=gaze_y,rate=120
  ws://HOST:PORT               a tracker's WebSocket server; ws://…,format=binary,rate=120
  ws-serve:HOST:PORT           a tracker that connects to us; ws-serve:127.0.0.1:8764,rate=120
\b
Sinks:
  lsl:NAME                     the Lab Streaming Layer
  ws-serve:HOST:PORT           apps that connect to us
  ws://HOST:PORT               an app's WebSocket server; ws://…,format=binary
\b
Examples:
  eyelid stream --source simulate --epsilon 1 --window 500ms --radius 3 --seconds 20
  eyelid stream --source simulate --epsilon 1 --window 500ms --radius 3 \\
      --sink ws-serve:127.0.0.1:8765 --origin http://localhost:8000
  eyelid stream --source lsl:tracker,rate=120 --filter kaleido --epsilon 1 --window 500ms \\
      --radius 60 --units px --scene 0,0,1920,1080 --sink lsl:private --budget anna.budget \\
      --limit 5000 --on-limit coarsen
  eyelid stream --source simulate --epsilon 20 --window 500ms --radius 1 --events 0.3 \\
      --areas 'menu:0,0,10,27; page:10,0,45,27' --sink ws-serve:127.0.0.1:8765
  eyelid stream --source file:study,person=P01 --speed full --epsilon 2 --window 60 --radius 3 \\
      --record released.csv"""

_RAW = "none"
_FRACTIONS = ("fraction", "normalised")
_TIERS = {"fine": "kaleido", "coarse": "fixations"}
_OPTIONS = (
    "filter",
    "epsilon",
    "window",
    "radius",
    "units",
    "scene",
    "limit",
    "on_limit",
    "budget",
    "seed",
    "events",
    "counters",
    "areas",
)


def run(
    source: Annotated[str, typer.Option(metavar="SOURCE", show_default=False, help="See below.")],
    filter: Annotated[
        str | None, typer.Option(help="Its name ('eyelid mechanisms') [kaleido].")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The most that a window spends.")] = None,
    window: Annotated[
        str | None, typer.Option(metavar="W", help="Samples hidden together: 60, 500ms, 2s.")
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="How far each may have been elsewhere, in units of gaze.")
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="Of gaze: px, deg, fraction, direction [the source's].")
    ] = None,
    scene: Annotated[
        str | None,
        typer.Option(metavar="X0,Y0,X1,Y1", help="What everybody could look at [the source's]."),
    ] = None,
    sink: Annotated[
        list[str] | None, typer.Option(metavar="SINK", help="See below; repeatable.")
    ] = None,
    tier: Annotated[
        str, typer.Option(metavar="fine|coarse", help="Filtered gaze, or a cell per fixation.")
    ] = "fine",
    events: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of ε for events (fixations, areas entered): to WebSocket apps, not "
            "to --record.",
        ),
    ] = None,
    counters: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of ε for noisy time on --areas, paid for in advance. To the same apps.",
        ),
    ] = None,
    areas: Annotated[
        str,
        typer.Option(
            metavar="NAME:X0,Y0,X1,Y1;…",
            help="Of interest, for events, counters and --tier coarse.",
            show_default=False,
        ),
    ] = "",
    budget: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps a person's total over restarts.")
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(help="A person-level ε never exceeded; lasts only with --budget."),
    ] = None,
    on_limit: Annotated[
        str, typer.Option(metavar="freeze|coarsen", help="What happens there.")
    ] = "freeze",
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what is released to a new .csv or .parquet."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="N", help="Stop after so long [never].")
    ] = None,
    columns: ColumnMap = None,
    speed: Annotated[
        str, typer.Option(metavar="real|full", help="Of what is simulated or replayed.")
    ] = "real",
    rate: Annotated[
        float | None, typer.Option(metavar="HZ", help="Nominal rate of the tracker.")
    ] = None,
    most: Annotated[
        float | None,
        typer.Option(
            "--max-rate",
            metavar="HZ",
            help="More samples than that are dropped [1.5 times the nominal rate].",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Token for apps [EYELID_SINK_TOKEN].")
    ] = None,
    source_token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For trackers [EYELID_SOURCE_TOKEN].")
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Web pages that may connect; repeatable."),
    ] = None,
    lsl_scope: Annotated[
        str, typer.Option(help="Of the Lab Streaming Layer: machine, link, site, ….")
    ] = "machine",
    setting: Settings = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable noise; the guarantee is then void.")
    ] = None,
    unprotected: Annotated[
        bool,
        typer.Option("--unprotected", help="Let a filter release that promises nothing."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Filter live gaze: a source, a filter with its budget, and sinks.

    Apps get filtered gaze; with a filter that promises something, raw gaze never leaves. Stop with
    Ctrl-C. WebSockets are reachable from this machine only unless you ask otherwise. The Lab
    Streaming Layer is not announced by multicast beyond it, but answers whoever asks its ports: use
    a firewall.
    """
    from dataclasses import replace

    from eyelid.mechanisms.streams.stream import filter_named
    from eyelid.stream import Gatekeeper
    from eyelid.stream.pump import Pump
    from eyelid.stream.sinks import sink_of
    from eyelid.stream.sinks.recorder import Recorder
    from eyelid.stream.sources import source_of
    from eyelid.stream.view import rows_of, watched
    from eyelid.stream.window import window_samples
    from eyelid.stream.words import promise_lines

    def remark(text: str) -> None:
        note(f"eyelid: {text}")

    _check(filter, tier, seconds, rate, most)
    if limit is not None and seed is not None:
        raise InputError("--limit limits what a promise costs, and --seed voids it: leave one out")
    kind = filter_named(filter or _TIERS[tier])
    came_from = source_of(
        source,
        speed=speed,  # type: ignore[arg-type]
        token_file=source_token_file,
        lsl_scope=lsl_scope,
        tell=remark,
        map=column_map(columns),
    )
    if rate is not None:
        came_from.scenery = replace(came_from.scenery, rate_hz=rate)
    known = came_from.scenery
    if units is not None and known.units is not None and units not in _alike(known.units):
        raise InputError(
            f"--units {units}, but gaze of {source} is in {known.units}: leave out --units"
        )
    parameters: dict[str, Any] = settings(setting, _OPTIONS)
    samples = None if window is None else window_samples(window, known.rate_hz)
    if window is not None and samples == 1:
        remark(f"--window {window} is 1 sample: single samples are hidden, and no fixation")
    if areas and kind.name != _TIERS["coarse"] and events is None and counters is None:
        raise InputError(
            "--areas are for --events, --counters or --tier coarse: add one of them, or leave the "
            "areas out"
        )
    if counters is not None and not areas:
        raise InputError("--counters count time on areas: say them, --areas 'menu:0,0,10,27; …'")
    asked: dict[str, Any] = {
        "epsilon": epsilon,
        "window": samples,
        "radius": radius,
        "units": units or known.units,
        "scene": scene or (known.scene if units in (None, known.units) else None),
    }
    _check_asked(kind, asked, parameters, known.rate_hz)
    gate = Gatekeeper(
        kind.name,
        **asked,
        limit=limit,
        on_limit=on_limit,  # type: ignore[arg-type]
        budget=budget,
        seed=seed,
        events=events,
        counters=counters,
        areas=areas,
        **parameters,
    )
    with gate:
        _check_gate(gate, unprotected)
        if unprotected:
            remark(
                f"NOTHING IS PROTECTED: {gate.law.name} lets raw gaze out, or what gives it away"
            )
        sinks = [
            sink_of(
                text,
                token_file=token_file,
                origins=origin or (),
                lsl_scope=lsl_scope,
                tell=remark,
            )
            for text in sink or ()
        ]
        recorder = None if record is None else Recorder(record)
        pump = Pump(came_from, gate, [*sinks, *([recorder] if recorder else [])], most)
        kept, coarsens = budget is not None, on_limit == "coarsen"
        for line in promise_lines(
            gate, known.rate_hz, pump.intake.most_per_s, kept=kept, coarsens=coarsens
        ):
            (note if as_json else say)(line)
        with watched(f"eyelid stream: {source}", note) as watch:
            status = pump.run(seconds, watch)
    if as_json:
        print_json(
            {"source": source, "sinks": sink or [], "record": record and str(record)}
            | status.to_dict()
            | {"certificate": gate.certificate()}
        )
    else:
        for name, value in rows_of(status):
            say(f"{name}: {value}")
        if recorder is not None:
            say(f"{record}: what was released. {recorder.certificate_path}: what that promises.")
    if recorder is not None and recorder.trouble:
        raise typer.Exit(1)


def _alike(units: str) -> tuple[str, ...]:
    """Names of the same units."""
    return _FRACTIONS if units in _FRACTIONS else (units,)


def _check_gate(gate: Gatekeeper, unprotected: bool) -> None:
    from eyelid.privacy.guarantee import rounded_up

    promises = gate.law.claims_to_hold
    if not promises and not unprotected:
        raise InputError(
            f"{gate.law.name} promises nothing: what it releases is raw gaze or may give it away. "
            "Choose another filter ('eyelid mechanisms'), or say --unprotected"
        )
    if promises and unprotected:
        raise InputError(
            f"--unprotected is for filters that promise nothing, and {gate.law.spoken} does "
            "promise something: leave it out"
        )
    meter = gate.meter()
    if meter.mode == "frozen" and meter.limit is not None:
        raise Refused(
            f"ε = {rounded_up(meter.person_epsilon)} is spent on this person, which leaves nothing "
            f"of the limit {meter.limit:g}: nothing new would be released"
        )


def _check(
    filter: str | None, tier: str, seconds: float | None, rate: float | None, most: float | None
) -> None:
    if filter in (_RAW, "raw"):
        raise InputError(
            f"--filter {filter} would let raw gaze out, which is what eyelid is there to prevent: "
            "choose a filter ('eyelid mechanisms')"
        )
    if tier not in _TIERS:
        raise unknown("tier", tier, _TIERS)
    if tier == "coarse" and filter not in (None, _TIERS[tier]):
        raise InputError(
            f"--tier coarse is --filter {_TIERS[tier]}, got --filter {filter}: leave one out"
        )
    for name, value in (("seconds", seconds), ("rate", rate), ("max-rate", most)):
        if value is not None and not 0 < value < 1e9:
            raise InputError(f"--{name} must be positive, got {value:g}")


def _check_asked(
    kind: type[StreamMechanism],
    asked: dict[str, Any],
    parameters: dict[str, Any],
    rate_hz: float | None,
) -> None:
    """Refuse what a filter does not know, or cannot do without, in the words of the command."""
    from dataclasses import fields

    from eyelid.mechanisms.streams.scene import EXAMPLES, UNITS, Scene
    from eyelid.mechanisms.streams.stream import first_missing
    from eyelid.mechanisms.streams.study_scene import USUAL_WINDOW_MS, usual_radius

    own = {item.name for item in fields(kind)} - {*_OPTIONS, "coordinates"}
    for name in parameters:
        if name not in own:
            options = (f"--{option.replace('_', '-')}" for option in _OPTIONS)
            raise unknown(f"parameter of {kind.name}", name, [*own, *options])
    units, scene = asked["units"] or "px", asked["scene"]
    if not scene and UNITS.get(units, "") is None:
        other = "" if asked["units"] else " (--units, if it is not px)"
        raise InputError(
            f"gaze in {units} needs a scene, what everybody could look at, since the noise follows "
            f"from it: --scene {EXAMPLES[units]}, say{other}"
        )
    given = {name: value for name, value in (asked | parameters).items() if value is not None}
    given, theirs = kind.as_formal(given), {own: name for name, own in kind.strength.items()}
    missing = first_missing(kind, given)
    if missing is not None:
        name, means = missing
        examples = {
            "epsilon": "1",
            "window": "60" if rate_hz is None else f"{USUAL_WINDOW_MS}ms",
            "radius": f"{usual_radius(Scene.of(units, scene)):g}",
        }
        option = theirs.get(name, name)
        how = f"--{option} {examples[option]}" if option in examples else f"--set {name}=…"
        raise InputError(f"{kind.name} needs {name}, {means}: give it with {how}")
