"""Parameters, template parameters and attributes of a function head, as written."""

from __future__ import annotations

from typing import cast

from porter.cpp.brackets import argument_texts, closing, split_commas, template_end, written
from porter.cpp.heads import ATTRIBUTES_WITH_ARGUMENTS, PLAIN_ATTRIBUTES, TYPE_WORDS, Head
from porter.cpp.lex import IDENTIFIER, STRING, Tokens
from porter.model import Parameter


def parameters_of(tokens: Tokens, head: Head) -> tuple[Parameter, ...]:
    """The parameters as written, default values left out."""
    key = "parameters", head.opening
    known = tokens.memo.get(key)
    if known is None:
        stretches = split_commas(tokens, head.opening + 1, head.closing)
        found = [_parameter(tokens, first, last) for first, last in stretches]
        known = tokens.memo[key] = tuple(p for p in found if p.type not in ("", "void") or p.name)
    return cast("tuple[Parameter, ...]", known)


def _parameter(tokens: Tokens, first: int, last: int) -> Parameter:
    texts = tokens.texts
    last = _before_default(tokens, first, last)
    kept = range(first, last) if not tokens.has_directive(first, last) else _without_directives(tokens, first, last)
    name = next((i for i in reversed(kept) if _can_be_name(tokens, i, first, last)), None)
    if name is None:
        return Parameter("", written(tokens, first, last))
    words = [i for i in kept if tokens.kinds[i] == IDENTIFIER and texts[i] not in _QUALIFIERS]
    alone = words == [name] and (name + 1 >= last or texts[name + 1] not in ("[", ")"))
    if alone or (name > first and texts[name - 1] in ("::", "struct", "class", "enum", "typename")):
        return Parameter("", written(tokens, first, last))
    pointer = name > first and texts[name - 1] in ("*", "&", "&&")
    left, right = written(tokens, first, name), written(tokens, name + 1, last)
    if not pointer and not left:
        return Parameter("", written(tokens, first, last))
    return Parameter(texts[name], f"{left} {right}".strip() if right else left)


_QUALIFIERS = frozenset(["const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"])


def _without_directives(tokens: Tokens, first: int, last: int) -> list[int]:
    """The tokens but for those of preprocessor lines; of a macro's parameters all."""
    own = tokens.directive_of(first)
    return [index for index in range(first, last) if (line := tokens.directive_of(index)) is None or line == own]


def _before_default(tokens: Tokens, first: int, last: int) -> int:
    if "=" not in tokens.texts[first:last]:
        return last
    index = first
    while index < last:
        text = tokens.texts[index]
        if text == "=":
            return index
        if text in ("(", "["):
            index = closing(tokens, index, last) or index
        elif text == "<":
            index = (template_end(tokens, index, last) or index + 1) - 1
        index += 1
    return last


def _can_be_name(tokens: Tokens, index: int, first: int, last: int) -> bool:
    """Whether an identifier of a parameter may be its name: outside template arguments and brackets."""
    text = tokens.texts[index]
    if tokens.kinds[index] != IDENTIFIER or text in TYPE_WORDS or text in _QUALIFIERS:
        return False
    after_name = tokens.texts[index + 1] if index + 1 < last else ""
    if after_name in _AFTER_NO_NAME:
        return False
    depth = 0
    position = first if not _NESTS.isdisjoint(tokens.texts[first:index]) else index
    while position < index:
        here = tokens.texts[position]
        if here == "<":
            after = template_end(tokens, position, last)
            if after is not None:
                if index < after:
                    return False
                position = after
                continue
        elif here == "[":
            depth += 1
        elif here == "]":
            depth -= 1
        elif here == "(" and position > first and position + 1 < last and tokens.texts[position + 1] not in "*&":
            partner = closing(tokens, position, last)
            if partner is not None and index < partner:
                return False
        position += 1
    return depth == 0


_AFTER_NO_NAME = frozenset({"::", "<", "("})
_NESTS = frozenset({"<", "[", "]", "("})


def template_parameters_of(tokens: Tokens, head: Head) -> tuple[str, ...]:
    """The template parameters as written: `typename T`, `int BLOCK = 256`."""
    if head.template is None:
        return ()
    after = _template_list_end(tokens, head.template, head.marker)
    stretches = split_commas(tokens, head.template + 1, after - 1)
    texts = [written(tokens, first, last) for first, last in stretches if first < last]
    if texts and tokens.texts[after - 1] == ">>":
        texts[-1] += ">"
    return tuple(texts)


def _template_list_end(tokens: Tokens, index: int, high: int) -> int:
    """Index after the `>` of a template parameter list, where `=` is allowed."""
    depth = 0
    while index < high:
        text = tokens.texts[index]
        if text in ("(", "[", "{"):
            index = closing(tokens, index, high) or index
        elif text == "<":
            depth += 1
        elif text in (">", ">>"):
            depth -= len(text)
            if depth <= 0:
                return index + 1
        index += 1
    return high


def attributes_of(tokens: Tokens, head: Head) -> tuple[str, ...]:
    """Specifiers and attributes as written, without `__global__`, the return type and the template list."""
    texts = tokens.texts
    found: list[str] = []
    index = head.begin
    while index < head.name_first:
        text = texts[index]
        if text == "template":
            index = _template_list_end(tokens, index + 1, head.name_first)
            continue
        if text in ATTRIBUTES_WITH_ARGUMENTS or (text == "[" and texts[index + 1] == "["):
            opening = index if text == "[" else index + 1
            closed = closing(tokens, opening, head.name_first)
            if closed is not None:
                found.append(written(tokens, index, closed + 1))
                index = closed
        elif text == "extern" and tokens.kinds[index + 1] == STRING:
            found.append(written(tokens, index, index + 2))
            index += 1
        elif text in PLAIN_ATTRIBUTES:
            found.append(text)
        index += 1
    return tuple(found)


def launch_bounds_of(tokens: Tokens, head: Head) -> tuple[str, ...]:
    """Arguments of `__launch_bounds__`, as written."""
    for index in range(head.begin, head.name_first):
        if tokens.texts[index] == "__launch_bounds__":
            return tuple(argument_texts(tokens, index + 1, head.name_first))
    return ()
