"""Finds loops that wait for another thread."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from porter.warp.bodies import Bodies, Function
from porter.warp.flow import flow_of
from porter.warp.spread import UNIFORM, Spread
from porter.warp.tree import EMPTY, Node, calls, names, unwrapped

_LOCKS = frozenset({"atomicCAS", "atomicExch", "atomicCAS_block", "atomicExch_block", "atomicCAS_system"})
_POLLS = frozenset(
    [
        "atomicAdd",
        "atomicOr",
        "atomicMax",
        "atomicSub",
        "atomicAnd",
        "atomicXor",
        "__ldcg",
        "__ldcv",
        "__ldvolatile",
        "load",
        "ld_acquire",
        "load_acquire",
        "ld_acquire_gpu",
        "ldAcquire",
        "volatile_load",
        "try_wait",
        "test_wait",
        "test",
    ]
)
_IDLE = frozenset(
    [
        "__nanosleep",
        "__threadfence",
        "__threadfence_block",
        "__threadfence_system",
        "__syncwarp",
        "syncwarp",
        "__builtin_amdgcn_s_sleep",
    ]
)


class Waits(enum.Enum):
    """For whom a loop waits."""

    LOCK = "lock"
    FLAG = "flag"
    SHARED_FLAG = "shared flag"


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


class Spins:
    """The waiting loops of one function."""

    def __init__(self, bodies: Bodies, function: Function) -> None:
        self.function = function
        self.flow = flow_of(bodies, function)
        self.shared = self.flow.shared
        self.volatile = {n for n, t in function.parameter_types.items() if "volatile" in t.split()}
        self.pointers = {n for n, t in function.parameter_types.items() if "*" in t}

    def find(self) -> Iterator[Spin]:
        """In the order of the text."""
        yield from self._below(self.function.body, ())

    def _below(self, node: Node, guards: tuple[Node, ...]) -> Iterator[Spin]:
        if node.kind == "if":
            yield from self._below(node.kids[1], (*guards, node.kids[0]))
            for other in node.kids[2:]:
                yield from self._below(other, guards)
            return
        if node.kind in ("while", "do", "for"):
            waits = self._waits(node)
            if waits is not None:
                one_thread, one_lane = any(map(self._one_thread, guards)), any(map(self._one_lane, guards))
                yield Spin(node, waits, one_thread, one_lane, self._polled_spread(node))
                return
        for kid in node.kids:
            yield from self._below(kid, guards)

    def _waits(self, loop: Node) -> Waits | None:
        condition, body = _parts(loop)
        idle = self._idle_body(body, condition)
        exit_condition = _breaking(body)
        if exit_condition is not None and _constant_true(condition):
            condition, idle = exit_condition, True
        if not idle:
            return None
        tested = (condition, *_assigned_from(body))
        for node in tested:
            for call in calls(node):
                name = call.callee.rpartition("::")[2].rpartition(".")[2]
                if name in _LOCKS:
                    return Waits.LOCK if self._is_lock(call, loop) else None
                if name in _POLLS and _compares(condition):
                    return self._flag(call)
        return self._polled(condition, body)

    def _polled_spread(self, loop: Node) -> Spread:
        """How the polled address differs between threads, the loop's own variables left out."""
        condition, body = _parts(loop)
        changed = {unwrapped(n.kids[0]).text for n in loop.walk() if n.kind == "assign"}
        found = {name for node in (condition, body) for name in names(node)} - changed
        values = [self.flow.final.get(name, UNIFORM).spread for name in found]
        if "threadIdx" in found:
            values.append(Spread.LANE)
        return max(values, default=Spread.BLOCK)

    def _flag(self, call: Node) -> Waits:
        return Waits.FLAG if self.shared.isdisjoint(names(call)) else Waits.SHARED_FLAG

    def _is_lock(self, call: Node, loop: Node) -> bool:
        """Whether the new value is none that the loop computes: a lock, and no update by compare-and-swap."""
        assigned = {unwrapped(n.kids[0]).text for n in loop.walk() if n.kind == "assign"}
        return assigned.isdisjoint(names(call.arguments[-1])) if call.arguments else False

    def _polled(self, condition: Node, body: Node) -> Waits | None:
        """`while (flag[i] == 0);`: memory is read again and again, and nothing in the loop can change it."""
        changed = {unwrapped(n.kids[0]).text for n in body.walk() if n.kind == "assign"}
        for node in condition.walk():
            if node.kind in ("assign", "postfix") or (node.kind == "unary" and node.text in ("++", "--")):
                return None
            memory = node.kind == "index" or (node.kind == "unary" and node.text == "*")
            base = next(iter(names(node)), "") if memory else node.text if node.kind == "name" else ""
            is_flag = base in self.volatile or base in self.shared or (memory and base in self.pointers)
            is_flag |= memory and "volatile" in " ".join(n.text for n in node.walk() if n.kind == "cast")
            if is_flag and base not in changed and not changed & set(names(condition)):
                return Waits.SHARED_FLAG if base in self.shared else Waits.FLAG
        return None

    def _idle_body(self, body: Node, condition: Node) -> bool:
        """Whether the body does nothing but wait, or read again what the condition tests."""
        statements = body.kids if body.kind == "block" else (body,)
        tested = set(names(condition))
        for statement in statements:
            if statement.kind in ("empty", "asm") or (statement.kind == "jump" and statement.text == "continue"):
                continue
            if statement.kind == "statement" and len(statement.kids) == 1:
                inner = unwrapped(statement.kids[0])
                if inner.kind == "call" and inner.callee.rpartition("::")[2] in _IDLE:
                    continue
                if inner.kind == "assign" and unwrapped(inner.kids[0]).text in tested and _reads_only(inner):
                    continue
            return False
        return True

    def _one_thread(self, condition: Node) -> bool:
        return self._single(condition, "thread")

    def _one_lane(self, condition: Node) -> bool:
        return self._single(condition, "lane") or self._single(condition, "thread")

    def _single(self, condition: Node, role: str) -> bool:
        """`threadIdx.x == 0`, `lane == 0`, `!tid`."""
        condition = unwrapped(condition)
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


def _parts(loop: Node) -> tuple[Node, Node]:
    if loop.kind == "for":
        return loop.kids[1], loop.kids[3] if loop.kids[2].kind == "empty" else loop
    return (loop.kids[1], loop.kids[0]) if loop.kind == "do" else (loop.kids[0], loop.kids[1])


def _constant_true(condition: Node) -> bool:
    return condition is EMPTY or condition.text in ("true", "1")


def _breaking(body: Node) -> Node | None:
    """The condition of a body that is nothing but `if (...) break;`, with waiting around it."""
    statements = [s for s in (body.kids if body.kind == "block" else (body,)) if s.kind != "empty"]
    found: Node | None = None
    for statement in statements:
        if statement.kind == "if" and len(statement.kids) == 2 and found is None:
            then = statement.kids[1]
            only = then.kids[0] if then.kind == "block" and len(then.kids) == 1 else then
            if only.kind == "jump" and only.text == "break":
                found = statement.kids[0]
                continue
        if statement.kind == "statement" and any(call.callee.rpartition("::")[2] in _IDLE for call in calls(statement)):
            continue
        return None
    return found


def _assigned_from(body: Node) -> Iterator[Node]:
    return (node.kids[1] for node in body.walk() if node.kind == "assign")


def _reads_only(assign: Node) -> bool:
    """Whether an assignment in a waiting loop only reads memory again."""
    source = unwrapped(assign.kids[1])
    if assign.text != "=":
        return False
    if source.kind == "call":
        name = source.callee.rpartition("::")[2].rpartition(".")[2]
        return name in _POLLS or name in _LOCKS
    return source.kind == "index" or (source.kind == "unary" and source.text == "*")


def _compares(condition: Node) -> bool:
    condition = unwrapped(condition)
    return (condition.kind == "binary" and condition.text in ("==", "!=", "<", "<=", ">", ">=")) or (
        condition.kind in ("unary", "call", "name")
    )
