"""What a mechanism is: what it costs, from public facts, and what it does."""

from __future__ import annotations

import math
import threading
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import EyelidError, InputError, Refused, unknown
from eyelid.gaze.areas import Area
from eyelid.mechanisms import entry_points
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import PERSON, Trust, Unit

Values = NDArray[np.float64]

# What every command has an option for; all other parameters are set.
_OPTIONS = ("epsilon", "delta", "unit")
# Types of parameters, in the words of those who set them.
_SPOKEN = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class PublicFacts:
    """The public facts about a dataset: all that a cost may depend on.

    Attributes:
        people: N.
        recordings: R, the most recordings that any person has.
        length: n, rows of every recording.
        features: F.
        window: rows that one window covers, which says how fast signals can move; 60 for windows
            of 30 s every 0.5 s, 1 where rows are no windows.
    """

    people: int
    recordings: int
    length: int
    features: int
    window: int = field(default=60, repr=False)

    def __post_init__(self) -> None:
        for item in fields(PublicFacts):
            if getattr(self, item.name) < 1:
                raise InputError(f"{item.name} must be at least 1, got {getattr(self, item.name)}")

    def values_of(self, unit: Unit) -> int:
        """How many values one unit covers.

        >>> from eyelid.privacy.unit import PERSON, RECORDING
        >>> facts = PublicFacts(people=20, recordings=3, length=100, features=2)
        >>> facts.values_of(PERSON), facts.values_of(RECORDING)
        (600, 200)
        """
        counts = {
            "person": self.recordings * self.length * self.features,
            "recording": self.length * self.features,
            "record": self.features,
            "chunk": min(unit.length or 0, self.length),
        }
        if unit.name not in counts:
            raise Refused(f"unit '{unit}' is not offered here: choose one of {', '.join(counts)}")
        return counts[unit.name]


@dataclass(frozen=True)
class Form:
    """What a person's data may be replaced by without the release showing it, besides other values.

    Attributes:
        words: the same in words, after "anything else" and before "within the public bounds".
        recordings: whether a person may have other recordings, or another number of them.
        lengths: whether recordings may have other numbers of rows.
        times: whether time stamps may differ, and values may be missing elsewhere.
    """

    words: str
    recordings: bool = False
    lengths: bool = False
    times: bool = True


SAME_FORM = Form("of the same form (recordings, length)")


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Two datasets of one person that differ in one unit only, in the worst way known.

    Attributes:
        name: what makes them bad.
        facts: their public facts.
        unit: where they differ.
        one: values of shape (recordings, length, features), in units of the feature's span above
            its lower bound; may lie outside the bounds or be NaN.
        other: the same, differing in one unit.
    """

    name: str
    facts: PublicFacts
    unit: Unit
    one: Values
    other: Values


def parameter(help: str, default: Any = MISSING) -> Any:
    """A mechanism's parameter, with the line that help shows."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Mechanism(ABC):
    """A privacy mechanism with its parameters set.

    Subclasses state the class facts below, their proof note among them, and register. Everything
    else, ``verify`` included, finds them. Their fields are their parameters.
    """

    note: ClassVar[ProofNote]
    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[str]
    kind: ClassVar[Kind]
    units: ClassVar[tuple[str, ...]]
    paper: ClassVar[str]
    claims_to_hold: ClassVar[bool] = True
    release: ClassVar[ReleaseKind]
    """What kind of thing it releases."""
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    """What of a study it needs at once."""
    trust: ClassVar[Trust] = Trust.LOCAL
    """Whether it releases a record for each person, or something about many of them."""
    family: ClassVar[str] = ""
    """The family whose games, checks and mutants `verify` tries it with: see
    `eyelid.verification.families`; empty where nothing is promised."""
    playable: ClassVar[bool] = False
    """Whether distinguishing games can refute its claim: see `DifferentialMechanism`."""
    predictable: ClassVar[bool] = False
    """Whether its error is known from public facts alone."""
    command: ClassVar[str] = "release"
    """The command that runs it."""
    games: ClassVar[tuple[dict[str, Any], ...]]
    """Parameters for `verify`."""
    mixes_people: ClassVar[bool] = False
    """Whether what stands under a participant's name is made of several participants' data."""
    regroups: ClassVar[bool] = False
    """Whether participants are in other groups in every task, so that names link groups."""

    def __post_init__(self) -> None:  # noqa: B027
        """Whatever a base checks about its parameters; here there are none."""

    @property
    def unit(self) -> Unit:
        """Whose value is hidden."""
        return PERSON

    @property
    def delta(self) -> float | None:
        """The δ that was asked for; None where none was, or there is none."""
        return None

    @property
    def chooses(self) -> bool:
        """Whether a parameter is chosen privately, by the data, before the noise."""
        return False

    @property
    def may_differ(self) -> Form:
        """What one unit's data may be replaced by without the release showing it."""
        return SAME_FORM

    @property
    def form(self) -> str:
        """What a person's data may be exchanged for, in words, for sentences."""
        return self.may_differ.words

    @abstractmethod
    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """What is promised about one ``unit``, from public facts, before any data is touched."""

    @abstractmethod
    def person_total(self, facts: PublicFacts) -> str:
        """How the person-level total follows from the unit's, in words."""

    @abstractmethod
    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words: its distribution, its scale, its grid."""

    @classmethod
    def unit_named(cls, name: str, parameters: dict[str, Any]) -> Unit:
        """The unit that a person typed; a chunk takes its length from the other parameters."""
        offered = ", ".join(cls.units)
        if name in ("chunk", "event") and name not in cls.units:
            raise Refused(f"{cls.name} does not offer the unit '{name}': choose one of {offered}")
        return Unit.parse(name)

    @classmethod
    def check_declared(cls) -> None:
        """Refuse a class that lacks what a release needs of it; `register` asks."""
        if not isinstance(vars(cls).get("note"), ProofNote):
            raise TypeError(f"{cls.name} declares no ProofNote of its own")

    @classmethod
    def set_for_games(cls) -> Iterator[Mechanism]:
        """The mechanism as `verify` plays against it."""
        for parameters in cls.games:
            yield cls(**parameters)

    @property
    def numerics(self) -> str:
        """Whether the noise is exactly what the promise needs, or something else."""
        return "exact"

    def parameters(self) -> dict[str, Any]:
        """The parameters as a certificate writes them."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: str(v) if isinstance(v, Unit) else v for name, v in values.items()}


_registry: dict[str, type[Mechanism]] = {}
_aliases: dict[str, str] = {}
_completed: list[bool] = []
_completing = threading.RLock()

M = typing.TypeVar("M", bound=type[Mechanism])


def register(mechanism_class: M) -> M:
    """Add a mechanism to the catalogue; ``verify`` then plays against it without being told.

    A mechanism without a note of its own, or without an account of its error, is refused here: its
    data card would fail after the charge. So is one whose name or alias another has: a
    certificate's name must mean one thing.
    """
    mechanism_class.check_declared()
    if not mechanism_class.__module__.startswith("eyelid."):
        # Names of eyelid's own are taken, also where nobody has looked for them yet.
        _complete()
    # An alias that is inherited is its base's.
    aliases = vars(mechanism_class).get("aliases", ())
    for name in (mechanism_class.name, *aliases):
        there = _registry.get(_aliases.get(name, name))
        if there is not None and _home(there) != _home(mechanism_class):
            raise ValueError(
                f"there is a mechanism '{name}' already, in {there.__module__}: choose another name"
            )
    _registry[mechanism_class.name] = mechanism_class
    _aliases.update(dict.fromkeys(aliases, mechanism_class.name))
    return mechanism_class


def _home(mechanism_class: type[Mechanism]) -> tuple[str, str]:
    """Where a class is defined; the same after its module was imported again."""
    return mechanism_class.__module__, mechanism_class.__qualname__


def _complete() -> None:
    """Have all packages that bring mechanisms register them, once; of a module all or none."""
    with _completing:
        if _completed:
            return
        # At once: a module that looks at the catalogue on its way sees what is there so far.
        _completed.append(True)
        for module, owner in entry_points.modules():
            if not entry_points.load(module, owner):
                _forget(module)


def _forget(module: str) -> None:
    """Take out what a module has registered before it failed; what it imported stays."""
    for name, kind in list(_registry.items()):
        if kind.__module__ == module:
            del _registry[name]
    for alias, name in list(_aliases.items()):
        if name not in _registry:
            del _aliases[alias]


def catalogue() -> dict[str, type[Mechanism]]:
    """Every mechanism by name, those of other packages as well."""
    _complete()
    return dict(sorted(_registry.items()))


def find(name: str) -> type[Mechanism]:
    """The mechanism of that name or alias."""
    given: object = name
    if not isinstance(given, str):
        kind = "nothing" if given is None else f"a value of type {type(given).__name__}"
        raise InputError(f"mechanism must be a name, such as 'gaussian', and got {kind}")
    if _aliases.get(name, name) not in _registry:
        # Only who asks for what eyelid has not loaded waits for what others bring.
        _complete()
    found = _registry.get(_aliases.get(name, name))
    if found is None:
        raise unknown("mechanism", name, [*_registry, *_aliases], "eyelid mechanisms")
    return found


def describe(kind: type[Mechanism]) -> dict[str, Any]:
    """A mechanism's facts, as the catalogue lists them."""
    return {
        "name": kind.name,
        "aliases": list(kind.aliases),
        "takes": kind.takes,
        "units": list(kind.units),
        "kind": str(kind.kind),
        "holds": kind.claims_to_hold,
        "paper": kind.paper,
        "parameters": [
            {
                "name": item.name,
                "help": item.metadata.get("help", ""),
                "default": None if item.default in (MISSING, None) else str(item.default),
                "required": item.default is MISSING,
            }
            # What must be said comes first, whichever base asks for it.
            for item in sorted(fields(kind), key=lambda item: item.default is not MISSING)
        ],
    }


def mechanisms() -> pl.DataFrame:
    """The catalogue: one row a mechanism, with what it takes, promises and needs.

    >>> mechanisms().filter(name="laplace")["kind"].item()
    'pure-dp'
    """
    rows = []
    for kind in catalogue().values():
        description = describe(kind)
        named = description.pop("parameters")
        rows.append(description | {"parameters": [item["name"] for item in named]})
    return pl.DataFrame(rows)


def check_set_alone(mechanism: Mechanism, given: Collection[str]) -> None:
    """Refuse parameters beside a mechanism that brings its own.

    Args:
        mechanism: with its parameters set.
        given: names of what was asked for beside it.
    """
    if given:
        raise InputError(
            f"{mechanism.name} has its parameters set already: leave out {', '.join(given)}"
        )


def mechanism_named(name: str, **parameters: Any) -> Mechanism:
    """A mechanism with its parameters; text is turned into what the parameter needs.

    Args:
        name: as in the catalogue, or an alias; ``eyelid mechanisms`` lists them.
        parameters: of the mechanism, such as ``epsilon``; ``eyelid mechanisms NAME`` lists them.

    >>> mechanism_named("laplace", epsilon="2", unit="recording").parameters()["unit"]
    'recording'
    """
    kind = find(name)
    hints = _type_hints(kind)
    known = {item.name for item in fields(kind)}
    if "unit" not in known and str(parameters.get("unit", PERSON)) in kind.units:
        parameters.pop("unit", None)
    for given in parameters:
        if given not in known:
            raise _not_a_parameter(kind, given, parameters[given], known)
    required = {
        f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING
    }
    missing = sorted(required - set(parameters))
    if missing:
        first = missing[0]
        example = next((each[first] for each in kind.games if first in each), "…")
        raise InputError(f"{kind.name} needs {first}: give it, such as `{first}={example}`")
    chosen = {key: _convert(key, value, hints[key]) for key, value in parameters.items()}
    if isinstance(chosen.get("unit"), str):
        chosen["unit"] = kind.unit_named(chosen["unit"], chosen)
    return kind(**chosen)


# To make types of what is written takes longer than all else about a mechanism.
_type_hints = cache(typing.get_type_hints)


def _not_a_parameter(
    kind: type[Mechanism], name: str, value: Any, known: Iterable[str]
) -> EyelidError:
    """Why a mechanism does not take what was given."""
    if name == "unit":
        return Refused(
            f"{kind.name} does not offer the unit '{value}': choose one of {', '.join(kind.units)}"
        )
    if name in _OPTIONS and not kind.kind.differential:
        other = f"{kind.name}-dp"
        both = f"; {other} has both" if other in _registry else ""
        return InputError(
            f"{kind.name} gives {kind.kind.spoken} and has no {name}: leave it out{both}"
        )
    if name == "delta":
        return InputError(
            f"{kind.name} has no delta, as its guarantee needs none: leave out `delta`"
        )
    return unknown(f"parameter of {kind.name}", name, known)


def _is_number(options: Iterable[object]) -> bool:
    """Whether a parameter of these types is a number, or text for one."""
    types_of = set(options)
    return bool({int, float} & types_of) and types_of <= {int, float, str, types.NoneType}


def _convert(name: str, value: Any, hint: Any) -> Any:
    """Text from a command line as the parameter's type; anything else unchanged."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if isinstance(value, list | tuple) and str in options:
        if value and all(isinstance(one, Area) for one in value):
            # Deferred: mechanisms of streams are made of this module.
            from eyelid.mechanisms.streams.regions import spelled

            return spelled(value)
        raise InputError(f"{name} must be text, with commas between several, got {value}")
    if _is_number(options) and value is not None and not isinstance(value, str | Real):
        given = type(value).__name__
        raise InputError(f"{name} must be one number, got a value of type {given}")
    if not isinstance(value, str):
        return value
    if Unit in options:
        return value
    for option in (bool, int, float, str):
        if option not in options:
            continue
        try:
            if option is bool:
                return {"true": True, "yes": True, "false": False, "no": False}[value.lower()]
            number = option(value)
        except (ValueError, KeyError):
            continue
        if isinstance(number, float) and math.isnan(number):
            continue
        return number
    wanted = " or ".join(_SPOKEN[o] for o in options if o in _SPOKEN)
    raise InputError(f"{name} must be {wanted}, got '{value}'")
