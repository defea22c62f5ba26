"""What a service's HTTP answer means for the loop, the same for every service."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from blendwright.planner.port import KeyMissing, KeyRefused, PlannerError, ServiceRefused, ServiceUnavailable
from blendwright.planner.service_words import short_message


def missing_key(service: str, variable: str) -> KeyMissing:
    return KeyMissing(
        f"there is no key for {service}", cure=f"Set {variable} to your key, or choose another --provider."
    )


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
        fits = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        fits = False
    if not fits:
        message = f"the base URL '{short_message(base_url)}' is no address of a service"
        raise ServiceRefused(message, cure="Give one like http://127.0.0.1:8080/v1 in --base-url or the environment.")


def error_of_status(
    service: str, status: int, message: str, headers: Mapping[str, str], secret: str | None
) -> PlannerError:
    """The error that an HTTP status stands for."""
    told = f"{service} answered {status}: {short_message(message, secret or '')}"
    if status in (401, 403):
        return KeyRefused(told, cure="Check the key, and what it may be used for.")
    if status in (408, 409, 425, 429) or status >= 500:
        return ServiceUnavailable(told, status=status, retry_after=_seconds(headers.get("retry-after")))
    return ServiceRefused(
        told, cure="Check the model's name and the settings of the service.", details={"status": status}
    )


def _seconds(value: str | None) -> float | None:
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None
