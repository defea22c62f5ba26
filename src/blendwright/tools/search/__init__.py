"""Search for tools by words, including words of users who know Blender and of users who only know their goal.

`find_tools` ranks tools and macros together with missing topics, which no tool covers. If a missing topic matches best, the
answer says that no tool does it. The words are data in `vocabulary.json`: phrases for each tool and each topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from blendwright.tool_api.tool import AnyTool
from blendwright.tools.search.ranking import Entry, Ranking, Scored
from blendwright.tools.search.vocabulary import MissingTopic, small_words, things, topics, words_for

# Smallest share of the best score for a listed match, and for a tool that is listed next to a missing topic.
WORTH_READING = 0.35
NEARLY_AS_GOOD = 0.85
PYTHON = "Python can: python_run (in a plan: python.run)"


@dataclass(frozen=True, slots=True)
class Searchable:
    """The searchable text of a tool or macro."""

    name: str
    summary: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search. `names` has the best match first; if it is empty, `message` says what to do instead."""

    names: tuple[str, ...]
    message: str = ""


def searchable(tool: AnyTool) -> Searchable:
    return Searchable(tool.name, tool.summary(), tuple(tool.args_model.model_fields))


def find_tools(query: str, among: Iterable[Searchable], *, most: int = 20) -> Found:
    """Return the tools that match a query, or a message if no tool does. A noun alone returns all tools of that noun.

    The result has at most `most` names.
    """
    noun = query.strip().lower()
    family: list[str] = []
    entries: list[Entry] = []
    for candidate in among:
        if candidate.name.partition(".")[0] == noun:
            family.append(candidate.name)
        entries.append(Entry(candidate.name, words_for(candidate.name), candidate.summary, candidate.arguments))
    if family:
        return Found(tuple(family)[:most])

    missing: dict[str, MissingTopic] = {}
    for topic in topics():
        key = f"missing {topic.name}"
        missing[key] = topic
        entries.append(Entry(key, topic.words, "", ()))

    tools: list[Scored] = []
    topic_match: Scored | None = None
    for match in _ranking(tuple(entries)).ranked(query):
        if match.name not in missing:
            tools.append(match)
        elif topic_match is None:
            topic_match = match

    if topic_match is not None and (not tools or topic_match.score >= tools[0].score):
        near = _names_above(tools, NEARLY_AS_GOOD * topic_match.score)[:most]
        return Found(tuple(near), _message(missing[topic_match.name], near))
    if not tools:
        return Found((), f"No tool matches these words. {PYTHON}. An empty query lists every tool.")
    return Found(tuple(_names_above(tools, WORTH_READING * tools[0].score))[:most])


@lru_cache(maxsize=4)
def _ranking(entries: tuple[Entry, ...]) -> Ranking:
    return Ranking(entries, small_words(), things())


def _names_above(tools: Sequence[Scored], threshold: float) -> list[str]:
    return [match.name for match in tools if match.score >= threshold]


def _message(topic: MissingTopic, near: Sequence[str]) -> str:
    if topic.python:
        message = f"No tool {topic.what}. {PYTHON}, by {topic.python}."
    else:
        message = f"No tool {topic.what}. Python cannot do it here either."
    if near:
        message += f" Nearest: {', '.join(near)}."
    return message
