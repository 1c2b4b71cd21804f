"""Release two neighbouring studies, and see whether their folders tell them apart.

Where noise is added to whole numbers, both get the same random words and no data: what differs then
is no noise. Where groups are drawn, their sizes must not show who is in them.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.engine.engines import using
from eyelid.engine.progress import shown as bars
from eyelid.errors import EyelidError
from eyelid.gaze.table import FeatureTable
from eyelid.io import pieces
from eyelid.mechanisms.differential import Integers, NoisyMechanism
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.statistics.parts import Part
from eyelid.mechanisms.statistics.summary import Summary
from eyelid.privacy.noise import Randomness, SystemRandomness
from eyelid.privacy.noise.randomness import Words
from eyelid.releases.consistency.cases import Case
from eyelid.releases.consistency.folder import REFUSED, Shown, apart, shown_by
from eyelid.releases.consistency.raw_files import as_read
from eyelid.releases.consistency.studies import ASIDE, OTHER, REPLACEMENTS, Replacement, SmallStudy

_MOST_PLACES = 8
DRAWS = 300
"""Partitions that are drawn of a study."""
# How seldom a fair partition may be called unfair.
_CHANCE = 1e-8
_SEED = 20_261
# Words of this block alone: a release in another thread has the system's.
_own: ContextVar[np.random.Generator | None] = ContextVar("coupled", default=None)
_one_at_a_time = threading.RLock()
# Methods that take whole numbers of people's data, public facts and randomness.
_MEETS_CHANCE = {"perturb", "choose", "settled_by"}


@dataclass(frozen=True)
class Difference:
    """Something that tells two neighbouring studies apart.

    Attributes:
        neighbours: how the studies differ.
        what: where the folders do, and how.
    """

    neighbours: str
    what: str


@dataclass(frozen=True)
class FolderResult:
    """What the folders of neighbouring studies show.

    Attributes:
        mechanism: its name.
        settings: in which it differs from a command without any.
        holds: whether a guarantee is claimed.
        pairs: how many neighbours were compared.
        differs: what tells them apart and may not.
    """

    mechanism: str
    settings: str
    holds: bool
    pairs: int
    differs: tuple[Difference, ...]

    @property
    def same(self) -> bool:
        """Whether nothing tells them apart."""
        return not self.differs

    @property
    def refuted(self) -> bool:
        """Whether a guarantee that is claimed is not valid."""
        return self.holds and not self.same


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A neighbouring study, and how it is compared.

    Attributes:
        name: how it differs.
        study: the study.
        coupled: whether both get the same noise and no data.
    """

    name: str
    study: SmallStudy
    coupled: bool


def compare_folders(case: Case, replacements: Sequence[Replacement] = REPLACEMENTS) -> FolderResult:
    """Release a study and its neighbours in one way, and compare the folders.

    Args:
        case: how it is released.
        replacements: what a participant's data are replaced by.
    """
    base = base_of(case)
    neighbours = list(neighbours_of(case, base, replacements))
    by_neighbour: dict[str, list[str]] = {}
    for each in differences(case, base, neighbours):
        by_neighbour.setdefault(each.neighbours, []).append(each.what)
    found = [Difference(by, what) for by, places in by_neighbour.items() for what in _some(places)]
    name, settings = case.mechanism.name, case.settings
    return FolderResult(name, settings, case.valid, len(neighbours), tuple(found))


def base_of(case: Case) -> SmallStudy:
    """The study whose neighbours are compared with it."""
    return case.study().varied() if case.exchanges else case.study()


def neighbours_of(
    case: Case, base: SmallStudy, replacements: Sequence[Replacement]
) -> Iterator[Neighbour]:
    """Neighbours of the form that the mechanism declares.

    Args:
        case: how they are released.
        base: the study.
        replacements: what a participant's data are replaced by.
    """
    if case.exchanges:
        yield from _exchanges(case, base)
        return
    form = case.mechanism.may_differ

    def replaced(way: Replacement, name: str, *, alike: bool) -> Neighbour:
        return Neighbour(name, base.with_other(way.of(base.replaced, form, base)), alike)

    if not case.valid:
        # Of what promises nothing, one is enough to tell.
        yield replaced(OTHER, OTHER.name, alike=False)
        return
    for way in replacements:
        yield replaced(way, way.name, alike=case.coupled)
    if case.coupled:
        # Once as everybody releases.
        yield replaced(OTHER, f"{OTHER.name}, fresh noise", alike=False)
    else:
        yield replaced(ASIDE, ASIDE.name, alike=True)


def _exchanges(case: Case, base: SmallStudy) -> Iterator[Neighbour]:
    """Two members of one group with each other's recordings: groups are drawn without them."""
    mechanism: Any = case.mechanism
    if not mechanism.drawn:
        yield Neighbour("two participants exchanged", base.exchanged(0, 1), True)
        return
    with coupled():
        of = FeatureTable.of(base.study()) if mechanism.release.of_features else None
        whom: Any = len(base.participants) if of is None else of
        member = mechanism.partition(whom, SystemRandomness())
    for group in range(int(member.max()) + 1):
        one, *_, other = np.flatnonzero(member == group).tolist()
        exchanged = base.exchanged(one, other)
        yield Neighbour(f"two members of group {group + 1} exchanged", exchanged, True)


def differences(case: Case, base: SmallStudy, neighbours: Sequence[Neighbour]) -> list[Difference]:
    """Everything that tells the neighbours of a study apart, and may not.

    Args:
        case: how all of them are released.
        base: the study.
        neighbours: of it.
    """
    name, found = case.mechanism.name, list[Difference]()
    with tempfile.TemporaryDirectory(prefix="eyelid-") as home, bars(False), using("local", 1):
        known = {
            way: _shown(case, base, Path(home) / f"study-{way}", alike=way)
            for way in sorted({each.coupled for each in neighbours})
        }
        for folder in known.values():
            if REFUSED in folder:
                return [Difference("none: there is no folder", f"{REFUSED}: {folder[REFUSED]}")]
        for number, each in enumerate(neighbours):
            shown = _shown(case, each.study, Path(home) / str(number), alike=each.coupled)
            places = apart(known[each.coupled], shown, name, coupled=each.coupled)
            found += [Difference(each.name, what) for what in places]
    unfair = unfair_seats(case.mechanism, base)
    return [*found, *(Difference(f"groups drawn {DRAWS} times", what) for what in unfair)]


def _shown(case: Case, study: SmallStudy, home: Path, *, alike: bool) -> Shown:
    """What the folder of a study shows, or why there is none."""
    source, place = home / "source", home / "place"
    source.mkdir(parents=True)
    place.mkdir()
    case.written(study.study(), source / "study")
    with small_pieces(study.pieces), coupled() if alike else nullcontext():
        try:
            said = case.released(source / "study", place / "release")
            if case.raw:
                said |= dict(as_read(source / "study", study.replaced.name))
        except EyelidError as error:
            return {REFUSED: f"{error.exit_code}, {error}".replace(str(home), "")}
    return shown_by(place / "release") | said


def _some(places: Sequence[str]) -> list[str]:
    """The first ones, and how many more there are."""
    more = len(places) - _MOST_PLACES
    return [*places[:_MOST_PLACES], *([f"and {more} more places"] if more > 0 else [])]


# Who is in larger groups.


def unfair_seats(mechanism: Any, study: SmallStudy) -> Iterator[str]:
    """Participants who are in the larger groups more or less often than others, in words.

    The sizes of groups are public, so they must not tell who is in which: where a participant with
    a rare attribute always has a seat in a larger group, its size shows them.

    Args:
        mechanism: that draws groups; of any other there is nothing to say.
        study: whose participants are dealt out.
    """
    if not (mechanism.release.of_features and mechanism.drawn):
        return
    from scipy.stats import binomtest

    table, noise = FeatureTable.of(study.study()), SystemRandomness()
    larger = np.zeros(len(study.participants), dtype=np.int64)
    for _ in range(DRAWS):
        found = mechanism.partition(table, noise)
        member = found.member if isinstance(found, Groups) else found
        sizes = np.bincount(member)
        larger += sizes[member] > sizes.min()
    expected = float(larger.mean()) / DRAWS
    for participant, often in zip(study.participants, larger.tolist(), strict=True):
        if binomtest(often, DRAWS, expected).pvalue < _CHANCE:
            about = ", ".join(f"{key} {value}" for key, value in participant.attributes.items())
            yield (
                f"people.csv: a participant ({about}) is in one of the larger groups "
                f"{often / DRAWS:.0%} of the times, others {expected:.0%}"
            )


# The same noise, and no data.


@contextmanager
def coupled() -> Iterator[None]:
    """Give everything that is released inside the same random words, and noise without data.

    Wherever whole numbers of people's data meet noise, or a private choice, zeros take their place,
    so that what is released depends on public facts and these words alone. Only what runs in this
    context is touched: a release in another thread keeps its noise.
    """
    with _one_at_a_time, ExitStack() as stack:
        for kind in _and_below(NoisyMechanism):
            for name in _MEETS_CHANCE & vars(kind).keys():
                _replace(stack, kind, name, _without_data)
        _replace(stack, Summary, "perturb", _part_without_data)
        _replace(stack, SystemRandomness, "words", _repeated)
        token = _own.set(np.random.default_rng(_SEED))
        stack.callback(_own.reset, token)
        yield


@contextmanager
def small_pieces(values: int) -> Iterator[None]:
    """Have studies cut into pieces of so many values, as if they were large.

    Args:
        values: in the place of `eyelid.io.pieces.PIECE_VALUES`.
    """
    with _one_at_a_time:
        before = pieces.PIECE_VALUES
        pieces.PIECE_VALUES = values
        try:
            yield
        finally:
            pieces.PIECE_VALUES = before


def _and_below(kind: type[Any]) -> Iterator[type[Any]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _and_below(each)


def _replace(stack: ExitStack, kind: type, name: str, by: Callable[[Any], Any]) -> None:
    true = vars(kind)[name]
    setattr(kind, name, by(true))
    stack.callback(setattr, kind, name, true)


def _without_data(true: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(true)
    def met(self: Mechanism, data: Integers, facts: PublicFacts, noise: Randomness) -> Any:
        return true(self, data if _own.get() is None else 0 * data, facts, noise)

    return met


def _part_without_data(true: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(true)
    def met(self: Summary, part: Part, query: Integers, noise: Randomness) -> Any:
        return true(self, part, query if _own.get() is None else 0 * query, noise)

    return met


def _repeated(true: Callable[..., Words]) -> Callable[..., Words]:
    @wraps(true)
    def words(self: SystemRandomness, count: int) -> Words:
        own = _own.get()
        if own is None:
            return true(self, count)
        return own.integers(0, 2**64, size=count, dtype=np.uint64)

    return words
