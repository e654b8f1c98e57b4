"""Where a pod may run: affinity, tolerations and spread, as Kubernetes 1.36 has them.

The operator passes these on to pods as they were written. The words that a field accepts stand in its text and not in
an `enum`: each release of Kubernetes adds some, and it checks them itself when a pod is made.
"""

from __future__ import annotations

from etcd_operator.api.field import Embedded, Schema
from etcd_operator.api.schema import array, integer, string, strings, table, words

MATCH_EXPRESSION = table(
    "One requirement on a label.",
    {
        "key": string("The label's key."),
        "operator": string("How the label is compared: In, NotIn, Exists or DoesNotExist."),
        "values": strings("The values for In and NotIn; left out for the others."),
    },
    required=("key", "operator"),
)

NODE_REQUIREMENT = table(
    "One requirement on a node.",
    {
        "key": string("The node's label, or the field under matchFields."),
        "operator": string("How it is compared: In, NotIn, Exists, DoesNotExist, Gt or Lt."),
        "values": strings("The values to compare with; one number for Gt and Lt, none for Exists and DoesNotExist."),
    },
    required=("key", "operator"),
)

NODE_TERM_FIELDS = {
    "matchExpressions": array(NODE_REQUIREMENT, "Requirements on the node's labels, which all must hold."),
    "matchFields": array(NODE_REQUIREMENT, "Requirements on the node's name, as the field metadata.name."),
}


def label_selector(text: str) -> Schema:
    return table(
        text,
        {
            "matchLabels": words("Labels with exactly these values, which all must be there."),
            "matchExpressions": array(MATCH_EXPRESSION, "Requirements on labels, which all must hold."),
        },
        atomic=True,
    )


def node_term(text: str) -> Schema:
    return table(text, NODE_TERM_FIELDS, atomic=True)


def pod_term(text: str) -> Schema:
    return table(
        text,
        {
            "labelSelector": label_selector("Which pods are meant, by their labels."),
            "matchLabelKeys": strings("Label keys whose values are taken from the pod itself and must be equal."),
            "mismatchLabelKeys": strings("Label keys whose values are taken from the pod itself and must differ."),
            "namespaceSelector": label_selector("Namespaces to look for the pods in, by labels; {} means all."),
            "namespaces": strings("Namespaces to look for the pods in, by name; none means the pod's own."),
            "topologyKey": string("The node label whose value tells one place from another, such as a host or a zone."),
        },
        required=("topologyKey",),
    )


def pod_affinity(text: str, *, verb: str) -> Schema:
    weighted = table(
        "A wish and how much it counts.",
        {
            "podAffinityTerm": pod_term("The pods and the kind of place that are meant."),
            "weight": integer("How much the wish counts, from 1 to 100.", width=32),
        },
        required=("weight", "podAffinityTerm"),
    )
    return table(
        text,
        {
            "preferredDuringSchedulingIgnoredDuringExecution": array(
                weighted, f"Wishes: the scheduler prefers a node that is {verb} such pods, weighing all wishes."
            ),
            "requiredDuringSchedulingIgnoredDuringExecution": array(
                pod_term("The pods and the kind of place that are meant."),
                f"Demands: the pod stays Pending until a node is {verb} such pods.",
            ),
        },
    )


NODE_WISH = table(
    "A wish and how much it counts.",
    {
        "preference": node_term("The nodes that are preferred."),
        "weight": integer("How much the wish counts, from 1 to 100.", width=32),
    },
    required=("weight", "preference"),
)

NODE_AFFINITY = table(
    "Which nodes members may or should run on.",
    {
        "preferredDuringSchedulingIgnoredDuringExecution": array(
            NODE_WISH, "Wishes: the scheduler prefers nodes that fit, weighing all wishes."
        ),
        "requiredDuringSchedulingIgnoredDuringExecution": table(
            "Demands: a pod stays Pending until a node fits.",
            {"nodeSelectorTerms": array(node_term("One way to fit."), "Ways to fit, of which one is enough.")},
            required=("nodeSelectorTerms",),
            atomic=True,
        ),
    },
)

AFFINITY = Embedded(
    "Affinity",
    table(
        "Where a pod may or should run.",
        {
            "nodeAffinity": NODE_AFFINITY,
            "podAffinity": pod_affinity("Which pods members should run close to.", verb="close to"),
            "podAntiAffinity": pod_affinity("Which pods members should run apart from.", verb="apart from"),
        },
    ),
)

TOLERATION = Embedded(
    "Toleration",
    table(
        "A taint that members put up with.",
        {
            "effect": string("The effect of the taint: NoSchedule, PreferNoSchedule or NoExecute; none means all."),
            "key": string("The key of the taint; none, with operator Exists, means all taints."),
            "operator": string("How key and value are compared: Equal (the default), Exists, Lt or Gt."),
            "tolerationSeconds": integer("How many seconds a NoExecute taint is put up with; none means for ever."),
            "value": string("The value of the taint; left out with operator Exists."),
        },
    ),
)

SPREAD = Embedded(
    "TopologySpreadConstraint",
    table(
        "One rule about how evenly members are spread over places.",
        {
            "labelSelector": label_selector("Which pods are counted, by their labels."),
            "matchLabelKeys": strings(
                "Label keys whose values are taken from the pod itself, to narrow what is counted."
            ),
            "maxSkew": integer("How many pods more a place may have than the emptiest one; at least 1.", width=32),
            "minDomains": integer("How many places there must be at least; with DoNotSchedule only.", width=32),
            "nodeAffinityPolicy": string("Whether node affinity narrows the places: Honor (the default) or Ignore."),
            "nodeTaintsPolicy": string("Whether tainted nodes count as places: Honor or Ignore (the default)."),
            "topologyKey": string("The node label whose value tells one place from another, such as a host or a zone."),
            "whenUnsatisfiable": string("What to do when it cannot be kept: DoNotSchedule or ScheduleAnyway."),
        },
        required=("maxSkew", "topologyKey", "whenUnsatisfiable"),
    ),
)
