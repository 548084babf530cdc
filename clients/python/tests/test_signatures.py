"""Signatures of webhooks. The service's own are in test_service.py."""

from __future__ import annotations

import hashlib
import hmac
import json
import random

import pytest

from durable_workflows import SignatureError, sign_inbound_webhook, verify_webhook

SECRET = "whsec_5b1f0e"
NOW = 1_790_000_000
BODY = json.dumps({"id": "evt_1", "type": "ping", "created_at": "x", "data": {"name": "Zoë"}}, ensure_ascii=False)


def mac(at: int | str, text: str = BODY, key: str = SECRET) -> str:
    return hmac.new(key.encode(), f"{at}.{text}".encode(), hashlib.sha256).hexdigest()


RIGHT = f"t={NOW},v1={mac(NOW)}"


def test_a_delivery_is_accepted_as_text_and_as_bytes() -> None:
    for body in (BODY, BODY.encode()):
        event = verify_webhook(secret=SECRET, signature=RIGHT, body=body, now=NOW)
        assert event["data"] == {"name": "Zoë"}


def test_a_delivery_is_accepted_if_one_of_two_signatures_is_right() -> None:
    right, other = f"v1={mac(NOW)}", f"v1={mac(NOW, key='whsec_other')}"
    for signature in (f"t={NOW},{right},{other}", f"t={NOW}, {other}, {right}"):
        assert verify_webhook(secret=SECRET, signature=signature, body=BODY, now=NOW)["id"] == "evt_1"


@pytest.mark.parametrize("off", [0, 300, -300])
def test_a_delivery_is_accepted_near_its_time(off: int) -> None:
    assert verify_webhook(secret=SECRET, signature=RIGHT, body=BODY, now=NOW + off)["id"] == "evt_1"


@pytest.mark.parametrize("off", [301, -301, float("nan")])
def test_a_delivery_is_refused_far_from_its_time(off: float) -> None:
    with pytest.raises(SignatureError, match="more than 300 s from now"):
        verify_webhook(secret=SECRET, signature=RIGHT, body=BODY, now=NOW + off)


def test_an_old_delivery_is_refused_by_the_clock() -> None:
    with pytest.raises(SignatureError, match="from now"):
        verify_webhook(secret=SECRET, signature=f"t=1,v1={mac(1)}", body=BODY)


def test_a_delivery_is_refused_if_any_bit_changes() -> None:
    content = BODY.encode()
    for _ in range(200):
        at = random.randrange(len(content) * 8)
        changed = bytearray(content)
        changed[at >> 3] ^= 1 << (at & 7)
        with pytest.raises(SignatureError, match="does not fit"):
            verify_webhook(secret=SECRET, signature=RIGHT, body=bytes(changed), now=NOW)
    digest = mac(NOW)
    for at in range(len(digest)):
        wrong = digest[:at] + ("1" if digest[at] == "0" else "0") + digest[at + 1 :]
        with pytest.raises(SignatureError, match="does not fit"):
            verify_webhook(secret=SECRET, signature=f"t={NOW},v1={wrong}", body=BODY, now=NOW)


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        f"v1={mac(NOW)}",
        f"t={NOW}",
        f"t={NOW},t={NOW},v1={mac(NOW)}",
        f"t=1e9,v1={mac('1e9')}",
        f"t=-1,v1={mac('-1')}",
        f"t={NOW},v1={mac(NOW).upper()}",
        f"t={NOW},v1={mac(NOW)}=",
        f"t={NOW},v0={mac(NOW)}",
    ],
)
def test_a_malformed_header_is_refused(signature: str | None) -> None:
    with pytest.raises(SignatureError):
        verify_webhook(secret=SECRET, signature=signature, body=BODY, now=NOW)


def test_a_signed_body_that_is_not_json_is_refused() -> None:
    with pytest.raises(SignatureError, match="not JSON"):
        verify_webhook(secret=SECRET, signature=f"t={NOW},v1={mac(NOW, '{')}", body="{", now=NOW)


def test_an_empty_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="protects nothing"):
        verify_webhook(secret="", signature=RIGHT, body=BODY, now=NOW)


def test_an_event_to_send_is_signed() -> None:
    headers = sign_inbound_webhook(secret=SECRET, body=BODY, timestamp=NOW)
    assert headers == {"X-Service-Timestamp": str(NOW), "X-Service-Signature": f"sha256={mac(NOW)}"}
