"""A sample's way to an app and back over WebSocket and the Lab Streaming Layer, on this machine.

One process is tracker and app: it sends a sample, waits for what comes of it, and sends the next.
The other passes it on: through the gatekeeper, or as it is, by the same library. Both are measured
in turns in the same run, and the best of several medians counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.case import Case, remark

ROUNDS, TRIPS = 5, 1000
TARGET = 1.5
TOKEN = "benchmark-benchmark"
TRACKER_TOKEN = "benchmark-benchmark-tracker"
GATE: dict[str, Any] = {
    "epsilon": 1.0,
    "window": 60,
    "radius": 50.0,
    "units": "px",
    "scene": (0.0, 0.0, 1920.0, 1080.0),
}
RAW, RELEASED = "eyelid-bench-raw", "eyelid-bench-released"


def cases() -> Iterator[Case]:
    for name, relays, trips in (
        ("WebSocket, JSON", (_bare_websocket, _websocket), _websocket_trips),
        ("Lab Streaming Layer", (_bare_lsl, _lsl), _lsl_trips),
    ):
        try:
            yield _case(name, relays, trips)
        except ImportError as error:
            remark(f"{name} is not measured: {error}")


def _case(name: str, relays: tuple[Callable[..., None], ...], trips: Callable[..., Any]) -> Case:
    medians: dict[str, list[float]] = {"bare": [], "eyelid": []}
    slowest: list[float] = []
    for _ in range(ROUNDS):
        for who, relay in zip(medians, relays, strict=True):
            with _running(relay) as facts:
                found_s = sorted(trips(facts))
            medians[who].append(statistics.median(found_s))
            if who == "eyelid":
                slowest.append(found_s[int(0.99 * len(found_s))])
    ours, bare = min(medians["eyelid"]), min(medians["bare"])
    return Case(
        name=f"round trip of a sample over {name}, through the gatekeeper",
        unit="ms, median",
        figure=1000 * ours,
        peer="the bare transport",
        peer_figure=1000 * bare,
        target=f"at most {TARGET} times the bare transport",
        passed=ours <= TARGET * bare,
        more={"p99_ms": 1000 * min(slowest), "times_bare": ours / bare, "trips": ROUNDS * TRIPS},
    )


@contextlib.contextmanager
def _running(relay: Callable[[Connection], None]) -> Iterator[Any]:
    """A relay in a process of its own, and what it says when it is ready."""
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    process = processes.Process(target=relay, args=(there,), daemon=True)
    process.start()
    try:
        if not here.poll(30):
            raise TimeoutError("the relay did not start within 30 s")
        yield here.recv()
    finally:
        process.terminate()
        process.join()


# WebSocket.


def _bare_websocket(told: Connection) -> None:
    from websockets.asyncio.server import serve

    apps: set[Any] = set()

    async def app(connection: Any) -> None:
        apps.add(connection)
        await connection.send("{}")
        await connection.wait_closed()
        apps.discard(connection)

    async def tracker(connection: Any) -> None:
        async for message in connection:
            for one in apps:
                await one.send(message)

    async def main() -> None:
        async with (
            serve(tracker, "127.0.0.1", 0, compression=None) as raw,
            serve(app, "127.0.0.1", 0, compression=None) as released,
        ):
            told.send([server.sockets[0].getsockname()[1] for server in (raw, released)])
            await asyncio.Event().wait()

    asyncio.run(main())


def _websocket(told: Connection) -> None:
    from eyelid.stream import Gatekeeper
    from eyelid.stream.access import Access
    from eyelid.stream.endpoints import Scenery
    from eyelid.stream.pump import Pump
    from eyelid.stream.websocket import WebSocketServerSink, WebSocketServerSource

    source = WebSocketServerSource("raw", Scenery(), "127.0.0.1", 0, Access(TRACKER_TOKEN))
    sink = WebSocketServerSink("released", "127.0.0.1", 0, Access(TOKEN))
    pump = Pump(source, Gatekeeper("kaleido", **GATE), [sink], most_hz=1e6)

    async def main() -> None:
        work = asyncio.create_task(pump.stream())
        while not (source.port and sink.port):
            await asyncio.sleep(0.01)
        told.send([source.port, sink.port])
        await work

    asyncio.run(main())


def _websocket_trips(ports: list[int]) -> list[float]:
    from websockets.asyncio.client import connect

    async def measure() -> list[float]:
        raw, released = (
            connect(
                f"ws://127.0.0.1:{port}",
                compression=None,
                additional_headers={"Authorization": f"Bearer {token}"},
            )
            for port, token in zip(ports, (TRACKER_TOKEN, TOKEN), strict=True)
        )
        found = []
        async with raw as tracker, released as app:
            await app.recv()
            for i in range(TRIPS):
                sample = json.dumps({"time_ms": i * 8.0, "x": 900.0 + i % 7, "y": 500.0})
                start = time.perf_counter()
                await tracker.send(sample)
                while "time_ms" not in json.loads(await app.recv()):
                    pass
                found.append(time.perf_counter() - start)
        return found

    return asyncio.run(measure())


# The Lab Streaming Layer.


def _bare_lsl(told: Connection) -> None:
    from eyelid.stream.lsl import layer

    lsl = layer("machine")
    found: list[Any] = []
    outlet = lsl.StreamOutlet(lsl.StreamInfo(RELEASED, "Gaze", 2, 120, lsl.cf_float32, "bench"))
    told.send(None)
    while not found:
        found = lsl.resolve_byprop("name", RAW, 1, timeout=1.0)
    inlet = lsl.StreamInlet(found[0], max_buflen=2, recover=False)
    # Until the tracker is gone.
    with contextlib.suppress(RuntimeError):
        while True:
            sample, stamp = inlet.pull_sample()
            outlet.push_sample(sample, stamp)


def _lsl(told: Connection) -> None:
    from eyelid.stream import Gatekeeper
    from eyelid.stream.addresses import sink_of, source_of
    from eyelid.stream.pump import Pump

    source, sink = source_of(f"lsl:{RAW},rate=120"), sink_of(f"lsl:{RELEASED}")
    told.send(None)
    Pump(source, Gatekeeper("kaleido", **GATE), [sink], most_hz=1e6).run()


def _lsl_trips(_: None) -> list[float]:
    from eyelid.stream.lsl import layer

    lsl = layer("machine")
    info = lsl.StreamInfo(RAW, "Gaze", 2, 120, lsl.cf_float32, "bench-raw")
    info.set_channel_labels(["x", "y"])
    outlet = lsl.StreamOutlet(info)
    streams: list[Any] = []
    while not streams:
        streams = lsl.resolve_byprop("name", RELEASED, 1, timeout=1.0)
    inlet = lsl.StreamInlet(streams[0], max_buflen=2, recover=False)
    inlet.open_stream(5.0)
    outlet.wait_for_consumers(5.0)
    found = []
    # The first ones may get lost on the way to a connection that is just being made.
    for _ in range(100):
        outlet.push_sample([900.0, 500.0])
        if inlet.pull_sample(timeout=0.1)[0] is not None:
            break
    while inlet.pull_sample(timeout=0.2)[0] is not None:
        pass
    for i in range(TRIPS):
        start = time.perf_counter()
        outlet.push_sample([900.0 + i % 7, 500.0])
        if inlet.pull_sample(timeout=2.0)[0] is None:
            raise TimeoutError("a sample did not come back within 2 s")
        found.append(time.perf_counter() - start)
    # Let the other process see that the stream has ended before the next one begins.
    del outlet
    threading.Event().wait(0.1)
    return found
