"""Finds shared memory that the lanes of a warp hand to each other with no barrier in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from porter.lex import Tokens
from porter.warp.bodies import Bodies, Function
from porter.warp.collectives import BARRIERS, collective
from porter.warp.constants import WARP
from porter.warp.flow import Flow
from porter.warp.flows import flow_of
from porter.warp.linear import Linear, linear, stride
from porter.warp.spread import THREAD, UNIFORM, Value
from porter.warp.tree import Node, calls, names, unwrapped

_FENCES = BARRIERS | {"__threadfence", "__threadfence_block", "__threadfence_system", "syncwarp"}
_LARGEST_GUARD = 64


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write of an element of shared memory."""

    base: str
    outer: tuple[str, ...]
    """The indices of the outer dimensions, as written."""
    index: Node
    sum: Linear
    writes: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """A place where a wave barrier is missing: after a statement; `alone` when it is not inside braces."""

    statement: Node
    alone: bool
    base: str


@dataclass
class _Pending:
    """What the lanes did to shared memory since the last barrier, and after which statement."""

    accesses: list[tuple[Access, Node]] = field(default_factory=list)


class Lockstep:
    """One walk over one function."""

    def __init__(self, bodies: Bodies, function: Function, *, strict: bool = False) -> None:
        self.strict = strict
        """Whether any two accesses of which one writes conflict, whatever their indices."""
        self.bodies = bodies
        self.function = function
        self.volatile = _volatile_pointers(function)
        self.shared = _shared_names(bodies, function) | self.volatile
        self.steps = _steps(bodies, function)
        self.gaps: dict[int, Gap] = {}
        self.in_warp_function = "warp" in function.name.lower()

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """What is known of the variables; computed when two accesses have to be compared."""
        return _values(self.bodies, self.function)

    def find(self) -> tuple[Gap, ...]:
        """All places where a barrier is missing, in the order of the text."""
        if self.shared:
            self._block(self.function.body, self.in_warp_function, _Pending())
        return tuple(gap for _, gap in sorted(self.gaps.items()))

    def _block(self, node: Node, limited: bool, pending: _Pending) -> None:
        """The statements of a block one after the other; `limited` when only one warp comes here."""
        for statement in node.kids:
            self._step(statement, limited, pending, alone=False)
            if _leaves_one_warp(statement, self):
                limited = True

    def _step(self, statement: Node, limited: bool, pending: _Pending, alone: bool) -> None:
        """One statement against what came before it; afterwards it is what came before."""
        self._meets(statement, limited, pending)
        if statement.kind == "block":
            self._block(statement, limited, pending)
            return
        if statement.kind == "if":
            self._if(statement, limited, pending)
            return
        if statement.kind in ("for", "while", "do", "range", "macroloop"):
            self._loop(statement, limited, pending)
            return
        if self._is_fence(statement):
            pending.accesses.clear()
            return
        pending.accesses += [(access, statement) for access in self._accesses(statement)]

    def _if(self, node: Node, limited: bool, pending: _Pending) -> None:
        inside = limited or (self._touches_shared(node) and self._one_warp(node.kids[0]))
        before = list(pending.accesses)
        after: list[tuple[Access, Node]] = []
        fenced = True
        for branch in node.kids[1:]:
            inner = _Pending(list(before))
            self._step(branch, inside, inner, alone=True)
            fenced &= not any(item in inner.accesses for item in before) and bool(before)
            after += [(access, node) for access, place in inner.accesses if (access, place) not in before]
        if len(node.kids) < 3 or not fenced:
            after = before + after
        pending.accesses[:] = after

    def _touches_shared(self, node: Node) -> bool:
        return any(below.kind == "index" and self._access(below, False) is not None for below in node.walk())

    def _loop(self, node: Node, limited: bool, pending: _Pending) -> None:
        body = node.kids[0] if node.kind == "do" else node.kids[-1]
        inner = _Pending(list(pending.accesses))
        self._step(body, limited, inner, alone=True)
        if inner.accesses:
            self._around(body, limited, inner)
        if any(gap.statement is _last(body) for gap in self.gaps.values()):
            pending.accesses.clear()
            return
        known = [item for item in inner.accesses if item in pending.accesses]
        pending.accesses[:] = [*known, *((a, node) for a, p in inner.accesses if (a, p) not in known)]

    def _around(self, body: Node, limited: bool, pending: _Pending) -> None:
        """The end of a loop's body against the start of its next round."""
        last = _last(body)
        early = list(self._until_fence(body))
        for access, _ in pending.accesses:
            if any(self._conflict(access, other, limited) for other in early):
                self._gap(last, body.kind != "block", access.base)
                return

    def _until_fence(self, node: Node) -> Iterator[Access]:
        """The accesses of a loop's body up to its first barrier."""
        statements = node.kids if node.kind == "block" else (node,)
        for statement in statements:
            if self._is_fence(statement):
                return
            yield from self._accesses(statement)

    def _meets(self, statement: Node, limited: bool, pending: _Pending) -> None:
        """Puts a barrier after the last statement whose accesses this one conflicts with."""
        new = list(self._immediate(statement)) if pending.accesses else []
        place: tuple[Access, Node] | None = None
        for access, origin in pending.accesses:
            if any(self._conflict(access, other, limited) for other in new):
                place = (access, origin)
        if place is not None:
            self._gap(place[1], False, place[0].base)
            pending.accesses.clear()

    def _immediate(self, statement: Node) -> Iterator[Access]:
        """The accesses of a statement itself: of a branch or loop, those of its condition."""
        if statement.kind in ("if", "while", "switch"):
            yield from self._accesses(statement.kids[0])
        elif statement.kind == "for":
            yield from (access for kid in statement.kids[:2] for access in self._accesses(kid))
        elif statement.kind not in ("block", "do", "range", "macroloop") and not self._is_fence(statement):
            yield from self._accesses(statement)

    def _gap(self, statement: Node, alone: bool, base: str) -> None:
        self.gaps.setdefault(statement.last, Gap(statement, alone, base))

    def _is_fence(self, statement: Node) -> bool:
        """Whether a statement is, or surely comes to, a barrier for the compiler."""
        if statement.kind == "asm":
            return True
        if statement.kind in ("if", "for", "while", "switch"):
            return False
        for call in calls(statement):
            found = collective(call)
            name = call.callee.rpartition("::")[2]
            if (found is not None and found.kind == "sync") or name in _FENCES:
                return True
            if name.endswith(".sync") or name == "sync" or "SYNC" in name or "BARRIER" in name.upper():
                return True
            if not self.bodies.reach.get(name, frozenset()).isdisjoint({"sync", "barrier"}):
                return True
        return False

    def _accesses(self, node: Node) -> Iterator[Access]:
        """Reads and writes of shared elements below a node; an assignment's target is a write."""
        targets = {id(unwrapped(n.kids[0])): n.text for n in node.walk() if n.kind == "assign"}
        for below in node.walk():
            if below.kind != "index":
                continue
            access = self._access(below, id(below) in targets)
            if access is None:
                continue
            yield access
            if id(below) in targets and targets[id(below)] != "=":
                yield Access(access.base, access.outer, access.index, access.sum, False)

    def _access(self, node: Node, writes: bool) -> Access | None:
        outer: list[str] = []
        base = node.kids[0]
        while base.kind == "index":
            outer.append(" ".join(self.bodies.tokens.texts[base.kids[1].first : base.kids[1].last + 1]))
            base = base.kids[0]
        base = unwrapped(base)
        if base.kind != "name" or base.text not in self.shared:
            return None
        index = node.kids[1]
        return Access(base.text, tuple(outer), index, linear(index, self.bodies), writes)

    def _conflict(self, old: Access, new: Access, limited: bool) -> bool:
        """Whether one lane may read what another lane wrote, or write what another lane read."""
        if old.base != new.base or old.writes == new.writes or old.outer != new.outer:
            return False
        if self.strict:
            return True
        limited = limited or old.base in self.volatile or self._per_warp(old)
        difference = new.sum.minus(old.sum)
        if difference.is_constant and difference.constant == 0:
            return False
        step = stride(old.sum if old.writes else new.sum, self.values)
        if difference.is_constant:
            if step is None or step == 0:
                return False
            apart = abs(difference.constant)
            return apart >= abs(step) and (limited or apart < WARP * abs(step))
        if step is None or step == 0:
            return False
        if self._moves_within_warp(difference):
            return True
        return limited or self._flips_lane_bit(old, new) or self._flips_lane_bit(new, old)

    def _per_warp(self, access: Access) -> bool:
        """Whether each warp has a row of its own: `s[warp][lane]`, `s[warp * 32 + lane]`."""
        found = (*access.outer, *access.sum.terms)
        return any(self.values.get(name, UNIFORM).role == "warp" for name in found)

    def _moves_within_warp(self, difference: Linear) -> bool:
        """`s[i]` and `s[i + o]` in a loop that starts at 16."""
        return not difference.constant and all(
            term in self.steps and abs(factor) == 1 for term, factor in difference.terms.items()
        )

    def _flips_lane_bit(self, old: Access, new: Access) -> bool:
        """`s[i]` and `s[i ^ 8]`."""
        node = unwrapped(new.index)
        if node.kind != "binary" or node.text != "^":
            return False
        flipped = self.bodies.constants.value(node.kids[1])
        return flipped is not None and 0 < flipped < WARP and linear(node.kids[0], self.bodies) == old.sum

    def _one_warp(self, condition: Node) -> bool:
        """Whether a condition lets at most one warp by, or lanes of each: `tid < 32`, `warp == 0`, `lane < o`."""
        condition = unwrapped(condition)
        if condition.kind != "binary":
            return False
        if condition.text in ("&&", "and"):
            return any(self._one_warp(kid) for kid in condition.kids)
        left, right = (self._term(kid) for kid in condition.kids)
        if "lane" in (left.role, right.role):
            return True
        if condition.text in (">", ">="):
            left, right = right, left
        if condition.text in ("<", "<=", ">", ">="):
            bound = right.constant
            return left.role == "thread" and bound is not None and 0 < bound <= _LARGEST_GUARD
        if condition.text == "==":
            return "warp" in (left.role, right.role)
        return False

    def _term(self, node: Node) -> Value:
        start = dict(self.values)
        flow = Flow(self.bodies, self.function, start, _recording=False)
        return flow.evaluate(node, start)


def _values(bodies: Bodies, function: Function) -> Mapping[str, Value]:
    """What is known of the variables; in a helper that nobody in sight calls, integers index by thread."""
    values = flow_of(bodies, function).final
    if function.is_kernel or any(bodies.calls(caller, function.name) for caller in bodies.functions):
        return values
    guessed = {
        name: THREAD
        for name, written in function.parameter_types.items()
        if values.get(name) == UNIFORM and written.removeprefix("const ") in _INTEGERS
    }
    return {**values, **guessed}


_INTEGERS = frozenset({"int", "unsigned", "unsigned int", "uint", "size_t", "uint32_t", "int32_t"})


def _steps(bodies: Bodies, function: Function) -> frozenset[str]:
    """Loop variables that start at a step within a warp: 1, 2, 4, 8, 16 or 32."""
    found: set[str] = set()
    for node in function.body.walk():
        if node.kind != "for":
            continue
        for below in node.kids[0].walk():
            if below.kind == "variable" and below.initial is not None:
                name, first = below.text, bodies.constants.value(below.initial)
            elif below.kind == "assign":
                name, first = unwrapped(below.kids[0]).text, bodies.constants.value(below.kids[1])
            else:
                continue
            if first in _STEPS and _shifts(node.kids[2]):
                found.add(name)
    return frozenset(found)


_STEPS = frozenset({1, 2, 4, 8, 16, 32})


def _shifts(step: Node) -> bool:
    return any(node.kind == "assign" and node.text in (">>=", "<<=", "/=", "*=") for node in step.walk())


def _volatile_pointers(function: Function) -> frozenset[str]:
    """Volatile pointer parameters and variables; a kernel's own parameters point to global memory."""
    found = {
        variable.text
        for node in function.body.walk()
        if node.kind == "declaration" and "volatile" in node.text.split()
        for variable in node.kids
        if "*" in variable.extra or "__shared__" in node.text
    }
    if not function.is_kernel:
        found |= {n for n, t in function.parameter_types.items() if "volatile" in t and ("*" in t or "[" in t)}
    return frozenset(found)


def _shared_names(bodies: Bodies, function: Function) -> frozenset[str]:
    """Variables in shared memory and pointers into it."""
    found: set[str] = set()
    for node in function.body.walk():
        if node.kind != "declaration":
            continue
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


def _last(body: Node) -> Node:
    """The last statement of a loop's body."""
    return body.kids[-1] if body.kind == "block" and body.kids else body


def _leaves_one_warp(statement: Node, walk: Lockstep) -> bool:
    """`if (tid >= 32) return;`: after it one warp is left."""
    if statement.kind != "if" or len(statement.kids) > 2:
        return False
    then = statement.kids[1]
    only = then.kids[0] if then.kind == "block" and len(then.kids) == 1 else then
    condition = unwrapped(statement.kids[0])
    if only.kind != "return" or condition.kind != "binary":
        return False
    opposite = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "!=": "=="}.get(condition.text)
    if opposite is None:
        return False
    return walk._one_warp(Node("binary", condition.first, condition.last, opposite, condition.kids))


def candidates(bodies: Bodies) -> Iterator[Function]:
    """Functions that may rely on lockstep: they know the warp's size or `volatile`, and touch shared memory twice."""
    tokens = bodies.tokens
    for function in bodies.functions:
        inside = frozenset(tokens.texts[function.head.begin : function.head.end])
        knows = "volatile" in inside or ("__shared__" in inside and _knows_width(inside))
        if knows and _exchanges(bodies, function):
            yield function


_HINTS = frozenset({"32", "31", "32u", "31u", "0x1f", "0x1F", "5", "64", "16"})


def _knows_width(texts: frozenset[str]) -> bool:
    return not _HINTS.isdisjoint(texts) or any("warp" in text.lower() or text == "WS" for text in texts)


def _exchanges(bodies: Bodies, function: Function) -> bool:
    """Whether, by the tokens alone, an element is written and another statement touches the array before a barrier."""
    tokens = bodies.tokens
    texts = tokens.texts
    first, last = (function.head.body or function.head.begin) + 1, function.head.end
    seen: dict[str, tuple[int, str]] = {}
    statement = 0
    for index in range(first, last):
        text = texts[index]
        if text == ";":
            statement += 1
        elif _stops(text):
            seen.clear()
        elif text == "[" and tokens.kinds[index - 1] == "i" and index in tokens.partner:
            base = texts[index - 1]
            how = _access_kind(tokens, index)
            before = seen.get(base)
            if before is not None and before[0] != statement and (before[1] != how or how == "rw"):
                return True
            if how == "rw" and not _barrier_follows(tokens, index, last):
                return True
            seen[base] = (statement, how if before is None or before[0] != statement else _both(before[1], how))
    return False


def _stops(text: str) -> bool:
    """Whether a name is a barrier's."""
    return "sync" in text or "SYNC" in text or "barrier" in text.lower() or text.startswith("__threadfence")


def _access_kind(tokens: Tokens, bracket: int) -> str:
    """`w`, `r` or `rw` for the access whose index opens at a bracket; outer dimensions are skipped."""
    after = tokens.partner[bracket] + 1
    while tokens.texts[after : after + 1] == ["["] and after in tokens.partner:
        after = tokens.partner[after] + 1
    follow = tokens.texts[after] if after < len(tokens) else ""
    if follow == "=":
        return "w"
    return "rw" if len(follow) > 1 and follow[-1] == "=" and follow not in ("==", "!=", "<=", ">=") else "r"


def _both(one: str, two: str) -> str:
    return one if one == two else "rw"


def _barrier_follows(tokens: Tokens, index: int, last: int) -> bool:
    """Whether the next statement after the one around a token is a barrier, closing braces skipped."""
    while index < last and tokens.texts[index] != ";":
        index += 1
    while index < last and tokens.texts[index] in (";", "}"):
        index += 1
    return index < last and _stops(tokens.texts[index])
