"""CMake files as commands with byte offsets, read by tree-sitter's CMake grammar."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import tree_sitter
import tree_sitter_cmake


class Argument(NamedTuple):
    """One argument: [start, end) with its quotes, and the text between them with its place."""

    start: int
    end: int
    text: str
    inner: int
    quoted: bool = False
    raw: bool = False
    """A bracket argument, in which nothing is expanded."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command invocation."""

    name: str
    """In lower case: CMake ignores the case of commands."""
    start: int
    end: int
    name_end: int
    arguments: tuple[Argument, ...]
    depth: int = 0
    """How many if, foreach, function ... it is in."""

    def word(self, index: int) -> str:
        """The text of an argument; empty when there is none."""
        return self.arguments[index].text if index < len(self.arguments) else ""


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cmake.language()))


def parse_cmake(data: bytes) -> tuple[tuple[Command, ...], int | None]:
    """The commands of a file, and the offset of the first place that is no CMake."""
    root = _parser().parse(data).root_node
    commands = tuple(_commands(root, data, 0))
    return commands, _first_error(root) if root.has_error else None


def _first_error(node: tree_sitter.Node) -> int:
    for child in node.children:
        if child.is_error or child.is_missing:
            return child.start_byte
        if child.has_error:
            return _first_error(child)
    return node.start_byte


def _commands(node: tree_sitter.Node, data: bytes, depth: int) -> Iterator[Command]:
    for child in node.children:
        kind = child.type
        if kind == "normal_command" or kind.endswith("_command"):
            yield _command(child, data, depth)
        elif kind != "line_comment":
            inside = depth + (kind not in ("body", "ERROR", "elseif_command", "else_command"))
            yield from _commands(child, data, inside)


def _command(node: tree_sitter.Node, data: bytes, depth: int) -> Command:
    head = node.children[0]
    arguments = tuple(
        _argument(argument.children[0], data)
        for part in node.children
        if part.type == "argument_list"
        for argument in part.children
        if argument.type == "argument" and argument.children
    )
    name = data[head.start_byte : head.end_byte].decode("latin-1").lower()
    return Command(name, node.start_byte, node.end_byte, head.end_byte, _whole(arguments, data), depth)


def _argument(node: tree_sitter.Node, data: bytes) -> Argument:
    start, end = node.start_byte, node.end_byte
    text = data[start:end].decode("latin-1")
    if node.type == "quoted_argument":
        return Argument(start, end, text[1:-1], start + 1, quoted=True)
    if node.type == "bracket_argument":
        opening = text.index("[", 1) + 1
        return Argument(start, end, text[opening:-opening], start + opening, raw=True)
    return Argument(start, end, text, start)


def _whole(arguments: tuple[Argument, ...], data: bytes) -> tuple[Argument, ...]:
    """Arguments as CMake counts them: the grammar splits `-DX="a b"` where a quote stands inside."""
    joined: list[Argument] = []
    for argument in arguments:
        if joined and joined[-1].end == argument.start and not joined[-1].quoted:
            first = joined.pop()
            text = data[first.start : argument.end].decode("latin-1")
            joined.append(Argument(first.start, argument.end, text, first.start))
        else:
            joined.append(argument)
    return tuple(joined)


class Expression(NamedTuple):
    """A generator expression `$<head:content>`; no content: `[colon, end)` is empty."""

    start: int
    end: int
    head: str
    content: int
    """Offset of the content, after the colon; the end when there is none."""


def expressions(text: str, offset: int = 0) -> list[Expression]:
    """All generator expressions in a text, the outer before the inner ones; an unclosed one is left out."""
    found: list[Expression] = []
    stack: list[tuple[int, int | None]] = []
    index = 0
    while index < len(text):
        if text.startswith("$<", index):
            stack.append((index, None))
            index += 2
            continue
        char = text[index]
        if stack and char == ":" and stack[-1][1] is None:
            stack[-1] = (stack[-1][0], index)
        elif stack and char == ">":
            start, colon = stack.pop()
            head = text[start + 2 : colon if colon is not None else index]
            content = index if colon is None else colon + 1
            found.append(Expression(offset + start, offset + index + 1, head, offset + content))
        index += 1
    return sorted(found)
