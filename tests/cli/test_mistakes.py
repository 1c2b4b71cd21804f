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


# What is typed of recordings, results, heatmaps and files that are wrong; what must be said.
MORE_MISTAKES = [
    ("summary study out --measures fixation_duration --epsilon -1", ["must be positive", "-1"]),
    (
        "summary study out --measures fixation_duration --epsilon 1 --contrast comic",
        ["such as A-B", "'comic'"],
    ),
    (
        "summary study out --measures fixation_duration --epsilon 1 --contrast comic-novel",
        ["'novel'", "known: comic, textbook"],
    ),
    (
        "summary study out --measures fixation_duration --epsilon 1 --by agee",
        ["'agee'", "did you mean 'age'?"],
    ),
    (
        "summary study out --measures fixation_duration --epsilon 1 --norms norms.csv",
        ["norms.csv", "'sd'", "known: between"],
    ),
    (
        "summary study out --measures fixation_duration --epsilon 1 --want wide",
        ["'wide'", "such as width=0.3"],
    ),
    ("summary private out --measures fixation_duration --epsilon 1", ["of the original study"]),
    ("norms fixation_duration age", ["'age' is one word too many", "norms --help"]),
    ("mechanisms laplace gaussian", ["'gaussian' is one word too many", "mechanisms --help"]),
    ("reproduce liu2019 --repeats 0", ["repeats must be at least 1", "got 0"]),
    ("stream --source simulate --epsilon 1 --window 60", ["needs radius", "--radius 3"]),
    (
        "stream --source simulate --filter laplace --epsilon 1 --window 60 --radius 3",
        ["no filter for a stream", "'eyelid release'"],
    ),
    (
        "stream --source simulate --sink udp:1 --epsilon 1 --window 60 --radius 3",
        ["'udp'", "known: lsl, ws"],
    ),
    (
        "compare features --mechanisms laplace,map-grid --epsilons 1",
        ["map-grid", "'eyelid heatmap'"],
    ),
    (
        "compare features --mechanisms laplace --epsilons 1 --sweep q=1,2",
        ["'q'", "known: epsilon, length, unit"],
    ),
    ("compare private --mechanisms laplace --epsilons 1", ["release already", "the original"]),
    ("recommend features", ["no goal is given", '--goal "rank1<=2x"']),
    ("recommend features --goal rank1<=0", ["below guessing", "ask for 1x or more"]),
    ("recommend features --goal task>=101%", ["1.01", "between 0 and 1"]),
    ("verify laplace --runs many", ["--runs takes a whole number", "'many'"]),
    ("verify laplace --planted", ["'--planted'", "known: --all, --json, --runs"]),
    ("budget private", ["a released dataset has no budget", "name the original"]),
    ("budget features --limit-epsilon zero", ["--limit-epsilon takes a number", "'zero'"]),
    ("budget features --lost", ["knows these people", "leave out --lost"]),
    ("heatmap study out --epsilon 1", ["2 stimuli (comic, textbook)", "--stimulus"]),
    (
        "heatmap study out --stimulus comic --epsilon 1 --grid 3",
        ["COLUMNSxROWS", "got '3'"],
    ),
    (
        "heatmap study out --stimulus comic --epsilon 1 --image picture.png",
        ["picture.png", "give a PNG, JPEG"],
    ),
    (
        "heatmap study out --stimulus comic --epsilon 1 --mechanism laplace",
        ["not gaze maps", "'eyelid release'"],
    ),
    (
        "heatmap study out --stimulus comic --epsilon 1 --areas areas.csv",
        ["areas.csv is not JSON", "it must look like"],
    ),
    ("audit features private --report out.pdf", ["page of HTML", "ends in .html", "out.pdf"]),
    ("audit features results", ["'eyelid summary'", "'fixation_duration'"]),
    ("audit private features", ["private is a release", "was made of first"]),
    ("audit features private --targets tsk", ["'tsk'", "did you mean 'task'?"]),
    ("inspect empty.csv", ["empty.csv is empty", "with recordings"]),
    ("lint study --jsn", ["'--jsn'", "did you mean '--json'?"]),
    ("convert study private", ["private exists already", "choose another output"]),
    ("events study out --method vit", ["'vit'", "did you mean 'ivt'?"]),
    ("events study out --method ivt --set speed=3", ["'speed'", "known: max_gap_ms"]),
    ("features study out --kind window", ["'window'", "did you mean 'windows'?"]),
    ("features study out --only fixation_rte", ["'fixation_rte'", "did you mean 'fixation_rate'?"]),
    ("cost --mechanism laplace --epsilon 1", ["--people, --recordings", "missing: people"]),
    ("cost --mechanism map-grid --people 40 --epsilon 1", ["--size WxH"]),
    (
        "cost features --mechanism laplace --epsilon 1 --delta 1e-6",
        ["no delta", "leave out --delta"],
    ),
    (
        "release features out --mechanism laplace --epsilon 1 --unit persn",
        ["did you mean 'person'?"],
    ),
    (
        "release features out --mechanism laplace --epsilon 1 --people @who.txt",
        ["'not a list'", "known: "],
    ),
    (
        "release features out --mechanism laplace --epsilon 1 --card card.toml",
        ["'email'", "known: contact, date, licence, name"],
    ),
    ("release features out --mechanism gaussian --epsilon 1 --delta 0", ["use laplace for δ = 0"]),
    (
        "release features out --mechanism laplace --epsilon 1 --engine spark",
        ["'spark'", "local, dask"],
    ),
    ("release features out --mechanism laplace --epsilon 1 --seed -4", ["-4", "choose 0 or more"]),
    ("release study out --mechanism uniform --epsilon 1", ["needs window", "--set window=30"]),
    ("simulate out --tasks reading", ["'reading'", "known: comic"]),
    ("simulate out --rate 0", ["--rate must be between 30 and 1000", "got 0"]),
    ("demo --people 3", ["'--people'", "known: --fast, --out"]),
]
WRONG_FILES = {
    "norms.csv": "measure,mean,sd\nfixation_duration,240,30\n",
    "areas.csv": "name,x0,y0,x1,y1\nleft,0,0,10,10\n",
    "who.txt": "not a list\n",
    "card.toml": 'name = "Reading"\nemail = "lab@example.org"\n',
    "picture.png": "no picture",
    "empty.csv": "",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A study with its features, a release, results, and files that are wrong."""
    place = tmp_path_factory.mktemp("lab")
    study = library.simulate(people=6, tasks=["comic", "textbook"], minutes=0.3, seed=1)
    library.write(study, place / "study")
    table = library.window_features(library.read(place / "study"), window_s=10)
    library.write(table, place / "features")
    library.release(place / "features", place / "private", mechanism="laplace", epsilon=1.0)
    library.summary(place / "study", place / "results", measures=["fixation_duration"], epsilon=2.0)
    for name, text in WRONG_FILES.items():
        (place / name).write_text(text, "utf-8")
    return place


@pytest.mark.parametrize(
    ("typed", "says"), MORE_MISTAKES, ids=[typed for typed, _ in MORE_MISTAKES]
)
def test_a_mistake_about_recordings_results_or_files_is_one_line_that_names_the_remedy(
    eyelid, lab, monkeypatch, typed, says
):
    monkeypatch.chdir(lab)
    before = sorted(path.name for path in lab.iterdir())
    done = eyelid(*typed.split())
    assert done.code == 2, done.err
    assert done.out == ""
    assert len(done.err.splitlines()) == 1, done.err
    assert all(words in done.err for words in says), done.err
    assert len(done.err) < 400, "a remedy, and no list"
    assert sorted(path.name for path in lab.iterdir()) == before


def test_a_refusal_at_the_limit_says_how_much_is_left(eyelid, here):
    assert eyelid("budget", "features", "--limit-epsilon", "1.5").code == 0
    done = eyelid("release", "features", "out", "--mechanism", "laplace", "--epsilon", "1")
    assert (done.code, done.out) == (3, "")
    assert "spent so far: ε = 1; ε = 0.5 is left" in done.err
    assert "--limit-epsilon" in done.err
    done = eyelid("release", "features", "out", "--mechanism", "laplace", "--epsilon", "0.5")
    assert done.code == 0, done.err
