"""What a release of gaze promises and is worth, in words."""

from __future__ import annotations

from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.rank1 import guess_between_two
from eyelid.releases.certificate import Certificate
from eyelid.releases.streams.expectation import FIXATION_S, Distance
from eyelid.releases.streams.plan import REGULAR, TIMES
from eyelid.releases.words import factor, formal_only, number
from eyelid.spelling import plural


def stream_facts(shape: Shape) -> str:
    """The public facts that everything else follows from."""
    return (
        f"{plural(shape.people, 'person', 'people')}, up to {plural(shape.recordings, 'recording')}"
        f" each of up to {plural(shape.length, 'sample')}"
    )


def worth_of(distance: Distance) -> str:
    """What is left to see, as far as public facts tell."""
    told = (
        f"On made-up gaze ({distance.rate_hz:g} Hz, a new place every {FIXATION_S:g} s) half of "
        f"the released samples are farther off than {number(distance.released)} {distance.units}; "
        f"the middle of the scene would be {number(distance.constant)} off."
    )
    if not distance.informative:
        told += (
            " A single released sample tells next to nothing of where somebody looked: a larger ε, "
            "a smaller radius or a shorter window shows more."
        )
    return told


def guessed(guarantee: Guarantee) -> str:
    """How often a guess between two ways of looking is right, at most."""
    return f"{rounded_up(100 * guess_between_two(guarantee), 3)} %"


def window_told(law: StreamMechanism, rate_hz: float | None) -> str:
    """What the samples of a window and the radius are, in words of the study."""
    if not isinstance(law, Filter):
        return ""
    seconds = f" ({number(law.window / rate_hz, 2)} s at {rate_hz:g} Hz)" if rate_hz else ""
    return (
        f"any {plural(law.window, 'sample')} in a row of one recording{seconds}, each moved by at "
        f"most {law.radius:g} {law.place.spoken_units}"
    )


def stream_for_participants(
    certificate: Certificate, law: StreamMechanism, rate_hz: float | None
) -> str:
    """What a release of gaze means to whoever is in it, for a consent form."""
    promised, window = certificate.guarantee, window_told(law, rate_hz)
    if not promised.holds or not window:
        return (
            "We share where you looked, changed in a way that carries no guarantee of privacy. "
            "Whoever gets the data may find out which are yours, and what they say about you."
        )
    told = (
        "We share where you looked, moment by moment, with random noise added. The promise is "
        f"for short stretches: if {window}, had been elsewhere, the probability of anything that "
        f"others conclude would change by {factor(promised)}. Whoever guesses which of two such "
        f"ways you looked is right in at most {guessed(promised)} of cases, in place of 50 %. "
    )
    if formal_only(promised):
        told += "That promises you almost nothing, even for so short a time. "
    person = certificate.person_level
    told += (
        "You as a whole are not hidden: for everything that we share of you the same number is "
        f"{factor(person)}, which promises almost nothing. Whoever has other recordings of you may "
        "find out which are yours. "
        if formal_only(person)
        else f"For everything that we share of you it is {factor(person)}. "
    )
    total = certificate.total
    if total is not None and len(certificate.ledger) > 1:
        limit = f"it is {factor(total)}" if total.holds else "no limit is known"
        told += f"Together with what we have shared before, {limit}. "
    clock = "" if TIMES[REGULAR] in certificate.unprotected else "when each sample was taken, "
    return (
        f"{told}Shared as they are: {clock}when your eyes were lost (in blinks, say), how long "
        "recordings are, and what you were asked to do. By these alone somebody may be recognised. "
        "That you took part is not hidden."
    )
