"""A user's program, checked by mypy --strict and never run. A line that must not pass says so."""

from __future__ import annotations

from datetime import datetime

from countersign import AsyncCountersign, Channel, Countersign, CountersignError, RateLimitExceededError, verify_webhook


def sign_up(client: Countersign, recipient: str, typed: str) -> bool:
    try:
        sent = client.send(recipient=recipient, client_ip="203.0.113.7", metadata={"order": "A-1"}, idempotency_key="order-1")
        channel: Channel = client.resend(sent.otp_id, channel="whatsapp").channel
        print(channel, sent.otp_id.upper())
        return client.verify(sent.otp_id, typed).matched
    except RateLimitExceededError as error:
        print(error.scope, error.retry_after)
    except CountersignError as error:
        status: int | None = error.status
        print(error.type.upper(), status, error.request_id, error.message)
    return False


async def prove(client: AsyncCountersign, token: str) -> datetime:
    async with client:
        await client.messages.send("ada@example.com", "ABC123")
        expires: datetime = (await client.status("otp_1")).expires_at
        return max(expires, (await client.exchange(token)).verified_at)


def receive(body: bytes, headers: dict[str, str]) -> str:
    event = verify_webhook(body, headers, ["whsec_a", "whsec_b"])
    return event.type if not event.is_test else ""


client = Countersign("sk_test_1", base_url="https://otp.example.com")
client.resend("otp_1", channel="pigeon")  # type: ignore[arg-type]  # there is no such channel
client.send(42)  # type: ignore[arg-type]  # a recipient is text
client.send("+14155570001", channel="sms")  # type: ignore[call-arg]  # routing chooses the channel
client.status("otp_1").status = "approved"  # type: ignore[misc]  # answers are frozen
Countersign("sk_test_1")  # type: ignore[call-arg]  # a deployment has an address
