"""Requests to one server, repeated where that does no harm."""

from __future__ import annotations

import http.client
import json
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

from .errors import ApiError, BellhopError, ConnectionFailed, NoAnswer
from .routes import ROUTES

LONGEST_BACKOFF = 8.0
#: A server that asks for a longer pause gets it from the caller, who sees ``retry_after``.
LONGEST_PAUSE = 60.0
#: Refused before anything was done: repeating cannot do it twice.
NOT_BEGUN = {"overloaded", "crowded", "stopping"}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A credential goes where it was meant to go, or nowhere."""

    def redirect_request(self, *args: Any) -> None:
        return None


@dataclass(frozen=True)
class Answer:
    headers: Mapping[str, str]
    json: Any


class Transport:
    def __init__(
        self,
        url: str | None,
        api_key: str | None,
        timeout: float,
        max_retries: int,
        retry_delay: float,
    ) -> None:
        self.url = (url or os.environ.get("BELLHOP_URL") or "http://127.0.0.1:8787").rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise BellhopError("url must begin with http:// or https://")
        key = api_key or os.environ.get("BELLHOP_API_KEY")
        if not key:
            raise BellhopError("An API key is missing: set BELLHOP_API_KEY, or give api_key")
        self._authorization = f"Bearer {key}"
        self._timeout = timeout
        self._max_retries = max_retries
        self._retry_delay = retry_delay
        self._opener = urllib.request.build_opener(_NoRedirects)

    def send(
        self,
        operation: str,
        *,
        id: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer:
        method, template = ROUTES[operation]
        may_repeat = method == "GET" if repeatable is None else repeatable
        request = self.request(method, path_of(template, id, query), body, headers or {})
        retries = 0
        while True:
            try:
                return self._send_once(request, timeout or self._timeout)
            except BellhopError as error:
                if retries >= self._max_retries or not _may_repeat(error, may_repeat):
                    raise
                asked = error.retry_after if isinstance(error, ApiError) else None
                if asked is not None and asked > LONGEST_PAUSE:
                    raise
                time.sleep(self._backoff(retries) if asked is None else asked)
                retries += 1

    def request(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> urllib.request.Request:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("accept", "application/json")
        request.add_header("authorization", self._authorization)
        if data is not None:
            request.add_header("content-type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        return request

    def open(self, request: urllib.request.Request, timeout: float) -> IO[bytes]:
        """The answer to read from; an ``ApiError`` where the server refuses."""
        try:
            return cast(IO[bytes], self._opener.open(request, timeout=timeout))
        except urllib.error.HTTPError as error:
            with error:
                headers = {name.lower(): value for name, value in error.headers.items()}
                raise ApiError(error.code, headers, _parse(error.read())) from None
        except TimeoutError as error:
            raise NoAnswer(f"No answer from {self.url} within {timeout} s") from error
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise NoAnswer(f"No answer from {self.url} within {timeout} s") from error
            raise ConnectionFailed(f"{self.url} cannot be reached") from error

    def _send_once(self, request: urllib.request.Request, timeout: float) -> Answer:
        with self.open(request, timeout) as response:
            try:
                text = response.read()
            except TimeoutError as error:
                raise NoAnswer(f"No answer from {self.url} within {timeout} s") from error
            except (http.client.HTTPException, OSError) as error:
                raise ConnectionFailed(f"The connection to {self.url} is lost") from error
            headers = {name.lower(): value for name, value in response.headers.items()}  # type: ignore[attr-defined]
        parsed = _parse(text)
        if parsed is None:
            raise BellhopError(f"{self.url} answered something that is not JSON")
        return Answer(headers, parsed)

    def _backoff(self, retries: int) -> float:
        """Between half and all of it, so that clients that failed together do not come back together."""
        longest: float = min(self._retry_delay * 2.0**retries, LONGEST_BACKOFF)
        return longest * (0.5 + random.random() / 2)


def path_of(template: str, id: str | None, query: Mapping[str, Any] | None) -> str:
    path = template
    if "{" in template:
        # An empty one would address the whole collection.
        if not isinstance(id, str) or id in ("", ".", ".."):
            raise BellhopError(f"An id is needed, not {id!r}")
        start, end = template.index("{"), template.index("}")
        path = template[:start] + urllib.parse.quote(id, safe="") + template[end + 1 :]
    given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given)}" if given else path


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _may_repeat(error: BellhopError, repeatable: bool) -> bool:
    if isinstance(error, (ConnectionFailed, NoAnswer)):
        return repeatable
    if not isinstance(error, ApiError):
        return False
    if error.status == 429 or error.code in NOT_BEGUN:
        return True
    return repeatable and error.status in (408, 502, 503, 504) and error.code != "vault_off"


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
