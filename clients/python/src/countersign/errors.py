"""What a call can raise. In: an answer that is not 2xx, or none at all. Out: an exception of the class that its `type` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CountersignError(Exception):
    """Every error of this package. A `type` that this version does not know is a plain CountersignError: decide by its `status`."""

    def __init__(
        self,
        message: str,
        *,
        type: str,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
        executed: bool | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        #: For people, and for your log.
        self.message = message
        #: The stable name of the error.
        self.type = type
        #: The HTTP status; None without an answer.
        self.status = status
        #: Names the call in the log of the service.
        self.request_id = request_id
        #: In how many seconds the call may succeed.
        self.retry_after = retry_after
        #: False: certainly nothing was executed, so that any call may be repeated. None: not known.
        self.executed = executed
        #: Every member of the answer, also those that this version does not know.
        self.problem: Mapping[str, Any] = problem or {}

    def __str__(self) -> str:
        about = [str(self.status)] if self.status is not None else []
        about += [f"request {self.request_id}"] if self.request_id else []
        return f"{self.type}: {self.message}" + (f" ({', '.join(about)})" if about else "")

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions with keyword arguments cannot be pickled otherwise, and task queues and process pools pickle them.
        return (_rebuild, (self.__class__, self.message, self.__dict__.copy()))


def _rebuild(cls: type[CountersignError], message: str, members: dict[str, Any]) -> CountersignError:
    error = cls.__new__(cls, message)
    error.args = (message,)
    error.__dict__.update(members)
    return error


class APIConnectionError(CountersignError):
    """No answer came: the service could not be reached, or the connection broke. The call may have been executed."""


class APITimeoutError(APIConnectionError):
    """No answer came within `timeout`. The call may have been executed."""


class HTTPException(CountersignError):
    """A key that is missing, invalid, revoked or of the wrong kind (401), a token that proves nothing (404), or an answer that is not
    Countersign's, such as a proxy's."""


class ValidationError(CountersignError):
    """The request is malformed."""

    @property
    def errors(self) -> list[dict[str, str]]:
        """Each problem: its `path` in the body, and a `message`."""
        return list(self.problem.get("errors", []))


class InvalidRecipientError(CountersignError):
    """The recipient is neither a valid phone number nor a valid email address."""


class InvalidIdempotencyKeyError(CountersignError):
    """The idempotency key has more than 128 characters."""


class NoEnabledChannelError(CountersignError):
    """No enabled channel reaches the recipient."""

    @property
    def channels(self) -> list[dict[str, str]]:
        """For a server key: each `channel`, and the `reason` why it is not used."""
        return list(self.problem.get("channels", []))


class GeoBlockedError(CountersignError):
    """The recipient's country is blocked."""


class RecipientBlockedError(CountersignError):
    """The recipient asked for no more messages (STOP)."""

    @property
    def channels(self) -> list[dict[str, str]]:
        """For a server key: each `channel`, and the `reason` why it is not used."""
        return list(self.problem.get("channels", []))


class IpReputationBlockedError(CountersignError):
    """`client_ip` is a known source of abuse."""


class InsufficientFundsError(CountersignError):
    """The balance is too low."""


class RateLimitExceededError(CountersignError):
    """A limit was hit."""

    @property
    def scope(self) -> str | None:
        """Which limit, such as `recipient` or `client_ip`."""
        return self.problem.get("scope")


class ResendCooldownError(CountersignError):
    """It is too early to send again: wait `retry_after` seconds."""


class ResendNotAllowedError(CountersignError):
    """The verification cannot be sent again."""

    @property
    def cause(self) -> str | None:
        """Why, such as `send_attempts_spent`."""
        return self.problem.get("cause")

    @property
    def otp_status(self) -> str | None:
        """The state of the verification, where that is why."""
        return self.problem.get("otp_status")


class OtpNotFoundError(CountersignError):
    """There is no such verification for this key."""


class OtpNotPendingError(CountersignError):
    """The verification has ended."""

    @property
    def otp_status(self) -> str | None:
        """How it ended, such as `approved`."""
        return self.problem.get("otp_status")


class OtpExpiredError(CountersignError):
    """The code is no longer valid."""


class VerifyNotAllowedError(CountersignError):
    """This verification is not proved by a code, or not by this kind of key."""

    @property
    def cause(self) -> str | None:
        """Why, such as `proved_by_exchange`."""
        return self.problem.get("cause")


class PublishableSendDisabledError(CountersignError):
    """The app does not let publishable keys send in live mode."""


class OriginNotAllowedError(CountersignError):
    """The app does not list the origin of this page."""


class ChallengeRequiredError(CountersignError):
    """A challenge was not solved in time. The client solves challenges by itself, so this is rare."""

    @property
    def challenge(self) -> dict[str, Any]:
        """What was to be solved."""
        return dict(self.problem.get("challenge", {}))


class ServiceUnavailableError(CountersignError):
    """The service is overloaded or lacks an engine. The call may have been executed."""


ERRORS: dict[str, type[CountersignError]] = {
    cls.__name__: cls for cls in CountersignError.__subclasses__() if not issubclass(cls, APIConnectionError)
}


def error_of(status: int, problem: Mapping[str, Any] | None, request_id: str | None, retry_after: int | None) -> CountersignError:
    """The error that an answer stands for. `problem`: its body, or None if that is no problem+json."""
    if problem is None or not isinstance(problem.get("type"), str):
        return HTTPException(
            "The answer is not Countersign's: check base_url, and what stands in front of the service.",
            type="HTTPException",
            status=status,
            request_id=request_id,
            retry_after=retry_after,
        )
    return ERRORS.get(problem["type"], CountersignError)(
        str(problem.get("detail") or problem.get("title") or problem["type"]),
        type=problem["type"],
        status=status,
        request_id=problem.get("request_id") or request_id,
        retry_after=problem.get("retry_after") or retry_after,
        executed=problem.get("executed"),
        problem=problem,
    )
