"""The base of planners on an official SDK: one call, and every way in which it can fail as an error of the port.

The SDKs of Anthropic and OpenAI are of one make, with the same options and errors. What they raise is never passed on, nor chained: it
holds the request with its headers. How a service is asked, and how its answer is read, is for the planner of that service.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

from blendwright.planner.port import (
    Blocked,
    NoResponse,
    PlannerError,
    PlanRequest,
    PlanResponse,
    SchemaForm,
    SchemaRefused,
    Truncated,
    Usage,
)
from blendwright.planner.response_schema import unpack
from blendwright.planner.schema_fallback import with_schema_fallback
from blendwright.planner.service_errors import (
    check_address,
    check_key,
    error_of_status,
    missing_extra,
    no_response,
    timed_out,
    unreachable,
)

ROLES = {"user": "user", "model": "assistant"}
# The SDKs demand a key; servers that need none ignore it.
NO_KEY = "none"


class SdkPlanner(ABC):
    """One model of a service. `base_url` None is the service itself."""

    service: ClassVar[str]
    package: ClassVar[str]
    """The SDK, and the extra that installs it. It is loaded with the first call."""
    client: ClassVar[str]
    refuses_schema: ClassVar[frozenset[int]]
    """The statuses that may mean that the service does not take the form of the answer."""
    cut_off: ClassVar[frozenset[str]]
    """The reasons for an end that mean that the answer is not whole."""

    def __init__(self, key: str | None, model: str, base_url: str | None) -> None:
        if key:
            check_key(self.service, key)
        self._key = key
        self._model = model
        self._base_url = base_url

    @property
    def model(self) -> str:
        return self._model

    async def plan(self, request: PlanRequest) -> PlanResponse:
        """Under the strict schema, then the packed one, then none: a model that is not bound is still held to the contract."""
        return await with_schema_fallback(request, lambda form, schema: self._request(request, form, schema))

    @abstractmethod
    async def _call(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        """Ask once, and give what the SDK gives."""

    @abstractmethod
    def _response(self, answer: Any, form: SchemaForm) -> PlanResponse:
        """Read it. Raises Blocked, Truncated or NoAnswer for what is no plan.

        The SDKs check nothing: a field may be missing or hold anything, and whatever Python raises then says that this is no answer.
        """

    async def _request(self, request: PlanRequest, form: SchemaForm, schema: Mapping[str, Any] | None) -> PlanResponse:
        check_address(self._base_url)
        sdk = self._sdk()
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        seconds = request.allowance.seconds
        problem: PlannerError
        try:
            # Retries are the loop's: it knows what is left of the budget, and tells of them.
            open_client = getattr(sdk, self.client)(
                api_key=self._key or NO_KEY, base_url=self._base_url, timeout=seconds, max_retries=0
            )
            async with asyncio.timeout(seconds), open_client as client:
                return self._read(await self._call(client, request, turns, schema), form)
        except (TimeoutError, sdk.APITimeoutError):
            problem = timed_out(self.service, seconds)
        except sdk.APIStatusError as error:
            problem = error_of_status(
                self.service, error.status_code, str(error.message), error.response.headers, self._key
            )
            if error.status_code in self.refuses_schema and schema is not None:
                problem = SchemaRefused(problem.message, cure=problem.cure)
        except sdk.APIError as error:
            problem = unreachable(self.service, error, self._key)
        except (ValueError, RecursionError):
            # JSON that is none, before the SDK looks at it.
            problem = no_response(self.service)
        raise problem

    def _read(self, answer: Any, form: SchemaForm) -> PlanResponse:
        try:
            return self._response(answer, form)
        except (AttributeError, TypeError, LookupError):
            problem = no_response(self.service)
        raise problem

    def _whole(self, text: str, reason: str, usage: Usage, form: SchemaForm, *, withheld: bool) -> PlanResponse:
        """The response, if there is a whole one. `reason` says why the model ended."""
        if withheld:
            raise Blocked("the answer was withheld", reason=reason, usage=usage, cure="Say it in other words.")
        if reason in self.cut_off:
            raise Truncated("the answer was cut off", reason=reason, usage=usage, text=text)
        if not text:
            raise NoResponse("the answer is empty", reason=reason, usage=usage)
        return PlanResponse(unpack(text), usage, self.model, reason, form)

    def _sdk(self) -> Any:
        try:
            return import_module(self.package)
        except ImportError:
            raise missing_extra(self.service, self.package) from None


def token_count(value: Any) -> int:
    """A number of tokens. Local servers may count nothing, or say so in their own way."""
    return value if isinstance(value, int) and value > 0 else 0
