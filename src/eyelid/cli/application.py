"""All commands as one program, and what every failure of theirs is printed as."""

from __future__ import annotations

import ast
import contextlib
import inspect as inspection
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import typer

from eyelid.cli import (
    STOPPED,
    STOPPED_CODE,
    audit,
    budget,
    compare,
    convert,
    cost,
    demo,
    events,
    features,
    heatmap,
    inspect,
    lint,
    mechanisms,
    norms,
    recommend,
    release,
    reproduce,
    simulate,
    stream,
    summary,
    verify,
)
from eyelid.cli.help import Grouped, Plain
from eyelid.cli.parameters import as_options, options_of
from eyelid.cli.standard_streams import standard_streams
from eyelid.engine.children import safe_children
from eyelid.errors import EyelidError, EyelidWarning, unknown
from eyelid.spelling import on_terminal
from eyelid.version import build

_WARNINGS = "PYTHONWARNINGS"

app = typer.Typer(
    name="eyelid",
    cls=Grouped,
    help="Makes eye-tracking data safe to share, and says exactly what that means.",
    epilog="Start with: eyelid demo",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help_of(run: Callable[..., object]) -> str | None:
    """What a command's docstring says, also where Python was told to drop docstrings (-OO)."""
    if sys.flags.optimize < 2:
        return None
    try:
        (function,) = ast.parse(inspection.getsource(run)).body
    except (OSError, SyntaxError, ValueError):
        return None
    return ast.get_docstring(function) if isinstance(function, ast.FunctionDef) else None


_GROUPS = {
    "Prepare": (inspect, lint, convert, events, features),
    "Plan": (mechanisms, norms, cost, compare, recommend, budget),
    "Release": (release, summary, heatmap, stream),
    "Check": (audit, verify),
    "Research": (demo, simulate, reproduce),
}

for _title, _commands in _GROUPS.items():
    for _command in _commands:
        app.command(
            _command.__name__.rsplit(".", 1)[1],
            cls=Plain,
            help=_help_of(_command.run),
            epilog=_command.EXAMPLES,
            rich_help_panel=_title,
        )(_command.run)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"eyelid {build()}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Makes eye-tracking data safe to share, and says exactly what that means."""


def main() -> NoReturn:
    """Run the command line; every failure is one line on stderr and an exit code."""
    with standard_streams(), _no_warnings_of_libraries():
        _main()


@contextlib.contextmanager
def _no_warnings_of_libraries() -> Iterator[None]:
    """Have what libraries warn of on the way not stand between the words of a command.

    They speak to programmers, and may repeat what a file of others says. Python's own switches
    (``PYTHONWARNINGS``) and ``EYELID_DEBUG=1`` show them, each on one line. Processes that are
    started inside inherit all this.
    """
    shown = bool(sys.warnoptions or os.environ.get("EYELID_DEBUG"))
    display, inherited = warnings.showwarning, os.environ.get(_WARNINGS)

    def one_line(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, EyelidWarning):
            print(on_terminal(f"eyelid: {message}"), file=sys.stderr)
        elif shown:
            text = f"eyelid: {category.__name__}: {message} ({place[0]}, line {place[1]})"
            print(on_terminal(text), file=sys.stderr)

    warnings.showwarning = one_line  # type: ignore[assignment]
    if not shown:
        os.environ[_WARNINGS] = "ignore"
    try:
        yield
    finally:
        warnings.showwarning = display
        os.environ.pop(_WARNINGS, None)
        if inherited is not None:
            os.environ[_WARNINGS] = inherited


def _main() -> NoReturn:
    # The base of all of typer's own complaints, wherever its parser lives.
    complaint: type[Exception] = typer.BadParameter.__mro__[2]
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        # Whatever a library starts, and whenever.
        with safe_children():
            code = _run(sys.argv[1:])
        sys.stdout.flush()
    except EyelidError as error:
        _fail(_message_of(error), error.exit_code)
    except complaint as error:
        _fail(_complaint(error), 2)
    except (typer.Abort, KeyboardInterrupt) as error:
        _fail(_message_of(error, STOPPED), STOPPED_CODE)
    except OSError as error:
        what = f"{error.strerror or error}: {error.filename or 'no file named'}"
        _fail(_message_of(error, what), 2)
    except Exception as error:
        if os.environ.get("EYELID_DEBUG"):
            raise
        what = f"a fault in eyelid itself ({type(error).__name__}: {error}): please report it"
        _fail(f"{_message_of(error, what)}; EYELID_DEBUG=1 shows where", 70)
    sys.exit(code)


def _run(words: list[str]) -> int:
    """The command that was typed; its exit code.

    Not by the parser's own main, which prints failures in its own way.
    """
    command = typer.main.get_command(app)
    commands = getattr(command, "commands", {})
    asked = next((word for word in words if not word.startswith("-")), "")
    if asked and asked == words[0] and asked not in commands:
        raise unknown("command", asked, commands, "eyelid --help")
    try:
        with (
            options_of(commands.get(asked), commands.values()),
            command.make_context("eyelid", words) as context,
        ):
            try:
                code = command.invoke(context)
            except EyelidError as error:
                error.args = (as_options(str(error)),)
                raise
    except typer.Exit as stop:
        return stop.exit_code
    return code if isinstance(code, int) else 0


def _complaint(error: Any) -> str:
    """What was typed wrongly, and what to do: the parser's complaints, in our words."""
    context: Any = getattr(error, "ctx", None)
    parameter = getattr(error, "param", None)
    command = getattr(context, "command_path", None) or "eyelid"
    if hasattr(error, "possibilities"):
        options = [name for each in context.command.get_params(context) for name in each.opts]
        # Help is near to anything.
        helps = () if error.option_name.startswith("--h") else ("-h", "--help")
        known = [name for name in options if name.startswith("-") and name not in helps]
        return str(unknown("option", error.option_name, known, f"{command} --help"))
    said = error.format_message().rstrip(".")
    if "Missing" in said and parameter is not None:
        said = f"{_name(parameter)} is missing"
    elif "unexpected extra argument" in said:
        said = f"'{said.partition(' (')[2].removesuffix(')')}' is one word too many"
    elif isinstance(error, typer.BadParameter) and parameter is not None:
        kinds = {"integer": "a whole number", "number": "a number", "float": "a number"}
        takes = next((kind for word, kind in kinds.items() if word in said), None)
        if takes is not None:
            return f"{parameter.opts[0]} takes {takes}, got '{_given(parameter.opts)}'"
        return f"{said}, got '{_given(parameter.opts)}'"
    return f"{said}: '{command} --help' shows what it takes"


def _name(parameter: Any) -> str:
    """An option by its name, an argument by what stands for it."""
    positional = parameter.param_type_name == "argument"
    return str(parameter.metavar if positional else parameter.opts[0])


def _given(options: Sequence[str]) -> str:
    """The value that an option was given, as it was typed."""
    for word, following in itertools.pairwise([*sys.argv, ""]):
        name, joined, value = word.partition("=")
        if name in options:
            return value if joined else following
    return ""


def _message_of(error: BaseException, what: str = "") -> str:
    """What went wrong, and what was noted about it on its way."""
    return "; ".join([what or str(error), *getattr(error, "__notes__", ())])


def _fail(message: str, code: int) -> NoReturn:
    print(on_terminal(f"eyelid: {' '.join(message.split())}"), file=sys.stderr)
    sys.exit(code)
