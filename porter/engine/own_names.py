"""Which of CUDA's names a project gives a meaning of its own, and where that meaning counts."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from porter.cpp.absent import AbsentBranches
from porter.cpp.declared import declares, defines_fallback
from porter.cpp.editors import editor_spans, is_for_editor
from porter.cpp.kept_tokens import fact_of
from porter.cpp.kernels import DeviceFunction
from porter.cpp.language import language_of
from porter.cpp.lex import Tokens
from porter.cpp.prescan import ATTRIBUTES, is_runtime_name
from porter.cpp.program import Program
from porter.cpp.scopes import find_scopes
from porter.cpp.visible import stretch
from porter.engine.dialect import Dialect, Dialects, dialects_of
from porter.engine.semantics import Semantics
from porter.engine.support import SupportTable
from porter.model import Span
from porter.names.table import NameTable
from porter.source import SourceFile

_AFTER_DECLARATOR = frozenset(["=", ";", ",", ")", "[", "(", "{"])
_AFTER_VARIABLE = frozenset(["=", ";", "["])
_BUILTIN_TYPES = frozenset(["void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned"])
_KEYWORDS = """
    return else do case goto new delete throw co_return sizeof typename typedef using namespace struct class enum union
    const volatile static extern inline constexpr register thread_local mutable virtual explicit friend operator and or
    not defined template public private protected default noexcept
    __device__ __host__ __global__ __constant__ __shared__ __managed__ __forceinline__ __noinline__ __restrict__
    __inline__
"""
_NO_TYPE = frozenset(_KEYWORDS.split())
_CLASS_KEYS = frozenset({"struct", "class", "union", "enum"})
_UPPER_TYPES = frozenset({"BOOL", "BYTE", "DWORD", "FILE", "HANDLE", "HRESULT", "INT", "UINT", "VOID"})


class Declaring(Protocol):
    """A file with the tables and what the project declares: what is asked of a unit here."""

    source: SourceFile
    names: NameTable
    support: SupportTable
    declared: frozenset[str]
    hidden: frozenset[str]
    for_amd: frozenset[str]

    @property
    def tokens(self) -> Tokens:
        """The file's tokens."""

    @property
    def dialects(self) -> Dialects:
        """Whose code each place is."""

    @property
    def program(self) -> Program:
        """The file with the project's headers that it includes."""

    @property
    def semantics(self) -> Semantics | None:
        """Clang's view."""

    @property
    def device_functions(self) -> tuple[DeviceFunction, ...]:
        """The `__device__` functions of this file that have a body."""

    @property
    def device_spans(self) -> tuple[tuple[Span, str], ...]:
        """Byte ranges of kernels and device functions with their names, sorted."""

    @property
    def known_names(self) -> frozenset[str]:
        """The file's identifiers about which the tables have something to say."""


class OwnNames:
    """What a file and its headers declare under names that CUDA has, too."""

    def __init__(self, unit: Declaring) -> None:
        self._unit = unit
        self._tokens = unit.tokens

    @cached_property
    def in_file(self) -> frozenset[str]:
        """CUDA-like names that this file itself seems to declare, as a variable, parameter, function or macro."""
        return frozenset(
            name
            for name in self._unit.known_names
            if any(self.declares(index) and not self._is_stand_in(index) for index in self._tokens.names[name])
        )

    def declares(self, index: int) -> bool:
        """Whether `type name =`, `type name(`, `#define name` or the like stands at a token that compilers see."""
        tokens = self._tokens
        if self.is_for_editor(index):
            return False
        directive = tokens.directive_of(index)
        if directive is not None and directive.first == index:
            return directive.name in ("define", "undef")
        if index == 0 or index + 1 >= len(tokens):
            return False
        if tokens.texts[index + 1] not in _AFTER_DECLARATOR:
            return tokens.texts[index + 1] == ">" and tokens.texts[index - 1] in _BUILTIN_TYPES  # `template <int name>`
        if tokens.directive_of(index - 1) is not directive:
            return False
        if directive is not None and directive.name == "define" and directive.first == index - 1:
            return False  # the macro's name, and no type
        if tokens.texts[index] in ATTRIBUTES:
            return False
        before = tokens.texts[index - 1]
        if before in _CLASS_KEYS and tokens.texts[index + 1] == ";":
            return False  # a forward declaration of CUDA's
        if before in ("*", "&") and index > 1:
            return tokens.texts[index - 2] in _BUILTIN_TYPES
        if before.isupper() and before not in _UPPER_TYPES and tokens.texts[index + 1] == "(":
            return False  # `CHECK_LAST_ERROR cudaFree(p);`: a macro that brings its own semicolon
        return tokens.kinds[index - 1] == "i" and before not in _NO_TYPE

    def is_for_editor(self, index: int) -> bool:
        """Whether a token stands where only an editor's parser looks."""
        return is_for_editor(self._for_editor, self._tokens.starts[index])

    @cached_property
    def _for_editor(self) -> tuple[tuple[int, int], ...]:
        return editor_spans(self._unit.source.data)

    def is_projects(self, index: int) -> bool:
        """Asks clang about a name that the project declares in sight; without an answer it is the project's."""
        name = self._tokens.texts[index]
        if self._is_local(index) or self._is_fallback(name) or name in self._own_gaps:
            return True
        if name in self._left_out and self._unit.dialects.at(self._tokens.starts[index]).compiled:
            return False
        known = self._reaches(index)
        if known is not None:
            return known
        semantics = self._unit.semantics
        declaration = None if semantics is None else semantics.declaration_at(self._tokens.starts[index])
        if declaration is None or semantics is None:
            return not self._precedes_own(index)
        if declaration.origin == "unknown" and name not in self.in_file and self._is_as_elsewhere(index):
            return name in semantics.declared  # no answer for this place: whose is the name in all that clang reads?
        return declaration.origin != "cuda"

    def _is_as_elsewhere(self, index: int) -> bool:
        """Whether a token stands in what a macro is replaced by, where clang sees no names, or is of a name that the
        file's headers declare as a macro and in no other way."""
        tokens, name = self._tokens, self._tokens.texts[index]
        directive = tokens.directive_of(index)
        if directive is not None:
            return directive.name == "define" and directive.first < index
        places = [(t, i) for t in self._unit.program.all_tokens for i in t.names.get(name, ()) if declares(t, i)]
        return bool(places) and all(tokens.directive_of(index) is not None for tokens, index in places)

    def _is_stand_in(self, index: int) -> bool:
        """Whether a declaration is for builds without CUDA, in no namespace or where CUDA is absent: it is renamed with
        its uses."""
        tokens = self._tokens
        if not is_runtime_name(tokens.texts[index]) or self._is_defined(tokens.texts[index]):
            return False
        directive = tokens.directive_of(index)
        if directive is not None:
            return "hip" not in tokens.text[directive.start : directive.end].lower()
        if tokens.texts[index - 1] in (",", "("):
            return False
        around = [opening for opening in tokens.braces_around(index) if tokens.texts[opening - 2] != "extern"]
        if not all("namespace" in tokens.texts[max(0, opening - 2) : opening] for opening in around):
            return False
        return not around or self._absent.lacks_cuda(tokens.starts[index])

    @cached_property
    def _absent(self) -> AbsentBranches:
        return AbsentBranches(self._unit.source.data)

    @cached_property
    def _left_out(self) -> frozenset[str]:
        """Names that are declared where no port compiles them: for clang's CUDA mode alone, for older toolkits."""
        declared = self._unit.declared | self.in_file
        return frozenset(name for name in self._unit.known_names & declared if self._is_left_out(name))

    def _is_left_out(self, name: str) -> bool:
        """Whether the file or its headers declare a name, and no port compiles any of the places."""
        tokens = self._tokens
        places = [index for index in tokens.names[name] if self.declares(index) or declares(tokens, index)]
        if any(self._unit.dialects.at(tokens.starts[index]).compiled for index in places):
            return False
        headers = (header for header in self._unit.program.headers if name in header.text)
        seen = {is_seen for header in headers for is_seen in _seen(header, name)}
        return True not in seen and bool(places or seen)

    @cached_property
    def _own_gaps(self) -> frozenset[str]:
        """Names that HIP lacks and that the project defines, the file or a header of it: clang need not be asked."""
        return frozenset(
            name
            for name in self._unit.known_names & self._unit.declared
            if self._is_defined(name) and self._unit.program.declares(name) and not self._has_own_blocks(name)
        )

    def _has_own_blocks(self, name: str) -> bool:
        """Whether it is declared in a block or as a parameter, so that elsewhere it may mean something else."""
        places = (index for index in self._tokens.names[name] if self.declares(index))
        return any(stretch(self._tokens, index) is not None for index in places)

    def _is_defined(self, name: str) -> bool:
        """Whether the project defines what CUDA's library has, and HIP has not: nothing else can be meant."""
        unit = self._unit
        row = unit.names.get(name) if name in unit.declared and is_runtime_name(name) else None
        return row is not None and row.hip is None and unit.support.get(name) is None and name not in unit.hidden

    def _precedes_own(self, index: int) -> bool:
        """Whether a name is used in a function before the file's own function of that name, which no header declares.

        A template may mean what stands behind it, and a member of a class what stands in that.
        """
        tokens, name, offset = self._tokens, self._tokens.texts[index], self._tokens.starts[index]
        own = [function.span.start for function in self._unit.device_functions if function.name == name]
        user = next((span for span, _ in self._unit.device_spans if span.start <= offset < span.end), None)
        if user is None or not own or min(own) < user.end or tokens.text.startswith("template", user.start):
            return False
        if any(self.declares(place) or declares(tokens, place) for place in tokens.names[name] if place < index):
            return False
        around = (scope.opening for scope in find_scopes(tokens) if scope.opening < index < scope.closing)
        if not all("namespace" in tokens.texts[max(0, opening - 8) : opening] for opening in around):
            return False
        return not self._unit.program.headers_declare(name)

    def _is_fallback(self, name: str) -> bool:
        """Whether a macro with parameters is defined where nothing else did (`#ifndef CUB_MAX`): it needs no library.

        One without parameters says what a toolkit is, and only CUDA's says that.
        """
        row = self._unit.names.get(name)
        is_macro = row is not None and row.kind == "macro"
        return is_macro and any(defines_fallback(tokens, name) for tokens in self._unit.program.all_tokens)

    def _reaches(self, index: int) -> bool | None:
        """Whether a declaration of the project's is what a token means, as far as blocks and branches tell."""
        tokens = self._tokens
        name = tokens.texts[index]
        if not self._unit.dialects.leaves_all and self._unit.dialects.is_hip(tokens.starts[index]):
            return True  # in a branch for AMD's compiler alone there is no name of CUDA's but the project gave it one
        if name in self._unit.for_amd and name not in self.in_file and not self._uses_hip:
            return False
        if name in self._unit.declared and name not in self._unit.hidden:
            return None
        found = False
        for place in tokens.names[name]:
            if not (self.declares(place) or declares(tokens, place)):
                continue
            found = True
            seen = stretch(tokens, place)
            if seen is None:
                return None
            if seen.covers(index):
                return True if seen.sure else None
        return False if found else None

    @cached_property
    def _uses_hip(self) -> bool:
        """Whether the file uses more of HIP than of CUDA: what AMD's branches declare is meant in all of it."""
        is_cudas = self._unit.dialects.file is Dialect.CUDA
        return not is_cudas and language_of(self._unit.source.path, self._unit.source.data) == "hip"

    def _is_local(self, index: int) -> bool:
        """Whether a variable declared before in a block around a token has its name: clang need not be asked."""
        places, ends = self._variables(self._tokens.texts[index])
        before = bisect.bisect_right(places, index) - 1
        return before >= 0 and index <= ends[before]

    def _variables(self, name: str) -> tuple[list[int], list[int]]:
        """Where variables of a name are declared, and how far that or an earlier one counts."""
        known = self._known_variables.get(name)
        if known is None:
            places = [place for place in self._tokens.names[name] if self._declares_variable(place)]
            known = self._known_variables[name] = places, list(accumulate(map(self._block_end, places), max))
        return known

    @cached_property
    def _known_variables(self) -> dict[str, tuple[list[int], list[int]]]:
        return {}

    def _declares_variable(self, index: int) -> bool:
        return (
            self.declares(index)
            and self._tokens.directive_of(index) is None
            and self._tokens.texts[index + 1] in _AFTER_VARIABLE
        )

    def _block_end(self, index: int) -> int:
        """The brace that closes the innermost block around a token; -1 at the top level."""
        opening = next(self._tokens.braces_around(index), None)
        return -1 if opening is None else self._tokens.partner[opening]


def _seen(header: SourceFile, name: str) -> frozenset[bool]:
    """Whether a port compiles the places where a header declares a name."""
    return fact_of(header, ("seen", name), lambda tokens: frozenset(_places_seen(header, tokens, name)))


def _places_seen(header: SourceFile, tokens: Tokens, name: str) -> Iterator[bool]:
    for index in tokens.names.get(name, ()):
        if declares(tokens, index):
            yield dialects_of(header).at(tokens.starts[index]).compiled
