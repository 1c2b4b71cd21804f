"""What has been spent on the people of a study, as its ledger has counted it."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.origin import (
    People,
    begun_anew,
    counted_in,
    join_people,
    origin_of,
    origin_so_far,
    set_people_apart,
)
from eyelid.io.reading import read
from eyelid.io.same_people import in_doubt
from eyelid.mechanisms.differential import default_delta
from eyelid.privacy.accounts import Joined
from eyelid.privacy.ledger import Ledger
from eyelid.releases.accounting import open_ledger
from eyelid.reporting.budget import UNCOUNTED, Budget
from eyelid.spelling import plural


def budget(
    source: Study | FeatureTable | Path | str,
    *,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    no_limit: bool = False,
    join: People | None = None,
    apart: People | None = None,
    lost: bool = False,
    ledger: Path | str | None = None,
    map: Map = None,
) -> Budget:
    """What has been spent on these people; sets the limit when one is given.

    Args:
        source: the study, or anything derived from it.
        limit_epsilon: refuse releases that would bring a person above this ε.
        limit_delta: the δ that goes with it; min(N^−1.5, 1e-6) by default.
        no_limit: lift the limit.
        join: another study of the same people, or its ledger: both are counted together from now
            on, with all that was released. The same id is the same person.
        apart: another study with the same ids, or its ledger, whose people are others.
        lost: go on after the study's ledger was lost for good, in a new one that knows that
            releases are missing, and gives no total.
        ledger: where it is counted; by default the file beside the original study.
        map: what you say about the columns of recordings, as for `eyelid.read`.
    """
    refuse_frame(source, "budget")
    study = read(source, map) if isinstance(source, str | Path) else source
    limits = limit_epsilon is not None or limit_delta is not None or no_limit
    changes = limits or join is not None or apart is not None
    people, count = study.people["person"].to_list(), study.data["person"].n_unique()
    notes: list[str] = []
    path = Path(source) if isinstance(source, str | Path) else None
    if study.released:
        raise InputError("a released dataset has no budget: name the original study")
    origin = study.origin
    if lost:
        origin = begun_anew(origin, ledger, people, path)
    elif path is not None and isinstance(study, Study):
        # Asking leaves no trace.
        origin = origin_so_far(study, path, ledger)
        if changes:
            origin = origin_of(study, path, ledger)
    elif ledger is not None:
        origin = counted_in(origin, ledger, people).origin
    if origin is None and not changes:
        return UNCOUNTED
    book = open_ledger(origin)
    if book is None:
        raise InputError("this study is not in a folder and has no ledger: give `ledger=…`")
    if join is not None and origin is not None:
        notes.append(_joined(join_people(origin, join, people)))
        book = open_ledger(origin) or book
    if apart is not None and origin is not None:
        set_people_apart(origin, apart, people)
    found, name = book
    if no_limit and (limit_epsilon is not None or limit_delta is not None):
        raise InputError("`no_limit` lifts the limit: leave out `limit_epsilon` and `limit_delta`")
    if no_limit:
        found.lift_allowance(name)
    elif limit_epsilon is not None:
        delta = default_delta(count) if limit_delta is None else limit_delta
        found.set_allowance(name, limit_epsilon, delta)
    elif limit_delta is not None:
        raise InputError("`limit_delta` goes with `limit_epsilon`: give both")
    return Budget(
        debits=tuple(found.debits(name)),
        balances=tuple(found.balances(name)),
        limit=found.allowance(name),
        gaps=found.gaps(name),
        people=count,
        notes=(*notes, *_remarks(found, name)),
    )


def _joined(found: Joined) -> str:
    """What became of two studies that are counted together now."""
    text = f"counted together from now on: {plural(found.shared, 'id')} of both are the same people"
    alone = [
        f"{plural(count, 'id is', 'ids are')} in {where} alone"
        for count, where in ((found.here, "this study"), (found.there, "the other"))
        if count
    ]
    return "; ".join([text, *alone])


def _remarks(ledger: Ledger, origin: str) -> tuple[str, ...]:
    """What the owner of a ledger should decide or mend."""
    remarks = [*(in_doubt(doubt) for doubt in ledger.doubts(origin)), ledger.exposed]
    return tuple(remark for remark in remarks if remark)


def spent_on(study: Study | FeatureTable, path: Path | None) -> Budget:
    """What has been spent on just the people of a study; looking leaves no trace.

    Args:
        study: as read.
        path: where it was read; None for what only Python knows.
    """
    known = path is not None and isinstance(study, Study)
    book = open_ledger(origin_so_far(study, path) if known else study.origin)  # type: ignore[arg-type]
    if book is None:
        return UNCOUNTED
    ledger, name = book
    balances = tuple(ledger.balances(name, people=study.data["person"].unique().to_list()))
    debits = {d.id: d for balance in balances for d in balance.debits}
    return Budget(
        debits=tuple(debits[number] for number in sorted(debits)),
        balances=balances,
        limit=ledger.allowance(name),
        gaps=ledger.gaps(name),
        people=study.data["person"].n_unique(),
    )
