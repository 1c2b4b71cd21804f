"""How long a window is: samples, or a time that the nominal rate makes samples of."""

from __future__ import annotations

import math
import re

from eyelid.errors import InputError

_SECONDS = {"ms": 0.001, "s": 1.0}


def window_samples(text: str, rate_hz: float | None) -> int:
    """Samples of a window; a time is rounded up, since guarantees count samples.

    Args:
        text: such as ``60``, ``500ms`` or ``2s``.
        rate_hz: of the tracker, if known.

    >>> window_samples("60", None), window_samples("500ms", 120.0), window_samples("2s", 59.9)
    (60, 60, 120)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s)?", text.strip())
    if not found or (found[2] is None and not found[1].isdigit()):
        raise InputError(
            f"window '{text}' is neither samples nor a time: write it as 60, 500ms or 2s"
        )
    if found[2] is None:
        return int(found[1])
    if rate_hz is None:
        raise InputError(
            f"window {text} is a time, and how many samples that is, nobody knows: say the "
            "tracker's nominal rate with --rate HZ, or give the window in samples"
        )
    # Less a little, so that 0.1 · 30 is 3 and not 4.
    return max(1, math.ceil(float(found[1]) * _SECONDS[found[2]] * rate_hz - 1e-6))
