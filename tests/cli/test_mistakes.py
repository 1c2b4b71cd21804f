"""Mistakes over all commands: one line, the exit code, what was wrong, and the remedy."""

import pytest

import eyelid as library

EPSILON = ("--epsilon", "1")
# What is typed; what the one line must say: the value, and what to do.
MISTAKES = [
    ("relese features out", ["unknown command 'relese'", "did you mean 'release'?"]),
    ("--verson", ["unknown option '--verson'", "--version"]),
    ("release features out --mecanism laplace", ["'--mecanism'", "did you mean '--mechanism'?"]),
    ("release features --mechanism laplace --epsilon 1", ["OUT is missing", "release --help"]),
    ("release features out --epsilon 1", ["--mechanism is missing", "release --help"]),
    ("release features out --mechanism laplace --epsilon much", ["takes a number", "'much'"]),
    ("simulate out --people few", ["--people takes a whole number", "'few'"]),
    ("simulate features", ["features exists already", "choose another output"]),
    ("inspect features --people P99", ["unknown person 'P99'", "known: 0, 1"]),
    ("inspect features --map persn=id", ["'persn'", "did you mean 'person'?"]),
    ("lint nowhere", ["nowhere does not exist", "give a study folder or a recording"]),
    ("convert features out --to bidss", ["'bidss'", "did you mean 'bids'?"]),
    ("convert features out --to bids", ["none for features", "--to study or --to csv"]),
    ("events features out", ["a study of features", "start from the recordings"]),
    ("features features out", ["has features already", "--only A,B"]),
    ("mechanisms gausian", ["'gausian'", "did you mean 'gaussian'?"]),
    ("mechanisms zzz", ["'zzz'", "'eyelid mechanisms' lists"]),
    ("norms pupi", ["'pupi'", "did you mean 'pupil_mean_mean'?"]),
    ("cost features --mechanism gaussian", ["gaussian needs epsilon", "--epsilon"]),
    ("cost features --mechanism ksame --epsilon 1", ["ksame gives k-anonymity", "leave it out"]),
    ("compare features --epsilons 1,two", ["--epsilons takes numbers", "'1,two'"]),
    ("compare features --sweep k", ["--sweep takes KEY=VALUE", "'k'"]),
    ("recommend features --goal rank1", ["'rank1' is no goal", '--goal "rank1<=2x"']),
    ("recommend features --goal speed>=3", ["unknown goal 'speed'", "known: ", "rank1"]),
    ("budget features --no-limit --limit-epsilon 2", ["--no-limit", "leave out --limit-epsilon"]),
    ("release features out --mechanism map-grid --epsilon 1", ["gaze maps", "eyelid heatmap"]),
    ("release features out --mechanism ksame --set k=40", ["k=40", "choose k ≤"]),
    ("release features out --mechanism laplace --epsilon 1 --bounds dat", ["'dat'", "give public"]),
    (
        "heatmap features out --stimulus page --level good",
        ["made of gaze", "a study of features", "the recordings"],
    ),
    ("summary features out --measures fixation_rte --epsilon 1", ["did you mean 'fixation_rate'?"]),
    ("summary features out --measures fixation_rate", ["--epsilon E"]),
    ("stream --source simulat --epsilon 1", ["'simulat'", "did you mean 'simulate'?"]),
    ("stream --source simulate --epsilon 1 --window 500m", ["'500m'", "500ms"]),
    ("audit private private", ["private is a release, and no original", "was made of first"]),
    ("audit features private --attackers foret", ["'foret'", "did you mean 'forest'?"]),
    ("audit features private --protocols raw-release", ["did you mean 'raw→release'?"]),
    ("verify gaussian --runs 5", ["runs must be at least 1000", "got 5"]),
    ("reproduce liu", ["'liu'", "did you mean 'liu2019'?"]),
    ("reproduce liu2019 --data nowhere", ["nowhere is no folder", "leave --data out"]),
    ("demo --out features", ["features exists already", "choose another output"]),
]


@pytest.fixture
def here(tmp_path, monkeypatch, features_folder):
    """A folder with a study of features and a release of it."""
    monkeypatch.chdir(features_folder.parent)
    if features_folder.name != "features":
        features_folder.rename(features_folder.with_name("features"))
    library.release("features", "private", mechanism="laplace", epsilon=1.0)
    return features_folder.parent


@pytest.mark.parametrize(("typed", "says"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_one_line_that_names_the_remedy(eyelid, here, typed, says):
    before = sorted(path.name for path in here.iterdir())
    done = eyelid(*typed.split())
    assert done.code == 2, done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert all(words in done.err for words in says), done.err
    assert len(done.err) < 400, "a remedy, and no list"
    assert sorted(path.name for path in here.iterdir()) == before


def test_a_refusal_at_the_limit_says_how_much_is_left(eyelid, here):
    assert eyelid("budget", "features", "--limit-epsilon", "1.5").code == 0
    done = eyelid("release", "features", "out", "--mechanism", "laplace", "--epsilon", "1")
    assert (done.code, done.out) == (3, "")
    assert "spent so far: ε = 1; ε = 0.5 is left" in done.err
    assert "--limit-epsilon" in done.err
    done = eyelid("release", "features", "out", "--mechanism", "laplace", "--epsilon", "0.5")
    assert done.code == 0, done.err
