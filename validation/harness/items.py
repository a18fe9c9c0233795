"""The declarations of a file at namespace level: where each begins and ends, what it declares, what it mentions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from porter.cpp.brackets import template_end, words
from porter.cpp.lex import IDENTIFIER, STRING, Tokens

_ATTRIBUTES = words(
    "__launch_bounds__ __attribute__ __declspec alignas __align__ decltype noexcept __cluster_dims__ explicit"
)
_DEVICE = words("__device__ __global__ struct class")
_TYPES = words("struct class union enum")
_AFTER_NAME = frozenset(["=", "[", ";", ",", "{"])
_NOT_NAMES = words(
    "const constexpr static inline extern volatile unsigned signed int long short char float double bool void auto "
    "template typename class struct union enum operator __device__ __host__ __global__ __shared__ __constant__ "
    "__forceinline__ __noinline__ __restrict__ final override public private protected noexcept"
)


@dataclass(frozen=True)
class Item:
    """One declaration: bytes [start, end)."""

    start: int
    end: int
    declares: frozenset[str]
    mentions: frozenset[str]
    always: bool = False
    """Kept whether it is mentioned or not: `using namespace`, operators of device code."""
    never: bool = False
    """Explicit instantiations and static assertions: they say nothing that others need."""
    is_kernel: bool = False
    is_function: bool = False


def items(tokens: Tokens) -> tuple[Item, ...]:
    """Every declaration at namespace level, whatever namespaces are around it."""
    return tuple(_items(tokens, 0, len(tokens), _generators(tokens)))


def _generators(tokens: Tokens) -> dict[str, bool]:
    """Macros of the file that stand for whole declarations, and whether these are device code or types."""
    bodies: dict[str, frozenset[str]] = {}
    called: set[str] = set()
    for directive in tokens.directives:
        words = tokens.texts[directive.first : directive.last]
        if directive.name == "define" and words:
            bodies[words[0]] = bodies.get(words[0], frozenset()) | frozenset(words[1:])
            called |= {words[0]} if words[1:2] == ["("] else set()
    device, braced = _reaching(bodies, _DEVICE), _reaching(bodies, frozenset("{"))
    return {name: name in device for name in called & braced}


def _reaching(bodies: Mapping[str, frozenset[str]], wanted: frozenset[str]) -> set[str]:
    """Macros whose body has one of the words, or a macro that does."""
    found: set[str] = set()
    while more := {name for name, body in bodies.items() if not body.isdisjoint(wanted | found)} - found:
        found |= more
    return found


def _items(tokens: Tokens, index: int, last: int, generators: Mapping[str, bool]) -> Iterator[Item]:
    texts = tokens.texts
    while index < last:
        directive = tokens.directive_of(index)
        if directive is not None:
            index = max(directive.last, index + 1)
            continue
        if texts[index] in (";", "}"):
            index += 1
            continue
        opened = _scope(tokens, index, last)
        if opened is not None:
            closed = tokens.partner.get(opened, last)
            yield from _items(tokens, opened + 1, min(closed, last), generators)
            index = closed + 1
            continue
        if texts[index] in generators and texts[index + 1] == "(":
            end = tokens.partner.get(index + 1, index + 1) + 1
            yield replace(_item(tokens, index, end, False), always=generators[texts[index]])
            index = end
            continue
        end, body = _end(tokens, index, last)
        yield _item(tokens, index, end, body)
        index = end


def _scope(tokens: Tokens, index: int, last: int) -> int | None:
    """The `{` of `namespace a::b {`, `inline namespace {` or `extern "C" {` at an index."""
    texts, kinds = tokens.texts, tokens.kinds
    if texts[index] == "inline" and texts[index + 1] == "namespace":
        index += 1
    if texts[index] == "extern" and index + 2 < last and kinds[index + 1] == STRING and texts[index + 2] == "{":
        return index + 2
    if texts[index] != "namespace":
        return None
    for position in range(index + 1, min(index + 12, last)):
        if texts[position] == "{":
            return position
        if texts[position] in (";", "="):
            return None
    return None


def _after_template(tokens: Tokens, index: int, last: int) -> int:
    """The token after `template <...>`, as often as it stands there."""
    while tokens.texts[index] == "template" and tokens.texts[index + 1] == "<":
        after = template_end(tokens, index + 1, last, parameters=True)
        if after is None:
            return index
        index = after
    return index


def _end(tokens: Tokens, index: int, last: int) -> tuple[int, bool]:
    """After the last token of the declaration, and whether it ends with a function's body."""
    texts = tokens.texts
    head = _after_template(tokens, index, last)
    is_type = texts[head] in _TYPES
    assigned = called = False
    position = head
    while position < last:
        directive = tokens.directive_of(position)
        if directive is not None:
            position = max(directive.last, position + 1)
            continue
        text = texts[position]
        if text == ";":
            return position + 1, False
        if text == "}":
            return position, False
        if text in "([{":
            closed = tokens.partner.get(position)
            if closed is None or closed >= last:
                return last, False
            if text == "{" and called and not assigned and not is_type:
                return closed + 1, True
            called = called or (text == "(" and texts[position - 1] not in _ATTRIBUTES)
            is_type = is_type and not (text == "(" and texts[position - 1] not in _ATTRIBUTES)
            position = closed
        assigned = assigned or text == "="
        position += 1
    return last, False


def _item(tokens: Tokens, first: int, end: int, is_function: bool) -> Item:
    texts, kinds = tokens.texts, tokens.kinds
    head = _after_template(tokens, first, end)
    inside = range(first, end)
    mentions = frozenset(texts[i] for i in inside if kinds[i] == IDENTIFIER)
    is_device = not mentions.isdisjoint(("__device__", "__global__"))
    return Item(
        tokens.starts[first],
        tokens.end(end - 1),
        _declared(tokens, head, end),
        mentions,
        always=texts[head : head + 2] == ["using", "namespace"]
        or ("operator" in mentions and is_device and is_function),
        never=texts[first] == "static_assert" or (texts[first] == "template" and head == first),
        is_kernel="__global__" in mentions and is_function,
        is_function=is_function,
    )


def _declared(tokens: Tokens, head: int, end: int) -> frozenset[str]:
    texts = tokens.texts
    if texts[head] in ("using", "typedef"):
        return _aliases(tokens, head, end)
    found: set[str] = set()
    position = head
    is_type = texts[head] in _TYPES
    while position < end:
        text = texts[position]
        if text == "(" and tokens.kinds[position - 1] == IDENTIFIER and texts[position - 1] not in _ATTRIBUTES:
            return frozenset(found | _qualified(tokens, position - 1, head))
        if text == "{" and texts[head] == "enum":
            found |= _enumerators(tokens, position)
        after = template_end(tokens, position, end) if _opens_arguments(tokens, position, head) else None
        if after is not None:
            position = after
            continue
        if text in "([{" and position in tokens.partner:
            position = tokens.partner[position]
        elif tokens.kinds[position] == IDENTIFIER and text not in _NOT_NAMES:
            follows = texts[position + 1] if position + 1 < end else ";"
            if follows in _AFTER_NAME or (is_type and follows in (":", "<", "final")):
                found |= _qualified(tokens, position, head)
        position += 1
    return frozenset(found)


def _opens_arguments(tokens: Tokens, position: int, head: int) -> bool:
    """Whether a `<` follows the name of a template."""
    if tokens.texts[position] != "<" or position <= head:
        return False
    return tokens.kinds[position - 1] == IDENTIFIER and tokens.texts[position - 1] != "operator"


def _qualified(tokens: Tokens, index: int, head: int) -> set[str]:
    """A name and the scopes written in front of it: a member's definition goes with its class."""
    found = {tokens.texts[index]}
    position = index - 1
    while position > head and tokens.texts[position] == "::":
        position -= 1
        while position > head and tokens.texts[position] != "<" and tokens.texts[index - 2] == ">":
            position -= 1
        if tokens.texts[position] == "<":
            position -= 1
        found.add(tokens.texts[position])
        position -= 1
        index = position + 1
    return found


def _aliases(tokens: Tokens, head: int, end: int) -> frozenset[str]:
    texts, kinds = tokens.texts, tokens.kinds
    names = [i for i in range(head + 1, end) if kinds[i] == IDENTIFIER]
    if texts[head] == "using" and texts[head + 2] == "=":
        return frozenset([texts[head + 1]])
    pointers = {texts[i] for i in names if texts[i - 1] == "*" and texts[i + 1] == ")"}
    return frozenset(pointers | {texts[names[-1]]} if names else pointers)


def _enumerators(tokens: Tokens, opened: int) -> set[str]:
    closed = tokens.partner.get(opened, opened)
    texts = tokens.texts
    return {texts[i] for i in range(opened + 1, closed) if tokens.kinds[i] == IDENTIFIER and texts[i - 1] in ("{", ",")}
