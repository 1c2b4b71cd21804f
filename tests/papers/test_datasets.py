"""Datasets are found by name or by content, and what is missing is said."""

import pytest

from eyelid.errors import InputError
from eyelid.papers.datasets import find_dataset, find_datasets, where_looked


def a_dataset(folder):
    folder.mkdir(parents=True)
    return folder


def test_a_dataset_is_found_in_the_folder_that_holds_it(tmp_path):
    home = a_dataset(tmp_path / "OSIE")
    assert find_dataset(tmp_path, "OSIE") == home
    assert find_dataset(tmp_path, "osie") == home


def test_the_dataset_itself_may_be_named(tmp_path):
    home = a_dataset(tmp_path / "osie")
    assert find_dataset(home, "OSIE") == home
    assert find_dataset(home, "MPIIDPEye") is None


def test_a_folder_in_a_folder_of_the_same_name_is_the_dataset(tmp_path):
    inner = a_dataset(tmp_path / "OSIE" / "OSIE")
    assert find_dataset(tmp_path / "OSIE", "OSIE") == inner


def test_under_another_name_it_is_known_by_its_content(tmp_path):
    home = tmp_path / "features-of-2019"
    (home / "Features_and_Ground_Truth").mkdir(parents=True)
    (home / "Features_and_Ground_Truth" / "P1_R1_data.csv").touch()
    assert find_dataset(home, "MPIIPrivacEye") == home
    assert find_dataset(home, "OSIE") is None


def test_nowhere_to_look_is_no_error():
    assert find_dataset(None, "OSIE") is None
    assert find_datasets(None, ["OSIE"]) == {}


def test_some_of_a_papers_datasets_are_enough(tmp_path):
    a_dataset(tmp_path / "OSIE")
    assert list(find_datasets(tmp_path, ["MPIIDPEye", "OSIE"])) == ["OSIE"]


def test_a_folder_with_none_of_them_is_an_error_that_lists_them(tmp_path):
    with pytest.raises(InputError, match=r"none of .*MPIIDPEye, OSIE.*--data"):
        find_datasets(tmp_path, ["MPIIDPEye", "OSIE"])


def test_a_folder_that_is_not_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(InputError, match="gone"):
        find_datasets(tmp_path / "gone", ["OSIE"])
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file"):
        find_dataset(tmp_path / "file", "OSIE")


def test_what_is_missing_says_where_it_was_looked_for():
    assert "--data" in where_looked("OSIE")
    assert "EYELID_DATA" in where_looked("OSIE")
