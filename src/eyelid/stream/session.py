"""What ``eyelid stream`` asks for, checked and put together, in the words of the command."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from eyelid.errors import InputError, Refused, unknown
from eyelid.io.column_map import Map
from eyelid.mechanisms.streams.scene import EXAMPLES, UNITS, Scene
from eyelid.mechanisms.streams.stream import StreamMechanism, filter_named, first_missing
from eyelid.mechanisms.streams.study_scene import USUAL_WINDOW_MS, usual_radius
from eyelid.privacy.guarantee import rounded_up
from eyelid.stream.addresses import sink_of, source_of
from eyelid.stream.budget import OnLimit
from eyelid.stream.endpoints import Scenery, Source, Speed
from eyelid.stream.gatekeeper import Gatekeeper
from eyelid.stream.pump import Pump
from eyelid.stream.recorder import Recorder
from eyelid.stream.tiers import takes_areas

OPTIONS = (
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
"""Options that parameters of a filter must not be called."""
_RAW = ("none", "raw")
_FRACTIONS = ("fraction", "normalised")
_TIERS = {"fine": "kaleido", "coarse": "fixations"}
_SECONDS = {"ms": 0.001, "s": 1.0}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A stream as somebody asks for it, every value as it was typed.

    Attributes:
        source: where raw gaze comes from.
        sinks: where released gaze goes.
        record: a new file for what is released.
        filter: its name; by default that of the tier.
        tier: ``fine`` for filtered gaze, ``coarse`` for a cell per fixation.
        epsilon: the most that a window spends.
        window: samples, or a time.
        radius: how far each sample of a window may have been elsewhere.
        units: of gaze, if not the source's.
        scene: what everybody could look at, if not the source's.
        parameters: further ones of the filter.
        events: the share of ε for events.
        counters: the share of ε for counters.
        areas: of interest.
        budget: a file that keeps a person's total over restarts.
        limit: a person-level ε that is never exceeded.
        on_limit: what happens there.
        seed: makes the noise repeatable.
        unprotected: whether a filter may release that promises nothing.
        seconds: how long.
        speed: of what is replayed.
        columns: what those of a file mean.
        rate_hz: nominal rate of the tracker.
        most_hz: samples per second that are let in.
        token_file: holds the token for apps.
        source_token_file: holds the token for trackers.
        origins: of web pages that may connect.
        lsl_scope: how far the Lab Streaming Layer reaches.
    """

    source: str
    sinks: Sequence[str] = ()
    record: Path | None = None
    filter: str | None = None
    tier: str = "fine"
    epsilon: float | None = None
    window: str | None = None
    radius: float | None = None
    units: str | None = None
    scene: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    events: float | None = None
    counters: float | None = None
    areas: str = ""
    budget: Path | None = None
    limit: float | None = None
    on_limit: OnLimit = "freeze"
    seed: int | None = None
    unprotected: bool = False
    seconds: float | None = None
    speed: Speed = "real"
    columns: Map = None
    rate_hz: float | None = None
    most_hz: float | None = None
    token_file: Path | None = None
    source_token_file: Path | None = None
    origins: Sequence[str] = ()
    lsl_scope: str = "machine"


@contextlib.contextmanager
def opened(request: Request, tell: Callable[[str], None]) -> Iterator[tuple[Pump, Recorder | None]]:
    """The pump between source and sinks, with its gatekeeper and the file that records, if any.

    Args:
        request: what was asked for.
        tell: is told what a person should know.
    """
    _check(request)
    kind = filter_named(request.filter or _TIERS[request.tier])
    source = _source(request, tell)
    asked = _asked(request, kind, source.scenery, tell)
    gate = Gatekeeper(
        kind.name,
        **asked,
        limit=request.limit,
        on_limit=request.on_limit,
        budget=request.budget,
        seed=request.seed,
        events=request.events,
        counters=request.counters,
        areas=request.areas,
        **request.parameters,
    )
    with gate:
        _check_gate(gate, request.unprotected)
        if request.unprotected:
            tell(
                f"NOTHING IS PROTECTED: {gate.filter.name} lets raw gaze out, or what gives it away"
            )
        sinks = [
            sink_of(
                text,
                token_file=request.token_file,
                origins=request.origins,
                lsl_scope=request.lsl_scope,
                tell=tell,
            )
            for text in request.sinks
        ]
        recorder = None if request.record is None else Recorder(request.record)
        ends = sinks if recorder is None else [*sinks, recorder]
        yield Pump(source, gate, ends, request.most_hz), recorder


def _check(request: Request) -> None:
    filter, tier = request.filter, request.tier
    if filter in _RAW:
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
    numbers = {"seconds": request.seconds, "rate": request.rate_hz, "max-rate": request.most_hz}
    for name, value in numbers.items():
        if value is not None and not 0 < value < 1e9:
            raise InputError(f"--{name} must be positive, got {value:g}")
    if request.limit is not None and request.seed is not None:
        raise InputError("--limit limits what a promise costs, and --seed voids it: leave one out")


def _source(request: Request, tell: Callable[[str], None]) -> Source:
    """Where gaze comes from, in the units that somebody says it has."""
    source = source_of(
        request.source,
        speed=request.speed,
        token_file=request.source_token_file,
        lsl_scope=request.lsl_scope,
        tell=tell,
        map=request.columns,
    )
    if request.rate_hz is not None:
        source.scenery = replace(source.scenery, rate_hz=request.rate_hz)
    units, known = request.units, source.scenery.units
    alike = _FRACTIONS if known in _FRACTIONS else (known,)
    if units is not None and known is not None and units not in alike:
        raise InputError(
            f"--units {units}, but gaze of {request.source} is in {known}: leave out --units"
        )
    return source


def _asked(
    request: Request,
    kind: type[StreamMechanism],
    known: Scenery,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """What the gatekeeper is asked for; refuses what the filter lacks or does not know."""
    window = None if request.window is None else window_samples(request.window, known.rate_hz)
    if window == 1:
        tell(f"--window {request.window} is 1 sample: single samples are hidden, and no fixation")
    tiers = request.events is not None or request.counters is not None
    if request.areas and not takes_areas(kind) and not tiers:
        raise InputError(
            "--areas are for --events, --counters or --tier coarse: add one of them, or leave the "
            "areas out"
        )
    if request.counters is not None and not request.areas:
        raise InputError("--counters count time on areas: say them, --areas 'menu:0,0,10,27; …'")
    units = request.units or known.units
    scene = request.scene or (known.scene if request.units in (None, known.units) else None)
    asked = {
        "epsilon": request.epsilon,
        "window": window,
        "radius": request.radius,
        "units": units,
        "scene": scene,
    }
    _check_parameters(kind, request.parameters)
    if not scene and UNITS.get(units or "px", "") is None:
        other = "" if units else " (--units, if it is not px)"
        raise InputError(
            f"gaze in {units or 'px'} needs a scene, what everybody could look at, since the noise "
            f"follows from it: --scene {EXAMPLES[units or 'px']}, say{other}"
        )
    examples = {
        "epsilon": "1",
        "window": "60" if known.rate_hz is None else f"{USUAL_WINDOW_MS}ms",
        "radius": f"{usual_radius(Scene.of(units or 'px', scene)):g}",
    }
    _check_complete(kind, asked | request.parameters, examples)
    return asked


def _check_parameters(kind: type[StreamMechanism], parameters: dict[str, Any]) -> None:
    """Refuse what a filter does not know."""
    own = {item.name for item in fields(kind)} - {*OPTIONS, "coordinates"}
    for name in parameters:
        if name not in own:
            options = (f"--{option.replace('_', '-')}" for option in OPTIONS)
            raise unknown(f"parameter of {kind.name}", name, [*own, *options])


def _check_complete(
    kind: type[StreamMechanism], asked: dict[str, Any], examples: dict[str, str]
) -> None:
    """Refuse where something is missing that a filter cannot do without.

    Args:
        kind: of filter.
        asked: all parameters; those that are None were not given.
        examples: of options.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    missing = first_missing(kind, kind.as_formal(given))
    if missing is not None:
        name, means = missing
        theirs = {ours: formal for formal, ours in kind.strength.items()}
        option = theirs.get(name, name)
        how = f"--{option} {examples[option]}" if option in examples else f"--set {name}=…"
        raise InputError(f"{kind.name} needs {name}, {means}: give it with {how}")


def _check_gate(gate: Gatekeeper, unprotected: bool) -> None:
    promises = gate.filter.claims_to_hold
    if not promises and not unprotected:
        raise InputError(
            f"{gate.filter.name} promises nothing: what it releases is raw gaze or may give it "
            "away. Choose another filter ('eyelid mechanisms'), or say --unprotected"
        )
    if promises and unprotected:
        raise InputError(
            f"--unprotected is for filters that promise nothing, and {gate.filter.spoken} does "
            "promise something: leave it out"
        )
    meter = gate.meter()
    if meter.mode == "frozen" and meter.limit is not None:
        raise Refused(
            f"ε = {rounded_up(meter.person_epsilon)} is spent on this person, which leaves nothing "
            f"of the limit {meter.limit:g}: nothing new would be released"
        )


def window_samples(text: str, rate_hz: float | None) -> int:
    """Samples of a window; a time is rounded up, since guarantees count samples.

    Args:
        text: such as ``60``, ``500ms`` or ``2s``.
        rate_hz: of the tracker, if known.

    >>> window_samples("60", None), window_samples("500ms", 120.0), window_samples("2s", 59.9)
    (60, 60, 120)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s)?", text.strip())
    if not found or (found[2] is None and not found[1].isdigit()):
        raise InputError(
            f"window '{text}' is neither samples nor a time: write it as 60, 500ms or 2s"
        )
    if found[2] is None:
        return int(found[1])
    if rate_hz is None:
        raise InputError(
            f"window {text} is a time, and how many samples that is, nobody knows: say the "
            "tracker's nominal rate with --rate HZ, or give the window in samples"
        )
    # Less a little, so that 0.1 · 30 is 3 and not 4.
    return max(1, math.ceil(float(found[1]) * _SECONDS[found[2]] * rate_hz - 1e-6))
