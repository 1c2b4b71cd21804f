"""The client of the streaming page: it shows what a gatekeeper releases."""

import asyncio
import re
from pathlib import Path

import pytest

from eyelid.stream import Gatekeeper
from eyelid.stream.addresses import sink_of, source_of
from eyelid.stream.pump import Pump

PAGE = Path(__file__).parents[2] / "docs" / "streaming.md"
TOKEN = "a-token-for-this-test-only"


class Enough(Exception):
    """Stops a client that would go on for ever."""


def test_the_client_of_the_page_runs_as_it_is_printed(monkeypatch):
    pytest.importorskip("websockets", reason="needs websockets")
    monkeypatch.setenv("EYELID_SINK_TOKEN", TOKEN)
    (code,) = re.findall(r"```py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    shown = []

    def show(*words):
        shown.append(words)
        if len(shown) == 3:
            raise Enough

    def client(address):
        with pytest.raises(Enough):
            exec(code.replace("ws://127.0.0.1:8765", address), {"print": show})

    async def story():
        scene = {"units": "deg", "scene": (0, 0, 45, 26)}
        gate = Gatekeeper("kaleido", epsilon=1.0, window=60, radius=3.0, **scene)
        sink = sink_of("ws-serve:127.0.0.1:0")
        pump = Pump(source_of("simulate:minutes=1,seed=1"), gate, [sink])
        work = asyncio.ensure_future(pump.stream())
        while not sink.listens_at:
            assert not work.done(), work.result()
            await asyncio.sleep(0.01)
        await asyncio.to_thread(client, sink.listens_at)
        work.cancel()
        await asyncio.wait([work])

    asyncio.run(story())
    for time_ms, x, y, mode in shown:
        assert time_ms >= 0
        assert 0 <= x <= 45
        assert 0 <= y <= 26
        assert mode == "on"
