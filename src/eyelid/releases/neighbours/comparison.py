"""Release two neighbouring studies, and see whether their folders tell them apart."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eyelid.engine.engines import using
from eyelid.engine.progress import shown as bars
from eyelid.errors import EyelidError
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.mechanisms.ksame import KSame
from eyelid.mechanisms.ksame_dp import KSameDP
from eyelid.mechanisms.public_groups import Groups
from eyelid.privacy.noise import SystemRandomness
from eyelid.releases.neighbours.cases import Case
from eyelid.releases.neighbours.changes import allowed_changes
from eyelid.releases.neighbours.coupling import coupled, small_pieces
from eyelid.releases.neighbours.folder import REFUSED, Shown, apart, shown_by
from eyelid.releases.neighbours.studies import ASIDE, OTHER, REPLACEMENTS, Replacement, SmallStudy

_MOST_TOLD = 8
# Partitions that are drawn, and how seldom a fair one may be called unfair.
_DRAWS = 300
_CHANCE = 1e-8


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
class _Pair:
    """A neighbour, and how it is compared.

    Attributes:
        name: how it differs.
        other: the neighbouring study.
        coupled: whether both get the same noise and no data, and are cut into several pieces.
    """

    name: str
    other: SmallStudy
    coupled: bool


def compare_folders(case: Case, replacements: Sequence[Replacement] = REPLACEMENTS) -> FolderResult:
    """Release a study and its neighbours in one way, and compare the folders.

    Args:
        case: how it is released.
        replacements: what a participant's data are replaced by.
    """
    told: dict[str, list[str]] = {}
    for each in differences(case, replacements):
        told.setdefault(each.neighbours, []).append(each.what)
    found = [Difference(name, what) for name, places in told.items() for what in _some(places)]
    pairs = sum(1 for _ in _pairs(case, _base(case), replacements))
    return FolderResult(case.mechanism.name, case.settings, case.valid, pairs, tuple(found))


def differences(case: Case, replacements: Sequence[Replacement]) -> list[Difference]:
    """Everything that tells the neighbours of a study apart, and may not.

    Args:
        case: how it is released.
        replacements: what a participant's data are replaced by.
    """
    base, name = _base(case), case.mechanism.name
    pairs = list(_pairs(case, base, replacements))
    found: list[Difference] = []
    with tempfile.TemporaryDirectory(prefix="eyelid-") as home, bars(False), using("local", 1):
        folder = Path(home)
        known = {
            way: _shown(case, base, folder / f"base-{way}", way)
            for way in sorted({pair.coupled for pair in pairs})
        }
        for told in known.values():
            if REFUSED in told:
                return [Difference("none: there is no folder", f"{REFUSED}: {told[REFUSED]}")]
        for number, pair in enumerate(pairs):
            told = _shown(case, pair.other, folder / str(number), pair.coupled)
            places = apart(known[pair.coupled], told, name, coupled=pair.coupled)
            found += [Difference(pair.name, what) for what in places]
    return [*found, *_unfair_seats(case, base)]


def _base(case: Case) -> SmallStudy:
    return case.study().varied() if case.exchanges else case.study()


def _some(places: Sequence[str]) -> list[str]:
    """The first ones, and how many more there are."""
    more = len(places) - _MOST_TOLD
    return [*places[:_MOST_TOLD], *([f"and {more} more places"] if more > 0 else [])]


def _pairs(case: Case, base: SmallStudy, replacements: Sequence[Replacement]) -> Iterator[_Pair]:
    """All neighbours; what depends on chance and data together is released with fresh noise."""
    if case.exchanges:
        yield from _exchanges(case, base)
        return
    changes = allowed_changes(case.mechanism)

    def pair(way: Replacement, name: str, *, alike: bool) -> _Pair:
        return _Pair(name, base.with_other(way.of(base.replaced, changes, base)), alike)

    if not case.valid:
        # Of what promises nothing, one is enough to tell.
        yield pair(OTHER, OTHER.name, alike=False)
        return
    for way in replacements:
        yield pair(way, way.name, alike=case.coupled)
    if case.coupled:
        yield pair(OTHER, f"{OTHER.name}, fresh noise", alike=False)
    else:
        yield pair(ASIDE, ASIDE.name, alike=True)


def _exchanges(case: Case, base: SmallStudy) -> Iterator[_Pair]:
    """Two members of one group with each other's recordings: groups are drawn without them."""
    law = case.mechanism
    if not isinstance(law, KSame):
        yield _Pair("two participants exchanged", base.exchanged(0, 1), True)
        return
    with coupled():
        member = law.partition(FeatureTable.of(base.study()), SystemRandomness())
    for group in range(int(member.max()) + 1):
        one, *_, other = np.flatnonzero(member == group).tolist()
        yield _Pair(f"two members of group {group + 1} exchanged", base.exchanged(one, other), True)


def _unfair_seats(case: Case, base: SmallStudy) -> Iterator[Difference]:
    """Participants who are in the larger groups more or less often than others are.

    The sizes of groups are public, and so must not tell who is in them: where somebody with a rare
    attribute always has a seat in a larger group, the size shows them.
    """
    law = case.mechanism
    if not isinstance(law, KSame | KSameDP):
        return
    from scipy.stats import binomtest

    table, noise = FeatureTable.of(base.study()), SystemRandomness()
    people = len(base.participants)
    larger = np.zeros(people, dtype=np.int64)
    for _ in range(_DRAWS):
        found = law.partition(table, noise)
        member = found.member if isinstance(found, Groups) else found
        sizes = np.bincount(member)
        larger += sizes[member] > sizes.min()
    expected = larger.sum() / larger.size / _DRAWS
    for place, often in enumerate(larger.tolist()):
        if binomtest(often, _DRAWS, expected).pvalue < _CHANCE:
            told = ", ".join(f"{k} {v}" for k, v in base.participants[place].attributes.items())
            yield Difference(
                f"groups drawn {_DRAWS} times",
                f"people.csv: a participant ({told}) is in one of the larger groups "
                f"{often / _DRAWS:.0%} of the times, others {expected:.0%}",
            )


def _shown(case: Case, study: SmallStudy, home: Path, way: bool) -> Shown:
    """What the folder of a study shows, or why there is none."""
    source, place = home / "source", home / "place"
    source.mkdir(parents=True)
    place.mkdir()
    study_folder.write(study.study(), source / "study")
    with ExitStack() as stack:
        if way:
            stack.enter_context(small_pieces(study.pieces))
            stack.enter_context(coupled())
        try:
            said = case.released(source / "study", place / "release")
        except EyelidError as error:
            return {REFUSED: f"{error.exit_code}, {error}".replace(str(home), "")}
    return shown_by(place / "release") | said
