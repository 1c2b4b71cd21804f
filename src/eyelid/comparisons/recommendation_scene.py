"""What of a recommendation is drawn on the privacy–utility plane."""

from __future__ import annotations

from eyelid.comparisons.recommendation import Recommendation
from eyelid.comparisons.verdicts import Judged
from eyelid.errors import InputError
from eyelid.reporting.comparisons.scene import swept
from eyelid.reporting.comparisons.setting import Setting
from eyelid.reporting.scene import Point, Scene, coloured

_BOXES = """\
Boxes: 95% limits over simulated participants
and studies, of each axis by itself."""


def scene_of(found: Recommendation) -> Scene:
    """The points of everything that was tried and has figures.

    Args:
        found: with figures of simulated participants.
    """
    tried = {str(one.candidate.setting): one for one in (*found.best, *found.tried)}
    measured = [one for one in tried.values() if one.figures is not None]
    measured.sort(key=lambda one: swept(one.candidate.setting))
    if not measured:
        raise InputError("nothing was measured, so there is nothing to draw: see .frame")
    figures = measured[0].figures
    assert figures is not None
    by_error = all(one.figures is None or one.figures.used is None for one in measured)
    lines: dict[str, list[Point]] = {}
    left_out = []
    for one in measured:
        point = _point(one, by_error=by_error)
        if point is None:
            left_out.append(str(one.candidate.setting))
        else:
            lines.setdefault(one.candidate.setting.mechanism, []).append(point)
    used = figures.used
    return Scene(
        series=coloured([(name, name, points) for name, points in lines.items()]),
        boxes=_BOXES,
        raw=None,
        left_out=tuple(left_out),
        target=None if by_error else "task",
        chance=figures.runs[0].chance,
        used_chance=0.0 if used is None else used.chance,
        people=measured[0].candidate.people,
        repeats=len(figures.runs),
        simulated=True,
    )


def _point(one: Judged, *, by_error: bool) -> Point | None:
    """Where a release is on the plane; None where it was not measured on both axes."""
    figures, setting = one.figures, one.candidate.setting
    assert figures is not None
    used, error = figures.used, figures.error
    nobody_knows = figures.named is None and not one.candidate.nobodys
    y: tuple[float, float, float]
    if not by_error and used is not None and not nobody_knows:
        y = used.rate, used.low, used.high
    elif by_error and error is not None and not nobody_knows:
        y = error, error, error
    else:
        return None
    return Point(
        name=str(setting),
        swept=str(Setting("", setting.parameters)).removeprefix(", "),
        promise=one.candidate.promise,
        x=figures.named,
        y=y,
        one_draw=False,
        useful=not one.carries_nothing,
        same=False,
    )
