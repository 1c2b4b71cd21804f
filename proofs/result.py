"""What a proof takes and what it gives."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How hard to try.

    Attributes:
        runs: of each distinguishing game, per side.
        draws: from each sampler.
        kills: at random moments.
        seeds: simulated studies.
        cases: damaged files.
        soak_seconds: of a stream at 1000 samples per second.
    """

    runs: int = 200_000
    draws: int = 20_000_000
    kills: int = 20
    seeds: int = 10
    cases: int = 1_000_000
    soak_seconds: int = 600


@dataclass(frozen=True)
class Result:
    """How a claim fared.

    Attributes:
        figures: what was found.
        target: what was claimed, in words.
        passed: whether it is so.
        skipped: why it could not be tried; then it counts neither way.
    """

    figures: dict[str, Any]
    target: str
    passed: bool
    skipped: str | None = None

    def to_json(self, claim: str, seconds: float) -> str:
        """One line."""
        if self.skipped is not None:
            return json.dumps({"claim": claim, "skipped": self.skipped}, ensure_ascii=False)
        line = {
            "claim": claim,
            "figures": _short(self.figures),
            "target": self.target,
            "pass": self.passed,
            "seconds": round(seconds, 1),
        }
        return json.dumps(line, ensure_ascii=False)


def skip(reason: str) -> Result:
    """A claim that cannot be tried here."""
    return Result({}, "", True, skipped=reason)


def progress(text: str) -> None:
    """A remark for people, on stderr."""
    print(text, file=sys.stderr, flush=True)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_short(item) for item in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def real_recordings(name: str) -> Path | Result:
    """The folder of a set of real recordings, or the reason why its claim cannot be tried."""
    data = os.environ.get("EYELID_DATA")
    if not data:
        return skip("needs real recordings: set EYELID_DATA to their folder")
    folder = Path(data) / name
    return folder if folder.is_dir() else skip(f"{name} is not in EYELID_DATA")
