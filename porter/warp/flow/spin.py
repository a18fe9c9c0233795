"""Finds loops that wait for another thread."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from porter.cpp.lex import IDENTIFIER, STRING, Tokens
from porter.cpp.nodes import EMPTY, Node, calls, names, only, unwrapped
from porter.warp.bodies import Bodies, Function
from porter.warp.collectives import BARRIERS, collective
from porter.warp.flow.spread import UNIFORM, Spread
from porter.warp.flow.unit_walks import flow_of
from porter.warp.flow.waiting_loop import STEPS, Loop, jumping_back, parts_of
from porter.warp.flow.walk import Flow

_LOCKS = re.compile(r"atomic(?:CAS|Exch)(?:_block|_system)?|compare_exchange_(?:weak|strong)|exchange|test_and_set")
_POLLS = re.compile(
    r"atomic(?:Add|Or|Max|Sub|And|Xor|_load)(?:_block|_system)?|__ld(?:cg|cv|volatile)|load|test|(?:try|test)_wait"
    r"|(?:ld|load|read|poll)_?(?:acquire|acq|volatile|relaxed|strong)\w*|\w*volatile_?(?:load|ld|read)|ldAcquire"
)
_IDLE = re.compile(
    r"(?:\w*_)?(?:nano)?sleep(?:_\w+)?|back_?off|__threadfence(?:_block|_system)?|(?:__)?syncwarp|__builtin_amdgcn_s_sleep"
    r"|__builtin_assume"
)
_RELEASES = re.compile(r"(?:\w*_)?(?:un_?lock|release)\w*", re.IGNORECASE)
_MEETS = BARRIERS | {"porter::syncwarp", "__builtin_amdgcn_wave_barrier"}
_LOADING = re.compile(r"\bld\.[\w.]*(?:acquire|volatile|relaxed|\.c[gv]\b)|\batom\.")
_JUMPS_OUT = ("break", "goto")


class Waits(enum.Enum):
    """For whom a loop waits."""

    LOCK = "lock"
    FLAG = "flag"
    SHARED_FLAG = "shared flag"
    LEAVING = "lock whose winner leaves the loop"
    """The branch that wins the lock ends in a `break` or `return`: it stands behind the loop for the compiler."""
    TAKING_TURNS = "lock whose winner stays in the loop"
    """A flag ends the loop, so that the winner releases the lock before the next try."""


@dataclass(frozen=True, slots=True)
class Spin:
    """One waiting loop."""

    loop: Node
    waits: Waits
    one_thread: bool
    """Whether at most one thread of the block is in it."""
    one_lane: bool
    """Whether at most one lane of each logical warp is in it."""
    spread: Spread = Spread.BLOCK
    """How the place that is polled differs between threads."""
    winner: Node = EMPTY
    """The branch that takes a lock, uses it and gives it back."""


class Spins:
    """The waiting loops of one function."""

    def __init__(self, bodies: Bodies, function: Function) -> None:
        self.bodies = bodies
        self.function = function

    @cached_property
    def volatile(self) -> frozenset[str]:
        """Parameters and variables that are read anew each time."""
        types = self.function.parameter_types
        found = {name for name, written in types.items() if "volatile" in written.split()}
        for node in self.function.declarations:
            if "volatile" in node.text.split():
                found |= {kid.text for kid in node.kids}
        return _volatile_variables(self.bodies.tokens) | found

    @cached_property
    def pointers(self) -> frozenset[str]:
        """Parameters that are pointers."""
        return frozenset(name for name, written in self.function.parameter_types.items() if "*" in written)

    @cached_property
    def flow(self) -> Flow:
        """The walk over the function; made when a loop looks as if it waited."""
        return flow_of(self.bodies, self.function)

    @cached_property
    def shared(self) -> set[str]:
        """Variables of the block; without one declared, the walk need not be made for them."""
        return self.flow.shared if any("__shared__" in word for word in self.function.words) else set()

    def find(self) -> Iterator[Spin]:
        """In the order of the text."""
        guards = () if self.function.is_kernel else self._common_guards()
        yield from self._below(self.function.body, guards)

    def _common_guards(self) -> tuple[Node, ...]:
        """`threadIdx.x == 0` where every call of a device function in this file stands below such a condition."""
        guarded: list[Node] = []
        for caller in self.bodies.callers(self.function.name):
            if caller == self.function or not self.bodies.is_own(caller):
                continue
            there = Spins(self.bodies, caller)
            for guards in there.guards_of(caller.body, self.function.name, ()):
                single = next(filter(there._one_thread, guards), None)
                if single is None:
                    return ()
                guarded.append(single)
        return (Node("guard", 0, 0),) if guarded else ()

    def guards_of(self, node: Node, name: str, guards: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
        """The conditions around each call of a function."""
        if node.kind == "call" and _bare(node) == name:
            yield guards
        if node.kind == "if":
            yield from self.guards_of(node.kids[0], name, guards)
            yield from self.guards_of(node.kids[1], name, (*guards, node.kids[0]))
            for other in node.kids[2:]:
                yield from self.guards_of(other, name, guards)
            return
        for kid in node.kids:
            yield from self.guards_of(kid, name, guards)

    def _below(self, node: Node, guards: tuple[Node, ...]) -> Iterator[Spin]:
        if node.kind == "if":
            yield from self._below(node.kids[1], (*guards, node.kids[0]))
            for other in node.kids[2:]:
                yield from self._below(other, guards)
            return
        loops = (node,) if node.kind in ("while", "do", "for") else jumping_back(node, self.bodies.tokens.texts)
        for loop in loops:
            parts = parts_of(loop)
            waits, winner = self._waits(parts), EMPTY
            if waits is None:
                waits, winner = self._taken_inside(parts)
            if waits is not None:
                one_thread, one_lane = any(map(self._one_thread, guards)), any(map(self._one_lane, guards))
                yield Spin(loop, waits, one_thread, one_lane, self._polled_spread(parts), winner)
                if loop is node:
                    return
        for kid in node.kids:
            yield from self._below(kid, guards)

    # What a loop waits for

    def _waits(self, loop: Loop) -> Waits | None:
        if not all(map(self._idle, loop.statements)):
            return None
        for node in loop.tested:
            for call in calls(node):
                name = _bare(call)
                if _LOCKS.fullmatch(name) and call.arguments:
                    return Waits.LOCK if not loop.moves(call) and not _updates(call) else None
                if self.polls(name) and not loop.moves(call) and any(map(_compares, loop.exits)):
                    return self._flag(call)
        return self._polled(loop)

    def _polled_spread(self, loop: Loop) -> Spread:
        """How the polled address differs between threads, the loop's own variables left out."""
        found = {name for node in (loop.condition, loop.body) for name in names(node)} - loop.changed.keys()
        values = [self.flow.final.get(name, UNIFORM).spread for name in found]
        if "threadIdx" in found:
            values.append(Spread.LANE)
        return max(values, default=Spread.BLOCK)

    def _flag(self, call: Node) -> Waits:
        return Waits.FLAG if self.shared.isdisjoint(names(call)) else Waits.SHARED_FLAG

    def polls(self, name: str) -> bool:
        """Whether a function reads memory that others write, by its name or by its assembly."""
        if _POLLS.fullmatch(name):
            return True
        if name not in self.bodies.by_name:
            return False
        known = cast("dict[str, bool]", self.bodies.tokens.memo.setdefault(Spins, {}))
        if name not in known:
            known[name] = any(self._loads(node) for f in self.bodies.by_name[name] for node in f.body.walk())
        return known[name]

    def _loads(self, node: Node) -> bool:
        if node.kind != "asm":
            return False
        tokens = self.bodies.tokens
        places = range(node.first, min(node.last + 1, len(tokens)))
        return any(tokens.kinds[place] == STRING and _LOADING.search(tokens.texts[place]) for place in places)

    def _polled(self, loop: Loop) -> Waits | None:
        """`while (flag[i] == 0);`: memory is read again and again, and nothing in the loop can change it."""
        read = {name for condition in loop.exits for name in names(condition)}
        for node in loop.statements:
            if self._loads(node) and node.kids and read & set(names(node.kids[0])):
                return Waits.FLAG
        if any(self._steps(condition) for condition in loop.exits) or self._counts(loop, read):
            return None
        for tested in loop.tested:
            for node in tested.walk():
                base = self._flag_memory(node)
                if base and base not in loop.changed and not loop.moves(node):
                    return Waits.SHARED_FLAG if base in self.shared else Waits.FLAG
        return None

    def _counts(self, loop: Loop, read: set[str]) -> bool:
        """Whether the loop itself moves something that its exits read, other than by reading memory again."""
        values = (value for name in read for value in loop.changed.get(name, ()))
        return not all(any(map(self._flag_memory, value.walk())) for value in values)

    @staticmethod
    def _steps(condition: Node) -> bool:
        return any(n.kind in ("assign", "postfix") or (n.kind == "unary" and n.text in STEPS) for n in condition.walk())

    def _flag_memory(self, node: Node) -> str:
        """The name through which an expression reads memory that other threads may write; empty for none."""
        memory = node.kind == "index" or (node.kind == "unary" and node.text == "*")
        base = next(iter(names(node)), "") if memory else node.text if node.kind == "name" else ""
        is_flag = base in self.volatile or base in self.shared or (memory and base in self.pointers)
        is_flag |= memory and any("volatile" in below.text for below in node.walk() if below.kind == "cast")
        return base if is_flag else ""

    def _idle(self, statement: Node) -> bool:
        """Whether a statement of a loop only waits, reads memory again, or counts in a variable of its own."""
        if statement.kind in ("empty", "asm") or (statement.kind == "jump" and statement.text in ("continue", "break")):
            return True
        if statement.kind == "block":
            return all(map(self._idle, statement.kids))
        if statement.kind == "if":
            return all(self._idle(kid) or _gives_up(kid) for kid in statement.kids[1:])
        if statement.kind == "declaration":
            return all(kid.initial is None or self._only_reads(kid.initial) for kid in statement.kids)
        if statement.kind != "statement" or len(statement.kids) != 1:
            return False
        inner = unwrapped(statement.kids[0])
        if inner.kind == "call":
            return _IDLE.fullmatch(_bare(inner)) is not None
        if inner.kind == "assign" and unwrapped(inner.kids[0]).kind == "name":
            return unwrapped(inner.kids[0]).text not in self.shared and self._only_reads(inner.kids[1])
        is_step = inner.kind == "postfix" or (inner.kind == "unary" and inner.text in STEPS)
        return is_step and unwrapped(inner.kids[0]).kind == "name"

    def _only_reads(self, source: Node) -> bool:
        return all(
            _LOCKS.fullmatch(name) or _PURE.fullmatch(name) or self.polls(name) for name in map(_bare, calls(source))
        )

    def _taken_inside(self, loop: Loop) -> tuple[Waits | None, Node]:
        """A lock that is taken, used and given back within one pass of the loop, and the statement that does so."""
        for place, statement in enumerate(loop.statements):
            if self._passes_losers_on(statement, loop, loop.statements[place + 1 :]):
                return Waits.LEAVING, statement
            for branch in _branches(statement):
                lock = self._lock_of(branch.kids[0], loop)
                side = next((s for s in branch.kids[1:] if lock is not None and _releases(s, lock)), None)
                if side is None:
                    continue
                if _leaves(side):
                    return Waits.LEAVING, statement
                sets = {unwrapped(n.kids[0]).text for n in side.walk() if n.kind == "assign"}
                ends = {name for condition in loop.exits for name in names(condition)}
                turns = bool(sets & ends) and not _meets(loop)
                return (Waits.TAKING_TURNS, statement) if turns else (None, EMPTY)
        return None, EMPTY

    def _passes_losers_on(self, statement: Node, loop: Loop, after: tuple[Node, ...]) -> bool:
        """`if (atomicExch(lock, 1) != 0) continue;` before what the winner does, which then ends the loop."""
        if statement.kind != "if" or len(statement.kids) != 2 or only(statement.kids[1]).text != "continue":
            return False
        lock = self._lock_of(statement.kids[0], loop)
        rest = Node("block", 0, 0, kids=after)
        if lock is None or not _releases(rest, lock):
            return False
        sets = {unwrapped(n.kids[0]).text for n in rest.walk() if n.kind == "assign"}
        return _leaves(rest) or any(sets & set(names(condition)) for condition in loop.exits)

    def _lock_of(self, condition: Node, loop: Loop) -> Node | None:
        """The locking call that a condition tests, in its own text or through a variable set in the loop."""
        values = [value for name in names(condition) for value in loop.changed.get(name, ())]
        for node in (condition, *values):
            for call in calls(node):
                if _LOCKS.fullmatch(_bare(call)) and call.arguments and unwrapped(call.arguments[-1]).kind == "number":
                    return call
        return None

    # Who waits

    def _one_thread(self, condition: Node) -> bool:
        return self._single(condition, "thread")

    def _one_lane(self, condition: Node) -> bool:
        return self._single(condition, "lane") or self._single(condition, "thread")

    def _single(self, condition: Node, role: str) -> bool:
        """`threadIdx.x == 0`, `lane == 0`, `!tid`."""
        condition = unwrapped(condition)
        if condition.kind == "guard":
            return True
        values = self.flow.final
        if condition.kind == "binary" and condition.text in ("&&", "and"):
            return any(self._single(kid, role) for kid in condition.kids)
        if condition.kind == "unary" and condition.text == "!":
            return self.flow.evaluate(condition.kids[0], values).role == role
        if condition.kind == "binary" and condition.text == "==":
            left, right = (self.flow.evaluate(kid, values) for kid in condition.kids)
            number, other = (left, right) if left.spread is Spread.LANE else (right, left)
            ranked = any("rank" in call.callee for call in calls(condition))
            return (number.role == role or (ranked and role == "thread")) and other.spread is Spread.BLOCK
        return False


def _volatile_variables(tokens: Tokens) -> frozenset[str]:
    """Variables at file scope: `volatile __device__ int arrived = 0;`"""
    known = tokens.memo.get(_volatile_variables)
    if known is None:
        found: set[str] = set()
        for index in tokens.names.get("volatile", ()):
            end = next((i for i in range(index, min(index + _LONGEST, len(tokens))) if tokens.texts[i] in _ENDINGS), 0)
            if end and tokens.kinds[end - 1] == IDENTIFIER and next(tokens.braces_around(index), None) is None:
                found.add(tokens.texts[end - 1])
        known = tokens.memo[_volatile_variables] = frozenset(found)
    return cast("frozenset[str]", known)


_LONGEST = 12
_ENDINGS = frozenset({";", "=", "[", "{", "(", ")", ","})


def _gives_up(statement: Node) -> bool:
    """Whether a branch of a waiting loop ends the kernel: who waited too long."""
    return any(_ENDS.fullmatch(_bare(call)) for call in calls(statement))


_ENDS = re.compile(r"(?:porter::)?(?:__)?trap|__builtin_trap|assert|abort|__assert_fail")
_PURE = re.compile(r"min|max|isnan|__\w+_as_\w+")


def _updates(call: Node) -> bool:
    """`compare_exchange_weak(old, f(old))`: a try that fails learns what it has to start from."""
    if not _bare(call).startswith("compare_exchange") or len(call.arguments) < 2:
        return False
    return not set(names(call.arguments[0])).isdisjoint(names(call.arguments[1]))


def _bare(call: Node) -> str:
    """A callee's name without namespaces and objects."""
    callee = call.kids[0]
    return callee.text if callee.kind == "member" else call.callee.rpartition("::")[2]


def _branches(node: Node) -> Iterator[Node]:
    """The branches below a node that stand in no loop of their own."""
    if node.kind == "if":
        yield node
    if node.kind not in ("for", "while", "do", "range", "lambda"):
        for kid in node.kids:
            yield from _branches(kid)


def _leaves(side: Node) -> bool:
    """Whether a branch leaves the loop around it; a loop inside keeps its own `break`."""
    if side.kind == "return" or (side.kind == "jump" and side.text in _JUMPS_OUT):
        return True
    return side.kind not in ("for", "while", "do", "switch", "lambda") and any(map(_leaves, side.kids))


def _releases(side: Node, lock: Node) -> bool:
    """Whether a branch gives a lock back: an exchange or a store through the same name, or a call that says so."""
    owner = set(names(lock.kids[0])) if lock.kids[0].kind == "member" else set(names(lock.arguments[0]))
    for node in side.walk():
        if node.kind == "call":
            atomic = _bare(node).startswith(("atomic", "store", "clear", "exchange"))
            if (atomic and owner & set(names(node))) or _RELEASES.fullmatch(_bare(node)):
                return True
        if (
            node.kind == "assign"
            and unwrapped(node.kids[0]).kind in ("index", "unary")
            and owner & set(names(node.kids[0]))
        ):
            return True
    return False


def _meets(loop: Loop) -> bool:
    """Whether all lanes come by an operation of the whole warp in each pass: the compiler then keeps the loop whole."""
    found = [call for node in (loop.condition, *loop.statements) if node.kind != "if" for call in calls(node)]
    return any(call.callee in _MEETS or collective(call) is not None for call in found)


def _compares(condition: Node) -> bool:
    condition = unwrapped(condition)
    if condition.kind == "binary" and condition.text in ("&&", "||"):
        return any(map(_compares, condition.kids))
    return (condition.kind == "binary" and condition.text in ("==", "!=", "<", "<=", ">", ">=")) or (
        condition.kind in ("unary", "call", "name")
    )
