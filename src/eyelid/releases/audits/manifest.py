"""What stands in the folder of a release beside the study: in study.json and in Parquet files.

The hash of a release is of its rows and people. Names that nobody reads would be shared with them.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eyelid.engine.files import content_of
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.parquet import kept_beside
from eyelid.io.remote import here
from eyelid.mechanisms.certificate import Certificate
from eyelid.releases.audits.certificate_file import among, read_once

# What polars itself writes into a Parquet file.
_OF_PARQUET = {"ARROW:schema"}
_OF_PART = {"file", "people", "rows", "sha256"}


def beside_the_study(folder: Path | None, study: Study) -> Iterator[str]:
    """Names in study.json, or in Parquet files, that no release has.

    Args:
        folder: of the release; None in memory.
        study: as it was read from there.
    """
    if folder is None:
        return
    found: Any = read_once(content_of(here(folder) / "study.json"))
    parts = found.pop("parts", []) if isinstance(found, dict) else []
    with tempfile.TemporaryDirectory(prefix="eyelid-") as home:
        study_folder.write_head(study, Path(home))
        wanted = json.loads((Path(home) / "study.json").read_text("utf-8"))
    if not among(found, wanted) or any(set(part) - _OF_PART for part in parts):
        yield "study.json says more than that of a release"
    for file, _ in study_folder.data_files(folder):
        if kept_beside(here(str(file))) - _OF_PARQUET:
            yield "the files of rows say more than that of a release"
            return


def other_features(
    certificate: Certificate, original: FeatureTable, released: FeatureTable
) -> Iterator[str]:
    """Released features that are not called or bounded as those they were made of.

    Args:
        certificate: of the release.
        original: what it was made of.
        released: as it was read.
    """
    ours = {feature.name: feature for feature in original.features}
    for feature in released.features:
        own, bounds = ours.get(feature.name), certificate.bounds.values.get(feature.name)
        if own is None or bounds is None:
            continue
        said = (feature.unit, feature.definition) == (own.unit, own.definition)
        pairs = zip((feature.lower, feature.upper), bounds, strict=True)
        if not said or not all(math.isclose(one, other) for one, other in pairs):
            yield "study.json has other units, definitions or bounds of features than the release"
            return
