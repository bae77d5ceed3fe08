"""Both clients against a running Countersign: every method, and every error that can be provoked there."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import countersign
import httpx
import pytest
from conftest import Service

MAGIC = {
    "invalid": countersign.InvalidRecipientError,
    "no-channel": countersign.NoEnabledChannelError,
    "geo": countersign.GeoBlockedError,
    "funds": countersign.InsufficientFundsError,
    "ip": countersign.IpReputationBlockedError,
    "rate": countersign.RateLimitExceededError,
}


@pytest.fixture
def backend(client: Any, service: Service) -> Any:
    return client(service.keys["server"], base_url=service.url)


@pytest.fixture
def device(client: Any, service: Service) -> Any:
    return client(service.keys["publishable"], base_url=service.url)


def wrong(code: str) -> str:
    return code[:-1] + str((int(code[-1]) + 1) % 10)


def test_sends_and_verifies(backend: Any, service: Service) -> None:
    number = service.fresh_number()
    sent = backend.send(recipient=number, client_ip="203.0.113.7", locale="de", metadata={"order": "A-1"})
    assert (sent.status, sent.channel, sent.completion, sent.action_url) == ("pending", "sms", "code", None)
    assert sent.masked_recipient == f"+1****{number[-2:]}"
    code = service.code_of(number, sent.otp_id)

    no = backend.verify(otp_id=sent.otp_id, code=wrong(code))
    assert (no.matched, no.status, no.attempts_left) == (False, "pending", 4)
    yes = backend.verify(otp_id=sent.otp_id, code=code)
    assert (yes.otp_id, yes.matched, yes.status, yes.verification_token) == (sent.otp_id, True, "approved", None)

    details = backend.status(sent.otp_id)
    assert (details.status, details.metadata, details.attempts_left) == ("approved", {"order": "A-1"}, 4)
    assert details.verified_at - details.created_at < timedelta(minutes=10) and details.created_at.tzinfo == timezone.utc
    [delivery] = details.deliveries
    assert delivery.delivery_id.startswith("dlv_") and isinstance(delivery.updated_at, datetime) and delivery.reason is None


def test_delivers_a_code_of_ones_own(backend: Any, service: Service) -> None:
    number = service.fresh_number()
    message = backend.messages.send(number, "ABC123")
    assert message.message_id.startswith("msg_") and message.status == "pending"
    assert service.code_of(number, message.message_id) == "ABC123"


def test_exchanges_the_token_of_a_device(backend: Any, device: Any, service: Service) -> None:
    number = service.fresh_number()
    sent = device.send(number)
    verified = device.verify(sent.otp_id, service.code_of(number, sent.otp_id))
    assert device.status(sent.otp_id).deliveries == ()
    proved = backend.exchange(verified.verification_token)
    assert (proved.otp_id, proved.recipient, proved.recipient_type, proved.channel) == (sent.otp_id, number, "phone", "sms")
    assert proved.verified_at.tzinfo == timezone.utc


def test_resends_on_a_named_channel(client: Any, service: Service) -> None:
    by = client(service.keys["no_cooldown"], base_url=service.url)
    sent = by.send(service.fresh_number())
    assert by.resend(sent.otp_id).channel == "whatsapp"
    assert by.resend(otp_id=sent.otp_id, channel="sms").channel == "sms"


def test_cancels_and_then_neither_resends_nor_verifies(backend: Any, service: Service) -> None:
    sent = backend.send(service.fresh_number())
    assert backend.cancel(sent.otp_id).status == "canceled"
    assert backend.cancel(sent.otp_id).status == "canceled"
    with pytest.raises(countersign.ResendNotAllowedError) as resent:
        backend.resend(sent.otp_id)
    assert (resent.value.cause, resent.value.otp_status) == ("not_pending", "canceled")
    with pytest.raises(countersign.OtpNotPendingError) as verified:
        backend.verify(sent.otp_id, "123456")
    assert (verified.value.status, verified.value.otp_status) == (409, "canceled")


@pytest.mark.parametrize("name,error", MAGIC.items(), ids=MAGIC.keys())
def test_raises_the_error_of_a_magic_recipient(backend: Any, name: str, error: type[countersign.CountersignError]) -> None:
    with pytest.raises(error) as caught:
        backend.send(f"{name}@magic.test")
    problem = caught.value
    assert type(problem) is error and problem.type == error.__name__ and problem.request_id and problem.message


def test_says_what_a_refused_send_needs(backend: Any) -> None:
    with pytest.raises(countersign.RateLimitExceededError) as limited:
        backend.send("rate@magic.test")
    assert limited.value.status == 429 and (limited.value.retry_after or 0) >= 1 and limited.value.scope == "recipient"
    with pytest.raises(countersign.NoEnabledChannelError) as unreachable:
        backend.send("no-channel@magic.test")
    assert all({"channel", "reason"} <= one.keys() for one in unreachable.value.channels)
    with pytest.raises(countersign.ValidationError) as malformed:
        backend.send("+14155570000", client_ip="nowhere")
    assert malformed.value.status == 422 and malformed.value.errors[0]["path"] == "client_ip"
    with pytest.raises(countersign.InvalidIdempotencyKeyError):
        backend.send("+14155570000", idempotency_key="k" * 129)


def test_raises_what_a_key_may_not_do(client: Any, backend: Any, device: Any, service: Service) -> None:
    with pytest.raises(countersign.HTTPException) as unknown:
        client("sk_test_unknown", base_url=service.url).send("+14155570000")
    assert unknown.value.status == 401
    with pytest.raises(countersign.HTTPException) as unproved:
        backend.exchange("otp_vt_" + "0" * 26 + "a" * 43)
    assert unproved.value.status == 404
    with pytest.raises(countersign.OtpNotFoundError):
        backend.status("otp_unknown")
    sent = device.send(service.fresh_number())
    with pytest.raises(countersign.VerifyNotAllowedError) as proved_otherwise:
        backend.verify(sent.otp_id, "123456")
    assert proved_otherwise.value.cause == "proved_by_exchange"
    with pytest.raises(countersign.PublishableSendDisabledError):
        client(service.keys["publishable_live"], base_url=service.url).send("+14155570000")


def test_raises_a_page_that_is_not_listed(service: Service) -> None:
    with httpx.Client(headers={"origin": "https://other.example"}) as http:
        page = countersign.Countersign(service.keys["with_origins"], base_url=service.url, http_client=http)
        with pytest.raises(countersign.OriginNotAllowedError):
            page.send(service.fresh_number())


def test_raises_an_expired_verification(backend: Any, service: Service) -> None:
    sent = backend.send(service.fresh_number())
    service.advance(601)
    with pytest.raises(countersign.OtpExpiredError) as caught:
        backend.verify(sent.otp_id, "123456")
    assert caught.value.status == 410
