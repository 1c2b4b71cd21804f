"""The report of a heatmap's audit: one HTML file that asks nothing of the network."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from eyelid.releases.audits.map_findings import (
    findings,
    map_words,
    signed,
    signed_limits,
    table_words,
)
from eyelid.releases.report import Standing, told_total
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import SAYS_NOTHING, formal_only, stated
from eyelid.spelling import plural
from eyelid.version import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

    from eyelid.releases.audits.maps import MapsAudit

_SHOWN = {
    "overlay.png": "The released map. It is all that others see, and shows noise as well as gaze.",
    "reliable.png": "The same, hatched where it cannot be told from noise.",
    "difference.png": "Where the two groups differ, as released.",
    "areas.png": "The released tables of areas.",
}


def map_report(audit: MapsAudit) -> str:
    """The audit of a heatmap as a page."""
    # The audit writes reports.
    from eyelid.releases.audits.audit_json import UNCOVERED

    subject = audit.target
    return rendered(
        "map-report.html.j2",
        audit=audit,
        subject=subject,
        certificate=subject.certificate,
        standing=map_standing(audit),
        about=f"audit of a heatmap by {subject.certificate.mechanism}: "
        f"{plural(subject.certificate.people, 'person', 'people')}",
        pictures=list(_pictures(subject.path)),
        total=told_total(subject.total, subject.certificate.people),
        notes=audit.not_tried,
        says_nothing=SAYS_NOTHING,
        stated=stated,
        # In words of looks: the usual ones are of features.
        promise=lambda guarantee, others="", form="": guarantee_legend(
            guarantee, subject.certificate.people
        ),
        findings=findings(audit),
        map_words=map_words,
        table_words=table_words,
        signed=signed,
        signed_limits=signed_limits,
        uncovered=UNCOVERED,
        version=__version__,
    )


def map_standing(audit: MapsAudit) -> Standing:
    """How good or bad the news is."""
    subject, promised = audit.target, audit.target.certificate.person_level
    if audit.refuted:
        return Standing("refuted", "Refuted: the certificate of this heatmap is not true")
    if not promised.holds or not promised.kind.differential:
        return Standing("none", "This heatmap carries no guarantee")
    if formal_only(promised) or (promised.delta or 0.0) * subject.certificate.people >= 1:
        return Standing("weak", "A guarantee in form only: it rules out almost nothing")
    if subject.total is not None and (not subject.total.holds or formal_only(subject.total)):
        return Standing("weak", "Nothing found against this heatmap; all releases promise little")
    if audit.worst.membership is None or subject.total is None:
        return Standing("weak", "Not refuted; not everything could be tested")
    return Standing("sound", "The promise stands: no attack refuted it")


def _pictures(folder: Path) -> list[tuple[Markup, str]]:
    """The released pictures that are there, and what each shows."""
    from markupsafe import Markup

    found = []
    for name, words in _SHOWN.items():
        if (folder / name).is_file():
            data = base64.b64encode((folder / name).read_bytes()).decode("ascii")
            found.append(
                (Markup('<img alt="{}" src="data:image/png;base64,{}">').format(words, data), words)
            )
    return found
