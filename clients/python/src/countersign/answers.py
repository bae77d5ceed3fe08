"""What calls answer. In: the JSON of an answer. Out: a frozen object with its members. Members that this version does not know are
ignored, and kept in `raw`; a value that it does not know is passed on as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeVar

Channel = Literal["sms", "whatsapp", "telegram", "email"]
OtpStatus = Literal["pending", "approved", "failed", "expired", "canceled"]
DeliveryStatus = Literal["queued", "sent", "delivered", "failed"]
MessageStatus = Literal["pending", "delivered", "failed", "expired", "canceled"]
Completion = Literal["code", "inbound"]

A = TypeVar("A", bound="Answer")


def _time(value: str) -> datetime:
    # Python 3.10 does not read the Z.
    return datetime.fromisoformat(value.replace("Z", "+00:00"))


@dataclass(frozen=True, kw_only=True)
class Answer:
    #: The answer as it came.
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    #: How members are read that are not plain JSON.
    _read: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    @classmethod
    def of(cls: type[A], raw: Mapping[str, Any]) -> A:
        """Raises KeyError, TypeError or ValueError if `raw` is not such an answer."""
        names = {member.name for member in dataclasses.fields(cls)} - {"raw"}
        members = {name: _member(cls._read.get(name), raw[name]) for name in names if name in raw}
        return cls(**members, raw=raw)


def _member(read: Callable[[Any], Any] | None, value: Any) -> Any:
    return value if read is None or value is None else read(value)


@dataclass(frozen=True, kw_only=True)
class Verification(Answer):
    """A verification, as send, resend and cancel answer it."""

    otp_id: str
    status: OtpStatus
    channel: Channel
    #: Safe to log or display.
    masked_recipient: str
    #: A wa.me link for the user to open; None except in the two WhatsApp link modes.
    action_url: str | None
    completion: Completion


@dataclass(frozen=True, kw_only=True)
class Delivery(Answer):
    """One message on its way to the recipient."""

    delivery_id: str
    channel: Channel
    status: DeliveryStatus
    created_at: datetime
    updated_at: datetime
    #: Why it failed, such as `recipient_unreachable`.
    reason: str | None = None

    _read = {"created_at": _time, "updated_at": _time}


@dataclass(frozen=True, kw_only=True)
class VerificationDetails(Verification):
    """A verification and how far it got."""

    created_at: datetime
    expires_at: datetime
    verified_at: datetime | None
    attempts_left: int
    #: When the cooldown ends; None if no resend is left.
    resend_at: datetime | None
    #: Shown to server keys only.
    deliveries: tuple[Delivery, ...] = ()
    #: As given on send. Shown to server keys only.
    metadata: Mapping[str, str] | None = None

    _read = {
        "created_at": _time,
        "expires_at": _time,
        "verified_at": _time,
        "resend_at": _time,
        "deliveries": lambda items: tuple(map(Delivery.of, items)),
    }


@dataclass(frozen=True, kw_only=True)
class VerifyResult(Answer):
    """What became of a code. A wrong one is `matched=False`, not an error."""

    otp_id: str
    status: OtpStatus
    matched: bool
    attempts_left: int
    #: Where a publishable key verified a right code: your backend exchanges it.
    verification_token: str | None


@dataclass(frozen=True, kw_only=True)
class ExchangeResult(Answer):
    """Who was verified."""

    otp_id: str
    #: In full: an E.164 number or an email address.
    recipient: str
    recipient_type: Literal["phone", "email"]
    channel: Channel
    verified_at: datetime

    _read = {"verified_at": _time}


@dataclass(frozen=True, kw_only=True)
class Message(Answer):
    """A message with a code of your own."""

    message_id: str
    channel: Channel
    masked_recipient: str
    status: MessageStatus


@dataclass(frozen=True, kw_only=True)
class Event(Answer):
    """A webhook's event whose signature was right."""

    #: The same at every attempt: handle each event once.
    id: str
    #: Such as `otp.approved`. New types may come.
    type: str
    payload: Mapping[str, Any]

    @property
    def is_test(self) -> bool:
        """Whether a test key caused it."""
        return self.id.startswith("evt_test_")
