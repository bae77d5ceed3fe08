"""Solves the challenges that publishable keys may be asked: a nonce for which SHA-256 of `<salt>.<nonce>` begins with `difficulty` zero
bits. Pure. It tries some 650,000 nonces a second: a tenth of a second for the easiest challenge, about 50 s for the hardest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

#: A solution is accepted for so long.
CHALLENGE_LIFE_SECONDS = 300
#: After so many nonces the solver asks whether it should stop: about every 15 ms.
NONCES_BETWEEN_CHECKS = 10_000


@dataclass(frozen=True)
class WidgetChallenge:
    """The widget of a vendor, in place of a proof of work. Only a page can show it."""

    #: `turnstile` or `hcaptcha`.
    type: str
    site_key: str


@dataclass(frozen=True)
class Challenge:
    salt: str
    difficulty: int
    signature: str


def solve(challenge: Challenge, should_stop: Callable[[], bool]) -> str | None:
    """The value of the header `challenge-solution`; None if it was stopped."""
    begun = hashlib.sha256(f"{challenge.salt}.".encode())
    too_large = 1 << (256 - challenge.difficulty)
    for start in count(0, NONCES_BETWEEN_CHECKS):
        if should_stop():
            return None
        for nonce in range(start, start + NONCES_BETWEEN_CHECKS):
            tried = begun.copy()
            tried.update(b"%d" % nonce)
            if int.from_bytes(tried.digest(), "big") < too_large:
                return f"{challenge.salt}.{nonce}.{challenge.signature}"
    raise AssertionError("count() does not end")
