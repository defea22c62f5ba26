"""Which planner a name stands for, with its key and address from the environment. Loads no SDK."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from blendwright.planner import anthropic, openai
from blendwright.planner.gemini import GeminiPlanner, GeminiSettings
from blendwright.planner.port import Planner

Provider = Literal["gemini", "anthropic", "openai"]


def create_planner(
    provider: Provider,
    *,
    model: str | None = None,
    base_url: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Planner:
    """Raises KeyMissing when its key is not in the environment. `base_url` comes before what the environment says."""
    variables = os.environ if environment is None else environment
    if provider == "gemini":
        settings = GeminiSettings.from_environment(variables, model=model)
        return GeminiPlanner(settings if base_url is None else replace(settings, base_url=base_url))
    if provider == "anthropic":
        return anthropic.AnthropicPlanner(
            _set(variables, anthropic.KEY), model, base_url or _set(variables, anthropic.BASE_URL)
        )
    return openai.OpenAIPlanner(_set(variables, openai.KEY), model, base_url or _set(variables, openai.BASE_URL))


def _set(variables: Mapping[str, str], name: str) -> str | None:
    """A variable that is empty is not set."""
    return variables.get(name, "").strip() or None
