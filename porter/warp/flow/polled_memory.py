"""Names through which a function reads memory that other threads write, anew each time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import cast

from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.nodes import Node, names, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.function import Function

_ATOMIC = re.compile(r"\batomic(?:_ref|_flag)?\b")
_SEMAPHORE = re.compile(r"\b(?:counting|binary)_semaphore\b")
_LONGEST = 12
_ENDINGS = frozenset({";", "=", "[", "{", "(", ")", ","})
_BLOCKS = frozenset({"struct", "class", "union"})


class PolledMemory:
    """Variables, parameters and members of one function that are volatile or atomic, and pointers to such memory."""

    def __init__(self, bodies: Bodies, function: Function, shared: set[str]) -> None:
        self._bodies = bodies
        self._function = function
        self._shared = shared

    @cached_property
    def volatile(self) -> frozenset[str]:
        """What is declared so, and what else means the same memory."""
        says = self._bodies.macros.saying(frozenset({"volatile"})) | {"volatile"}
        types = self._function.parameter_types
        found = {name for name, written in types.items() if not says.isdisjoint(written.split())}
        variables, members = volatile_names(self._bodies.tokens)
        found |= variables
        if members and self._function.owner is not None:
            declared = {kid.text for node in self._function.declarations for kid in node.kids}
            found |= members - declared - types.keys()
        for node in self._function.declarations:
            before = self._function.tokens.texts[node.first - 1]
            is_volatile = before in says or not says.isdisjoint(node.text.split())
            for kid in node.kids:
                if is_volatile or _is_another_name(kid, found):
                    found.add(kid.text)
        return frozenset(found)

    @cached_property
    def atomic(self) -> frozenset[str]:
        """Atomic objects and pointers to them."""
        return self._of_type(_ATOMIC)

    @cached_property
    def semaphores(self) -> frozenset[str]:
        """Objects whose `acquire` waits."""
        return self._of_type(_SEMAPHORE)

    def _of_type(self, pattern: re.Pattern[str]) -> frozenset[str]:
        types = self._function.parameter_types
        found = {name for name, written in types.items() if pattern.search(written)}
        for node in self._function.declarations:
            for kid in node.kids:
                written = kid.initial.text if kid.initial is not None and kid.initial.kind == "cast" else ""
                if pattern.search(node.text) or pattern.search(written):
                    found.add(kid.text)
        return frozenset(found)

    @cached_property
    def pointers(self) -> frozenset[str]:
        """Parameters that are pointers."""
        return frozenset(name for name, written in self._function.parameter_types.items() if "*" in written)

    def read(self, tested: Node) -> Iterator[tuple[Node, str]]:
        """The places below an expression that read such memory, each with the name through which they do."""
        objects = {id(unwrapped(node.kids[0])) for node in tested.walk() if node.kind == "member"}
        arrays = {id(unwrapped(node.kids[0])) for node in tested.walk() if node.kind == "index"}
        for node in tested.walk():
            name = self.name_of(node) if id(node) not in arrays else ""
            if name and not (id(node) in objects and name in self.atomic):
                yield node, name

    def name_of(self, node: Node) -> str:
        """The name through which an expression reads memory that other threads may write; empty for none."""
        if node.kind == "member":
            is_polled = node.text in volatile_names(self._bodies.tokens)[1]
            return (next(names(node), "") or node.text) if is_polled else ""
        memory = node.kind == "index" or (node.kind == "unary" and node.text == "*")
        base = next(names(node), "") if memory else node.text if node.kind == "name" else ""
        is_flag = base in self.volatile or base in self._shared or base in self.atomic
        is_flag |= memory and base in self.pointers
        is_flag |= memory and any("volatile" in below.text for below in node.walk() if below.kind == "cast")
        return base if is_flag else ""


def _is_another_name(variable: Node, volatile: set[str]) -> bool:
    """`auto f = flag + n`, `auto f = (volatile int *)p`, `auto &f = flag[n]`."""
    if variable.initial is None or "auto" not in variable.extra.replace("&", " ").replace("*", " ").split():
        return False
    value = variable.initial
    if "&" in variable.extra:
        return not volatile.isdisjoint(names(value)) or _is_cast(value)
    while value.kind == "binary" and value.text in ("+", "-"):
        value = value.kids[0]
    if value.kind == "unary" and value.text == "&":
        return not volatile.isdisjoint(names(value))
    inner = unwrapped(value)
    return (_is_cast(value) and "*" in value.text) or (inner.kind == "name" and inner.text in volatile)


def _is_cast(value: Node) -> bool:
    return value.kind == "cast" and "volatile" in value.text.split()


def volatile_names(tokens: Tokens) -> tuple[frozenset[str], frozenset[str]]:
    """Volatile variables at file scope, `volatile __device__ int arrived = 0;`, and volatile or atomic members."""
    known = tokens.memo.get(volatile_names)
    if known is None:
        variables: set[str] = set()
        members: set[str] = set()
        for index in tokens.names.get("volatile", ()):
            end = next((i for i in range(index, min(index + _LONGEST, len(tokens))) if tokens.texts[i] in _ENDINGS), 0)
            if not end or tokens.kinds[end - 1] != IDENTIFIER:
                continue
            around = next(tokens.braces_around(index), None)
            if around is None:
                variables.add(tokens.texts[end - 1])
            elif tokens.texts[end] in (";", "[", "=") and _is_class(tokens, around):
                members.add(tokens.texts[end - 1])
        known = tokens.memo[volatile_names] = frozenset(variables), frozenset(members)
    return cast("tuple[frozenset[str], frozenset[str]]", known)


def _is_class(tokens: Tokens, opening: int) -> bool:
    """Whether a brace opens the body of a class."""
    texts = tokens.texts
    return any(text in _BLOCKS for text in texts[max(0, opening - 2) : opening]) or (
        texts[opening - 1] not in (")", "const", "noexcept", "else", "do", "try")
        and any(text in _BLOCKS for text in _declaration(texts, opening))
    )


def _declaration(texts: list[str], opening: int) -> Iterator[str]:
    """The tokens before a brace back to the end of what stands before them."""
    for place in range(opening - 1, max(-1, opening - _LONGEST), -1):
        if texts[place] in (";", "{", "}", ")"):
            return
        yield texts[place]
