"""Which planner a name stands for, with its key and address from the environment. Loads no SDK."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from blendwright.planner.gemini import GeminiPlanner, GeminiSettings
from blendwright.planner.port import Planner
from blendwright.planner.sdk_planners import AnthropicPlanner, OpenAIPlanner, SdkPlanner

Provider = Literal["gemini", "anthropic", "openai"]
SDK_PLANNERS: dict[str, type[SdkPlanner]] = {"anthropic": AnthropicPlanner, "openai": OpenAIPlanner}


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
    return SDK_PLANNERS[provider](variables, model, base_url)
