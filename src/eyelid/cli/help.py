"""What ``--help`` shows: commands in groups, parameters by their own words, examples to paste.

Drawn here, not by the parser, whose versions show types of Python in different ways.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from typer.core import TyperCommand, TyperGroup

LONGEST_SUMMARY = 55
"""Characters of a command's first sentence: with its name it fits a terminal of 80 columns."""
# What an example is explained by stands after a gap.
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
_CONTINUED = re.compile(r"(?<= )\\\n\s+")


class Grouped(TyperGroup):
    """The program: its commands under the heading that each was given."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One section a group, in the order in which commands were added."""
        groups: dict[str, list[tuple[str, str]]] = {}
        longest = max(map(len, self.commands), default=0)
        for name, command in self.commands.items():
            summary = (command.help or "").partition("\n")[0].rstrip(".")
            panel = str(getattr(command, "rich_help_panel", None) or "Commands")
            groups.setdefault(panel, []).append((name.ljust(longest), summary))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class Plain(TyperCommand):
    """A command: what it takes, in the words of its parameters."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Options, then arguments; those in brackets may be left out."""
        names = [_name(each) for each in self.params if _positional(each)]
        return ["[OPTIONS]", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options, each with what it takes and what it is where it is left out."""
        shown = [each for each in self.get_params(ctx) if not getattr(each, "hidden", False)]
        for title, positional in (("Arguments", True), ("Options", False)):
            rows = [(_name(p), _told(p)) for p in shown if _positional(p) is positional]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples, folded where the terminal is narrower, so that they can be pasted."""
        text = _CONTINUED.sub("", (self.epilog or "").replace("\b", ""))
        for line in text.splitlines():
            formatter.write("\n".join(_folded(line, formatter.width)) + "\n")


def _positional(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _name(parameter: Any) -> str:
    """How a parameter is typed.

    >>> from types import SimpleNamespace as Some
    >>> option = Some(param_type_name="option", opts=["--seed"], is_flag=False, metavar="N")
    >>> print(_name(option))
    --seed N
    """
    takes = str(parameter.metavar or parameter.name.upper())
    if _positional(parameter):
        bare = takes.strip("[]") + ("…" if parameter.nargs != 1 else "")
        return bare if parameter.required else f"[{bare}]"
    names = ", ".join(sorted(parameter.opts, key=len))
    return names if parameter.is_flag else f"{names} {takes}"


def _told(parameter: Any) -> str:
    """What a parameter means, with its default in brackets as texts of help have it."""
    default, said = parameter.default, parameter.help or ""
    if parameter.required and not _positional(parameter):
        return f"{said} [required]"
    if isinstance(default, str | int | float) and not isinstance(default, bool) and default != "":
        return f"{said} [{default:g}]" if isinstance(default, float) else f"{said} [{default}]"
    return said


def _folded(line: str, width: int) -> list[str]:
    r"""A line of the examples in as many as it takes; a command goes on after a backslash.

    >>> for part in _folded("  eyelid simulate many --people 100000   a crowd", 30): print(part)
      eyelid simulate many \
          --people 100000
          a crowd
    """
    if len(line) <= width:
        return [line]
    start = line[: len(line) - len(line.lstrip())]
    below = start + " " * 4
    command, *comments = _GAP.split(line.strip())
    lines: list[str] = []
    # An option stays beside its value.
    for word in re.split(r" (?=-)", command):
        if lines and len(lines[-1]) + len(word) + 3 <= width:
            lines[-1] += f" {word}"
        else:
            lines.append((below if lines else start) + word)
    folded = [f"{each} \\" for each in lines[:-1]] + lines[-1:]
    for comment in comments:
        folded += textwrap.wrap(comment, width, initial_indent=below, subsequent_indent=below)
    return folded
