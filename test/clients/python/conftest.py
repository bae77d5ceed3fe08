"""What the tests of the Python client share: the client in each of its forms behind one blocking surface, a scripted server, and the running
service that package.test.ts describes in the environment."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from countersign import AsyncCountersign, Countersign, calls

FORMS = ["blocking", "asyncio", "trio"]


class Awaited:
    """An AsyncCountersign whose methods block, so that one test serves both clients."""

    def __init__(self, portal: Any, client: Any) -> None:
        self._portal, self._client = portal, client

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)
        if not callable(member):
            return Awaited(self._portal, member)
        return lambda *args, **named: self._portal.call(lambda: member(*args, **named))


@pytest.fixture(params=FORMS)
def client(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes clients of one form."""
    if request.param == "blocking":
        made: list[Countersign] = []

        def make(key: str, **options: Any) -> Countersign:
            made.append(Countersign(key, **options))
            return made[-1]

        yield make
        for one in made:
            one.close()
        return
    with start_blocking_portal(request.param) as portal:
        awaited: list[Awaited] = []

        def make_async(key: str, **options: Any) -> Awaited:
            awaited.append(Awaited(portal, AsyncCountersign(key, **options)))
            return awaited[-1]

        yield make_async
        for other in awaited:
            other.aclose()


class ScriptedServer:
    """Answers as it is told, in order, and the last answer again and again. An answer of None closes the connection."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any, dict[str, str]] | None] = []
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.is_open = threading.Event()
        self.is_open.set()
        #: Between the bytes of a body, which otherwise comes at once.
        self.trickle_seconds = 0.0
        self._is_closing = threading.Event()
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                scripted.requests.append((self.command, self.path, headers, json.loads(body) if body else None))
                scripted.is_open.wait(30)
                answer = scripted.answers.pop(0) if len(scripted.answers) > 1 else scripted.answers[0]
                if answer is None:
                    self.close_connection = True
                    return
                status, content, more = answer
                text = content if isinstance(content, str) else json.dumps(content)
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                if not scripted.trickle_seconds:
                    self.wfile.write(text.encode())
                    return
                self.close_connection = True
                with contextlib.suppress(ConnectionError):
                    for byte in text.encode():
                        self.wfile.write(bytes([byte]))
                        if scripted._is_closing.wait(scripted.trickle_seconds):
                            return

            do_GET = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._is_closing.set()
        self.is_open.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repetition follows at once. How long it waits is tested without waiting, in test_calls.py."""
    monkeypatch.setattr(calls, "FIRST_WAIT_SECONDS", 0.001)


def problem(type_: str, status: int, **members: Any) -> tuple[int, dict[str, Any], dict[str, str]]:
    body = {"type": type_, "title": type_, "status": status, "detail": f"{type_} in words", "request_id": "req-1", **members}
    return status, body, {"content-type": "application/problem+json", "x-request-id": "req-1"}


VERIFICATION = {
    "otp_id": "otp_1",
    "status": "pending",
    "channel": "sms",
    "masked_recipient": "+1****01",
    "action_url": None,
    "completion": "code",
}


class Service:
    """The running Countersign."""

    def __init__(self) -> None:
        self.url = os.environ["COUNTERSIGN_URL"]
        self.keys: dict[str, str] = json.loads(os.environ["KEYS"])
        self._numbers = 0

    def fresh_number(self) -> str:
        self._numbers += 1
        return f"+1415557{self._numbers:04d}"

    def code_of(self, recipient: str, otp_id: str) -> str:
        url = f"{self.url}/admin/v1/sandbox/messages?recipient={urllib.parse.quote(recipient)}"
        asked = urllib.request.Request(url, headers={"authorization": f"Bearer {os.environ['ADMIN_TOKEN']}"})
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with urllib.request.urlopen(asked) as answer:
                for message in json.load(answer):
                    if message["otp_id"] == otp_id:
                        return str(message["code"])
            time.sleep(0.02)
        raise AssertionError("no message arrived in the sandbox")

    def advance(self, seconds: int) -> None:
        """Sets the clock of the service forward."""
        url = f"{os.environ['CLOCK_URL']}/?seconds={seconds}"
        urllib.request.urlopen(urllib.request.Request(url, method="POST")).close()


@pytest.fixture(scope="session")
def service() -> Service:
    return Service()
