"""The CRDs and the reference pages of the documentation, from the types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from etcd_operator.api import crd, reference
from etcd_operator.api.kinds import KINDS

CRDS = Path("deploy/crds")
PAGES = Path("docs/reference")

NOTE = "# Generated from src/etcd_operator/api by `make generate`.\n"
WIDTH = 120
LONGEST_LINE = 80


class Dumper(yaml.SafeDumper):
    """Long texts as folded blocks, and each thing written out where it stands, without references."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = ">" if len(text) > LONGEST_LINE else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _text)


def as_yaml(manifest: dict[str, Any]) -> str:
    return NOTE + yaml.dump(manifest, Dumper=Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)


def texts() -> dict[Path, str]:
    definitions = {CRDS / f"{kind.plural}.yaml": as_yaml(crd.definition(kind)) for kind in KINDS}
    pages = {PAGES / f"{kind.singular}.md": reference.page(kind) for kind in KINDS}
    return definitions | pages
