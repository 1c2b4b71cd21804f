import json

from eyelid.releases.consistency.comparison import Difference, FolderResult
from eyelid.releases.consistency.verification import (
    FolderVerification,
    WholeVerification,
    verify_folders,
)
from eyelid.verification.verify import Planted, Verification

LEAK = Difference("broke off", "data.parquet: rows: '9' or '1'")
NOTHING = Verification((), (), (), (), (), (), (Planted("scale × 0.85", "laplace", True),))


def found(*folders, planted=()):
    return WholeVerification(NOTHING, FolderVerification(folders, planted))


def test_a_folder_that_tells_neighbours_apart_refutes_a_claim():
    told = found(FolderResult("laplace", "length=7", True, 4, (LEAK,)))
    assert not told.passed
    assert told.refuted == [
        "what the folder of laplace with length=7 shows depends on one participant (broke off): "
        "data.parquet: rows: '9' or '1'"
    ]
    paper = found(FolderResult("lpa-paper", "", False, 1, (LEAK,)))
    assert paper.passed


def test_a_mutant_that_gets_through_is_missed():
    told = found(planted=(Planted("rows", "laplace", False),))
    assert told.missed == ["rows in laplace"]
    assert not told.passed


def test_json_has_folders_beside_everything_else():
    sound = FolderResult("ksame", "", True, 3, ())
    leak = FolderResult("laplace", "", True, 4, (LEAK,))
    told = found(sound, leak, planted=(Planted("rows", "laplace", True),)).to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["schema"] == "eyelid/verify/1"
    assert told["folders"][0] == {
        "name": "ksame",
        "settings": "",
        "holds": True,
        "pairs": 3,
        "same": True,
        "differs": [],
        "refuted": False,
    }
    assert told["folders"][1]["differs"] == [{"neighbours": LEAK.neighbours, "what": LEAK.what}]
    assert [each["name"] for each in told["planted"]] == ["scale × 0.85", "rows"]
    assert not told["passed"]


def test_names_choose_what_is_compared(monkeypatch):
    # Folders of this mechanism and of its mutant are compared in the tests of the command.
    home = "eyelid.releases.consistency"
    same = lambda case: FolderResult(case.mechanism.name, "", True, 1, ())  # noqa: E731
    monkeypatch.setattr(f"{home}.verification.compare_folders", same)
    monkeypatch.setattr(f"{home}.mutants.Mutant.caught", lambda self: True)
    told = verify_folders(["uniform"])
    assert {each.mechanism for each in told.folders} == {"uniform"}
    assert [each.mechanism for each in told.planted] == ["uniform"]
    assert not told.refuted
    assert not told.missed


def test_the_command_tells_what_folders_show_and_exits_with_one(eyelid, monkeypatch):
    shown = FolderVerification((FolderResult("laplace", "length=7", True, 4, (LEAK,)),), ())
    monkeypatch.setattr("eyelid.verification.verify.verify", lambda *words, **more: NOTHING)
    home = "eyelid.releases.consistency.verification.verify_folders"
    monkeypatch.setattr(home, lambda names: shown)
    done = eyelid("verify", "laplace")
    assert done.code == 1
    assert "What the folder shows" in done.out
    assert "DIFFERENT" in done.out
    assert "scale × 0.85" in done.out
    assert "depends on one participant (broke off): data.parquet: rows" in done.err
