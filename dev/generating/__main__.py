"""Writes what is generated: `make generate`; the tests compare the same texts with what is committed.

Each source of generated files is one function that returns texts by path; nothing is written but what changed, so the
output says what a change of the types really moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from box.layout import REPOSITORY
from dev.generating import admission, crds, installation, roles, stubs

Texts = Mapping[Path, str]

SOURCES: tuple[Callable[[], Texts], ...] = (crds.texts, admission.texts, roles.texts, installation.texts, stubs.texts)
PLACES = (
    "deploy/*.yaml",
    "deploy/crds/*",
    "deploy/admission/*",
    "docs/reference/*",
    "example/rbac/*.yaml",
    "src/etcd_operator/etcd/pb/*_pb2.py*",
)


def wanted() -> dict[Path, str]:
    return {path: text for source in SOURCES for path, text in source().items()}


def differing(texts: Texts) -> list[Path]:
    """Those that are not, or not so, in the tree."""
    files = {path: REPOSITORY / path for path in texts}
    return [path for path, file in files.items() if not file.exists() or file.read_text() != texts[path]]


def left_over(texts: Texts) -> list[Path]:
    """Files that nothing generates any more."""
    found = (path.relative_to(REPOSITORY) for place in PLACES for path in REPOSITORY.glob(place))
    return sorted(set(found) - set(texts))


def main() -> None:
    texts = wanted()
    changed, old = differing(texts), left_over(texts)
    for path in changed:
        (REPOSITORY / path).parent.mkdir(parents=True, exist_ok=True)
        (REPOSITORY / path).write_text(texts[path])
        print(f"wrote {path}")
    for path in old:
        (REPOSITORY / path).unlink()
        print(f"removed {path}")
    if not changed and not old:
        print("nothing to write: everything generated is as it should be")


if __name__ == "__main__":
    main()
