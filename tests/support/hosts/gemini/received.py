"""One request as the service received it, and everything that the real service would refuse in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

FIELDS = {"contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "safetySettings", "cachedContent"}
# What Gemini's response schemas know, less what it is known to choke on when there is much of it.
SUBSET = {"type", "properties", "required", "items", "anyOf", "enum"}
TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        return self.path.rpartition("/")[2].partition(":")[0]

    @property
    def stream(self) -> bool:
        return ":streamGenerateContent" in self.path

    @property
    def config(self) -> Mapping[str, Any]:
        return self.body.get("generationConfig") or {}

    @property
    def schema(self) -> Mapping[str, Any] | None:
        return self.config.get("responseJsonSchema") or self.config.get("responseSchema")

    @property
    def shape(self) -> str:
        """Which of the two forms of our answers the schema is."""
        if self.schema is None:
            return "none"
        return "strict" if "anyOf" in str(self.schema) else "packed"

    def tool_named(self, ending: str) -> str:
        """The function whose name ends so, as the host declares it; hosts put something in front."""
        declared = [one["name"] for tool in self.body.get("tools", []) for one in tool.get("functionDeclarations", [])]
        return next((name for name in declared if name.endswith(ending)), ending)

    @property
    def function_responses(self) -> list[Any]:
        parts = [part for content in self.body.get("contents", []) for part in content.get("parts", [])]
        return [part["functionResponse"] for part in parts if "functionResponse" in part]

    @property
    def texts(self) -> list[str]:
        said: list[Any] = [self.body.get("systemInstruction") or {}, *self.body.get("contents", [])]
        return [part["text"] for content in said for part in content.get("parts", []) if "text" in part]

    @property
    def prompt(self) -> str:
        return "\n".join(self.texts)

    def problems(self, expect: Mapping[str, Any], canaries: tuple[str, ...]) -> Iterator[str]:
        yield from self._malformed()
        whole = self.path + str(self.body)
        yield from (f"the request holds the secret {canary}" for canary in canaries if canary in whole)
        yield from (
            f"the prompt does not mention {word!r}" for word in expect.get("mentions", ()) if word not in self.prompt
        )
        yield from (f"the prompt mentions {word!r}" for word in expect.get("lacks", ()) if word in self.prompt)
        seen = {
            "shape": self.shape,
            "turns": len(self.body.get("contents", [])),
            "stream": self.stream,
            "model": self.model,
        }
        for name, value in seen.items():
            if name in expect and expect[name] != value:
                yield f"{name} is {value!r}, not {expect[name]!r}"

    def _malformed(self) -> Iterator[str]:
        yield from (f"unknown field {name}" for name in self.body if name not in FIELDS)
        contents: list[Any] = self.body.get("contents", [])
        if not contents:
            yield "contents is empty"
        for content in contents:
            if content.get("role") not in {"user", "model"} or not content.get("parts"):
                yield "a content needs a role and parts"
        if self.schema is not None:
            if self.config.get("responseMimeType") != "application/json":
                yield "a response schema needs responseMimeType application/json"
            yield from outside_subset(self.schema, "")


def outside_subset(schema: Any, at: str) -> Iterator[str]:
    """Everything in a schema that the service does not know, with its place."""
    if not isinstance(schema, dict):
        yield f"{at or '/'} is no schema"
        return
    known = cast("dict[str, Any]", schema)
    yield from (f"{at}/{name} is not known to response schemas" for name in known if name not in SUBSET)
    if "type" in known and known["type"] not in TYPES:
        yield f"{at}/type is {known['type']!r}"
    if "type" not in known and "anyOf" not in known:
        yield f"{at or '/'} has neither type nor anyOf"
    if known.get("type") == "object" and not known.get("properties"):
        yield f"{at}/properties should be non-empty for type object"
    if known.get("type") == "array" and "items" not in known:
        yield f"{at}/items is missing"
    yield from (
        f"{at}/required/{name} is no property" for name in known.get("required", ()) if name not in known["properties"]
    )
    for name, inner in known.get("properties", {}).items():
        yield from outside_subset(inner, f"{at}/properties/{name}")
    for index, inner in enumerate(known.get("anyOf", ())):
        yield from outside_subset(inner, f"{at}/anyOf/{index}")
    if "items" in known:
        yield from outside_subset(known["items"], f"{at}/items")
