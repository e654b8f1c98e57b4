"""Images, brought to a node before they are needed there.

The kubelet stops a container first and pulls its new image after; and a member that joins is listed before its image is
even looked for. So where a member that does not start would hurt, a pod of its own fetches the image before.
"""

from __future__ import annotations

from etcd_operator.api.cluster import Operation
from etcd_operator.plan.outcome import Outcome, wait
from etcd_operator.plan.steps import DropPull, PullImage
from etcd_operator.plan.view import Body, View
from etcd_operator.plan.wording import ended


def bring_image(view: View, body: Body, image: str, operation: Operation) -> Outcome | None:
    """What is still to be done until the image is on the member's node; nothing if it is, or if it has no node."""
    pull = view.pulls.get(body.name)
    if pull is None:
        if not body.node:
            return None
        step = PullImage(member=body.name, node=body.node, image=image)
        why = f"Bringing {image} to {body.node} before {body.name} needs it."
        return Outcome(step=step, why=why, operation=operation)
    if pull.deleting:
        return wait(f"Waiting for an image pull on {pull.node} to end.", operation=operation)
    if pull.image != image or pull.node != body.node:
        step_back = DropPull(member=body.name, uid=pull.uid)
        return Outcome(step=step_back, why=f"{pull.image} is not wanted on {pull.node} any more.", operation=operation)
    if pull.done:
        return None
    trouble = f" It does not get on: {ended(pull.trouble)}" if pull.trouble else ""
    why = f"{image} is being brought to {pull.node} for {body.name}.{trouble} The members go on as they are."
    return wait(why, operation=operation, stalled=bool(pull.trouble))


def old_pulls(view: View) -> Outcome | None:
    """When nothing is under way, nobody waits for an image."""
    for name, pull in sorted(view.pulls.items()):
        if not pull.deleting:
            why = f"{pull.image} is on {pull.node}; the pod that brought it goes."
            return Outcome(step=DropPull(member=name, uid=pull.uid), why=why, operation=None)
    return None
