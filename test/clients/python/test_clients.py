"""Both clients against a scripted server: what they send, what they repeat, and how they behave while they wait."""

from __future__ import annotations

import asyncio
import socket
import threading
import traceback
from types import MappingProxyType, SimpleNamespace
from typing import Any

import countersign
import httpx
import pytest
from conftest import VERIFICATION, ScriptedServer, problem
from countersign import AsyncCountersign, Countersign, calls
from countersign import client as clients

OK = (200, VERIFICATION, {})
UNAVAILABLE = problem("ServiceUnavailableError", 503)
#: A proxy's, when the service behind it gave no answer in time.
PROXY_TIMEOUT = (524, "<html>", {})
TIME = "2030-01-01T12:00:00.000Z"
DETAILS = {**VERIFICATION, "created_at": TIME, "expires_at": TIME, "verified_at": None, "attempts_left": 5, "resend_at": None}
VERIFIED = {"otp_id": "otp_1", "status": "approved", "matched": True, "attempts_left": 5, "verification_token": None}
MESSAGE = {"message_id": "msg_1", "channel": "email", "masked_recipient": "a****@b.example", "status": "queued"}


def challenge(difficulty: int) -> Any:
    asked = {"type": "pow", "algorithm": "SHA-256", "salt": "c2FsdA", "difficulty": difficulty, "signature": "sig"}
    return problem("ChallengeRequiredError", 403, challenge={**asked, "expires_at": "2030-01-01T00:00:00.000Z"})


def test_sends_what_it_is_given(client: Any, server: ScriptedServer) -> None:
    server.answers = [OK]
    by = client("sk_test_1", base_url=f"{server.url}/")
    answer = by.send("a@b.example", client_ip="203.0.113.7", locale="de", metadata=MappingProxyType({"order": "1"}), idempotency_key="mine")
    assert (answer.otp_id, answer.action_url, answer.raw) == ("otp_1", None, VERIFICATION)
    [(method, path, headers, body)] = server.requests
    assert (method, path) == ("POST", "/api/v1/otp/send")
    assert body == {"recipient": "a@b.example", "client_ip": "203.0.113.7", "locale": "de", "metadata": {"order": "1"}}
    assert headers["authorization"] == "Bearer sk_test_1" and headers["idempotency-key"] == "mine"
    assert headers["accept-encoding"] == "identity"
    assert headers["user-agent"].startswith(f"countersign-python/{countersign.__version__} ")


def test_sends_a_code_of_ones_own(client: Any, server: ScriptedServer) -> None:
    server.answers = [(200, MESSAGE, {})]
    answer = client("sk_test_1", base_url=server.url).messages.send("a@b.example", "ABC123", locale="fr", client_ip="203.0.113.7")
    assert (answer.message_id, answer.channel, answer.masked_recipient, answer.status) == tuple(MESSAGE.values())
    [(method, path, headers, body)] = server.requests
    assert (method, path) == ("POST", "/api/v1/messages") and headers["idempotency-key"]
    assert body == {"recipient": "a@b.example", "code": "ABC123", "locale": "fr", "client_ip": "203.0.113.7"}


@pytest.mark.usefixtures("no_waits")
def test_repeats_a_send_until_it_is_answered(client: Any, server: ScriptedServer) -> None:
    server.answers = [UNAVAILABLE, None, OK]
    assert client("sk_test_1", base_url=server.url).send("a@b.example").otp_id == "otp_1"
    keys = {headers["idempotency-key"] for _, _, headers, _ in server.requests}
    assert len(server.requests) == 3 and len(keys) == 1


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize("outcome,error", [(UNAVAILABLE, countersign.ServiceUnavailableError), (None, countersign.APIConnectionError)])
def test_does_not_repeat_a_verify_that_may_have_been_executed(client: Any, server: ScriptedServer, outcome: Any, error: Any) -> None:
    server.answers = [outcome, (200, DETAILS, {})]
    with pytest.raises(error):
        client("sk_test_1", base_url=server.url).verify("otp_1", "123456")
    assert [path for _, path, _, _ in server.requests] == ["/api/v1/otp/verify", "/api/v1/otp/otp_1"]


@pytest.mark.parametrize("outcome", [UNAVAILABLE, PROXY_TIMEOUT, None])
def test_gets_the_lost_answer_to_a_right_code(client: Any, server: ScriptedServer, outcome: Any) -> None:
    server.answers = [outcome, (200, {**DETAILS, "status": "approved"}, {}), (200, VERIFIED, {})]
    assert client("sk_test_1", base_url=server.url).verify("otp_1", "123456").matched
    assert len(server.requests) == 3


def test_raises_the_first_error_of_a_verify_if_the_state_is_not_known(client: Any, server: ScriptedServer) -> None:
    server.answers = [UNAVAILABLE, problem("OtpNotFoundError", 404)]
    with pytest.raises(countersign.ServiceUnavailableError):
        client("sk_test_1", base_url=server.url).verify("otp_1", "123456")


@pytest.mark.usefixtures("no_waits")
def test_repeats_a_verify_whose_connection_was_refused(client: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(countersign.APIConnectionError, match="Nothing was executed") as caught:
        client("sk_test_1", base_url=f"http://127.0.0.1:{port}").verify("otp_1", "123456")
    assert caught.value.status is None and isinstance(caught.value.__cause__, httpx.ConnectError)


def test_gives_up_after_its_timeout_though_the_answer_trickles(client: Any, server: ScriptedServer) -> None:
    server.answers = [OK]
    server.trickle_seconds = 0.05
    with pytest.raises(countersign.APITimeoutError, match="may have been executed") as caught:
        client("sk_test_1", base_url=server.url, timeout=1, max_retries=0).send("a@b.example")
    assert caught.value.executed is None and len(server.requests) == 1


def test_knows_that_nothing_was_sent_if_its_timeout_ends_before_it_is_connected(client: Any) -> None:
    # It takes connections, and never answers the first message of TLS.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(countersign.APITimeoutError, match="Nothing was executed"):
            client("sk_test_1", base_url=url, timeout=1, max_retries=0).verify("otp_1", "123456")


def test_gives_each_phase_of_an_attempt_what_the_others_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now, given = [0.0], []
    monkeypatch.setattr(clients, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def answer(request: httpx.Request) -> httpx.Response:
        for phase in ["pool", "connect", "write", "read"]:
            given.append(request.extensions["timeout"].get(phase))
            now[0] += 4
        return httpx.Response(200, json=VERIFICATION)

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        by = Countersign("sk_test_1", base_url="https://otp.example.com", timeout=15, max_retries=0, http_client=http)
        with pytest.raises(countersign.APITimeoutError, match="longer than 15 s. The call may have been executed"):
            by.send("a@b.example")
    assert given == [15, 11, 7, 3]


def test_follows_no_redirect(client: Any, server: ScriptedServer) -> None:
    server.answers = [(307, "", {"location": f"{server.url}/elsewhere"})]
    with pytest.raises(countersign.HTTPException) as caught:
        client("sk_test_1", base_url=server.url).send("a@b.example")
    assert caught.value.status == 307 and len(server.requests) == 1


def test_solves_a_challenge(client: Any, server: ScriptedServer) -> None:
    server.answers = [challenge(8), OK]
    assert client("pk_test_1", base_url=server.url).send("a@b.example").otp_id == "otp_1"
    first, second = (headers for _, _, headers, _ in server.requests)
    assert "challenge-solution" not in first and second["challenge-solution"] == "c2FsdA.51.sig"


def test_has_the_widget_of_a_vendor_solved(client: Any, server: ScriptedServer) -> None:
    widget = problem("ChallengeRequiredError", 403, challenge={"type": "turnstile", "site_key": "site"})
    asked: list[countersign.WidgetChallenge] = []

    def token_of(challenge: countersign.WidgetChallenge) -> str:
        asked.append(challenge)
        return "a token"

    async def await_token_of(challenge: countersign.WidgetChallenge) -> str:
        return token_of(challenge)

    server.answers = [widget, OK]
    solve_widget = await_token_of if client.__name__ == "make_async" else token_of
    client("pk_test_1", base_url=server.url, solve_widget=solve_widget).send("a@b.example")
    assert asked == [countersign.WidgetChallenge("turnstile", "site")]
    assert server.requests[1][2]["challenge-solution"] == "a token"
    server.answers = [widget]
    with pytest.raises(countersign.ChallengeRequiredError):
        client("pk_test_1", base_url=server.url).send("a@b.example")


def test_raises_a_challenge_that_it_cannot_solve_in_time(client: Any, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "CHALLENGE_LIFE_SECONDS", 0.05)
    server.answers = [challenge(200)]
    with pytest.raises(countersign.ChallengeRequiredError):
        client("pk_test_1", base_url=server.url).send("a@b.example")


def test_lets_the_event_loop_run_while_it_solves_and_ends_when_canceled(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()
    real = clients.solve

    def observed(*args: Any) -> Any:
        begun.set()
        try:
            return real(*args)
        finally:
            ended.set()

    monkeypatch.setattr(clients, "solve", observed)
    server.answers = [challenge(200)]

    async def use() -> int:
        async with AsyncCountersign("pk_test_1", base_url=server.url) as by:
            sending = asyncio.create_task(by.send("a@b.example"))
            turns = 0
            while turns < 20 or not begun.is_set():
                await asyncio.sleep(0.001)
                turns += 1
            assert not sending.done() and not ended.is_set()
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            return turns

    assert asyncio.run(use()) >= 20
    assert ended.wait(30), "the thread that solves goes on after its call was canceled"


def test_leaves_a_given_http_client_open(server: ScriptedServer) -> None:
    server.answers = [OK]
    with httpx.Client() as http:
        with Countersign("sk_test_1", base_url=server.url, http_client=http) as by:
            by.send("a@b.example")
        assert not http.is_closed
    own = Countersign("sk_test_1", base_url=server.url)
    own.close()
    with pytest.raises(RuntimeError):
        own.send("a@b.example")


def test_does_not_show_its_key() -> None:
    assert "sk_live_1" not in repr(Countersign("sk_live_1", base_url="https://otp.example.com"))


def test_drops_the_white_space_around_its_key(client: Any, server: ScriptedServer) -> None:
    server.answers = [OK]
    client(" sk_test_1\r\n", base_url=server.url).send("a@b.example")
    assert server.requests[0][2]["authorization"] == "Bearer sk_test_1"


@pytest.mark.parametrize("key", ["sk_live_1\nx: y", "sk_live_\x7f", "sk_live_ü", " \n", "", None])
def test_refuses_a_key_that_is_not_printable_ascii_without_showing_it(client: Any, key: Any) -> None:
    with pytest.raises(ValueError, match="^key must") as caught:
        client(key, base_url="https://otp.example.com")
    assert "sk_live" not in str(caught.value)


def test_refuses_an_idempotency_key_that_is_not_printable_ascii(client: Any, server: ScriptedServer) -> None:
    server.answers = [OK]
    by = client("sk_test_1", base_url=server.url)
    with pytest.raises(ValueError, match="^idempotency_key must"):
        by.send("a@b.example", idempotency_key="my\nkey")
    with pytest.raises(ValueError, match="^idempotency_key must"):
        by.messages.send("a@b.example", "ABC123", idempotency_key="für-dich")
    assert server.requests == []
    by.send("a@b.example", idempotency_key=" order 17\n")
    assert server.requests[0][2]["idempotency-key"] == "order 17"


def test_neither_shows_nor_repeats_a_request_that_is_not_http(client: Any, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    repeated: list[bool] = []
    monkeypatch.setattr(calls.Retries, "take", lambda _: repeated.append(True))
    monkeypatch.setattr(clients.platform, "python_version", lambda: "not\nshown")
    server.answers = [OK]
    with pytest.raises(countersign.APIConnectionError, match="not valid HTTP. Nothing was executed") as caught:
        client("sk_test_1", base_url=server.url).send("a@b.example")
    assert caught.value.executed is False and not repeated and server.requests == []
    assert "shown" not in "".join(traceback.format_exception(caught.value))


def test_refuses_an_address_without_a_scheme(client: Any) -> None:
    with pytest.raises(ValueError):
        client("sk_test_1", base_url="otp.example.com")
