"""The two clients. In: a key and the address of a deployment. Out: a method per call of the API. They differ only in how they wait: the
rules are in calls.py."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing
from types import TracebackType
from typing import TypeVar

import anyio
import anyio.to_thread
import httpx

from . import calls
from .answers import Answer, Channel, ExchangeResult, Message, Verification, VerificationDetails, VerifyResult
from .challenge import CHALLENGE_LIFE_SECONDS, Challenge, WidgetChallenge, solve
from .errors import APIConnectionError, CountersignError
from .version import __version__

A = TypeVar("A", bound=Answer)

#: Of one attempt. The service takes at most ten seconds to say that it cannot answer.
TIMEOUT_SECONDS = 15.0
MAX_RETRIES = 2
RETRY_SECONDS = 20.0
#: Node closes an idle connection after five seconds. A call that is sent at that moment is lost, and a verify could not be repeated.
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=3)

#: Nothing left this machine.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class _Settings:
    """What both clients are made with."""

    def __init__(self, key: str, base_url: str, timeout: float, max_retries: int, retry_seconds: float) -> None:
        # A key from a file ends with a newline, and one from the environment may be None.
        key = calls.printable("key", (key or "").strip())
        if not base_url.startswith(("http://", "https://")):
            raise ValueError("base_url must begin with https:// or http://")
        self._address = f"{base_url.rstrip('/')}/api/v1"
        self._headers = {
            "authorization": f"Bearer {key}",
            "accept": "application/json",
            # The first bytes of a compressed answer give no text, so that the blocking client could not see that it is late.
            "accept-encoding": "identity",
            "user-agent": f"countersign-python/{__version__} python/{platform.python_version()}",
        }
        self.timeout = timeout
        self._retries = calls.Retries(max_retries, retry_seconds)

    def begin(self, operation: calls.Operation[A]) -> calls.Call[A]:
        return calls.Call(operation, self._retries, time.monotonic())

    def request(self, http: httpx.Client | httpx.AsyncClient, call: calls.Call[A], time_left: _TimeLeft) -> httpx.Request:
        headers = {**self._headers, **call.headers}
        url = self._address + call.path
        return http.build_request(call.method, url, headers=headers, content=call.content, extensions={"timeout": time_left})


class _TimeLeft(Mapping[str, float]):
    """The time-outs of one attempt. httpx asks for that of each phase when the phase begins, and gets what is left of the attempt."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._begun: set[str] = set()

    def __getitem__(self, phase: str) -> float:
        self._begun.add(phase)
        # A socket with a time-out of 0 does not wait, and its error is not a time-out.
        return max(self._until - time.monotonic(), 0.001)

    def __iter__(self) -> Iterator[str]:
        return iter(("pool", "connect", "write", "read"))

    def __len__(self) -> int:
        return 4

    def is_over(self) -> bool:
        return time.monotonic() > self._until

    def error(self) -> httpx.TimeoutException:
        """That of an attempt that is over. Like those of httpx, it tells whether anything was sent."""
        cls = httpx.ConnectTimeout if self._begun in ({"pool"}, {"pool", "connect"}) else httpx.ReadTimeout
        return cls(f"the attempt took longer than {self._seconds:g} s")


def _unanswered(error: httpx.RequestError) -> calls.NoResponse:
    if isinstance(error, httpx.LocalProtocolError):
        # A header has characters that HTTP does not allow, and would have them again. The cause quotes it, so it is left out.
        message = "No answer: the request is not valid HTTP. Nothing was executed."
        raise APIConnectionError(message, type="APIConnectionError", executed=False) from None
    return calls.NoResponse(error, was_sent=not isinstance(error, _UNSENT), is_timeout=isinstance(error, httpx.TimeoutException))


class Countersign:
    """Calls a deployment of Countersign. Threads may share one.

    `key`: a server key (`sk_…`) on a backend, a publishable key (`pk_…`) on a device. `timeout`: seconds that one attempt may
    take. `max_retries`, `retry_seconds`: how often a call is repeated, and until when, where that is safe. `http_client`: for a proxy or a
    certificate authority of your own; you close it yourself. `solve_widget`: has the widget of a vendor solved, where the app has one in
    place of proofs of work, and returns its token; without it such a call raises its `ChallengeRequiredError`."""

    def __init__(
        self,
        key: str,
        *,
        base_url: str,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
        retry_seconds: float = RETRY_SECONDS,
        http_client: httpx.Client | None = None,
        solve_widget: Callable[[WidgetChallenge], str | None] | None = None,
    ) -> None:
        self._settings = _Settings(key, base_url, timeout, max_retries, retry_seconds)
        self._http = http_client or httpx.Client(limits=LIMITS)
        self._owns_http = http_client is None
        self._solve_widget = solve_widget
        self.messages = Messages(self)

    def send(
        self,
        recipient: str,
        *,
        client_ip: str | None = None,
        locale: str | None = None,
        app_hash: str | None = None,
        domain: str | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Verification:
        """Starts a verification. Without an `idempotency_key` the call makes one for its own repetitions."""
        return self._run(
            calls.send(
                recipient=recipient,
                client_ip=client_ip,
                locale=locale,
                app_hash=app_hash,
                domain=domain,
                metadata=metadata,
                idempotency_key=idempotency_key,
            )
        )

    def resend(self, otp_id: str, *, channel: Channel | None = None) -> Verification:
        """Sends the same code on the next channel, or a fresh one on the channel that you name."""
        return self._run(calls.resend(otp_id, channel))

    def verify(self, otp_id: str, code: str) -> VerifyResult:
        """Checks what the user typed. A wrong code is `matched=False`."""
        try:
            return self._run(calls.verify(otp_id, code))
        except CountersignError as error:
            # Of a wrong code a repetition would spend another attempt. Of the right one it gets the lost answer.
            if not (calls.is_outcome_unknown(error) and self._is_approved(otp_id)):
                raise
            return self._run(calls.verify(otp_id, code))

    def status(self, otp_id: str) -> VerificationDetails:
        """Shows how far a verification got."""
        return self._run(calls.status(otp_id))

    def cancel(self, otp_id: str) -> Verification:
        """Ends a verification. Server keys only."""
        return self._run(calls.cancel(otp_id))

    def exchange(self, verification_token: str) -> ExchangeResult:
        """Exchanges a device's token for the recipient that it proves. Server keys only."""
        return self._run(calls.exchange(verification_token))

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Countersign:
        return self

    def __exit__(self, cls: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _is_approved(self, otp_id: str) -> bool:
        try:
            return self.status(otp_id).status == "approved"
        except CountersignError:
            return False

    def _run(self, operation: calls.Operation[A]) -> A:
        call = self._settings.begin(operation)
        while True:
            outcome: calls.Response | calls.NoResponse
            try:
                outcome = self._attempt(call)
            except httpx.RequestError as error:
                outcome = _unanswered(error)
            step = call.next(outcome, time.monotonic())
            if isinstance(step, calls.Done):
                return step.answer
            if isinstance(step, calls.Wait):
                time.sleep(step.seconds)
            else:
                solution = self._solve(step)
                if solution is None:
                    raise step.error
                call.solved(solution, time.monotonic())

    def _solve(self, step: calls.Solve) -> str | None:
        if isinstance(step.challenge, WidgetChallenge):
            return self._solve_widget(step.challenge) if self._solve_widget else None
        return solve(step.challenge, _is_over(CHALLENGE_LIFE_SECONDS))

    def _attempt(self, call: calls.Call[A]) -> calls.Response:
        time_left = _TimeLeft(self._settings.timeout)
        request = self._settings.request(self._http, call, time_left)
        with closing(self._http.send(request, stream=True, follow_redirects=False)) as response:
            # The time-out of httpx limits each read, not their sum, so an answer that trickles would be waited for without an end.
            body = b""
            for piece in response.iter_bytes():
                if time_left.is_over():
                    raise time_left.error()
                body += piece
            return calls.Response(response.status_code, response.headers, body)


class Messages:
    """Codes that you made yourself: Countersign delivers them, and has nothing to verify."""

    def __init__(self, client: Countersign) -> None:
        self._client = client

    def send(
        self,
        recipient: str,
        code: str,
        *,
        client_ip: str | None = None,
        locale: str | None = None,
        expires_in_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> Message:
        """Sends a code of 4 to 10 letters or digits. Server keys only. The message says how long the code is good for where you do."""
        return self._client._run(
            calls.send_message(
                recipient=recipient,
                code=code,
                client_ip=client_ip,
                locale=locale,
                expires_in_seconds=expires_in_seconds,
                idempotency_key=idempotency_key,
            )
        )


class AsyncCountersign:
    """`Countersign` for asyncio and trio: the same arguments and methods, to be awaited."""

    def __init__(
        self,
        key: str,
        *,
        base_url: str,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
        retry_seconds: float = RETRY_SECONDS,
        http_client: httpx.AsyncClient | None = None,
        solve_widget: Callable[[WidgetChallenge], Awaitable[str | None]] | None = None,
    ) -> None:
        self._settings = _Settings(key, base_url, timeout, max_retries, retry_seconds)
        self._http = http_client or httpx.AsyncClient(limits=LIMITS)
        self._owns_http = http_client is None
        self._solve_widget = solve_widget
        self.messages = AsyncMessages(self)

    async def send(
        self,
        recipient: str,
        *,
        client_ip: str | None = None,
        locale: str | None = None,
        app_hash: str | None = None,
        domain: str | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Verification:
        """Starts a verification. Without an `idempotency_key` the call makes one for its own repetitions."""
        return await self._run(
            calls.send(
                recipient=recipient,
                client_ip=client_ip,
                locale=locale,
                app_hash=app_hash,
                domain=domain,
                metadata=metadata,
                idempotency_key=idempotency_key,
            )
        )

    async def resend(self, otp_id: str, *, channel: Channel | None = None) -> Verification:
        """Sends the same code on the next channel, or a fresh one on the channel that you name."""
        return await self._run(calls.resend(otp_id, channel))

    async def verify(self, otp_id: str, code: str) -> VerifyResult:
        """Checks what the user typed. A wrong code is `matched=False`."""
        try:
            return await self._run(calls.verify(otp_id, code))
        except CountersignError as error:
            # Of a wrong code a repetition would spend another attempt. Of the right one it gets the lost answer.
            if not (calls.is_outcome_unknown(error) and await self._is_approved(otp_id)):
                raise
            return await self._run(calls.verify(otp_id, code))

    async def status(self, otp_id: str) -> VerificationDetails:
        """Shows how far a verification got."""
        return await self._run(calls.status(otp_id))

    async def cancel(self, otp_id: str) -> Verification:
        """Ends a verification. Server keys only."""
        return await self._run(calls.cancel(otp_id))

    async def exchange(self, verification_token: str) -> ExchangeResult:
        """Exchanges a device's token for the recipient that it proves. Server keys only."""
        return await self._run(calls.exchange(verification_token))

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncCountersign:
        return self

    async def __aexit__(self, cls: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    async def _is_approved(self, otp_id: str) -> bool:
        try:
            return (await self.status(otp_id)).status == "approved"
        except CountersignError:
            return False

    async def _run(self, operation: calls.Operation[A]) -> A:
        call = self._settings.begin(operation)
        while True:
            outcome: calls.Response | calls.NoResponse
            try:
                outcome = await self._attempt(call)
            except httpx.RequestError as error:
                outcome = _unanswered(error)
            step = call.next(outcome, time.monotonic())
            if isinstance(step, calls.Done):
                return step.answer
            if isinstance(step, calls.Wait):
                await anyio.sleep(step.seconds)
            else:
                solution = await self._solve(step)
                if solution is None:
                    raise step.error
                call.solved(solution, time.monotonic())

    async def _solve(self, step: calls.Solve) -> str | None:
        if isinstance(step.challenge, WidgetChallenge):
            return await self._solve_widget(step.challenge) if self._solve_widget else None
        return await _solve_in_thread(step.challenge)

    async def _attempt(self, call: calls.Call[A]) -> calls.Response:
        time_left = _TimeLeft(self._settings.timeout)
        request = self._settings.request(self._http, call, time_left)
        # As above, the time-outs of httpx are not enough.
        with anyio.move_on_after(self._settings.timeout):
            response = await self._http.send(request, follow_redirects=False)
            return calls.Response(response.status_code, response.headers, response.content)
        raise time_left.error()


class AsyncMessages:
    """Codes that you made yourself: Countersign delivers them, and has nothing to verify."""

    def __init__(self, client: AsyncCountersign) -> None:
        self._client = client

    async def send(
        self,
        recipient: str,
        code: str,
        *,
        client_ip: str | None = None,
        locale: str | None = None,
        expires_in_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> Message:
        """Sends a code of 4 to 10 letters or digits. Server keys only. The message says how long the code is good for where you do."""
        return await self._client._run(
            calls.send_message(
                recipient=recipient,
                code=code,
                client_ip=client_ip,
                locale=locale,
                expires_in_seconds=expires_in_seconds,
                idempotency_key=idempotency_key,
            )
        )


def _is_over(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until


async def _solve_in_thread(challenge: Challenge) -> str | None:
    """The event loop goes on meanwhile. A call that is canceled ends the thread too."""
    is_canceled = threading.Event()
    is_over = _is_over(CHALLENGE_LIFE_SECONDS)
    try:
        return await anyio.to_thread.run_sync(
            solve, challenge, lambda: is_canceled.is_set() or is_over(), abandon_on_cancel=True
        )
    finally:
        is_canceled.set()
