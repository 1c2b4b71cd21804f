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

from eyelid.engine.atomic import lock, write_file
from eyelid.errors import InputError

SCHEMA = "eyelid/stream-budget/1"


@dataclass(frozen=True)
class Account:
    """What was spent on a person.

    Attributes:
        before: person-level ε of everything under earlier settings.
        worst_window: the most that any window has spent, as far as it was written down.
        largest: the largest ε that windows under earlier settings were promised.
        asked: the filter and its parameters, as somebody set them.
        epsilon: of a window now, which a limit may have made smaller.
        window_cost: person-level ε of one window now.
        window: samples of one.
        apart: samples that must pass without a release before other settings begin.
        taken: samples that may have been taken under these settings.
        left_in_order: the run as it was left; None while it is at work, or where it was killed.
    """

    before: float = 0.0
    worst_window: float = 0.0
    largest: float = 0.0
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
        self.path = path
        beside = path.with_name(path.name + ".lock")
        try:
            self._lock = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(f"cannot keep a budget in {path}: {error.strerror}") from None
        if lock(self._lock) is False:
            os.close(self._lock)
            raise InputError(
                f"another gatekeeper counts in {path} already: stop it, or give this person "
                "another file"
            )

    def read(self) -> Account:
        """What the file says; nothing spent where there is none yet."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Account()
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from None
        try:
            if told.pop("schema") != SCHEMA:
                raise ValueError("it has another schema")
            account = Account(**told)
            names = ("before", "worst_window", "largest", "epsilon", "window_cost")
            numbers = [getattr(account, name) for name in names]
            if not all(isinstance(n, int | float) and 0 <= n < math.inf for n in numbers):
                raise ValueError("a number in it is none")
            if account.window < 1 or account.taken < 0 or account.apart < 0:
                raise ValueError("a count in it is none")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._unreadable(error) from None
        return account

    def _unreadable(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path} is no budget that eyelid can read ({error}): what was spent is lost with "
            "it; mend the file, or begin another only if you know that this person's total may"
        )

    def write(self, account: Account) -> None:
        """Have the file say so, now and after a loss of power."""
        text = json.dumps({"schema": SCHEMA, **asdict(account)}, indent=1, allow_nan=False)
        write_file(self.path, text + "\n")

    def close(self) -> None:
        """Let somebody else have it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
