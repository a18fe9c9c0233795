"""Which kernels of a file can be widened, with all edits, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from porter.cpp.launches import launched_kernels
from porter.cpp.nodes import Node
from porter.engine.unit import Unit
from porter.model import Edit, Launch
from porter.warp.bodies import bodies_of
from porter.warp.collectives import EXCHANGES
from porter.warp.function import Function
from porter.warp.native.assemble import Attempt, assemble
from porter.warp.native.kinds import Kind, Undecided
from porter.warp.native.launches import TROUBLE, part_shape, settle, shape_of
from porter.warp.native.state import Plan, Scope, Shape
from porter.warp.native.statements import Statements
from porter.warp.native.view import View, view_of


@dataclass(frozen=True)
class Widened:
    """A kernel that can be widened: all of its edits."""

    kernel: Function
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Kept:
    """A kernel that keeps its 32 lanes: why, and where in the file the reason stands."""

    kernel: Function
    reason: str
    node: Node | None


@dataclass(frozen=True)
class Outcome:
    """All kernels of a file that work with warps and were asked for."""

    widened: tuple[Widened, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def edits(self) -> frozenset[Edit]:
        """Everything that is edited."""
        return frozenset(edit for item in self.widened for edit in item.edits)


def outcome(unit: Unit) -> Outcome:
    """The plan for a file under the user's settings; kept for the rules that ask."""
    memo = bodies_of(unit).memo
    key = ("native", unit.settings.warp, unit.settings.native_kernels, unit.settings.preserve_kernels)
    if key not in memo:
        memo[key] = _outcome(unit)
    return cast(Outcome, memo[key])


def is_wanted(unit: Unit, name: str) -> bool:
    """Whether the settings ask for a kernel to be widened."""
    settings = unit.settings
    if name in settings.preserve_kernels:
        return False
    return settings.warp == "native" or name in settings.native_kernels


def _outcome(unit: Unit) -> Outcome:
    wanted = {kernel.name for kernel in bodies_of(unit).functions if kernel.is_kernel and is_wanted(unit, kernel.name)}
    if not wanted:
        return Outcome()
    view = view_of(unit)
    attempts: list[Attempt] = []
    kept: list[Kept] = []
    for kernel in view.bodies.functions:
        if not kernel.is_kernel or kernel.name not in wanted or not view.is_own(kernel):
            continue
        if EXCHANGES.isdisjoint(view.bodies.operations.reach.get(kernel.name, ())):
            continue
        found = attempt(view, kernel)
        if isinstance(found, Attempt):
            attempts.append(found)
        else:
            kept.append(found)
    done, dropped = assemble(view, tuple(attempts))
    kept += [Kept(item.kernel, reason, None) for item, reason in dropped]
    return Outcome(tuple(Widened(item.kernel, edits) for item, edits in done), tuple(kept))


def attempt(view: View, kernel: Function) -> Attempt | Kept:
    """Tries to widen one kernel: for whole wavefronts, then for blocks of any number of warps."""
    launches = tuple(_launches(view, kernel))
    try:
        if kernel.head.directive is not None:
            raise Undecided(None, "it is written in a macro")
        return _either(view, kernel, launches)
    except Undecided as undecided:
        node = undecided.node
        if node is not None and node.first < view.first:
            node = None
        return Kept(kernel, undecided.reason, node)


def _either(view: View, kernel: Function, launches: tuple[Launch, ...]) -> Attempt:
    """For whole wavefronts if its launches say so, or else for blocks of any number of warps."""
    first: Undecided | None = None
    if launches:
        try:
            return _tried(view, kernel, launches, shape_of(view.bodies, kernel, launches))
        except Undecided as undecided:
            first = undecided
    shape = part_shape(view.bodies, kernel, launches)
    if shape is None:
        raise first or Undecided(None, "no launch of it in sight says how many threads a block has")
    try:
        return _tried(view, kernel, launches, shape)
    except Undecided as undecided:
        raise first if first is not None and first.reason not in TROUBLE else undecided from None


def _tried(view: View, kernel: Function, launches: tuple[Launch, ...], shape: Shape) -> Attempt:
    plan = Plan(view.bodies, shape)
    plan.functions[kernel.head.begin] = kernel
    Statements(plan).function(Scope(kernel, dict.fromkeys(kernel.parameters, Kind.UNIFORM)))
    _check(view, kernel, plan)
    edits = settle(view.bodies, plan, launches)
    return Attempt(kernel, edits, tuple(plan.functions.values()), tuple(plan.calls.items()))


def _launches(view: View, kernel: Function) -> Iterator[Launch]:
    names = frozenset({kernel.name})
    return (launch for launch in view.launches if launched_kernels(view.tokens, launch, names))


def _check(view: View, kernel: Function, plan: Plan) -> None:
    """What holds for a kernel as a whole."""
    if not plan.edits:
        raise Undecided(None, "nothing in it is 32 lanes wide")
    if plan.item and plan.thread_memory:
        raise Undecided(None, "a warp has an item of its own, and threads have data of their own")
    if plan.item and plan.unlike is not None:
        raise Undecided(plan.unlike, "the lanes' parts of an item are gathered in another way than the lanes")
    if plan.item and plan.bare is not None:
        raise Undecided(plan.bare, "32 in a place that says nothing of its meaning")
    if plan.item and len(view.bodies.by_name.get(kernel.name, ())) > 1:
        raise Undecided(None, "there are several kernels of this name")
    for shared in plan.shared.values():
        if not shared.by_lane or shared.bound is None:
            continue
        size = view.bodies.constants.value(shared.bound)
        if size is None:
            raise Undecided(shared.node, "lanes index an array of unknown size")
        if size < 64:
            if size != 32 or shared.bound.kind not in ("number", "name"):
                raise Undecided(shared.bound, f"an array of {size} elements for 64 lanes")
            plan.replace(shared.bound, "64")
