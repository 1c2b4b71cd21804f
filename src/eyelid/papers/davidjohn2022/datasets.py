"""Table 2 of David-John et al. (2022): their datasets, as printed."""

from __future__ import annotations

from eyelid.papers.datasets import Dataset

_HEADS = ("# Ppts.", "# Stim.", "Data Per Ppt.", "Stimuli Type", "Task")
_CONVERT = "convert to a study folder of that name first"
_PRINTED = {
    "MPIIDPEye": ("20", "3", "30 mins", "Documents", "VR Reading"),
    "ET-DK2": ("18", "50", "21 mins", "360° Images", "Free Viewing"),
    "VR-Saliency": ("130", "8", "4 mins", "360° Images", "Free Viewing"),
    "360_em": ("13", "14", "17 mins", "360° Videos", "Free Viewing"),
    "VR-EyeTracking": ("43", "208", "Avg: 88 mins", "360° Videos", "Free Viewing"),
    "OpenEDS": ("44", "2", "10 mins", "3D Scene", "Free Exploration"),
    "EHTask": ("30", "15", "30 mins", "360° Videos", "Free Viewing, Search, Saliency, Track"),
}
_READING = {"VR-Saliency": _CONVERT, "OpenEDS": _CONVERT}
_FOLDERS = {"OpenEDS": "OpenNEEDS"}

DATASETS = tuple(
    Dataset(
        name,
        dict(zip(_HEADS, row, strict=True)),
        _READING.get(name, "read as published"),
        _FOLDERS.get(name, ""),
    )
    for name, row in _PRINTED.items()
)
