"""The page for filtered gaze: in a real browser, with a real gatekeeper."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "examples" / "live" / "index.html"
TOKEN = "a-token-for-this-test-only"
# Quiet, and without a look at the network; the sandbox does not work as root or in containers.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-port=0",
]
PATIENCE_S = 30


def test_nothing_in_the_page_is_from_elsewhere():
    text = PAGE.read_text("utf-8")
    assert not re.search(r"https?://|@import|url\(", text)
    assert re.findall(r'(?:src|href)="([^"]*)"', text) == ["data:,"]
    assert "default-src 'none'" in text
    assert "What you see is <b>filtered</b>" in text


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def origin():
    """Where the page is served from."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=PAGE.parent)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextmanager
def ended(process):
    """A process that is over when this is."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(found, what):
    """What is found at last."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.05)
    pytest.fail(f"{what} for {PATIENCE_S} s")


@pytest.fixture
def browser(origin, tmp_path):
    """A function that runs JavaScript in the open page."""
    client = pytest.importorskip("websockets.sync.client", reason="needs websockets")
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("needs chromium: none of " + ", ".join(names) + " is installed")
    command = [program, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", origin]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ended(subprocess.Popen(command, **silent)):
        told = tmp_path / "profile" / "DevToolsActivePort"
        until(lambda: told.exists() and told.read_text().count("\n"), "no browser started")
        port = told.read_text().splitlines()[0]

        def tab():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                pages = [each for each in json.load(answer) if each["url"].startswith(origin)]
            return pages and pages[0]["webSocketDebuggerUrl"]

        with client.connect(until(tab, "no page opened"), max_size=None, proxy=None) as devtools:

            def call(method, **parameters):
                devtools.send(json.dumps({"id": 1, "method": method, "params": parameters}))
                while "id" not in (answer := json.loads(devtools.recv())):
                    pass
                return answer["result"]

            def run(script):
                result = call("Runtime.evaluate", expression=script, returnByValue=True)
                assert "exceptionDetails" not in result, result
                return result["result"].get("value")

            run.picture = lambda: base64.b64decode(call("Page.captureScreenshot")["data"])
            there = "document.readyState === 'complete' && !!document.getElementById('door')"
            until(lambda: run(there), "the page was not ready")
            yield run


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def gatekeeper(port, origin):
    command = "stream --source simulate:rate=120,seed=1 --filter kaleido --epsilon 10 --window 60"
    where = ["--radius", "2", "--sink", f"ws-serve:127.0.0.1:{port}", "--origin", origin]
    more = ["--limit", "100000", "--set", "events=0.3"]
    return subprocess.Popen(
        [sys.executable, "-m", "eyelid", *command.split(), *where, *more],
        env={**os.environ, "EYELID_SINK_TOKEN": TOKEN},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_the_page_waits_for_a_gatekeeper_shows_what_it_releases_and_waits_again(browser, origin):
    def text(name):
        return browser(f"document.getElementById('{name}').textContent")

    def state():
        return browser("document.body.dataset.state")

    port = free_port()
    assert state() == "idle"
    browser(
        f"document.getElementById('address').value = 'ws://127.0.0.1:{port}';"
        f"document.getElementById('token').value = '{TOKEN}';"
        "document.getElementById('door').requestSubmit()"
    )
    with ended(gatekeeper(port, origin)):
        until(lambda: f"--origin {origin}" in text("hint"), "the page said nothing of no answer")
        until(lambda: state() == "live", "the page did not connect once there was a gatekeeper")
        until(lambda: int(text("samples").replace(",", "")) >= 60, "no samples were shown")
        until(lambda: text("limit") != "–", "the budget was not told")
        until(lambda: text("event").startswith("fixation"), "no event was shown")
        assert text("filter")
        assert text("promise").startswith("Protected: any 60 samples in a row (500 ms at 120 Hz)")
        assert text("epsilon") == "ε = 10"
        # ⌈T/w⌉·ε·D/radius: at least one window of the simulator's screen.
        assert float(text("person").removeprefix("ε = ").replace(",", "")) >= 250
        drawn = "trail.every(p => p.x >= facts.scene[0] && p.x <= facts.scene[2]) && trail.length"
        assert browser(drawn) >= 1
        assert browser.picture().startswith(b"\x89PNG")
    until(lambda: state() in ("again", "connecting"), "the page did not notice that it is gone")
    browser("document.getElementById('door').requestSubmit()")
    assert state() == "idle"
