import pytest

from eyelid.errors import InputError, Refused
from eyelid.mechanisms import PublicFacts, catalogue, describe, find, mechanism_named
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy import PERSON, RECORDING, Unit


@pytest.mark.parametrize("kind", catalogue().values(), ids=lambda kind: kind.name)
def test_the_catalogue_describes_every_mechanism(kind):
    facts = describe(kind)
    assert {"name", "takes", "units", "kind", "holds", "paper", "parameters"} <= set(facts)
    assert all(p["help"] for p in facts["parameters"])
    first = facts["parameters"][0]
    assert first["name"] == "epsilon" or not issubclass(kind, DifferentialMechanism)
    # What adds nothing takes no ε, and what says nothing any k.
    free = ("map-noisefree", "map-rs1", "map-rs2", "marginals-paper", "kalman")
    assert first["required"] == (kind.name not in free)


def test_an_alias_finds_its_mechanism():
    assert find("lpa") is find("laplace")


def test_an_unknown_mechanism_suggests_the_nearest():
    with pytest.raises(InputError, match="unknown mechanism 'gausian': did you mean 'gaussian'"):
        mechanism_named("gausian", epsilon=1)


def test_an_unknown_parameter_suggests_the_nearest():
    with pytest.raises(InputError, match="unknown parameter of laplace 'lenght': did you mean"):
        mechanism_named("laplace", epsilon=1, lenght=3)


def test_a_missing_parameter_is_asked_for():
    with pytest.raises(InputError, match="laplace needs epsilon: give it, such as `epsilon="):
        mechanism_named("laplace")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("inf"), float("nan")])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(InputError, match="epsilon must be positive and finite"):
        mechanism_named("laplace", epsilon=epsilon)


@pytest.mark.parametrize("text", ["one", "nan", ""])
def test_text_that_is_no_number_is_named(text):
    with pytest.raises(InputError, match="epsilon must be a number, got"):
        mechanism_named("laplace", epsilon=text)


def test_a_unit_that_is_not_offered_is_refused():
    with pytest.raises(Refused, match="laplace does not offer the unit 'chunk:32'"):
        mechanism_named("laplace", epsilon=1, unit="chunk:32")


@pytest.mark.parametrize("length", ["0", "-4", "middle"])
def test_a_bad_length_is_named(length):
    with pytest.raises(InputError, match="length must be"):
        mechanism_named("laplace", epsilon=1, length=length)


def test_shapes_count_the_values_of_units():
    facts = PublicFacts(people=5, recordings=3, length=10, features=4)
    assert facts.values_of(PERSON) == 120
    assert facts.values_of(RECORDING) == 40
    assert facts.values_of(Unit("record")) == 4
    with pytest.raises(Refused, match="not offered"):
        facts.values_of(Unit("sample"))
    with pytest.raises(InputError, match="people must be at least 1, got 0"):
        PublicFacts(0, 1, 1, 1)


def test_a_mechanism_is_a_value():
    one = mechanism_named("laplace", epsilon=1.0)
    assert one == mechanism_named("laplace", epsilon=1.0)
    assert isinstance(one, Mechanism)
    with pytest.raises(AttributeError):
        one.epsilon = 2.0
