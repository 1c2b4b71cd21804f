"""What the owner should know before paying for synthetic recordings."""

from __future__ import annotations

from collections.abc import Iterator

from eyelid.releases.kinds.gaze.plan import GazeDesign
from eyelid.releases.kinds.gaze.survey import Survey
from eyelid.releases.kinds.statistics.notes import PRIVATE
from eyelid.reporting.synthetic_gaze import instead
from eyelid.spelling import plural


def better_ways(design: GazeDesign, source: str) -> list[str]:
    """What would keep more of so few people, with the commands.

    Args:
        design: of the release.
        source: what the study is called.
    """
    return instead(design.mechanism, design.described, source, design.facts.people)


def public_notes(design: GazeDesign) -> list[str]:
    """What public facts say: what cannot be measured, and how long recordings will be.

    Args:
        design: of the release.
    """
    facts, found = design.facts, list[str]()
    if facts.minutes_from == "usual":
        found.append(
            f"nobody said how long recordings were planned to be: synthetic ones last "
            f"{facts.minutes:g} min; another length is said by `minutes=…`"
        )
    if not facts.on_surface:
        found.append(
            "the study does not say where on a screen gaze is, so that places are the norm's, and "
            f"gaze is in {facts.form.units} around the middle"
        )
    reasons: dict[str, list[str]] = {}
    for name, reason in design.cannot.items():
        reasons.setdefault(reason, []).append(name)
    found += [
        f"{', '.join(names)} cannot be measured ({reason}), and what is released of "
        f"{'it' if len(names) == 1 else 'them'} is the norm's"
        for reason, names in reasons.items()
    ]
    return found


def survey_notes(survey: Survey) -> Iterator[str]:
    """What everybody's numbers say, for the owner alone.

    Args:
        survey: of everybody.
    """
    if survey.unseen:
        yield (
            f"{PRIVATE}: {plural(survey.unseen, 'person has', 'people have')} no gaze that "
            "parameters could be measured of, and count as the norm does"
        )
    if survey.alone:
        named = ", ".join(f"'{each}'" for each in survey.alone[:3])
        more = f" and {len(survey.alone) - 3} more" if len(survey.alone) > 3 else ""
        yield (
            f"{PRIVATE}: one person alone has recordings of {named}{more}: that name is released, "
            "and shows that one participant saw it. If it was theirs alone by design, leave them "
            "or the column of stimuli out"
        )
