"""``eyelid stream``: the live gatekeeper between a tracker and apps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    Json,
    Settings,
    column_map,
    note,
    print_json,
    remark,
    say,
    settings,
)

EXAMPLES = """\b
Sources:
  simulate                     a simulated participant; simulate:rate=250,task=image,seed=1
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


def run(
    source: Annotated[str, typer.Option(metavar="SOURCE", show_default=False, help="See below.")],
    filter: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its name ('eyelid mechanisms') [kaleido].")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="The most that a window spends.")
    ] = None,
    window: Annotated[
        str | None, typer.Option(metavar="W", help="Samples hidden together: 60, 500ms, 2s.")
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(metavar="R", help="How far each may have been elsewhere, in units of gaze."),
    ] = None,
    units: Annotated[
        str | None,
        typer.Option(metavar="U", help="Of gaze: px, deg, fraction, direction [the source's]."),
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
        typer.Option(
            metavar="E", help="A person-level ε never exceeded; lasts only with --budget."
        ),
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
        str,
        typer.Option(metavar="SCOPE", help="Of the Lab Streaming Layer: machine, link, site, …."),
    ] = "machine",
    setting: Settings = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Repeatable noise; the guarantee is then void.")
    ] = None,
    unprotected: Annotated[
        bool,
        typer.Option("--unprotected", help="Let a filter release that promises nothing."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Filter live gaze under a privacy budget.

    A source, a filter and sinks: apps get filtered gaze; with a filter whose guarantee is valid,
    raw gaze never leaves. Stop with Ctrl-C. WebSockets are reachable from this machine only unless
    you ask otherwise. The Lab Streaming Layer is not announced by multicast beyond it, but answers
    anyone who asks its ports: use a firewall.
    """
    from eyelid.stream.session import OPTIONS, check_positive, opened
    from eyelid.stream.view import rows_of, watched
    from eyelid.stream.words import promise_lines

    check_positive("seconds", seconds)
    with opened(
        source,
        tell=remark,
        sinks=sink or (),
        record=record,
        filter=filter,
        tier=tier,
        epsilon=epsilon,
        window=window,
        radius=radius,
        units=units,
        scene=scene,
        parameters=settings(setting, OPTIONS),
        events=events,
        counters=counters,
        areas=areas,
        budget=budget,
        limit=limit,
        on_limit=on_limit,  # type: ignore[arg-type]
        seed=seed,
        unprotected=unprotected,
        speed=speed,  # type: ignore[arg-type]
        columns=column_map(columns),
        rate_hz=rate,
        most_hz=most,
        token_file=token_file,
        source_token_file=source_token_file,
        origins=origin or (),
        lsl_scope=lsl_scope,
    ) as (pump, recorder):
        for line in promise_lines(pump.gate, pump.source.scenery.rate_hz, pump.intake.most_per_s):
            (note if as_json else say)(line)
        with watched(f"eyelid stream: {source}", note) as watch:
            status = pump.run(seconds, watch)
    if as_json:
        print_json(
            {"source": source, "sinks": sink or [], "record": record and str(record)}
            | status.to_dict()
            | {"certificate": pump.gate.certificate()}
        )
    else:
        for name, value in rows_of(status):
            say(f"{name}: {value}")
        if recorder is not None:
            say(f"{record}: what was released. {recorder.certificate_path}: what that promises.")
    if recorder is not None and recorder.trouble:
        raise typer.Exit(1)
