"""A client that writes a hundred times a second and keeps account of what became of each write.

`python -m bench.writing ADDRESS ...`, inside the box's network; it ends when its input does, and then prints one line
of JSON. Writes begin by the clock and do not wait for each other, as those of many users. One goes to the member that
the last one went to; if that fails, the client fails over once, as every etcd client does, and what fails then counts
as failed. In the end it reads everything back: what was acknowledged must be there.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field

from etcd_operator.etcd.errors import EtcdError
from etcd_operator.etcd.keys import prefix_end
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool

PER_SECOND = 100
FIRST_TRY, SECOND_TRY, READ_BACK = 2.0, 5.0, 30.0  # seconds
PREFIX = b"bench/"


@dataclass
class Client:
    members: list[Member]
    at: int = 0  # whom writes go to
    acknowledged: dict[bytes, float] = field(default_factory=dict)  # when, as the machine's clock counts
    failures: list[str] = field(default_factory=list)
    failed_over: int = 0

    async def write(self, number: int) -> None:
        key = PREFIX + f"{number:08}".encode()
        asked = self.at
        try:
            await self.members[asked].put(key, key, deadline=FIRST_TRY)
        except EtcdError:
            self.failed_over += 1
            if self.at == asked:
                self.at = (asked + 1) % len(self.members)
            try:
                await self.members[self.at].put(key, key, deadline=SECOND_TRY)
            except EtcdError as error:
                self.failures.append(str(error))
                return
        self.acknowledged[key] = time.monotonic()

    async def lost(self) -> int:
        """How many of the acknowledged writes are not there."""
        for member in self.members[self.at :] + self.members[: self.at]:
            try:
                found = await member.range(PREFIX, range_end=prefix_end(PREFIX), keys_only=True, deadline=READ_BACK)
            except EtcdError as error:
                print(f"asking another member: {error}", file=sys.stderr)
            else:
                return len(self.acknowledged.keys() - {item.key for item in found.items})
        raise RuntimeError("no member tells what was written")


async def main(addresses: list[str]) -> None:
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    async with Pool() as pool:
        client = Client([pool.member(Target(address)) for address in addresses])
        began, number = time.monotonic(), 0
        async with asyncio.TaskGroup() as writes:
            while not ended.done():
                writes.create_task(client.write(number))
                number += 1
                await asyncio.sleep(max(0.0, began + number / PER_SECOND - time.monotonic()))
        print(
            json.dumps(
                {
                    "acknowledged": sorted(client.acknowledged.values()),
                    "failed": len(client.failures),
                    "failures": client.failures[:3],
                    "failed_over": client.failed_over,
                    "lost": await client.lost(),
                }
            )
        )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
