"""What a gatekeeper may spend on one person, what it has spent, and the file that keeps it.

Samples are written down before they are released, many at a time: after a kill the file may count
some that never came, and never the other way round. No gaze is in it, released or not, but for the
last point that was released.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from eyelid.engine.atomic import check_apart, write_file
from eyelid.engine.files import lock
from eyelid.errors import InputError
from eyelid.mechanisms.streams.filter import Filter
from eyelid.privacy.noise import Randomness

SCHEMA = "eyelid/stream-budget/1"
FOREVER = 1 << 62
"""More samples than a stream ever has."""
OnLimit = Literal["freeze", "coarsen"]


@dataclass(frozen=True)
class Regime:
    """What any window of some settings has cost at most.

    Attributes:
        window: w, in samples.
        radius: in units of gaze.
        coordinates: the units of gaze.
        radii_of_scene: the scene's diameter in radii, at least 1.
        epsilon: what a window was promised at most.
        worst: what a window has spent at most.
    """

    window: int
    radius: float
    coordinates: str
    radii_of_scene: float
    epsilon: float
    worst: float

    @classmethod
    def of(cls, filter: Filter, worst: float) -> Self:
        """A filter's settings, and what a window of them has spent at most."""
        return cls(
            window=filter.window,
            radius=filter.radius,
            coordinates=filter.coordinates,
            radii_of_scene=filter.radii_of_scene,
            epsilon=filter.epsilon,
            worst=worst,
        )

    @property
    def unit(self) -> tuple[int, float, str, float]:
        """What the numbers are about; those of equal ones can be compared."""
        return self.window, self.radius, self.coordinates, self.radii_of_scene

    def for_unit(self, value: float, filter: Filter) -> float:
        """What a window has lost under other settings, for a window and a radius of these.

        Losses grow in proportion to the radius, until it is the whole scene; radii in other units
        count as that.
        """
        radii = self.radii_of_scene
        if self.coordinates == filter.coordinates:
            radii = min(radii, max(1.0, filter.radius / self.radius))
        return value * -(-filter.window // self.window) * radii


def merged(regimes: Iterable[Regime], new: Regime) -> tuple[Regime, ...]:
    """With one more; of equal units the largest numbers count."""
    kept = {regime.unit: regime for regime in regimes}
    old = kept.get(new.unit, new)
    largest = replace(new, epsilon=max(old.epsilon, new.epsilon), worst=max(old.worst, new.worst))
    return tuple((kept | {new.unit: largest}).values())


def together(
    regimes: Iterable[Regime], filter: Filter, which: Literal["epsilon", "worst"]
) -> float:
    """What any w samples in a row have lost at most, w and the radius being those of ``filter``.

    Next to samples of a regime with windows of v there are always v − 1 that were not used. So w
    samples in a row that have one with v ≥ w are all of one regime and run, in one of its windows.
    Others may have samples of every regime with v < w, which add up, ⌈w/v⌉ windows of each.
    """
    alone, added = 0.0, 0.0
    for regime in regimes:
        lost = regime.for_unit(getattr(regime, which), filter)
        if regime.window >= filter.window:
            alone = max(alone, lost)
        else:
            added += lost
    return max(alone, added)


@dataclass(frozen=True)
class Account:
    """What was spent on a person.

    Attributes:
        before: person-level ε of everything under earlier settings.
        regimes: all settings under which anything may have been released, these included.
        seeded: whether any of it had noise that can be repeated.
        asked: the filter and its parameters, as the user set them.
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


class Budget:
    """What one person's filter may spend and has spent, under its settings and earlier ones.

    Args:
        filter: as the user set it.
        limit: a person-level total that is never exceeded.
        on_limit: ``freeze``, or ``coarsen``: spend half of what is left of the limit at a time.
        file: that keeps the account over restarts; ours alone while it is open.

    Attributes:
        filter: with the ε that it has at the moment.
        asked: the filter and its parameters, as the user set them.
        limit: the person-level total, if there is one.
        coarsens: whether ε becomes smaller before the limit is reached.
        kept: whether there is a file.
        account: what the file said at the start.
        before: person-level ε of everything under earlier settings.
        regimes: earlier settings.
        seeded_before: whether anything of earlier runs had noise that can be repeated.
        taken: samples taken under the present settings.
    """

    def __init__(
        self,
        filter: Filter,
        limit: float | None,
        on_limit: OnLimit,
        file: Path | str | None,
    ) -> None:
        self.filter = filter
        self.asked = {"name": filter.name, **filter.parameters()}
        self.limit, self.coarsens, self.kept = limit, on_limit == "coarsen", file is not None
        if not filter.resumes and (self.kept or self.coarsens):
            raise InputError(
                "counters cannot go on after a restart or with another ε: leave out counters, or "
                "both budget and on_limit=coarsen"
            )
        if limit is not None and not (math.isfinite(limit) and limit > 0):
            raise InputError(f"limit must be positive and finite, got {limit:g}")
        self._file: Path | None = None
        self._lock: int | None = None
        if file is not None:
            self._file, self._lock = _claimed(Path(file))
        self.taken = 0
        try:
            self.account = Account() if self._file is None else read_account(self._file)
        except BaseException:
            self.close()
            raise
        self.before = self.account.before + filter.standing_cost
        self.regimes, self.seeded_before = self.account.regimes, self.account.seeded

    @property
    def person_epsilon(self) -> float:
        """The person-level total since the start, every window that was begun counted whole."""
        return self.before + self.windows * self.filter.window_cost

    @property
    def windows(self) -> int:
        """Windows that were begun under the present settings."""
        return math.ceil(self.taken / self.filter.window)

    def so_far(self, worst: float) -> tuple[Regime, ...]:
        """All settings so far, the present ones included.

        Args:
            worst: what any window has spent at most under the present ones.
        """
        return merged(self.regimes, Regime.of(self.filter, worst))

    def allowed(self) -> int:
        """How many samples the limit allows under these settings, those taken included."""
        if self.limit is None:
            return FOREVER
        windows = math.floor(self._rest(self.limit) / self.filter.window_cost)
        return max(0, windows) * self.filter.window

    def _rest(self, limit: float) -> float:
        """What of the rest of a limit may be spent at the present ε."""
        rest = limit - self.before
        return rest / 2 if self.coarsens else rest

    def coarser(self, rng: Randomness) -> Filter | None:
        """The filter with ε quartered until the rest of the limit pays for some of it."""
        filter = self.filter
        rest = self._rest(self.limit or 0.0) if self.coarsens else 0.0
        epsilon = filter.epsilon
        while rest > 0:
            epsilon /= 4
            if filter.window_cost * epsilon / filter.epsilon > rest:
                continue
            try:
                coarser = replace(filter, epsilon=epsilon)
                coarser.start(rng)
            except InputError:
                # More noise than there are numbers for.
                return None
            return coarser
        return None

    def end_settings(self, worst: float) -> None:
        """Count what was spent as past; any window has spent ``worst`` at most."""
        self.before = self.person_epsilon
        if self.taken:
            self.regimes = self.so_far(worst)
        self.taken = 0

    def write(
        self,
        taken: int,
        worst: float,
        pause: int,
        seeded: bool,
        left_in_order: dict[str, Any] | None,
    ) -> None:
        """Have the file say what is spent, if there is one.

        Args:
            taken: samples that may have been taken under these settings.
            worst: what any window of them has spent at most.
            pause: samples for which nothing is released yet.
            seeded: whether any of this run had noise that can be repeated.
            left_in_order: the run as it is left.
        """
        if self._file is None:
            return
        account = Account(
            before=self.before,
            regimes=self.so_far(worst) if taken else self.regimes,
            seeded=self.seeded_before or seeded,
            asked=self.asked,
            epsilon=self.filter.epsilon,
            window_cost=self.filter.window_cost,
            window=self.filter.window,
            apart=max(self.filter.apart, pause),
            taken=taken,
            left_in_order=left_in_order,
        )
        text = json.dumps({"schema": SCHEMA, **asdict(account)}, indent=1, allow_nan=False)
        # Kept from now on, after a loss of power too.
        write_file(self._file, text + "\n", durable=True, mode=0o600)

    def close(self) -> None:
        """Release the file for others."""
        if self._lock is not None:
            os.close(self._lock)
        self._file = self._lock = None


def _claimed(path: Path) -> tuple[Path, int]:
    """A budget's file without links, and the handle of the lock that makes it ours alone."""
    try:
        # Writing puts a new file in the place of the old one, which would part a link from it.
        file = path.resolve()
        if file.is_dir():
            raise InputError(f"cannot keep a budget in {path}: it is a folder; name a file in it")
        # What lies in a release is passed on with it.
        check_apart(file)
        handle = os.open(file.with_name(file.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot keep a budget in {path}: {why}") from None
    if lock(handle) is False:
        os.close(handle)
        raise InputError(
            f"another gatekeeper counts in {path} already: stop it, or give this person another "
            "file"
        )
    return file, handle


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
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Account()
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, error) from None
    try:
        if content.pop("schema") != SCHEMA:
            raise ValueError("it has another schema")
        content["regimes"] = tuple(Regime(**regime) for regime in content["regimes"])
        account = Account(**content)
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
