"""Templates and what is put into them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from eyelid.gaze.features.catalogue import most_used
from eyelid.mechanisms.certificate import NARROWEST_FORM
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.sentences import (
    coarse,
    formal_only,
    in_unit,
    kept_of_rows,
    measured_in_words,
    number,
    percent,
    promise,
)
from eyelid.spelling import in_markdown, on_page, plural


def rendered(template: str, **values: Any) -> str:
    """The text of a template of this package, with the words that every one of them uses.

    Whatever is put into a page or a card is escaped: names of people, tasks and features are
    others' text. What is ``own`` in a template is not.
    """
    of_page = ".html" in template
    environment = _environment(on_page if of_page else in_markdown)
    text = str(environment.get_template(template).render(values))
    return with_named_tables(text) if of_page else text


_HEADING = re.compile(r"<(h[1-3]|summary)\b[^>]*>(?P<words>.*?)</\1>|<table\b[^>]*>", re.DOTALL)
_COLUMN = re.compile(r"<th(?=[ >])(?![^>]*\bscope=)")


def with_named_tables(page: str) -> str:
    """A page whose tables can be read without seeing them, and be scrolled by the keyboard.

    A table is called by the heading that it stands under, and its headers say what they head: a
    column, unless the template says otherwise.

    >>> with_named_tables("<h2>Who</h2><table><tr><th>name</th></tr></table>")[12:]
    '<table><caption class="unseen">Who</caption><tr><th scope="col">name</th></tr></table>'
    """
    words = ""

    def named(found: re.Match[str]) -> str:
        nonlocal words
        if found["words"] is None:
            return f'{found[0]}<caption class="unseen">{words}</caption>'
        words = re.sub(r"<[^>]*>", "", found["words"]).strip()
        return found[0]

    page = _COLUMN.sub('<th scope="col"', _HEADING.sub(named, page))
    return page.replace('<div class="scroll">', '<div class="scroll" tabindex="0">')


@cache
def _environment(written: Callable[[str], str]) -> Any:
    """Where templates are found and what they know; made once, for it keeps what it has read.

    Args:
        written: how others' text is written, before a page escapes it.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    folder = resources.files("eyelid.reporting").joinpath("templates")
    environment = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=lambda name: name is None or ".html" in name,
        finalize=lambda value: (
            written(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    environment.filters["own"] = Markup
    environment.globals |= {
        "bound": bound,
        "coarse": coarse,
        "formal_only": formal_only,
        "form_of_all": NARROWEST_FORM,
        "in_unit": in_unit,
        "kept_of_rows": kept_of_rows,
        "measured_in_words": measured_in_words,
        "most_used": most_used,
        "number": number,
        "percent": percent,
        "plural": plural,
        "promise": promise,
        "rounded_up": rounded_up,
    }
    return environment


def bound(share: float | None) -> str:
    r"""What is allowed at most, never printed smaller than it is.

    >>> bound(0.12513), bound(None)
    ('≤\xa012.6%', 'no bound')
    """
    # One word, or a line could break before the number.
    return "no bound" if share is None else f"≤\xa0{rounded_up(100 * share, 3)}%"
