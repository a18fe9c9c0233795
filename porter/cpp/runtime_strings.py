"""Strings that are compiled at run time: follows each literal to the calls that make a program of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from porter.cpp.lex import STRING, Tokens, lex
from porter.cpp.literals import Literal, literal_groups, read_literal
from porter.cpp.string_flow import CREATES, Flow

_MARKS = ("__global__", "__device__")
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})


@dataclass(frozen=True, slots=True)
class RuntimeSource:
    """A literal with device code: its text when nothing else is done with it than compiling it, or why not."""

    first: int
    last: int
    """Tokens."""
    start: int
    """Offset of the first one."""
    name: str
    """The variable that holds it; empty when it is an argument itself."""
    literal: Literal | None
    problem: str = ""
    joined: bool = False
    """Whether the program is put together of it and other texts, or may be."""
    elsewhere: str = ""
    """Why another file is taken to compile it."""


def runtime_sources(tokens: Tokens) -> tuple[RuntimeSource, ...]:
    """Every string of a file that holds device code; the engine and a rule ask."""
    known = tokens.memo.get("runtime sources")
    if known is None:
        known = tokens.memo["runtime sources"] = _runtime_sources(tokens)
    return cast("tuple[RuntimeSource, ...]", known)


def _runtime_sources(tokens: Tokens) -> tuple[RuntimeSource, ...]:
    if STRING not in tokens.kinds or not any(mark in tokens.text for mark in _MARKS):
        return ()
    flow = Flow(tokens)
    return tuple(
        _source(flow, first, last)
        for first, last in literal_groups(tokens)
        if any(mark in tokens.texts[index] for index in range(first, last + 1) for mark in _MARKS)
        and not _is_pragma(tokens, first)
    )


def _is_pragma(tokens: Tokens, index: int) -> bool:
    """`#pragma push_macro("__device__")` names a macro."""
    directive = tokens.directive_of(index)
    return directive is not None and directive.name == "pragma"


def texts(tokens: Tokens) -> Iterator[tuple[str, Literal]]:
    """The name and the text of every string that holds device code, whatever is done with it."""
    for source in runtime_sources(tokens):
        literal = source.literal or read_literal(tokens, source.first, source.last)
        if literal is not None:
            yield source.name, literal


def _source(flow: Flow, first: int, last: int) -> RuntimeSource:
    tokens = flow.tokens
    flow.joined, flow.elsewhere = False, ""
    name = flow.holder(first, last)
    label = "" if name is None else tokens.texts[name]
    problem = _problem(flow, first, last, name)
    literal = None if problem else read_literal(tokens, first, last)
    if not problem and literal is None:
        problem = "it is a wide string or has escapes that are not understood"
    if literal is not None and not _is_whole(literal.text):
        literal, problem = None, "it is a part of a program: its brackets do not match, or no function is complete"
    joined = flow.joined or bool(flow.elsewhere)
    return RuntimeSource(first, last, tokens.starts[first], label, literal, problem, joined, flow.elsewhere)


def _problem(flow: Flow, first: int, last: int, name: int | None) -> str:
    tokens = flow.tokens
    if tokens.directive_of(first) is None and _is_chosen(tokens, first, last):
        return "conditional compilation chooses its pieces"
    if name is not None:
        return flow.misuse(name) or ""
    if flow.is_compiled(first, last):
        return ""
    if CREATES.isdisjoint(tokens.names):
        return "nvrtcCreateProgram is not called in this file"
    return "it is a part of an expression"


def _is_chosen(tokens: Tokens, first: int, last: int) -> bool:
    """Whether an `#if` or its kin stands between the pieces, or between them and what is around them."""
    before, after = first - 1, last + 1
    while before >= 0 and tokens.directive_of(before) is not None:
        before -= 1
    while after < len(tokens) and tokens.directive_of(after) is not None:
        after += 1
    start = tokens.end(before) if before >= 0 else 0
    end = tokens.starts[after]
    return any(directive.name in _CONDITIONS for directive in tokens.directives_in(start, end))


def _is_whole(text: str) -> bool:
    """Whether brackets match, and what is marked for the device ends in the text."""
    inner = lex(text)
    if not all(index in inner.partner for index, mark in enumerate(inner.first_characters) if mark in "(){}[]"):
        return False
    marked = [index for mark in _MARKS for index in inner.names.get(mark, ())]
    last = max((index for index in marked if inner.directive_of(index) is None), default=-1)
    return last < 0 or any(character in "{;" for character in inner.first_characters[last:])
