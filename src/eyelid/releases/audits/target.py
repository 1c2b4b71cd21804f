"""What is audited: an original and what was released of it, checked to belong together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eyelid.attacks.groups import Grouped, found_groups, in_groups
from eyelid.attacks.protocols import Material
from eyelid.attacks.synthetic import is_made_up
from eyelid.engine.foreign import content_of
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.features.omission import Blanks, blank_recordings, without
from eyelid.gaze.features.windows import windows_and_omissions
from eyelid.gaze.study import RECORDING_KEY, Origin, Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.csv_cells import csv_text
from eyelid.io.intake import is_ours, read_scrubbed, under_pseudonyms
from eyelid.io.origin import origin_so_far
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
)
from eyelid.io.reading import read
from eyelid.io.release_folder import RELEASED_FILES as RELEASED_FILES
from eyelid.io.release_folder import STANDARD_ERRORS, shows
from eyelid.io.remote import here
from eyelid.mechanisms.features import FeatureMechanism, feature_mechanism, windows_of
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.mechanism import catalogue
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.ledger import Debit, Ledger
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import Trust
from eyelid.releases.accounting import bounding
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.consistency import disagreements
from eyelid.releases.audits.folder import LEFT_INSIDE
from eyelid.releases.audits.recorded import Recorded, recorded_in
from eyelid.releases.certificate import Certificate, read_certificate
from eyelid.releases.fingerprint import debit_of, input_digest
from eyelid.releases.kinds.features.application import standard_errors
from eyelid.releases.kinds.features.plan import (
    NOTHING_LONG_ENOUGH,
    check_type,
    clipped_to,
    feature_table,
    people_alike,
)
from eyelid.releases.pipeline import Release
from eyelid.version import __version__

if TYPE_CHECKING:
    from eyelid.releases.audits.gaze_target import Streamed

Source = Study | FeatureTable | Path | str

FEWEST_PEOPLE = 3
# No number of a mechanism is larger; and so many of anything may be counted, however few rows are.
_LARGEST, _ALWAYS = 1e30, 10_000


@dataclass(frozen=True, eq=False)
class Subject:
    """An original, perhaps a release of it, and what is known about that.

    Attributes:
        original: the raw features, those that the release has.
        released: the released features; None when there is no release.
        taken: what the mechanism took of the original, with the bounds that it clipped to: as a
            rule the same features. None without a certificate.
        recorded: the original's gaze, where there is any.
        samples: all of it in memory, where gaze was released.
        released_samples: the release's.
        certificate: what the release claims.
        law: the mechanism that the certificate names; None when it is not known here.
        total: what has been spent on these people over all releases so far; None if not known.
        disagreements: what of the certificate cannot be true.
        groups: who is in which of the released groups; None where none were released, or where
            what was released is not the means of any.
        grouped: whether it is, or should be, means of groups without noise.
        releases: how many releases of these people were counted so far; None if not known.
        path: the released folder.
        notes: what could not be checked.
        remarks: what whoever read the recordings said, which may name files.
        stream: the filter that gaze went through; None where features were released.
        alike: whether everybody had the same recordings in the release, before those of which
            the original has no value were left out.
    """

    original: FeatureTable
    released: FeatureTable | None = None
    taken: FeatureTable | None = None
    recorded: Recorded | None = None
    samples: Study | None = None
    released_samples: Study | None = None
    certificate: Certificate | None = None
    law: FeatureMechanism | None = None
    total: Guarantee | None = None
    disagreements: tuple[str, ...] = ()
    groups: Grouped | None = None
    grouped: bool = False
    releases: int | None = None
    path: Path | None = None
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    stream: Streamed | None = None
    alike: bool | None = None

    @property
    def people(self) -> int:
        """How many people the attackers choose from."""
        return self.original.data["person"].n_unique()

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

    @property
    def means(self) -> MeanMechanism | None:
        """The mechanism, where means over people were released and nobody's own record."""
        return self.law if isinstance(self.law, MeanMechanism) else None

    @property
    def made_up(self) -> bool:
        """Whether rows or people were released that are nobody's."""
        return self.released is not None and is_made_up(self.released, self.law)

    @property
    def left_out(self) -> int:
        """How many features of the original the mechanism did not release."""
        return 0 if self.taken is None else len(set(self.taken.names) - set(self.original.names))

    @property
    def claims_to_hold(self) -> bool:
        """Whether the certificate promises anything."""
        return self.certificate is not None and self.certificate.person_level.holds

    @property
    def promised(self) -> Guarantee | None:
        """What this release promises a person; broken where they are told apart without gaze."""
        if self.certificate is None or self.released is None:
            return None
        promised = self.certificate.person_level
        if self.means is not None or self.grouped or self.made_up:
            return promised
        alike = self.stream is None or self.stream.alike
        same = people_alike(self.released) if self.alike is None else self.alike
        if alike and same and self.released.people.columns == ["person"]:
            return promised
        return promised.broken("people are told apart by what is not protected")

    def material(self, seed: int) -> Material:
        """What the attackers get."""
        if self.groups is not None:
            # As if somebody had told them who is in which group.
            again = None if self.law is None else self.groups.again(seed)
            return Material(self.groups.seen, self.groups.named(), again)
        again = self._again(seed)
        if again is None or self.released is None:
            return Material(self.original, self.released, again)
        theirs = self.released.recordings.select(RECORDING_KEY)

        def like_release(table: FeatureTable) -> FeatureTable:
            made = again(table)
            there = made.recordings.select(RECORDING_KEY)
            return without(made, there.join(theirs, on=RECORDING_KEY, how="anti"))

        return Material(self.original, self.released, like_release)

    def _again(self, seed: int) -> Callable[[FeatureTable], FeatureTable] | None:
        law, taken = self.law, self.taken
        # Never that of a release with the same seed.
        noise = randomness(np.random.default_rng([seed, *b"the attacker's own noise"]))
        if self.stream is not None:
            return self.stream.again(self.original, noise)
        if law is None or taken is None:
            return None
        if _same_features(taken, self.original):
            return lambda table: law.apply(table, noise)

        def again(table: FeatureTable) -> FeatureTable:
            # It cannot take features. Others than the original's are those of people all alike.
            made = law.apply(taken if table is self.original else _all_alike(taken), noise)
            return replace(made, features=self.original.features)

        return again


def subject_of(
    original: Source,
    released: Source | Release | None = None,
    *,
    map: Map = None,
    ledger: Path | str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> Subject:
    """Read both, and refuse what does not belong together.

    Args:
        original: a study folder, recordings, a study or a table.
        released: a released folder, a release, a study or a table.
        map: what you say about the columns of recordings.
        ledger: the file that counted the release, if it is not the original's own.
        people: whom of the original it is about, as for the release.
        min_seconds: what a recording had to last, as for the release.
    """
    # Which builds on what is here.
    from eyelid.releases.audits.gaze_target import names_filter, stream_subject

    table, recorded = _original(original, map, ledger, people, min_seconds)
    if table.released:
        raise InputError(
            "the first argument is a release: give the original first, then the release"
        )
    if released is None:
        table, _, unseen = with_values(table)
        check_people(table)
        return Subject(
            table,
            recorded=recorded,
            notes=(*unseen, *without_values(table)),
            remarks=_remarks(original),
        )
    path = Path(released) if isinstance(released, str | Path) else None
    certificate: Certificate | None = None
    their_samples: Study | None = None
    if isinstance(released, Release):
        certificate, path, released = released.certificate, released.path, released.data
    elif isinstance(released, str | Path):
        certificate = read_certificate(Path(released))
        released = read(released)
    if isinstance(released, Study) and names_filter(certificate):
        assert certificate is not None, "it names a filter"
        samples = None if recorded is None else recorded.samples
        return stream_subject(table, samples, released, certificate, path, _remarks(original))
    if isinstance(released, Study) and released.kind == "samples":
        their_samples = released
    theirs = feature_table(released)
    notes: list[str] = []
    taken: FeatureTable | None = None
    law: FeatureMechanism | None = None
    total: Guarantee | None = None
    wrong: tuple[str, ...] = ()
    groups: Grouped | None = None
    grouped, releases = False, None
    if certificate is None:
        table, theirs, left_out = in_common(table, theirs)
        strangers = not set(theirs.data["person"]) & set(table.data["person"])
        grouped = strangers and in_groups(theirs) and not is_made_up(theirs)
        if grouped:
            table, theirs = _compared(table, theirs)
            groups = _groups_nobody_vouches_for(table, theirs)
        elif strangers and is_made_up(theirs):
            table, theirs = _compared(table, theirs)
        else:
            table, theirs = matched(table, theirs)
        notes += [
            *left_out,
            "there is no certificate.json: nothing is promised, so there is no bound to compare "
            "with, and attackers cannot use the mechanism",
        ]
    else:
        law, amiss, unknown = _mechanism(certificate, table, theirs)
        taken = _taken(certificate, law, table, recorded)
        alike = _same_features(taken, table)
        if not alike:
            table, theirs, left_out = in_common(_windows_like(theirs, table, recorded), theirs)
            notes += left_out
        grouped = isinstance(law, KSame)
        if is_made_up(theirs, law):
            # Which features there should be is asked below.
            table, theirs, _ = in_common(table, theirs)
            table, theirs = _compared(table, theirs)
        elif grouped:
            table, theirs = _compared(table, theirs)
        elif certificate.guarantee.trust is Trust.CENTRAL:
            table, theirs = _means_matched(law, table, theirs)
        else:
            table, theirs = matched(table, theirs)
        if alike:
            # One scale for all: the mechanism's.
            table, theirs = (clipped_to(t, certificate.bounds) for t in (table, theirs))
        notes += _check_certificate(certificate, taken, theirs)
        people = taken.data["person"].unique().to_list()
        debit, total, not_counted = counted(
            certificate,
            taken.origin,
            people,
            lambda: input_digest(taken),
            lambda: earlier_digests.input_digest(taken),
        )
        notes += [*unknown, *not_counted]
        releases = None if debit is None else times_released(taken.origin, people)
        by_then = 1 if debit is None else times_released(taken.origin, people, debit.id) or 1
        wrong = (*amiss, *disagreements(certificate, taken, theirs, debit, law, by_then))
        if path is not None and isinstance(law, MeanMechanism):
            wrong = (*wrong, *_errors_amiss(path, certificate, law, taken, theirs))
        if isinstance(law, KSame):
            groups, ungrouped = found_groups(law, table, theirs)
            wrong = (*wrong, *ungrouped)
            if groups is not None and groups.fresh:
                notes.append(_fresh_run(table))
    if path is not None and certificate is not None:
        errors = [STANDARD_ERRORS] if isinstance(law, MeanMechanism) else []
        more = beyond(path, (*RELEASED_FILES, *errors))
        if grouped and certificate.person_level.holds:
            # That nothing else is released is what 1/k rests on.
            wrong = (*wrong, *more)
        else:
            notes += more
    alike_in_release: bool | None = None
    central = certificate is not None and certificate.guarantee.trust is Trust.CENTRAL
    if not (grouped or central or is_made_up(theirs, law)):
        alike_in_release = people_alike(theirs)
        table, own, unseen = with_values(table, theirs)
        theirs = theirs if own is None else own
        notes += unseen
        check_people(table)
    elif unseen_told := Blanks.of(table).told():
        notes.append(f"{unseen_told}; nothing of them is attacked or compared with")
    notes += without_values(table, theirs)
    return Subject(
        original=table,
        released=theirs,
        taken=taken,
        alike=alike_in_release,
        recorded=recorded,
        samples=None if recorded is None or their_samples is None else recorded.samples,
        released_samples=their_samples,
        certificate=certificate,
        law=law,
        total=total,
        disagreements=wrong,
        groups=groups,
        grouped=grouped,
        releases=releases,
        path=path,
        notes=tuple(notes),
        remarks=_remarks(original),
    )


def without_values(original: FeatureTable, released: FeatureTable | None = None) -> list[str]:
    """Which features have no value at all, and are in no figure or picture, in words.

    Args:
        original: everybody's recordings.
        released: what was made of them; None before a release.
    """
    found = []
    sides = (("in the original nobody has", original), ("the release has no", released))
    for words, table in sides:
        values = "a value of" if table is original else "value of"
        empty = [] if table is None else [name for name in table.names if _empty(table, name)]
        if empty:
            found.append(
                f"{words} {values} {', '.join(empty)}: what there is to compare leaves "
                f"{'it' if len(empty) == 1 else 'them'} out"
            )
    return found


def _empty(table: FeatureTable, name: str) -> bool:
    column = table.data[name].cast(pl.Float64)
    return column.fill_nan(None).null_count() == len(column)


def _original(
    source: Source,
    map: Map,
    ledger: Path | str | None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> tuple[FeatureTable, Recorded | None]:
    """The table that was or would be released, under the names that a release has."""
    if not isinstance(source, str | Path):
        if isinstance(source, Study):
            source = replace(chosen_of(source, people), min_seconds=min_seconds)
        elif people is not None:
            source = FeatureTable.of(chosen_of(source.study(), people))
        check_type(source)
        if isinstance(source, Study) and source.kind != "features":
            return windows_of(source), Recorded.of(source)
        return windows_of(source), None
    path = Path(source)
    recorded = recorded_in(path) if map is None else None
    if recorded is not None:
        head = recorded.cut.head
        recorded = recorded.choosing(people, min_seconds).under(origin_so_far(head, path, ledger))
        check_people(recorded.cut.recordings)
        return recorded.summarised(windows_of), recorded
    study = read_scrubbed(path, map)
    origin = origin_so_far(study, path, ledger)
    study = replace(chosen_of(study, people), origin=origin, min_seconds=min_seconds)
    known = study.origin is not None and study.origin.ledger is not None
    if known and not study_folder.recognises(path):
        study = under_pseudonyms(study, ours=is_ours(study, path))
    check_people(study)
    gaze = study.kind != "features"
    return windows_of(study), Recorded.of(check(study)) if gaze else None


def with_values(
    original: FeatureTable, released: FeatureTable | None = None
) -> tuple[FeatureTable, FeatureTable | None, tuple[str, ...]]:
    """Both without recordings of which the original has no value: nothing is known to attack.

    Args:
        original: the raw features.
        released: under the same names, where there is a release.
    """
    blank = blank_recordings(original)
    if blank.is_empty():
        return original, released, ()
    if blank.height == original.recordings.height:
        raise InputError(NOTHING_LONG_ENOUGH)
    told = Blanks.of(original).told()
    theirs = None if released is None else without(released, blank)
    return without(original, blank), theirs, (f"{told}; they were not attacked",)


def _remarks(source: object) -> tuple[str, ...]:
    return source.notes if isinstance(source, Study) else ()


def beyond(folder: Path, known: Collection[str]) -> list[str]:
    """What lies in a released folder that no release puts there."""
    extra = sorted(item.name for item in here(folder).iterdir() if item.name not in known)
    left = [LEFT_INSIDE[name] for name in extra if name in LEFT_INSIDE]
    more = len(extra) - len(left)
    if not more:
        return left
    others = f"the released folder holds {more} more than a release has, which nothing covers"
    return [*left, others]


def _errors_amiss(
    folder: Path,
    certificate: Certificate,
    law: MeanMechanism,
    taken: FeatureTable,
    released: FeatureTable,
) -> Iterator[str]:
    """Whether standard_errors.csv says anything but what follows from public facts."""
    path = here(folder) / STANDARD_ERRORS
    if not path.is_file() or certificate.version != __version__:
        # Another version may write it otherwise.
        return
    features = clipped_to(taken, certificate.bounds).features
    errors = standard_errors(law, law.shape(taken), features, released.people, released.step_ms)
    text = "" if errors is None else csv_text(errors)
    try:
        same = content_of(path, len(text.encode())) == text.encode()
    except (OSError, ValueError):
        same = False
    if errors is None or not same:
        yield (
            f"{STANDARD_ERRORS} has something else than the standard errors that follow from the "
            "mechanism and public facts"
        )


def check_people(table: FeatureTable | Study | pl.DataFrame) -> None:
    """Refuse fewer people than attackers need."""
    rows = table if isinstance(table, pl.DataFrame) else table.data
    people = rows["person"].n_unique()
    if people < FEWEST_PEOPLE:
        raise InputError(
            f"an audit needs at least {FEWEST_PEOPLE} people to tell apart, and there are {people}"
        )


def _same_features(one: FeatureTable, other: FeatureTable) -> bool:
    return set(one.names) == set(other.names)


def _taken(
    certificate: Certificate,
    law: FeatureMechanism | None,
    table: FeatureTable,
    recorded: Recorded | None,
) -> FeatureTable:
    """What the mechanism took, with the bounds of the certificate: as a rule these features."""
    named = set(certificate.bounds.values)
    if named != set(table.names) and law is not None and recorded is not None:
        table = recorded.summarised(law.summarise)
    if named != set(table.names):
        more = " or of the recordings, which should be given as the original" * (recorded is None)
        raise InputError(
            f"the certificate names other features: it is that of something else{more}"
        )
    return clipped_to(table, certificate.bounds)


def _windows_like(
    released: FeatureTable, table: FeatureTable, recorded: Recorded | None
) -> FeatureTable:
    """The original's features, of windows as long and as far apart as the release's."""
    window, step = released.window_ms, released.step_ms
    if (
        recorded is None
        or not window
        or not step
        or (window, step) == (table.window_ms, table.step_ms)
    ):
        return table
    return recorded.summarised(partial(_windows, window / 1000, step / 1000))


def _windows(window_s: float, step_s: float, study: Study) -> FeatureTable:
    return windows_and_omissions(study, window_s, step_s)[0]


def _all_alike(table: FeatureTable) -> FeatureTable:
    """Everybody in the middle of the bounds."""
    middle = [pl.lit((f.lower + f.upper) / 2).alias(f.name) for f in table.features]
    return replace(table, data=table.data.with_columns(middle))


def in_common(
    original: FeatureTable, released: FeatureTable
) -> tuple[FeatureTable, FeatureTable, list[str]]:
    """Both with the features that both have: without a certificate nobody said which there are."""
    shared = [f for f in original.features if f.name in released.names]
    count = max(len(original.features), len(released.features))
    if not shared or len(shared) == count:
        return original, released, []
    note = f"only {len(shared)} of {count} features are in both, and only these were looked at"
    return (
        replace(original, features=tuple(shared)),
        replace(released, features=tuple(shared)),
        [note],
    )


def matched(original: FeatureTable, released: FeatureTable) -> tuple[FeatureTable, FeatureTable]:
    """Both with the same people and the same features, or an error that says what differs."""
    ours = original.data["person"].unique(maintain_order=True).to_list()
    theirs = released.data["person"].unique(maintain_order=True).to_list()
    strangers = [name for name in theirs if name not in set(ours)]
    if strangers:
        raise InputError(
            f"{len(strangers)} of {len(theirs)} people of the release are not in the original "
            f"('{strangers[0]}', say): is this a release of other people?"
        )
    _check_features(original, released)
    original = replace(original, data=original.data.filter(pl.col("person").is_in(theirs)))
    check_people(original)
    for key in ("recording", "task"):
        lacking = _keys(released, key) - _keys(original, key)
        if lacking:
            person, name = sorted(lacking)[0]
            raise InputError(
                f"the release has {key} '{name}' of person '{person}', which the original has not: "
                "are these the right two?"
            )
    return original, replace(released, features=original.features, window_ms=original.window_ms)


def _means_matched(
    law: FeatureMechanism | None, original: FeatureTable, released: FeatureTable
) -> tuple[FeatureTable, FeatureTable]:
    """The same for means over people, where those of the release are groups."""
    if not isinstance(law, MeanMechanism):
        raise InputError(
            "the release has means over people, by a mechanism that cannot be run here: without it "
            "there is nothing to compare them with"
        )
    original, released = _compared(original, released)
    # What groups are called does not depend on who is in them.
    groups = law.partition(original, randomness(0)).people["person"]
    slots = law.slots(original).names
    keys = [(group, *slot) for group in groups for slot in slots.rows()]
    if released.recordings.select("person", *slots.columns).rows() != keys:
        raise InputError(
            "the release has other groups or tasks than the original would have: are these the "
            "right two?"
        )
    return original, replace(released, features=original.features, window_ms=original.window_ms)


def _compared(original: FeatureTable, released: FeatureTable) -> tuple[FeatureTable, FeatureTable]:
    """The same where those of the release are nobody of the original."""
    _check_features(original, released)
    check_people(original)
    return original, replace(released, features=original.features, window_ms=original.window_ms)


def _groups_nobody_vouches_for(original: FeatureTable, released: FeatureTable) -> Grouped:
    """The groups of a release without a certificate, as far as they are plain means."""
    groups, amiss = found_groups(None, original, released)
    if groups is None or amiss:
        raise InputError(
            "the release has groups of people, without a certificate, and they are not plain means "
            "over people of the original: are these the right two? (means with noise need their "
            "certificate)"
        )
    return groups


def _fresh_run(original: FeatureTable) -> str:
    """What was and was not checked where nobody can find out who is in which group."""
    people = original.recordings["person"].n_unique()
    return (
        "the release has too few values, or people are too much alike, to find out who of "
        f"{people} is in which group, so that it was not checked whether its records are means "
        "over the people of one partition, nor attacked with these groups. Checked was what is "
        "true whoever is in which: the sizes of groups, their recordings and rows, and that the "
        "mean over all groups, wherever nobody lacks a value, is the mean over everybody. Attacks "
        "and errors are of another run of the same mechanism with groups of its own"
    )


def _check_features(original: FeatureTable, released: FeatureTable) -> None:
    """Both must have the same, as numbers."""
    missing = [name for name in original.names if name not in released.data.columns]
    extra = [name for name in released.names if name not in original.names]
    if missing or extra:
        where, name = ("release", missing[0]) if missing else ("original", extra[0])
        raise InputError(
            f"the {where} has no feature {name} ({len(missing) + len(extra)} differ): give the "
            "features that were released as the original ('eyelid features IN OUT')"
        )
    text = [name for name in original.names if not released.data.schema[name].is_numeric()]
    if text:
        raise InputError(f"feature {text[0]} of the release is not a number: mend or leave it out")


def _keys(table: FeatureTable, key: str) -> set[tuple[str, str]]:
    if key not in table.recordings.columns:
        return set()
    return set(table.recordings.select("person", key).iter_rows())


def _check_certificate(
    certificate: Certificate, original: FeatureTable, released: FeatureTable
) -> list[str]:
    """Refuse a certificate of something else; say what could not be checked."""
    central = certificate.guarantee.trust is Trust.CENTRAL
    people = (original if central else released).data["person"].n_unique()
    if certificate.people != people:
        whose = "original" if central else "release"
        raise InputError(
            f"the certificate is for {certificate.people} people and the {whose} has {people}: "
            "it is the certificate of something else"
        )
    if certificate.output_sha256 is None:
        return ["the certificate has no hash of the released data: they may be others"]
    if not shows(released, certificate.output_sha256):
        raise InputError(
            "the released data are not those of the certificate (their hash differs): somebody "
            "changed or swapped them; release again"
        )
    return []


def _mechanism(
    certificate: Certificate, *tables: FeatureTable
) -> tuple[FeatureMechanism | None, list[str], list[str]]:
    """The mechanism that a certificate names; what is wrong with it, and what is not known.

    Others may have written the certificate: numbers that these tables cannot have led to are not
    computed with.
    """
    if certificate.mechanism not in catalogue():
        note = f"the mechanism {certificate.mechanism} is not known here: nothing was checked by it"
        return None, [], [note]
    try:
        _check_parameters(certificate, tables)
        return feature_mechanism(certificate.mechanism, **certificate.parameters), [], []
    except (EyelidError, TypeError, ValueError, AttributeError) as error:
        return None, [f"the mechanism of the certificate cannot be run ({error})"], []


def _check_parameters(certificate: Certificate, tables: Sequence[FeatureTable]) -> None:
    """Fail where a number is beyond what any of these tables could have been released with."""
    rows = max(table.data.height for table in tables)
    lengths = [table.data.group_by(RECORDING_KEY).len()["len"].to_numpy() for table in tables]
    longest = int(np.concatenate(lengths).max())
    kinds = {each.name: str(each.type) for each in fields(catalogue()[certificate.mechanism])}
    for name, value in certificate.parameters.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        most: float = _LARGEST
        if "int" in kinds.get(name, ""):
            most = longest if name == "length" else max(_ALWAYS, rows)
        if not -most <= value <= most:
            raise ValueError(f"its {name} cannot be larger than {most:g}")


def times_released(
    origin: Origin | None, people: Sequence[str], last: int | None = None
) -> int | None:
    """How many releases the most released of these people were in, up to the last one to count."""
    if origin is None or origin.ledger is None:
        return None
    book = Ledger.counting(origin.ledger, origin.id)
    by_then = None if last is None else book.known_at(last)
    balances = book.balances(origin.id, people=people)
    known = [[d for d in b.debits if by_then is None or d.id in by_then] for b in balances]
    return max((len(debits) for debits in known), default=0)


def counted(
    certificate: Certificate,
    origin: Origin | None,
    people: Sequence[str],
    *contents: Callable[[], bytes],
) -> tuple[Debit | None, Guarantee | None, list[str]]:
    """What the ledger counted for this release, the total so far, and what is not known.

    Args:
        certificate: of the release.
        origin: of the original.
        people: whose data were released.
        contents: the digest of what was released from, and as earlier versions made it.
    """
    if certificate.input_sha256 is None:
        return None, None, ["the certificate names no ledger: nothing ties it to the original"]
    if origin is None or origin.ledger is None or not origin.ledger.exists():
        return None, None, ["the ledger that counted the release is not at hand: it was not asked"]
    book, debit = Ledger.counting(origin.ledger, origin.id), None
    if book.knows(origin.id):
        debit = debit_of(certificate.input_sha256, contents, book, origin.id)
    if debit is None:
        raise InputError(
            f"{origin.ledger.name} has counted no such release of these data: give the original as "
            "it was when it was released, or the ledger that counted it with --ledger FILE"
        )
    total = parallel([balance.total for balance in book.balances(origin.id, people=people)])
    if book.is_incomplete(origin.id):
        # A sum over some of the releases is no total.
        total = replace(total, kind=Kind.NONE, epsilon=None, delta=None, mu=None)
        total = total.broken("the ledger does not know all releases of these people, or may not")
    return debit, total, []
