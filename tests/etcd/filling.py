"""A database of a few MiB, so that a snapshot of it is longer than what any buffer on the way holds."""

from __future__ import annotations

from etcd_operator.etcd.member import Member

MIB = 1024 * 1024
MARK = b"a value to be found in a stream "


async def fill(member: Member) -> None:
    if not (await member.range(b"filled", count_only=True)).count:
        for number in range(12):
            await member.put(b"large %d" % number, MARK * (MIB // len(MARK)))
        await member.put(b"filled", b"yes")
