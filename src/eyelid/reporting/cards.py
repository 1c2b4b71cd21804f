"""Data cards: what a person who receives the data, or an ethics board, needs to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from eyelid.gaze.features.catalogue import EVENT_KINDS, event_feature_set, window_feature_set
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.certificate import NARROWEST_FORM, Certificate
from eyelid.mechanisms.expectation import FeatureError, expectation, predicted
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.partition import groups_in_words
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.distance import Distance
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.synthetic.capacity import mean_off
from eyelid.mechanisms.synthetic.utility import MeanError, noise_of_counts_in_words
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.rank1 import advantage_bound, rank1_bounds
from eyelid.privacy.unit import Trust
from eyelid.reporting.consent import for_participants
from eyelid.reporting.gaze_sentences import (
    REGULAR,
    TIMES,
    guessed,
    restarts_in_words,
    stream_for_participants,
    window_in_words,
    worth_of,
)
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import SAYS_NOTHING, kept_of_rows
from eyelid.reporting.worth import errors_have_units
from eyelid.spelling import plural


def datacard(
    certificate: Certificate,
    table: FeatureTable,
    facts: PublicFacts,
    mechanism: FeatureMechanism,
    *,
    worth: str,
    clipped_to: Sequence[Feature] = (),
    has_standard_errors: bool = False,
    empty: Sequence[str] = (),
    spreads: Mapping[str, tuple[float, float]] | None = None,
) -> str:
    """The text of DATACARD.md: of rows, lengths and features it tells what the table has.

    Args:
        certificate: of the release.
        table: the release, or its outline.
        facts: the public facts.
        mechanism: with its parameters set.
        worth: what is left to see in it.
        clipped_to: the features, with the bounds that values were clipped to.
        has_standard_errors: whether a file with those of means is beside it.
        empty: features of synthetic participants that have no value.
        spreads: mean and standard deviation over rows of each of their features, as released.
    """
    own, kept = mechanism.core, table.people.columns[1:]
    central = certificate.guarantee.trust is Trust.CENTRAL
    return rendered(
        "datacard.md.j2",
        certificate=certificate,
        table=table,
        facts=facts,
        mechanism=mechanism,
        kept=kept,
        labels=[name for name in table.data.columns if name.startswith("label_")],
        recordings=_ranging(table.recordings.group_by("person").len()["len"], "recording"),
        rows=_ranging(table.recordings["rows"], "row"),
        measured=own if own.measures_bins else None,
        paper=mechanism if mechanism.lengths else None,
        central=central,
        # A choice of people by what they have shows it.
        hides_which=certificate.form != NARROWEST_FORM,
        has_standard_errors=has_standard_errors,
        kind=certificate.guarantee.kind,
        groups=_groups(table, certificate, mechanism),
        copied=mechanism.copies,
        taken=_taken(mechanism),
        made_up=certificate.made_up,
        empty=empty,
        means_off=_means_off(table, certificate, spreads or {}),
        noise_of_counts_in_words=noise_of_counts_in_words,
        advantage=advantage_bound(certificate.person_level),
        advantage_in_all=advantage_bound(certificate.total),
        says_nothing=SAYS_NOTHING,
        not_named=_why_no_bound(certificate),
        released_as=certificate.described.kind,
        rows_keep=kept_of_rows(certificate),
        for_participants=for_participants(certificate, () if central else kept),
        eyes="eye-tracking features" if _about_eyes(table) else "features",
        worth=worth,
        errors=_errors(mechanism, facts, clipped_to),
        proof_note=mechanism.note.summary.replace("``", "`"),
    )


def _means_off(
    table: FeatureTable, certificate: Certificate, spreads: Mapping[str, tuple[float, float]]
) -> list[MeanError]:
    """How far means of synthetic participants are off, in units, by the rows there are."""
    said = certificate.made_up
    if not said or said.get("mean_error_sd") is None:
        return []
    return [
        MeanError(
            feature.name,
            mean_off(feature, said["bins"], said["mean_error_sd"], *spreads[feature.name]),
            feature.unit,
        )
        for feature in table.features
        if feature.name in spreads
    ]


def _errors(
    mechanism: FeatureMechanism, facts: PublicFacts, features: Sequence[Feature]
) -> tuple[FeatureError, ...]:
    """The expected error of every feature, in its unit; empty where it is not known."""
    noisy = predicted(mechanism)
    if noisy is None or not errors_have_units(mechanism):
        return ()
    return expectation(noisy, facts).of_features(features)


def _taken(mechanism: FeatureMechanism) -> str:
    """What becomes of bounds, missing values and lengths, where the mechanism has its own way."""
    if mechanism.lengths or mechanism.measures:
        return ""
    words = mechanism.note.takes.replace("``", "`")
    return words.removeprefix("a FeatureTable").lstrip(",;. ")


def _groups(table: FeatureTable, certificate: Certificate, mechanism: FeatureMechanism) -> str:
    """What groups means are of; empty where they are of everybody, or nothing is a mean."""
    if mechanism.group_size is not None and not mechanism.regroups:
        return groups_in_words(certificate.people, mechanism.group_size)
    if not mechanism.release.of_means or len(table.people) < 2:
        return ""
    sizes = table.people.select("person", "people").rows()
    each = ", ".join(f"{name}: {count}" for name, count in sizes)
    return f"{len(sizes)} groups ({each}; the smallest has {min(count for _, count in sizes)})"


def _ranging(counts: pl.Series, word: str) -> str:
    """How many there are, from the fewest to the most."""
    fewest, most = int(counts.to_numpy().min()), int(counts.to_numpy().max())
    return plural(most, word) if fewest == most else f"{fewest} to {most} {word}s"


def _why_no_bound(certificate: Certificate) -> str:
    """Why no re-identification rate can be given, where it cannot."""
    counted = certificate.total or certificate.person_level
    if not certificate.person_level.holds:
        return "no guarantee holds"
    if certificate.person_level.kind is Kind.K_ANONYMITY and certificate.others:
        return f"{certificate.others}, and two partitions intersect"
    if certificate.incomplete:
        return "the ledger does not know all releases of them, or may not"
    if not counted.holds and certificate.person_level.kind.differential:
        return f"over all releases of them there is no total ({counted.reasons[0]})"
    allowed = rank1_bounds(counted, certificate.people)["raw_to_release"]
    if allowed is not None and allowed > SAYS_NOTHING:
        return f"{counted.numbers()} for a person rules out almost nothing"
    return "what is not protected, here or in earlier releases, may tell them apart"


def _about_eyes(table: FeatureTable) -> bool:
    """Whether some of the features are those that eyelid makes of gaze."""
    known = {f.name for f in window_feature_set()}
    known |= {f.name for kind in EVENT_KINDS for f in event_feature_set(kind)}
    return bool(known & set(table.names))


def stream_card(
    certificate: Certificate,
    released: Study,
    mechanism: StreamMechanism,
    distance: Distance,
    *,
    recordings: int,
    samples: int,
    touched: int,
) -> str:
    """The text of DATACARD.md: of the data it tells what was released, and nothing else.

    Args:
        certificate: of the release.
        released: everything about it but its rows.
        mechanism: the filter.
        distance: how far off it is, on simulated gaze.
        recordings: how many went through the filter.
        samples: how many these have.
        touched: recordings of a person in which the samples of a window can lie, at most.
    """
    return rendered(
        "streamcard.md.j2",
        certificate=certificate,
        study=released,
        mechanism=mechanism,
        filter=mechanism.guaranteed,
        regular=TIMES[REGULAR] in certificate.unprotected,
        recordings=recordings,
        samples=samples,
        rate_hz=released.rate_hz,
        window=window_in_words(mechanism, released.rate_hz),
        guess=guessed(certificate.guarantee),
        worth=worth_of(distance),
        restarts=restarts_in_words(certificate.guarantee, touched),
        for_participants=stream_for_participants(
            certificate, mechanism, released.rate_hz, touched, released.people.columns[1:]
        ),
        proof_note=mechanism.note.summary.replace("``", "`"),
        takes=mechanism.note.takes.replace("``", "`"),
    )
