"""Signatures of webhooks."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Any, TypedDict

from .errors import SignatureError

__all__ = ["WebhookEvent", "sign_inbound_webhook", "verify_webhook"]


class WebhookEvent(TypedDict):
    """An event of an outbound webhook."""

    id: str
    type: str
    created_at: str
    data: dict[str, Any]


def verify_webhook(
    *,
    secret: str,
    signature: str | None,
    body: bytes | str,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Checks a delivery of an outbound webhook and returns its event.

    The header is `t=<unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA256 of `<t>.<body>` under the secret; during a
    rotation there are two v1, and one must match. Raises a `SignatureError`.

    Args:
        secret: The endpoint's signing secret, `whsec_...`
        signature: The header `X-Service-Signature`
        body: The raw body, before parsing
        tolerance: The most seconds between the time of the signature and `now`
        now: Unix seconds. Default: the current time
    """
    signed_at, candidates = parse_header(signature or "")
    expected = mac_of(secret, signed_at, body)
    # Compares every candidate, so that the time does not reveal which one is near.
    right = [hmac.compare_digest(candidate, expected) for candidate in candidates]
    if True not in right:
        raise SignatureError("The signature does not fit the body")
    if not abs((time.time() if now is None else now) - int(signed_at)) <= tolerance:
        raise SignatureError(f"The delivery was signed more than {tolerance:g} s from now")
    try:
        event: WebhookEvent = json.loads(body)
    except ValueError as error:
        raise SignatureError("The body is signed, but not JSON") from error
    return event


def sign_inbound_webhook(*, secret: str, body: bytes | str, timestamp: int | None = None) -> dict[str, str]:
    """The headers that an inbound webhook with `require_signature` requires.

    Args:
        secret: The last part of the webhook's URL
        body: The exact body to send
        timestamp: Unix seconds. Default: the current time
    """
    at = str(int(time.time()) if timestamp is None else timestamp)
    return {"X-Service-Timestamp": at, "X-Service-Signature": f"sha256={mac_of(secret, at, body)}"}


def mac_of(secret: str, at: str, body: bytes | str) -> str:
    """The HMAC-SHA256 of `<time>.<body>` in hexadecimal."""
    if secret == "":
        raise ValueError("An empty secret protects nothing")
    content = body.encode() if isinstance(body, str) else body
    return hmac.new(secret.encode(), f"{at}.".encode() + content, hashlib.sha256).hexdigest()


def parse_header(header: str) -> tuple[str, list[str]]:
    """The time of a signature, and its candidates."""
    parts = [part.strip().split("=") for part in header.split(",")]
    times = [part[1] for part in parts if len(part) == 2 and part[0] == "t"]
    values = [part[1] for part in parts if len(part) == 2 and part[0] == "v1"]
    candidates = [value for value in values if re.fullmatch(r"[0-9a-f]{64}", value)]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]):
        raise SignatureError("The signature has no time")
    if not candidates:
        raise SignatureError("The signature is missing or malformed")
    return times[0], candidates
