"""What goes over a WebSocket, as JSON or as bytes; gaze in both directions has the same form.

**JSON** (subprotocol ``eyelid.json``): text with arrays of one length::

    {"time_ms": [12.5], "x": [301.0], "y": [88.5], "lost": 0, "mode": "on"}

and ``z`` of directions. ``lost`` counts released samples that this consumer missed since the last
message because it was too slow, ``mode`` is the gatekeeper's. A tracker may send single numbers
instead of arrays, and null for gaze that is lost; it need not send the rest.

**Bytes** (subprotocol ``eyelid.binary``), all little-endian::

    0  uint8   version, 1
    1  uint8   flags: 1 there is z, 2 paused, 4 frozen
    2  uint16  count of samples
    4  uint32  lost
    8  count × (float64 time_ms, float32 x, float32 y[, float32 z])

NaN is lost gaze. A released stream begins with a text of its own, in both::

    {"hello": {"eyelid": "…", "filter": "kaleido", "epsilon": 1.0, …}}

where ``holds`` says whether anything is promised, ``verdict`` and ``guarantee`` what. At once after
it, and about twice a second, comes what was spent::

    {"meter": {"samples": 60, "epsilon": 1.0, "person_epsilon": 44.1, "limit": null, "mode": "on"}}

Numbers are null where nothing is promised: of filters that carry no guarantee, and of seeded runs.
Where the gatekeeper releases events and counters, they come as texts, too::

    {"events": [{"name": "area entered", "time_ms": 12.5, "region": "logo", "x": …, "y": …, …}]}
    {"counters": {"names": ["logo"], "dwell_samples": [31.2], "standard_error": 8.1, …}}

Apps pass over what they do not know.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from eyelid.errors import unknown
from eyelid.mechanisms.streams.dwell import Counters
from eyelid.spelling import json_line
from eyelid.stream.gatekeeper import GazeEvent, Meter
from eyelid.stream.samples import Column, RawGaze, ReleasedGaze

Format = Literal["json", "binary"]
FORMATS: tuple[Format, ...] = ("json", "binary")
SUBPROTOCOLS: dict[Format, str] = {"json": "eyelid.json", "binary": "eyelid.binary"}

_HEADER = struct.Struct("<BBHI")
_VERSION = 1
_HAS_Z, _PAUSED, _FROZEN = 1, 2, 4
_FLAGS = {"paused": _PAUSED, "frozen": _FROZEN}
_PLANE = np.dtype([("time_ms", "<f8"), ("x", "<f4"), ("y", "<f4")])
_SPACE = np.dtype([*_PLANE.descr, ("z", "<f4")])
_MOST_IN_FRAME = 2**16 - 1
_MOST_LOST = 2**32 - 1
# Made once: settings of its own make a new encoder every time.
_to_text = json.JSONEncoder(separators=(",", ":")).encode


def format_named(options: Mapping[str, str]) -> Format:
    """The format among the options of a source or sink; JSON where nothing is said."""
    asked = options.get("format", "json")
    if asked not in FORMATS:
        raise unknown("format", asked, FORMATS)
    return asked


class Malformed(Exception):
    """A message that is no gaze; says why, and never what was in it."""


def encoded(gaze: ReleasedGaze, lost: int, format: Format) -> Iterator[str | bytes]:
    """Released samples as messages: one, unless there are very many."""
    encode = _text if format == "json" else _bytes
    if len(gaze) <= _MOST_IN_FRAME:
        yield encode(gaze, lost)
        return
    for start in range(0, len(gaze), _MOST_IN_FRAME):
        yield encode(gaze.part(slice(start, start + _MOST_IN_FRAME)), 0 if start else lost)


def _text(gaze: ReleasedGaze, lost: int) -> str:
    return _to_text({**gaze.columns, "lost": lost, "mode": gaze.mode})


def _bytes(gaze: ReleasedGaze, lost: int) -> bytes:
    columns = gaze.columns
    records = np.empty(len(gaze), dtype=_SPACE if "z" in columns else _PLANE)
    for name, values in columns.items():
        records[name] = values
    flags = _FLAGS.get(gaze.mode, 0) | (_HAS_Z if "z" in columns else 0)
    return _HEADER.pack(_VERSION, flags, len(gaze), min(lost, _MOST_LOST)) + records.tobytes()


def hello(facts: dict[str, Any]) -> str:
    """What an app is told first."""
    return json_line({"hello": facts})


def meter_text(meter: Meter) -> str:
    """What apps are told of the budget: what follows from how many samples came, and no more."""
    content = meter.to_dict()
    keys = ("samples", "epsilon", "person_epsilon", "limit", "mode")
    return json.dumps({"meter": {name: content[name] for name in keys}}, allow_nan=False)


def events_text(events: Sequence[GazeEvent]) -> str:
    """Events that were released, oldest first."""
    return json_line({"events": [asdict(event) for event in events]})


def counters_text(counters: Counters) -> str:
    """Noisy dwell in areas."""
    return json_line({"counters": asdict(counters)})


def decoded(message: str | bytes, *, directions: bool, arrived_s: float) -> RawGaze:
    """The samples that a tracker sent.

    Args:
        message: as it came.
        directions: whether gaze has a z.
        arrived_s: when it came.

    >>> decoded('{"time_ms": 1, "x": [2], "y": null}', directions=False, arrived_s=0.0)
    RawGaze(1 samples)
    """
    names = ["time_ms", "x", "y", "z"][: 4 if directions else 3]
    time_ms, *parts = (
        _from_text(message, names) if isinstance(message, str) else _from_bytes(message, names)
    )
    if not time_ms:
        raise Malformed("it has no samples")
    if any(len(part) != len(time_ms) for part in parts):
        raise Malformed("its columns are not of one length")
    return RawGaze(time_ms, parts, arrived_s)


def _from_text(message: str, names: list[str]) -> list[Column]:
    try:
        content = json.loads(message)
    except (ValueError, RecursionError):
        raise Malformed("it is no JSON") from None
    if not isinstance(content, dict) or not all(name in content for name in names):
        raise Malformed(f"it is no object with {', '.join(names)}")
    return [_column(content[name]) for name in names]


def _column(content: Any) -> Column:
    """Numbers and nulls; a single one is a list of one."""
    values = content if isinstance(content, list) else [content]
    kinds = set(map(type, values))
    if kinds == {float}:
        return values
    if not kinds <= {int, float, type(None)}:
        raise Malformed("something in it is no number")
    try:
        column: Column = np.array(values, dtype=np.float64).tolist()
    except OverflowError:
        raise Malformed("a number in it is too large") from None
    return column


def _from_bytes(message: bytes, names: list[str]) -> list[Column]:
    if len(message) < _HEADER.size:
        raise Malformed("it is shorter than its header")
    version, flags, count, _ = _HEADER.unpack_from(message)
    if version != _VERSION:
        raise Malformed("it is of another version")
    kind = _SPACE if flags & _HAS_Z else _PLANE
    if ("z" in names) != bool(flags & _HAS_Z):
        raise Malformed("it has as many coordinates as this stream has not")
    if len(message) != _HEADER.size + count * kind.itemsize:
        raise Malformed("it is not as long as its header says")
    records = np.frombuffer(message, dtype=kind, offset=_HEADER.size)
    return [records[name].tolist() for name in names]
