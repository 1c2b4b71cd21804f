"""What the owner states of a dataset stands at the top of its data card, or is left to fill in."""

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.releases.release import release
from eyelid.reporting.dataset_fields import BLANK, DatasetFields, without_fields

CARD = "# Data card\n\n## What was done\n\nNoise.\n"


@pytest.fixture
def table():
    features = [Feature("rate", "1/s", "fixations per second", 0.0, 10.0)]
    return table_from_arrays(np.full((4, 2, 3, 1), 3.0), features)


def test_a_release_states_what_its_file_says_and_leaves_the_rest_to_fill_in(table, tmp_path):
    (tmp_path / "card.toml").write_text('name = "Reading"\ncontact = "lab@example.org"\n')
    release(table, tmp_path / "out", epsilon=1.0, card=tmp_path / "card.toml")
    head = (tmp_path / "out" / "DATACARD.md").read_text("utf-8").partition("## What was done")[0]
    assert "- **Name**: Reading\n- **Contact**: lab@example.org\n" in head
    assert "- **Licence**: [to fill in: what others may do with the data]\n" in head
    assert "- **Date**: [to fill in" in head


def test_without_a_file_every_field_is_left_to_fill_in(table, tmp_path):
    release(table, tmp_path / "out", epsilon=1.0)
    card = (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    assert card == BLANK.atop(without_fields(card))
    assert card.count("[to fill in: ") == 4


@pytest.mark.parametrize("fields", [BLANK, DatasetFields.of({"name": "a", "licence": "CC BY 4.0"})])
def test_fields_are_put_on_a_card_and_taken_off_again(fields):
    assert without_fields(fields.atop(CARD)) == CARD
    assert without_fields(CARD) == CARD


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"title": "Reading"}, "title"),
        ({"name": "a\n## What is guaranteed"}, "name must be one line"),
        ({"date": " "}, "date must be one line"),
        ("nowhere.toml", "cannot read nowhere.toml"),
    ],
)
def test_what_is_no_field_is_refused_before_anything_is_paid(table, tmp_path, stated, said):
    with pytest.raises(InputError, match=said):
        release(table, tmp_path / "out", epsilon=1.0, card=stated)
    assert not (tmp_path / "out").exists()
