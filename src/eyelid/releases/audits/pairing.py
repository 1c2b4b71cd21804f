"""From an original and a release to the pair that is audited: read, checked to belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np

from eyelid.attacks.groups import in_groups
from eyelid.attacks.synthetic import names_nobody
from eyelid.attacks.target import RecordsTarget, TableTarget, same_features
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.features.windows import windows_and_omissions
from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.intake import called, is_ours, read_scrubbed, under_pseudonyms
from eyelid.io.origin import origin_so_far
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
)
from eyelid.io.pieces import StudyInPieces, in_pieces
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import Certificate, of_some
from eyelid.mechanisms.features import FeatureMechanism, feature_mechanism, windows_of
from eyelid.mechanisms.mechanism import catalogue
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.unit import Trust
from eyelid.releases.accounting import input_digest, read_certificate
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.accounts import check_shown, counted
from eyelid.releases.audits.certificate_file import said_besides
from eyelid.releases.audits.consistency import inconsistencies
from eyelid.releases.audits.data_card import card_notes
from eyelid.releases.audits.gaze import gaze_target
from eyelid.releases.audits.kinds import OF_FEATURES, attacked_as
from eyelid.releases.audits.manifest import beside_the_study, other_features
from eyelid.releases.audits.matching import check_people, in_common, with_values, without_values
from eyelid.releases.audits.original import gaze_in, summarised
from eyelid.releases.kinds.features.plan import check_type, clipped_to, feature_table
from eyelid.reporting.release import Release

Source = Study | FeatureTable | Path | str

# No number of a mechanism is larger; and so many of anything may be counted, however few rows are.
_LARGEST, _ALWAYS = 1e30, 10_000


@dataclass(frozen=True, eq=False)
class Opened:
    """What was released, as it was read.

    Attributes:
        held: features or gaze.
        certificate: what it claims; None where there is none.
        path: its folder; None in memory.
    """

    held: Study | FeatureTable
    certificate: Certificate | None = None
    path: Path | None = None

    @property
    def samples(self) -> Study | None:
        """Its gaze; None where features were released."""
        if isinstance(self.held, Study) and self.held.kind == "samples":
            return self.held
        return None


def audit_target(
    original: Source,
    released: Source | Release | None = None,
    *,
    map: Map = None,
    ledger: Path | str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> TableTarget:
    """Read both, and refuse what does not belong together.

    Args:
        original: a study folder, recordings, a study or a table.
        released: a released folder, a release, a study or a table.
        map: what you say about the columns of recordings.
        ledger: the file that counted the release, if it is not the original's own.
        people: whom of the original it is about, as for the release.
        min_seconds: what a recording had to last, as for the release.
    """
    table, recorded = _original(original, map, ledger, people, min_seconds)
    if table.released:
        raise InputError(
            f"{called(original)} is a release, and no original: give what it was made of first, "
            "then the release"
        )
    remarks = original.notes if isinstance(original, Study) else ()
    if released is None:
        table, _, unseen = with_values(table)
        check_people(table)
        notes = (*unseen, *without_values(table))
        return RecordsTarget(
            kind=None, original=table, recorded=recorded, notes=notes, remarks=remarks
        )
    opened = _opened(released)
    if opened.certificate is None:
        return _uncertified(opened, table, recorded, remarks)
    named = catalogue().get(opened.certificate.mechanism)
    if (
        named is not None
        and named.release is ReleaseKind.SAMPLES
        and isinstance(opened.held, Study)
    ):
        return gaze_target(
            table, _samples(recorded), opened.held, opened.certificate, opened.path, remarks
        )
    return _certified(opened, opened.certificate, table, recorded, remarks)


def _opened(released: Source | Release) -> Opened:
    """What was released, with its certificate where there is one."""
    if isinstance(released, Release):
        if not isinstance(released.data, FeatureTable | Study):
            raise InputError("this release is of no table: its kind has an audit of its own")
        return Opened(released.data, released.certificate, released.path)
    if isinstance(released, str | Path):
        certificate = read_certificate(Path(released))
        return Opened(read(released), certificate, Path(released))
    check_type(released)
    return Opened(released)


def _uncertified(
    opened: Opened, table: FeatureTable, recorded: StudyInPieces | None, remarks: tuple[str, ...]
) -> TableTarget:
    """A pair of which nobody says how the release was made."""
    table, theirs, left_out = in_common(table, feature_table(opened.held))
    kind = ReleaseKind.RECORDS
    if not set(theirs.data["person"]) & set(table.data["person"]):
        if names_nobody(theirs):
            kind = ReleaseKind.SYNTHETIC
        elif in_groups(theirs):
            kind = ReleaseKind.GROUPS
    attack = OF_FEATURES[kind]
    table, theirs = attack.match(None, table, theirs)
    notes = (
        *left_out,
        "there is no certificate.json: nothing is promised, so there is no bound to compare "
        "with, and attackers cannot use the mechanism",
    )
    target = attack.targets(
        kind=kind,
        original=table,
        released=theirs,
        recorded=recorded,
        path=opened.path,
        notes=notes,
        remarks=remarks,
    )
    return attack.completed(_with_gaze(target, opened))


def _with_gaze(target: TableTarget, opened: Opened) -> TableTarget:
    """A target with gaze on both sides, where gaze was released under people's own names."""
    if not isinstance(target, RecordsTarget):
        return target
    ours = None if opened.samples is None else _samples(target.recorded)
    return replace(target, samples=ours, released_samples=opened.samples)


def _certified(
    opened: Opened,
    certificate: Certificate,
    table: FeatureTable,
    recorded: StudyInPieces | None,
    remarks: tuple[str, ...],
) -> TableTarget:
    """A pair whose release has a certificate, held against it."""
    theirs = feature_table(opened.held)
    notes: list[str] = []
    mechanism, refused, unknown = _mechanism(certificate, table, theirs)
    taken = _taken(certificate, mechanism, table, recorded)
    alike = same_features(taken, table)
    if not alike:
        table, theirs, notes = in_common(_windows_like(theirs, table, recorded), theirs)
    kind = attacked_as(mechanism, certificate.guarantee.trust, theirs)
    attack = OF_FEATURES[kind]
    table, theirs = attack.match(mechanism, table, theirs)
    if alike:
        # One scale for all: the mechanism's.
        table, theirs = (clipped_to(t, certificate.bounds) for t in (table, theirs))
    notes += _check_certificate(certificate, taken, theirs)
    people = taken.data["person"].unique().to_list()
    account = counted(
        certificate,
        taken.origin,
        people,
        lambda: input_digest(taken),
        lambda: earlier_digests.input_digest(taken),
    )
    wrong = [
        *refused,
        *inconsistencies(certificate, taken, theirs, account, mechanism, attack),
        *said_besides(opened.path, certificate),
    ]
    shown = feature_table(opened.held)
    if isinstance(opened.held, Study):
        wrong += [*beside_the_study(opened.path, opened.held)]
        wrong += [*other_features(certificate, taken, shown)]
    if not wrong:
        notes += card_notes(opened.path, certificate, mechanism, taken, shown)
    target = attack.targets(
        kind=kind,
        original=table,
        released=theirs,
        taken=taken,
        recorded=recorded,
        certificate=certificate,
        mechanism=mechanism,
        total=account.total,
        inconsistencies=tuple(wrong),
        releases=account.releases,
        path=opened.path,
        notes=(*notes, *unknown, *account.unknown),
        remarks=remarks,
    )
    return attack.completed(_with_gaze(target, opened))


def _original(
    source: Source,
    map: Map,
    ledger: Path | str | None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> tuple[FeatureTable, StudyInPieces | None]:
    """The table that was or would be released, under the names that a release has."""
    if not isinstance(source, str | Path):
        if isinstance(source, Study):
            source = replace(chosen_of(source, people), min_seconds=min_seconds)
        elif people is not None:
            source = FeatureTable.of(chosen_of(source.study(), people))
        check_type(source)
        if isinstance(source, Study) and source.kind != "features":
            return windows_of(source), in_pieces(source)
        return windows_of(source), None
    path = Path(source)
    cut = gaze_in(path, people, min_seconds) if map is None else None
    if cut is not None:
        cut = replace(cut, head=replace(cut.head, origin=origin_so_far(cut.entering, path, ledger)))
        check_people(cut.recordings)
        return summarised(cut, windows_of), cut
    study = read_scrubbed(path, map)
    origin = origin_so_far(study, path, ledger)
    study = replace(chosen_of(study, people), origin=origin, min_seconds=min_seconds)
    known = study.origin is not None and study.origin.ledger is not None
    if known and not study_folder.recognises(path):
        study = under_pseudonyms(study, ours=is_ours(study, path))
    check_people(study)
    gaze = study.kind != "features"
    return windows_of(study), in_pieces(study) if gaze else None


def _samples(recorded: StudyInPieces | None) -> Study | None:
    """All samples of gaze, in memory; None where there are none."""
    return recorded.whole() if recorded is not None and recorded.head.kind == "samples" else None


def _taken(
    certificate: Certificate,
    mechanism: FeatureMechanism | None,
    table: FeatureTable,
    recorded: StudyInPieces | None,
) -> FeatureTable:
    """What the mechanism took, with the bounds of the certificate: as a rule these features."""
    named = set(certificate.bounds.values)
    if named != set(table.names) and mechanism is not None and recorded is not None:
        table = summarised(recorded, mechanism.summarise)
    if named != set(table.names):
        more = " or of the recordings, which should be given as the original" * (recorded is None)
        raise InputError(
            f"the certificate names other features: it is that of something else{more}"
        )
    return clipped_to(table, certificate.bounds)


def _windows_like(
    released: FeatureTable, table: FeatureTable, recorded: StudyInPieces | None
) -> FeatureTable:
    """The original's features, of windows as long and as far apart as the release's."""
    window, step = released.window_ms, released.step_ms
    same = (window, step) == (table.window_ms, table.step_ms)
    if recorded is None or not window or not step or same:
        return table
    return summarised(recorded, partial(_windows, window / 1000, step / 1000))


def _windows(window_s: float, step_s: float, study: Study) -> FeatureTable:
    return windows_and_omissions(study, window_s, step_s)[0]


def _check_certificate(
    certificate: Certificate, original: FeatureTable, released: FeatureTable
) -> list[str]:
    """Refuse a certificate of something else; say what could not be checked."""
    central = certificate.guarantee.trust is Trust.CENTRAL
    people = (original if central else released).data["person"].n_unique()
    if certificate.people != people:
        whose = "original" if central else "release"
        some = "; or, as it says that people were chosen, choose the same ones (`people`)"
        raise InputError(
            f"the certificate is for {certificate.people} people and the {whose} has {people}: "
            f"it is the certificate of something else{some * of_some(certificate.unprotected)}"
        )
    if certificate.output_sha256 is None:
        return ["the certificate has no hash of the released data: they may be others"]
    check_shown(certificate, released)
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
    kinds = {item.name: str(item.type) for item in fields(catalogue()[certificate.mechanism])}
    for name, value in certificate.parameters.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if kinds.get(name) == "str | None":
            raise ValueError(f"its {name} is no number")
        most: float = _LARGEST
        if "int" in kinds.get(name, ""):
            most = longest if name == "length" else max(_ALWAYS, rows)
        if not -most <= value <= most:
            raise ValueError(f"its {name} cannot be larger than {most:g}")
