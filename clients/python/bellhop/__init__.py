"""The client of Bellhop. Standard library only."""

from .client import Bellhop
from .errors import (
    ApiError,
    BellhopError,
    ConnectionFailed,
    NoAnswer,
    SignatureError,
)
from .webhook import Webhook, sign_webhook, verify_webhook

__all__ = [
    "ApiError",
    "Bellhop",
    "BellhopError",
    "ConnectionFailed",
    "NoAnswer",
    "SignatureError",
    "Webhook",
    "sign_webhook",
    "verify_webhook",
]
