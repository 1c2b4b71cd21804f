"""The page that an ethics board reads."""

from __future__ import annotations

import html
import math
import re
import shlex
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers.means import Means
from eyelid.attacks.attributes import Inference
from eyelid.attacks.averaging import Averaged
from eyelid.attacks.error import error_of
from eyelid.attacks.identification import identify, null_control, strongest, with_bounds
from eyelid.attacks.one_run import CanaryResult, OneRun
from eyelid.attacks.protocols import POSITIVE
from eyelid.attacks.risk import features_at_risk, people_at_risk
from eyelid.attacks.statistics import rate_of_decisions
from eyelid.attacks.streams import stream_measures
from eyelid.attacks.temporal import release_summary, temporal_summary
from eyelid.attacks.temporal.summary import OF_THE_DATA
from eyelid.attacks.utility import Use
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms import mechanism_named
from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.audits import audit as audits
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.release import release
from eyelid.reporting.audits.audit_json import UNCOVERED
from eyelid.reporting.audits.page import report as drawn
from eyelid.reporting.audits.page import standing
from eyelid.reporting.audits.results import OriginalAudit, RecordsAudit, TableAudit
from eyelid.reporting.audits.verdict import whole_of
from eyelid.reporting.sentences import coarse, number, promise

# Of the same audit the same page, which takes long to draw.
report = cache(drawn)

HOSTILE = "<script>alert('x')</script>$\\frac{"


def _rate(right: int, people: int = 6, chance: float = 1 / 6):
    return rate_of_decisions((np.arange(people) < right).astype(float), chance)


def _audit(table: FeatureTable, released=None, **more) -> TableAudit:
    """A small audit with something in every part."""
    subject = audit_target(table, released)
    material = subject.material(0)
    positive = identify(material, [Means()], [POSITIVE])
    null = null_control(material, [Means()])
    use = Use("task", "forest", "leave-one-person-out", None, _rate(5, 6, 1 / 3), None, 0.9)
    found = {
        "target": subject,
        "positive": tuple(positive),
        "null": tuple(null),
        "utility": (use,),
        "attributes": (Inference("gender", "f or m", "raw→raw", "knn", _rate(5), _rate(4), 0.012),),
        "not_inferred": ("hand was not inferred: all are right-handed",),
        "seed": 3,
    }
    if released is None:
        found |= {
            "identification": tuple(positive),
            "people": people_at_risk(positive, material.people),
            "features": features_at_risk(table),
        }
        return OriginalAudit(**found | more)
    findings = with_bounds(identify(material, [Means()]), subject.bounds())
    run = OneRun("epsilon", 1.0, 0.7, 6.0, 1000, 1000, 700, 0.9)
    found |= {
        "identification": tuple(findings),
        "utility": (replace(use, rate=_rate(2, 6, 1 / 3), votes=0.3),),
        "error": error_of(material.original, material.released),
        "repeated": (Averaged(1, None, findings[0]), Averaged(4, None, findings[0])),
        "canaries": CanaryResult("laplace", "person", run, None, holds=True),
    }
    return RecordsAudit(**found | more)


@pytest.fixture(scope="module")
def simulated_table(simulated_table) -> FeatureTable:
    """A few of its features, which are as good to tell about as all."""
    return replace(simulated_table, features=simulated_table.features[:8])


@pytest.fixture(scope="module")
def sound(simulated_table) -> TableAudit:
    made = release(simulated_table, mechanism="laplace", epsilon=1.0, unit="person")
    return _audit(simulated_table, made)


@pytest.fixture(scope="module")
def original(simulated_table) -> TableAudit:
    return _audit(simulated_table)


def test_signals_that_were_released_exactly_are_counted_beside_the_utility(sound):
    assert "Released exactly" not in _Page(report(sound)).text
    exact = replace(sound, error=replace(sound.error, signals_without_error=7))
    assert "not in the utility: 7 signals" in _Page(report(exact)).text


def _refuted(audit: TableAudit) -> TableAudit:
    first, *others = audit.identification
    broken = replace(first, rate=_rate(6), shares=np.ones(6), bound=0.36, p_value=1e-9)
    assert broken.refutes
    return replace(audit, identification=(broken, *others))


class _Page(HTMLParser):
    """What a browser would make of it: text, tags, and whether they match."""

    VOID = ("meta", "br", "img", "link")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.unmatched: list[str] = []
        self.text = ""
        self.feed(page)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.text += " "
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        self.text += " "
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def _alone(page: str) -> None:
    """It asks nothing of the network and runs nothing."""
    parsed = _Page(page)
    assert not parsed.unmatched
    assert not parsed.open
    assert {tag for tag, _ in parsed.tags}.isdisjoint(
        {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    )
    for tag, attributes in parsed.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{tag} runs something"
            if name in ("src", "href", "xlink:href", "srcset", "data", "action"):
                assert (value or "").startswith("#"), f"{tag} fetches {value}"
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    addresses = re.findall(r"https?://[^\"'\s<>]+", page)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_a_page_stands_alone_and_is_small(sound, original):
    for audit in (sound, original, _refuted(sound)):
        page = report(audit)
        _alone(page)
        assert len(page.encode()) < 1_500_000


def test_a_page_can_be_read_by_everybody(sound, original):
    for audit in (sound, original):
        page = _Page(report(audit))
        assert ("html", {"lang": "en"}) in page.tags
        assert [tag for tag, _ in page.tags].count("h1") == 1
        assert "title" in {tag for tag, _ in page.tags}
        pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
        assert len(pictures) >= 3
        for picture in pictures:
            assert picture["role"] == "img"
            assert len(picture["aria-label"]) > 20
        ids = [
            attributes["id"] for tag, attributes in page.tags if tag == "g" and "id" in attributes
        ]
        assert not ids


def test_the_verdict_the_promise_and_the_two_numbers_come_first(sound):
    text = _Page(report(sound)).text
    first = text[: text.index("The certificate Mechanism")]
    raw, worst = sound.positive[0], max(sound.honest, key=lambda f: f.rate.rate)
    assert sound.verdict in first
    certificate = sound.target.certificate
    assert promise(certificate.person_level, form=certificate.form) in first
    assert f"{whole_of(raw.rate)} participants are re-identified from raw data" in first
    assert f"{100 * raw.rate.rate:.0f}%, 95% limits" in first
    assert f"{whole_of(worst.rate)} are re-identified from the release" in first
    assert f"≤ {rounded_up(100 * worst.bound, 3)}%" in first
    assert f"guessing {100 / 6:.0f}%" in first


def test_every_attack_stands_in_the_table_with_its_bound(sound):
    text = _Page(report(sound)).text
    for finding in sound.identification:
        bound = "no bound" if finding.bound is None else f"≤ {rounded_up(100 * finding.bound, 3)}%"
        split = r"( \(within-release split, not comparable\))?"
        row = rf"{finding.protocol}{split}\s*means\s*{100 * finding.rate.rate:.0f}%"
        assert re.search(rf"{row}\s*\S+%\s*{bound}", text), finding.protocol


def test_a_bound_is_never_printed_smaller_than_it_is(sound):
    tight = tuple(replace(f, bound=0.123401) for f in sound.identification)
    text = _Page(report(replace(sound, identification=tight))).text
    assert "≤ 12.4%" in text
    assert "≤ 12.3%" not in text


def test_what_papers_do_is_marked_as_no_fair_test(sound):
    page = report(sound)
    assert "within-release split" in page
    assert "paper-halves (within-release split, not comparable)" in _Page(page).text


def test_a_refuted_certificate_looks_and_reads_different(sound):
    before, after = report(sound), report(_refuted(sound))
    assert 'class="verdict refuted"' not in before
    assert 'class="verdict refuted"' in after
    assert "Refuted: the certificate of this release is not true" in after
    assert "CONTRADICTS THE CERTIFICATE" in after
    assert "the audit found it false" in _Page(after).text
    for page in (before, _Page(before).text):
        assert "REFUTES" not in page


@pytest.mark.usefixtures("plain_pictures")
def test_what_made_up_people_refute_is_seen_at_once(sound):
    run = replace(sound.canaries.person, lower_bound=3.0, p_value=1e-9)
    page = report(replace(sound, canaries=replace(sound.canaries, person=run)))
    assert 'class="verdict refuted"' in page
    assert "tried on simulated participants: REFUTED" in page


def test_without_a_certificate_nothing_is_promised(simulated_table, sound):
    audit = _audit(simulated_table, sound.target.released, canaries=None)
    page = report(audit)
    assert standing(audit).name == "none"
    assert "Nothing is promised about this release" in page
    assert "certificate.json" not in _Page(page).text.replace(audit.target.notes[-1], "")


def test_a_seeded_release_carries_no_guarantee(simulated_table):
    made = release(simulated_table, mechanism="laplace", epsilon=1.0, unit="person", seed=1)
    assert standing(_audit(simulated_table, made)).name == "none"


def test_a_guarantee_that_rules_out_nothing_is_not_shown_as_one_that_holds(simulated_table):
    made = release(simulated_table, mechanism="laplace", epsilon=256.0, unit="record")
    audit = _audit(simulated_table, made)
    assert standing(audit).name == "weak"
    text = _Page(report(audit)).text
    assert "almost anything" in text
    assert "Allowed by the certificate: ≤" not in text


@pytest.mark.usefixtures("plain_pictures")
def test_a_null_control_that_fails_takes_all_trust_away(sound):
    alike = tuple(replace(f, rate=_rate(6), shares=np.ones(6)) for f in sound.null)
    audit = replace(sound, null=alike)
    assert standing(audit).name == "doubtful"
    assert "The null control fails" in report(audit)


@pytest.mark.usefixtures("plain_pictures")
def test_a_positive_control_that_fails_is_said(sound):
    blind = tuple(replace(f, rate=_rate(1)) for f in sound.positive)
    assert "The positive control fails" in report(replace(sound, positive=blind))


def test_attackers_who_know_more_people_than_others_stand_in_one_picture(sound):
    """A person with places but no window ended the report of an audit of gaze."""
    fewer = tuple(replace(f, cmc=f.cmc[1:]) for f in sound.positive)
    assert "length of the attacker" in report(replace(sound, positive=fewer))


def test_an_original_names_people_at_risk_and_a_release_nobody(sound, original):
    about_original, about_release = _Page(report(original)).text, _Page(report(sound)).text
    people = original.people["person"].to_list()
    assert all(name in about_original for name in people)
    assert "for the owner’s eyes" in about_original
    assert not any(re.search(rf"\b{name}\b", about_release) for name in people)
    assert "People and features at risk" not in about_release
    assert original.features["name"][0] in about_original


def test_names_of_others_are_text_and_nothing_else(simulated_table):
    first, *rest = simulated_table.features
    hostile = Feature(HOSTILE, HOSTILE, "", first.lower, first.upper)
    data = simulated_table.data.rename({first.name: HOSTILE}).with_columns(
        person=pl.lit(HOSTILE) + pl.col("person"), task=pl.lit(HOSTILE) + pl.col("task")
    )
    people = simulated_table.people.with_columns(person=pl.lit(HOSTILE) + pl.col("person"))
    table = replace(simulated_table, data=data, people=people, features=(hostile, *rest))
    use = Use(HOSTILE, HOSTILE, HOSTILE, None, _rate(5), None, 0.9)
    audit = _audit(table, utility=(use,), not_inferred=(HOSTILE,))
    named = tuple(replace(f, attacker=HOSTILE) for f in audit.positive)
    audit = replace(audit, identification=named, positive=named)
    page = report(audit)
    _alone(page)
    # People, features, attackers and uses, in tables and in pictures.
    assert page.count("&lt;script&gt;") > 6 + 2 + 4
    assert HOSTILE in _Page(page).text
    drawn = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert any("&lt;script&gt;" in picture for picture in drawn)

    made = release(table, mechanism="laplace", epsilon=1.0, unit="person")
    _alone(report(_audit(table, made)))


def test_letters_that_matplotlib_lacks_are_left_to_the_browser(original):
    uses = (replace(original.utility[0], target="読書"),)
    assert "読書" in report(replace(original, utility=uses))


def test_how_to_see_the_same_again_names_no_place(sound, original, tmp_path):
    text = _Page(report(replace(sound, target=replace(sound.target, path=tmp_path)))).text
    assert "eyelid audit ORIGINAL RELEASED --seed 3" in text
    assert "--attackers" not in text
    assert str(tmp_path) not in text
    assert "eyelid audit ORIGINAL --report risk.html --seed 3" in _Page(report(original)).text


@pytest.mark.usefixtures("plain_pictures")
def test_whoever_chose_attackers_is_told_all_that_were_heard(sound):
    said = report(replace(sound, partial=True, targets=("task",)))
    command = html.unescape(said.split('<pre class="command">')[1].split("</pre>")[0])
    attackers = {f.attacker for f in (*sound.positive, *sound.identification)}
    line = next(line for line in command.splitlines() if "--attackers" in line)
    assert set(shlex.split(line.rstrip(" \\"))[1].split(",")) == attackers
    assert "'raw->release,release->raw,release->release,white-box,paper-halves'" in command
    lines = command.splitlines()
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert not lines[-1].endswith("\\")


@pytest.mark.usefixtures("plain_pictures")
def test_the_first_screen_says_what_the_allowed_figure_is(sound):
    worst = strongest(sound.honest)
    above = replace(worst, bound=worst.rate.rate / 2, p_value=0.4)
    # Nothing else is as strong.
    audit = replace(sound, identification=(above,))
    text = _Page(report(audit)).text
    assert "The bound is an average over the noise" in text
    many = f"{number(worst.rate.rate * worst.rate.people)} of {worst.rate.people} people"
    assert f"{many} is within chance of it" in text
    allowed = math.ceil(worst.rate.rate / 2 * worst.rate.people)
    assert f"would allow at most {allowed} on average over the noise" in audit.verdict
    assert "Corrected for 1 attempt, none contradicts the guarantee (smallest p = 0.4)" in (
        audit.verdict
    )
    assert "Those who download the release have all records" in text


def test_errors_on_the_page_have_two_digits(sound):
    text = _Page(report(sound)).text
    assert coarse(sound.error.rmse_of_span) + " times its feature’s range" in text
    assert f"NMSE: {coarse(sound.error.nmse)}" in text


def test_what_no_certificate_covers_is_said(sound, original):
    for audit in (sound, original):
        text = _Page(report(audit)).text
        assert UNCOVERED in text
        assert audit.not_inferred[0] in text
        certificate = audit.target.certificate
        assert all(item in text for item in (certificate.unprotected if certificate else ()))


def test_released_gaze_is_compared_with_an_eye(sound, simulated):
    streams = stream_measures(simulated, simulated)
    text = _Page(report(replace(sound, streams=streams))).text
    assert "Does it still look like an eye?" in text
    low = streams.measures["aoi_agreement"].low
    assert f"samples in the same area of interest 100% {100 * low:.0f}% to 100%" in text
    assert "Does it still look like an eye?" not in _Page(report(sound)).text


def test_details_are_open_on_paper(sound):
    page = report(sound)
    printed = page[page.index("@media print") :]
    assert "details::details-content" in printed
    assert "background: #fff" in printed


def test_how_rows_go_together_is_drawn_for_the_owner(simulated_table):
    temporal = temporal_summary(simulated_table)
    page = report(_audit(simulated_table, temporal=temporal))
    assert "<h2>Correlation over time</h2>" in page
    assert "raw signals, mean over features" in page
    assert "leaks at most" not in page
    assert OF_THE_DATA in page


def test_what_a_release_lets_out_over_time_is_told_from_public_facts(simulated_table):
    made = release(simulated_table, mechanism="laplace", epsilon=1.0)
    mechanism = mechanism_named("laplace", epsilon=1.0)
    temporal = release_summary(simulated_table, mechanism, mechanism.facts(simulated_table))
    page = report(_audit(simulated_table, made, temporal=temporal))
    assert "What a recording tells about one row" in page
    assert f"up to ε = {rounded_up(temporal.worst, 3)}" in page
    assert "lower no noise" in page
    assert "which no certificate covers" in page
    # Synthetic participants may be drawn exactly, real ones may not where a release is handed on.
    assert "raw signals, mean over features" in page
    real = replace(simulated_table, simulated=False)
    page = report(_audit(real, made, temporal=temporal))
    assert "raw signals, mean over features" not in page
    assert "The curves themselves are on the page of the original" in page


def test_a_gaussian_release_states_what_a_belief_tells(simulated_table):
    made = release(simulated_table, mechanism="gaussian", epsilon=1.0)
    mechanism = mechanism_named("gaussian", epsilon=1.0)
    temporal = release_summary(simulated_table, mechanism, mechanism.facts(simulated_table))
    page = report(_audit(simulated_table, made, temporal=temporal))
    assert f"ε′ = {rounded_up(temporal.belief.epsilon_dependent, 3)}" in page
    assert "leaks at most" not in page


@pytest.mark.usefixtures("quick_audits", "no_pictures")
def test_too_little_to_correlate_is_said_in_one_sentence(make_table):
    found = audits.audit(make_table(people=4, rows=5), attackers=["means"])
    assert found.temporal is None
    why = (
        "correlation over time was not looked at: no task has 3 recordings of more than 5 rows: "
        "correlations across people need them"
    )
    page = report(found)
    assert why in page
    assert "<h2>Correlation over time</h2>" not in page
    assert found.to_dict()["temporal"] is None
    assert why in found.to_dict()["notes"]


@pytest.mark.usefixtures("quick_audits", "no_pictures")
def test_an_audit_looks_at_time(simulated_table):
    made = release(simulated_table, mechanism="cfpa", epsilon=1.0, unit="chunk")
    found = audits.audit(simulated_table, made, attackers=["means"]).to_dict()["temporal"]
    assert found["leakage"]["step"] == "chunk of 32 rows"
    # One for each feature of a chunk.
    assert found["leakage"]["epsilon"] == pytest.approx(len(simulated_table.names))
    assert len(found["correlation"]) == 3
