"""The rules that both clients share, without I/O and without waiting: when a call is repeated, and after how long."""

from __future__ import annotations

import json
import pickle
from typing import Any

import countersign
import pytest
from conftest import VERIFICATION, problem
from countersign import calls
from countersign.challenge import Challenge, solve

def send(idempotency_key: str | None = None) -> Any:
    return calls.send(
        recipient="+14155570001", locale=None, client_ip=None, app_hash=None, domain=None, metadata=None, idempotency_key=idempotency_key
    )


SEND, SEND_AGAIN = send(), send("")
OPERATIONS = {
    "send": SEND,
    "status": calls.status("otp_1"),
    "cancel": calls.cancel("otp_1"),
    "exchange": calls.exchange("otp_vt_1"),
    "messages.send": calls.send_message(recipient="a@b.example", code="1234", locale=None, client_ip=None, expires_in_seconds=300, idempotency_key=None),
}
NOT_REPEATABLE = {"verify": calls.verify("otp_1", "123456"), "resend": calls.resend("otp_1", None)}


def begin(operation: Any, retries: calls.Retries | None = None, jitter: float = 0.5) -> Any:
    return calls.Call(operation, retries or calls.Retries(most=3, seconds=30), 0, lambda: jitter)


def answer(status: int, body: Any, headers: dict[str, str] | None = None) -> calls.Response:
    return calls.Response(status, headers or {}, (body if isinstance(body, str) else json.dumps(body)).encode())


def refused(
    status: int = 503, type_: str = "ServiceUnavailableError", members: dict[str, Any] | None = None, **headers: str
) -> calls.Response:
    body = problem(type_, status, **(members or {}))[1]
    return answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def broken(*, was_sent: bool, is_timeout: bool = False) -> calls.NoResponse:
    return calls.NoResponse(OSError("broken"), was_sent=was_sent, is_timeout=is_timeout)


@pytest.mark.parametrize("outcome", [refused(), refused(500), refused(502), refused(524), broken(was_sent=True), broken(was_sent=False)])
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_repeats_a_call_that_may_be_executed_twice(operation: Any, outcome: Any) -> None:
    assert isinstance(begin(operation).next(outcome, 1), calls.Wait)


@pytest.mark.parametrize("operation", NOT_REPEATABLE.values(), ids=NOT_REPEATABLE.keys())
def test_repeats_a_verify_or_resend_only_if_it_was_not_executed(operation: Any) -> None:
    overloaded = refused(members={"executed": False})
    assert isinstance(begin(operation).next(broken(was_sent=False), 1), calls.Wait)
    assert isinstance(begin(operation).next(overloaded, 1), calls.Wait)
    with pytest.raises(countersign.APIConnectionError, match="may have been executed"):
        begin(operation).next(broken(was_sent=True), 1)
    with pytest.raises(countersign.ServiceUnavailableError):
        begin(operation).next(refused(members={"detail": "Nothing was executed."}), 1)


@pytest.mark.parametrize("type_,status", [("RateLimitExceededError", 429), ("OtpNotPendingError", 409), ("HTTPException", 401)])
def test_does_not_repeat_what_was_refused(type_: str, status: int) -> None:
    with pytest.raises(getattr(countersign, type_)):
        begin(SEND).next(refused(status, type_, retry_after="1"), 1)


def test_repeats_a_send_with_the_same_idempotency_key() -> None:
    call = begin(SEND)
    first = dict(call.headers)
    call.next(refused(), 1)
    assert call.headers == first and len(first["idempotency-key"]) == 36
    assert begin(SEND_AGAIN).headers["idempotency-key"] != first["idempotency-key"]
    assert json.loads(call.content) == {"recipient": "+14155570001"}
    assert begin(send("mine")).headers["idempotency-key"] == "mine"


def test_waits_longer_each_time_and_gives_up() -> None:
    waits = []
    call = begin(SEND, jitter=1)
    for _ in range(3):
        waits.append(call.next(refused(), 1).seconds)
    assert waits == [0.5, 1, 2]
    with pytest.raises(countersign.ServiceUnavailableError):
        call.next(refused(), 1)


def test_spreads_waits_at_random_and_waits_at_least_as_long_as_retry_after_says() -> None:
    assert begin(SEND, jitter=0).next(refused(), 1).seconds == 0.25
    assert begin(SEND, jitter=0).next(refused(retry_after="7"), 1).seconds == 7
    assert begin(SEND, jitter=1).next(refused(retry_after="7"), 1).seconds == 7.25


def test_does_not_wait_beyond_its_budget() -> None:
    assert isinstance(begin(SEND).next(refused(retry_after="20"), 5), calls.Wait)
    with pytest.raises(countersign.ServiceUnavailableError) as caught:
        begin(SEND).next(refused(retry_after="31"), 0)
    assert caught.value.retry_after == 31
    with pytest.raises(countersign.ServiceUnavailableError):
        begin(SEND).next(refused(), 30)


def test_repeats_ten_calls_in_a_row_at_most_and_one_more_after_ten_successes() -> None:
    retries = calls.Retries(most=3, seconds=30)

    def repeats() -> bool:
        try:
            return isinstance(begin(SEND, retries).next(refused(), 1), calls.Wait)
        except countersign.ServiceUnavailableError:
            return False

    assert [repeats() for _ in range(11)] == [True] * 10 + [False]
    for _ in range(11):
        begin(SEND, retries).next(answer(200, VERIFICATION), 1)
    assert [repeats(), repeats()] == [True, False]


def test_can_be_told_not_to_repeat() -> None:
    with pytest.raises(countersign.APITimeoutError):
        begin(SEND, calls.Retries(0, 30)).next(broken(was_sent=True, is_timeout=True), 0)


CHALLENGED = answer(
    403,
    problem(
        "ChallengeRequiredError",
        403,
        challenge={"type": "pow", "algorithm": "SHA-256", "salt": "c2FsdA", "difficulty": 8, "signature": "sig", "expires_at": "2030-01-01T00:00:00Z"},
    )[1],
)


def test_asks_for_a_solution_and_sends_it_with_the_same_idempotency_key() -> None:
    call = begin(SEND)
    key = call.headers["idempotency-key"]
    step = call.next(CHALLENGED, 1)
    assert step.challenge == Challenge("c2FsdA", 8, "sig")
    call.solved("c2FsdA.1.sig", 60)
    assert call.headers["challenge-solution"] == "c2FsdA.1.sig" and call.headers["idempotency-key"] == key
    # Solving took longer than the budget, which begins anew.
    assert isinstance(call.next(refused(), 61), calls.Wait)


def test_solves_three_challenges_at_most() -> None:
    call = begin(SEND)
    assert all(isinstance(call.next(CHALLENGED, 1), calls.Solve) for _ in range(3))
    with pytest.raises(countersign.ChallengeRequiredError) as caught:
        call.next(CHALLENGED, 1)
    assert caught.value.challenge["difficulty"] == 8


def test_raises_a_challenge_of_an_unknown_kind() -> None:
    with pytest.raises(countersign.ChallengeRequiredError):
        begin(SEND).next(refused(403, "ChallengeRequiredError"), 1)


def test_finds_the_first_nonce_with_enough_zero_bits() -> None:
    # Found with another implementation: sha256sum.
    assert solve(Challenge("c2FsdA", 8, "sig"), lambda: False) == "c2FsdA.51.sig"
    assert solve(Challenge("c2FsdA", 200, "sig"), lambda: True) is None


def test_keeps_members_and_values_that_it_does_not_know() -> None:
    done = begin(SEND).next(answer(200, {**VERIFICATION, "channel": "pigeon", "altitude": 3}), 1)
    assert done.answer.channel == "pigeon" and done.answer.raw["altitude"] == 3
    with pytest.raises(AttributeError):
        done.answer.status = "approved"


@pytest.mark.parametrize("body", ["<html>", "[]", "{}", '"text"', "null"])
def test_raises_an_answer_that_is_not_countersigns(body: str) -> None:
    with pytest.raises(countersign.HTTPException, match="base_url"):
        begin(SEND).next(answer(200, body), 1)
    with pytest.raises(countersign.HTTPException, match="base_url"):
        begin(NOT_REPEATABLE["verify"]).next(answer(502, body), 1)


def test_raises_an_error_of_an_unknown_type_by_its_status() -> None:
    with pytest.raises(countersign.CountersignError) as caught:
        begin(SEND).next(refused(418, "TeapotError"), 1)
    error = caught.value
    assert (type(error), error.type, error.status, error.request_id) == (countersign.CountersignError, "TeapotError", 418, "req-1")
    assert str(error) == "TeapotError: TeapotError in words (418, request req-1)"


def test_errors_survive_pickling() -> None:
    with pytest.raises(countersign.RateLimitExceededError) as caught:
        begin(SEND).next(refused(429, "RateLimitExceededError", retry_after="9"), 1)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (type(copied), str(copied), copied.retry_after) == (type(caught.value), str(caught.value), 9)


def test_escapes_an_id_in_a_path() -> None:
    assert calls.status("otp_1/../cancel?x").path == "/otp/otp_1%2F..%2Fcancel%3Fx"
