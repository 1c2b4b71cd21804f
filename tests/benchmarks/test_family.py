"""What work takes is counted of all processes that do it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BURNT_S, HELD_BYTES = 0.5, 64 << 20
# In a process that has no others: those of other tests would be counted, too.
MEASURE = """
import dataclasses, json, subprocess, sys
from benchmarks.family import processor_seconds, taken_by

BURN = '''
import sys, time
held = b"x" * (64 << 20)
while time.process_time() < 0.5:
    pass
print("done", flush=True)
sys.stdin.read()
'''

def ended():
    subprocess.run([sys.executable, "-c", BURN], stdin=subprocess.DEVNULL, stdout=2, check=True)

def stays():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    stays.worker = subprocess.Popen([sys.executable, "-c", BURN], **pipes)
    stays.worker.stdout.readline()

told = {"ended": processor_seconds(ended)}
told["all"] = dataclasses.asdict(taken_by(stays))
told["nothing"] = processor_seconds(lambda: None)
stays.worker.communicate()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told():
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = [sys.executable, "-c", MEASURE]
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": path}
    )
    return json.loads(done.stdout)


def test_the_processor_time_of_workers_that_have_ended_is_counted(told):
    assert told["ended"] >= BURNT_S - 0.05


def test_the_processor_time_of_workers_that_outlive_the_measurement_is_counted(told):
    assert told["all"]["cpu_seconds"] >= BURNT_S - 0.05
    assert told["all"]["own_cpu_seconds"] < BURNT_S / 2


def test_what_workers_did_before_is_not_counted(told):
    assert told["nothing"] < BURNT_S / 2


def test_the_memory_of_workers_is_counted_beside_the_first_process_s(told):
    took = told["all"]
    assert took["peak_bytes"] - took["before_bytes"] >= HELD_BYTES
    assert took["own_peak_bytes"] - took["own_before_bytes"] < HELD_BYTES
    assert took["processes"] == 2
