"""How often attackers were right, as lines beside guessing and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eyelid.attacks.identification import EXACT_INTERSECTION, INTERSECTION, Finding, strongest
from eyelid.attacks.statistics import Rate
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, svg
from eyelid.reporting.rendering import bound
from eyelid.reporting.sentences import percent

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

    from eyelid.attacks.identification import NamingAttack
    from eyelid.attacks.means import MeanFindings
    from eyelid.attacks.membership import Membership

QUARTERS = ([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100%"])

# What an attacker has, in as few words as fit beside a line.
_IN_WORDS = {
    "raw→release": "knows raw data, sees the release",
    "release→raw": "has the release, sees raw data",
    "release→release": "compares two releases",
    "white-box": "also knows the mechanism",
    "white-box, same recordings": "has these very recordings",
    INTERSECTION: "has their released recordings, raw",
    EXACT_INTERSECTION: "has everybody’s recordings",
}


@dataclass(frozen=True)
class _Line:
    """One rate beside others.

    Attributes:
        words: what was tried.
        detail: by whom, in small letters.
        rate: what came of it.
        colour: of the mark.
        allowed: the bound; None where none holds.
        marker: matplotlib's.
        hollow: drawn as an outline, for what is not to be compared with the rest.
    """

    words: str
    detail: str
    rate: Rate
    colour: str
    allowed: float | None = None
    marker: str = "o"
    hollow: bool = False

    def __str__(self) -> str:
        """The picture in words, for a screen reader."""
        limits = f"{percent(self.rate.low)} to {percent(self.rate.high)}"
        allowed = "" if self.allowed is None else f", allowed {bound(self.allowed)}"
        return f"{self.words}: {percent(self.rate.rate)} ({limits}{allowed})"


@dataclass(frozen=True)
class Rates:
    """Rates one below the other, with guessing and what is allowed.

    Attributes:
        lines: of the picture.
        chance: of a guess.
        what: the rates are of.
    """

    lines: Sequence[_Line]
    chance: float
    what: str

    @property
    def height(self) -> float:
        """The height of a picture, in inches."""
        return 0.4 * len(self.lines) + 0.75

    def draw(self, axis: Axes) -> None:
        """Draw all of them on axes.

        Args:
            axis: to draw on.
        """
        _draw_lines(axis, self.lines)
        mark(axis, self.chance, "guessing")
        axis.set_xlabel(f"{self.what} (bars: 95% limits over people)")
        if all(line.allowed is None for line in self.lines):
            return
        _beside(axis, 1, len(self.lines) - 0.35, "allowed", GREEN)
        for place, line in zip(places(self.lines), self.lines, strict=True):
            if line.allowed is not None:
                # A wall that bars start left of.
                axis.plot([line.allowed] * 2, [place - 0.4, place + 0.4], color=GREEN, lw=2.5)
            limit = bound(line.allowed) if line.allowed is not None else "–"
            _beside(axis, 1, place, limit, GREEN)

    def picture(self) -> Markup:
        """As a picture of a page."""
        lines = "; ".join(map(str, self.lines))
        alt = f"{self.what.capitalize()}, guessing {percent(self.chance)}. {lines}"
        return svg(self.draw, alt, self.height)


def strongest_by_protocol(findings: Sequence[Finding]) -> list[Finding]:
    """The attack to fear under every protocol; those of the papers last."""
    names = dict.fromkeys(f.protocol for f in sorted(findings, key=lambda f: not f.honest))
    return [strongest([f for f in findings if f.protocol == name]) for name in names]


def _by(finding: Finding | NamingAttack) -> str:
    return f"{finding.protocol}, {finding.attacker}"


def attack_rates(
    findings: Sequence[Finding],
    attacks: Sequence[NamingAttack],
    raw: Sequence[Finding],
    null: Sequence[Finding],
    people: int,
    *,
    of_release: bool,
) -> Rates:
    """Re-identification rates, beside guessing and beside what the guarantee allows.

    Beside the strongest attack under every protocol are the raw control and the null control.

    Args:
        findings: of attackers under protocols.
        attacks: what tells for or against the guarantee of a release.
        raw: of attackers who have raw data, for comparison.
        null: of attackers on people who are all alike.
        people: who can be re-identified.
        of_release: whether a release was attacked, or the raw data alone.
    """
    lines = []
    if not of_release:
        for found in sorted(findings, key=lambda f: -f.rate.rate):
            lines.append(_Line(found.attacker, "", found.rate, ORANGE))
    else:
        if raw:
            plain = strongest(raw)
            lines.append(_Line("raw data, for comparison", _by(plain), plain.rate, ORANGE))
        for name in dict.fromkeys(attack.protocol for attack in attacks):
            of_it = [attack for attack in attacks if attack.protocol == name]
            worst = max(of_it, key=lambda attack: attack.rate.rate)
            colour, marker = (ORANGE, "*") if worst.refutes else (BLUE, "o")
            detail = worst.attacker if worst.intersects else _by(worst)
            words = _IN_WORDS.get(name, "")
            lines.append(_Line(words, detail, worst.rate, colour, worst.bound, marker))
        unfair = [finding for finding in findings if not finding.honest]
        for found in strongest_by_protocol(unfair):
            lines.append(
                _Line("within-release split", _by(found), found.rate, GREY, None, "D", True)
            )
    if null:
        alike = strongest(null)
        lines.append(_Line("people all alike, for comparison", alike.attacker, alike.rate, GREY))
    return Rates(lines, 1 / people, "people re-identified")


def membership_rates(means: MeanFindings) -> Rates:
    """Right answers about who is in a mean, beside guessing and what the guarantee allows."""
    found, raw, null = means.membership, means.positive, means.null
    assert found is not None, "nobody asked who is in it"
    lines = [_Line("who is in it", "likelihood ratio", found.right, BLUE)]
    if found.bound is not None:
        lines = [replace(lines[0], allowed=(1 + found.bound) / 2)]
    if raw is not None:
        lines.insert(0, _Line("without noise, for comparison", "", raw.right, ORANGE))
    if null is not None:
        lines.append(_Line("not depending on it, for comparison", "", null.right, GREY))
    return Rates(lines, 0.5, "right answers")


def rates_of_game(found: Membership, clear: Membership | None, attacker: str) -> Rates:
    """How often the right one of two people is said to be in it, and with hardly any noise."""
    allowed = None if found.bound is None else (1 + found.bound) / 2
    lines = [_Line("which of two was in it", attacker, found.right, BLUE, allowed)]
    if clear is not None:
        lines.insert(0, _Line("hardly any noise, for comparison", "", clear.right, ORANGE))
    return Rates(lines, 0.5, "right answers")


def places(lines: Sequence[Any]) -> list[int]:
    """Where lines go on an axis, the first at the top."""
    return list(range(len(lines)))[::-1]


def _draw_lines(axis: Axes, lines: Sequence[_Line]) -> None:
    """One below the other: words, mark with limits, and the figures in print."""
    for place, line in zip(places(lines), lines, strict=True):
        rate = line.rate
        axis.plot([rate.low, rate.high], [place] * 2, color=line.colour, lw=1.4)
        axis.plot(
            [rate.rate],
            [place],
            line.marker,
            color=line.colour,
            markersize=12 if line.marker == "*" else 7,
            markerfacecolor="white" if line.hollow else line.colour,
            clip_on=False,
        )
        _beside(axis, 0, place, percent(rate.rate), line.colour)
        above = 0.2 if line.words and line.detail else 0.0
        for words, up, size in ((line.words, above, 9), (line.detail, -above, SMALL)):
            axis.annotate(
                words,
                (-0.02, place + up),
                xycoords=axis.get_yaxis_transform(),
                ha="right",
                va="center",
                fontsize=size,
                color=INK if size == 9 else GREY,
            )
    _beside(axis, 0, len(lines) - 0.35, "measured", INK)
    axis.set_yticks([])
    axis.set_ylim(-0.7, len(lines) - 0.4)
    percents(axis)


def percents(axis: Axes) -> None:
    """Have an axis go from 0 to 100%."""
    axis.set_xlim(-0.02, 1.02)
    axis.set_xticks(*QUARTERS)


def _beside(axis: Axes, column: int, place: float, words: str, colour: str) -> None:
    """Print to the right of the picture, in one of its columns."""
    axis.annotate(
        words,
        (1.0, place),
        xycoords=axis.get_yaxis_transform(),
        xytext=(8 + 48 * column, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=colour,
    )


def mark(axis: Axes, value: float, words: str) -> None:
    """A dotted line with its words."""
    axis.axvline(value, color=INK, lw=0.9, ls=":", zorder=0)
    axis.annotate(
        words,
        (value, 1.0),
        xycoords=axis.get_xaxis_transform(),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize=SMALL,
    )
