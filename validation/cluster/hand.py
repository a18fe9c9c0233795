"""A process that does orders one after the other, each in the folder that stands for the client's."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from porter.validation.cluster.here import stand_for_root
from porter.validation.cluster.identity import package_folders
from porter.validation.cluster.messages import Order, Reply, order_of
from porter.validation.cluster.names import translator
from porter.validation.cluster.slots import content_at
from porter.validation.run.worker import read_frame, write_answer
from porter.validation.toolchain.elsewhere import Elsewhere, stand

from porter.system.cache import cache_folder
from porter.system.limits import die_with

Handler = Callable[[Mapping[str, Any]], Mapping[str, Any]]
HANDLERS = {
    "probe": "porter.validation.cluster.kinds.probe:do",
    "compile": "porter.validation.cluster.kinds.compile_task:do",
    "validate": "porter.validation.cluster.kinds.validate_task:do",
    "build": "porter.validation.cluster.kinds.build_task:do",
    "run": "porter.validation.cluster.kinds.run_task:do",
    "bench": "porter.validation.cluster.kinds.bench_task:do",
    "estimate": "porter.validation.cluster.kinds.bench_task:do_estimate",
    "nothing": "porter.validation.cluster.kinds.probe:nothing",
}
"""What a worker does when it is asked, and nothing else."""


def _handler(kind: str) -> Handler | None:
    module, _, name = HANDLERS.get(kind, "").partition(":")
    return getattr(importlib.import_module(module), name) if module else None


def enter(prefix: str, folder: str) -> None:
    """Goes to where relative paths start for the client, be it within what travelled or not."""
    place = prefix + folder if folder else prefix or "."
    if prefix:
        Path(place).mkdir(parents=True, exist_ok=True)
    os.chdir(place)


def do(order: Order, prefix: str) -> Reply:
    """One order; whatever goes wrong is in the reply."""
    began = time.monotonic()
    try:
        handler = _handler(order.kind)
        if handler is None:
            return Reply("refused", reason=f"it does not know tasks of the kind {order.kind!r}")
        enter(prefix, order.folder)
        stand_for_root(prefix)
        built = order.payload.get("built", {})
        files = {key: (str(content_at(digest)), digest) for key, digest in built.items()}
        folders = (prefix, str(cache_folder().resolve()), *package_folders())
        words = ((folder, f"\0{number}") for number, folder in enumerate(folders) if folder)
        stand(Elsewhere(tuple(words), files))
        if prefix:
            from porter.validation.run.porting import stand_for

            stand_for(prefix)
        value = handler(order.payload)
        seconds = float(value.get("seconds", 0.0)) or time.monotonic() - began
        if not prefix:
            return Reply("done", value, seconds=seconds)
        packages = zip(package_folders(), order.packages, strict=False)
        named = translator(prefix, str(cache_folder().resolve()), order.cache or str(cache_folder()), packages)
        return Reply("done", json.loads(named(json.dumps(value))), seconds=seconds)
    except MemoryError:
        return Reply("crash", reason="out of memory")
    except Exception:
        return Reply("crash", reason=traceback.format_exc(), seconds=time.monotonic() - began)


def serve(orders: IO[bytes], replies: IO[bytes]) -> None:
    """Order after order, until there is none."""
    while True:
        frame = read_frame(orders)
        if frame is None:
            return
        data, prefix = frame
        order = order_of(data)
        reply = Reply("refused", reason="it speaks another protocol") if order is None else do(order, prefix)
        write_answer(replies, dataclasses.asdict(reply))


def main() -> None:
    """Keeps stdout for the replies."""
    die_with(os.getppid())
    own = Path("/dev/null").open("rb")  # noqa: SIM115 - for as long as the process lives
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(own.fileno(), 0)
    os.dup2(2, 1)
    serve(orders, replies)


if __name__ == "__main__":
    main()
