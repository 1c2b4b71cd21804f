"""What is audited where gaze was released: original and release, checked to belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from eyelid.attacks.protocols import Material
from eyelid.attacks.streams.places import places
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.features.windows import STEP_S, WINDOW_S, windows_and_omissions
from eyelid.gaze.study import Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import shows
from eyelid.mechanisms.mechanism import catalogue, mechanism
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.privacy.noise import Randomness, randomness
from eyelid.releases.advice import fitting_windows
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.gaze_consistency import stream_disagreements, too_few_to_check
from eyelid.releases.audits.target import (
    RELEASED_FILES,
    Subject,
    beyond,
    check_people,
    counted,
    in_common,
    matched,
    times_released,
    with_values,
)
from eyelid.releases.certificate import Certificate
from eyelid.releases.fingerprint import samples_digest
from eyelid.releases.kinds.streams.plan import filtered
from eyelid.releases.kinds.streams.preparation import (
    RECORDED,
    REGULAR,
    TIMES,
    same_for_all,
    taken_of,
    timed,
    with_lost_eye,
)


@dataclass(frozen=True, eq=False)
class Streamed:
    """Gaze that was released through a filter.

    Attributes:
        taken: what the filter took.
        law: the filter; None where it cannot be run here.
        alike: whether nothing that is released as it is tells people apart.
        windows_s: length and step of the windows that gaze is summarised in.
    """

    taken: Study
    law: StreamMechanism | None
    alike: bool
    windows_s: tuple[float, float] = (WINDOW_S, STEP_S)

    def again(
        self, original: FeatureTable, noise: Randomness
    ) -> Callable[[FeatureTable], FeatureTable] | None:
        """The same filter once more, seen as features of windows.

        It cannot take features: others than the original's are those of people all alike, who then
        look at the middle of the scene all the time.
        """
        law = self.law
        if law is None:
            return None

        def run(table: FeatureTable) -> FeatureTable:
            gaze = self.taken if table is original else _all_alike(law, self.taken)
            made = _windows(filtered(law, gaze, noise), self.windows_s)
            return replace(made, features=original.features)

        return run

    def by_places(self, released: Study, seed: int) -> Material | None:
        """The same people by where they look on average, which noise hides least."""
        law, taken = self.law, self.taken
        if law is None:
            return None
        # Never that of a release with the same seed.
        noise = randomness(np.random.default_rng([seed, *b"the attacker's own places"]))
        original = places(taken, law.place)

        def again(table: FeatureTable) -> FeatureTable:
            gaze = taken if table is original else _all_alike(law, taken)
            made = places(filtered(law, gaze, noise), law.place)
            return replace(made, features=original.features)

        return Material(original, places(released, law.place), again)


def _windows(gaze: Study, windows_s: tuple[float, float]) -> FeatureTable:
    """Gaze summarised in windows of a length and step."""
    return windows_and_omissions(check(gaze), *windows_s)[0]


def _all_alike(law: StreamMechanism, taken: Study) -> Study:
    """Everybody looks at the middle of the scene; nothing is lost."""
    x0, y0, x1, y1 = law.place.plane
    middle = pl.Series([(x0 + x1) / 2]).to_numpy(), pl.Series([(y0 + y1) / 2]).to_numpy()
    values = law.place.from_plane(*middle)
    columns = [
        pl.lit(float(value[0])).alias(name)
        for name, value in zip(gaze_columns(taken), values, strict=True)
    ]
    return replace(taken, data=taken.data.with_columns(columns))


def names_filter(certificate: Certificate | None) -> bool:
    """Whether a certificate is of gaze that went through a filter."""
    if certificate is None:
        return False
    kind = catalogue().get(certificate.mechanism)
    return kind is not None and issubclass(kind, StreamMechanism)


def stream_subject(
    table: FeatureTable,
    samples: Study | None,
    released: Study,
    certificate: Certificate,
    path: Path | None,
    remarks: tuple[str, ...],
) -> Subject:
    """Refuse what does not belong together, and compute the features that attackers go by.

    Args:
        table: the original's features.
        samples: the original's gaze.
        released: the released gaze.
        certificate: what the release claims.
        path: the released folder.
        remarks: what whoever read the recordings said.
    """
    if samples is None or released.kind != "samples":
        raise InputError(
            "the release is of gaze samples: give the recordings, or the study of samples that "
            "they were released from, as the original"
        )
    eye = released.data["eye"][0] if "eye" in released.data.columns else None
    times = REGULAR if TIMES[REGULAR] in certificate.unprotected else RECORDED
    taken = taken_of(samples, eye, times)
    # As long as recordings allow: features are what attackers go by, and nothing that is released.
    windows_s = fitting_windows(samples) or (WINDOW_S, STEP_S)
    shorter = []
    if windows_s[0] != WINDOW_S:
        shorter = [
            f"no recording has a window of {WINDOW_S:g} s: gaze is summarised in windows of "
            f"{windows_s[0]:g} s"
        ]
        table = replace(_windows(samples, windows_s), origin=table.origin)
    if times == REGULAR or (eye is not None and samples.data["eye"].n_unique() > 1):
        # The same samples and times as released: windows are to be the same, too.
        own = with_lost_eye(samples, eye).data
        own = own if eye is None else own.filter(pl.col("eye") == eye)
        again = _windows(replace(samples, data=timed(samples, own, times)), windows_s)
        table = replace(again, origin=table.origin)
    ours, theirs, left_out = in_common(table, _windows(released, windows_s))
    ours, theirs = matched(ours, theirs)
    ours, with_gaze, unseen = with_values(ours, theirs)
    theirs = theirs if with_gaze is None else with_gaze
    check_people(ours)
    if not set(released.data.columns) >= set(gaze_columns(taken)):
        raise InputError("the release has not the columns of gaze that the original has")
    law, amiss = _law(certificate)
    people = taken.data["person"].unique().to_list()
    if certificate.people != released.data["person"].n_unique():
        raise InputError(
            f"the certificate is for {certificate.people} people and the release has "
            f"{released.data['person'].n_unique()}: it is the certificate of something else"
        )
    if certificate.output_sha256 is None or not shows(released, certificate.output_sha256):
        raise InputError(
            "the released data are not those of the certificate (their hash differs): somebody "
            "changed or swapped them; release again"
        )
    debit, total, notes = counted(
        certificate,
        table.origin,
        people,
        lambda: samples_digest(taken),
        lambda: earlier_digests.samples_digest(taken),
    )
    by_then = 1
    if debit is not None:
        by_then = times_released(table.origin, people, debit.id) or 1
    more = [] if path is None else beyond(path, RELEASED_FILES)
    wrong = tuple(stream_disagreements(certificate, taken, released, debit, law, by_then))
    few = [] if wrong else too_few_to_check(law, taken, released)
    return Subject(
        original=ours,
        released=theirs,
        samples=taken,
        released_samples=released,
        certificate=certificate,
        total=total,
        disagreements=(*amiss, *wrong),
        releases=None if debit is None else times_released(table.origin, people),
        path=path,
        notes=(*shorter, *left_out, *unseen, *notes, *few, *more),
        remarks=remarks,
        stream=Streamed(taken, law, same_for_all(taken), windows_s),
    )


def _law(certificate: Certificate) -> tuple[StreamMechanism | None, list[str]]:
    """The filter that a certificate names, and what is amiss with it."""
    try:
        made = mechanism(certificate.mechanism, **certificate.parameters)
    except (EyelidError, TypeError, ValueError, AttributeError) as error:
        return None, [f"the filter of the certificate cannot be run ({error})"]
    assert isinstance(made, StreamMechanism), "it was asked before"
    return made, []
