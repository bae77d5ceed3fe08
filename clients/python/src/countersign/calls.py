"""One call of the API, without I/O: what is sent, what an answer means, and when the call is repeated. In: the arguments of a method, then
what came of each attempt. Out: the next step. Both clients run these steps, one blocking, one awaiting, so each rule stands here once."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from .answers import Answer, Channel, ExchangeResult, Message, Verification, VerificationDetails, VerifyResult
from .challenge import Challenge, WidgetChallenge
from .errors import APIConnectionError, APITimeoutError, ChallengeRequiredError, CountersignError, error_of

A = TypeVar("A", bound=Answer)

#: From here on, the service or a proxy before it failed for the moment. A 429 is not repeated: a limit is an answer for your user, whom
#: nothing but time helps, and `retry_after` says how much.
FIRST_RETRIED_STATUS = 500
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 8.0
#: Of a client, so that an outage does not multiply the load: each repetition takes one, and ten calls that succeed give one back.
MOST_BUDGET = 10.0
EARNED_BY_SUCCESS = 0.1
#: Another challenge comes when a solution was late.
MOST_CHALLENGES = 3


@dataclass(frozen=True)
class Operation(Generic[A]):
    """What a method asks for."""

    method: str
    #: After /api/v1.
    path: str
    answer: type[A]
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None
    #: Whether a second execution does what one does. Otherwise the call is repeated only if it cannot have reached the service.
    is_repeatable: bool = True


def send(
    *,
    recipient: str,
    locale: str | None,
    client_ip: str | None,
    app_hash: str | None,
    domain: str | None,
    metadata: Mapping[str, str] | None,
    idempotency_key: str | None,
) -> Operation[Verification]:
    # JSON is made of dicts alone, not of every mapping.
    members = None if metadata is None else dict(metadata)
    body = _present(
        recipient=recipient, locale=locale, client_ip=client_ip, app_hash=app_hash, domain=domain, metadata=members
    )
    return Operation("POST", "/otp/send", Verification, body, _idempotent(idempotency_key))


def resend(otp_id: str, channel: Channel | None) -> Operation[Verification]:
    # Executed twice, it would spend two attempts, or hide its own success behind a cooldown.
    return Operation("POST", "/otp/resend", Verification, _present(otp_id=otp_id, channel=channel), is_repeatable=False)


def verify(otp_id: str, code: str) -> Operation[VerifyResult]:
    # Executed twice, a wrong code would spend two of the user's attempts.
    return Operation("POST", "/otp/verify", VerifyResult, {"otp_id": otp_id, "code": code}, is_repeatable=False)


def status(otp_id: str) -> Operation[VerificationDetails]:
    return Operation("GET", f"/otp/{quote(otp_id, safe='')}", VerificationDetails)


def cancel(otp_id: str) -> Operation[Verification]:
    return Operation("POST", "/otp/cancel", Verification, {"otp_id": otp_id})


def exchange(verification_token: str) -> Operation[ExchangeResult]:
    return Operation("POST", "/verifications/exchange", ExchangeResult, {"verification_token": verification_token})


def send_message(
    *,
    recipient: str,
    code: str,
    locale: str | None,
    client_ip: str | None,
    expires_in_seconds: int | None,
    idempotency_key: str | None,
) -> Operation[Message]:
    body = _present(
        recipient=recipient, code=code, locale=locale, client_ip=client_ip, expires_in_seconds=expires_in_seconds
    )
    return Operation("POST", "/messages", Message, body, _idempotent(idempotency_key))


def _present(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _idempotent(key: str | None) -> dict[str, str]:
    # An empty key counts as none on the wire, and the call could not be repeated.
    key = (key or "").strip()
    return {"idempotency-key": printable("idempotency_key", key) if key else str(uuid.uuid4())}


def printable(name: str, value: str) -> str:
    """The value, if a header can carry it. The error does not show it, because it may be a secret."""
    if not re.fullmatch("[ -~]+", value):
        raise ValueError(f"{name} must consist of printable ASCII characters")
    return value


class Retries:
    """How often the calls of a client are repeated: each at most `most` times, and not later than `seconds` after it began."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._budget = MOST_BUDGET

    def take(self) -> bool:
        if self._budget < 1:
            return False
        self._budget -= 1
        return True

    def succeeded(self) -> None:
        self._budget = min(MOST_BUDGET, self._budget + EARNED_BY_SUCCESS)


@dataclass(frozen=True)
class Response:
    """An attempt that was answered. `headers` finds names in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class NoResponse:
    """An attempt without an answer."""

    cause: Exception
    #: False: nothing left this machine, so nothing was executed.
    was_sent: bool
    is_timeout: bool


@dataclass(frozen=True)
class Done(Generic[A]):
    answer: A


@dataclass(frozen=True)
class Wait:
    """Then make another attempt."""

    seconds: float


@dataclass(frozen=True)
class Solve:
    """Hand the solution to `solved`, then make another attempt; or raise the error."""

    challenge: Challenge | WidgetChallenge
    error: ChallengeRequiredError


class Call(Generic[A]):
    """One call: the request of its attempts, and what follows from each. `now`: in seconds, of a clock that only advances. `jitter`: a
    number from 0 to 1."""

    def __init__(self, operation: Operation[A], retries: Retries, now: float, jitter: Callable[[], float] = random.random) -> None:
        self._operation = operation
        self._retries = retries
        self._until = now + retries.seconds
        self._jitter = jitter
        self._repeated = 0
        self._challenges = 0
        self.method = operation.method
        self.path = operation.path
        self.headers = dict(operation.headers or {})
        self.content = None if operation.body is None else json.dumps(operation.body).encode()
        if self.content is not None:
            self.headers["content-type"] = "application/json"

    def next(self, outcome: Response | NoResponse, now: float) -> Done[A] | Wait | Solve:
        """What to do after an attempt. Raises a CountersignError when nothing is left to try."""
        if isinstance(outcome, NoResponse):
            return self._again(_no_answer(outcome), now)
        if 200 <= outcome.status < 300:
            answer = self._answer(outcome)
            self._retries.succeeded()
            return Done(answer)
        error = _refusal(outcome)
        if isinstance(error, ChallengeRequiredError) and self._challenges < MOST_CHALLENGES:
            self._challenges += 1
            return Solve(_challenge(error), error)
        if outcome.status < FIRST_RETRIED_STATUS:
            raise error
        return self._again(error, now)

    def solved(self, solution: str, now: float) -> None:
        """The time that the solution took is not counted."""
        self.headers["challenge-solution"] = solution
        self._until = now + self._retries.seconds

    def _again(self, error: CountersignError, now: float) -> Wait:
        # Half of the wait is random, so that callers refused together do not come back together. Retry-After is never undercut.
        backoff = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**self._repeated)
        wait = (error.retry_after or backoff / 2) + backoff / 2 * self._jitter()
        is_safe = self._operation.is_repeatable or error.executed is False
        is_possible = self._repeated < self._retries.most and now + wait <= self._until
        if not (is_safe and is_possible and self._retries.take()):
            raise error from error.__cause__
        self._repeated += 1
        return Wait(wait)

    def _answer(self, response: Response) -> A:
        try:
            return self._operation.answer.of(json.loads(response.body))
        except (ValueError, KeyError, TypeError, AttributeError) as cause:
            raise error_of(response.status, None, response.headers.get("x-request-id"), None) from cause


def is_outcome_unknown(error: CountersignError) -> bool:
    """Whether the call may have been executed all the same."""
    is_failure = isinstance(error, APIConnectionError) or (error.status or 0) >= FIRST_RETRIED_STATUS
    return is_failure and error.executed is not False


def _no_answer(outcome: NoResponse) -> APIConnectionError:
    cls = APITimeoutError if outcome.is_timeout else APIConnectionError
    what = str(outcome.cause) or type(outcome.cause).__name__
    may = "The call may have been executed." if outcome.was_sent else "Nothing was executed."
    error = cls(f"No answer: {what.rstrip('.')}. {may}", type=cls.__name__, executed=None if outcome.was_sent else False)
    error.__cause__ = outcome.cause
    return error


def _refusal(response: Response) -> CountersignError:
    try:
        problem = json.loads(response.body)
    except ValueError:
        problem = None
    retry_after = response.headers.get("retry-after", "")
    return error_of(
        response.status,
        problem if isinstance(problem, dict) else None,
        response.headers.get("x-request-id"),
        int(retry_after) if retry_after.isascii() and retry_after.isdigit() else None,
    )


def _challenge(error: ChallengeRequiredError) -> Challenge | WidgetChallenge:
    try:
        asked = error.challenge
        if asked["type"] in ("turnstile", "hcaptcha"):
            return WidgetChallenge(str(asked["type"]), str(asked["site_key"]))
        if (asked["type"], asked["algorithm"]) != ("pow", "SHA-256"):
            raise ValueError("a kind of challenge that this version cannot solve")
        return Challenge(str(asked["salt"]), int(asked["difficulty"]), str(asked["signature"]))
    except (KeyError, TypeError, ValueError) as cause:
        raise error from cause
