"""What ``eyelid stream`` asks for, checked and put together, in the words of the command."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
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
from eyelid.stream.endpoints import Scenery, Speed
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


@contextlib.contextmanager
def opened(
    source: str,
    *,
    tell: Callable[[str], None],
    sinks: Sequence[str] = (),
    record: Path | None = None,
    filter: str | None = None,
    tier: str = "fine",
    epsilon: float | None = None,
    window: str | None = None,
    radius: float | None = None,
    units: str | None = None,
    scene: str | None = None,
    parameters: dict[str, Any] | None = None,
    events: float | None = None,
    counters: float | None = None,
    areas: str = "",
    budget: Path | None = None,
    limit: float | None = None,
    on_limit: OnLimit = "freeze",
    seed: int | None = None,
    unprotected: bool = False,
    speed: Speed = "real",
    columns: Map = None,
    rate_hz: float | None = None,
    most_hz: float | None = None,
    token_file: Path | None = None,
    source_token_file: Path | None = None,
    origins: Sequence[str] = (),
    lsl_scope: str = "machine",
) -> Iterator[tuple[Pump, Recorder | None]]:
    """The pump between source and sinks, with its gatekeeper and the file that records, if any.

    Args:
        source: where raw gaze comes from.
        tell: is told what a person should know.
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
        speed: of what is replayed.
        columns: what those of a file mean.
        rate_hz: nominal rate of the tracker.
        most_hz: samples per second that are let in.
        token_file: holds the token for apps.
        source_token_file: holds the token for trackers.
        origins: of web pages that may connect.
        lsl_scope: how far the Lab Streaming Layer reaches.
    """
    check_positive("rate", rate_hz)
    check_positive("max-rate", most_hz)
    if limit is not None and seed is not None:
        raise InputError("--limit limits what a promise costs, and --seed voids it: leave one out")
    kind = _kind(filter, tier)
    comes_from = source_of(
        source,
        speed=speed,
        token_file=source_token_file,
        lsl_scope=lsl_scope,
        tell=tell,
        map=columns,
    )
    if rate_hz is not None:
        comes_from.scenery = replace(comes_from.scenery, rate_hz=rate_hz)
    known = comes_from.scenery
    _check_units(units, known, source)
    samples = None if window is None else window_samples(window, known.rate_hz)
    if samples == 1:
        tell(f"--window {window} is 1 sample: single samples are hidden, and no fixation")
    _check_areas(kind, areas, events, counters)
    asked = {
        "epsilon": epsilon,
        "window": samples,
        "radius": radius,
        "units": units or known.units,
        "scene": scene or (known.scene if units in (None, known.units) else None),
    }
    own = parameters or {}
    _check_parameters(kind, own)
    _check_complete(kind, asked, own, known.rate_hz)
    gate = Gatekeeper(
        kind.name,
        **asked,  # type: ignore[arg-type]
        limit=limit,
        on_limit=on_limit,
        budget=budget,
        seed=seed,
        events=events,
        counters=counters,
        areas=areas,
        **own,
    )
    with gate:
        _check_gate(gate, unprotected)
        if unprotected:
            tell(
                f"NOTHING IS PROTECTED: {gate.filter.name} lets raw gaze out, or what gives it away"
            )
        ends = [
            sink_of(text, token_file=token_file, origins=origins, lsl_scope=lsl_scope, tell=tell)
            for text in sinks
        ]
        recorder = None if record is None else Recorder(record)
        pump = Pump(comes_from, gate, [*ends, *([recorder] if recorder else [])], most_hz)
        yield pump, recorder


def check_positive(option: str, value: float | None) -> None:
    """Refuse the number of an option that is not positive."""
    if value is not None and not 0 < value < 1e9:
        raise InputError(f"--{option} must be positive, got {value:g}")


def _kind(filter: str | None, tier: str) -> type[StreamMechanism]:
    """The filter that the user names, or that of a tier."""
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
    return filter_named(filter or _TIERS[tier])


def _check_units(units: str | None, known: Scenery, source: str) -> None:
    alike = _FRACTIONS if known.units in _FRACTIONS else (known.units,)
    if units is not None and known.units is not None and units not in alike:
        raise InputError(
            f"--units {units}, but gaze of {source} is in {known.units}: leave out --units"
        )


def _check_areas(
    kind: type[StreamMechanism], areas: str, events: float | None, counters: float | None
) -> None:
    if areas and not takes_areas(kind) and events is None and counters is None:
        raise InputError(
            "--areas are for --events, --counters or --tier coarse: add one of them, or leave the "
            "areas out"
        )
    if counters is not None and not areas:
        raise InputError("--counters count time on areas: say them, --areas 'menu:0,0,10,27; …'")


def _check_parameters(kind: type[StreamMechanism], parameters: dict[str, Any]) -> None:
    """Refuse what a filter does not know."""
    own = {item.name for item in fields(kind)} - {*OPTIONS, "coordinates"}
    for name in parameters:
        if name not in own:
            options = (f"--{option.replace('_', '-')}" for option in OPTIONS)
            raise unknown(f"parameter of {kind.name}", name, [*own, *options])


def _check_complete(
    kind: type[StreamMechanism],
    asked: dict[str, Any],
    parameters: dict[str, Any],
    rate_hz: float | None,
) -> None:
    """Refuse where something is missing that a filter cannot do without.

    Args:
        kind: of filter.
        asked: options; those that are None were not given.
        parameters: of the filter itself.
        rate_hz: of the source, if known.
    """
    units, scene = asked["units"] or "px", asked["scene"]
    if not scene and UNITS.get(units, "") is None:
        other = "" if asked["units"] else " (--units, if it is not px)"
        raise InputError(
            f"gaze in {units} needs a scene, what everybody could look at, since the noise follows "
            f"from it: --scene {EXAMPLES[units]}, say{other}"
        )
    given = {name: value for name, value in asked.items() if value is not None} | parameters
    missing = first_missing(kind, kind.as_formal(given))
    if missing is None:
        return
    name, means = missing
    examples = {
        "epsilon": "1",
        "window": "60" if rate_hz is None else f"{USUAL_WINDOW_MS}ms",
        "radius": f"{usual_radius(Scene.of(units, scene)):g}",
    }
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
    length = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s)?", text.strip())
    if not length or (length[2] is None and not length[1].isdigit()):
        raise InputError(
            f"window '{text}' is neither samples nor a time: write it as 60, 500ms or 2s"
        )
    if length[2] is None:
        return int(length[1])
    if rate_hz is None:
        raise InputError(
            f"window {text} is a time, and how many samples that is, nobody knows: say the "
            "tracker's nominal rate with --rate HZ, or give the window in samples"
        )
    # Less a little, so that 0.1 · 30 is 3 and not 4.
    return max(1, math.ceil(float(length[1]) * _SECONDS[length[2]] * rate_hz - 1e-6))
