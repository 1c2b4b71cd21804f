"""The pictures of an audit's report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eyelid.attacks.identification import Finding, strongest
from eyelid.attacks.statistics import Rate
from eyelid.attacks.utility import Use
from eyelid.gaze.study import Study
from eyelid.reporting.attack_rates import QUARTERS, mark, percents, places, strongest_by_protocol
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, in_words, svg
from eyelid.reporting.rendering import bound
from eyelid.reporting.sentences import percent
from eyelid.verification.game import GameResult

if TYPE_CHECKING:
    import polars as pl
    from markupsafe import Markup
    from matplotlib.axes import Axes

    from eyelid.attacks.averaging import Averaged
    from eyelid.attacks.synthetic import SyntheticFindings
    from eyelid.gaze.table import FeatureTable

_FIRST_NAMES = 5
_MOST_FEATURES, _MOST_MADE_UP = 15, 12
_GAZE_S = 20


def made_up_picture(found: SyntheticFindings, original: FeatureTable) -> Markup | None:
    """Distance of synthetic values from participants' distribution, beside even values'.

    None where no feature has values of both.
    """
    if found.features.is_empty():
        return None
    far = found.features.sort("wasserstein", descending=True).head(_MOST_MADE_UP)
    words = {feature.name: in_words(feature) for feature in original.features}
    names = [words[name] for name in far["name"]]
    off, even = far["wasserstein"].to_list(), far["uniform"].to_list()

    def draw(axis: Axes) -> None:
        for place, one, other in zip(places(names), off, even, strict=True):
            axis.plot([one, other], [place] * 2, color=GREY, lw=0.8, zorder=0)
        axis.plot(off, places(names), "o", color=BLUE, markersize=6)
        axis.plot(even, places(names), "D", color=GREY, markerfacecolor="white", markersize=5)
        axis.set_yticks(places(names), names)
        axis.tick_params(axis="y", length=0, labelsize=SMALL)
        axis.set_ylim(-0.6, len(names) - 0.4)
        axis.set_xlim(0, 1.05 * max(*off, *even))
        axis.set_xlabel("distance (share of the range): ● synthetic, ◇ even")

    alt = (
        "Distance from the distribution of participants' values, as shares of the range: "
        + "; ".join(
            f"{name} {one:.2g}, even values {other:.2g}"
            for name, one, other in zip(names, off, even, strict=True)
        )
    )
    return svg(draw, alt, 0.3 * len(names) + 0.75)


def cmc_picture(findings: Sequence[Finding], raw: Sequence[Finding], *, of_release: bool) -> Markup:
    """How far down a list of suspects one must go until the right person has been met.

    Args:
        findings: of attackers under protocols.
        raw: of attackers who have raw data, for comparison.
        of_release: whether a release was attacked, or the raw data alone.
    """
    attacks = [f for f in strongest_by_protocol(findings) if f.honest]
    lines: list[tuple[str, Finding, str, Any]] = [("raw data", strongest(raw), ORANGE, "-")]
    if of_release:
        dashes = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
        lines += [
            (found.protocol, found, BLUE, dashes[number % len(dashes)])
            for number, found in enumerate(attacks)
        ]

    def draw(axis: Axes) -> None:
        from eyelid.plotting import MaxNLocator

        # Who has too little gaze for windows may still have places to be named by.
        people = max(len(found.cmc) for _, found, _, _ in lines)
        places = np.arange(1, people + 1)
        axis.plot(places, places / people, color=INK, lw=0.9, ls=":", label="guessing")
        for label, found, colour, dash in lines:
            own = places[: len(found.cmc)]
            axis.plot(own, found.cmc, color=colour, ls=dash, lw=1.5, label=label)
        axis.set(xlim=(1, people), ylim=(0, 1.03))
        axis.set_yticks(*QUARTERS)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_xlabel("length of the attacker's list")
        axis.set_ylabel("the right one is among them")
        axis.legend(frameon=False, fontsize=SMALL, loc="lower right")

    alt = "Share of recordings whose owner is among the first five names: " + "; ".join(
        f"{label} {percent(found.cmc[:_FIRST_NAMES][-1])}" for label, found, _, _ in lines
    )
    return svg(draw, alt, 3.3)


def utility_picture(uses: Sequence[Use]) -> Markup:
    """What is recognised by a model learned from the release, from raw data, and by guessing."""
    released = any(use.rate is not None for use in uses)
    sources = [("learned from raw data", ORANGE), ("learned from the release", BLUE)]

    def draw(axis: Axes) -> None:
        for place, use in zip(places(uses), uses, strict=True):
            for rate, (_, colour), up in zip(
                (use.raw, use.rate), sources, (0.16, -0.16), strict=True
            ):
                if rate is not None:
                    axis.plot([rate.low, rate.high], [place + up] * 2, color=colour, lw=1.2)
                    axis.plot([rate.rate], [place + up], "o", color=colour, markersize=5.5)
            axis.plot([use.raw.chance] * 2, [place - 0.45, place + 0.45], color=INK, lw=1.2, ls=":")
        axis.set_yticks(places(uses), [f"{use.target}, {use.model}" for use in uses])
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(-0.7, len(uses) - 0.3)
        percents(axis)
        axis.set_xlabel("recognised (bars: 95% limits over people)")
        for number, (words, colour) in enumerate(sources[: 1 + released]):
            axis.annotate(
                f"● {words}",
                (0.52 * number, 1.0),
                xycoords="axes fraction",
                xytext=(0, 3),
                textcoords="offset points",
                fontsize=SMALL,
                color=colour,
            )

    alt = "Recognised by models: " + "; ".join(
        f"{use.target} by {use.model}: raw {percent(use.raw.rate)}"
        + ("" if use.rate is None else f", release {percent(use.rate.rate)}")
        + f", guessing {percent(use.raw.chance)}"
        for use in uses
    )
    return svg(draw, alt, 0.36 * len(uses) + 0.85)


def averaging_picture(repeated: Sequence[Averaged]) -> Markup:
    """What several releases of the same people give away together."""

    def draw(axis: Axes) -> None:
        places = np.arange(len(repeated))
        rates = [one.finding.rate for one in repeated]
        for place, rate in zip(places, rates, strict=True):
            axis.plot([place] * 2, [rate.low, rate.high], color=BLUE, lw=1.2)
        axis.plot(places, [r.rate for r in rates], "o-", color=BLUE, lw=1.2, label="measured")
        bounds = [one.finding.bound for one in repeated]
        allowed = [math.nan if limit is None else limit for limit in bounds]
        if not all(map(math.isnan, allowed)):
            axis.plot(places, allowed, "_-", color=GREEN, lw=1.6, markersize=14, label="allowed")
        axis.axhline(rates[0].chance, color=INK, lw=0.9, ls=":", label="guessing")
        axis.set_xticks(places, [str(one.releases) for one in repeated])
        axis.set_ylim(0, 1.03)
        axis.set_yticks(*QUARTERS)
        axis.set_xlabel("releases averaged")
        axis.set_ylabel("people re-identified")
        axis.legend(frameon=False, fontsize=SMALL)

    alt = "People re-identified when releases are averaged: " + "; ".join(
        f"{one.releases}: {percent(one.finding.rate.rate)}, allowed {bound(one.finding.bound)}"
        for one in repeated
    )
    return svg(draw, alt, 2.9)


def features_picture(features: pl.DataFrame, chance: float) -> Markup:
    """The features that tell people apart best, each on its own."""
    top = features.drop_nulls("rank1").sort("rank1", descending=True).head(_MOST_FEATURES)
    names, rates = top["name"].to_list(), top["rank1"].to_list()

    def draw(axis: Axes) -> None:
        axis.barh(places(names), rates, color=ORANGE, height=0.6)
        mark(axis, chance, "guessing")
        axis.set_yticks(places(names), names)
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(-0.6, len(names) - 0.4)
        axis.set_xlim(0, max(0.5, *rates) if rates else 1)
        axis.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        axis.set_xlabel("people re-identified by this feature alone")

    alt = "People re-identified by one feature alone: " + "; ".join(
        f"{name} {percent(rate)}" for name, rate in zip(names, rates, strict=True)
    )
    return svg(draw, alt, 0.21 * len(names) + 0.75)


def gaze_picture(study: Study) -> Markup:
    """The gaze of the first two people on the first task: what is at stake."""
    first = [r for r in study.recordings() if r.task == study.data["task"][0]][:2]
    screen = study.screen

    def limits(side: int) -> tuple[float, float]:
        """The screen, in degrees from its top left corner."""
        size_m = (screen.width_m, screen.height_m)[side] if screen else None
        if screen is None or size_m is None or screen.distance_m is None:
            values = np.concatenate([r["xy"[side]] for r in first])
            return float(np.nanmin(values)), float(np.nanmax(values))
        return 0.0, 2 * math.degrees(math.atan(size_m / 2 / screen.distance_m))

    def draw(*axes: Axes) -> None:
        for axis, recording in zip(axes, first, strict=True):
            shown = recording.time_ms < 1000 * _GAZE_S
            x, y = recording["x"][shown], recording["y"][shown]
            axis.plot(x, y, color=BLUE, linewidth=0.7, alpha=0.85)
            axis.set_title(f"{recording.person}, {recording.task}, {_GAZE_S} s", fontsize=9)
            axis.set_xlabel("degrees")
            axis.set_aspect("equal", adjustable="box")
            axis.set(xlim=limits(0), ylim=limits(1)[::-1])
        axes[0].set_ylabel("degrees")

    alt = f"The gaze of two people on a page over {_GAZE_S} seconds: different lines"
    return svg(draw, alt, 2.2, columns=len(first))


def plane_picture(attempts: Sequence[tuple[str, str, Rate, Rate]]) -> Markup:
    """Privacy against use: how many people are re-identified, and how well the task is recognised.

    Args:
        attempts: of each way of handing data over its name, the unit that is hidden, people
            re-identified and documents recognised; the raw data first.
    """
    person, document = (rate.chance for rate in attempts[0][2:])

    def draw(axis: Axes) -> None:
        axis.axhline(person, color=INK, lw=0.9, ls=":")
        axis.axvline(document, color=INK, lw=0.9, ls=":")
        axis.text(1.02, person + 0.012, "guessing a person", fontsize=SMALL, ha="right")
        axis.text(document + 0.006, 1.04, "guessing a document", fontsize=SMALL)
        for number, (_, unit, y, x) in enumerate(attempts):
            colour = ORANGE if number == 0 else GREEN if unit == "person" else BLUE
            axis.plot([x.rate] * 2, [y.low, y.high], color=colour, lw=0.9)
            axis.plot([x.low, x.high], [y.rate] * 2, color=colour, lw=0.9)
            axis.plot([x.rate], [y.rate], "o", color=colour, markersize=12)
            axis.text(
                x.rate, y.rate, str(number), color="white", fontsize=8, ha="center", va="center"
            )
        axis.set_xlim(min(0.25, *(rate.low - 0.03 for *_, rate in attempts)), 1.03)
        axis.set_ylim(-0.03, 1.1)
        for each in (axis.xaxis, axis.yaxis):
            each.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        axis.set_xlabel("windows whose document is recognised (more is more useful)")
        axis.set_ylabel("people re-identified (less is more private)")

    alt = "People re-identified and documents recognised: " + "; ".join(
        f"{name}: {percent(named.rate)} and {percent(known.rate)}"
        for name, _, named, known in attempts
    )
    return svg(draw, alt, 3.6)


def games_picture(games: Sequence[GameResult]) -> Markup:
    """What was claimed and what an attacker could certify: the bar must stay left of the line."""

    def draw(axis: Axes) -> None:
        share = [g.lower_bound / g.claimed for g in games]
        colours = [ORANGE if g.refuted else GREEN for g in games]
        axis.barh(places(games), share, color=colours, height=0.62)
        axis.axvline(1.0, color=INK, linewidth=1.2)
        labels = [f"{g.mechanism} for {g.calibrated_for}, per {g.unit}" for g in games]
        axis.set_yticks(places(games), labels)
        axis.tick_params(axis="y", length=0)
        axis.set_xlim(0, max(1.15, *share))
        axis.set_xlabel("certified loss / claimed loss")

    alt = "Certified share of the claimed loss: " + "; ".join(
        f"{g.mechanism} for {g.calibrated_for}, per {g.unit}: {g.lower_bound / g.claimed:.2f}"
        for g in games
    )
    return svg(draw, alt, 0.3 * len(games) + 0.75)
