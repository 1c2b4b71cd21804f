"""Means over people through the whole pipeline: release, certificate, card, audit, report."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from tests.reporting.test_rendering import Rules

from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.mechanisms import mechanism_named
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.kinds import canary_audit
from eyelid.releases.release import release
from eyelid.reporting.audits.page import report, standing

pytestmark = pytest.mark.usefixtures("quick_audits", "no_pictures")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Eight people reading, four features of them, and their means by gender."""
    folder = tmp_path_factory.mktemp("central")
    study = simulate(people=8, minutes=1.5, rate_hz=60.0, seed=5)
    write(study, folder / "study")
    table = window_features(study)
    write(replace(table, features=table.features[:4]).study(), folder / "features")
    release(folder / "features", folder / "out", mechanism="groupmean", epsilon=2.0, by="gender")
    return folder


@pytest.fixture
def own(home, tmp_path):
    """The same studies with nothing released of them."""
    for name in ("study", "features"):
        write(read(home / name).derive(origin=None), tmp_path / "own" / name / name)
    return lambda name: tmp_path / "own" / name / name


@pytest.fixture(scope="module")
def done(home):
    return audit(home / "features", home / "out")


def advantage(epsilon, delta):
    """2Φ(μ/2) − 1 for the largest μ whose curve is within (ε, δ) (Balle & Wang 2018)."""

    def beyond(mu):
        far = norm.cdf(-mu / 2 - epsilon / mu)
        return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * far - delta

    return 2 * norm.cdf(brentq(beyond, 1e-3, 5.0) / 2) - 1


def certificate_of(home):
    return json.loads((home / "out" / "certificate.json").read_text(encoding="utf-8"))


def test_the_certificate_is_for_everybody_and_names_nobody(home):
    told = certificate_of(home)
    assert told["people"] == 8
    assert told["guarantee"]["trust"] == "central"
    assert told["guarantee"]["holds"]
    assert told["rank1_bound"] == {"raw_to_release": None, "release_to_raw": None}
    assert any("by gender" in said for said in told["unprotected"])
    people = FeatureTable.of(read(home / "out")).people
    assert people.columns == ["person", "gender", "people"]
    assert people["people"].sum() == 8


def test_the_ledger_counts_everybody(home):
    from eyelid.releases.budget import budget

    spent = budget(home / "features")
    assert [debit.mechanism for debit in spent.debits][:1] == ["groupmean"]


def test_a_later_local_release_knows_that_groups_tell_people_apart(tmp_path, simulated_table):
    for by, bounded in ((None, True), ("gender", False)):
        folder = tmp_path / f"by-{by}"
        write(simulated_table.study(), folder)
        release(folder, mechanism="groupmean", epsilon=1.0, by=by)
        after = release(folder, mechanism="gaussian", epsilon=1.0)
        bound = after.certificate.rank1_bound["raw_to_release"]
        assert (bound is not None) == bounded


def test_the_card_tells_of_means_and_of_what_membership_is_worth(home):
    card = (home / "out" / "DATACARD.md").read_text(encoding="utf-8")
    assert "Means over 8 people in 2 groups" in card
    assert "*Central release*" in card
    assert "there is none to re-identify" in card
    assert "of at most 0.178 from this release." in card
    assert "the smallest has" in card
    assert 0.177 < advantage(2.0, 1e-6) < 0.178
    assert "Means of the eye-tracking features over 8 participants" in card


def test_earlier_releases_are_told_apart_in_the_bound_on_membership(own, tmp_path):
    for name in ("a", "b"):
        release(own("features"), tmp_path / name, mechanism="groupmean", epsilon=2.0)
    card = (tmp_path / "b" / "DATACARD.md").read_text(encoding="utf-8")
    # Two equal Gaussian releases have √2 times the μ of one.
    both = 2 * norm.cdf(np.sqrt(2) * norm.ppf((1 + advantage(2.0, 1e-6)) / 2)) - 1
    found = re.search(r"at most 0\.178 from this release, and of at most ([\d.]+) from all 2", card)
    assert float(found[1]) == pytest.approx(both, abs=2e-3)


def test_the_smallest_group_is_told_to_the_owner(home):
    table = FeatureTable.of(read(home / "features"))
    made = release(table, mechanism="groupmean", epsilon=2.0, by="gender")
    fewest = table.people["gender"].value_counts()["count"].min()
    assert made.rows.startswith(f"2 groups (the smallest has {fewest} people), ")


def test_a_tie_with_the_constant_carries_no_information(done):
    tie = replace(done.means, constant_rmse_of_span=done.means.error.rmse_of_span * 1.01)
    assert "this release carries no information" in replace(done, means=tie).verdict
    better = replace(done.means, constant_rmse_of_span=done.means.error.rmse_of_span * 2)
    assert "no information" not in replace(done, means=better).verdict


def test_the_command_of_means_is_whole(done):
    assert "eyelid audit ORIGINAL RELEASED --seed 0</pre>" in report(done)


def test_nothing_of_people_can_be_kept_in_means(home, tmp_path):
    with pytest.raises(InputError, match=r"no gender to keep.*by=gender"):
        release(
            home / "features", tmp_path / "x", mechanism="groupmean", epsilon=1.0, keep=["gender"]
        )


def test_the_audit_asks_who_is_in_it_and_names_nobody(done):
    told = done.to_dict()
    assert told["identification"] == told["utility"] == told["attributes"] == []
    assert told["membership"]["bound"] == pytest.approx(advantage(2.0, 1e-6), rel=1e-6)
    assert not told["membership"]["refutes"]
    assert set(told["controls"]["positive"]) >= {"rate", "low", "high"}
    assert told["controls"]["positive"]["rate"] > 0.7
    assert abs(told["controls"]["null"]["rate"] - 0.5) < 0.07
    assert set(told["error"]) >= {"rmse_of_span", "nmse", "utility"}
    assert len(told["error"]["features"]) == 4
    assert told["constant"]["rmse_of_span"] > 0
    assert told["pipeline"]["mechanism"] == "groupmean"
    assert not done.refuted
    assert (
        "The certificate is not contradicted. No participant’s record is in the release"
        in done.verdict
    )


def test_the_page_shows_it(done, home):
    page = (home / "out-audit" / "report.html").read_text()
    assert "Who is in it: attacks on means over people" in page
    assert Rules(page).broken == []
    assert "right answers" in page
    assert "Re-identification: attacks" not in page
    assert standing(done).name in page


def test_without_a_ledger_an_audit_still_runs(home, tmp_path):
    shutil.copytree(home / "out", tmp_path / "out")
    found = audit(FeatureTable.of(read(home / "features")), tmp_path / "out")
    assert not found.refuted


def test_means_without_noise_are_found_out(home, tmp_path):
    table = FeatureTable.of(read(home / "features"))
    made = release(table, mechanism="groupmean", epsilon=2.0, by="gender")
    mechanism = mechanism_named("groupmean", epsilon=2.0, by="gender")
    from eyelid.io.release_folder import output_digest

    bare = replace(mechanism.exact(table, mechanism.groups(table)), origin=None, released=True)
    forged = replace(
        made,
        held=bare,
        certificate=replace(made.certificate, output_sha256=output_digest(bare)),
    )
    found = audit(table, forged)
    assert any("next to no noise" in said for said in found.refuted)
    assert found.verdict.startswith("The certificate is refuted")


@pytest.mark.parametrize("what", ["people", "groups"])
def test_a_certificate_of_something_else_is_not_taken(home, what):
    table = FeatureTable.of(read(home / "features"))
    made = release(table, mechanism="groupmean", epsilon=2.0, by="gender")
    if what == "people":
        less = replace(table, data=table.data.filter(pl.col("person") != "P01"))
        with pytest.raises(InputError, match="for 8 people and the original has 7"):
            audit(less, made)
        return
    swapped = table.people.with_columns(pl.lit("other").alias("gender"))
    with pytest.raises(InputError, match="other groups or tasks"):
        audit(replace(table, people=swapped), made)


def test_attackers_who_name_people_are_refused(home):
    with pytest.raises(InputError, match="no record to re-identify"):
        audit(home / "features", home / "out", attackers=["means"])


@pytest.mark.parametrize("inner", ["laplace", "dct", "envelope"])
def test_canaries_pass_through_means_unharmed(inner):
    found = canary_audit(mechanism_named("groupmean", epsilon=1.0, inner=inner), people=800, seed=1)
    assert not found.refuted
    assert found.person.canaries == 800


def test_canaries_see_means_without_enough_noise(monkeypatch):
    # A sixth of the noise: about six times the loss.
    from eyelid.mechanisms.means.mean_mechanism import MeanMechanism

    sound = MeanMechanism.perturb

    def little(self, integers, shape, noise):
        drawn = sound(self, np.zeros_like(integers), shape, noise)
        return integers + drawn // 6

    monkeypatch.setattr(MeanMechanism, "perturb", little)
    mechanism = mechanism_named("groupmean", epsilon=1.0, inner="laplace")
    assert canary_audit(mechanism, people=2000, seed=1).refuted


def test_the_command_line_tells_it(own, eyelid, tmp_path):
    made = eyelid(
        "release", own("features"), tmp_path / "o", "--mechanism", "groupmean",
        "--epsilon", 4, "--set", "inner=laplace",
    )  # fmt: skip
    assert made.code == 0
    assert "8 people" in made.out
    found = eyelid("audit", own("features"), tmp_path / "o", "--verbose")
    assert found.code == 0
    assert "Who is in such a mean" in found.out
    assert "everybody (8)" in found.out


@pytest.mark.parametrize("name", ["prewindow", "groupmean"])
def test_windows_made_of_private_bins_are_compared_with_the_original_s(own, tmp_path, name):
    asked = {"only": "fixation_rate,saccade_rate,blink_rate"}
    if name == "groupmean":
        asked = {"inner": "prewindow:only=fixation_rate,saccade_rate"}
    out = tmp_path / "out"
    release(own("study"), out, mechanism=name, epsilon=4.0, **asked)
    options = {"attackers": ["means"]} if name == "prewindow" else {}
    found = audit(own("study"), out, **options)
    assert not found.refuted
    assert found.target.taken is not None
    assert set(found.target.original.names) == set(found.target.released.names)
    assert len(found.error.features) == (3 if name == "prewindow" else 2)
    assert any("features are in both" in note for note in found.target.notes)
    if name == "prewindow":
        assert {f.protocol for f in found.identification} >= {"white-box", "release→release"}


def test_real_readers_by_gender_end_to_end(real_windows, tmp_path):
    some = replace(real_windows, features=real_windows.features[:6])
    out = tmp_path / "out"
    made = release(some, out, mechanism="groupmean", epsilon=4.0, by="gender", inner="dct")
    found = audit(some, out)
    assert made.certificate.people == 20
    assert found.means.sizes == [("female", 10), ("male", 10)]
    # Without noise, members of a mean over ten are mostly found; with it, hardly.
    assert found.means.positive.advantage.rate > 0.5
    assert found.means.membership.advantage.low < found.means.membership.bound
    assert not found.refuted
