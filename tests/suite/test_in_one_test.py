"""Cases that share a test fail as they would by themselves."""

from __future__ import annotations

import pytest

from support.suite.in_one_test import in_one_test


def test_every_case_is_run_and_those_that_fail_are_named() -> None:
    met: list[int] = []

    @in_one_test({"one": 1, "two": 2, "three": 3})
    def is_even(number: int) -> None:
        met.append(number)
        assert number % 2 == 0

    with pytest.raises(ExceptionGroup, match="2 of 3 cases") as raised:
        is_even()
    assert met == [1, 2, 3]
    assert [failure.__notes__ for failure in raised.value.exceptions] == [["the case: one"], ["the case: three"]]


def test_without_a_case_nothing_is_proven() -> None:
    with pytest.raises(AssertionError, match="no case"):
        in_one_test(dict[str, int]())(lambda number: None)()


def test_cases_that_all_hold_are_a_test_that_passes() -> None:
    in_one_test({"one": 1})(lambda number: None)()
