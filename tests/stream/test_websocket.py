"""Trackers and apps over real WebSockets on this machine."""

import asyncio
import contextlib
import json
import logging
import socket
import struct

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

from eyelid.errors import InputError
from eyelid.stream.access import Access
from eyelid.stream.addresses import sink_of, source_of
from eyelid.stream.connections import checked_url, host_and_port, is_loopback
from eyelid.stream.endpoints import Scenery
from eyelid.stream.pump import Pump
from eyelid.stream.websocket import (
    WebSocketClientSink,
    WebSocketClientSource,
    WebSocketServerSink,
    WebSocketServerSource,
)

SAMPLE = '{"time_ms": %f, "x": 777.123456789, "y": 333.987654321}'


TRACKER = {"Authorization": "Bearer a-token-for-trackers"}


@pytest.fixture
def tracker_server():
    access = Access("a-token-for-trackers")
    return WebSocketServerSource("trackers", Scenery(120.0), "127.0.0.1", 0, access)


@pytest.fixture
def app_server(access):
    return WebSocketServerSink("apps", "127.0.0.1", 0, access)


def url(server):
    return f"ws://127.0.0.1:{server.port}"


async def gaze(app, count):
    """So many samples, and every message on the way."""
    messages, samples = [], []
    while len(samples) < count:
        messages.append(await app.recv())
        told = json.loads(messages[-1])
        samples += zip(told.get("time_ms", []), told.get("x", []), told.get("y", []), strict=True)
    return samples, messages


# Who may connect.


@pytest.mark.parametrize("which", ["tracker", "app"])
@pytest.mark.parametrize(
    ("headers", "status", "why"),
    [
        ({}, 401, "no token"),
        ({"Authorization": "Bearer a-token-for-the-test"}, 401, "wrong token"),
        ({"Authorization": "Basic a-token-for-the-tests"}, 401, "no token"),
        ({"Sec-WebSocket-Protocol": "eyelid.json, token.wrong"}, 401, "wrong token"),
        ({"Authorization": "Bearer TOKEN", "Origin": "http://evil.test"}, 403, "origin"),
    ],
    ids=["no token", "wrong token", "another scheme", "wrong subprotocol", "wrong origin"],
)
def test_strangers_are_refused_before_anything_is_said(
    run, streaming, until, hand, tracker_server, app_server, which, headers, status, why
):
    async def story():
        server = tracker_server if which == "tracker" else app_server
        source, sinks = (server, []) if which == "tracker" else (hand, [server])
        shown = {name: value.replace("TOKEN", server.token) for name, value in headers.items()}
        async with streaming(source, sinks) as pump:
            await until(lambda: server.port)
            with pytest.raises(InvalidStatus) as refused:
                async with connect(url(server), additional_headers=shown):
                    pass
            assert refused.value.response.status_code == status
            assert pump.status().refused == {why: 1}
            assert pump.status().consumers == ()

    run(story())


def test_a_web_page_shows_its_token_as_a_subprotocol(run, streaming, hand, app_server, access):
    async def story():
        async with (
            streaming(hand, [app_server]),
            connect(
                url(app_server),
                origin="http://localhost:8000",
                subprotocols=["eyelid.json", f"token.{access.token}"],
            ) as page,
        ):
            assert page.subprotocol == "eyelid.json"
            assert access.token not in str(page.response.headers)
            assert "hello" in json.loads(await page.recv())

    run(story())


def test_a_second_tracker_is_refused(run, streaming, until, tracker_server, bearer):
    async def story():
        async with streaming(tracker_server, []):
            await until(lambda: tracker_server.port)
            async with connect(url(tracker_server), additional_headers=TRACKER):
                with pytest.raises(InvalidStatus) as refused:
                    await connect(url(tracker_server), additional_headers=TRACKER)
                assert refused.value.response.status_code == 503

    run(story())


def test_apps_and_trackers_have_tokens_of_their_own(make_gate, app_server, access):
    same = WebSocketServerSource("trackers", Scenery(120.0), "127.0.0.1", 0, access)
    with pytest.raises(InputError, match="same token") as refused:
        Pump(same, make_gate(), [app_server])
    assert access.token not in str(refused.value)


def test_strangers_who_say_nothing_cannot_fill_the_house(
    run, streaming, until, hand, app_server, bearer, monkeypatch, caplog
):
    monkeypatch.setattr("eyelid.stream.connections._MOST_STRANGERS", 3)
    monkeypatch.setattr("eyelid.stream.websocket.MOST_CONNECTIONS", 1)

    async def story():
        async with (
            streaming(hand, [app_server]) as pump,
            connect(url(app_server), additional_headers=bearer) as app,
        ):
            await until(lambda: pump.status().consumers)
            strangers = [await asyncio.open_connection("127.0.0.1", app_server.port)]
            strangers += [
                await asyncio.open_connection("127.0.0.1", app_server.port) for _ in range(7)
            ]
            await until(lambda: pump.status().refused == {"too many at the door": 5})
            # Whoever is inside does not notice.
            hand.give(5)
            samples, _ = await gaze(app, 5)
            for _, writer in strangers:
                writer.close()
            return samples

    assert len(run(story())) == 5
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_nobody_is_followed_elsewhere(run, streaming, until, hand, bearer):
    """The token and what is released go to the server that was named, and to no other."""
    asked = []

    async def elsewhere(connection):
        asked.append("elsewhere")

    async def story():
        async with serve(elsewhere, "127.0.0.1", 0) as other:
            there = f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}"

            def send_away(connection, request):
                asked.append("here")
                response = connection.respond(302, "")
                response.headers["Location"] = there
                return response

            async with serve(elsewhere, "127.0.0.1", 0, process_request=send_away) as named:
                place = f"ws://127.0.0.1:{named.sockets[0].getsockname()[1]}"
                sink = WebSocketClientSink("ws", place, "a-token-for-the-tests", "json")
                async with streaming(hand, [sink]):
                    await until(lambda: len(asked) >= 2 and sink.trouble)

    run(story())
    assert set(asked) == {"here"}


def test_an_app_that_sends_is_shown_out_and_injects_nothing(
    run, streaming, hand, app_server, bearer
):
    async def story():
        async with (
            streaming(hand, [app_server]) as pump,
            connect(url(app_server), additional_headers=bearer) as app,
        ):
            await app.send(SAMPLE % 1.0)
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await app.recv()
            assert closed.value.rcvd.code == 1008
            assert pump.status().refused == {"app that sends": 1}
            assert pump.gate.samples == 0

    run(story())


# What is no gaze.


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        (["nonsense"] * 5, 1008, "malformed"),
        ([b"\0" * 70_000], 1009, "oversized"),
    ],
    ids=["malformed", "oversized"],
)
def test_a_tracker_that_sends_no_gaze_is_shown_out(
    run, streaming, until, tracker_server, bearer, messages, code, reason
):
    async def story():
        async with streaming(tracker_server, []) as pump:
            await until(lambda: tracker_server.port)
            async with connect(url(tracker_server), additional_headers=TRACKER) as tracker:
                for message in messages:
                    await tracker.send(message)
                with pytest.raises(ConnectionClosed) as closed:
                    await tracker.recv()
            assert closed.value.rcvd.code == code
            await until(lambda: pump.status().refused)
            assert pump.status().refused == {reason: len(messages)}
            # The operator is told the first reason, and never what was in it.
            troubles = pump.status().troubles
            assert (reason == "malformed") == ("was no gaze: it is no JSON" in "".join(troubles))
            assert pump.gate.samples == 0
            # It may try again.
            async with connect(url(tracker_server), additional_headers=TRACKER) as tracker:
                await tracker.send("nonsense")
                await tracker.send(SAMPLE % 1.0)
                await until(lambda: pump.gate.samples == 1)

    run(story())


# From one end to the other.


def test_raw_gaze_is_in_nothing_that_an_app_receives_and_in_no_log(
    run, streaming, until, tracker_server, app_server, bearer, caplog
):
    caplog.set_level(logging.DEBUG)

    async def story():
        async with streaming(tracker_server, [app_server]) as pump:
            await until(lambda: tracker_server.port)
            async with (
                connect(
                    url(app_server), additional_headers=bearer, subprotocols=["eyelid.binary"]
                ) as binary,
                connect(url(app_server), additional_headers=bearer) as app,
                connect(url(tracker_server), additional_headers=TRACKER) as tracker,
            ):
                await until(lambda: len(pump.status().consumers) == 2)
                for i in range(200):
                    await tracker.send(SAMPLE % (8.0 * i))
                samples, messages = await gaze(app, 200)
                bytes_seen = b""
                while len(bytes_seen) < 200 * 16:
                    message = await binary.recv()
                    bytes_seen += message[8:] if isinstance(message, bytes) else b""
            return samples, messages, bytes_seen

    own_logger = logging.getLogger("websockets.client")
    own_logger.setLevel(logging.CRITICAL)
    try:
        samples, messages, bytes_seen = run(story())
    finally:
        own_logger.setLevel(logging.NOTSET)
    assert [t for t, _, _ in samples] == [8.0 * i for i in range(200)]
    assert all(0 <= x <= 1920 and 0 <= y <= 1080 for _, x, y in samples)
    everything = "".join(messages) + caplog.text
    for number in (777.123456789, 333.987654321):
        assert f"{number:.3f}" not in everything
        assert struct.pack("<f", number)[1:] not in bytes_seen
        assert struct.pack("<d", number) not in bytes_seen


def test_an_app_is_told_what_it_gets_and_what_was_spent(
    run, streaming, hand, app_server, bearer, make_gate
):
    async def story():
        async with (
            streaming(hand, [app_server], gate=make_gate(seed=None)),
            connect(url(app_server), additional_headers=bearer) as app,
        ):
            hello = json.loads(await app.recv())["hello"]
            first = json.loads(await app.recv())
            hand.give(1)
            told = first
            while not told.get("meter", {}).get("samples"):
                told = json.loads(await app.recv())
            return hello, first, told["meter"]

    hello, first, meter = run(story())
    assert (hello["filter"], hello["epsilon"], hello["window"]) == ("kaleido", 1.0, 30)
    assert hello["scene"] == [0.0, 0.0, 1920.0, 1080.0]
    assert (hello["holds"], hello["verdict"]) == (True, "Protected")
    assert "73.2%" in hello["guarantee"]
    assert first == {"meter": {**first["meter"], "samples": 0, "person_epsilon": 0.0}}
    assert meter["person_epsilon"] == pytest.approx(2202.907 / 50, abs=0.01)
    # What windows have spent depends on where a person looked: not for apps.
    assert not [name for name in meter if "window" in name]


def test_the_budget_is_told_at_once(run, streaming, hand, app_server, bearer, monkeypatch):
    monkeypatch.setattr("eyelid.stream.pump._REPORT_S", 3600)

    async def story():
        async with (
            streaming(hand, [app_server]),
            connect(url(app_server), additional_headers=bearer) as app,
        ):
            return [next(iter(json.loads(await app.recv()))) for _ in range(2)]

    assert run(story()) == ["hello", "meter"]


def test_a_stalling_app_loses_old_samples_and_the_other_none(
    run, streaming, hand, app_server, bearer
):
    batches, size = 30, 1000

    async def story(pump):
        small = socket.create_connection(("127.0.0.1", app_server.port))
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        small.setblocking(False)
        async with (
            connect(
                url(app_server), sock=small, additional_headers=bearer, max_size=None, max_queue=1
            ) as stalling,
            connect(url(app_server), additional_headers=bearer, max_size=None) as other,
        ):
            assert "hello" in await stalling.recv()
            got = []
            for i in range(batches):
                hand.give(size, start_ms=8.0 * size * i)
                samples, _ = await gaze(other, size)
                got += [t for t, _, _ in samples]
            late, lost = [], 0
            while not late or late[-1] < 8.0 * (batches * size - 1):
                told = json.loads(await stalling.recv())
                late += told.get("time_ms", [])
                lost += told.get("lost", 0)
            return got, late, lost, pump.status().consumers

    async def whole():
        async with streaming(hand, [app_server]) as pump:
            return await story(pump)

    got, late, lost, consumers = run(whole())
    assert got == [8.0 * i for i in range(batches * size)]
    assert lost > 0
    assert len(late) + lost == batches * size
    assert late == sorted(set(late))
    # The newest are there.
    assert late[-2048:] == got[-2048:]
    assert sorted(c.lost for c in consumers) == [0, lost]


# Whoever restarts is found again.


def test_a_tracker_that_restarts_goes_on_in_the_same_stream(
    run, streaming, until, tracker_server, bearer
):
    async def story():
        async with streaming(tracker_server, []) as pump:
            await until(lambda: tracker_server.port)
            for _ in range(3):
                async with connect(url(tracker_server), additional_headers=TRACKER) as tracker:
                    # Its clock begins anew every time.
                    for i in range(10):
                        await tracker.send(SAMPLE % (8.0 * i))
                await until(lambda: tracker_server.state == "waiting")
            return pump.gate.samples, pump.status().dropped

    assert run(story()) == (30, {})


def test_a_tracker_s_server_that_restarts_is_found_again(run, streaming, until, bearer):
    async def tracker(connection):
        assert connection.request.headers["Authorization"] == bearer["Authorization"]
        for i in range(10):
            await connection.send(SAMPLE % (8.0 * i))

    async def story():
        async with serve(tracker, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
        token = bearer["Authorization"].split()[1]
        source = WebSocketClientSource(
            "ws", Scenery(120.0), f"ws://127.0.0.1:{port}", token, "json"
        )
        async with streaming(source, []) as pump:
            for samples in (10, 20):
                await until(lambda: source.state == "reconnecting")
                async with serve(tracker, "127.0.0.1", port, reuse_address=True):
                    await until(lambda most=samples: pump.gate.samples >= most)
                    source.state = "seen"

    run(story())


def test_an_app_s_server_that_restarts_is_found_again(run, streaming, until, hand, bearer):
    heard = []

    async def app(connection):
        with contextlib.suppress(ConnectionClosed):
            async for message in connection:
                heard.append(json.loads(message))

    async def story():
        async with serve(app, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
        sink = WebSocketClientSink("ws", f"ws://127.0.0.1:{port}", None, "json")
        async with streaming(hand, [sink]):
            await until(lambda: sink.trouble)
            # More than may wait for an app that is not there.
            hand.give(1500)
            hand.give(1500, start_ms=5e5)
            async with serve(app, "127.0.0.1", port, reuse_address=True):
                await until(lambda: any("lost" in message for message in heard))
            await until(lambda: sink.trouble)
            heard.append("restarted")
            async with serve(app, "127.0.0.1", port, reuse_address=True):
                hand.give(10, start_ms=1e6)
                await until(lambda: heard[-1] != "restarted" and "x" in heard[-1])

    run(story())
    first, second = heard[: heard.index("restarted")], heard[heard.index("restarted") + 1 :]
    assert "hello" in first[0]
    assert "hello" in second[0]
    late = next(message for message in first if "lost" in message)
    assert (late["lost"], len(late["x"])) == (3000 - 2048, 2048)


# Places.


@pytest.mark.parametrize(
    ("address", "warned"),
    [("ws://10.1.2.3:80", True), ("wss://10.1.2.3:80", False), ("ws://127.0.0.1:80", False)],
)
def test_gaze_that_crosses_a_network_in_the_open_is_warned_of(address, warned):
    told = []
    source_of(address, tell=told.append)
    sink_of(address, tell=told.append)
    assert ["raw gaze and the token" in text for text in told[:1]] == [True] * warned
    assert ["what is released and the token" in text for text in told[1:]] == [True] * warned


@pytest.mark.parametrize("place", ["nonsense", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"])
def test_a_place_that_is_none_is_refused(place):
    with pytest.raises(InputError, match=r"127\.0\.0\.1:8765"):
        host_and_port(place)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.test"])
def test_what_others_can_reach_is_not_this_machine(host):
    assert not is_loopback(host)


def test_a_secret_in_an_address_is_refused_and_not_repeated():
    for secret in ("ws://me:hush@host/", "ws://host/?token=hush"):
        with pytest.raises(InputError) as refused:
            checked_url(secret)
        assert "hush" not in str(refused.value)


def test_a_port_that_is_taken_is_one_clear_line(run, streaming, hand, app_server, access):
    async def story():
        async with streaming(hand, [app_server]):
            other = WebSocketServerSink("ws-serve", "127.0.0.1", app_server.port, access)
            async with streaming(type(hand)(), [other]):
                await asyncio.sleep(0)

    with pytest.raises(InputError, match="cannot listen at"):
        run(story())
