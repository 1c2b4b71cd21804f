import json
import shutil

import numpy as np
import polars as pl
import pytest

from eyelid.releases.consistency.folder import EXCEPTED, REFUSED, apart, excepted, shown_by

ROWS = pl.DataFrame(
    {"person": ["a", "a", "b"], "recording": "1", "time_ms": [0.0, 1.0, 0.0], "x": [0.1, 0.2, 0.3]}
)


@pytest.fixture
def folder(tmp_path):
    """A released folder of every kind of file there is."""
    path = tmp_path / "one" / "release"
    path.mkdir(parents=True)
    ROWS.write_parquet(path / "data.parquet")
    about = {"kind": "features", "parts": [{"rows": 3, "sha256": "0" * 64}]}
    (path / "study.json").write_text(json.dumps(about))
    certificate = {"input_sha256": "1" * 64, "output_sha256": "2" * 64, "unprotected": ["a", "b"]}
    (path / "certificate.json").write_text(json.dumps(certificate))
    (path / "people.csv").write_text("person\na\nb\n")
    (path / "DATACARD.md").write_text("# Data card\n\n## What was done\n\nNoise.\n")
    np.savez(path / "map.npz", cells=np.zeros(3), standard_error=np.ones(3))
    return path


@pytest.fixture
def other(folder, tmp_path):
    path = tmp_path / "other" / "release"
    shutil.copytree(folder.parent, path.parent)
    return path


def differing(folder, other, coupled=False):
    """The places in which two folders differ and may not."""
    found = apart(shown_by(folder), shown_by(other), "laplace", coupled=coupled)
    return [each.split(": ")[0] + ": " + each.split(": ")[1] for each in found]


def test_copies_do_not_differ(folder, other):
    assert not differing(folder, other, coupled=True)


def test_released_values_may_differ_unless_both_got_the_same_noise(folder, other):
    ROWS.with_columns(x=pl.col("x") + 1).write_parquet(other / "data.parquet")
    assert not differing(folder, other)
    assert "data.parquet: values of x" in differing(folder, other, coupled=True)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda rows: rows.reverse(), "data.parquet: column person"),
        (lambda rows: rows.head(2), "data.parquet: rows"),
        (lambda rows: rows.select("recording", "person", "time_ms", "x"), "data.parquet: columns"),
        (lambda rows: rows.with_columns(pl.col("x").cast(pl.Float32)), "data.parquet: columns"),
        (
            lambda rows: rows.with_columns(x=pl.Series([None, 0.2, 0.3])),
            "data.parquet: missing values of x",
        ),
        (
            lambda rows: rows.with_columns(x=pl.Series([np.nan, 0.2, 0.3])),
            "data.parquet: missing values of x",
        ),
    ],
)
def test_rows_columns_order_and_gaps_may_not_differ(folder, other, change, place):
    change(ROWS).write_parquet(other / "data.parquet")
    assert place in differing(folder, other)


def test_parts_and_their_sizes_may_not_differ(folder, other):
    for path, cuts in ((folder, [1, 3]), (other, [2, 3])):
        (path / "data.parquet").unlink()
        (path / "data.parquet").mkdir()
        for number, (first, last) in enumerate(zip([0, *cuts], cuts, strict=False)):
            part = ROWS[first:last]
            part.write_parquet(path / "data.parquet" / f"part-{number:06d}.parquet")
    assert "data.parquet/part-000000.parquet: rows" in differing(folder, other)


def test_a_file_more_another_mode_or_something_beside_the_folder_is_seen(folder, other):
    (other / "notes.txt").write_text("")
    (other / "people.csv").chmod(0o600)
    (other.parent / ".left").mkdir()
    found = differing(folder, other)
    assert {"notes.txt: kind", "people.csv: kind", "folder: beside it"} <= set(found)


def test_hashes_may_differ_and_nothing_else_of_a_certificate(folder, other):
    about = json.loads((other / "certificate.json").read_text())
    about |= {"input_sha256": "3" * 64, "output_sha256": "4" * 64}
    (other / "certificate.json").write_text(json.dumps(about))
    assert not differing(folder, other)
    # With the same noise in both, hashes of values are the same: the keyed fingerprint need not.
    assert differing(folder, other, coupled=True) == ["certificate.json: output_sha256"]
    (other / "certificate.json").write_text(json.dumps(about | {"unprotected": ["a", "c"]}))
    assert differing(folder, other)[0] == "certificate.json: unprotected.1"
    (other / "certificate.json").write_text(json.dumps(about, indent=1))
    assert differing(folder, other) == ["certificate.json: text"]


def test_sentences_of_a_card_and_public_arrays_may_not_differ(folder, other):
    (other / "DATACARD.md").write_text("# Data card\n\n## What was done\n\nNoise, 5 rows.\n")
    np.savez(other / "map.npz", cells=np.ones(3), standard_error=np.zeros(3))
    found = differing(folder, other)
    assert found == ["DATACARD.md: What was done", "map.npz: values of standard_error"]


def test_pictures_have_their_size(folder, other):
    from PIL import Image

    for path, size in ((folder, (4, 3)), (other, (4, 4))):
        Image.new("RGB", size).save(path / "heatmap.png")
    assert differing(folder, other) == ["heatmap.png: size"]


def test_a_refusal_is_a_difference_of_its_own(folder):
    told = apart(shown_by(folder), {REFUSED: "2, too short"}, "laplace", coupled=True)
    assert told == [f"{REFUSED}: 2, too short"]
    assert not apart({REFUSED: "2, no"}, {REFUSED: "2, no"}, "laplace", coupled=True)


def test_every_exception_says_why_and_few_are_always_true():
    assert all(each.why for each in EXCEPTED)
    assert len({(each.places, each.mechanism) for each in EXCEPTED}) == len(EXCEPTED)
    always = {each.places for each in EXCEPTED if each.always}
    files = {each for each in always if not each.startswith("terminal")}
    assert files == {"certificate.json: input_sha256"}
    assert excepted("people.csv: content", "laplace", coupled=False) is None
