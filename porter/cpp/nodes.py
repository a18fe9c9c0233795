"""The syntax tree of a function body, as far as data flow needs it."""

from __future__ import annotations

import bisect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from porter.cpp.compiled import readers

sys.setrecursionlimit(max(sys.getrecursionlimit(), 8000))
"""Trees are at most as deep as `DEEPEST` and `LONGEST_CHAIN` of porter.cpp.cursor say; who walks them needs up to six
frames for each level."""


@dataclass(frozen=True, slots=True, init=False)
class Node:
    """One expression or statement; `first` and `last` are the indices of its first and last token.

    Expressions by kind: name (kids: template arguments), number, string, unary, postfix, binary, assign, ternary,
    call (kids: callee, then arguments), index, member (text: the field), cast, list, lambda, opaque.
    Statements: block, if (condition, then, else), for (start, condition, step, body), range (variable, range, body),
    while (condition, body), do (body, condition), switch, return, jump (break, continue, goto), declaration (kids:
    variables), variable (text: its name; kids: dimensions, then the initial value), statement (kids: one expression),
    asm, label, empty.
    """

    kind: str
    first: int
    last: int
    text: str = ""
    kids: tuple[Node, ...] = ()
    extra: str = field(default="", compare=False)
    """Declared type of a variable, `array`/`value` split of its kids as a count, or the template text of a name."""
    count: int = 0
    """Number of array dimensions of a variable."""

    def __init__(
        self,
        kind: str,
        first: int,
        last: int,
        text: str = "",
        kids: tuple[Node, ...] = (),
        extra: str = "",
        count: int = 0,
    ) -> None:
        # A frozen dataclass's own takes four times as long, which is a good part of parsing.
        _set_kind(self, kind)
        _set_first(self, first)
        _set_last(self, last)
        _set_text(self, text)
        _set_kids(self, kids)
        _set_extra(self, extra)
        _set_count(self, count)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in the order of the text."""
        if readers is not None:
            return iter(readers.walk(self))
        found: list[Node] = []
        stack = [self]
        while stack:
            node = stack.pop()
            found.append(node)
            if node.kids:
                stack.extend(node.kids[::-1])
        return iter(found)

    @property
    def callee(self) -> str:
        """Name a call calls, members included (`tile.shfl_down`); empty when it is an expression."""
        if self.kind != "call":
            return ""
        callee = self.kids[0]
        return spelled(callee.kids[0] if callee.kind == "cast" and callee.text == "" else callee)

    @property
    def arguments(self) -> tuple[Node, ...]:
        """Arguments of a call."""
        return self.kids[1:] if self.kind == "call" else ()

    @property
    def initial(self) -> Node | None:
        """Initial value of a variable."""
        return self.kids[self.count] if self.kind == "variable" and len(self.kids) > self.count else None

    @property
    def dimensions(self) -> tuple[Node, ...]:
        """Array dimensions of a variable."""
        return self.kids[: self.count] if self.kind == "variable" else ()


_set_kind, _set_first, _set_last, _set_text, _set_kids, _set_extra, _set_count = (
    getattr(Node, name).__set__ for name in ("kind", "first", "last", "text", "kids", "extra", "count")
)
EMPTY = Node("empty", 0, -1)


def has_hole(node: Node) -> bool:
    """Whether an operand is missing somewhere below a node: the text is no C++, or more than the reader knows."""
    return any(below.kind == "opaque" and below.last < below.first for below in node.walk())


def spelled(node: Node) -> str:
    """`threadIdx.x`, `cg::tile.shfl`: a name with its members; empty for any other expression."""
    if node.kind == "name":
        return node.text
    if node.kind == "member":
        base = spelled(node.kids[0])
        return f"{base}.{node.text}" if base else ""
    return ""


MEMBERS = frozenset({"member"})
PARTS = MEMBERS | {"index"}
POINTED = PARTS | {"*"}
"""What leads from a variable to a part of it: members, elements, and what it points to."""


def unwrapped(node: Node) -> Node:
    """The expression inside parentheses and casts."""
    while node.kind == "cast" and len(node.kids) == 1:
        node = node.kids[0]
    return node


def base_of(node: Node, through: frozenset[str] = POINTED) -> str:
    """The variable that an expression is a part of; empty where it begins with something else."""
    node = unwrapped(node)
    while node.kind in through or (node.kind == "unary" and node.text == "*" and "*" in through):
        node = unwrapped(node.kids[0])
    return node.text if node.kind == "name" else ""


def only(statement: Node) -> Node:
    """The one statement of a block, or the statement itself."""
    return statement.kids[0] if statement.kind == "block" and len(statement.kids) == 1 else statement


def stands_in(node: Node, places: Sequence[int]) -> bool:
    """Whether one of the tokens at places in order is a node's."""
    place = bisect.bisect_left(places, node.first)
    return place < len(places) and places[place] <= node.last


def bare_callee(call: Node) -> str:
    """A callee's name without namespaces and objects."""
    callee = call.kids[0]
    return callee.text if callee.kind == "member" else call.callee.rpartition("::")[2]


def calls(node: Node) -> Iterator[Node]:
    """All calls below a node, in the order of the text."""
    return (below for below in node.walk() if below.kind == "call")


def names(node: Node) -> Iterator[str]:
    """All plain names below a node."""
    return (below.text for below in node.walk() if below.kind == "name")
