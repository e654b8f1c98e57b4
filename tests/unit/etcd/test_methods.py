"""The table of calls against the services that the proto file declares."""

from __future__ import annotations

from google.protobuf.descriptor import MethodDescriptor

from etcd_operator.etcd import methods
from etcd_operator.etcd.methods import Method
from etcd_operator.etcd.pb import rpc_pb2

TABLE = {name: row for name, row in vars(methods).items() if isinstance(row, Method)}


def declared() -> dict[str, MethodDescriptor]:
    services = rpc_pb2.DESCRIPTOR.services_by_name.values()
    return {f"{service.full_name}/{method.name}": method for service in services for method in service.methods}


def test_every_call_in_the_table_is_declared_with_the_same_types() -> None:
    in_table = {row.path: (row.request.DESCRIPTOR, row.answer.DESCRIPTOR, row.streams) for row in TABLE.values()}
    in_proto = {
        path: (method.input_type, method.output_type, (method.client_streaming, method.server_streaming))
        for path, method in declared().items()
    }

    assert in_table == in_proto


def test_every_answer_has_room_for_the_member_that_gave_it() -> None:
    assert {name for name, row in TABLE.items() if "header" not in row.answer.DESCRIPTOR.fields_by_name} == set()


def test_what_only_looks_is_told_apart_from_what_changes_something() -> None:
    looking = {name for name, row in TABLE.items() if not row.changes}

    assert looking == {
        "RANGE", "WATCH", "LEASE_KEEP_ALIVE", "LEASE_TIME_TO_LIVE", "LEASE_LEASES", "MEMBER_LIST", "STATUS",
        "ALARM_LIST", "HASH", "HASH_KV", "SNAPSHOT", "DOWNGRADE_VALIDATE", "AUTH_STATUS", "AUTHENTICATE", "USER_GET",
        "USER_LIST", "ROLE_GET", "ROLE_LIST",
    }  # fmt: skip
