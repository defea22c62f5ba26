"""The service for tests is worth trusting: it speaks the protocol as the SDK expects it, and lets nothing wrong pass."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import types

from support.hosts.gemini import Scenario, serving
from support.hosts.gemini.received import outside_subset
from support.hosts.gemini.scenario import KEY


def post(url: str, path: str, body: Any, key: str | None = KEY) -> tuple[int, Any]:
    headers = {"content-type": "application/json"} | ({"x-goog-api-key": key} if key else {})
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


PATH = "/v1beta/models/gemini-x:generateContent"
HELLO = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


def test_answers_stream_in_pieces_that_the_sdk_joins() -> None:
    async def main(url: str) -> tuple[list[str], types.FinishReason | None, int | None]:
        client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))
        pieces: list[Any] = []
        async for piece in await client.aio.models.generate_content_stream(model="gemini-x", contents="hello"):
            pieces.append(piece)
        await client.aio.aclose()
        last = pieces[-1]
        return [piece.text for piece in pieces], last.candidates[0].finish_reason, last.usage_metadata.total_token_count

    with serving({"expect": {"stream": True}, "answer": {"text": "in two halves"}}) as server:
        texts, reason, total = asyncio.run(main(server.url))
    assert len(texts) == 2
    assert "".join(texts) == "in two halves"
    assert reason is types.FinishReason.STOP
    assert total


def test_errors_come_in_the_services_own_envelope() -> None:
    with serving({"error": {"status": 429, "message": "slow down", "retry_delay": 3}}) as server:
        status, document = post(server.url, PATH, HELLO)
    assert status == 429
    assert document["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert document["error"]["details"][0]["retryDelay"] == "3s"


@pytest.mark.parametrize(("key", "status"), [(None, 403), ("wrong", 400)])
def test_nothing_is_answered_without_the_key(key: str | None, status: int) -> None:
    with serving() as server:
        assert post(server.url, PATH, HELLO, key)[0] == status


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({**HELLO, "surprise": 1}, "unknown field surprise"),
        ({"contents": [{"role": "system", "parts": [{"text": "x"}]}]}, "a content needs a role and parts"),
        ({**HELLO, "generationConfig": {"responseJsonSchema": {"type": "object"}}}, "non-empty"),
        ({"contents": [{"role": "user", "parts": [{"text": "my canary-1"}]}]}, "the request holds the secret canary-1"),
        ({"contents": [{"role": "user", "parts": [{"text": "other"}]}]}, "does not mention 'hello'"),
    ],
)
def test_what_the_service_or_the_scenario_does_not_expect_is_refused_and_noted(body: Any, problem: str) -> None:
    scenario = Scenario.of({"expect": {"mentions": ["hello"]}, "answer": {"text": "hi"}}, canaries=("canary-1",))
    with serving(scenario, strict=False) as server:
        assert post(server.url, PATH, body)[0] == 400
    assert any(problem in noted for noted in server.problems)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "a"},
        {"const": "a"},
        {"type": "string", "minLength": 1},
        {"allOf": [{"type": "string"}]},
        {"not": {"type": "string"}},
        {"type": "array", "items": {"type": "number"}, "maxItems": 3},
        {"type": "number", "minimum": 0},
        {"type": "object", "properties": {}},
    ],
)
def test_every_word_outside_the_subset_is_found(schema: dict[str, Any]) -> None:
    whole = {"type": "object", "properties": {"inner": {"anyOf": [{"type": "null"}, schema]}}, "required": ["inner"]}
    assert list(outside_subset(whole, ""))


def test_a_question_too_many_fails_the_scenario() -> None:
    with serving({"text": "hi"}, strict=False) as server:
        assert post(server.url, PATH, HELLO)[0] == 200
        assert post(server.url, PATH, HELLO)[0] == 400
    assert server.problems == ["a question that the scenario does not have"]


def test_a_scenario_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps({"key": "k", "turns": [{"when": "hello", "repeat": True, "answer": {"text": "hi"}}]}))
    with serving(Scenario.read(file)) as server:
        answers = [post(server.url, PATH, HELLO, "k")[1] for _ in range(2)]
    assert [answer["candidates"][0]["content"]["parts"] for answer in answers] == [[{"text": "hi"}]] * 2
