"""What a gatekeeper has spent on one person, in a file, so that it goes on after a restart.

Samples are written down before they are released, many at a time: after a kill the file may count
some that never came, and never the other way round. No gaze is in it, released or not, but for the
last point that was released.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from eyelid.engine.atomic import check_apart, write_file
from eyelid.engine.locking import lock
from eyelid.errors import InputError
from eyelid.stream.regimes import Regime

SCHEMA = "eyelid/stream-budget/1"


@dataclass(frozen=True)
class Account:
    """What was spent on a person.

    Attributes:
        before: person-level ε of everything under earlier settings.
        regimes: all settings under which anything may have been released, these included.
        seeded: whether any of it had noise that can be repeated.
        asked: the filter and its parameters, as somebody set them.
        epsilon: of a window now, which a limit may have made smaller.
        window_cost: person-level ε of one window now.
        window: samples of one.
        apart: samples that must pass without a release before other settings begin.
        taken: samples that may have been taken under these settings.
        left_in_order: the run as it was left; None while it is at work, or where it was killed.
    """

    before: float = 0.0
    regimes: tuple[Regime, ...] = ()
    seeded: bool = False
    asked: dict[str, Any] = field(default_factory=dict)
    epsilon: float = 0.0
    window_cost: float = 0.0
    window: int = 1
    apart: int = 0
    taken: int = 0
    left_in_order: dict[str, Any] | None = None

    @property
    def person_epsilon(self) -> float:
        """The total for the person, every window that was begun counted whole."""
        return self.before + math.ceil(self.taken / self.window) * self.window_cost


class Book:
    """The file of one person's account, ours alone while it is open."""

    def __init__(self, path: Path) -> None:
        try:
            # Writing puts a new file in the place of the old one, which would part a link from it.
            self.path = path.resolve()
            if self.path.is_dir():
                raise InputError(
                    f"cannot keep a budget in {path}: it is a folder; name a file in it"
                )
            # What lies in a release is passed on with it.
            check_apart(self.path)
            beside = self.path.with_name(self.path.name + ".lock")
            self._lock = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except (OSError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot keep a budget in {path}: {why}") from None
        if lock(self._lock) is False:
            os.close(self._lock)
            raise InputError(
                f"another gatekeeper counts in {path} already: stop it, or give this person "
                "another file"
            )

    def read(self) -> Account:
        """What the file says; nothing spent where there is none yet."""
        return read_account(self.path)

    def write(self, account: Account) -> None:
        """Have the file say so, now and after a loss of power."""
        text = json.dumps({"schema": SCHEMA, **asdict(account)}, indent=1, allow_nan=False)
        write_file(self.path, text + "\n", durable=True, mode=0o600)

    def close(self) -> None:
        """Let somebody else have it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def is_account(path: Path) -> bool:
    """Whether a file says that it is the budget of a stream."""
    try:
        with path.open(encoding="utf-8") as file:
            return SCHEMA in file.read(200)
    except (OSError, ValueError):
        return False


def read_account(path: Path) -> Account:
    """What the file says; nothing spent where there is none yet."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Account()
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, error) from None
    try:
        if told.pop("schema") != SCHEMA:
            raise ValueError("it has another schema")
        told["regimes"] = tuple(Regime(**regime) for regime in told["regimes"])
        account = Account(**told)
        numbers = [account.before, account.epsilon, account.window_cost]
        windows = [account.window]
        for regime in account.regimes:
            numbers += [regime.epsilon, regime.worst, regime.radii_of_scene, 1 / regime.radius]
            windows += [regime.window]
        if not all(isinstance(n, int | float) and 0 <= n < math.inf for n in numbers):
            raise ValueError("a number in it is none")
        if min(windows) < 1 or account.taken < 0 or account.apart < 0:
            raise ValueError("a count in it is none")
        if not isinstance(account.seeded, bool):
            raise ValueError("seeded is neither true nor false")
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise _unreadable(path, error) from None
    return account


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path} is no budget that eyelid can read ({error}), and nobody knows what was spent on "
        "this person: put back what it said last; another file would begin at nothing"
    )
