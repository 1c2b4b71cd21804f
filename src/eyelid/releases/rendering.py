"""Templates and what is put into them."""

from __future__ import annotations

from importlib import resources
from typing import Any

from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.words import formal_only, number, plural, promise


def rendered(template: str, **values: Any) -> str:
    """The text of a template of this package, with the words that every one of them uses."""
    from jinja2 import Environment, StrictUndefined

    text = resources.files("eyelid.releases").joinpath("templates", template).read_text("utf-8")
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=".html" in template,
    )
    words = {
        "formal_only": formal_only,
        "number": number,
        "plural": plural,
        "promise": promise,
        "rounded_up": rounded_up,
    }
    return environment.from_string(text).render(words | values)
