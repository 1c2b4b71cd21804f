"""What participants are asked to agree to is true of the kind of release that they are in."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.areas import Area
from eyelid.gaze.study import Screen, Study
from eyelid.io import read, write
from eyelid.mechanisms.certificate import NARROWEST_FORM, Certificate
from eyelid.mechanisms.mechanism import catalogue
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.releases.accounting import read_certificate
from eyelid.releases.inspection import inspect
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.kinds.statistics.release import summary
from eyelid.releases.release import release
from eyelid.reporting.consent import CONSENT, NOT_HIDDEN, for_participants

DIAGNOSES = ["ADHD"] * 4 + ["control"] * 20
ROWS = {"mechanism": "seeded", "rows": 4, "bins": 2}
LAWS = {
    "records": {"mechanism": "laplace", "epsilon": 1.0},
    "records-of-a-length": {"mechanism": "laplace", "epsilon": 1.0, "length": 8},
    "records-kept": {"mechanism": "gaussian", "epsilon": 1.0, "keep": ["diagnosis"]},
    "records-large-delta": {"mechanism": "gaussian", "epsilon": 1.0, "delta": 0.1},
    "mean": {"mechanism": "groupmean", "epsilon": 1.0},
    "means-by-diagnosis": {"mechanism": "groupmean", "epsilon": 1.0, "by": "diagnosis"},
    "random-groups": {"mechanism": "ksame-dp", "epsilon": 4.0, "k": 4, "balance": "diagnosis"},
    "groups": {"mechanism": "ksame", "k": 6, "diverse": "diagnosis", "balance": "gender"},
    "groups-of-a-length": {"mechanism": "ksame", "k": 5, "length": 3, "copies": True},
    "groups-resampled": {"mechanism": "ksame", "k": 5, "resample": 2},
    "rows": {**ROWS, "epsilon": 30.0, "delta": 0.01, "rows": 1, "keep_features": "1-2"},
    "rows-deniable": {**ROWS, "epsilon": 4.0, "test": "deterministic", "k": 3},
    "synthetic": {"mechanism": "synthetic", "epsilon": 9.0, "carry": 1},
    "synthetic-by-diagnosis": {
        "mechanism": "synthetic",
        "epsilon": 9.0,
        "carry": 1,
        "by": "diagnosis",
    },
}
LOGO = Area("logo", np.array([[1.0, 1.0], [21.0, 1.0], [21.0, 9.0], [1.0, 9.0]]))
MAPS = {
    "map": {},
    "maps-by-diagnosis": {"by": "diagnosis"},
    "maps-over-time": {"every_s": 2.0, "for_s": 6.0},
    "map-and-tables": {"areas": [LOGO]},
    "tables": {"areas": [LOGO], "only_areas": True},
}
RESULTS = {
    "results": {},
    "results-by-diagnosis": {"by": "diagnosis"},
}
# What a certificate lists as unprotected, and what participants must be told because of it.
TOLD = [
    ("number of people", "there are 24 participants"),
    ("took part", "That you took part is not hidden"),
    ("names of the people", "the name or number that the study gives you, and your place"),
    ("which recordings each person has", "which recordings there are of you"),
    ("task", "names of the(ir)? tasks"),
    ("stimulus names", "tasks and stimuli"),
    ("read off the shortest one", "how long the shortest recording of all is, which may be yours"),
    ("common length", "how long"),
    ("nothing of how long recordings are", "nobody's recording has fewer than 2 rows"),
    ("rows of each group's recordings", "how long the shortest recording of your group is"),
    ("rows of groups with a recording shorter", "where one of them is shorter than what was"),
    ("who is in which group by diagnosis", "your diagnosis .*of each diagnosis"),
    ("everybody's diagnosis", "your diagnosis .*of each diagnosis"),
    (r"\(ADHD: 4, control: 20\)", r"\(ADHD: 4, control: 20\)"),
    ("people each group has|sizes of the groups", r"how many of them a group has \([46]\)"),
    ("which group a participant is in", "find out which group you are in"),
    ("everything of a member to", "have the recordings of all others of your group can work out"),
    ("what the members of a group have in common", "what its members have in common"),
    ("what a group lacks", "recordings or values a member of your group lacks"),
    ("the diagnosis of a member", "your diagnosis, to those who know it of the others"),
    ("who share diagnosis are spread|share diagnosis and gender", "as alike in (diagnosis|gender)"),
    ("what many rows say together", "What many rows, or other data that we share, show"),
    ("names and bounds of the features", "what is measured, within which limits"),
    ("the attribute diagnosis", "Shared as it is: your diagnosis"),
    ("would also allow a mechanism that", "publish one participant's data outright"),
    ("there is no ledger|another ledger", "What else was shared of you is not counted here"),
    ("the picture, and that|names and order of the 3 pic", "by name, and that you were shown them"),
    ("areas of interest", "the names and places of the areas"),
    ("names of measures, of tasks", "names of the tasks or pages and of what was measured"),
    ("size and geometry of the screen", "the size of the screen, and how far away"),
]


@pytest.fixture(scope="module")
def people():
    genders = ["female", "male"] * 12
    return {"diagnosis": DIAGNOSES, "gender": genders}


@pytest.fixture
def table(make_table, people):
    table = make_table(people=24, recordings=2, rows=6)
    named = [pl.Series(name, values) for name, values in people.items()]
    # Nothing of what people are like should stand in the way of synthetic ones.
    return replace(table, people=table.people.with_columns(named))


@pytest.fixture(scope="module")
def study(people):
    """Twenty-four people who looked at a picture of 80 × 60 px, a fixation a second."""
    names, points = [f"P{number:02d}" for number in range(24)], 6
    x, y = np.random.default_rng(2).uniform(0, (80, 60), (24 * points, 2)).T
    data = pl.DataFrame(
        {
            "person": np.repeat(names, points),
            "recording": "1",
            "task": "looking",
            "stimulus": "page",
            "time_ms": np.tile(1000.0 * np.arange(points), 24),
            "duration_ms": 400.0,
            "x": x,
            "y": y,
        }
    )
    who = pl.DataFrame({"person": names, **people})
    return Study("fixations", data, who, units="px", xy_origin="top-left", screen=Screen(80, 60))


@pytest.fixture(scope="module")
def maps(study):
    return {name: heatmap(study, level="good", **mechanism) for name, mechanism in MAPS.items()}


@pytest.fixture
def certified(table, maps):
    def certify(name):
        if name in RESULTS:
            return summary(
                table, measures=table.names[:2], epsilon=9.0, **RESULTS[name]
            ).certificate
        if name in maps:
            return maps[name].certificate
        return release(table, **LAWS[name]).certificate

    return certify


def consent(folder):
    card = (folder / "DATACARD.md").read_text(encoding="utf-8")
    return card.partition("## For a consent form")[2].partition("## ")[0]


def test_every_kind_of_release_has_a_text_and_every_mechanism_a_kind():
    # That of gaze through a filter needs the filter, and stands with it.
    assert set(CONSENT) | {ReleaseKind.SAMPLES} == set(ReleaseKind)
    assert all(isinstance(mechanism.release, ReleaseKind) for mechanism in catalogue().values())


@pytest.mark.parametrize("name", [*LAWS, *MAPS, *RESULTS])
def test_a_consent_text_claims_no_more_than_what_is_unprotected_allows(certified, name):
    certificate = certified(name)
    said = for_participants(certificate, LAWS.get(name, {}).get("keep", ()))
    for item in certificate.unprotected:
        wanted = [words for shown, words in TOLD if re.search(shown, item)]
        assert wanted, f"nobody has decided what participants are told of: {item}"
        for words in wanted:
            assert re.search(words, said), f"{item}: {said}"
    assert not re.search("[εδμγ]|neighbour|somebody|whoever|made-up", said)


@pytest.mark.parametrize("name", [*LAWS, *MAPS, *RESULTS])
def test_a_consent_text_promises_nothing_beyond_the_form_of_its_release(certified, name):
    certificate = certified(name)
    said = for_participants(certificate)
    assert "somebody else" not in said
    exchanged = f"any other data {certificate.form.rstrip(',')}, the probability of anything"
    anonymous = certificate.mechanism == "ksame"
    assert (f"If your data were exchanged for {exchanged}" in said) == (not anonymous)


def test_consent_text_of_groups_by_diagnosis_does_not_speak_of_everybody(certified):
    said = for_participants(certified("means-by-diagnosis"))
    assert said.startswith(
        "We share averages over groups of participants by diagnosis (ADHD: 4, control: 20), with "
        "random noise added."
    )
    assert "all 24 participants" not in said
    assert "your diagnosis (the promise is about your recordings, not about that)" in said
    assert "averages over all 24 participants together" in for_participants(certified("mean"))


def test_consent_text_of_groups_of_four_does_not_speak_of_everybody(certified):
    said = for_participants(certified("random-groups"))
    assert said.startswith(
        "We share averages over groups of 4 participants, put together by chance, with random "
        "noise added."
    )
    assert "all 24 participants" not in said
    alone = for_participants(certified("groups-of-a-length"))
    assert "groups of 6 participants, put together by chance, without noise" in alone


def test_consent_text_of_rows_that_are_a_participants_complete_record_says_so(table, tmp_path):
    write(table.study(), tmp_path / "study")
    mechanism = {**ROWS, "epsilon": 4.0, "test": "deterministic", "k": 3, "keep_features": 2}
    done = release(tmp_path / "study", tmp_path / "out", **mechanism)
    # Two features in two bins each, both kept: what is released is what people have.
    bins = Bins.of(done.table.features, 2)
    real, rows = (
        {tuple(row) for row in bins.codes(each.data.select(each.names).to_numpy()).tolist()}
        for each in (table, done.table)
    )
    assert rows <= real
    said, card = consent(tmp_path / "out"), (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    complete = "every value as one of 2"
    assert f"Some of them keep the complete row of a participant, {complete} steps." in said
    assert card.count(f"some keep the complete row of a person, {complete} bins") == 2
    assert not re.search("nobody's own|people who do not exist|all 24 participants", card)


def test_consent_text_of_resampled_groups_does_not_say_that_lengths_are_shown(certified):
    text = for_participants(certified("groups-resampled"))
    assert "how long" not in text
    assert "Shown exactly: " in text


def test_consent_text_of_rows_that_keep_a_part_says_how_much(certified):
    said = for_participants(certified("rows"))
    assert "keep the complete row of a participant" in said
    one = for_participants(certified("rows-deniable"))
    assert "Some of them keep 1 of 2 features of a participant's row, every value as one" in one
    assert "could have come from at least 3 participants" in one


def test_consent_text_of_synthetic_participants_names_public_groups(certified):
    said = for_participants(certified("synthetic-by-diagnosis"))
    assert said.startswith("We share recordings of people who do not exist: synthetic particip")
    assert "and over groups of participants by diagnosis (ADHD: 4, control: 20)" in said
    assert "groups of participants" not in for_participants(certified("synthetic"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("map", "a map of where all 24 participants together looked on a picture, with random"),
        (
            "maps-by-diagnosis",
            "maps of where groups of participants by diagnosis (ADHD: 4, control: 20) looked on a",
        ),
        ("maps-over-time", "looked on a picture, for 3 stretches of time, with random noise"),
        ("map-and-tables", ", and tables of how all 24 participants together looked at 1 area"),
        ("tables", "We share tables of how all 24 participants together looked at 1 area of what"),
    ],
)
def test_consent_text_of_a_heatmap_says_whose_map_it_is(maps, name, words):
    said = for_participants(maps[name].certificate)
    assert words in said
    assert "with gaze anywhere on these pictures or on none of them, the probability" in said
    assert ("all 24 participants" in said) == (name != "maps-by-diagnosis")


def test_the_card_of_a_heatmap_has_a_text_for_participants(study, tmp_path):
    done = heatmap(study, tmp_path / "out", level="good")
    assert consent(tmp_path / "out").strip() == f"> {for_participants(done.certificate)}"


def test_the_card_of_maps_of_two_groups_speaks_of_two_groups_to_an_ethics_board(study, tmp_path):
    heatmap(study, tmp_path / "out", level="good", by="diagnosis")
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    ethics = card.partition("## Paragraph for an ethics application")[2].partition("## ")[0]
    groups = "in two groups by diagnosis (ADHD: 4, control: 20)"
    assert f"> Maps of where 24 participants {groups} looked are shared" in ethics
    assert "with gaze anywhere on these pictures or on none of them." in ethics


def test_an_inspection_does_not_call_rows_that_keep_parts_of_real_ones_nobodys(table, tmp_path):
    write(table.study(), tmp_path / "study")
    release(tmp_path / "study", tmp_path / "rows", **LAWS["rows-deniable"])
    said = inspect(read(tmp_path / "rows"))["release"]
    assert "a released dataset; by its names, of rows, of which some may keep parts" in said
    release(tmp_path / "study", tmp_path / "people", **LAWS["synthetic"])
    assert "of synthetic participants" in inspect(read(tmp_path / "people"))["release"]


def test_consent_text_of_a_release_that_names_who_broke_off_says_so(table, tmp_path):
    # One person broke off: the shortest recording is theirs, and everybody's has its length.
    first = table.data["person"][0]
    row = pl.int_range(pl.len()).over("person", "recording")
    broken_off = replace(table, data=table.data.filter((pl.col("person") != first) | (row < 2)))
    write(broken_off.study(), tmp_path / "study")
    release(tmp_path / "study", tmp_path / "out", **LAWS["records"], length="shortest")
    said = consent(tmp_path / "out")
    assert "how long the shortest recording of all is, which may be yours" in said
    release(tmp_path / "study", tmp_path / "fixed", **LAWS["records-of-a-length"])
    assert "shortest" not in consent(tmp_path / "fixed")


def test_the_advantage_is_over_data_of_the_form_that_the_certificate_states(table, tmp_path):
    write(table.study(), tmp_path / "study")
    done = release(tmp_path / "study", tmp_path / "out", **LAWS["mean"])
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    form = done.certificate.form.rstrip(",")
    assert f"with them or with any other data {form}, in their place" in card
    assert f"may be replaced by any other data {form}." in card
    assert "another person in their place" not in card


def test_a_form_that_follows_from_parameters_is_the_one_that_is_told(table, tmp_path, monkeypatch):
    told = property(lambda mechanism: f"with the same recordings, length {mechanism.length}")
    monkeypatch.setattr(Laplace, "form", told)
    write(table.study(), tmp_path / "study")
    done = release(tmp_path / "study", tmp_path / "out", **LAWS["records-of-a-length"])
    form = "with the same recordings, length 8"
    assert done.certificate.form == form
    assert read_certificate(tmp_path / "out").form == form
    assert f"exchanged for any other data {form}, the probability" in consent(tmp_path / "out")
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert f"by anything else {form} within the public bounds" in card


def test_a_certificate_says_what_was_released_and_of_which_public_groups(certified):
    told = certified("means-by-diagnosis").to_dict()
    groups = {"ADHD": 4, "control": 20}
    assert told["released_as"] == {"kind": "means", "by": "diagnosis", "groups": groups}
    again = Certificate.from_dict(told)
    assert again.to_dict() == told
    assert certified("mean").to_dict()["released_as"] == {
        "kind": "means",
        "by": None,
        "groups": None,
    }


def test_a_certificate_of_an_older_version_is_taken_for_the_narrowest_form(certified):
    told = certified("means-by-diagnosis").to_dict()
    del told["form"], told["released_as"]
    older = Certificate.from_dict(told)
    assert older.to_dict() == told
    assert older.form == NARROWEST_FORM
    # Groups are named as far as the certificate has them.
    said = for_participants(older)
    assert "averages over groups of participants by diagnosis, with random noise added" in said
    assert f"any other data {NARROWEST_FORM}, the probability" in said


def test_nothing_is_promised_where_no_guarantee_is_valid(table):
    done = release(table, **LAWS["mean"], seed=1)
    assert for_participants(done.certificate) == NOT_HIDDEN
