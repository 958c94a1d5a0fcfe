"""Signatures of what Bellhop sends, by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import BellhopError, SignatureError

#: Longer ago, and a request that was recorded could be played again.
TOLERANCE_SECONDS = 5 * 60


@dataclass(frozen=True)
class Webhook:
    #: The task's id, the same on every attempt; a notification has one of its own.
    id: str
    #: Unix time at which it was sent.
    sent_at: int
    #: The body: JSON as the value that it is, anything else as text, none as None.
    payload: Any


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str] | None = None,
    now: float | None = None,
) -> Webhook:
    """Tells whether a request is Bellhop's. ``body`` must be as it arrived, byte for byte."""
    found = {name.lower(): value for name, value in headers.items()}
    id = found.get("webhook-id", "")
    timestamp = found.get("webhook-timestamp", "")
    given = found.get("webhook-signature", "").split()
    if not (id and timestamp and given):
        raise SignatureError("The request is not signed")
    sent_at = int(timestamp) if timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 else None
    if sent_at is None or abs((time.time() if now is None else now) - sent_at) > TOLERANCE_SECONDS:
        raise SignatureError("The signature is too old or too new")
    expected = [_sign(key, id, timestamp, body) for key in _keys(secret)]
    if not any(hmac.compare_digest(one.encode(), other.encode()) for one in given for other in expected):
        raise SignatureError("The signature does not match")
    return Webhook(id, sent_at, _payload(body))


def sign_webhook(
    id: str, body: bytes, secret: str | Sequence[str] | None = None, now: float | None = None
) -> dict[str, str]:
    """The headers by which ``verify_webhook`` accepts a body, for tests."""
    timestamp = str(int(time.time() if now is None else now))
    signatures = [_sign(key, id, timestamp, body) for key in _keys(secret)]
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": " ".join(signatures)}


def _sign(key: bytes, id: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _keys(secret: str | Sequence[str] | None) -> list[bytes]:
    given = os.environ.get("BELLHOP_SIGNING_SECRET") if secret is None else secret
    if given is None:
        raise BellhopError("A signing secret is missing: set BELLHOP_SIGNING_SECRET, or give secret")
    texts = [part for one in ([given] if isinstance(given, str) else given) for part in one.replace(",", " ").split()]
    try:
        keys = [base64.b64decode(text.removeprefix("whsec_"), validate=True) for text in texts]
    except binascii.Error:
        keys = []
    if not keys or not all(keys):
        raise BellhopError("secret must be whsec_ and base64")
    return keys


def _payload(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
