"""Calls, conditions and assignments of a kernel that is to be widened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porter.warp.bodies import Function
from porter.warp.collectives import BARRIERS, Collective, argument, collective
from porter.warp.constants import WARP
from porter.warp.native.expressions import Expressions, is_full_mask
from porter.warp.native.kinds import PER_THREAD, THREADS, Kind, Undecided, combined, joined
from porter.warp.native.operations import atomic_operation, operation
from porter.warp.native.state import Scope
from porter.warp.tree import Node, unwrapped

if TYPE_CHECKING:
    from porter.warp.native.statements import Statements

K = Kind
_WIDE = "porter::wide::"
_BIT_FUNCTIONS = {"__popc": "__popcll", "__ffs": "__ffsll", "__clz": "__clzll"}
_SUSPECT = ("warp", "reduce", "scan", "lane", "shfl", "sync", "block", "cg::", "cub::", "tile", "ballot", "vote")
_WHOLE = frozenset({"uniform", "item", "warp0", "stage2", "tree", "agg", "mask"})
"""Guards under which all lanes of a warp come by."""
_DEEPEST = 5
_THREADED = frozenset(["threadIdx", "blockIdx", "blockDim", "gridDim", "__shared__", "asm", "__asm__", "32", "31"])


class Calls:
    """The part of the walk that knows CUDA's functions."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.plan = expressions.plan
        self.constants = expressions.constants
        self.statements: Statements
        self.depth = 0
        self.returned: dict[str, str] = {}
        """How each helper's result was gathered."""

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.expressions.value(node, scope)

    # Calls

    def call(self, node: Node, scope: Scope) -> Kind:
        """The meaning of a call's result."""
        found = collective(node)
        if found is not None:
            return self._collective(node, found, scope)
        if node.kids[0].kind == "member":
            raise Undecided(node, f"the member {node.kids[0].text}")
        if not node.callee:
            inner = unwrapped(node.kids[0])
            if inner.kind == "name" and inner.text in scope.function.template_parameters and len(node.arguments) == 1:
                return self.value(node.arguments[0], scope)
            raise Undecided(node, "a call of an expression")
        name = node.callee.rpartition("::")[2]
        if name in BARRIERS:
            return self._barrier(node, name, scope)
        if name in _BIT_FUNCTIONS and node.arguments:
            return self._bits(node, name, scope)
        functions = self.plan.bodies.by_name.get(name, ())
        if functions and not all(map(self._knows_no_warps, functions)):
            return self._helper(node, functions, scope)
        if functions:
            return self._plain(node, scope)
        if name.startswith("atomic"):
            return self._atomic(node, scope)
        if name in self.plan.bodies.macro_bodies:
            raise Undecided(node, f"the macro {name}")
        if any(word in node.callee.lower() for word in _SUSPECT):
            raise Undecided(node, f"{node.callee} is not in this file")
        return self._plain(node, scope)

    def _knows_no_warps(self, function: Function) -> bool:
        """Whether a helper computes with its arguments alone: no thread numbers, no exchange, no shared memory."""
        if self.plan.bodies.reach.get(function.name):
            return False
        texts = self.plan.bodies.tokens.texts[function.head.begin : function.head.end]
        return _THREADED.isdisjoint(texts) and not any(self.constants.is_warp_size(t) for t in set(texts))

    def _plain(self, node: Node, scope: Scope) -> Kind:
        """A function of its arguments: mathematics, conversions, constructors."""
        kind = K.UNIFORM
        for kid in node.arguments:
            inner = unwrapped(kid)
            if inner.kind == "unary" and inner.text == "&" and inner.kids[0].kind == "name":
                raise Undecided(node, f"{node.callee} may write {inner.kids[0].text}")
            kind = self.expressions.mixed(kind, self.value(kid, scope), node)
        if kind in (K.MASK, K.LANE, K.WARP, K.WARPS, K.WIDTH, K.BIT, K.LT):
            raise Undecided(node, f"{kind.value} passed to {node.callee}")
        return kind

    def _barrier(self, node: Node, name: str, scope: Scope) -> Kind:
        if name != "__syncthreads":
            for kid in node.arguments:
                self.value(kid, scope)
        return K.UNIFORM

    def _bits(self, node: Node, name: str, scope: Scope) -> Kind:
        kind = self.value(node.arguments[0], scope)
        if kind not in (K.MASK, K.LT):
            return kind
        self.plan.replace(node.kids[0], _BIT_FUNCTIONS[name])
        if name == "__popc":
            return K.RANK if kind is K.LT else K.AGG
        return K.LEADER

    def _collective(self, node: Node, found: Collective, scope: Scope) -> Kind:
        if found.kind == "sync":
            return K.UNIFORM
        if found.kind not in ("shuffle", "ballot", "vote", "active", "reduce"):
            raise Undecided(node, f"{found.name} has no widened form")
        mask_kind = self._mask(node, found, scope)
        self.plan.replace(node.kids[0], _WIDE + found.name.removeprefix("__"))
        if found.kind == "active":
            return K.MASK
        if found.kind == "shuffle":
            return self._shuffle(node, found, mask_kind, scope)
        value = argument(node, found.value)
        kind = self.value(value, scope) if value is not None else K.UNIFORM
        if found.kind == "ballot":
            return K.MASK
        self._all_lanes(node, scope)
        if kind in (K.SCAN, K.LANE, K.MASK):
            raise Undecided(node, f"{found.name} of {kind.value}")
        if found.kind == "reduce":
            self.plan.exchanges = True
            return self.gathered(kind, node)
        return K.BLOCKWIDE if kind is K.PARTIAL else K.AGG

    def _mask(self, node: Node, found: Collective, scope: Scope) -> Kind | None:
        """The mask of a collective: all lanes, or a mask that was computed."""
        mask = argument(node, found.mask)
        if mask is None:
            return None
        if is_full_mask(self.expressions, mask):
            self.plan.replace(mask, "~0ull")
            return K.UNIFORM
        kind = self.value(mask, scope)
        if kind is not K.MASK:
            raise Undecided(mask, "a mask that names some lanes")
        return kind

    def _all_lanes(self, node: Node, scope: Scope) -> None:
        """An exchange needs the whole wavefront."""
        if scope.exited:
            raise Undecided(node, "some lanes have returned before an exchange")
        bad = [guard for guard in scope.guards if guard not in _WHOLE]
        if bad:
            raise Undecided(node, "an exchange in divergent code")

    def _shuffle(self, node: Node, found: Collective, mask_kind: Kind | None, scope: Scope) -> Kind:
        self._width_argument(node, found, scope)
        value_node, lane_node = argument(node, found.value), argument(node, found.lane)
        if value_node is None or lane_node is None:
            raise Undecided(node, "a shuffle without a lane")
        kind = self.value(value_node, scope)
        form = found.name.removeprefix("__shfl").removesuffix("_sync")
        if form == "":
            return self._broadcast(node, kind, lane_node, mask_kind, scope)
        self._all_lanes(node, scope)
        self.plan.exchanges = True
        if not self._is_distance(lane_node, scope):
            one_up = form == "_up" and self.constants.value(lane_node) == 1 and kind is K.SCAN
            if not one_up:
                raise Undecided(lane_node, "a shuffle over a distance that belongs to no tree")
            return K.SCAN
        if form == "_up":
            return K.SCAN if kind in (K.DATA, K.SCAN) else self._scanned(kind, node)
        return kind

    def _scanned(self, kind: Kind, node: Node) -> Kind:
        if kind in (K.PARTIAL, K.PREFIX):
            return K.PREFIX
        raise Undecided(node, f"a scan of {kind.value}")

    def _width_argument(self, node: Node, found: Collective, scope: Scope) -> None:
        width = argument(node, found.width)
        if width is None:
            return
        if self.constants.value(width) != WARP or self.expressions.is_width(width):
            if self.value(width, scope) is not K.WIDTH:
                raise Undecided(width, "a shuffle within part of a warp")
            return
        self.plan.replace(width, "64")

    def _is_distance(self, node: Node, scope: Scope) -> bool:
        node = unwrapped(node)
        return (node.kind == "name" and node.text in scope.tree) or node.first in self.plan.distances

    def _broadcast(self, node: Node, kind: Kind, lane_node: Node, mask_kind: Kind | None, scope: Scope) -> Kind:
        """`__shfl(v, lane)`: from lane 0, the last lane, or a leader that is there for sure."""
        lane = self.constants.value(lane_node)
        if lane == WARP - 1 and unwrapped(lane_node).kind == "number":
            self.plan.replace(unwrapped(lane_node), "63")
        elif lane is None or lane != 0:
            lane_kind = self.value(lane_node, scope)
            if lane_kind is K.WIDTH:
                lane = WARP - 1
            elif lane_kind is not K.LEADER:
                raise Undecided(lane_node, "a broadcast from a lane that is not known")
        if mask_kind is not K.MASK:
            self._all_lanes(node, scope)
            self.plan.exchanges |= lane is not None
        if kind is K.DATA or (kind is K.SCAN and lane == WARP - 1):
            return K.AGG
        if kind in (K.AGG, K.BASE, K.UNIFORM, K.ITEM, K.BLOCKWIDE):
            return kind
        raise Undecided(node, f"a broadcast of {kind.value}")

    def gathered(self, kind: Kind, node: Node) -> Kind:
        """What a reduction over the lanes gives."""
        if kind in (K.DATA, K.STEP):
            return K.AGG
        if kind is K.PARTIAL:
            return K.BLOCKWIDE
        raise Undecided(node, f"a reduction of {kind.value}: it counts lanes")

    def _helper(self, node: Node, functions: tuple[Function, ...], scope: Scope) -> Kind:
        if self.depth > _DEEPEST:
            raise Undecided(node, "calls nested too deep")
        result = K.UNIFORM
        for function in functions:
            kinds: dict[str, Kind] = {}
            distances: set[str] = set()
            for name, kid in zip(function.parameters, node.arguments, strict=False):
                inner = unwrapped(kid)
                if self._is_distance(inner, scope):
                    distances.add(name)
                    kinds[name] = K.DELTA
                elif inner.kind == "name" and inner.text in self.plan.shared and inner.text not in scope.kinds:
                    self.plan.shared[name] = self.plan.shared[inner.text]
                elif is_full_mask(self.expressions, inner):
                    raise Undecided(inner, "a mask handed to a helper")
                else:
                    kinds[name] = self.value(kid, scope)
            inside = Scope(function, kinds, guards=scope.guards, tree=frozenset(distances), exited=scope.exited)
            for name, kid in zip(function.parameters, node.arguments, strict=False):
                inside.operations[name] = operation(self, kid, scope)
            self.plan.functions[function.head.begin] = function
            self.depth += 1
            try:
                self.statements.run(function.body, inside)
            finally:
                self.depth -= 1
            self.returned[function.name] = inside.operations.get("return", "")
            for kind in inside.returns:
                result = joined(result, kind, node)
        return result

    def _atomic(self, node: Node, scope: Scope) -> Kind:
        if not node.arguments:
            raise Undecided(node, "an atomic without arguments")
        place = self._address(node.arguments[0], scope)
        kinds = [self.value(kid, scope) for kid in node.arguments[1:]]
        kind = K.UNIFORM
        for other in kinds:
            kind = self.expressions.mixed(kind, other, node)
        single = {"lane0", "last", "leader", "tid0"} & set(scope.guards)
        if kind is K.AGG:
            if not single or place not in (K.UNIFORM, K.ITEM):
                raise Undecided(node, "a warp's sum added more than once, or to a place by thread")
            self.plan.item |= place is K.ITEM
            if place is not K.ITEM:
                self._same_operation(node, scope)
            return K.BASE
        if kind is K.BLOCKWIDE:
            if "tid0" not in scope.guards and not {"lane0"} <= set(scope.guards):
                raise Undecided(node, "a block's sum added more than once")
            return K.UNIFORM
        if kind in (K.DATA, K.STEP) or place in PER_THREAD:
            if single and place is not K.UNIFORM:
                raise Undecided(node, "one lane's data")
            return K.DATA
        if kind is K.UNIFORM:
            if {"lane0", "last", "leader"} & set(scope.guards) and not self.plan.item:
                raise Undecided(node, "counted once per warp")
            return K.DATA if not single else K.UNIFORM
        if kind is K.ITEM:
            return K.ITEM
        raise Undecided(node, f"an atomic with {kind.value}")

    def _same_operation(self, node: Node, scope: Scope) -> None:
        """Warps' values are added up as their lanes' values were, or the width would show."""
        how = atomic_operation(node.callee.rpartition("::")[2])
        if not how or operation(self, node.arguments[1], scope) != how:
            raise Undecided(node, "the warps' values are gathered in another way than the lanes'")

    def _address(self, node: Node, scope: Scope) -> Kind:
        inner = unwrapped(node)
        if inner.kind == "unary" and inner.text == "&":
            element = unwrapped(inner.kids[0])
            if element.kind == "index":
                base = unwrapped(element.kids[0])
                if base.kind == "name" and base.text in self.plan.shared:
                    self.value(element.kids[1], scope)
                    return K.DATA if self.value(element.kids[1], scope) is not K.UNIFORM else K.UNIFORM
                return combined(self.value(element.kids[0], scope), self.value(element.kids[1], scope), node)
            return K.UNIFORM
        return self.value(inner, scope)

    # Conditions

    def condition(self, node: Node, scope: Scope) -> tuple[str, ...]:
        """The guards that a condition puts around what follows."""
        node = unwrapped(node)
        if node.kind == "binary" and node.text in ("&&", "and"):
            left = self.condition(node.kids[0], scope)
            return (*left, *self.condition(node.kids[1], scope.copy(*left)))
        if node.kind == "binary" and node.text in ("||", "or"):
            found = {guard for kid in node.kids for guard in self.condition(kid, scope)}
            if found <= {"uniform", "item", "thread", "agg", "mask", "tree"}:
                return tuple(sorted(found))
            raise Undecided(node, "an alternative by lane or warp")
        if node.kind == "unary" and node.text in ("!", "not"):
            kind = self.value(node.kids[0], scope)
            if kind is K.LANE:
                return ("lane0",)
            if kind is K.WARP:
                return ("warp0",)
            if kind is K.BTHREAD:
                return ("tid0",)
            return (self._by_kind(kind, node),)
        if node.kind == "binary" and node.text in _COMPARISONS:
            return self._compared(node, scope)
        kind = self.value(node, scope)
        if kind is K.WARP:
            return ("later",)
        if kind is K.LANE:
            return ("scan",)
        return (self._by_kind(kind, node),)

    def _by_kind(self, kind: Kind, node: Node) -> str:
        if kind in (K.UNIFORM, K.WIDTH, K.BLOCKWIDE, K.WARPS):
            return "uniform"
        if kind is K.ITEM:
            return "item"
        if kind is K.AGG:
            return "agg"
        if kind in (K.MASK, K.LEADER):
            return "mask"
        if kind in PER_THREAD or kind is K.STEP:
            return "thread"
        if kind in (K.PARTIAL, K.SCAN, K.PREFIX):
            return "tree"
        raise Undecided(node, f"a condition on {kind.value}")

    def _compared(self, node: Node, scope: Scope) -> tuple[str, ...]:
        left, right = node.kids
        operator = node.text
        if self._numbers_lanes(right, scope) and not self._numbers_lanes(left, scope):
            left, right, operator = right, left, _MIRROR[operator]
        special = self._lane_compared(node, left, right, operator, scope)
        if special is not None:
            return special
        one, two = self.value(left, scope), self.value(right, scope)
        if K.LANE in (one, two) or K.WARP in (one, two):
            raise Undecided(node, "a comparison by lane or warp")
        if one is K.RANK and node.text == "==" and self.constants.value(right) == 0:
            return ("leader",)
        if one in (K.MASK, K.BIT) or two in (K.MASK, K.BIT):
            return self._mask_compared(node, one, two)
        if {one, two} & {K.STEP} and {one, two} <= {K.STEP, K.UNIFORM, K.ITEM}:
            return ("thread",)
        return (self._by_kind(self.expressions.mixed(one, two, node), node),)

    def _mask_compared(self, node: Node, one: Kind, two: Kind) -> tuple[str, ...]:
        if K.UNIFORM not in (one, two):
            raise Undecided(node, "masks compared with each other")
        constant = next((self.constants.value(kid) for kid in node.kids if self.constants.value(kid) is not None), None)
        if constant != 0:
            raise Undecided(node, "a mask compared with a number")
        return ("mask",)

    def _numbers_lanes(self, node: Node, scope: Scope) -> bool:
        if self.constants.value(node) is not None:
            return False
        if self._lane_plus_distance(node, scope):
            return True
        try:
            return self.value(node, scope) in (K.LANE, K.WARP, *THREADS)
        except Undecided:
            return False

    def _lane_compared(
        self, node: Node, left: Node, right: Node, operator: str, scope: Scope
    ) -> tuple[str, ...] | None:
        """Conditions on lanes, warps and threads that keep their meaning on 64 lanes."""
        constant = self.constants.value(right)
        if self._lane_plus_distance(left, scope) and operator in ("<", "<="):
            self._bound(right, node, WARP if operator == "<" else WARP - 1)
            return ("scan",)
        if not self._numbers_lanes(left, scope):
            return None
        kind = self.value(left, scope)
        if kind is K.LANE:
            return self._by_lane(node, right, operator, constant, scope)
        if kind is K.WARP:
            return self._by_warp(node, right, operator, constant, scope)
        return self._by_thread(node, kind, right, operator, constant, scope)

    def _lane_plus_distance(self, node: Node, scope: Scope) -> bool:
        node = unwrapped(node)
        if node.kind != "binary" or node.text != "+":
            return False
        for one, two in (node.kids, tuple(reversed(node.kids))):
            if self._is_distance(two, scope):
                return self._numbers_lanes(one, scope) and self.value(one, scope) is K.LANE
        return False

    def _bound(self, right: Node, node: Node, wanted: int) -> None:
        right = unwrapped(right)
        if self.constants.value(right) != wanted:
            raise Undecided(node, "a bound on lanes")
        if right.kind == "number":
            self.plan.replace(right, str(2 * wanted if wanted == WARP else 63))
        elif not any(self.expressions.is_width(below) for below in right.walk()):
            raise Undecided(node, "a bound on lanes")
        else:
            self.expressions._widen(right, wanted)

    def _by_lane(self, node: Node, right: Node, operator: str, constant: int | None, scope: Scope) -> tuple[str, ...]:
        if constant == 0:
            if operator in ("==", "<="):
                return ("lane0",)
            return ("scan",)
        if constant == 1 and operator in ("<", ">="):
            return ("lane0",) if operator == "<" else ("scan",)
        if constant == WARP - 1 and operator == "==":
            self._bound(right, node, WARP - 1)
            return ("last",)
        if constant == WARP and operator == "<":
            self._bound(right, node, WARP)
            return ("uniform",)
        if self._is_distance(right, scope):
            return ("scan",)
        kind = self.value(right, scope)
        if kind is K.LEADER and operator == "==":
            return ("leader",)
        if kind is K.WARPS and operator == "<":
            return ("stage2",)
        if self._halved_warps(right, constant) and operator == "<":
            return ("stage2",)
        raise Undecided(node, "a lane compared with something else")

    def _by_warp(self, node: Node, right: Node, operator: str, constant: int | None, scope: Scope) -> tuple[str, ...]:
        if constant == 0:
            return ("warp0",) if operator in ("==", "<=") else ("later",)
        if constant == 1 and operator in ("<", ">="):
            return ("warp0",) if operator == "<" else ("later",)
        if self.plan.shape.form == "row" and self.value(right, scope) is K.UNIFORM:
            return ("item",)
        raise Undecided(node, "warps with different work")

    def _by_thread(
        self, node: Node, kind: Kind, right: Node, operator: str, constant: int | None, scope: Scope
    ) -> tuple[str, ...]:
        if kind is K.BTHREAD:
            if constant == 0 and operator == "==":
                return ("tid0",)
            if constant == WARP and operator in ("<", ">="):
                self._bound(right, node, WARP)
                return ("warp0",) if operator == "<" else ("later",)
            if self._halved_warps(right, constant) and operator == "<":
                return ("stage2",)
            if constant is not None and constant % (2 * WARP) and constant < 2 * WARP:
                raise Undecided(node, f"{constant} threads, part of a wavefront")
        other = self.value(right, scope)
        if other is K.WARPS and operator == "<":
            return ("stage2",)
        if other in (K.UNIFORM, K.ITEM, K.DATA):
            return ("thread",)
        raise Undecided(node, f"a thread compared with {other.value}")

    def _halved_warps(self, right: Node, constant: int | None) -> bool:
        """Whether a constant is the number of warps of a block of known size: there are half as many now."""
        threads = self.plan.shape.threads
        if constant is None or threads is None or self.plan.shape.form != "line" or constant * WARP != threads:
            return False
        if constant % 2:
            return False
        right = unwrapped(right)
        if right.kind == "number":
            self.plan.replace(right, str(constant // 2))
        elif right.kind == "name":
            self.plan.replace(right, f"({right.text} / 2)")
        else:
            return False
        return True

    # Assignments

    def assigned(self, node: Node, scope: Scope) -> Kind:
        """`target = source` and its relatives."""
        target, source = unwrapped(node.kids[0]), node.kids[1]
        kind = self.value(source, scope)
        if target.kind == "name" and node.text == "=":
            scope.operations[target.text] = operation(self, source, scope)
        if target.kind == "member" and (root := _root(target)) is not None and root in scope.kinds:
            old = scope.kinds[root]
            scope.kinds[root] = joined(old, kind, node) if node.text == "=" else self.expressions.mixed(old, kind, node)
            return scope.kinds[root]
        if target.kind == "name":
            return self._to_variable(node, target, kind, scope)
        if target.kind == "index":
            return self._to_element(node, target, kind, scope)
        if target.kind == "unary" and target.text == "*":
            self._to_memory(node, self.value(target.kids[0], scope), kind, scope)
            return kind
        raise Undecided(node, "an assignment to an expression")

    def _to_variable(self, node: Node, target: Node, kind: Kind, scope: Scope) -> Kind:
        name = target.text
        if name in self.plan.shared and name not in scope.kinds:
            return self._to_shared_scalar(node, name, kind, scope)
        old = scope.kinds.get(name, K.UNIFORM)
        if node.text != "=":
            kind = self.expressions.mixed(old, kind, node)
        if kind in (K.MASK, K.LT, K.BIT):
            self.statements.widen_type(node, name, scope)
        if scope.guards and {"thread", "scan"} & set(scope.guards) and kind in (K.UNIFORM, K.ITEM, K.STEP):
            kind = K.DATA if "scan" not in scope.guards else old
        scope.kinds[name] = kind
        return kind

    def _to_shared_scalar(self, node: Node, name: str, kind: Kind, scope: Scope) -> Kind:
        shared = self.plan.shared[name]
        if kind in (K.BLOCKWIDE, K.UNIFORM, K.ITEM):
            shared.kind = K.BLOCKWIDE
            return K.UNIFORM
        if kind is K.BASE or kind is K.AGG:
            raise Undecided(node, "a warp's value in a variable of the block")
        shared.kind = K.BLOCKWIDE
        if kind is K.DATA and "tid0" in scope.guards:
            return K.UNIFORM
        raise Undecided(node, f"{kind.value} in a variable of the block")

    def _to_element(self, node: Node, target: Node, kind: Kind, scope: Scope) -> Kind:
        base = unwrapped(target.kids[0])
        if base.kind == "name" and base.text in self.plan.shared and base.text not in scope.kinds:
            self._to_shared(node, target, base.text, kind, scope)
            return kind
        if base.kind == "name" and base.text in scope.locals:
            self.value(target.kids[1], scope)
            scope.kinds[base.text] = joined(scope.kinds[base.text], kind, node)
            return kind
        place = combined(self.value(target.kids[0], scope), self.value(target.kids[1], scope), target)
        self._to_memory(node, place, kind, scope)
        return kind

    def _to_memory(self, node: Node, place: Kind, kind: Kind, scope: Scope) -> None:
        guards = set(scope.guards)
        if place in THREADS:
            self.plan.thread_memory = True
            self.plan.item |= "mask" in guards
            if kind not in (K.DATA, K.UNIFORM, *THREADS, K.ITEM):
                raise Undecided(node, f"{kind.value} written by each thread: it would cover 64 lanes")
        elif place in (K.DATA, K.SLOT):
            if kind not in (K.DATA, K.UNIFORM, K.SLOT, *THREADS, K.ITEM):
                raise Undecided(node, f"{kind.value} written by each thread")
        elif place is K.STEP:
            self.plan.item = True
            if kind not in (K.DATA, K.UNIFORM, K.AGG, K.ITEM, K.STEP):
                raise Undecided(node, f"{kind.value} written into an item")
        elif place is K.ITEM:
            self.plan.item = True
            if kind not in (K.AGG, K.ITEM, K.UNIFORM, K.DATA) or (kind is K.DATA and not guards & {"lane0", "last"}):
                raise Undecided(node, f"{kind.value} written as an item's result")
        elif place is K.UNIFORM:
            self._to_uniform(node, kind, guards)
        else:
            raise Undecided(node, f"memory indexed by {place.value}")

    def _to_uniform(self, node: Node, kind: Kind, guards: set[str]) -> None:
        if kind is K.BLOCKWIDE and ("tid0" in guards or "lane0" in guards):
            return
        if kind in (K.UNIFORM, K.DATA) and ("tid0" in guards or kind is K.UNIFORM):
            return
        raise Undecided(node, f"{kind.value} written to one place by a block")

    def _to_shared(self, node: Node, target: Node, name: str, kind: Kind, scope: Scope) -> None:
        shared = self.plan.shared[name]
        place = self.value(target.kids[1], scope)
        guards = set(scope.guards)
        if place is K.WARP:
            if kind not in (K.AGG, K.SCAN, K.UNIFORM) or (kind is K.SCAN and "last" not in guards):
                raise Undecided(node, f"{kind.value} kept per warp")
            if kind is not K.UNIFORM:
                shared.operation = operation(self, node.kids[1], scope)
            shared.kind = K.PARTIAL
        elif place in (K.BTHREAD, K.LANE) and guards & {"warp0", "stage2"}:
            shared.by_lane |= "stage2" not in guards
            if kind is K.PREFIX:
                shared.kind = K.PREFIX
            elif kind is not K.UNIFORM:
                raise Undecided(node, f"{kind.value} kept per warp")
        elif place is K.BTHREAD:
            if kind not in (K.DATA, K.UNIFORM, *THREADS):
                raise Undecided(node, f"{kind.value} kept per thread")
        elif place is K.UNIFORM:
            if kind is K.BLOCKWIDE and guards & {"tid0", "lane0"}:
                shared.kind = K.BLOCKWIDE
            elif not (kind in (K.UNIFORM, K.DATA) and shared.kind is K.DATA):
                raise Undecided(node, f"{kind.value} kept in one element")
        elif place in (K.DATA, K.EACH_WARP):
            if kind not in (K.DATA, K.UNIFORM):
                raise Undecided(node, f"{kind.value} kept by data")
        else:
            raise Undecided(node, f"shared memory indexed by {place.value}")

    def shared_element(self, node: Node, name: str, scope: Scope) -> Kind:
        """What an element of a shared array is."""
        shared = self.plan.shared[name]
        place_node = unwrapped(node.kids[1])
        place = self.value(place_node, scope)
        if place is K.WARP:
            if shared.kind in (K.PARTIAL, K.PREFIX):
                return shared.kind
            raise Undecided(node, "shared memory by warp that no warp has written")
        if place is K.EACH_WARP:
            return K.PARTIAL
        first = "tid0" in scope.guards and (place is K.BTHREAD or self.constants.value(place_node) == 0)
        if first and shared.kind is K.PARTIAL:
            return K.PARTIAL
        if place in (K.BTHREAD, K.LANE) and shared.kind in (K.PARTIAL, K.PREFIX, K.BLOCKWIDE):
            if not {"warp0", "stage2"} & set(scope.guards):
                raise Undecided(node, "values of the warps read by all threads")
            shared.by_lane |= "stage2" not in scope.guards
            return K.PARTIAL
        if place is K.LANE:
            raise Undecided(node, "shared memory indexed by lane")
        if place is K.UNIFORM:
            if shared.kind is K.PARTIAL:
                raise Undecided(node, "the value of one warp")
            return K.UNIFORM if shared.kind is K.BLOCKWIDE else K.DATA
        if place in (K.DATA, K.BTHREAD, K.GTHREAD, K.STEP):
            return K.DATA
        raise Undecided(node, f"shared memory indexed by {place.value}")


def _root(node: Node) -> str | None:
    """The variable that a member chain starts from."""
    while node.kind == "member":
        node = unwrapped(node.kids[0])
    return node.text if node.kind == "name" else None


_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
