"""Strings that are compiled at run time: follows each literal to the calls that make a program of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.lex import IDENTIFIER, STRING, Tokens
from porter.literals import Literal, literal_groups, read_literal
from porter.written import split_commas

CREATES = frozenset({"nvrtcCreateProgram", "hiprtcCreateProgram"})
_SOURCE_ARGUMENT = 1
_DEEPEST = 4
_MARKS = ("__global__", "__device__")
_MEMBERS = frozenset({"c_str", "data"})
_HARMLESS_MEMBERS = frozenset({"size", "length", "empty"})
_HARMLESS_CALLS = frozenset({"sizeof", "strlen"})
_NOT_TYPES = frozenset({"return", "else", "case", "new", "delete", "throw", "co_return", "sizeof"})
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")


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


def runtime_sources(tokens: Tokens) -> tuple[RuntimeSource, ...]:
    """Every string of a file that holds device code."""
    if STRING not in tokens.kinds or not any(mark in tokens.text for mark in _MARKS):
        return ()
    found: list[RuntimeSource] = []
    for first, last in literal_groups(tokens):
        if any(mark in tokens.texts[index] for index in range(first, last + 1) for mark in _MARKS):
            found.append(_source(tokens, first, last))
    return tuple(found)


def texts(tokens: Tokens) -> Iterator[tuple[str, Literal]]:
    """The name and the text of every string that holds device code, whatever is done with it."""
    for source in runtime_sources(tokens):
        literal = source.literal or read_literal(tokens, source.first, source.last)
        if literal is not None:
            yield source.name, literal


def is_created(tokens: Tokens) -> bool:
    """Whether a file makes programs of sources."""
    return not CREATES.isdisjoint(tokens.names)


def _source(tokens: Tokens, first: int, last: int) -> RuntimeSource:
    name = _holder(tokens, first, last)
    label = "" if name is None else tokens.texts[name]
    problem = _problem(tokens, first, last, name)
    literal = None if problem else read_literal(tokens, first, last)
    if not problem and literal is None:
        problem = "it is a wide string or has escapes that are not understood"
    if literal is not None and not _is_whole(literal.text):
        literal, problem = None, "its brackets do not match: it is a part of a program"
    return RuntimeSource(first, last, tokens.starts[first], label, literal, problem)


def _problem(tokens: Tokens, first: int, last: int, name: int | None) -> str:
    if not is_created(tokens):
        return "nvrtcCreateProgram is not called in this file"
    if tokens.directive_of(first) is None and _is_chosen(tokens, first, last):
        return "conditional compilation chooses its pieces"
    if name is None:
        return "" if _is_compiled(tokens, first, last, 0) else "it is a part of an expression"
    return _misuse(tokens, name, 0) or ""


def _is_chosen(tokens: Tokens, first: int, last: int) -> bool:
    """Whether an `#if` or its kin stands between the pieces, or between them and what is around them."""
    before, after = first - 1, last + 1
    while before >= 0 and tokens.directive_of(before) is not None:
        before -= 1
    while after < len(tokens) and tokens.directive_of(after) is not None:
        after += 1
    start = tokens.end(before) if before >= 0 else 0
    end = tokens.starts[after] if after < len(tokens) else len(tokens.text)
    return any(start <= d.start < end and d.name in _CONDITIONS for d in tokens.directives)


def _is_whole(text: str) -> bool:
    from porter.lex import lex

    inner = lex(text)
    return all(index in inner.partner for index, mark in enumerate(inner.first_characters) if mark in "(){}[]")


def _holder(tokens: Tokens, first: int, last: int) -> int | None:
    """The name that is declared with the literal and nothing else: `a = "..";`, `a[] = {".."};`, `#define a ".."`."""
    texts = tokens.texts
    directive = tokens.directive_of(first)
    if directive is not None:
        whole = directive.name == "define" and (directive.first + 1, directive.last) == (first, last + 1)
        return directive.first if whole and tokens.end(directive.first) < tokens.starts[first] else None
    before, after = first - 1, last + 1
    while before > 0 and after < len(tokens) and texts[before] in "({" and tokens.partner.get(before) == after:
        if texts[before] == "(" and texts[before - 1] != "=" and not _is_declarator(tokens, before - 1):
            return None
        before, after = before - 1, after + 1
    if after >= len(tokens) or texts[after] not in (";", ","):
        return None
    if texts[before] == "=":
        before -= 1
        if texts[before] == "]":
            before = tokens.partner.get(before, 1) - 1
        return before if tokens.kinds[before] == IDENTIFIER and _is_declarator(tokens, before) else None
    return before if _is_declarator(tokens, before) and before < first - 1 else None


def _is_declarator(tokens: Tokens, index: int) -> bool:
    """Whether the name at a token is being declared: a type, `*` or `&` stands before it."""
    if index < 1 or tokens.kinds[index] != IDENTIFIER:
        return False
    before = index - 1
    while before > 1 and tokens.texts[before] == "::" and tokens.kinds[before - 1] == IDENTIFIER:
        before -= 2
    text = tokens.texts[before]
    return text in ("*", "&", ">") or (tokens.kinds[before] == IDENTIFIER and text not in _NOT_TYPES)


def _misuse(tokens: Tokens, declared: int, depth: int) -> str | None:
    """What else is done with a variable than compiling its text; None when nothing is, or it is only measured."""
    name = tokens.texts[declared]
    compiled = False
    for use in _uses(tokens, declared):
        if _is_compiled(tokens, use, use, depth) or _is_copied(tokens, use, depth):
            compiled = True
        elif not _is_measured(tokens, use):
            return f"{name} has another use, in line {tokens.text.count(chr(10), 0, tokens.starts[use]) + 1}"
    return None if compiled else f"{name} is not handed to nvrtcCreateProgram in this file"


def _uses(tokens: Tokens, declared: int) -> Iterator[int]:
    """Where a variable is named in the block that declares it."""
    end = _block_end(tokens, declared)
    for index in tokens.names[tokens.texts[declared]]:
        if index != declared and (declared < index < end or end == len(tokens)):
            yield index


def _block_end(tokens: Tokens, index: int) -> int:
    """The closing brace of the innermost block around a token; of a parameter, that of the function."""
    if tokens.directive_of(index) is not None:
        return len(tokens)
    ends = [
        partner
        for opening, partner in tokens.partner.items()
        if opening < index < partner and tokens.texts[opening] == "{" and not _is_scope(tokens, opening)
    ]
    return min(ends, default=len(tokens))


def _is_scope(tokens: Tokens, opening: int) -> bool:
    """Whether a brace opens a namespace or a class, whose names are used after it too."""
    for before in range(opening - 1, max(-1, opening - 12), -1):
        text = tokens.texts[before]
        if text in ("namespace", "class", "struct", "extern"):
            return True
        if text in (")", ";", "{", "}", "="):
            return False
    return False


def _is_compiled(tokens: Tokens, first: int, last: int, depth: int) -> bool:
    """Whether tokens are the whole argument of a call that makes a program of it."""
    first, last = _without_wrapping(tokens, first, last)
    call = _call_around(tokens, first, last)
    if call is None or depth > _DEEPEST:
        return False
    name, number = call
    if name in CREATES:
        return number == _SOURCE_ARGUMENT
    parameter = _parameter(tokens, name, number)
    return parameter is not None and _parameter_misuse(tokens, parameter, depth + 1) is None


def _is_copied(tokens: Tokens, use: int, depth: int) -> bool:
    """Whether another variable is declared with it and nothing else, and only compiled."""
    if depth > _DEEPEST:
        return False
    first, last = _without_wrapping(tokens, use, use)
    holder = _holder(tokens, first, last)
    return holder is not None and holder != use and _misuse(tokens, holder, depth + 1) is None


def _is_measured(tokens: Tokens, use: int) -> bool:
    texts = tokens.texts
    if texts[use + 1 : use + 2] == ["."] and texts[use + 2] in _HARMLESS_MEMBERS:
        return True
    call = _call_around(tokens, use, use)
    return call is not None and call[0] in _HARMLESS_CALLS


def _without_wrapping(tokens: Tokens, first: int, last: int) -> tuple[int, int]:
    """With the scope before a name, and `.c_str()` or `.data()` after it."""
    texts = tokens.texts
    while first > 1 and texts[first - 1] == "::" and tokens.kinds[first - 2] == IDENTIFIER:
        first -= 2
    if texts[last + 1 : last + 2] == ["."] and texts[last + 2] in _MEMBERS and texts[last + 3 : last + 5] == ["(", ")"]:
        last += 4
    return first, last


def _call_around(tokens: Tokens, first: int, last: int) -> tuple[str, int] | None:
    """The function whose argument the tokens are, and which argument, when they are all of it."""
    texts = tokens.texts
    if first < 2 or last + 1 >= len(tokens) or texts[first - 1] not in ("(", ",") or texts[last + 1] not in (",", ")"):
        return None
    number, index = 0, first - 1
    while index > 0 and texts[index] != "(":
        if texts[index] in _CLOSES:
            index = tokens.partner.get(index, 0)
        elif texts[index] in _OPENS or texts[index] == ";":
            return None
        number += texts[index] == ","
        index -= 1
    name = index - 1
    return (texts[name], number) if name >= 0 and tokens.kinds[name] == IDENTIFIER else None


def _parameter(tokens: Tokens, name: str, number: int) -> int | None:
    """A parameter of the one function of that name that the file defines."""
    bodies = [index for index in tokens.names.get(name, ()) if _body(tokens, index) is not None]
    if len(bodies) != 1:
        return None
    opening = bodies[0] + 1
    parameters = split_commas(tokens, opening + 1, tokens.partner[opening])
    if number >= len(parameters):
        return None
    first, last = parameters[number]
    names = [i for i in range(first, last) if tokens.kinds[i] == IDENTIFIER]
    stop = next((i for i in range(first, last) if tokens.texts[i] == "="), last)
    names = [i for i in names if i < stop]
    return names[-1] if len(names) > 1 else None


def _body(tokens: Tokens, name: int) -> int | None:
    """The opening brace of the function that is defined with the name at a token."""
    texts = tokens.texts
    if texts[name + 1 : name + 2] != ["("] or tokens.directive_of(name) is not None or not _is_declarator(tokens, name):
        return None
    after = tokens.partner.get(name + 1, len(tokens)) + 1
    while after < len(tokens) and texts[after] in ("const", "noexcept", "override", "final", "try"):
        after += 1
    return after if texts[after : after + 1] == ["{"] and after in tokens.partner else None


def _parameter_misuse(tokens: Tokens, parameter: int, depth: int) -> str | None:
    """As for a variable, in the function's body."""
    opening = parameter
    while opening > 0 and tokens.texts[opening] != "(":
        opening = tokens.partner.get(opening, opening) if tokens.texts[opening] in _CLOSES else opening
        opening -= 1
    body = _body(tokens, opening - 1)
    if body is None:
        return "its function is not understood"
    name = tokens.texts[parameter]
    compiled = False
    for use in tokens.names[name]:
        if not body < use < tokens.partner[body]:
            continue
        if _is_compiled(tokens, use, use, depth) or _is_copied(tokens, use, depth):
            compiled = True
        elif not _is_measured(tokens, use):
            return f"{name} has another use"
    return None if compiled else f"{name} is not compiled"
