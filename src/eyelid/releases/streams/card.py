"""The data card of released gaze: what whoever receives it needs to read."""

from __future__ import annotations

from eyelid.gaze.study import Study
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.streams.distance import Distance
from eyelid.releases.kinds.streams.plan import StreamPlan
from eyelid.releases.kinds.streams.preparation import REGULAR, TIMES
from eyelid.releases.rendering import rendered
from eyelid.releases.streams.words import (
    guessed,
    restarts_told,
    stream_for_participants,
    window_told,
    worth_of,
)


def stream_card(
    certificate: Certificate,
    released: Study,
    plan: StreamPlan,
    distance: Distance,
) -> str:
    """The text of DATACARD.md: of the data it tells what was released, and nothing else.

    Args:
        certificate: of the release.
        released: everything about it but its rows.
        plan: of the release.
        distance: how far off it is, on made-up gaze.
    """
    law, facts, kept = plan.mechanism, plan.facts, released.people.columns[1:]
    return rendered(
        "streamcard.md.j2",
        certificate=certificate,
        study=released,
        law=law,
        filter=law.guaranteed,
        regular=TIMES[REGULAR] in certificate.unprotected,
        recordings=facts.recordings,
        samples=facts.samples,
        rate_hz=released.rate_hz,
        window=window_told(law, released.rate_hz),
        guess=guessed(certificate.guarantee),
        worth=worth_of(distance),
        restarts=restarts_told(certificate.guarantee, plan.touched),
        for_participants=stream_for_participants(
            certificate, law, released.rate_hz, plan.touched, kept
        ),
        proof_note=law.note.summary.replace("``", "`"),
        takes=law.note.takes.replace("``", "`"),
    )
