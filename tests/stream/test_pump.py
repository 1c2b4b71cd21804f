"""From a source through the gatekeeper to sinks."""

import asyncio
import json
import math
import os
import signal
import time

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.stream.addresses import source_of
from eyelid.stream.endpoints import Sink
from eyelid.stream.pump import Pump
from eyelid.stream.recorder import Recorder
from eyelid.stream.samples import Latency, RawGaze


class Memory(Sink):
    """Keeps everything."""

    def __init__(self):
        super().__init__("memory")
        self.pieces, self.texts = [], []

    async def open(self, stage):
        self.stage = stage

    def offer(self, gaze):
        self.pieces.append(gaze)

    def tell(self, text):
        self.texts.append(json.loads(text))

    def consumers(self):
        return []

    async def close(self):
        self.stage = None


def test_a_replay_at_full_speed_loses_nothing_and_is_the_gatekeeper_s_own(make_gate, tmp_path):
    source = source_of("simulate:rate=250,minutes=0.1,seed=3", speed="full")
    scene = {"units": "deg", "scene": source.scenery.scene, "radius": 3.0}
    recorder = Recorder(tmp_path / "released.csv")
    status = Pump(source, make_gate(**scene), [recorder]).run()
    found = pl.read_csv(tmp_path / "released.csv")
    recording = source._recordings[0]
    x, y = make_gate(**scene).push_many(recording.time_ms, recording["x"], recording["y"])
    np.testing.assert_array_equal(found["x"], x)
    np.testing.assert_array_equal(found["y"], y)
    assert status.samples == len(x)
    assert status.dropped == {}
    assert status.meter.mode == "on"
    assert status.state == "at its end"


def test_a_tracker_of_another_rate_is_told_once(run, streaming, hand):
    async def story():
        async with streaming(hand, []) as pump:
            # 125 Hz by its clock, and 120 was said: near enough.
            for i in range(11):
                hand.give(100, start_ms=800.0 * i)
            assert pump.intake.measured_hz == pytest.approx(125)
            assert pump.status().troubles == ()
            times = [8800 + 2.0 * i for i in range(2000)]
            hand.taker.take(RawGaze(times, [[5.0] * 2000] * 2, time.perf_counter()))
            (first,) = pump.status().troubles
            hand.give(500, start_ms=13_000.0)
            return first, pump.status().troubles

    first, later = run(story())
    assert first.startswith("gaze comes at 250 Hz and not at 120: ")
    assert later == (first,)


def test_a_source_that_is_silent_is_told(run, streaming, hand, monkeypatch):
    monkeypatch.setattr("eyelid.stream.pump._SILENT_S", 0.0)

    async def story():
        async with streaming(hand, []) as pump:
            silent = pump.status().troubles
            hand.give(1)
            return silent, pump.status()

    silent, status = run(story())
    assert silent == ("no gaze has come from hand yet (connected)",)
    assert status.troubles == ()
    assert hand.state == "stopped"


def test_what_strangers_do_to_our_sockets_is_not_printed(make_gate, hand, caplog):
    class Crowded(type(hand)):
        async def run(self, taker, directions):
            told = {"message": "socket.accept() out of system resource"}
            asyncio.get_running_loop().call_exception_handler(told)

    Pump(Crowded(), make_gate(), []).run()
    assert "out of system resource" not in caplog.text


def test_a_storm_of_lost_samples_passes_and_shows_nothing(run, streaming, hand, make_gate):
    """Lost gaze, infinities and places far outside are all repeated or clamped."""
    sink = Memory()
    wild = [math.nan, math.inf, -math.inf, 1e300, -1e300, 5.0]

    async def story():
        async with streaming(hand, [sink]) as pump:
            for i in range(50):
                times = [100.0 * i + j for j in range(len(wild))]
                pump.take(RawGaze(times, [wild, wild[::-1]], time.perf_counter()))
            return pump.status()

    status = run(story())
    assert status.samples == 300
    assert status.dropped == {}
    for gaze in sink.pieces:
        assert all(0 <= x <= 1920 for x in gaze.parts[0])
        assert all(0 <= y <= 1080 for y in gaze.parts[1])


def test_single_samples_and_batches_are_one_stream(run, streaming, hand, make_gate):
    sink = Memory()

    async def story():
        async with streaming(hand, [sink]):
            for i, count in enumerate([1, 5, 1, 1, 40, 1]):
                hand.give(count, start_ms=1000.0 * i)

    run(story())
    x = [value for gaze in sink.pieces for value in gaze.parts[0]]
    times = [value for gaze in sink.pieces for value in gaze.time_ms]
    expected = make_gate().push_many(times, [hand.x] * 49, [hand.y] * 49)[0]
    assert x == expected.tolist()


def test_directions_come_and_go_as_unit_vectors(run, streaming, hand, make_gate):
    sink = Memory()
    gate = make_gate(units="direction", scene=None, radius=3.0)

    async def story():
        async with streaming(hand, [sink], gate=gate) as pump:
            for i in range(20):
                parts = [[0.1] * 3, [0.2] * 3, [0.97] * 3]
                pump.take(RawGaze([100.0 * i + j for j in range(3)], parts, 0.0))

    run(story())
    for gaze in sink.pieces:
        assert list(gaze.columns) == ["time_ms", "x", "y", "z"]
        np.testing.assert_allclose(np.linalg.norm(gaze.parts, axis=0), 1.0)


def test_events_and_counters_are_told_beside_gaze(run, streaming, until, hand, make_gate):
    gate = make_gate(epsilon=50.0, events=0.3, counters=0.2, areas="logo:700,300,900,400")
    sink = Memory()

    async def story():
        async with streaming(hand, [sink], gate=gate):
            for i in range(20):
                hand.give(30, start_ms=240.0 * i)
            await until(
                lambda: {"meter", "events", "counters"} <= {k for t in sink.texts for k in t}
            )

    run(story())
    events = [event for text in sink.texts for event in text.get("events", ())]
    assert {"name", "time_ms", "region", "x", "y", "z"} == set(events[0])
    assert ["logo"] in [t["counters"]["names"] for t in sink.texts if "counters" in t]


def test_whatever_fails_in_the_gatekeeper_ends_the_stream_and_lets_nothing_out(
    run, streaming, until, hand, make_gate, monkeypatch
):
    gate, sink = make_gate(), Memory()

    def fail(*gaze):
        raise InputError("cannot write the budget: no space left")

    monkeypatch.setattr(gate, "push_many", fail)

    async def story():
        async with streaming(hand, [sink], gate=gate) as pump:
            hand.give(10)
            hand.give(10, start_ms=1000.0)
            await until(lambda: gate.mode == "closed")
            assert pump.status().samples == 0

    with pytest.raises(InputError, match="no space left"):
        run(story())
    assert sink.pieces == []


def test_a_flood_does_not_spend_the_budget_unnoticed(run, streaming, hand):
    async def story():
        async with streaming(hand, [], most_hz=180.0) as pump:
            for i in range(100):
                hand.give(100, start_ms=1000.0 * i, arrived_s=0.04 * i)
            return pump.status(), pump.gate.samples

    status, samples = run(story())
    # Half a second's worth at once, and four seconds of the rate.
    assert samples == 90 + int(180 * 3.96)
    assert status.dropped == {"too many per second": 10_000 - samples}


def test_the_limit_is_kept_and_told(run, streaming, hand, make_gate):
    gate, sink = make_gate(limit=100.0, seed=None), Memory()

    async def story():
        async with streaming(hand, [sink], gate=gate) as pump:
            hand.give(200)
            return pump.status()

    status = run(story())
    # 44.1 a window of 30 samples: two of them.
    assert status.meter.person_epsilon == pytest.approx(88.12, abs=0.01)
    assert sink.pieces[-1].mode == "frozen"
    x = sink.pieces[-1].parts[0]
    assert len(set(x[60:])) == 1


def test_the_budget_goes_on_over_restarts(run, streaming, hand, make_gate, tmp_path):
    totals = []

    async def story():
        gate = make_gate(budget=tmp_path / "anna", seed=None)
        async with streaming(type(hand)(), [], gate=gate) as pump:
            pump.source.give(30)
            totals.append(pump.status().meter.person_epsilon)

    for _ in range(3):
        run(story())
    assert totals == pytest.approx([44.06 * n for n in (1, 2, 3)], abs=0.1)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as they are on Unix")
def test_being_asked_to_end_is_no_failure(hand, make_gate):
    before = signal.getsignal(signal.SIGTERM)
    pump = Pump(hand, make_gate(), [])
    try:
        # It would go on for ever.
        pump.run(watch=lambda status: signal.raise_signal(signal.SIGTERM))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert pump.gate.mode == "closed"


def test_source_and_sink_must_be_two_places(hand, make_gate):
    sink = Memory()
    sink.name = hand.name
    with pytest.raises(InputError, match="source and sink at once"):
        Pump(hand, make_gate(), [sink])


def test_latency_is_what_numpy_finds():
    rng = np.random.default_rng(3)
    seconds, latency = rng.lognormal(-7, 1, 5000), Latency()
    for one in seconds:
        latency.add(one)
    for share in (0.5, 0.99):
        assert latency.quantile_ms(share) == pytest.approx(
            1000 * np.quantile(seconds, share), rel=0.05
        )
    assert Latency().quantile_ms(0.5) is None
