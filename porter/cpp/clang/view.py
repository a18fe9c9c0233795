"""Clang's view of one file; together with `porter.cpp.clang` the only user of clang.cindex."""

from __future__ import annotations

import bisect
import functools
import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter.cpp.clang import answers, stubs, typed
from porter.cpp.clang.answers import Declaration
from porter.cpp.clang.libclang import Diagnostic
from porter.cpp.clang.passes import Input, Pass, support_files
from porter.cpp.clang.reached_headers import Closure, close_over, find_translation_unit, macros_in, macros_of
from porter.cpp.clang.sides import DeviceSide
from porter.cpp.kernels import DeviceFunction, attach_launches, find_launches, place_device_functions, place_kernels
from porter.cpp.language import language_of
from porter.cpp.lex import STRING, Tokens, lex
from porter.cpp.visible import is_code
from porter.model import Kernel, Span
from porter.source import SourceFile
from porter.system.reading import read_regular

__all__ = ["Declaration", "ParseDiagnostic", "ParseFailed", "ParseRequest", "Parsed", "parse", "prepare"]

prepare = stubs.prepare


@dataclass(frozen=True)
class ParseRequest:
    """One file to parse; local headers are looked for beside it and in `include_dirs`, and only inside `root`."""

    path: str
    text_bytes: bytes
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    root: str | None = None
    bodies: bool = False
    """Whether questions about function bodies will come: the file is then parsed once, and with them."""


@dataclass(frozen=True, slots=True)
class ParseDiagnostic:
    """An error of clang; `path` is the file's own or that of a local header."""

    path: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class ParseFailed:
    """Clang gave nothing back; the tokens are all there is."""

    reason: str


class Parsed:
    """One file seen through clang: a host pass, and a device pass where the code asks which one compiles it.

    Function bodies are parsed when the first question about one is asked, or at once where one will be.
    """

    def __init__(self, request: ParseRequest, tokens: Tokens, passes: tuple[Pass, ...], closure: Closure) -> None:
        self._source = SourceFile(request.path, request.text_bytes)
        self._defines = request.defines
        self._tokens = tokens
        self._passes = passes
        self._closure = closure

    @functools.cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels of this file: those of the tokens with clang's types, and those that only clang sees."""
        tokens, source = self._tokens, self._source
        placed = place_kernels(tokens, source.path, source)
        found = typed.typed_kernels(placed, self._passes)
        unit = self._passes[0].declarations
        if self._closure.kernel_macros and unit is not None:
            found += typed.kernels_of_macros(unit, found, source)
        known = {p.function.name: p.function.qualified for p in place_device_functions(tokens)}
        found = tuple(replace(k, callees=tuple(known.get(c, c) for c in k.callees)) for k in found)
        return attach_launches(found, find_launches(tokens, source.path, source), tokens)

    @functools.cached_property
    def device_functions(self) -> tuple[DeviceFunction, ...]:
        """`__device__` functions with a body in this file."""
        placed = place_device_functions(self._tokens)
        return tuple(replace(p.function, parameters=typed.typed_parameters(p, self._passes)) for p in placed)

    @functools.cached_property
    def declared(self) -> frozenset[str]:
        """Every name that the file and its local headers declare; the stubs' names are not among them."""
        units = [one.declarations for one in self._passes]
        return frozenset().union(*(typed.declared_names(unit) for unit in units if unit is not None))

    @functools.cached_property
    def inactive(self) -> tuple[Span, ...]:
        """Byte ranges that no pass compiles."""
        spans = self._passes[0].skipped
        for other in self._passes[1:]:
            spans = _intersection(spans, other.skipped)
        return spans

    def is_inactive(self, offset: int) -> bool:
        """Whether no pass compiles an offset: the device's is looked at only for what the host's leaves out."""
        if len(self._passes) == 1 or self._passes[0].is_active(offset):
            return self._pass_at(offset) is None
        known = False if self._device.follows_host(offset) else self._device.compiles(offset)
        return self._pass_at(offset) is None if known is None else not known

    @functools.cached_property
    def diagnostics(self) -> tuple[ParseDiagnostic, ...]:
        """Errors outside of function bodies, missing headers aside."""
        path, unit = self._passes[0].given.path, self._passes[0].declarations
        return _errors(unit.diagnostics(), path, self._bodies) if unit is not None else ()

    @functools.cached_property
    def _bodies(self) -> tuple[Span, ...]:
        """The function bodies of this file that clang passes over where it is told to."""
        return tuple(_bodies(self._tokens)) if self._passes[0].has_bodies else ()

    @functools.cached_property
    def own_errors(self) -> int:
        """Errors in this very file, outside of function bodies."""
        path, unit = self._passes[0].given.path, self._passes[0].declarations
        return len(_errors(unit.errors_here, path, self._bodies)) if unit is not None else 0

    @functools.cached_property
    def body_diagnostics(self) -> tuple[ParseDiagnostic, ...]:
        """Errors anywhere, function bodies included, missing headers aside; parses the bodies."""
        unit = self._passes[0].bodies
        return _errors(unit.diagnostics(), self._passes[0].given.path, ()) if unit is not None else ()

    def declaration_at(self, offset: int) -> Declaration | None:
        """What the identifier at an offset refers to; None where no pass compiles it."""
        tokens, index = self._tokens, self._tokens.at(offset)
        one = self._pass_at(offset)
        if one is None or one.bodies is None or index >= len(tokens) or tokens.starts[index] != offset:
            return None
        found = answers.declaration_at(one.bodies, offset, tokens.texts[index])
        if found.origin == answers.UNKNOWN and self._has_error_near(one, index) and one.corrected is not None:
            return answers.declaration_at(one.corrected, offset, tokens.texts[index])
        return found

    def type_at(self, offset: int) -> str | None:
        """Canonical type of the variable or expression whose token starts at an offset; of a call, its result."""
        one = self._pass_at(offset)
        return None if one is None or one.bodies is None else answers.type_at(one.bodies, offset)

    def call_argument_types(self, offset: int) -> tuple[str | None, ...] | None:
        """Types, before conversion, of the arguments of the call whose callee's name starts at an offset."""
        one, index = self._pass_at(offset), self._tokens.at(offset)
        if one is None or one.bodies is None:
            return None
        found = answers.argument_types(one.bodies, self._tokens, index)
        if (found is None or None in found) and self._has_error_near(one, index) and one.corrected is not None:
            return answers.argument_types(one.corrected, self._tokens, index)
        return found

    def _pass_at(self, offset: int) -> Pass | None:
        """The first pass that compiles an offset; the device's is not made where conditions tell that it does not."""
        host, *device = self._passes
        if host.is_active(offset):
            return host
        if not device or self._device.follows_host(offset) or self._device.compiles(offset) is False:
            return None
        return next((one for one in device if one.is_active(offset)), None)

    @functools.cached_property
    def _device(self) -> DeviceSide:
        given = self._passes[0].given
        own = frozenset().union(*map(macros_of, given.files.values()), *map(macros_in, self._closure.headers))
        options = {name: value for name, _, value in (option.partition("=") for option in self._defines)}
        constant = {name for name, value in options.items() if "__" not in value} | stubs.macros(given.language)
        architecture = stubs.ARCHITECTURE if given.language == "cuda" else None
        return DeviceSide(self._tokens, {*own, *options, *constant}, architecture, constant - own)

    def _has_error_near(self, one: Pass, index: int) -> bool:
        """Whether clang met an error in the statement around a token: it may have dropped the call."""
        errors = one.error_offsets
        if not errors:
            return False
        line = self._tokens.first_characters
        first = max(line.rfind(mark, 0, index) for mark in ";{}")
        ends = [place for mark in ";{}" if (place := line.find(mark, index)) >= 0]
        begin = self._tokens.starts[first] if first >= 0 else 0
        end = self._tokens.starts[min(ends)] if ends else len(self._source.data)
        return bisect.bisect_left(errors, begin) < bisect.bisect_right(errors, end)


def parse(request: ParseRequest, tokens: Tokens | None = None) -> Parsed | ParseFailed:
    """Parses a file without its function bodies; `tokens` saves lexing it again.

    A file that does not stand alone is parsed through one that includes it, if that explains more of it.
    """
    path = str(Path(request.path).absolute())
    tokens = lex(request.text_bytes.decode("latin-1")) if tokens is None else tokens
    if has_deep_expression(tokens):
        return ParseFailed(f"an expression of more than {_DEEPEST} tokens, which clang may overflow its stack on")
    alone = _parsed(request, tokens, path, path) if tokens.includes else None
    if alone is not None and not alone.own_errors:
        return alone
    includer = find_translation_unit(path, request.root)
    within = _parsed(request, tokens, path, includer) if includer is not None else None
    if within is not None and not within.own_errors:
        return within  # a file without includes is not even parsed alone: nothing explains more of it than all
    alone = alone if tokens.includes else _parsed(request, tokens, path, path)
    if alone is None:
        return within or ParseFailed("libclang could not parse the file")
    return within if within is not None and within.own_errors <= alone.own_errors else alone


_DEEPEST = 2500
"""Clang 18 descends once per operator; nested casts end it at some 1,200, three tokens each."""


def has_deep_expression(tokens: Tokens) -> bool:
    """Whether more tokens than clang can stand are between two separators, string literals not counted."""
    if max(map(len, _SEPARATOR.split(tokens.first_characters))) <= _DEEPEST:
        return False
    borders = [match.start() for match in _SEPARATOR.finditer(tokens.first_characters)]
    borders += [edge for d in tokens.directives for edge in (d.first, d.last)]
    ends = sorted([-1, *borders, len(tokens)])
    start, end = max(itertools.pairwise(ends), key=lambda pair: pair[1] - pair[0])
    return end - start - tokens.kinds.count(STRING, max(start, 0), end) > _DEEPEST


_SEPARATOR = re.compile(r"[;,{}]")


def _parsed(request: ParseRequest, tokens: Tokens, path: str, main: str) -> Parsed | None:
    """The file as clang sees it when it compiles `main`."""
    data = request.text_bytes
    files = {path: data}
    if main != path:
        try:
            files[main] = read_regular(main)
        except OSError:
            return None
    closure = close_over(main, files[main], request.include_dirs, request.root)
    language = language_of(path, data, files[main])
    options: tuple[str, ...] = (
        *(f"-I{folder}" for folder in request.include_dirs),
        *(f"-D{name}" for name in request.defines),
    )
    files = {**files, **closure.rewritten}
    if not stubs.LATE.isdisjoint(closure.names):
        options = (*stubs.late_flags(language), *options)
    if language == "hip":
        files |= support_files(path, data)
    sides = ("host", "device") if closure.device_branches else ("host",)
    given = Input(path, main, files, options, language, closure.size)
    passes = tuple(Pass(given, side, request.bodies) for side in sides)
    return Parsed(request, tokens, passes, closure) if passes[0].declarations is not None else None


def _errors(found: Iterable[Diagnostic], path: str, left_out: tuple[Span, ...]) -> tuple[ParseDiagnostic, ...]:
    """Errors other than missing headers; of the file itself only those outside of some stretches."""
    return tuple(
        ParseDiagnostic(d.path, d.line, d.column, d.message)
        for d in found
        if not d.message.endswith("file not found") and not (d.path == path and _is_inside(left_out, d.offset))
    )


def _bodies(tokens: Tokens) -> Iterator[Span]:
    """The outermost braces that hold statements, but of functions whose bodies tell what they return or are worth."""
    line, end = tokens.first_characters, -1
    for match in _BRACE.finditer(line):
        opening = match.start()
        if opening < end or opening not in tokens.partner or not is_code(tokens, opening):
            continue
        end = tokens.partner[opening]
        begin = max(line.rfind(mark, 0, opening) for mark in ";{}") + 1
        if _ALWAYS_READ.isdisjoint(tokens.texts[begin:opening]):
            yield Span(tokens.starts[opening], tokens.end(end))


_BRACE = re.compile(r"\{")
_ALWAYS_READ = frozenset({"constexpr", "auto", "consteval"})


def _is_inside(spans: tuple[Span, ...], offset: int) -> bool:
    place = bisect.bisect_right(spans, (offset, sys.maxsize)) - 1
    return place >= 0 and offset < spans[place].end


def _intersection(first: tuple[Span, ...], second: tuple[Span, ...]) -> tuple[Span, ...]:
    pairs = ((max(a.start, b.start), min(a.end, b.end)) for a in first for b in second)
    return tuple(sorted(Span(start, end) for start, end in pairs if start < end))
