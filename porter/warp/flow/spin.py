"""Finds loops that wait for another thread."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from porter.cpp.asm import said
from porter.cpp.nodes import EMPTY, Node, bare_callee, calls, names, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import BARRIERS, collective
from porter.warp.flow.alone import GUARD, Alone, opposite
from porter.warp.flow.assembled import FAR_LOAD
from porter.warp.flow.expansion import RELEASES, Expansion
from porter.warp.flow.polled_memory import PolledMemory, volatile_names
from porter.warp.flow.possible_waits import PossibleWaits
from porter.warp.flow.signalled import arrives_first, signals_first
from porter.warp.flow.spread import UNIFORM, Spread
from porter.warp.flow.waiting_loop import STEPS, Loop, leaps_back, parts_of
from porter.warp.flow.walk import Flow
from porter.warp.function import Function

_LOCKS = re.compile(
    r"(?:__iA|a)tomic(?:CAS|Exch)(?:_block|_system)?|(?:atomic_)?compare_exchange_(?:weak|strong)(?:_explicit)?"
    r"|(?:atomic_)?exchange(?:_explicit)?|(?:atomic_flag_)?test_and_set(?:_explicit)?"
    r"|__atomic_(?:exchange|compare_exchange|test_and_set)(?:_n)?|__sync_(?:lock_test_and_set|(?:bool|val)_compare_and_swap)"
    r"|[tT]ry_?[lL]ock|[tT]ry_?[aA]cquire"
)
_TRIES = re.compile(r"[tT]ry_?(?:[lL]ock|[aA]cquire)")
"""An attempt at a lock by a function of the project's that is not in sight, or not read."""
_POLLS = re.compile(
    r"atomic(?:Add|Or|Max|Min|Sub|And|Xor|Inc|_load(?:_explicit)?)(?:_block|_system)?|__ld(?:cg|cv|volatile|_system)|load|test"
    r"|(?:try|test)_wait(?:_parity)?|__atomic_load(?:_n)?"
    r"|(?:ld|load|read|poll)_?(?:acquire|acq|volatile|relaxed|strong)\w*|\w*volatile_?(?:load|ld|read)|ldAcquire"
)
_IDLE = re.compile(
    r"(?:\w*_)?(?:nano)?sleep(?:_\w+)?|back_?off|__threadfence(?:_block|_system)?|(?:__)?syncwarp|__builtin_amdgcn_s_sleep"
    r"|__builtin_assume"
)
_MEETS = BARRIERS | {"porter::syncwarp", "__builtin_amdgcn_wave_barrier"}
_LOADING = re.compile(r"\bld\.[\w.]*(?:acquire|volatile|relaxed|\.c[gv]\b)|\batom\.")
_IN_MACROS = frozenset({"while", "for", "do", "goto"})
_JUMPS_OUT = ("break", "goto")
_DEEPEST = 4
"""Callers followed to the conditions around their calls."""


class Waits(enum.Enum):
    """For whom a loop waits."""

    LOCK = "lock"
    FLAG = "flag"
    FAR_FLAG = "flag of another device or of the host"
    SHARED_FLAG = "shared flag"
    ASKED = "what a functor of the caller says"
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
    callee: str = ""
    """The function of a header that the loop stands in, which is called here."""
    signals_first: bool = False
    """Whether each lane has set what others wait for before it waits itself."""

    @property
    def is_in_macro(self) -> bool:
        """Whether a macro has the whole loop, so that nothing can be put into it here."""
        return (self.loop.first, self.loop.last) == (self.winner.first, self.winner.last)


class Spins:
    """The waiting loops of one function."""

    def __init__(self, bodies: Bodies, function: Function) -> None:
        self.bodies = bodies
        self.function = function
        self.expansion = expansion_of(bodies)
        self.alone = Alone(bodies, function)

    @cached_property
    def memory(self) -> PolledMemory:
        """What the function reads anew each time."""
        return PolledMemory(self.bodies, self.function, self.shared)

    @property
    def flow(self) -> Flow:
        """The walk over the function."""
        return self.alone.flow

    @cached_property
    def shared(self) -> set[str]:
        """Variables of the block; without one declared, the walk need not be made for them."""
        return self.flow.shared if any("__shared__" in word for word in self.function.words) else set()

    def may_wait(self) -> bool:
        """Whether, by its words and loops, the function may wait for something, be it in a macro or a helper."""
        words = self.function.words
        if self._may_ask(words):
            return True
        if not self.expansion.may_come(self.function):
            return False
        waiting, locking = _waits_and_locks(self.bodies)
        if not words.isdisjoint(_WAITING | waiting):
            return True
        if words.isdisjoint(_LOOPING):
            return False
        lambdas = self.expansion.lambdas_in(self.function.body)
        loops = PossibleWaits(lambda name: name in lambdas or self._may_idle(name))
        return loops.stand_in(self.function.body, locks=not words.isdisjoint(locking))

    def _may_ask(self, words: frozenset[str]) -> bool:
        """Whether a loop of a template may ask a functor that the caller hands it."""
        if words.isdisjoint(_LOOPING) or not self.function.type_parameters:
            return False
        return not words.isdisjoint(self.function.parameters) and bool(self._functors & self.function.called)

    @cached_property
    def _functors(self) -> frozenset[str]:
        types = self.function.parameter_types
        kinds = self.function.type_parameters
        return frozenset(name for name, written in types.items() if not kinds.isdisjoint(re.findall(r"\w+", written)))

    def _may_idle(self, name: str) -> bool:
        return name in self.expansion.names or any(one.fullmatch(name) for one in (_IDLE, _POLLS, _LOCKS, _PURE))

    def find(self) -> Iterator[Spin]:
        """In the order of the text."""
        found = list(self._below(self.expansion.body(self.function), ()))
        if any(map(_TRIES.fullmatch, self.function.called | self.function.called_members)):
            found = self._tried(found)
        if found and not self.function.is_kernel and self._common_guards(_DEEPEST):
            found = [replace(spin, one_thread=True, one_lane=True) for spin in found]
        yield from found

    def _tried(self, found: list[Spin]) -> list[Spin]:
        """What is found with the attempts at locks taken by their names, whatever they do inside; else as it was."""
        locks = (Waits.LOCK, Waits.LEAVING, Waits.TAKING_TURNS)
        tried = [spin for spin in self._below(self.function.body, ()) if spin.waits in locks]
        places = {spin.loop.first for spin in tried}
        others = [spin for spin in found if spin.loop.first not in places]
        return sorted((*tried, *others), key=lambda spin: spin.loop.first)

    def _common_guards(self, depth: int) -> tuple[Node, ...]:
        """`threadIdx.x == 0` where every call of a device function in sight stands below such a condition."""
        found = False
        for caller in self.bodies.callers(self.function.name):
            if caller == self.function:
                continue
            there = Spins(self.bodies, caller)
            for guards in there.guards_of(caller.body, self.function.name, ()):
                if not any(map(there.alone.one_thread, guards)):
                    around = depth > 0 and not caller.is_kernel and there._common_guards(depth - 1)
                    if not around:
                        return ()
                found = True
        return (GUARD,) if found else ()

    def guards_of(self, node: Node, name: str, guards: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
        """The conditions around each call of a function."""
        if node.kind == "call" and bare_callee(node) == name:
            yield guards
        for kid, around in _guarded(node, guards):
            yield from self.guards_of(kid, name, around)

    def _below(self, node: Node, guards: tuple[Node, ...]) -> Iterator[Spin]:
        loops: tuple[Node, ...] = (node,) if node.kind in ("while", "do", "for") else ()
        if node.kind == "block" and "goto" in self.bodies.tokens.names:
            loops = leaps_back(node, self.bodies.tokens.texts)
        for loop in loops:
            parts = parts_of(loop)
            waits, winner = self._waits(parts), EMPTY
            if waits is None:
                waits, winner = self._taken_inside(parts)
            if waits is Waits.SHARED_FLAG and arrives_first(self.expansion.body(self.function), parts):
                continue
            if waits is not None:
                one_thread, one_lane = any(map(self.alone.one_thread, guards)), any(map(self.alone.one_lane, guards))
                first = waits is Waits.FLAG and signals_first(self.bodies, self.expansion.body(self.function), parts)
                yield Spin(loop, waits, one_thread, one_lane, self._polled_spread(parts), winner, signals_first=first)
                if loop is node:
                    return
        if node.kind == "call":
            yield from self._called(node, guards)
        for kid, around in _guarded(node, guards):
            yield from self._below(kid, around)

    def _called(self, call: Node, guards: tuple[Node, ...]) -> Iterator[Spin]:
        """A call that waits, or that calls what waits in a header."""
        waits, name = self._blocks(call), bare_callee(call)
        inner = [Spin(call, waits, False, False)] if waits is not None else []
        if name in self.expansion.names:
            inner += self._in_header(name, len(call.arguments))
        if inner:
            one_thread, one_lane = any(map(self.alone.one_thread, guards)), any(map(self.alone.one_lane, guards))
            for spin in inner:
                alone = spin.one_thread or one_thread, spin.one_lane or one_lane
                callee = name if spin.loop is not call else ""
                yield Spin(call, spin.waits, *alone, spin.spread, EMPTY, callee, spin.signals_first)

    def _in_header(self, name: str, count: int) -> list[Spin]:
        """The waits of a function of a header; where a barrier helps, its own port has one."""
        found: list[Spin] = []
        for function in self.bodies.by_name.get(name, ()):
            if self.bodies.is_own(function) or not function.fewest <= count <= len(function.parameters):
                continue
            key = (Spins, function.head.begin)
            if key not in self.bodies.memo:
                self.bodies.memo[key] = ()  # a function that calls itself
                there = Spins(self.bodies, function)
                waits = list(there._below(self.expansion.body(function), ())) if there.may_wait() else []
                self.bodies.memo[key] = tuple(spin for spin in waits if spin.waits is not Waits.TAKING_TURNS)
            found += cast("tuple[Spin, ...]", self.bodies.memo[key])
        return found

    # What a loop waits for

    def _blocks(self, call: Node) -> Waits | None:
        """`a.wait(0)` of an atomic object, `s.acquire()` of a semaphore: calls that are loops."""
        callee = call.kids[0]
        if callee.kind != "member" or callee.text not in ("wait", "acquire"):
            return None
        base = next(names(callee), "")
        if callee.text == "wait":
            return Waits.FLAG if base in self.memory.atomic else None
        return Waits.LOCK if base in self.memory.semaphores else None

    def _waits(self, loop: Loop) -> Waits | None:
        if not all(map(self._idle, loop.statements)) or loop.is_counted:
            return None
        for node in loop.tested:
            for call in calls(node):
                name = bare_callee(call)
                if _LOCKS.fullmatch(name) and (call.arguments or call.kids[0].kind == "member"):
                    return None if loop.moves(call) or self._updates(call) else Waits.LOCK
                if self.polls(name) and not loop.moves(call) and any(map(_compares, loop.decisions)):
                    return self._flag(call, loop)
        return self._polled(loop) or self._asked(loop)

    def _asked(self, loop: Loop) -> Waits | None:
        """`while (!done()) sleep();` of a functor, which is asked the same in each round."""
        asked = {bare_callee(call) for condition in loop.decisions for call in calls(condition)}
        read = {name for condition in loop.decisions for name in names(condition)}
        if asked.isdisjoint(self._functors) or not read.isdisjoint(loop.changed):
            return None
        return None if any(map(self._steps, loop.decisions)) else Waits.ASKED

    def _updates(self, call: Node) -> bool:
        """A try that starts from what the memory holds: `compare_exchange_weak(old, f(old))`, `atomicCAS(p, *p, v)`."""
        name, arguments = bare_callee(call), call.arguments
        if "xchg" in name or "compare" in name:
            given = arguments if call.kids[0].kind == "member" else arguments[1:]
            return len(given) > 1 and not set(names(given[0])).isdisjoint(names(given[1]))
        if "CAS" not in name.upper() or len(arguments) < 3:
            return False
        return any(node.kind == "index" or _is_read(node) or _computes(node) for node in arguments[1].walk())

    def _polled_spread(self, loop: Loop) -> Spread:
        """How the polled address differs between threads, the loop's own variables left out; threads that meet in each
        round leave together."""
        if any(bare_callee(call) in BARRIERS for call in calls(loop.node)):
            return Spread.BLOCK
        found = {name for node in (loop.condition, loop.body) for name in names(node)} - loop.changed.keys()
        values = [self.flow.final.get(name, UNIFORM).spread for name in found]
        if "threadIdx" in found:
            values.append(Spread.LANE)
        return max(values, default=Spread.BLOCK)

    def _flag(self, call: Node, loop: Loop) -> Waits:
        if any(bare_callee(other) == FAR_LOAD for other in calls(loop.node)):
            return Waits.FAR_FLAG
        return Waits.FLAG if self.shared.isdisjoint(names(call)) else Waits.SHARED_FLAG

    def polls(self, name: str) -> bool:
        """Whether a function reads memory that others write, by its name or by its assembly."""
        if _POLLS.fullmatch(name):
            return True
        if name not in self.expansion.names or name not in self.bodies.by_name:
            return False
        known = cast("dict[str, bool]", self.bodies.memo.setdefault(Spins, {}))
        if name not in known:
            known[name] = any(self._loads(node) for f in self.bodies.by_name[name] for node in f.body.walk())
        return known[name]

    def _loads(self, node: Node) -> bool:
        return node.kind == "asm" and _LOADING.search(said(self.bodies.tokens, node.first)) is not None

    def _polled(self, loop: Loop) -> Waits | None:
        """`while (flag[i] == 0);`: memory is read again and again, and nothing in the loop can change it."""
        read = {name for condition in loop.decisions for name in names(condition)}
        for node in loop.statements:
            if self._loads(node) and node.kids and read & set(names(node.kids[0])):
                return Waits.FAR_FLAG if ".sys" in said(self.bodies.tokens, node.first) else Waits.FLAG
        if any(self._steps(condition) for condition in loop.decisions) or self._counts(loop, read):
            return None
        for tested in loop.tested:
            for node, base in self.memory.read(tested):
                if base not in loop.changed and not loop.moves(node):
                    return Waits.SHARED_FLAG if base in self.shared else Waits.FLAG
        return None

    def _counts(self, loop: Loop, read: set[str]) -> bool:
        """Whether the loop itself moves something that its exits read, other than by reading memory again."""
        values = (value for name in read for value in loop.changed.get(name, ()))
        return not all(
            value.kind == "number" or value.text in _TRUTHS or any(map(self.memory.name_of, value.walk()))
            for value in values
        )

    def _steps(self, condition: Node) -> bool:
        """Whether a condition moves something on, other than by reading memory again."""
        return any(
            n.kind == "postfix"
            or (n.kind == "unary" and n.text in STEPS)
            or (n.kind == "assign" and not any(map(self.memory.name_of, n.kids[1].walk())))
            for n in condition.walk()
        )

    def _idle(self, statement: Node) -> bool:
        """Whether a statement of a loop only waits, reads memory again, or counts in a variable of its own."""
        if statement.kind in ("empty", "asm", "jump", "label"):
            return True
        if statement.kind == "block":
            return all(map(self._idle, statement.kids))
        if statement.kind == "if":
            return all(self._idle(kid) or _gives_up(kid) for kid in statement.kids[1:])
        if statement.kind == "switch":
            return self._idle(statement.kids[1])
        if statement.kind == "declaration":
            return all(kid.initial is None or self._only_reads(kid.initial) for kid in statement.kids)
        return statement.kind == "statement" and len(statement.kids) == 1 and self._is_idle_value(statement.kids[0])

    def _is_idle_value(self, node: Node) -> bool:
        inner = unwrapped(node)
        if inner.kind == "comma":
            return all(map(self._is_idle_value, inner.kids))
        if inner.kind == "call":
            return _IDLE.fullmatch(bare_callee(inner)) is not None
        if inner.kind == "assign" and unwrapped(inner.kids[0]).kind == "name":
            return unwrapped(inner.kids[0]).text not in self.shared and self._only_reads(inner.kids[1])
        is_step = inner.kind == "postfix" or (inner.kind == "unary" and inner.text in STEPS)
        return is_step and unwrapped(inner.kids[0]).kind == "name"

    def _only_reads(self, source: Node) -> bool:
        return all(
            _LOCKS.fullmatch(name) or _PURE.fullmatch(name) or _IDLE.fullmatch(name) or self.polls(name)
            for name in map(bare_callee, calls(source))
        )

    def _taken_inside(self, loop: Loop) -> tuple[Waits | None, Node]:
        """A lock that is taken, used and given back within one pass of the loop, and the statement that does so."""
        for place, statement in enumerate(() if loop.is_counted else loop.statements):
            if self._passes_losers_on(statement, loop, loop.statements[place + 1 :]):
                return Waits.LEAVING, statement
            for branch in _branches(statement):
                lock = self._lock_of(branch.kids[0], loop)
                side = next((s for s in branch.kids[1:] if lock is not None and _releases(s, lock)), None)
                if lock is None or side is None:
                    continue
                if _leaves(side) or _falls_out(loop):
                    return Waits.LEAVING, statement
                sets = set(_set_in(side)) | self._taken_into(lock, loop) | set(_set_in(branch.kids[0]))
                sets |= set(_handed_in(side))
                ends = {name for condition in loop.decisions for name in names(condition)}
                turns = bool(sets & ends) and not _meets(loop)
                return (Waits.TAKING_TURNS, statement) if turns else (None, EMPTY)
        return None, EMPTY

    def _taken_into(self, lock: Node, loop: Loop) -> set[str]:
        """Variables that the loop sets to whether the lock was won."""
        return {name for name, values in loop.changed.items() if any(n is lock for v in values for n in v.walk())}

    def _passes_losers_on(self, statement: Node, loop: Loop, after: tuple[Node, ...]) -> bool:
        """`if (atomicExch(lock, 1) != 0) continue;` before what the winner does, which then ends the loop."""
        if statement.kind != "if" or len(statement.kids) != 2 or not self._goes_on(statement.kids[1]):
            return False
        lock = self._lock_of(statement.kids[0], loop)
        rest = Node("block", 0, 0, kids=after)
        if lock is None or not _releases(rest, lock):
            return False
        own = _set_in(loop.node.kids[2]) if loop.node.kind == "for" else ()  # losers take the step of a `for`, too
        sets = set(_set_in(rest)) - set(own)
        return _leaves(rest) or any(sets & set(names(condition)) for condition in loop.exits)

    def _goes_on(self, statement: Node) -> bool:
        """Whether a branch does nothing but go on with the next round."""
        last = statement.kids[-1] if statement.kind == "block" and statement.kids else statement
        return last.kind == "jump" and last.text == "continue" and self._idle(statement)

    def _lock_of(self, condition: Node, loop: Loop) -> Node | None:
        """The locking call that a condition tests, in its own text or through a variable set in the loop."""
        values = [value for name in names(condition) for value in loop.changed.get(name, ())]
        for node in (condition, *values):
            for call in calls(node):
                name = bare_callee(call)
                taken = call.arguments and self._is_constant(call.arguments[-1])
                if _LOCKS.fullmatch(name) and (taken or _TRIES.fullmatch(name)):
                    return call
        return None

    def _is_constant(self, node: Node) -> bool:
        return unwrapped(node).kind == "number" or self.bodies.constants.value(node) is not None


def expansion_of(bodies: Bodies) -> Expansion:
    """The bodies of a file with the macros and helpers put in that wait, or by which others do."""
    known = bodies.memo.get(Expansion)
    if known is None:
        named = bodies.tokens.names
        telling = {name for name in named if _LOCKS.fullmatch(name) or _POLLS.fullmatch(name)}
        telling |= _TELLING & named.keys()
        telling |= frozenset().union(*volatile_names(bodies.tokens))
        known = bodies.memo[Expansion] = Expansion(bodies, frozenset(telling), _IN_MACROS)
    return cast(Expansion, known)


def _waits_and_locks(bodies: Bodies) -> tuple[frozenset[str], frozenset[str]]:
    """What stands for a loop or for what waits in a header, and the words that lead to locks."""
    known = bodies.memo.get(_waits_and_locks)
    if known is None:
        expansion, texts = expansion_of(bodies), bodies.tokens.texts
        locks = frozenset(filter(_LOCKS.fullmatch, bodies.tokens.names))
        loops = {
            name
            for name, macros in bodies.constants.macros.items()
            if any(not _LOOPING.isdisjoint(texts[macro.first : macro.last]) for macro in macros)
        }
        loops |= {f.name for f in bodies.all_functions if not bodies.is_own(f) and not _LOOPING.isdisjoint(f.words)}
        waits = expansion.leading_to(loops & expansion.names)
        known = bodies.memo[_waits_and_locks] = waits, locks | expansion.leading_to(locks)
    return cast("tuple[frozenset[str], frozenset[str]]", known)


_TELLING = frozenset({"volatile", "asm", "__asm__", "__asm", "wait", "acquire"})
_LOOPING = frozenset({"while", "for", "do", "goto", "wait", "acquire"})
_WAITING = frozenset({"goto", "wait", "acquire"})
_TRUTHS = ("true", "false")


def _guarded(node: Node, guards: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """What stands in a node, with the conditions under which it is reached."""
    if node.kind == "if":
        yield node.kids[0], guards
        yield node.kids[1], (*guards, node.kids[0])
        for other in node.kids[2:]:
            yield other, (*guards, opposite(node.kids[0]))
    elif node.kind == "block":
        for kid in node.kids:
            yield kid, guards
            if kid.kind == "if" and len(kid.kids) == 2 and _returns(kid.kids[1]):
                guards = (*guards, opposite(kid.kids[0]))
    else:
        for kid in node.kids:
            if kid.kids:
                yield kid, guards


def _returns(statement: Node) -> bool:
    last = statement.kids[-1] if statement.kind == "block" and statement.kids else statement
    return last.kind == "return"


def _handed_in(node: Node) -> Iterator[str]:
    """Variables whose address a call is handed: `construct(allocator, &popped, value, true);`."""
    for call in calls(node):
        for argument in map(unwrapped, call.arguments):
            if argument.kind == "unary" and argument.text == "&" and unwrapped(argument.kids[0]).kind == "name":
                yield unwrapped(argument.kids[0]).text


def _set_in(node: Node) -> Iterator[str]:
    """Variables that something below a node gives a value."""
    for below in node.walk():
        if below.kind in ("assign", "postfix") or (below.kind == "unary" and below.text in STEPS):
            yield unwrapped(below.kids[0]).text


def _is_read(node: Node) -> bool:
    return node.kind == "unary" and node.text == "*"


def _computes(node: Node) -> bool:
    """Whether a call may come to anything: `T(0)` does not."""
    return node.kind == "call" and any(unwrapped(argument).kind != "number" for argument in node.arguments)


def _gives_up(statement: Node) -> bool:
    """Whether a branch of a waiting loop ends the kernel: who waited too long."""
    return any(_ENDS.fullmatch(bare_callee(call)) for call in calls(statement))


_ENDS = re.compile(r"(?:porter::)?(?:__)?trap|__builtin_trap|assert|abort|__assert_fail")
_PURE = re.compile(r"min|max|isnan|__\w+_as_\w+")


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


def _falls_out(loop: Loop) -> bool:
    """Whether who comes to the end of a round leaves the loop."""
    return bool(loop.statements) and loop.statements[-1].kind == "jump" and loop.statements[-1].text == "break"


def _releases(side: Node, lock: Node) -> bool:
    """Whether a branch gives a lock back: an exchange or a store through the same name, or a call that says so."""
    of = lock.kids[0].kids[0] if lock.kids[0].kind == "member" else lock.arguments[0]
    owner, place = set(names(of)), _place(of)
    for node in side.walk():
        if node.kind == "call":
            atomic = bare_callee(node).startswith(("atomic", "store", "clear", "exchange", "__atomic", "__sync"))
            if (atomic and owner & set(names(node))) or RELEASES.fullmatch(bare_callee(node)):
                return True
        if node.kind == "assign" and unwrapped(node.kids[0]).kind in ("index", "unary", "member"):
            target = _place(node.kids[0])
            if target[0] == place[0] and (target[1] == place[1] or not place[1]):
                return True
    return False


def _place(node: Node) -> tuple[str, str]:
    """The first name of a place in memory and the member that it is: `&spots[n].lock`, `lock[i]`."""
    member = next((below.text for below in node.walk() if below.kind == "member"), "")
    return next(names(node), ""), member


def _meets(loop: Loop) -> bool:
    """Whether all lanes come by an operation of the whole warp in each pass: the compiler then keeps the loop whole."""
    found = [call for node in (loop.condition, *loop.statements) if node.kind != "if" for call in calls(node)]
    return any(call.callee in _MEETS or collective(call) is not None for call in found)


def _compares(condition: Node) -> bool:
    condition = unwrapped(condition)
    if condition.kind == "comma":
        return _compares(condition.kids[-1])
    return condition.kind in ("binary", "unary", "call", "name", "ternary", "declaration")
