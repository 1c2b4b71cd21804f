"""How commands speak: one JSON object for machines, tables and sentences for people."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from eyelid.cli.parameters import as_options
from eyelid.errors import InputError
from eyelid.spelling import Table, in_json, on_terminal

if TYPE_CHECKING:
    from eyelid.io.leaks import Finding

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
In = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="A study folder, a recording, or a folder of recordings.",
        show_default=False,
    ),
]
ColumnMap = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="KEY=VALUE,…|FILE",
        help="What columns, units, screen and file names mean (docs/formats.md); repeatable.",
    ),
]
MinSeconds = Annotated[
    float | None,
    typer.Option(
        "--min-seconds",
        metavar="S",
        help="Leave out shorter recordings; they count as ones without values [one window].",
    ),
]
People = Annotated[
    str | None,
    typer.Option(
        "--people",
        metavar="A,B|@FILE|every-task|saw:S",
        help="These people alone: names, a file with one name a line, those who have every task, "
        "or those who saw a stimulus. The last two look at data, so that who is chosen is not "
        "protected [everybody].",
    ),
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.", show_default=False)]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="Where spending is counted; it must know the people of a study that names one "
        "[beside the original study].",
    ),
]
CardFile = Annotated[
    Path | None,
    typer.Option(
        "--card",
        metavar="FILE",
        help="TOML with name, contact, licence, date of the dataset, for its data card.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A parameter ('eyelid mechanisms NAME'); repeatable."
    ),
]
DetectorSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the detector (docs/events.md); repeatable.",
    ),
]
MechanismName = Annotated[
    str, typer.Option(metavar="NAME", help="What makes it private: 'eyelid mechanisms' lists them.")
]
Epsilon = Annotated[float | None, typer.Option(metavar="E", help="Total for one unit.")]
EpsilonOfPerson = Annotated[float | None, typer.Option(metavar="E", help="Total for one person.")]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="Repeatable noise; the certificate then does not hold."),
]
Delta = Annotated[float | None, typer.Option(metavar="D", help="δ [min(N^-1.5, 1e-6)].")]
Blur = Annotated[
    str | None,
    typer.Option(metavar="SIGMA", help="Point spread: 40 (px) or 1deg [1deg, or width / 42]."),
]
Until = Annotated[
    float | None,
    typer.Option("--for", metavar="SECONDS", help="Until when: a multiple of --every."),
]
SkipUnreadable = Annotated[
    bool, typer.Option("--skip-unreadable", help="Leave out files that cannot be read.")
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="local|dask[:ADDRESS]|dask-unencrypted:ADDRESS",
        help="Processes here, Dask here, or a Dask scheduler at tls://HOST:PORT "
        "(docs/scaling.md). The last takes tcp://HOST:PORT, and accepts that raw gaze can be read "
        "on its way and that what answers can run code here [local].",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", help="How many processes [one a core].")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only, and JSON where it is asked for.")
]

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say everything: all tables, and the caveats.")
]

MORE = "--verbose says more."
"""What a result ends with whose details were left out."""

_SHOWN = 3
_OFFERED = re.compile(r"[\w ]+: eyelid ")
_LONGEST_CELL = 2000
_LONGEST_PLACE = 200
_OPTIONS = (
    "mechanism",
    "epsilon",
    "delta",
    "unit",
    "bounds",
    "ledger",
    "seed",
    "people",
    "recordings",
    "features",
)


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def working(
    engine: str | None = None, workers: int | None = None, quiet: bool = False
) -> Iterator[None]:
    """What a command does, by the engine and in the loudness that were asked for."""
    from eyelid.engine.engines import using
    from eyelid.engine.progress import shown

    token = _quiet.set(quiet)
    try:
        with shown(not quiet), using(engine, workers, tell=remark):
            yield
    finally:
        _quiet.reset(token)


def print_json(value: dict[str, Any]) -> None:
    """Exactly one JSON object on stdout."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(in_json(json.dumps(value, indent=2, ensure_ascii=plain, allow_nan=False)))


def say(text: str = "") -> None:
    """A sentence on stdout: on one line, or as wide as the terminal is."""
    if not _quiet.get():
        _print(on_terminal(as_options(text)), sys.stdout)


def _print(line: str, stream: TextIO) -> None:
    """A line, wrapped at words where a person reads it; a command to copy stays whole."""
    if stream.isatty() and not _OFFERED.match(line):
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    print(line, file=stream)


def note(text: str) -> None:
    """A remark on stderr, out of the way of results, as `say` has it."""
    if not _quiet.get():
        _print(on_terminal(text), sys.stderr)


def remark(*texts: str | None) -> None:
    """Remarks on stderr in eyelid's name; what is empty is none."""
    for text in filter(None, texts):
        note(f"eyelid: {as_options(text)}")


def show(parts: Iterable[str | Table]) -> None:
    """Sentences and tables on stdout, one after the other."""
    for part in parts:
        if isinstance(part, Table):
            print_table(*part)
        else:
            say(part)


class Lines(tuple[str, ...]):
    """A cell of several lines: those in text itself are shown as what they are."""

    __slots__ = ()


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table on stdout; a cell is anything, or `Lines`."""
    if _quiet.get():
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    def words(cell: Any) -> Text:
        lines = cell if isinstance(cell, Lines) else [as_options(str(cell))]
        # Names may have brackets, which are no markup.
        return Text("\n".join(on_terminal(line, _LONGEST_CELL) for line in lines))

    table = Table(
        *[Column(words(name)) for name in columns],
        title=words(title) if title else None,
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
    )
    for row in rows:
        table.add_row(*map(words, row))
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    with console.capture() as drawn:
        console.print(table)
    print(drawn.get(), end="")


def print_findings(title: str, found: Sequence[Finding]) -> None:
    """Leaks as a table: a few of each kind, and how many more there are."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        # The same thing in many files is one thing to mend.
        place = re.sub(r" \d+", "", finding.where.partition(", ")[2])
        groups.setdefault((place, finding.what), []).append(finding)
    rows = []
    for alike in groups.values():
        rows += [
            (on_terminal(f.where, _LONGEST_PLACE), f.what, f.value, f.remedy)
            for f in alike[:_SHOWN]
        ]
        if len(alike) > _SHOWN:
            rows.append((f"… {len(alike) - _SHOWN} more", alike[0].what, "", alike[0].remedy))
    print_table(title, ["where", "what", "value", "what convert does"], rows)


def same_command(context: typer.Context, without: str) -> str:
    """The command that is being run, with what was typed but one of its options.

    Args:
        context: of the command.
        without: the parameter to leave out.
    """
    words = ["eyelid", str(context.info_name)]
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in (None, without) or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[option.name]
        values = value if isinstance(value, list | tuple) else [value]
        # What the name of an option or argument is followed by; a flag by nothing.
        name = [option.opts[0]] if option.param_type_name == "option" else []
        words += name if value is True else [word for each in values for word in (*name, str(each))]
    return shlex.join(words)


def column_map(said: Sequence[str] | None) -> Any:
    """``--map``, as the library takes it."""
    if not said:
        return None
    from eyelid.io.column_map import layout_from_pairs

    return layout_from_pairs(said)


def settings(pairs: Sequence[str] | None, options: Collection[str] = _OPTIONS) -> dict[str, str]:
    """``--set key=value`` as a dictionary; what the command has an option for is refused."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise InputError(f"--set takes KEY=VALUE, got '{pair}'")
        key = key.strip().replace("-", "_")
        if key in found:
            raise InputError(f"--set {key} is given twice: give it once, several values as a,b")
        if key == "people":
            raise InputError(
                f"people is no parameter: --people {value} tells 'cost' how many there are, --set "
                f"made_up={value} says how many participants synthetic draws"
            )
        if key in options:
            option = key.replace("_", "-")
            raise InputError(f"{key} has an option of its own: write --{option} {value}")
        found[key] = value.strip()
    return found


def listed(text: str | None) -> list[str] | None:
    """Values between commas, as they were typed but for spaces; None where nothing was."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def number_or_text(text: str) -> float | str:
    """A number where it is one; a detector says whether it wants another thing.

    Args:
        text: as it was typed.
    """
    try:
        return float(text)
    except ValueError:
        return text
