"""What is audited: an original and what was released of it, checked to belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from eyelid.attacks.groups import Grouped
from eyelid.attacks.protocols import Material
from eyelid.attacks.samples.evidence import Gaze, some_people
from eyelid.attacks.streams.features import moving_columns, places
from eyelid.gaze.features.omission import without
from eyelid.gaze.features.windows import windows_and_omissions
from eyelid.gaze.study import RECORDING_KEY, ROW_KEY, Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.io.pieces import StudyInPieces, of_people
from eyelid.mechanisms.certificate import Certificate, bounding
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import filtered, gaze_columns
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.rank1 import rank1_bounds

Again = Callable[[FeatureTable], FeatureTable]
"""Another run of a mechanism: from what it takes to what is released."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditTarget:
    """An original, perhaps a release of it, and what is known about that.

    Attributes:
        kind: of the release; None where there is none.
        certificate: what the release claims.
        path: the released folder.
        total: what has been spent on these people over all releases so far; None if not known.
        inconsistencies: what of the certificate cannot be true.
        notes: what could not be checked.
        remarks: what the reader of the recordings said, which may name files.
    """

    kind: ReleaseKind | None
    certificate: Certificate | None = None
    path: Path | None = None
    total: Guarantee | None = None
    inconsistencies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def claims_to_hold(self) -> bool:
        """Whether the certificate promises anything."""
        return self.certificate is not None and self.certificate.person_level.holds

    @property
    def shared(self) -> Path | None:
        """The folder that is, or may be, shared; None where there is none."""
        return self.path


@dataclass(frozen=True, eq=False, kw_only=True)
class HeatmapTarget(AuditTarget):
    """A released heatmap: it always has a certificate."""

    certificate: Certificate = field()


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultsTarget(AuditTarget):
    """Released results: they always have a certificate, and a folder."""

    path: Path = field()
    certificate: Certificate = field()


@dataclass(frozen=True, eq=False, kw_only=True)
class TableTarget(AuditTarget):
    """Features of everybody beside those of a release.

    Attributes:
        original: the raw features, those that the release has.
        released: the released features; None when there is no release.
        taken: what the mechanism took of the original, with the bounds that it clipped to: as a
            rule the same features. None without a certificate.
        recorded: the original's gaze, where there is any.
        mechanism: that the certificate names; None when it is not known here.
        groups: who is in which of the released groups; None where none were released, or where
            what was released is not the means of any.
        releases: how many releases of these people were counted so far; None if not known.
    """

    original: FeatureTable
    released: FeatureTable | None = None
    taken: FeatureTable | None = None
    recorded: StudyInPieces | None = None
    mechanism: FeatureMechanism | None = None
    groups: Grouped | None = None
    releases: int | None = None

    @property
    def shared(self) -> Path | None:
        """The folder that is, or may be, shared; None where there is none."""
        return self.path if self.released is not None and self.released.released else None

    @property
    def people(self) -> int:
        """How many people the attackers choose from."""
        return self.original.data["person"].n_unique()

    @property
    def grouped(self) -> bool:
        """Whether it is, or should be, means of groups without noise."""
        return self.kind is ReleaseKind.GROUPS

    @property
    def left_out(self) -> int:
        """How many features of the original the mechanism did not release."""
        return 0 if self.taken is None else len(set(self.taken.names) - set(self.original.names))

    @property
    def promised(self) -> Guarantee | None:
        """What this release promises a person."""
        return None if self.certificate is None else self.certificate.person_level

    def bounds(self) -> dict[str, float | None]:
        """What this release alone allows attackers who see nothing else of these people.

        The certificate's own bound counts every release so far; the attackers here have this one.
        """
        return {} if self.promised is None else rank1_bounds(self.promised, self.people)

    def bounds_in_all(self) -> dict[str, float | None]:
        """What all releases counted so far allow attackers who have them all."""
        if self.promised is None or self.certificate is None or not self.promised.holds:
            return {}
        stated = self.certificate.rank1_bound
        if self.releases is None:
            return dict(stated)
        now = rank1_bounds(bounding(self.promised, self.total, self.releases), self.people)
        # Where the certificate gives none, it knew of something that is not counted here.
        return {kind: None if stated.get(kind) is None else now[kind] for kind in now}

    def released_movement(self, part: str) -> list[str]:
        """Columns of a release of gaze that say how the head, or a hand, is held.

        Args:
            part: ``head`` or ``hand``.
        """
        return []

    def material(self, seed: int) -> Material:
        """What attackers who name people get."""
        return Material(self.original, self.released)


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupsTarget(TableTarget):
    """Means of groups without noise, or what should be."""

    def material(self, seed: int) -> Material:
        """The mean of each group under the names of its members, as if it were known."""
        assert self.groups is not None, "who is in which group is not known"
        again = None if self.mechanism is None else self.groups.again(seed)
        return Material(self.groups.seen, self.groups.named(), again)


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordsTarget(TableTarget):
    """Individual records.

    Attributes:
        alike: whether everybody had the same recordings in the release, before those of which
            the original has no value were left out.
        samples: the original's gaze in memory, where gaze was released.
        released_samples: the release's.
    """

    alike: bool = True
    samples: Study | None = None
    released_samples: Study | None = None

    @property
    def promised(self) -> Guarantee | None:
        """What this release promises a person; broken where they are told apart without gaze."""
        if self.certificate is None or self.released is None:
            return None
        promised = self.certificate.person_level
        if self.alike and self.released.people.columns == ["person"]:
            return promised
        return promised.broken("people are told apart by what is not protected")

    def material(self, seed: int) -> Material:
        """Original, release, and a mechanism that can be run again."""
        # Never that of a release with the same seed.
        noise = randomness(np.random.default_rng([seed, *b"the attacker's own noise"]))
        again = self.again(noise)
        if again is None or self.released is None:
            return Material(self.original, self.released, again)
        theirs = self.released.recordings.select(RECORDING_KEY)

        def like_release(table: FeatureTable) -> FeatureTable:
            made = again(table)
            there = made.recordings.select(RECORDING_KEY)
            return without(made, there.join(theirs, on=RECORDING_KEY, how="anti"))

        return Material(self.original, self.released, like_release)

    def released_movement(self, part: str) -> list[str]:
        """Columns of released samples that say how the head, or a hand, is held."""
        released = self.released_samples
        return [] if released is None else moving_columns(released, part)

    def gaze(self, seed: int) -> Gaze | None:
        """Samples of gaze, of so many people as can be attacked; None where there are none."""
        if self.samples is not None:
            return Gaze(self.samples, self.released_samples)
        recorded = self.recorded
        if recorded is None or self.released is not None or recorded.head.kind != "samples":
            return None
        whom = some_people(self.original.data["person"].unique(maintain_order=True), seed)
        return Gaze(of_people(recorded, whom).whole())

    def again(self, noise: Randomness) -> Again | None:
        """Another run of the mechanism; None where it cannot be run."""
        mechanism, taken = self.mechanism, self.taken
        if mechanism is None or taken is None:
            return None
        if same_features(taken, self.original):
            return lambda table: mechanism.apply(table, noise)

        def run(table: FeatureTable) -> FeatureTable:
            # It cannot take features. Others than the original's are those of people all alike.
            made = mechanism.apply(taken if table is self.original else _all_alike(taken), noise)
            return replace(made, features=self.original.features)

        return run


@dataclass(frozen=True, eq=False, kw_only=True)
class GazeTarget(RecordsTarget):
    """Gaze that was released through a filter, seen as features of windows.

    Attributes:
        samples: what the filter took.
        released_samples: what it gave.
        filter: the filter; None where it cannot be run here.
        windows_s: length and step of the windows that gaze is summarised in.
    """

    samples: Study = field()
    released_samples: Study = field()
    filter: StreamMechanism | None = None
    windows_s: tuple[float, float]

    def again(self, noise: Randomness) -> Again | None:
        """Another run of the filter, seen as features of windows."""
        return self._filtered(self.original, lambda gaze: windows_in(gaze, self.windows_s), noise)

    def gaze(self, seed: int) -> Gaze:
        """Samples before and after the filter, which is run again with other noise."""
        chosen = self.filter
        if chosen is None:
            return Gaze(self.samples, self.released_samples)
        noise = randomness(np.random.default_rng([seed, *b"the attacker's own samples"]))
        samples = self.samples
        return Gaze(samples, self.released_samples, lambda: filtered(chosen, samples, noise))

    def by_places(self, seed: int) -> Material | None:
        """The target with people described by where they look on average: noise hides it least."""
        if self.filter is None:
            return None
        place = self.filter.place
        # Never that of a release with the same seed.
        noise = randomness(np.random.default_rng([seed, *b"the attacker's own places"]))
        original = places(self.samples, place)
        again = self._filtered(original, lambda gaze: places(gaze, place), noise)
        return Material(original, places(self.released_samples, place), again)

    def _filtered(
        self, original: FeatureTable, seen: Callable[[Study], FeatureTable], noise: Randomness
    ) -> Again | None:
        """The filter, run again and seen in some way.

        It cannot take features: others than the original's are those of people all alike, who then
        look at the middle of the scene all the time.
        """
        if self.filter is None:
            return None
        chosen = self.filter

        def run(table: FeatureTable) -> FeatureTable:
            gaze = self.samples if table is original else _at_the_middle(chosen, self.samples)
            return replace(seen(filtered(chosen, gaze, noise)), features=original.features)

        return run


def windows_in(gaze: Study, windows_s: tuple[float, float]) -> FeatureTable:
    """Gaze summarised in windows of a length and step."""
    return windows_and_omissions(check(gaze), *windows_s)[0]


def same_features(one: FeatureTable, other: FeatureTable) -> bool:
    """Whether two tables have the same features, in whatever order."""
    return set(one.names) == set(other.names)


def _all_alike(table: FeatureTable) -> FeatureTable:
    """Everybody in the middle of the bounds."""
    middle = [pl.lit((f.lower + f.upper) / 2).alias(f.name) for f in table.features]
    return replace(table, data=table.data.with_columns(middle))


def _at_the_middle(mechanism: StreamMechanism, taken: Study) -> Study:
    """Everybody looks at the middle of the scene; nothing is lost."""
    x0, y0, x1, y1 = mechanism.place.plane
    values = mechanism.place.from_plane(np.array([(x0 + x1) / 2]), np.array([(y0 + y1) / 2]))
    columns = [
        pl.lit(float(value[0])).alias(name)
        for name, value in zip(gaze_columns(taken), values, strict=True)
    ]
    return replace(taken, data=taken.data.with_columns(columns))


def folded(released: FeatureTable, drawn: bool = False) -> tuple[FeatureTable | None, str]:
    """One released person a group, where a release has copies; or what is wrong with them.

    Args:
        released: one released person a group, or one for each member.
        drawn: whether these are drawn around the mean, and differ: then their mean is taken.

    >>> import numpy as np
    >>> from eyelid.mechanisms.groups.ksame import KSame
    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> table = table_from_arrays(np.zeros((4, 1, 3, 1)), [Feature("rate", "", "", 0.0, 1.0)])
    >>> made = KSame(k=2, copies=True).averaged(table, np.array([0, 0, 1, 1]))
    >>> folded(made)[0].data["person"].unique().sort().to_list()
    ['group1', 'group2']
    """
    if "people" in released.people.columns:
        return released, ""
    group = pl.col("person").str.replace(r"-\d+$", "")
    data = released.data.with_columns(group)
    if drawn:
        keys = [name for name in data.columns if name not in released.names]
        data = data.group_by(keys, maintain_order=True).agg(pl.col(released.names).mean())
        data = data.select(released.data.columns)
    else:
        data = data.unique(maintain_order=True)
    people = released.people.group_by(group, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("people")
    )
    copied = data.join(people, on="person")["people"].sum()
    if data.select(*ROW_KEY).is_duplicated().any() or copied != len(released.data):
        return None, "the copies of a group differ, which tells its members apart"
    return replace(released, data=data, people=people), ""
