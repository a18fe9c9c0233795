"""Makefiles and shell scripts as assignments and command lines with byte offsets, read by tree-sitter."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import tree_sitter
import tree_sitter_bash
import tree_sitter_make

from porter.buildfiles.flags import Word
from porter.buildfiles.make_lines import unread_lines
from porter.buildfiles.tables import is_compiler

_REFERENCE = re.compile(r"\$[({]?(\w+)")
_WORD = re.compile(
    r"""(?:\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\$.|\\(?!\r?\n).|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s\\;|&"'$]+|\$)+""",
    re.DOTALL,
)
_COMMENT = re.compile(rb"(?<!\\)#")
_FUNCTION = re.compile(r"\$[({](foreach|eval|if|shell|call|or|and|filter|addprefix)\b")
_COMMAS = {"foreach": 2, "eval": 0, "shell": 0, "if": 2, "filter": 1, "addprefix": 1}
"""Commas that part the arguments of make's functions; those after belong to the last one."""
_INDENTED = re.compile(rb"[ \t]*([\w.-]+)[ \t]*(?:[:+?!]|::)?=[ \t]*")
_WHICH = re.compile(r"\$\(shell\s+which\s+nvcc\b.*\)")
_SUFFIXES = re.compile(r"(\.[a-z+]+)\.\w+")
_FLAG_VARIABLE = re.compile(
    r"(?:.*(?:NVCC|CUDA|NV|CU)_?(?:C?XX?|CC?|LD|LINK|COMPILE)?_?(?:FLAGS|OPTS?|OPTIONS|ARGS)|.*GENCODE.*|.*(?:NVCC|CUDA)_?ARCH.*)",
    re.I,
)


class Assignment(NamedTuple):
    """`NAME = value`; the value's place."""

    name: str
    start: int
    end: int


class Line(NamedTuple):
    """One command line of a recipe or script."""

    start: int
    end: int
    first: str = ""
    """What `$<` is: the rule's first prerequisite, `.c` of a rule for suffixes."""


@dataclass(frozen=True)
class Makefile:
    """What a Makefile or script assigns and calls; offsets are those of the file."""

    text: str
    assignments: tuple[Assignment, ...]
    lines: tuple[Line, ...]
    comments: tuple[tuple[int, int], ...]

    @cached_property
    def code(self) -> tuple[tuple[int, str], ...]:
        """The text between comments."""
        pieces: list[tuple[int, str]] = []
        begin = 0
        for start, end in self.comments:
            pieces.append((begin, self.text[begin:start]))
            begin = end
        pieces.append((begin, self.text[begin:]))
        return tuple(piece for piece in pieces if piece[1])

    @cached_property
    def compilers(self) -> frozenset[str]:
        """Variables that hold nvcc, directly or through another."""
        found = {a.name for a in self.assignments if any(map(_calls, _split(self.text[a.start : a.end])))}
        begin_with: dict[str, set[str]] = {}
        for assignment in self.assignments:
            words = _split(self.text[assignment.start : assignment.end])
            if words and (match := _REFERENCE.match(words[0])):
                begin_with.setdefault(match[1], set()).add(assignment.name)
        return _reached(found | {"NVCC"}, begin_with)

    def holding(self, pattern: re.Pattern[str]) -> frozenset[str]:
        """Variables with something like that in their values, or in those of variables that these name."""
        found = {a.name for a in self.assignments if pattern.search(self.text[a.start : a.end])}
        named_by: dict[str, set[str]] = {}
        for name, others in self._refers.items():
            for other in others:
                named_by.setdefault(other, set()).add(name)
        return _reached(found, named_by)

    def calls_nvcc(self, start: int, end: int) -> bool:
        """Whether a stretch calls nvcc, by its name or by a variable."""
        known = self._asked.get((start, end))
        if known is None:
            words = _split(self.text[start:end])
            is_call = any(map(is_compiler, words)) and not _is_cmake(words[0])
            known = self._asked[start, end] = is_call or any(
                match[1] in self.compilers for word in words[:4] if (match := _REFERENCE.match(word.lstrip("@-+\t ")))
            )
        return known

    @cached_property
    def _asked(self) -> dict[tuple[int, int], bool]:
        """What `calls_nvcc` was asked: each rule asks about each line."""
        return {}

    @cached_property
    def flag_variables(self) -> frozenset[str]:
        """Variables whose words nvcc gets."""
        found = {a.name for a in self.assignments if _is_flag_variable(a.name)}
        for line in self.lines:
            if self.calls_nvcc(line.start, line.end):
                found |= set(_REFERENCE.findall(self.text[line.start : line.end]))
        for assignment in self.assignments:
            if assignment.name in self.compilers:
                found |= set(_REFERENCE.findall(self.text[assignment.start : assignment.end])) | {assignment.name}
        return _reached(found, self._refers)

    @cached_property
    def other_variables(self) -> frozenset[str]:
        """Variables in lines that do not call nvcc."""
        others = (self.text[line.start : line.end] for line in self.lines if not self.calls_nvcc(line.start, line.end))
        return _reached({name for text in others for name in _REFERENCE.findall(text)}, self._refers)

    @cached_property
    def _refers(self) -> dict[str, set[str]]:
        """By variable, those that its values name."""
        refers: dict[str, set[str]] = {}
        for one in self.assignments:
            refers.setdefault(one.name, set()).update(_REFERENCE.findall(self.text[one.start : one.end]))
        return refers

    def words(self, start: int, end: int) -> list[list[Word]]:
        """The words of a stretch; those inside of `$(foreach ...)` and its kin are lists of their own."""
        lists = _words(self.text[start:end])
        return [[Word(start + first, start + last, text) for first, last, text in words] for words in lists]


@functools.lru_cache(maxsize=4096)
def _words(text: str) -> tuple[tuple[Word, ...], ...]:
    """As `Makefile.words` has them, and kept: several rules ask about a line, and again after edits."""
    own: list[Word] = []
    inner: list[tuple[Word, ...]] = []
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if word.startswith(("$(", "${")) and (function := _FUNCTION.match(word)):
            for first, last in _arguments(word, function.end(), _COMMAS.get(function[1])):
                place = start + first
                for words in _words(word[first:last]):
                    inner.append(tuple(Word(place + begin, place + end, text) for begin, end, text in words))
        own.append(Word(start, match.end(), word))
    return tuple(own), *inner


def _arguments(word: str, start: int, commas: int | None) -> Iterator[tuple[int, int]]:
    """The places of a function's arguments, after its name."""
    depth, found, closing = 0, 0, "}" if word.startswith("${") else ")"
    for index in range(start, len(word)):
        char = word[index]
        if char == closing and depth == 0:
            yield start, index
            return
        depth += (char in "({") - (char in ")}")
        if char == "," and depth == 0 and (commas is None or found < commas):
            yield start, index
            start, found = index + 1, found + 1
    yield start, len(word)


def _reached(names: set[str], leads_to: Mapping[str, set[str]]) -> frozenset[str]:
    """The names and those that they lead to."""
    found, new = set(names), set(names)
    while new:
        new = {name for one in new for name in leads_to.get(one, ())} - found
        found |= new
    return frozenset(found)


@functools.lru_cache(maxsize=1024)
def _is_flag_variable(name: str) -> bool:
    return _FLAG_VARIABLE.fullmatch(name) is not None


def _split(text: str) -> list[str]:
    words = [word.text for word in _words(text)[0]]
    return [words[0].lstrip("@-+"), *words[1:]] if words else words


def _calls(word: str) -> bool:
    return "nvcc" in word and (is_compiler(word) or _WHICH.fullmatch(word) is not None)


@functools.cache
def _make_parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_make.language()))


@functools.cache
def _bash_parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


_READ = ("variable_assignment", "recipe_line", "shell_assignment", "shell_text", "comment")


@functools.cache
def _read_nodes() -> tree_sitter.Query:
    kinds = " ".join(f"({kind})" for kind in _READ)
    query: tree_sitter.Query = tree_sitter.Query(tree_sitter.Language(tree_sitter_make.language()), f"[{kinds}] @node")
    return query


def _nodes_to_read(root: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Those of the kinds in `_READ`, a node before what is in it: found in a third of the time of a walk."""
    nodes = tree_sitter.QueryCursor(_read_nodes()).captures(root).get("node", [])
    return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte, node.type))


def parse_make(data: bytes) -> Makefile:
    """A Makefile."""
    root = _make_parser().parse(data).root_node
    assignments: list[Assignment] = []
    lines: list[Line] = []
    comments: list[tuple[int, int]] = []
    for node in _nodes_to_read(root):
        kind = node.type
        if kind == "variable_assignment":
            if node.has_error:
                continue
            for found in _assigned(node, data, ("text",)):
                assignments.append(_before_comment(found, data, comments))
        elif kind in ("recipe_line", "shell_assignment", "shell_text") and node.parent is not None:
            indented = _indented(node, data)
            if indented is not None:
                assignments.append(indented)
            elif kind != "shell_text" or node.parent.type != "recipe_line":
                lines.append(Line(node.start_byte, node.end_byte, _first_prerequisite(node, data)))
        elif kind == "comment":
            comments.append((node.start_byte, node.end_byte))
    if root.has_error or b"define" in data or b"eval" in data:
        _read_rest(data, assignments, lines, comments)
    return Makefile(data.decode("latin-1"), tuple(assignments), tuple(lines), tuple(sorted(comments)))


def _before_comment(found: Assignment, data: bytes, comments: list[tuple[int, int]]) -> Assignment:
    """The assignment without a comment at its end, which joins the others."""
    comment = _COMMENT.search(data, found.start, found.end)
    if comment is None:
        return found
    if (comment.start(), found.end) not in comments:
        comments.append((comment.start(), found.end))
    return found._replace(end=comment.start())


def _read_rest(data: bytes, assignments: list[Assignment], lines: list[Line], comments: list[tuple[int, int]]) -> None:
    """Adds what the grammar does not read, in the order of the file."""
    known = [(one.start, one.end) for one in assignments] + [(one.start, one.end) for one in lines]
    for one in unread_lines(data, known):
        if one.name:
            assignments.append(_before_comment(Assignment(one.name, one.start, one.end), data, comments))
        else:
            lines.append(Line(one.start, one.end, _first_of(*(names.split() for names in one.rule))))
    assignments.sort(key=lambda assignment: assignment.start)
    lines.sort(key=lambda line: line.start)


def _first_prerequisite(node: tree_sitter.Node, data: bytes) -> str:
    rule = _above(node, "rule")
    lists = {child.type: child for child in rule.children} if rule is not None else {}
    targets, prerequisites = (
        data[found.start_byte : found.end_byte].decode("latin-1").split() if (found := lists.get(name)) else []
        for name in ("targets", "prerequisites")
    )
    return _first_of(targets, prerequisites)


def _first_of(targets: list[str], prerequisites: list[str]) -> str:
    if prerequisites:
        return prerequisites[0]
    suffixes = _SUFFIXES.fullmatch(targets[0]) if targets else None
    return suffixes[1] if suffixes else ""


def _above(node: tree_sitter.Node, kind: str) -> tree_sitter.Node | None:
    above = node.parent
    while above is not None and above.type != kind:
        above = above.parent
    return above


def _indented(node: tree_sitter.Node, data: bytes) -> Assignment | None:
    """An assignment behind a tab: a recipe's line for the grammar, none for make where no rule is open."""
    found = _INDENTED.match(data, node.start_byte, node.end_byte)
    if found is None or node.type == "shell_text":
        return None
    if _above(node, "rule") is not None:
        return None
    return Assignment(found[1].decode("latin-1"), found.end(), node.end_byte)


def parsed_shell(data: bytes) -> tree_sitter.Node:
    """The tree of a shell script."""
    return _bash_parser().parse(data).root_node


def parse_shell(data: bytes) -> Makefile:
    """A shell script."""
    root = parsed_shell(data)
    assignments: list[Assignment] = []
    lines: list[Line] = []
    comments: list[tuple[int, int]] = []
    for node in _walk(root):
        if node.type == "variable_assignment":
            assignments += map(_without_quotes, _assigned(node, data, ()), itertools.repeat(data))
        elif node.type == "command":
            lines.append(Line(node.start_byte, node.end_byte))
        elif node.type == "comment":
            comments.append((node.start_byte, node.end_byte))
    return Makefile(data.decode("latin-1"), tuple(assignments), tuple(lines), tuple(sorted(comments)))


def _without_quotes(found: Assignment, data: bytes) -> Assignment:
    """`F="-O3 -arch=sm_80"`: what the variable holds are the words within."""
    value = data[found.start : found.end]
    quote = value[:1]
    if quote in (b'"', b"'") and len(value) > 1 and value.endswith(quote) and quote not in value[1:-1]:
        return found._replace(start=found.start + 1, end=found.end - 1)
    return found


def stretches(data: bytes, types: frozenset[str], *, shell: bool = False) -> list[tuple[int, int]]:
    """The places of these kinds of node that go over more than one line, in order."""
    root = (_bash_parser() if shell else _make_parser()).parse(data).root_node
    nodes = (node for node in _walk(root) if node.type in types and node.start_point[0] != node.end_point[0])
    return sorted((node.start_byte, node.end_byte) for node in nodes)


def _walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += reversed(current.named_children)


def _assigned(node: tree_sitter.Node, data: bytes, value_types: tuple[str, ...]) -> Iterator[Assignment]:
    name = data[node.children[0].start_byte : node.children[0].end_byte].decode("latin-1")
    values = [child for child in node.children[1:] if child.type in value_types] if value_types else node.children[2:]
    for value in values:
        yield Assignment(name, value.start_byte, value.end_byte)


def _is_cmake(word: str) -> bool:
    """Whether a command's first word calls CMake, which may be told of nvcc and has flags of its own."""
    return word.lstrip("@-+\t ").rpartition("/")[2] == "cmake"
