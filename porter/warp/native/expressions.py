"""The meaning of each expression of a kernel; numbers that stem from 32 are noted as edits where their use is known."""

from __future__ import annotations

import re
from collections.abc import Callable

from porter.cpp.constants import WARP
from porter.cpp.nodes import Node, names, spelled, unwrapped
from porter.cpp.statements import parse_expression
from porter.warp.native import parts
from porter.warp.native.kinds import PER_THREAD, THREADS, Kind, Undecided, combined, joined, placed
from porter.warp.native.literals import long_one, widened
from porter.warp.native.state import FollowsAssignments, FollowsCalls, FollowsConditions, Plan, Scope

K = Kind
_BARE = frozenset({31, 32, 33, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
_PLAIN_BARE = frozenset({31, 32, 33})
_UNTOUCHED = frozenset({K.UNIFORM, K.DATA, K.BLOCKWIDE, *THREADS})
"""What a plain 32 may be computed with: values that are the same, thread by thread, on 64 lanes."""
WIDTH_NAME = "porter::wide::warpSize"
_LOG_WORDS = ("log", "shift", "bits")


class Expressions:
    """Evaluates expressions of one kernel and its callees."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.constants = plan.bodies.constants
        self.calls: FollowsCalls
        self.conditions: FollowsConditions
        self.assignments: FollowsAssignments

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        handler = _HANDLERS.get(node.kind)
        if handler is not None:
            return handler(self, node, scope)
        if not node.kids:
            return K.UNIFORM
        raise Undecided(node, f"cannot follow {node.kind}")

    # Leaves

    def _number(self, node: Node, scope: Scope) -> Kind:
        value = self.constants.value(node)
        if value in _PLAIN_BARE and self.plan.shape.form == "line":
            self.plan.bare = self.plan.bare or node
            return K.UNIFORM
        if value in _BARE or (value is None and node.text.rstrip("fF").rstrip("0").rstrip(".") in ("32", "31")):
            raise Undecided(node, f"{node.text} in a place that says nothing of its meaning")
        return K.UNIFORM

    def _name(self, node: Node, scope: Scope) -> Kind:
        name = node.text
        if name in scope.kinds:
            kind = scope.kinds[name]
            return K.BLOCKWIDE if kind is K.TOTAL and scope.is_first_thread else kind
        if name in self.plan.shared:
            found = self.plan.shared[name]
            if found.bound is not None:
                raise Undecided(node, f"the array {name} is passed on")
            return K.UNIFORM if found.kind in (K.BLOCKWIDE, K.DATA) else found.kind
        if name in scope.widths or self.is_width(node):
            self.plan.replace(node, WIDTH_NAME)
            self.plan.constants.add(name)
            return K.WIDTH
        if name in scope.function.template_parameters:
            return K.UNIFORM
        macros = self.plan.bodies.macros.expressions.get(name, ())
        value = self.constants.value(node)
        if value is None and macros:
            raise Undecided(node, f"the macro {name}")
        if value is not None and value == self.plan.shape.threads and self.plan.shape.form == "line":
            return K.UNIFORM
        if value is not None and self.warps_of_block(name):
            self.plan.replace(node, f"(({name} + 1) / 2)" if self.plan.shape.part else f"({name} / 2)")
            self.plan.exchanges = True
            return K.WARPS
        if value is not None and self.derives_from_width(name):
            raise Undecided(node, f"{name} comes from the warp size")
        return K.UNIFORM

    def is_width(self, node: Node) -> bool:
        """Whether a name is the warp size: by its name and its value."""
        node = unwrapped(node)
        return node.kind == "name" and self.constants.is_warp_size(node.text)

    def warps_of_block(self, name: str) -> bool:
        """Whether a constant is written as the number of threads of a block divided by the width."""
        found = self.constants.definitions(name)
        if len(found) != 1 or self.plan.shape.form != "line":
            return False
        node = unwrapped(parse_expression(self.plan.bodies.tokens, found[0].first, found[0].last))
        if node.kind != "binary" or node.text not in ("/", ">>"):
            return False
        left, right = node.kids
        if not self._means(right, WARP if node.text == "/" else 5, node.text) or not self.counts_threads(left):
            return False
        return self.plan.shape.part or (self.constants.value(node) or 1) % 2 == 0

    def derives_from_width(self, name: str) -> bool:
        """Whether a constant's value is, or is computed from, a number that stems from 32."""
        tokens = self.plan.bodies.tokens
        for constant in self.constants.definitions(name):
            if self.constants.number_of(constant) in (31, 32, 0xFFFFFFFF):
                return True
            for word in tokens.texts[constant.first : constant.last]:
                if word in ("32", "31", "5", "0x1f", "32u") or self.constants.is_warp_size(word):
                    return True
                if word != name and self.constants.definitions(word) and self.derives_from_width(word):
                    return True
        return False

    def _member(self, node: Node, scope: Scope) -> Kind:
        name = spelled(node)
        form = self.plan.shape.form
        rows = form in ("row", "single")
        if name == "threadIdx.x":
            return K.LANE if rows else K.BTHREAD
        if name == "threadIdx.y" and form == "row":
            return K.WARP
        if name in ("threadIdx.y", "threadIdx.z"):
            raise Undecided(node, "a block of more than one dimension")
        if name == "blockDim.x":
            return K.WIDTH if rows else K.UNIFORM
        if name == "blockDim.y":
            return K.WARPS if form == "row" else K.UNIFORM
        if name.startswith("blockIdx."):
            return K.ITEM if form == "single" else K.UNIFORM
        if name.startswith(("gridDim.", "blockDim.")):
            return K.UNIFORM
        return self.value(node.kids[0], scope)

    # Operators

    def _unary(self, node: Node, scope: Scope) -> Kind:
        inner = node.kids[0]
        if node.text == "&" and unwrapped(inner).kind == "index":
            element = unwrapped(inner)
            return placed(self.value(element.kids[0], scope), self.value(element.kids[1], scope), node)
        kind = self.value(inner, scope)
        if node.text == "*" and unwrapped(inner).text in scope.pointees:
            return kind
        if node.text == "*":
            return self.loaded(kind, node)
        if node.text in ("++", "--"):
            return self._stepped(inner, kind, scope)
        if node.text == "!":
            return K.AGG if kind is K.MASK else K.DATA if kind in (K.LANE, K.WARP) else kind
        if node.text == "-" and self.constants.value(node) == -1:
            return K.UNIFORM
        return kind if node.text == "~" and kind is K.MASK else combined(kind, K.UNIFORM, node)

    def _stepped(self, node: Node, kind: Kind, scope: Scope) -> Kind:
        """`++x`: a number of a thread is just data afterwards."""
        target = unwrapped(node)
        parts.stepped(target, self.plan, scope)
        if target.kind == "name" and target.text in scope.operations:
            scope.operations[target.text] = ""
        if kind in THREADS and target.kind == "name":
            scope.kinds[target.text] = K.DATA
            return K.DATA
        return kind if kind in (K.EACH_WARP, K.DELTA) else combined(kind, K.UNIFORM, node)

    def loaded(self, kind: Kind, node: Node) -> Kind:
        """What memory holds at a place of some meaning."""
        if kind in (K.UNIFORM, K.ITEM):
            self.plan.item |= kind is K.ITEM
            return kind
        if kind is K.STEP:
            return K.DATA
        if kind in PER_THREAD:
            self.plan.thread_memory |= kind in THREADS
            return K.DATA
        raise Undecided(node, f"memory indexed by {kind.value}")

    def _binary(self, node: Node, scope: Scope) -> Kind:
        operator = node.text
        if operator in ("&", "%", "/", ">>"):
            split = self._split(node, operator, scope)
            if split is not None:
                return split
        if operator in ("+", "-", "*", "<<", "&", "|"):
            special = self._index_arithmetic(node, operator, scope)
            if special is not None:
                return special
        if operator in ("==", "!=", "<", "<=", ">", ">=", "&&", "||", "and", "or"):
            return self._truth(node, scope)
        left, right = (self.value(kid, scope) for kid in node.kids)
        if any(self._is_bare(kid) for kid in node.kids) and not {left, right} <= _UNTOUCHED:
            raise Undecided(node, "32 in a place that says nothing of its meaning")
        self.plan.thread_memory |= left in THREADS or right in THREADS
        return self.mixed(left, right, node)

    def _is_bare(self, node: Node) -> bool:
        return unwrapped(node).kind == "number" and self.constants.value(node) in _PLAIN_BARE

    def mixed(self, left: Kind, right: Kind, node: Node) -> Kind:
        """Arithmetic over two meanings; what was gathered from an item may meet that item's data."""
        if K.AGG in (left, right) and {left, right} & {K.DATA, K.STEP}:
            self.plan.item = True
            return K.DATA
        return combined(left, right, node)

    def _split(self, node: Node, operator: str, scope: Scope) -> Kind | None:
        """`tid & 31`, `tid >> 5`, `blockDim.x / 32`."""
        left, right = node.kids
        wanted = {"&": 31, "%": 32, "/": 32, ">>": 5}[operator]
        if operator == "/" and _is_float_width(right) and "blockDim" in set(names(left)):
            if self.value(left, scope) is not K.UNIFORM:
                raise Undecided(node, "threads split by 32.0")
            self.plan.replace(unwrapped(right), unwrapped(right).text.replace("32", "64"))
            self.plan.exchanges = True
            return K.FLOAT_WARPS
        is_width = self._means(right, wanted, operator)
        if operator == "/" and not is_width and self.value(left, scope) is K.WIDTH:
            if self.constants.value(right) == 2:
                return K.WIDTH
            raise Undecided(node, "part of a warp")
        if is_width and operator in ("/", ">>") and self._rounded_up(left, right, wanted):
            return K.WARPS
        kind = self.value(left, scope)
        if not is_width:
            if kind in (K.LANE, K.WARP, *THREADS):
                if operator in (">>", "&") and kind is K.LANE:
                    raise Undecided(node, "part of a lane number")
                other = self.value(right, scope)
                if kind in THREADS and other is K.UNIFORM and self.constants.value(right) is None:
                    raise Undecided(node, "threads split by a width that is not known")
                if kind in THREADS and other is K.UNIFORM and self.plan.shape.form == "line":
                    self.plan.thread_memory = True
                    return K.DATA
                raise Undecided(node, f"{kind.value} split by {self._written(right)}")
            if kind is K.MASK and operator == ">>" and self.value(right, scope) is K.LANE:
                return K.BIT
            return None
        if kind in THREADS:
            if self.plan.shape.part and kind is K.GTHREAD:
                raise Undecided(node, "threads of the grid split by 32, in blocks of any number of warps")
            self._widen(right, wanted)
            if operator in ("&", "%"):
                return K.LANE
            return K.WARP if kind is K.BTHREAD else K.ITEM
        if kind is K.LANE and operator in ("&", "%"):
            self._widen(right, wanted)
            return K.LANE
        if kind in (K.UNIFORM, K.WARPS) and operator in ("/", ">>") and self.counts_threads(left):
            self._widen(right, wanted)
            if self.plan.shape.part:
                self._round_up(left)
            self.plan.exchanges = True
            return K.WARPS
        if kind in (K.UNIFORM, K.DATA, K.BLOCKWIDE) and self.plan.shape.form == "line":
            self.plan.bare = self.plan.bare or node
            return kind
        raise Undecided(node, f"{kind.value} split by 32")

    def _round_up(self, threads: Node) -> None:
        """`blockDim.x / 64` for a block whose last wavefront may be half empty."""
        tokens = self.plan.bodies.tokens
        start, end = tokens.starts[threads.first], tokens.end(threads.last)
        self.plan.put(start, start, "(", threads)
        self.plan.put(end, end, " + 63)", threads)

    def _rounded_up(self, left: Node, right: Node, wanted: int) -> bool:
        """`(blockDim.x + 31) / 32`"""
        inner = unwrapped(left)
        if inner.kind != "binary" or inner.text != "+":
            return False
        for threads, rest in (inner.kids, tuple(reversed(inner.kids))):
            if self.constants.value(rest) == WARP - 1 and self.counts_threads(threads):
                self._widen(rest, WARP - 1)
                self._widen(right, wanted)
                return True
        return False

    def _means(self, node: Node, wanted: int, operator: str) -> bool:
        """Whether a right operand is the width in the form that an operator needs."""
        node = unwrapped(node)
        if self.constants.value(node) != wanted:
            return False
        if node.kind == "number" or self.is_width(node):
            return True
        if node.kind == "name" and wanted == 5:
            return any(word in node.text.lower() for word in _LOG_WORDS)
        return any(self.is_width(below) for below in node.walk()) and all(
            below.kind in ("number", "name", "binary", "cast") for below in node.walk()
        )

    def _widen(self, node: Node, value: int) -> None:
        """Notes the edit of a width in whatever form it is written."""
        node = unwrapped(node)
        if node.kind == "number":
            self.plan.replace(node, widened(node.text, value))
        elif node.kind == "name" and value == 5:
            self.plan.replace(node, f"({node.text} + 1)")
        else:
            for below in node.walk():
                if self.is_width(below) and below.kind == "name":
                    self.plan.replace(below, WIDTH_NAME)
                    self.plan.constants.add(below.text)

    def counts_threads(self, node: Node) -> bool:
        """Whether an expression is a number of threads: of the block or of the grid."""
        found = set(names(node))
        if "blockDim" in found or found & self.plan.shape.names:
            return True
        threads = self.plan.shape.threads
        return threads is not None and self.constants.value(node) == threads

    def _index_arithmetic(self, node: Node, operator: str, scope: Scope) -> Kind | None:
        """Sums and products that number threads, items and places."""
        left, right = node.kids
        if operator == "<<" and self.constants.value(left) == 1:
            return self._bit(node, left, right, scope)
        if operator == "-" and self.constants.value(right) == 1:
            kind = self.value(left, scope)
            special = {K.BIT: K.LT, K.WARP: K.WARP_BEFORE, K.WIDTH: K.WIDTH}.get(kind)
            return special or combined(kind, K.UNIFORM, node)
        if operator == "-" and self.constants.value(left) == 31 and self._is_clz(right, scope):
            self.plan.replace(unwrapped(left), "63")
            return K.LEADER
        if operator == "*":
            return self._product(node, left, right, scope)
        kinds = self.value(left, scope) if not self._is_31(left) else None, self.value(right, scope)
        one, two = kinds
        if one is None:
            raise Undecided(node, "counts from 31")
        pair = frozenset({one, two})
        if operator == "&" and pair == {K.MASK, K.LT}:
            return K.LT
        if operator == "&" and pair == {K.MASK, K.BIT}:
            return K.DATA
        if operator != "+":
            return None
        return self._sum(node, one, two)

    def _bit(self, node: Node, left: Node, right: Node, scope: Scope) -> Kind | None:
        kind = self.value(right, scope)
        if kind is K.LANE:
            self.plan.replace(unwrapped(left), long_one(unwrapped(left).text))
            return K.BIT
        if kind is K.UNIFORM:
            return K.UNIFORM
        raise Undecided(node, f"a bit by {kind.value}")

    def _is_31(self, node: Node) -> bool:
        return unwrapped(node).kind == "number" and self.constants.value(node) == WARP - 1

    def _is_clz(self, node: Node, scope: Scope) -> bool:
        call = unwrapped(node)
        return call.kind == "call" and call.callee == "__clz" and self.value(call, scope) is K.LEADER

    def _product(self, node: Node, left: Node, right: Node, scope: Scope) -> Kind | None:
        for base, factor in ((left, right), (right, left)):
            if self.constants.value(factor) == WARP and self._means(factor, WARP, "*"):
                kind = self.value(base, scope)
                if kind is K.WARP:
                    self._widen(factor, WARP)
                    return K.BASE_THREAD
                if kind in _UNTOUCHED and self.plan.shape.form == "line" and unwrapped(factor).kind == "number":
                    self.plan.bare = self.plan.bare or node
                    return K.DATA if kind in THREADS else kind
                raise Undecided(node, f"{kind.value} times 32")
        kinds = self.value(left, scope), self.value(right, scope)
        if set(kinds) == {K.WARP, K.WIDTH}:
            return K.BASE_THREAD
        blocks = any(name == "blockIdx" for name in names(node))
        if blocks and K.WARPS in kinds:
            self.plan.rows_per_block.append(right if kinds[1] is K.WARPS else left)
            return K.FIRST
        if blocks and set(kinds) == {K.UNIFORM} and self._warps_constant(left, right):
            return K.UNIFORM
        return self.mixed(*kinds, node)

    def _warps_constant(self, left: Node, right: Node) -> bool:
        factor = right if "blockIdx" in set(names(left)) else left
        self.plan.factors[factor.first] = factor
        return True

    def _sum(self, node: Node, one: Kind, two: Kind) -> Kind | None:
        pair = frozenset({one, two})
        if pair == {K.FIRST, K.WARP}:
            return K.ITEM
        if pair == {K.BASE_THREAD, K.LANE}:
            return K.BTHREAD
        if pair == {K.BTHREAD, K.UNIFORM}:
            if self._begins_block(node):
                return K.GTHREAD
            self.plan.thread_memory = True
            return K.DATA
        if pair == {K.WARP, K.UNIFORM}:
            factor = self._block_factor(node)
            if factor is None:
                raise Undecided(node, "a warp number plus something")
            self.plan.rows_per_block.append(factor)
            return K.ITEM
        if K.LANE in pair and pair <= {K.LANE, K.UNIFORM, K.ITEM, K.STEP}:
            raise Undecided(node, "a lane number plus something")
        return None

    def _begins_block(self, node: Node) -> bool:
        """Whether a term of a sum is the number of threads in the blocks before: `blockIdx.x * blockDim.x`."""
        for kid in node.kids:
            inner = unwrapped(kid)
            if inner.kind == "binary" and inner.text == "*":
                block = [side for side in inner.kids if spelled(unwrapped(side)).startswith("blockIdx.")]
                threads = [side for side in inner.kids if side not in block and self.counts_threads(side)]
                if block and threads:
                    return True
        return False

    def _block_factor(self, node: Node) -> Node | None:
        """The factor N of `blockIdx.x * N + warp`."""
        for kid in node.kids:
            inner = unwrapped(kid)
            if inner.kind == "binary" and inner.text == "*":
                for base, factor in (inner.kids, tuple(reversed(inner.kids))):
                    if spelled(unwrapped(base)).startswith("blockIdx"):
                        return factor
        return None

    def _truth(self, node: Node, scope: Scope) -> Kind:
        """A comparison as a value; comparisons with widths are conditions, and judged as such."""
        guards = self.conditions.condition(node, scope)
        if set(guards) <= {"uniform"}:
            return K.UNIFORM
        if set(guards) <= {"uniform", "item"}:
            return K.ITEM
        if set(guards) <= {"uniform", "item", "agg", "mask"}:
            return K.AGG
        if set(guards) <= {"uniform", "item", "thread", "agg", "mask"}:
            return K.DATA
        raise Undecided(node, "a choice by lane or warp kept as a value")

    def _ternary(self, node: Node, scope: Scope) -> Kind:
        condition, yes, no = node.kids
        guards = self.conditions.condition(condition, scope)
        if "agg" in guards:
            self.plan.item = True
        inner = scope.copy(*guards)
        one, two = self.value(yes, inner), self.value(no, inner)
        if one is K.AGG and self.conditions.is_one_warp(condition):
            one = K.BLOCKWIDE
        if "later" in guards and {one, two} <= {K.DATA, K.SCAN, K.UNIFORM}:
            return K.DATA
        if set(guards) & {"lane0", "last", "leader"}:
            raise Undecided(node, "a value chosen by lane")
        kind = joined(one, two, node)
        if "thread" in guards and kind in (K.UNIFORM, K.ITEM, K.STEP):
            return K.DATA
        return kind

    def _assign(self, node: Node, scope: Scope) -> Kind:
        return self.assignments.assigned(node, scope)

    def _postfix(self, node: Node, scope: Scope) -> Kind:
        return self._stepped(node.kids[0], self.value(node.kids[0], scope), scope)

    def _cast(self, node: Node, scope: Scope) -> Kind:
        kind = self.value(node.kids[0], scope) if node.kids else K.UNIFORM
        if kind in (K.MASK, K.LT, K.BIT) and node.text:
            raise Undecided(node, "a mask of lanes cast to another type")
        return kind

    def _index(self, node: Node, scope: Scope) -> Kind:
        base = unwrapped(node.kids[0])
        if base.kind == "name" and base.text in self.plan.shared and base.text not in scope.kinds:
            return self.assignments.shared_element(node, base.text, scope)
        if array := self.register_array(node, scope):
            if array not in scope.kinds:
                raise Undecided(node, f"{array} in its own initial value")
            return scope.kinds[array]
        place = self.value(node.kids[1], scope)
        start = self.value(node.kids[0], scope)
        return self.loaded(placed(start, place, node), node)

    def register_array(self, element: Node, scope: Scope) -> str:
        """The array in registers of which an expression names one element, by all of its indices; empty for none."""
        indices: list[Node] = []
        base = element
        while base.kind == "index":
            indices.append(base.kids[1])
            base = unwrapped(base.kids[0])
        if base.kind != "name" or base.text not in scope.locals:
            return ""
        variable = next(kid for kid in scope.declared[base.text].kids if kid.text == base.text)
        if len(indices) != variable.count:
            return ""
        for index in indices:
            if (kind := self.value(index, scope)) in (K.LANE, K.WARP, K.LEADER, K.RANK):
                raise Undecided(index, f"an array of one thread indexed by {kind.value}")
        return base.text

    def _list(self, node: Node, scope: Scope) -> Kind:
        kind = K.UNIFORM
        for kid in node.kids:
            kind = joined(kind, self.value(kid, scope), node)
        return kind

    def _call(self, node: Node, scope: Scope) -> Kind:
        return self.calls.call(node, scope)

    def _written(self, node: Node) -> str:
        tokens = self.plan.bodies.tokens
        return tokens.text[tokens.starts[node.first] : tokens.end(node.last)]


def _is_float_width(node: Node) -> bool:
    node = unwrapped(node)
    return node.kind == "number" and re.fullmatch(r"32\.0*[fF]?", node.text) is not None


def is_full_mask(expressions: Expressions, node: Node) -> bool:
    """Whether a mask names all 32 lanes."""
    value = expressions.constants.value(node)
    return value is not None and value & 0xFFFFFFFF == 0xFFFFFFFF


Handler = Callable[[Expressions, Node, Scope], Kind]
_HANDLERS: dict[str, Handler] = {
    "number": Expressions._number,
    "name": Expressions._name,
    "member": Expressions._member,
    "unary": Expressions._unary,
    "binary": Expressions._binary,
    "ternary": Expressions._ternary,
    "assign": Expressions._assign,
    "postfix": Expressions._postfix,
    "cast": Expressions._cast,
    "index": Expressions._index,
    "list": Expressions._list,
    "comma": Expressions._list,
    "call": Expressions._call,
}


def is_distance(plan: Plan, node: Node, scope: Scope) -> bool:
    """Whether an expression is the distance of a tree over the lanes."""
    node = unwrapped(node)
    return (node.kind == "name" and node.text in scope.tree) or node.first in plan.distances
