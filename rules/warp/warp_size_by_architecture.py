"""W107: a constant is chosen by a macro that host and device see differently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from porter.cpp.syntax import EMPTY, Directive, Node, Tokens, parse_expression
from porter.engine.rule import Dialect, Effort, Finding, Rule, Span, Unit, clean, reports
from porter.warp.bodies import bodies_of
from porter.warp.branch_constants import (
    Choice,
    branch_around,
    chains,
    choices,
    is_amds_alone,
    is_amds_throughout,
    is_shuffle_width,
    is_width,
    widths_of_64,
)

_DEVICE_ONLY = re.compile(
    r"__CUDA_ARCH__|PORTER_CUDA_ARCH|__HIP_DEVICE_COMPILE__|__gfx\w+|__GFX\w+|__AMDGCN\w*|__AMDGPU\w*"
)
_PLATFORM = re.compile(r"\w*(?:HIP|ROCM|AMD|WAVEFRONT)\w*")
_SIZE = re.compile(r"__AMDGCN_WAVEFRONT_SIZE(?:__)?")
_TARGET_OF_32 = re.compile(r"__gfx1\d\d\w__")
_FAMILY = re.compile(r"__(?:GFX|gfx)\d{1,2}__")
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})
_CHOSEN = re.compile(r"\?\s*(?:64\s*:\s*32|32\s*:\s*64)\b")
_WIDTHS = frozenset({32, 64})


class WarpSizeByArchitecture(Rule):
    """Constant that host and device choose differently

    `#if defined(__GFX9__)` or `#if __CUDA_ARCH__ >= 800` holds only while device code is compiled: the host takes the
    other branch and computes its launches with another value, so rows are left out or written twice. A warp size that
    says 64 in a branch for ROCm does not fit the ported kernels either, whose logical warps have 32 lanes. Define the
    value once, for host and device; a width as 32, or port the kernel to 64 lanes as a whole.
    """

    code = "W107"
    only_reports = True
    dialect = Dialect.BOTH
    text = f"{_DEVICE_ONLY.pattern}|{_PLATFORM.pattern[3:-3]}|{_CHOSEN.pattern}"
    hazards = ("warp-size-macro-fallback-32", "gfx-macro-host-pass", "use-rocm-vs-hipcc")
    examples = (
        reports("#if defined(__GFX9__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif"),
        reports("#ifdef USE_ROCM\nconstexpr int kWarpSize = 64;\n#else\nconstexpr int kWarpSize = 32;\n#endif"),
        reports(
            """
            #if __CUDA_ARCH__ >= 800
            constexpr int kRows = 2;
            #else
            constexpr int kRows = 1;
            #endif
            void f(float *x, int n) { k<<<n / kRows, 256>>>(x); }
            """
        ),
        reports(
            """
            __host__ __device__ constexpr int rows() {
            #ifdef __CUDA_ARCH__
              return 8;
            #else
              return 4;
            #endif
            }
            """
        ),
        clean(
            """
            __device__ constexpr int rows() {
            #ifdef __CUDA_ARCH__
              return 8;
            #else
              return 4;
            #endif
            }
            """
        ),
        clean(
            """
            __host__ __device__ int rows(int n) {
            #ifdef __CUDA_ARCH__
              return __popc(n);
            #else
              return 4;
            #endif
            }
            """
        ),
        reports("#ifndef USE_ROCM\nconstexpr int kWarpSize = 32;\n#else\nconstexpr int kWarpSize = 64;\n#endif"),
        reports("#ifdef __gfx1030__\n#define WARP_SIZE 32\n#else\n#define WARP_SIZE 64\n#endif", path="a.hip"),
        reports(
            """
            #ifdef __AMDGCN_WAVEFRONT_SIZE
            #define WARP_SIZE __AMDGCN_WAVEFRONT_SIZE
            #else
            #define WARP_SIZE 64
            #endif
            """,
            path="a.hip",
        ),
        clean(
            """
            struct Size {
              __host__ __device__ constexpr operator int() const {
            #if defined(__HIP_DEVICE_COMPILE__)
            #if defined(__GFX9__)
                return 64;
            #else
                return 32;
            #endif
            #else
                return asked();
            #endif
              }
            };
            """,
            path="a.hip",
        ),
        clean("#ifndef WARP_SIZE\n#define WARP_SIZE 32\n#endif"),
        clean(
            """
            #if defined(MINE_ENABLE_HIP)
            #include <rocprim/rocprim.hpp>
            const size_t warp_size = 64;
            __global__ void k(int *x) { rocprim::warp_reduce<int, warp_size> r; x[threadIdx.x / warp_size] = 0; }
            #endif
            """,
            path="a-Hip.cpp",
        ),
        reports(
            """
            #if defined(MINE_ENABLE_HIP)
            const size_t warp_size = 64;
            #endif
            __global__ void k(int *x) { x[threadIdx.x / warp_size] = __shfl_sync(~0u, x[0], 0); }
            """,
            path="a.cu",
        ),
        clean(
            """
            #ifdef __HIP_PLATFORM_AMD__
            #define WARP_SIZE 64
            #define NEXT(v, o) __shfl_xor(v, o)
            #else
            #define WARP_SIZE 32
            #define NEXT(v, o) __shfl_xor_sync(0xffffffffu, v, o)
            #endif
            __device__ int sum(int v) {
              for (int o = WARP_SIZE / 2; o; o >>= 1) v += NEXT(v, o);
              return v;
            }
            """
        ),
        reports(
            """
            #ifdef __HIP_PLATFORM_AMD__
            #define WARP_SIZE 64
            #else
            #define WARP_SIZE 32
            #endif
            __device__ int sum(int v) {
              for (int o = WARP_SIZE / 2; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
              return v;
            }
            """
        ),
        clean(
            "#ifdef USE_ROCM\nconstexpr int kWarpSize = 64;\n#else\nconstexpr int kWarpSize = 32;\n#endif", path="a.hip"
        ),
        reports("#if defined(__GFX9__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif", path="a.hip"),
        clean(
            """
            #ifdef __CUDA_ARCH__
            #define UNROLL 8
            #else
            #define UNROLL 4
            #endif
            __global__ void k(float *x) { for (int i = 0; i < UNROLL; ++i) x[i] = 0; }
            """
        ),
        clean(
            """
            __global__ void k(float *x) {
            #if __CUDA_ARCH__ >= 800
              const int ROWS = 8;
            #else
              const int ROWS = 4;
            #endif
              x[threadIdx.x] = ROWS;
            }
            void f(float *x, int major) { int ROWS = major > 8 ? 8 : 4; k<<<1, ROWS>>>(x); }
            """
        ),
        clean("#ifdef USE_ROCM\nconstexpr int kWarpSize = 32;\n#else\nconstexpr int kWarpSize = 32;\n#endif"),
    )

    def applies(self, unit: Unit) -> bool:
        """Only files with a conditional, or a choice by what the build is for, can have such a constant."""
        return bool(unit.tokens.directives) or _CHOSEN.search(unit.source.text) is not None

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per constant, at the condition."""
        conditions = " ".join(unit.slice(Span(d.start, d.end)) for d in unit.tokens.directives if d.name in _CONDITIONS)
        if not any(sign.search(conditions) for sign in (_DEVICE_ONLY, _PLATFORM)) and not _CHOSEN.search(
            unit.source.text
        ):
            return
        yield from self._returned(unit)
        yield from self._of_the_compiler(unit)
        seen: set[int] = set()
        for choice in choices(bodies_of(unit).constants):
            for directive in sorted(choice.chain.directives, key=lambda one: _is_negated(unit, one)):
                text = " ".join(unit.slice(Span(directive.start, directive.end)).split())
                negated = "the #else of " if _is_negated(unit, directive) else ""
                message = self._message(unit, choice, f"{negated}{text}")
                if message:
                    seen.update(constant.place for constant, _ in choice.values)
                    yield self._finding(unit, directive, message)
                    break

        if unit.dialects.file is not Dialect.HIP and not is_amds_throughout(unit):
            for name, place in widths_of_64(unit, bodies_of(unit).constants):
                if place not in seen and not is_amds_alone(unit, name):
                    yield self._in_amds_branch(unit, name, place)

    def _in_amds_branch(self, unit: Unit, name: str, place: int) -> Finding:
        directive = branch_around(unit.tokens, place)
        span = unit.span(place) if directive is None else Span(directive.start, directive.end)
        where = "for AMD" if directive is None else f"under '{' '.join(unit.slice(span).split())}'"
        message = (
            f"{name} is that of 64 lanes {where}, the ported kernels keep warps of 32 lanes: make it that of 32 there "
            "too, or port its kernels to 64 lanes as a whole [warp-size-macro-fallback-32]"
        )
        return self.finding(unit, span, message, Effort.MANUAL)

    def _returned(self, unit: Unit) -> Iterator[Finding]:
        """Functions for host and device whose branches return different constants."""
        tokens, constants = unit.tokens, bodies_of(unit).constants
        for chain in chains(tokens):
            values: set[int | None] = set()
            for begin, end in pairwise(chain.directives):
                first, last = tokens.at(begin.end), tokens.at(end.start)
                returns = tokens.texts[first] == "return" and tokens.texts[last - 1] == ";"
                node = parse_expression(tokens, first + 1, last - 1) if returns and last - first > 2 else EMPTY
                values.add(constants.value(node))
            directive = chain.directives[0]
            if len(chain.directives) == 2 and len(values) == 1:  # what stands behind `#endif` is the other branch
                values |= {constants.value(node) for node in _returned_at(tokens, tokens.at(chain.directives[1].end))}
            if not unit.dialects.is_for_host(directive.start):
                continue  # within a branch for the device: the host has another
            if not _is_for_host(unit, tokens.at(directive.start)):
                continue
            text = " ".join(unit.slice(Span(directive.start, directive.end)).split())
            if len(values) > 1 and None not in values and _DEVICE_ONLY.search(text):
                listed = " or ".join(str(value) for value in sorted(v for v in values if v is not None))
                message = (
                    f"this returns {listed} by '{text}', which holds while device code is compiled and never for the "
                    "host: both must agree [gfx-macro-host-pass]"
                )
                yield self._finding(unit, directive, message)

    def _of_the_compiler(self, unit: Unit) -> Iterator[Finding]:
        """Macros that are the compiler's size where it has one, and a number for the host."""
        tokens, macros = unit.tokens, bodies_of(unit).constants.macros
        for chain in chains(tokens):
            directive = chain.directives[0]
            condition = " ".join(unit.slice(Span(directive.start, directive.end)).split())
            if len(chain.directives) != 3 or not _SIZE.search(condition):
                continue
            for name, found in macros.items():
                bodies = {chain.branch_of(tokens.starts[m.place]): tokens.texts[m.first : m.last] for m in found}
                if len(bodies.get(0, ())) == len(bodies.get(1, ())) == 1 and _SIZE.fullmatch(bodies[0][0]):
                    message = (
                        f"{name} is the device's own by '{condition}', which the host never has: it takes "
                        f"{bodies[1][0]} for every GPU [warp-size-macro-fallback-32]"
                    )
                    yield self._finding(unit, directive, message)

    def _finding(self, unit: Unit, directive: Directive, message: str) -> Finding:
        return self.finding(unit, Span(directive.start, directive.end), message, Effort.MANUAL)

    def _message(self, unit: Unit, choice: Choice, condition: str) -> str:
        name = choice.name
        values = sorted({value for _, value in choice.values})
        wide = set(values) >= _WIDTHS and (is_width(name) or is_shuffle_width(unit.tokens, name))
        is_seen = wide and not self._is_amds_own(unit, choice)
        if _DEVICE_ONLY.search(condition) and (is_seen or self._used_by_host(unit, choice)):
            listed = " or ".join(map(str, values))
            more = "; GPUs of 32 lanes that it does not name count as 64" if wide and _names_some(condition) else ""
            return (
                f"{name} is {listed} by '{condition}', which holds while device code is compiled and never for the "
                f"host: both must agree{more} [warp-size-macro-fallback-32]"
            )
        if wide and _PLATFORM.search(condition) and unit.dialects.file is not Dialect.HIP:
            if is_amds_throughout(unit):
                return ""
            return (
                f"{name} is 64 under '{condition}', the ported kernels keep warps of 32 lanes: make it 32 there too, "
                "or port its kernels to 64 lanes as a whole [warp-size-macro-fallback-32]"
            )
        return ""

    @staticmethod
    def _is_amds_own(unit: Unit, choice: Choice) -> bool:
        """Whether HIP code makes the choice inside of a function for the device, where no host looks."""
        places = [unit.tokens.starts[constant.place] for constant, _ in choice.values]
        return unit.dialects.file is Dialect.HIP and all(unit.kernel_at(place) for place in places)

    @staticmethod
    def _used_by_host(unit: Unit, choice: Choice) -> bool:
        """Whether code outside of kernels and device functions reads the constant; a local one nobody else can."""
        places = {constant.place for constant, _ in choice.values}
        tokens = unit.tokens
        if all(tokens.directive_of(place) is None and unit.kernel_at(tokens.starts[place]) for place in places):
            return False
        return any(
            index not in places and tokens.directive_of(index) is None and unit.kernel_at(tokens.starts[index]) is None
            for index in tokens.names.get(choice.name, ())
        )


def _returned_at(tokens: Tokens, first: int) -> Iterator[Node]:
    """The value that a statement at a token returns."""
    if tokens.texts[first] == "return":
        last = next((i for i in range(first, len(tokens)) if tokens.texts[i] == ";"), first)
        yield parse_expression(tokens, first + 1, last)


def _is_for_host(unit: Unit, index: int) -> bool:
    """Whether the function around a token is compiled for the host, too."""
    function = bodies_of(unit).function_at(index)
    return function is None or not unit.host_words.isdisjoint(
        unit.tokens.texts[function.head.begin : function.head.opening]
    )


def _is_negated(unit: Unit, directive: Directive) -> bool:
    """`#ifndef X`, `#if !defined(X)`: X holds in the other branch."""
    text = unit.slice(Span(directive.start, directive.end))
    return directive.name == "ifndef" or re.search(r"!\s*(?:defined|\w)", text) is not None


def _names_some(condition: str) -> bool:
    """Whether a condition lists GPUs of 32 lanes by their targets, and no family of them."""
    return _TARGET_OF_32.search(condition) is not None and _FAMILY.search(condition) is None
