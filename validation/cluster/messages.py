"""What goes between the client and the workers of a cluster: JSON in, JSON out, whatever the version of either."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PROTOCOL = 1


@dataclass(frozen=True)
class TreeName:
    """A tree of the client's: a name that stays the same, and the digest of its content now."""

    name: str
    digest: str


@dataclass(frozen=True)
class Order:
    """One task as a worker gets it."""

    kind: str
    payload: Mapping[str, Any]
    porter: str = ""
    """Digest of the client's porter; empty: any will do."""
    machine: str = ""
    needs: tuple[str, ...] = ()
    """Devices that have to be there."""
    tree: TreeName | None = None
    home: str = ""
    """Whose paths these are."""
    folder: str = ""
    """The client's current folder."""
    cache: str = ""
    """The client's cache folder: names in answers are the client's."""
    packages: tuple[str, ...] = ()
    """Where the client's porter lies: compilers are given headers of it."""
    seconds: float = 3600.0
    """After which the process that does it is ended."""

    def packed(self) -> bytes:
        """As bytes."""
        return json.dumps({"protocol": PROTOCOL, **asdict(self)}).encode("utf-8", "surrogatepass")


def order_of(data: bytes) -> Order | None:
    """The order in these bytes; None when they are of another protocol."""
    read = json.loads(data.decode("utf-8", "surrogatepass"))
    if read.pop("protocol", None) != PROTOCOL:
        return None
    tree = read.pop("tree")
    needs, packages = tuple(read.pop("needs")), tuple(read.pop("packages"))
    return Order(**read, needs=needs, packages=packages, tree=None if tree is None else TreeName(**tree))


@dataclass(frozen=True)
class Reply:
    """What a worker says."""

    state: str
    """`done`; `lacks`: the tree is not there; `refused`: not for this worker; `crash`: a bug of ours."""
    value: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0
    worker: str = ""

    def packed(self) -> bytes:
        """As bytes."""
        return json.dumps(asdict(self)).encode("utf-8", "surrogatepass")


def reply_of(data: bytes) -> Reply:
    """The reply in these bytes."""
    return Reply(**json.loads(data.decode("utf-8", "surrogatepass")))
