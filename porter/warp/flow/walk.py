"""Walks a function and records in which control flow each warp-wide and block-wide operation stands."""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from porter.cpp.asm import said
from porter.cpp.constants import WARP
from porter.cpp.nodes import EMPTY, Node, calls, names, only, stands_in, unwrapped
from porter.warp.collectives import BARRIERS, EXCHANGES, argument, collective
from porter.warp.flow.assembled import as_number_of_thread
from porter.warp.flow.butterfly import butterflies
from porter.warp.flow.call_evaluation import CallEvaluation
from porter.warp.flow.events import Branch, Event, State
from porter.warp.flow.masks import Lanes, Mask, either
from porter.warp.flow.spread import PER_LANE, PER_WARP, THREAD, UNIFORM, Spread, Value, join, selected
from porter.warp.flow.waiting_loop import STEPS
from porter.warp.function import class_named
from porter.warp.operations import waits_for_block

_BROADCAST = re.compile(r"shfl\.sync\.idx\.b32\s+[^,]+,[^,]+,\s*\d+\s*,|redux\.sync|vote\.sync\.(?:any|all|ballot)")
"""Assembly that leaves the same in all lanes of a warp."""
_EXITS = re.compile(r"\bexit\s*;")
_PER_LANE_ASSEMBLY = re.compile(r"laneid|lanemask|%tid|shfl|match|elect|clock|globaltimer|ld\.|ldmatrix|mma|atom")


@dataclass
class Flow(CallEvaluation):
    """One walk over one function."""

    parameter_masks: Mapping[str, Mask] = field(default_factory=dict)
    """What the parameters hold as masks."""
    _barriers: dict[int, bool] = field(default_factory=dict)
    """Whether a statement of this body comes to a barrier, by its identity."""
    _storing: dict[int, bool] = field(default_factory=dict)
    """Whether an expression only stores, by its identity."""

    def run(self) -> Flow:
        """Walks the body."""
        state = State(dict(self.values), masks=self.parameter_masks)
        self._statement(self.function.body, state)
        self.final = state.values
        return self

    def _statement(self, node: Node, state: State) -> None:
        handler = _STATEMENTS.get(node.kind)
        if handler is not None:
            handler(self, node, state)
        elif node.kind not in ("empty", "opaque", "label"):
            self._value(node, state)

    def _block(self, node: Node, state: State) -> None:
        for kid in node.kids:
            self._statement(kid, state)

    def _declaration(self, node: Node, state: State) -> None:
        if "__shared__" in node.text:
            self.shared |= {variable.text for variable in node.kids}
            return
        for variable in node.kids:
            initial = variable.initial
            value = self._value(initial, state) if initial is not None else UNIFORM
            if initial is None:
                self._met.pop(variable.text, None)
            elif self._reduces(variable, initial, ""):
                value = PER_WARP
            if "&" in variable.extra and initial is not None and not self.shared.isdisjoint(names(initial)):
                self.shared.add(variable.text)
                continue
            if initial is not None and unwrapped(initial).kind == "lambda":
                if self._exchanges_all(initial, state):
                    self.lambdas.add(variable.text)
                if self._has_barrier(initial):
                    self.waiting.add(variable.text)
            if "constexpr" in node.text.split() and value.spread is Spread.BLOCK and value.constant is None:
                value = Value(fixed=True)
            if initial is not None and not _is_constant(node.text):
                value = Value(value.spread, value.role, None, value.fixed and value.constant is None)
            state.values[variable.text] = value
            if initial is not None:
                self._remember_mask(variable.text, initial, state)
        if self._built and class_named(node.text) in self._built:
            self._construct(node, state)

    @functools.cached_property
    def _built(self) -> frozenset[str]:
        """Classes in sight whose constructors or destructors come to an operation of the warp or block."""
        return self.bodies.operations.built_classes

    def _construct(self, node: Node, state: State) -> None:
        """Objects that are made here, and end with the block."""
        name = class_named(node.text)
        for variable in node.kids:
            if "*" in variable.extra or "&" in variable.extra:
                continue
            initial = variable.initial
            values = () if initial is None else initial.kids if initial.kind == "list" else (initial,)
            callee = Node("name", variable.first, variable.first, name)
            made = Node("call", variable.first, variable.last, kids=(callee, *values))
            self._record(Event("call", made, state.branches, state.exits, reaches=self.bodies.operations.reach[name]))

    def _exchanges_all(self, node: Node, state: State) -> bool:
        return any(
            found.kind in EXCHANGES
            and (mask := argument(call, found.mask)) is not None
            and self._mask(mask, state).lanes is not Lanes.SOME
            for call in calls(node)
            if (found := collective(call)) is not None
        )

    def _expression(self, node: Node, state: State) -> None:
        for kid in node.kids:
            if kid.kind == "call":
                self._call(kid, state, is_read=False)
            elif not self._only_stores(kid):
                self._value(kid, state)

    def _only_stores(self, node: Node) -> bool:
        """Whether a statement writes to memory and does nothing else: no variable hangs on it."""
        if node.kind != "assign":
            return False
        known = self._storing.get(id(node))
        if known is None:
            into = unwrapped(node.kids[0]).kind in ("index", "unary")
            known = self._storing[id(node)] = into and all(map(self._does_nothing, node.kids))
        return known

    def _does_nothing(self, node: Node) -> bool:
        """Whether an expression has a value only."""
        return all(
            below.kind in _VALUES
            and (below.kind != "name" or below.text not in self.bodies.constants.macros)
            and (below.kind != "unary" or below.text not in STEPS)
            for below in node.walk()
        )

    def _if(self, node: Node, state: State) -> None:
        condition = self._value(node.kids[0], state)
        both = all(self._has_barrier(kid) for kid in node.kids[1:]) and (len(node.kids) > 2 or self._meets_later(node))
        both_sync = len(node.kids) > 2 and self._syncs and all(map(_has_sync, node.kids[1:]))
        branch = Branch(node.kids[0], condition.spread, "if", both, both_sync)
        then = self._branch(node.kids[1], state, branch)
        other = self._branch(node.kids[2], state, branch) if len(node.kids) > 2 else None
        self._merge(state, condition.spread, then, other)
        if condition.spread is Spread.BLOCK and (rounded := self._rounded_up(node)):
            state.values[rounded] = Value(fixed=True)

    def _meets_later(self, node: Node) -> bool:
        """Whether one side of an `if` returns, and the other comes to a barrier behind it."""
        last = node.kids[1].kids[-1] if node.kids[1].kind == "block" and node.kids[1].kids else node.kids[1]
        places = self.bodies.operations.barrier_places
        return last.kind == "return" and bisect.bisect(places, node.last) < bisect.bisect(
            places, self.function.head.end
        )

    def _rounded_up(self, node: Node) -> str:
        """`if (n % 32) n += 32 - n % 32;`: the name of what is a multiple of a warp afterwards."""
        inside = only(node.kids[1])
        assign = inside.kids[0] if inside.kind == "statement" and len(inside.kids) == 1 else inside
        if len(node.kids) != 2 or assign.kind != "assign" or assign.text != "+=":
            return ""
        name, difference = unwrapped(assign.kids[0]).text, unwrapped(assign.kids[1])
        if difference.kind != "binary" or difference.text != "-":
            return ""
        whole, rest = self.bodies.constants.value(difference.kids[0]), unwrapped(difference.kids[1])
        aligned = whole is not None and whole > 0 and whole % WARP == 0
        return name if aligned and rest.kind == "binary" and rest.text == "%" and name in names(rest) else ""

    def _has_barrier(self, node: Node) -> bool:
        known = self._barriers.get(id(node))
        if known is None:
            if not stands_in(node, self.bodies.operations.barrier_places):
                return False
            name = node.callee.rpartition("::")[2] if node.kind == "call" else ""
            known = name in BARRIERS or (name != "" and "barrier" in self.bodies.operations.reach.get(name, ()))
            known = known or any(map(self._has_barrier, node.kids))
            self._barriers[id(node)] = known
        return known

    @functools.cached_property
    def _syncs(self) -> bool:
        return "__syncwarp" in self.function.called

    def _branch(self, body: Node, state: State, branch: Branch) -> State:
        inner = State(dict(state.values), (*state.branches, branch), state.exits, state.masks)
        self._statement(body, inner)
        return inner

    def _merge(self, state: State, spread: Spread, then: State, other: State | None) -> None:
        """Joins what the branches assigned; a choice made per lane spreads to what was chosen."""
        known = state.values
        after = other.values if other is not None else known
        touched = {name for name, value in then.values.items() if value is not known.get(name)}
        if other is not None:
            touched |= {name for name, value in after.items() if value is not known.get(name)}
        for name in touched:
            before = known.get(name, UNIFORM)
            one, two = then.values.get(name, before), after.get(name, before)
            if one != two or one != before:
                joined = join(one, two)
                widest = max(joined.spread, spread)
                kept = selected(joined.role, spread) if widest is joined.spread else ""
                state.values[name] = Value(widest, kept)
        state.exits = _with_new(state.exits, then.exits, other.exits if other is not None else ())
        if other is not None or then.masks is not state.masks:
            state.masks = _joined_masks(then.masks, state.masks if other is None else other.masks)

    def _loop(self, node: Node, state: State) -> None:
        start, condition, step, body, first = _loop_parts(node)
        if start is not EMPTY:
            self._statement(start, state)
        outer = state.exits
        recording, self._recording = self._recording, False
        for trial in range(2):
            if trial == 1:
                self._recording = recording
            if not recording and trial == 1:
                break
            self._round(state, condition, step, body, first)
        self._reduced(node, state)
        jumps = [e for e in state.exits if e not in outer and e.kind != "return"]
        state.exits = tuple(e for e in state.exits if e not in jumps)

    def _reduced(self, loop: Node, state: State) -> None:
        """What a butterfly leaves is the same in all lanes, where nothing but the variable itself goes into it."""
        if not self._crosses:
            return
        recording, self._recording = self._recording, False
        for found in butterflies(self.bodies.constants, loop):
            met = {**state.values, found.name: PER_WARP, found.exchanged: PER_WARP}
            if self._value(found.source, State(met, state.branches, state.exits, state.masks)).spread <= Spread.WARP:
                state.values[found.name] = PER_WARP
        self._recording = recording

    def _round(self, state: State, condition: Node, step: Node, body: Node, first: bool) -> None:
        """One pass through a loop; `continue` takes lanes away until the pass ends."""
        spread = Spread.BLOCK
        if condition is not EMPTY and not first:
            spread = self._value(condition, state).spread
        branch = Branch(condition, spread if not first else self._value(condition, state).spread, "loop")
        inner = self._branch(body, state, branch)
        if step is not EMPTY:
            self._value(step, inner)
        if first and condition is not EMPTY:
            self._value(condition, inner)
        inner.exits = tuple(e for e in inner.exits if not (e.kind == "jump" and e.text == "continue"))
        self._merge(state, Spread.BLOCK if branch.spread is Spread.BLOCK else branch.spread, inner, None)

    def _range(self, node: Node, state: State) -> None:
        state.values[node.kids[0].text] = self._value(node.kids[1], state)
        self._loop(Node("while", node.first, node.last, kids=(EMPTY, node.kids[2])), state)

    def _macro_loop(self, node: Node, state: State) -> None:
        """`CUDA_KERNEL_LOOP(i, n) { ... }`: the first argument counts over the threads of the grid."""
        call, body = node.kids
        tests = [m for m, test in self.bodies.macros.bodies.get(call.callee, ()) if _is_condition(test)]
        if tests:
            spread = max(self._value(kid, state).spread for kid in call.kids[1:]) if call.arguments else Spread.BLOCK
            inner = self._branch(body, state, Branch(call, spread, "if"))
            self._merge(state, spread, inner, None)
            return
        first = next(iter(call.arguments), None)
        if first is not None and first.kind == "name":
            state.values[first.text] = THREAD
        inner = self._branch(body, state, Branch(call, Spread.LANE, "loop"))
        self._merge(state, Spread.LANE, inner, None)

    def _switch(self, node: Node, state: State) -> None:
        condition = self._value(node.kids[0], state)
        sides = _cases(node.kids[1])
        both = _are_several(filter(self._has_barrier, sides))
        both_sync = self._syncs and _are_several(filter(_has_sync, sides))
        inner = self._branch(node.kids[1], state, Branch(node.kids[0], condition.spread, "if", both, both_sync))
        inner.exits = tuple(e for e in inner.exits if not (e.kind == "jump" and e.text == "break"))
        self._merge(state, condition.spread, inner, None)

    def _exit(self, node: Node, state: State) -> None:
        for kid in node.kids:
            value = self._value(kid, state)
            if node.kind == "return":
                choice = max((b.spread for b in state.branches), default=Spread.BLOCK)
                role = selected(value.role, choice)
                value = value if role == value.role else Value(value.spread)
                self.returned.append(value if choice <= value.spread else Value(choice))
        relevant = state.branches if node.kind == "return" else _inside_loop(state.branches)
        if any(branch.spread is Spread.LANE for branch in relevant):
            state.exits = (*state.exits, node)

    def _asm(self, node: Node, state: State) -> None:
        text = said(self.bodies.tokens, node.first)
        if (moved := as_number_of_thread(node, text)) is not None:
            self._expression(moved, state)
            return
        inputs = [self._value(kid, state) for kid in node.kids]
        if waits_for_block(text):
            self._record(Event("barrier", node, state.branches, state.exits))
        if _EXITS.search(text):
            self._exit(Node("return", node.first, node.last), state)
        written = self._assembled(text, inputs)
        for kid in node.kids:
            name = unwrapped(kid)
            if name.kind == "name" and name.text not in self.shared:
                state.values[name.text] = written

    def _assembled(self, text: str, operands: list[Value]) -> Value:
        """What assembly leaves in its outputs: the same for a warp when it is sent to all lanes from one."""
        if _BROADCAST.search(text):
            return PER_WARP
        if _PER_LANE_ASSEMBLY.search(text) or not operands:
            return PER_LANE
        return Value(max(operand.spread for operand in operands)) if len(operands) > 1 else PER_LANE


_STATEMENTS = {
    "block": Flow._block,
    "declaration": Flow._declaration,
    "statement": Flow._expression,
    "if": Flow._if,
    "for": Flow._loop,
    "while": Flow._loop,
    "do": Flow._loop,
    "range": Flow._range,
    "macroloop": Flow._macro_loop,
    "switch": Flow._switch,
    "return": Flow._exit,
    "jump": Flow._exit,
    "asm": Flow._asm,
}


_VALUES = frozenset({"number", "string", "name", "member", "unary", "binary", "ternary", "index", "cast"})


def _with_new(known: tuple[Node, ...], *others: tuple[Node, ...]) -> tuple[Node, ...]:
    """The exits that were known and those that branches add; branches begin with what was known."""
    added = [e for exits in others for e in (exits[len(known) :] if exits[: len(known)] == known else exits)]
    if not added:
        return known
    highest = max(map(attrgetter("first"), known), default=-1)
    return (*known, *(e for e in dict.fromkeys(added) if e.first > highest or e not in known))


def _joined_masks(then: Mapping[str, Mask], other: Mapping[str, Mask]) -> Mapping[str, Mask]:
    """What variables hold as masks behind two branches."""
    if then is other:
        return then
    joined = dict(other)
    for name, mask in then.items():
        known = joined.get(name)
        if known is not mask:
            joined[name] = mask if known is None else either((mask, known))
    return joined


def _is_condition(macro: Node) -> bool:
    """Whether a macro's text is a condition for what stands behind it: `#define IF(c) if (c)`."""
    return len(macro.kids) == 1 and macro.kids[0].kind == "if" and len(macro.kids[0].kids) == 2


def _is_constant(written_type: str) -> bool:
    return any(word in ("const", "constexpr") for word in written_type.split())


def _cases(body: Node) -> tuple[Node, ...]:
    """The statements of a `switch` from each group of labels to the next."""
    found: list[list[Node]] = [[]]
    for kid in body.kids:
        if kid.kind == "label" and kid.text in ("case", "default"):
            if found[-1]:
                found.append([])
        else:
            found[-1].append(kid)
    return tuple(Node("block", kids[0].first, kids[-1].last, kids=tuple(kids)) for kids in found if kids)


def _are_several(found: Iterable[Node]) -> bool:
    return len(tuple(itertools.islice(found, 2))) > 1


def _has_sync(node: Node) -> bool:
    return any(below.callee == "__syncwarp" for below in calls(node))


def _inside_loop(branches: tuple[Branch, ...]) -> tuple[Branch, ...]:
    """The branches inside the innermost loop: a `break` leaves that loop only."""
    last = max((place for place, branch in enumerate(branches) if branch.kind == "loop"), default=-1)
    return branches[last + 1 :]


def _loop_parts(node: Node) -> tuple[Node, Node, Node, Node, bool]:
    """Start, condition, step and body of a loop, and whether the body comes first."""
    if node.kind == "for":
        start, condition, step, body = node.kids
        return start, condition, step, body, False
    if node.kind == "do":
        return EMPTY, node.kids[1], EMPTY, node.kids[0], True
    return EMPTY, node.kids[0], EMPTY, node.kids[1], False
