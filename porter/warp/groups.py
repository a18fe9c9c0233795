"""Groups of cooperative groups that are a whole block or more, and the calls that wait for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from porter.cpp.nodes import Node
from porter.warp.collectives import GROUPS

_WORD = re.compile(r"\w+")


def block_groups(parameter_types: Mapping[str, str], declarations: Iterable[Node]) -> frozenset[str]:
    """Variables and parameters that hold a whole block, or more."""
    found = {name for name, written in parameter_types.items() if not GROUPS.isdisjoint(_WORD.findall(written))}
    for node in declarations:
        for kid in node.kids:
            made = kid.initial.callee.rpartition("::")[2] if kid.initial is not None else ""
            if made in GROUPS or not GROUPS.isdisjoint(_WORD.findall(node.text)):
                found.add(kid.text)
    return frozenset(found)


def synchronised(call: Node) -> Node | None:
    """The group of `block.sync()`, `cg::sync(block)`, `cg::this_thread_block().sync()`; None for other calls."""
    callee = call.kids[0]
    if callee.kind == "member" and callee.text == "sync":
        return callee.kids[0]
    if callee.kind != "member" and call.callee.rpartition("::")[2] == "sync":
        return next(iter(call.arguments), None)
    return None


def is_block(group: Node, known: frozenset[str]) -> bool:
    """Whether a group is a whole block or more."""
    if group.kind == "call":
        return group.callee.rpartition("::")[2] in GROUPS
    return group.kind == "name" and group.text in known
