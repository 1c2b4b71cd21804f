"""The datasets of Bozkir et al. (2021)."""

from __future__ import annotations

from eyelid.papers.datasets import Dataset

DATASETS = (
    Dataset("MPIIDPEye", {"people": "20", "what": "reading of three documents"}),
    Dataset("MPIIPrivacEye", {"people": "17", "what": "daily life, three recordings each"}),
)
