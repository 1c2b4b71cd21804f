"""The whole reproduction, on simulated readers."""

import json
import re

import pytest

from eyelid.errors import InputError
from eyelid.papers.davidjohn2022 import paper, printed, protocols
from eyelid.papers.davidjohn2022.claims import agreement_of_counts, intersections
from eyelid.papers.davidjohn2022.figures import (
    ATTACKER_WORDS,
    MODEL_WORDS,
    figure_1_of_events,
    other_datasets,
)
from eyelid.papers.davidjohn2022.results import Results
from eyelid.papers.davidjohn2022.trials import SAME_GROUPS, Setting
from eyelid.papers.davidjohn2022.vr import DATASETS
from eyelid.papers.readers import ReadingFeatures
from eyelid.papers.reproduction import Cell, Outcome, Value, to_dict

NETWORK = ATTACKER_WORDS["rbf-network-single"]
SVM, SAMPLED = MODEL_WORDS["svm"], MODEL_WORDS["svm-sampled"]


def simulated(table):
    return lambda *where: ReadingFeatures(table, False, "Whose features these are.")


@pytest.fixture(scope="module")
def done(readers, one_core):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_readers", simulated(readers))
        return paper.reproduce(None, 2, True, 0)


@pytest.fixture(scope="module")
def exhibits(done):
    return {exhibit.name: exhibit for exhibit in done.exhibits}


def test_everything_of_the_paper_is_done_or_said_not_to_be(done, exhibits):
    titles = ("k-same-select sequence", "Marginals", "Exponential-DP")
    for name in (*(f"Figure {n}, {title}" for n in (1, 2) for title in titles), "Run times"):
        assert exhibits[name].cells
    others = exhibits["Figure 1, six further datasets"]
    assert "none of the six" in others.not_run
    missing = " ".join(done.data.missing)
    assert "360_em: looked for" in missing
    assert "prints as OpenEDS" in missing
    assert "future work" in exhibits["Future work"].not_run
    stated = {one.name for one in protocols.PROTOCOLS}
    assert {one.protocol for one in done.exhibits if one.cells} <= stated
    assert done.data.simulated
    assert len(done.data.missing) == 7
    assert done.repeats == 2


def test_a_k_beyond_the_number_of_people_is_left_out_with_the_reason(exhibits):
    figure = exhibits["Figure 1, k-same-select sequence"]
    assert figure.columns == ["raw", "k = 2"]
    assert "left out k = 8, since there are 6 people" in figure.says


def test_what_is_printed_is_marked_where_it_is_inferred(exhibits):
    figure = exhibits["Figure 1, Exponential-DP"]
    six = figure.at(NETWORK, "ε = 2")
    assert (six.printed, six.inferred) == (0.06, "")
    marginals = exhibits["Figure 1, Marginals"].at(NETWORK, "k = 2")
    assert (marginals.printed, "to chance" in marginals.inferred) == (0.05, True)
    others = exhibits["Figure 1, six further datasets"]
    assert (others.at("ET-DK2", "raw").printed, others.at("ET-DK2", "raw").inferred) == (1.0, "")
    assert others.at("ET-DK2", "k-same-select sequence, k = 8").printed == 0.056
    assert "larger value of k" in others.at("ET-DK2", "k-same-select sequence, k = 8").inferred
    # The text has one partition, the pseudocode draws anew: what is printed is of either.
    for print_ in (printed.named, printed.told):
        anew, once = (print_(Setting(kind, 8.0)) for kind in ("ksame-paper", SAME_GROUPS))
        assert anew == once != printed.Printed()
    told = exhibits["Figure 2, Exponential-DP"].at(SVM, "ε = 20")
    assert (told.printed, "fell to chance" in told.inferred) == (0.33, True)
    assert exhibits["Run times"].at("Marginals", "seconds").printed == 1800


def test_an_approximation_stands_in_a_row_of_its_own_beside_no_printed_number(exhibits):
    figure = exhibits["Figure 2, Exponential-DP"]
    assert "approximation" in SAMPLED
    assert all(cell.printed is None for cell in figure.cells if cell.row == SAMPLED)
    assert all(cell.by_protocol is None for cell in figure.cells if cell.row == SVM)
    assert figure.verdict.reproduced is Outcome.OPEN


def test_a_fast_run_does_not_claim_the_exact_machine_in_its_protocol(done):
    stated = {one.name: " ".join(one.inferred) for one in done.protocols}
    assert "exact solver" not in stated[protocols.DOCUMENTS.name]
    assert "2,000 windows, an approximation" in stated[protocols.DOCUMENTS.name]
    assert "network was tried by the paper's protocol alone" in stated[protocols.READERS.name]
    whole = {one.name: " ".join(one.inferred) for one in protocols.protocols(fast=False)}
    assert "exact solver" in whole[protocols.DOCUMENTS.name]
    assert "fast one" not in " ".join(whole.values())
    # A default run spares one thing, and says so; a full one nothing.
    assert "(all of them with --full)" in whole[protocols.DOCUMENTS.name]
    full = {one.name: " ".join(one.inferred) for one in protocols.protocols(False, full=True)}
    assert "approximation" not in full[protocols.DOCUMENTS.name]


def test_table_2_has_what_is_printed_beside_what_is_at_hand(exhibits):
    table = exhibits["Table 2"]
    assert len(table.rows) == 7
    mine = table.at("MPIIDPEye", "participants")
    assert (mine.printed, mine.by_protocol.mean) == (20, 6)
    assert table.at("VR-EyeTracking", "minutes per participant").printed == 88
    # Six people are not twenty.
    assert table.verdict.reproduced is Outcome.PARTLY


def test_one_person_less_is_not_as_printed():
    def cells(people, minutes):
        heads = ("participants", "minutes per participant")
        ours = (Value(people), Value(minutes))
        return [Cell("MPIIDPEye", *each) for each in zip(heads, (20.0, 30.0), ours, strict=True)]

    assert agreement_of_counts(cells(20.0, 32.5)) is Outcome.YES
    assert agreement_of_counts(cells(19.0, 32.5)) is Outcome.PARTLY
    assert agreement_of_counts(cells(19.0, 40.0)) is Outcome.NO


def test_all_shares_are_shares_and_have_limits_over_people(exhibits):
    for name, exhibit in exhibits.items():
        if name.startswith("Figure"):
            for one in exhibit.cells:
                for value in filter(None, (one.by_protocol, one.leak_free)):
                    assert value.runs == (None if one.column == "raw" else 2)
                    assert 0 <= value.low <= value.mean <= value.high <= 1


def test_sentences_have_the_numbers_of_the_tables(exhibits):
    figure = exhibits["Figure 1, k-same-select sequence"]
    network = figure.at(NETWORK, "k = 2").by_protocol.mean
    assert f"network re-identifies {network:.2f} by the paper's protocol" in figure.says
    claim = exhibits["Claim of 1/k"]
    for row, words in (("drawn anew", "of 6 where groups are drawn anew"), ("one partition", "")):
        cell = next(cell for cell in claim.cells if row in cell.row)
        assert f"{cell.leak_free.mean:.2f} {words}" in claim.says


def test_both_readings_of_the_grouping_stand_side_by_side(exhibits):
    for name in ("Figure 1, k-same-select sequence", "Figure 2, k-same-select sequence"):
        assert any(row.startswith("one partition: ") for row in exhibits[name].rows)
    claim = exhibits["Claim of 1/k"]
    anew, once = (claim.at(row, "k = 2").leak_free.mean for row in claim.rows[:2])
    assert anew > 0.5 >= once
    assert claim.verdict.claim is Outcome.PARTLY


def test_no_verdict_on_the_bound_hangs_on_people_whom_k_does_not_divide(readers, one_core):
    """Six people in groups of 4 are four and two: what becomes of the two is not printed."""
    outcomes = {Setting("ksame-paper", k): [] for k in (2.0, 4.0)}
    claim = intersections(Results(readers, outcomes, {}, "", (2, 4), ()), 2, 0)
    assert claim.headline == (claim.rows[0], "k = 2")
    assert "At k = 2 (1/k = 0.5)" in claim.says


def test_equal_identification_says_what_each_guarantees(exhibits):
    claim = exhibits["Equal identification"]
    assert "k-same-select sequence at k = 2: nothing;" in claim.says
    assert "ksame at k = 2: at most 1/2 for telling" in claim.says
    assert re.search(r"exponential at ε = 20: ε = 240\b", claim.says)


def test_the_ordering_needs_the_papers_parameters(exhibits):
    assert "so few people" in exhibits["Claim of the ordering"].not_run


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
    assert all("SIMULATED PARTICIPANTS" in picture for picture in drawn)
    assert all(done.findings)


def test_one_document_leaves_out_what_needs_several(monkeypatch, make_readers, one_core):
    alone = simulated(make_readers(people=3, documents=1))
    monkeypatch.setattr(paper, "_readers", alone)
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
    results = paper._of_dataset(dataset, spheres, repeats=1, fast=True, seed=0)
    figure = figure_1_of_events(results, "360_em")
    assert figure.at(f"raw, {NETWORK}", "raw").by_protocol.mean == 1.0
    assert "left out k = 8, since there are 4 people" in figure.says
    row = f"Marginals, {ATTACKER_WORDS['lda']}"
    # One draw serves everybody: without a second one there are no limits.
    assert figure.at(row, "k = 2").leak_free.low is None
    assert figure.at(f"raw, {ATTACKER_WORDS['lda']}", "raw").leak_free.low is not None
    others = other_datasets({"360_em": results})
    assert others.at("360_em", "raw").by_protocol.mean == 1.0
    assert not others.not_run
    assert figure.data == others.data == "360_em"


def test_a_dataset_that_cannot_be_read_says_why_and_the_others_are_run(tmp_path):
    (tmp_path / "gaze" / "001").mkdir(parents=True)
    (tmp_path / "gaze" / "001" / "001_01_park.arff").write_text("no gaze\n", encoding="utf-8")
    dataset = next(one for one in DATASETS if one.name == "360_em")
    assert "001_01_park.arff" in paper._of_dataset(dataset, tmp_path, 1, True, 0).not_run
