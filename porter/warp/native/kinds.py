"""What a value means for a kernel that is to be widened, and how meanings combine."""

from __future__ import annotations

import enum

from porter.cpp.nodes import Node


class Kind(enum.Enum):
    """The meaning of a value with respect to lanes, warps and items."""

    UNIFORM = "the same for the whole block"
    BTHREAD = "thread in the block"
    GTHREAD = "thread in the grid"
    DATA = "data of one thread"
    LANE = "lane"
    WARP = "warp in the block"
    ITEM = "item that one warp works on"
    STEP = "place in an item, strided over the lanes"
    MASK = "a bit per lane"
    LT = "the bits of the lanes below"
    BIT = "the bit of a lane"
    AGG = "gathered from the lanes of a warp"
    PARTIAL = "one value per warp"
    PREFIX = "a sum over the warps before"
    PARTIAL0 = "one value per warp, in the first warp"
    BLOCKWIDE = "gathered from the block"
    TOTAL = "gathered from the block, in its first thread"
    SCAN = "prefix within a warp"
    LEADER = "a lane chosen from a mask"
    BASE = "the first place of a warp in an output"
    RANK = "the number of chosen lanes below"
    SLOT = "place of one lane in an output"
    DELTA = "distance of a step in a tree"
    WIDTH = "lanes per warp"
    WARP_BEFORE = "warp before in the block"
    WARPS = "warps per block"
    FLOAT_WARPS = "warps per block as a fraction"
    EACH_WARP = "counts the warps of the block"
    FIRST = "first item of the block"
    BASE_THREAD = "first thread of the warp"
    FULL = "the mask of all lanes"


class Undecided(Exception):
    """A value whose meaning is not known, so the kernel keeps its 32 lanes."""

    def __init__(self, node: Node | None, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


K = Kind
THREADS = frozenset({K.BTHREAD, K.GTHREAD})
OF_WARPS = frozenset({K.PARTIAL, K.PARTIAL0})
PER_THREAD = frozenset({K.BTHREAD, K.GTHREAD, K.DATA, K.SLOT})
_PAIRS: dict[frozenset[Kind], Kind] = {
    frozenset({K.ITEM, K.STEP}): K.STEP,
    frozenset({K.SCAN, K.DATA}): K.SCAN,
    frozenset({K.SCAN, K.PREFIX}): K.DATA,
    frozenset({K.DATA, K.PREFIX}): K.DATA,
    frozenset({K.BASE, K.RANK}): K.SLOT,
    frozenset({K.DATA, K.STEP}): K.DATA,
    frozenset({K.DATA, K.ITEM}): K.DATA,
    frozenset({K.DATA, K.BLOCKWIDE}): K.DATA,
    frozenset({K.STEP, K.BLOCKWIDE}): K.DATA,
    frozenset({K.ITEM, K.BLOCKWIDE}): K.ITEM,
    frozenset({K.PARTIAL, K.BLOCKWIDE}): K.BLOCKWIDE,
    frozenset({K.PARTIAL, K.PREFIX}): K.PREFIX,
    frozenset({K.ITEM, K.AGG}): K.AGG,
    frozenset({K.STEP, K.AGG}): K.AGG,
}
_CLOSED = frozenset(
    [
        *(K.UNIFORM, K.DATA, K.ITEM, K.STEP, K.AGG, K.PARTIAL, K.PARTIAL0, K.BLOCKWIDE, K.TOTAL, K.SCAN, K.MASK),
        K.PREFIX,
    ]
)
_PLAIN = frozenset(
    [
        *(K.UNIFORM, K.DATA, K.ITEM, K.STEP, K.AGG, K.PARTIAL, K.PARTIAL0, K.BLOCKWIDE, K.TOTAL, K.SCAN, K.PREFIX),
        *(K.BASE, K.SLOT, K.LEADER),
    ]
)
"""Meanings that stay the same when something uniform is added, or multiplied with."""


def combined(left: Kind, right: Kind, node: Node) -> Kind:
    """The meaning of an arithmetic expression over two values."""
    if left is right and left in _CLOSED:
        return left
    if K.UNIFORM in (left, right):
        other = right if left is K.UNIFORM else left
        if other in _PLAIN:
            return other
        if other in THREADS:
            return K.DATA
        raise Undecided(node, f"{other.value} computed with")
    if left in PER_THREAD and right in PER_THREAD:
        return K.DATA
    found = _PAIRS.get(frozenset({left, right}))
    if found is not None:
        return found
    raise Undecided(node, f"{left.value} meets {right.value}")


def placed(start: Kind, index: Kind, node: Node) -> Kind:
    """The meaning of a place in memory: where it starts, and the index."""
    if start is K.UNIFORM:
        return index
    return start if index is K.UNIFORM else combined(start, index, node)


def joined(left: Kind, right: Kind, node: Node) -> Kind:
    """The meaning of a variable that holds one or the other."""
    if left is right:
        return left
    if K.UNIFORM in (left, right):
        return right if left is K.UNIFORM else left
    pair = {left, right}
    if pair == {K.BLOCKWIDE, K.TOTAL}:
        return K.TOTAL
    if pair == OF_WARPS:
        return K.PARTIAL0
    if pair == {K.DATA, K.BLOCKWIDE}:
        return K.DATA
    if pair <= {K.DATA, K.STEP, K.ITEM, *THREADS}:
        return K.DATA
    if pair == {K.PARTIAL, K.PREFIX}:
        return K.PREFIX
    if pair == {K.SCAN, K.DATA}:
        return K.DATA
    raise Undecided(node, f"holds {left.value} or {right.value}")
