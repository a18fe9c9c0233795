"""Judges one value by the expression that it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.warp.collectives import EXCHANGES, argument, collective
from porter.warp.constants import WARP
from porter.warp.contexts import Context, helper_delta, is_mask, spread_of, spread_role
from porter.warp.roles import CANDIDATES, CUB_WARPS, WIDTHS, Role
from porter.warp.spread import Spread
from porter.warp.tree import Node, names, spelled, unwrapped

_BITS_OF = frozenset({"__clz", "__ffs", "__popc", "__brev", "__clzll", "__ffsll", "__popcll", "__fns"})


def judge(context: Context, node: Node) -> tuple[Role, str]:
    """What a value means, and why."""
    parent, child = _meaningful_parent(context, node)
    if parent is None:
        return Role.UNRELATED, "stands alone"
    handler = _HANDLERS.get(parent.kind)
    judged = handler(context, parent, child, node) if handler is not None else None
    if judged is not None:
        return judged
    return _default(context, node)


def _default(context: Context, node: Node) -> tuple[Role, str]:
    value = context.bodies.constants.value(node)
    if not context.uses_warps:
        return Role.UNRELATED, "the function does not work with warps"
    if any(context.bodies.constants.is_warp_size(name) for name in names(node)):
        return Role.HARDWARE, "computed from the warp size"
    if value in (4, 5, 8, 16, 24, 33, 63, 64, 128, 0xFFFF) or value not in WIDTHS:
        return Role.UNRELATED, "no operation on warps takes it"
    return Role.UNDECIDED, "no operation on warps takes it, but the function works with warps"


def _binary(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    left, right = parent.kids
    other = left if child is right else right
    operator = parent.text
    role = spread_role(context, other)
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
    if operator in ("&", "|", "^") and is_mask(other, context.masks):
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


def _mixes(context: Context, shift: Node, shifted: Node) -> bool:
    """`h ^ (h >> 16)`, `h ^= h >> 16`."""
    around, _ = _meaningful_parent(context, shift)
    if around is None or around.text not in ("^", "^="):
        return False
    name = spelled(unwrapped(shifted))
    return name != "" and any(spelled(unwrapped(kid)) == name for kid in around.kids)


def _bit_operation(context: Context, other: Node, role: str, operator: str, value: int) -> tuple[Role, str] | None:
    if role != "" or spread_of(context, other) is Spread.WARP:
        return None
    if operator in ("%", "&") and value in (31, 32) and context.uses_warps and _counts_threads(context, other):
        return Role.HARDWARE, "a lane id"
    if operator in ("<<", ">>", "&", "|", "^") and value > 0xFFFF and value not in CANDIDATES:
        return Role.UNRELATED, "a constant of a hash or a code"
    return Role.LAYOUT, "takes bits out of data"


def _counts_threads(context: Context, node: Node) -> bool:
    """Whether some term of an expression numbers threads or lanes."""
    terms = (below for below in node.walk() if below.kind in ("name", "call"))
    return any(spread_role(context, term) in ("thread", "lane") for term in terms)


def _product(context: Context, parent: Node, other: Node, role: str) -> tuple[Role, str] | None:
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


def _added(context: Context, parent: Node, other: Node, role: str) -> tuple[Role, str] | None:
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
    if context.uses_warps and spread_role(context, top) != "thread":
        terms = (below for below in top.walk() if below.kind in ("name", "call"))
        if any(spread_role(context, term) == "lane" for term in terms):
            return Role.HARDWARE, "counts lanes"
    return None


def _is_bit_count(node: Node) -> bool:
    node = unwrapped(node)
    return node.kind == "call" and node.callee in _BITS_OF


def _shifts_data(context: Context, node: Node) -> bool:
    """Whether an expression is the distance of a shift."""
    child, parent = node, context.parents.get(id(node))
    while parent is not None and parent.kind == "cast":
        child, parent = parent, context.parents.get(id(parent))
    return parent is not None and parent.kind == "binary" and parent.text in ("<<", ">>") and parent.kids[1] is child


def _split_thread(context: Context, parent: Node, operator: str, value: int | None) -> tuple[Role, str]:
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


def _compared(context: Context, parent: Node, other: Node, role: str, value: int | None) -> tuple[Role, str] | None:
    if context.uses_warps and _blockdim(other) and role == "":
        return Role.HARDWARE, "compared with the threads of a block"
    if context.function is None and context.uses_warps and any("threadIdx" in n for n in names(other)):
        return Role.HARDWARE, "compared with a thread number"
    if role in ("lane", "thread", "warp") and context.uses_warps:
        return Role.HARDWARE, f"compared with a {role} number"
    if is_mask(other, context.masks):
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


def _counts_bits(context: Context, node: Node) -> bool:
    """`__clz(mask)`: a place in a mask of lanes."""
    node = unwrapped(node)
    if node.kind != "call" or node.callee not in _BITS_OF or not node.arguments:
        return False
    inner = unwrapped(node.arguments[0])
    return is_mask(inner, context.masks) or _counts_bits(context, inner)


def _scaled(context: Context, parent: Node) -> tuple[Role, str]:
    if _is_global_index(context, parent):
        return Role.LAYOUT, "a stride of data in memory"
    return Role.HARDWARE, "lanes per warp in an index"


def _is_index(context: Context, node: Node) -> bool:
    """Whether an expression is, or is a term of, the index of an access to memory."""
    child, parent = node, context.parents.get(id(node))
    while parent is not None and (parent.kind == "cast" or (parent.kind == "binary" and parent.text in "+-*")):
        child, parent = parent, context.parents.get(id(parent))
    return parent is not None and parent.kind == "index" and parent.kids[1] is child


def _is_shared_index(context: Context, node: Node) -> bool:
    """Whether an expression indexes shared memory."""
    parent = context.parents.get(id(node))
    while parent is not None and parent.kind != "index":
        parent = context.parents.get(id(parent))
    return parent is not None and not context.shared.isdisjoint(names(parent.kids[0]))


def _is_global_index(context: Context, node: Node) -> bool:
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


def _loop_around(context: Context, node: Node) -> Node | None:
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


def _text(context: Context, node: Node) -> str:
    tokens = context.bodies.tokens
    return tokens.text[tokens.starts[node.first] : tokens.end(node.last)]


def _call(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
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
    lane, width = helper_delta(context, parent)
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


def _launch(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    if context.uses_warps:
        return Role.HARDWARE, "the launch of a kernel that works with warps"
    return Role.UNRELATED, "the launch of a kernel without warp operations"


def _variable(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    if parent.text in context.deltas:
        return _width_role(context.deltas[parent.text], "starts the distance of a shuffle")
    if context.uses_warps and "mask" in parent.text.lower() and context.bodies.constants.value(node) == 0xFFFFFFFF:
        return Role.HARDWARE, "a mask of all lanes"
    if parent.text in context.shifts:
        return Role.LAYOUT, "starts a shift of data"
    if parent.text in _shifted_names(context):
        return Role.LAYOUT, "the bits of a word"
    return None


def _shifted_names(context: Context) -> frozenset[str]:
    """Variables whose bits are shifted or combined."""
    return frozenset(
        unwrapped(node.kids[0]).text
        for node in context.body.walk()
        if node.kind in ("binary", "assign") and node.text in ("<<", ">>", "^", "^=")
    )


def _assign(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    target = unwrapped(parent.kids[0])
    if parent.text in ("+=", "-=") and spread_of(context, target) is Spread.LANE and context.uses_warps:
        return Role.HARDWARE, "the stride of a warp through data"
    if target.text in context.deltas:
        return _width_role(context.deltas[target.text], "the distance of a shuffle")
    if parent.text in (">>=", "<<=", "&=", "|=", "^="):
        return Role.LAYOUT, "takes bits out of data"
    return None


def _ternary(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    grand = context.parents.get(id(parent))
    while grand is not None and grand.kind in ("cast", "ternary"):
        grand = context.parents.get(id(grand))
    if grand is not None and grand.kind == "call" and grand.kids[0].kind == "launch":
        return Role.UNDECIDED, "chosen at run time and passed to a kernel"
    return None


def _name(context: Context, parent: Node, child: Node, node: Node) -> tuple[Role, str] | None:
    """A template argument."""
    name = parent.text.rpartition("::")[2]
    value = context.bodies.constants.value(node)
    if name in ("tiled_partition", "thread_block_tile") or name in CUB_WARPS:
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


def _meaningful_parent(context: Context, node: Node) -> tuple[Node | None, Node]:
    child = node
    parent = context.parents.get(id(node))
    while parent is not None and parent.kind == "cast":
        child, parent = parent, context.parents.get(id(parent))
    return parent, child
