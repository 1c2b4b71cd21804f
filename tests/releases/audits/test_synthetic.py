"""The audit of a study of synthetic participants, from the release to the page."""

import functools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.reporting.test_rendering import Rules

from eyelid.attacks import synthetic as noisy_answers
from eyelid.attacks.statistics import Rate
from eyelid.attacks.utility import learned_elsewhere
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io import write
from eyelid.io.release_folder import output_digest
from eyelid.privacy.rank1 import advantage_bound
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.release import release
from eyelid.reporting.audits.page import beyond_expected, report, standing

FEATURES = [Feature(name, "1/s", f"{name} a second", 0.0, 2.0) for name in "abc"]
LAW = {"mechanism": "synthetic", "epsilon": 16.0, "delta": 1e-5, "rows": 12}


def people(count=90, seed=0):
    """Two tasks that differ in everything; each person is a little different in both."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.5, 1.4, 0.8], [1.3, 0.6, 0.8]])[None, :, None]
    values = (
        centres + rng.normal(0, 0.15, (count, 1, 1, 3)) + rng.normal(0, 0.15, (count, 2, 12, 3))
    )
    table = table_from_arrays(np.clip(values, 0, 2), FEATURES)
    task = pl.col("recording").replace_strict(["0", "1"], ["read", "watch"])
    sex = pl.Series("sex", np.resize(["f", "m"], count))
    known = table.people.with_columns(sex)
    return replace(table, data=table.data.with_columns(task=task), people=known)


@pytest.fixture(scope="module", autouse=True)
def quickly():
    """What takes long has tests of its own."""
    tree = functools.partial(learned_elsewhere, models=["tree"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noisy_answers, "_DECISIONS", 12)
        patch.setattr(noisy_answers, "_OF_CONTROL", 12)
        patch.setattr("eyelid.releases.audits.synthetic.learned_elsewhere", tree)
        yield


@pytest.fixture(scope="module")
def study():
    return people()


@pytest.fixture(scope="module")
def made(study):
    return release(study, **LAW)


@pytest.fixture(scope="module")
def found(study, made):
    return audit(study, made)


def changed(made, table):
    """The same under a certificate that knows of the change."""
    certificate = replace(made.certificate, output_sha256=output_digest(table))
    return replace(made, held=table, certificate=certificate)


def test_nobody_is_named_and_the_bound_is_on_membership(study, made, found):
    assert not found.refuted
    assert found.identification == found.positive == ()
    bound = advantage_bound(made.certificate.person_level)
    assert found.synthetic.membership.bound == bound < 1
    assert (found.synthetic.people, found.synthetic.among) == (90, 90)
    assert "No participant’s record is in the release" in found.verdict
    assert "knows all others and sees all noisy answers" in found.verdict
    assert "Kept, that is, off by less than half of its size: recognising" in found.verdict
    assert "are right by tree" in found.verdict
    assert "Never in it: what any one person did" in found.verdict
    told = json.loads(found.to_json())
    assert told["identification"] == []
    figures = told["made_up"]
    assert "sees all noisy answers" in figures["membership"]["attack"]
    assert told["controls"]["positive"]["rate"] > 0.9
    assert figures["copies"] == 0
    assert len(figures["marginals"]) == 6
    assert figures["expected_share_error"] > 0
    assert {one["lag"] for one in figures["likeness"]["memory"]} == {1, 4, 16}
    assert figures["wasserstein_of_span"] < figures["uniform_of_span"]


def promising(found, **of_all):
    """The same under a promise that rules something out; of all releases together, another one."""
    certificate = found.target.certificate
    strict = replace(certificate.person_level, epsilon=2.0, mu=0.5)
    certificate = replace(certificate, person_level=strict)
    member = replace(found.synthetic.membership, bound=advantage_bound(strict))
    return replace(
        found,
        target=replace(found.target, certificate=certificate, total=replace(strict, **of_all)),
        synthetic=replace(found.synthetic, membership=member),
    )


def test_the_page_is_green_only_for_an_attack_that_finds_people_without_noise(found):
    sound, member = promising(found), found.synthetic.membership

    def banner(right):
        clear = replace(found.synthetic.positive, right=right)
        return standing(replace(sound, synthetic=replace(sound.synthetic, positive=clear)))

    assert banner(Rate(1.0, 0.9, 1.0, 0.5, 40)).name == "sound"
    assert banner(member.right).name == "weak"
    assert "finds little without noise" in banner(member.right).words


def test_what_other_releases_leave_of_the_promise_is_said_by_headline_and_verdict(found):
    nothing = promising(found, holds=False, reasons=("one of them promises nothing",))
    little = promising(found, epsilon=40.0)
    assert standing(nothing).words.endswith("no guarantee over all releases of these people")
    assert (
        "no guarantee is valid, because of another one: one of them promises nothing"
        in nothing.verdict
    )
    assert standing(little).words.endswith("little guarantee over all releases of these people")
    assert "a person has paid" in little.verdict


def test_why_shares_are_farther_off_than_foreseen_is_said_where_it_is_known(study, found):
    def told(errors, table=study):
        marginals = found.synthetic.marginals.with_columns(share_error=pl.Series(errors))
        off = replace(found.synthetic, marginals=marginals, expected_share_error=0.1)
        subject = replace(found.target, original=table)
        return beyond_expected(replace(found, synthetic=off, target=subject))

    assert "those with few values" in told([0.05] * 5 + [0.9])
    assert "the model gets wrong" in told([0.3] * 6)
    absent = (pl.col("person") != "0") | (pl.col("task") == "read")
    assert "Not everybody has every task" in told(
        [0.3] * 6, replace(study, data=study.data.filter(absent))
    )
    assert told([0.14] * 6) == ""


def test_the_task_is_learned_from_made_up_people_and_tested_on_people(found):
    best = max(found.utility, key=lambda use: use.rate.rate)
    assert (best.target, best.protocol) == ("task", "synthetic→raw")
    assert best.rate.low > best.rate.chance
    assert best.raw.rate > 0.9


def test_a_public_attribute_is_learned_too(study):
    done = audit(study, release(study, **LAW, by="sex"))
    assert not done.refuted
    assert {use.target for use in done.utility} == {"task", "sex"}


def with_copies(study, table):
    rows = study.data.head(3).select("a", "b", "c")
    copied = table.data.with_columns(
        pl.concat([rows[name], table.data[name][3:]]).alias(name) for name in "abc"
    )
    return replace(table, data=copied)


def renamed(study, table):
    return replace(
        table,
        data=table.data.with_columns(person=pl.col("person").str.replace("synthetic", "p")),
        people=table.people.with_columns(person=pl.col("person").str.replace("synthetic", "p")),
    )


def with_an_attribute(study, table):
    return replace(table, people=table.people.with_columns(sex=pl.lit("f")))


def without_a_feature(study, table):
    return table.only("a", "b")


def without_a_task(study, table):
    return replace(table, data=table.data.filter(pl.col("task") == "read"))


def outside(study, table):
    return replace(table, data=table.data.with_columns(a=pl.col("a") + 2.0))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (renamed, "not the 90 synthetic participants"),
        (with_an_attribute, "not the 90 synthetic participants"),
        (without_a_feature, "2 features, and not the 3"),
        (without_a_task, "one recording of each task"),
        (outside, "outside their bounds"),
    ],
)
def test_people_who_are_not_what_the_certificate_says_disagree(study, made, change, text):
    subject = audit_target(study, changed(made, change(study, made.table)))
    assert any(text in sentence for sentence in subject.inconsistencies)


def test_people_who_are_not_made_up_are_refuted(study, made):
    done = audit(study, changed(made, with_copies(study, made.table)))
    assert "3 of 2160 synthetic rows are rows of people" in done.refuted[0]
    assert standing(done).name == "refuted"
    assert "Do not share" in done.verdict


def test_a_certificate_whose_mechanism_would_not_run_is_refuted(study, made):
    other = made.certificate.parameters | {"epsilon": 0.1, "error": 0.01}
    certificate = replace(made.certificate, parameters=other)
    subject = audit_target(study, replace(made, certificate=certificate))
    assert any("cannot be run on the original" in one for one in subject.inconsistencies)


@pytest.mark.parametrize("simulated", [False, True])
def test_the_page_of_an_audit_is_for_the_owner_and_draws_people(study, tmp_path, simulated):
    folder, out = tmp_path / "study", tmp_path / "out"
    write(replace(study, simulated=simulated).study(), folder)
    release(folder, out, **LAW, carry=2)
    done = audit(folder, out)
    assert done.target.left_out == 1
    page = (tmp_path / "out-audit" / "report.html").read_text(encoding="utf-8")
    for words in ("of people and synthetic", "in recordings of people and synthetic participants"):
        assert words in page
    assert ("Do not share it." in page) is not simulated
    assert "not to be shared" in page
    assert "not a guarantee" in page
    assert "1 feature was left out" in page
    # Without their lines, which only a caller in Python can ask for.
    bare = report(done)
    assert Rules(bare).broken == []
    for words in ("of people and synthetic", "in recordings of people and synthetic participants"):
        assert (words in bare) is simulated


def test_without_a_certificate_made_up_people_are_known_by_their_names(study, made):
    done = audit(study, made.table)
    assert done.synthetic.likeness is not None
    assert done.synthetic.membership is None
    assert "Nothing is promised" in done.verdict
    with pytest.raises(InputError, match="leave out attackers"):
        audit(study, made.table, attackers=["means"])


def test_the_command_prints_what_is_kept(eyelid, study, tmp_path):
    write(study.study(), tmp_path / "study")
    release(tmp_path / "study", tmp_path / "out", **LAW)
    words = ("audit", tmp_path / "study", tmp_path / "out", "--targets", "task", "--verbose")
    done = eyelid(*words)
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "correlation of two features" in told
    assert "with itself 1 row later" in told
    assert "Share the release alone" in told
    assert "control: hardly any noise" in told
    assert "The attacker knows all others' data" in told
    assert "That is no guarantee" in told
