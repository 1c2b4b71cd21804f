"""Datasets that teach: what a colleague's ordinary code learns from whole datasets that are shared.

Each part is a module of its own, ``datasets_…``; those that are there are tried, and all must show
what they claim.
"""

from __future__ import annotations

import importlib
import importlib.util

from proofs.result import Effort, Result, progress

PARTS = ("groups", "tables")


def prove(effort: Effort) -> Result:
    """Every part that is there."""
    results = {}
    for part in PARTS:
        name = f"proofs.datasets_{part}"
        if importlib.util.find_spec(name) is not None:
            progress(f"datasets: {part} …")
            results[part] = importlib.import_module(name).prove(effort)
    tried = {part: result for part, result in results.items() if result.skipped is None}
    if not tried:
        return next(iter(results.values()))
    return Result(
        {part: result.figures for part, result in tried.items()},
        "; ".join(result.target for result in tried.values()),
        all(result.passed for result in tried.values()),
    )
