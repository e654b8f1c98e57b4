"""Who may do what: asked of the API server's own authorizer, as `kubectl auth can-i` does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.box.driving import Box

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass(frozen=True)
class Attempt:
    """`pods/status` of the group `""`, in a namespace or in none."""

    verb: str
    resource: str
    group: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{'.' if self.group else ''}{self.group} {self.name}".strip()


def may(box: Box, user: str, attempt: Attempt, *, namespace: str = "", groups: tuple[str, ...] = ()) -> bool:
    resource, _, subresource = attempt.resource.partition("/")
    asked = {"verb": attempt.verb, "group": attempt.group, "resource": resource, "subresource": subresource}
    attributes = asked | {"name": attempt.name, "namespace": namespace}
    review: dict[str, Any] = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": list(groups), "resourceAttributes": attributes},
    }
    return bool(box.api.create(REVIEWS, review)["status"]["allowed"])


def account(name: str, namespace: str) -> str:
    return f"system:serviceaccount:{namespace}:{name}"


def refused(box: Box, user: str, attempts: tuple[Attempt, ...], *, namespace: str = "") -> list[str]:
    """Those of the attempts that would not be allowed."""
    return [str(attempt) for attempt in attempts if not may(box, user, attempt, namespace=namespace)]


def allowed(box: Box, user: str, attempts: tuple[Attempt, ...], *, namespace: str = "") -> list[str]:
    return [str(attempt) for attempt in attempts if may(box, user, attempt, namespace=namespace)]
