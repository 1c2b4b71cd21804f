"""Strangers at the door of a WebSocket: whatever they do, an app with the token gets in."""

import asyncio
import contextlib
import json
import logging
import socket

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

from eyelid.stream import connections
from eyelid.stream.access import Access, Strangers
from eyelid.stream.endpoints import Scenery
from eyelid.stream.websocket import WebSocketClientSink, WebSocketServerSink, WebSocketServerSource

TOKEN = "a-token-for-the-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ASKING = (
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Authorization: Bearer {}\r\n\r\n"
)
SEVENTY = 70


@pytest.fixture
def server():
    return WebSocketServerSink("apps", "127.0.0.1", 0, Access(TOKEN))


@contextlib.contextmanager
def plain_connections(port, count, said=b""):
    """Connections that have been made and said no more than that, before they are answered."""
    with contextlib.ExitStack() as stack:
        made = []
        for _ in range(count):
            link = stack.enter_context(contextlib.closing(socket.socket()))
            link.connect(("127.0.0.1", port))
            link.sendall(said)
            made.append(link)
        yield made


async def hello_of(server):
    """What an app with the token is greeted with, at its first attempt."""
    async with connect(f"ws://127.0.0.1:{server.port}", additional_headers=BEARER) as app:
        return json.loads(await app.recv())


async def heard(server):
    """Wait until nothing that was sent so far is left unheard: a connection is refused."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(ASKING.format("wrong").encode())
    assert b"401" in await reader.readline()
    writer.close()


@pytest.mark.parametrize(
    "said",
    ["", "G", ASKING.format(TOKEN)[:-2], ASKING.format("a-wrong-token"), "\r\n" * 9, "\0\xff" * 9],
    ids=["silent", "slow", "nearly", "lingering", "empty", "no HTTP"],
)
def test_seventy_silent_connections_do_not_lock_out_an_app_with_the_token(
    run, streaming, hand, server, said, caplog
):
    async def story():
        async with streaming(hand, [server]):
            with plain_connections(server.port, SEVENTY, said.encode("latin-1")):
                return await hello_of(server)

    assert "hello" in run(story())
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_seventy_silent_connections_do_not_lock_out_a_tracker_with_the_token(run, streaming, until):
    tracker_server = WebSocketServerSource(
        "trackers", Scenery(120.0), "127.0.0.1", 0, Access(TOKEN)
    )

    async def story():
        async with streaming(tracker_server, []) as pump:
            await until(lambda: tracker_server.port)
            with plain_connections(tracker_server.port, SEVENTY):
                address = f"ws://127.0.0.1:{tracker_server.port}"
                async with connect(address, additional_headers=BEARER) as tracker:
                    await tracker.send('{"time_ms": 1.0, "x": 7.0, "y": 3.0}')
                    await until(lambda: pump.gate.samples == 1)

    run(story())


@pytest.mark.parametrize("before", [0, SEVENTY])
def test_an_app_in_the_middle_of_a_flood_is_heard_before_any_goes(
    run, streaming, hand, server, before
):
    """All of them are there before the server looks, the app among them."""

    async def story():
        async with streaming(hand, [server]):
            with (
                plain_connections(server.port, before),
                plain_connections(server.port, 1, ASKING.format(TOKEN).encode()) as apps,
                plain_connections(server.port, SEVENTY + 20 - before),
            ):
                apps[0].setblocking(False)
                loop = asyncio.get_running_loop()
                return await loop.sock_recv(apps[0], 12)

    assert run(story()) == b"HTTP/1.1 101"


def test_the_oldest_silent_stranger_goes_and_the_newest_stay(run, streaming, until, hand, server):
    async def story():
        async with streaming(hand, [server]) as pump:
            readers = []
            for _ in range(SEVENTY):
                readers.append(await asyncio.open_connection("127.0.0.1", server.port))
            await heard(server)
            await until(lambda: pump.status().refused["too many at the door"] >= SEVENTY - 32)
            gone = [reader.at_eof() or reader.exception() is not None for reader, _ in readers]
            for _, writer in readers:
                writer.close()
            return gone

    gone = run(story())
    # The last one, which is refused, may have taken one more place.
    assert sum(gone) in (SEVENTY - 32, SEVENTY - 31)
    assert gone == sorted(gone, reverse=True)


def test_a_flood_of_headers_is_cut_off_before_it_fills_memory(run, streaming, until, hand, server):
    async def story():
        async with streaming(hand, [server]) as pump:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET / HTTP/1.1\r\n" + b"X-Header: 0\r\n" * 100)
            with contextlib.suppress(ConnectionError):
                for _ in range(20):
                    writer.write(b"X-Header: " + b"0" * 1000 + b"\r\n")
                    await writer.drain()
                await reader.read()
            writer.close()
            await until(lambda: pump.status().refused)
            return pump.status().refused

    assert run(story()) == {"too much before a token": 1}


def test_a_token_that_is_no_text_is_a_wrong_one(run, streaming, hand, server):
    async def story():
        async with streaming(hand, [server]) as pump:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(ASKING.format("\xff\xfe").encode("latin-1"))
            status = await reader.readline()
            writer.close()
            return status, pump.status().refused

    status, refused = run(story())
    assert b" 401 " in status
    assert refused == {"wrong token": 1}


def a_client_that_never_reads(port):
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    link.connect(("127.0.0.1", port))
    link.sendall(ASKING.format(TOKEN).encode())
    return contextlib.closing(link)


def test_an_app_that_shows_its_token_and_never_reads_does_not_keep_its_place(
    run, streaming, until, hand, server, monkeypatch
):
    monkeypatch.setattr(connections, "_STALL_S", 0.5)
    monkeypatch.setattr("eyelid.stream.websocket.MOST_CONNECTIONS", 1)

    async def story():
        async with streaming(hand, [server]) as pump:
            with a_client_that_never_reads(server.port):
                await until(lambda: pump.status().consumers)
                start_ms = 0.0
                # More than any buffer on the way holds.
                while not [c for c in pump.status().consumers if "that left" in c.name]:
                    hand.give(2000, start_ms=start_ms)
                    start_ms += 16_000.0
                    await asyncio.sleep(0.01)
                return await hello_of(server)

    assert "hello" in run(story())


@pytest.mark.parametrize("side", ["their client", "their server"])
def test_a_peer_that_never_reads_does_not_keep_a_stream_from_ending(
    run, streaming, until, hand, server, side, monkeypatch
):
    # A ping is on its way and will not be answered: the library's own goodbye waits behind it.
    monkeypatch.setitem(connections._COMMON, "ping_interval", 0.01)
    monkeypatch.setattr(connections, "_GOODBYE_S", 0.05)
    monkeypatch.setattr("eyelid.stream.websocket._FAREWELL_S", 0.1)

    async def deaf(connection):
        connection.transport.pause_reading()
        await asyncio.Event().wait()

    async def story():
        async with contextlib.AsyncExitStack() as stack:
            sink = server
            if side == "their server":
                other = socket.create_server(("127.0.0.1", 0))
                other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                serving = await serve(deaf, sock=other, close_timeout=0.01, ping_interval=None)
                stack.callback(serving.close, close_connections=False)
                place = f"ws://127.0.0.1:{other.getsockname()[1]}"
                sink = WebSocketClientSink("ws", place, None, "json")
            async with streaming(hand, [sink]) as pump:
                if side == "their client":
                    stack.enter_context(a_client_that_never_reads(server.port))
                await until(lambda: pump.status().consumers and not sink.trouble)
                start_ms = 0.0
                while not any(c.lost for c in pump.status().consumers):
                    hand.give(2000, start_ms=start_ms)
                    start_ms += 16_000.0
                    await asyncio.sleep(0.01)

    run(story())


# Whom a flood drives out.


def addresses(many, own=8):
    strangers = Strangers(32, lambda host: 32 if host.startswith("127.") else own)
    for name, host in enumerate(many):
        strangers.add(name, host)
    return strangers


def test_a_flood_from_one_address_drives_out_its_own():
    strangers = addresses(["10.0.0.1"] + ["10.0.0.2"] * 50)
    assert strangers.surplus(lambda name: True) == list(range(1, 43))
    assert 0 in strangers


def test_a_flood_from_one_network_of_ipv6_is_one_address():
    strangers = addresses(["2001:db8:1::1"] + [f"2001:db8:2::{n:x}" for n in range(50)])
    assert strangers.surplus(lambda name: True) == list(range(1, 43))


def test_a_flood_from_many_addresses_drives_out_those_that_have_the_most():
    many = [f"10.0.{n // 2}.1" for n in range(40)]
    strangers = addresses(["192.0.2.1", *many])
    gone = strangers.surplus(lambda name: True)
    assert len(gone) == 41 - 32
    assert 0 not in gone


def test_a_stranger_that_is_being_answered_stays():
    strangers = addresses(["127.0.0.1"] * 70)
    gone = strangers.surplus(lambda name: name >= 10)
    assert gone == list(range(10, 48))
    assert strangers.surplus(lambda name: False) == []
