"""A frozen class is what the standard library would have made of it."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar, cast

import pytest

from blendwright.values.frozen import frozen

T = TypeVar("T")
standard = cast("Callable[[Any], Any]", dataclass(frozen=True, slots=True))


def declared(decorator: Callable[[Any], Any]) -> tuple[Any, Any, Any, Any]:
    """The same classes, by one decorator or the other."""

    class Sides:
        """Fields of every kind."""

        KIND: ClassVar[str] = "box"
        name: str
        size: float = 1.0
        tags: list[str] = field(default_factory=list[str])
        note: str = field(default="", compare=False, repr=False)
        made: int = field(default=7, init=False)
        seen: list[int] = field(default_factory=list[int], init=False, compare=False)
        twice: float = field(init=False)
        colour: str = field(default="red", kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", 2 * self.size)

    sides = decorator(Sides)

    class Solid(sides):
        depth: float = 3.0

        def volume(self) -> float:
            return self.size * self.depth

    class Empty:
        """No fields."""

    class Own(Generic[T]):
        """Has its own comparison and its own words."""

        value: T

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

        def __repr__(self) -> str:
            return "own"

    return sides, decorator(Solid), decorator(Empty), decorator(Own)


@frozen
class Point:
    """At the top of a module, so that it can be pickled."""

    x: float
    y: float = 0.0
    labels: tuple[str, ...] = ()


OURS, THEIRS = declared(frozen), declared(standard)


@pytest.mark.parametrize("index", range(4))
def test_a_class_has_the_fields_slots_and_signature_of_a_standard_one(index: int) -> None:
    ours, theirs = OURS[index], THEIRS[index]
    assert [(one.name, one.init, one.compare, one.kw_only) for one in fields(ours)] == [
        (one.name, one.init, one.compare, one.kw_only) for one in fields(theirs)
    ]
    assert ours.__slots__ == theirs.__slots__ and ours.__match_args__ == theirs.__match_args__
    parameters, expected = inspect.signature(ours), inspect.signature(theirs)
    assert [(one.name, one.kind, one.annotation) for one in parameters.parameters.values()] == [
        (one.name, one.kind, one.annotation) for one in expected.parameters.values()
    ]
    assert parameters.return_annotation == expected.return_annotation


@pytest.mark.parametrize("index", (0, 1))
@pytest.mark.parametrize(
    ("positional", "named"),
    [
        (("a",), {}),
        (("a", 2.0), {"colour": "blue"}),
        (("a", 2.0, ["t"], "note"), {}),
        ((), {"name": "a", "tags": ["x"]}),
    ],
)
def test_instances_have_the_values_and_words_of_standard_ones(
    index: int, positional: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, theirs = OURS[index](*positional, **named), THEIRS[index](*positional, **named)
    assert asdict(ours) == asdict(theirs)
    assert repr(ours) == repr(theirs)
    assert asdict(replace(ours, name="b", size=9.0)) == asdict(replace(theirs, name="b", size=9.0))


@pytest.mark.parametrize(("positional", "named"), [((), {}), (("a", 1, ["t"], "", 5), {}), (("a",), {"made": 1})])
def test_what_a_standard_class_refuses_is_refused(positional: tuple[Any, ...], named: dict[str, Any]) -> None:
    for cls in (THEIRS[0], OURS[0]):
        with pytest.raises(TypeError, match=r"Sides\.__init__\(\)"):
            cls(*positional, **named)


def test_instances_are_equal_by_their_compared_values_and_class() -> None:
    sides, solid, empty, own = OURS
    assert sides("a", note="one") == sides("a", note="two") != sides("a", 2.0)
    assert sides("a") != solid("a") and solid("a") == solid("a") and empty() == empty()
    assert own(1) == own(2) and hash(own(1)) == 1 and repr(own(1)) == "own"
    assert Point(1.0) != (1.0, 0.0, ()) and Point(1.0).__eq__((1.0,)) is NotImplemented
    assert {Point(1.0), Point(1.0, 0.0), Point(2.0)} == {Point(2.0), Point(1.0)}
    assert hash(empty()) == hash(empty())


def test_lists_and_defaults_are_not_shared() -> None:
    sides = OURS[0]
    assert sides("a").tags is not sides("a").tags and sides("a").seen is not sides("a").seen


def test_nothing_can_be_assigned_deleted_or_added() -> None:
    point = Point(1.0)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        point.z = 3.0  # pyright: ignore[reportAttributeAccessIssue]
    assert point == Point(1.0) and not hasattr(point, "__dict__")


def test_instances_can_be_copied_pickled_and_matched() -> None:
    point = Point(1.0, 2.0, ("a",))
    assert copy.deepcopy(point) == copy.copy(point) == pickle.loads(pickle.dumps(point)) == point
    match point:
        case Point(x, y):
            assert (x, y) == (1.0, 2.0)
