"""A tool is refused when it is defined without saying everything, or while contradicting itself."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, cast

import pytest

from blendwright.tool_api.arguments import Args, Result, Seed
from blendwright.tool_api.promises import (
    DESTRUCTIVE_WRITE,
    READ_ONLY,
    SAFE_IDEMPOTENT_WRITE,
    Determinism,
    Idempotence,
    Promises,
    Revert,
    SafetyLevel,
    SafetyMode,
)
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import DECLARATIONS, AnyTool, Example, Tool
from blendwright.tools import catalog
from blendwright.tools.registry import registry_fingerprint


class NoArguments(Args):
    pass


class Seeded(Args):
    seed: Seed = 0


class Replacing(Args):
    overwrite: bool = False


class Done(Result):
    pass


def check(self: Any, scene: Any, args: Any) -> Iterator[Any]:
    yield from ()


def apply(self: Any, scene: Any, args: Any) -> Done:
    return Done()


A = TypeVar("A", bound=Args)


class DoesNothing(Tool[A, Done], Generic[A], family=True):
    """Tools that do nothing."""

    apply = apply


SAFE = SAFE_IDEMPOTENT_WRITE
WRITE = SAFE.writes_to(Kind.OBJECT).needs("object_write")

COMPLETE: dict[str, Any] = {
    "__doc__": "Do nothing at all.\n\nAnd at length.",
    "name": "trial.do_nothing",
    "promises": WRITE,
    "examples": (Example({}),),
    "check": check,
    "apply": apply,
    "verify": check,
}


def define(
    base: Any = Tool[NoArguments, Done], *, without: str = "", changes: dict[str, Any] | None = None, **more: Any
) -> type[AnyTool]:
    body = {key: value for key, value in {**COMPLETE, **(changes or {}), **more}.items() if key != without}
    return cast("type[AnyTool]", types.new_class("Trial", (base,), exec_body=lambda namespace: namespace.update(body)))


def test_a_complete_declaration_is_accepted_and_knows_its_models() -> None:
    tool = define()
    assert (tool.args_model, tool.result_model) == (NoArguments, Done)
    assert tool.summary() == "Do nothing at all."


@pytest.mark.proves("EXEC-MODE-01", "OPS-COMPLY-01", "EXEC-DET-05")
@pytest.mark.parametrize("name", [*DECLARATIONS, "check", "apply", "verify"])
@pytest.mark.proves("CORE-IDEMP-01")
def test_a_tool_that_leaves_something_out_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(TypeError, match=rf"tool Trial: .*does not (declare|define) {name}\b"):
        define(without=name)


def test_no_declaration_is_inherited() -> None:
    parent = define()
    with pytest.raises(TypeError, match="does not declare promises"):
        types.new_class("Child", (parent,), exec_body=lambda namespace: namespace.update({"__doc__": "A child."}))


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_of_another_type_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"declares {name} as object"):
        define(changes={name: object()})


@pytest.mark.parametrize("promise", dataclasses.fields(Promises), ids=lambda promise: promise.name)
def test_every_promise_is_an_attribute_of_the_tool_and_none_has_a_permissive_default(
    promise: dataclasses.Field[Any],
) -> None:
    assert promise.default in (dataclasses.MISSING, None)
    assert getattr(define(), promise.name) is getattr(WRITE, promise.name)


def test_a_tool_of_a_family_has_its_parts_and_names_the_rest_itself() -> None:
    tool = define(DoesNothing[Seeded], without="apply")
    assert (tool.args_model, tool.result_model) == (Seeded, Done)
    assert tool().apply(cast("Any", None), Seeded()) == Done()
    for name in DECLARATIONS:
        with pytest.raises(TypeError, match=rf"does not declare {name}\b"):
            define(DoesNothing[Seeded], without=name)
    with pytest.raises(TypeError, match="does not define verify"):
        define(DoesNothing[Seeded], without="verify")


def test_a_family_that_is_not_given_arguments_makes_no_tool() -> None:
    with pytest.raises(TypeError, match=r"Tool\[Arguments, Result\]"):
        define(DoesNothing)


@pytest.mark.parametrize("text", [None, "", "   \n"])
def test_a_tool_without_a_docstring_is_refused(text: str | None) -> None:
    with pytest.raises(TypeError, match="has no docstring"):
        define(__doc__=text)


UNTYPED: Any = Tool
BASES: list[Any] = [Tool, Tool[Any, Any], UNTYPED[Done, NoArguments]]


@pytest.mark.parametrize("base", BASES, ids=["bare", "any", "swapped"])
def test_a_tool_that_does_not_name_its_models_is_refused(base: Any) -> None:
    with pytest.raises(TypeError, match=r"Tool\[Arguments, Result\]"):
        define(base)


CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no example": ({"examples": ()}, "has no example"),
    "a profile that says nothing about writes": ({"promises": SAFE.needs("object_write")}, "what it writes to"),
    "a profile without capabilities": ({"promises": SAFE.writes_to(Kind.OBJECT)}, "what capabilities it needs"),
    "a name without a noun": ({"name": "create"}, "noun.verb"),
    "a name in capitals": ({"name": "Object.create"}, "noun.verb"),
    "a write that reverts nothing": (
        {"promises": WRITE.but(revert=Revert.NOTHING)},
        "must revert by something",
    ),
    "a read that reverts": (
        {"promises": READ_ONLY.but(revert=Revert.INVERSE), "writes": ()},
        "must revert by something",
    ),
    "a read that writes": ({"promises": READ_ONLY.writes_to(Kind.OBJECT).needs("scene_read")}, "declares writes"),
    "destructive with what it does not take": ({"destructive_with": ("force",)}, "destructive with force"),
    "seeded without a seed": ({"promises": WRITE.but(determinism=Determinism.SEEDED)}, "takes no seed"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_tool_that_contradicts_itself_is_refused(case: str) -> None:
    changes, problem = CONTRADICTIONS[case]
    with pytest.raises(TypeError, match=problem):
        define(**changes)


def test_a_tool_that_replaces_files_says_that_it_then_destroys() -> None:
    with pytest.raises(TypeError, match="takes overwrite and is not destructive with it"):
        define(Tool[Replacing, Done])
    tool = define(Tool[Replacing, Done], destructive_with=("overwrite",))()
    levels = [tool.safety_level_for(Replacing(overwrite=given)).value for given in (False, True)]
    assert levels == ["safe_write", "destructive"]
    assert define(Tool[Replacing, Done], promises=DESTRUCTIVE_WRITE.writes_to().needs("file_write"))


def test_a_refusal_names_every_problem_at_once() -> None:
    with pytest.raises(TypeError) as caught:
        define(without="verify", examples=(), name="bad")
    for problem in ("verify", "no example", "noun.verb"):
        assert problem in str(caught.value)


@pytest.mark.proves("CORE-DET-01")
def test_a_seeded_tool_echoes_its_seed_and_others_have_none() -> None:
    seeded = define(Tool[Seeded, Done], promises=WRITE.but(determinism=Determinism.SEEDED))()
    assert seeded.seed_for(Seeded(seed=7)) == 7
    assert define()().seed_for(NoArguments()) is None


CHANGES: dict[str, dict[str, Any]] = {
    "version": {"version": 2},
    "safety": {"promises": WRITE.but(safety_level=SafetyLevel.DESTRUCTIVE)},
    "mode": {"promises": WRITE.but(safety_mode=SafetyMode.UNSAFE_OPS)},
    "determinism": {"promises": WRITE.but(determinism=Determinism.NONDETERMINISTIC)},
    "idempotence": {"promises": WRITE.but(idempotence=Idempotence.ACCUMULATING)},
    "writes": {"promises": WRITE.writes_to(Kind.MESH)},
    "revert": {"promises": WRITE.but(revert=Revert.MEMFILE)},
    "replayable": {"promises": WRITE.but(replayable=False)},
    "requires": {"promises": WRITE.needs("object_write", blender_min=(4, 5, 0))},
    "examples": {"examples": (Example({}), Example({}))},
    "docstring": {"__doc__": "Do something else."},
    "arguments": {"base": Tool[Seeded, Done]},
}


def named(*tools: Any) -> dict[str, Any]:
    return {tool.name: tool for tool in tools}


@pytest.mark.parametrize("case", CHANGES)
def test_the_fingerprint_of_the_registry_moves_with_every_declaration(case: str) -> None:
    assert registry_fingerprint(named(define()())) != registry_fingerprint(named(define(**CHANGES[case])()))


def test_the_fingerprint_of_the_registry_knows_no_order() -> None:
    first, second = define()(), define(name="trial.other")()
    assert registry_fingerprint(named(first, second)) == registry_fingerprint(named(second, first))
    assert registry_fingerprint(named(first)) != registry_fingerprint(named(first, second))
    assert catalog.fingerprint() == registry_fingerprint(named(*(tool() for tool in catalog.tool_classes())))
