"""What a release means to the participants in it, for a consent form: one text for each kind.

A text has four parts: what is shared, what is promised, what is to be said of this release besides,
and what others see exactly. None of them may claim more than the certificate: the promise carries
the form of the data that it is true for, and what others see is all that the certificate lists as
unprotected. (That about gaze that went through a filter is in `eyelid.reporting.gaze_sentences`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from eyelid.mechanisms.certificate import (
    NARROWEST_FORM,
    NO_LEDGER,
    Certificate,
    sentences_for_participants,
)
from eyelid.mechanisms.differential import default_delta
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee, Kind, large_delta
from eyelid.reporting.sentences import factor_for_participants, formal_only, kept_of_rows
from eyelid.spelling import plural

NOT_HIDDEN = (
    "Your data will be shared without a guarantee of privacy. Others may find out which are yours, "
    "and what they say about you."
)
TOOK_PART = "That you took part is not hidden."

# What the one length of all recordings shows, by how it was chosen.
_LENGTHS = {
    "shortest": "how long the shortest recording of all is, which may be yours",
    "longest": "how long the longest recording of all is, which may be yours",
    "group": "how long the shortest recording of your group is, which may be yours",
}
_ONE_LENGTH = "how long recordings are after all were cut or filled up to one length"


@dataclass(frozen=True)
class ConsentText:
    """The parts of a text that differ by kind of release.

    Attributes:
        shared: what is shared, and of whom.
        shown: what others see exactly, as parts of a sentence.
        promised: what is hidden, in sentences.
    """

    shared: Callable[[Certificate], str]
    shown: Callable[[Certificate], Iterator[str]]
    promised: Callable[[Certificate], Iterator[str]]


def for_participants(certificate: Certificate, kept: Sequence[str] = ()) -> str:
    """What a release means to a participant: what they get, and do not.

    Args:
        certificate: of the release.
        kept: attributes of people that are released as they are.
    """
    if not certificate.person_level.holds:
        return NOT_HIDDEN
    text = CONSENT[certificate.described.kind]
    return " ".join(
        [
            text.shared(certificate),
            *text.promised(certificate),
            *in_addition(certificate, kept),
            f"Shown exactly: {'; '.join(text.shown(certificate))}.",
            TOOK_PART,
        ]
    )


def in_addition(certificate: Certificate, kept: Sequence[str] = ()) -> Iterator[str]:
    """What participants should know of this very release: its δ, other releases, attributes.

    Args:
        certificate: of the release.
        kept: attributes of people that are released as they are.
    """
    promised, total = certificate.person_level, certificate.total
    if large_delta(promised.delta, certificate.people):
        yield (
            "That addition is so large that it would also allow us to publish one participant's "
            "data outright."
        )
    if promised.kind.differential and total is not None and len(certificate.ledger) > 1:
        limit = (
            f"for other data {NARROWEST_FORM} it is {factor_for_participants(total)}"
            if total.holds
            else "no limit is known"
        )
        yield f"Together with what we have shared of you before, {limit}."
    if NO_LEDGER in certificate.unprotected or certificate.incomplete:
        does = "adds to this" if promised.kind.differential else "may undo this"
        yield f"What else was shared of you is not counted here, and {does}."
    yield from sentences_for_participants(certificate.unprotected)
    if kept:
        yield f"Shared as it is: your {', your '.join(kept)}."


def exchanged(
    certificate: Certificate, guarantee: Guarantee | None = None, source: str = "what we share"
) -> Iterator[str]:
    """What differential privacy means: any other data of this form would give nearly the same.

    Args:
        certificate: of the release.
        guarantee: of a participant; by default what the release promises in total.
        source: what conclusions are drawn from.
    """
    promised = guarantee or certificate.person_level
    yield (
        f"If your data were exchanged for any other data {certificate.form.rstrip(',')}, the "
        f"probability of anything that others conclude from {source} would change by "
        f"{factor_for_participants(promised)}."
    )
    if formal_only(promised):
        yield "That is so much that it promises you almost nothing."


def _everybody(certificate: Certificate) -> str:
    return f"all {certificate.people} participants"


def _of_public_groups(certificate: Certificate) -> str:
    """The groups of participants by public attributes, with the size of each."""
    found = certificate.described
    sizes = ", ".join(f"{name}: {people}" for name, people in found.groups.items())
    return f"groups of participants by {_attributes(found.by)}{f' ({sizes})' if sizes else ''}"


def _attributes(by: str | None) -> str:
    """Attributes as a part of a sentence.

    >>> _attributes("diagnosis"), _attributes("gender, age")
    ('diagnosis', 'gender and age')
    """
    return " and ".join(name.strip() for name in (by or "").split(",") if name.strip())


def _your_group(certificate: Certificate) -> Iterator[str]:
    """That public attributes stay public."""
    by = _attributes(certificate.described.by)
    if by:
        yield f"your {by} (the promise is about your recordings, not about that)"
        yield f"how many participants there are of each {by}"


def _sizes(certificate: Certificate) -> str:
    """People of random groups, which follow from their number and k.

    Args:
        certificate: of groups.
    """
    sizes = sorted(set(group_sizes(certificate.people, certificate.parameters["k"])))
    return " or ".join(str(size) for size in sizes)


def how_many(certificate: Certificate) -> str:
    """How many participants there are, as a part of a sentence."""
    return f"that there are {certificate.people} participants"


def _length(certificate: Certificate) -> str:
    return _LENGTHS.get(str(certificate.parameters.get("length")), _ONE_LENGTH)


def _records(certificate: Certificate) -> str:
    return (
        f"We share measurements of each of the {certificate.people} participants by themselves, "
        "with random noise added."
    )


def _records_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield "the name or number that the study gives you, and your place in its order"
    yield "which recordings there are of you, with the names of their tasks and stimuli"
    yield _length(certificate)


def _means(certificate: Certificate) -> str:
    grouped = bool(certificate.described.by)
    over = _of_public_groups(certificate) if grouped else f"{_everybody(certificate)} together"
    return f"We share averages over {over}, with random noise added."


def _means_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield from _your_group(certificate)
    yield "the names of the tasks, and of how many recordings of each there are averages"
    yield _length(certificate)


def _random_means(certificate: Certificate) -> str:
    return (
        f"We share averages over groups of {_sizes(certificate)} participants, put together by "
        "chance, with random noise added."
    )


def _random_means_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield f"how many of them a group has ({_sizes(certificate)})"
    yield from _dealt(certificate)
    yield "the names of the tasks, and of how many recordings of each there are averages"
    yield _length(certificate)


def _dealt(certificate: Certificate) -> Iterator[str]:
    """What chance was told to spread evenly."""
    even = certificate.parameters.get("balance")
    if even:
        yield f"that groups are as alike in {_attributes(even)} as can be"


def _groups(certificate: Certificate) -> str:
    if certificate.parameters.get("spread"):
        return (
            "We share synthetic participants, drawn around averages over groups of "
            f"{_sizes(certificate)} participants. The groups are put together by chance, and "
            "nothing in the draws hides the averages."
        )
    return (
        f"We share averages over groups of {_sizes(certificate)} participants, put together by "
        "chance, without noise."
    )


def _groups_promised(certificate: Certificate) -> Iterator[str]:
    """What k-anonymity hides, and what it does not."""
    fellows = plural((certificate.person_level.k or 2) - 1, "other person", "others")
    if certificate.others:
        yield (
            "Other data from the same recordings have been shared or may be: with both, others may "
            "find out which are yours. By these averages alone you cannot be distinguished from at "
            f"least {fellows} of your group."
        )
    else:
        yield (
            f"You cannot be distinguished from at least {fellows} of your group by those who get "
            "the data, even if they have other recordings of you, as long as nothing else of you "
            "is shared."
        )
    yield (
        "They can find out which group you are in, and see what its members have in common. "
        "Those who have the recordings of all others of your group can work out yours."
    )


def _groups_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield f"how many of them a group has ({_sizes(certificate)})"
    diverse = certificate.parameters.get("diverse")
    if diverse:
        yield f"your {diverse}, to those who know it of the others of your group"
    yield from _dealt(certificate)
    yield "the names of the tasks, and which recordings or values a member of your group lacks"
    resampled = certificate.parameters.get("resample")
    if resampled is not None:
        yield f"that nobody's recording has fewer than {plural(int(resampled), 'row')}"
        return
    yield _LENGTHS.get(
        str(certificate.parameters["length"]),
        "how long recordings of your group are, where one of them is shorter than what was asked "
        "for",
    )


def _rows(certificate: Certificate) -> str:
    """What rows keep of participants' rows: everything, or a part."""
    return (
        f"We share rows of measurements. Some of them keep "
        f"{kept_of_rows(certificate, 'participant', 'steps')}. All else in them comes from a model "
        "of such rows that was measured with random noise added."
    )


def _rows_promised(certificate: Certificate) -> Iterator[str]:
    if certificate.person_level.kind.differential:
        yield "A row may keep values of yours."
        yield from exchanged(certificate)
        return
    k = certificate.person_level.k or 0
    yield (
        "Chance decides what your data are used for. Either rows keep values of yours: each of "
        f"these could have come from at least {k} participants, so that no single row shows that "
        "it came from you. Or your data help to measure the model."
    )
    yield from exchanged(certificate, _model(certificate), "the model")
    yield "What many rows, or other data that we share, show about you together has no known limit."


def _model(certificate: Certificate) -> Guarantee:
    """What the model behind rows has for those whom it was measured on."""
    asked = certificate.parameters
    return replace(
        certificate.person_level,
        kind=Kind.APPROXIMATE,
        epsilon=asked["epsilon"],
        delta=asked["delta"] or default_delta(certificate.people),
        k=None,
        gamma=None,
    )


def _rows_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield "the names of the tasks, also of one that only you did"
    if certificate.person_level.kind.differential:
        yield "which rows keep values of a participant"


def _synthetic(certificate: Certificate) -> str:
    grouped = bool(certificate.described.by)
    groups = f" and over {_of_public_groups(certificate)}" if grouped else ""
    return (
        "We share recordings of people who do not exist: synthetic participants. A computer draws "
        f"them from figures over {_everybody(certificate)} together{groups}, with random noise "
        "added; none of them is you."
    )


def _synthetic_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield from _your_group(certificate)
    yield "the names of the tasks, also of one that only you did"
    yield "what is measured, within which limits and how often"


def _maps(certificate: Certificate) -> str:
    facts = certificate.map or {}
    grouped = bool(certificate.described.by)
    whose = _of_public_groups(certificate) if grouped else f"{_everybody(certificate)} together"
    layers = facts.get("layers") or [""]
    times = plural(len(layers), "stretch of time", "stretches of time")
    where = (
        f"a picture, for {times}"
        if facts.get("stretches_ms")
        else "a picture"
        if len(layers) == 1
        else f"{len(layers)} pictures"
    )
    one = len(layers) == 1 and not grouped
    maps = f"{'a map' if one else 'maps'} of where {whose} looked on {where}"
    return f"We share {maps}{_with_tables(certificate)}, with random noise added."


def _with_tables(certificate: Certificate) -> str:
    return f", and {_tables_of(certificate)}" if (certificate.map or {}).get("areas") else ""


def _tables_of(certificate: Certificate) -> str:
    areas = len(((certificate.map or {}).get("areas") or {}).get("areas") or ())
    return (
        f"tables of how {_everybody(certificate)} together looked at {plural(areas, 'area')} of "
        "what they were shown"
    )


def _tables(certificate: Certificate) -> str:
    return f"We share {_tables_of(certificate)}, with random noise added."


def _maps_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield from _your_group(certificate)
    yield "the pictures or stretches of time, by name, and that you were shown them"
    if (certificate.map or {}).get("areas"):
        yield "the names and places of the areas"
    yield "the size of the screen, and how far away it was, where these are known"


def _statistics(certificate: Certificate) -> str:
    facts = certificate.results or {}
    many = plural(len(facts.get("rows") or ()), "figure")
    grouped = bool(certificate.described.by)
    over = _of_public_groups(certificate) if grouped else f"{_everybody(certificate)} together"
    return (
        f"We share results of the study, {many} over {over} such as averages, with random noise "
        "added. No record of yours is shared."
    )


def _statistics_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    yield from _your_group(certificate)
    yield (
        "the names of the tasks or pages and of what was measured, also of a task that only you "
        "did, and within which limits"
    )
    if ((certificate.results or {}).get("asked") or {}).get("areas"):
        yield "the names and places of the areas"


def _synthetic_gaze(certificate: Certificate) -> str:
    if certificate.person_level.kind is Kind.K_ANONYMITY:
        return (
            "We share recordings of the gaze of people who do not exist. A computer draws them "
            f"after averages over groups of {_sizes(certificate)} participants, put together by "
            "chance, without noise, and after published figures. No recording of yours is shared."
        )
    return (
        "We share recordings of the gaze of people who do not exist. A computer draws them after "
        f"averages over {_everybody(certificate)} together, with random noise added, and after "
        "published figures. No recording of yours is shared."
    )


def _synthetic_gaze_shown(certificate: Certificate) -> Iterator[str]:
    yield how_many(certificate)
    if certificate.person_level.kind is Kind.K_ANONYMITY:
        yield f"how many of them a group has ({_sizes(certificate)})"
    yield "the names of the tasks and of what was shown, also of one that only you have seen"
    yield "what was recorded and how often, and how long recordings were planned to be"


def _synthetic_gaze_promised(certificate: Certificate) -> Iterator[str]:
    if certificate.person_level.kind is Kind.K_ANONYMITY:
        yield from _groups_promised(certificate)
    else:
        yield from exchanged(certificate)


CONSENT: dict[ReleaseKind, ConsentText] = {
    ReleaseKind.RECORDS: ConsentText(_records, _records_shown, exchanged),
    ReleaseKind.MEANS: ConsentText(_means, _means_shown, exchanged),
    ReleaseKind.RANDOM_MEANS: ConsentText(_random_means, _random_means_shown, exchanged),
    ReleaseKind.GROUPS: ConsentText(_groups, _groups_shown, _groups_promised),
    ReleaseKind.ROWS: ConsentText(_rows, _rows_shown, _rows_promised),
    ReleaseKind.SYNTHETIC: ConsentText(_synthetic, _synthetic_shown, exchanged),
    ReleaseKind.SYNTHETIC_GAZE: ConsentText(
        _synthetic_gaze, _synthetic_gaze_shown, _synthetic_gaze_promised
    ),
    ReleaseKind.MAPS: ConsentText(_maps, _maps_shown, exchanged),
    ReleaseKind.TABLES: ConsentText(_tables, _maps_shown, exchanged),
    ReleaseKind.STATISTICS: ConsentText(_statistics, _statistics_shown, exchanged),
}
"""The text of each kind of release that is not gaze itself."""
