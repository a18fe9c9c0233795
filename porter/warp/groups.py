"""Groups of cooperative groups that are a whole block or more, and the calls that wait for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from porter.cpp.brackets import closing_angle
from porter.cpp.constants import WARP, Constants
from porter.cpp.lex import Tokens, lex
from porter.cpp.nodes import Node
from porter.cpp.postfix import chain_start
from porter.cpp.statements import parse_expression
from porter.warp.collectives import GROUPS

_WORD = re.compile(r"\w+")
_TILE = re.compile(r"\bthread_block_tile\s*<([^,>]+)[,>]")


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


def is_warp_tile(written_type: str, constants: Constants) -> bool:
    """Whether a type is a tile of a whole warp, its size written out or by a constant."""
    found = _TILE.search(written_type)
    if found is None:
        return False
    tokens = lex(found[1])
    return constants.value(parse_expression(tokens, 0, len(tokens))) == WARP


class WarpTiles(NamedTuple):
    """What a file names by tiles of a whole warp."""

    types: frozenset[str]
    """Other names of the type: `using Tile = thread_block_tile<32>`, also by `typedef`."""
    variables: frozenset[str]
    """Members and variables declared with it."""


def warp_tiles(tokens: Tokens, constants: Constants) -> WarpTiles:
    """The names that a file gives to the type, and that it declares with it or with one of those."""
    types: set[str] = set()
    variables: set[str] = set()
    texts = tokens.texts
    for index in tokens.names.get("thread_block_tile", ()):
        closed = closing_angle(tokens, index + 1) if texts[index + 1] == "<" else None
        if closed is None or not is_warp_tile("".join(texts[index : closed[0] + 1]), constants):
            continue
        first, behind = chain_start(tokens, index), closed[0] + 1
        if texts[first - 1] == "=" and texts[first - 3] == "using":
            types.add(texts[first - 2])
        elif texts[behind + 1] == ";":
            (types if texts[first - 1] == "typedef" else variables).add(texts[behind])
    places = (index for name in types for index in tokens.names[name])
    variables |= {texts[index + 1] for index in places if texts[index + 2] == ";"}
    return WarpTiles(frozenset(types), frozenset(variables))
