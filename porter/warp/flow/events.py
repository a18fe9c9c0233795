"""What a walk over a function records: branches that part threads, and operations of a whole warp or block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from porter.cpp.nodes import Node
from porter.warp.collectives import Collective
from porter.warp.flow.masks import Mask
from porter.warp.flow.spread import Spread, Value


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition around a place that differs between threads: `if`, `loop` or `short` (`&&`, `?:`)."""

    node: Node
    spread: Spread
    kind: str
    both: bool = False
    """Whether both sides of the branch have a barrier of the block."""
    both_sync: bool = False
    """Whether both sides of the branch have a barrier of the warp."""


@dataclass(frozen=True, slots=True)
class Event:
    """A warp-wide or block-wide operation with what stands around and before it.

    `kind` is a collective's kind, `barrier`, or `call` for a function that comes to one of them.
    """

    kind: str
    node: Node
    branches: tuple[Branch, ...]
    exits: tuple[Node, ...]
    """Divergent `return`, `break` and `continue` that may have taken lanes away."""
    collective: Collective | None = None
    full: bool = False
    """Whether its mask, or that of an operation it comes to, names all lanes whatever the control flow."""
    reaches: frozenset[str] = frozenset()
    neighbours: bool = False
    """Whether it is a shuffle from a fixed distance among whatever lanes are active."""
    masks: tuple[Mask, ...] = ()
    """Its masks, or those that it hands on."""


@dataclass
class State:
    """What changes along the walk."""

    values: dict[str, Value]
    branches: tuple[Branch, ...] = ()
    exits: tuple[Node, ...] = ()
    masks: Mapping[str, Mask] = field(default_factory=dict)
    """What variables and parameters hold as masks."""
