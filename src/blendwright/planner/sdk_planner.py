"""What planners on an official SDK have in common: one call in some form, and every way in which it can fail as an error of the port.

The SDKs of Anthropic and OpenAI are of one make, with the same options and errors. What they raise is never passed on, nor chained: it
holds the request with its headers. How a service is asked, and how its answer is read, is for the planner of that service.
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

from blendwright.planner.port import (
    KeyRefused,
    PlannerError,
    PlanRequest,
    PlanResponse,
    SchemaForm,
    SchemaRefused,
    ServiceUnavailable,
)
from blendwright.planner.schema_fallback import with_schema_fallback
from blendwright.planner.service_errors import check_address, error_of_status, missing_extra
from blendwright.planner.service_words import short_message

ROLES = {"user": "user", "model": "assistant"}
# The SDKs want a key; servers that ask for none do not look at it.
NO_KEY = "none"


class SdkPlanner(ABC):
    """One model of a service. `base_url` None is the service itself."""

    service: ClassVar[str]
    package: ClassVar[str]
    """The SDK, and the extra that installs it. It is loaded with the first call."""
    client: ClassVar[str]
    refuses_schema: ClassVar[frozenset[int]]
    """The statuses that may mean that the service does not take the form of the answer."""

    def __init__(self, key: str | None, model: str, base_url: str | None) -> None:
        if key and not re.fullmatch(r"[!-~]+", key):
            raise KeyRefused(f"the key for {self.service} has characters that no key has", cure="Check the key.")
        self._key = key
        self._model = model
        self._base_url = base_url

    @property
    def model(self) -> str:
        return self._model

    async def plan(self, request: PlanRequest) -> PlanResponse:
        """Under the strict schema, then the packed one, then none: a model that is not bound is still held to the contract."""
        return await with_schema_fallback(request, lambda shape, schema: self._asked(request, shape, schema))

    @abstractmethod
    async def _call(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        """Ask once, and give what the SDK gives."""

    @abstractmethod
    def _answer(self, answered: Any, shape: SchemaForm) -> PlanResponse:
        """Read it. Raises Blocked, Truncated or NoAnswer for what is no plan.

        The SDKs check nothing: a field may be missing or hold anything, and whatever Python raises then says that this is no answer.
        """

    async def _asked(self, request: PlanRequest, shape: SchemaForm, schema: Mapping[str, Any] | None) -> PlanResponse:
        check_address(self._base_url)
        sdk = self._sdk()
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        seconds = request.allowance.seconds
        trouble: PlannerError
        try:
            # Retries are the loop's: it knows what is left of the budget, and tells of them.
            open_client = getattr(sdk, self.client)(
                api_key=self._key or NO_KEY, base_url=self._base_url, timeout=seconds, max_retries=0
            )
            async with asyncio.timeout(seconds), open_client as client:
                answered = await self._call(client, request, turns, schema)
            return self._read(answered, shape)
        except (TimeoutError, sdk.APITimeoutError):
            trouble = ServiceUnavailable(f"{self.service} did not answer within {seconds:g} seconds")
        except sdk.APIStatusError as error:
            trouble = error_of_status(
                self.service, error.status_code, str(error.message), error.response.headers, self._key
            )
            if error.status_code in self.refuses_schema and schema is not None:
                trouble = SchemaRefused(trouble.message, cure=trouble.cure)
        except sdk.APIError as error:
            message = f"{self.service} cannot be reached: {short_message(error, self._key or '')}"
            trouble = ServiceUnavailable(message, cure="Check the network and the base URL.")
        except (ValueError, RecursionError):
            # JSON that is none, before the SDK looks at it.
            trouble = self._no_answer()
        raise trouble

    def _read(self, answered: Any, shape: SchemaForm) -> PlanResponse:
        try:
            return self._answer(answered, shape)
        except (AttributeError, TypeError, LookupError):
            trouble = self._no_answer()
        raise trouble

    def _no_answer(self) -> ServiceUnavailable:
        message = f"what came back is no answer of {self.service}"
        return ServiceUnavailable(message, cure="Check the base URL; a proxy may have answered instead.")

    def _sdk(self) -> Any:
        try:
            return import_module(self.package)
        except ImportError:
            raise missing_extra(self.service, self.package) from None


def counted(value: Any) -> int:
    """A number of tokens. Local servers may count nothing, or say so in their own way."""
    return value if isinstance(value, int) and value > 0 else 0


def joined(texts: Any) -> str:
    """Raises TypeError for what is no text."""
    return "".join(texts)
