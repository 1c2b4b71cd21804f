"""``python -m proofs [NAME…]``: every claim, or the named ones; one JSON line each."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from dataclasses import fields
from pathlib import Path

from eyelid.engine.children import SAFE_PATH
from proofs.result import Effort, Result, progress

CLAIMS = {
    "golden": "the theory's numbers about noise come out",
    "games": "no mechanism is refuted, every planted fault is caught",
    "stream_games": "no filter is refuted, every misprint and planted fault is caught",
    "samplers": "the exact samplers follow their laws",
    "discreteness": "a discrete Gaussian is as near to a rounded one as the slack says",
    "equal_guarantee": "at the same promise to a person ours are nearer, and cost foresees how far",
    "pipeline": "person totals and broken promises come through the command line",
    "whole_folder": "nothing in a folder but released values tells neighbouring studies apart",
    "canaries": "the whole release pipeline withstands its canaries, and its faults do not",
    "synthetic_canaries": "one run of canaries shows less ε than synthetic claims, a fault more",
    "kill": "a release killed at random moments goes on to all or nothing, and is counted once",
    "steps": "the same when it is killed before every single step it takes on the file system",
    "killed_workers": "workers killed at random leave no trace in what is released, on any engine",
    "larger_than_memory": "memory follows the part, not the study, over 1×, 10× and 100× people",
    "crowd": "several processes cannot together exceed a limit",
    "readers": "any bytes give a study or one clear line, within limits of time and memory",
    "agreement": "events are found where people see them, and where the simulator put them",
    "refutation": "no sound release is called refuted by an audit, and planted faults are",
    "watermark": "noise is recognised by a paper's protocol, and by no leak-free one",
    "published": "real people show the shapes of a paper's published figures, and why",
    "simulator": "simulated participants have the privacy problem that real people have",
    "recognition": "documents and people are recognised in real recordings, end to end",
    "maps": "heatmaps show hotspots from some twenty people on, where a paper's show noise",
    "crowded_map": "a heatmap of 100 000 people takes the memory of one of 10 000",
    "real_maps": "the same for fifteen real people, of whom subtraction finds nobody",
    "anonymity": "means of groups keep documents and hide people, where a paper's are seen through",
    "datasets": "ordinary models learn from what is shared, and nobody is found by it",
    "synthetic": "synthetic participants teach models, are as far off as foreseen, or are refused",
    "gaze": "generated gaze is as near to people as people are to each other, and teaches tasks",
    "stream_events": "released fixation events and counters agree with raw gaze as ε allows",
    "long_stream": "a day of gaze at 120 Hz leaves memory flat and every window within its ε",
    "soak": "a stalling app loses old samples, the other none, and memory stays flat",
    "streams_real": "re-identification from filtered gaze over ε and w, by what, and the gaze left",
    "samples_attack": "raw gaze names most people sample by sample, and nobody under wrong names",
    "comparison": "every mechanism is in one table of real people, the same after a kill",
    "reproduction": "three papers done again: what they print, and what leak-free protocols find",
    "real_table": "a table of measures goes by commands alone to releases whose means are near",
    "statistics": "results' intervals cover, tests err as said and find what they should",
    "statistics_real": "real readers' results are as near as was aimed at, by public norms",
    "installed": "the wheel, installed alone, has the plain version and every command works",
    "gaze_shared": "released gaze: what noise costs, who is found in it, what it is good for",
    "real": "real people are recognised raw and not recognised when released",
}


def main() -> int:
    """Try them; 1 when one fails."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CLAIMS))
    parser.add_argument("--list", action="store_true", help="say what the claims are")
    for item in fields(Effort):
        parser.add_argument(f"--{item.name}", type=int, default=item.default, metavar="N")
    options = vars(parser.parse_args())
    names = options.pop("names") or list(CLAIMS)
    unknown = [name for name in names if name not in CLAIMS]
    if unknown:
        parser.error(f"no claim {unknown[0]}: choose from {', '.join(CLAIMS)}")
    if options.pop("list"):
        for name in names:
            print(f"{name:17}{CLAIMS[name]}")
        return 0
    effort = Effort(**options)
    failed = [name for name in names if not _try(name, effort)]
    for name in failed:
        progress(f"failed: {name}")
    return 1 if failed else 0


def _try(name: str, effort: Effort) -> bool:
    progress(f"{name}: {CLAIMS[name]} …")
    start = time.perf_counter()
    try:
        result: Result = importlib.import_module(f"proofs.{name}").prove(effort)
    except Exception as error:
        # A proof that breaks off has proved nothing; the others still run.
        result = Result({"error": f"{type(error).__name__}: {error}"}, CLAIMS[name], False)
    print(result.to_json(name, time.perf_counter() - start), flush=True)
    return result.passed


if __name__ == "__main__":
    # Processes of their own find this package by its address, in whatever folder they start.
    own = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ.update(SAFE_PATH, PYTHONPATH=os.pathsep.join(own))
    sys.exit(main())
