"""What is told of a call to whoever counts them: what it was about, how it ended, how long it took.

Verb and resource are the words of Kubernetes' own access rules, so that a count can be compared with a role; only an
`apply` has a name of its own, where a role says `patch`. They are read from the path rather than handed down by every
caller, because the path is what was asked.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from etcd_operator.kube.errors import ApiError
from etcd_operator.kube.requests import PatchKind, Request

NO_ANSWER = "none"

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Call(msgspec.Struct, frozen=True):
    """One call that has ended; of a stream, its beginning."""

    verb: str
    resource: str  # with its subresource, such as pods/status
    code: str  # of the answer, or `none`
    seconds: float


Listener = Callable[[Call], None]
"""Must not take long, nor fail."""


def verb(request: Request) -> str:
    if request.method == "GET":
        if ("watch", "true") in request.query:
            return "watch"
        return "get" if _parts(request.path)[1] else "list"
    if request.content_type == PatchKind.APPLY.value:
        return "apply"
    return _VERBS.get(request.method, request.method.lower())


def resource(request: Request) -> str:
    """Without group and version, which tell nothing that the plural does not for the kinds we touch."""
    plural, _, subresource = _parts(request.path)
    return f"{plural}/{subresource}" if subresource else plural


def code(error: BaseException | None, status: int) -> str:
    """Of how a call ended: the answer's, or a refusal's, or that there was none."""
    if isinstance(error, ApiError):
        return str(error.status)
    return NO_ANSWER if error is not None or not status else str(status)


def _parts(path: str) -> tuple[str, str, str]:
    """Plural, name and subresource; what is no object, such as /version, is its own plural."""
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        parts = parts[2:]
    elif parts[0] == "apis":
        parts = parts[3:]
    else:
        return parts[0], "", ""
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    plural, name, subresource, *_ = (*parts, "", "", "")
    return plural, name, subresource
