"""Our proto files against etcd's own descriptors, version by version.

Everything that we declare is turned into facts: a field with its number, type and label, an enum's value, a call with
its types. Each must be the same in etcd. What an older etcd lacks must be just what the capability table says, and
whatever can only be reached through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from etcd_operator.etcd.pb import auth_pb2, kv_pb2, rpc_pb2
from etcd_operator.releases.capabilities import TABLE
from etcd_operator.releases.version import Version
from tests.etcd.descriptors.source import SOURCES, Source, files_of

Fact = tuple[object, ...]
Facts = dict[str, Fact]

MESSAGE = ("message",)

# A text up to 3.3 and bytes later: the same on the wire.
ONCE_TEXT = {
    "etcdserverpb.AuthRoleRevokePermissionRequest.key",
    "etcdserverpb.AuthRoleRevokePermissionRequest.range_end",
}


def our_files() -> list[FileDescriptorProto]:
    files = []
    for module in (kv_pb2, auth_pb2, rpc_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        files.append(file)
    return files


def facts_of(files: Iterable[FileDescriptorProto]) -> Facts:
    facts: Facts = {}
    for file in files:
        for message in file.message_type:
            facts |= message_facts(message, file.package)
        for enum in file.enum_type:
            facts |= enum_facts(enum, file.package)
        for service in file.service:
            for method in service.method:
                streams = (method.client_streaming, method.server_streaming)
                path = f"{file.package}.{service.name}/{method.name}"
                facts[path] = (method.input_type.lstrip("."), method.output_type.lstrip("."), streams)
    return facts


def message_facts(message: DescriptorProto, scope: str) -> Facts:
    name = f"{scope}.{message.name}"
    facts: Facts = {name: MESSAGE}
    for field in message.field:
        facts[f"{name}.{field.name}"] = field_fact(field, message)
    for nested in message.nested_type:
        facts |= message_facts(nested, name)
    for enum in message.enum_type:
        facts |= enum_facts(enum, name)
    return facts


def field_fact(field: FieldDescriptorProto, message: DescriptorProto) -> Fact:
    choice = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
    return (field.type_name.lstrip("."), field.number, field.type, field.label, choice)


def enum_facts(enum: EnumDescriptorProto, scope: str) -> Facts:
    name = f"{scope}.{enum.name}"
    return {name: MESSAGE} | {f"{name}.{value.name}": (value.number,) for value in enum.value}


def lacking(version: Version) -> set[str]:
    later = [row for row in TABLE if row.since > version]
    return {name for row in later for name in (*row.methods, *row.fields)}


def reachable(facts: Facts, without: set[str]) -> Iterator[str]:
    """What is used by calls, and by messages of calls, that this version knows."""
    calls = [path for path in facts if "/" in path and path not in without]
    waiting = [str(kind) for path in calls for kind in facts[path][:2]]
    yield from calls
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        inside = [fact for fact in facts if fact.rpartition(".")[0] == name and facts[fact] != MESSAGE]
        known = [fact for fact in inside if fact not in without]
        yield from (name, *known)
        waiting += [str(facts[fact][0]) for fact in known if len(facts[fact]) > 1]


def as_bytes(name: str, fact: Fact) -> Fact:
    if name in ONCE_TEXT and fact[2] == FieldDescriptorProto.TYPE_STRING:
        return (*fact[:2], FieldDescriptorProto.TYPE_BYTES, *fact[3:])
    return fact


@pytest.fixture(params=SOURCES, ids=lambda source: source.minor)
def source(request: pytest.FixtureRequest) -> Source:
    chosen: Source = request.param
    return chosen


def test_every_name_number_type_and_label_is_etcds(source: Source) -> None:
    ours, theirs = facts_of(our_files()), facts_of(files_of(source))
    known = set(reachable(ours, lacking(Version.parse(source.minor))))

    assert {name: ours[name] for name in known} == {
        name: as_bytes(name, theirs[name]) for name in known if name in theirs
    }


def test_etcd_lacks_just_what_the_capability_table_says(source: Source) -> None:
    ours, theirs = facts_of(our_files()), facts_of(files_of(source))
    missing = lacking(Version.parse(source.minor))

    assert missing & theirs.keys() == set()
    assert missing <= ours.keys()


def test_nothing_is_declared_that_no_call_uses() -> None:
    ours = facts_of(our_files())

    assert set(reachable(ours, set())) == set(ours)
