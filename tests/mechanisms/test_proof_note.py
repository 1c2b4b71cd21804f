import ast
import inspect
from dataclasses import FrozenInstanceError, fields

import pytest

from eyelid.comparisons.private_choice import PrivateChoice
from eyelid.mechanisms import catalogue, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.synthetic.chain import ChainMarginals
from eyelid.mechanisms.synthetic.rounds import AllPairs, Levels, Shares, Signs
from eyelid.stream.tiers import Tiers

PARTS = ("Takes", "Protects", "Why", "Paper")
CARRIERS = [
    *catalogue().values(),
    *(ChainMarginals, Levels, Shares, Signs, AllPairs, Tiers, PrivateChoice),
]


def note(**changed):
    said = {"summary": "S.", "takes": "t", "protects": "p", "why": "w", "paper": "q"} | changed
    return ProofNote(**said)


@pytest.mark.parametrize("kind", CARRIERS, ids=lambda kind: kind.__name__)
def test_every_mechanism_declares_a_complete_note_of_its_own(kind):
    own = vars(kind)["note"]
    assert isinstance(own, ProofNote)
    assert all(getattr(own, item.name) for item in fields(own) if item.name != "remarks")
    assert own.summary.endswith(".")
    assert not any(own.takes.startswith(f"{part}:") for part in PARTS)


@pytest.mark.parametrize("kind", CARRIERS, ids=lambda kind: kind.__name__)
def test_the_docstring_has_the_whole_note(kind):
    assert inspect.getdoc(kind).startswith(str(kind.note))


@pytest.mark.parametrize("module", sorted({kind.__module__ for kind in CARRIERS}))
def test_the_docstring_in_the_source_is_the_summary(module):
    kinds = {kind.__name__: kind for kind in CARRIERS if kind.__module__ == module}
    source = inspect.getsource(inspect.getmodule(next(iter(kinds.values()))))
    written = {
        each.name: ast.get_docstring(each).split("\n\n")[0]
        for each in ast.parse(source).body
        if isinstance(each, ast.ClassDef) and each.name in kinds
    }
    assert written == {name: kind.note.summary for name, kind in kinds.items()}


def test_a_note_without_one_of_its_parts_is_refused():
    for part in ("summary", "takes", "protects", "why", "paper"):
        with pytest.raises(ValueError, match=f"needs its {part}"):
            note(**{part: " \n "})


def test_a_mechanism_without_a_note_of_its_own_is_not_registered():
    # What it inherits is about something else.
    class Silent(Laplace):
        """Says nothing."""

        name = "silent"

    with pytest.raises(TypeError, match="silent declares no ProofNote of its own"):
        register(Silent)
    assert "silent" not in catalogue()


def test_a_note_is_a_value_whose_line_breaks_say_nothing():
    assert note(takes="a\n        table ") == note(takes="a table")
    with pytest.raises(FrozenInstanceError):
        note().takes = "something else"


def test_lines_do_not_end_inside_a_formula():
    text = str(note(why=" ".join(["word"] * 18) + " σ = Δ₂/μ and more"))
    assert all(len(line) <= 96 for line in text.splitlines())
    assert "\nσ = Δ₂/μ and more" in text


def test_remarks_stand_before_the_paper_and_the_note_before_the_rest_of_a_docstring():
    class Carrier:
        """S.

        Attributes:
            x: something.
        """

        note = note(remarks=("More.",))

    paragraphs = ["S.", "Takes: t", "Protects: p", "Why: w", "More.", "Paper: q"]
    assert Carrier.__doc__.split("\n\n") == [*paragraphs, "Attributes:\n    x: something."]


def test_a_class_without_a_docstring_stays_without():
    class Carrier:
        note = note()

    assert Carrier.__doc__ is None
