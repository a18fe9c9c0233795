"""Whose meaning a line has: CUDA's with 32 lanes, HIP's with 64, or both; and whether a port compiles it at all."""

from __future__ import annotations

import bisect
import enum
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from porter.cpp.conditionals import CONTINUES, OPENS, Group, find_groups, knows_hip
from porter.cpp.constants import number as integer
from porter.cpp.lex import IDENTIFIER, Directive, Tokens, lex
from porter.cpp.preprocessor import (
    ABSENT,
    HAS_INCLUDE,
    PRESENT,
    UNKNOWN,
    Macro,
    asked_header,
    condition_holds,
    header_of,
    holds,
)
from porter.model import Span


class Dialect(str, enum.Enum):
    """Whose code something is."""

    CUDA = "cuda"
    HIP = "hip"
    BOTH = "both"
    """Compiled for both vendors, or nothing tells: it is ported as CUDA's."""
    NVIDIA = "nvidia"
    """A header to which only branches lead that no port compiles: it stays as it is."""


class Meaning(NamedTuple):
    """What is known of a place."""

    dialect: Dialect
    lanes: frozenset[int]
    """Lanes per wavefront of the GPUs that the place is compiled for, where it is HIP's: 64, 32 or both."""
    compiled: bool
    """Whether a port to gfx942 compiles it."""
    in_device_pass: bool
    """Whether it does so for the device."""
    condition: str
    """The `#if` that decides, as written; empty: the file as a whole."""


class World(NamedTuple):
    """One compiler that may see the file, in one of its passes."""

    vendor: str
    device: bool
    lanes: int = 0
    gfx: str = ""
    arch: int = 0
    """What `__CUDA_ARCH__` comes to."""


_PLAIN = "c++"
_WORLDS = (
    World("nvidia", False),
    World("nvidia", True),
    World("none", False),
    World("amd", False, 64),
    World("amd", True, 64, "942"),
    World("amd", True, 64, "9"),
    World("amd", True, 32, "1"),
    World("port", False, 64, _PLAIN),
    World("port", False, 64),
    World("port", True, 64, "942", 700),
    World("port", True, 64, "942", 800),
)
"""The port is seen as porter makes it: `__CUDACC__` is `__HIPCC__`, and `__CUDA_ARCH__` 700 or, where needed, 800; its
plain C++ files have a compiler that knows nothing of HIP, and the build's macros."""
_ALL = (1 << len(_WORLDS)) - 1


def _worlds(*vendors: str) -> int:
    return sum(1 << number for number, world in enumerate(_WORLDS) if world.vendor in vendors)


_NVIDIA, _AMD, _PORT, _NONE = _worlds("nvidia"), _worlds("amd"), _worlds("port"), _worlds("none")
_HOST = sum(1 << n for n, world in enumerate(_WORLDS) if not world.device)
_PORT_DEVICE = sum(1 << n for n, world in enumerate(_WORLDS) if world.vendor == "port" and world.device)

_AMD_BUILD = frozenset({"__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "USE_ROCM"})
_AMD_COMPILER = frozenset({"__HIPCC__", "__HIP__"})
_AMD_DEVICE = frozenset({"__HIP_DEVICE_COMPILE__", "__AMDGCN__", "__AMDGPU__", "__AMD__"})
_COMPILERS = _AMD_BUILD | _AMD_COMPILER | _AMD_DEVICE
_NVIDIA_ALWAYS = frozenset({"__CUDACC__", "__NVCC__", "__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__"})
_WAVEFRONT = frozenset({"__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"})
TOOLKIT: Mapping[str, Macro] = {
    **dict.fromkeys(("CUDA_VERSION", "CUDART_VERSION", "PORTER_CUDA_VERSION"), Macro(True, 12000)),
    **dict.fromkeys(("__CUDACC_VER_MAJOR__", "PORTER_CUDA_VERSION_MAJOR"), Macro(True, 12)),
    **dict.fromkeys(("__CUDACC_VER_MINOR__", "PORTER_CUDA_VERSION_MINOR"), Macro(True, 0)),
    **dict.fromkeys(("__CUDACC_VER_BUILD__", "PORTER_CUDA_VERSION_BUILD"), Macro(True, 0)),
}
"""The versions of CUDA that a port sees, as arch.hpp has them."""
_GFX = re.compile(r"__gfx([0-9a-f]+)__")
_FAMILY = re.compile(r"__GFX(\d+)__")
_AMD_CHOICE = re.compile(
    r"_*(?:[A-Z0-9]+_)*(?:USE|USES|USING|ENABLE|ENABLED|WITH|BUILD|IS|HAVE|HAS|PLATFORM|BACKEND|TARGET|FOR|ON)_*"
    r"(?:[A-Z0-9]+_)*?(?:HIP|HIPCC|ROCM|AMD|AMDGPU|AMDGCN)_*|_*(?:[A-Z0-9]+_)?(?:HIP|ROCM|AMDGPU)_*"
    r"|_*(?:[A-Z0-9]+_)*(?:HIP|ROCM)_(?:ENABLED?|BUILD|BACKEND|PLATFORM|SUPPORT|ON)_*",
)
"""A project's own switch for AMD builds, by its name."""
_AMD_KIND = re.compile(
    r"_*(?:\w*_)?(?:HIP|ROCM|ROCPRIM|AMDGPU|AMDGCN|HCC|MI\d{2,3}\w*|GFX\d+\w*|gfx\d+\w*|RDNA\w*|CDNA\w*)(?:_\w*)?"
)
"""A name that only says which AMD GPU or which ROCm: `HIP_VERSION`, `__HIP__MI300__`, `ROCPRIM_TARGET_RDNA3`."""
_OF_HIPS_HEADERS = frozenset({"HIP_DISABLE_WARP_SYNC_BUILTINS", "HIP_ENABLE_WARP_SYNC_BUILTINS"})
"""What HIP's own headers ask for, though one of the names says no."""
_WORD = re.compile(r"\w+")
_WAVE64 = re.compile(r"_*(?:\w+_)?(?:WAVE|WAVEFRONT|WARP)_?(?:SIZE_?)?64", re.IGNORECASE)
_NEGATED = re.compile(r"(?:^|_)(?:NO|NOT|DISABLE\w*|WITHOUT|SKIP|AVOID)(?:_|$)")
_GUARD = re.compile(r"(?:_H|_HPP|_HH|_HXX|_CUH|_INCLUDED|_GUARD)_*$", re.IGNORECASE)

_HIP_HEADERS = re.compile(
    r"(?:hip|hipcub|rocprim|rocthrust|rocwmma|rocblas|hipblas|hipblaslt|rocrand|hiprand|rocfft|hipfft|rocsparse|hipsparse"
    r"|rocsolver|hipsolver|miopen|rccl|roctracer|rocprofiler|ck|ck_tile)/.+|hip_runtime\.h|rocprim\.hpp|hipcub\.hpp"
)
_CUDA_HEADERS = re.compile(
    r"(?:cub|cuda/std|cooperative_groups)/.+|cuda\w*\.h|cu(?:blas|fft|rand|sparse|solver|dnn)\w*\.h"
)
_HIP_ONLY = re.compile(r"__builtin_amdgcn_\w+|__hip_atomic_\w+")
_HIP_ONLY_BEGINS = ("__builtin_amdgcn_", "__hip_atomic_")
_CALLS = r"(?:Malloc|Memcpy|Memset|Free|LaunchKernel|StreamCreate|EventCreate)\w*|Stream_t|Event_t|Error_t|DeviceProp_t"
_HIP_NAME = re.compile(rf"hip(?:{_CALLS}|Success|GetLastError|DeviceSynchronize|(?:Thread|Block)Idx_[xyz])")
_CUDA_NAME = re.compile(rf"cuda(?:{_CALLS}|Success|GetLastError|DeviceSynchronize)")
_HIPIFIED = re.compile(r"\s*//[^\n]*automatically generated by hipify")
"""What PyTorch's hipify writes at the top of what it made, and so do we."""
_HIP_SUFFIXES = (".hip", ".hip.h", ".hip.hpp", ".hip.cpp")
_CUDA_SUFFIXES = (".cu", ".cuh")


@dataclass(frozen=True)
class Dialects:
    """Whose code each place of one file is."""

    file: Dialect
    regions: tuple[tuple[int, int, str], ...]
    """Where each stretch begins, the worlds that may see it, and the condition that says so."""

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _, _ in self.regions]

    def at(self, offset: int) -> Meaning:
        """What is known of an offset."""
        place = bisect.bisect_right(self._starts, offset) - 1
        known = self._meanings.get(place)
        if known is None:
            known = self._meanings[place] = self._meaning(*self.regions[place][1:])
        return known

    @cached_property
    def _meanings(self) -> dict[int, Meaning]:
        return {}

    def _meaning(self, worlds: int, condition: str) -> Meaning:
        dialect = self._dialect(worlds)
        lanes = frozenset(w.lanes for n, w in enumerate(_WORLDS) if worlds >> n & 1 and w.vendor == "amd" and w.device)
        if dialect is Dialect.HIP and not lanes and worlds & _AMD:
            lanes = frozenset({64})
        decided = condition if dialect is not self.file or not worlds & _PORT_DEVICE else ""
        return Meaning(dialect, lanes, bool(worlds & _PORT), bool(worlds & _PORT_DEVICE), decided)

    def _dialect(self, worlds: int) -> Dialect:
        if worlds & _AMD and not worlds & (_NVIDIA | _NONE):
            return Dialect.HIP
        if worlds & (_NVIDIA | _NONE) and not worlds & _AMD:
            return Dialect.CUDA
        return self.file

    def is_hip(self, offset: int) -> bool:
        """Whether the line is AMD's own: in a file or a branch that only HIP's compiler sees."""
        return self.at(offset).dialect is Dialect.HIP

    def is_switched(self, offset: int) -> bool:
        """Whether a switch of the project's makes the line AMD's own (`GGML_USE_HIP`): a port need not set it."""
        meaning = self.at(offset)
        own = (word for word in _WORD.findall(meaning.condition) if word not in _COMPILERS and "VERSION" not in word)
        is_own = any(_AMD_CHOICE.fullmatch(word) or _AMD_KIND.fullmatch(word) for word in own)
        return is_own and not self.leaves_all and meaning.dialect is Dialect.HIP

    def is_for_64(self, offset: int) -> bool:
        """Whether the line is AMD's own and compiled for GPUs with 64 lanes."""
        meaning = self.at(offset)
        return meaning.dialect is Dialect.HIP and 64 in meaning.lanes

    def is_seen_by_64(self, offset: int) -> bool:
        """Whether a port compiles the line and AMD's compiler does for GPUs with 64 lanes, whose ever it is."""
        meaning = self.at(offset)
        return meaning.compiled and 64 in meaning.lanes

    def is_for_host(self, offset: int) -> bool:
        """Whether some compiler sees the line in its pass for the host."""
        _, worlds, _ = self.regions[bisect.bisect_right(self._starts, offset) - 1]
        return bool(worlds & _HOST)

    @property
    def leaves_all(self) -> bool:
        """Whether no line of the file is CUDA's to port: the branches for NVIDIA in a HIP file stay as well."""
        return self.file in (Dialect.HIP, Dialect.NVIDIA)

    @cached_property
    def has_hip(self) -> bool:
        """Whether some line is AMD's own."""
        return any(self._dialect(worlds) is Dialect.HIP for _, worlds, _ in self.regions)

    def hip_spans(self, length: int) -> Iterator[Span]:
        """The stretches that are AMD's own."""
        edges = [*self._starts[1:], length]
        for (start, worlds, _), end in zip(self.regions, edges, strict=True):
            if self._dialect(worlds) is Dialect.HIP:
                yield Span(start, end)


def read_dialects(path: str, tokens: Tokens, given: Dialect | None = None, defines: Iterable[str] = ()) -> Dialects:
    """Whose code each place of a file is; `given` is what the project says of the file as a whole."""
    regions = _regions(tokens, defines)
    if given is Dialect.NVIDIA:
        regions = tuple((start, worlds & ~_PORT, condition) for start, worlds, condition in regions)
    if given is not None:
        return Dialects(given, regions)
    return Dialects(own_dialect(path, evidence(path, tokens, regions)), regions)


HIP_EVIDENCE, CUDA_EVIDENCE, GUARDED, NVIDIAS, UNSEEN = "hip", "cuda", "amd-only ", "nvidia-only ", "never "
CUDA_NAMES = "cuda-names"
"""What `Scan.vendor` holds: the file would not compile for the other vendor; headers that only one's branches include;
headers that it only includes where no port compiles it; calls of CUDA's runtime in a file that does not mention HIP."""


def own_dialect(path: str, found: Iterable[str]) -> Dialect:
    """What a file says of itself: its name first, then what it includes and uses where both vendors would see it."""
    kinds = frozenset(found) & {HIP_EVIDENCE, CUDA_EVIDENCE}
    if path.lower().endswith(_HIP_SUFFIXES) or kinds == {HIP_EVIDENCE}:
        return Dialect.HIP
    if CUDA_EVIDENCE in kinds or path.lower().endswith(_CUDA_SUFFIXES):
        return Dialect.CUDA
    return Dialect.BOTH


def is_named_for_cuda(path: str) -> bool:
    """Whether nvcc compiles a file because of its name."""
    return path.lower().endswith(_CUDA_SUFFIXES)


_MENTIONS_HIP = re.compile(rb"hip(?<=\bhip)|HIP|ROC(?:(?<=\bROC)|(?<=_ROC))|roc[a-z]+/|ck(?<=\bck)(?:_tile)?/|amdgcn")
"""Licences speak of PROCUREMENT. Each choice begins with a letter of its own, which is six times as fast."""


class QuickLook:
    """Whose code a file is, before anything of the project is known; one that mentions HIP nowhere is not read."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data

    @cached_property
    def _tokens(self) -> Tokens | None:
        return lex(self._data.decode("latin-1")) if _MENTIONS_HIP.search(self._data) is not None else None

    @cached_property
    def _dialects(self) -> Dialects:
        return Dialects(Dialect.BOTH, _regions(self._tokens) if self._tokens is not None else _EVERYWHERE)

    def is_amds(self, offset: int) -> bool:
        """Whether a branch for AMD's compiler alone holds an offset."""
        return self._dialects.is_hip(offset)

    def evidence(self, includes: Iterable[str]) -> tuple[str, ...]:
        """`evidence` of the file."""
        if self._tokens is not None:
            return evidence(self._path, self._tokens, self._dialects.regions)
        if any(map(_CUDA_HEADERS.fullmatch, includes)):
            return (CUDA_EVIDENCE,)
        return (CUDA_NAMES,) if _calls_runtime(self._data) else ()


_RUNTIME_CALL = re.compile(rb"\bcuda[A-Z][a-z]\w*[ \t]*\(")
_MOST_COMMENTED = 50


def _calls_runtime(data: bytes) -> bool:
    """Whether a call of CUDA's runtime stands outside of comments, as far as its line tells."""
    for match in itertools.islice(_RUNTIME_CALL.finditer(data), _MOST_COMMENTED):
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()].lstrip()
        if b"//" not in before and b'"' not in before and not before.startswith((b"*", b"/*")):
            return True
    return False


_EVERYWHERE: tuple[tuple[int, int, str], ...] = ((0, _ALL, ""),)


def _regions(tokens: Tokens, defines: Iterable[str] = ()) -> tuple[tuple[int, int, str], ...]:
    return tuple(_Regions(tokens, defines).found()) if _asks(tokens) else _EVERYWHERE


def evidence(path: str, tokens: Tokens, regions: tuple[tuple[int, int, str], ...] | None = None) -> tuple[str, ...]:
    """What stands in a file where the other vendor's compiler would fail on it, and what AMD's branches include."""
    if path.lower().endswith(_HIP_SUFFIXES):
        return (HIP_EVIDENCE,)
    if regions is None:
        regions = _regions(tokens)
    if _HIPIFIED.match(tokens.text):
        return (HIP_EVIDENCE,)
    dialects = Dialects(Dialect.BOTH, regions)
    found: set[str] = set()
    seen = {include.name for include in tokens.includes if dialects.at(include.start).compiled}
    for include in tokens.includes:
        dialect = dialects.at(include.start).dialect
        if include.name not in seen:
            found.add(UNSEEN + include.name)
        if dialect is not Dialect.BOTH:
            found.add((GUARDED if dialect is Dialect.HIP else NVIDIAS) + include.name)
        elif dialect is Dialect.BOTH and _HIP_HEADERS.fullmatch(include.name):
            found.add(HIP_EVIDENCE)
        elif dialect is Dialect.BOTH and _CUDA_HEADERS.fullmatch(include.name):
            found.add(CUDA_EVIDENCE)
    if any(_uses(tokens, dialects, begin, _HIP_ONLY) for begin in _HIP_ONLY_BEGINS) or (
        _uses(tokens, dialects, "hip", _HIP_NAME) and not _uses(tokens, dialects, "cuda", _CUDA_NAME)
    ):
        found.add(HIP_EVIDENCE)
    return tuple(sorted(found))


def _uses(tokens: Tokens, dialects: Dialects, begin: str, names: re.Pattern[str]) -> bool:
    """Whether some of these names stand where both vendors' compilers would see them."""
    return begin in tokens.text and any(
        tokens.directive_of(place) is None and dialects.at(tokens.starts[place]).dialect is Dialect.BOTH
        for name, places in tokens.names.items()
        if name.startswith(begin) and names.fullmatch(name)
        for place in places
    )


_ASKS = re.compile(
    r"HIP|ROC|AMD|gfx|GFX|RDNA|CDNA|__CUDA_ARCH__|__HCC__|MI\d|PORTER_CUDA_|__CUDACC_|__NVCC__|__CUDA__|__has_include|WAVE"
    r"|CUDA(?:RT)?_VERSION|if\s+0\b"
)


def _asks(tokens: Tokens) -> bool:
    """Whether any condition of the file can say something about the vendor."""
    return any(
        directive.name in _CONDITIONS and _ASKS.search(tokens.text, directive.start, directive.end)
        for directive in tokens.directives
    )


_CONDITIONS = OPENS | CONTINUES


@dataclass
class _Frame:
    """An open conditional: the worlds that may come in, and those that may still come to the next branch."""

    outer: int
    outer_text: str
    left: int
    opening: Directive


class _Regions:
    """One walk over the directives of a file, in all worlds at once."""

    def __init__(self, tokens: Tokens, defines: Iterable[str]) -> None:
        self._tokens = tokens
        self._macros: dict[str, list[Macro | None]] = {}
        self._groups: Mapping[int, Group] = {
            directive.start: group for group in find_groups(tokens) for directive in group.directives
        }
        for define in defines:
            self._given(define)

    def _given(self, define: str) -> None:
        name, _, value = define.partition("=")
        meant = integer(value) if value else 1
        row = self._row(name)
        for place in range(len(_WORLDS)):
            if _PORT >> place & 1:
                row[place] = Macro(True, meant)

    def _row(self, name: str) -> list[Macro | None]:
        return self._macros.setdefault(name, [None] * len(_WORLDS))

    def found(self) -> Iterator[tuple[int, int, str]]:
        """Stretches with the worlds that may see them."""
        worlds, text = _ALL, ""
        frames: list[_Frame] = []
        yield 0, worlds, text
        directives = self._tokens.directives
        for number, directive in enumerate(directives):
            if directive.name in OPENS:
                follower = directives[number + 1] if number + 1 < len(directives) else None
                guard = self._is_guard(directive, follower)
                yes, maybe = (worlds, worlds) if guard else self._reached(directive, worlds)
                frames.append(_Frame(worlds, text, worlds & ~yes if not guard else worlds, directive))
                worlds, text = self._entered(frames[-1], maybe, directive)
            elif directive.name in CONTINUES and frames:
                frame = frames[-1]
                yield directive.start, frame.outer, frame.outer_text
                yes, maybe = self._reached(directive, frame.left)
                worlds, text = self._entered(frame, maybe & frame.left, directive)
                frame.left &= ~yes
            elif directive.name == "endif" and frames:
                frame = frames.pop()
                worlds, text = frame.outer, frame.outer_text
            else:
                if directive.name in ("define", "undef") and directive.first < directive.last:
                    self._define(directive, worlds)
                continue
            yield (directive.end if directive.name != "endif" else directive.start), worlds, text

    def _entered(self, frame: _Frame, worlds: int, directive: Directive) -> tuple[int, str]:
        """The worlds of a branch; a condition that says nothing about vendors is not what decides."""
        if worlds == frame.outer:
            return worlds, frame.outer_text
        text = " ".join(self._tokens.text[directive.start : directive.end].split())
        if directive.name == "else":
            opened = " ".join(self._tokens.text[frame.opening.start : frame.opening.end].split())
            text = f"#else of {opened}"
        return worlds, text

    def _is_guard(self, directive: Directive, follower: Directive | None) -> bool:
        """Whether `#ifndef NAME` guards a header or gives a default: `#define NAME` follows."""
        tokens = self._tokens
        if directive.name == "if" or follower is None or follower.name != "define":
            return False
        if directive.name == "ifdef" or directive.first >= directive.last or follower.first >= follower.last:
            return False
        return tokens.texts[directive.first] == tokens.texts[follower.first]

    def _reached(self, directive: Directive, worlds: int) -> tuple[int, int]:
        """The worlds in which a condition is true, and those in which it can be."""
        yes = maybe = 0
        for alike, number in self._alike(directive, worlds):
            value = self._holds(directive, number)
            yes |= alike if value is True else 0
            maybe |= alike if value is not False else 0
        return yes, maybe

    def _alike(self, directive: Directive, worlds: int) -> Iterable[tuple[int, int]]:
        """Of some worlds those in which all macros of a line mean the same, and one of each kind: it speaks for all."""
        tokens = self._tokens
        line = range(directive.first, directive.last)
        names = dict.fromkeys(tokens.texts[index] for index in line if tokens.kinds[index] == IDENTIFIER)
        if not HAS_INCLUDE.isdisjoint(names):
            names |= dict.fromkeys(_asked_headers(tokens, line))
        rows = [self._meanings(name, directive) for name in names]
        found: dict[tuple[Macro, ...], tuple[int, int]] = {}
        for number, key in enumerate(zip(*rows, strict=True) if rows else [()] * len(_WORLDS)):
            if worlds >> number & 1:
                alike, first = found.get(key, (0, number))
                found[key] = alike | 1 << number, first
        return found.values()

    def _holds(self, directive: Directive, world: int) -> bool | None:
        return condition_holds(self._tokens, directive, lambda name: self._lookup(name, world, directive))

    def _define(self, directive: Directive, worlds: int) -> None:
        """What `#define` and `#undef` make of a macro in the worlds that see them."""
        tokens = self._tokens
        name = tokens.texts[directive.first]
        if _known_by_compilers(name):
            return
        row = self._row(name)
        means = [PRESENT if directive.name == "define" else ABSENT] * len(_WORLDS)
        if directive.name == "define" and self._has_value(directive):
            for alike, one in self._alike(directive, worlds):
                meant = self._defined(directive, one)
                means = [meant if alike >> number & 1 else other for number, other in enumerate(means)]
        for number in range(len(_WORLDS)):
            if worlds >> number & 1:
                row[number] = means[number]
            elif row[number] is None and worlds & _AMD and not worlds & (_NVIDIA | _NONE):
                row[number] = ABSENT if not (_PORT >> number & 1) else None

    def _has_value(self, directive: Directive) -> bool:
        """Whether a `#define` gives a macro without parameters a text."""
        tokens, first = self._tokens, directive.first + 1
        if first >= directive.last:
            return False
        return not (tokens.texts[first] == "(" and tokens.starts[first] == tokens.end(directive.first))

    def _defined(self, directive: Directive, world: int) -> Macro:
        tokens = self._tokens
        first = directive.first + 1
        value = holds(tokens, first, directive.last, lambda name: self._lookup(name, world, directive))
        if directive.last - first == 1 and (alone := integer(tokens.texts[first])) is not None:
            return Macro(True, alone)
        return Macro(True, None if value is None else int(value))

    def _lookup(self, name: str, number: int, directive: Directive) -> Macro:
        return self._meanings(name, directive)[number]

    def _meanings(self, name: str, directive: Directive) -> Sequence[Macro]:
        """What a macro is in each world, where a line asks for it."""
        row = self._macros.get(name)
        means: Sequence[Macro] = _undefined_here(name) if row is None else _defined_here(name)
        if name == _CLANGS and _CLANG in self._tokens.texts[directive.first : directive.last]:
            means = [UNKNOWN if world.vendor == "nvidia" else ABSENT for world in _WORLDS]
        if name in _OF_NVCC:
            own = knows_hip(self._groups.get(directive.start), self._tokens)
            means = [
                (ABSENT if own or world.gfx == _PLAIN else Macro(True, 1)) if world.vendor == "port" else meant
                for world, meant in zip(_WORLDS, means, strict=True)
            ]
        if row is None:
            return means
        return [meant if known is None else known for known, meant in zip(row, means, strict=True)]


_OF_NVCC = frozenset({"__CUDACC__", "__NVCC__"})
_CLANG, _CLANGS = "__clang__", "__CUDA__"
"""What clang says of itself where it compiles CUDA, not HIP; without the first, `__CUDA__` may be a project's."""


def _asked_headers(tokens: Tokens, line: Iterable[int]) -> Iterator[str]:
    """The headers that a condition asks for with `__has_include`."""
    for index in line:
        if tokens.texts[index] in HAS_INCLUDE and tokens.texts[index + 1] == "(":
            closed = tokens.partner.get(index + 1)
            if closed is not None:
                yield asked_header(tokens, index + 1, closed)


@functools.lru_cache(maxsize=1 << 12)
def _undefined_here(name: str) -> tuple[Macro, ...]:
    """By world: what compilers say, or the name of what the file defines nowhere above."""
    if not _is_of_compilers(name) and not _is_told_by_name(name):
        return _UNKNOWN
    return tuple(_of_compilers(name, world) or _by_name(name, world) for world in _WORLDS)


@functools.lru_cache(maxsize=1 << 12)
def _defined_here(name: str) -> tuple[Macro, ...]:
    """The same of what it defines in some worlds."""
    if not _is_of_compilers(name):
        return _UNKNOWN
    return tuple(_of_compilers(name, world) or UNKNOWN for world in _WORLDS)


_UNKNOWN = (UNKNOWN,) * len(_WORLDS)
_OF_COMPILERS = frozenset(
    {*_AMD_BUILD, *_AMD_COMPILER, *_AMD_DEVICE, *_NVIDIA_ALWAYS, *_WAVEFRONT, "__CUDA_ARCH__"}
    | {"PORTER_CUDA_ARCH", "PORTER_CUDA_ARCH_SOLE", *TOOLKIT}
)


def _is_of_compilers(name: str) -> bool:
    """Whether `_of_compilers` may know a name."""
    return name in _OF_COMPILERS or name.startswith(("__gfx", "__GFX")) or header_of(name) != ""


def _is_told_by_name(name: str) -> bool:
    """Whether `_by_name` may."""
    return any(names.fullmatch(name) is not None for names in (_WAVE64, _AMD_KIND, _AMD_CHOICE))


def _known_by_compilers(name: str) -> bool:
    return any(_of_compilers(name, world) is not None for world in _WORLDS[:1])


@functools.lru_cache(maxsize=1 << 14)
def _of_compilers(name: str, world: World) -> Macro | None:
    """What a compiler defines by itself, or a build for AMD by common agreement."""
    amd = world.vendor in ("amd", "port")
    if header_of(name):
        return (Macro(True, 1) if amd else ABSENT) if _HIP_HEADERS.fullmatch(header_of(name)) else None
    if name in _AMD_BUILD:
        return Macro(True, 1) if amd else ABSENT
    if name in _AMD_COMPILER:
        return Macro(True, 1) if amd and world.gfx != _PLAIN else ABSENT
    if name in _AMD_DEVICE:
        return Macro(True, 1) if amd and world.device else ABSENT
    if name in _NVIDIA_ALWAYS:
        return Macro(True, None) if world.vendor == "nvidia" else ABSENT
    if name in ("__CUDA_ARCH__", "PORTER_CUDA_ARCH", "PORTER_CUDA_ARCH_SOLE"):
        if world.vendor == "port" and world.device:
            return Macro(True, world.arch)
        return PRESENT if world.vendor == "nvidia" and world.device else ABSENT
    if name in TOOLKIT:
        return TOOLKIT[name] if world.vendor == "port" else _toolkit_elsewhere(name, world)
    if name in _WAVEFRONT:
        return (Macro(True, world.lanes) if world.device else UNKNOWN) if amd else ABSENT
    if (match := _GFX.fullmatch(name)) is not None:
        return _target(match[1], world) if amd else ABSENT
    if (match := _FAMILY.fullmatch(name)) is not None:
        return _family(match[1], world) if amd else ABSENT
    return None


def _toolkit_elsewhere(name: str, world: World) -> Macro | None:
    """nvcc alone says what it is; the versions of the headers may be in sight of any compiler, or a project's own."""
    if not name.startswith("__CUDACC_VER_"):
        return None
    return PRESENT if world.vendor == "nvidia" else ABSENT


def _target(gfx: str, world: World) -> Macro:
    if not world.device:
        return ABSENT
    if world.gfx == "942" or gfx == "942":
        return PRESENT if world.gfx == gfx else ABSENT
    return UNKNOWN if gfx.startswith(world.gfx) else ABSENT


def _family(number: str, world: World) -> Macro:
    if not world.device:
        return ABSENT
    if world.lanes == 64:
        return Macro(True, 1) if number == "9" else ABSENT
    return UNKNOWN if number != "9" else ABSENT


@functools.lru_cache(maxsize=1 << 14)
def _by_name(name: str, world: World) -> Macro:
    """What a macro of the project's own, defined nowhere in sight, promises by its name."""
    if _WAVE64.fullmatch(name) and world.vendor == "amd" and world.device:
        return Macro(True, 1) if world.lanes == 64 else ABSENT
    if not _AMD_KIND.fullmatch(name) and not _AMD_CHOICE.fullmatch(name):
        return UNKNOWN
    if name not in _OF_HIPS_HEADERS and (_GUARD.search(name) or _NEGATED.search(name)):
        return UNKNOWN
    if world.vendor in ("nvidia", "none"):
        return ABSENT
    if world.vendor == "port":
        return UNKNOWN
    return Macro(True, 1) if _AMD_CHOICE.fullmatch(name) else UNKNOWN
