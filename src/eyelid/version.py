"""The one place where the version stands, and from which state of the source this is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

__version__ = "0.2.0"

_COMMIT_DIGITS = 10


@cache
def build(package: Path = Path(__file__).parent) -> str:
    """The version, with the commit where the package runs from a git checkout of its source.

    Read from git's own files: no other program is started. Changes since that commit do not show.
    An installed package, or a tree without git, has the plain version.

    Args:
        package: the folder of the package.
    """
    root = package.resolve().parents[1]
    if package.parent.name != "src" or not (root / "pyproject.toml").is_file():
        return __version__
    commit = _commit(root / ".git")
    return f"{__version__}+g{commit[:_COMMIT_DIGITS]}" if commit else __version__


def _commit(git: Path) -> str:
    """The commit that is checked out; empty where that cannot be read."""
    try:
        if git.is_file():  # a further working tree of a repository
            git = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head
        name = head.removeprefix("ref:").strip()
        shared = git
        if (git / "commondir").is_file():
            shared = git / (git / "commondir").read_text(encoding="utf-8").strip()
        for place in (git / name, shared / name):
            if place.is_file():
                return place.read_text(encoding="utf-8").strip()
        packed = (shared / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
    except (OSError, UnicodeDecodeError):
        return ""
