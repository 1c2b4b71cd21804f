"""What may differ between the folders of two neighbouring studies: this list, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Excepted:
    """A place in a folder, or on the terminal, that may differ.

    Attributes:
        places: a pattern of places, see `eyelid.releases.neighbours.folder`.
        why: that tells nobody more than the guarantee allows.
        always: whether it may differ even when both studies get the same noise and no data:
            released values may not then, nor may anything that is computed from them.
        mechanism: whose folders it is about; of all of them by default.
    """

    places: str
    why: str
    always: bool = False
    mechanism: str = "*"


_VALUE = "a released value: the guarantee is about it"
_HASH = "a hash of released values"
_FROM_VALUES = "computed from released values and public facts"
_LENGTHS = "lengths of synthetic recordings are measured under noise: released values"
_COUNTED = "whether hardly anyone has a feature is read off noisy counts: released values"
_CHOSEN = "a private choice, which is a released value, or follows from it"
_SEATS = "which of the groups are the larger ones is left to chance"
_OWNER = "printed for the owner of the data, and in no file of the folder"

EXCEPTED = (
    Excepted(
        "certificate.json: input_sha256",
        "a fingerprint under the secret key of the ledger, which only its owner can check",
        always=True,
    ),
    Excepted("terminal: rows", _OWNER, always=True),
    Excepted("terminal: notes", _OWNER, always=True),
    Excepted("terminal: for the owner", _OWNER, always=True),
    Excepted("certificate.json: output_sha256", _HASH),
    Excepted("study.json: parts.*.sha256", _HASH),
    Excepted("data.parquet*: values of *", _VALUE),
    Excepted("data.parquet*: content", "released values, compressed: so is their size"),
    Excepted("data.parquet*: rows", _LENGTHS, mechanism="synthetic"),
    Excepted("data.parquet*: column *", _LENGTHS, mechanism="synthetic"),
    Excepted("DATACARD.md: What was done", _LENGTHS, mechanism="synthetic"),
    Excepted("data.parquet*: missing values of *", _COUNTED, mechanism="synthetic"),
    Excepted("people.csv: column people", _SEATS, mechanism="ksame-dp"),
    Excepted("people.csv: content", _SEATS, mechanism="ksame-dp"),
    Excepted("map.npz: values of map", _FROM_VALUES),
    Excepted("map.npz: values of measured", _FROM_VALUES),
    Excepted("map.npz: values of cells", _VALUE),
    Excepted("map.npz: content", "released values, compressed: so is their size"),
    Excepted("certificate.json: map.reliability.*", _FROM_VALUES),
    Excepted("certificate.json: map.settled*", _CHOSEN),
    Excepted("certificate.json: map.cell_sd.*", _CHOSEN, mechanism="map-gaussian"),
    Excepted("map.npz: values of standard_error", _CHOSEN, mechanism="map-gaussian"),
    Excepted("certificate.json: text", _FROM_VALUES, mechanism="map-*"),
    Excepted("DATACARD.md: What can be trusted", _FROM_VALUES),
    Excepted("terminal: says", _FROM_VALUES),
    Excepted("*.png: pixels", "released values, drawn"),
    Excepted("*.png: content", "released values, drawn and compressed: so is their size"),
    Excepted("reliable.png: size", "what can be trusted is written below the picture, in lines"),
    Excepted("areas.csv: values of *", _VALUE),
    Excepted("areas.csv: content", "released values, written with as many digits as they have"),
)


def excepted(place: str, mechanism: str, *, coupled: bool) -> Excepted | None:
    """Why a place may differ; None where it may not.

    Args:
        place: in a folder.
        mechanism: its name.
        coupled: whether both studies got the same noise and no data.
    """
    return next(
        (
            each
            for each in EXCEPTED
            if (each.always or not coupled)
            and fnmatchcase(place, each.places)
            and fnmatchcase(mechanism, each.mechanism)
        ),
        None,
    )
