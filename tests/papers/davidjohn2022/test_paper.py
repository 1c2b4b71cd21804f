"""The whole reproduction, on made-up readers."""

import json
import re

import pytest

from eyelid.errors import InputError
from eyelid.papers.davidjohn2022 import paper
from eyelid.papers.davidjohn2022.vr import DATASETS
from eyelid.papers.reproduction import to_dict


@pytest.fixture(scope="module")
def done(readers, one_core):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_readers", lambda *where: readers)
        return paper.reproduce(None, 2, True, 0)


@pytest.fixture(scope="module")
def exhibits(done):
    return {exhibit.name: exhibit for exhibit in done.exhibits}


def test_everything_of_the_paper_is_done_or_said_not_to_be(done, exhibits):
    titles = ("k-same-select sequence", "Marginals", "Exponential-DP")
    for name in (*(f"Figure {n}, {title}" for n in (1, 2) for title in titles), "Run times"):
        assert exhibits[name].cells
    assert exhibits["Figure 1, 360_em"].not_run
    assert "prints as OpenEDS" in exhibits["Figure 1, OpenNEEDS"].not_run
    assert done.data.simulated
    assert len(done.data.missing) == 7
    assert done.repeats == 2


def test_a_k_beyond_the_number_of_people_is_left_out_with_the_reason(exhibits):
    figure = exhibits["Figure 1, k-same-select sequence"]
    assert figure.columns == ["raw", "k = 2"]
    assert "left out k = 8, since there are 6 people" in figure.says


def test_printed_numbers_stand_where_the_paper_has_them(exhibits):
    figure = exhibits["Figure 2, Exponential-DP"]
    assert [figure.at("svm", f"ε = {e}").printed for e in (100, 20, 2)] == [0.80, 0.33, None]
    assert exhibits["Figure 1, Exponential-DP"].at("rbf-network", "ε = 2").printed == 0.06
    assert exhibits["Run times"].at("Marginals", "seconds").printed == 1800


def test_all_shares_are_shares_and_have_limits_over_people(exhibits):
    for name, exhibit in exhibits.items():
        if name.startswith("Figure"):
            for one in exhibit.cells:
                for value in filter(None, (one.by_protocol, one.leak_free)):
                    assert 0 <= value.low <= value.mean <= value.high <= 1


def test_sentences_have_the_numbers_of_the_tables(exhibits):
    figure = exhibits["Figure 1, k-same-select sequence"]
    network = figure.at("rbf-network", "k = 2")
    assert f"the network names {network.by_protocol.mean:.2f} as the paper measures" in figure.says
    claim = exhibits["Claim of 1/k"]
    found = claim.at("groups drawn anew for each document, as printed", "k = 2").leak_free.mean
    assert f"finds {found:.2f} of 6 people" in claim.says


def test_the_ordering_says_what_each_promises(exhibits):
    claim = exhibits["Claim of the ordering"]
    assert set(claim.rows) == {
        "k-same-select sequence",
        "Marginals",
        "Exponential-DP",
        "ksame",
        "exponential",
    }
    told = [
        claim.at(row, "document told, svm").by_protocol.mean
        for row in ("k-same-select sequence", "Marginals", "Exponential-DP")
    ]
    comes_out = told == sorted(told, reverse=True) and len(set(told)) == 3
    assert (
        re.search(r"guessing gives 0.17, it (does not )?come", claim.says)[1] is None
    ) == comes_out
    assert "k-same-select sequence at k = 2: nothing;" in claim.says
    assert "ksame at k = 2: 1/2 at most for naming somebody" in claim.says
    assert re.search(r"exponential at ε = 100: ε = 1200\b", claim.says)


def test_impact_on_utility_is_ranked(exhibits):
    table = exhibits["Poster, table"]
    assert [c.printed for c in table.cells] == [1, 2, 3]
    assert sorted(c.leak_free.mean for c in table.cells) == [1, 2, 3]


def test_it_can_be_written_down(done, exhibits):
    told = json.loads(json.dumps(to_dict(done), allow_nan=False))
    assert told["paper"] == "davidjohn2022"
    assert len(exhibits) == len(done.exhibits)
    pictures = [name for one in done.exhibits for name in one.pictures]
    assert len(pictures) == len(set(pictures)) == 6
    drawn = [str(picture) for one in done.exhibits for picture in one.pictures.values()]
    assert all("SIMULATED PEOPLE" in picture for picture in drawn)
    assert all(done.findings)


def test_one_document_leaves_out_what_needs_several(monkeypatch, make_readers, one_core):
    monkeypatch.setattr(paper, "_readers", lambda *where: make_readers(people=3, documents=1))
    done = {exhibit.name: exhibit for exhibit in paper.reproduce(None, 1, True, 0).exhibits}
    assert "one document" in done["Figure 2, Marginals"].not_run
    assert done["Claim of the ordering"].not_run
    assert done["Claim of 1/k"].not_run
    assert done["Figure 1, Marginals"].cells


def test_a_folder_without_any_of_the_datasets_is_refused(tmp_path):
    with pytest.raises(InputError, match="none of the datasets"):
        paper.reproduce(tmp_path, 1, True, 0)


def test_a_dataset_in_virtual_reality_is_run_where_it_is(spheres, one_core):
    dataset = next(one for one in DATASETS if one.name == "360_em")
    figure = paper._of_dataset(dataset, spheres, repeats=1, fast=True, seed=0)
    assert figure.at("raw, rbf-network", "raw").leak_free.mean == 1.0
    assert "left out k = 8, since there are 4 people" in figure.says
    assert "Marginals, lda" in figure.rows
    # One draw serves everybody: without a second one there are no limits.
    assert figure.at("Marginals, lda", "k = 2").leak_free.low is None
    assert figure.at("raw, lda", "raw").leak_free.low is not None


def test_a_dataset_that_cannot_be_read_says_why_and_the_others_are_run(tmp_path):
    (tmp_path / "gaze" / "001").mkdir(parents=True)
    (tmp_path / "gaze" / "001" / "001_01_park.arff").write_text("no gaze\n", encoding="utf-8")
    dataset = next(one for one in DATASETS if one.name == "360_em")
    assert "001_01_park.arff" in paper._of_dataset(dataset, tmp_path, 1, True, 0).not_run
