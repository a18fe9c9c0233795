"""A005: names that look like CUDA's and that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.renames import unknown_members, unknown_names
from porter.engine.rule import Effort, Finding, Rule, Unit, answered_names, clean, reports

_LIBRARIES = (
    (re.compile(r"cudaVideo|cuvid|CUVID"), "NVIDIA's video decoder (<nvcuvid.h>)"),
    (re.compile(r"NV_ENC|NvEnc"), "NVIDIA's video encoder (<nvEncodeAPI.h>)"),
    (re.compile(r"npp[A-Z]|nppi|npps|Npp"), "NPP"),
    (re.compile(r"nvjpeg|nvJPEG"), "nvJPEG"),
    (re.compile(r"cutensor|CUTENSOR"), "cuTENSOR"),
    (re.compile(r"cudss|CUDSS"), "cuDSS"),
    (re.compile(r"cupti|CUpti"), "CUPTI, in whose place AMD has rocprofiler-sdk,"),
)
"""Libraries without a table, by how their names begin: one cause, however many of their names a file has."""

_SUPPLIED = frozenset({"__float_to_tf32"})
"""Functions of CUDA's that its headers declare through macros, so that no table has them, and that ours supply."""


class UnknownName(Rule):
    """Name that looks like CUDA's, and is in no table

    It is neither in the headers the tables were derived from nor declared by the project: a name of a newer CUDA, of a
    library without a table, or of the project's own headers that were not found. Nothing was changed; if it is the
    project's own, list it under `ignore_names` in porter.toml. A member of `cub`, `thrust` and the like that no table
    has is internal to CUDA's library, or was removed from it.
    """

    code = "A005"
    only_reports = True
    by_names = True
    examples = (
        reports("void f() { cudaFrobnicateAsync(0); }", effort=Effort.REVIEW),
        reports("__device__ float f(unsigned short x) { return __internal_bfloat162float(x); }"),
        reports("using S = cub::FrobnicateSum<int>;"),
        reports("namespace cg = cooperative_groups;\nvoid f() { cg::frobnicate(); }"),
        clean("using S = cub::BlockReduce<int, 128>::TempStorage; using T = thrust::device_vector<int>;"),
        clean("__global__ void k(float *p) { *p = porter::nvcuda::wmma::__float_to_tf32(*p); }"),
        clean("#ifdef MINE\nauto p = thrust::hip::par.on(s);\n#endif"),
        clean("namespace cub { struct Mine; } using M = cub::Mine;"),
        clean("void f() { at::cuda::frobnicate(); cuda::getCurrentStream(); }"),
        reports("void f() { cudaVideoCodec c = cudaVideoCodec_AV1; }", effort=Effort.REVIEW),
        clean("typedef int (*cudaFilter_t)(const int *); void f() { cudaFilter_t g = 0; }"),
        clean("void f() { int sizes = CUDA_TYPICAL_SIZES; }"),
        clean("REGISTER_START(uvm, cudaMem, Advise) REGISTER(cudaMem, AdviseUnset)"),
        clean("void f() { VERSIONED_IDENTIFIER(nvtxFrobnicate)(1); CONCAT(nvtxFrobnicate, 2)(); }"),
        reports("void f() { CHECKED(nvtxFrobnicate); }", effort=Effort.REVIEW),
        clean("#define TEST(operation) thrust::operation<int>()"),
        clean("void f() { thrust::MY_BACKEND::g(); }"),
        clean('#include "cuda/mine.h"\nvoid f() { cuda::Stream s; cuda::ensureSizeIsEnough(1, 2); }'),
        clean(
            "#include <cuda/functional>\nnamespace mine { namespace cuda { template <class P> struct policy {};\n"
            "void f(cuda::policy<int> &p) { cuda::detail::g(p); } } }"
        ),
        clean("void f() { cudaSafeCall(g()); CUDA_KERNEL_ASSERT(a > b); }\n#ifndef CUDA_DISABLER\n#endif"),
        clean("void __attribute__((cold)) nvtxFrobWrapper(int i) { if (i) nvtxFrobWrapper(0); }"),
        clean("#define PARAM(name) int ncclParam##name() { return 1; }\nPARAM(N)\nint f() { return ncclParamN(); }"),
        reports("#define PARAM(name) g(ncclParam##name, 1)\nint f() { return ncclParamSize(); }", effort=Effort.REVIEW),
        reports("#define CALL(name) return cudaFrob##name();", effort=Effort.REVIEW),
        clean("void cudaHelper(int); void f() { cudaHelper(1); }"),
        clean("void f(int **p) { cudaMalloc(p, 4); int cutoff = 3; }"),
        clean("#define INIT(cudaGadget, n) cudaGadget = 0; begin(&cudaGadget, n);"),
        reports("#define INIT(n) begin(cudaGadget, n);", effort=Effort.REVIEW),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        for index in unknown_names(unit):
            name = unit.tokens.texts[index]
            internal = name.startswith("__")
            message = f"{name} is internal to CUDA" if internal else _unknown(name)
            yield self.finding(unit, unit.span(index), message, Effort.MANUAL if internal else Effort.REVIEW)
        answered = answered_names(unit.settings)
        for index in unknown_members(unit):
            name = unit.tokens.texts[index]
            if name in _SUPPLIED or "".join(unit.tokens.texts[index - 2 : index + 3]) in answered:
                continue
            message = f"{unit.tokens.texts[index - 2]}::{name} is in no name table: AMD's library hardly has it"
            yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _unknown(name: str) -> str:
    library = next((library for begins, library in _LIBRARIES if begins.match(name)), None)
    return f"names of {library} are in no name table" if library is not None else f"{name} is in no name table"
