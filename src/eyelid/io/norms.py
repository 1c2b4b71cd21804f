"""Norms of one's own: a file with people's means and spreads, and where they are from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from eyelid.engine.remote import check_here
from eyelid.errors import InputError, unknown
from eyelid.gaze.norms import Norm, Source, definitions, measure_of
from eyelid.gaze.norms.norm import LINEAR, OWN
from eyelid.io.entry_files import EntryFile, number

HEADER = "measure,task,unit,mean,between,within,scale,source"
"""The first line of such a csv."""

_FILE = EntryFile(
    things="norms",
    key="measure",
    known=(*HEADER.split(","), "statistic", "note"),
    header=HEADER,
    wordy="source",
    example="mean = … and between = …",
)
_NEEDED = ("task", "unit", "mean", "between", "source")
_WHY = (
    "norms are public knowledge from elsewhere: one that is read off the data of a study shows them"
)


def read_norms(file: Path | str, known: Collection[str] | None = None) -> tuple[Norm, ...]:
    """Norms of one's own, from a csv or TOML file.

    Each has ``measure`` (a feature, or a measure that eyelid knows), ``task``, ``unit``, ``mean``,
    ``between`` (standard deviation of people's averages) and ``source``; it may have ``within``,
    ``scale`` (``linear`` or ``log``), ``statistic`` (``mean`` or ``median``) and ``note``. A source
    that is ``data`` says that it was read off the study itself: no guarantee is then valid.

    Args:
        file: csv, or TOML where it ends in .toml.
        known: names that a measure may have beside those that eyelid knows; by default any.
    """
    check_here(file, "a file of norms")
    path = Path(file)
    found = [_checked(entry, path, known) for entry in _FILE.entries(path)]
    if not found:
        raise InputError(f"{path} has no norms: its first line is '{HEADER}'")
    seen = set()
    for norm in found:
        key = (norm.measure, norm.task, norm.statistic)
        if key in seen:
            raise InputError(
                f"{path} has two norms of {norm.measure} for {norm.task}: keep the one to use"
            )
        seen.add(key)
    return tuple(found)


def _checked(entry: Mapping[str, Any], path: Path, known: Collection[str] | None) -> Norm:
    measure = str(entry.get("measure", "")).strip()
    if not measure:
        raise InputError(f"{path}: a norm has no measure: every one needs it")
    if known is not None and measure not in known and measure_of(measure) is None:
        raise _beside(path, unknown("measure", measure, [*definitions(), *known]))
    for name in _NEEDED:
        if str(entry.get(name, "")).strip() == "":
            raise InputError(f"{path}: the norm of {measure} has no {name}: {_WHY}")
    text = {key: str(entry.get(key, "")).strip() for key in ("task", "unit", "source", "note")}
    mean, between = (_number(entry[key], key, measure, path) for key in ("mean", "between"))
    within = entry.get("within")
    try:
        return Norm(
            measure_of(measure) or measure,
            text["task"],
            text["unit"],
            mean,
            between,
            within=None if within in (None, "") else _number(within, "within", measure, path),
            scale=str(entry.get("scale") or LINEAR),
            statistic=str(entry.get("statistic") or "mean"),
            grade=OWN,
            source=Source(text["source"]),
            note=text["note"],
        )
    except InputError as error:
        raise _beside(path, error) from None


def _number(value: object, key: str, measure: str, path: Path) -> float:
    found = number(value)
    if found is None:
        raise InputError(f"{path}: {key} of the norm of {measure} is '{value}', no number")
    return found


def _beside(path: Path, error: InputError) -> InputError:
    return InputError(f"{path}: {error}")
