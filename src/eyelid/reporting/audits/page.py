"""The report of an audit: one HTML file that asks nothing of the network."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from eyelid.attacks.attributes import Inference
from eyelid.attacks.identification import Finding, bound_kind, strongest
from eyelid.attacks.protocols import POSITIVE, PROTOCOLS, SAME_RECORDINGS
from eyelid.attacks.similarity import task_of
from eyelid.attacks.statistics import Estimate, rate_of_decisions
from eyelid.attacks.streams.measures import MEASURES
from eyelid.attacks.target import folded
from eyelid.attacks.temporal.summary import OF_THE_DATA
from eyelid.attacks.utility import Use
from eyelid.mechanisms.certificate import NARROWEST_FORM
from eyelid.privacy.guarantee import large_delta
from eyelid.reporting import attack_pictures as pictures
from eyelid.reporting.attack_rates import (
    attack_rates,
    membership_rates,
    rates_of_game,
    strongest_by_protocol,
)
from eyelid.reporting.audits.audit_json import UNCOVERED
from eyelid.reporting.audits.conclusions import MOST_CONTRASTS, concluded_rows
from eyelid.reporting.audits.usefulness import useful, usefulness
from eyelid.reporting.audits.verdict import (
    ALLOWS_MUCH,
    best_learned,
    informative,
    named,
    printed_groups,
    printed_histograms,
    whole_of,
)
from eyelid.reporting.group_pictures import (
    MOST_GROUPS,
    GroupView,
    group_view,
    lines_picture,
    plane_picture,
)
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import SAYS_NOTHING, formal_only, limits, stated
from eyelid.reporting.synthetic_pictures import (
    lengths_picture,
    memory_picture,
    pairs_picture,
    shares_picture,
    signals_picture,
    trends_picture,
)
from eyelid.reporting.temporal_pictures import correlation_picture, leakage_picture
from eyelid.spelling import plural
from eyelid.version import build

if TYPE_CHECKING:
    from markupsafe import Markup

    from eyelid.attacks.target import TableTarget
    from eyelid.attacks.temporal.summary import TemporalSummary
    from eyelid.privacy.guarantee import Guarantee
    from eyelid.reporting.audits.results import TableAudit
    from eyelid.reporting.audits.story import Story

# Features that tell people apart by chance alone, over all of them together.
_FEATURES_ALPHA = 0.05
# The advantage that an attack must have where there is hardly any noise.
_TOLD_WITHOUT_NOISE = 0.5
_SAID = {protocol.name: protocol.says for protocol in (POSITIVE, *PROTOCOLS, SAME_RECORDINGS)}
# 1/NMSE of what is released next to exactly is no number to go by.
_LARGEST_UTILITY = 1e6
# Errors of shares so many times as large as expected, or as the median, ask for a reason.
_MUCH_MORE = 1.5
_ALLOWS_MUCH = "Certificate not contradicted, but the guarantee allows much"


@dataclass(frozen=True)
class Standing:
    """What the first glance at the page says.

    Attributes:
        name: the look.
        words: the headline.
    """

    name: str
    words: str


def standing(audit: TableAudit) -> Standing:
    """How good or bad the news is; no release is good in which nothing useful was found."""
    news = _standing_of_promise(audit)
    if news.name == "sound" and not useful(audit):
        return Standing("weak", "Certificate not contradicted, but nothing useful was found")
    return news


def _standing_of_promise(audit: TableAudit) -> Standing:
    target, certificate = audit.target, audit.target.certificate
    if audit.refuted:
        return Standing("refuted", "Refuted: the certificate of this release is not true")
    if audit.alarms:
        return Standing("doubtful", "These figures cannot be trusted: the null control failed")
    if target.released is None:
        if audit.recognises:
            return Standing("exposed", "People are re-identified from these data")
        return Standing("open", "Not released yet: no guarantee of any kind")
    if certificate is None:
        return Standing("none", "Nothing is promised about this release")
    promised = certificate.person_level
    if not promised.holds:
        return Standing("none", "This release carries no guarantee")
    if not promised.kind.differential:
        return _standing_without_epsilon(audit, promised)
    if audit.means is not None or audit.synthetic is not None:
        return _standing_of_aggregate(audit, promised)
    alone = target.bounds().get("raw_to_release")
    careless = (promised.delta or 0.0) * target.people >= 1
    if formal_only(promised) or careless or (alone is not None and alone > SAYS_NOTHING):
        return Standing("weak", "A guarantee in form only: it rules out almost nothing")
    in_all = _standing_in_all(target)
    if in_all is not None:
        return in_all
    if not audit.compared:
        return Standing("weak", "A guarantee, but no bound on re-identification")
    if alone is not None and alone > ALLOWS_MUCH:
        return Standing("weak", _ALLOWS_MUCH)
    if audit.partial or target.mechanism is None or target.total is None or not audit.could_refute:
        return Standing("weak", "Certificate not contradicted; not everything could be tested")
    return Standing("sound", "Certificate not contradicted by any attack")


def _standing_in_all(target: TableTarget) -> Standing | None:
    """What other releases of the same people leave of a promise; None where it stands."""
    if target.total is not None and not target.total.holds:
        return Standing(
            "weak", "Not contradicted, but no guarantee over all releases of these people"
        )
    if target.total is not None and formal_only(target.total):
        return Standing(
            "weak", "Not contradicted, but little guarantee over all releases of these people"
        )
    return None


def _standing_without_epsilon(audit: TableAudit, promised: Guarantee) -> Standing:
    """Where it stands: what is promised of one release alone, and is not differential privacy."""
    kind, releases = promised.kind.spoken, audit.target.releases
    kind = kind[0].upper() + kind[1:] if kind[1] != "-" else kind
    if releases is not None and releases > 1:
        return Standing("weak", f"{kind} of one release, and these people are in {releases}")
    unknown = audit.target.groups is not None and audit.target.groups.fresh
    if audit.partial or releases is None or unknown:
        return Standing("weak", f"{kind}: not contradicted; not everything could be tested")
    return Standing("weak", f"{kind} as promised, which is not differential privacy")


def _standing_of_aggregate(audit: TableAudit, promised: Guarantee) -> Standing:
    """Standing of means over people and synthetic data: membership is what can be inferred."""
    target, asked = audit.target, audit.means or audit.synthetic
    member = asked.membership if asked else None
    careless = (promised.delta or 0.0) * target.people >= 1
    if formal_only(promised) or careless:
        return Standing("weak", "A guarantee in form only: it rules out almost nothing")
    in_all = _standing_in_all(target)
    if in_all is not None:
        return in_all
    if member is not None and (member.bound or 0.0) > ALLOWS_MUCH:
        return Standing("weak", _ALLOWS_MUCH)
    if member is None or target.total is None:
        return Standing("weak", "Certificate not contradicted; not everything could be tested")
    clear = None if audit.synthetic is None else audit.synthetic.positive
    if clear is not None and clear.advantage.low < _TOLD_WITHOUT_NOISE:
        return Standing(
            "weak", "Not contradicted, by an attack that finds little without noise either"
        )
    return Standing("sound", "Certificate not contradicted by any attack")


def report(audit: TableAudit, story: Story | None = None, own: bool = False) -> str:
    """The audit as a page, which is made of raw data and belongs into no release.

    Args:
        audit: what was found.
        story: everything else that the demo did.
        own: whether people's own lines are drawn beside the means of their groups, or beside
            synthetic participants; those of simulated participants always are.
    """
    target = audit.target
    released, certificate = target.released is not None, target.certificate
    raw = strongest(audit.positive) if audit.positive else None
    null = strongest(audit.null) if audit.null else None
    worst = audit.worst if released else None
    by_protocol = strongest_by_protocol(audit.identification)
    own = own or target.original.simulated
    view = _group_view(audit, own)
    return rendered(
        "report.html.j2",
        audit=audit,
        story=story,
        standing=standing(audit),
        about=_about(audit),
        people=target.people,
        known="halves" if audit.positive and audit.across == "halves" else "recordings",
        raw=raw,
        null=null,
        worst=worst,
        use=usefulness(audit) if worst else None,
        worst_bound=bound_kind(worst.protocol) if worst else None,
        named=named,
        whole=whole_of,
        alone=target.bounds().get("raw_to_release"),
        together=target.bounds().get("release_to_raw"),
        informative=audit.means is not None and informative(audit.means),
        says_nothing=SAYS_NOTHING,
        allows_much=ALLOWS_MUCH,
        telling=_telling(audit),
        telling_attributes=telling_attributes(audit),
        total=_total(target) if certificate else "",
        by_protocol=by_protocol,
        unfair=[finding for finding in by_protocol if not finding.honest],
        control_rows=_control_rows(audit),
        every_attack=_every_attack(audit),
        says=_SAID,
        limits=limits,
        one_in_all=rate_of_decisions(np.eye(target.people)[0], 1 / target.people),
        own=own,
        fresh=target.groups is not None and target.groups.fresh,
        useful=_LARGEST_UTILITY,
        notes=audit.not_tried,
        of_the_data=OF_THE_DATA,
        shown_uses=_shown_uses(audit),
        learned=best_learned(audit.utility),
        concluded=[] if audit.conclusions is None else concluded_rows(audit.conclusions),
        most_contrasts=MOST_CONTRASTS,
        left_out=target.left_out,
        beyond=beyond_expected(audit),
        uses_of_papers=any(use.protocol.startswith("paper") for use in audit.utility),
        stream_rows=_stream_rows(audit),
        symbols={"epsilon": "ε", "mu": "μ"},
        commands=_commands(audit, story),
        software=_software(),
        uncovered=UNCOVERED,
        version=build(),
        view=view,
        most_groups=MOST_GROUPS,
        stated=stated,
        printed=printed_groups(audit.groups) if audit.groups and not target.grouped else "",
        printed_rows=printed_histograms(audit.histograms) if audit.histograms else "",
        pictures=_drawn(audit, story)
        | ({} if view is None else _drawn_groups(view))
        | _drawn_people(audit, own),
    )


def _group_view(audit: TableAudit, own: bool) -> GroupView | None:
    """What there is to see of released groups."""
    released = audit.target.released
    if released is None or audit.groups is None or not audit.target.grouped:
        return None
    means, _ = folded(released, drawn=True)
    return None if means is None else group_view(audit.target.original, means, own)


def _about(audit: TableAudit) -> str:
    target = audit.target
    made_up = "simulated " if target.original.simulated else ""
    whose = plural(target.people, f"{made_up}person", f"{made_up}people")
    if target.released is None:
        return f"audit of the data of {whose}, before any release: for their owner’s eyes"
    how = f" by {target.certificate.mechanism}" if target.certificate else ""
    if audit.means is not None:
        features = plural(len(target.original.features), "feature")
        return f"audit of means over {whose}{how}: {features}"
    if audit.synthetic is not None:
        many = audit.synthetic.people
        if many is None:
            return (
                f"audit of {plural(audit.synthetic.rows, 'synthetic row')} drawn from {whose}{how}"
            )
        participants = plural(many, "synthetic participant")
        return f"audit of {participants}{how}, drawn from {whose}"
    if audit.groups is not None and target.grouped:
        groups = plural(len(audit.groups.sizes), "group")
        features = plural(len(target.original.features), "feature")
        return f"audit of a release{how}: {groups} of {whose}, {features}"
    return f"audit of a release{how}: {whose}, {plural(len(target.original.features), 'feature')}"


def telling_attributes(audit: TableAudit) -> list[Inference]:
    """The surest answer to every question about an attribute, from the release before raw data."""
    surest: dict[tuple[bool, str, str], Inference] = {}
    for found in audit.attributes:
        key = (found.protocol != "raw→release", found.attribute, found.asks)
        known = surest.get(key, found)
        surest[key] = min(known, found, key=lambda one: (one.p_value, -one.auc.rate))
    return [found for _, found in sorted(surest.items(), key=lambda item: item[0][0])]


def _telling(audit: TableAudit) -> int | None:
    """How many features tell people apart for certain."""
    if audit.features is None:
        return None
    return int((audit.features["p_adjusted"] < _FEATURES_ALPHA).sum())


def _total(target: TableTarget) -> str:
    """What all releases so far come to, also where they do not add up."""
    promised, releases = target.promised, target.releases
    if promised is None or not promised.holds or promised.kind.differential or releases is None:
        return total_sentence(target.total, target.people)
    if releases < 2:
        return "No other release of these people was counted until this audit."
    return (
        f"{releases} releases of these people were counted until this audit, and "
        f"{promised.kind.spoken} is promised of one alone: together they can undo it."
    )


def total_sentence(total: Guarantee | None, people: int) -> str:
    """What all releases of so many people come to, as far as the ledger knows."""
    if total is None:
        return "What other releases of these people cost is not known here."
    if not total.holds:
        return f"Over all releases counted until this audit no bound holds: {total.reasons[0]}."
    sentence = (
        f"Over all releases counted until this audit one person has paid {total.numbers()}, for "
        f"data {NARROWEST_FORM}."
    )
    warning = large_delta(total.delta, people)
    return f"{sentence} Not protected is {warning}." if warning else sentence


def _control_rows(audit: TableAudit) -> list[tuple[str, str, Finding]]:
    """Name, meaning and strongest attack of the controls that the protocols do not show yet."""
    if not audit.null:
        return []
    alike = "the same, but everybody’s data are alike"
    rows = [("people all alike", alike, strongest(audit.null))]
    if audit.target.released is not None:
        rows.insert(0, ("raw data", POSITIVE.says, strongest(audit.positive)))
    no_gaze = "the same, by what no filter hides"
    rows += [(one.protocol, no_gaze, one) for one in strongest_by_protocol(audit.without_gaze)]
    return rows


def _every_attack(audit: TableAudit) -> list[tuple[str, Finding]]:
    """All attacks; on an original the positive control is the attack."""
    positive = audit.positive if audit.target.released is not None else ()
    return [
        *(("", finding) for finding in audit.identification),
        *(("control: ", finding) for finding in positive),
        *(("all alike: ", finding) for finding in audit.null),
    ]


def _shown_uses(audit: TableAudit) -> list[Use]:
    """Uses under the first protocol, which is about people whom nobody has seen."""
    return [use for use in audit.utility if use.protocol == audit.utility[0].protocol]


def _stream_rows(audit: TableAudit) -> list[tuple[str, str, bool, Estimate | None]]:
    """Words, unit, whether it is a share, and figure of everything measured about gaze."""
    if audit.streams is None:
        return []
    units = audit.streams.units
    return [
        (MEASURES[name].says, MEASURES[name].unit.format(units=units), MEASURES[name].share, found)
        for name, found in audit.streams.measures.items()
    ]


def _commands(audit: TableAudit, story: Story | None) -> list[str]:
    """What to type to see the same again; folders have no names here."""
    if story is not None:
        return ["eyelid demo --fast" if story.fast else "eyelid demo"]
    released = audit.target.released is not None
    places = "ORIGINAL RELEASED" if released else "ORIGINAL --report risk.html"
    chosen = {"--targets": list(audit.targets)}
    if audit.partial:
        # No choice means everything again.
        tried = [*audit.positive, *audit.identification]
        found = {finding.protocol for finding in tried}
        chosen["--attackers"] = list(dict.fromkeys(finding.attacker for finding in tried))
        chosen["--protocols"] = [p.name.replace("→", "->") for p in PROTOCOLS if p.name in found]
    options = [f"{key} {shlex.quote(','.join(names))}" for key, names in chosen.items() if names]
    lines = [f"eyelid audit {places} --seed {audit.seed}", *options]
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def _software() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn"))
    return f"Python {platform.python_version()}, {packages}"


def _drawn(audit: TableAudit, story: Story | None) -> dict[str, Markup | None]:
    """The pictures that there is something to draw for."""
    drawn: dict[str, Markup | None] = {}
    found, raw = audit.identification, audit.positive
    of_release = audit.target.released is not None
    if audit.attacks:
        drawn["attacks"] = attack_rates(
            found, audit.attacks, raw, audit.null, audit.target.people, of_release=of_release
        ).picture()
    if found:
        drawn["cmc"] = pictures.cmc_picture(found, raw, of_release=of_release)
    if audit.means is not None and audit.means.membership is not None:
        drawn["membership"] = membership_rates(audit.means).picture()
    if audit.synthetic is not None:
        drawn["made_up"] = pictures.made_up_picture(audit.synthetic, audit.target.original)
        if audit.synthetic.membership is not None:
            drawn["membership"] = rates_of_game(
                audit.synthetic.membership, audit.synthetic.positive, audit.synthetic.attacker
            ).picture()
    if audit.utility:
        drawn["utility"] = pictures.utility_picture(_shown_uses(audit))
    if audit.repeated:
        drawn["averaging"] = pictures.averaging_picture(audit.repeated)
    if audit.features is not None:
        drawn["features"] = pictures.features_picture(audit.features, 1 / audit.target.people)
    if audit.temporal is not None:
        drawn |= _drawn_over_time(audit.temporal, audit.target)
    if story is not None:
        drawn |= {
            "gaze": pictures.gaze_picture(story.study),
            "plane": pictures.plane_picture(
                [(one.name, one.unit, one.identified, one.document) for one in story.attempts]
            ),
            "games": pictures.games_picture(story.verification.games),
        }
    return drawn


def _drawn_groups(view: GroupView) -> dict[str, Markup | None]:
    """Groups beside people, over time and in the plane of two features."""
    plane = plane_picture(view) if len(view.features) > 1 else None
    return {"group_lines": lines_picture(view), "group_plane": plane}


def beyond_expected(audit: TableAudit) -> str:
    """Where to look if shares are much farther off than noise and drawing make them."""
    made_up, original = audit.synthetic, audit.target.original
    expected = None if made_up is None else made_up.expected_share_error
    if made_up is None or expected is None or made_up.share_error <= _MUCH_MORE * expected:
        return ""
    if made_up.share_error > _MUCH_MORE * made_up.median_share_error:
        return (
            "A few features count for much of what is beyond that. Look at those with few values: "
            "synthetic values are spread over a whole bin."
        )
    each = original.recordings.select("person", task=task_of(original.recordings)).unique()
    if each.group_by("task").len()["len"].min() != each["person"].n_unique():
        return (
            "Not everybody has every task, which was not foreseen: the noise on the shares of a "
            "task grows by the number of all people over that of those who have it."
        )
    return "Only noise and drawing were foreseen: what the model gets wrong comes on top of it."


def _drawn_people(audit: TableAudit, own: bool) -> dict[str, Markup | None]:
    """Synthetic participants; beside them people, where the page is for their owner."""
    made_up, target = audit.synthetic, audit.target
    if made_up is None or made_up.likeness is None or target.released is None:
        return {}
    original, released, like = target.original, target.released, made_up.likeness
    drawn: dict[str, Markup | None] = {
        "shares": shares_picture(made_up),
        "signals": signals_picture(original, released, own),
    }
    if own:
        drawn |= {
            "pairs": pairs_picture(like),
            "memory": memory_picture(like, original.step_ms),
            "trends": trends_picture(like),
            "lengths": lengths_picture(original, released, like),
        }
    return drawn


def _drawn_over_time(temporal: TemporalSummary, target: TableTarget) -> dict[str, Markup | None]:
    """Correlation as exactly as it can be drawn is no thing to hand on with a release."""
    own = target.released is None or target.original.simulated
    step_ms = target.original.step_ms
    return {
        "correlation": correlation_picture(temporal.correlations, step_ms=step_ms) if own else None,
        "leakage": leakage_picture(temporal),
    }
