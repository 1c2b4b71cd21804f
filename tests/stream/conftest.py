"""A source in the hands of a test, and a pump that is stopped at the end of it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time

import pytest

from eyelid.stream import Gatekeeper
from eyelid.stream.access import Access
from eyelid.stream.endpoints import Scenery, Source
from eyelid.stream.pump import Pump
from eyelid.stream.samples import RawGaze


class Hand(Source):
    """Gives what a test tells it to give: one place, of distinctive numbers."""

    x, y = 777.123456789, 333.987654321

    def __init__(self) -> None:
        super().__init__("hand", Scenery(120.0))
        self.taker = None

    async def run(self, taker, directions):
        self.taker, self.state = taker, "connected"
        taker.begin()
        await asyncio.Event().wait()

    def give(
        self,
        count: int,
        start_ms: float = 0.0,
        jitter_ms: float = 0.0,
        arrived_s: float | None = None,
    ) -> None:
        times = [start_ms + 8.0 * i + jitter_ms * math.sin(i) for i in range(count)]
        now_s = time.perf_counter() if arrived_s is None else arrived_s
        self.taker.take(RawGaze(times, [[self.x] * count, [self.y] * count], now_s))


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Nobody is sent away for being slow: how fast the machine is decides nothing here."""
    for name in ("_ASKED_WITHIN_S", "_ANSWERED_WITHIN_S"):
        monkeypatch.setattr(f"eyelid.stream.connections.{name}", 600)
    monkeypatch.setattr("eyelid.stream.pump._PATIENCE_S", 600.0)


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def access():
    return Access("a-token-for-the-tests", ("http://localhost:8000",))


@pytest.fixture
def bearer(access):
    return {"Authorization": f"Bearer {access.token}"}


@pytest.fixture
def make_gate():
    def make(**more) -> Gatekeeper:
        usual = {"epsilon": 1.0, "window": 30, "radius": 50.0, "scene": "0,0,1920,1080", "seed": 7}
        return Gatekeeper("kaleido", **(usual | more))

    return make


@pytest.fixture
def streaming(make_gate):
    """A pump at work in the background; whatever it raises is raised at the end."""

    @contextlib.asynccontextmanager
    async def at_work(source, sinks, most_hz=1e9, gate=None):
        pump = Pump(source, gate or make_gate(), sinks, most_hz)
        work = asyncio.create_task(pump.stream())
        try:
            # The source runs once all sinks are open.
            while not (work.done() or pump._began_s is not None):
                await asyncio.sleep(0.001)
            yield pump
            if work.done():
                work.result()
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work

    return at_work


@pytest.fixture
def until():
    """Wait for something, no longer than needed; the limit is for what never happens."""

    async def wait(happened) -> None:
        async with asyncio.timeout(60):
            while not happened():
                await asyncio.sleep(0.002)

    return wait


@pytest.fixture
def run():
    """Run the coroutine of a test, which has two minutes: enough for any machine."""

    def to_its_end(coroutine):
        async def limited():
            async with asyncio.timeout(120) as limit:
                result = await coroutine
            # Where something on the way holds back that it was cancelled.
            assert not limit.expired()
            return result

        return asyncio.run(limited())

    return to_its_end
