"""``eyelid summary`` on the command line: results, dry runs, prices and refusals."""

import json

import pytest

import eyelid as library
from eyelid.io import write


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("summary") / "study"
    write(library.simulate(people=12, minutes=0.2, seed=1), folder)
    return folder


def test_results_are_printed_and_written(study, tmp_path, eyelid, plain_pictures):
    asked = ["--measures", "fixation_duration", "--contrast", "comic-newspaper", "--epsilon", 4]
    done = eyelid("summary", study, tmp_path / "out", *asked, "--activity", "silent-reading")
    assert done.code == 0
    assert "2 results over 12 people" in done.out
    assert "ε = 4" in done.out
    assert (tmp_path / "out" / "results.csv").exists()


def test_json_is_the_certificate_with_the_results(study, tmp_path, eyelid, plain_pictures):
    asked = ["--measures", "fixation_duration", "--epsilon", 4, "--json"]
    told = json.loads(eyelid("summary", study, tmp_path / "out", *asked).out)
    assert told["guarantee"]["epsilon"] == 4
    assert told["rows"][0]["measure"] == "fixation_duration"


def test_a_dry_run_spends_nothing_and_says_what_comes(study, tmp_path, eyelid):
    asked = ["--measures", "fixation_duration", "--epsilon", 2, "--dry-run"]
    dry = eyelid("summary", study, tmp_path / "out", *asked)
    assert dry.code == 0
    assert "nothing was spent or written" in dry.out
    assert "20 people" in dry.out
    assert f"Next: eyelid summary {study}" in dry.out.replace("\n", "")
    assert "--dry-run" not in dry.out.split("Next:")[1]
    assert not (tmp_path / "out").exists()


def test_a_wanted_width_takes_people_or_epsilon(study, tmp_path, eyelid):
    asked = ["--measures", "fixation_duration", "--activity", "silent-reading", "--epsilon", 2]
    told = json.loads(
        eyelid("summary", study, tmp_path / "out", *asked, "--want", "width=0.5", "--json").out
    )
    assert 60 < told["wanted"]["people"] < 120
    assert told["wanted"]["epsilon"] is None, "sampling of twelve people alone is wider"
    bad = eyelid("summary", study, tmp_path / "out", *asked, "--want", "wide")
    assert (bad.code, "--want takes width=W" in bad.err) == (2, True)


@pytest.mark.parametrize("command", ["cost", "release"])
def test_what_is_asked_may_be_set_and_what_is_unknown_is_refused(
    command, study, tmp_path, eyelid, plain_pictures
):
    """Both take every mechanism; a word that results do not know ended as a fault in eyelid."""
    where = [study] if command == "cost" else [study, tmp_path / "out"]
    asked = [command, *where, "--mechanism", "summary-box", "--epsilon", 4, "--json", "--set"]
    strange = eyelid(*asked, "measure=fixation_duration")
    assert (strange.code, strange.out) == (2, "")
    assert "unknown parameter of summary-box 'measure': did you mean 'measures'?" in strange.err
    two = eyelid(*asked, "measures=fixation_duration, saccade_amplitude")
    assert two.code == 0, two.err
    assert "saccade_amplitude" in two.out


def test_a_study_says_how_many_people_there_are(study):
    with pytest.raises(ValueError, match="leave out `people`"):
        library.cost("summary-box", study, people=12, epsilon=1.0)


def test_a_price_needs_no_study(eyelid):
    asked = ["cost", "--mechanism", "summary-box", "--epsilon", 1, "--people"]
    told = json.loads(eyelid(*asked, 40, "--features", 3, "--json").out)
    assert told["results"][0]["noise_sd"] == pytest.approx(2.582 * 2 * 1.75 / 40, rel=0.05)
    many = eyelid(*asked, 20, "--features", 30)
    assert many.code == 2
    assert "30 numbers of 20 people drown" in many.err
    assert "missing: features" in eyelid(*asked, 20).err


def test_bad_input_is_one_line(study, tmp_path, eyelid):
    for asked, told in (
        (["--measures", "fixation_durations", "--epsilon", 1], "unknown measure"),
        (["--contrast", "comic-comic", "--epsilon", 1], "with itself is nothing"),
        (["--by", "height", "--epsilon", 1], "unknown attribute"),
        ([], "say how private it must be"),
    ):
        done = eyelid("summary", study, tmp_path / "out", *asked)
        assert done.code == 2
        assert told in done.err
        assert len(done.err.strip().splitlines()) == 1
