"""Which releases are compared: every mechanism as a command without settings makes it, and more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.gaze.areas import Area
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.mechanisms.mechanism import Mechanism, mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Kind
from eyelid.releases.consistency.raw_files import write_files, write_table
from eyelid.releases.consistency.studies import (
    GROUPED,
    RARE,
    SmallStudy,
    clocked_study,
    feature_study,
    fixation_study,
    gaze_study,
    reading_study,
)
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.kinds.statistics.release import summary
from eyelid.releases.kinds.streams.plan import build_filter
from eyelid.releases.release import release

Said = dict[str, str]
"""What is printed beside a folder, by place."""

_AREAS = (
    Area("left", np.array([[0.0, 0.0], [30.0, 0.0], [30.0, 48.0], [0.0, 48.0]])),
    Area("right", np.array([[34.0, 0.0], [64.0, 0.0], [64.0, 48.0], [34.0, 48.0]])),
)
# Without these a mechanism cannot be set, or nothing of so few people is of use.
_NEEDED: dict[str, Any] = {
    "epsilon": 2.0,
    "k": 3,
    "window": 6,
    "radius": 4.0,
    "sd": 2.0,
    "tracking": 0.02,
    "cell": 8.0,
    "every": 4,
}
# Of some, by name.
_OF_THEIR_OWN: dict[str, dict[str, Any]] = {
    "synthetic": {"epsilon": 4.0, "carry": 2},
    "seeded": {"epsilon": 50.0, "delta": 0.01, "rows": 2},
    "prewindow": {"window_s": 5.0},
    "synthetic-gaze": {"epsilon": 4.0, "minutes": 0.05},
    "ksame-gaze": {"k": 3, "minutes": 0.05},
    "summary-box": {"epsilon": 30.0},
    "summary-gaussian": {"epsilon": 30.0},
}
_FROM: dict[str, Callable[[Study, Path], object]] = {
    "": study_folder.write,
    "a table": write_table,
    "files": write_files,
}
_LENGTHS: tuple[dict[str, Any], ...] = ({"length": 7}, {"unit": "recording"})
# Settings that are tried besides none, by name: what is particular to a mechanism, or to how it is
# released. What is no parameter is an option of the function that releases.
_MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "laplace": (*_LENGTHS, {"keep": (GROUPED,)}, {"samples": True}, {"fixations": True}),
    "dct": _LENGTHS,
    "prewindow": _LENGTHS,
    "groupmean": (
        *_LENGTHS,
        {"by": GROUPED, "inner": "laplace"},
        {"inner": "prewindow:window_s=5", "samples": True},
        {"inner": "laplace", "samples": True, "source": "files"},
    ),
    "ksame-dp": ({"balance": RARE},),
    "ksame": ({"copies": True, "balance": RARE}, {"length": 5, "diverse": GROUPED}),
    "seeded": ({"test": "deterministic", "k": 2},),
    "synthetic": ({"rows": 4, "by": GROUPED}, {"pairs": "private"}),
    "fpa": ({"k": "private"},),
    "summary-box": (
        {"contrasts": ["look-read"], "statistics": "mean,higher,clipped;signed-rank"},
        {"by": GROUPED, "tasks": ["each"], "statistics": "mean;superiority"},
        {"statistics": "median:1;tau:1:2;slope:1:2;histogram:1:4"},
        {"areas": ("left", "right"), "measures": ["hit", "first_look", "revisits"]},
        {"tasks": ["each"], "contrasts": ["comic-textbook"], "source": "a table"},
    ),
    "uniform": ({"times": "regular"},),
    "synthetic-gaze": (
        {"means": "task", "spreads": "paid", "places": "stimulus", "share": 0.5, "cells": 4},
        {"source": "files"},
    ),
    "ksame-gaze": ({"places": "task", "cells": 6},),
    "map-gaussian": ({"cap": "private"},),
    "map-grid": (
        {"by": GROUPED},
        {"stimulus": ["picture1", "picture2"], "weight": "duration"},
        {"every_s": 0.25, "for_s": 0.5, "areas": ("left", "right")},
        {"source": "files"},
    ),
}
# Where values are released that are no noise on whole numbers.
_NOT_COUPLED = (ReleaseKind.SAMPLES, ReleaseKind.ROWS)


@dataclass(frozen=True, eq=False)
class Case:
    """One way to make a release.

    Attributes:
        mechanism: with its parameters set.
        study: that is released, and whose neighbours are.
        run: makes a folder of a study's folder.
        settings: in which it differs from a command without any, in words.
        options: of the function that releases.
        written: writes the study that it starts from.
    """

    mechanism: Mechanism
    study: Callable[[], SmallStudy]
    run: Callable[[Mechanism, Path, Path, dict[str, Any]], Said]
    settings: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    written: Callable[[Study, Path], object] = study_folder.write

    @property
    def valid(self) -> bool:
        """Whether a guarantee is claimed; if not, differences are reported and refute nothing."""
        return self.mechanism.claims_to_hold

    @property
    def exchanges(self) -> bool:
        """Whether neighbours are two members of a group who have each other's recordings."""
        return self.mechanism.kind is Kind.K_ANONYMITY

    @property
    def coupled(self) -> bool:
        """Whether all that is released is noise on whole numbers and public facts."""
        return self.valid and self.mechanism.release not in _NOT_COUPLED

    @property
    def raw(self) -> bool:
        """Whether it starts from files that no eyelid wrote."""
        return self.written is not study_folder.write

    def released(self, source: Path, out: Path) -> Said:
        """Release a study's folder."""
        return self.run(self.mechanism, source, out, self.options)


def cases_of(kind: type[Mechanism]) -> Iterator[Case]:
    """The releases of one mechanism; none of one that writes no folder."""
    if kind.command not in _RUNS:
        return
    known = {item.name for item in fields(kind)}
    for more in ({}, *_MORE.get(kind.name, ())):
        settings = ", ".join(f"{key}={_spelt(value)}" for key, value in more.items())
        given = _given(kind) | {key: value for key, value in more.items() if key in known}
        options = {key: value for key, value in more.items() if key not in known}
        if kind.release is ReleaseKind.SAMPLES:
            set_up: Mechanism = build_filter(kind.name, gaze_study().study(), **given)
        else:
            set_up = mechanism_named(kind.name, **given)
        written = _FROM[options.pop("source", "")]
        study = _study_for(set_up, options) if kind.release.of_features else gaze_study
        if kind.release is ReleaseKind.STATISTICS and "areas" not in options:
            study = feature_study
        if written is write_table:
            study = clocked_study
        yield Case(set_up, study, _RUNS[kind.command], settings, options, written)


def _study_for(set_up: Any, options: dict[str, Any]) -> Callable[[], SmallStudy]:
    """A study that a mechanism for features takes; what options say of it is taken from them."""
    if options.pop("fixations", False):
        return fixation_study
    samples = options.pop("samples", set_up.measures_bins)
    return reading_study if samples else feature_study


def _given(kind: type[Mechanism]) -> dict[str, Any]:
    """What has to be said, and what so few people need."""
    required = [item.name for item in fields(kind) if item.default is MISSING]
    examples = {name: each[name] for each in kind.games for name in required if name in each}
    if "chunk" in {item.name for item in fields(kind)}:
        # Shorter than recordings of a few rows.
        examples["chunk"] = 4
    return (
        examples
        | {name: value for name, value in _NEEDED.items() if name in required}
        | _OF_THEIR_OWN.get(kind.name, {})
    )


def _spelt(value: Any) -> str:
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def released_features(mechanism: Any, source: Path, out: Path, options: dict[str, Any]) -> Said:
    """A release of features or of gaze through a filter, as the command makes it."""
    done = release(source, out, mechanism=mechanism, **options)
    return {
        "terminal: worth": done.worth,
        "terminal: rows": done.rows,
        "terminal: notes": "\n".join(done.notes),
    }


def released_maps(mechanism: Mechanism, source: Path, out: Path, options: dict[str, Any]) -> Said:
    """A heatmap or tables of areas, as the command makes them."""
    given: dict[str, Any] = {"stimulus": "picture1", **options}
    # Maps and tables share ε, which only the command can split.
    if mechanism.release is ReleaseKind.TABLES:
        given |= {"epsilon": mechanism.parameters()["epsilon"], "areas": _AREAS, "only_areas": True}
    elif "areas" in given:
        given |= {"epsilon": mechanism.parameters()["epsilon"], "areas": _AREAS}
    else:
        given["mechanism"] = mechanism
    done = heatmap(source, out, **given)
    return {
        "terminal: told": done.rows,
        "terminal: protects": done.protects,
        "terminal: says": "\n".join(done.heatmaps.says),
        "terminal: notes": "\n".join(done.notes),
        "terminal: for the owner": "\n".join(done.for_owner),
    }


def released_results(mechanism: Any, source: Path, out: Path, options: dict[str, Any]) -> Said:
    """Results, as the command makes them."""
    given: dict[str, Any] = {"measures": ["fixation_rate", "blink_rate"], **options}
    if "areas" in given:
        given["areas"] = {picture: _AREAS for picture in ("picture1", "picture2")}
    done = summary(source, out, mechanism=mechanism, by=mechanism.by, **given)
    return {"terminal: notes": "\n".join(done.notes)}


_RUNS: dict[str, Callable[[Any, Path, Path, dict[str, Any]], Said]] = {
    "release": released_features,
    "heatmap": released_maps,
    "summary": released_results,
}
"""How each command makes a folder."""
