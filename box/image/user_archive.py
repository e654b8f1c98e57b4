"""Images that people bring: whatever `docker save`, `podman save` or `buildah push` wrote.

containerd invents a name for an image of an OCI archive whose index holds no full one, and a kubelet would not find
it. So the archive is copied with its names written out in full, where containerd reads them.
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from box.image.names import normalise
from box.layout import BoxError

FULL_NAME = "io.containerd.image.name"
SHORT_NAME = "org.opencontainers.image.ref.name"
INDEX = "index.json"  # of an OCI archive; newer `docker save` writes both
MANIFEST = "manifest.json"  # of a docker archive


def repack(source: Path, target: Path) -> tuple[str, ...]:
    """Copies an archive, plain or compressed, and returns the full names of its images."""
    try:
        with tarfile.open(source) as archive:
            changed, names = _with_full_names(source, _read_json(archive, INDEX), _read_json(archive, MANIFEST))
            _copy(archive, target, changed)
    except (tarfile.TarError, OSError, ValueError) as error:
        how = "make one with `docker save NAME:TAG -o FILE`"
        raise BoxError(f"{source} is not an image archive ({error}): {how}.") from None
    return names


def _with_full_names(source: Path, index: Any, manifest: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The files to write anew, and the names they now carry."""
    tags = [normalise(tag) for image in manifest or () for tag in image.get("RepoTags") or ()]
    if index is None:
        names = tags
    else:
        names = []
        for image in index["manifests"]:
            annotations = image.setdefault("annotations", {})
            name = annotations.get(FULL_NAME) or _usable(annotations.get(SHORT_NAME)) or next(iter(tags), None)
            if name:
                annotations[FULL_NAME] = normalise(name)
                names.append(annotations[FULL_NAME])
    if not names:
        raise BoxError(f"{source} holds no image with a name: save it under one, as in `docker save NAME:TAG -o FILE`.")
    # containerd itself completes the names in a docker archive.
    return ({} if index is None else {INDEX: index}), tuple(dict.fromkeys(names))


def _usable(short: str | None) -> str | None:
    """A short name may be no more than a tag, which says nothing about the image."""
    return short if short and (":" in short or "/" in short) else None


def _read_json(archive: tarfile.TarFile, name: str) -> Any:
    member = next((m for m in archive if m.name.removeprefix("./") == name), None)
    file = archive.extractfile(member) if member else None
    return json.load(file) if file else None


def _copy(archive: tarfile.TarFile, target: Path, changed: dict[str, Any]) -> None:
    fresh = target.with_name(target.name + ".new")
    with tarfile.open(fresh, "w", format=tarfile.GNU_FORMAT) as out:
        for member in archive:
            plain = member.name.removeprefix("./")
            if plain in changed:
                content = json.dumps(changed[plain]).encode()
                member.size = len(content)
                out.addfile(member, io.BytesIO(content))
            else:
                out.addfile(member, archive.extractfile(member) if member.isreg() else None)
    fresh.rename(target)
