"""Launches of a kernel that is to be widened: block shapes, edits of the host side, and whether both agree."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.brackets import split_commas, written
from porter.cpp.constants import WARP, Constants, value_end
from porter.cpp.launches import find_launches
from porter.cpp.lex import IDENTIFIER, NUMBER, Tokens, lex
from porter.cpp.nodes import names, unwrapped
from porter.cpp.postfix import chain_start
from porter.cpp.statements import parse_expression
from porter.engine import edits as editing
from porter.model import Edit, Launch
from porter.source import SourceFile
from porter.warp.bodies import Bodies
from porter.warp.flow.geometry import block_shape, block_threads, grid_blocks, product
from porter.warp.function import Function
from porter.warp.native.expressions import WIDTH_NAME
from porter.warp.native.kinds import Undecided
from porter.warp.native.state import Plan, Shape

_WAVE = 2 * WARP
_LARGEST_BLOCK = 1024
_DEEPEST = 5
_SAMPLES = (2048, 2049, 2079, 4096, 6143)
"""Sizes to compute both launches with: multiples of everything, and just beyond."""


TROUBLE = frozenset(
    [
        "launched with blocks of several shapes",
        "launched with a block of unknown shape",
        "no launch of it in sight says how many threads a block has",
        "its blocks are not known to be whole wavefronts",
    ]
)
"""Why a kernel cannot be widened for whole wavefronts, when it may be for blocks of any number of warps."""
_SEVERAL, _UNKNOWN, _NO_LAUNCH, _NOT_WHOLE = (
    next(reason for reason in TROUBLE if word in reason) for word in ("several", "unknown", "no launch", "not known to")
)


def part_shape(bodies: Bodies, kernel: Function, launches: tuple[Launch, ...]) -> Shape | None:
    """The shape of one-dimensional blocks of any number of warps; None where they have, or may have, another."""
    texts = bodies.tokens.texts
    head = kernel.head
    if any(texts[i] == "threadIdx" and texts[i + 2] != "x" for i in range(head.begin, head.end - 2)):
        return None
    sizes = [block_shape(bodies, launch) for launch in launches]
    if any(len(size) > 1 and set(size[1:]) != {1} for size in sizes if size is not None):
        return None
    if sizes and all(product(size) is not None and (product(size) or 1) % _WAVE == 0 for size in sizes):
        return None
    return Shape("line", None, frozenset(_strides(bodies, kernel)), part=True)


def _strides(bodies: Bodies, kernel: Function) -> Iterator[str]:
    """Template parameters by which loops go on that begin with the number of the thread: the threads of a block."""
    for node in kernel.body.walk():
        if node.kind != "for" or "threadIdx" not in set(names(node.kids[0])):
            continue
        step = unwrapped(node.kids[2])
        by = unwrapped(step.kids[1]) if step.kind == "assign" and step.text == "+=" else None
        if by is not None and by.kind == "name" and by.text in kernel.template_parameters:
            yield by.text


def shape_of(bodies: Bodies, kernel: Function, launches: tuple[Launch, ...]) -> Shape:
    """How the threads of a kernel's blocks number lanes and warps; of lines of several lengths, none is known."""
    found = {_shape(bodies, kernel, launch) for launch in launches}
    if len(found) > 1:
        if any(shape.form != "line" for shape in found):
            raise Undecided(None, _SEVERAL)
        return Shape("line", None, frozenset.intersection(*(shape.names for shape in found)))
    return found.pop() if found else Shape("line", None)


def _shape(bodies: Bodies, kernel: Function, launch: Launch) -> Shape:
    sizes = block_shape(bodies, launch)
    threads = frozenset(_thread_names(bodies, kernel, launch))
    if sizes is None:
        raise Undecided(None, _UNKNOWN)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes = sizes[:-1]
    if len(sizes) == 1:
        if sizes[0] == WARP:
            return Shape("single", WARP)
        return Shape("line", sizes[0], threads)
    if len(sizes) == 2 and sizes[0] == WARP:
        return Shape("row", None if sizes[1] is None else WARP * sizes[1])
    raise Undecided(None, "launched with blocks whose rows are no warps")


def _thread_names(bodies: Bodies, kernel: Function, launch: Launch) -> Iterator[str]:
    """Names that stand for the threads of a block: that of its expression, and template parameters set to it."""
    block = launch.block.strip("() ")
    if block.isidentifier():
        yield block
    tokens = lex(launch.kernel)
    opened = next((i for i, text in enumerate(tokens.texts) if text == "<"), None)
    if opened is None:
        return
    threads = block_threads(bodies, launch)
    arguments = split_commas(tokens, opened + 1, len(tokens) - 1)
    for name, (first, last) in zip(kernel.template_parameters, arguments, strict=False):
        text = written(tokens, first, last)
        value = bodies.constants.value(parse_expression(tokens, first, last)) if last - first == 1 else None
        if text == block or (value is not None and value == threads):
            yield name


def settle(bodies: Bodies, plan: Plan, launches: tuple[Launch, ...]) -> tuple[Edit, ...]:
    """The edits of a kernel with those of its launches; raises when the launches do not fit the widened kernel."""
    own = plan.ordered()
    if plan.shape.part:
        if plan.item:
            raise Undecided(None, "a warp has an item of its own, and no launch in sight says how many warps there are")
        return own
    if not launches:
        if plan.exchanges or plan.item:
            raise Undecided(None, _NO_LAUNCH)
        return own
    if plan.item or plan.shape.form in ("row", "single"):
        return _with_host(bodies, plan, launches, own)
    if not plan.exchanges:
        return own
    for launch in launches:
        sizes = block_shape(bodies, launch) or ()
        if len(sizes) != 1 or sizes[0] is None or sizes[0] % _WAVE:
            raise Undecided(None, _NOT_WHOLE)
    return own


def _with_host(bodies: Bodies, plan: Plan, launches: tuple[Launch, ...], own: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Widens the launches, or leaves them, whichever gives every item to one wavefront."""
    host = _host_edits(bodies, plan, launches)
    first = ""
    for extra in (host, set(), _doubled_blocks(bodies, plan, launches)):
        if extra is None:
            continue
        edits = tuple(sorted({*own, *extra}))
        reason = _mismatch(bodies, plan, launches, edits)
        if not reason:
            return edits
        first = first or reason
    raise Undecided(None, first)


def _doubled_blocks(bodies: Bodies, plan: Plan, launches: tuple[Launch, ...]) -> set[Edit] | None:
    """Edits that double the blocks, so that each has as many items as before; None where more depends on their size."""
    if plan.shape.form != "line" or plan.shared or plan.shape.names & _mentioned(bodies, plan):
        return None
    tokens = bodies.tokens
    found: set[Edit] = set()
    for launch in launches:
        if launch.shared not in ("", "0"):
            return None
        first = tokens.at(launch.span.start)
        opened = next((i for i in range(first, tokens.at(launch.span.end)) if tokens.texts[i] == "<<<"), None)
        closed = next((i for i in range(first, tokens.at(launch.span.end)) if tokens.texts[i] == ">>>"), None)
        if opened is None or closed is None:
            return None
        low, high = split_commas(tokens, opened + 1, closed)[1]
        start, end = tokens.starts[low], tokens.end(high - 1)
        number = bodies.constants.value(parse_expression(tokens, low, high)) if high - low == 1 else None
        literal = number is not None and tokens.kinds[low] == NUMBER
        if "dim3" in tokens.texts[low:high]:
            return None
        found.add(Edit(start, end, str(2 * (number or 0)) if literal else f"2 * ({tokens.text[start:end]})"))
    return found


def _mentioned(bodies: Bodies, plan: Plan) -> frozenset[str]:
    """All names in the functions of a plan."""
    return frozenset(text for f in plan.functions.values() for text in bodies.tokens.texts[f.head.begin : f.head.end])


def _host_edits(bodies: Bodies, plan: Plan, launches: tuple[Launch, ...]) -> set[Edit]:
    """Edits of the widths in the configuration of the launches and in the variables it is computed from."""
    found: set[Edit] = set()
    tokens = bodies.tokens
    for launch in launches:
        first, last = tokens.at(launch.span.start), tokens.at(launch.span.end)
        opened = next((i for i in range(first, last) if tokens.texts[i] == "<<<"), None)
        closed = next((i for i in range(first, last) if tokens.texts[i] == ">>>"), None)
        if opened is None or closed is None:
            raise Undecided(None, "launched through a function")
        found |= set(_widths(bodies, opened + 1, closed, first, 0))
    for function in plan.functions.values():
        head = function.head
        for index in range(head.begin, head.name_first):
            if tokens.texts[index] == "__launch_bounds__":
                found |= set(_widths(bodies, index + 2, tokens.partner[index + 1], index, _DEEPEST))
    return found


def _widths(bodies: Bodies, first: int, last: int, before: int, depth: int) -> Iterator[Edit]:
    """Edits of the widths in a stretch, and in the local variables that it names."""
    tokens = bodies.tokens
    for index in range(first, last):
        text = tokens.texts[index]
        start, end = tokens.starts[index], tokens.end(index)
        if tokens.kinds[index] == NUMBER and text.rstrip("uUlL") == "32":
            yield Edit(start, end, text.replace("32", "64"))
        elif tokens.kinds[index] != IDENTIFIER:
            continue
        elif text == "warpSize" and tokens.texts[index - 1] in (".", "->"):
            yield Edit(tokens.starts[chain_start(tokens, index)], end, WIDTH_NAME)
        elif bodies.constants.definitions(text) and bodies.constants.is_warp_size(text):
            yield Edit(start, end, WIDTH_NAME)
        elif depth < _DEEPEST:
            yield from _variable(bodies, text, before, depth)


def _variable(bodies: Bodies, name: str, before: int, depth: int) -> Iterator[Edit]:
    """Edits in what a local variable is set to before a launch, or of the query that fills it."""
    tokens = bodies.tokens
    for index in reversed([i for i in tokens.names.get(name, ()) if i < before]):
        follow = tokens.texts[index + 1]
        if follow in ("=", "(", "{") and tokens.directive_of(index) is None and tokens.texts[index - 1] != ">":
            end = tokens.partner.get(index + 1, index) if follow != "=" else value_end(tokens, index + 2)
            if any(tokens.texts[i] == "__global__" for i in range(max(0, index - 6), index)):
                return
            yield from _widths(bodies, index + 2, end, index, depth + 1)
            return
        if tokens.texts[index - 1] == "&" and (query := _query(tokens, index)) is not None:
            yield query
            return


def _query(tokens: Tokens, index: int) -> Edit | None:
    """`cudaDeviceGetAttribute(&width, cudaDevAttrWarpSize, device)` with width 64."""
    callee = index - 3
    if callee < 0 or tokens.texts[callee] not in ("cudaDeviceGetAttribute", "hipDeviceGetAttribute"):
        return None
    if tokens.texts[index + 2] not in ("cudaDevAttrWarpSize", "hipDeviceAttributeWarpSize"):
        return None
    closed = tokens.partner.get(callee + 1)
    if closed is None:
        return None
    rest = tokens.text[tokens.starts[index + 4] : tokens.starts[closed]]
    text = f"porter::get_warp_size(&{tokens.texts[index]}, {rest}, {WIDTH_NAME})"
    return Edit(tokens.starts[callee], tokens.end(closed), text)


# Whether launches fit


def _mismatch(bodies: Bodies, plan: Plan, launches: tuple[Launch, ...], edits: tuple[Edit, ...]) -> str:
    """Why a widened kernel and its launches do not belong together; empty when they do."""
    text = editing.apply(bodies.tokens.text, edits)
    source = SourceFile("", text.encode("latin-1"))
    new = Bodies(lex(text), Constants(lex(text)))
    everything = find_launches(new.tokens, "", source)
    old_all = find_launches(bodies.tokens, "", SourceFile("", bodies.tokens.text.encode("latin-1")))
    if len(everything) != len(old_all):
        return "the launches changed their number"
    pairs = [
        (a, b) for a, b in zip(old_all, everything, strict=True) if any(a.span == launch.span for launch in launches)
    ]
    for old, after in pairs:
        reason = _launch_mismatch(bodies, new, plan, old, after)
        if reason:
            return reason
    return ""


def _launch_mismatch(bodies: Bodies, new: Bodies, plan: Plan, old: Launch, after: Launch) -> str:
    shape, wide = block_shape(bodies, old), block_shape(new, after)
    if shape is None or wide is None or None in shape or None in wide:
        return f"a block of {old.block} threads is not known when porting"
    threads, threads_wide = product(shape) or 0, product(wide) or 0
    if threads_wide % _WAVE or threads_wide > _LARGEST_BLOCK:
        return f"a block of {threads_wide} threads"
    if plan.shape.form in ("row", "single") and wide[0] != _WAVE:
        return "its blocks have rows of 32"
    bound = _bound_problem(new, plan, threads_wide)
    if bound:
        return bound
    rows, rows_wide = threads // WARP, threads_wide // _WAVE
    factor = _factor_problem(bodies, new, plan, rows, rows_wide)
    if factor:
        return factor
    if plan.loops_over_items:
        return ""
    for size in _SAMPLES:
        grid = grid_blocks(bodies, old, size), grid_blocks(new, after, size)
        if None in grid:
            return f"the grid {old.grid} cannot be computed when porting"
        one, two = (grid[0] or 0) * rows, (grid[1] or 0) * rows_wide
        if one // size != two // size or (one >= size) != (two >= size) or abs(one - two) >= max(rows, rows_wide):
            return f"the grid {old.grid} would not cover the same items"
    return ""


def _bound_problem(new: Bodies, plan: Plan, threads: int) -> str:
    """Whether `__launch_bounds__` allows the widened block."""
    tokens = new.tokens
    for function in plan.functions.values():
        for index in tokens.names.get(function.name, ()):
            head = next(
                (i for i in range(index, max(0, index - 40), -1) if tokens.texts[i] == "__launch_bounds__"), None
            )
            if head is None or tokens.texts[index + 1] != "(" or "<<<" in tokens.texts[head:index]:
                continue
            end = next((i for i in range(head + 2, index) if tokens.texts[i] == ","), tokens.partner[head + 1])
            bound = new.constants.value(parse_expression(tokens, head + 2, min(end, tokens.partner[head + 1])))
            if bound is not None and bound < threads:
                return f"__launch_bounds__ of {bound} threads"
    return ""


def _factor_problem(bodies: Bodies, new: Bodies, plan: Plan, rows: int, rows_wide: int) -> str:
    """Whether the kernel's own number of items per block fits its block."""
    for node in plan.rows_per_block:
        value = bodies.constants.value(node)
        if value is None:
            continue
        if value != rows or value != rows_wide:
            return f"{value} items per block, but {rows_wide} wavefronts"
    return ""
