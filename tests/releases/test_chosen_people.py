"""What a choice of people does to a guarantee."""

import json

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.io import write
from eyelid.io.derivations import derive_features
from eyelid.mechanisms.certificate import BY_LIST, NARROWEST_FORM
from eyelid.privacy.ledger import Ledger
from eyelid.releases.audits.audit import audit
from eyelid.releases.cost import cost
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.release import release

pytestmark = pytest.mark.usefixtures("quick_audits", "quick_map_audits", "no_pictures")

GROUPMEAN = {"mechanism": "groupmean", "epsilon": 1.0}


@pytest.fixture(scope="module")
def study():
    """Eight people, one of whom lacks a task."""
    made = simulate(people=8, tasks=("comic", "image"), minutes=0.7, rate_hz=30.0, seed=3)
    lacks = (pl.col("person") == "P02") & (pl.col("task") == "image")
    return made.derive(data=made.data.filter(~lacks))


@pytest.fixture
def folder(study, tmp_path):
    write(study, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def features(study, tmp_path):
    write(window_features(study).study(), tmp_path / "features")
    return tmp_path / "features"


def unprotected(done):
    return " ".join(done.certificate.unprotected)


def test_a_choice_by_tasks_is_not_called_hidden(folder, tmp_path):
    """Means hide who has which tasks, and do not where people were chosen by their tasks."""
    told = []
    everybody = release(folder, tmp_path / "all", **GROUPMEAN)
    assert "with any recordings" in everybody.certificate.form
    chosen = release(folder, tmp_path / "few", people="every-task", tell=told.append, **GROUPMEAN)
    assert chosen.certificate.people == 7
    assert chosen.certificate.form == NARROWEST_FORM
    assert "who has every task, and who did not" in unprotected(chosen)
    assert any("were chosen by their data" in line for line in told)
    card = (tmp_path / "few" / "DATACARD.md").read_text()
    assert "with any recordings" not in card
    assert "who has which does not show" not in card
    assert "who has which does not show" in (tmp_path / "all" / "DATACARD.md").read_text()
    assert "Participants were chosen by what they were recorded doing" in card
    assert "people_chosen" not in json.loads((tmp_path / "few" / "study.json").read_text())


def test_a_choice_made_of_the_features_before_is_said_of_their_release(folder, tmp_path):
    derive_features(folder, tmp_path / "features", people="saw:image")
    done = release(tmp_path / "features", tmp_path / "out", **GROUPMEAN)
    assert "who saw 'image', and who did not" in unprotected(done)
    assert done.certificate.form == NARROWEST_FORM


def test_a_list_is_public_and_narrows_nothing(folder, tmp_path):
    done = release(folder, tmp_path / "few", people=["P01", "P03", "P05"], **GROUPMEAN)
    assert BY_LIST in done.certificate.unprotected
    assert "with any recordings" in done.certificate.form


def test_the_ledger_counts_those_released_and_keeps_its_total(folder, tmp_path):
    """Lists that overlap are no people who left while others came: the total is still known."""
    release(folder, tmp_path / "one", people=["P01", "P02"], **GROUPMEAN)
    other = release(folder, tmp_path / "two", people=["P02", "P03"], **GROUPMEAN)
    assert other.certificate.total is not None
    assert other.certificate.total.epsilon > 1.0
    origin = json.loads((folder / "study.json").read_text())["origin"]
    balances = Ledger(folder.parent / "study.ledger").balances(origin)
    assert sum(len(balance.debits) * balance.people for balance in balances) == 4


def test_the_same_choice_audits_what_it_released(features, tmp_path):
    for mechanism, attackers in (("laplace", ["means"]), ("groupmean", None)):
        out = tmp_path / mechanism
        release(features, out, mechanism=mechanism, epsilon=1.0, people="every-task")
        found = audit(features, out, people="every-task", attackers=attackers, seed=1)
        assert found.target.inconsistencies == ()


def test_an_audit_without_the_choice_says_what_to_choose(features, tmp_path):
    release(features, tmp_path / "out", people="every-task", **GROUPMEAN)
    with pytest.raises(InputError, match=r"for 7 people .*choose the same ones \(`people`\)"):
        audit(features, tmp_path / "out", seed=1)


def test_a_certificate_that_hides_a_choice_is_refuted(features, tmp_path):
    done = release(features, tmp_path / "out", people="every-task", **GROUPMEAN)
    file = tmp_path / "out" / "certificate.json"
    said = json.loads(file.read_text())
    said["unprotected"] = [line for line in said["unprotected"] if "every task" not in line]
    file.write_text(json.dumps(said))
    assert done.certificate.people == 7
    found = audit(features, tmp_path / "out", people="every-task", seed=1)
    assert "leaves out what its mechanism does not protect" in " ".join(
        found.target.inconsistencies
    )


def test_a_heatmap_of_those_who_saw_it_says_so(folder, tmp_path):
    done = heatmap(folder, tmp_path / "map", stimulus="image", level="good", people="saw:image")
    assert done.certificate.people == 7
    assert done.certificate.form == NARROWEST_FORM
    assert "who saw 'image', and who did not" in unprotected(done)
    found = audit(folder, tmp_path / "map", people="saw:image")
    assert found.target.inconsistencies == ()


def test_cost_is_of_those_chosen_and_numbers_still_count(folder):
    quote = cost("groupmean", folder, epsilon=1.0, people="every-task")
    assert quote.facts.people == 7
    assert quote.to_dict()["form"] == NARROWEST_FORM
    assert cost(
        "laplace", people=20, recordings=3, features=16, length=600, epsilon=1.0
    ).facts.people == 20  # fmt: skip
