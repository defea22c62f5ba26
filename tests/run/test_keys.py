"""Operation keys: RFC 8785 exactly, by whichever way they are written."""

from __future__ import annotations

import hashlib
import math
import random
import struct
import uuid
from typing import Any

import pytest
import rfc8785

from blendwright.engine.invocation import Invocation, OperationKeys, canonical, new_id, new_ids, operation_key
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.util.canonical import digest

ODD = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e-3,
    9.99e-4,
    1e-6,
    1e-7,
    5e-324,
    1e15,
    1e16,
    1e21,
    1.7976931348623157e308,
    123456.789,
    2**53 - 1,
    -(2**53) + 1,
]
TEXTS = ["", "a", "é", "\u20ac", "\U0001f600", "\ufb33", "\x00\x1f\x7f", '"\\/\b\t\n\f\r', "1.0"]


@pytest.mark.parametrize(
    "value", [*ODD, *TEXTS, True, None, [], {}, {"b": 1, "a": [1.0, {"\ufb33": 1, "\U0001f600": 2}]}], ids=repr
)
def test_single_values_are_spelled_as_rfc_8785_has_them(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("texts", [TEXTS, ["", "a", "1.0,", "[-0.0]", "1e5", "x.0}", "true"]], ids=["any", "plain"])
def test_any_value_is_spelled_as_rfc_8785_has_it(texts: list[str]) -> None:
    chance = random.Random(1)

    def number() -> float:
        found = struct.unpack("d", chance.randbytes(8))[0] if chance.random() < 0.5 else chance.uniform(-1000, 1000)
        return found if math.isfinite(found) else 0.5

    def any_value(depth: int) -> Any:
        kinds = 5 if depth else 3
        match chance.randrange(kinds):
            case 0:
                return chance.choice([number(), round(number() % 10, 2), chance.randrange(-(10**6), 10**6), True, None])
            case 1:
                return chance.choice(texts)
            case 2:
                return chance.choice(ODD)
            case 3:
                return [any_value(depth - 1) for _ in range(chance.randrange(4))]
            case _:
                return {chance.choice([*texts, "name", "location"]): any_value(depth - 1) for _ in range(4)}

    for _ in range(5000):
        value = any_value(3)
        assert canonical(value) == rfc8785.dumps(value), value


@pytest.mark.parametrize("value", [[2**53], [-(2**60)], {"a": 2**63}])
def test_integers_beyond_a_double_have_a_form_of_their_own(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        rfc8785.dumps(value)
    assert canonical(value) == digest(value).encode()


@pytest.mark.proves("OPS-IDEM-01")
def test_a_key_is_made_of_both_ids_and_the_arguments() -> None:
    key = operation_key("r", "o", {"b": 1.0, "a": "x"})
    assert key == hashlib.sha256(b'["r","o",{"a":"x","b":1}]').hexdigest()
    assert key == operation_key("r", "o", {"a": "x", "b": 1})
    others = [
        operation_key("r2", "o", {"a": "x", "b": 1}),
        operation_key("r", "o2", {"a": "x", "b": 1}),
        operation_key("r", "o", {"a": "y", "b": 1}),
    ]
    assert len({key, *others}) == 4


def test_integers_that_no_double_holds_still_have_a_key() -> None:
    assert operation_key("r", "o", {"a": 2**60}) != operation_key("r", "o", {"a": 2**60 + 1})


@pytest.mark.proves("OPS-CORR-07")
def test_ids_are_random_uuids_and_no_two_alike() -> None:
    drawn = [uuid.UUID(id) for id in (*new_ids(2000), new_id(), new_id())]
    assert len(set(drawn)) == 2002
    assert all(id.version == 4 and id.variant == uuid.RFC_4122 for id in drawn)
    assert new_ids(0) == []


def test_a_short_request_means_the_same_call() -> None:
    for tool in tools().values():
        for example in tool.examples:
            args, _, model = validate_arguments(tool, example.args)
            call = Invocation("r", "o", tool, args, model, "safe_write", OperationKeys("r", {"o": args}), "call")
            sent = tool.args_model.model_validate(call.short_request()["args"])
            assert sent == model and sent.model_dump(mode="json") == args, tool.name
            assert call.short_request() == {**call.request(), "args": call.short_request()["args"]}
