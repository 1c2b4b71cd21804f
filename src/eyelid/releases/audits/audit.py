"""The audit: attack a study or a release with everything there is, and say what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from eyelid.attacks.attackers import Attacker, find_attackers
from eyelid.attacks.attackers.fusion import NAME as FUSED
from eyelid.attacks.attackers.likelihood import NAME as LIKELIHOOD
from eyelid.attacks.protocols import PROTOCOLS, find_protocol
from eyelid.attacks.samples.evidence import SAMPLE_ATTACKERS
from eyelid.attacks.target import AuditTarget
from eyelid.engine.atomic import check_file
from eyelid.engine.engines import using
from eyelid.errors import InputError
from eyelid.gaze.sources import refuse_frame
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.io.release_folder import states_heatmap, states_results, states_synthetic_gaze
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.releases.audits.attack import AuditPlan
from eyelid.releases.audits.folder import audit_places
from eyelid.releases.audits.kinds import ATTACKS
from eyelid.releases.audits.map_target import map_target
from eyelid.releases.audits.pairing import Source, audit_target
from eyelid.releases.audits.statistics import statistics_target
from eyelid.releases.audits.synthetic_gaze import synthetic_gaze_target
from eyelid.reporting.audits.results import Audit, TableAudit
from eyelid.reporting.release import Release

# Attackers that are no `Attacker`: they know other things than records.
_SPECIAL = (LIKELIHOOD, FUSED, *SAMPLE_ATTACKERS)
# A page may replace a page, and nothing else.
PAGES = (".html", ".htm")
# How the pair of a release without individual records is made, and why it has none to re-identify.
_MAPS = (map_target, "a heatmap re-identifies nobody and is good for looking at")
OF_EVERYBODY: dict[ReleaseKind, tuple[Callable[..., AuditTarget], str]] = {
    ReleaseKind.MAPS: _MAPS,
    ReleaseKind.TABLES: _MAPS,
    ReleaseKind.STATISTICS: (statistics_target, "results re-identify nobody"),
    ReleaseKind.SYNTHETIC_GAZE: (
        synthetic_gaze_target,
        "synthetic recordings have no participant's own record",
    ),
}


@overload
def audit(
    original: Source,
    released: None = None,
    *,
    report: Path | str | None = None,
    attackers: str | Sequence[str | Attacker] | None = None,
    protocols: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    map: Map = None,
    ledger: Path | str | None = None,
    seed: int = 0,
    engine: str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> TableAudit: ...
@overload
def audit(
    original: Source,
    released: Source | Release,
    *,
    report: Path | str | None = None,
    attackers: str | Sequence[str | Attacker] | None = None,
    protocols: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    map: Map = None,
    ledger: Path | str | None = None,
    seed: int = 0,
    engine: str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> Audit: ...
def audit(
    original: Source,
    released: Source | Release | None = None,
    *,
    report: Path | str | None = None,
    attackers: str | Sequence[str | Attacker] | None = None,
    protocols: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    map: Map = None,
    ledger: Path | str | None = None,
    seed: int = 0,
    engine: str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> Audit:
    """How identifiable is this now, or what was released of it?

    Releases of every kind are attacked in the way of their kind: features, gaze, and heatmaps.

    What is found of a released folder is written into ``NAME-audit`` beside it, ``audit.json`` and
    ``report.html``: made of raw data, for the owner alone. Nothing is written into a release.

    Args:
        original: a study folder, recordings, a study or a feature table.
        released: what was released of it: a release, or its folder. Without one, the original
            itself is attacked.
        report: a HTML file for the page, instead of that in ``NAME-audit``; not in a study or a
            release.
        attackers: by name, or your own; a strong choice by default.
        protocols: by name; all by default.
        targets: what the data should still be good for: ``task``, an attribute or a label column.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        ledger: the file that counted the release, if it is not the original's own.
        seed: of the attackers' random choices.
        engine: who works: ``local``, ``dask`` or ``dask:ADDRESS``; it makes no difference to what
            is found.
        people: whom of the original it is about, as for `eyelid.release`: for a release of some,
            the same as there.
        min_seconds: what a recording has to last, as for `eyelid.release`.

    >>> import eyelid
    >>> study = eyelid.simulate(people=4, minutes=1.5, seed=1)
    >>> found = audit(study, attackers=["means"])
    >>> found.identification[0].protocol, round(found.identification[0].rate.chance, 2)
    ('raw→raw', 0.25)
    """
    for given in (original, released):
        refuse_frame(given, "audit")
    page = _checked(report, seed, ledger)
    plan = _plan(attackers, protocols, targets, seed)
    pair: AuditTarget
    with using(engine):
        if released is None or (kind := _of_everybody(released)) is None:
            pair = audit_target(
                original, released, map=map, ledger=ledger, people=people, min_seconds=min_seconds
            )
        else:
            target_of, nobody = OF_EVERYBODY[kind]
            if attackers or protocols or targets or min_seconds is not None:
                raise InputError(
                    f"{nobody}: leave out `attackers`, `protocols`, `targets` and `min_seconds`"
                )
            pair = target_of(original, released, map=map, ledger=ledger, people=people)
        return _attacked(pair, plan, page)


def _plan(
    attackers: str | Sequence[str | Attacker] | None,
    protocols: Sequence[str] | None,
    targets: Sequence[str] | None,
    seed: int,
) -> AuditPlan:
    """What was asked for, with attackers and protocols instead of their names."""
    wanted = [attackers] if isinstance(attackers, str) else list(attackers or ())
    names = [name for name in wanted if isinstance(name, str)]
    return AuditPlan(
        [attacker for attacker in wanted if not isinstance(attacker, str)]
        + find_attackers([name for name in names if name not in _SPECIAL], besides=_SPECIAL),
        [name for name in _SPECIAL if name in names or not wanted],
        [find_protocol(name) for name in protocols] if protocols else PROTOCOLS,
        tuple(targets or ()),
        seed,
        partial=bool(wanted or protocols),
    )


def _of_everybody(released: Source | Release) -> ReleaseKind | None:
    """Maps or statistics, which have no individual records; None for every other kind."""
    if isinstance(released, Release):
        kind = released.certificate.described.kind
        return kind if kind in OF_EVERYBODY else None
    if not isinstance(released, str | Path):
        return None
    stated = {
        ReleaseKind.MAPS: states_heatmap,
        ReleaseKind.STATISTICS: states_results,
        ReleaseKind.SYNTHETIC_GAZE: states_synthetic_gaze,
    }
    return next((kind for kind, states in stated.items() if states(released)), None)


def _attacked(target: AuditTarget, plan: AuditPlan, page: Path | None) -> Audit:
    """Attack a pair in the way of its kind, and write what was found."""
    places = audit_places(target.shared, page)
    attack = ATTACKS[target.kind or ReleaseKind.RECORDS]
    done = attack.audit(target, plan)
    written = places.write(done.to_json(), attack.page(done)) if places.some else ()
    return replace(done, written=written, unwritten=places.unwritten)


def check_page(page: Path) -> None:
    """Fail unless a page could be put there; one that is called a PDF could not be read."""
    if page.suffix and page.suffix.lower() not in PAGES:
        raise InputError(f"a report is a page of HTML: name a file that ends in .html, got {page}")
    check_file(page, PAGES)


def _checked(report: Path | str | None, seed: int, ledger: Path | str | None) -> Path | None:
    """The file for the page, if one was asked for; refused with what else cannot be."""
    page = Path(report) if report is not None else None
    if page is not None:
        check_page(page)
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}: choose 0 or more")
    if ledger is not None and not Path(ledger).exists():
        raise InputError(f"there is no ledger at {ledger}")
    return page
