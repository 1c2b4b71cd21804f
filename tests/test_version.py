"""Which build this is, as certificates and citations say."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eyelid.version import __version__, build

ROOT = Path(__file__).parents[1]


def checkout(folder):
    package = folder / "src" / "eyelid"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    return package


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    package = checkout(tmp_path / "source")
    git(tmp_path / "source", "init", "-q")
    git(tmp_path / "source", "commit", "-q", "--allow-empty", "-m", "first")
    return package


@pytest.mark.parametrize("state", ["branch", "packed", "detached", "worktree"])
def test_a_development_version_carries_its_commit(repository, state, tmp_path):
    source = repository.parents[1]
    commit = git(source, "rev-parse", "HEAD")
    package = repository
    if state == "packed":
        git(source, "pack-refs", "--all")
    if state == "detached":
        git(source, "checkout", "-q", "--detach")
    if state == "worktree":
        git(source, "worktree", "add", "-q", "-b", "other", tmp_path / "tree")
        package = checkout(tmp_path / "tree")
    assert build(package) == f"{__version__}+g{commit[:10]}"


def test_a_tree_without_git_has_the_plain_version(tmp_path):
    assert build(checkout(tmp_path)) == __version__


def test_an_installed_package_has_the_plain_version_whatever_lies_around_it(repository):
    installed = repository.parents[1] / "lib" / "eyelid"
    installed.mkdir(parents=True)
    assert build(installed) == __version__


def test_a_broken_repository_is_no_reason_to_fail(tmp_path):
    package = checkout(tmp_path)
    (tmp_path / ".git").mkdir()
    assert build(package) == __version__


def test_the_citation_and_the_changelog_have_the_version():
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f'version: "{__version__}"' in cited
    date = re.search(rf"^## \[{re.escape(__version__)}\] - (\d{{4}}-\d\d-\d\d)$", log, re.MULTILINE)
    assert date is not None
    assert f'date-released: "{date.group(1)}"' in cited
