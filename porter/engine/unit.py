"""One source file as rules see it: tokens, names, kernels, and clang's view on demand."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from porter.cpp.declared import declares, defines_fallback
from porter.cpp.editors import editor_spans, is_for_editor
from porter.cpp.headers import Included
from porter.cpp.include_graph import may_be_found
from porter.cpp.kept_tokens import fact_of, tokens_of
from porter.cpp.kernels import DeviceFunction, find_device_functions, find_kernels, headed_functions
from porter.cpp.language import language_of
from porter.cpp.lex import Tokens
from porter.cpp.nesting import Nesting
from porter.cpp.prescan import ATTRIBUTES, is_runtime_name
from porter.cpp.program import Program
from porter.cpp.scopes import find_scopes
from porter.cpp.visible import stretch
from porter.engine import renames
from porter.engine.dialect import Dialect, Dialects, read_dialects
from porter.engine.renames import Use
from porter.engine.support import SupportTable
from porter.model import Kernel, Settings, Span
from porter.names.table import NameTable
from porter.source import SourceFile


class Declaration(Protocol):
    """What clang says an identifier refers to."""

    @property
    def origin(self) -> str:
        """`cuda`, `std` or `project`."""

    @property
    def kind(self) -> str:
        """What was declared."""

    @property
    def name(self) -> str:
        """Its qualified name."""

    @property
    def type(self) -> str:
        """Its type as clang spells it."""


class Semantics(Protocol):
    """Clang's view of a file, as far as rules need it; `porter.cpp.clang.view.Parsed` is one."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels with typed parameters."""

    @property
    def declared(self) -> frozenset[str]:
        """Names that the project itself declares, as seen from this file."""

    def is_inactive(self, offset: int) -> bool:
        """Whether no pass compiles an offset."""

    @property
    def own_errors(self) -> int:
        """Clang's errors in this very file, outside function bodies."""

    def declaration_at(self, offset: int) -> Declaration | None:
        """What the identifier at an offset refers to."""

    def type_at(self, offset: int) -> str | None:
        """Canonical type of the expression whose token starts at an offset."""

    def call_argument_types(self, offset: int) -> tuple[str | None, ...] | None:
        """Canonical argument types of the call whose callee starts at an offset."""


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


@dataclass
class Unit:
    """Lazy views of one file; nothing here changes the file."""

    source: SourceFile
    settings: Settings
    names: NameTable
    support: SupportTable
    declared: frozenset[str] = frozenset()
    """CUDA-like names that some file of the project declares itself (found by a lexical scan of all of them)."""
    headers: frozenset[str] = frozenset()
    """Paths of the project's own headers, relative to its root: an `#include` of one of them is the project's."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Sources of the project that get another name in the port, both relative to its root."""
    parse: Callable[[SourceFile, Tokens, bool], Semantics | None] | None = field(default=None, repr=False)
    included_file: Included | None = field(default=None, repr=False)
    """Reads the headers of the project that files include."""
    dialect: Dialect | None = None
    """What the project says of the file as a whole; None: its name and its text decide."""
    defines: tuple[str, ...] = ()
    """Macros of the project's build, `NAME` or `NAME=value`."""
    hidden: frozenset[str] = frozenset()
    """Of the declared names those that this file alone declares, and where no other sees them."""
    for_amd: frozenset[str] = frozenset()
    """Of the declared names those that the project declares for AMD's compiler alone."""
    beside: Callable[[], tuple[SourceFile, ...]] | None = field(default=None, repr=False)
    """Of a header: what a source that includes it includes besides."""

    @cached_property
    def dialects(self) -> Dialects:
        """Whose code each place is."""
        return read_dialects(self.source.path, self.tokens, self.dialect, self.defines)

    @cached_property
    def tokens(self) -> Tokens:
        """The file's tokens."""
        return tokens_of(self.source)

    @cached_property
    def program(self) -> Program:
        """The file with the project's headers that it includes."""
        return Program(self.source, self.tokens, self.included_file, self.beside)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every identifier of the file."""
        return frozenset(self.tokens.names)

    @cached_property
    def included(self) -> frozenset[str]:
        """Names in the file's #include lines."""
        return frozenset(include.name for include in self.tokens.includes)

    @cached_property
    def included_by_port(self) -> frozenset[str]:
        """Those of them that do not hang on a switch of the project's for AMD, which a port need not set."""
        return frozenset(one.name for one in self.tokens.includes if not self.dialects.is_switched(one.start))

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Every CUDA name that the tables have something to say about."""
        return renames.uses(self)

    @cached_property
    def semantics(self) -> Semantics | None:
        """Clang's view; None when there is no parser or it could not make anything of the file."""
        return self.parse(self.source, self.tokens, True) if self.parse else None

    @cached_property
    def outline(self) -> Semantics | None:
        """Clang's view for questions about what stands outside of function bodies, which are not parsed for them."""
        if "semantics" in self.__dict__ or self.parse is None:
            return self.semantics
        return self.parse(self.source, self.tokens, False)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of this file, from the tokens (no clang needed)."""
        return find_kernels(self.tokens, self.source.path, self.source)

    @cached_property
    def device_functions(self) -> tuple[DeviceFunction, ...]:
        """The `__device__` functions of this file that have a body, from the tokens."""
        return find_device_functions(self.tokens, self.source)

    @cached_property
    def device_spans(self) -> tuple[tuple[Span, str], ...]:
        """Byte ranges of kernels and device functions with their names, sorted."""
        spans = [(kernel.span, kernel.qualified) for kernel in self.kernels]
        spans += [(function.span, function.qualified) for function in self.device_functions]
        return tuple(sorted(spans))

    @cached_property
    def _device_starts(self) -> list[int]:
        return [span.start for span, _ in self.device_spans]

    def kernel_at(self, offset: int) -> str | None:
        """Name of the kernel or device function that contains an offset."""
        spans = self.device_spans
        place = bisect.bisect_right(self._device_starts, offset) - 1
        if place >= 0 and offset < spans[place][0].end:
            return spans[place][1]
        return next((name for span, name in self._headed_spans if span.start <= offset < span.end), None)

    @cached_property
    def _headed_spans(self) -> tuple[tuple[Span, str], ...]:
        """The same of functions whose head a macro of a header writes: `KERNEL(k)(int *p) {`."""
        heads = self.program.head_macros
        return tuple(headed_functions(self.tokens, self.program.brought(heads))) if heads else ()

    def is_for_host(self, offset: int) -> bool:
        """Whether the host's compiler sees the code there: outside kernels and functions for the device alone."""
        spans, nesting = self._device_nesting
        around = [spans[number].start for number in nesting.around(offset + 1)]
        if not around:
            return self.kernel_at(offset) is None
        head = self.source.text[around[-1] : self.source.text.find("{", around[-1])]
        return "__host__" in head

    @cached_property
    def _device_nesting(self) -> tuple[list[Span], Nesting]:
        spans = sorted(function.span for function in self.device_functions)
        return spans, Nesting([(span.start, span.end + 1) for span in spans])

    def occurrences(self, name: str) -> Iterator[int]:
        """Token indices where a name is CUDA's: not a member, not qualified by another scope, not the project's."""
        for index in self.tokens.names.get(name, ()):
            if self.is_cuda(index):
                yield index

    def is_cuda(self, index: int) -> bool:
        """Whether the identifier at a token index can be CUDA's own name."""
        name = self.tokens.texts[index]
        if not self.is_free(index) or is_for_editor(self._for_editor, self.tokens.starts[index]):
            return False
        return not ((name in self.declared or name in self.own) and self._is_projects(index))

    def is_free(self, index: int) -> bool:
        """Whether the identifier at a token index is neither a member nor qualified by another scope."""
        before = self.tokens.texts[index - 1] if index else ""
        if before in (".", "->"):
            return False
        return not (before == "::" and index > 1 and self._is_scope(index - 2)) or self._is_enumerator(index)

    def is_free_of_amd(self, index: int) -> bool:
        """Whether an identifier is neither a member nor qualified by another scope, and in no branch for AMD."""
        return self.is_free(index) and self.is_for_cuda(index)

    def is_for_cuda(self, index: int) -> bool:
        """Whether a token stands in no branch for AMD."""
        return not self.dialects.is_hip(self.tokens.starts[index])

    def _is_enumerator(self, index: int) -> bool:
        """Whether `cudaError::` or the like stands before a token: an enumerator of CUDA's, with its type."""
        row, scope = self.names.get(self.tokens.texts[index]), self.names.get(self.tokens.texts[index - 2])
        named = row is not None and row.kind == "enumerator" and scope is not None and scope.kind == "type"
        return named and self.is_cuda(index - 2)

    @cached_property
    def own(self) -> frozenset[str]:
        """CUDA-like names that this file itself seems to declare, as a variable, parameter, function or macro."""
        return frozenset(
            name
            for name in self.known_names
            if any(self.declares(index) and not self._is_stand_in(index) for index in self.tokens.names[name])
        )

    def _is_stand_in(self, index: int) -> bool:
        """Whether a declaration is for builds without CUDA, in no namespace: it is renamed with its uses."""
        tokens = self.tokens
        if not is_runtime_name(tokens.texts[index]) or self._is_defined(tokens.texts[index]):
            return False
        directive = tokens.directive_of(index)
        if directive is not None:
            return "hip" not in tokens.text[directive.start : directive.end].lower()
        around = tokens.braces_around(index)
        inside = any(tokens.texts[opening - 2] != "extern" for opening in around)
        return not inside and tokens.texts[index - 1] not in (",", "(")

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The file's identifiers about which the tables have something to say."""
        return (self.names.active & self.identifiers) | (self.support.names.keys() & self.identifiers)

    def declares(self, index: int) -> bool:
        """Whether `type name =`, `type name(`, `#define name` or the like stands at a token that compilers see."""
        tokens = self.tokens
        if is_for_editor(self._for_editor, tokens.starts[index]):
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

    @cached_property
    def _for_editor(self) -> tuple[tuple[int, int], ...]:
        return editor_spans(self.source.data)

    def _is_scope(self, index: int) -> bool:
        """Whether the token before `::` names a scope (a global `::name` follows an operator or keyword)."""
        tokens = self.tokens
        return tokens.texts[index] == ">" or (
            tokens.kinds[index] == "i" and tokens.texts[index] not in ("return", "else", "case", "new", "delete")
        )

    def _is_projects(self, index: int) -> bool:
        """Asks clang about a name that the project declares in sight; without an answer it is the project's."""
        name = self.tokens.texts[index]
        if self._is_local(index) or self._is_fallback(name) or name in self._own_gaps:
            return True
        if name in self._left_out and self.dialects.at(self.tokens.starts[index]).compiled:
            return False
        known = self._reaches(index)
        if known is not None:
            return known
        semantics = self.semantics
        declaration = None if semantics is None else semantics.declaration_at(self.tokens.starts[index])
        if declaration is None or semantics is None:
            return not self._precedes_own(index)
        if declaration.origin == "unknown" and name not in self.own and self._is_as_elsewhere(index):
            return name in semantics.declared  # no answer for this place: whose is the name in all that clang reads?
        return declaration.origin != "cuda"

    def _is_as_elsewhere(self, index: int) -> bool:
        """Whether a token stands in what a macro is replaced by, where clang sees no names, or is of a name that the
        file's headers declare as a macro and in no other way."""
        tokens, name = self.tokens, self.tokens.texts[index]
        directive = tokens.directive_of(index)
        if directive is not None:
            return directive.name == "define" and directive.first < index
        places = [(t, i) for t in self.program.all_tokens for i in t.names.get(name, ()) if declares(t, i)]
        return bool(places) and all(tokens.directive_of(index) is not None for tokens, index in places)

    @cached_property
    def _left_out(self) -> frozenset[str]:
        """Names that are declared where no port compiles them: for clang's CUDA mode alone, for older toolkits."""
        return frozenset(name for name in self.known_names & (self.declared | self.own) if self._is_left_out(name))

    def _is_left_out(self, name: str) -> bool:
        """Whether the file or its headers declare a name, and no port compiles any of the places."""
        tokens = self.tokens
        places = [index for index in tokens.names[name] if self.declares(index) or declares(tokens, index)]
        if any(self.dialects.at(tokens.starts[index]).compiled for index in places):
            return False
        seen = {is_seen for header in self.program.headers if name in header.text for is_seen in _seen(header, name)}
        return True not in seen and bool(places or seen)

    @cached_property
    def _own_gaps(self) -> frozenset[str]:
        """Names that HIP lacks and that the project defines, the file or a header of it: clang need not be asked."""
        return frozenset(
            name
            for name in self.known_names & self.declared
            if self._is_defined(name) and self.program.declares(name) and not self._has_own_blocks(name)
        )

    def _has_own_blocks(self, name: str) -> bool:
        """Whether it is declared in a block or as a parameter, so that elsewhere it may mean something else."""
        return any(stretch(self.tokens, index) is not None for index in self.tokens.names[name] if self.declares(index))

    def _is_defined(self, name: str) -> bool:
        """Whether the project defines what CUDA's library has, and HIP has not: nothing else can be meant."""
        row = self.names.get(name) if name in self.declared and is_runtime_name(name) else None
        return row is not None and row.hip is None and self.support.get(name) is None and name not in self.hidden

    def _precedes_own(self, index: int) -> bool:
        """Whether a name is used in a function before the file's own function of that name, which no header declares.

        A template may mean what stands behind it, and a member of a class what stands in that.
        """
        tokens, name, offset = self.tokens, self.tokens.texts[index], self.tokens.starts[index]
        own = [function.span.start for function in self.device_functions if function.name == name]
        user = next((span for span, _ in self.device_spans if span.start <= offset < span.end), None)
        if user is None or not own or min(own) < user.end or tokens.text.startswith("template", user.start):
            return False
        if any(self.declares(place) or declares(tokens, place) for place in tokens.names[name] if place < index):
            return False
        around = (scope.opening for scope in find_scopes(tokens) if scope.opening < index < scope.closing)
        if not all("namespace" in tokens.texts[max(0, opening - 8) : opening] for opening in around):
            return False
        return not self.program.headers_declare(name)

    def _is_fallback(self, name: str) -> bool:
        """Whether a macro with parameters is defined where nothing else did (`#ifndef CUB_MAX`): it needs no library.

        One without parameters says what a toolkit is, and only CUDA's says that.
        """
        row = self.names.get(name)
        return (
            row is not None and row.kind == "macro" and any(defines_fallback(t, name) for t in self.program.all_tokens)
        )

    def _reaches(self, index: int) -> bool | None:
        """Whether a declaration of the project's is what a token means, as far as blocks and branches tell."""
        tokens = self.tokens
        name = tokens.texts[index]
        if not self.dialects.leaves_all and self.dialects.is_hip(tokens.starts[index]):
            return True  # in a branch for AMD's compiler alone there is no name of CUDA's but the project gave it one
        if name in self.for_amd and name not in self.own and not self._uses_hip:
            return False
        if name in self.declared and name not in self.hidden:
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
        is_cudas = self.dialects.file is Dialect.CUDA
        return not is_cudas and language_of(self.source.path, self.source.data) == "hip"

    def _is_local(self, index: int) -> bool:
        """Whether a variable declared before in a block around a token has its name: clang need not be asked."""
        places, ends = self._variables(self.tokens.texts[index])
        before = bisect.bisect_right(places, index) - 1
        return before >= 0 and index <= ends[before]

    def _variables(self, name: str) -> tuple[list[int], list[int]]:
        """Where variables of a name are declared, and how far that or an earlier one counts."""
        known = self._known_variables.get(name)
        if known is None:
            places = [place for place in self.tokens.names[name] if self._declares_variable(place)]
            known = self._known_variables[name] = places, list(accumulate(map(self._block_end, places), max))
        return known

    @cached_property
    def _known_variables(self) -> dict[str, tuple[list[int], list[int]]]:
        return {}

    def _declares_variable(self, index: int) -> bool:
        return (
            self.declares(index)
            and self.tokens.directive_of(index) is None
            and self.tokens.texts[index + 1] in _AFTER_VARIABLE
        )

    def _block_end(self, index: int) -> int:
        """The brace that closes the innermost block around a token; -1 at the top level."""
        opening = next(self.tokens.braces_around(index), None)
        return -1 if opening is None else self.tokens.partner[opening]

    def is_project_header(self, name: str) -> bool:
        """Whether `#include` of this name can mean a file of the project, found without a build's help."""
        return may_be_found(self.source.path, name, self.headers)

    def next_is(self, index: int, text: str) -> bool:
        """Whether the token after `index` is `text`."""
        texts = self.tokens.texts
        return texts[index + 1] == text

    def next_in(self, index: int, choices: frozenset[str]) -> bool:
        """Whether the token after `index` is one of `choices`."""
        texts = self.tokens.texts
        return texts[index + 1] in choices

    def arguments(self, index: int) -> list[Span]:
        """Byte ranges of the arguments of the call whose callee is at `index` (white space trimmed)."""
        tokens = self.tokens
        opened = index + 1
        if not self.next_is(index, "(") or opened not in tokens.partner:
            return []
        closed = tokens.partner[opened]
        spans: list[Span] = []
        first = position = opened + 1
        while position <= closed:
            text = tokens.texts[position]
            if position == closed or text == ",":
                if position > first:
                    spans.append(Span(tokens.starts[first], tokens.end(position - 1)))
                elif position != closed or spans:
                    spans.append(Span(tokens.starts[position], tokens.starts[position]))
                first = position + 1
            elif text in "([{":
                position = tokens.partner.get(position, position)
            position += 1
        return spans

    def span(self, first: int, last: int | None = None) -> Span:
        """Byte range of the tokens first..last (inclusive)."""
        tokens = self.tokens
        return Span(tokens.starts[first], tokens.end(first if last is None else last))

    def slice(self, span: Span) -> str:
        """The characters of a byte range."""
        return self.source.text[span.start : span.end]


def _seen(header: SourceFile, name: str) -> frozenset[bool]:
    """Whether a port compiles the places where a header declares a name."""
    return fact_of(header, ("seen", name), lambda tokens: frozenset(_places_seen(header, tokens, name)))


def _places_seen(header: SourceFile, tokens: Tokens, name: str) -> Iterator[bool]:
    places = [index for index in tokens.names.get(name, ()) if declares(tokens, index)]
    if places:
        dialects = read_dialects(header.path, tokens)
        yield from (dialects.at(tokens.starts[index]).compiled for index in places)
