"""A process that wants to lead: `python -m tests.box.kube.candidate KUBECONFIG NAMESPACE IDENTITY DURATION`.

While it has the lease it says so every few milliseconds, with the time of the machine's clock, and only right after it
has asked whether the lease is still its own. It ends with 3 when it lost the lease.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from etcd_operator.kube.client import Client
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.lease import Election, LeaseLostError, Times, boot_clock

RETRY = 0.5
MARGIN = 0.2
LOST = 3


async def main(kubeconfig: str, namespace: str, identity: str, duration: str) -> int:
    times = Times(duration=int(duration), renewal=int(duration) * 0.6, retry=RETRY)
    connection = from_kubeconfig(files=(Path(kubeconfig),))
    async with Client(connection, user_agent=f"etcd-operator/test ({identity})") as client:
        election = Election(client, namespace=namespace, name="lead", identity=identity, times=times)

        async def work() -> None:
            while True:
                if election.still_ours(MARGIN):
                    print(f"acts {boot_clock()}", flush=True)
                else:
                    print(f"refrains {boot_clock()}", flush=True)
                await asyncio.sleep(0.02)

        leading = asyncio.create_task(election.lead(work))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leading.cancel)
        try:
            await leading
        except LeaseLostError as error:
            print(f"lost {error}", flush=True)
            return LOST
        except asyncio.CancelledError:
            return 0
    raise AssertionError("the work has no end")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
