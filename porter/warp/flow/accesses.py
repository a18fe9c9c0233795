"""The elements of shared memory that the statements of a function read and write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from porter.cpp.nodes import EMPTY, Node, names, stands_in, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.flow.expansion import Expansion
from porter.warp.flow.linear import Linear, linear
from porter.warp.flow.waiting_loop import STEPS
from porter.warp.function import Function


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write of an element of shared memory."""

    base: str
    outer: tuple[str, ...]
    """The indices of the outer dimensions, as written."""
    index: Node
    sum: Linear
    writes: bool
    handed: str = ""
    """The function or macro that is handed the array: which elements it touches is not known here."""
    place: int = 0
    """Which of its arguments that is."""


class Accesses:
    """Which names of a function mean shared memory, and what its statements do there."""

    def __init__(self, bodies: Bodies, function: Function, given: frozenset[str] = frozenset()) -> None:
        self._bodies = bodies
        self._function = function
        self.volatile = _volatile_pointers(function)
        self.given = given
        """Parameters through which a caller hands over shared memory of a warp."""
        self.names = _shared_names(bodies, function, given) | self.volatile
        self.scalars = frozenset(_shared_scalars(bodies, function))
        """Variables in shared memory that are no arrays: one element, the same for all lanes."""
        head, named = function.head, bodies.tokens.named
        words = self.names | element_macros(bodies).names
        self._places = sorted(index for name in words for index in named(name, head.begin, head.end))
        self._known: dict[int, tuple[Access, ...]] = {}

    def below(self, node: Node) -> tuple[Access, ...]:
        """Reads and writes below a node of the function; an assignment's target is a write."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._found(node) if stands_in(node, self._places) else ()
        return known

    def all_of(self, node: Node) -> Iterator[Access]:
        """`for (float q : s)`: reads of all elements."""
        array = unwrapped(node)
        if array.kind == "name" and array.text in self.names:
            yield Access(array.text, (), array, Linear({}, 0), False, "for", -1)

    def _found(self, node: Node) -> tuple[Access, ...]:
        found: list[Access] = []
        nodes = list(node.walk())
        targets = {id(unwrapped(n.kids[0])): n.text for n in nodes if n.kind == "assign"}
        if self.scalars:
            found += self._of_scalars(nodes, targets)
        for below in nodes:
            if below.kind == "call":
                found += self._handed(below)
            for access in self._accesses(below, id(below) in targets):
                found.append(access)
                if id(below) in targets and targets[id(below)] != "=":
                    found.append(Access(access.base, access.outer, access.index, access.sum, False))
        return tuple(found)

    def _of_scalars(self, nodes: list[Node], targets: dict[int, str]) -> Iterator[Access]:
        """Reads and writes of single variables; one whose address is taken, or that is part of more, is left out."""
        more = {id(unwrapped(n.kids[0])) for n in nodes if n.kind in ("index", "member") or n.text == "&"}
        for below in nodes:
            if below.kind == "name" and below.text in self.scalars and id(below) not in more:
                operator = targets.get(id(below))
                if operator is not None:
                    yield Access(below.text, (), below, _NOWHERE, True)
                if operator != "=":
                    yield Access(below.text, (), below, _NOWHERE, False)

    def _handed(self, call: Node) -> Iterator[Access]:
        """`step(s, t, 16)`: reads and writes of who knows which elements."""
        space, _, name = call.callee.rpartition("::")
        if name in COPIES and len(call.arguments) > 1:
            yield from self._copied(call)
            return
        if name in _NO_READERS or space == _SUPPORT or name.startswith(("atomic", "__")):
            return
        owner = call.callee.partition(".")[0]
        if "." in call.callee and owner in self.names:
            for writes in (False, True):
                yield Access(owner, (), call, Linear({}, 0), writes, name.rpartition(".")[2], -1)
        for place, argument in enumerate(call.arguments):
            base = unwrapped(argument)
            while base.kind == "binary" and base.text in ("+", "-"):
                base = unwrapped(base.kids[0])
            if base.kind == "name" and base.text in self.names and _touches(self._bodies, name, place):
                for writes in (False, True):
                    yield Access(base.text, (), argument, Linear({}, 0), writes, name or "?", place)

    def _copied(self, call: Node) -> Iterator[Access]:
        """`__pipeline_memcpy_async(s + t, from, 4)`: a lane writes one element, and may read another."""
        for argument, writes in zip(call.arguments, (True, False), strict=False):
            found = self._address(argument)
            if found is not None:
                yield Access(found[0], (), argument, found[1], writes)

    def _accesses(self, node: Node, writes: bool) -> Iterator[Access]:
        if node.kind == "index":
            access = self._indexed(node, writes)
        elif node.kind == "unary" and node.text == "*":
            found = self._address(node.kids[0])
            access = None if found is None else Access(found[0], (), node.kids[0], found[1], writes)
        else:
            return
        if access is None:
            return
        yield access
        begins = self._own_places.get(access.base) if access.sum.is_constant and not access.outer else None
        if begins is not None:
            # the pointer may be to an element of the lane's own: what it means is one of the array's as well
            base, start = begins
            yield Access(base, (), access.index, Linear(start.terms, start.constant + access.sum.constant), writes)

    def _address(self, node: Node) -> tuple[str, Linear] | None:
        """The name in shared memory that an address begins with, and what is added to it: `s + i`, `&s[i]`, `s`."""
        node = unwrapped(node)
        if node.kind == "unary" and node.text == "&" and node.kids[0].kind == "index":
            base, index = node.kids[0].kids
            return (base.text, linear(index, self._bodies)) if base.text in self.names else None
        total = linear(node, self._bodies)
        bases = [term for term, factor in total.terms.items() if factor == 1 and term in self.names]
        if len(bases) != 1:
            return None
        return bases[0], Linear({t: factor for t, factor in total.terms.items() if t != bases[0]}, total.constant)

    @cached_property
    def _own_places(self) -> dict[str, tuple[str, Linear]]:
        """Pointers that are set once, to an array's element: `float *p = s + t`, `&s[t]`."""
        found: dict[str, tuple[str, Linear]] = {}
        for variable in (kid for node in self._function.declarations for kid in node.kids):
            initial = variable.initial if variable.text in self.names and not variable.count else None
            address = self._address(initial) if initial is not None else None
            if address is not None and address[1].terms:
                found[variable.text] = address
        for node in self._function.body.walk() if found else ():
            if node.kind in ("assign", "postfix") or (node.kind == "unary" and node.text in STEPS):
                found.pop(unwrapped(node.kids[0]).text, None)
        return found

    def _indexed(self, node: Node, writes: bool) -> Access | None:
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


_NOWHERE = Linear({}, 0)
"""The index of what has none."""
COPIES = frozenset({"__pipeline_memcpy_async", "pipeline_memcpy_async"})
"""What writes an element of shared memory, and is no barrier for other lanes however long one waits for it."""
_SUPPORT = "porter"
"""The namespace of what ports call for CUDA's intrinsics: a port is read as its original is."""
_NO_READERS = frozenset({"sizeof", "memcpy", "memset", "printf", "assert"})


def _touches(bodies: Bodies, name: str, place: int) -> bool:
    """Whether a function may read or write through an argument other than by atomic operations; of one that is not in
    sight nothing is known."""
    known = cast("dict[tuple[str, int], bool]", bodies.memo.setdefault(_touches, {}))
    if (name, place) not in known:
        known[name, place] = False  # for functions that call themselves
        functions = [one for one in bodies.by_name.get(name, ()) if place < len(one.parameters)]
        known[name, place] = not functions or any(_uses(bodies, one, one.parameters[place]) for one in functions)
    return known[name, place]


def _uses(bodies: Bodies, function: Function, pointer: str) -> bool:
    """Whether a function does more with a pointer than hand it to atomic operations."""
    handed = 0
    for call in function.calls:
        name = call.callee.rpartition("::")[2]
        for place, argument in enumerate(call.arguments):
            count = sum(1 for found in names(argument) if found == pointer)
            direct = count == 1 and not any(node.kind == "call" for node in argument.walk())
            is_atomic = place == 0 and name.startswith("atomic")
            if direct and (is_atomic or (name in bodies.by_name and not _touches(bodies, name, place))):
                handed += 1
    return handed < sum(1 for found in names(function.body) if found == pointer)


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


def _shared_names(bodies: Bodies, function: Function, given: frozenset[str]) -> frozenset[str]:
    """Variables in shared memory and pointers into it."""
    found = set(given)
    unset: set[str] = set()
    for node in function.declarations:
        for variable in node.kids:
            initial = variable.initial
            is_shared = _says_shared(bodies, node)
            if initial is not None and "*" in variable.extra:
                is_shared |= not found.isdisjoint(names(initial)) or "SharedMemory" in _text(bodies, initial)
            elif initial is not None and "auto" in variable.extra.replace("&", " ").split():
                is_shared |= _points_into(initial, found)
            elif initial is None and "*" in variable.extra:
                unset.add(variable.text)
            if (
                initial is not None and initial.kind == "list"
            ):  # `Reducer r(s, lane)`, `Reducer r{s}`: keeps the pointer
                is_shared |= any(kid.kind == "name" and kid.text in found for kid in map(unwrapped, initial.kids))
            if is_shared:
                found.add(variable.text)
    for node in function.body.walk() if unset or "&" in function.words else ():
        target = node.kids[0] if node.kind == "assign" and node.text == "=" else EMPTY
        if (bound := _bound_array(target)) and not found.isdisjoint(names(node.kids[1])):
            found.add(bound)
        if target.kind == "name" and target.text in unset and not found.isdisjoint(names(node.kids[1])):
            found.add(target.text)
    return frozenset(found) | _extern_names(bodies)


def _shared_scalars(bodies: Bodies, function: Function) -> Iterator[str]:
    """Variables of a function in shared memory that are no arrays, and not volatile."""
    for node in function.declarations:
        if _says_shared(bodies, node) and not {"volatile", "extern"} & set(node.text.split()):
            yield from (kid.text for kid in node.kids if not kid.count and "[" not in kid.extra)


def _says_shared(bodies: Bodies, node: Node) -> bool:
    """`__shared__`, a macro for it, or the attribute that it stands for."""
    texts = bodies.tokens.texts
    if "__shared__" in node.text.split() or texts[node.first - 1] in bodies.macros.shared:
        return True
    return texts[node.first] == "__attribute__" and "shared" in texts[node.first : node.first + _ATTRIBUTE]


_ATTRIBUTE = 4
"""Tokens of `__attribute__((shared`."""


def _bound_array(target: Node) -> str:
    """`float (&s)[64] = b`, which reads like the call of a type: the name of the reference."""
    base = target.kids[0] if target.kind == "index" else EMPTY
    inner = base.arguments[0] if base.kind == "call" and len(base.arguments) == 1 else EMPTY
    return inner.kids[0].text if inner.kind == "unary" and inner.text == "&" and inner.kids[0].kind == "name" else ""


def element_macros(bodies: Bodies) -> Expansion:
    """The bodies with the macros put in that touch elements of arrays."""
    known = bodies.memo.get("element macros")
    if known is None:
        known = bodies.memo["element macros"] = Expansion(bodies, frozenset(), frozenset({"["}), macros_only=True)
    return cast(Expansion, known)


def _points_into(value: Node, shared: set[str]) -> bool:
    """Whether a value without a written type is shared memory itself, or an address in it, and no element."""
    value = unwrapped(value)
    while value.kind == "binary" and value.text in ("+", "-"):
        value = unwrapped(value.kids[0])
    if value.kind == "unary" and value.text == "&":
        return not shared.isdisjoint(names(value))
    return value.kind == "name" and value.text in shared


def _extern_names(bodies: Bodies) -> frozenset[str]:
    """What `extern __shared__` may name anywhere in the file."""
    known = bodies.memo.get("extern shared")
    if known is None:
        tokens = bodies.tokens
        places = (i for i in tokens.names.get("__shared__", ()) if tokens.texts[i - 1] == "extern")
        known = bodies.memo["extern shared"] = frozenset(
            text for index in places for text in tokens.texts[index + 1 : index + 8]
        )
    return cast("frozenset[str]", known)


def _text(bodies: Bodies, node: Node) -> str:
    return " ".join(bodies.tokens.texts[node.first : node.last + 1])
