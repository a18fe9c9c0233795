"""Programs without their host code: what is left are kernels, what these call, types, constants and macros."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import referenced_folders
from porter.cpp.lex import Directive, Tokens, lex

_CODE = frozenset({".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".tcc", ".txx"})
"""Kept, with the files of the host's own languages that hold device code."""
_HOST = frozenset({".cpp", ".cc", ".cxx", ".c"})
_DEVICE = re.compile(r"__(?:global|device)__")
_MARKER = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\\\n|[^\n])*?__(?:global|device)__", re.MULTILINE)
_STARTED = re.compile(r"^\t.*\./.*$\n?", re.MULTILINE)
_LAUNCHES = re.compile(r"<<<|\bcuda(?:Launch|Malloc|Memcpy|Free)\w*|\bcuLaunch\w*")
_CLASSES = frozenset({"struct", "class", "union", "enum"})
_ATTRIBUTES = frozenset({"__align__", "alignas", "__attribute__", "__declspec", "__launch_bounds__"})
_LONGEST_HEAD = 400
_KEPT = frozenset({"__global__", "__device__", "constexpr"})


@dataclass(frozen=True)
class Cut:
    """[start, end) of a text, and what stands there instead."""

    start: int
    end: int
    instead: str = ""


def without_host_code(text: str, markers: frozenset[str] = frozenset()) -> str:
    """A text without functions of the host, bodies of such members, and macros that launch.

    `markers` are macros that make a function the device's.
    """
    tokens = lex(text)
    cuts = [*_cuts(tokens, 0, len(tokens), _KEPT | markers, in_class=False), *_macros(tokens)]
    made, place = "", 0
    for cut in sorted(cuts, key=lambda one: one.start):
        if cut.start >= place:
            made += text[place : cut.start] + cut.instead
            place = cut.end
    return made + text[place:]


def markers_of(texts: Iterator[str]) -> frozenset[str]:
    """The macros whose text makes a function the device's."""
    return frozenset(name for text in texts for name in _MARKER.findall(text))


def cut_program(corpus: Path, name: str, out: Path) -> Path:
    """A folder of the corpus below `out`, with the siblings that it refers to; all without host code."""
    for folder in sorted({name, *referenced_folders(corpus / name)}):
        files = sorted(path for path in (corpus / folder).rglob("*") if path.is_file() and not path.is_symlink())
        texts = {path: path.read_bytes().decode("latin-1") for path in files if path.suffix in _CODE | _HOST}
        markers = markers_of(iter(texts.values()))
        for path in files:
            to = out / folder / path.relative_to(corpus / folder)
            if path.suffix in _CODE or (path.suffix in _HOST and _DEVICE.search(texts[path])):
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(without_host_code(texts[path], markers).encode("latin-1"))
            elif path.name.lower() in ("makefile", "gnumakefile"):
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(_STARTED.sub("", path.read_bytes().decode("latin-1")).encode("latin-1"))
            elif path.suffix not in _HOST and path.stat().st_size < 1 << 20:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)
    return out / name


def _macros(tokens: Tokens) -> Iterator[Cut]:
    for directive in tokens.directives:
        if directive.name == "define" and _LAUNCHES.search(tokens.text[directive.start : directive.end]):
            yield Cut(directive.start, directive.end)


def _cuts(tokens: Tokens, first: int, last: int, kept: frozenset[str], *, in_class: bool) -> Iterator[Cut]:
    """Function by function of a namespace or class."""
    begin = index = first
    while index < last:
        directive = tokens.directive_of(index)
        if directive is not None:
            begin = directive.last if begin == index else begin
            index = directive.last
            continue
        text, partner = tokens.texts[index], tokens.partner.get(index)
        if text == ";":
            if not in_class and _is_instantiation(tokens, begin, kept):
                yield Cut(tokens.starts[begin], tokens.end(index))
            begin = index + 1
        elif text == "{" and partner is not None:
            head = _head(tokens, max(begin, index - _LONGEST_HEAD), index)
            if _is_scope(head) or _is_class(head):
                yield from _cuts(tokens, index + 1, partner, kept, in_class=_is_class(head))
                begin = partner + 1 if _is_scope(head) else begin
            elif _is_function(head):
                if tokens.texts[partner + 1] in (",", "{") and ":" in head.words:  # it initialises a member
                    index = partner + 1
                    continue
                if kept.isdisjoint(tokens.texts[number] for number in head.places):
                    yield from _without(tokens, begin, index, partner, head, in_class=in_class)
                begin = partner + 1
            index = partner + 1
            continue
        elif text in ("(", "[") and partner is not None:
            index = partner
        elif in_class and text == ":" and tokens.texts[index - 1] in ("public", "private", "protected"):
            begin = index + 1
        index += 1


@dataclass(frozen=True)
class _Head:
    """What stands before a brace, without directives and what is in brackets."""

    places: tuple[int, ...]
    words: tuple[str, ...]


def _head(tokens: Tokens, begin: int, end: int) -> _Head:
    places: list[int] = []
    index = begin
    while index < end:
        directive: Directive | None = tokens.directive_of(index)
        if directive is not None:
            index = directive.last
            continue
        places.append(index)
        partner = tokens.partner.get(index)
        index = partner if tokens.texts[index] in ("(", "[") and partner is not None and partner < end else index + 1
    return _Head(tuple(places), tuple(tokens.texts[place] for place in places))


def _is_scope(head: _Head) -> bool:
    return "namespace" in head.words[:2] or (len(head.words) == 2 and head.words[0] == "extern")


def _is_class(head: _Head) -> bool:
    words = _after_template(head)
    return "=" not in words and not _CLASSES.isdisjoint(words) and not _is_function(head)


def _after_template(head: _Head) -> tuple[str, ...]:
    """The words behind `template <...>`."""
    depth, words = 0, head.words
    if words[:1] != ("template",):
        return words
    for number, word in enumerate(words[1:], 1):
        depth += word.count("<") - word.count(">") if word in ("<", ">", ">>") else 0
        if depth == 0 and number > 1:
            return words[number + 1 :]
    return words


def _is_function(head: _Head) -> bool:
    words = _after_template(head)
    for before, word in itertools.pairwise(words):
        if word == "=" and before != "operator":
            return False
        if word == "(" and before not in _ATTRIBUTES:
            return True
    return False


def _is_instantiation(tokens: Tokens, begin: int, kept: frozenset[str]) -> bool:
    """`template void f<float>(float*);` of a function that is none of the device's."""
    words = tokens.texts[begin : begin + 2]
    if words[:1] != ["template"] or words[1] in ("<", "class", "struct"):
        return False
    end = next((n for n in range(begin, min(begin + 200, len(tokens))) if tokens.texts[n] == ";"), begin)
    return kept.isdisjoint(tokens.texts[begin:end])


def _without(tokens: Tokens, begin: int, opening: int, closed: int, head: _Head, *, in_class: bool) -> Iterator[Cut]:
    """The whole function; of a member the body, where it has anything in it."""
    if not in_class:
        start = head.places[0] if head.places else begin
        yield Cut(tokens.starts[start], tokens.end(closed))
        return
    if closed == opening + 1:
        return
    colon = next((p for p in head.places if tokens.texts[p] == ":" and p > begin), opening)
    yield Cut(tokens.starts[colon], tokens.end(closed), ";")
