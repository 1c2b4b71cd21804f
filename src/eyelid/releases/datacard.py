"""The data card: what a person who receives the data, or an ethics board, needs to read."""

from __future__ import annotations

from eyelid.audits.membership import advantage_bound
from eyelid.gaze.features.catalogue import EVENT_KINDS, event_feature_set, window_feature_set
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.papers.paper_mechanism import PaperMechanism
from eyelid.mechanisms.prewindow import Prewindow
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import Trust
from eyelid.releases.certificate import Certificate
from eyelid.releases.expectation import inside
from eyelid.releases.rendering import rendered
from eyelid.releases.words import SAYS_NOTHING, plural, worth


def datacard(
    certificate: Certificate, table: FeatureTable, shape: Shape, mechanism: FeatureMechanism
) -> str:
    """The text of DATACARD.md: of rows, lengths and features it tells what the table has."""
    central = certificate.guarantee.trust is Trust.CENTRAL
    own = inside(mechanism)
    return rendered(
        "datacard.md.j2",
        certificate=certificate,
        table=table,
        shape=shape,
        mechanism=mechanism,
        kept=table.people.columns[1:],
        rows=_rows(table),
        measured=own if isinstance(own, Prewindow) else None,
        paper=mechanism if isinstance(mechanism, PaperMechanism) else None,
        central=central,
        groups=table.people.select("person", "people").rows() if central else [],
        advantage=advantage_bound(certificate.person_level),
        advantage_in_all=advantage_bound(certificate.total),
        says_nothing=SAYS_NOTHING,
        not_named=_why_no_bound(certificate),
        eyes="eye-tracking features" if _about_eyes(table) else "features",
        worth=worth(mechanism, shape),
        proof_note=" ".join((type(mechanism).__doc__ or "").split("\n\n")[0].split()),
    )


def _rows(table: FeatureTable) -> str:
    """How long recordings are."""
    lengths = table.recordings["rows"].to_numpy()
    shortest, longest = int(lengths.min()), int(lengths.max())
    return plural(longest, "row") if shortest == longest else f"{shortest} to {longest} rows"


def _why_no_bound(certificate: Certificate) -> str:
    """Why it cannot be said how often people are named, where it cannot."""
    counted = certificate.total or certificate.person_level
    if not certificate.person_level.holds:
        return "no guarantee holds"
    if not counted.holds:
        return "earlier releases of them carry no guarantee"
    allowed = rank1_bounds(counted, certificate.people)["raw_to_release"]
    if allowed is not None and allowed > SAYS_NOTHING:
        return f"{counted.numbers()} for a person rules out almost nothing"
    return "what is not protected, here or in earlier releases, may tell them apart"


def _about_eyes(table: FeatureTable) -> bool:
    """Whether some of the features are those that eyelid makes of gaze."""
    known = {f.name for f in window_feature_set()}
    known |= {f.name for kind in EVENT_KINDS for f in event_feature_set(kind)}
    return bool(known & set(table.names))
