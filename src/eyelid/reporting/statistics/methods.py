"""The paragraph about methods, from what a certificate says of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eyelid.mechanisms.certificate import Certificate
from eyelid.privacy.guarantee import Kind
from eyelid.reporting.sentences import factor, formal_only, number
from eyelid.reporting.statistics.figure import legend
from eyelid.reporting.statistics.tables import spoken
from eyelid.spelling import in_markdown, plural

INTERVALS = {
    "modelled": (
        "Intervals are 95% intervals that cover the sampling of participants, the noise with its "
        "exact distribution, and what limiting numbers to their ranges does to a mean of normally "
        "distributed numbers. Where spreads between participants were not released, they are taken "
        "to be 1.25 times a norm's, or, by definition's ranges without a norm, as large as a "
        "distribution with one peak allows (Jacobson 1969); where participants differ more, "
        "intervals of means are too narrow."
    ),
}
"""How intervals were made, in words."""
_OF_NORMAL = "medians, quantiles and slopes have intervals of normally distributed numbers"
_VARIANCES = {
    "share": "shares have the binomial distribution",
    "higher": "shares have the binomial distribution",
    "clipped": "shares have the binomial distribution",
    "signed-rank": "the signed rank has the variance of theory",
    "superiority": "superiority has the largest variance that it can have",
    "tau": "Kendall's τ has the variance of normal pairs",
    **dict.fromkeys(("median", "quantile", "slope"), _OF_NORMAL),
}
_TESTS = {
    "higher": "a sign test (whether differences lie evenly about 0)",
    "signed-rank": "a signed-rank test (whether differences lie evenly about 0)",
    "superiority": "a Mann–Whitney test (whether groups have the same distribution)",
    "tau": "Kendall's test (whether two numbers are independent)",
}
_HALF = ("higher", "superiority")
_SOURCES = {
    "definition": "by definition",
    "norm": "norm",
    "file": "fixed beforehand in a file",
    "data": "READ OFF THE DATA, so that no guarantee holds",
}


def methods(certificate: Certificate) -> str:
    """The text of methods.md: a paragraph to paste into a paper, and the ranges with sources.

    Args:
        certificate: of the release.
    """
    facts = certificate.results or {}
    sources = list(dict.fromkeys(filter(None, (each.get("norm") for each in facts["entries"]))))
    lines = ["# Methods", "", paragraph(certificate), ""]
    if sources:
        lines += ["## Sources of the ranges", "", *(f"- {in_markdown(s)}" for s in sources), ""]
    promised = certificate.person_level
    numbers = promised.numbers() if promised.holds else "no guarantee at all"
    lines += ["## Caption of the figure", "", legend(certificate.people, numbers), ""]
    lines += [
        "## How to cite",
        "",
        "The eyelid authors (2026). eyelid: eye-tracking data that are safe to share (version "
        f"{certificate.version}) [computer software].",
        "",
    ]
    return "\n".join(lines)


def paragraph(certificate: Certificate) -> str:
    """How the results were made and what is promised, in Markdown on one line.

    Args:
        certificate: of the release.
    """
    return " ".join(_sentences(certificate, certificate.results or {}))


def _sentences(certificate: Certificate, facts: Mapping[str, Any]) -> Iterator[str]:
    promised, people = certificate.person_level, certificate.people
    if not promised.holds:
        yield (
            f"Results of {people} participants were computed with eyelid {certificate.version}. "
            f"They carry no privacy guarantee: {'; '.join(promised.reasons)}."
        )
    else:
        kind = "(ε, δ)-differential" if promised.kind is not Kind.PURE else "ε-differential"
        yield (
            f"Results of {people} participants were computed with eyelid {certificate.version} "
            f"(mechanism {certificate.mechanism}) under {kind} privacy for whole participants "
            f"({promised.neighbours} neighbours, central trust, {promised.numbers()}): exchanging "
            "all data of one participant changes the probability of any result by "
            f"{factor(promised)}."
        )
        if formal_only(promised):
            yield "A promise of this size is formal only: it rules out almost nothing."
    yield _numbers(facts["entries"])
    if facts.get("events"):
        yield f"Fixations and saccades were detected with eyelid's method {facts['events']}."
    yield _ranges(facts["entries"])
    yield from _groups(certificate)
    yield (
        "A participant without a number counted with the middle of its range (of a difference 0, "
        "of a rank statistic as equal to everybody), and nobody was left out; this draws means to "
        "the middle of their range (of a difference to 0) and comparisons to one half or 0."
    )
    noise = facts.get("noise") or [certificate.noise["sampler"]]
    yield (
        f"Released statistics are: {_released(facts['rows'])}. Noise was added to each: "
        f"{'; '.join(noise)} (exact parameters are in certificate.json)."
    )
    # A quantile has its level behind its name.
    statistics = dict.fromkeys(row[3].partition(":")[0] for row in facts["rows"])
    yield INTERVALS[facts["intervals"]]
    yield from _variances_and_tests(list(statistics))
    yield from _releases(certificate)


def _variances_and_tests(statistics: Sequence[str]) -> Iterator[str]:
    """What intervals of shares and ranks rest on, and the tests: of what was released alone."""
    variances = [_VARIANCES[name] for name in statistics if name in _VARIANCES]
    if variances:
        said = "; ".join(dict.fromkeys(variances))
        yield f"{said[0].upper()}{said[1:]}."
    tests = [_TESTS[name] for name in statistics if name in _TESTS]
    if tests:
        yield (
            f"p-values are of {' and '.join(tests)}, noise included: exact for up to 150 "
            "participants, by the normal distribution for more, and conservative where there are "
            "ties or missing numbers; they were not corrected for how many there are."
        )
    half = [spoken(name).partition(" (")[0] for name in statistics if name in _HALF]
    if half:
        yield f"In the {' and the '.join(half)}, ties and participants without a number count half."


def _numbers(entries: Sequence[Mapping[str, Any]]) -> str:
    """What each participant contributed."""
    measures = list(dict.fromkeys(f"{e['measure']} ({e['definition']})" for e in entries))
    return (
        f"Each participant contributed {plural(len(entries), 'number')}, of "
        f"{'; '.join(map(in_markdown, measures))}."
    )


def _ranges(entries: Sequence[Mapping[str, Any]]) -> str:
    """Within which limits, and who says so: once for all tasks that have them in common."""
    tasks: dict[str, list[str]] = {}
    for entry in entries:
        tasks.setdefault(_range(entry), []).append(entry["task"])
    ranges = [
        text + (f", in {', '.join(where)}" if any(where) else "") for text, where in tasks.items()
    ]
    fixed = "were limited to ranges"
    if all(entry["source"] != "data" for entry in entries):
        fixed += " that were fixed without looking at the data"
    return f"Numbers {fixed}: {'; '.join(map(in_markdown, ranges))}."


def _range(entry: Mapping[str, Any]) -> str:
    unit = "" if entry["unit"] in ("", "1") else f" {entry['unit']}".replace(" 1/", "/")
    what = f"{'differences of ' if entry['contrast'] else ''}{entry['measure']}"
    scale = ", averaged on a log scale" if entry["scale"] == "log" else ""
    known = ""
    if entry["mean"] is not None and not entry["contrast"]:
        known = f" of {number(entry['mean'])} ± {number(entry['sd'])}{unit}"
    if entry["mean"] is not None and entry["contrast"]:
        known = f", the spread between people of {number(entry['sd'])}{unit}"
    source = f"{_SOURCES[entry['source']]}{known}"
    if known and entry["source"] == "file":
        # What was fixed in a file is the norm.
        source = f"norm{known}, {_SOURCES['file']}"
    return f"{what} {number(entry['lower'])} to {number(entry['upper'])}{unit} ({source}{scale})"


def _released(rows: Sequence[Sequence[str]]) -> str:
    """Which statistics were released, counted by kind."""
    counts = Counter(spoken(row[3]) for row in rows)
    return ", ".join(f"{word} ({count})" for word, count in counts.items())


def _groups(certificate: Certificate) -> Iterator[str]:
    described = certificate.described
    if not described.by:
        return
    sizes = ", ".join(f"{name}: {count}" for name, count in described.groups.items())
    yield f"Groups are by {in_markdown(described.by)}, which is public ({in_markdown(sizes)})."


def _releases(certificate: Certificate) -> Iterator[str]:
    """How often these participants' data were released, as far as it was counted."""
    count, total = len(certificate.ledger), certificate.total
    if not count:
        yield "No ledger counts what else was released of these participants."
        return
    if count == 1 and not certificate.incomplete:
        yield "This is the first release of these participants' data that their ledger counts."
        return
    said = (
        f"Their ledger counts {plural(count, 'release')} of these participants' data, this one last"
    )
    if total is not None and total.holds:
        yield f"{said}; over all of them the total is {total.numbers()}."
    else:
        yield f"{said}; over all of them no bound is known."
