"""Many small cases in one test. pytest takes some five milliseconds of the processor for a test, often more than is needed for a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Case = TypeVar("Case")


def in_one_test(cases: Mapping[str, Case]) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """Instead of `pytest.mark.parametrize`, where a case needs no fixture and next to no time. All of them are run, and those that fail
    are told by their names."""

    def of(test: Callable[[Case], None]) -> Callable[[], None]:
        def run() -> None:
            assert cases, "there is no case"
            failures = [failure for name, case in cases.items() if (failure := _failure(test, name, case)) is not None]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(cases)} cases", failures)

        run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
        run.__module__ = test.__module__
        return run

    return of


def _failure(test: Callable[[Case], None], name: str, case: Case) -> Exception | None:
    try:
        test(case)
    except Exception as failure:
        failure.add_note(f"the case: {name}")
        return failure
    return None
