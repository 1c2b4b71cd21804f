"""audit.json: what an audit found, for machines; and its rates as one table, one row a rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from eyelid.attacks.attributes import Inference
from eyelid.attacks.averaging import Averaged
from eyelid.attacks.conclusions import Conclusions
from eyelid.attacks.groups import GroupFindings
from eyelid.attacks.identification import Finding, strongest
from eyelid.attacks.means import MeanFindings
from eyelid.attacks.membership import Membership
from eyelid.attacks.one_run import OneRun
from eyelid.attacks.similarity import Likeness
from eyelid.attacks.statistics import Rate
from eyelid.attacks.synthetic import SyntheticFindings
from eyelid.attacks.utility import Use
from eyelid.version import build

if TYPE_CHECKING:
    from eyelid.reporting.audits.maps import MapsAudit
    from eyelid.reporting.audits.results import TableAudit
    from eyelid.reporting.audits.statistics import ResultsAudit
    from eyelid.reporting.audits.synthetic_gaze import SyntheticGazeAudit

SCHEMA = "eyelid/audit/1"
UNCOVERED = (
    "These figures were computed from the raw data without noise: no certificate covers them. "
    "Publish them only if you mean to."
)
_LONGEST_LIST = 20
_NUMBERS = ("rate", "low", "high", "chance", "bound", "raw_rate")
_COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("what", "of", "by"), pl.String),
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "refutes": pl.Boolean,
}
# Keys of audit.json, by the column that they go into.
_CALLED = {
    "of": ("task", "attribute", "of", "layer", "table", "protocol"),
    "by": ("attacker", "model"),
}
_RATES = {
    "rate": ("rate", "accuracy", "balanced_accuracy", "advantage", "correlation"),
    "raw_rate": ("raw_accuracy",),
}


def audit_json(audit: TableAudit) -> dict[str, Any]:
    """The audit as docs/audit.md describes it; of single people only where nothing was released."""
    canaries, streams, certificate = audit.canaries, audit.streams, audit.target.certificate
    asked = audit.means or audit.synthetic
    content: dict[str, Any] = _each(
        {
            "schema": SCHEMA,
            "subject": "original" if audit.target.released is None else "release",
            "people": audit.target.people,
            "simulated": audit.target.original.simulated,
            "partial": audit.partial,
            "release_sha256": None if certificate is None else certificate.output_sha256,
            "identification": [_finding(finding) for finding in audit.identification],
            "utility": [_use(use) for use in audit.utility],
            "conclusions": None
            if audit.conclusions is None
            else _each(_concluded(audit.conclusions), _coarse),
            "attributes": [_inference(inference) for inference in audit.attributes],
            # More digits would be a fingerprint of the raw data.
            "error": None if audit.error is None else _each(audit.error.to_dict(), _coarse),
            **_membership(audit.means),
            "groups": None if audit.groups is None else _groups(audit, audit.groups),
            "histograms": None if audit.histograms is None else asdict(audit.histograms),
            "made_up": None if audit.synthetic is None else _made_up(audit.synthetic),
            "controls": {
                "positive": _control(audit.positive),
                "null": _control(audit.null),
                **{
                    name.replace(" ", "_"): _control(
                        [f for f in audit.without_gaze if f.protocol == name]
                    )
                    for name in dict.fromkeys(f.protocol for f in audit.without_gaze)
                },
            }
            if asked is None
            else {
                "positive": _right(asked.positive),
                "null": _right(audit.means.null) if audit.means is not None else None,
            },
            "repeated": [_averaged(averaged) for averaged in audit.repeated],
            "pipeline": None
            if canaries is None
            else {
                "mechanism": canaries.mechanism,
                "unit": canaries.unit,
                "person": _one_run(canaries.person),
                "within": None if canaries.within is None else _one_run(canaries.within),
                "refuted": canaries.refuted,
            },
            "temporal": None if audit.temporal is None else audit.temporal.to_dict(),
            "streams": None if streams is None else streams.to_dict(),
            "people_at_risk": None if audit.people is None else audit.people.to_dicts(),
            "features_at_risk": None if audit.features is None else audit.features.to_dicts(),
            "refuted": audit.refuted,
            "verdict": audit.verdict,
            "notes": [*audit.not_tried, UNCOVERED],
            "seed": audit.seed,
            "version": build(),
        },
        _finite,
    )
    return content


def _concluded(found: Conclusions) -> dict[str, Any]:
    """Task means, contrasts and relations, from the release beside raw data and no data."""
    return {
        "means": {"count": found.means, "off_sd": found.means_off, "guess_off_sd": found.guess_off},
        "same_sign": found.same_sign,
        "within": found.within,
        "size": found.size,
        "contrasts": [asdict(one) | {"tasks": list(one.tasks)} for one in found.contrasts],
        "relations": None if found.relations is None else asdict(found.relations),
        "effects": None if found.effects is None else asdict(found.effects),
    }


def json_of_everybody(
    audit: MapsAudit | ResultsAudit | SyntheticGazeAudit,
    subject: str,
    attacks: Mapping[str, Any],
    utility: Sequence[Mapping[str, Any]],
    controls: Mapping[str, Any],
) -> dict[str, Any]:
    """The audit of what is released about everybody at once: it says nothing of single people.

    Args:
        audit: of maps or results.
        subject: what was released.
        attacks: what came of them.
        utility: what remains.
        controls: of the attacks.
    """
    certificate = audit.target.certificate
    return {
        "schema": SCHEMA,
        "subject": subject,
        "people": certificate.people,
        "release_sha256": certificate.output_sha256,
        "identification": [],
        "attributes": [],
        **attacks,
        "utility": [*utility],
        "error": None,
        "controls": {**controls},
        "refuted": audit.refuted,
        "verdict": audit.verdict,
        "notes": [*audit.not_tried, UNCOVERED],
        "seed": audit.seed,
        "version": build(),
    }


def membership_of_last(member: Membership) -> dict[str, Any]:
    """How well an attacker who knows everybody else tells who the last participant is."""
    return {
        "attacker": "likelihood ratio, knows everybody else",
        "decisions": member.decisions,
        "advantage": member.advantage.rate,
        "low": member.advantage.low,
        "high": member.advantage.high,
        "chance": 0.0,
        "bound": member.bound,
        "p_value": member.p_value,
        "refutes": member.refutes,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "protocol": finding.protocol,
        "attacker": finding.attacker,
        "rate": finding.rate.rate,
        **_limits(finding.rate),
        "bound": finding.bound,
        "refutes": finding.refutes,
        "p_value": finding.p_value,
        "by_vote": finding.votes,
        "equal_error_rate": finding.eer,
        "cmc": finding.cmc[:_LONGEST_LIST],
        "of_the_papers": not finding.honest,
    }


def _limits(rate: Rate) -> dict[str, Any]:
    return {"low": rate.low, "high": rate.high, "chance": rate.chance}


def _control(findings: Sequence[Finding]) -> dict[str, Any] | None:
    if not findings:
        return None
    finding = _finding(strongest(findings))
    return {key: finding[key] for key in ("rate", "low", "high", "chance", "attacker", "protocol")}


def _groups(audit: TableAudit, groups: GroupFindings) -> dict[str, Any]:
    """What was found about groups, besides re-identification."""
    return {
        "of_another_run": audit.target.groups is not None and audit.target.groups.fresh,
        "sizes": list(groups.sizes),
        "intersection": _rate(groups.intersection),
        "exact_intersection": _rate(groups.exact_intersection),
        "padding": _each(asdict(groups.padding), _coarse),
        "collusion": _each(asdict(groups.collusion), _coarse),
        "member": {
            "outsider_rmse_of_span": _coarse(groups.outsider_rmse_of_span),
            "member_rmse_of_span": _coarse(groups.member_rmse_of_span),
        },
        "linkage": None
        if groups.linkage is None
        else {"attacker": groups.linker, **_rate(groups.linkage)},
        "partitions": groups.partitions,
        "redrawn": [
            {
                "protocol": one.protocol,
                "attacker": one.attacker,
                **_rate(one.rate),
                "highest": one.highest,
            }
            for one in groups.redrawn
        ],
        "released_again": list(groups.released_again),
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {"rate": rate.rate, **_limits(rate)}


def _membership(means: MeanFindings | None) -> dict[str, Any]:
    """What was asked of means over people, in the place of naming them."""
    if means is None:
        return {"membership": None, "subtraction": None, "constant": None}
    member, left = means.membership, means.subtraction
    return {
        "membership": None
        if member is None
        else {"attacker": "likelihood ratio", "people_in_it": means.size, **_advantage(member)},
        "subtraction": None if left is None else _each(asdict(left), _coarse),
        "constant": {"rmse_of_span": _coarse(means.constant_rmse_of_span)},
    }


def _advantage(member: Membership) -> dict[str, Any]:
    """How well membership was inferred."""
    return {
        "decisions": member.decisions,
        "advantage": member.advantage.rate,
        **_limits(member.advantage),
        "true_positives": member.true_positives.rate,
        "false_positives": member.false_positives.rate,
        "auc": member.auc,
        "bound": member.bound,
        "p_value": member.p_value,
        "refutes": member.refutes,
    }


def _made_up(made_up: SyntheticFindings) -> dict[str, Any]:
    """How synthetic data compare with people's."""
    return {
        "rows": made_up.rows,
        "people": made_up.people,
        "copies": made_up.copies,
        "chance_copies": made_up.chance_copies,
        "nearest_of_span": _coarse(made_up.nearest_of_span),
        "people_apart_of_span": _coarse(made_up.people_apart_of_span),
        "wasserstein_of_span": _coarse(made_up.wasserstein),
        "uniform_of_span": _coarse(made_up.uniform),
        "share_error": _coarse(made_up.share_error),
        "share_size": _coarse(made_up.share_size),
        "median_share_error": _coarse(made_up.median_share_error),
        "expected_share_error": made_up.expected_share_error,
        "features": _each(made_up.features.to_dicts(), _coarse),
        "marginals": _each(made_up.marginals.to_dicts(), _coarse),
        "likeness": None if made_up.likeness is None else _likeness(made_up.likeness),
        "membership": None
        if made_up.membership is None
        else {
            "attacker": made_up.attacker,
            "attack": made_up.attack,
            "among": made_up.among,
            **_advantage(made_up.membership),
        },
        "not_tried": made_up.not_tried,
    }


def _likeness(like: Likeness) -> dict[str, Any]:
    """How features of synthetic participants go together, last and change, beside people's."""
    content: dict[str, Any] = _each(
        {
            "pair_difference": like.pair_difference,
            "pair_size": like.pair_size,
            "memory": [
                {"lag": lag, "people": real, "made_up": made, "difference": off}
                for lag, real, made, off in like.memories
            ],
            "memory_difference": like.memory_difference,
            "memory_size": like.memory_size,
            "trend_difference": like.trend_difference,
            "trend_size": like.trend_size,
            "rows": [
                {"task": task, "people": real, "made_up": made}
                for task, real, made in zip(like.tasks, *like.lengths.tolist(), strict=True)
            ],
            "length_distance": like.length_distance,
        },
        _coarse,
    )
    return content


def _right(member: Membership | None) -> dict[str, Any] | None:
    """How often a control was right about who is in it."""
    if member is None:
        return None
    return {
        "rate": member.right.rate,
        **_limits(member.right),
        "attacker": "likelihood ratio",
        "protocol": "membership",
    }


def _use(use: Use) -> dict[str, Any]:
    rate = use.raw if use.rate is None else use.rate
    return {
        "task": use.target,
        "model": use.model,
        "protocol": use.protocol,
        "accuracy": rate.rate,
        **_limits(rate),
        "raw_accuracy": use.raw.rate,
        "by_vote": use.raw_votes if use.rate is None else use.votes,
        "raw_by_vote": use.raw_votes,
    }


def _inference(inference: Inference) -> dict[str, Any]:
    return {
        "attribute": inference.attribute,
        "asks": inference.asks,
        "protocol": inference.protocol,
        "attacker": inference.attacker,
        "auc": inference.auc.rate,
        "auc_low": inference.auc.low,
        "auc_high": inference.auc.high,
        "balanced_accuracy": inference.balanced_accuracy.rate,
        **_limits(inference.balanced_accuracy),
        "p_value": inference.p_value,
        "bound": inference.bound,
    }


def _averaged(averaged: Averaged) -> dict[str, Any]:
    return {
        "releases": averaged.releases,
        "total": None if averaged.total is None else averaged.total.summary(),
        "attacker": averaged.finding.attacker,
        "rate": averaged.finding.rate.rate,
        **_limits(averaged.finding.rate),
        "bound": averaged.finding.bound,
    }


def _one_run(run: OneRun) -> dict[str, Any]:
    return asdict(run) | {"refuted": run.refuted, "could_refute": run.could_refute}


def _coarse(number: float) -> float:
    """Two digits."""
    return float(f"{number:.2g}")


def _finite(number: float) -> float | None:
    """A number that JSON has."""
    return number if math.isfinite(number) else None


def _each(value: Any, change: Callable[[float], float | None]) -> Any:
    """A value with every fraction changed."""
    if isinstance(value, dict):
        return {key: _each(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each(item, change) for item in value]
    return change(value) if isinstance(value, float) else value


def frame_of(content: Mapping[str, Any]) -> pl.DataFrame:
    """The rates of an audit as a table.

    Args:
        content: as audit.json has it.
    """
    return pl.DataFrame(list(_rate_rows(content)), schema=_COLUMNS)


def _rate_rows(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for what in ("identification", "attributes", "utility"):
        rows = (_row(what, entry) for entry in content.get(what) or ())
        yield from (row for row in rows if row["rate"] is not None)
    member = content.get("membership") or {}
    if "advantage" in member:
        yield _row("membership", member | {"of": "everybody"})
    for entry in content.get("maps") or ():
        if entry.get("membership"):
            yield _row("membership", entry["membership"] | {"of": entry["of"]})
    for name, entry in (content.get("controls") or {}).items():
        if entry:
            yield _row("control", entry | {"of": name})


def _row(what: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    row = {"what": what} | {name: entry.get(name) for name in (*_NUMBERS, "refutes")}
    for column, keys in (_CALLED | _RATES).items():
        row[column] = next((entry[key] for key in keys if entry.get(key) is not None), None)
    return row
