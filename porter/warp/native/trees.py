"""Trees over the lanes of a warp, in a loop or written out: each gets one more step."""

from __future__ import annotations

from collections.abc import Callable

from porter.cpp.constants import WARP
from porter.cpp.nodes import Node, base_of, calls, names, unwrapped
from porter.warp.collectives import collective
from porter.warp.native.calls import Calls
from porter.warp.native.conditions import LANES
from porter.warp.native.counting import MERGED, counts_steps, step_of
from porter.warp.native.kinds import Kind, Undecided
from porter.warp.native.literals import widened
from porter.warp.native.operations import tree_operation
from porter.warp.native.state import Scope

K = Kind
Run = Callable[[Node, Scope], None]
"""The walk over a statement."""
_COUNTED = "each step does more than to combine two lanes: the result counts them"


class Trees:
    """The part of the walk that knows reductions and scans over lanes."""

    def __init__(self, run: Run, calls: Calls) -> None:
        self.run = run
        self.calls = calls
        self.plan = calls.plan
        self.constants = calls.constants

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.calls.value(node, scope)

    def loop(self, node: Node, variable: tuple[str, Node], scope: Scope) -> bool:
        """A loop over distances 16, 8, 4, 2, 1 or 1, 2, 4, 8, 16 with shuffles in its body."""
        name, first = variable
        _, condition, step, body = node.kids
        if not self._shuffles_by(body, name):
            return False
        down = self._is_half(first, scope) and _steps_by_two(step, name, down=True) and _ends_at_zero(condition, name)
        up = self.constants.value(first) == 1 and _steps_by_two(step, name, down=False)
        if not down and not up:
            raise Undecided(node, "a shuffle in a loop that is no tree over 32 lanes")
        if down:
            self._widen_half(first, scope)
        else:
            self._widen_bound(condition, name, scope)
        if counts_steps(body):
            raise Undecided(body, _COUNTED)
        inner = scope.copy("tree")
        inner.tree = scope.tree | {name}
        inner.kinds[name] = K.DELTA
        before, known = dict(scope.kinds), dict(scope.operations)
        self.run(body, inner)
        self.run(body, inner)
        changed = {unwrapped(n.kids[0]).text for n in body.walk() if n.kind == "assign"}
        changed |= {r for n in body.walk() if n.kind == "assign" and (r := base_of(n.kids[0]))}
        changed |= self.calls.written_by_calls(body)
        if self.plan.shape.part and not self._only_upwards(body):
            place = self.plan.bodies.tokens.starts[body.first]
            self.plan.put(place, place, f"if ({name} < {LANES}) ", body)
        for target in changed & before.keys():
            how = tree_operation(self.plan.bodies, body, scope)
            scope.operations[target] = known.get(target, "")
            self._one_operation(target, body, inner.kinds[target], scope)
            self._after_tree(target, inner.kinds[target], how, scope, down, node)
        return True

    def _only_upwards(self, body: Node) -> bool:
        """Whether lanes read from lanes before them alone, which are always there."""
        found = [collective(call) for call in calls(body)]
        shuffles = [c for c in found if c is not None and c.kind == "shuffle"]
        return bool(shuffles) and all("_up" in c.name for c in shuffles)

    def _one_operation(self, name: str, body: Node, kind: Kind, scope: Scope) -> None:
        """A tree does one thing with two lanes, and where a warp has an item, what each lane did with its places."""
        if kind in (K.SCAN, K.PREFIX):
            return
        step = step_of(self.plan.bodies, body, name, scope)
        if not step:
            raise Undecided(body, _COUNTED)
        if step is not MERGED and kind in (K.DATA, K.STEP) and scope.parts.get(name) != step:
            self.plan.unlike = self.plan.unlike or body

    def _after_tree(self, name: str, kind: Kind, how: str, scope: Scope, down: bool, node: Node) -> None:
        """What a variable holds after a tree; values of warps must be gathered as the lanes' values were."""
        if kind in (K.PARTIAL, K.PARTIAL0, K.PREFIX) and scope.operations.get(name) != how:
            raise Undecided(node, "the warps' values are gathered in another way than the lanes'")
        scope.operations[name] = how
        scope.kinds[name] = kind if not down and kind in (K.SCAN, K.PREFIX) else self.calls.gathered(kind, node)

    def _shuffles_by(self, body: Node, name: str) -> bool:
        """Whether a loop's variable is the distance of shuffles, here or in a helper."""
        for call in calls(body):
            found = collective(call)
            if found is not None and found.kind == "shuffle":
                if any(name in names(kid) for kid in call.arguments[found.lane or 0 : (found.lane or 0) + 1]):
                    return True
                continue
            reached = self.plan.bodies.operations.reach.get(call.callee.rpartition("::")[2], ())
            if "shuffle" in reached and any(unwrapped(kid).text == name for kid in call.arguments):
                return True
        return False

    def _is_half(self, node: Node, scope: Scope) -> bool:
        return self._number(node, scope) == WARP // 2

    def _number(self, node: Node, scope: Scope) -> int | None:
        """The value of an expression of constants and of template parameters that are the width."""
        return self.constants.value(node, dict.fromkeys(scope.widths, WARP))

    def _widen_half(self, node: Node, scope: Scope) -> None:
        inner = unwrapped(node)
        if inner.kind == "number":
            self.plan.replace(inner, widened(inner.text, WARP // 2))
        elif self.value(inner, scope) is not K.WIDTH:
            raise Undecided(node, "half of something")

    def _widen_bound(self, condition: Node, name: str, scope: Scope) -> None:
        """`d < 32`, `d <= 16`"""
        condition = unwrapped(condition)
        if condition.kind != "binary" or unwrapped(condition.kids[0]).text != name:
            raise Undecided(condition, "the end of a scan")
        right = unwrapped(condition.kids[1])
        wanted = {"<": WARP, "<=": WARP // 2, "!=": WARP}.get(condition.text)
        if wanted is None or self._number(right, scope) != wanted:
            raise Undecided(condition, "the end of a scan")
        if right.kind == "number":
            self.plan.replace(right, widened(right.text, wanted))
        elif self.value(right, scope) is not K.WIDTH:
            raise Undecided(condition, "the end of a scan")

    def is_unrolled(self, run: tuple[Node, ...]) -> bool:
        """Five statements with distances 16, 8, 4, 2, 1 that read alike otherwise."""
        if len(run) < 5 or run[0].kind != "statement":
            return False
        found = [self._fixed_distance(statement) for statement in run]
        return [value for _, value in found] == [16, 8, 4, 2, 1] and self._alike(run, found)

    def unrolled(self, run: tuple[Node, ...], scope: Scope) -> None:
        """A sixth statement, for distance 32, goes before the five."""
        places = [place for place, _ in map(self._fixed_distance, run) if place is not None]
        self.plan.distances |= {place.first for place in places}
        self._sixth(run[0], places[0])
        inner = scope.copy("tree")
        known = dict(scope.operations)
        targets: set[str] = set()
        for statement in run:
            self.run(statement, inner)
            targets |= {base_of(n.kids[0]) for n in statement.walk() if n.kind == "assign"}
        how = tree_operation(self.plan.bodies, run[0], scope)
        for name in targets & scope.kinds.keys():
            scope.operations[name] = known.get(name, "")
            self._one_operation(name, run[0], inner.kinds[name], scope)
            self._after_tree(name, inner.kinds[name], how, scope, True, run[-1])

    def _fixed_distance(self, statement: Node) -> tuple[Node | None, int | None]:
        if statement.kind != "statement":
            return None, None
        places = [
            lane
            for call in calls(statement)
            if (found := collective(call)) is not None and found.kind == "shuffle"
            for lane in call.arguments[found.lane or 0 : (found.lane or 0) + 1]
        ]
        if len(places) != 1 or unwrapped(places[0]).kind != "number":
            return None, None
        return unwrapped(places[0]), self.constants.value(places[0])

    def _alike(self, run: tuple[Node, ...], found: list[tuple[Node | None, int | None]]) -> bool:
        tokens = self.plan.bodies.tokens
        texts = set()
        for statement, (node, _) in zip(run, found, strict=True):
            assert node is not None
            words = tokens.texts[statement.first : statement.last + 1]
            words[node.first - statement.first] = "#"
            texts.add(" ".join(words))
        return len(texts) == 1

    def _sixth(self, statement: Node, distance: Node) -> None:
        tokens = self.plan.bodies.tokens
        start, end = tokens.starts[statement.first], tokens.end(statement.last)
        low, high = tokens.starts[distance.first], tokens.end(distance.last)
        guard = f"if ({LANES} > 32) " if self.plan.shape.part else ""
        self.plan.copies.append((start, start, end, (low, high), guard))


def _steps_by_two(step: Node, name: str, *, down: bool) -> bool:
    step = unwrapped(step)
    if step.kind != "assign" or unwrapped(step.kids[0]).text != name:
        return False
    right = unwrapped(step.kids[1])
    if step.text in ((">>=", "/=") if down else ("<<=", "*=")):
        return right.text == ("1" if step.text in (">>=", "<<=") else "2")
    if step.text == "+=" and not down:
        return right.text == name
    if step.text == "=" and right.kind == "binary" and unwrapped(right.kids[0]).text == name:
        by = unwrapped(right.kids[1]).text
        return (right.text, by) in (((">>", "1"), ("/", "2")) if down else (("<<", "1"), ("*", "2")))
    return False


def _ends_at_zero(condition: Node, name: str) -> bool:
    condition = unwrapped(condition)
    if condition.kind == "name":
        return condition.text == name
    if condition.kind != "binary" or unwrapped(condition.kids[0]).text != name:
        return False
    return (condition.text, unwrapped(condition.kids[1]).text) in ((">", "0"), (">=", "1"), ("!=", "0"))
