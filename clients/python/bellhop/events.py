"""The stream of events."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import ApiError, ConnectionFailed, NoAnswer
from .routes import ROUTES
from .transport import Transport, path_of

#: The server writes something every 15 s: a connection on which so long nothing comes is none.
SILENCE = 45.0
LONGEST_WAIT = 8.0


@dataclass(frozen=True)
class Event:
    #: Where to resume after it.
    id: str
    #: Such as ``task.completed``. ``reset``: events may be missing. ``ready``: nothing is missed from now on.
    type: str
    #: With ``task`` or ``queue``.
    data: dict[str, Any]


def read_events(
    transport: Transport,
    *,
    types: Sequence[str] | None = None,
    queue: str | None = None,
    tag: str | None = None,
    last_event_id: str | None = None,
) -> Iterator[Event]:
    """Everything that happens, for as long as it is read. A connection that breaks is replaced, after the last event."""
    method, template = ROUTES["streamEvents"]
    query = {"types": None if types is None else ",".join(types), "queue": queue, "tag": tag}
    path = path_of(template, None, query)
    last_id = last_event_id
    failures = 0
    while True:
        pause = min(0.25 * 2**failures, LONGEST_WAIT)
        headers = {"accept": "text/event-stream"} | ({} if last_id is None else {"last-event-id": last_id})
        try:
            with transport.open(transport.request(method, path, None, headers), SILENCE) as stream:
                for event in _read_blocks(stream):
                    failures = 0
                    last_id = event.id or last_id
                    yield event
        except (ConnectionFailed, NoAnswer, http.client.HTTPException, OSError):
            pass
        except ApiError as error:
            if error.status != 429 and error.status < 500:
                raise
            pause = error.retry_after or pause
        failures += 1
        time.sleep(pause * (0.5 + random.random() / 2))


def _read_blocks(stream: Any) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in stream:
        text = line.decode().rstrip("\n")
        if text == "":
            if "event" in fields:
                yield Event(fields.get("id", ""), fields["event"], json.loads(fields.get("data", "{}")))
            fields = {}
        elif not text.startswith(":"):
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")
