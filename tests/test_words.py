"""What people read is in the words of GLOSSARY: simulated or synthetic participants, attackers.

Asked of strings and docstrings of the package, of its templates and of the docs. Words that have
another meaning somewhere stand there by file, with how often.
"""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import eyelid

PACKAGE = Path(eyelid.__file__).parent
PROJECT = Path(__file__).parents[1]

# What has crept in, and what is said instead.
INSTEAD = {
    r"made-up": "simulated (of the simulator) or synthetic (drawn from a private model)",
    r"whoever": "an attacker who, those who, or nothing",
    r"somebody": "a participant, a person, an attacker",
    r"anybody": "a participant, a person, an attacker",
    r"amiss": "wrong, inconsistent",
    r"not refuted": "not contradicted",
    r"the promise stands": "the certificate is not contradicted",
    r"own records": "individual records",
    r"not a fair test": "within-release split, not comparable",
    r"goes on with the same command": "resumes when rerun",
    r"nobody is named|who is named|are named from": "re-identified",
    r"an? honest (attack|attacker|protocol|release|mechanism)": "leak-free, valid",
    r"in spans(?! of the scene)": "as a share of the feature's range",
    r"named (often|sometimes|every time|no more)|(people|share of times) named": "re-identified",
    r"(to|may|still) name people|(nobody|who) can be named": "to re-identify people",
    r"noise law|law of (the|its) noise": "the distribution of the noise",
    r"count of looks|most looks": "gaze points",
    r"a constant in (the|their) middle": "the data-free guess (range midpoint)",
}
WORDS = re.compile("|".join(rf"\b(?:{word})\b" for word in INSTEAD), re.IGNORECASE)

# Rooms whose words follow, and the files where a word is a name: of a key in audit.json.
ALLOWED = Counter({"docs/audit.md": 1, "reporting/audits/maps.py": 1})
LATER = ("papers/", "docs/what-the-papers-claim.md")


def _read_by_people():
    """Every text, by its file."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield name, node.value
    for file in sorted(PACKAGE.rglob("*.j2")):
        yield file.relative_to(PACKAGE).as_posix(), file.read_text("utf-8")
    for file in sorted((PROJECT / "docs" / "tutorials").glob("*.ipynb")):
        cells = json.loads(file.read_text("utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        yield file.relative_to(PROJECT).as_posix(), text
    prose = [PROJECT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")]
    for file in [*prose, *sorted((PROJECT / "docs").glob("*.md"))]:
        yield file.relative_to(PROJECT).as_posix(), file.read_text("utf-8")


def test_no_word_of_the_right_column_has_crept_in_again():
    found, lines = Counter(), []
    for name, text in _read_by_people():
        if name.startswith(LATER):
            continue
        for match in WORDS.finditer(text):
            if match.group(0).lower() == "in spans" and name.endswith(".py"):
                # Mechanisms compute in units of ``Feature.span``.
                continue
            found[name] += 1
            around = " ".join(text[max(match.start() - 40, 0) : match.end() + 40].split())
            lines.append(f"{name}: … {around} …")
    assert found == ALLOWED, "\n".join(line for line in lines)


def test_the_words_are_found_where_they_stand():
    text = "Whoever knows made-up people is right; the certificate is not\nrefuted."
    assert [m.group(0) for m in WORDS.finditer(" ".join(text.split()))] == [
        "Whoever",
        "made-up",
        "not refuted",
    ]
