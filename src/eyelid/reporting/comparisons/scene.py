"""What of a comparison is drawn on the privacy–utility plane."""

from __future__ import annotations

import math

from eyelid.reporting.comparisons.comparison import Comparison
from eyelid.reporting.comparisons.row import Row
from eyelid.reporting.comparisons.setting import Setting
from eyelid.reporting.scene import REGION, Point, Scene, coloured

_CONCLUDED = (
    "Boxes are 97.5% limits: across over people and runs,\n"
    "up over runs alone, as it is one figure of all people."
)


def scene_of(comparison: Comparison) -> Scene:
    """The points of a comparison, in the order of its rows."""
    lines: dict[Setting, list[tuple[float, Point]]] = {}
    left_out = []
    for row in comparison.ran:
        point = _point(comparison, row)
        if point is None:
            left_out.append(row.name)
        else:
            lines.setdefault(_common(row.asked), []).append((swept(row.asked), point))
    return Scene(
        series=coloured(
            [
                (
                    common.mechanism,
                    str(common),
                    [p for _, p in sorted(own, key=lambda pair: pair[0])],
                )
                for common, own in lines.items()
            ]
        ),
        raw=_point(comparison, comparison.raw),
        left_out=tuple(left_out),
        target=comparison.questions.target,
        concluded=(comparison.questions.used_as or "") if comparison.questions.concluded else "",
        boxes=_CONCLUDED if comparison.questions.concluded else REGION,
        chance=comparison.chance,
        used_chance=comparison.used_chance,
        people=comparison.people,
        repeats=comparison.repeats,
        simulated=comparison.simulated,
    )


def _point(comparison: Comparison, row: Row) -> Point | None:
    """Where a row is on the plane; None where it was not measured on both axes."""
    by_error = comparison.questions.target is None
    named, used = row.region(comparison.used_chance)
    if by_error:
        named, error = row.named, row.error_of_span
        if error is None:
            return None
        y = (error,) * 3
    else:
        # Alone on its axis it may have the whole of the 5%.
        used = row.used(comparison.used_chance) if row.nobodys else used
        if used is None:
            return None
        y = (used.rate,) * 3 if row.one_draw else (used.rate, used.low, used.high)
    if named is None and not row.nobodys:
        return None
    given = () if row.setting is None else row.setting.parameters
    swept = tuple(pair for pair in given if pair[0] == _axis(row.asked))
    return Point(
        name=row.name,
        swept=str(Setting("", swept)).removeprefix(", "),
        promise=row.promise,
        x=named,
        y=y,
        one_draw=row.one_draw,
        useful=comparison.useful(row),
        same=row.says_the_same(comparison.used_chance),
    )


def _axis(setting: Setting) -> str | None:
    """The parameter that is swept along a line."""
    given = dict(setting.parameters)
    return next((name for name in ("epsilon", "k") if name in given), None)


def swept(setting: Setting) -> float:
    """Where on that line a setting is; what is no number comes last.

    Args:
        setting: with the parameter or without.
    """
    try:
        return float(dict(setting.parameters)[_axis(setting) or ""])
    except (KeyError, ValueError):
        return math.inf


def _common(setting: Setting) -> Setting:
    """A setting without that."""
    left = [(name, value) for name, value in setting.parameters if name != _axis(setting)]
    return Setting(setting.mechanism, tuple(left))
