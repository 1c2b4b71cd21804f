"""Where an audit is written: NAME-audit beside the release, never in a folder that is shared.

What an audit finds is made of raw data without noise, and no certificate covers it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from eyelid.engine.atomic import private_folder, whole_around, write_file
from eyelid.engine.files import opened
from eyelid.engine.remote import remote_place
from eyelid.errors import InputError
from eyelid.reporting.audits.audit_json import SCHEMA
from eyelid.version import build

FIGURES, PAGE, NOTICE = "audit.json", "report.html", "README.md"
"""What lies in the folder: for machines, for people, and what not to do with either."""
LEFT_INSIDE = {
    name: f"the released folder holds {name}, which an audit of an earlier version left there and "
    "which is made of raw data: remove it before you share the folder"
    for name in (FIGURES, PAGE)
}
"""What to say of a file that earlier versions put into the release itself, by its name."""
DROPPINGS = (".DS_Store", "Thumbs.db", "desktop.ini")
"""What operating systems put into any folder."""
_OWNERS_ALONE = 0o600
_NOTICE = """# Not to be shared

`eyelid audit` (version {version}) wrote this folder about the release `{name}`.
**It is made of raw data.** Its figures were computed without noise from what the participants
recorded, and no certificate covers them. It is for the owner of the data.

- Share the folder `{name}` alone, without this one.
- Publish a figure of it only if that is intended and the participants' consent covers it.
- It can be deleted at any time: `eyelid audit` writes it again.
"""


@dataclass(frozen=True)
class AuditPlaces:
    """Where an audit is written.

    Attributes:
        folder: beside the release; None where there is none, or where nothing can be written there.
        page: a file for the page instead of the one in the folder; None for that one.
        unwritten: why the figures are written nowhere; empty where they are, or need not be.
    """

    folder: Path | None = None
    page: Path | None = None
    unwritten: str = ""

    @property
    def some(self) -> bool:
        """Whether anything is written."""
        return self.folder is not None or self.page is not None

    def write(self, figures: str, page: str) -> tuple[Path, ...]:
        """Write what was found, and say into which files.

        Args:
            figures: the text of audit.json.
            page: the text of report.html.
        """
        written = []
        if self.page is not None:
            write_file(self.page, page)
            written.append(self.page)
        if self.folder is not None:
            texts = {FIGURES: figures, NOTICE: _notice(self.folder)}
            if self.page is None:
                texts[PAGE] = page
            with private_folder(self.folder, check_replaceable) as home:
                for name, text in texts.items():
                    write_file(home / name, text, mode=_OWNERS_ALONE)
            written += [self.folder / name for name in (FIGURES, PAGE) if name in texts]
        return tuple(written)


def audit_places(released: Path | None, page: Path | None) -> AuditPlaces:
    """Where an audit goes; refused before anything is computed if it cannot go there.

    Args:
        released: the folder that is audited; None where none is.
        page: a file for the page, if one was asked for.
    """
    if released is None:
        return AuditPlaces(page=page)
    if remote_place(released) is not None:
        return _page_alone(page, f"beside {remote_place(released)} nothing is written")
    folder = audit_folder(released)
    if page is not None and page.resolve().parent == folder:
        if page.name != PAGE:
            raise InputError(f"cannot write {page}: the page in that folder is called {PAGE}")
        page = None
    around = whole_around(folder)
    if around is not None:
        return _page_alone(page, f"cannot write {folder}: {around} may be shared with it")
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        why = f"cannot write {folder}: no permission to write in {folder.parent}"
        return _page_alone(page, why)
    check_replaceable(folder)
    return AuditPlaces(folder, page)


def audit_folder(released: Path) -> Path:
    """The folder of a release's audits: NAME-audit beside it, by whichever path that is given.

    >>> audit_folder(Path("/data/private")).as_posix()
    '/data/private-audit'
    """
    meant = released.resolve()
    return meant.with_name(f"{meant.name}-audit")


def check_replaceable(folder: Path) -> None:
    """Fail unless an audit can be put there: nothing lies there, or an earlier audit and no more.

    Args:
        folder: of audits.
    """
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not _is_audit(folder):
        raise InputError(
            f"{folder} is no audit that eyelid wrote, and nothing in it is replaced: move it "
            "elsewhere, or the release"
        )
    known = {FIGURES, PAGE, NOTICE, *DROPPINGS}
    others = sorted(item.name for item in folder.iterdir() if item.name not in known)
    if others:
        raise InputError(
            f"{folder} holds {others[0]}, which no audit writes and a new one would remove: move "
            "it elsewhere"
        )


def _is_audit(folder: Path) -> bool:
    try:
        with opened(folder / FIGURES) as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("schema") == SCHEMA


def _page_alone(page: Path | None, why: str) -> AuditPlaces:
    """Without a place for the figures, where there is one for the page; refused without either."""
    if page is None:
        raise InputError(
            f"{why}: give a file of its own for the page (--report FILE); the figures are printed "
            "by --json"
        )
    return AuditPlaces(page=page, unwritten=f"audit.json was not written: {why}")


def _notice(folder: Path) -> str:
    return _NOTICE.format(version=build(), name=folder.name.removesuffix("-audit"))
