"""The Lab Streaming Layer on this machine; skipped where its library cannot be loaded."""

import os
import uuid
from pathlib import Path

import pytest

from eyelid.errors import InputError
from eyelid.stream.addresses import sink_of, source_of
from eyelid.stream.lsl import LslSink, configuration, layer

# Nothing is measured by it: it only ends what hangs.
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def lsl():
    try:
        return layer("machine")
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture
def names():
    """Names of streams that no other test on this machine has."""
    own = uuid.uuid4().hex[:12]
    return f"raw-{own}", f"released-{own}"


def outlet(lsl, name, labels=("x", "y")):
    info = lsl.StreamInfo(name, "Gaze", len(labels), 120, lsl.cf_double64, f"tracker-{name}")
    info.set_channel_labels(list(labels))
    return lsl.StreamOutlet(info)


def test_gaze_goes_through_and_raw_gaze_does_not_and_a_tracker_may_restart(
    run, streaming, until, lsl, names
):
    raw, released = names
    source, sink = source_of(f"lsl:{raw},rate=120"), LslSink(f"lsl:{released}", released, "machine")
    got = []

    async def story():
        tracker = outlet(lsl, raw, labels=("time", "y", "gaze_x"))
        async with streaming(source, [sink]) as pump:
            await until(lambda: source.state == "connected")
            (info,) = lsl.resolve_byprop("name", released, 1, timeout=PATIENCE_S)
            app = lsl.StreamInlet(info, recover=False)
            app.open_stream(PATIENCE_S)
            await until(lambda: sink.consumers())
            start_s = lsl.local_clock()
            for i in range(50):
                tracker.push_sample([5.0, 333.987654321, 777.123456789], start_s + 0.008 * i)

            def pulled():
                samples, stamps = app.pull_chunk(timeout=0.0)
                got.extend(zip(stamps, samples, strict=True))
                return len(got)

            await until(lambda: pulled() == 50)
            # A person kills the tracker and starts it again.
            del tracker
            await until(lambda: source.state == "reconnecting")
            tracker = outlet(lsl, raw, labels=("time", "y", "gaze_x"))
            await until(lambda: source.state == "connected")
            await until(lambda: tracker.have_consumers())
            tracker.push_sample([5.0, 333.987654321, 777.123456789])
            await until(lambda: pulled() == 51)
            return start_s, pump.status()

    start_s, status = run(story())
    # The tracker's own clock, to within a rounding.
    assert [stamp for stamp, _ in got[:50]] == pytest.approx(
        [start_s + 0.008 * i for i in range(50)], abs=1e-6
    )
    assert all(len(sample) == 2 and 0 <= sample[0] <= 1920 for _, sample in got)
    assert not [v for _, sample in got for v in sample if abs(v - 777.1235) < 1e-3]
    assert not [v for _, sample in got for v in sample if abs(v - 333.9877) < 1e-3]
    assert status.samples == 51
    assert status.consumers[0].lost is None


def test_whoever_asks_is_told_what_a_listener_needs_and_no_more(run, streaming, hand, lsl, names):
    """The layer answers without a token, also beyond this machine."""

    async def story():
        async with streaming(hand, [LslSink(f"lsl:{names[1]}", names[1], "machine")]):
            (info,) = lsl.resolve_byprop("name", names[1], 1, timeout=PATIENCE_S)
            about = lsl.StreamInlet(info).info(PATIENCE_S).desc().child("eyelid")
            told, child = {}, about.first_child()
            while not child.empty():
                told[child.name()] = child.child_value()
                child = child.next_sibling()
            return told

    assert run(story()) == {"units": "px", "holds": "false"}


def test_who_can_read_beside_us_is_told(lsl, names):
    told = []
    source_of(f"lsl:{names[0]}", tell=told.append)
    sink_of(f"lsl:{names[1]}", tell=told.append)
    raw, released = told
    assert "any program on this machine can read the tracker's RAW stream" in raw
    assert "not announced by multicast" in released
    assert "answers those who ask its ports: use a firewall" in released


def test_a_stream_that_is_not_there_is_told_with_those_that_are(
    run, streaming, until, lsl, names, monkeypatch
):
    monkeypatch.setattr("eyelid.stream.lsl._MISSED_S", 0.0)
    source = source_of(f"lsl:{names[0]}-misspelt")

    async def story():
        tracker = outlet(lsl, names[0])
        async with streaming(source, []):
            await until(lambda: source.trouble)
        assert tracker

    run(story())
    assert source.trouble.startswith(f"there is no stream '{names[0]}-misspelt' (there is ")
    assert names[0] in source.trouble.partition("(")[2]


def test_streams_are_not_announced_beyond_this_machine(run, streaming, hand, lsl, names):
    sockets = Path("/proc/net/udp")
    if not sockets.exists():
        pytest.skip("which sockets listen where is read from /proc")
    sink = LslSink(f"lsl:{names[1]}", names[1], "machine")

    async def story():
        async with streaming(hand, [sink]):
            own = {
                os.readlink(link)[8:-1]
                for link in Path("/proc/self/fd").iterdir()
                if link.is_symlink() and os.readlink(link).startswith("socket:")
            }
            rows = [line.split() for line in sockets.read_text().splitlines()[1:]]
            return {row[1] for row in rows if row[9] in own and row[1].endswith(f":{16571:04X}")}

    # Where streams are asked for, we listen at 127.0.0.1 alone.
    assert run(story()) == {"0100007F:40BB"}


def test_the_scope_is_a_word_of_the_layer_s():
    assert "ResolveScope = site" in configuration("site")
    assert "ListenAddress" not in configuration("site")
    with pytest.raises(InputError, match="unknown scope"):
        configuration("planet")


def test_one_process_has_one_scope(lsl):
    with pytest.raises(InputError, match="set already"):
        layer("site")


@pytest.mark.parametrize("text", ["lsl:{},x=left", "lsl:{}"])
def test_channels_that_nobody_can_tell_apart_are_asked_for(run, streaming, until, lsl, names, text):
    source = source_of(text.format(names[0]))

    async def story():
        tracker = outlet(lsl, names[0], labels=("a", "b", "c"))
        async with streaming(source, []) as pump:
            await until(lambda: pump.gate.mode == "closed")
        assert tracker

    with pytest.raises(InputError, match=r"has 3 channels \(a, b, c\): say which is x"):
        run(story())
