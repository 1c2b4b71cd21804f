"""The audit of results: an honest release is not contradicted, a false one is."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.attacks.results import left_over, membership_in_results, opposite
from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.norms import Norm, Source
from eyelid.gaze.study import Feature, Study
from eyelid.mechanisms.statistics.parts import BoxPart
from eyelid.mechanisms.statistics.spread import NoiseOfOne
from eyelid.mechanisms.statistics.summary import StatisticsFacts
from eyelid.mechanisms.statistics.summary_box import SummaryBox
from eyelid.privacy.unit import PERSON
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.certificate_file import MORE
from eyelid.releases.audits.statistics import statistics_target
from eyelid.releases.kinds.statistics.presentation import PICTURES
from eyelid.releases.kinds.statistics.release import summary

MOOD = Feature("mood", "points", "how a person feels", -10.0, 10.0)


def moods(people=16, seed=1):
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{n:02}", task, task, 0.0, rng.normal(2 * (task == "a"), 3))
        for n in range(people)
        for task in ("a", "b")
    ]
    columns = ["person", "recording", "task", "time_ms", "mood"]
    data = pl.DataFrame(rows, schema=columns, orient="row")
    people = data.select("person").unique(maintain_order=True)
    sex = pl.Series("sex", ["f", "m"] * (len(people) // 2))
    return Study("features", data, people.with_columns(sex), features=(MOOD,))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    home = tmp_path_factory.mktemp("results")
    eyelid.write(moods(), home / "study")
    summary(home / "study", home / "out", tasks=["each"], contrasts=["a-b"], epsilon=2.0)
    return home


def test_an_honest_release_is_not_contradicted(released):
    done = audit(released / "study", released / "out")
    assert not done.refuted
    assert 0.3 < done.membership.advantage.rate < done.membership.bound
    assert not done.subtraction.exact
    assert done.coverage.share > 0.9
    assert {path.name for path in (released / "out-audit").iterdir()} >= {
        "audit.json",
        "report.html",
    }
    told = json.loads((released / "out-audit" / "audit.json").read_text("utf-8"))
    assert told["subject"] == "results"
    assert "not contradicted" in done.verdict


def test_a_range_that_a_definition_cuts_short_is_no_disagreement(tmp_path, quick_audits):
    eyelid.write(moods(), tmp_path / "study")
    own = [Norm("mood", "any", "points", -6.0, 4.0, source=Source("Doe 2020"))]
    done = summary(tmp_path / "study", tmp_path / "out", measures=["mood"], epsilon=8.0, norms=own)
    (entry,) = done.certificate.results["entries"]
    assert (entry["lower"], entry["within"]) == (-10.0, [-10.0, 10.0])
    assert entry["upper"] < 10.0
    assert not audit(tmp_path / "study", tmp_path / "out").refuted


def test_groups_areas_and_choices_are_audited(tmp_path, quick_audits):
    eyelid.write(moods(), tmp_path / "study")
    said = {"by": "sex", "statistics": "mean;superiority;median:1;histogram:1:3", "epsilon": 8.0}
    summary(tmp_path / "study", tmp_path / "out", measures=["mood"], **said)
    assert not audit(tmp_path / "study", tmp_path / "out").refuted


def test_results_of_areas_are_audited(tmp_path, quick_audits):
    rng = np.random.default_rng(1)
    rows = [
        (f"p{n}", "1", "", "home", step * 300.0, 250.0, rng.uniform(0, 200), 50.0)
        for n in range(12)
        for step in range(10)
    ]
    columns = ["person", "recording", "task", "stimulus", "time_ms", "duration_ms", "x", "y"]
    data = pl.DataFrame(rows, schema=columns, orient="row")
    people = data.select("person").unique(maintain_order=True)
    study = Study("fixations", data, people, units="px", xy_origin="top-left")
    eyelid.write(study, tmp_path / "study")
    logo = Area("logo", np.array([[0.0, 0], [100, 0], [100, 100], [0, 100]]))
    said = {"areas": {"home": [logo]}, "measures": ["hit", "looked_within_0.5s"], "epsilon": 4.0}
    done = summary(tmp_path / "study", tmp_path / "out", **said)
    assert "names and places of the areas of interest" in done.certificate.unprotected
    assert "the names and places of the areas" in (tmp_path / "out/DATACARD.md").read_text("utf-8")
    assert not audit(tmp_path / "study", tmp_path / "out").refuted


def _changed(folder, name, change):
    text = (folder / name).read_text("utf-8")
    (folder / name).write_text(change(text), "utf-8")


@pytest.mark.parametrize(
    ("name", "change", "refuted"),
    [
        ("results.csv", lambda text: text.replace(",16,", ",17,"), "results.csv does not follow"),
        (
            "measured.json",
            lambda text: json.dumps(
                {"parts": [[n + 1 for n in part] for part in json.loads(text)["parts"]]}
            ),
            "measured.json is not what the certificate was made for",
        ),
        (
            "certificate.json",
            lambda text: text.replace(
                '"epsilon": 2.0,\n    "delta"', '"epsilon": 0.5,\n    "delta"'
            ),
            "promises one person ε = 0.5",
        ),
        ("methods.md", lambda text: text.replace("ε = 2", "ε = 1"), "methods.md does not follow"),
        ("DATACARD.md", lambda text: text.replace("ε = 2", "ε = 1"), "DATACARD.md does not follow"),
        (
            "certificate.json",
            lambda text: text.replace("of any length, with", "of any length, in any group, with"),
            "states another form of data",
        ),
        (
            "certificate.json",
            lambda text: text.replace('"the number of people (16)', '"the number of anybody (16)'),
            "leaves out what its mechanism does not protect",
        ),
        (
            "certificate.json",
            lambda text: text.replace('"sampler": "discrete', '"sampler": "no discrete'),
            "describes another noise",
        ),
    ],
)
def test_a_folder_that_was_changed_is_refuted(
    tmp_path, released, quick_audits, name, change, refuted
):
    shutil.copytree(released / "out", tmp_path / "out")
    _changed(tmp_path / "out", name, change)
    done = audit(released / "study", tmp_path / "out")
    assert any(refuted in each for each in done.refuted), done.refuted


@pytest.mark.parametrize("swapped", [False, True])
def test_a_folder_of_another_version_is_held_against_its_own_table(
    tmp_path, released, quick_audits, monkeypatch, swapped
):
    shutil.copytree(released / "out", tmp_path / "out")
    # As if intervals were made otherwise by now.
    narrower = NoiseOfOne.times
    monkeypatch.setattr(NoiseOfOne, "times", lambda noise, by: narrower(noise, by / 2))
    assert audit(released / "study", tmp_path / "out").refuted
    monkeypatch.setattr("eyelid.releases.audits.statistics.build", lambda: "0.0.1")
    if swapped:
        _changed(tmp_path / "out", "results.csv", lambda text: text.replace(",16,", ",17,"))
    done = audit(released / "study", tmp_path / "out")
    assert any("results.csv or measured.json" in each for each in done.refuted) == swapped


def test_groups_that_were_swapped_are_other_data(tmp_path):
    eyelid.write(moods(), tmp_path / "study")
    summary(tmp_path / "study", tmp_path / "out", by="sex", epsilon=2.0)
    people = tmp_path / "study" / "people.csv"
    swapped = {"f": "m", "m": "f"}
    pl.read_csv(people).with_columns(pl.col("sex").replace(swapped)).write_csv(people)
    with pytest.raises(InputError, match="has counted no such release of these data"):
        audit(tmp_path / "study", tmp_path / "out")


def test_results_of_other_people_are_refused(tmp_path, released):
    eyelid.write(moods(seed=2), tmp_path / "others")
    with pytest.raises(InputError, match="ledger"):
        audit(tmp_path / "others", released / "out", ledger=released / "study.ledger")


def test_half_of_the_noise_is_found(monkeypatch):
    made, facts = SummaryBox(epsilon=1.0, statistics="mean"), StatisticsFacts.of(8, 2)
    places = np.random.default_rng(1).random((8, 2))
    labels, promised = np.zeros(8, dtype=np.int64), made.cost(facts, PERSON)
    assert not membership_in_results(made, facts, places, labels, promised).refutes
    true = BoxPart.draw
    monkeypatch.setattr(
        BoxPart, "draw", lambda part, query, noise: query + (true(part, 0 * query, noise) // 4)
    )
    assert membership_in_results(made, facts, places, labels, promised).refutes


def test_subtraction_gives_nobody_back_but_without_noise():
    places = np.random.default_rng(1).random((8, 2))
    labels = np.zeros(8, dtype=np.int64)
    exact = [(column, None, float(places[:, column].mean())) for column in range(2)]
    assert left_over(exact, places, labels).exact
    noisy = [(column, None, place + 0.2) for column, _, place in exact]
    assert not left_over(noisy, places, labels).exact
    assert left_over([], places, labels) is None


def test_an_opposite_is_at_the_other_end():
    assert opposite(np.array([0.2, 0.9, np.nan])).tolist() == [1.0, 0.0, 1.0]


def test_the_audit_of_everything_takes_results_too(released, quick_audits):
    found = eyelid.audit(released / "study", released / "out")
    assert found.membership.decisions
    with pytest.raises(InputError, match="results re-identify nobody"):
        eyelid.audit(released / "study", released / "out", attackers=["means"])


@pytest.mark.parametrize("mechanism", ["summary-box", "summary-gaussian"])
def test_results_stand_beside_what_is_true_of_people_not_of_clipped_numbers(tmp_path, mechanism):
    eyelid.write(moods(), tmp_path / "study")
    narrow = Norm("mood", "any", "points", -5.0, 1.0, source=Source("Doe 2020"))
    summary(
        tmp_path / "study",
        tmp_path / "out",
        measures=["mood"],
        tasks=["a"],
        norms=[narrow],
        mechanism=mechanism,
        statistics="mean",
        epsilon=4.0,
    )
    done = audit(tmp_path / "study", tmp_path / "out")
    numbers = moods().data.filter(pl.col("task") == "a")["mood"]
    assert done.errors["without_noise"][0] == pytest.approx(numbers.mean())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("results.svg", lambda content: content + b"<!-- p03: mood 9.25 -->"),
        ("results.svg", lambda content: content.replace(b"</svg>", b"<desc>9.25</desc></svg>")),
        ("results.png", lambda content: content + b"p03: mood 9.25"),
        ("results.pdf", lambda content: content + b"% p03: mood 9.25"),
    ],
)
def test_a_figure_that_was_changed_is_refuted(tmp_path, released, name, change):
    shutil.copytree(released / "out", tmp_path / "out")
    file = tmp_path / "out" / name
    file.write_bytes(change(file.read_bytes()))
    target = statistics_target(released / "study", tmp_path / "out")
    assert target.inconsistencies == (f"{name} is not the figure of these results: it was changed",)


def test_figures_of_other_programs_are_told_and_hide_nothing(tmp_path, released):
    shutil.copytree(released / "out", tmp_path / "out")
    out = tmp_path / "out"
    svg, pdf, png = (out / name for name in PICTURES)
    svg.write_bytes(svg.read_bytes().replace(b"stroke-width: 1.2", b"stroke-width: 1.3"))
    pdf.write_bytes(pdf.read_bytes() + b"% another")
    drawn = bytearray(png.read_bytes())
    drawn[-20] ^= 1
    png.write_bytes(bytes(drawn))
    target = statistics_target(released / "study", out)
    assert not target.inconsistencies
    assert any("drawn by other programs" in note for note in target.notes)
    svg.write_bytes(svg.read_bytes() + b"<!-- p03: mood 9.25 -->")
    assert statistics_target(released / "study", out).inconsistencies


@pytest.mark.parametrize(
    ("change", "refuted"),
    [
        (lambda facts: facts.update(remark="p03: mood 9.25"), MORE),
        (lambda facts: facts["results"].update(statistics="mean, exactly"), MORE),
        (lambda facts: facts["results"]["groups"][0].__setitem__(1, 160), MORE),
        (lambda facts: facts["results"]["rows"][0].__setitem__(2, "p03"), MORE),
        (lambda facts: facts["ledger"][0].update(epsilon=0.1), "lists other releases"),
    ],
)
def test_what_is_written_into_a_certificate_of_results_refutes_it(
    tmp_path, released, change, refuted
):
    shutil.copytree(released / "out", tmp_path / "out")
    file = tmp_path / "out" / "certificate.json"
    facts = json.loads(file.read_text("utf-8"))
    change(facts)
    file.write_text(json.dumps(facts), "utf-8")
    found = statistics_target(released / "study", tmp_path / "out").inconsistencies
    assert any(refuted in each for each in found), found


def test_a_certificate_of_results_that_is_none_is_refused(tmp_path, released):
    shutil.copytree(released / "out", tmp_path / "out")
    file = tmp_path / "out" / "certificate.json"
    facts = json.loads(file.read_text("utf-8"))
    facts["results"]["intervals"] = "guessed"
    file.write_text(json.dumps(facts), "utf-8")
    with pytest.raises(InputError, match="does not say how the results were made"):
        statistics_target(released / "study", tmp_path / "out")
