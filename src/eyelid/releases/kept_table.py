"""Feature tables in the scratch of a run, as JSON and Parquet: whatever lies there runs no code.

The rows and people of a table go into files of a name that no other table has, and the JSON that
names them comes last. So the parts of two tables never get mixed, whenever a run is stopped.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.runs import Run
from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Origin
from eyelid.gaze.table import FeatureTable
from eyelid.io.parquet import rows_of

_PLAIN = ("step_ms", "window_ms", "planned_rows", "simulated", "released")
_TOKEN_BYTES = 8


def is_kept(run: Run, name: str) -> bool:
    """Whether the scratch has a table of that name.

    Args:
        run: whose scratch.
        name: of the table.
    """
    return _about(run, name).exists()


def keep_table(
    run: Run, name: str, table: FeatureTable, more: Mapping[str, Any] | None = None
) -> None:
    """Put a table into the scratch, unless one of that name is there.

    Args:
        run: whose scratch.
        name: of the table.
        table: with its rows and people, or without.
        more: what else to keep with it, as json can tell it.
    """
    token = secrets.token_hex(_TOKEN_BYTES)
    for which, frame in (("rows", table.data), ("people", table.people)):
        run.put(_frame(run, name, token, which), frame.write_parquet)
    origin = table.origin
    about = {
        "token": token,
        "features": [asdict(feature) for feature in table.features],
        "origin": None if origin is None else [origin.id, _text(origin.ledger)],
        "more": dict(more or {}),
        "chosen": list(table.chosen),
    } | {field: getattr(table, field) for field in _PLAIN}
    text = json.dumps(about, default=_number)
    run.put(_about(run, name), lambda draft: draft.write_text(text, encoding="utf-8"))


def kept_table(run: Run, name: str) -> tuple[FeatureTable, dict[str, Any]]:
    """The table of that name in the scratch, and what was kept with it.

    Args:
        run: whose scratch.
        name: of the table.
    """
    path = _about(run, name)
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        token = bytes.fromhex(about["token"]).hex()
        rows, people = (rows_of(_frame(run, name, token, which)) for which in ("rows", "people"))
        origin = about["origin"]
        table = FeatureTable(
            data=rows,
            people=people,
            features=tuple(Feature(**feature) for feature in about["features"]),
            origin=None if origin is None else Origin(origin[0], _path(origin[1])),
            chosen=tuple(about["chosen"]),
            **{field: about[field] for field in _PLAIN},
        )
        return table, dict(about["more"])
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise _unreadable(run, path, error) from None
    except pl.exceptions.PolarsError as error:
        raise _unreadable(run, path, error) from None


def _unreadable(run: Run, path: Path, error: Exception) -> InputError:
    why = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return InputError(
        f"cannot read {path} ({why}): remove {run.home} to give the run up (what was counted for "
        "it stays counted)"
    )


def _about(run: Run, name: str) -> Path:
    return run.scratch / f"{name}.json"


def _frame(run: Run, name: str, token: str, which: str) -> Path:
    return run.scratch / f"{name}.{token}.{which}.parquet"


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _number(value: Any) -> Any:
    """A number of numpy's as Python's own, which json knows."""
    return value.item()
