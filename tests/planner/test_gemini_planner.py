"""The planner on google-genai against a server that speaks its protocol: every way in which an answer comes or does not come."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pydantic import SecretStr

from blendwright.planner.gemini import GeminiPlanner, GeminiSettings
from blendwright.planner.plannable import choose_tools
from blendwright.planner.port import (
    Blocked,
    CallBudget,
    KeyMissing,
    KeyRefused,
    NoResponse,
    PlannerError,
    PlanRequest,
    PlanResponse,
    SchemaRefused,
    ServiceRefused,
    ServiceUnavailable,
    Truncated,
    Turn,
    Usage,
)
from blendwright.planner.response_schema import operations_schema
from blendwright.tools import catalog
from blendwright.values.errors import EnvironmentUnfit
from support.hosts.gemini import GeminiServer, serving
from support.hosts.gemini.scenario import KEY

PLAN: dict[str, Any] = {
    "request_id": "r",
    "operations": [
        {
            "operation_id": "box",
            "tool_name": "mesh.create_primitive",
            "safety_level": "safe_write",
            "depends_on": [],
            "args": {"kind": "cube", "name": "Box"},
        }
    ],
}
ASKED = "a box"


@cache
def usual_request() -> PlanRequest:
    """Made by whoever runs these tests, and not by everyone who collects them: it takes the schemas of all tools."""
    return PlanRequest(
        ASKED,
        "operations",
        "You plan.",
        (Turn("user", ASKED),),
        operations_schema(choose_tools(ASKED, catalog.tools())),
        allowance=CallBudget(seconds=20),
    )


def planner(server: GeminiServer, **more: Any) -> GeminiPlanner:
    given: dict[str, Any] = {"api_key": SecretStr(KEY), "base_url": server.url, "first_wait": 0.0, **more}
    return GeminiPlanner(GeminiSettings(**given))


def ask(server: GeminiServer, request: PlanRequest | None = None, **more: Any) -> PlanResponse:
    return asyncio.run(planner(server, **more).plan(request or usual_request()))


def failure(server: GeminiServer, request: PlanRequest | None = None, **more: Any) -> PlannerError:
    with pytest.raises(PlannerError) as raised:
        ask(server, request, **more)
    error = raised.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in str(error) + repr(error.details) + str(error.cure)
    return error


def refused(status: int, **more: Any) -> dict[str, Any]:
    return {"error": {"status": status, **more}}


def test_an_answer_comes_with_its_usage_model_and_reason() -> None:
    answer = {"plan": PLAN, "usage": {"promptTokenCount": 11, "candidatesTokenCount": 7, "thoughtsTokenCount": 5}}
    with serving(
        {"expect": {"mentions": ["You plan.", ASKED], "shape": "strict", "turns": 1}, "answer": answer}
    ) as server:
        got = ask(server, model="gemini-9")
    assert json.loads(got.text) == PLAN
    assert got.usage == Usage(11, 7, 5, 23)
    assert (got.model, got.finish_reason, got.schema_form) == ("gemini-9", "STOP", "strict")


def test_thoughts_are_no_part_of_the_answer() -> None:
    with serving({"plan": PLAN, "thoughts": "Let me see."}) as server:
        assert json.loads(ask(server).text) == PLAN


def test_model_thinking_level_and_room_for_the_answer_are_what_was_set() -> None:
    with serving({"expect": {"model": "gemini-3-pro"}, "answer": {"plan": PLAN}}) as server:
        ask(server, replace(usual_request(), allowance=CallBudget(777, 20)), model="gemini-3-pro", thinking="low")
    config = server.received[0].config
    assert config["thinkingConfig"] == {"thinking_level": "LOW"}
    assert config["maxOutputTokens"] == 777


def test_a_conversation_keeps_its_roles() -> None:
    turns = (Turn("user", "one"), Turn("model", "two"), Turn("user", "three"))
    with serving({"expect": {"turns": 3}, "answer": {"plan": PLAN}}) as server:
        ask(server, replace(usual_request(), turns=turns))
    assert [content["role"] for content in server.received[0].body["contents"]] == ["user", "model", "user"]


def test_a_refused_schema_is_asked_again_with_packed_arguments_and_not_shown_a_second_time() -> None:
    too_big = refused(400, message="The specified schema produces a constraint that has too many states for serving.")
    packed = {"expect": {"shape": "packed"}, "answer": {"plan": PLAN}}
    with serving({"expect": {"shape": "strict"}, "answer": too_big}, packed, packed) as server:
        asked = planner(server)
        first, second = (asyncio.run(asked.plan(usual_request())) for _ in range(2))
    assert json.loads(first.text) == json.loads(second.text) == PLAN
    assert first.schema_form == second.schema_form == "packed"


def test_a_service_that_takes_no_schema_at_all_is_asked_without_one() -> None:
    with serving(
        refused(400, message="schema"),
        refused(400, message="response schema is too complex"),
        {"expect": {"shape": "none"}, "answer": {"plan": PLAN}},
    ) as server:
        answer = ask(server)
    assert json.loads(answer.text) == PLAN
    assert answer.schema_form == "none"


def test_a_request_that_is_wrong_in_itself_is_not_called_a_matter_of_the_schema() -> None:
    with serving(*[refused(400, message="The input token count exceeds the maximum")] * 2) as server:
        error = failure(server)
    assert isinstance(error, ServiceRefused)
    assert not isinstance(error, SchemaRefused)
    assert "token count" in error.message


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_passing_trouble_of_the_service_is_tried_again_at_once(status: int) -> None:
    with serving(refused(status), refused(status), {"plan": PLAN}) as server:
        assert json.loads(ask(server).text) == PLAN


def test_a_lasting_trouble_of_the_service_is_unavailable_and_worth_a_retry() -> None:
    with serving(*[refused(503, message="The model is overloaded.")] * 3) as server:
        error = failure(server)
    assert isinstance(error, ServiceUnavailable)
    assert error.status == 503
    assert "overloaded" in error.message


@pytest.mark.parametrize("told", [{"headers": {"retry-after": "7"}}, {"retry_delay": 7}])
def test_a_used_up_quota_says_when_to_come_back_and_is_not_hammered(told: dict[str, Any]) -> None:
    with serving(refused(429, **told)) as server:
        error = failure(server)
    assert isinstance(error, ServiceUnavailable)
    assert (error.status, error.retry_after) == (429, 7.0)


def test_silence_ends_with_the_time_allowed() -> None:
    with serving({"silence": True}) as server:
        error = failure(server, replace(usual_request(), allowance=CallBudget(seconds=1)), tries=1)
    assert isinstance(error, ServiceUnavailable)
    assert "within 1 seconds" in error.message


def test_a_torn_connection_is_a_trouble_of_the_service() -> None:
    with serving({"plan": PLAN, "torn": True}) as server:
        assert isinstance(failure(server, tries=1), ServiceUnavailable)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with serving() as server:
        pass
    assert "cannot be reached" in failure(server, tries=1).message


def test_a_page_of_a_proxy_is_no_answer() -> None:
    with serving({"page": "<html>Sign in</html>"}) as server:
        error = failure(server, tries=1)
    assert isinstance(error, ServiceUnavailable)
    assert "html" not in error.message


@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"])
def test_a_blocked_request_is_blocked(reason: str) -> None:
    with serving({"blocked": reason}) as server:
        error = failure(server)
    assert isinstance(error, Blocked)
    assert error.reason == reason


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "SPII"])
def test_a_withheld_answer_is_blocked_and_paid_for(reason: str) -> None:
    with serving({"text": "", "finish": reason, "usage": {"promptTokenCount": 9, "candidatesTokenCount": 0}}) as server:
        error = failure(server)
    assert isinstance(error, Blocked)
    assert error.usage.prompt_tokens == 9


@pytest.mark.parametrize("finish", ["MAX_TOKENS", None])
def test_a_cut_off_answer_is_truncated_with_what_came(finish: str | None) -> None:
    with serving({"text": '{"request_id": "r", "oper', "finish": finish}) as server:
        error = failure(server)
    assert isinstance(error, Truncated)
    assert error.text.startswith('{"request_id"')
    assert error.usage.total > 0


@pytest.mark.parametrize("answer", [{"text": "   "}, {"text": "x", "finish": "MALFORMED_FUNCTION_CALL"}])
def test_an_end_without_an_answer_is_no_answer(answer: dict[str, Any]) -> None:
    with serving(answer) as server:
        assert type(failure(server)) is NoResponse


def test_a_wrong_key_is_refused_as_such_and_never_repeated() -> None:
    wrong = "wrong-key-canary-55"
    with serving() as server:
        error = failure(server, api_key=SecretStr(wrong))
    assert isinstance(error, KeyRefused)
    assert wrong not in str(error) + repr(error.__dict__)


def test_a_service_that_repeats_the_key_does_not_get_it_into_the_message() -> None:
    with serving(refused(403, message=f"key {KEY} is not allowed")) as server:
        error = failure(server)
    assert isinstance(error, KeyRefused)
    assert "[key]" in error.message


def test_an_unknown_model_is_named() -> None:
    with serving(refused(404, message="not found")) as server:
        error = failure(server, model="gemini-0")
    assert isinstance(error, ServiceRefused)
    assert "gemini-0" in error.message


def test_without_a_key_the_message_says_how_to_get_one() -> None:
    with pytest.raises(KeyMissing) as raised:
        GeminiPlanner(GeminiSettings.from_environment({"GEMINI_API_KEY": "  "}))
    assert "GEMINI_API_KEY" in str(raised.value.cure)


@pytest.mark.parametrize("key", ["schl\u00fcssel", "two words", "two\nlines"])
def test_what_cannot_be_a_key_is_refused_before_anything_is_sent(key: str) -> None:
    with pytest.raises(KeyRefused) as raised:
        GeminiPlanner(GeminiSettings(SecretStr(key)))
    assert key not in str(raised.value)


@pytest.mark.parametrize("url", ["nonsense", "http://[", "ftp://localhost/", "http://a b/"])
def test_an_address_that_is_none_is_unavailable(url: str) -> None:
    asked = GeminiPlanner(GeminiSettings(SecretStr(KEY), base_url=url, tries=1))
    with pytest.raises(ServiceUnavailable) as raised:
        asyncio.run(asked.plan(usual_request()))
    assert "base URL" in str(raised.value.cure)


def test_key_model_and_address_come_from_the_environment() -> None:
    given = {"GOOGLE_API_KEY": "k2", "BLENDWRIGHT_GEMINI_MODEL": "m", "GOOGLE_GEMINI_BASE_URL": "http://h"}
    settings = GeminiSettings.from_environment(given)
    assert settings == GeminiSettings(SecretStr("k2"), "m", None, "http://h")
    assert GeminiSettings.from_environment(given | {"GEMINI_API_KEY": "k1"}, model="n").model == "n"
    assert "k2" not in repr(settings) + str(settings)
    assert GeminiSettings.from_environment({"BLENDWRIGHT_GEMINI_THINKING": "high"}).thinking == "high"
    with pytest.raises(EnvironmentUnfit):
        GeminiSettings.from_environment({"BLENDWRIGHT_GEMINI_THINKING": "very"})


def test_the_key_is_in_its_header_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(refused(503), {"plan": PLAN}, canaries=(KEY,)) as server:
        asked = planner(server)
        asyncio.run(asked.plan(usual_request()))
    assert server.received[0].headers["x-goog-api-key"] == KEY
    assert KEY not in caplog.text + repr(asked)


def test_google_genai_is_loaded_with_the_first_call_only() -> None:
    code = "import sys, blendwright.planner.gemini; print('google.genai' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"
