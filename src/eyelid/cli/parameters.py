"""How the command line spells the parameters that the library names.

The library says `` `ledger` ``, `` `k=4` `` or, with a value that is to be filled in,
`` `size=…` `` in what people read, as Python has it. A command has an option for some parameters,
``--set`` for those of mechanisms, and neither for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_NAMED = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")
_NEEDS_QUOTES = re.compile(r"[\s{}*?$&;|<>()]")
# What the library calls otherwise than the command line.
_CALLED = {"rate_hz": "rate", "every_s": "every", "for_s": "for", "window_s": "window"}
# What mechanisms are set to, where another command's option is called so, too.
_SET = {"length": "ROWS"}
_FLAGS = {("only_areas", "True"): "--only areas"}

_options: ContextVar[Mapping[str, str] | None] = ContextVar("options", default=None)
# Those of all commands: one may advise another.
_of_others: ContextVar[Mapping[str, str] | None] = ContextVar("of_others", default=None)


@contextmanager
def options_of(command: Any, others: Iterable[Any] = ()) -> Iterator[None]:
    """Spell parameters as the options of a command, while it runs.

    Args:
        command: of the parser; None where there is none.
        others: whose options are spelt where the command has none of that name.
    """
    found = dict(_spelt(getattr(command, "params", ())))
    several = (_spelt(getattr(other, "params", ())) for other in others)
    token = _options.set(found)
    token_of_others = _of_others.set({name: takes for each in several for name, takes in each})
    try:
        yield
    finally:
        _options.reset(token)
        _of_others.reset(token_of_others)


def _spelt(parameters: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Each option without its dashes, and what it takes."""
    for parameter in parameters:
        for name in parameter.opts:
            if name.startswith("--"):
                yield name.removeprefix("--"), parameter.metavar or ""


def as_options(text: str) -> str:
    """What the library says, with parameters as the running command spells them.

    Args:
        text: that may name parameters in backticks.

    >>> from types import SimpleNamespace as Some
    >>> options = [Some(opts=["--set"], metavar="KEY=VALUE"), Some(opts=["--size"], metavar="WxH")]
    >>> with options_of(Some(params=options)):
    ...     print(as_options("give `size=…`, or `k=4`; leave out `size`; `people` are known"))
    give --size WxH, or --set k=4; leave out --size; people are known
    """
    return _NAMED.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    own, others = _options.get() or {}, _of_others.get() or {}
    parameter, value = found[1], found[2]
    if (parameter, value) in _FLAGS:
        return _FLAGS[parameter, value]
    if value is not None and parameter in _SET:
        return f"--set {parameter}={_SET[parameter] if value == '…' else value}"
    name = _CALLED.get(parameter, parameter).replace("_", "-")
    settable = value is not None and "set" in own
    known = own if name in own or settable else others
    if name in known:
        if value is None:
            return f"--{name}"
        return f"--{name} {known[name] or value if value == '…' else _typed(value)}"
    if settable:
        return f"--set {parameter}={value}"
    return parameter if value is None else f"{parameter}={value}"


def _typed(value: str) -> str:
    """A value as a shell takes it: in quotes only where it has to be."""
    plain = value.strip("'")
    return f"'{plain}'" if _NEEDS_QUOTES.search(plain) else plain
