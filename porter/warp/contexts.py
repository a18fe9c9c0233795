"""The functions, macros and launches of a file with what their expressions need to be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from porter.unit import Unit
from porter.warp.bodies import Bodies, Function
from porter.warp.collectives import EXCHANGES, argument, collective
from porter.warp.constants import WARP, looks_like_warp_size
from porter.warp.flows import flow_of
from porter.warp.geometry import launches_of
from porter.warp.lockstep import Lockstep
from porter.warp.lockstep_hints import candidates
from porter.warp.roles import CUB_WARPS
from porter.warp.spread import Spread, Value
from porter.warp.syntax import parse_statements
from porter.warp.tree import Node, calls, names, unwrapped

_SIGNS = frozenset({"warpSize", "tiled_partition", "thread_block_tile", "coalesced_threads", *CUB_WARPS})


@dataclass
class Context:
    """A function with what its expressions need to be judged."""

    bodies: Bodies
    function: Function | None
    body: Node
    values: Mapping[str, Value]
    uses_warps: bool
    parents: dict[int, Node] = field(default_factory=dict)
    masks: frozenset[str] = frozenset()
    deltas: Mapping[str, int] = field(default_factory=dict)
    """Variables that feed the lane argument of a shuffle -> the width of that shuffle."""
    shifts: frozenset[str] = frozenset()
    """Variables by which data is shifted."""
    aggregates: frozenset[str] = frozenset()
    """Variables that hold what was gathered from the lanes of a warp."""
    lockstep: bool = False
    """Whether lanes hand shared memory to each other."""
    shared: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The function's; empty for a macro or a launch."""
        return self.function.name if self.function else ""


def device_contexts(bodies: Bodies) -> Iterator[Context]:
    """The kernels and device functions."""
    for function in bodies.functions:
        flow = flow_of(bodies, function)
        values, lockstep = dict(flow.final), False
        if function in candidates(bodies) and (walk := Lockstep(bodies, function)).find():
            values, lockstep = dict(walk.values), True
        context = Context(bodies, function, function.body, values, lockstep or uses_warps(bodies, function))
        context.lockstep, context.shared = lockstep, frozenset(flow.shared)
        yield _prepared(context)


def macro_contexts(bodies: Bodies) -> Iterator[Context]:
    """The macros that exchange values between lanes."""
    for macros in bodies.macro_bodies.values():
        for _, body in macros:
            uses = any(collective(call) is not None for call in calls(body))
            if uses:
                yield _prepared(Context(bodies, None, body, {}, True))


def host_contexts(unit: Unit, bodies: Bodies) -> Iterator[Context]:
    """The launches of a file with their functions, as far as the geometry goes."""
    warped = {f.name for f in bodies.functions if f.is_kernel and uses_warps(bodies, f)}
    for launch in launches_of(unit):
        first = unit.tokens.at(launch.span.start)
        last = unit.tokens.at(launch.span.end)
        body = parse_statements(unit.tokens, first, last)
        name = launch.kernel.partition("<")[0].rpartition("::")[2].strip()
        yield _prepared(Context(bodies, None, body, {}, name in warped))


def uses_warps(bodies: Bodies, function: Function) -> bool:
    """Whether a function works with warps: exchanges, lane ids, tiles, CUB's warp classes, or names that say so."""
    if not _REACHES.isdisjoint(bodies.reach.get(function.name, ())):
        return True
    texts = frozenset(bodies.tokens.texts[function.head.begin : function.head.end])
    if not _SIGNS.isdisjoint(texts) or any(looks_like_warp_size(text) for text in texts):
        return True
    if any("warp" in name.lower() for name in function.called):
        return True
    return any(node.kind == "variable" and _names_warp(node.text) for node in function.body.walk())


_REACHES = EXCHANGES | {"sync", "lane"}


def _names_warp(name: str) -> bool:
    lower = name.lower()
    return lower.startswith(("warp", "wid", "lane")) or lower.endswith(("warp", "_lane", "laneid", "warpid"))


def _prepared(context: Context) -> Context:
    body = context.body
    for node in body.walk():
        for kid in node.kids:
            context.parents[id(kid)] = node
    context.masks = frozenset(_mask_names(context))
    context.deltas = _delta_names(context)
    context.shifts = frozenset(_shift_names(context))
    context.aggregates = frozenset(_aggregate_names(context))
    return context


def _mask_names(context: Context) -> Iterator[str]:
    for node in context.body.walk():
        if node.kind == "variable" and node.initial is not None and is_mask(node.initial, frozenset()):
            yield node.text
        if node.kind == "assign" and is_mask(node.kids[1], frozenset()):
            yield unwrapped(node.kids[0]).text


def _aggregate_names(context: Context) -> Iterator[str]:
    for node in context.body.walk():
        if node.kind == "assign" and any(_exchanges(context, call) for call in calls(node.kids[1])):
            yield unwrapped(node.kids[0]).text


def _exchanges(context: Context, call: Node) -> bool:
    found = collective(call)
    name = call.callee.rpartition("::")[2]
    return (found is not None and found.kind in EXCHANGES) or not EXCHANGES.isdisjoint(
        context.bodies.reach.get(name, ())
    )


def is_mask(node: Node, known: frozenset[str]) -> bool:
    """Whether an expression holds one bit per lane."""
    node = unwrapped(node)
    if node.kind == "call":
        found = collective(node)
        return (found is not None and found.kind in ("ballot", "active", "match")) or node.callee.endswith(".ballot")
    if node.kind == "binary" and node.text in ("&", "|", "^"):
        return any(is_mask(kid, known) for kid in node.kids)
    if node.kind == "unary" and node.text == "~":
        return is_mask(node.kids[0], known)
    return node.kind == "name" and node.text in known


def _delta_names(context: Context) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for call in calls(context.body):
        shuffle = collective(call)
        width: int | None
        if shuffle is not None and shuffle.kind == "shuffle":
            lane, width_node = argument(call, shuffle.lane), argument(call, shuffle.width)
            width = context.bodies.constants.value(width_node) if width_node is not None else WARP
        else:
            lane, width = helper_delta(context, call)
        for name in names(lane) if lane is not None else ():
            found[name] = max(found.get(name, 0), width or WARP)
    return found


def helper_delta(context: Context, call: Node) -> tuple[Node | None, int]:
    """The argument of a helper that its body hands to a shuffle as the lane."""
    name = call.callee.rpartition("::")[2]
    for function in context.bodies.by_name.get(name, ()):
        place, width = _delta_place(context.bodies, function.parameters, function.body)
        if place is not None:
            return argument(call, place), width
    for macro, body in context.bodies.macro_bodies.get(name, ()):
        place, width = _delta_place(context.bodies, macro.parameters or (), body)
        if place is not None:
            return argument(call, place), width
    if name.startswith("WARP_SHFL"):
        width_node = argument(call, 2)
        written = context.bodies.constants.value(width_node) if width_node is not None else WARP
        return argument(call, 1), written or WARP
    member = call.kids[0].kind == "member" and call.kids[0].text.startswith("shfl")
    return (argument(call, 1), WARP) if member else (None, WARP)


def _delta_place(bodies: Bodies, parameters: tuple[str, ...], body: Node) -> tuple[int | None, int]:
    for inner in calls(body):
        shuffle = collective(inner)
        lane = argument(inner, shuffle.lane) if shuffle is not None and shuffle.kind == "shuffle" else None
        if shuffle is None or lane is None:
            continue
        width_node = argument(inner, shuffle.width)
        width = bodies.constants.value(width_node) if width_node is not None else WARP
        for place, name in enumerate(parameters):
            if name in names(lane):
                return place, width or WARP
    return None, WARP


def _shift_names(context: Context) -> Iterator[str]:
    for node in context.body.walk():
        if node.kind in ("binary", "assign") and node.text in ("<<", ">>", "<<=", ">>=") and len(node.kids) == 2:
            by = unwrapped(node.kids[1])
            if by.kind == "name" and spread_role(context, by) == "" and by.text not in context.deltas:
                yield by.text


def spread_role(context: Context, node: Node) -> str:
    """thread, lane or warp, where an expression counts one of them."""
    if context.function is None:
        return "thread" if any("threadIdx" in name for name in names(node)) else ""
    flow = flow_of(context.bodies, context.function)
    return flow.evaluate(node, context.values).role


def spread_of(context: Context, node: Node) -> Spread:
    """How an expression differs between threads."""
    if context.function is None:
        return Spread.BLOCK
    return flow_of(context.bodies, context.function).evaluate(node, context.values).spread
