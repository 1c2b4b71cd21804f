"""Chi-square tests of the exact samplers with many draws, and planted faults they must see."""

from __future__ import annotations

from eyelid.privacy.noise import SystemRandomness
from eyelid.verification.samplers import check_samplers, faulty_samplers
from proofs.result import Effort, Result, progress

# True samplers fall below it once in a million tests.
LEAST_P = 1e-6


def prove(effort: Effort) -> Result:
    """Both laws at every scale."""
    source = SystemRandomness()
    p_values = {}
    for tested in check_samplers(effort.draws, source):
        p_values[f"{tested.sampler}, scale {tested.scale}"] = tested.p_value
        progress(f"samplers: {tested.sampler}, scale {tested.scale}: p = {tested.p_value:.3g}")
    missed = [
        f"{fault} in {sampler}"
        for sampler, fault, tested in faulty_samplers(effort.draws, source)
        if not tested.refuted
    ]
    figures = {
        "draws_each": effort.draws,
        "least_p": min(p_values.values()),
        "p": p_values,
        "missed": missed,
    }
    passed = min(p_values.values()) >= LEAST_P and not missed
    return Result(figures, f"no p below {LEAST_P:g}, every planted fault refuted", passed)
