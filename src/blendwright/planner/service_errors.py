"""Errors of the port for what goes wrong with a service, the same for every service; their messages never show the key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from blendwright.planner.port import KeyMissing, KeyRefused, PlannerError, ServiceRefused, ServiceUnavailable
from blendwright.planner.prompt_data import visible

LONGEST_MESSAGE = 300
HIDDEN_KEY = "[key]"


def short_message(message: object, *secrets: str) -> str:
    """What a service says when something is wrong, made fit to be shown: short, visible, and without `secrets`."""
    text = str(message)
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN_KEY)
    return visible(" ".join(text.split()), LONGEST_MESSAGE)


def missing_key(service: str, variable: str) -> KeyMissing:
    return KeyMissing(
        f"there is no key for {service}", cure=f"Set {variable} to your key, or choose another --provider."
    )


def check_key(service: str, key: str) -> None:
    """Refuses a key that no header could carry."""
    if not re.fullmatch(r"[!-~]+", key):
        raise KeyRefused(f"the key for {service} has characters that no key has", cure="Check the key.")


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
    return ServiceRefused(
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
        raise ServiceRefused(message, cure="Give one like http://127.0.0.1:8080/v1 in --base-url or the environment.")


def error_of_status(
    service: str, status: int, message: str, headers: Mapping[str, str], secret: str | None
) -> PlannerError:
    """The error that an HTTP status stands for."""
    text = f"{service} answered {status}: {short_message(message, secret or '')}"
    if status in (401, 403):
        return KeyRefused(text, cure="Check the key, and what it may be used for.")
    if status in (408, 409, 425, 429) or status >= 500:
        return ServiceUnavailable(text, status=status, retry_after=_seconds(headers.get("retry-after")))
    return ServiceRefused(
        text, cure="Check the model's name and the settings of the service.", details={"status": status}
    )


def _seconds(value: str | None) -> float | None:
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None
