"""An audit from folders to files: what it finds, what it says, and what it writes."""

import json
import math
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.identification import strongest
from eyelid.attacks.scores import Scores
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io import read, write
from eyelid.releases.audits.audit import audit
from eyelid.releases.release import release
from eyelid.reporting.audits.audit_json import UNCOVERED
from eyelid.reporting.audits.page import standing

pytestmark = pytest.mark.usefixtures("quick_audits", "no_pictures")

ATTACKERS = ["means", "lda", "likelihood"]
PEOPLE = 10


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Ten people, told apart with ease, and a release that holds."""
    home = tmp_path_factory.mktemp("audit")
    rng = np.random.default_rng(2)
    values = rng.uniform(0.1, 0.9, (PEOPLE, 1, 1, 4)) + rng.normal(0, 0.02, (PEOPLE, 3, 24, 4))
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(4)]
    table = table_from_arrays(np.clip(values, 0, 1), features)
    gender = pl.Series("gender", ["f", "m"] * 5)
    write(replace(table, people=table.people.with_columns(gender)).study(), home / "features")
    release(home / "features", home / "private", mechanism="laplace", epsilon=0.1)
    return home


@pytest.fixture(scope="module")
def undescribed(folders):
    """The same people without a gender, which takes longer to infer than all else."""
    study = read(folders / "features")
    write(study.derive(people=study.people.select("person")), folders / "undescribed")
    return folders / "undescribed"


@pytest.fixture(scope="module")
def done(folders, quick_block):
    with quick_block():
        return audit(folders / "features", folders / "private", attackers=ATTACKERS)


def claim_less(folder, epsilon):
    """A certificate that claims less than was spent."""
    path = folder / "certificate.json"
    told = json.loads(path.read_text())
    told["person_level"]["epsilon"] = told["guarantee"]["epsilon"] = epsilon
    path.write_text(json.dumps(told))


def test_raw_people_are_named_and_released_ones_are_not(done):
    assert strongest(done.positive).rate.low > 0.5
    assert strongest(done.null).rate.low <= 1 / PEOPLE
    assert all(f.rate.low <= 1 / PEOPLE for f in done.honest)
    assert done.refuted == []
    assert done.verdict.startswith("The strongest of 9 attacks re-identified ")
    assert "attempts, none contradicts the guarantee (smallest p = " in done.verdict


def test_every_protocol_and_the_best_attacker_are_tried(done):
    tried = {(f.protocol, f.attacker) for f in done.identification}
    names = ("raw→release", "release→raw", "release→release", "white-box", "paper-halves")
    assert tried == {(p, a) for p in names for a in ATTACKERS[:2]} | {
        ("white-box, same recordings", "likelihood")
    }


def test_bounds_stand_beside_what_they_speak_of(done):
    bounds = {f.protocol: f.bound for f in done.identification}
    alone = math.exp(0.1) / (math.exp(0.1) + PEOPLE - 1)
    together = math.exp(0.2) / (math.exp(0.2) + PEOPLE - 1)
    assert bounds == pytest.approx(
        {
            "raw→release": alone,
            "release→raw": together,
            "release→release": alone,
            "white-box": alone,
            "white-box, same recordings": alone,
            "paper-halves": None,
        }
    )


def test_the_folder_beside_the_release_gets_the_figures_and_a_page(done, folders):
    told = json.loads((folders / "private-audit" / "audit.json").read_text())
    assert told["schema"] == "eyelid/audit/1"
    assert told == json.loads(done.to_json())
    page = (folders / "private-audit" / "report.html").read_text()
    assert "ot contradicted" in page
    assert {p.name for p in done.written} == {"audit.json", "report.html"}


def test_the_figures_have_every_field_of_the_contract(done):
    told = done.to_dict()
    wanted = {"protocol", "attacker", "rate", "low", "high", "chance", "bound", "refutes"}
    assert all(wanted <= set(one) for one in told["identification"])
    wanted = {"task", "model", "accuracy", "low", "high", "chance", "raw_accuracy"}
    assert told["utility"]
    assert all(wanted <= set(one) for one in told["utility"])
    assert {"rmse_of_span", "nmse", "utility"} <= set(told["error"])
    assert all({"rate", "low", "high"} <= set(told["controls"][c]) for c in ("positive", "null"))
    assert told["attributes"][0]["attribute"] == "gender"
    assert UNCOVERED in told["notes"]


def test_the_figures_of_a_release_name_nobody(done, folders):
    text = (folders / "private-audit" / "audit.json").read_text()
    told = json.loads(text)
    assert told["people_at_risk"] is None
    assert '"person": "' not in text


def test_the_released_folder_is_still_a_release_that_can_be_read_and_audited_again(folders, done):
    again = audit(folders / "features", folders / "private", attackers=["means"])
    assert again.refuted == []


def test_an_original_alone_is_told_with_people_and_features_at_risk(folders):
    found = audit(folders / "features", attackers=ATTACKERS)
    assert found.target.released is None
    assert "treat these data as personal data" in found.verdict
    assert len(found.people) == PEOPLE
    assert found.people["named"][0] == 1.0
    assert set(found.features["name"]) == {f"feature_{j}" for j in range(4)}
    assert found.written == ()


def test_a_certificate_that_claims_too_little_is_refuted(undescribed, tmp_path):
    release(undescribed, tmp_path / "weak", mechanism="laplace", epsilon=1e5)
    claim_less(tmp_path / "weak", 0.5)
    found = audit(undescribed, tmp_path / "weak", attackers=ATTACKERS)
    assert found.verdict.startswith("The certificate is refuted")
    assert {f.protocol for f in found.identification if f.refutes} >= {"raw→release", "white-box"}
    assert not any(f.refutes for f in found.identification if not f.honest)


def test_a_release_with_a_seed_has_no_guarantee_to_refute(undescribed, tmp_path):
    release(undescribed, tmp_path / "seeded", mechanism="laplace", epsilon=1e5, seed=1)
    found = audit(undescribed, tmp_path / "seeded", attackers=["means"])
    assert found.refuted == []
    assert all(f.bound is None for f in found.identification)
    assert found.verdict.startswith("This release carries no guarantee")
    assert "seed" in found.verdict


def test_attackers_of_ones_own_take_part(make_table):
    class Guesser:
        name = "guesser"

        def learn(self, known, seed):
            def recognise(shown):
                scores = np.zeros((len(shown.owner), len(shown.people)))
                return Scores(scores, None, shown.owner)

            return recognise

    found = audit(make_table(people=5), attackers=[Guesser()])
    assert found.identification[0].attacker == "guesser"
    assert found.identification[0].rate.rate == pytest.approx(0.2)
    assert "may be chance" in found.verdict


def test_one_task_and_one_recording_each_are_split_in_halves(make_table):
    table = make_table(people=5, recordings=1, rows=40)
    found = audit(table, release(table, mechanism="laplace", epsilon=1.0), attackers=["means"])
    assert found.across == "halves"
    assert {"raw→release", "white-box"} <= {f.protocol for f in found.identification}


def test_an_audit_that_recognises_nobody_says_that_it_shows_nothing(make_table):
    table = make_table(people=6)
    found = audit(table, release(table, mechanism="laplace", epsilon=1.0), attackers=["means"])
    assert "shows nothing" in found.verdict


@pytest.mark.parametrize("place", ["nowhere/report.html", "."])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(make_table, tmp_path, place):
    with pytest.raises(InputError, match="cannot write"):
        audit(make_table(people=5), report=tmp_path / place)


def test_the_same_seed_finds_the_same(undescribed):
    one, other = (audit(undescribed, attackers=["forest"], seed=3).to_dict() for _ in range(2))
    assert one == other


def test_with_bounds_of_a_file_the_best_attacker_is_still_the_best(undescribed, tmp_path):
    bounds = tmp_path / "bounds.json"
    bounds.write_text(json.dumps({f"feature_{j}": [-4.0, 5.0] for j in range(4)}))
    release(undescribed, tmp_path / "out", mechanism="laplace", epsilon=10_000.0, bounds=bounds)
    found = audit(undescribed, tmp_path / "out", attackers=["means", "likelihood"])
    rates = {(f.protocol, f.attacker): f.rate.rate for f in found.identification}
    best = rates["white-box, same recordings", "likelihood"]
    assert best >= rates["raw→release", "means"] > 0.5


@pytest.mark.parametrize("length", ["longest", "25"])
def test_one_recording_each_may_be_padded(make_table, length):
    table = make_table(people=6, recordings=1, rows=30)
    shorter = (pl.col("person") != "1") | (pl.col("time_ms") < 20 * 500)
    table = replace(table, data=table.data.filter(shorter))
    done = release(table, mechanism="laplace", epsilon=1.0, length=length)
    assert audit(table, done, attackers=["means", "likelihood"]).refuted == []


def test_everybody_with_a_task_of_their_own_is_told_by_halves(make_table):
    table = make_table(people=6, recordings=1, rows=40)
    own = table.data.with_columns(pl.col("person").alias("task"))
    assert audit(replace(table, data=own), attackers=["means"]).across == "halves"


def test_other_releases_that_hold_nothing_are_in_the_verdict(undescribed, tmp_path):
    release(undescribed, tmp_path / "loud", mechanism="laplace", epsilon=500.0)
    release(undescribed, tmp_path / "good", mechanism="laplace", epsilon=0.5)
    found = audit(undescribed, tmp_path / "good", attackers=["means"])
    assert "Over all releases" in found.verdict
    assert standing(found).name == "weak"


def test_a_kept_attribute_is_not_called_untold(folders, tmp_path):
    release(
        folders / "features", tmp_path / "kept", mechanism="laplace", epsilon=1, keep=["gender"]
    )
    found = audit(folders / "features", tmp_path / "kept", attackers=["means"])
    assert found.attributes == ()
    assert "released as it is" in found.not_inferred[0]
    assert "told apart by what is not protected" in found.verdict


def test_figures_of_a_release_hold_no_value_of_an_attribute(done):
    told = done.to_dict()["attributes"][0]
    assert (told["attribute"], told["asks"]) == ("gender", "which of two")


def test_a_report_replaces_pages_and_nothing_else(folders, tmp_path):
    other = tmp_path / "study.ledger"
    other.write_text("precious")
    with pytest.raises(InputError, match=r"ends in \.html, got "):
        audit(folders / "features", attackers=["means"], report=other)
    assert other.read_text() == "precious"


def test_without_a_fair_protocol_there_is_no_audit(folders):
    with pytest.raises(InputError, match="none of the protocols asked for is leak-free here"):
        audit(folders / "features", folders / "private", protocols=["paper-halves"])


def test_an_audit_of_some_attackers_says_so(done):
    assert "Only some of eyelid's attackers" in done.verdict
    assert done.to_dict()["partial"]


@pytest.mark.parametrize(
    ("options", "text"),
    [({"seed": -1}, "seed must not be negative"), ({"ledger": "nowhere"}, "no ledger at nowhere")],
)
def test_what_cannot_be_is_refused(folders, options, text):
    with pytest.raises(InputError, match=text):
        audit(folders / "features", **options)


def test_an_old_report_does_not_outlive_its_certificate(folders, undescribed, done, tmp_path):
    shutil.copytree(folders / "private", tmp_path / "bare")
    (tmp_path / "bare" / "certificate.json").unlink()
    audit(undescribed, tmp_path / "bare", attackers=["means"])
    assert "Nothing is promised" in (tmp_path / "bare-audit" / "report.html").read_text()


def test_recordings_of_one_row_are_audited(make_table):
    table = make_table(people=5, rows=1)
    found = audit(table, release(table, mechanism="laplace", epsilon=1.0), attackers=["means"])
    assert "paper-halves" not in {f.protocol for f in found.identification}


def test_a_release_of_fewer_tasks_is_attacked_in_those(make_table):
    table = make_table(people=5)
    fewer = replace(table, data=table.data.filter(pl.col("task") != "0"))
    found = audit(table, fewer, attackers=["means"])
    assert {"raw→release", "release→raw"} <= {f.protocol for f in found.identification}


@pytest.mark.parametrize(("people", "could"), [(3, False), (7, True)])
def test_whether_anything_could_have_been_refuted_is_said(make_table, people, could):
    table = make_table(people=people)
    made = release(table, mechanism="laplace", epsilon=1.0)
    found = audit(table, made, attackers=["means", "likelihood"])
    assert found.could_refute == could
    assert ("no attack could have contradicted it" in found.verdict) != could


def test_an_attacker_who_counts_its_calls_learns_nothing(make_table):
    class Counter:
        name = "counter"

        def learn(self, known, seed):
            calls = iter(range(1000))
            return lambda shown: np.eye(len(shown.people))[[next(calls) % len(shown.people)]]

    table = make_table(people=12)
    found = audit(table, release(table, mechanism="laplace", epsilon=0.1), attackers=[Counter()])
    assert found.refuted == []
