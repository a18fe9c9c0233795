"""Basic blocks of a function, in an order in which every block comes before its immediate post-dominator.

Lanes of a warp that went different ways are run lowest block first; those that are further on wait. With loops laid
out in one piece, each with a single block that jumps back, diverged lanes meet at the post-dominator of the branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.validation.devices.ptx.effects import is_barrier, is_sync
from porter.validation.devices.ptx.model import Function, Instruction, Label, Unsupported

BUILTINS = ("vprintf", "malloc", "free", "__assertfail")


@dataclass
class Block:
    """Straight code with one way in. `last` is a branch, call, barrier, return or exit, if it ends with one."""

    number: int
    code: list[Instruction] = field(default_factory=list)
    last: Instruction | None = None
    targets: tuple[int, ...] = ()
    """Where `last` may jump."""
    following: int | None = None
    """Where it goes otherwise."""
    spins: bool = False
    """In a loop that may wait for another thread."""

    @property
    def successors(self) -> tuple[int, ...]:
        """Blocks that may run next in this function."""
        after = () if self.following is None else (self.following,)
        return tuple(dict.fromkeys((*self.targets, *after)))


@dataclass(frozen=True)
class Graph:
    """Blocks by number, and the order in which they are laid out."""

    blocks: dict[int, Block]
    order: tuple[int, ...]


def is_builtin_call(instruction: Instruction) -> bool:
    """A call of what the device itself provides."""
    return instruction.base == "call" and any(o.kind == "symbol" and o.text in BUILTINS for o in instruction.operands)


def _ends_block(instruction: Instruction) -> bool:
    return instruction.base in ("bra", "brx", "ret", "exit", "trap") or (
        instruction.base == "call" and not is_builtin_call(instruction)
    ) or is_barrier(instruction)  # fmt: skip


def build(function: Function) -> Graph:
    """Blocks of a function in their order."""
    blocks = _split(function)
    loops = _loops(blocks)
    _single_latches(blocks, loops)
    loops = _loops(blocks)
    _mark_spinning(blocks, loops)
    return Graph(blocks, tuple(_layout(set(_reachable(blocks)), 0, loops, blocks)))


def _split(function: Function) -> dict[int, Block]:
    blocks: dict[int, Block] = {0: Block(0)}
    labels: dict[str, int] = {}
    jumps: list[tuple[Block, Instruction]] = []
    current = blocks[0]
    sealed = {0}  # blocks that no label may share: the entry, and where calls come back

    def begin() -> Block:
        block = Block(len(blocks))
        blocks[block.number] = block
        return block

    def fall_into(block: Block) -> Block:
        if current.last is None:
            current.following = block.number
        return block

    for item in function.items:
        if isinstance(item, Label):
            if current.code or current.last or current.number in sealed:
                current = fall_into(begin())
            labels[item.name] = current.number
            continue
        apart = is_sync(item) or is_barrier(item) or (item.base == "call" and not is_builtin_call(item))
        around = item.guard is not None and (apart or item.base == "call")
        if around:
            assert item.guard is not None
            skip = Instruction("bra", (), item.guard._replace(negate=not item.guard.negate), item.line, item.chain)
            current.last = skip
            guarded = begin()
            current.following = guarded.number
            skipping, current = current, guarded
            item = item._replace(guard=None)
        elif apart and (current.code or current.last):
            current = fall_into(begin())
        if _ends_block(item):
            current.last = item
            jumps.append((current, item))
            after = begin()
            if item.base == "call" or "red" in item.modifiers:
                sealed.add(after.number)
            if not _never_continues(item):
                current.following = after.number
            current = after
        else:
            current.code.append(item)
            if around:
                current = fall_into(begin())
        if around:
            skipping.targets = (current.number,)
    for block, instruction in jumps:
        block.targets = tuple(labels[name] for name in _names(function, instruction, labels))
    return blocks


def _never_continues(instruction: Instruction) -> bool:
    return instruction.base in ("bra", "ret", "exit", "trap", "brx") and instruction.guard is None


def _names(function: Function, instruction: Instruction, labels: dict[str, int]) -> list[str]:
    if instruction.base == "bra":
        names = [instruction.operands[0].text]
    elif instruction.base == "brx":
        names = list(function.targets.get(instruction.operands[1].text, ()))
    else:
        return []
    for name in names:
        if name not in labels:
            raise Unsupported(f"jump to unknown label {name}", instruction)
    return names


def _reachable(blocks: dict[int, Block]) -> list[int]:
    """Reverse post-order from the entry."""
    finished: list[int] = []
    seen = {0}
    stack = [(0, iter(blocks[0].successors))]
    while stack:
        number, following = stack[-1]
        for successor in following:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(blocks[successor].successors)))
                break
        else:
            finished.append(number)
            stack.pop()
    return finished[::-1]


def _dominators(blocks: dict[int, Block], order: list[int]) -> dict[int, int]:
    """Immediate dominators (Cooper, Harvey, Kennedy)."""
    position = {number: i for i, number in enumerate(order)}
    before: dict[int, list[int]] = {number: [] for number in order}
    for number in order:
        for successor in blocks[number].successors:
            before[successor].append(number)
    immediate = {0: 0}
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            known = [p for p in before[number] if p in immediate]
            best = known[0]
            for other in known[1:]:
                while best != other:
                    while position[best] > position[other]:
                        best = immediate[best]
                    while position[other] > position[best]:
                        other = immediate[other]
            if immediate.get(number) != best:
                immediate[number] = best
                changed = True
    return immediate


@dataclass
class Loop:
    """A natural loop."""

    header: int
    body: set[int]
    latches: list[int]


def _loops(blocks: dict[int, Block]) -> list[Loop]:
    """Natural loops, outer before inner."""
    order = _reachable(blocks)
    immediate = _dominators(blocks, order)
    before: dict[int, list[int]] = {number: [] for number in order}
    for number in order:
        for successor in blocks[number].successors:
            before[successor].append(number)
    position = {number: i for i, number in enumerate(order)}

    def dominates(above: int, below: int) -> bool:
        while position[below] > position[above]:
            below = immediate[below]
        return above == below

    found: dict[int, Loop] = {}
    for number in order:
        for successor in blocks[number].successors:
            if not dominates(successor, number):
                continue
            loop = found.setdefault(successor, Loop(successor, {successor}, []))
            loop.latches.append(number)
            pending = [number]
            while pending:
                inside = pending.pop()
                if inside not in loop.body:
                    loop.body.add(inside)
                    pending += before[inside]
    return sorted(found.values(), key=lambda loop: -len(loop.body))


def _single_latches(blocks: dict[int, Block], loops: list[Loop]) -> None:
    """Give every loop one block that jumps back, so that its lanes meet there before the next round."""
    for loop in loops:
        if len(loop.latches) < 2:
            continue
        latch = Block(max(blocks) + 1, following=loop.header)
        blocks[latch.number] = latch
        for number in loop.latches:
            block = blocks[number]
            block.targets = tuple(latch.number if t == loop.header else t for t in block.targets)
            if block.following == loop.header:
                block.following = latch.number


_WAITING = ("volatile", "relaxed", "acquire", "mmio", "acq_rel")


def _may_wait(block: Block) -> bool:
    return (block.last is not None and block.last.base == "call") or any(
        i.base in ("atom", "nanosleep", "mbarrier") or (i.base == "ld" and any(m in _WAITING for m in i.modifiers))
        for i in block.code
    )


def _mark_spinning(blocks: dict[int, Block], loops: list[Loop]) -> None:
    for loop in loops:
        if any(_may_wait(blocks[number]) for number in loop.body):
            for number in loop.latches:
                blocks[number].spins = True


def _layout(inside: set[int], entry: int, loops: list[Loop], blocks: dict[int, Block]) -> list[int]:
    """Topological order of a region with every inner loop in one piece."""
    owner: dict[int, Loop] = {}
    taken: set[int] = set()
    for loop in loops:  # outermost first
        if loop.header != entry and loop.body <= inside and loop.header not in taken and not (loop.body & taken):
            taken |= loop.body
            for number in loop.body:
                owner[number] = loop

    def successors(node: int) -> list[int]:
        members = owner[node].body if node in owner else (node,)
        out: list[int] = []
        for member in sorted(members):
            for successor in blocks[member].successors:
                if successor in inside and successor not in members and successor != entry:
                    out.append(owner[successor].header if successor in owner else successor)
        return out

    finished: list[int] = []
    seen = {entry}
    stack = [(entry, iter(successors(entry)))]
    while stack:
        node, following = stack[-1]
        for successor in following:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(successors(successor))))
                break
        else:
            finished.append(node)
            stack.pop()
    order: list[int] = []
    for node in reversed(finished):
        order += _layout(owner[node].body, node, loops, blocks) if node in owner else [node]
    return order
