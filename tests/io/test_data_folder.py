"""Every recording of the data folder is read, with a map only where a file has no header."""

import json

import pytest

NO_HEADER = {
    "gaze_on_faces_example.csv": "header=no,x=1,y=2,units=px,xy_origin=top-left,rate_hz=60",
    "gazegraph_example.csv": "header=no,x=1,y=2,units=fraction,xy_origin=top-left,rate_hz=30",
    "eyetools_P107_Exp6_t_x_y_trial.csv": (
        "header=no,time=1,time_unit=ms,x=2,y=3,recording=4,units=px"
    ),
}
NO_RECORDING = [
    "README.md",
    "bozkir2021/nmse.csv",
    "lund2013/LICENSE",
    "OSIE/LICENSE",
    "MPIIDPEye/Readme.txt",
    "MPIIDPEye/Ground_Truth.csv",
]


def test_every_vendor_sample(real_data, eyelid):
    samples = sorted(p for p in (real_data / "vendor_samples").rglob("*") if p.is_file())
    if not samples:
        pytest.skip("vendor_samples is not in EYELID_DATA")
    for path in samples:
        said = ["--map", NO_HEADER[path.name]] if path.name in NO_HEADER else []
        done = eyelid("inspect", path, "--json", *said)
        assert done.code == 0, f"{path.name}: {done.err}"
        found = json.loads(done.out)
        assert found["rows"] > 0
        assert found["people"] >= 1
        assert not said or found["units"] is not None


@pytest.mark.parametrize(
    ("folder", "people", "recordings", "kind"),
    [
        ("MPIIDPEye", 20, 60, "samples"),
        ("OSIE", 15, 10500, "fixations"),
        ("lund2013", 20, None, "samples"),
    ],
)
def test_every_dataset(real_data, eyelid, folder, people, recordings, kind):
    if not (real_data / folder).exists():
        pytest.skip(f"{folder} is not in EYELID_DATA")
    done = eyelid("inspect", real_data / folder, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["people"], found["kind"]) == (people, kind)
    assert recordings is None or found["recordings"] == recordings


@pytest.mark.parametrize("name", NO_RECORDING)
def test_other_files_get_one_line(real_data, eyelid, name):
    if not (real_data / name).exists():
        pytest.skip(f"{name} is not in EYELID_DATA")
    done = eyelid("inspect", real_data / name)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_every_vendor_sample_converts_to_something_clean(real_data, tmp_path):
    from eyelid.io.convert import convert
    from eyelid.io.lint import lint

    samples = sorted(p for p in (real_data / "vendor_samples").rglob("*") if p.is_file())
    if not samples:
        pytest.skip("vendor_samples is not in EYELID_DATA")
    for number, path in enumerate(samples):
        said = NO_HEADER.get(path.name)
        out = tmp_path / str(number)
        convert(path, out, "csv", said, ledger=tmp_path / f"{number}.ledger")
        assert lint(out) == [], path.name
