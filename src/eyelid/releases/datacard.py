"""The data card: what a person who receives the data, or an ethics board, needs to read."""

from __future__ import annotations

from importlib import resources

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.certificate import Certificate
from eyelid.releases.words import formal_only, number, plural, promise, worth


def datacard(
    certificate: Certificate, table: FeatureTable, shape: Shape, mechanism: Mechanism
) -> str:
    """The text of DATACARD.md."""
    from jinja2 import Environment, StrictUndefined

    text = (
        resources.files("eyelid.releases").joinpath("templates/datacard.md.j2").read_text("utf-8")
    )
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(text).render(
        certificate=certificate,
        table=table,
        shape=shape,
        mechanism=mechanism,
        promise=promise,
        number=number,
        rounded_up=rounded_up,
        plural=plural,
        formal_only=formal_only,
        kept=table.people.columns[1:],
        worth=worth(mechanism, shape),
        proof_note=" ".join((type(mechanism).__doc__ or "").split("\n\n")[0].split()),
    )
