"""R028: CUDA's libraries and functions that a program looks up by name at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.loaded import loaded_library, looked_up
from porter.cpp.literals import Literal, read_literal
from porter.cpp.syntax import STRING
from porter.engine.rule import Edit, Effort, Example, Finding, Rule, Settings, Unit, clean, fixes, reports

_FUNCTION = re.compile(r"(?:cu|nv|nccl)\w+")
_LOADERS = frozenset(
    {"dlsym", "dlvsym", "GetProcAddress", "cuGetProcAddress", "cuGetProcAddress_v2", "cudaGetDriverEntryPoint"}
    | {"cudaGetDriverEntryPointByVersion", "hipGetProcAddress", "hipGetDriverEntryPoint"}
)
_OPENERS = r"""["/]lib[\w-]+\.(?:so|dylib)|\.dll"|dlv?sym|GetProcAddress|DriverEntryPoint"""


class LoadedByName(Rule):
    """Library or function of CUDA's that is looked up by name

    `dlopen("libcuda.so.1")` and `dlsym(handle, "cuMemAlloc_v2")` compile in a port as they are, and find nothing where
    there is no CUDA, or the wrong library where there is. A literal that is the file name of one of CUDA's libraries
    becomes ROCm's, without a version: the number behind `.so` is ROCm's own, and packages without headers may lack the
    name without one. In a file that looks functions up, a literal that is the name of one of CUDA's becomes HIP's.
    Functions of hipBLAS that are told types (`hipblasGemmEx`) have numbers of their own for them in ROCm 6's library,
    and `hipDataType` under `_v2`, which is taken for a port to ROCm 6; since 7 there is one, without. What the pointer
    to it is called with is not looked at.
    """

    code = "R028"
    text = _OPENERS
    examples = (
        fixes(
            'void *f() { return dlopen("libcuda.so.1", RTLD_LAZY); }',
            'void *f() { return dlopen("libamdhip64.so", RTLD_LAZY); }',
            effort=Effort.REVIEW,
        ),
        fixes(
            '#define LIBRARY "/usr/local/cuda/lib64/libnvrtc.so"',
            '#define LIBRARY "libhiprtc.so"',
            effort=Effort.REVIEW,
        ),
        fixes(
            'void *f(void *h) { return dlsym(h, "cuMemAlloc_v2"); }',
            'void *f(void *h) { return dlsym(h, "hipMalloc"); }',
            effort=Effort.REVIEW,
        ),
        fixes(
            'void *get(void *h, const char *n) { return dlsym(h, n); }\nvoid *f(void *h) { return get(h, "cuInit"); }',
            'void *get(void *h, const char *n) { return dlsym(h, n); }\nvoid *f(void *h) { return get(h, "hipInit"); }',
            effort=Effort.REVIEW,
        ),
        fixes(
            'void *f(void *h) { return dlsym(h, "cudaGetDeviceProperties"); }',
            'void *f(void *h) { return dlsym(h, "hipGetDevicePropertiesR0600"); }',
            effort=Effort.REVIEW,
        ),
        Example(
            'void *f(void *h) { return dlsym(h, "cublasGemmEx"); }',
            'void *f(void *h) { return dlsym(h, "hipblasGemmEx_v2"); }',
            Effort.REVIEW,
            "a.cpp",
            Settings(rocm="6.2"),
        ),
        Example(
            'void *f(void *h) { return dlsym(h, "cublasGemmEx"); }',
            'void *f(void *h) { return dlsym(h, "hipblasGemmEx"); }',
            Effort.REVIEW,
            "a.cpp",
            Settings(rocm="7.0"),
        ),
        Example(
            'void *f(void *h) { return dlsym(h, "cublasSgemm_v2"); }',
            'void *f(void *h) { return dlsym(h, "hipblasSgemm"); }',
            Effort.REVIEW,
            "a.cpp",
            Settings(rocm="6.2"),
        ),
        reports('void *f() { return dlopen("libnvidia-ml.so.1", RTLD_LAZY); }'),
        reports('HMODULE f() { return LoadLibraryA("nvcuda.dll"); }'),
        reports('#define LIBRARY "libcublas.so." TEXT(CUBLAS_VER_MAJOR)', effort=Effort.REVIEW),
        reports('void *f(void *h) { return dlsym(h, "cuTensorMapEncodeTiled"); }'),
        clean('void *f() { return dlopen("libmine.so", RTLD_LAZY); }'),
        clean('void *f() { return dlopen("libcudaware.so.1", RTLD_LAZY); }'),
        clean('void *f(void *h) { return dlsym(h, "cuMine"); }'),
        clean('void f() { puts("libcuda.so.1 was not found"); }'),
        clean('void f() { check("cudaMalloc"); }'),
        reports('auto name = format("libcudart.so.%d", 12);', effort=Effort.REVIEW),
        clean('void *f(void *h) { puts("cuInit failed"); return dlsym(h, "mine"); }'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per literal."""
        tokens = unit.tokens
        looks_up = not _LOADERS.isdisjoint(unit.identifiers)
        for place in re.finditer(STRING, tokens.kinds):
            index = place.start()
            literal = read_literal(tokens, index, index)
            if literal is None or (index and tokens.texts[index - 1] in ("asm", "__asm__")):
                continue
            if (loaded := loaded_library(literal.text)) is not None:
                edits = literal.edits(Edit(0, len(literal.text), loaded.file)) if loaded.file is not None else ()
                yield self.finding(unit, unit.span(index), loaded.message, loaded.effort, edits or ())
            elif looks_up and _FUNCTION.fullmatch(literal.text):
                yield from self._function(unit, index, literal)

    def _function(self, unit: Unit, index: int, literal: Literal) -> Iterator[Finding]:
        found = looked_up(literal.text, unit.names, unit.settings.rocm)
        if found is not None:
            edit = Edit(0, len(literal.text), found.name) if found.name is not None else None
            edits = literal.edits(edit) if edit is not None else ()
            yield self.finding(unit, unit.span(index), found.message, found.effort, edits or ())
