import pytest

from eyelid.errors import InputError
from eyelid.privacy import PERSON, Bounds, Guarantee, Kind, Neighbours, Trust, Unit


@pytest.mark.parametrize("text", ["person", "recording", "chunk:32", "event:30:2.5", "record"])
def test_a_unit_reads_as_it_is_written(text):
    assert str(Unit.parse(text)) == text


def test_an_unknown_unit_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'person'"):
        Unit.parse("persn")


@pytest.mark.parametrize(
    "text", ["chunk:many", "chunk", "record:60", "person:5", "event:3", "chunk:0", "event:3:1:1"]
)
def test_a_unit_with_a_number_too_many_or_too_few_says_how_to_write_it(text):
    with pytest.raises(InputError, match=r"write it as|must be positive"):
        Unit.parse(text)


def test_bounds_must_be_finite_and_ordered():
    with pytest.raises(InputError, match="no public bounds"):
        Bounds({"rate": (0.0, float("inf"))})
    with pytest.raises(InputError, match="lower one must be smaller"):
        Bounds({"rate": (1.0, 1.0)})


def test_a_broken_guarantee_keeps_its_numbers_and_gains_reasons():
    one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    assert one.broken() is one
    broken = one.broken("first").broken("second")
    assert (broken.holds, broken.reasons, broken.epsilon) == (False, ("first", "second"), 1.0)


def test_a_guarantee_as_a_dictionary_has_the_contract_s_keys():
    one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=float("inf"))
    found = one.to_dict()
    assert set(found) == {
        "kind", "epsilon", "delta", "mu", "k", "gamma", "unit", "neighbours", "trust", "holds",
        "reasons",
    }  # fmt: skip
    assert found["epsilon"] is None
    assert found["unit"] == "person"
