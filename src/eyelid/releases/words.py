"""Guarantees in the words of the person who has to explain them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from eyelid.gaze.features.catalogue import most_used
from eyelid.gaze.study import Feature
from eyelid.mechanisms.features import (
    FeatureMechanism,
    PredictableMechanism,
    UnpredictableMechanism,
)
from eyelid.mechanisms.groups.partition import groups_told
from eyelid.mechanisms.groups.public_groups import GroupedShape
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.unit import PERSON, Unit
from eyelid.releases.accounting import undone
from eyelid.releases.certificate import NARROWEST_FORM, Certificate
from eyelid.releases.kinds.features.expectation import (
    MOST_ERROR,
    Expectation,
    beats_constant,
    clipped,
    constant_nearer,
    error_in_unit,
    expectation,
    few_of,
    for_means,
    people_needed,
    predicted,
    worse_than_constant,
)
from eyelid.spelling import plural

if TYPE_CHECKING:
    from eyelid.attacks.error import ErrorMeasures
    from eyelid.attacks.statistics import Rate

_LARGEST_MEANT = 10.0
# A bound on naming people above this rules out almost nothing.
SAYS_NOTHING = 0.995
FORMAL_ONLY = "At this size the promise is formal only: it rules out almost nothing."


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


def errors_told(features: Sequence[Feature], of_span: float) -> str:
    """An error, of a few features in their units: the others have it in the same proportion.

    Args:
        features: with bounds; without any, the error is said as a share of a feature's range.
        of_span: the error in spans.

    >>> rate = Feature("fixation_rate", "1/s", "", 0.0, 10.0)
    >>> errors_told([rate], 0.0884), errors_told([], 0.0884)
    ('fixation_rate 0.88/s', "0.0884 of a feature's range")
    """
    few = few_of(features)
    if not few:
        return f"{number(of_span)} of a feature's range"
    return ", ".join(f"{f.name} {in_unit(error_in_unit(f, of_span), f.unit)}" for f in few)


def measured_told(error: ErrorMeasures | Mapping[str, tuple[float, str]], of_span: float) -> str:
    """Measured errors of a few features in their units; over all of them as a share, aside.

    Args:
        error: of each feature; or by name, the error and its unit.
        of_span: over all features, in spans.

    >>> measured_told({"fixation_rate": (0.8839, "1/s")}, 0.0884)
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
        return f"No privacy guarantee holds: {why}."
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
    epsilon = guarantee.epsilon if guarantee.epsilon is not None else math.inf
    factor = rounded_up(math.exp(epsilon), 3) if epsilon < 20 else f"e^{rounded_up(epsilon)}"
    addition = f" plus {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    return f"a factor of at most {factor}{addition}"


def _anonymity(guarantee: Guarantee, undone: str) -> str:
    """What k-anonymity means, what it does not, and what other releases leave of it."""
    k = guarantee.k
    same = f"every released record is the same for all of at least {k} people"
    if undone:
        told = f"{_capital(undone)}. This release alone would give 1/{k}: {same}."
    else:
        told = (
            f"{_capital(same)}, so that whoever has other recordings of somebody names the right "
            f"one of them with probability 1/{k} at most, as long as nothing else of these people "
            "is released and they were equally likely before."
        )
    return (
        f"{told} That is about telling the members of a group apart, not about what their mean "
        "shows of each: which group somebody is in is not hidden, and whoever has the recordings "
        "of all its members but one can compute the last one's values. This is k-anonymity, not "
        "differential privacy: it has no ε, and other releases of the same people can undo it."
    )


def _deniability(guarantee: Guarantee, undone: str, how: str) -> str:
    """What plausible deniability means, what it does not, and what other releases leave of it."""
    gamma = rounded_up(guarantee.gamma or 1.0)
    whose = "people" if guarantee.unit == PERSON else "records"
    lead = "" if how.startswith(undone) else f"{undone}; what follows is about this release alone"
    told = "".join(f"{_capital(words)}. " for words in (lead, how) if words)
    return (
        f"{told}A row that keeps values of a real row is released only if at least {guarantee.k} "
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
    told = guarantee.numbers()
    return told if guarantee.holds else f"{told}: printed or asked for, not promised"


def promise_lines(
    guarantee: Guarantee, others: str = "", how: str = "", form: str = NARROWEST_FORM
) -> list[str]:
    """The same for a terminal: reasons are many and long, and each has its own line."""
    if guarantee.holds or not guarantee.reasons:
        return [promise(guarantee, others, how, form)]
    return ["No privacy guarantee holds:", *(f"- {reason}" for reason in guarantee.reasons)]


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
            f"{so_far}: no total ε{why}; and no 1/k either, because whoever has two of them may "
            "find who is in both groups."
        )
    return f"{so_far}: no bound{why}."


def facts(mechanism: FeatureMechanism, shape: Shape) -> str:
    """The public facts that everything else follows from, about what is released."""
    if mechanism.release is ReleaseKind.SYNTHETIC:
        return _facts_of_synthetic(shape)
    if mechanism.release is ReleaseKind.ROWS and not mechanism.mixes_people:
        rows = mechanism.parameters()["rows"]
        return (
            f"{shape.people} people, {plural(shape.features, 'feature')}; "
            f"{plural(rows, 'made-up row')} of each of {plural(shape.recordings, 'task')}"
        )
    most = "" if mechanism.claims_to_hold else "up to "
    if mechanism.length == "group":
        most = "at least "
    shown = mechanism.core.released(shape)
    text = (
        f"{plural(shown.people, 'person', 'people')}, up to {plural(shown.recordings, 'recording')}"
        f" each of {most}{plural(shown.length, 'row')}, {plural(shown.features, 'feature')}"
    )
    if shown is not shape:
        text += f" (measured: {plural(shape.length, 'bin')}, {plural(shape.features, 'stream')})"
    if mechanism.smallest(shape) < shape.people:
        text += f"; {mechanism.smallest(shape)} people in the smallest group"
    if mechanism.release is ReleaseKind.GROUPS and mechanism.group_size is not None:
        text += f"; {groups_told(shape.people, mechanism.group_size)}"
    return text


def _facts_of_synthetic(shape: Shape) -> str:
    text = (
        f"{plural(shape.people, 'person', 'people')}, {plural(shape.features, 'feature')}, "
        f"{plural(shape.recordings, 'task')}, of each {plural(shape.length, 'row')} that count"
    )
    if not isinstance(shape, GroupedShape):
        return text
    return f"{text}; {shape.smallest} people in the smallest group"


# Kinds of releases of features, for the owner's memory.
_RELEASED = {
    ReleaseKind.RECORDS: "features",
    ReleaseKind.MEANS: "means over people",
    ReleaseKind.RANDOM_MEANS: "means of groups of at least {k}",
    ReleaseKind.GROUPS: "means of groups of at least {k}",
    ReleaseKind.ROWS: "made-up rows",
    ReleaseKind.SYNTHETIC: "made-up people",
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
    """A measured share; small ones keep a digit, so that 0.1 % does not become nothing.

    >>> percent(0.15), percent(0.0013), percent(0.0), percent(0.996)
    ('15 %', '0.1 %', '0 %', '99.6 %')
    """
    near_an_end = 0.0005 <= share < 0.01 or 0.99 < share < 0.9995
    digits = 1 if near_an_end else 0
    # Adding nothing makes a zero of what would be written as less than one.
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %"


def limits(rate: Rate) -> str:
    """Its 95 % limits over people.

    >>> from eyelid.attacks.statistics import Rate
    >>> limits(Rate(0.05, 0.00127, 0.2487, 0.05, 20))
    '0.1–25 %'
    >>> limits(Rate(0.16, -0.03, 0.36, 0.0, 20))
    '-3 to 36 %'
    """
    between = " to " if rate.low < 0 else "–"
    return f"{percent(rate.low).removesuffix(' %')}{between}{percent(rate.high)}"


def worth(mechanism: FeatureMechanism, shape: Shape, features: Sequence[Feature] = ()) -> str:
    """What is left to see in the release, from public facts alone.

    Args:
        mechanism: with its parameters.
        shape: the public facts.
        features: with the bounds that values are clipped to, so that errors are in their units.
    """
    noisy = predicted(mechanism)
    if noisy is None:
        return cast(UnpredictableMechanism, mechanism).worth(shape)
    expected = expectation(noisy, shape)
    known = features if errors_have_units(mechanism) else ()
    if expected.most:
        off = errors_told(known, expected.value)
        return (
            f"The noise depends on the data: one value is off by {off} at most, perhaps by much "
            "less. No guarantee holds, so it hides nothing for certain."
        )
    said = [
        "" if expected.informative else _instead_of_noise(noisy, shape),
        _errors(expected, shape, known),
        noisy.cut_off(shape),
    ]
    if not expected.informative:
        person_level = mechanism.cost(shape, PERSON)
        said.append(_verdict(expected, person_level))
        said.append(_what_would(noisy, shape, expected, person_level, known))
    elif not beats_constant(expected.value):
        said.append(
            f"Means over rows carry information. {_beaten('single values', expected.value)}"
        )
    return " ".join(sentence for sentence in said if sentence)


def errors_have_units(mechanism: FeatureMechanism) -> bool:
    """Whether the expected error is that of each feature, and not an average over all."""
    return not mechanism.core.measures_bins


def _errors(expected: Expectation, shape: Shape, features: Sequence[Feature]) -> str:
    """How far off what is released will be, in the units of features; shares of ranges aside."""
    parts: list[str] = []
    what = "of one value of the mean" if expected.central else "of one value"
    mean = "of a group's mean over its rows" if expected.central else "of a recording's mean"
    for name, error in ((what, expected.value), (mean, expected.recording_mean)):
        if parts and shape.length == 1:
            break
        aside = [f"{number(error)} of a feature's range"] if features else []
        if expected.clipped:
            after = f", about {number(clipped(error))} after" if not parts else ""
            aside.append(f"before clipping to the bounds{after}")
        told = f" ({'; '.join(aside)})" if aside else ""
        parts.append(f"{name}: {errors_told(features, error)}{told}")
    return f"Expected error {'; '.join(parts)}."


def _instead_of_noise(mechanism: PredictableMechanism, shape: Shape) -> str:
    """What to take instead of noisy means of groups that are too small, said before anything."""
    if mechanism.release is not ReleaseKind.RANDOM_MEANS:
        return ""
    needed = people_needed(mechanism, shape)
    enough = needed is not None and needed <= shape.people
    return (
        f"Means of {mechanism.smallest(shape)} people drown in the noise of this ε. One mean over "
        f"all {shape.people} people (groupmean) has the least noise"
        f"{'' if enough else ', though still too much'}; without an ε, ksame gives means without "
        "noise and hides names among k."
    )


def _verdict(expected: Expectation, person_level: Guarantee) -> str:
    """Why a release carries no information to rely on."""
    nothing = worse_than_constant(expected.recording_mean)
    beaten = _beaten("even means over rows", expected.recording_mean)
    amount = "almost no" if nothing else "little"
    if expected.central:
        return f"{beaten} This release carries {amount} information."
    # Errors are of one feature; only the guarantee speaks of all of them together.
    if _next_to_nothing(person_level):
        return f"{beaten} This release carries {amount} information about a person's own features."
    feature = "almost nothing" if nothing else "little"
    return f"{beaten} One feature says {feature}; all of them together may still name people."


def _beaten(what: str, error: float) -> str:
    """How an error compares with a constant in the middle of the bounds."""
    if worse_than_constant(error):
        return (
            f"{what[0].upper()}{what[1:]} are farther from the truth than a constant in the middle "
            "of the bounds, which anybody could write down."
        )
    return (
        f"For {percent(constant_nearer(error))} of all values that the bounds allow, a constant in "
        f"their middle, which anybody could write down, is nearer the truth than {what}."
    )


def _what_would(
    mechanism: PredictableMechanism,
    shape: Shape,
    expected: Expectation,
    person_level: Guarantee,
    features: Sequence[Feature],
) -> str:
    """What would carry information instead."""
    people, own = people_needed(mechanism, shape), mechanism.core
    smaller = own.units[own.units.index(mechanism.unit.name) + 1 :]
    weaker = [unit for unit in smaller if unit in mechanism.units]
    many = f"the mean over {people:,} people or more" if people else ""
    if many and mechanism.release.of_means:
        many += " in each group" if mechanism.smallest(shape) < shape.people else ""
    elif many:
        many += f" (groupmean with {for_means(mechanism, shape).name} inside)"
    ways = [
        many,
        f"an openly weaker unit ({', '.join(weaker)})" if weaker else "",
        "fewer features (--only of features) or recordings",
        # Where the promise means nothing any more, less of it is no advice.
        "" if formal_only(person_level) else "a larger ε",
    ]
    more = f"More would be seen with {_either([way for way in ways if way])}."
    if people:
        more += f" Over so many people, {_relied_on(features)}."
    if expected.central or not beats_constant(expected.group_mean):
        return more
    return (
        f"The mean of what is released over all {shape.people} people is off by "
        f"{errors_told(features, expected.group_mean)}. {more}"
    )


def _relied_on(features: Sequence[Feature]) -> str:
    """What a mean over the people that are needed is like."""
    aside = f" ({MOST_ERROR:g} of a feature's range)" if features else ""
    return f"a recording's mean is off by less than {errors_told(features, MOST_ERROR)}{aside}"


def _either(ways: list[str]) -> str:
    """One or the other.

    >>> _either(["a"]), _either(["a", "b", "c"])
    ('a', 'a, b, or c')
    """
    return ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"


def _next_to_nothing(person_level: Guarantee) -> bool:
    """Whether the guarantee itself rules out that much is learned about a person."""
    loss = person_level.epsilon if person_level.mu is None else person_level.mu
    return loss is not None and loss <= 1.0
