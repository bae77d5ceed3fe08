"""Sign-up with a verified phone number or email address, in FastAPI. The code is checked here, on the backend, with a server key.

    pip install ./clients/python fastapi uvicorn
    COUNTERSIGN_URL=http://localhost:3000 COUNTERSIGN_KEY=sk_test_… uvicorn --app-dir docs/examples/fastapi main:app"""

import logging
import os
import secrets

from countersign import AsyncCountersign, CountersignError
from fastapi import Cookie, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

app = FastAPI()
countersign = AsyncCountersign(os.environ["COUNTERSIGN_KEY"], base_url=os.environ["COUNTERSIGN_URL"])

#: The verifications that are under way, by the visitor's cookie. Keep yours in your session store.
started: dict[str, tuple[str, str]] = {}


class SignUp(BaseModel):
    recipient: str


class Code(BaseModel):
    code: str


@app.post("/signup")
async def sign_up(body: SignUp, request: Request, response: Response) -> dict[str, str]:
    # Behind a proxy, uvicorn's --forwarded-allow-ips makes this the visitor's address and not the proxy's.
    client_ip = request.client.host if request.client else None
    verification = await countersign.send(body.recipient, client_ip=client_ip)
    visitor = secrets.token_urlsafe()
    started[visitor] = (verification.otp_id, body.recipient)
    response.set_cookie("visitor", visitor, httponly=True, samesite="lax", secure=request.url.scheme == "https")
    return {"sent_to": verification.masked_recipient, "channel": verification.channel}


@app.post("/signup/verify")
async def verify(body: Code, visitor: str = Cookie("")) -> dict[str, str]:
    if visitor not in started:
        raise HTTPException(409, "Start again.")
    otp_id, recipient = started[visitor]
    result = await countersign.verify(otp_id, body.code)
    if not result.matched:
        raise HTTPException(422, f"Wrong code. {result.attempts_left} attempts are left.")
    # A verification is accepted once: of two calls with the right code, only one still finds it here.
    if started.pop(visitor, None) is None:
        raise HTTPException(409, "Start again.")
    return {"verified": recipient}


@app.exception_handler(CountersignError)
async def refused(_: Request, error: CountersignError) -> JSONResponse:
    """Says what the visitor can change; the rest is for your log."""
    if error.status in (409, 410, 422, 429):
        headers = {"retry-after": str(error.retry_after)} if error.retry_after else {}
        return JSONResponse({"detail": error.message}, error.status, headers)
    logging.error("%s", error)
    return JSONResponse({"detail": "Codes cannot be sent at the moment."}, 503)
