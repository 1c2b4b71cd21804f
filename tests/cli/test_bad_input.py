"""Every complaint: one line on stderr, the exit code, and nothing half-written."""

import json

import polars as pl
import pytest

from eyelid.io import write


@pytest.fixture
def refuses(eyelid, tmp_path, features_folder):
    def check(*words, code=2, says):
        before = sorted(p.name for p in tmp_path.iterdir())
        done = eyelid(*words)
        assert done.code == code, done.err
        assert done.out == ""
        assert done.err.count("\n") == 1
        assert says in done.err
        assert sorted(p.name for p in tmp_path.iterdir()) == before

    return check


LAPLACE = ["--mechanism", "laplace", "--epsilon"]
GAUSSIAN = ["--mechanism", "gaussian", "--epsilon", "1"]


def release(features_folder, tmp_path, *words):
    return ["release", features_folder, tmp_path / "out", *words]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([*LAPLACE, "0"], 2, "epsilon must be positive and finite, got 0"),
        ([*LAPLACE, "-1"], 2, "got -1"),
        ([*LAPLACE, "nan"], 2, "got nan"),
        ([*LAPLACE, "many"], 2, "'many'"),
        (["--mechanism", "laplace"], 2, "laplace needs epsilon"),
        (["--epsilon", "1"], 2, "--mechanism"),
        ([*GAUSSIAN, "--delta", "1"], 2, "delta must be in [0, 1), got 1"),
        ([*GAUSSIAN, "--delta", "-0.1"], 2, "got -0.1"),
        ([*GAUSSIAN, "--delta", "0"], 2, "delta must be above 0"),
        ([*LAPLACE, "1", "--delta", "1e-6"], 2, "laplace has no delta"),
        (["--mechanism", "laplac", "--epsilon", "1"], 2, "did you mean 'laplace'?"),
        ([*LAPLACE, "1", "--set", "lenght=5"], 2, "did you mean 'length'?"),
        ([*LAPLACE, "1", "--set", "length"], 2, "--set takes KEY=VALUE, got 'length'"),
        ([*LAPLACE, "1", "--set", "length=0"], 2, "length must be at least 1, got 0"),
        ([*LAPLACE, "1", "--unit", "chunk:32"], 3, "does not offer the unit 'chunk:32'"),
        ([*LAPLACE, "1", "--unit", "persn"], 2, "did you mean 'person'?"),
        ([*LAPLACE, "1", "--bounds", "nowhere.json"], 2, "cannot read the bounds"),
        ([*LAPLACE, "1", "--set", "keep=shoes"], 2, "unknown column to keep 'shoes'"),
        ([*LAPLACE, "1", "--sed", "1"], 2, "--sed"),
        ([*LAPLACE, "1", "--set", "epsilon=3"], 2, "epsilon has an option of its own"),
        ([*LAPLACE, "1", "--set", "keep=a", "--set", "keep=b"], 2, "--set keep is given twice"),
        ([*LAPLACE, "1", "--seed", "-1"], 2, "seed must not be negative, got -1"),
        ([*LAPLACE, "1", "--unit", "record:60"], 2, "unit 'record:60' is not one"),
    ],
)  # fmt: skip
def test_what_was_asked_for_is_checked(refuses, features_folder, tmp_path, words, code, says):
    refuses(*release(features_folder, tmp_path, *words), code=code, says=says)


GOOD = [*LAPLACE, "1"]


def spoil(folder, change):
    """Rewrite a study folder's data or description."""
    about = json.loads((folder / "study.json").read_text())
    data = pl.read_parquet(folder / "data.parquet")
    data, about = change(data, about)
    data.write_parquet(folder / "data.parquet")
    (folder / "study.json").write_text(json.dumps(about))


def nothing_known(data, about):
    return data.with_columns(pl.col("fixation_rate", "pupil") * None), about


def drop_bounds(data, about):
    del about["features"][0]["upper"]
    return data, about


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d, a: (d.clear(), a), "the study is empty"),
        (lambda d, a: (d.filter(pl.col("person") == "0"), a), "only one person (0)"),
        (lambda d, a: (pl.concat([d, d[:1]]), a), "more than one row at time_ms 0"),
        (lambda d, a: (d.drop("pupil"), a), "feature pupil is in study.json but not in the data"),
        (lambda d, a: (d.drop("person"), a), "no column person"),
        (lambda d, a: (d, a | {"features": []}), "names no features"),
        (lambda d, a: (d.with_columns(pupil=pl.lit("wide")), a), "feature pupil is not a number"),
        (nothing_known, "no feature has a value at all"),
        (drop_bounds, "feature fixation_rate has no public bounds"),
    ],
    ids=["empty", "one person", "duplicate", "column gone", "no person", "no features", "text",
         "all missing", "no bounds"],
)  # fmt: skip
def test_the_data_are_checked(refuses, features_folder, tmp_path, change, says):
    spoil(features_folder, change)
    refuses(*release(features_folder, tmp_path, *GOOD), says=says)


def test_missing_values_are_imputed_not_published(eyelid, features_folder, tmp_path):
    holes = lambda d, a: (d.with_columns(pupil=pl.when(pl.col("time_ms") > 0).then("pupil")), a)  # noqa: E731
    spoil(features_folder, holes)
    done = eyelid(*release(features_folder, tmp_path, *GOOD))
    assert done.code == 0
    released = pl.read_parquet(tmp_path / "out" / "data.parquet")
    assert released["pupil"].null_count() == 0
    assert not released["pupil"].is_nan().any()


def test_an_output_that_exists_is_kept(refuses, features_folder, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("precious")
    refuses(*release(features_folder, tmp_path, *GOOD), says="exists already")
    assert (tmp_path / "out" / "mine").read_text() == "precious"


def test_an_output_that_cannot_be_written_is_named(refuses, features_folder, tmp_path):
    (tmp_path / "file").write_text("")
    refuses("release", features_folder, tmp_path / "file" / "out", *GOOD, says="is not a folder")


def test_a_spent_budget_is_exit_code_three(eyelid, refuses, features_folder, tmp_path):
    assert eyelid("budget", features_folder, "--limit-epsilon", "0.5").code == 0
    refuses(*release(features_folder, tmp_path, *GOOD), code=3, says="above the limit of ε = 0.5")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--limit-epsilon", "0"], "epsilon must be positive"),
        (["--limit-epsilon", "1", "--limit-delta", "1.5"], "delta must be in [0, 1), got 1.5"),
        (["--limit-delta", "1e-6"], "--limit-delta goes with --limit-epsilon"),
        (["--no-limit", "--limit-epsilon", "1"], "--no-limit lifts the limit"),
    ],
)
def test_a_bad_limit_is_named(refuses, features_folder, words, says):
    refuses("budget", features_folder, *words, says=says)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["inspect", "nowhere"], "nowhere does not exist"),
        (["mechanisms", "magic"], "unknown mechanism 'magic'"),
        (["cost", "--mechanism", "laplace", "--epsilon", "1"], "cost needs a study"),
        (["cost", "--mechanism", "laplace", "--epsilon", "1", "--people", "0", "--recordings", "1",
          "--features", "1", "--length", "1"], "people must be at least 1, got 0"),
        (["verify", "--runs", "5"], "runs must be at least 1000, got 5"),
        (["verify", "laplace", "--all"], "give names or --all"),
        (["dance"], "dance"),
        (["simulate", "OUT", "--people", "0"], "people"),
        (["simulate", "OUT", "--rate", "5"], "5"),
        (["simulate", "OUT", "--minutes", "-1"], "-1"),
        (["simulate", "OUT", "--tasks", "comci"], "did you mean 'comic'?"),
        (["features", "nowhere", "OUT"], "nowhere does not exist"),
    ],
)  # fmt: skip
def test_every_command_says_what_was_wrong(refuses, tmp_path, words, says):
    refuses(*[tmp_path / "OUT" if word == "OUT" else word for word in words], says=says)


def test_a_cost_takes_a_study_or_numbers_not_both(refuses, features_folder):
    words = ["cost", features_folder, "--mechanism", "laplace", "--epsilon", "1", "--people", "9"]
    refuses(*words, says="the study says how many people it has")


def test_features_of_features_and_unknown_kinds_are_named(refuses, features_folder, tmp_path):
    refuses("features", features_folder, tmp_path / "o", says="features")
    refuses("features", features_folder, tmp_path / "o", "--kind", "dreams", says="'dreams'")


def test_a_fault_in_eyelid_itself_is_one_line_too(eyelid, features_folder, tmp_path, monkeypatch):
    from eyelid.mechanisms.records.laplace import Laplace

    monkeypatch.setattr(Laplace, "perturb", lambda *_: 1 / 0)
    done = eyelid(*release(features_folder, tmp_path, *GOOD))
    assert done.code == 70
    assert done.err.count("\n") == 1
    assert "please report it" in done.err


def test_recordings_all_shorter_than_a_window_are_refused(eyelid, tmp_path, simulated):
    brief = simulated.derive(data=simulated.data.filter(pl.col("time_ms") < 5000), events=None)
    write(brief, tmp_path / "brief")
    done = eyelid("features", tmp_path / "brief", tmp_path / "o")
    assert done.code == 2
    assert "18 shorter than 30 s" in done.err
