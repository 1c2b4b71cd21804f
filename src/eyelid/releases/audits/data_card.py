"""Is the data card of released features the one that was written of them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from eyelid.engine.files import content_of
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import STANDARD_ERRORS
from eyelid.io.remote import here
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.reporting.cards import datacard
from eyelid.reporting.dataset_fields import without_fields
from eyelid.reporting.worth import worth
from eyelid.version import build

CHANGED = (
    "DATACARD.md is not as it was written of this release, but for what its owner states at its "
    "top: nothing covers what was added or changed, so read it before you share it"
)


def card_notes(
    folder: Path | None,
    certificate: Certificate,
    mechanism: FeatureMechanism | None,
    taken: FeatureTable,
    released: FeatureTable,
) -> list[str]:
    """That the card in a folder says other things than eyelid wrote there.

    Args:
        folder: of the release; None in memory.
        certificate: of the release.
        mechanism: that it names; None where it is not known here.
        taken: what the mechanism took.
        released: what was released.
    """
    card = None if folder is None else here(folder) / "DATACARD.md"
    # Another version says the same in other words.
    stale = certificate.version != build()
    if folder is None or card is None or not card.is_file() or mechanism is None or stale:
        return []
    facts, empty = mechanism.facts(taken), list[str]()
    spreads: dict[str, tuple[float, float]] = {}
    if mechanism.release is ReleaseKind.SYNTHETIC:
        empty = [name for name in released.names if not released.data[name].count()]
        for name in set(released.names) - set(empty):
            values = released.data[name].cast(pl.Float64)
            mean, spread = values.mean(), values.std()
            if isinstance(mean, float) and isinstance(spread, float):
                spreads[name] = (mean, spread)
    written = datacard(
        certificate,
        released,
        facts,
        mechanism,
        worth=worth(mechanism, facts, taken.features),
        clipped_to=taken.features,
        has_standard_errors=(here(folder) / STANDARD_ERRORS).exists(),
        empty=empty,
        spreads=spreads,
    )
    shown = content_of(card).decode("utf-8", errors="replace")
    return [] if without_fields(shown) == written else [CHANGED]
