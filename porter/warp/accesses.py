"""The elements of shared memory that the statements of a function read and write."""

from __future__ import annotations

from dataclasses import dataclass

from porter.warp.bodies import Bodies, Function
from porter.warp.linear import Linear, linear
from porter.warp.tree import Node, names, stands_in, unwrapped


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write of an element of shared memory."""

    base: str
    outer: tuple[str, ...]
    """The indices of the outer dimensions, as written."""
    index: Node
    sum: Linear
    writes: bool


class Accesses:
    """Which names of a function mean shared memory, and what its statements do there."""

    def __init__(self, bodies: Bodies, function: Function) -> None:
        self._bodies = bodies
        self.volatile = _volatile_pointers(function)
        self.names = _shared_names(bodies, function) | self.volatile
        indices = (index for name in self.names for index in bodies.tokens.names.get(name, ()))
        self._places = sorted(index for index in indices if function.head.begin <= index < function.head.end)
        self._known: dict[int, tuple[Access, ...]] = {}

    def below(self, node: Node) -> tuple[Access, ...]:
        """Reads and writes below a node of the function; an assignment's target is a write."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._found(node) if stands_in(node, self._places) else ()
        return known

    def _found(self, node: Node) -> tuple[Access, ...]:
        found: list[Access] = []
        nodes = list(node.walk())
        targets = {id(unwrapped(n.kids[0])): n.text for n in nodes if n.kind == "assign"}
        for below in nodes:
            access = self._access(below, id(below) in targets) if below.kind == "index" else None
            if access is None:
                continue
            found.append(access)
            if id(below) in targets and targets[id(below)] != "=":
                found.append(Access(access.base, access.outer, access.index, access.sum, False))
        return tuple(found)

    def _access(self, node: Node, writes: bool) -> Access | None:
        outer: list[str] = []
        base = node.kids[0]
        while base.kind == "index":
            outer.append(_text(self._bodies, base.kids[1]))
            base = base.kids[0]
        base = unwrapped(base)
        if base.kind != "name" or base.text not in self.names:
            return None
        index = node.kids[1]
        return Access(base.text, tuple(outer), index, linear(index, self._bodies), writes)


def _volatile_pointers(function: Function) -> frozenset[str]:
    """Volatile pointer parameters and variables; a kernel's own parameters point to global memory."""
    found = {
        variable.text
        for node in function.declarations
        if "volatile" in node.text.split()
        for variable in node.kids
        if "*" in variable.extra or "__shared__" in node.text
    }
    if not function.is_kernel:
        found |= {n for n, t in function.parameter_types.items() if "volatile" in t and ("*" in t or "[" in t)}
    return frozenset(found)


def _shared_names(bodies: Bodies, function: Function) -> frozenset[str]:
    """Variables in shared memory and pointers into it."""
    found: set[str] = set()
    for node in function.declarations:
        for variable in node.kids:
            initial = variable.initial
            is_shared = "__shared__" in node.text.split()
            if initial is not None and "*" in variable.extra:
                is_shared |= not found.isdisjoint(names(initial)) or "SharedMemory" in _text(bodies, initial)
            if is_shared:
                found.add(variable.text)
    tokens = bodies.tokens
    for index in tokens.names.get("__shared__", ()):
        if tokens.texts[index - 1 : index] == ["extern"]:
            found |= set(tokens.texts[index + 1 : index + 8])
    return frozenset(found)


def _text(bodies: Bodies, node: Node) -> str:
    return " ".join(bodies.tokens.texts[node.first : node.last + 1])
