"""The page for filtered gaze: in a real browser, with a real gatekeeper."""

import base64
import itertools
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
from contextlib import contextmanager, suppress
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
# Nothing is measured by it: it only ends what hangs.
PATIENCE_S = 300


def test_nothing_in_the_page_is_from_elsewhere():
    text = PAGE.read_text("utf-8")
    assert not re.search(r"https?://|@import|url\(", text)
    assert re.findall(r'(?:src|href)="([^"]*)"', text) == ["data:,"]
    assert "default-src 'none'" in text


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
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


def until(found, what, process):
    """What is found at last; however slow the machine, as long as the process is there."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if value := found():
            return value
        if process.poll() is not None:
            pytest.fail(f"{what}: {process.args[0]} ended with {process.returncode}")
        time.sleep(0.02)
    pytest.fail(f"{what} for {PATIENCE_S} s")


@pytest.fixture(scope="module")
def chromium(origin, tmp_path_factory):
    """A browser with the page open: a function that calls its developer tools."""
    client = pytest.importorskip("websockets.sync.client", reason="needs websockets")
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("needs chromium: none of " + ", ".join(names) + " is installed")
    profile = tmp_path_factory.mktemp("profile")
    command = [program, *FLAGS, f"--user-data-dir={profile}", origin]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ended(subprocess.Popen(command, **silent)) as process:
        told = profile / "DevToolsActivePort"
        until(lambda: told.exists() and told.read_text().count("\n"), "no browser", process)
        port = told.read_text().splitlines()[0]

        def tab():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                pages = [each for each in json.load(answer) if each["url"].startswith(origin)]
            return pages and pages[0]["webSocketDebuggerUrl"]

        patient = {"max_size": None, "proxy": None, "open_timeout": None, "ping_interval": None}
        with client.connect(until(tab, "no page opened", process), **patient) as devtools:
            numbers = itertools.count(1)

            def call(method, **parameters):
                number = next(numbers)
                devtools.send(json.dumps({"id": number, "method": method, "params": parameters}))
                while (answer := json.loads(devtools.recv())).get("id") != number:
                    pass
                return answer

            call.process = process
            yield call


@pytest.fixture
def browser(chromium):
    """A function that runs JavaScript in the page, freshly loaded."""

    def run(script):
        answer = chromium("Runtime.evaluate", expression=script, returnByValue=True)
        # While a page is being loaded there is nothing to run it in.
        result = answer.get("result", {"result": {}})
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    run.picture = lambda: base64.b64decode(chromium("Page.captureScreenshot")["result"]["data"])
    run.text = lambda name: run(f"document.getElementById('{name}').textContent")
    run.shown = lambda name: run(f"document.getElementById('{name}').offsetHeight > 0")
    there = "!window.old && document.readyState === 'complete' && typeof take === 'function'"
    run("window.old = true; location.reload()")
    until(lambda: run(there), "the page was not ready", chromium.process)
    return run


HELLO = {
    "filter": "kaleido",
    "epsilon": 1.0,
    "window": 60,
    "radius": 3.0,
    "window_cost": 17.5,
    "units": "deg",
    "scene": [0, 0, 45, 27],
    "rate_hz": 120.0,
    "holds": True,
    "verdict": "Protected",
    "guarantee": "any 60 samples in a row",
    "columns": ["time_ms", "x", "y"],
}
METER = {"samples": 60, "epsilon": 1.0, "person_epsilon": 17.5, "limit": 35.0, "mode": "on"}
GAZE = {"time_ms": [1.0, 2.0], "x": [3.0, 4.0], "y": [5.0, 6.0], "lost": 0, "mode": "on"}


def send(browser, **message):
    browser(f"take({json.dumps(message)}); tell()")


def test_the_total_is_not_made_up_before_the_gatekeeper_tells_it(browser):
    send(browser, hello=HELLO)
    send(browser, **GAZE)
    assert browser.text("person") == "–"
    send(browser, meter=METER)
    assert browser.text("person") == "ε = 17.5"
    # 120 windows of 17.5.
    assert browser.text("minute") == "2,100"
    send(browser, meter={**METER, "person_epsilon": 1234500.5, "limit": 2e5})
    assert browser.text("person") == "ε = 1,235,000"
    assert browser.text("limit") == "ε = 200,000"


def test_at_the_limit_nothing_grows_and_the_bar_is_full(browser):
    send(browser, hello=HELLO)
    send(browser, meter={**METER, "person_epsilon": 35.0, "mode": "frozen"})
    assert browser.text("minute") == "nothing"
    assert browser.shown("limited")
    assert browser("document.getElementById('limit-bar').style.width") == "100%"
    assert browser.text("mode").startswith("frozen")


def test_a_row_is_hidden_until_there_is_something_in_it(browser):
    assert not browser.shown("events")
    assert not browser.shown("limited")
    send(browser, hello=HELLO)
    send(browser, events=[{"name": "area entered", "region": "menu"}])
    assert browser.shown("events")
    assert browser.text("event") == "area entered: menu"


def test_messages_at_one_time_have_no_rate(browser):
    browser("performance.now = () => 1000")
    send(browser, hello=HELLO)
    send(browser, **GAZE)
    send(browser, **GAZE)
    assert browser.text("rate") == "–"
    browser("performance.now = () => 1500")
    send(browser, **GAZE)
    assert browser.text("rate") == "4 Hz"


def test_what_promises_nothing_is_called_so(browser):
    nothing = dict.fromkeys(("epsilon", "window", "radius", "window_cost"))
    void = {"holds": False, "verdict": "Not protected", "guarantee": "jitter carries none"}
    send(browser, hello={**HELLO, **nothing, **void})
    send(browser, meter={**METER, "epsilon": None, "person_epsilon": None, "limit": None})
    assert browser.text("verdict") == "Not protected"
    assert "take what you see for raw gaze" in browser.text("what")
    assert browser.text("promise") == "Not protected: jitter carries none."
    assert browser.text("person") == browser.text("epsilon") == "no bound"
    assert "filtered" not in browser.text("what")
    assert browser.text("whose") == "Neither a glance nor the person is hidden."


def free_port():
    """Below those that systems give away by themselves, so that it stays free."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
    pytest.skip("no port is free")


def gatekeeper(port, origin):
    command = "stream --source simulate:rate=120,seed=1 --filter kaleido --epsilon 10 --window 60"
    where = ["--radius", "2", "--sink", f"ws-serve:127.0.0.1:{port}", "--origin", origin]
    more = ["--limit", "100000", "--events", "0.3"]
    return subprocess.Popen(
        [sys.executable, "-m", "eyelid", *command.split(), *where, *more],
        env={**os.environ, "EYELID_SINK_TOKEN": TOKEN},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_the_page_waits_for_a_gatekeeper_shows_what_it_releases_and_waits_again(
    browser, chromium, origin
):
    def state():
        return browser("document.body.dataset.state")

    text, port = browser.text, free_port()
    assert state() == "idle"
    browser(
        "AGAIN_MS.fill(100);"
        f"document.getElementById('address').value = 'ws://127.0.0.1:{port}';"
        f"document.getElementById('token').value = '{TOKEN}';"
        "document.getElementById('door').requestSubmit()"
    )
    hint = f"--origin {origin}"
    until(lambda: hint in text("hint"), "nothing was said of no answer", chromium.process)
    with ended(gatekeeper(port, origin)) as gate:
        until(lambda: state() == "live", "the page did not connect", gate)
        until(lambda: int(text("samples").replace(",", "")) >= 60, "no samples", gate)
        until(lambda: text("limit") != "–", "the budget was not told", gate)
        until(lambda: text("event").startswith("fixation"), "no event was shown", gate)
        assert text("filter") == "kaleido with events"
        assert "any 60 samples in a row (500 ms at 120 Hz)" in text("promise")
        assert text("verdict") == "Hardly protected"
        assert text("epsilon") == "ε = 10"
        # ⌈T/w⌉·ε·D/radius: at least one window of the simulator's screen.
        assert float(text("person").removeprefix("ε = ").replace(",", "")) >= 250
        drawn = "trail.every(p => p.x >= facts.scene[0] && p.x <= facts.scene[2]) && trail.length"
        assert browser(drawn) >= 1
        assert browser.picture().startswith(b"\x89PNG")
    gone = ("again", "connecting")
    until(lambda: state() in gone, "the page did not notice that it is gone", chromium.process)
    browser("document.getElementById('door').requestSubmit()")
    assert state() == "idle"
