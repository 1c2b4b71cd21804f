"""``python -m benchmarks [NAME…]``: every benchmark, or the named ones; one JSON line a case."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks import (
    anonymity,
    audit,
    compare,
    engines,
    events,
    features,
    maps,
    noise,
    read,
    recommend,
    release,
    samples,
    signals,
    startup,
    stream,
    stream_transports,
    synthetic,
)
from benchmarks.case import remark
from eyelid.engine.children import SAFE_PATH

BENCHMARKS = {
    "noise": noise.cases,
    "startup": startup.cases,
    "release": release.cases,
    "read": read.cases,
    "events": events.cases,
    "features": features.cases,
    "maps": maps.cases,
    "audit": audit.cases,
    "compare": compare.cases,
    "recommend": recommend.cases,
    "samples": samples.cases,
    "signals": signals.cases,
    "anonymity": anonymity.cases,
    "synthetic": synthetic.cases,
    "engines": engines.cases,
    "stream": stream.cases,
    "stream_transports": stream_transports.cases,
}


def main() -> int:
    """Run them; 1 when a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]}: choose from {', '.join(BENCHMARKS)}")
    missed = []
    for name in names:
        for case in BENCHMARKS[name]():
            print(case.to_json(), flush=True)
            if case.passed is False:
                missed.append(case.name)
    for name in missed:
        remark(f"missed its target: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    # Processes of their own find this package by its address, in whatever folder they start.
    own = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ.update(SAFE_PATH, PYTHONPATH=os.pathsep.join(own))
    sys.exit(main())
