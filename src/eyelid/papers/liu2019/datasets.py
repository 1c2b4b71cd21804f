"""The data of Liu et al. (2019), and what stands in for them."""

from __future__ import annotations

from eyelid.papers.datasets import Dataset

OSIE = "OSIE"
DATASETS = (
    Dataset(
        "five observers on a portrait",
        {"people": "5", "what": "gaze maps of 1050 × 1680 px on a portrait of a woman"},
        "of a dataset that the paper cites, which eyelid does not read: OSIE stands in",
    ),
    Dataset(
        OSIE,
        {"people": "15", "what": "not of the paper: fixations on 700 pictures (Xu et al. 2014)"},
    ),
)
