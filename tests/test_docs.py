"""What the documents show, runs."""

import doctest
import math
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from docs.pictures import SCENE_DEG, STARTS, draw, gaze
from proofs.maps import golden_values
from scipy.ndimage import label

from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import presented
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io.study_folder import write
from eyelid.mechanisms.maps.map_grid import MapGrid

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/study-folder.md",
    "docs/events.md",
    "docs/audit.md",
    "docs/correlation.md",
    "docs/signals.md",
    "docs/heatmaps.md",
    "docs/summary.md",
    "docs/anonymity.md",
    "docs/synthetic.md",
    "docs/gaze-generator.md",
    "docs/gaze.md",
    "docs/choosing.md",
    "docs/norms.md",
    "docs/scaling.md",
    "docs/streaming.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch, quick_audits):
    monkeypatch.chdir(tmp_path)
    # To compile filters takes longer than what pages let them do; it has tests of its own.
    monkeypatch.setattr("eyelid.mechanisms.streams.filter_run.compiled", lambda kernel: None)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})


def test_every_door_names_tests_that_are_there():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    assert all((ROOT / file).exists() for file in re.findall(r"tests/[\w/]+\.py", page))
    section = page.split("## The doors")[1].split("\n## ")[0]
    doors = [line for line in section.splitlines() if line.startswith("| **")]
    assert len(doors) == 10
    for door in doors:
        files = re.findall(r"`(tests/[\w/]+\.py)`", door.rsplit("|", 2)[1])
        assert files, door[:40]
        for file in files:
            assert "def test_" in (ROOT / file).read_text("utf-8")


@pytest.mark.parametrize("page", ["threats.md", "what-the-papers-claim.md"])
def test_the_toy_examples_of_a_page_are_true(page):
    result = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


def test_the_noise_levels_of_the_papers_page_come_out():
    text = (ROOT / "docs" / "what-the-papers-claim.md").read_text("utf-8")
    for name, value, golden, unit in golden_values():
        assert value == pytest.approx(golden, abs=unit), name
        assert f"{golden:g}" in text, name


# What needs recordings of one's own, a tracker, or a network.
ELSEWHERE = ("recordings", "trials.csv", "export.tsv", "stream")


def readme_commands():
    """The lines of the README on simulated participants, in the order in which they stand."""
    text = (ROOT / "README.md").read_text("utf-8")
    lines = "\n".join(re.findall(r"```(?:console|sh)\n(.*?)```", text, re.DOTALL)).splitlines()
    return [
        words
        for line in lines
        if re.match(r"eyelid |mkdir \w+ && cd ", line)
        and not {*(words := line.split("#")[0].split())} & {*ELSEWHERE}
    ]


# Fewer people than whoever types the lines would have, with every attacker.
SHORTER = {
    "simulate": ["--people", "10", "--minutes", "0.8"],
    "compare": ["--mechanisms", "gaussian,ksame"],
}


def test_the_lines_of_the_readme_run_one_after_the_other(
    eyelid, quick_audits, no_pictures, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    lines = readme_commands()
    assert len(lines) == 21
    for program, *words in lines:
        if program == "mkdir":
            Path(words[0]).mkdir()
            monkeypatch.chdir(words[0])
        elif words[0] != "verify":  # tested on its own, and long
            done = eyelid(*words, *SHORTER.get(words[0], []))
            # Of so few people no synthetic ones are made, as the line says.
            refused = words[:3] == ["release", "features", "synthetic"]
            assert done.code == (2 if refused else 0), (words, done.err)
            assert "No bound on re-identification" not in done.out, words


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"


def weaknesses():
    return " ".join((ROOT / "docs" / "known-weaknesses.md").read_text("utf-8").split())


@pytest.mark.parametrize(("cells", "words"), [(1, "one cell 20%"), (4, "four 40%"), (25, "all")])
def test_clipping_flattens_as_the_weaknesses_say(cells, words):
    mechanism = MapGrid(epsilon=1.0)
    facts = mechanism.facts_of(40, 1, 1680, 1050, 40.0)
    points = np.zeros((1, facts.grid.cells))
    points[0, :cells] = 1.0
    kept = mechanism.limited(PersonCounts.of_dense(points), facts).sum()
    assert kept == pytest.approx(0.2 * np.sqrt(cells))
    assert f"in {words}" in weaknesses()


# 1000 draws: a standard error of 1.1% of maps, 0.04 spots.
def test_noise_draws_as_many_spots_as_the_weaknesses_say():
    mechanism, rng = MapGrid(epsilon=1.0), np.random.default_rng(2)
    facts = mechanism.facts_of(40, 1, 168, 105, 4.0)
    cell_sd, grid = mechanism.cell_sd(facts), facts.grid
    noise = rng.normal(0.0, cell_sd, (1000, grid.rows, grid.columns))
    maps = [presented(cells, grid, 4.0, cell_sd, "", 40) for cells in noise]
    spots = np.array([label(each.reliable, np.ones((3, 3)))[1] for each in maps])
    assert np.mean(spots > 0) == pytest.approx(0.86, abs=0.05)
    assert spots.mean() == pytest.approx(1.8, abs=0.2)
    assert (
        "(9 × 6 cells) has a place above two standard errors in 86% of releases, 1.8"
        in weaknesses()
    )
    assert (grid.columns, grid.rows) == (9, 6)


def test_what_a_person_pays_stands_in_the_streaming_page():
    text = (ROOT / "docs" / "streaming.md").read_text("utf-8")
    row = r"^\| (\d+) \| ([\d.]+) s \| (\d+)° \|.*\| ([\d\u202f]+) \| ([\d\u202f]+) \|$"
    rows = re.findall(row, text, re.MULTILINE)
    assert len(rows) == 7
    x0, y0, x1, y1 = SCENE_DEG
    for epsilon, seconds, radius, minute, hour in rows:
        windows = math.ceil(60 / float(seconds))
        total = windows * float(epsilon) * math.hypot(x1 - x0, y1 - y0) / float(radius)
        assert int(minute.replace("\u202f", "")) == round(total)
        assert int(hour.replace("\u202f", "")) == round(60 * total)


def test_what_the_streaming_page_begins_with_says_what_can_still_be_guessed():
    text = (ROOT / "docs" / "streaming.md").read_text("utf-8")
    row = r"^\| ([^|]+) \| `(\w+)` \| (\d+) \| ([\d.]+) s \| (\d+)° \|.*\| ≤ ([\d.]+)% \| (.+) \|$"
    rows = re.findall(row, text, re.MULTILINE)
    settings = [(what, name, int(e), float(s), int(r)) for what, name, e, s, r, _, _ in rows]
    assert settings == list(STARTS)
    x0, y0, x1, y1 = SCENE_DEG
    for (_, _, epsilon, seconds, radius), (*_, guess, minute) in zip(settings, rows, strict=True):
        right = 100 * math.exp(epsilon) / (1 + math.exp(epsilon))
        assert right <= float(guess) <= right + 0.1
        total = math.ceil(60 / seconds) * epsilon * math.hypot(x1 - x0, y1 - y0) / radius
        assert int(minute.replace("\u202f", "")) == round(total)


def test_the_picture_of_the_streaming_page_can_be_drawn():
    figure = draw(gaze(1)[0])
    plt.close(figure)
    raw, kaleido, uniform, *over_time = figure.axes
    assert [ax.get_title().split(":")[0] for ax in (raw, kaleido, uniform)] == [
        "raw",
        "kaleido",
        "uniform",
    ]
    assert len(over_time) == 3


def walk(command):
    """The modules that the page's walk through a command names, in the form of their files."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.split(f"## A walk through `eyelid {command}`\n")[1].split("\n## ")[0]
    # What only other kinds pass stands behind a semicolon, up to the end of its brackets.
    section = re.sub(r"; `\w+\.py` of maps[^)]*\)", ")", section)
    return re.findall(r"`((?:\w+/)*\w+\.py|kinds/\w+/\w+\.py)`", section)


@pytest.fixture
def passed():
    """The files of modules that work while something runs."""
    found = set()

    def watch(frame, *_):
        if frame.f_code.co_name != "<module>":
            found.add(frame.f_code.co_filename)

    before = sys.gettrace()
    sys.settrace(watch)
    yield found
    sys.settrace(before)


@pytest.mark.parametrize("command", ["release", "audit"])
def test_a_walk_names_modules_that_the_command_passes(
    eyelid, command, passed, quick_audits, no_pictures, tmp_path
):
    features = [Feature(name, "1/s", "events per second", 0.0, 10.0) for name in "ab"]
    values = np.random.default_rng(1).random((5, 2, 6, 2)) * 10
    write(table_from_arrays(values, features).study(), tmp_path / "study")
    steps = ["release", tmp_path / "study", tmp_path / "out", "--mechanism", "gaussian"]
    assert eyelid(*steps, "--epsilon", 8).code == 0
    if command == "audit":
        passed.clear()
        few = ("--attackers", "means,likelihood", "--protocols", "raw->release")
        assert eyelid("audit", tmp_path / "study", tmp_path / "out", *few).code == 0
    # Quick audits leave canaries out.
    named = set(walk(command)) - {"canaries.py"}
    assert len(named) > 8
    assert not [name for name in named if not any(file.endswith(f"/{name}") for file in passed)]
