"""The data card: what a person who receives the data, or an ethics board, needs to read."""

from __future__ import annotations

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.releases.certificate import Certificate
from eyelid.releases.rendering import rendered
from eyelid.releases.words import worth


def datacard(
    certificate: Certificate, table: FeatureTable, shape: Shape, mechanism: Mechanism
) -> str:
    """The text of DATACARD.md."""
    return rendered(
        "datacard.md.j2",
        certificate=certificate,
        table=table,
        shape=shape,
        mechanism=mechanism,
        kept=table.people.columns[1:],
        worth=worth(mechanism, shape),
        proof_note=" ".join((type(mechanism).__doc__ or "").split("\n\n")[0].split()),
    )
