"""Finds shared memory that the lanes of a warp hand to each other with no barrier in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from porter.cpp.constants import WARP
from porter.cpp.nodes import Node, calls, names, only, stands_in, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import BARRIERS, collective
from porter.warp.flow.accesses import Access, Accesses, element_macros
from porter.warp.flow.linear import Linear, linear, stride
from porter.warp.flow.short_barriers import short_steps
from porter.warp.flow.spread import THREAD, UNIFORM, Spread, Value
from porter.warp.flow.unit_walks import flow_of
from porter.warp.flow.walk import Flow
from porter.warp.function import Function

_FENCES = BARRIERS | {"__threadfence", "__threadfence_block", "__threadfence_system", "__syncwarp", "syncwarp", "sync"}
_SYNCS = frozenset({"sync", "barrier"})
_LARGEST_GUARD = 64

Guards = tuple[Node, ...]
"""Conditions that all hold where a statement stands."""


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
    """One walk over one function; whether the guards of a place let only one warp by is asked when accesses meet."""

    def __init__(
        self, bodies: Bodies, function: Function, given: frozenset[str] = frozenset(), *, strict: bool = False
    ) -> None:
        self.strict = strict
        """Whether any two accesses of which one writes conflict, whatever their indices."""
        self.bodies = bodies
        self.function = function
        self.given = given
        self.gaps: dict[int, Gap] = {}
        self._shared = Accesses(bodies, function, given)
        self.handed: set[tuple[str, int]] = set()
        """Functions that are handed shared memory where lanes of one warp run, and as which argument."""
        self.open = False
        """Whether accesses through a parameter are left at the end, for the next call to conflict with."""
        self._limiting: dict[int, tuple[Node, bool]] = {}

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """What is known of the variables; computed when two accesses have to be compared."""
        return _values(self.bodies, self.function, bool(self._shared.given or self._shared.volatile))

    @cached_property
    def steps(self) -> frozenset[str]:
        """Loop variables that start at a step within a warp."""
        return _steps(self.bodies, self.function)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All that the function does to shared memory."""
        return self._shared.below(self._body) if self._shared.names else ()

    @cached_property
    def _body(self) -> Node:
        """The statements, those of macros that touch elements in the places of the macros."""
        return element_macros(self.bodies).body(self.function)

    def is_volatile(self, base: str) -> bool:
        """Whether a pointer or an array is volatile."""
        return base in self._shared.volatile

    def find(self) -> tuple[Gap, ...]:
        """All places where a barrier is missing, in the order of the text."""
        if self._shared.names:
            pending = _Pending()
            self._block(self._body, (), pending)
            self.open = any(access.base in self.function.parameters for access, _ in pending.accesses)
        return tuple(gap for _, gap in sorted(self.gaps.items()))

    def _block(self, node: Node, guards: Guards, pending: _Pending) -> None:
        """The statements of a block one after the other."""
        for statement in node.kids:
            self._step(statement, guards, pending, alone=False)
            if (stays := _condition_of_those_left(statement)) is not None:
                guards = (*guards, stays)

    def _step(self, statement: Node, guards: Guards, pending: _Pending, alone: bool) -> None:
        """One statement against what came before it; afterwards it is what came before."""
        self._meets(statement, guards, pending)
        if statement.kind == "block":
            self._block(statement, guards, pending)
            return
        if statement.kind == "if":
            self._if(statement, guards, pending)
            return
        if statement.kind in ("for", "while", "do", "range", "macroloop"):
            self._loop(statement, guards, pending)
            return
        if statement.kind == "switch":
            self._switch(statement, guards, pending)
            return
        if self._is_fence(statement):
            pending.accesses.clear()
            return
        new = self._shared.below(statement)
        self.handed |= {(a.handed, a.place) for a in new if a.handed and self._limited(a, guards)}
        pending.accesses += [(access, statement) for access in new]

    def _if(self, node: Node, guards: Guards, pending: _Pending) -> None:
        inside = (*guards, node.kids[0])
        before = list(pending.accesses)
        known = frozenset(map(id, before))
        after: list[tuple[Access, Node]] = []
        fenced = True
        for branch in node.kids[1:]:
            inner = _Pending(list(before))
            self._step(branch, inside, inner, alone=True)
            fenced &= bool(before) and known.isdisjoint(map(id, inner.accesses))
            after += [(item[0], node) for item in inner.accesses if id(item) not in known]
        if len(node.kids) < 3 or not fenced:
            after = before + after
        pending.accesses[:] = after

    def _switch(self, node: Node, guards: Guards, pending: _Pending) -> None:
        """The cases, each behind what was before or behind the one that falls through to it."""
        before = list(pending.accesses)
        inner, after = _Pending(list(before)), list(before)
        for statement in node.kids[1].kids:
            if statement.kind == "jump" or statement.kind == "return":
                after += (item for item in inner.accesses if item not in after)
                inner = _Pending([])
            elif statement.kind == "label":
                inner.accesses[:0] = [item for item in before if item not in inner.accesses]
            else:
                self._step(statement, guards, inner, alone=False)
        pending.accesses[:] = [*after, *(item for item in inner.accesses if item not in after)]

    def _loop(self, node: Node, guards: Guards, pending: _Pending) -> None:
        body = node.kids[0] if node.kind == "do" else node.kids[-1]
        inner = _Pending(list(pending.accesses))
        if node.kind == "range":
            inner.accesses += ((access, node) for access in self._shared.all_of(node.kids[1]))
        self._step(body, guards, inner, alone=True)
        if inner.accesses:
            self._around(body, guards, inner)
        if any(gap.statement is _last(body) for gap in self.gaps.values()):
            pending.accesses.clear()
            return
        before = frozenset(map(id, pending.accesses))
        kept = [item for item in inner.accesses if id(item) in before]
        pending.accesses[:] = [*kept, *((item[0], node) for item in inner.accesses if id(item) not in before)]

    def _around(self, body: Node, guards: Guards, pending: _Pending) -> None:
        """The end of a loop's body against the start of its next round."""
        last = _last(body)
        early = list(self._until_fence(body))
        for access, origin in pending.accesses:
            inside = (*guards, origin.kids[0]) if origin.kind == "if" and len(origin.kids) == 2 else guards
            if any(self._conflict(access, other, inside) for other in early):
                self._gap(last, body.kind != "block", access.base)
                return

    def _until_fence(self, node: Node) -> Iterator[Access]:
        """The accesses of a loop's body up to its first barrier."""
        statements = node.kids if node.kind == "block" else (node,)
        for statement in statements:
            if self._is_fence(statement):
                return
            yield from self._shared.below(statement)

    def _meets(self, statement: Node, guards: Guards, pending: _Pending) -> None:
        """Puts a barrier after the last statement whose accesses this one conflicts with."""
        new = list(self._immediate(statement)) if pending.accesses else []
        place: tuple[Access, Node] | None = None
        for access, origin in pending.accesses:
            if any(
                self._conflict(access, other, guards) or self._publishes(access, origin, other, guards) for other in new
            ):
                place = (access, origin)
        if place is not None:
            self._gap(place[1], False, place[0].base)
            pending.accesses.clear()

    def _immediate(self, statement: Node) -> Iterator[Access]:
        """The accesses of a statement itself: of a branch or loop, those of its condition."""
        if statement.kind in ("if", "while", "switch"):
            yield from self._shared.below(statement.kids[0])
        elif statement.kind == "for":
            yield from (access for kid in statement.kids[:2] for access in self._shared.below(kid))
        elif statement.kind == "range":
            yield from self._shared.all_of(statement.kids[1])
        elif statement.kind not in ("block", "do", "macroloop") and not self._is_fence(statement):
            yield from self._shared.below(statement)

    def _gap(self, statement: Node, alone: bool, base: str) -> None:
        self.gaps.setdefault(statement.last, Gap(statement, alone, base))

    def _is_fence(self, statement: Node) -> bool:
        """Whether a statement is, or surely comes to, a barrier for the compiler."""
        if statement.kind == "asm":
            return True
        if statement.kind in ("if", "for", "while", "switch"):
            return False
        if self._fencing and any(call.callee in self._fencing for call in calls(statement)):
            return True
        if not stands_in(statement, _fence_places(self.bodies)):
            return False
        if not self.bodies.macros.meeting.isdisjoint(names(statement)):
            return True
        for call in calls(statement):
            found = collective(call)
            name = call.callee.rpartition("::")[2]
            if (found is not None and found.kind == "sync") or name.endswith(".sync") or _names_fence(name):
                return True
            if not _SYNCS.isdisjoint(self.bodies.operations.reach.get(name, ())) and self._surely_waits(name):
                return True
        return False

    @cached_property
    def _fencing(self) -> frozenset[str]:
        """Variables that hold a lambda with such a barrier in no branch: `auto meet = [&] { __syncthreads(); };`."""
        self.__dict__["_fencing"] = frozenset()  # for lambdas that call others
        found = set()
        for variable in (kid for node in self.function.declarations for kid in node.kids):
            value = unwrapped(variable.initial) if variable.initial is not None else variable
            if value.kind == "lambda" and value.kids and any(map(self._is_fence, value.kids[0].kids)):
                found.add(variable.text)
        return frozenset(found)

    def _surely_waits(self, name: str) -> bool:
        """Whether a function of a header has its barrier in no branch: its callers in other files cannot see which."""
        known = cast("dict[str, bool]", self.bodies.memo.setdefault("surely waits", {}))
        if name not in known:
            known[name] = False  # for functions that call themselves, or an overload
            functions = self.bodies.by_name.get(name, ())
            known[name] = not any(short_steps(self.bodies, one) for one in functions) and all(
                self.bodies.is_own(one) or any(map(self._is_fence, one.body.kids)) for one in functions
            )
        return known[name]

    def _conflict(self, old: Access, new: Access, guards: Guards) -> bool:
        """Whether one lane may read or overwrite what another lane wrote, or write what another lane read."""
        if old.base != new.base or old.outer != new.outer:
            return False
        if old.writes == new.writes:
            return old.writes and self._overwrites(old, new, guards)
        if self.strict:
            return True
        if old.handed or new.handed:
            return self._limited(old, guards)
        difference = new.sum.minus(old.sum)
        if difference.is_constant and difference.constant == 0:
            return False
        step = stride(old.sum if old.writes else new.sum, self.values)
        if step is None:
            return self._limited(old, guards)
        if step == 0:
            return False
        if difference.is_constant:
            apart = abs(difference.constant)
            return apart >= abs(step) and (apart < WARP * abs(step) or self._limited(old, guards))
        if self._moves_within_warp(difference) or self._flips_lane_bit(old, new) or self._flips_lane_bit(new, old):
            return True
        return self._limited(old, guards)

    def _publishes(self, old: Access, origin: Node, new: Access, guards: Guards) -> bool:
        """Whether some lanes write what all lanes of the warp read: `if (lane == 0) s[warp] = v; w = s[warp];`.

        The compiler may read ahead for the lanes that do not write, before the others have written.
        """
        if not old.writes or new.writes or old.base != new.base or old.outer != new.outer or self.is_volatile(old.base):
            return False
        if old.handed or new.handed or new.sum.minus(old.sum) != Linear({}, 0) or stride(old.sum, self.values) != 0:
            return False
        if self.values.get(old.base, UNIFORM).spread is Spread.LANE:
            return False
        known = [self._written(guard) for guard in guards]
        parting = (one for one in _conditions(origin, old.index) if self._written(one) not in known)
        return any(self._term(condition).spread is Spread.LANE for condition in parting)

    def _written(self, node: Node) -> list[str]:
        return self.bodies.tokens.texts[node.first : node.last + 1]

    def _overwrites(self, old: Access, new: Access, guards: Guards) -> bool:
        """Whether lanes write each other's elements, the later statement last: `s[i - 16] = 0; s[i] = v;`.

        Only a constant distance matters: where it is none the compiler keeps the order for fear of one element.
        """
        apart = new.sum.minus(old.sum)
        if old.handed or new.handed or not apart.is_constant or not apart.constant:
            return False
        step = abs(stride(old.sum, self.values) or 0)
        return (
            step > 0 and apart.constant % step == 0 and abs(apart.constant) < WARP * step and self._limited(old, guards)
        )

    def _limited(self, access: Access, guards: Guards) -> bool:
        """Whether only lanes of one warp come to an element: of another warp's nobody speaks without a barrier."""
        if "warp" in self.function.name.lower() or access.base in self._shared.volatile or self._per_warp(access):
            return True
        if access.base in self._shared.given:
            return True
        return any(map(self._one_warp, guards))

    def _per_warp(self, access: Access) -> bool:
        """Whether each warp has a row of its own: `s[warp][lane]`, `s[warp * 32 + lane]`."""
        found = (*access.outer, *access.sum.terms)
        return any(self.values.get(name, UNIFORM).role == "warp" for name in found) or access.base in self._rows

    @cached_property
    def _rows(self) -> frozenset[str]:
        """Pointers to a warp's own part, and objects that keep one: `float *mine = all + warp * 32`."""
        found: set[str] = set()
        for node in self.function.declarations:
            for variable in node.kids:
                first = variable.initial if variable.text in self._shared.names else None
                if first is not None and (self._names_warp(first) or not found.isdisjoint(names(first))):
                    found.add(variable.text)
        return frozenset(found)

    def _names_warp(self, node: Node) -> bool:
        return any(below.kind in ("name", "binary") and self._term(below).role == "warp" for below in node.walk())

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
        known = self._limiting.get(id(condition))
        if known is None:
            known = self._limiting[id(condition)] = (condition, self._lets_one_warp_by(unwrapped(condition)))
        return known[1]

    def _lets_one_warp_by(self, condition: Node) -> bool:
        if condition.kind != "binary":
            return False
        if condition.text in ("&&", "and"):
            return any(self._one_warp(kid) for kid in condition.kids)
        left, right = (self._term(kid) for kid in condition.kids)
        limit = unwrapped(condition.kids[1])
        if "lane" in (left.role, right.role):
            return True
        if condition.text in (">", ">="):
            left, right, limit = right, left, unwrapped(condition.kids[0])
        if condition.text in ("<", "<=", ">", ">="):
            bound = right.constant
            is_short = limit.kind == "name" and limit.text in short_steps(self.bodies, self.function)
            return left.role == "thread" and (is_short or (bound is not None and 0 < bound <= _LARGEST_GUARD))
        if condition.text == "==":
            return "warp" in (left.role, right.role)
        return False

    def _term(self, node: Node) -> Value:
        return Flow(self.bodies, self.function, self.values, _recording=False).evaluate(node, self.values)


def lockstep_walks(
    bodies: Bodies, functions: Iterable[Function], known: Mapping[Function, frozenset[str]]
) -> Iterator[tuple[Function, Lockstep, tuple[Gap, ...]]]:
    """The functions to look at and those that they hand a warp's shared memory to, each with its walk and its gaps.

    `known`: further functions, with the parameters that are handed so.
    """
    found: dict[Function, frozenset[str]] = {**dict.fromkeys(functions, frozenset()), **known}
    walks: dict[Function, tuple[Lockstep, tuple[Gap, ...]]] = {}
    waiting = list(found)
    while waiting:
        function = waiting.pop()
        walk = Lockstep(bodies, function, found[function])
        walks[function] = (walk, walk.find())
        for name, place in walk.handed:
            for callee in bodies.by_name.get(name, ()):
                given = found.get(callee, frozenset()) | frozenset(
                    callee.parameters[place : place + 1] if place >= 0 else ()
                )
                if callee not in found or given != found[callee]:
                    found[callee] = given
                    waiting.append(callee)
    return ((function, *walks[function]) for function in found)


def _fence_places(bodies: Bodies) -> list[int]:
    """The tokens that may name a barrier for the compiler, in order."""
    known = bodies.memo.get("fences")
    if known is None:
        tokens, reach = bodies.tokens, bodies.operations.reach
        named = {name for name in tokens.names if _names_fence(name) or not _SYNCS.isdisjoint(reach.get(name, ()))}
        named |= bodies.macros.meeting & tokens.names.keys()
        known = bodies.memo["fences"] = sorted(index for name in named for index in tokens.names[name])
    return cast("list[int]", known)


def _names_fence(name: str) -> bool:
    return name in _FENCES or "SYNC" in name or "BARRIER" in name.upper()


def _values(bodies: Bodies, function: Function, exchanges: bool) -> Mapping[str, Value]:
    """What is known of the variables; in a helper for exchanges, or that nobody calls, integers index by thread."""
    values = flow_of(bodies, function).final
    called = not exchanges and any(map(bodies.is_own, bodies.callers(function.name)))
    if function.is_kernel or called:
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


def _conditions(node: Node, inside: Node) -> Iterator[Node]:
    """The conditions between a statement and something in it."""
    for kid in node.kids:
        if kid.first <= inside.first <= kid.last:
            if node.kind == "if" and kid is not node.kids[0]:
                yield node.kids[0]
            yield from _conditions(kid, inside)


_STEPS = frozenset({1, 2, 4, 8, 16, 32})


def _shifts(step: Node) -> bool:
    return any(node.kind == "assign" and node.text in (">>=", "<<=", "/=", "*=") for node in step.walk())


def _last(body: Node) -> Node:
    """The last statement of a loop's body."""
    return body.kids[-1] if body.kind == "block" and body.kids else body


def _condition_of_those_left(statement: Node) -> Node | None:
    """`tid < 32` after `if (tid >= 32) return;`: what holds for the threads that go on."""
    if statement.kind != "if" or len(statement.kids) > 2:
        return None
    condition = unwrapped(statement.kids[0])
    if only(statement.kids[1]).kind != "return" or condition.kind != "binary":
        return None
    opposite = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "!=": "=="}.get(condition.text)
    if opposite is None:
        return None
    return Node("binary", condition.first, condition.last, opposite, condition.kids)
