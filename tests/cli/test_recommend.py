"""``eyelid recommend`` as a person meets it."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from eyelid.engine.cores import alone
from eyelid.io import write


@pytest.fixture(autouse=True)
def in_this_process():
    """Workers take seconds to start, and these studies are tiny."""
    with alone():
        yield


@pytest.fixture
def folder(simulated_table, tmp_path):
    first = pl.int_range(pl.len()).over("person", "recording") < 40
    short = replace(simulated_table, data=simulated_table.data.filter(first))
    write(short.only("fixation_rate", "saccade_amplitude_mean").study(), tmp_path / "my study")
    return tmp_path / "my study"


KSAME = ("--mechanisms", "ksame")


def test_goals_that_are_met_give_commands_and_code_0(eyelid, folder):
    done = eyelid("recommend", folder, "--goal", "rank1<=5x", "--goal", "k>=3", *KSAME, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["schema"] == "eyelid/recommendation/1"
    assert told["met"] is True
    assert told["commands"] == [f"eyelid release '{folder}' OUT --mechanism ksame --set k=3"]
    assert told["best"][0]["person_total"] == "k = 3, means of groups"
    assert told["best"][0]["unprotected"]
    assert told["facts"]["people"] == 6


def test_goals_that_nothing_meets_give_the_closest_and_code_1(eyelid, folder):
    done = eyelid("recommend", folder, "--goal", "error<=0.0001", "--goal", "k>=3", *KSAME)
    assert done.code == 1
    assert "Nothing meets all goals" in done.out
    assert "ksame, k = 3 misses error<=0.0001" in done.out
    assert "Without error<=0.0001 this meets the rest" in done.out
    assert f"eyelid release '{folder}' OUT --mechanism ksame --set k=3" in done.out
    assert "does not protect:" in done.out
    assert "Public facts used: 6 people, 3 recordings each" in done.out
    assert "it costs nothing" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no goal is given"),
        (["--goal", "fun>=1"], "unknown goal 'fun'"),
        (["--goal", "epsilon<=1", "--goal", "epsilon>=2"], "contradict each other"),
    ],
)
def test_bad_goals_are_one_line_and_code_2(eyelid, folder, words, said):
    done = eyelid("recommend", folder, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_own_data_have_a_price_and_a_limit(eyelid, make_table, tmp_path):
    table = make_table(people=16)
    table = replace(table, data=table.data.with_columns(task=pl.lit("reading")))
    write(table.study(), tmp_path / "features")
    asked = ("recommend", tmp_path / "features", "--goal", "epsilon<8", "--mechanisms", "gaussian")
    dry = eyelid(*asked, "--own", "--tuning-epsilon", "2", "--dry-run")
    assert dry.code == 0
    assert "Cost: ε = 2 for every person. 2 blocks of people vote on 2 candidates" in dry.out
    assert "Nothing was run, and nothing counted." in dry.out
    done = eyelid(*asked, "--own", "--tuning-epsilon", "2")
    assert done.code == 0, done.err
    assert "costs every person ε = 2" in done.err
    assert "--mechanism gaussian" in done.out
    # ε < 8 less 2 leaves 6: a half or a quarter of it is for the release.
    assert re.search(r"with this choice ε = (5|3\.5), δ = \S+ in total for one person", done.out)
    assert "Public facts used: 16 people" in done.out
    all_of_it = eyelid(*asked, "--own", "--tuning-epsilon", "8")
    assert all_of_it.code == 2
    assert "--tuning-epsilon 8 leaves nothing of epsilon<8" in all_of_it.err
    eyelid("budget", tmp_path / "features", "--limit-epsilon", "3")
    refused = eyelid(*asked, "--own", "--tuning-epsilon", "2")
    assert refused.code == 3
    assert "above the limit" in refused.err
