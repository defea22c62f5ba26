"""The base of planners: schemas of the answer from the strictest on, one call, and every way it can fail as an error of the port.

What an SDK raises is never passed on, nor chained: it holds the request with its headers; and no message shows the key. How a service
is asked, and how its answer is read, is for the planner of that service.
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from blendwright.planner import port
from blendwright.planner.port import PlannerError, PlanRequest, PlanResponse, SchemaForm, ServiceUnavailable
from blendwright.planner.prompt_data import visible
from blendwright.planner.response_schema import unpack
from blendwright.util.canonical import digest

LONGEST_MESSAGE = 300
HIDDEN_KEY = "[key]"


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
            except port.SchemaRefused:
                refused.add(schema_hash)
                continue
            self._refused_schemas |= refused
            return answer
        answer = await self._request(request, "none", None)
        self._refused_schemas |= refused
        return answer

    @abstractmethod
    def _load(self) -> None:
        """Load the SDK, which takes a second or more: no part of the time that the service has."""

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
        self._load()
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
        self, text: str, reason: str, usage: port.Usage, form: SchemaForm, *, withheld: bool, model: str | None = None
    ) -> PlanResponse:
        """The response, if there is a whole one. `reason` says why the model ended."""
        if withheld:
            message, cure = f"{self.service} withheld its answer ({reason})", "Say the request in other words."
            raise port.Blocked(message, reason=reason, usage=usage, text=text, cure=cure)
        if reason in self.cut_off:
            message, cure = f"the answer was cut off ({reason})", "Allow more tokens, or ask for less at once."
            raise port.Truncated(message, reason=reason, usage=usage, text=text, cure=cure)
        if not text.strip():
            raise port.NoResponse("the answer is empty", reason=reason, usage=usage, cure="Try again.")
        return PlanResponse(unpack(text), usage, model or self.model, reason, form)


def short_message(message: object, *secrets: str) -> str:
    """What a service says when something is wrong, made fit to be shown: short, visible, and without `secrets`."""
    text = str(message)
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN_KEY)
    return visible(" ".join(text.split()), LONGEST_MESSAGE)


def check_key(service: str, key: str) -> None:
    """Refuses a key that no header could carry."""
    if not re.fullmatch(r"[!-~]+", key):
        raise port.KeyRefused(f"the key for {service} has characters that no key has", cure="Check the key.")


def timed_out(service: str, seconds: float) -> ServiceUnavailable:
    return ServiceUnavailable(f"{service} did not answer within {seconds:g} seconds")


def unreachable(service: str, error: object, secret: str | None) -> ServiceUnavailable:
    message = short_message(error, secret or "") or type(error).__name__
    return ServiceUnavailable(f"{service} cannot be reached: {message}", cure="Check the network and the base URL.")


def no_response(service: str) -> ServiceUnavailable:
    """Neither an error nor an answer: a proxy's page, or JSON of another shape. What it says may be anything."""
    message = f"what came back is no answer of {service}"
    return ServiceUnavailable(message, cure="Check the base URL; a proxy may have answered instead.")


def missing_extra(service: str, extra: str) -> PlannerError:
    return port.ServiceRefused(
        f"the package for {service} is not installed", cure=f"Install it: pip install 'blendwright[{extra}]'"
    )


def check_address(base_url: str | None) -> None:
    """Refuses what cannot be the address of a service; None is the service's own."""
    if base_url is None:
        return
    try:
        address = urlsplit(base_url)
        valid = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        valid = False
    if not valid:
        message = f"the base URL '{short_message(base_url)}' is no address of a service"
        raise port.ServiceRefused(
            message, cure="Give one like http://127.0.0.1:8080/v1 in --base-url or the environment."
        )


def error_of_status(
    service: str, status: int, message: str, headers: Mapping[str, str], secret: str | None
) -> PlannerError:
    """The error that an HTTP status stands for."""
    text = f"{service} answered {status}: {short_message(message, secret or '')}"
    if status in (401, 403):
        return port.KeyRefused(text, cure="Check the key, and what it may be used for.")
    if status in (408, 409, 425, 429) or status >= 500:
        return ServiceUnavailable(text, status=status, retry_after=_seconds(headers.get("retry-after")))
    return port.ServiceRefused(
        text, cure="Check the model's name and the settings of the service.", details={"status": status}
    )


def _seconds(value: str | None) -> float | None:
    try:
        if value is None:
            return None
        return max(0.0, float(value))
    except ValueError:
        return None
