"""``eyelid stream``: the live gatekeeper between a tracker and apps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eyelid.cli.output import Json, Settings, note, print_json, say, settings
from eyelid.errors import InputError, unknown

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
  eyelid stream --source file:study,person=P01 --speed full --epsilon 2 --window 60 --radius 3 \\
      --scene 0,0,45,26 --record released.csv"""

_RAW = "none"
_TIERS = {"fine": "kaleido", "coarse": "fixations"}
_OPTIONS = ("filter", "epsilon", "window", "radius", "units", "scene", "limit", "budget", "seed")


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
    budget: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps a person's total over restarts.")
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="A person-level ε that is never exceeded.")
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
    as_json: Json = False,
) -> None:
    """Filter live gaze: a source, a filter with its budget, and sinks.

    Apps get filtered gaze, raw gaze never leaves. Stop with Ctrl-C. Nothing is announced or
    reachable beyond this machine unless you ask for it.
    """
    from dataclasses import replace

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
    came_from = source_of(
        source,
        speed=speed,  # type: ignore[arg-type]
        token_file=source_token_file,
        lsl_scope=lsl_scope,
        tell=remark,
    )
    if rate is not None:
        came_from.scenery = replace(came_from.scenery, rate_hz=rate)
    known = came_from.scenery
    parameters = settings(setting, _OPTIONS)
    gate = Gatekeeper(
        filter or _TIERS[tier],
        epsilon=epsilon,
        window=None if window is None else window_samples(window, known.rate_hz),
        radius=radius,
        units=units or known.units,
        scene=scene or (known.scene if units in (None, known.units) else None),
        limit=limit,
        on_limit=on_limit,  # type: ignore[arg-type]
        budget=budget,
        seed=seed,
        **parameters,
    )
    with gate:
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
        for line in promise_lines(gate, known.rate_hz):
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
