"""What the worker processes of a cluster run: the only functions of porter's that a client calls on them."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cluster import slots
from porter.validation.cluster.hands import Hands
from porter.validation.cluster.identity import Identity, machine, porter_digest, short_identity
from porter.validation.cluster.messages import Order, Reply, TreeName, order_of

_hands = Hands()
atexit.register(_hands.close)
_lock = threading.Lock()
_devices: dict[str, str | None] = {}


def do(
    data: bytes,
    topic: str = "",
    number: int = -1,
    manifest: bytes | None = None,
    pack: bytes | None = None,
    built: bytes | None = None,
) -> bytes:
    """One order, refused when it is not for this worker; tells the client that it begins."""
    return replace(_done(data, topic, number, manifest, pack, built), worker=_address()).packed()


def _done(
    data: bytes, topic: str, number: int, manifest: bytes | None, pack: bytes | None, built: bytes | None
) -> Reply:
    order = order_of(data)
    if order is None:
        return Reply("refused", reason="it speaks another protocol")
    reason = _why_not(order)
    if reason is not None:
        return Reply("refused", reason=reason)
    _tell(topic, number)
    if order.tree is None:
        return _hands.do(order, "")
    try:
        if manifest is not None:
            slots.missing(order.tree, manifest)
        for one in (pack, built):
            if one is not None:
                slots.receive(one)
        if not all(map(slots.is_here, order.payload.get("built", {}).values())):
            return Reply("lacks", reason="built")
        with slots.laid_out(order.tree) as root:
            return _hands.do(order, str(root))
    except slots.Lacking:
        return Reply("lacks")
    except OSError as error:
        return Reply("refused", reason=f"{error.filename or 'the cache'}: {error.strerror}")


def identity(devices: tuple[str, ...]) -> Mapping[str, Any]:
    """Who this worker is."""
    found = _hands.do(Order("probe", {"devices": devices}), "")
    if found.state != "done":
        raise RuntimeError(found.reason)
    about = dict(found.value["identity"])
    with _lock:
        _devices.update(about["devices"])
    return about


def missing(name: str, digest: str, manifest: bytes) -> list[str]:
    """Which contents of a tree are not here."""
    return slots.missing(TreeName(name, digest), manifest)


def receive(pack: bytes) -> int:
    """Keeps contents."""
    slots.receive(pack)
    return len(pack)


def _why_not(order: Order) -> str | None:
    if order.porter and order.porter != porter_digest():
        mine: Identity = short_identity()
        return f"it has porter {mine.shown}, the client {order.porter[:8]}"
    if order.machine and order.machine != machine():
        return f"its processor is {machine()}, the client's {order.machine}"
    unknown = tuple(name for name in order.needs if name not in _devices)
    if unknown:
        identity(unknown)
    return next((f"{name}: {_devices[name]}" for name in order.needs if _devices.get(name) is not None), None)


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return ""


def _tell(topic: str, number: int) -> None:
    """The client counts the workers that ended while a task was at work there."""
    if topic:
        from distributed import get_worker

        worker = get_worker()
        worker.log_event(topic, {"number": number, "worker": worker.address})
