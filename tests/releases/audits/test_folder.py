"""NAME-audit: whole or not there, in nobody's way, and never where it would be shared."""

import json
import os
from pathlib import Path

import pytest

from eyelid.errors import InputError
from eyelid.releases.audits import folder as audit_folder
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.folder import AuditPlaces, audit_places
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.release import release

pytestmark = pytest.mark.usefixtures("quick_audits", "no_pictures")

QUICK = {"attackers": ["means"], "protocols": ["raw->release"]}
FIGURES = json.dumps({"schema": "eyelid/audit/1"})


@pytest.fixture
def private(tmp_path):
    """A released folder, as far as it matters here."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "certificate.json").write_text("{}")
    return tmp_path / "private"


def files(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_an_audit_goes_beside_the_release_however_it_is_named(private, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(private, target_is_directory=True)
    monkeypatch.chdir(private)
    for name in (private, Path(), Path("../private"), tmp_path / "elsewhere" / "link"):
        assert audit_places(name, None).folder == tmp_path / "private-audit"


def test_an_audit_that_is_repeated_replaces_the_last_one_whole(private, tmp_path):
    places = audit_places(private, None)
    places.write(FIGURES, "first")
    (tmp_path / "private-audit" / ".DS_Store").write_text("")
    elsewhere = audit_places(private, tmp_path / "page.html")
    assert [path.name for path in elsewhere.write(FIGURES, "second")] == ["page.html", "audit.json"]
    # A page of an earlier audit beside figures of a later one would be taken for theirs.
    assert set(files(tmp_path / "private-audit")) == {"audit.json", "README.md"}
    assert (tmp_path / "page.html").read_text() == "second"
    assert {path.name for path in tmp_path.iterdir()} == {"private", "private-audit", "page.html"}


def test_an_audit_that_fails_on_the_way_leaves_the_last_one(private, tmp_path, monkeypatch):
    places = audit_places(private, None)
    places.write(FIGURES, "first")
    before = files(tmp_path / "private-audit")
    written = []

    def full(path, content, **options):
        written.append(path)
        if len(written) > 1:
            raise InputError("cannot write: no space left on device")
        path.write_text(content)

    monkeypatch.setattr(audit_folder, "write_file", full)
    with pytest.raises(InputError, match="no space left"):
        places.write(FIGURES, "second")
    assert len(written) == 2
    assert files(tmp_path / "private-audit") == before
    assert {path.name for path in tmp_path.iterdir()} == {"private", "private-audit"}


def a_file(place):
    place.write_text("mine")


def an_empty_folder(place):
    place.mkdir()


def a_folder(place):
    place.mkdir()
    (place / "audit.json").write_text('{"schema": "mine"}')


def a_broken_audit(place):
    place.mkdir()
    (place / "audit.json").write_text("{")


def a_link_to_an_audit(place):
    AuditPlaces(place.with_name("other")).write(FIGURES, "page")
    place.symlink_to("other", target_is_directory=True)


def an_audit_with_notes(place):
    AuditPlaces(place).write(FIGURES, "page")
    (place / "notes.txt").write_text("mine")


@pytest.mark.parametrize(
    ("lay", "text"),
    [
        (a_file, "is no audit that eyelid wrote"),
        (an_empty_folder, "is no audit that eyelid wrote"),
        (a_folder, "is no audit that eyelid wrote"),
        (a_broken_audit, "is no audit that eyelid wrote"),
        (a_link_to_an_audit, "is no audit that eyelid wrote"),
        (an_audit_with_notes, "holds notes.txt"),
    ],
)
def test_what_is_no_audit_of_ours_is_never_overwritten(private, tmp_path, lay, text):
    beside = tmp_path / "private-audit"
    lay(beside)
    before = beside.read_text() if beside.is_file() else files(beside)
    for page in (None, tmp_path / "page.html"):
        with pytest.raises(InputError, match=text):
            audit_places(private, page)
    # Nor what was put there while the audit was running.
    with pytest.raises(InputError, match=text):
        AuditPlaces(beside).write(FIGURES, "page")
    assert (beside.read_text() if beside.is_file() else files(beside)) == before


def test_where_nothing_can_be_written_the_page_may_go_elsewhere(private, tmp_path, monkeypatch):
    (tmp_path / "desk").mkdir()
    page = tmp_path / "desk" / "page.html"
    allowed = os.access
    monkeypatch.setattr("os.access", lambda place, how: place != tmp_path and allowed(place, how))
    with pytest.raises(InputError, match=r"no permission to write in .*\(--report FILE\)"):
        audit_places(private, None)
    places = audit_places(private, page)
    assert places.write(FIGURES, "the page") == (page,)
    assert "audit.json was not written" in places.unwritten
    assert "no permission" in places.unwritten


def test_beside_an_address_nothing_is_written():
    with pytest.raises(InputError, match="beside s3://bucket/private nothing is written"):
        audit_places(Path("s3://bucket/private"), None)
    assert audit_places(Path("s3://bucket/private"), Path("page.html")).folder is None


def test_beside_a_release_in_a_release_nothing_is_written(private):
    (private / "inner").mkdir()
    with pytest.raises(InputError, match="private may be shared with it"):
        audit_places(private / "inner", None)
    assert audit_places(private / "inner", Path("page.html")).folder is None


def test_the_page_in_the_folder_has_one_name(private, tmp_path):
    audit_places(private, None).write(FIGURES, "page")
    beside = tmp_path / "private-audit"
    assert audit_places(private, beside / "report.html") == audit_places(private, None)
    with pytest.raises(InputError, match=r"the page in that folder is called report\.html"):
        audit_places(private, beside / "page.html")


@pytest.mark.parametrize(
    ("mechanism", "refuted"), [({"mechanism": "laplace", "epsilon": 1.0}, False), ({}, True)]
)
def test_figures_that_an_earlier_version_left_in_a_release_are_reported(
    features_folder, tmp_path, mechanism, refuted
):
    how = mechanism or {"mechanism": "ksame", "k": 2}
    release(features_folder, tmp_path / "out", **how)
    for name in ("audit.json", "report.html"):
        (tmp_path / "out" / name).write_text("figures")
    found = audit_target(features_folder, tmp_path / "out")
    said = found.inconsistencies if refuted else found.notes
    for name in ("audit.json", "report.html"):
        assert any(f"holds {name}, which an audit of an earlier version left" in t for t in said)
    assert not any("more than a release has" in text for text in said)


def test_an_audit_of_the_original_writes_the_page_that_was_asked_for_and_nothing_else(
    features_folder, tmp_path
):
    assert audit(features_folder, **QUICK | {"protocols": None}).written == ()
    page = tmp_path / "risk.html"
    assert audit(features_folder, attackers=["means"], report=page).written == (page,)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"features", "features.ledger", "risk.html"}
