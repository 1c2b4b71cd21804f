"""The ways eyelid says no: one clear line each, and an exit code for scripts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


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


def unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that does not exist, with the nearest one that does.

    >>> print(unknown("mechanism", "laplce", ["laplace", "gaussian"]))
    unknown mechanism 'laplce': did you mean 'laplace'? (known: gaussian, laplace)
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f": did you mean '{near[0]}'?" if near else ""
    return InputError(f"unknown {what} '{name}'{hint} (known: {', '.join(names)})")


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
