"""The whole story on simulated participants: data, risks, releases, attacks, a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.identification import identify, strongest
from eyelid.attacks.protocols import POSITIVE, Material, find_protocol
from eyelid.attacks.utility import utility
from eyelid.engine.atomic import new_folder
from eyelid.engine.progress import track
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io.study_folder import write
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.folder import NOTICE, AuditPlaces
from eyelid.releases.budget import budget
from eyelid.releases.release import release
from eyelid.reporting.audits.results import TableAudit
from eyelid.reporting.audits.story import Attempt, Story
from eyelid.reporting.release import Release
from eyelid.verification.verify import verify

# Mechanism, ε, unit: from the strongest promise to the weakest.
_RELEASES = (
    ("gaussian", 1.0, "person"),
    ("laplace", 1.0, "person"),
    ("gaussian", 1.0, "recording"),
    ("gaussian", 16.0, "record"),
    ("gaussian", 64.0, "record"),
    ("laplace", 256.0, "record"),
)
_VERIFIED = ("gaussian", "laplace")
# One that judges windows, two that average noise away.
_ATTACKERS = ("lda", "means", "whitened")
_TASKS = ("comic", "newspaper", "textbook")
_STUDY_SEED = 1
_PEOPLE = 20
_FAST_PEOPLE = 8
_NOTICE = """# The demo of eyelid

Everybody in here is simulated. With real participants only one of these would leave your hands:

| what | share it? |
|---|---|
| `releases/NAME` | **yes**, the one folder you chose, with its certificate and data card |
| `report.html`, `{audited}` | no: made of raw data, for the owner of the data |
| `study`, `features` | no: raw data |
| `study.ledger` | no: it knows who took part; keep it and back it up |
"""


def demo(out: Path, fast: bool = False, tell: Callable[[str], None] = lambda _: None) -> Story:
    """Make the study, release it in several ways, attack each, and write the report.

    Args:
        out: a new folder for everything.
        fast: fewer people and fewer runs of the games.
        tell: hears what is going on.
    """
    from eyelid.reporting.audits.page import report

    with new_folder(out) as folder:
        tell("Simulating people who read …")
        people = _FAST_PEOPLE if fast else _PEOPLE
        made = simulate(people=people, tasks=_TASKS, seed=_STUDY_SEED, minutes=3 if fast else 5)
        study = write(made, folder / "study")
        tell("Summarising their gaze in windows …")
        table = window_features(study)
        write(table.study(), folder / "features")
        attempts = [_attempt("raw features, as people publish them today", table, None)]
        audited: TableAudit | None = None
        for mechanism, epsilon, unit in track(_RELEASES, "releasing and attacking"):
            name = f"{mechanism}, {unit}, ε = {epsilon:g}"
            tell(f"Releasing and attacking: {name} …")
            place = folder / "releases" / f"{mechanism}-{unit}-{epsilon:g}"
            done = release(
                folder / "features", place, mechanism=mechanism, epsilon=epsilon, unit=unit
            )
            attempts.append(_attempt(name, table, done))
            if audited is None:
                # Before the others, which raise what these people have paid.
                tell("Auditing this one, which promises most …")
                unwritten = replace(done, held=done.table, path=None)
                audited = cast(TableAudit, audit(folder / "features", unwritten))
                # Not beside it: everything in this folder is to be shared.
                beside = AuditPlaces(folder / f"{place.name}-audit")
                beside.write(audited.to_json(), report(audited))
                notice = _NOTICE.format(audited=f"{place.name}-audit")
                (folder / NOTICE).write_text(notice, encoding="utf-8")
        assert audited is not None
        tell("Trying to refute the mechanisms' claims …")
        story = Story(
            study=study,
            attempts=tuple(attempts),
            audit=audited,
            # The whole catalogue takes minutes: 'eyelid verify --all'.
            verification=verify(_VERIFIED, runs=20_000 if fast else 50_000),
            spent=budget(folder / "study"),
            fast=fast,
        )
        (folder / "report.html").write_text(report(audited, story), encoding="utf-8")
    return story


def _attempt(name: str, raw: FeatureTable, done: Release | None) -> Attempt:
    material = Material(raw, done.table if done else None)
    protocol = POSITIVE if done is None else find_protocol("raw→release")
    use = utility(material, ["task"], models=["forest"])[0]
    certificate = done.certificate if done else None
    bound = None
    if certificate is not None:
        # The report speaks of this release alone; the certificate's bound is for all so far.
        bound = rank1_bounds(certificate.person_level, certificate.people)["raw_to_release"]
    return Attempt(
        name=name,
        unit=str(certificate.guarantee.unit) if certificate else "",
        person_level=certificate.person_level.numbers() if certificate else "no guarantee",
        bound=bound,
        identified=strongest(identify(material, find_attackers(_ATTACKERS), [protocol])).rate,
        document=use.raw if use.rate is None else use.rate,
        certificate=certificate,
    )
