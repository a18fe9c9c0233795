"""Classifies the values that may stem from the warp size, with the evidence for each."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from porter.model import Span
from porter.unit import Unit
from porter.warp.bodies import Bodies, Function, bodies_of
from porter.warp.collectives import EXCHANGES, argument, collective
from porter.warp.conditionals import choices
from porter.warp.constants import WARP, looks_like_warp_size
from porter.warp.flows import flow_of
from porter.warp.geometry import launches_of
from porter.warp.lockstep import Lockstep
from porter.warp.lockstep_hints import candidates
from porter.warp.spread import Spread, Value
from porter.warp.syntax import parse_expression, parse_statements
from porter.warp.tree import Node, calls, names, spelled, unwrapped
from porter.written import split_commas, template_end


class Role(str, enum.Enum):
    """What a value that may stem from the warp size means."""

    HARDWARE = "hardware-width"
    TILE = "logical-tile"
    LAYOUT = "data-layout"
    UNRELATED = "unrelated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Classified:
    """One value: where it stands, what it is now, what it means, and why."""

    span: Span
    text: str
    value: int | None
    role: Role
    evidence: str
    function: str


_WIDTHS = frozenset({4, 5, 8, 16, 24, 31, 32, 33, 63, 64, 128, 0xFFFF, 0xFFFF0000, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
_PACKING = frozenset({0x55555555, 0xAAAAAAAA, 0x33333333, 0xCCCCCCCC, 0x0F0F0F0F, 0xF0F0F0F0, 0x00FF00FF, 0xFF00FF00})
"""Masks that pick every other bit, pair, nibble or byte of a word of 32 bits."""
_CANDIDATES = _WIDTHS | _PACKING
_CUB_BLOCKS = re.compile(
    r"Block(?:Load|Store|Reduce|Scan|Exchange|RadixSort|Histogram|Discontinuity|AdjacentDifference)"
)
_BITS_OF = frozenset({"__clz", "__ffs", "__popc", "__brev", "__clzll", "__ffsll", "__popcll", "__fns"})
_CUB_WARPS = frozenset({"WarpReduce", "WarpScan", "WarpExchange", "WarpMergeSort", "WarpLoad", "WarpStore"})
_SIGNS = frozenset({"warpSize", "tiled_partition", "thread_block_tile", "coalesced_threads", *_CUB_WARPS})


@dataclass
class _Context:
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
        return self.function.name if self.function else ""


def classify(unit: Unit) -> tuple[Classified, ...]:
    """All values of a file that may stem from the warp size, in the order of the text."""
    bodies = bodies_of(unit)
    found: dict[int, Classified] = {}
    for context in (*_device(bodies), *_macros(bodies), *_host(unit, bodies)):
        for item in _in_context(context):
            found.setdefault(item.span.start, item)
    for item in (*_block_classes(bodies), *_roundings(bodies)):
        found.setdefault(item.span.start, item)
    for item in _definitions(bodies, tuple(found.values())):
        found[item.span.start] = item
    return tuple(found[start] for start in sorted(found))


def _block_classes(bodies: Bodies) -> Iterator[Classified]:
    """`cub::BlockLoad<int, 32, 4>`: a block that is one warp."""
    tokens = bodies.tokens
    for name in filter(_CUB_BLOCKS.fullmatch, tokens.names):
        for index in tokens.names[name]:
            end = template_end(tokens, index + 1, len(tokens))
            arguments = [] if end is None else list(split_commas(tokens, index + 2, end - 1))
            if len(arguments) > 1:
                node = parse_expression(tokens, *arguments[1])
                if bodies.constants.value(node) == WARP:
                    yield _standing(bodies, node, Role.HARDWARE, "a block that is one warp")


def _roundings(bodies: Bodies) -> Iterator[Classified]:
    """`(size + 31) & ~31` in host code: a size in memory."""
    tokens = bodies.tokens
    for index, text in enumerate(tokens.texts):
        if text == "~" and tokens.texts[index - 1] == "&" and bodies.function_at(index) is None:
            node = parse_expression(tokens, index, min(index + _LONGEST_ROUNDING, len(tokens)))
            operand = node.kids[0] if node.kind == "unary" else node
            if operand is not node and bodies.constants.value(operand) == WARP - 1:
                yield _standing(bodies, operand, Role.LAYOUT, "rounds a size up")


_LONGEST_ROUNDING = 12


def _standing(bodies: Bodies, node: Node, role: Role, evidence: str) -> Classified:
    return _classified(_Context(bodies, None, node, {}, False), node, role, evidence)


# Contexts


def _device(bodies: Bodies) -> Iterator[_Context]:
    for function in bodies.functions:
        flow = flow_of(bodies, function)
        values, lockstep = dict(flow.final), False
        if function in candidates(bodies) and (walk := Lockstep(bodies, function)).find():
            values, lockstep = dict(walk.values), True
        context = _Context(bodies, function, function.body, values, lockstep or uses_warps(bodies, function))
        context.lockstep, context.shared = lockstep, frozenset(flow.shared)
        yield _prepared(context)


def _macros(bodies: Bodies) -> Iterator[_Context]:
    for macros in bodies.macro_bodies.values():
        for _, body in macros:
            uses = any(collective(call) is not None for call in calls(body))
            if uses:
                yield _prepared(_Context(bodies, None, body, {}, True))


def _host(unit: Unit, bodies: Bodies) -> Iterator[_Context]:
    """The launches of a file with their functions, as far as the geometry goes."""
    warped = {f.name for f in bodies.functions if f.is_kernel and uses_warps(bodies, f)}
    for launch in launches_of(unit):
        first = unit.tokens.at(launch.span.start)
        last = unit.tokens.at(launch.span.end)
        body = parse_statements(unit.tokens, first, last)
        name = launch.kernel.partition("<")[0].rpartition("::")[2].strip()
        yield _prepared(_Context(bodies, None, body, {}, name in warped))


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


def _prepared(context: _Context) -> _Context:
    body = context.body
    for node in body.walk():
        for kid in node.kids:
            context.parents[id(kid)] = node
    context.masks = frozenset(_mask_names(context))
    context.deltas = _delta_names(context)
    context.shifts = frozenset(_shift_names(context))
    context.aggregates = frozenset(_aggregate_names(context))
    return context


def _mask_names(context: _Context) -> Iterator[str]:
    for node in context.body.walk():
        if node.kind == "variable" and node.initial is not None and _is_mask(node.initial, frozenset()):
            yield node.text
        if node.kind == "assign" and _is_mask(node.kids[1], frozenset()):
            yield unwrapped(node.kids[0]).text


def _aggregate_names(context: _Context) -> Iterator[str]:
    for node in context.body.walk():
        if node.kind == "assign" and any(_exchanges(context, call) for call in calls(node.kids[1])):
            yield unwrapped(node.kids[0]).text


def _exchanges(context: _Context, call: Node) -> bool:
    found = collective(call)
    name = call.callee.rpartition("::")[2]
    return (found is not None and found.kind in EXCHANGES) or not EXCHANGES.isdisjoint(
        context.bodies.reach.get(name, ())
    )


def _is_mask(node: Node, known: frozenset[str]) -> bool:
    """Whether an expression holds one bit per lane."""
    node = unwrapped(node)
    if node.kind == "call":
        found = collective(node)
        return (found is not None and found.kind in ("ballot", "active", "match")) or node.callee.endswith(".ballot")
    if node.kind == "binary" and node.text in ("&", "|", "^"):
        return any(_is_mask(kid, known) for kid in node.kids)
    if node.kind == "unary" and node.text == "~":
        return _is_mask(node.kids[0], known)
    return node.kind == "name" and node.text in known


def _delta_names(context: _Context) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for call in calls(context.body):
        shuffle = collective(call)
        width: int | None
        if shuffle is not None and shuffle.kind == "shuffle":
            lane, width_node = argument(call, shuffle.lane), argument(call, shuffle.width)
            width = context.bodies.constants.value(width_node) if width_node is not None else WARP
        else:
            lane, width = _helper_delta(context, call)
        for name in names(lane) if lane is not None else ():
            found[name] = max(found.get(name, 0), width or WARP)
    return found


def _helper_delta(context: _Context, call: Node) -> tuple[Node | None, int]:
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


def _shift_names(context: _Context) -> Iterator[str]:
    for node in context.body.walk():
        if node.kind in ("binary", "assign") and node.text in ("<<", ">>", "<<=", ">>=") and len(node.kids) == 2:
            by = unwrapped(node.kids[1])
            if by.kind == "name" and _spread_role(context, by) == "" and by.text not in context.deltas:
                yield by.text


# One context


def _in_context(context: _Context) -> Iterator[Classified]:
    for node in context.body.walk():
        if node.kind == "declaration":
            yield from _array_bounds(context, node)
        if not _is_candidate(context, node) or _inside_constant(context, node):
            continue
        role, evidence = _judge(context, node)
        yield _classified(context, node, role, evidence)


def _classified(context: _Context, node: Node, role: Role, evidence: str) -> Classified:
    tokens = context.bodies.tokens
    span = Span(tokens.starts[node.first], tokens.end(node.last))
    value = context.bodies.constants.value(node)
    return Classified(span, tokens.text[span.start : span.end], value, role, evidence, context.name)


def _is_candidate(context: _Context, node: Node) -> bool:
    """A constant expression with a value or a literal that can come from 32."""
    if node.kind not in ("number", "name", "binary", "unary", "cast") or node.last < node.first:
        return False
    if node.kind == "cast" and not node.text:
        return False
    if node.kind == "name" and (node.text in context.values or node.kids):
        return False
    if node.kind == "number" and node.text.rstrip("uUlL") == "1" and _shifted_by_lane(context, node):
        return True
    value = context.bodies.constants.value(node)
    if value is None:
        return node.kind == "number" and node.text.rstrip("fF").rstrip(".0") in ("32", "31", "16", "64")
    return value in _CANDIDATES or any(
        below.kind == "number" and context.bodies.constants.value(below) in _CANDIDATES for below in node.walk()
    )


def _shifted_by_lane(context: _Context, node: Node) -> bool:
    """`1u << lane`"""
    parent = context.parents.get(id(node))
    if parent is None or parent.kind != "binary" or parent.text != "<<" or parent.kids[0] is not node:
        return False
    return _spread_role(context, parent.kids[1]) == "lane"


def _inside_constant(context: _Context, node: Node) -> bool:
    """Whether a larger constant expression around a node speaks for it."""
    parent = context.parents.get(id(node))
    while parent is not None and parent.kind == "cast":
        parent = context.parents.get(id(parent))
    return (
        parent is not None
        and parent.kind in ("binary", "unary")
        and context.bodies.constants.value(parent) is not None
        and parent.first >= 0
    )


def _judge(context: _Context, node: Node) -> tuple[Role, str]:
    parent, child = _meaningful_parent(context, node)
    if parent is None:
        return Role.UNRELATED, "stands alone"
    handler = _HANDLERS.get(parent.kind)
    judged = handler(context, parent, child, node) if handler is not None else None
    if judged is not None:
        return judged
    return _default(context, node)


def _default(context: _Context, node: Node) -> tuple[Role, str]:
    value = context.bodies.constants.value(node)
    if not context.uses_warps:
        return Role.UNRELATED, "the function does not work with warps"
    if any(context.bodies.constants.is_warp_size(name) for name in names(node)):
        return Role.HARDWARE, "computed from the warp size"
    if value in (4, 5, 8, 16, 24, 33, 63, 64, 128, 0xFFFF) or value not in _WIDTHS:
        return Role.UNRELATED, "no operation on warps takes it"
    return Role.UNDECIDED, "no operation on warps takes it, but the function works with warps"


def _meaningful_parent(context: _Context, node: Node) -> tuple[Node | None, Node]:
    child = node
    parent = context.parents.get(id(node))
    while parent is not None and parent.kind == "cast":
        child, parent = parent, context.parents.get(id(parent))
    return parent, child


def _spread_role(context: _Context, node: Node) -> str:
    """thread, lane or warp, where an expression counts one of them."""
    if context.function is None:
        return "thread" if any("threadIdx" in name for name in names(node)) else ""
    flow = flow_of(context.bodies, context.function)
    return flow.evaluate(node, context.values).role


def _spread(context: _Context, node: Node) -> Spread:
    if context.function is None:
        return Spread.BLOCK
    return flow_of(context.bodies, context.function).evaluate(node, context.values).spread


def _binary(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    left, right = parent.kids
    other = left if child is right else right
    operator = parent.text
    role = _spread_role(context, other)
    value = context.bodies.constants.value(node)
    if operator in ("/", ">>", "%") and child is right and _blockdim(other) and role == "":
        return Role.HARDWARE, "warps of a block"
    if operator in ("&", "%", "/", ">>") and child is right and role in ("thread", "lane"):
        return _split_thread(context, parent, operator, value)
    if operator == "<<" and child is left and role == "lane":
        return Role.HARDWARE, "a bit per lane"
    if operator in ("-", "+"):
        return _added(context, parent, other, role)
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        return _compared(context, parent, other, role, value)
    if operator in ("&", "|", "^") and _is_mask(other, context.masks):
        return Role.HARDWARE, "selects lanes of a mask"
    if operator == "/" and not context.aggregates.isdisjoint(names(other)):
        return Role.HARDWARE, "the number of lanes that an aggregate covers"
    if operator in ("<<", ">>") and _mixes(context, parent, other):
        return Role.UNRELATED, "mixes the bits of a hash"
    if operator in ("<<", ">>", "&", "|", "^", "%") and value is not None:
        return _bit_operation(context, other, role, operator, value)
    if operator == "*":
        return _product(context, parent, other, role)
    if operator in ("/", "%") and context.function is None and child is right and context.uses_warps:
        return Role.HARDWARE, "warps of a launch"
    if operator == "/" and context.uses_warps and value == WARP and _says_threads(other):
        return Role.HARDWARE, "warps of a number of threads" if child is right else "groups of threads in a warp"
    return None


def _mixes(context: _Context, shift: Node, shifted: Node) -> bool:
    """`h ^ (h >> 16)`, `h ^= h >> 16`."""
    around, _ = _meaningful_parent(context, shift)
    if around is None or around.text not in ("^", "^="):
        return False
    name = spelled(unwrapped(shifted))
    return name != "" and any(spelled(unwrapped(kid)) == name for kid in around.kids)


def _bit_operation(context: _Context, other: Node, role: str, operator: str, value: int) -> tuple[Role, str] | None:
    if role != "" or _spread(context, other) is Spread.WARP:
        return None
    if operator in ("%", "&") and value in (31, 32) and context.uses_warps and _counts_threads(context, other):
        return Role.HARDWARE, "a lane id"
    if operator in ("<<", ">>", "&", "|", "^") and value > 0xFFFF and value not in _CANDIDATES:
        return Role.UNRELATED, "a constant of a hash or a code"
    return Role.LAYOUT, "takes bits out of data"


def _counts_threads(context: _Context, node: Node) -> bool:
    """Whether some term of an expression numbers threads or lanes."""
    terms = (below for below in node.walk() if below.kind in ("name", "call"))
    return any(_spread_role(context, term) in ("thread", "lane") for term in terms)


def _product(context: _Context, parent: Node, other: Node, role: str) -> tuple[Role, str] | None:
    if not context.uses_warps and _is_index(context, parent):
        return Role.LAYOUT, "a stride of data in memory"
    if other.kind == "member" and other.kids[0].text == "blockIdx":
        return Role.TILE, "the side of a tile"
    if not context.uses_warps and any(name in ("threadIdx.y", "threadIdx.z") for name in _members(other)):
        return Role.TILE, "the side of a tile"
    if context.uses_warps and role in ("warp", "lane"):
        return _scaled(context, parent)
    return (Role.LAYOUT, "a stride of data in memory") if _is_index(context, parent) else None


def _members(node: Node) -> Iterator[str]:
    return (spelled(below) for below in node.walk() if below.kind == "member")


def _added(context: _Context, parent: Node, other: Node, role: str) -> tuple[Role, str] | None:
    if _counts_bits(context, other):
        return Role.HARDWARE, "counts from the last lane"
    if _is_bit_count(other):
        return Role.LAYOUT, "compared with a number of bits"
    if context.lockstep and role == "thread" and _is_index(context, parent):
        return Role.HARDWARE, "the distance of an exchange in lockstep"
    if role == "lane":
        return Role.HARDWARE, "counts lanes"
    if _shifts_data(context, parent):
        return Role.LAYOUT, "a distance within a word"
    top = parent
    while (above := context.parents.get(id(top))) is not None and above.kind == "binary" and above.text in "+-":
        top = above
    if context.uses_warps and _spread_role(context, top) != "thread":
        terms = (below for below in top.walk() if below.kind in ("name", "call"))
        if any(_spread_role(context, term) == "lane" for term in terms):
            return Role.HARDWARE, "counts lanes"
    return None


def _is_bit_count(node: Node) -> bool:
    node = unwrapped(node)
    return node.kind == "call" and node.callee in _BITS_OF


def _shifts_data(context: _Context, node: Node) -> bool:
    """Whether an expression is the distance of a shift."""
    child, parent = node, context.parents.get(id(node))
    while parent is not None and parent.kind == "cast":
        child, parent = parent, context.parents.get(id(parent))
    return parent is not None and parent.kind == "binary" and parent.text in ("<<", ">>") and parent.kids[1] is child


def _split_thread(context: _Context, parent: Node, operator: str, value: int | None) -> tuple[Role, str]:
    what = "a lane id" if operator in ("&", "%") else "a warp id"
    if value not in (5, 31, 32):
        if context.uses_warps and value is not None and value < WARP:
            return Role.TILE, "a group narrower than a warp"
        return (Role.UNRELATED, "splits threads, not by warps")
    if operator in ("/", ">>") and _is_index(context, parent) and not _is_shared_index(context, parent):
        return Role.LAYOUT, "one element of memory for 32 threads"
    if context.uses_warps:
        return Role.HARDWARE, what
    return Role.TILE, f"{what} in a function without warp operations"


_COUNTS_THREADS = re.compile(r"threads?|block_?(?:dim|size)|cta|NT", re.IGNORECASE)


def _says_threads(node: Node) -> bool:
    """Whether a name in an expression says that it counts the threads of a block or a group."""
    return any(_COUNTS_THREADS.search(name) for name in names(node) if name not in ("threadIdx", "blockIdx"))


def _compared(context: _Context, parent: Node, other: Node, role: str, value: int | None) -> tuple[Role, str] | None:
    if context.uses_warps and _blockdim(other) and role == "":
        return Role.HARDWARE, "compared with the threads of a block"
    if context.function is None and context.uses_warps and any("threadIdx" in n for n in names(other)):
        return Role.HARDWARE, "compared with a thread number"
    if role in ("lane", "thread", "warp") and context.uses_warps:
        return Role.HARDWARE, f"compared with a {role} number"
    if _is_mask(other, context.masks):
        return Role.HARDWARE, "compared with a mask of lanes"
    loop = _loop_around(context, parent)
    found = set(names(other))
    if loop is not None and (shared := found & context.deltas.keys()):
        width = max(context.deltas[name] for name in shared)
        return _width_role(width, "bounds the distance of a shuffle")
    if found & context.shifts:
        return Role.LAYOUT, "bounds a loop over the bits of a word"
    if any("lane" in name.lower() for name in found) and context.uses_warps:
        return Role.HARDWARE, "compared with a lane"
    unwrapped_other = unwrapped(other)
    if unwrapped_other.kind == "binary" and _counts_bits(context, unwrapped_other.kids[0]):
        return Role.LAYOUT, "compared with a number of bits"
    if loop is not None and context.uses_warps and value == WARP:
        return Role.HARDWARE, "bounds a loop over lanes"
    return None


def _width_role(width: int, evidence: str) -> tuple[Role, str]:
    if width < WARP:
        return Role.TILE, f"{evidence} within groups of {width} lanes"
    return Role.HARDWARE, evidence


def _tile_role(size: int | None) -> tuple[Role, str]:
    if size == WARP:
        return Role.HARDWARE, "a tile of one warp"
    return Role.TILE, f"a tile of {size} threads"


def _counts_bits(context: _Context, node: Node) -> bool:
    """`__clz(mask)`: a place in a mask of lanes."""
    node = unwrapped(node)
    if node.kind != "call" or node.callee not in _BITS_OF or not node.arguments:
        return False
    inner = unwrapped(node.arguments[0])
    return _is_mask(inner, context.masks) or _counts_bits(context, inner)


def _scaled(context: _Context, parent: Node) -> tuple[Role, str]:
    if _is_global_index(context, parent):
        return Role.LAYOUT, "a stride of data in memory"
    return Role.HARDWARE, "lanes per warp in an index"


def _is_index(context: _Context, node: Node) -> bool:
    """Whether an expression is, or is a term of, the index of an access to memory."""
    child, parent = node, context.parents.get(id(node))
    while parent is not None and (parent.kind == "cast" or (parent.kind == "binary" and parent.text in "+-*")):
        child, parent = parent, context.parents.get(id(parent))
    return parent is not None and parent.kind == "index" and parent.kids[1] is child


def _is_shared_index(context: _Context, node: Node) -> bool:
    """Whether an expression indexes shared memory."""
    parent = context.parents.get(id(node))
    while parent is not None and parent.kind != "index":
        parent = context.parents.get(id(parent))
    return parent is not None and not context.shared.isdisjoint(names(parent.kids[0]))


def _is_global_index(context: _Context, node: Node) -> bool:
    """Whether an expression indexes memory that is not shared."""
    child, parent = node, context.parents.get(id(node))
    while parent is not None and (parent.kind == "cast" or (parent.kind == "binary" and parent.text in "+-*")):
        child, parent = parent, context.parents.get(id(parent))
    if parent is None or parent.kind != "index" or parent.kids[1] is not child or context.function is None:
        return False
    base = next(iter(names(parent.kids[0])), "")
    return base in context.function.parameters


def _blockdim(node: Node) -> bool:
    return any(name == "blockDim" for name in names(node))


def _loop_around(context: _Context, node: Node) -> Node | None:
    """The loop in whose head an expression stands."""
    child: Node = node
    parent = context.parents.get(id(node))
    while parent is not None:
        if parent.kind in ("for", "while", "do"):
            in_head = parent.kids[-1] is not child if parent.kind != "do" else parent.kids[1] is child
            return parent if in_head else None
        if parent.kind == "block":
            return None
        child, parent = parent, context.parents.get(id(parent))
    return None


def _text(context: _Context, node: Node) -> str:
    tokens = context.bodies.tokens
    return tokens.text[tokens.starts[node.first] : tokens.end(node.last)]


def _call(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    found = collective(parent)
    place = next((i for i, kid in enumerate(parent.arguments) if kid is child), None)
    value = context.bodies.constants.value(node)
    name = parent.callee.rpartition("::")[2]
    if found is not None and place is not None:
        if place == found.mask:
            return Role.HARDWARE, f"the mask of {found.name}"
        if place == found.width:
            return _width_role(value or WARP, f"the width of {found.name}")
        if place == found.lane:
            width_node = argument(parent, found.width)
            width = context.bodies.constants.value(width_node) if width_node is not None else WARP
            return _width_role(width or WARP, f"the lane of {found.name}")
        return None
    lane, width = _helper_delta(context, parent)
    if lane is child:
        return _width_role(width, f"the distance of {name}")
    if name.startswith("WARP_SHFL") and place == 2:
        return _width_role(value or WARP, f"the width of {name}")
    if place is not None and not EXCHANGES.isdisjoint(context.bodies.reach.get(name, ())):
        return (Role.HARDWARE, f"passed to {name}, which works with warps") if value in (31, 32, 0xFFFFFFFF) else None
    if name == "tiled_partition":
        return _tile_role(value)
    if name == "dim3":
        return (Role.HARDWARE, "the shape of a block") if context.uses_warps else (Role.TILE, "the shape of a block")
    return None


def _launch(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    if context.uses_warps:
        return Role.HARDWARE, "the launch of a kernel that works with warps"
    return Role.UNRELATED, "the launch of a kernel without warp operations"


def _variable(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    if parent.text in context.deltas:
        return _width_role(context.deltas[parent.text], "starts the distance of a shuffle")
    if context.uses_warps and "mask" in parent.text.lower() and context.bodies.constants.value(node) == 0xFFFFFFFF:
        return Role.HARDWARE, "a mask of all lanes"
    if parent.text in context.shifts:
        return Role.LAYOUT, "starts a shift of data"
    if parent.text in _shifted_names(context):
        return Role.LAYOUT, "the bits of a word"
    return None


def _shifted_names(context: _Context) -> frozenset[str]:
    """Variables whose bits are shifted or combined."""
    return frozenset(
        unwrapped(node.kids[0]).text
        for node in context.body.walk()
        if node.kind in ("binary", "assign") and node.text in ("<<", ">>", "^", "^=")
    )


def _assign(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    target = unwrapped(parent.kids[0])
    if parent.text in ("+=", "-=") and _spread(context, target) is Spread.LANE and context.uses_warps:
        return Role.HARDWARE, "the stride of a warp through data"
    if target.text in context.deltas:
        return _width_role(context.deltas[target.text], "the distance of a shuffle")
    if parent.text in (">>=", "<<=", "&=", "|=", "^="):
        return Role.LAYOUT, "takes bits out of data"
    return None


def _ternary(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    grand = context.parents.get(id(parent))
    while grand is not None and grand.kind in ("cast", "ternary"):
        grand = context.parents.get(id(grand))
    if grand is not None and grand.kind == "call" and grand.kids[0].kind == "launch":
        return Role.UNDECIDED, "chosen at run time and passed to a kernel"
    return None


def _name(context: _Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    """A template argument."""
    name = parent.text.rpartition("::")[2]
    value = context.bodies.constants.value(node)
    if name in ("tiled_partition", "thread_block_tile") or name in _CUB_WARPS:
        return _tile_role(value)
    if not EXCHANGES.isdisjoint(context.bodies.reach.get(name, ())) or name.startswith("Shuffle"):
        return _width_role(value or WARP, f"the width of {name}")
    return None


_HANDLERS = {
    "binary": _binary,
    "call": _call,
    "launch": _launch,
    "variable": _variable,
    "assign": _assign,
    "ternary": _ternary,
    "name": _name,
}


def _array_bounds(context: _Context, declaration: Node) -> Iterator[Classified]:
    """The sizes of shared arrays: by what indexes them."""
    if "__shared__" not in declaration.text.split():
        return
    for variable in declaration.kids:
        for dimension in variable.dimensions:
            if dimension.last < dimension.first or context.bodies.constants.value(dimension) is None:
                continue
            role, evidence = _array_role(context, variable)
            yield _classified(context, dimension, role, evidence)


def _array_role(context: _Context, variable: Node) -> tuple[Role, str]:
    if not context.uses_warps:
        if variable.count > 1:
            return Role.TILE, "a tile in shared memory"
        return Role.UNRELATED, "an array in a function without warp operations"
    for node in context.body.walk():
        indexes = node.kind == "index" and unwrapped(node.kids[0]).text == variable.text
        if indexes and _spread_role(context, node.kids[1]) == "warp":
            return Role.HARDWARE, "one element per warp"
    if "Storage" in variable.extra or "Temp" in variable.extra:
        return Role.HARDWARE, "storage for each warp"
    return Role.UNRELATED, "indexed by threads"


def _definitions(bodies: Bodies, used: tuple[Classified, ...]) -> Iterator[Classified]:
    """Named constants, by what their uses are; one constant with two roles is undecided."""
    tokens = bodies.tokens
    roles_of: dict[str, set[Role]] = {}
    for item in used:
        for name in _words(item.text):
            roles_of.setdefault(name, set()).add(item.role)
    _inherit(bodies, roles_of)
    chosen = {choice.name for choice in choices(bodies.constants) if {v for _, v in choice.values} >= {32, 64}}
    for name in sorted(roles_of.keys() | _width_names(bodies) | chosen):
        roles = roles_of.get(name, set()) - {Role.UNRELATED}
        for constant in bodies.constants.definitions(name):
            span = Span(tokens.starts[constant.first], tokens.end(constant.last - 1))
            role, evidence = _defined_role(name, roles, chosen)
            value = bodies.constants.number_of(constant)
            yield Classified(span, tokens.text[span.start : span.end], value, role, evidence, "")


def _words(text: str) -> Iterator[str]:
    return (word for word in re.findall(r"[A-Za-z_]\w*", text))


def _inherit(bodies: Bodies, roles_of: dict[str, set[Role]]) -> None:
    """A constant in the value of another one has that one's roles, too."""
    for _ in range(4):
        for name in list(roles_of):
            for constant in bodies.constants.definitions(name):
                for word in bodies.tokens.texts[constant.first : constant.last]:
                    if bodies.constants.definitions(word):
                        roles_of.setdefault(word, set()).update(roles_of[name])


def _defined_role(name: str, roles: set[Role], chosen: set[str]) -> tuple[Role, str]:
    if name in chosen:
        return Role.HARDWARE, "32 or 64 by a condition"
    if looks_like_warp_size(name) and not roles - {Role.HARDWARE}:
        return Role.HARDWARE, "named as the warp size"
    if len(roles) == 1:
        return next(iter(roles)), "by its uses"
    if roles == {Role.HARDWARE, Role.TILE}:
        return Role.HARDWARE, "by its uses on warps"
    if roles:
        return Role.UNDECIDED, "two roles: " + " and ".join(sorted(role.value for role in roles))
    return Role.UNRELATED, "no use on warps"


def _width_names(bodies: Bodies) -> set[str]:
    return {name for name in bodies.constants.macros if looks_like_warp_size(name)}
