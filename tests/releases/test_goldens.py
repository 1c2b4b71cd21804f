"""One seeded release of every kind stays what it is: values and certificate, by their digest.

Values are rounded to six digits, so that another version of a library may differ in the last ones.
Whoever means to change a release runs this file as a program, and says in the changelog why.
"""

import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.release_kind import ReleaseKind

SEED = 7
GOLDENS = Path(__file__).with_name("goldens.json")
# Keys of a certificate that differ from study to study, or from version to version.
OWN = ("input_sha256", "output_sha256", "version")
AREAS = {
    "areas": [
        {"name": "left", "rectangle": [100, 100, 800, 900]},
        {"name": "right", "rectangle": [1000, 100, 800, 900]},
    ]
}


def table(features=2):
    """Eight people, three recordings each, of whole numbers that every machine writes alike."""
    values = (np.arange(8 * 3 * 12 * features).reshape(8, 3, 12, features) * 37 % 64) / 64
    said = [
        eyelid.Feature("fixation_rate", "1/s", "fixations per second", 0.0, 1.0),
        eyelid.Feature("saccade_rate", "1/s", "saccades per second", 0.0, 1.0),
    ]
    return table_from_arrays(values, said[:features])


def study(**said):
    return eyelid.simulate(people=6, minutes=0.5, seed=3, offset_deg=0, **said)


def heatmap(out, **said):
    areas = out.parent / "areas.json"
    areas.write_text(json.dumps(AREAS))
    gaze = study(tasks=["comic"])
    eyelid.heatmap(gaze, out, stimulus="comic", areas=areas, seed=SEED, **said)


def released(source, **said):
    return lambda out: eyelid.release(source(), out, seed=SEED, **said)


KINDS = {
    "records": released(table, mechanism="gaussian", epsilon=2.0),
    "means": released(table, mechanism="groupmean", epsilon=2.0, inner="laplace"),
    "random-means": released(table, mechanism="ksame-dp", epsilon=2.0, k=3),
    "groups": released(table, mechanism="ksame", k=3),
    "rows": released(table, mechanism="seeded", epsilon=2.0, test="deterministic", k=2),
    "synthetic": released(table, mechanism="synthetic", epsilon=400.0, error=0.34, pairs="public"),
    "maps": lambda out: heatmap(out, mechanism="map-grid", epsilon=2.0),
    "tables": lambda out: heatmap(out, only_areas=True, epsilon=2.0),
    "statistics": lambda out: eyelid.summary(
        table(),
        out,
        measures=["fixation_rate", "saccade_rate"],
        statistics="mean,sd,clipped;tau:1:2;median:1",
        epsilon=20.0,
        seed=SEED,
    ),
    "synthetic-gaze": released(
        lambda: study(tasks=["comic", "textbook"]),
        mechanism="synthetic-gaze",
        epsilon=40.0,
        minutes=0.05,
    ),
    "samples": released(lambda: study(), mechanism="kaleido", epsilon=2.0, window=30, radius=3.0),
}


def digest(folder):
    """Of all values and of what the certificate says, without what is the study's own."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".parquet":
            found.update(_table(pl.read_parquet(file)))
        elif file.suffix == ".csv":
            found.update(_table(pl.read_csv(file)))
        elif file.suffix == ".npz":
            with np.load(file) as arrays:
                for name in sorted(arrays):
                    found.update(f"{name} {_rounded(arrays[name].ravel().tolist())}".encode())
    certificate = json.loads((folder / "certificate.json").read_text())
    kept = {name: said for name, said in certificate.items() if name not in OWN}
    # Of values to their last digit, as output_sha256 is.
    kept.get("generated", {}).pop("events_sha256", None)
    found.update(json.dumps(_rounded(kept), sort_keys=True).encode())
    return found.hexdigest()


def _table(frame):
    return json.dumps([(c.name, _rounded(c.to_list())) for c in frame.iter_columns()]).encode()


def _rounded(said):
    if isinstance(said, float):
        return f"{said:.6g}"
    if isinstance(said, dict):
        return {name: _rounded(value) for name, value in said.items()}
    return [_rounded(value) for value in said] if isinstance(said, list | tuple) else said


def test_every_kind_of_release_has_a_golden():
    assert set(KINDS) == {str(kind) for kind in ReleaseKind}


@pytest.mark.parametrize("kind", KINDS)
def test_a_seeded_release_is_what_it_was(kind, tmp_path, plain_pictures):
    KINDS[kind](tmp_path / "out")
    assert digest(tmp_path / "out") == json.loads(GOLDENS.read_text())[kind]


def write_goldens():
    found = {}
    for kind, release in KINDS.items():
        with tempfile.TemporaryDirectory() as home:
            release(Path(home) / "out")
            found[kind] = digest(Path(home) / "out")
    GOLDENS.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    write_goldens()
