"""``eyelid lint``: what gives people away besides their gaze."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    In,
    Json,
    Quiet,
    column_map,
    print_findings,
    print_json,
    say,
    working,
)

if TYPE_CHECKING:
    from eyelid.io.lint import Lint

EXAMPLES = """\b
Examples:
  eyelid lint export.tsv
  eyelid lint recordings --map 'file={person}_{task}'
  eyelid lint trials.csv --map person=subject --features features.csv
  eyelid lint study --json"""


def run(
    source: In,
    columns: ColumnMap = None,
    features: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What is measured in a table of trials, as for convert."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Find names, dates, serial numbers, paths and ids.

    Exit code 1 when there are any, 2 when none is found but no study could be read, or not of every
    file: that says little. Empty files are named, and change nothing.

    Warns of what singles participants out without a name: attributes, sampling rates, numbers and
    lengths of recordings. The answer shows what it found: it is for the owner's eyes.
    """
    from eyelid.io.lint import looked_at

    with working(quiet=quiet):
        seen = looked_at(source, column_map(columns), features=features)
        return _say(seen, source, columns, features, as_json)


def _say(
    seen: Lint, source: Path, columns: list[str] | None, features: Path | None, as_json: bool
) -> int:
    """Say what was found; the exit code."""
    from dataclasses import asdict

    from eyelid.releases.advice import on
    from eyelid.spelling import plural

    found = seen.findings
    # Files without a leak in them are not clean when nobody could tell whose they are.
    code = 1 if seen.leaks else 2 if seen.unread else 0
    if as_json:
        print_json(
            {
                "schema": "eyelid/lint/1",
                "clean": not found,
                "leaks": len(seen.leaks),
                "warnings": len(seen.warnings),
                "findings": [asdict(finding) for finding in found],
            }
        )
        return code
    if not found and seen.release:
        say(f"{source}: nothing found. Its certificate, which is of these data, says that it is a")
        say("release and what it promises. An audit checks that, and lint does not.")
        return code
    if not found:
        say(f"{source}: nothing found besides the gaze, which itself identifies people.")
        return code
    if seen.leaks:
        print_findings("Leaks", seen.leaks)
    if seen.warnings:
        print_findings("Warnings", seen.warnings)
    if not seen.leaks and seen.unread:
        what = "not every file could be read" if seen.convertible else "no study could be read"
        say(f"{source}: {what}, so this is not all: say with --map what it holds.")
        return code
    if not seen.leaks:
        warned = plural(len(seen.warnings), "warning")
        say(f"{source}: no leaks and {warned}, besides the gaze, which itself identifies people.")
        return code
    if seen.release:
        say(f"By its certificate {source} is a release: remove such files before you share it;")
        say("what is in its tables is mended in the original, and released from there.")
        return code
    if not seen.convertible:
        say("Mend it by hand, or say with --map what it holds, so that it can be converted.")
        return code
    more = " --skip-unreadable" if seen.left_out else ""
    more += f" --features {shlex.quote(str(features))}" if features is not None else ""
    say(f"Mend it: {on(f'eyelid convert IN OUT{more}', source, columns)}")
    return code
