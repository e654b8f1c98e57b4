"""What Kubernetes, or the way to it, answered.

One class per answer that callers tell apart; everything else is in the fields. After a mutation `may_have_happened`
says whether its effect is out of the question; if not, look before doing it again: there was no answer at all, or only
a server's that gave up in the middle. The texts are the server's own words; no class holds a request's body or headers,
so a secret cannot get from here into a log.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec


class KubeError(Exception):
    """Whatever goes wrong between us and Kubernetes."""

    @property
    def may_have_happened(self) -> bool:
        """Whether a mutation that ended so can have had its effect all the same."""
        return False


class ConfigurationError(KubeError):
    """No way to a cluster can be made of the kubeconfig, the mounted files or what a credential program said."""


class UnreadableError(KubeError):
    """The server's answer does not have the shape that was asked for; what was asked for is done."""

    @property
    def may_have_happened(self) -> bool:
        return True


class UnreachableError(KubeError):
    """No answer: refused, reset, no such host, no trust in its certificate, silence.

    `sent` is False where the request certainly never left, so that nothing can have happened.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent

    @property
    def may_have_happened(self) -> bool:
        return self.sent


class DeadlineExceededError(UnreachableError):
    """Our own limit passed first."""


class Cause(msgspec.Struct, frozen=True):
    """One thing that the server objects to, with the field it is about."""

    field: str = ""
    reason: str = ""
    message: str = ""


class ApiError(KubeError):
    """The server said no."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        reason: str = "",
        causes: tuple[Cause, ...] = (),
        retry_after: float | None = None,
        request: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.causes = causes
        self.retry_after = retry_after  # seconds
        self.request = request  # method and path


class UnauthorizedError(ApiError):
    """401: the server does not know who we are."""


class ForbiddenError(ApiError):
    """403: it does, and we may not."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409: the object is not, or no longer, what the request assumed; or others own the fields."""


class AlreadyExistsError(ApiError):
    """409 to a creation: the name is taken."""


class GoneError(ApiError):
    """410: the version or the page asked for is no longer kept; list again."""


class InvalidError(ApiError):
    """422: `causes` say which fields."""


class TooManyRequestsError(ApiError):
    """429: not done; `retry_after` says when to come back."""


class ServerError(ApiError):
    """5xx: it, its store or a proxy failed or timed out, perhaps only after the effect."""

    @property
    def may_have_happened(self) -> bool:
        return True


class _Details(msgspec.Struct, frozen=True, rename="camel"):
    causes: tuple[Cause, ...] | None = None
    retry_after_seconds: float = 0


class Status(msgspec.Struct, frozen=True):
    """The object that the API server sends instead of the one asked for."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None

    CLASSES: ClassVar[dict[int, type[ApiError]]] = {
        401: UnauthorizedError,
        403: ForbiddenError,
        404: NotFoundError,
        409: ConflictError,
        410: GoneError,
        422: InvalidError,
        429: TooManyRequestsError,
    }
    REASONS: ClassVar[dict[str, type[ApiError]]] = {
        "AlreadyExists": AlreadyExistsError,
        "Expired": GoneError,
        "Gone": GoneError,
    }

    def error(self, *, retry_after: float | None = None, request: str = "") -> ApiError:
        kind = self.REASONS.get(self.reason) or self.CLASSES.get(self.code)
        if kind is None:
            kind = ServerError if self.code >= 500 else ApiError
        details = self.details or _Details()
        return kind(
            self.message or self.reason or f"{request} was answered with {self.code}",
            status=self.code,
            reason=self.reason,
            causes=details.causes or (),
            retry_after=retry_after if retry_after is not None else details.retry_after_seconds or None,
            request=request,
        )


_SHOWN = 300  # of an answer that is no Status, such as a proxy's page


def refusal(code: int, body: bytes, *, retry_after: str | None = None, request: str = "") -> ApiError:
    """The error that an answer with a code from 300 on stands for.

    What stands in front of an API server answers in plain text or HTML, and so does the server itself when it is
    overloaded, so the code decides and the body only explains.
    """
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        status = Status()
    if status.kind != "Status":
        text = " ".join(body[:_SHOWN].decode(errors="replace").split())
        status = Status(message=f"{request} was answered with {code}: {text}" if text else "")
    status = msgspec.structs.replace(status, code=code)
    return status.error(retry_after=_seconds(retry_after), request=request)


def _seconds(header: str | None) -> float | None:
    try:
        return float(header) if header is not None else None
    except ValueError:
        return None  # a date, which no API server sends
