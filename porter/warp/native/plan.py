"""Which kernels of a file can be widened, with all edits, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from porter.launches import launched_kernels
from porter.model import Edit, Launch
from porter.unit import Unit
from porter.warp.bodies import Bodies, Function, bodies_of
from porter.warp.collectives import EXCHANGES
from porter.warp.geometry import launches_of
from porter.warp.native.kinds import Kind, Undecided
from porter.warp.native.launches import settle, shape_of
from porter.warp.native.state import Plan, Scope
from porter.warp.native.statements import Statements
from porter.warp.tree import Node

_HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl")


@dataclass(frozen=True)
class Widened:
    """A kernel that can be widened: all of its edits."""

    kernel: Function
    edits: tuple[Edit, ...]
    functions: tuple[Function, ...]


@dataclass(frozen=True)
class Kept:
    """A kernel that keeps its 32 lanes: why, and where the reason stands."""

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
    bodies = bodies_of(unit)
    widened: list[Widened] = []
    kept: list[Kept] = []
    for kernel in bodies.functions:
        if not kernel.is_kernel or not is_wanted(unit, kernel.name) or not _uses_warps(bodies, kernel):
            continue
        found = attempt(unit, bodies, kernel)
        if isinstance(found, Widened):
            widened.append(found)
        else:
            kept.append(found)
    return _closed(unit, bodies, widened, kept)


def _uses_warps(bodies: Bodies, kernel: Function) -> bool:
    return not EXCHANGES.isdisjoint(bodies.reach.get(kernel.name, ()))


def attempt(unit: Unit, bodies: Bodies, kernel: Function) -> Widened | Kept:
    """Tries to widen one kernel."""
    launches = tuple(_launches(unit, kernel))
    try:
        if kernel.head.directive is not None:
            raise Undecided(None, "it is written in a macro")
        if len(bodies.by_name.get(kernel.name, ())) > 1:
            raise Undecided(None, "there are several kernels of this name")
        plan = Plan(bodies, shape_of(bodies, kernel, launches))
        plan.functions[kernel.head.begin] = kernel
        _walk(plan, kernel)
        _check(unit, bodies, plan)
        return Widened(kernel, settle(bodies, plan, launches), tuple(plan.functions.values()))
    except Undecided as undecided:
        return Kept(kernel, undecided.reason, undecided.node)


def _walk(plan: Plan, kernel: Function) -> None:
    kinds = dict.fromkeys(kernel.parameters, Kind.UNIFORM)
    Statements(plan).run(kernel.body, Scope(kernel, kinds))


def _launches(unit: Unit, kernel: Function) -> Iterator[Launch]:
    names = frozenset({kernel.name})
    return (launch for launch in launches_of(unit) if launched_kernels(unit.tokens, launch, names))


def _check(unit: Unit, bodies: Bodies, plan: Plan) -> None:
    """What holds for a kernel as a whole."""
    if not plan.edits:
        raise Undecided(None, "nothing in it is 32 lanes wide")
    if plan.item and plan.thread_memory:
        raise Undecided(None, "a warp has an item of its own, and threads have data of their own")
    helpers = [f for f in plan.functions.values() if not f.is_kernel]
    if helpers and unit.source.path.endswith(_HEADERS):
        raise Undecided(None, f"other files may call {helpers[0].name}")
    for shared in plan.shared.values():
        if not shared.by_lane or shared.bound is None:
            continue
        size = bodies.constants.value(shared.bound)
        if size is None:
            raise Undecided(shared.node, "lanes index an array of unknown size")
        if size < 64:
            if size != 32 or shared.bound.kind not in ("number", "name"):
                raise Undecided(shared.bound, f"an array of {size} elements for 64 lanes")
            plan.replace(shared.bound, "64")


def _closed(unit: Unit, bodies: Bodies, widened: list[Widened], kept: list[Kept]) -> Outcome:
    """Drops kernels whose helpers are called from code that keeps 32 lanes, until none is left."""
    while True:
        accepted = {f.head.begin for item in widened for f in item.functions}
        bad = next(
            ((item, f, who) for item in widened if (f := _shared(bodies, item, accepted)) for who in [f[1]]), None
        )
        if bad is None:
            return Outcome(tuple(widened), tuple(kept))
        item, (helper, caller), _ = bad
        widened.remove(item)
        kept.append(Kept(item.kernel, f"{helper} is also called by {caller}, which keeps 32 lanes", None))


def _shared(bodies: Bodies, item: Widened, accepted: set[int]) -> tuple[str, str] | None:
    """A helper of a kernel and a caller of it that is not widened."""
    for helper in item.functions:
        if helper.is_kernel:
            continue
        for caller in bodies.functions:
            if caller.head.begin not in accepted and bodies.calls(caller, helper.name):
                return helper.name, caller.name
    return None
