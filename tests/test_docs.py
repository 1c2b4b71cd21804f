"""What the documents show, runs."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/study-folder.md",
    "docs/events.md",
    "docs/audit.md",
    "docs/correlation.md",
    "docs/signals.md",
    "docs/heatmaps.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})


def test_the_toy_examples_of_the_threats_page_are_true():
    result = doctest.testfile(str(ROOT / "docs" / "threats.md"), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


def readme_commands():
    text = (ROOT / "README.md").read_text("utf-8")
    (block,) = [b for b in re.findall(r"```console\n(.*?)```", text, re.DOTALL) if "inspect" in b]
    return [line.split("#")[0].split() for line in block.splitlines() if line.startswith("eyelid")]


def test_the_lines_of_the_readme_run_one_after_the_other(eyelid, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = readme_commands()
    assert len(lines) == 11
    for _, *words in lines:
        if words[0] != "verify":  # tested on its own, and long
            done = eyelid(*words)
            assert done.code == 0, (words, done.err)


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"
