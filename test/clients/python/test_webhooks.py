"""verify_webhook with the event that docs/webhooks.md shows, and with forged ones."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from countersign import WebhookVerificationError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
BODY = '{"id":"evt_1","type":"otp.approved","payload":{"otp_id":"otp_1","status":"é"}}'.encode()


def signature(secret: str, at: int, body: bytes = BODY, event_id: str = "evt_1", key: bytes | None = None) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_")) if key is None else key
    return "v1," + base64.b64encode(hmac.digest(key, f"{event_id}.{at}.".encode() + body, hashlib.sha256)).decode()


def signed(*secrets: str, at: int | None = None, **more: Any) -> dict[str, str]:
    at = int(time.time()) if at is None else at
    signatures = " ".join(signature(one, at, **more) for one in secrets or (SECRET,))
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signatures}


def test_accepts_the_event_in_the_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(os.environ["PROJECT_ROOT"]) / "docs/webhooks.md").read_text()
    [request] = re.findall(r"^```http\n(.*?)^```", page, re.M | re.S)
    head, body = request.strip().split("\n\n")
    headers = dict(line.split(": ", 1) for line in head.split("\n")[1:])
    [secret] = re.findall(r"signed with the secret `(whsec_[^`]+)`", page)
    monkeypatch.setattr(time, "time", lambda: float(headers["webhook-timestamp"]) + 299)
    event = verify_webhook(body.encode(), headers, secret)
    assert (event.type, event.payload["status"], event.is_test) == ("otp.approved", "approved", False)
    monkeypatch.setattr(time, "time", lambda: float(headers["webhook-timestamp"]) + 301)
    with pytest.raises(WebhookVerificationError, match="300 s ago"):
        verify_webhook(body.encode(), headers, secret)
    assert verify_webhook(body.encode(), headers, secret, tolerance=400) == event


@pytest.mark.parametrize("body,approved", [(BODY, ["otp_1"]), (b'{"id":"evt_1","type":"webhook.test","payload":{}}', [])])
def test_the_sample_in_the_readme_takes_events_of_every_type(body: bytes, approved: list[str]) -> None:
    readme = (Path(os.environ["PROJECT_ROOT"]) / "clients/python/README.md").read_text()
    [sample] = re.findall(r"^```py\n(.*?)^```", readme.split("\n## Webhooks\n")[1], re.M | re.S)
    given: list[str] = []
    request = SimpleNamespace(headers=signed(body=body))
    exec(sample, {"raw_body": body, "request": request, "secret": SECRET, "approve": given.append})
    assert given == approved


def test_finds_headers_in_any_case() -> None:
    assert verify_webhook(BODY, {name.title(): value for name, value in signed().items()}, SECRET).id == "evt_1"


def test_accepts_one_of_several_signatures_and_of_several_secrets() -> None:
    assert verify_webhook(BODY, signed(OTHER, SECRET), SECRET).id == "evt_1"
    assert verify_webhook(BODY, signed(OTHER), [SECRET, OTHER]).id == "evt_1"
    headers = signed()
    assert verify_webhook(BODY, {**headers, "webhook-signature": f"v2,xyz v1, {headers['webhook-signature']}"}, SECRET).id == "evt_1"


def test_uses_a_secret_that_is_not_base64_as_it_is() -> None:
    assert verify_webhook(BODY, signed(key=b"not base64!"), "not base64!").id == "evt_1"


def test_tells_test_events_by_their_id() -> None:
    body = BODY.replace(b"evt_1", b"evt_test_1")
    assert verify_webhook(body, signed(body=body), SECRET).is_test


FORGED: dict[str, dict[str, str]] = {
    "another body": signed(body=BODY + b" "),
    "another secret": signed(OTHER),
    "another id": {**signed(), "webhook-id": "evt_2"},
    "another time": {**signed(), "webhook-timestamp": str(int(time.time()) - 1)},
    "a stale time": signed(at=int(time.time()) - 900),
    "a time to come": signed(at=int(time.time()) + 900),
    "no headers": {},
    "no signature": {**signed(), "webhook-signature": ""},
    "half a signature": {**signed(), "webhook-signature": signed()["webhook-signature"][:20]},
    "an unknown version": {**signed(), "webhook-signature": signed()["webhook-signature"].replace("v1", "v2")},
    "no time": {**signed(), "webhook-timestamp": ""},
    "a malformed time": {**signed(), "webhook-timestamp": "NaN"},
    "a time in other digits": {**signed(), "webhook-timestamp": "١٧٠٠٠٠٠٠٠٠"},
    "a very long time": {**signed(), "webhook-timestamp": "1" * 5_000},
    "a signature that is not text": {**signed(), "webhook-signature": "v1,\udcff"},
}


@pytest.mark.parametrize("headers", FORGED.values(), ids=FORGED.keys())
def test_refuses(headers: dict[str, str]) -> None:
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, headers, SECRET)


@pytest.mark.parametrize("body", [b"not json", b"[]", b'{"id":"evt_1"}', b"\xff"])
def test_refuses_a_signed_body_that_is_not_an_event(body: bytes) -> None:
    with pytest.raises(WebhookVerificationError, match="not an event"):
        verify_webhook(body, signed(body=body), SECRET)


@pytest.mark.parametrize("secret", ["", [], [SECRET, ""], "whsec_"])
def test_refuses_an_empty_secret(secret: Any) -> None:
    with pytest.raises(ValueError):
        verify_webhook(BODY, signed(key=b""), secret)


def test_refuses_a_body_that_is_not_bytes() -> None:
    with pytest.raises(TypeError):
        verify_webhook(BODY.decode(), signed(), SECRET)  # type: ignore[arg-type]
