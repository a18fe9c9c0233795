"""R028: a library of CUDA's that is opened by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import STRING
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_AMDS = {
    "cuda": "libamdhip64.so",
    "cudart": "libamdhip64.so",
    "nvrtc": "libhiprtc.so",
    "cublas": "libhipblas.so",
    "cublasLt": "libhipblaslt.so",
    "cufft": "libhipfft.so",
    "curand": "libhiprand.so",
    "cusparse": "libhipsparse.so",
    "cusolver": "libhipsolver.so",
    "nccl": "librccl.so",
    "nvToolsExt": "libroctx64.so",
    "cudnn": "",
    "cupti": "",
    "nvidia-ml": "",
    "nvidia-encode": "",
    "nvcuvid": "",
    "nvjpeg": "",
}
_NAMES = "|".join(_AMDS)
_NAME = re.compile(
    rf"""(?:u8|[LuU])?"(?:[^"\s]*[/\\])?(?:lib({_NAMES})\.(?:so|dylib)[.\d]*|(nvcuda|nvml)\.dll|({_NAMES})(?:32|64)_\w*\.dll)\""""
)
_DLLS = {"nvcuda": "cuda", "nvml": "nvidia-ml"}


class LibraryByName(Rule):
    """Library of CUDA's that is opened by its name

    Where a program opens `libcudart.so.12` with `dlopen` and looks up `cudaMalloc`, both are texts that no compiler
    sees: on a machine without CUDA the library is not found, and the program ends or goes on without the GPU, in
    silence. ROCm's library has the functions by HIP's names.
    """

    code = "R028"
    only_reports = True
    text = rf"\b(?:lib(?:{_NAMES})\.(?:so|dylib)|nvcuda\.dll|nvml\.dll|(?:{_NAMES})(?:32|64)_\w*\.dll)"
    examples = (
        clean('void f() { puts("libcudart.so was not found"); puts("no libcuda.so"); }', path="a.cc"),
        clean('void *h = dlopen("libcudart_stub.so", RTLD_LAZY);', path="a.cc"),
        clean(
            '#ifdef __HIP_PLATFORM_AMD__\nvoid *h = 0;\n#else\nvoid *h = dlopen("libcuda.so.1", 1);\n#endif',
            path="a.cc",
        ),
        reports('void *h = dlopen("libcudart.so", RTLD_LAZY);', path="a.cc"),
        reports('const char *name = "/usr/lib64/libnccl.so.2";', path="a.cc"),
        reports('auto h = LoadLibrary(TEXT("nvcuda.dll"));', path="a.cc"),
        reports('auto h = LoadLibraryW(L"cublas64_12.dll");', path="a.cc"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per literal; nothing is changed here."""
        tokens = unit.tokens
        for place in re.finditer(STRING, tokens.kinds):
            index = place.start()
            named = _NAME.fullmatch(tokens.texts[index])
            if named is None or not unit.is_for_cuda(index):
                continue
            library = named[1] or named[3] or _DLLS[named[2]]
            text = tokens.texts[index].strip('uU8L"')
            new = _AMDS[library]
            instead = (
                f"ROCm has {new}, with HIP's names for what is looked up in it" if new else "ROCm has none like it"
            )
            yield self.finding(unit, unit.span(index), f"{text} is opened by its name: {instead}", Effort.MANUAL)
