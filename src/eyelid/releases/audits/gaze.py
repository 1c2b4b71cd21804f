"""Gaze that was released through a filter: attacked by its features, and beside the original's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

import polars as pl

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.identification import Finding, identify
from eyelid.attacks.protocols import Material, Protocol
from eyelid.attacks.target import GazeTarget, RecordsTarget, TableTarget, windows_in
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.features.windows import STEP_S, WINDOW_S
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import RELEASED_FILES
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.mechanism import mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.releases.accounting import samples_digest
from eyelid.releases.advice import fitting_windows
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.accounts import check_shown, counted
from eyelid.releases.audits.canaries import Canaries
from eyelid.releases.audits.certificate_file import said_besides
from eyelid.releases.audits.gaze_consistency import gaze_inconsistencies, too_few_to_check
from eyelid.releases.audits.manifest import beside_the_study
from eyelid.releases.audits.matching import beyond, check_people, in_common, matched, with_values
from eyelid.releases.audits.records import RecordsAttack
from eyelid.releases.kinds.features.plan import people_alike
from eyelid.releases.kinds.streams.preparation import same_for_all, taken_of, timed, with_lost_eye
from eyelid.reporting.audits.results import GazeAudit
from eyelid.reporting.gaze_sentences import RECORDED, REGULAR, TIMES


class GazeAttack(RecordsAttack):
    """Gaze, sample by sample, under people's own names."""

    targets: ClassVar[type[TableTarget]] = GazeTarget
    canaries: ClassVar[Canaries | None] = None

    def named(
        self,
        target: RecordsTarget,
        material: Material,
        attackers: Sequence[Attacker],
        protocols: Sequence[Protocol],
        seed: int,
    ) -> list[Finding]:
        """Re-identification by features of windows, and by where they look on average."""
        found = super().named(target, material, attackers, protocols, seed)
        by_places = cast(GazeTarget, target).by_places(seed)
        if by_places is None:
            return found
        honest = [protocol for protocol in protocols if protocol.honest]
        more = identify(by_places, attackers, honest, seed)
        return found + [replace(one, attacker=f"{one.attacker} of places") for one in more]

    def result(
        self,
        target: RecordsTarget,
        material: Material,
        attackers: Sequence[Attacker],
        found: dict[str, Any],
    ) -> GazeAudit:
        """The audit of released gaze, with everything that was found."""
        return GazeAudit(**found)


def gaze_target(
    table: FeatureTable,
    samples: Study | None,
    released: Study,
    certificate: Certificate,
    path: Path | None,
    remarks: tuple[str, ...],
) -> GazeTarget:
    """Refuse what does not belong together, and compute the features that attackers go by.

    Args:
        table: the original's features.
        samples: the original's gaze.
        released: the released gaze.
        certificate: what the release claims.
        path: the released folder.
        remarks: what the reader of the recordings said.
    """
    if samples is None or released.kind != "samples":
        raise InputError(
            "the release is of gaze samples: give the recordings, or the study of samples that "
            "they were released from, as the original"
        )
    eye = released.data["eye"][0] if "eye" in released.data.columns else None
    times = REGULAR if TIMES[REGULAR] in certificate.unprotected else RECORDED
    taken = taken_of(samples, eye, times)
    table, windows_s, shorter = _windows_of(table, samples, eye, times)
    ours, theirs, left_out = in_common(table, windows_in(released, windows_s))
    ours, theirs = matched(ours, theirs)
    ours, with_gaze, unseen = with_values(ours, theirs)
    theirs = theirs if with_gaze is None else with_gaze
    check_people(ours)
    if not set(released.data.columns) >= set(gaze_columns(taken)):
        raise InputError("the release has not the columns of gaze that the original has")
    mechanism, refused = _filter(certificate)
    people = released.data["person"].n_unique()
    if certificate.people != people:
        raise InputError(
            f"the certificate is for {certificate.people} people and the release has {people}: it "
            "is the certificate of something else"
        )
    check_shown(certificate, released)
    account = counted(
        certificate,
        table.origin,
        taken.data["person"].unique().to_list(),
        lambda: samples_digest(taken),
        lambda: earlier_digests.samples_digest(taken),
    )
    wrong = tuple(gaze_inconsistencies(certificate, taken, released, account, mechanism))
    few = [] if wrong else too_few_to_check(mechanism, taken, released)
    more = [] if path is None else beyond(path, RELEASED_FILES)
    return GazeTarget(
        kind=ReleaseKind.SAMPLES,
        original=ours,
        released=theirs,
        samples=taken,
        released_samples=released,
        certificate=certificate,
        filter=mechanism,
        windows_s=windows_s,
        total=account.total,
        inconsistencies=(
            *refused,
            *wrong,
            *said_besides(path, certificate),
            *beside_the_study(path, released),
        ),
        releases=account.releases,
        alike=same_for_all(taken) and people_alike(theirs),
        path=path,
        notes=(*shorter, *left_out, *unseen, *account.unknown, *few, *more),
        remarks=remarks,
    )


def _windows_of(
    table: FeatureTable, samples: Study, eye: str | None, times: str
) -> tuple[FeatureTable, tuple[float, float], list[str]]:
    """Features of windows that the original and the release both have, and how long these are.

    Features are what attackers go by, and nothing that is released: windows are as long as
    recordings allow, of the same eye and with the same time stamps.
    """
    windows_s, origin, shorter = fitting_windows(samples) or (WINDOW_S, STEP_S), table.origin, []
    if windows_s[0] != WINDOW_S:
        shorter = [
            f"no recording has a window of {WINDOW_S:g} s: gaze is summarised in windows of "
            f"{windows_s[0]:g} s"
        ]
        table = windows_in(samples, windows_s)
    if times == REGULAR or (eye is not None and samples.data["eye"].n_unique() > 1):
        # The same samples and times as released: windows are to be the same, too.
        own = with_lost_eye(samples, eye).data
        own = own if eye is None else own.filter(pl.col("eye") == eye)
        table = windows_in(replace(samples, data=timed(samples, own, times)), windows_s)
    return replace(table, origin=origin), windows_s, shorter


def _filter(certificate: Certificate) -> tuple[StreamMechanism | None, list[str]]:
    """The filter that a certificate names, and what is wrong with it."""
    try:
        return cast(
            StreamMechanism, mechanism_named(certificate.mechanism, **certificate.parameters)
        ), []
    except (EyelidError, TypeError, ValueError, AttributeError) as error:
        return None, [f"the filter of the certificate cannot be run ({error})"]
