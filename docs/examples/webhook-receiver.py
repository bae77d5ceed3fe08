"""Receives webhooks from Countersign. In: a signed event. Out: 204 once the event is accepted. Copy it, and put your work into `handle`.

    pip install ./clients/python
    WEBHOOK_SECRETS=whsec_… PORT=8080 python docs/examples/webhook-receiver.py

Separate several secrets by commas. All of them are accepted: give both while you replace one."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from countersign import Event, WebhookVerificationError, verify_webhook

SECRETS = [secret for secret in os.environ["WEBHOOK_SECRETS"].split(",") if secret]
MAX_BODY_BYTES = 100_000

#: The ids of handled events. Keep yours in your database under a unique index, written together with what the event causes.
handled_ids: set[str] = set()
lock = threading.Lock()


def handle(event: Event) -> None:
    """Your work. Be quick: put the event into a queue, and process it after the response."""
    print("test" if event.is_test else "live", event.type, json.dumps(dict(event.payload)), flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = self.headers.get("content-length", "0")
        if not length.isdecimal():
            # A negative length would read without a limit.
            return self.respond(400)
        # The signature is over the raw bytes: JSON that was parsed and serialized again has another signature.
        raw_body = self.rfile.read(min(int(length), MAX_BODY_BYTES + 1))
        if len(raw_body) > MAX_BODY_BYTES:
            return self.respond(413)
        try:
            event = verify_webhook(raw_body, self.headers, SECRETS)
        except WebhookVerificationError:
            return self.respond(401)
        # If your response was late or lost, the event comes again: respond with 2xx again.
        with lock:
            if event.id not in handled_ids:
                handle(event)
                # Only now: an event whose handling failed comes again, and must not count as handled.
                handled_ids.add(event.id)
        self.respond(204)

    def respond(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Receiver)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
