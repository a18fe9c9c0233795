"""Statements of a kernel that is to be widened: branches, declarations, and what loops and trees over lanes do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from porter.cpp.conditionals import OPENS
from porter.cpp.lex import IDENTIFIER
from porter.cpp.nodes import EMPTY, Node, base_of, unwrapped
from porter.warp.native import parts
from porter.warp.native.assignments import FILLED, Assignments
from porter.warp.native.calls import Calls, is_plain_assembly
from porter.warp.native.conditions import Conditions
from porter.warp.native.expressions import Expressions, is_full_mask
from porter.warp.native.kinds import THREADS, Kind, Undecided, joined
from porter.warp.native.loops import Loops
from porter.warp.native.operations import kept, operation
from porter.warp.native.state import Plan, Scope, Shared
from porter.warp.native.steady import is_neutral
from porter.warp.native.trees import Trees

K = Kind
_UNSIGNED = re.compile(r"unsigned|int|uint|uint32_t|std::uint32_t|u32|unsigned int")


class Statements:
    """Walks statements."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.expressions = Expressions(plan)
        self.calls = Calls(self.expressions)
        self.conditions = Conditions(self.expressions)
        self.trees = Trees(self.run, self.calls)
        self.loops = Loops(self.run, self.calls, self.conditions, self.trees)
        assignments = Assignments(self.calls)
        self.expressions.calls = self.calls
        self.expressions.conditions = self.conditions
        self.expressions.assignments = assignments
        self.calls.statements = assignments.statements = self
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
            if self.trees.is_unrolled(run):
                self.trees.unrolled(run, scope)
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
        guards = self.conditions.condition(node.kids[0], scope)
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
                if one is K.AGG and self.conditions.is_one_warp(node.kids[0]):
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

    def _counted_loop(self, node: Node, scope: Scope) -> None:
        self.loops.counted(node, scope)

    def _loop(self, node: Node, scope: Scope) -> None:
        self.loops.conditional(node, scope)

    def _macro_loop(self, node: Node, scope: Scope) -> None:
        raise Undecided(node, "a loop made by a macro")


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
    "for": Statements._counted_loop,
    "while": Statements._loop,
    "do": Statements._loop,
    "macroloop": Statements._macro_loop,
    "asm": Statements._asm,
}
