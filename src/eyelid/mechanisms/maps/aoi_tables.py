"""Tables of areas of interest over people: dwell, visits, transitions, order of first visits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import ELSEWHERE, Area
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import RELIABLE_ERRORS
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.visits import area_of, dwell_of, visits_of
from eyelid.mechanisms.differential import LAPLACE, Distribution, Integers, noise_of
from eyelid.mechanisms.maps.map_mechanism import with_others
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.unit import Unit

TABLES = ("dwell", "visits", "transitions", "order")
_FEWEST_PEOPLE = 2
# In games there is a person, and others who stay the same.
_IN_GAMES = with_others(np.zeros(1)).people
_FAR_TOO_MUCH = 1e9


@dataclass(frozen=True)
class AreaFacts(PublicFacts):
    """Public facts of tables: ``recordings`` are layers, ``length`` is the cells of one layer.

    Attributes:
        areas: how many areas of interest there are.
    """

    areas: int = 1


@dataclass(frozen=True)
class Limits:
    """What a person can be in one table.

    Attributes:
        table: its name.
        cells: of one layer.
        most: in one cell.
        total: in all cells of all layers.
        reach: Δ₁, how far one person can move the sum over people.
    """

    table: str
    cells: int
    most: int
    total: int
    reach: int


@register
@dataclass(frozen=True)
class AoiTables(NoisySum):
    """Mean tables of areas of interest over people, under Laplace noise."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Mean tables of areas of interest over people, under Laplace noise.",
        takes="""everybody's gaze points as up to four tables for each layer (a picture, or a
        stretch of time). ``dwell``: the share of a person's gaze points in each area and elsewhere.
        ``visits``: how often each area was visited. ``transitions``: from one visit to the next.
        ``order``: whether an area was the 1st, 2nd, … to be visited. Of a person the first V visits
        to each layer count. Whatever comes in is limited again: nothing negative, in each table no
        cell above m and no sum above M, with (m, M) = (1, 1) for dwell, (V, V·L) for visits, (V −
        1, (V − 1)·L)
        for transitions and (1, min(K, V)·L) for the order of K ranks in L layers.""",
        protects="""a person, replace-one, pure ε; trust is central. N, the areas, V, K, which
        tables, and the layers' names are public.""",
        why="""two people's tables a, b have no negative parts, so that ‖a − b‖₁ ≤ ‖a‖₁ + ‖b‖₁ ≤ 2M,
        and |a − b| ≤ m in each cell: one person moves the sum by at most Δ₁ = min(2M, m·cells).
        Tables that share no cell reach it. Each of T tables, over its own Δ₁, moves by at most 1,
        all together by at most T. Discrete Laplace noise of scale T/ε in these units, Δ₁·T/ε in a
        table's own, is ε/T for each table and exactly ε for all, on integers that were cut towards
        zero and summed exactly. Clipping, and dividing dwell by its sum, know the noisy cells
        alone. People can differ in few cells by much, Δ₂ = Δ₁/√2, so that from ε = 0.5 on Laplace
        noise is smaller than Gaussian noise at δ = 1e-6 for up to four such tables; an order of
        many ranks in many tables would do better with Gaussian noise, and gets pure ε instead.""",
        paper="""Liu et al. 2019 would use a Gaussian whose proof fails, and whose δ may be broken
        for tables of few cells; Laplace noise with the sensitivity of whole tables is ours.""",
    )
    name: ClassVar[str] = "aoi-tables"
    distribution: ClassVar[Distribution] = LAPLACE
    delta: ClassVar[None] = None  # type: ignore[misc]
    family: ClassVar[str] = "tables"
    takes: ClassVar[str] = "areas of interest"
    command: ClassVar[str] = "heatmap"
    release: ClassVar[ReleaseKind] = ReleaseKind.TABLES
    paper: ClassVar[str] = (
        "Dwork, McSherry, Nissim & Smith (2006); Liu, Xia, Duchowski, Bailey, Holmqvist & Jain "
        "(2019), Differential privacy for eye-tracking data (small maps)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 1.0, "tables": "visits", "visits": 3},
        {"epsilon": 1.0, "tables": "dwell"},
        {"epsilon": 4.0, "tables": ",".join(TABLES), "visits": 3},
    )

    tables: str = parameter(f"which tables, of {', '.join(TABLES)}", default=",".join(TABLES))
    visits: int = parameter("V, a person's first visits to each picture that count", default=6)
    ranks: int = parameter("K, how many first visits the order tells", default=3)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.names:
            if name not in TABLES:
                raise unknown("table", name, TABLES)
        if len(set(self.names)) < len(self.names):
            raise InputError(f"each table can be asked for once, got tables={self.tables}")
        fewest = 2 if "transitions" in self.names else 1
        if self.visits < fewest:
            raise InputError(
                f"visits must be at least {fewest}{' for transitions' * (fewest > 1)}, "
                f"got {self.visits}"
            )
        if self.ranks < 1:
            raise InputError(f"ranks must be at least 1, got {self.ranks}")

    @property
    def names(self) -> tuple[str, ...]:
        """The tables asked for, in order."""
        return tuple(name.strip() for name in self.tables.split(","))

    def facts_of(self, people: int, layers: int, areas: int) -> AreaFacts:
        """The public facts: everybody who may have looked, pictures or stretches, areas."""
        if people < _FEWEST_PEOPLE:
            raise InputError(
                f"a table of {people} person is that person's own: there must be at least "
                f"{_FEWEST_PEOPLE} people"
            )
        return self._shape(people, layers, areas)

    def _shape(self, people: int, layers: int, areas: int) -> AreaFacts:
        length = sum(each.cells for each in self.limits_of(layers, areas))
        return AreaFacts(people, layers, length, 1, window=1, areas=areas)

    def limits(self, facts: AreaFacts) -> list[Limits]:
        """What a person can be in each table."""
        return self.limits_of(facts.recordings, facts.areas)

    def limits_of(self, layers: int, areas: int) -> list[Limits]:
        """The limits of each table, from so many layers and areas."""
        ranks = self.ranks_of(areas)
        known = {
            "dwell": (areas + 1, 1, 1),
            "visits": (areas, self.visits, self.visits * layers),
            "transitions": (areas**2, self.visits - 1, (self.visits - 1) * layers),
            "order": (areas * ranks, 1, min(ranks, self.visits) * layers),
        }
        found = []
        for name in self.names:
            cells, most, total = known[name]
            reach = min(2 * total, most * cells * layers)
            found.append(Limits(name, cells, most, total, reach))
        return found

    def ranks_of(self, areas: int) -> int:
        """No more ranks than there are areas."""
        return min(self.ranks, areas)

    def tables_of(self, points: GazePoints, areas: Sequence[Area]) -> PersonCounts:
        """Everybody's own tables, one after the other in each layer; not private."""
        area = area_of(points, areas)
        visits = visits_of(points, area, len(areas)).first(self.visits)
        makers: dict[str, Callable[[], PersonCounts]] = {
            "dwell": lambda: dwell_of(points, area, len(areas)),
            "visits": visits.counts,
            "transitions": visits.transitions,
            "order": lambda: visits.order(self.ranks_of(len(areas))),
        }
        parts = [makers[name]() for name in self.names]
        layers = len(points.layers)
        each = [part.cells // layers for part in parts]
        starts, length = np.cumsum([0, *each[:-1]]), sum(each)
        cell = [
            part.cell // own * length + part.cell % own + start
            for part, own, start in zip(parts, each, starts, strict=True)
        ]
        person, count = (
            np.concatenate([getattr(p, n) for p in parts]) for n in ("person", "count")
        )
        return PersonCounts.added_up(
            len(points.people), layers * length, person, np.concatenate(cell), count
        )

    def limited(self, counts: PersonCounts, facts: AreaFacts) -> Values:
        """Each entry within its table's limits, as a share of the table's reach."""
        limits = self.limits(facts)
        table = np.repeat(np.arange(len(limits)), [each.cells for each in limits])
        of_entry = table[counts.cell % facts.length]
        most, total, reach = (
            np.array([getattr(each, name) for each in limits], dtype=np.float64)[of_entry]
            for name in ("most", "total", "reach")
        )
        capped = np.minimum(counts.count, most)
        whose = counts.person * len(limits) + of_entry
        sums = np.bincount(whose, weights=capped, minlength=1)[whose]
        return np.asarray(capped * np.minimum(1.0, total / np.maximum(sums, total)) / reach)

    def reach(self, facts: AreaFacts) -> float:
        """T: each table moves by at most its own reach."""
        return float(len(self.names))

    def largest(self, facts: AreaFacts) -> float:
        """All of what a person may have in the table where that is most."""
        return max(each.most / each.reach for each in self.limits(facts))

    def _step_of_mean(self, facts: AreaFacts) -> Values:
        """One step on the sum, in the unit of each cell (layers × cells) of the mean."""
        reach = np.concatenate([np.full(e.cells, float(e.reach)) for e in self.limits(facts)])
        return np.tile(reach * (self.step(facts) / facts.people), facts.recordings)

    def divided(self, noisy: Integers, facts: AreaFacts) -> Values:
        """Noisy sums in steps (…, all cells) as means over people (…, layers, cells)."""
        means = noisy * self._step_of_mean(facts)
        return np.asarray(means.reshape(*noisy.shape[:-1], facts.recordings, facts.length))

    def undivided(self, means: Values, facts: AreaFacts) -> Values:
        """The sums in steps again (…, all cells)."""
        return np.asarray(means / self._step_of_mean(facts))

    def cell_sd(self, facts: AreaFacts) -> Values:
        """Standard deviation of the noise in each cell of the mean (layers, cells)."""
        distribution = noise_of(self, facts)
        found = math.sqrt(distribution.variance) * self._step_of_mean(facts)
        return np.asarray(found.reshape(facts.recordings, facts.length))

    def presented(
        self, measured: Values, facts: AreaFacts, layers: Sequence[str], areas: Sequence[str]
    ) -> pl.DataFrame:
        """The measured means as a table for people, one row a cell.

        Args:
            measured: layers × cells.
            facts: the public facts.
            layers: names of the pictures or stretches of time.
            areas: names of the areas.

        Returns:
            ``table``, ``layer``, ``area``, ``to_area`` (of transitions), ``rank`` (of the order),
            ``value`` (the mean over people, between 0 and the most that a person can have; dwell
            divided by its sum, and 0 everywhere if nothing is left of it), ``standard_error`` (of
            the noise in ``measured``), ``measured`` (as it was: unbiased, and it may be negative),
            ``lower`` and ``upper`` (two standard errors to both sides of it, within 0 and the most
            that a person can have: there the mean without noise lies in 94 of 100 draws).
        """
        where = self._cells(layers, areas)
        limits = self.limits(facts)
        most = np.concatenate([np.full(each.cells, float(each.most)) for each in limits])
        value = np.clip(measured, 0.0, most)
        reach = RELIABLE_ERRORS * self.cell_sd(facts)
        if "dwell" in self.names:
            start = sum(e.cells for e in limits[: self.names.index("dwell")])
            shares = value[:, start : start + facts.areas + 1]
            shares /= shares.sum() or 1.0
        found = where.with_columns(
            value=pl.Series(value.ravel()),
            standard_error=pl.Series(self.cell_sd(facts).ravel()),
            measured=pl.Series(measured.ravel()),
            lower=pl.Series(np.clip(measured - reach, 0.0, most).ravel()),
            upper=pl.Series(np.clip(measured + reach, 0.0, most).ravel()),
        )
        # Table by table reads better than layer by layer.
        return pl.concat([found.filter(pl.col("table") == name) for name in self.names])

    def _cells(self, layers: Sequence[str], areas: Sequence[str]) -> pl.DataFrame:
        """What each cell is about, in the order of the vector."""
        ranks = range(1, self.ranks_of(len(areas)) + 1)
        of_table: dict[str, list[tuple[str, str | None, int | None]]] = {
            "dwell": [(area, None, None) for area in (*areas, ELSEWHERE)],
            "visits": [(area, None, None) for area in areas],
            "transitions": [(area, to, None) for area in areas for to in areas],
            "order": [(area, None, rank) for area in areas for rank in ranks],
        }
        rows = [
            (name, layer, *c) for layer in layers for name in self.names for c in of_table[name]
        ]
        schema = {
            "table": pl.String,
            "layer": pl.String,
            "area": pl.String,
            "to_area": pl.String,
            "rank": pl.Int64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def person_total(self, facts: PublicFacts) -> str:
        """Calibrated to the person."""
        tables = f"{len(self.names)} table{'s' * (len(self.names) > 1)}"
        layers = f"{facts.recordings} layer{'s' * (facts.recordings > 1)}"
        return f"calibrated to the person: {tables} over {layers}, ε/{len(self.names)} for each"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        assert isinstance(facts, AreaFacts)
        starts = np.cumsum([0, *(each.cells for each in self.limits(facts)[:-1])])
        spread = self.cell_sd(facts)[0, starts]
        each = ", ".join(f"{sd:.4g} ({n})" for n, sd in zip(self.names, spread, strict=True))
        distribution = noise_of(self, facts)
        return (
            f"{distribution.label} of standard deviation {each} in each cell of the mean over "
            f"people ({distribution.scale} grid steps on the sum)"
        )

    def unprotected(self, facts: AreaFacts) -> list[str]:
        """What of the output is outside the guarantee, in words."""
        return [
            f"the number of people ({facts.people}) and that each of them took part",
            f"the names and places of the {facts.areas} areas of interest",
            f"the names and order of the {facts.recordings} pictures or stretches of time"
            if facts.recordings > 1
            else "the picture, and that it was shown to these people",
        ]

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Few layers and areas, sometimes one."""
        layers, areas = (int(count) for count in rng.integers(1, 5, size=2))
        return self._shape(1, layers, areas)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person who went as far as the limits go against a person who went elsewhere."""
        for layers, areas in ((1, 1), (2, 2)):
            facts = self._shape(_IN_GAMES, layers, areas)
            one, other = self._farthest(facts)
            words = f"{areas} area{'s' * (areas > 1)}, {layers} layer{'s' * (layers > 1)}"
            yield NeighbourPair(f"as far apart as can be: {words}", facts, unit, one, other)
            yield NeighbourPair(
                f"far too often: {words}", facts, unit, _FAR_TOO_MUCH * one, _FAR_TOO_MUCH * other
            )
        everywhere = np.full_like(one, _FAR_TOO_MUCH)
        nowhere = np.full_like(one, np.nan)
        yield NeighbourPair("everywhere against nowhere", facts, unit, everywhere, nowhere)

    def _farthest(self, facts: AreaFacts) -> tuple[Values, Values]:
        """Two people's tables, of layers × cells × 1, whose distance is the reach of each table."""
        one, other = np.zeros((2, facts.recordings, facts.length))
        start = 0
        for each in self.limits(facts):
            cells = facts.recordings * each.cells
            full = each.total // each.most
            here = np.zeros(cells)
            here[:full] = each.most
            there = np.zeros(cells)
            there[max(full, cells - full) :] = each.most
            own = slice(start, start + each.cells)
            one[:, own], other[:, own] = (v.reshape(-1, each.cells) for v in (here, there))
            start = own.stop
        return one[..., None], other[..., None]
