import re
from functools import partial

import pytest
from markupsafe import escape

from eyelid.attacks.utility import utility
from eyelid.gaze.simulator import simulate
from eyelid.io import read
from eyelid.io.release_folder import RELEASED_FILES
from eyelid.releases.audits.audit import audit
from eyelid.releases.demo import _RELEASES, demo
from eyelid.verification.verify import verify


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        # What `audit` and `verify` find has tests of its own; here it is enough that it is told.
        patch.setattr("eyelid.releases.demo._RELEASES", _RELEASES[::2])
        quick = partial(audit, attackers=["means", "lda"])
        patch.setattr("eyelid.releases.demo.audit", quick)
        patch.setattr("eyelid.releases.audits.records.utility", partial(utility, models=["knn"]))
        patch.setattr("eyelid.releases.demo._VERIFIED", ("gaussian",))
        patch.setattr("eyelid.releases.demo.verify", lambda names, runs: verify(names, runs=2_000))
        # Half as long as a person who asks for a fast one gets.
        shorter = lambda **asked: simulate(**asked | {"minutes": 1.5})  # noqa: E731
        patch.setattr("eyelid.releases.demo.simulate", shorter)
        for check in ("check_samplers", "faulty_samplers"):
            patch.setattr(f"eyelid.verification.verify.{check}", lambda *words: [])
        return demo(out, fast=True), out


def test_the_story_ends_in_a_page_that_asks_nothing_of_the_network(story):
    page = (story[1] / "report.html").read_text()
    addresses = set(re.findall(r"https?://[^\"'\s<>]+", page))
    # Names of XML dialects, which nobody fetches.
    assert all(address.startswith("http://www.w3.org/") for address in addresses)
    for way_out in ("<script", "<link", "<img", "@import", "url(http", "<iframe"):
        assert way_out not in page


def test_the_raw_data_give_people_away_and_a_person_level_release_does_not(story):
    raw, strong, *_ = story[0].attempts
    assert raw.identified.rate > 0.5
    assert strong.identified.low <= strong.identified.chance == 1 / 8
    assert strong.identified.rate < raw.identified.rate


def test_the_page_states_the_numbers_it_measured(story):
    page = (story[1] / "report.html").read_text()
    assert escape(story[0].audit.verdict) in page
    for attempt in story[0].attempts:
        assert attempt.person_level in page
        assert f"{100 * attempt.identified.rate:.0f}%" in page
    assert "Nobody real is in this report" in page


def test_everything_the_demo_made_can_be_used_again(story):
    assert read(story[1] / "features").origin.ledger == story[1] / "study.ledger"
    assert len(story[0].spent.debits) == 3
    assert len(list((story[1] / "releases").iterdir())) == 3


def test_what_lies_among_the_demo_s_releases_is_releases_alone(story):
    releases = list((story[1] / "releases").iterdir())
    assert all({p.name for p in one.iterdir()} == set(RELEASED_FILES) for one in releases)
    (audited,) = story[1].glob("*-audit")
    assert {p.name for p in audited.iterdir()} == {"audit.json", "report.html", "README.md"}
    notice = (story[1] / "README.md").read_text()
    assert all(name in notice for name in ("releases/NAME", audited.name, "study.ledger"))
