"""Checks that an event comes from your Countersign. In: the raw body and the headers of a request. Out: the event. The signature is that of
Standard Webhooks, which also covers the time when a secret is replaced: then an event carries a signature by each secret."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable
from typing import Protocol

from .answers import Event
from .errors import CountersignError

#: How far the clocks of sender and receiver may be apart.
TOLERANCE_SECONDS = 300

#: Of a secret; what follows is base64.
PREFIX = "whsec_"


class Headers(Protocol):
    """The headers of any framework, or a dict."""

    def items(self) -> Iterable[tuple[str, str]]: ...


class WebhookVerificationError(CountersignError):
    """The request is not a genuine, fresh event: answer 401, and do nothing."""

    def __init__(self, message: str) -> None:
        super().__init__(message, type="WebhookVerificationError")


def verify_webhook(
    raw_body: bytes,
    headers: Headers,
    secret: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE_SECONDS,
) -> Event:
    """The event of a request. `raw_body`: the bytes as they came, before any JSON parser. `secret`: the signing secret of the endpoint, or
    several while you replace one. Raises WebhookVerificationError unless a signature is right and at most `tolerance` seconds old."""
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        raise TypeError("raw_body must be the bytes of the request: text or parsed JSON has another signature")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(one.removeprefix(PREFIX) for one in secrets):
        # HMAC accepts an empty key, with which any stranger could sign.
        raise ValueError("secret is empty")
    given = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("The header webhook-timestamp is missing or malformed.")
    signed = b"%s.%s.%s" % (event_id.encode(errors="replace"), timestamp.encode(), bytes(raw_body))
    expected = [hmac.digest(_key_of(one), signed, hashlib.sha256) for one in secrets]
    # Every pair is compared, so that the time it takes says nothing about which one was right.
    matches = [hmac.compare_digest(one, other) for one in expected for other in _signatures(given.get("webhook-signature", ""))]
    if not any(matches):
        raise WebhookVerificationError("No signature is right for this body and secret.")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError(f"The event was signed more than {tolerance:g} s ago, or in the future.")
    try:
        return Event.of(json.loads(bytes(raw_body)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WebhookVerificationError("The body is not an event.") from error


def _signatures(header: str) -> list[bytes]:
    """Those of version 1 in `v1,<base64> v1,<base64>`."""
    return [found for version, _, text in (one.partition(",") for one in header.split()) if version == "v1" and (found := _base64(text))]


def _key_of(secret: str) -> bytes:
    """The base64 after `whsec_`. A secret that is not base64 is the key itself."""
    return _base64(secret.removeprefix(PREFIX)) or secret.encode()


def _base64(text: str) -> bytes | None:
    """None unless it is base64 as encoders write it, with its padding."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode() == text else None
