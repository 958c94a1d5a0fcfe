"""What the client raises."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import Any


class BellhopError(Exception):
    """All errors of this package."""


class ConnectionFailed(BellhopError):
    """The server could not be reached. Whether it acted on the request is not known."""


class NoAnswer(BellhopError):
    """No whole answer within the time given. Whether the server acted on the request is not known."""


class SignatureError(BellhopError):
    """A signature, or what it should have covered, is not Bellhop's."""


class ApiError(BellhopError):
    """The server refused."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Any) -> None:
        fields = body if isinstance(body, dict) else {}
        super().__init__(fields.get("error") or f"The server answered {status}")
        self.status = status
        #: From the list in docs/errors.md, which may grow; ``unknown`` where something else than Bellhop answered.
        self.code: str = fields.get("code") or "unknown"
        #: Names the request in the server's log.
        self.request_id: str | None = headers.get("x-request-id")
        #: Each field that breaks a rule, where there are several.
        self.details: list[dict[str, str]] = fields.get("details") or []
        self.retry_after: float | None = read_retry_after(headers.get("retry-after"))


def read_retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or a date; None where there is none."""
    if value is None:
        return None
    if value.isdigit():
        return float(value)
    try:
        at = email.utils.parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0.0, at - time.time())
