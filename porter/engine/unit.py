"""One source file as rules see it: tokens, names, kernels, and clang's view on demand."""

from __future__ import annotations

import bisect
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from porter.cpp.headers import Included
from porter.cpp.heads import meaning
from porter.cpp.include_graph import may_be_found
from porter.cpp.kept_tokens import tokens_of
from porter.cpp.kernels import DeviceFunction, find_device_functions, find_kernels, headed_functions
from porter.cpp.lex import Tokens, lex
from porter.cpp.nesting import Nesting
from porter.cpp.program import Program
from porter.engine import renames
from porter.engine.dialect import Dialect, Dialects, read_dialects
from porter.engine.own_names import OwnNames
from porter.engine.renames import Use
from porter.engine.semantics import Semantics
from porter.engine.support import SupportTable
from porter.model import Kernel, Settings, Span
from porter.names.table import NameTable
from porter.source import SourceFile


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

    @property
    def headed_functions_seen(self) -> tuple[tuple[Span, str], ...]:
        """Those of `_headed_spans` if a finding made somebody look for them: the headers are read for that."""
        known: tuple[tuple[Span, str], ...] = self.__dict__.get("_headed_spans", ())
        return known

    def is_for_host(self, offset: int) -> bool:
        """Whether the host's compiler sees the code there: outside kernels and functions for the device alone."""
        spans, nesting = self._device_nesting
        around = [spans[number].start for number in nesting.around(offset + 1)]
        if not around:
            if self.kernel_at(offset) is None:
                return True
            around = [span.start for span, _ in self.headed_functions_seen if span.start <= offset < span.end]
            if not around:
                return False
        first, opening = self.tokens.at(around[-1]), self.tokens.at(self.source.text.find("{", around[-1]))
        return not self.host_words.isdisjoint(self.tokens.texts[first:opening])

    @cached_property
    def host_words(self) -> frozenset[str]:
        """`__host__`, and the macros of the file and of its headers that begin functions with it."""
        words, heads = meaning(self.tokens, "__host__"), self.program.head_macros
        return words | meaning(lex(self.program.brought(heads)), "__host__") if heads else words

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
        if not self.is_free(index) or self._own_names.is_for_editor(index):
            return False
        return not ((name in self.declared or name in self.own) and self._own_names.is_projects(index))

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
    def _own_names(self) -> OwnNames:
        return OwnNames(weakref.proxy(self))  # a circle would keep the file's tokens until Python looks for circles

    @property
    def own(self) -> frozenset[str]:
        """CUDA-like names that this file itself seems to declare, as a variable, parameter, function or macro."""
        return self._own_names.in_file

    def declares(self, index: int) -> bool:
        """Whether `type name =`, `type name(`, `#define name` or the like stands at a token that compilers see."""
        return self._own_names.declares(index)

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The file's identifiers about which the tables have something to say."""
        return (self.names.active & self.identifiers) | (self.support.names.keys() & self.identifiers)

    def _is_scope(self, index: int) -> bool:
        """Whether the token before `::` names a scope (a global `::name` follows an operator or keyword)."""
        tokens = self.tokens
        return tokens.texts[index] == ">" or (
            tokens.kinds[index] == "i" and tokens.texts[index] not in ("return", "else", "case", "new", "delete")
        )

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
