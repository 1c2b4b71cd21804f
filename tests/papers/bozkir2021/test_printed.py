"""The numbers of Tables 1 to 9, as the paper prints them."""

from __future__ import annotations

import pytest

from eyelid.papers.bozkir2021.printed import CLASSIFIERS, EPSILONS, METHODS, printed


@pytest.mark.parametrize("number", range(1, 10))
def test_every_table_has_a_share_for_every_method_epsilon_and_classifier(number):
    table = printed(number)
    assert set(table) == {(m, e, c) for m in METHODS for e in EPSILONS for c in CLASSIFIERS}
    assert all(0 <= share <= 1 for share in table.values())


@pytest.mark.parametrize(
    ("number", "method", "epsilon", "shares"),
    [
        (1, "FPA", 0.48, (0.50, 0.63, 0.82, 0.87)),
        (1, "DCFPA-128", 4.8, (0.69, 0.50, 0.44, 0.46)),
        (2, "DCFPA-32", 48.0, (0.04, 0.0, 0.23, 0.32)),
        (2, "CFPA-64", 24.0, (0.38, 0.34, 0.52, 0.47)),
        (3, "FPA", 2.4, (1.0, 1.0, 1.0, 1.0)),
        (3, "CFPA-32", 48.0, (0.72, 0.16, 0.87, 0.92)),
        (4, "DCFPA-32", 0.48, (0.54, 0.59, 0.52, 0.56)),
        (5, "CFPA-128", 48.0, (0.11, 0.06, 0.15, 0.15)),
        (6, "FPA", 48.0, (0.47, 0.52, 0.68, 0.74)),
        (7, "DCFPA-128", 24.0, (0.44, 0.31, 0.46, 0.43)),
        (8, "CFPA-64", 24.0, (0.12, 0.15, 0.19, 0.21)),
        (8, "FPA", 48.0, (1.0, 1.0, 0.95, 1.0)),
        (9, "DCFPA-64", 48.0, (0.06, 0.07, 0.06, 0.06)),
    ],
)
def test_lines_are_the_papers(number, method, epsilon, shares):
    table = printed(number)
    assert tuple(table[method, epsilon, model] for model in CLASSIFIERS) == shares
