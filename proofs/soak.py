"""Ten minutes at 1000 samples per second, with two apps of which one keeps stalling.

A tracker sends over a WebSocket, in real time; both apps listen in processes of their own. One
reads all the time and must get every sample. The other stops reading for seconds at a time: it may
lose samples, and must be told exactly how many. The gatekeeper's memory must not grow.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import socket
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from proofs.result import Effort, Result, progress, skip

RATE_HZ = 1000
TOKEN = "a-token-for-the-soak"
TRACKER_TOKEN = "a-token-for-the-soak-tracker"
# How long the one app reads, and how long it does not.
AWAKE_S, ASLEEP_S = 2.0, 8.0
# How long an app waits for the last samples.
PATIENCE_S = 10.0
MOST_GROWTH_MB = 8.0
MOST_LATENCY_MS = 50.0


def prove(effort: Effort) -> Result:
    """No loss for the one who reads, a told loss for the other, flat memory."""
    try:
        import websockets.asyncio.client  # noqa: F401
    except ImportError:
        return skip("needs websockets: pip install 'eyelid[stream]'")
    if not Path("/proc/self/statm").exists():
        return skip("memory is read from /proc")
    processes = multiprocessing.get_context("spawn")
    apps: list[Any] = []
    try:
        status, memory_mb, ends = asyncio.run(_soak(effort.soak_seconds, processes, apps))
    finally:
        for app in apps:
            app.terminate()
            app.join()
    return _judged(effort.soak_seconds, status, memory_mb, ends)


def _judged(seconds: int, status: Any, memory_mb: list[float], ends: list[Any]) -> Result:
    reader, stalling = ends
    sent = status.samples
    # After the first tenth every buffer has its size.
    settled = memory_mb[max(1, len(memory_mb) // 10) :]
    growth_mb = max(settled) - settled[0]
    figures = {
        "seconds": seconds,
        "samples": sent,
        "reader_got": reader["got"],
        "reader_lost": reader["lost"],
        "stalling_got": stalling["got"],
        "stalling_lost": stalling["lost"],
        "dropped": sum(status.dropped.values()),
        "median_ms": reader["median_ms"],
        "p99_ms": reader["p99_ms"],
        "growth_mb": growth_mb,
        "memory_mb": settled[-1],
    }
    passed = (
        # The source keeps its pace on a busy machine, too.
        sent >= 0.99 * seconds * RATE_HZ
        and not status.dropped
        and (reader["got"], reader["lost"], reader["in_order"]) == (sent, 0, True)
        and stalling["in_order"]
        and stalling["got"] + stalling["lost"] == sent
        and stalling["lost"] > 0
        and reader["median_ms"] < MOST_LATENCY_MS
        and growth_mb < MOST_GROWTH_MB
    )
    target = (
        f"{RATE_HZ} samples per second: one app gets all, the other is told what it lost; memory "
        f"grows by less than {MOST_GROWTH_MB:g} MB"
    )
    return Result(figures, target, passed)


async def _soak(
    seconds: float, processes: Any, apps: list[Any]
) -> tuple[Any, list[float], list[Any]]:
    """The stream itself, in this process, and what the apps have seen of it."""
    from websockets.asyncio.client import connect

    from eyelid.stream import Gatekeeper
    from eyelid.stream.access import Access
    from eyelid.stream.endpoints import Scenery
    from eyelid.stream.pump import Pump
    from eyelid.stream.websocket import WebSocketServerSink, WebSocketServerSource

    source = WebSocketServerSource("raw", Scenery(RATE_HZ), "127.0.0.1", 0, Access(TRACKER_TOKEN))
    sink = WebSocketServerSink("released", "127.0.0.1", 0, Access(TOKEN))
    gate = Gatekeeper("kaleido", epsilon=1.0, window=500, radius=50.0, scene="0,0,1920,1080")
    # A busy machine may stall for a moment, which is no flood.
    pump = Pump(source, gate, [sink], most_hz=4 * RATE_HZ)
    work = asyncio.create_task(pump.stream())
    while not (source.port and sink.port):
        await asyncio.sleep(0.01)
    pipes = []
    for stalls in (False, True):
        here, there = processes.Pipe()
        app = processes.Process(target=_listen, args=(sink.port, stalls, there), daemon=True)
        app.start()
        pipes.append(here)
        apps.append(app)
    while len(sink.consumers()) < 2:
        await asyncio.sleep(0.01)
    memory_mb = []
    headers = {"Authorization": f"Bearer {TRACKER_TOKEN}"}
    async with connect(f"ws://127.0.0.1:{source.port}", additional_headers=headers) as tracker:
        start_s, sent = time.perf_counter(), 0
        while sent < seconds * RATE_HZ:
            due = int((time.perf_counter() - start_s) * RATE_HZ)
            if due > sent:
                # Time says when it was sent, so that apps know how long it took.
                now_ms = 1000 * time.monotonic()
                times = [now_ms + i * 1e-3 for i in range(due - sent)]
                place = [900.0 + due // 300 % 5 * 60] * len(times)
                await tracker.send(json.dumps({"time_ms": times, "x": place, "y": place}))
                if due // (RATE_HZ * 5) > sent // (RATE_HZ * 5):
                    memory_mb.append(_memory_mb())
                if due // (RATE_HZ * 60) > sent // (RATE_HZ * 60):
                    progress(f"  {due // RATE_HZ} s, {memory_mb[-1]:.1f} MB")
                sent = due
            await asyncio.sleep(0.0005)
        while pump.status().samples < sent:
            await asyncio.sleep(0.01)
    memory_mb.append(_memory_mb())
    for pipe in pipes:
        pipe.send(sent)
    # The one that stalls may sleep yet, and is waited for; both give up in the end.
    while not all(pipe.poll() for pipe in pipes):
        await asyncio.sleep(0.05)
    ends = [pipe.recv() for pipe in pipes]
    status = pump.status()
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work
    return status, memory_mb, ends


def _memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def _listen(port: int, stalls: bool, told: Connection) -> None:
    """An app: reads until it has heard of as many samples as it is told were sent."""
    from websockets.asyncio.client import connect

    async def main() -> dict[str, Any]:
        got = lost = 0
        sent: int | None = None
        last_ms, in_order, late_ms = 0.0, True, [0] * 4000
        headers = {"Authorization": f"Bearer {TOKEN}"}
        wake_s = heard_s = time.monotonic()
        link = socket.create_connection(("127.0.0.1", port))
        if stalls:
            # What the system keeps for a reader who does not read is not the gatekeeper's.
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**15)
        link.setblocking(False)
        async with connect(
            f"ws://127.0.0.1:{port}", sock=link, additional_headers=headers, max_size=None
        ) as app:
            while True:
                try:
                    message = json.loads(await asyncio.wait_for(app.recv(), 1.0))
                except TimeoutError:
                    message = {}
                times = message.get("time_ms", [])
                got, lost = got + len(times), lost + message.get("lost", 0)
                if times:
                    in_order = in_order and last_ms < times[0] and times == sorted(times)
                    last_ms = times[-1]
                    late = 10 * (1000 * time.monotonic() - times[0])
                    late_ms[min(len(late_ms) - 1, max(0, int(late)))] += len(times)
                    heard_s = time.monotonic()
                if sent is None and told.poll():
                    sent, heard_s = told.recv(), time.monotonic()
                if sent is not None and (
                    got + lost == sent or time.monotonic() - heard_s > PATIENCE_S
                ):
                    break
                if stalls and sent is None and time.monotonic() - wake_s > AWAKE_S:
                    await asyncio.sleep(ASLEEP_S)
                    wake_s = time.monotonic()
        return {
            "got": got,
            "lost": lost,
            "in_order": in_order,
            "median_ms": _quantile_ms(late_ms, 0.5),
            "p99_ms": _quantile_ms(late_ms, 0.99),
        }

    told.send(asyncio.run(main()))


def _quantile_ms(tenths: list[int], share: float) -> float:
    """Of a histogram in tenths of milliseconds."""
    total, seen = sum(tenths), 0
    for place, count in enumerate(tenths):
        seen += count
        if seen >= share * total:
            return place / 10
    return len(tenths) / 10
