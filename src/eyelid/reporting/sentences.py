"""Guarantees in the words of the person who has to explain them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eyelid.gaze.features.catalogue import most_used
from eyelid.gaze.study import Feature
from eyelid.mechanisms.certificate import NARROWEST_FORM, Certificate, undone
from eyelid.mechanisms.expectation import (
    error_in_unit,
    few_of,
)
from eyelid.mechanisms.features import (
    FeatureMechanism,
)
from eyelid.mechanisms.groups.partition import groups_in_words
from eyelid.mechanisms.groups.public_groups import GroupedFacts
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee, Kind, figure_up, rounded_up
from eyelid.privacy.unit import PERSON, Unit
from eyelid.spelling import plural

if TYPE_CHECKING:
    from eyelid.attacks.error import ErrorMeasures
    from eyelid.attacks.statistics import Rate

_LARGEST_MEANT = 10.0
# A bound on re-identification above this rules out almost nothing.
SAYS_NOTHING = 0.995
FORMAL_ONLY = "At this size the guarantee is formal only: it rules out almost nothing."


def number(value: float, digits: int = 3) -> str:
    """A number with as many digits as help.

    >>> number(0.123456), number(16970.56), number(3.0), number(1e-6), number(401.2, 2)
    ('0.123', '17000', '3', '1e-06', '400')
    """
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def coarse(value: float) -> str:
    """A figure of the raw data: more than two digits would be a fingerprint of them.

    >>> coarse(0.3126), coarse(401.2)
    ('0.31', '400')
    """
    return number(value, 2)


def in_unit(value: float, unit: str) -> str:
    """An amount with two digits, in its unit.

    >>> in_unit(0.8839, "1/s"), in_unit(1834.0, "ms"), in_unit(0.1, "1")
    ('0.88/s', '1,800 ms', '0.1')
    """
    shown = number(value, 2)
    if 1000 <= abs(value) < 1e9:
        shown = f"{float(shown):,.0f}"
    if unit in ("", "1"):
        return shown
    return f"{shown}{unit[1:]}" if unit.startswith("1/") else f"{shown} {unit}"


def errors_in_words(features: Sequence[Feature], of_span: float) -> str:
    """An error, of a few features in their units: the others have it in the same proportion.

    Args:
        features: with bounds; without any, the error is said as a share of a feature's range.
        of_span: the error as a share of the range.

    >>> rate = Feature("fixation_rate", "1/s", "", 0.0, 10.0)
    >>> errors_in_words([rate], 0.0884), errors_in_words([], 0.0884)
    ('fixation_rate 0.88/s', "0.0884 of a feature's range")
    """
    few = few_of(features)
    if not few:
        return f"{number(of_span)} of a feature's range"
    return ", ".join(f"{f.name} {in_unit(error_in_unit(f, of_span), f.unit)}" for f in few)


def measured_in_words(
    error: ErrorMeasures | Mapping[str, tuple[float, str]], of_span: float
) -> str:
    """Measured errors of a few features in their units; over all of them as a share, aside.

    Args:
        error: of each feature; or by name, the error and its unit.
        of_span: over all features, as a share of the range.

    >>> measured_in_words({"fixation_rate": (0.8839, "1/s")}, 0.0884)
    "fixation_rate 0.88/s (over all features 0.088 of a feature's range)"
    """
    if not isinstance(error, Mapping):
        error = error.in_units
    few = [f"{name} {in_unit(*error[name])}" for name in most_used(error)]
    if not few:
        return f"{coarse(of_span)} of a feature's range"
    return f"{', '.join(few)} (over all features {coarse(of_span)} of a feature's range)"


def promise(
    guarantee: Guarantee, others: str = "", how: str = "", form: str = NARROWEST_FORM
) -> str:
    """What a guarantee means, in a few sentences.

    Args:
        guarantee: of one release.
        others: why there are, or may be, other releases of the same people; empty where this is
            the only one. What holds of a single release only is then no more than a remark.
        how: how a person's total comes about. Of plausible deniability it says whom it is for,
            and what the model behind it has for the others.
        form: what a person's data may be exchanged for, as the mechanism says.
    """
    if guarantee.holds and guarantee.kind is Kind.K_ANONYMITY:
        return _anonymity(guarantee, undone(guarantee, others))
    if guarantee.holds and guarantee.kind is Kind.DENIABILITY:
        return _deniability(guarantee, undone(guarantee, others), how)
    if not guarantee.holds or not guarantee.kind.differential:
        why = "; ".join(guarantee.reasons) or "the mechanism gives none"
        return f"There is no valid privacy guarantee: {why}."
    text = (
        f"{_changed(guarantee.unit, form)} changes the probability of any output by "
        f"{factor(guarantee)} ({guarantee.numbers()})."
    )
    return f"{text} {FORMAL_ONLY}" if formal_only(guarantee) else text


def _changed(unit: Unit, form: str) -> str:
    """What may change without the output showing it.

    Only of a whole person more than values may change: a smaller unit has a place among others, and
    with another length these would move.
    """
    if unit.name == "event":
        return (
            f"Moving any {unit.length} samples in a row of one recording, each by at most "
            f"{unit.radius:g},"
        )
    if unit == PERSON:
        return f"Replacing {unit.meaning} by anything else {form} within the public bounds"
    return (
        f"Replacing {unit.meaning} by any other values within the public bounds, in the same place "
        "and of the same length,"
    )


def factor(guarantee: Guarantee) -> str:
    """How much a probability may change."""
    return _factor(guarantee, f" plus {rounded_up(guarantee.delta or 0.0)}")


def factor_for_participants(guarantee: Guarantee) -> str:
    """How much a probability may change, with δ as one in so many."""
    return _factor(guarantee, f" plus 1 in {math.floor(1 / (guarantee.delta or 1.0)):,}")


def _factor(guarantee: Guarantee, addition: str) -> str:
    epsilon = guarantee.epsilon if guarantee.epsilon is not None else math.inf
    factor = figure_up(math.exp(epsilon)) if epsilon < 20 else f"e^{figure_up(epsilon)}"
    return f"a factor of at most {factor}{addition if guarantee.delta else ''}"


def _anonymity(guarantee: Guarantee, undone: str) -> str:
    """What k-anonymity means, what it does not, and what other releases leave of it."""
    k = guarantee.k
    same = f"no released record depends on which of at least {k} people it stands for"
    if undone:
        sentence = f"{_capital(undone)}. This release alone would give 1/{k}: {same}."
    else:
        sentence = (
            f"{_capital(same)}, so that an attacker with other recordings of a participant picks "
            f"the right one of them with probability 1/{k} at most, as long as nothing else of "
            "these people is released and they were equally likely before."
        )
    return (
        f"{sentence} That is about distinguishing members of a group, not about what their mean "
        "shows of each: which group a participant is in is not hidden, and those who have the "
        "recordings of all other members can compute the last one's values. This is k-anonymity, "
        "not differential privacy: it has no ε, and other releases of the same people can undo it."
    )


def _deniability(guarantee: Guarantee, undone: str, how: str) -> str:
    """What plausible deniability means, what it does not, and what other releases leave of it."""
    gamma = rounded_up(guarantee.gamma or 1.0)
    whose = "people" if guarantee.unit == PERSON else "records"
    lead = "" if how.startswith(undone) else f"{undone}; what follows is about this release alone"
    intro = "".join(f"{_capital(words)}. " for words in (lead, how) if words)
    return (
        f"{intro}A row that keeps values of a real row is released only if at least {guarantee.k} "
        f"{whose} could each have been its source, with probabilities within a factor of {gamma} "
        "of each other, given the model that the rest of it was drawn from: a row alone shows "
        "nobody to be its source, but what it keeps is real. That is for those whose rows may be "
        "sources; those whom the model was measured on have the (ε, δ) of the model instead. This "
        "is plausible deniability, not differential privacy: it has no ε, it speaks of one row at "
        "a time, and what many rows or other releases show together has no bound."
    )


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def stated(guarantee: Guarantee) -> str:
    """The numbers of a certificate; where they do not hold, that they are none."""
    numbers = guarantee.numbers()
    return numbers if guarantee.holds else f"{numbers}: printed or asked for, not promised"


def promise_lines(
    guarantee: Guarantee, others: str = "", how: str = "", form: str = NARROWEST_FORM
) -> list[str]:
    """A promise for a terminal: reasons are many and long, and each has its own line."""
    if guarantee.holds or not guarantee.reasons:
        return [promise(guarantee, others, how, form)]
    return [
        "There is no valid privacy guarantee:",
        *(f"- {reason}" for reason in guarantee.reasons),
    ]


def in_all(certificate: Certificate) -> str:
    """What all releases of these people come to, in a sentence; empty where nobody counts."""
    total, person_level = certificate.total, certificate.person_level
    if certificate.incomplete:
        return (
            "There is no total over all releases of these people: the ledger does not know all of "
            "them, or may not ('eyelid budget IN' says why)."
        )
    if total is None:
        return ""
    if person_level.holds and not person_level.kind.differential and len(certificate.ledger) == 1:
        what = f"1/{person_level.k}" if person_level.kind is Kind.K_ANONYMITY else "the promise"
        return (
            f"There is no total ε, because {total.reasons[0]}; {what} stands as long as this is "
            "the only release of these people."
        )
    so_far = f"Over {plural(len(certificate.ledger), 'release')} of these people so far"
    if total.holds:
        several = f", for data {NARROWEST_FORM}" if len(certificate.ledger) > 1 else ""
        return f"{so_far}{several}: {total.numbers()}."
    # Reasons that were said of this release are not repeated.
    news = [reason for reason in total.reasons if reason not in person_level.reasons]
    why = f", because {news[0]}" if news else ""
    if person_level.kind is Kind.K_ANONYMITY and person_level.holds:
        return (
            f"{so_far}: no total ε{why}; and no 1/k either, because those who have two of them may "
            "find who is in both groups."
        )
    return f"{so_far}: no bound{why}."


def facts_in_words(mechanism: FeatureMechanism, facts: PublicFacts) -> str:
    """The public facts that everything else follows from, about what is released."""
    if mechanism.release is ReleaseKind.SYNTHETIC:
        return _facts_of_synthetic(facts)
    if mechanism.release is ReleaseKind.ROWS and not mechanism.mixes_people:
        rows = mechanism.parameters()["rows"]
        return (
            f"{facts.people} people, {plural(facts.features, 'feature')}; "
            f"{plural(rows, 'synthetic row')} of each of {plural(facts.recordings, 'task')}"
        )
    most = "" if mechanism.claims_to_hold else "up to "
    if mechanism.length == "group":
        most = "at least "
    shown = mechanism.core.released(facts)
    text = (
        f"{plural(shown.people, 'person', 'people')}, up to {plural(shown.recordings, 'recording')}"
        f" each of {most}{plural(shown.length, 'row')}, {plural(shown.features, 'feature')}"
    )
    if shown is not facts:
        text += f" (measured: {plural(facts.length, 'bin')}, {plural(facts.features, 'stream')})"
    if mechanism.smallest(facts) < facts.people:
        text += f"; {mechanism.smallest(facts)} people in the smallest group"
    if mechanism.release is ReleaseKind.GROUPS and mechanism.group_size is not None:
        text += f"; {groups_in_words(facts.people, mechanism.group_size)}"
    return text


def _facts_of_synthetic(facts: PublicFacts) -> str:
    text = (
        f"{plural(facts.people, 'person', 'people')}, {plural(facts.features, 'feature')}, "
        f"{plural(facts.recordings, 'task')}, of each {plural(facts.length, 'row')} that count"
    )
    if not isinstance(facts, GroupedFacts):
        return text
    return f"{text}; {facts.smallest} people in the smallest group"


# Kinds of releases of features, for the owner's memory.
_RELEASED = {
    ReleaseKind.RECORDS: "features",
    ReleaseKind.MEANS: "means over people",
    ReleaseKind.RANDOM_MEANS: "means of groups of at least {k}",
    ReleaseKind.GROUPS: "means of groups of at least {k}",
    ReleaseKind.ROWS: "synthetic rows",
    ReleaseKind.SYNTHETIC: "synthetic participants",
}


def released_as(mechanism: FeatureMechanism) -> str:
    """What kind of thing a release is, for the owner's memory."""
    return _RELEASED[mechanism.release].format(k=mechanism.parameters().get("k"))


def kept_of_rows(certificate: Certificate, whose: str = "person", parts: str = "bins") -> str:
    """What released rows keep of a person's row: all of it, or a part; empty where none keeps any.

    Args:
        certificate: of a release.
        whose: what a person is called.
        parts: what the bins of a value are called.
    """
    if certificate.described.kind is not ReleaseKind.ROWS or not certificate.guarantee.holds:
        return ""
    asked, there = certificate.parameters, len(certificate.bounds.values)
    fewest, _, most = str(asked["keep_features"]).rpartition("-")
    if int(most) >= there:
        return f"the complete row of a {whose}, every value as one of {asked['bins']} {parts}"
    many = f"{'up to ' if fewest else ''}{most} of {plural(there, 'feature')}"
    return f"{many} of a {whose}'s row, every value as one of {asked['bins']} {parts}"


def formal_only(guarantee: Guarantee) -> bool:
    """Whether ε is so large that the promise means next to nothing."""
    return guarantee.epsilon is None or guarantee.epsilon > _LARGEST_MEANT


def percent(share: float) -> str:
    """A measured share; small ones keep a digit, so that 0.1% does not become nothing.

    >>> percent(0.15), percent(0.0013), percent(0.0), percent(0.996)
    ('15%', '0.1%', '0%', '99.6%')
    """
    near_an_end = 0.0005 <= share < 0.01 or 0.99 < share < 0.9995
    digits = 1 if near_an_end else 0
    # Adding nothing makes a zero of what would be written as less than one.
    return f"{round(100 * share, digits) + 0.0:.{digits}f}%".replace("-", "−")


def limits(rate: Rate) -> str:
    """Its 95% limits over people.

    >>> from eyelid.attacks.statistics import Rate
    >>> limits(Rate(0.05, 0.00127, 0.2487, 0.05, 20))
    '0.1–25%'
    >>> limits(Rate(0.16, -0.03, 0.36, 0.0, 20))
    '−3 to 36%'
    """
    between = " to " if rate.low < 0 else "–"
    return f"{percent(rate.low).removesuffix('%')}{between}{percent(rate.high)}"
