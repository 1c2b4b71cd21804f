"""Release two neighbouring studies, and see whether their folders tell them apart."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eyelid.engine.engines import using
from eyelid.engine.progress import shown as bars
from eyelid.errors import EyelidError
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.privacy.noise import SystemRandomness
from eyelid.releases.neighbours.cases import Case
from eyelid.releases.neighbours.coupling import coupled, small_pieces
from eyelid.releases.neighbours.folder import REFUSED, Shown, apart, shown_by
from eyelid.releases.neighbours.seats import DRAWS, unfair_seats
from eyelid.releases.neighbours.studies import ASIDE, OTHER, REPLACEMENTS, Replacement, SmallStudy

_MOST_PLACES = 8


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
    law = case.mechanism
    if not isinstance(law, KSame):
        yield Neighbour("two participants exchanged", base.exchanged(0, 1), True)
        return
    with coupled():
        member = law.partition(FeatureTable.of(base.study()), SystemRandomness())
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
    study_folder.write(study.study(), source / "study")
    with small_pieces(study.pieces), coupled() if alike else nullcontext():
        try:
            said = case.released(source / "study", place / "release")
        except EyelidError as error:
            return {REFUSED: f"{error.exit_code}, {error}".replace(str(home), "")}
    return shown_by(place / "release") | said


def _some(places: Sequence[str]) -> list[str]:
    """The first ones, and how many more there are."""
    more = len(places) - _MOST_PLACES
    return [*places[:_MOST_PLACES], *([f"and {more} more places"] if more > 0 else [])]
