"""The ways eyelid says no: one clear line each, and an exit code for scripts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_FEW = 12
"""Names that are told one by one; of more the nearest is."""


class EyelidError(Exception):
    """Anything a person can mend; its text says what was wrong, the value, and what to do."""

    exit_code = 1


class InputError(EyelidError, ValueError):
    """Bad input or usage."""

    exit_code = 2


class Refused(EyelidError):
    """A guarantee that was asked for cannot be given: budget exceeded, unit not offered."""

    exit_code = 3


class EyelidWarning(UserWarning):
    """What a person should know of their installation, though eyelid goes on; one clear line."""


def unknown(what: str, name: str, known: Iterable[str], listed_by: str = "") -> InputError:
    """The error for a name that does not exist: the nearest one that does, or which there are.

    Args:
        what: is named.
        name: as it was given.
        known: those that exist.
        listed_by: a command that shows them, where they are many.

    >>> print(unknown("mechanism", "laplce", ["laplace", "gaussian"]))
    unknown mechanism 'laplce': did you mean 'laplace'? (known: gaussian, laplace)
    >>> print(unknown("window", "first", map(str, range(20)), "eyelid windows"))
    unknown window 'first': 'eyelid windows' lists them
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    # A word that was left short.
    near = near or sorted(
        (each for each in names if name and name.lower() in each.lower()), key=len
    )
    said = f"did you mean '{near[0]}'?" if near else ""
    if len(names) <= _FEW:
        said = f"{said} (known: {', '.join(names)})".strip()
    elif not near and listed_by:
        said = f"'{listed_by}' lists them"
    elif not near:
        said = f"known are {', '.join(names[:_FEW])}, … ({len(names) - _FEW} more)"
    return InputError(f"unknown {what} '{name}'" + (f": {said}" if said[0] != "(" else f" {said}"))


def first_line(error: BaseException) -> str:
    """The first line of what a library says, or the kind of its error where it says nothing."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


@contextmanager
def cannot_read(what: object, *kinds: type[Exception]) -> Iterator[None]:
    """Errors of some kinds as the one that something cannot be read, and why.

    Args:
        what: the file, for the message.
        kinds: of errors that are the file's fault.
    """
    try:
        yield
    except EyelidError:
        raise
    except kinds as error:
        raise InputError(f"cannot read {what}: {first_line(error)}") from None
