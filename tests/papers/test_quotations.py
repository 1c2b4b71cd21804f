"""What is quoted from the papers is theirs, word for word.

The papers are not part of this project. Every quotation was looked up in them and stands in
``quotations.txt`` as a hash. One that is new, or changed, is looked up before its hash is added.
"""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

import eyelid.papers
from eyelid.papers.bozkir2021.utility_claims import CLAIMS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "what-the-papers-claim.md"
MODULES = sorted(Path(eyelid.papers.__file__).parent.rglob("*.py"))
# Shorter ones are single words, formats and names.
_WORDS = 3
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_CODE = re.compile(r"```.*?```|>>>.*?(?:\n\s*\n|\Z)", re.DOTALL)


def hashed(quotation: str) -> str:
    """Of its words: where lines break and what is bold is the page's."""
    words = " ".join(quotation.replace("*", "").split()).rstrip(".,;")
    return hashlib.blake2b(words.encode(), digest_size=5).hexdigest()


def quotations(text: str) -> list[str]:
    found = [one or other for one, other in _QUOTED.findall(_CODE.sub("", text))]
    return [one for one in found if len(re.findall(r"[^\W\d_]{2,}", one)) >= _WORDS]


def strings(module: Path) -> list[str]:
    """The literals of a module; what an f-string fills in is a gap."""
    found, parts = [], set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            text = [part.value if isinstance(part, ast.Constant) else "" for part in node.values]
            found.append("".join(text))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [] if id(node) in parts else [node.value]
    return found


def test_every_quotation_of_the_papers_was_looked_up():
    looked_up = set((HERE / "quotations.txt").read_text(encoding="utf-8").split())
    quoted = {hashed(one): one for one in quotations(PAGE.read_text(encoding="utf-8"))}
    # These stand between quotation marks on the page alone.
    quoted |= {hashed(claim.quote): claim.quote for claim in CLAIMS}
    for module in MODULES:
        quoted |= {hashed(one): one for text in strings(module) for one in quotations(text)}
    new = {key: one for key, one in quoted.items() if key not in looked_up}
    assert not new, f"look these up in the papers, word for word, then add their hashes: {new}"
    assert not looked_up - set(quoted), "nobody quotes these any more: delete their hashes"


def test_another_word_is_another_quotation_and_another_line_is_not():
    (one,) = quotations('as "it is\n  not **free** at all." has it')
    assert hashed(one) == hashed("it is not free at all")
    assert hashed(one) != hashed("it is not free of all")
