"""Places elsewhere: recognised in both spellings, never with a secret, written all or nothing."""

import builtins
import sys
from pathlib import Path

import pytest

from eyelid.engine.atomic import check_file, check_new, new_folder
from eyelid.engine.remote import RemotePlace, nearby, remote_place, upload
from eyelid.engine.runs import running, unfinished
from eyelid.errors import InputError


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path, monkeypatch):
    """A place that is free, and a current folder to work in."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    home = f"memory://{tmp_path.name}" if request.param == "memory" else f"file://{tmp_path}"
    yield RemotePlace(f"{home}/out")
    if request.param == "memory":
        import fsspec

        fsspec.filesystem("memory").store.clear()


def folder_of(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / "made" / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "made"


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("s3://bucket/a/study", "s3://bucket/a/study"),
        ("s3:/bucket/a/study/", "s3://bucket/a/study"),
        ("file:///home/study", "file:///home/study"),
        ("file:/home/study", "file:///home/study"),
        ("GS://bucket/study", "gs://bucket/study"),
    ],
)
def test_an_address_is_known_in_both_spellings(said, address):
    assert remote_place(said) == remote_place(Path(said)) == RemotePlace(address)


@pytest.mark.parametrize("said", ["study", "C:/study", "C:\\study", "a/s3://b", "s3", "/s3:/b"])
def test_a_path_is_no_address(said):
    assert remote_place(said) is None


def test_what_is_here_is_meant_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s3:/bucket/study").mkdir(parents=True)
    assert remote_place("s3://bucket/study") is None


@pytest.mark.parametrize(
    "said",
    [
        "s3://me:hunter2@bucket/x",
        "https://host/x?key=hunter2",
        "memory://a/b#hunter2",
        "sftp://me:hun/hunter2@host/x",
        "simplecache::s3://me:hunter2@bucket/x",
        "zip://a.csv::s3://me:hunter2@bucket/x.zip",
    ],
)
def test_an_address_with_what_may_be_a_secret_is_refused_and_not_repeated(said):
    for spelling in (said, Path(said)):
        with pytest.raises(InputError, match="may tell a secret") as refused:
            remote_place(spelling)
        assert "hunter2" not in str(refused.value)


def test_an_address_of_several_is_refused():
    for said in ("simplecache::s3://bucket/x", "zip://a.csv::s3://bucket/x.zip"):
        with pytest.raises(InputError, match="chained with :: is not taken"):
            remote_place(said)
    assert remote_place("a::b") is None


def test_what_is_not_installed_is_named(monkeypatch):
    with pytest.raises(InputError, match=r"^cannot reach nosuch://a/b: Protocol not known"):
        RemotePlace("nosuch://a/b").exists()
    with monkeypatch.context() as patch:
        patch.setattr("fsspec.core.url_to_fs", _not_there("Install s3fs to access S3"))
        with pytest.raises(InputError, match="s3:// needs a package of its own: Install s3fs"):
            RemotePlace("s3://a/b").exists()
    real = builtins.__import__

    def no_fsspec(name, *words):
        if name.startswith("fsspec"):
            raise ImportError(name)
        return real(name, *words)

    monkeypatch.setattr(builtins, "__import__", no_fsspec)
    with pytest.raises(InputError, match=r"pip install 'eyelid\[remote\]'"):
        RemotePlace("s3://a/b").exists()


def _not_there(told):
    def failing(address):
        raise ImportError(told)

    return failing


def watched(monkeypatch):
    """The names of what is sent from now on."""
    sent, send = [], RemotePlace.send

    def watch(to, file):
        sent.append(to.name)
        send(to, file)

    monkeypatch.setattr(RemotePlace, "send", watch)
    return sent


def test_what_a_folder_is_known_by_is_uploaded_last(tmp_path, place, monkeypatch):
    made = folder_of(
        tmp_path, study_json="{}", certificate_json="{}", people_csv="p", data__p="rows"
    )
    sent = watched(monkeypatch)
    upload(made, place, "run")
    assert sent == ["p", "people.csv", "certificate.json", "study.json"]
    assert place.names() == ["certificate.json", "data/p", "people.csv", "study.json"]
    with nearby(place / "data/p") as near:
        assert near.read_text() == "rows"
    assert not near.exists()


def test_what_is_there_is_never_written_over_nor_into(tmp_path, place):
    upload(folder_of(tmp_path, study_json="{}"), place, "run")
    for taken, told in ((place, "exists already"), (place / "more", "is inside")):
        with pytest.raises(InputError, match=told):
            check_new(Path(str(taken)))
    check_new(Path(f"{place}-other"))
    with pytest.raises(InputError, match="name a file of this machine"):
        check_file(Path(str(place / "report.html")), {".html"})


def test_a_new_folder_elsewhere_is_all_there_or_not_there(place):
    with pytest.raises(ZeroDivisionError), new_folder(Path(str(place))) as folder:
        (folder / "a").write_text("half")
        raise ZeroDivisionError
    assert not place.exists()
    with new_folder(Path(str(place))) as folder:
        (folder / "a").write_text("whole")
    assert (place / "a").read() == b"whole"


def test_an_upload_that_was_stopped_goes_on(place, monkeypatch):
    out, send = Path(str(place)), RemotePlace.send

    def run_to(key="key"):
        with running(out, key) as run:
            for name in ("a", "b"):
                run.put(run.output / "parts" / name, lambda draft: draft.write_text("rows"))
            (run.output / "study.json").write_text("{}")
        return run

    def stopped(to, file):
        if to.name == "b":
            raise KeyboardInterrupt
        send(to, file)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as stop:
        patch.setattr(RemotePlace, "send", stopped)
        run_to()
    assert "the same command goes on" in stop.value.__notes__[-1]
    assert place.names() == [".unfinished", "parts/a"]
    with pytest.raises(InputError, match="unfinished run of other data or settings"):
        run_to("other")
    sent = watched(monkeypatch)
    assert run_to().resumed
    assert sent == ["b", "study.json"]
    assert place.names() == ["parts/a", "parts/b", "study.json"]
    assert not unfinished(out).exists()
    assert not list(Path.cwd().iterdir())


def test_what_is_told_of_all_parts_is_told_anew_after_a_stop(tmp_path, place, monkeypatch):
    made, send = (
        folder_of(tmp_path, certificate_json="old", study_json="{}", data__p="old"),
        RemotePlace.send,
    )

    def stopped(to, file):
        send(to, file)
        if to.name == "study.json":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RemotePlace, "send", stopped)
        upload(made, place, "run")
    folder_of(tmp_path, certificate_json="new", study_json="[]", data__p="new")
    upload(made, place, "run")
    assert {name: (place / name).read() for name in place.names()} == {
        "certificate.json": b"new",
        "data/p": b"old",
        "study.json": b"[]",
    }


def test_what_somebody_quicker_put_there_is_not_written_over(place, monkeypatch):
    out, here = Path(str(place)), Path.cwd()
    (here / "other").mkdir()
    with pytest.raises(InputError, match="exists already"), running(out, "one") as slow:
        slow.put(slow.output / "study.json", lambda draft: draft.write_text("one"))
        monkeypatch.chdir(here / "other")
        with running(out, "two") as quick:
            quick.put(quick.output / "people.csv", lambda draft: draft.write_text("two"))
    assert place.names() == ["people.csv"]
    assert (place / "people.csv").read() == b"two"


def test_an_upload_of_another_run_is_left_alone(place):
    (place / ".unfinished").write(b"somebody's run")
    with (
        pytest.raises(InputError, match="by another run was begun and not finished"),
        running(Path(str(place)), "key"),
    ):
        sys.exit("nothing is to be made")
    assert place.names() == [".unfinished"]
    assert not list(Path.cwd().iterdir())
