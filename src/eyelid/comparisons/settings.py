"""What is compared: mechanisms, each with its parameters set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, cast

from eyelid.errors import InputError, unknown
from eyelid.mechanisms import catalogue, find
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.releases.kinds.features.plan import build_mechanism
from eyelid.reporting.comparisons.setting import Setting

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
_SIZE = "k"


def mechanism_of(setting: Setting) -> FeatureMechanism:
    """The mechanism of a setting, as `eyelid.release` would build it."""
    return build_mechanism(setting.mechanism, **dict(setting.parameters))


def feature_mechanisms() -> list[str]:
    """The names of everything in the catalogue that releases features.

    >>> "dct" in feature_mechanisms(), "map-grid" in feature_mechanisms()
    (True, False)
    """
    return [name for name, kind in catalogue().items() if kind.release.of_features]


def check_features(kind: type[Mechanism]) -> type[FeatureMechanism]:
    """A mechanism that releases features; anything else is refused."""
    if not kind.release.of_features:
        raise InputError(
            f"{kind.name} takes {kind.takes}, not features: 'eyelid {kind.command}' runs it"
        )
    return cast(type[FeatureMechanism], kind)


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
        sweep: values of other parameters, for those that have them; ``name.parameter`` for one
            mechanism alone. ``k`` is the size of groups; where it is a number of coefficients it
            is swept by name only.
        unit: whose value is hidden, for those that offer it and say nothing else.

    >>> [str(one) for one in settings_of(["dct", "ksame"], [1.0], {"k": [2, 4]})]
    ['dct, ε = 1', 'ksame, k = 2', 'ksame, k = 4']
    >>> [str(one) for one in settings_of(["dct", "gaussian"], [1.0], {"dct.k": [2]})]
    ['dct, ε = 1, k = 2', 'gaussian, ε = 1']
    """
    sweep = dict(sweep or {})
    for epsilon in epsilons:
        if not 0 < epsilon < math.inf:
            raise InputError(f"epsilon must be positive and finite, got {epsilon:g}")
    for name, own in {"epsilon": "--epsilons", "unit": "--unit"}.items():
        if any(key.rpartition(".")[2] == name for key in sweep):
            raise InputError(f"{name} has an option of its own: write {own}")
    names = [*itertools.chain(*(feature_mechanisms() if n == ALL else [n] for n in mechanisms))]
    if not names:
        raise InputError("no mechanism is named: choose some ('eyelid mechanisms'), or 'all'")
    asked = [(find(name.partition(":")[0]), name.partition(":")[2] or None) for name in names]
    for kind, own_unit in asked:
        check_features(kind)
        if own_unit is not None and own_unit.partition(":")[0] not in kind.units:
            offered = ", ".join(kind.units)
            raise InputError(f"{kind.name} does not hide a {own_unit}: it offers {offered}")
    for name, values in sweep.items():
        if not any(_own(kind, {name: values}) for kind, _ in asked):
            if name == _SIZE and (others := other_meaning([kind.name for kind, _ in asked])):
                raise InputError(others)
            known = {
                f"{kind.name}.{own}" if "." in name else own
                for kind, _ in asked
                for own in _parameters(kind)
            }
            raise unknown("parameter to sweep", name, sorted(known))
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
    axes |= _own(kind, sweep)
    if known.get(_SIZE) is MISSING and _SIZE not in axes:
        axes[_SIZE] = KS
    for values in itertools.product(*axes.values()):
        yield Setting(kind.name, tuple(zip(axes, values, strict=True)))


def other_meaning(mechanisms: Iterable[str]) -> str:
    """That k is something else for some of these, and how to sweep it; empty if for none."""
    others = [name for name in dict.fromkeys(mechanisms) if _counts_coefficients(find(name))]
    if not others:
        return ""
    return (
        f"k is swept as the size of groups; of {', '.join(others)} it is the number of "
        f"coefficients: sweep that as {others[0]}.k"
    )


def _own(kind: type[Mechanism], sweep: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """What of a sweep is for a mechanism; what is said of it by name comes before the rest."""
    known = _parameters(kind)
    plain = {
        name: values
        for name, values in sweep.items()
        if name in known and not (name == _SIZE and _counts_coefficients(kind))
    }
    by_name = {
        name: sweep[f"{kind.name}.{name}"] for name in known if f"{kind.name}.{name}" in sweep
    }
    return plain | by_name


def _counts_coefficients(kind: type[Mechanism]) -> bool:
    """Whether k is no number of people: such mechanisms choose it themselves, by a word."""
    return isinstance(_parameters(kind).get(_SIZE), str)


def _parameters(kind: type[Mechanism]) -> dict[str, Any]:
    """Names of parameters, and their defaults."""
    return {item.name: item.default for item in fields(kind)}
