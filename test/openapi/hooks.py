"""What the OpenAPI document cannot say. In: each request before it is sent, and each failure before it is reported.
Out: requests that random values would hardly make, and every failure except a refused phone number."""

import itertools
import os
import re

import requests
import schemathesis
from schemathesis.openapi.checks import MissingHeaderNotRejected, RejectedPositiveData

ORIGIN = os.environ["ORIGIN"]
ADMIN = {"Authorization": f"Bearer {os.environ['ADMIN_TOKEN']}"}
WITH_PUBLISHABLE_KEY = os.environ["API_KEY"].startswith("pk_")
MAX_IDEMPOTENCY_KEY_LENGTH = 128

numbers = itertools.count()
# What the document says in words: digits, white space and hyphens.
CODE = "^[ -]*(?:[0-9][ -]*){4,10}$"
LISTED = {"app_hash": "FA+9qCX9VSu", "domain": "example.com"}
# White space as the document's patterns mean it: Python's has control characters more.
SPACE = "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
RECIPIENT = re.compile(rf"\+[1-9][0-9]{{6,14}}|[^@{SPACE}]+@[^@{SPACE}]+")


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """The document says of a file of lines that it is a text. Random texts are no lines, and their refusal is no failure (see below)."""
    return {"data": value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The document says of `client_ip` only that it is text: its two formats would need an `anyOf`, which generators misread. A
    publishable key must not send it, nor `metadata` or `domain`, so any value except null is then a malformed body."""
    schemas = raw_schema["components"]["schemas"]
    for name in ("SendRequest", "MessageRequest"):
        schemas[name]["properties"]["client_ip"] = {
            "anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}, {"type": "null"}]
        }
    schemas["VerifyRequest"]["properties"]["code"]["pattern"] = CODE
    # The app of bootstrap.json lists these, and no others are taken.
    for name, value in LISTED.items():
        schemas["SendRequest"]["properties"][name] = {"enum": [value, None]}
    # An operator's token needs no session, and a made-up session beside it would be refused.
    for methods in raw_schema["paths"].values():
        for operation in methods.values():
            operation["security"] = [one for one in operation["security"] if "session" not in one]
    if WITH_PUBLISHABLE_KEY:
        send = raw_schema["paths"]["/api/v1/otp/send"]["post"]["requestBody"]["content"]["application/json"]
        for name in ("client_ip", "metadata", "domain"):
            schemas["SendRequest"]["properties"][name] = {"type": "null"}
            send["example"].pop(name, None)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path in ("/api/v1/otp/send", "/api/v1/messages"):
        make_key_unique(case.headers)
    elif case.operation.path == "/api/v1/otp/verify":
        enter_right_code(case.body)
    elif case.operation.path == "/admin/v1/sign-in":
        give_right_token(case.body)


def make_key_unique(headers):
    """A key that was used before would get the first answer again, with any body."""
    key = headers.get("idempotency-key")
    if isinstance(key, str) and 0 < len(key) <= MAX_IDEMPOTENCY_KEY_LENGTH:
        number = f"{next(numbers):06}"
        headers["idempotency-key"] = key[: MAX_IDEMPOTENCY_KEY_LENGTH - len(number)] + number


def enter_right_code(body):
    """Replaces every code of even length by the one in the sandbox, because no guess would match. Leaves a malformed body as it is."""
    members = body if isinstance(body, dict) else {}
    otp_id, code = members.get("otp_id"), members.get("code")
    if not isinstance(otp_id, str) or not isinstance(code, str) or len(code) % 2:
        return
    messages = requests.get(f"{ORIGIN}/admin/v1/sandbox/messages", headers=ADMIN, timeout=60).json()
    codes = {message["otp_id"]: message["code"] for message in reversed(messages)}
    body["code"] = codes.get(otp_id) or code


def give_right_token(body):
    """Wrong tokens are throttled: after ten of them the right one would be refused for a minute."""
    if isinstance(body, dict) and isinstance(body.get("token"), str):
        body["token"] = os.environ["ADMIN_TOKEN"]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A recipient can match the pattern and be no valid number or address. The document cannot say so, so its refusal is no failure.
    Nor is a call that should be without its key: the settings put the key into every call."""
    if isinstance(failure, MissingHeaderNotRejected):
        return "Authorization" not in response.request.headers
    if not isinstance(failure, RejectedPositiveData):
        return True
    return not (case.media_type == "application/x-ndjson" or is_refused_recipient(case.body, response))


def is_refused_recipient(body, response):
    return (
        response.status_code == 422
        and response.json()["type"] == "InvalidRecipientError"
        and RECIPIENT.fullmatch(body["recipient"]) is not None
    )
