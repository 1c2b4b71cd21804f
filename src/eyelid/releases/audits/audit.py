"""The audit: attack a study or a release with everything there is, and say what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard, cast, overload

from eyelid.attacks.attackers import Attacker, find_attackers
from eyelid.attacks.attackers.fusion import NAME as FUSED
from eyelid.attacks.attackers.likelihood import NAME as LIKELIHOOD
from eyelid.attacks.protocols import PROTOCOLS, find_protocol
from eyelid.attacks.target import AuditTarget
from eyelid.engine.atomic import check_file
from eyelid.engine.engines import using
from eyelid.errors import InputError
from eyelid.gaze.frames import refuse_frame
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.io.release_folder import states_heatmap, states_results
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.releases.audits.attack import AuditPlan
from eyelid.releases.audits.folder import audit_places
from eyelid.releases.audits.kinds import ATTACKS
from eyelid.releases.audits.map_target import map_target
from eyelid.releases.audits.pairing import Source, audit_target
from eyelid.releases.audits.statistics import statistics_target
from eyelid.reporting.audits.maps import MapsAudit
from eyelid.reporting.audits.results import Audit, TableAudit
from eyelid.reporting.audits.statistics import ResultsAudit
from eyelid.reporting.release import Release

# Attackers that are no `Attacker`: they know other things than records.
_SPECIAL = (LIKELIHOOD, FUSED)
# A page may replace a page, and nothing else.
PAGES = (".html", ".htm")


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
    if _has_maps(released):
        if attackers or protocols or targets or min_seconds is not None:
            raise InputError(
                "a heatmap re-identifies nobody and is good for looking at: leave out attackers, "
                "protocols, targets and min_seconds"
            )
        if isinstance(original, FeatureTable):
            raise InputError("a heatmap is made of gaze, and the original is a table of features")
        with using(engine):
            return audit_heatmap(
                original,
                released,
                report=report,
                map=map,
                ledger=ledger,
                seed=seed,
                people=people,
            )
    if _has_results(released):
        if attackers or protocols or targets or min_seconds is not None:
            raise InputError(
                "results re-identify nobody: leave out attackers, protocols, targets and "
                "min_seconds"
            )
        folder = released.path if isinstance(released, Release) else released
        if folder is None:
            raise InputError(
                "results are audited in their folder: release them into one, release(…, out='…')"
            )
        with using(engine):
            return audit_results(
                original,
                folder,
                report=report,
                map=map,
                ledger=ledger,
                seed=seed,
                people=people,
            )
    return audit_tables(
        original,
        released,
        report=report,
        attackers=attackers,
        protocols=protocols,
        targets=targets,
        map=map,
        ledger=ledger,
        seed=seed,
        engine=engine,
        people=people,
        min_seconds=min_seconds,
    )


def audit_tables(
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
) -> TableAudit:
    """Attack data, or a release of features or gaze; the arguments are those of `audit`."""
    page = _checked(report, seed, ledger)
    wanted = [attackers] if isinstance(attackers, str) else list(attackers or ())
    names = [name for name in wanted if isinstance(name, str)]
    plan = AuditPlan(
        [attacker for attacker in wanted if not isinstance(attacker, str)]
        + find_attackers([name for name in names if name not in _SPECIAL], besides=_SPECIAL),
        [name for name in _SPECIAL if name in names or not wanted],
        [find_protocol(name) for name in protocols] if protocols else PROTOCOLS,
        tuple(targets or ()),
        seed,
        partial=bool(wanted or protocols),
    )
    with using(engine):
        pair = audit_target(
            original, released, map=map, ledger=ledger, people=people, min_seconds=min_seconds
        )
        return cast(TableAudit, _attacked(pair, plan, page))


def audit_heatmap(
    original: Study | Path | str,
    released: Path | str | Release,
    *,
    report: Path | str | None = None,
    map: Map = None,
    ledger: Path | str | None = None,
    seed: int = 0,
    people: Whom = None,
) -> MapsAudit:
    """Attack a heatmap that `eyelid heatmap` released, and compare it with the one without noise.

    Args:
        original: what it was made of: a study of samples or fixations, or recordings.
        released: the heatmap, or its folder; ``audit.json`` and ``report.html`` are written into
            ``NAME-audit`` beside it, for the owner alone.
        report: a HTML file for the page, instead of that one; not in a study or a release.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        ledger: the file that counted the release, if it is not the original's own.
        seed: of the attackers' random choices.
        people: whom of the original it is about, as for the heatmap.
    """
    page = _checked(report, seed, ledger)
    target = map_target(original, released, map=map, ledger=ledger, people=people)
    return cast(MapsAudit, _attacked(target, AuditPlan(seed=seed), page))


def audit_results(
    original: Source,
    released: Path | str,
    *,
    report: Path | str | None = None,
    map: Map = None,
    ledger: Path | str | None = None,
    seed: int = 0,
    people: Whom = None,
) -> ResultsAudit:
    """Attack results that `eyelid summary` released, and compare them with those without noise.

    Args:
        original: what they were made of.
        released: their folder; ``audit.json`` and ``report.html`` are written into ``NAME-audit``
            beside it, for the owner alone.
        report: a HTML file for the page, instead of that one; not in a study or a release.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        ledger: the file that counted the release, if it is not the original's own.
        seed: of the attackers' random choices.
        people: whom of the original it is about, as for the results.
    """
    page = _checked(report, seed, ledger)
    target = statistics_target(original, released, map=map, ledger=ledger, people=people)
    return cast(ResultsAudit, _attacked(target, AuditPlan(seed=seed), page))


def _has_results(released: Source | Release | None) -> TypeGuard[Path | str | Release]:
    """Whether something is released results of a study."""
    if isinstance(released, Release):
        return released.certificate.described.kind is ReleaseKind.STATISTICS
    return isinstance(released, str | Path) and states_results(released)


def _has_maps(released: Source | Release | None) -> TypeGuard[Path | str | Release]:
    """Whether something is a released heatmap, or tables of areas."""
    if isinstance(released, Release):
        return released.certificate.described.kind in (ReleaseKind.MAPS, ReleaseKind.TABLES)
    return isinstance(released, str | Path) and states_heatmap(released)


def _attacked(target: AuditTarget, plan: AuditPlan, page: Path | None) -> Audit:
    """Attack a pair in the way of its kind, and write what was found."""
    places = audit_places(target.shared, page)
    attack = ATTACKS[target.kind or ReleaseKind.RECORDS]
    done = attack.audit(target, plan)
    written = places.write(done.to_json(), attack.page(done)) if places.some else ()
    return replace(done, written=written, unwritten=places.unwritten)


def _checked(report: Path | str | None, seed: int, ledger: Path | str | None) -> Path | None:
    """The file for the page, if one was asked for; refused with what else cannot be."""
    page = Path(report) if report is not None else None
    if page is not None:
        check_file(page, PAGES)
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    if ledger is not None and not Path(ledger).exists():
        raise InputError(f"there is no ledger at {ledger}")
    return page
