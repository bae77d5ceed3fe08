"""Uses the client that openapi-python-client makes: a send, a wrong code, the right code, a status and the admin API. In: ORIGIN,
SERVER_KEY and ADMIN_TOKEN in the environment. Out: an AssertionError if an answer is not what its type says."""

import os
import time

from countersign_client import AuthenticatedClient
from countersign_client.api.admin import create_api_key, create_app, create_company, get_company, list_companies
from countersign_client.api.admin import get_verification_history, list_sandbox_messages
from countersign_client.api.verifications import send, status, verify
from countersign_client.models import (
    Company,
    CompanyPage,
    CreateApiKeyRequest,
    CreateAppRequest,
    CreateCompanyRequest,
    KeyKind,
    Mode,
    NewApiKey,
    OtpStatus,
    Problem,
    SendRequest,
    Verification,
    VerificationDetails,
    VerificationHistory,
    VerifyRequest,
    VerifyResult,
)

ORIGIN = os.environ["ORIGIN"]
RECIPIENT = "+447911123456"
client = AuthenticatedClient(base_url=ORIGIN, token=os.environ["SERVER_KEY"], raise_on_unexpected_status=True)
admin = AuthenticatedClient(base_url=ORIGIN, token=os.environ["ADMIN_TOKEN"], raise_on_unexpected_status=True)


def is_a(kind, value):
    assert isinstance(value, kind), f"not a {kind.__name__}: {value!r}"
    return value


def code_of(otp_id):
    for _ in range(100):
        for message in list_sandbox_messages.sync(client=admin, recipient=RECIPIENT):
            if message.otp_id == otp_id:
                return message.code
        time.sleep(0.1)
    raise AssertionError("no message arrived in the sandbox")


started = is_a(Verification, send.sync(client=client, body=SendRequest(recipient=RECIPIENT)))
assert started.status is OtpStatus.PENDING

code = code_of(started.otp_id)
# Shorter than the codes of the app.
wrong = is_a(VerifyResult, verify.sync(client=client, body=VerifyRequest(otp_id=started.otp_id, code="0000")))
assert (wrong.matched, wrong.status) == (False, OtpStatus.PENDING)
right = is_a(VerifyResult, verify.sync(client=client, body=VerifyRequest(otp_id=started.otp_id, code=code)))
assert (right.matched, right.status) == (True, OtpStatus.APPROVED)

details = is_a(VerificationDetails, status.sync(otp_id=started.otp_id, client=client))
assert details.status is OtpStatus.APPROVED and details.verified_at is not None
refused = is_a(Problem, send.sync(client=client, body=SendRequest(recipient="nobody")))
assert refused.type_ == "InvalidRecipientError", refused

company = is_a(Company, create_company.sync(client=admin, body=CreateCompanyRequest(name="Python")))
assert is_a(Company, get_company.sync(company.id, client=admin)).name == "Python"
assert company.id in [one.id for one in is_a(CompanyPage, list_companies.sync(client=admin, limit=100)).items]
app = create_app.sync(company.id, client=admin, body=CreateAppRequest(name="Shop"))
assert app.settings.code.length == 6
key = create_api_key.sync(app.id, client=admin, body=CreateApiKeyRequest(kind=KeyKind.SERVER, mode=Mode.TEST))
assert is_a(NewApiKey, key).key.startswith("sk_test_")
history = is_a(VerificationHistory, get_verification_history.sync(started.otp_id, client=admin))
assert history.timeline[0].happened == "otp.started"
print("python: a send, two codes, a status and the admin API were as their types say")
