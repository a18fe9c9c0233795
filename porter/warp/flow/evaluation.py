"""What the expressions of a function come to: how their values differ between the threads of a block."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from porter.cpp.constants import looks_like_warp_size, number
from porter.cpp.nodes import Node, spelled, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import COLLECTIVES
from porter.warp.flow.butterfly import DISTANCES, met_in
from porter.warp.flow.events import Branch, Event, State
from porter.warp.flow.spread import PER_LANE, PER_WARP, THREAD, UNIFORM, Spread, Value, binary, join, selected
from porter.warp.function import Function

DEEPEST = 4
"""Calls followed into callees."""
_CROSSING = frozenset({prefix + name[2:] for name in COLLECTIVES if "xor" in name for prefix in ("__", "")})
"""Exchanges with the lane whose number differs in some bits, under CUDA's names and under those of our header."""


@dataclass
class Evaluation(abc.ABC):
    """The values of one walk over one function; `values` are the parameters' values."""

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
    waiting: set[str] = field(default_factory=set)
    """Variables that hold a lambda with a barrier of the block in it."""
    _recording: bool = True
    _changes: int = 0
    """Counts what expressions did besides having a value."""
    _met: dict[str, frozenset[int]] = field(default_factory=dict)
    """Variables that were combined with those of other lanes, and of how far away."""

    @abc.abstractmethod
    def run(self) -> Evaluation:
        """Walks the body."""

    @abc.abstractmethod
    def _statement(self, node: Node, state: State) -> None:
        """Walks a statement: in the body of a lambda."""

    @abc.abstractmethod
    def _record(self, event: Event) -> None:
        """Notes an operation of the warp or block."""

    @abc.abstractmethod
    def _call(self, node: Node, state: State, *, is_read: bool = True) -> Value:
        """What a call returns; anything where nobody reads it."""

    @abc.abstractmethod
    def _remember_mask(self, name: str, source: Node, state: State, operator: str = "=") -> None:
        """Keeps what a variable holds as a mask."""

    def evaluate(self, node: Node, values: Mapping[str, Value]) -> Value:
        """The value of an expression where variables hold what `values` says."""
        return self._value(node, State(dict(values)))

    @property
    def result(self) -> Value:
        """What the function returns."""
        return join(*self.returned) if self.returned else UNIFORM

    def _value(self, node: Node, state: State) -> Value:
        handler = _EXPRESSIONS.get(node.kind)
        if handler is not None:
            return handler(self, node, state)
        if node.kind == "call":
            return self._call(node, state)
        if node.kind in _STATEMENTS:
            self._statement(node, state)
            return UNIFORM
        return join(*(self._value(kid, state) for kid in node.kids)) if node.kids else UNIFORM

    def _declared(self, node: Node, state: State) -> Value:
        """A condition that declares what it asks: `if (int a = f())`."""
        self._statement(node, state)
        return state.values.get(node.kids[-1].text, UNIFORM) if node.kids else UNIFORM

    def _block_value(self, node: Node, state: State) -> Value:
        """A block with a value, `({ int a = f(); a; })`: that of its last statement."""
        for kid in node.kids[:-1]:
            self._statement(kid, state)
        last = node.kids[-1] if node.kids else node
        if last.kind == "statement" and len(last.kids) == 1:
            return self._value(last.kids[0], state)
        if last is not node:
            self._statement(last, state)
        return UNIFORM

    def _number(self, node: Node, state: State) -> Value:
        return _numbered(node.text)

    def _name(self, node: Node, state: State) -> Value:
        name = node.text
        if name in state.values:
            return state.values[name]
        if name == "threadIdx":
            return _INDEX
        if name in self.bodies.macros.meeting:
            self._record(Event("barrier", node, state.branches, state.exits))
        if name in self.function.template_parameters:
            return Value(fixed=True)
        macros = [m for m in self.bodies.constants.macros.get(name, ()) if m.parameters is None]
        if macros and self.depth < DEEPEST:
            return self._macro_value(name, state)
        constant = self.bodies.constants.value(node)
        fixed = constant is not None or name.isupper() or looks_like_warp_size(name) or "::" in name
        return Value(constant=constant, fixed=fixed)

    def _macro_value(self, name: str, state: State) -> Value:
        constant = self.bodies.constants.value(Node("name", 0, 0, name))
        if constant is not None:
            return Value(constant=constant, fixed=True)
        bodies = self.bodies.macros.expressions.get(name, ())
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
        if base.rpartition(".")[2] in ("gridDim", "blockIdx", "blockDim"):
            return UNIFORM
        value = self._value(node.kids[0], state)
        if value.role == _INDEX.role:
            return _BUILT_IN.get(f"threadIdx.{node.text}", PER_LANE)
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
        return Value(spread, selected(chosen.role, condition.spread) if spread is chosen.spread else "")

    def _assign(self, node: Node, state: State) -> Value:
        target, source = node.kids
        before = self._changes
        value = self._value(source, state)
        if node.text != "=":
            old = self._value(target, state)
            if node.text in _CALCULATING:
                right = value if before == self._changes else self._value(source, state)
                value = binary(node.text[:-1], old, right, None)
            else:
                value = join(old, value)
        if self._reduces(target, source, node.text.removesuffix("=")):
            value = PER_WARP
        self._assigned(target, Value(value.spread, value.role), state)
        if name := spelled(unwrapped(target)):
            self._remember_mask(name, source, state, node.text)
        return value

    @functools.cached_property
    def _crosses(self) -> bool:
        return not _CROSSING.isdisjoint(self.bodies.tokens.names)

    def _reduces(self, target: Node, source: Node, operator: str) -> bool:
        """`v += __shfl_xor(v, o)` and `v = max(w, __shfl_xor(w, o))`: with 16, 8, 4, 2 and 1 for `o` a butterfly, which
        ends the same in all lanes."""
        name = unwrapped(target)
        if not self._crosses or name.kind not in ("name", "variable"):
            return False
        met = met_in(self.bodies, source, name.text if operator else "")
        if met is None:
            self._met.pop(name.text, None)
            return False
        self._met[name.text] = met.distances | self._met.get(" ".join(met.whom), frozenset())
        return self._met[name.text] >= DISTANCES

    def _assigned(self, target: Node, value: Value, state: State) -> None:
        self._changes += 1
        target = unwrapped(target)
        if target.kind == "name" and target.text in self.shared:
            return
        if target.kind == "name":
            choice = max((b.spread for b in state.branches if b.kind == "short"), default=Spread.BLOCK)
            widest = max(value.spread, choice)
            state.values[target.text] = Value(widest, selected(value.role, choice) if widest is value.spread else "")
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
        base, place = node.kids
        return Value(max(self._value(base, state).spread, self._value(place, state).spread))

    def _cast(self, node: Node, state: State) -> Value:
        return self._value(node.kids[0], state) if node.kids else UNIFORM

    def _lambda(self, node: Node, state: State) -> Value:
        self._changes += 1
        inner = State(dict(state.values), state.branches, state.exits, state.masks)
        for captured in node.kids[1:]:
            inner.values[captured.text] = self._value(captured.kids[0], state)
        for body in node.kids[:1]:
            self._statement(body, inner)
        return UNIFORM


@functools.lru_cache(maxsize=1024)
def _numbered(text: str) -> Value:
    return Value(constant=number(text), fixed=True)


_CALCULATING = frozenset({"/=", ">>=", "%=", "&=", "+=", "-="})
_EXPRESSIONS = {
    "number": Evaluation._number,
    "name": Evaluation._name,
    "member": Evaluation._member,
    "unary": Evaluation._unary,
    "binary": Evaluation._binary,
    "ternary": Evaluation._ternary,
    "assign": Evaluation._assign,
    "postfix": Evaluation._postfix,
    "index": Evaluation._index,
    "cast": Evaluation._cast,
    "lambda": Evaluation._lambda,
    "declaration": Evaluation._declared,
    "block": Evaluation._block_value,
}
_STATEMENTS = frozenset(
    {"if", "for", "while", "do", "range", "switch", "return", "jump", "statement", "macroloop", "asm"}
)
_INDEX = Value(Spread.LANE, "index")
"""`threadIdx` as a whole."""
_BUILT_IN = {
    "threadIdx.x": THREAD,
    "threadIdx.y": Value(Spread.WARP, "warp"),
    "threadIdx.z": Value(Spread.WARP, "warp"),
    "blockDim.x": Value(fixed=True),
    "blockDim.y": UNIFORM,
}


def _literal(value: int) -> Node:
    return Node("number", 0, 0, str(value)) if value >= 0 else Node("unary", 0, 0, "-", (_literal(-value),))
