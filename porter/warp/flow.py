"""Walks a function and records in which control flow each warp-wide and block-wide operation stands."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from porter.lex import STRING
from porter.warp.bodies import Bodies, Function
from porter.warp.collectives import (
    BARRIERS,
    COLLECTIVES,
    EXCHANGES,
    FULL,
    TILE_MEMBERS,
    TILES,
    Collective,
    argument,
    collective,
)
from porter.warp.constants import WARP, looks_like_warp_size
from porter.warp.events import Branch, Event, State
from porter.warp.spread import (
    PER_LANE,
    PER_WARP,
    THREAD,
    UNIFORM,
    Spread,
    Value,
    binary,
    by_name,
    join,
)
from porter.warp.tree import EMPTY, Node, names, spelled, unwrapped

_ROUNDED = re.compile(r"(?:pad|round|align|ceil)(?:ed)?", re.IGNORECASE)
"""Names of bounds that were rounded up so that all threads stay in a loop."""
_ROUNDS_UP = re.compile(r"(?:round|align|pad)_?(?:ed)?_?(?:up|to)", re.IGNORECASE)
"""Functions that round up, to whole warps as a rule."""
_BROADCAST = re.compile(r"shfl\.sync\.idx\.b32\s+[^,]+,[^,]+,\s*\d+\s*,|redux\.sync|vote\.sync\.(?:any|all|ballot)")
"""Assembly that leaves the same in all lanes of a warp."""
_PER_LANE_ASSEMBLY = re.compile(r"laneid|lanemask|%tid|shfl|match|elect|clock|globaltimer|ld\.|ldmatrix|mma|atom")
_DEEPEST = 4
"""Calls followed into callees."""


@dataclass
class Flow:
    """One walk over one function; `values` are the parameters' values."""

    bodies: Bodies
    function: Function
    values: Mapping[str, Value]
    depth: int = 0
    events: list[Event] = field(default_factory=list)
    calls: list[tuple[str, tuple[Value, ...]]] = field(default_factory=list)
    returned: list[Value] = field(default_factory=list)
    final: dict[str, Value] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    """Variables of the block: all threads read the same from them."""
    lambdas: set[str] = field(default_factory=set)
    """Variables that hold a lambda with an exchange of all lanes in it."""
    _recording: bool = True
    _barriers: dict[int, bool] = field(default_factory=dict)
    """Whether a statement of this body comes to a barrier, by its identity."""

    def run(self) -> Flow:
        """Walks the body."""
        state = State(dict(self.values))
        self._statement(self.function.body, state)
        self.final = state.values
        return self

    def evaluate(self, node: Node, values: Mapping[str, Value]) -> Value:
        """The value of an expression where variables hold what `values` says."""
        return self._value(node, State(dict(values)))

    @property
    def result(self) -> Value:
        """What the function returns."""
        return join(*self.returned) if self.returned else UNIFORM

    # Statements

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
            if "&" in variable.extra and initial is not None and not self.shared.isdisjoint(names(initial)):
                self.shared.add(variable.text)
                continue
            if initial is not None and unwrapped(initial).kind == "lambda" and self._exchanges_all(initial, state):
                self.lambdas.add(variable.text)
            if "constexpr" in node.text.split() and value.spread is Spread.BLOCK and value.constant is None:
                value = Value(fixed=True)
            if initial is not None and not _is_constant(node.text):
                value = Value(value.spread, value.role, None, value.fixed and value.constant is None)
            if _ROUNDED.search(variable.text) and value.spread is Spread.BLOCK:
                value = Value(fixed=True)
            state.values[variable.text] = value
            if initial is not None:
                self._remember_mask(variable.text, initial, state)

    def _exchanges_all(self, node: Node, state: State) -> bool:
        return any(
            found.kind in EXCHANGES
            and (mask := argument(call, found.mask)) is not None
            and not self._computed_mask(mask, state)
            for call in _calls(node)
            if (found := collective(call)) is not None
        )

    def _expression(self, node: Node, state: State) -> None:
        for kid in node.kids:
            self._value(kid, state)

    def _if(self, node: Node, state: State) -> None:
        if node.kids[0].kind == "declaration":
            self._statement(node.kids[0], state)
            condition = PER_LANE
        else:
            condition = self._value(node.kids[0], state)
        both = len(node.kids) > 2 and all(self._has_barrier(kid) for kid in node.kids[1:])
        both_sync = len(node.kids) > 2 and self._syncs and all(map(_has_sync, node.kids[1:]))
        branch = Branch(node.kids[0], condition.spread, "if", both, both_sync)
        then = self._branch(node.kids[1], state, branch)
        other = self._branch(node.kids[2], state, branch) if len(node.kids) > 2 else None
        self._merge(state, condition.spread, then, other)
        if condition.spread is Spread.BLOCK and (rounded := self._rounded_up(node)):
            state.values[rounded] = Value(fixed=True)

    def _rounded_up(self, node: Node) -> str:
        """`if (n % 32) n += 32 - n % 32;`: the name of what is a multiple of a warp afterwards."""
        only = node.kids[1].kids[0] if node.kids[1].kind == "block" and len(node.kids[1].kids) == 1 else node.kids[1]
        assign = only.kids[0] if only.kind == "statement" and len(only.kids) == 1 else only
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
            places = self.bodies.barrier_places
            place = bisect.bisect_left(places, node.first)
            if place == len(places) or places[place] > node.last:
                return False
            name = node.callee.rpartition("::")[2] if node.kind == "call" else ""
            known = name in BARRIERS or (name != "" and "barrier" in self.bodies.reach.get(name, ()))
            known = known or any(map(self._has_barrier, node.kids))
            self._barriers[id(node)] = known
        return known

    @functools.cached_property
    def _warp_tiles(self) -> frozenset[str]:
        """Variables and parameters that hold a tile of one whole warp."""
        found = {name for name, text in self.function.parameter_types.items() if _is_warp_tile(text)}
        if not TILES.isdisjoint(self.bodies.tokens.names):
            for node in self.function.declarations:
                is_tile = _is_warp_tile(node.text)
                found |= {kid.text for kid in node.kids if is_tile or self._makes_warp_tile(kid.initial)}
        return frozenset(found)

    def _makes_warp_tile(self, node: Node | None) -> bool:
        if node is None or node.kind != "call" or not node.callee.endswith("tiled_partition"):
            return False
        return [self.bodies.constants.value(kid) for kid in node.kids[0].kids] == [WARP]

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
                kept = joined.role if widest is joined.spread else ""
                state.values[name] = Value(widest, kept)
        exits = [e for s in (then, other) if s is not None for e in s.exits if e not in state.exits]
        state.exits = (*state.exits, *dict.fromkeys(exits))
        state.masks |= then.masks | (other.masks if other is not None else frozenset())

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
        jumps = [e for e in state.exits if e not in outer and e.kind != "return"]
        state.exits = tuple(e for e in state.exits if e not in jumps)

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
        first = next(iter(call.arguments), None)
        if first is not None and first.kind == "name":
            state.values[first.text] = THREAD
        inner = self._branch(body, state, Branch(call, Spread.LANE, "loop"))
        self._merge(state, Spread.LANE, inner, None)

    def _switch(self, node: Node, state: State) -> None:
        condition = self._value(node.kids[0], state)
        inner = self._branch(node.kids[1], state, Branch(node.kids[0], condition.spread, "if"))
        inner.exits = tuple(e for e in inner.exits if not (e.kind == "jump" and e.text == "break"))
        self._merge(state, condition.spread, inner, None)

    def _exit(self, node: Node, state: State) -> None:
        for kid in node.kids:
            value = self._value(kid, state)
            if node.kind == "return":
                spread = max([value.spread, *(b.spread for b in state.branches)])
                self.returned.append(value if spread is value.spread else Value(spread))
        relevant = state.branches if node.kind == "return" else _inside_loop(state.branches)
        if any(branch.spread is Spread.LANE for branch in relevant):
            state.exits = (*state.exits, node)

    def _asm(self, node: Node, state: State) -> None:
        inputs = [self._value(kid, state) for kid in node.kids]
        written = self._assembled(node, inputs)
        for kid in node.kids:
            name = unwrapped(kid)
            if name.kind == "name" and name.text not in self.shared:
                state.values[name.text] = written

    def _assembled(self, node: Node, operands: list[Value]) -> Value:
        """What assembly leaves in its outputs: the same for a warp when it is sent to all lanes from one."""
        tokens = self.bodies.tokens
        places = range(node.first, min(node.last + 1, len(tokens)))
        text = " ".join(tokens.texts[place] for place in places if tokens.kinds[place] == STRING)
        if _BROADCAST.search(text):
            return PER_WARP
        if _PER_LANE_ASSEMBLY.search(text) or not operands:
            return PER_LANE
        return Value(max(operand.spread for operand in operands)) if len(operands) > 1 else PER_LANE

    # Expressions

    def _value(self, node: Node, state: State) -> Value:
        handler = _EXPRESSIONS.get(node.kind)
        if handler is not None:
            return handler(self, node, state)
        return join(*(self._value(kid, state) for kid in node.kids)) if node.kids else UNIFORM

    def _number(self, node: Node, state: State) -> Value:
        return Value(constant=self.bodies.constants.value(node), fixed=True)

    def _name(self, node: Node, state: State) -> Value:
        name = node.text
        if name in state.values:
            known = state.values[name]
            rounded = known == UNIFORM and _ROUNDED.search(name) is not None
            return Value(fixed=True) if rounded else known
        if name in self.function.template_parameters:
            return Value(fixed=True)
        macros = [m for m in self.bodies.constants.macros.get(name, ()) if m.parameters is None]
        if macros and self.depth < _DEEPEST:
            return self._macro_value(name, state)
        constant = self.bodies.constants.value(node)
        fixed = constant is not None or name.isupper() or looks_like_warp_size(name) or "::" in name
        return Value(constant=constant, fixed=fixed)

    def _macro_value(self, name: str, state: State) -> Value:
        constant = self.bodies.constants.value(Node("name", 0, 0, name))
        if constant is not None:
            return Value(constant=constant, fixed=True)
        bodies = self.bodies.object_macros.get(name, ())
        found = [self._deeper(functools.partial(self._value, node, state)) for node in bodies]
        return join(*found) if found else Value(fixed=True)

    def _deeper(self, evaluate: Callable[[], Value]) -> Value:
        self.depth += 1
        recording, self._recording = self._recording, False
        try:
            return evaluate()
        finally:
            self.depth -= 1
            self._recording = recording

    def _member(self, node: Node, state: State) -> Value:
        name = spelled(node)
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        base = name.rpartition(".")[0]
        if name in state.values:
            return state.values[name]
        if _ROUNDED.search(name):
            return Value(fixed=True)
        if base.rpartition(".")[2] in ("gridDim", "blockIdx", "blockDim"):
            return UNIFORM
        value = self._value(node.kids[0], state)
        return Value(value.spread)

    def _unary(self, node: Node, state: State) -> Value:
        value = self._value(node.kids[0], state)
        if node.text in ("++", "--"):
            self._assigned(node.kids[0], Value(value.spread), state)
        constant = self.bodies.constants.value(node)
        return Value(value.spread, "", constant, value.fixed)

    def _binary(self, node: Node, state: State) -> Value:
        left = self._value(node.kids[0], state)
        if node.text in ("&&", "||") and left.spread is Spread.LANE:
            branch = Branch(node.kids[0], left.spread, "short")
            right = self._value(node.kids[1], self._with(state, branch))
        else:
            right = self._value(node.kids[1], state)
        constant = None
        if left.constant is not None and right.constant is not None:
            constant = self.bodies.constants.value(
                Node("binary", 0, 0, node.text, (_literal(left.constant), _literal(right.constant)))
            )
        return binary(node.text, left, right, constant)

    def _with(self, state: State, branch: Branch) -> State:
        return State(state.values, (*state.branches, branch), state.exits, state.masks)

    def _ternary(self, node: Node, state: State) -> Value:
        condition = self._value(node.kids[0], state)
        inner = self._with(state, Branch(node.kids[0], condition.spread, "short"))
        chosen = join(self._value(node.kids[1], inner), self._value(node.kids[2], inner))
        spread = max(condition.spread, chosen.spread)
        return Value(spread, chosen.role if spread is chosen.spread else "")

    def _assign(self, node: Node, state: State) -> Value:
        target, source = node.kids
        value = self._value(source, state)
        if node.text != "=":
            old = self._value(target, state)
            value = old if self._reduces(target, source, node.text) else join(old, value)
            if node.text in ("/=", ">>=", "%=", "&=", "+=", "-="):
                right = self._value(source, state)
                value = binary(node.text[:-1], old, right, None)
            value = PER_WARP if self._reduces(target, source, node.text) else value
        elif self._reduces(target, source, ""):
            value = PER_WARP
        self._assigned(target, Value(value.spread, value.role), state)
        name = unwrapped(target)
        if name.kind == "name":
            self._remember_mask(name.text, source, state)
        return value

    def _reduces(self, target: Node, source: Node, operator: str) -> bool:
        """`v += __shfl_xor(v, o)` and `v = max(v, __shfl_xor(v, o))`: a butterfly ends the same in all lanes."""
        name = unwrapped(target)
        if name.kind != "name" or _CROSSING.isdisjoint(self.bodies.tokens.names):
            return False
        shuffles = [found for call in _calls(source) if (found := collective(call)) is not None]
        return any("xor" in found.name for found in shuffles) and (operator != "" or name.text in names(source))

    def _assigned(self, target: Node, value: Value, state: State) -> None:
        target = unwrapped(target)
        if target.kind == "name" and target.text in self.shared:
            return
        if target.kind == "name":
            widest = max([value.spread, *(b.spread for b in state.branches if b.kind == "short")])
            state.values[target.text] = Value(widest, value.role if widest is value.spread else "")
            return
        for kid in target.kids:
            self._value(kid, state)
        if spelled(target).partition(".")[0] in self.shared:
            return
        if target.kind == "member" and (name := spelled(target)) and not self._is_in_memory(target, state):
            state.values[name] = join(state.values.get(name, value), value)

    def _is_in_memory(self, member: Node, state: State) -> bool:
        """`p->m` with the same pointer in all threads: what one of them writes, all of them read."""
        arrow = self.bodies.tokens.texts[member.kids[0].last + 1 : member.kids[0].last + 2] == ["->"]
        return arrow and self._value(member.kids[0], state).spread is Spread.BLOCK

    def _postfix(self, node: Node, state: State) -> Value:
        value = self._value(node.kids[0], state)
        self._assigned(node.kids[0], Value(value.spread), state)
        return value

    def _index(self, node: Node, state: State) -> Value:
        base, place = (self._value(kid, state) for kid in node.kids)
        return Value(max(base.spread, place.spread))

    def _cast(self, node: Node, state: State) -> Value:
        return self._value(node.kids[0], state) if node.kids else UNIFORM

    def _lambda(self, node: Node, state: State) -> Value:
        for kid in node.kids:
            self._statement(kid, State(dict(state.values), state.branches, state.exits, state.masks))
        return UNIFORM

    def _call(self, node: Node, state: State) -> Value:
        callee = node.kids[0]
        if callee.kind not in ("name", "member"):
            self._value(callee, state)
        arguments = tuple(self._value(kid, state) for kid in node.arguments)
        for kid in node.arguments:
            self._written_through(kid, arguments, state)
        if callee.kind == "name" and callee.text in self.bodies.macro_bodies:
            self._macro_exit(node, callee.text, arguments, state)
        found = collective(node)
        if found is not None:
            return self._collective(node, found, arguments, state)
        name = node.callee.rpartition("::")[2]
        if name in self.lambdas:
            self._record(Event("call", node, state.branches, state.exits, None, True, EXCHANGES))
        if name in BARRIERS:
            self._record(Event("barrier", node, state.branches, state.exits))
            return UNIFORM
        if callee.kind == "member" and callee.text in TILE_MEMBERS:
            return self._tile(node, callee, arguments, state)
        reaches = self.bodies.reach.get(name, frozenset())
        if reaches:
            full = self._recording and self._call_is_full(name, node)
            self._record(Event("call", node, state.branches, state.exits, None, full, reaches))
        self.calls.append((name, arguments))
        return self._returned_by(name, arguments, state)

    def _call_is_full(self, name: str, node: Node) -> bool:
        """Whether a call hands the full mask on, by an argument, a default value or a macro's own text."""
        passed = [self.bodies.constants.value(kid) for kid in node.arguments]
        for function in self.bodies.by_name.get(name, ()):
            passed += [self.bodies.constants.value(kid) for kid in function.defaults[len(node.arguments) :]]
        if any(value is not None and value & FULL == FULL for value in passed):
            return True
        return any(
            (mask := argument(call, found.mask)) is not None and (self.bodies.constants.value(mask) or 0) & FULL == FULL
            for _, body in self.bodies.macro_bodies.get(name, ())
            for call in _calls(body)
            if (found := collective(call)) is not None
        )

    def _written_through(self, argument_node: Node, passed: tuple[Value, ...], state: State) -> None:
        """`f(&x, i)`: afterwards x differs between threads as much as what was passed."""
        node = unwrapped(argument_node)
        if node.kind != "unary" or node.text != "&":
            return
        name = node.kids[0].text
        if node.kids[0].kind == "name" and name not in self.shared:
            spread = max([state.values.get(name, UNIFORM).spread, *(value.spread for value in passed)])
            state.values[name] = Value(spread)

    def _collective(self, node: Node, found: Collective, arguments: tuple[Value, ...], state: State) -> Value:
        mask = argument(node, found.mask)
        full = mask is not None and not self._computed_mask(mask, state)
        if found.kind == "sync" and mask is None:
            full = True
        near = found.kind == "shuffle" and found.name.rpartition("shfl")[2] in _NEIGHBOURS
        active = mask is not None and mask.kind == "call" and (inner := collective(mask)) is not None
        neighbours = near and active and inner is not None and inner.kind == "active"
        reaches = frozenset({found.kind})
        self._record(Event(found.kind, node, state.branches, state.exits, found, full, reaches, neighbours))
        if found.uniform:
            return PER_WARP
        if found.kind == "shuffle" and "xor" not in found.name and "up" not in found.name:
            lane = found.lane
            broadcast = "down" not in found.name and lane is not None and lane < len(arguments)
            if broadcast and arguments[lane or 0].spread is not Spread.LANE:
                return PER_WARP
        return PER_LANE

    def _tile(self, node: Node, callee: Node, arguments: tuple[Value, ...], state: State) -> Value:
        """A member function of a group: a barrier of the block, or an operation of a tile."""
        kind = "tile" if callee.text != "sync" else "tilesync"
        full = spelled(callee.kids[0]) in self._warp_tiles
        self._record(Event(kind, node, state.branches, state.exits, None, full))
        uniform = callee.text in ("any", "all", "ballot", "match_all")
        if callee.text == "shfl" and len(arguments) > 1 and arguments[1].spread is not Spread.LANE:
            uniform = True
        return PER_WARP if uniform else PER_LANE

    def _returned_by(self, name: str, arguments: tuple[Value, ...], state: State) -> Value:
        if name in _UNIFORM_CALLS:
            return UNIFORM
        if name in _KEEPS_SPREAD:
            return join(*arguments) if arguments else UNIFORM
        if name.startswith("atomic") or name in _LANE_CALLS:
            return PER_LANE
        if name.endswith("thread_rank"):
            return THREAD
        if (named := by_name(name)).role == "lane":
            return named
        functions = self.bodies.by_name.get(name, ())
        if functions and self.depth < _DEEPEST:
            found = [self._summary(function, arguments) for function in functions]
            return join(*found)
        if name in self.bodies.macro_bodies and self.depth < _DEEPEST:
            return self._deeper(lambda: self._macro_call(name, arguments, state))
        if "warp" in name.lower():
            return PER_WARP
        spread = max((a.spread for a in arguments), default=Spread.BLOCK)
        return Value(spread, fixed=spread is Spread.BLOCK and _ROUNDS_UP.match(name) is not None)

    def _macro_exit(self, node: Node, name: str, arguments: tuple[Value, ...], state: State) -> None:
        """`RETURN_IF(i >= n)`: a macro whose text returns under a condition over its arguments."""
        for macro, body in self.bodies.macro_bodies[name]:
            for test in body.walk():
                if test.kind != "if" or not any(below.kind == "return" for below in test.walk()):
                    continue
                bound = dict(state.values) | dict(zip(macro.parameters or (), arguments, strict=False))
                inner = functools.partial(self._value, test.kids[0], State(bound))
                branches = (Branch(test.kids[0], self._deeper(inner).spread, "if"), *state.branches)
                if any(branch.spread is Spread.LANE for branch in branches):
                    state.exits = (*state.exits, Node("return", node.first, node.last))
                return

    def _macro_call(self, name: str, arguments: tuple[Value, ...], state: State) -> Value:
        found: list[Value] = []
        for macro, body in self.bodies.macro_bodies[name]:
            bound = dict(state.values)
            bound.update(zip(macro.parameters or (), arguments, strict=False))
            inner = State(bound, state.branches, state.exits, state.masks)
            found += [self._value(kid.kids[0], inner) for kid in body.kids if kid.kind == "statement"]
        return join(*found)

    def _summary(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        key = ("summary", function.head.begin, arguments)
        memo = self.bodies.memo
        if key not in memo:
            memo[key] = UNIFORM
            bound = dict(zip(function.parameters, arguments, strict=False))
            memo[key] = Flow(self.bodies, function, bound, self.depth + 1, _recording=False).run().result
        known = memo[key]
        assert isinstance(known, Value)
        return known

    def _remember_mask(self, name: str, source: Node, state: State) -> None:
        """Whether a variable holds a mask computed at run time: asked where an operation of the warp has a mask."""
        if self.function.collectives:
            computed = self._computed_mask(source, state)
            state.masks = state.masks | {name} if computed else state.masks - {name}

    def _computed_mask(self, node: Node, state: State) -> bool:
        """Whether a mask expression depends on which lanes are active or was computed from data."""
        binary = False
        read: list[str] = []
        for below in node.walk():
            if below.kind == "name":
                if below.text in state.masks or below.text in self.function.parameters:
                    return True
                read.append(below.text)
            elif below.kind == "call":
                found = collective(below)
                if found is not None and found.kind in ("active", "ballot", "match"):
                    return True
                if "mask" in below.callee.lower():
                    return True
            elif below.kind == "member":
                if "mask" in below.text.lower():
                    return True
            elif below.kind == "binary":
                binary = True
        constant = self.bodies.constants.value(node)
        if constant is not None:
            return constant & FULL != FULL
        return binary or any(state.values.get(name, UNIFORM).spread is not Spread.BLOCK for name in read)

    def _record(self, event: Event) -> None:
        if self._recording:
            self.events.append(event)


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
_EXPRESSIONS = {
    "number": Flow._number,
    "name": Flow._name,
    "member": Flow._member,
    "unary": Flow._unary,
    "binary": Flow._binary,
    "ternary": Flow._ternary,
    "assign": Flow._assign,
    "postfix": Flow._postfix,
    "index": Flow._index,
    "cast": Flow._cast,
    "call": Flow._call,
    "lambda": Flow._lambda,
}
_BUILT_IN = {
    "threadIdx.x": THREAD,
    "threadIdx.y": Value(Spread.WARP, "warp"),
    "threadIdx.z": Value(Spread.WARP, "warp"),
    "blockDim.x": Value(fixed=True),
    "blockDim.y": UNIFORM,
}
_CROSSING = frozenset({prefix + name[2:] for name in COLLECTIVES if "xor" in name for prefix in ("__", "")})
"""Exchanges with the lane whose number differs in some bits, under CUDA's names and under those of our header."""
_NEIGHBOURS = frozenset({"_up_sync", "_down_sync", "_xor_sync"})
_UNIFORM_CALLS = frozenset({"__syncthreads_or", "__syncthreads_and", "__syncthreads_count"})
_KEEPS_SPREAD = frozenset(
    [
        "min",
        "max",
        "abs",
        "fmaxf",
        "fminf",
        "__ldg",
        "__popc",
        "__ffs",
        "__clz",
        "__ffsll",
        "__popcll",
        "ceil",
        "floor",
    ]
)
_LANE_CALLS = frozenset({"clock", "clock64", "__lane_id", "LaneId", "get_lane_id"})


def _is_constant(written_type: str) -> bool:
    return any(word in ("const", "constexpr") for word in written_type.split())


def _literal(value: int) -> Node:
    return Node("number", 0, 0, str(value)) if value >= 0 else Node("unary", 0, 0, "-", (_literal(-value),))


def _has_sync(node: Node) -> bool:
    return any(below.callee == "__syncwarp" for below in _calls(node))


def _is_warp_tile(written_type: str) -> bool:
    return re.search(r"\bthread_block_tile\s*<\s*32\s*[,>]", written_type) is not None


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


def _calls(node: Node) -> Iterator[Node]:
    return (below for below in node.walk() if below.kind == "call")
