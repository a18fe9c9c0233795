"""Loops of a kernel that is to be widened: over lanes, items, warps, and those that hang on no width."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.constants import WARP
from porter.cpp.nodes import EMPTY, Node, base_of, names, unwrapped
from porter.warp.native import parts
from porter.warp.native.calls import Calls
from porter.warp.native.conditions import Conditions
from porter.warp.native.kinds import THREADS, Kind, Undecided, joined
from porter.warp.native.literals import widened
from porter.warp.native.operations import over_warps, tree_operation
from porter.warp.native.state import Scope
from porter.warp.native.trees import Run, Trees

K = Kind
_ONCE = frozenset({"add", "mul", "xor"})
"""Operations for which a value counts each time."""


class Loops:
    """The part of the walk that knows loops."""

    def __init__(self, run: Run, calls: Calls, conditions: Conditions, trees: Trees) -> None:
        self.run = run
        self.calls = calls
        self.conditions = conditions
        self.trees = trees
        self.expressions = calls.expressions
        self.plan = calls.plan
        self.constants = calls.constants

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.calls.value(node, scope)

    def counted(self, node: Node, scope: Scope) -> None:
        """A loop; the variables that its head declares end with it."""
        start = node.kids[0]
        own = [variable.text for variable in start.kids] if start.kind == "declaration" else []
        outer = {name: scope.kinds.get(name) for name in own}
        self._loop(node, scope)
        for name, kind in outer.items():
            if kind is None:
                scope.kinds.pop(name, None)
            else:
                scope.kinds[name] = kind

    def _loop(self, node: Node, scope: Scope) -> None:
        start, condition, step, body = node.kids
        variable = _loop_variable(start)
        if variable is not None and self.trees.loop(node, variable, scope):
            return
        if variable is not None and self._strided(node, variable, scope):
            return
        if start is not EMPTY:
            self.run(start, scope)
        each_warp = variable is not None and self._counts_warps(condition, variable, scope)
        before = dict(scope.kinds)
        guards = ("uniform",) if each_warp else self._loop_guards(condition, scope)
        inner = scope.copy(*guards)
        if variable is not None and each_warp:
            inner.kinds[variable[0]] = K.EACH_WARP
        self._rounds(node, body, step, inner, scope)
        if each_warp and variable is not None:
            self._over_warps(body, inner, scope)
            self._first_once(body, self.constants.value(variable[1]) == 0, before, inner)

    def _loop_guards(self, condition: Node, scope: Scope) -> tuple[str, ...]:
        if condition is EMPTY:
            return ("uniform",)
        guards = self.conditions.condition(condition, scope)
        if "agg" in guards:
            self.plan.item = True
        if set(guards) - {"uniform", "item", "thread", "stage2", "stage2t", "agg", "mask"}:
            raise Undecided(condition, "a loop by lane or warp")
        return guards

    def _rounds(self, node: Node, body: Node, step: Node, inner: Scope, scope: Scope) -> None:
        """The body twice, so that what one round leaves is there in the next."""
        for _ in range(2):
            self.run(body, inner)
            if step is not EMPTY:
                self.run(Node("statement", step.first, step.last, kids=(step,)), inner)
        scope.exited |= inner.exited
        for name in scope.kinds.keys() & inner.kinds.keys():
            scope.kinds[name] = joined(scope.kinds[name], inner.kinds[name], node)

    def conditional(self, node: Node, scope: Scope) -> None:
        """`while` and `do`."""
        condition, body = node.kids if node.kind == "while" else (node.kids[1], node.kids[0])
        inner = scope.copy(*self._loop_guards(condition, scope))
        self._rounds(node, body, EMPTY, inner, scope)

    def _over_warps(self, body: Node, inner: Scope, scope: Scope) -> None:
        """What one thread gathered from the values of all warps is the block's."""
        how = tree_operation(self.plan.bodies, body, inner)
        read = [self.plan.shared[name] for name in set(names(body)) & self.plan.shared.keys()]
        for target in {base_of(n.kids[0]) for n in body.walk() if n.kind == "assign"} & scope.kinds.keys():
            if inner.kinds[target] is K.PARTIAL:
                if any(array.operation != how for array in read) or over_warps(self.calls, body, target, inner) != how:
                    raise Undecided(body, "the warps' values are gathered in another way than the lanes'")
                scope.kinds[target] = K.BLOCKWIDE

    def _first_once(self, body: Node, from_first: bool, before: dict[str, Kind], inner: Scope) -> None:
        """A loop over all warps begins with nothing, one from the second on with the value of the first."""
        for target in {base_of(n.kids[0]) for n in body.walk() if n.kind == "assign"} & before.keys():
            has_first = before[target] is K.PARTIAL
            if inner.kinds[target] is not K.PARTIAL or has_first is not from_first:
                continue
            if not has_first or tree_operation(self.plan.bodies, body, inner) in _ONCE:
                raise Undecided(body, "the first warp's value goes in twice, or not at all")

    def _counts_warps(self, condition: Node, variable: tuple[str, Node], scope: Scope) -> bool:
        """`w < blockDim.x / 32`, from 0 or 1"""
        name, start = variable
        if self.constants.value(start) not in (0, 1):
            return False
        condition = unwrapped(condition)
        if condition.kind != "binary" or condition.text not in ("<", "!="):
            return False
        left, right = condition.kids
        return unwrapped(left).text == name and self.value(right, scope) is K.WARPS

    def _strided(self, node: Node, variable: tuple[str, Node], scope: Scope) -> bool:
        """`for (c = lane; c < n; c += 32)`, over items, or over the threads of a block or grid."""
        name, first = variable
        _, condition, step, body = node.kids
        stride = _stride(step, name)
        if stride is None:
            return False
        kind = self._start_kind(first, scope)
        if kind is K.STEP:
            self._lane_stride(stride, scope)
        elif kind is K.ITEM:
            if self.value(stride, scope) not in (K.WARPS, K.UNIFORM):
                raise Undecided(stride, "the stride over items")
            if self.value(stride, scope) is K.UNIFORM:
                raise Undecided(stride, "the stride over items, which must count warps")
            self.plan.loops_over_items = True
        elif kind in THREADS:
            if self.value(stride, scope) is not K.UNIFORM:
                raise Undecided(stride, "the stride over threads")
            if not self.expressions.counts_threads(stride):
                kind = K.DATA
        else:
            return False
        scope.kinds[name] = kind
        inner = scope.copy("item" if kind is K.ITEM else "thread")
        if kind is K.STEP:
            own = {below.text for below in body.walk() if below.kind == "variable"}
            inner.strided = frozenset(_changed(body)) - own - {name, ""}
        self.conditions.condition(condition, inner)
        self._rounds(node, body, EMPTY, inner, scope)
        if kind is K.STEP:
            scope.kinds[name] = K.STEP
            if inner.strided and parts.asks_its_own(body, inner.strided):
                scope.parts.update(dict.fromkeys(inner.strided, ""))
        return True

    def _start_kind(self, node: Node, scope: Scope) -> Kind:
        """Where a loop starts: `lane`, `begin + lane`, an item, a thread."""
        inner = unwrapped(node)
        if inner.kind == "binary" and inner.text == "+":
            one, two = (self._start_kind(kid, scope) for kid in inner.kids)
            if K.STEP in (one, two) and {one, two} <= {K.STEP, K.UNIFORM, K.ITEM}:
                return K.STEP
        kind = self.value(inner, scope)
        return K.STEP if kind is K.LANE else kind

    def _lane_stride(self, stride: Node, scope: Scope) -> None:
        inner = unwrapped(stride)
        if inner.kind == "number" and self.constants.value(inner) == WARP:
            self.plan.replace(inner, widened(inner.text, WARP))
        elif self.value(inner, scope) is not K.WIDTH:
            raise Undecided(stride, "the stride over lanes")


def _loop_variable(start: Node) -> tuple[str, Node] | None:
    """The variable that a loop's first part sets, and to what."""
    if start.kind == "declaration" and len(start.kids) == 1 and start.kids[0].initial is not None:
        return start.kids[0].text, start.kids[0].initial
    if start.kind == "statement" and start.kids and start.kids[0].kind == "assign" and start.kids[0].text == "=":
        target = unwrapped(start.kids[0].kids[0])
        return (target.text, start.kids[0].kids[1]) if target.kind == "name" else None
    return None


def _stride(step: Node, name: str) -> Node | None:
    """What a loop adds to its variable each round."""
    step = unwrapped(step)
    if step.kind == "assign" and step.text == "+=" and unwrapped(step.kids[0]).text == name:
        return step.kids[1]
    if step.kind == "assign" and step.text == "=" and unwrapped(step.kids[0]).text == name:
        right = unwrapped(step.kids[1])
        if right.kind == "binary" and right.text == "+" and unwrapped(right.kids[0]).text == name:
            return right.kids[1]
    return None


def _changed(body: Node) -> Iterator[str]:
    """The variables that statements set or step."""
    for node in body.walk():
        if node.kind in ("assign", "postfix") or (node.kind == "unary" and node.text in ("++", "--")):
            yield base_of(node.kids[0])
