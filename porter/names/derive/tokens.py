"""The tokens of a header that declarations are read from: conditional branches joined, directives apart."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from porter.cpp.lex import Directive, Tokens, lex

_SUFFIX = re.compile(r"(?<=[0-9a-fA-F])[uUlL]+$")


class Macro(NamedTuple):
    """One `#define`: parameters is None for an object-like macro."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


class Header(NamedTuple):
    """One header's significant tokens and its macros."""

    texts: list[str]
    macros: list[Macro]


def read_header(text: str) -> Header:
    """All branches of all conditionals, except where joining them would unbalance the braces."""
    tokens = lex(text)
    skipped = _skipped(tokens)
    texts: list[str] = []
    position = 0
    for directive in tokens.directives:
        texts += tokens.texts[position : directive.first]
        position = max(position, directive.last)
        if directive.start in skipped:
            position = max(position, skipped[directive.start])
    texts += tokens.texts[position : len(tokens)]
    macros = [macro for d in tokens.directives if d.name == "define" for macro in _macro(tokens, d)]
    ends = {macro.name for macro in macros if macro.body in ((";",), ("{", "}"))}
    return Header([";" if text in ends else text for text in texts], macros)


def _macro(tokens: Tokens, directive: Directive) -> Iterator[Macro]:
    first, last = directive.first, directive.last
    if first >= last:
        return
    texts = tokens.texts
    name = texts[first]
    if first + 1 < last and texts[first + 1] == "(" and tokens.starts[first + 1] == tokens.end(first):
        closed = next((i for i in range(first + 1, last) if texts[i] == ")"), last)
        parameters = tuple(text for text in texts[first + 2 : closed] if text != ",")
        yield Macro(name, parameters, tuple(texts[closed + 1 : last]))
    else:
        yield Macro(name, None, tuple(texts[first + 1 : last]))


class _Branch(NamedTuple):
    start: int
    first: int
    last: int


def _skipped(tokens: Tokens) -> dict[int, int]:
    """Start of a directive -> token after the branch it opens, for branches that have to be left out."""
    skipped: dict[int, int] = {}
    stack: list[list[_Branch]] = []
    for directive in tokens.directives:
        if directive.name in ("if", "ifdef", "ifndef"):
            stack.append([_Branch(directive.start, directive.last, -1)])
        elif directive.name in ("elif", "else", "elifdef", "elifndef", "endif") and stack:
            opened = stack[-1].pop()
            stack[-1].append(opened._replace(last=directive.first))
            if directive.name == "endif":
                skipped |= _left_out(tokens, stack.pop())
            else:
                stack[-1].append(_Branch(directive.start, directive.last, -1))
    return skipped


def _left_out(tokens: Tokens, branches: list[_Branch]) -> dict[int, int]:
    """All branches but the first non-empty one, when one of several opens or closes a brace or a parenthesis."""
    if len(branches) < 2 or all(_balanced(tokens, branch) for branch in branches):
        return {}
    kept = next((branch for branch in branches if branch.last > branch.first), branches[0])
    return {branch.start: branch.last for branch in branches if branch is not kept}


def _balanced(tokens: Tokens, branch: _Branch) -> bool:
    texts = tokens.texts[branch.first : branch.last]
    complete = not texts or texts[-1] in (";", "}", ",", ")") or texts[-1].isidentifier()
    return complete and texts.count("{") == texts.count("}") and texts.count("(") == texts.count(")")


def closing(texts: list[str], index: int) -> int:
    """Index of the bracket that closes the one at `index`; the last token when there is none."""
    depth = 0
    for place in range(index, len(texts)):
        text = texts[place]
        if text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return place
    return len(texts) - 1


def closing_angle(texts: list[str], index: int) -> int:
    """Index of the `>` that closes the `<` at `index`."""
    depth = 0
    place = index
    while place < len(texts):
        text = texts[place]
        if text in ("(", "[", "{"):
            place = closing(texts, place)
        elif text == "<":
            depth += 1
        elif text in (">", ">>", ">>>"):
            depth -= len(text)
            if depth <= 0:
                return place
        elif text == ";":
            return place
        place += 1
    return len(texts) - 1


def split(texts: list[str], separator: str = ",") -> list[list[str]]:
    """Cuts at separators outside of brackets and template arguments."""
    parts: list[list[str]] = [[]]
    place = 0
    while place < len(texts):
        text = texts[place]
        if text in ("(", "[", "{"):
            end = closing(texts, place)
        elif text == "<" and parts[-1] and parts[-1][-1].isidentifier():
            end = closing_angle(texts, place)
        else:
            end = place
        if text == separator:
            parts.append([])
        else:
            parts[-1] += texts[place : end + 1]
        place = end + 1
    return parts if any(parts) else []


def expanded(macro: Macro, arguments: list[list[str]]) -> list[str]:
    """The body of a function-like macro with its arguments in place, `##` applied."""
    given = dict(zip(macro.parameters or (), arguments, strict=False))
    words: list[str] = []
    pasting = False
    for word in macro.body:
        if word in ("##", "#"):
            pasting = word == "##" and bool(words)
            continue
        for part in given.get(word, [word]):
            if pasting:
                words[-1] += part
                pasting = False
            else:
                words.append(part)
    return words


def integer(texts: list[str] | tuple[str, ...], known: dict[str, int]) -> int | None:
    """Value of a constant expression of integers, known names, shifts, `|`, `+`, `-`, `*` and parentheses."""
    words: list[str] = []
    for text in texts:
        number = _SUFFIX.sub("", text) if text[0].isdigit() else text
        if text.isidentifier():
            if text in ("int", "unsigned", "long"):
                continue
            if text not in known:
                return None
            words.append(str(known[text]))
        elif number[0].isdigit():
            value = _number(number)
            if value is None:
                return None
            words.append(str(value))
        elif text in ("(", ")", "<<", "|", "+", "-", "*", "~", "&"):
            words.append(text)
        else:
            return None
    return _evaluated(" ".join(words))


def _number(text: str) -> int | None:
    try:
        return int(text, 8) if re.fullmatch(r"0[0-7]+", text) else int(text, 0)
    except ValueError:
        return None


def _evaluated(expression: str) -> int | None:
    try:
        return _fold(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, OverflowError, MemoryError):
        return None


def _fold(node: ast.expr) -> int | None:
    """Integer arithmetic over a parsed expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        value = _fold(node.operand)
        return None if value is None else _UNARY[type(node.op)](value)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _fold(node.left), _fold(node.right)
        if left is None or right is None or (isinstance(node.op, ast.LShift) and right > 63):
            return None
        return _BINARY[type(node.op)](left, right)
    return None


_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
