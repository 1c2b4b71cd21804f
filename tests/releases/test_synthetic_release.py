"""Synthetic participants through plan, certificate, card, cost, inspection and ledger."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io import read, write
from eyelid.io.lint import lint
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.synthetic.capacity import mean_off
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.mechanisms.synthetic.utility import made_up, prospects
from eyelid.privacy.noise import randomness
from eyelid.releases.accounting import read_certificate
from eyelid.releases.budget import budget
from eyelid.releases.cost import cost
from eyelid.releases.inspection import inspect
from eyelid.releases.kinds.features.plan import LISTED_BOUNDS, SEEDED
from eyelid.releases.release import release
from eyelid.reporting.consent import for_participants

LAW = {"mechanism": "synthetic", "epsilon": 4.0}
# Enough people for three of five features, by public facts alone.
PEOPLE = 99
FACTS = {"people": 500, "recordings": 3, "features": 52, "epsilon": 4.0}


@pytest.fixture
def table():
    """Windows of three tasks, five features, two attributes; the last feature is constant."""
    values = np.random.default_rng(3).uniform(0.2, 0.8, (PEOPLE, 3, 4, 5))
    values[..., -1] = 0.5
    features = [Feature(name, "", "", 0.0, 1.0) for name in ("a", "b", "c", "d", "e")]
    made = table_from_arrays(values, features)
    person = pl.int_range(PEOPLE)
    attributes = made.people.with_columns(
        gender=pl.when(person % 3 == 0).then(pl.lit("female")).otherwise(pl.lit("male")),
        age=20 + person,
    )
    return replace(made, people=attributes, window_ms=1000.0)


@pytest.fixture
def folder(table, tmp_path):
    write(table.study(), tmp_path / "study")
    return tmp_path / "study"


def text(path):
    return path.read_text(encoding="utf-8")


def test_a_whole_release_is_of_made_up_people_and_debits_the_real_ones(folder, tmp_path):
    done = release(folder, tmp_path / "out", **LAW, made_up=7)
    assert done.table.people.columns == ["person"]
    assert done.table.people["person"].to_list() == [f"synthetic{n}" for n in range(1, 8)]
    back = read(tmp_path / "out")
    assert (back.released, back.origin) == (True, None)
    assert "age" not in text(tmp_path / "out" / "people.csv")
    certificate = read_certificate(tmp_path / "out")
    assert certificate.to_dict() == done.certificate.to_dict()
    assert (certificate.people, certificate.made_up["people"]) == (PEOPLE, 7)
    promised = certificate.person_level
    assert (promised.epsilon, promised.delta, promised.holds) == (4.0, 1e-6, True)
    assert (certificate.guarantee.unit.name, certificate.guarantee.trust) == ("person", "central")
    (debit,) = budget(folder).debits
    assert (debit.people, debit.guarantee.epsilon) == (PEOPLE, 4.0)
    assert debit.what == "synthetic participants, out"
    assert re.fullmatch(
        r"in their place 7 synthetic ones with 3 of 5 features, [\d,]+ rows", done.rows
    )


def test_what_was_left_out_is_told_by_name_and_why_wherever_a_person_looks(folder, tmp_path):
    done = release(folder, tmp_path / "out", **LAW)
    told = json.loads(text(tmp_path / "out" / "certificate.json"))["made_up"]
    assert told["dropped"] == ["d", "e"]
    assert done.table.names == ["a", "b", "c"]
    needed = Synthetic(epsilon=4.0).people_needed(PublicFacts(PEOPLE, 3, 32, 5))
    why = f"it takes {needed} people for all of them with an error of 0.15): d, e"
    card = text(tmp_path / "out" / "DATACARD.md")
    quoted = cost("synthetic", folder, epsilon=4.0).made_up
    for place in (told["why_dropped"], card, done.notes[-1], quoted.why_dropped):
        assert why in place
    assert told["carried"] == list(quoted.carried) == ["a", "b", "c"]
    assert "\n- **Synthesised**: a, b, c.\n" in card
    assert done.notes[-2] == "features of synthetic participants: a, b, c"
    chosen = release(folder, **LAW, carry=1)
    assert "carry=1 leaves out the last 4 of a public order: b, c, d, e" in chosen.notes[-1]


def test_the_card_speaks_of_people_who_do_not_exist(folder, tmp_path):
    release(folder, tmp_path / "out", **LAW, made_up=9)
    card = text(tmp_path / "out" / "DATACARD.md")
    drawn = "9 synthetic participants, drawn from what was measured under noise of the features of"
    for told in (
        "9 synthetic participants, none of them a real person, drawn from what was measured under "
        f"noise of {PEOPLE} people: 3 features, 3 recordings each",
        f"Recordings of {drawn} {PEOPLE} participants, are shared",
        "\n- **Left out**: the last 2 of a public order",
        "\n- **Synthetic participants are no sample of people.**",
        "Labels of people's own rows and attributes of people were left out",
    ):
        assert told in card
    consent = card.partition("consent form")[2].partition("## ")[0]
    assert "We share recordings of people who do not exist" in consent
    assert "a factor of at most 54.6 plus 1 in 1,000,000" in consent
    paper = card.partition("## Paragraph for a paper")[2]
    assert "9 synthetic participants drawn by eyelid" in paper.partition("## ")[0]
    for untrue in ("Means", "Synthetic rows", "simulated", "Taken: .", "None"):
        assert untrue not in card


def test_the_card_says_how_far_off_means_are_by_the_spreads_that_were_released(folder, tmp_path):
    done = release(folder, tmp_path / "out", **LAW)
    card = text(tmp_path / "out" / "DATACARD.md")
    said = done.certificate.made_up["mean_error_sd"]
    assert f"about {said:.2g} standard deviations of its rows." in card
    section = card.partition("## How far off means are\n")[2].partition("\n## ")[0]
    data = pl.read_parquet(tmp_path / "out" / "data.parquet")
    for feature in done.table.features:
        # A third of a bin is more where rows hardly differ.
        off = mean_off(feature, 128, said, data[feature.name].mean(), data[feature.name].std())
        assert off >= said * data[feature.name].std()
        assert f"{feature.name} {float(f'{off:.2g}'):g}" in section


def test_only_attributes_that_by_names_come_out_as_shares_of_made_up_people(table):
    done = release(table, **LAW, by="gender", carry=1, made_up=30)
    assert done.table.people.columns == ["person", "gender"]
    # As many of each as there are, in proportion.
    counts = dict(done.table.people["gender"].value_counts().rows())
    assert counts == {"female": 10, "male": 20}
    shown = " ".join(done.certificate.unprotected)
    assert "everybody's gender: how many people there are of each is told (female: 33" in shown
    consent = for_participants(done.certificate)
    assert "over groups of participants by gender (female: 33" in consent
    assert "Shown exactly: that there are 99 participants; your gender" in consent
    with pytest.raises(InputError, match="make groups with `by=gender`"):
        release(table, **LAW, keep=["gender"])


def test_a_price_is_that_of_its_release(table):
    quote = cost("synthetic", table, epsilon=4.0)
    done = release(table, **LAW)
    assert quote.person_level == done.certificate.person_level
    assert quote.made_up.to_dict() == done.certificate.made_up
    assert quote.to_dict()["says"] == done.worth
    assert quote.facts.length == 32


def test_public_numbers_alone_are_enough_to_plan_and_no_length_is_asked_for():
    found = cost("synthetic", **FACTS).to_dict()
    mechanism, facts = Synthetic(epsilon=4.0), PublicFacts(500, 3, 32, 52)
    assert found["expected_error"] == {
        "share_of_rows": mechanism.expected_share_error(facts),
        "correlation": mechanism.noise_of_correlations(facts),
    }
    assert found["people_needed"] == mechanism.people_needed(facts)
    assert (found["informative"], len(found["made_up"]["dropped"])) == (True, 44)
    each = found["prospects"]
    assert [row["people"] for row in each] == [50, 100, 200, 500, 1000, 2000, 5000]
    carried = [row["features"] for row in each]
    assert carried == sorted(carried)
    assert (carried[0], carried[-1]) == (0, 8)
    every = cost("synthetic", **FACTS, carry="all").to_dict()
    assert every["made_up"]["dropped"] == []
    assert every["prospects"][-1]["features"] == 52
    assert each[0]["share_error"] is None
    with pytest.raises(InputError, match="`recordings` and `features`; missing: recordings, feat"):
        cost("synthetic", people=500, epsilon=4.0)


def test_the_people_needed_are_the_fewest_that_carry_all_features():
    def carried(people):
        facts = FACTS | {"people": people}
        return cost("synthetic", **facts, error=0.05, carry="all").made_up.features

    needed = cost("synthetic", **FACTS, error=0.05).people_needed
    assert (carried(needed), carried(needed - 1) < 52) == (52, True)
    assert needed > cost("synthetic", **FACTS).people_needed


def test_twenty_people_are_answered_plainly_and_nothing_is_spent(table, tmp_path):
    few = replace(table, data=table.data.filter(pl.col("person").cast(pl.Int64) < 20))
    write(few.study(), tmp_path / "few")
    quote = cost("synthetic", tmp_path / "few", epsilon=4.0)
    found = quote.to_dict()
    assert (found["informative"], found["noise"]) == (False, None)
    assert (found["made_up"]["people"], found["made_up"]["features"]) == (0, 0)
    assert found["made_up"]["dropped"] == ["a", "b", "c", "d", "e"]
    assert found["made_up"]["people_needed_for_one"] > 20
    for instead in (
        "no useful study of synthetic participants",
        "ksame",
        "groupmean",
        "a weaker unit",
    ):
        assert instead in found["says"]
    with pytest.raises(InputError, match="20 people are too few"):
        release(tmp_path / "few", tmp_path / "out", **LAW)
    assert budget(tmp_path / "few").debits == ()
    assert not (tmp_path / "out").exists()
    asked = release(few, **LAW, carry=1)
    assert asked.worth.startswith("Farther off than the error of 0.15 that is wanted")
    assert not asked.certificate.made_up["informative"]


def test_an_error_that_shares_keep_is_not_called_theirs(table, tmp_path):
    rows = replace(table, window_ms=None)
    asked = release(rows, tmp_path / "out", **LAW, carry=4)
    made = asked.certificate.made_up
    assert made["share_error"] < made["wanted_error"]
    assert not made["informative"]
    assert "that is wanted, which is for shares, means and correlations" in asked.worth
    card = text(tmp_path / "out" / "DATACARD.md")
    assert "That is more than the 0.15" not in card
    assert "Means or correlations of two features are farther off than goes with the 0.15" in card
    assert "no larger than that come out smaller than they are, or not at all" in card
    assert "the last of a public order" in card


@pytest.mark.parametrize("window_ms", [1000.0, None])
def test_an_inspection_foresees_as_many_features_as_cost(table, window_ms):
    rows = replace(table, window_ms=window_ms)
    carried = cost(**LAW, source=rows).made_up.features
    assert f"synthetic ones with {carried} of 5 features" in inspect(rows.study())["release"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"bins": 128}, f"128 bins for {PEOPLE} people leave most of them empty"),
        ({"carry": 6}, "carry=6 is more than the 5 features"),
        ({"by": "hair"}, "unknown attribute of people to group by 'hair'"),
        ({"by": "one"}, "everybody has the same one"),
        ({"by": "age"}, "is one person"),
        ({"made_up": 0}, "made_up must be a whole number of at least 1"),
        ({"epsilon": 1e-12}, "too few|more noise than there are numbers"),
    ],
)
def test_bad_input_costs_nothing(table, tmp_path, changes, complaint):
    alike = replace(table, people=table.people.with_columns(one=pl.lit("x")))
    write(alike.study(), tmp_path / "study")
    with pytest.raises(InputError, match=complaint):
        release(tmp_path / "study", tmp_path / "out", **LAW | changes)
    assert budget(tmp_path / "study").debits == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study", "study.ledger"]


def test_whoever_lacks_a_task_does_not_show_and_a_task_of_few_is_told(table):
    rare = (pl.col("task") != "2") | (pl.col("person").cast(pl.Int64) < 3)
    lacking = replace(table, data=table.data.filter(rare))
    done = release(lacking, **LAW, made_up=4, rows=2)
    having = done.table.recordings.group_by("person").agg(pl.col("task").sort())
    assert having["task"].to_list() == [["0", "1", "2"]] * 4
    for notes in (done.notes, cost("synthetic", lacking, epsilon=4.0).notes):
        assert notes[0].startswith("only 3 of the people have task '2', fewer than the ")
    assert "lengths (rows=2 sets them)" in done.worth
    assert cost("synthetic", table, epsilon=4.0).notes == ()


def test_a_constant_feature_stays_within_its_bounds(table):
    done = release(table.only("e", "a"), **LAW)
    assert done.table.data["e"].is_between(0.0, 1.0).all()
    assert done.table.data.select(pl.col("e").is_nan().any()).item() is False


@pytest.mark.parametrize(
    ("asked", "why"), [({"seed": 1}, SEEDED), ({"bounds": "data"}, LISTED_BOUNDS)]
)
def test_seeds_and_bounds_of_the_data_leave_no_guarantee(table, tmp_path, asked, why):
    done = release(table, tmp_path / "out", **LAW, carry=2, **asked)
    assert done.certificate.guarantee.reasons == (why,)
    card = text(tmp_path / "out" / "DATACARD.md")
    assert "without a guarantee of privacy" in card
    assert "Paragraph for a paper" not in card


def test_what_fails_after_it_was_paid_for_stays_counted(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(Synthetic, "apply", lambda *words: 1 / 0)
    with pytest.raises(ZeroDivisionError) as failed:
        release(folder, tmp_path / "out", **LAW)
    assert "stays counted" in failed.value.__notes__[0]
    assert len(budget(folder).debits) == 1
    assert not (tmp_path / "out").exists()


def test_an_inspection_names_made_up_people_where_people_are_enough(folder, tmp_path):
    assert "synthetic ones with 3 of 5 features" in inspect(read(folder))["release"]
    release(folder, tmp_path / "out", **LAW)
    found = inspect(read(tmp_path / "out"))
    assert "a released dataset; by its names, of synthetic participants" in found["release"]
    assert found["quasi_identifiers"] == []
    assert lint(tmp_path / "out") == []


def test_groups_keep_their_part_of_more_people(table):
    mechanism = Synthetic(epsilon=4.0, by="gender")
    facts = mechanism.facts(table)
    same, more = prospects(mechanism, facts, (PEOPLE, 3 * PEOPLE))
    assert same.features == made_up(mechanism, facts).features

    def error(features):
        # Noise that a third of the people bear is three times as much of them.
        everybody = PublicFacts(3 * PEOPLE, 3, 32, features, facts.window)
        noise = 3 * Synthetic(epsilon=4.0).noise_of_shares(everybody)
        found = np.hypot(np.hypot(1.0 * noise, 0.24 / np.sqrt(PEOPLE)), 0.012)
        # Means over three tasks count as shares do, .2 standard deviations as much as .15.
        return max(found / np.hypot(1, found / 0.35), 0.75 * 3.5 * noise / np.sqrt(3))

    assert more.features == max(f for f in range(1, 6) if error(f) <= mechanism.error)


def test_the_tables_of_the_page_are_those_of_cost():
    page = text(Path(__file__).parents[2] / "docs" / "synthetic.md")
    both = (cost("synthetic", **FACTS, carry=carry).offer.prospects for carry in ("common", "all"))
    for common, every in zip(*both, strict=True):
        row = [f"{common.people:,}"]
        for each in (common, every):
            error = "–" if each.share_error is None else f"{each.share_error:.2g}"
            row += [str(each.features or "none of use"), error]
        assert f"| {' | '.join(row)} |" in page
    for epsilon in (1.0, 2.0, 4.0, 8.0):
        mechanism = Synthetic(epsilon=epsilon)
        needed = [f"{mechanism.people_needed(PublicFacts(20, 3, 32, f)):,}" for f in (1, 5, 16, 52)]
        assert f"| {epsilon:g} | {' | '.join(needed)} |" in page


def test_what_can_be_known_before_is_told_before_anything_is_paid(table, tmp_path):
    rare = (pl.col("task") != "2") | (pl.col("person").cast(pl.Int64) < 3)
    uneven = replace(table, data=table.data.filter(rare), step_ms=None)
    write(uneven.study(), tmp_path / "study")
    paid, told = [], []

    def tell(note):
        told.append(note)
        paid.append(len(budget(tmp_path / "study").debits))

    done = release(tmp_path / "study", **LAW, pairs="public", tell=tell)
    assert tuple(told) == done.notes
    assert "only 3 of the people have task '2'" in told[0]
    assert told[1] == "features of synthetic participants: a, b, c"
    assert "are left out" in told[2]
    assert "time_ms of synthetic rows is their number" in told[3]
    assert paid == [0, 0, 0, 0]


def test_the_promise_is_of_data_of_any_length(folder, tmp_path):
    done = release(folder, tmp_path / "out", **LAW)
    form = "by anything else of any length and any of these tasks, at least one row, within the"
    assert form in text(tmp_path / "out" / "DATACARD.md")
    assert done.certificate.form == Synthetic(epsilon=1.0).form
    # Own records show which they are.
    assert Laplace(epsilon=1.0).form == (
        "with the same recordings (task, stimulus), of any length,"
    )
    assert Laplace(epsilon=1.0, length="shortest").form == "of the same form (recordings, length)"


@pytest.mark.parametrize(
    ("facts", "setting", "kept", "lost"),
    [
        (
            {},
            {},
            ["correlations of two features along a tree and over time (±", "lengths that"],
            [],
        ),
        (
            {"people": 200},
            {"carry": "all"},
            ["correlations over time (±"],
            ["correlations of two features (±"],
        ),
        ({"people": 20}, {"carry": 9}, [], ["over time (±", "lengths (`rows=…` sets them)"]),
        ({"features": 1}, {"rows": 60}, ["correlations over time (±"], ["lengths (rows=60 sets"]),
    ],
)
def test_what_is_noise_is_not_called_kept(facts, setting, kept, lost):
    says = cost("synthetic", **FACTS | facts, **setting).to_dict()["says"]
    before, _, after = says.partition("Not kept: ")
    assert all(words in before for words in kept)
    assert all(words in after for words in [*lost, "missing values"])
    assert ("two features" in says) == (facts.get("features") != 1)


def test_the_noise_on_a_correlation_is_what_measuring_again_gives(table):
    """Of nothing but noise: two features without any relation, 400 measurements."""
    mechanism = Synthetic(epsilon=4.0, carry=2)
    facts, (_, sequences) = mechanism.facts(table), mechanism.sequences(table)
    made = mechanism.measurement(facts)
    answers = made.measured(sequences, (-1, 0), randomness(1), (400,))
    products = made.signs.in_people(answers.signs, made.facts)[:, 0] / PEOPLE
    assert np.pi / 2 * products.std() == pytest.approx(
        mechanism.noise_of_correlations(facts), rel=0.15
    )


def test_without_a_study_features_have_the_names_of_eyelids_windows():
    found = cost("synthetic", **FACTS | {"people": 200}).made_up
    assert found.carried[:2] == ("fixation_rate", "fixation_duration_mean")
    every = cost("synthetic", **FACTS | {"people": 200}, carry="all").made_up
    assert every.carried[:2] == ("positive_saccade_ratio", "saccade_amplitude_var")
    assert len(found.carried) == found.features
    assert set(found.carried) | set(found.dropped) == {f.name for f in window_feature_set()}
    assert cost("synthetic", **FACTS | {"features": 9, "people": 100}).made_up.carried == ()


def test_few_made_up_people_carry_as_much_and_are_told_to_be_far_off():
    few, many = (cost("synthetic", **FACTS, made_up=people).made_up for people in (2, 500))
    assert few.features == many.features
    assert (few.informative, many.informative) == (False, True)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda table: release(table.data, **LAW),
        lambda table: cost("synthetic", table.data, epsilon=4.0),
        lambda table: cost("synthetic", table, epsilon=4.0, by=["gender"]),
        lambda table: write(table.study().features, "nowhere"),
    ],
)
def test_what_is_no_study_is_refused_in_a_line(table, wrong):
    with pytest.raises(
        InputError, match=r"columns are: \w+\(eyelid|must be text|write takes a study"
    ):
        wrong(table)
