"""What the OpenAPI document cannot say. In: each request before it leaves, each failure before it is told.
Out: requests that get further than chance would take them, and the one failure that is none."""

import itertools
import os
import re

import requests
import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData

ORIGIN = os.environ["ORIGIN"]
ADMIN = {"Authorization": f"Bearer {os.environ['ADMIN_TOKEN']}"}
WITH_PUBLISHABLE_KEY = os.environ["API_KEY"].startswith("pk_")
MAX_IDEMPOTENCY_KEY_LENGTH = 128

numbers = itertools.count()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """With a publishable key `client_ip` is refused, so any but null is then a malformed body."""
    if WITH_PUBLISHABLE_KEY:
        raw_schema["components"]["schemas"]["SendRequest"]["properties"]["client_ip"] = {"type": "null"}
        raw_schema["paths"]["/otp/send"]["post"]["requestBody"]["content"]["application/json"]["example"].pop("client_ip", None)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path == "/otp/send":
        make_key_unique(case.headers)
    elif case.operation.path == "/otp/verify":
        enter_right_code(case.body)


def make_key_unique(headers):
    """A key that was used before would rightly get the first answer again, whatever the body."""
    key = headers.get("idempotency-key")
    if isinstance(key, str) and 0 < len(key) <= MAX_IDEMPOTENCY_KEY_LENGTH:
        number = f"{next(numbers):06}"
        headers["idempotency-key"] = key[: MAX_IDEMPOTENCY_KEY_LENGTH - len(number)] + number


def enter_right_code(body):
    """Nobody guesses it: every code of even length is replaced by the one in the sandbox. A malformed body stays as it is."""
    members = body if isinstance(body, dict) else {}
    otp_id, code = members.get("otp_id"), members.get("code")
    if not isinstance(otp_id, str) or not isinstance(code, str) or len(code) % 2:
        return
    messages = requests.get(f"{ORIGIN}/admin/v1/sandbox/messages", headers=ADMIN, timeout=10).json()
    codes = {message["otp_id"]: message["code"] for message in reversed(messages)}
    body["code"] = codes.get(otp_id) or code


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A number can have the right shape and be assigned to nobody. No shape tells, so its refusal is no contradiction."""
    return not (isinstance(failure, RejectedPositiveData) and is_refused_number(case.body, response))


def is_refused_number(body, response):
    return (
        response.status_code == 422
        and response.json()["type"] == "InvalidRecipientError"
        and re.fullmatch(r"\+[1-9][0-9]{6,14}", body["recipient"]) is not None
    )
