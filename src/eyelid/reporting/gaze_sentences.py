"""What a release of gaze promises and is worth, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.distance import FIXATION_S, Distance
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.rank1 import guess_between_two
from eyelid.reporting.consent import NOT_HIDDEN, TOOK_PART, how_many, in_addition
from eyelid.reporting.sentences import factor, formal_only, number
from eyelid.spelling import plural

RECORDED, REGULAR = "recorded", "regular"
# What is said of time stamps that were recorded, and of those that are the numbers of samples.
TIMES = {
    RECORDED: "when each sample was taken: time stamps are released as recorded, from each "
    "recording's start",
    REGULAR: "the order of samples: time stamps are their numbers times the public step",
}
MOMENTS = "We share where you looked, moment by moment."


def stream_facts(facts: PublicFacts) -> str:
    """The public facts that everything else follows from."""
    return (
        f"{plural(facts.people, 'person', 'people')}, up to {plural(facts.recordings, 'recording')}"
        f" each of up to {plural(facts.length, 'sample')}"
    )


def worth_of(distance: Distance) -> str:
    """What is left to see, as far as public facts tell."""
    sentence = (
        f"On simulated gaze ({distance.rate_hz:g} Hz, a new place every {FIXATION_S:g} s) half of "
        f"the released samples are farther off than {number(distance.released)} {distance.units}; "
        f"the middle of the scene would be {number(distance.constant)} off."
    )
    if not distance.informative:
        sentence += (
            " A single released sample tells next to nothing of where a participant looked: a "
            "larger ε, a smaller radius or a shorter window shows more."
        )
    return sentence


def guessed(guarantee: Guarantee) -> str:
    """How often a guess between two ways of looking is right, at most."""
    return f"{rounded_up(100 * guess_between_two(guarantee), 3)}%"


def over_recordings(guarantee: Guarantee, touched: int) -> Guarantee:
    """What the samples of a window have that lie in several recordings: the sum over these.

    Args:
        guarantee: of those that lie in one.
        touched: recordings in which they lie, at most.
    """
    epsilon, delta = guarantee.epsilon, guarantee.delta
    return replace(
        guarantee,
        epsilon=None if epsilon is None else touched * epsilon,
        delta=None if delta is None else touched * delta,
    )


def restarts_in_words(guarantee: Guarantee, touched: int) -> str:
    """What a stretch of gaze has that does not end with its recording; empty if it always does.

    Args:
        guarantee: of one that lies in one recording.
        touched: recordings in which it can lie, at most.
    """
    if touched == 1:
        return ""
    together = over_recordings(guarantee, touched)
    return (
        "Every recording starts the filter anew: a stretch as long that lies in several "
        f"recordings, here in up to {touched}, has {together.numbers()} in total, and guesses are "
        f"right in at most {guessed(together)} of cases."
    )


def window_in_words(mechanism: StreamMechanism, rate_hz: float | None) -> str:
    """What the samples of a window and the radius are, in words of the study."""
    filter = mechanism.guaranteed
    if filter is None:
        return ""
    seconds = f" ({number(filter.window / rate_hz, 2)} s at {rate_hz:g} Hz)" if rate_hz else ""
    return (
        f"any {plural(filter.window, 'sample')} in a row of one recording{seconds}, each moved by "
        f"at most {filter.radius:g} {filter.place.spoken_units}"
    )


def stream_for_participants(
    certificate: Certificate,
    mechanism: StreamMechanism,
    rate_hz: float | None,
    touched: int = 1,
    kept: Sequence[str] = (),
) -> str:
    """What a release of gaze means to a participant, for a consent form.

    Args:
        certificate: of the release.
        mechanism: the filter.
        rate_hz: samples a second, where it is known.
        touched: recordings in which the samples of a window can lie, at most.
        kept: attributes of people that are released as they are.
    """
    promised, window = certificate.guarantee, window_in_words(mechanism, rate_hz)
    if not promised.holds or not window:
        return f"{NOT_HIDDEN} {MOMENTS} What was changed hides nothing for certain."
    person, several = certificate.person_level, over_recordings(promised, touched)
    said = [
        f"{MOMENTS} Random noise was added. The promise is for short stretches: if {window}, had "
        f"been elsewhere, the probability of anything that others conclude would change by "
        f"{factor(promised)}. A guess which of two such ways you looked is right in at most "
        f"{guessed(promised)} of cases, in place of 50%.",
        f"Every recording starts anew: where such a stretch lies in several of them, here in up to "
        f"{touched}, it is {factor(several)}, and a guess is right in at most {guessed(several)}."
        if touched > 1
        else "",
        "That promises you almost nothing, even for so short a time."
        if formal_only(promised)
        else "",
        "You as a whole are not hidden: if everything of you had been other data "
        f"{certificate.form}, the same number is {factor(person)}, which promises almost nothing. "
        "Others who have recordings of you may find out which are yours."
        if formal_only(person)
        else f"If everything of you had been other data {certificate.form}, it is "
        f"{factor(person)}.",
        *in_addition(certificate, kept),
    ]
    clock = "" if TIMES[REGULAR] in certificate.unprotected else "when each sample was taken; "
    said.append(
        f"Shown exactly: {how_many(certificate)}; the name or number that the study gives you, and "
        f"your place in its order; {clock}when your eyes were lost (in blinks, say); how many "
        "samples each of your recordings has; and what recordings, tasks and stimuli are called. "
        f"By these alone a participant may be re-identified. {TOOK_PART}"
    )
    return " ".join(sentence for sentence in said if sentence)
