from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from box.image import image_store, images, operator_image
from box.image.archive import SEARCH_PATH, Entry, File, Folder, Link, Settings, Text, Tree, write_archive
from box.image.image_store import Listed, Store, unneeded
from box.image.images import Image
from box.image.names import normalise
from box.image.user_archive import repack
from box.layout import REPOSITORY, BoxError, Layout

SETTINGS = Settings(command=("/a",), user="65532:65532", environment=("X=1",))


def silent(_: str) -> None:
    pass


def read(archive: Path) -> tuple[dict[str, Any], dict[str, Any], list[tarfile.TarFile]]:
    """The manifest, the config and the layers of an archive, as an importer sees them."""
    with tarfile.open(archive) as tar:
        files = {m.name: tar.extractfile(m).read() for m in tar if m.isreg()}  # type: ignore[union-attr]
    (manifest,) = json.loads(files["manifest.json"])
    config = json.loads(files[manifest["Config"]])
    for name, diff_id in zip(manifest["Layers"], config["rootfs"]["diff_ids"], strict=True):
        assert diff_id == f"sha256:{hashlib.sha256(files[name]).hexdigest()}"
    assert manifest["Config"] == hashlib.sha256(files[manifest["Config"]]).hexdigest() + ".json"
    return manifest, config, [tarfile.open(fileobj=io.BytesIO(files[name])) for name in manifest["Layers"]]


def write(target: Path, *layers: list[Entry]) -> Path:
    write_archive(target, names=["a.local/x:1"], layers=layers, settings=SETTINGS)
    return target


def test_an_archive_carries_its_names_its_settings_and_matching_checksums(tmp_path: Path) -> None:
    manifest, config, layers = read(write(tmp_path / "x.tar", [Text("etc/a", "1")], [Text("etc/b", "2")]))

    assert manifest["RepoTags"] == ["a.local/x:1"]
    assert config["config"]["Cmd"] == ["/a"]
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Env"] == [SEARCH_PATH, "X=1"]
    assert [layer.getnames() for layer in layers] == [["etc", "etc/a"], ["etc", "etc/b"]]


def test_every_kind_of_entry_arrives_with_its_mode_and_belongs_to_root(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF" * 1000)

    _, _, (layer,) = read(
        write(
            tmp_path / "x.tar",
            [File("usr/bin/p", program), Link("usr/bin/q", "p"), Folder("tmp", 0o1777), Text("etc/t", "text", 0o600)],
        )
    )

    modes = {m.name: oct(m.mode) for m in layer}
    assert modes == {
        "usr": "0o755",
        "usr/bin": "0o755",
        "usr/bin/p": "0o755",
        "usr/bin/q": "0o777",
        "tmp": "0o1777",
        "etc": "0o755",
        "etc/t": "0o600",
    }
    assert layer.extractfile("usr/bin/p").read() == program.read_bytes()  # type: ignore[union-attr]
    assert layer.getmember("usr/bin/q").linkname == "p"
    assert {(m.uid, m.gid, m.mtime) for m in layer} == {(0, 0, 0)}


def test_the_same_content_gives_the_same_bytes_whenever_it_was_written(tmp_path: Path) -> None:
    archives = []
    for name, time in (("one", 1), ("two", 10**9)):
        tree = tmp_path / name
        (tree / "d").mkdir(parents=True)
        for file in ("b", "a") if name == "one" else ("a", "b"):
            (tree / "d" / file).write_text(file)
            os.utime(tree / "d" / file, (time, time))
        archives.append(write(tmp_path / f"{name}.tar", [Tree("", tree)]).read_bytes())

    assert archives[0] == archives[1]


def test_a_tree_keeps_its_links_and_modes_and_no_folder_comes_twice(tmp_path: Path) -> None:
    (tmp_path / "root/lib").mkdir(parents=True)
    (tmp_path / "root/lib/l.so").write_text("")
    (tmp_path / "root/lib/l.so").chmod(0o644)
    (tmp_path / "root/lib64").mkdir()
    (tmp_path / "root/lib64/ld").symlink_to("/lib/ld")

    _, _, (layer,) = read(write(tmp_path / "x.tar", [Text("lib/first", ""), Tree("", tmp_path / "root")]))

    assert layer.getnames() == ["lib", "lib/first", "lib/l.so", "lib64", "lib64/ld"]
    assert layer.getmember("lib64/ld").linkname == "/lib/ld"
    assert layer.getmember("lib/l.so").mode == 0o644


def test_an_archive_that_cannot_be_finished_leaves_the_old_one_in_place(tmp_path: Path) -> None:
    target = write(tmp_path / "x.tar", [Text("a", "old")])
    before = target.read_bytes()

    with pytest.raises(FileNotFoundError):
        write(target, [Text("a", "new"), File("b", tmp_path / "absent")])

    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("busybox:1.28.0-glibc", "docker.io/library/busybox:1.28.0-glibc"),
        ("docker.io/busybox", "docker.io/library/busybox:latest"),
        ("someone/tool:2", "docker.io/someone/tool:2"),
        ("quay.io/coreos/etcd:v3.5.35", "quay.io/coreos/etcd:v3.5.35"),
        ("localhost:5000/x", "localhost:5000/x:latest"),
        ("localhost/x:1", "localhost/x:1"),
    ],
)
def test_names_are_written_out_as_containerd_does(name: str, full: str) -> None:
    assert normalise(name) == full
    assert normalise(full) == full


def test_images_are_found_by_any_of_their_names_and_none_is_taken_twice() -> None:
    chosen = images.select(["busybox", "busybox:1.28.0-glibc", "box.local/pause:1", "etcd-3.6"])

    assert [recipe.key for recipe in chosen] == ["busybox", "pause", "etcd-3.6"]


def test_without_names_every_image_is_meant_and_with_an_empty_list_none() -> None:
    assert images.select(None) == list(images.RECIPES)
    assert images.select([]) == []


def test_an_unknown_image_is_answered_with_those_there_are() -> None:
    with pytest.raises(BoxError, match="cannot build nginx; it can pause, coredns"):
        images.select(["nginx"])


def test_no_two_images_share_a_name_or_a_file() -> None:
    names = [name for recipe in images.RECIPES for name in recipe.names]

    assert len(set(names)) == len(names)
    assert len({recipe.key for recipe in images.RECIPES}) == len(images.RECIPES)
    assert all(normalise(name) == name for name in names)
    assert not any(recipe.key.startswith(images.OF_USER) for recipe in images.RECIPES)


def test_etcd_is_known_under_both_names_of_its_official_image() -> None:
    names = {name for recipe in images.ETCD for name in recipe.names}

    assert {"quay.io/coreos/etcd:v3.2.13", "gcr.io/etcd-development/etcd:v3.2.13"} <= names
    assert len(names) == 2 * len(images.ETCD) == 14


def an_oci_archive(path: Path, annotations: dict[str, str], manifest: list[Any] | None = None) -> Path:
    files = {"oci-layout": b"{}", "index.json": json.dumps({"manifests": [{"annotations": annotations}]}).encode()}
    if manifest:
        files["manifest.json"] = json.dumps(manifest).encode()
    files["blobs/sha256/abc"] = b"content"
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def index_name(archive: Path) -> str:
    with tarfile.open(archive) as tar:
        index = json.load(tar.extractfile("index.json"))  # type: ignore[arg-type]
    return str(index["manifests"][0]["annotations"]["io.containerd.image.name"])


def test_an_image_that_docker_saved_gets_its_full_name(tmp_path: Path) -> None:
    write_archive(tmp_path / "in.tar", names=["mine:2"], layers=[[Text("a", "1")]], settings=SETTINGS)

    assert repack(tmp_path / "in.tar", tmp_path / "out.tar") == ("docker.io/library/mine:2",)
    assert read(tmp_path / "out.tar")[2][0].getnames() == ["a"]


def test_a_compressed_archive_is_taken_as_well(tmp_path: Path) -> None:
    write_archive(tmp_path / "in.tar", names=["mine:2"], layers=[[Text("a", "1")]], settings=SETTINGS)
    (tmp_path / "in.tar.gz").write_bytes(gzip.compress((tmp_path / "in.tar").read_bytes()))

    assert repack(tmp_path / "in.tar.gz", tmp_path / "out.tar") == ("docker.io/library/mine:2",)
    assert read(tmp_path / "out.tar")[0]["RepoTags"] == ["mine:2"]


@pytest.mark.parametrize(
    ("annotations", "manifest"),
    [
        ({"org.opencontainers.image.ref.name": "mine:2"}, None),
        ({"io.containerd.image.name": "docker.io/library/mine:2", "org.opencontainers.image.ref.name": "2"}, None),
        ({"org.opencontainers.image.ref.name": "2"}, [{"RepoTags": ["mine:2"]}]),
    ],
)
def test_an_oci_archive_gets_its_full_name_where_containerd_reads_it(
    tmp_path: Path, annotations: dict[str, str], manifest: list[Any] | None
) -> None:
    archive = an_oci_archive(tmp_path / "in.tar", annotations, manifest)

    assert repack(archive, tmp_path / "out.tar") == ("docker.io/library/mine:2",)
    assert index_name(tmp_path / "out.tar") == "docker.io/library/mine:2"


def test_an_image_without_a_name_is_refused(tmp_path: Path) -> None:
    archive = an_oci_archive(tmp_path / "in.tar", {"org.opencontainers.image.ref.name": "latest"})

    with pytest.raises(BoxError, match="no image with a name"):
        repack(archive, tmp_path / "out.tar")
    assert not (tmp_path / "out.tar").exists()


@pytest.mark.parametrize("content", [b"", b"not a tar file at all" * 100])
def test_what_is_no_archive_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in.tar").write_bytes(content)

    with pytest.raises(BoxError, match=r"docker save NAME:TAG"):
        repack(tmp_path / "in.tar", tmp_path / "out.tar")


def test_a_later_image_of_the_user_replaces_the_one_of_the_same_name(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "home")
    for content in ("old", "new"):
        write_archive(tmp_path / "in.tar", names=["mine:2"], layers=[[Text("a", content)]], settings=SETTINGS)
        tar = images.register(layout, tmp_path / "in.tar")

    assert images.tars(layout) == [tar]
    assert images.describe(tar).names == ("docker.io/library/mine:2",)
    assert read(tar)[2][0].extractfile("a").read() == b"new"  # type: ignore[union-attr]


def test_a_tar_whose_writing_was_interrupted_is_not_an_image(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.images.mkdir()
    (layout.images / "etcd-3.6.tar").write_bytes(b"half of it")

    assert images.tars(layout) == []


def an_image(layout: Layout, key: str, fingerprint: str = "1") -> Image:
    layout.images.mkdir(exist_ok=True)
    image = Image(layout.images / f"{key}.tar", (f"a.local/{key}:1",), fingerprint)
    image.tar.touch()
    images._write_note(image)
    return image


def a_store(layout: Layout, *held: Image) -> Store:
    store = Store(layout.image_store)
    (store.root / "bolt").mkdir(parents=True)
    for image in held:
        store.add(image)
    return store


def test_the_store_is_current_when_it_holds_each_image_as_it_is_now_and_no_other(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    a, b = an_image(layout, "a"), an_image(layout, "b")
    store = a_store(layout, a, b)

    assert store.holds_exactly([a, b])
    assert not store.holds_exactly([a])
    assert not store.holds_exactly([a, b, an_image(layout, "c")])
    assert not store.holds_exactly([an_image(layout, "a", "2"), b])


def test_a_store_whose_import_was_killed_is_never_current_nor_copied(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    a = an_image(layout, "a")
    store = a_store(layout, a)
    store.unfinished.touch()

    assert not store.holds_exactly([a])
    with pytest.raises(BoxError, match="not complete"):
        image_store.copy_to(layout, tmp_path / "node", say=silent)


def test_a_node_shares_the_files_of_the_store_and_has_its_own_databases(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    store = a_store(layout)
    (store.root / "blob").write_text("layer")
    (store.root / "bolt/meta.db").write_text("database")

    image_store.copy_to(layout, tmp_path / "node", say=silent)
    (tmp_path / "node/bolt/meta.db").write_text("changed by the node")

    assert (tmp_path / "node/blob").samefile(store.root / "blob")
    assert (store.root / "bolt/meta.db").read_text() == "database"


def test_what_no_wanted_image_needs_is_removed_from_the_store() -> None:
    listed = [
        Listed("a.local/a:1", "sha256:m1", managed=True),
        Listed("sha256:c1", "sha256:m1", managed=True),
        Listed("a.local/old:1", "sha256:m2", managed=True),
        Listed("sha256:c2", "sha256:m2", managed=True),
        Listed("a.local/same-content:1", "sha256:m1", managed=True),
    ]

    assert unneeded(listed, {"a.local/a:1"}) == ["a.local/old:1", "sha256:c2", "a.local/same-content:1"]


def containerfile() -> list[tuple[str, str]]:
    """The instructions of the Containerfile."""
    text = (REPOSITORY / "Containerfile").read_text()
    return [(m[1], m[2]) for m in re.finditer(r"^([A-Z]+) (.+)$", text, re.MULTILINE)]


def test_the_containerfile_declares_what_the_box_declares() -> None:
    lines = containerfile()
    final = lines[max(i for i, (word, _) in enumerate(lines) if word == "FROM") :]

    assert [value for word, value in final if word == "USER"] == [operator_image.USER]
    assert [json.loads(value) for word, value in final if word == "CMD"] == [list(operator_image.COMMAND)]
    assert [value for word, value in final if word == "ENV"] == [SEARCH_PATH, *operator_image.ENVIRONMENT]
    assert [value for word, value in final if word == "WORKDIR"] == [images.OPERATOR.settings.folder]
    assert final[0] == ("FROM", "scratch")
    assert not [word for word, _ in final if word in {"RUN", "ENTRYPOINT"}]


def test_the_containerfile_makes_its_files_with_the_boxs_program_from_the_same_sources() -> None:
    lines = containerfile()
    copied = [value.split()[0] for word, value in lines if word == "COPY" and not value.startswith("--from")]

    assert ("RUN", "python3 -m box.image.operator_image /rootfs") in lines
    assert ("COPY", "--from=build /rootfs /") in lines
    for source in (operator_image.PROJECT, operator_image.REQUIREMENTS, operator_image.PACKAGE, "box"):
        assert any(Path(source).is_relative_to(path) for path in copied), source


def test_the_image_starts_a_program_that_the_project_declares() -> None:
    assert operator_image.COMMAND[0] in operator_image.programs(REPOSITORY / operator_image.PROJECT)


def test_a_launcher_starts_its_function_and_ends_with_what_it_returns(tmp_path: Path) -> None:
    (tmp_path / "given.py").write_text("def main():\n    return 7\n")
    (tmp_path / "launcher").write_text(operator_image.launcher_script("given:main"))

    assert subprocess.run([sys.executable, tmp_path / "launcher"], check=False).returncode == 7


def a_source(at: Path) -> Path:
    for path in (operator_image.PROJECT, operator_image.REQUIREMENTS, f"{operator_image.PACKAGE}/cli.py"):
        (at / path).parent.mkdir(parents=True, exist_ok=True)
        (at / path).write_text("")
    return at


@pytest.mark.parametrize(
    "changed",
    [operator_image.PROJECT, operator_image.REQUIREMENTS, "src/etcd_operator/cli.py", "src/etcd_operator/new"],
)
def test_the_operators_image_is_made_again_when_its_sources_change(tmp_path: Path, changed: str) -> None:
    before = operator_image.fingerprint(a_source(tmp_path))
    (tmp_path / changed).write_text("changed")

    assert operator_image.fingerprint(tmp_path) != before


def test_the_operators_image_is_not_made_again_for_byte_code_beside_the_sources(tmp_path: Path) -> None:
    before = operator_image.fingerprint(a_source(tmp_path))
    (tmp_path / operator_image.PACKAGE / "__pycache__").mkdir()
    (tmp_path / operator_image.PACKAGE / "__pycache__/cli.pyc").write_bytes(b"x")

    assert operator_image.fingerprint(tmp_path) == before


def test_nothing_that_could_be_a_shell_is_in_the_operators_image() -> None:
    shells = {"bash", "busybox", "coreutils", "dash", "debianutils", "apt", "dpkg", "perl-base"}

    assert not shells & set(operator_image.PACKAGES)
