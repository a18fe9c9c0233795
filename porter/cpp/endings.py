"""Device functions with a result whose end control may reach, or that return nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.cpp.brackets import words
from porter.cpp.heads import Head, find_heads
from porter.cpp.nodes import EMPTY, Node
from porter.cpp.signatures import parameters_of
from porter.cpp.statements import parse_block
from porter.cpp.syntax import Tokens

_QUALIFIERS = words(
    "__device__ __host__ __forceinline__ __noinline__ __inline__ inline static constexpr extern const volatile friend "
    "virtual explicit __inline"
)
_NO_RESULT = frozenset({"void", "auto", "~", "operator"})
"""None, or none that the words before the name tell: destructors and conversions."""
_LEAVES = frozenset({"__trap", "abort", "exit", "assert", "__assert_fail", "__builtin_unreachable", "__builtin_trap"})
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
_STOPS = re.compile(r"\b(?:trap|exit|ret)\b")
_LOOPS = frozenset({"for", "while", "do", "range"})


@dataclass(frozen=True)
class OpenEnd:
    """A function that may end without its result."""

    head: Head
    name: str
    kind: frozenset[str]
    """The words of its type; qualifiers and attributes left out."""
    parameters: int
    returns: tuple[int, ...]
    """The token of each `return` without a value."""
    runs_out: bool
    """Whether control may come to its end."""
    runs_out_of_cases: bool
    """That alone, if a `switch` without `default` has all values among its cases."""
    last: int | None
    """The first token of its last statement."""


def open_ends(tokens: Tokens) -> Iterator[OpenEnd]:
    """All of a file, those in macros left out."""
    for head in find_heads(tokens, "__device__"):
        kind = _kind(tokens, head)
        if head.body is None or head.directive is not None or not kind or _has_none(kind):
            continue
        if tokens.partner.get(head.body) != head.end - 1 or ":" in tokens.texts[head.closing + 1 : head.closing + 3]:
            continue  # a body that is cut off; a constructor with its initialisers
        if _ends_with_value(tokens, head.body, head.end):
            continue
        body = parse_block(tokens, head.body, head.end)
        bare = tuple(node.first for node in _bare_returns(body))
        runs_out = not _leaves(tokens, body, switches=False)
        if bare or runs_out:
            yield OpenEnd(
                head,
                "".join(tokens.texts[head.name_first : head.name_last]),
                kind,
                len(parameters_of(tokens, head)),
                bare,
                runs_out,
                runs_out and _leaves(tokens, body, switches=True),
                body.kids[-1].first if body.kids else None,
            )


def _ends_with_value(tokens: Tokens, opening: int, end: int) -> bool:
    """Whether the last statement, behind another that ends with a `;`, returns a value, and no `return` is without one:
    the body need not be read."""
    if tokens.texts[end - 2] != ";" or tokens.has_directive(opening, end):
        return False
    index = end - 3
    while index > opening and tokens.texts[index] not in (";", "{", "}"):
        index = tokens.partner.get(index, index) - 1 if tokens.texts[index] in (")", "]") else index - 1
    if tokens.texts[index + 1] != "return" or (tokens.texts[index] != ";" and index > opening):
        return False
    return all(tokens.texts[place + 1] != ";" for place in tokens.named("return", opening, end))


def _has_none(kind: frozenset[str]) -> bool:
    return bool(_NO_RESULT & kind) and not ("void" in kind and "*" in kind)


def _kind(tokens: Tokens, head: Head) -> frozenset[str]:
    """The words of the type before a function's name, attributes left out; another branch's head is none of it."""
    first = head.begin if head.template is None else max(head.begin, _behind_template(tokens, head))
    lines = tokens.directives_in(tokens.starts[first], tokens.starts[head.name_first])
    first = max([first, *(line.last for line in lines)])
    if any(_is_of_void(tokens, index, head.name_first) for index in range(first, head.name_first)):
        return frozenset({"void"})
    kept = [word for word in _without_calls(tokens, first, head.name_first) if word not in _QUALIFIERS]
    return frozenset(word for word in kept if not _MACRO.fullmatch(word) or len(word) < 3)


def _is_of_void(tokens: Tokens, index: int, last: int) -> bool:
    """Whether `enable_if_t<...>` with its condition alone stands there, which is void."""
    texts = tokens.texts
    if texts[index] not in ("enable_if_t", "enable_if") or texts[index + 1] != "<":
        return False
    depth, index = 1, index + 2
    while index < last and depth > 0:
        if texts[index] == "," and depth == 1:
            return False
        depth += {"<": 1, ">": -1, ">>": -2, ">>>": -3}.get(texts[index], 0)
        index = tokens.partner.get(index, index) + 1
    return depth <= 0


def _without_calls(tokens: Tokens, first: int, last: int) -> Iterator[str]:
    """The words of a stretch, without macros and their arguments: `PUBLIC_INTERFACE(Vec) DEVICE Vec(...)`."""
    index = first
    while index < last:
        if _MACRO.fullmatch(tokens.texts[index]) and tokens.texts[index + 1] == "(":
            index = tokens.partner.get(index + 1, index + 1)
        else:
            yield tokens.texts[index]
        index += 1


def _behind_template(tokens: Tokens, head: Head) -> int:
    """The word after the `>` of a head's `template <...>`, or its attribute."""
    depth = 0
    for index in range(head.template or head.begin, head.marker):
        depth += {"<": 1, ">": -1, ">>": -2}.get(tokens.texts[index], 0)
        if depth <= 0:
            return index + 1
    return head.marker


def _bare_returns(node: Node) -> Iterator[Node]:
    """Each `return;`, those of lambdas left out."""
    if node.kind == "return" and not node.kids:
        yield node
    if node.kind != "lambda":
        for kid in node.kids:
            yield from _bare_returns(kid)


def _leaves(tokens: Tokens, node: Node, switches: bool) -> bool:
    """Whether control never comes out behind a statement; what is not understood counts so."""
    if node.kind == "block":
        return any(_leaves(tokens, kid, switches) for kid in node.kids)
    if node.kind == "if":
        inner = [_leaves(tokens, kid, switches) for kid in node.kids[1:]]
        return all(inner) and (len(inner) == 2 or tokens.texts[node.first + 1] == "constexpr")
    if node.kind == "switch":
        labels = [kid.text for kid in node.kids[-1].kids if kid.kind == "label"]
        complete = "default" in labels or (switches and bool(labels))
        return complete and _leaves_at_last(tokens, node.kids[-1], switches) and not _breaks(node.kids[-1])
    if node.kind in _LOOPS:
        return _is_endless(tokens, node) and not any(map(_breaks, node.kids))
    if node.kind == "jump":
        return node.text == "goto"
    if node.kind == "declaration":
        return _returns_without_end(tokens.texts[node.first : node.last + 1])
    if node.kind == "statement":
        return _is_call_that_leaves(tokens, node)
    if node.kind == "asm":
        return any(_STOPS.search(text) for text in tokens.texts[node.first : node.last + 1])
    return node.kind in ("return", "opaque")


def _leaves_at_last(tokens: Tokens, body: Node, switches: bool) -> bool:
    """Whether the statements behind the last label leave."""
    last = max((place for place, kid in enumerate(body.kids) if kid.kind == "label"), default=-1)
    return any(_leaves(tokens, kid, switches) for kid in body.kids[last + 1 :])


def _breaks(node: Node) -> bool:
    """Whether a `break` of this loop or `switch` stands in it."""
    if node.kind == "jump":
        return node.text == "break"
    return node.kind not in (*_LOOPS, "switch", "lambda") and any(map(_breaks, node.kids))


def _is_endless(tokens: Tokens, node: Node) -> bool:
    """`for (;;)`, `while (true)`, and `do ... while (1)`."""
    if node.kind == "range":
        return False
    condition = node.kids[{"for": 1, "while": 0, "do": 1}[node.kind]]
    if condition == EMPTY:
        return node.kind == "for"
    return "".join(tokens.texts[condition.first : condition.last + 1]).strip("()") in ("true", "1")


def _returns_without_end(texts: Sequence[str]) -> bool:
    """`MACRO return 1;` before a brace that came too early."""
    return texts[-1:] != [";"] and "return" in texts


def _is_call_that_leaves(tokens: Tokens, node: Node) -> bool:
    """A call that does not come back, a `throw`, a macro that may be either, or what is no statement of C++."""
    texts = tokens.texts[node.first : node.last + 1]
    if _returns_without_end(texts):
        return True
    word = next((text for text in texts if text not in (":", "::", "std")), "")
    return (
        tuple(texts[:3]) == ("porter", "::", "trap")
        or word in _LEAVES
        or word == "throw"
        or _MACRO.fullmatch(word) is not None
    )
