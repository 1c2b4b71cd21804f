"""Any readable input, scrubbed, to a study folder, a BIDS dataset, or csv."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eyelid.engine.atomic import check_new
from eyelid.errors import unknown
from eyelid.gaze.study import Study
from eyelid.io.bids import write_bids
from eyelid.io.column_map import Map
from eyelid.io.csv_folder import write_csv
from eyelid.io.intake import Intake, take_in
from eyelid.io.study_folder import write

TARGETS: dict[str, Callable[[Study, Path], object]] = {
    "study": write,
    "bids": write_bids,
    "csv": write_csv,
}


def convert(
    source: Path | str,
    out: Path | str,
    to: str = "study",
    map: Map = None,
    *,
    ledger: Path | str | None = None,
    units: str | None = None,
    keep_names: bool = False,
    skip_unreadable: bool = False,
) -> Intake:
    """Write what is at ``source`` anew, without what gives people away besides their gaze.

    Clocks start at 0, people get pseudonyms, paths, dates and serial numbers stay behind. The gaze
    itself is not protected: that is what `release` is for.

    Args:
        source: a study folder, a recording, or a folder of recordings.
        out: a new folder.
        to: ``study``, ``bids`` or ``csv``.
        map: what you say about columns, as for `eyelid.read`.
        ledger: where these people are counted, and their pseudonyms kept; beside the source by
            default.
        units: ``deg`` to turn places on a screen into degrees.
        keep_names: leave the names of people as they are.
        skip_unreadable: leave out files that cannot be read.
    """
    out = Path(out)
    if to not in TARGETS:
        raise unknown("target", to, TARGETS)
    check_new(out)
    taken = take_in(
        source,
        map,
        ledger=ledger,
        units=units,
        keep_names=keep_names,
        skip_unreadable=skip_unreadable,
    )
    TARGETS[to](taken.study, out)
    return taken
