"""The data card of a heatmap: what whoever receives it needs to read."""

from __future__ import annotations

from collections.abc import Sequence

from eyelid.mechanisms.certificate import Certificate
from eyelid.privacy.rank1 import advantage_bound
from eyelid.releases.consent import for_participants
from eyelid.releases.kinds.maps.plan import MapPlan
from eyelid.releases.maps.legends import guarantee_legend
from eyelid.releases.rendering import rendered


def map_card(
    plan: MapPlan, certificate: Certificate, says: Sequence[str], *, simulated: bool
) -> str:
    """The text of DATACARD.md: of the data it tells what was released, and nothing else."""
    used = [each for each in (plan.mechanism, plan.tables and plan.tables.mechanism) if each]
    return rendered(
        "mapcard.md.j2",
        plan=plan,
        view=plan.view,
        grid=plan.observers[0].shape.grid if plan.observers else None,
        certificate=certificate,
        legend=guarantee_legend(certificate.person_level, certificate.people),
        says=says,
        for_participants=for_participants(certificate),
        simulated=simulated,
        advantage=advantage_bound(certificate.person_level),
        advantage_in_all=advantage_bound(certificate.total),
        mechanisms=used,
        notes=[each.note.summary for each in used],
        papers=list(dict.fromkeys(each.paper for each in used)),
    )
