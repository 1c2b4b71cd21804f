"""What is compared: mechanisms, each with its parameters set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from eyelid.errors import InputError, unknown
from eyelid.mechanisms import catalogue, find
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.releases.plan import build_mechanism

ALL = "all"
# From the strongest promise to the weakest, of every kind that there is.
DEFAULT = (
    "dct",
    "envelope",
    "gaussian",
    "gaussian:record",
    "groupmean",
    "ksame",
    "ksame-dp",
    "seeded",
    "synthetic",
)
EPSILONS = (1.0, 4.0, 16.0)
# Of mechanisms that need one and are given none.
KS = (2, 4, 8)


@dataclass(frozen=True)
class Setting:
    """A mechanism with its parameters.

    Attributes:
        mechanism: its name.
        parameters: names and values; what is not named takes its default.
    """

    mechanism: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """As a table has it.

        >>> str(Setting("gaussian", (("epsilon", 4.0), ("unit", "record"))))
        'gaussian, record, ε = 4'
        """
        given = dict(self.parameters)
        unit = [str(given.pop("unit"))] if "unit" in given else []
        numbers = [f"{_letter(name)} = {_value(value)}" for name, value in given.items()]
        return ", ".join([self.mechanism, *unit, *numbers])

    def build(self) -> FeatureMechanism:
        """The mechanism itself, as `eyelid.release` would build it."""
        return build_mechanism(self.mechanism, **dict(self.parameters))

    def command(self, source: str = "IN", out: str = "OUT") -> str:
        """What to type to release so.

        >>> Setting("ksame", (("k", 4),)).command("study")
        'eyelid release study OUT --mechanism ksame --set k=4'
        """
        options = [
            f"--{name} {_value(value)}"
            if name in ("epsilon", "delta", "unit")
            else f"--set {name}={_value(value)}"
            for name, value in self.parameters
        ]
        return " ".join(["eyelid release", source, out, "--mechanism", self.mechanism, *options])


def feature_mechanisms() -> list[str]:
    """The names of everything in the catalogue that releases features.

    >>> "dct" in feature_mechanisms(), "map-grid" in feature_mechanisms()
    (True, False)
    """
    return [name for name, kind in catalogue().items() if issubclass(kind, FeatureMechanism)]


def settings_of(
    mechanisms: Sequence[str] = DEFAULT,
    epsilons: Sequence[float] = EPSILONS,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    unit: str | None = None,
) -> list[Setting]:
    """Every mechanism with every combination of what it can take.

    Args:
        mechanisms: names, or ``name:unit``; ``all`` is everything that releases features.
        epsilons: for those that have an ε: the total for one unit.
        sweep: values of other parameters, for those that have them.
        unit: whose value is hidden, for those that offer it and say nothing else.

    >>> [str(one) for one in settings_of(["dct", "ksame"], [1.0], {"k": [2, 4]})]
    ['dct, ε = 1, k = 2', 'dct, ε = 1, k = 4', 'ksame, k = 2', 'ksame, k = 4']
    """
    sweep = dict(sweep or {})
    for epsilon in epsilons:
        if not 0 < epsilon < math.inf:
            raise InputError(f"epsilon must be positive and finite, got {epsilon:g}")
    for name, own in {"epsilon": "--epsilons", "unit": "--unit"}.items():
        if name in sweep:
            raise InputError(f"{name} has an option of its own: write {own}")
    names = [*itertools.chain(*(feature_mechanisms() if n == ALL else [n] for n in mechanisms))]
    if not names:
        raise InputError("no mechanism is named: choose some ('eyelid mechanisms'), or 'all'")
    asked = [(find(name.partition(":")[0]), name.partition(":")[2] or None) for name in names]
    for kind, _ in asked:
        if not issubclass(kind, FeatureMechanism):
            raise InputError(
                f"{kind.name} takes {kind.takes}, not features: 'eyelid {kind.command}' runs it"
            )
    for name, values in sweep.items():
        if not any(name in _parameters(kind) for kind, _ in asked):
            known = sorted({n for kind, _ in asked for n in _parameters(kind)})
            raise unknown("parameter to sweep", name, known)
        if not values:
            raise InputError(f"no value is given for {name}: write {name}=2,4,8")
    found: dict[Setting, None] = {}
    for kind, own_unit in asked:
        found |= dict.fromkeys(_settings(kind, epsilons, sweep, own_unit, unit))
    return list(found)


def _settings(
    kind: type[Mechanism],
    epsilons: Sequence[float],
    sweep: Mapping[str, Sequence[Any]],
    own_unit: str | None,
    unit: str | None,
) -> Iterator[Setting]:
    known = _parameters(kind)
    axes: dict[str, Sequence[Any]] = {}
    if "epsilon" in known:
        axes["epsilon"] = epsilons
    if own_unit is not None:
        axes["unit"] = [own_unit]
    elif unit is not None and unit.partition(":")[0] in kind.units and "unit" in known:
        axes["unit"] = [unit]
    axes |= {name: values for name, values in sweep.items() if name in known}
    if known.get("k") is MISSING and "k" not in axes:
        axes["k"] = KS
    for values in itertools.product(*axes.values()):
        yield Setting(kind.name, tuple(zip(axes, values, strict=True)))


def _parameters(kind: type[Mechanism]) -> dict[str, Any]:
    """Names of parameters, and their defaults."""
    return {item.name: item.default for item in fields(kind)}


def _letter(name: str) -> str:
    return {"epsilon": "ε", "delta": "δ", "gamma": "γ"}.get(name, name)


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
