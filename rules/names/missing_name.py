"""A002: names that HIP does not have."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.cases import case_alone
from porter.engine.renames import Use
from porter.engine.rule import (
    Dialect,
    Edit,
    Effort,
    Example,
    Finding,
    Rule,
    Settings,
    Unit,
    answered_names,
    clean,
    fixes,
    reports,
)
from porter.names.causes import as_error_number, one_cause

_OLD = Settings(rocm="6.0")
_GROUP = "namespace cg = cooperative_groups;\n__device__ int f(int v) {{ return {}; }}"


class MissingName(Rule):
    """CUDA name that HIP does not have

    The name has no counterpart in the ROCm version that was asked for. The finding says why and, where there is one,
    what to use instead. The text is left as it is, so that the compiler points at the same place. Names of one thing
    (tensor maps, multicast objects, NVTX's events) have one text, and are one cause with many places. A case of a
    `switch` for a value that HIP never gives is left out for AMD. Elsewhere an error that HIP never returns is CUDA's
    number, which compares with no error of HIP's.
    """

    code = "A002"
    dialect = Dialect.BOTH
    by_names = True
    examples = (
        reports("void f(cudaExternalMemory_t m) { cublasXtHandle_t h; cublasXtCreate(&h); }"),
        reports("CUtensorMap make(CUtensorMapSwizzle s);"),
        clean("#if !defined(MINE) && defined(CUB_DEBUG_ALL)\n#define MINE\n#endif", path="a.hip"),
        reports("#include <cuda/annotated_ptr>\n#include <cuda/api.hpp>\ncuda::access_property p;"),
        reports("cuda::access_property p;"),
        clean(
            "#include <cuda/api.hpp>\nvoid f() { cuda::device_t d = cuda::device::current::get(); cuda::launch(g, d); }"
        ),
        fixes(
            """
            const char *name(cufftResult r) {
              switch (r) {
                case CUFFT_SUCCESS:
                  return "none";

                case CUFFT_NVRTC_FAILURE:
                  return "compiler";
                case CUFFT_MISSING_DEPENDENCY: {
                  return "missing";
                }  // said so
              }
              return "?";
            }
            """,
            """
            const char *name(cufftResult r) {
              switch (r) {
                case CUFFT_SUCCESS:
                  return "none";

            #ifndef __HIP_PLATFORM_AMD__  // HIP has no CUFFT_NVRTC_FAILURE
                case CUFFT_NVRTC_FAILURE:
                  return "compiler";
            #endif
            #ifndef __HIP_PLATFORM_AMD__  // HIP has no CUFFT_MISSING_DEPENDENCY
                case CUFFT_MISSING_DEPENDENCY: {
                  return "missing";
                }  // said so
            #endif
              }
              return "?";
            }
            """,
        ),
        *(
            reports(f"int f(int r) {{\n  switch (r) {{\n{cases}\n  }}\n  return 0;\n}}")
            for cases in (
                "    case CUFFT_SUCCESS:\n    case CUFFT_NVRTC_FAILURE:\n      return 1;",
                "    case CUFFT_NVRTC_FAILURE:\n    case CUFFT_SUCCESS:\n      return 1;",
                "    case CUFFT_SUCCESS:\n      g();\n    case CUFFT_NVRTC_FAILURE:\n      return 1;",
                "    case CUFFT_SUCCESS:\n      if (r) return 2;\n    case CUFFT_NVRTC_FAILURE:\n      return 1;",
                "    case CUFFT_SUCCESS:\n      if (r) { return 2; }\n    case CUFFT_NVRTC_FAILURE: return 1;",
                "    case CUFFT_SUCCESS: { if (r) return 2; }\n    case CUFFT_NVRTC_FAILURE: return 1;",
                "    case CUFFT_SUCCESS:\n      g(r ? 1 : throw 2);\n    case CUFFT_NVRTC_FAILURE:\n      return 1;",
                "    case CUFFT_SUCCESS:\n      a = r ? 1 : throw 2;\n    case CUFFT_NVRTC_FAILURE:\n      return 1;",
                "    case CUFFT_SUCCESS:\n      while (r--) {\n    case CUFFT_NVRTC_FAILURE:\n      g(); }",
                "    case CUFFT_SUCCESS: return 2; case CUFFT_NVRTC_FAILURE: return 1;",
                "    case CUFFT_SUCCESS: return 2;\n    case CUFFT_NVRTC_FAILURE: return 1; default: return 3;",
            )
        ),
        fixes(
            "bool f(cudaError_t e) { return e == cudaErrorLaunchMaxDepthExceeded; }",
            "bool f(cudaError_t e) { return e == (hipError_t)65; }",
        ),
        fixes(
            "int f(CUresult r) {\n  switch (r) {\n    case CUDA_SUCCESS:\n    case CUDA_ERROR_NOT_PERMITTED:\n"
            "      return 1;\n  }\n  return 0;\n}",
            "int f(CUresult r) {\n  switch (r) {\n    case CUDA_SUCCESS:\n    case (hipError_t)800:\n"
            "      return 1;\n  }\n  return 0;\n}",
        ),
        reports("bool f(cudaError_t e) { return e == ::cudaErrorStubLibrary; }", effort=Effort.REVIEW),
        reports("bool f(cudaError_t e) { return e == cudaErrorExternalDevice; }", effort=Effort.REVIEW),
        reports("#define NAME(x) cudaErrorNotPermitted##x\nint NAME(a);", effort=Effort.REVIEW),
        clean("void f(int **p) { cudaMalloc(p, 4); }"),
        Example(_GROUP.format("cg::reduce(cg::coalesced_threads(), v, cg::plus<int>())"), None, None, "a.cu", _OLD),
        Example(
            _GROUP.format("cg::this_cluster().size()"),
            _GROUP.format("cg::this_cluster().size()"),
            Effort.MANUAL,
            "a.cu",
            _OLD,
        ),
        clean("double norm(V v) { double low, umax; umax = maximum(v); return umax; }", path="a.c"),
        clean("using namespace cub;\n__global__ void k(int *p) { *p = max(*p, 1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        answered = answered_names(unit.settings)
        for use in unit.uses:
            row = use.row
            if _is_asked_by_amd(unit, use.first) or _is_of_calls_alone(unit, use):
                continue
            if use.name not in answered and use.support is None and row is not None and row.hip is None:
                span, edits = unit.span(use.first, use.last), _left_out(unit, use)
                if row.kind == "enumerator" and edits:
                    message = f"{use.name}: HIP never gives it, so its case is left out for AMD"
                    yield self.finding(unit, span, message, Effort.NONE, edits)
                elif (number := _number(unit, use)) is not None:
                    message = f"{use.name}: HIP never returns this error; it is CUDA's number, {number}, here"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, number),))
                else:
                    yield self.finding(unit, span, _message(unit, use, row.kind, row.gap or ""), row.effort)


def _number(unit: Unit, use: Use) -> str | None:
    """What stands for an error that HIP never returns; not behind `::`, nor where the port is for CUDA as well."""
    if unit.settings.style == "dual" or unit.tokens.texts[use.first - 1] in ("::", "#", "##"):
        return None
    return None if unit.next_is(use.last, "##") else as_error_number(use.name)


def _left_out(unit: Unit, use: Use) -> tuple[Edit, ...]:
    """A condition around the case that a name is the value of, where the case stands on lines of its own."""
    place = case_alone(unit.tokens, use.first, use.last)
    if place is None:
        return ()
    text, newline, span = unit.source.text, unit.source.newline, unit.span(*place)
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    rest = text[span.end : end].strip()
    if end < 0 or text[start : span.start].strip() or (rest and not rest.startswith("//")) or rest.endswith("\\"):
        return ()
    end -= text[end - 1] == "\r"
    opened = f"#ifndef __HIP_PLATFORM_AMD__  // HIP has no {use.name}{newline}"
    return Edit(start, start, opened), Edit(end, end, f"{newline}#endif")


def _message(unit: Unit, use: Use, kind: str, gap: str) -> str:
    """What is missing: of a namespace the member that no table has, which can be another library's."""
    texts = unit.tokens.texts
    if kind == "namespace" and texts[use.last + 1] == "::":
        member = f"{use.name}::{texts[use.last + 2]}"
        return f"{member} is in no name table: it is another library's or the project's; as CUDA's, {gap}"
    return one_cause(f"{use.name}: ", gap)


def _is_of_calls_alone(unit: Unit, use: Use) -> bool:
    """Whether a plain word such as `umax`, which the port has as a function, stands where nothing is called."""
    support = unit.support.names.get(use.name)
    return support is not None and support.call and not unit.next_is(use.last, "(")


def _is_asked_by_amd(unit: Unit, index: int) -> bool:
    """Whether HIP code asks with `#if` for a macro of CUDA's: what is not defined is not so."""
    directive = unit.tokens.directive_of(index)
    asks = directive is not None and directive.name in ("if", "elif", "ifdef", "ifndef")
    return asks and unit.dialects.is_hip(unit.tokens.starts[index])
