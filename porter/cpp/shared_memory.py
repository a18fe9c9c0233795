"""`__shared__` variables of functions, from the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.cpp.brackets import closing, template_end, written
from porter.cpp.heads import Head
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.model import SharedArray
from porter.source import SourceFile


def shared_in(tokens: Tokens, head: Head, source: SourceFile) -> tuple[SharedArray, ...]:
    """The `__shared__` variables declared in a function's body."""
    if head.body is None:
        return ()
    places = _within(tokens.names.get("__shared__", ()), head.body, head.end)
    return tuple(array for index in places for array in _shared_arrays(tokens, index, head.body, head.end, source))


def file_scope_shared(tokens: Tokens, source: SourceFile, heads: Sequence[Head]) -> tuple[SharedArray, ...]:
    """`extern __shared__` arrays declared outside of functions."""
    return tuple(
        array
        for index in tokens.names.get("__shared__", ())
        if tokens.texts[index - 1] == "extern" and not any(h.begin <= index < h.end for h in heads)
        for array in _shared_arrays(tokens, index, 0, len(tokens), source)
    )


def mentioned(tokens: Tokens, head: Head, arrays: tuple[SharedArray, ...]) -> tuple[SharedArray, ...]:
    """Those of the arrays whose name occurs in a function's body."""
    if head.body is None:
        return ()
    return tuple(a for a in arrays if any(_within(tokens.names.get(a.name, ()), head.body, head.end)))


def _within(indices: list[int] | tuple[int, ...], first: int, last: int) -> Iterator[int]:
    return (index for index in indices if first < index < last)


def _shared_arrays(tokens: Tokens, index: int, low: int, high: int, source: SourceFile) -> Iterator[SharedArray]:
    """The variables of one `__shared__` declaration."""
    texts = tokens.texts
    begin = index
    while begin > low and texts[begin - 1] not in (";", "{", "}", ")", ":", "\\") and _same_line_kind(tokens, begin):
        begin -= 1
    dynamic = "extern" in texts[begin : index + 3]
    specifiers: list[int] = []
    position = begin
    while position < high and not _declarator_starts(tokens, position, high):
        specifiers.append(position)
        position = _past_specifier(tokens, position, high)
        specifiers.extend(range(specifiers[-1] + 1, position))
    base = _type_text(tokens, specifiers)
    while position < high and texts[position] != ";":
        stars = ""
        while (position < high and texts[position] in ("*", "&", "(")) or texts[position] in (
            "const",
            "volatile",
        ):
            stars += texts[position] if texts[position] in "*&" else ""
            position += 1
        if position >= high or tokens.kinds[position] != IDENTIFIER:
            return
        name = position
        position += 1
        dimensions = ""
        while position < high and texts[position] in ("[", ")"):
            closed = closing(tokens, position, high) if texts[position] == "[" else position
            if closed is None:
                return
            dimensions += written(tokens, position, closed + 1) if texts[position] == "[" else ""
            position = closed + 1
        line = source.position(tokens.starts[name])[0]
        yield SharedArray(texts[name], f"{base}{stars}{dimensions}", dynamic, line)
        while position < high and texts[position] not in (",", ";"):
            if texts[position] in ("}", "{"):
                return
            position += 1
        if texts[position] == ",":
            position += 1
            continue
        return


def _same_line_kind(tokens: Tokens, begin: int) -> bool:
    """Whether the token before `begin` is in the same directive (or in none, like it)."""
    return tokens.directive_of(begin - 1) == tokens.directive_of(begin)


def _declarator_starts(tokens: Tokens, index: int, high: int) -> bool:
    """Whether the token is the name of a variable or the `*`, `(` in front of it."""
    text = tokens.texts[index]
    if text in ("*", "&"):
        return True
    if tokens.kinds[index] != IDENTIFIER or index + 1 >= high:
        return text in (";", "}", "[")
    follow = tokens.texts[index + 1]
    return follow in ("[", ";", ",", "=") or (follow == "(" and text not in _WITH_ARGUMENTS)


_WITH_ARGUMENTS = frozenset({"__align__", "alignas", "__attribute__", "decltype", "__builtin_align__"})


def _past_specifier(tokens: Tokens, index: int, high: int) -> int:
    """Index after one specifier with its arguments, template arguments or class body."""
    follow = index + 1
    if follow >= high:
        return high
    text = tokens.texts[follow]
    if text == "(" and tokens.texts[index] in _WITH_ARGUMENTS:
        closed = closing(tokens, follow, high)
        return follow if closed is None else closed + 1
    if text == "<":
        return template_end(tokens, follow, high) or follow
    if tokens.texts[index] == "{":
        closed = closing(tokens, index, high)
        return follow if closed is None else closed + 1
    return follow


def _type_text(tokens: Tokens, specifiers: list[int]) -> str:
    """The type among the specifiers: no storage class, no alignment."""
    kept: list[str] = []
    skip_to = -1
    for index in specifiers:
        if index < skip_to or tokens.texts[index] in _STORAGE:
            continue
        if tokens.texts[index] in _WITH_ARGUMENTS and tokens.texts[index] != "decltype":
            closed = tokens.partner.get(index + 1)
            skip_to = index + 1 if closed is None else closed + 1
            continue
        kept.append(tokens.texts[index])
    text = " ".join(kept)
    for joined in ("::", "<", ">", ",", "(", ")"):
        text = text.replace(f" {joined}", joined)
    return text.replace(":: ", "::").replace("< ", "<").replace("( ", "(").replace(",", ", ").replace(",  ", ", ")


_STORAGE = frozenset({"extern", "static", "__shared__", "typename"})


_BEFORE_STATEMENT = frozenset(";{}):")
