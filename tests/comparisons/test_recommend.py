"""The best release for a person's goals: on synthetic participants, and on theirs."""

import json
from dataclasses import replace

import polars as pl
import pytest

import eyelid
from eyelid.comparisons import private_choice as choosing
from eyelid.comparisons import recommend as module
from eyelid.comparisons.private_choice import PrivateChoice
from eyelid.comparisons.recommend import recommend
from eyelid.engine.cores import alone
from eyelid.errors import InputError, Refused
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.privacy.ledger import Ledger
from eyelid.releases.budget import budget


@pytest.fixture(autouse=True)
def in_this_process():
    """Workers take seconds to start, and these studies are tiny."""
    with alone():
        yield


@pytest.fixture
def few(simulated_table) -> FeatureTable:
    """Six people, forty windows, two features."""
    first = pl.int_range(pl.len()).over("person", "recording") < 40
    short = replace(simulated_table, data=simulated_table.data.filter(first))
    return short.only("fixation_rate", "saccade_amplitude_mean")


def test_what_meets_the_goals_comes_with_its_command(few):
    found = recommend(few, ["task>=0.1", "k>=2"], mechanisms=["ksame"], studies=2)
    assert found.met
    best = found.best[0]
    # The most people to hide among, since any use will do.
    assert found.commands == ["eyelid release IN OUT --mechanism ksame --set k=3"]
    assert len(best.figures.runs) == 2
    assert best.figures.used.people == 12
    assert all(verdict.met for verdict in best.verdicts)
    told = found.to_dict()
    assert told["schema"] == "eyelid/recommendation/1"
    assert told["data"] == "simulated"
    assert told["cost"] is None
    assert json.loads(found.to_json()) == json.loads(json.dumps(told))


def test_where_nothing_does_it_says_what_comes_closest_and_what_would_give(few):
    found = recommend(few, ["task>=0.99", "k>=3"], mechanisms=["ksame"], studies=1)
    assert found.met is False
    assert found.commands == []
    # What promises too little is never called close.
    assert [one.candidate.k for one in found.closest] == [3]
    assert [verdict.goal for verdict in found.closest[0].missed] == ["task>=0.99"]
    assert [one.without for one in found.instead] == [("task>=0.99",)]
    # Promises were relaxed too, to see whether that would help.
    assert {one.candidate.k for one in found.tried} == {2, 3}


def test_nothing_of_anybodys_values_is_used(few):
    """Other people with the same public facts get the same answer."""
    shuffled = few.data.with_columns(few.data.select(few.names).reverse().get_columns())
    asked = {"goals": ["error<=0.5"], "mechanisms": ["ksame"], "studies": 1}
    one, other = (recommend(table, **asked) for table in (few, replace(few, data=shuffled)))
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"own": True}, "give `own` and `tuning_epsilon=…` together"),
        ({"tuning_epsilon": 1.0}, "give `own` and `tuning_epsilon=…` together"),
        ({"dry_run": True}, "`dry_run` goes with `own`"),
        ({"studies": 0}, "studies must be at least 1"),
        (
            {"goals": ["k>=2", "epsilon<=1", "kind=pure-dp"]},
            "no mechanism that holds promises k>=2",
        ),
        ({"mechanisms": ["prewindow"]}, "mechanism that holds and takes features 'prewindow'"),
    ],
)
def test_what_cannot_be_asked_is_refused(few, options, said):
    with pytest.raises(InputError, match=said):
        recommend(few, **{"goals": ["task>=0.5"]} | options)


def test_what_cannot_be_made_up_points_to_other_ways(make_table):
    with pytest.raises(InputError, match=r"'pupil' is none of them.*`own`.*'eyelid compare'"):
        recommend(make_table(), ["error<=0.1"])


def test_more_tasks_than_can_be_made_up_are_not_asked_for(few):
    row = pl.int_range(pl.len()).over("person", "recording")
    part = pl.format("{}, part {}", "recording", row // 20)
    many = few.data.with_columns(task=part, recording=part)
    with pytest.raises(InputError, match=r"task>=0.5: this study has 6 tasks and the simulator"):
        recommend(replace(few, data=many), ["task>=0.5"])


def test_groups_are_not_recommended_to_people_who_are_in_a_release(few, tmp_path):
    write(few.study(), tmp_path / "study")
    options = {"mechanisms": ["ksame", "gaussian"], "studies": 1}
    first = recommend(tmp_path / "study", "k>=3", **options)
    assert any("ksame" in command for command in first.commands)
    eyelid.release(tmp_path / "study", mechanism="laplace", epsilon=1.0)
    later = recommend(tmp_path / "study", "epsilon<=4", **options)
    assert not any("ksame" in command for command in later.commands)
    with pytest.raises(InputError, match="counted 1 of them already"):
        recommend(tmp_path / "study", "kind=k-anonymity", **options)


def test_a_release_is_not_recommended_anything(few):
    released = replace(few, released=True)
    with pytest.raises(InputError, match="a release already"):
        recommend(released, ["task>=0.5"])


@pytest.fixture
def sixteen(make_table):
    """People of one task, with features that cannot be made up."""

    def make(seed=5):
        table = make_table(people=16, seed=seed)
        return replace(table, data=table.data.with_columns(task=pl.lit("reading")))

    return make


@pytest.fixture
def owned(sixteen, tmp_path):
    """The same in a study folder."""
    write(sixteen().study(), tmp_path / "features")
    return tmp_path / "features"


ASKED = {"goals": ["epsilon<8", "error<=9"], "mechanisms": ["gaussian"], "own": True}


def test_a_choice_on_own_people_is_counted_and_shows_no_figures(owned):
    heard = []
    found = recommend(owned, **ASKED, tuning_epsilon=2.0, tell=heard.append)
    assert heard == [
        "this choice costs every person ε = 2, counted in the ledger before anything is run"
    ]
    assert [(d.mechanism, d.guarantee.epsilon, d.people) for d in budget(owned).debits] == [
        ("recommend", 2.0, 16)
    ]
    assert len(found.best) == 1
    assert found.best[0].figures is None
    assert found.met is None
    assert found.tried == ()
    told = found.to_dict()
    assert told["data"] == "own"
    assert told["cost"]["guarantee"]["epsilon"] == 2.0
    # What the goal allows is for the choice and the release together.
    release = told["best"][0]["person_level"]["epsilon"]
    assert told["cost"]["with_release"][0]["epsilon"] == release + 2.0 < 8
    assert told["cost"]["counted"]


def test_a_limit_refuses_before_anything_is_run(owned, monkeypatch):
    monkeypatch.setattr(module, "voted", lambda *_: pytest.fail("it was run"))
    budget(owned, limit_epsilon=1.0)
    with pytest.raises(Refused, match="above the limit"):
        recommend(owned, **ASKED, tuning_epsilon=2.0)
    assert budget(owned).debits == ()


def test_a_dry_run_leaves_no_trace(owned):
    found = recommend(owned, **ASKED, tuning_epsilon=2.0, dry_run=True)
    assert found.best == ()
    assert found.choice == PrivateChoice(2.0, 2, 16)
    assert budget(owned).debits == ()


def test_a_choice_that_is_hardly_more_than_a_lot_costs_nothing(owned):
    with pytest.raises(InputError, match="hardly more than a lot"):
        recommend(owned, **ASKED | {"goals": ["error<=9"]}, tuning_epsilon=0.1)
    assert budget(owned).debits == ()


def test_a_failure_after_the_debit_says_that_it_stays_counted(owned, monkeypatch):
    def fails(*_):
        raise InputError("no room")

    monkeypatch.setattr(module, "voted", fails)
    with pytest.raises(InputError) as stopped:
        recommend(owned, **ASKED, tuning_epsilon=2.0)
    assert stopped.value.__notes__ == [module.STAYS_COUNTED]
    assert len(budget(owned).debits) == 1


def outputs(monkeypatch, tables, run=recommend):
    """What is shown of studies with the same public facts, when the same is chosen of each."""
    monkeypatch.setattr(PrivateChoice, "chosen", lambda self, votes, noise: 1)
    return [run(table, **ASKED, tuning_epsilon=2.0).to_json() for table in tables]


def test_all_that_is_shown_follows_from_the_choice(sixteen, monkeypatch):
    one, other = sixteen(1), sixteen(2)
    # People of whom nothing can be made: their runs may fail, and nobody hears of it.
    broken = other.data.with_columns(pupil=None, fixation_rate=float("nan"))
    assert len(set(outputs(monkeypatch, [one, replace(other, data=broken)]))) == 1


def test_figures_of_own_people_would_be_seen(sixteen, monkeypatch):
    """Planted: what was measured of the first block is told."""

    def telling(table, **asked):
        found = recommend(table, **asked)
        mean = table.data["pupil"].mean()
        return replace(found, notes=(*found.notes, f"measured: {mean:.3f}"))

    monkeypatch.setattr(module, "voted", lambda *_: 1)
    assert len(set(outputs(monkeypatch, [sixteen(1), sixteen(2)], telling))) == 2


def test_a_run_that_fails_in_a_block_gets_no_vote_and_no_word(sixteen, monkeypatch):
    def fails(*_):
        raise ValueError("P07 has a pupil of 3.4")

    monkeypatch.setattr(choosing, "measured", fails)
    found = recommend(sixteen(), **ASKED, tuning_epsilon=2.0)
    assert len(found.best) == 1
    assert "P07" not in found.to_json()


def test_groups_without_an_epsilon_are_not_chosen_by_a_release(sixteen):
    asked = {"own": True, "tuning_epsilon": 3.0, "dry_run": True}
    found = recommend(sixteen(), ["error<=1"], mechanisms=["ksame", "gaussian"], **asked)
    assert any("ksame was left out" in note for note in found.notes)
    with pytest.raises(InputError, match="nothing with an ε meets k>=3"):
        recommend(sixteen(), ["k>=3"], mechanisms=["ksame"], **asked)
    with pytest.raises(InputError, match="there is nothing to choose"):
        recommend(sixteen(), ["epsilon=4"], mechanisms=["gaussian"], **asked)
    with pytest.raises(InputError, match="`tuning_epsilon=3` leaves nothing of epsilon<=3"):
        recommend(sixteen(), ["epsilon<=3"], mechanisms=["gaussian"], **asked)


def test_made_up_people_choose_who_is_voted_on(tmp_path):
    """With own people and the simulator: figures are there, and of synthetic participants alone."""
    sixteen = eyelid.window_features(eyelid.simulate(16, minutes=0.8, seed=3, tasks=("comic",) * 2))
    table = sixteen.only("fixation_rate", "saccade_amplitude_mean")
    write(table.study(), tmp_path / "features")
    asked = {"mechanisms": ["gaussian"], "own": True, "tuning_epsilon": 2.0, "studies": 1}
    found = recommend(read(tmp_path / "features"), ["epsilon<8"], **asked)
    assert found.best[0].figures is not None
    assert found.counted
    assert (
        len(Ledger(tmp_path / "features.ledger").debits(read(tmp_path / "features").origin.id)) == 1
    )
