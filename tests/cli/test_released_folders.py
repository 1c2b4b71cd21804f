"""Attacks on what a released folder shows: nothing is ever written into one.

A recipient of the folder reads every file in it. What commands find out about the raw data, and
what they need on the way, must lie elsewhere.
"""

import hashlib
import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

import eyelid as library
from eyelid.attacks.utility import utility
from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.io import write
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.release import release

pytestmark = pytest.mark.usefixtures("quick_audits", "quick_map_audits", "no_pictures")

KINDS = ("records", "groups", "means", "synthetic", "gaze", "map")
LONG_AGO_NS = 10**18
GAZE = {"mechanism": "kaleido", "epsilon": 4.0, "window": 30, "radius": 2}


@pytest.fixture(autouse=True)
def _not_compiled(monkeypatch):
    """To compile filters takes longer than what tests let them do; it has tests of its own."""
    monkeypatch.setattr("eyelid.mechanisms.streams.filter_run.compiled", lambda kernel: None)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Six simulated participants, and a release of every kind."""
    home = tmp_path_factory.mktemp("released")
    study = write(
        simulate(people=6, tasks=("comic", "textbook"), minutes=0.7, seed=2), home / "study"
    )
    table = window_features(study)
    features = home / "features"
    write(replace(table, features=table.features[:3]).study(), features)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyelid.mechanisms.streams.filter_run.compiled", lambda kernel: None)
        release(features, home / "records", mechanism="laplace", epsilon=1.0)
        release(features, home / "groups", mechanism="ksame", k=2)
        release(features, home / "means", mechanism="groupmean", epsilon=1.0)
        release(features, home / "synthetic", mechanism="synthetic", epsilon=200.0)
        release(home / "study", home / "gaze", **GAZE)
    heatmap(home / "study", home / "map", stimulus="comic", level="good", size=(96, 54), scale=20.0)
    for path in home.rglob("*"):
        os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return home


@pytest.fixture
def snapshot(home):
    """What lies in a folder: names, modes, sizes, times and every byte."""

    def taken(folder: Path) -> dict[str, tuple[object, ...]]:
        found = {}
        for path in (folder, *sorted(folder.rglob("*"))):
            about = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            facts = (about.st_mode, about.st_mtime_ns, path.is_dir() or about.st_size, content)
            found[path.relative_to(folder).as_posix()] = facts
        return found

    return taken


@pytest.fixture
def audit_of(eyelid, home):
    """`eyelid audit` of a kind of release, as quickly as it can be done."""

    def run(kind, *options):
        original = "study" if kind in ("gaze", "map") else "features"
        quick = ("--attackers", "means", "--protocols", "raw->release")
        asked = quick if kind in ("records", "groups", "gaze") else ()
        return eyelid("audit", home / original, home / kind, *asked, *options)

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_an_audited_release_hands_no_figure_of_raw_data_to_its_recipient(
    kind, home, audit_of, snapshot
):
    before = snapshot(home / kind)
    assert audit_of(kind, *["--json"] * (kind in ("records", "map"))).code == 0
    assert snapshot(home / kind) == before
    for name in ("audit.json", "report.html"):
        with pytest.raises(FileNotFoundError):
            (home / kind / name).read_bytes()
    beside = home / f"{kind}-audit"
    assert {path.name for path in beside.iterdir()} == {"audit.json", "report.html", "README.md"}
    assert json.loads((beside / "audit.json").read_text())["schema"] == "eyelid/audit/1"
    for name in ("report.html", "README.md"):
        assert "made of raw data" in (beside / name).read_text()


COMMANDS = [
    "inspect RELEASED",
    "inspect RELEASED --json",
    "lint RELEASED",
    "lint RELEASED --json",
    "cost RELEASED --mechanism laplace --epsilon 1",
    "budget RELEASED",
    "budget RELEASED --limit-epsilon 5",
    "features RELEASED NEW",
    "features RELEASED NEW --only fixation_rate",
    "features RELEASED NEW --ledger NEW.ledger",
    "events RELEASED NEW",
    "convert RELEASED NEW",
    "convert RELEASED NEW --to csv",
    "release RELEASED NEW --mechanism laplace --epsilon 1",
    "release RELEASED NEW --mechanism laplace --epsilon 1 --ledger NEW.ledger",
    "heatmap RELEASED NEW --stimulus comic --level good --size 96x54",
    "compare RELEASED --fast",
    "recommend RELEASED --goal epsilon<=4 --mechanisms laplace",
    "recommend RELEASED --goal epsilon<=4 --own --tuning-epsilon 1 --mechanisms laplace",
    "audit RELEASED",
    "audit RELEASED RELEASED",
    "stream --source file:RELEASED --epsilon 1 --window 500ms --radius 3 --seconds 0.1",
]


@pytest.mark.parametrize("kind", KINDS)
def test_no_command_leaves_anything_in_a_release_or_beside_it(
    kind, home, eyelid, snapshot, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before, beside = snapshot(home / kind), {path.name for path in home.iterdir()}
    for number, command in enumerate(COMMANDS):
        new = {"RELEASED": home / kind, "NEW": tmp_path / f"new{number}"}
        for name, path in new.items():
            command = command.replace(name, str(path))
        assert eyelid(*command.split()).code in (0, 2), command
        assert snapshot(home / kind) == before, command
        assert {path.name for path in home.iterdir()} == beside, command


def test_functions_of_the_library_leave_a_release_as_it_is(home, snapshot, monkeypatch):
    before = snapshot(home / "records")
    found = library.audit(home / "features", home / "records", attackers=["means"])
    assert {path.parent.name for path in found.written} == {"records-audit"}
    made = release(home / "features", home / "again", mechanism="laplace", epsilon=1.0)
    again = snapshot(home / "again")
    assert library.audit(home / "features", made, attackers=["means"]).written[0].parent == (
        home / "again-audit"
    )
    # What is in memory alone has no folder to be beside.
    assert library.audit(home / "features", made.table, attackers=["means"]).written == ()
    with pytest.raises(InputError, match="is a release already"):
        library.compare(home / "records", resume=home / "records")
    library.read(home / "records")
    assert snapshot(home / "records") == before
    assert snapshot(home / "again") == again


def test_working_in_the_released_folder_leaves_nothing_there(home, eyelid, snapshot, monkeypatch):
    before = snapshot(home / "records")
    monkeypatch.chdir(home / "records")
    assert eyelid("audit", "../features", ".", "--attackers", "means").code == 0
    noted = []

    def looking(*words, **more):
        noted.extend(path.parent for path in home.rglob(".eyelid-compare-*"))
        return utility(*words, **more)

    monkeypatch.setattr("eyelid.attacks.outcome.utility", looking)
    asked = ("--mechanisms", "laplace", "--epsilons", "1", "--fast")
    assert eyelid("compare", "../features", *asked).code == 0
    assert set(noted) == {home}
    assert snapshot(home / "records") == before
    assert (home / "records-audit" / "audit.json").exists()


# Every command that has an output, with what it would put there.
OUTPUTS = [
    "audit FEATURES --report NEW.html",
    "audit FEATURES RELEASED --report NEW.html",
    "audit STUDY MAP --report NEW.html",
    "compare FEATURES --report NEW.html",
    "compare FEATURES --picture NEW.svg",
    "demo --fast --out NEW",
    "reproduce liu2019 --fast --out NEW",
    "inspect STUDY --pictures NEW",
    "simulate NEW --people 3 --minutes 0.1",
    "features STUDY NEW",
    "events STUDY NEW",
    "convert STUDY NEW",
    "release FEATURES NEW --mechanism laplace --epsilon 1",
    "heatmap STUDY NEW --stimulus comic --level good --size 96x54",
    "heatmap STUDY NEW --stimulus comic --level good --size 96x54 --dry-run",
    "stream --source simulate --epsilon 1 --window 500ms --radius 3 --seconds 0.1 --record NEW.csv",
    "stream --source simulate --epsilon 1 --window 500ms --radius 3 --seconds 0.1 --budget NEW",
]


@pytest.mark.parametrize("into", ["records", "map", "study", "around", "link"])
def test_nothing_can_be_sent_into_a_release_or_a_study(into, home, eyelid, snapshot, tmp_path):
    kept = home / (into if into in ("map", "study") else "records")
    place = kept
    if into == "around":
        place = home / "features" / ".." / "records"
    if into == "link":
        place = tmp_path / "link"
        place.symlink_to(kept, target_is_directory=True)
    before = snapshot(kept)
    names = {"STUDY": "study", "FEATURES": "features", "RELEASED": "records", "MAP": "map"}
    for command in OUTPUTS:
        words = command.replace("NEW", str(place / "new"))
        for name, folder in names.items():
            words = words.replace(name, str(home / folder))
        done = eyelid(*words.split())
        assert done.code == 2, command
        assert "is inside" in done.err, command
        assert snapshot(kept) == before, command


def test_a_page_reaches_a_release_by_no_link_of_its_own(home, eyelid, snapshot, tmp_path):
    shutil.copytree(home / "records", tmp_path / "private")
    (tmp_path / "outwards.html").write_text("a page")
    (tmp_path / "private" / "out.html").symlink_to(tmp_path / "outwards.html")
    (tmp_path / "into.html").symlink_to(tmp_path / "private" / "page.html")
    before = snapshot(tmp_path / "private")
    for page in ("private/out.html", "into.html"):
        done = eyelid("audit", home / "features", "--report", tmp_path / page)
        assert done.code == 2
        assert "is inside" in done.err
    assert snapshot(tmp_path / "private") == before
    assert (tmp_path / "outwards.html").read_text() == "a page"


def test_other_users_of_a_shared_folder_cannot_read_an_audit(home, eyelid):
    shutil.rmtree(home / "records-audit", ignore_errors=True)
    before = os.umask(0)
    try:
        asked = ("--attackers", "means", "--protocols", "raw->release")
        assert eyelid("audit", home / "features", home / "records", *asked).code == 0
    finally:
        os.umask(before)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (home / "records-audit", *(home / "records-audit").iterdir())
    }
    assert modes == {
        "records-audit": 0o700,
        "audit.json": 0o600,
        "report.html": 0o600,
        "README.md": 0o600,
    }


@pytest.fixture(scope="module")
def results(home):
    """A folder of results beside the releases."""
    library.summary(home / "study", home / "results", measures=["fixation_duration"], epsilon=1.0)
    return home / "results"


def leaks_in(folder):
    return [(each.where, each.what) for each in library.lint(folder) if each.severity == "leak"]


def test_results_as_they_were_made_lint_clean(results, eyelid):
    done = eyelid("lint", results)
    assert (done.code, done.err) == (0, "")
    assert "Its certificate, which is of these data, says" in done.out


@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        (
            lambda home: (home / "results.csv").write_text(
                (home / "results.csv").read_text() + "rate,,,mean,1,0,2,1,6,,,seen by ann@x.org\n"
            ),
            ("certificate.json", "a certificate that is not of these data"),
        ),
        (
            lambda home: (home / "results.svg").write_text(
                (home / "results.svg").read_text() + "<!-- of 3 Mar 2021 -->"
            ),
            ("results.svg", "a date"),
        ),
        (
            lambda home: (home / "methods.md").write_text(
                "Means.\n\nAsk ann.smith@uni.example of it.\n"
            ),
            ("methods.md", "an e-mail address"),
        ),
        (
            lambda home: (home / "gaze.csv").write_text("time_ms,x,y\n0,1,2\n"),
            ("gaze.csv", "what no release has"),
        ),
        (
            lambda home: (home / "measured.json").unlink(),
            ("certificate.json", "a certificate that is not of these data"),
        ),
    ],
    ids=["results", "figure", "words", "beside", "not measured"],
)
def test_results_that_were_changed_are_no_release_to_trust(tamper, found, results, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(results, folder)
    tamper(folder)
    assert found in leaks_in(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_as_it_was_made_lints_clean(kind, home, eyelid):
    done = eyelid("lint", home / kind)
    assert (done.code, done.err) == (0, "")
    assert "Its certificate, which is of these data, says" in done.out
