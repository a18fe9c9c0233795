"""Statements of a kernel that is to be widened: loops over lanes, trees, items; guards; declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from porter.cpp.conditionals import OPENS
from porter.cpp.constants import WARP
from porter.cpp.lex import IDENTIFIER
from porter.cpp.nodes import EMPTY, Node, base_of, calls, names, unwrapped
from porter.warp.collectives import collective
from porter.warp.native import parts
from porter.warp.native.calls import FILLED, LANES, Calls, is_plain_assembly
from porter.warp.native.counting import MERGED, counts_steps, step_of
from porter.warp.native.expressions import Expressions, is_full_mask
from porter.warp.native.kinds import THREADS, Kind, Undecided, joined
from porter.warp.native.literals import widened
from porter.warp.native.operations import kept, operation, over_warps, tree_operation
from porter.warp.native.state import Plan, Scope, Shared
from porter.warp.native.steady import is_neutral

K = Kind
_UNSIGNED = re.compile(r"unsigned|int|uint|uint32_t|std::uint32_t|u32|unsigned int")


class Statements:
    """Walks statements."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.expressions = Expressions(plan)
        self.calls = Calls(self.expressions)
        self.expressions.calls = self.calls
        self.calls.statements = self
        self.constants = plan.bodies.constants

    def function(self, scope: Scope) -> None:
        """The body of the function of a scope."""
        head = scope.function.head
        tokens = self.plan.bodies.tokens
        for directive in tokens.directives:
            inside = head.body is not None and tokens.starts[head.body] < directive.start < tokens.end(head.end - 1)
            if inside and directive.name in OPENS:
                raise Undecided(None, f"{scope.function.name} has another body in another build")
        self.run(scope.function.body, scope)

    def run(self, node: Node, scope: Scope) -> None:
        """One statement."""
        handler = _HANDLERS.get(node.kind)
        if handler is not None:
            handler(self, node, scope)
        elif node.kind not in ("empty", "label"):
            raise Undecided(node, f"cannot follow {node.kind}")

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.expressions.value(node, scope)

    def _block(self, node: Node, scope: Scope) -> None:
        index = 0
        while index < len(node.kids):
            run = node.kids[index : index + 5]
            if self._is_unrolled_tree(run):
                self._unrolled(run, scope)
                index += 5
            else:
                self.run(node.kids[index], scope)
                index += 1

    def _opaque(self, node: Node, scope: Scope) -> None:
        texts = self.plan.bodies.tokens.texts[node.first : node.last + 1]
        if texts[:1] == ["static_assert"] or texts[:1] == ["namespace"]:
            return
        if texts[:1] in (["union"], ["struct"]) and "}" in texts and not {"31", "32"} & set(texts):
            after = len(texts) - texts[::-1].index("}")
            scope.kinds.update({text: K.DATA for text in texts[after:] if text.isidentifier()})
            return
        if texts[:1] not in (["using"], ["typedef"]) or "32" in texts:
            raise Undecided(node, "a declaration that cannot be followed")

    def _declaration(self, node: Node, scope: Scope) -> None:
        if "__shared__" in node.text.split():
            for variable in node.kids:
                bound = variable.dimensions[0] if variable.dimensions else None
                if bound is None and "extern" in node.text.split():
                    bound = EMPTY
                shared = Shared(variable, bound, type_words=frozenset(node.text.split()))
                self.plan.shared.setdefault(variable.text, shared)
            return
        for variable in node.kids:
            if self._points_to_shared(variable, scope):
                continue
            if "&" in variable.extra and "const" not in node.text.split():
                raise Undecided(variable, f"{variable.text} is another name of something")
            scope.declared[variable.text] = node
            for dimension in variable.dimensions:
                self.value(dimension, scope)
            if variable.dimensions:
                scope.locals.add(variable.text)
            scope.kinds[variable.text] = kind = self._initial(variable, scope)
            if kind in (K.MASK, K.LT, K.BIT):
                self.widen_type(variable, variable.text, scope)

    def _points_to_shared(self, variable: Node, scope: Scope) -> bool:
        """`float *sums = buffer;` is the array under another name, `&buffer[n]` an array of its own."""
        if "*" not in variable.extra or variable.initial is None:
            return False
        initial = unwrapped(variable.initial)
        if initial.kind == "name" and initial.text in self.plan.shared and initial.text not in scope.kinds:
            self.plan.shared[variable.text] = self.plan.shared[initial.text]
            return True
        inner = unwrapped(initial.kids[0]) if initial.kind == "unary" and initial.text == "&" else EMPTY
        if inner.kind != "index" or unwrapped(inner.kids[0]).text not in self.plan.shared:
            return False
        if self.value(inner.kids[1], scope) not in (K.UNIFORM, K.WARPS):
            raise Undecided(variable, "a part of shared memory for each thread or warp")
        self.plan.shared.setdefault(variable.text, Shared(variable, EMPTY))
        return True

    def _initial(self, variable: Node, scope: Scope) -> Kind:
        initial = variable.initial
        if initial is None:
            return K.UNIFORM
        holds_mask = "unsigned" in variable.extra or "uint" in variable.extra or "mask" in variable.text.lower()
        if holds_mask and is_full_mask(self.expressions, initial) and unwrapped(initial).kind != "name":
            return K.FULL
        kind = self.value(initial, scope)
        scope.operations[variable.text] = kept(self.calls, variable.text, initial, scope)
        parts.declared(variable.text, initial, self.plan, scope)
        return kind

    def widen_type(self, node: Node, name: str, scope: Scope) -> None:
        """A variable that holds a bit per lane needs 64 bits."""
        declaration = scope.declared.get(name)
        if declaration is None or len(declaration.kids) > 1:
            raise Undecided(node, f"a mask of lanes in {name}, which is not declared on its own here")
        tokens = self.plan.bodies.tokens
        words = [
            index
            for index in range(declaration.first, declaration.kids[0].first)
            if tokens.kinds[index] == IDENTIFIER and tokens.texts[index] not in ("const", "constexpr")
        ]
        written = " ".join(tokens.texts[index] for index in words)
        if written in ("auto", "unsigned long long", "uint64_t"):
            return
        if not _UNSIGNED.fullmatch(written):
            raise Undecided(node, f"a mask of lanes in a variable of type {written}")
        self.plan.put(tokens.starts[words[0]], tokens.end(words[-1]), "unsigned long long", node)

    def _asm(self, node: Node, scope: Scope) -> None:
        """Assembly of one thread: what it writes is data."""
        if not is_plain_assembly(self.plan.bodies.tokens, node.first):
            raise Undecided(node, "assembly that works with warps")
        for kid in node.kids:
            kind = self.value(kid, scope)
            name = unwrapped(kid)
            if kind not in (K.UNIFORM, K.DATA, K.BLOCKWIDE):
                raise Undecided(node, f"assembly with {kind.value}")
            if name.kind == "name" and name.text in scope.kinds:
                scope.kinds[name.text] = K.DATA
                scope.operations[name.text] = ""

    def _expression(self, node: Node, scope: Scope) -> None:
        for kid in node.kids:
            self.value(kid, scope)

    def _return(self, node: Node, scope: Scope) -> None:
        for kid in node.kids:
            scope.returns.append(self.value(kid, scope))
            scope.operations["return"] = operation(self.calls, kid, scope)
        guards = set(scope.guards)
        if guards & {"thread", "agg"}:
            scope.exited = True
        elif guards & {"lane0", "last", "leader", "scan"}:
            raise Undecided(node, "some lanes return")

    def _jump(self, node: Node, scope: Scope) -> None:
        if set(scope.guards) - {"uniform", "item"}:
            raise Undecided(node, f"{node.text} in divergent code")

    # Branches

    def _if(self, node: Node, scope: Scope) -> None:
        guards = self.calls.condition(node.kids[0], scope)
        if "agg" in guards and not _only_returns(node.kids[1]):
            self.plan.item = True
        then = scope.copy(*guards)
        before = dict(scope.operations)
        self.run(node.kids[1], then)
        lost = {name for name, how in before.items() if how and not scope.operations.get(name)}
        self._in_one_lane(node, then, scope)
        if not {"stage2", "stage2t"}.isdisjoint(guards):
            self._filled(node, then, scope)
        other = scope.copy(*_opposite(guards))
        if len(node.kids) > 2:
            self.run(node.kids[2], other)
        scope.operations.update(dict.fromkeys(lost, ""))
        scope.exited |= then.exited or other.exited
        if _only_returns(node.kids[1]):
            scope.kinds = other.kinds
            scope.guards = (*scope.guards, *(g for g in _opposite(guards) if g == "warp0"))
            return
        for name in scope.kinds.keys() | (then.kinds.keys() & other.kinds.keys()):
            if name in scope.kinds:
                one = then.kinds[name]
                if one is K.AGG and self.calls.is_one_warp(node.kids[0]):
                    one = K.BLOCKWIDE
                scope.kinds[name] = self._merged(node, guards, one, other.kinds[name])

    def _in_one_lane(self, node: Node, then: Scope, scope: Scope) -> None:
        """A thread's variable that one lane of each warp sets has another value in half of those lanes."""
        if not then.is_one_lane or self.plan.item:
            return
        for assign in node.kids[1].walk():
            if assign.kind not in ("assign", "postfix") and assign.text not in ("++", "--"):
                continue
            target = unwrapped(assign.kids[0]) if assign.kids else EMPTY
            name = base_of(target)
            if target.kind not in ("name", "member") and name not in scope.locals:
                continue
            if name in scope.kinds and then.kinds.get(name) in (K.DATA, K.UNIFORM, *THREADS):
                raise Undecided(assign, f"{name} set in one lane of a warp")

    def _filled(self, node: Node, then: Scope, scope: Scope) -> None:
        """`v = 1; if (lane < warps) v = parts[lane];`: lanes without a warp keep what the variable held."""
        for name, kind in scope.kinds.items():
            if kind is not K.UNIFORM or then.kinds.get(name) not in (K.PARTIAL, K.PARTIAL0):
                continue
            values = [value for place, value in _values_of(scope.function.body, name) if place < node.first]
            values += [value for other in node.kids[2:] for _, value in _values_of(other, name)]
            if values and not is_neutral(scope.operations.get(name, ""), values[-1], name, self.plan, scope):
                raise Undecided(values[-1], FILLED)

    def _merged(self, node: Node, guards: tuple[str, ...], one: Kind, two: Kind) -> Kind:
        if one is two:
            return one
        if one in (K.BLOCKWIDE, K.TOTAL) and two is not K.UNIFORM and _FIRST_THREADS.issuperset(guards):
            return K.TOTAL
        if "mask" in guards and not {one, two} & {K.BASE, K.SLOT}:
            self.plan.item = True
        if "later" in guards and {one, two} <= {K.DATA, K.SCAN}:
            return K.DATA
        if {"lane0", "leader"} & set(guards) and K.BASE in (one, two):
            return K.BASE
        if "scan" in guards:
            return joined(one, two, node) if {one, two} != {K.SCAN, K.DATA} else K.SCAN
        kind = joined(one, two, node)
        if {"thread"} & set(guards) and kind in (K.UNIFORM, K.ITEM, K.STEP):
            return K.DATA
        return kind

    # Loops

    def _for(self, node: Node, scope: Scope) -> None:
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
        if variable is not None and self._tree(node, variable, scope):
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
        guards = self.calls.condition(condition, scope)
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
                self._expression(Node("statement", step.first, step.last, kids=(step,)), inner)
        scope.exited |= inner.exited
        for name in scope.kinds.keys() & inner.kinds.keys():
            scope.kinds[name] = joined(scope.kinds[name], inner.kinds[name], node)

    def _while(self, node: Node, scope: Scope) -> None:
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

    def _tree(self, node: Node, variable: tuple[str, Node], scope: Scope) -> bool:
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
        self.calls.condition(condition, inner)
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

    # Unrolled trees

    def _is_unrolled_tree(self, run: tuple[Node, ...]) -> bool:
        """Five statements with distances 16, 8, 4, 2, 1 that read alike otherwise."""
        if len(run) < 5 or run[0].kind != "statement":
            return False
        found = [self._fixed_distance(statement) for statement in run]
        return [value for _, value in found] == [16, 8, 4, 2, 1] and self._alike(run, found)

    def _unrolled(self, run: tuple[Node, ...], scope: Scope) -> None:
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

    def _macro_loop(self, node: Node, scope: Scope) -> None:
        raise Undecided(node, "a loop made by a macro")


_COUNTED = "each step does more than to combine two lanes: the result counts them"
_ONCE = frozenset({"add", "mul", "xor"})
"""Operations for which a value counts each time."""
_FIRST_THREADS = frozenset({"tid0", "warp0", "lane0", "stage2", "stage2t"})
"""Guards that the first thread of a block passes."""


def _opposite(guards: tuple[str, ...]) -> tuple[str, ...]:
    """The guards of the other branch."""
    if len(guards) != 1:
        return tuple("thread" if g not in ("uniform", "item") else g for g in guards)
    swap = {
        "warp0": "later",
        "later": "warp0",
        "lane0": "scan",
        "stage2": "thread",
        "stage2t": "thread",
        "tid0": "thread",
        "leader": "scan",
    }
    return (swap.get(guards[0], guards[0]),)


def _only_returns(node: Node) -> bool:
    only = node.kids[0] if node.kind == "block" and len(node.kids) == 1 else node
    return only.kind == "return"


def _loop_variable(start: Node) -> tuple[str, Node] | None:
    """The variable that a loop's first part sets, and to what."""
    if start.kind == "declaration" and len(start.kids) == 1 and start.kids[0].initial is not None:
        return start.kids[0].text, start.kids[0].initial
    if start.kind == "statement" and start.kids and start.kids[0].kind == "assign" and start.kids[0].text == "=":
        target = unwrapped(start.kids[0].kids[0])
        return (target.text, start.kids[0].kids[1]) if target.kind == "name" else None
    return None


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


def _values_of(body: Node, name: str) -> Iterator[tuple[int, Node]]:
    """What a variable is set to, and where, in the order of the text."""
    for node in body.walk():
        if node.kind == "variable" and node.text == name and node.initial is not None:
            yield node.first, node.initial
        elif node.kind == "assign" and node.text == "=" and unwrapped(node.kids[0]).text == name:
            yield node.first, node.kids[1]


Handler = Callable[[Statements, Node, Scope], None]
_HANDLERS: dict[str, Handler] = {
    "block": Statements._block,
    "opaque": Statements._opaque,
    "declaration": Statements._declaration,
    "statement": Statements._expression,
    "return": Statements._return,
    "jump": Statements._jump,
    "if": Statements._if,
    "for": Statements._for,
    "while": Statements._while,
    "do": Statements._while,
    "macroloop": Statements._macro_loop,
    "asm": Statements._asm,
}
