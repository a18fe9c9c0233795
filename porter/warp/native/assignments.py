"""Assignments of a kernel that is to be widened: what variables, memory and shared arrays hold after them."""

from __future__ import annotations

from porter.cpp.nodes import MEMBERS, Node, base_of, unwrapped
from porter.warp.native import parts
from porter.warp.native.calls import Calls
from porter.warp.native.kinds import PER_THREAD, THREADS, Kind, Undecided, joined, placed
from porter.warp.native.operations import kept, of_whole, operation
from porter.warp.native.state import FollowsStatements, Scope
from porter.warp.native.steady import is_neutral

K = Kind
FILLED = "what fills the places of more warps is gathered, too"
_STAGE2 = frozenset({"stage2", "stage2t"})
"""Guards of the lanes, or of the first threads, that each take the value of one warp."""


class Assignments:
    """The part of the walk that knows what is written where."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.expressions = calls.expressions
        self.plan = calls.plan
        self.constants = calls.constants
        self.statements: FollowsStatements

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.expressions.value(node, scope)

    def assigned(self, node: Node, scope: Scope) -> Kind:
        """`target = source` and its relatives."""
        target, source = unwrapped(node.kids[0]), node.kids[1]
        if target.kind == "unary" and target.text == "*" and unwrapped(target.kids[0]).text in scope.pointees:
            target = unwrapped(target.kids[0])
        kind = self.value(source, scope)
        parts.set_by(node, self.plan, scope)
        if target.kind == "name" and (node.text == "=" or scope.operations.get(target.text)):
            scope.operations[target.text] = kept(self.calls, target.text, node, scope)
        if target.kind == "member" and (root := base_of(target, MEMBERS)) in scope.kinds:
            if node.text == "=" and not scope.tree:
                scope.operations[root] = of_whole(operation(self.calls, source, scope), target.text)
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
        if array := self.expressions.register_array(target, scope):
            scope.kinds[array] = joined(scope.kinds[array], kind, node)
            return kind
        place = placed(self.value(target.kids[0], scope), self.value(target.kids[1], scope), target)
        self._to_memory(node, place, kind, scope)
        return kind

    def _not_by_one_lane(self, node: Node, place: Kind, scope: Scope) -> None:
        if place in PER_THREAD and scope.is_one_lane and not self.plan.item:
            raise Undecided(node, "written by one lane of a warp: it would be one of 64")

    def _to_memory(self, node: Node, place: Kind, kind: Kind, scope: Scope) -> None:
        guards = set(scope.guards)
        self._not_by_one_lane(node, place, scope)
        if place in THREADS:
            self.plan.thread_memory = True
            self.plan.item |= "mask" in guards
            if kind not in (K.DATA, K.UNIFORM, *THREADS, K.ITEM, K.BLOCKWIDE):
                raise Undecided(node, f"{kind.value} written by each thread: it would cover 64 lanes")
        elif place in (K.DATA, K.SLOT):
            if kind not in (K.DATA, K.UNIFORM, K.SLOT, *THREADS, K.ITEM, K.BLOCKWIDE):
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
        if kind is K.BLOCKWIDE:
            return
        if kind in (K.UNIFORM, K.DATA) and ("tid0" in guards or kind is K.UNIFORM):
            return
        if kind is K.DATA and "one" in guards:
            self.plan.thread_memory = True
            return
        raise Undecided(node, f"{kind.value} written to one place by a block")

    def _to_shared(self, node: Node, target: Node, name: str, kind: Kind, scope: Scope) -> None:
        shared = self.plan.shared[name]
        place = self.value(target.kids[1], scope)
        guards = set(scope.guards)
        self._not_by_one_lane(node, place, scope)
        if place is K.WARP:
            if kind not in (K.AGG, K.SCAN, K.UNIFORM) or (kind is K.SCAN and "last" not in guards):
                raise Undecided(node, f"{kind.value} kept per warp")
            if kind is not K.UNIFORM:
                shared.operation = operation(self.calls, node.kids[1], scope)
            shared.kind = K.PARTIAL
        elif place in (K.BTHREAD, K.LANE) and guards & {"warp0", *_STAGE2}:
            shared.by_lane |= guards.isdisjoint(_STAGE2)
            if kind is K.PREFIX:
                shared.kind = K.PREFIX
            elif kind is not K.UNIFORM:
                raise Undecided(node, f"{kind.value} kept per warp")
            shared.filler = node.kids[1] if kind is K.UNIFORM else None
        elif place is K.BTHREAD:
            if kind not in (K.DATA, K.UNIFORM, *THREADS):
                raise Undecided(node, f"{kind.value} kept per thread")
        elif place is K.UNIFORM:
            if kind is K.BLOCKWIDE:
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
        if place is K.WARP_BEFORE and shared.kind is K.PREFIX:
            return K.PREFIX
        if place is K.WARP:
            if shared.kind in (K.PARTIAL, K.PREFIX):
                return shared.kind
            raise Undecided(node, "shared memory by warp that no warp has written")
        if place is K.EACH_WARP:
            return K.PARTIAL
        first = scope.is_first_thread and (place is K.BTHREAD or self.constants.value(place_node) == 0)
        if first and shared.kind is K.PARTIAL:
            return K.PARTIAL
        if place in (K.BTHREAD, K.LANE) and shared.kind in (K.PARTIAL, K.PREFIX, K.BLOCKWIDE):
            if not {"warp0", *_STAGE2} & set(scope.guards):
                raise Undecided(node, "values of the warps read by all threads")
            if shared.filler is not None and not is_neutral(shared.operation, shared.filler, name, self.plan, scope):
                raise Undecided(shared.filler, FILLED)
            shared.by_lane |= _STAGE2.isdisjoint(scope.guards)
            return K.PARTIAL0 if "stage2t" in scope.guards and "warp0" not in scope.guards else K.PARTIAL
        if place is K.LANE:
            raise Undecided(node, "shared memory indexed by lane")
        if place is K.UNIFORM:
            if shared.kind is K.PARTIAL:
                raise Undecided(node, "the value of one warp")
            return K.UNIFORM if shared.kind is K.BLOCKWIDE else K.DATA
        if place in (K.DATA, K.BTHREAD, K.GTHREAD, K.STEP):
            return K.DATA
        raise Undecided(node, f"shared memory indexed by {place.value}")
