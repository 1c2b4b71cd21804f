"""The whole paper on a few simulated people, and what is said where something is missing."""

from __future__ import annotations

import json

import pytest

from eyelid.errors import InputError
from eyelid.papers.bozkir2021 import paper
from eyelid.papers.bozkir2021.findings import findings
from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.paper import of_source
from eyelid.papers.bozkir2021.recognition import Effort
from eyelid.papers.reproduction import to_dict

EFFORT = Effort(("FPA",), (0.48,), repeats=1, repeats_kept=1, runs_for_k=1, thinner=1, seed=0)


@pytest.fixture(scope="module")
def done(make_source):
    with pytest.MonkeyPatch.context() as patch:
        # Twenty people take half a minute.
        patch.setattr(paper, "readers", lambda folder, fast, seed: make_source())
        patch.setattr(paper, "_FAST_METHODS", ("FPA", "CFPA-32"))
        return paper.reproduce(None, 3, True, 0)


def test_everything_of_the_paper_is_there_or_said_not_to_be_run(done):
    names = [exhibit.name for exhibit in done.exhibits]
    assert {f"Table {n}" for n in range(1, 10)} <= set(names)
    assert {f"Figure {n}" for n in range(7, 13)} <= set(names)
    assert len(names) == len(set(names))
    absent = {e.name for e in done.exhibits if "MPIIPrivacEye" in e.not_run}
    assert absent == {
        "Figures 5 and 6", "Figure 10", "Figure 11", "Figure 12", "Table 4", "Table 5", "Table 9",
        "Clean data, MPIIPrivacEye",
    }  # fmt: skip
    shown = {e.name for e in done.exhibits if e.name in absent and e.cells}
    assert shown == {"Table 4", "Table 5", "Table 9", "Clean data, MPIIPrivacEye"}
    assert len(done.data.missing) == 3
    assert done.repeats == 1


def test_open_questions_have_exhibits_and_everything_that_ran_a_verdict(done):
    ran = {exhibit.name: exhibit for exhibit in done.exhibits if not exhibit.not_run}
    for what in ("ε′ under correlation", "Decorrelation over chunks", "Run time over chunks"):
        assert ran[f"{what}, made up"].verdict.claim is not None
    assert all(exhibit.verdict is not None for exhibit in ran.values())


def test_every_protocol_is_stated_once_and_named_by_exhibits(done):
    names = [protocol.name for protocol in done.protocols]
    assert len(set(names)) == len(names)
    assert {exhibit.protocol for exhibit in done.exhibits} - {""} <= set(names)


def test_errors_and_utilities_never_share_an_exhibit(done):
    for exhibit in done.exhibits:
        if exhibit.quantity == "log₁₀ of utility":
            assert all(cell.leak_free is None for cell in exhibit.cells)


def test_published_numbers_of_an_absent_dataset_are_shown(tmp_path):
    home = tmp_path / "bozkir2021"
    home.mkdir()
    (home / "nmse.csv").write_text(
        "dataset,mechanism,chunk,epsilon,NMSE_R1,NMSE_R2,NMSE_R3\n"
        "MPIIPrivacEye,DCFPA,32,0.01,1000,100,10\n"
    )
    found = {exhibit.name: exhibit for exhibit in paper._absent("MPIIPrivacEye", home)}
    assert [c.printed for c in found["Figure 12"].cells] == pytest.approx([-3, -2, -1])
    assert not found["Figure 10"].cells


def test_it_can_be_written_and_its_pictures_have_names_of_their_own(done):
    told = json.dumps(to_dict(done), allow_nan=False)
    assert "nan" not in told
    pictures = [name for exhibit in done.exhibits for name in exhibit.pictures]
    assert len(pictures) == len(set(pictures)) == 10


def test_findings_are_few_and_short(done):
    assert len(done.findings) == 7
    assert max(len(finding.split()) for finding in done.findings) <= 55


def test_of_simulated_people_nothing_is_said_to_come_near_the_paper(done):
    near = [finding for finding in done.findings if "of the printed shares" in finding]
    assert len(near) == 1
    made_up = findings(done.exhibits, simulated=True)
    assert set(done.findings) - set(made_up) == set(near)


def test_findings_are_the_numbers_of_the_tables(done):
    people, means, *_ = done.findings
    by_name = {exhibit.name: exhibit for exhibit in done.exhibits}
    rates = [
        cell.leak_free.mean
        for cell in by_name["By means, made up"].cells
        if cell.row.endswith(KEPT) and cell.column.startswith("ε = 0.48")
    ]
    assert f", {max(rates):.2f} (" in means
    table = by_name["Table 3"]
    best = max(
        c.by_protocol.mean
        for c in table.cells
        if c.row == "FPA" and c.column.startswith("ε = 0.48")
    )
    assert f"printed 1.00: {best:.2f} with noise on the mean" in people


@pytest.mark.parametrize(
    ("repeats", "fast", "kept", "for_k"),
    [(3, False, 1, 10), (100, False, 33, 100), (1, False, 1, 10), (100, True, 1, 2)],
)
def test_runs_grow_with_repeats(monkeypatch, make_source, repeats, fast, kept, for_k):
    efforts = []
    monkeypatch.setattr(paper, "readers", lambda folder, fast, seed: make_source())
    monkeypatch.setattr(
        paper,
        "of_source",
        lambda source, name, effort, published: efforts.append(effort) or [],
    )
    paper.reproduce(None, repeats, fast)
    assert [(each.repeats_kept, each.runs_for_k) for each in efforts] == [(kept, for_k)]


def test_a_folder_without_the_datasets_is_an_error(tmp_path):
    with pytest.raises(InputError, match="MPIIDPEye, MPIIPrivacEye"):
        paper.reproduce(tmp_path, 1, True)


def test_one_person_is_an_error_of_one_line(make_source):
    with pytest.raises(InputError, match="one recording only"):
        of_source(make_source(people=1), "MPIIDPEye", EFFORT)
