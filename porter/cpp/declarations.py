"""What differs between two texts of a header, as names: whoever mentions none of them sees no difference."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator

from porter.cpp.conditionals import CONTINUES, OPENS
from porter.cpp.lex import IDENTIFIER, Directive, Tokens

_PLAIN_DIRECTIVES = frozenset({"define", "undef", "include", "pragma", "error", "warning", "line"})
_CLASSES = frozenset({"struct", "class", "union", "enum"})
_AFTER_NAME = frozenset(["(", "=", ";", "[", "{", ","])
_ANGLES = {"<": 1, "<<<": 3, ">": -1, ">>": -2, ">>>": -3}
_AFTER_CLASS = frozenset(["#", "<", "{", ":", ";", "(", ")", ",", ">", "=", "*"])
_WORDS = """
alignas decltype noexcept requires sizeof if while for switch return throw operator static_assert __attribute__
__declspec __launch_bounds__ asm __asm__ explicit int unsigned signed long short char float double void bool auto const
constexpr static inline extern volatile typename struct class union enum public private protected friend virtual
override final default delete template
"""
_NO_NAMES = frozenset(_WORDS.split())

Chunk = tuple[tuple[str, ...], ...]
"""A declaration with the namespaces and the conditions that it stands in."""


def differing_names(before: Tokens, after: Tokens) -> frozenset[str] | None:
    """Names of what only one of two texts declares, or declares otherwise; None where names do not tell it all."""
    if not (is_readable(before) and is_readable(after)):
        return None
    if [one.name for one in before.includes] != [one.name for one in after.includes]:
        return None
    one, other = Counter(chunks(before)), Counter(chunks(after))
    found: set[str] = set()
    for chunk in (one - other) + (other - one):
        names = names_declared(chunk)
        if names is None:
            return None
        found |= names
    return frozenset(found)


def is_readable(tokens: Tokens) -> bool:
    """Whether every bracket outside of macros has its partner: one that opens a namespace for others may have none."""
    if tokens.is_balanced:
        return True
    return all(
        index in tokens.partner or tokens.directive_of(index) is not None
        for index, first in enumerate(tokens.first_characters)
        if first in "(){}[]"
    )


def chunks(tokens: Tokens) -> Iterator[Chunk]:
    """The declarations and macros of a file, one after the other, each whole: a class is one, with all in it."""
    walk = _Walk(tokens)
    while walk.index < len(tokens) or walk.directive is not None:
        if walk.is_at_directive():
            yield from walk.turn()
            continue
        if walk.is_bare() and tokens.texts[walk.index] in ("namespace", "inline", "extern", "}"):
            if walk.inside and (tokens.texts[walk.index] == "}" or _opened(tokens, walk.index) is not None):
                yield walk.done()
            if not walk.inside and walk.is_at_border():
                continue
        text = tokens.texts[walk.index]
        yield from walk.take(_end(tokens, walk.index))
        if text == ";" or (text == "{" and _ends_at_brace(tokens, walk.inside, walk.index)):
            yield walk.done()
    if walk.inside:
        yield walk.done()


class _Walk:
    """A place in a file, with what is open around it."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._directives = iter(tokens.directives)
        self._around: list[tuple[str, ...]] = []
        self._conditions: list[tuple[str, ...]] = []
        self.directive = next(self._directives, None)
        self.index = 0
        self.inside: list[str] = []
        """The words of the declaration so far."""

    def is_bare(self) -> bool:
        """Whether no declaration has begun: there is nothing, or macros without arguments that may open a namespace."""
        return all(word.isidentifier() and word.isupper() for word in self.inside)

    def is_at_directive(self) -> bool:
        """Whether the next thing is a line for the preprocessor."""
        if self.directive is None:
            return False
        return self.index >= len(self._tokens) or self.directive.start < self._tokens.starts[self.index]

    def turn(self) -> Iterator[Chunk]:
        """Goes past a directive; within a declaration a condition is part of it."""
        assert self.directive is not None
        directive, words = self.directive, _words(self._tokens, self.directive)
        self.directive = next(self._directives, None)
        self.index = max(self.index, directive.last)
        if directive.name in _PLAIN_DIRECTIVES and not (self.inside and directive.name == "pragma"):
            if directive.name != "include":
                yield (*self._around, *self._conditions, words)
        elif not self.is_bare():
            self.inside += words
        else:
            if self.inside:
                yield self.done()
            _turn(self._conditions, directive, words)

    def is_at_border(self) -> bool:
        """Goes past the beginning or the end of a namespace."""
        tokens = self._tokens
        if tokens.texts[self.index] == "}" and self._around:
            self._around.pop()
            self.index += 1
            return True
        opening = _opened(tokens, self.index)
        if opening is None:
            return False
        self._around.append(tuple(tokens.texts[self.index : opening]))
        self.index = opening + 1
        return True

    def take(self, end: int) -> Iterator[Chunk]:
        """Goes on to a token, past all directives before it."""
        tokens = self._tokens
        while self.index < end:
            stop = end
            if self.directive is not None:
                stop = min(end, bisect.bisect_left(tokens.starts, self.directive.start, self.index))
            self.inside += tokens.texts[self.index : stop]
            self.index = stop
            if stop < end:
                yield from self.turn()

    def done(self) -> Chunk:
        """The declaration that ends here."""
        words, self.inside = tuple(self.inside), []
        return (*self._around, *self._conditions, words)


def _words(tokens: Tokens, directive: Directive) -> tuple[str, ...]:
    return ("#", directive.name, *tokens.texts[directive.first : directive.last])


def _turn(conditions: list[tuple[str, ...]], directive: Directive, words: tuple[str, ...]) -> None:
    if directive.name in OPENS:
        conditions.append(words)
    elif directive.name in CONTINUES and conditions:
        conditions[-1] = (*conditions[-1], *words)
    elif directive.name == "endif" and conditions:
        conditions.pop()


def _opened(tokens: Tokens, index: int) -> int | None:
    """The brace of a namespace or of `extern "C"` that begins at a token."""
    texts = tokens.texts
    if texts[index] == "extern" and texts[index + 2] == "{" and texts[index + 1].startswith('"'):
        return index + 2
    if texts[index] == "inline" and texts[index + 1] == "namespace":
        index += 1
    if texts[index] != "namespace":
        return None
    place = index + 1
    while tokens.kinds[place] == IDENTIFIER or texts[place] == "::":
        place += 1
    return place if texts[place] == "{" else None


def _end(tokens: Tokens, index: int) -> int:
    """The token after one, or after what is in brackets, which may hold directives."""
    closing = tokens.partner.get(index) if tokens.texts[index] in ("(", "[", "{") else None
    return index + 1 if closing is None else closing + 1


def _ends_at_brace(tokens: Tokens, words: list[str], end: int) -> bool:
    """Whether a declaration is over with its body: a function's is, a class's and an initialiser's goes on to `;`."""
    if tokens.texts[end] in (";", ",", "="):
        return False
    return "(" in words or not _CLASSES.isdisjoint(words)


def names_declared(chunk: Chunk) -> frozenset[str] | None:
    """The names by which others come to a declaration; None where they can without one."""
    words = chunk[-1]
    if words[:1] == ("#",):
        return frozenset(words[2:3]) if words[1] in ("define", "undef") and len(words) > 2 else None
    words = _without_template(_without_macros(words))
    if not words or words in ((";",), ("{",)):
        return frozenset()
    if all(word.isidentifier() for word in words):
        return frozenset(words)  # macros
    if words[0] == "static_assert":
        return frozenset()
    if "namespace" in _head(words) or words[:2] == ("using", "namespace"):
        return None
    if words[0] == "using":
        return _identifiers(words[1:2] if words[2:3] == ("=",) else words[-2:-1])
    if "operator" in _head(words) or words[1:2] == ("(",) or (words[0] == "typedef" and "(" in words):
        return None  # found by its arguments' types; a macro that may declare anything
    return _names_of_head(words) or None


def _without_macros(words: tuple[str, ...]) -> tuple[str, ...]:
    """A declaration without the macros in front of its `template`, such as one that opens a namespace."""
    place = next((n for n, word in enumerate(words) if not (word.isidentifier() and word.isupper())), 0)
    return words[place:] if words[place : place + 1] == ("template",) else words


def _without_template(words: tuple[str, ...]) -> tuple[str, ...]:
    while words[:1] == ("template",):
        depth, place = 0, 1
        while place < len(words):
            depth += _ANGLES.get(words[place], 0)
            place += 1
            if depth <= 0:
                break
        words = words[place:]
    return words


def _head(words: tuple[str, ...]) -> tuple[str, ...]:
    """A declaration up to its body, with what stands in round brackets."""
    depth = 0
    for place, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word == "{" and not depth:
            return words[:place]
    return words


def _names_of_head(words: tuple[str, ...]) -> frozenset[str]:
    """Names before a `(`, `=`, `;`, `[`, `{` or `,` outside of brackets, and those of classes and enumerators."""
    found: set[str] = set()
    depth = angles = 0
    is_function = has_value = has_class = False
    for place, word in enumerate(words):
        if depth == 0:
            named = word in _AFTER_NAME or (word == "<" and _closes_before_value(words, place))
            named = named and words[max(0, place - 2) : place - 1] != ("#",)
            is_over = is_function or (has_class and word == "{") or (angles and word == ",")
            if named and not (is_over and word in ("{", ",")):
                found.update(words[max(0, place - 1) : place])
            is_function |= word == "("
            has_value |= word in ("(", "=", "{")
            angles += 0 if has_value else _ANGLES.get(word, 0)
            if word in _CLASSES:
                has_class = True
                found.update(_up_to(words, place + 1))
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
    if is_function and any(not name.isupper() for name in found - _NO_NAMES):
        found = {name for name in found if not name.isupper()}  # macros for attributes
    if "enum" in _head(words):
        found.update(words)
    return frozenset(one for one in found - _NO_NAMES if one.isidentifier())


def _up_to(words: tuple[str, ...], place: int) -> Iterator[str]:
    """The words after `struct` and the like up to the arguments, the bases or the body."""
    while place < len(words) and words[place] not in _AFTER_CLASS:
        yield words[place]
        place += 1


def _closes_before_value(words: tuple[str, ...], place: int) -> bool:
    """Whether the arguments of a template are followed by what makes its name the declared one."""
    depth = 0
    for after in range(place, len(words)):
        depth += _ANGLES.get(words[after], 0)
        if depth <= 0:
            return words[after + 1 : after + 2] in (("(",), ("{",), ("=",), (";",))
    return False


def _identifiers(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if word.isidentifier())
