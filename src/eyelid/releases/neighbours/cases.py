"""Which releases are compared: every mechanism as a command without settings makes it, and more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.gaze.areas import Area
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.anonymising import AnonymisingMechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.maps.map_gaussian import MapGaussian
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.means.groupmean import GroupMean
from eyelid.mechanisms.means.ksame_dp import KSameDP
from eyelid.mechanisms.mechanism import Mechanism, mechanism
from eyelid.mechanisms.noisy import NoisyMechanism
from eyelid.mechanisms.records.dct import DCT
from eyelid.mechanisms.records.fpa import FPA
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.records.prewindow import Prewindow
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.uniform import Uniform
from eyelid.mechanisms.synthetic.seeded import Seeded
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.releases.kinds.maps.heatmap import private_heatmap
from eyelid.releases.kinds.streams.plan import build_filter
from eyelid.releases.neighbours.studies import (
    GROUPED,
    RARE,
    SmallStudy,
    feature_study,
    fixation_study,
    gaze_study,
    reading_study,
)
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
_OF_THEIR_OWN: dict[type[Mechanism], dict[str, Any]] = {
    Synthetic: {"epsilon": 4.0, "carry": 2},
    Seeded: {"epsilon": 50.0, "delta": 0.01, "rows": 2},
    Prewindow: {"window_s": 5.0},
}


@dataclass(frozen=True, eq=False)
class Case:
    """One way to make a release.

    Attributes:
        mechanism: with its parameters set.
        study: that is released, and whose neighbours are.
        run: makes a folder of a study's folder.
        settings: in which it differs from a command without any, in words.
        options: of the function that releases.
    """

    mechanism: Mechanism
    study: Callable[[], SmallStudy]
    run: Callable[[Mechanism, Path, Path, dict[str, Any]], Said]
    settings: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether a guarantee is claimed; if not, differences are reported and refute nothing."""
        return self.mechanism.claims_to_hold

    @property
    def exchanges(self) -> bool:
        """Whether neighbours are two members of a group who have each other's recordings."""
        return isinstance(self.mechanism, AnonymisingMechanism)

    @property
    def coupled(self) -> bool:
        """Whether all that is released is noise on whole numbers and public facts."""
        noisy = isinstance(self.mechanism, NoisyMechanism | Synthetic | KSame)
        return self.valid and noisy

    def released(self, source: Path, out: Path) -> Said:
        """Release a study's folder."""
        return self.run(self.mechanism, source, out, self.options)


def cases_of(kind: type[Mechanism]) -> Iterator[Case]:
    """The releases of one mechanism; none of one that writes no folder."""
    if kind.command not in ("release", "heatmap"):
        return
    for parameters, options in _variants(kind):
        settings = ", ".join(
            f"{key}={_spelt(value)}" for key, value in (parameters | options).items()
        )
        if issubclass(kind, StreamMechanism):
            set_up = build_filter(kind.name, gaze_study().study(), **_given(kind), **parameters)
            yield Case(set_up, gaze_study, released_features, settings, options)
        elif issubclass(kind, FeatureMechanism):
            samples = options.pop("samples", issubclass(kind, Prewindow))
            study = reading_study if samples else feature_study
            study = fixation_study if options.pop("fixations", False) else study
            yield Case(
                mechanism(kind.name, **_given(kind) | parameters),
                study,
                released_features,
                settings,
                options,
            )
        else:
            yield Case(
                mechanism(kind.name, **_given(kind) | parameters),
                gaze_study,
                released_maps,
                settings,
                options,
            )


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
        | _OF_THEIR_OWN.get(kind, {})
    )


def _variants(kind: type[Mechanism]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Parameters of the mechanism, and options of the function that releases."""
    yield {}, {}
    if not kind.claims_to_hold:
        return
    if kind in (Laplace, DCT, Prewindow, GroupMean):
        yield {"length": 7}, {}
        yield {"unit": "recording"}, {}
    if issubclass(kind, GroupMean):
        yield {"by": GROUPED, "inner": "laplace"}, {}
        yield {"inner": "prewindow:window_s=5"}, {"samples": True}
    elif issubclass(kind, KSameDP):
        yield {"balance": RARE}, {}
    elif issubclass(kind, KSame):
        yield {"copies": True, "balance": RARE}, {}
        yield {"length": 5, "diverse": GROUPED}, {}
    elif issubclass(kind, Seeded):
        yield {"test": "deterministic", "k": 2}, {}
    elif issubclass(kind, Synthetic):
        yield {"rows": 4, "by": GROUPED}, {}
        yield {"pairs": "private"}, {}
    elif kind is Laplace:
        yield {}, {"keep": (GROUPED,)}
        yield {}, {"samples": True}
        yield {}, {"fixations": True}
    elif kind is FPA:
        yield {"k": "private"}, {}
    elif issubclass(kind, Uniform):
        yield {}, {"times": "regular"}
    elif issubclass(kind, MapGaussian):
        yield {"cap": "private"}, {}
    elif issubclass(kind, MapGrid):
        yield {}, {"by": GROUPED}
        yield {}, {"stimulus": ["picture1", "picture2"], "weight": "duration"}
        yield {}, {"every_s": 0.25, "for_s": 0.5, "areas": _AREAS}


def _spelt(value: Any) -> str:
    if isinstance(value, str | float | int):
        return str(value)
    return ",".join(getattr(each, "name", str(each)) for each in value)


def released_features(law: Mechanism, source: Path, out: Path, options: dict[str, Any]) -> Said:
    """A release of features or of gaze through a filter, as the command makes it."""
    assert isinstance(law, FeatureMechanism | StreamMechanism)
    done = release(source, out, mechanism=law, **options)
    return {
        "terminal: worth": done.worth,
        "terminal: rows": done.rows,
        "terminal: notes": "\n".join(done.notes),
    }


def released_maps(law: Mechanism, source: Path, out: Path, options: dict[str, Any]) -> Said:
    """A heatmap or tables of areas, as the command makes them."""
    given: dict[str, Any] = {"stimulus": "picture1", **options}
    if isinstance(law, AoiTables):
        given |= {"epsilon": law.epsilon, "areas": _AREAS, "only_areas": True}
    elif "areas" in given:
        # Both share ε, which only the command can split.
        given["epsilon"] = law.parameters()["epsilon"]
    else:
        assert isinstance(law, MapMechanism)
        given["mechanism"] = law
    done = private_heatmap(source, out, **given)
    return {
        "terminal: told": done.told,
        "terminal: protects": done.protects,
        "terminal: says": "\n".join(done.says),
        "terminal: notes": "\n".join(done.notes),
        "terminal: for the owner": "\n".join(done.for_owner),
    }
