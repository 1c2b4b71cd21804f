"""The results as a table in Markdown and in LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from eyelid.mechanisms.groups.public_groups import EVERYBODY
from eyelid.mechanisms.statistics.estimates import WARNINGS
from eyelid.spelling import in_markdown, on_terminal

COLUMNS = {
    "measure": pl.String,
    "task": pl.String,
    "group": pl.String,
    "statistic": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "noise_sd": pl.Float64,
    "people": pl.Int64,
    "unit": pl.String,
    "p": pl.Float64,
    "note": pl.String,
    "from_sampling": pl.Float64,
    "from_noise": pl.Float64,
    "from_clipping": pl.Float64,
}
"""Columns of results.csv: the first nine are promised to scripts."""
SHARES = ("from_sampling", "from_noise", "from_clipping")
"""Parts of the squared width of an interval, together 1."""
MEASURED = ("estimate", "low", "high", "noise_sd", "p", "note", *SHARES)
"""Those that are measured, or follow from what is."""
STATISTICS = {
    "mean": "mean",
    "geometric mean": "geometric mean",
    "sd": "SD between people",
    "share": "share of people",
    "higher": "share of people higher (ties and missing people count half)",
    "clipped": "share outside the range",
    "signed-rank": "signed-rank",
    "superiority": "probability of superiority",
    "tau": "Kendall's τ",
    "slope": "slope (Theil–Sen)",
    "median": "median",
}
_TEX = re.compile(r"[&%$#_{}~^\\<>]")
_TEX_WORDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_NEGATIVE = re.compile(r"(?<![\w.-])-(?=\d)")
_ONE = ("", "1")


def spoken(statistic: str) -> str:
    """A statistic in words.

    >>> spoken("higher"), spoken("quantile:0.9")
    ('share of people higher (ties and missing people count half)', 'quantile 0.9')
    """
    return STATISTICS.get(statistic, statistic.replace(":", " "))


def rounded(value: float | None, spread: float | None) -> str:
    """A number with as many digits as its interval is worth.

    Args:
        value: to write.
        spread: width of its interval; two digits of it are kept.

    >>> rounded(223.4567, 31.0), rounded(0.41234, 0.12), rounded(None, 1.0), rounded(1840.0, 900.0)
    ('223', '0.41', '–', '1840')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if not spread or not math.isfinite(spread):
        return f"{value:.3g}"
    digits = min(6, max(0, 1 - math.floor(math.log10(spread))))
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """A row of results for people: the estimate with its interval and how large the noise is."""
    low, high = row["low"], row["high"]
    spread = None if low is None or high is None else high - low
    unit = "" if row["unit"] in _ONE else f" {row['unit']}".replace(" 1/", "/")
    interval = "–" if spread is None else f"{rounded(low, spread)} to {rounded(high, spread)}"
    noise = row["noise_sd"]
    return {
        "measure": row["measure"],
        "task": row["task"] or "all",
        "group": row["group"] or "everybody",
        "statistic": spoken(row["statistic"]),
        "estimate": f"{rounded(row['estimate'], spread)}{unit}",
        "95% interval": interval,
        "noise SD": "–" if noise is None else f"{noise:.2g}",
        "p": p_value(row["p"]),
        "N": f"{row['people']}",
    }


def p_value(p: float | None) -> str:
    """A p-value, never 0.

    >>> p_value(0.0), p_value(0.0312), p_value(None)
    ('< 0.001', '0.031', '–')
    """
    if p is None or not math.isfinite(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.0995 else f"{p:.2f}"


def shown_columns(results: pl.DataFrame) -> list[str]:
    """Columns that a reader needs: those that are the same everywhere say nothing."""
    all_of = ["measure", "task", "group", "statistic"]
    kept = [name for name in all_of[:3] if results[name].n_unique() > 1]
    tests = ["p"] if results["p"].is_not_null().any() else []
    named = kept if "measure" in kept else ["measure", *kept]
    return [*named, "statistic", "estimate", "95% interval", "noise SD", *tests, "N"]


def widths_in_words(results: pl.DataFrame) -> str:
    """What intervals are wide of, in words; nothing where there is none.

    Args:
        results: the table of all results.

    >>> print(widths_in_words(pl.DataFrame({name: [0.25, None] for name in SHARES})))
    Of the squared width of intervals, 25% is sampling, 25% noise, 25% clipping.
    """
    shares = results.select(SHARES).drop_nulls()
    if shares.is_empty():
        return ""
    parts = []
    for name, word in zip(SHARES, ("is sampling", "noise", "clipping"), strict=True):
        found = shares[name].to_list()
        least, most = (f"{100 * share:.0f}" for share in (min(found), max(found)))
        parts.append(f"{least if least == most else f'{least} to {most}'}% {word}")
    return f"Of the squared width of intervals, {', '.join(parts)}."


def warnings(results: pl.DataFrame) -> list[str]:
    """Which results are not what they are called, and how far off they may be.

    Args:
        results: the table of all results.

    >>> row = {"measure": "rate", "task": "text", "group": "", "statistic": "mean"}
    >>> warnings(pl.DataFrame([row | {"note": "spread between people by the norm"}]))
    []
    >>> warnings(pl.DataFrame([row | {"note": "a clipped mean: by far; spread by the norm"}]))
    ['The mean of rate (text) is a clipped mean: by far.']
    """
    found = []
    for row in results.iter_rows(named=True):
        group = "" if row["group"] == EVERYBODY else row["group"]
        where = ", ".join(filter(None, (row["task"], group)))
        what = f"The {spoken(row['statistic'])} of {row['measure']}{f' ({where})' if where else ''}"
        said = [note for note in row["note"].split("; ") if note.startswith(WARNINGS)]
        found += [f"{what} is {note}." for note in said]
    return found


def caption(results: pl.DataFrame, people: int, promise: str) -> str:
    """What stands below the table: whose results, of what if all are of one task, and intervals.

    Args:
        results: the table of all results.
        people: N.
        promise: the guarantee in numbers.
    """
    same = [
        f"{name}: {results[name][0]}"
        for name in ("task", "group")
        if results[name].n_unique() == 1 and results[name][0] not in ("", "everybody")
    ]
    of = f" ({', '.join(same)})" if same else ""
    sentences = [
        f"Results of {people} participants under {promise} for each of them{of}.",
        "95% intervals cover sampling, noise and clipping.",
        widths_in_words(results),
        *warnings(results),
    ]
    return " ".join(filter(None, sentences))


def rows_of(results: pl.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """The cells of these columns, row by row."""
    return [[cells(row)[name] for name in columns] for row in results.rows(named=True)]


def in_markdown_table(results: pl.DataFrame, caption: str) -> str:
    """The text of results.md.

    Args:
        results: the table of all results.
        caption: below it.
    """
    columns = shown_columns(results)
    written = [
        [in_markdown(cell).replace("|", r"\|") for cell in row] for row in rows_of(results, columns)
    ]
    lines = [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *written)]
    return "\n".join([*lines, "", in_markdown(caption), ""])


def in_latex(results: pl.DataFrame, caption: str) -> str:
    """The text of results.tex: a table environment that needs booktabs alone.

    Args:
        results: the table of all results.
        caption: of the table.
    """
    columns = shown_columns(results)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{as_tex(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('l' if name in _TEXTS else 'r' for name in columns)}}}",
        r"\toprule",
        " & ".join(as_tex(name) for name in columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(as_tex, row)) + r" \\" for row in rows_of(results, columns)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join([*lines, ""])


_TEXTS = ("measure", "task", "group", "statistic")
_LETTERS = {
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "μ": r"$\mu$",
    "τ": r"$\tau$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
}


def as_tex(text: str) -> str:
    r"""Others' text as LaTeX prints it, none of it obeyed.

    >>> print(as_tex(r"fix_rate 95% \input{x} τ"))
    fix\_rate 95\% \textbackslash{}input\{x\} $\tau$
    """
    text = _NEGATIVE.sub("−", text)
    plain = _TEX.sub(lambda found: _TEX_WORDS.get(found[0], f"\\{found[0]}"), on_terminal(text))
    return "".join(_LETTERS.get(letter, letter) for letter in plain)
