"""``python -m tools.rooms``: draw the rooms of the package into docs/rooms.svg, from its imports.

A room stands above every room that it imports. An arrow that follows from others is left out: who
may use the releases may use what they are made of.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections import defaultdict
from html import escape
from pathlib import Path

from tools.house import imports, modules

PICTURE = Path(__file__).parents[1] / "docs" / "rooms.svg"
WIDTH, HEIGHT, GAP, RISE, MARGIN = 210, 74, 26, 118, 24
LETTERS, LINES = 36, 3
_STYLE = (
    "text{font-family:system-ui,sans-serif;fill:#1c2733}"
    ".name{font-size:15px;font-weight:600}.what{font-size:11px;fill:#5b6b7a}"
    "rect{fill:#eef3f7;stroke:#7d93a6;rx:8}path{fill:none;stroke:#7d93a6;stroke-width:1.2}"
)


def floors(graph: dict[str, set[str]]) -> dict[str, int]:
    """How many rooms stand below each, one above the other; refuses rooms in a circle."""
    floor: dict[str, int] = {}

    def at(room: str, below: tuple[str, ...] = ()) -> int:
        if room in below:
            raise ValueError(f"rooms import each other: {' → '.join((*below, room))}")
        if room not in floor:
            lower = [at(other, (*below, room)) for other in graph[room]]
            floor[room] = max(lower, default=-1) + 1
        return floor[room]

    for room in graph:
        at(room)
    return floor


def direct(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The imports that do not follow from others."""

    def reached(room: str) -> set[str]:
        return graph[room].union(*(reached(other) for other in graph[room]))

    return {
        room: {
            other for other in there if not any(other in reached(via) for via in there - {other})
        }
        for room, there in graph.items()
    }


def picture(graph: dict[str, set[str]], about: dict[str, str]) -> str:
    """The rooms as SVG, those that import nothing at the bottom.

    Args:
        graph: which rooms each imports.
        about: what each is, in a few words.
    """
    floor = floors(graph)
    by_floor = defaultdict(list)
    for room in sorted(graph):
        by_floor[floor[room]].append(room)
    widest = max(map(len, by_floor.values()))
    width = 2 * MARGIN + widest * (WIDTH + GAP) - GAP
    top = max(by_floor)
    place = {}
    for level, rooms in by_floor.items():
        left = (width - len(rooms) * (WIDTH + GAP) + GAP) / 2
        for number, room in enumerate(rooms):
            place[room] = (left + number * (WIDTH + GAP), MARGIN + (top - level) * RISE)
    lines = []
    for room, there in sorted(direct(graph).items()):
        for other in sorted(there):
            (x1, y1), (x2, y2) = place[room], place[other]
            x1, x2, y1 = x1 + WIDTH / 2, x2 + WIDTH / 2, y1 + HEIGHT
            bend = (y2 - y1) / 2
            lines.append(
                f'<path d="M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}" '
                'marker-end="url(#tip)"/>'
            )
    for room, (x, y) in sorted(place.items()):
        middle = x + WIDTH / 2
        lines += [
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}"/>',
            f'<text class="name" x="{middle:g}" y="{y + 21:g}" text-anchor="middle">{room}</text>',
            *(
                f'<text class="what" x="{middle:g}" y="{y + 36 + 13 * number:g}" '
                f'text-anchor="middle">{escape(line)}</text>'
                for number, line in enumerate(textwrap.wrap(about[room], LETTERS)[:LINES])
            ),
        ]
    height = 2 * MARGIN + top * RISE + HEIGHT
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="The rooms of eyelid and which imports which">',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8" fill="none"/></marker></defs>',
        f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none;rx:0"/>',
        *lines, "</svg>", "",
    ])  # fmt: skip


def main() -> int:
    """Draw, or with ``--check`` say whether the picture is the one that the imports give."""
    trees = modules()
    rooms = {name.split(".")[0] for name in trees if "." in name}
    found = imports(trees)
    graph = {room: found.get(room, set()) & rooms for room in rooms}
    about = {
        # Up to the first full stop: what follows is for anyone who opens the room.
        room: re.split(r"\.(?:\s|$)", ast.get_docstring(trees[room]) or "")[0].replace("\n", " ")
        for room in rooms
    }
    drawn = picture(graph, about)
    if "--check" in sys.argv:
        return int(not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != drawn)
    PICTURE.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
