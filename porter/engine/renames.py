"""Resolves the identifiers of a file against the name tables: which row each CUDA name stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from porter.cpp.declared import points_to_functions
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.program import Program
from porter.engine.support import SupportRow, SupportTable
from porter.model import Edit, Settings
from porter.names.table import NameRow, NameTable
from porter.source import SourceFile

_CUDA_LIKE = re.compile(
    r"cu(?:da|blas|blasLt|fft|rand|sparse|solver|dnn|pti|file|tensor)[A-Z]\w*"
    r"|(?:nccl|nvrtc|nvml|nvtx|npp)[A-Z]\w*"
    r"|cu(?:Mem|Ctx|Device|Module|Func|Launch|Stream|Event|Array|Tex|Graph|Link|Get|Init|Driver|Occupancy|Pointer)[A-Z0-9]?\w*"
    r"|__(?:internal|nv|nvvm|cudart)_[a-z]\w*|CU_[A-Z0-9_]+|CU(?:DA|BLAS|FFT|RAND|SPARSE|SOLVER|DNN)_[A-Z0-9_]+"
)
BEGINS = ("cu", "CU", "nccl", "nv", "npp", "__")
"""What looks so begins with one of these."""
_CUDA_LIKE_LINE = re.compile(f"^(?:{_CUDA_LIKE.pattern})$", re.MULTILINE)


class Named(Protocol):
    """A file with the tables for its names: what is asked of a unit here."""

    source: SourceFile
    settings: Settings
    names: NameTable
    support: SupportTable
    declared: frozenset[str]

    @property
    def tokens(self) -> Tokens:
        """The file's tokens."""

    @property
    def program(self) -> Program:
        """The file with the project's headers that it includes."""

    @property
    def known_names(self) -> frozenset[str]:
        """The file's identifiers about which the tables have something to say."""

    def occurrences(self, name: str) -> Iterator[int]:
        """Token indices where a name is CUDA's."""

    def is_cuda(self, index: int) -> bool:
        """Whether the identifier at a token index can be CUDA's own name."""

    def is_free_of_amd(self, index: int) -> bool:
        """Whether an identifier is neither a member nor qualified, and in no branch for AMD."""

    def is_for_cuda(self, index: int) -> bool:
        """Whether a token stands in no branch for AMD."""

    def declares(self, index: int) -> bool:
        """Whether a token is where the file declares a name."""

    def is_project_header(self, name: str) -> bool:
        """Whether a header is the project's own."""

    def next_is(self, index: int, text: str) -> bool:
        """Whether the token after `index` is `text`."""

    def next_in(self, index: int, choices: frozenset[str]) -> bool:
        """Whether the token after `index` is one of `choices`."""


class Use(NamedTuple):
    """One place where a CUDA name stands: tokens [first, last], and what the tables know of it."""

    first: int
    last: int
    name: str
    row: NameRow | None
    support: SupportRow | None


def looks_like_cuda(name: str) -> bool:
    """Whether a name is built like those of CUDA's libraries, whether a table has it or not."""
    return _CUDA_LIKE.fullmatch(name) is not None


def any_looks_like_cuda(names: str) -> bool:
    """Whether one of some names, one to a line, is built like those of CUDA's libraries."""
    return _CUDA_LIKE_LINE.search(names) is not None


def namespace_aliases(tokens: Tokens) -> dict[str, str]:
    """`namespace cg = cooperative_groups;` -> {"cg": "cooperative_groups"}, as written in this file."""
    texts = tokens.texts
    aliases: dict[str, str] = {}
    for index in tokens.names.get("namespace", ()):
        if texts[index + 2] == "=":
            end = index + 3
            while end < len(tokens) and texts[end] not in (";", "{", "}"):
                end += 1
            aliases[texts[index + 1]] = "".join(texts[index + 3 : end]).removeprefix("::")
    return aliases


def uses(unit: Named) -> tuple[Use, ...]:
    """Every CUDA name of a file that the tables have something to say about, in order of place."""
    aliases = namespace_aliases(unit.tokens)
    found = [*_plain(unit), *_qualified(unit, aliases), *_used(unit, aliases)]
    covered = {index for use in found if use.last > use.first for index in range(use.first, use.last + 1)}
    return tuple(sorted(use for use in found if use.last > use.first or use.first not in covered))


def _plain(unit: Named) -> Iterator[Use]:
    active = unit.names.active
    for name in unit.known_names - unit.names.namespaces:
        support = unit.support.get(name)
        if support is not None and support.types and not unit.program.names_type(support.types):
            support = None
        if support is not None and "::" in support.name and unit.source.path.endswith(".c"):
            support = None
        if support is None and name not in active:
            continue  # the same in HIP: whose it is need not be asked
        row = unit.names.get(name)
        for index in unit.occurrences(name):
            if support is None or not support.call or unit.next_is(index, "("):
                yield Use(index, index, name, row, support)
            elif name in active:
                yield Use(index, index, name, row, None)  # its address, or a macro's argument: HIP's own function
        if support is None:
            yield from (Use(index, index, name, row, None) for index in _pointer_members(unit, name))


def _pointer_members(unit: Named, name: str) -> Iterator[int]:
    """Where a member is used that is declared as a pointer to functions: `api.cudaMalloc(&p, n)` for a library that is
    loaded at run time. The declaration is renamed, and what a macro is told of it."""
    texts = unit.tokens.texts
    places = [index for index in unit.tokens.names.get(name, ()) if texts[index - 1] in (".", "->")]
    everywhere = unit.program.all_tokens if places else ()
    if any(points_to_functions(tokens, index) for tokens in everywhere for index in tokens.names.get(name, ())):
        yield from places


def _qualified(unit: Named, aliases: Mapping[str, str]) -> Iterator[Use]:
    roots = unit.names.namespaces
    for name in unit.tokens.names.keys() & (roots | aliases.keys()):
        scope = aliases.get(name, name)
        root = scope.partition("::")[0]
        if root not in roots or (root in _COMMON and _is_another_library(unit, root)):
            continue
        is_extended = name in _LIBRARIES and _includes_library(unit, name)
        has_own = root in _COMMON and _opens(unit, root)
        for index in unit.tokens.names[name]:
            if _is_alias_declared(unit.tokens, index) or unit.next_is(index, "##"):
                continue  # what a macro puts together is no namespace
            if root in _COMMON and _is_opened(unit.tokens, index):
                continue
            use = _within(unit, index, scope) or _chain(unit, index, scope)
            if use is None or _is_the_same(use):
                continue
            if has_own and use.first == use.last:
                continue  # a member that the tables lack is the project's rather than libcu++'s
            if unit.is_cuda(index) or (is_extended and _is_of_library(unit, use)):
                yield use


def _within(unit: Named, index: int, scope: str) -> Use | None:
    """What `cuda::par` means after `using namespace thrust`."""
    if scope not in _COMMON or not any(_opens_library(tokens) for tokens in unit.program.all_tokens):
        return None
    use = _chain(unit, index, f"{_SCOPE_OF_BACKENDS}::{scope}")
    return use if use is not None and use.last > index else None


def _opens_library(tokens: Tokens) -> bool:
    return any(
        tokens.texts[index - 2 : index] == ["using", "namespace"] and tokens.texts[index + 1] == ";"
        for index in tokens.names.get(_SCOPE_OF_BACKENDS, ())
    )


_SCOPE_OF_BACKENDS = "thrust"
_LIBRARIES = frozenset({"thrust", "cub"})
"""Whose namespaces projects open to add to them: what the library has in there is still the library's."""


def _includes_library(unit: Named, folder: str) -> bool:
    """Whether headers of a library are included that the project does not have itself."""
    return any(name.startswith(folder + "/") and not unit.is_project_header(name) for name in _included(unit))


def _included(unit: Named) -> set[str]:
    """The names of all headers that the file and the project's headers include."""
    return {include.name for tokens in unit.program.all_tokens for include in tokens.includes}


def _is_of_library(unit: Named, use: Use) -> bool:
    """Whether a name below `thrust` or `cub` is the library's, though the project has such a namespace or wraps it."""
    if use.last > use.first and unit.is_free_of_amd(use.first):
        return True
    is_member = use.row is not None and use.row.kind != "namespace"
    return is_member and is_wrapped(unit, use.first) and not _opens(unit, "cuda")


def is_wrapped(unit: Named, index: int) -> bool:
    """Whether `mine::` stands before `thrust::`, as where THRUST_CUB_WRAPPED_NAMESPACE, of a build, puts it there."""
    tokens = unit.tokens
    is_qualified = index > 1 and tokens.texts[index - 1 : index + 2] == ["::", _SCOPE_OF_BACKENDS, "::"]
    return is_qualified and tokens.kinds[index - 2] == IDENTIFIER and unit.is_for_cuda(index)


def _is_the_same(use: Use) -> bool:
    """Whether HIP has it by the same name: whose it is need not be asked."""
    row = use.row
    return use.support is None and row is not None and row.hip == use.name and not row.signature


def _is_alias_declared(tokens: Tokens, index: int) -> bool:
    """Whether a name is the new one in `namespace NAME = ...;`, which files that include this one use."""
    return tokens.texts[index - 1 : index + 2 : 2] == ["namespace", "="]


def _used(unit: Named, aliases: Mapping[str, str]) -> Iterator[Use]:
    """Names that `using namespace` brings in, where more has to be said than that the namespace is renamed."""
    for scope in _opened_namespaces(unit, aliases):
        supplied = {name.rpartition("::")[2] for name in unit.support.names if name.startswith(scope + "::")}
        for name in unit.tokens.names.keys() & (unit.names.members(scope) | supplied):
            if name in unit.names:  # CUDA has it in no namespace too
                continue
            for index in unit.occurrences(name):
                if not unit.next_in(index, _AFTER_MEMBER):
                    continue
                use = _chain(unit, index, f"{scope}::{name}")
                if use is not None and (use.support is not None or use.row is None or not _same_member(use)):
                    yield use


_AFTER_MEMBER = frozenset({"(", "<", "::", "{"})


def _same_member(use: Use) -> bool:
    """Whether the name needs nothing once its namespace is renamed."""
    row = use.row
    return row is not None and row.hip is not None and not row.signature


def opened_namespaces(tokens: Tokens, aliases: Mapping[str, str]) -> Iterator[str]:
    """The namespaces that a file opens with `using namespace`, in order, an alias written out."""
    texts = tokens.texts
    for index in tokens.names.get("namespace", ()):
        if index == 0 or texts[index - 1] != "using":
            continue
        end = index + 1
        while texts[end] == "::" or tokens.kinds[end] == IDENTIFIER:
            end += 1
        yield without_alias("".join(texts[index + 1 : end]), aliases)


def without_alias(scope: str, aliases: Mapping[str, str]) -> str:
    """A scope without its leading colons, an alias written out."""
    head, separator, rest = scope.removeprefix("::").partition("::")
    return aliases.get(head, head) + separator + rest


def _opened_namespaces(unit: Named, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """Those of CUDA's that this file opens, in order."""
    opened = opened_namespaces(unit.tokens, aliases)
    return tuple(dict.fromkeys(scope for scope in opened if scope.partition("::")[0] in unit.names.namespaces))


def _chain(unit: Named, index: int, scope: str) -> Use | None:
    """The longest table row that `scope::a::b` starting at a token matches."""
    texts, kinds = unit.tokens.texts, unit.tokens.kinds
    best: Use | None = None
    qualified, last = scope, index
    while True:
        row, support = unit.names.get(qualified), unit.support.get(qualified)
        if row is not None or support is not None:
            best = Use(index, last, qualified, row, support)
        if texts[last + 1] != "::" or kinds[last + 2] != IDENTIFIER:
            return best
        last += 2
        qualified = f"{qualified}::{texts[last]}"


def replacement(tokens: Tokens, use: Use, new: str) -> tuple[Edit, ...]:
    """Edits that write `new` over a use; of as many components, only those that differ are touched."""
    parts = new.split("::")
    old = [index for index in range(use.first, use.last + 1) if tokens.kinds[index] == IDENTIFIER]
    if len(parts) == len(old):
        return tuple(
            Edit(tokens.starts[index], tokens.end(index), part)
            for index, part in zip(old, parts, strict=True)
            if tokens.texts[index] != part
        )
    return (Edit(tokens.starts[use.first], tokens.end(use.last), new),)


def unknown_names(unit: Named) -> Iterator[int]:
    """Tokens that look like CUDA's names, and that neither the tables nor the project declare."""
    names = unit.tokens.names
    for name in _CUDA_LIKE_LINE.findall("\n".join(names)):
        if name in unit.names or name in unit.support.names:
            continue
        if _WRAPPER.search(name) or name in unit.declared or unit.program.declares(name):
            continue
        if _is_made_by_macro(unit, name):
            continue
        yield from (index for index in names[name] if unit.is_cuda(index) and not _stands_for_more(unit, index))


def _is_made_by_macro(unit: Named, name: str) -> bool:
    """Whether a macro of the project's puts such a name together: `int64_t ncclParam##name() {`."""
    return any(
        _makes_names(tokens, index)
        for tokens in unit.program.all_tokens
        for length in range(_SHORTEST_BEGINNING, len(name))
        for index in tokens.names.get(name[:length], ())
    )


def _makes_names(tokens: Tokens, index: int) -> bool:
    """Whether a macro declares names of its own that begin with a token."""
    texts = tokens.texts
    is_typed = tokens.kinds[index - 1] == IDENTIFIER and texts[index - 1] != "return"
    return texts[index + 1] == "##" and is_typed and texts[index + 3] in _AFTER_PASTED


_SHORTEST_BEGINNING = 6
_AFTER_PASTED = frozenset({"(", "=", ";", "{", "["})


_WRAPPER = re.compile(
    r"(?:Safe_?Call|Err(?:or)?_?Ch(?:ec)?k|Check(?:Error|Call|Last\w*)?|Assert|Verify|Try|Throw|Raii|Wrap(?:per)?)$",
    re.I,
)
"""How projects call what they put around CUDA's functions; no name of CUDA's ends so."""


def _stands_for_more(unit: Named, index: int) -> bool:
    return _is_a_projects_macro(unit, index) or _is_pasted(unit, index) or _is_parameter(unit, index)


def _is_parameter(unit: Named, index: int) -> bool:
    """Whether a name in a macro's text is one of the macro's parameters."""
    tokens = unit.tokens
    directive = tokens.directive_of(index)
    if directive is None or directive.name != "define":
        return False
    opening = directive.first + 1
    if tokens.texts[opening] != "(" or tokens.starts[opening] != tokens.end(directive.first):
        return False
    return tokens.texts[index] in tokens.texts[opening : tokens.partner.get(opening, opening)]


def _is_a_projects_macro(unit: Named, index: int) -> bool:
    """Whether a name in capitals is asked for by `#if`, or called: CUDA's own are constants and structs.

    All that begin with `CUDA_` are in the tables; what is not is a macro of some header that is not in sight.
    """
    name = unit.tokens.texts[index]
    if not name.isupper():
        return False
    if name.startswith("CUDA_"):
        return True
    directive = unit.tokens.directive_of(index)
    return (directive is not None and directive.name != "define") or unit.next_is(index, "(")


def _is_pasted(unit: Named, index: int) -> bool:
    """Whether it is the beginning of what a macro makes, `cudaMem##name`, or a beginning of CUDA's names is handed to a
    macro alone: `REGISTER(cudaMem, Advise)` puts it together."""
    texts, partner = unit.tokens.texts, unit.tokens.partner
    if texts[index + 1] == "##":
        return _makes_names(unit.tokens, index)
    if texts[index - 1] not in ("(", ",") or texts[index + 1] not in (",", ")"):
        return False
    opening = index - 1
    while opening > 0 and texts[opening] != "(":
        opening = partner.get(opening, opening) - 1 if texts[opening] in (")", "]", "}") else opening - 1
    if opening <= 0 or not texts[opening - 1].isupper():
        return False
    return _PASTES.search(texts[opening - 1]) is not None or unit.names.begins(texts[index])


_PASTES = re.compile(r"(?:^|_)(?:IDENTIFIER|CONCAT\w*|PASTE\w*|JOIN\w*|MANGLED?|VERSIONED)(?:_|$)")
"""How macros are called that make another name of the one they are handed: `NVTX_VERSIONED_IDENTIFIER(nvtxGlobals)`."""


def unknown_members(unit: Named) -> Iterator[int]:
    """Tokens that name a member of one of CUDA's namespaces, where neither the tables nor the project have such."""
    aliases = namespace_aliases(unit.tokens)
    roots = unit.names.namespaces - {name.partition("::")[0] for name, _ in unit.settings.custom_names}
    for name in unit.tokens.names.keys() & (roots | aliases.keys()):
        scope = aliases.get(name, name)
        root = scope.partition("::")[0]
        if root not in roots or (root in _COMMON and (not _includes_folder(unit, root) or _opens(unit, root))):
            continue
        for index in unit.tokens.names[name]:
            member = _unknown_member(unit, index, scope)
            if member is not None and _stands_for_something(unit, member):
                continue
            if member is not None and unit.is_cuda(index) and not _declared_in_project(unit, member):
                yield member


_COMMON = frozenset({"cuda"})
"""Namespaces that many projects have themselves: CUDA's is meant where a header of its folder is included."""


def _includes_folder(unit: Named, folder: str) -> bool:
    """Whether one of libcu++'s headers is included, whose names have no ending: `<cuda/atomic>`, `<cuda/std/tuple>`."""
    return any(_is_standard(include.name, folder) for include in unit.tokens.includes)


def _is_standard(header: str, folder: str) -> bool:
    return header.startswith(folder + "/") and "." not in header


def _is_opened(tokens: Tokens, index: int) -> bool:
    """`namespace cuda {`, `namespace mine::cuda {`: a namespace of the project's own."""
    if tokens.texts[index + 1] != "{":
        return False
    while tokens.texts[index - 1] == "::":
        index -= 2
    return tokens.texts[index - 1] == "namespace"


def _opens(unit: Named, name: str) -> bool:
    """Whether the project has a namespace of that name of its own."""
    return any(_is_opened(tokens, i) for tokens in unit.program.all_tokens for i in tokens.names.get(name, ()))


def _is_another_library(unit: Named, folder: str) -> bool:
    """Whether a namespace is the project's own, or another library's: `<cuda/api.hpp>` is included, and no libcu++."""
    names = _included(unit)
    if any(_is_standard(name, folder) for name in names):
        return False
    if _opens(unit, folder):
        return True
    return any(
        name.startswith(folder + "/") and name.endswith(".hpp") and not unit.is_project_header(name) for name in names
    )


def _unknown_member(unit: Named, index: int, scope: str) -> int | None:
    """The first component of `scope::a::b` starting at a token that is below a namespace and that no table has."""
    texts, kinds = unit.tokens.texts, unit.tokens.kinds
    qualified, last = scope, index
    while texts[last + 1] == "::" and kinds[last + 2] == IDENTIFIER:
        last += 2
        qualified = f"{qualified}::{texts[last]}"
        row = unit.names.get(qualified)
        if unit.support.get(qualified) is not None or (row is not None and row.kind != "namespace"):
            return None
        if row is None and not unit.names.members(qualified):
            return None if qualified in unit.names.counterparts else last
    return None


def _stands_for_something(unit: Named, index: int) -> bool:
    """Whether a name is a macro's parameter, or a macro by its capitals: no member of a namespace of CUDA's."""
    tokens, name = unit.tokens, unit.tokens.texts[index]
    if name.isupper() and "_" in name:
        return True
    directive = tokens.directive_of(index)
    if (
        directive is None
        or directive.name != "define"
        or tokens.texts[directive.first + 1 : directive.first + 2] != ["("]
    ):
        return False
    closing = tokens.partner.get(directive.first + 1, directive.first)
    return name in tokens.texts[directive.first + 2 : closing]


def _declared_in_project(unit: Named, index: int) -> bool:
    name = unit.tokens.texts[index]
    return any(map(unit.declares, unit.tokens.names[name])) or unit.program.declares(name)
