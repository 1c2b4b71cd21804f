"""No green page for a release that shows nothing; the verdict says what was tested."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.reporting.test_rendering import Rules

from eyelid.attacks.attackers.means import Means
from eyelid.attacks.error import error_of
from eyelid.attacks.identification import ALPHA, identify, null_control, with_bounds
from eyelid.attacks.protocols import POSITIVE
from eyelid.attacks.statistics import above, rate_of_decisions
from eyelid.attacks.utility import Use
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.release import release
from eyelid.reporting.audits.page import report, standing
from eyelid.reporting.audits.results import RecordsAudit
from eyelid.reporting.audits.usefulness import useful, usefulness


def use_of(right, raw=6, people=6, **more):
    shares = (np.arange(people) < right).astype(float)
    rate = rate_of_decisions(shares, 1 / 3)
    raw_rate = rate_of_decisions((np.arange(people) < raw).astype(float), 1 / 3)
    asked = {"target": "task", "model": "forest", "protocol": "leave-one-person-out"} | more
    return Use(**asked, rate=rate, raw=raw_rate, shares=tuple(shares))


@pytest.fixture(scope="module")
def noisy(simulated_table):
    """An audit of a release that is noise alone, as good as."""
    table = replace(simulated_table, features=simulated_table.features[:8])
    made = release(table, mechanism="laplace", epsilon=0.01, unit="person")
    subject = audit_target(table, made)
    material = subject.material(0)
    found = with_bounds(identify(material, [Means()]), subject.bounds())
    return RecordsAudit(
        target=subject,
        identification=tuple(found),
        positive=tuple(identify(material, [Means()], [POSITIVE])),
        null=tuple(null_control(material, [Means()])),
        error=error_of(material.original, material.released),
    )


@pytest.fixture
def promising(monkeypatch):
    """The guarantee alone would get a green page."""
    from eyelid.reporting.audits import page

    green = page.Standing("sound", "Certificate not contradicted")
    monkeypatch.setattr(page, "_standing_of_promise", lambda audit: green)


def test_pure_noise_gets_no_green_page(noisy, promising):
    assert standing(noisy).name == "weak"
    assert "nothing useful" in standing(noisy).words
    text = report(noisy)
    assert 'class="card number use weak"' in text
    assert "no use was found" in text


def test_the_page_keeps_the_rules_of_accessibility(noisy):
    found = Rules(report(replace(noisy, utility=(use_of(2),))))
    assert found.tables > 3
    assert found.broken == []


def test_a_task_that_is_guessed_is_no_use_and_one_recognised_is(noisy, promising):
    guessed = replace(noisy, utility=(use_of(2),))
    assert usefulness(guessed).figure.replace("\xa0", " ").startswith("33")
    assert "guessing 33" in usefulness(guessed).beside
    assert standing(guessed).name == "weak"
    known = replace(noisy, utility=(use_of(6),))
    assert usefulness(known).found
    assert standing(known).name == "sound"


def test_more_models_do_not_make_luck_a_use(noisy):
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(60):
        lucky = tuple(
            use_of(int(rng.binomial(20, 1 / 3)), raw=20, people=20, model=f"m{n}")
            for n in range(12)
        )
        alarms += useful(replace(noisy, utility=lucky))
    # 5% are expected at most; 9 of 60 or more have a chance below 1 in 250.
    assert alarms < 9


def test_protocols_of_papers_and_what_raw_data_do_not_tell_are_no_use(noisy):
    uses = (use_of(6, protocol="paper-lopo"), use_of(6, raw=2, target="glasses"))
    assert not useful(replace(noisy, utility=uses))


def test_without_anything_to_recognise_the_error_decides(noisy):
    assert not usefulness(noisy).found
    exact = replace(noisy, error=replace(noisy.error, rmse_of_span=1e-3))
    assert usefulness(exact).found


def test_means_count_as_useful_by_their_own_measure(noisy):
    error = SimpleNamespace(rmse_of_span=0.3)
    means = SimpleNamespace(error=error, constant_rmse_of_span=0.1)
    assert not useful(SimpleNamespace(means=means, synthetic=None))


def test_the_verdict_says_the_p_value_that_decides(noisy):
    asked = noisy.compared
    smallest = min(one.p_value for one in asked)
    assert f"Corrected for {len(asked)} attempts, none contradicts" in noisy.verdict
    assert f"(smallest p = {smallest:.3g})" in noisy.verdict


def test_a_lucky_attack_is_corrected_for_all_that_were_tried(noisy):
    bound, people = 0.07, 20
    shares = (np.arange(people) < 4).astype(float)
    first = noisy.identification[0]
    lucky = replace(first, rate=rate_of_decisions(shares, 1 / people), shares=shares)
    plain = replace(lucky, shares=np.zeros(people), rate=rate_of_decisions(np.zeros(people), 0.05))
    tried = with_bounds([lucky, *[plain] * 32], {"raw_to_release": bound})
    assert tried[0].p_value == pytest.approx(min(1.0, 2 * 33 * above(shares, bound)))
    assert not tried[0].refutes
    audit = replace(noisy, identification=tuple(tried))
    assert "The strongest of 33 attacks re-identified 4 of 20 participants" in audit.verdict
    assert "Corrected for 33 attempts, none contradicts the guarantee" in audit.verdict
    assert tried[0].p_value > ALPHA
