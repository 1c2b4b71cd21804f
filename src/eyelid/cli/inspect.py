"""``eyelid inspect``: what is in there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from eyelid.cli.output import (
    ColumnMap,
    In,
    Json,
    People,
    SkipUnreadable,
    column_map,
    print_json,
    print_table,
    remark,
    say,
    show,
)

EXAMPLES = """\b
Examples:
  eyelid inspect study
  eyelid inspect recording.asc --pictures pictures
  eyelid inspect recordings --map 'file={person}_{task}' --json
  eyelid inspect gaze.csv --map header=no,x=1,y=2,units=px,rate_hz=60"""


def run(
    source: In,
    columns: ColumnMap = None,
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw each recording into a new folder of small PNGs."),
    ] = None,
    skip_unreadable: SkipUnreadable = False,
    people: People = None,
    as_json: Json = False,
) -> None:
    """See what a study has and what can be made of it.

    How good it is, who stands out, and which release suits its size. The answer describes private
    data: it is for the owner's eyes.
    """
    from eyelid.engine.progress import shown
    from eyelid.io import read
    from eyelid.releases.advice import affordable, of_people, on
    from eyelid.releases.inspection import draw_recordings, inspect

    with shown():
        study = read(source, column_map(columns), skip_unreadable=skip_unreadable, people=people)
        found = inspect(study)
        if pictures is not None:
            draw_recordings(study, pictures)
    remark(*found["notes"])
    if as_json:
        print_json(found)
        return
    rate = found["rate_hz"]
    length = found["duration_s"]
    # Trials have an order and seldom a time.
    clocked = found["kind"] != "features" or "derived" in found or rate["measured"]
    rows = [
        *([("read as", ", ".join(found["read_as"]))] if found["read_as"] else []),
        ("people", found["people"]),
        ("recordings", found["recordings"]),
        ("tasks", found["tasks"]),
        ("stimuli", found["stimuli"]),
        (found["kind"], f"{found['rows']:,} rows"),
        ("units", _with_more(found["units"], found["xy_origin"] and f"from {found['xy_origin']}")),
        ("screen", _screen(found["screen"])),
        ("eyes", ", ".join(found["eyes"]) or "–"),
        ("pupil", found["pupil_unit"] or "–"),
        (
            "rows per second",
            _with_more(
                rate["measured"] and f"{rate['measured']:.4g}",
                rate["nominal"] and f"nominally {rate['nominal']:g}",
            ),
        ),
        ("jitter", "–" if rate["jitter_ms"] is None else f"{rate['jitter_ms']:.3g} ms"),
        (
            "length of a recording",
            _seconds(length["shortest"], length["longest"]) if clocked else "–",
        ),
        ("attributes of people", ", ".join(found["attributes"]) or "none"),
        *([("simulated", "yes")] if found["simulated"] else []),
        *([("made by", _derived(found["derived"]))] if "derived" in found else []),
        *(
            [("people chosen by", ", ".join(found["people_chosen"]))]
            if "people_chosen" in found
            else []
        ),
    ]
    print_table(str(source), ["what", "value"], rows)
    missing = {k[8:]: v for k, v in found["quality"].items() if k.startswith("missing_")}
    worst = sorted(missing.items(), key=lambda item: -item[1])[:5]
    quality = [(f"missing: {name.replace('_', ' ')}", f"{share:.1%}") for name, share in worst]
    if "off_screen" in found["quality"]:
        quality.append(("off the screen", f"{found['quality']['off_screen']:.1%}"))
    if "sample_to_sample" in found["quality"]:
        moved = f"{found['quality']['sample_to_sample']:.3g} {found['units'] or ''}".strip()
        quality.append(("from sample to sample (median)", moved))
    if "gaps" in found["quality"]:
        quality.append(("interruptions", found["quality"]["gaps"]))
    print_table("Quality", ["what", "value"], quality)
    if found["events"]:
        print_table("Events", ["kind", "count"], sorted(found["events"].items()))
    if found["quasi_identifiers"]:
        alone = [
            (" + ".join(q["columns"]), q["people_alone"], q["smallest_group"])
            for q in found["quasi_identifiers"]
        ]
        print_table("Quasi-identifiers", ["what", "people alone", "smallest group"], alone)
    say(found["release"])
    # Other commands stop at what this one passed over.
    readable = ["eyelid convert IN OUT --skip-unreadable"] if skip_unreadable else found["next"]
    show(
        f"Next: {on(command, source, columns)}"
        for command in of_people(affordable(readable, study, source), people)
    )


def _seconds(shortest: float, longest: float) -> str:
    """How long recordings are, as exactly as it takes.

    >>> _seconds(0.008, 0.4), _seconds(9.99, 10.01), _seconds(3.2, 61.0)
    ('0.008 to 0.4 s', '10 s', '3.2 to 61 s')
    """
    ends = [f"{end:.2g}" if end < 9.5 else f"{end:.0f}" for end in (shortest, longest)]
    return f"{' to '.join(dict.fromkeys(ends))} s"


def _with_more(what: str | None, more: str | None) -> str:
    return "–" if not what else f"{what}, {more}" if more else what


def _derived(how: dict[str, Any]) -> str:
    """How features were made: kind, windows, detector and its settings."""
    windows = how["window_s"] and f"of {how['window_s']:g} s every {how['step_s']:g} s"
    settings = [f"{name}={value}" for name, value in how["settings"].items()]
    detector = " ".join([how["method"], *settings])
    return ", ".join(
        part
        for part in (
            f"{how['kind']} {windows or ''}".strip(),
            f"detector {detector}",
            f"recordings from {how['min_seconds']:g} s on" if how["min_seconds"] else "",
        )
        if part
    )


def _screen(screen: dict[str, float | None] | None) -> str:
    known = {key: value for key, value in (screen or {}).items() if value is not None}
    parts = []
    if "width_px" in known and "height_px" in known:
        parts.append(f"{known['width_px']}×{known['height_px']} px")
    if "width_m" in known and "height_m" in known:
        parts.append(f"{known['width_m']:g}×{known['height_m']:g} m")
    if "distance_m" in known:
        parts.append(f"{known['distance_m']:g} m away")
    return ", ".join(parts) or "–"
