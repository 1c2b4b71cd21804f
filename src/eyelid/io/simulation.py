"""Synthetic studies of any size: people piece by piece, on any engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import advancing, in_order
from eyelid.engine.progress import one_bar
from eyelid.engine.remote import remote_place
from eyelid.engine.runs import Run, running
from eyelid.errors import InputError
from eyelid.gaze.simulator import Crowd
from eyelid.gaze.simulator.people import OFFSET_DEG
from eyelid.gaze.study import Origin, Study
from eyelid.io import pieces
from eyelid.io.study_folder import ledger_beside
from eyelid.io.study_parts import (
    join_events,
    kept_from_first,
    write_manifest,
    write_study_part,
)
from eyelid.privacy.ledger import Ledger
from eyelid.version import __version__


def write_simulated(
    out: Path,
    people: int = 20,
    tasks: Sequence[str] = ("comic", "newspaper", "textbook"),
    rate_hz: float = 60.0,
    minutes: float = 5.0,
    seed: int | None = None,
    *,
    offset_deg: float = OFFSET_DEG,
) -> int:
    """Write what `eyelid.simulate` makes up, without having all of it in memory.

    Args:
        out: a new folder.
        people: how many.
        tasks: what everybody does.
        rate_hz: of the tracker.
        minutes: about how long each recording lasts.
        seed: makes the same people again.
        offset_deg: mean distance, over people, of recorded gaze from the true one.

    Returns:
        how many samples there are.
    """
    check_new(out)
    if remote_place(out) is not None:
        raise InputError(
            f"{out} is elsewhere, and a new study has a ledger beside it, which must be a file of "
            "this machine: write it here, and copy it there"
        )
    crowd = Crowd.of(people, tasks, rate_hz, minutes, seed, offset_deg)
    values = crowd.usual_rows * len(crowd.head(crowd.persons([0])).data.columns)
    each = max(1, pieces.PIECE_VALUES // values)
    groups = [range(first, min(first + each, people)) for first in range(0, people, each)]
    key = json.dumps(
        ["simulate", __version__, people, tasks, rate_hz, minutes, seed, offset_deg, each]
    )
    with running(out, key) as run:
        if seed is None:
            # As good as any, and the same when the run goes on after a stop.
            crowd = replace(crowd, entropy=int(run.id, 16))
        work = partial(_simulated, run, len(groups), each, crowd)
        with one_bar(people, "people") as advance:
            sizes = [len(group) for group in groups]
            made = in_order(advancing(work, groups, sizes, advance, "simulating"))
            parts, persons = zip(*kept_from_first(run, made, len(groups)), strict=True)
        join_events(run, len(groups))
        origin = Origin(run.id, ledger_beside(out))
        write_manifest(run, replace(crowd.head(pl.concat(persons)), origin=origin), parts, out)
        Ledger.create(ledger_beside(out)).register(origin.id)
    return sum(part["rows"] for part in parts)


def _simulated(
    run: Run, of: int, each: int, crowd: Crowd, group: range
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Write samples and events of some people; who they are goes back."""
    persons = crowd.persons(group)

    def made() -> Study:
        data, events = crowd.recordings(group)
        return replace(crowd.head(persons), data=data, events=events)

    return write_study_part(run, group.start // each, of, made), persons
