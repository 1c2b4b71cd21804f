"""Areas of interest from a small JSON file: a name and a polygon or rectangle each, in px."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from eyelid.engine.files import UnfitFile, content_of
from eyelid.engine.remote import check_here
from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import Area, check_areas

_EXAMPLE = '{"areas": [{"name": "logo", "rectangle": [0, 0, 200, 80]}]}'
_PAGE, _SHAPES = "stimulus", ("polygon", "rectangle")

R = TypeVar("R")


def read_areas(path: str | Path, stimuli: Sequence[str] = ()) -> tuple[Area, ...]:
    """The areas of a file, in its order: a place that several hold is in the first of them.

    The file says ``{"areas": [{"name": "logo", "polygon": [[x, y], …]}, {"name": "menu",
    "rectangle": [x, y, width, height]}]}``, in px from the picture's top left. Areas that name
    another page (``"stimulus": "home"``) than those that are mapped are left out.

    Args:
        path: of the file.
        stimuli: the pages that are mapped; by default areas of all pages are meant.
    """
    found = _read(path, _with_pages)
    mine = [area for area, page in found if page is None or not stimuli or page in stimuli]
    if found and not mine:
        pages = {page for _, page in found if page is not None}
        raise unknown(f"stimulus of areas in {Path(path).name}", ", ".join(stimuli), pages)
    try:
        return check_areas(mine)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _read(path: str | Path, understood: Callable[[Any], R]) -> R:
    """What a file of areas comes to."""
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
        return understood(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_pages(path: str | Path, stimuli: Sequence[str]) -> dict[str, tuple[Area, ...]]:
    """The areas of a file, by the page that each is on.

    An area may name its page (``"stimulus": "home"``); one that does not is on every page.

    Args:
        path: of the file, as for `read_areas`.
        stimuli: all pages that any person was shown.
    """
    found = _read(path, _with_pages)
    for _, page in found:
        if page is not None and page not in stimuli:
            raise unknown(f"stimulus in {Path(path).name}", page, stimuli)
    pages = {
        page: tuple(area for area, own in found if own in (None, page))
        for page in stimuli
        if any(own in (None, page) for _, own in found)
    }
    return {page: check_areas(areas) for page, areas in pages.items()}


def _with_pages(content: Any) -> list[tuple[Area, str | None]]:
    """Each area with the page that it names."""
    found = []
    for number, entry in enumerate(_listed(content), start=1):
        page = entry.get(_PAGE) if isinstance(entry, dict) else None
        if page is not None and not isinstance(page, str):
            raise InputError(f"the stimulus of area {number} must be text, got {page!r}")
        rest = entry if page is None else {key: entry[key] for key in entry if key != _PAGE}
        found.append((_area(rest, number), page))
    return found


def _listed(content: Any) -> list[Any]:
    """The areas as they are told."""
    if not isinstance(content, dict) or not isinstance(content.get("areas"), list):
        raise InputError(f"there is no list of areas: it must look like {_EXAMPLE}")
    _only_known("key", content, ("areas",))
    return list(content["areas"])


def _area(item: Any, number: int) -> Area:
    if not isinstance(item, dict):
        raise InputError(f"area {number} must be an object with a name and a polygon, got {item!r}")
    _only_known(f"key of area {number}", item, ("name", *_SHAPES))
    name = item.get("name")
    if not isinstance(name, str):
        raise InputError(f"area {number} needs a name that is text, got {name!r}")
    given = [shape for shape in _SHAPES if shape in item]
    if len(given) != 1:
        raise InputError(f"area '{name}' needs a polygon or a rectangle, and not both")
    corners = _polygon if given == ["polygon"] else _rectangle
    return Area(name, corners(name, item[given[0]]))


def _polygon(name: str, value: Any) -> Any:
    """Its corners as they are listed."""
    if not isinstance(value, list) or not all(_numbers(corner, 2) for corner in value):
        raise InputError(f"the polygon of area '{name}' must be a list of corners [x, y]")
    return value


def _rectangle(name: str, sides: Any) -> Any:
    """Its corners, from the top left."""
    if not _numbers(sides, 4) or not (sides[2] > 0 and sides[3] > 0):
        raise InputError(
            f"the rectangle of area '{name}' must be [x, y, width, height] with a width and height "
            f"above 0, got {sides!r}"
        )
    x, y, width, height = sides
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def _numbers(value: Any, count: int) -> bool:
    """Whether it is a list of so many numbers; true and false are none."""
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(n, int | float) and not isinstance(n, bool) for n in value)
    )


def _only_known(what: str, entry: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in entry:
        if key not in known:
            raise unknown(what, key, known)
