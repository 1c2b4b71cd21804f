"""Means over people: the natural release of a study, and the one that is still worth reading."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.measuring import MeasuringMechanism, frame
from eyelid.mechanisms.mechanism import (
    NeighbourPair,
    Shape,
    Values,
    find,
    mechanism,
    parameter,
    register,
)
from eyelid.mechanisms.noisy import Integers
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteNoise, Randomness
from eyelid.privacy.unit import PERSON, Trust, Unit

EVERYBODY = "everybody"
_FEWEST_PEOPLE = 2
_DEFAULT_INNER = "dct"
_BLOCK_VALUES = 1 << 18
# Sums of integers, with their noise, stay far from the end of 64 bits.
_MOST_STEPS = 2.0**61
# In games: the others of a group, one with values in the middle of nowhere, one without any.
_OTHERS = (0.25, np.nan)
_DATASET = "dataset"


@dataclass(frozen=True)
class GroupedShape(Shape):
    """Public facts of people in groups.

    Attributes:
        smallest: people in the smallest group.
    """

    smallest: int = 1


@dataclass(frozen=True, eq=False)
class Groups:
    """Who is in which public group.

    Attributes:
        people: one row a group: its name as ``person``, what its members have in common, and how
            many ``people`` it has.
        member: of everybody in the table, in its order, which group.
    """

    people: pl.DataFrame
    member: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """People of each group."""
        return self.people["people"].to_numpy().astype(np.int64)


@register
@dataclass(frozen=True)
class GroupMean(MeasuringMechanism):
    """The mean over the people of each public group, under the noise of one person.

    Takes: a FeatureTable, or whatever the mechanism inside takes. Recordings are put side by side
    by task, and by their order within a task; whoever lacks one counts with the public midpoint.
    Each person's values are clipped and turned into integers by the mechanism inside, and these are
    summed up in integers. Its noise is drawn once for each group. The sum is divided by the public
    number of people N, and values are rebuilt from it and clipped to the public bounds.

    Protects: what the mechanism inside protects (always a person), replace-one, with its ε and δ;
    trust is central: whoever computes the mean sees everybody's data. N, the groups and who is in
    which are public; who has which recordings is not.

    Why: one person is one term of the sum, so the sum moves as far as that term: the sensitivity is
    that of the mechanism inside for one person, and Δ/N for the mean. Everything after the noise is
    post-processing. Groups are disjoint people, so that each person is in one sum only: several
    groups cost what one costs.

    Paper: Rastogi & Nath 2010 take sums over people, which Bozkir et al. 2021 left for each
    person's own signal; integer sums as in Canonne, Kamath & Steinke 2020.
    """

    name: ClassVar[str] = "groupmean"
    takes: ClassVar[str] = "features or samples"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    trust: ClassVar[Trust] = Trust.CENTRAL
    units: ClassVar[tuple[str, ...]] = ("person", "recording", "record", "chunk")
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "inner": "dct:k=2:radius=0.3"},
        {"epsilon": 1.0, "inner": "laplace"},
        {"epsilon": 4.0, "delta": 1e-5, "inner": "envelope:k=2:variation=0.02"},
    )
    paper: ClassVar[str] = (
        "Rastogi & Nath (2010), Differentially private aggregation of distributed time-series; "
        "Dwork, McSherry, Nissim & Smith (2006)"
    )

    inner: str = parameter(
        "the mechanism inside, with its settings: dct, cfpa:chunk=128:k=3", default=_DEFAULT_INNER
    )
    delta: float | None = parameter("δ, where the mechanism inside has one", default=None)
    by: str | None = parameter(
        "public attributes whose values make groups: gender, or a,b", default=None
    )
    clipped: bool = parameter("whether means are clipped to the bounds", default=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        # What is wrong with the mechanism inside is told at once.
        _inside(self.inner, self.epsilon, self.delta, self.unit, self.length)

    @property
    def core(self) -> MeasuringMechanism:
        """The mechanism inside."""
        return _inside(self.inner, self.epsilon, self.delta, self.unit, self.length)

    def core_for(self, size: int) -> MeasuringMechanism:
        """The mechanism inside for groups of one size, where it has a use for that."""
        return replace(self.core, averaged=size) if self._averages else self.core  # type: ignore[call-arg]

    @property
    def _averages(self) -> bool:
        """Whether the mechanism inside takes account of how many people a mean is over."""
        return "averaged" in {item.name for item in fields(self.core)}

    @classmethod
    def unit_named(cls, name: str, parameters: dict[str, Any]) -> Unit:
        """A chunk has the length that the mechanism inside gives it."""
        kind, settings = _parsed(parameters.get("inner", _DEFAULT_INNER))
        numbers = {key: int(value) for key, value in settings.items() if value.isdigit()}
        return kind.unit_named(name, numbers)

    @classmethod
    def set_for_games(cls) -> Iterator[GroupMean]:
        """The first with every unit that the mechanism inside offers, the others for the person."""
        for first, parameters in zip((True, *[False] * len(cls.games)), cls.games, strict=False):
            kind, _ = _parsed(parameters["inner"])
            for name in (kind.game_units or kind.units) if first else (PERSON.name,):
                yield cls(**parameters, unit=cls.unit_named(name, parameters))

    def summarise(self, source: Study | FeatureTable) -> FeatureTable:
        """What the mechanism inside takes of a study."""
        return self.core.summarise(source)

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """That of the mechanism inside: a sum moves as far as one person's term."""
        return replace(self.core.cost(shape, unit), trust=self.trust)

    def blocks(self, shape: Shape, unit: Unit) -> int:
        """Those of the mechanism inside."""
        return self.core.blocks(shape, unit)

    def coordinates(self, shape: Shape, unit: Unit) -> int:
        """Those of the mechanism inside."""
        return self.core.coordinates(shape, unit)

    def noise(self, shape: Shape) -> DiscreteNoise:
        """That of the mechanism inside, drawn once for a group."""
        return self.core.noise(shape)

    def step(self, shape: Shape) -> Any:
        """That of the mechanism inside."""
        return self.core.step(shape)

    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """How far one unit of one person can move the sum."""
        return self.core.sensitivity(shape, unit)

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The norm of the mechanism inside."""
        return self.core.distance(difference)

    def analyse(self, values: Values, shape: Shape) -> Values:
        """The coordinates of the mechanism inside."""
        return self.core.analyse(values, shape)

    def rebuild(self, coordinates: Values, shape: Shape) -> Values:
        """Values of means from their coordinates."""
        return self.core_for(self._smallest(shape)).rebuild(coordinates, shape)

    @property
    def fewest_rows(self) -> int:
        """Those that the mechanism inside needs."""
        return self.core.fewest_rows

    @property
    def numerics(self) -> str:
        """Those of the mechanism inside: sums are exact."""
        return self.core.numerics

    def shape(self, table: FeatureTable) -> Shape:
        """The public facts: N, different recordings over everybody, the common length, F."""
        shape = replace(self.core.shape(table), recordings=len(slots_of(table).names))
        if not self.by:
            return shape
        return GroupedShape(**vars(shape), smallest=int(self.groups(table).sizes.min()))

    def _smallest(self, shape: Shape) -> int:
        """People in the smallest group."""
        if not self.by:
            return shape.people
        if not isinstance(shape, GroupedShape):
            raise InputError(
                f"how many people share their {self.by} is not known without a study: give one, or "
                "leave out by"
            )
        return shape.smallest

    def groups(self, table: FeatureTable) -> Groups:
        """The groups, by name, and who is in which."""
        present = table.recordings.select(pl.col("person").unique(maintain_order=True))
        columns = [name.strip() for name in (self.by or "").split(",") if name.strip()]
        attributes = [name for name in table.people.columns if name != "person"]
        for name in columns:
            if name not in attributes:
                raise unknown("attribute of people to group by", name, attributes)
            if name == "people":
                raise InputError("people is how many a group has: give that attribute another name")
        text = [
            pl.col(name).cast(pl.String).str.strip_chars().replace("", None) for name in columns
        ]
        each = present.join(
            table.people.select("person", *text), on="person", how="left", maintain_order="left"
        )
        for name in columns:
            lacking = each.filter(pl.col(name).is_null())["person"].to_list()
            if lacking:
                raise InputError(
                    f"person '{lacking[0]}' has no {name} ({len(lacking)} lack it): fill it in, or "
                    "group by something that everybody has"
                )
        label = pl.concat_str(columns, separator=", ") if columns else pl.lit(EVERYBODY)
        # A literal has one row, people have many.
        each = each.with_columns(label.alias("person")).select("person", *columns)
        count = pl.len().cast(pl.Int64).alias("people")
        people = each.group_by("person", *columns).agg(count).sort("person")
        if people["person"].n_unique() < len(people):
            raise InputError(f"two groups by {self.by} have the same name: rename a value")
        alone = people.filter(pl.col("people") < _FEWEST_PEOPLE)["person"].to_list()
        if columns and alone:
            raise InputError(
                f"the group '{alone[0]}' by {self.by} is one person ({len(alone)} such groups), "
                "and a mean over one is their own record: group by something coarser, such as "
                "decades of age"
            )
        member = each["person"].replace_strict(people["person"], np.arange(len(people)))
        return Groups(people, member.to_numpy().astype(np.intp))

    def integers(self, values: Values, shape: Shape) -> Integers:
        """Of everybody, people first: what each adds to the sum."""
        return self.core.query(values, shape)

    def sums(self, table: FeatureTable, groups: Groups, shape: Shape) -> Integers:
        """The exact sums over the people of each group. Nothing of this may be shown."""
        self._check_room(shape)
        bounds = Bounds({f.name: (f.lower, f.upper) for f in table.features})
        lowers, spans = bounds.lowers(), bounds.spans()
        totals: Integers | None = None
        first = 0
        for values in everybody(table, shape):
            each = self.integers((values - lowers) / spans, shape)
            if totals is None:
                totals = np.zeros((len(groups.people), *each.shape[1:]), dtype=np.int64)
            np.add.at(totals, groups.member[first : first + len(each)], each)
            first += len(each)
        assert totals is not None, "a table has people"
        return totals

    def divided(self, totals: Integers, sizes: NDArray[np.int64], shape: Shape) -> Values:
        """Values of means, in spans above the lower bound, from noisy sums."""
        means = totals * self.step(shape) / sizes[:, None, None, None]
        values = np.empty((len(means), shape.recordings, shape.length, shape.features))
        for size in np.unique(sizes):
            same = sizes == size
            values[same] = self.core_for(int(size)).rebuild(means[same], shape)
        return values

    def perturb(self, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
        """The sums with the noise of the mechanism inside, one draw a group."""
        return self.core.perturb(integers, shape, noise)

    def perturbed(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """One person a group: its noisy means, one recording for each that somebody has."""
        shape, groups = self.shape(table), self.groups(table)
        noisy = self.perturb(self.sums(table, groups, shape), shape, noise)
        return self._table(table, groups, noisy, shape)

    def exact(self, table: FeatureTable) -> FeatureTable:
        """What would be released if no noise were added: for checks, never to be shown."""
        shape, groups = self.shape(table), self.groups(table)
        totals = self.sums(table, groups, shape)
        return self.present(self._table(table, groups, totals, shape))

    def _table(
        self, table: FeatureTable, groups: Groups, totals: Integers, shape: Shape
    ) -> FeatureTable:
        """The means behind sums, one person a group."""
        bounds = Bounds({f.name: (f.lower, f.upper) for f in table.features})
        means = self.divided(totals, groups.sizes, shape) * bounds.spans() + bounds.lowers()
        keys = groups.people.select("person").join(slots_of(table).names, how="cross")
        data = frame(keys, means.reshape(-1, *means.shape[2:]), table)
        return replace(table, data=data, people=groups.people)

    def present(self, private: FeatureTable) -> FeatureTable:
        """What the mechanism inside shows, clipped to the features' bounds."""
        shown = self.core.present(private)
        if not self.clipped:
            return shown
        inside = [pl.col(f.name).clip(f.lower, f.upper) for f in shown.features]
        return replace(shown, data=shown.data.with_columns(inside))

    def expected_rmse_of_span(self, shape: Shape) -> float:
        """That of the mechanism inside over the people of the smallest group, before clipping."""
        core = self.core_for(self._smallest(shape))
        return self._of_mean(core.expected_rmse_of_span(shape), shape)

    def expected_mean_rmse_of_span(self, shape: Shape) -> float:
        """The same of a recording's mean over its rows."""
        core = self.core_for(self._smallest(shape))
        return self._of_mean(core.expected_mean_rmse_of_span(shape), shape)

    def _of_mean(self, error: float, shape: Shape) -> float:
        """The error of a mean from that of one person: it divides the noise, and not the bias."""
        if self._averages:
            return error
        return self.core.error_in_mean(error, self._smallest(shape), shape)

    def cut_off(self, shape: Shape) -> str:
        """What the mechanism inside cuts off."""
        return self.core.cut_off(shape)

    def person_total(self, shape: Shape) -> str:
        """As for the mechanism inside: a person is in one sum only."""
        return f"{self.core.person_total(shape)}, in the mean of one group only"

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        self._check_room(shape)
        core = self.core_for(self._smallest(shape))
        return f"{core.sampler(shape)}, once on the sum over the people of a group"

    def _check_room(self, shape: Shape) -> None:
        """Refuse what could not be added up, whatever the data are."""
        nothing = np.zeros((shape.recordings, shape.length, shape.features))
        # Anybody's integers are no farther from those of nothing than the sensitivity.
        most = float(np.abs(self.core.query(nothing, shape)).max())
        most += self.sensitivity(shape, PERSON)
        if most * shape.people + 64 * math.sqrt(self.noise(shape).variance) > _MOST_STEPS:
            raise InputError(
                f"{shape.people} people at epsilon {self.epsilon:g} add up to more than there are "
                "numbers for: choose a smaller ε"
            )

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the means show besides; names and who has which recordings are not among it."""
        shape, groups = self.shape(table), self.groups(table)
        often = slots_of(table).names.group_by("task", maintain_order=True).len()
        tasks = ", ".join(f"{task or 'no task'} {count}" for task, count in often.rows())
        # Of what the mechanism inside lists, people's own recordings and names are not shown here.
        _, _, length, _, *more = self.core.unprotected(table)
        shown = [
            f"the number of people ({shape.people}) and that each of them took part",
            f"the tasks, and the most recordings that somebody has of each ({tasks})",
            length,
        ]
        if self.by:
            counts = groups.people.select("person", "people").rows()
            sizes = ", ".join(f"{name}: {count}" for name, count in counts)
            shown.append(f"who is in which group by {self.by}, and how many are ({sizes})")
        if self.unit != PERSON:
            shown.append(
                "which recordings each person has: with one less, later ones of the task take its "
                f"place, which moves more than one {self.unit}"
            )
        return shown + more

    def within(self, shape: Shape, unit: Unit) -> tuple[slice, slice, slice]:
        """As for the mechanism inside."""
        return self.core.within(shape, unit)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Those of the mechanism inside, for one person among others who stay the same."""
        for pair in self.core.neighbour_pairs(unit):
            yield replace(pair, shape=replace(pair.shape, people=1 + len(_OTHERS)))

    def query(self, values: Values, shape: Shape) -> Integers:
        """The sum over somebody with these values and the others of a game."""
        return self.total(with_others(values), shape)

    def total(self, values: Values, shape: Shape) -> Integers:
        """The sum over people (…, people, recordings, rows, features)."""
        summed: Integers = self.integers(values, shape).sum(axis=-4)
        return summed

    def measured(self, values: Values, shape: Shape) -> Values:
        """The noisy sums behind released means of a game."""
        size = 1 + len(_OTHERS)
        return self.core_for(size).measured(values, shape) * size

    def play(self, values: Values, shape: Shape, runs: int, noise: Randomness) -> Values:
        """Each run is a group of one person with these data and others who stay the same."""
        features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(shape.features)]
        everybody = np.broadcast_to(with_others(values), (runs, 1 + len(_OTHERS), *values.shape))
        table = table_from_arrays(everybody.reshape(-1, *values.shape), features)
        run = pl.Series(_DATASET, np.arange(len(table.people)) // (1 + len(_OTHERS)))
        table = replace(
            table,
            people=table.people.with_columns(run),
            window_ms=shape.window * (table.step_ms or 1.0),
        )
        released = replace(self, by=_DATASET).perturbed(table, noise)
        outputs: Values = released.data.select(released.names).to_numpy().reshape(runs, -1)
        return outputs


def with_others(values: Values) -> Values:
    """Somebody's values and those of the others in a game: (…, people, recordings, rows, features).

    >>> with_others(np.ones((1, 1, 1)))[:, 0, 0, 0].tolist()
    [1.0, 0.25, nan]
    """
    others = [np.full_like(values, fixed) for fixed in _OTHERS]
    return np.stack([values, *others], axis=-4)


@dataclass(frozen=True, eq=False)
class Slots:
    """Every recording that anybody has, side by side over people.

    Attributes:
        names: one row a slot: ``recording`` (its number), ``task`` and ``stimulus`` (none).
        slot: of each recording of the table, which slot.
        owner: whose it is, from 0.
    """

    names: pl.DataFrame
    slot: NDArray[np.intp]
    owner: NDArray[np.intp]


def slots_of(table: FeatureTable) -> Slots:
    """Recordings by task, in the order of its name, and by their order within the task."""
    recordings = table.recordings
    owner = np.cumsum((recordings["person"] != recordings["person"].shift()).fill_null(True)) - 1
    tasks = np.full(len(owner), "")
    if "task" in recordings.columns:
        tasks = recordings["task"].cast(pl.String).fill_null("").to_numpy().astype(str)
    names, task = np.unique(tasks, return_inverse=True)
    whose = owner * len(names) + task
    sorted_ = np.argsort(whose, kind="stable")
    mine = whose[sorted_]
    order = np.empty(len(owner), dtype=np.intp)
    order[sorted_] = np.arange(len(owner)) - np.searchsorted(mine, mine)
    often = np.zeros(len(names), dtype=np.intp)
    np.maximum.at(often, task, order + 1)
    found = pl.DataFrame(
        {
            "recording": np.arange(1, often.sum() + 1).astype(str),
            "task": np.repeat(names, often),
            # What people looked at need not be the same.
            "stimulus": np.full(often.sum(), ""),
        }
    )
    return Slots(found, (np.cumsum(often) - often)[task] + order, owner)


def everybody(table: FeatureTable, shape: Shape) -> Iterator[Values]:
    """Blocks of whole people × recordings × rows × features, cut at the length; NaN for nothing."""
    rows, slots = table.recordings["rows"].to_numpy(), slots_of(table)
    start = np.zeros((shape.people, shape.recordings), dtype=np.int64)
    count = np.zeros_like(start)
    where = (slots.owner, slots.slot)
    start[where], count[where] = np.cumsum(rows) - rows, rows
    size = max(1, _BLOCK_VALUES // (shape.recordings * shape.length * shape.features))
    row = np.arange(shape.length)
    for first in range(0, shape.people, size):
        begin, many = start[first : first + size, :, None], count[first : first + size, :, None]
        low, high = int(begin[many > 0].min()), int((begin + many).max())
        flat = table.data[low:high].select(pl.col(table.names).cast(pl.Float64)).to_numpy()
        there = row < many
        values = flat[np.where(there, begin - low + row, 0)]
        values[~there] = np.nan
        yield values


def _parsed(text: str) -> tuple[type[MeasuringMechanism], dict[str, str]]:
    """The mechanism inside, and its settings as text."""
    name, *pairs = text.split(":")
    kind = find(name)
    if not issubclass(kind, MeasuringMechanism) or kind.trust is not Trust.LOCAL:
        raise InputError(f"{kind.name} cannot be inside groupmean: choose dct, gaussian or laplace")
    if not kind.claims_to_hold:
        raise InputError(f"{kind.name} does not hold, and no mean of it would: choose another")
    settings = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator:
            raise InputError(f"inner is NAME:KEY=VALUE:…, got '{pair}' in '{text}'")
        if key in ("epsilon", "delta", "unit", "length", "averaged"):
            raise InputError(f"{key} is set for groupmean itself, not inside '{text}'")
        settings[key] = value
    return kind, settings


@functools.lru_cache(maxsize=64)
def _inside(
    text: str, epsilon: float, delta: float | None, unit: Unit, length: int | str
) -> MeasuringMechanism:
    kind, settings = _parsed(text)
    asked = {} if delta is None else {"delta": delta}
    if settings.get("k") == "private":
        raise InputError(
            "a private k is chosen for one person's own signals: inside groupmean set k to public "
            "or to a number"
        )
    made = mechanism(kind.name, epsilon=epsilon, unit=unit, length=length, **asked, **settings)
    assert isinstance(made, MeasuringMechanism)
    return made
