"""A worker of a cluster for tests: `python -m tests.cluster.worker ADDRESS [--kills N] [--machine NAME]`."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace

from distributed import Worker
from distributed.security import Security
from porter.validation.cluster import work
from porter.validation.cluster.messages import Order, Reply

_hands_do = work._hands.do


def main(arguments: Sequence[str] | None = None) -> None:
    """Works until it is ended; `arguments`, where they are not the command line's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--kills", type=int, default=None, help="The task that ends this process.")
    parser.add_argument("--after", type=float, default=0.0, help="Seconds that it takes for that.")
    parser.add_argument("--machine", default=None, help="What it says that its processor is.")
    parser.add_argument("--refuses", default=None, help="The kind of tasks that it does not do.")
    parser.add_argument("--certificates", default=None)
    given = parser.parse_args(arguments)

    def do(order: Order, prefix: str) -> Reply:
        if order.kind == "nothing" and order.payload["number"] == given.kills:
            time.sleep(given.after)
            os.kill(os.getpid(), signal.SIGKILL)
        if order.kind == given.refuses:
            return Reply("refused", reason="it does not want to")
        reply = _hands_do(order, prefix)
        if order.kind == "probe" and given.machine is not None:
            about = {**reply.value["identity"], "machine": given.machine}
            return replace(reply, value={"identity": about})
        return reply

    work._hands.do = do  # type: ignore[method-assign]
    asyncio.run(_serve(given.address, given.certificates))


async def _serve(address: str, certificates: str | None) -> None:
    security = None
    if certificates is not None:
        files = {f"tls_{role}_{what}": f"{certificates}/{what}.pem" for role in ("worker",) for what in ("cert", "key")}
        security = Security(require_encryption=True, tls_ca_file=f"{certificates}/cert.pem", **files)  # type: ignore[no-untyped-call]
    async with Worker(address, nthreads=1, security=security, dashboard=False) as worker:  # type: ignore[no-untyped-call]
        await worker.finished()


if __name__ == "__main__":
    main()
