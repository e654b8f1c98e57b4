"""The policies that warn, from `api/admission.py`."""

from __future__ import annotations

from pathlib import Path

import yaml

from dev.generating.crds import NOTE, WIDTH, Dumper
from etcd_operator.api import admission

ADVICE = Path("deploy/admission/advice.yaml")
HEAD = "# Warnings at apply, never a refusal. For Kubernetes 1.30 and later.\n"


def texts() -> dict[Path, str]:
    return {ADVICE: HEAD + NOTE + yaml.dump_all(admission.manifests(), Dumper=Dumper, sort_keys=False, width=WIDTH)}
