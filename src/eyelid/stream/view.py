"""How a stream goes, for a person who watches: a live table in the terminal."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from eyelid.privacy.guarantee import rounded_up
from eyelid.spelling import on_terminal, readable
from eyelid.stream.pump import Status

# Over less time a rate means nothing.
_SHORTEST_S = 0.1


@contextlib.contextmanager
def watched(title: str, note: Callable[[str], None]) -> Iterator[Callable[[Status], None]]:
    """Something that can be told how it goes, and shows it on a terminal.

    Where it listens, and troubles, are noted once each, watched or not.

    Args:
        title: above the table.
        note: takes a remark.
    """
    shown: set[str] = set()
    last: Status | None = None
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(_live()) if sys.stderr.isatty() else None

        def show(status: Status) -> None:
            nonlocal last
            listening = (f"listening at {place}" for place in status.listening)
            for remark in (*listening, *status.troubles):
                if remark not in shown:
                    shown.add(remark)
                    note(f"eyelid: {remark}")
            if live is not None:
                live.update(_table(title, status, rate_now(status, last)), refresh=True)
            last = status

        yield show


def _live() -> Any:
    """A place on the terminal that is drawn again and again."""
    from rich.console import Console
    from rich.live import Live

    return Live(console=Console(stderr=True), auto_refresh=False, transient=True)


def rate_now(status: Status, last: Status | None) -> str:
    """Samples per second since the last look."""
    samples, seconds = status.samples, status.seconds
    if last is not None:
        samples, seconds = samples - last.samples, seconds - last.seconds
    return f"{samples / seconds:.0f} per second" if seconds > _SHORTEST_S else "–"


def rows_of(status: Status) -> list[tuple[str, str]]:
    """Everything but the rate, in words."""
    meter = status.meter
    rows = [
        ("source", status.state),
        ("samples", f"{status.samples:,} in {status.seconds:.0f} s"),
        ("latency", _latency(status.latency_ms)),
        ("this window", _of(meter.window_epsilon, meter.epsilon)),
        ("worst window", _of(meter.worst_window_epsilon, status.promised)),
        ("the person", _of(meter.person_epsilon, meter.limit)),
        ("mode", meter.mode),
    ]
    for consumer in status.consumers:
        lost = "nobody knows how many" if consumer.lost is None else f"{consumer.lost:,}"
        rows.append((consumer.name, f"{consumer.sent:,} sent, {lost} lost"))
    for what, counts in (("dropped", status.dropped), ("refused", status.refused)):
        if counts:
            rows.append((what, ", ".join(f"{count:,} {why}" for why, count in counts.items())))
    return rows + [("trouble", trouble) for trouble in status.troubles]


def _latency(found_ms: tuple[float | None, float | None]) -> str:
    median_ms, p99_ms = found_ms
    if median_ms is None or p99_ms is None:
        return "–"
    return f"{median_ms:.2g} ms median, {p99_ms:.2g} ms p99"


def _of(spent: float, most: float | None) -> str:
    if not math.isfinite(spent):
        return "no guarantee"
    return f"ε = {readable(rounded_up(spent))}" + ("" if most is None else f" of {readable(most)}")


def _table(title: str, status: Status, rate: str) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    def words(text: str) -> Text:
        # Names may have brackets, which are no markup.
        return Text(on_terminal(text))

    table = Table(box=SIMPLE, show_header=False, title=words(title), title_justify="left")
    for name, value in [("rate", rate), *rows_of(status)]:
        table.add_row(words(name), words(value))
    return table
