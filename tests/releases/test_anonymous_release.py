"""Means of groups through release, certificate, card, cost and ledger: k-anonymity is no ε."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError, Refused
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.certificate import NO_LEDGER, NOT_COUNTED, OTHER_GROUPS, Certificate
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy import PERSON, Guarantee, Kind, Neighbours, Trust, rank1_bounds, sequential
from eyelid.privacy.accounts import Gap
from eyelid.privacy.noise import randomness
from eyelid.releases.accounting import OTHER_ROWS, read_certificate
from eyelid.releases.budget import budget
from eyelid.releases.cost import cost
from eyelid.releases.kinds.features.plan import LISTED_BOUNDS, SEEDED_GROUPS, SEEDED_ROWS
from eyelid.releases.release import release
from eyelid.reporting.sentences import promise

NO_BOUND = {"raw_to_release": None, "release_to_raw": None}
ONE_IN_FOUR = {"raw_to_release": 0.25, "release_to_raw": 0.25}


@pytest.fixture
def unequal(make_table):
    """Nine people: the first lacks his last recording, the second broke off after four rows."""
    table = make_table(people=9, recordings=3, rows=6)
    first, second = table.data["person"].unique(maintain_order=True)[:2]
    last = table.data["recording"].unique(maintain_order=True)[-1]
    lacking = (pl.col("person") == first) & (pl.col("recording") == last)
    broken_off = (pl.col("person") == second) & (pl.int_range(pl.len()).over("recording") >= 10)
    return replace(table, data=table.data.filter(~lacking & ~broken_off))


@pytest.fixture
def folder(tmp_path, make_table):
    """Eight people on disk."""
    write(make_table(people=8, rows=4).study(), tmp_path / "study")
    return tmp_path / "study"


def deniable(**facts):
    about = {"unit": PERSON, "neighbours": Neighbours.REPLACE_ONE, "trust": Trust.CENTRAL}
    return Guarantee(**{"kind": Kind.DENIABILITY, **about, "k": 20, "gamma": 2.0, **facts})


def test_the_certificate_states_k_and_no_epsilon(folder, tmp_path):
    done = release(folder, tmp_path / "out", mechanism="ksame", k=4)
    told = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
    promised = told["guarantee"]
    assert (promised["kind"], promised["k"], promised["holds"]) == ("k-anonymity", 4, True)
    assert promised["trust"] == "central"
    assert {promised[key] for key in ("epsilon", "delta", "mu", "gamma")} == {None}
    assert set(told["person_level"]) == {"kind", "epsilon", "delta", "mu", "holds", "how"}
    assert told["person_level"]["kind"] == "k-anonymity"
    assert "not differential privacy" in told["person_level"]["how"]
    assert told["rank1_bound"] == ONE_IN_FOUR
    assert told["people"] == 8
    assert (
        "no noise: one random partition of 8 people into 2 groups of 4" in told["noise"]["sampler"]
    )
    assert told["noise"]["numerics"] == "no noise"
    shown = " ".join(told["unprotected"])
    assert "the sizes of the groups (4)" in shown
    assert "the mean of a group of 4 less those of 3 gives the last one's values exactly" in shown
    # No total can have an ε.
    assert (told["ledger_total"]["kind"], told["ledger_total"]["holds"]) == ("none", False)
    assert told["ledger_total"]["reasons"] == [
        "k-anonymity is not differential privacy and has no ε"
    ]
    again = read_certificate(tmp_path / "out")
    assert again == Certificate.from_dict(told)
    assert again.person_level.k == 4
    assert again.to_dict() == done.certificate.to_dict()


def test_a_table_without_a_ledger_keeps_its_bound_and_says_that_nobody_counts(make_table):
    certificate = release(make_table(people=8), mechanism="ksame", k=4).certificate
    assert certificate.rank1_bound == ONE_IN_FOUR
    assert NO_LEDGER in certificate.unprotected


@pytest.mark.parametrize(
    "before", [{"mechanism": "ksame", "k": 2}, {"mechanism": "groupmean", "epsilon": 1.0}]
)
def test_one_chance_in_k_is_not_printed_beside_another_release(folder, before):
    release(folder, **before)
    done = release(folder, mechanism="ksame", k=4)
    assert done.certificate.person_level.holds
    assert done.certificate.rank1_bound == NO_BOUND
    assert OTHER_GROUPS in done.certificate.unprotected
    assert any("knows 1 other release of these people" in note for note in done.notes)


def test_people_who_were_released_only_in_part_count_too(folder):
    study = read(folder)
    some = study.derive(data=study.data.filter(pl.col("person") != study.data["person"][0]))
    release(some, mechanism="ksame", k=2)
    assert release(folder, mechanism="ksame", k=4).certificate.rank1_bound == NO_BOUND


def test_people_who_may_be_the_same_under_other_names_have_no_bound(folder):
    study = read(folder)
    half = pl.col("person").is_in(study.data["person"].unique(maintain_order=True)[:4].to_list())
    known = study.derive(data=study.data.filter(half))
    other = pl.col("person").str.replace("^", "Z")
    renamed = known.derive(
        data=known.data.with_columns(other), people=known.people.with_columns(other)
    )
    for people, bound in ((known, ONE_IN_FOUR), (renamed, NO_BOUND)):
        done = release(people, mechanism="ksame", k=4)
        assert len(done.certificate.ledger) == 1
        assert done.certificate.rank1_bound == bound
    assert NOT_COUNTED[Gap.RENAMED] in done.certificate.unprotected
    assert done.certificate.total is None


def test_halves_of_a_study_whose_ids_were_known_from_the_start_are_different_people(folder):
    study = read(folder)
    first = pl.col("person").is_in(study.data["person"].unique(maintain_order=True)[:4].to_list())
    for half in (first, ~first):
        done = release(study.derive(data=study.data.filter(half)), mechanism="ksame", k=4)
        assert len(done.certificate.ledger) == 1
        assert done.certificate.rank1_bound == ONE_IN_FOUR


def test_a_later_release_with_an_epsilon_has_no_total_and_says_why(folder, tmp_path):
    release(folder, mechanism="ksame", k=4)
    done = release(folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    assert done.certificate.person_level.epsilon == 1.0
    assert not done.certificate.total.holds
    assert done.certificate.rank1_bound == NO_BOUND
    assert "may undo their groups" in done.notes[-1]
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert "unbounded, because k-anonymity is not differential privacy and has no ε" in card


def test_a_first_release_warns_of_nothing(folder):
    assert release(folder, mechanism="ksame", k=4).notes == ()
    assert release(folder, mechanism="groupmean", epsilon=1.0).notes != ()


def test_a_limit_refuses_what_has_no_epsilon_and_charges_nothing(folder, tmp_path):
    budget(folder, limit_epsilon=4.0)
    with pytest.raises(Refused, match=r"by this release: k-anonymity is not .* and has no ε"):
        release(folder, tmp_path / "out", mechanism="ksame", k=4)
    assert not (tmp_path / "out").exists()
    assert budget(folder).debits == ()
    release(folder, mechanism="laplace", epsilon=1.0)


def test_under_a_limit_that_came_later_the_earlier_release_is_blamed(folder):
    release(folder, mechanism="ksame", k=4)
    assert budget(folder, limit_epsilon=4.0).exceeded
    with pytest.raises(Refused, match="after an earlier release: k-anonymity"):
        release(folder, mechanism="laplace", epsilon=1.0)


def test_the_budget_tells_of_groups(folder):
    release(folder, mechanism="ksame", k=4)
    once = budget(folder)
    assert "k-anonymity is not differential privacy and has no ε" in once.sentence
    assert "No bound on re-identification" not in once.sentence
    assert once.debits[0].what == "means of groups of at least 4, –"
    entry = once.to_dict()["entries"][0]
    assert (entry["k"], entry["epsilon"], entry["holds"]) == (4, None, True)
    release(folder, mechanism="gaussian", epsilon=1.0)
    assert "No bound on re-identification" in budget(folder).sentence


def test_a_seed_tells_who_is_with_whom(make_table):
    done = release(make_table(people=8), mechanism="ksame", k=4, seed=1)
    assert done.certificate.guarantee.reasons == (SEEDED_GROUPS,)
    assert done.certificate.rank1_bound == NO_BOUND


def test_bounds_of_the_data_stand_in_the_certificate(make_table):
    table = make_table(people=8)
    done = release(table, mechanism="ksame", k=4, bounds="data")
    assert done.certificate.guarantee.reasons == (LISTED_BOUNDS,)
    lower, upper = done.certificate.bounds.values["pupil"]
    assert (lower, upper) == (table.data["pupil"].min(), table.data["pupil"].max())


def test_groups_that_differ_in_length_keep_their_bound(unequal):
    # Members of a group are all released alike: what tells groups apart tells members nothing.
    assert release(unequal, mechanism="ksame", k=3).certificate.rank1_bound == rank1_bounds(
        replace(deniable(), kind=Kind.K_ANONYMITY, k=3), 9
    )
    assert cost("ksame", unequal, k=3).rank1_bound["raw_to_release"] == pytest.approx(1 / 3)
    own = release(unequal, mechanism="laplace", epsilon=1.0)
    assert own.certificate.rank1_bound == NO_BOUND


def renamed(table, one, other):
    """The same recordings, of two people who changed places."""
    places = {one: other, other: one}
    data = table.data.with_columns(pl.col("person").replace(places))
    return replace(table, data=data.sort("person", maintain_order=True))


@pytest.mark.parametrize("length", ["group", "shortest", 5])
@pytest.mark.parametrize("copies", [False, True])
def test_members_who_change_places_change_nothing_that_is_released(unequal, length, copies):
    mechanism = mechanism_named("ksame", k=3, length=length, copies=copies)
    names = unequal.data["person"].unique(maintain_order=True)
    member = mechanism.partition(unequal, randomness(3))
    released = mechanism.averaged(unequal, member)
    for group in range(3):
        one, other, _ = (names[int(i)] for i in np.flatnonzero(member == group))
        again = mechanism.averaged(renamed(unequal, one, other), member)
        assert again.people.equals(released.people)
        # To the last bit: sums on a grid have no order.
        assert again.data.equals(released.data)


def test_the_owner_is_told_of_groups_and_of_rows_that_went_into_none(unequal):
    mechanism = mechanism_named("ksame", k=3)
    done = release(unequal, mechanism="ksame", k=3)
    rows = {person: len(part) for (person,), part in done.table.data.group_by("person")}
    weights = dict(done.table.people.rows())
    left_out = len(unequal.data) - sum(rows[g] * weights[g] for g in rows)
    assert left_out > 0
    assert done.rows.startswith(f"3 groups of 3, {len(done.table.data)} rows ({left_out} of the ")
    copied = release(unequal, mechanism=replace(mechanism, copies=True, length="shortest"))
    left_out = len(unequal.data) - len(copied.table.data)
    assert f"({left_out} of the people's {len(unequal.data)} rows" in copied.rows


def test_equal_recordings_go_in_whole(make_table):
    assert release(make_table(people=7, rows=4), mechanism="ksame", k=3).rows == (
        "2 groups of 3 or 4, 24 rows"
    )


@pytest.mark.parametrize("copies", [False, True])
def test_the_folder_and_its_card_are_whole(folder, tmp_path, copies):
    release(folder, tmp_path / "out", mechanism="ksame", k=4, copies=copies)
    shared = FeatureTable.of(read(tmp_path / "out"))
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    if copies:
        assert shared.people.columns == ["person"]
        assert shared.people["person"].to_list() == [f"group{g}-{m}" for g in "12" for m in "1234"]
        assert "under names such as `group1-1`" in card
    else:
        assert shared.people.rows() == [("group1", 4), ("group2", 4)]
        assert "`people.csv` has the number of people of each group" in card
    assert len(slots_of(shared).names) == 3
    assert "Means over 8 people in 2 groups of 4, no participant's own record" in card
    assert "Taken: every value is clipped to its public bounds" in card
    assert "picks the right one of them with probability at most 0.25." in card
    assert "members or not, can compute the last one's values exactly" in card
    assert "The processing satisfies k-anonymity with k = 4" in card
    for word in ("padded", "ε-differential privacy", "neighbours", "None"):
        assert word not in card
    release(folder, tmp_path / "again", mechanism="ksame", k=4, copies=copies)
    card = (tmp_path / "again" / "DATACARD.md").read_text(encoding="utf-8")
    assert "No bound on re-identification is known: 1 other release of these people" in card
    assert "at most 0.25" not in card


def test_the_card_of_a_void_release_promises_nothing(folder, tmp_path):
    release(folder, tmp_path / "out", mechanism="ksame", k=4, seed=1)
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert "This release carries no privacy guarantee" in card
    assert SEEDED_GROUPS in card
    assert (
        "at most" not in card.partition("## What is guaranteed")[2].partition("## What is not")[0]
    )


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("", 2, "ksame needs k: give it, such as --set k=4"),
        ("--set k=4 --epsilon 1", 2, "ksame gives k-anonymity and has no epsilon: leave it out; "),
        ("--set k=4 --unit recording", 3, "ksame does not offer the unit 'recording'"),
        ("--set k=9", 2, "k=9 needs at least 9 people, this study has 8: choose k ≤ 8"),
        ("--set k=1", 2, "k must be at least 2, got 1"),
        ("--set k=4 --set keep=gender", 2, "its share with --set balance=gender"),
        ("--set k=4 --set diverse=gender", 2, "unknown attribute of people 'gender'"),
    ],
)
def test_bad_input_is_named_and_costs_nothing(eyelid, folder, tmp_path, words, code, says):
    done = eyelid("release", folder, tmp_path / "out", "--mechanism", "ksame", *words.split())
    assert done.code == code
    assert says in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert budget(folder).debits == ()


def test_the_terminal_tells_it_and_warns_the_second_time(eyelid, folder, tmp_path):
    command = ("release", folder, tmp_path / "out", "--mechanism", "ksame", "--set", "k=4")
    done = eyelid(*command)
    assert (done.code, done.err) == (0, "")
    assert "8 people, 2 groups of 4, 24 rows." in done.out
    assert "with probability 1/4 at most" in done.out
    assert "There is no total ε, because k-anonymity is not differential privacy" in done.out
    assert "1/4 stands as long as this is the only release of these people." in done.out
    again = eyelid(*command[:2], tmp_path / "again", *command[3:])
    assert again.code == 0
    assert "share one only" in again.err
    assert "One person, in total: No bound on re-identification: 1 other release" in again.out
    assert "Over 2 releases of these people so far: no total ε" in again.out
    assert "no 1/k either" in again.out


def test_nothing_leads_with_one_in_k_where_other_releases_are_known(eyelid, folder, tmp_path):
    for name in ("one", "two"):
        release(folder, tmp_path / name, mechanism="ksame", k=4)
    lead = (
        "No bound on re-identification: 1 other release of these people is known. This release "
        "alone"
    )
    told = read_certificate(tmp_path / "two")
    assert told.how.startswith(
        "no bound on re-identification: 1 other release of these people is known; "
    )
    assert "this release alone would give: k-anonymity" in told.how
    assert promise(told.person_level, told.others).startswith(lead)
    card = (tmp_path / "two" / "DATACARD.md").read_text(encoding="utf-8")
    # In the guarantee and in the paragraph for an ethics board: never a chance in k before it.
    parts = card.split("(central release): ")[1], card.split('(mechanism "ksame"). ')[1]
    assert all(part.startswith(lead) for part in parts)
    assert "with both, others may find out which are yours" in card.partition("consent form")[2]
    table = eyelid("budget", folder).out
    assert table.count("only alone") == 2
    assert " yes " not in table
    assert (
        "No bound on re-identification: what was promised is true of a single release only" in table
    )
    first = read_certificate(tmp_path / "one")
    assert (first.others, first.how.partition(":")[0]) == (
        "",
        "k-anonymity of a person, over all recordings together",
    )


def test_people_who_may_be_counted_elsewhere_are_promised_no_name_either(folder, tmp_path):
    read(folder).origin.ledger.unlink()
    budget(folder, lost=True)
    done = release(folder, mechanism="ksame", k=4).certificate
    assert done.others == "other releases of these people may be counted in another ledger"
    assert done.how.startswith(
        "no bound on re-identification: other releases of these people may be"
    )
    state = budget(folder)
    assert state.sentence.startswith(
        "No bound on re-identification: what was promised is true of a"
    )
    assert "the ledger that counted these people was lost" in state.sentence
    assert [entry["undone"] for entry in state.to_dict()["entries"]] == [True]


def test_a_price_knows_of_other_releases_and_leaves_no_trace(eyelid, folder):
    words = ("cost", folder, "--mechanism", "ksame", "--set", "k=4")
    assert "at most 25%" in eyelid(*words).out
    release(folder, mechanism="laplace", epsilon=1.0)
    before = sorted(p.name for p in folder.parent.iterdir())
    told = eyelid(*words).out
    assert "no bound: 1 other release of these people is known" in told
    assert "at most 25%" not in told
    assert cost("ksame", folder, k=4).rank1_bound == NO_BOUND
    assert (len(budget(folder).debits), sorted(p.name for p in folder.parent.iterdir())) == (
        1,
        before,
    )
    found = json.loads(eyelid(*words, "--json").out)["ledger"]
    assert (found["releases"], found["limit"], found["refused"]) == (1, None, False)


def test_a_price_is_that_of_the_certificate_that_follows(folder):
    for asked in (
        {"mechanism": "laplace", "epsilon": 1.0},
        {"mechanism": "gaussian", "epsilon": 2.0},
    ):
        quote = cost(asked["mechanism"], folder, epsilon=asked["epsilon"])
        done = release(folder, **asked).certificate
        assert quote.rank1_bound == pytest.approx(done.rank1_bound)
        assert quote.total.numbers() == done.total.numbers()


@pytest.mark.parametrize(("epsilon", "refused"), [(1.0, False), (1.5, True)])
def test_a_price_says_when_the_limit_would_refuse(eyelid, folder, epsilon, refused):
    release(folder, mechanism="laplace", epsilon=1.0)
    budget(folder, limit_epsilon=2.0)
    told = eyelid("cost", folder, "--mechanism", "laplace", "--epsilon", epsilon).out
    assert ("The ledger would refuse this release" in told) == refused
    assert (
        "The ledger would refuse"
        in eyelid(*f"cost {folder} --mechanism ksame --set k=4".split()).out
    )
    if refused:
        with pytest.raises(Refused):
            release(folder, mechanism="laplace", epsilon=epsilon)


def test_a_price_without_its_ledger_says_what_it_does_not_know(eyelid, folder):
    folder.with_name("study.ledger").unlink()
    done = eyelid("cost", folder, "--mechanism", "ksame", "--set", "k=4")
    assert done.code == 0
    assert "what was released of these people before is not known: the ledger" in done.err


def test_lost_tasks_are_named_before_and_after(unequal):
    lost, note = cost("ksame", unequal, k=3).notes
    assert "of people's rows are expected to be in no mean" in lost
    assert note.startswith("1 of 9 people lack task '2': a group with one of them loses it")
    assert "1 of 3 groups" in note
    for copies in (False, True):
        told = release(unequal, mechanism="ksame", k=3, copies=copies).rows
        assert told.endswith("; 1 of 3 groups lost task '2')")


def test_noisy_groups_that_are_too_small_are_pointed_elsewhere_first():
    facts = {"recordings": 3, "features": 52, "length": 541, "epsilon": 4.0}
    says = cost("ksame-dp", people=20, k=4, **facts).to_dict()["says"]
    assert says.startswith("Means of 4 people drown in the noise of this ε. One mean over all 20")
    assert "though still too much; without an ε, ksame" in says
    some = cost("ksame-dp", people=2000, k=20, **facts).to_dict()["says"]
    assert "(groupmean) has the least noise; without an ε, ksame" in some
    many = cost("ksame-dp", people=20_000, k=4000, **facts).to_dict()["says"]
    assert "drown" not in many


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ({"mechanism": "ksame", "k": 4}, "from at least 3 others of your group by those who"),
        ({"mechanism": "ksame", "k": 2}, "from at least 1 other person of your group"),
        ({"mechanism": "ksame", "k": 4, "seed": 1}, "shared without a guarantee of privacy"),
        ({"mechanism": "laplace", "epsilon": 1.0}, "of each of the 8 participants by them"),
        ({"mechanism": "laplace", "epsilon": 90.0}, "it promises you almost nothing"),
        ({"mechanism": "groupmean", "epsilon": 1.0}, "averages over all 8 participants together"),
    ],
)  # fmt: skip
def test_participants_are_told_in_plain_words(folder, tmp_path, mechanism, words):
    release(folder, tmp_path / "out", **mechanism)
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    said = card.partition("## For a consent form")[2].partition("## ")[0]
    assert words in said
    assert ("ε" in said, "neighbours" in said) == (False, False)
    if mechanism["mechanism"] == "ksame" and "seed" not in mechanism:
        assert (
            "Those who have the recordings of all others of your group can work out yours." in said
        )


def test_the_card_is_short_and_has_nothing_that_was_not_asked_for(folder, tmp_path):
    release(folder, tmp_path / "out", mechanism="ksame", k=4)
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert "`ksame` with k = 4, length = group, copies = no." in card
    assert "Noise: none. Random is one random partition of 8 people" in card
    assert "no noise" not in card
    assert "2 features, 3 recordings a group" in card
    assert "fixation_rate" not in card
    assert "`study.json` names and defines the features" in card


def test_a_price_needs_no_study(eyelid):
    facts = "--people 23 --recordings 3 --features 16 --length 600"
    words = ("cost", "--mechanism", "ksame", "--set", "k=4", *facts.split())
    done = eyelid(*words, "--verbose")
    assert done.code == 0
    assert "5 groups of 4 or 5" in done.out
    assert "at most 25%" in done.out
    assert "not differential privacy" in done.out
    told = json.loads(eyelid(*words, "--json").out)
    assert (told["guarantee"]["k"], told["expected_error"]) == (4, None)
    assert told["rank1_bound"] == ONE_IN_FOUR
    assert told["advantage_bound"] is None
    few = eyelid(*words[:4], "k=30", *words[5:])
    assert (few.code, "choose k ≤ 23" in few.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "told"), [("ksame-paper", "repeat a last row"), ("marginals-paper", "rows")]
)
def test_what_papers_print_is_certified_as_not_holding(unequal, tmp_path, name, told):
    done = release(unequal, tmp_path / "out", mechanism=name, k=3, seed=2)
    seeded = SEEDED_GROUPS if name == "ksame-paper" else SEEDED_ROWS
    assert done.certificate.guarantee.k == 3
    assert not done.certificate.guarantee.holds
    assert done.certificate.guarantee.reasons[-1] == seeded
    assert done.certificate.rank1_bound == NO_BOUND
    assert read_certificate(tmp_path / "out").person_level == done.certificate.person_level
    assert told in done.rows
    assert done.table.people.columns == ["person"]
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert "Nothing, for the reasons above. One person, in total: no bound" in card
    assert "none are used, and nothing was clipped.\n- Taken: unclipped" in card


def test_rows_that_many_could_have_given_are_no_epsilon_either(make_table, tmp_path):
    folder, mechanism = (
        tmp_path / "study",
        {"mechanism": "seeded", "epsilon": 4.0, "rows": 2, "bins": 2},
    )
    write(make_table(people=12, rows=2).study(), folder)
    done = release(folder, tmp_path / "out", **mechanism, test="deterministic", k=3, gamma=1.5)
    told = done.certificate.to_dict()
    assert told["guarantee"]["kind"] == told["person_level"]["kind"] == "plausible-deniability"
    assert (told["guarantee"]["k"], told["guarantee"]["gamma"]) == (3, 1.5)
    assert told["guarantee"]["epsilon"] is None
    assert told["rank1_bound"] == NO_BOUND
    assert "plausible deniability is not" in told["ledger_total"]["reasons"][0]
    assert read_certificate(tmp_path / "out").person_level == done.certificate.person_level
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    kept = "some keep 1 of 2 features of a person's row, every value as one of 2 bins"
    assert f"Rows after 12 people, of which {kept}" in card
    assert "The processing satisfies plausible deniability with k = 3, γ = 1.5" in card
    assert "Means" not in card
    # Whom it is for, and what the model has for the others, wherever the promise is made.
    assert card.count("for 6 people; the model has ε = 4, δ = 1e-06 for the other 6") == 2
    assert card.count("given the model that the rest of it was drawn from") == 2
    consent = card.partition("consent form")[2].partition("## ")[0]
    assert "would change by a factor of at most 54.6 plus 1 in 1,000,000. What many rows" in consent
    again = release(folder, **mechanism, test="deterministic", k=3).certificate
    assert OTHER_ROWS in again.unprotected
    said = promise(again.person_level, again.others, again.how)
    assert said.count("1 other release of these people is known") == 1
    assert said.startswith("No bound on what is told about a person: 1 other release")
    assert budget(folder).sentence.startswith("No bound on what is told about a person: what was")
    assert budget(folder).debits[0].what == "synthetic rows, out"
    budget(folder, limit_epsilon=4.0)
    with pytest.raises(Refused, match=r"plausible deniability is not .* and has no ε"):
        release(folder, **mechanism, test="deterministic", k=3)


def test_a_price_and_a_release_say_whom_deniability_is_for(eyelid, make_table, tmp_path):
    write(make_table(people=12, rows=2).study(), tmp_path / "study")
    mechanism = [
        "--mechanism",
        "seeded",
        "--epsilon",
        "4",
        "--set",
        "test=deterministic",
        "--set",
        "k=3",
    ]
    for words in (["cost", tmp_path / "study"], ["release", tmp_path / "study", tmp_path / "out"]):
        told = " ".join(eyelid(*words, *mechanism, "--verbose").out.split())
        assert "for 6 people; the model has ε = 4, δ = 1e-06 for the other 6" in told


def test_the_card_counts_the_recordings_that_are_released(make_table, tmp_path):
    table = make_table(people=8, recordings=3, rows=3)
    # One person alone has a third recording, a second time of a task.
    owner, last = table.data["person"][0], table.data["recording"].unique(maintain_order=True)[-1]
    third = pl.col("recording") == last
    data = table.data.filter(~third | (pl.col("person") == owner))
    again = replace(table, data=data.with_columns(task=pl.lit("read")))
    release(again, tmp_path / "out", mechanism="ksame", k=4)
    card = (tmp_path / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert "2 features, 2 recordings a group" in card


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"mechanism": "seeded", "order": "nonsense"}, "unknown feature 'nonsense'"),
        ({"mechanism": "seeded", "keep_features": 9}, "more than the 2 features"),
        ({"mechanism": "ksame", "k": 4}, "there is no recording that everybody has"),
    ],
)
def test_what_is_refused_has_no_price(make_table, asked, complaint):
    table = make_table(people=12, recordings=1, rows=2)
    if asked["mechanism"] == "ksame":
        own = pl.col("person") == table.data["person"][0]
        task = pl.when(own).then(pl.lit("a")).otherwise(pl.lit("b"))
        table = replace(table, data=table.data.with_columns(task=task))
    else:
        asked = asked | {"epsilon": 4.0, "test": "deterministic", "k": 3}
    named = {name: value for name, value in asked.items() if name != "mechanism"}
    for ask in (lambda: cost(asked["mechanism"], table, **named), lambda: release(table, **asked)):
        with pytest.raises(InputError, match=complaint):
            ask()


def test_a_task_that_few_people_have_is_told_to_the_owner(make_table):
    table = make_table(people=12, recordings=2, rows=2)
    last = table.data["task"].unique(maintain_order=True)[-1]
    alone = (pl.col("task") != last) | (pl.col("person") == table.data["person"][0])
    mechanism = {"epsilon": 4.0, "test": "deterministic", "k": 3, "rows": 2}
    few = replace(table, data=table.data.filter(alone))
    for notes in (
        cost("seeded", few, **mechanism).notes,
        release(few, mechanism="seeded", **mechanism).notes,
    ):
        assert notes[0].startswith(f"only 1 of the people has task '{last}', fewer than k = 3: ")
    assert cost("seeded", table, **mechanism).notes == ()


def test_k_is_never_printed_larger_than_it_is():
    assert deniable(kind=Kind.K_ANONYMITY, k=12_341, gamma=None).numbers() == "k = 12341"
    assert deniable(gamma=1.23456).numbers() == "k = 20, γ = 1.235"


def test_plausible_deniability_is_promised_in_words_of_its_own():
    said = promise(deniable())
    assert "at least 20 people" in said
    assert "a factor of 2 of each other" in said
    assert "not differential privacy: it has no ε" in said
    assert rank1_bounds(deniable(), 40) == NO_BOUND
    total = sequential([deniable()])
    assert not total.holds
    assert total.reasons == ("plausible deniability is not differential privacy and has no ε",)


@pytest.mark.parametrize("kind", [Kind.K_ANONYMITY, Kind.DENIABILITY])
def test_a_guarantee_comes_back_from_its_dictionary_and_none_without_k(kind):
    promised = deniable(kind=kind)
    assert Guarantee.from_dict(promised.to_dict()) == promised
    for k, says in ((None, "needs k"), (2.5, "whole number"), (-3, "negative")):
        with pytest.raises(ValueError, match=says):
            Guarantee.from_dict(promised.to_dict() | {"k": k})
    broken = promised.broken("seeded").to_dict() | {"k": None}
    assert not Guarantee.from_dict(broken).holds


def test_means_by_attributes_still_advise_groups_by_them(folder):
    with pytest.raises(InputError, match=r"leave keep out, or make groups with `by=gender`$"):
        release(folder, mechanism="groupmean", epsilon=1.0, keep=["gender"])
