"""Synthetic participants on the command line."""

import json
from dataclasses import replace

import numpy as np
import pytest

from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io import write

LAW = ("--mechanism", "synthetic", "--epsilon", "4")
NUMBERS = ("--recordings", "3", "--features", "52")


@pytest.fixture
def study(tmp_path):
    """A hundred people, three tasks, five features: enough for three of them."""
    values = np.random.default_rng(3).uniform(size=(100, 3, 4, 5))
    features = [Feature(name, "", "", 0.0, 1.0) for name in ("a", "b", "c", "d", "e")]
    windows = replace(table_from_arrays(values, features), window_ms=1000.0)
    write(windows.study(), tmp_path / "study")
    return tmp_path / "study"


def rows(table):
    """What the lines of a printed table say, after each other."""
    return [" ".join(line.split()) for line in table.splitlines()]


def test_public_numbers_alone_plan_a_study(eyelid):
    words = ("--people", "500", "--set", "error=0.1", "--verbose")
    done = eyelid("cost", *LAW, *NUMBERS, *words)
    assert done.code == 0
    found = json.loads(
        eyelid("cost", *LAW, *NUMBERS, "--people", "500", "--set", "error=0.1", "--json").out
    )
    lines = rows(done.out)
    assert "assumed 500 people, 52 features, 3 tasks, of each 32 rows that count" in lines
    assert f"people needed for all features {found['people_needed']:,}" in lines
    assert f"features of them {found['made_up']['features']} of 52" in lines
    assert found["made_up"]["why_dropped"][1:] in done.out
    for row in found["prospects"][3:]:
        error = f"{row['share_error']:.2g}"
        assert f"{row['people']:,} {row['features']} {error}" in lines
    assert "50 none of use –" in lines


def test_twenty_people_get_an_answer_and_a_release_of_them_an_error(eyelid):
    done = eyelid("cost", *LAW, *NUMBERS, "--people", "20")
    assert done.code == 0
    assert "synthetic participants none of use" in rows(done.out)
    assert "no useful study of synthetic participants exists" in done.out.splitlines()[0]
    # Of what will not be released nothing is promised.
    assert "Replacing everything" not in done.out
    assert "advantage" not in done.out


def test_a_release_tells_what_became_of_people_and_features(eyelid, study, tmp_path):
    done = eyelid("release", study, tmp_path / "out", *LAW, "--set", "made_up=8")
    assert done.code == 0
    assert "100 people, in their place 8 synthetic ones with 3 of 5 features" in done.out
    assert "with an error of 0.15): d, e" in done.err
    quoted = eyelid("cost", study, *LAW, "--verbose")
    assert quoted.code == 0
    assert "features of them 3 of 5" in rows(quoted.out)
    assert "with an error of 0.15): d, e." in quoted.out
    assert "Features of synthetic participants: a, b, c." in quoted.out
    looked = eyelid("lint", tmp_path / "out")
    assert (looked.code, "certificate, which is of these data" in looked.out) == (0, True)
    again = eyelid("release", tmp_path / "out", tmp_path / "more", *LAW)
    assert (again.code, "a released dataset already" in again.err) == (2, True)


def test_a_mechanism_is_shown_with_its_parameters(eyelid):
    done = eyelid("mechanisms", "synthetic")
    assert done.code == 0
    assert "A study of synthetic participants" in done.out
    assert "eyelid cost --mechanism synthetic --epsilon 1 IN" in done.out
    # Nobody's own record comes out, so nothing of any person is kept.
    assert "keep=COLUMN" not in done.out


def test_how_many_people_to_make_up_is_asked_by_its_own_name(eyelid, study, tmp_path):
    for command in (("cost", study), ("release", study, tmp_path / "out")):
        done = eyelid(*command, *LAW, "--set", "people=30")
        assert (done.code, "--set made_up=30" in done.err) == (2, True)


def test_choosing_features_names_made_up_people_where_people_are_enough(eyelid, study, tmp_path):
    done = eyelid("features", study, tmp_path / "fewer", "--only", "a,b")
    assert "fewer --mechanism synthetic --epsilon 4'." in done.out.splitlines()[-1]
