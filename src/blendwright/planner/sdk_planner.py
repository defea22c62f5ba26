"""The base of planners: schemas of the answer from the strictest on, one call, and every way it can fail as an error of the port.

What an SDK raises is never passed on, nor chained: it holds the request with its headers. How a service is asked, and how its answer
is read, is for the planner of that service. The SDKs of Anthropic and OpenAI are of one make, with the same options and errors.
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
from blendwright.planner.service_errors import (
    check_address,
    check_key,
    error_of_status,
    missing_extra,
    no_response,
    timed_out,
    unreachable,
)
from blendwright.values.canonical import digest

ROLES = {"user": "user", "model": "assistant"}
# The SDKs demand a key; servers that need none ignore it.
NO_KEY = "none"


class ServicePlanner(ABC):
    """One model of a service. `base_url` None is the service itself. Holds no connection between calls: any event loop may use it."""

    service: ClassVar[str]
    cut_off: ClassVar[frozenset[str]]
    """The reasons for an end that mean that the answer is not whole."""

    def __init__(self, key: str | None, model: str, base_url: str | None) -> None:
        if key:
            check_key(self.service, key)
        self._key = key
        self._model = model
        self._base_url = base_url
        self._refused_schemas: set[str] = set()

    @property
    def model(self) -> str:
        return self._model

    async def plan(self, request: PlanRequest) -> PlanResponse:
        """Under the strict schema, then the packed one, then none: a model that is not bound is still held to the contract.

        A schema that the service refused, where it took the next one, is not shown to it again.
        """
        schemas: dict[SchemaForm, Mapping[str, Any]] = {}
        if request.schema is not None:
            schemas = {"strict": request.schema.strict, "packed": request.schema.packed}
        refused: set[str] = set()
        for form, schema in schemas.items():
            schema_hash = digest(schema)
            if schema_hash in self._refused_schemas:
                continue
            try:
                answer = await self._request(request, form, schema)
            except SchemaRefused:
                refused.add(schema_hash)
                continue
            self._refused_schemas |= refused
            return answer
        answer = await self._request(request, "none", None)
        self._refused_schemas |= refused
        return answer

    @abstractmethod
    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> Any:
        """Ask once, and give what the SDK gives."""

    @abstractmethod
    def _problem(self, error: Exception, request: PlanRequest, form: SchemaForm) -> PlannerError | None:
        """What an error of the SDK stands for; None where it is none of the service's."""

    @abstractmethod
    def _response(self, answer: Any, form: SchemaForm) -> PlanResponse:
        """Read it. Raises Blocked, Truncated or NoResponse for what is no plan.

        The SDKs check nothing: a field may be missing or hold anything, and whatever Python raises then says that this is no answer.
        """

    async def _request(self, request: PlanRequest, form: SchemaForm, schema: Mapping[str, Any] | None) -> PlanResponse:
        problem: PlannerError | None
        try:
            async with asyncio.timeout(request.allowance.seconds):
                answer = await self._call(request, schema)
        except PlannerError:
            raise
        except TimeoutError:
            problem = timed_out(self.service, request.allowance.seconds)
        except Exception as error:
            # JSON that is none, before the SDK looks at it, is an error of Python's.
            unread = isinstance(error, (ValueError, RecursionError))
            problem = self._problem(error, request, form) or (no_response(self.service) if unread else None)
            if problem is None:
                raise
        else:
            return self._read(answer, form)
        raise problem

    def _read(self, answer: Any, form: SchemaForm) -> PlanResponse:
        try:
            return self._response(answer, form)
        except (AttributeError, TypeError, LookupError):
            problem = no_response(self.service)
        raise problem

    def _whole(
        self, text: str, reason: str, usage: Usage, form: SchemaForm, *, withheld: bool, model: str | None = None
    ) -> PlanResponse:
        """The response, if there is a whole one. `reason` says why the model ended."""
        if withheld:
            message, cure = f"{self.service} withheld its answer ({reason})", "Say the request in other words."
            raise Blocked(message, reason=reason, usage=usage, text=text, cure=cure)
        if reason in self.cut_off:
            message, cure = f"the answer was cut off ({reason})", "Allow more tokens, or ask for less at once."
            raise Truncated(message, reason=reason, usage=usage, text=text, cure=cure)
        if not text.strip():
            raise NoResponse("the answer is empty", reason=reason, usage=usage, cure="Try again.")
        return PlanResponse(unpack(text), usage, model or self.model, reason, form)


class SdkPlanner(ServicePlanner):
    """On an SDK of that make."""

    package: ClassVar[str]
    """The SDK, and the extra that installs it. It is loaded with the first call."""
    client: ClassVar[str]
    refuses_schema: ClassVar[frozenset[int]]
    """The statuses that may mean that the service does not take the form of the answer."""

    @abstractmethod
    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        """Ask once, through a client."""

    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> Any:
        check_address(self._base_url)
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        # Retries are the loop's: it knows what is left of the budget, and tells of them.
        open_client = getattr(self._sdk(), self.client)(
            api_key=self._key or NO_KEY, base_url=self._base_url, timeout=request.allowance.seconds, max_retries=0
        )
        async with open_client as client:
            return await self._ask(client, request, turns, schema)

    def _problem(self, error: Exception, request: PlanRequest, form: SchemaForm) -> PlannerError | None:
        sdk = self._sdk()
        if isinstance(error, sdk.APITimeoutError):
            return timed_out(self.service, request.allowance.seconds)
        if isinstance(error, sdk.APIStatusError):
            status: Any = error
            problem = error_of_status(
                self.service, status.status_code, str(status.message), status.response.headers, self._key
            )
            if status.status_code in self.refuses_schema and form != "none":
                return SchemaRefused(problem.message, cure=problem.cure)
            return problem
        return unreachable(self.service, error, self._key) if isinstance(error, sdk.APIError) else None

    def _sdk(self) -> Any:
        try:
            return import_module(self.package)
        except ImportError:
            raise missing_extra(self.service, self.package) from None


def token_count(value: Any) -> int:
    """A number of tokens. Local servers may count nothing, or say so in their own way."""
    return value if isinstance(value, int) and value > 0 else 0
