"""Loads, atomic operations and numbers of threads in assembly as the C++ that they come to."""

from __future__ import annotations

import re

from porter.cpp.asm import said
from porter.cpp.lex import Tokens
from porter.cpp.nodes import Node

_ATOMIC = re.compile(r"\batom\.[\w.:]*?(cas|exch|add|or|and|xor|min|max|inc|dec)\b[\w.]*\s*([^;]*)")
_LOAD = re.compile(r"\bld\.[\w.:]*(?:acquire|volatile|relaxed|\.c[gv])\b[\w.:]*\s*([^;]*)")
_CALLS = {"cas": "atomicCAS", "exch": "atomicExch"}
FAR_LOAD = "__ld_system"
"""Stands for a load that sees what other devices and the host write."""
_OPERAND = re.compile(r"%(\d+)")
_MOVE = re.compile(r"\s*mov\.[busf]32\s+%0\s*,\s*%%?(\w+)\.([xyz])\s*;?\s*")
_SPECIAL = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")


def as_call(node: Node, tokens: Tokens) -> Node | None:
    """`asm("atom.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(p));` as `old = atomicCAS(p, 0, 1);`; None for others."""
    text = said(tokens, node.first)
    atomic = _ATOMIC.search(text)
    load = _LOAD.search(text) if atomic is None else None
    operands = (atomic[2] if atomic is not None else load[1] if load is not None else "").split(",")
    if len(operands) < 2:
        return None
    read = [_operand(operand, node) for operand in operands]
    target, address, *values = read
    if target is None or address is None:
        return None
    load_name = FAR_LOAD if ".sys" in text else "__ldcv"
    name = load_name if atomic is None else _CALLS.get(atomic[1], f"atomic{atomic[1].capitalize()}")
    callee = Node("name", node.first, node.last, name)
    given = tuple(value for value in values if value is not None)
    call = Node("call", node.first, node.last, kids=(callee, address, *given))
    return _assigned(node, target, call)


def as_number_of_thread(node: Node, text: str) -> Node | None:
    """`asm("mov.u32 %0, %tid.x;" : "=r"(t));` as `t = threadIdx.x;`; None for others.

    Some write it so to keep the compiler from holding the number in a register.
    """
    move = _MOVE.fullmatch(text)
    special = _SPECIAL.get(move[1]) if move is not None else None
    if move is None or special is None or len(node.kids) != 1:
        return None
    value = Node("member", node.first, node.last, move[2], (Node("name", node.first, node.last, special),))
    return _assigned(node, node.kids[0], value)


def _assigned(node: Node, target: Node, value: Node) -> Node:
    return Node("statement", node.first, node.last, kids=(Node("assign", node.first, node.last, "=", (target, value)),))


def _operand(text: str, node: Node) -> Node | None:
    """The expression of an operand, or a number."""
    found = _OPERAND.search(text)
    if found is not None:
        place = int(found[1])
        return node.kids[place] if place < len(node.kids) else None
    number = _NUMBER.fullmatch(text.strip())
    return Node("number", node.first, node.last, number[0]) if number is not None else None
