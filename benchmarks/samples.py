"""Attackers on samples: CPU seconds over 20 people × 3 × 10 minutes at 120 Hz.

Windows of signals, convolutions, offsets, features and their fusion under raw→raw, three folds with
their rehearsals. The peer is the same with convolutions counted by numpy instead of numba.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from unittest import mock

from benchmarks.case import Case, remark
from benchmarks.family import processor_seconds
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.attacks.samples import kernels
from eyelid.attacks.samples.evidence import Gaze, parts_of, sample_findings
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study

# Two cores for two minutes.
TARGET_S = 240.0


def cases() -> Iterator[Case]:
    """One case: all sample attackers together."""
    study = simulate(people=20, minutes=10.0, rate_hz=120.0, seed=2)
    features = Material(window_features(study))
    if importlib.util.find_spec("numba") is None:
        remark("samples: numba is not installed: both figures are numpy's")
    ours = _seconds(study, features)
    with mock.patch.object(kernels, "_compiled", side_effect=ImportError):
        peer = _seconds(study, features)
    yield Case(
        "attackers on samples, 20 × 3 × 10 min at 120 Hz",
        "CPU s",
        ours,
        "numpy instead of numba",
        peer,
        f"at most {TARGET_S:g} CPU s, 120 s on two cores",
        ours <= TARGET_S,
    )


def _seconds(study: Study, features: Material) -> float:
    def attack() -> None:
        parts, _ = parts_of(Gaze(study), features)
        for finding in sample_findings(parts, [POSITIVE]):
            remark(f"samples: {finding.attacker} {finding.rate}")

    return processor_seconds(attack)
