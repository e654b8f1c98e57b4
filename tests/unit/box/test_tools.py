from __future__ import annotations

import re
from pathlib import Path

import pytest

from box.layout import BoxError
from box.toolchain.tools import (
    GO_SOURCES,
    TOOLS,
    DebianPackages,
    GoModule,
    Tool,
    Wheel,
    default_tools,
    module_version,
    tool,
)

GO_TOOLS = [t for t in TOOLS if isinstance(t.source, GoModule)]


def go_source(of: Tool) -> GoModule:
    assert isinstance(of.source, GoModule)
    return of.source


def requirements(modfile: Path) -> dict[str, str]:
    lines = re.findall(
        r"^(?:require )?\t?(\S+\.\S+/\S+|\S+\.in/\S+) (v\S+)(?: // indirect)?$", modfile.read_text(), re.MULTILINE
    )
    return dict(lines)


def replacements(modfile: Path) -> dict[str, str]:
    return dict(re.findall(r"^(?:replace )?\t?(\S+) => \S+ (v\S+)$", modfile.read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("require example.org/a v1.2.3\n", "1.2.3"),
        ("require (\n\texample.org/a v1.2.3 // indirect\n)\n", "1.2.3"),
        ("require example.org/a v3.2.13+incompatible\n", "3.2.13"),
        ("require (\n\texample.org/a/b v9.9.9\n\texample.org/a v1.2.3\n)\n", "1.2.3"),
        ("require xexample.org/a v9.9.9\nrequire example.org/a v1.2.3\n", "1.2.3"),
    ],
)
def test_a_version_is_read_from_the_go_mod_file(tmp_path: Path, text: str, version: str) -> None:
    (tmp_path / "go.mod").write_text(text)

    assert module_version(tmp_path / "go.mod", "example.org/a") == version


def test_a_pin_that_is_not_in_the_go_mod_file_is_an_error_that_names_the_line_to_add(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n")

    with pytest.raises(BoxError, match=r"require example\.org/a"):
        module_version(tmp_path / "go.mod", "example.org/a")


@pytest.mark.parametrize("named", [t for t in TOOLS if "-" in t.name], ids=lambda t: t.name)
def test_a_tool_is_named_after_the_minor_version_that_its_pin_has(named: Tool) -> None:
    wanted = named.name.rpartition("-")[2]

    assert f"{named.version}.".startswith(f"{wanted}.")


def test_every_etcd_minor_of_the_upgrade_path_is_there() -> None:
    minors = {t.version.rpartition(".")[0] for t in TOOLS if t.name.startswith("etcd-")}

    assert minors == {"3.2", "3.3", "3.4", "3.5", "3.6", "3.7"}


def test_tools_have_different_names() -> None:
    assert len({t.name for t in TOOLS}) == len(TOOLS)


def test_the_second_kubernetes_is_built_only_when_asked_for() -> None:
    assert "kubernetes-1.37" not in default_tools()
    assert "kubernetes-1.36" in default_tools()


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BoxError, match=r"no tool named etcd-2\.3; there are .*etcd-3\.6"):
        tool("etcd-2.3")


@pytest.mark.parametrize("built", GO_TOOLS, ids=lambda t: t.name)
def test_a_package_that_is_built_is_the_modules_own_or_one_of_its_tool_lines(built: Tool) -> None:
    source = go_source(built)
    text = (source.path / source.modfile).read_text()
    packages = [package for _, package in source.programs]

    if packages == ["."]:
        assert (source.path / "main.go").exists()
    else:
        block = re.search(r"^tool \(\n(.*?)^\)|^tool (\S+)$", text, re.MULTILINE | re.DOTALL)
        assert block is not None
        assert set((block.group(1) or block.group(2)).split()) == set(packages)


@pytest.mark.parametrize("built", GO_TOOLS, ids=lambda t: t.name)
def test_modules_with_dependencies_have_their_checksums(built: Tool) -> None:
    source = go_source(built)
    modfile = source.path / source.modfile

    assert modfile.with_suffix(".sum").exists() == bool(requirements(modfile))


def test_coredns_uses_the_versions_that_kubernetes_has_compiled_already() -> None:
    kubernetes = GO_SOURCES / "kubernetes" / "go.mod"
    compiled = {**requirements(kubernetes), **replacements(kubernetes)}
    shared = replacements(GO_SOURCES / "coredns" / "go.mod")

    assert len(shared) > 20
    assert {module: compiled.get(module) for module in shared} == shared


@pytest.mark.parametrize("name", ["kubernetes-1.36", "kubernetes-1.37"])
def test_the_parts_of_kubernetes_are_all_of_its_own_version(name: str) -> None:
    source = go_source(tool(name))
    parts = replacements(source.path / source.modfile)

    assert len(parts) > 30
    assert set(parts.values()) == {f"v0.{source.version.removeprefix('1.')}"}


def test_the_kubernetes_binary_answers_to_every_name_it_is_linked_under() -> None:
    source = go_source(tool("kubernetes-1.36"))
    main = (source.path / "main.go").read_text()

    table = set(re.findall(r'^\t"(kube[a-z-]+)":', main, re.MULTILINE))
    special = set(re.findall(r'name == "(kube[a-z-]+)"', main))

    assert table | special == set(source.links)


def test_what_does_not_come_as_a_module_is_pinned_as_well() -> None:
    for other in (t.source for t in TOOLS):
        if isinstance(other, Wheel):
            assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in other.sha256)
            assert other.sha256
        if isinstance(other, DebianPackages):
            assert re.fullmatch(r"[\d.]+", other.version)
            assert "libc6" in other.packages
