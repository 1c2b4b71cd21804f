"""Areas of interest from a small JSON file: a name and a polygon or rectangle each, in px."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eyelid.engine.files import UnfitFile, content_of
from eyelid.engine.remote import check_here
from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import Area, check_areas

_EXAMPLE = '{"areas": [{"name": "logo", "rectangle": [0, 0, 200, 80]}]}'
_SHAPES = ("polygon", "rectangle")


def read_areas(path: str | Path) -> tuple[Area, ...]:
    """The areas of a file, in its order: a place that several hold is in the first of them.

    The file says ``{"areas": [{"name": "logo", "polygon": [[x, y], …]}, {"name": "menu",
    "rectangle": [x, y, width, height]}]}``, in px from the picture's top left.
    """
    check_here(path, "a file of areas")
    path = Path(path)
    try:
        content = json.loads(content_of(path).decode("utf-8-sig"))
    except UnfitFile as error:
        raise InputError(f"cannot read {path}: {error}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): it must look like {_EXAMPLE}") from None
    try:
        return _areas(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _areas(content: Any) -> tuple[Area, ...]:
    """What the file says, checked."""
    if not isinstance(content, dict) or not isinstance(content.get("areas"), list):
        raise InputError(f"there is no list of areas: it must look like {_EXAMPLE}")
    _only_known("key", content, ("areas",))
    return check_areas([_area(each, n) for n, each in enumerate(content["areas"], start=1)])


def _area(told: Any, number: int) -> Area:
    if not isinstance(told, dict):
        raise InputError(f"area {number} must be an object with a name and a polygon, got {told!r}")
    _only_known(f"key of area {number}", told, ("name", *_SHAPES))
    name = told.get("name")
    if not isinstance(name, str):
        raise InputError(f"area {number} needs a name that is text, got {name!r}")
    given = [shape for shape in _SHAPES if shape in told]
    if len(given) != 1:
        raise InputError(f"area '{name}' needs a polygon or a rectangle, and not both")
    corners = _polygon if given == ["polygon"] else _rectangle
    return Area(name, corners(name, told[given[0]]))


def _polygon(name: str, told: Any) -> Any:
    """Its corners as they are listed."""
    if not isinstance(told, list) or not all(_numbers(corner, 2) for corner in told):
        raise InputError(f"the polygon of area '{name}' must be a list of corners [x, y]")
    return told


def _rectangle(name: str, told: Any) -> Any:
    """Its corners, from the top left."""
    if not _numbers(told, 4) or not (told[2] > 0 and told[3] > 0):
        raise InputError(
            f"the rectangle of area '{name}' must be [x, y, width, height] with a width and height "
            f"above 0, got {told!r}"
        )
    x, y, width, height = told
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def _numbers(told: Any, count: int) -> bool:
    """Whether it is a list of so many numbers; true and false are none."""
    return (
        isinstance(told, list)
        and len(told) == count
        and all(isinstance(n, int | float) and not isinstance(n, bool) for n in told)
    )


def _only_known(what: str, told: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in told:
        if key not in known:
            raise unknown(what, key, known)
