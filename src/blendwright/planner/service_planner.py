"""The base of planners: answer schemas from the strictest to none, one call, and every failure as an error of the port.

It never passes on or chains an SDK's exception, because that holds the request with its headers. No message shows the
key. The subclass for each service makes the call and reads the answer.
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

MAX_MESSAGE_CHARACTERS = 300
HIDDEN_KEY = "[key]"


class ServicePlanner(ABC):
    """A model of a service.

    A `base_url` of None means the service's own address. It keeps no connection between calls, so any event loop may
    use it.
    """

    service: ClassVar[str]
    cut_off: ClassVar[frozenset[str]]
    """The finish reasons of an incomplete answer."""

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
        """Return the answer under the strict schema, or else the packed one, or else none.

        The contract still checks an answer without a schema. If the service refuses a schema and accepts the next one,
        later calls skip the refused schema.
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
        """Load the SDK, which takes a second or more. This time does not count for the service."""

    @abstractmethod
    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> Any:
        """Make one call, and return the SDK's result."""

    @abstractmethod
    def _problem(self, error: Exception, request: PlanRequest, form: SchemaForm) -> PlannerError | None:
        """Return the error of the port for an SDK's exception; None for exceptions of other origin."""

    @abstractmethod
    def _response(self, answer: Any, form: SchemaForm) -> PlanResponse:
        """Read the SDK's result. Raise Blocked, Truncated or NoResponse if it is not a plan.

        The SDKs check nothing: a field may be missing or hold anything. Python's exceptions then mean that the service
        gave no answer.
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
            problem = self._problem(error, request, form)
            # Python raises these for invalid JSON, before the SDK sees it.
            if problem is None and isinstance(error, (ValueError, RecursionError)):
                problem = no_response(self.service)
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
        """Return the response, or raise an error if it is withheld, incomplete or empty. `reason` is the finish reason."""
        if withheld:
            message, cure = f"{self.service} withheld its answer ({reason})", "Rephrase the request."
            raise port.Blocked(message, reason=reason, usage=usage, text=text, cure=cure)
        if reason in self.cut_off:
            message, cure = f"the answer was cut off ({reason})", "Allow more tokens, or request less at once."
            raise port.Truncated(message, reason=reason, usage=usage, text=text, cure=cure)
        if not text.strip():
            raise port.NoResponse("the answer is empty", reason=reason, usage=usage, cure="Try again.")
        return PlanResponse(unpack(text), usage, model or self.model, reason, form)


def short_message(message: object, *secrets: str) -> str:
    """Return a service's error message in a form to show: short, without invisible characters, and without `secrets`."""
    text = str(message)
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN_KEY)
    return visible(" ".join(text.split()), MAX_MESSAGE_CHARACTERS)


def check_key(service: str, key: str) -> None:
    """Raise KeyRefused for a key with characters that an HTTP header cannot carry."""
    if not re.fullmatch(r"[!-~]+", key):
        raise port.KeyRefused(f"the key for {service} contains invalid characters", cure="Check the key.")


def timed_out(service: str, seconds: float) -> ServiceUnavailable:
    return ServiceUnavailable(f"{service} did not answer within {seconds:g} seconds")


def unreachable(service: str, error: object, secret: str | None) -> ServiceUnavailable:
    message = short_message(error, secret or "") or type(error).__name__
    return ServiceUnavailable(f"{service} cannot be reached: {message}", cure="Check the network and the base URL.")


def no_response(service: str) -> ServiceUnavailable:
    """Return the error for a reply that is neither an answer nor an error, such as a proxy's page."""
    message = f"the reply is not an answer of {service}"
    return ServiceUnavailable(message, cure="Check the base URL; a proxy may have answered instead.")


def missing_extra(service: str, extra: str) -> PlannerError:
    return port.ServiceRefused(
        f"the package for {service} is not installed", cure=f"Install it: pip install 'blendwright[{extra}]'"
    )


def check_address(base_url: str | None) -> None:
    """Raise ServiceRefused for an invalid address of a service; None means the service's own address."""
    if base_url is None:
        return
    try:
        address = urlsplit(base_url)
        valid = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        valid = False
    if not valid:
        message = f"the base URL '{short_message(base_url)}' is not a valid address"
        raise port.ServiceRefused(
            message, cure="Give one like http://127.0.0.1:8080/v1 in --base-url or the environment."
        )


def error_of_status(
    service: str, status: int, message: str, headers: Mapping[str, str], secret: str | None
) -> PlannerError:
    """Return the error for an HTTP status."""
    text = f"{service} answered {status}: {short_message(message, secret or '')}"
    if status in (401, 403):
        return port.KeyRefused(text, cure="Check the key and its permissions.")
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
