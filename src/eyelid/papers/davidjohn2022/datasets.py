"""Table 2 of David-John et al. (2022): their datasets, as printed."""

from __future__ import annotations

from eyelid.papers.datasets import Dataset

_HEADS = ("# Ppts.", "Chance Rate", "# Stim.", "Data Per Ppt.", "Stimuli Type", "Task")
_CONVERT = "convert to a study folder of that name first (docs/formats.md)"
_PRINTED = {
    "MPIIDPEye": ("20", "5.0%", "3", "30 mins", "Documents", "VR Reading"),
    "ET-DK2": ("18", "5.5%", "50", "21 mins", "360° Images", "Free Viewing"),
    "VR-Saliency": ("130", "0.8%", "8", "4 mins", "360° Images", "Free Viewing"),
    "360_em": ("13", "7.7%", "14", "17 mins", "360° Videos", "Free Viewing"),
    "VR-EyeTracking": ("43", "2.3%", "208", "Avg: 88 mins", "360° Videos", "Free Viewing"),
    "OpenEDS": ("44", "2.3%", "2", "10 mins", "3D Scene", "Free Exploration"),
    "EHTask": (
        *("30", "3.3%", "15", "30 mins", "360° Videos"),
        "Free Viewing, Search, Saliency, Track",
    ),
}
_READING = {
    "MPIIDPEye": "read as published; the authors' features where the folder has them",
    "VR-Saliency": _CONVERT,
    "OpenEDS": f"the paper cites OpenNEEDS for it; {_CONVERT}",
}
_FOLDERS = {"OpenEDS": "OpenNEEDS"}

DATASETS = tuple(
    Dataset(
        name,
        dict(zip(_HEADS, row, strict=True)),
        _READING.get(name, "read by its public layout, not run on the original"),
        _FOLDERS.get(name, ""),
    )
    for name, row in _PRINTED.items()
)

NUMBERS = {
    name: (
        float(row[0]),
        float(row[2]),
        float(row[3].removeprefix("Avg: ").removesuffix(" mins")),
    )
    for name, row in _PRINTED.items()
}
"""By dataset: participants, stimuli, and minutes per participant."""
