"""A document against a JSON Schema, or arguments against their model: every problem as a finding with its exact pointer and a cure.

Of arguments JSON Schema comes first, since its pointers are exact; then the model fills in defaults, trims, and finds what a schema
cannot say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, cast

import jsonschema_rs
from pydantic import BaseModel, ValidationError

from blendwright.util.json_shapes import fields_of
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding, did_you_mean, pointer_of

# How much of a wrong value is worth repeating.
SHOWN = 60
# References into each other could go on for ever.
DEEPEST = 16
# The word that tells alternatives apart comes first; only then the words inside of the one that is meant can be seen.
MOST_RESPELLINGS = 3

Advice = Callable[[str], str]

# What building a checker raises for a schema that is none, or refers to what it does not have.
BROKEN_SCHEMA = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)


class Checker:
    """A compiled schema; it must not refer to others. `advice` gives the cure for a pointer where the problem itself does not
    suggest one. Building one raises `BROKEN_SCHEMA` for what is no schema: it is a stranger's only in a workspace's macros."""

    def __init__(self, schema: dict[str, Any], fault: Fault, advice: Advice) -> None:
        # The value is named "it" in messages: a document of megabytes must not be repeated in them. A schema may come from a
        # workspace: offline, a reference in it is never followed out of it, neither to a file nor to another machine.
        self._validator: Any = jsonschema_rs.validator_for(schema, mask="it", offline=True)
        self._schema = schema
        self._fault = fault
        self._advice = advice

    def fits(self, document: Any) -> bool:
        """Whether there are no findings, in a fraction of the time that it takes to look for them."""
        return self._validator.is_valid(document)

    def findings(self, document: Any) -> Iterator[Finding]:
        problems = self._validator.iter_errors(document)
        return islice(chain.from_iterable(map(self._explained, problems)), MOST_FINDINGS)

    def _explained(self, error: Any) -> Iterator[Finding]:
        kind, pointer = error.kind, pointer_of(error.instance_path)
        if kind.name == "additionalProperties":
            fields = self._properties(error.schema_path)
            for name in kind.unexpected:
                cure = did_you_mean(name, fields, otherwise=f"Leave it out. Known: {', '.join(fields)}.")
                yield Finding(self._fault, f"unknown field '{name[:SHOWN]}'", pointer + pointer_of([name]), cure)
        elif kind.name == "required":
            yield Finding(self._fault, f"'{kind.property}' is missing", pointer, f"Add '{kind.property}'.")
        elif kind.name == "enum":
            choices = [str(option) for option in kind.options]
            cure = did_you_mean(str(error.instance), choices, otherwise=f"One of: {', '.join(choices)}.")
            yield Finding(self._fault, f"{_shown(error.instance)} is not a choice here", pointer, cure)
        elif kind.name == "const":
            only = _shown(kind.expected_value)
            yield Finding(self._fault, f"{_shown(error.instance)} is not a choice here", pointer, f"Only {only} is.")
        elif kind.name in {"anyOf", "oneOf"} and (choices := _discriminators(kind.context)):
            choice_at, value, words = choices
            cure = did_you_mean(str(value), words, otherwise=f"One of: {', '.join(words)}.")
            yield Finding(self._fault, f"{_shown(value)} is not a choice here", choice_at, cure)
        elif kind.name in {"anyOf", "oneOf"} and kind.context:
            for inner in _likeliest(kind.context, len(error.instance_path)):
                yield from self._explained(inner)
        else:
            message = error.message.removeprefix("it ")
            yield Finding(self._fault, f"{_shown(error.instance)} {message}", pointer, self._advice(pointer))

    def respelled(self, document: Any) -> Any:
        """The document with every choice as its schema writes it, where capitals, spaces or hyphens are all that differs; None where
        there is nothing of the sort."""
        changed = False
        for error in islice(self._validator.iter_errors(document), MOST_FINDINGS):
            for path, value, words in _wrong_choices(error):
                alike = [word for word in words if _plain(word) == _plain(value)]
                if len(alike) == 1:
                    document, changed = _with(document, path, alike[0]), True
        if changed:
            return document
        return None

    def _properties(self, path: Sequence[Any]) -> list[str]:
        """The fields that the schema at fault knows, following references on the way there."""
        part_schema: Any = self._schema
        for part in path[:-1]:
            if part == "$ref":
                part_schema = resolved(self._schema, part_schema["$ref"])
            else:
                part_schema = part_schema[part]
        return sorted(part_schema.get("properties", {}))


def model_problems(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """What a pydantic model says against a document: the path and the message of each problem."""
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        yield problem["loc"], problem["msg"]


def _discriminators(branches: Sequence[Sequence[Any]]) -> tuple[str, Any, list[str]] | None:
    """Where every branch of a union fails on its own word at one place: that place, the value, and all the words."""
    constants: list[Any] = []
    for branch in branches:
        constant = next((error for error in branch if error.kind.name == "const"), None)
        if constant is None:
            return None
        constants.append(constant)
    places = {pointer_of(error.instance_path) for error in constants}
    if len(places) != 1:
        return None
    return places.pop(), constants[0].instance, [str(error.kind.expected_value) for error in constants]


def _wrong_choices(error: Any) -> Iterator[tuple[list[Any], str, list[str]]]:
    """Where a word stands that is none of the choices: the path to it, the word, and the choices."""
    kind = error.kind
    if kind.name in {"enum", "const"} and isinstance(error.instance, str):
        if kind.name == "enum":
            words = kind.options
        else:
            words = [kind.expected_value]
        yield list(error.instance_path), error.instance, [word for word in words if isinstance(word, str)]
    elif kind.name in {"anyOf", "oneOf"} and kind.context:
        choices = _discriminators(kind.context)
        if choices is not None and isinstance(choices[1], str):
            constant = next(inner for branch in kind.context for inner in branch if inner.kind.name == "const")
            yield list(constant.instance_path), choices[1], choices[2]
        elif choices is None:
            for inner in _likeliest(kind.context, len(error.instance_path)):
                yield from _wrong_choices(inner)


def _plain(word: str) -> str:
    return word.strip().casefold().replace(" ", "_").replace("-", "_")


def _with(document: Any, path: Sequence[Any], value: Any) -> Any:
    """A document with another value at a place; the given one stays as it is."""
    if not path:
        return value
    first, *rest = path
    if isinstance(document, list):
        listed = list(cast("list[Any]", document))
        listed[first] = _with(listed[first], rest, value)
        return listed
    return {**document, first: _with(document[first], rest, value)}


def _likeliest(branches: Sequence[Sequence[Any]], depth: int) -> Sequence[Any]:
    """The branch that was probably meant: not one that already fails on the value's type or on its discriminator."""

    def strangeness(branch: Sequence[Any]) -> tuple[int, int]:
        foreign = sum(
            error.kind.name == "const" or (error.kind.name == "type" and len(error.instance_path) == depth)
            for error in branch
        )
        return foreign, len(branch)

    return min(branches, key=strangeness)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= SHOWN:
        return text
    return text[: SHOWN - 3] + "..."


def whole_numbers(value: Any, schema: Any, root: Any) -> Any:
    """The value with every whole float as an integer where its JSON Schema wants one: JSON knows one kind of number, and 8.0 means 8.
    `root` is the schema that references lead into; of alternatives, those that fit the kind of the value count."""
    if not isinstance(schema, dict) or not isinstance(value, (float, dict, list)):
        return value
    rules = cast("dict[str, Any]", schema)
    if isinstance(value, float):
        if value.is_integer() and _kinds(rules, root) == {"integer"}:
            return int(value)
        return value
    for part in _parts(rules, root):
        if isinstance(value, dict):
            fields, others = part.get("properties", {}), part.get("additionalProperties")
            members = cast("dict[str, Any]", value)
            value = {name: whole_numbers(one, fields.get(name, others), root) for name, one in members.items()}
        else:
            first, rest = part.get("prefixItems", []), part.get("items")
            listed = cast("list[Any]", value)
            value = [
                whole_numbers(one, first[index] if index < len(first) else rest, root)
                for index, one in enumerate(listed)
            ]
    return cast("Any", value)


def _parts(schema: dict[str, Any], root: Any, depth: int = 0) -> list[dict[str, Any]]:
    """A schema and all that it is put together of."""
    parts = [schema]
    if depth < DEEPEST:
        inner: list[Any] = [one for word in ("allOf", "anyOf", "oneOf") for one in schema.get(word, [])]
        if str(schema.get("$ref", "")).startswith("#/"):
            inner.append(resolved(root, schema["$ref"]))
        for one in inner:
            if isinstance(one, dict):
                parts += _parts(cast("dict[str, Any]", one), root, depth + 1)
    return parts


def _kinds(schema: dict[str, Any], root: Any) -> set[str]:
    """Which kinds of number it speaks of."""
    kinds: set[str] = set()
    for part in _parts(schema, root):
        types: Any = part.get("type", [])
        kinds |= {"integer", "number"} & set([types] if isinstance(types, str) else types)
    return kinds


def resolved(schema: Any, reference: str) -> dict[str, Any]:
    """What a reference inside a schema leads to; an empty schema where that is not to be seen at once."""
    target: Any = schema
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        target = fields_of(target).get(key)
    return fields_of(target)


class ModelChecker:
    """A model with its schema, compiled. `otherwise` is the cure where the argument at fault has no description."""

    def __init__(self, model: type[BaseModel], schema: dict[str, Any], otherwise: str) -> None:
        self._model = model
        self._schema = schema
        self._advice = argument_advice(schema.get("properties", {}), otherwise)
        self._checker = Checker(schema, Fault.ARGS_INVALID, self._advice)

    def validate(self, raw: Any) -> tuple[Any, tuple[Finding, ...]]:
        """The model and no findings, or None and all of them. A choice is taken in other capitals too, and is in the model as its
        schema writes it."""
        if not self._checker.fits(raw):
            findings = tuple(self._checker.findings(raw))
            for _ in range(MOST_RESPELLINGS):
                if findings:
                    respelled = self._checker.respelled(raw)
                else:
                    respelled = None
                if respelled is None:
                    break
                raw, findings = respelled, tuple(self._checker.findings(respelled))
            if findings:
                return None, findings
        try:
            return self._validated(raw), ()
        except ValidationError as error:
            return None, tuple(self._findings(raw, error))

    def _validated(self, raw: Any) -> BaseModel:
        """To JSON Schema 8.0 is an integer: where the model wants one it is read as 8, so that both are the same call."""
        try:
            return self._model.model_validate(raw)
        except ValidationError as error:
            if not any(problem["type"] == "int_type" for problem in error.errors()):
                raise
            return self._model.model_validate(whole_numbers(raw, self._schema, self._schema))

    def _findings(self, raw: Any, error: ValidationError) -> Iterator[Finding]:
        for loc, message in model_problems(error):
            pointer = pointer_of(_path_in(raw, loc))
            yield Finding(Fault.ARGS_INVALID, message, pointer, self._advice(pointer))


def argument_advice(properties: Mapping[str, Any], otherwise: str) -> Advice:
    """What the argument at fault is for, which says what would do."""

    def advice(pointer: str) -> str:
        name = pointer.removeprefix("/").partition("/")[0]
        description = properties.get(name, {}).get("description")
        if description:
            return f"{name}: {description}"
        return otherwise

    return advice


def _path_in(raw: Any, loc: Sequence[int | str]) -> Iterator[int | str]:
    """The parts of a place that lead through the arguments; pydantic also names the members of unions it went through."""
    value = raw
    for number, part in enumerate(loc, start=1):
        if (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            value = cast("Any", value)[part]
            yield part
        elif isinstance(value, dict) and number == len(loc) and part not in cast("dict[str, Any]", value).values():
            yield part  # an argument that was left out; a member of a union is called by one of the values
