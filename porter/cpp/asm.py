"""Reads an inline assembly statement: template, operands, clobbers; macros that stand for strings are looked up."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from porter.cpp.asm_branches import of_one_branch
from porter.cpp.lex import IDENTIFIER, STRING, Tokens
from porter.cpp.macro_arguments import bindings, parameters
from porter.cpp.preprocessor import Lookup
from porter.model import Span

KEYWORDS = ("asm", "__asm__", "__asm")
_QUALIFIERS = frozenset({"volatile", "__volatile__", "__volatile", "goto", "inline"})
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "", '"': '"', "\\": "\\", "'": "'"}
_MOST_READINGS = 8
_FARTHEST = 2000
_BEHIND_STAR = frozenset({"const", "__restrict__", "__restrict", "volatile"})
_AFTER_NAME = frozenset({";", "=", ",", ")"})
_BEFORE_TYPE = frozenset({";", "{", "}", "(", ","})
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[ \t]*(\w+)')
_STRING_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([\w, \t]*)\))?"
    r'((?:[ \t]*(?:"(?:[^"\\\n]|\\.)*"|#[ \t]*\w+))*)[ \t]*(?:/[/*].*)?\r?$',
    re.MULTILINE,
)
_BLANK = re.compile(r"[\s;{},\[\]]")
_WORD = re.compile(r"[\w.:]*")
_END_OF_WORD = re.compile(r"(?<![\w.:%\[])[A-Za-z_][\w.:]*\.$")
_LITERAL = re.compile(r'(?:u8|[uUL])?(R)?"(?P<body>.*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class StringMacro:
    """A macro whose body is string literals and `#parameter`: pieces of text and, where it has none, a parameter."""

    parameters: tuple[str, ...] | None
    pieces: tuple[tuple[str, str], ...]

    def text(self, arguments: tuple[str, ...]) -> str:
        """What it says, without quotes."""
        values = dict(zip(self.parameters or (), arguments, strict=True))
        return "".join(values.get(parameter, "") if parameter else text for text, parameter in self.pieces)


Macros = Mapping[str, tuple[StringMacro, ...]]
"""Macros that stand for strings, each with all of its definitions."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its constraint (`=r`), symbolic name, and the C++ expression as written."""

    constraint: str
    name: str
    expression: str
    is_pointer: bool = False
    """Whether it is a variable that the same function or macro declares as a pointer; told of results alone."""

    @property
    def letter(self) -> str:
        """The register class: r, l, h, f, d or n."""
        return self.constraint.strip("=+&% ")[:1]


@dataclass(frozen=True, slots=True)
class Written:
    """An opcode that a macro puts together: as strings (`"ld.global."#how`), and what it is in one use."""

    strings: str
    word: str


@dataclass(frozen=True, slots=True)
class Assembly:
    """One statement; `template` is None when it is no plain string; not `complete` when a macro writes operands.

    Where macros of several definitions stand for strings in it, `others` are the further readings. Where it stands in a
    macro that writes arguments into strings (`#type`), it is read once for each use, and `uses` are the others.
    """

    span: Span
    place: int
    template: str | None
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    others: tuple[Assembly, ...] = ()
    complete: bool = True
    volatile: bool = False
    """Neither dropped nor moved: said so, or without outputs."""
    uses: tuple[Assembly, ...] = ()
    written: Written = field(default_factory=lambda: Written("", ""))
    """The opcode that the macro's arguments are in."""
    parameters: frozenset[str] = frozenset()
    """Of the macro that the statement stands in."""


def assemblies(tokens: Tokens, macros: Macros | None = None, meanings: Lookup | None = None) -> Iterator[Assembly]:
    """All inline assembly statements of a file, in macros too.

    Of `#if` between the strings of one the branch is read that `meanings` of macros choose; without them there is no
    template.
    """
    known = macros or {}
    places = [i for keyword in KEYWORDS for i in tokens.names.get(keyword, ())]
    for index in sorted({*places, *(use for place in places for use in _keyword_uses(tokens, place))}):
        found = [one for one in _uses(tokens, index, known, meanings) if one is not None]
        if found:
            directive = tokens.directive_of(index)
            names = frozenset(parameters(tokens, directive)) if directive is not None else frozenset()
            yield replace(found[0], uses=tuple(found[1:]), parameters=names)


def _keyword_uses(tokens: Tokens, place: int) -> Iterator[int]:
    """Where a macro stands that is the keyword and its qualifiers alone: `#define ASM asm volatile`."""
    directive = tokens.directive_of(place)
    if directive is None or directive.name != "define" or place == directive.first:
        return
    body = tokens.texts[directive.first + 1 : directive.last]
    if all(text in _QUALIFIERS or text in KEYWORDS for text in body):
        for use in tokens.names[tokens.texts[directive.first]]:
            if tokens.directive_of(use) is not directive and tokens.texts[use + 1] == "(":
                yield use


def said(tokens: Tokens, index: int) -> str:
    """The instructions of the statement whose keyword is at an index, as far as they stand there, without operands."""
    memo = tokens.memo
    known = memo.get((said, index))
    if known is None:
        known = memo[said, index] = _said(tokens, index)
    return cast(str, known)


def _said(tokens: Tokens, index: int) -> str:
    opened, closed = _brackets(tokens, index)
    if closed == opened or tokens.texts[opened] != "(":
        return ""
    first, last = next(_parts(tokens, opened + 1, closed))
    return "".join(_content(tokens.texts[place]) for place in range(first, last) if tokens.kinds[place] == STRING)


def string_macros(text: str) -> dict[str, tuple[StringMacro, ...]]:
    """The macros of a file that stand for strings, or for nothing."""
    found: dict[str, tuple[StringMacro, ...]] = {}
    for match in _STRING_MACRO.finditer(text):
        names = None if match[2] is None else tuple(name.strip() for name in match[2].split(",") if name.strip())
        pieces = tuple(("" if piece[1] else _content(piece[0]), piece[1] or "") for piece in _PIECE.finditer(match[3]))
        if all(not parameter or parameter in (names or ()) for _, parameter in pieces):
            found[match[1]] = tuple(dict.fromkeys((*found.get(match[1], ()), StringMacro(names, pieces))))
    return found


def _uses(tokens: Tokens, index: int, macros: Macros, meanings: Lookup | None) -> Iterator[Assembly | None]:
    """The statement, once for each set of arguments that its macro writes into the strings."""
    directive = tokens.directive_of(index)
    opened, closed = _brackets(tokens, index)
    if meanings is not None and directive is None and tokens.has_directive(opened, closed):
        chosen = of_one_branch(tokens, index, closed, meanings)
        if chosen is not None:
            read = _read(chosen, 0, macros)
            yield None if read is None else _moved(read, tokens.starts[index], index)
            return
    marks = [place for place in range(opened, closed) if tokens.texts[place] == "#"]
    if directive is None or directive.name != "define" or not marks:
        yield _read(tokens, index, macros)
        return
    names = frozenset(tokens.texts[place + 1] for place in marks) & frozenset(parameters(tokens, directive))
    for arguments in bindings(tokens, directive, names) or ({},):
        written = {f"#{name}": (StringMacro(None, ((text, ""),)),) for name, text in arguments.items()}
        yield _read(tokens, index, {**macros, **written})


def _read(tokens: Tokens, index: int, macros: Macros) -> Assembly | None:
    found = _readings(tokens, index, macros)
    return replace(found[0], others=tuple(found[1:])) if found else None


def _moved(assembly: Assembly, offset: int, place: int) -> Assembly:
    """A statement that was read by itself, at its place in the file."""
    span = Span(assembly.span.start + offset, assembly.span.end + offset)
    others = tuple(_moved(other, offset, place) for other in assembly.others)
    return replace(assembly, span=span, place=place, others=others)


def _brackets(tokens: Tokens, index: int) -> tuple[int, int]:
    """The brackets behind the keyword and its qualifiers; the same token twice where there are none."""
    opened = index + 1
    while opened < len(tokens) and tokens.texts[opened] in _QUALIFIERS:
        opened += 1
    return opened, tokens.partner.get(opened, opened)


def _readings(tokens: Tokens, index: int, macros: Macros) -> list[Assembly]:
    """The statement, once for each way to choose among the definitions of the macros in it."""
    opened, closed = _brackets(tokens, index)
    written = {f"#{tokens.texts[place + 1]}" for place in range(opened, closed) if tokens.texts[place] == "#"}
    names = sorted({*tokens.texts[opened:closed], *written} & macros.keys())
    choices = itertools.islice(itertools.product(*(macros[name] for name in names)), _MOST_READINGS)
    found = (_statement(tokens, index, dict(zip(names, choice, strict=True))) for choice in choices)
    return [assembly for assembly in found if assembly is not None]


def _statement(tokens: Tokens, index: int, chosen: Mapping[str, StringMacro]) -> Assembly | None:
    opened, closed = _brackets(tokens, index)
    if closed == opened or tokens.texts[opened] != "(":
        return None
    parts = _split(tokens, opened + 1, closed)
    last = closed + 1 if tokens.texts[closed + 1] == ";" else closed
    outputs = _operands(tokens, *parts[1], chosen) if len(parts) > 1 else ()
    inputs = _operands(tokens, *parts[2], chosen) if len(parts) > 2 else ()
    span = Span(tokens.starts[index], tokens.end(last))
    written = _written_opcode(tokens, *parts[0], chosen)
    template = _template(tokens, *parts[0], chosen) if written is not None else None
    if outputs is None or inputs is None:
        return Assembly(span, index, template, (), (), complete=False)
    outputs = tuple(replace(one, is_pointer=_is_pointer(tokens, index, one)) for one in outputs)
    volatile = not outputs or any("volatile" in text for text in tokens.texts[index + 1 : opened])
    volatile |= tokens.texts[index] not in KEYWORDS
    return Assembly(span, index, template, outputs, inputs, volatile=volatile, written=written or Written("", ""))


def _is_pointer(tokens: Tokens, before: int, operand: Operand) -> bool:
    """Whether `T *name` declares the variable in sight of a statement, further up."""
    if operand.letter != "l" or not operand.expression.isidentifier():
        return False
    texts, places = tokens.texts, tokens.names.get(operand.expression, ())
    for place in reversed(places[: bisect.bisect_left(places, before)]):
        if before - place > _FARTHEST:
            return False
        star = place - 1
        while texts[star] in _BEHIND_STAR:
            star -= 1
        if texts[star] == "*" and texts[place + 1] in _AFTER_NAME and _begins_with_type(tokens, star - 1):
            return True
    return False


def _begins_with_type(tokens: Tokens, index: int) -> bool:
    """Whether only words of a type stand between the beginning of a statement or parameter and a token."""
    begin = index
    while begin >= 0 and (tokens.kinds[begin] == IDENTIFIER or tokens.texts[begin] in ("::", "*")):
        if tokens.texts[begin] == "return":
            return False
        begin -= 1
    return begin < index and (begin < 0 or tokens.texts[begin] in _BEFORE_TYPE or tokens.texts[begin] == ">")


def _split(tokens: Tokens, first: int, last: int) -> list[tuple[int, int]]:
    """The parts between the colons."""
    return list(_parts(tokens, first, last))


def _parts(tokens: Tokens, first: int, last: int) -> Iterator[tuple[int, int]]:
    """One after the other: the operands of a matrix product are hundreds; `::` is two colons."""
    begin = index = first
    while index < last:
        text = tokens.texts[index]
        if text in ("(", "[", "{"):
            index = tokens.partner.get(index, index)
        elif text in (":", "::"):
            yield begin, index
            if text == "::":
                yield index, index
            begin = index + 1
        index += 1
    yield begin, last


def _template(tokens: Tokens, first: int, last: int, chosen: Mapping[str, StringMacro]) -> str | None:
    pieces: list[str] = []
    index = first
    while index < last:
        piece = _string(tokens, index, chosen)
        if piece is None:
            macro, closed = chosen.get(tokens.texts[index]), tokens.partner.get(index + 1)
            if macro is None or macro.parameters is None or closed is None or tokens.texts[index + 1] != "(":
                return None
            arguments = tokens.text[tokens.end(index + 1) : tokens.starts[closed]].split(",")
            if len(arguments) != len(macro.parameters):
                return None
            piece, index = macro.text(tuple(argument.strip() for argument in arguments)), closed
        pieces.append(piece)
        index += 1
    return "".join(pieces) if pieces else None


def _written_opcode(tokens: Tokens, first: int, last: int, chosen: Mapping[str, StringMacro]) -> Written | None:
    """The word of the template that `#parameters` are in; None where they are in more than one, or in no string."""
    marks = [place for place in range(first, last) if tokens.texts[place] == "#"]
    if not marks:
        return Written("", "")
    begin, end = marks[0], marks[-1] + 2
    inner = [_string(tokens, place, chosen) for place in range(begin, end)]
    if any(text is None or _BLANK.search(text) for text in inner):
        return None
    before = _END_OF_WORD.search(_content(tokens.texts[begin - 1])) if _is_string(tokens, begin - 1) else None
    after = _WORD.match(_content(tokens.texts[end])) if end < last and _is_string(tokens, end) else None
    if begin == first or before is None:
        return None
    rest = after[0] if after is not None else ""
    middle = tokens.text[tokens.starts[begin] : tokens.end(end - 1)]
    word = before[0] + "".join(text or "" for text in inner) + rest
    return Written(f'"{before[0]}"{middle}' + (f'"{rest}"' if rest else ""), word)


def _is_string(tokens: Tokens, place: int) -> bool:
    return tokens.kinds[place] == STRING


def _string(tokens: Tokens, index: int, chosen: Mapping[str, StringMacro]) -> str | None:
    """What a token says if it is a string literal or stands for one."""
    if tokens.kinds[index] == STRING:
        return _content(tokens.texts[index])
    if tokens.texts[index] == "#":
        macro = chosen.get(f"#{tokens.texts[index + 1]}")
        return macro.text(()) if macro is not None else None
    if tokens.texts[index - 1] == "#":
        return ""
    macro = chosen.get(tokens.texts[index])
    return macro.text(()) if macro is not None and macro.parameters is None else None


def _content(literal: str) -> str:
    match = _LITERAL.fullmatch(literal)
    if match is None:
        return ""
    body = match["body"]
    if match[1]:
        return body.partition("(")[2].rpartition(")")[0]
    return _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], "" if m[1].strip() == "" else m[1]), body)


def _operands(tokens: Tokens, first: int, last: int, chosen: Mapping[str, StringMacro]) -> tuple[Operand, ...] | None:
    """`[name] "constraint"(expression), ...`; None when something else stands there: the numbers would be wrong."""
    found: list[Operand] = []
    index = first
    while index < last:
        name = ""
        if tokens.texts[index] == "[" and index + 2 < last:
            name = tokens.texts[index + 1]
            index += 3
        opened = index + 1
        while opened < last and _string(tokens, opened, chosen) is not None:
            opened += 1
        parts = [_string(tokens, place, chosen) for place in range(index, opened)]
        if None in parts or opened >= last or tokens.texts[opened] != "(":
            return None
        closed = tokens.partner.get(opened, last)
        between = closed + 1 < last and tokens.texts[closed + 1] == ","
        expression = tokens.text[tokens.end(opened) : tokens.starts[closed]] if closed < last else ""
        constraint = "".join(part or "" for part in parts)
        found.append(Operand(constraint, name, " ".join(expression.replace("\\\n", " ").split())))
        index = closed + 1 + between  # nvcc does not miss a comma
    return tuple(found)
