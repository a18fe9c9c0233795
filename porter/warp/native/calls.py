"""Calls of a kernel that is to be widened: exchanges, helpers, atomics and functions of their arguments."""

from __future__ import annotations

import re

from porter.cpp.brackets import words
from porter.cpp.constants import WARP
from porter.cpp.lex import STRING, Tokens
from porter.cpp.nodes import MEMBERS, Node, base_of, calls, unwrapped
from porter.warp.collectives import BARRIERS, Collective, argument, collective
from porter.warp.function import Function
from porter.warp.native import parts
from porter.warp.native.conditions import LAST, says_last
from porter.warp.native.expressions import Expressions, is_distance, is_full_mask
from porter.warp.native.kinds import PER_THREAD, Kind, Undecided, joined, placed
from porter.warp.native.operations import atomic_operation, functors, operation, written_variable
from porter.warp.native.state import FollowsStatements, Scope

K = Kind
_WIDE = "porter::wide::"
_BIT_FUNCTIONS = {"__popc": "__popcll", "__ffs": "__ffsll", "__clz": "__clzll"}
_SUSPECT = words(
    "warp reduce scan lane shfl shuffle sync block cg:: cub:: tile ballot vote exchange broadcast bcast prefix "
    "butterfly collective leader elect aggregate rank barrier wave group gather threadid thread_id"
)
_WAITS = frozenset({"cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"})
"""Functions that only say when a kernel begins or ends."""
_WHOLE = frozenset({"uniform", "item", "warp0", "tree", "agg", "mask"})
"""Guards under which all lanes of a warp come by."""
_DEEPEST = 5
_THREADED = frozenset(
    ["threadIdx", "blockIdx", "blockDim", "gridDim", "__shared__", "asm", "__asm__", "__asm", "32", "31"]
)
ASSEMBLY = frozenset({"asm", "__asm__", "__asm"})


class Calls:
    """The part of the walk that knows CUDA's functions."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.plan = expressions.plan
        self.constants = expressions.constants
        self.statements: FollowsStatements
        self.depth = 0
        self.returned: dict[str, str] = {}
        """How each helper's result was gathered."""

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.expressions.value(node, scope)

    def call(self, node: Node, scope: Scope) -> Kind:
        """The meaning of a call's result."""
        found = collective(node)
        if found is not None:
            return self._collective(node, found, scope)
        if node.kids[0].kind == "member":
            return self._method(node, scope)
        if not node.callee:
            inner = unwrapped(node.kids[0])
            if inner.kind == "call" and inner.callee in scope.function.template_parameters and not inner.arguments:
                return self._plain(node, scope)
            if inner.kind == "name" and inner.text in scope.function.template_parameters and len(node.arguments) == 1:
                return self.value(node.arguments[0], scope)
            raise Undecided(node, "a call of an expression")
        name = node.callee.rpartition("::")[2]
        if name in BARRIERS:
            return self._barrier(node, name, scope)
        if name in _BIT_FUNCTIONS and node.arguments:
            return self._bits(node, name, scope)
        functions = self._candidates(node, name)
        if functions and not all(map(self._knows_no_warps, functions)):
            return self._helper(node, functions, scope)
        if functions:
            return self._known(node, functions, scope)
        if name.startswith("atomic"):
            return self._atomic(node, scope)
        if name in self.plan.bodies.macros.bodies:
            raise Undecided(node, f"the macro {name}")
        if name in _WAITS:
            return K.UNIFORM
        if any(word in node.callee.lower() for word in _SUSPECT):
            raise Undecided(node, f"{node.callee} is not in this file")
        return self._plain(node, scope)

    def _knows_no_warps(self, function: Function) -> bool:
        """Whether a helper computes with its arguments alone: no thread numbers, no exchange, no shared memory."""
        if self.plan.bodies.operations.reach.get(function.name):
            return False
        tokens = self.plan.bodies.tokens
        texts = [
            text
            for index, text in enumerate(tokens.texts[function.head.begin : function.head.end], function.head.begin)
            if tokens.kinds[index] != STRING and not (text in ASSEMBLY and is_plain_assembly(tokens, index))
        ]
        return _THREADED.isdisjoint(texts) and not any(self.constants.is_warp_size(t) for t in set(texts))

    def _method(self, node: Node, scope: Scope) -> Kind:
        """A member function in sight that knows nothing of warps; it may change its object."""
        member = node.kids[0]
        functions = self._candidates(node, member.text)
        root = base_of(member, MEMBERS)
        suspect = any(word in member.text.lower() for word in _SUSPECT) or self._is_of_warps(root, scope)
        known = bool(functions) and all(map(self._knows_no_warps, functions))
        if root not in scope.kinds or suspect or not known:
            raise Undecided(node, f"the member {member.text}")
        kind = self.expressions.mixed(scope.kinds[root], self._known(node, functions, scope), node)
        if kind is not scope.kinds[root] and not all(f.is_const for f in functions):
            scope.kinds[root] = kind
            scope.operations[root] = ""
        return kind

    def _is_of_warps(self, name: str, scope: Scope) -> bool:
        """Whether the type of a variable says that it works with warps or blocks."""
        declaration = scope.declared.get(name)
        if declaration is None:
            return False
        texts = self.plan.bodies.tokens.texts[declaration.first : declaration.kids[0].first]
        return any(word in text.lower() for text in texts for word in _SUSPECT) or "cg" in texts or "cub" in texts

    def _candidates(self, node: Node, name: str) -> tuple[Function, ...]:
        """The functions of a name that take as many arguments as a call has."""
        count = len(node.arguments)
        return tuple(f for f in self.plan.bodies.by_name.get(name, ()) if f.fewest <= count <= len(f.parameters))

    def _known(self, node: Node, functions: tuple[Function, ...], scope: Scope) -> Kind:
        """A function in sight that computes with its arguments alone; it may write some of them."""
        kind = K.UNIFORM
        for kid in node.arguments:
            inner = unwrapped(kid)
            local = inner.kids[0] if inner.kind == "unary" and inner.text == "&" else kid
            kind = self.expressions.mixed(kind, self.value(local, scope), node)
        self._usable(kind, node)
        for function in functions:
            for name, kid in zip(function.parameters, node.arguments, strict=False):
                target = written_variable(function.parameter_types.get(name, ""), kid)
                if target is None:
                    continue
                if target not in scope.kinds:
                    raise Undecided(node, f"{node.callee} may write {target}")
                scope.kinds[target] = kind
                scope.operations[target] = scope.parts[target] = ""
        return kind

    def _usable(self, kind: Kind, node: Node) -> None:
        if kind in (K.MASK, K.LANE, K.WARP, K.WARPS, K.WIDTH, K.BIT, K.LT, K.FULL):
            raise Undecided(node, f"{kind.value} passed to {node.callee}")

    def _plain(self, node: Node, scope: Scope) -> Kind:
        """A function of its arguments: mathematics, conversions, constructors."""
        kind = K.UNIFORM
        for kid in node.arguments:
            inner = unwrapped(kid)
            if inner.kind == "unary" and inner.text == "&" and inner.kids[0].kind == "name":
                kid = inner.kids[0]
            kind = self.expressions.mixed(kind, self.value(kid, scope), node)
        self._usable(kind, node)
        for kid in node.arguments:
            target = written_variable("*", kid)
            if target in scope.kinds and target is not None:
                scope.kinds[target] = kind
                scope.operations[target] = scope.parts[target] = ""
            elif target is not None and unwrapped(unwrapped(kid).kids[0]).kind == "name":
                raise Undecided(node, f"{node.callee} may write {target}")
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
            how = found.name.removeprefix("__reduce_").removesuffix("_sync")
            if value is not None and parts.part_of(value, self.plan, scope) != how:
                self.plan.unlike = self.plan.unlike or node
            self.plan.exchanges = True
            return self.gathered(kind, node)
        if kind is K.PARTIAL0:
            return K.TOTAL
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
        if kind is K.FULL:
            self.plan.replace(mask, "~0ull")
            return K.UNIFORM
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
        if not is_distance(self.plan, lane_node, scope):
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

    def _broadcast(self, node: Node, kind: Kind, lane_node: Node, mask_kind: Kind | None, scope: Scope) -> Kind:
        """`__shfl(v, lane)`: from lane 0, the last lane, or a leader that is there for sure."""
        lane = self.constants.value(lane_node)
        if lane == WARP - 1 and self.plan.shape.part and says_last(self.expressions, lane_node):
            self.plan.replace(lane_node, LAST)
        elif lane == WARP - 1 and unwrapped(lane_node).kind == "number":
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
        if kind is K.PARTIAL0:
            return K.TOTAL
        raise Undecided(node, f"a reduction of {kind.value}: it counts lanes")

    def _helper(self, node: Node, functions: tuple[Function, ...], scope: Scope) -> Kind:
        if self.depth > _DEEPEST:
            raise Undecided(node, "calls nested too deep")
        self.plan.calls[self._name_token(node)] = functions[0].name
        result: Kind | None = None
        for function in functions:
            inside = self._bound_scope(node, function, scope)
            self.plan.functions[function.head.begin] = function
            self.depth += 1
            try:
                self.statements.function(inside)
            finally:
                self.depth -= 1
            self.returned[function.name] = inside.operations.get("return", "")
            self._hand_back(node, function, inside, scope)
            for kind in inside.returns:
                result = kind if result is None else joined(result, kind, node)
        return K.UNIFORM if result is None else result

    def written_by_calls(self, body: Node) -> set[str]:
        """The variables that functions in sight are given to write."""
        return {
            target
            for call in calls(body)
            for function in self._candidates(call, call.callee.rpartition("::")[2])
            for name, kid in zip(function.parameters, call.arguments, strict=False)
            if (target := written_variable(function.parameter_types.get(name, ""), kid)) is not None
        }

    def _name_token(self, node: Node) -> int:
        """The token of the name that a call calls, without scopes and template arguments."""
        name = node.callee.rpartition("::")[2]
        callee = node.kids[0]
        texts = self.plan.bodies.tokens.texts
        return next(index for index in range(callee.first, callee.last + 1) if texts[index] == name)

    def _bound_scope(self, node: Node, function: Function, scope: Scope) -> Scope:
        """What a helper's parameters mean in one call."""
        inside = Scope(function, {}, guards=scope.guards, exited=scope.exited, strided=scope.strided)
        inside.functors = functors(self.plan.bodies, node, function, scope)
        distances: set[str] = set()
        for name, kid in zip(function.parameters, node.arguments, strict=False):
            inner = unwrapped(kid)
            pointee = inner.kids[0] if inner.kind == "unary" and inner.text == "&" else None
            if is_distance(self.plan, inner, scope):
                distances.add(name)
                inside.kinds[name] = K.DELTA
            elif inner.kind == "name" and inner.text in self.plan.shared and inner.text not in scope.kinds:
                self.plan.shared[name] = self.plan.shared[inner.text]
            elif is_full_mask(self.expressions, inner) and inner.kind in ("name", "number"):
                inside.kinds[name] = K.FULL
            elif pointee is not None and pointee.kind == "name" and pointee.text in scope.kinds:
                inside.kinds[name] = scope.kinds[pointee.text]
                inside.pointees.add(name)
            else:
                inside.kinds[name] = self.value(kid, scope)
            inside.operations[name] = operation(self, pointee or kid, scope)
            inside.parts[name] = parts.part_of(pointee or kid, self.plan, scope)
        inside.kinds.update(
            {
                name: K.UNIFORM
                for name in function.parameters
                if name not in inside.kinds and name not in self.plan.shared
            }
        )
        inside.tree = frozenset(distances)
        inside.widths = self._widths(node, function, scope)
        if self.plan.widths.setdefault(function.head.begin, inside.widths) != inside.widths:
            raise Undecided(node, f"{function.name} is called with several widths")
        return inside

    def _widths(self, node: Node, function: Function, scope: Scope) -> frozenset[str]:
        """The template parameters of a helper that are the width in one call, as given or by default."""
        given = node.kids[0].kids
        found: set[str] = set()
        for place, name in enumerate(function.template_parameters):
            value = given[place] if place < len(given) else function.template_default(name)
            if value is None or value.kind not in ("number", "name") or self.constants.value(value) != WARP:
                if value is not None and value.kind == "name" and value.text in scope.widths:
                    found.add(name)
                continue
            if value.kind == "number" or self.expressions.is_width(value):
                found.add(name)
        return frozenset(found)

    def _hand_back(self, node: Node, function: Function, inside: Scope, scope: Scope) -> None:
        """What a helper leaves in the variables that it was given by reference."""
        for name, kid in zip(function.parameters, node.arguments, strict=False):
            target = written_variable(function.parameter_types.get(name, ""), kid)
            if target is None or name not in inside.kinds:
                continue
            if target not in scope.kinds:
                raise Undecided(node, f"{node.callee} may write {target}")
            scope.kinds[target] = inside.kinds[name]
            scope.operations[target] = inside.operations.get(name, "")
            scope.parts[target] = inside.parts.get(name, "")

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
            if self.plan.shape.form == "line" and {"tid0", "warp0"} & set(scope.guards):
                raise Undecided(node, "the value of the first warp, which stands for its lanes alone")
            self.plan.item |= place is K.ITEM
            if place is not K.ITEM:
                self._same_operation(node, scope)
            return K.BASE
        if kind is K.BLOCKWIDE:
            if "tid0" not in scope.guards and not {"lane0"} <= set(scope.guards):
                raise Undecided(node, "a block's sum added more than once")
            return K.UNIFORM
        if kind in (K.DATA, K.STEP) or place in PER_THREAD:
            if single and (place is not K.UNIFORM or (scope.is_one_lane and not self.plan.item)):
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
                return placed(self.value(element.kids[0], scope), self.value(element.kids[1], scope), node)
            return K.UNIFORM
        return self.value(inner, scope)


_OF_WARPS = re.compile(
    r"shfl|vote|match|redux|activemask|elect|lane|warp|%tid|%ntid|%ctaid|bar|mma|ldmatrix|stmatrix|movmatrix|cluster|griddep"
)


def is_plain_assembly(tokens: Tokens, index: int) -> bool:
    """Whether the assembly whose keyword stands at a token computes with one thread's values alone."""
    last = index + 1
    while last < len(tokens) and tokens.texts[last] != ";":
        last = tokens.partner.get(last, last) + 1 if tokens.texts[last] == "(" else last + 1
    written = [text for place, text in enumerate(tokens.texts[index:last], index) if tokens.kinds[place] == STRING]
    return bool(written) and not any(_OF_WARPS.search(text) for text in written)
