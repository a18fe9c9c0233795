"""A quick look at the raw bytes of a file: what it includes, and which names it seems to declare."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from porter.cpp.absent import AbsentBranches
from porter.cpp.compiled import readers
from porter.cpp.editors import NAMES, editor_spans, is_for_editor

# Every repetition that could start again at each line is bounded: no input makes this quadratic.
_KEYWORD = (
    rb"(?:return|else|do|case|goto|throw|delete|new|using|co_return|co_yield|define|public|private|operator|typedef)\b"
)
_LINE = re.compile(
    rb"""\n[ \t]*(?:
      \#[ \t]*(?:define[ \t]+(\w+) | (?:include|include_next|import)[ \t]*[<"]([^>"\n]+)[>"])
    | (?:typedef[ \t][^;{\n]{0,300}?[ \t*&](\w+)[ \t]*(?:\[[^\]\n]*\])?;)
    | (?:typedef[ \t][\w \t*&:<>,]{1,200}\((?:[A-Z_]+[ \t]*)?\*[ \t]*(\w+)[ \t]*\)[ \t]*\()
    | (?:using[ \t]+(\w+)[ \t]*=)
    | (?:(?:typedef[ \t]+)?(?:struct|class|union|enum(?:[ \t]+class|[ \t]+struct)?)[ \t]+
        (?:__\w+__\b[ \t]*(?:\([^)\n]*\)+)?[ \t]*|alignas\([^)\n]*\)[ \t]*)*(\w+)[ \t]*(?:final[ \t]*)?[:{\n\r])
    | \}[ \t]*(\w+)[ \t]*[;,]
    | (?:extern[ \t]*"C"[ \t]*)?(?:template[ \t]*<[^;{}\n]{0,300}>[ \t]*)?
        (?:(?!KEYWORD)[A-Za-z_>][\w:<>,]*[ \t*&]+){0,11}
        (?!KEYWORD)[A-Za-z_>][\w:<>,]*(?<!,)[ \t*&]+(\w+)[ \t]*[=;,(\[{]
    | (\w+)[ \t]*\((?![^;{}]{0,2000}?\n[ \t]*\#[ \t]*(?:include|define)\b)[^;{}]{0,2000}\)\s*\{
    )""".replace(b"KEYWORD", _KEYWORD),
    re.VERBOSE,
)
_OPAQUE = re.compile(rb"\bCU\w+_st\b")
"""CUDA's own structs behind its handles: who declares a handle by them declares CUDA's."""
_RUNTIME_NAME = re.compile(
    rb"(?:cuda|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl)[A-Z]\w*|cu[A-Z][a-z]\w*|CU[a-z]\w+"
)
_OF_LIBRARY = re.compile(rb"%b|CU_[A-Z]\w*|CUDA_(?:SUCCESS|ERROR_\w+)" % _RUNTIME_NAME.pattern)
"""Enumerators of the driver's besides: who loads it by name declares those that it needs."""
_BRACES = re.compile(rb'extern\s{0,80}"C(?:\+\+)?"\s{0,80}\{|[{}]')
_ENUM = re.compile(rb"\benum\b[^;{}()]{0,200}\{([^{}]*)\}")
_ENUMERATOR = re.compile(rb"(?:^|,)\s*(\w+)")
_COMMENT = re.compile(rb"/\*(?s:.)*?(?:\*/|\Z)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DEFINE_GROUP, _INCLUDE_GROUP = 1, 2
ATTRIBUTES = frozenset({"__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__align__"})
"""What stands like a function's name after a type, `void __launch_bounds__(128) k()`, and declares nothing."""
_FORWARD = re.compile(rb"[ \t]*(?:struct|class|union|enum)[ \t]+\w+[ \t]*;")
"""`struct __half;` declares nothing of the project's: who only announces a type that CUDA has means CUDA's."""


_HIPS = re.compile(
    rb"""(?:\([^()\n]{0,300}\))?(?:[ \t(]|\\\r?\n)*
    (?:hip[A-Za-z] | HIP_?[A-Z] | roc(?:blas|sparse|solver|fft|rand)_ | roctx)\w+""",
    re.VERBOSE,
)
"""What follows the name in `#define cudaMalloc hipMalloc` and `#define cudaStreamPerThread ((hipStream_t)2)`."""

_IS_WORD = re.compile(rb"[\w$\x80-\xff]")
_WORDS = bytes(code if _IS_WORD.match(bytes([code])) else ord(" ") for code in range(256))
_INCLUDE = re.compile(rb"""\#[ \t]*(?:include|include_next|import)[ \t]*[<"]([^>"\n]+)[>"]""")


def words_of(data: bytes) -> frozenset[bytes]:
    """Every identifier, keyword and number of a file, those in comments and strings among them: a very quick look."""
    return words_in_python(data) if readers is None else readers.words(data)


def words_in_python(data: bytes) -> frozenset[bytes]:
    """`words_of`, where nothing is compiled."""
    return frozenset(data.translate(_WORDS).split())


def include_names(data: bytes) -> list[str]:
    """The names in #include lines, wherever they stand."""
    return [name.decode("latin-1") for name in _INCLUDE.findall(data)]


class Scan(NamedTuple):
    """What the quick look found; names are only those that the caller asked about."""

    includes: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    vendor: tuple[str, ...] = ()
    """What the file says of whose compiler it is for (porter.engine.dialect)."""
    hidden: tuple[str, ...] = ()
    """Names that it declares where no other file sees them: in functions, or as macros that it undefines again."""
    amds: tuple[str, ...] = ()
    """Of the declared names those that it declares for AMD's compiler alone: in its branches, or by HIP's names."""


NOTHING = Scan()


class Wanted(NamedTuple):
    """Which words of a file can be interesting names, told without asking for each."""

    any_of: Callable[[frozenset[bytes]], bool]
    """Whether one of all words of a file may be interesting: where none is, only includes are looked for."""
    known: frozenset[bytes]
    begins: tuple[bytes, ...]
    """Whatever is interesting is known, or begins so."""


Standing = Literal["replaced", "missing", "unknown"]
"""What HIP has for a name of CUDA's, or that no table has it."""


def scan(
    data: bytes,
    is_interesting: Callable[[str], bool],
    wanted: Wanted | None = None,
    is_amds: Callable[[int], bool] = lambda offset: False,
    standing: Callable[[str], Standing] = lambda name: "replaced",
) -> Scan:
    """Includes and declared names of one file, whatever its bytes are.

    Lines that begin like a declaration at any depth count, so that members and shims are found; text in comments does
    not, and neither does code for an editor alone. Without `wanted` each line is looked at. `is_amds` says of an offset
    whether AMD's compiler alone sees it. `standing` tells of names that are built like those of CUDA's libraries: who
    defines one that HIP has nothing for means the own one.
    """
    words = words_of(data)
    if wanted is not None and not wanted.any_of(words):
        return Scan(tuple(dict.fromkeys(include_names(data))))
    text = b"\n" + data.removeprefix(_BYTE_ORDER_MARK)
    shift = len(data) - len(text)
    for_editor = () if words.isdisjoint(NAMES) else editor_spans(text)
    includes: dict[str, None] = {}
    declared: set[str] = set()
    hidden: set[str] = set()
    others: set[str] = set()
    comments: list[int] | None = None
    depths = _Depths(text)
    absent = AbsentBranches(text)
    own = _OwnNames(text, standing, absent)
    always = 0
    for match in _LINE.finditer(text) if wanted is None or readers is None else _lines(text, wanted):
        group = match.lastindex or 0
        name = match[group].decode("latin-1")
        if group == _INCLUDE_GROUP:
            includes[name] = None
        elif name not in others and is_interesting(name) and _declares(text, match, name, depths, own):
            comments = _comment_edges(text) if comments is None else comments
            place = match.start(group)
            if bisect.bisect_right(comments, place) % 2 == 0 and not is_for_editor(for_editor, place):
                ends = depths.in_code(match.start()) or (group == _DEFINE_GROUP and _is_undone(text, match))
                (hidden if ends else declared).add(name)
                means_hip = _means_hip(text, match)
                if not ends and not is_amds(place + shift) and not means_hip:
                    others.add(name)
                always += means_hip and absent.always(place)
    if b"enum" in text:
        enumerators = {name for name in _enumerators(text, depths, own) if is_interesting(name)}
        declared |= enumerators
        others |= enumerators
    if always >= _MOST_BY_CHANCE:
        others = set()  # who says of CUDA's names, without a condition, what HIP has for them is read by HIP's compiler
    apart = (tuple(sorted(hidden - declared)), tuple(sorted(declared - others)))
    return Scan(tuple(includes), tuple(sorted(declared)), (), *apart)


_MOST_BY_CHANCE = 3
_ENDS = frozenset(b";{}")


def _lines(text: bytes, wanted: Wanted) -> Iterator[re.Match[bytes]]:
    """Of what `_LINE` finds all that has an interesting name, and directives; some others, too.

    A match may reach over lines, which are no matches of their own then. It reaches over the end of none that ends in
    one of `_ENDS`: behind such a line it begins as if all before had been looked at.
    """
    assert readers is not None
    done = 0
    for line in readers.lines(text, wanted.known, wanted.begins):
        place = line
        while place > done and text[place - 1 - (text[place - 1] == _RETURN)] not in _ENDS:
            place = text.rfind(b"\n", done, place)
        while done <= place <= line:
            match = _LINE.match(text, place)
            if match is not None:
                yield match
            place = text.find(b"\n", place + 1 if match is None else match.end())
            done = len(text) if place < 0 else place


_RETURN = ord("\r")


def _is_undone(text: bytes, macro: re.Match[bytes]) -> bool:
    """Whether a macro is undefined again further on."""
    return (
        re.search(rb"\n[ \t]*\#[ \t]*undef[ \t]+%b\b" % re.escape(macro[_DEFINE_GROUP]), text[macro.end() :])
        is not None
    )


def _means_hip(text: bytes, match: re.Match[bytes]) -> bool:
    """Whether a macro stands for a name of HIP's, whatever branch it is in: no compiler of NVIDIA's has one."""
    return match.lastindex == _DEFINE_GROUP and _HIPS.match(text, match.end(_DEFINE_GROUP)) is not None


class _Depths:
    """How deep in braces a place is; those of `extern "C"` do not count. Read once, when it is first asked."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._balanced = True

    @cached_property
    def _edges(self) -> tuple[list[int], list[int], list[int]]:
        places, depths, functions, depth, inside = [0], [0], [0], 0, 0
        opened: list[tuple[bool, bool]] = []
        for match in _BRACES.finditer(self._text):
            if match[0] != b"}":
                counts = match[0] == b"{"
                opened.append((counts, counts and self._opens_code(places[-1], match.start())))
                depth += opened[-1][0]
                inside += opened[-1][1]
            elif opened:
                counts, code = opened.pop()
                depth -= counts
                inside -= code
            else:
                self._balanced = False
            places.append(match.end())
            depths.append(depth)
            functions.append(inside)
        self._balanced &= not opened
        return places, depths, functions

    def namespaces(self, place: int) -> int:
        """How many of the braces around a place are those of namespaces."""
        places, counts = self._namespaces
        return counts[bisect.bisect_right(places, place) - 1]

    @cached_property
    def _namespaces(self) -> tuple[list[int], list[int]]:
        """Where braces end, and how many of namespaces are open behind each."""
        places, counts = [0], [0]
        opened: list[bool] = []
        for match in _BRACES.finditer(self._text):
            if match[0] == b"}":
                closed = opened.pop() if opened else False
                counts.append(counts[-1] - closed)
            else:
                before = self._text[max(0, match.start() - _LONGEST_HEAD) : match.start()]
                opened.append(match[0] == b"{" and _NAMESPACE.search(before) is not None)
                counts.append(counts[-1] + opened[-1])
            places.append(match.end())
        return places, counts

    def _opens_code(self, begin: int, brace: int) -> bool:
        """Whether a brace opens the body of a function, by what stands before it."""
        before = self._text[max(begin, brace - _LONGEST_HEAD) : brace]
        before = (_COMMENTS.sub(b"", before) if b"/" in before else before).rstrip()
        return (before.endswith(b")") and _ALIGNED.search(before) is None) or _AFTER_HEAD.search(before) is not None

    def at(self, place: int) -> int:
        places, depths, _ = self._edges
        return depths[bisect.bisect_right(places, place) - 1]

    def in_code(self, place: int) -> bool:
        """Whether a place is in the body of a function; where braces do not pair, nothing is said to be."""
        places, _, functions = self._edges
        return self._balanced and functions[bisect.bisect_right(places, place) - 1] > 0


_COMMENTS = re.compile(rb"//[^\n]*|/\*(?s:.)*?\*/")
_LONGEST_HEAD = 400
_ALIGNED = re.compile(rb"(?:alignas|__align__|__attribute__|__declspec|__builtin_align__)\s*\([^{};]*\)$")
_NAMESPACE = re.compile(rb"\bnamespace\s*(?:\w[\w:]{0,200})?\s*$")
_AFTER_HEAD = re.compile(rb"\)\s*(?:const|noexcept|override|final|mutable|volatile|try)$")


class _OwnNames:
    """Which names built like those of CUDA's libraries a file defines for itself, as NCCL does its own.

    Nothing is renamed then, so that every use finds what the project has. A prototype is not enough where the name is
    the library's, nor is what stands where the library is absent.
    """

    def __init__(self, text: bytes, standing: Callable[[str], Standing], absent: AbsentBranches) -> None:
        self._text = text
        self._standing = standing
        self.absent = absent

    def has(self, name: str, match: re.Match[bytes]) -> bool:
        """Whether what looks like a declaration defines a name that is not renamed."""
        standing = self._standing(name)
        if standing == "missing":
            return self._has_body(match) and not self.absent.holds(match.start(match.lastindex or 0))
        return standing == "unknown"

    def has_enumerator(self, name: str, place: int) -> bool:
        """The same of an enumerator."""
        standing = self._standing(name)
        return standing == "unknown" or (standing == "missing" and not self.absent.holds(place))

    def _has_body(self, match: re.Match[bytes]) -> bool:
        """Whether it is no mere prototype."""
        behind = _PARAMETERS.match(self._text, match.end(match.lastindex or 0))
        return behind is None or behind[1] == b"{"


_PARAMETERS = re.compile(rb"\s*\([^;{}]{0,2000}\)\s*(?:const\b\s*)?(?:noexcept\b\s*)?([{;:,=])")


_POINTED = re.compile(
    rb"[ \t]*\([ \t]*(?:[\w:]{1,80}[ \t]+){0,3}[\w:]{0,80}\*[*\s\w]{0,80}(?:\[[^\]\n]{0,80}\])?\)[ \t]*\("
)
"""Behind the type that functions return which a pointer is declared for: `extern T (CALL *p)(int);`."""


def _declares(text: bytes, match: re.Match[bytes], name: str, depths: _Depths, own: _OwnNames) -> bool:
    """Whether what looks like a declaration says that the project has such a thing itself."""
    if name in ATTRIBUTES and match.lastindex != _DEFINE_GROUP:
        return False
    if _POINTED.match(text, match.end(match.lastindex or 0)) is not None:
        return False
    if _is_handle(text, match) or _FORWARD.match(text, match.start() + 1) is not None:
        return False
    return not _is_cudas(text, match, depths, own.absent) or own.has(name, match)


def is_runtime_name(name: str) -> bool:
    """Whether a name is built like those of CUDA's host libraries, which nobody gives something else."""
    return _RUNTIME_NAME.fullmatch(name.encode("utf-8", "replace")) is not None


def _is_handle(text: bytes, match: re.Match[bytes]) -> bool:
    """Whether a type is declared as CUDA does it: `using cudaStream_t = CUstream_st *;`"""
    end = text.find(b"\n", match.end())
    return _OPAQUE.search(text, match.start(), end if end >= 0 else len(text)) is not None


def _is_cudas(text: bytes, match: re.Match[bytes], depths: _Depths, absent: AbsentBranches) -> bool:
    """Whether it is a stand-in for builds without CUDA.

    Stand-ins have CUDA's name in no namespace, like CUDA's own, or in one where CUDA is absent: the declaration and all
    uses are renamed together, so that both builds stay as they are. Macros that say what HIP has for a name are a port
    of the project's own.
    """
    if _RUNTIME_NAME.fullmatch(match[match.lastindex or 0]) is None:
        return False
    if match[1]:
        end = text.find(b"\n", match.end())
        return b"hip" not in text[match.end() : end if end >= 0 else len(text)].lower()
    if match[0].lstrip().startswith(b"}"):
        return False
    return _is_as_cudas(match.start(), depths, absent)


def _is_as_cudas(place: int, depths: _Depths, absent: AbsentBranches) -> bool:
    """Whether what is declared at a place is in no namespace, or in one in a build without CUDA."""
    depth = depths.at(place)
    return not depth or (absent.lacks_cuda(place) and depth == depths.namespaces(place))


def _comment_edges(text: bytes) -> list[int]:
    """Begin and end of each block comment, flat and in order."""
    return [edge for match in _COMMENT.finditer(text) for edge in match.span()]


def _enumerators(text: bytes, depths: _Depths, own: _OwnNames) -> Iterator[str]:
    """Those of CUDA's host libraries that could stand beside CUDA's own are stand-ins like other declarations."""
    for match in _ENUM.finditer(text):
        for name in _ENUMERATOR.findall(match[1]):
            text_of = name.decode("latin-1")
            plain = _OF_LIBRARY.fullmatch(name) is None or not _is_as_cudas(match.start(), depths, own.absent)
            if plain or own.has_enumerator(text_of, match.start()):
                yield text_of


_KERNEL_MACRO = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\\r?\n|\\.)*__global__", re.MULTILINE)


_HEAD_MACRO = re.compile(
    rb"""^[ \t]*\#[ \t]*define[ \t]+(\w+)(?:[^\n\\{]|\\\r?\n|\\[^\r\n])*?__(global|device)__
    (?:[^\n\\{]|\\\r?\n|\\[^\r\n])*$""",
    re.MULTILINE | re.VERBOSE,
)


def head_macros(data: bytes) -> frozenset[str]:
    """Macros of a file that stand for `__global__` or `__device__` and what else begins a function, but for no body."""
    if b"__global__" not in data and b"__device__" not in data:
        return frozenset()
    return frozenset(name.decode("latin-1") for name, _ in _HEAD_MACRO.findall(data))


def kernel_heads(data: bytes) -> frozenset[str]:
    """Those of them that begin kernels."""
    if b"__global__" not in data:
        return frozenset()
    return frozenset(name.decode("latin-1") for name, side in _HEAD_MACRO.findall(data) if side == b"global")


_TYPE_ALIAS = re.compile(rb"\busing[ \t]+(\w+)[ \t]*=[ \t]*(?:::)?(\w+)[ \t]*;|\btypedef[ \t]+(\w+)[ \t]+(\w+)[ \t]*;")


def type_aliases(data: bytes, names: frozenset[str]) -> frozenset[str]:
    """What a file calls one of some types: `using bf16 = __nv_bfloat16;`, `typedef __half fp16;`."""
    if not any(name.encode("latin-1") in data for name in names):
        return frozenset()
    pairs = ((one[1], one[2]) if one[1] else (one[4], one[3]) for one in _TYPE_ALIAS.finditer(data))
    return frozenset(new.decode("latin-1") for new, old in pairs if old.decode("latin-1") in names)


_SHORT_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n\\{;=]{1,200})$", re.MULTILINE)


def aliases_of(data: bytes, names: frozenset[str]) -> frozenset[str]:
    """Macros of a file of whose words one is a name: `#define HD __host__ DEV`."""
    if not any(name.encode("latin-1") in data for name in names):
        return frozenset()
    found = (match for match in _SHORT_MACRO.finditer(data))
    return frozenset(
        one[1].decode("latin-1") for one in found if not names.isdisjoint(one[2].decode("latin-1").split())
    )


def defines_kernel_macro(data: bytes) -> bool:
    """Whether a file defines a macro that makes kernels."""
    return b"__global__" in data and _KERNEL_MACRO.search(data) is not None
