"""K304: compilers of Makefiles and scripts that know CUDA's headers and no HIP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes

_MACRO = "-D__HIP_PLATFORM_AMD__"
_REFERENCE = r"\$[({](\w+)[)}]"
_FOLDER = r"/(?:usr/local|opt)/(?:cuda[\w.-]*|rocm)"
_INCLUDES = re.compile(
    rf"(?<!\S)-(?:I|isystem)\s*(?:(?:{_REFERENCE}|{_FOLDER})/include/?|\$[({{]\w*(?:CUDA|GPU|ROCM|HIP)_?INC\w*[)}}])(?!\S)"
)
_TOOLKIT = re.compile(rf"\A\s*{_FOLDER}/?\s*\Z")
_HOME = re.compile(r"(?:CUDA|ROCM)_?(?:TOOLKIT_?)?(?:HOME|PATH|ROOT|DIR|INSTALL_PATH|INSTALL_DIR|ROOT_DIR|BASE)?")


class MakeHostMacro(BuildRule):
    """HIP's headers in files that hipcc does not compile

    hipcc says by itself that HIP is AMD's; g++ and other compilers of host files stop in `hip_runtime_api.h`. Where
    their flags name the toolkit's headers, `-D__HIP_PLATFORM_AMD__` is added, which means nothing new to hipcc.
    """

    code = "K304"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    examples = (
        fixes(
            "CUDA_HOME = /usr/local/cuda\nCFLAGS = -I$(CUDA_HOME)/include\n%.o: %.cpp\n\tg++ $(CFLAGS) -c $<",
            "CUDA_HOME = /usr/local/cuda\nCFLAGS = -I$(CUDA_HOME)/include -D__HIP_PLATFORM_AMD__\n"
            "%.o: %.cpp\n\tg++ $(CFLAGS) -c $<",
            path="Makefile",
        ),
        fixes(
            "a:\n\tg++ -I/usr/local/cuda/include a.cpp\n\tnvcc -I/usr/local/cuda/include a.cu",
            "a:\n\tg++ -I/usr/local/cuda/include -D__HIP_PLATFORM_AMD__ a.cpp\n\tnvcc -I/usr/local/cuda/include a.cu",
            path="Makefile",
        ),
        fixes(
            "F = -I$(CUDA_INCLUDE_DIR)\na:\n\tnvcc $(F) -c a.cu\n\tg++ $(F) b.cpp",
            "F = -I$(CUDA_INCLUDE_DIR) -D__HIP_PLATFORM_AMD__\na:\n\tnvcc $(F) -c a.cu\n\tg++ $(F) b.cpp",
            path="Makefile",
        ),
        clean("NVCCFLAGS = -I/usr/local/cuda/include\na:\n\tnvcc $(NVCCFLAGS) a.cu", path="Makefile"),
        clean("CFLAGS = -D__HIP_PLATFORM_AMD__ -I/usr/local/cuda/include", path="Makefile"),
        clean("CFLAGS = -I$(HOME)/include", path="Makefile"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        make = unit.makefile
        if "__HIP_PLATFORM" in unit.text or not ("-I" in unit.text or "-isystem" in unit.text):
            return
        homes = {a.name for a in make.assignments if _TOOLKIT.match(unit.text[a.start : a.end])}
        alone = make.flag_variables - make.other_variables
        host = [(a.start, a.end) for a in make.assignments if a.name not in alone]
        host += [(line.start, line.end) for line in make.lines if not make.calls_nvcc(line.start, line.end)]
        for start, end in sorted(set(host)):
            found = _INCLUDES.search(unit.text, start, end)
            if found is None or not (found[1] is None or found[1] in homes or _HOME.fullmatch(found[1])):
                continue
            edit = Edit(found.end(), found.end(), f" {_MACRO}")
            message = f"{found[0]} is of another compiler than hipcc: {_MACRO} is added"
            yield self.finding(unit, found.start(), found.end(), message, Effort.NONE, (edit,))
