"""What a user says about a study folder that does not say it itself, such as its units."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.io.layout import NOTHING_SAID, Layout

_FACTS = ("units", "xy_origin", "pupil_unit", "rate_hz")
# How --map spells the sizes of a screen.
_SPELT = {"width_px": "screen", "height_px": "screen"}
_SPELT |= {"width_m": "screen_m", "height_m": "screen_m"}


def with_said_facts(study: Study, said: Layout, where: str) -> Study:
    """The study with facts that it lacks; what contradicts it, or says nothing to it, is refused.

    Args:
        study: as its folder has it, with or without its rows.
        said: what the user says.
        where: the folder, for messages.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"person": ["a"], "recording": ["1"], "time_ms": [0.0], "x": [1.0]})
    >>> study = Study("samples", rows, rows.select("person"), screen=Screen(width_px=1920))
    >>> said = with_said_facts(study, Layout(units="px", screen=Screen(distance_m=0.6)), "study")
    >>> said.units, said.screen.width_px, said.screen.distance_m
    ('px', 1920, 0.6)
    """
    given = [
        item.name
        for item in fields(Layout)
        if getattr(said, item.name) != getattr(NOTHING_SAID, item.name)
    ]
    if not given:
        return study
    known = (*_FACTS, "screen", "kind")
    strange = [name for name in given if name not in known]
    if "each_stimulus" in strange:
        raise InputError(
            f"{where} is a study folder: convert makes each of its stimuli a task "
            "('eyelid convert IN OUT --map task=each-stimulus'), and then go on with that"
        )
    if strange:
        names = [*said.columns] if strange[0] == "columns" else strange
        raise InputError(
            f"{where} is a study folder, whose columns and people are known: --map says its "
            f"{', '.join(known[:-1])} there where they are missing, and not {', '.join(names)}"
        )
    _agreed("kind", study.kind, said.kind, where)
    if said.kind is not None and given == ["kind"]:
        return study
    if study.kind == "features" or study.released:
        what = "a release" if study.released else "a study of features"
        raise InputError(f"{where} is {what}, to which --map has nothing to add: leave it out")
    facts: dict[str, Any] = {
        name: _agreed(name, getattr(study, name), getattr(said, name), where) for name in _FACTS
    }
    if said.screen is not None:
        own, told = asdict(study.screen or Screen()), asdict(said.screen)
        sizes = {n: _agreed(_SPELT.get(n, n), own[n], told[n], where) for n in own}
        facts["screen"] = Screen(**sizes)
    return replace(study, **facts)


def _agreed(name: str, own: Any, said: Any, where: str) -> Any:
    """What the study says or, where it says nothing, what the user says."""
    if own is None or said is None or own == said:
        return said if own is None else own
    raise InputError(
        f"{where} says {name}={own}, and --map says {said}: leave {name} out of --map, or mend "
        "study.json if that is wrong"
    )
