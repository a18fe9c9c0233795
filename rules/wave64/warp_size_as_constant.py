"""V108: `warpSize` where a constant expression is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import Directive, Tokens, tokens_of
from porter.engine.dialect import Dialects, dialects_of
from porter.engine.rule import Dialect, Effort, Finding, Rule, Settings, Unit, clean, reports
from porter.names.table import version_key

_NAME = "warpSize"
_WORD = re.compile(_NAME)
_LIBRARIES = ("HIPCUB_WARP_THREADS", "HIPCUB_DEVICE_WARP_THREADS")
"""hipCUB's macros for it, which are no constants either."""
_REMOVED = ("__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__")
_IF = "a condition of #if"
_CONDITIONS = frozenset({"if", "elif"})
_OPERATORS = frozenset("[(*/%+-<>&|^,=!?:")
_MACRO = re.compile(r"#[ \t]*define[ \t]+(\w+)[ \t]+[^\n]*\b(?:warpSize|HIPCUB_(?:DEVICE_)?WARP_THREADS)\b")
_NOT_TYPES = frozenset({"return", "else", "do", "delete", "throw"})
_OWN = re.compile(r"#[ \t]*define[ \t]+warpSize\b|\b(?:const|constexpr)\b[^;(){}\n]*\bwarpSize[ \t]*(?:=(?!=)|\{)")
"""A macro or a constant of the project's own that has the name."""
_ARITHMETIC = frozenset("()+-*/%")


class WarpSizeAsConstant(Rule):
    """`warpSize` where a constant expression is needed

    Until ROCm 6.4 `warpSize` was a constant of 64 in HIP's header; from ROCm 7 on it is known on the device at run time
    only, so that the bound of an array, a template argument, a `constexpr` variable, `if constexpr`, `static_assert`
    and a `case` do not compile, nor does a `constexpr` function that returns it, also through a macro that a branch for
    AMD defines with `warpSize`, here or in a header. `HIPCUB_WARP_THREADS` is no constant either,
    `__AMDGCN_WAVEFRONT_SIZE` is gone. Define the size yourself where the target is known (64 under
    `__GFX9__`), or make it a template parameter that the host chooses.
    """

    code = "V108"
    only_reports = True
    dialect = Dialect.BOTH
    text = r"warpSize|WAVEFRONT_SIZE|WARP_?SIZE|[wW]arp_?[sS]ize|WARP_?THREADS|NUM_?WARPS"
    hazards = ("warpsize-not-constexpr",)
    examples = (
        reports("__global__ void k() { __shared__ float s[warpSize]; }", path="a.hip"),
        reports("__global__ void k() { __shared__ float s[4 * (256 / warpSize) * 2]; }", path="a.hip"),
        reports("__device__ void f() { constexpr int half = warpSize / 2; }", path="a.hip"),
        reports("__device__ int f() { if constexpr (warpSize == 64) return 1; return 0; }", path="a.hip"),
        reports("__device__ float f(float v) { return reduce<warpSize>(v); }", path="a.hip"),
        reports("#define WIDTH warpSize\n__global__ void k() { __shared__ float s[WIDTH]; }", path="a.hip"),
        reports(
            """
            #ifdef USE_ROCM
            #define WARP_SIZE warpSize
            #else
            #define WARP_SIZE 32
            #endif
            __global__ void k() { constexpr int warps = 256 / WARP_SIZE; }
            """
        ),
        reports(
            """
            #ifdef USE_ROCM
            #define WARP_SIZE (warpSize)
            #define NUM_WARPS (1024 / WARP_SIZE)
            #else
            #define NUM_WARPS 32
            #endif
            __global__ void k() { __shared__ float s[NUM_WARPS]; }
            """
        ),
        reports(
            """
            #ifdef USE_ROCM
            #define WARP_THREADS HIPCUB_WARP_THREADS
            #else
            #define WARP_THREADS 32
            #endif
            template <int N> struct Scan {
            #ifndef USE_ROCM
              int n;
            #endif
              static constexpr bool IS_WHOLE = (N == WARP_THREADS);
            };
            """
        ),
        reports("__device__ constexpr int size() { return warpSize; }", path="a.hip"),
        reports("#if __AMDGCN_WAVEFRONT_SIZE == 64\nint a;\n#endif", path="a.hip", effort=Effort.REVIEW),
        reports("#if defined(USE_ROCM) && __AMDGCN_WAVEFRONT_SIZE == 64\nint a;\n#endif", effort=Effort.REVIEW),
        reports("constexpr int size = __AMDGCN_WAVEFRONT_SIZE;", path="a.hip", effort=Effort.REVIEW),
        clean("#ifdef __AMDGCN_WAVEFRONT_SIZE\nint size = __AMDGCN_WAVEFRONT_SIZE;\n#endif", path="a.hip"),
        clean("__device__ int lane() { return threadIdx.x % warpSize; }", path="a.hip"),
        clean("__device__ int f() { const int w = warpSize; return w; }", path="a.hip"),
        clean("__device__ int size() { return warpSize; }", path="a.hip"),
        reports("__device__ void f() { const bool w = warpSize == 64; constexpr int h = warpSize; }", path="a.hip"),
        clean(
            """
            #ifdef USE_ROCM
            #define LANE (threadIdx.x % warpSize)
            #define WIDTH 64
            #else
            #define LANE (threadIdx.x % 32)
            #define WIDTH 32
            #endif
            __global__ void k(float *x) { __shared__ float s[WIDTH]; s[LANE] = x[LANE]; }
            """
        ),
        clean("__device__ bool below(int i) { return i < warpSize && i > 0; }", path="a.hip"),
        clean("__device__ int f(const int *x) { return x[g(warpSize)]; }", path="a.hip"),
        clean("template <int warpSize> __device__ void f() { __shared__ int s[warpSize]; }", path="a.hip"),
        clean("int threads(hipDeviceProp_t p) { return p.warpSize; }", path="a.hip"),
        reports(
            "template <int N> __device__ bool any(int p) { if constexpr (N == warpSize) return __any(p); return p; }",
            path="a.h",
            effort=Effort.REVIEW,
        ),
        clean("__device__ int f() { return threadIdx.x / warpSize; }", path="a.h"),
        clean(
            """
            namespace core {
            constexpr int warpSize = 64;
            __device__ void f() { constexpr int half = warpSize / 2; }
            }
            """,
            path="a.hip",
        ),
        clean("__device__ void f(int *s, int i) { if (i) s[0] = 1; else s[warpSize] = 2; }", path="a.h"),
        clean("constexpr int warpSize = 32;\n__global__ void k() { __shared__ float s[warpSize]; }", path="a.h"),
        clean("#ifndef USE_ROCM\n__device__ void f() { constexpr int half = warpSize / 2; }\n#endif", path="a.hip"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per statement."""
        own = any(_is_own(unit, index) for index in unit.tokens.names.get(_NAME, ()))
        files = (unit.source, *unit.program.headers)
        if not own and not any(file.matches(_WORD) and file.matches(_OWN) for file in files):
            yield from self._constants(unit)
        if not _is_asked_for(unit):
            yield from self._removed(unit)

    def _constants(self, unit: Unit) -> Iterator[Finding]:
        macros = frozenset(_macros(unit))
        seen: set[int] = set()
        theirs = {name for name in _LIBRARIES if name in unit.tokens.names and not unit.program.declares(name)}
        for name in sorted({_NAME, *theirs, *macros}):
            for index in unit.tokens.names.get(name, ()):
                whose = _whose(unit, index, through_macro=name in macros)
                what = _constant_place(unit, index) if whose is not None else None
                if what is None or not unit.is_free(index) or (start := _statement(unit, index)) in seen:
                    continue
                seen.add(start)
                why = "no constant expression from ROCm 7 on" if what != _IF else "the preprocessor takes it for 0"
                effort = _effort(unit.settings)
                if whose is not Dialect.HIP:
                    why, effort = (
                        f"nvcc takes none, so it was built for AMD alone, where it is 64; {why}",
                        Effort.REVIEW,
                    )
                message = f"{name} as {what}: {why} [warpsize-not-constexpr]"
                yield self.finding(unit, unit.span(index), message, effort)

    def _removed(self, unit: Unit) -> Iterator[Finding]:
        for name in _REMOVED:
            for index in unit.tokens.names.get(name, ()):
                if unit.dialects.at(unit.tokens.starts[index]).compiled:
                    message = f"{name} is not defined from ROCm 7 on [warpsize-not-constexpr]"
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW)


def _is_asked_for(unit: Unit) -> bool:
    """Whether the file looks whether the compiler still has the macro."""
    tokens = unit.tokens
    return any(
        directive is not None
        and (directive.name in ("ifdef", "ifndef") or "defined" in tokens.texts[max(0, index - 2) : index])
        for name in _REMOVED
        for index in tokens.names.get(name, ())
        for directive in (tokens.directive_of(index),)
    )


def _whose(unit: Unit, index: int, *, through_macro: bool) -> Dialect | None:
    """Whose `warpSize` is meant: HIP's in lines of AMD's, and where a macro of theirs is expanded for AMD as well."""
    meaning = unit.dialects.at(unit.tokens.starts[index])
    if through_macro:
        return Dialect.HIP if meaning.compiled else None
    if meaning.dialect is Dialect.HIP:
        return Dialect.HIP if 64 in meaning.lanes else None
    return Dialect.BOTH if meaning.compiled and 64 in meaning.lanes and unit.is_cuda(index) else None


def _effort(settings: Settings) -> Effort:
    old = settings.rocm is not None and version_key(settings.rocm) < version_key("7")
    return Effort.REVIEW if old else Effort.MANUAL


def _macros(unit: Unit) -> Iterator[str]:
    """Macros whose text counts with `warpSize`, in lines of AMD's, of the file and of the headers that it includes."""
    yield from _defined(unit.tokens, unit.dialects)
    for header in unit.program.headers:
        if header.matches(_MACRO) and any(m[1] in unit.tokens.names for m in _MACRO.finditer(header.text)):
            yield from _defined(tokens_of(header), dialects_of(header))


def _defined(tokens: Tokens, dialects: Dialects) -> frozenset[str]:
    """Macros of one file that are `warpSize`, or numbers and operators beside it, and those made of them in turn."""
    found: set[str] = set()
    waiting = {_NAME, *_LIBRARIES}
    while waiting:
        name = waiting.pop()
        for index in tokens.names.get(name, ()):
            directive = tokens.directive_of(index)
            if directive is None or directive.name != "define" or directive.first == index:
                continue
            made = tokens.texts[directive.first]
            if made not in found and (name in found or dialects.is_hip(directive.start)) and _counts(tokens, directive):
                found.add(made)
                waiting.add(made)
    return frozenset(found)


def _counts(tokens: Tokens, directive: Directive) -> bool:
    """Whether a macro without parameters is a number or a name, or some of them with operators between."""
    first = directive.first + 1
    if tokens.starts[first] == tokens.end(directive.first):
        return False
    return all(
        tokens.kinds[i] in "in" or tokens.texts[i] in _ARITHMETIC for i in range(first, directive.last)
    ) and not any(tokens.kinds[i] == "i" and tokens.texts[i + 1] == "(" for i in range(first, directive.last - 1))


def _is_own(unit: Unit, index: int) -> bool:
    """Whether the file declares the name itself: a template parameter, a variable."""
    tokens = unit.tokens
    return (
        tokens.directive_of(index) is None
        and tokens.kinds[index - 1] == "i"
        and tokens.texts[index - 1] not in ("return", "case", "else")
        and tokens.texts[index + 1] in ("=", ",", ">", ";", ")")
    )


def _constant_place(unit: Unit, index: int) -> str | None:
    """What needs a constant expression around a name."""
    tokens = unit.tokens
    texts = tokens.texts
    directive = tokens.directive_of(index)
    if directive is not None:
        return _IF if directive.name in _CONDITIONS else None
    opening = _opening(unit, index)
    while opening is not None and texts[opening] == "(" and texts[opening - 1] in _OPERATORS:
        opening = _opening(unit, opening)
    if opening is not None and texts[opening] == "[":
        before = texts[opening - 1]
        start = _statement(unit, opening)
        declares = tokens.kinds[opening - 1] == "i" and start < opening - 1 and tokens.kinds[opening - 2] in "i"
        declares = declares and "=" not in texts[start:opening] and _NOT_TYPES.isdisjoint((before, texts[opening - 2]))
        return "the bound of an array" if declares else None
    if opening is not None and texts[opening] == "(":
        head = texts[max(0, opening - 2) : opening]
        if head[-1:] == ["static_assert"]:
            return "a condition of static_assert"
        if head == ["if", "constexpr"]:
            return "a condition of if constexpr"
    start = _statement(unit, index)
    if texts[start] == "case":
        return "a label of case"
    if texts[start] == "return" and _is_in_constexpr(unit, start):
        return "the value of a constexpr function"
    if "constexpr" in texts[start : start + 3] and "=" in texts[start:index]:
        return "a constexpr value"
    return "a template argument" if _is_template_argument(unit, index) else None


def _is_in_constexpr(unit: Unit, index: int) -> bool:
    """Whether a statement begins the body of a function that is declared `constexpr`."""
    tokens = unit.tokens
    place = index - 2
    if tokens.texts[index - 1] != "{":
        return False
    while place > 0 and tokens.texts[place] in ("const", "noexcept"):
        place -= 1
    opening = tokens.partner.get(place, -1)
    if place < 0 or tokens.texts[place] != ")" or opening < 0:
        return False
    return "constexpr" in tokens.texts[_statement(unit, opening) : opening]


def _opening(unit: Unit, index: int) -> int | None:
    """The bracket around a token."""
    tokens = unit.tokens
    place = index - 1
    while place >= 0 and tokens.texts[place] not in (";", "{", "}"):
        if tokens.texts[place] in (")", "]"):
            place = tokens.partner.get(place, place)
        elif tokens.texts[place] in ("(", "["):
            return place
        place -= 1
    return None


def _statement(unit: Unit, index: int) -> int:
    tokens = unit.tokens
    while index > 0 and tokens.texts[index - 1] not in (";", "{", "}") and tokens.directive_of(index - 1) is None:
        index -= 1
    return index


def _is_template_argument(unit: Unit, index: int) -> bool:
    """`name<warpSize>`, `name<T, warpSize / 2>(`: the bracket follows a name at once and is closed before a `(`."""
    texts, kinds = unit.tokens.texts, unit.tokens.kinds
    place = index - 1
    while place > 0 and (kinds[place] in "in" or texts[place] in (",", "::", "/", "*", "+", "-")):
        place -= 1
    if texts[place] != "<" or kinds[place - 1] != "i":
        return False
    after = index + 1
    while kinds[after] in "in" or texts[after] in (",", "::", "/", "*", "+", "-"):
        after += 1
    return texts[after] == ">" and texts[after + 1] in ("(", "::", "{", ";", "&", "*")
