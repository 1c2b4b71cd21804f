"""What of a person's gaze is let through, in stretches of samples after which something is decided.

Samples are points in the plane of the filter's scene. A stretch is under one mode: samples are
filtered, or nothing new is released, since windows under different settings must not mix (a pause)
or since the limit is reached. Before a stretch begins it is written down as spent.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.streams.events import StreamEvent
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.mechanisms.streams.stream import Run, StreamMechanism
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.spelling import plural
from eyelid.stream.budget import FOREVER, Budget

# Samples that are written down at once; a kill counts at most so many that never came.
_WRITTEN_AHEAD = 1024

# Whoever does not take events loses the oldest.
KEPT_EVENTS = 1 << 16

Mode = Literal["on", "paused", "frozen", "closed"]
Floats = NDArray[np.float64]


class Passage:
    """A filter at work on one person's stream, within its budget.

    Args:
        filter: with its parameters.
        budget: of the filter; None where it promises nothing.
        rng: of the noise.

    Attributes:
        filter: with its parameters, and the ε that it has at the moment.
        budget: what may be spent, and was.
        run: the filter at work.
        mode: whether anything new is released.
        samples: that came, those of earlier runs with the same settings included.
        events: that were released and not yet taken, by the number of the stream's sample.
        resumed: why it does not just go on from where the budget file was left; empty if it does.
    """

    def __init__(self, filter: StreamMechanism, budget: Budget | None, rng: Randomness) -> None:
        self.filter, self.budget, self._rng = filter, budget, rng
        self.run: Run = filter.start(rng)
        self.mode: Mode = "on"
        self.samples = 0
        self.events: deque[StreamEvent] = deque(maxlen=KEPT_EVENTS)
        self.resumed = ""
        self._left = 0
        self._eventful = filter.eventful
        # Whether a sample is being taken: budgets are in disorder where that was interrupted.
        self._at_work = False
        # The public middle of the scene is shown before anything was released.
        x0, y0, x1, y1 = filter.place.plane
        self._last = (x0 + x1) / 2, (y0 + y1) / 2
        if budget is not None:
            self._go_on(budget)

    def worst_epsilon(self, budget: Budget) -> float:
        """What any window has spent under the present settings; all of ε where nobody knows."""
        if self._at_work:
            return budget.filter.epsilon
        return self.run.worst_parts / WHOLE * budget.filter.epsilon

    # What comes and goes.

    def push(self, x: float, y: float) -> tuple[float, float]:
        """What is released for the next sample."""
        if not self._left:
            self._next_stretch()
        self.samples += 1
        if self.mode != "on":
            self._left -= 1
            return self._last
        # While it is at work nothing is left, so that an interruption is looked into first.
        left, self._left = self._left - 1, 0
        self._at_work = True
        if self.budget is not None:
            self.budget.taken += 1
        self._last = self.run.push(x, y)
        if self._eventful:
            self._keep_events()
        self._at_work = False
        self._left = left
        return self._last

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """What is released for many samples, as if they had been pushed one by one."""
        out = np.empty((2, len(x)))
        done = 0
        while done < len(x):
            if not self._left:
                self._next_stretch()
            count = min(self._left, len(x) - done)
            part = slice(done, done + count)
            done += count
            self.samples += count
            if self.mode != "on":
                self._left -= count
                out[:, part] = np.array(self._last)[:, None]
                continue
            left, self._left = self._left - count, 0
            self._at_work = True
            if self.budget is not None:
                self.budget.taken += count
            out[:, part] = self.run.push_many(x[part], y[part])
            self._last = (float(out[0, done - 1]), float(out[1, done - 1]))
            if self._eventful:
                self._keep_events()
            self._at_work = False
            self._left = left
        return out[0], out[1]

    def _keep_events(self) -> None:
        """Keep the events of samples that were just taken."""
        before = self.samples - self.run.samples
        for event in self.run.take_events():
            self.events.append(replace(event, sample=before + event.sample))

    def close(self) -> None:
        """Write down where the stream stands, so that the next run goes on from here."""
        if self.mode == "closed":
            return
        try:
            # Whoever was frozen from the start on has nothing to add to what others wrote.
            if self.budget is not None and (self.mode != "frozen" or self.run.samples):
                left = None if self._at_work else self._in_order(self.budget)
                self._write(self.budget, left)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """End without writing down where the stream stands, as a kill does."""
        if self.budget is not None:
            self.budget.close()
        self.mode, self._left = "closed", FOREVER

    def _in_order(self, budget: Budget) -> dict[str, Any]:
        """Where the stream stands, so that it can go on from here."""
        return {
            "run": self.run.saved(),
            "last": list(self._last),
            "mode": self.mode,
            "left": self._pause_left,
            "passed": self.samples - budget.taken,
        }

    @property
    def _pause_left(self) -> int:
        return self._left if self.mode == "paused" else 0

    def _write(self, budget: Budget, in_order: dict[str, Any] | None, ahead: int = 0) -> None:
        """Write down what is spent, so many samples ahead."""
        # All of what may be spent, unless it is known what was.
        worst = budget.filter.epsilon if in_order is None else self.worst_epsilon(budget)
        seeded = not self._rng.private and self.samples + ahead > 0
        budget.write(budget.taken + ahead, worst, self._pause_left, seeded, in_order)

    # Stretches.

    def _next_stretch(self) -> None:
        """Begin again after a pause, stop at the limit, write down what comes next."""
        budget = self.budget
        if budget is None or self.mode in ("frozen", "closed"):
            self._left = FOREVER
            return
        if self._at_work:
            self._after_an_interruption(budget)
            return
        allowed = budget.allowed() - budget.taken
        if allowed <= 0:
            self._at_the_limit(budget)
            return
        left = min(allowed, _WRITTEN_AHEAD if budget.kept else FOREVER)
        # First of all, so that nothing is released that could not be written down.
        self._write(budget, None, ahead=left)
        self.mode, self._left = "on", left

    def _at_the_limit(self, budget: Budget) -> None:
        """Freeze, or go on with a smaller ε after a pause."""
        budget.end_settings(self.worst_epsilon(budget))
        coarser = budget.coarser(self._rng)
        if coarser is None:
            self._freeze()
        else:
            self._begin_settings(budget, coarser, apart=budget.filter.apart)

    def _after_an_interruption(self, budget: Budget) -> None:
        """Nobody knows what the last window has spent: it counts whole, and a new one begins."""
        budget.end_settings(self.worst_epsilon(budget))
        if budget.filter.resumes:
            self._begin_settings(budget, budget.filter, apart=budget.filter.apart)
        else:
            self._freeze()

    def _begin_settings(self, budget: Budget, filter: Filter, apart: int) -> None:
        """Go on with other settings once no window can have samples of both."""
        run = filter.start(self._rng)
        # No calls in between, so that an interruption finds the old ones or the new.
        self.filter = budget.filter = filter
        self.run, self._at_work = run, False
        self.mode, self._left = "paused", apart
        if not apart:
            self._next_stretch()

    def _freeze(self) -> None:
        self.mode, self._left = "frozen", FOREVER

    # After a restart.

    def _go_on(self, budget: Budget) -> None:
        """From where the last run stopped, or from the start."""
        account, asked = budget.account, budget.filter
        begun = bool(account.taken or account.before)
        if begun and not self._restored(budget):
            budget.before = account.person_epsilon
            self.mode, self._left = "paused", max(account.apart, asked.apart)
            self.resumed = f"{_why_paused(budget)}: nothing new is released for " + plural(
                self._left, "sample"
            )
        if budget.taken or budget.allowed() > 0:
            return
        coarser = budget.coarser(self._rng)
        if coarser is not None:
            apart = max(self._left, budget.filter.apart) if begun else 0
            self._begin_settings(budget, coarser, apart)
        elif begun:
            self._freeze()
        else:
            cost = budget.before + budget.filter.window_cost
            raise InputError(
                f"limit {budget.limit:g} is less than one window costs, which is "
                f"{rounded_up(cost)} for a person: choose a larger limit or radius, or a smaller "
                "epsilon"
            )

    def _restored(self, budget: Budget) -> bool:
        """Go on exactly from where an account of the same settings was left in order, if it was."""
        account, filter = budget.account, budget.filter
        left = account.left_in_order
        if left is None or account.asked != budget.asked or account.epsilon > filter.epsilon:
            return False
        if account.epsilon < filter.epsilon:
            filter = replace(filter, epsilon=account.epsilon)
        run = filter.start(self._rng)
        try:
            run.restore(left["run"])
            x, y = map(float, left["last"])
            paused, pause_left = left["mode"] == "paused", int(left["left"])
            passed = int(left["passed"])
        except (InputError, KeyError, TypeError, ValueError):
            # What the last window has spent is not to be believed, then.
            budget.regimes = tuple(replace(old, worst=old.epsilon) for old in budget.regimes)
            return False
        self.filter = budget.filter = filter
        self.run, self._last = run, (x, y)
        budget.taken, self.samples = account.taken, account.taken + passed
        if paused:
            self.mode, self._left = "paused", max(0, pause_left)
        return True


def _why_paused(budget: Budget) -> str:
    """What operators are told where a stream does not just go on."""
    if budget.account.asked == budget.asked and budget.account.left_in_order is None:
        return (
            f"the last run was killed or interrupted, and up to {_WRITTEN_AHEAD} samples that may "
            "not have come are counted as spent"
        )
    return "the settings have changed"
