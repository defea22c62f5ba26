"""Finding a tool by words: what people who know Blender, or only know what they want, call what a tool does.

`find_tools` ranks tools and macros, and among them the topics of which it is known that no tool serves them: where such a topic fits
best, the answer is that no tool does it. The words are data, `vocabulary.json`: phrases for each tool and each topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from blendwright.tool_api.tool import AnyTool
from blendwright.tools.search.ranking import Entry, Ranking, Scored
from blendwright.tools.search.vocabulary import MissingTopic, small_words, things, topics, words_for

# Parts of the best score that a match must reach to be worth reading, and that a topic without a tool must not be beaten by.
WORTH_READING = 0.35
NEARLY_AS_GOOD = 0.85
PYTHON = "Python can: python_run (in a plan: python.run)"


@dataclass(frozen=True, slots=True)
class Searchable:
    """Anything that can be called, as far as it is searched: a tool or a macro."""

    name: str
    summary: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """`names` are the best first. Without any, `message` says that there is none and what to do instead."""

    names: tuple[str, ...]
    message: str = ""


def searchable(tool: AnyTool) -> Searchable:
    return Searchable(tool.name, tool.summary(), tuple(tool.args_model.model_fields))


def find_tools(query: str, among: Iterable[Searchable], *, most: int = 20) -> Found:
    """The tools that a query asks for, or the plain answer that there is none. A noun alone asks for all of its family."""
    callable_ones = list(among)
    served = {one.name for one in callable_ones}
    missing = {f"missing {topic.name}": topic for topic in topics()}
    entries = [Entry(one.name, words_for(one.name), one.summary, one.arguments) for one in callable_ones]
    entries += [Entry(key, topic.words, "", ()) for key, topic in missing.items()]
    if family := [one.name for one in callable_ones if one.name.partition(".")[0] == query.strip().lower()]:
        return Found(tuple(family)[:most])
    ranked = _ranking(tuple(entries)).ranked(query)
    tools = [one for one in ranked if one.name in served]
    gap = next((one for one in ranked if one.name in missing), None)
    if gap is not None and (not tools or gap.score >= tools[0].score):
        near = [one.name for one in tools if one.score >= NEARLY_AS_GOOD * gap.score][:most]
        return Found(tuple(near), _message(missing[gap.name], near))
    if not tools:
        return Found((), f"No tool does that, by these words. {PYTHON}. An empty query lists every tool.")
    return Found(tuple(_worth_reading(tools))[:most])


@lru_cache(maxsize=4)
def _ranking(entries: tuple[Entry, ...]) -> Ranking:
    return Ranking(entries, small_words(), things())


def _worth_reading(tools: Sequence[Scored]) -> Iterable[str]:
    return (one.name for one in tools if one.score >= WORTH_READING * tools[0].score)


def _message(topic: MissingTopic, near: Sequence[str]) -> str:
    if topic.python:
        how = f"{PYTHON}, by {topic.python}."
    else:
        how = "Neither does Python here."
    if near:
        beside = f" Nearest: {', '.join(near)}."
    else:
        beside = ""
    return f"No tool {topic.what}. {how}{beside}"
