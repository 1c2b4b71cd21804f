"""The datasets of Bozkir et al. (2021), as its section "Datasets" describes them."""

from __future__ import annotations

from eyelid.papers.datasets import Dataset

DATASETS = (
    Dataset(
        "MPIIDPEye",
        {
            "people": "20 (10 female, 10 male)",
            "recordings": "60",
            "what": "reading of a comic, a newspaper and a textbook in VR",
            "windows": "30 s, every 0.5 s",
            "features": "52, of which 48 are used",
        },
        "the authors' feature files where they are there, else 52 features of raw recordings",
    ),
    Dataset(
        "MPIIPrivacEye",
        {
            "people": "17",
            "recordings": "51",
            "what": "three sessions of daily life with a head-mounted eye tracker",
            "windows": "30 s, every 1 s",
            "features": "52, of which 48 are used",
        },
    ),
)
