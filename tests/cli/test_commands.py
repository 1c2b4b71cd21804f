"""The commands as a person meets them."""

import json
import os
import re
import subprocess
import sys
from itertools import islice

import pytest
import typer

from eyelid.cli.application import app
from eyelid.cli.help import LONGEST_SUMMARY
from eyelid.releases.consistency.cases import cases_of
from eyelid.verification.game import GameResult
from eyelid.verification.verify import Verification


def commands():
    return typer.main.get_command(app).commands.values()


COMMANDS = [
    "demo", "simulate", "inspect", "features", "mechanisms", "norms", "cost", "release", "budget",
    "verify", "compare", "recommend", "reproduce", "stream",
]  # fmt: skip


def test_help_lists_every_command_in_its_group(eyelid):
    done = eyelid("--help")
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)
    titles = ["Prepare:", "Plan:", "Release:", "Check:", "Research:"]
    assert [line for line in done.out.splitlines() if line in titles] == titles


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_the_help_of_a_command_fits_a_terminal_and_shows_no_types(eyelid, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    out = eyelid(command.name, "--help").out
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"<\w+(\[\w+\])?>", out)
    valued = [each for each in command.params if not getattr(each, "is_flag", False)]
    assert all(each.metavar for each in valued)
    summary = command.help.partition("\n")[0]
    assert len(summary) < LONGEST_SUMMARY
    assert f"  {summary.rstrip('.')}\n" in eyelid("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples(eyelid, command):
    done = eyelid(command, "--help")
    assert done.code == 0
    assert "Examples" in done.out
    assert f"eyelid {command}" in done.out


def test_the_version_is_told(eyelid):
    from eyelid.version import build

    assert eyelid("--version").out == f"eyelid {build()}\n"


def test_help_needs_no_heavy_library():
    heavy = ["numpy", "polars", "scipy", "sklearn", "matplotlib", "dp_accounting", "jinja2"]
    code = (
        "import sys; sys.argv = ['eyelid', '--help']\n"
        "from eyelid.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_path_from_a_recording_to_a_certificate(eyelid, tmp_path):
    study, features, out = tmp_path / "study", tmp_path / "features", tmp_path / "private"
    sizes = ["--people", "4", "--minutes", "1", "--seed", "3"]
    assert eyelid("simulate", study, *sizes).code == 0
    told = json.loads(eyelid("inspect", study, "--json").out)
    assert (told["people"], told["recordings"], told["tasks"]) == (4, 12, 3)
    assert eyelid("features", study, features, "--kind", "windows").code == 0
    quote = json.loads(
        eyelid("cost", features, "--mechanism", "gaussian", "--epsilon", "1", "--json").out
    )
    done = eyelid("release", features, out, "--mechanism", "gaussian", "--epsilon", "1", "--json")
    certificate = json.loads(done.out)
    assert certificate["guarantee"] == quote["guarantee"]
    assert certificate == json.loads((out / "certificate.json").read_text())
    spent = json.loads(eyelid("budget", study, "--json").out)
    assert spent["spent"]["epsilon"] == 1.0
    assert spent["releases"] == 1
    for words in (["inspect", study], ["inspect", features], ["budget", study], ["mechanisms"]):
        assert eyelid(*words).code == 0


@pytest.mark.parametrize(
    ("unit", "person"), [("recording", 3.0), ("person", 1.0)], ids=["recording", "person"]
)
def test_the_person_total_is_in_the_certificate(eyelid, features_folder, tmp_path, unit, person):
    words = ["--mechanism", "laplace", "--epsilon", "1", "--unit", unit, "--json"]
    done = eyelid("release", features_folder, tmp_path / "o", *words)
    assert json.loads(done.out)["person_level"]["epsilon"] == person


@pytest.mark.parametrize("flags", [["--seed", "1"], ["--bounds", "data"]], ids=["seed", "data"])
def test_a_void_guarantee_is_said_aloud(eyelid, features_folder, tmp_path, flags):
    words = ["--mechanism", "lpa", "--epsilon", "1", *flags, "--json"]
    done = eyelid("release", features_folder, tmp_path / "o", *words)
    assert done.code == 0
    assert "carries no guarantee" in done.err
    found = json.loads(done.out)
    assert found["guarantee"]["holds"] is False
    assert found["guarantee"]["reasons"]
    spent = json.loads(eyelid("budget", features_folder, "--json").out)
    assert spent["spent"]["bounded"] is False


def test_each_reason_is_said_once_in_the_terminal(eyelid, features_folder, tmp_path):
    words = ["--mechanism", "lpa-paper", "--epsilon", "1"]
    done = eyelid("release", features_folder, tmp_path / "o", *words)
    assert (done.out + done.err).count("of this very dataset") == 1
    quoted = eyelid("cost", features_folder, *words).out
    assert quoted.count("of this very dataset") == 1
    assert "at most" in next(line for line in quoted.splitlines() if "error of one value" in line)


def test_a_cost_shows_what_it_assumed(eyelid):
    facts = ["--people", "40", "--recordings", "3", "--features", "16", "--length", "600"]
    out = eyelid("cost", "--mechanism", "groupmean", "--epsilon", "1", *facts).out
    assert "40 people, up to 3 recordings each of 600 rows, 16 features" in out
    assert "advantage in membership inference" in out
    assert "named by" not in out


def test_the_catalogue_says_what_each_does(eyelid):
    out = eyelid("mechanisms").out
    assert "The mean over the people of each public group" in " ".join(out.split())
    assert "features or samples" in out


def test_samples_can_be_released_in_one_step(eyelid, tmp_path):
    eyelid("simulate", tmp_path / "s", "--people", "3", "--minutes", "1", "--seed", "3")
    words = ["--mechanism", "laplace", "--epsilon", "1"]
    assert eyelid("release", tmp_path / "s", tmp_path / "o", *words).code == 0


def test_one_is_not_counted_as_several(eyelid, tmp_path):
    told = eyelid("simulate", tmp_path / "s", "--people", 1, "--tasks", "comic", "--minutes", 0.2)
    assert "1 simulated participant, 1 task each" in told.out


def test_the_catalogue_as_json(eyelid):
    found = json.loads(eyelid("mechanisms", "--json").out)["mechanisms"]
    assert {"laplace", "gaussian"} <= {m["name"] for m in found}
    assert {"name", "takes", "units", "kind", "holds", "paper", "parameters"} <= set(found[0])


def test_a_mechanism_shows_its_proof_note(eyelid):
    out = eyelid("mechanisms", "laplace").out
    assert all(part in out for part in ("Takes:", "Protects:", "Why:", "Paper:"))


def test_verify_speaks_json_and_exit_codes(eyelid, no_samplers, two_cores, monkeypatch):
    # One of the two ways it is released; tests/releases/consistency compares all that differ.
    one = lambda kind: islice(cases_of(kind), 1)  # noqa: E731
    monkeypatch.setattr("eyelid.releases.consistency.verification.cases_of", one)
    done = eyelid("verify", "uniform", "--runs", "2000", "--json")
    found = json.loads(done.out)
    assert all(folder["same"] for folder in found["folders"])
    assert {"name": "the screen read off the gaze", "mechanism": "uniform", "caught": True} in (
        found["planted"]
    )
    # So few runs miss the subtle fault, and the exit code says so.
    assert done.code == (0 if found["passed"] else 1)
    assert not any(m["refuted"] for m in found["mechanisms"])


def test_verify_leaves_out_empty_tables_and_tells_settings_apart(eyelid, monkeypatch, no_folders):
    games = [
        GameResult("seeded", "person", "person", "epsilon", 2.0, 1.0, 1000, "", True, settings)
        for settings in ("rows=1", "rows=2")
    ]
    found = Verification(tuple(games), (), (), (), (), (), ())
    monkeypatch.setattr("eyelid.verification.verify.verify", lambda *words, **more: found)
    out = eyelid("verify", "seeded").out
    assert "rows=1" in out
    assert "rows=2" in out
    empty = ("Noise of a whole table", "Sensitivity fuzz", "Digits", "What is shown")
    for title in (*empty, "What the folder shows"):
        assert title not in out


def test_verify_finds_something_with_exit_code_one(
    eyelid, monkeypatch, no_samplers, no_faults, no_folders
):
    from eyelid.mechanisms.records.laplace import Laplace
    from eyelid.privacy.noise import DiscreteLaplace

    true = Laplace.noise
    half = lambda self, facts: DiscreteLaplace(true(self, facts).scale // 2)  # noqa: E731
    monkeypatch.setattr(Laplace, "noise", half)
    from eyelid.mechanisms.differential import noise_of

    noise_of.cache_clear()
    try:
        done = eyelid("verify", "laplace", "--runs", "5000")
    finally:
        noise_of.cache_clear()
    assert done.code == 1
    assert "laplace claims" in done.err


def test_the_demo_of_an_existing_folder_is_refused(eyelid, tmp_path):
    (tmp_path / "demo").mkdir()
    done = eyelid("demo", "--out", tmp_path / "demo")
    assert done.code == 2
    assert "exists already" in done.err


def test_the_bare_command_is_a_cry_for_help(eyelid):
    assert "Prepare:" in eyelid().out


PATH = [sys.executable, "-m", "eyelid"]


def test_a_reader_who_has_seen_enough_causes_no_complaint():
    with subprocess.Popen(
        [*PATH, "mechanisms", "laplace"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_console_without_greek_still_works(features_folder):
    words = [*PATH, "cost", str(features_folder), "--mechanism", "laplace", "--epsilon", "1"]
    latin = os.environ | {"PYTHONIOENCODING": "latin-1"}
    for more in ([], ["--json"]):
        done = subprocess.run([*words, *more], env=latin, capture_output=True, check=True)
    assert json.loads(done.stdout)["guarantee"]["epsilon"] == 1.0


def test_python_dash_m_works():
    done = subprocess.run(
        [sys.executable, "-m", "eyelid", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("eyelid ")
