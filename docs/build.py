"""Builds the site: the guides, the tutorials, and the reference made from the docstrings.

    python -W error -m docs.build

A warning is an error: a type in a signature that leads nowhere, a module that cannot be imported.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from html import escape
from pathlib import Path
from typing import Any, get_type_hints

import pdoc
from pdoc.render_helpers import to_html

import eyelid
from eyelid.mechanisms import catalogue
from eyelid.mechanisms.entry_points import OWN

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "_site"
# Every public name is on the page of eyelid; the others have what these take and give.
MODULES = (
    "eyelid",
    "eyelid.attacks.attackers.attacker",
    "eyelid.verification.verify",
    "eyelid.reporting.comparisons.comparison",
    "eyelid.comparisons.recommendation",
    "eyelid.engine.engines",
    "eyelid.display",
    "eyelid.errors",
    "eyelid.gaze.areas",
    "eyelid.gaze.norms.norm",
    "eyelid.gaze.maps.gaze_points",
    "eyelid.gaze.maps.placement",
    "eyelid.gaze.norms",
    "eyelid.gaze.study",
    "eyelid.io.people_choice",
    "eyelid.io.convert",
    "eyelid.io.intake",
    "eyelid.io.layout",
    "eyelid.io.leaks",
    "eyelid.io.lint",
    "eyelid.io.norms",
    "eyelid.mechanisms",
    "eyelid.mechanisms.features",
    "eyelid.mechanisms.maps.map_mechanism",
    "eyelid.mechanisms.statistics.summary",
    "eyelid.mechanisms.streams.stream",
    "eyelid.privacy",
    "eyelid.privacy.accounts",
    "eyelid.privacy.noise.randomness",
    "eyelid.releases.audits.audit",
    "eyelid.reporting.audits.results",
    "eyelid.reporting.audits.maps",
    "eyelid.reporting.quote",
    "eyelid.releases.kinds.maps.heatmap",
    "eyelid.releases.kinds.statistics.release",
    "eyelid.releases.kinds.features.quote",
    "eyelid.releases.kinds.streams.quote",
    "eyelid.releases.cost",
    "eyelid.releases.inspection",
    "eyelid.releases.pipeline",
    "eyelid.reporting.budget",
    "eyelid.reporting.maps.result",
    "eyelid.reporting.release",
    "eyelid.reporting.statistics.results",
    "eyelid.stream",
    *OWN,
)
GUIDES = {
    "Tutorials": "docs/tutorials/*.ipynb",
    "Guides": "docs/*.md",
    "Examples": "examples/*.md",
    "Project": "*.md",
}


def build(site: Path = SITE) -> Path:
    """Write all pages anew, and say which is the first.

    Args:
        site: the folder; what is there is removed.
    """
    shutil.rmtree(site, ignore_errors=True)
    write_reference(site / "reference")
    write_guides(site)
    return site / "index.html"


def write_reference(out: Path) -> None:
    """The pages of `MODULES`, and of those inside them, from their docstrings."""
    for name in eyelid.__all__:  # They are imported when first used, and pdoc only looks.
        getattr(eyelid, name)
    catalogue()  # So are the mechanisms of the papers.
    _name_inherited_types()
    pdoc.render.configure(
        docformat="google", show_source=False, template_directory=ROOT / "docs" / "templates"
    )
    pdoc.pdoc(*MODULES, output_directory=out)


def _name_inherited_types() -> None:
    """Put types in the place of their names in what dataclasses take.

    These names are from the modules of their parents, and pdoc looks for them in their own.
    """
    for name, module in list(sys.modules.items()):
        shown = any(name == one or name.startswith(f"{one}.") for one in MODULES if one != "eyelid")
        for kind in list(vars(module).values()) if shown else ():
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == name:
                takes = kind.__init__.__annotations__
                takes |= {key: hint for key, hint in get_type_hints(kind).items() if key in takes}


def write_guides(site: Path) -> None:
    """The guides and tutorials as pages that link to each other, as the repository has them."""
    groups = {name: sorted(ROOT.glob(pattern)) for name, pattern in GUIDES.items()}
    texts = {path: _text(path) for paths in groups.values() for path in paths}
    titles = {path: text.partition("\n")[0].lstrip("# ") for path, text in texts.items()}
    template = pdoc.render.env.get_template("guide.html.jinja2")
    for path, text in texts.items():
        page = site / page_of(path)
        up = "../" * (len(page.relative_to(site).parts) - 1)
        nav = {
            name: [(f"{up}{page_of(each)}", titles[each], each == path) for each in paths]
            for name, paths in groups.items()
        }
        page.parent.mkdir(parents=True, exist_ok=True)
        body = _linked(to_html(text), path)
        html = template.render(title=titles[path], body=body, up=up, groups=nav)
        page.write_text(html, encoding="utf-8")
        for other in _files_of(text, path):
            copy = site / other.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(other, copy)


def page_of(path: Path) -> Path:
    """Where in the site a guide or a tutorial is."""
    name = "index" if path.stem == "README" else path.stem
    return path.relative_to(ROOT).with_name(f"{name}.html")


def _text(path: Path) -> str:
    """A guide, or a notebook as one."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return text
    return "\n\n".join(part for cell in json.loads(text)["cells"] for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    """A cell of a notebook as markdown: what it says, or its code and what came of it."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            yield f'<p><img alt="" src="data:image/png;base64,{data["image/png"].strip()}"></p>'
        elif "text/html" in data:
            yield "".join(data["text/html"])
        else:
            lines = output["text"] if "text" in output else data["text/plain"]
            yield f'<pre class="output">{escape("".join(lines))}</pre>'


_LINK = re.compile(r"\]\(([^)#:]+)(?=[)#])")
_HREF = re.compile(r'href="([^"#:]+)(?=["#])')


def _linked(page: str, path: Path) -> str:
    """A page with its links to guides turned into links to their pages."""

    def turned(found: re.Match[str]) -> str:
        target = path.parent / found[1]
        if target.suffix not in {".md", ".ipynb"}:
            return found[0]
        return f'href="{Path(found[1]).with_name(page_of(target.resolve()).name).as_posix()}'

    return _HREF.sub(turned, page)


def _files_of(text: str, path: Path) -> Iterator[Path]:
    """What a guide shows or links to that is no page."""
    for target in _LINK.findall(text):
        other = (path.parent / target).resolve()
        if other.is_file() and other.suffix not in {".md", ".ipynb"}:
            yield other


if __name__ == "__main__":
    print(f"the first page is {build().relative_to(Path.cwd())}")
