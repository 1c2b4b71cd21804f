"""The data card: what a person who receives the data, or an ethics board, needs to read."""

from __future__ import annotations

from eyelid.audits.membership import advantage_bound
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.privacy.unit import Trust
from eyelid.releases.certificate import Certificate
from eyelid.releases.rendering import rendered
from eyelid.releases.words import worth


def datacard(
    certificate: Certificate, table: FeatureTable, shape: Shape, mechanism: Mechanism
) -> str:
    """The text of DATACARD.md."""
    central = certificate.guarantee.trust is Trust.CENTRAL
    return rendered(
        "datacard.md.j2",
        certificate=certificate,
        table=table,
        shape=shape,
        mechanism=mechanism,
        kept=table.people.columns[1:],
        rows=int(table.recordings["rows"][0]),
        central=central,
        groups=table.people.select("person", "people").rows() if central else [],
        advantage=advantage_bound(certificate.total or certificate.person_level) or 1.0,
        worth=worth(mechanism, shape),
        proof_note=" ".join((type(mechanism).__doc__ or "").split("\n\n")[0].split()),
    )
