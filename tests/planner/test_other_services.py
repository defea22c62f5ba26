"""Anthropic and OpenAI-compatible services by the port, each through its official SDK and a server that speaks its protocol."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from typing import Any

import pytest

from blendwright.planner.port import (
    Blocked,
    CallBudget,
    KeyMissing,
    KeyRefused,
    NoResponse,
    PlannerError,
    PlanRequest,
    PlanResponse,
    ResponseSchema,
    ServiceRefused,
    ServiceUnavailable,
    Truncated,
    Turn,
)
from blendwright.planner.providers import AnthropicPlanner, Provider, create_planner
from planner.local_services import KEY, LocalService, local_service

SERVICES: tuple[Provider, ...] = ("anthropic", "openai")
KEYS = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
SCHEMA = ResponseSchema({"type": "object", "properties": {"strict": {"type": "string"}}}, {"type": "object"})
TURNS = (Turn("user", "a box"), Turn("model", "{}"), Turn("user", "no"))


def asked(service: LocalService, provider: Provider, *, seconds: float = 30.0, key: str = KEY) -> PlanResponse:
    base_url = service.url + ("/v1" if provider == "openai" else "")
    environment = dict.fromkeys(KEYS, key)
    planner = create_planner(provider, model="m-1", base_url=base_url, environment=environment)
    request = PlanRequest("a box", "operations", "You plan.", TURNS, SCHEMA, allowance=CallBudget(1234, seconds))
    return asyncio.run(planner.plan(request))


def form(body: dict[str, Any]) -> Any:
    """The schema of a request, in either protocol."""
    if body["path"] == "/v1/messages":
        return body.get("output_config", {}).get("format", {}).get("schema")
    return body.get("response_format", {}).get("json_schema", {}).get("schema")


@pytest.mark.parametrize("provider", SERVICES)
def test_an_answer_comes_with_its_usage_and_the_request_is_complete(provider: Provider) -> None:
    with local_service('{"operations": []}') as service:
        answer = asked(service, provider)
    assert (answer.text, answer.model, answer.schema_form) == ('{"operations": []}', "m-1", "strict")
    assert (answer.usage.prompt_tokens, answer.usage.output_tokens, answer.usage.total) == (11, 7, 18)
    (body,) = service.received
    assert form(body) == SCHEMA.strict and body["model"] == "m-1"
    assert 1234 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    said = [(turn["role"], turn["content"]) for turn in body["messages"] if turn["role"] != "system"]
    assert said == [("user", "a box"), ("assistant", "{}"), ("user", "no")]
    assert "You plan." in json.dumps(body) and KEY not in json.dumps(body)


def test_the_sdk_is_loaded_before_the_time_of_the_service_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    right = asyncio.timeout

    def timeout(seconds: float | None) -> asyncio.Timeout:
        order.append("its time")
        return right(seconds)

    def load(planner: AnthropicPlanner) -> None:
        order.append("loaded")

    monkeypatch.setattr(AnthropicPlanner, "_load", load)
    monkeypatch.setattr(asyncio, "timeout", timeout)
    with local_service("{}") as service:
        asked(service, "anthropic")
    assert order[:2] == ["loaded", "its time"]


@pytest.mark.parametrize("provider", SERVICES)
def test_a_schema_that_is_refused_is_loosened_step_by_step(provider: Provider) -> None:
    with local_service(400, '{"operations": [{"args_json": "{\\"a\\": 1}"}]}') as service:
        answer = asked(service, provider)
    assert answer.schema_form == "packed" and json.loads(answer.text) == {"operations": [{"args": {"a": 1}}]}
    with local_service(400, 400, "{}") as service:
        assert asked(service, provider).schema_form == "none"
    assert [form(body) for body in service.received] == [SCHEMA.strict, SCHEMA.packed, None]
    with local_service(400, 400, 400) as service, pytest.raises(ServiceRefused):
        asked(service, provider)


@pytest.mark.parametrize("provider", SERVICES)
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (429, ServiceUnavailable),
        (503, ServiceUnavailable),
        (500, ServiceUnavailable),
        (404, ServiceRefused),
        (403, KeyRefused),
        ({"text": '{"oper', "finish": "max_tokens"}, Truncated),
        ({"text": "", "finish": "refusal"}, Blocked),
        ({}, NoResponse),
    ],
)
def test_every_failure_is_what_it_is_and_holds_no_key(
    provider: Provider, answer: Any, error: type[PlannerError]
) -> None:
    with local_service(answer) as service, pytest.raises(error) as caught:
        asked(service, provider)
    assert len(service.received) == 1, "retries are the loop's"
    trace = "".join(traceback.format_exception(caught.value))
    assert KEY not in trace + str(caught.value.details) and caught.value.__cause__ is None
    if answer == 429:
        assert isinstance(caught.value, ServiceUnavailable) and caught.value.retry_after == 3.0
    if isinstance(caught.value, NoResponse):
        assert caught.value.usage.total == 18, "what was not answered is paid for too"


@pytest.mark.parametrize("provider", SERVICES)
@pytest.mark.parametrize(
    "body",
    [
        b"<html>Sign in to the hotel's network</html>",
        b"",
        b"{bad",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"[1]",
        b'{"foo": 1}',
        b'{"choices": 7, "content": 7}',
        b'{"choices": [{}], "content": 1.5}',
        b'{"choices": [null], "content": [null]}',
        b'{"choices": [{"message": null}], "content": [{"type": "text"}]}',
        b'{"choices": [{"message": {"content": [1]}}], "content": [{"type": "text", "text": [1]}]}',
    ],
)
def test_what_is_no_answer_of_the_service_is_said_to_be_none(provider: Provider, body: bytes) -> None:
    with local_service(body) as service, pytest.raises(ServiceUnavailable, match="not an answer of") as caught:
        asked(service, provider)
    assert "base URL" in (caught.value.cure or "")
    assert caught.value.__cause__ is None and caught.value.__suppress_context__ is False
    assert caught.value.__context__ is None, "an exception of the SDK holds the request with its headers"


@pytest.mark.parametrize("provider", SERVICES)
@pytest.mark.parametrize("counts", [b"null", b'"many"', b'{"input_tokens": "x", "prompt_tokens": null}'])
def test_an_answer_whose_cost_is_not_told_is_an_answer(provider: Provider, counts: bytes) -> None:
    message = b'{"role": "assistant", "content": "{}"}'
    body = b'{"choices": [{"message": %s}], "content": [{"type": "text", "text": "{}"}], "usage": %s}'
    with local_service(body % (message, counts)) as service:
        answer = asked(service, provider)
    assert (answer.text, answer.usage.total) == ("{}", 0)


@pytest.mark.parametrize("provider", SERVICES)
@pytest.mark.parametrize(
    "address", ["no address", "http://[::1", "http://127.0.0.1:99999999", "ftp://127.0.0.1", "http://"]
)
def test_what_cannot_be_an_address_is_said_to_be_none(provider: Provider, address: str) -> None:
    planner = create_planner(provider, model="m-1", base_url=address, environment=KEYS)
    with pytest.raises(ServiceRefused, match="is not a valid address") as caught:
        asyncio.run(planner.plan(PlanRequest("a box", "operations", "You plan.", TURNS, SCHEMA)))
    assert "--base-url" in (caught.value.cure or "")


@pytest.mark.parametrize("provider", SERVICES)
def test_keys_are_taken_without_the_space_around_them_and_refused_where_they_cannot_be_sent(provider: Provider) -> None:
    with local_service("{}") as service:
        assert asked(service, provider, key=f" {KEY}\n").text == "{}"
    for nonsense in ("schlüssel", "two\nlines"):
        with pytest.raises(KeyRefused, match="contains invalid characters"):
            create_planner(provider, environment=dict.fromkeys(KEYS, nonsense))


@pytest.mark.parametrize("provider", SERVICES)
def test_silence_a_wrong_key_and_nobody_there_are_told_apart(provider: Provider) -> None:
    with local_service("silence") as service, pytest.raises(ServiceUnavailable, match=r"within 0\.2 seconds"):
        asked(service, provider, seconds=0.2)
    with local_service() as service, pytest.raises(KeyRefused) as caught:
        asked(service, provider, key="wrong-key-987")
    assert "wrong-key-987" not in caught.value.message
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        asked(service, provider)


@pytest.mark.parametrize("provider", [*SERVICES, "gemini"])
def test_without_a_key_it_says_which_one_to_set(provider: Provider) -> None:
    with pytest.raises(KeyMissing) as caught:
        create_planner(provider, environment={})
    assert "_API_KEY" in (caught.value.cure or "")


def test_a_local_server_needs_no_key() -> None:
    assert create_planner("openai", model="local", base_url="http://127.0.0.1:1/v1", environment={}).model == "local"


@pytest.mark.parametrize("provider", SERVICES)
def test_an_sdk_that_is_not_installed_is_named_with_its_extra(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, provider, None)
    with local_service() as service, pytest.raises(ServiceRefused) as caught:
        asked(service, provider)
    assert f"blendwright[{provider}]" in (caught.value.cure or "")


def test_the_model_that_is_asked_without_a_choice_has_no_end_in_sight() -> None:
    # It takes seconds to load, which everybody who collects the tests would pay.
    from anthropic.resources.messages import DEPRECATED_MODELS

    assert AnthropicPlanner.default_model not in DEPRECATED_MODELS
